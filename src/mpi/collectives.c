/* Collectives over MPI.
 *
 *   1 Sizes travel first, as 64-bit numbers, then bytes.
 *   2 MPI counts in int. What is more than `max_bytes` on some rank goes in parts of each rank's bytes, by way of a
 *     stage; all ranks know how many parts there are.
 *   3 A process that waits sleeps: MPI's own waiting would take a core from processes that still learn, and its lock
 *     from the heartbeat.
 *   4 A failure is one of this rank only: the others wait, until the caller ends them all. */
#include "mpi/collectives.h"

#include <limits.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const size_t stage_bytes = (size_t)1 << 28;

static gsa_status fail(gsa_error *error, gsa_status status, const char *format, ...)
{
    if (error) {
        va_list arguments;
        *error = (gsa_error){.status = status, .row = GSA_NO_ROW};
        va_start(arguments, format);
        /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): on the line before */
        vsnprintf(error->message, sizeof error->message, format, arguments);
        va_end(arguments);
    }
    return status;
}

gsa_status gsai_mpi_fail(gsa_error *error, const char *call, int code)
{
    char text[MPI_MAX_ERROR_STRING + 1] = "";
    int size = 0;
    if (MPI_Error_string(code, text, &size) != MPI_SUCCESS)
        snprintf(text, sizeof text, "error %d", code);
    return fail(error, GSA_IO, "the ranks cannot reach one another: %s failed: %s", call, text);
}

static void *take(const gsa_memory *memory, size_t size)
{
    return memory->alloc ? memory->alloc(memory->ctx, size) : malloc(size);
}

static void drop(const gsa_memory *memory, void *block)
{
    if (block && memory->release)
        memory->release(memory->ctx, block);
    else
        free(block);
}

/* Makes room; what was in it is lost. */
static bool make_room(const gsa_memory *memory, gsai_mpi_room *room, size_t need)
{
    if (need <= room->capacity && room->at)
        return true;
    drop(memory, room->at);
    room->at = take(memory, need > 0 ? need : 1);
    room->capacity = room->at ? need : 0;
    return room->at != NULL;
}

/* ---- one call --------------------------------------------------------------------------------------------------- */

/* Counts, of the bytes of each rank, up to `chunk` after the first `done`, and where they lie side by side. */
static void lay_out(const uint64_t *lengths, size_t n, uint64_t done, uint64_t chunk, int *counts, int *offsets)
{
    uint64_t offset = 0; /* of a allgather's own bytes, which are sent from one offset, the sum means nothing */
    for (size_t r = 0; r < n; r++) {
        uint64_t left = lengths[r] > done ? lengths[r] - done : 0;
        counts[r] = (int)(left < chunk ? left : chunk);
        offsets[r] = (int)(offset & INT_MAX);
        offset += (uint64_t)counts[r];
    }
}

/* Quick at first, since most calls are short. */
static int finish(int code, MPI_Request *request)
{
    int done = 0;
    for (unsigned n = 0; code == MPI_SUCCESS; n++) {
        code = MPI_Test(request, &done, MPI_STATUS_IGNORE);
        if (done || code != MPI_SUCCESS)
            break;
        if (n < 1000)
            sched_yield();
        else
            nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
    }
    return code;
}

static int call(const gsai_mpi_comm *of, bool is_alltoall, const unsigned char *from, unsigned char *to)
{
    size_t n = of->shared.n_ranks;
    const int *sent = of->parts, *got = of->parts + 2 * n;
    MPI_Request request;
    int code =
        is_alltoall
            ? MPI_Ialltoallv(from, sent, sent + n, MPI_BYTE, to, got, got + n, MPI_BYTE, of->comm, &request)
            : MPI_Iallgatherv(from, sent[of->shared.rank], MPI_BYTE, to, got, got + n, MPI_BYTE, of->comm, &request);
    return finish(code, &request);
}

static int carry_part(const gsai_mpi_comm *of, bool is_alltoall, const unsigned char *bytes, uint64_t done,
                      uint64_t chunk)
{
    size_t n = of->shared.n_ranks, own = of->lengths[of->shared.rank];
    int *sent = of->parts, *got = of->parts + 2 * n;
    unsigned char *in = of->stage.at, *out = of->stage.at + n * chunk, *whole = of->received.at;
    lay_out(of->lengths, n, done, chunk, sent, sent + n);
    lay_out(of->lengths + n, n, done, chunk, got, got + n);
    const unsigned char *from = is_alltoall ? out : done < own ? bytes + done : bytes; /* which may be NULL */
    for (size_t r = 0, at = 0; is_alltoall && r < n; at += of->lengths[r++]) {
        if (sent[r] > 0)
            memcpy(out + sent[n + r], bytes + at + done, (size_t)sent[r]);
    }
    int code = call(of, is_alltoall, from, in);
    for (size_t r = 0; code == MPI_SUCCESS && r < n; whole += of->sizes[r++]) {
        if (got[r] > 0)
            memcpy(whole + done, in + got[n + r], (size_t)got[r]);
    }
    return code;
}

/* ---- all of them ------------------------------------------------------------------------------------------------ */

typedef struct volume {
    uint64_t longest; /* bytes from one rank to another */
    uint64_t total;   /* bytes from one rank, or to one */
} volume;

static bool add_up(const uint64_t *lengths, size_t n, volume *into)
{
    uint64_t sum = 0;
    for (size_t r = 0; r < n; r++) {
        if (lengths[r] > SIZE_MAX || sum > SIZE_MAX - lengths[r])
            return false;
        sum += lengths[r];
        into->longest = lengths[r] > into->longest ? lengths[r] : into->longest;
    }
    into->total = sum > into->total ? sum : into->total;
    return true;
}

static gsa_status carry(gsai_mpi_comm *of, bool is_alltoall, const unsigned char *bytes, volume all, gsa_error *error)
{
    /* NOLINTNEXTLINE(clang-analyzer-core.DivideZero): there is one rank at least */
    size_t n = of->shared.n_ranks, chunk = (of->max_bytes < stage_bytes ? of->max_bytes : stage_bytes) / n;
    chunk = chunk > 0 ? chunk : 1;
    int code = MPI_SUCCESS;
    if (all.total <= of->max_bytes) {
        lay_out(of->lengths, n, 0, of->max_bytes, of->parts, of->parts + n);
        lay_out(of->lengths + n, n, 0, of->max_bytes, of->parts + 2 * n, of->parts + 3 * n);
        code = call(of, is_alltoall, bytes, of->received.at);
    } else {
        if (!make_room(&of->memory, &of->stage, 2 * n * chunk))
            return fail(error, GSA_MEMORY, "no memory for %zu bytes on their way between ranks", 2 * n * chunk);
        for (uint64_t done = 0; code == MPI_SUCCESS && done < all.longest; done += chunk)
            code = carry_part(of, is_alltoall, bytes, done, chunk);
    }
    return code == MPI_SUCCESS ? GSA_OK
                               : gsai_mpi_fail(error, is_alltoall ? "MPI_Ialltoallv" : "MPI_Iallgatherv", code);
}

/* The lengths to send are known. */
static gsa_status run_collective(gsai_mpi_comm *of, bool is_alltoall, const void *bytes, const unsigned char **all,
                                 const size_t **sizes, gsa_error *error)
{
    size_t n = of->shared.n_ranks;
    if (of->is_broken)
        return fail(error, GSA_IO, "an earlier call between the ranks has failed: this run is over");
    of->is_broken = true; /* unless it comes to its end */
    MPI_Request request;
    volume mine = {0, 0};
    int code = MPI_Ialltoall(of->lengths, 1, MPI_UINT64_T, of->lengths + n, 1, MPI_UINT64_T, of->comm, &request);
    code = finish(code, &request);
    if (code != MPI_SUCCESS)
        return gsai_mpi_fail(error, "MPI_Ialltoall", code);
    if (!add_up(of->lengths + n, n, &mine))
        return fail(error, GSA_LIMIT, "the ranks have more bytes for this one than it can address");
    if (!make_room(&of->memory, &of->received, (size_t)mine.total))
        return fail(error, GSA_MEMORY, "no memory for %llu bytes of the other ranks", (unsigned long long)mine.total);
    for (size_t r = 0; r < n; r++)
        of->sizes[r] = (size_t)of->lengths[n + r];
    volume most = mine;
    if (is_alltoall) { /* of a allgather all ranks know the same lengths */
        if (!add_up(of->lengths, n, &mine))
            return fail(error, GSA_ARGUMENT, "the sizes of an exchange are more than memory can have");
        code = finish(MPI_Iallreduce(&mine, &most, 2, MPI_UINT64_T, MPI_MAX, of->comm, &request), &request);
        if (code != MPI_SUCCESS)
            return gsai_mpi_fail(error, "MPI_Iallreduce", code);
    }
    gsa_status status = carry(of, is_alltoall, bytes, most, error);
    of->is_broken = status != GSA_OK;
    *all = of->received.at;
    *sizes = of->sizes;
    return status;
}

static gsa_status allgather(void *ctx, const void *bytes, size_t size, const unsigned char **all, const size_t **sizes,
                            gsa_error *error)
{
    gsai_mpi_comm *of = ctx;
    for (size_t r = 0; r < of->shared.n_ranks; r++)
        of->lengths[r] = size;
    return run_collective(of, false, bytes, all, sizes, error);
}

static gsa_status alltoall(void *ctx, const void *bytes, const size_t *sizes, const unsigned char **all,
                           const size_t **all_sizes, gsa_error *error)
{
    gsai_mpi_comm *of = ctx;
    for (size_t r = 0; r < of->shared.n_ranks; r++)
        of->lengths[r] = sizes[r];
    return run_collective(of, true, bytes, all, all_sizes, error);
}

/* ---- life ------------------------------------------------------------------------------------------------------- */

gsa_status gsai_mpi_open(MPI_Comm comm, size_t max_bytes, const gsa_memory *memory, gsa_comm **out, gsa_error *error)
{
    int rank = 0, n_ranks = 1;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &n_ranks);
    size_t n = (size_t)n_ranks;
    gsa_memory resolved = {0};
    if (memory && memory->size < sizeof memory->size)
        return fail(error, GSA_ARGUMENT, "the size of memory is %zu: set it to that of its struct", memory->size);
    if (memory)
        memcpy(&resolved, memory, memory->size < sizeof resolved ? memory->size : sizeof resolved);
    gsai_mpi_comm *of = take(&resolved, sizeof *of + n * (2 * sizeof(uint64_t) + sizeof(size_t) + 4 * sizeof(int)));
    if (!of)
        return fail(error, GSA_MEMORY, "no memory for what is known of %zu ranks", n);
    *of = (gsai_mpi_comm){.memory = resolved, .max_bytes = max_bytes < INT_MAX ? max_bytes : INT_MAX};
    of->shared = (gsa_comm){of, (size_t)rank, n, allgather, alltoall};
    of->lengths = (uint64_t *)(of + 1);
    of->sizes = (size_t *)(of->lengths + 2 * n);
    of->parts = (int *)(of->sizes + n);
    int code = MPI_Comm_dup(comm, &of->comm);
    if (code != MPI_SUCCESS) {
        drop(&resolved, of);
        return gsai_mpi_fail(error, "MPI_Comm_dup", code);
    }
    MPI_Comm_set_errhandler(of->comm, MPI_ERRORS_RETURN);
    *out = &of->shared;
    return GSA_OK;
}

gsa_status gsa_mpi_open(MPI_Comm comm, const gsa_memory *memory, gsa_comm **out, gsa_error *error)
{
    return gsai_mpi_open(comm, INT_MAX, memory, out, error);
}

void gsa_mpi_close(gsa_comm *comm)
{
    gsai_mpi_comm *of = comm ? comm->ctx : NULL;
    if (!of)
        return;
    gsa_memory memory = of->memory;
    MPI_Comm_free(&of->comm);
    drop(&memory, of->received.at);
    drop(&memory, of->stage.at);
    drop(&memory, of);
}
