/* Threads: tasks by number, each run once. */
#ifndef GSA_BASE_WORKERS_H
#define GSA_BASE_WORKERS_H

#include "base/memory.h"

#include <pthread.h>

/* Starts a thread that blocks all signals, which are for the threads of the caller. Returns 0 or an error number, also
 * if the budget does not allow one more stack. */
int gsai_thread_start(pthread_t *thread, void *(*run)(void *), void *ctx, const gsai_env *env);
void gsai_thread_join(pthread_t thread, const gsai_env *env);

typedef gsa_status (*gsai_task)(void *ctx, size_t number, gsa_error *error);

/* Threads to work with: those that were asked for, or as many as there are processors. */
size_t gsai_workers_count(const gsai_env *env);

/* Runs the tasks 0 .. n_tasks - 1 on up to n_threads threads, the caller's among them, which runs task 0; returns when
 * all have ended. Of several failures that of the lowest number is reported, whatever the threads: tasks below one that
 * failed are always run. */
gsa_status gsai_workers_run(size_t n_threads, size_t n_tasks, gsai_task task, void *ctx, const gsai_env *env,
                            gsa_error *error);

#endif
