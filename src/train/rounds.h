/* Rounds: blocks of a long input, dealt out to replicas of the state in turn, which learn side by side and are merged
 * again.
 */
#ifndef GSA_TRAIN_ROUNDS_H
#define GSA_TRAIN_ROUNDS_H

#include "train/pending.h"

#include <greedystep/distributed.h>

typedef struct gsai_round {
    gsai_job *job; /* its state is the base: untouched until the round ends */
    gsa_round plan;
    size_t n_dealt;  /* shards that are dealt out to processes: those that there are rows for */
    size_t n_shards; /* that have begun to learn; 0: no round is under way */
    /* Those that learn at this time. */
    gsa_state *replica[GSA_MAX_TOGETHER]; /* NULL where another process has it */
    size_t first, n;                      /* their numbers: first on, n of them */
    uint64_t rows_left;
    size_t n_blocks; /* of theirs, so far */
    struct {         /* the last of them, which wait to be learned side by side */
        gsa_batch batch;
        uint32_t *order;
        gsa_state *replica;
    } waiting[GSA_MAX_TOGETHER];
    size_t n_waiting;
    gsai_pending pending; /* replicas that have learned before */
    gsa_state *spare[GSA_MAX_TOGETHER];
    size_t n_spare;          /* replicas that are of no use but for their memory */
    gsa_round_report report; /* what there is of it */
    double began;            /* when its replicas were there */
} gsai_round;

/* n_rows: that are left in the pass, UINT64_MAX if that is not known; it decides who learns, not what is learned. */
gsa_status gsai_round_begin(gsai_round *round, const gsa_round *plan, uint64_t n_rows, gsa_error *error);
/* Begins the next replicas of a round that is under way while none learn (n is 0). */
gsa_status gsai_round_next(gsai_round *round, gsa_error *error);
/* Whether the next block is for a replica of this process; if it is not, it need not be read. */
int gsai_round_is_mine(const gsai_round *round);
gsa_status gsai_round_skip(gsai_round *round, uint64_t n_rows, int releases, gsa_error *error);
/* The next block is for the next replica. It is learned when there is one for every thread or replica, when its rows
 * will not be there any longer (releases), or when it ends the round; until then the view must stay valid. */
gsa_status gsai_round_learn(gsai_round *round, const gsa_batch *batch, const uint32_t *order, int releases,
                            gsa_error *error);
/* The state becomes what the replicas have learned. Does nothing if no round is under way. */
gsa_status gsai_round_end(gsai_round *round, gsa_error *error);
/* Forgets the replicas: the state is as it was when the round began. */
void gsai_round_drop(gsai_round *round);

#endif
