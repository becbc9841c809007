/* Meetings of processes, and what they are for. */
#include "engine/peers.h"

#include "engine/bytes.h"

#include "base/error.h"

#include <string.h>

size_t gsa__peers_rank(const gsa__job *job)
{
    return job->hooks.peers ? job->hooks.peers->rank : 0;
}

size_t gsa__peers_count(const gsa__job *job)
{
    return job->hooks.peers ? job->hooks.peers->n_ranks : 1;
}

static size_t owner_of(const gsa__job *job, size_t item, size_t n)
{
    return item * gsa__peers_count(job) / n;
}

bool gsa__peers_is_mine(const gsa__job *job, size_t item, size_t n)
{
    return owner_of(job, item, n) == gsa__peers_rank(job);
}

/* ---- meetings ---------------------------------------------------------------------------------------------------- */

gsa_status gsa__peers_agree(gsa__job *job, gsa_status status, gsa_error *error)
{
    const gsa_peers *peers = job->hooks.peers;
    gsa_error mine = error ? *error : (gsa_error){0}, failure = {0};
    const unsigned char *all;
    const size_t *sizes;
    if (gsa__peers_count(job) == 1 || job->parted) {
        job->parted = job->parted || status != GSA_OK;
        return status;
    }
    mine.status = status;
    gsa_status met = peers->gather(peers->ctx, &mine, status == GSA_OK ? 0 : sizeof mine, &all, &sizes, error);
    size_t first = 0, n_failed = 0;
    for (size_t r = 0; met == GSA_OK && r < peers->n_ranks; r++) {
        if (sizes[r] == sizeof failure && n_failed++ == 0) {
            memcpy(&failure, all, sizeof failure);
            first = r;
        }
    }
    job->parted = met != GSA_OK || n_failed > 0;
    if (!job->parted || met != GSA_OK)
        return met;
    if (n_failed < peers->n_ranks && failure.status != GSA_STOPPED)
        gsa__error_prefix(&failure, "rank %zu: ", first);
    if (error)
        *error = failure;
    return failure.status;
}

static gsa_status part(gsa__job *job, gsa_status status)
{
    job->parted = status != GSA_OK;
    return status;
}

gsa_status gsa__peers_gather(gsa__job *job, gsa_status status, const void *bytes, size_t size,
                             const unsigned char **all, const size_t **sizes, gsa_error *error)
{
    const gsa_peers *peers = job->hooks.peers;
    status = gsa__peers_agree(job, status, error);
    job->own_size = size;
    *all = bytes;
    *sizes = &job->own_size;
    if (status != GSA_OK || gsa__peers_count(job) == 1)
        return status;
    job->n_sent += size;
    return part(job, peers->gather(peers->ctx, bytes, size, all, sizes, error));
}

gsa_status gsa__peers_exchange(gsa__job *job, gsa_status status, const void *bytes, const size_t *sizes,
                               const unsigned char **all, const size_t **all_sizes, gsa_error *error)
{
    const gsa_peers *peers = job->hooks.peers;
    status = gsa__peers_agree(job, status, error);
    *all = bytes;
    *all_sizes = sizes;
    if (status != GSA_OK || gsa__peers_count(job) == 1)
        return status;
    for (size_t r = 0; r < peers->n_ranks; r++)
        job->n_sent += r != peers->rank ? sizes[r] : 0;
    return part(job, peers->exchange(peers->ctx, bytes, sizes, all, all_sizes, error));
}

size_t gsa__peers_total(const gsa__job *job, const size_t *sizes)
{
    size_t total = 0;
    for (size_t r = 0; r < gsa__peers_count(job); r++)
        total += sizes[r];
    return total;
}

gsa_status gsa__peers_surprise(gsa_error *error)
{
    return gsa__fail(error, GSA_CONFLICT,
                     "other processes have sent something else than expected: do all run the same version?");
}

gsa_status gsa__peers_end_pass(gsa__job *job, gsa_status status, const gsa_state *state, gsa_error *error)
{
    status = gsa__peers_agree(job, status, error);
    return status == GSA_OK && job->hooks.pass_ended ? job->hooks.pass_ended(job->hooks.ctx, state, error) : status;
}

/* ---- whole states ------------------------------------------------------------------------------------------------ */

static gsa_status pack_states(const gsa__job *job, gsa_state *const *item, size_t n, size_t n_dealt, gsa__bytes *to,
                              gsa_error *error)
{
    gsa_status status = GSA_OK;
    for (size_t i = 0; i < n && status == GSA_OK; i++) {
        if (!gsa__peers_is_mine(job, i, n_dealt))
            continue;
        size_t start = gsa__thing_begin(to);
        status = gsa_state_write(item[i], gsa__bytes_add, to, error);
        if (status == GSA_OK)
            status = gsa__thing_end(to, start, error);
    }
    return status;
}

static gsa_status unpack_states(const gsa__job *job, const unsigned char *all, size_t size, gsa_state **item, size_t n,
                                size_t n_dealt, gsa_error *error)
{
    const unsigned char *state;
    size_t state_size;
    gsa_status status = GSA_OK;
    for (size_t i = 0; i < n && status == GSA_OK; i++) {
        if (!gsa__thing_next(&all, &size, &state, &state_size))
            return gsa__peers_surprise(error);
        if (gsa__peers_is_mine(job, i, n_dealt))
            continue;
        gsa_state_free(item[i]);
        item[i] = NULL;
        status = gsa_state_read(state, state_size, &job->env, &item[i], error);
    }
    return status;
}

gsa_status gsa__peers_share(gsa__job *job, gsa_status status, gsa_state **item, size_t n, size_t n_dealt,
                            gsa_error *error)
{
    gsa__bytes mine = {.env = &job->env};
    const unsigned char *all;
    const size_t *sizes;
    if (gsa__peers_count(job) == 1)
        return status;
    if (status == GSA_OK)
        status = pack_states(job, item, n, n_dealt, &mine, error);
    status = gsa__peers_gather(job, status, mine.at, mine.size, &all, &sizes, error);
    gsa__bytes_free(&mine);
    return status == GSA_OK ? unpack_states(job, all, gsa__peers_total(job, sizes), item, n, n_dealt, error) : status;
}
