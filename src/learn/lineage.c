/* The id of a run, and the runs that a state contains. */
#include "learn/lineage.h"
#include "learn/inside.h"

#include "base/error.h"
#include "base/hash.h"
#include "base/memory.h"

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
    GSAI_TRY_MEMORY(gsai_reserve(&state->env, &state->lineage.at, &state->lineage.capacity, at + 1, sizeof run_id),
                    &state->env, error, "no memory for the origins of a state");
    state->lineage.n++;
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
