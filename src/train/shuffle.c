/* The shuffle buffer of a stream. */
#include "train/shuffle.h"

#include "base/error.h"
#include "base/hash.h"
#include "base/memory.h"
#include "learn/state.h"
#include "solve/solve.h"

#include <stdlib.h>
#include <string.h>

/* A row that leaves. */
typedef struct leaving_row {
    uint64_t key;
    size_t row;
} leaving_row;

struct gsai_shuffle {
    gsai_env env;
    gsai_waiting *rows; /* the buffer; the hash of a row is its key */
    gsai_rows out;      /* the block that was delivered last */
    gsai_prefetch *prefetch;
    gsa_batch read; /* what was read and from its row next_row on not taken */
    gsai_word_map into, past,
        out_of; /* words of what was read in the buffer and in the block, and of the buffer there */
    size_t next_row;
    uint64_t seed, n_rows, n_outputs, below;
    leaving_row *leaving;
    size_t n_leaving, n_left;
    bool has_ended;
};

static uint64_t key_of(const gsai_shuffle *shuffle, uint64_t number)
{
    return gsai_mix(shuffle->seed ^ gsai_mix(number));
}

/* Gives rows their labels back, which are classes while they wait. */
static gsa_status take_labels(gsai_shuffle *shuffle, const gsa_state *state, gsa_error *error)
{
    const gsai_labels *labels = gsai_state_labels(state);
    gsai_rows *csr = &shuffle->rows->csr;
    bool has_classes = gsai_loss_has_classes(gsai_state_loss(state));
    int32_t *word = gsai_alloc(&shuffle->env, labels->n + 1, sizeof *word);
    GSAI_TRY_MEMORY(word, &shuffle->env, error, "no memory for %zu labels", labels->n);
    gsa_status status = GSA_OK;
    for (size_t k = 0; k < labels->n && status == GSA_OK; k++) {
        word[k] = -1;
        if (!labels->at[k].is_number)
            status = gsai_rows_word(csr, labels->at[k].text, strlen(labels->at[k].text), 0, 0, &word[k], error);
    }
    for (size_t i = 0; i < csr->n_rows && status == GSA_OK; i++) {
        if (has_classes) {
            csr->label[i] = labels->at[csr->word[i]].number;
            csr->word[i] = word[csr->word[i]];
        } else {
            csr->word[i] = -1;
        }
        csr->any_word = csr->any_word || csr->word[i] >= 0;
        shuffle->rows->hash[i] = key_of(shuffle, shuffle->n_rows++);
    }
    gsai_free(&shuffle->env, word);
    return status;
}

gsa_status gsai_shuffle_new(const gsa_state *state, gsai_waiting *rows, gsai_prefetch *prefetch, const gsai_env *env,
                            gsai_shuffle **out, gsa_error *error)
{
    gsai_shuffle *shuffle = gsai_alloc_zeroed(env, 1, sizeof *shuffle);
    if (!shuffle) {
        gsai_waiting_free(rows);
        return gsai_fail_memory(env, error, "no memory to shuffle rows");
    }
    shuffle->env = *env;
    shuffle->rows = rows;
    shuffle->prefetch = prefetch;
    shuffle->seed = gsai_mix(gsai_state_param(state, GSAI_PARAM_seed));
    shuffle->n_outputs = gsai_state_n_outputs(state);
    shuffle->below = UINT64_MAX;
    gsai_rows_init(&shuffle->out, 0, 0, &shuffle->env);
    shuffle->out.without_places = true;
    gsa_status status = take_labels(shuffle, state, error);
    if (status == GSA_OK)
        *out = shuffle;
    else
        gsai_shuffle_free(shuffle);
    return status;
}

void gsai_shuffle_free(gsai_shuffle *shuffle)
{
    if (!shuffle)
        return;
    gsai_env env = shuffle->env;
    gsai_waiting_free(shuffle->rows);
    gsai_rows_free(&shuffle->out);
    gsai_free(&env, shuffle->into.number);
    gsai_free(&env, shuffle->past.number);
    gsai_free(&env, shuffle->out_of.number);
    gsai_free(&env, shuffle->leaving);
    gsai_free(&env, shuffle);
}

static int by_key(const void *a, const void *b)
{
    const leaving_row *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

/* Lists the rows that leave: those with keys from `from` on, in the order of their keys. */
static gsa_status choose_leaving(gsai_shuffle *shuffle, uint64_t from, gsa_error *error)
{
    size_t n = shuffle->rows->csr.n_rows;
    gsai_free(&shuffle->env, shuffle->leaving);
    shuffle->n_leaving = shuffle->n_left = 0;
    shuffle->leaving = gsai_alloc(&shuffle->env, n, sizeof *shuffle->leaving);
    GSAI_TRY_MEMORY(shuffle->leaving || n == 0, &shuffle->env, error, "no memory for the order of %zu rows", n);
    for (size_t i = 0; i < n; i++)
        if (shuffle->rows->hash[i] >= from)
            shuffle->leaving[shuffle->n_leaving++] = (leaving_row){shuffle->rows->hash[i], i};
    if (shuffle->n_leaving > 1)
        qsort(shuffle->leaving, shuffle->n_leaving, sizeof *shuffle->leaving, by_key);
    shuffle->below = from;
    return GSA_OK;
}

/* Closes the gaps of rows that have left. */
static void drop_left(gsai_shuffle *shuffle)
{
    gsai_rows *csr = &shuffle->rows->csr;
    uint64_t *key = shuffle->rows->hash;
    size_t n = 0, n_values = 0;
    for (size_t i = 0; i < csr->n_rows; i++) {
        size_t start = (size_t)csr->row_start[i], len = (size_t)csr->row_start[i + 1] - start;
        if (key[i] >= shuffle->below)
            continue;
        memmove(csr->index + n_values, csr->index + start, len * sizeof *csr->index);
        if (csr->has_values)
            memmove(csr->value + n_values, csr->value + start, len * sizeof *csr->value);
        csr->label[n] = csr->label[i];
        csr->word[n] = csr->word[i];
        csr->weight[n] = csr->weight[i];
        if (csr->group)
            csr->group[n] = csr->group[i];
        key[n] = key[i];
        csr->row_start[n++] = (int64_t)n_values; /* those of later rows are further on */
        n_values += len;
    }
    csr->row_start[n] = (int64_t)n_values;
    csr->n_rows = n;
    csr->n_values = n_values;
}

static bool is_full(const gsai_rows *out)
{
    return out->n_rows >= GSA_BLOCK_ROWS || out->n_values >= GSA_BLOCK_ENTRIES;
}

/* Takes the rows that leave into the block, and those that were read: into the buffer, or past it. */
static gsa_status fill(gsai_shuffle *shuffle, gsa_error *error)
{
    gsai_rows *csr = &shuffle->rows->csr, *out = &shuffle->out;
    const gsa_batch buffer = gsai_rows_view(csr);
    while (shuffle->n_left < shuffle->n_leaving && !is_full(out))
        GSA_TRY(
            gsai_rows_append(out, &buffer, shuffle->leaving[shuffle->n_left++].row, 1, false, &shuffle->out_of, error));
    if (shuffle->n_left < shuffle->n_leaving)
        return GSA_OK;
    if (shuffle->n_leaving > 0)
        drop_left(shuffle);
    shuffle->n_leaving = shuffle->n_left = 0;
    for (; shuffle->next_row < shuffle->read.n_rows && !is_full(out); shuffle->next_row++) {
        uint64_t key = key_of(shuffle, shuffle->n_rows);
        if (gsai_solver_cells(csr->n_rows, csr->n_values, shuffle->n_outputs) > GSAI_SOLVER_CELLS && csr->n_rows > 1)
            return choose_leaving(shuffle, shuffle->below - shuffle->below / 8, error);
        if (key >= shuffle->below) {
            GSA_TRY(gsai_rows_append(out, &shuffle->read, shuffle->next_row, 1, false, &shuffle->past, error));
        } else {
            GSAI_TRY_MEMORY(gsai_reserve(&shuffle->env, &shuffle->rows->hash, &shuffle->rows->hash_capacity,
                                         csr->n_rows + 1, sizeof *shuffle->rows->hash),
                            &shuffle->env, error, "no memory for %zu rows", csr->n_rows + 1);
            GSA_TRY(gsai_rows_append(csr, &shuffle->read, shuffle->next_row, 1, false, &shuffle->into, error));
            shuffle->rows->hash[csr->n_rows - 1] = key;
        }
        shuffle->n_rows++;
    }
    return GSA_OK;
}

gsa_status gsai_shuffle_next(gsai_shuffle *shuffle, gsa_batch *view, gsa_error *error)
{
    gsa_status status = GSA_OK;
    gsai_rows_clear(&shuffle->out);
    while (!is_full(&shuffle->out)) {
        GSA_TRY(fill(shuffle, error));
        if (shuffle->n_left < shuffle->n_leaving || shuffle->next_row < shuffle->read.n_rows)
            continue;
        if (!shuffle->has_ended) {
            shuffle->next_row = 0;
            shuffle->read.n_rows = 0;
            status = gsai_prefetch_next(shuffle->prefetch, GSAI_MAX_BLOCK_ROWS, &shuffle->read, error);
            if (status != GSA_END)
                GSA_TRY(status);
            shuffle->has_ended = status == GSA_END;
        } else if (shuffle->rows->csr.n_rows > 0) {
            GSA_TRY(choose_leaving(shuffle, 0, error));
        } else {
            break;
        }
    }
    *view = gsai_rows_view(&shuffle->out);
    return view->n_rows > 0 ? GSA_OK : GSA_END;
}
