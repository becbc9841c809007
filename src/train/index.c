/* Finding the blocks of an input.
 *
 * A block begins where the one before it ends, which is after so many rows or entries: only a process that has
 * counted all rows before knows where. So each counts its share in small ranges, without knowing; then, one rank after
 * the other, they are put together to blocks, a range that is in two of them is read once more, and the block that has
 * begun is sent to the next rank. */
#include "train/index.h"

#include "train/block.h"
#include "train/comm.h"

#include "base/error.h"
#include "base/memory.h"

#include <string.h>

/* Rows of a range that is counted as one, at the most; a block of a cache is one. */
#define RANGE_ROWS 1024u

static gsa_status add(gsai_index *index, const gsa_row_range *row_range, const gsa_env *env, gsa_error *error)
{
    if (!gsai_reserve(env, &index->block, &index->capacity, index->n + 1, sizeof *index->block))
        return gsai_fail_memory(env, error, "no memory for the places of %zu blocks", index->n + 1);
    index->block[index->n++] = *row_range;
    return GSA_OK;
}

void gsai_index_free(gsai_index *index, const gsa_env *env)
{
    gsai_free(env, index->block);
    *index = (gsai_index){0};
}

typedef struct survey {
    gsai_job *job;
    gsai_block *block;
    gsai_index row_ranges; /* of this process's share */
    gsai_index blocks;     /* that have ended in it, or all of them in the end */
    gsa_row_range open;    /* the block that has begun; no rows: none has */
} survey;

/* ---- the share -------------------------------------------------------------------------------------------------- */

/* As a block has them, which leaves zeros out. */
static uint64_t count_entries(const gsa_batch *rows, size_t first, size_t n)
{
    size_t from = rows->index ? (size_t)rows->row_start[first] : first * rows->width,
           to = rows->index ? (size_t)rows->row_start[first + n] : (first + n) * rows->width;
    uint64_t n_entries = rows->value ? 0 : to - from;
    for (size_t i = from; i < to && rows->value; i++)
        n_entries += rows->value[i] != 0;
    return n_entries;
}

static gsa_status count_rows(survey *all, const gsa_batch *rows, gsa_error *error)
{
    gsa_status status = GSA_OK;
    for (size_t at = 0, n; at < rows->n_rows && status == GSA_OK; at += n) {
        n = rows->n_rows - at < RANGE_ROWS ? rows->n_rows - at : RANGE_ROWS;
        gsa_row_range row_range = {rows->place[at], n, count_entries(rows, at, n)};
        status = add(&all->row_ranges, &row_range, &all->job->env, error);
    }
    return status;
}

/* Without reading rows as long as that is possible. */
static gsa_status count_share(survey *all, gsa_error *error)
{
    gsa_reader *reader = all->job->reader;
    gsa_row_range row_range;
    gsa_batch rows;
    gsa_status status;
    while ((status = gsa_reader_skip(reader, &row_range, error)) == GSA_OK)
        if ((status = add(&all->row_ranges, &row_range, &all->job->env, error)) != GSA_OK)
            return status;
    if (status != GSA_UNSUPPORTED)
        return status == GSA_END ? GSA_OK : status;
    while ((status = gsa_reader_next(reader, &rows, error)) == GSA_OK)
        if ((status = count_rows(all, &rows, error)) != GSA_OK)
            return status;
    return status == GSA_END ? GSA_OK : status;
}

/* What everyone has to say of its share. */
typedef struct finding {
    uint64_t cannot, n_bad_rows;
} finding;

static gsa_status survey_shares(survey *all, int *cannot, gsa_error *error)
{
    gsai_job *job = all->job;
    gsa_status status = gsa_reader_share(job->reader, gsai_comm_rank(job), gsai_comm_size(job), error);
    finding mine = {.cannot = status == GSA_UNSUPPORTED}, each, sum = {0};
    const unsigned char *others;
    const size_t *sizes;
    if (mine.cannot)
        status = GSA_OK;
    else if (status == GSA_OK)
        status = count_share(all, error);
    gsa_reader_progress progress = gsai_progress_of(job->reader);
    mine.n_bad_rows = progress.n_bad_rows;
    mine.cannot |= progress.is_packed != 0;
    status = gsai_comm_allgather(job, status, &mine, sizeof mine, &others, &sizes, error);
    for (size_t r = 0; status == GSA_OK && r < gsai_comm_size(job); others += sizes[r++]) {
        memcpy(&each, others, sizeof each);
        sum.cannot |= each.cannot;
        sum.n_bad_rows += each.n_bad_rows;
    }
    *cannot = sum.cannot != 0;
    if (status == GSA_OK && !sum.cannot && job->hooks.counted)
        job->hooks.counted(job->hooks.ctx, sum.n_bad_rows);
    return status;
}

/* ---- blocks ----------------------------------------------------------------------------------------------------- */

static int is_full(const gsa_row_range *block)
{
    return block->n_rows >= GSA_BLOCK_ROWS || block->n_entries >= GSA_BLOCK_ENTRIES;
}

static gsa_status add_to_block(survey *all, const gsa_row_range *row_range, gsa_error *error)
{
    if (all->open.n_rows == 0)
        all->open = (gsa_row_range){.at = row_range->at};
    all->open.n_rows += row_range->n_rows;
    all->open.n_entries += row_range->n_entries;
    if (!is_full(&all->open))
        return GSA_OK;
    gsa_status status = add(&all->blocks, &all->open, &all->job->env, error);
    all->open = (gsa_row_range){0};
    return status;
}

/* A range in which a block ends, row by row. */
static gsa_status split(survey *all, const gsa_row_range *row_range, gsa_error *error)
{
    gsa_batch rows;
    gsa_status status = gsai_block_read_range(all->block, all->job->reader, row_range, &rows, error);
    for (size_t i = 0; status == GSA_OK && i < rows.n_rows; i++) {
        gsa_row_range row = {rows.place[i], 1, (uint64_t)(rows.row_start[i + 1] - rows.row_start[i])};
        status = add_to_block(all, &row, error);
    }
    return status;
}

static gsa_status put_together(survey *all, gsa_error *error)
{
    gsa_status status = GSA_OK;
    for (size_t i = 0; i < all->row_ranges.n && status == GSA_OK; i++) {
        const gsa_row_range *row_range = &all->row_ranges.block[i];
        int fits = all->open.n_rows + row_range->n_rows <= GSA_BLOCK_ROWS &&
                   all->open.n_entries + row_range->n_entries < GSA_BLOCK_ENTRIES;
        status = fits ? add_to_block(all, row_range, error) : split(all, row_range, error);
    }
    return status;
}

/* What rank r has found becomes what everyone knows: the blocks that have ended with it, and the one that has begun. */
static gsa_status tell_blocks(survey *all, size_t r, gsai_index *to, gsa_error *error)
{
    gsai_job *job = all->job;
    gsa_status status = GSA_OK;
    const unsigned char *others;
    const size_t *sizes;
    size_t before = 0;
    if (r == gsai_comm_rank(job)) {
        status = put_together(all, error);
        if (status == GSA_OK)
            status = add(&all->blocks, &all->open, &job->env, error);
    }
    status = gsai_comm_allgather(job, status, all->blocks.block, all->blocks.n * sizeof(gsa_row_range), &others, &sizes,
                                 error);
    for (size_t i = 0; i < r; i++)
        before += status == GSA_OK ? sizes[i] : 0;
    for (size_t i = 0; status == GSA_OK && i < sizes[r] / sizeof(gsa_row_range); i++) {
        memcpy(&all->open, others + before + i * sizeof(gsa_row_range), sizeof all->open);
        if ((i + 1) * sizeof(gsa_row_range) < sizes[r])
            status = add(to, &all->open, &job->env, error);
    }
    all->blocks.n = 0;
    return status;
}

gsa_status gsai_index_make(gsai_job *job, gsai_index *index, gsa_error *error)
{
    survey all = {.job = job};
    int cannot = 0;
    gsa_status status = gsai_block_new(&job->env, &all.block, error);
    if (status == GSA_OK)
        status = survey_shares(&all, &cannot, error);
    for (size_t r = 0; status == GSA_OK && !cannot && r < gsai_comm_size(job); r++)
        status = tell_blocks(&all, r, index, error);
    if (status == GSA_OK && !cannot && all.open.n_rows > 0)
        status = add(index, &all.open, &job->env, error);
    gsai_block_free(all.block);
    gsai_index_free(&all.row_ranges, &job->env);
    gsai_index_free(&all.blocks, &job->env);
    return status;
}
