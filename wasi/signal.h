/* No signal ever comes. */
#ifndef GSA_WASI_SIGNAL_H
#define GSA_WASI_SIGNAL_H
#pragma clang system_header /* the next one of this name */
#include "posix.h"
#include_next <signal.h>
struct gsai_wasi_sigaction {
    void (*sa_handler)(int);
    unsigned sa_mask;
    int sa_flags;
};
#define sigaction gsai_wasi_sigaction
static inline int gsai_wasi_sigaction(int number, const struct gsai_wasi_sigaction *action,
                                      struct gsai_wasi_sigaction *before)
{
    (void)number, (void)action;
    if (before != NULL)
        *before = (struct gsai_wasi_sigaction){0};
    return 0;
}
#define sigemptyset(set) ((void)(set), 0)
#define sigfillset(set) ((void)(set), 0)
#define sigdelset(set, number) ((void)(set), 0)
#define pthread_sigmask(how, set, before) ((void)(set), (void)(before), 0)
#ifndef SA_RESTART
#define SA_RESTART 0
#endif
#endif
