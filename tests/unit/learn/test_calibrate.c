/* Calibration by held-out rows against a search that knows nothing of slopes: the objective as calibrate.c's head
 * states it, written down again with libm, and its minimum found by golden section. The states are made to measure: the
 * margin of output k of a row is the value of its feature k. */
#include "bytes.h"

#include "learn/calibration.h"
#include "learn/inside.h"
#include "learn/learner.h"
#include "learn/prepare.h"
#include "support/failing_memory.h"

#include <math.h>

#define MAX_CLASSES 5

/* ---- states made to measure -------------------------------------------------------------------------------------- */

static gsa_state *made_to_measure(gsa_state *state, size_t n_classes)
{
    gsa_error error = {0};
    rows *labels = rows_new();
    for (size_t k = 0; k < n_classes; k++)
        rows_end(labels, (double)k);
    gsa_batch batch = rows_batch(labels);
    if (n_classes > 0)
        prepare(state, &batch);
    size_t n_outputs = state->table.n_outputs;
    must_be_ok(gsai_table_grow(&state->table, n_outputs + 1, &state->env, &error), &error);
    for (size_t k = 0; k < n_outputs; k++) {
        gsai_table_slot(&state->table, k + 1)[k].f = 1;
        gsai_table_use(&state->table, k + 1);
    }
    free(labels);
    return state;
}

/* Into the sample, whatever their hashes are. */
static void hold(gsa_state *state, const gsa_batch *batch, size_t from, size_t n)
{
    gsa_error error = {0};
    state->sample.below = UINT64_MAX;
    for (size_t row = from; row < from + n; row++) {
        gsai_row view = gsai_row_at(batch, row);
        size_t class_number = 0;
        double c, y = 0;
        must_be_ok(gsai_row_weight(batch, row, &c, &error), &error);
        must_be_ok(gsai_label_take(state, batch, row, &class_number, &y, &error), &error);
        gsai_held_row *held = gsai_held_row_new(&view, gsai_row_features_hash(batch, row),
                                                gsai_row_features_hash(batch, row), class_number, y, c, &state->env);
        must_be_ok(gsai_sample_insert(&state->sample, held, &state->env, &error), &error);
    }
    gsai_sample_settle(&state->sample);
}

static gsai_calibration calibrated(const gsa_state *state)
{
    gsa_error error = {0};
    gsai_calibration out;
    must_be_ok(gsai_calibrate(state, gsai_state_table(state), NULL, &out, &error), &error);
    return out;
}

static double draw_normal(gsai_rng *rng)
{
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += gsai_rng_unit(rng);
    return sum;
}

/* Margins of width `spread`, labels drawn as if the true margins were scale m + offset. */
static rows *two_classes(uint64_t seed, size_t n, double spread, double scale, double offset)
{
    rows *r = rows_new();
    gsai_rng rng = gsai_rng_of(seed, 1, 1);
    for (size_t i = 0; i < n; i++) {
        float m = (float)(spread * (draw_normal(&rng) + 0.3));
        rows_entry(r, 0, m);
        rows_end(r, gsai_rng_unit(&rng) < 1 / (1 + exp(-scale * (double)m - offset)));
        r->weight[i] = (float)(0.25 + 2 * gsai_rng_unit(&rng));
    }
    return r;
}

static rows *many_classes(uint64_t seed, size_t n, size_t n_classes, double spread, double scale)
{
    rows *r = rows_new();
    gsai_rng rng = gsai_rng_of(seed, 2, 2);
    for (size_t i = 0; i < n; i++) {
        double p[MAX_CLASSES], total = 0;
        for (size_t k = 0; k < n_classes; k++) {
            float m = (float)(spread * draw_normal(&rng) + (k == 1));
            rows_entry(r, (uint32_t)k, m);
            total += p[k] = exp(scale * (double)m);
        }
        double u = gsai_rng_unit(&rng) * total;
        size_t k = 0;
        for (; k + 1 < n_classes && u > p[k]; k++)
            u -= p[k];
        rows_end(r, (double)k);
        r->weight[i] = (float)(0.25 + 2 * gsai_rng_unit(&rng));
    }
    return r;
}

/* ---- the stated objective, and its minimum ------------------------------------------------------------------------
 */

typedef struct question {
    const gsa_batch *batch;
    size_t n_classes;
    int balanced, offset;
    double fixed_scale; /* NaN: to be found */
} question;

static double weight_of(const gsa_batch *batch, size_t row)
{
    return batch->weight ? (double)batch->weight[row] : 1;
}

static double class_weight(const gsa_batch *batch, size_t k)
{
    double sum = 0;
    for (size_t row = 0; row < batch->n_rows; row++)
        sum += batch->label[row] == (double)k ? weight_of(batch, row) : 0;
    return sum;
}

/* With balanced classes all weigh the same and the whole weighs what it did. */
static double counted_weight(const question *q, const double *n_k, size_t row)
{
    double total = 0, present = 0;
    for (size_t k = 0; k < q->n_classes; k++) {
        total += n_k[k];
        present += n_k[k] > 0;
    }
    double c = weight_of(q->batch, row);
    return q->balanced ? c * total / (present * n_k[(size_t)q->batch->label[row]]) : c;
}

/* Cross entropy with a target of (n_k + 1) / (n_k + 2) for the own class, the rest shared by the others. */
static double cross_entropy(const double *z, size_t n_classes, size_t own, double target)
{
    double top = z[0], total = 0, sum = 0;
    for (size_t k = 1; k < n_classes; k++)
        top = z[k] > top ? z[k] : top;
    for (size_t k = 0; k < n_classes; k++)
        total += exp(z[k] - top);
    for (size_t k = 0; k < n_classes; k++)
        sum -= (k == own ? target : (1 - target) / (double)(n_classes - 1)) * (z[k] - top - log(total));
    return sum;
}

static double objective(const question *q, double s, double b)
{
    double n_k[MAX_CLASSES], sum = ((s - 1) * (s - 1) + b * b) / 2;
    for (size_t k = 0; k < q->n_classes; k++)
        n_k[k] = class_weight(q->batch, k);
    for (size_t row = 0; row < q->batch->n_rows; row++) {
        const float *m = q->batch->value + q->batch->row_start[row];
        size_t own = (size_t)q->batch->label[row];
        double z[MAX_CLASSES] = {0};
        if (q->n_classes == 2)
            z[1] = s * (double)m[0] + b;
        for (size_t k = 0; k < q->n_classes && q->n_classes > 2; k++)
            z[k] = s * (double)m[k];
        sum += counted_weight(q, n_k, row) * cross_entropy(z, q->n_classes, own, (n_k[own] + 1) / (n_k[own] + 2));
    }
    return sum;
}

typedef struct found {
    double s, b, value;
} found;

static found best_offset(const question *q, double s)
{
    const double ratio = (sqrt(5) - 1) / 2;
    double low = -8, high = 8;
    for (int i = 0; i < 45 && q->offset; i++) {
        double x = high - ratio * (high - low), y = low + ratio * (high - low);
        if (objective(q, s, x) < objective(q, s, y))
            high = y;
        else
            low = x;
    }
    found out = {s, q->offset ? (low + high) / 2 : 0, 0};
    out.value = objective(q, s, out.b);
    return out;
}

/* A grid over s first, so that nothing depends on the function having one valley. */
static found search(const question *q)
{
    const double ratio = (sqrt(5) - 1) / 2;
    found best = best_offset(q, isnan(q->fixed_scale) ? 0 : q->fixed_scale);
    if (!isnan(q->fixed_scale))
        return best;
    for (int i = 1; i <= 40; i++) {
        found at = best_offset(q, i * 0.25);
        best = at.value < best.value ? at : best;
    }
    double low = best.s > 0.25 ? best.s - 0.25 : 0, high = best.s + 0.25;
    for (int i = 0; i < 30; i++) {
        found x = best_offset(q, high - ratio * (high - low)), y = best_offset(q, low + ratio * (high - low));
        if (x.value < y.value)
            high = y.s;
        else
            low = x.s;
    }
    return best_offset(q, (low + high) / 2);
}

static void agrees(const gsai_calibration *out, const question *q)
{
    found best = search(q);
    assert_close(out->scale, best.s, 2e-4 * (1 + best.s));
    assert_close(out->offset, best.b, 2e-4 * (1 + fabs(best.b)));
    assert_close(objective(q, out->scale, out->offset), best.value, 1e-7 * fabs(best.value));
}

/* ---- two classes ---------------------------------------------------------------------------------------------------
 */

static gsa_state *logistic(const char *name, const char *value)
{
    return made_to_measure(state_with("method", "auto", "scale", "none", "average", "last", "loss", "logistic",
                                      name ? name : "average", name ? value : "last", NULL),
                           2);
}

static void one_output_gets_the_scale_and_offset_that_a_search_finds(void **unused)
{
    (void)unused;
    static const double truth[][3] = {{3, 0.4, 0.7}, {0.5, 2.5, -0.5}, {1, 1, 0}, {10, 0.05, 1.5}};
    for (size_t i = 0; i < sizeof truth / sizeof *truth; i++)
        for (int kind = 0; kind < 4; kind++) { /* plain, weighted rows, balanced classes, no intercept */
            rows *r = two_classes(i, 150, truth[i][0], truth[i][1], truth[i][2]);
            gsa_batch batch = rows_batch(r);
            batch.weight = kind == 1 || kind == 2 ? r->weight : NULL;
            gsa_state *state = logistic(kind == 2   ? "class_weight"
                                        : kind == 3 ? "intercept"
                                                    : NULL,
                                        kind == 2 ? "balanced" : "off");
            hold(state, &batch, 0, batch.n_rows);
            gsai_calibration out = calibrated(state);
            question q = {&batch, 2, kind == 2, kind != 3, NAN};
            agrees(&out, &q);
            gsa_state_free(state);
            free(r);
        }
}

static void margins_that_are_too_sure_shrink_and_timid_ones_grow(void **unused)
{
    (void)unused;
    for (int timid = 0; timid < 2; timid++) {
        double truth = timid ? 3 : 1.0 / 3;
        rows *r = two_classes(7, 3000, 1 / truth + 1, truth, 0);
        gsa_batch batch = rows_batch(r);
        gsa_state *state = logistic(NULL, NULL);
        hold(state, &batch, 0, batch.n_rows);
        gsai_calibration out = calibrated(state);
        assert_close(out.scale, truth, 0.2 * truth);
        assert_close(out.offset, 0, 0.2);
        assert_true(timid ? out.scale > 1 : out.scale < 1);
        gsa_state_free(state);
        free(r);
    }
}

static void random_labels_leave_hardly_any_scale(void **unused)
{
    (void)unused;
    for (uint64_t seed = 0; seed < 20; seed++) {
        rows *r = two_classes(seed, 1000, 2, 0, 0);
        gsa_batch batch = rows_batch(r);
        gsa_state *state = logistic(NULL, NULL);
        hold(state, &batch, 0, batch.n_rows);
        gsai_calibration out = calibrated(state);
        assert_true(out.scale >= 0 && out.scale < 0.12);
        gsa_state_free(state);
        free(r);
    }
}

/* Rows that say the opposite of the margins, with most labels on one side: a constant, the best one. */
static void a_model_that_is_wrong_throughout_becomes_the_best_constant(void **unused)
{
    (void)unused;
    for (uint64_t seed = 0; seed < 8; seed++)
        for (int balanced = 0; balanced < 2; balanced++) {
            rows *r = two_classes(seed, 300, 1.5, -0.8 - 0.2 * (double)seed, 2);
            for (size_t e = 0; e < r->n_entries; e++)
                r->value[e] += 2; /* scale and offset depend on each other */
            gsa_batch batch = rows_batch(r);
            gsa_state *state = logistic("class_weight", balanced ? "balanced" : "none");
            hold(state, &batch, 0, batch.n_rows);
            gsai_calibration out = calibrated(state);
            question q = {&batch, 2, balanced, 1, 0};
            assert_close(out.scale, 0, 0);
            agrees(&out, &q);
            gsa_state_free(state);
            free(r);
        }
}

static void separable_rows_do_not_ask_for_infinite_margins(void **unused)
{
    (void)unused;
    static const size_t sizes[] = {2, 10, 400};
    for (size_t i = 0; i < 3; i++) {
        rows *r = rows_new();
        for (size_t row = 0; row < sizes[i]; row++) {
            rows_entry(r, 0, (row % 2 ? 1.0f : -1.0f) * (0.5f + (float)row / 800));
            rows_end(r, (double)(row % 2));
        }
        gsa_batch batch = rows_batch(r);
        gsa_state *state = logistic(NULL, NULL);
        hold(state, &batch, 0, batch.n_rows);
        gsai_calibration out = calibrated(state);
        question q = {&batch, 2, 0, 1, NAN};
        assert_true(isfinite(out.scale) && out.scale > 1 && out.scale < 10);
        agrees(&out, &q);
        gsa_state_free(state);
        free(r);
    }
}

static void rows_of_one_class_only_are_calibrated_too(void **unused)
{
    (void)unused;
    rows *r = two_classes(3, 60, 1, 1, 0);
    for (size_t row = 0; row < r->n_rows; row++)
        r->label[row] = 1;
    gsa_batch batch = rows_batch(r);
    for (int balanced = 0; balanced < 2; balanced++) {
        gsa_state *state = logistic("class_weight", balanced ? "balanced" : "none");
        hold(state, &batch, 0, batch.n_rows);
        gsai_calibration out = calibrated(state);
        question q = {&batch, 2, balanced, 1, NAN};
        agrees(&out, &q);
        gsa_state_free(state);
    }
    free(r);
}

/* ---- more classes, numbers, the rest ------------------------------------------------------------------------------
 */

static void several_outputs_get_a_scale_and_no_offset(void **unused)
{
    (void)unused;
    static const double truth[][2] = {{2, 0.5}, {0.5, 3}, {3, 0}, {1.5, -1}};
    for (size_t i = 0; i < sizeof truth / sizeof *truth; i++)
        for (int kind = 0; kind < 3; kind++) {
            rows *r = many_classes(i, 200, 5, truth[i][0], truth[i][1]);
            gsa_batch batch = rows_batch(r);
            batch.weight = kind > 0 ? r->weight : NULL;
            gsa_state *state =
                made_to_measure(state_with("method", "auto", "scale", "none", "average", "last", "loss", "softmax",
                                           "class_weight", kind == 2 ? "balanced" : "none", NULL),
                                5);
            hold(state, &batch, 0, batch.n_rows);
            gsai_calibration out = calibrated(state);
            question q = {&batch, 5, kind == 2, 0, NAN};
            agrees(&out, &q);
            assert_close(out.offset, 0, 0);
            gsa_state_free(state);
            free(r);
        }
}

static gsa_state *squared(const char *intercept)
{
    return made_to_measure(state_with("method", "auto", "scale", "none", "average", "last", "loss", "squared",
                                      "intercept", intercept, NULL),
                           0);
}

static rows *numbers(uint64_t seed, size_t n, double slope, double offset)
{
    rows *r = rows_new();
    gsai_rng rng = gsai_rng_of(seed, 3, 3);
    for (size_t i = 0; i < n; i++) {
        float m = (float)(2 * draw_normal(&rng) + 5);
        rows_entry(r, 0, m);
        rows_end(r, slope * (double)m + offset + draw_normal(&rng));
        r->weight[i] = (float)(0.25 + 2 * gsai_rng_unit(&rng));
    }
    return r;
}

/* Least squares in closed form; through the origin without an intercept; a slope below 0 leaves the mean. */
static void numbers_get_the_line_of_least_squares(void **unused)
{
    (void)unused;
    static const double truth[][2] = {{1, 0}, {0.6, 3}, {2, -100}, {-0.5, 4}};
    for (size_t i = 0; i < sizeof truth / sizeof *truth; i++)
        for (int intercept = 0; intercept < 2; intercept++) {
            rows *r = numbers(i, 100, truth[i][0], truth[i][1]);
            gsa_batch batch = rows_batch(r);
            batch.weight = r->weight;
            double n = 0, m = 0, y = 0, mm = 0, my = 0;
            for (size_t row = 0; row < batch.n_rows; row++) {
                double c = (double)r->weight[row], x = (double)r->value[row];
                n += c;
                m += c * x;
                y += c * r->label[row];
                mm += c * x * x;
                my += c * x * r->label[row];
            }
            double slope = intercept ? (my - m * y / n) / (mm - m * m / n) : my / mm;
            slope = slope > 0 ? slope : 0;
            gsa_state *state = squared(intercept ? "on" : "off");
            hold(state, &batch, 0, batch.n_rows);
            gsai_calibration out = calibrated(state);
            assert_close(out.scale, slope, 1e-6 * (1 + slope));
            assert_close(out.offset, intercept ? (y - slope * m) / n : 0, 1e-5 * (1 + fabs(y / n)));
            gsa_state_free(state);
            free(r);
        }
}

static void fewer_than_sixteen_numbers_are_left_alone(void **unused)
{
    (void)unused;
    rows *r = numbers(1, 16, 0.5, 3);
    gsa_batch batch = rows_batch(r);
    gsa_state *state = squared("on");
    hold(state, &batch, 0, 15);
    gsai_calibration out = calibrated(state);
    assert_true(out.scale == 1 && out.offset == 0);
    assert_true(isfinite(out.loss));
    hold(state, &batch, 15, 1);
    out = calibrated(state);
    assert_true(out.scale != 1 && out.offset != 0);
    gsa_state_free(state);
    free(r);
}

/* Margins that are four times too long, and ten times too short. */
static void hinge_losses_get_the_scale_that_a_search_finds(void **unused)
{
    (void)unused;
    static const char *const losses[] = {"hinge", "squared_hinge"};
    for (size_t i = 0; i < 4; i++) {
        rows *r = two_classes(1 + i, 300, i < 2 ? 4 : 0.1, 0.3, 1);
        gsa_batch batch = rows_batch(r);
        gsa_state *state = made_to_measure(
            state_with("method", "auto", "loss", losses[i % 2], "scale", "none", "average", "last", NULL), 2);
        hold(state, &batch, 0, batch.n_rows);
        gsai_calibration out = calibrated(state);
        double best = INFINITY, at = 0;
        for (double scale = 0; scale <= 4; scale += 1e-3) {
            double sum = 0;
            for (size_t row = 0; row < state->sample.n; row++) {
                gsai_row held = gsai_held_row_view(state->sample.at[row]); /* one feature, whose weight is 1 */
                double margin = held.n > 0 ? (double)held.value[0] : 0;
                double h = fmax(0, 1 - scale * (state->sample.at[row]->class_number == 1 ? margin : -margin));
                sum += (i % 2 ? h * h / 2 : h) / (double)state->sample.n;
            }
            at = sum < best ? scale : at;
            best = fmin(best, sum);
        }
        assert_close(out.scale, at, 2e-2);
        assert_close(out.loss, best, 1e-4 * best);
        assert_true(out.offset == 0);
        gsa_state_free(state);
        free(r);
    }
}

static void the_papers_method_is_left_as_it_is(void **unused)
{
    (void)unused;
    static const char *const kinds[][2] = {
        {"paper", "logistic"}, {"paper", "squared"}, {"paper", "hinge"}, {"paper", "squared_hinge"}};
    rows *r = two_classes(1, 200, 4, 0.2, 1);
    gsa_batch batch = rows_batch(r);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        gsa_state *state = made_to_measure(
            state_with("method", kinds[i][0], "loss", kinds[i][1], "scale", "none", "average", "last", NULL),
            strcmp(kinds[i][1], "squared") == 0 ? 0 : 2);
        hold(state, &batch, 0, batch.n_rows);
        gsai_calibration out = calibrated(state);
        assert_true(out.scale == 1 && out.offset == 0 && isfinite(out.loss) && out.loss > 0);
        gsa_state_free(state);
    }
    free(r);
}

/* The loss that is told is the plain one, without smoothing or prior, under the calibrated margins. */
static void the_loss_is_that_of_the_calibrated_margins(void **unused)
{
    (void)unused;
    rows *r = two_classes(5, 200, 3, 0.4, 0.7);
    gsa_batch batch = rows_batch(r);
    batch.weight = r->weight;
    gsa_state *state = logistic(NULL, NULL);
    assert_true(isnan(calibrated(state).loss));
    hold(state, &batch, 0, batch.n_rows);
    gsai_calibration out = calibrated(state);
    double sum = 0, weight = 0;
    for (size_t row = 0; row < batch.n_rows; row++) {
        double z = out.scale * (double)r->value[row] + out.offset, c = (double)r->weight[row];
        sum += c * log1p(exp(r->label[row] == 1 ? -z : z));
        weight += c;
    }
    assert_close(out.loss, sum / weight, 1e-12);
    gsa_state_free(state);
    free(r);
}

static gsai_held_out predicted(const gsa_state *state)
{
    gsa_error error = {0};
    gsai_held_out out;
    gsai_calibration by = calibrated(state);
    must_be_ok(gsai_held_out_predict(state, &by, NULL, &out, &error), &error);
    return out;
}

/* Another label of a row changes how others are predicted, never the row itself. */
static void a_row_is_predicted_without_its_own_label(void **unused)
{
    (void)unused;
    static const char *const losses[] = {"logistic", "softmax", "squared", "poisson", "hinge"};
    for (size_t l = 0; l < sizeof losses / sizeof *losses; l++) {
        size_t n_classes = l == 1 ? 4 : l == 2 || l == 3 ? 0 : 2;
        rows *r = n_classes > 2 ? many_classes(6, 150, n_classes, 2, 0.5) : two_classes(5, 150, 1, 0.4, 0.7);
        gsa_batch batch = rows_batch(r);
        gsa_state *state =
            made_to_measure(state_with("method", "gsa", "loss", losses[l], "scale", "none", NULL), n_classes);
        hold(state, &batch, 0, batch.n_rows);
        gsai_held_out before = predicted(state);
        size_t width = state->table.n_outputs, size = width * sizeof(double), n_others = 0;
        double sum = 0, weight = 0;
        for (size_t i = 0; i < state->sample.n; i++) {
            gsai_target target = gsai_held_target(state, state->sample.at[i]);
            double margins[MAX_CLASSES];
            memcpy(margins, before.margins + i * width, size);
            sum += before.weight[i] * state->loss->value(margins, width, &target);
            weight += before.weight[i];
        }
        assert_close(before.loss, sum / weight, 1e-12);
        assert_close(gsa_state_held_out_loss(state), before.loss, 0);
        for (size_t i = 0; i < state->sample.n; i += 7) {
            gsai_held_row *row = state->sample.at[i];
            uint32_t class_number = row->class_number;
            double number = row->number;
            row->class_number = n_classes > 0 ? 1 - class_number % 2 : 0;
            row->number = number + 1;
            gsai_held_out after = predicted(state);
            assert_memory_equal(after.margins + i * width, before.margins + i * width, size);
            for (size_t j = 0; j < state->sample.n; j++)
                n_others += memcmp(after.margins + j * width, before.margins + j * width, size) != 0;
            gsai_free(&state->env, after.margins);
            row->class_number = class_number;
            row->number = number;
        }
        assert_true(n_others > state->sample.n);
        gsai_free(&state->env, before.margins);
        gsa_state_free(state);
        free(r);
    }
}

static void no_memory_is_a_status_and_no_leak(void **unused)
{
    (void)unused;
    rows *r = two_classes(9, 50, 3, 0.4, 0.7);
    gsa_batch batch = rows_batch(r);
    failing memory = {SIZE_MAX, 0};
    gsai_env env = failing_env(&memory);
    gsa_state *plain = logistic(NULL, NULL), *state;
    gsa_error error = {0};
    must_be_ok(state_in(&env.memory, plain, &state, &error), &error);
    hold(state, &batch, 0, 50);
    size_t live = memory.live;
    for (size_t n = 0; n <= 20; n++) {
        gsai_calibration out;
        memory.left = n;
        gsa_status status = gsai_calibrate(state, gsai_state_table(state), NULL, &out, &error);
        assert_int_equal(memory.live, live);
        if (status == GSA_OK) {
            assert_true(n >= 2);
            break;
        }
        assert_int_equal(status, GSA_MEMORY);
        assert_true(n < 20);
    }
    gsa_state_free(state);
    assert_int_equal(memory.live, 0);
    gsa_state_free(plain);
    free(r);
}

/* ---- rare features ----------------------------------------------------------------------------------------------- */

/* Two features of weight 1, in many rows and in few; of the second's margin `truth` is true. */
static gsa_state *common_and_rare(uint32_t rare_count, double truth)
{
    gsa_error error = {0};
    gsa_state *state =
        made_to_measure(state_with("method", "auto", "scale", "none", "average", "last", "loss", "logistic", NULL), 2);
    must_be_ok(gsai_table_grow(&state->table, 3, &state->env, &error), &error);
    gsai_table_slot(&state->table, 2)[0].f = 1;
    gsai_table_use(&state->table, 2);
    gsai_table_slot(&state->table, 1)[gsai_table_count(&state->table)].u = 1u << 30;
    gsai_table_slot(&state->table, 2)[gsai_table_count(&state->table)].u = rare_count;
    for (uint64_t part = 0; part < 5; part++) {
        rows *r = rows_new();
        gsai_rng rng = gsai_rng_of(part, 5, 5);
        for (size_t i = 0; i < MAX_ROWS; i++) {
            float common = (float)draw_normal(&rng), rare = (float)(2 * draw_normal(&rng));
            rows_entry(r, 0, common);
            rows_entry(r, 1, rare);
            rows_end(r, gsai_rng_unit(&rng) < 1 / (1 + exp(-(double)common - truth * (double)rare)));
        }
        gsa_batch batch = rows_batch(r);
        hold(state, &batch, 0, batch.n_rows);
        free(r);
    }
    return state;
}

static void weights_of_rare_features_are_doubted_as_much_as_held_out_rows_ask_for(void **unused)
{
    (void)unused;
    static const double truths[] = {0.8, 0.5, 0.2, 0.05};
    for (size_t i = 0; i < sizeof truths / sizeof *truths; i++) {
        gsa_state *state = common_and_rare(48, truths[i]);
        gsai_calibration out = calibrated(state);
        double share = gsai_state_shrinkage(state, 2, out.shrinkage);
        assert_true(fabs(log2(share / (1 - share)) - log2(truths[i] / (1 - truths[i]))) < 1); /* powers of two */
        assert_true(fabs(out.scale - 1) < 0.15);
        assert_true(fabs(gsai_calibrated(&out, state, 2, 1) - out.scale * 48 / (48 + out.shrinkage)) < 1e-12);
        assert_true(fabs(gsai_calibrated(&out, state, 1, 1) - out.scale) < 1e-4);
        gsa_state_free(state);
    }
    gsa_state *sure = common_and_rare(48, 1);
    assert_true(calibrated(sure).shrinkage == 0);
    gsa_state_free(sure);
}

/* Asks to stop once, after so many times. */
static int stop_once(void *ctx)
{
    unsigned *left = ctx;
    return (*left)-- == 0;
}

static int stop_always(void *ctx)
{
    ++*(unsigned *)ctx;
    return 1;
}

static void with_many_classes_a_request_to_stop_is_answered_amid_the_rows(void **unused)
{
    (void)unused;
    gsa_error error = {0};
    gsai_calibration out;
    gsa_model *model = NULL;
    gsa_state *state = state_with("method", "auto", "loss", "softmax", NULL);
    rows *r = rows_random(3, 2000, 20, 3);
    gsa_batch batch = rows_batch(r);
    for (size_t i = 0; i < r->n_rows; i++)
        r->label[i] = (double)(i % 300);
    learn(state, &batch);
    free(r);
    assert_true(state->table.n_outputs >= GSAI_MANY_OUTPUTS && state->sample.n > 100);
    for (unsigned after = 0; after < 400; after += 43) {
        unsigned left = after;
        gsai_env env = {ENV_SIZES, .call.should_stop = stop_once, .call.ctx = &left};
        assert_int_equal(gsai_calibrate(state, gsai_state_table(state), &env, &out, &error), GSA_STOPPED);
    }
    unsigned asked = 0;
    gsa_call call = {.size = sizeof call, .should_stop = stop_always, .ctx = &asked};
    must_be_ok(gsa_state_finish(state, &call, &model, &error), &error); /* the average as it is */
    assert_in_range(asked, 1, 20);
    for (uint64_t feature = 0; feature < 20; feature++)
        assert_true(gsa_model_weight(model, feature, 7) == (float)gsai_state_average(state, (size_t)feature + 1, 7));
    gsa_model_free(model);
    gsa_state_free(state);
}

static void with_few_classes_nothing_is_asked(void **unused)
{
    (void)unused;
    gsa_error error = {0};
    gsai_calibration out;
    gsa_state *state = state_with("method", "auto", "loss", "softmax", NULL);
    learn_random(state, 3, 2000, 20, 3);
    unsigned asked = 0;
    gsai_env env = {ENV_SIZES, .call.should_stop = stop_always, .call.ctx = &asked};
    must_be_ok(gsai_calibrate(state, gsai_state_table(state), &env, &out, &error), &error);
    assert_int_equal(asked, 0);
    gsa_state_free(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_output_gets_the_scale_and_offset_that_a_search_finds),
        cmocka_unit_test(margins_that_are_too_sure_shrink_and_timid_ones_grow),
        cmocka_unit_test(random_labels_leave_hardly_any_scale),
        cmocka_unit_test(a_model_that_is_wrong_throughout_becomes_the_best_constant),
        cmocka_unit_test(separable_rows_do_not_ask_for_infinite_margins),
        cmocka_unit_test(rows_of_one_class_only_are_calibrated_too),
        cmocka_unit_test(several_outputs_get_a_scale_and_no_offset),
        cmocka_unit_test(numbers_get_the_line_of_least_squares),
        cmocka_unit_test(fewer_than_sixteen_numbers_are_left_alone),
        cmocka_unit_test(hinge_losses_get_the_scale_that_a_search_finds),
        cmocka_unit_test(the_papers_method_is_left_as_it_is),
        cmocka_unit_test(the_loss_is_that_of_the_calibrated_margins),
        cmocka_unit_test(a_row_is_predicted_without_its_own_label),
        cmocka_unit_test(weights_of_rare_features_are_doubted_as_much_as_held_out_rows_ask_for),
        cmocka_unit_test(with_many_classes_a_request_to_stop_is_answered_amid_the_rows),
        cmocka_unit_test(with_few_classes_nothing_is_asked),
        cmocka_unit_test(no_memory_is_a_status_and_no_leak),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
