/* Messages on stderr. Whether they are printed is a setting of the whole process (cluster.h), and so are these
 * variables. */
#include "message.h"

#include "interrupt.h"
#include "printable.h"
#include "style.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static bool is_silent, is_quiet;
static char last[MESSAGE_SIZE];

void message_silence(void)
{
    is_silent = true;
}

void message_quieten(void)
{
    is_quiet = true;
}

bool message_is_quiet(void)
{
    return is_quiet;
}

const char *message_last(void)
{
    return last;
}

/* Long enough for two paths. In one piece, so that messages of several processes do not mix. */
enum { TEXT_SIZE = 10000, LINE_SIZE = TEXT_SIZE + 40 };

static void print_message(style_role role, const char *format, va_list arguments)
{
    char text[TEXT_SIZE], line[LINE_SIZE];
    vsnprintf(text, sizeof text, format, arguments);
    printable_clean(text);
    snprintf(last, sizeof last, "%.*s", (int)sizeof last - 1, text);
    if (is_silent)
        return;
    if (role == STYLE_NONE && strncmp(text, "note:", 5) == 0)
        role = STYLE_NOTE;
    snprintf(line, sizeof line, "%sgreedystep:%s %s\n", style_begin(stderr, role), style_end(stderr, role), text);
    fputs(line, stderr);
}

void note(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (!is_quiet)
        print_message(STYLE_NONE, format, arguments);
    va_end(arguments);
}

void complain(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print_message(STYLE_ERROR, format, arguments);
    va_end(arguments);
}

int complain_usage(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print_message(STYLE_ERROR, format, arguments);
    va_end(arguments);
    return EXIT_USAGE;
}

int complain_failed(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print_message(STYLE_ERROR, format, arguments);
    va_end(arguments);
    return EXIT_FAILED;
}

int complain_interrupted(void)
{
    complain("stopped; nothing was saved");
    return interrupt_exit_code();
}

/* Returns the remedy for a message without one: the library does not know its caller. */
static const char *remedy(gsa_status status, const gsa_error *error)
{
    /* Marks of a message that says what to do, or asks what to look at; behind the last quote, because quoted text may
     * contain any. */
    static const char *const marks[] = {";", "?", "raise", "anew"};
    const char *message = error->message, *quoted = strrchr(message, '\'');
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (strstr(quoted != NULL ? quoted : message, marks[i]) != NULL)
            return "";
    switch (status) {
    case GSA_MEMORY:
        return "; free some memory and try again";
    case GSA_LIMIT:
        return strcmp(error->param, "memory_limit") == 0 ? "; raise the limit" : "";
    case GSA_FORMAT:
        return strstr(message, "greedystep") != NULL ? "; give one that `greedystep train` wrote"
                                                     : "; get another copy, or create it again";
    case GSA_IO:
        if (strncmp(message, "cannot write", 12) != 0)
            return "";
        return strstr(message, strerror(EPIPE)) != NULL ? "; its reader has ended"
                                                        : "; free some space, or write elsewhere";
    case GSA_INPUT:
        return error->line > 0 ? "; correct the row, or skip bad rows with --bad-rows skip" : "; give a file with rows";
    default:
        return "";
    }
}

/* Fills in how the command sets what a failure concerns, " (--name)", or "". */
enum { OPTION_SIZE = sizeof((gsa_error *)NULL)->param + 6 };
static const char *option_of(const gsa_error *error, char out[OPTION_SIZE])
{
    bool is_switch = strcmp(error->param, "skip_bad_rows") == 0;
    bool needs_gsa = error->status == GSA_LIMIT && strcmp(error->param, "method") == 0;
    out[0] = '\0';
    if (error->param[0] != '\0')
        snprintf(out, OPTION_SIZE, " (--%s)", is_switch ? "bad-rows skip" : needs_gsa ? "method gsa" : error->param);
    for (char *c = out; *c != '\0'; c++)
        *c = *c == '_' ? '-' : *c;
    return out;
}

const char *message_of(gsa_status status, const gsa_error *error)
{
    return error->message[0] != '\0' ? error->message : gsa_status_text(status);
}

int complain_error(gsa_status status, const gsa_error *error)
{
    if (status == GSA_STOPPED && interrupt_signal() != 0)
        return complain_interrupted();
    if (status == GSA_IO && strncmp(error->message, "cannot write standard output", 28) == 0 &&
        strstr(error->message, strerror(EPIPE)) != NULL)
        return EXIT_BROKEN_PIPE;
    char option[OPTION_SIZE];
    return complain_failed("%s%s%s", message_of(status, error), remedy(status, error), option_of(error, option));
}
