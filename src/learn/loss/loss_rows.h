/* The losses of many rows at once, as functions of their margins: what the solver minimises. */
#ifndef GSA_LEARN_LOSS_LOSS_ROWS_H
#define GSA_LEARN_LOSS_LOSS_ROWS_H

#include "learn/loss/loss.h"

/* Functions of arrays of floats, the same bits on every machine. */
typedef struct gsai_array_math {
    /* x = e^x, for x in [-87, 88] (clamped), with a relative error of 2e-7. */
    void (*exponentials)(float *x, size_t n);
    /* x = log(1 + x) for x in [0, 1], with an absolute error of 1.4e-7. */
    void (*log1ps)(float *x, size_t n);
    /* x = log(x) for x in [1, 2^126), with an error of 2e-7 relative to 1 + log(x). */
    void (*logarithms)(float *x, size_t n);
    /* n is a multiple of 16. */
    double (*dot)(const float *a, const float *b, size_t n);
    /* The next three are of rows of `stride` numbers, a multiple of 8. Sums have eight partial sums, position j in j
     * mod 8, which are added as ((0+4)+(2+6)) + ((1+5)+(3+7)). */
    /* The exponentials of each row's first n numbers less the highest of them, in place, 0 after them; the highest, and
     * the sum of the exponentials. */
    void (*exponentiate_rows)(float *rows, size_t n_rows, size_t n, size_t stride, float *highest, float *sum);
    /* The sums of e z and of e z z of each row. */
    void (*moments)(const float *e, const float *z, size_t n_rows, size_t stride, float *first, float *second);
    /* to = by[row] * from. */
    void (*scale_rows)(float *to, const float *by, const float *from, size_t n_rows, size_t stride);
} gsai_array_math;
/* Those that any machine can run; the solver has wider ones (solve/kernel). */
extern const gsai_array_math gsai_array_math_generic;

/* Outputs that can be solved for are at most this many: a row of them is on the stack. */
#define GSAI_MAX_OUTPUTS ((size_t)4096)

/* Rows at the margins margin + step * direction (direction NULL: at margin). All sums are weighted. */
struct gsai_rows_at {
    const gsai_array_math *math;
    size_t n, n_outputs, stride; /* stride: 1, or the outputs rounded up to a multiple of 8 */
    const float *target;         /* class or number */
    const float *weight;
    const float *margin, *direction;
    const float *offset; /* [n], added to the margins of one output; NULL: none */
    float step;
    float width, quantile;        /* of a loss that has one */
    float *scratch;               /* [stride] if that is above GSAI_MAX_OUTPUTS */
    float *residual;              /* [n x stride], weighted derivatives by the margins; NULL: not wanted */
    float *curvature;             /* [n], weighted mean second derivative of a row; NULL: not wanted */
    float *loss;                  /* [n], weighted loss of a row; NULL: not wanted */
    double value, slope, bending; /* sum of losses, and its first and second derivative along the direction */
};

/* A block of rows with one output, which is padded to a multiple of 16 with rows of label, margin and weight 0. */
#define GSAI_ROWS_BLOCK ((size_t)256)
typedef struct gsai_rows_block {
    size_t n;
    float y[GSAI_ROWS_BLOCK], m[GSAI_ROWS_BLOCK];
    float loss[GSAI_ROWS_BLOCK], g[GSAI_ROWS_BLOCK], h[GSAI_ROWS_BLOCK]; /* for the loss to fill in */
} gsai_rows_block;

/* The member `rows` of a loss with one output, by a function that fills in loss and derivatives of a block. */
void gsai_rows_by_blocks(gsai_rows_at *at, void (*fill)(gsai_rows_block *block, const gsai_rows_at *at));

#endif
