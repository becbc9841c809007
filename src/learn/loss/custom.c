/* A loss of the caller's, known as two functions of a margin and a label. Its greedy step is searched for: Algorithm 2
 * (search.c). */
#include "learn/loss/loss.h"

static double value(double *m, size_t n_outputs, const gsai_target *target)
{
    (void)n_outputs;
    return target->custom->loss(target->custom->ctx, *m, target->y);
}

static gsai_greedy_step greedy_step(double *m_to_g, size_t n_outputs, const gsai_target *target)
{
    gsai_greedy_step step = {.loss = value(m_to_g, n_outputs, target), .m = *m_to_g};
    step.g = target->custom->derivative(target->custom->ctx, step.m, target->y);
    step.lambda = gsai_search_lambda(target->custom, step.m, target->y, step.g);
    *m_to_g = step.g;
    return step;
}

const gsai_loss gsai_loss_custom = {
    .name = "custom",
    .measure = "loss",
    .many_from = SIZE_MAX,
    .is_custom = true,
    .greedy_step = greedy_step,
    .repeats = gsai_custom_repeats,
    .value = value,
};
