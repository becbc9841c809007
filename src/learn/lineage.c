/* The id of a run, the runs that a state contains, and states that are merged. */
#include "learn/lineage.h"
#include "learn/inside.h"

#include "base/error.h"
#include "base/hash.h"
#include "base/memory.h"

#include <string.h>

void gsai_run_id_add_row(gsai_run_id *run_id, const gsa_batch *batch, size_t row)
{
    run_id->hash = gsai_mix(run_id->hash ^ gsai_row_hash(batch, row));
    run_id->n_rows++;
    if (run_id->n_rows >= GSAI_RUN_ID_ROWS)
        run_id->closed = 1;
}

void gsa_fingerprint_add(gsa_fingerprint *fingerprint, const gsa_batch *batch, const uint32_t *rows, size_t n_rows)
{
    for (size_t i = 0; i < n_rows; i++)
        gsai_fingerprint_add_row(fingerprint, gsai_row_hash(batch, rows ? rows[i] : i));
}

void gsa_state_get_fingerprint(const gsa_state *state, gsa_fingerprint *out)
{
    *out = state->fingerprint;
}

int gsa_state_run_matches(const gsa_state *state, const gsa_batch *first)
{
    gsai_run_id run_id = {0};
    if (first->n_rows < state->run_id.n_rows ||
        gsai_batch_check(first, NULL, (size_t)state->run_id.n_rows, 0, NULL) != GSA_OK)
        return 0;
    for (size_t row = 0; row < state->run_id.n_rows; row++)
        gsai_run_id_add_row(&run_id, first, row);
    return run_id.hash == state->run_id.hash;
}

bool gsai_lineage_has(const gsa_state *state, uint64_t run_id)
{
    if (state->run_id.n_rows > 0 && state->run_id.hash == run_id)
        return true;
    for (size_t i = 0; i < state->lineage.n; i++)
        if (state->lineage.at[i] == run_id)
            return true;
    return false;
}

size_t gsai_lineage_count(const gsa_state *state)
{
    return state->lineage.n + (state->run_id.n_rows > 0);
}

uint64_t gsai_lineage_at(const gsa_state *state, size_t i)
{
    return i < state->lineage.n ? state->lineage.at[i] : state->run_id.hash;
}

gsa_status gsai_lineage_add(gsa_state *state, uint64_t run_id, gsa_error *error)
{
    size_t at = state->lineage.n;
    GSA_TRY(gsai_array_grow(&state->lineage, at + 1, sizeof *state->lineage.at, &state->env, error));
    for (; at > 0 && state->lineage.at[at - 1] > run_id; at--)
        state->lineage.at[at] = state->lineage.at[at - 1];
    state->lineage.at[at] = run_id;
    return GSA_OK;
}

/* Replicas of one run stay that run, which goes on with other rows than it began with. */
static gsa_status merge_lineage(const gsai_merge *merge, gsa_error *error)
{
    merge->into->run_id.closed = 1;
    for (size_t i = 0; merge->continues && i < merge->base->lineage.n; i++)
        GSA_TRY(gsai_lineage_add(merge->into, merge->base->lineage.at[i], error));
    for (size_t s = 0; !merge->continues && s < merge->n_states; s++)
        for (size_t i = 0; i < gsai_lineage_count(merge->states[s]); i++) {
            uint64_t run_id = gsai_lineage_at(merge->states[s], i);
            if (!gsai_lineage_has(merge->into, run_id))
                GSA_TRY(gsai_lineage_add(merge->into, run_id, error));
        }
    return GSA_OK;
}

/* Equal ones: a run that started from a run on the same rows. */
static bool ascends(const gsa_state *state)
{
    for (size_t i = 1; i < state->lineage.n; i++)
        if (state->lineage.at[i] < state->lineage.at[i - 1])
            return false;
    return true;
}

const gsai_part_functions gsai_lineage_part = {.merge = merge_lineage, .is_sound = ascends};

/* ---- states that are merged ---------------------------------------------------------------------------------------
 */

bool gsai_state_continues(const gsa_state *state, const gsa_state *base)
{
    const gsai_lineage *own = &state->lineage, *of_base = &base->lineage;
    return state->run_id.hash == base->run_id.hash && own->n == of_base->n &&
           (own->n == 0 || memcmp(own->at, of_base->at, own->n * sizeof *own->at) == 0) &&
           state->fingerprint.n_rows >= base->fingerprint.n_rows && state->n_rows >= base->n_rows &&
           state->averaging.now >= base->averaging.now && state->rows_behind >= base->rows_behind &&
           state->row_weights.n_rows >= base->row_weights.n_rows && state->row_weights.sum >= base->row_weights.sum;
}

bool gsai_state_contains(const gsa_state *state, const gsa_state *base, bool is_alone)
{
    bool same_loss = !base->loss || base->loss == state->loss || gsai_loss_widens_to(base->loss, state->loss);
    if (!same_loss || base->table.n_slots > state->table.n_slots || base->rows_behind > state->rows_behind)
        return false;
    for (size_t i = 0; i < gsai_lineage_count(base); i++)
        if (!gsai_lineage_has(state, gsai_lineage_at(base, i)))
            return false;
    for (size_t k = 0; k < base->labels.n; k++)
        if (gsai_labels_find_text(&state->labels, base->labels.at[k].text) == GSAI_NO_LABEL)
            return false;
    for (size_t slot = 0; slot < base->table.n_slots && is_alone; slot = gsai_table_next(&base->table, slot + 1))
        if (gsai_state_n_seen(state, slot) < gsai_state_n_seen(base, slot))
            return false;
    return true;
}

bool gsai_state_splits(const gsa_state *state, const gsa_state *into)
{
    return gsai_state_is_binary(state) && !gsai_state_is_binary(into);
}

double gsai_fresh_share(const gsa_state *state, const gsa_state *base, bool continues)
{
    if (!continues || state->averaging.first != base->averaging.first) /* or the average began anew */
        return 1;
    double total = gsai_averaging_total(state, state->averaging.now);
    return total > 0 ? 1 - gsai_averaging_total(base, base->averaging.now) / total : 1;
}

double gsai_state_weight_in(const gsa_state *state, const gsa_state *into)
{
    const gsai_row_weights *own = &state->row_weights, *all = &into->row_weights;
    if (!(own->sum > 0 && all->sum > 0 && own->n_rows > 0 && all->n_rows > 0))
        return 1;
    return own->sum / (double)own->n_rows / (all->sum / (double)all->n_rows);
}

typedef double value_of(const gsai_merge *merge, const gsa_state *state, size_t at);

/* NOLINTNEXTLINE(misc-no-recursion): log2 of the number of states deep */
static double sum_of(const gsai_merge *merge, size_t first, size_t n, value_of *value, size_t at)
{
    if (n == 1)
        return value(merge, merge->states[first], at);
    size_t left = 1;
    while (2 * left < n)
        left *= 2;
    double sum = sum_of(merge, first, left, value, at);
    return sum + sum_of(merge, first + left, n - left, value, at);
}

double gsai_merge_sum(const gsai_merge *merge, value_of *value, size_t at)
{
    return sum_of(merge, 0, merge->n_states, value, at);
}

/* A suffix average starts anew with the next row, that of the merged replicas being where it begins. */
static gsa_status merge_averaging(const gsai_merge *merge, gsa_error *error)
{
    (void)error;
    gsai_averaging *into = &merge->into->averaging;
    into->now = merge->continues ? merge->base->averaging.now : 0;
    for (size_t s = 0; s < merge->n_states; s++) {
        const gsai_averaging *own = &merge->states[s]->averaging;
        into->now += merge->continues ? (own->now - merge->base->averaging.now) / own->per_row : own->now;
    }
    bool recent = gsai_params_average(&merge->into->params) == GSAI_AVERAGE_RECENT;
    into->first = recent && into->now > 0 ? 1 : into->now;
    into->restart = recent ? UINT64_MAX : into->now + 1;
    return GSA_OK;
}

const gsai_part_functions gsai_averaging_part = {.merge = merge_averaging};
