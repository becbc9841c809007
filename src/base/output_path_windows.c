/* The path of an output, as it is. Links are not followed by hand, and renaming over one replaces it. No directory is
 * opened: names are whole paths. */
#include "base/output_path.h"

#include "base/error.h"
#include "base/text.h"

#define WIN32_LEAN_AND_MEAN
#include <windows.h>

#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

gsa_status gsai_output_path_open(const char *path, gsai_output_path *out, gsa_error *error)
{
    *out = (gsai_output_path){.directory = -1};
    if (path[gsai_directory_len(path)] == '\0')
        return gsai_fail(error, GSA_IO, "cannot write %s: it names a directory; give the name of a file", path);
    if (strlen(path) >= sizeof out->name)
        return gsai_fail_errno(error, "write", path, ENAMETOOLONG);
    memcpy(out->name, path, strlen(path) + 1);
    return GSA_OK;
}

int gsai_output_path_info(const gsai_output_path *at, gsai_file_info *out)
{
    return gsai_os_path_info(at->name, out);
}

bool gsai_output_path_may_write(const gsai_output_path *at)
{
    return _access(at->name, 2) == 0;
}

int gsai_output_path_descriptor(const gsai_output_path *at, int flags)
{
    return _open(at->name, _O_WRONLY | flags | _O_NOINHERIT | _O_BINARY, _S_IREAD | _S_IWRITE);
}

/* A file that is open cannot be removed: that marks it. */
int gsai_output_path_create(const gsai_output_path *at, const char *name)
{
    (void)at;
    return _open(name, _O_WRONLY | _O_CREAT | _O_EXCL | _O_NOINHERIT | _O_BINARY, _S_IREAD | _S_IWRITE);
}

void gsai_output_path_remove(const gsai_output_path *at, const char *name)
{
    (void)at;
    (void)remove(name);
}

int gsai_output_path_replace(const gsai_output_path *at, const char *from)
{
    if (MoveFileExA(from, at->name, MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH))
        return 0;
    DWORD why = GetLastError();
    errno = why == ERROR_FILE_NOT_FOUND || why == ERROR_PATH_NOT_FOUND ? ENOENT : EACCES;
    return -1;
}

int gsai_output_path_sync(const gsai_output_path *at)
{
    (void)at;
    return 0; /* MoveFileEx has written through */
}

void gsai_output_path_close(gsai_output_path *at)
{
    (void)at;
}
