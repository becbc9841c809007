/* Rows as whole vectors, and the three losses and the greedy step written out anew, with libm. For dense.h. */
#ifndef TESTS_UNIT_BASELINE_DENSE_LOSS_H
#define TESTS_UNIT_BASELINE_DENSE_LOSS_H

#include "unit/compare/problems.h"

#include <math.h>

#define DENSE_VECTORS 6

typedef struct dense dense;
typedef void dense_learn(dense *d, const uint32_t *order, size_t n, size_t at);

struct dense {
    const gsai_problem *problem;
    dense_learn *learn;
    size_t n_rows, n_slots, n_outputs, n_cells;
    double knob[GSAI_KNOBS];
    gsai_rng rng;
    double t;         /* rows learned, the present one included */
    double *x;        /* [rows x slots] */
    double *w;        /* the iterate */
    double *gradient; /* of the row */
    double *v[DENSE_VECTORS];
    double *remembered; /* [rows x cells]: the last gradient of every row */
    bool *seen;
    double number[3];
    bool averages; /* the answer is v[0], not w */
};

static inline const double *dense_answer(const dense *d)
{
    return d->averages ? d->v[0] : d->w;
}

/* Margins into probabilities; the loss. g_k = p_k - [k = y]. */
static inline double dense_scales(const dense *d, size_t row, double *m)
{
    if (d->problem->loss == &gsai_loss_squared) {
        m[0] -= d->problem->rows->label[row];
        return m[0] * m[0] / 2;
    }
    size_t y = d->problem->classes[row];
    if (d->problem->loss == &gsai_loss_logistic) {
        double loss = log1p(exp(y ? -m[0] : m[0]));
        m[0] = y ? -1 / (1 + exp(m[0])) : 1 / (1 + exp(-m[0]));
        return loss;
    }
    double total = 0, own;
    for (size_t k = 0; k < d->n_outputs; k++)
        total += m[k] = exp(m[k]);
    own = m[y] / total;
    for (size_t k = 0; k < d->n_outputs; k++)
        m[k] = m[k] / total - (k == y);
    return -log(own);
}

static inline void dense_margins(const dense *d, const double *w, size_t row, double *m)
{
    for (size_t k = 0; k < d->n_outputs; k++)
        m[k] = 0;
    for (size_t i = 0; i < d->n_cells; i++)
        m[i % d->n_outputs] += w[i] * d->x[row * d->n_slots + i / d->n_outputs];
}

static inline double dense_gradient(const dense *d, const double *w, size_t row, double *gradient)
{
    double m[16];
    dense_margins(d, w, row, m);
    double loss = dense_scales(d, row, m);
    for (size_t i = 0; i < d->n_cells; i++)
        gradient[i] = m[i % d->n_outputs] * d->x[row * d->n_slots + i / d->n_outputs];
    return loss;
}

static inline double dense_squares(const dense *d, const double *v)
{
    double sum = 0;
    for (size_t i = 0; i < d->n_cells; i++)
        sum += v[i] * v[i];
    return sum;
}

/* The paper's approximate step, times xx: K probabilities, of which a logistic row has two. */
static inline double dense_lambda(const dense *d, const double *g, size_t y)
{
    if (d->problem->loss == &gsai_loss_squared)
        return 1;
    bool logistic = d->problem->loss == &gsai_loss_logistic;
    size_t n_classes = logistic ? 2 : d->n_outputs;
    double growth = 0, own = logistic ? 1 - fabs(g[0]) : g[y] + 1;
    for (size_t j = 0; j < n_classes; j++) {
        double p = j == y ? own : logistic ? 1 - own : g[j];
        growth += p * (exp(p) - 1);
    }
    return (logistic ? 2 : 1) * (0.95 - own) / (0.95 * growth + own * (exp(1 - own) - 1));
}

#endif
