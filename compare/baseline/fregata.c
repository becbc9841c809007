/* Greedy step averaging in parallel as Fregata, the paper's own Spark library, has it (TalkingData 2016): partitions
 * are learned separately from the same weights, and their weights are averaged uniformly at the end of the pass,
 * whatever their size. The mean of the steps is forgotten with every pass. It is the baseline for our own merge, which
 * is weighted by sums of squares and keeps the mean.
 *
 *   partition p, from the pass's first weights:  eta_bar = mean of its greedy steps so far,  w_p -= eta_bar g x
 *   end of the pass:  w = (1/P) sum_p w_p
 *
 * A partition is a run of consecutive rows of the order. table[0]: weights at the start of the pass; table[1]: sum of
 * finished partitions; scalar[0], [1]: the steps of this partition, their number; scalar[2]: partitions begun. */
#include "baseline/optimizer.h"

#include <math.h>
#include <string.h>

enum { STEPS, N_STEPS, BEGUN };

static void close_partition(gsai_optimizer *o)
{
    for (size_t i = 0; i < gsai_problem_cells(o->problem); i++)
        o->table[1][i] += o->w[i];
}

static void begin_pass(gsai_optimizer *o)
{
    memcpy(o->table[0], o->w, gsai_problem_cells(o->problem) * sizeof *o->w);
    memset(o->table[1], 0, gsai_problem_cells(o->problem) * sizeof *o->w);
    o->scalar[BEGUN] = 0;
}

static void learn(gsai_optimizer *o, size_t row)
{
    double n_partitions = fmin(floor(o->knob[0]), (double)o->n_order);
    if ((double)o->order_at >= o->scalar[BEGUN] * (double)o->n_order / n_partitions) {
        if (o->scalar[BEGUN] > 0)
            close_partition(o);
        memcpy(o->w, o->table[0], gsai_problem_cells(o->problem) * sizeof *o->w);
        o->scalar[STEPS] = o->scalar[N_STEPS] = 0;
        o->scalar[BEGUN]++;
    }
    double lambda = gsai_optimizer_gradient(o, o->w, row).lambda, xx = gsai_optimizer_length(o);
    if (!(xx > 0))
        return;
    o->scalar[STEPS] += lambda / xx;
    o->scalar[N_STEPS]++;
    gsai_optimizer_step(o, o->scalar[STEPS] / o->scalar[N_STEPS]);
}

static void end_pass(gsai_optimizer *o)
{
    close_partition(o);
    for (size_t i = 0; i < gsai_problem_cells(o->problem); i++)
        o->w[i] = o->table[1][i] / fmax(1, o->scalar[BEGUN]); /* 0: a pass without rows */
}

const gsai_method gsai_fregata = {
    .name = "fregata",
    .help = "greedy step averaging on partitions that are averaged uniformly after every pass",
    .source = "TalkingData 2016, the library of the paper's authors",
    .knobs = {{"partitions", 8, 1, 1e6, "how many learn apart"}},
    .n_tables = 2,
    .begin_pass = begin_pass,
    .learn = learn,
    .end_pass = end_pass,
};
