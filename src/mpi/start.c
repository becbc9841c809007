/* MPI from its beginning to its end, for the command, which finds two functions at run time and never links MPI.
 *
 * Beside the collectives, and on a communicator of its own, goes a ring of heartbeats: each rank now and then sends the
 * next one a heartbeat, and receives those of the one before it.
 *
 *   1 Only a rank whose own heartbeats stopped is reported: every rank sends whether or not it receives, and time
 *     counts only while this process runs (one that was stopped and continued reports no other).
 *   2 A thread that mostly sleeps does this; it polls MPI and never waits in it.
 *   3 The last message says shutdown: no request is left when the communicator is freed. */
#include "mpi/collectives.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { BEAT, SHUTDOWN };
static const double abort_seconds = 5; /* at most, and sooner than others could miss the one that aborts */

struct gsai_heartbeat {
    MPI_Comm comm;
    int before, after;                     /* the neighbours */
    char host[MPI_MAX_PROCESSOR_NAME + 1]; /* of the one before */
    double limit, period;                  /* seconds */
    void (*say)(const char *text);
    pthread_t thread;
    int stop[2]; /* a pipe: a byte in it ends the thread's sleep, and the thread */
};

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void sleep_for(double seconds)
{
    time_t whole = (time_t)seconds;
    nanosleep(&(struct timespec){.tv_sec = whole, .tv_nsec = (long)(1e9 * (seconds - (double)whole))}, NULL);
}

/* Sleeps for a period, or until the end has come, and then shortly. Gives how long, as far as this process was running.
 * The timeout of poll follows a clock that cannot be set. */
static double rest(gsai_heartbeat *of, bool *ends)
{
    double began = seconds_now();
    *ends = *ends || poll(&(struct pollfd){.fd = of->stop[0], .events = POLLIN}, 1, 1 + (int)(1000 * of->period)) > 0;
    if (*ends)
        sleep_for(0.005);
    double seconds = seconds_now() - began;
    return seconds < 2 * of->period ? seconds : 2 * of->period;
}

/* MPI_Abort of MPICH can wait for a rank that does not answer. */
static void *exit_soon(void *ctx)
{
    const gsai_heartbeat *of = ctx;
    sleep_for(of->limit < 2 * abort_seconds ? of->limit / 2 : abort_seconds);
    _exit(EXIT_FAILURE);
}

/* Every other way out would wait for the rank that does not answer. */
static void end_job(gsai_heartbeat *of)
{
    char text[MPI_MAX_PROCESSOR_NAME + 160];
    pthread_t last_resort;
    snprintf(text, sizeof text,
             "rank %d on %s has not been heard of for %.3g s: it hangs, or its machine is cut off; the run is over",
             of->before, of->host, of->limit);
    of->say(text);
    if (pthread_create(&last_resort, NULL, exit_soon, of) != 0)
        _exit(EXIT_FAILURE);
    MPI_Abort(of->comm, EXIT_FAILURE);
}

/* Takes what has come; false if nothing has. *last: it was the shutdown. A broken line is one that nothing comes by. */
static bool hear(gsai_heartbeat *of, MPI_Request *from, int *word, bool *last)
{
    bool heard = false;
    int done = 1;
    while (!*last && *from != MPI_REQUEST_NULL && MPI_Test(from, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && done) {
        heard = true;
        *last = *word == SHUTDOWN;
        if (!*last && MPI_Irecv(word, 1, MPI_INT, of->before, 0, of->comm, from) != MPI_SUCCESS)
            *from = MPI_REQUEST_NULL;
    }
    return heard;
}

static void *beat(void *ctx)
{
    gsai_heartbeat *of = ctx;
    MPI_Request to = MPI_REQUEST_NULL, from = MPI_REQUEST_NULL;
    int sent = BEAT, word = BEAT, done = 1;
    bool ends = false, sent_shutdown = false, got_shutdown = false;
    double silence = 0;
    MPI_Irecv(&word, 1, MPI_INT, of->before, 0, of->comm, &from);
    for (;;) {
        if (MPI_Test(&to, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && done && !sent_shutdown) {
            sent = ends ? SHUTDOWN : BEAT;
            sent_shutdown = ends;
            done = 0;
            MPI_Isend(&sent, 1, MPI_INT, of->after, 0, of->comm, &to);
        }
        silence = hear(of, &from, &word, &got_shutdown) || got_shutdown ? 0 : silence;
        if (sent_shutdown && got_shutdown && done)
            return NULL;
        silence += rest(of, &ends);
        if (silence > of->limit && !hear(of, &from, &word, &got_shutdown) && !got_shutdown)
            end_job(of);
    }
}

/* Watches over a neighbour, from a thread; every rank calls it. Needs MPI_THREAD_MULTIPLE. */
static gsa_status start_heartbeat(MPI_Comm comm, double seconds, void (*say)(const char *text), gsai_heartbeat **out,
                                  gsa_error *error)
{
    char host[MPI_MAX_PROCESSOR_NAME + 1] = "";
    int rank, n, length;
    gsai_heartbeat *of = calloc(1, sizeof *of);
    if (!of)
        return gsai_mpi_fail(error, "memory for the heartbeat", MPI_ERR_NO_MEM);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &n);
    MPI_Get_processor_name(host, &length);
    of->before = (rank + n - 1) % n;
    of->after = (rank + 1) % n;
    of->limit = seconds;
    of->period = seconds < 10 ? seconds / 10 : 1;
    of->say = say;
    int code = MPI_Comm_dup(comm, &of->comm);
    if (code == MPI_SUCCESS)
        code = MPI_Sendrecv(host, sizeof host, MPI_CHAR, of->after, 0, of->host, sizeof of->host, MPI_CHAR, of->before,
                            0, of->comm, MPI_STATUS_IGNORE);
    sigset_t all, before;
    sigfillset(&all); /* signals are for the thread that learns */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (code == MPI_SUCCESS && (pipe(of->stop) != 0 || pthread_create(&of->thread, NULL, beat, of) != 0))
        code = MPI_ERR_NO_MEM;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (code == MPI_SUCCESS) {
        *out = of;
        return GSA_OK;
    }
    free(of);
    return gsai_mpi_fail(error, "the start of the heartbeat", code);
}

static void stop_heartbeat(gsai_heartbeat *of)
{
    if (!of || write(of->stop[1], "", 1) != 1)
        return;
    pthread_join(of->thread, NULL);
    close(of->stop[0]);
    close(of->stop[1]);
    MPI_Comm_free(&of->comm);
    free(of);
}

/* ---- the job ----------------------------------------------------------------------------------------------------- */

gsa_status gsa_mpi_start(double heartbeat_seconds, void (*say)(const char *text), gsa_comm **out, gsa_error *error)
{
    int threads = MPI_THREAD_SINGLE;
    int code = MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &threads);
    if (code != MPI_SUCCESS)
        return gsai_mpi_fail(error, "MPI_Init_thread", code);
    gsa_status status = gsa_mpi_open(MPI_COMM_WORLD, NULL, out, error);
    gsai_mpi_comm *of = status == GSA_OK ? (*out)->ctx : NULL;
    if (of && of->shared.n_ranks > 1 && heartbeat_seconds > 0) {
        if (threads == MPI_THREAD_MULTIPLE)
            status = start_heartbeat(of->comm, heartbeat_seconds, say, &of->heartbeat, error);
        else if (of->shared.rank == 0)
            say("note: this MPI has no MPI_THREAD_MULTIPLE, so a rank that hangs is not noticed");
    }
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
    stop_heartbeat(of->heartbeat);
    gsa_mpi_close(comm);
    MPI_Finalize();
}
