/* The paper's principle applied to a merge: take the step that fits best, found by a one-dimensional search.
 *
 * Averaged copies are under-confident, because P copies each took 1/P of the steps. With w0 the weights before and D
 * the merged change, the margins of a row are linear in gamma, m0 + gamma m1, so that the loss of a few thousand rows
 * is convex in one number. The rows must be held out: on rows that were learned the search runs away. With a gain
 * (merge_slots.h) the direction is another for every alpha, of which some are tried. */
#include "core/greedy_merge.h"

#include "base/error.h"
#include "base/memory.h"

/* Held-out rows that are asked, those of the lowest hashes: one number needs no more. */
#define ROWS_MOST 4096u
/* Alphas that are tried, each a quarter of the one before; the first is where a feature that came once has gone most of
 * its way. So many worse ones in a row are enough. */
#define ALPHAS 14
#define WORSE_MOST 3
/* Steps of a search: for a stride, and to tell one alpha from another. */
#define STEPS 24
#define STEPS_AMONG 10
#define GAMMA_MOST 4.0

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
static double search(const search_line *line, double most, int n_steps)
{
    const double ratio = 0.6180339887498949;
    double low = 0, high = most;
    double a = high - ratio * (high - low), b = low + ratio * (high - low);
    double at_a = loss_at(line, a), at_b = loss_at(line, b);
    for (int i = 0; i < n_steps; i++) {
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

static void add_start(const gsa__merging *merging, size_t slot, bool averaged, double x, double *start)
{
    const double *last_start, *average_start;
    gsa__merging_start(merging, slot, &last_start, &average_start);
    for (size_t k = 0; k < merging->into->table.n_outputs; k++)
        start[k] += (averaged ? average_start : last_start)[k] * x;
}

/* One gamma at a time: of the last weights, or of the averaged. Held-out rows may have features that no learned row
 * has: those have no slot. Where a line starts is the same for every alpha (start NULL: known already). */
static void take_margins(const gsa__merging *merging, bool averaged, double alpha, size_t n_rows, double *start,
                         double *along)
{
    const gsa_state *into = merging->into;
    const gsa__table *table = &into->table;
    size_t n_outputs = table->n_outputs, change = averaged ? gsa__table_average(table) : 0;
    bool intercept = into->params.value[GSA__PARAM_intercept];
    for (size_t i = 0; i < n_rows; i++, along += n_outputs) {
        double *from = start ? start + i * n_outputs : NULL;
        gsa__row row = gsa__held_row_view(into->sample.at[i]);
        for (size_t k = 0; k < n_outputs; k++)
            along[k] = 0;
        for (size_t k = 0; k < n_outputs && from; k++)
            from[k] = 0;
        for (size_t j = intercept ? 0 : 1; j <= row.n; j++) { /* 0: the intercept */
            size_t slot = j > 0 ? (size_t)row.index[j - 1] + 1 : 0;
            double x = j > 0 ? (double)row.value[j - 1] : 1;
            if (slot >= table->n_slots)
                continue;
            double gain = gsa__merging_gain(merging, slot, alpha);
            for (size_t k = 0; k < n_outputs; k++)
                along[k] += gain * (double)gsa__table_slot(table, slot)[change + k].f * x;
            if (from)
                add_start(merging, slot, averaged, x, from);
        }
    }
}

/* Presence of a feature that came once. */
static double presence_of_one(const gsa__merging *merging)
{
    const gsa_state *into = merging->into;
    double mass = 0, count = 0;
    for (size_t slot = 1; slot < into->table.n_slots && !merging->base->units_free; slot++) {
        mass += gsa__state_mass(into, slot);
        count += (double)gsa__state_count(into, slot);
    }
    return mass > 0 ? mass / count : 1;
}

typedef struct strides {
    const gsa__merging *merging;
    search_line line;
    double *start, *along;
    double one; /* presence of a feature that came once */
} strides;

static double loss_with(const strides *of, bool averaged, int n_steps, gsa__stride *stride)
{
    take_margins(of->merging, averaged, stride->alpha, of->line.n_rows, stride->alpha > 0 ? NULL : of->start,
                 of->along);
    double most = (double)of->merging->n_states;
    if (stride->alpha > 0 && most > GAMMA_MOST) /* what copies lack, the gain has made up for */
        most = GAMMA_MOST;
    stride->gamma = search(&of->line, most, n_steps);
    return loss_at(&of->line, stride->gamma);
}

static gsa__stride best_stride(const strides *of, bool averaged)
{
    gsa__stride best = {1, 0}; /* the first, which finds where all of them start */
    double best_loss = loss_with(of, averaged, STEPS, &best), alpha = 1 / of->one;
    int n_worse = 0;
    for (int i = 0; i < ALPHAS && of->merging->met && n_worse < WORSE_MOST; i++, alpha /= 4) {
        gsa__stride stride = {1, alpha};
        double loss = loss_with(of, averaged, STEPS_AMONG, &stride);
        n_worse = loss < best_loss ? 0 : n_worse + 1;
        if (loss < best_loss) {
            best = stride;
            best_loss = loss;
        }
    }
    if (of->merging->met)
        (void)loss_with(of, averaged, STEPS, &best);
    return best;
}

gsa_status gsa__greedy_strides(const gsa__merging *merging, gsa__stride *along, gsa__stride *along_average,
                               gsa_error *error)
{
    const gsa_state *into = merging->into;
    size_t n_outputs = into->table.n_outputs, n_rows = into->sample.n < ROWS_MOST ? into->sample.n : ROWS_MOST,
           n_margins;
    *along = *along_average = (gsa__stride){1, 0};
    if (into->sample.n == 0 || (into->loss == GSA__CUSTOM && !into->params.has_custom_loss))
        return GSA_OK;
    double *memory = NULL;
    if (!gsa__multiply(n_rows, 2 * n_outputs, &n_margins) ||
        !(memory = gsa__alloc(&into->env, n_margins + n_outputs, sizeof *memory)))
        return gsa__fail(error, GSA_MEMORY, "no memory for the margins of %zu held-out rows", n_rows);
    double *start = memory, *direction = memory + n_margins / 2;
    strides of = {merging, {into, n_rows, start, direction, memory + n_margins}, start, direction, 1};
    of.one = merging->met ? presence_of_one(merging) : 1;
    *along = best_stride(&of, false);
    *along_average = best_stride(&of, true);
    gsa__free(&into->env, memory);
    return GSA_OK;
}
