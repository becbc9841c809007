/* greedystep: processes of an MPI job that learn together (gsa_comm of train.h). The only header that needs <mpi.h>;
 * the library is libgreedystep_mpi_openmpi or libgreedystep_mpi_mpich, whichever MPI the program is linked with. */
#ifndef GREEDYSTEP_MPI_H
#define GREEDYSTEP_MPI_H

#include <greedystep/train.h>

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The processes of a communicator, for a program that has begun MPI itself. Every one of them calls it; the calls of
 * gsa_comm go over a communicator of their own. After a failure of one of those on this rank, which the others do not
 * know of, end them with MPI_Abort. */
GSA_API GSA_NODISCARD gsa_status gsa_mpi_open(MPI_Comm comm, const gsa_env *env, gsa_comm **out, gsa_error *error);
/* Every process calls it, before MPI_Finalize; NULL is fine. */
GSA_API void gsa_mpi_close(gsa_comm *peers);

/* For a program that has nothing else to do with MPI: begins it, with all processes that were started. `say` is given
 * what a person should know, from any thread. If heartbeat_seconds > 0, a thread watches over a neighbour: when that
 * process, or its machine, was not heard of for so long, it says so and ends all of them. */
GSA_API GSA_NODISCARD gsa_status gsa_mpi_start(double heartbeat_seconds, void (*say)(const char *text), gsa_comm **out,
                                               gsa_error *error);
/* Ends what gsa_mpi_start began, when every process has come to it. failed: not 0 after a failure that the others may
 * not know of; ends all of them at once with that exit code, and does not return. */
GSA_API void gsa_mpi_stop(gsa_comm *peers, int failed);

#ifdef __cplusplus
}
#endif
#endif
