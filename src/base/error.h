/* Filling a gsa_error. */
#ifndef GSA_BASE_ERROR_H
#define GSA_BASE_ERROR_H

#include <greedystep/greedystep.h>

#include <stdarg.h>

#define GSAI_PRINTF(format_at, first_at) __attribute__((format(printf, format_at, first_at)))

/* Returns the status of a call that failed from the function that makes it: this macro and GSAI_TRY_MEMORY
 * (memory.h) are the only ones that hide a return. Where something has to be given back first, use a label at the end
 * instead. */
#define GSA_TRY(call)                   \
    do {                                \
        gsa_status gsai_tried = (call); \
        if (gsai_tried != GSA_OK)       \
            return gsai_tried;          \
    } while (0)

/* Writes the message (cut to fit, never inside a UTF-8 character) and returns status, so that a failure is one line:
 * `return gsai_fail(error, GSA_IO, ...)`. Row and line are set to "unknown". error may be NULL. */
gsa_status gsai_fail(gsa_error *error, gsa_status status, const char *format, ...) GSAI_PRINTF(3, 4);
/* Does the same for a row of the batch that was passed. */
gsa_status gsai_fail_row(gsa_error *error, gsa_status status, uint64_t row, const char *format, ...) GSAI_PRINTF(4, 5);
/* Does the same for a line of text and a byte in it. */
gsa_status gsai_fail_line(gsa_error *error, gsa_status status, uint64_t line, uint64_t byte, const char *format, ...)
    GSAI_PRINTF(5, 6);
/* Fails with "cannot WHAT PATH: " and the system's text for an errno, as GSA_IO; a better one where a file cannot be
 * written since its directory is not there. */
gsa_status gsai_fail_errno(gsa_error *error, const char *what, const char *path, int number);
/* Fails with a message about a parameter or reader option. Messages name no option of a front end: each adds its own
 * way to set the parameter. */
gsa_status gsai_fail_param(gsa_error *error, const char *param, gsa_status status, const char *format, ...)
    GSAI_PRINTF(4, 5);
/* Names the parameter that a failure of one of the others concerns, and returns its status. */
gsa_status gsai_fail_about(gsa_error *error, const char *param, gsa_status status);
/* Copies a struct of the caller's, which begins with its size, into one of this version; members that it lacks are 0.
 * NULL: all are. GSA_ARGUMENT if its size was not set. */
#define gsai_take(to, from, error) gsai_take_sized((to), sizeof *(to), (from), #from, (error))
gsa_status gsai_take_sized(void *to, size_t to_size, const void *from, const char *name, gsa_error *error);
/* Fills in a struct of the caller's, which begins with its size, from one of this version; members that this lacks are
 * 0. GSA_ARGUMENT if the size is that of no struct. */
gsa_status gsai_give_sized(void *to, const void *from, size_t from_size);
/* Puts a text in front of the message that error already has. */
void gsai_error_prefix(gsa_error *error, const char *format, ...) GSAI_PRINTF(2, 3);

#endif
