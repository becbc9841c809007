/* The findings of `greedystep inspect` about rows: one pass, and memory that does not grow with them.
 *
 *   1 A table has one data_column per column, in the order of its schema. The cells come from
 *     gsa_reader_cells.
 *   2 Other rows, and tables whose cells are not known (a cache) or too many per row, are features with numbers:
 *     data_features.
 *   3 A label is one number of 64 bits here: those of a double, or of a NaN with the number of a word. */
#ifndef GREEDYSTEP_CLI_INSPECT_DATA_H
#define GREEDYSTEP_CLI_INSPECT_DATA_H

#include "options.h"
#include "value_set.h"

#include "base/batch.h"

#include <greedystep/data.h>
#include <greedystep/greedystep.h>

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

enum {
    FEW_VALUES = 64,       /* of a column: up to here they are counted one by one */
    MANY_VALUES = 1024,    /* of labels, and of feature numbers beyond the next */
    MAX_COUNTED = 1 << 24, /* features are counted one by one below this number */
    MAX_COLUMNS = 4096,    /* of a table, for a line a column */
    LABELS_LISTED = 20,
    WORDS_LISTED = 3
};

/* Sums around the first number, so that the digits of what varies are not lost. */
typedef struct moments {
    uint64_t n;
    double first, sum, squares, min, max;
} moments;
void moments_add(moments *of, double x);
double moments_mean(const moments *of);
double moments_deviation(const moments *of);

/* ---- labels ----------------------------------------------------------------------------------------------------- */

typedef struct row_label {
    uint64_t key;
    double number;  /* of a word its number, which says something only if there are two */
    int side;       /* 0, 1: the first or second label that there was; 2: another */
    bool is_change; /* the row before has another */
} row_label;

typedef struct data_labels {
    value_set values;
    moments numbers;
    uint64_t n_rows, n_words, n_fractions;
    bool has_columns;   /* the rows, in a table or array: which decides what whole numbers are */
    uint64_t n_changes; /* rows whose label is not that of the row before */
    row_label last;
    bool rises, falls; /* numbers, so far */
    uint64_t side[2];
    int n_sides;
    double first_number;
    const char *const *words; /* of the reader */
} data_labels;

bool labels_init(data_labels *labels);
bool labels_add(data_labels *labels, const gsa_batch *batch, size_t row, row_label *out);
/* Returns whether the labels are numbers to predict, not classes. */
bool labels_are_numbers(const data_labels *labels);
uint64_t labels_n_classes(const data_labels *labels);
/* Returns whether rows of one class stand together, or numbers ascend or descend. */
bool labels_are_sorted(const data_labels *labels);
enum { LABEL_TEXT_SIZE = 32 };
/* Returns the word of a label, or its number as text in the buffer. */
const char *label_text(const data_labels *labels, uint64_t key, char buffer[LABEL_TEXT_SIZE]);

/* ---- columns ---------------------------------------------------------------------------------------------------- */

typedef enum column_kind {
    COLUMN_NUMBER,
    COLUMN_WORDS,
    COLUMN_LABEL,
    COLUMN_WEIGHT,
    COLUMN_IGNORED,
    COLUMN_DATE, /* in a schema; a column of dates is one of numbers here, which are days */
    COLUMN_EXPOSURE,
    COLUMN_GROUP,
    COLUMN_TEXT, /* likewise one of words, which are whole texts */
    COLUMN_KINDS
} column_kind;
typedef struct data_column {
    char *name;
    column_kind kind;
    bool is_date, is_text, is_per;
    uint64_t number; /* from 1 */
    double offset;   /* from which its values are measured */
    moments numbers;
    value_set values;
    uint64_t n_present, n_absent;
    uint64_t absent_label; /* of the first row without it */
    bool absent_is_mixed;  /* and others have other labels */
    bool all_whole, rises, falls;
    double last;
    double label_sum, label_squares, products; /* of the rows that have it, around the first number and label */
    moments of_side[2];
} data_column;

/* Returns the name of a column's kind. */
const char *column_kind_name(const data_column *column);
bool column_init(data_column *column, column_kind kind);
void column_free(data_column *column);
/* Adds a value as rows have it, after the offset. */
bool column_add_number(data_column *column, double x, const row_label *label, double first_label);
bool column_add_word(data_column *column, uint64_t hash, const row_label *label);
void column_add_absent(data_column *column, uint64_t label);
/* Says whether it determines the label of every row. */
bool column_tells_label(const data_column *column, const data_labels *labels);

/* Returns the columns of a schema's text (docs/formats/csv.md), to be freed; NULL if out of memory. */
data_column *columns_of_schema(const char *schema, size_t *n_columns);

/* ---- features with numbers -------------------------------------------------------------------------------------- */

typedef struct data_features {
    uint32_t *count; /* rows that have each feature, no more than UINT32_MAX */
    size_t n_counts;
    value_set beyond;      /* numbers from MOST_COUNTED on */
    uint64_t n_seen;       /* once all rows are there, as the next */
    value_entry *frequent; /* the most frequent first; of equals the one with the smaller number */
    size_t n_frequent;
    uint64_t highest, n_entries;
    double min, max; /* of values */
} data_features;

bool features_init(data_features *features);
void features_free(data_features *features);
bool features_add(data_features *features, const gsai_row *row);
/* Counts features after the last row and finds the most frequent ones, at most `max`. */
bool features_finish(data_features *features, size_t max);

/* ---- all of it -------------------------------------------------------------------------------------------------- */

typedef struct data_warning {
    const char *what; /* a name for programs */
    char *text;
    size_t length;
} data_warning;
enum { MAX_WARNINGS = 16 }; /* more than there are kinds */

typedef struct data_inspection {
    gsa_reader *reader;
    const char *const *paths;
    size_t n_paths;
    gsa_reader_progress reading;
    gsa_schema_info schema;
    uint64_t n_entries, min_entries, max_entries;
    data_labels labels;
    moments weights;
    data_column *column; /* NULL: features with numbers */
    size_t n_columns;
    data_column **of_cell; /* the column of each cell of a row */
    size_t n_cells;
    uint64_t n_rows_without_cells;
    data_features features;
    size_t n_frequent; /* features to list */
    uint64_t max_rows; /* 0: all */
    data_warning warning[MAX_WARNINGS];
    size_t n_warnings;
    bool is_cut; /* there was no memory for all of a warning */
} data_inspection;

/* Fills `warning`. Returns false if out of memory. */
bool data_warn(data_inspection *data);
void data_print(const data_inspection *data);
json_t *data_json(const data_inspection *data);

/* Fills in the most serious warnings about the first rows of the tables in DATA, at most `max`, and returns their
 * number. The texts are the caller's to free. 0 if the data cannot be read again. */
size_t inspect_first_rows(const cli_arguments *arguments, char **out, size_t max);
/* Reads DATA, or the rows of a query, and prints what is found. Gives the exit code. */
int inspect_data(const cli_arguments *arguments);

#endif
