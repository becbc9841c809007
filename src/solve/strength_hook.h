/* The caller's function for strengths that were tried; in a header of its own, below all files that try them. */
#ifndef GSA_SOLVE_STRENGTH_HOOK_H
#define GSA_SOLVE_STRENGTH_HOOK_H

#include <stdint.h>

typedef struct gsai_strength_hook {
    void (*tried)(void *ctx, uint64_t n_tried, double held_out_loss); /* NULL: none */
    void *ctx;
} gsai_strength_hook;

#endif
