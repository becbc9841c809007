/* Pages for man(1), as source of scdoc(5). */
#include "manual.h"

#include "compare.h"
#include "help.h"
#include "verbs.h"

#include <greedystep/greedystep.h>

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* Plain text; what is between backticks becomes bold. */
static void put_text(const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '`')
            putchar('*');
        else if (strchr("\\*_", *text) != NULL)
            printf("\\%c", *text);
        else
            putchar(*text);
    }
}

/* Behind the line of what it explains. */
static void put_explanation(const char *text)
{
    fputs("\n\t", stdout);
    put_text(text);
    puts("\n");
}

static const char capitals[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

/* A name is underlined; what has other letters too is to be typed, more or less. */
static void put_takes(const char *takes)
{
    if (takes[strspn(takes, capitals)] == '\0')
        printf("_%s_", takes);
    else
        put_text(takes);
}

/* Options bold, what they take underlined: by their letters, since nothing else in a usage has these. */
static void put_usage(const char *usage)
{
    while (*usage != '\0') {
        size_t names = strspn(usage, capitals), option = strspn(usage, "-");
        if (names > 0)
            printf("_%.*s_", (int)names, usage);
        else if (option > 0 && islower((unsigned char)usage[option])) {
            names = option + strcspn(usage + option, " =]|,");
            printf("*%.*s*", (int)names, usage);
        } else {
            names = 1;
            putchar(*usage);
        }
        usage += names;
    }
}

static void put_option(const cli_option *option)
{
    char name[OPTION_NAME_SIZE];
    if (option->letter != 0)
        printf("*-%c*, ", option->letter);
    printf("*--%s*", option_display_name(option->name, name));
    if (option->kind != OPTION_FLAG) {
        putchar(' ');
        put_takes(option->takes);
    }
    if (option->required)
        fputs(" (required)", stdout);
    else if (option->initial != NULL)
        printf(" (default: %s)", option->initial);
    put_explanation(option->help);
}

static void put_methods(void)
{
    compare_method_help method;
    puts("# METHODS\n");
    for (size_t i = 0; compare_method_describe(i, &method); i++) {
        size_t name = manual_method_name(method.usage);
        printf("*%.*s*%s%s", (int)name, method.usage, method.usage + name,
               method.needs_rows ? " (not for a stream)" : "");
        put_explanation(method.text);
    }
}

static void put_title(const char *title)
{
    fputs("# ", stdout);
    for (; *title != '\0'; title++)
        putchar(toupper((unsigned char)*title));
    puts("\n");
}

static void put_examples(const char *lines)
{
    puts("# EXAMPLES\n\n```");
    for (; *lines != '\0'; lines++)
        printf(*lines == '\\' ? "\\%c" : "%c", *lines);
    puts("\n```\n");
}

static void put_head(const char *dash, const char *name, const char *summary)
{
    printf("greedystep%s%s(1) \"greedystep %s\" \"greedystep manual\"\n\n", dash, name, gsa_version());
    printf("# NAME\n\ngreedystep%s%s - %s\n\n# SYNOPSIS\n\n", dash, name, summary);
}

static void write_verb(const cli_verb *verb)
{
    cli_option options[MOST_OPTIONS];
    size_t first_parameter, n_options = options_of(verb, options, &first_parameter);
    put_head("-", verb->name, verb->summary);
    printf("*greedystep %s* ", verb->name);
    put_usage(verb->usage);
    puts("\n\n# DESCRIPTION\n");
    put_text(verb->details);
    putchar('\n');
    for (size_t i = 0; i < n_options; i++) {
        const char *heading = options_heading(verb, i);
        if (heading != NULL) {
            putchar('\n');
            put_title(heading);
        }
        put_option(&options[i]);
    }
    if (verb == &compare_verb)
        put_methods();
    put_examples(verb->examples);
    puts("# SEE ALSO\n\n*greedystep*(1): all verbs, the environment and exit codes.");
}

static void write_command(void)
{
    put_head("", "", "linear models with nothing to tune, by greedy step averaging");
    puts("*greedystep* _VERB_ ...++\n*greedystep help* [_VERB_]++\n*greedystep --version*\n\n# VERBS\n\n"
         "Each has a page of its own, which *greedystep help* _VERB_ prints as well.\n");
    for (const cli_verb *const *each = verbs; *each != NULL; each++)
        printf("*greedystep-%s*(1)\n\t%s\n\n", (*each)->name, (*each)->summary);
    for (const manual_section *section = manual_about; section->title != NULL; section++) {
        put_title(section->title);
        for (const manual_entry *entry = section->entries; entry->term != NULL; entry++) {
            putchar('*');
            put_text(entry->term);
            putchar('*');
            put_explanation(entry->text);
        }
    }
    put_examples(help_quick_start);
}

void manual_write_scdoc(const cli_verb *verb)
{
    if (verb != NULL)
        write_verb(verb);
    else
        write_command();
}
