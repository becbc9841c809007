/* States that are merged, and their numbers added up. */
#include "learn/merged.h"

#include "learn/inside.h"

#include <string.h>

bool gsai_state_continues(const gsa_state *state, const gsa_state *base)
{
    const gsai_lineage *own = &state->lineage, *of_base = &base->lineage;
    return state->run_id.hash == base->run_id.hash && own->n == of_base->n &&
           (own->n == 0 || memcmp(own->at, of_base->at, own->n * sizeof *own->at) == 0) &&
           state->n_rows >= base->n_rows && state->averaging.now >= base->averaging.now &&
           state->rows_behind >= base->rows_behind && state->row_weights.n_rows >= base->row_weights.n_rows &&
           state->row_weights.sum >= base->row_weights.sum;
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
    for (size_t slot = 0; slot < base->table.n_slots && is_alone; slot++)
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
