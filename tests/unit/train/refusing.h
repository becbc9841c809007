/* Runs in which the n-th allocation is refused, n = 1, 2, 3 ..., alone or with all later ones, until nothing is refused
 * any more: a status that says so and a message, or the bytes of the undisturbed run; and nothing is left. Then the
 * same with ever larger memory limits: GSA_LIMIT or the same bytes, and never more memory than the limit. */
#ifndef TESTS_UNIT_ENGINE_REFUSING_H
#define TESTS_UNIT_ENGINE_REFUSING_H

#include "../learn/bytes.h"
#include "support/env.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>

/* ---- memory that is refused -------------------------------------------------------------------------------------- */

/* Threads share it. */
typedef struct refusing {
    size_t first, last; /* requests that are refused, from 1 */
    atomic_size_t n_requests, n_refused;
    atomic_long n_live;
} refusing;

static inline bool is_refused(refusing *r)
{
    size_t n = atomic_fetch_add(&r->n_requests, 1) + 1;
    bool refused = n >= r->first && n <= r->last;
    atomic_fetch_add(&r->n_refused, refused);
    return refused;
}

static inline void *take(void *ctx, size_t size)
{
    void *memory = is_refused(ctx) ? NULL : malloc(size);
    atomic_fetch_add(&((refusing *)ctx)->n_live, memory != NULL);
    return memory;
}

static inline void *take_zeroed(void *ctx, size_t size)
{
    void *memory = is_refused(ctx) ? NULL : calloc(1, size);
    atomic_fetch_add(&((refusing *)ctx)->n_live, memory != NULL);
    return memory;
}

static inline void *take_more(void *ctx, void *memory, size_t size)
{
    return is_refused(ctx) ? NULL : realloc(memory, size);
}

static inline void give_back(void *ctx, void *memory)
{
    atomic_fetch_sub(&((refusing *)ctx)->n_live, 1);
    free(memory);
}

/* ---- runs -------------------------------------------------------------------------------------------------------- */

/* Of one kind of run: what it says goes to `out`, and all that it takes from env it gives back. */
typedef gsa_status (*run_fn)(const gsai_env *env, bytes *out, gsa_error *error);

static inline void refuse_each(run_fn run, unsigned n_threads, bool and_all_later)
{
    bytes whole = {0};
    size_t n_refused = 1, n_failed = 0, n = 0;
    must_be_ok(run(NULL, &whole, NULL), NULL);
    while (n_refused > 0) {
        n++;
        refusing memory = {.first = n, .last = and_all_later ? SIZE_MAX : n};
        gsai_env env = {ENV_SIZES, .call.n_threads = n_threads};
        env.memory = (gsa_memory){sizeof(gsa_memory), take, take_zeroed, take_more, give_back, &memory, NULL};
        bytes out = {0};
        gsa_error error = {0};
        gsa_status status = run(&env, &out, &error);
        n_refused = atomic_load(&memory.n_refused);
        if (status != GSA_OK && (status != GSA_MEMORY || strlen(error.message) < 9 || n_refused == 0))
            fail_msg("request %zu: status %d, %s", n, (int)status, error.message);
        if (status == GSA_OK && (out.size != whole.size || memcmp(out.data, whole.data, out.size) != 0))
            fail_msg("request %zu was refused, nothing was said, and the result is another", n);
        if (atomic_load(&memory.n_live) != 0)
            fail_msg("request %zu: %ld blocks are left", n, atomic_load(&memory.n_live));
        n_failed += status != GSA_OK;
        free(out.data);
    }
    assert_true(n_failed > 5);
    free(whole.data);
}

static inline void refuse_all_ways(run_fn run)
{
    refuse_each(run, 1, false);
    refuse_each(run, 1, true);
    refuse_each(run, 3, false);
}

/* ---- memory that is limited -------------------------------------------------------------------------------------- */

/* Counts bytes apart from the library: each block has its size in front. */
typedef struct meter {
    atomic_size_t now, most;
} meter;

static inline void note(meter *m, size_t now)
{
    size_t most = atomic_load(&m->most);
    while (now > most && !atomic_compare_exchange_weak(&m->most, &most, now))
        ;
}

static inline void *measure_zeroed(void *ctx, size_t size)
{
    size_t *block = calloc(1, size + 16);
    *block = size;
    note(ctx, atomic_fetch_add(&((meter *)ctx)->now, size) + size);
    return (char *)block + 16;
}

static inline void measure_release(void *ctx, void *memory)
{
    size_t *block = (size_t *)(void *)((char *)memory - 16);
    atomic_fetch_sub(&((meter *)ctx)->now, *block);
    free(block);
}

static inline void *measure_resize(void *ctx, void *memory, size_t size)
{
    size_t *block = realloc((char *)memory - 16, size + 16), before = *block;
    *block = size;
    note(ctx, atomic_fetch_add(&((meter *)ctx)->now, size - before) + size - before);
    return (char *)block + 16;
}

static inline void limit_each(run_fn run, unsigned n_threads)
{
    bytes whole = {0};
    size_t n_refused = 0, n_fine = 0;
    must_be_ok(run(NULL, &whole, NULL), NULL);
    for (uint64_t limit = 1024; n_fine < 3; limit += limit / 8) {
        meter memory = {0};
        gsa_budget budget = {.size = sizeof budget, .limit = limit};
        gsai_env env = {ENV_SIZES, .call.n_threads = n_threads};
        env.memory = (gsa_memory){sizeof(gsa_memory), measure_zeroed, measure_zeroed, measure_resize,
                                  measure_release,    &memory,        &budget};
        bytes out = {0};
        gsa_error error = {0};
        gsa_status status = run(&env, &out, &error);
        if (status != GSA_OK && (status != GSA_LIMIT || !strstr(error.message, "memory limit")))
            fail_msg("limit %llu: status %d, %s", (unsigned long long)limit, (int)status, error.message);
        if (status == GSA_OK && (out.size != whole.size || memcmp(out.data, whole.data, out.size) != 0))
            fail_msg("limit %llu: the result is another", (unsigned long long)limit);
        if (atomic_load(&memory.most) > limit || budget.used != 0 || atomic_load(&memory.now) != 0)
            fail_msg("limit %llu: %zu bytes were taken, %zu are left", (unsigned long long)limit,
                     atomic_load(&memory.most), budget.used);
        n_refused += status != GSA_OK;
        n_fine += status == GSA_OK;
        free(out.data);
    }
    assert_true(n_refused > 5);
    free(whole.data);
}

#endif
