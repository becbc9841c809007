/* Collective calls, and what is sent by them. */
#include "train/comm.h"

#include "base/error.h"
#include "base/memory.h"

#include <greedystep/distributed.h>

#include <string.h>

/* ---- messages --------------------------------------------------------------------------------------------------- */

int gsai_bytes_add(void *ctx, const void *more, size_t size)
{
    gsai_bytes *to = ctx;
    size_t before = to->capacity;
    to->is_cut =
        to->is_cut || size > SIZE_MAX - to->size || !gsai_reserve(to->env, &to->at, &to->capacity, to->size + size, 1);
    if (to->is_cut)
        return -1;
    if (to->capacity > before) /* what copies have learned is as large as a table */
        gsai_prefer_huge_pages(to->at, to->capacity);
    if (size > 0)
        memcpy(to->at + to->size, more, size);
    to->size += size;
    return 0;
}

void gsai_bytes_free(gsai_bytes *bytes)
{
    gsai_free(bytes->env, bytes->at);
    *bytes = (gsai_bytes){.env = bytes->env};
}

gsa_status gsai_frame_end(gsai_bytes *to, size_t start, gsa_error *error)
{
    if (to->is_cut)
        return gsai_fail_memory(to->env, error, "no memory for what other processes are to have");
    uint64_t size = to->size - start - sizeof size;
    memcpy(to->at + start, &size, sizeof size);
    return GSA_OK;
}

size_t gsai_frame_begin(gsai_bytes *to)
{
    static const uint64_t nothing = 0;
    size_t start = to->size;
    (void)gsai_bytes_add(to, &nothing, sizeof nothing);
    return start;
}

bool gsai_frame_next(const unsigned char **from, size_t *left, const unsigned char **frame, size_t *size)
{
    uint64_t n;
    if (*left < sizeof n)
        return false;
    memcpy(&n, *from, sizeof n);
    if (n > *left - sizeof n)
        return false;
    *frame = *from + sizeof n;
    *size = (size_t)n;
    *from += sizeof n + n;
    *left -= sizeof n + (size_t)n;
    return true;
}

/* ---- ranks ------------------------------------------------------------------------------------------------------ */

size_t gsai_comm_rank(const gsai_job *job)
{
    return job->hooks.comm ? job->hooks.comm->rank : 0;
}

size_t gsai_comm_size(const gsai_job *job)
{
    return job->hooks.comm ? job->hooks.comm->n_ranks : 1;
}

size_t gsai_comm_first(const gsai_job *job, size_t n, size_t next)
{
    size_t n_ranks = gsai_comm_size(job), from = (gsai_comm_rank(job) + next) * n;
    return from / n_ranks + (from % n_ranks > 0);
}

/* ---- collective calls ------------------------------------------------------------------------------------------- */

gsa_status gsai_comm_agree(gsai_job *job, gsa_status status, gsa_error *error)
{
    const gsa_comm *comm = job->hooks.comm;
    gsa_error mine = error ? *error : (gsa_error){0}, failure = {0};
    const unsigned char *all;
    const size_t *sizes;
    if (gsai_comm_size(job) == 1 || job->aborted) {
        job->aborted = job->aborted || status != GSA_OK;
        return status;
    }
    mine.status = status;
    gsa_status gathered = comm->allgather(comm->ctx, &mine, status == GSA_OK ? 0 : sizeof mine, &all, &sizes, error);
    size_t first = 0, n_failed = 0;
    for (size_t r = 0; gathered == GSA_OK && r < comm->n_ranks; r++) {
        if (sizes[r] == sizeof failure && n_failed++ == 0) {
            memcpy(&failure, all, sizeof failure);
            first = r;
        }
    }
    job->aborted = gathered != GSA_OK || n_failed > 0;
    if (!job->aborted || gathered != GSA_OK)
        return gathered;
    if (n_failed < comm->n_ranks && failure.status != GSA_STOPPED)
        gsai_error_prefix(&failure, "rank %zu: ", first);
    if (error)
        *error = failure;
    return failure.status;
}

gsa_status gsai_comm_allgather(gsai_job *job, gsa_status status, const void *bytes, size_t size,
                               const unsigned char **all, const size_t **sizes, gsa_error *error)
{
    const gsa_comm *comm = job->hooks.comm;
    status = gsai_comm_agree(job, status, error);
    job->own_size = size;
    *all = bytes;
    *sizes = &job->own_size;
    if (status != GSA_OK || gsai_comm_size(job) == 1)
        return status;
    job->n_sent += size;
    status = comm->allgather(comm->ctx, bytes, size, all, sizes, error);
    job->aborted = status != GSA_OK;
    return status;
}

gsa_status gsai_comm_alltoall(gsai_job *job, gsa_status status, const void *bytes, const size_t *sizes,
                              const unsigned char **all, const size_t **all_sizes, gsa_error *error)
{
    const gsa_comm *comm = job->hooks.comm;
    status = gsai_comm_agree(job, status, error);
    *all = bytes;
    *all_sizes = sizes;
    if (status != GSA_OK || gsai_comm_size(job) == 1)
        return status;
    for (size_t r = 0; r < comm->n_ranks; r++)
        job->n_sent += r != comm->rank ? sizes[r] : 0;
    status = comm->alltoall(comm->ctx, bytes, sizes, all, all_sizes, error);
    job->aborted = status != GSA_OK;
    return status;
}

size_t gsai_comm_total(const gsai_job *job, const size_t *sizes)
{
    size_t total = 0;
    for (size_t r = 0; r < gsai_comm_size(job); r++)
        total += sizes[r];
    return total;
}

gsa_status gsai_comm_protocol_error(gsa_error *error)
{
    return gsai_fail(error, GSA_CONFLICT,
                     "other processes have sent something else than expected: do all run the same version?");
}

gsa_status gsai_comm_end_pass(gsai_job *job, gsa_status status, gsa_error *error)
{
    GSA_TRY(gsai_comm_agree(job, status, error));
    return job->hooks.pass_ended ? job->hooks.pass_ended(job->hooks.ctx, job->state, error) : GSA_OK;
}

/* ---- whole states ----------------------------------------------------------------------------------------------- */

gsa_status gsai_comm_gather_states(gsai_job *job, gsa_status status, const gsai_bytes *mine, gsa_state **item, size_t n,
                                   gsa_error *error)
{
    const unsigned char *all, *state;
    const size_t *sizes;
    size_t size;
    GSA_TRY(gsai_comm_allgather(job, status, mine->at, mine->size, &all, &sizes, error));
    size_t left = gsai_comm_total(job, sizes);
    for (size_t i = 0; i < n; i++) {
        if (!gsai_frame_next(&all, &left, &state, &size))
            return gsai_comm_protocol_error(error);
        if (!item[i])
            GSA_TRY(gsa_state_read(state, size, &job->env.memory, &item[i], error));
    }
    return GSA_OK;
}

gsa_status gsai_comm_share(gsai_job *job, gsa_status status, gsa_state **item, size_t n, gsa_error *error)
{
    gsai_bytes mine = {.env = &job->env};
    if (gsai_comm_size(job) == 1)
        return status;
    for (size_t i = 0; i < n && status == GSA_OK; i++) {
        if (!item[i])
            continue;
        size_t start = gsai_frame_begin(&mine);
        status = gsa_state_write(item[i], gsai_bytes_add, &mine, error);
        if (status == GSA_OK)
            status = gsai_frame_end(&mine, start, error);
    }
    status = gsai_comm_gather_states(job, status, &mine, item, n, error);
    gsai_bytes_free(&mine);
    return status;
}

gsa_status gsai_comm_share_first(gsai_job *job, gsa_status status, gsa_error *error)
{
    bool is_first = gsai_comm_rank(job) == 0;
    gsa_state *first = is_first ? job->state : NULL;
    GSA_TRY(gsai_comm_share(job, status, &first, 1, error));
    return is_first ? GSA_OK : gsa_state_replace(job->state, first, error);
}
