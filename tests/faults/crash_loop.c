/* crash_loop: kills a training run at random moments, again and again, and goes on with it.
 *
 *   crash_loop --runs N [--seed S] [--term PERCENT] -- GREEDYSTEP train INPUT -o m --checkpoint kept [OPTIONS]
 *
 * It runs in a folder with the input and an empty folder `kept`. One undisturbed run says what the model is and how
 * long it takes. Then runs begin and are killed, by SIGKILL or (PERCENT of them) SIGTERM, after a random part of that
 * time and a little more; the next goes on with --resume if there is a state, else from the start, until one ends by
 * itself. K1  what stands under the name of a model or state, whenever a run was killed, is a whole one: inspect opens
 * it; K2  no other file is there, but for hidden ones that were being written; K3  a run that ends by itself ends with
 * 0, and its model and state have the bytes of the undisturbed run; K4  and then the folder of checkpoints is empty. */
#define _GNU_SOURCE
#include "tree.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST_WORDS = 64, HANGS_AFTER_SECONDS = 120 };

static const char *const results[] = {"./m", "./m.state", "./kept/m.state"};

typedef struct loop {
    unsigned long n_wanted, n_runs, n_killed, n_stopped, n_resumed, n_ended, n_temporary;
    unsigned term_percent;
    uint64_t random;
    double seconds; /* of an undisturbed run */
    char **command;
    tree inputs, whole;
} loop;

/* ---- processes --------------------------------------------------------------------------------------------------- */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* In [0, 1); xorshift64*. */
static double random_part(loop *l)
{
    l->random ^= l->random >> 12;
    l->random ^= l->random << 25;
    l->random ^= l->random >> 27;
    return (double)((l->random * UINT64_C(2685821657736338717)) >> 11) / 9007199254740992.0;
}

static pid_t start(char *const *words)
{
    pid_t child = fork();
    if (child < 0)
        err(2, "fork");
    if (child > 0)
        return child;
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    int fd = open("../said", O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (fd < 0 || dup2(fd, STDOUT_FILENO) < 0 || dup2(fd, STDERR_FILENO) < 0)
        _exit(126);
    execvp(words[0], words);
    _exit(126);
}

/* Whether the process ended by itself before the time was over; SIGCHLD is blocked. */
static bool ends_within(pid_t child, double seconds, int *status)
{
    sigset_t ends;
    sigemptyset(&ends);
    sigaddset(&ends, SIGCHLD);
    for (double until = now() + seconds; now() < until;) {
        if (waitpid(child, status, WNOHANG) == child)
            return true;
        double left = until - now() > 0 ? until - now() : 0;
        struct timespec t = {(time_t)left, (long)(1e9 * (left - (double)(time_t)left))};
        sigtimedwait(&ends, NULL, &t);
    }
    return waitpid(child, status, WNOHANG) == child;
}

static void print_said(void)
{
    char text[4000];
    FILE *stream = fopen("../said", "r");
    size_t size = stream ? fread(text, 1, sizeof text - 1, stream) : 0;
    text[size] = '\0';
    if (stream)
        fclose(stream);
    printf("  it said: %s\n", text);
}

static void fail(const loop *l, const char *law, const char *path, int status)
{
    printf("FAILED after %lu runs: %s %s (status %#x)\n", l->n_runs, law, path, (unsigned)status);
    print_said();
    tree there = tree_read();
    for (size_t i = 0; i < there.n; i++)
        printf("  %s: %zu bytes\n", there.file[i].path, there.file[i].size);
    exit(1);
}

/* ---- the laws ---------------------------------------------------------------------------------------------------- */

static bool is_result(const char *path)
{
    for (size_t i = 0; i < sizeof results / sizeof *results; i++)
        if (strcmp(results[i], path) == 0)
            return true;
    return false;
}

static bool is_temporary(const char *path)
{
    const char *name = strrchr(path, '/') + 1;
    size_t size = strlen(name);
    return name[0] == '.' && size > 4 && strcmp(name + size - 4, ".tmp") == 0;
}

/* K1. */
static void check_opens(const loop *l, const char *path)
{
    char *file = (char *)(uintptr_t)path;
    char *model[] = {l->command[0], "inspect", file, "--top", "0", NULL};
    char *state[] = {l->command[0], "merge", file, "-o", "../merged", NULL};
    int status;
    pid_t child = start(strcmp(path, "./m") == 0 ? model : state);
    if (waitpid(child, &status, 0) != child || status != 0)
        fail(l, "K1: not a whole model or state:", path, status);
}

/* K1, K2. */
static void check_after_kill(loop *l, int status)
{
    tree there = tree_read();
    for (size_t i = 0; i < there.n; i++) {
        const char *path = there.file[i].path;
        const tree_file *input = tree_find(&l->inputs, path);
        if (is_temporary(path))
            l->n_temporary++;
        else if (is_result(path))
            check_opens(l, path);
        else if (!input || !tree_same(input, &there.file[i]))
            fail(l, "K2: a file that should not be there, or not like this:", path, status);
    }
    tree_free(&there);
}

/* K3, K4. */
static void check_after_end(loop *l, int status)
{
    if (status != 0)
        fail(l, "K3: a run that nobody disturbed failed", "", status);
    tree there = tree_read();
    for (size_t i = 0; i < l->whole.n; i++)
        if (!tree_same(&l->whole.file[i], tree_find(&there, l->whole.file[i].path)))
            fail(l, "K3: other bytes than those of an undisturbed run:", l->whole.file[i].path, status);
    for (size_t i = 0; i < there.n; i++)
        if (strncmp(there.file[i].path, "./kept/", 7) == 0 || is_temporary(there.file[i].path))
            fail(l, "K4: left behind:", there.file[i].path, status);
    tree_restore(&l->inputs, &there);
    tree_free(&there);
}

/* ---- runs -------------------------------------------------------------------------------------------------------- */

static pid_t start_run(loop *l)
{
    char *words[MOST_WORDS] = {0};
    size_t n = 0;
    bool has_state = access("m.state", F_OK) == 0 || access("kept/m.state", F_OK) == 0;
    for (; l->command[n]; n++)
        words[n] = l->command[n];
    if (has_state)
        words[n] = "--resume";
    l->n_resumed += has_state;
    l->n_runs++;
    return start(words);
}

/* A run that is asked to end does so by itself, with a code that tells the signal, or dies of it before it listens. */
static void check_stop(const loop *l, pid_t child)
{
    int status;
    if (!ends_within(child, HANGS_AFTER_SECONDS, &status))
        fail(l, "K3: SIGTERM does not end it", "", 0);
    bool by_itself = WIFEXITED(status) && (WEXITSTATUS(status) == 128 + SIGTERM || WEXITSTATUS(status) == 0);
    if (!by_itself && !(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM))
        fail(l, "K3: SIGTERM ends it with another status", "", status);
}

static void run_and_kill(loop *l)
{
    int status;
    pid_t child = start_run(l);
    double after = random_part(l) * 1.2 * l->seconds;
    bool is_term = random_part(l) * 100 < l->term_percent;
    if (ends_within(child, after, &status)) {
        l->n_ended++;
        check_after_end(l, status);
        return;
    }
    kill(child, is_term ? SIGTERM : SIGKILL);
    if (is_term)
        check_stop(l, child);
    else if (waitpid(child, &status, 0) != child)
        err(2, "waitpid");
    l->n_killed += !is_term;
    l->n_stopped += is_term;
    check_after_kill(l, 0);
}

static void run_undisturbed(loop *l)
{
    int status;
    double began = now();
    l->inputs = tree_read();
    pid_t child = start(l->command);
    if (waitpid(child, &status, 0) != child || status != 0)
        fail(l, "the undisturbed run failed", "", status);
    l->seconds = now() - began;
    l->whole = tree_read();
    tree_restore(&l->inputs, &l->whole);
}

int main(int argc, char **argv)
{
    static const struct option options[] = {{"runs", 1, 0, 'n'}, {"seed", 1, 0, 's'}, {"term", 1, 0, 't'}, {0}};
    loop l = {.n_wanted = 40, .random = 1};
    sigset_t ends;
    for (int c; (c = getopt_long(argc, argv, "+", options, NULL)) != -1;) {
        if (c == '?')
            return 2;
        unsigned long number = strtoul(optarg, NULL, 10);
        l.n_wanted = c == 'n' ? number : l.n_wanted;
        l.random = c == 's' ? 2 * number + 1 : l.random;
        l.term_percent = c == 't' ? (unsigned)number : l.term_percent;
    }
    l.command = argv + optind;
    if (argc - optind < 2 || argc - optind > MOST_WORDS - 2)
        errx(2, "usage: crash_loop --runs N [--seed S] [--term PERCENT] -- COMMAND...");
    sigemptyset(&ends);
    sigaddset(&ends, SIGCHLD);
    sigprocmask(SIG_BLOCK, &ends, NULL);
    run_undisturbed(&l);
    while (l.n_runs < l.n_wanted)
        run_and_kill(&l);
    printf("%4lu runs of up to %.2f s: %lu killed, %lu stopped by SIGTERM, %lu begun by --resume, %lu to the end with "
           "the same bits; %lu hidden temporary files\n",
           l.n_runs, 1.2 * l.seconds, l.n_killed, l.n_stopped, l.n_resumed, l.n_ended, l.n_temporary);
    return 0;
}
