/* A communicator over MPI, as the files of this folder see it. */
#ifndef GSA_MPI_COLLECTIVES_H
#define GSA_MPI_COLLECTIVES_H

#include <greedystep/mpi.h>

#include <stdbool.h>

typedef struct gsai_heartbeat gsai_heartbeat;

/* Bytes that grow. */
typedef struct gsai_mpi_room {
    unsigned char *at;
    size_t capacity;
} gsai_mpi_room;

typedef struct gsai_mpi_comm {
    gsa_comm shared; /* first: what has its address is this */
    gsa_memory memory;
    MPI_Comm comm;
    gsai_heartbeat *heartbeat; /* of start.c; NULL: processes are not watched */
    size_t max_bytes;          /* bytes of one call on one rank */
    bool is_broken;            /* a call has failed here: no further one can be made together */
    gsai_mpi_room received, stage;
    uint64_t *lengths; /* by rank: to send, then to receive */
    size_t *sizes;     /* what was received, by rank */
    int *parts;        /* by rank, of one call: counts and offsets to send, counts and offsets to receive */
} gsai_mpi_comm;

/* Does what gsa_mpi_open does, with the bytes that a call carries from or to a rank at most: for tests. */
gsa_status gsai_mpi_open(MPI_Comm comm, size_t max_bytes, const gsa_memory *memory, gsa_comm **out, gsa_error *error);

/* Fails with the text of an MPI call that failed. */
gsa_status gsai_mpi_fail(gsa_error *error, const char *call, int code);

#endif
