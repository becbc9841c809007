/* Checks of an input. */
#include "train/input_check.h"

#include "base/error.h"
#include "base/memory.h"
#include "train/block.h"
#include "train/comm.h"

#include <string.h>

/* ---- labels ----------------------------------------------------------------------------------------------------- */

/* The runs test, on the indicator of one label: among n rows of which a have the label, mixed rows change between
 * having it and not having it about 2 a (n - a) / n times. */

/* Fewer expected changes than this prove nothing. */
#define MIN_EXPECTED 100.0

static int is_first_label(const gsai_mixing *mixing, const gsa_batch *rows, size_t row)
{
    int32_t word = rows->word ? rows->word[row] : -1;
    return word == mixing->word && (word >= 0 || rows->label[row] == mixing->label);
}

void gsai_mixing_add(gsai_mixing *mixing, const gsa_batch *rows)
{
    for (size_t row = 0; row < rows->n_rows; row++) {
        if (mixing->n_rows == 0) {
            mixing->label = rows->label[row];
            mixing->word = rows->word ? rows->word[row] : -1;
            mixing->last_is_first = 1;
        }
        int is_first = is_first_label(mixing, rows, row);
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

/* ---- rows of a run that goes on --------------------------------------------------------------------------------- */

/* A state has the sum of the hashes of all rows of its first pass, in any order. In the first pass it is compared where
 * the run was stopped, with the rows that are skipped; in a later one it needs all rows. */

void gsai_resumed_begin(gsai_resumed *resumed, const gsa_state *state)
{
    gsa_summary summary = gsai_summary_of(state);
    *resumed = (gsai_resumed){.is_open = summary.pass > 0 || summary.pass_rows > 0};
    gsa_state_get_fingerprint(state, &resumed->due);
}

gsa_status gsai_resumed_compare(gsai_resumed *resumed, gsa_error *error)
{
    const gsa_fingerprint *due = &resumed->due, *read = &resumed->read;
    resumed->is_open = 0;
    if (read->n_rows == due->n_rows && read->sum == due->sum)
        return GSA_OK;
    if (read->n_rows != due->n_rows)
        return gsai_fail_about(error, "start_from",
                               gsai_fail(error, GSA_CONFLICT,
                                         "this input has %llu rows and the run has learned from %llu; resume needs the "
                                         "same data, a new run can start from the model",
                                         (unsigned long long)read->n_rows, (unsigned long long)due->n_rows));
    return gsai_fail_about(error, "start_from",
                           gsai_fail(error, GSA_CONFLICT,
                                     "the %llu rows of this input are not those that the run has learned from; resume "
                                     "needs the same data, a new run can start from the model",
                                     (unsigned long long)due->n_rows));
}

typedef struct survey {
    gsai_resumed *resumed;
    gsai_job *job;
    gsai_block *block;
    uint32_t *order;
    uint64_t pass, seed;
    int shuffled;
} survey;

/* A block of which the run has taken n rows. */
static gsa_status add_block(survey *all, const gsa_row_range *row_range, size_t number, uint64_t n, gsa_error *error)
{
    gsa_batch rows;
    GSA_TRY(gsai_block_read_range(all->block, all->job->reader, row_range, &rows, error));
    gsai_block_order(all->shuffled, all->seed, all->pass, number, (uint32_t)rows.n_rows, all->order);
    gsa_fingerprint_add(&all->resumed->read, &rows, all->order, (size_t)n);
    return GSA_OK;
}

static gsa_status add_up(survey *all, gsa_status status, gsa_error *error)
{
    gsa_fingerprint mine = all->resumed->read, each, *sum = &all->resumed->read;
    const unsigned char *others;
    const size_t *sizes;
    status = gsai_comm_allgather(all->job, status, &mine, sizeof mine, &others, &sizes, error);
    *sum = (gsa_fingerprint){0};
    for (size_t r = 0; status == GSA_OK && r < gsai_comm_size(all->job); others += sizes[r++]) {
        memcpy(&each, others, sizeof each);
        sum->sum += each.sum;
        sum->n_rows += each.n_rows;
    }
    return status;
}

gsa_status gsai_resumed_compare_index(gsai_resumed *resumed, gsai_job *job, const gsai_index *index, int shuffled,
                                      uint64_t seed, gsa_error *error)
{
    gsa_summary summary = gsai_summary_of(job->state);
    survey all = {.resumed = resumed, .job = job, .pass = summary.pass, .seed = seed, .shuffled = shuffled};
    uint64_t left = summary.pass > 0 ? UINT64_MAX : summary.pass_rows;
    gsa_status status = gsai_block_new(&job->env, &all.block, error);
    all.order = gsai_alloc(&job->env, GSAI_MAX_BLOCK_ROWS, sizeof *all.order);
    if (status == GSA_OK && !all.order)
        status = gsai_fail_memory(&job->env, error, "no memory for the order of %u rows", GSAI_MAX_BLOCK_ROWS);
    for (size_t i = 0; i < index->n && left > 0 && status == GSA_OK; i++) {
        uint64_t n = index->block[i].n_rows < left ? index->block[i].n_rows : left;
        left -= n;
        if (gsai_comm_is_mine(job, i, index->n))
            status = add_block(&all, &index->block[i], i, n, error);
    }
    status = add_up(&all, status, error);
    gsai_free(&job->env, all.order);
    gsai_block_free(all.block);
    return status == GSA_OK ? gsai_resumed_compare(resumed, error) : status;
}
