/* The id of a run, and the runs that a state contains or started from: two states that share one must not be added up.
 */
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

#endif
