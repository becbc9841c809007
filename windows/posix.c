/* Calls of POSIX by those of Windows. Names of files are in the code page of the process, as its arguments are. */
#include "posix.h"

#define WIN32_LEAN_AND_MEAN /* without sockets, which have a gethostname of their own */
#include <windows.h>

#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <process.h>
#include <psapi.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static HANDLE handle_of(int fd)
{
    return (HANDLE)_get_osfhandle(fd);
}

static int fail(int number)
{
    errno = number;
    return -1;
}

/* ---- files ------------------------------------------------------------------------------------------------------ */

int fcntl(int fd, int command, ...)
{
    if (handle_of(fd) == INVALID_HANDLE_VALUE)
        return fail(EBADF);
    return command == F_DUPFD_CLOEXEC ? _dup(fd) : 0;
}

ssize_t readlink(const char *path, char *out, size_t size)
{
    (void)path;
    DWORD length = GetModuleFileNameA(NULL, out, (DWORD)size);
    if (length == 0 || length >= size)
        return fail(EINVAL);
    for (DWORD i = 0; i < length; i++)
        out[i] = (char)(out[i] == '\\' ? '/' : out[i]);
    return (ssize_t)length;
}

static int stat_handle(HANDLE handle, struct gsai_windows_stat *out)
{
    BY_HANDLE_FILE_INFORMATION facts;
    *out = (struct gsai_windows_stat){.st_mode = _S_IFCHR, .st_nlink = 1};
    DWORD type = GetFileType(handle);
    if (type == FILE_TYPE_PIPE)
        out->st_mode = _S_IFIFO;
    if (type != FILE_TYPE_DISK)
        return 0;
    if (!GetFileInformationByHandle(handle, &facts))
        return fail(EIO);
    out->st_mode = facts.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY ? _S_IFDIR : _S_IFREG;
    out->st_mode |= facts.dwFileAttributes & FILE_ATTRIBUTE_READONLY ? 0444 : 0666;
    out->st_dev = facts.dwVolumeSerialNumber;
    out->st_ino = (uint64_t)facts.nFileIndexHigh << 32 | facts.nFileIndexLow;
    out->st_size = (off_t)((uint64_t)facts.nFileSizeHigh << 32 | facts.nFileSizeLow);
    out->st_nlink = facts.nNumberOfLinks;
    out->changed = (uint64_t)facts.ftLastWriteTime.dwHighDateTime << 32 | facts.ftLastWriteTime.dwLowDateTime;
    return 0;
}

int gsai_windows_stat(const char *path, struct gsai_windows_stat *out)
{
    DWORD shared = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
    HANDLE handle =
        CreateFileA(path, FILE_READ_ATTRIBUTES, shared, NULL, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, NULL);
    if (handle == INVALID_HANDLE_VALUE)
        return fail(GetLastError() == ERROR_ACCESS_DENIED ? EACCES : ENOENT);
    int code = stat_handle(handle, out);
    CloseHandle(handle);
    return code;
}

int gsai_windows_fstat(int fd, struct gsai_windows_stat *out)
{
    HANDLE handle = handle_of(fd);
    return handle == INVALID_HANDLE_VALUE ? fail(EBADF) : stat_handle(handle, out);
}

/* ---- signals ---------------------------------------------------------------------------------------------------- */

/* Windows forgets the handler of a signal when it calls it. Ctrl-C comes on a thread of its own. */
static void (*volatile handler)(int signal_number);

static void call_handler(int signal_number)
{
    signal(signal_number, call_handler);
    handler(signal_number);
}

int sigaction(int signal_number, const struct sigaction *action, struct sigaction *before)
{
    (void)before;
    handler = action->sa_handler;
    return signal(signal_number, call_handler) == SIG_ERR ? -1 : 0;
}

int sigemptyset(sigset_t *set)
{
    *set = 0;
    return 0;
}

/* ---- the machine and the process -------------------------------------------------------------------------------- */

/* Ctrl-C reaches both processes, and is for the other one. A handler is not inherited, as ignoring would be. */
static BOOL WINAPI leave_to_program(DWORD kind)
{
    (void)kind;
    return TRUE;
}

/* A word within quotes, as the runtime of a program takes its command line apart: backslashes are doubled before a
 * quote only. NULL if there is no memory. */
static char *quote(const char *word)
{
    char *quoted = malloc(2 * strlen(word) + 3), *at = quoted;
    size_t n_slashes = 0;
    if (quoted == NULL)
        return NULL;
    *at++ = '"';
    for (; *word != '\0'; word++) {
        for (size_t i = 0; *word == '"' && i <= n_slashes; i++)
            *at++ = '\\';
        n_slashes = *word == '\\' ? n_slashes + 1 : 0;
        *at++ = *word;
    }
    for (; n_slashes > 0; n_slashes--)
        *at++ = '\\';
    *at++ = '"';
    *at = '\0';
    return quoted;
}

static int run_to_end(intptr_t (*spawn)(int mode, const char *name, const char *const *words), const char *name,
                      char *const *words)
{
    size_t n = 0;
    while (words[n] != NULL)
        n++;
    const char **quoted = calloc(n + 1, sizeof *quoted);
    for (size_t i = 0; quoted != NULL && i < n; i++) {
        quoted[i] = quote(words[i]);
        if (quoted[i] == NULL)
            return fail(ENOMEM);
    }
    if (quoted == NULL)
        return fail(ENOMEM);
    SetConsoleCtrlHandler(leave_to_program, TRUE);
    intptr_t code = spawn(_P_WAIT, name, quoted);
    if (code != -1)
        exit((int)code);
    SetConsoleCtrlHandler(leave_to_program, FALSE);
    return -1;
}

int execv(const char *path, char *const *words)
{
    return run_to_end(_spawnv, path, words);
}

int execvp(const char *name, char *const *words)
{
    return run_to_end(_spawnvp, name, words);
}

int gethostname(char *out, size_t size)
{
    DWORD most = (DWORD)size;
    return GetComputerNameA(out, &most) ? 0 : fail(ENAMETOOLONG);
}

int getrusage(int whose, struct rusage *out)
{
    PROCESS_MEMORY_COUNTERS counters;
    (void)whose;
    if (!GetProcessMemoryInfo(GetCurrentProcess(), &counters, sizeof counters))
        return fail(EINVAL);
    *out = (struct rusage){counters.PeakWorkingSetSize / 1024};
    return 0;
}

int ioctl(int fd, int what, struct winsize *out)
{
    CONSOLE_SCREEN_BUFFER_INFO console;
    (void)what;
    if (!GetConsoleScreenBufferInfo(handle_of(fd), &console))
        return fail(ENOTTY);
    *out = (struct winsize){(unsigned short)(console.srWindow.Right - console.srWindow.Left + 1)};
    return 0;
}

/* libNAME.so is NAME.dll, in a place of the system's or beside the command; never in the folder of the data. */
static void *open_by_name(const char *name)
{
    char file[MAX_PATH];
    const char *base = strncmp(name, "lib", 3) == 0 ? name + 3 : name, *end = strstr(base, ".so");
    snprintf(file, sizeof file, "%.*s%s", end != NULL ? (int)(end - base) : (int)strlen(base), base,
             end != NULL ? ".dll" : "");
    return LoadLibraryExA(file, NULL, LOAD_LIBRARY_SEARCH_DEFAULT_DIRS);
}

void *dlopen(const char *path, int how)
{
    char whole[MAX_PATH];
    (void)how;
    if (strpbrk(path, "/\\:") == NULL)
        return open_by_name(path);
    DWORD size = GetFullPathNameA(path, sizeof whole, whole, NULL);
    return size > 0 && size < sizeof whole ? LoadLibraryExA(whole, NULL, LOAD_WITH_ALTERED_SEARCH_PATH) : NULL;
}

void *dlsym(void *library, const char *name)
{
    return (void *)(uintptr_t)GetProcAddress(library, name);
}

int dlclose(void *library)
{
    return FreeLibrary(library) ? 0 : -1;
}

const char *dlerror(void)
{
    return "the system could not load it";
}
