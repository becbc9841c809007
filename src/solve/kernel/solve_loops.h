/* The loops themselves; a file that includes this names its kernels in GSAI_KERNELS and GSAI_KERNELS_NAME first. */
#include "learn/loss/array_loops.h"
#include "solve/kernel/solve_kernels.h"

#include <math.h>

#define PANEL ((size_t)32)

typedef float four __attribute__((vector_size(16)));

/* ---- vectors ----------------------------------------------------------------------------------------------------- */

static void add(float *to, float by, const float *from, size_t n)
{
    for (size_t i = 0; i < n; i++)
        to[i] += by * from[i];
}

/* ---- rows times weights ------------------------------------------------------------------------------------------ */

static inline float add_lanes(floats s)
{
    four p[4], u;
    memcpy(p, &s, sizeof p);
    u = (p[0] + p[2]) + (p[1] + p[3]);
    return (u[0] + u[2]) + (u[1] + u[3]);
}

/* Four rows at a time; those that are missing at the end repeat the first. */
static void dense_margins(const gsai_row_list *rows, const float *weight, float *margin)
{
    for (size_t q = 0; q < rows->n; q += 4) {
        const float *x[4];
        size_t n = rows->n - q < 4 ? rows->n - q : 4;
        floats sum[4] = {{0}}, w, v;
        for (size_t r = 0; r < 4; r++)
            x[r] = rows->dense + rows->row[r < n ? q + r : q] * rows->width;
        for (size_t j = 0; j < rows->width; j += LANES) {
            LOAD(w, weight + j);
            for (size_t r = 0; r < 4; r++) {
                LOAD(v, x[r] + j);
                sum[r] += v * w;
            }
        }
        for (size_t r = 0; r < n; r++)
            margin[q + r] += add_lanes(sum[r]);
    }
}

/* ---- tiles of a product ------------------------------------------------------------------------------------------ */

/* Rows of a tile of the result, each of sixteen outputs: as many as the registers hold. */
#if defined(__AVX512F__)
#define TILE ((size_t)8)
#elif defined(__AVX2__)
#define TILE ((size_t)4)
#else
#define TILE ((size_t)2)
#endif
/* Blocks that stay in the nearest cache. Numbers of outputs are copied, since with some strides they would all lie in a
 * few of its lines. */
#define BLOCK_ROWS ((size_t)64)
#define BLOCK_COLUMNS ((size_t)64)
#define WEIGHT_COLUMNS ((size_t)256)

/* Copies sixteen outputs, or the first eight of them, of each of n rows. */
INLINE void copy_outputs(floats *to, const float *from, size_t stride, size_t n, size_t n_outputs)
{
    floats v = {0};
    for (size_t i = 0; i < n; i++) {
        memcpy(&v, from + i * stride, n_outputs * sizeof *from);
        to[i] = v;
    }
}

/* The sums of TILE rows of sixteen outputs go on, over n columns. */
INLINE void margins_tile(const float *const *x, const floats *weight, size_t n, floats *to)
{
    floats sum[TILE];
    memcpy(sum, to, sizeof sum);
    for (size_t j = 0; j < n; j++)
        for (size_t r = 0; r < TILE; r++)
            sum[r] += x[r][j] * weight[j];
    memcpy(to, sum, sizeof sum);
}

/* Rows that are missing in the last tile repeat the first of the block. */
INLINE void margins_block(const float *const *x, size_t n_rows, size_t width, const float *weight, size_t stride,
                          float *margin, size_t n_outputs)
{
    floats sum[BLOCK_ROWS] = {{0}}, copy[WEIGHT_COLUMNS];
    for (size_t from = 0; from < width; from += WEIGHT_COLUMNS) {
        size_t n = width - from < WEIGHT_COLUMNS ? width - from : WEIGHT_COLUMNS;
        copy_outputs(copy, weight + from * stride, stride, n, n_outputs);
        for (size_t q = 0; q < n_rows; q += TILE) {
            const float *own[TILE];
            for (size_t r = 0; r < TILE; r++)
                own[r] = x[q + r] + from;
            margins_tile(own, copy, n, sum + q);
        }
    }
    for (size_t q = 0; q < n_rows; q++)
        for (size_t k = 0; k < n_outputs; k++)
            margin[q * stride + k] += sum[q][k];
}

static void dense_margins_many(const gsai_row_list *rows, const float *weight, size_t stride, float *margin)
{
    for (size_t q = 0; q < rows->n; q += BLOCK_ROWS) {
        const float *x[BLOCK_ROWS];
        size_t n = rows->n - q < BLOCK_ROWS ? rows->n - q : BLOCK_ROWS, k = 0;
        for (size_t r = 0; r < BLOCK_ROWS; r++)
            x[r] = rows->dense + rows->row[r < n ? q + r : q] * rows->width;
        for (; k + 16 <= stride; k += 16)
            margins_block(x, n, rows->width, weight + k, stride, margin + q * stride + k, 16);
        if (k < stride)
            margins_block(x, n, rows->width, weight + k, stride, margin + q * stride + k, 8);
    }
}

static inline void add_outputs(float *restrict to, float by, const float *restrict from, size_t stride)
{
    for (size_t k = 0; k < stride; k += 8)
        for (size_t i = 0; i < 8; i++)
            to[k + i] += by * from[k + i];
}

static void margins(const gsai_row_list *rows, const float *weight, size_t stride, float *margin)
{
    if (rows->dense && stride == 1) {
        dense_margins(rows, weight, margin);
    } else if (rows->dense) {
        dense_margins_many(rows, weight, stride, margin);
    } else if (stride == 1) {
        for (size_t q = 0; q < rows->n; q++) {
            size_t t = rows->start[rows->row[q]], end = rows->start[rows->row[q] + 1];
            float sum[4] = {0};
            for (; t + 4 <= end; t += 4)
                for (size_t j = 0; j < 4; j++)
                    sum[j] += rows->value[t + j] * weight[rows->column[t + j]];
            for (; t < end; t++)
                sum[0] += rows->value[t] * weight[rows->column[t]];
            margin[q] += (sum[0] + sum[2]) + (sum[1] + sum[3]);
        }
    } else {
        for (size_t q = 0; q < rows->n; q++)
            for (size_t t = rows->start[rows->row[q]]; t < rows->start[rows->row[q] + 1]; t++)
                add_outputs(margin + q * stride, rows->value[t], weight + rows->column[t] * stride, stride);
    }
}

/* ---- sums over rows ---------------------------------------------------------------------------------------------- */

static void dense_sums(const gsai_row_list *rows, const float *residual, float *sum)
{
    size_t q = 0;
    for (; q + 4 <= rows->n; q += 4) {
        const float *x[4];
        for (size_t r = 0; r < 4; r++)
            x[r] = rows->dense + rows->row[q + r] * rows->width;
        const float *restrict x0 = x[0], *restrict x1 = x[1], *restrict x2 = x[2], *restrict x3 = x[3];
        float r0 = residual[q], r1 = residual[q + 1], r2 = residual[q + 2], r3 = residual[q + 3];
        float *restrict to = sum;
        for (size_t j = 0; j < rows->width; j++)
            to[j] += (x0[j] * r0 + x1[j] * r1) + (x2[j] * r2 + x3[j] * r3);
    }
    for (; q < rows->n; q++)
        add(sum, residual[q], rows->dense + rows->row[q] * rows->width, rows->width);
}

/* Sixteen outputs of TILE columns at a time, from the columns `from` to `end`. */
INLINE void sums_block(const float *const *x, size_t n_rows, size_t from, size_t end, const float *residual,
                       size_t stride, float *sum, size_t n_outputs)
{
    floats copy[BLOCK_ROWS];
    copy_outputs(copy, residual, stride, n_rows, n_outputs);
    for (size_t j = from; j < end; j += TILE) {
        floats to[TILE] = {{0}};
        for (size_t i = 0; i < TILE; i++)
            memcpy(&to[i], sum + (j + i) * stride, n_outputs * sizeof *sum);
        for (size_t q = 0; q < n_rows; q++)
            for (size_t i = 0; i < TILE; i++)
                to[i] += x[q][j + i] * copy[q];
        for (size_t i = 0; i < TILE; i++)
            memcpy(sum + (j + i) * stride, &to[i], n_outputs * sizeof *sum);
    }
}

static void dense_sums_many(const gsai_row_list *rows, const float *residual, size_t stride, float *sum)
{
    for (size_t from = 0; from < rows->n; from += BLOCK_ROWS) {
        const float *x[BLOCK_ROWS];
        size_t n = rows->n - from < BLOCK_ROWS ? rows->n - from : BLOCK_ROWS;
        for (size_t q = 0; q < n; q++)
            x[q] = rows->dense + rows->row[from + q] * rows->width;
        for (size_t j = 0, end; j < rows->width; j = end) {
            size_t k = 0;
            end = rows->width - j < BLOCK_COLUMNS ? rows->width : j + BLOCK_COLUMNS;
            for (; k + 16 <= stride; k += 16)
                sums_block(x, n, j, end, residual + from * stride + k, stride, sum + k, 16);
            if (k < stride)
                sums_block(x, n, j, end, residual + from * stride + k, stride, sum + k, 8);
        }
    }
}

static void sums(const gsai_row_list *rows, const float *residual, size_t stride, float *sum)
{
    if (stride == 1 && rows->dense) {
        dense_sums(rows, residual, sum);
    } else if (rows->dense) {
        dense_sums_many(rows, residual, stride, sum);
    } else {
        for (size_t q = 0; q < rows->n; q++)
            for (size_t t = rows->start[rows->row[q]]; t < rows->start[rows->row[q] + 1]; t++) {
                if (stride == 1)
                    sum[rows->column[t]] += rows->value[t] * residual[q];
                else
                    add_outputs(sum + rows->column[t] * stride, rows->value[t], residual + q * stride, stride);
            }
    }
}

/* ---- a symmetric matrix, its factor and its inverse -------------------------------------------------------------- */

/* Eight rows and sixteen columns of the product x'y. */
INLINE void gram_tile(const float *x, const float *y, size_t n_rows, size_t n, float *gram)
{
    floats to[8], v;
    for (size_t i = 0; i < 8; i++)
        LOAD(to[i], gram + i * n);
    for (size_t q = 0; q < n_rows; q++) {
        LOAD(v, y + q * n);
        for (size_t i = 0; i < 8; i++)
            to[i] += x[q * n + i] * v;
    }
    for (size_t i = 0; i < 8; i++)
        STORE(gram + i * n, to[i]);
}

static void gram(const float *x, const float *y, size_t n_rows, size_t n, float *to)
{
    for (size_t a = 0; a < n; a += 8)
        for (size_t b = 0; b < a + 8; b += LANES)
            gram_tile(x + a, y + b, n_rows, n, to + a * n + b);
}

/* One column after the other, for the rows from the diagonal on. */
static void factor_panel(float *a, size_t from, size_t end, size_t n, size_t stride, float min_pivot)
{
    for (size_t j = from; j < end; j++) {
        float *own = a + j * stride, pivot = own[j];
        for (size_t k = from; k < j; k++)
            pivot -= own[k] * own[k];
        own[j] = sqrtf(pivot > min_pivot ? pivot : min_pivot);
        float inverse = 1 / own[j];
        for (size_t i = j + 1; i < n; i++) {
            float *row = a + i * stride, sum = row[j];
            for (size_t k = from; k < j; k++)
                sum -= row[k] * own[k];
            row[j] = sum * inverse;
        }
    }
}

/* The rest less the product of the panel with its transpose, sixteen columns at a time. */
static void subtract_panel(float *a, size_t from, size_t end, size_t n, size_t stride, float *transposed)
{
    size_t first = end / LANES * LANES, m = gsai_padded(n) - first, width = end - from;
    memset(transposed, 0, width * m * sizeof *transposed);
    for (size_t i = end; i < n; i++)
        for (size_t k = 0; k < width; k++)
            transposed[k * m + i - first] = a[i * stride + from + k];
    for (size_t i = end; i < n; i += 4) {
        size_t n_rows = n - i < 4 ? n - i : 4;
        const float *p[4];
        for (size_t r = 0; r < 4; r++)
            p[r] = a + (r < n_rows ? i + r : i) * stride + from;
        for (size_t b = first; b < i + n_rows; b += LANES) {
            floats sum[4] = {{0}}, v, to;
            for (size_t k = 0; k < width; k++) {
                LOAD(v, transposed + k * m + b - first);
                for (size_t r = 0; r < 4; r++)
                    sum[r] += p[r][k] * v;
            }
            for (size_t r = 0; r < n_rows; r++) {
                LOAD(to, a + (i + r) * stride + b);
                to -= sum[r]; /* what lies left of `end` has none */
                STORE(a + (i + r) * stride + b, to);
            }
        }
    }
}

static void factor(float *a, size_t n, size_t stride, float min_pivot, float *scratch)
{
    for (size_t from = 0; from < n; from += PANEL) {
        size_t end = from + PANEL < n ? from + PANEL : n;
        factor_panel(a, from, end, n, stride, min_pivot);
        if (end < n)
            subtract_panel(a, from, end, n, stride, scratch);
    }
}

static void solve_one(const float *l, size_t n, size_t stride, float *x)
{
    for (size_t i = 0; i < n; i++) {
        const float *row = l + i * stride;
        floats sum = {0}, a, b;
        size_t j = 0;
        for (; j + LANES <= i; j += LANES) {
            LOAD(a, row + j);
            LOAD(b, x + j);
            sum += a * b;
        }
        float rest = add_lanes(sum);
        for (; j < i; j++)
            rest += row[j] * x[j];
        x[i] = (x[i] - rest) / row[i];
    }
    for (size_t i = n; i-- > 0;) {
        x[i] /= l[i * stride + i];
        add(x, -x[i], l + i * stride, i);
    }
}

/* Four rows of the factor at a time: what they have in common with the rows before (or after) them, then the corner. */
#define ROWS ((size_t)4)

INLINE void solve_outputs(const float *l, size_t n, size_t stride, float *x, size_t n_outputs, size_t width)
{
    floats own[ROWS], v = {0};
    for (size_t i = 0; i < n; i += ROWS) {
        size_t n_rows = n - i < ROWS ? n - i : ROWS;
        const float *row[ROWS];
        for (size_t r = 0; r < ROWS; r++) {
            row[r] = l + (r < n_rows ? i + r : i) * stride;
            own[r] = (floats){0};
        }
        for (size_t j = 0; j < i; j++) {
            memcpy(&v, x + j * n_outputs, width * sizeof *x);
            for (size_t r = 0; r < ROWS; r++)
                own[r] += row[r][j] * v;
        }
        for (size_t r = 0; r < n_rows; r++) {
            memcpy(&v, x + (i + r) * n_outputs, width * sizeof *x);
            own[r] = v - own[r];
            for (size_t q = 0; q < r; q++)
                own[r] -= row[r][i + q] * own[q];
            own[r] *= 1 / row[r][i + r];
            memcpy(x + (i + r) * n_outputs, &own[r], width * sizeof *x);
        }
    }
    for (size_t end = n; end > 0;) {
        size_t n_rows = end % ROWS > 0 ? end % ROWS : ROWS, i = end - n_rows;
        const float *row[ROWS];
        for (size_t r = 0; r < ROWS; r++) {
            row[r] = l + (r < n_rows ? i + r : i) * stride;
            own[r] = (floats){0};
            if (r < n_rows)
                memcpy(&own[r], x + (i + r) * n_outputs, width * sizeof *x);
        }
        for (size_t r = n_rows; r-- > 0;) {
            for (size_t q = r + 1; q < n_rows; q++)
                own[r] -= row[q][i + r] * own[q];
            own[r] *= 1 / row[r][i + r];
            memcpy(x + (i + r) * n_outputs, &own[r], width * sizeof *x);
        }
        for (size_t j = 0; j < i; j++) {
            memcpy(&v, x + j * n_outputs, width * sizeof *x);
            v -= (row[0][j] * own[0] + row[1][j] * own[1]) + (row[2][j] * own[2] + row[3][j] * own[3]);
            memcpy(x + j * n_outputs, &v, width * sizeof *x);
        }
        end = i;
    }
}

static void solve(const float *l, size_t n, size_t stride, float *x, size_t n_outputs)
{
    size_t k = 0;
    if (n_outputs == 1) {
        solve_one(l, n, stride, x);
        return;
    }
    for (; k + 16 <= n_outputs; k += 16)
        solve_outputs(l, n, stride, x + k, n_outputs, 16);
    if (k < n_outputs)
        solve_outputs(l, n, stride, x + k, n_outputs, 8);
}

const gsai_solve_kernels GSAI_KERNELS = {GSAI_KERNELS_NAME, GSAI_ARRAY_MATH, add, margins, sums, gram, factor, solve};
