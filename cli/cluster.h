/* Processes that a launcher of MPI (mpirun, mpiexec, srun) has started to train together. The command is not linked
 * with MPI: libgreedystep_mpi_..., which is, is loaded if there are other processes.
 *
 * Only rank 0 prints. The failure messages of other ranks are kept (message.h) until all ranks agree on an exit code.
 */
#ifndef GREEDYSTEP_CLI_CLUSTER_H
#define GREEDYSTEP_CLI_CLUSTER_H

#include <greedystep/distributed.h>
#include <greedystep/train.h>

#include <stdbool.h>

typedef struct cli_cluster {
    gsa_comm *comm; /* NULL: this process is alone */
    void (*stop)(gsa_comm *comm, int failed);
    size_t n_here; /* ranks that share the processors of this one */
    int settled;   /* the exit code that all have agreed on, if it is a failure: no further messages are exchanged */
    char host[256];
} cli_cluster;

/* Returns the names of the MPI libraries that were built, "" if none. */
const char *cluster_libraries(void);

/* Says whether a launcher started this process, alone or with others. */
bool cluster_was_launched(void);

/* Joins the other ranks, if any, and prints the list of processes if `tells`. Returns an exit code, a failure if the
 * others cannot be reached. */
int cluster_join(cli_cluster *out, bool tells);
bool cluster_is_root(const cli_cluster *cluster);
/* Returns the default number of threads of a rank; 0: one per processor. */
unsigned cluster_threads(const cli_cluster *cluster);
/* Returns the text of rank 0, to be freed, or NULL. cluster_agree must be the next exchange. */
char *cluster_broadcast(const cli_cluster *cluster, const char *text);
/* Returns the worst exit code of all ranks, each of which must call it. Rank 0 prints the failures of the others. */
int cluster_agree(cli_cluster *cluster, int code);
/* Does the same, and ends the communication. */
int cluster_leave(cli_cluster *cluster, int code);

#endif
