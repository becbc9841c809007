/* Arrow streams: what the parts of the reader share. docs/formats/arrow.md has the rules.
 *
 *   1 A column of a batch is checked as a whole when the batch comes (gsa__arrow_column_take): offsets ascend and stay
 *     within the arrays whose lengths are known, numbers of a dictionary are in it. Reading cells cannot fail then.
 *   2 What cannot be checked is trusted: the interface does not say how long buffers are. */
#ifndef GSA_DATA_ARROW_FORMAT_H
#define GSA_DATA_ARROW_FORMAT_H

#include "data/format/csv.h"

#include <greedystep/arrow.h>

#include <string.h>

typedef struct gsa__arrow_column {
    const struct ArrowSchema *schema;
    const char *name;                /* empty if it has none */
    bool is_used;                    /* it is label, weight or features */
    char type;                       /* of cells, items or words: the specification's letter, v: "vu"; 0: not read */
    char index;                      /* of numbers into a dictionary; 0: there is none */
    char list;                       /* l, L, or w for one of fixed size; 0: there is none */
    uint64_t width;                  /* of a list of fixed size */
    const struct ArrowArray *array;  /* of the batch at hand */
    const struct ArrowArray *values; /* of the list or dictionary, else the same */
    char digits[GSA__NUMBER_TEXT];   /* the row's number, where it is taken for a word */
    uint64_t *hash;                  /* of the words of the batch's dictionary, 0: not known yet; NULL: not kept */
    size_t n_hashes, hash_capacity;  /* 0: the batch has no dictionary of words, or one that is not worth it */
} gsa__arrow_column;

typedef struct gsa__arrow_cell {
    gsa__cell_kind kind;
    double number;
    int64_t whole;    /* of 64-bit integers, whose number may be rounded */
    const char *text; /* of a word */
    size_t size;
} gsa__arrow_cell;

static inline bool gsa__arrow_is_integer(char type)
{
    return type != '\0' && strchr("cCsSiIlL", type);
}

static inline bool gsa__arrow_is_text(char type)
{
    return type == 'u' || type == 'U' || type == 'v';
}

void gsa__arrow_column_init(gsa__arrow_column *column, const struct ArrowSchema *schema);
/* The type of a column in words, for messages. */
const char *gsa__arrow_type_name(const struct ArrowSchema *schema);
/* The column's array of a batch, whose rows end at `end`: what is wrong with it, or NULL. */
const char *gsa__arrow_column_take(gsa__arrow_column *column, const struct ArrowArray *array, int64_t end);

gsa__arrow_cell gsa__arrow_read(const gsa__arrow_column *column, int64_t row);
/* Of a column with a dictionary: the row's place in it, -1 if it is null. */
int64_t gsa__arrow_place(const gsa__arrow_column *column, int64_t row);
/* Items of a row's list: how many, and the first; a null list has none. */
size_t gsa__arrow_list(const gsa__arrow_column *column, int64_t row, int64_t *first);
gsa__arrow_cell gsa__arrow_item(const gsa__arrow_column *column, int64_t item);

typedef struct gsa__arrow {
    gsa__csv csv; /* the meaning of the columns; a cell of its plan is the number of a column here */
    struct ArrowArrayStream stream;
    gsa_arrow_again again; /* open is NULL: there is none */
    bool is_begun;         /* rows were asked for: a rewind needs another stream */
    bool is_over;          /* the stream is to be replaced before more are read */
    struct ArrowSchema schema;
    struct ArrowArray batch; /* without rows before the first */
    gsa__arrow_column *column;
    size_t n_columns;
    size_t ids, values; /* the lists that have the features in them; SIZE_MAX: none */
    int64_t at;         /* the row of the batch that is next */
    uint64_t n_rows;    /* taken from the stream, good or bad */
} gsa__arrow;

/* The next row of the batch. */
gsa_status gsa__arrow_row(gsa__arrow *arrow, gsa__rows *rows, gsa_error *error);

/* Releases what a reader that is not opened was to take over. */
void gsa__arrow_refuse(struct ArrowArrayStream *stream, const gsa_arrow_again *again);
/* A parser that owns stream and again, which are taken over also on failure. */
gsa_status gsa__arrow_open(struct ArrowArrayStream *stream, const gsa_arrow_again *again, const gsa_env *env,
                           void **out, gsa_error *error);
const gsa__format *gsa__format_arrow(void);

#endif
