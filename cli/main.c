/* greedystep: the command. Finds the verb and runs it. */
#include "help.h"
#include "message.h"
#include "options.h"
#include "output.h"
#include "program.h"
#include "siblings.h"
#include "typed.h"
#include "verbs.h"

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

static int run_help(const char *self, const char *about)
{
    const cli_verb *verb = about != NULL ? verb_find(about) : NULL;
    bool is_data = about != NULL && strcmp(about, "data") == 0;
    if (about != NULL && verb == NULL && !is_data)
        return complain_unknown_verb(about);
    if (is_data)
        help_write_data(HELP_TEXT);
    else if (verb != NULL && verb->run == NULL)
        return sibling_run(self, verb->name, (char *[]){"--help", NULL});
    else if (verb != NULL)
        help_write_verb(HELP_TEXT, verb);
    else
        help_write_overview(stdout, verbs, false);
    return EXIT_DONE;
}

static int run_command(int argc, char **argv)
{
    const char *first = argv[1];
    const cli_verb *verb = verb_find(first);
    if (verb != NULL && verb->run == NULL)
        return sibling_run(argv[0], verb->name, argv + 2);
    if (verb != NULL)
        return program_run(verb, argc, argv, 2);
    if (strcmp(first, "-h") == 0 && argc == 2) {
        help_write_overview(stdout, verbs, true);
        return EXIT_DONE;
    }
    if (strcmp(first, "help") == 0 || strcmp(first, "--help") == 0 || strcmp(first, "-h") == 0)
        return run_help(argv[0], argc > 2 ? argv[2] : NULL);
    if (strcmp(first, "-V") == 0 || strcmp(first, "--version") == 0) {
        help_write_version("greedystep");
        return EXIT_DONE;
    }
    return complain_unknown_verb(first);
}

int main(int argc, char **argv)
{
    program_begin();
    if (argc < 2) {
        help_write_overview(stderr, verbs, true);
        return EXIT_USAGE;
    }
    return output_finish_stdout(run_command(argc, argv));
}
