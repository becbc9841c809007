/* Blocks of rows with one output. */
#include "learn/loss/loss_rows.h"

#include <string.h>

#define LANES ((size_t)16)

void gsai_rows_begin(gsai_rows_at *at)
{
    at->value = at->slope = at->bending = 0;
}

bool gsai_rows_next(gsai_rows_block *block, const gsai_rows_at *at)
{
    size_t from = block->from + block->n, n = at->n - from < GSAI_ROWS_BLOCK ? at->n - from : GSAI_ROWS_BLOCK;
    block->from = from;
    block->n = n;
    block->n_padded = (n + LANES - 1) / LANES * LANES;
    memset(block->weight, 0, sizeof block->weight);
    memset(block->z, 0, sizeof block->z);
    memset(block->m, 0, sizeof block->m);
    memcpy(block->weight, at->weight + from, n * sizeof *block->weight);
    memcpy(block->m, at->margin + from, n * sizeof *block->m);
    if (at->direction) {
        memcpy(block->z, at->direction + from, n * sizeof *block->z);
        for (size_t i = 0; i < n; i++)
            block->m[i] += at->step * block->z[i];
    }
    return n > 0;
}

void gsai_rows_add(gsai_rows_block *block, gsai_rows_at *at)
{
    size_t n = block->n_padded;
    for (size_t i = 0; i < n; i++) {
        block->g[i] *= block->weight[i];
        block->h[i] *= block->weight[i];
    }
    at->value += at->math->dot(block->weight, block->loss, n);
    if (at->residual)
        memcpy(at->residual + block->from, block->g, block->n * sizeof *block->g);
    if (at->curvature)
        memcpy(at->curvature + block->from, block->h, block->n * sizeof *block->h);
    for (size_t i = 0; i < block->n && at->loss; i++)
        at->loss[block->from + i] = block->weight[i] * block->loss[i];
    if (!at->direction)
        return;
    at->slope += at->math->dot(block->g, block->z, n);
    for (size_t i = 0; i < n; i++)
        block->h[i] *= block->z[i];
    at->bending += at->math->dot(block->h, block->z, n);
}
