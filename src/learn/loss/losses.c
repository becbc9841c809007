/* The list of all losses. */
#include "learn/loss/loss.h"

#include <string.h>

static const gsai_loss *const losses[] = {
#define ADDRESS(name) &gsai_loss_##name,
    GSAI_LOSSES(ADDRESS) ADDRESS(custom) /* the caller's */
};

const gsai_loss *gsai_loss_find(const char *name)
{
    for (size_t i = 0; i < sizeof losses / sizeof *losses; i++)
        if (strcmp(losses[i]->name, name) == 0)
            return losses[i];
    return NULL;
}

const char *gsa_loss_measure(const char *name, double *mean)
{
    const gsai_loss *loss = gsai_loss_find(name);
    if (loss && loss->measure_of)
        *mean = loss->measure_of(*mean);
    return loss ? loss->measure : NULL;
}

double gsai_greedy_steps(const gsai_loss *loss, const struct gsai_kernels *kernels, const double *m,
                         const gsai_target *target, const double *c, size_t n, gsai_greedy_step *out)
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
