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
    compare_method *methods;
    compare_data data;
    compare_grid grid;
    cli_output rows; /* closed without --row-results */
} comparing;

/* ---- what was asked for ------------------------------------------------------------------------------------------ */

static int check_outputs(const cli_arguments *arguments)
{
    const char *path = arguments_text(arguments, "output"), *rows = arguments_text(arguments, "row-results");
    int code = session_check_not_input(arguments, "-o", path);
    if (code == EXIT_DONE && strcmp(path, "-") != 0)
        code = output_check_place(path);
    if (code != EXIT_DONE || rows == NULL)
        return code;
    if (strcmp(rows, "-") == 0)
        return complain_usage("--row-results cannot go to standard output, which has the table; give a file name");
    if (session_is_same_file(rows, path))
        return complain_usage("-o and --row-results are the same file %s; give one of them another name", path);
    code = session_check_not_input(arguments, "--row-results", rows);
    return code == EXIT_DONE ? output_check_place(rows) : code;
}

/* ---- the data ---------------------------------------------------------------------------------------------------- */

/* Opens the readers. A stream, which is read once, is limited to one pass and to methods that never go back. */
static int open_data(comparing *what)
{
    const cli_arguments *arguments = what->arguments;
    const char *test = arguments_text(arguments, "test");
    compare_data *data = &what->data;
    compare_grid *grid = &what->grid;
    data->loss = arguments_text(arguments, "loss");
    data->intercept = arguments_text(arguments, "intercept");
    grid->n_passes = (size_t)arguments_number(arguments, "passes");
    if (test != NULL && strcmp(test, "-") == 0 && strcmp(arguments->positional[0], "-") == 0)
        return complain_usage("standard input cannot be both DATA and --test; give one of them as a file");
    static const gsa_reader_options wanted = {.without_offsets = false}, wanted_of_test = {.without_offsets = true};
    int code = session_open_reader(arguments, &wanted, arguments->positional, arguments->n_positional, &data->env,
                                   &data->reader);
    if (code == EXIT_DONE && test != NULL)
        code = session_open_reader(arguments, &wanted_of_test, &test, 1, &data->env, &data->test_reader);
    if (code != EXIT_DONE || !progress_of(data->reader).is_stream)
        return code;
    for (size_t i = 0; i < grid->n_methods; i++)
        if (grid->methods[i].baseline != NULL && grid->methods[i].baseline->needs_rows)
            return complain_failed("%s cannot learn from a stream: it goes back to earlier rows; save the rows in a "
                                   "file, or leave the method out",
                                   grid->methods[i].name);
    if (!arguments_given(arguments, "passes"))
        grid->n_passes = 1;
    return grid->n_passes == 1 ? EXIT_DONE
                               : complain_failed("--passes %zu: a stream can be read only once; save the rows in a "
                                                 "file, or give --passes 1",
                                                 grid->n_passes);
}

static gsa_status read_data(comparing *what, gsa_error *error)
{
    compare_data *data = &what->data;
    cli_progress *progress = &what->grid.progress;
    GSA_TRY(compare_rows_read(&data->rows, data->reader, progress, error));
    uint64_t n_bad_rows = progress_of(data->reader).n_bad_rows;
    if (data->test_reader != NULL) {
        GSA_TRY(gsa_reader_set_schema(data->test_reader, gsa_reader_schema(data->reader), error));
        GSA_TRY(compare_rows_read(&data->test_rows, data->test_reader, progress, error));
        n_bad_rows += progress_of(data->test_reader).n_bad_rows;
    }
    if (n_bad_rows > 0) {
        progress_clear(progress);
        note("%" PRIu64 " bad %s skipped", n_bad_rows, n_bad_rows == 1 ? "row was" : "rows were");
    }
    return GSA_OK;
}

/* ---- the verb ---------------------------------------------------------------------------------------------------- */

static int compare_all(comparing *what)
{
    compare_grid *grid = &what->grid;
    const char *path = arguments_text(what->arguments, "output");
    gsa_error error = {.row = GSA_NO_ROW};
    interrupt_catch();
    progress_begin(&grid->progress, true, NULL);
    grid->n_seeds = (size_t)arguments_number(what->arguments, "seeds");
    gsa_status status = read_data(what, &error);
    if (status == GSA_OK)
        status = compare_grid_run(grid, &what->data, &error);
    progress_clear(&grid->progress);
    if (status != GSA_OK)
        return complain_error(status, &error);
    cli_output output = {0};
    int code = grid->row_stream != NULL ? output_commit(&what->rows) : EXIT_DONE;
    if (code == EXIT_DONE)
        code = output_open(path, &output);
    if (code == EXIT_DONE)
        code = compare_write_csv(grid, output.stream) ? output_commit(&output) : output_complain(&output);
    output_discard(&output);
    if (code == EXIT_DONE && strcmp(path, "-") != 0 && !message_is_quiet())
        compare_print_table(grid);
    return code;
}

static int run_compare(const cli_arguments *arguments)
{
    static const char *const endings[] = {".xz", ".gz", ".zst", ".bz2"};
    const gsai_env env = session_env(arguments);
    comparing what = {.arguments = arguments, .data = {.env = gsai_env_resolve(&env)}};
    const char *list = arguments_text(arguments, "methods"), *rows = arguments_text(arguments, "row-results");
    const char *path = arguments->positional[0];
    if (list == NULL)
        return complain_usage("compare needs --methods LIST, such as gsa,sgd:0.1; `greedystep help compare` lists the "
                              "methods");
    if (arguments_given(arguments, "offset"))
        return complain_usage("--offset: the other methods have none; leave it out, and the column with --ignore");
    gsai_rows_init(&what.data.rows, 0, 0, &what.data.env);
    gsai_rows_init(&what.data.test_rows, 0, 0, &what.data.env);
    int code = compare_methods_parse(list, &what.methods, &what.grid.n_methods);
    what.grid.methods = what.methods;
    if (code == EXIT_DONE)
        code = check_outputs(arguments);
    /* The last part of the path, without the ending of a codec. */
    char *name = strdup(path + gsai_directory_len(path));
    if (code == EXIT_DONE && name == NULL)
        code = complain_failed("out of memory");
    for (size_t i = 0; name != NULL && i < sizeof endings / sizeof *endings; i++)
        if (session_is_named(name, endings[i]))
            name[strlen(name) - strlen(endings[i])] = '\0';
    what.grid.data_name = name;
    if (code == EXIT_DONE)
        code = open_data(&what);
    if (code == EXIT_DONE && rows != NULL)
        code = output_open(rows, &what.rows);
    what.grid.row_stream = what.rows.stream;
    if (code == EXIT_DONE)
        code = compare_all(&what);
    output_discard(&what.rows);
    compare_grid_free(&what.grid);
    gsai_rows_free(&what.data.rows);
    gsai_rows_free(&what.data.test_rows);
    gsa_reader_close(what.data.reader);
    gsa_reader_close(what.data.test_reader);
    free(what.methods);
    free(name);
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
    .describe_method = compare_method_describe,
    .run = run_compare,
};
