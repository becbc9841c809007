/* Forking, settling and merging replicas. */
#include "train/replicas.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/workers.h"
#include "train/comm.h"

gsa_status gsai_replicas_begin(gsai_replicas *replicas, const gsa_step *step, size_t own_first, size_t own_end,
                               const uint64_t *shard_rows, gsa_error *error)
{
    const gsai_env *env = &replicas->job->env;
    GSAI_TRY_MEMORY(gsai_reserve(env, &replicas->resident, &replicas->capacity, step->n_resident, sizeof(gsa_state *)),
                    env, error, "no memory for %zu replicas", step->n_resident);
    replicas->step = *step;
    replicas->own_first = own_first;
    replicas->own_end = own_end;
    replicas->shard_rows = shard_rows;
    replicas->first = replicas->n = replicas->n_begun = 0;
    return gsa_state_close_group(replicas->job->state, error);
}

static bool is_own(const gsai_replicas *replicas, size_t number)
{
    return number >= replicas->own_first && number < replicas->own_end;
}

/* Makes a replica (task), in the memory of one that has learned before if there is any. */
static gsa_status make_replica(void *ctx, size_t task, gsa_error *error)
{
    const gsai_replicas *replicas = ctx;
    const gsa_state *base = replicas->job->state;
    gsa_state **replica = &replicas->resident[task];
    size_t number = replicas->first + task, n_copies = replicas->step.n_replicas;
    if (!is_own(replicas, number))
        return GSA_OK;
    if (replicas->shard_rows)
        n_copies = (size_t)gsa_plan_replicas(replicas->step.n_rows, replicas->shard_rows[number - replicas->own_first]);
    return *replica ? gsa_state_refresh(*replica, base, n_copies, error)
                    : gsa_state_fork(base, n_copies, replica, error);
}

gsa_status gsai_replicas_fork(gsai_replicas *replicas, gsa_error *error)
{
    const gsai_env *env = &replicas->job->env;
    size_t left = replicas->step.n_replicas - replicas->n_begun;
    replicas->first = replicas->n_begun;
    replicas->n = replicas->step.n_resident < left ? replicas->step.n_resident : left;
    for (size_t i = 0; i < replicas->n; i++) {
        bool reuses = is_own(replicas, replicas->first + i) && replicas->n_spare > 0;
        replicas->resident[i] = reuses ? replicas->spare[--replicas->n_spare] : NULL;
    }
    replicas->n_begun += replicas->n;
    return gsai_workers_run(gsai_workers_count(env), replicas->n, make_replica, replicas, env, error);
}

static void drop_residents(gsai_replicas *replicas)
{
    while (replicas->n > 0) {
        gsa_state *replica = replicas->resident[--replicas->n];
        if (replica && replicas->n_spare < GSA_MAX_RESIDENT)
            replicas->spare[replicas->n_spare++] = replica;
        else
            gsa_state_free(replica);
    }
}

/* Forgets the replicas of a step, but not their memory. */
static void clear(gsai_replicas *replicas)
{
    drop_residents(replicas);
    while (replicas->n_ranges > 0)
        gsai_bytes_free(&replicas->deltas[--replicas->n_ranges]);
    gsai_bytes_free(&replicas->headers);
    gsai_free(&replicas->job->env, replicas->deltas);
    replicas->deltas = NULL;
    replicas->n_begun = 0;
}

void gsai_replicas_free(gsai_replicas *replicas)
{
    clear(replicas);
    while (replicas->n_spare > 0)
        gsa_state_free(replicas->spare[--replicas->n_spare]);
    gsai_free(&replicas->job->env, replicas->resident);
}

bool gsai_replicas_have_new_labels(const gsai_replicas *replicas)
{
    uint64_t n_known = gsai_summary_of(replicas->job->state).n_classes;
    bool have = false;
    for (size_t i = 0; i < replicas->n; i++)
        have = have || (replicas->resident[i] && gsai_summary_of(replicas->resident[i]).n_classes != n_known);
    return have;
}

/* ---- deltas ----------------------------------------------------------------------------------------------------- */

/* Features that one process reduces at a time: this much of a merge is on its way at once. */
#define RANGE_FEATURES ((uint64_t)1 << 21)

gsa_status gsai_replicas_settle(gsai_replicas *replicas, uint64_t n_rows, gsa_error *error)
{
    if (gsai_replicas_have_new_labels(replicas))
        return gsai_fail_param(error, "loss", GSA_INPUT,
                               "a third label comes for the first time after %llu rows of two labels; with softmax "
                               "loss it may come at any time",
                               (unsigned long long)n_rows);
    const gsai_job *job = replicas->job;
    size_t from = replicas->first > replicas->own_first ? replicas->first : replicas->own_first;
    size_t end = replicas->first + replicas->n < replicas->own_end ? replicas->first + replicas->n : replicas->own_end;
    const gsa_state *const *own = (const gsa_state *const *)replicas->resident + (from - replicas->first);
    gsai_bytes *headers = &replicas->headers;
    if (replicas->n_ranges == 0) {
        uint64_t n_ranks = gsai_comm_size(job), n_features = gsai_summary_of(job->state).n_features;
        uint64_t n = n_features > n_ranks ? n_features : n_ranks, step = n_ranks * RANGE_FEATURES;
        size_t n_ranges = (size_t)(n_ranks * ((n + step - 1) / step));
        replicas->deltas = gsai_alloc_zeroed(&job->env, n_ranges, sizeof *replicas->deltas);
        GSAI_TRY_MEMORY(replicas->deltas, &job->env, error, "no memory for %zu replicas", replicas->step.n_replicas);
        replicas->n_ranges = n_ranges;
        replicas->width = n / n_ranges;
        headers->env = &job->env;
        for (size_t i = 0; i < n_ranges; i++)
            replicas->deltas[i].env = &job->env;
    }
    for (size_t s = from; s < end; s++) {
        size_t start = gsai_frame_begin(headers);
        GSA_TRY(gsa_state_write_delta_header(own[s - from], job->state, gsai_bytes_add, headers, error));
        GSA_TRY(gsai_frame_end(headers, start, error));
    }
    for (size_t i = 0; i < replicas->n_ranges && from < end; i++) {
        uint64_t first = i * replicas->width, rest = (uint64_t)GSA_MAX_ID + 1 - first;
        gsai_bytes *to = &replicas->deltas[i];
        size_t start = gsai_frame_begin(to);
        GSA_TRY(gsa_state_write_delta(own, end - from, from, job->state, first,
                                      i + 1 < replicas->n_ranges ? replicas->width : rest, gsai_bytes_add, to, error));
        GSA_TRY(gsai_frame_end(to, start, error));
    }
    drop_residents(replicas);
    return GSA_OK;
}

/* Reduces the deltas of all processes: of the ranges [i, i + n) each of the n processes receives one, and adds its sum
 * to `reduced`. Uses part and size, which have room for all replicas and ranges. */
static gsa_status reduce_ranges(gsai_replicas *replicas, gsa_status status, const void **part, size_t *size,
                                gsai_bytes *reduced, gsa_error *error)
{
    gsai_job *job = replicas->job;
    size_t n_ranks = gsai_comm_size(job);
    for (size_t i = 0; i < replicas->n_ranges && !job->aborted; i += n_ranks) {
        gsai_bytes sent = {.env = &job->env};
        const unsigned char *from, *delta;
        const size_t *sizes;
        for (size_t r = 0; r < n_ranks && status == GSA_OK; r++) {
            const gsai_bytes *mine = &replicas->deltas[i + r];
            size[r] = mine->size;
            if (n_ranks > 1 && gsai_bytes_add(&sent, mine->at, mine->size) != 0)
                status = gsai_fail_memory(&job->env, error, "no memory for deltas of other processes");
        }
        const void *bytes = n_ranks > 1 ? sent.at : replicas->deltas[i].at;
        status = gsai_comm_alltoall(job, status, bytes, size, &from, &sizes, error);
        if (status == GSA_OK) {
            size_t n = 0, left = gsai_comm_total(job, sizes), start = gsai_frame_begin(reduced);
            for (; n < replicas->n_begun && gsai_frame_next(&from, &left, &delta, &size[n]); n++)
                part[n] = delta;
            status = gsa_deltas_reduce(part, size, n, &job->env.memory, gsai_bytes_add, reduced, error);
            if (status == GSA_OK)
                status = gsai_frame_end(reduced, start, error);
        }
        gsai_bytes_free(&sent);
        for (size_t r = 0; r < n_ranks; r++)
            gsai_bytes_free(&replicas->deltas[i + r]);
    }
    return status;
}

/* Makes what gsa_state_merge would make of all replicas (at least 2), those of other processes among them. A process
 * that has failed says so at the next collective call, and all leave there. */
static gsa_status merge_deltas(gsai_replicas *replicas, gsa_status status, gsa_state **out, gsa_error *error)
{
    gsai_job *job = replicas->job;
    const gsai_env *env = &job->env;
    gsai_arena arena = {.env = env};
    size_t n_ranks = gsai_comm_size(job), n_replicas = replicas->n_begun, n_ranges = replicas->n_ranges, n = 0;
    size_t max = n_replicas > n_ranges ? n_replicas : n_ranges;
    gsa_state **header = gsai_arena_take(&arena, n_replicas, sizeof(gsa_state *));
    const void **part = gsai_arena_take(&arena, max, sizeof *part);
    size_t *size = gsai_arena_take(&arena, max, sizeof *size);
    gsai_bytes reduced = {.env = env};
    const unsigned char *all, *frame;
    const size_t *sizes;
    if (status == GSA_OK)
        status = gsai_arena_check(&arena, "replicas", error);

    status = gsai_comm_gather_states(job, status, &replicas->headers, header, n_replicas, error);

    status = reduce_ranges(replicas, status, part, size, &reduced, error);
    if (!job->aborted)
        status = gsai_comm_allgather(job, status, reduced.at, reduced.size, &all, &sizes, error);
    size_t left = status == GSA_OK ? gsai_comm_total(job, sizes) : 0;
    for (size_t r = 0; r < n_ranks && status == GSA_OK; r++) /* process r has the ranges r, r + n_ranks ... */
        for (size_t i = r; i < n_ranges && gsai_frame_next(&all, &left, &frame, &size[i]); i += n_ranks, n++)
            part[i] = frame;
    if (status == GSA_OK && n < n_ranges)
        status = gsai_comm_protocol_error(error);
    if (status == GSA_OK)
        status = gsa_state_merge_deltas((const gsa_state *const *)header, n_replicas, job->state, part, size, n_ranges,
                                        &env->call, out, error);
    for (size_t s = 0; s < n_replicas && header; s++)
        gsa_state_free(header[s]);
    gsai_arena_release(&arena);
    gsai_bytes_free(&reduced);
    return status;
}

gsa_status gsai_replicas_merge(gsai_replicas *replicas, bool whole, uint64_t n_rows, gsa_error *error)
{
    gsa_status status = GSA_OK;
    gsai_job *job = replicas->job;
    gsa_state *merged = NULL;
    bool are_all = replicas->first == 0 && replicas->n > 0;
    if (are_all && (whole || gsai_comm_size(job) == 1)) {
        status = gsai_comm_share(job, status, replicas->resident, replicas->n, error);
        if (status == GSA_OK)
            status = gsa_state_merge((const gsa_state *const *)replicas->resident, replicas->n, job->state,
                                     &job->env.call, &merged, error);
    } else {
        if (replicas->n > 0)
            status = gsai_replicas_settle(replicas, n_rows, error);
        status = merge_deltas(replicas, status, &merged, error);
    }
    if (status != GSA_OK)
        return status;
    clear(replicas);
    return gsa_state_replace(job->state, merged, error);
}
