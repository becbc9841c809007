/* Tasks on threads. */
#include "base/workers.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/os.h"

#include <errno.h>
#include <stdatomic.h>

#define MAX_THREADS 256u

struct pool {
    gsai_task task;
    void *ctx;
    size_t n_tasks;
    atomic_size_t next;   /* task that is not taken yet */
    atomic_size_t failed; /* lowest task that failed, or n_tasks */
    pthread_mutex_t lock;
    gsa_error failure; /* of that task */
    gsa_status status;
};

size_t gsai_workers_count(const gsai_env *env)
{
    if (env->call.n_threads > 0)
        return env->call.n_threads < MAX_THREADS ? env->call.n_threads : MAX_THREADS;
    size_t n = gsai_os_processors();
    return n < MAX_THREADS ? n : MAX_THREADS;
}

/* Bytes charged per thread: the pages of its stack that it touches, and what the system's allocator keeps for it. */
#define THREAD_COST ((uint64_t)256 << 10)

int gsai_thread_start(pthread_t *thread, void *(*run)(void *), void *ctx, const gsai_env *env)
{
    if (!gsai_charge(env, THREAD_COST))
        return ENOMEM;
    int code = gsai_os_thread_start(thread, run, ctx);
    if (code != 0)
        gsai_discharge(env, THREAD_COST);
    return code;
}

void gsai_thread_join(pthread_t thread, const gsai_env *env)
{
    pthread_join(thread, NULL);
    gsai_discharge(env, THREAD_COST);
}

static void run_from(struct pool *pool, size_t number)
{
    for (; number < pool->n_tasks && number <= atomic_load(&pool->failed); number = atomic_fetch_add(&pool->next, 1)) {
        gsa_error error = {0};
        gsa_status status = pool->task(pool->ctx, number, &error);
        if (status == GSA_OK)
            continue;
        pthread_mutex_lock(&pool->lock);
        if (number < atomic_load(&pool->failed)) {
            atomic_store(&pool->failed, number);
            pool->status = status;
            pool->failure = error;
        }
        pthread_mutex_unlock(&pool->lock);
    }
}

static void *help(void *memory)
{
    struct pool *pool = memory;
    run_from(pool, atomic_fetch_add(&pool->next, 1));
    return NULL;
}

gsa_status gsai_workers_run(size_t n_threads, size_t n_tasks, gsai_task task, void *ctx, const gsai_env *env,
                            gsa_error *error)
{
    struct pool pool = {.task = task, .ctx = ctx, .n_tasks = n_tasks, .next = 1, .failed = n_tasks};
    size_t n_helpers = (n_threads < n_tasks ? n_threads : n_tasks), n = 0;
    n_helpers -= n_helpers > 0;
    pthread_t *helper = gsai_alloc(env, n_helpers, sizeof *helper);
    if (!helper || pthread_mutex_init(&pool.lock, NULL) != 0) {
        gsai_free(env, helper);
        return gsai_fail_memory(env, error, "no memory for %zu threads", n_threads);
    }
    while (n < n_helpers && gsai_thread_start(&helper[n], help, &pool, env) == 0)
        n++; /* with fewer threads than wanted the result is the same */
    run_from(&pool, 0);
    while (n > 0)
        gsai_thread_join(helper[--n], env);
    pthread_mutex_destroy(&pool.lock);
    gsai_free(env, helper);
    if (pool.status != GSA_OK && error)
        *error = pool.failure;
    return pool.status;
}
