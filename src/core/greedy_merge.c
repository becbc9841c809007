/* The paper's principle applied to a merge: take the step that fits best, found by a one-dimensional search.
 *
 * Averaged copies are under-confident, because P copies each took 1/P of the steps. With w0 the weights before and D
 * the merged change, the margins of a row are linear in gamma, m0 + gamma m1, so that the loss of a few thousand rows
 * is convex in one number. The rows must be held out: on rows that were learned the search runs away. */
#include "core/greedy_merge.h"

#include "base/error.h"
#include "base/memory.h"

typedef struct search_line {
    const gsa_state *state;
    const double *start, *direction; /* [sample x outputs] margins */
    double *margins;                 /* scratch, one row */
} search_line;

static double loss_at(const search_line *line, double gamma)
{
    const gsa__sample *sample = &line->state->sample;
    size_t n_outputs = line->state->table.n_outputs;
    double sum = 0;
    for (size_t i = 0; i < sample->n; i++) {
        for (size_t k = 0; k < n_outputs; k++)
            line->margins[k] = line->start[i * n_outputs + k] + gamma * line->direction[i * n_outputs + k];
        sum += (double)sample->at[i]->weight * gsa__held_row_loss(line->state, sample->at[i], line->margins);
    }
    return sum;
}

/* Golden section on a convex function: 40 steps narrow [0, most] to 4e-9 of its length. */
static double search(const search_line *line, double most)
{
    const double ratio = 0.6180339887498949;
    double low = 0, high = most;
    double a = high - ratio * (high - low), b = low + ratio * (high - low);
    double at_a = loss_at(line, a), at_b = loss_at(line, b);
    for (int i = 0; i < 40; i++) {
        if (at_a < at_b) {
            high = b;
            b = a;
            at_b = at_a;
            a = high - ratio * (high - low);
            at_a = loss_at(line, a);
        } else {
            low = a;
            a = b;
            at_a = at_b;
            b = low + ratio * (high - low);
            at_b = loss_at(line, b);
        }
    }
    return (low + high) / 2;
}

static void direction_margins(const gsa_state *state, const double *direction, double *out)
{
    size_t n_outputs = state->table.n_outputs;
    bool intercept = state->params.value[GSA__PARAM_intercept];
    for (size_t i = 0; i < state->sample.n; i++, out += n_outputs) {
        gsa__row row = gsa__held_row_view(state->sample.at[i]);
        for (size_t k = 0; k < n_outputs; k++)
            out[k] = intercept ? direction[k] : 0;
        for (size_t j = 0; j < row.n; j++) {
            size_t slot = (size_t)row.index[j] + 1;
            for (size_t k = 0; k < n_outputs && slot < state->table.n_slots; k++)
                out[k] += direction[slot * n_outputs + k] * (double)row.value[j];
        }
    }
}

/* Held-out rows may have features that no learned row has: those have no slot. */
static void start_margins(const gsa_state *state, double *out)
{
    size_t n_outputs = state->table.n_outputs;
    bool intercept = state->params.value[GSA__PARAM_intercept];
    for (size_t i = 0; i < state->sample.n; i++, out += n_outputs) {
        gsa__row row = gsa__held_row_view(state->sample.at[i]);
        for (size_t k = 0; k < n_outputs; k++)
            out[k] = intercept ? (double)gsa__table_slot(&state->table, 0)[k].f : 0;
        for (size_t j = 0; j < row.n; j++) {
            size_t slot = (size_t)row.index[j] + 1;
            for (size_t k = 0; k < n_outputs && slot < state->table.n_slots; k++)
                out[k] += (double)gsa__table_slot(&state->table, slot)[k].f * (double)row.value[j];
        }
    }
}

gsa_status gsa__greedy_gammas(const gsa_state *into, const gsa__change *direction, size_t most, double *gamma,
                              double *gamma_average, gsa_error *error)
{
    size_t n_outputs = into->table.n_outputs, n_margins;
    *gamma = *gamma_average = 1;
    if (into->sample.n == 0 || (into->loss == GSA__CUSTOM && !into->params.has_custom_loss))
        return GSA_OK;
    double *memory = NULL;
    if (!gsa__multiply(into->sample.n, 2 * n_outputs, &n_margins) ||
        !(memory = gsa__alloc(&into->env, n_margins + n_outputs, sizeof *memory)))
        return gsa__fail(error, GSA_MEMORY, "no memory for the margins of %zu held-out rows", into->sample.n);
    double *start = memory, *along = memory + n_margins / 2;
    search_line line = {into, start, along, memory + n_margins};
    start_margins(into, start);
    direction_margins(into, direction->weight, along);
    *gamma = search(&line, (double)most);
    direction_margins(into, direction->average, along);
    *gamma_average = search(&line, (double)most);
    gsa__free(&into->env, memory);
    return GSA_OK;
}
