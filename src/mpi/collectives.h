/* A communicator over MPI, as the files of this folder see it. */
#ifndef GSA_MPI_COLLECTIVES_H
#define GSA_MPI_COLLECTIVES_H

#include <greedystep/mpi.h>

#include <stdbool.h>

typedef struct gsai_heartbeat gsai_heartbeat;

typedef struct gsai_mpi_comm {
    gsa_comm shared; /* first: what has its address is this */
    gsa_memory memory;
    MPI_Comm comm;
    gsai_heartbeat *heartbeat; /* NULL: processes are not watched */
    size_t max_bytes;          /* bytes of one call on one rank */
    bool is_broken;            /* a call has failed here: no further one can be made together */
    unsigned char *received, *stage;
    size_t received_capacity, stage_capacity;
    uint64_t *lengths; /* by rank: to send, then to receive */
    size_t *sizes;     /* what was received, by rank */
    int *parts;        /* by rank, of one call: counts and offsets to send, counts and offsets to receive */
} gsai_mpi_comm;

/* Does what gsa_mpi_open does, with the bytes that a call carries from or to a rank at most: for tests. */
gsa_status gsai_mpi_open(MPI_Comm comm, size_t max_bytes, const gsa_memory *memory, gsa_comm **out, gsa_error *error);

/* Fails with the text of an MPI call that failed. */
gsa_status gsai_mpi_fail(gsa_error *error, const char *call, int code);

/* Watches over a neighbour, from a thread; every rank calls both. Needs MPI_THREAD_MULTIPLE. */
gsa_status gsai_heartbeat_start(MPI_Comm comm, double seconds, void (*say)(const char *text), gsai_heartbeat **out,
                                gsa_error *error);
void gsai_heartbeat_stop(gsai_heartbeat *of);

#endif
