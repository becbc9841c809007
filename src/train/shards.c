/* Counting and dividing shards. */
#include "train/shards.h"

#include "learn/state.h"

#include "base/error.h"
#include "base/memory.h"

#include <string.h>

gsa_status gsai_shards_open(gsai_shards *shards, gsa_error *error)
{
    const gsai_env *env = &shards->job->env;
    gsai_block_init(&shards->block, env);
    shards->block.by_file = shards->job->hooks.files_are_own;
    shards->order = gsai_alloc(env, GSAI_MAX_BLOCK_ROWS, sizeof *shards->order);
    GSAI_TRY_MEMORY(shards->order, env, error, "no memory for the order of %u rows", GSAI_MAX_BLOCK_ROWS);
    return GSA_OK;
}

void gsai_shards_free(gsai_shards *shards)
{
    const gsai_env *env = &shards->job->env;
    gsai_block_free(&shards->block);
    gsai_free(env, shards->order);
    gsai_free(env, shards->rows);
    gsai_free(env, shards->first);
}

gsa_status gsai_shards_rewind(gsai_shards *shards, gsa_error *error)
{
    gsai_block_clear(&shards->block);
    return gsa_reader_rewind(shards->job->reader, error);
}

gsa_status gsai_shards_read(gsai_shards *shards, uint64_t max_rows, gsa_batch *rows, gsa_error *error)
{
    size_t max = max_rows < GSAI_MAX_BLOCK_ROWS ? (size_t)max_rows : GSAI_MAX_BLOCK_ROWS;
    return gsai_block_read(&shards->block, shards->job->reader, max, max, rows, error);
}

gsa_status gsai_shards_skip(gsai_shards *shards, uint64_t n_rows, gsa_error *error)
{
    gsa_status status = GSA_OK;
    gsa_batch rows;
    while (n_rows > 0 && (status = gsai_shards_read(shards, n_rows, &rows, error)) == GSA_OK)
        n_rows -= rows.n_rows;
    return status == GSA_END ? GSA_OK : status;
}

/* Refuses what a run with shards cannot do: it is for experiments and for files of processes. */
static gsa_status check(const gsai_job *job, gsa_error *error)
{
    gsa_summary summary = gsai_summary_of(job->state);
    if (gsai_progress_of(job->reader).is_stream)
        return gsai_fail_param(error, "shards", GSA_ARGUMENT, "%s can be read only once; give a file for shards",
                               gsa_reader_file(job->reader, 0));
    if (gsai_state_param(job->state, GSAI_PARAM_method) == GSAI_METHOD_OPTIMUM)
        return gsai_fail_param(error, "method", GSA_ARGUMENT,
                               "method optimum has no shards; leave the method or the shards out");
    if (gsai_comm_size(job) > 1 && !job->hooks.files_are_own)
        return gsai_fail_param(error, "shards", GSA_ARGUMENT,
                               "shards are an experiment of one process: leave them out, or start one only");
    if (summary.pass > 0 || summary.pass_rows > 0)
        return gsai_fail(error, GSA_ARGUMENT, "cannot resume a run with shards: train again");
    return GSA_OK;
}

/* The first rows of rank 0 decide what labels mean, and its files what features do. */
static gsa_status prepare(gsai_shards *shards, gsa_error *error)
{
    gsai_job *job = shards->job;
    gsa_batch rows;
    gsa_status status = gsai_shards_rewind(shards, error);
    if (gsai_comm_rank(job) == 0 && status == GSA_OK) {
        status = gsai_shards_read(shards, GSAI_MAX_BLOCK_ROWS, &rows, error);
        if (status == GSA_END)
            status = gsai_fail(error, GSA_INPUT, "no rows in %s: nothing to learn", gsa_reader_file(job->reader, 0));
        if (status == GSA_OK)
            status = gsai_job_prepare(job, job->state, &rows, error);
        if (status == GSA_OK)
            gsai_job_tell_task(job, job->state);
    }
    GSA_TRY(gsai_comm_share_first(job, status, error));
    const char *first = gsa_state_schema(job->state), *own = gsa_reader_schema(job->reader);
    if ((first == NULL) != (own == NULL) || (first && strcmp(first, own) != 0))
        return gsai_fail(error, GSA_CONFLICT,
                         "%s has other columns than the files of rank 0: convert all of them together",
                         gsa_reader_file(job->reader, 0));
    return gsai_shards_rewind(shards, error);
}

/* Counts the rows by files or, if files are not shards, all of them together, and adds their labels to `labels`. */
static gsa_status count_rows(gsai_shards *shards, gsa_state *labels, gsa_error *error)
{
    const gsai_job *job = shards->job;
    gsa_batch rows;
    gsa_status status;
    uint32_t last_file = 0;
    while ((status = gsai_shards_read(shards, GSAI_MAX_BLOCK_ROWS, &rows, error)) == GSA_OK) {
        uint32_t file = job->hooks.files_are_own && rows.place ? rows.place[0].file : 0;
        GSA_TRY(gsai_job_prepare(job, labels, &rows, error));
        if (shards->n_own == 0 || file != last_file) {
            GSAI_TRY_MEMORY(
                gsai_reserve(&job->env, &shards->rows, &shards->capacity, shards->n_own + 1, sizeof *shards->rows),
                &job->env, error, "no memory for %zu shards", shards->n_own + 1);
            shards->rows[shards->n_own++] = 0;
        }
        last_file = file;
        shards->rows[shards->n_own - 1] += rows.n_rows;
    }
    return status == GSA_END ? GSA_OK : status;
}

/* A label on its way; its text follows, with its NUL. */
typedef struct label_head {
    double number;
    uint64_t is_number;
} label_head;

/* Adds the labels that processes have found to the state, which all have: those of `from`, a copy that knows the labels
 * of this process, in the order of the ranks. */
static gsa_status share_labels(gsai_job *job, const gsa_state *from, gsa_error *error)
{
    gsai_bytes mine = {.env = &job->env};
    const unsigned char *all;
    const size_t *sizes;
    label_head head;
    size_t n = (size_t)gsai_summary_of(from).n_classes;
    for (size_t i = (size_t)gsai_summary_of(job->state).n_classes; i < n; i++) {
        const gsai_label *label = &gsai_state_labels(from)->at[i];
        head = (label_head){label->number, label->is_number};
        (void)gsai_bytes_add(&mine, &head, sizeof head);
        (void)gsai_bytes_add(&mine, label->text, strlen(label->text) + 1);
    }
    gsa_status status = mine.is_cut ? gsai_fail_memory(mine.env, error, "no memory for %zu labels", n) : GSA_OK;
    status = gsai_comm_allgather(job, status, mine.at, mine.size, &all, &sizes, error);
    size_t size = status == GSA_OK ? gsai_comm_total(job, sizes) : 0;
    for (size_t at = 0; at < size && status == GSA_OK;) {
        const char *text = (const char *)all + at + sizeof head;
        if (size - at <= sizeof head || !memchr(text, '\0', size - at - sizeof head)) {
            status = gsai_comm_protocol_error(error);
            break;
        }
        memcpy(&head, all + at, sizeof head);
        at += sizeof head + strlen(text) + 1;
        /* A row without features, so that late labels have the limit of those in rows. */
        const gsa_batch row = {.n_rows = 1,
                               .row_start = (const int64_t[]){0, 0},
                               .index = (const uint32_t[]){0},
                               .label = &head.number,
                               .word = &(const int32_t){head.is_number ? -1 : 0},
                               .words = &text,
                               .n_words = 1};
        status = gsa_state_prepare(job->state, &row, error);
    }
    gsai_bytes_free(&mine);
    return status;
}

/* Packs the first rows of a shard, as many as the schedule says and no more entries than fit, and skips the others. */
static gsa_status pack_first(gsai_shards *shards, size_t s, gsai_bytes *to, gsa_error *error)
{
    uint64_t n_rows = shards->rows[s], n_read = 0, max = gsa_plan_first_rows(shards->n_rows, shards->n);
    uint64_t entries_left = GSA_FIRST_ENTRIES / shards->n;
    gsa_batch rows;
    max = max < n_rows ? max : n_rows;
    for (bool fits = true; fits && n_read < max; n_read += rows.n_rows) {
        gsa_status status = gsai_shards_read(shards, max - n_read, &rows, error);
        if (status == GSA_END)
            return gsai_fail(error, GSA_CONFLICT, "the input has fewer rows than when they were counted");
        GSA_TRY(status);
        GSA_TRY(gsai_block_make_sparse(&shards->block, &rows, error));
        size_t n = rows.n_rows;
        while (n > 0 && (uint64_t)(rows.row_start[n] - rows.row_start[0]) > entries_left)
            n--;
        if (n > 0) {
            size_t start = gsai_frame_begin(to);
            GSAI_TRY_MEMORY(gsai_rows_pack(&rows, 0, n, gsai_bytes_add, to) == 0, to->env, error,
                            "no memory for the first %zu rows", n);
            GSA_TRY(gsai_frame_end(to, start, error));
        }
        shards->first[s] += n;
        entries_left -= (uint64_t)(rows.row_start[n] - rows.row_start[0]);
        fits = n == rows.n_rows;
    }
    return gsai_shards_skip(shards, n_rows - n_read, error);
}

gsa_status gsai_shards_find(gsai_shards *shards, gsai_bytes *first, gsa_error *error)
{
    gsai_job *job = shards->job;
    const gsai_env *env = &job->env;
    gsa_state *labels = job->state; /* of this process */
    const unsigned char *all;
    const size_t *sizes;
    GSA_TRY(check(job, error));
    GSA_TRY(gsai_shards_open(shards, error));
    GSA_TRY(prepare(shards, error));
    gsa_status status = gsai_comm_size(job) > 1 ? gsa_state_fork(job->state, 1, &labels, error) : GSA_OK;
    if (status == GSA_OK)
        status = count_rows(shards, labels, error);
    struct {
        uint64_t n_shards, n_rows;
    } mine = {shards->n_own, 0}, each;
    for (size_t s = 0; s < shards->n_own; s++)
        mine.n_rows += shards->rows[s];
    status = gsai_comm_allgather(job, status, &mine, sizeof mine, &all, &sizes, error);
    for (size_t r = 0; r < gsai_comm_size(job) && status == GSA_OK; r++) { /* shards of ranks follow one another */
        memcpy(&each, all + r * sizeof each, sizeof each);
        shards->own_first += r < gsai_comm_rank(job) ? (size_t)each.n_shards : 0;
        shards->n += (size_t)each.n_shards;
        shards->n_rows += each.n_rows;
    }
    if (gsai_comm_size(job) > 1 && status == GSA_OK)
        status = share_labels(job, labels, error);
    if (labels != job->state)
        gsa_state_free(labels);
    GSA_TRY(status);
    if (!job->hooks.files_are_own) { /* all rows, which are one shard, into as many as are asked for */
        uint64_t asked = gsai_state_param(job->state, GSAI_PARAM_shards), n_rows = shards->n_rows;
        size_t n = (size_t)(asked < n_rows ? asked : n_rows);
        GSAI_TRY_MEMORY(gsai_reserve(env, &shards->rows, &shards->capacity, n, sizeof *shards->rows), env, error,
                        "no memory for %zu shards", n);
        for (size_t s = 0; s < n; s++)
            shards->rows[s] = gsa_plan_shard_start(n_rows, n, s + 1) - gsa_plan_shard_start(n_rows, n, s);
        shards->n = shards->n_own = n;
    }
    shards->first = gsai_alloc_zeroed(env, shards->n_own, sizeof *shards->first);
    GSAI_TRY_MEMORY(shards->first, env, error, "no memory for %zu shards", shards->n_own);
    GSA_TRY(gsai_shards_rewind(shards, error));
    for (size_t s = 0; s < shards->n_own; s++)
        GSA_TRY(pack_first(shards, s, first, error));
    return GSA_OK;
}
