/* Tables in text (CSV, TSV): what the parts of the reader share. docs/formats/csv.md has the rules.
 *
 * Before the first row of a file its first block is looked at (csv_look.c), and either says what the columns mean
 * (csv_infer.c) or must fit what is known already, from a file before it or a model (csv_follow.c). Then records become
 * rows (csv_rows.c). */
#ifndef GSA_DATA_CSV_H
#define GSA_DATA_CSV_H

#include "base/text.h"
#include "data/format/cross.h"
#include "data/format/features.h"
#include "data/format/format.h"
#include "data/format/number.h"
#include "data/format/records.h"

#include <greedystep/data.h>

/* A column that has features in it. */
typedef struct gsa__csv_column {
    size_t field; /* of the schema */
    size_t cell;  /* of a record */
    gsa__key key; /* of words */
    /* Of the row at hand, until its names are noted; NULL: nothing to note. */
    const char *word;
    size_t word_size;
    uint32_t id;
} gsa__csv_column;

typedef struct gsa__csv {
    const gsa_env *env;
    gsa__number_locale *locale;
    gsa__records records;
    gsa__format_input *input;
    bool is_prepared; /* what follows is that of the current file */
    size_t n_cells;
    gsa__csv_column *column; /* numbers, then words, each in the order of the schema */
    size_t n_numbers, n_columns;
    gsa__term *term;    /* of each column, in the row at hand; NULL if there are no crosses */
    size_t (*cross)[2]; /* columns */
    size_t n_crosses;
    size_t label, weight; /* cells; SIZE_MAX: none is read */
    uint64_t *kept;       /* of each column, in the row at hand; NULL if cells are not asked for */
} gsa__csv;

typedef enum gsa__cell_kind { GSA__CELL_ABSENT, GSA__CELL_NUMBER, GSA__CELL_WORD } gsa__cell_kind;
/* A cell without the blanks around it, if it has no quotes. */
static inline gsa__cell gsa__cell_trim(gsa__cell cell)
{
    bool is_quoted = *cell.at == '"';
    for (; cell.size > 0 && *cell.text == ' ' && !is_quoted; cell.text++)
        cell.size--;
    while (cell.size > 0 && cell.text[cell.size - 1] == ' ' && !is_quoted)
        cell.size--;
    return cell;
}

/* What the first block shows of a column. */
typedef struct gsa__csv_seen {
    char *first; /* its text in the first record, NUL-terminated */
    size_t first_size;
    gsa__cell_kind first_kind;
    bool first_again; /* another record has the same text */
    size_t n_numbers, n_words;
} gsa__csv_seen;

typedef struct gsa__csv_look {
    gsa__csv_seen *column;
    size_t n_columns;
    bool has_header; /* false: not known yet */
} gsa__csv_look;

/* Finds the separator, and looks at the first block, which stays to be read. GSA_END: there is no record. */
gsa_status gsa__csv_look_at(gsa__csv *csv, gsa__csv_look *out, gsa_error *error);
void gsa__csv_look_free(gsa__csv *csv, gsa__csv_look *look);

/* The name that a header gives a column, or its number from 1, which is also that of one without a name. */
typedef struct gsa__csv_name {
    const char *text;
    size_t size;
    char number[GSA__NUMBER_TEXT];
} gsa__csv_name;
void gsa__csv_name_of(const gsa__csv_look *look, size_t column, gsa__csv_name *out);

/* Whether a name is in a list with commas; or, if it is no name of any column, the number of the column. */
bool gsa__csv_is_listed(const char *list, const gsa__csv_look *look, size_t column);
/* The schema of the reader, which has none yet. */
gsa_status gsa__csv_infer(gsa__csv *csv, gsa__csv_look *look, gsa_error *error);
/* Where the columns of the schema stand in this file. */
gsa_status gsa__csv_follow(gsa__csv *csv, gsa__csv_look *look, gsa_error *error);
/* The same file by another parser, for another thread. */
gsa_status gsa__csv_follow_same(gsa__csv *csv, const gsa__csv *other, gsa_error *error);

/* Infers if nothing is known, follows, and says what was understood. */
gsa_status gsa__csv_settle(gsa__csv *csv, gsa__csv_look *look, gsa_error *error);

/* Frees the columns. */
void gsa__csv_forget(gsa__csv *csv);

gsa_status gsa__csv_row(gsa__csv *csv, const gsa__record *record, gsa__rows *rows, gsa_error *error);

/* What a row has beside its features. */
typedef struct gsa__csv_head {
    double label;
    const char *word; /* the label, if it is one; NULL: it is the number */
    size_t word_size;
    float weight;
} gsa__csv_head;

/* Room for a row; and the end of one, whose features are written and which is good. */
gsa_status gsa__csv_begin_row(gsa__csv *csv, size_t most, gsa__rows *rows, gsa__features *out, gsa_error *error);
gsa_status gsa__csv_end_row(const gsa__csv *csv, gsa__rows *rows, const gsa__features *features,
                            const gsa__csv_head *head, gsa_place place, gsa_error *error);

/* The parts of a row, once cells are numbers and words, which are not absent. The value of a column of numbers: */
static inline void gsa__csv_add_number(const gsa__csv *csv, size_t column, float value, gsa__features *features)
{
    gsa__features_add(features, (uint32_t)column, value);
    if (csv->kept)
        csv->kept[column] = 1;
    if (csv->term)
        csv->term[column].value = value;
}
/* Returns the hash, by which the word can be added again (but for crosses, which want its text). */
uint64_t gsa__csv_add_word(const gsa__csv *csv, size_t column, const char *text, size_t size, gsa__features *features);
void gsa__csv_add_hash(const gsa__csv *csv, size_t column, uint64_t hash, gsa__features *features);
/* After the words of a row: remembers those that came for the first time. Not one by one, since whether a word came is
 * a look into memory that takes longer than to hash the next. */
void gsa__csv_note_words(const gsa__csv *csv);
/* SIZE_MAX, or the column of a product that does not fit a float. */
size_t gsa__csv_add_crosses(const gsa__csv *csv, gsa__features *features);
/* A label, number or word, from a text that a byte follows which cannot continue a number: what is wrong, or NULL. */
const char *gsa__csv_label(const gsa__csv *csv, const char *text, size_t size, double *label, bool *is_word);
#define GSA__NO_PRODUCT "its product with the column that it is crossed with does not fit a float"
#define GSA__NO_SUM "crosses that share a feature have no finite sum"
#define GSA__NO_WEIGHT "the weight of a row must be a finite number that is not negative"
#define GSA__NO_LABEL "a row without a label cannot be learned from; leave such rows out with --bad-rows skip"

#endif
