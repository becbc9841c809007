/* The tree in which blocks of slots are added up. */
#include "merge/sums.h"

#include <string.h>

void gsai_tree_begin(gsai_tree *tree, size_t n_states, size_t n_outputs, gsai_arena *arena)
{
    size_t n_levels = 3, block = gsai_sums_block(n_outputs), width = gsai_sums_width(n_outputs);
    for (size_t n = n_states; n > 0; n /= 2)
        n_levels += 2; /* a run may begin and end with parts of every size */
    *tree = (gsai_tree){.n_outputs = n_outputs, .kernels = gsai_kernels_best()};
    tree->at = gsai_arena_take(arena, n_levels, sizeof *tree->at);
    double *memory = gsai_arena_take(arena, n_levels, block * (width + 4) * sizeof(float));
    for (size_t i = 0; tree->at && memory && i < n_levels; i++, memory += block * (width + 4) / 2)
        tree->at[i] = (gsai_sums){.count = memory, .touched = memory + block, .sum = (float *)(memory + 2 * block)};
}

void gsai_tree_clear(gsai_tree *tree, size_t first, size_t n_slots)
{
    tree->depth = 0;
    tree->end = first;
    tree->n_slots = n_slots;
}

void gsai_sums_clear(gsai_sums *sums, size_t n_outputs)
{
    size_t block = gsai_sums_block(n_outputs);
    memset(sums->count, 0, block * sizeof *sums->count);
    memset(sums->touched, 0, block * sizeof *sums->touched);
    memset(sums->sum, 0, gsai_sums_width(n_outputs) * block * sizeof *sums->sum);
    sums->is_empty = false;
}

/* Makes one of the uppermost two. */
static void join(gsai_tree *tree)
{
    gsai_sums *right = &tree->at[--tree->depth], *left = right - 1;
    size_t first = left->first, n_states = left->n + right->n;
    if (left->is_empty) {
        gsai_sums nothing = *left;
        *left = *right;
        *right = nothing;
    }
    left->first = first;
    left->n = n_states;
    if (!right->is_empty)
        tree->kernels->add_sums(left, right, tree->n_outputs, tree->n_slots);
}

void gsai_tree_grow(gsai_tree *tree)
{
    for (; tree->depth > 1; join(tree)) {
        const gsai_sums *right = &tree->at[tree->depth - 1], *left = right - 1;
        if (left->n != right->n || left->first % (2 * left->n) != 0)
            return;
    }
}

static gsai_sums *push(gsai_tree *tree, size_t n, bool is_empty)
{
    gsai_sums *next = &tree->at[tree->depth++];
    next->first = tree->end;
    next->n = n;
    next->is_empty = is_empty;
    tree->end += n;
    return next;
}

/* Enters states up to `end` as ones that have touched nothing. */
static void skip_to(gsai_tree *tree, size_t end)
{
    while (tree->end < end) {
        size_t n = 1;
        while (tree->end % (2 * n) == 0 && 2 * n <= end - tree->end)
            n *= 2;
        push(tree, n, true);
        gsai_tree_grow(tree);
    }
}

gsai_sums *gsai_tree_next(gsai_tree *tree, size_t first, size_t n)
{
    skip_to(tree, first);
    return push(tree, n, false);
}

gsai_sums *gsai_tree_sum(gsai_tree *tree, size_t end)
{
    skip_to(tree, end);
    while (tree->depth > 1)
        join(tree);
    tree->depth = 0;
    return &tree->at[0];
}
