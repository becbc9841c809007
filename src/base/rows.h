/* Rows that grow: the one form in which the library holds rows of its own. Parsers write to it row by row, blocks, the
 * solver and processes that share rows append batches, and all of them read it as a gsa_batch.
 *
 *   1 Rows are sparse (row_start, index, value) or all dense, of one width. Sparse rows that are appended leave out
 *     zeros.
 *   2 Values of sparse rows that are all 1 need no memory: `has_values` says whether they are written, `all_ones` that
 *     views have none.
 *   3 A row that is not finished leaves no trace. A failure changes no finished row.
 *   4 All sizes are checked: rows that no size_t can count are refused as if there were no memory for them. */
#ifndef GSA_BASE_ROWS_H
#define GSA_BASE_ROWS_H

#include "base/words.h"

#include <greedystep/greedystep.h>

#include <stdbool.h>

#define GSAI_BATCH_ROWS ((size_t)4096)
#define GSAI_BATCH_VALUES ((size_t)256 << 10) /* 1 MiB of floats */

typedef struct gsai_rows {
    const gsai_env *env; /* borrowed, resolved */
    size_t n_rows, n_values;
    size_t width;                /* values of a dense row; 0: rows are sparse */
    size_t max_rows, max_values; /* that gsai_rows_full goes by */
    size_t row_capacity;         /* every array by rows has room for one element more */
    size_t index_capacity, value_capacity;
    int64_t *row_start;
    uint32_t *index;
    float *value;
    const uint32_t *index_view; /* ids and values of all rows that lie elsewhere, in place of those above; NULL: none */
    const float *value_view;
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
    bool has_values, all_ones, any_word, any_weight, any_bad;
    uint64_t *group; /* as in a batch; NULL: no row has one */
    bool any_group, group_is_time;
    bool without_labels; /* views have none */
    bool without_places; /* rows have none */
    gsai_words words;
} gsai_rows;

/* Prepares rows without memory; 0 for a maximum means that of a reader's batch. */
void gsai_rows_init(gsai_rows *rows, size_t max_rows, size_t max_values, const gsai_env *env);
void gsai_rows_free(gsai_rows *rows);
/* Forgets the rows. Their memory and the words stay. */
void gsai_rows_clear(gsai_rows *rows);
/* Returns the number of bytes that the arrays take. */
uint64_t gsai_rows_size(const gsai_rows *rows);

static inline bool gsai_rows_full(const gsai_rows *rows)
{
    return rows->n_rows >= rows->max_rows || rows->n_values >= rows->max_values || rows->n_cells >= rows->max_values;
}

/* ---- row by row -------------------------------------------------------------------------------------------------- */

/* Makes room for n_rows more rows with n ids and, unless they are all 1, values: index [n_values, n_values + n) may be
 * written, and value if has_values. */
gsa_status gsai_rows_reserve_block(gsai_rows *rows, size_t n_rows, size_t n, bool has_values, gsa_error *error);
/* Makes room for a row of up to n values. */
static inline gsa_status gsai_rows_reserve(gsai_rows *rows, size_t n, gsa_error *error)
{
    bool has_room = rows->width == 0 && rows->has_values && rows->n_rows < rows->row_capacity &&
                    n <= rows->index_capacity - rows->n_values && n <= rows->value_capacity - rows->n_values;
    return has_room ? GSA_OK : gsai_rows_reserve_block(rows, 1, n, true, error);
}
/* Makes room for n_rows more dense rows; all rows are then dense. value [n_values, n_values + n_rows * width) may be
 * written. */
gsa_status gsai_rows_reserve_dense(gsai_rows *rows, size_t n_rows, size_t width, gsa_error *error);
/* Finishes the row that was written to index and value. word < 0: the label is the number. */
void gsai_rows_finish(gsai_rows *rows, size_t n, bool all_ones, double label, int32_t word, gsa_place place);
/* Sets the weight of the row that was finished last, in place of 1. */
static inline void gsai_rows_weigh(gsai_rows *rows, float weight)
{
    rows->weight[rows->n_rows - 1] = weight;
    rows->any_weight = rows->any_weight || weight != 1;
}
/* Lets rows have groups; those of earlier ones are 0. Set that of the row that was finished last. */
gsa_status gsai_rows_begin_groups(gsai_rows *rows, bool is_time, gsa_error *error);
gsa_status gsai_rows_set_group(gsai_rows *rows, uint64_t group, bool is_time, gsa_error *error);
/* Finishes the current row as one that could not be read: without features, or with zeros if rows are dense. */
gsa_status gsai_rows_finish_bad(gsai_rows *rows, gsa_place place, gsa_error *error);
/* Finishes n_rows rows that were written to all arrays, row_start included; has_values as they were reserved. */
void gsai_rows_finish_block(gsai_rows *rows, size_t n_rows, bool has_values, bool all_ones);
/* Makes room for n cells of the row, all absent; they are part of the batch when n_cells says so. */
gsa_status gsai_rows_reserve_cells(gsai_rows *rows, size_t n, gsa_error *error);
/* Fills in the number of a label that is a word, or fails with the place of its row. */
gsa_status gsai_rows_word(gsai_rows *rows, const char *text, size_t size, uint64_t line, uint64_t byte, int32_t *out,
                          gsa_error *error);

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

/* ---- batches ----------------------------------------------------------------------------------------------------- */

/* Numbers that the words of other rows have in these; zeroed: none is known yet. It is valid as long as both go on with
 * the words that they have. The memory is that of the rows. */
typedef struct gsai_word_map {
    int32_t *number; /* -1: not known */
    size_t n, capacity;
} gsai_word_map;

/* Appends rows [first, first + n) of a batch, and on failure those before the row that cannot be. words NULL: their
 * words have the same numbers here. is_dense: they are dense, and so are these, of the same width. */
gsa_status gsai_rows_append(gsai_rows *rows, const gsa_batch *from, size_t first, size_t n, bool is_dense,
                            gsai_word_map *words, gsa_error *error);
/* Makes dense rows sparse, without their zeros. */
gsa_status gsai_rows_make_sparse(gsai_rows *rows, gsa_error *error);

/* Returns where the values of a row begin; n_rows of the batch: where they end. */
static inline size_t gsai_batch_start(const gsa_batch *batch, size_t row)
{
    return batch->index ? (size_t)batch->row_start[row] : row * batch->width;
}
/* Returns the number of rows from `first` on, at least 1, that end with the row that brings their values to
 * max_values, or that are max_rows. */
size_t gsai_batch_count(const gsa_batch *batch, size_t first, size_t max_rows, size_t max_values);
/* Returns a view of the rows, valid until they change. */
gsa_batch gsai_rows_view(const gsai_rows *rows);
/* Returns a view of rows [first, first + n) of a batch. */
gsa_batch gsai_batch_slice(const gsa_batch *batch, size_t first, size_t n);

/* Passes rows [first, first + n) of a sparse batch with labels to a function as bytes, for processes of the same run:
 * without their places. Returns what the function returns if it fails, else 0. */
int gsai_rows_pack(const gsa_batch *from, size_t first, size_t n, gsa_write_fn write, void *ctx);
/* Appends rows that were packed to sparse ones. GSA_FORMAT if the bytes are not those of rows. */
gsa_status gsai_rows_unpack(gsai_rows *rows, const void *bytes, size_t size, gsa_error *error);

#endif
