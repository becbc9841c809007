/* The losses of the solver against plain formulas in double, and against differences of those. */
#include "numbers.h"

#include "solve/kernel/solve_kernels.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const size_t N_ROWS[] = {1, 15, 256, 257, 1000};
static const double SPREADS[] = {0.1, 3, 30, 1e4};

/* ---- one row, in double ------------------------------------------------------------------------------------------ */

/* What a row of margins m and label y has: its loss, the derivatives g by its margins and the mean of the second ones.
 */
typedef struct exact {
    double loss, curvature;
    double g[GSAI_MAX_OUTPUTS];
    double p[GSAI_MAX_OUTPUTS];
    size_t highest;
} exact;

static void exact_softmax(const double *m, size_t n, size_t y, exact *out)
{
    double highest = m[0], sum = 0;
    for (size_t k = 1; k < n; k++)
        highest = m[k] > highest ? m[k] : highest;
    for (size_t k = 0; k < n; k++)
        sum += exp(m[k] - highest);
    out->loss = highest - m[y] + log(sum);
    out->curvature = 0;
    for (size_t k = 0; k < n; k++) {
        out->p[k] = exp(m[k] - highest) / sum;
        out->g[k] = out->p[k] - (k == y);
        out->curvature += out->p[k] * (1 - out->p[k]) / (double)n;
    }
}

/* The highest of the others is rounded: CORNER log sum e^(m / CORNER). */
#define CORNER 0.1

static void exact_squared_hinge(const double *m, size_t n, size_t y, exact *out)
{
    double sum = 0, even = 0;
    out->highest = y == 0 ? 1 : 0;
    for (size_t k = 0; k < n; k++)
        if (k != y && m[k] > m[out->highest])
            out->highest = k;
    for (size_t k = 0; k < n; k++) {
        out->p[k] = k == y ? 0 : exp((m[k] - m[out->highest]) / CORNER);
        sum += out->p[k];
    }
    double h = fmax(0, 1 + m[out->highest] + CORNER * log(sum) - m[y]);
    out->loss = h * h / 2;
    for (size_t k = 0; k < n; k++) {
        out->p[k] /= sum;
        even += out->p[k] * out->p[k];
        out->g[k] = h * (out->p[k] - (k == y));
    }
    out->curvature = h > 0 ? (1 + even + h / CORNER * (1 - even)) / (double)n : 0;
}

static void exact_one(const gsai_loss *loss, double m, double target, exact *out)
{
    double sign = target > 0.5 ? 1 : -1, v = sign * m, h = fmax(0, 1 - v);
    if (loss == &gsai_loss_squared) {
        *out = (exact){.loss = (m - target) * (m - target) / 2, .g = {m - target}, .curvature = 1};
    } else if (loss == &gsai_loss_logistic) {
        double rest = v > 0 ? exp(-v) / (1 + exp(-v)) : 1 / (1 + exp(v));
        out->loss = fmax(0, -v) + log1p(exp(-fabs(v)));
        out->g[0] = -sign * rest;
        out->curvature = rest * (1 - rest);
    } else {
        *out = (exact){.loss = h * h / 2, .g = {-sign * h}, .curvature = h > 0};
    }
}

static void exact_row(const gsai_loss *loss, const double *m, size_t n_outputs, double target, exact *out)
{
    if (n_outputs == 1)
        exact_one(loss, m[0], target, out);
    else if (loss == &gsai_loss_softmax)
        exact_softmax(m, n_outputs, (size_t)target, out);
    else
        exact_squared_hinge(m, n_outputs, (size_t)target, out);
}

/* The second derivative of a row's loss along z. */
static double exact_bending(const gsai_loss *loss, const exact *at, const double *z, size_t n_outputs, size_t y)
{
    double mean = 0, sum = 0;
    if (n_outputs == 1)
        return at->curvature * z[0] * z[0];
    for (size_t k = 0; k < n_outputs; k++)
        mean += at->p[k] * z[k];
    for (size_t k = 0; k < n_outputs; k++)
        sum += at->p[k] * (z[k] - mean) * (z[k] - mean);
    double h = sqrt(2 * at->loss);
    return loss == &gsai_loss_softmax ? sum : h > 0 ? (mean - z[y]) * (mean - z[y]) + h / CORNER * sum : 0;
}

/* ---- many rows --------------------------------------------------------------------------------------------------- */

typedef struct sample {
    const gsai_loss *loss;
    gsai_rows_at at;
    float *target, *weight, *margin, *direction;
} sample;

static float *padded_cells(uint64_t seed, const gsai_rows_at *at, double width)
{
    float *cell = calloc(at->n * at->stride, sizeof *cell);
    for (size_t i = 0; i < at->n; i++)
        for (size_t k = 0; k < at->n_outputs; k++)
            cell[i * at->stride + k] = (float)(normal_at(seed, i * at->n_outputs + k) * width);
    return cell;
}

/* Every tenth row has no weight. */
static sample sample_of(const gsai_loss *loss, size_t n, size_t n_outputs, double width, bool along)
{
    sample s = {.loss = loss};
    s.at = (gsai_rows_at){.math = &gsai_solve_kernels_at(0)->math, .n = n, .n_outputs = n_outputs};
    s.at.stride = n_outputs == 1 ? 1 : (n_outputs + 7) / 8 * 8;
    s.margin = padded_cells(1, &s.at, width);
    s.direction = along ? padded_cells(2, &s.at, width) : NULL;
    s.target = calloc(n, sizeof *s.target);
    s.weight = calloc(n, sizeof *s.weight);
    for (size_t i = 0; i < n; i++) {
        size_t n_classes = n_outputs == 1 ? 2 : n_outputs;
        s.target[i] = (float)(gsai_mix(i) % n_classes);
        if (loss == &gsai_loss_squared)
            s.target[i] = (float)normal_at(3, i);
        s.weight[i] = i % 10 == 9 ? 0 : (float)between(0.01, 3, 4, i);
    }
    s.at.target = s.target;
    s.at.weight = s.weight;
    s.at.margin = s.margin;
    s.at.direction = s.direction;
    s.at.step = along ? 0.37F : 0;
    return s;
}

static void sample_free(sample *s)
{
    free(s->target);
    free(s->weight);
    free(s->margin);
    free(s->direction);
}

/* The margins of a row where the sample is, as the floats that they are rounded to. */
static double margins_at(const sample *s, size_t row, double *m, double *z)
{
    double max = 0;
    for (size_t k = 0; k < s->at.n_outputs; k++) {
        size_t cell = row * s->at.stride + k;
        float along = s->direction ? s->at.step * s->direction[cell] : 0, at = s->margin[cell] + along;
        m[k] = (double)at;
        z[k] = s->direction ? (double)s->direction[cell] : 0;
        max = fmax(max, fmax(fabs(m[k]), fabs(z[k])));
    }
    return max;
}

/* Floats have 2^-24; a few of them are added up for a row. */
#define CLOSE 5e-7

static double assert_row(const sample *s, size_t row, const exact *expected, double max)
{
    const gsai_rows_at *at = &s->at;
    double weight = (double)at->weight[row],
           unit = s->loss == &gsai_loss_softmax || s->loss == &gsai_loss_logistic ? 1 : 1 + max;
    double close = CLOSE * weight, of_loss = close * (1 + expected->loss + (s->loss == &gsai_loss_softmax ? max : 0));
    if (s->loss == &gsai_loss_squared_hinge && at->n_outputs > 1) { /* margins are divided by CORNER */
        unit *= (1 + max) / CORNER;
        of_loss = close * (1 + max) * (1 + sqrt(2 * expected->loss));
    }
    assert_close((double)at->loss[row], weight * expected->loss, of_loss);
    assert_close((double)at->curvature[row], weight * expected->curvature, close * unit / CORNER);
    for (size_t k = 0; k < at->n_outputs; k++)
        assert_close((double)at->residual[row * at->stride + k], weight * expected->g[k], close * unit);
    for (size_t k = at->n_outputs; k < at->stride; k++)
        assert_true(at->residual[row * at->stride + k] == 0);
    return of_loss;
}

static void check(const gsai_loss *loss, size_t n, size_t n_outputs, double width, bool along)
{
    static exact expected;
    static double m[GSAI_MAX_OUTPUTS], z[GSAI_MAX_OUTPUTS];
    sample s = sample_of(loss, n, n_outputs, width, along);
    size_t n_cells = n * s.at.stride;
    double value = 0, slope = 0, bending = 0, off = 0, off_slope = 0, off_bending = 0;
    s.at.residual = malloc(n_cells * sizeof(float));
    s.at.curvature = malloc(n * sizeof(float));
    s.at.loss = malloc(n * sizeof(float));
    memset(s.at.residual, 0xFF, n_cells * sizeof(float));
    s.at.value = s.at.slope = s.at.bending = NAN;
    loss->rows(&s.at);
    for (size_t row = 0; row < n; row++) {
        double max = margins_at(&s, row, m, z), weight = (double)s.weight[row], sum = 0;
        exact_row(loss, m, n_outputs, (double)s.target[row], &expected);
        off += assert_row(&s, row, &expected, max);
        value += weight * expected.loss;
        for (size_t k = 0; k < n_outputs; k++)
            sum += expected.g[k] * z[k];
        slope += weight * sum;
        bending += weight * exact_bending(loss, &expected, z, n_outputs, s.target[row] > 0 ? (size_t)s.target[row] : 0);
        off_slope +=
            CLOSE * weight * (1 + max) * (loss == &gsai_loss_softmax || loss == &gsai_loss_logistic ? 1 : 1 + max);
        /* of a rounded corner, whose width divides */
        double steep = loss == &gsai_loss_squared_hinge && n_outputs > 1 ? (1 + max) / (CORNER * CORNER) : 1;
        off_bending += CLOSE * weight * (1 + max * max) * steep;
    }
    assert_close(s.at.value, value, off);
    assert_close(s.at.slope, slope, along ? off_slope : 0);
    assert_close(s.at.bending, bending, along ? off_bending : 0);
    free(s.at.residual);
    free(s.at.curvature);
    free(s.at.loss);
    sample_free(&s);
}

static void check_all(const gsai_loss *loss, size_t n_outputs)
{
    for (size_t r = 0; r < COUNT(N_ROWS); r++)
        for (size_t i = 0; i < COUNT(SPREADS) && N_ROWS[r] * n_outputs < 100000; i++)
            for (int along = 0; along < 2; along++)
                check(loss, N_ROWS[r], n_outputs, SPREADS[i], along);
}

static void losses_of_one_output_are_those_of_plain_formulas(void **unused)
{
    (void)unused;
    check_all(&gsai_loss_squared, 1);
    check_all(&gsai_loss_logistic, 1);
    check_all(&gsai_loss_squared_hinge, 1);
}

static void losses_of_many_classes_are_those_of_plain_formulas(void **unused)
{
    (void)unused;
    static const size_t n_classes[] = {2, 3, 7, 8, 9, 15, 16, 17, 40, 100, 300};
    for (size_t i = 0; i < COUNT(n_classes); i++) {
        check_all(&gsai_loss_softmax, n_classes[i]);
        check_all(&gsai_loss_squared_hinge, n_classes[i]);
    }
}

static void classes_may_be_as_many_as_stated(void **unused)
{
    (void)unused;
    static const size_t n_classes[] = {2049, 4088, GSAI_MAX_OUTPUTS};
    for (size_t i = 0; i < COUNT(n_classes); i++) {
        check(&gsai_loss_softmax, 3, n_classes[i], 3, true);
        check(&gsai_loss_softmax, 3, n_classes[i], 3, false);
        check(&gsai_loss_squared_hinge, 3, n_classes[i], 3, true);
    }
}

/* ---- differences ------------------------------------------------------------------------------------------------- */

/* The sum of losses of a sample at another step, in double. */
static double exact_value(const sample *s, double step)
{
    static exact row;
    double sum = 0, m[32];
    for (size_t i = 0; i < s->at.n; i++) {
        for (size_t k = 0; k < s->at.n_outputs; k++) {
            size_t cell = i * s->at.stride + k;
            m[k] = (double)s->margin[cell] + step * (double)s->direction[cell];
        }
        exact_row(s->loss, m, s->at.n_outputs, (double)s->target[i], &row);
        sum += (double)s->weight[i] * row.loss;
    }
    return sum;
}

static void slope_and_bending_are_those_of_small_steps(void **unused)
{
    (void)unused;
    static const gsai_loss *const losses[] = {&gsai_loss_squared, &gsai_loss_logistic, &gsai_loss_squared_hinge,
                                              &gsai_loss_softmax, &gsai_loss_squared_hinge};
    static const size_t n_outputs[] = {1, 1, 1, 5, 5};
    const double h = 1e-5;
    for (size_t i = 0; i < COUNT(losses); i++) {
        sample s = sample_of(losses[i], 257, n_outputs[i], 2, true);
        losses[i]->rows(&s.at);
        double step = (double)s.at.step, value = exact_value(&s, step);
        double above = exact_value(&s, step + h), below = exact_value(&s, step - h);
        assert_close(s.at.value, value, 1e-6 * value);
        assert_close(s.at.slope, (above - below) / (2 * h), 1e-5 * value);
        assert_close(s.at.bending, (above - 2 * value + below) / (h * h), 1e-3 * (value + s.at.bending));
        sample_free(&s);
    }
}

/* ---- what is asked for ------------------------------------------------------------------------------------------- */

static void what_is_not_wanted_changes_nothing(void **unused)
{
    (void)unused;
    static const size_t n_outputs[] = {1, 1, 5, 1, 5};
    static const gsai_loss *const losses[] = {&gsai_loss_squared, &gsai_loss_logistic, &gsai_loss_softmax,
                                              &gsai_loss_squared_hinge, &gsai_loss_squared_hinge};
    for (size_t i = 0; i < COUNT(losses); i++) {
        sample s = sample_of(losses[i], 300, n_outputs[i], 2, true);
        void (*function)(gsai_rows_at *) = losses[i]->rows;
        gsai_rows_at all = s.at, still = s.at;
        float *memory = calloc(300 * (s.at.stride + 2), sizeof *memory);
        all.residual = memory;
        all.curvature = memory + 300 * s.at.stride;
        all.loss = all.curvature + 300;
        function(&s.at);
        function(&all);
        assert_true(all.value == s.at.value && all.slope == s.at.slope && all.bending == s.at.bending);
        still.direction = NULL;
        function(&still);
        still.direction = s.at.direction;
        still.step = 0;
        double value = still.value;
        assert_true(still.slope == 0 && still.bending == 0);
        function(&still);
        assert_true(still.value == value && still.bending > 0);
        free(memory);
        sample_free(&s);
    }
}

static void every_kernel_gives_losses_of_the_same_bits(void **unused)
{
    (void)unused;
    const gsai_solve_kernels *kernels;
    for (size_t number = 1; (kernels = gsai_solve_kernels_at(number)) != NULL; number++)
        for (size_t n_outputs = 1; n_outputs < 40; n_outputs += 3) {
            const gsai_loss *loss = n_outputs == 1 ? &gsai_loss_logistic : &gsai_loss_softmax;
            sample s = sample_of(loss, 300, n_outputs, 2, true);
            gsai_rows_at wide = s.at;
            wide.math = &kernels->math;
            loss->rows(&s.at);
            loss->rows(&wide);
            assert_true(wide.value == s.at.value && wide.slope == s.at.slope && wide.bending == s.at.bending);
            sample_free(&s);
        }
}

static void curvatures_are_never_negative(void **unused)
{
    (void)unused;
    for (size_t n_outputs = 2; n_outputs < 12; n_outputs++)
        for (double width = 1; width < 100; width *= 2) {
            sample s = sample_of(&gsai_loss_softmax, 1000, n_outputs, width, false);
            float curvature[1000];
            s.at.curvature = curvature;
            gsai_loss_softmax.rows(&s.at);
            for (size_t i = 0; i < 1000; i++)
                if (!(curvature[i] >= 0))
                    fail_msg("%zu classes: row %zu has the curvature %g", n_outputs, i, (double)curvature[i]);
            sample_free(&s);
        }
}

static void losses_of_the_caller_are_not_solved(void **unused)
{
    (void)unused;
    assert_null(gsai_loss_custom.rows);
    assert_non_null(gsai_loss_hinge.rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(losses_of_one_output_are_those_of_plain_formulas),
        cmocka_unit_test(losses_of_many_classes_are_those_of_plain_formulas),
        cmocka_unit_test(classes_may_be_as_many_as_stated),
        cmocka_unit_test(slope_and_bending_are_those_of_small_steps),
        cmocka_unit_test(what_is_not_wanted_changes_nothing),
        cmocka_unit_test(every_kernel_gives_losses_of_the_same_bits),
        cmocka_unit_test(curvatures_are_never_negative),
        cmocka_unit_test(losses_of_the_caller_are_not_solved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
