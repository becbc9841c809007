/* Changes of states since a base, a block of slots at a time, added up.
 *
 *   A1  Sums are floats. A state has of a slot
 *         c (w - start) and c (average - start), [outputs] each; sum of squares since the base; squared rows
 *         seen since the base
 *       where c is its sum of squares in the state, and of a slot that it has not touched since the base zeros.
 *   A2  States are added up in one fixed binary tree over their numbers: left half plus right half, the left one a
 *       power of two. Runs of states that are aligned to such a power are whole parts of the tree, whatever number of
 *       states there is, so that each may be added up by another process, to the same bits.
 *   A3  No number is -0: to add nothing, as a slot that no state of a run has touched, changes no bit. */
#ifndef GSA_MERGE_SUMS_H
#define GSA_MERGE_SUMS_H

#include "base/memory.h"
#include "learn/kernel/kernel.h"

/* Sums that wait for those to their right: in the end the parts of the tree that the states are. */
typedef struct gsai_tree {
    gsai_sums *at;
    size_t depth, n_outputs;
    const gsai_kernels *kernels;
    size_t n_slots; /* of the block, set by the caller */
    size_t end;     /* number of the state after the last one in the tree */
} gsai_tree;

/* Sets sums to zeros, which are valid. */
void gsai_sums_clear(gsai_sums *sums, size_t n_outputs);

/* Makes room for any run of up to n_states, if the arena has it. */
void gsai_tree_begin(gsai_tree *tree, size_t n_states, size_t n_outputs, gsai_arena *arena);
/* Empties the tree; the next state has this number. */
void gsai_tree_clear(gsai_tree *tree, size_t first, size_t n_slots);
/* Returns the place for the sums of states [first, first + n), to be filled in before gsai_tree_grow, which adds up
 * what has become whole. n is a power of two and first a multiple of it, or they are all states. States between the
 * last ones and these have touched nothing. */
gsai_sums *gsai_tree_next(gsai_tree *tree, size_t first, size_t n);
void gsai_tree_grow(gsai_tree *tree);
/* Returns the sum of everything in the tree; states up to `end` that are not in it have touched nothing. */
gsai_sums *gsai_tree_sum(gsai_tree *tree, size_t end);

#endif
