/* greedystep: the command. Finds the verb and runs it. */
#include "cluster.h"
#include "help.h"
#include "message.h"
#include "options.h"
#include "output.h"
#include "report.h"
#include "style.h"
#include "suggest.h"
#include "verbs.h"

#include <signal.h>
#include <string.h>

static int complain_unknown_verb(const char *typed)
{
    bool is_option = typed[0] == '-' && typed[1] != '\0';
    suggestion near = suggest_begin(typed);
    for (const cli_verb *const *each = verbs; *each != NULL; each++)
        suggest_consider(&near, (*each)->name);
    static const char *const others[] = {"help", "--help", "--version"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        suggest_consider(&near, others[i]);
    const char *what = is_option ? "option" : "command";
    if (near.best != NULL)
        return complain_usage("unknown %s %s; did you mean %s?", what, typed, near.best);
    return complain_usage("unknown %s %s; `greedystep --help` lists the commands", what, typed);
}

static int run_help(const char *about)
{
    const cli_verb *verb = about != NULL ? verb_find(about) : NULL;
    bool is_data = about != NULL && strcmp(about, "data") == 0;
    if (about != NULL && verb == NULL && !is_data)
        return complain_unknown_verb(about);
    if (is_data)
        help_write_data(HELP_TEXT);
    else if (verb != NULL)
        help_write_verb(HELP_TEXT, verb);
    else
        help_write_overview(stdout, false);
    return EXIT_DONE;
}

static int run_verb(const cli_verb *verb, int argc, char **argv)
{
    cli_arguments arguments;
    int code = arguments_parse(verb, argc, argv, &arguments);
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

static int run_command(int argc, char **argv)
{
    const char *first = argv[1];
    const cli_verb *verb = verb_find(first);
    if (verb != NULL)
        return run_verb(verb, argc, argv);
    if (strcmp(first, "-h") == 0 && argc == 2) {
        help_write_overview(stdout, true);
        return EXIT_DONE;
    }
    if (strcmp(first, "help") == 0 || strcmp(first, "--help") == 0 || strcmp(first, "-h") == 0)
        return run_help(argc > 2 ? argv[2] : NULL);
    if (strcmp(first, "-V") == 0 || strcmp(first, "--version") == 0) {
        help_write_version();
        return EXIT_DONE;
    }
    return complain_unknown_verb(first);
}

int main(int argc, char **argv)
{
    /* A reader of our output that goes away is a write that fails, and is reported as one. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* and so is a file that becomes larger than the user's limit */
    output_prepare_streams();
    report_prepare_json();
    if (argc < 2) {
        help_write_overview(stderr, true);
        return EXIT_USAGE;
    }
    return output_finish_stdout(run_command(argc, argv));
}
