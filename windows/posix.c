/* Calls of POSIX by those of Windows, which take UTF-16. */
#include <process.h> /* before its names are others */

#include "dirent.h"
#include "posix.h"

#define WIN32_LEAN_AND_MEAN /* without sockets, which have a gethostname of their own */
#include <windows.h>

#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <psapi.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <wchar.h>

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

/* For the last failure of the system. */
static int fail_last(void)
{
    DWORD why = GetLastError();
    bool is_missing = why == ERROR_FILE_NOT_FOUND || why == ERROR_PATH_NOT_FOUND || why == ERROR_INVALID_NAME ||
                      why == ERROR_BAD_NETPATH || why == ERROR_BAD_PATHNAME || why == ERROR_DIRECTORY;
    bool is_refused = why == ERROR_ACCESS_DENIED || why == ERROR_SHARING_VIOLATION || why == ERROR_LOCK_VIOLATION;
    return fail(is_missing ? ENOENT : is_refused ? EACCES : why == ERROR_TOO_MANY_OPEN_FILES ? EMFILE : EIO);
}

static wchar_t *wide_text(const char *text)
{
    int n = MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, text, -1, NULL, 0);
    wchar_t *wide = n > 0 ? malloc((size_t)n * sizeof *wide) : NULL;
    errno = n > 0 ? ENOMEM : EINVAL;
    if (wide != NULL)
        MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, text, -1, wide, n);
    return wide;
}

/* Returns a path in UTF-16, with the prefix that paths above MAX_PATH need; NULL if out of memory. The caller frees it.
 */
wchar_t *gsai_windows_wide(const char *path)
{
    wchar_t *wide = wide_text(strcmp(path, "/dev/null") == 0 ? "NUL" : path);
    DWORD size = wide != NULL ? GetFullPathNameW(wide, 0, NULL, NULL) : 0;
    if (size < MAX_PATH - sizeof "12345678.123" || wcsncmp(wide, L"\\\\?\\", 4) == 0)
        return wide;
    wchar_t *whole = malloc((size + sizeof "//?/UNC/") * sizeof *whole);
    if (whole != NULL && wide[0] == L'\\' &&
        wide[1] == L'\\') { /* of another machine: the prefix takes the first slash */
        GetFullPathNameW(wide, size, whole + 6, NULL);
        memcpy(whole, L"\\\\?\\UNC", 7 * sizeof *whole);
    } else if (whole != NULL) {
        GetFullPathNameW(wide, size, whole + 4, NULL);
        memcpy(whole, L"\\\\?\\", 4 * sizeof *whole);
    }
    free(wide);
    errno = ENOMEM;
    return whole;
}

int gsai_windows_access(const char *path, int mode)
{
    wchar_t *wide = gsai_windows_wide(path);
    int code = wide != NULL ? _waccess(wide, mode & ~1) : -1; /* of who may search a folder it knows nothing */
    free(wide);
    return code;
}

int gsai_windows_open(const char *path, int flags, ...)
{
    wchar_t *wide = gsai_windows_wide(path);
    int fd = -1;
    if (wide != NULL && (flags & (_O_WRONLY | _O_RDWR)) != 0) {
        fd = _wopen(wide, flags, _S_IREAD | _S_IWRITE);
    } else if (wide != NULL) {
        DWORD shared = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
        HANDLE handle = CreateFileW(wide, GENERIC_READ, shared, NULL, OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, NULL);
        fd = handle != INVALID_HANDLE_VALUE ? _open_osfhandle((intptr_t)handle, flags) : fail_last();
        if (handle != INVALID_HANDLE_VALUE && fd < 0)
            CloseHandle(handle);
    }
    free(wide);
    return fd;
}

FILE *fopen(const char *path, const char *mode)
{
    wchar_t *wide = gsai_windows_wide(path), *wide_mode = wide_text(mode);
    FILE *file = wide != NULL && wide_mode != NULL ? _wfopen(wide, wide_mode) : NULL;
    free(wide);
    free(wide_mode);
    return file;
}

int gsai_windows_unlink(const char *path)
{
    wchar_t *wide = gsai_windows_wide(path);
    int code = wide != NULL ? _wunlink(wide) : -1;
    free(wide);
    return code;
}

/* Replaces a file as POSIX does: processes that have the old one open keep it. Fails before Windows 10. */
static bool replace_open(const wchar_t *from, const wchar_t *to)
{
    enum { REPLACE_AND_POSIX = 3, RENAME_INFO_EX = 22 };
    struct {
        DWORD flags;
        HANDLE root;
        DWORD size;
        wchar_t name[];
    } * to_be;
    size_t size = wcslen(to) * sizeof *to;
    to_be = calloc(1, sizeof *to_be + size + sizeof *to);
    HANDLE handle = CreateFileW(from, DELETE | SYNCHRONIZE, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
                                NULL, OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, NULL);
    bool is_done = false;
    if (to_be != NULL && handle != INVALID_HANDLE_VALUE) {
        to_be->flags = REPLACE_AND_POSIX;
        to_be->size = (DWORD)size;
        memcpy(to_be->name, to, size);
        is_done = SetFileInformationByHandle(handle, RENAME_INFO_EX, to_be, (DWORD)(sizeof *to_be + size + sizeof *to));
    }
    if (handle != INVALID_HANDLE_VALUE)
        CloseHandle(handle);
    free(to_be);
    return is_done;
}

/* A file that is mapped cannot be replaced, but renamed: it gets the name of a temporary file, which goes now or, by
 * train_start.c, later. */
static bool replace_mapped(const wchar_t *from, const wchar_t *to)
{
    size_t n = wcslen(from);
    wchar_t *aside = calloc(n + 1, sizeof *aside);
    if (aside == NULL || n < sizeof "6.tmp")
        return free(aside), false;
    memcpy(aside, from, n * sizeof *aside);
    wchar_t *last = aside + n - (sizeof "6.tmp" - 1);
    *last = *last == L'0' ? L'1' : L'0';
    bool is_aside = MoveFileExW(to, aside, 0);
    bool is_done = is_aside && MoveFileExW(from, to, MOVEFILE_WRITE_THROUGH);
    DWORD why = GetLastError();
    if (is_done)
        (void)DeleteFileW(aside);
    else if (is_aside)
        (void)MoveFileExW(aside, to, 0);
    free(aside);
    SetLastError(why);
    return is_done;
}

int gsai_windows_replace(const char *from, const char *to)
{
    wchar_t *wide_from = gsai_windows_wide(from), *wide_to = gsai_windows_wide(to);
    int code = -1;
    if (wide_from != NULL && wide_to != NULL)
        code = replace_open(wide_from, wide_to) ||
                       MoveFileExW(wide_from, wide_to, MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH) ||
                       replace_mapped(wide_from, wide_to)
                   ? 0
                   : fail_last();
    free(wide_from);
    free(wide_to);
    return code;
}

struct gsai_windows_folder {
    HANDLE search;
    bool is_begun;
    WIN32_FIND_DATAW found;
    struct dirent entry;
};

DIR *opendir(const char *path)
{
    size_t size = strlen(path) + sizeof "/*";
    char *pattern = malloc(size);
    DIR *folder = calloc(1, sizeof *folder);
    if (pattern != NULL)
        snprintf(pattern, size, "%s/*", path);
    wchar_t *wide = pattern != NULL ? gsai_windows_wide(pattern) : NULL;
    if (folder != NULL)
        folder->search = wide != NULL ? FindFirstFileW(wide, &folder->found) : INVALID_HANDLE_VALUE;
    free(pattern);
    free(wide);
    if (folder != NULL && folder->search == INVALID_HANDLE_VALUE) {
        free(folder);
        return NULL;
    }
    return folder;
}

struct dirent *readdir(DIR *folder)
{
    if (folder->is_begun && !FindNextFileW(folder->search, &folder->found))
        return NULL;
    folder->is_begun = true;
    char *out = folder->entry.d_name;
    WideCharToMultiByte(CP_UTF8, 0, folder->found.cFileName, -1, out, sizeof folder->entry.d_name, NULL, NULL);
    return &folder->entry;
}

int closedir(DIR *folder)
{
    FindClose(folder->search);
    free(folder);
    return 0;
}

ssize_t readlink(const char *path, char *out, size_t size)
{
    (void)path;
    wchar_t wide[MAX_PATH * 4];
    DWORD n = GetModuleFileNameW(NULL, wide, sizeof wide / sizeof *wide);
    int length = n > 0 && n < sizeof wide / sizeof *wide
                     ? WideCharToMultiByte(CP_UTF8, 0, wide, (int)n, out, (int)size, NULL, NULL)
                     : 0;
    for (int i = 0; i < length; i++)
        out[i] = (char)(out[i] == '\\' ? '/' : out[i]);
    return length > 0 ? length : fail(EINVAL);
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
    wchar_t *wide = gsai_windows_wide(path);
    if (wide == NULL)
        return -1;
    HANDLE handle =
        CreateFileW(wide, FILE_READ_ATTRIBUTES, shared, NULL, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, NULL);
    free(wide);
    if (handle == INVALID_HANDLE_VALUE)
        return fail_last();
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

static wchar_t *wide_word(const char *word)
{
    char *quoted = quote(word);
    wchar_t *wide = quoted != NULL ? wide_text(quoted) : NULL;
    free(quoted);
    return wide;
}

static int run_to_end(intptr_t (*spawn)(int mode, const wchar_t *name, const wchar_t *const *words), const char *name,
                      char *const *words)
{
    size_t n = 0;
    while (words[n] != NULL)
        n++;
    wchar_t **wide = calloc(n + 1, sizeof *wide), *program = wide_text(name);
    bool is_complete = wide != NULL && program != NULL;
    for (size_t i = 0; is_complete && i < n; i++)
        is_complete = (wide[i] = wide_word(words[i])) != NULL;
    SetConsoleCtrlHandler(leave_to_program, TRUE);
    intptr_t code = is_complete ? spawn(_P_WAIT, program, (const wchar_t *const *)wide) : fail(ENOMEM);
    if (code != -1)
        exit((int)code);
    SetConsoleCtrlHandler(leave_to_program, FALSE);
    for (size_t i = 0; wide != NULL && i < n; i++)
        free(wide[i]);
    free(wide);
    free(program);
    return -1;
}

int execv(const char *path, char *const *words)
{
    return run_to_end(_wspawnv, path, words);
}

int execvp(const char *name, char *const *words)
{
    return run_to_end(_wspawnvp, name, words);
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
    wchar_t whole[MAX_PATH];
    (void)how;
    if (strpbrk(path, "/\\:") == NULL)
        return open_by_name(path);
    wchar_t *wide = gsai_windows_wide(path);
    DWORD size = wide != NULL ? GetFullPathNameW(wide, MAX_PATH, whole, NULL) : 0;
    free(wide);
    return size > 0 && size < MAX_PATH ? LoadLibraryExW(whole, NULL, LOAD_WITH_ALTERED_SEARCH_PATH) : NULL;
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
