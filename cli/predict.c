/* `greedystep predict`: one line per row, as the rows come. */
#include "inspect_data.h"
#include "interrupt.h"
#include "message.h"
#include "output.h"
#include "session.h"
#include "verbs.h"
#include "views.h"

#include "base/error.h"
#include "base/schema_text.h"

#include <greedystep/train.h>

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static const cli_option predict_options[] = {
    {"output", 'o', OPTION_TEXT, false, "FILE", "-", 0, 0, "write the predictions here; - is standard output"},
    {"format", 0, OPTION_CHOICE, false, "auto|text|csv|jsonl", "auto", 0, 0,
     "output format; auto: csv or jsonl by the name of FILE, else text"},
    {"proba", 0, OPTION_FLAG, false, NULL, NULL, 0, 0,
     "in csv and jsonl: print the probability of every class, even if there are more than 20"},
    {"explain", 0, OPTION_FLAG, false, NULL, NULL, 0, 0,
     "print how much every column of a table adds to the margin; output is csv"},
    {"interval", 0, OPTION_REAL, false, "SHARE", NULL, 0, 1,
     "of numbers: print an interval that has this share of new labels, such as 0.9"},
    {"keep", 0, OPTION_TEXT, false, "COLUMN[,...]", NULL, 0, 0,
     "copy these columns of DATA to the output, such as ids; the model need not know them"},
    {"threads", 'j', OPTION_COUNT, false, "auto|N", "auto", 1, 256,
     "number of threads; auto: one per processor; never changes the result"},
};

enum { FEW_CLASSES = 20 }; /* up to which all probabilities are printed without --proba */

typedef struct predicting {
    gsai_env env;
    gsa_model *model;
    gsa_reader *reader;
    cli_output output;
    gsa_text text;
    const char *kept;             /* columns, or NULL */
    data_column *column;          /* to be explained; number: its place among the numbers of gsa_explain. NULL: none */
    size_t n_columns, n_features; /* the latter without labels and the like */
    size_t n_pairs;               /* that come after them */
    uint64_t n_read, n_read_before; /* rows, and those before the last batch, which has the cells */
    bool every_class;
    double coverage; /* of intervals; 0: none */
    bool is_count;   /* predictions are e to the power of something */
    uint64_t n_overflowed;
    bool is_watched;   /* the writer of a stream may wait for the answer */
    atomic_int failed; /* the exit code of a write that failed, 0 if none did */
} predicting;

/* ---- contributions ---------------------------------------------------------------------------------------------- */

/* Finds the columns, which are printed in the order of the table: gsa_explain has numbers first, and crosses last. */
static int find_columns(predicting *what, const char *schema)
{
    size_t at[COLUMN_WORDS + 1] = {0};
    if (schema == NULL || strstr(schema, "\ncolumns namespaces\n") != NULL)
        return complain_failed("--explain needs the columns of a table, and the rows of this model have features only; "
                               "`greedystep inspect MODEL` lists the strongest");
    char *crosses = calloc(2, strlen(schema) + 1), *to = crosses;
    data_column *column = what->column = columns_of_schema(schema, &what->n_columns);
    if (column == NULL || crosses == NULL)
        return complain_failed("out of memory");
    for (gsai_schema_line line; gsai_schema_next_line(&schema, &line);)
        if (gsai_schema_line_is(&line, "cross"))
            to += sprintf(to, "%s%.*s:%.*s", to > crosses ? ", " : "", (int)line.name_size, line.name,
                          (int)line.items_size - 1, line.items + 1);
    gsai_schema_take_name(crosses, strlen(crosses), crosses);
    for (size_t i = 0; i < what->n_columns; i++)
        at[COLUMN_WORDS] += column[i].kind == COLUMN_NUMBER;
    for (size_t i = 0; i < what->n_columns; i++)
        column[i].number = column[i].kind <= COLUMN_WORDS ? at[column[i].kind]++ : 0;
    what->n_features = at[COLUMN_WORDS] + (to > crosses);
    for (gsa_pair pair = {.size = sizeof pair}; gsa_model_pair(what->model, what->n_pairs, &pair) == GSA_OK;)
        what->n_pairs++;
    /* There is room: columns_of_schema has a place more than lines. */
    column[what->n_columns++] = (data_column){
        .name = crosses, .kind = to > crosses ? COLUMN_NUMBER : COLUMN_IGNORED, .number = at[COLUMN_WORDS]};
    what->env.call.n_threads = 1; /* so that the cells at hand are those of the rows */
    return EXIT_DONE;
}

/* Long enough for what a name of a feature is cut to. */
#define NAME_SIZE 256

/* Names a pair by its two features. */
static const char *name_pair(const gsa_model *model, size_t number, char *name, size_t size)
{
    gsa_pair pair = {.size = sizeof pair};
    char both[2][NAME_SIZE - 2];
    (void)gsa_model_pair(model, number, &pair);
    for (int i = 0; i < 2; i++) {
        const char *own = gsa_model_name(model, pair.feature[i]);
        if (own != NULL)
            snprintf(both[i], sizeof both[i], "%s", own);
        else
            snprintf(both[i], sizeof both[i], "%" PRIu64, pair.feature[i] + 1);
    }
    snprintf(name, size, "%s & %s", both[0], both[1]);
    return name;
}

/* Prints a cell: a name, or a number unless the row is bad. */
static void put_cell(const char *name, double number, bool is_bad, FILE *stream)
{
    if (name == NULL) {
        fprintf(stream, is_bad ? "," : ",%.*g", fabs(number) >= 1e6 ? 15 : 9, number);
        return;
    }
    bool is_quoted = *name == '\0' || *name == ' ' || strpbrk(name, ",\"\r\n") != NULL;
    fputs(is_quoted ? ",\"" : ",", stream);
    for (; *name != '\0'; name++)
        fprintf(stream, *name == '"' ? "\"\"" : "%c", *name);
    fputs(is_quoted ? "\"" : "", stream);
}

/* Prints lines of csv with the contributions: of more than two classes to the margin of the label. */
static gsa_status explain(predicting *what, const gsa_predictions *some, gsa_error *error)
{
    FILE *stream = what->output.stream;
    const gsa_batch *rows = some->rows;
    const size_t n_outputs = (size_t)info_of(what->model).n_outputs,
                 width = (what->n_features + what->n_pairs) * n_outputs;
    const uint64_t n_read = progress_of(what->reader).n_rows;
    const char *line = some->text, *end;
    double *value = calloc(rows->n_rows + 1, (width + 1) * sizeof *value);
    size_t n_cells = 0;
    const uint64_t *cell = gsa_reader_cells(what->reader, &n_cells);
    gsa_status status = value != NULL ? GSA_OK : gsai_fail(error, GSA_MEMORY, "out of memory");
    what->n_read_before = n_read > what->n_read ? what->n_read : what->n_read_before;
    what->n_read = n_read;
    if (cell != NULL)
        cell += (some->first_row - what->n_read_before) * n_cells;
    if (status == GSA_OK && rows->n_rows > 0)
        status = gsa_explain(what->model, rows, cell, n_cells, value, error);
    for (size_t r = 0; line < some->text + some->text_size && status == GSA_OK; r++, line = end + 1) {
        bool is_header = rows->n_rows == 0, is_bad = rows->bad != NULL && rows->bad[r], is_quoted = false;
        size_t best = 0;
        for (size_t k = 1; k < some->width && n_outputs > 1 && !is_header; k++)
            best = some->number[r * some->width + k] > some->number[r * some->width + best] ? k : best;
        for (end = line; *end != '\n' || is_quoted; end++)
            is_quoted ^= *end == '"';
        fwrite(line, 1, (size_t)(end - line), stream);
        put_cell(is_header ? "intercept" : NULL, gsa_model_intercept(what->model, best), is_bad, stream);
        for (size_t i = 0; i < what->n_columns; i++)
            if (what->column[i].kind <= COLUMN_WORDS)
                put_cell(is_header ? what->column[i].name : NULL,
                         value[r * width + what->column[i].number * n_outputs + best], is_bad, stream);
        for (size_t p = 0; p < what->n_pairs; p++) {
            char name[2 * NAME_SIZE];
            put_cell(is_header ? name_pair(what->model, p, name, sizeof name) : NULL,
                     value[r * width + (what->n_features + p) * n_outputs + best], is_bad, stream);
        }
        putc('\n', stream);
    }
    free(value);
    return status;
}

/* Reports a failed write here, while errno still has the reason, and stops the reader that waits for a pipe. */
static gsa_status print_predictions(void *ctx, const gsa_predictions *some, gsa_error *error)
{
    predicting *what = ctx;
    for (size_t i = 0; what->is_count && i < some->rows->n_rows; i++)
        what->n_overflowed += some->number[i] == DBL_MAX;
    if (what->column != NULL)
        GSA_TRY(explain(what, some, error));
    bool done = what->column != NULL ? !ferror(what->output.stream)
                                     : fwrite(some->text, 1, some->text_size, what->output.stream) == some->text_size;
    if (done && what->is_watched)
        done = fflush(what->output.stream) == 0;
    if (done)
        return GSA_OK;
    what->failed = output_complain(&what->output);
    return GSA_IO;
}

static int should_stop(void *ctx)
{
    const predicting *what = ctx;
    return interrupt_signal() != 0 || what->failed != 0;
}

static int predict_all(predicting *what)
{
    gsa_error error = {0};
    what->is_watched = progress_of(what->reader).is_stream && what->output.is_direct;
    const char *schema = gsa_reader_schema(what->reader);
    if (schema != NULL && strstr(schema, "\ncolumns namespaces\n") != NULL && what->text != GSA_TEXT_LINES)
        what->kept = "tag";
    what->every_class = what->every_class || info_of(what->model).n_classes <= FEW_CLASSES;
    what->is_count = info_of(what->model).has_log_link;
    gsa_predict_hooks hooks = {.size = sizeof hooks,
                               .ctx = what,
                               .text = what->text,
                               .header = 1,
                               .every_class = what->every_class,
                               .coverage = what->coverage,
                               .kept = what->kept,
                               .take = print_predictions};
    gsa_status status = gsa_predict(what->model, what->reader, &hooks, &what->env.call, &error);
    if (what->failed != 0)
        return what->failed;
    if (status != GSA_OK)
        return complain_error(status, &error);
    static const char *const lines[][2] = {
        [GSA_TEXT_LINES] = {"its line is NA", "their lines are NA"},
        [GSA_TEXT_CSV] = {"its line has empty cells", "their lines have empty cells"},
        [GSA_TEXT_JSONL] = {"its line has null", "their lines have null"}};
    uint64_t n_bad = progress_of(what->reader).n_bad_rows;
    if (n_bad > 0)
        note("%" PRIu64 " bad %s no prediction: %s", n_bad, n_bad == 1 ? "row has" : "rows have",
             lines[what->text][n_bad != 1]);
    session_tell_recoded(what->reader);
    if (what->n_overflowed > 0)
        note("note: %" PRIu64
             " %s too large for a double and written as 1.797e308: the rows are far from those that were "
             "learned; check their units",
             what->n_overflowed, what->n_overflowed == 1 ? "prediction is" : "predictions are");
    return EXIT_DONE;
}

static int run_predict(const cli_arguments *arguments)
{
    predicting what = {.env = session_env(arguments)};
    what.env.call.n_threads = (unsigned)arguments_number(arguments, "threads");
    what.env.call.should_stop = should_stop;
    what.env.call.ctx = &what;
    gsa_reader_options wanted = {.without_labels = true,
                                 .keep = arguments_text(arguments, "keep"),
                                 .keep_tags = true,
                                 .keep_cells = arguments_flag(arguments, "explain"),
                                 .keep_bad_rows = true,
                                 .without_offsets = true};
    const char *format = arguments_text(arguments, "format"), *path = arguments_text(arguments, "output");
    if (strcmp(format, "auto") == 0)
        format = wanted.keep_cells || session_is_named(path, ".csv") ? "csv"
                 : session_is_named(path, ".jsonl")                  ? "jsonl"
                                                                     : "text";
    what.text = strcmp(format, "csv") == 0     ? GSA_TEXT_CSV
                : strcmp(format, "jsonl") == 0 ? GSA_TEXT_JSONL
                                               : GSA_TEXT_LINES;
    what.every_class = arguments_flag(arguments, "proba");
    what.coverage = arguments_given(arguments, "interval") ? arguments_real(arguments, "interval") : 0;
    if (arguments_given(arguments, "interval") && what.coverage == 0)
        return complain_usage("--interval 0: expected a number above 0, such as 0.9");
    what.kept = wanted.keep;
    if (what.every_class && what.text == GSA_TEXT_LINES)
        return complain_usage("--proba needs --format csv or jsonl; give one of them");
    if (wanted.keep_cells && what.text != GSA_TEXT_CSV)
        return complain_usage("--explain needs --format csv; leave --format out");
    int code = session_check_not_input(arguments, "-o", path);
    if (code == EXIT_DONE)
        code = session_load_model(arguments->positional[0], &what.env, &what.model);
    if (code == EXIT_DONE)
        code = session_open_reader(arguments, &wanted, arguments->positional + 1, arguments->n_positional - 1,
                                   &what.env, &what.reader);
    if (code == EXIT_DONE)
        code = session_match(what.reader, gsa_model_schema(what.model), "keep");
    if (code == EXIT_DONE && wanted.keep_cells)
        code = find_columns(&what, gsa_model_schema(what.model));
    if (code == EXIT_DONE)
        code = output_open(path, &what.output);
    if (code == EXIT_DONE) {
        interrupt_catch();
        code = predict_all(&what);
    }
    if (code == EXIT_DONE)
        code = output_commit(&what.output);
    output_discard(&what.output);
    for (size_t i = 0; i < what.n_columns; i++)
        column_free(&what.column[i]);
    free(what.column);
    gsa_reader_close(what.reader);
    gsa_model_free(what.model);
    return code;
}

const cli_verb predict_verb = {
    .name = "predict",
    .usage = "MODEL DATA... [-o FILE] [OPTIONS]",
    .summary = "predict every row with a model",
    .details =
        "Prints one line per row of DATA: the most probable label and its probability, the label and its margin "
        "for a hinge loss, or the predicted number. The margin of two classes is above 0 for the second in the "
        "order of `inspect`, the positive one. In csv and jsonl a line begins with "
        "the row number and ends with the probability of each class. A skipped bad row has a line too: NA in "
        "text, empty cells in csv, null in jsonl.\n\nLabels in DATA are ignored and may be absent. Columns of "
        "--keep follow the row number, or in text the prediction, each after a tab; so do tags of Vowpal Wabbit "
        "text. Rows from a pipe are predicted as they arrive.\n\nWith --interval 0.9 the lower and the upper end of an "
        "interval follow a predicted number, from the residuals of held-out rows: nine of ten labels of rows like the "
        "learned ones are between them.\n\nWith --explain the intercept and one number per "
        "column of "
        "the table follow, under the names of the columns: they add up to the margin, of more than two classes to "
        "that of the label.",
    .examples = "# a label and its probability for every row\n"
                "greedystep predict my.model test.svm | head -n 5\n"
                "# every probability and the column `id`, as a table\n"
                "greedystep predict clicks.model new.csv --keep id -o predictions.csv\n"
                "# a price, and what nine tenths of such rows are between\n"
                "greedystep predict prices.model new.csv --keep id --interval 0.9\n"
                "# how much every column adds to the prediction of the first row\n"
                "head -n 2 new.csv | greedystep predict clicks.model - --keep id --explain",
    .options = predict_options,
    .n_options = sizeof predict_options / sizeof *predict_options,
    .reads_data = true,
    .has_model = true,
    .positional = "MODEL and DATA",
    .run = run_predict,
};
