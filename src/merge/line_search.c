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

/* The slots of the held-out rows, ascending, the intercept first, and one more that is zero, for features that no
 * learned row has. By slot and output: last weights and what averages lack of them in the base, and the changes of
 * both. */
typedef struct held_slots {
    gsai_merging *merging;
    size_t n_rows, n;
    uint32_t *slot, *place; /* place: by entry of the rows, which of the slots it is */
    float *last, *behind, *change[2];
    float *all, *one; /* rows seen, by slot */
    double kept;      /* of what averages lack in the base */
    gsai_arena arena;
} held_slots;

/* The search for the step of the last weights, or of the averaged. */
typedef struct line_search {
    const held_slots *slots;
    const float *change;
    double kept;
    double *start, *direction; /* [rows x outputs] margins */
    double *margins;           /* scratch, one row */
    float *aggregation;        /* by slot */
} line_search;

static double loss_at(const line_search *line, double gamma)
{
    const gsa_state *state = line->slots->merging->into;
    const gsai_sample *sample = gsai_state_sample(state);
    const gsai_loss *loss = gsai_state_loss(state);
    size_t n_outputs = gsai_state_n_outputs(state);
    double sum = 0;
    for (size_t i = 0; i < line->slots->n_rows; i++) {
        for (size_t k = 0; k < n_outputs; k++)
            line->margins[k] = line->start[i * n_outputs + k] + gamma * line->direction[i * n_outputs + k];
        gsai_target target = gsai_held_target(state, sample->at[i]);
        sum += sample->at[i]->seen * loss->value(line->margins, n_outputs, &target);
    }
    return sum;
}

/* Golden section on a convex function: 24 steps narrow [0, most] to 1e-5 of its length. */
static double search(const line_search *line, double max, int n_steps)
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

/* Marks the slots in a set of bits, by which they are counted, listed and found again. */
static gsa_status list_slots(held_slots *of, gsa_error *error)
{
    const gsa_state *into = of->merging->into;
    const gsai_sample *sample = gsai_state_sample(into);
    size_t n_slots = gsai_state_table(into)->n_slots, n_words = n_slots / 64 + 1, n_entries = 0, at = 0, n = 0;
    size_t n_outputs = gsai_state_n_outputs(into);
    uint64_t *bits = gsai_arena_take(&of->arena, n_words, sizeof *bits);
    uint32_t *before = gsai_arena_take(&of->arena, n_words, sizeof *before); /* slots in the words before this one */
    GSA_TRY(gsai_arena_check(&of->arena, "the slots of held-out rows", error));
    for (size_t i = 0; i < of->n_rows; i++) {
        gsai_row row = gsai_held_row_view(sample->at[i]);
        n_entries += row.n;
        for (size_t j = 0; j < row.n; j++)
            if (row.index[j] + (size_t)1 < n_slots)
                bits[(row.index[j] + (size_t)1) / 64] |= UINT64_C(1) << (row.index[j] + (size_t)1) % 64;
    }
    bits[0] |= 1; /* the intercept */
    for (size_t w = 0; w < n_words; w++) {
        before[w] = (uint32_t)of->n;
        of->n += (size_t)__builtin_popcountll(bits[w]);
    }
    of->slot = gsai_arena_take(&of->arena, of->n + 1, sizeof *of->slot);
    of->place = gsai_arena_take(&of->arena, n_entries, sizeof *of->place);
    of->last = gsai_arena_take(&of->arena, of->n + 1, (4 * n_outputs + 2) * sizeof(float));
    GSA_TRY(gsai_arena_check(&of->arena, "the slots of held-out rows", error));
    for (size_t w = 0; w < n_words; w++)
        for (uint64_t rest = bits[w]; rest != 0; rest &= rest - 1)
            of->slot[n++] = (uint32_t)(64 * w) + (uint32_t)__builtin_ctzll(rest);
    for (size_t i = 0; i < of->n_rows; i++) {
        gsai_row row = gsai_held_row_view(sample->at[i]);
        for (size_t j = 0; j < row.n; j++) {
            size_t slot = (size_t)row.index[j] + 1;
            uint64_t below = slot < n_slots ? bits[slot / 64] & ((UINT64_C(1) << slot % 64) - 1) : 0;
            of->place[at++] =
                slot < n_slots ? before[slot / 64] + (uint32_t)__builtin_popcountll(below) : (uint32_t)of->n;
        }
    }
    return GSA_OK;
}

/* Takes the slots, range by range. */
static gsa_status take_slots(held_slots *of, gsai_adder *adder, gsa_error *error)
{
    const gsai_merging *merging = of->merging;
    size_t stride = adder->start.block, n_outputs = adder->n_outputs, size = (of->n + 1) * n_outputs, first = 0;
    of->behind = of->last + size;
    of->change[0] = of->behind + size;
    of->change[1] = of->change[0] + size;
    of->all = of->change[1] + size;
    of->one = of->all + of->n + 1;
    of->kept = adder->steps.kept;
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
                    of->change[0][to] = sums->sum[k * stride + i];
                    of->change[1][to] = sums->sum[(n_outputs + k) * stride + i];
                }
                of->all[first + i] = adder->steps.all[i];
                of->one[first + i] = adder->steps.one[i];
            }
        }
    }
    return GSA_OK;
}

/* ---- the search -------------------------------------------------------------------------------------------------- */

/* Margins where a line starts, or in its direction. */
static void take_margins(const line_search *of, bool is_start, double *margins)
{
    const gsa_state *into = of->slots->merging->into;
    const gsai_sample *sample = gsai_state_sample(into);
    const held_slots *slots = of->slots;
    const uint32_t *place = slots->place;
    size_t n_outputs = gsai_state_n_outputs(into);
    bool has_intercept = gsai_state_param(into, GSAI_PARAM_intercept);
    memset(margins, 0, of->slots->n_rows * n_outputs * sizeof *margins);
    for (size_t i = 0; i < of->slots->n_rows; i++, margins += n_outputs) {
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
    for (size_t i = 0; i < n_rows && !gsai_state_is_standardised(merging->base); i++) {
        const gsai_held_row *held = gsai_state_sample(merging->into)->at[i];
        gsai_row row = gsai_held_row_view(held);
        for (size_t j = 0; j < row.n; j++)
            sum_sq += (double)held->weight * (double)row.value[j] * (double)row.value[j];
        count += (double)row.n;
    }
    return sum_sq > 0 ? sum_sq / count : 1;
}

static double loss_with(const line_search *of, int n_steps, gsai_line_step *line_step)
{
    double max = (double)of->slots->merging->n_states;
    for (size_t i = 0; i < of->slots->n + 1; i++)
        of->aggregation[i] = 1;
    if (line_step->alpha > 0)
        gsai_kernels_best()->aggregations(of->slots->all, of->slots->one, of->slots->n, (float)line_step->alpha,
                                          of->aggregation);
    take_margins(of, false, of->direction);
    if (line_step->alpha > 0 && max > MAX_GAMMA) /* what copies lack, the aggregation factor has made up for */
        max = MAX_GAMMA;
    line_step->gamma = search(of, max, n_steps);
    return loss_at(of, line_step->gamma);
}

/* Task: the last weights, or the averaged. */
static gsa_status find_line_step(void *ctx, size_t task, gsa_error *error)
{
    const held_slots *slots = ctx;
    gsai_merging *merging = slots->merging;
    gsai_arena arena = {.env = gsai_state_env(merging->into)};
    size_t n_outputs = gsai_state_n_outputs(merging->into);
    line_search of = {.slots = slots, .change = slots->change[task], .kept = task > 0 ? slots->kept : 0};
    of.start = gsai_arena_take(&arena, slots->n_rows, n_outputs * sizeof(double));
    of.direction = gsai_arena_take(&arena, slots->n_rows, n_outputs * sizeof(double));
    of.margins = gsai_arena_take(&arena, n_outputs, sizeof(double));
    of.aggregation = gsai_arena_take(&arena, slots->n + 1, sizeof(float));
    gsa_status status = gsai_arena_check(&arena, "the margins of held-out rows", error);
    if (status == GSA_OK) {
        bool aggregates_copies = merging->continues && merging->n_states > 1;
        gsai_line_step best = {1, 0};
        take_margins(&of, true, of.start);
        double best_loss = loss_with(&of, STEPS, &best);
        double alpha = aggregates_copies ? 1 / seen_once(merging, slots->n_rows) : 0;
        int n_worse = 0;
        for (int i = 0; i < ALPHAS && aggregates_copies && n_worse < MAX_WORSE; i++, alpha /= 4) {
            gsai_line_step line_step = {1, alpha};
            double loss = loss_with(&of, STEPS_AMONG, &line_step);
            n_worse = loss < best_loss ? 0 : n_worse + 1;
            if (loss < best_loss) {
                best = line_step;
                best_loss = loss;
            }
        }
        if (aggregates_copies)
            (void)loss_with(&of, STEPS, &best);
        merging->line_step[task] = best;
    }
    gsai_arena_release(&arena);
    return status;
}

gsa_status gsai_merging_line_steps(gsai_merging *merging, gsa_error *error)
{
    const gsa_state *into = merging->into;
    size_t n = gsai_sample_count(gsai_state_sample(into));
    held_slots slots = {.merging = merging, .n_rows = n < MAX_ROWS ? n : MAX_ROWS, .arena.env = gsai_state_env(into)};
    gsai_adder adder;
    merging->line_step[0] = merging->line_step[1] = (gsai_line_step){1, 0};
    if (n == 0 || gsai_state_lacks_loss(into))
        return GSA_OK;
    gsa_status status = gsai_merging_adder(merging, &adder, error);
    if (status == GSA_OK)
        status = list_slots(&slots, error);
    if (status == GSA_OK)
        status = take_slots(&slots, &adder, error);
    gsai_adder_end(&adder);
    if (status == GSA_OK)
        status = gsai_workers_run(gsai_workers_count(merging->env), 2, find_line_step, &slots, merging->env, error);
    gsai_arena_release(&slots.arena);
    return status;
}
