/* The pages of the manual, and the version. A page is a title, paragraphs, items (a term and
 * its explanation) and examples; the functions put_ write each in the format of the page. */
#include "help.h"

#include "cluster.h"
#include "duckdb.h"
#include "report.h"
#include "typed.h"

#include <greedystep/data.h>
#include <greedystep/greedystep.h>

#include <ctype.h>
#include <jansson.h>
#include <string.h>

enum { INDENT = 6, WIDTH = 80, TERM_SIZE = 200, SHORT_INDENT = 26, MAX_TAKES = 12, MAX_TOLD = 24 };

static const char quick_start[] = "greedystep generate --rows 12000 -o all.svm\n"
                                  "head -n 10000 all.svm > train.svm\n"
                                  "tail -n 2000 all.svm > test.svm\n"
                                  "greedystep train train.svm -o my.model\n"
                                  "greedystep evaluate my.model test.svm\n"
                                  "greedystep predict my.model test.svm | head";

static const char about_data[] =
    "DATA is CSV, TSV, JSON lines, libsvm or Vowpal Wabbit text, plain or compressed, a cache made by `convert`, a "
    "NumPy array (.npy) or Parquet; Parquet and CSV may be in an object store (s3://BUCKET/FILE); - is standard input. "
    "A column is named by its header or its number from 1. Use the number if the name contains a comma or a colon.";

typedef struct help_entry {
    const char *section; /* NULL: that of the entry before */
    const char *term, *text;
} help_entry;

/* A test compares the environment with the variables that the sources read. */
static const help_entry about[] = {
    {"Options", "--name VALUE, --name=VALUE",
     "Options may stand anywhere after the command, each at most once; a dash and an underscore in a name are the "
     "same. "
     "Everything after -- is a file name."},
    {NULL, "--name on, --name off, --name, --no-name", "A switch, such as --intercept."},
    {NULL, "-h, --help", "After a command: -h prints what is used most, --help the same as `greedystep help COMMAND`."},
    {NULL, "-q, --quiet", "After a command: print only errors and requested results."},
    {NULL, "-V, --version", "In place of a command: print the version and the libraries found."},
    {NULL, "N", "A count is 10000, 10_000 or 1e4."},
    {NULL, "SIZE", "A size is 512M or 1.5G, in powers of 1024."},
    {NULL, "TIME", "A time is 60s, 5m or 1h."},
    {"Files", "MODEL",
     "A model, a safetensors file that other programs can read. `predict`, `evaluate`, `inspect` and `export` need "
     "only "
     "this file."},
    {NULL, "MODEL.state",
     "The state of the run, beside its model. `train --resume`, `train --start-from` and `merge` read it."},
    {NULL, "FILE.gsac", "A cache of parsed rows. `convert` writes it, and every command reads it in place of text."},
    {NULL, "-", "In place of a file: standard input, or standard output after -o."},
    {"Environment", "NO_COLOR", "If set and not empty, output has no colours."},
    {NULL, "TERM", "If unset or dumb, output is plain, as in a file."},
    {NULL, "TMPDIR", "Folder for the temporary cache that `train` makes of compressed files; default /tmp."},
    {NULL, "GREEDYSTEP_DUCKDB",
     "Path of the DuckDB library, which reads Parquet, --sql and object stores; default: libduckdb.so in the usual "
     "places, or an installed Python module."},
    {NULL, "PATH, HOME", "Where the DuckDB library is searched: beside the folders of PATH, and in .local and .pyenv."},
    {NULL, "AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION, AWS_ENDPOINT_URL",
     "Credentials and server for s3:// objects, unless DuckDB has a secret for them."},
    {NULL, "GREEDYSTEP_MPI",
     "Path of the library that connects the processes of a cluster; default: the one for the MPI that started them."},
    {NULL, "GREEDYSTEP_HEARTBEAT_SECONDS",
     "Seconds without a heartbeat after which a process of a cluster counts as hung; default 60, 0 turns the check "
     "off."},
    {NULL,
     "OMPI_COMM_WORLD_RANK, OMPI_COMM_WORLD_SIZE, PMI_RANK, PMI_SIZE, PMIX_RANK, SLURM_NTASKS, SLURM_STEP_NUM_TASKS",
     "Set by the launchers of Open MPI, MPICH and Slurm: the processes of one `train` train one model, those of "
     "one `convert` divide the files."},
    {"Exit status", "0", "Success."},
    {NULL, "1", "Failure; the message on standard error names the reason and a remedy."},
    {NULL, "2", "Wrong command line; nothing was changed."},
    {NULL, "128 + N",
     "Ended by signal N, such as 130 by Ctrl-C, or 141 without a message when the reader of standard output ended "
     "first, as in `greedystep predict MODEL DATA | head`."},
};

/* ---- parts of a page --------------------------------------------------------------------------------------------- */

/* Prints words in lines of WIDTH at most, each indented, the first from this column on; a newline in the text ends a
 * line. */
static void put_wrapped(const char *text, int indent, int column)
{
    for (; *text != '\0'; text += strspn(text, " ")) {
        int length = (int)strcspn(text, " \n");
        bool ends_line = text[length] == '\n';
        if (column > 0 && column + 1 + length > WIDTH) {
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

/* Prints text with the characters escaped that mean something to scdoc or markdown. Between backticks it is bold in
 * man, and as it is in markdown. */
static void put_marked(help_format format, const char *text)
{
    bool is_man = format == HELP_MAN, is_code = false;
    for (; *text != '\0'; text++) {
        is_code ^= *text == '`';
        if (*text == '`')
            putchar(is_man ? '*' : '`');
        else
            printf(strchr(is_man ? "\\*_" : is_code ? "" : "\\*_<[", *text) != NULL ? "\\%c" : "%c", *text);
    }
}

static void put_paragraphs(help_format format, const char *text)
{
    if (format == HELP_TEXT) {
        put_wrapped(text, 0, 0);
    } else {
        put_marked(format, text);
        putchar('\n');
    }
}

/* Prints a usage for man: options bold, values in capitals underlined, but not those of a list such as A:B,C:D, within
 * which scdoc underlines nothing. */
static void put_usage(const char *usage)
{
    char before = ' ';
    for (size_t n; *usage != '\0'; before = usage[n - 1], usage += n) {
        size_t dashes = strspn(usage, "-");
        n = strspn(usage, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
        if (n > 0 && before != ',' && before != ':' && usage[n] != ',' && usage[n] != ':') {
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

static void put_title(help_format format, const char *title)
{
    fputs(format == HELP_MAN ? "\n# " : format == HELP_MARKDOWN ? "\n## " : "\n", stdout);
    for (; *title != '\0'; title++)
        putchar(format == HELP_MAN ? toupper((unsigned char)*title) : *title);
    puts(format == HELP_TEXT ? ":" : "\n");
}

/* Prints a term, with a remark behind it, and its explanation. */
static void put_item(help_format format, const char *term, bool is_usage, const char *remark, const char *text)
{
    if (format == HELP_TEXT) {
        bool fits = 2 + strlen(term) + strlen(remark) <= WIDTH;
        size_t n = strlen(term); /* of the first line: a list of choices may be wider */
        while (2 + n > WIDTH && memchr(term, '|', n - 1) != NULL)
            for (n--; term[n - 1] != '|';)
                n--;
        if (fits || remark[0] != '\0')
            printf("  %.*s%s%s%s%s\n", (int)n, term, term[n] != '\0' ? "\n   " : "", term + n, fits ? "" : "\n   ",
                   remark);
        else
            put_wrapped(term, 2, 0);
        put_wrapped(text, INDENT, 0);
        return;
    }
    if (format == HELP_MARKDOWN) {
        printf("- `%s`%s<br>", term, remark);
    } else if (is_usage) {
        put_usage(term);
        printf("%s\n\t", remark);
    } else {
        putchar('*');
        put_marked(format, term);
        printf("*%s\n\t", remark);
    }
    put_marked(format, text);
    fputs(format == HELP_MAN ? "\n\n" : "\n", stdout);
}

static void name_option(const cli_option *option, char term[TERM_SIZE])
{
    char name[OPTION_NAME_SIZE], letter[8] = "";
    if (option->letter != 0)
        snprintf(letter, sizeof letter, "-%c, ", option->letter);
    snprintf(term, TERM_SIZE, "%s--%s%s%s", letter, option_display_name(option->name, name),
             option->kind != OPTION_FLAG ? " " : "", option->kind != OPTION_FLAG ? option->takes : "");
}

static void put_option(help_format format, const cli_option *option)
{
    char term[TERM_SIZE], remark[100] = "";
    const char *space = format == HELP_TEXT ? "  " : " ";
    name_option(option, term);
    if (option->required)
        snprintf(remark, sizeof remark, "%s(required)", space);
    else if (option->initial != NULL)
        snprintf(remark, sizeof remark, "%s(default: %s)", space, option->initial);
    put_item(format, term, true, remark, option->help);
}

/* Prints lines of shell, which must not be broken. In markdown as `text`: `sh` would promise that a page runs from top
 * to bottom. */
static void put_examples(help_format format, const char *title, const char *lines)
{
    put_title(format, title);
    fputs(format == HELP_MAN ? "```\n" : format == HELP_MARKDOWN ? "```text\n" : "  ", stdout);
    for (; *lines != '\0'; lines++) {
        printf(format == HELP_MAN && *lines == '\\' ? "\\%c" : "%c", *lines);
        if (format == HELP_TEXT && *lines == '\n')
            fputs("  ", stdout);
    }
    puts(format == HELP_TEXT ? "" : "\n```");
}

static void put_head(help_format format, const char *dash, const char *name, const char *summary)
{
    if (format == HELP_MAN)
        printf("greedystep%s%s(1) \"greedystep %s\" \"greedystep manual\"\n\n# NAME\n\ngreedystep%s%s - %s\n\n"
               "# SYNOPSIS\n\n",
               dash, name, gsa_version(), dash, name, summary);
    else if (format == HELP_MARKDOWN && name[0] != '\0')
        printf("# greedystep %s\n\n*%s*\n\n", name, summary);
    else if (format == HELP_MARKDOWN)
        puts("# The command\n");
}

/* ---- pages ------------------------------------------------------------------------------------------------------- */

static void put_synopsis(help_format format, const cli_verb *verb)
{
    if (format == HELP_MAN) {
        printf("*greedystep %s* ", verb->name);
        put_usage(verb->usage);
        puts("\n\n# DESCRIPTION\n");
    } else {
        printf(format == HELP_TEXT ? "usage: greedystep %s %s\n\n" : "```text\ngreedystep %s %s\n```\n\n", verb->name,
               verb->usage);
    }
}

void help_write_verb(help_format format, const cli_verb *verb)
{
    cli_option options[MAX_OPTIONS];
    option_sections at;
    size_t n_options = options_of(verb, options, &at);
    verb_method method;
    put_head(format, "-", verb->name, verb->summary);
    put_synopsis(format, verb);
    put_paragraphs(format, verb->details);
    put_title(format, "Options");
    for (size_t i = 0; i < at.reader; i++)
        put_option(format, &options[i]);
    if (at.parameter > at.reader) { /* only named: help_write_data explains them */
        char line[400] = "Options for DATA: ", name[OPTION_NAME_SIZE];
        for (size_t i = at.reader; i < at.parameter; i++)
            report_append(line, sizeof line, "--%s%s", option_display_name(options[i].name, name),
                          i + 1 < at.parameter ? ", " : "");
        report_append(line, sizeof line, "; `greedystep help data` explains them.");
        put_title(format, "Reading data");
        put_paragraphs(format, line);
    }
    for (size_t i = at.parameter; i < n_options; i++) {
        if (i == at.parameter)
            put_title(format, "Parameters of training");
        if (options[i].help != NULL)
            put_option(format, &options[i]);
    }
    for (size_t i = 0; verb->describe_method != NULL && verb->describe_method(i, &method); i++) {
        if (i == 0)
            put_title(format, "Methods");
        const char *remark = format == HELP_TEXT ? "  (not for a stream)" : " (not for a stream)";
        put_item(format, method.usage, false, method.needs_rows ? remark : "", method.text);
    }
    put_examples(format, "Examples", verb->examples);
    if (format == HELP_MAN)
        puts("\n# SEE ALSO\n\n*greedystep*(1): all commands, options for DATA, the environment and exit codes.");
}

void help_write_short(const cli_verb *verb)
{
    cli_option options[MAX_OPTIONS];
    option_sections at;
    char term[TERM_SIZE], clause[TERM_SIZE], listed[OPTION_NAME_SIZE + 3];
    size_t n_options = options_of(verb, options, &at);
    const char *example = verb->examples;
    put_synopsis(HELP_TEXT, verb);
    printf("%c%s.\n\n", toupper((unsigned char)verb->summary[0]), verb->summary + 1);
    for (size_t i = 0; i < n_options; i++) {
        snprintf(listed, sizeof listed, ",%s,", options[i].name);
        if (verb->common != NULL ? strstr(verb->common, listed) == NULL : i >= at.reader)
            continue;
        const char *takes = options[i].takes != NULL ? options[i].takes : "";
        bool is_long = strlen(takes) > MAX_TAKES, is_told = is_long && strlen(takes) <= MAX_TOLD;
        if (is_long)
            options[i].takes = "NAME";
        name_option(&options[i], term);
        snprintf(clause, sizeof clause, "%.*s%s%s", (int)strcspn(options[i].help, ";"), options[i].help,
                 is_told ? ": " : "", is_told ? takes : "");
        printf("  %-*s", SHORT_INDENT - 3, term);
        put_wrapped(clause, SHORT_INDENT, SHORT_INDENT - 1);
    }
    snprintf(term, sizeof term, "greedystep %s ", verb->name);
    while (strncmp(example, term, strlen(term)) != 0)
        example += strcspn(example, "\n") + 1;
    printf("\nExample:\n  %.*s\n", (int)strcspn(example, "\n"), example);
    printf("\nAll options: greedystep %s --help%s\n", verb->name,
           verb->reads_data ? "; those for DATA: greedystep help data" : "");
}

void help_write_data(help_format format)
{
    const cli_option *options;
    size_t n = options_of_readers(&options);
    if (format != HELP_TEXT)
        put_title(format, "Reading data");
    put_paragraphs(format, about_data);
    putchar('\n');
    for (size_t i = 0; i < n; i++)
        put_option(format, &options[i]);
}

static void put_about(help_format format)
{
    for (size_t i = 0; i < sizeof about / sizeof *about; i++) {
        if (about[i].section != NULL)
            put_title(format, about[i].section);
        put_item(format, about[i].term, false, "", about[i].text);
    }
}

void help_write_command(help_format format, const cli_verb *const *verbs)
{
    bool is_man = format == HELP_MAN;
    put_head(format, "", "", "train linear models with nothing to tune");
    puts(is_man ? "*greedystep* _COMMAND_ ...++\n*greedystep help* [_COMMAND_|*data*]++\n*greedystep --version*\n\n# "
                  "COMMANDS\n\n"
                  "Each has its own page, which *greedystep help* _COMMAND_ prints too.\n"
                : "```text\ngreedystep COMMAND ...\ngreedystep help [COMMAND|data]\ngreedystep --version\n```\n\n"
                  "| command | |\n|---|---|");
    for (const cli_verb *const *each = verbs; *each != NULL; each++) {
        const char *name = (*each)->name, *summary = (*each)->summary;
        if (is_man)
            printf("*greedystep-%s*(1)\n\t%s\n\n", name, summary);
        else
            printf("| [%s](%s.md) | %s |\n", name, name, summary);
    }
    if (!is_man) {
        puts("\n`greedystep help COMMAND` and `man greedystep-COMMAND` show the same pages.");
        put_examples(format, "Quick start", quick_start);
    }
    help_write_data(format);
    put_about(format);
    if (is_man)
        put_examples(format, "Examples", quick_start);
}

void help_write_overview(FILE *stream, const cli_verb *const *verbs, bool is_short)
{
    fputs("usage: greedystep COMMAND ...\n\nTrains linear models with nothing to tune.\n\n", stream);
    for (const cli_verb *const *each = verbs; *each != NULL; each++)
        fprintf(stream, "  %-10s %s\n", (*each)->name, (*each)->summary);
    fputs("\n  greedystep help COMMAND    describe a command, with options and examples\n"
          "  greedystep help data       describe the input formats and their options\n"
          "  greedystep --version       print the version and the libraries found\n\nQuick start:\n",
          stream);
    for (const char *line = quick_start, *end; *line != '\0'; line = end + (*end == '\n')) {
        end = line + strcspn(line, "\n");
        fprintf(stream, "  %.*s\n", (int)(end - line), line);
    }
    if (!is_short)
        put_about(HELP_TEXT);
}

void help_write_version(const char *program)
{
    const char *name, *version;
    printf("%s %s\n", program, gsa_version());
    for (size_t i = 0; (name = gsa_codec_at(i, &version)) != NULL; i++)
        printf("%-10s %s\n", name, version != NULL ? version : "no");
    printf("%-10s %s\n", "jansson", JANSSON_VERSION);
    version = duckdb_version();
    printf("%-10s %s\n", "duckdb", version != NULL ? version : "no");
    printf("%-10s %s\n", "mpi", cluster_libraries()[0] != '\0' ? cluster_libraries() : "no");
}
