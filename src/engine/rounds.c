/* Rounds on threads. Which copy learns which rows is the plan's: threads only decide who learns when. */
#include "engine/rounds.h"

#include "engine/workers.h"

gsa_status gsa__round_begin(gsa__round *round, const gsa_round *plan, gsa_error *error)
{
    gsa_status status = GSA_OK;
    round->rows_left = plan->n_rows;
    for (round->n_shards = 0; round->n_shards < plan->n_shards && status == GSA_OK; round->n_shards++) {
        round->copy[round->n_shards] = NULL;
        status =
            gsa_state_fork(round->job->state, plan->n_shards, &round->job->env, &round->copy[round->n_shards], error);
    }
    return status;
}

/* Task: one copy. The caller's thread runs the first, and tells. */
static gsa_status learn_part(void *ctx, size_t task, gsa_error *error)
{
    const gsa__round *round = ctx;
    size_t n_rows = round->batch->n_rows, from = n_rows * task / round->n_shards;
    size_t to = n_rows * (task + 1) / round->n_shards;
    return gsa__job_learn(round->job, round->copy[task], round->batch, round->order + from, to - from, task == 0,
                          error);
}

gsa_status gsa__round_learn(gsa__round *round, const gsa_batch *batch, const uint32_t *order, gsa_error *error)
{
    round->batch = batch;
    round->order = order;
    gsa_status status = gsa__workers_run(gsa__workers_count(&round->job->env), round->n_shards, learn_part, round,
                                         &round->job->env, error);
    if (status != GSA_OK)
        return status;
    round->rows_left -= batch->n_rows < round->rows_left ? batch->n_rows : round->rows_left;
    return round->rows_left == 0 ? gsa__round_end(round, error) : GSA_OK;
}

gsa_status gsa__round_end(gsa__round *round, gsa_error *error)
{
    gsa_state *merged = NULL;
    if (round->n_shards == 0)
        return GSA_OK;
    gsa_status status = gsa_state_merge((const gsa_state *const *)round->copy, round->n_shards, round->job->state,
                                        &round->job->env, &merged, error);
    gsa__round_drop(round);
    return status == GSA_OK ? gsa_state_replace(round->job->state, merged, error) : status;
}

void gsa__round_drop(gsa__round *round)
{
    while (round->n_shards > 0)
        gsa_state_free(round->copy[--round->n_shards]);
}
