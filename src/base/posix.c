/* The system, by the calls of POSIX and what Linux, macOS and the BSDs have beside. */
/* NOLINTNEXTLINE(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): the system asks for it */
#define _GNU_SOURCE /* strtod_l, madvise */

#include "base/os.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>
#ifdef __APPLE__
#include <xlocale.h> /* strtod_l */
#define CHANGED st_mtimespec
#else
#define CHANGED st_mtim
#endif

#define MAX_AT_ONCE ((size_t)1 << 30) /* systems take an int, or less than they are asked for */

/* ---- files ------------------------------------------------------------------------------------------------------ */

static int take_info(int result, const struct stat *from, gsai_file_info *out)
{
    if (result != 0)
        return -1;
    bool is_regular = S_ISREG(from->st_mode);
    *out = (gsai_file_info){.kind = is_regular               ? GSAI_FILE_REGULAR
                                    : S_ISDIR(from->st_mode) ? GSAI_FILE_DIRECTORY
                                                             : GSAI_FILE_OTHER,
                            .size = is_regular && from->st_size > 0 ? (uint64_t)from->st_size : 0,
                            .mode = from->st_mode & 0777,
                            .is_ours = (from->st_uid == geteuid() || from->st_uid == 0) && !(from->st_mode & 0022),
                            .n_links = (uint64_t)from->st_nlink,
                            .device = (uint64_t)from->st_dev,
                            .number = (uint64_t)from->st_ino,
                            .changed = (uint64_t)from->CHANGED.tv_sec * 1000000000u + (uint64_t)from->CHANGED.tv_nsec};
    return 0;
}

int gsai_os_info(int fd, gsai_file_info *out)
{
    struct stat found;
    return take_info(fstat(fd, &found), &found, out);
}

int gsai_os_path_info(const char *path, gsai_file_info *out)
{
    struct stat found;
    return take_info(stat(path, &found), &found, out);
}

int gsai_os_info_at(int directory, const char *name, bool follows, gsai_file_info *out)
{
    struct stat found;
    return take_info(fstatat(directory, name, &found, follows ? 0 : AT_SYMLINK_NOFOLLOW), &found, out);
}

bool gsai_os_may_read(const char *path)
{
    return access(path, R_OK) == 0;
}

int gsai_os_open(const char *path)
{
    return open(path, O_RDONLY | O_CLOEXEC);
}

int gsai_os_close(int fd)
{
    return close(fd);
}

ptrdiff_t gsai_os_read(int fd, void *bytes, size_t size)
{
    return read(fd, bytes, size < MAX_AT_ONCE ? size : MAX_AT_ONCE);
}

ptrdiff_t gsai_os_write(int fd, const void *bytes, size_t size)
{
    return write(fd, bytes, size < MAX_AT_ONCE ? size : MAX_AT_ONCE);
}

int64_t gsai_os_seek(int fd, int64_t at, int from)
{
    return (int64_t)lseek(fd, (off_t)at, from);
}

int gsai_os_wait(int fd, bool to_write, int milliseconds)
{
    struct pollfd on = {.fd = fd, .events = to_write ? POLLOUT : POLLIN};
    return poll(&on, 1, milliseconds);
}

int gsai_os_set_mode(int fd, unsigned mode)
{
    return fchmod(fd, (mode_t)mode);
}

int gsai_os_sync(int fd)
{
    int result;
    do
        result = fsync(fd);
    while (result != 0 && errno == EINTR);
    return result == 0 || errno == EINVAL || errno == ENOTSUP ? 0 : -1;
}

#define TEMPORARY_NAME "/greedystep-XXXXXX" /* not shorter than "/dev/fd/" and a number */
_Static_assert(sizeof TEMPORARY_NAME <= GSAI_OS_PATH_ROOM, "the name fits");

int gsai_os_unnamed_file(const char *folder, char *path, size_t size)
{
    snprintf(path, size, "%s" TEMPORARY_NAME, folder);
    int fd = mkstemp(path);
    if (fd < 0)
        return -1;
    unlink(path);
    (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
    snprintf(path, size, "/dev/fd/%d", fd);
    return fd;
}

int gsai_os_empty(int fd)
{
    return ftruncate(fd, 0);
}

uint64_t gsai_os_space(int fd)
{
    struct statvfs found;
    struct rlimit limit;
    uint64_t space = fstatvfs(fd, &found) == 0 ? (uint64_t)found.f_bavail * found.f_frsize : 0;
    bool is_limited = getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
    return is_limited && limit.rlim_cur < space ? limit.rlim_cur : space;
}

const void *gsai_os_map(int fd, uint64_t size)
{
    void *bytes = size > 0 && size <= SIZE_MAX ? mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
    return bytes == MAP_FAILED ? NULL : bytes;
}

uint64_t gsai_os_max_mapped(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        return (uint64_t)limit.rlim_cur / 4;
    return sizeof(size_t) < 8 ? UINT64_C(1) << 28 : UINT64_MAX;
}

void gsai_os_unmap(const void *bytes, uint64_t size)
{
    (void)munmap((void *)(uintptr_t)bytes, (size_t)size);
}

/* ---- the machine and the process -------------------------------------------------------------------------------- */

uint64_t gsai_os_process_id(void)
{
    return (uint64_t)getpid();
}

double gsai_os_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void gsai_os_prefer_huge_pages(void *memory, size_t size)
{
#ifdef MADV_HUGEPAGE
    (void)madvise(memory, size, MADV_HUGEPAGE);
#else
    (void)memory;
    (void)size;
#endif
}

int gsai_os_thread_start(pthread_t *thread, void *(*run)(void *), void *ctx)
{
    sigset_t all, before;
    sigfillset(&all);
    sigdelset(&all, SIGBUS); /* by the thread's own access to a mapped file */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int code = pthread_create(thread, NULL, run, ctx);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return code;
}

_Static_assert(sizeof(locale_t) == sizeof(void *), "a locale is a pointer");

void *gsai_os_c_locale(void)
{
    return (void *)newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

void gsai_os_c_locale_free(void *locale)
{
    if (locale)
        freelocale((locale_t)locale);
}

double gsai_os_strtod(const char *text, const void *locale)
{
    return strtod_l(text, NULL, (locale_t)locale);
}
