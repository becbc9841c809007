/* greedystep_manual: a program of the build that is not installed. It prints the pages of the manual, for man (as
 * source of scdoc) and for the documentation (markdown), and the completions of shells, all from the tables that the
 * command itself parses by. */
#include "help.h"
#include "typed.h"
#include "verbs.h"

#include <stdio.h>
#include <string.h>

/* Returns the kind of value that can follow an option; completion/ has what each shell proposes for it. */
static const char *kind_of(const cli_option *option)
{
    static const char *const known[][2] = {
        {"FILE", "file"}, {"MODEL", "model"}, {"DIR", "folder"}, {"LIST", "methods"}};
    if (option->kind == OPTION_FLAG)
        return "none";
    if (option->kind == OPTION_CHOICE || option->kind == OPTION_SWITCH || option_words(option) > 0)
        return "choice";
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(option->takes, known[i][0]) == 0)
            return known[i][1];
    }
    return "any";
}

/* Returns the table of a verb: that of its program, if it is one. */
static const cli_verb *table_of(const cli_verb *verb)
{
    return verb->run == NULL ? &compare_program : verb;
}

/* Prints the first clause of a text and ends the line. It stands within single quotes: a quote becomes an apostrophe of
 * print, which no shell takes for its own. */
static void put_clause(const char *text)
{
    size_t depth = 0;
    for (; *text != '\0' && !(depth == 0 && *text == ';'); text++) {
        depth += (size_t)(*text == '(') - (size_t)(*text == ')');
        if (*text == '\'')
            fputs("\xE2\x80\x99", stdout);
        else
            putchar(*text == '\\' ? '/' : *text);
    }
    putchar('\n');
}

/* Prints a line per word that can follow a verb: verb, word, kind of its value, values and a description. */
static void put_line(const char *verb, const char *dashes, const char *word, const char *kind, const cli_option *option)
{
    verb_method method;
    printf("%s\t%s%s\t%s\t", verb, dashes, word, kind);
    for (size_t i = 0; strcmp(kind, "methods") == 0 && compare_program.describe_method(i, &method); i++)
        printf("%s%.*s", i > 0 ? "|" : "", (int)strcspn(method.usage, "[:"), method.usage);
    if (strcmp(kind, "choice") == 0)
        printf("%.*s", option_words(option) > 0 ? option_words(option) : (int)strlen(option->takes), option->takes);
    else if (strcmp(kind, "methods") != 0)
        putchar('-');
    putchar('\t');
}

static void put_verb(const cli_verb *verb)
{
    cli_option options[MAX_OPTIONS];
    option_sections at;
    size_t n_options = options_of(verb, options, &at);
    const char *const lists[] = {"-", "help"};
    for (size_t i = 0; i < 2; i++) {
        put_line(lists[i], "", verb->name, "none", NULL);
        put_clause(verb->summary);
    }
    for (size_t i = 0; i < n_options; i++) {
        char name[OPTION_NAME_SIZE], letter[2] = {options[i].letter, '\0'};
        if (options[i].help == NULL)
            continue;
        put_line(verb->name, "--", option_display_name(options[i].name, name), kind_of(&options[i]), &options[i]);
        put_clause(options[i].help);
        if (options[i].letter != 0) {
            put_line(verb->name, "-", letter, kind_of(&options[i]), &options[i]);
            put_clause(options[i].help);
        }
    }
    put_line(verb->name, "--", "help", "none", NULL);
    put_clause("describe the command and its options");
    if (verb->positional != NULL) {
        put_line(verb->name, "", "*", "model", NULL);
        put_clause(verb->positional);
    }
}

/* Prints a file of completion/ with the table in its place. */
static bool write_completion(const char *path)
{
    static const char mark[] = "@TABLE@";
    char line[512];
    FILE *file = fopen(path, "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        char *at = strstr(line, mark);
        if (at != NULL) {
            printf("%.*s", (int)(at - line), line);
            for (const cli_verb *const *each = verbs; *each != NULL; each++)
                put_verb(table_of(*each));
            fputs("help\tdata\tnone\t-\tdescribe the input formats\n-\thelp\tnone\t-\tdescribe a "
                  "command\n-\t--help\tnone\t-\tlist the commands\n-\t--version\tnone\t-\tprint the version",
                  stdout);
        }
        fputs(at != NULL ? at + strlen(mark) : line, stdout);
    }
    bool is_whole = file != NULL && !ferror(file);
    if (file != NULL)
        fclose(file);
    return is_whole;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    const cli_verb *verb = argc > 2 ? verb_find(argv[2]) : NULL;
    help_format format = strcmp(what, "scdoc") == 0 ? HELP_MAN : HELP_MARKDOWN;
    if (strcmp(what, "complete") == 0 && argc > 2 && write_completion(argv[2]))
        return fflush(stdout) == 0 ? 0 : 1;
    if ((format == HELP_MAN || strcmp(what, "markdown") == 0) && (argc == 2 || verb != NULL)) {
        if (verb != NULL)
            help_write_verb(format, table_of(verb));
        else
            help_write_command(format, verbs);
        return fflush(stdout) == 0 ? 0 : 1;
    }
    fputs("usage: greedystep_manual scdoc|markdown [VERB], or complete FILE\n", stderr);
    return 2;
}
