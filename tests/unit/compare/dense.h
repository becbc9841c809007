/* Every baseline once more, the slow way: whole vectors at every row, straight from the formulas of the papers.
 *
 * Nothing is caught up with later, nothing is folded into sums: gradients are remembered as vectors, means are taken
 * over all that they are means of, averages are averages of iterates. Losses are written out anew too (dense_loss.h).
 * Shared with the code under test are the stream of random numbers and the order of rows, no more. */
#ifndef TESTS_UNIT_BASELINE_DENSE_H
#define TESTS_UNIT_BASELINE_DENSE_H

#include "unit/compare/dense_loss.h"

static inline void dense_sgd(dense *d, const uint32_t *order, size_t n, size_t at)
{
    (void)n;
    dense_gradient(d, d->w, order[at], d->gradient);
    for (size_t i = 0; i < d->n_cells; i++)
        d->w[i] -= d->knob[0] * d->gradient[i];
}

static inline void dense_sgd_decay(dense *d, const uint32_t *order, size_t n, size_t at)
{
    (void)n;
    double t0 = d->knob[1];
    dense_gradient(d, d->w, order[at], d->gradient);
    for (size_t i = 0; i < d->n_cells; i++)
        d->w[i] -= d->knob[0] / (1 + (d->t - 1) / t0) * d->gradient[i];
}

/* Polyak 1964: w_{t+1} = w_t - r gradient + beta (w_t - w_{t-1}). v[1]: w_{t-1}. */
static inline void dense_momentum(dense *d, const uint32_t *order, size_t n, size_t at)
{
    (void)n;
    dense_gradient(d, d->w, order[at], d->gradient);
    for (size_t i = 0; i < d->n_cells; i++) {
        double now = d->w[i];
        d->w[i] = now - d->knob[0] * d->gradient[i] + d->knob[1] * (now - d->v[1][i]);
        d->v[1][i] = now;
    }
}

/* w -= r (mean of all gradients so far). v[1]: the mean, by its recurrence. */
static inline void dense_gradient_average(dense *d, const uint32_t *order, size_t n, size_t at)
{
    (void)n;
    dense_gradient(d, d->w, order[at], d->gradient);
    for (size_t i = 0; i < d->n_cells; i++) {
        d->v[1][i] += (d->gradient[i] - d->v[1][i]) / d->t;
        d->w[i] -= d->knob[0] * d->v[1][i];
    }
}

/* v[0]: the mean of all iterates after w_0. */
static inline void dense_iterate_average(dense *d, const uint32_t *order, size_t n, size_t at)
{
    d->averages = true;
    dense_sgd(d, order, n, at);
    for (size_t i = 0; i < d->n_cells; i++)
        d->v[0][i] += (d->w[i] - d->v[0][i]) / d->t;
}

static inline void dense_adagrad(dense *d, const uint32_t *order, size_t n, size_t at)
{
    (void)n;
    dense_gradient(d, d->w, order[at], d->gradient);
    for (size_t i = 0; i < d->n_cells; i++) {
        d->v[1][i] += d->gradient[i] * d->gradient[i];
        d->w[i] -= d->knob[0] * d->gradient[i] / sqrt(d->v[1][i] + d->knob[1]);
    }
}

/* Zeiler 2012, Algorithm 1; gamma 0 stands for the mean over all rows, (t-1)/t. v[1]: E[g^2], v[2]: E[D^2]. */
static inline void dense_adadelta(dense *d, const uint32_t *order, size_t n, size_t at)
{
    (void)n;
    double eps = d->knob[0], rho = d->knob[1] > 0 ? d->knob[1] : (d->t - 1) / d->t;
    dense_gradient(d, d->w, order[at], d->gradient);
    for (size_t i = 0; i < d->n_cells; i++) {
        double g = d->gradient[i];
        d->v[1][i] = rho * d->v[1][i] + (1 - rho) * g * g;
        double move = -sqrt(d->v[2][i] + eps) / sqrt(d->v[1][i] + eps) * g;
        d->v[2][i] = rho * d->v[2][i] + (1 - rho) * move * move;
        d->w[i] += move;
    }
}

/* Sum of the remembered gradients of all rows, into v[1]; how many rows have been seen. */
static inline double dense_memory(dense *d)
{
    double n_seen = 0;
    memset(d->v[1], 0, d->n_cells * sizeof *d->w);
    for (size_t row = 0; row < d->n_rows; row++) {
        n_seen += d->seen[row];
        for (size_t i = 0; i < d->n_cells && d->seen[row]; i++)
            d->v[1][i] += d->remembered[row * d->n_cells + i];
    }
    return n_seen;
}

/* Schmidt, Le Roux, Bach 2013: the row's memory is renewed, then w -= r mean(memories of the rows seen). */
static inline void dense_sag(dense *d, const uint32_t *order, size_t n, size_t at)
{
    (void)n;
    size_t row = order[at];
    dense_gradient(d, d->w, row, d->remembered + row * d->n_cells);
    d->seen[row] = true;
    double n_seen = dense_memory(d);
    for (size_t i = 0; i < d->n_cells; i++)
        d->w[i] -= d->knob[0] * d->v[1][i] / n_seen;
}

/* Defazio, Bach, Lacoste-Julien 2014, eq. (1): w -= r (new - old + mean(memories of all rows, before)). */
static inline void dense_saga(dense *d, const uint32_t *order, size_t n, size_t at)
{
    (void)n;
    size_t row = order[at];
    double *old = d->remembered + row * d->n_cells;
    dense_gradient(d, d->w, row, d->gradient);
    dense_memory(d);
    for (size_t i = 0; i < d->n_cells; i++) {
        d->w[i] -= d->knob[0] * (d->gradient[i] - old[i] + d->v[1][i] / (double)d->n_rows);
        old[i] = d->gradient[i];
    }
    d->seen[row] = true;
}

/* v[1]: the snapshot, v[2]: its mean gradient, v[3]: scratch. */
static inline void dense_snapshot(dense *d, const uint32_t *order, size_t n, size_t from, size_t n_batch)
{
    memcpy(d->v[1], d->w, d->n_cells * sizeof *d->w);
    memset(d->v[2], 0, d->n_cells * sizeof *d->w);
    for (size_t j = from; j < from + n_batch; j++) {
        dense_gradient(d, d->v[1], order[j < n ? j : j - n], d->v[3]);
        for (size_t i = 0; i < d->n_cells; i++)
            d->v[2][i] += d->v[3][i] / (double)n_batch;
    }
}

static inline void dense_corrected(dense *d, size_t row)
{
    dense_gradient(d, d->w, row, d->gradient);
    dense_gradient(d, d->v[1], row, d->v[3]);
    for (size_t i = 0; i < d->n_cells; i++)
        d->w[i] -= d->knob[0] * (d->gradient[i] - d->v[3][i] + d->v[2][i]);
}

/* Johnson, Zhang 2013, option I with m = n. */
static inline void dense_svrg(dense *d, const uint32_t *order, size_t n, size_t at)
{
    if (at == 0)
        dense_snapshot(d, order, n, 0, n);
    dense_corrected(d, order[at]);
}

/* Lei, Jordan 2016: N rows a snapshot, N geometric: another row follows with probability q, one draw for all of them.
 * number[0]: rows left. */
static inline void dense_scsg(dense *d, const uint32_t *order, size_t n, size_t at)
{
    if (d->number[0] == 0) {
        size_t n_batch = d->knob[1] < (double)n ? (size_t)d->knob[1] : n;
        double q = 1 - 1 / (double)n_batch, u = gsai_rng_unit(&d->rng);
        dense_snapshot(d, order, n, at, n_batch);
        d->number[0] = 1;
        for (double still = q; u <= still; still *= q)
            d->number[0]++;
    }
    d->number[0]--;
    dense_corrected(d, order[at]);
}

/* Orabona, Tommasi 2017, Algorithm 2, w_1 = 0. v[1]: L, v[2]: G, v[3]: reward, v[4]: theta. */
static inline void dense_coin(dense *d, const uint32_t *order, size_t n, size_t at)
{
    (void)n;
    dense_gradient(d, d->w, order[at], d->gradient);
    for (size_t i = 0; i < d->n_cells; i++) {
        double g = -d->gradient[i], *most = &d->v[1][i], *sum = &d->v[2][i], *reward = &d->v[3][i];
        *most = fmax(*most, fabs(g));
        *sum += fabs(g);
        *reward = fmax(*reward + d->w[i] * g, 0);
        d->v[4][i] += g;
        if (*most > 0)
            d->w[i] = d->v[4][i] / (*most * fmax(*sum + *most, d->knob[0] * *most)) * (*most + *reward);
    }
}

/* Ivgi, Hinder, Carmon 2023. number: farthest, sum of squared gradients. v[0]: the average. */
static inline void dense_dog(dense *d, const uint32_t *order, size_t n, size_t at)
{
    (void)n;
    d->averages = true;
    dense_gradient(d, d->w, order[at], d->gradient);
    d->number[0] = fmax(fmax(d->number[0], sqrt(dense_squares(d, d->w))), d->knob[0]);
    d->number[1] += dense_squares(d, d->gradient);
    double c = 9 / (d->t + 8);
    for (size_t i = 0; i < d->n_cells; i++) {
        if (d->number[1] > 0)
            d->w[i] -= d->number[0] / sqrt(d->number[1]) * d->gradient[i];
        d->v[0][i] = (1 - c) * d->v[0][i] + c * d->w[i];
    }
}

/* Loizou et al. 2021: step = min(loss / (c |gradient|^2), bound); with tau the bound is the last step times
 * tau^(1 / rows). number[0]: the last step. */
static inline void dense_polyak(dense *d, const uint32_t *order, size_t n, size_t at)
{
    double loss = dense_gradient(d, d->w, order[at], d->gradient), squares = dense_squares(d, d->gradient);
    double bound = d->knob[1], tau = d->knob[2];
    if (squares == 0)
        return;
    if (tau > 0)
        bound = (d->number[0] > 0 ? d->number[0] : bound) * exp(log(tau) / (double)n);
    d->number[0] = fmin(loss / (d->knob[0] * squares), bound);
    for (size_t i = 0; i < d->n_cells; i++)
        d->w[i] -= d->number[0] * d->gradient[i];
}

/* McMahan et al. 2013, from the minimisation that the algorithm solves: the weights that minimise
 *   (sum of gradients) w + 1/2 sum_s sigma_s (w - w_s)^2 + L1 |w| + L2/2 w^2,  sum_{s <= t} sigma_s = (beta + sqrt N_t)
 * / alpha (beta / alpha at w_0 = 0). v[1]: sum of gradients, v[2]: N, v[3]: sum of sigma, v[4]: sum of sigma_s w_s. */
static inline void dense_ftrl(dense *d, const uint32_t *order, size_t n, size_t at)
{
    (void)n;
    double alpha = d->knob[0], beta = d->knob[1], l1 = d->knob[2], l2 = d->knob[3];
    dense_gradient(d, d->w, order[at], d->gradient);
    for (size_t i = 0; i < d->n_cells; i++) {
        d->v[1][i] += d->gradient[i];
        d->v[2][i] += d->gradient[i] * d->gradient[i];
        double sigmas = (beta + sqrt(d->v[2][i])) / alpha, before = d->t == 1 ? beta / alpha : d->v[3][i];
        d->v[4][i] += (sigmas - before) * d->w[i];
        d->v[3][i] = sigmas;
        double pull = d->v[4][i] - d->v[1][i]; /* the minimum of q/2 w^2 - pull w + L1 |w| */
        d->w[i] = (pull > l1 ? pull - l1 : pull < -l1 ? pull + l1 : 0) / (sigmas + l2);
    }
}

/* Defazio et al. 2024, warmup over a share of the first pass. v[0]: x, v[1]: y; w: z. number: sum of squared steps,
 * rows of warmup. */
static inline void dense_schedule_free(dense *d, const uint32_t *order, size_t n, size_t at)
{
    d->averages = true;
    double beta = d->knob[1], warmup = d->knob[2] * (double)n, step = d->knob[0] * (d->t < warmup ? d->t / warmup : 1);
    for (size_t i = 0; i < d->n_cells; i++)
        d->v[1][i] = (1 - beta) * d->w[i] + beta * d->v[0][i];
    dense_gradient(d, d->v[1], order[at], d->gradient);
    d->number[0] += step * step;
    double c = step * step / d->number[0];
    for (size_t i = 0; i < d->n_cells; i++) {
        d->w[i] -= step * d->gradient[i];
        d->v[0][i] = (1 - c) * d->v[0][i] + c * d->w[i];
    }
}

/* Partition p of P is rows ceil(p n / P) up to ceil((p + 1) n / P). v[1]: weights at the start of the pass, v[2]: sum
 * over partitions; number: steps of the partition, how many. */
static inline void dense_fregata(dense *d, const uint32_t *order, size_t n, size_t at)
{
    size_t parts = d->knob[0] < (double)n ? (size_t)d->knob[0] : n, size = d->n_cells * sizeof *d->w, row = order[at];
    double m[16], xx = 0;
    if (at == 0) {
        memcpy(d->v[1], d->w, size);
        memset(d->v[2], 0, size);
    }
    for (size_t p = 0; p < parts; p++)
        if (at == (p * n + parts - 1) / parts) {
            memcpy(d->w, d->v[1], size);
            d->number[0] = d->number[1] = 0;
        }
    for (size_t i = 0; i < d->n_slots; i++)
        xx += d->x[row * d->n_slots + i] * d->x[row * d->n_slots + i];
    dense_gradient(d, d->w, row, d->gradient);
    dense_margins(d, d->w, row, m);
    dense_scales(d, row, m);
    if (xx > 0) {
        d->number[0] += dense_lambda(d, m, d->problem->classes ? d->problem->classes[row] : 0) / xx;
        d->number[1]++;
        for (size_t i = 0; i < d->n_cells; i++)
            d->w[i] -= d->number[0] / d->number[1] * d->gradient[i];
    }
    for (size_t p = 1; p <= parts; p++)
        if (at + 1 == (p * n + parts - 1) / parts)
            for (size_t i = 0; i < d->n_cells; i++)
                d->v[2][i] += d->w[i];
    for (size_t i = 0; i < d->n_cells && at + 1 == n; i++)
        d->w[i] = d->v[2][i] / (double)parts;
}

static inline dense_learn *dense_find(const char *name)
{
    static const struct {
        const char *name;
        dense_learn *learn;
    } all[] = {
        {"sgd", dense_sgd},
        {"sgd-decay", dense_sgd_decay},
        {"momentum", dense_momentum},
        {"gradient-average", dense_gradient_average},
        {"iterate-average", dense_iterate_average},
        {"adagrad", dense_adagrad},
        {"adadelta", dense_adadelta},
        {"ftrl", dense_ftrl},
        {"schedule-free", dense_schedule_free},
        {"sag", dense_sag},
        {"saga", dense_saga},
        {"svrg", dense_svrg},
        {"scsg", dense_scsg},
        {"coin", dense_coin},
        {"dog", dense_dog},
        {"polyak", dense_polyak},
        {"fregata", dense_fregata},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(all[i].name, name) == 0)
            return all[i].learn;
    fail_msg("no dense %s to compare with", name);
    return NULL;
}

static inline dense *dense_new(const toy *t, const char *text, uint64_t seed)
{
    gsa_error error = {0};
    const gsai_method *method = NULL;
    dense *d = calloc(1, sizeof *d);
    must_be_ok(gsai_method_parse(text, &method, d->knob, &error), &error);
    d->problem = &t->problem;
    d->learn = dense_find(method->name);
    d->n_rows = t->batch.n_rows;
    d->n_slots = t->problem.n_features + 1;
    d->n_outputs = t->problem.n_outputs;
    d->n_cells = d->n_slots * d->n_outputs;
    d->rng = gsai_rng_of(seed, 0x0B5E, 0);
    d->x = calloc(d->n_rows * d->n_slots, sizeof(double));
    d->w = calloc(d->n_cells, sizeof(double));
    d->gradient = calloc(d->n_cells, sizeof(double));
    for (size_t i = 0; i < DENSE_VECTORS; i++)
        d->v[i] = calloc(d->n_cells, sizeof(double));
    d->remembered = calloc(d->n_rows * d->n_cells, sizeof(double));
    d->seen = calloc(d->n_rows, sizeof(bool));
    for (size_t row = 0; row < d->n_rows; row++) {
        d->x[row * d->n_slots] = t->problem.intercept;
        for (int64_t e = t->batch.row_start[row]; e < t->batch.row_start[row + 1]; e++)
            d->x[row * d->n_slots + t->batch.index[e] + 1] = (double)t->batch.value[e];
    }
    return d;
}

static inline void dense_pass(dense *d, const toy *t)
{
    for (size_t at = 0; at < d->n_rows; at++) {
        d->t++;
        d->learn(d, t->order, d->n_rows, at);
    }
}

static inline void dense_free(dense *d)
{
    free(d->x);
    free(d->w);
    free(d->gradient);
    for (size_t i = 0; i < DENSE_VECTORS; i++)
        free(d->v[i]);
    free(d->remembered);
    free(d->seen);
    free(d);
}

#endif
