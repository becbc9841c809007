/* MPI from its beginning to its end, for the command, which finds these two functions at run time and never links MPI.
 */
#include "mpi/collectives.h"

#include <stdlib.h>

static gsa_status start_heartbeat(gsai_mpi_comm *of, int threads, double seconds, void (*say)(const char *text),
                                  gsa_error *error)
{
    if (of->shared.n_ranks < 2 || !(seconds > 0))
        return GSA_OK;
    if (threads == MPI_THREAD_MULTIPLE)
        return gsai_heartbeat_start(of->comm, seconds, say, &of->heartbeat, error);
    if (of->shared.rank == 0)
        say("note: this MPI has no MPI_THREAD_MULTIPLE, so a rank that hangs is not noticed");
    return GSA_OK;
}

gsa_status gsa_mpi_start(double heartbeat_seconds, void (*say)(const char *text), gsa_comm **out, gsa_error *error)
{
    int threads = MPI_THREAD_SINGLE;
    int code = MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &threads);
    if (code != MPI_SUCCESS)
        return gsai_mpi_fail(error, "MPI_Init_thread", code);
    gsa_status status = gsa_mpi_open(MPI_COMM_WORLD, NULL, out, error);
    if (status == GSA_OK)
        status = start_heartbeat((*out)->ctx, threads, heartbeat_seconds, say, error);
    if (status != GSA_OK) {
        say(error ? error->message : "MPI could not be begun");
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE); /* the others may have begun, and would wait */
    }
    return status;
}

void gsa_mpi_stop(gsa_comm *comm, int failed)
{
    gsai_mpi_comm *of = comm->ctx;
    if (failed != 0 || of->is_broken)
        MPI_Abort(of->comm, failed != 0 ? failed : EXIT_FAILURE);
    gsai_heartbeat_stop(of->heartbeat);
    gsa_mpi_close(comm);
    MPI_Finalize();
}
