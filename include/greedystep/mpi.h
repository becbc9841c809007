/* greedystep: a communicator (gsa_comm of distributed.h) over MPI. The only header that needs <mpi.h>; link
 * libgreedystep_mpi_openmpi or libgreedystep_mpi_mpich, to match the program's MPI. */
#ifndef GREEDYSTEP_MPI_H
#define GREEDYSTEP_MPI_H

#include <greedystep/distributed.h>

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Makes a communicator over the processes of an MPI communicator, for a program that has initialised MPI. Collective;
 * duplicates the MPI communicator. After a failure of one of its functions call MPI_Abort, because other ranks do not
 * know of it. */
GSA_API GSA_NODISCARD gsa_status gsa_mpi_open(MPI_Comm comm, const gsa_memory *memory, gsa_comm **out,
                                              gsa_error *error);
/* Frees the communicator. Collective, before MPI_Finalize. Takes NULL. */
GSA_API void gsa_mpi_close(gsa_comm *comm);

/* Initialises MPI and makes a communicator over all processes, for a program that does not use MPI itself. `say` is
 * called with messages for people, from any thread. If heartbeat_seconds > 0, a thread watches the next rank: if no
 * heartbeat of it arrives for so long, it reports this through `say` and aborts all processes. */
GSA_API GSA_NODISCARD gsa_status gsa_mpi_start(double heartbeat_seconds, void (*say)(const char *text), gsa_comm **out,
                                               gsa_error *error);
/* Finalises MPI after gsa_mpi_start, when every process has called it. failed: nonzero after a failure that others may
 * not know of; aborts all processes with that exit code and does not return. */
GSA_API void gsa_mpi_stop(gsa_comm *comm, int failed);

#ifdef __cplusplus
}
#endif
#endif
