/* Putting copies aside, and merging what was put aside. */
#include "train/pending.h"

#include "train/comm.h"

#include "base/error.h"
#include "base/memory.h"

/* Features that one process unites at a time: so much of a merge is on its way at once. */
#define RANGE_FEATURES ((uint64_t)1 << 21)

void gsai_pending_begin(gsai_pending *aside, gsai_job *job)
{
    gsa_summary summary = gsai_summary_of(job->state);
    uint64_t n_ranks = gsai_comm_size(job), n = summary.n_features > n_ranks ? summary.n_features : n_ranks;
    uint64_t n_steps = (n + n_ranks * RANGE_FEATURES - 1) / (n_ranks * RANGE_FEATURES);
    *aside = (gsai_pending){.job = job, .heads = {.env = &job->env}, .n_ranges = (size_t)(n_ranks * n_steps)};
    aside->width = n / aside->n_ranges;
}

void gsai_pending_drop(gsai_pending *aside)
{
    if (!aside->job)
        return;
    const gsa_env *env = &aside->job->env;
    gsai_bytes_free(&aside->heads);
    for (size_t i = 0; i < aside->n_with_deltas; i++) {
        gsai_bytes_free(&aside->sliced[i].bytes);
        gsai_free(env, aside->sliced[i].at);
    }
    gsai_free(env, aside->sliced);
    *aside = (gsai_pending){0};
}

static gsa_status add_heads(gsai_pending *aside, const gsa_state *const *copy, size_t n, gsa_error *error)
{
    for (size_t s = 0; s < n; s++) {
        size_t start = gsai_frame_begin(&aside->heads);
        GSA_TRY(gsa_state_write_delta_header(copy[s], aside->job->state, gsai_bytes_add, &aside->heads, error));
        GSA_TRY(gsai_frame_end(&aside->heads, start, error));
    }
    return GSA_OK;
}

gsa_status gsai_pending_add(gsai_pending *aside, const gsa_state *const *copy, size_t n, size_t first, gsa_error *error)
{
    const gsa_env *env = &aside->job->env;
    if (!gsai_reserve(env, &aside->sliced, &aside->capacity, aside->n_with_deltas + 1, sizeof *aside->sliced))
        return gsai_fail_memory(env, error, "no memory for %zu copies", n);
    gsai_delta_set *to = &aside->sliced[aside->n_with_deltas++];
    *to = (gsai_delta_set){.bytes = {.env = env}, .at = gsai_alloc_zeroed(env, aside->n_ranges + 1, sizeof *to->at)};
    if (!to->at)
        return gsai_fail_memory(env, error, "no memory for %zu copies", n);
    GSA_TRY(add_heads(aside, copy, n, error));
    for (size_t i = 0; i < aside->n_ranges; i++) {
        uint64_t from = i * aside->width, rest = (uint64_t)GSA_MAX_ID + 1 - from;
        size_t start = gsai_frame_begin(&to->bytes);
        GSA_TRY(gsa_state_write_delta(copy, n, first, aside->job->state, from,
                                      i + 1 < aside->n_ranges ? aside->width : rest, gsai_bytes_add, &to->bytes,
                                      error));
        GSA_TRY(gsai_frame_end(&to->bytes, start, error));
        to->at[i + 1] = to->bytes.size;
    }
    return GSA_OK;
}

/* ---- merging ----------------------------------------------------------------------------------------------------- */

typedef struct merger {
    gsai_pending *aside;
    size_t n_copies;
    gsa_state **head;   /* of every copy */
    gsai_bytes united;  /* of the ranges of this process */
    const void **delta; /* scratch, of copies or ranges */
    size_t *delta_size;
} merger;

static gsa_status gather(merger *all, gsa_status status, const gsai_bytes *mine, const unsigned char **every,
                         size_t *size, gsa_error *error)
{
    gsai_job *job = all->aside->job;
    const size_t *sizes;
    status = gsai_comm_allgather(job, status, mine->at, mine->size, every, &sizes, error);
    *size = status == GSA_OK ? gsai_comm_total(job, sizes) : 0;
    return status;
}

static gsa_status take_heads(merger *all, gsa_status status, gsa_error *error)
{
    const unsigned char *every, *head;
    size_t left, size, s = 0;
    status = gather(all, status, &all->aside->heads, &every, &left, error);
    while (status == GSA_OK && s < all->n_copies && gsai_frame_next(&every, &left, &head, &size))
        status = gsa_state_read(head, size, &all->aside->job->env, &all->head[s++], error);
    return status == GSA_OK && s < all->n_copies ? gsai_comm_protocol_error(error) : status;
}

/* The deltas of one range, from all processes, become one. */
static gsa_status unite(merger *all, const unsigned char *from, size_t left, gsai_bytes *to, gsa_error *error)
{
    const unsigned char *delta;
    size_t n = 0, size, start = gsai_frame_begin(to);
    while (n < all->n_copies && gsai_frame_next(&from, &left, &delta, &size)) {
        all->delta[n] = delta;
        all->delta_size[n++] = size;
    }
    GSA_TRY(gsa_deltas_reduce(all->delta, all->delta_size, n, &all->aside->job->env, gsai_bytes_add, to, error));
    return gsai_frame_end(to, start, error);
}

/* The ranges of a step, each with all that was put aside of it. */
static gsa_status lay_out(const merger *all, size_t first, gsai_bytes *to, size_t *sizes, gsa_error *error)
{
    for (size_t r = 0; r < gsai_comm_size(all->aside->job); r++) {
        size_t before = to->size;
        for (size_t i = 0; i < all->aside->n_with_deltas; i++) {
            const gsai_delta_set *some = &all->aside->sliced[i];
            /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): there are n_with_deltas */
            size_t at = some->at[first + r], end = some->at[first + r + 1];
            if (gsai_bytes_add(to, some->bytes.at + at, end - at) != 0)
                return gsai_fail_memory(to->env, error, "no memory for what other processes are to have");
        }
        sizes[r] = to->size - before;
    }
    return GSA_OK;
}

/* Everyone gets what it is to unite of the ranges of this step. */
static gsa_status unite_step(merger *all, gsa_status status, size_t first, gsa_error *error)
{
    gsai_job *job = all->aside->job;
    gsai_bytes several = {.env = &job->env};
    size_t n_ranks = gsai_comm_size(job), *sizes = all->delta_size;
    const gsai_delta_set *only = all->aside->n_with_deltas == 1 ? all->aside->sliced : NULL;
    for (size_t r = 0; r < n_ranks; r++)
        sizes[r] = only ? only->at[first + r + 1] - only->at[first + r] : 0;
    if (status == GSA_OK && !only)
        status = lay_out(all, first, &several, sizes, error);
    const unsigned char *mine = only ? only->bytes.at + only->at[first] : several.at;
    const size_t *given = sizes;
    status = gsai_comm_alltoall(job, status, mine, sizes, &mine, &given, error);
    if (status == GSA_OK)
        status = unite(all, mine, gsai_comm_total(job, given), &all->united, error);
    gsai_bytes_free(&several);
    return status;
}

/* What everyone has united, in the order of the features: process r has the ranges r, r + n, r + 2n ... */
static gsa_status join(merger *all, gsa_status status, gsa_state **out, gsa_error *error)
{
    const gsai_pending *aside = all->aside;
    const unsigned char *every, *range;
    size_t left, size, n_ranks = gsai_comm_size(aside->job), n = 0;
    status = gather(all, status, &all->united, &every, &left, error);
    for (size_t r = 0; r < n_ranks && status == GSA_OK; r++)
        for (size_t i = r; i < aside->n_ranges && gsai_frame_next(&every, &left, &range, &size); i += n_ranks, n++) {
            all->delta[i] = range;
            all->delta_size[i] = size;
        }
    if (status == GSA_OK && n < aside->n_ranges)
        status = gsai_comm_protocol_error(error);
    return status == GSA_OK
               ? gsa_state_merge_deltas((const gsa_state *const *)all->head, all->n_copies, aside->job->state,
                                        all->delta, all->delta_size, aside->n_ranges, &aside->job->env, out, error)
               : status;
}

gsa_status gsai_pending_merge(gsai_pending *aside, gsa_status status, size_t n_copies, gsa_state **out,
                              gsa_error *error)
{
    gsai_job *job = aside->job;
    const gsa_env *env = &job->env;
    size_t n_ranks = gsai_comm_size(job), n = n_copies > aside->n_ranges ? n_copies : aside->n_ranges;
    merger all = {.aside = aside, .n_copies = n_copies, .united = {.env = env}};
    all.head = gsai_alloc_zeroed(env, n_copies, sizeof(gsa_state *));
    all.delta = gsai_alloc(env, n, sizeof *all.delta);
    all.delta_size = gsai_alloc(env, n, sizeof *all.delta_size);
    bool has_room = all.head && all.delta && all.delta_size;
    if (!has_room && status == GSA_OK)
        status = gsai_fail_memory(env, error, "no memory for %zu copies", n_copies);
    /* A process that has failed says so at the next meeting, and leaves. */
    status = has_room ? take_heads(&all, status, error) : gsai_comm_agree(job, status, error);
    for (size_t i = 0; i < aside->n_ranges && !job->parted; i += n_ranks)
        status = unite_step(&all, status, i, error);
    if (!job->parted)
        status = join(&all, status, out, error);
    for (size_t s = 0; s < n_copies && all.head; s++)
        gsa_state_free(all.head[s]);
    gsai_free(env, all.head);
    gsai_free(env, all.delta);
    gsai_free(env, all.delta_size);
    gsai_bytes_free(&all.united);
    return status;
}
