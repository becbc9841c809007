/* Rows of a table: a record becomes features. What readers of text (CSV, TSV, JSON lines) and of Arrow streams share.
 *
 * The columns of a file are planned before its first row (gsai_tabular_plan), once it is known what they mean
 * (table_infer.h). */
#ifndef GSA_DATA_FORMAT_TABLE_ROWS_H
#define GSA_DATA_FORMAT_TABLE_ROWS_H

#include "data/format/format.h"
#include "data/format/records.h"

#include <greedystep/data.h>

/* A column that has features. */
typedef struct gsai_tabular_column {
    const gsai_column_kind *kind;
    const gsai_field *field; /* of the schema */
    size_t cell;             /* of a record */
    gsai_key key;            /* of its name */
    gsai_key *part;
    size_t first_part; /* among the parts of all columns */
    /* State of the row at hand: */
    gsai_date date;
    bool has_date;
    const char *word; /* until its name is noted; NULL: nothing to note */
    size_t word_size;
    uint32_t id;
} gsai_tabular_column;

typedef struct gsai_tabular {
    const gsai_env *env;
    gsai_number_locale *locale;
    gsai_records records;
    gsai_words keys; /* of JSON lines */
    gsai_format_input *input;
    bool is_prepared;  /* what follows is that of the current file */
    gsai_arena memory; /* of the plan */
    size_t n_cells;
    size_t *cell_of;             /* where each field of the schema stands; SIZE_MAX: nowhere */
    gsai_tabular_column *column; /* those with numbers, then the others, each in the order of the schema */
    size_t n_numbers, n_columns, n_parts;
    bool has_many;         /* a column does */
    uint32_t first_hashed; /* id of the first feature that is hashed; the mask of the others */
    uint64_t id_mask;
    uint32_t *gap; /* columns of numbers without a value in the row at hand */
    size_t n_gaps;
    size_t max_entries; /* of a row */
    gsai_term *term;    /* of each column, in the row at hand; NULL without crosses */
    size_t (*cross)[2]; /* columns */
    size_t n_crosses;
    size_t label, weight, exposure; /* cells; SIZE_MAX: none is read */
    const gsai_field *label_field;
    size_t group; /* cell of the group or time of a row, likewise */
    const gsai_field *group_field;
    uint64_t *cells; /* of each column and part, in the row at hand; NULL if cells are not asked for */
    size_t *kept;    /* cells whose texts are kept beside the rows (option keep) */
    size_t n_kept;
} gsai_tabular;

/* Makes room for a plan, with `max_kept` cells whose texts are kept at most: cell_of and kept are to be filled in. */
gsa_status gsai_tabular_begin_plan(gsai_tabular *table, size_t max_kept, gsa_error *error);
/* Plans the columns of this file's rows. */
gsa_status gsai_tabular_plan(gsai_tabular *table, gsa_error *error);
/* Plans those of the same file for another parser, in another thread. */
gsa_status gsai_tabular_plan_same(gsai_tabular *table, const gsai_tabular *other, gsa_error *error);
/* Frees the plan. */
void gsai_tabular_forget(gsai_tabular *table);

/* Returns whether rows are held out by group or time: neither to predict nor to evaluate them. */
static inline bool gsai_tabular_learns(const gsa_reader_options *options)
{
    return !options->without_labels && !options->without_weights;
}

/* Adds the row of a record. */
gsa_status gsai_tabular_row(gsai_tabular *table, const gsai_record *record, gsai_rows *rows, gsa_error *error);

/* Returns a cell without the blanks around it. */
static inline gsai_text_cell gsai_cell_trim(gsai_text_cell cell)
{
    if (cell.size == 0 || (*cell.text != ' ' && cell.text[cell.size - 1] != ' '))
        return cell;
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

/* ---- parts of a row, for readers whose cells are not text ------------------------------------------------------- */

/* Label, weight and group of a row. */
typedef struct gsai_row_head {
    double label;
    bool is_missing;  /* without a label: the row does not count */
    const char *word; /* the label, if it is one; NULL: it is the number */
    size_t word_size;
    float weight;
    uint64_t group;
} gsai_row_head;

/* Keeps one text of the row, up to a NUL in it. */
gsa_status gsai_tabular_keep_text(gsai_rows *rows, const char *text, size_t size, gsa_error *error);
/* Parses a label, number or word, from a text that is followed by a byte which cannot continue a number; returns what
 * is wrong, or NULL. A row whose label is missing is left out and counted. */
const char *gsai_tabular_label(const gsai_tabular *table, const char *text, size_t size, gsai_row_head *head);
/* Take the weight of a row, and after it and the label its exposure; return what is wrong, or NULL. */
const char *gsai_tabular_weigh(gsai_row_head *head, double weight);
const char *gsai_tabular_expose(gsai_row_head *head, double exposure);

/* Take the group of a row by its text, trimmed and followed as that of a label is, or its time; return what is wrong,
 * or NULL. */
const char *gsai_tabular_take_group(const gsai_tabular *table, const char *text, size_t size, gsai_row_head *head);
void gsai_tabular_take_time(gsai_row_head *head, double time);

/* Begin a row, with room for its features, and end one, whose features are written and valid. */
gsa_status gsai_tabular_begin_row(gsai_tabular *table, size_t max, gsai_rows *rows, gsai_features *out,
                                  gsa_error *error);
gsa_status gsai_tabular_end_row(const gsai_tabular *table, gsai_rows *rows, const gsai_features *features,
                                const gsai_row_head *head, gsa_place place, gsa_error *error);

/* Adds the value of a numeric column. Functions of other kinds are in column.h. */
static inline void gsai_tabular_add_number(const gsai_tabular *table, size_t column, float value,
                                           gsai_features *features)
{
    gsai_features_add(features, (uint32_t)column, value);
    if (table->cells)
        table->cells[column] = 1;
    if (table->term)
        table->term[column].value = value;
}
/* Adds the value of a numeric column, which may stand for a missing one; returns what is wrong with it, or NULL. */
const char *gsai_tabular_add_double(gsai_tabular *table, size_t column, double number, gsai_features *features);
/* Adds the mean in place of a missing value; gsai_tabular_add_gaps adds the feature that marks it. */
static inline void gsai_tabular_add_missing(gsai_tabular *table, size_t column, gsai_features *features)
{
    gsai_features_add(features, (uint32_t)column, table->column[column].field->mean);
    table->column[column].has_date = false;
    table->gap[table->n_gaps++] = (uint32_t)column;
}
/* Adds a word, whose name gsai_tabular_complete notes if it is new. */
static inline void gsai_tabular_add_word(gsai_tabular *table, size_t column, const char *word, size_t size,
                                         uint64_t hash, gsai_features *features)
{
    gsai_tabular_column *of = &table->column[column];
    const uint32_t id = (uint32_t)(hash & table->id_mask);
    if (table->input->names->came) {
        of->word = word;
        of->word_size = size;
        of->id = id;
    }
    if (table->cells)
        table->cells[column] = hash;
    gsai_features_add(features, table->first_hashed + id, 1);
}
/* Adds markers of missing values after the numbers of a row. */
void gsai_tabular_add_gaps(gsai_tabular *table, gsai_features *features);
/* Completes the features of a row behind those of its columns: parts of cells, and crosses. Returns what is wrong, or
 * NULL: with a product of *column or, if that is SIZE_MAX, with the row. */
const char *gsai_tabular_complete(gsai_tabular *table, gsai_features *features, size_t *column);

#define GSAI_NO_TIME "the time of a row must be a number or a date, written as those of the first rows"
#define GSAI_NO_EXPOSURE "the exposure of a row must be a finite number above 0"
#define GSAI_NO_WEIGHT "the weight of a row must be a finite number that is not negative"

#endif
