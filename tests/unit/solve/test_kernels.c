/* The loops of the solver: wider vectors give the bits of the plain ones, and those are as exact as kernel.h says. */
#include "numbers.h"

#include "solve/kernel/solve_kernels.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const gsai_solve_kernels *plain(void)
{
    return gsai_solve_kernels_at(0);
}

static void assert_same_floats(const float *a, const float *b, size_t n, const char *what)
{
    for (size_t i = 0; i < n; i++)
        if (memcmp(a + i, b + i, sizeof *a) != 0)
            fail_msg("%s: number %zu is %a, expected %a", what, i, (double)b[i], (double)a[i]);
}

/* ---- exponentials and logarithms --------------------------------------------------------------------------------- */

typedef void (*over_array)(float *x, size_t n);

static void assert_same_function(over_array by_plain, over_array by_wide, double low, double high, const char *what)
{
    for (size_t n = 0; n < 70; n++) {
        float *a = malloc((n ? n : 1) * sizeof *a), *b;
        for (size_t i = 0; i < n; i++)
            a[i] = (float)between(low, high, n, i);
        b = copied(a, n);
        by_plain(a, n);
        by_wide(b, n);
        assert_same_floats(a, b, n, what);
        free(a);
        free(b);
    }
}

static void every_kernel_has_the_functions_of_the_plain_one(void **unused)
{
    (void)unused;
    const gsai_solve_kernels *wide;
    size_t number = 0;
    for (; (wide = gsai_solve_kernels_at(number)) != NULL; number++) {
        assert_same_function(plain()->math.exponentials, wide->math.exponentials, -100, 100, "exponentials");
        assert_same_function(plain()->math.exponentials, wide->math.exponentials, -1e-3, 1e-3, "exponentials");
        assert_same_function(plain()->math.exponentials, wide->math.exponentials, -1e30, 1e30, "exponentials");
        assert_same_function(plain()->math.log1ps, wide->math.log1ps, 0, 1, "log1ps");
        assert_same_function(plain()->math.log1ps, wide->math.log1ps, 0, 1e-6, "log1ps");
        assert_same_function(plain()->math.logarithms, wide->math.logarithms, 1, 2, "logarithms");
        assert_same_function(plain()->math.logarithms, wide->math.logarithms, 1, 1e6, "logarithms");
        assert_same_function(plain()->math.logarithms, wide->math.logarithms, 1, 0x1.fffffep125, "logarithms");
    }
    print_message("kernels on this machine: %zu, the best is %s\n", number, gsai_solve_kernels_best()->name);
}

/* 4096 numbers of a range at once; the largest error by a rule of the caller's. */
static double worst(over_array function, double low, double high, double (*error)(double x, double value))
{
    enum { N = 4096 };
    static float x[N], value[N];
    double max = 0;
    for (size_t i = 0; i < N; i++)
        x[i] = (float)(low + (high - low) * (double)i / (N - 1));
    memcpy(value, x, sizeof value);
    function(value, N);
    for (size_t i = 0; i < N; i++) {
        double e = error((double)x[i], (double)value[i]);
        max = e <= max ? max : e; /* NaN stays */
    }
    return max;
}

static double error_of_exponential(double x, double value)
{
    return fabs(value / exp(x) - 1);
}

static double error_of_log1p(double x, double value)
{
    return fabs(value - log1p(x));
}

static double error_of_logarithm(double x, double value)
{
    return fabs(value - log(x)) / (1 + log(x));
}

static void functions_are_as_exact_as_stated(void **unused)
{
    (void)unused;
    static const double exponents[][2] = {{-87, 88}, {-20, 0}, {-1, 1}, {-1e-4, 1e-4}, {-87, -86}, {87, 88}};
    for (size_t i = 0; i < COUNT(exponents); i++)
        assert_true(worst(plain()->math.exponentials, exponents[i][0], exponents[i][1], error_of_exponential) <= 2e-7);
    assert_true(worst(plain()->math.log1ps, 0, 1, error_of_log1p) <= 1.4e-7);
    assert_true(worst(plain()->math.log1ps, 0, 1e-5, error_of_log1p) <= 1e-12);
    for (double high = 2; high < 0x1p126; high *= 8)
        assert_true(worst(plain()->math.logarithms, 1, high, error_of_logarithm) <= 2e-7);
}

static void exponents_beyond_the_range_are_those_of_its_ends(void **unused)
{
    (void)unused;
    float x[] = {-87, 88, -88, 89, -1e4F, 1e4F, -INFINITY, INFINITY, 0};
    plain()->math.exponentials(x, COUNT(x));
    for (size_t i = 2; i < 8; i++)
        assert_true(x[i] == x[i % 2]);
    assert_true(x[8] == 1);
    float y[] = {0, 1};
    plain()->math.log1ps(y, 2);
    assert_true(y[0] == 0);
    float z[] = {1};
    plain()->math.logarithms(z, 1);
    assert_true(z[0] == 0);
}

/* ---- vectors ----------------------------------------------------------------------------------------------------- */

/* S1 word for word. */
static double dot_by_rule(const float *a, const float *b, size_t n)
{
    double total = 0;
    for (size_t from = 0; from < n; from += 4096) {
        float sum[16] = {0};
        for (size_t i = from; i < n && i < from + 4096; i++) {
            float product = a[i] * b[i];
            sum[i % 16] += product;
        }
        for (size_t j = 0; j < 16; j++)
            total += (double)sum[j];
    }
    return total;
}

static void dots_are_added_in_the_stated_order(void **unused)
{
    (void)unused;
    static const size_t sizes[] = {0, 16, 32, 48, 240, 4080, 4096, 4112, 8192, 20000};
    for (size_t i = 0; i < COUNT(sizes); i++) {
        size_t n = gsai_padded(sizes[i]);
        float *a = floats_at(i, n), *b = floats_at(100 + i, n);
        double expected = dot_by_rule(a, b, n), exact = 0, size = 0;
        const gsai_solve_kernels *kernels;
        for (size_t number = 0; (kernels = gsai_solve_kernels_at(number)) != NULL; number++)
            assert_true(kernels->math.dot(a, b, n) == expected);
        for (size_t j = 0; j < n; j++) {
            exact += (double)a[j] * (double)b[j];
            size += fabs((double)a[j] * (double)b[j]);
        }
        assert_close(expected, exact, 1e-6 * size);
        free(a);
        free(b);
    }
}

static void every_kernel_adds_vectors_alike(void **unused)
{
    (void)unused;
    const gsai_solve_kernels *wide;
    for (size_t number = 0; (wide = gsai_solve_kernels_at(number)) != NULL; number++)
        for (size_t n = 0; n < 100; n++) {
            float *a = floats_at(n, n), *b = floats_at(n, n), *from = floats_at(200 + n, n), by = (float)n / 7 - 3;
            wide->add(b, by, from, n);
            for (size_t i = 0; i < n; i++) {
                float product = by * from[i];
                a[i] += product;
            }
            assert_same_floats(a, b, n, "add");
            free(a);
            free(b);
            free(from);
        }
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

/* A matrix, dense or sparse, and the rows of it that are asked for: not all, out of order, some of them twice. */
typedef struct matrix {
    gsai_row_list list;
    size_t n_all, n_columns;
    uint32_t *row, *column;
    size_t *start;
    float *dense, *value;
} matrix;

static void make_dense(matrix *m, size_t width)
{
    m->dense = floats_at(m->n_all * 31 + width, m->n_all * m->n_columns);
    for (size_t i = 0; i < m->n_all; i++)
        for (size_t j = width; j < m->n_columns; j++)
            m->dense[i * m->n_columns + j] = 0;
    m->list.dense = m->dense;
    m->list.width = m->n_columns;
}

/* Row i has up to 22 entries; some rows have none. */
static void make_sparse(matrix *m)
{
    size_t max = 22;
    m->start = calloc(m->n_all + 1, sizeof *m->start);
    m->column = calloc(m->n_all * max + 1, sizeof *m->column);
    m->value = floats_at(m->n_all, m->n_all * max + 1);
    for (size_t i = 0; i < m->n_all; i++) {
        size_t n = gsai_mix(i + m->n_columns) % (max + 1), at = m->start[i];
        n = n < m->n_columns ? n : m->n_columns;
        for (size_t j = 0; j < n; j++)
            m->column[at + j] = (uint32_t)((i * 5 + j * (m->n_columns / n)) % m->n_columns);
        m->start[i + 1] = at + n;
    }
    m->list.start = m->start;
    m->list.column = m->column;
    m->list.value = m->value;
}

static matrix matrix_of(size_t n_rows, size_t width, bool sparse)
{
    matrix m = {.n_all = n_rows + 3, .n_columns = sparse ? width : gsai_padded(width)};
    m.row = calloc(n_rows + 1, sizeof *m.row);
    for (size_t q = 0; q < n_rows; q++)
        m.row[q] = (uint32_t)((q * 7 + 2) % m.n_all);
    m.list.row = m.row;
    m.list.n = n_rows;
    if (sparse)
        make_sparse(&m);
    else
        make_dense(&m, width);
    return m;
}

static void matrix_free(matrix *m)
{
    free(m->row);
    free(m->column);
    free(m->start);
    free(m->dense);
    free(m->value);
}

static double cell_of(const matrix *m, size_t q, size_t j)
{
    size_t row = m->row[q];
    double sum = 0;
    if (m->dense)
        return (double)m->dense[row * m->n_columns + j];
    for (size_t t = m->start[row]; t < m->start[row + 1]; t++)
        sum += m->column[t] == j ? (double)m->value[t] : 0;
    return sum;
}

/* out[a][k] = begin[a][k] + sum over b of x[a][b] (or x[b][a]) by[b][k], in double. */
static void assert_products(const matrix *m, bool transposed, const float *begin, const float *by, size_t stride,
                            const float *out)
{
    size_t n_out = transposed ? m->n_columns : m->list.n, n_in = transposed ? m->list.n : m->n_columns;
    for (size_t a = 0; a < n_out; a++)
        for (size_t k = 0; k < stride; k++) {
            double sum = (double)begin[a * stride + k], size = fabs(sum);
            for (size_t b = 0; b < n_in; b++) {
                double x = transposed ? cell_of(m, b, a) : cell_of(m, a, b), y = (double)by[b * stride + k];
                sum += x * y;
                size += fabs(x * y);
            }
            assert_close((double)out[a * stride + k], sum, 2e-6 * size);
        }
}

static void check_rows(const matrix *m, size_t stride, bool exactly)
{
    size_t n_margins = m->list.n * stride, n_weights = m->n_columns * stride;
    float *weight = floats_at(stride, n_weights), *margin = floats_at(2, n_margins);
    float *by_plain[2] = {copied(margin, n_margins), copied(weight, n_weights)};
    const gsai_solve_kernels *wide;
    plain()->margins(&m->list, weight, stride, by_plain[0]);
    plain()->sums(&m->list, margin, stride, by_plain[1]);
    if (exactly) {
        assert_products(m, false, margin, weight, stride, by_plain[0]);
        assert_products(m, true, weight, margin, stride, by_plain[1]);
    }
    for (size_t number = 1; (wide = gsai_solve_kernels_at(number)) != NULL; number++) {
        float *by_wide[2] = {copied(margin, n_margins), copied(weight, n_weights)};
        wide->margins(&m->list, weight, stride, by_wide[0]);
        wide->sums(&m->list, margin, stride, by_wide[1]);
        assert_same_floats(by_plain[0], by_wide[0], n_margins, "margins");
        assert_same_floats(by_plain[1], by_wide[1], n_weights, "sums");
        free(by_wide[0]);
        free(by_wide[1]);
    }
    free(weight);
    free(margin);
    free(by_plain[0]);
    free(by_plain[1]);
}

static void margins_and_sums_of_rows_are_exact_and_alike(void **unused)
{
    (void)unused;
    static const size_t n_rows[] = {0, 1, 2, 3, 4, 5, 7, 8, 9, 31, 63, 64, 65, 130};
    static const size_t widths[] = {1, 2, 15, 16, 17, 33, 100}, strides[] = {1, 8, 16, 24};
    for (size_t r = 0; r < COUNT(n_rows); r++)
        for (size_t w = 0; w < COUNT(widths); w++)
            for (int sparse = 0; sparse < 2; sparse++) {
                matrix m = matrix_of(n_rows[r], widths[w], sparse);
                for (size_t s = 0; s < COUNT(strides); s++)
                    check_rows(&m, strides[s], n_rows[r] * widths[w] < 2000);
                matrix_free(&m);
            }
}

/* ---- matrices ---------------------------------------------------------------------------------------------------- */

static void grams_are_exact_and_alike(void **unused)
{
    (void)unused;
    static const size_t n_rows[] = {0, 1, 2, 5, 63, 64}, sizes[] = {16, 32, 48, 112};
    for (size_t r = 0; r < COUNT(n_rows); r++)
        for (size_t s = 0; s < COUNT(sizes); s++) {
            size_t n = sizes[s], q = n_rows[r];
            float *x = floats_at(1, q * n), *y = floats_at(2, q * n), *begin = floats_at(3, n * n);
            float *expected = copied(begin, n * n);
            const gsai_solve_kernels *kernels;
            plain()->gram(x, y, q, n, expected);
            for (size_t a = 0; a < n; a++)
                for (size_t b = 0; b <= a; b++) {
                    double sum = (double)begin[a * n + b], size = fabs(sum);
                    for (size_t i = 0; i < q; i++) {
                        sum += (double)x[i * n + a] * (double)y[i * n + b];
                        size += fabs((double)x[i * n + a] * (double)y[i * n + b]);
                    }
                    assert_close((double)expected[a * n + b], sum, 2e-6 * size);
                }
            for (size_t number = 1; (kernels = gsai_solve_kernels_at(number)) != NULL; number++) {
                float *by_wide = copied(begin, n * n);
                kernels->gram(x, y, q, n, by_wide);
                for (size_t a = 0; a < n; a++)
                    assert_same_floats(expected + a * n, by_wide + a * n, a + 1, "gram");
                free(by_wide);
            }
            free(x);
            free(y);
            free(begin);
            free(expected);
        }
}

/* The lower triangle of X'X / 2n + 1/2 for 2n random rows, in rows of `stride`; the rest is not a number. */
static float *positive_matrix(size_t n, size_t stride)
{
    float *a = malloc(n * stride * sizeof *a);
    double *x = malloc(2 * n * n * sizeof *x);
    for (size_t i = 0; i < n * stride; i++)
        a[i] = NAN;
    for (size_t i = 0; i < 2 * n * n; i++)
        x[i] = between(-2, 2, n, i);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = i == j ? 0.5 : 0;
            for (size_t q = 0; q < 2 * n; q++)
                sum += x[q * n + i] * x[q * n + j] / (2 * (double)n);
            a[i * stride + j] = (float)sum;
        }
    free(x);
    return a;
}

/* How far L L' is from the matrix. */
static void assert_factor(const float *l, const float *a, size_t n, size_t stride)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = 0;
            for (size_t k = 0; k <= j; k++)
                sum += (double)l[i * stride + k] * (double)l[j * stride + k];
            assert_close(sum, (double)a[i * stride + j], 5e-6);
        }
}

static void assert_solution(const float *a, size_t n, size_t stride, const float *x, const float *b, size_t n_outputs)
{
    for (size_t k = 0; k < n_outputs; k++)
        for (size_t i = 0; i < n; i++) {
            double sum = 0, size = 0;
            for (size_t j = 0; j < n; j++) {
                double cell = (double)(j <= i ? a[i * stride + j] : a[j * stride + i]);
                sum += cell * (double)x[j * n_outputs + k];
                size += fabs(cell * (double)x[j * n_outputs + k]);
            }
            assert_close(sum, (double)b[i * n_outputs + k], 5e-6 * (size + 200));
        }
}

static void check_solutions(const float *a, const float *l, size_t n, size_t stride)
{
    static const size_t outputs[] = {1, 8, 16, 24, 40};
    for (size_t o = 0; o < COUNT(outputs); o++) {
        size_t n_cells = n * outputs[o];
        float *b = floats_at(n + o, n_cells), *x = copied(b, n_cells);
        const gsai_solve_kernels *kernels;
        plain()->solve(l, n, stride, x, outputs[o]);
        assert_solution(a, n, stride, x, b, outputs[o]);
        for (size_t number = 1; (kernels = gsai_solve_kernels_at(number)) != NULL; number++) {
            float *y = copied(b, n_cells);
            kernels->solve(l, n, stride, y, outputs[o]);
            assert_same_floats(x, y, n_cells, "solve");
            free(y);
        }
        free(b);
        free(x);
    }
}

static void factors_and_solutions_are_exact_and_alike(void **unused)
{
    (void)unused;
    static const size_t sizes[] = {1, 2, 3, 4, 5, 15, 16, 17, 31, 32, 33, 47, 63, 64, 65, 97, 130};
    for (size_t s = 0; s < COUNT(sizes); s++) {
        size_t n = sizes[s], stride = gsai_padded(n) + (s % 3 == 2 ? GSAI_PAD : 0);
        float *a = positive_matrix(n, stride), *l = copied(a, n * stride);
        float *scratch = malloc(gsai_factor_scratch(n) * sizeof *scratch);
        const gsai_solve_kernels *kernels;
        plain()->factor(l, n, stride, 1e-6F, scratch);
        assert_factor(l, a, n, stride);
        for (size_t number = 1; (kernels = gsai_solve_kernels_at(number)) != NULL; number++) {
            float *by_wide = copied(a, n * stride);
            kernels->factor(by_wide, n, stride, 1e-6F, scratch);
            for (size_t i = 0; i < n; i++)
                assert_same_floats(l + i * stride, by_wide + i * stride, i + 1, "factor");
            free(by_wide);
        }
        check_solutions(a, l, n, stride);
        free(a);
        free(l);
        free(scratch);
    }
}

static void pivots_are_at_least_what_is_asked_for(void **unused)
{
    (void)unused;
    enum { N = 70, STRIDE = 80 };
    static float a[N * STRIDE], scratch[32 * STRIDE];
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j <= i; j++)
            a[i * STRIDE + j] = i % 2 == j % 2 ? 1 : 0.5F; /* of rank 2 */
    plain()->factor(a, N, STRIDE, 0.25F, scratch);
    for (size_t i = 0; i < N; i++) {
        assert_true(a[i * STRIDE + i] >= 0.5F);
        for (size_t j = 0; j <= i; j++)
            assert_true(isfinite(a[i * STRIDE + j]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kernel_has_the_functions_of_the_plain_one),
        cmocka_unit_test(functions_are_as_exact_as_stated),
        cmocka_unit_test(exponents_beyond_the_range_are_those_of_its_ends),
        cmocka_unit_test(dots_are_added_in_the_stated_order),
        cmocka_unit_test(every_kernel_adds_vectors_alike),
        cmocka_unit_test(margins_and_sums_of_rows_are_exact_and_alike),
        cmocka_unit_test(grams_are_exact_and_alike),
        cmocka_unit_test(factors_and_solutions_are_exact_and_alike),
        cmocka_unit_test(pivots_are_at_least_what_is_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
