/* Several methods on the same rows, in the same order, evaluated after every pass. Nothing is written before all have
 * run. */
#include "compare.h"

#include "base/memory.h"

#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/session.h"
#include "cli/verbs.h"
#include "cli/views.h"

#include "base/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const cli_option compare_options[] = {
    {"methods", 0, OPTION_TEXT, true, "LIST", NULL, 0, 0,
     "methods to compare, separated by commas, such as gsa,sgd:0.1,scsg:0.1:200"},
    {"output", 'o', OPTION_TEXT, true, "FILE", NULL, 0, 0,
     "write the results here, as CSV with a line per method, seed, pass and split; - is standard output"},
    {"test", 0, OPTION_TEXT, false, "FILE", NULL, 0, 0,
     "rows to test on; default: a fifth of DATA, another for every seed"},
    {"passes", 0, OPTION_COUNT, false, "N", "5", 1, 1000000, "number of passes over the rows; 1 for a stream"},
    {"seeds", 0, OPTION_COUNT, false, "N", "5", 1, 10000, "run every method with the seeds 0 to N-1"},
    {"loss", 0, OPTION_CHOICE, false, "auto|squared|logistic|softmax", "auto", 0, 0,
     "classes (logistic, softmax) or numbers (squared); auto: by the labels"},
    {"intercept", 0, OPTION_SWITCH, false, "on|off", "on", 0, 0, "learn a constant term"},
    {"row-results", 0, OPTION_TEXT, false, "FILE", NULL, 0, 0,
     "write the loss of every test row here, as CSV with a line per method, seed and row"},
};

typedef struct comparing {
    const cli_arguments *arguments;
    gsai_env env;
    compare_method *methods;
    compare_data data;
    compare_grid grid;
    char *data_name;
    cli_output rows; /* closed without --row-results */
} comparing;

/* ---- what was asked for ------------------------------------------------------------------------------------------ */

static int parse_methods(comparing *what)
{
    const char *list = arguments_text(what->arguments, "methods");
    if (list == NULL)
        return complain_usage("compare needs --methods LIST, such as gsa,sgd:0.1; `greedystep help compare` lists the "
                              "methods");
    int code = compare_methods_parse(list, &what->methods, &what->grid.n_methods);
    what->grid.methods = what->methods;
    return code;
}

static int check_output(const cli_arguments *arguments, const char *option, const char *path)
{
    const char *test = arguments_text(arguments, "test");
    int code = session_check_not_input(path, option, arguments->positional, arguments->n_positional);
    if (code == EXIT_DONE && test != NULL)
        code = session_check_not_input(path, option, &test, 1);
    return code == EXIT_DONE ? output_check_place(path) : code;
}

static int check_outputs(const cli_arguments *arguments)
{
    const char *path = arguments_text(arguments, "output"), *rows = arguments_text(arguments, "row-results");
    int code = strcmp(path, "-") != 0 ? check_output(arguments, "-o", path) : EXIT_DONE;
    if (code != EXIT_DONE || rows == NULL)
        return code;
    if (strcmp(rows, "-") == 0)
        return complain_usage("--row-results cannot go to standard output, which has the table; give a file name");
    if (session_is_same_file(rows, path))
        return complain_usage("-o and --row-results are the same file %s; give one of them another name", path);
    return check_output(arguments, "--row-results", rows);
}

/* The last part of the path, without the ending of a codec. */
static int name_data(comparing *what)
{
    static const char *const endings[] = {".xz", ".gz", ".zst", ".bz2"};
    const char *path = what->arguments->positional[0], *name = path + gsai_directory_len(path);
    what->data_name = strdup(name);
    if (what->data_name == NULL)
        return complain_failed("out of memory");
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (session_is_named(name, endings[i]))
            what->data_name[strlen(name) - strlen(endings[i])] = '\0';
    what->grid.data_name = what->data_name;
    return EXIT_DONE;
}

/* ---- the data ---------------------------------------------------------------------------------------------------- */

/* Limits a stream, which is read once, to one pass and to methods that never go back. */
static int check_stream(comparing *what)
{
    what->grid.n_passes = (size_t)arguments_number(what->arguments, "passes");
    if (!progress_of(what->data.reader).is_stream)
        return EXIT_DONE;
    for (size_t i = 0; i < what->grid.n_methods; i++) {
        if (compare_method_needs_rows(&what->methods[i]))
            return complain_failed("%s cannot learn from a stream: it goes back to earlier rows; save the rows in a "
                                   "file, or leave the method out",
                                   what->methods[i].name);
    }
    if (!arguments_given(what->arguments, "passes"))
        what->grid.n_passes = 1;
    if (what->grid.n_passes > 1)
        return complain_failed(
            "--passes %zu: a stream can be read only once; save the rows in a file, or give --passes 1",
            what->grid.n_passes);
    return EXIT_DONE;
}

static int open_data(comparing *what)
{
    const cli_arguments *arguments = what->arguments;
    const char *test = arguments_text(arguments, "test");
    what->data.loss = arguments_text(arguments, "loss");
    what->data.intercept = arguments_text(arguments, "intercept");
    if (test != NULL && strcmp(test, "-") == 0 && strcmp(arguments->positional[0], "-") == 0)
        return complain_usage("standard input cannot be both DATA and --test; give one of them as a file");
    static const gsa_reader_options wanted = {.without_offsets = false}, wanted_of_test = {.without_offsets = true};
    int code = session_open_reader(arguments, &wanted, arguments->positional, arguments->n_positional, &what->env,
                                   &what->data.reader);
    if (code == EXIT_DONE && test != NULL)
        code = session_open_reader(arguments, &wanted_of_test, &test, 1, &what->env, &what->data.test_reader);
    return code == EXIT_DONE ? check_stream(what) : code;
}

static gsa_status read_data(comparing *what, gsa_error *error)
{
    compare_data *data = &what->data;
    cli_progress *progress = &what->grid.progress;
    GSA_TRY(compare_rows_read(&data->rows, data->reader, progress, error));
    if (data->test_reader != NULL)
        GSA_TRY(gsa_reader_set_schema(data->test_reader, gsa_reader_schema(data->reader), error));
    if (data->test_reader != NULL)
        GSA_TRY(compare_rows_read(&data->test_rows, data->test_reader, progress, error));
    return GSA_OK;
}

static void tell_bad_rows(comparing *what)
{
    gsa_reader *const readers[] = {what->data.reader, what->data.test_reader};
    uint64_t n_bad_rows = 0;
    for (size_t i = 0; i < sizeof readers / sizeof *readers; i++) {
        n_bad_rows += readers[i] != NULL ? progress_of(readers[i]).n_bad_rows : 0;
    }
    if (n_bad_rows == 0)
        return;
    progress_clear(&what->grid.progress);
    note("%" PRIu64 " bad %s skipped", n_bad_rows, n_bad_rows == 1 ? "row was" : "rows were");
}

/* ---- the verb ---------------------------------------------------------------------------------------------------- */

static int open_rows(comparing *what)
{
    const char *path = arguments_text(what->arguments, "row-results");
    int code = path != NULL ? output_open(path, &what->rows) : EXIT_DONE;
    what->grid.row_stream = what->rows.stream;
    return code;
}

static int write_results(comparing *what)
{
    cli_output output = {0};
    const char *path = arguments_text(what->arguments, "output");
    int code = what->grid.row_stream != NULL ? output_commit(&what->rows) : EXIT_DONE;
    if (code == EXIT_DONE)
        code = output_open(path, &output);
    if (code == EXIT_DONE)
        code = compare_write_csv(&what->grid, output.stream) ? output_commit(&output) : output_complain(&output);
    output_discard(&output);
    if (code == EXIT_DONE && strcmp(path, "-") != 0 && !message_is_quiet())
        compare_print_table(&what->grid);
    return code;
}

static int compare_all(comparing *what)
{
    gsa_error error = {.row = GSA_NO_ROW};
    interrupt_catch();
    progress_begin(&what->grid.progress, true, NULL);
    what->grid.n_seeds = (size_t)arguments_number(what->arguments, "seeds");
    gsa_status status = read_data(what, &error);
    if (status == GSA_OK)
        tell_bad_rows(what);
    if (status == GSA_OK)
        status = compare_grid_run(&what->grid, &what->data, &what->env, &error);
    progress_clear(&what->grid.progress);
    return status == GSA_OK ? write_results(what) : complain_error(status, &error);
}

static int run_compare(const cli_arguments *arguments)
{
    comparing what = {.arguments = arguments, .env = session_env(arguments)};
    what.data.env = gsai_env_resolve(&what.env);
    gsai_rows_init(&what.data.rows, 0, 0, &what.data.env);
    gsai_rows_init(&what.data.test_rows, 0, 0, &what.data.env);
    int code = parse_methods(&what);
    if (code == EXIT_DONE)
        code = check_outputs(arguments);
    if (code == EXIT_DONE)
        code = name_data(&what);
    if (code == EXIT_DONE)
        code = open_data(&what);
    if (code == EXIT_DONE)
        code = open_rows(&what);
    if (code == EXIT_DONE)
        code = compare_all(&what);
    output_discard(&what.rows);
    compare_grid_free(&what.grid);
    gsai_rows_free(&what.data.rows);
    gsai_rows_free(&what.data.test_rows);
    gsa_reader_close(what.data.reader);
    gsa_reader_close(what.data.test_reader);
    free(what.methods);
    free(what.data_name);
    return code;
}

const cli_verb compare_program = {
    .name = "compare",
    .usage = "DATA... --methods LIST -o FILE [OPTIONS]",
    .summary = "compare several optimisers on the same rows",
    .details = "Trains every method of LIST with every seed on the rows of all DATA files, in the same order, "
               "evaluates each after every pass on training and test rows, and writes the results to FILE. All rows "
               "are kept in memory.",
    .examples =
        "greedystep compare train.svm --methods gsa,paper,sgd:0.1 -o results.csv\n# one seed, and a test "
        "file\ngreedystep compare train.svm --test test.svm --seeds 1 \\\n    --methods gsa,adagrad:0.1 -o tested.csv",
    .options = compare_options,
    .n_options = sizeof compare_options / sizeof *compare_options,
    .reads_data = true,
    .needs_files = true,
    .positional = "DATA",
    .min_positional = 1,
    .max_positional = SIZE_MAX,
    .describe_method = compare_method_describe,
    .run = run_compare,
};
