/* Processes that learn together, as the engine sees them.
 *
 * All of them make the same collective calls in the same order. Before anything is sent, every process reports whether
 * it has failed: a process that fails goes to its next call at once, reports this and leaves, and all others leave
 * there too, with the failure of the lowest rank. A single process gets back the bytes that it sends. */
#ifndef GSA_TRAIN_COMM_H
#define GSA_TRAIN_COMM_H

#include "base/memory.h"
#include "train/job.h"

#include <stdbool.h>

/* Bytes that grow: what gsa_write_fn fills when it is memory. */
typedef struct gsai_bytes {
    unsigned char *at;
    size_t size, capacity;
    const gsai_env *env; /* resolved */
    bool is_cut;         /* some bytes had no memory: none are added behind them */
} gsai_bytes;

/* Adds bytes: a gsa_write_fn whose ctx is the gsai_bytes. */
int gsai_bytes_add(void *ctx, const void *more, size_t size);
void gsai_bytes_free(gsai_bytes *bytes);

/* Things that follow one another, each behind its size: written between begin, which gives the start, and end. */
size_t gsai_frame_begin(gsai_bytes *to);
gsa_status gsai_frame_end(gsai_bytes *to, size_t start, gsa_error *error);
/* Finds the next frame in *left bytes; returns false if not found. */
bool gsai_frame_next(const unsigned char **from, size_t *left, const unsigned char **frame, size_t *size);

/* Return the rank and the number of processes; without a communicator, 0 of 1. */
size_t gsai_comm_rank(const gsai_job *job);
size_t gsai_comm_size(const gsai_job *job);
/* Returns the first of n items that belongs to this process or, with next = 1, to the next. Neighbouring items stay
 * together: those of a process end where those of the next begin. */
size_t gsai_comm_first(const gsai_job *job, size_t n, size_t next);

/* Reports this process's status to all and returns the one that all continue with: the failure of the lowest rank, if
 * any. */
gsa_status gsai_comm_agree(gsai_job *job, gsa_status status, gsa_error *error);
/* Agree first, and then do what gsa_comm's functions do. */
gsa_status gsai_comm_allgather(gsai_job *job, gsa_status status, const void *bytes, size_t size,
                               const unsigned char **all, const size_t **sizes, gsa_error *error);
gsa_status gsai_comm_alltoall(gsai_job *job, gsa_status status, const void *bytes, const size_t *sizes,
                              const unsigned char **all, const size_t **all_sizes, gsa_error *error);

/* Returns the bytes of all ranks together. */
size_t gsai_comm_total(const gsai_job *job, const size_t *sizes);

/* Tells everyone of a pass, once all have come so far: the hook may make collective calls. */
gsa_status gsai_comm_end_pass(gsai_job *job, gsa_status status, gsa_error *error);

/* Exchanges states as bytes, a frame each: n of all processes together, those of ranks one after the other. Items that
 * are not NULL are not read. */
gsa_status gsai_comm_gather_states(gsai_job *job, gsa_status status, const gsai_bytes *mine, gsa_state **item, size_t n,
                                   gsa_error *error);
/* Exchanges states: every process has some of n items, and gets those of all others, which are NULL; the items of ranks
 * follow one another. */
gsa_status gsai_comm_share(gsai_job *job, gsa_status status, gsa_state **item, size_t n, gsa_error *error);
/* Replaces the state of every process by that of the first. */
gsa_status gsai_comm_share_first(gsai_job *job, gsa_status status, gsa_error *error);
/* Fails because received bytes are not what they must be. */
gsa_status gsai_comm_protocol_error(gsa_error *error);

#endif
