/* The caller's function for strengths that were tried; in a header of its own, below all files that try them. */
#ifndef GSA_SOLVE_STRENGTH_HOOK_H
#define GSA_SOLVE_STRENGTH_HOOK_H

#include <stdint.h>

typedef struct gsai_strength_hook {
    /* As gsa_train_hooks.strength_tried; NULL: none. */
    void (*tried)(void *ctx, uint64_t n_tried, uint64_t n_about, const char *loss, double best_loss);
    void *ctx;
} gsai_strength_hook;

#endif
