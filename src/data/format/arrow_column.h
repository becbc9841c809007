/* Columns of Arrow batches. docs/formats/arrow.md has the rules.
 *
 *   1 A column of a batch is checked as a whole when the batch comes (gsai_arrow_column_take): offsets ascend and stay
 *     within the arrays whose lengths are known, numbers of a dictionary are in it. Reading cells cannot fail then.
 *   2 What cannot be checked is trusted: the interface does not say how long buffers are. */
#ifndef GSA_DATA_FORMAT_ARROW_COLUMN_H
#define GSA_DATA_FORMAT_ARROW_COLUMN_H

#include "data/format/table_infer.h"

#include <greedystep/arrow.h>

#include <string.h>

#define GSAI_ARROW_TEXT 64  /* a number, or a timestamp of any year */
#define GSAI_ARROW_BLOCK 32 /* rows whose plain cells are read at a time, column by column */

/* Copies n numbers of an array's data from element `at` on. */
typedef void (*gsai_arrow_copy)(const void *data, int64_t at, size_t n, double *out);

/* A word in the memory of its batch; text NULL: it is missing. */
typedef struct gsai_arrow_word {
    const char *text;
    size_t size;
    uint64_t hash;
} gsai_arrow_word;

typedef struct gsai_arrow_column {
    const struct ArrowSchema *schema;
    const char *name; /* empty if it has none */
    bool is_used;     /* it is label, weight or features */
    /* The type of cells, items or words: the specification's letter; v: "vu"; d: a decimal of 128 bits; t: a duration;
     * D, M: dates in days and milliseconds; 0, 3, 6, 9: timestamps, by the digits of their seconds; '\0': not read. */
    char type;
    gsai_arrow_copy copy;            /* of the type; NULL: not a plain number */
    gsai_arrow_copy copy_index;      /* of the numbers into a dictionary */
    unsigned scale;                  /* of decimals, and of a duration's seconds: digits behind the point */
    char index;                      /* of numbers into a dictionary; 0: no dictionary */
    bool is_category;                /* the dictionary is a type that was declared, and no encoding of a file */
    char list;                       /* l, L, or w for one of fixed size; 0: not a list */
    uint64_t width;                  /* of a list of fixed size */
    const struct ArrowArray *array;  /* of the batch at hand */
    const struct ArrowArray *values; /* of the list or dictionary, else the same */
    char digits[GSAI_ARROW_TEXT];    /* the row's number, date or truth as text */
    bool has_block;                  /* its cells are plain numbers, or texts that are categories: */
    union {
        float value[GSAI_ARROW_BLOCK]; /* NaN: missing; infinite: the cell is to be read on its own */
        gsai_arrow_word word[GSAI_ARROW_BLOCK];
    } block; /* of the rows at hand */
} gsai_arrow_column;

typedef struct gsai_arrow_cell {
    gsai_cell_kind kind;
    double number;
    gsai_date date;   /* of dates and timestamps */
    int64_t whole;    /* of 64-bit integers and timestamps, whose number may be rounded */
    const char *text; /* of a word */
    size_t size;
} gsai_arrow_cell;

static inline bool gsai_arrow_is_integer(char type)
{
    return type != '\0' && strchr("cCsSiIlL", type);
}

static inline bool gsai_arrow_is_text(char type)
{
    return type == 'u' || type == 'U' || type == 'v';
}

static inline bool gsai_arrow_is_date(char type)
{
    return type != '\0' && strchr("DM0369", type);
}

void gsai_arrow_column_init(gsai_arrow_column *column, const struct ArrowSchema *schema);
/* Returns the type of a column in words, for messages. */
const char *gsai_arrow_type_name(const struct ArrowSchema *schema);
/* Checks the column's array of a batch, whose rows end at `end`; returns what is wrong with it, or NULL. */
const char *gsai_arrow_column_take(gsai_arrow_column *column, const struct ArrowArray *array, int64_t end);

gsai_arrow_cell gsai_arrow_read(const gsai_arrow_column *column, int64_t row);
/* Makes a word of a number, as text would have it; infinities are as they are printed. */
void gsai_arrow_make_word(gsai_arrow_column *column, gsai_arrow_cell *cell);
/* Makes a text of a number for people: dates and timestamps by ISO 8601, true and false, else the word. */
void gsai_arrow_make_text(gsai_arrow_column *column, gsai_arrow_cell *cell);
/* Text with a byte behind it that cannot continue a number; what is too long is a word. */
typedef struct gsai_arrow_text {
    char text[64];
    size_t size;
} gsai_arrow_text;

/* Returns the text of a cell. */
gsai_arrow_text gsai_arrow_terminate(const gsai_arrow_cell *cell);
/* Items of a row's list: how many, and the first; a null list has none. */
size_t gsai_arrow_list(const gsai_arrow_column *column, int64_t row, int64_t *first);
/* Copies n items of a list if they are floats or halves, none is null and all are finite; else returns false. */
bool gsai_arrow_floats(const gsai_arrow_column *column, int64_t first, size_t n, float *out);
/* Reads n items of a list, or cells of a column without one, as numbers; NaN: one is absent. */
void gsai_arrow_items(const gsai_arrow_column *column, int64_t first, size_t n, double *out);
/* Reads n cells of texts or of their dictionary, at most GSAI_ARROW_BLOCK, into the block of the column. */
void gsai_arrow_words(gsai_arrow_column *column, const gsai_key *key, int64_t row, size_t n);

#endif
