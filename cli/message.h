/* Messages on stderr, and the exit codes. stdout is for results only. */
#ifndef GREEDYSTEP_CLI_MESSAGE_H
#define GREEDYSTEP_CLI_MESSAGE_H

#include <greedystep/greedystep.h>

#include <stdbool.h>

#if defined(__GNUC__) || defined(__clang__)
#define CLI_PRINTF(format_at, first_at) __attribute__((format(printf, format_at, first_at)))
#else
#define CLI_PRINTF(format_at, first_at)
#endif

enum {
    EXIT_DONE = 0,
    EXIT_FAILED = 1,
    EXIT_USAGE = 2,
    EXIT_SIGNALLED = 128,                  /* plus the number of the signal */
    EXIT_BROKEN_PIPE = EXIT_SIGNALLED + 13 /* SIGPIPE, which ends other commands whose reader has ended */
};

/* Turns all messages off: another process prints for this one. */
void message_silence(void);
/* Returns the last message, printed or not, or "". Valid until the next. */
enum { MESSAGE_SIZE = 1024 };
const char *message_last(void);

/* Turns off messages other than errors: notes here, progress and summaries elsewhere (--quiet). */
void message_quieten(void);
bool message_is_quiet(void);

/* Prints `greedystep: ...` and a newline, unless --quiet is given. */
void note(const char *format, ...) CLI_PRINTF(1, 2);
/* Prints an error that does not end the run. */
void complain(const char *format, ...) CLI_PRINTF(1, 2);
/* Does the same for a wrong command line; returns EXIT_USAGE. */
int complain_usage(const char *format, ...) CLI_PRINTF(1, 2);
/* Does the same for a failure at run time; returns EXIT_FAILED. */
int complain_failed(const char *format, ...) CLI_PRINTF(1, 2);
/* Prints that a signal ended the work without a result; returns the exit code of the signal. */
int complain_interrupted(void);
/* Returns the message of a failed call of the library, else the text of its status. */
const char *message_of(gsa_status status, const gsa_error *error);
/* Prints it with a remedy; returns EXIT_FAILED, or the exit code of the signal that stopped it. A reader of standard
 * output that has ended is not told: EXIT_BROKEN_PIPE. */
int complain_error(gsa_status status, const gsa_error *error);

#endif
