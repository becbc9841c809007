/* The frame of a program. */
#include "program.h"

#include "cluster.h"
#include "help.h"
#include "message.h"
#include "output.h"
#include "report.h"
#include "style.h"

#include <signal.h>
#include <unistd.h>

#ifdef SIGBUS
/* Says why the process ends: a mapped file became shorter while it was read, or its disk failed. */
static void report_lost_page(int signal_number)
{
    static const char text[] = "greedystep: an input file became shorter while it was read, or its disk failed\n";
    ssize_t n_written = write(STDERR_FILENO, text, sizeof text - 1);
    (void)n_written;
    signal(signal_number, SIG_DFL); /* which the same access meets next */
}
#endif

void program_begin(void)
{
#ifdef SIGBUS
    signal(SIGBUS, report_lost_page);
#endif
    /* A reader of our output that goes away is a write that fails, and is reported as one. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* and so is a file that becomes larger than the user's limit */
    output_prepare_streams();
    report_prepare_json();
}

int program_run(const cli_verb *verb, int argc, char **argv, int first)
{
    cli_arguments arguments;
    int code = arguments_parse(verb, argc, argv, first, &arguments);
    if (code == EXIT_DONE && arguments_flag(&arguments, "quiet"))
        message_quieten();
    /* A launcher may give its processes a terminal of their own, wherever its own output goes (Open MPI does). */
    if (cluster_was_launched())
        style_make_plain();
    if (code == EXIT_DONE && arguments.wants_help == SHORT_HELP)
        help_write_short(verb);
    else if (code == EXIT_DONE && arguments.wants_help == LONG_HELP)
        help_write_verb(HELP_TEXT, verb);
    else if (code == EXIT_DONE)
        code = verb->run(&arguments);
    arguments_free(&arguments);
    return code;
}
