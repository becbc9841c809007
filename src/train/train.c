/* The engine: runs the schedule over a reader.
 *
 * Rows that fit in memory are solved (optimum.c). All others, and streams, are learned by the state itself, as follows.
 * Rows come in blocks; a block is learned in the schedule's order (or as it comes), a few hundred rows at a time, so
 * that a request to stop is answered soon; after many rows, by replicas of the state side by side (rounds.c). Where the
 * run stands is in the state, so that a run that was stopped goes on by passing over what it has taken. Several
 * processes (comm.h) all do this; in rounds each reads only the blocks of its own replicas, where the input has an
 * index. No mathematics here. */
#include "base/workers.h"
#include "train/block.h"
#include "train/comm.h"
#include "train/index.h"
#include "train/input_check.h"
#include "train/job.h"
#include "train/optimum.h"
#include "train/prefetch.h"
#include "train/rounds.h"
#include "train/shards.h"
#include "train/share.h"

#include "learn/compact.h"
#include "learn/names.h"
#include "learn/state.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "data/reader.h"

#include <greedystep/train.h>

#include <math.h>
#include <string.h>

/* Without being told no further pass is begun after this many rows. */
#define ROWS_ENOUGH 10000000u
/* Rows of a block of a live run, at most; the first are to come soon. */
#define LIVE_ROWS 1024u

typedef struct training {
    gsai_job job;
    gsai_prefetch *prefetch;
    gsai_index index;  /* of processes together; empty: blocks are read one after the other */
    int is_positioned; /* the next block that comes is block_number, if it is this process's */
    gsai_round round;
    uint32_t order[GSAI_MAX_BLOCK_ROWS];
    uint64_t block_number; /* in the pass */
    gsai_mixing mixing;    /* of the first pass */
    gsai_resumed resumed;
    uint64_t n_first; /* classes of the first rows */
    int goes_on;      /* a live run whose input begins where the state stands */
    int has_checked;  /* the first rows are those that the run began with */
    int shuffled;
    uint64_t seed;
} training;

static bool is_paper(const gsa_state *state)
{
    return gsai_state_param(state, GSAI_PARAM_method) == GSAI_METHOD_PAPER;
}

/* What the run has learned decides whether the rows from here on, where a block begins, are for replicas. */
static gsa_status plan_round(training *run, gsa_error *error)
{
    gsa_summary summary = gsai_summary_of(run->job.state);
    int can_merge = summary.n_held_out > 0 && !is_paper(run->job.state); /* held-out rows find how far to go */
    if (!run->shuffled || !can_merge)
        return GSA_OK;
    int is_multiclass = gsai_state_n_outputs(run->job.state) > 1;
    gsa_step step = gsa_plan_step(summary.n_rows, summary.n_features, is_multiclass ? summary.n_classes : 1,
                                  !is_multiclass || summary.pass > 0);
    uint64_t left = run->index.n > 0 ? 0 : UINT64_MAX;
    for (size_t i = (size_t)run->block_number; i < run->index.n; i++)
        left += run->index.block[i].n_rows;
    return step.n_replicas > 1 ? gsai_round_begin(&run->round, &step, left, error) : GSA_OK;
}

/* A run that has learned from rows that may be others is not kept. */
static gsa_status tell_whole(const training *run, gsa_error *error)
{
    const gsa_train_hooks *hooks = &run->job.hooks;
    return hooks->state_is_whole && !run->resumed.is_open ? hooks->state_is_whole(hooks->ctx, run->job.state, error)
                                                          : GSA_OK;
}

/* To the block, and after it to those of the replicas that learn now or, if there are none, to all. */
static void set_range(training *run)
{
    const gsai_round *round = &run->round;
    size_t end = (size_t)run->block_number;
    uint64_t left = round->replicas.n > 0 ? round->rows_left : UINT64_MAX;
    for (; end < run->index.n && left > 0; end++)
        left -= run->index.block[end].n_rows < left ? run->index.block[end].n_rows : left;
    gsai_prefetch_set_range(run->prefetch, &run->index, (size_t)run->block_number, end,
                            (gsai_deal){round->replicas.first, round->replicas.n, round->n_dealt}, &run->job);
    run->is_positioned = 1;
}

/* The name of the first word that became the feature, which may have come before the reader's first row. */
static const char *name_of(const void *ctx, uint64_t feature)
{
    const training *run = ctx;
    const char *known = run->goes_on ? gsai_names_find(gsai_state_names(run->job.state), feature) : NULL;
    return known ? known : gsa_reader_name(run->job.reader, feature);
}

/* While no thread reads. */
static gsa_status take_names(const training *run, gsa_error *error)
{
    return gsa_reader_schema(run->job.reader) ? gsa_state_set_names(run->job.state, name_of, run, error) : GSA_OK;
}

/* The next block. In a live run a reader that is asked to stop, while the training is not, has an occasion to save. */
static gsa_status next_block(training *run, gsa_batch *batch, gsa_error *error)
{
    gsa_status status;
    size_t max_rows = run->shuffled ? GSAI_MAX_BLOCK_ROWS : run->job.hooks.is_live ? LIVE_ROWS : GSA_FIRST_ROWS;
    while ((status = gsai_prefetch_next(run->prefetch, max_rows, batch, error)) == GSA_STOPPED &&
           run->job.hooks.is_live && !gsai_should_stop(&run->job.env)) {
        GSA_TRY(take_names(run, error));
        GSA_TRY(tell_whole(run, error));
    }
    return status;
}

static gsa_status read_block(training *run, uint64_t pass, gsa_batch *batch, gsa_error *error)
{
    if (run->index.n > 0 && !run->is_positioned)
        set_range(run);
    gsa_status status = next_block(run, batch, error);
    if (status == GSA_OK && pass == 0)
        gsai_mixing_add(&run->mixing, batch);
    return status == GSA_END && run->index.n > 0
               ? gsai_fail(error, GSA_CONFLICT, "block %llu of the input, which was counted, is not there any more",
                           (unsigned long long)run->block_number)
               : status;
}

/* A block that is learned from position `done` of its order on; batch NULL: it is another's. */
static gsa_status learn_block(training *run, const gsa_batch *batch, uint64_t n_rows, uint64_t pass, size_t done,
                              gsa_error *error)
{
    gsa_status status;
    int by_replicas = run->round.replicas.n > 0;
    gsai_prefetch_set_group(run->prefetch, run->round.replicas.n > 0 ? run->round.replicas.n : 1);
    int releases = gsai_prefetch_releases(run->prefetch);
    if (batch)
        gsai_block_order(run->shuffled, run->seed, pass, run->block_number, (uint32_t)n_rows, run->order);
    if (!batch)
        status = gsai_round_skip(&run->round, n_rows, releases, error);
    else if (run->round.replicas.n > 0)
        status = gsai_round_learn(&run->round, batch, run->order, releases, error);
    else
        status = gsai_job_learn(&run->job, run->job.state, batch, run->order + done, (size_t)n_rows - done, 1, error);
    if (by_replicas && run->round.replicas.n == 0) /* their way ends here */
        run->is_positioned = 0;
    bool is_whole = status == GSA_OK && run->round.replicas.n_begun == 0 && !run->job.hooks.is_live;
    return is_whole ? tell_whole(run, error) : status;
}

/* The first rows tell what the labels mean; a run that goes on must meet the rows it began with. */
static gsa_status check_first_block(training *run, const gsa_batch *first, uint64_t pass, uint64_t taken,
                                    gsa_error *error)
{
    if (run->goes_on)
        return GSA_OK;
    if (pass > 0 || taken > 0) {
        if (!gsa_state_run_matches(run->job.state, first))
            return gsai_fail_about(
                error, "start_from",
                gsai_fail(error, GSA_CONFLICT,
                          "this input does not begin with the rows that the run began with; resume needs the same data "
                          "in the same order, a new run can start from the model"));
        return GSA_OK;
    }
    gsa_batch decisive = *first;
    if (decisive.n_rows > GSA_FIRST_ROWS)
        decisive.n_rows = GSA_FIRST_ROWS;
    gsa_status status = gsai_job_prepare(&run->job, &decisive, error);
    run->n_first = gsai_summary_of(run->job.state).n_classes;
    if (status == GSA_OK)
        gsai_job_tell_task(&run->job, run->job.state);
    return status;
}

static void tell_of_late_labels(const training *run)
{
    gsa_error note;
    uint64_t n_late = gsai_summary_of(run->job.state).n_classes - run->n_first;
    if (!run->job.hooks.notice || run->n_first == 0 || n_late == 0)
        return;
    (void)gsai_fail(&note, GSA_LABEL, "label '%.60s'%s first came after %u rows; check that it is meant to be a class",
                    gsai_state_labels(run->job.state)->at[run->n_first].text, n_late > 1 ? ", and others," : "",
                    GSA_FIRST_ROWS);
    run->job.hooks.notice(run->job.hooks.ctx, GSA_NOTICE_LATE_LABELS, note.message);
}

static void tell_of_tiny_features(const training *run)
{
    gsa_error note;
    size_t n = run->job.hooks.notice && !is_paper(run->job.state) ? gsai_state_count_tiny(run->job.state) : 0;
    if (n == 0)
        return;
    (void)gsai_fail(&note, GSA_INPUT,
                    "%zu feature%s values below 1e-18, too small to be learned: give %s in another unit", n,
                    n == 1 ? " has" : "s have", n == 1 ? "it" : "them");
    run->job.hooks.notice(run->job.hooks.ctx, GSA_NOTICE_TINY_FEATURES, note.message);
}

/* Rows that the run has read before: those passed over in its first pass, and all of a later one. */
static gsa_status check_again(training *run, const gsa_batch *batch, uint64_t pass, uint64_t taken, gsa_error *error)
{
    size_t n = pass > 0 || taken > batch->n_rows ? batch->n_rows : (size_t)taken;
    if (!run->resumed.is_open || n == 0)
        return GSA_OK;
    gsai_block_order(run->shuffled, run->seed, pass, run->block_number, (uint32_t)batch->n_rows, run->order);
    gsa_fingerprint_add(&run->resumed.read, batch, run->order, n);
    return pass == 0 && taken <= batch->n_rows ? gsai_resumed_compare(&run->resumed, error) : GSA_OK;
}

/* Rows are shuffled within blocks at the most: a file that is sorted by label is worth a notice. */
static void tell_of_mixing(const training *run)
{
    if (run->job.hooks.notice && gsai_summary_of(run->job.state).n_classes > 1 && gsai_mixing_is_poor(&run->mixing))
        run->job.hooks.notice(run->job.hooks.ctx, GSA_NOTICE_SORTED,
                              "the rows seem to be sorted by label, which makes for a worse model; shuffle "
                              "them first, for instance with shuf");
}

/* Where a block begins: a round does, if it is time for one, or its next replicas do; and with them another way through
 * the index. */
static gsa_status begin_replicas(training *run, int *is_read, gsa_error *error)
{
    gsa_status status = run->round.replicas.n_begun > 0 ? gsai_round_next(&run->round, error) : plan_round(run, error);
    if (run->index.n > 0 && run->round.replicas.n > 0) {
        set_range(run);
        *is_read = 0;
    }
    return status;
}

/* The next block, of which `taken` rows are learned already. With an index it is known before it is read, and may not
 * have to be. */
static gsa_status take_block(training *run, uint64_t pass, uint64_t taken, uint64_t *n_rows, gsa_error *error)
{
    gsa_batch batch = {0};
    const gsa_row_range *known = run->index.n > 0 ? &run->index.block[run->block_number] : NULL;
    int begins = run->block_number == 0 && (!known || pass == 0 || !run->has_checked), is_read = !known || begins;
    if (is_read)
        GSA_TRY(read_block(run, pass, &batch, error));
    if (begins)
        GSA_TRY(check_first_block(run, &batch, pass, taken, error));
    if (!known)
        GSA_TRY(check_again(run, &batch, pass, taken, error));
    *n_rows = known ? known->n_rows : batch.n_rows;
    run->has_checked = 1;
    if (taken >= *n_rows) {
        run->is_positioned = run->is_positioned && is_read;
        return GSA_OK;
    }
    if (run->round.replicas.n == 0 && taken == 0)
        GSA_TRY(begin_replicas(run, &is_read, error));
    int is_mine = run->round.replicas.n == 0 || gsai_round_is_mine(&run->round);
    if (is_mine && !is_read)
        GSA_TRY(read_block(run, pass, &batch, error));
    return learn_block(run, is_mine ? &batch : NULL, *n_rows, pass, (size_t)taken, error);
}

static gsa_status take_blocks(training *run, uint64_t pass, uint64_t taken, uint64_t *n_read, gsa_error *error)
{
    gsa_status status = GSA_OK;
    uint64_t n_rows = 0;
    *n_read = 0;
    run->is_positioned = 0;
    for (run->block_number = 0; status == GSA_OK; run->block_number++) {
        if (run->index.n > 0 && run->block_number == run->index.n)
            return GSA_END;
        status = take_block(run, pass, taken > *n_read ? taken - *n_read : 0, &n_rows, error);
        *n_read += status == GSA_OK ? n_rows : 0;
    }
    run->block_number--; /* there was none of that number */
    return status;
}

static gsa_status run_pass(training *run, uint64_t pass, gsa_error *error)
{
    uint64_t before = 0, taken = run->goes_on ? 0 : gsai_summary_of(run->job.state).pass_rows;
    gsa_status status = take_blocks(run, pass, taken, &before, error);
    if (status != GSA_END || (status = gsai_round_end(&run->round, error)) != GSA_OK)
        return status;
    if (before == 0 && !run->goes_on)
        return gsai_fail(error, GSA_INPUT, "no rows in %s: nothing to learn", gsa_reader_file(run->job.reader, 0));
    if (before < taken)
        return gsai_fail(error, GSA_CONFLICT, "the input ends at row %llu, this run has taken %llu; give all of it",
                         (unsigned long long)before, (unsigned long long)taken);
    if (run->resumed.is_open && (status = gsai_resumed_compare(&run->resumed, error)) != GSA_OK)
        return status;
    if (pass == 0 && (!run->shuffled || run->block_number > 1))
        tell_of_mixing(run);
    if (pass == 0)
        tell_of_late_labels(run);
    if (run->job.hooks.is_live)
        return GSA_OK;
    if (gsai_state_passes(run->job.state) == 0)
        GSA_TRY(gsa_state_checkpoint_best(run->job.state, &run->job.env.call, error));
    gsa_state_end_pass(run->job.state);
    /* A rank that learns nothing of this pass is asked here only. */
    gsa_status mine = gsai_comm_size(&run->job) > 1 && gsai_should_stop(&run->job.env)
                          ? gsai_fail(error, GSA_STOPPED, "stopped on request")
                          : GSA_OK;
    GSA_TRY(gsai_comm_end_pass(&run->job, mine, run->job.state, error));
    return tell_whole(run, error);
}

static int wants_another_pass(const training *run, int is_stream)
{
    gsa_summary summary = gsai_summary_of(run->job.state);
    uint64_t passes = gsai_state_passes(run->job.state);
    if (is_stream && summary.pass > 0)
        return 0;
    if (passes > 0)
        return summary.pass < passes;
    if (summary.pass == 0 || summary.pass_rows > 0) /* a pass that was begun is ended */
        return 1;
    if (summary.n_rows >= ROWS_ENOUGH)
        return 0;
    int is_solved = summary.n_held_out == 0 && !isnan(gsa_state_held_out_loss(run->job.state));
    if (is_paper(run->job.state) || summary.n_held_out == 0) /* nothing to judge by */
        return !is_solved && summary.pass < GSA_PASSES_UNJUDGED;
    int flat = summary.pass == 1 && summary.falling < GSA_MIN_GAIN;
    return summary.pass < gsa_plan_passes(summary.n_rows / summary.pass) && summary.best_pass == summary.pass && !flat;
}

/* A run that has ended learns nothing more, but its input should be its own. */
static gsa_status read_again(training *run, gsa_error *error)
{
    gsa_batch batch;
    gsa_status status = gsai_prefetch_rewind(run->prefetch, error);
    while (status == GSA_OK &&
           (status = gsai_prefetch_next(run->prefetch, GSAI_MAX_BLOCK_ROWS, &batch, error)) == GSA_OK)
        gsa_fingerprint_add(&run->resumed.read, &batch, NULL, batch.n_rows);
    return status == GSA_END ? gsai_resumed_compare(&run->resumed, error) : status;
}

static gsa_status run_passes(training *run, gsa_error *error)
{
    gsa_status status = GSA_OK;
    gsa_reader_progress progress = gsai_progress_of(run->job.reader);
    gsa_summary summary = gsai_summary_of(run->job.state);
    int has_holdout = gsai_state_param(run->job.state, GSAI_PARAM_holdout) > 0;
    int judged = has_holdout && !is_paper(run->job.state);
    if (summary.pass == 0 && summary.pass_rows == 0) {
        int may, taken = 0;
        status = gsai_optimum_may(&run->job, &may, error);
        if (status == GSA_OK && may)
            status = gsai_prefetch_rewind(run->prefetch, error);
        if (status == GSA_OK && may)
            status = gsai_optimum_train(&run->job, run->prefetch, &taken, error);
        if (status != GSA_OK || taken)
            return status;
    }
    if (!judged || !run->shuffled) /* every process learns everything */
        gsai_index_free(&run->index, &run->job.env);
    if (!run->goes_on)
        gsai_resumed_begin(&run->resumed, run->job.state);
    if (status == GSA_OK && run->resumed.is_open && run->index.n > 0)
        status = gsai_resumed_compare_index(&run->resumed, &run->job, &run->index, run->shuffled, run->seed, error);
    else if (status == GSA_OK && run->resumed.is_open && !wants_another_pass(run, progress.is_stream))
        status = read_again(run, error);
    while (status == GSA_OK && wants_another_pass(run, progress.is_stream)) {
        status = gsai_prefetch_rewind(run->prefetch, error);
        if (status == GSA_OK)
            status = run_pass(run, gsai_summary_of(run->job.state).pass, error);
        if (run->job.hooks.is_live)
            break;
    }
    return status;
}

static gsa_status set_up_live(training *run, const gsa_summary *summary, gsa_error *error)
{
    const gsa_state *state = run->job.state;
    if (run->shuffled || gsai_state_param(state, GSAI_PARAM_method) == GSAI_METHOD_OPTIMUM ||
        gsai_state_param(state, GSAI_PARAM_compact) || gsai_state_param(state, GSAI_PARAM_shards) > 0 ||
        run->job.hooks.comm || !gsai_progress_of(run->job.reader).is_stream)
        return gsai_fail(error, GSA_ARGUMENT,
                         "a live run learns a stream in its order, in one process: leave out shuffled order, method "
                         "optimum, compact and shards");
    if (summary->pass > 0)
        return gsai_fail_about(
            error, "start_from",
            gsai_fail(error, GSA_CONFLICT, "this run has ended its pass; a new run can start from the model"));
    run->goes_on = run->job.hooks.starts_at_position && summary->pass_rows > 0;
    if (run->goes_on && gsai_count_parse(gsa_state_position(state), &run->job.lines_before))
        run->job.lines_before -= gsai_reader_header_lines(run->job.reader);
    gsai_prefetch_set_live(run->prefetch, run->goes_on);
    return GSA_OK;
}

static gsa_status set_up(training *run, gsa_error *error)
{
    gsa_summary summary = gsai_summary_of(run->job.state);
    gsa_reader_progress progress = gsai_progress_of(run->job.reader);
    if (summary.n_merged > 1)
        return gsai_fail_about(
            error, "start_from",
            gsai_fail(error, GSA_CONFLICT,
                      "a merged state has no place in an input to resume at; start a new run from it"));
    if (progress.is_stream && gsai_state_passes(run->job.state) > 1)
        return gsai_fail_about(
            error, "passes",
            gsai_fail(error, GSA_ARGUMENT,
                      "%s can be read only once; give a file for %llu passes, or leave the number out",
                      gsa_reader_file(run->job.reader, 0), (unsigned long long)gsai_state_passes(run->job.state)));
    int begun = summary.n_rows > 0 || summary.pass > 0 || summary.pass_rows > 0;
    if (gsai_state_param(run->job.state, GSAI_PARAM_order) == GSAI_ORDER_AUTO && !begun) {
        bool is_solved = gsai_state_param(run->job.state, GSAI_PARAM_method) == GSAI_METHOD_OPTIMUM;
        gsai_state_set_order(run->job.state, progress.is_stream && !is_solved ? GSAI_ORDER_FILE : GSAI_ORDER_SHUFFLED);
    }
    run->shuffled = gsai_state_param(run->job.state, GSAI_PARAM_order) == GSAI_ORDER_SHUFFLED;
    run->seed = gsai_state_param(run->job.state, GSAI_PARAM_seed);
    GSA_TRY(
        gsai_prefetch_new(run->job.reader, gsai_workers_count(&run->job.env), &run->job.env, &run->prefetch, error));
    return run->job.hooks.is_live ? set_up_live(run, &summary, error) : GSA_OK;
}

/* Processes that learn together read the blocks of caches, all of them the same. */
static gsa_status find_blocks(training *run, gsa_status status, gsa_error *error)
{
    if (gsai_comm_size(&run->job) == 1)
        return status;
    if (status == GSA_OK)
        status = gsai_index_make(&run->job, &run->index, error);
    return run->job.hooks.files_are_own ? status : gsai_index_agree(&run->job, status, &run->index, error);
}

/* Processes that learn together begin with the state of the first. */
static gsa_status begin_alike(gsai_job *job, gsa_error *error)
{
    gsa_state *first = gsai_comm_rank(job) == 0 ? job->state : NULL;
    gsa_status status = gsai_comm_share(job, GSA_OK, &first, 1, 0, gsai_comm_rank(job) == 0, error);
    return first && first != job->state ? gsa_state_replace(job->state, first, error) : status;
}

static bool is_to_compact(const gsa_state *state)
{
    gsa_summary summary = {.size = sizeof summary};
    gsa_state_get_summary(state, &summary);
    return gsai_state_param(state, GSAI_PARAM_compact) && gsai_state_n_solved(state) == 0 &&
           summary.n_held_out >= GSAI_COMPACT_MIN_ROWS;
}

/* Bytes per feature with one output, and the share of the memory that a table with hashed features may have if all else
 * is to fit too. */
#define RECORD_SIZE ((uint64_t)16)
#define TABLE_SHARE 8

/* Adds what to do about features that need a table above the memory limit. */
static void suggest_smaller_table(const training *run, gsa_error *error)
{
    if (!error || error->status != GSA_LIMIT || !strstr(error->message, GSAI_NEEDS_TABLE))
        return;
    gsa_error reason = *error;
    unsigned bits = 1;
    while (bits < 24 && (RECORD_SIZE << (bits + 1)) <= gsai_memory_limit(&run->job.env) / TABLE_SHARE)
        bits++;
    if (gsa_state_schema(run->job.state))
        (void)gsai_fail_about(error, "bits",
                              gsai_fail(error, GSA_LIMIT, "%s; hash to fewer bits, such as %u, or raise the limit",
                                        reason.message, bits));
    else
        (void)gsai_fail_about(error, "memory_limit",
                              gsai_fail(error, GSA_LIMIT,
                                        "%s; number the features without large gaps, or raise the limit",
                                        reason.message));
    error->line = reason.line;
    error->byte = reason.byte;
    error->row = reason.row;
}

gsa_status gsa_train(gsa_state *state, gsa_reader *reader, const gsa_train_hooks *hooks, const gsa_call *call,
                     gsa_error *error)
{
    gsai_env resolved;
    GSA_TRY(gsai_env_take(&resolved, &gsai_state_env(state)->memory, call, error));
    gsa_train_hooks taken;
    GSA_TRY(gsai_take(&taken, hooks, error));
    training *run = gsai_alloc_zeroed(&resolved, 1, sizeof *run);
    if (!run) {
        gsai_job lost = {.env = resolved};
        lost.hooks.comm = taken.comm;
        return gsai_comm_agree(&lost, gsai_fail_memory(&resolved, error, "no memory to train"), error);
    }
    run->job = (gsai_job){.state = state, .reader = reader, .hooks = taken, .env = resolved};
    run->round.replicas.job = &run->job;
    gsa_status status = begin_alike(&run->job, error);
    if (status == GSA_OK)
        status = gsa_reader_begin(reader, error);
    if (status == GSA_OK)
        status = gsa_state_set_schema(state, gsa_reader_schema(reader), error);
    if (status == GSA_OK)
        status = set_up(run, error);
    status = find_blocks(run, status, error);
    uint64_t n_shards = gsai_state_param(state, GSAI_PARAM_shards);
    if (status == GSA_OK)
        status = n_shards > 0 || run->job.hooks.files_are_own
                     ? gsai_shards_train(&run->job, n_shards, gsai_state_passes(state), error)
                     : run_passes(run, error);
    if (status == GSA_OK && is_to_compact(state))
        status = gsai_state_compact(state, &run->job.env, error);
    status = gsai_comm_agree(&run->job, status, error);
    if (status == GSA_OK)
        tell_of_tiny_features(run);
    else if (status == GSA_LIMIT)
        suggest_smaller_table(run, error);
    gsai_round_drop(&run->round);
    gsai_prefetch_free(run->prefetch);
    gsai_index_free(&run->index, &resolved);
    if ((status == GSA_OK || status == GSA_STOPPED) && gsa_reader_schema(reader)) {
        gsa_status named = take_names(run, status == GSA_OK ? error : NULL);
        status = status == GSA_OK ? named : status;
        if (run->job.hooks.files_are_own && !run->job.aborted)
            status = gsai_names_share(&run->job, status, error);
    }
    gsai_free(&resolved, run);
    return status;
}
