/* The loops of the solver: products of matrices with few columns, sums over rows, exponentials.
 *
 * solve_loops.h has them once. It is compiled for the machine's baseline (solve_generic.c) and for wider vectors; which
 * is used is decided at run time. All give the same bits, because every element has one sum in one stated order and no
 * product is fused with a sum: S1  a dot product adds position j to partial sum j mod 16 (float, blocks of 4096
 * positions), and the partial sums are added in double, in order; S2  a sum over rows or columns that has an element
 * per output adds one term after the other, in order; S3  a sum over rows for one output adds four rows as ((0 + 1) +
 * (2 + 3)).
 *
 * Vectors that are dotted, and the rows of a dense matrix, are padded with zeros to a multiple of GSAI_PAD. */
#ifndef GSA_SOLVE_KERNEL_SOLVE_KERNELS_H
#define GSA_SOLVE_KERNEL_SOLVE_KERNELS_H

#include "learn/loss/loss_rows.h"

#define GSAI_PAD ((size_t)16)

static inline size_t gsai_padded(size_t n)
{
    return (n + GSAI_PAD - 1) / GSAI_PAD * GSAI_PAD;
}

/* Returns the width of dense rows of n values: an odd number of GSAI_PAD, which is a line of the cache, so that rows
 * which are read side by side do not all lie in a few of its sets. */
static inline size_t gsai_row_width(size_t n)
{
    return gsai_padded(n) | GSAI_PAD;
}

/* Rows of a matrix, by number: dense, `width` values each, or sparse. */
typedef struct gsai_row_list {
    const uint32_t *row;
    size_t n;
    const float *dense;
    size_t width;
    const size_t *start;
    const uint32_t *column;
    const float *value;
} gsai_row_list;

typedef struct gsai_solve_kernels {
    const char *name;
    gsai_array_math math;
    /* to += by * from. */
    void (*add)(float *to, float by, const float *from, size_t n);
    /* margin[q * stride + k] += sum_j x[q][j] weight[j * stride + k]; stride 1 or a multiple of 8. */
    void (*margins)(const gsai_row_list *rows, const float *weight, size_t stride, float *margin);
    /* sum[j * stride + k] += sum_q x[q][j] residual[q * stride + k]. */
    void (*sums)(const gsai_row_list *rows, const float *residual, size_t stride, float *sum);
    /* The lower triangle of gram[a * n + b] += sum_q x[q][a] y[q][b], for n columns (a multiple of GSAI_PAD) of n_rows
     * rows of n values each. */
    void (*gram)(const float *x, const float *y, size_t n_rows, size_t n, float *gram);
    /* The Cholesky factor of the lower triangle of a [n x n], rows of `stride` values, in place; pivots are at least
     * `min_pivot`. */
    void (*factor)(float *a, size_t n, size_t stride, float min_pivot, float *scratch);
    /* x = (L L')^-1 x for n rows of `n_outputs` values each. */
    void (*solve)(const float *factor, size_t n, size_t stride, float *x, size_t n_outputs);
} gsai_solve_kernels;

/* Returns the number of floats that factor needs as scratch. */
static inline size_t gsai_factor_scratch(size_t n)
{
    return 32 * gsai_padded(n);
}

extern const gsai_solve_kernels gsai_solve_generic, gsai_solve_avx2, gsai_solve_avx512;
/* Returns the widest kernels that this machine can run. */
const gsai_solve_kernels *gsai_solve_kernels_best(void);
/* Returns those of this build by number (0 is generic), NULL beyond the end or where the machine cannot run them. */
const gsai_solve_kernels *gsai_solve_kernels_at(size_t number);

#endif
