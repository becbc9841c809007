/* every_fault: runs a command again and again, and makes its first, second, third ... call of a kind fail, until a run
 * has fewer calls than that.
 *
 *   every_fault --interposer FILE.so --kind KIND [OPTIONS] -- COMMAND...
 *
 * It runs in the folder of the command's files. First the command runs undisturbed; what the files were before and
 * after it is all that may ever be found. After every disturbed run:
 *   F1  it ended by itself, within a minute, by no signal, and no sanitizer complained;
 *   F2  if it failed, it said why on stderr, in a line that starts with "greedystep: ";
 *   F3  every file has its bytes of before or those of after, and there is no other file;
 *   F4  if it did not fail, all files (and stdout, with --stdout) are those of the undisturbed run;
 *   F5  with --told, it failed: there are calls whose failure may not be passed over;
 *   F6  with --live, it left no more blocks of memory behind than the undisturbed run does, which leaves a few (the
 *       loader's, the threads'). */
#define _GNU_SOURCE
#include "fault_page.h"
#include "tree.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_SECONDS = 60, SANITIZER_EXIT = 99, MOST_AGAIN = 20, MOST_LIVE = 8 };

static const char *const kind_names[FAULT_N_KINDS] = {"memory", "thread", "read",     "write", "open", "sync",
                                                      "rename", "close",  "truncate", "map",   "seek", "stat"};

static const struct {
    const char *name;
    int number;
} errors[] = {{"EIO", EIO},       {"ENOSPC", ENOSPC}, {"ENOMEM", ENOMEM}, {"EAGAIN", EAGAIN}, {"EMFILE", EMFILE},
              {"EDQUOT", EDQUOT}, {"EACCES", EACCES}, {"EPIPE", EPIPE},   {"EFBIG", EFBIG}};

typedef struct wish {
    const char *interposer, *kind_name, *error_name;
    enum fault_kind kind;
    enum fault_mode mode;
    int number;
    bool sticky, compares_stdout, counts_live, must_fail;
    const char *loose; /* a file with times in it: numbers are not compared */
    const char *log;   /* a file that grows while the command runs: of one that failed it may be any */
    unsigned long step;
    char **command;
} wish;

typedef struct outcome {
    int status; /* of waitpid */
    unsigned long n_calls, n_faults;
    long n_live;
    tree files;
} outcome;

static const char out_name[] = "/stdout", err_name[] = "/stderr";
static char beside[4096]; /* a folder for what the command says */
static fault_page *page;
static int page_fd;

/* ---- one run ----------------------------------------------------------------------------------------------------- */

static void redirect(const char *name, int onto)
{
    char path[sizeof beside + 16];
    snprintf(path, sizeof path, "%s%s", beside, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (fd < 0 || dup2(fd, onto) < 0)
        err(2, "%s", path);
    close(fd);
}

static void become_command(const wish *w, bool disturbed)
{
    char text[16];
    redirect(out_name, STDOUT_FILENO);
    redirect(err_name, STDERR_FILENO);
    if (disturbed || w->counts_live) {
        snprintf(text, sizeof text, "%d", page_fd);
        setenv(FAULT_DESCRIPTOR, text, 1);
        setenv("LD_PRELOAD", w->interposer, 1);
    }
    alarm(MOST_SECONDS);
    execvp(w->command[0], w->command);
    err(126, "%s", w->command[0]);
}

/* n = 0: undisturbed. */
static outcome run_once(const wish *w, unsigned long n)
{
    outcome result = {0};
    for (int again = 0; again < MOST_AGAIN; again++) {
        *page = (fault_page){.kind = w->kind, .mode = n > 0 ? w->mode : FAULT_ERROR, .number = w->number};
        page->first = n > 0 ? n : (unsigned long)-1;
        page->last = w->sticky ? (unsigned long)-1 : n;
        pid_t child = fork();
        if (child == 0)
            become_command(w, n > 0);
        if (child < 0 || waitpid(child, &result.status, 0) != child)
            err(2, "running %s", w->command[0]);
        if (!WIFEXITED(result.status) || WEXITSTATUS(result.status) != FAULT_EXIT_AGAIN)
            break;
    }
    result.n_calls = atomic_load(&page->n_calls);
    result.n_faults = atomic_load(&page->n_faults);
    result.n_live = atomic_load(&page->n_live);
    result.files = tree_read();
    return result;
}

static char *said(const char *name)
{
    char path[sizeof beside + 16];
    static char text[1 << 20];
    snprintf(path, sizeof path, "%s%s", beside, name);
    FILE *stream = fopen(path, "r");
    size_t size = stream ? fread(text, 1, sizeof text - 1, stream) : 0;
    text[size] = '\0';
    if (stream)
        fclose(stream);
    return text;
}

/* ---- the laws ---------------------------------------------------------------------------------------------------- */

/* Something other than the name of the program follows. */
static bool says_why(const char *text)
{
    const char *line = strstr(text, "greedystep: ");
    return line && strlen(line) > 20;
}

static const char *check_end(const outcome *after)
{
    if (WIFSIGNALED(after->status))
        return WTERMSIG(after->status) == SIGALRM ? "F1: it hangs" : "F1: it died of a signal";
    if (WEXITSTATUS(after->status) == SANITIZER_EXIT || WEXITSTATUS(after->status) == 126)
        return "F1: a sanitizer complains";
    if (WEXITSTATUS(after->status) != 0 && !says_why(said(err_name)))
        return "F2: it failed and did not say why";
    return NULL;
}

/* The next character that is no part of a number, or -1. */
static int next_letter(const tree_file *file, size_t *at)
{
    while (*at < file->size && strchr("0123456789.e+-", file->bytes[*at]) && file->bytes[*at] != '\0')
        ++*at;
    return *at < file->size ? (unsigned char)file->bytes[(*at)++] : -1;
}

static bool is_alike(const wish *w, const tree_file *a, const tree_file *b)
{
    size_t i = 0, j = 0;
    int letter;
    if (tree_same(a, b) || !a || !b || !w->loose || strcmp(w->loose, a->path) != 0)
        return tree_same(a, b);
    do {
        letter = next_letter(a, &i);
    } while (letter == next_letter(b, &j) && letter != -1);
    return letter == -1 && j == b->size;
}

static const char *check_files(const wish *w, const tree *before, const outcome *whole, const outcome *after)
{
    static char text[512];
    bool is_done = WEXITSTATUS(after->status) == 0;
    const tree *trees[] = {before, &whole->files, &after->files};
    for (size_t t = 0; t < 3; t++) {
        for (size_t i = 0; i < trees[t]->n; i++) {
            const char *path = trees[t]->file[i].path;
            const tree_file *is = tree_find(&after->files, path), *will = tree_find(&whole->files, path);
            bool ok = is_alike(w, is, will) || (!is_done && tree_same(is, tree_find(before, path))) ||
                      (!is_done && w->log && strcmp(w->log, path) == 0);
            snprintf(text, sizeof text, "%s: %s %s", is_done ? "F4" : "F3", path,
                     !is     ? "is gone"
                     : !will ? "was left behind"
                             : "has other bytes than before and after an undisturbed run");
            if (!ok)
                return text;
        }
    }
    return NULL;
}

static const char *check(const wish *w, const tree *before, const outcome *whole, const char *whole_out,
                         const outcome *after)
{
    const char *broken = check_end(after);
    if (!broken)
        broken = check_files(w, before, whole, after);
    if (!broken && w->compares_stdout && WEXITSTATUS(after->status) == 0 && strcmp(said(out_name), whole_out) != 0)
        broken = "F4: it did not fail and printed something else";
    if (!broken && w->must_fail && after->n_faults > 0 && WEXITSTATUS(after->status) == 0)
        broken = "F5: a failure was passed over";
    if (!broken && w->counts_live && after->n_live > whole->n_live)
        broken = "F6: memory is left behind";
    return broken;
}

/* ---- all runs ---------------------------------------------------------------------------------------------------- */

static void report(const wish *w, unsigned long n, const char *broken, const outcome *after, const outcome *whole)
{
    printf("FAILED: %s %s, call %lu%s: %s\n", w->kind_name, w->error_name, n, w->sticky ? " and all later ones" : "",
           broken);
    if (WIFSIGNALED(after->status))
        printf("  signal %d\n", WTERMSIG(after->status));
    else
        printf("  exit code %d\n", WEXITSTATUS(after->status));
    if (w->counts_live)
        printf("  blocks of memory: %ld, undisturbed %ld\n", after->n_live, whole->n_live);
    printf("  stderr: %.2000s\n", said(err_name));
    for (size_t i = 0; i < after->files.n; i++)
        printf("  %s: %zu bytes\n", after->files.file[i].path, after->files.file[i].size);
}

/* How many laws were broken. */
static int run_all(const wish *w)
{
    tree before = tree_read();
    outcome whole = run_once(w, 0);
    char *whole_out = strdup(said(out_name));
    unsigned long n_told = 0, n_harmless = 0, n = 1, most_calls = 0;
    int n_broken = 0;
    if (!WIFEXITED(whole.status) || WEXITSTATUS(whole.status) != 0)
        errx(2, "the undisturbed run ended with status %d: %s", whole.status, said(err_name));
    if (w->counts_live && whole.n_live > MOST_LIVE)
        errx(1, "FAILED: F6: the undisturbed run leaves %ld blocks of memory", whole.n_live);
    tree_restore(&before, &whole.files);
    for (bool more = true; more && n_broken < 5; n += w->step) {
        outcome after = run_once(w, n);
        const char *broken = check(w, &before, &whole, whole_out, &after);
        more = after.n_faults > 0 && w->mode == FAULT_ERROR;
        if (!broken && !more && WEXITSTATUS(after.status) != 0)
            broken = "F4: nothing was disturbed, or nothing that may change the result, and it failed";
        if (broken)
            report(w, n, broken, &after, &whole);
        n_broken += broken != NULL;
        n_told += more && WEXITSTATUS(after.status) != 0;
        n_harmless += more && WEXITSTATUS(after.status) == 0;
        most_calls = after.n_calls > most_calls ? after.n_calls : most_calls;
        tree_restore(&before, &after.files);
        tree_free(&after.files);
    }
    printf("%-8s %-6s %s %5lu calls: %5lu failures told, %lu harmless\n", w->kind_name, w->error_name,
           w->mode == FAULT_SHORT   ? "short "
           : w->mode == FAULT_AGAIN ? "again "
           : w->sticky              ? "sticky"
                                    : "once  ",
           most_calls, n_told, n_harmless);
    free(whole_out);
    tree_free(&whole.files);
    tree_free(&before);
    return n_broken;
}

/* ---- the beginning ----------------------------------------------------------------------------------------------- */

static void find_kind(wish *w)
{
    for (int i = 0; i < FAULT_N_KINDS; i++)
        if (w->kind_name && strcmp(kind_names[i], w->kind_name) == 0) {
            w->kind = (enum fault_kind)i;
            return;
        }
    errx(2, "--kind is one of memory thread read write open sync rename close truncate map seek stat");
}

static void find_error(wish *w)
{
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (strcmp(errors[i].name, w->error_name) == 0)
            w->number = errors[i].number;
    if (w->number == 0)
        errx(2, "--error %s: not known here", w->error_name);
}

static wish parse(int argc, char **argv)
{
    static const struct option options[] = {{"interposer", 1, 0, 'i'},
                                            {"kind", 1, 0, 'k'},
                                            {"error", 1, 0, 'e'},
                                            {"sticky", 0, 0, 's'},
                                            {"short", 0, 0, 'h'},
                                            {"again", 0, 0, 'a'},
                                            {"stdout", 0, 0, 'o'},
                                            {"loose", 1, 0, 'g'},
                                            {"log", 1, 0, 'm'},
                                            {"live", 0, 0, 'l'},
                                            {"told", 0, 0, 't'},
                                            {"step", 1, 0, 'n'},
                                            {0}};
    wish w = {.error_name = "EIO", .step = 1};
    for (int c; (c = getopt_long(argc, argv, "+", options, NULL)) != -1;) {
        switch (c) {
        case 'i':
            w.interposer = optarg;
            break;
        case 'k':
            w.kind_name = optarg;
            break;
        case 'e':
            w.error_name = optarg;
            break;
        case 's':
            w.sticky = true;
            break;
        case 'h':
            w.mode = FAULT_SHORT;
            break;
        case 'a':
            w.mode = FAULT_AGAIN;
            break;
        case 'o':
            w.compares_stdout = true;
            break;
        case 'g':
            w.loose = optarg;
            break;
        case 'm':
            w.log = optarg;
            break;
        case 't':
            w.must_fail = true;
            break;
        case 'l':
            w.counts_live = true;
            break;
        case 'n':
            w.step = strtoul(optarg, NULL, 10);
            break;
        default:
            exit(2);
        }
    }
    find_kind(&w);
    find_error(&w);
    w.command = argv + optind;
    if (!w.interposer || !*w.command)
        errx(2, "usage: every_fault --interposer FILE.so --kind KIND [OPTIONS] -- COMMAND...");
    return w;
}

int main(int argc, char **argv)
{
    wish w = parse(argc, argv);
    const char *folder = getenv("FAULTS_BESIDE");
    snprintf(beside, sizeof beside, "%s", folder ? folder : "..");
    page_fd = memfd_create("faults", 0);
    if (page_fd < 0 || ftruncate(page_fd, sizeof *page) != 0)
        err(2, "memory to share");
    page = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED, page_fd, 0);
    if (page == MAP_FAILED)
        err(2, "memory to share");
    return run_all(&w) > 0;
}
