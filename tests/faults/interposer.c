/* Preloaded into the command: makes calls of one kind fail.
 *
 * Memory and threads are interposed by name. System calls are caught below libc, by a seccomp filter that sends a
 * signal, because stdio calls write and close by names of its own that nothing can take the place of. Only calls from
 * libc's text are caught: neither those of this file nor those that sanitizers make for themselves.
 *
 * The page (fault_page.h) says what is wanted; without one nothing happens. Linux on x86-64 only. */
#define _GNU_SOURCE
#include "fault_page.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#define SHORT_BYTES 16

static fault_page *page; /* NULL: nobody wants anything */
static _Thread_local __attribute__((tls_model("initial-exec"))) int is_exempt;

/* Whether this call, of the kind that is wanted, is one that fails. */
static int is_hit(enum fault_kind kind)
{
    if (!page || page->kind != kind || is_exempt)
        return 0;
    unsigned long n = atomic_fetch_add(&page->n_calls, 1) + 1;
    int hit = page->mode == FAULT_AGAIN ? n % 2 == 1 : page->mode == FAULT_ERROR && n >= page->first && n <= page->last;
    if (hit)
        atomic_fetch_add(&page->n_faults, 1);
    return hit;
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static void *(*next_malloc)(size_t);
static void *(*next_calloc)(size_t, size_t);
static void *(*next_realloc)(void *, size_t);
static void *(*next_aligned_alloc)(size_t, size_t);
static int (*next_posix_memalign)(void **, size_t, size_t);
static void (*next_free)(void *);

/* For what dlsym itself asks for while it looks for malloc; never given back. */
static _Alignas(16) unsigned char early[1 << 16];
static size_t early_used;

static void *take_early(size_t size)
{
    size_t at = early_used;
    early_used += (size + 15) / 16 * 16;
    return early_used <= sizeof early ? early + at : NULL;
}

static int is_early(const void *memory)
{
    return (uintptr_t)memory - (uintptr_t)early < sizeof early;
}

/* ISO C has no cast from an object to a function. */
static void find(const char *name, void *function)
{
    void *found = dlsym(RTLD_NEXT, name);
    memcpy(function, &found, sizeof found);
}

static int is_ready(void)
{
    static int looking;
    if (next_free || looking)
        return next_free != NULL;
    looking = 1;
    find("malloc", &next_malloc);
    find("calloc", &next_calloc);
    find("realloc", &next_realloc);
    find("aligned_alloc", &next_aligned_alloc);
    find("posix_memalign", &next_posix_memalign);
    find("free", &next_free);
    return 1;
}

static void *counted(void *memory)
{
    if (memory && page)
        atomic_fetch_add(&page->n_live, 1);
    return memory;
}

static void *refuse(void)
{
    errno = page->number;
    return NULL;
}

void *malloc(size_t size)
{
    if (!is_ready())
        return take_early(size);
    return is_hit(FAULT_MEMORY) ? refuse() : counted(next_malloc(size));
}

void *calloc(size_t n, size_t size)
{
    if (!is_ready())
        return take_early(n * size);
    return is_hit(FAULT_MEMORY) ? refuse() : counted(next_calloc(n, size));
}

void *realloc(void *memory, size_t size)
{
    if (is_early(memory))
        abort();
    if (is_ready() && is_hit(FAULT_MEMORY))
        return refuse();
    void *result = next_realloc(memory, size);
    return memory ? result : counted(result);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return is_ready() && is_hit(FAULT_MEMORY) ? refuse() : counted(next_aligned_alloc(alignment, size));
}

int posix_memalign(void **out, size_t alignment, size_t size)
{
    if (is_ready() && is_hit(FAULT_MEMORY))
        return page->number;
    int code = next_posix_memalign(out, alignment, size);
    counted(code == 0 ? *out : NULL);
    return code;
}

void free(void *memory)
{
    if (!memory || is_early(memory) || !is_ready())
        return;
    if (page)
        atomic_fetch_sub(&page->n_live, 1);
    next_free(memory);
}

/* ---- threads ----------------------------------------------------------------------------------------------------- */

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *ctx)
{
    int (*next)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    find("pthread_create", &next);
    return is_hit(FAULT_THREAD) ? page->number : next(thread, attributes, run, ctx);
}

/* A sanitizer asks where the stack is when a thread begins, and gives up if there is no memory for the answer. */
int pthread_getattr_np(pthread_t thread, pthread_attr_t *out)
{
    int (*next)(pthread_t, pthread_attr_t *);
    find("pthread_getattr_np", &next);
    is_exempt++;
    int code = next(thread, out);
    is_exempt--;
    return code;
}

/* A thread that blocks all signals would die of the first call that is caught. */
int pthread_sigmask(int how, const sigset_t *wanted, sigset_t *before)
{
    int (*next)(int, const sigset_t *, sigset_t *);
    find("pthread_sigmask", &next);
    sigset_t without;
    if (!wanted || how == SIG_UNBLOCK)
        return next(how, wanted, before);
    without = *wanted;
    sigdelset(&without, SIGSYS);
    return next(how, &without, before);
}

/* ---- system calls ------------------------------------------------------------------------------------------------ */

static const struct {
    enum fault_kind kind;
    int number;
} calls[] = {{FAULT_READ, SYS_read},        {FAULT_READ, SYS_pread64},   {FAULT_READ, SYS_readv},
             {FAULT_WRITE, SYS_write},      {FAULT_WRITE, SYS_pwrite64}, {FAULT_WRITE, SYS_writev},
             {FAULT_OPEN, SYS_open},        {FAULT_OPEN, SYS_openat},    {FAULT_SYNC, SYS_fsync},
             {FAULT_SYNC, SYS_fdatasync},   {FAULT_RENAME, SYS_rename},  {FAULT_RENAME, SYS_renameat},
             {FAULT_RENAME, SYS_renameat2}, {FAULT_CLOSE, SYS_close},    {FAULT_TRUNCATE, SYS_ftruncate},
             {FAULT_MAP, SYS_mmap},         {FAULT_SEEK, SYS_lseek},     {FAULT_STAT, SYS_stat},
             {FAULT_STAT, SYS_fstat},       {FAULT_STAT, SYS_lstat},     {FAULT_STAT, SYS_newfstatat},
             {FAULT_STAT, SYS_statx},       {FAULT_STAT, SYS_fstatfs}};

static long call_kernel(long number, const long *argument)
{
    register long fourth __asm__("r10") = argument[3];
    register long fifth __asm__("r8") = argument[4];
    register long sixth __asm__("r9") = argument[5];
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(argument[0]), "S"(argument[1]), "d"(argument[2]), "r"(fourth), "r"(fifth),
                       "r"(sixth)
                     : "rcx", "r11", "memory");
    return result;
}

/* What the program says on stderr is always let through: it is what the tests read. So is stdout when calls are to be
 * made again: stdio does not do that, and only a signal that ends the command anyway could ask for it. Descriptors are
 * closed even when the call says that something went wrong, as Linux does it. */
static long answer(long number, long *argument)
{
    int is_stdout = argument[0] == STDOUT_FILENO && page->mode == FAULT_AGAIN;
    if (page->kind == FAULT_WRITE && (argument[0] == STDERR_FILENO || is_stdout))
        return call_kernel(number, argument);
    if (is_hit(page->kind)) {
        if (page->kind == FAULT_CLOSE)
            (void)call_kernel(number, argument);
        return page->mode == FAULT_AGAIN ? -EINTR : -page->number;
    }
    if (page->mode == FAULT_SHORT && (number == SYS_read || number == SYS_write) && argument[2] > SHORT_BYTES)
        argument[2] = 1 + (long)(atomic_load(&page->n_calls) % SHORT_BYTES);
    return call_kernel(number, argument);
}

static void catch_call(int signal_number, siginfo_t *info, void *memory)
{
    ucontext_t *context = memory;
    greg_t *r = context->uc_mcontext.gregs;
    long argument[6] = {r[REG_RDI], r[REG_RSI], r[REG_RDX], r[REG_R10], r[REG_R8], r[REG_R9]};
    (void)signal_number;
    r[REG_RAX] = answer(info->si_syscall, argument);
}

typedef struct text {
    uintptr_t from, to;
} text;

/* Of the object that malloc's neighbours live in, which is libc. */
static int find_libc(struct dl_phdr_info *object, size_t size, void *out)
{
    (void)size;
    const char *slash = strrchr(object->dlpi_name, '/');
    if (!slash || strncmp(slash, "/libc.so", 8) != 0)
        return 0;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        if (part->p_type == PT_LOAD && part->p_flags & PF_X)
            *(text *)out = (text){object->dlpi_addr + part->p_vaddr, object->dlpi_addr + part->p_vaddr + part->p_memsz};
    }
    return 1;
}

#define AT(field) offsetof(struct seccomp_data, field)
#define LOAD(offset) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (unsigned)(offset))
#define IF(test, value, yes, no) BPF_JUMP(BPF_JMP | (test) | BPF_K, (unsigned)(value), (yes), (no))
#define GIVE(what) BPF_STMT(BPF_RET | BPF_K, (what))

/* The upper halves of addresses are compared as a whole, so both ends of the text must have the same. */
static int install_filter(enum fault_kind kind, text libc)
{
    struct sock_filter program[64];
    unsigned n = 0;
    if (libc.from == 0 || libc.from >> 32 != libc.to >> 32)
        return -1;
    program[n++] = (struct sock_filter)LOAD(AT(instruction_pointer) + 4);
    program[n++] = (struct sock_filter)IF(BPF_JEQ, libc.from >> 32, 1, 0);
    program[n++] = (struct sock_filter)GIVE(SECCOMP_RET_ALLOW);
    program[n++] = (struct sock_filter)LOAD(AT(instruction_pointer));
    program[n++] = (struct sock_filter)IF(BPF_JGE, libc.from, 1, 0);
    program[n++] = (struct sock_filter)GIVE(SECCOMP_RET_ALLOW);
    program[n++] = (struct sock_filter)IF(BPF_JGE, libc.to, 0, 1);
    program[n++] = (struct sock_filter)GIVE(SECCOMP_RET_ALLOW);
    program[n++] = (struct sock_filter)LOAD(AT(nr));
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        if (calls[i].kind != kind)
            continue;
        program[n++] = (struct sock_filter)IF(BPF_JEQ, calls[i].number, 0, 1);
        program[n++] = (struct sock_filter)GIVE(SECCOMP_RET_TRAP);
    }
    program[n++] = (struct sock_filter)GIVE(SECCOMP_RET_ALLOW);
    struct sock_fprog filter = {.len = (unsigned short)n, .filter = program};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
}

static void begin_catching(enum fault_kind kind)
{
    text libc = {0};
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = catch_call;
    action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_RESTART;
    sigaction(SIGSYS, &action, NULL);
    dl_iterate_phdr(find_libc, &libc);
    if (install_filter(kind, libc) != 0)
        _exit(FAULT_EXIT_AGAIN);
}

__attribute__((constructor)) static void begin(void)
{
    const char *descriptor = getenv(FAULT_DESCRIPTOR);
    if (!descriptor || !is_ready())
        return;
    void *mapped = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED, atoi(descriptor), 0);
    if (mapped == MAP_FAILED)
        _exit(FAULT_EXIT_AGAIN);
    page = mapped;
    if (page->kind != FAULT_MEMORY && page->kind != FAULT_THREAD)
        begin_catching(page->kind);
}
