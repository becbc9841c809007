/* The paper's principle applied to a merge: take the step that fits best, found by a one-dimensional search.
 *
 * Averaged copies are under-confident, because P copies each took 1/P of the steps. With w0 the weights before and D
 * the merged change, the margins of a row are linear in gamma, m0 + gamma m1, so that the loss of a few thousand rows
 * is convex in one number. The rows must be held out: on rows that were learned the search runs away. With an
 * aggregation factor (apply.h) the direction is another for every alpha, of which some are tried. */
#include "merge/line_search.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/workers.h"

#include <string.h>

/* Held-out rows that are asked, those of the lowest hashes: one number needs no more. */
#define MAX_ROWS 4096u
/* Alphas that are tried, each a quarter of the one before; the first is where a feature that came once has gone most of
 * its way. So many worse ones in a row are enough. */
#define ALPHAS 14
#define MAX_WORSE 3
/* Steps of a search: for the final step, and to tell one alpha from another. */
#define STEPS 24
#define STEPS_AMONG 10
#define MAX_GAMMA 4.0

typedef struct search_line {
    const gsa_state *state;
    size_t n_rows;
    const double *start, *direction; /* [sample x outputs] margins */
    double *margins;                 /* scratch, one row */
} search_line;

static double loss_at(const search_line *line, double gamma)
{
    const gsai_sample *sample = gsai_state_sample(line->state);
    const gsai_loss *loss = gsai_state_loss(line->state);
    size_t n_outputs = gsai_state_n_outputs(line->state);
    double sum = 0;
    for (size_t i = 0; i < line->n_rows; i++) {
        for (size_t k = 0; k < n_outputs; k++)
            line->margins[k] = line->start[i * n_outputs + k] + gamma * line->direction[i * n_outputs + k];
        gsai_target target = gsai_held_target(line->state, sample->at[i]);
        sum += sample->at[i]->seen * loss->value(line->margins, n_outputs, &target);
    }
    return sum;
}

/* Golden section on a convex function: 24 steps narrow [0, most] to 1e-5 of its length. */
static double search(const search_line *line, double max, int n_steps)
{
    const double ratio = 0.6180339887498949;
    double low = 0, high = max;
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

/* ---- the slots of the held-out rows ------------------------------------------------------------------------------ */

/* Ascending, the intercept first, and one more that is zero, for features that no learned row has. By slot and output:
 * last weights and what averages lack of them in the base, and the changes of both. */
typedef struct held_slots {
    size_t n;
    uint32_t *slot, *place; /* place: by entry of the rows, which of the slots it is */
    float *last, *behind, *change, *average;
    float *all, *one; /* rows seen, by slot */
} held_slots;

/* Marks the slots in a set of bits, by which they are counted, listed and found again. */
static gsa_status list_slots(const gsa_state *into, size_t n_rows, held_slots *of, gsa_error *error)
{
    const gsai_sample *sample = gsai_state_sample(into);
    size_t n_slots = gsai_state_table(into)->n_slots, n_words = n_slots / 64 + 1, n_entries = 0, at = 0;
    uint64_t *bits = gsai_alloc_zeroed(gsai_state_env(into), n_words, sizeof *bits);
    uint32_t *before =
        gsai_alloc(gsai_state_env(into), n_words, sizeof *before); /* slots in the words before this one */
    for (size_t i = 0; i < n_rows && bits; i++) {
        gsai_row row = gsai_held_row_view(sample->at[i]);
        n_entries += row.n;
        for (size_t j = 0; j < row.n; j++)
            if (row.index[j] + (size_t)1 < n_slots)
                bits[(row.index[j] + (size_t)1) / 64] |= UINT64_C(1) << (row.index[j] + (size_t)1) % 64;
    }
    for (size_t w = 0; w < n_words && bits && before; w++) {
        bits[w] |= w == 0; /* the intercept */
        before[w] = (uint32_t)of->n;
        of->n += (size_t)__builtin_popcountll(bits[w]);
    }
    of->slot = gsai_alloc(gsai_state_env(into), of->n + 1, sizeof *of->slot);
    of->place = gsai_alloc(gsai_state_env(into), n_entries, sizeof *of->place);
    of->last = gsai_alloc_zeroed(gsai_state_env(into), of->n + 1, (4 * gsai_state_n_outputs(into) + 2) * sizeof(float));
    bool done = bits && before && of->slot && of->place && of->last;
    for (size_t w = 0, n = 0; w < n_words && done; w++)
        for (uint64_t rest = bits[w]; rest != 0; rest &= rest - 1)
            of->slot[n++] = (uint32_t)(64 * w) + (uint32_t)__builtin_ctzll(rest);
    for (size_t i = 0; i < n_rows && done; i++) {
        gsai_row row = gsai_held_row_view(sample->at[i]);
        for (size_t j = 0; j < row.n; j++) {
            size_t slot = (size_t)row.index[j] + 1;
            uint64_t below = slot < n_slots ? bits[slot / 64] & ((UINT64_C(1) << slot % 64) - 1) : 0;
            of->place[at++] =
                slot < n_slots ? before[slot / 64] + (uint32_t)__builtin_popcountll(below) : (uint32_t)of->n;
        }
    }
    gsai_free(gsai_state_env(into), bits);
    gsai_free(gsai_state_env(into), before);
    return done ? GSA_OK
                : gsai_fail_memory(gsai_state_env(into), error, "no memory for the slots of %zu held-out rows", n_rows);
}

/* Takes the slots, range by range. */
static gsa_status take_slots(const gsai_merging *merging, gsai_adder *adder, held_slots *of, gsa_error *error)
{
    size_t stride = adder->start.block, n_outputs = adder->n_outputs, size = (of->n + 1) * n_outputs, first = 0;
    of->behind = of->last + size;
    of->change = of->behind + size;
    of->average = of->change + size;
    of->all = of->average + size;
    of->one = of->all + of->n + 1;
    for (size_t r = 0; r < merging->n_ranges; r++) {
        gsai_adder_enter(adder, &merging->ranges[r]);
        for (size_t n; first < of->n && of->slot[first] < merging->ranges[r].end; first += n) {
            gsai_sums *sums;
            for (n = 1; n < stride && first + n < of->n && of->slot[first + n] < merging->ranges[r].end;)
                n++;
            GSA_TRY(gsai_adder_changes(adder, merging, &(gsai_slots){.n = n, .at = of->slot + first}, &sums, error));
            for (size_t i = 0; i < n; i++) {
                for (size_t k = 0, to = (first + i) * n_outputs; k < n_outputs; k++, to++) {
                    of->last[to] = adder->start.last[k * stride + i];
                    of->behind[to] = adder->start.behind[k * stride + i];
                    of->change[to] = sums->sum[k * stride + i];
                    of->average[to] = sums->sum[(n_outputs + k) * stride + i];
                }
                of->all[first + i] = adder->steps.all[i];
                of->one[first + i] = adder->steps.one[i];
            }
        }
    }
    return GSA_OK;
}

/* ---- the search -------------------------------------------------------------------------------------------------- */

/* The search for the step of the last weights, or of the averaged. */
typedef struct line_steps {
    const gsai_merging *merging;
    const held_slots *slots;
    const float *change;
    double kept; /* of what averages lack in the base */
    search_line line;
    double *start, *direction;
    float *aggregation; /* by slot */
} line_steps;

/* Margins where a line starts, or in its direction. */
static void take_margins(const line_steps *of, bool is_start, double *margins)
{
    const gsa_state *into = of->merging->into;
    const gsai_sample *sample = gsai_state_sample(into);
    const held_slots *slots = of->slots;
    const uint32_t *place = slots->place;
    size_t n_outputs = gsai_state_n_outputs(into);
    bool has_intercept = gsai_state_param(into, GSAI_PARAM_intercept);
    memset(margins, 0, of->line.n_rows * n_outputs * sizeof *margins);
    for (size_t i = 0; i < of->line.n_rows; i++, margins += n_outputs) {
        gsai_row row = gsai_held_row_view(sample->at[i]);
        for (size_t j = has_intercept ? 0 : 1; j <= row.n; j++) { /* 0: the intercept */
            size_t at = j > 0 ? place[j - 1] : 0;
            double x = j > 0 ? (double)row.value[j - 1] : 1, step = (double)of->aggregation[at] * x;
            for (size_t k = 0, from = at * n_outputs; k < n_outputs; k++, from++)
                margins[k] += is_start ? ((double)slots->last[from] - of->kept * (double)slots->behind[from]) * x
                                       : step * (double)of->change[from];
        }
        place += row.n;
    }
}

/* Presence of a feature that came once, by the held-out rows. */
static double seen_once(const gsai_merging *merging, size_t n_rows)
{
    double sum_sq = 0, count = 0;
    for (size_t i = 0; i < n_rows && !gsai_state_own_is_standardised(merging->base); i++) {
        const gsai_held_row *held = gsai_state_sample(merging->into)->at[i];
        gsai_row row = gsai_held_row_view(held);
        for (size_t j = 0; j < row.n; j++)
            sum_sq += (double)held->weight * (double)row.value[j] * (double)row.value[j];
        count += (double)row.n;
    }
    return sum_sq > 0 ? sum_sq / count : 1;
}

static double loss_with(const line_steps *of, int n_steps, gsai_line_step *line_step)
{
    double max = (double)of->merging->n_states;
    for (size_t i = 0; i < of->slots->n + 1; i++)
        of->aggregation[i] = 1;
    if (line_step->alpha > 0)
        gsai_kernels_best()->aggregations(of->slots->all, of->slots->one, of->slots->n, (float)line_step->alpha,
                                          of->aggregation);
    take_margins(of, false, of->direction);
    if (line_step->alpha > 0 && max > MAX_GAMMA) /* what copies lack, the aggregation factor has made up for */
        max = MAX_GAMMA;
    line_step->gamma = search(&of->line, max, n_steps);
    return loss_at(&of->line, line_step->gamma);
}

static gsai_line_step best_line_step(const line_steps *of)
{
    bool aggregates_copies = of->merging->continues && of->merging->n_states > 1;
    gsai_line_step best = {1, 0};
    take_margins(of, true, of->start);
    double best_loss = loss_with(of, STEPS, &best);
    double alpha = aggregates_copies ? 1 / seen_once(of->merging, of->line.n_rows) : 0;
    int n_worse = 0;
    for (int i = 0; i < ALPHAS && aggregates_copies && n_worse < MAX_WORSE; i++, alpha /= 4) {
        gsai_line_step line_step = {1, alpha};
        double loss = loss_with(of, STEPS_AMONG, &line_step);
        n_worse = loss < best_loss ? 0 : n_worse + 1;
        if (loss < best_loss) {
            best = line_step;
            best_loss = loss;
        }
    }
    if (aggregates_copies)
        (void)loss_with(of, STEPS, &best);
    return best;
}

typedef struct both_line_steps {
    gsai_merging *merging;
    const held_slots *slots;
    size_t n_rows;
    double kept; /* of what averages lack in the base */
} both_line_steps;

/* Task: the last weights, or the averaged. */
static gsa_status find_line_step(void *ctx, size_t task, gsa_error *error)
{
    const both_line_steps *both = ctx;
    gsai_merging *merging = both->merging;
    const gsa_state *into = merging->into;
    size_t n_outputs = gsai_state_n_outputs(into), n_margins, n_numbers;
    bool fits = gsai_multiply(both->n_rows, n_outputs, &n_margins) && gsai_multiply(n_margins, 2, &n_numbers) &&
                gsai_add(n_numbers, n_outputs + both->slots->n / 2 + 1, &n_numbers);
    double *memory = fits ? gsai_alloc(gsai_state_env(into), n_numbers, sizeof *memory) : NULL;
    GSAI_TRY_MEMORY(memory, gsai_state_env(into), error, "no memory for the margins of %zu held-out rows",
                    both->n_rows);
    double *start = memory, *direction = start + n_margins, *row = direction + n_margins;
    line_steps of = {.merging = merging, .slots = both->slots, .start = start, .direction = direction};
    of.change = task > 0 ? both->slots->average : both->slots->change;
    of.kept = task > 0 ? both->kept : 0;
    of.line = (search_line){into, both->n_rows, start, direction, row};
    of.aggregation = (float *)(row + n_outputs);
    merging->line_step[task] = best_line_step(&of);
    gsai_free(gsai_state_env(into), memory);
    return GSA_OK;
}

gsa_status gsai_merging_line_steps(gsai_merging *merging, gsa_error *error)
{
    const gsa_state *into = merging->into;
    held_slots slots = {0};
    size_t n = gsai_sample_count(gsai_state_sample(into));
    both_line_steps both = {merging, &slots, n < MAX_ROWS ? n : MAX_ROWS, 0};
    gsai_adder adder;
    merging->line_step[0] = merging->line_step[1] = (gsai_line_step){1, 0};
    if (n == 0 || gsai_state_lacks_loss(into))
        return GSA_OK;
    GSA_TRY(gsai_merging_adder(merging, &adder, error));
    both.kept = adder.steps.kept;
    gsa_status status = list_slots(into, both.n_rows, &slots, error);
    if (status == GSA_OK)
        status = take_slots(merging, &adder, &slots, error);
    gsai_adder_end(&adder);
    if (status == GSA_OK)
        status = gsai_workers_run(gsai_workers_count(merging->env), 2, find_line_step, &both, merging->env, error);
    gsai_free(gsai_state_env(into), slots.slot);
    gsai_free(gsai_state_env(into), slots.place);
    gsai_free(gsai_state_env(into), slots.last);
    return status;
}
