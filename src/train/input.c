/* Blocks of an input, and checks of their rows. */
#include "train/input.h"

#include "base/error.h"
#include "base/hash.h"
#include "base/memory.h"
#include "learn/state.h"
#include "train/comm.h"

#include <string.h>

/* ---- labels ----------------------------------------------------------------------------------------------------- */

/* The runs test, on the indicator of one label: among n rows of which a have the label, mixed rows change between
 * having it and not having it about 2 a (n - a) / n times. */

/* Fewer expected changes than this prove nothing. */
#define MIN_EXPECTED 100.0

void gsai_mixing_add(gsai_mixing *mixing, const gsa_batch *rows)
{
    for (size_t row = 0; row < rows->n_rows; row++) {
        int32_t word = rows->word ? rows->word[row] : -1;
        if (mixing->n_rows == 0) {
            mixing->label = rows->label[row];
            mixing->word = word;
            mixing->last_is_first = 1;
        }
        int is_first = word == mixing->word && (word >= 0 || rows->label[row] == mixing->label);
        mixing->n_changes += is_first != mixing->last_is_first;
        mixing->last_is_first = is_first;
        mixing->n_first += (uint64_t)is_first;
        mixing->n_rows++;
    }
}

int gsai_mixing_is_poor(const gsai_mixing *mixing)
{
    double n = (double)mixing->n_rows, a = (double)mixing->n_first;
    double expected = n > 0 ? 2 * a * (n - a) / n : 0;
    return expected >= MIN_EXPECTED && (double)mixing->n_changes < expected / 10;
}

/* ---- rows of a run that was stopped ------------------------------------------------------------------------------ */

/* A state has the sum of the hashes of all rows of its first pass, in any order. In the first pass it is compared where
 * the run was stopped, with the rows that are skipped; in a later one it needs all rows. */

static gsa_status compare(gsai_input *input, gsa_error *error)
{
    const gsa_fingerprint *due = &input->due, *found = &input->found;
    input->is_resumed = false;
    if (found->n_rows == due->n_rows && found->sum == due->sum)
        return GSA_OK;
    if (found->n_rows != due->n_rows)
        return gsai_fail_param(error, "start_from", GSA_CONFLICT,
                               "this input has %llu rows and the run has learned from %llu; resume needs the "
                               "same data, a new run can start from the model",
                               (unsigned long long)found->n_rows, (unsigned long long)due->n_rows);
    return gsai_fail_param(error, "start_from", GSA_CONFLICT,
                           "the %llu rows of this input are not those that the run has learned from; resume "
                           "needs the same data, a new run can start from the model",
                           (unsigned long long)due->n_rows);
}

/* Adds the first n rows, in the order of learning, of a block. */
static gsa_status add_rows(gsai_input *input, const gsa_batch *rows, uint64_t number, uint64_t n, gsa_error *error)
{
    const gsai_env *env = &input->job->env;
    if (!input->order)
        input->order = gsai_alloc(env, GSAI_MAX_BLOCK_ROWS, sizeof *input->order);
    GSAI_TRY_MEMORY(input->order, env, error, "no memory for the order of %u rows", GSAI_MAX_BLOCK_ROWS);
    gsai_block_order(input->is_shuffled, gsai_state_param(input->job->state, GSAI_PARAM_seed), input->pass, number,
                     (uint32_t)rows->n_rows, input->order);
    gsa_fingerprint_add(&input->found, rows, input->order, (size_t)n);
    return GSA_OK;
}

/* Compares by the index: processes divide the blocks that the run has read, and add up. */
static gsa_status compare_blocks(gsai_input *input, gsa_error *error)
{
    gsai_job *job = input->job;
    const gsai_index *index = &input->index;
    gsa_summary summary = gsai_summary_of(job->state);
    size_t rank = gsai_comm_rank(job), n_ranks = gsai_comm_size(job);
    uint64_t left = summary.pass > 0 ? UINT64_MAX : summary.pass_rows;
    gsa_status status = GSA_OK;
    const unsigned char *all;
    const size_t *sizes;
    input->pass = summary.pass;
    gsai_prefetch_set_range(input->prefetch, index, 0, index->n, (gsai_deal){0, n_ranks, rank, rank + 1});
    for (size_t i = 0; i < index->n && left > 0 && status == GSA_OK; i++) {
        uint64_t n = index->block[i].n_rows < left ? index->block[i].n_rows : left;
        gsa_batch rows;
        left -= n;
        if (i % n_ranks != rank)
            continue;
        status = gsai_prefetch_next(input->prefetch, GSAI_MAX_BLOCK_ROWS, &rows, error);
        if (status == GSA_OK)
            status = add_rows(input, &rows, i, n, error);
    }
    const gsa_fingerprint mine = input->found;
    GSA_TRY(gsai_comm_allgather(job, status, &mine, sizeof mine, &all, &sizes, error));
    input->found = (gsa_fingerprint){0};
    for (size_t r = 0; r < n_ranks; r++) {
        gsa_fingerprint each;
        memcpy(&each, all + r * sizeof each, sizeof each);
        input->found.sum += each.sum;
        input->found.n_rows += each.n_rows;
    }
    return compare(input, error);
}

gsa_status gsai_input_resume(gsai_input *input, bool has_ended, gsa_error *error)
{
    gsa_summary summary = gsai_summary_of(input->job->state);
    gsa_batch rows;
    input->is_resumed = !input->job->goes_on && (summary.pass > 0 || summary.pass_rows > 0);
    gsa_state_get_fingerprint(input->job->state, &input->due);
    if (!input->is_resumed || (input->index.n == 0 && !has_ended))
        return GSA_OK;
    if (input->index.n > 0)
        return compare_blocks(input, error);
    gsa_status status = gsai_prefetch_rewind(input->prefetch, error);
    while (status == GSA_OK &&
           (status = gsai_prefetch_next(input->prefetch, GSAI_MAX_BLOCK_ROWS, &rows, error)) == GSA_OK)
        gsa_fingerprint_add(&input->found, &rows, NULL, rows.n_rows);
    return status == GSA_END ? compare(input, error) : status;
}

/* ---- the blocks of caches ---------------------------------------------------------------------------------------- */

static gsa_status list_blocks(const gsai_job *job, gsai_index *index, gsa_error *error)
{
    gsa_row_range range;
    gsa_status status = gsa_reader_rewind(job->reader, error);
    while (status == GSA_OK && (status = gsa_reader_skip(job->reader, &range, error)) == GSA_OK) {
        gsa_row_range *last = index->n > 0 ? &index->block[index->n - 1] : NULL;
        if (last && range.begins_file && !gsai_block_ends(last->n_rows, last->n_entries)) { /* one block of two files */
            last->n_rows += range.n_rows;
            last->n_entries += range.n_entries;
            last->hash = gsai_mix(last->hash) ^ range.hash;
            continue;
        }
        GSAI_TRY_MEMORY(gsai_reserve(&job->env, &index->block, &index->capacity, index->n + 1, sizeof *index->block),
                        &job->env, error, "no memory for the index of %zu blocks", index->n);
        index->block[index->n++] = range;
    }
    return status == GSA_END ? GSA_OK : status;
}

gsa_status gsai_input_index(gsai_input *input, gsa_status status, gsa_error *error)
{
    gsai_job *job = input->job;
    const gsai_index *index = &input->index;
    const unsigned char *all;
    const size_t *sizes;
    if (status == GSA_OK)
        status = list_blocks(job, &input->index, error);
    if (job->hooks.files_are_own)
        return status;
    uint64_t hash = index->n;
    for (size_t i = 0; i < index->n; i++) {
        const gsa_row_range *block = &index->block[i];
        const uint64_t parts[] = {block->at.byte, block->n_rows, block->n_entries, block->hash};
        for (size_t j = 0; j < sizeof parts / sizeof *parts; j++)
            hash = gsai_mix(hash ^ parts[j]);
    }
    GSA_TRY(gsai_comm_allgather(job, status, &hash, sizeof hash, &all, &sizes, error));
    for (size_t r = 1; r < gsai_comm_size(job); r++)
        if (memcmp(all + r * sizeof hash, all, sizeof hash) != 0)
            return gsai_fail(error, GSA_CONFLICT,
                             "rank %zu has other rows than rank 0: all processes must read the same files", r);
    return GSA_OK;
}

/* ---- blocks ----------------------------------------------------------------------------------------------------- */

/* Rows of a block of a live run, at most; the first are to come soon. */
#define LIVE_ROWS 1024u

gsa_status gsai_input_begin_pass(gsai_input *input, gsa_error *error)
{
    gsa_summary summary = gsai_summary_of(input->job->state);
    input->pass = summary.pass;
    input->n_taken = input->job->goes_on ? 0 : summary.pass_rows;
    input->number = input->n_before = 0;
    input->range_end = 0;
    input->is_read = false;
    if (!input->shuffle)
        GSA_TRY(gsai_prefetch_rewind(input->prefetch, error));
    /* The first rows are checked by every process, whichever learns them. */
    return input->index.n > 0 && !input->is_checked ? gsai_input_read(input, error) : GSA_OK;
}

/* The first rows decide what labels mean; a run that was stopped must find the rows it began with. */
static gsa_status check_first(gsai_input *input, gsa_error *error)
{
    gsai_job *job = input->job;
    gsa_batch first = input->block;
    input->is_checked = true;
    if (job->goes_on)
        return GSA_OK;
    if (input->pass > 0 || input->n_taken > 0) {
        if (gsa_state_run_matches(job->state, &first))
            return GSA_OK;
        return gsai_fail_param(
            error, "start_from", GSA_CONFLICT,
            "this input does not begin with the rows that the run began with; resume needs the same data "
            "in the same order, a new run can start from the model");
    }
    if (first.n_rows > GSA_FIRST_ROWS)
        first.n_rows = GSA_FIRST_ROWS;
    GSA_TRY(gsai_job_prepare(job, job->state, &first, error));
    input->n_first_labels = gsai_summary_of(job->state).n_classes;
    gsai_job_tell_task(job, job->state);
    return GSA_OK;
}

gsa_status gsai_input_read(gsai_input *input, gsa_error *error)
{
    const gsai_job *job = input->job;
    size_t max_rows = input->is_shuffled ? GSAI_MAX_BLOCK_ROWS : job->hooks.is_live ? LIVE_ROWS : GSA_FIRST_ROWS;
    gsa_status status;
    if (input->is_read)
        return GSA_OK;
    if (input->range_end <= input->number)
        gsai_input_assign(input, UINT64_MAX, (gsai_deal){0});
    /* In a live run a reader that is asked to stop, while the training is not, is an occasion to save. */
    while ((status = input->shuffle
                         ? gsai_shuffle_next(input->shuffle, &input->block, error)
                         : gsai_prefetch_next(input->prefetch, max_rows, &input->block, error)) == GSA_STOPPED &&
           job->hooks.is_live && !gsai_should_stop(&job->env)) {
        GSA_TRY(gsai_job_take_names(job, error));
        GSA_TRY(gsai_input_tell_whole(input, error));
    }
    if (status == GSA_END && input->index.n > 0)
        return gsai_fail(error, GSA_CONFLICT, "block %llu of the input, which was counted, is not there any more",
                         (unsigned long long)input->number);
    if (status != GSA_OK)
        return status;
    input->is_read = true;
    if (input->pass == 0)
        gsai_mixing_add(&input->mixing, &input->block);
    if (input->number == 0 && (input->index.n == 0 || !input->is_checked))
        GSA_TRY(check_first(input, error));
    bool is_old = input->pass > 0 || input->n_taken > 0;
    if (!input->is_resumed || !is_old)
        return GSA_OK;
    bool is_partly_old = input->pass == 0 && input->n_taken <= input->block.n_rows;
    GSA_TRY(add_rows(input, &input->block, input->number, is_partly_old ? input->n_taken : input->block.n_rows, error));
    return is_partly_old ? compare(input, error) : GSA_OK;
}

gsa_status gsai_input_find(gsai_input *input, uint64_t *n_rows, gsa_error *error)
{
    if (input->index.n == 0) {
        GSA_TRY(gsai_input_read(input, error));
        *n_rows = input->block.n_rows;
        return GSA_OK;
    }
    if (input->number == input->index.n)
        return GSA_END;
    *n_rows = input->index.block[input->number].n_rows;
    return GSA_OK;
}

void gsai_input_leave(gsai_input *input, uint64_t n_rows)
{
    if (input->n_taken > 0 && !input->is_read)
        input->range_end = 0; /* what is read ahead begins with this block */
    input->number++;
    input->n_before += n_rows;
    input->n_taken -= n_rows < input->n_taken ? n_rows : input->n_taken;
    input->is_read = false;
}

void gsai_input_assign(gsai_input *input, uint64_t n_rows, gsai_deal deal)
{
    const gsai_index *index = &input->index;
    size_t end = (size_t)input->number;
    if (index->n == 0)
        return;
    for (; end < index->n && n_rows > 0; end++)
        n_rows -= index->block[end].n_rows < n_rows ? index->block[end].n_rows : n_rows;
    input->range_end = end;
    gsai_prefetch_set_range(input->prefetch, index, (size_t)input->number, end, deal);
    input->is_read = false;
}

uint64_t gsai_input_rows_left(const gsai_input *input)
{
    uint64_t left = input->index.n > 0 ? 0 : UINT64_MAX;
    for (size_t i = (size_t)input->number; i < input->index.n; i++)
        left += input->index.block[i].n_rows;
    return left;
}

gsa_status gsai_input_end_pass(gsai_input *input, gsa_error *error)
{
    if (input->n_before == 0 && !input->job->goes_on)
        return gsai_fail(error, GSA_INPUT, "no rows in %s: nothing to learn", gsa_reader_file(input->job->reader, 0));
    if (input->n_taken > 0)
        return gsai_fail(error, GSA_CONFLICT, "the input ends at row %llu, this run has taken %llu; give all of it",
                         (unsigned long long)input->n_before, (unsigned long long)(input->n_before + input->n_taken));
    return input->is_resumed ? compare(input, error) : GSA_OK;
}

gsa_status gsai_input_tell_whole(const gsai_input *input, gsa_error *error)
{
    const gsai_job *job = input->job;
    return job->hooks.state_is_whole && !input->is_resumed
               ? job->hooks.state_is_whole(job->hooks.ctx, job->state, error)
               : GSA_OK;
}

void gsai_input_free(gsai_input *input)
{
    gsai_shuffle_free(input->shuffle);
    gsai_prefetch_free(input->prefetch);
    gsai_free(&input->job->env, input->index.block);
    gsai_free(&input->job->env, input->order);
}
