/* Stages that overlap: threads fill the slots of a ring and work on what is in them; the caller takes slots in order.
 *
 *   P1  One thread at a time fills, in the order of the slots, and only while the pipeline runs; several work.
 *   P2  A slot is filled again after the caller released it, not before: it bounds what is in flight.
 *   P3  The pipeline stops running by itself where there is nothing to fill a slot with. */
#ifndef GSA_BASE_PIPELINE_H
#define GSA_BASE_PIPELINE_H

#include "base/workers.h"

#include <stdbool.h>

typedef struct gsa__pipeline gsa__pipeline;

typedef struct gsa__stages {
    bool (*fill)(void *ctx, size_t slot); /* false: the slot stays empty, and the pipeline stops running */
    void (*work)(void *ctx, size_t slot);
} gsa__stages;

/* NULL if there is no memory, or no thread. With fewer threads than wanted the result is the same. */
gsa__pipeline *gsa__pipeline_new(size_t n_threads, size_t n_slots, const gsa__stages *stages, void *ctx,
                                 const gsa_env *env);
void gsa__pipeline_free(gsa__pipeline *pipeline);
void gsa__pipeline_start(gsa__pipeline *pipeline);
/* Waits for the next slot, which is the caller's until release. False: the pipeline does not run, and all slots that
 * were filled have been taken; no thread is in a stage. */
bool gsa__pipeline_next(gsa__pipeline *pipeline, size_t *slot);
void gsa__pipeline_release(gsa__pipeline *pipeline);
/* Forgets what is in flight; no thread is in a stage then. */
void gsa__pipeline_stop(gsa__pipeline *pipeline);

#endif
