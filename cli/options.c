/* The parser of the command line. Every value is checked against its table entry here, so that a verb sees valid ones
 * only; the verb checks what depends on files. */
#include "options.h"

#include "message.h"
#include "typed.h"

#include "base/text.h"

#include <greedystep/greedystep.h>

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const cli_option quiet_option = {
    "quiet", 'q', OPTION_FLAG, false, NULL, NULL, 0, 0, "print errors and results only: no progress, notes or summary"};

/* First what a model knows of its columns, last what is not for those who need files. */
static const cli_option reader_options[] = {
    {"label", 0, OPTION_TEXT, false, "COLUMN", NULL, 0, 0,
     "column to predict; default: label, target, y, class, click or clicked, without a header the first column"},
    {"weight", 0, OPTION_TEXT, false, "COLUMN", NULL, 0, 0, "column with row weights"},
    {"exposure", 0, OPTION_TEXT, false, "COLUMN", NULL, 0, 0,
     "column with the exposure of counts (time, area, volume), for --loss poisson"},
    {"offset", 0, OPTION_TEXT, false, "COLUMN", NULL, 0, 0,
     "column with margins of another model, to which the learned one is added"},
    {"per", 0, OPTION_TEXT, false, "COLUMN", NULL, 0, 0,
     "give each value of this column, such as a customer, an intercept and slopes of its own, shrunk to those of all"},
    {"group", 0, OPTION_TEXT, false, "COLUMN", NULL, 0, 0,
     "hold rows of one group, such as a person, out together; the column is no feature"},
    {"time", 0, OPTION_TEXT, false, "COLUMN", NULL, 0, 0,
     "hold the latest rows out, by a column of numbers or dates, which stays a feature"},
    {"categorical", 0, OPTION_TEXT, false, "A,B", NULL, 0, 0,
     "treat these columns as categories, not as numbers or texts"},
    {"text", 0, OPTION_TEXT, false, "A,B", NULL, 0, 0, "treat these columns as texts: their words are features"},
    {"increasing", 0, OPTION_TEXT, false, "A,B", NULL, 0, 0,
     "the prediction never falls when one of these columns of numbers rises, all else being the same"},
    {"decreasing", 0, OPTION_TEXT, false, "A,B", NULL, 0, 0, "the prediction never rises when one of these rises"},
    {"decimal", 0, OPTION_CHOICE, false, "auto|point|comma", "auto", 0, 0, "decimal mark, if the cells are ambiguous"},
    {"dates", 0, OPTION_CHOICE, false, "auto|day-first|month-first", "auto", 0, 0,
     "order of dates such as 3/4/2026, if the cells are ambiguous"},
    {"missing", 0, OPTION_TEXT, false, "auto|none|N,N", "auto", 0, 0,
     "numbers that mean a missing value, such as -999; auto: -999 and the like if they are far from all others"},
    {"cross", 0, OPTION_TEXT, false, "A:B,C:D", NULL, 0, 0, "add the products of two columns, or of two namespaces"},
    {"bits", 0, OPTION_COUNT, false, "N", "24", 1, 31, "hash categories and crosses to 2^N features"},
    {"labels", 0, OPTION_TEXT, false, "FILE,FILE", NULL, 0, 0,
     "labels for .npy files of rows: one .npy file for each, in the same order"},
    {"ignore", 0, OPTION_TEXT, false, "A,B", NULL, 0, 0, "leave these columns out"},
    {"bad-rows", 0, OPTION_CHOICE, false, "error|skip", "error", 0, 0,
     "stop at a row that cannot be read, or skip and count it"},
    {"memory-limit", 0, OPTION_SIZE, false, "none|SIZE", "half of the memory", 0, 0,
     "fail rather than use more memory, such as 512M or 2G"},
    {"sql", 0, OPTION_TEXT, false, "QUERY", NULL, 0, 0, "read the result of this DuckDB query in place of DATA"},
};
enum { N_READER_OPTIONS = sizeof reader_options / sizeof *reader_options, N_OF_COLUMNS = 16 };

static cli_option option_of_parameter(const gsa_param *parameter)
{
    static const option_kind kinds[] = {[GSA_PARAM_CHOICE] = OPTION_CHOICE,
                                        [GSA_PARAM_COUNT] = OPTION_COUNT,
                                        [GSA_PARAM_SWITCH] = OPTION_SWITCH,
                                        [GSA_PARAM_SHARE] = OPTION_REAL};
    return (cli_option){.name = parameter->name,
                        .kind = kinds[parameter->kind],
                        .takes = parameter->choices != NULL ? parameter->choices : "on|off",
                        .initial = parameter->initial,
                        .min = parameter->kind == GSA_PARAM_SHARE ? 0 : parameter->least,
                        .max = parameter->kind == GSA_PARAM_SHARE ? 1 : parameter->most,
                        .help = parameter->help};
}

static void append_options(cli_option *out, size_t *n, const cli_option *more, size_t n_more)
{
    assert(*n + n_more <= MAX_OPTIONS);
    for (size_t i = 0; i < n_more; i++)
        out[(*n)++] = more[i];
}

size_t options_of(const cli_verb *verb, cli_option out[MAX_OPTIONS], option_sections *sections)
{
    size_t n = 0, n_known = verb->has_model ? N_OF_COLUMNS : 0;
    append_options(out, &n, verb->options, verb->n_options);
    append_options(out, &n, &quiet_option, 1);
    sections->reader = n;
    if (verb->reads_data)
        append_options(out, &n, reader_options + n_known, N_READER_OPTIONS - n_known - verb->needs_files);
    sections->parameter = n;
    for (size_t i = 0; verb->takes_parameters && gsa_param_at(i) != NULL; i++) {
        cli_option parameter = option_of_parameter(gsa_param_at(i));
        append_options(out, &n, &parameter, 1);
    }
    return n;
}

size_t options_of_readers(const cli_option **out)
{
    *out = reader_options;
    return N_READER_OPTIONS;
}

/* ---- names ------------------------------------------------------------------------------------------------------ */

/* Returns the index of an option, n_options if not found. */
static size_t find_option(const cli_arguments *arguments, const char *name, size_t length)
{
    size_t i = 0;
    while (i < arguments->n_options && !names_equal_up_to(name, length, arguments->options[i].name))
        i++;
    return i;
}

static bool can_be_off(const cli_option *option)
{
    return option->kind == OPTION_SWITCH || option->kind == OPTION_FLAG;
}

static const char *nearest_option(const cli_arguments *arguments, const char *typed, bool switches_only)
{
    suggestion near = suggest_begin(typed);
    for (size_t i = 0; i < arguments->n_options; i++) {
        const cli_option *option = &arguments->options[i];
        if (option->help != NULL && (!switches_only || can_be_off(option)))
            suggest_consider(&near, arguments->options[i].name);
    }
    if (!switches_only)
        suggest_consider(&near, "help");
    return near.best;
}

static int complain_unknown(const cli_arguments *arguments, const char *name, size_t length)
{
    char typed[OPTION_NAME_SIZE], shown[OPTION_NAME_SIZE];
    for (size_t i = 0; i < N_OF_COLUMNS && arguments->verb->has_model; i++) {
        if (names_equal_up_to(name, length, reader_options[i].name))
            return complain_usage("%s takes no --%s, which the model knows; leave it out", arguments->verb->name,
                                  reader_options[i].name);
    }
    snprintf(typed, sizeof typed, "%.*s", (int)(length < sizeof typed ? length : sizeof typed - 1), name);
    bool is_negated = names_equal_up_to(typed, length < 3 ? length : 3, "no-");
    const char *negated = is_negated ? nearest_option(arguments, typed + 3, true) : NULL;
    const char *best = negated != NULL ? negated : nearest_option(arguments, typed, false);
    if (best == NULL)
        return complain_usage("unknown option --%s; `greedystep help %s` lists them all", typed, arguments->verb->name);
    return complain_usage("unknown option --%s; did you mean --%s%s?", typed, negated != NULL ? "no-" : "",
                          option_display_name(best, shown));
}

/* ---- values ----------------------------------------------------------------------------------------------------- */

int option_words(const cli_option *option)
{
    bool is_number = option->kind == OPTION_COUNT || option->kind == OPTION_SIZE;
    const char *last = is_number ? strrchr(option->takes, '|') : NULL;
    return last != NULL ? (int)(last - option->takes) : 0;
}

/* Returns whether a value is one of the words in "auto|none|N": all but the last, which stands for a number. */
static bool is_word(const cli_option *option, const char *value)
{
    size_t length = strlen(value);
    for (const char *word = option->takes, *end; (end = strchr(word, '|')) != NULL; word = end + 1) {
        if ((size_t)(end - word) == length && memcmp(word, value, length) == 0)
            return true;
    }
    return false;
}

static int check_choice(const char *name, const char *choices, const char *value)
{
    char copy[256];
    snprintf(copy, sizeof copy, "%s", choices);
    suggestion near = suggest_begin(value);
    for (char *choice = copy, *end; choice != NULL; choice = end) {
        end = strchr(choice, '|');
        if (end != NULL)
            *end++ = '\0';
        if (strcmp(choice, value) == 0)
            return EXIT_DONE;
        suggest_consider(&near, choice);
    }
    if (near.best != NULL)
        return complain_usage("--%s %s: not one of %s; did you mean %s?", name, value, choices, near.best);
    return complain_usage("--%s %s: not one of %s", name, value, choices);
}

/* EXIT_DONE if the value is good. */
static int check_value(const cli_option *option, const char *value, uint64_t *number)
{
    double real;
    char name[OPTION_NAME_SIZE];
    int words = option_words(option);
    option_display_name(option->name, name);
    if (words > 0 && is_word(option, value))
        return EXIT_DONE;
    switch (option->kind) {
    case OPTION_TEXT:
        return *value != '\0' ? EXIT_DONE : complain_usage("--%s needs a value (%s)", name, option->takes);
    case OPTION_CHOICE:
        return check_choice(name, option->takes, value);
    case OPTION_COUNT:
        if (gsai_count_parse(value, number) && *number >= option->min && *number <= option->max)
            return EXIT_DONE;
        return complain_usage("--%s %s: expected %.*s%sa whole number from %" PRIu64 " to %" PRIu64, name, value, words,
                              option->takes, words > 0 ? " or " : "", option->min, option->max);
    case OPTION_REAL:
        if (number_parse_real(value, &real) && real >= (double)option->min && real <= (double)option->max)
            return EXIT_DONE;
        return complain_usage("--%s %s: expected a number from %" PRIu64 " to %" PRIu64, name, value, option->min,
                              option->max);
    case OPTION_TIME:
        return number_parse_time(value, &real)
                   ? EXIT_DONE
                   : complain_usage("--%s %s: expected a time such as 60s, 5m or 1h, a year at most", name, value);
    case OPTION_SIZE:
        if (number_parse_size(value, number))
            return EXIT_DONE;
        return complain_usage("--%s %s: expected %.*s or a size in bytes such as 512M or 2G, below 2^64", name, value,
                              words, option->takes);
    case OPTION_SWITCH:
    case OPTION_FLAG:
        return check_choice(name, "on|off", value);
    }
    return EXIT_DONE;
}

static int store_value(cli_arguments *arguments, size_t at, const char *value)
{
    char name[OPTION_NAME_SIZE];
    if (arguments->value[at] != NULL)
        return complain_usage("--%s is given twice; leave one out",
                              option_display_name(arguments->options[at].name, name));
    int code = check_value(&arguments->options[at], value, &arguments->number[at]);
    if (code == EXIT_DONE)
        arguments->value[at] = value;
    return code;
}

/* ---- parsing ---------------------------------------------------------------------------------------------------- */

/* The value of an option that none was attached to: the next argument, or "on" for what can stand alone. *next moves
 * past what was taken. */
static int take_value(cli_arguments *arguments, size_t at, int *next)
{
    const cli_option *option = &arguments->options[at];
    const char *following = *next < arguments->argc ? arguments->argv[*next] : NULL;
    bool is_on_off = following != NULL && (strcmp(following, "on") == 0 || strcmp(following, "off") == 0);
    if (option->kind == OPTION_FLAG || (option->kind == OPTION_SWITCH && !is_on_off))
        return store_value(arguments, at, "on");
    if (following == NULL || strncmp(following, "--", 2) == 0) {
        char name[OPTION_NAME_SIZE];
        return complain_usage("--%s needs a value (%s)", option_display_name(option->name, name), option->takes);
    }
    ++*next;
    return store_value(arguments, at, following);
}

static int parse_long(cli_arguments *arguments, const char *text, int *next)
{
    const char *equals = strchr(text, '=');
    size_t length = equals != NULL ? (size_t)(equals - text) : strlen(text);
    if (names_equal_up_to(text, length, "help")) {
        arguments->wants_help = LONG_HELP;
        return EXIT_DONE;
    }
    size_t at = find_option(arguments, text, length);
    if (at < arguments->n_options)
        return equals != NULL ? store_value(arguments, at, equals + 1) : take_value(arguments, at, next);
    if (length > 3 && names_equal_up_to(text, 3, "no-") && equals == NULL) {
        at = find_option(arguments, text + 3, length - 3);
        if (at < arguments->n_options && can_be_off(&arguments->options[at]))
            return store_value(arguments, at, "off");
    }
    return complain_unknown(arguments, text, length);
}

static int parse_short(cli_arguments *arguments, const char *text, int *next)
{
    if (strcmp(text, "h") == 0) {
        arguments->wants_help = SHORT_HELP;
        return EXIT_DONE;
    }
    /* `-output m` is a slip, not the letter o with the value `utput`. */
    bool is_long_name = text[1] != '\0' && find_option(arguments, text, strcspn(text, "=")) < arguments->n_options;
    for (size_t i = 0; i < arguments->n_options && !is_long_name; i++) {
        if (arguments->options[i].letter == text[0])
            return text[1] != '\0' ? store_value(arguments, i, text + 1) : take_value(arguments, i, next);
    }
    if (is_long_name)
        return complain_usage("unknown option -%s; did you mean --%s?", text, text);
    return complain_usage("unknown option -%s; `greedystep help %s` lists them all", text, arguments->verb->name);
}

static int check_complete(const cli_arguments *arguments)
{
    const cli_verb *verb = arguments->verb;
    for (size_t i = 0; i < arguments->n_options; i++) {
        const cli_option *option = &arguments->options[i];
        if (option->required && arguments->value[i] == NULL && option->letter != 0)
            return complain_usage("%s needs -%c %s; usage: greedystep %s %s", verb->name, option->letter, option->takes,
                                  verb->name, verb->usage);
    }
    size_t min = verb->positional != NULL ? 1 + (size_t)verb->has_model : 0;
    size_t max = verb->positional == NULL || verb->takes_one ? min : SIZE_MAX;
    bool has_query = verb->reads_data && !verb->needs_files && arguments_given(arguments, "sql");
    if (has_query && arguments->n_positional >= min)
        return complain_usage("%s takes DATA or --sql, not both; leave one out", verb->name);
    if (arguments->n_positional + has_query < min)
        return complain_usage("%s needs %s; usage: greedystep %s %s", verb->name, verb->positional, verb->name,
                              verb->usage);
    if (arguments->n_positional > max)
        return complain_usage("%s takes no argument `%s`; usage: greedystep %s %s", verb->name,
                              arguments->positional[max], verb->name, verb->usage);
    return EXIT_DONE;
}

int arguments_parse(const cli_verb *verb, int argc, char **argv, int first, cli_arguments *out)
{
    *out = (cli_arguments){.verb = verb, .argc = argc, .argv = argv};
    out->n_options = options_of(verb, out->options, &out->sections);
    out->positional = calloc((size_t)argc, sizeof *out->positional);
    if (out->positional == NULL)
        return complain_failed("out of memory");
    bool options_ended = false;
    int code = EXIT_DONE;
    for (int next = first; next < argc && code == EXIT_DONE;) {
        const char *text = argv[next++];
        if (options_ended || text[0] != '-' || text[1] == '\0')
            out->positional[out->n_positional++] = text;
        else if (strcmp(text, "--") == 0)
            options_ended = true;
        else if (text[1] == '-')
            code = parse_long(out, text + 2, &next);
        else
            code = parse_short(out, text + 1, &next);
    }
    return code != EXIT_DONE || out->wants_help != NO_HELP ? code : check_complete(out);
}

void arguments_free(cli_arguments *arguments)
{
    free(arguments->positional);
    arguments->positional = NULL;
}

/* ---- looking up ------------------------------------------------------------------------------------------------- */

static size_t known_option(const cli_arguments *arguments, const char *name)
{
    size_t at = find_option(arguments, name, strlen(name));
    assert(at < arguments->n_options);
    return at;
}

bool arguments_have(const cli_arguments *arguments, const char *name)
{
    return find_option(arguments, name, strlen(name)) < arguments->n_options;
}

bool arguments_given(const cli_arguments *arguments, const char *name)
{
    return arguments->value[known_option(arguments, name)] != NULL;
}

const char *arguments_text(const cli_arguments *arguments, const char *name)
{
    size_t at = known_option(arguments, name);
    return arguments->value[at] != NULL ? arguments->value[at] : arguments->options[at].initial;
}

uint64_t arguments_number(const cli_arguments *arguments, const char *name)
{
    size_t at = known_option(arguments, name);
    uint64_t initial = 0;
    if (arguments->value[at] != NULL)
        return arguments->number[at];
    return gsai_count_parse(arguments->options[at].initial, &initial) ? initial : 0;
}

double arguments_real(const cli_arguments *arguments, const char *name)
{
    double number = 0;
    bool is_time = arguments->options[known_option(arguments, name)].kind == OPTION_TIME;
    return (is_time ? number_parse_time : number_parse_real)(arguments_text(arguments, name), &number) ? number : 0;
}

bool arguments_flag(const cli_arguments *arguments, const char *name)
{
    const char *value = arguments_text(arguments, name);
    return value != NULL && strcmp(value, "on") == 0;
}

void arguments_stand_in(cli_arguments *arguments, const char *given, const char *name)
{
    if (arguments_given(arguments, given))
        arguments->value[known_option(arguments, name)] = arguments_text(arguments, given);
}

const char *arguments_plain_value(const cli_arguments *arguments, size_t number, char buffer[VALUE_TEXT_SIZE])
{
    const cli_option *option = &arguments->options[number];
    const char *value = arguments->value[number];
    if (value == NULL || option->kind != OPTION_COUNT || is_word(option, value))
        return value;
    snprintf(buffer, VALUE_TEXT_SIZE, "%" PRIu64, arguments->number[number]);
    return buffer;
}
