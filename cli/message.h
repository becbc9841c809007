/* What the command says on stderr, and the exit codes. stdout is for results only. */
#ifndef GREEDYSTEP_CLI_MESSAGE_H
#define GREEDYSTEP_CLI_MESSAGE_H

#include <greedystep/greedystep.h>

#if defined(__GNUC__) || defined(__clang__)
#define CLI_PRINTF(format_at, first_at) __attribute__((format(printf, format_at, first_at)))
#else
#define CLI_PRINTF(format_at, first_at)
#endif

enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_SIGNALLED = 128 /* plus the number of the signal */ };

/* From here on nothing is said: another process speaks for this one. */
void message_silence(void);
/* What was said, or would have been, last; "" if nothing was. Valid until the next. */
enum { MESSAGE_SIZE = 1024 };
const char *message_last(void);

/* `greedystep: ...` and a newline; what begins with "note:" is something to know and no failure. */
void complain(const char *format, ...) CLI_PRINTF(1, 2);
/* The same for a call that cannot be right; gives EXIT_USAGE. */
int complain_usage(const char *format, ...) CLI_PRINTF(1, 2);
/* The same for a failure at run time; gives EXIT_FAILED. */
int complain_failed(const char *format, ...) CLI_PRINTF(1, 2);
/* Work that a signal has ended without a result; gives the exit code of the signal. */
int complain_interrupted(void);
/* What a call of the library that failed has to say, at least what its status is. */
const char *message_of(gsa_status status, const gsa_error *error);
/* The same as a message; gives EXIT_FAILED, or the exit code of the signal that stopped it.
 */
int complain_error(gsa_status status, const gsa_error *error);

#endif
