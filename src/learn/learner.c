/* Learning a row, or a group of them (group.c).
 *
 * What is the same for every loss and method is here: the mean of the greedy steps, the clock of the average, the row's
 * weight, the guards, and the two learners of a contest. How a step is proposed is the loss's business (loss/), how
 * rows vote and measure the method's (method/). */
#include "learn/calibration.h"

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
    bool units_free;
};

/* What is asked about a row, whose entries are in the state; or the group. */
struct lesson {
    gsai_target target;
    double c; /* weight */
    double xx;
    size_t n_rows;
    bool is_group;
};

static void tick(gsa_state *state, size_t n_rows)
{
    gsai_averaging *clock = &state->clock;
    uint64_t average = state->params.value[GSAI_PARAM_average];
    clock->now += n_rows * clock->pace;
    if (average == GSAI_AVERAGE_RECENT) {
        clock->first = 1;
        clock->restart = UINT64_MAX;
    }
    if (clock->now < clock->restart)
        return;
    clock->first = clock->now;
    clock->restart = average == GSAI_AVERAGE_SUFFIX ? 2 * clock->now : UINT64_MAX;
    gsai_table_clear_average(&state->table);
    if (state->contest)
        gsai_table_clear_average(&state->contest->table);
}

/* What the weights before these rows count for in the average: they lack their update. 0 where no average is asked
 * for. */
static double lag_of(const gsa_state *state, size_t n_rows)
{
    if (state->params.value[GSAI_PARAM_average] == GSAI_AVERAGE_LAST)
        return 0;
    return gsai_averaging_total(state, state->clock.now - n_rows * state->clock.pace);
}

static gsa_status diverged(const gsa_state *state, gsa_error *error)
{
    if (state->params.value[GSAI_PARAM_method] == GSAI_METHOD_PAPER && !gsai_loss_has_probabilities(state->loss))
        return gsai_fail(error, GSA_DIVERGED,
                         "%s loss diverged after %llu rows: the paper's step is too large where the lengths of "
                         "rows differ much; use --method auto, or scale every feature to a similar range such as "
                         "[-1, 1]",
                         gsai_loss_name(state->loss), (unsigned long long)state->n_rows);
    return gsai_fail(error, GSA_DIVERGED,
                     "weights are no longer finite after %llu rows: scale the features to a similar range",
                     (unsigned long long)state->n_rows);
}

/* Squared loss that is a thousand times worse than predicting 0 has left the road. */
static bool squared_diverges(gsa_state *state, double g, double y, double c)
{
    state->squared_error += c * g * g;
    state->squared_label += c * y * y;
    return state->n_rows >= 100 && state->squared_error > 1000 * state->squared_label;
}

/* Counts the row (the update will tell the table), and its margins with what follows from them; GSA_DIVERGED if they
 * are not finite. */
static gsa_status propose(gsa_state *state, const struct learner *learner, const struct lesson *lesson,
                          gsai_greedy_step *out, gsa_error *error)
{
    const gsai_kernels *kernels = state->kernels;
    size_t n_outputs = learner->table->n_outputs;
    double *m = state->margins;
    bool finite = n_outputs == 1 ? isfinite(*m = kernels->take_one(learner->table, &state->entries, lesson->c))
                                 : kernels->take_many(learner->table, &state->entries, lesson->c, m);
    if (!finite)
        return diverged(state, error);
    *out = state->loss->greedy_step(m, n_outputs, &lesson->target);
    return isfinite(out->loss) && isfinite(out->g) ? GSA_OK : diverged(state, error);
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
static double step_of(const gsa_state *state, const struct learner *learner, const struct lesson *lesson,
                      const gsai_greedy_step *proposal)
{
    double step = mean_step(learner->step, proposal->lambda / lesson->xx, lesson->c), e = step * lesson->xx;
    double c = lesson->c / gsai_row_weights_ratio(&state->given);
    bool heavy = c > 1 && e > 0 && proposal->g != 0;
    if (state->is_frozen)
        return 0;
    if (!heavy)
        return step * c;
    return step * state->loss->repeats(state->margins, state->table.n_outputs, &lesson->target, proposal, e, c);
}

static gsa_status learn_group(gsa_state *state, const struct learner *learner, double *loss, gsa_error *error)
{
    double lag = lag_of(state, state->group.n_rows);
    gsa_status status = gsai_group_learn(state, learner->table, learner->step, learner->units_free, lag, loss);
    return status == GSA_OK ? GSA_OK : diverged(state, error);
}

/* By the paper's method; *loss is weighted. */
static gsa_status learn_row(gsa_state *state, const struct learner *learner, const struct lesson *lesson, double *loss,
                            gsa_error *error)
{
    const gsai_entries *entries = &state->entries;
    gsai_greedy_step proposal = {0};
    gsai_state_fetch(state, 1);
    gsa_status status = propose(state, learner, lesson, &proposal, error);
    *loss = lesson->c * proposal.loss;
    if (status != GSA_OK || lesson->xx == 0)
        return status;
    /* Before the table takes the row. */
    if (state->loss->depends_on_residual && squared_diverges(state, proposal.g, lesson->target.y, lesson->c))
        return diverged(state, error);
    gsai_state_fetch(state, 2);
    double step = step_of(state, learner, lesson, &proposal);
    gsai_state_fetch(state, 3);
    if (learner->table->n_outputs > 1) {
        size_t n_outputs = learner->table->n_outputs, k = 0;
        for (; k < n_outputs; k++)
            state->scales[k] = (float)state->margins[k];
        for (; k < gsai_table_padded(n_outputs); k++)
            state->scales[k] = 0;
        state->kernels->update_many(learner->table, entries, -step, state->scales, lag_of(state, 1));
    } else {
        state->kernels->update_one(learner->table, entries, -step * proposal.g, lag_of(state, 1));
    }
    return GSA_OK;
}

static gsa_status learn_with(gsa_state *state, const struct learner *learner, const struct lesson *lesson, double *loss,
                             gsa_error *error)
{
    return lesson->is_group ? learn_group(state, learner, loss, error) : learn_row(state, learner, lesson, loss, error);
}

/* Takes the word of the held-out rows on both. */
static void score_held_out(gsa_state *state)
{
    gsai_scaling *contest = state->contest;
    const gsai_table *table[2] = {&state->table, &contest->table};
    gsai_calibration found[2];
    double weight = 0;
    gsai_sample_settle(&state->sample);
    for (size_t i = 0; i < state->sample.n; i++)
        weight += state->sample.at[i]->seen;
    for (int i = 0; i < 2; i++)
        if (gsai_calibrate(state, table[i], NULL, &found[i], NULL) != GSA_OK || !isfinite(found[i].loss))
            return;
    for (int i = 0; i < 2; i++)
        contest->held_out_loss[i] = weight * found[i].loss;
}

/* Both learners take the rows; their losses are compared anew from every power of two on, so that early rows do not
 * count. */
static gsa_status learn_both_scalings(gsa_state *state, const struct lesson *lesson, double *loss, gsa_error *error)
{
    gsai_scaling *contest = state->contest;
    struct learner own = {&state->table, &state->step, false}, rival = {&contest->table, &contest->step, true};
    bool rival_ahead = gsai_state_table(state) == &contest->table;
    double losses[2];
    GSA_TRY(learn_with(state, &own, lesson, &losses[0], error));
    if (learn_with(state, &rival, lesson, &losses[1], NULL) != GSA_OK) { /* it has lost, and the row is learned */
        contest->loss[1] = INFINITY;
        gsai_scaling_close(state);
        *loss = losses[0];
        return GSA_OK;
    }
    if (state->n_rows + lesson->n_rows >= contest->restart) {
        for (int i = 0; i < 2; i++) {
            contest->earlier_loss[i] = contest->loss[i];
            contest->loss[i] = 0;
        }
        contest->restart *= 2;
        if (state->table.n_outputs == 1)
            score_held_out(state);
    }
    for (int i = 0; i < 2; i++)
        contest->loss[i] += losses[i];
    *loss = losses[rival_ahead];
    return GSA_OK;
}

/* The entries of a row, gathered; *xx is its squared length. */
static gsa_status gather_row(gsa_state *state, const gsai_row *row, double *xx, gsa_error *error)
{
    gsai_entries *entries = &state->entries;
    if (!gsai_entries_reserve(entries, row->n, &state->env))
        return gsai_fail_memory(&state->env, error, "no memory for a row of %zu entries", row->n);
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
static void note_loss(gsa_state *state, double loss, const struct lesson *lesson)
{
    gsai_position *at = &state->position;
    uint64_t before = state->n_rows + 1, last = before + lesson->n_rows - 1;
    bool power_of_two = last > 1 && ((before - 1) ^ last) > before - 1; /* the highest bit is another one */
    double weight = lesson->c;
    at->loss_sum += loss;
    at->loss_weight += weight;
    if (power_of_two || state->n_rows == 0) {
        memcpy(at->earlier, at->late, sizeof at->late);
        at->late[0] = at->late[1] = 0;
    }
    at->late[0] += loss;
    at->late[1] += weight;
}

/* The entries of the row, or the group, are in the state, and there is room for them. */
static gsa_status learn(gsa_state *state, struct lesson *lesson, double y, gsa_error *error)
{
    struct learner own = {&state->table, &state->step, state->units_free};
    double loss;
    if (state->n_counted >= FOLD_AFTER)
        GSA_TRY(gsai_state_fold(state, error));
    if (lesson->n_rows == 1)
        gsai_label_offset_add(state, y, lesson->c);
    lesson->target.y = y - state->label_offset.at;
    tick(state, lesson->n_rows);
    if (lesson->is_group)
        gsai_centre_group(state);
    GSA_TRY(state->contest ? learn_both_scalings(state, lesson, &loss, error)
                           : learn_with(state, &own, lesson, &loss, error));
    note_loss(state, loss, lesson);
    state->n_solved = state->is_frozen ? state->n_solved : 0;
    state->rows_behind += lesson->n_rows;
    state->n_rows += lesson->n_rows;
    state->n_counted += lesson->n_rows;
    if (state->n_rows >= GSA_SCALING_ROWS)
        gsai_scaling_close(state);
    return GSA_OK;
}

gsa_status gsa_state_close_group(gsa_state *state, gsa_error *error)
{
    struct lesson lesson = {.c = state->group.weight, .n_rows = state->group.n_rows, .is_group = true};
    if (lesson.n_rows == 0)
        return GSA_OK;
    gsa_status status = learn(state, &lesson, state->group.y[0], error);
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
    struct lesson lesson = {.target = {class_number, 0, &state->params.custom_loss}, .c = c, .n_rows = 1};
    if (gsai_state_has_groups(state)) {
        gsai_staged staged;
        GSA_TRY(gsai_group_stage(state, row, &staged, error));
        return gsai_state_learn_staged(state, &staged, class_number, y, c, error);
    }
    GSA_TRY(gather_row(state, row, &lesson.xx, error));
    return learn(state, &lesson, y, error);
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
