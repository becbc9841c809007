/* Runs a command within bounds and says what it took.
 *
 *   confined REPORT [--seconds N] [--address-space BYTES] [--reads-only] COMMAND [ARGUMENT...]
 *
 * REPORT gets one line: "exit CODE" or "signal NUMBER" or "late 0", then peak RSS (KiB), CPU and wall time (ms), and
 * the threads of the last look. The command is a child of this small program and not of the test's own: the peak that
 * wait4 tells begins with that of the process that forked.
 *
 * --reads-only: a filter of the kernel kills the command as soon as it opens anything for writing, makes, renames or
 * removes a file, opens a socket, starts another process or another program. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#if defined(__linux__)
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif

typedef struct bounds {
    double seconds;
    rlim_t address_space; /* 0: none */
    bool reads_only;
    char **command;
} bounds;

static _Noreturn void die(const char *what)
{
    fprintf(stderr, "confined: %s: %s\n", what, strerror(errno));
    exit(125);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

#if defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__))

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#else
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

#define LOW(member) ((unsigned)offsetof(struct seccomp_data, member)) /* both are little-endian */
#define MOST_INSTRUCTIONS 128

typedef struct filter {
    struct sock_filter at[MOST_INSTRUCTIONS];
    unsigned short n;
} filter;

static void add(filter *out, unsigned short code, unsigned k, unsigned char if_true, unsigned char if_false)
{
    if (out->n == MOST_INSTRUCTIONS)
        die("the filter is too long");
    out->at[out->n++] = (struct sock_filter){code, if_true, if_false, k};
}

static void load(filter *out, unsigned offset)
{
    add(out, BPF_LD | BPF_W | BPF_ABS, offset, 0, 0);
}

static void give(filter *out, unsigned verdict)
{
    add(out, BPF_RET | BPF_K, verdict, 0, 0);
}

static void forbid(filter *out, long call)
{
    add(out, BPF_JMP | BPF_JEQ | BPF_K, (unsigned)call, 0, 1);
    give(out, SECCOMP_RET_KILL_PROCESS);
}

/* Forbidden if any (or, with `lacks`, none) of the bits is set in the argument. */
static void forbid_bits(filter *out, long call, unsigned argument, unsigned bits, bool lacks)
{
    add(out, BPF_JMP | BPF_JEQ | BPF_K, (unsigned)call, 0, 4);
    load(out, argument);
    add(out, BPF_JMP | BPF_JSET | BPF_K, bits, lacks ? 1 : 0, lacks ? 0 : 1);
    give(out, SECCOMP_RET_KILL_PROCESS);
    load(out, LOW(nr));
}

/* One program is started after the filter is in place: the command, known by the address of its name. */
static void forbid_other_programs(filter *out, const char *name)
{
    add(out, BPF_JMP | BPF_JEQ | BPF_K, SYS_execve, 0, 4);
    load(out, LOW(args[0]));
    add(out, BPF_JMP | BPF_JEQ | BPF_K, (unsigned)(size_t)name, 1, 0);
    give(out, SECCOMP_RET_KILL_PROCESS);
    load(out, LOW(nr));
}

static void forbid_writing(filter *out)
{
    const unsigned writing = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_APPEND;
    forbid_bits(out, SYS_openat, LOW(args[2]), writing, false);
#if defined(__x86_64__)
    static const long old[] = {SYS_creat,   SYS_rename, SYS_unlink, SYS_mkdir, SYS_rmdir, SYS_link,
                               SYS_symlink, SYS_chmod,  SYS_chown,  SYS_mknod, SYS_fork,  SYS_vfork};
    forbid_bits(out, SYS_open, LOW(args[1]), writing, false);
    for (size_t i = 0; i < sizeof old / sizeof *old; i++)
        forbid(out, old[i]);
#endif
    static const long calls[] = {SYS_renameat2,    SYS_unlinkat,          SYS_mkdirat,  SYS_linkat,   SYS_symlinkat,
                                 SYS_fchmodat,     SYS_fchownat,          SYS_mknodat,  SYS_truncate, SYS_ftruncate,
                                 SYS_socket,       SYS_connect,           SYS_execveat, SYS_ptrace,   SYS_mount,
                                 SYS_memfd_create, SYS_process_vm_writev, SYS_openat2,  SYS_kill,     SYS_setxattr};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        forbid(out, calls[i]);
}

static void confine_calls(const char *name)
{
    filter f = {.n = 0};
    load(&f, LOW(arch));
    add(&f, BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0);
    give(&f, SECCOMP_RET_KILL_PROCESS);
    load(&f, LOW(nr));
    forbid_other_programs(&f, name);
    forbid_bits(&f, SYS_clone, LOW(args[0]), CLONE_THREAD, true);
    add(&f, BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1); /* its flags cannot be seen: libc takes clone then */
    give(&f, SECCOMP_RET_ERRNO | ENOSYS);
    forbid_writing(&f);
    give(&f, SECCOMP_RET_ALLOW);
    struct sock_fprog program = {f.n, f.at};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
        fprintf(stderr, "confined: no filter of system calls here: %s\n", strerror(errno));
        _exit(77);
    }
}

#else

static void confine_calls(const char *name)
{
    (void)name;
    fprintf(stderr, "confined: no filter of system calls for this machine\n");
    _exit(77);
}

#endif

static _Noreturn void begin(const bounds *b)
{
    struct rlimit none = {0, 0}, space = {b->address_space, b->address_space};
    setrlimit(RLIMIT_CORE, &none);
    setpgid(0, 0);
    if (b->address_space && setrlimit(RLIMIT_AS, &space) != 0)
        die("address space");
    if (b->reads_only)
        confine_calls(b->command[0]);
    execv(b->command[0], b->command);
    die(b->command[0]);
}

static int threads_of(pid_t pid)
{
    char path[64], line[128];
    int n = 0;
    snprintf(path, sizeof path, "/proc/%ld/status", (long)pid);
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "Threads: %d", &n) == 1)
            break;
    if (f)
        fclose(f);
    return n;
}

/* Looks every 20 ms, or as soon as the child ends: SIGCHLD is blocked, and waited for. */
static void watch(pid_t pid, const bounds *b, FILE *report)
{
    int status = 0, threads = 0;
    bool late = false;
    struct rusage used;
    double start = now();
    const struct timespec pause = {0, 20000000};
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    while (wait4(pid, &status, late ? 0 : WNOHANG, &used) != pid) {
        int seen = threads_of(pid);
        threads = seen > threads ? seen : threads;
        late = now() - start > b->seconds;
        if (late)
            kill(-pid, SIGKILL);
        else
            sigtimedwait(&child, NULL, &pause);
    }
    const char *how = late ? "late" : WIFSIGNALED(status) ? "signal" : "exit";
    int code = late ? 0 : WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
    long cpu =
        (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000 + (used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1000;
    fprintf(report, "%s %d %ld %ld %.0f %d\n", how, code, used.ru_maxrss, cpu, (now() - start) * 1000, threads);
}

static bounds read_arguments(char **at)
{
    bounds b = {.seconds = 60};
    for (; *at && strncmp(*at, "--", 2) == 0; at++) {
        if (strcmp(*at, "--reads-only") == 0)
            b.reads_only = true;
        else if (strcmp(*at, "--seconds") == 0 && at[1])
            b.seconds = strtod(*++at, NULL);
        else if (strcmp(*at, "--address-space") == 0 && at[1])
            b.address_space = strtoull(*++at, NULL, 10);
        else
            die(*at);
    }
    b.command = at;
    return b;
}

int main(int argc, char **argv)
{
    if (argc < 3)
        die("usage: confined REPORT [--seconds N] [--address-space BYTES] [--reads-only] COMMAND...");
    bounds b = read_arguments(argv + 2);
    FILE *report = fopen(argv[1], "we");
    if (!report || !*b.command)
        die(argv[1]);
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child, NULL);
    pid_t pid = fork();
    if (pid < 0)
        die("fork");
    if (pid == 0) {
        sigprocmask(SIG_UNBLOCK, &child, NULL);
        begin(&b);
    }
    watch(pid, &b, report);
    return fclose(report) == 0 ? 0 : 125;
}
