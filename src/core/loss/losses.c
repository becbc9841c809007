/* All losses there are. */
#include "core/loss/loss.h"

#include <string.h>

static const gsa__loss *const losses[] = {
    &gsa__loss_squared, &gsa__loss_logistic,      &gsa__loss_softmax,
    &gsa__loss_hinge,   &gsa__loss_squared_hinge, &gsa__loss_custom,
};

const gsa__loss *gsa__loss_find(const char *name)
{
    for (size_t i = 0; i < sizeof losses / sizeof *losses; i++)
        if (strcmp(losses[i]->name, name) == 0)
            return losses[i];
    return NULL;
}

const char *gsa_loss_measure(const char *name, double *mean)
{
    const gsa__loss *loss = gsa__loss_find(name);
    if (loss && loss->measure_of)
        *mean = loss->measure_of(*mean);
    return loss ? loss->measure : NULL;
}

double gsa__greedy_steps(const gsa__loss *loss, const struct gsa__kernels *kernels, const double *m,
                         const gsa__target *target, const double *c, size_t n, gsa__greedy_step *out)
{
    if (loss->greedy_steps)
        return loss->greedy_steps(kernels, m, target, c, n, out);
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        double margin = m[i];
        out[i] = loss->greedy_step(&margin, 1, &target[i]);
        sum += c[i] * out[i].loss;
    }
    return sum;
}
