/* What the command says on stderr. Who speaks is a matter of the whole process (cluster.h), and so are these variables.
 */
#include "message.h"

#include "interrupt.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

static bool is_silent;
static char last[MESSAGE_SIZE];

void message_silence(void)
{
    is_silent = true;
}

const char *message_last(void)
{
    return last;
}

static void print_message(const char *format, va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    vsnprintf(last, sizeof last, format, again);
    va_end(again);
    if (is_silent)
        return;
    fputs("greedystep: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
}

void complain(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print_message(format, arguments);
    va_end(arguments);
}

int complain_usage(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print_message(format, arguments);
    va_end(arguments);
    return EXIT_USAGE;
}

int complain_failed(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print_message(format, arguments);
    va_end(arguments);
    return EXIT_FAILED;
}

int complain_interrupted(void)
{
    complain("stopped; nothing was saved");
    return interrupt_exit_code();
}

int complain_error(gsa_status status, const gsa_error *error)
{
    if (status == GSA_STOPPED && interrupt_signal() != 0)
        return complain_interrupted();
    complain("%s", error->message[0] != '\0' ? error->message : gsa_status_text(status));
    return EXIT_FAILED;
}
