/* What the command uses of POSIX and Windows has not, or has otherwise; the library uses base/os.h.
 *
 * Where greedystep is compiled for Windows this folder comes first in the search for headers: each of its headers takes
 * the system's of the same name, if there is one, and this. posix.c has the rest. Only what is called is here, and it
 * does what the callers need of it, no more. */
#ifndef GSA_WINDOWS_POSIX_H
#define GSA_WINDOWS_POSIX_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* What is made here has names of its own: a program may have another library that adds the same. */
#define fcntl gsai_windows_fcntl
#define readlink gsai_windows_readlink
#define execv gsai_windows_execv
#define execvp gsai_windows_execvp
#define sigaction gsai_windows_sigaction
#define sigemptyset gsai_windows_sigemptyset
#define gethostname gsai_windows_gethostname
#define getrusage gsai_windows_getrusage
#define ioctl gsai_windows_ioctl
#define dlopen gsai_windows_dlopen
#define dlsym gsai_windows_dlsym
#define dlclose gsai_windows_dlclose
#define dlerror gsai_windows_dlerror

/* ---- files: bytes as they are, no lines ------------------------------------------------------------------------ */

/* Names are in UTF-8, and of any length. */
wchar_t *gsai_windows_wide(const char *path); /* for the system, to be freed; NULL with errno */
int gsai_windows_access(const char *path, int mode);
/* A file that is open for reading can be replaced. */
int gsai_windows_open(const char *path, int flags, ...);
int gsai_windows_unlink(const char *path);
int gsai_windows_replace(const char *from, const char *to);

#define O_CLOEXEC (_O_NOINHERIT | _O_BINARY)
#define O_DIRECTORY 0 /* a directory cannot be opened anyway */
#define O_NOCTTY 0
#define O_NOFOLLOW 0
#define O_NONBLOCK 0

/* A file that is open cannot be removed, which is all that locks are for. */
enum { F_SETLK, F_SETFD, F_GETFD, F_DUPFD_CLOEXEC, F_WRLCK, FD_CLOEXEC };
struct flock {
    int l_type, l_whence;
};
int fcntl(int fd, int command, ...);
/* The path of this program, with slashes, which is the one link that is asked for. */
ssize_t readlink(const char *path, char *out, size_t size);
/* With numbers by which a file is known again. */
struct gsai_windows_stat {
    uint64_t st_dev, st_ino, changed;
    off_t st_size;
    unsigned st_mode, st_nlink;
};
int gsai_windows_stat(const char *path, struct gsai_windows_stat *out);
int gsai_windows_fstat(int fd, struct gsai_windows_stat *out);

/* ---- signals --------------------------------------------------------------------------------------------------- */

#define SIGPIPE 13 /* these two never come */
#define SIGXFSZ 25
typedef unsigned long long sigset_t;
struct sigaction {
    void (*sa_handler)(int signal_number);
    sigset_t sa_mask;
    int sa_flags;
};
int sigaction(int signal_number, const struct sigaction *action, struct sigaction *before);
int sigemptyset(sigset_t *set);

/* ---- the machine and the process ------------------------------------------------------------------------------- */

/* Run a program to its end, and end with its exit code. They return only if it cannot be started. */
int execv(const char *path, char *const *words);
int execvp(const char *name, char *const *words);
int gethostname(char *out, size_t size);

enum { RUSAGE_SELF };
struct rusage {
    size_t ru_maxrss; /* KiB */
};
int getrusage(int whose, struct rusage *out);

enum { TIOCGWINSZ };
struct winsize {
    unsigned short ws_col;
};
int ioctl(int fd, int what, struct winsize *out);

enum { RTLD_NOW = 1, RTLD_LOCAL = 2, RTLD_GLOBAL = 4 };
void *dlopen(const char *path, int how);
void *dlsym(void *library, const char *name);
int dlclose(void *library);
const char *dlerror(void);

#endif
