/* Algorithm 1 of arXiv 1611.03608, to the letter: a row is learned as it is given, by the mean of the greedy steps of
 * all rows so far, its own among them. Features are not scaled, weights are not calibrated. The model has the last
 * weights, or one of their averages: of all rows (full), of those since the last power of two (suffix), or of all with
 * more weight on recent ones. */
#include "learn/paper.h"

#include "learn/label_offset.h"
#include "learn/state_slots.h"

#include "base/error.h"
#include "base/memory.h"

#include <math.h>

/* Gathers the entries of a row in the state; *xx is its squared length. */
static gsa_status gather_row(gsa_state *state, const gsai_row *row, double *xx, gsa_error *error)
{
    gsai_entries *entries = &state->entries;
    GSAI_TRY_MEMORY(gsai_entries_reserve(entries, row->n, &state->env), &state->env, error,
                    "no memory for a row of %zu entries", row->n);
    state->kernels->gather(entries, row, state->params.value[GSAI_PARAM_intercept]);
    *xx = row->value ? state->kernels->square_length(entries) : (double)entries->n_all;
    if (!isfinite(*xx))
        return gsai_fail(error, GSA_INPUT, "a value is not a finite number");
    return gsai_state_fit_slots(state, entries->n_slots, error);
}

gsa_status gsai_paper_fit(gsa_state *state, const gsai_row *row, gsa_error *error)
{
    double xx;
    return gather_row(state, row, &xx, error);
}

/* Enters a row into the average, which begins with the first one and, if it is a suffix, anew at every power of two. */
static void advance_average(gsa_state *state)
{
    gsai_averaging *averaging = &state->averaging;
    uint64_t average = gsai_params_average(&state->params);
    averaging->now += averaging->per_row;
    if (average == GSAI_AVERAGE_RECENT) {
        averaging->first = 1;
        averaging->restart = UINT64_MAX;
    }
    if (averaging->now < averaging->restart)
        return;
    averaging->first = averaging->now;
    averaging->restart = average == GSAI_AVERAGE_SUFFIX ? 2 * averaging->now : UINT64_MAX;
    gsai_table_clear_average(&state->table);
}

static gsa_status diverged(const gsa_state *state, double y, gsa_error *error)
{
    const char *remedy = gsai_diverged_remedy(state, y);
    unsigned long long n_rows = state->n_rows;
    if (gsai_loss_has_probabilities(state->loss) || gsai_has_huge_labels(state, y))
        return gsai_fail(error, GSA_DIVERGED, "weights are no longer finite after %llu rows: %s", n_rows, remedy);
    return gsai_fail_param(
        error, "method", GSA_DIVERGED,
        "%s loss diverged after %llu rows: the paper's step is too large where the lengths of rows differ "
        "much; choose method auto, or %s",
        gsai_loss_name(state->loss), n_rows, remedy);
}

/* Counts the row (the update will tell the table), and finds its margins with what follows from them. */
static gsa_status find_greedy_step(gsa_state *state, const gsai_target *target, double c, gsai_greedy_step *out,
                                   gsa_error *error)
{
    size_t n_outputs = state->table.n_outputs;
    double *m = state->margins;
    bool finite = n_outputs == 1 ? isfinite(*m = state->kernels->take_one(&state->table, &state->entries, c))
                                 : state->kernels->take_many(&state->table, &state->entries, c, m);
    if (!finite)
        return diverged(state, target->y, error);
    *out = state->loss->greedy_step(m, n_outputs, target);
    return isfinite(out->loss) && isfinite(out->g) ? GSA_OK : diverged(state, target->y, error);
}

/* Enters the row's own greedy step with its weight, and returns the mean of all so far, over all passes. Steps above
 * the target are negative and enter as they are: that is how the mean comes down near convergence. A light row takes a
 * part of the mean, a heavy row several; a step that leads away from the label is never multiplied by more than the
 * row's weight. */
static double step_of(gsa_state *state, const gsai_target *target, double c, double xx, const gsai_greedy_step *greedy)
{
    state->step.sum += c * (greedy->lambda / xx);
    state->step.weight += c;
    double step = gsai_step_mean_value(&state->step), e = step * xx;
    double repeats = c / gsai_row_weights_ratio(&state->row_weights);
    if (repeats > 1 && e > 0 && greedy->g != 0)
        repeats = state->loss->repeats(state->margins, state->table.n_outputs, target, greedy, e, repeats);
    return step * repeats;
}

gsa_status gsai_paper_learn(gsa_state *state, const gsai_row *row, size_t class_number, double y, double c,
                            double *loss, gsa_error *error)
{
    gsai_greedy_step greedy = {0};
    gsai_table *table = &state->table;
    double xx = 0;
    GSA_TRY(gather_row(state, row, &xx, error));
    gsai_target target = gsai_state_target(state, class_number, y);
    advance_average(state);
    gsai_paper_fetch(state, 1);
    GSA_TRY(find_greedy_step(state, &target, c, &greedy, error));
    *loss = c * greedy.loss;
    if (xx == 0)
        return GSA_OK;
    if (state->loss->depends_on_residual &&
        !state->loss->has_quantile) { /* diverged once its error exceeds 1000 times that of predicting 0 */
        state->squared_error += c * greedy.g * greedy.g;
        state->squared_label += c * target.y * target.y;
        if (state->n_rows >= 100 && state->squared_error > 1000 * state->squared_label)
            return diverged(state, target.y, error);
    }
    if (state->loss->has_width)
        gsai_residuals_add(&state->residuals, greedy.m - target.y, c);
    gsai_paper_fetch(state, 2);
    for (size_t e = 0; e < state->entries.n; e++)
        gsai_table_use(table, state->entries.slot[e]);
    gsai_table_settle(table, &state->env);
    double step = step_of(state, &target, c, xx, &greedy), past_weight = gsai_state_past_weight(state, 1);
    gsai_paper_fetch(state, 3);
    if (table->n_outputs == 1) {
        state->kernels->update_one(table, &state->entries, -step * greedy.g, past_weight);
        return GSA_OK;
    }
    for (size_t k = 0; k < gsai_table_padded(table->n_outputs); k++)
        state->scales[k] = k < table->n_outputs ? (float)state->margins[k] : 0;
    state->kernels->update_many(table, &state->entries, -step, state->scales, past_weight);
    return GSA_OK;
}
