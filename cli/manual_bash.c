/* Completion for bash, which has no room for descriptions. */
#include "manual.h"

#include "compare.h"
#include "verbs.h"

#include <stdio.h>

static const char helpers[] =
    "# Completion for greedystep, written from its tables.\n"
    "\n"
    "# words WHAT TYPED: the words of a list that begin as typed.\n"
    "_greedystep_words() {\n"
    "    mapfile -t COMPREPLY < <(compgen -W \"$1\" -- \"$2\")\n"
    "}\n"
    "\n"
    "# files TYPED: what a verb reads.\n"
    "_greedystep_files() {\n"
    "    compopt -o filenames\n"
    "    mapfile -t COMPREPLY < <(compgen -f -X '*.state' -- \"$1\")\n"
    "    ((${#COMPREPLY[@]} > 0)) || compopt -o default\n"
    "}\n"
    "\n"
    "# methods TYPED: the last of a list with commas.\n"
    "_greedystep_methods() {\n"
    "    local before=\n"
    "    [[ $1 != *,* ]] || before=${1%,*},\n"
    "    compopt -o nospace\n"
    "    mapfile -t COMPREPLY < <(compgen -P \"$before\" -W \"$_greedystep_all_methods\" -- \"${1##*,}\")\n"
    "}\n";

static const char body[] = "    local typed=${COMP_WORDS[COMP_CWORD]} verb=${COMP_WORDS[1]} at=$COMP_CWORD option\n"
                           "    COMPREPLY=()\n"
                           "    if ((COMP_CWORD == 1)); then\n"
                           "        _greedystep_words \"$_greedystep_all_verbs help --help --version\" \"$typed\"\n"
                           "        return\n"
                           "    fi\n"
                           "    # --name=a:b comes in pieces, cut at = and :\n"
                           "    while ((at > 2)) && [[ ${COMP_WORDS[at]} == : || ${COMP_WORDS[at - 1]} == : ]]; do\n"
                           "        ((at--))\n"
                           "    done\n"
                           "    option=${COMP_WORDS[at - 1]}\n"
                           "    [[ $option != = ]] || option=${COMP_WORDS[at - 2]}\n"
                           "    [[ $typed != [:=] ]] || typed=\n";

static void put_verbs(void)
{
    for (const cli_verb *const *each = verbs; *each != NULL; each++)
        printf("%s%s", each == verbs ? "" : " ", (*each)->name);
}

static void put_methods(void)
{
    compare_method_help method;
    for (size_t i = 0; compare_method_describe(i, &method); i++)
        printf("%s%.*s", i == 0 ? "" : " ", (int)manual_method_name(method.usage), method.usage);
}

static const char *const values[VALUE_KINDS] = {[VALUE_NONE] = "",
                                                [VALUE_ANY] = "",
                                                [VALUE_CHOICE] = " _greedystep_words '",
                                                [VALUE_METHODS] = " _greedystep_methods \"$typed\"",
                                                [VALUE_MODEL] = " _greedystep_files \"$typed\"",
                                                [VALUE_FILE] = " compopt -o default",
                                                [VALUE_FOLDER] = " compopt -o dirnames"};

/* Cases for the options with a value: one each, and one for all that have nothing to propose. */
static void put_options(const cli_option *options, size_t n_options)
{
    char name[OPTION_NAME_SIZE];
    bool has_any = false;
    for (size_t i = 0; i < n_options; i++) {
        if (manual_value(&options[i]) == VALUE_NONE || manual_value(&options[i]) == VALUE_ANY)
            continue;
        fputs("        ", stdout);
        if (options[i].letter != 0)
            printf("-%c | ", options[i].letter);
        printf("--%s)", option_display_name(options[i].name, name));
        manual_put_value(&options[i], values, "' \"$typed\"");
        puts(" ;;");
    }
    for (size_t i = 0; i < n_options; i++) {
        if (manual_value(&options[i]) != VALUE_ANY)
            continue;
        printf("%s--%s", has_any ? " | " : "        ", option_display_name(options[i].name, name));
        has_any = true;
    }
    if (has_any)
        puts(") ;;");
}

static void put_verb(const cli_verb *verb)
{
    cli_option options[MOST_OPTIONS];
    size_t first_parameter, n_options = options_of(verb, options, &first_parameter);
    char name[OPTION_NAME_SIZE];
    printf("    %s)\n        case $option in\n", verb->name);
    put_options(options, n_options);
    fputs("        *)\n            local options='", stdout);
    for (size_t i = 0; i < n_options; i++)
        printf("--%s ", option_display_name(options[i].name, name));
    puts("--help'");
    if (verb->positional != NULL)
        puts("            if [[ $typed != -* ]]; then\n"
             "                _greedystep_files \"$typed\"\n"
             "            else\n"
             "                _greedystep_words \"$options\" \"$typed\"\n"
             "            fi\n"
             "            ;;");
    else
        puts("            _greedystep_words \"$options\" \"$typed\"\n            ;;");
    puts("        esac\n        ;;");
}

void manual_write_bash(void)
{
    fputs(helpers, stdout);
    fputs("\n_greedystep() {\n    local _greedystep_all_verbs='", stdout);
    put_verbs();
    fputs("'\n    local _greedystep_all_methods='", stdout);
    put_methods();
    puts("'");
    fputs(body, stdout);
    puts("    case $verb in\n    help) _greedystep_words \"$_greedystep_all_verbs\" \"$typed\" ;;");
    for (const cli_verb *const *each = verbs; *each != NULL; each++)
        put_verb(*each);
    puts("    esac\n}\n\ncomplete -F _greedystep greedystep");
}
