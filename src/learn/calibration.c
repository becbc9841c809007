/* Calibration by held-out rows.
 *
 * Weights that fit the rows they learned are too sure of themselves on others, or, early on, not sure enough. One
 * number cures both: the margins m become s m + b with the s and b that fit held-out rows best (b for one output only:
 * with one per class, the classes would need one each). The loss is convex in s and b, so that a few Newton steps find
 * them. Targets are smoothed as Platt (1999) does, (n_k + 1) / (n_k + 2) for the row's own class of n_k rows, so that
 * separable rows do not ask for infinite margins; a normal prior around 1 and 0 of unit width holds where rows are few.
 * With a log link it counts as the smallest label that is not 0, which is one event in whatever unit labels have.
 *
 * Squared loss is calibrated too, without smoothing or prior: a line through the predictions. Hinge losses get a scale:
 * steps of constant length leave their margins too long.
 *
 * Long runs over words meet ever more of them that were in a few rows only, whose weights are mostly noise. The weight
 * of a feature that was in n rows counts n / (n + shrinkage), as the mean of a normal posterior around 0 would, with
 * the shrinkage that the held-out rows ask for, if they do (docs/decisions/0015-shrinkage.md). */
#include "learn/calibration.h"
#include "learn/parts.h"

#include "base/error.h"
#include "base/memory.h"

#include <math.h>
#include <string.h>

/* ---- margins ----------------------------------------------------------------------------------------------------- */

/* Asks for the records of a row to come: those of a long run lie far apart. */
static void fetch_row(const gsai_table *table, const gsai_sample *sample, size_t i)
{
    if (i >= sample->n)
        return;
    gsai_row row = gsai_held_row_view(sample->at[i]);
    for (size_t e = 0; e < row.n; e++)
        if (row.index[e] < table->n_slots)
            __builtin_prefetch(gsai_table_slot(table, row.index[e]) + gsai_table_stride(table));
}

/* Held-out rows may have features that no learned row has: those have no slot. */
bool gsai_held_margins(const gsa_state *state, const gsai_table *table, double shrinkage, const gsai_env *stop,
                       double *margins)
{
    double total = gsai_state_average_total(state);
    for (size_t i = 0, n = gsai_sample_count(&state->sample); i < n; i++, margins += table->n_outputs) {
        gsai_row row = gsai_held_row_view(state->sample.at[i]);
        if (gsai_rows_should_stop(stop, table->n_outputs))
            return false;
        fetch_row(table, &state->sample, i + 1);
        memset(margins, 0, table->n_outputs * sizeof *margins);
        if (state->params.value[GSAI_PARAM_intercept])
            gsai_table_add_average(table, total, 0, 1, margins);
        for (size_t e = 0; e < row.n; e++) {
            size_t slot = (size_t)row.index[e] + 1;
            if (slot < table->n_slots)
                gsai_table_add_average(table, total, slot,
                                       (double)row.value[e] * gsai_state_shrinkage(state, slot, shrinkage), margins);
        }
    }
    return true;
}

/* ---- scale, offset, shrinkage ------------------------------------------------------------------------------------ */

#define NEWTON_STEPS 40
/* Rows above which a feature is not shrunk. */
#define MAX_SHRINKAGE 1e6
/* Standard errors of the improvement, for a shrinkage to be more than chance. */
#define SHRINKAGE_ERRORS 3
/* Two numbers are not found from less rows than this where no prior holds them. */
#define MIN_FREE_ROWS 16u

/* The held-out rows of a state. */
struct evidence {
    const gsai_loss *loss;
    const gsai_table *table;
    const gsai_sample *sample; /* whose hashes deal rows to folds: equal ones to the same */
    size_t n_folds, fold;      /* rows of this fold are left out; n_folds 0: none are */
    size_t n, n_outputs;
    gsai_calibration_row *row;    /* [n] */
    double *margins;              /* [n x n_outputs], and the other numbers behind them */
    double *class_weight;         /* [n_classes]: of the rows of each class */
    double *scratch;              /* [n_outputs] */
    double *row_loss, *sure_loss; /* [n]: of each row, and without a shrinkage */
    double copies;                /* rows behind one that is not a copy: a row counts for its share of them */
    double weight;                /* of all rows */
    double prior;                 /* of scale and offset, in units of the loss */
    bool offset;                  /* whether there is one to find */
    const gsai_env *stop;         /* NULL: never */
    bool *stopped;                /* it has asked for it: what follows is of a part of the rows, and for nothing */
};

static bool is_stopped(const struct evidence *e)
{
    return *e->stopped = *e->stopped || gsai_rows_should_stop(e->stop, e->n_outputs);
}

/* Returns the fold of a row; n_folds if it is of a common kind, which rows to come will repeat. */
static size_t fold_of(const struct evidence *e, size_t row)
{
    return e->sample->at[row]->weight > 0 ? e->sample->hash[row] % e->n_folds : e->n_folds;
}

static bool is_left_out(const struct evidence *e, size_t row)
{
    return e->fold < e->n_folds && fold_of(e, row) == e->fold;
}

static gsai_slope slope_at(const struct evidence *e, double scale, double offset)
{
    gsai_slope sum = {0};
    double p = e->prior, s = scale - 1;
    if (p > 0)
        sum = (gsai_slope){p * (s * s + offset * offset) / 2, {p * s, p * offset}, {p, 0, p}};
    for (size_t i = 0; i < e->n && !is_stopped(e); i++)
        if (!is_left_out(e, i))
            e->loss->add_slope(&e->row[i], scale, offset, &sum);
    if (!e->offset) {
        sum.g[1] = sum.h[1] = 0;
        sum.h[2] = 1;
    }
    return sum;
}

/* Newton's method on a convex function of two numbers, with steps that are halved until they help. A scale below 0
 * would turn the model round: then 0, a constant. */
static void fit(const struct evidence *e, gsai_calibration *out)
{
    gsai_slope at = slope_at(e, out->scale, out->offset);
    for (int i = 0; i < NEWTON_STEPS && !is_stopped(e); i++) {
        if (out->scale == 0 && at.g[0] > 0) /* held there, and the offset alone is left to find */
            at.g[0] = at.h[1] = 0;
        double det = at.h[0] * at.h[2] - at.h[1] * at.h[1];
        if (!(det > 1e-12 * at.h[0] * at.h[2]))
            return;
        double ds = (at.h[2] * at.g[0] - at.h[1] * at.g[1]) / det, db = (at.h[0] * at.g[1] - at.h[1] * at.g[0]) / det;
        if (!(ds * at.g[0] + db * at.g[1] > 1e-12 * (fabs(at.loss) + 1e-300)))
            return;
        gsai_slope next = at;
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
static double loss_with(const struct evidence *e, const gsai_calibration *calibration, double *loss)
{
    double sum = 0;
    for (size_t i = 0; i < e->n && !is_stopped(e); i++) {
        if (is_left_out(e, i))
            continue;
        for (size_t k = 0; k < e->n_outputs; k++)
            e->scratch[k] = calibration->scale * e->row[i].m[k] + calibration->offset;
        loss[i] = e->loss->value(e->scratch, e->n_outputs, &e->row[i].target);
        sum += e->row[i].c * loss[i];
    }
    return sum / e->weight;
}

/* The scale of a hinge loss, which is convex in it and has no curvature to follow: by golden section, which narrows it
 * to 2e-8. */
#define MAX_SCALE 4.0
#define SECTIONS 40

static void fit_scale(const struct evidence *e, gsai_calibration *out)
{
    const double ratio = 0.6180339887498949;
    double low = 0, high = MAX_SCALE;
    for (int i = 0; i < SECTIONS; i++) {
        gsai_calibration a = {.scale = high - ratio * (high - low)}, b = {.scale = low + ratio * (high - low)};
        if (loss_with(e, &a, e->row_loss) < loss_with(e, &b, e->row_loss))
            high = b.scale;
        else
            low = a.scale;
    }
    out->scale = (low + high) / 2;
}

/* By so many of its standard errors the mean loss is below that without a shrinkage. */
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
    const gsai_env *env = &state->env;
    size_t n = gsai_sample_count(&state->sample), n_numbers, n_outputs = state->table.n_outputs,
           n_classes = state->labels.n;
    e->copies = gsai_sample_copies(&state->sample);
    e->loss = state->loss;
    e->n_outputs = n_outputs;
    if (!gsai_multiply(n, n_outputs + 2, &n_numbers) || !gsai_add(n_numbers, n_outputs + n_classes, &n_numbers) ||
        !(e->row = gsai_alloc(env, n, sizeof *e->row)) ||
        !(e->margins = gsai_alloc_zeroed(env, n_numbers, sizeof *e->margins)))
        return gsai_fail_memory(env, error, "no memory for the margins of %zu held-out rows", n);
    e->row_loss = e->margins + n * n_outputs;
    e->sure_loss = e->row_loss + n;
    e->scratch = e->sure_loss + n;
    e->class_weight = e->scratch + n_outputs;
    for (size_t i = 0; i < n; i++) {
        const gsai_held_row *row = state->sample.at[i];
        e->row[i] = (gsai_calibration_row){e->margins + i * n_outputs, n_outputs, gsai_held_target(state, row),
                                           row->seen / e->copies,      0,         e->scratch};
    }
    e->n = n;
    e->sample = &state->sample;
    return GSA_OK;
}

/* Weighs the classes of the rows that are not left out. */
static void count_classes(struct evidence *e, const gsa_state *state)
{
    for (size_t k = 0; k < state->labels.n; k++)
        e->class_weight[k] = 0;
    for (size_t i = 0; i < e->n && state->labels.n > 0; i++)
        if (!is_left_out(e, i))
            e->class_weight[e->row[i].target.class_number] += state->sample.at[i]->seen / e->copies;
}

/* Rows count as given; with balanced classes, every class that is there counts the same. */
static void weigh(struct evidence *e, const gsa_state *state)
{
    bool balance = gsai_params_balance(&state->params) && state->params.value[GSAI_PARAM_method] != GSAI_METHOD_PAPER;
    size_t present = 0;
    count_classes(e, state);
    for (size_t k = 0; k < state->labels.n; k++)
        present += e->class_weight[k] > 0;
    double sum = 0;
    for (size_t i = 0; i < e->n; i++)
        sum += e->row[i].c;
    for (size_t i = 0; i < e->n; i++) {
        if (balance)
            e->row[i].c *= sum / ((double)present * e->class_weight[e->row[i].target.class_number]);
        e->weight += e->row[i].c;
    }
}

/* Smooths the targets by the rows that are not left out. */
static void smooth(struct evidence *e, const gsa_state *state)
{
    double all = 0, counted = 0;
    count_classes(e, state);
    for (size_t i = 0; i < e->n; i++) {
        all += state->sample.at[i]->seen;
        counted += is_left_out(e, i) ? 0 : state->sample.at[i]->seen;
    }
    double share = counted > 0 ? all / counted : 1; /* as large as the classes of all rows */
    for (size_t i = 0; i < e->n; i++) {
        double n_own = state->labels.n > 0 ? share * e->class_weight[e->row[i].target.class_number] : 0;
        e->row[i].off = 1 - (n_own + 1) / (n_own + 2);
    }
}

/* Returns the weight of the prior; 0: none. */
static double prior_of(const struct evidence *e)
{
    double least = INFINITY;
    for (size_t i = 0; i < e->n && e->loss->has_log_link; i++) {
        double events = e->row[i].c * e->row[i].target.y;
        least = events > 0 && events < least ? events : least;
    }
    return gsai_loss_has_probabilities(e->loss) ? 1 : isfinite(least) ? least : 0;
}

/* The best scale and offset for a shrinkage; those of `out` are where the search begins. */
static void fit_shrinkage(struct evidence *e, const gsa_state *state, bool fits, gsai_calibration *out)
{
    *e->stopped = *e->stopped || !gsai_held_margins(state, e->table, out->shrinkage, e->stop, e->margins);
    if (fits)
        fit(e, out);
    out->loss = loss_with(e, out, out->shrinkage > 0 ? e->row_loss : e->sure_loss);
}

/* A shrinkage is a power of two and grows while that pays: fourfold steps first, then half of one to either side. */
static void find_shrinkage(struct evidence *e, const gsa_state *state, gsai_calibration *best)
{
    gsai_calibration tried;
    for (double shrinkage = 4; shrinkage <= MAX_SHRINKAGE; shrinkage *= 4) {
        tried = *best;
        tried.shrinkage = shrinkage;
        fit_shrinkage(e, state, true, &tried);
        if (!(tried.loss < (1 - GSA_MIN_GAIN) * best->loss && errors_below(e) > SHRINKAGE_ERRORS))
            break;
        *best = tried;
    }
    double middle = best->shrinkage;
    for (int side = 0; side < 2 && middle > 0; side++) {
        tried = *best;
        tried.shrinkage = side == 0 ? middle / 2 : middle * 2;
        fit_shrinkage(e, state, true, &tried);
        if (tried.loss < best->loss)
            *best = tried;
    }
}

/* Gathers the held-out rows, without margins. */
static gsa_status evidence_make(struct evidence *e, const gsa_state *state, gsa_error *error)
{
    GSA_TRY(gather(e, state, error));
    e->offset = state->params.value[GSAI_PARAM_intercept] && e->n_outputs == 1;
    weigh(e, state);
    smooth(e, state);
    e->prior = prior_of(e);
    return GSA_OK;
}

static void evidence_free(struct evidence *e, const gsai_env *env)
{
    gsai_free(env, e->margins);
    gsai_free(env, e->row);
}

/* Returns whether the rows that are not left out can say something about scale and offset. */
static bool can_fit(const struct evidence *e, const gsa_state *state)
{
    size_t n = 0;
    for (size_t i = 0; i < e->n; i++)
        n += !is_left_out(e, i);
    bool is_paper = state->params.value[GSAI_PARAM_method] == GSAI_METHOD_PAPER;
    bool enough = e->loss->has_probabilities ? state->labels.n > 1 : n >= MIN_FREE_ROWS;
    return !is_paper && enough && (e->prior > 0 || !e->loss->has_log_link);
}

gsa_status gsai_calibrate(const gsa_state *state, const gsai_table *table, const gsai_env *stop, gsai_calibration *out,
                          gsa_error *error)
{
    bool stopped = false;
    struct evidence e = {.table = table, .stop = stop, .stopped = &stopped};
    *out = (gsai_calibration){1, 0, 0, NAN};
    if (!state->loss || gsai_state_lacks_loss(state) || gsai_sample_count(&state->sample) == 0)
        return GSA_OK;
    gsa_status status = evidence_make(&e, state, error);
    if (status == GSA_OK) {
        bool fits = can_fit(&e, state), by_slope = fits && e.loss->add_slope;
        fit_shrinkage(&e, state, by_slope, out);
        if (fits && e.loss->has_searchable_scale) {
            fit_scale(&e, out);
            out->loss = loss_with(&e, out, e.sure_loss);
        }
        if (by_slope)
            find_shrinkage(&e, state, out);
        if (stopped)
            status = gsai_fail(error, GSA_STOPPED, "stopped on request");
    }
    evidence_free(&e, &state->env);
    return status;
}

/* ---- predictions of held-out rows -------------------------------------------------------------------------------- */

/* With more rows, what two numbers learn from half of them is nearly what they learn from all. */
#define FOLDS 8u
#define MANY_ROWS 4096u

/* Computes the margins of the best checkpoint as they were before its calibration. */
static void checkpoint_margins(const gsa_state *state, double *margins)
{
    const gsai_best_checkpoint *best = &state->best_checkpoint;
    double unit = best->scale > 0 ? 1 / best->scale : 0;
    for (size_t i = 0, n = gsai_sample_count(&state->sample); i < n; i++, margins += best->n_outputs) {
        gsai_row row = gsai_held_row_view(state->sample.at[i]);
        for (size_t k = 0; k < best->n_outputs; k++)
            margins[k] = unit * ((double)best->weight[k] - best->offset);
        for (size_t e = 0; e < row.n; e++)
            for (size_t k = 0; k < best->n_outputs && (size_t)row.index[e] + 1 < best->n_slots; k++)
                margins[k] += unit * (double)row.value[e] *
                              (double)best->weight[((size_t)row.index[e] + 1) * best->n_outputs + k];
    }
}

/* Calibrates the rows of each fold by the others, and those of common kinds by all; `out` has room. */
static void predict_folds(struct evidence *e, const gsa_state *state, gsai_held_out *out)
{
    double sum = 0;
    e->n_folds = e->n < MANY_ROWS ? FOLDS : 2;
    for (e->fold = 0; e->fold <= e->n_folds; e->fold++) {
        gsai_calibration by = {.scale = 1};
        smooth(e, state);
        if (can_fit(e, state) && e->loss->add_slope)
            fit(e, &by);
        else if (can_fit(e, state) && e->loss->has_searchable_scale)
            fit_scale(e, &by);
        for (size_t i = 0; i < e->n * e->n_outputs; i++)
            if (fold_of(e, i / e->n_outputs) == e->fold)
                out->margins[i] = by.scale * e->margins[i] + by.offset;
    }
    for (size_t i = 0; i < e->n; i++) {
        memcpy(e->scratch, out->margins + i * e->n_outputs, e->n_outputs * sizeof *e->scratch);
        out->weight[i] = e->row[i].c;
        sum += e->row[i].c * e->loss->value(e->scratch, e->n_outputs, &e->row[i].target);
    }
    out->loss = sum / e->weight;
}

gsa_status gsai_held_out_predict(const gsa_state *state, const gsai_env *stop, gsai_held_out *out, gsa_error *error)
{
    const gsai_env *env = &state->env;
    const gsai_table *table = gsai_state_table(state);
    gsai_calibration calibration;
    bool stopped = false, uses_checkpoint = gsai_state_uses_checkpoint(state);
    struct evidence e = {.table = table, .stop = stop, .stopped = &stopped};
    *out = (gsai_held_out){.loss = NAN};
    if (!state->loss || gsai_state_lacks_loss(state) || gsai_sample_count(&state->sample) == 0)
        return GSA_OK;
    gsa_status status =
        uses_checkpoint ? GSA_OK : gsai_calibrate(state, table, stop, &calibration, error); /* for the shrinkage */
    if (status == GSA_OK)
        status = evidence_make(&e, state, error);
    if (status == GSA_OK && (!(out->margins = gsai_alloc(env, e.n * e.n_outputs, sizeof *out->margins)) ||
                             !(out->weight = gsai_alloc(env, e.n, sizeof *out->weight))))
        status = gsai_fail_memory(env, error, "no memory for the margins of %zu held-out rows", e.n);
    if (status == GSA_OK) {
        if (uses_checkpoint)
            checkpoint_margins(state, e.margins);
        else
            stopped = !gsai_held_margins(state, table, calibration.shrinkage, stop, e.margins);
        predict_folds(&e, state, out);
        if (stopped)
            status = gsai_fail(error, GSA_STOPPED, "stopped on request");
    }
    evidence_free(&e, env);
    return status;
}

void gsai_held_out_free(gsai_held_out *held_out, const gsai_env *env)
{
    gsai_free(env, held_out->margins);
    gsai_free(env, held_out->weight);
}

double gsai_calibrated(const gsai_calibration *calibration, const gsa_state *state, size_t slot, double weight)
{
    if (slot == 0)
        return calibration->scale * weight + calibration->offset;
    return weight == 0 ? 0 : calibration->scale * gsai_state_shrinkage(state, slot, calibration->shrinkage) * weight;
}

bool gsai_state_uses_checkpoint(const gsa_state *state)
{
    bool same_shape = state->best_checkpoint.weight && state->best_checkpoint.n_outputs == state->table.n_outputs;
    return gsai_sample_count(&state->sample) > 0 && state->params.value[GSAI_PARAM_method] != GSAI_METHOD_PAPER &&
           same_shape && state->best_checkpoint.pass < state->position.pass;
}
