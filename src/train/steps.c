/* Running a step. The schedule determines which learner has which rows; this file only when and in which thread they
 * are learned. */
#include "train/steps.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/os.h"
#include "base/workers.h"
#include "learn/state.h"
#include "train/comm.h"

#include <string.h>

void gsai_steps_free(gsai_steps *steps)
{
    for (size_t i = 0; i < GSA_MAX_RESIDENT; i++)
        gsai_free(&steps->replicas.job->env, steps->waiting[i].order);
    gsai_replicas_free(&steps->replicas);
}

/* ---- interleaved ------------------------------------------------------------------------------------------------ */

/* Reads the next block of the input for a learner. */
static gsa_status add_waiting(gsai_steps *steps, gsai_input *input, gsa_state *learner, gsa_error *error)
{
    const gsai_env *env = &input->job->env;
    uint32_t **order = &steps->waiting[steps->n_waiting].order;
    GSA_TRY(gsai_input_read(input, error));
    if (!*order)
        *order = gsai_alloc(env, GSAI_MAX_BLOCK_ROWS, sizeof **order);
    GSAI_TRY_MEMORY(*order, env, error, "no memory for the order of %u rows", GSAI_MAX_BLOCK_ROWS);
    gsai_block_order(input->is_shuffled, gsai_state_param(input->job->state, GSAI_PARAM_seed), input->pass,
                     input->number, (uint32_t)input->block.n_rows, *order);
    steps->waiting[steps->n_waiting].block = input->block;
    steps->waiting[steps->n_waiting++].learner = learner;
    return GSA_OK;
}

/* Lets a replica learn a block that waits (task). */
static gsa_status learn_task(void *ctx, size_t task, gsa_error *error)
{
    const gsai_steps *steps = ctx;
    const gsa_batch *block = &steps->waiting[task].block;
    gsa_state *replica = steps->waiting[task].learner;
    GSA_TRY(gsai_job_learn(steps->replicas.job, replica, block, steps->waiting[task].order, block->n_rows, 0, error));
    return gsa_state_close_group(replica, error);
}

static gsa_status learn_waiting(gsai_steps *steps, gsa_error *error)
{
    const gsai_job *job = steps->replicas.job;
    size_t n = steps->n_waiting;
    steps->n_waiting = 0;
    GSA_TRY(gsai_workers_run(gsai_workers_count(&job->env), n, learn_task, steps, &job->env, error));
    if (n > 0 && job->hooks.progress) /* each of the replicas says how many rows all of them will have learned */
        job->hooks.progress(job->hooks.ctx, steps->waiting[n - 1].learner, job->reader);
    return GSA_OK;
}

/* Assigns blocks in turn to the replicas in memory until they have n_rows rows. GSA_END if the input ended before. */
static gsa_status learn_in_turn(gsai_steps *steps, gsai_input *input, uint64_t n_rows, gsa_round_report *report,
                                gsa_error *error)
{
    const gsai_replicas *replicas = &steps->replicas;
    size_t n_own = 0, n_threads = gsai_workers_count(&input->job->env);
    uint64_t n_here;
    gsa_status status = GSA_OK;
    for (size_t i = 0; i < replicas->n; i++)
        n_own += replicas->resident[i] != NULL;
    gsai_prefetch_set_group(input->prefetch, replicas->n);
    for (size_t n = 0; n_rows > 0 && (status = gsai_input_find(input, &n_here, error)) == GSA_OK; n++) {
        gsa_state *learner = replicas->resident[n % replicas->n];
        if (learner)
            GSA_TRY(add_waiting(steps, input, learner, error));
        report->n_mine += learner ? n_here : 0;
        report->n_rows += n_here;
        n_rows -= n_here < n_rows ? n_here : n_rows;
        gsai_input_leave(input, n_here);
        bool is_full = steps->n_waiting == n_own || steps->n_waiting >= n_threads;
        if (is_full || gsai_prefetch_releases(input->prefetch))
            GSA_TRY(learn_waiting(steps, error));
    }
    if (status == GSA_OK || status == GSA_END)
        GSA_TRY(learn_waiting(steps, error));
    return status;
}

/* Merges the replicas of all processes. */
static gsa_status merge_replicas(gsai_replicas *replicas, gsa_round_report *report, gsa_error *error)
{
    gsai_job *job = replicas->job;
    struct {
        uint64_t new_labels, n_rows;
    } mine = {gsai_replicas_have_new_labels(replicas), report->n_mine}, each;
    const unsigned char *all;
    const size_t *sizes;
    bool new_labels = false;
    double began = gsai_os_seconds();
    GSA_TRY(gsai_comm_allgather(job, GSA_OK, &mine, sizeof mine, &all, &sizes, error));
    report->n_fewest = mine.n_rows;
    for (size_t r = 0; r < gsai_comm_size(job); r++) {
        memcpy(&each, all + r * sizeof each, sizeof each);
        new_labels = new_labels || each.new_labels != 0;
        report->n_fewest = each.n_rows < report->n_fewest ? each.n_rows : report->n_fewest;
    }
    double gathered = gsai_os_seconds();
    uint64_t n_sent = job->n_sent;
    report->n_shards = replicas->n_begun;
    GSA_TRY(gsai_replicas_merge(replicas, new_labels, report->n_rows, error));
    report->waiting = gathered - began;
    report->merging += gsai_os_seconds() - gathered;
    report->bytes_sent = job->n_sent - n_sent;
    return GSA_OK;
}

static gsa_status learn_interleaved(gsai_steps *steps, gsai_input *input, const gsa_step *step, gsa_error *error)
{
    gsai_job *job = input->job;
    gsai_replicas *replicas = &steps->replicas;
    gsa_round_report report = {0};
    size_t n_groups = step->n_replicas / step->n_resident;
    uint64_t group_rows = step->n_rows / n_groups, left = gsai_input_rows_left(input), next_rows;
    uint64_t n_filled = left / group_rows + (left % group_rows > 0);
    /* Replicas without rows are not assigned to processes. */
    size_t n_dealt = n_filled < n_groups ? (size_t)n_filled * step->n_resident : step->n_replicas;
    gsa_status status = gsai_replicas_begin(replicas, step, gsai_comm_first(job, n_dealt, 0),
                                            gsai_comm_first(job, n_dealt, 1), NULL, error);
    while (status == GSA_OK) {
        double began = gsai_os_seconds();
        GSA_TRY(gsai_replicas_fork(replicas, error));
        double forked = gsai_os_seconds();
        gsai_input_assign(input, group_rows,
                          (gsai_deal){replicas->first, replicas->n, replicas->own_first, replicas->own_end});
        status = learn_in_turn(steps, input, group_rows, &report, error);
        double learned = gsai_os_seconds();
        report.forking += forked - began;
        report.learning += learned - forked;
        if (status != GSA_OK || replicas->n_begun == step->n_replicas)
            break;
        status = gsai_replicas_settle(replicas, report.n_rows, error);
        report.merging += gsai_os_seconds() - learned;
        if (status == GSA_OK)
            status = gsai_input_find(input, &next_rows, error);
    }
    if (status != GSA_OK && status != GSA_END)
        return status;
    GSA_TRY(merge_replicas(replicas, &report, error));
    if (job->hooks.round_ended)
        job->hooks.round_ended(job->hooks.ctx, &report);
    return status;
}

gsa_status gsai_steps_next(gsai_steps *steps, gsai_input *input, gsa_error *error)
{
    gsai_job *job = input->job;
    uint64_t n_rows;
    GSA_TRY(gsai_input_find(input, &n_rows, error));
    if (input->n_taken >= n_rows) {
        gsai_input_leave(input, n_rows);
        return GSA_OK;
    }
    gsa_summary summary = gsai_summary_of(job->state);
    bool is_paper = gsai_state_param(job->state, GSAI_PARAM_method) == GSAI_METHOD_PAPER;
    /* Held-out rows find how far to go in a merge. */
    if (input->n_taken == 0 && input->is_shuffled && summary.n_held_out > 0 && !is_paper) {
        bool is_multiclass = gsai_state_n_outputs(job->state) > 1;
        gsa_step step = gsa_plan_step(summary.n_rows, summary.n_features, is_multiclass ? summary.n_classes : 1,
                                      !is_multiclass || summary.pass > 0);
        if (step.n_replicas > 1) {
            GSA_TRY(learn_interleaved(steps, input, &step, error));
            return gsai_input_tell_whole(input, error);
        }
    }
    size_t n_taken = (size_t)input->n_taken;
    GSA_TRY(add_waiting(steps, input, job->state, error));
    steps->n_waiting = 0;
    gsai_prefetch_set_group(input->prefetch, 1);
    GSA_TRY(gsai_job_learn(job, job->state, &input->block, steps->waiting[0].order + n_taken, (size_t)n_rows - n_taken,
                           1, error));
    gsai_input_leave(input, n_rows);
    return job->hooks.is_live ? GSA_OK : gsai_input_tell_whole(input, error);
}

/* ---- contiguous ------------------------------------------------------------------------------------------------- */

static gsa_status learn_block(gsai_shards *shards, gsa_state *learner, uint64_t shard, uint64_t number,
                              const gsa_batch *rows, gsa_error *error)
{
    gsai_block_order(gsai_state_param(learner, GSAI_PARAM_order) != GSAI_ORDER_FILE,
                     gsai_state_param(learner, GSAI_PARAM_seed), gsai_summary_of(learner).pass, (shard << 32) + number,
                     (uint32_t)rows->n_rows, shards->order);
    GSA_TRY(gsai_job_learn(shards->job, learner, rows, shards->order, rows->n_rows, 1, error));
    return gsa_state_close_group(learner, error);
}

/* Lets a learner learn the next n_rows rows of the reader, or those that there are. */
static gsa_status learn_shard(gsai_shards *shards, gsa_state *learner, uint64_t shard, uint64_t n_rows,
                              uint64_t *n_learned, gsa_error *error)
{
    gsa_batch rows;
    gsa_status status = GSA_OK;
    *n_learned = 0;
    for (uint64_t number = 0; status == GSA_OK && *n_learned < n_rows; number++) {
        status = gsai_shards_read(shards, n_rows - *n_learned, &rows, error);
        if (status == GSA_OK)
            status = learn_block(shards, learner, shard, number, &rows, error);
        *n_learned += status == GSA_OK ? rows.n_rows : 0;
    }
    return status == GSA_END ? GSA_OK : status;
}

gsa_status gsa_train_shard(gsa_state *replica, gsa_reader *reader, uint64_t shard, uint64_t n_skipped,
                           const gsa_call *call, uint64_t *n_rows, gsa_error *error)
{
    gsai_env own;
    GSA_TRY(gsai_env_take(&own, &gsai_state_env(replica)->memory, call, error));
    gsai_job job = {.state = replica, .reader = reader, .env = own};
    gsai_shards shards = {.job = &job};
    gsa_status status = gsai_shards_open(&shards, error);
    if (status == GSA_OK)
        status = gsai_shards_skip(&shards, n_skipped, error);
    if (status == GSA_OK)
        status = learn_shard(&shards, replica, shard, UINT64_MAX, n_rows, error);
    gsai_shards_free(&shards);
    return status;
}

gsa_status gsai_steps_learn_shards(gsai_steps *steps, gsai_shards *shards, gsa_error *error)
{
    gsai_replicas *replicas = &steps->replicas;
    gsa_summary summary = gsai_summary_of(shards->job->state);
    gsa_step step = gsa_plan_shards(shards->n_rows, shards->n);
    GSA_TRY(gsai_shards_rewind(shards, error));
    GSA_TRY(gsai_replicas_begin(replicas, &step, shards->own_first, shards->own_first + shards->n_own, shards->rows,
                                error));
    while (replicas->n_begun < step.n_replicas) {
        GSA_TRY(gsai_replicas_fork(replicas, error));
        for (size_t i = 0; i < replicas->n; i++) {
            size_t number = replicas->first + i, own = number - shards->own_first;
            if (!replicas->resident[i])
                continue;
            uint64_t n = 0, n_skipped = summary.pass == 1 ? shards->first[own] : 0; /* learned as the first of all */
            GSA_TRY(gsai_shards_skip(shards, n_skipped, error));
            GSA_TRY(learn_shard(shards, replicas->resident[i], number, shards->rows[own] - n_skipped, &n, error));
            if (n_skipped + n != shards->rows[own])
                return gsai_fail(error, GSA_CONFLICT, "the input had %llu rows and has fewer now; train on a copy",
                                 (unsigned long long)shards->n_rows);
        }
        if (replicas->n < step.n_replicas)
            GSA_TRY(gsai_replicas_settle(replicas, shards->n_rows, error));
    }
    return gsai_replicas_merge(replicas, false, shards->n_rows, error);
}

gsa_status gsai_steps_learn_first(gsai_shards *shards, const gsai_bytes *first, gsa_error *error)
{
    gsai_job *job = shards->job;
    const unsigned char *frames, *frame;
    const size_t *sizes;
    uint64_t number = 0;
    size_t frame_size;
    gsai_rows all;
    GSA_TRY(gsai_comm_allgather(job, GSA_OK, first->at, first->size, &frames, &sizes, error));
    gsai_rows_init(&all, 0, 0, &job->env);
    all.without_places = true; /* rows of other processes have none here */
    gsa_status status = GSA_OK;
    for (size_t left = gsai_comm_total(job, sizes);
         status == GSA_OK && gsai_frame_next(&frames, &left, &frame, &frame_size);)
        status = gsai_rows_unpack(&all, frame, frame_size, error);
    const gsa_batch rows = gsai_rows_view(&all);
    for (size_t at = 0, n; at < rows.n_rows && status == GSA_OK; at += n) {
        n = gsa_plan_block(&rows, at);
        const gsa_batch block = gsai_batch_slice(&rows, at, n);
        status = learn_block(shards, job->state, GSA_FIRST_SHARD, number++, &block, error);
    }
    gsai_rows_free(&all);
    return status == GSA_OK ? gsa_state_end_pass(job->state, error) : status;
}

gsa_status gsa_train_replicas(gsa_state *state, const gsa_batch *batch, const uint32_t *rows, size_t n_rows,
                              size_t n_replicas, const gsa_call *call, gsa_error *error)
{
    gsai_env own;
    GSA_TRY(gsai_env_take(&own, &gsai_state_env(state)->memory, call, error));
    if (n_replicas == 0)
        return gsai_fail(error, GSA_ARGUMENT, "0 replicas: expected at least one");
    gsai_job job = {.state = state, .env = own};
    gsai_replicas replicas = {.job = &job};
    const gsa_step step = {n_replicas, n_replicas, n_rows, 1};
    gsa_status status = gsai_replicas_begin(&replicas, &step, 0, n_replicas, NULL, error);
    if (status == GSA_OK)
        status = gsai_replicas_fork(&replicas, error);
    for (size_t i = 0; i < n_replicas && status == GSA_OK; i++) {
        uint64_t from = gsa_plan_shard_start(n_rows, n_replicas, i),
                 end = gsa_plan_shard_start(n_rows, n_replicas, i + 1);
        status = gsai_job_learn(&job, replicas.resident[i], batch, rows + from, (size_t)(end - from), 0, error);
    }
    if (status == GSA_OK)
        status = gsai_replicas_merge(&replicas, false, n_rows, error);
    gsai_replicas_free(&replicas);
    return status;
}
