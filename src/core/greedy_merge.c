/* The paper's principle applied to a merge: take the step that fits best, found by a one-dimensional search.
 *
 * Averaged copies are under-confident, because P copies each took 1/P of the steps. With w0 the weights before and D
 * the merged change, the margins of a row are linear in gamma, m0 + gamma m1, so that the loss of a few thousand rows
 * is convex in one number. The rows must be held out: on rows that were learned the search runs away. With a gain
 * (merge_slots.h) the direction is another for every alpha, of which some are tried. */
#include "core/merge_slots.h"

#include "base/error.h"
#include "base/memory.h"

#include <string.h>

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
        gsa__target target = gsa__held_target(line->state, sample->at[i]);
        sum += sample->at[i]->seen * line->state->loss->value(line->margins, n_outputs, &target);
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

typedef struct strides {
    gsa__merging *merging;
    search_line line;
    double *start, *along;
    gsa__presence met; /* of the features of a row, the intercept first; and their gains */
    float *gain;
} strides;

static void add_start(gsa__merging *merging, size_t slot, bool averaged, double x, double *start)
{
    const gsa__view *from = &merging->start;
    gsa__merging_start(merging, slot, 1);
    double kept = averaged ? 1 - merging->fresh : 0;
    for (size_t k = 0; k < merging->n_outputs; k++)
        start[k] += ((double)from->last[k * from->block] - kept * (double)from->lag[k * from->block]) * x;
}

/* Held-out rows may have features that no learned row has: those have no slot. */
static size_t slot_of(const gsa__row *row, size_t entry)
{
    return entry > 0 ? (size_t)row->index[entry - 1] + 1 : 0;
}

static void find_gains(const strides *of, const gsa__row *row, double alpha)
{
    const gsa__merging *merging = of->merging;
    for (size_t j = 0; j <= row->n; j++) {
        size_t slot = slot_of(row, j);
        of->gain[j] = 1;
        if (merging->met.all && slot < merging->into->table.n_slots) {
            of->met.all[j] = merging->met.all[slot];
            of->met.one[j] = merging->met.one[slot];
        }
    }
    if (merging->met.all && alpha > 0)
        gsa__gains(of->met.all, of->met.one, row->n + 1, alpha, of->gain);
}

/* One gamma at a time: of the last weights, or of the averaged. Where a line starts is the same for every alpha
 * (with_start: to be found). */
static void take_margins(const strides *of, bool averaged, double alpha, bool with_start)
{
    const gsa_state *into = of->merging->into;
    const gsa__table *table = &into->table;
    size_t n_outputs = table->n_outputs, change = averaged ? gsa__table_average(table) : 0;
    double *along = of->along, *start = of->start;
    memset(along, 0, of->line.n_rows * n_outputs * sizeof *along);
    if (with_start)
        memset(start, 0, of->line.n_rows * n_outputs * sizeof *start);
    for (size_t i = 0; i < of->line.n_rows; i++, along += n_outputs, start += n_outputs) {
        gsa__row row = gsa__held_row_view(into->sample.at[i]);
        find_gains(of, &row, alpha);
        for (size_t j = into->params.value[GSA__PARAM_intercept] ? 0 : 1; j <= row.n; j++) { /* 0: the intercept */
            size_t slot = slot_of(&row, j);
            double x = j > 0 ? (double)row.value[j - 1] : 1, step = (double)of->gain[j] * x;
            if (slot >= table->n_slots)
                continue;
            for (size_t k = 0; k < n_outputs; k++)
                along[k] += step * (double)gsa__table_slot(table, slot)[change + k].f;
            if (with_start)
                add_start(of->merging, slot, averaged, x, start);
        }
    }
}

/* Presence of a feature that came once, by the held-out rows. */
static double presence_of_one(const strides *of)
{
    const gsa_state *into = of->merging->into;
    double mass = 0, count = 0;
    for (size_t i = 0; i < of->line.n_rows && !of->merging->base->units_free; i++) {
        const gsa__held_row *held = into->sample.at[i];
        gsa__row row = gsa__held_row_view(held);
        for (size_t j = 0; j < row.n; j++)
            mass += (double)held->weight * (double)row.value[j] * (double)row.value[j];
        count += (double)row.n;
    }
    return mass > 0 ? mass / count : 1;
}

static double loss_with(const strides *of, bool averaged, int n_steps, gsa__stride *stride)
{
    take_margins(of, averaged, stride->alpha, !(stride->alpha > 0));
    double most = (double)of->merging->n_states;
    if (stride->alpha > 0 && most > GAMMA_MOST) /* what copies lack, the gain has made up for */
        most = GAMMA_MOST;
    stride->gamma = search(&of->line, most, n_steps);
    return loss_at(&of->line, stride->gamma);
}

static gsa__stride best_stride(const strides *of, bool averaged, double one)
{
    gsa__stride best = {1, 0}; /* the first, which finds where all of them start */
    double best_loss = loss_with(of, averaged, STEPS, &best), alpha = 1 / one;
    int n_worse = 0;
    for (int i = 0; i < ALPHAS && of->merging->met.all && n_worse < WORSE_MOST; i++, alpha /= 4) {
        gsa__stride stride = {1, alpha};
        double loss = loss_with(of, averaged, STEPS_AMONG, &stride);
        n_worse = loss < best_loss ? 0 : n_worse + 1;
        if (loss < best_loss) {
            best = stride;
            best_loss = loss;
        }
    }
    if (of->merging->met.all)
        (void)loss_with(of, averaged, STEPS, &best);
    return best;
}

/* Margins of the rows, of one row, and what find_gains needs for the longest. */
static double *make_room(const gsa_state *into, size_t n_rows, size_t *n_margins, size_t *n_entries)
{
    size_t n_numbers, n_extra;
    *n_entries = 1;
    for (size_t i = 0; i < n_rows; i++)
        if (into->sample.at[i]->n >= *n_entries)
            *n_entries = (size_t)into->sample.at[i]->n + 1;
    bool fits = gsa__multiply(n_rows, 2 * into->table.n_outputs, n_margins) &&
                gsa__add(into->table.n_outputs, 2 * *n_entries, &n_extra) && gsa__add(*n_margins, n_extra, &n_numbers);
    return fits ? gsa__alloc_zeroed(&into->env, n_numbers, sizeof(double)) : NULL;
}

gsa_status gsa__merging_strides(gsa__merging *merging, gsa__stride *along, gsa__stride *along_average, gsa_error *error)
{
    const gsa_state *into = merging->into;
    size_t n_rows = into->sample.n < ROWS_MOST ? into->sample.n : ROWS_MOST, n_margins, n_entries;
    *along = *along_average = (gsa__stride){1, 0};
    if (into->sample.n == 0 || gsa__state_lacks_loss(into))
        return GSA_OK;
    double *memory = make_room(into, n_rows, &n_margins, &n_entries);
    if (!memory)
        return gsa__fail_memory(&into->env, error, "no memory for the margins of %zu held-out rows", n_rows);
    double *start = memory, *direction = memory + n_margins / 2, *row = memory + n_margins;
    float *met = (float *)(row + into->table.n_outputs);
    strides of = {
        .merging = merging, .line = {into, n_rows, start, direction, row}, .start = start, .along = direction};
    of.met = (gsa__presence){met, met + n_entries};
    of.gain = met + 2 * n_entries;
    double one = merging->met.all ? presence_of_one(&of) : 1;
    *along = best_stride(&of, false, one);
    *along_average = best_stride(&of, true, one);
    gsa__free(&into->env, memory);
    return GSA_OK;
}
