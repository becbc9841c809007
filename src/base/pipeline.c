/* A ring of slots under one lock. Slots are counted from the first on: the numbers below only grow, and a number modulo
 * n_slots is its slot:  n_released <= n_begun <= n_filled <= n_released + n_slots. */
#include "base/pipeline.h"

#include "base/memory.h"

struct gsai_pipeline {
    gsai_env env;
    gsai_stages stages;
    void *ctx;
    pthread_mutex_t lock;
    pthread_cond_t has_work, has_result;
    pthread_t *thread;
    size_t n_threads, n_slots;
    bool *is_done; /* of each slot: work on it has ended */
    size_t n_released, n_begun, n_filled;
    size_t n_working; /* threads that are in a stage, other than filling */
    bool is_running, is_filling, quits;
};

static bool can_fill(const gsai_pipeline *pipeline)
{
    return pipeline->is_running && !pipeline->is_filling &&
           pipeline->n_filled - pipeline->n_released < pipeline->n_slots;
}

static void fill(gsai_pipeline *pipeline)
{
    size_t slot = pipeline->n_filled % pipeline->n_slots;
    pipeline->is_filling = true;
    pthread_mutex_unlock(&pipeline->lock);
    bool is_filled = !pipeline->stages.fill || pipeline->stages.fill(pipeline->ctx, slot);
    pthread_mutex_lock(&pipeline->lock);
    pipeline->is_filling = false;
    pipeline->is_done[slot] = false;
    pipeline->n_filled += is_filled;
    pipeline->is_running = pipeline->is_running && is_filled;
    if (is_filled)
        pthread_cond_signal(&pipeline->has_work);
    if (!pipeline->is_running)
        pthread_cond_signal(&pipeline->has_result);
}

static void work(gsai_pipeline *pipeline)
{
    size_t slot = pipeline->n_begun++ % pipeline->n_slots;
    pipeline->n_working++;
    pthread_mutex_unlock(&pipeline->lock);
    if (pipeline->stages.work)
        pipeline->stages.work(pipeline->ctx, slot);
    pthread_mutex_lock(&pipeline->lock);
    pipeline->n_working--;
    pipeline->is_done[slot] = true;
    pthread_cond_signal(&pipeline->has_result);
}

/* One thread works on what there is, because filling may wait for a stream. For others filling goes first: one thread
 * at a time does it, so all wait for it in the end. */
static void *run(void *memory)
{
    gsai_pipeline *pipeline = memory;
    pthread_mutex_lock(&pipeline->lock);
    while (!pipeline->quits) {
        if (pipeline->n_begun < pipeline->n_filled && (pipeline->n_working == 0 || !can_fill(pipeline)))
            work(pipeline);
        else if (can_fill(pipeline))
            fill(pipeline);
        else
            pthread_cond_wait(&pipeline->has_work, &pipeline->lock);
    }
    pthread_mutex_unlock(&pipeline->lock);
    return NULL;
}

gsai_pipeline *gsai_pipeline_new(size_t n_threads, size_t n_slots, const gsai_stages *stages, void *ctx,
                                 const gsai_env *env)
{
    gsai_pipeline *pipeline = gsai_alloc_zeroed(env, 1, sizeof *pipeline);
    if (!pipeline)
        return NULL;
    pipeline->env = *env;
    pipeline->stages = *stages;
    pipeline->ctx = ctx;
    pipeline->n_slots = n_slots;
    pipeline->thread = gsai_alloc(env, n_threads, sizeof *pipeline->thread);
    pipeline->is_done = gsai_alloc_zeroed(env, n_slots, sizeof *pipeline->is_done);
    pthread_mutex_init(&pipeline->lock, NULL); /* these three cannot fail where the defaults are asked for */
    pthread_cond_init(&pipeline->has_work, NULL);
    pthread_cond_init(&pipeline->has_result, NULL);
    while (pipeline->thread && pipeline->is_done && pipeline->n_threads < n_threads &&
           gsai_thread_start(&pipeline->thread[pipeline->n_threads], run, pipeline, env) == 0)
        pipeline->n_threads++;
    if (pipeline->thread && pipeline->is_done)
        return pipeline;
    gsai_pipeline_free(pipeline);
    return NULL;
}

void gsai_pipeline_free(gsai_pipeline *pipeline)
{
    if (!pipeline)
        return;
    gsai_env env = pipeline->env;
    pthread_mutex_lock(&pipeline->lock);
    pipeline->quits = true;
    pthread_cond_broadcast(&pipeline->has_work);
    pthread_mutex_unlock(&pipeline->lock);
    while (pipeline->n_threads > 0)
        gsai_thread_join(pipeline->thread[--pipeline->n_threads], &env);
    pthread_cond_destroy(&pipeline->has_result);
    pthread_cond_destroy(&pipeline->has_work);
    pthread_mutex_destroy(&pipeline->lock);
    gsai_free(&env, pipeline->is_done);
    gsai_free(&env, pipeline->thread);
    gsai_free(&env, pipeline);
}

void gsai_pipeline_start(gsai_pipeline *pipeline)
{
    pthread_mutex_lock(&pipeline->lock);
    pipeline->is_running = true;
    pthread_cond_signal(&pipeline->has_work);
    pthread_mutex_unlock(&pipeline->lock);
}

bool gsai_pipeline_next(gsai_pipeline *pipeline, size_t *slot)
{
    pthread_mutex_lock(&pipeline->lock);
    *slot = pipeline->n_released % pipeline->n_slots;
    while (pipeline->n_released < pipeline->n_filled ? !pipeline->is_done[*slot]
                                                     : pipeline->is_running || pipeline->is_filling)
        if (pipeline->n_threads > 0)
            pthread_cond_wait(&pipeline->has_result, &pipeline->lock);
        else if (pipeline->n_begun < pipeline->n_filled)
            work(pipeline);
        else
            fill(pipeline);
    bool is_there = pipeline->n_released < pipeline->n_filled;
    pthread_mutex_unlock(&pipeline->lock);
    return is_there;
}

void gsai_pipeline_release(gsai_pipeline *pipeline)
{
    pthread_mutex_lock(&pipeline->lock);
    pipeline->n_released++;
    pthread_cond_signal(&pipeline->has_work);
    pthread_mutex_unlock(&pipeline->lock);
}

void gsai_pipeline_stop(gsai_pipeline *pipeline)
{
    pthread_mutex_lock(&pipeline->lock);
    pipeline->is_running = false;
    pipeline->n_begun = pipeline->n_filled; /* no work begins on what is left */
    while (pipeline->is_filling || pipeline->n_working > 0) {
        pthread_cond_wait(&pipeline->has_result, &pipeline->lock);
        pipeline->n_begun = pipeline->n_filled;
    }
    pipeline->n_released = pipeline->n_filled;
    pthread_mutex_unlock(&pipeline->lock);
}
