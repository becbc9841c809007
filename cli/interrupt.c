/* SIGINT, SIGTERM and SIGHUP. Variables that outlive a call, like those of message.c: a handler can reach nothing else.
 */
#include "interrupt.h"

#include "message.h"

#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

/* timeout(1) and schedulers signal a process and its group, at once: that is one wish, not two. */
enum { SAME_REQUEST_SECONDS = 1 };

static volatile atomic_int caught; /* threads ask for it too */
static atomic_llong caught_at;

static long long now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time); /* one of the calls that a handler may make */
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static void remember_signal(int signal_number)
{
    if (caught == 0) {
        caught_at = now();
        caught = signal_number;
    } else if (signal_number == caught && now() - caught_at >= SAME_REQUEST_SECONDS * 1000000000LL) {
        signal(signal_number, SIG_DFL);
        raise(signal_number);
    }
}

void interrupt_catch(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = remember_signal;
    sigemptyset(&action.sa_mask);
    /* No SA_RESTART: a read that waits for a pipe returns, and the reader asks should_stop. */
#ifdef SIGHUP /* the terminal or connection is gone; nohup(1) ignores it, and so do we then */
    struct sigaction before;
    if (sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        sigaction(SIGHUP, &action, NULL);
#endif
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

int interrupt_signal(void)
{
    return (int)caught;
}

int interrupt_exit_code(void)
{
    return EXIT_SIGNALLED + (int)caught;
}

int interrupt_should_stop(void *ctx)
{
    (void)ctx;
    return caught != 0;
}
