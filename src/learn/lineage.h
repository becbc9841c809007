/* The id of a run, and the runs that a state contains or started from: two states that share one must not be added up.
 * States that are merged, and their numbers added up. */
#ifndef GSA_LEARN_LINEAGE_H
#define GSA_LEARN_LINEAGE_H

#include "base/hash.h"

#include <greedystep/distributed.h>

#include <stdbool.h>

/* Identifies a run: a rolling hash of its first rows. Two states that began alike must not be added up. */
#define GSAI_RUN_ID_ROWS 1024u
typedef struct gsai_run_id {
    uint64_t hash;
    uint64_t n_rows; /* rows in the hash */
    uint64_t closed; /* nonzero: no more rows enter */
} gsai_run_id;

/* Ids of the runs that a state contains or started from, ascending, without its own; one comes twice if a run on the
 * same rows was started from. */
typedef struct gsai_lineage {
    uint64_t *at;
    size_t n, capacity;
} gsai_lineage;

/* Adds a row to a fingerprint, by its hash (gsai_row_hash). */
static inline void gsai_fingerprint_add_row(gsa_fingerprint *fingerprint, uint64_t hash)
{
    fingerprint->sum += gsai_mix(hash);
    fingerprint->n_rows++;
}
/* Adds one of the first rows of a run. */
void gsai_run_id_add_row(gsai_run_id *run_id, const gsa_batch *batch, size_t row);

bool gsai_lineage_has(const gsa_state *state, uint64_t run_id);
/* Return the number of run ids of a state, and each by number: its lineage, then its own if it has one. */
size_t gsai_lineage_count(const gsa_state *state);
uint64_t gsai_lineage_at(const gsa_state *state, size_t i);
/* Adds a run that a state contains or started from. */
gsa_status gsai_lineage_add(gsa_state *state, uint64_t run_id, gsa_error *error);

/* ---- states that are merged ---------------------------------------------------------------------------------------
 */

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
