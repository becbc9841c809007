/* Resolving the path of an output. output_path_windows.c has the same for Windows, where users do not make links.
 *
 *   1 No link is followed by the system, but those of /proc that stand for an open file.
 *   2 A link is read through the descriptor by which its owner was looked up (where the system has O_PATH; elsewhere a
 *     link that is replaced between the two calls is believed, which a sticky folder does not allow). */
/* NOLINTNEXTLINE(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): the system asks for it */
#define _GNU_SOURCE /* O_PATH */

#include "base/output_path.h"

#include "base/error.h"
#include "base/memory.h"

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

#define LINK_SIZE 4096
#define MAX_LINKS 40

typedef struct walk {
    const gsai_env *env;
    const char *path; /* for messages */
    char *rest;       /* what is left of it, to be freed */
    char *name;       /* its next component */
    bool is_last;
    int n_links;
    gsai_output_path *at;
} walk;

/* A component: info, the text of a link, and a descriptor of a directory (or, with O_PATH, of anything). */
typedef struct component {
    struct stat info;
    char link[LINK_SIZE];
    ssize_t link_len;
    int fd;
} component;

static gsa_status fail_errno(const walk *of, int number, gsa_error *error)
{
    char reason[GSAI_REASON_SIZE];
    if (number == ENOENT)
        return gsai_fail(error, GSA_IO, "cannot write %s: its directory does not exist; make it first", of->path);
    return gsai_fail(error, GSA_IO, "cannot write %s: %s", of->path, gsai_reason(number, reason));
}

static gsa_status fail_memory(const walk *of, gsa_error *error)
{
    return gsai_fail_memory(of->env, error, "cannot write %s: no memory for its name", of->path);
}

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
    if (failed && out->fd >= 0)
        close(out->fd);
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

/* Makes the text of a link the new rest, with what came after the link, if it was not the last component. */
static gsa_status set_rest(walk *of, const char *link, size_t len, const char *after, gsa_error *error)
{
    size_t after_len = strlen(after);
    char *joined = gsai_alloc(of->env, len + after_len + 2, 1);
    if (!joined)
        return fail_memory(of, error);
    memcpy(joined, link, len);
    joined[len] = '/';
    memcpy(joined + len + !of->is_last, after, after_len + 1);
    gsai_free(of->env, of->rest);
    of->rest = of->name = joined;
    return GSA_OK;
}

static gsa_status enter(walk *of, int fd, gsa_error *error)
{
    if (fd < 0)
        return fail_errno(of, errno, error);
    if (of->at->directory >= 0)
        close(of->at->directory);
    of->at->directory = fd;
    return GSA_OK;
}

/* Begins at the root or in the current directory, as the rest asks for. */
static gsa_status begin(walk *of, gsa_error *error)
{
    if (of->rest[0] != '/' && of->at->directory >= 0)
        return GSA_OK;
    component found;
    int number = inspect(AT_FDCWD, of->rest[0] == '/' ? "/" : ".", &found);
    errno = number;
    return enter(of, number == 0 ? found.fd : -1, error);
}

/* Replaces a link by its text. */
static gsa_status follow(walk *of, const component *link, const char *after, gsa_error *error)
{
    struct stat folder, behind;
    if (fstat(of->at->directory, &folder) != 0)
        return fail_errno(of, errno, error);
    if (!may_follow(&link->info, &folder, of->is_last))
        return gsai_fail(error, GSA_IO,
                         "cannot write %s: the symbolic link %s belongs to another user and others can write to its "
                         "folder; give the name of the file itself, or another folder",
                         of->path, of->name);
    if (of->n_links++ == MAX_LINKS || (size_t)link->link_len == sizeof link->link)
        return fail_errno(of, of->n_links > MAX_LINKS ? ELOOP : ENAMETOOLONG, error);
    of->at->is_descriptor = of->is_last && is_proc(&folder) && fstatat(of->at->directory, of->name, &behind, 0) == 0 &&
                            (!S_ISREG(behind.st_mode) || behind.st_nlink == 0) && !S_ISDIR(behind.st_mode);
    if (of->at->is_descriptor)
        return GSA_OK;
    GSA_TRY(set_rest(of, link->link, (size_t)link->link_len, after, error));
    return begin(of, error);
}

/* Takes the next component; *done when it is the last one and no link. */
static gsa_status step(walk *of, bool *done, gsa_error *error)
{
    component found;
    of->name += strspn(of->name, "/");
    size_t len = strcspn(of->name, "/");
    char *after = of->name + len;
    if (len == 0)
        return gsai_fail(error, GSA_IO, "cannot write %s: it names a directory; give the name of a file", of->path);
    of->is_last = *after == '\0';
    after += !of->is_last;
    of->name[len] = '\0';
    int number = inspect(of->at->directory, of->name, &found);
    *done = of->is_last && (number != 0 || !S_ISLNK(found.info.st_mode));
    if (number != 0)
        return *done && number == ENOENT ? GSA_OK : fail_errno(of, number, error);
    if (!*done && S_ISDIR(found.info.st_mode)) {
        of->name = after;
        return enter(of, found.fd, error);
    }
    gsa_status status = GSA_OK;
    if (S_ISLNK(found.info.st_mode))
        status = follow(of, &found, after, error);
    else if (!*done)
        status = fail_errno(of, ENOTDIR, error);
    *done = *done || of->at->is_descriptor;
    if (found.fd >= 0)
        close(found.fd);
    return status;
}

gsa_status gsai_output_path_open(const char *path, const gsai_env *env, gsai_output_path *out, gsa_error *error)
{
    gsai_env resolved = gsai_env_resolve(env);
    walk of = {.env = &resolved, .path = path, .at = out};
    *out = (gsai_output_path){.directory = -1};
    of.rest = of.name = gsai_copy_text(&resolved, path);
    gsa_status status = of.rest ? begin(&of, error) : fail_memory(&of, error);
    for (bool done = false; status == GSA_OK && !done;)
        status = step(&of, &done, error);
    if (status == GSA_OK && !(out->name = gsai_copy_text(&resolved, of.name)))
        status = fail_memory(&of, error);
    gsai_free(&resolved, of.rest);
    if (status != GSA_OK)
        gsai_output_path_close(out, &resolved);
    return status;
}

int gsai_output_path_descriptor(const gsai_output_path *at, int flags)
{
    int no_link = at->is_descriptor ? 0 : O_NOFOLLOW;
    return openat(at->directory, at->name, flags | no_link | O_CLOEXEC | O_NOCTTY, 0666);
}

int gsai_output_path_open_existing(const gsai_output_path *at)
{
    return gsai_output_path_descriptor(at, O_WRONLY);
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

int gsai_output_path_replace(const gsai_output_path *at, const char *from)
{
    return renameat(at->directory, from, at->directory, at->name);
}

/* A directory that may be written but not read cannot be opened, and is left to the system. */
int gsai_output_path_sync(const gsai_output_path *at)
{
    int fd = openat(at->directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    int result = gsai_os_sync(fd), number = errno;
    close(fd);
    errno = number;
    return result;
}

void gsai_output_path_close(gsai_output_path *at, const gsai_env *env)
{
    if (at->directory >= 0)
        close(at->directory);
    gsai_free(env, at->name);
    *at = (gsai_output_path){.directory = -1};
}
