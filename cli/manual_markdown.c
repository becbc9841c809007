/* Pages of the command reference, for the documentation: a page a verb, and one for the command (index.md). */
#include "manual.h"

#include "compare.h"
#include "help.h"
#include "verbs.h"

#include <stdio.h>
#include <string.h>

/* Plain text; what is between backticks is as it is. */
static void put_text(const char *text)
{
    bool is_code = false;
    for (; *text != '\0'; text++) {
        is_code ^= *text == '`';
        printf(!is_code && strchr("\\*_<[", *text) != NULL ? "\\%c" : "%c", *text);
    }
}

static void put_item(const char *term, const char *remark, const char *text)
{
    printf("- `%s`%s<br>", term, remark);
    put_text(text);
    putchar('\n');
}

static void put_option(const cli_option *option)
{
    char name[OPTION_NAME_SIZE], term[200], remark[100] = "", letter[8] = "";
    if (option->letter != 0)
        snprintf(letter, sizeof letter, "-%c, ", option->letter);
    snprintf(term, sizeof term, "%s--%s%s%s", letter, option_display_name(option->name, name),
             option->kind != OPTION_FLAG ? " " : "", option->kind != OPTION_FLAG ? option->takes : "");
    if (option->required)
        snprintf(remark, sizeof remark, " (required)");
    else if (option->initial != NULL)
        snprintf(remark, sizeof remark, " (default: %s)", option->initial);
    put_item(term, remark, option->help);
}

static void put_methods(void)
{
    compare_method_help method;
    puts("\n## Methods\n");
    for (size_t i = 0; compare_method_describe(i, &method); i++)
        put_item(method.usage, method.needs_rows ? " (not for a stream)" : "", method.text);
}

/* `text`, since `sh` would promise that a page runs from top to bottom. */
static void put_examples(const char *title, const char *lines)
{
    printf("\n## %s\n\n```text\n%s\n```\n", title, lines);
}

static void write_verb(const cli_verb *verb)
{
    cli_option options[MOST_OPTIONS];
    size_t first_parameter, n_options = options_of(verb, options, &first_parameter);
    printf("# greedystep %s\n\n*%s*\n\n```text\ngreedystep %s %s\n```\n\n", verb->name, verb->summary, verb->name,
           verb->usage);
    put_text(verb->details);
    putchar('\n');
    for (size_t i = 0; i < n_options; i++) {
        const char *heading = options_heading(verb, i);
        if (heading != NULL)
            printf("\n## %s\n\n", heading);
        put_option(&options[i]);
    }
    if (verb == &compare_verb)
        put_methods();
    put_examples("Examples", verb->examples);
}

static void write_command(void)
{
    puts("# The command\n\n```text\ngreedystep VERB ...\ngreedystep help [VERB]\ngreedystep --version\n```\n\n"
         "| verb | |\n|---|---|");
    for (const cli_verb *const *each = verbs; *each != NULL; each++)
        printf("| [%s](%s.md) | %s |\n", (*each)->name, (*each)->name, (*each)->summary);
    puts("\nWhat is on these pages is printed by `greedystep help VERB` and shown by `man greedystep-VERB` as well.");
    put_examples("Quick start", help_quick_start);
    for (const manual_section *section = manual_about; section->title != NULL; section++) {
        printf("\n## %s\n\n", section->title);
        for (const manual_entry *entry = section->entries; entry->term != NULL; entry++)
            put_item(entry->term, "", entry->text);
    }
}

void manual_write_markdown(const cli_verb *verb)
{
    if (verb != NULL)
        write_verb(verb);
    else
        write_command();
}
