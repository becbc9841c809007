/* What the command says on stderr. */
#include "message.h"

#include "interrupt.h"

#include <stdarg.h>
#include <stdio.h>

static void print_message(const char *format, va_list arguments)
{
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
