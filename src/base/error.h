/* Filling a gsa_error. */
#ifndef GSA_BASE_ERROR_H
#define GSA_BASE_ERROR_H

#include <greedystep/greedystep.h>

#include <stdarg.h>

#if defined(__GNUC__) || defined(__clang__)
#define GSA__PRINTF(format_at, first_at) __attribute__((format(printf, format_at, first_at)))
#else
#define GSA__PRINTF(format_at, first_at)
#endif

/* Writes the message (cut to fit, never inside a UTF-8 character) and returns status, so that a failure is one line:
 * `return gsa__fail(error, GSA_IO, ...)`. Row and line are set to "unknown". error may be NULL. */
gsa_status gsa__fail(gsa_error *error, gsa_status status, const char *format, ...) GSA__PRINTF(3, 4);
/* The same for a row of the batch that was handed in. */
gsa_status gsa__fail_row(gsa_error *error, gsa_status status, uint64_t row, const char *format, ...) GSA__PRINTF(4, 5);
/* The same for a line of text and a byte in it. */
gsa_status gsa__fail_line(gsa_error *error, gsa_status status, uint64_t line, uint64_t byte, const char *format, ...)
    GSA__PRINTF(5, 6);
/* Puts a text in front of the message that error already has. */
void gsa__error_prefix(gsa_error *error, const char *format, ...) GSA__PRINTF(2, 3);

#define GSA__REASON_SIZE 128
/* What the system calls an errno. Returns buffer. */
const char *gsa__reason(int number, char buffer[GSA__REASON_SIZE]);

#endif
