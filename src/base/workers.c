/* Tasks on threads. */
#include "base/workers.h"

#include "base/error.h"
#include "base/memory.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#define THREADS_MOST 256u

struct crew {
    gsa__task task;
    void *ctx;
    size_t n_tasks;
    atomic_size_t next;   /* task that nobody has taken */
    atomic_size_t failed; /* lowest task that failed, or n_tasks */
    pthread_mutex_t lock;
    gsa_error failure; /* of that task */
    gsa_status status;
};

size_t gsa__workers_count(const gsa_env *env)
{
    if (env->n_threads > 0)
        return env->n_threads < THREADS_MOST ? env->n_threads : THREADS_MOST;
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : n < (long)THREADS_MOST ? (size_t)n : THREADS_MOST;
}

/* What a thread counts for: the pages of its stack that it touches, and what the system's allocator keeps for it. */
#define THREAD_COST ((uint64_t)256 << 10)

int gsa__thread_start(pthread_t *thread, void *(*run)(void *), void *ctx, const gsa_env *env)
{
    sigset_t all, before;
    if (!gsa__charge(env, THREAD_COST))
        return ENOMEM;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int code = pthread_create(thread, NULL, run, ctx);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (code != 0)
        gsa__discharge(env, THREAD_COST);
    return code;
}

void gsa__thread_join(pthread_t thread, const gsa_env *env)
{
    pthread_join(thread, NULL);
    gsa__discharge(env, THREAD_COST);
}

static void note_failure(struct crew *crew, size_t number, gsa_status status, const gsa_error *error)
{
    pthread_mutex_lock(&crew->lock);
    if (number < atomic_load(&crew->failed)) {
        atomic_store(&crew->failed, number);
        crew->status = status;
        crew->failure = *error;
    }
    pthread_mutex_unlock(&crew->lock);
}

static void run_from(struct crew *crew, size_t number)
{
    for (; number < crew->n_tasks; number = atomic_fetch_add(&crew->next, 1)) {
        gsa_error error = {0};
        if (number > atomic_load(&crew->failed))
            return;
        gsa_status status = crew->task(crew->ctx, number, &error);
        if (status != GSA_OK)
            note_failure(crew, number, status, &error);
    }
}

static void *help(void *memory)
{
    struct crew *crew = memory;
    run_from(crew, atomic_fetch_add(&crew->next, 1));
    return NULL;
}

gsa_status gsa__workers_run(size_t n_threads, size_t n_tasks, gsa__task task, void *ctx, const gsa_env *env,
                            gsa_error *error)
{
    struct crew crew = {.task = task, .ctx = ctx, .n_tasks = n_tasks, .next = 1, .failed = n_tasks};
    size_t n_helpers = (n_threads < n_tasks ? n_threads : n_tasks), n = 0;
    n_helpers -= n_helpers > 0;
    pthread_t *helper = gsa__alloc(env, n_helpers, sizeof *helper);
    if (!helper || pthread_mutex_init(&crew.lock, NULL) != 0) {
        gsa__free(env, helper);
        return gsa__fail_memory(env, error, "no memory for %zu threads", n_threads);
    }
    while (n < n_helpers && gsa__thread_start(&helper[n], help, &crew, env) == 0)
        n++; /* with fewer threads than wanted the result is the same */
    run_from(&crew, 0);
    while (n > 0)
        gsa__thread_join(helper[--n], env);
    pthread_mutex_destroy(&crew.lock);
    gsa__free(env, helper);
    if (crew.status != GSA_OK && error)
        *error = crew.failure;
    return crew.status;
}
