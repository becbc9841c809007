/* The system, by the calls of Windows. Names of files are in UTF-8 (windows/posix.h). */
#include "base/error.h"
#include "base/output_path.h"
#include "base/text.h"

#define WIN32_LEAN_AND_MEAN
#include <windows.h>

#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <locale.h>
#include <process.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MAX_AT_ONCE ((size_t)1 << 30) /* the system takes an int */
#define POLL_MILLISECONDS 5           /* between two looks at a pipe */

static HANDLE handle_of(int fd)
{
    return (HANDLE)_get_osfhandle(fd);
}

static int fail(int number)
{
    errno = number;
    return -1;
}

/* ---- files: bytes as they are, no lines ------------------------------------------------------------------------- */

static int take_info(int result, const struct gsai_windows_stat *from, gsai_file_info *out)
{
    if (result != 0)
        return -1;
    unsigned type = from->st_mode & _S_IFMT;
    *out = (gsai_file_info){.kind = type == _S_IFREG   ? GSAI_FILE_REGULAR
                                    : type == _S_IFDIR ? GSAI_FILE_DIRECTORY
                                                       : GSAI_FILE_OTHER,
                            .size = type == _S_IFREG ? (uint64_t)from->st_size : 0,
                            .mode = from->st_mode & 0777,
                            .is_ours = true, /* rights are those of its folder */
                            .n_links = from->st_nlink,
                            .device = from->st_dev,
                            .number = from->st_ino,
                            .changed = from->changed};
    return 0;
}

int gsai_os_info(int fd, gsai_file_info *out)
{
    struct gsai_windows_stat found;
    return take_info(gsai_windows_fstat(fd, &found), &found, out);
}

int gsai_os_path_info(const char *path, gsai_file_info *out)
{
    struct gsai_windows_stat found;
    return take_info(gsai_windows_stat(path, &found), &found, out);
}

bool gsai_os_may_read(const char *path)
{
    return gsai_windows_access(path, 4) == 0;
}

int gsai_os_open(const char *path)
{
    return gsai_windows_open(path, _O_RDONLY | _O_NOINHERIT | _O_BINARY);
}

int gsai_os_close(int fd)
{
    return _close(fd);
}

ptrdiff_t gsai_os_read(int fd, void *bytes, size_t size)
{
    return _read(fd, bytes, (unsigned)(size < MAX_AT_ONCE ? size : MAX_AT_ONCE));
}

ptrdiff_t gsai_os_write(int fd, const void *bytes, size_t size)
{
    return _write(fd, bytes, (unsigned)(size < MAX_AT_ONCE ? size : MAX_AT_ONCE));
}

int64_t gsai_os_seek(int fd, int64_t at, int from)
{
    return _lseeki64(fd, at, from);
}

static bool pipe_has_bytes(HANDLE handle)
{
    DWORD n = 0;
    return !PeekNamedPipe(handle, NULL, 0, NULL, &n, NULL) || n > 0; /* one that has ended is to be read as well */
}

int gsai_os_wait(int fd, bool to_write, int milliseconds)
{
    HANDLE handle = handle_of(fd);
    DWORD type = GetFileType(handle), mode;
    bool is_console = type == FILE_TYPE_CHAR && GetConsoleMode(handle, &mode);
    if (to_write || (type != FILE_TYPE_PIPE && !is_console))
        return 1;
    if (is_console)
        return WaitForSingleObject(handle, milliseconds < 0 ? INFINITE : (DWORD)milliseconds) != WAIT_TIMEOUT;
    ULONGLONG end = GetTickCount64() + (ULONGLONG)(milliseconds < 0 ? INT32_MAX : milliseconds);
    while (!pipe_has_bytes(handle)) {
        if (GetTickCount64() >= end)
            return 0;
        Sleep(POLL_MILLISECONDS);
    }
    return 1;
}

/* A new file has the rights of its folder. */
int gsai_os_set_mode(int fd, unsigned mode)
{
    (void)fd;
    (void)mode;
    return 0;
}

/* A pipe or the console cannot be synced. */
int gsai_os_sync(int fd)
{
    return GetFileType(handle_of(fd)) == FILE_TYPE_DISK ? _commit(fd) : 0;
}

/* A file cannot stay when its name is removed: none is made. */
int gsai_os_unnamed_file(const char *folder, char *path, size_t size)
{
    (void)folder;
    (void)path;
    (void)size;
    return fail(ENOSYS);
}

int gsai_os_empty(int fd)
{
    return _chsize_s(fd, 0) == 0 ? 0 : -1;
}

uint64_t gsai_os_space(int fd)
{
    (void)fd;
    return 0;
}

/* The view holds the mapping, which holds the file. */
const void *gsai_os_map(int fd, uint64_t size)
{
    HANDLE mapping = size > 0 && size <= SIZE_MAX ? CreateFileMappingA(handle_of(fd), NULL, PAGE_READONLY,
                                                                       (DWORD)(size >> 32), (DWORD)size, NULL)
                                                  : NULL;
    const void *bytes = mapping ? MapViewOfFile(mapping, FILE_MAP_READ, 0, 0, (SIZE_T)size) : NULL;
    if (mapping)
        CloseHandle(mapping);
    if (!bytes)
        errno = ENOMEM;
    return bytes;
}

uint64_t gsai_os_max_mapped(void)
{
    return sizeof(size_t) < 8 ? UINT64_C(1) << 28 : UINT64_MAX;
}

void gsai_os_unmap(const void *bytes, uint64_t size)
{
    (void)size;
    UnmapViewOfFile(bytes);
}

/* ---- the path of an output, as it is ------------------------------------------------------------------------------
 */

/* Links are not followed by hand, and renaming over one replaces it. No directory is opened: names are whole paths. */
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
    return gsai_windows_access(at->name, 2) == 0;
}

int gsai_output_path_descriptor(const gsai_output_path *at, int flags)
{
    return gsai_windows_open(at->name, _O_WRONLY | flags | _O_NOINHERIT | _O_BINARY);
}

/* A file that is open cannot be removed: that marks it. */
int gsai_output_path_create(const gsai_output_path *at, const char *name)
{
    (void)at;
    return gsai_windows_open(name, _O_WRONLY | _O_CREAT | _O_EXCL | _O_NOINHERIT | _O_BINARY);
}

void gsai_output_path_remove(const gsai_output_path *at, const char *name)
{
    (void)at;
    (void)gsai_windows_unlink(name);
}

int gsai_output_path_replace(const gsai_output_path *at, const char *from)
{
    return gsai_windows_replace(from, at->name);
}

void gsai_output_path_close(gsai_output_path *at)
{
    (void)at;
}

/* ---- the machine and the process -------------------------------------------------------------------------------- */

size_t gsai_os_processors(void)
{
    SYSTEM_INFO system;
    DWORD_PTR ours = 0, all;
    size_t n = 0;
    GetSystemInfo(&system);
    if (GetProcessAffinityMask(GetCurrentProcess(), &ours, &all)) /* none if there are more than 64 */
        for (; ours != 0; ours &= ours - 1)
            n++;
    return n > 0 ? n : system.dwNumberOfProcessors > 0 ? system.dwNumberOfProcessors : 1;
}

uint64_t gsai_os_processor_set(void)
{
    return 0;
}

uint64_t gsai_os_memory(void)
{
    MEMORYSTATUSEX memory = {.dwLength = sizeof memory};
    return GlobalMemoryStatusEx(&memory) ? memory.ullTotalPhys : 0;
}

uint64_t gsai_os_process_id(void)
{
    return GetCurrentProcessId();
}

double gsai_os_seconds(void)
{
    LARGE_INTEGER now, frequency;
    QueryPerformanceFrequency(&frequency);
    QueryPerformanceCounter(&now);
    return (double)now.QuadPart / (double)frequency.QuadPart;
}

void gsai_os_prefer_huge_pages(void *memory, size_t size)
{
    (void)memory;
    (void)size;
}

int gsai_os_thread_start(pthread_t *thread, void *(*run)(void *), void *ctx)
{
    return pthread_create(thread, NULL, run, ctx);
}

void *gsai_os_c_locale(void)
{
    return (void *)_create_locale(LC_ALL, "C");
}

void gsai_os_c_locale_free(void *locale)
{
    if (locale)
        _free_locale((_locale_t)locale);
}

double gsai_os_strtod(const char *text, const void *locale)
{
    return _strtod_l(text, NULL, (_locale_t)locale);
}
