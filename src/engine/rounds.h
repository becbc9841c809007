/* Rounds: rows of a long input, dealt out to copies of the state that learn side by side and are merged again. */
#ifndef GSA_ENGINE_ROUNDS_H
#define GSA_ENGINE_ROUNDS_H

#include "engine/job.h"

typedef struct gsa__round {
    const gsa__job *job; /* its state is the base: untouched until the round ends */
    gsa_state *copy[GSA_SHARDS_MOST];
    size_t n_shards; /* 0: no round is under way */
    uint64_t rows_left;
    const gsa_batch *batch; /* being learned */
    const uint32_t *order;
} gsa__round;

gsa_status gsa__round_begin(gsa__round *round, const gsa_round *plan, gsa_error *error);
/* Every copy learns its part of the order. The round ends with the block that brings it to its rows. */
gsa_status gsa__round_learn(gsa__round *round, const gsa_batch *batch, const uint32_t *order, gsa_error *error);
/* The state becomes what the copies have learned. Does nothing if no round is under way. */
gsa_status gsa__round_end(gsa__round *round, gsa_error *error);
/* Forgets the copies: the state is as it was when the round began. */
void gsa__round_drop(gsa__round *round);

#endif
