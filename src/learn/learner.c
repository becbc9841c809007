/* Learning a row, or a group of them (group.c).
 *
 * What is the same for every loss and method is here: the mean of the greedy steps, the average of the weights, the
 * row's weight, the guards, and the two ways to learn while the scaling is chosen. The greedy step of a row is the
 * loss's (loss/). */
#include "learn/learner.h"
#include "learn/calibration.h"
#include "learn/parts.h"

#include "base/error.h"
#include "base/memory.h"

#include <math.h>
#include <string.h>

/* Counts are kept to 31 bits, which are numbers of every vector unit: folded before they need more. */
#define FOLD_AFTER (((uint64_t)1 << 31) - 1 - GSAI_GROUP_ROWS)

/* One way to learn: a table, its mean step, and how features are measured. */
struct learner {
    gsai_table *table;
    gsai_step_mean *step;
    bool standardised;
};

/* A row to learn, whose entries are in the state; or the group. */
struct rows {
    gsai_target target;
    double c; /* weight */
    double xx;
    size_t n_rows;
    bool is_group;
};

static void advance_averaging(gsa_state *state, size_t n_rows)
{
    gsai_averaging *averaging = &state->averaging;
    uint64_t average = gsai_params_average(&state->params);
    averaging->now += n_rows * averaging->per_row;
    if (average == GSAI_AVERAGE_RECENT) {
        averaging->first = 1;
        averaging->restart = UINT64_MAX;
    }
    if (averaging->now < averaging->restart)
        return;
    averaging->first = averaging->now;
    averaging->restart = average == GSAI_AVERAGE_SUFFIX ? 2 * averaging->now : UINT64_MAX;
    gsai_table_clear_average(&state->table);
    if (state->scaling)
        gsai_table_clear_average(&state->scaling->table);
}

/* Returns the total weight in the average of the weights before these rows: they lack their update. 0 where no average
 * is asked for. */
static double past_weight_of(const gsa_state *state, size_t n_rows)
{
    if (gsai_params_average(&state->params) == GSAI_AVERAGE_LAST)
        return 0;
    return gsai_averaging_total(state, state->averaging.now - n_rows * state->averaging.per_row);
}

/* Labels beyond this make weights that no float holds, whatever the features are. */
#define MAX_LABEL 1e30

static bool has_huge_labels(const gsa_state *state, double y)
{
    const gsai_label_offset *offset = &state->label_offset;
    return !gsai_loss_has_classes(state->loss) && !state->loss->has_log_link &&
           !(fabs(y) < MAX_LABEL && fabs(offset->mean) < MAX_LABEL && fabs(offset->at) < MAX_LABEL &&
             state->squared_label <= MAX_LABEL * MAX_LABEL * (double)(state->n_rows + 1));
}

const char *gsai_diverged_remedy(const gsa_state *state, double y)
{
    return has_huge_labels(state, y) ? "labels are above 1e30; give them in a larger unit"
                                     : "scale the features to a similar range such as [-1, 1]";
}

static gsa_status diverged(const gsa_state *state, double y, gsa_error *error)
{
    const char *remedy = gsai_diverged_remedy(state, y);
    bool is_paper = state->params.value[GSAI_PARAM_method] == GSAI_METHOD_PAPER;
    if (is_paper && !gsai_loss_has_probabilities(state->loss) && !has_huge_labels(state, y))
        return gsai_fail_about(
            error, "method",
            gsai_fail(error, GSA_DIVERGED,
                      "%s loss diverged after %llu rows: the paper's step is too large where the lengths of rows "
                      "differ much; choose method auto, or %s",
                      gsai_loss_name(state->loss), (unsigned long long)state->n_rows, remedy));
    return gsai_fail(error, GSA_DIVERGED, "weights are no longer finite after %llu rows: %s",
                     (unsigned long long)state->n_rows, remedy);
}

/* Treats squared loss as diverged once the squared error exceeds 1000 times that of predicting 0. */
static bool squared_diverges(gsa_state *state, double g, double y, double c)
{
    state->squared_error += c * g * g;
    state->squared_label += c * y * y;
    return state->n_rows >= 100 && state->squared_error > 1000 * state->squared_label;
}

/* Counts the row (the update will tell the table), and its margins with what follows from them; GSA_DIVERGED if they
 * are not finite. */
static gsa_status find_greedy_step(gsa_state *state, const struct learner *learner, const struct rows *rows,
                                   gsai_greedy_step *out, gsa_error *error)
{
    const gsai_kernels *kernels = state->kernels;
    size_t n_outputs = learner->table->n_outputs;
    double *m = state->margins;
    bool finite = n_outputs == 1 ? isfinite(*m = kernels->take_one(learner->table, &state->entries, rows->c))
                                 : kernels->take_many(learner->table, &state->entries, rows->c, m);
    if (!finite)
        return diverged(state, rows->target.y, error);
    *out = state->loss->greedy_step(m, n_outputs, &rows->target);
    return isfinite(out->loss) && isfinite(out->g) ? GSA_OK : diverged(state, rows->target.y, error);
}

/* Enters the row's own greedy step with its weight and returns the mean of all so far, over all passes: Algorithm 1 of
 * arXiv 1611.03608. Steps above the target are negative and enter as they are: that is how the mean comes down near
 * convergence. */
static double mean_step(gsai_step_mean *mean, double eta, double weight)
{
    mean->sum += weight * eta;
    mean->weight += weight;
    return gsai_step_mean_value(mean);
}

/* The paper's step: the mean of all. A light row takes a part of it, a heavy row several; a step that leads away from
 * the label is never multiplied by more than the row's weight. */
static double step_of(const gsa_state *state, const struct learner *learner, const struct rows *rows,
                      const gsai_greedy_step *greedy)
{
    double step = mean_step(learner->step, greedy->lambda / rows->xx, rows->c), e = step * rows->xx;
    double c = rows->c / gsai_row_weights_ratio(&state->row_weights);
    bool heavy = c > 1 && e > 0 && greedy->g != 0;
    if (state->is_frozen)
        return 0;
    if (!heavy)
        return step * c;
    return step * state->loss->repeats(state->margins, state->table.n_outputs, &rows->target, greedy, e, c);
}

static gsa_status learn_group(gsa_state *state, const struct learner *learner, double *loss, gsa_error *error)
{
    double past_weight = past_weight_of(state, state->group.n_rows);
    gsa_status status =
        gsai_group_learn(state, learner->table, learner->step, learner->standardised, past_weight, loss);
    return status == GSA_OK ? GSA_OK : diverged(state, 0, error);
}

/* By the paper's method; *loss is weighted. */
static gsa_status learn_row(gsa_state *state, const struct learner *learner, const struct rows *rows, double *loss,
                            gsa_error *error)
{
    const gsai_entries *entries = &state->entries;
    gsai_greedy_step greedy = {0};
    gsai_state_fetch(state, 1);
    gsa_status status = find_greedy_step(state, learner, rows, &greedy, error);
    *loss = rows->c * greedy.loss;
    if (status != GSA_OK || rows->xx == 0)
        return status;
    /* Before the table takes the row. */
    if (state->loss->depends_on_residual && squared_diverges(state, greedy.g, rows->target.y, rows->c))
        return diverged(state, rows->target.y, error);
    if (state->loss->has_width)
        gsai_residuals_add(&state->residuals, greedy.m - rows->target.y, rows->c);
    gsai_state_fetch(state, 2);
    double step = step_of(state, learner, rows, &greedy);
    gsai_state_fetch(state, 3);
    if (learner->table->n_outputs > 1) {
        size_t n_outputs = learner->table->n_outputs, k = 0;
        for (; k < n_outputs; k++)
            state->scales[k] = (float)state->margins[k];
        for (; k < gsai_table_padded(n_outputs); k++)
            state->scales[k] = 0;
        state->kernels->update_many(learner->table, entries, -step, state->scales, past_weight_of(state, 1));
    } else {
        state->kernels->update_one(learner->table, entries, -step * greedy.g, past_weight_of(state, 1));
    }
    return GSA_OK;
}

static gsa_status learn_with(gsa_state *state, const struct learner *learner, const struct rows *rows, double *loss,
                             gsa_error *error)
{
    return rows->is_group ? learn_group(state, learner, loss, error) : learn_row(state, learner, rows, loss, error);
}

/* Measures both scalings on the held-out rows. */
static void score_held_out(gsa_state *state)
{
    gsai_scaling *scaling = state->scaling;
    const gsai_table *table[2] = {&state->table, &scaling->table};
    gsai_calibration found[2];
    double weight = 0;
    gsai_sample_settle(&state->sample);
    for (size_t i = 0, n = gsai_sample_count(&state->sample); i < n; i++)
        weight += state->sample.at[i]->seen;
    for (int i = 0; i < 2; i++)
        if (gsai_calibrate(state, table[i], NULL, &found[i], NULL) != GSA_OK || !isfinite(found[i].loss))
            return;
    for (int i = 0; i < 2; i++)
        scaling->held_out_loss[i] = weight * found[i].loss;
}

/* Both learners take the rows; their losses are compared anew from every power of two on, so that early rows do not
 * count. */
static gsa_status learn_both_scalings(gsa_state *state, const struct rows *rows, double *loss, gsa_error *error)
{
    gsai_scaling *scaling = state->scaling;
    struct learner own = {&state->table, &state->step, false}, standard = {&scaling->table, &scaling->step, true};
    bool standard_leads = gsai_state_table(state) == &scaling->table;
    double losses[2];
    GSA_TRY(learn_with(state, &own, rows, &losses[0], error));
    if (learn_with(state, &standard, rows, &losses[1], NULL) != GSA_OK) { /* it has lost, and the row is learned */
        scaling->loss[1] = INFINITY;
        gsai_scaling_close(state);
        *loss = losses[0];
        return GSA_OK;
    }
    if (state->n_rows + rows->n_rows >= scaling->restart) {
        for (int i = 0; i < 2; i++) {
            scaling->earlier_loss[i] = scaling->loss[i];
            scaling->loss[i] = 0;
        }
        scaling->restart *= 2;
        if (state->table.n_outputs == 1)
            score_held_out(state);
    }
    for (int i = 0; i < 2; i++)
        scaling->loss[i] += losses[i];
    *loss = losses[standard_leads];
    return GSA_OK;
}

/* The entries of a row, gathered; *xx is its squared length. */
static gsa_status gather_row(gsa_state *state, const gsai_row *row, double *xx, gsa_error *error)
{
    gsai_entries *entries = &state->entries;
    GSAI_TRY_MEMORY(gsai_entries_reserve(entries, row->n, &state->env), &state->env, error,
                    "no memory for a row of %zu entries", row->n);
    state->kernels->gather(entries, row, state->params.value[GSAI_PARAM_intercept]);
    *xx = row->value ? state->kernels->square_length(entries) : (double)entries->n_all;
    if (!isfinite(*xx))
        return gsai_fail(error, GSA_INPUT, "a value is not a finite number");
    GSA_TRY(gsai_state_fit_slots(state, entries->n_slots, error));
    return gsai_centre_reserve(state, entries->slot, entries->n, error);
}

gsa_status gsai_state_fit_row(gsa_state *state, const gsai_row *row, gsa_error *error)
{
    double xx;
    return gsai_state_has_groups(state) ? gsai_group_fit(state, row, error) : gather_row(state, row, &xx, error);
}

/* Whether the loss still falls is told by the rows since the last power of two and those before them. */
static void note_loss(gsa_state *state, double loss, const struct rows *rows)
{
    gsai_position *at = &state->position;
    uint64_t before = state->n_rows + 1, last = before + rows->n_rows - 1;
    bool power_of_two = last > 1 && ((before - 1) ^ last) > before - 1; /* the highest bit is another one */
    double weight = rows->c;
    at->loss_sum += loss;
    at->loss_weight += weight;
    if (power_of_two || state->n_rows == 0) {
        at->earlier_loss_sum = at->late_loss_sum;
        at->earlier_loss_weight = at->late_loss_weight;
        at->late_loss_sum = at->late_loss_weight = 0;
    }
    at->late_loss_sum += loss;
    at->late_loss_weight += weight;
}

/* The entries of the row, or the group, are in the state, and there is room for them. */
static gsa_status learn(gsa_state *state, struct rows *rows, double y, gsa_error *error)
{
    struct learner own = {&state->table, &state->step, state->standardised};
    double loss;
    if (state->n_counted >= FOLD_AFTER)
        GSA_TRY(gsai_state_fold(state, error));
    if (rows->n_rows == 1)
        gsai_label_offset_add(state, y, rows->c);
    rows->target = gsai_state_target(state, rows->target.class_number, y);
    advance_averaging(state, rows->n_rows);
    if (rows->is_group)
        gsai_centre_group(state);
    GSA_TRY(state->scaling ? learn_both_scalings(state, rows, &loss, error)
                           : learn_with(state, &own, rows, &loss, error));
    note_loss(state, loss, rows);
    state->n_solved = state->is_frozen ? state->n_solved : 0;
    state->rows_behind += rows->n_rows;
    state->n_rows += rows->n_rows;
    state->n_counted += rows->n_rows;
    if (state->n_rows >= GSA_SCALING_ROWS)
        gsai_scaling_close(state);
    return GSA_OK;
}

gsa_status gsa_state_close_group(gsa_state *state, gsa_error *error)
{
    struct rows rows = {.c = state->group.weight, .n_rows = state->group.n_rows, .is_group = true};
    if (rows.n_rows == 0)
        return GSA_OK;
    gsa_status status = learn(state, &rows, state->group.y[0], error);
    gsai_group_clear(&state->group);
    return status;
}

gsa_status gsai_state_learn_staged(gsa_state *state, const gsai_staged *staged, size_t class_number, double y, double c,
                                   gsa_error *error)
{
    GSA_TRY(gsai_group_add(state, staged, class_number, y, c, error));
    return gsai_group_is_full(state) ? gsa_state_close_group(state, error) : GSA_OK;
}

gsa_status gsai_state_learn(gsa_state *state, const gsai_row *row, size_t class_number, double y, double c,
                            gsa_error *error)
{
    struct rows rows = {.target = {.class_number = class_number}, .c = c, .n_rows = 1};
    if (gsai_state_has_groups(state)) {
        gsai_staged staged;
        GSA_TRY(gsai_group_stage(state, row, &staged, error));
        return gsai_state_learn_staged(state, &staged, class_number, y, c, error);
    }
    GSA_TRY(gather_row(state, row, &rows.xx, error));
    return learn(state, &rows, y, error);
}

void gsa_state_end_pass(gsa_state *state)
{
    gsai_position *at = &state->position;
    gsa_status status = gsa_state_close_group(state, NULL);
    (void)status; /* what diverges here has weights of which no model can be made */
    gsai_scaling_close(state);
    at->last_pass_loss = at->loss_weight > 0 ? at->loss_sum / at->loss_weight : NAN;
    at->pass++;
    at->pass_rows = 0;
    at->loss_sum = at->loss_weight = 0;
}
