/* Calibration by held-out rows.
 *
 * Weights that fit the rows they learned are too sure of themselves on others, or, early on, not sure enough. One
 * number cures both: the margins m become s m + b with the s and b that fit held-out rows best (b for one output only:
 * with one a class, the classes would need one each). The loss is convex in s and b, so that a few Newton steps find
 * them. Targets are smoothed as Platt (1999) does, (n_k + 1) / (n_k + 2) for the row's own class of n_k rows, so that
 * separable rows do not ask for infinite margins; a normal prior around 1 and 0 of unit width holds where rows are few.
 *
 * Squared loss is calibrated too, without smoothing or prior: a line through the predictions. Hinge losses get a scale:
 * steps of constant length leave their margins too long.
 *
 * Long runs over words meet ever more of them that were in a few rows only, whose weights are mostly noise. The weight
 * of a feature that was in n rows counts n / (n + doubt), as the mean of a normal posterior around 0 would, with the
 * doubt that the held-out rows ask for, if they do (docs/decisions/0015-doubt.md). */
#include "core/calibrate.h"

#include "base/error.h"
#include "base/memory.h"

#include <math.h>

#define NEWTON_STEPS 40
/* Rows; a feature that was in more is never in doubt. */
#define DOUBT_MOST 1e6
/* Standard errors of the gain, for a doubt to be more than chance. */
#define DOUBT_ERRORS 3
/* Two numbers are not found from less rows than this where no prior holds them. */
#define FREE_ROWS_LEAST 16u

/* The held-out rows of a state. */
struct evidence {
    const gsa__loss *loss;
    const gsa__table *table;
    size_t n, n_outputs;
    gsa__calibration_row *row;    /* [n] */
    double *margins;              /* [n x n_outputs], and the other numbers behind them */
    double *class_weight;         /* [n_classes]: of the rows of each class */
    double *scratch;              /* [n_outputs] */
    double *row_loss, *sure_loss; /* [n]: of each row, and without a doubt */
    double weight;                /* of all rows */
    bool offset;                  /* whether there is one to find */
    const gsa_env *stop;          /* NULL: never */
    bool *stopped;                /* it has asked for it: what follows is of a part of the rows, and for nothing */
};

static bool is_stopped(const struct evidence *e)
{
    return *e->stopped = *e->stopped || gsa__rows_should_stop(e->stop, e->n_outputs);
}

static gsa__slope slope_at(const struct evidence *e, double scale, double offset)
{
    gsa__slope sum = {0};
    if (gsa__loss_has_probabilities(e->loss))
        sum = (gsa__slope){((scale - 1) * (scale - 1) + offset * offset) / 2, {scale - 1, offset}, {1, 0, 1}};
    for (size_t i = 0; i < e->n && !is_stopped(e); i++)
        e->loss->add_slope(&e->row[i], scale, offset, &sum);
    if (!e->offset) {
        sum.g[1] = sum.h[1] = 0;
        sum.h[2] = 1;
    }
    return sum;
}

/* Newton's method on a convex function of two numbers, with steps that are halved until they help. A scale below 0
 * would turn the model round: then 0, a constant. */
static void fit(const struct evidence *e, gsa__calibration *out)
{
    gsa__slope at = slope_at(e, out->scale, out->offset);
    for (int i = 0; i < NEWTON_STEPS && !is_stopped(e); i++) {
        if (out->scale == 0 && at.g[0] > 0) /* held there, and the offset alone is left to find */
            at.g[0] = at.h[1] = 0;
        double det = at.h[0] * at.h[2] - at.h[1] * at.h[1];
        if (!(det > 1e-12 * at.h[0] * at.h[2]))
            return;
        double ds = (at.h[2] * at.g[0] - at.h[1] * at.g[1]) / det, db = (at.h[0] * at.g[1] - at.h[1] * at.g[0]) / det;
        if (!(ds * at.g[0] + db * at.g[1] > 1e-12 * (fabs(at.loss) + 1e-300)))
            return;
        gsa__slope next = at;
        double step = 1;
        for (; step > 1e-9; step /= 2) {
            double scale = out->scale - step * ds;
            next = slope_at(e, scale > 0 ? scale : 0, out->offset - step * db);
            if (next.loss < at.loss)
                break;
        }
        if (!(next.loss < at.loss))
            return;
        out->scale = out->scale - step * ds > 0 ? out->scale - step * ds : 0;
        out->offset -= step * db;
        at = next;
    }
}

/* Losses of the rows, and their mean. */
static double loss_with(const struct evidence *e, const gsa__calibration *calibration, double *loss)
{
    double sum = 0;
    for (size_t i = 0; i < e->n && !is_stopped(e); i++) {
        for (size_t k = 0; k < e->n_outputs; k++)
            e->scratch[k] = calibration->scale * e->row[i].m[k] + calibration->offset;
        loss[i] = e->loss->value(e->scratch, e->n_outputs, &e->row[i].target);
        sum += e->row[i].c * loss[i];
    }
    return sum / e->weight;
}

/* The scale of a hinge loss, which is convex in it and has no curvature to follow: by golden section, which narrows it
 * to 2e-8. */
#define SCALE_MOST 4.0
#define SECTIONS 40

static void fit_scale(const struct evidence *e, gsa__calibration *out)
{
    const double ratio = 0.6180339887498949;
    double low = 0, high = SCALE_MOST;
    for (int i = 0; i < SECTIONS; i++) {
        gsa__calibration a = {.scale = high - ratio * (high - low)}, b = {.scale = low + ratio * (high - low)};
        if (loss_with(e, &a, e->row_loss) < loss_with(e, &b, e->row_loss))
            high = b.scale;
        else
            low = a.scale;
    }
    out->scale = (low + high) / 2;
}

/* By so many of its standard errors the mean loss is below that without a doubt. */
static double errors_below(const struct evidence *e)
{
    double mean = 0, square = 0;
    for (size_t i = 0; i < e->n; i++)
        mean += e->row[i].c * (e->sure_loss[i] - e->row_loss[i]) / e->weight;
    for (size_t i = 0; i < e->n; i++) {
        double apart = e->row[i].c * (e->sure_loss[i] - e->row_loss[i] - mean) / e->weight;
        square += apart * apart;
    }
    return square > 0 ? mean / sqrt(square) : 0;
}

static gsa_status gather(struct evidence *e, const gsa_state *state, gsa_error *error)
{
    const gsa_env *env = &state->env;
    size_t n = state->sample.n, n_numbers, n_outputs = state->table.n_outputs, n_classes = state->labels.n;
    e->loss = state->loss;
    e->n_outputs = n_outputs;
    if (!gsa__multiply(n, n_outputs + 2, &n_numbers) || !gsa__add(n_numbers, n_outputs + n_classes, &n_numbers) ||
        !(e->row = gsa__alloc(env, n, sizeof *e->row)) ||
        !(e->margins = gsa__alloc_zeroed(env, n_numbers, sizeof *e->margins)))
        return gsa__fail_memory(env, error, "no memory for the margins of %zu held-out rows", n);
    e->row_loss = e->margins + n * n_outputs;
    e->sure_loss = e->row_loss + n;
    e->scratch = e->sure_loss + n;
    e->class_weight = e->scratch + n_outputs;
    for (size_t i = 0; i < n; i++) {
        const gsa__held_row *row = state->sample.at[i];
        e->row[i] = (gsa__calibration_row){
            e->margins + i * n_outputs, n_outputs, gsa__held_target(state, row), row->seen, 0, e->scratch};
        if (n_classes > 0)
            e->class_weight[row->class_number] += row->seen;
    }
    e->n = n;
    return GSA_OK;
}

/* Rows count as given; with balanced classes, every class that is there counts the same. */
static void weigh(struct evidence *e, const gsa_state *state)
{
    bool balance = gsa__params_balance(&state->params) && state->params.value[GSA__PARAM_method] != GSA__METHOD_PAPER;
    size_t present = 0;
    for (size_t k = 0; k < state->labels.n; k++)
        present += e->class_weight[k] > 0;
    double sum = 0;
    for (size_t i = 0; i < e->n; i++)
        sum += e->row[i].c;
    for (size_t i = 0; i < e->n; i++) {
        double n_own = state->labels.n > 0 ? e->class_weight[e->row[i].target.class_number] : 0;
        if (balance)
            e->row[i].c *= sum / ((double)present * n_own);
        e->row[i].off = 1 - (n_own + 1) / (n_own + 2);
        e->weight += e->row[i].c;
    }
}

/* The best scale and offset for a doubt; those of `out` are where the search begins. */
static void fit_doubt(struct evidence *e, const gsa_state *state, bool fits, gsa__calibration *out)
{
    *e->stopped = *e->stopped || !gsa__held_margins(state, e->table, out->doubt, e->stop, e->margins);
    if (fits)
        fit(e, out);
    out->loss = loss_with(e, out, out->doubt > 0 ? e->row_loss : e->sure_loss);
}

/* A doubt is a power of two and grows while that pays: fourfold steps first, then half of one to either side. */
static void find_doubt(struct evidence *e, const gsa_state *state, gsa__calibration *best)
{
    gsa__calibration tried;
    for (double doubt = 4; doubt <= DOUBT_MOST; doubt *= 4) {
        tried = *best;
        tried.doubt = doubt;
        fit_doubt(e, state, true, &tried);
        if (!(tried.loss < (1 - GSA_GAIN_LEAST) * best->loss && errors_below(e) > DOUBT_ERRORS))
            break;
        *best = tried;
    }
    double middle = best->doubt;
    for (int side = 0; side < 2 && middle > 0; side++) {
        tried = *best;
        tried.doubt = side == 0 ? middle / 2 : middle * 2;
        fit_doubt(e, state, true, &tried);
        if (tried.loss < best->loss)
            *best = tried;
    }
}

gsa_status gsa__calibrate(const gsa_state *state, const gsa__table *table, const gsa_env *stop, gsa__calibration *out,
                          gsa_error *error)
{
    bool stopped = false;
    struct evidence e = {.table = table, .stop = stop, .stopped = &stopped};
    *out = (gsa__calibration){1, 0, 0, NAN};
    if (!state->loss || gsa__state_lacks_loss(state))
        return GSA_OK;
    gsa_status status = gather(&e, state, error);
    e.offset = state->params.value[GSA__PARAM_intercept] && e.n_outputs == 1;
    if (status == GSA_OK && e.n > 0) {
        weigh(&e, state);
        bool is_paper = state->params.value[GSA__PARAM_method] == GSA__METHOD_PAPER;
        bool enough = e.loss->has_probabilities ? state->labels.n > 1 : e.n >= FREE_ROWS_LEAST;
        bool fits = !is_paper && enough && e.loss->add_slope;
        fit_doubt(&e, state, fits, out);
        if (!is_paper && enough && e.loss->has_searchable_scale) {
            fit_scale(&e, out);
            out->loss = loss_with(&e, out, e.sure_loss);
        }
        if (fits)
            find_doubt(&e, state, out);
        if (stopped)
            status = gsa__fail(error, GSA_STOPPED, "stopped on request");
    }
    gsa__free(&state->env, e.margins);
    gsa__free(&state->env, e.row);
    return status;
}
