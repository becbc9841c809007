/* `greedystep predict`: one line a row, as the rows come. */
#include "interrupt.h"
#include "message.h"
#include "output.h"
#include "session.h"
#include "verbs.h"

#include <inttypes.h>
#include <stdlib.h>

static const cli_option predict_options[] = {
    {"output", 'o', OPTION_TEXT, false, "FILE", "-", 0, 0, "where the predictions go; - is standard output"},
};

/* Numbers computed at a time: many classes must not make a block of rows a huge table. */
enum { TABLE_LEN = 1 << 18 };

typedef struct predicting {
    gsa_env env;
    gsa_model *model;
    gsa_reader *reader;
    cli_output output;
    size_t n_classes, width; /* width: numbers a row */
    bool has_margins;        /* classes without probabilities */
    size_t rows_at_once;
    double *table;
} predicting;

/* The one margin of two classes is that of the second. */
static bool print_by_margin(const predicting *what, const double *row)
{
    size_t best = what->n_classes == 2 && row[0] > 0;
    double margin = best == 1 ? row[0] : -row[0];
    if (what->n_classes > 2) {
        for (size_t i = 1; i < what->n_classes; i++)
            best = row[i] > row[best] ? i : best;
        margin = row[best];
    }
    return fprintf(what->output.stream, "%s %.6g\n", gsa_model_label(what->model, best), margin) > 0;
}

static bool print_prediction(const predicting *what, const double *row)
{
    if (what->n_classes == 0)
        return fprintf(what->output.stream, "%.9g\n", row[0]) > 0;
    if (what->has_margins)
        return print_by_margin(what, row);
    size_t best = 0;
    for (size_t i = 1; i < what->n_classes; i++) {
        if (row[i] > row[best])
            best = i;
    }
    return fprintf(what->output.stream, "%s %.6g\n", gsa_model_label(what->model, best), row[best]) > 0;
}

/* Some consecutive rows of a sparse batch, borrowed from it. */
static gsa_batch slice_rows(const gsa_batch *batch, size_t first, size_t n_rows)
{
    gsa_batch slice = *batch;
    slice.n_rows = n_rows;
    slice.row_start += first;
    slice.label = batch->label != NULL ? batch->label + first : NULL;
    slice.word = batch->word != NULL ? batch->word + first : NULL;
    slice.weight = batch->weight != NULL ? batch->weight + first : NULL;
    slice.place = batch->place != NULL ? batch->place + first : NULL;
    return slice;
}

static int predict_slice(const predicting *what, const gsa_batch *slice)
{
    gsa_error error = {.row = GSA_NO_ROW};
    gsa_status status = what->has_margins ? gsa_model_margins(what->model, slice, what->table, &error)
                                          : gsa_model_predict(what->model, slice, what->table, &error);
    if (status != GSA_OK) {
        gsa_reader_locate(what->reader, slice, &error);
        return complain_error(status, &error);
    }
    for (size_t row = 0; row < slice->n_rows; row++) {
        if (!print_prediction(what, what->table + row * what->width))
            return output_complain(&what->output);
    }
    return EXIT_DONE;
}

static int predict_batch(const predicting *what, const gsa_batch *batch)
{
    int code = EXIT_DONE;
    for (size_t first = 0; first < batch->n_rows && code == EXIT_DONE; first += what->rows_at_once) {
        size_t left = batch->n_rows - first;
        gsa_batch slice = slice_rows(batch, first, left < what->rows_at_once ? left : what->rows_at_once);
        code = predict_slice(what, &slice);
    }
    return code;
}

static int predict_all(const predicting *what)
{
    gsa_batch batch;
    gsa_error error = {0};
    gsa_status status;
    while ((status = gsa_reader_next(what->reader, &batch, &error)) == GSA_OK) {
        int code = interrupt_signal() != 0 ? complain_interrupted() : predict_batch(what, &batch);
        if (code != EXIT_DONE)
            return code;
    }
    if (status != GSA_END)
        return complain_error(status, &error);
    gsa_reader_progress reading;
    gsa_reader_get_progress(what->reader, &reading);
    if (reading.n_bad_rows > 0)
        complain("%" PRIu64 " bad rows were skipped and have no prediction", reading.n_bad_rows);
    return EXIT_DONE;
}

static int make_table(predicting *what)
{
    gsa_model_info info;
    gsa_model_get_info(what->model, &info);
    what->n_classes = (size_t)info.n_classes;
    what->has_margins = info.n_classes > 0 && !info.has_probabilities;
    what->width = what->has_margins ? (size_t)info.n_outputs : what->n_classes > 0 ? what->n_classes : 1;
    what->rows_at_once = what->width < TABLE_LEN ? TABLE_LEN / what->width : 1;
    what->table = calloc(what->width, what->rows_at_once * sizeof *what->table);
    return what->table != NULL ? EXIT_DONE : complain_failed("out of memory");
}

static int run_predict(const cli_arguments *arguments)
{
    predicting what = {.env = session_env(arguments)};
    int code =
        session_check_not_input(arguments_text(arguments, "output"), arguments->positional, arguments->n_positional);
    if (code == EXIT_DONE)
        code = session_load_model(arguments->positional[0], &what.env, &what.model);
    if (code == EXIT_DONE)
        code = make_table(&what);
    if (code == EXIT_DONE)
        code = session_open_reader(arguments, arguments->positional + 1, arguments->n_positional - 1, &what.env,
                                   &what.reader);
    if (code == EXIT_DONE)
        code = output_open(arguments_text(arguments, "output"), &what.output);
    if (code == EXIT_DONE) {
        interrupt_catch();
        code = predict_all(&what);
    }
    if (code == EXIT_DONE)
        code = output_commit(&what.output);
    output_discard(&what.output);
    free(what.table);
    gsa_reader_close(what.reader);
    gsa_model_free(what.model);
    return code;
}

const cli_verb predict_verb = {
    .name = "predict",
    .usage = "MODEL DATA... [-o FILE] [OPTIONS]",
    .summary = "print the prediction for every row",
    .details =
        "Prints a line for every row of DATA: the most probable label and its probability, or the value if the model\n"
        "has learned numbers; of a model of a hinge loss the label and its margin. The labels in DATA are not looked\n"
        "at. - is standard input.",
    .options = predict_options,
    .n_options = sizeof predict_options / sizeof *predict_options,
    .reads_data = true,
    .positional = "MODEL and DATA",
    .least_positional = 2,
    .most_positional = SIZE_MAX,
    .run = run_predict,
};
