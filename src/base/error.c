/* Filling a gsa_error, and the texts of statuses. */
#include "base/error.h"

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

/* A message that was cut may end inside a UTF-8 character: drop its beginning. */
static void drop_partial_character(char *message, size_t size)
{
    size_t len = strlen(message);
    if (len + 1 < size)
        return;
    while (len > 0 && ((unsigned char)message[len - 1] & 0xC0u) == 0x80u)
        len--;
    if (len > 0 && ((unsigned char)message[len - 1] & 0x80u))
        len--;
    message[len] = '\0';
}

/* Replaces control characters, which quoted text may contain: one line stays one, and no byte steers a terminal. */
static void drop_controls(char *message)
{
    for (char *c = message; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7F)
            *c = '?';
}

static void fill(gsa_error *error, gsa_status status, const char *format, va_list args)
{
    error->status = status;
    error->line = 0;
    error->byte = 0;
    error->row = GSA_NO_ROW;
    error->param[0] = '\0';
    vsnprintf(error->message, sizeof error->message, format, args);
    drop_partial_character(error->message, sizeof error->message);
    drop_controls(error->message);
}

gsa_status gsai_fail(gsa_error *error, gsa_status status, const char *format, ...)
{
    if (error) {
        va_list args;
        va_start(args, format);
        fill(error, status, format, args);
        va_end(args);
    }
    return status;
}

gsa_status gsai_fail_row(gsa_error *error, gsa_status status, uint64_t row, const char *format, ...)
{
    if (error) {
        va_list args;
        va_start(args, format);
        fill(error, status, format, args);
        va_end(args);
        error->row = row;
    }
    return status;
}

gsa_status gsai_fail_line(gsa_error *error, gsa_status status, uint64_t line, uint64_t byte, const char *format, ...)
{
    if (error) {
        va_list args;
        va_start(args, format);
        fill(error, status, format, args);
        va_end(args);
        error->line = line;
        error->byte = byte;
    }
    return status;
}

gsa_status gsai_fail_about(gsa_error *error, const char *param, gsa_status status)
{
    if (error && status != GSA_OK)
        snprintf(error->param, sizeof error->param, "%s", param);
    return status;
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
    size_t room = sizeof message - (size_t)len;
    size_t tail = strlen(error->message);
    if (tail >= room)
        tail = room - 1;
    memcpy(message + len, error->message, tail);
    message[(size_t)len + tail] = '\0';
    memcpy(error->message, message, sizeof message);
    drop_partial_character(error->message, sizeof error->message);
    drop_controls(error->message);
}

/* strerror_r in its POSIX form. */
const char *gsai_reason(int number, char buffer[GSAI_REASON_SIZE])
{
    if (strerror_r(number, buffer, GSAI_REASON_SIZE) != 0)
        snprintf(buffer, GSAI_REASON_SIZE, "error %d", number);
    return buffer;
}
