/* Access to a state for other layers. */
#include "learn/inside.h"

#include "base/error.h"
#include "base/memory.h"

#include <math.h>
#include <string.h>

/* Accessors of a member, for other folders. */
#define GETTER(type, name, member)    \
    type name(const gsa_state *state) \
    {                                 \
        return member;                \
    }
GETTER(const gsai_env *, gsai_state_env, &state->env)
GETTER(const gsai_params *, gsai_state_params, &state->params)
GETTER(const gsai_loss *, gsai_state_loss, state->loss)
GETTER(const gsai_labels *, gsai_state_labels, &state->labels)
GETTER(const gsai_names *, gsai_state_names, &state->names)
GETTER(const gsai_sample *, gsai_state_sample, &state->sample)
GETTER(const gsai_position *, gsai_state_position, &state->position)
GETTER(const gsai_best_checkpoint *, gsai_state_best_checkpoint, &state->best_checkpoint)
GETTER(const gsai_results *, gsai_state_results, &state->results)
GETTER(const gsai_prior_totals *, gsai_state_prior, &state->prior)
GETTER(uint64_t, gsai_state_n_rows, state->n_rows)
GETTER(uint64_t, gsai_state_rows_behind, state->rows_behind)
GETTER(uint64_t, gsai_state_n_solved, state->n_solved)
GETTER(size_t, gsai_state_n_outputs, state->table.n_outputs)
GETTER(bool, gsai_state_is_standardised, state->standardised)
GETTER(const gsai_table *, gsai_state_table, &state->table)
GETTER(const gsai_step_mean *, gsai_state_step, &state->step)
GETTER(double, gsai_state_label_offset, state->label_offset.at)
GETTER(size_t, gsai_state_n_waiting, state->group.n_rows + gsai_waiting_rows(state->waiting))
#undef GETTER

uint64_t gsai_state_param(const gsa_state *state, gsai_param_id id)
{
    return state->params.value[id];
}

void gsai_state_set_order(gsa_state *state, uint64_t order)
{
    gsai_params_set_number(&state->params, GSAI_PARAM_order, order);
}

gsai_table *gsai_state_own_table(gsa_state *state)
{
    return &state->table;
}

const char *gsai_state_method(const gsa_state *state)
{
    bool is_paper = state->params.value[GSAI_PARAM_method] == GSAI_METHOD_PAPER;
    return is_paper ? "paper" : state->n_solved ? "optimum" : "gsa";
}

bool gsai_state_is_binary(const gsa_state *state)
{
    return gsai_loss_has_classes(state->loss) && state->table.n_outputs == 1;
}

bool gsai_state_lacks_loss(const gsa_state *state)
{
    return gsai_loss_is_custom(state->loss) && !state->params.has_custom_loss;
}

gsai_offset gsai_state_offset(const gsa_state *state)
{
    bool has_offset = state->offset_slot > 0;
    return (gsai_offset){has_offset ? (uint32_t)(state->offset_slot - 1) : 0, has_offset ? state->loss : NULL};
}

gsai_target gsai_held_target(const gsa_state *state, const gsai_held_row *held)
{
    return gsai_state_target(state, held->class_number, held->number);
}

uint64_t gsai_state_n_seen(const gsa_state *state, size_t slot)
{
    uint64_t count = slot < state->prior.n ? state->prior.at[slot].count : 0;
    if (slot < state->table.n_slots)
        count += gsai_table_slot(&state->table, slot)[gsai_table_count(&state->table)].u;
    return count;
}

double gsai_state_sum_sq(const gsa_state *state, size_t slot)
{
    double sum_sq = slot < state->prior.n ? state->prior.at[slot].sum_sq : 0.0;
    if (slot < state->table.n_slots) {
        const gsai_cell *record = gsai_table_slot(&state->table, slot);
        sum_sq += (double)record[gsai_table_mean(&state->table)].f * (double)record[gsai_table_count(&state->table)].u;
    }
    return sum_sq;
}

double gsai_averaging_total(const gsa_state *state, uint64_t t)
{
    double n = (double)t;
    if (gsai_params_average(&state->params) == GSAI_AVERAGE_RECENT)
        return n * (n + 1) * (n + 2) / 3;
    return t < state->averaging.first ? 0 : (double)(t - state->averaging.first + 1);
}

double gsai_state_average_total(const gsa_state *state)
{
    bool is_averaged = gsai_params_average(&state->params) != GSAI_AVERAGE_LAST;
    return is_averaged ? gsai_averaging_total(state, state->averaging.now) : 0;
}

double gsai_state_average(const gsa_state *state, size_t slot, size_t output)
{
    const gsai_table *table = gsai_state_table(state);
    const gsai_cell *record = gsai_table_slot(table, slot);
    double weight = (double)record[output].f, total = gsai_state_average_total(state);
    return total > 0 ? weight - (double)record[gsai_table_average(table) + output].f / total : weight;
}

/* Values below 1e-18 matter only with weights above this. */
#define MIN_LEARNED 1e12

size_t gsai_state_count_tiny(const gsa_state *state)
{
    const gsai_table *table = &state->table;
    size_t n = 0;
    for (size_t slot = gsai_table_next(table, 1); slot < table->n_slots; slot = gsai_table_next(table, slot + 1)) {
        const gsai_cell *record = gsai_table_slot(table, slot) + gsai_table_mean(table);
        bool is_tiny = record[1].u > 0 && record[0].f <= 2 * GSAI_MIN_SQUARE;
        for (size_t k = 0; is_tiny && k < table->n_outputs; k++)
            is_tiny = fabs(gsai_state_average(state, slot, k)) < MIN_LEARNED;
        n += is_tiny;
    }
    return n;
}
