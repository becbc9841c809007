/* Steps of the schedule: which learner has which rows, and when replicas become one state again.
 *
 * A step is learned by the state itself, or by replicas of it (replicas.h) that are merged where it ends. Interleaved:
 * the blocks of the input are assigned in turn to the replicas in memory, which learn them in parallel on threads.
 * Contiguous: each replica learns a shard, as the task of a cluster does. Threads, processes and tasks run these
 * functions only. */
#ifndef GSA_TRAIN_STEPS_H
#define GSA_TRAIN_STEPS_H

#include "train/input.h"
#include "train/replicas.h"
#include "train/shards.h"

typedef struct gsai_steps {
    gsai_replicas replicas;
    struct { /* blocks that wait to be learned in parallel */
        gsa_batch block;
        uint32_t *order;
        gsa_state *learner;
    } waiting[GSA_MAX_RESIDENT];
    size_t n_waiting;
} gsai_steps;

/* Plans a step from what the state has learned and runs it on the next blocks of the input; a step that is stopped
 * leaves the state as it was, except that the state itself has learned some rows of a block. GSA_END after the last
 * block. */
gsa_status gsai_steps_next(gsai_steps *steps, gsai_input *input, gsa_error *error);
/* Lets the state learn the first rows of all shards, which are a pass of their own. first: those of this process, as
 * gsai_shards_find packs them. */
gsa_status gsai_steps_learn_first(gsai_shards *shards, const gsai_bytes *first, gsa_error *error);
/* Runs the step of a pass over shards. */
gsa_status gsai_steps_learn_shards(gsai_steps *steps, gsai_shards *shards, gsa_error *error);
void gsai_steps_free(gsai_steps *steps);

#endif
