/* One minimisation: the optima of tests/golden/penalised.py, and gradients that vanish on other problems. */
#include "designs.h"

#include "golden/golden.h"
#include "solve/best_penalty.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define INVERSE_FREQUENCY 0.1875

/* A fit of a design, with all that it needs. */
typedef struct fitted {
    gsai_design design;
    gsai_problem problem;
    gsai_fit fit;
    gsai_arena arena;
    gsai_env env;
} fitted;

static int never(void *ctx)
{
    (void)ctx;
    return 0;
}

static int always(void *ctx)
{
    (void)ctx;
    return 1;
}

/* Every row whose number times seven is not a multiple of `without`; 0: all rows. */
static void make_fit(fitted *f, const gsai_loss *loss, bool has_intercept, bool standardised, size_t without)
{
    gsa_error error = {0};
    size_t n = 0;
    f->env = gsai_env_resolve(NULL);
    f->env.call.should_stop = never;
    f->arena = (gsai_arena){.env = &f->env};
    f->problem = (gsai_problem){.design = &f->design, .kernels = gsai_solve_kernels_best(), .env = &f->env};
    f->problem.loss = loss->rows;
    f->problem.has_intercept = has_intercept;
    f->problem.has_probabilities = loss == &gsai_loss_logistic || loss == &gsai_loss_softmax;
    f->problem.scale = gsai_arena_take(&f->arena, f->design.n_columns, sizeof(float));
    gsai_scale_columns(&f->problem, (gsai_column_scaling){standardised, INVERSE_FREQUENCY, NULL, NULL});
    gsai_fit_make(&f->fit, &f->problem, f->design.n_rows, f->design.n_columns, NULL, &f->arena);
    must_be_ok(gsai_arena_check(&f->arena, "a test", &error), &error);
    for (size_t i = 0; i < f->design.n_rows; i++)
        if (without == 0 || i * 7 % without != 0)
            f->fit.row[n++] = (uint32_t)i;
    gsai_fit_rows(&f->fit, n);
}

static void free_fit(fitted *f)
{
    gsai_arena_release(&f->arena);
    gsai_design_release(&f->design);
}

/* Curvature where the solver would guess it: as many as the rows weigh, a quarter of it for probabilities. */
static void make_inverse(fitted *f, double lambda, bool is_factored)
{
    size_t n_columns = f->design.n_columns, n = gsai_padded(n_columns);
    double curvature = f->problem.has_probabilities ? 0.25 : 1, weight = 0;
    f->fit.inverse = (gsai_inverse){0};
    for (size_t q = 0; q < f->fit.n_rows; q++)
        weight += (double)f->fit.weight[q];
    if (!is_factored) {
        f->fit.inverse.diagonal = gsai_arena_take(&f->arena, n_columns, sizeof(float));
        gsai_inverse_diagonal(&f->fit.inverse, &f->problem, n_columns, curvature * weight, &(gsai_penalty){lambda, 0});
        return;
    }
    float *gram = gsai_arena_take(&f->arena, n, n * sizeof(float));
    float *scratch = gsai_arena_take(&f->arena, gsai_gram_scratch(n) + gsai_factor_scratch(n), sizeof(float));
    f->fit.inverse.factor = gsai_arena_take(&f->arena, n, n * sizeof(float));
    gsai_gram_of(&f->problem, n_columns, f->fit.row, f->fit.n_rows, 1, f->design.weight, scratch, gram);
    gsai_inverse_factor(&f->fit.inverse, &f->problem, n_columns, gram, NULL, curvature, &(gsai_penalty){lambda, 0},
                        scratch);
}

static void minimise(fitted *f, double lambda, bool is_factored)
{
    gsa_error error = {0};
    make_inverse(f, lambda, is_factored);
    must_be_ok(gsai_fit_minimise(&f->fit, &(gsai_penalty){lambda, 0}, 1e-9, 500, &error), &error);
    assert_true(isfinite(f->fit.objective) && f->fit.n_iterations < 500);
}

/* ---- golden optima ----------------------------------------------------------------------------------------------- */

enum { CLASS_OF_2 = 3, CLASS_OF_3, NUMBER, PAIRS };

static rows *golden_rows(FILE *file, const char *data, size_t label)
{
    rows *r = rows_new();
    golden_line line;
    rewind(file);
    while (golden_next(file, "row", PAIRS + 1, &line)) {
        if (strcmp(line.field[1], data) != 0)
            continue;
        char *at = line.text + (line.field[PAIRS] - line.text);
        while (*at) {
            uint32_t id = (uint32_t)strtoul(at, &at, 10);
            rows_entry(r, id, strtof(at + 1, &at));
            at += *at == ' ';
        }
        rows_end(r, golden_number(&line, label));
        r->weight[r->n_rows - 1] = (float)golden_number(&line, 2);
    }
    return r;
}

static bool is_of(const golden_line *problem, const golden_line *line)
{
    for (size_t i = 1; i < 5; i++)
        if (strcmp(problem->field[i], line->field[i]) != 0)
            return false;
    return true;
}

static size_t column_of_id(const gsai_design *design, long id)
{
    for (size_t j = 1; j < design->n_columns; j++)
        if ((long)design->id[j] == id)
            return j;
    assert_true(id == -1);
    return 0;
}

static void assert_weights(FILE *file, const golden_line *problem, const fitted *f, double close)
{
    golden_line line;
    double max = 0;
    size_t n = 0;
    rewind(file);
    for (int round = 0; round < 2; round++, rewind(file))
        while (golden_next(file, "weight", 8, &line)) {
            if (!is_of(problem, &line))
                continue;
            double expected = golden_number(&line, 7);
            size_t j = column_of_id(&f->design, strtol(line.field[6], NULL, 10));
            if (round == 0)
                max = fmax(max, fabs(expected));
            else
                assert_close((double)f->fit.v[j * f->design.stride + strtoul(line.field[5], NULL, 10)], expected,
                             close * max);
            n += (size_t)round;
        }
    assert_int_equal(n, f->design.n_columns * f->design.n_outputs);
}

static void check_golden(FILE *file, const golden_line *problem, bool is_factored)
{
    bool many = strcmp(problem->field[2], "squared_hinge_many") == 0, has_intercept = problem->field[4][1] == 'n';
    const char *name = many ? "squared_hinge" : problem->field[2];
    double lambda = golden_number(problem, 3), objective = golden_number(problem, 5);
    const gsai_loss *loss = &gsai_loss_squared_hinge;
    size_t label = many ? CLASS_OF_3 : CLASS_OF_2;
    if (strcmp(name, "squared") == 0) {
        loss = &gsai_loss_squared;
        label = NUMBER;
    } else if (strcmp(name, "logistic") == 0) {
        loss = &gsai_loss_logistic;
    } else if (strcmp(name, "softmax") == 0) {
        loss = &gsai_loss_softmax;
        label = CLASS_OF_3;
    }
    rows *r = golden_rows(file, problem->field[1], label);
    fitted f = {.design = DESIGN(r, "loss", name, "intercept", problem->field[4])};
    assert_int_equal(f.design.width > 0, strcmp(problem->field[1], "dense") == 0);
    make_fit(&f, loss, has_intercept, true, 0);
    minimise(&f, lambda, is_factored);
    /* The highest other margin is rounded, to less than a tenth of log(3). */
    assert_close(f.fit.objective, objective, (many ? 5e-2 : 1e-6) * objective);
    if (!many)
        assert_weights(file, problem, &f, 1e-3);
    if (loss == &gsai_loss_squared && is_factored)
        assert_true(f.fit.n_iterations <= 3); /* the inverse is that of the whole problem */
    free_fit(&f);
    free(r);
}

static void fits_end_at_the_optimum(void **unused)
{
    (void)unused;
    FILE *file = fopen(GSA_GOLDEN_DIR "/penalised.csv", "r");
    golden_line line;
    size_t n_problems = 0;
    assert_non_null(file);
    for (long at = 0; fseek(file, at, SEEK_SET) == 0 && golden_next(file, "objective", 6, &line); n_problems++) {
        at = ftell(file);
        check_golden(file, &line, false);
        check_golden(file, &line, true);
    }
    assert_int_equal(n_problems, 2 * 2 * (2 * 4 + 1));
    fclose(file);
}

/* ---- other problems ---------------------------------------------------------------------------------------------- */

/* n rows of d features, each present in a share of them, with labels by a random rule; n_classes 0: numbers. */
static rows *planted_rows(size_t n, uint32_t d, double share, size_t n_classes)
{
    rows *r = rows_new();
    for (size_t i = 0; i < n; i++) {
        double score[20] = {0};
        for (uint32_t j = 0; j < d; j++) {
            if (unit_at(31, i * d + j) >= share)
                continue;
            float x = (float)(normal_at(32, i * d + j) * (1 + j % 4) + j % 3);
            rows_entry(r, j, x);
            for (size_t k = 0; k < 20; k++)
                score[k] += (double)x * normal_at(33, j * 20 + k) / sqrt(share * d);
        }
        size_t best = 0;
        for (size_t k = 0; k < n_classes; k++) {
            score[k] += normal_at(34, i * 20 + k);
            best = score[k] > score[best] ? k : best;
        }
        rows_end(r, n_classes ? (double)best : score[0]);
        r->weight[i] = (float)between(0.2, 2, 35, i);
    }
    return r;
}

/* z of a row and a column: centred and scaled. */
static double z_of(const fitted *f, size_t row, size_t j)
{
    const gsai_design *design = &f->design;
    double x = 0, scale = (double)f->problem.scale[j];
    if (j == 0)
        return scale;
    if (design->width > 0)
        return scale * (double)design->dense[row * design->width + j - 1];
    for (size_t t = design->start[row]; t < design->start[row + 1]; t++)
        x += design->column[t] == j ? (double)design->value[t] : 0;
    return scale * (x - (double)design->mean[j]);
}

/* The largest part of the gradient at v, relative to the sum of its terms, from margins in double. Of a weight of 0
 * with a sign only what would move it where it may go. */
static double gradient_left(const fitted *f, double lambda)
{
    const gsai_fit *fit = &f->fit;
    size_t stride = f->design.stride, n_outputs = f->design.n_outputs, n_columns = f->design.n_columns;
    double *gradient = calloc(n_columns * n_outputs, sizeof *gradient), *size = calloc(n_outputs, sizeof *size);
    double *z = calloc(n_columns, sizeof *z), max = 0, largest = 0;
    float margin[24], residual[24];
    for (size_t q = 0; q < fit->n_rows; q++) {
        memset(margin, 0, sizeof margin);
        for (size_t j = 0; j < n_columns; j++)
            z[j] = z_of(f, fit->row[q], j);
        for (size_t k = 0; k < n_outputs; k++) {
            double sum = 0;
            for (size_t j = 0; j < n_columns; j++)
                sum += z[j] * (double)fit->v[j * stride + k];
            margin[k] = (float)sum;
        }
        gsai_rows_at at = {.math = &f->problem.kernels->math, .n = 1, .n_outputs = n_outputs, .stride = stride};
        at.target = fit->target + q;
        at.weight = fit->weight + q;
        at.margin = margin;
        at.residual = residual;
        f->problem.loss(&at);
        for (size_t k = 0; k < n_outputs; k++)
            for (size_t j = 0; j < n_columns; j++) {
                gradient[j * n_outputs + k] += (double)residual[k] * z[j];
                size[k] += fabs((double)residual[k] * z[j]) / (double)n_columns;
            }
    }
    for (size_t j = 0; j < n_columns; j++)
        for (size_t k = 0; k < n_outputs; k++) {
            double penalty = j == 0 ? gsai_intercept_penalty(lambda) : lambda;
            double g = gradient[j * n_outputs + k] + penalty * (double)fit->v[j * stride + k];
            double sign = f->design.sign ? (double)f->design.sign[j] : 0;
            bool is_held = sign != 0 && fit->v[j] == 0 && sign * g >= 0;
            max = is_held ? max : fmax(max, fabs(g));
            largest = fmax(largest, size[k]);
        }
    free(gradient);
    free(size);
    free(z);
    return max / largest;
}

typedef struct shape {
    size_t n;
    uint32_t d;
    double share;
    size_t n_classes;
} shape;

static const shape SHAPES[] = {{300, 5, 1, 2},    {300, 30, 0.1, 2}, {300, 5, 1, 3},
                               {300, 30, 0.1, 9}, {200, 20, 1, 17},  {100, 100, 1, 2},
                               {50, 200, 0.2, 3}, {300, 15, 1, 0},   {300, 40, 0.2, 0}};

static void fit_shape(fitted *f, const shape *of, bool standardised, size_t without)
{
    const char *name = of->n_classes == 0 ? "squared" : of->n_classes == 2 ? "logistic" : "softmax";
    const gsai_loss *loss = of->n_classes == 0   ? &gsai_loss_squared
                            : of->n_classes == 2 ? &gsai_loss_logistic
                                                 : &gsai_loss_softmax;
    rows *r = planted_rows(of->n, of->d, of->share, of->n_classes);
    f->design = DESIGN(r, "loss", name);
    free(r);
    make_fit(f, loss, true, standardised, without);
}

static void gradients_vanish_at_the_end_of_a_fit(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < COUNT(SHAPES); i++)
        for (int is_factored = 0; is_factored < 2; is_factored++)
            for (int standardised = 0; standardised < 2; standardised++) {
                fitted f;
                fit_shape(&f, &SHAPES[i], standardised, i % 2 ? 5 : 0);
                double lambda = f.problem.squared_norm / 16;
                minimise(&f, lambda, is_factored);
                double left = gradient_left(&f, lambda);
                if (!(left < 2e-3))
                    fail_msg("shape %zu, inverse %d: %g of the gradient is left", i, is_factored, left);
                free_fit(&f);
            }
}

/* At the optimum weights of 0 would move to the wrong side or not at all, and all others have no gradient: for a convex
 * loss there is no better one. */
static void weights_with_signs_end_at_the_optimum(void **unused)
{
    (void)unused;
    size_t n_held = 0, n_moved = 0;
    for (size_t i = 0; i < COUNT(SHAPES); i++)
        for (int side = -1; side <= 1; side++) {
            fitted f;
            if (SHAPES[i].n_classes > 2)
                continue;
            fit_shape(&f, &SHAPES[i], true, i % 2 ? 5 : 0);
            f.design.sign = gsai_alloc_zeroed(&f.design.env, f.design.n_columns, sizeof *f.design.sign);
            assert_non_null(f.design.sign);
            for (size_t j = 1; j < f.design.n_columns; j++) /* by the feature: those of labels are both */
                f.design.sign[j] = (int8_t)(side != 0 ? side : (int)(f.design.id[j] % 3) - 1);
            for (size_t j = 1; j < f.design.n_columns; j++) /* where weights begin is of no account */
                f.fit.v[j] = i % 2 ? 0.1F : 0;
            double lambda = f.problem.squared_norm / 16;
            minimise(&f, lambda, true);
            double left = gradient_left(&f, lambda);
            if (!(left < 2e-3))
                fail_msg("shape %zu, side %d: %g of the gradient is left", i, side, left);
            for (size_t j = 1; j < f.design.n_columns; j++) {
                assert_true(f.fit.v[j] * (float)f.design.sign[j] >= 0);
                n_held += f.design.sign[j] != 0 && f.fit.v[j] == 0;
                n_moved += f.design.sign[j] != 0 && f.fit.v[j] != 0;
            }
            free_fit(&f);
        }
    assert_true(n_held > 50 && n_moved > 50);
}

static void a_fit_that_begins_at_the_optimum_stays_there(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < COUNT(SHAPES); i++) {
        gsa_error error = {0};
        fitted f;
        fit_shape(&f, &SHAPES[i], true, 0);
        minimise(&f, 1, true);
        double objective = f.fit.objective;
        must_be_ok(gsai_fit_minimise(&f.fit, &(gsai_penalty){1, 0}, 1e-6, 500, &error), &error);
        assert_true(f.fit.n_iterations <= 1);
        assert_close(f.fit.objective, objective, 1e-6 * objective);
        free_fit(&f);
    }
}

static void every_kernel_fits_to_the_same_bits(void **unused)
{
    (void)unused;
    const gsai_solve_kernels *kernels;
    for (size_t i = 0; i < COUNT(SHAPES); i++) {
        fitted plain;
        fit_shape(&plain, &SHAPES[i], true, 0);
        plain.problem.kernels = gsai_solve_kernels_at(0);
        minimise(&plain, 1, true);
        for (size_t number = 1; (kernels = gsai_solve_kernels_at(number)) != NULL; number++) {
            fitted wide;
            fit_shape(&wide, &SHAPES[i], true, 0);
            wide.problem.kernels = kernels;
            minimise(&wide, 1, true);
            assert_int_equal(wide.fit.n_iterations, plain.fit.n_iterations);
            assert_memory_equal(wide.fit.v, plain.fit.v, plain.fit.size * sizeof(float));
            free_fit(&wide);
        }
        free_fit(&plain);
    }
}

static void a_stop_ends_a_fit(void **unused)
{
    (void)unused;
    gsa_error error = {0};
    fitted f;
    fit_shape(&f, &SHAPES[0], true, 0);
    f.env.call.should_stop = always;
    make_inverse(&f, 1, true);
    assert_int_equal(gsai_fit_minimise(&f.fit, &(gsai_penalty){1, 0}, 1e-9, 500, &error), GSA_STOPPED);
    assert_int_equal(f.fit.n_iterations, 0);
    free_fit(&f);
}

/* ---- the parts --------------------------------------------------------------------------------------------------- */

static void margins_are_those_of_centred_and_scaled_values(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < COUNT(SHAPES); i++) {
        fitted f;
        fit_shape(&f, &SHAPES[i], false, 3);
        size_t stride = f.design.stride, n_columns = f.design.n_columns;
        for (size_t j = 0; j < n_columns; j++)
            for (size_t k = 0; k < f.design.n_outputs; k++)
                f.fit.v[j * stride + k] = (float)normal_at(41, j * stride + k);
        gsai_margins_of(&f.problem, n_columns, f.fit.row, f.fit.n_rows, f.fit.v, f.fit.scaled, f.fit.margin);
        for (size_t q = 0; q < f.fit.n_rows; q++)
            for (size_t k = 0; k < f.design.n_outputs; k++) {
                double sum = 0, size = 1;
                for (size_t j = 0; j < n_columns; j++) {
                    double z = z_of(&f, f.fit.row[q], j), v = (double)f.fit.v[j * stride + k];
                    sum += z * v;
                    size += fabs(z * v);
                }
                assert_close((double)f.fit.margin[q * stride + k], sum, 2e-6 * size);
            }
        free_fit(&f);
    }
}

/* Every step-th row counts step times; small curvatures count for 1e-6. */
static void check_gram(fitted *f, size_t step)
{
    size_t n_columns = f->design.n_columns, n = gsai_padded(n_columns);
    float *gram = gsai_arena_take(&f->arena, n, n * sizeof(float));
    float *scratch = gsai_arena_take(&f->arena, gsai_gram_scratch(n), sizeof(float));
    float *curvature = gsai_arena_take(&f->arena, f->design.n_rows, sizeof(float));
    for (size_t i = 0; i < f->design.n_rows; i++)
        curvature[i] = i % 11 == 3 ? 0 : (float)between(0, 0.25, 51, i);
    for (size_t j = 0; j < n_columns; j++)
        f->problem.scale[j] = 1; /* a Gram matrix is that of values before they are scaled */
    gsai_gram_of(&f->problem, n_columns, f->fit.row, f->fit.n_rows, step, curvature, scratch, gram);
    for (size_t a = 0; a < n_columns; a++)
        for (size_t b = 0; b <= a; b++) {
            double sum = 0, size = 0;
            for (size_t q = 0; q < f->fit.n_rows; q += step) {
                double c = (double)curvature[f->fit.row[q]], by = (c > 1e-6 ? c : 1e-6) * (double)step;
                double product = by * z_of(f, f->fit.row[q], a) * z_of(f, f->fit.row[q], b);
                sum += product;
                size += fabs(product);
            }
            assert_close((double)gram[a * n + b], sum, 2e-5 * (size + 1));
        }
}

static void grams_are_those_of_centred_values(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < COUNT(SHAPES); i++)
        for (size_t step = 1; step < 4; step++) {
            fitted f;
            fit_shape(&f, &SHAPES[i], true, 3);
            check_gram(&f, step);
            free_fit(&f);
        }
}

/* Of all rows without some of them it is that of the others. */
static void factors_leave_out_what_is_not_to_count(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < COUNT(SHAPES); i++) {
        fitted f;
        fit_shape(&f, &SHAPES[i], true, 3);
        size_t n_columns = f.design.n_columns, n = gsai_padded(n_columns), n_left = 0;
        uint32_t *left = gsai_arena_take(&f.arena, f.design.n_rows, sizeof *left);
        float *gram[3], *scratch;
        gsai_inverse inverse[2] = {{0}};
        scratch = gsai_arena_take(&f.arena, gsai_gram_scratch(n) + gsai_factor_scratch(n), sizeof(float));
        for (size_t g = 0; g < 3; g++)
            gram[g] = gsai_arena_take(&f.arena, n, n * sizeof(float));
        for (size_t row = 0; row < f.design.n_rows; row++)
            if (row * 7 % 3 == 0)
                left[n_left++] = (uint32_t)row;
        gsai_gram_of(&f.problem, n_columns, f.fit.row, f.fit.n_rows, 1, f.design.weight, scratch, gram[0]);
        gsai_gram_of(&f.problem, n_columns, left, n_left, 1, f.design.weight, scratch, gram[1]);
        for (size_t cell = 0; cell < n * n; cell++)
            gram[2][cell] = gram[0][cell] + gram[1][cell];
        for (size_t g = 0; g < 2; g++) {
            inverse[g].factor = gsai_arena_take(&f.arena, n, n * sizeof(float));
            gsai_inverse_factor(&inverse[g], &f.problem, n_columns, gram[2 * g], g ? gram[1] : NULL, 0.3,
                                &(gsai_penalty){2, 0}, scratch);
        }
        for (size_t a = 0; a < n_columns; a++)
            for (size_t b = 0; b <= a; b++)
                assert_close((double)inverse[1].factor[a * n + b], (double)inverse[0].factor[a * n + b], 1e-3);
        free_fit(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fits_end_at_the_optimum),
        cmocka_unit_test(gradients_vanish_at_the_end_of_a_fit),
        cmocka_unit_test(weights_with_signs_end_at_the_optimum),
        cmocka_unit_test(a_fit_that_begins_at_the_optimum_stays_there),
        cmocka_unit_test(every_kernel_fits_to_the_same_bits),
        cmocka_unit_test(a_stop_ends_a_fit),
        cmocka_unit_test(margins_are_those_of_centred_and_scaled_values),
        cmocka_unit_test(grams_are_those_of_centred_values),
        cmocka_unit_test(factors_leave_out_what_is_not_to_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
