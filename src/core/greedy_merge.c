/* The paper's principle applied to a merge: take the step that fits best, found by a one-dimensional search.
 *
 * Averaged copies are under-confident, because P copies each took 1/P of the steps. With w0 the weights before and D
 * the merged change, the margins of a row are linear in gamma, m0 + gamma m1, so that the loss of a few thousand rows
 * is convex in one number. The rows must be held out: on rows that were learned the search runs away. */
#include "core/greedy_merge.h"

#include "base/error.h"
#include "base/memory.h"

/* Held-out rows that are asked, those of the lowest hashes: one number needs no more. */
#define ROWS_MOST 4096u

typedef struct search_line {
    const gsa_state *state;
    size_t n_rows;
    const double *start, *direction; /* [sample x outputs] margins */
    double *margins;                 /* scratch, one row */
} search_line;

static double loss_at(const search_line *line, double gamma)
{
    const gsa__sample *sample = &line->state->sample;
    size_t n_outputs = line->state->table.n_outputs;
    double sum = 0;
    for (size_t i = 0; i < line->n_rows; i++) {
        for (size_t k = 0; k < n_outputs; k++)
            line->margins[k] = line->start[i * n_outputs + k] + gamma * line->direction[i * n_outputs + k];
        sum += sample->at[i]->seen * gsa__held_row_loss(line->state, sample->at[i], line->margins);
    }
    return sum;
}

/* Golden section on a convex function: 24 steps narrow [0, most] to 1e-5 of its length. */
static double search(const search_line *line, double most)
{
    const double ratio = 0.6180339887498949;
    double low = 0, high = most;
    double a = high - ratio * (high - low), b = low + ratio * (high - low);
    double at_a = loss_at(line, a), at_b = loss_at(line, b);
    for (int i = 0; i < 24; i++) {
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

/* One gamma at a time: of the last weights, or of the averaged. Held-out rows may have features that no learned row
 * has: those have no slot. */
static void take_margins(const gsa__merging *merging, bool averaged, size_t n_rows, double *start, double *along)
{
    const gsa_state *into = merging->into;
    const gsa__table *table = &into->table;
    size_t n_outputs = table->n_outputs, change = averaged ? gsa__table_average(table) : 0;
    bool intercept = into->params.value[GSA__PARAM_intercept];
    for (size_t i = 0; i < n_rows; i++, start += n_outputs, along += n_outputs) {
        gsa__row row = gsa__held_row_view(into->sample.at[i]);
        for (size_t k = 0; k < n_outputs; k++)
            start[k] = along[k] = 0;
        for (size_t j = intercept ? 0 : 1; j <= row.n; j++) { /* 0: the intercept */
            size_t slot = j > 0 ? (size_t)row.index[j - 1] + 1 : 0;
            double x = j > 0 ? (double)row.value[j - 1] : 1;
            const double *last_start, *average_start;
            if (slot >= table->n_slots)
                continue;
            gsa__merging_start(merging, slot, &last_start, &average_start);
            for (size_t k = 0; k < n_outputs; k++) {
                start[k] += (averaged ? average_start : last_start)[k] * x;
                along[k] += (double)gsa__table_slot(table, slot)[change + k].f * x;
            }
        }
    }
}

gsa_status gsa__greedy_gammas(const gsa__merging *merging, double *gamma, double *gamma_average, gsa_error *error)
{
    const gsa_state *into = merging->into;
    size_t n_outputs = into->table.n_outputs, n_rows = into->sample.n < ROWS_MOST ? into->sample.n : ROWS_MOST,
           n_margins;
    *gamma = *gamma_average = 1;
    if (into->sample.n == 0 || (into->loss == GSA__CUSTOM && !into->params.has_custom_loss))
        return GSA_OK;
    double *memory = NULL;
    if (!gsa__multiply(n_rows, 2 * n_outputs, &n_margins) ||
        !(memory = gsa__alloc(&into->env, n_margins + n_outputs, sizeof *memory)))
        return gsa__fail(error, GSA_MEMORY, "no memory for the margins of %zu held-out rows", n_rows);
    double *start = memory, *along = memory + n_margins / 2;
    search_line line = {into, n_rows, start, along, memory + n_margins};
    take_margins(merging, false, n_rows, start, along);
    *gamma = search(&line, (double)merging->n_states);
    take_margins(merging, true, n_rows, start, along);
    *gamma_average = search(&line, (double)merging->n_states);
    gsa__free(&into->env, memory);
    return GSA_OK;
}
