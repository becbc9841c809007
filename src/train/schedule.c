/* The plan: which rows are learned when, and by how many replicas. Depends on numbers of rows and features, never on
 * the machine. */
#include <greedystep/distributed.h>
#include <greedystep/greedystep.h>

#include "learn/state.h"

size_t gsa_plan_block(const gsa_batch *rows, size_t from)
{
    size_t n = 0, n_entries = 0;
    while (n < GSA_BLOCK_ROWS && n_entries < GSA_BLOCK_ENTRIES && from + n < rows->n_rows) {
        n_entries +=
            rows->index ? (size_t)rows->row_start[from + n + 1] - (size_t)rows->row_start[from + n] : rows->width;
        n++;
    }
    return n;
}

/* Replicas slow learning down a little as long as weights are far from where they go, which is why a run begins with
 * one learner, and to merge many features takes as long as to learn as many rows; docs/decisions/0012 has the figures.
 * Rounds double, so that there are few of them, but what a run that is stopped has to do again stays bounded:
 * ROUND_ROWS rows, or a 16th of what it has learned. A replica has rows enough that learning them takes longer
 * than merging it; replicas that learn at a time have to fit into memory. */
#define MIN_ROWS ((uint64_t)1000000)
#define ROUND_ROWS ((uint64_t)1 << 26)
#define REPLICA_ROWS ((uint64_t)1 << 18)
#define MAX_CELLS ((uint64_t)1 << 29)

gsa_step gsa_plan_step(uint64_t n_rows, uint64_t n_features, uint64_t n_outputs, int knows_labels)
{
    gsa_step step = {1, 1, GSA_BLOCK_ROWS, 0};
    if (n_rows < MIN_ROWS || n_rows / 4 < n_features)
        return step;
    uint64_t max = n_rows / 16 > ROUND_ROWS ? n_rows / 16 : ROUND_ROWS;
    uint64_t replica_rows = n_features / 4 > REPLICA_ROWS ? n_features / 4 : REPLICA_ROWS;
    step.n_rows = n_rows < max ? n_rows : max;
    step.n_resident = step.n_replicas = GSA_MAX_RESIDENT;
    while (step.n_resident > 2 && n_features >= MAX_CELLS / step.n_resident / (2 * n_outputs + 2))
        step.n_resident /= 2;
    while (step.n_replicas < GSA_MAX_REPLICAS && 2 * step.n_replicas * replica_rows <= step.n_rows)
        step.n_replicas *= 2;
    if (!knows_labels)
        step.n_replicas = step.n_resident;
    return step;
}

gsa_step gsa_plan_shards(uint64_t n_rows, uint64_t n_shards)
{
    gsa_step step = {(size_t)n_shards, (size_t)n_shards, n_rows, 1};
    if (n_shards > GSA_MAX_RESIDENT)
        step.n_resident = 1;
    return step;
}

uint64_t gsa_plan_shard_start(uint64_t n_rows, uint64_t n_shards, uint64_t shard)
{
    return n_rows / n_shards * shard + n_rows % n_shards * shard / n_shards;
}

uint64_t gsa_plan_passes(uint64_t n_rows)
{
    uint64_t passes = ((uint64_t)1 << 18) / (n_rows > 0 ? n_rows : 1);
    return passes < 20 ? 20 : passes > 100 ? 100 : passes;
}

#define FIRST_OF_SHARDS ((uint64_t)163840)

uint64_t gsa_plan_first_rows(uint64_t n_rows, uint64_t n_shards)
{
    uint64_t rows = n_rows / 2 < FIRST_OF_SHARDS ? n_rows / 2 : FIRST_OF_SHARDS;
    return n_shards > 0 ? (rows + n_shards - 1) / n_shards : 0;
}

uint64_t gsa_plan_replicas(uint64_t n_rows, uint64_t shard_rows)
{
    uint64_t n = shard_rows > 0 ? (n_rows + shard_rows / 2) / shard_rows : 1;
    return n > 0 ? n : 1;
}

int gsa_plan_another_pass(const gsa_state *state, uint64_t asked)
{
    gsa_summary summary = {.size = sizeof summary};
    gsa_state_get_summary(state, &summary);
    uint64_t done = summary.pass > 0 ? summary.pass - 1 : 0; /* but for the first rows */
    if (asked > 0 || done == 0)
        return asked == 0 || done < asked;
    if (gsai_state_has_more_behind(state, done))
        return 0;
    if (summary.n_held_out == 0)
        return done < GSA_PASSES_UNJUDGED;
    return done < gsa_plan_passes(summary.n_rows / done) && summary.best_pass == summary.pass;
}
