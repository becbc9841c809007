/* The verbs in the order of the manual, help and version. */
#include "help.h"

#include "cluster.h"
#include "compare.h"
#include "duckdb.h"
#include "verbs.h"

#include <greedystep/data.h>
#include <greedystep/greedystep.h>

#include <jansson.h>
#include <string.h>

enum { HELP_COLUMN = 6, HELP_WIDTH = 80 };

const char help_quick_start[] = "greedystep generate --rows 12000 -o all.svm\n"
                                "head -n 10000 all.svm > train.svm\n"
                                "tail -n 2000 all.svm > test.svm\n"
                                "greedystep train train.svm -o my.model\n"
                                "greedystep evaluate my.model test.svm\n"
                                "greedystep predict my.model test.svm | head";

const cli_verb *const verbs[] = {&train_verb,   &predict_verb, &evaluate_verb, &inspect_verb, &merge_verb,
                                 &convert_verb, &export_verb,  &generate_verb, &compare_verb, NULL};

const cli_verb *verb_find(const char *name)
{
    for (const cli_verb *const *each = verbs; *each != NULL; each++) {
        if (strcmp((*each)->name, name) == 0)
            return *each;
    }
    return NULL;
}

/* Lines of shell as they are, since they must not be broken. */
static void print_examples(FILE *stream, const char *title, const char *lines)
{
    fprintf(stream, "\n%s:\n", title);
    for (size_t length; *lines != '\0'; lines += length + (lines[length] == '\n')) {
        length = strcspn(lines, "\n");
        fprintf(stream, "  %.*s\n", (int)length, lines);
    }
}

void help_print_overview(FILE *stream)
{
    fputs("usage: greedystep VERB ...\n\nLinear models with nothing to tune, by greedy step averaging.\n\n", stream);
    for (const cli_verb *const *each = verbs; *each != NULL; each++)
        fprintf(stream, "  %-10s %s\n", (*each)->name, (*each)->summary);
    fputs("\n  greedystep help VERB    describe a verb, with options and examples\n  greedystep --version    print the "
          "version and the libraries found\n",
          stream);
    print_examples(stream, "Quick start", help_quick_start);
}

/* Words in lines of HELP_WIDTH at most, each indented; a newline in the text ends a line. */
static void print_wrapped(const char *text, int indent)
{
    int column = 0;
    for (; *text != '\0'; text += strspn(text, " ")) {
        int length = (int)strcspn(text, " \n");
        bool ends_line = text[length] == '\n';
        if (column > 0 && column + 1 + length > HELP_WIDTH) {
            putchar('\n');
            column = 0;
        }
        if (length > 0)
            column += column == 0 ? printf("%*s%.*s", indent, "", length, text) : printf(" %.*s", length, text);
        if (ends_line) {
            putchar('\n');
            column = 0;
        }
        text += length + ends_line;
    }
    putchar('\n');
}

static void print_option(const cli_option *option)
{
    char name[OPTION_NAME_SIZE];
    option_display_name(option->name, name);
    int column = option->letter != 0 ? printf("  -%c, --%s", option->letter, name) : printf("  --%s", name);
    if (option->kind != OPTION_FLAG)
        column += printf(" %s", option->takes);
    if (option->required)
        fputs("  (required)", stdout);
    else if (option->initial != NULL) {
        if (column + (int)(strlen("  (default: )") + strlen(option->initial)) > HELP_WIDTH)
            printf("\n%*s", HELP_COLUMN - 2, "");
        printf("  (default: %s)", option->initial);
    }
    putchar('\n');
    print_wrapped(option->help, HELP_COLUMN);
}

static void print_methods(void)
{
    compare_method_help method;
    puts("\nMethods:");
    for (size_t i = 0; compare_method_describe(i, &method); i++) {
        printf("  %s%s\n", method.usage, method.needs_rows ? "  (not for a stream)" : "");
        print_wrapped(method.text, HELP_COLUMN);
    }
}

void help_print_verb(const cli_verb *verb)
{
    cli_option options[MAX_OPTIONS];
    size_t first_parameter, n_options = options_of(verb, options, &first_parameter);
    printf("usage: greedystep %s %s\n\n", verb->name, verb->usage);
    print_wrapped(verb->details, 0);
    for (size_t i = 0; i < n_options; i++) {
        const char *heading = options_heading(verb, i);
        if (heading != NULL)
            printf("\n%s:\n", heading);
        print_option(&options[i]);
    }
    if (verb == &compare_verb)
        print_methods();
    print_examples(stdout, "Examples", verb->examples);
}

void help_print_version(void)
{
    const char *name, *version;
    printf("greedystep %s\n", gsa_version());
    for (size_t i = 0; (name = gsa_codec_at(i, &version)) != NULL; i++)
        printf("%-10s %s\n", name, version != NULL ? version : "no");
    printf("%-10s %s\n", "jansson", JANSSON_VERSION);
    version = duckdb_version();
    printf("%-10s %s\n", "duckdb", version != NULL ? version : "no");
    printf("%-10s %s\n", "mpi", cluster_libraries()[0] != '\0' ? cluster_libraries() : "no");
}
