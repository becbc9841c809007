/* Turning replicas into deltas that wait, and merging them. */
#include "train/pending.h"

#include "train/comm.h"

#include "base/error.h"
#include "base/memory.h"

#include <greedystep/distributed.h>

/* Features that one process unites at a time: so much of a merge is on its way at once. */
#define RANGE_FEATURES ((uint64_t)1 << 21)

void gsai_pending_begin(gsai_pending *pending, gsai_job *job)
{
    gsa_summary summary = gsai_summary_of(job->state);
    uint64_t n_ranks = gsai_comm_size(job), n = summary.n_features > n_ranks ? summary.n_features : n_ranks;
    uint64_t n_steps = (n + n_ranks * RANGE_FEATURES - 1) / (n_ranks * RANGE_FEATURES);
    *pending = (gsai_pending){.job = job, .headers = {.env = &job->env}, .n_ranges = (size_t)(n_ranks * n_steps)};
    pending->width = n / pending->n_ranges;
}

void gsai_pending_drop(gsai_pending *pending)
{
    if (!pending->job)
        return;
    const gsai_env *env = &pending->job->env;
    gsai_bytes_free(&pending->headers);
    for (size_t i = 0; i < pending->n_sets; i++) {
        gsai_bytes_free(&pending->set[i].bytes);
        gsai_free(env, pending->set[i].at);
    }
    gsai_free(env, pending->set);
    *pending = (gsai_pending){0};
}

static gsa_status add_headers(gsai_pending *pending, const gsa_state *const *replica, size_t n, gsa_error *error)
{
    for (size_t s = 0; s < n; s++) {
        size_t start = gsai_frame_begin(&pending->headers);
        GSA_TRY(
            gsa_state_write_delta_header(replica[s], pending->job->state, gsai_bytes_add, &pending->headers, error));
        GSA_TRY(gsai_frame_end(&pending->headers, start, error));
    }
    return GSA_OK;
}

gsa_status gsai_pending_add(gsai_pending *pending, const gsa_state *const *replica, size_t n, size_t first,
                            gsa_error *error)
{
    const gsai_env *env = &pending->job->env;
    GSAI_TRY_MEMORY(gsai_reserve(env, &pending->set, &pending->capacity, pending->n_sets + 1, sizeof *pending->set),
                    env, error, "no memory for %zu copies", n);
    gsai_delta_set *to = &pending->set[pending->n_sets++];
    *to = (gsai_delta_set){.bytes = {.env = env}, .at = gsai_alloc_zeroed(env, pending->n_ranges + 1, sizeof *to->at)};
    GSAI_TRY_MEMORY(to->at, env, error, "no memory for %zu copies", n);
    GSA_TRY(add_headers(pending, replica, n, error));
    for (size_t i = 0; i < pending->n_ranges; i++) {
        uint64_t from = i * pending->width, rest = (uint64_t)GSA_MAX_ID + 1 - from;
        size_t start = gsai_frame_begin(&to->bytes);
        GSA_TRY(gsa_state_write_delta(replica, n, first, pending->job->state, from,
                                      i + 1 < pending->n_ranges ? pending->width : rest, gsai_bytes_add, &to->bytes,
                                      error));
        GSA_TRY(gsai_frame_end(&to->bytes, start, error));
        to->at[i + 1] = to->bytes.size;
    }
    return GSA_OK;
}

/* ---- merging ---------------------------------------------------------------------------------------------------- */

typedef struct merger {
    gsai_pending *pending;
    size_t n_replicas;
    gsa_state **header; /* of every replica */
    gsai_bytes reduced; /* of the ranges of this process */
    const void **delta; /* scratch, of replicas or ranges */
    size_t *delta_size;
} merger;

static gsa_status gather(merger *all, gsa_status status, const gsai_bytes *mine, const unsigned char **every,
                         size_t *size, gsa_error *error)
{
    gsai_job *job = all->pending->job;
    const size_t *sizes;
    status = gsai_comm_allgather(job, status, mine->at, mine->size, every, &sizes, error);
    *size = status == GSA_OK ? gsai_comm_total(job, sizes) : 0;
    return status;
}

static gsa_status take_headers(merger *all, gsa_status status, gsa_error *error)
{
    const unsigned char *every, *header;
    size_t left, size, s = 0;
    status = gather(all, status, &all->pending->headers, &every, &left, error);
    while (status == GSA_OK && s < all->n_replicas && gsai_frame_next(&every, &left, &header, &size))
        status = gsa_state_read(header, size, &all->pending->job->env.memory, &all->header[s++], error);
    return status == GSA_OK && s < all->n_replicas ? gsai_comm_protocol_error(error) : status;
}

/* The deltas of one range, from all processes, become one. */
static gsa_status reduce(merger *all, const unsigned char *from, size_t left, gsai_bytes *to, gsa_error *error)
{
    const unsigned char *delta;
    size_t n = 0, size, start = gsai_frame_begin(to);
    while (n < all->n_replicas && gsai_frame_next(&from, &left, &delta, &size)) {
        all->delta[n] = delta;
        all->delta_size[n++] = size;
    }
    GSA_TRY(
        gsa_deltas_reduce(all->delta, all->delta_size, n, &all->pending->job->env.memory, gsai_bytes_add, to, error));
    return gsai_frame_end(to, start, error);
}

/* The ranges of a step, each with all deltas that wait. */
static gsa_status lay_out(const merger *all, size_t first, gsai_bytes *to, size_t *sizes, gsa_error *error)
{
    for (size_t r = 0; r < gsai_comm_size(all->pending->job); r++) {
        size_t before = to->size;
        for (size_t i = 0; i < all->pending->n_sets; i++) {
            const gsai_delta_set *some = &all->pending->set[i];
            /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): there are n_sets */
            size_t at = some->at[first + r], end = some->at[first + r + 1];
            if (gsai_bytes_add(to, some->bytes.at + at, end - at) != 0)
                return gsai_fail_memory(to->env, error, "no memory for what other processes are to have");
        }
        sizes[r] = to->size - before;
    }
    return GSA_OK;
}

/* Sends every process the deltas of the range that it reduces in this step. */
static gsa_status reduce_step(merger *all, gsa_status status, size_t first, gsa_error *error)
{
    gsai_job *job = all->pending->job;
    gsai_bytes several = {.env = &job->env};
    size_t n_ranks = gsai_comm_size(job), *sizes = all->delta_size;
    const gsai_delta_set *only = all->pending->n_sets == 1 ? all->pending->set : NULL;
    for (size_t r = 0; r < n_ranks; r++)
        sizes[r] = only ? only->at[first + r + 1] - only->at[first + r] : 0;
    if (status == GSA_OK && !only)
        status = lay_out(all, first, &several, sizes, error);
    const unsigned char *mine = only ? only->bytes.at + only->at[first] : several.at;
    const size_t *received_sizes = sizes;
    status = gsai_comm_alltoall(job, status, mine, sizes, &mine, &received_sizes, error);
    if (status == GSA_OK)
        status = reduce(all, mine, gsai_comm_total(job, received_sizes), &all->reduced, error);
    gsai_bytes_free(&several);
    return status;
}

/* Merges what all processes have reduced, in the order of the features: process r has the ranges r, r + n, r + 2n ...
 */
static gsa_status join(merger *all, gsa_status status, gsa_state **out, gsa_error *error)
{
    const gsai_pending *pending = all->pending;
    const unsigned char *every, *range;
    size_t left, size, n_ranks = gsai_comm_size(pending->job), n = 0;
    status = gather(all, status, &all->reduced, &every, &left, error);
    for (size_t r = 0; r < n_ranks && status == GSA_OK; r++)
        for (size_t i = r; i < pending->n_ranges && gsai_frame_next(&every, &left, &range, &size); i += n_ranks, n++) {
            all->delta[i] = range;
            all->delta_size[i] = size;
        }
    if (status == GSA_OK && n < pending->n_ranges)
        status = gsai_comm_protocol_error(error);
    return status == GSA_OK ? gsa_state_merge_deltas((const gsa_state *const *)all->header, all->n_replicas,
                                                     pending->job->state, all->delta, all->delta_size,
                                                     pending->n_ranges, &pending->job->env.call, out, error)
                            : status;
}

gsa_status gsai_pending_merge(gsai_pending *pending, gsa_status status, size_t n_replicas, gsa_state **out,
                              gsa_error *error)
{
    gsai_job *job = pending->job;
    const gsai_env *env = &job->env;
    size_t n_ranks = gsai_comm_size(job), n = n_replicas > pending->n_ranges ? n_replicas : pending->n_ranges;
    merger all = {.pending = pending, .n_replicas = n_replicas, .reduced = {.env = env}};
    all.header = gsai_alloc_zeroed(env, n_replicas, sizeof(gsa_state *));
    all.delta = gsai_alloc(env, n, sizeof *all.delta);
    all.delta_size = gsai_alloc(env, n, sizeof *all.delta_size);
    bool has_room = all.header && all.delta && all.delta_size;
    if (!has_room && status == GSA_OK)
        status = gsai_fail_memory(env, error, "no memory for %zu copies", n_replicas);
    /* A process that has failed says so at the next collective call, and leaves. */
    status = has_room ? take_headers(&all, status, error) : gsai_comm_agree(job, status, error);
    for (size_t i = 0; i < pending->n_ranges && !job->aborted; i += n_ranks)
        status = reduce_step(&all, status, i, error);
    if (!job->aborted)
        status = join(&all, status, out, error);
    for (size_t s = 0; s < n_replicas && all.header; s++)
        gsa_state_free(all.header[s]);
    gsai_free(env, all.header);
    gsai_free(env, all.delta);
    gsai_free(env, all.delta_size);
    gsai_bytes_free(&all.reduced);
    return status;
}
