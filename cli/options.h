/* The command line: options by table, positional arguments, and what is wrong with them.
 *
 * `--name value`, `--name=value`, `-o FILE`, `-oFILE`, `-q`; `--` ends the options. A dash and an underscore in a name
 * are the same. A switch is `--name on`, `--name off`, `--name` or `--no-name`; a flag takes no separate value. An
 * option is given once at most. */
#ifndef GREEDYSTEP_CLI_OPTIONS_H
#define GREEDYSTEP_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum option_kind {
    OPTION_TEXT,
    OPTION_CHOICE,
    OPTION_COUNT,
    OPTION_SIZE,
    OPTION_REAL,
    OPTION_TIME,
    OPTION_SWITCH,
    OPTION_FLAG
} option_kind;

typedef struct cli_option {
    const char *name;
    char letter; /* 0: none */
    option_kind kind;
    bool required;
    const char *takes;   /* a choice: "a|b"; a count or size: words for special values, then what the help calls
                          * a number: "auto|N"; else what the help calls the value */
    const char *initial; /* the default as text, or NULL; of a flag: off */
    uint64_t min, max;   /* range of a count or real number */
    const char *help;    /* NULL: accepted, but in no list */
} cli_option;

struct cli_arguments;

/* A method that an option of the verb can name, for its help. */
typedef struct verb_method {
    char usage[64];
    char text[400];
    bool needs_rows;
} verb_method;

typedef struct cli_verb {
    const char *name;
    const char *usage;    /* what follows the verb */
    const char *summary;  /* one line */
    const char *details;  /* paragraphs for the verb's own help, with an empty line between them */
    const char *examples; /* lines of shell that work, and what they are for as comments */
    const char *common;   /* options that -h lists, each between commas; NULL: all of the verb's own */
    const cli_option *options;
    size_t n_options;
    bool reads_data;        /* has the options of readers too */
    bool has_model;         /* which knows the columns: options that say what columns are do not belong to the verb */
    bool needs_files;       /* cannot do with the rows of a query, which come once */
    bool takes_parameters;  /* has the parameters of training too */
    const char *positional; /* what a positional argument is called, NULL if none is taken; else there is one at least,
                             * with has_model two */
    bool takes_one;         /* and no more */
    bool (*describe_method)(size_t number, verb_method *out); /* false beyond the last; NULL: the verb has none */
    int (*run)(const struct cli_arguments *arguments);        /* gives the exit code */
} cli_verb;

enum { MAX_OPTIONS = 64 };

/* Indices of the first option of readers and the first parameter of training. */
typedef struct option_sections {
    size_t reader, parameter;
} option_sections;

typedef struct cli_arguments {
    const cli_verb *verb;
    int argc; /* of the whole command, for messages that repeat it */
    char **argv;
    cli_option options[MAX_OPTIONS]; /* as options_of lists them */
    size_t n_options;
    option_sections sections;
    const char *value[MAX_OPTIONS]; /* as typed; NULL: not given */
    uint64_t number[MAX_OPTIONS];   /* of a count or size that was given; of a word 0 */
    const char **positional;        /* points into memory of its own */
    size_t n_positional;
    enum { NO_HELP, SHORT_HELP, LONG_HELP } wants_help;
} cli_arguments;

/* Parses what follows the verb, argv[first] onwards. Gives EXIT_DONE, or another exit code after a message. free in
 * every case. */
int arguments_parse(const cli_verb *verb, int argc, char **argv, int first, cli_arguments *out);
void arguments_free(cli_arguments *arguments);

/* Lists the options that a verb understands: its own, --quiet, those of readers, the parameters. Returns their number.
 */
size_t options_of(const cli_verb *verb, cli_option out[MAX_OPTIONS], option_sections *sections);
/* Lists the options of readers. Returns their number. */
size_t options_of_readers(const cli_option **out);

/* Says whether the verb has an option of this name; those below are for options that it has. */
bool arguments_have(const cli_arguments *arguments, const char *name);
/* Return what was given for an option by its name, which must be in the table: values as typed, else the default. */
bool arguments_given(const cli_arguments *arguments, const char *name);
const char *arguments_text(const cli_arguments *arguments, const char *name);
uint64_t arguments_number(const cli_arguments *arguments, const char *name);
/* Returns the value of an option as a real number, or a time in seconds. */
double arguments_real(const cli_arguments *arguments, const char *name);
bool arguments_flag(const cli_arguments *arguments, const char *name);

/* Sets an option to the value of another, if that is given. */
void arguments_stand_in(cli_arguments *arguments, const char *given, const char *name);

/* The value of option `number` as the library wants it: counts as plain digits. NULL if it was not given. */
enum { VALUE_TEXT_SIZE = 24 };
const char *arguments_plain_value(const cli_arguments *arguments, size_t number, char buffer[VALUE_TEXT_SIZE]);

/* Returns how many bytes of what a count or size takes are words: in "auto|none|N" those before |N. */
int option_words(const cli_option *option);

#endif
