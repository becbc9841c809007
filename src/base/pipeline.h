/* Stages that overlap: threads fill the slots of a ring and work on what is in them; the caller takes slots in order.
 *
 *   P1  One thread at a time fills, in the order of the slots, and only while the pipeline runs; several work.
 *   P2  A slot is filled again after the caller released it, not before: it bounds what is in flight.
 *   P3  The pipeline stops running by itself where there is nothing to fill a slot with. */
#ifndef GSA_BASE_PIPELINE_H
#define GSA_BASE_PIPELINE_H

#include "base/memory.h"
#include "base/workers.h"

#include <stdbool.h>

typedef struct gsai_pipeline gsai_pipeline;

typedef struct gsai_stages {
    /* Returns false if the slot stays empty; the pipeline then stops running. NULL: the caller has filled it. */
    bool (*fill)(void *ctx, size_t slot);
    void (*work)(void *ctx, size_t slot); /* NULL: filling is all there is to do */
} gsai_stages;

/* Makes a pipeline that does not run yet; returns NULL if out of memory. With fewer threads than wanted the result is
 * the same; without any, gsai_pipeline_next runs the stages. */
gsai_pipeline *gsai_pipeline_new(size_t n_threads, size_t n_slots, const gsai_stages *stages, void *ctx,
                                 const gsai_env *env);
void gsai_pipeline_free(gsai_pipeline *pipeline);
void gsai_pipeline_start(gsai_pipeline *pipeline);
/* Waits for the next slot, which is the caller's until release. False: the pipeline does not run, and all slots that
 * were filled have been taken; no thread is in a stage. */
bool gsai_pipeline_next(gsai_pipeline *pipeline, size_t *slot);
void gsai_pipeline_release(gsai_pipeline *pipeline);
/* Forgets what is in flight; no thread is in a stage then. */
void gsai_pipeline_stop(gsai_pipeline *pipeline);

#endif
