/* Processes that a launcher of MPI (mpirun, mpiexec, srun) has started to train together. The command is not linked
 * with MPI: the library that is, libgreedystep_mpi_..., is loaded when there are others.
 *
 * One of them speaks, that of rank 0. What the others have to say of a failure is kept (message.h) until they agree. */
#ifndef GREEDYSTEP_CLI_CLUSTER_H
#define GREEDYSTEP_CLI_CLUSTER_H

#include <greedystep/train.h>

#include <stdbool.h>

typedef struct cli_cluster {
    gsa_comm *comm; /* NULL: this process is alone */
    void (*stop)(gsa_comm *comm, int failed);
    size_t n_here; /* ranks on this machine */
    int settled;   /* the exit code that all have agreed on, if it is a failure: they talk no more */
    char host[256];
} cli_cluster;

/* The MPI libraries that were built, "" if none. */
const char *cluster_libraries(void);

/* Whether a launcher started this process, alone or with others. */
bool cluster_was_launched(void);

/* Joins the others, if there are any, and tells which processes they are. Gives an exit code; it is a failure if there
 * are others and no way to reach them. */
int cluster_join(cli_cluster *out, bool tells);
bool cluster_is_root(const cli_cluster *cluster);
/* Threads that a rank should take if nobody says how many; 0: as many as there are processors. */
unsigned cluster_threads(const cli_cluster *cluster);
/* What rank 0 gives, to be freed, or NULL; alone it is a copy. Nothing may come between this and an agreement. */
char *cluster_broadcast(const cli_cluster *cluster, const char *text);
/* Everyone has come here with an exit code; gives the worst. Rank 0 tells what it was that failed elsewhere. */
int cluster_agree(cli_cluster *cluster, int code);
/* The same, and parts with them. */
int cluster_leave(cli_cluster *cluster, int code);

#endif
