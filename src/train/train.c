/* The engine: trains a state on a reader.
 *
 * Rows that fit in memory are solved (optimum.c). All others, and streams, are learned in passes; a pass is a sequence
 * of steps (schedule.c plans them, steps.c runs them) over the blocks of the input (input.c), or one step over its
 * shards (shards.c). The position of the run is in the state, so a run that was stopped continues by skipping the rows
 * it has taken. Several processes (comm.h) all do this, and end with the same state. No mathematics here. */
#include "base/workers.h"
#include "train/comm.h"
#include "train/input.h"
#include "train/optimum.h"
#include "train/steps.h"

#include "learn/compact.h"
#include "learn/names.h"
#include "learn/schema.h"
#include "learn/state.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "data/reader.h"

#include <greedystep/train.h>

#include <math.h>
#include <string.h>

/* If the number of passes is open, none is begun after this many rows. */
#define ROWS_ENOUGH 10000000u

static bool is_paper(const gsa_state *state)
{
    return gsai_state_param(state, GSAI_PARAM_method) == GSAI_METHOD_PAPER;
}

/* ---- notices ---------------------------------------------------------------------------------------------------- */

/* Tells after the first pass that rows are sorted, which matters if there are several blocks, and of labels that came
 * late. */
static void tell_of_labels(const gsai_input *input)
{
    const gsa_train_hooks *hooks = &input->job->hooks;
    gsa_error note;
    uint64_t n_classes = gsai_summary_of(input->job->state).n_classes, n_first = input->n_first_labels;
    if (!hooks->notice)
        return;
    if ((!input->is_shuffled || input->number > 1) && n_classes > 1 && gsai_mixing_is_poor(&input->mixing))
        hooks->notice(hooks->ctx, GSA_NOTICE_SORTED,
                      "the rows seem to be sorted by label, which makes for a worse model; shuffle "
                      "them first, for instance with shuf");
    if (n_first == 0 || n_classes == n_first)
        return;
    (void)gsai_fail(&note, GSA_LABEL, "label '%.60s'%s first came after %u rows; check that it is meant to be a class",
                    gsai_state_labels(input->job->state)->at[n_first].text,
                    n_classes > n_first + 1 ? ", and others," : "", GSA_FIRST_ROWS);
    hooks->notice(hooks->ctx, GSA_NOTICE_LATE_LABELS, note.message);
}

static void tell_of_tiny_features(const gsai_job *job)
{
    gsa_error note;
    size_t n = job->hooks.notice && !is_paper(job->state) ? gsai_state_count_tiny(job->state) : 0;
    if (n == 0)
        return;
    (void)gsai_fail(&note, GSA_INPUT,
                    "%zu feature%s values below 1e-18, too small to be learned: give %s in another unit", n,
                    n == 1 ? " has" : "s have", n == 1 ? "it" : "them");
    job->hooks.notice(job->hooks.ctx, GSA_NOTICE_TINY_FEATURES, note.message);
}

/* Bytes per feature with one output, and the share of the memory that a table with hashed features may have if all else
 * is to fit too. */
#define RECORD_SIZE ((uint64_t)16)
#define TABLE_SHARE 8

/* Adds what to do about features that need a table above the memory limit. */
static void suggest_smaller_table(const gsai_job *job, gsa_error *error)
{
    if (!error || error->status != GSA_LIMIT || !strstr(error->message, GSAI_NEEDS_TABLE))
        return;
    gsa_error reason = *error;
    unsigned bits = 1;
    while (bits < 24 && (RECORD_SIZE << (bits + 1)) <= gsai_memory_limit(&job->env) / TABLE_SHARE)
        bits++;
    if (gsa_state_schema(job->state))
        (void)gsai_fail_param(error, "bits", GSA_LIMIT, "%s; hash to fewer bits, such as %u, or raise the limit",
                              reason.message, bits);
    else
        (void)gsai_fail_param(error, "memory_limit", GSA_LIMIT,
                              "%s; number the features without large gaps, or raise the limit", reason.message);
    error->line = reason.line;
    error->byte = reason.byte;
    error->row = reason.row;
}

/* ---- passes ----------------------------------------------------------------------------------------------------- */

static gsa_status end_pass(gsai_job *job, gsa_error *error)
{
    gsa_status status = GSA_OK;
    if (gsai_state_passes(job->state) == 0)
        GSA_TRY(gsa_state_checkpoint_best(job->state, &job->env.call, error));
    GSA_TRY(gsa_state_end_pass(job->state, error));
    if (gsai_comm_size(job) > 1 && gsai_should_stop(&job->env)) /* it may have learned nothing of this pass */
        status = gsai_fail(error, GSA_STOPPED, "stopped on request");
    return gsai_comm_end_pass(job, status, error);
}

static gsa_status run_pass(gsai_steps *steps, gsai_input *input, gsa_error *error)
{
    gsai_job *job = input->job;
    gsa_status status = gsai_input_begin_pass(input, error);
    while (status == GSA_OK)
        status = gsai_steps_next(steps, input, error);
    if (status != GSA_END)
        return status;
    GSA_TRY(gsai_input_end_pass(input, error));
    if (input->pass == 0)
        tell_of_labels(input);
    if (job->hooks.is_live)
        return GSA_OK;
    GSA_TRY(end_pass(job, error));
    return gsai_input_tell_whole(input, error);
}

static bool wants_another_pass(const gsai_job *job)
{
    gsa_summary summary = gsai_summary_of(job->state);
    uint64_t passes = gsai_state_passes(job->state);
    if (gsai_progress_of(job->reader).is_stream && summary.pass > 0)
        return false;
    if (passes > 0)
        return summary.pass < passes;
    if (summary.pass == 0 || summary.pass_rows > 0) /* a pass that was begun is ended */
        return true;
    if (summary.n_rows >= ROWS_ENOUGH || gsai_state_has_more_behind(job->state, summary.pass))
        return false;
    bool is_solved = summary.n_held_out == 0 && !isnan(gsa_state_held_out_loss(job->state));
    if (is_paper(job->state) || summary.n_held_out == 0) /* no loss to go by */
        return !is_solved && summary.pass < GSA_PASSES_UNJUDGED;
    bool is_flat = summary.pass == 1 && summary.falling < GSA_MIN_GAIN;
    return summary.pass < gsa_plan_passes(summary.n_rows / summary.pass) && summary.best_pass == summary.pass &&
           !is_flat;
}

static gsa_status run_passes(gsai_steps *steps, gsai_input *input, gsa_error *error)
{
    gsai_job *job = input->job;
    bool has_holdout = gsai_state_param(job->state, GSAI_PARAM_holdout) == GSAI_HOLDOUT_AUTO && !is_paper(job->state);
    if (!has_holdout || !input->is_shuffled) /* every process learns everything */
        input->index.n = 0;
    GSA_TRY(gsai_input_resume(input, !wants_another_pass(job), error));
    gsa_status status = GSA_OK;
    while (status == GSA_OK && wants_another_pass(job)) {
        status = run_pass(steps, input, error);
        if (job->hooks.is_live)
            break;
    }
    return status;
}

/* Learns shards: first the first rows of all of them, by the state itself, then passes of contiguous steps. */
static gsa_status run_shards(gsai_steps *steps, gsai_job *job, gsa_error *error)
{
    gsai_shards shards = {.job = job};
    gsai_bytes first = {.env = &job->env};
    gsa_status status = gsai_shards_find(&shards, &first, error);
    if (status == GSA_OK)
        status = gsai_steps_learn_first(&shards, &first, error);
    gsai_bytes_free(&first);
    while (status == GSA_OK && gsa_plan_another_pass(job->state, gsai_state_passes(job->state))) {
        status = gsai_steps_learn_shards(steps, &shards, error);
        if (status == GSA_OK)
            status = end_pass(job, error);
    }
    gsai_shards_free(&shards);
    return status;
}

/* ---- names ------------------------------------------------------------------------------------------------------ */

/* Gives the state, which all processes have, the names that the readers of all know, as headers of deltas; the first
 * rank that has one for a feature decides. */
static gsa_status share_names(gsai_job *job, gsa_status status, gsa_error *error)
{
    size_t n = gsai_comm_size(job), start;
    gsai_bytes mine = {.env = &job->env};
    gsa_state **header = gsai_alloc_zeroed(&job->env, n, sizeof(gsa_state *));
    if (status == GSA_OK && !header)
        status = gsai_fail_memory(&job->env, error, "no memory for names");
    start = gsai_frame_begin(&mine);
    if (status == GSA_OK)
        status = gsa_state_write_delta_header(job->state, job->state, gsai_bytes_add, &mine, error);
    if (status == GSA_OK)
        status = gsai_frame_end(&mine, start, error);
    status = gsai_comm_gather_states(job, status, &mine, header, n, error);
    if (status == GSA_OK)
        status = gsai_names_merge(job->state, (const gsa_state *const *)header, n, error);
    for (size_t r = 0; r < n && header; r++)
        gsa_state_free(header[r]);
    gsai_free(&job->env, header);
    gsai_bytes_free(&mine);
    return status;
}

/* ---- a run ------------------------------------------------------------------------------------------------------ */

static gsa_status set_up(gsai_input *input, gsa_error *error)
{
    gsai_job *job = input->job;
    gsa_state *state = job->state;
    GSA_TRY(gsa_reader_begin(job->reader, error));
    GSA_TRY(gsa_state_set_schema(state, gsa_reader_schema(job->reader), error));
    gsa_summary summary = gsai_summary_of(state);
    bool is_stream = gsai_progress_of(job->reader).is_stream, is_live = job->hooks.is_live, may_solve = false;
    bool is_solved = gsai_state_param(state, GSAI_PARAM_method) == GSAI_METHOD_OPTIMUM;
    uint64_t passes = gsai_state_passes(state);
    if (summary.n_merged > 1)
        return gsai_fail_param(error, "start_from", GSA_CONFLICT,
                               "a merged state has no place in an input to resume at; start a new run from it");
    if (is_stream && passes > 1)
        return gsai_fail_param(error, "passes", GSA_ARGUMENT,
                               "%s can be read only once; give a file for %llu passes, or leave the number out",
                               gsa_reader_file(job->reader, 0), (unsigned long long)passes);
    bool has_begun = summary.n_rows > 0 || summary.pass > 0 || summary.pass_rows > 0;
    if (gsai_state_param(state, GSAI_PARAM_order) == GSAI_ORDER_AUTO && !has_begun) {
        if (!is_live)
            GSA_TRY(gsai_optimum_may(job, &may_solve, error));
        gsai_state_set_order(state, is_stream && !may_solve ? GSAI_ORDER_FILE : GSAI_ORDER_SHUFFLED);
    }
    input->is_shuffled = gsai_state_param(state, GSAI_PARAM_order) == GSAI_ORDER_SHUFFLED;
    if (is_live && summary.pass > 0)
        return gsai_fail_param(error, "start_from", GSA_CONFLICT,
                               "this run has ended its pass; a new run can start from the model");
    if (is_live && (input->is_shuffled || is_solved || gsai_state_param(state, GSAI_PARAM_compact) ||
                    gsai_state_param(state, GSAI_PARAM_shards) > 0 || job->hooks.comm || !is_stream))
        return gsai_fail(error, GSA_ARGUMENT,
                         "a live run learns a stream in its order, in one process: leave out shuffled order, method "
                         "optimum, compact and shards");
    job->goes_on = is_live && job->hooks.starts_at_position && summary.pass_rows > 0;
    job->keeps_names = is_live && (job->goes_on || gsai_state_names(state)->n == 0);
    if (job->goes_on && gsai_count_parse(gsa_state_position(state), &job->lines_before))
        job->lines_before -= gsai_reader_header_lines(job->reader);
    return gsai_prefetch_new(job, &input->prefetch, error);
}

/* Chooses the method and learns. */
static gsa_status learn(gsai_input *input, gsa_error *error)
{
    gsai_job *job = input->job;
    gsa_summary summary = gsai_summary_of(job->state);
    bool has_shards = gsai_state_param(job->state, GSAI_PARAM_shards) > 0 || job->hooks.files_are_own;
    bool is_new = summary.pass == 0 && summary.pass_rows == 0, may_solve = false, is_solved = false;
    bool is_shuffled_stream = gsai_progress_of(job->reader).is_stream && input->is_shuffled && !is_paper(job->state);
    if (!has_shards && !job->hooks.is_live && is_new)
        GSA_TRY(gsai_optimum_may(job, &may_solve, error));
    if (may_solve) {
        GSA_TRY(gsai_prefetch_rewind(input->prefetch, error));
        GSA_TRY(gsai_optimum_train(job, input->prefetch, &is_solved, &input->shuffle, error));
    } else if (is_shuffled_stream && summary.pass == 0 && !is_new && !has_shards) {
        GSA_TRY(gsai_optimum_gather_again(job, input->prefetch, &input->shuffle, error));
    }
    if (!is_solved) {
        GSA_TRY(gsai_schema_check_unsigned(gsa_state_schema(job->state), error));
        gsai_steps steps = {.replicas = {.job = job}};
        gsa_status status = has_shards ? run_shards(&steps, job, error) : run_passes(&steps, input, error);
        gsai_steps_free(&steps);
        GSA_TRY(status);
    }
    bool compacts = gsai_state_param(job->state, GSAI_PARAM_compact) && gsai_state_n_solved(job->state) == 0 &&
                    gsai_summary_of(job->state).n_held_out >= GSAI_COMPACT_MIN_ROWS;
    return compacts ? gsai_state_compact(job->state, &job->env, error) : GSA_OK;
}

gsa_status gsa_train(gsa_state *state, gsa_reader *reader, const gsa_train_hooks *hooks, const gsa_call *call,
                     gsa_error *error)
{
    gsai_job job = {.state = state, .reader = reader};
    gsai_input input = {.job = &job};
    GSA_TRY(gsai_env_take(&job.env, &gsai_state_env(state)->memory, call, error));
    GSA_TRY(gsai_take(&job.hooks, hooks, error));
    gsa_status status = gsai_comm_share_first(&job, GSA_OK, error);
    if (status == GSA_OK)
        status = set_up(&input, error);
    if (gsai_comm_size(&job) > 1)
        status = gsai_input_index(&input, status, error);
    if (status == GSA_OK)
        status = learn(&input, error);
    status = gsai_comm_agree(&job, status, error);
    if (status == GSA_OK)
        tell_of_tiny_features(&job);
    else if (status == GSA_LIMIT)
        suggest_smaller_table(&job, error);
    gsai_input_free(&input);
    if ((status == GSA_OK || status == GSA_STOPPED) && gsa_reader_schema(reader)) {
        gsa_status named = gsai_job_take_names(&job, status == GSA_OK ? error : NULL);
        status = status == GSA_OK ? named : status;
        if (job.hooks.files_are_own && !job.aborted)
            status = share_names(&job, status, error);
    }
    return status;
}
