/* SIGINT and SIGTERM. A variable that outlives a call, like those of message.c: a handler can reach nothing else. */
#include "interrupt.h"

#include "message.h"

#include <signal.h>
#include <stdatomic.h>
#include <string.h>

static volatile atomic_int caught; /* threads ask for it too */

static void remember_signal(int signal_number)
{
    caught = signal_number;
}

void interrupt_catch(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = remember_signal;
    sigemptyset(&action.sa_mask);
    /* Without SA_RESTART a read that waits for a pipe returns, and the reader asks should_stop; with SA_RESETHAND the
     * second signal has its default effect. */
    action.sa_flags = (int)SA_RESETHAND;
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
