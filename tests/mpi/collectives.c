/* Run by mpirun with any number of ranks: gather and exchange against what they must bring. Sizes and bytes are
 * computed from the number of the call and the ranks, so that everyone knows what everyone has. Exits with 0 if all is
 * right. */
#include "mpi/collectives.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank;

static void check(int ok, const char *what, uint64_t call)
{
    if (ok)
        return;
    fprintf(stderr, "rank %d, call %llu: %s\n", rank, (unsigned long long)call, what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* ---- what there is to carry ------------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t x)
{
    x ^= x >> 31;
    x *= 0x9e3779b97f4a7c15u;
    x ^= x >> 29;
    x *= 0xbf58476d1ce4e5b9u;
    return x ^ x >> 32;
}

static uint64_t key_of(uint64_t call, size_t from, size_t to)
{
    return mix(call * 1000003 + from * 1009 + to + 1);
}

/* Every third is 0, a few are long. */
static size_t size_of(uint64_t call, size_t from, size_t to, size_t most)
{
    uint64_t key = key_of(call, from, to);
    if (key % 3 == 0)
        return 0;
    return (size_t)(mix(key) % (key % 7 == 0 ? most : most / 16 + 1));
}

static unsigned char byte_of(uint64_t key, size_t at)
{
    return (unsigned char)(mix(key + at) >> 13);
}

static void fill(unsigned char *bytes, size_t size, uint64_t key)
{
    for (size_t i = 0; i < size; i++)
        bytes[i] = byte_of(key, i);
}

static int is_filled(const unsigned char *bytes, size_t size, uint64_t key)
{
    for (size_t i = 0; i < size; i++) {
        if (bytes[i] != byte_of(key, i))
            return 0;
    }
    return 1;
}

/* ---- the calls -------------------------------------------------------------------------------------------------- */

static void check_gather(const gsa_comm *comm, uint64_t call, size_t most)
{
    const unsigned char *all;
    const size_t *sizes;
    gsa_error error = {0};
    size_t size = size_of(call, comm->rank, 0, most);
    unsigned char *mine = size > 0 ? malloc(size) : NULL;
    fill(mine, size, key_of(call, comm->rank, 0));
    check(comm->allgather(comm->ctx, mine, size, &all, &sizes, &error) == GSA_OK, error.message, call);
    free(mine);
    for (size_t r = 0; r < comm->n_ranks; all += sizes[r++]) {
        check(sizes[r] == size_of(call, r, 0, most), "gather: a wrong size", call);
        check(is_filled(all, sizes[r], key_of(call, r, 0)), "gather: wrong bytes", call);
    }
}

static void check_exchange(const gsa_comm *comm, uint64_t call, size_t most)
{
    const unsigned char *all;
    const size_t *all_sizes;
    gsa_error error = {0};
    size_t n = comm->n_ranks, total = 0, *sizes = calloc(n, sizeof *sizes);
    for (size_t r = 0; r < n; r++)
        total += sizes[r] = size_of(call, comm->rank, r, most);
    unsigned char *mine = calloc(1, total + 1), *at = mine;
    for (size_t r = 0; r < n; at += sizes[r++])
        fill(at, sizes[r], key_of(call, comm->rank, r));
    check(comm->alltoall(comm->ctx, mine, sizes, &all, &all_sizes, &error) == GSA_OK, error.message, call);
    free(mine);
    free(sizes);
    for (size_t r = 0; r < n; all += all_sizes[r++]) {
        check(all_sizes[r] == size_of(call, r, comm->rank, most), "exchange: a wrong size", call);
        check(is_filled(all, all_sizes[r], key_of(call, r, comm->rank)), "exchange: wrong bytes", call);
    }
}

/* ---- memory ----------------------------------------------------------------------------------------------------- */

typedef struct purse {
    long taken, left; /* blocks that are out, and how many may still be taken (below 0: any number) */
} purse;

static void *take(void *ctx, size_t size)
{
    purse *of = ctx;
    if (of->left == 0)
        return NULL;
    of->left -= of->left > 0;
    of->taken++;
    return malloc(size);
}

static void give_back(void *ctx, void *memory)
{
    ((purse *)ctx)->taken--;
    free(memory);
}

static gsa_comm *open_peers(size_t most, purse *memory)
{
    gsa_memory own = {.size = sizeof own, .alloc = take, .release = give_back, .ctx = memory};
    gsa_comm *comm = NULL;
    gsa_error error = {0};
    check(gsai_mpi_open(MPI_COMM_WORLD, most, &own, &comm, &error) == GSA_OK, error.message, 0);
    check(comm->rank == (size_t)rank, "a wrong rank", 0);
    return comm;
}

static void check_many_calls(size_t most_a_call, size_t most_bytes, uint64_t n_calls)
{
    purse memory = {0, -1};
    gsa_comm *comm = open_peers(most_a_call, &memory);
    for (uint64_t call = 0; call < n_calls; call++) {
        check_gather(comm, 2 * call, most_bytes);
        check_exchange(comm, 2 * call + 1, most_bytes);
    }
    gsa_mpi_close(comm);
    check(memory.taken == 0, "memory was not given back", n_calls);
}

/* On all ranks at once, so that nobody waits. */
static void check_no_memory_is_a_failure(void)
{
    purse memory = {0, 1}; /* for the comm themselves, not for bytes */
    const unsigned char *all;
    const size_t *sizes;
    gsa_error error = {0};
    gsa_comm *comm = open_peers(INT_MAX, &memory);
    check(comm->allgather(comm->ctx, "abc", 3, &all, &sizes, &error) == GSA_MEMORY, "memory came from nowhere", 0);
    check(strstr(error.message, "no memory") != NULL, error.message, 0);
    memory.left = -1;
    check(comm->allgather(comm->ctx, "abc", 3, &all, &sizes, &error) == GSA_IO, "a run that is over went on", 1);
    check(strstr(error.message, "over") != NULL, error.message, 1);
    gsa_mpi_close(comm);
    check(memory.taken == 0, "memory was not given back", 1);
    gsa_mpi_close(NULL);
}

static void check_beside_others(void)
{
    purse memory = {0, -1};
    int word = rank, heard = -1, n;
    MPI_Request request;
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    gsa_comm *comm = open_peers(INT_MAX, &memory);
    /* A message of the program's own, on its own communicator, is under way meanwhile. */
    MPI_Isend(&word, 1, MPI_INT, (rank + 1) % n, 0, MPI_COMM_WORLD, &request);
    check_gather(comm, 7, 1000);
    MPI_Recv(&heard, 1, MPI_INT, (rank + n - 1) % n, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check(heard == (rank + n - 1) % n, "a message of somebody else's", 0);
    gsa_mpi_close(comm);
}

int main(int argc, char **argv)
{
    int n;
    if (MPI_Init(&argc, &argv) != MPI_SUCCESS)
        return 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    uint64_t n_calls = n > 3 ? 8 : 40; /* ranks without a core of their own take milliseconds a call */
    check_many_calls(INT_MAX, 3000, 2 * n_calls);
    check_many_calls(INT_MAX, 300000, n_calls / 8);
    check_many_calls(1, 16, n_calls / 4); /* a byte of each rank at a time */
    check_many_calls(7, 24, n_calls / 4);
    check_many_calls(1000, 3000, n_calls / 2); /* some calls in one part, some in many */
    check_no_memory_is_a_failure();
    check_beside_others();
    MPI_Finalize();
    if (rank == 0)
        printf("%d ranks: every byte is where it belongs\n", n);
    return 0;
}
