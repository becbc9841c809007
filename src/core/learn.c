/* Learning one row.
 *
 * What is the same for every loss is here: the running mean of the greedy steps, the clock of the average, the row's
 * weight, the guards. How a step is proposed is the loss's business (loss/), how the mean is taken the method's
 * (method/). */
#include "core/kernel/kernel.h"
#include "core/loss/loss.h"
#include "core/method/method.h"
#include "core/state.h"

#include "base/error.h"
#include "base/memory.h"

#include <math.h>

/* A table's count is 32 bits: fold long before it can overflow. */
#define FOLD_AFTER ((uint64_t)1 << 31)

static void tick(gsa_state *state)
{
    gsa__clock *clock = &state->clock;
    clock->now++;
    if (clock->now != clock->restart)
        return;
    clock->first = clock->now;
    bool suffix = state->params.value[GSA__PARAM_average] == GSA__AVERAGE_SUFFIX;
    clock->restart = suffix ? 2 * clock->now : UINT64_MAX;
    gsa__table_clear_average(&state->table);
}

/* How far the update of this row lies behind the first of the average; 0 also where no average is asked for. */
static double lag_of(const gsa_state *state)
{
    if (state->params.value[GSA__PARAM_average] == GSA__AVERAGE_LAST)
        return 0;
    return (double)(state->clock.now - state->clock.first);
}

/* A row of weight c moves c times as far, but a heavy row not past the point where it is fitted, unless a row of weight
 * 1 would go there too (docs/decisions/0003-row-weights.md). `exact` is the row's own exact step. */
static double weighted_step(double mean_step, double c, double exact)
{
    if (c <= 1)
        return c * mean_step;
    double most = exact > mean_step ? exact : mean_step;
    return c * mean_step < most ? c * mean_step : most;
}

static gsa_status diverged(const gsa_state *state, gsa_error *error)
{
    if (state->loss == GSA__SQUARED)
        return gsa__fail(error, GSA_DIVERGED,
                         "squared loss diverged after %llu rows: the paper's step is too large where the lengths of "
                         "rows differ much; scale every feature to a similar range such as [-1, 1], or rows to equal "
                         "length",
                         (unsigned long long)state->n_rows);
    return gsa__fail(error, GSA_DIVERGED,
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

static void count_loss(gsa_state *state, double loss, double c)
{
    state->position.loss_sum += c * loss;
    state->position.loss_weight += c;
}

/* Losses of one margin. Proposes lambda = eta xx and the gradient scale g; exact_lambda only for heavy rows. */
static void propose_one(const gsa_state *state, double m, size_t class_number, double y, double c, double *loss,
                        double *g, double *lambda, double *exact_lambda)
{
    const gsa_margin_loss *custom = &state->params.custom_loss;
    gsa__logistic_row row;
    switch (state->loss) {
    case GSA__LOGISTIC:
        row = gsa__logistic(m, class_number == 1);
        *loss = row.loss;
        *g = row.g;
        *lambda = row.lambda;
        *exact_lambda = c > 1 ? gsa__logistic_exact(m, class_number == 1) : 0;
        return;
    case GSA__CUSTOM:
        *loss = custom->loss(custom->ctx, m, y);
        *g = custom->derivative(custom->ctx, m, y);
        *lambda = *exact_lambda = gsa__search_lambda(custom, m, y, *g);
        return;
    default:
        *loss = gsa__squared_loss(m, y);
        *g = m - y;
        *lambda = *exact_lambda = 1;
    }
}

static gsa_status learn_one(gsa_state *state, const gsa__row *row, double xx, size_t class_number, double y, double c,
                            gsa_error *error)
{
    bool intercept = state->params.value[GSA__PARAM_intercept];
    double m = gsa__dot_one(&state->table, row, intercept);
    double loss, g, lambda, exact_lambda;
    if (!isfinite(m))
        return diverged(state, error);
    propose_one(state, m, class_number, y, c, &loss, &g, &lambda, &exact_lambda);
    if (!isfinite(loss) || !isfinite(g) || (state->loss == GSA__SQUARED && squared_diverges(state, g, y, c)))
        return diverged(state, error);
    count_loss(state, loss, c);
    tick(state);
    if (xx == 0)
        return GSA_OK;
    double step = weighted_step(gsa__gsa_step(&state->step, lambda / xx, c), c, exact_lambda / xx);
    gsa__update_one(&state->table, row, intercept, -step * g, lag_of(state), c);
    return GSA_OK;
}

static gsa_status learn_many(gsa_state *state, const gsa__row *row, double xx, size_t class_number, double c,
                             gsa_error *error)
{
    bool intercept = state->params.value[GSA__PARAM_intercept];
    size_t n_classes = state->table.n_outputs;
    double *p = state->margins, *scale = state->scales, exact_lambda = 0;
    gsa__dot_many(&state->table, row, intercept, p);
    for (size_t k = 0; k < n_classes; k++)
        if (!isfinite(p[k]))
            return diverged(state, error);
    if (c > 1)
        exact_lambda = gsa__softmax_exact(p, n_classes, class_number);
    gsa__softmax_row proposal = gsa__softmax(p, n_classes, class_number);
    count_loss(state, proposal.loss, c);
    tick(state);
    if (xx == 0)
        return GSA_OK;
    double step = weighted_step(gsa__gsa_step(&state->step, proposal.lambda / xx, c), c, exact_lambda / xx);
    for (size_t k = 0; k < n_classes; k++)
        scale[k] = -step * p[k];
    scale[class_number] = step * proposal.rest;
    gsa__update_many(&state->table, row, intercept, scale, lag_of(state), c);
    return GSA_OK;
}

gsa_status gsa__state_fit_row(gsa_state *state, const gsa__row *row, double *xx, gsa_error *error)
{
    *xx = gsa__square_length(row, state->params.value[GSA__PARAM_intercept]);
    if (!isfinite(*xx))
        return gsa__fail(error, GSA_INPUT, "a value is not a finite number");
    return gsa__table_grow(&state->table, (size_t)gsa__row_width(row) + 1, &state->env, error);
}

gsa_status gsa__state_learn(gsa_state *state, const gsa__row *row, size_t class_number, double y, double c,
                            gsa_error *error)
{
    double xx;
    gsa_status status = gsa__state_fit_row(state, row, &xx, error);
    if (status != GSA_OK)
        return status;
    if (state->n_counted >= FOLD_AFTER && (status = gsa__state_fold(state, error)) != GSA_OK)
        return status;
    if (state->loss == GSA__SOFTMAX)
        status = learn_many(state, row, xx, class_number, c, error);
    else
        status = learn_one(state, row, xx, class_number, y, c, error);
    if (status == GSA_OK) {
        state->n_rows++;
        state->n_counted++;
    }
    return status;
}
