/* Blocks of rows with one output. */
#include "learn/loss/loss_rows.h"

#include <string.h>

#define LANES ((size_t)16)

/* Copies n floats, and pads them with zeros. */
static void load(float *to, const float *from, size_t n, size_t n_padded)
{
    memcpy(to, from, n * sizeof *to);
    memset(to + n, 0, (n_padded - n) * sizeof *to);
}

void gsai_rows_by_blocks(gsai_rows_at *at, void (*fill)(gsai_rows_block *block, const gsai_rows_at *at))
{
    gsai_rows_block block;
    float weight[GSAI_ROWS_BLOCK], z[GSAI_ROWS_BLOCK];
    at->value = at->slope = at->bending = 0;
    for (size_t from = 0, n; from < at->n; from += n) {
        n = at->n - from < GSAI_ROWS_BLOCK ? at->n - from : GSAI_ROWS_BLOCK;
        size_t n_padded = block.n = (n + LANES - 1) / LANES * LANES;
        load(block.y, at->target + from, n, n_padded);
        load(block.m, at->margin + from, n, n_padded);
        for (size_t i = 0; i < n && at->offset; i++)
            block.m[i] += at->offset[from + i];
        load(weight, at->weight + from, n, n_padded);
        if (at->direction) {
            load(z, at->direction + from, n, n_padded);
            for (size_t i = 0; i < n; i++)
                block.m[i] += at->step * z[i];
        }
        fill(&block, at);
        for (size_t i = 0; i < n_padded; i++) {
            block.g[i] *= weight[i];
            block.h[i] *= weight[i];
        }
        at->value += at->math->dot(weight, block.loss, n_padded);
        if (at->residual)
            memcpy(at->residual + from, block.g, n * sizeof *block.g);
        if (at->curvature)
            memcpy(at->curvature + from, block.h, n * sizeof *block.h);
        for (size_t i = 0; i < n && at->loss; i++)
            at->loss[from + i] = weight[i] * block.loss[i];
        if (at->direction) {
            at->slope += at->math->dot(block.g, z, n_padded);
            for (size_t i = 0; i < n_padded; i++)
                block.h[i] *= z[i];
            at->bending += at->math->dot(block.h, z, n_padded);
        }
    }
}
