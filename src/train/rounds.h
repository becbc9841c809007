/* Interleaved steps: blocks of a long input, assigned in turn to the replicas in memory, which learn them in parallel
 * on threads. */
#ifndef GSA_TRAIN_ROUNDS_H
#define GSA_TRAIN_ROUNDS_H

#include "train/replicas.h"

typedef struct gsai_round {
    gsai_replicas replicas;
    size_t n_dealt;     /* replicas that are dealt out to processes: those that there are rows for */
    uint64_t rows_left; /* of the replicas in memory */
    size_t n_blocks;    /* of theirs, so far */
    struct {            /* the last of them, which wait to be learned side by side */
        gsa_batch batch;
        uint32_t *order;
        gsa_state *replica;
    } waiting[GSA_MAX_RESIDENT];
    size_t n_waiting;
    gsa_round_report report; /* what there is of it */
    double began;            /* when its replicas were there */
} gsai_round;

/* Begins a round. n_rows: rows left in the pass, UINT64_MAX if that is not known; it determines who learns, not what is
 * learned. */
gsa_status gsai_round_begin(gsai_round *round, const gsa_step *step, uint64_t n_rows, gsa_error *error);
/* Makes the next replicas of a round that is under way while none are in memory. */
gsa_status gsai_round_next(gsai_round *round, gsa_error *error);
/* Returns whether the next block is for a replica of this process; if it is not, it need not be read. */
int gsai_round_is_mine(const gsai_round *round);
gsa_status gsai_round_skip(gsai_round *round, uint64_t n_rows, int releases, gsa_error *error);
/* Deals the next block to the next replica. It is learned when there is one for every thread or replica, when its rows
 * will not be there any longer (releases), or when it ends the round; until then the view must stay valid. */
gsa_status gsai_round_learn(gsai_round *round, const gsa_batch *batch, const uint32_t *order, int releases,
                            gsa_error *error);
/* Makes the state what the replicas have learned. Does nothing if no round is under way. */
gsa_status gsai_round_end(gsai_round *round, gsa_error *error);
/* Forgets the replicas: the state is as it was when the round began. */
void gsai_round_drop(gsai_round *round);

#endif
