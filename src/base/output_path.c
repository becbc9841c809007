/* Resolving the path of an output. windows.c has the same for Windows, where users do not make links.
 *
 *   1 No link is followed by the system, but those of /proc that stand for an open file.
 *   2 A link is read through the descriptor by which its owner was looked up (where the system has O_PATH; elsewhere a
 *     link that is replaced between the two calls is believed, which a sticky folder does not allow). */
/* NOLINTNEXTLINE(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): the system asks for it */
#define _GNU_SOURCE /* O_PATH */

#include "base/output_path.h"

#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef O_PATH
#ifndef O_SEARCH
#define O_SEARCH O_RDONLY
#endif
#endif

#define MAX_LINKS 40

typedef struct walk {
    const char *path;              /* for messages */
    char rest[2 * GSAI_PATH_SIZE]; /* what is left of it */
    char *name;                    /* its next component */
    bool is_last;
    int n_links;
    gsai_output_path *at;
} walk;

/* A component: info, the text of a link, and a descriptor of a directory (or, with O_PATH, of anything). */
typedef struct component {
    struct stat info;
    char link[GSAI_PATH_SIZE];
    ssize_t link_len;
    int fd;
} component;

/* ---- one component ---------------------------------------------------------------------------------------------- */

static int reopen(int directory, const char *name, int flags)
{
    int fd;
    do {
        fd = openat(directory, name, flags | O_CLOEXEC);
    } while (fd < 0 && errno == EINTR);
    return fd;
}

/* Returns 0, or the errno of what failed; then nothing is open. */
static int inspect(int directory, const char *name, component *out)
{
    out->fd = -1;
    out->link_len = 0;
#ifdef O_PATH
    out->fd = reopen(directory, name, O_PATH | O_NOFOLLOW);
    if (out->fd < 0)
        return errno;
    bool failed = fstat(out->fd, &out->info) != 0;
    if (!failed && S_ISLNK(out->info.st_mode))
        failed = (out->link_len = readlinkat(out->fd, "", out->link, sizeof out->link)) < 0;
#else
    bool failed = fstatat(directory, name, &out->info, AT_SYMLINK_NOFOLLOW) != 0;
    if (!failed && S_ISLNK(out->info.st_mode))
        failed = (out->link_len = readlinkat(directory, name, out->link, sizeof out->link)) < 0;
    else if (!failed && S_ISDIR(out->info.st_mode))
        failed = (out->fd = reopen(directory, name, O_SEARCH | O_DIRECTORY | O_NOFOLLOW)) < 0;
#endif
    int number = failed ? errno : 0;
    if (failed && out->fd >= 0) {
        close(out->fd);
        out->fd = -1;
    }
    return number;
}

static bool is_trusted(uid_t owner)
{
    return owner == 0 || owner == geteuid();
}

static bool may_follow(const struct stat *link, const struct stat *folder, bool is_last)
{
    bool is_shared = (folder->st_mode & (S_IWGRP | S_IWOTH)) != 0;
    if (is_trusted(link->st_uid) || (is_trusted(folder->st_uid) && !is_shared))
        return true;
    return !is_last && link->st_uid == folder->st_uid && !is_shared;
}

/* Returns whether a link of this folder stands for an open file: its text need not be the name of one. */
static bool is_proc(const struct stat *folder)
{
    struct stat proc;
    return stat("/proc/self/fd", &proc) == 0 && proc.st_dev == folder->st_dev;
}

/* ---- the walk --------------------------------------------------------------------------------------------------- */

static void enter(gsai_output_path *at, component *directory)
{
    gsai_output_path_close(at);
    at->directory = directory->fd;
    directory->fd = -1;
}

/* Begins with the rest at the root or in the current directory, as it asks for. */
static gsa_status begin(walk *of, gsa_error *error)
{
    component found;
    of->name = of->rest;
    if (of->rest[0] != '/' && of->at->directory >= 0)
        return GSA_OK;
    int number = inspect(AT_FDCWD, of->rest[0] == '/' ? "/" : ".", &found);
    if (number != 0)
        return gsai_fail_errno(error, "write", of->path, number);
    enter(of->at, &found);
    return GSA_OK;
}

/* Replaces a link by its text, which `after` follows. */
static gsa_status follow(walk *of, const component *link, const char *after, gsa_error *error)
{
    struct stat folder, behind;
    size_t len = (size_t)link->link_len, after_size = strlen(after) + 1;
    if (fstat(of->at->directory, &folder) != 0)
        return gsai_fail_errno(error, "write", of->path, errno);
    if (!may_follow(&link->info, &folder, of->is_last))
        return gsai_fail(error, GSA_IO,
                         "cannot write %s: the symbolic link %s belongs to another user and others can write to its "
                         "folder; give the name of the file itself, or another folder",
                         of->path, of->name);
    if (of->n_links++ == MAX_LINKS)
        return gsai_fail_errno(error, "write", of->path, ELOOP);
    if (len == sizeof link->link || len + 1 + after_size > sizeof of->rest)
        return gsai_fail_errno(error, "write", of->path, ENAMETOOLONG);
    of->at->is_descriptor = of->is_last && is_proc(&folder) && fstatat(of->at->directory, of->name, &behind, 0) == 0 &&
                            (!S_ISREG(behind.st_mode) || behind.st_nlink == 0) && !S_ISDIR(behind.st_mode);
    if (of->at->is_descriptor)
        return GSA_OK;
    memmove(of->rest + len + !of->is_last, after, after_size);
    memcpy(of->rest, link->link, len);
    if (!of->is_last)
        of->rest[len] = '/';
    return begin(of, error);
}

gsa_status gsai_output_path_open(const char *path, gsai_output_path *out, gsa_error *error)
{
    walk of = {.path = path, .at = out};
    component found;
    *out = (gsai_output_path){.directory = -1};
    if (strlen(path) >= GSAI_PATH_SIZE)
        return gsai_fail(error, GSA_IO, "cannot write a file whose path has more than %d bytes", GSAI_PATH_SIZE - 1);
    memcpy(of.rest, path, strlen(path) + 1);
    gsa_status status = begin(&of, error);
    for (bool done = false; status == GSA_OK && !done;) {
        of.name += strspn(of.name, "/");
        char *after = of.name + strcspn(of.name, "/");
        if (after == of.name) {
            status = gsai_fail(error, GSA_IO, "cannot write %s: it names a directory; give the name of a file", path);
            break;
        }
        of.is_last = *after == '\0';
        if (!of.is_last)
            *after++ = '\0';
        int number = inspect(out->directory, of.name, &found);
        if (number == 0 && S_ISLNK(found.info.st_mode)) {
            status = follow(&of, &found, after, error);
            done = out->is_descriptor;
        } else if (number == 0 && !of.is_last && S_ISDIR(found.info.st_mode)) {
            enter(out, &found);
            of.name = after;
        } else if (of.is_last && (number == 0 || number == ENOENT)) {
            done = true;
        } else {
            status = gsai_fail_errno(error, "write", path, number != 0 ? number : ENOTDIR);
        }
        if (found.fd >= 0)
            close(found.fd);
    }
    if (status == GSA_OK && snprintf(out->name, sizeof out->name, "%s", of.name) >= (int)sizeof out->name)
        status = gsai_fail_errno(error, "write", path, ENAMETOOLONG);
    if (status != GSA_OK)
        gsai_output_path_close(out);
    return status;
}

int gsai_output_path_descriptor(const gsai_output_path *at, int flags)
{
    int no_link = at->is_descriptor ? 0 : O_NOFOLLOW;
    return openat(at->directory, at->name, O_WRONLY | flags | no_link | O_CLOEXEC | O_NOCTTY, 0666);
}

int gsai_output_path_info(const gsai_output_path *at, gsai_file_info *out)
{
    return gsai_os_info_at(at->directory, at->name, at->is_descriptor, out);
}

bool gsai_output_path_may_write(const gsai_output_path *at)
{
    return faccessat(at->directory, at->name, W_OK, 0) == 0;
}

/* Created with mode 0666, which the system cuts by the umask: the rights of any newly made file. */
int gsai_output_path_create(const gsai_output_path *at, const char *name)
{
    int fd = openat(at->directory, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd >= 0)
        (void)fcntl(fd, F_SETLK, &(struct flock){.l_type = F_WRLCK, .l_whence = SEEK_SET});
    return fd;
}

void gsai_output_path_remove(const gsai_output_path *at, const char *name)
{
    unlinkat(at->directory, name, 0);
}

/* A directory that may be written but not read cannot be opened, and is left to the system. */
int gsai_output_path_replace(const gsai_output_path *at, const char *from)
{
    if (renameat(at->directory, from, at->directory, at->name) != 0)
        return -1;
    int fd = openat(at->directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    int result = gsai_os_sync(fd), number = errno;
    close(fd);
    errno = number;
    return result;
}

void gsai_output_path_close(gsai_output_path *at)
{
    if (at->directory >= 0)
        close(at->directory);
    at->directory = -1;
}
