/* greedystep_manual: a program of the build that is not installed. It prints the pages of the manual, for man (as
 * source of scdoc) and for the documentation (markdown), and the completions of shells, all from the tables that the
 * command itself parses by. */
#include "compare.h"
#include "help.h"
#include "verbs.h"

#include <greedystep/greedystep.h>

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* ---- the same for all verbs -------------------------------------------------------------------------------------- */

typedef struct manual_entry {
    const char *section; /* NULL: that of the entry before */
    const char *term, *text;
} manual_entry;

/* A test compares the environment with the variables that the sources read. */
static const manual_entry about[] = {
    {"Options", "--name VALUE, --name=VALUE",
     "Options stand anywhere after the verb, each at most once; a dash and an underscore in a name are the same. -- "
     "ends them: everything after it is a file, whatever it begins with."},
    {NULL, "--name on, --name off, --name, --no-name", "A switch, such as --intercept."},
    {NULL, "-h, --help", "After a verb: the same as `greedystep help VERB`."},
    {NULL, "N", "A count is 10000, 10_000 or 1e4."},
    {NULL, "SIZE", "A size is 512M or 1.5G, in powers of 1024."},
    {"Files", "MODEL",
     "A model, as a safetensors file that other programs can read. `predict`, `evaluate`, `inspect` and `export` need "
     "nothing else."},
    {NULL, "MODEL.state",
     "The state of the run, beside its model. `train --resume`, `train --start-from` and `merge` read it."},
    {NULL, "FILE.gsac", "A cache of parsed rows. `convert` writes it, and every verb reads it in place of text."},
    {NULL, "-", "In place of a file: standard input, or standard output after -o."},
    {"Environment", "NO_COLOR", "If set and not empty, output has no colours and no charts."},
    {NULL, "TERM", "If unset or dumb, output is plain lines, as into a file."},
    {NULL, "LC_ALL, LC_CTYPE, LANG",
     "The first one set decides whether the terminal shows UTF-8, which charts need. Numbers are read and written the "
     "same in every locale."},
    {NULL, "TMPDIR", "Folder for the temporary cache of rows that `train` keeps of compressed files; default /tmp."},
    {NULL, "GREEDYSTEP_DUCKDB",
     "Path of the DuckDB library, which reads Parquet and --sql; default libduckdb.so on the library path."},
    {NULL, "GREEDYSTEP_MPI",
     "Path of the library that connects the processes of a cluster; default the one for the MPI that launched them."},
    {NULL, "GREEDYSTEP_HEARTBEAT_SECONDS",
     "Seconds without a sign of life after which a process of a cluster counts as hung; default 60, 0 turns the check "
     "off."},
    {NULL,
     "OMPI_COMM_WORLD_RANK, OMPI_COMM_WORLD_SIZE, PMI_RANK, PMI_SIZE, PMIX_RANK, SLURM_NTASKS, SLURM_STEP_NUM_TASKS",
     "Set by the launchers of Open MPI, MPICH and Slurm: the processes of one `train` learn together."},
    {"Exit status", "0", "Success."},
    {NULL, "1", "Failure; the message on standard error names the reason and what to do."},
    {NULL, "2", "Wrong command line; nothing was done."},
    {NULL, "128 + N", "Ended by signal N, such as 130 by Ctrl-C."},
};

/* ---- pages: scdoc and markdown ----------------------------------------------------------------------------------- */

static bool is_man; /* scdoc, else markdown */

/* Prints plain text. Between backticks it is bold in man, and as it is in markdown. */
static void put_text(const char *text)
{
    bool is_code = false;
    for (; *text != '\0'; text++) {
        is_code ^= *text == '`';
        if (*text == '`')
            putchar(is_man ? '*' : '`');
        else
            printf(strchr(is_man ? "\\*_" : is_code ? "" : "\\*_<[", *text) != NULL ? "\\%c" : "%c", *text);
    }
}

/* Prints a usage for man: options bold, values in capitals underlined, but not
 * those of a list such as A*B,C*D, within which scdoc underlines nothing. */
static void put_usage(const char *usage)
{
    char before = ' ';
    for (size_t n; *usage != '\0'; before = usage[n - 1], usage += n) {
        size_t dashes = strspn(usage, "-");
        n = strspn(usage, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
        if (n > 0 && before != ',' && before != '*' && usage[n] != ',' && usage[n] != '*') {
            printf("_%.*s_", (int)n, usage);
        } else if (dashes > 0 && islower((unsigned char)usage[dashes])) {
            n = dashes + strcspn(usage + dashes, " =]|,");
            printf("*%.*s*", (int)n, usage);
        } else {
            n = 1;
            printf(*usage == '_' || *usage == '*' ? "\\%c" : "%c", *usage);
        }
    }
}

static void put_title(const char *title)
{
    fputs(is_man ? "\n# " : "\n## ", stdout);
    for (; *title != '\0'; title++)
        putchar(is_man ? toupper((unsigned char)*title) : *title);
    puts("\n");
}

/* Prints a term in bold, or as a usage, and its explanation. */
static void put_item(const char *term, bool is_usage, const char *remark, const char *text)
{
    fputs(!is_man ? "- `" : is_usage ? "" : "*", stdout);
    if (is_man && is_usage)
        put_usage(term);
    else if (is_man)
        put_text(term);
    else
        fputs(term, stdout);
    printf("%s%s%s", !is_man ? "`" : is_usage ? "" : "*", remark, is_man ? "\n\t" : "<br>");
    put_text(text);
    fputs(is_man ? "\n\n" : "\n", stdout);
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
    put_item(term, true, remark, option->help);
}

/* In markdown as `text`: `sh` would promise that a page runs from top to bottom. */
static void put_examples(const char *title, const char *lines)
{
    put_title(title);
    puts(is_man ? "```" : "```text");
    for (; *lines != '\0'; lines++)
        printf(is_man && *lines == '\\' ? "\\%c" : "%c", *lines);
    puts("\n```");
}

static void put_head(const char *dash, const char *name, const char *summary)
{
    if (is_man)
        printf("greedystep%s%s(1) \"greedystep %s\" \"greedystep manual\"\n\n# NAME\n\ngreedystep%s%s - %s\n\n"
               "# SYNOPSIS\n\n",
               dash, name, gsa_version(), dash, name, summary);
    else if (name[0] != '\0')
        printf("# greedystep %s\n\n*%s*\n\n", name, summary);
    else
        puts("# The command\n");
}

static void write_verb(const cli_verb *verb)
{
    cli_option options[MAX_OPTIONS];
    size_t first_parameter, n_options = options_of(verb, options, &first_parameter);
    compare_method_help method;
    put_head("-", verb->name, verb->summary);
    printf(is_man ? "*greedystep %s* " : "```text\ngreedystep %s ", verb->name);
    if (is_man)
        put_usage(verb->usage);
    else
        fputs(verb->usage, stdout);
    puts(is_man ? "\n\n# DESCRIPTION\n" : "\n```\n");
    put_text(verb->details);
    putchar('\n');
    for (size_t i = 0; i < n_options; i++) {
        if (options_heading(verb, i) != NULL)
            put_title(options_heading(verb, i));
        put_option(&options[i]);
    }
    for (size_t i = 0; verb == &compare_verb && compare_method_describe(i, &method); i++) {
        if (i == 0)
            put_title("Methods");
        put_item(method.usage, false, method.needs_rows ? " (not for a stream)" : "", method.text);
    }
    put_examples("Examples", verb->examples);
    if (is_man)
        puts("\n# SEE ALSO\n\n*greedystep*(1): all verbs, the environment and exit codes.");
}

static void write_command(void)
{
    put_head("", "", "linear models with nothing to tune, by greedy step averaging");
    puts(is_man ? "*greedystep* _VERB_ ...++\n*greedystep help* [_VERB_]++\n*greedystep --version*\n\n# VERBS\n\n"
                  "Each has a page of its own, which *greedystep help* _VERB_ prints as well.\n"
                : "```text\ngreedystep VERB ...\ngreedystep help [VERB]\ngreedystep --version\n```\n\n"
                  "| verb | |\n|---|---|");
    for (const cli_verb *const *each = verbs; *each != NULL; each++) {
        const char *name = (*each)->name, *summary = (*each)->summary;
        if (is_man)
            printf("*greedystep-%s*(1)\n\t%s\n\n", name, summary);
        else
            printf("| [%s](%s.md) | %s |\n", name, name, summary);
    }
    if (!is_man) {
        puts("\n`greedystep help VERB` and `man greedystep-VERB` show the same pages.");
        put_examples("Quick start", help_quick_start);
    }
    for (size_t i = 0; i < sizeof about / sizeof *about; i++) {
        if (about[i].section != NULL)
            put_title(about[i].section);
        put_item(about[i].term, false, "", about[i].text);
    }
    if (is_man)
        put_examples("Examples", help_quick_start);
}

/* ---- completions ------------------------------------------------------------------------------------------------- */

/* What can follow an option; completion/ has what each shell proposes for it. */
static const char *kind_of(const cli_option *option)
{
    static const char *const known[][2] = {
        {"FILE", "file"}, {"MODEL", "model"}, {"DIR", "folder"}, {"LIST", "methods"}};
    if (option->kind == OPTION_FLAG)
        return "none";
    if (option->kind == OPTION_CHOICE || option->kind == OPTION_SWITCH)
        return "choice";
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(option->takes, known[i][0]) == 0)
            return known[i][1];
    }
    return "any";
}

/* Prints the names of all methods of compare, separated by |. */
static void put_methods(void)
{
    compare_method_help method;
    for (size_t i = 0; compare_method_describe(i, &method); i++)
        printf("%s%.*s", i > 0 ? "|" : "", (int)strcspn(method.usage, "[:"), method.usage);
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
    printf("%s\t%s%s\t%s\t", verb, dashes, word, kind);
    if (strcmp(kind, "methods") == 0)
        put_methods();
    else
        fputs(strcmp(kind, "choice") == 0 ? option->takes : "-", stdout);
    putchar('\t');
}

static void put_verb(const cli_verb *verb)
{
    cli_option options[MAX_OPTIONS];
    size_t first_parameter, n_options = options_of(verb, options, &first_parameter);
    const char *const lists[] = {"-", "help"};
    for (size_t i = 0; i < 2; i++) {
        put_line(lists[i], "", verb->name, "none", NULL);
        put_clause(verb->summary);
    }
    for (size_t i = 0; i < n_options; i++) {
        char name[OPTION_NAME_SIZE], letter[2] = {options[i].letter, '\0'};
        put_line(verb->name, "--", option_display_name(options[i].name, name), kind_of(&options[i]), &options[i]);
        put_clause(options[i].help);
        if (options[i].letter != 0) {
            put_line(verb->name, "-", letter, kind_of(&options[i]), &options[i]);
            put_clause(options[i].help);
        }
    }
    put_line(verb->name, "--", "help", "none", NULL);
    put_clause("describe the verb and its options");
    if (verb->positional != NULL) {
        put_line(verb->name, "", "*", "model", NULL);
        put_clause(verb->positional);
    }
}

static void put_table(void)
{
    for (const cli_verb *const *each = verbs; *each != NULL; each++)
        put_verb(*each);
    fputs("-\thelp\tnone\t-\tdescribe a verb\n-\t--help\tnone\t-\tlist the verbs\n-\t--version\tnone\t-\tprint the "
          "version",
          stdout);
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
            put_table();
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
    is_man = strcmp(what, "scdoc") == 0;
    if (strcmp(what, "complete") == 0 && argc > 2 && write_completion(argv[2]))
        return fflush(stdout) == 0 ? 0 : 1;
    if ((is_man || strcmp(what, "markdown") == 0) && (argc == 2 || verb != NULL)) {
        if (verb != NULL)
            write_verb(verb);
        else
            write_command();
        return fflush(stdout) == 0 ? 0 : 1;
    }
    fputs("usage: greedystep_manual scdoc|markdown [VERB], or complete FILE\n", stderr);
    return 2;
}
