/* Everything that the library needs of the system beyond C17. posix.c with linux.c or unix.c implements it, or
 * windows.c; the names of outputs are resolved by output_path.c and windows.c. No other file of the library includes a
 * header of the system. Functions that return an int return a descriptor or 0, and -1 with errno set. */
#ifndef GSA_BASE_OS_H
#define GSA_BASE_OS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- files ------------------------------------------------------------------------------------------------------ */

enum { GSAI_STDIN, GSAI_STDOUT };
typedef enum gsai_file_kind { GSAI_FILE_REGULAR, GSAI_FILE_DIRECTORY, GSAI_FILE_OTHER } gsai_file_kind;

typedef struct gsai_file_info {
    gsai_file_kind kind;
    uint64_t size; /* 0 unless it is regular */
    unsigned mode; /* access rights */
    bool is_ours;  /* no other user but the administrator can write to it */
    uint64_t n_links;
    uint64_t device, number; /* by which it is known again */
    uint64_t changed;        /* time of the last change of its bytes, in units of the system */
} gsai_file_info;

int gsai_os_info(int fd, gsai_file_info *out);
int gsai_os_path_info(const char *path, gsai_file_info *out);
#ifndef _WIN32
/* Describes a name in an open directory; `follows` says whether a link there is followed. */
int gsai_os_info_at(int directory, const char *name, bool follows, gsai_file_info *out);
#endif
/* Returns whether a path may be read, without opening it. */
bool gsai_os_may_read(const char *path);
/* Opens a file for reading. Another program that this process starts does not have it. */
int gsai_os_open(const char *path);
int gsai_os_close(int fd);
/* Bytes that were read or written, which may be fewer than asked for; -1 with errno. */
ptrdiff_t gsai_os_read(int fd, void *bytes, size_t size);
ptrdiff_t gsai_os_write(int fd, const void *bytes, size_t size);
/* Seeks by SEEK_SET, SEEK_CUR or SEEK_END. Returns the byte that is read next; -1 if the file has no position. */
int64_t gsai_os_seek(int fd, int64_t at, int from);
/* Waits until there is something to read, or (to_write) until it takes more; below 0 milliseconds for as long as it
 * takes. Returns whether there is, 0 after that time, -1 with errno. */
int gsai_os_wait(int fd, bool to_write, int milliseconds);
/* Sets the access rights; does nothing on a system without them. */
int gsai_os_set_mode(int fd, unsigned mode);
/* Makes what was written durable. Succeeds if the file system cannot. */
int gsai_os_sync(int fd);

/* Makes an empty file in a folder and removes its name: it is gone when it is closed, however the process ends. `path`
 * has room for GSAI_OS_PATH_ROOM bytes more than the folder, and gets a name by which only this process opens it. */
#define GSAI_OS_PATH_ROOM 32
int gsai_os_unnamed_file(const char *folder, char *path, size_t size);
/* Removes all bytes of a file. */
int gsai_os_empty(int fd);
/* Returns how many bytes the file may have, by its file system and the limits of the process; 0 if that is not known.
 */
uint64_t gsai_os_space(int fd);

/* Maps the first `size` bytes of a file for reading, until they are unmapped; the descriptor may be closed before.
 * Returns NULL if the system cannot. Bytes that a file loses while it is mapped (it is truncated, its disk fails) end
 * the process when they are read: on POSIX by SIGBUS. */
const void *gsai_os_map(int fd, uint64_t size);
/* Returns how many bytes of files may be mapped, so that the process keeps addresses for its memory: a quarter of those
 * that a limit allows it, 256 MiB if addresses have 32 bits. */
uint64_t gsai_os_max_mapped(void);
void gsai_os_unmap(const void *bytes, uint64_t size);

/* ---- the machine and the process -------------------------------------------------------------------------------- */

/* Return how much of the machine this process may use: processors, at least 1, and bytes of memory, 0 if not known. */
size_t gsai_os_processors(void);
uint64_t gsai_os_memory(void);
/* Returns a number that processes have in common which may run on the same processors. */
uint64_t gsai_os_processor_set(void);
uint64_t gsai_os_process_id(void);
/* Seconds since some moment, which no change of the clock moves. */
double gsai_os_seconds(void);
/* Asks for large pages for memory of whole GSAI_OS_HUGE_PAGEs; the system may do so or not. */
#define GSAI_OS_HUGE_PAGE ((uintptr_t)1 << 21)
void gsai_os_prefer_huge_pages(void *memory, size_t size);
/* Starts a thread that no signal interrupts. Returns 0 or an error number. */
int gsai_os_thread_start(pthread_t *thread, void *(*run)(void *), void *ctx);

/* Returns the "C" locale, whatever the locale of the process; NULL if out of memory. */
void *gsai_os_c_locale(void);
void gsai_os_c_locale_free(void *locale);
double gsai_os_strtod(const char *text, const void *locale);

#endif
