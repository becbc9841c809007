/* Rows that wait to be solved together.
 *
 * A run begins by gathering rows. If they end before there are too many, they are solved, whatever their order was.
 * Else a sample of them is solved, which decides how features are scaled and where the weights begin, and then rows are
 * learned as they come (update.c).
 *
 *   W1  Rows wait only while nothing was learned in this run. They stand in the order in which they came, with their
 *       classes or numbers; rows of weight 0 are left out;
 *   W2  labels, the run id, the fingerprint and the position in the input go on as rows come;
 *   W3  copies, files and merges of such states have the rows themselves; a model, a new run and a merge with a state
 *       that has learned have what is solved from them. */
#ifndef GSA_LEARN_WAITING_H
#define GSA_LEARN_WAITING_H

#include "base/rows.h"
#include "learn/basis.h"
#include "learn/compact.h"
#include "learn/offset.h"

/* Solves the rows whose hashes of features are from `from` to `to`. goes_on: rows are learned after these; the pass
 * does not end. Nothing waits in the state, which on failure is as it was. *solved is false, and nothing is done, if
 * these rows are too many or have too many features. */
struct gsai_waiting;
typedef gsa_status gsai_solve_fn(gsa_state *state, const struct gsai_waiting *rows, uint64_t from, uint64_t to,
                                 bool goes_on, const gsai_env *env, bool *solved, gsa_error *error);

typedef struct gsai_waiting {
    gsai_env env;
    gsai_solve_fn *solve;
    gsai_rows csr;  /* the word of a row is its class, the label the number of a loss without classes */
    uint64_t *hash; /* of the features of each row */
    size_t hash_capacity;
    uint32_t highest;    /* feature id */
    uint64_t n_features; /* different ids; those from GSAI_MAX_COUNTED on count as often as they come */
    uint64_t *seen;      /* a bit per id */
    size_t n_seen, seen_capacity;
    gsai_offset
        offset; /* which rows have as their last entry; it is not counted, nor in what gsai_waiting_at returns */
} gsai_waiting;

/* Hashed categories have far fewer features than ids: they are counted, in at most 16 MB. */
#define GSAI_MAX_COUNTED (UINT32_C(1) << 27)
/* Rows that wait in a state that is updated row by row; fewer if they have more than GSA_BLOCK_ENTRIES entries. */
#define GSAI_MAX_WAITING GSA_FIRST_ROWS

/* Returns how many rows wait; waiting NULL: none. */
static inline size_t gsai_waiting_rows(const gsai_waiting *waiting)
{
    return waiting ? waiting->csr.n_rows : 0;
}
/* Returns the first feature from `id` on that a row has; from GSAI_MAX_COUNTED on all count. SIZE_MAX beyond the last;
 * waiting NULL too. */
size_t gsai_waiting_next(const gsai_waiting *waiting, size_t id);
gsa_status gsai_waiting_new(gsai_solve_fn *solve, const gsai_env *env, gsai_waiting **out, gsa_error *error);
/* NULL is allowed. */
void gsai_waiting_free(gsai_waiting *waiting);
/* Adds row i of others. */
gsa_status gsai_waiting_copy(gsai_waiting *to, const gsai_waiting *from, size_t i, gsa_error *error);
/* Makes a copy of rows that are bent. */
gsa_status gsai_waiting_bend(const gsai_waiting *from, const gsai_basis *basis, gsai_waiting **out, gsa_error *error);
/* Returns the number by which row i is held out, and what kind it is. */
gsai_held_by gsai_waiting_held_by(const gsai_waiting *waiting);
uint64_t gsai_waiting_key(const gsai_waiting *waiting, size_t i);
/* Finds the number below which the latest n rows are: fewer if others are as late as the first of them, or all that are
 * as late as the last row; 0 if that is every row. */
gsa_status gsai_waiting_latest(const gsai_waiting *waiting, size_t n, uint64_t *below, gsa_error *error);
/* Compares two such numbers, as qsort wants it. */
int gsai_waiting_compare_keys(const void *a, const void *b);
/* Returns row i; as gsai_unlearned_rows asks for it. */
gsai_unlearned gsai_waiting_at(const void *waiting, size_t i);
/* Rows that are taken in another order are fetched: where one lies GSAI_WAITING_FAR rows before, its entries at half of
 * that. */
#define GSAI_WAITING_FAR ((size_t)16)
static inline void gsai_waiting_fetch(const gsai_waiting *waiting, size_t far, size_t near)
{
    const gsai_rows *csr = &waiting->csr;
    const void *const of_row[] = {csr->row_start + far, csr->word + far, csr->label + far, csr->weight + far};
    for (size_t i = 0; i < sizeof of_row / sizeof *of_row; i++)
        __builtin_prefetch(of_row[i]);
    for (size_t e = (size_t)csr->row_start[near]; e < (size_t)csr->row_start[near + 1]; e += 16) {
        __builtin_prefetch(csr->index + e);
        __builtin_prefetch(csr->all_ones ? NULL : csr->value + e);
    }
}

#endif
