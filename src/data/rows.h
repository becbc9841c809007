/* A batch under construction: what a format fills row by row and a reader delivers.
 *
 *   1 Every value is stored; `all_ones` remembers whether the batch can go out without them. Those of blocks of ones
 *     are written when others follow.
 *   2 A row that is not finished leaves no trace: begin forgets the values after the last finished row.
 *   3 A batch is full by its number of rows and values alone, so that the same text gives the same batches; only a
 *     stream that has nothing to read for the moment gives fewer, and a block of a cache is never divided. */
#ifndef GSA_DATA_ROWS_H
#define GSA_DATA_ROWS_H

#include "data/format/words.h"

#include <stdbool.h>

#define GSAI_BATCH_ROWS ((size_t)4096)
#define GSAI_BATCH_VALUES ((size_t)256 << 10) /* 1 MiB of floats */

typedef struct gsai_rows {
    const gsai_env *env; /* borrowed, resolved */
    size_t n_rows, max_rows;
    size_t width;                /* above 0: rows are dense, of so many values each, and have no ids */
    size_t n_values, max_values; /* of the finished rows */
    size_t n_implied;            /* of these values, the first: they are 1 and not written */
    size_t row_capacity, index_capacity, value_capacity;
    int64_t *row_start;
    uint32_t *index;
    float *value;
    double *label;
    int32_t *word;
    float *weight;
    gsa_place *place;
    uint64_t *cell; /* of tables, if they are asked for: gsa_reader_cells */
    size_t n_cells, cell_capacity;
    bool keeps; /* texts and bad rows: kept_start and bad are there, see gsai_rows_keep */
    char *kept;
    size_t *kept_start;
    unsigned char *bad;
    size_t kept_size, kept_capacity; /* size: with what the row at hand has so far */
    bool any_bad;
    bool all_ones, any_word, any_weight;
    bool without_labels; /* views have none */
    gsai_words words;
} gsai_rows;

/* Prepares rows; 0 for a size means the default. */
gsa_status gsai_rows_init(gsai_rows *rows, size_t max_rows, size_t max_values, const gsai_env *env, gsa_error *error);
void gsai_rows_free(gsai_rows *rows);
void gsai_rows_clear(gsai_rows *rows);
/* Lets rows have texts that are kept, and be bad. */
gsa_status gsai_rows_keep(gsai_rows *rows, gsa_error *error);
/* Begins a row, which has no texts yet. */
static inline void gsai_rows_begin_texts(gsai_rows *rows)
{
    if (rows->keeps)
        rows->kept_size = rows->kept_start[rows->n_rows];
}
/* Keeps texts of the row at hand, as they are in a batch: each with its NUL. A bad row has those that it came to. */
gsa_status gsai_rows_keep_texts(gsai_rows *rows, const char *texts, size_t size, gsa_error *error);
/* Finishes the current row as one that could not be read: without features, or with zeros if rows are dense. */
void gsai_rows_finish_bad(gsai_rows *rows, gsa_place place);

static inline bool gsai_rows_full(const gsai_rows *rows)
{
    return rows->n_rows >= rows->max_rows || rows->n_values >= rows->max_values || rows->n_cells >= rows->max_values;
}

/* Makes room for a row of up to n values after the finished ones: index and value [n_values, n_values + n) may be
 * written. */
gsa_status gsai_rows_reserve(gsai_rows *rows, size_t n, gsa_error *error);
/* Makes room for n_rows more rows with n ids and, unless they are all 1, values, in every array that has one element
 * per row too: index [n_values, n_values + n) may be written, and value if has_values. */
gsa_status gsai_rows_reserve_block(gsai_rows *rows, size_t n_rows, size_t n, bool has_values, gsa_error *error);
/* Makes room for n_rows more dense rows; all rows are then dense. value [n_values, n_values + n_rows * width) may be
 * written. */
gsa_status gsai_rows_reserve_dense(gsai_rows *rows, size_t n_rows, size_t width, gsa_error *error);
/* Makes dense rows sparse, without their zeros. */
gsa_status gsai_rows_make_sparse(gsai_rows *rows, gsa_error *error);
/* Finishes rows that were written so, row_start included. */
void gsai_rows_finish_block(gsai_rows *rows, size_t n_rows, bool has_values, bool all_ones);
/* Makes room for n cells of the row, all absent; they are part of the batch when n_cells says so. */
gsa_status gsai_rows_reserve_cells(gsai_rows *rows, size_t n, gsa_error *error);
/* Finishes the row that was written to index and value. word < 0: the label is the number. */
void gsai_rows_finish(gsai_rows *rows, size_t n, bool all_ones, double label, int32_t word, gsa_place place);
/* Fills in the number of a label that is a word, or fails with the place of its row. */
gsa_status gsai_rows_word(gsai_rows *rows, const char *text, size_t size, uint64_t line, uint64_t byte, int32_t *out,
                          gsa_error *error);
/* Sets the weight of the row that was finished last, in place of 1. */
static inline void gsai_rows_weigh(gsai_rows *rows, float weight)
{
    rows->weight[rows->n_rows - 1] = weight;
    rows->any_weight = rows->any_weight || weight != 1;
}

/* Bytes that its arrays take. */
uint64_t gsai_rows_size(const gsai_rows *rows);
/* Rows on their way into others. */
typedef struct gsai_rows_source {
    const gsai_rows *rows;
    size_t n_taken;
    int32_t *word; /* the numbers that its words have there; -1: none yet */
    size_t n_words, word_capacity;
    uint64_t n_lines; /* before its line 1 */
} gsai_rows_source;
/* Appends rows that were not taken until these are full. */
gsa_status gsai_rows_append(gsai_rows *rows, gsai_rows_source *from, gsa_error *error);

/* Fills in a view, valid until rows change. */
void gsai_rows_view(const gsai_rows *rows, gsa_batch *out);

#endif
