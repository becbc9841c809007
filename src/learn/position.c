/* The position of a run in its input, and whether its loss still falls. */
#include "learn/position.h"

#include "learn/inside.h"

#include <math.h>
#include <stddef.h>

/* The rows since the last power of two and those before them tell whether the loss still falls. */
void gsai_position_note(gsai_position *at, uint64_t n_before, uint64_t n_rows, double loss, double weight)
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
    gsai_position_note(into, merge->base->n_rows, merge->into->n_rows - merge->base->n_rows,
                       gsai_merge_sum(merge, added_in_pass, offsetof(gsa_state, position.loss_sum)),
                       gsai_merge_sum(merge, added_in_pass, offsetof(gsa_state, position.loss_weight)));
    return GSA_OK;
}

const gsai_part_functions gsai_position_part = {.merge = merge_position};
