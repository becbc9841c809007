/* Every method with every seed, pass by pass: learned, scored, recorded, and shown while it goes on. A method that
 * diverges is recorded as such, and the next one starts.
 *
 * The results per row are written while the methods run, since keeping them would take memory for methods x seeds x
 * rows. */
#include "compare.h"

#include "cli/views.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

compare_record *compare_grid_at(const compare_grid *grid, size_t method, size_t seed, size_t pass)
{
    return &grid->records[(method * grid->n_seeds + seed) * grid->n_passes + pass];
}

compare_spread compare_grid_spread(const compare_grid *grid, size_t method, compare_measure measure)
{
    compare_spread spread = {0, INFINITY, -INFINITY};
    for (size_t seed = 0; seed < grid->n_seeds; seed++) {
        const compare_score *score = &compare_grid_at(grid, method, seed, grid->n_passes - 1)->score[COMPARE_TEST];
        const double values[] = {
            [COMPARE_LOSS] = score->loss, [COMPARE_ACCURACY] = score->accuracy, [COMPARE_AUC] = score->auc};
        spread.mean += values[measure] / (double)grid->n_seeds;
        spread.min = fmin(spread.min, values[measure]);
        spread.max = fmax(spread.max, values[measure]);
    }
    return spread;
}

size_t compare_grid_diverged(const compare_grid *grid, size_t method)
{
    size_t n = 0;
    for (size_t seed = 0; seed < grid->n_seeds; seed++)
        n += compare_grid_at(grid, method, seed, grid->n_passes - 1)->diverged;
    return n;
}

/* ---- scores ----------------------------------------------------------------------------------------------------- */

enum { ROWS_BETWEEN_CHECKS = 4096 };
static const compare_score no_score = {NAN, NAN, NAN};

static gsa_status score_part(const compare_task *task, const gsa_batch *batch, bool is_test, const gsa_model *model,
                             compare_score *out, gsa_error *error)
{
    const gsa_reader *reader = task->data->reader;
    gsa_metrics *metrics = NULL;
    gsa_status status = gsa_metrics_new(model, &metrics, error);
    if (is_test && task->data->test_reader != NULL)
        reader = task->data->test_reader;
    for (size_t first = 0; first < batch->n_rows && status == GSA_OK; first += ROWS_BETWEEN_CHECKS) {
        size_t n = batch->n_rows - first;
        gsa_batch part = gsai_batch_slice(batch, first, n < ROWS_BETWEEN_CHECKS ? n : ROWS_BETWEEN_CHECKS);
        status = compare_check_stop(&task->env, error);
        if (status != GSA_OK)
            break;
        status = gsa_metrics_update(metrics, &part, error);
        if (status != GSA_OK)
            gsa_reader_locate(reader, &part, error);
    }
    if (status == GSA_OK) {
        status = gsa_metrics_finish(metrics, error);
        status = status == GSA_LABEL ? GSA_OK : status; /* labels that training lacked count as wrong */
    }
    gsa_metric metric;
    *out = no_score;
    for (size_t i = 0; status == GSA_OK && gsa_metrics_at(metrics, i, &metric) == GSA_OK; i++) {
        if (strcmp(metric.name, "log_loss") == 0)
            out->loss = metric.value;
        else if (strcmp(metric.name, "rmse") == 0)
            out->loss = 0.5 * metric.value * metric.value;
        else if (strcmp(metric.name, "accuracy") == 0)
            out->accuracy = metric.value;
        else if (strcmp(metric.name, "auc") == 0)
            out->auc = metric.value;
    }
    gsa_metrics_free(metrics);
    if (status == GSA_OK && !isfinite(out->loss))
        status = gsai_fail(error, GSA_DIVERGED, "the loss is not finite");
    return status;
}

/* ---- results per row -------------------------------------------------------------------------------------------- */

/* A model of NULL: the method diverged. Numbers are never correct. */
static gsa_status write_row_results(const compare_grid *grid, size_t method, const compare_task *task,
                                    const gsa_model *model, gsa_error *error)
{
    const compare_method *learned = &grid->methods[method];
    char parameters[COMPARE_PARAMETERS_SIZE];
    compare_method_parameters(learned, parameters);
    for (size_t row = 0; row < task->test.n_rows && !ferror(grid->row_stream); row++) {
        gsa_batch single = gsai_batch_slice(&task->test, row, 1);
        compare_score score = no_score;
        if (model != NULL)
            GSA_TRY(score_part(task, &single, true, model, &score, error));
        size_t number = task->test_number != NULL ? task->test_number[row] : row;
        fprintf(grid->row_stream, "%s,%s,%zu,%zu,%zu,", learned->name, parameters, (size_t)task->seed, grid->n_passes,
                number);
        if (isnan(score.loss))
            fputs("nan,\n", grid->row_stream);
        else if (isnan(score.accuracy))
            fprintf(grid->row_stream, "%.9g,\n", score.loss);
        else
            fprintf(grid->row_stream, "%.9g,%d\n", score.loss, score.accuracy > 0);
    }
    if (ferror(grid->row_stream))
        return gsai_fail(error, GSA_IO, "cannot write the results of --row-results: %s", strerror(errno));
    return GSA_OK;
}

/* ---- progress --------------------------------------------------------------------------------------------------- */

enum { LINE_SIZE = 200 };

static void show_progress(compare_grid *grid, size_t done, size_t method)
{
    cli_progress *progress = &grid->progress;
    if (done == 0)
        progress->pass_began = progress_clock(); /* reading the rows is over */
    if (!progress->is_live || (!progress_is_due(progress, 0) && done > 0))
        return;
    double total = (double)grid->n_methods * (double)grid->n_seeds * (double)grid->n_passes;
    double fraction = (double)done / total;
    char parameters[COMPARE_PARAMETERS_SIZE], line[LINE_SIZE];
    snprintf(line, sizeof line, "%3.0f%%  %s %.40s", 100 * fraction, grid->methods[method].name,
             compare_method_parameters(&grid->methods[method], parameters));
    double left = done > 0 ? (progress_clock() - progress->pass_began) * (1 - fraction) / fraction : NAN;
    progress_append_left(line, sizeof line, left);
    progress_draw(progress, line);
}

static void show_method(compare_grid *grid, size_t method)
{
    if (!grid->progress.shown || grid->progress.is_live)
        return;
    char parameters[COMPARE_PARAMETERS_SIZE], accuracy[40] = "", loss[80];
    compare_spread losses = compare_grid_spread(grid, method, COMPARE_LOSS);
    compare_spread accuracies = compare_grid_spread(grid, method, COMPARE_ACCURACY);
    size_t n_diverged = compare_grid_diverged(grid, method);
    double seconds = 0;
    for (size_t seed = 0; seed < grid->n_seeds; seed++)
        seconds += compare_grid_at(grid, method, seed, grid->n_passes - 1)->seconds;
    if (n_diverged > 0)
        snprintf(loss, sizeof loss, "diverged with %zu of %zu seeds", n_diverged, grid->n_seeds);
    else
        snprintf(loss, sizeof loss, "test loss %.6g", losses.mean);
    if (!isnan(accuracies.mean))
        snprintf(accuracy, sizeof accuracy, "  accuracy %.6g", accuracies.mean);
    compare_method_parameters(&grid->methods[method], parameters);
    progress_say(&grid->progress, "%s%s%s  %s%s  %.2f s (%.0f rows/s)", grid->methods[method].name,
                 *parameters != '\0' ? " " : "", parameters, loss, accuracy, seconds,
                 (double)grid->n_rows_learned / fmax(seconds, 1e-9));
}

/* ---- the grid --------------------------------------------------------------------------------------------------- */

static const compare_record diverged_record = {
    .score = {{NAN, NAN, NAN}, {NAN, NAN, NAN}}, .step = NAN, .diverged = true};

/* Runs one pass, timed, and scores it, which is not timed. */
static gsa_status run_pass(compare_learner *learner, compare_record *record, gsa_error *error)
{
    const compare_task *task = learner->task;
    gsa_model *model = NULL;
    double began = progress_clock();
    gsa_status status = compare_learner_pass(learner, error);
    record->seconds += progress_clock() - began;
    if (status == GSA_OK)
        status = compare_check_stop(&task->env, error);
    if (status == GSA_OK)
        status = compare_learner_model(learner, &model, error);
    if (status == GSA_OK)
        status = score_part(task, &task->train, false, model, &record->score[COMPARE_TRAIN], error);
    if (status == GSA_OK)
        status = score_part(task, &task->test, true, model, &record->score[COMPARE_TEST], error);
    if (status == GSA_OK)
        record->step = compare_learner_step(learner);
    gsa_model_free(model);
    return status;
}

static gsa_status run_passes(compare_grid *grid, size_t method, compare_task *task, compare_learner *learner,
                             gsa_error *error)
{
    size_t seed = (size_t)task->seed;
    gsa_status status = GSA_OK;
    double seconds = 0;
    for (size_t pass = 0; pass < grid->n_passes; pass++) {
        compare_record *record = compare_grid_at(grid, method, seed, pass);
        show_progress(grid, (method * grid->n_seeds + seed) * grid->n_passes + pass, method);
        record->seconds = seconds;
        if (status == GSA_OK) {
            compare_task_set_order(task, pass);
            status = run_pass(learner, record, error);
            grid->n_rows_learned += task->train.n_rows;
        }
        if (status != GSA_OK && status != GSA_DIVERGED)
            return status;
        seconds = record->seconds;
        if (status == GSA_DIVERGED)
            *record = diverged_record;
        record->seconds = seconds;
    }
    if (grid->row_stream == NULL)
        return GSA_OK;
    gsa_model *model = NULL;
    status = status == GSA_OK ? compare_learner_model(learner, &model, error) : GSA_OK;
    if (status == GSA_OK)
        status = write_row_results(grid, method, task, model, error);
    gsa_model_free(model);
    return status;
}

gsa_status compare_grid_run(compare_grid *grid, const compare_data *data, gsa_error *error)
{
    size_t n_seeds = grid->n_seeds;
    gsa_status status = GSA_OK;
    if (grid->n_methods <= SIZE_MAX / n_seeds / grid->n_passes)
        grid->records = calloc(grid->n_methods * n_seeds * grid->n_passes, sizeof *grid->records);
    if (grid->records == NULL)
        return gsai_fail(error, GSA_MEMORY, "no memory for the results of so many methods, seeds and passes");
    if (grid->row_stream != NULL)
        fputs("method,parameters,seed,pass,row,loss,correct\n", grid->row_stream);
    for (size_t method = 0; method < grid->n_methods && status == GSA_OK; method++) {
        grid->n_rows_learned = 0;
        /* The task of a seed is made anew for every method: splitting costs little beside learning, and keeping the
         * splits of all seeds would take their number times the memory. */
        for (size_t seed = 0; seed < n_seeds && status == GSA_OK; seed++) {
            compare_task task;
            compare_learner learner = {.task = &task};
            status = compare_task_new(data, seed, &task, error);
            grid->n_train = task.train.n_rows;
            grid->n_test = task.test.n_rows;
            if (status == GSA_OK)
                status = compare_learner_open(&grid->methods[method], &task, &learner, error);
            if (status == GSA_OK)
                status = run_passes(grid, method, &task, &learner, error);
            compare_learner_close(&learner);
            compare_task_free(&task);
        }
        if (status == GSA_OK)
            show_method(grid, method);
    }
    return status;
}

void compare_grid_free(compare_grid *grid)
{
    free(grid->records);
    grid->records = NULL;
}
