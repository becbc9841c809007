/* Prediction intervals from held-out residuals. */
#include "learn/interval.h"

#include "base/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Rows that tell an interval, and rows of each group if there are several. */
#define MIN_ROWS 20u
#define MIN_ROWS_OF_GROUP 100u

static const double level[GSAI_INTERVAL_LEVELS] = {.005, .01, .025, .05, .075, .1, .15,  .2,  .25,  .3,  .4,  .5,
                                                   .6,   .7,  .75,  .8,  .85,  .9, .925, .95, .975, .99, .995};

static int by_prediction(const void *a, const void *b)
{
    const gsai_held_number *x = a, *y = b;
    return (x->prediction > y->prediction) - (x->prediction < y->prediction);
}

/* Rows that are equal to it are alike: sums have one order. */
static int by_off(const void *a, const void *b)
{
    const gsai_held_number *x = a, *y = b;
    int by_weight = (x->weight > y->weight) - (x->weight < y->weight);
    return x->off != y->off ? (x->off > y->off) - (x->off < y->off) : by_weight;
}

/* Returns the residual of a level, seen from the nearer end of the rows, which are sorted. */
static double quantile_of(const gsai_held_number *row, size_t n, double p)
{
    const bool is_upper = p > 0.5;
    double total = 0, below = 0;
    for (size_t i = 0; i < n; i++)
        total += row[i].weight;
    const double up_to = (is_upper ? 1 - p : p) * total * ((double)n + 1) / (double)n;
    size_t i = 0;
    while (i < n && (below += row[is_upper ? n - 1 - i : i].weight) <= up_to * (1 + 1e-9))
        i++;
    i = i > 0 ? i - 1 : 0;
    return row[is_upper ? n - 1 - i : i].off;
}

void gsai_intervals_find(gsai_intervals *intervals, gsai_held_number *row, size_t n)
{
    intervals->n = 0;
    if (n < MIN_ROWS)
        return;
    size_t size = n / GSAI_INTERVAL_GROUPS;
    size = size < MIN_ROWS_OF_GROUP ? MIN_ROWS_OF_GROUP : size;
    qsort(row, n, sizeof *row, by_prediction);
    for (size_t from = 0, to; from < n; from = to) { /* rows of equal predictions are in one group */
        for (to = from + size; to < n && row[to].prediction == row[to - 1].prediction;)
            to++;
        to = to + size > n ? n : to;
        intervals->at[intervals->n] = row[from + (to - from) / 2].prediction;
        qsort(row + from, to - from, sizeof *row, by_off);
        for (size_t k = 0; k < GSAI_INTERVAL_LEVELS; k++)
            intervals->off[intervals->n][k] = (float)quantile_of(row + from, to - from, level[k]);
        intervals->n++;
    }
}

void gsai_intervals_move(gsai_intervals *intervals, double unit, double origin)
{
    for (size_t g = 0; g < intervals->n; g++) {
        intervals->at[g] = intervals->at[g] * unit + origin;
        for (size_t k = 0; k < GSAI_INTERVAL_LEVELS; k++)
            intervals->off[g][k] = (float)((double)intervals->off[g][k] * unit);
    }
}

static double between(double a, double b, double share)
{
    return a + (b - a) * share;
}

/* Returns a level of a group, between those of the table. */
static double off_at(const float *off, double p)
{
    size_t k = 1;
    while (k + 1 < GSAI_INTERVAL_LEVELS && level[k] < p)
        k++;
    double share = fmin(fmax((p - level[k - 1]) / (level[k] - level[k - 1]), 0), 1);
    return between((double)off[k - 1], (double)off[k], share);
}

void gsai_intervals_at(const gsai_intervals *intervals, double coverage, double prediction, double off[2])
{
    size_t g = 1;
    while (g + 1 < intervals->n && intervals->at[g] < prediction)
        g++;
    g = g < intervals->n ? g : 0;
    const size_t before = g > 0 ? g - 1 : 0;
    const double gap = intervals->at[g] - intervals->at[before];
    const double share = gap > 0 ? fmin(fmax((prediction - intervals->at[before]) / gap, 0), 1) : 0;
    for (size_t i = 0; i < 2; i++) {
        double p = (i == 0 ? 1 - coverage : 1 + coverage) / 2;
        off[i] = between(off_at(intervals->off[before], p), off_at(intervals->off[g], p), share);
    }
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

static const gsai_tensor_key at_key = {"interval.prediction", GSAI_F64, GSAI_FINITE},
                             off_key = {"interval.off", GSAI_F32, GSAI_FINITE};

void gsai_intervals_save(gsai_snapshot *snapshot, const gsai_intervals *intervals)
{
    if (intervals->n == 0)
        return;
    gsai_snapshot_add(snapshot, &at_key, intervals->at, intervals->n);
    gsai_snapshot_add(snapshot, &off_key, intervals->off, intervals->n * GSAI_INTERVAL_LEVELS);
}

gsa_status gsai_intervals_load(gsai_intervals *out, const gsai_bundle *bundle, gsa_error *error)
{
    const gsai_tensor *at, *off;
    out->n = 0;
    GSA_TRY(gsai_bundle_may_have(bundle, &at_key, GSAI_ANY_LEN, &at, error));
    if (!at)
        return GSA_OK;
    uint64_t n = gsai_tensor_len(at);
    if (n == 0 || n > GSAI_INTERVAL_GROUPS)
        return gsai_fail(error, GSA_FORMAT, "intervals of %llu groups are too many or none", (unsigned long long)n);
    GSA_TRY(gsai_bundle_need(bundle, &off_key, n * GSAI_INTERVAL_LEVELS, &off, error));
    memcpy(out->at, at->data, (size_t)n * sizeof *out->at);
    memcpy(out->off, off->data, (size_t)n * sizeof out->off[0]);
    out->n = n;
    return GSA_OK;
}
