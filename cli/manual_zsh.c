/* Completion for zsh. */
#include "manual.h"

#include "compare.h"
#include "verbs.h"

#include <stdio.h>
#include <string.h>

static const char head[] = "#compdef greedystep\n"
                           "# Completion for greedystep, written from its tables.\n"
                           "\n"
                           "_greedystep_files() {\n"
                           "    _files -g '^*.state'\n"
                           "}\n"
                           "\n";

static const char tail[] = "_greedystep() {\n"
                           "    local curcontext=$curcontext state line\n"
                           "    _arguments -C \\\n"
                           "        '(- : *)'{-h,--help}'[what verbs there are]' \\\n"
                           "        '(- : *)--version[version, and what this build has]' \\\n"
                           "        '1:verb:_greedystep_verbs' '*::argument:->argument' && return\n"
                           "    [[ $state == argument ]] || return\n"
                           "    curcontext=${curcontext%:*}-$line[1]:\n"
                           "    if [[ $line[1] == help ]]; then\n"
                           "        _arguments '1:verb:_greedystep_verbs'\n"
                           "    elif (($+functions[_greedystep_of_$line[1]])); then\n"
                           "        _greedystep_of_$line[1]\n"
                           "    fi\n"
                           "}\n"
                           "\n"
                           "_greedystep \"$@\"\n";

/* The first clause of a text within single quotes, with a backslash before what is special to the completion. */
static void put_clause(const char *text, const char *special)
{
    size_t length = manual_first_clause(text);
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '\'')
            fputs("'\\''", stdout);
        else
            printf(strchr(special, text[i]) != NULL ? "\\%c" : "%c", text[i]);
    }
}

/* A line of an array for _describe: `name:what it is`. */
static void put_described(const char *name, size_t length, const char *text)
{
    printf("        '%.*s:", (int)length, name);
    put_clause(text, "\\");
    puts("'");
}

static void put_methods(void)
{
    compare_method_help method;
    puts("_greedystep_methods() {\n    local -a methods=(");
    for (size_t i = 0; compare_method_describe(i, &method); i++)
        put_described(method.usage, manual_method_name(method.usage), method.text);
    puts("    )\n    compset -P '*,'\n    _describe -t methods method methods -S ''\n}\n");
}

static void put_verbs(void)
{
    puts("_greedystep_verbs() {\n    local -a verbs=(");
    for (const cli_verb *const *each = verbs; *each != NULL; each++)
        put_described((*each)->name, strlen((*each)->name), (*each)->summary);
    puts("        'help:what a verb does, and its options'\n    )\n    _describe -t verbs verb verbs\n}\n");
}

static const char *const values[VALUE_KINDS] = {[VALUE_NONE] = "",
                                                [VALUE_ANY] = " ",
                                                [VALUE_CHOICE] = ":choice:(",
                                                [VALUE_METHODS] = "_greedystep_methods",
                                                [VALUE_MODEL] = "_greedystep_files",
                                                [VALUE_FILE] = "_files",
                                                [VALUE_FOLDER] = "_directories"};

static void put_option(const cli_option *option)
{
    char name[OPTION_NAME_SIZE];
    option_display_name(option->name, name);
    for (int is_long = option->letter == 0; is_long < 2; is_long++) {
        fputs("        '", stdout);
        if (option->letter != 0)
            printf("(-%c --%s)", option->letter, name);
        if (is_long)
            printf("--%s%s[", name, option->kind != OPTION_FLAG ? "=" : "");
        else
            printf("-%c+[", option->letter);
        put_clause(option->help, "\\[]:");
        putchar(']');
        if (manual_value(option) != VALUE_NONE && manual_value(option) != VALUE_CHOICE)
            printf(":%s:", option->takes);
        manual_put_value(option, values, ")");
        puts("' \\");
    }
}

static void put_verb(const cli_verb *verb)
{
    cli_option options[MOST_OPTIONS];
    size_t first_parameter, n_options = options_of(verb, options, &first_parameter);
    printf("_greedystep_of_%s() {\n    _arguments \\\n", verb->name);
    for (size_t i = 0; i < n_options; i++)
        put_option(&options[i]);
    fputs("        '(- : *)'{-h,--help}'[what it does, and its options]'", stdout);
    if (verb->positional != NULL)
        printf(" \\\n        '*:%s:_greedystep_files'", verb->positional);
    puts("\n}\n");
}

void manual_write_zsh(void)
{
    fputs(head, stdout);
    put_methods();
    put_verbs();
    for (const cli_verb *const *each = verbs; *each != NULL; each++)
        put_verb(*each);
    fputs(tail, stdout);
}
