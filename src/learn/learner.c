/* Learning rows: in groups (group.c), or one by one (paper.c); and counting them. */
#include "learn/learner.h"

#include "learn/calibration.h"
#include "learn/inside.h"
#include "learn/paper.h"
#include "learn/state_slots.h"

#include "base/error.h"
#include "base/memory.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

/* Counts are kept to 31 bits, which are numbers of every vector unit: folded before they need more. */
#define FOLD_AFTER (((uint64_t)1 << 31) - 1 - GSAI_GROUP_ROWS)

gsa_status gsai_state_fit_row(gsa_state *state, const gsai_row *row, gsa_error *error)
{
    return gsai_state_has_groups(state) ? gsai_group_fit(state, row, error) : gsai_paper_fit(state, row, error);
}

/* The rows since the last power of two and those before them tell whether the loss still falls. */
static void note_loss(gsai_position *at, uint64_t n_before, uint64_t n_rows, double loss, double weight)
{
    uint64_t last = n_before + n_rows;
    at->loss_sum += loss;
    at->loss_weight += weight;
    if ((n_before ^ last) > n_before) { /* the highest bit is another one */
        at->earlier_loss_sum = at->late_loss_sum;
        at->earlier_loss_weight = at->late_loss_weight;
        at->late_loss_sum = at->late_loss_weight = 0;
    }
    at->late_loss_sum += loss;
    at->late_loss_weight += weight;
}

static void count_rows(gsa_state *state, size_t n_rows, double weight, double loss)
{
    note_loss(&state->position, state->n_rows, n_rows, loss, weight);
    state->n_solved = state->is_frozen ? state->n_solved : 0;
    state->rows_behind += n_rows;
    state->n_rows += n_rows;
    state->n_counted += n_rows;
}

static gsa_status learn_group(gsa_state *state, gsa_error *error)
{
    const gsai_group *group = &state->group;
    double loss;
    if (state->n_counted >= FOLD_AFTER)
        GSA_TRY(gsai_state_fold(state, error));
    if (group->n_rows == 1)
        gsai_label_offset_add(state, group->y[0], group->weight);
    state->averaging.now += group->n_rows * state->averaging.per_row;
    state->averaging.first = 1; /* of all rows: only averages of the paper's method start anew */
    state->averaging.restart = UINT64_MAX;
    gsai_centre_group(state);
    double past_weight = gsai_state_past_weight(state, group->n_rows);
    if (gsai_group_learn(state, past_weight, &loss) != GSA_OK)
        return gsai_fail(error, GSA_DIVERGED, "weights are no longer finite after %llu rows: %s",
                         (unsigned long long)state->n_rows, gsai_diverged_remedy(state, 0));
    count_rows(state, group->n_rows, group->weight, loss);
    return GSA_OK;
}

gsa_status gsai_state_close_own_group(gsa_state *state, gsa_error *error)
{
    if (state->group.n_rows == 0)
        return GSA_OK;
    gsa_status status = learn_group(state, error);
    gsai_group_clear(&state->group);
    return status;
}

gsa_status gsai_state_learn(gsa_state *state, const gsai_row *row, const gsai_row_scan *scan, size_t class_number,
                            double y, double c, gsa_error *error)
{
    if (gsai_state_has_groups(state)) {
        GSA_TRY(gsai_group_add(state, row, scan, class_number, y, c, error));
        return gsai_group_is_full(state) ? gsai_state_close_own_group(state, error) : GSA_OK;
    }
    double loss;
    if (state->n_counted >= FOLD_AFTER)
        GSA_TRY(gsai_state_fold(state, error));
    GSA_TRY(gsai_paper_learn(state, row, class_number, y, c, &loss, error));
    count_rows(state, 1, c, loss);
    return GSA_OK;
}

/* ---- the position in the input, as a part of a state --------------------------------------------------------------
 */

double gsai_position_falling(const gsai_position *at)
{
    if (!(at->late_loss_weight >= at->earlier_loss_weight / 4 && at->earlier_loss_weight > 0 &&
          at->earlier_loss_sum > 0)) /* too few to tell */
        return NAN;
    return 1 - at->late_loss_sum / at->late_loss_weight / (at->earlier_loss_sum / at->earlier_loss_weight);
}

/* Returns a number that begins anew with every pass, since the base. */
static double added_in_pass(const gsai_merge *merge, const gsa_state *state, size_t at)
{
    const gsa_state *base = merge->base;
    double now = *(const double *)(const void *)((const char *)state + at);
    double before = *(const double *)(const void *)((const char *)base + at);
    return state->position.pass == base->position.pass ? now - before : now;
}

/* The rows of a round count as the last. */
static gsa_status merge_position(const gsai_merge *merge, gsa_error *error)
{
    (void)error;
    gsai_position *into = &merge->into->position;
    if (!merge->continues)
        return GSA_OK;
    const gsai_position *base = &merge->base->position;
    if (into->pass == base->pass)
        *into = *base;
    for (size_t s = 0; s < merge->n_states; s++) {
        const gsai_position *own = &merge->states[s]->position;
        into->pass_rows += own->pass_rows - (own->pass == base->pass ? base->pass_rows : 0);
    }
    note_loss(into, merge->base->n_rows, merge->into->n_rows - merge->base->n_rows,
              gsai_merge_sum(merge, added_in_pass, offsetof(gsa_state, position.loss_sum)),
              gsai_merge_sum(merge, added_in_pass, offsetof(gsa_state, position.loss_weight)));
    return GSA_OK;
}

/* ---- the mean step, as a part of a state ------------------------------------------------------------------------- */

enum { SUM, WEIGHT };

static double step_number(const gsai_merge *merge, const gsa_state *state, size_t which)
{
    return which == WEIGHT ? state->step.weight : state->step.sum / (gsai_state_splits(state, merge->into) ? 2 : 1);
}

static double step_added(const gsai_merge *merge, const gsa_state *state, size_t which)
{
    return step_number(merge, state, which) - (merge->continues ? step_number(merge, merge->base, which) : 0);
}

/* The steps, and the scaling that most rows were learned with. */
static gsa_status merge_steps(const gsai_merge *merge, gsa_error *error)
{
    (void)error;
    gsa_state *into = merge->into;
    uint64_t n_standardised = 0, n_rows = into->n_rows - (merge->continues ? merge->base->n_rows : 0);
    for (size_t s = 0; s < merge->n_states; s++)
        n_standardised += merge->states[s]->standardised ? merge->states[s]->n_rows : 0;
    into->standardised = n_rows > 0 ? 2 * n_standardised > n_rows : merge->states[0]->standardised;
    for (size_t which = SUM; which <= WEIGHT; which++)
        *(which == SUM ? &into->step.sum : &into->step.weight) =
            gsai_merge_sum(merge, step_added, which) + (merge->continues ? step_number(merge, merge->base, which) : 0);
    return GSA_OK;
}

const gsai_part_functions gsai_step_part = {.merge = merge_steps};
const gsai_part_functions gsai_position_part = {.merge = merge_position};
