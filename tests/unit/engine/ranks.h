/* Processes that learn together, as threads of one: what carries bytes between them is shared memory. */
#ifndef TESTS_UNIT_ENGINE_RANKS_H
#define TESTS_UNIT_ENGINE_RANKS_H

#include "runs.h"

#include <pthread.h>

enum { RANKS_MOST = 17 };

struct meeting {
    pthread_barrier_t barrier;
    size_t n;
    const unsigned char *bytes[RANKS_MOST];
    const size_t *sizes[RANKS_MOST];
};

struct rank {
    struct meeting *meeting;
    gsa_peers peers;
    unsigned char *got;
    size_t got_sizes[RANKS_MOST], sent_sizes[RANKS_MOST];
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

static inline gsa_status gather_in_memory(void *ctx, const void *given, size_t size, const unsigned char **all,
                                          const size_t **sizes, gsa_error *error)
{
    struct rank *rank = ctx;
    struct meeting *meeting = rank->meeting;
    size_t total = 0;
    (void)error;
    rank->n_meetings++;
    meeting->bytes[rank->peers.rank] = given;
    rank->sent_sizes[0] = size;
    meeting->sizes[rank->peers.rank] = rank->sent_sizes;
    pthread_barrier_wait(&meeting->barrier);
    for (size_t r = 0; r < meeting->n; r++)
        take(rank, r, meeting->bytes[r], meeting->sizes[r][0], &total);
    pthread_barrier_wait(&meeting->barrier);
    *all = rank->got;
    *sizes = rank->got_sizes;
    return GSA_OK;
}

static inline gsa_status exchange_in_memory(void *ctx, const void *given, const size_t *sizes,
                                            const unsigned char **all, const size_t **all_sizes, gsa_error *error)
{
    struct rank *rank = ctx;
    struct meeting *meeting = rank->meeting;
    size_t total = 0;
    (void)error;
    rank->n_meetings++;
    meeting->bytes[rank->peers.rank] = given;
    memcpy(rank->sent_sizes, sizes, meeting->n * sizeof *sizes);
    meeting->sizes[rank->peers.rank] = rank->sent_sizes;
    pthread_barrier_wait(&meeting->barrier);
    for (size_t r = 0; r < meeting->n; r++) {
        size_t before = 0;
        for (size_t to = 0; to < rank->peers.rank; to++)
            before += meeting->sizes[r][to];
        const unsigned char *start = meeting->bytes[r] ? meeting->bytes[r] + before : NULL;
        take(rank, r, start, meeting->sizes[r][rank->peers.rank], &total);
    }
    pthread_barrier_wait(&meeting->barrier);
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
    pthread_t thread[RANKS_MOST];
    assert_int_equal(pthread_barrier_init(&meeting.barrier, NULL, (unsigned)n), 0);
    memset(rank, 0, n * sizeof *rank);
    for (size_t r = 0; r < n; r++) {
        rank[r].meeting = &meeting;
        rank[r].peers = (gsa_peers){&rank[r], r, n, gather_in_memory, exchange_in_memory};
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
