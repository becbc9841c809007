/* The numbers that a state has once: rows, averaging, steps, losses. */
#include "merge/totals.h"

#include "merge/resident.h"

#include <string.h>

bool gsai_state_continues(const gsa_state *state, const gsa_state *base)
{
    size_t n = base->n_lineage;
    return state->run_id.hash == base->run_id.hash && state->n_lineage == n &&
           (n == 0 || memcmp(state->lineage, base->lineage, n * sizeof *base->lineage) == 0) &&
           state->n_rows >= base->n_rows && state->averaging.now >= base->averaging.now &&
           state->rows_behind >= base->rows_behind && state->row_weights.n_rows >= base->row_weights.n_rows &&
           state->row_weights.sum >= base->row_weights.sum;
}

static double step_sum(const gsa_state *state, const gsa_state *into)
{
    return gsai_state_step(state)->sum / (gsai_state_splits(state, into) ? 2 : 1);
}

static gsai_change change_of(const gsa_state *state, const gsa_state *base, const gsa_state *into)
{
    gsai_change change = {
        .n_rows = state->n_rows,
        .n_averaged = state->averaging.now,
        .n_merged = state->n_merged,
        .rows_behind = state->rows_behind - (base ? base->rows_behind : 0),
        .rows_standardised = state->standardised || gsai_state_table(state) != &state->table ? state->n_rows : 0,
        .step = {step_sum(state, into), gsai_state_step(state)->weight},
        .loss_sum = state->position.loss_sum,
        .loss_weight = state->position.loss_weight,
        .squared_error = state->squared_error,
        .squared_label = state->squared_label,
        .row_weights = state->row_weights,
        .pass = state->position.pass,
        .pass_rows = state->position.pass_rows,
        .rows = state->rows,
    };
    if (base && gsai_state_continues(state, base)) {
        change.n_rows -= base->n_rows;
        change.n_averaged = (change.n_averaged - base->averaging.now) / state->averaging.per_row;
        change.n_merged = 1;
        change.rows.sum -= base->rows.sum;
        change.rows.n_rows -= base->rows.n_rows;
        change.step.sum -= step_sum(base, into);
        change.step.weight -= gsai_state_step(base)->weight;
        change.squared_error -= base->squared_error;
        change.squared_label -= base->squared_label;
        change.row_weights.sum -= base->row_weights.sum;
        change.row_weights.n_rows -= base->row_weights.n_rows;
        if (state->position.pass == base->position.pass) { /* else these began anew with the pass */
            change.loss_sum -= base->position.loss_sum;
            change.loss_weight -= base->position.loss_weight;
            change.pass_rows -= base->position.pass_rows;
        }
    }
    return change;
}

static void add(gsai_change *into, const gsai_change *from)
{
    into->n_rows += from->n_rows;
    into->rows_behind += from->rows_behind;
    into->rows_standardised += from->rows_standardised;
    into->n_averaged += from->n_averaged;
    into->n_merged += from->n_merged;
    into->step.sum += from->step.sum;
    into->step.weight += from->step.weight;
    into->loss_sum += from->loss_sum;
    into->loss_weight += from->loss_weight;
    into->squared_error += from->squared_error;
    into->squared_label += from->squared_label;
    into->row_weights.sum += from->row_weights.sum;
    into->row_weights.max =
        from->row_weights.max > into->row_weights.max ? from->row_weights.max : into->row_weights.max;
    into->row_weights.n_rows += from->row_weights.n_rows;
    into->pass = into->pass > from->pass ? into->pass : from->pass;
    into->pass_rows += from->pass_rows;
    into->rows.sum += from->rows.sum;
    into->rows.n_rows += from->rows.n_rows;
}

/* NOLINTNEXTLINE(misc-no-recursion): log2 of the number of states deep */
gsai_change gsai_change_sum(const gsa_state *const *states, size_t n_states, const gsa_state *base,
                            const gsa_state *into)
{
    if (n_states == 1)
        return change_of(states[0], base, into);
    size_t left = 1;
    while (2 * left < n_states)
        left *= 2;
    gsai_change sum = gsai_change_sum(states, left, base, into);
    gsai_change right = gsai_change_sum(states + left, n_states - left, base, into);
    add(&sum, &right);
    return sum;
}

/* The rows of a round count as the last; the marks of falling are moved if it went past a power of two. */
static void note_losses(gsa_state *into, const gsai_change *sum, uint64_t rows_before)
{
    gsai_position *at = &into->position;
    at->pass_rows += sum->pass_rows;
    at->loss_sum += sum->loss_sum;
    at->loss_weight += sum->loss_weight;
    if ((rows_before ^ into->n_rows) > rows_before) { /* the highest bit is another one */
        at->earlier_loss_sum = at->late_loss_sum;
        at->earlier_loss_weight = at->late_loss_weight;
        at->late_loss_sum = at->late_loss_weight = 0;
    }
    at->late_loss_sum += sum->loss_sum;
    at->late_loss_weight += sum->loss_weight;
}

void gsai_change_apply(gsa_state *into, const gsai_change *sum, const gsa_state *base, bool continues)
{
    into->n_rows = sum->n_rows + (continues ? base->n_rows : 0);
    into->rows_behind = sum->rows_behind + (base ? base->rows_behind : 0);
    into->standardised = 2 * sum->rows_standardised > sum->n_rows; /* what most rows were learned with */
    into->step = sum->step;
    into->squared_error = sum->squared_error;
    into->squared_label = sum->squared_label;
    into->row_weights = sum->row_weights;
    into->averaging.now = sum->n_averaged + (continues ? base->averaging.now : 0);
    into->n_merged = continues ? base->n_merged : sum->n_merged;
    into->position.pass = sum->pass;
    into->rows = sum->rows;
    if (continues) {
        into->rows.sum += base->rows.sum;
        into->rows.n_rows += base->rows.n_rows;
        into->step.sum += step_sum(base, into);
        into->step.weight += gsai_state_step(base)->weight;
        into->squared_error += base->squared_error;
        into->squared_label += base->squared_label;
        into->row_weights.sum += base->row_weights.sum;
        into->row_weights.max =
            base->row_weights.max > into->row_weights.max ? base->row_weights.max : into->row_weights.max;
        into->row_weights.n_rows += base->row_weights.n_rows;
        if (sum->pass == base->position.pass)
            into->position = base->position;
        note_losses(into, sum, base->n_rows);
    }
    /* A suffix average starts anew with the next row, that of the merged copies being where it begins. */
    bool recent = gsai_params_average(&into->params) == GSAI_AVERAGE_RECENT;
    into->averaging.first = recent && into->averaging.now > 0 ? 1 : into->averaging.now;
    into->averaging.restart = recent ? UINT64_MAX : into->averaging.now + 1;
}
