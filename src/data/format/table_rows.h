/* Tables: what readers of text (CSV, TSV) and of Arrow streams share. docs/formats/csv.md has the rules.
 *
 * Before the first row of a file its first block either says what the columns mean or must fit what is known already,
 * from a file before it or a model (table_infer.c). Then records become rows (table_rows.c). */
#ifndef GSA_DATA_FORMAT_TABLE_ROWS_H
#define GSA_DATA_FORMAT_TABLE_ROWS_H

#include "base/label_rule.h"
#include "base/text.h"
#include "data/format/features.h"
#include "data/format/format.h"
#include "data/format/number.h"
#include "data/format/records.h"
#include "data/format/seen.h"

#include <greedystep/data.h>

/* A column that has features in it. */
typedef struct gsai_tabular_column {
    size_t field; /* of the schema */
    size_t cell;  /* of a record */
    gsai_key key; /* of words */
    float mean;   /* of numbers: what a missing one counts as */
    double offset;
    const gsai_reading *reading;
    struct gsai_date_column *date; /* NULL: it is none */
    /* Of the row at hand, until its names are noted; NULL: nothing to note. */
    const char *word;
    size_t word_size;
    uint32_t id;
} gsai_tabular_column;

/* What a column of dates has beside its number. */
typedef struct gsai_date_column {
    gsai_key key[GSAI_DATE_PARTS];
    gsai_date value; /* of the row at hand, if it is there */
    bool is_there, has_time;
} gsai_date_column;

typedef struct gsai_tabular {
    const gsai_env *env;
    gsai_number_locale *locale;
    gsai_records records;
    gsai_words keys; /* of JSON lines */
    gsai_format_input *input;
    bool is_prepared; /* what follows is that of the current file */
    size_t n_cells;
    gsai_tabular_column *column; /* numbers and dates, then words, each in the order of the schema */
    size_t n_numbers, n_columns;
    gsai_date_column *date;
    size_t n_dates;
    uint32_t *gap; /* columns of numbers without a value in the row at hand */
    size_t n_gaps;
    size_t max_entries; /* of a row */
    gsai_term *term;    /* of each column, in the row at hand; NULL if there are no crosses */
    size_t (*cross)[2]; /* columns */
    size_t n_crosses;
    size_t label, weight, exposure; /* cells; SIZE_MAX: none is read */
    gsai_reading label_reading;     /* how labels are read, if has_reading; else plain numbers are numbers */
    bool label_has_reading, label_is_class;
    uint64_t *cells; /* of each column, in the row at hand; NULL if cells are not asked for */
    size_t *kept;    /* cells whose texts are kept: table_keep.c */
    size_t n_kept;
} gsai_tabular;

typedef enum gsai_cell_kind { GSAI_CELL_ABSENT, GSAI_CELL_NUMBER, GSAI_CELL_WORD } gsai_cell_kind;
/* Returns a cell without the blanks around it. */
static inline gsai_cell gsai_cell_trim(gsai_cell cell)
{
    for (; cell.size > 0 && *cell.text == ' '; cell.text++)
        cell.size--;
    while (cell.size > 0 && cell.text[cell.size - 1] == ' ')
        cell.size--;
    return cell;
}

/* Returns how many cells a record has, without empty ones at its end beyond `wanted`. */
static inline size_t gsai_record_cells(const gsai_record *record, size_t wanted)
{
    size_t n = record->n_cells;
    while (n > wanted && gsai_cell_trim(record->cell[n - 1]).size == 0)
        n--;
    return n;
}

/* What the first block shows of a column. */
typedef struct gsai_seen_column {
    char *first; /* its text in the first record, NUL-terminated */
    size_t first_size;
    gsai_cell_kind first_kind;
    bool first_again;                   /* another record has the same text */
    bool has_text;                      /* another record has any */
    bool is_text, is_date, is_category; /* by its type */
    gsai_seen cells;
    gsai_decided decided;
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
    /* Adds the values of columns once more, to the last digit, by gsai_seen_add_value and gsai_seen_add_again. */
    gsa_status (*again)(struct gsai_tabular *table, struct gsai_first_rows *sniff, gsa_error *error);
} gsai_first_rows;

/* Returns whether a column's values are added by `again`. */
static inline bool gsai_tabular_is_read_again(const gsai_first_rows *sniff, const gsai_seen_column *seen)
{
    bool is_open = sniff->all_again || !seen->decided.is_plain || seen->decided.is_far;
    return seen->decided.kind != GSAI_FIELD_CATEGORICAL && is_open && !seen->is_date;
}
/* Adds a cell's value once the reading of its column is known. */
void gsai_tabular_see_value(const gsai_tabular *table, gsai_first_rows *sniff, size_t column, const char *text,
                            size_t size, double weight);
/* Returns the maximum number of rows from which the schema of a table with so many columns is made. */
static inline size_t gsai_tabular_max_deciding(size_t n_columns, bool is_short)
{
    size_t n = is_short || n_columns == 0 ? 0 : GSAI_DECIDING_CELLS / n_columns;
    return n > GSAI_DECIDING_ROWS ? n : GSAI_DECIDING_ROWS;
}

void gsai_first_rows_free(gsai_tabular *table, gsai_first_rows *sniff);

/* Matches the same file by another parser, for another thread. */
gsa_status gsai_tabular_match_same(gsai_tabular *table, const gsai_tabular *other, gsa_error *error);

/* Infers the schema if there is none, finds its columns in this file, and describes the first file. */
gsa_status gsai_tabular_settle(gsai_tabular *table, gsai_first_rows *sniff, gsa_error *error);

/* Finds the column of weights, once names or the first record are there. */
void gsai_tabular_find_weight(const gsai_tabular *table, gsai_first_rows *sniff);

/* Plans the columns of this file's rows; cell_of: where each field of the schema stands, SIZE_MAX: nowhere. */
gsa_status gsai_tabular_plan(gsai_tabular *table, const size_t *cell_of, gsa_error *error);
/* Frees the columns. */
void gsai_tabular_forget(gsai_tabular *table);

/* Describes the first table; is_new: its rows have decided the schema, and what is odd about them is said, too. */
void gsai_tabular_describe(const gsai_tabular *table, const gsai_first_rows *sniff, bool is_new);

/* Makes room for n columns whose texts are kept; takes those of another parser of the same file. */
gsa_status gsai_tabular_keep_room(gsai_tabular *table, size_t n, gsa_error *error);
gsa_status gsai_tabular_keep_same(gsai_tabular *table, const gsai_tabular *other, gsa_error *error);
/* Keeps the texts of a record, before anything of it can be wrong; and one text, up to a NUL in it. */
gsa_status gsai_tabular_keep_row(const gsai_tabular *table, const gsai_record *record, gsai_rows *rows,
                                 gsa_error *error);
gsa_status gsai_tabular_keep_text(gsai_rows *rows, const char *text, size_t size, gsa_error *error);

gsa_status gsai_tabular_row(gsai_tabular *table, const gsai_record *record, gsai_rows *rows, gsa_error *error);

/* What a row has beside its features. */
typedef struct gsai_row_head {
    double label;
    bool is_missing;  /* there is no label: the row does not count */
    const char *word; /* the label, if it is one; NULL: it is the number */
    size_t word_size;
    float weight;
} gsai_row_head;

/* Begin a row, with room for its features, and end one, whose features are written and valid. */
gsa_status gsai_tabular_begin_row(gsai_tabular *table, size_t max, gsai_rows *rows, gsai_features *out,
                                  gsa_error *error);
gsa_status gsai_tabular_end_row(const gsai_tabular *table, gsai_rows *rows, const gsai_features *features,
                                const gsai_row_head *head, gsa_place place, gsa_error *error);

/* Adds the value of a numeric column; this and the next functions take the parts of a row whose cells are numbers and
 * words. */
static inline void gsai_tabular_add_number(const gsai_tabular *table, size_t column, float value,
                                           gsai_features *features)
{
    gsai_features_add(features, (uint32_t)column, value);
    if (table->cells)
        table->cells[column] = 1;
    if (table->term)
        table->term[column].value = value;
}
/* Adds the mean in place of a missing value; gsai_tabular_add_gaps adds the feature that marks it. */
static inline void gsai_tabular_add_missing(gsai_tabular *table, size_t column, gsai_features *features)
{
    gsai_features_add(features, (uint32_t)column, table->column[column].mean);
    table->gap[table->n_gaps++] = (uint32_t)column;
}
/* Adds the days of a column of dates, from its offset; gsai_tabular_add_parts adds its parts. */
static inline void gsai_tabular_add_date(const gsai_tabular *table, size_t column, gsai_date value,
                                         gsai_features *features)
{
    gsai_date_column *date = table->column[column].date;
    date->value = value;
    date->is_there = true;
    gsai_tabular_add_number(table, column, (float)(gsai_date_value(value) - table->column[column].offset), features);
}
/* Add markers of missing values after the numbers of a row, and parts of dates among its words. */
void gsai_tabular_add_gaps(gsai_tabular *table, gsai_features *features);
void gsai_tabular_add_parts(gsai_tabular *table, gsai_features *features);
/* Returns the hash, by which the word can be added again (but for crosses, which want its text). */
uint64_t gsai_tabular_add_category(const gsai_tabular *table, size_t column, const char *text, size_t size,
                                   gsai_features *features);
void gsai_tabular_add_hash(const gsai_tabular *table, size_t column, uint64_t hash, gsai_features *features);
/* Remembers, after the words of a row, those that came for the first time. Not one by one, because the lookup of a word
 * waits for memory longer than it takes to hash the next word. */
void gsai_tabular_note_categories(const gsai_tabular *table);
/* Adds the products; returns SIZE_MAX, or the column of a product that does not fit a float. */
size_t gsai_tabular_add_crosses(const gsai_tabular *table, gsai_features *features);
/* Take the weight of a row, and after it and the label its exposure; return what is wrong, or NULL. */
const char *gsai_tabular_weigh(gsai_row_head *head, double weight);
const char *gsai_tabular_expose(gsai_row_head *head, double exposure);
/* Parses a label, number or word, from a text that is followed by a byte which cannot continue a number; returns what
 * is wrong, or NULL. A row whose label is missing is left out and counted. */
const char *gsai_tabular_label(const gsai_tabular *table, const char *text, size_t size, gsai_row_head *head);
#define GSAI_NO_PRODUCT "its product with the column that it is crossed with does not fit a float"
#define GSAI_NO_SUM "crosses that share a feature have no finite sum"
#define GSAI_NO_EXPOSURE "the exposure of a row must be a finite number above 0"
#define GSAI_NO_WEIGHT "the weight of a row must be a finite number that is not negative"
#define GSAI_NO_DATE "it holds dates, and this is none that is written like them"

#endif
