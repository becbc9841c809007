/* States that are merged, and their numbers added up. */
#ifndef GSA_LEARN_MERGED_H
#define GSA_LEARN_MERGED_H

#include <greedystep/greedystep.h>

#include <stdbool.h>

typedef struct gsai_merge {
    gsa_state *into;
    const gsa_state *const *states; /* in memory, or headers of replicas */
    size_t n_states;
    const gsa_state *base; /* NULL: the states began with nothing */
    bool continues;        /* the states are replicas of the base that went on where it stood */
    size_t n_slots;        /* that the table of the result needs */
} gsai_merge;

/* Returns whether the state is a replica of the base that continued counting where the base stood, not a new run that
 * started from the base's finished weights. A new run has the base in its lineage, even if it began with the same rows.
 */
bool gsai_state_continues(const gsa_state *state, const gsa_state *base);
/* Returns whether the state knows all that the base knows: labels, features, its runs, and, if it is alone, no less of
 * each feature, which adding up several states finds anyway. */
bool gsai_state_contains(const gsa_state *state, const gsa_state *base, bool is_alone);
/* Returns whether one output for two classes becomes one per class in `into`. Its steps are then halved. */
bool gsai_state_splits(const gsa_state *state, const gsa_state *into);
/* Returns how much of the average of a state comes from weights since the base; the rest is the base's average. */
double gsai_fresh_share(const gsa_state *state, const gsa_state *base, bool continues);
/* Returns the mean weight of the rows of a state in units of that of `into`, the mean over all states. */
double gsai_state_weight_in(const gsa_state *state, const gsa_state *into);

/* Returns the sum of a value of all states: left half plus right half, the left one a power of two. `at` is passed on
 * to `value`. */
double gsai_merge_sum(const gsai_merge *merge,
                      double (*value)(const gsai_merge *merge, const gsa_state *state, size_t at), size_t at);

#endif
