/* Completion for fish. */
#include "manual.h"

#include "compare.h"
#include "verbs.h"

#include <stdio.h>
#include <string.h>

static const char helpers[] =
    "# Completion for greedystep, written from its tables.\n"
    "\n"
    "function __greedystep_is\n"
    "    set -l words (commandline -opc)\n"
    "    test (count $words) -gt 1; and test $words[2] = $argv[1]\n"
    "end\n"
    "\n"
    "# What is typed of a value, also behind --name=\n"
    "function __greedystep_typed\n"
    "    string replace -r -- '^--[^=]*=' '' (commandline -ct)\n"
    "end\n"
    "\n"
    "function __greedystep_files\n"
    "    __fish_complete_path (__greedystep_typed) | string match -v -r '\\.state(\\t|$)'\n"
    "end\n"
    "\n"
    "function __greedystep_methods\n"
    "    set -l before (string match -r -- '.*,' (__greedystep_typed))\n"
    "    printf '%s\\t%s\\n' $__greedystep_methods | string replace -r -- '^' \"$before\"\n"
    "end\n"
    "\n"
    "complete -c greedystep -f\n"
    "complete -c greedystep -n 'test (count (commandline -opc)) -eq 1' -l help -s h -d 'what verbs there are'\n"
    "complete -c greedystep -n 'test (count (commandline -opc)) -eq 1' -l version -d 'version, and what this build "
    "has'\n"
    "complete -c greedystep -n 'test (count (commandline -opc)) -eq 1' -a help -d 'what a verb does'\n";

/* The first clause of a text in single quotes, where backslash and quote alone are special. */
static void put_quoted(const char *text)
{
    size_t length = manual_first_clause(text);
    putchar('\'');
    for (size_t i = 0; i < length; i++)
        printf(strchr("\\'", text[i]) != NULL ? "\\%c" : "%c", text[i]);
    putchar('\'');
}

static void put_description(const char *text)
{
    fputs(" -d ", stdout);
    put_quoted(text);
    putchar('\n');
}

static void put_methods(void)
{
    compare_method_help method;
    fputs("\nset -g __greedystep_methods", stdout);
    for (size_t i = 0; compare_method_describe(i, &method); i++) {
        printf(" \\\n    %.*s ", (int)manual_method_name(method.usage), method.usage);
        put_quoted(method.text);
    }
    putchar('\n');
}

static const char *const values[VALUE_KINDS] = {[VALUE_NONE] = "",
                                                [VALUE_ANY] = " -x",
                                                [VALUE_CHOICE] = " -x -a '",
                                                [VALUE_METHODS] = " -x -a '(__greedystep_methods)'",
                                                [VALUE_MODEL] = " -x -a '(__greedystep_files)'",
                                                [VALUE_FILE] = " -r -F",
                                                [VALUE_FOLDER] =
                                                    " -x -a '(__fish_complete_directories (__greedystep_typed))'"};

static void write_verb(const cli_verb *verb)
{
    cli_option options[MOST_OPTIONS];
    size_t first_parameter, n_options = options_of(verb, options, &first_parameter);
    putchar('\n');
    printf("complete -c greedystep -n 'test (count (commandline -opc)) -eq 1' -a %s", verb->name);
    put_description(verb->summary);
    printf("complete -c greedystep -n '__greedystep_is help' -a %s", verb->name);
    put_description(verb->summary);
    for (size_t i = 0; i < n_options; i++) {
        char name[OPTION_NAME_SIZE];
        printf("complete -c greedystep -n '__greedystep_is %s' -l %s", verb->name,
               option_display_name(options[i].name, name));
        if (options[i].letter != 0)
            printf(" -s %c", options[i].letter);
        manual_put_value(&options[i], values, "'");
        put_description(options[i].help);
    }
    printf("complete -c greedystep -n '__greedystep_is %s' -l help -s h -d 'what it does, and its options'\n",
           verb->name);
    if (verb->positional != NULL)
        printf("complete -c greedystep -n '__greedystep_is %s' -k -a '(__greedystep_files)'\n", verb->name);
}

void manual_write_fish(void)
{
    fputs(helpers, stdout);
    put_methods();
    for (const cli_verb *const *each = verbs; *each != NULL; each++)
        write_verb(*each);
}
