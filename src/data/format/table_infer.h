/* The meaning of a table's columns (docs/formats/csv.md has the rules): by its first rows and the options or, if an
 * earlier file or a model has given it, by the position of each known column. */
#ifndef GSA_DATA_FORMAT_TABLE_INFER_H
#define GSA_DATA_FORMAT_TABLE_INFER_H

#include "base/label_rule.h"
#include "data/format/column_stats.h"
#include "data/format/input_text.h"
#include "data/format/table_rows.h"

typedef enum gsai_cell_kind { GSAI_CELL_ABSENT, GSAI_CELL_NUMBER, GSAI_CELL_WORD } gsai_cell_kind;

/* A column in the first rows. */
typedef struct gsai_seen_column {
    char *first; /* its text in the first record, NUL-terminated */
    size_t first_size;
    const char *name; /* that a header gives it, else its number; a quotation of it */
    size_t name_size;
    char number[GSAI_NUMBER_TEXT], quote[GSAI_QUOTE_SIZE];
    gsai_cell_kind first_kind;
    bool first_again;                   /* another record has the same text */
    bool has_text;                      /* another record has any */
    bool is_text, is_date, is_category; /* by its type */
    gsai_column_stats cells;
    gsai_decided decided; /* what its cells are */
    gsai_field_kind kind; /* what the column is, by options too */
} gsai_seen_column;

typedef struct gsai_first_rows {
    gsai_seen_column *column;
    size_t n_columns;
    bool has_header;                           /* false: not known yet */
    size_t weight;                             /* the column of weights that is asked for; SIZE_MAX: none */
    size_t label;                              /* once it is known */
    double label_value[GSAI_CLASSES_ANYWHERE]; /* different labels among those read again, as far as they are few */
    size_t n_label_values;                     /* one more if there are others, or a fraction */
    size_t n_rows;                             /* that decide */
    bool is_all;                               /* they are all that there are */
    bool all_again;                            /* the values of plain numbers are added again, too */
    /* Adds the values of columns once more, by gsai_first_rows_add_value and gsai_stats_add_value. */
    gsa_status (*again)(gsai_tabular *table, struct gsai_first_rows *first, gsa_error *error);
} gsai_first_rows;

void gsai_first_rows_free(gsai_first_rows *first, const gsai_env *env);
/* Returns whether a column's values are added by `again`. */
static inline bool gsai_first_rows_is_again(const gsai_first_rows *first, const gsai_seen_column *seen)
{
    return gsai_kind_at(seen->decided.kind)->read && (first->all_again || seen->decided.needs_values) && !seen->is_date;
}
/* Adds a cell's value once the reading of its column is known. */
void gsai_first_rows_add_value(gsai_first_rows *first, const gsai_number_locale *locale, size_t column,
                               const char *text, size_t size, double weight);
/* Returns what a row counts for in the means, by the cell of its weight; 0 if that is not a number. */
double gsai_first_rows_weigh(const gsai_number_locale *locale, const char *text, size_t size);
/* Finds the column of weights, once names or the first record are there. */
void gsai_first_rows_find_weight(gsai_first_rows *first, const gsa_reader_options *options, bool has_header);
/* Returns the maximum number of rows from which the schema of a table with n columns is made. */
static inline size_t gsai_first_rows_max(size_t n_columns, bool is_short)
{
    size_t n = is_short || n_columns == 0 ? 0 : GSAI_DECIDING_CELLS / n_columns;
    return n > GSAI_DECIDING_ROWS ? n : GSAI_DECIDING_ROWS;
}
/* Takes the next item of a list with commas; NULL after the last. */
const char *gsai_next_item(const char **list, size_t *size);

/* Infers the schema if it is not known, finds its columns in this file, and describes the first file. */
gsa_status gsai_tabular_settle(gsai_tabular *table, gsai_first_rows *first, gsa_error *error);

#endif
