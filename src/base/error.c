/* Filling a gsa_error, and the texts of statuses. */
#include "base/error.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

const char *gsa_version(void)
{
    return GSA_VERSION;
}

const char *gsa_status_text(gsa_status status)
{
    switch (status) {
#define GSA_STATUS_ENTRY(name, value, text) \
    case GSA_##name:                        \
        return text;
        GSA_STATUS_LIST(GSA_STATUS_ENTRY)
#undef GSA_STATUS_ENTRY
    }
    return "unknown status";
}

/* Mends a message: one that was cut may end inside a UTF-8 character, whose beginning is dropped; control characters,
 * which quoted text may contain, are replaced: one line stays one, and no byte steers a terminal. */
static void clean(gsa_error *error)
{
    char *message = error->message;
    size_t len = strlen(message);
    if (len + 1 == sizeof error->message) {
        while (len > 0 && ((unsigned char)message[len - 1] & 0xC0u) == 0x80u)
            len--;
        if (len > 0 && ((unsigned char)message[len - 1] & 0x80u))
            len--;
        message[len] = '\0';
    }
    for (char *c = message; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7F)
            *c = '?';
}

static void fill(gsa_error *error, gsa_status status, const char *format, va_list args)
{
    if (!error)
        return;
    error->status = status;
    error->line = error->byte = 0;
    error->row = GSA_NO_ROW;
    error->param[0] = '\0';
    vsnprintf(error->message, sizeof error->message, format, args);
    clean(error);
}

gsa_status gsai_fail(gsa_error *error, gsa_status status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fill(error, status, format, args);
    va_end(args);
    return status;
}

gsa_status gsai_fail_row(gsa_error *error, gsa_status status, uint64_t row, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fill(error, status, format, args);
    va_end(args);
    if (error)
        error->row = row;
    return status;
}

gsa_status gsai_fail_line(gsa_error *error, gsa_status status, uint64_t line, uint64_t byte, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fill(error, status, format, args);
    va_end(args);
    if (error) {
        error->line = line;
        error->byte = byte;
    }
    return status;
}

/* strerror_r in its POSIX form. */
gsa_status gsai_fail_errno(gsa_error *error, const char *what, const char *path, int number)
{
    char reason[128];
    if (number == ENOENT && strcmp(what, "write") == 0)
        return gsai_fail(error, GSA_IO, "cannot write %s: its directory does not exist; make it first", path);
    if (strerror_r(number, reason, sizeof reason) != 0)
        snprintf(reason, sizeof reason, "error %d", number);
    return gsai_fail(error, GSA_IO, "cannot %s %s: %s", what, path, reason);
}

gsa_status gsai_fail_about(gsa_error *error, const char *param, gsa_status status)
{
    if (error && status != GSA_OK)
        snprintf(error->param, sizeof error->param, "%s", param);
    return status;
}

gsa_status gsai_fail_param(gsa_error *error, const char *param, gsa_status status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fill(error, status, format, args);
    va_end(args);
    return gsai_fail_about(error, param, status);
}

gsa_status gsai_take_sized(void *to, size_t to_size, const void *from, const char *name, gsa_error *error)
{
    size_t size = to_size;
    if (from)
        memcpy(&size, from, sizeof size);
    if (size < sizeof size)
        return gsai_fail(error, GSA_ARGUMENT, "the size of %s is %zu: set it to that of its struct", name, size);
    memset(to, 0, to_size);
    if (from)
        memcpy(to, from, size < to_size ? size : to_size);
    memcpy(to, &to_size, sizeof to_size);
    return GSA_OK;
}

gsa_status gsai_give_sized(void *to, const void *from, size_t from_size)
{
    size_t size;
    memcpy(&size, to, sizeof size);
    if (size < sizeof size)
        return GSA_ARGUMENT;
    size_t common = size < from_size ? size : from_size;
    memcpy((char *)to + sizeof size, (const char *)from + sizeof size, common - sizeof size);
    memset((char *)to + common, 0, size - common);
    return GSA_OK;
}

void gsai_error_prefix(gsa_error *error, const char *format, ...)
{
    char message[sizeof error->message];
    if (!error)
        return;
    va_list args;
    va_start(args, format);
    int len = vsnprintf(message, sizeof message, format, args);
    va_end(args);
    if (len < 0 || (size_t)len >= sizeof message)
        return;
    snprintf(message + len, sizeof message - (size_t)len, "%s", error->message);
    memcpy(error->message, message, sizeof message);
    clean(error);
}
