/* The launcher that started this process, the MPI library for it, and how the processes agree on one exit code. */
#include "cluster.h"

#include "message.h"
#include "siblings.h"
#include "typed.h"

#include "base/os.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_SIZE = 4096 };

const char *cluster_libraries(void)
{
    return GREEDYSTEP_MPIS;
}

/* ---- the launcher ------------------------------------------------------------------------------------------------ */

typedef struct launcher {
    const char *rank, *size; /* what it sets in the environment */
    const char *mpi, *name, *package;
} launcher;

static const launcher launchers[] = {
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "openmpi", "Open MPI", "libopenmpi-dev"},
    {"PMI_RANK", "PMI_SIZE", "mpich", "MPICH", "libmpich-dev"},
    {"PMIX_RANK", "SLURM_NTASKS", "openmpi", "Open MPI", "libopenmpi-dev"},
};

static const launcher *find_launcher(void)
{
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++)
        if (getenv(launchers[i].rank) != NULL)
            return &launchers[i];
    return NULL;
}

bool cluster_was_launched(void)
{
    return find_launcher() != NULL;
}

/* ---- the library ------------------------------------------------------------------------------------------------- */

typedef gsa_status start_function(double heartbeat_seconds, void (*say)(const char *text), gsa_comm **out,
                                  gsa_error *error);

static int load(const launcher *by, start_function **start, cli_cluster *out)
{
    /* Beside the command, as in a build, or where an installation has it; else by its name, wherever libraries are. */
    static const char *const places[] = {"", "../" GREEDYSTEP_LIBDIR "/"};
    char path[PATH_SIZE], folder[SIBLING_PATH_SIZE];
    const char *given = getenv("GREEDYSTEP_MPI");
    bool is_found = given != NULL;
    snprintf(path, sizeof path, "%s", is_found ? given : "");
    sibling_folder(folder);
    for (size_t i = 0; folder[0] != '\0' && i < sizeof places / sizeof *places && !is_found; i++) {
        int size =
            snprintf(path, PATH_SIZE, "%s%slibgreedystep_mpi_%s.so." GREEDYSTEP_SOVERSION, folder, places[i], by->mpi);
        is_found = size < PATH_SIZE && access(path, F_OK) == 0;
    }
    if (!is_found)
        snprintf(path, sizeof path, "libgreedystep_mpi_%s.so." GREEDYSTEP_SOVERSION, by->mpi);
    /* Parts that an MPI loads later look for its symbols among the global ones. */
    void *library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    void *begin = library != NULL ? dlsym(library, "gsa_mpi_start") : NULL;
    void *end = library != NULL ? dlsym(library, "gsa_mpi_stop") : NULL;
    if (begin != NULL && end != NULL) {
        memcpy(start, &begin, sizeof begin);
        memcpy(&out->stop, &end, sizeof end);
        return EXIT_DONE;
    }
    const char *reason = dlerror(), *rank = getenv(by->rank);
    if (rank != NULL && strcmp(rank, "0") != 0) {
        message_silence();
        sleep(1); /* launchers end the job with the first process that fails: rank 0 has to have spoken */
    }
    return complain_failed("cannot connect the processes that %s launched: %s; build greedystep with %s installed "
                           "(Debian: %s), name the library in GREEDYSTEP_MPI, or start only one process",
                           by->name, reason != NULL ? reason : path, by->name, by->package);
}

/* ---- agreeing ---------------------------------------------------------------------------------------------------- */

bool cluster_is_root(const cli_cluster *cluster)
{
    return cluster->comm == NULL || cluster->comm->rank == 0;
}

/* The message of a rank: its exit code and, after a failure, its host and the reason. */
typedef struct outcome {
    unsigned char code;
    char host[256], message[MESSAGE_SIZE];
} outcome;

/* Each different message once; this rank's own has been said. */
static void tell_failures(const outcome *mine, const unsigned char *all, size_t n_ranks)
{
    outcome of;
    char told[MESSAGE_SIZE];
    memcpy(told, mine->message, sizeof told);
    for (size_t r = 0; r < n_ranks; r++, all += sizeof of) {
        memcpy(&of, all, sizeof of);
        if (of.message[0] == '\0' || strcmp(of.message, mine->message) == 0 || strcmp(of.message, told) == 0)
            continue;
        complain("rank %zu on %s: %s", r, of.host, of.message);
        memcpy(told, of.message, sizeof told);
    }
}

/* Ends the job: the others wait, and cannot be reached otherwise. */
static int give_up(cli_cluster *cluster, const char *message)
{
    if (!cluster_is_root(cluster) || message_last()[0] == '\0')
        fprintf(stderr, "greedystep: rank %zu on %s: %s\n", cluster->comm->rank, cluster->host, message);
    cluster->stop(cluster->comm, EXIT_FAILED);
    return EXIT_FAILED;
}

char *cluster_broadcast(const cli_cluster *cluster, const char *text)
{
    const gsa_comm *comm = cluster->comm;
    const unsigned char *all = (const unsigned char *)text;
    const size_t *sizes;
    size_t size = text != NULL && cluster_is_root(cluster) ? strlen(text) + 1 : 0;
    gsa_error error = {0};
    if (comm != NULL && comm->allgather(comm->ctx, text, size, &all, &sizes, &error) == GSA_OK)
        size = sizes[0];
    char *seen = size > 0 ? malloc(size) : NULL;
    if (seen != NULL)
        memcpy(seen, all, size);
    return seen;
}

int cluster_agree(cli_cluster *cluster, int code)
{
    const gsa_comm *comm = cluster->comm;
    const unsigned char *all;
    const size_t *sizes;
    gsa_error error = {0};
    if (comm == NULL || cluster->settled != EXIT_DONE)
        return comm == NULL ? code : cluster->settled;
    outcome mine = {.code = (unsigned char)code};
    memcpy(mine.host, cluster->host, sizeof mine.host);
    if (code != EXIT_DONE)
        snprintf(mine.message, sizeof mine.message, "%s", message_last());
    if (comm->allgather(comm->ctx, &mine, sizeof mine, &all, &sizes, &error) != GSA_OK)
        return give_up(cluster, mine.message[0] != '\0' ? mine.message : error.message);
    for (size_t r = 0; r < comm->n_ranks; r++) {
        if (sizes[r] != sizeof mine)
            return give_up(cluster, "other ranks do something else than this one");
        int theirs = all[r * sizeof mine + offsetof(outcome, code)];
        cluster->settled = theirs > cluster->settled ? theirs : cluster->settled;
    }
    if (cluster_is_root(cluster))
        tell_failures(&mine, all, comm->n_ranks);
    return cluster->settled;
}

/* ---- joining and parting ---------------------------------------------------------------------------------------- */

/* Prints a line; any rank calls it, at any time. */
static void say(const char *text)
{
    fprintf(stderr, "greedystep: %s\n", text);
}

typedef struct place {
    char host[256];
    long process;
    uint64_t processors;
} place;

/* Counts the ranks that share processors with this one, and prints the processes, since a launcher may name one that
 * died by its number only. */
static gsa_status gather_places(cli_cluster *cluster, bool tells, gsa_error *error)
{
    const gsa_comm *comm = cluster->comm;
    const unsigned char *all;
    const size_t *sizes;
    place mine = {.process = (long)getpid(), .processors = gsai_os_processor_set()};
    memcpy(mine.host, cluster->host, sizeof mine.host);
    gsa_status status = comm->allgather(comm->ctx, &mine, sizeof mine, &all, &sizes, error);
    if (status != GSA_OK)
        return status;
    place *of = malloc(comm->n_ranks * sizeof *of);
    if (of == NULL)
        return GSA_MEMORY;
    memcpy(of, all, comm->n_ranks * sizeof *of);
    for (size_t r = 0; r < comm->n_ranks; r++)
        cluster->n_here += strcmp(of[r].host, mine.host) == 0 && of[r].processors == mine.processors;
    for (size_t first = 0, r = 1; tells && comm->rank == 0 && first < comm->n_ranks; r++) {
        if (r < comm->n_ranks && strcmp(of[r].host, of[first].host) == 0)
            continue;
        fprintf(stderr, "greedystep: ranks %zu to %zu of %zu on %s are the processes", first, r - 1, comm->n_ranks,
                of[first].host);
        for (; first < r; first++)
            fprintf(stderr, " %ld", of[first].process);
        fputc('\n', stderr);
    }
    free(of);
    return GSA_OK;
}

int cluster_join(cli_cluster *out, bool tells)
{
    gsa_error error = {0};
    start_function *start = NULL;
    const launcher *by = find_launcher();
    const char *size = by != NULL ? getenv(by->size) : NULL, *n_tasks = getenv("SLURM_STEP_NUM_TASKS");
    const char *heartbeat = getenv("GREEDYSTEP_HEARTBEAT_SECONDS");
    double seconds = 60;
    *out = (cli_cluster){0};
    /* Processes that srun started without --mpi cannot find one another. A batch script is not a step: it is one
     * process. */
    if (by == NULL && n_tasks != NULL && strcmp(n_tasks, "1") != 0)
        return complain_failed("cannot connect the %s processes that srun started; start them with srun --mpi=pmix "
                               "(Open MPI) or --mpi=pmi2 (MPICH), or start only one",
                               n_tasks);
    if (by == NULL || (size != NULL && strcmp(size, "1") == 0))
        return EXIT_DONE;
    int code = load(by, &start, out);
    if (code != EXIT_DONE)
        return code;
    if (heartbeat != NULL && (!number_parse_real(heartbeat, &seconds) || seconds < 0)) {
        note("note: GREEDYSTEP_HEARTBEAT_SECONDS=%s is not a number of seconds; using 60", heartbeat);
        seconds = 60;
    }
    gsa_status status = start(seconds, say, &out->comm, &error);
    if (status != GSA_OK)
        return complain_error(status, &error);
    if (out->comm->rank > 0)
        message_silence();
    if (gethostname(out->host, sizeof out->host - 1) != 0)
        snprintf(out->host, sizeof out->host, "a machine without a name");
    status = gather_places(out, tells, &error);
    return status == GSA_OK ? EXIT_DONE : give_up(out, message_of(status, &error));
}

unsigned cluster_threads(const cli_cluster *cluster)
{
    size_t n = gsai_os_processors();
    if (cluster->n_here < 2)
        return 0;
    return n > cluster->n_here ? (unsigned)(n / cluster->n_here) : 1;
}

int cluster_leave(cli_cluster *cluster, int code)
{
    fflush(stdout); /* launchers end the job with the first process that fails, which may be another one */
    int agreed = cluster_agree(cluster, code);
    if (cluster->comm != NULL)
        cluster->stop(cluster->comm, 0);
    cluster->comm = NULL;
    return agreed;
}
