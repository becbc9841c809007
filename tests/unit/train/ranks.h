/* Processes that learn together, as threads of one: what carries bytes between them is shared memory. */
#ifndef TESTS_UNIT_ENGINE_RANKS_H
#define TESTS_UNIT_ENGINE_RANKS_H

#include "runs.h"

#include <greedystep/distributed.h>

#include <pthread.h>

enum { MAX_RANKS = 17 };

struct meeting {
    pthread_barrier_t barrier;
    size_t n;
    const unsigned char *bytes[MAX_RANKS];
    const size_t *sizes[MAX_RANKS];
};

struct rank {
    struct meeting *meeting;
    gsa_comm comm;
    unsigned char *got;
    size_t got_sizes[MAX_RANKS], sent_sizes[MAX_RANKS];
    size_t n_meetings;
    /* What it is to do, and what came of it. */
    void (*run)(struct rank *rank);
    void *ctx;
    gsa_status status;
    gsa_error error;
    bytes saved;
    uint64_t n_learned;
};

static inline void take(struct rank *rank, size_t from, const unsigned char *at, size_t size, size_t *total)
{
    rank->got = realloc(rank->got, *total + size + 1);
    if (size > 0)
        memcpy(rank->got + *total, at, size);
    rank->got_sizes[from] = size;
    *total += size;
}

/* Everyone shows what it has, takes what it is to have of each, and nobody leaves before all have taken. sizes: one for
 * all, or one a rank. */
static inline void meet(struct rank *rank, const void *given, const size_t *sizes, size_t n_sizes)
{
    struct meeting *meeting = rank->meeting;
    size_t total = 0, own = n_sizes > 1 ? rank->comm.rank : 0;
    rank->n_meetings++;
    memcpy(rank->sent_sizes, sizes, n_sizes * sizeof *sizes);
    meeting->bytes[rank->comm.rank] = given;
    meeting->sizes[rank->comm.rank] = rank->sent_sizes;
    pthread_barrier_wait(&meeting->barrier);
    for (size_t r = 0; r < meeting->n; r++) {
        const unsigned char *at = meeting->bytes[r];
        for (size_t to = 0; to < own; to++)
            at = meeting->sizes[r][to] > 0 ? at + meeting->sizes[r][to] : at; /* who has nothing has no place either */
        take(rank, r, at, meeting->sizes[r][own], &total);
    }
    pthread_barrier_wait(&meeting->barrier);
}

static inline gsa_status gather_in_memory(void *ctx, const void *given, size_t size, const unsigned char **all,
                                          const size_t **sizes, gsa_error *error)
{
    struct rank *rank = ctx;
    (void)error;
    meet(rank, given, &size, 1);
    *all = rank->got;
    *sizes = rank->got_sizes;
    return GSA_OK;
}

static inline gsa_status exchange_in_memory(void *ctx, const void *given, const size_t *sizes,
                                            const unsigned char **all, const size_t **all_sizes, gsa_error *error)
{
    struct rank *rank = ctx;
    (void)error;
    meet(rank, given, sizes, rank->meeting->n);
    *all = rank->got;
    *all_sizes = rank->got_sizes;
    return GSA_OK;
}

static inline void *run_rank(void *ctx)
{
    struct rank *rank = ctx;
    rank->run(rank);
    return NULL;
}

/* n ranks, each in a thread of its own, until all have ended. */
static inline void run_ranks(struct rank *rank, size_t n, void (*run)(struct rank *), void *ctx)
{
    struct meeting meeting = {.n = n};
    pthread_t thread[MAX_RANKS];
    assert_int_equal(pthread_barrier_init(&meeting.barrier, NULL, (unsigned)n), 0);
    memset(rank, 0, n * sizeof *rank);
    for (size_t r = 0; r < n; r++) {
        rank[r].meeting = &meeting;
        rank[r].comm = (gsa_comm){&rank[r], r, n, gather_in_memory, exchange_in_memory};
        rank[r].run = run;
        rank[r].ctx = ctx;
        assert_int_equal(pthread_create(&thread[r], NULL, run_rank, &rank[r]), 0);
    }
    for (size_t r = 0; r < n; r++) {
        pthread_join(thread[r], NULL);
        free(rank[r].got);
        rank[r].got = NULL;
    }
    pthread_barrier_destroy(&meeting.barrier);
}

#endif
