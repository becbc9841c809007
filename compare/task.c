/* Rows in memory, and the task of one seed: the split, the classes, the order of rows. The optimisers know no row
 * weights, so that a reader that delivers some is refused. */
#include "compare.h"

#include "cli/views.h"

#include "base/batch.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

const char *compare_size_text(double bytes, char buffer[COMPARE_SIZE_TEXT])
{
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB"};
    size_t unit = 0;
    for (bytes /= 1024; bytes >= 1000 && unit + 1 < sizeof units / sizeof *units; unit++)
        bytes /= 1024;
    snprintf(buffer, COMPARE_SIZE_TEXT, "%.3g %s", bytes, units[unit]);
    return buffer;
}

gsa_status compare_check_stop(const gsai_env *env, gsa_error *error)
{
    return gsai_should_stop(env) ? gsai_fail(error, GSA_STOPPED, "stopped on request") : GSA_OK;
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

gsa_status compare_rows_read(gsai_rows *rows, gsa_reader *reader, cli_progress *progress, gsa_error *error)
{
    gsa_batch batch;
    gsai_word_map words = {0};
    char limit[COMPARE_SIZE_TEXT];
    gsa_status status = GSA_OK;
    while (status == GSA_OK && (status = gsa_reader_next(reader, &batch, error)) == GSA_OK) {
        status = compare_check_stop(rows->env, error);
        if (status == GSA_OK && batch.weight != NULL)
            status = gsai_fail(error, GSA_UNSUPPORTED, "the rows have weights, which compare does not support");
        if (status == GSA_OK && batch.n_rows >= UINT32_MAX - rows->n_rows)
            status = gsai_fail(error, GSA_LIMIT, "more than 2^32 - 2 rows cannot be compared");
        if (status != GSA_OK)
            break;
        status = gsai_rows_append(rows, &batch, 0, batch.n_rows, false, &words, error);
        if (status == GSA_LIMIT)
            status = gsai_fail(
                error, GSA_LIMIT,
                "the rows take more than the memory limit of %s; raise --memory-limit, or give fewer rows: compare "
                "keeps all of them in memory",
                compare_size_text((double)gsai_memory_limit(rows->env), limit));
        if (progress->is_live)
            progress_show_rows(progress, "read", rows->n_rows, 0);
    }
    gsai_free(rows->env, words.number);
    if (status == GSA_END && rows->n_rows == 0)
        return gsai_fail(error, GSA_INPUT, "no rows in %s: nothing to compare", gsa_reader_file(reader, 0));
    return status == GSA_END ? GSA_OK : status;
}

/* ---- the task ---------------------------------------------------------------------------------------------------- */

static gsa_status no_memory_to_split(const compare_task *task, gsa_error *error)
{
    return gsai_fail_memory(&task->env, error, "no memory for the split into training and test rows");
}

/* In place of a pass, for an order of its own. */
#define SPLIT_STREAM 0x5917u

/* Adds every row to the test or the training rows, in order. A fifth of the rows, rounded down, but at least 1, is to
 * test by; the choice depends on the seed and the number of rows alone. */
static gsa_status split_by_seed(compare_task *task, const gsa_batch *all, gsa_error *error)
{
    bool *is_test = gsai_alloc_zeroed(&task->env, all->n_rows, sizeof *is_test);
    uint32_t *number = gsai_alloc_zeroed(&task->env, all->n_rows, sizeof *number), n_rows = (uint32_t)all->n_rows;
    task->test_number = number;
    gsa_status status = number != NULL && is_test != NULL ? GSA_OK : no_memory_to_split(task, error);
    if (status == GSA_OK)
        gsa_plan_order(task->seed, SPLIT_STREAM, 0, n_rows, number); /* as scratch */
    for (uint32_t i = 0; status == GSA_OK && i < (n_rows >= 5 ? n_rows / 5 : 1); i++)
        is_test[number[i]] = true;
    for (uint32_t row = 0; row < n_rows && status == GSA_OK; row++) {
        if (is_test[row])
            number[task->test_rows.n_rows] = row;
        status = gsai_rows_append(is_test[row] ? &task->test_rows : &task->train_rows, all, row, 1, false, NULL, error);
    }
    gsai_free(&task->env, is_test);
    task->train = gsai_rows_view(&task->train_rows);
    task->test = gsai_rows_view(&task->test_rows);
    task->train.words = task->test.words = all->words;
    task->train.n_words = task->test.n_words = all->n_words;
    return status;
}

gsa_status compare_task_state(const compare_task *task, const char *method, const char *average, gsa_state **out,
                              gsa_error *error)
{
    const char *const given[][2] = {
        {"loss", task->data->loss}, {"intercept", task->data->intercept}, {"method", method}, {"average", average}};
    gsa_config *config = NULL;
    gsa_status status = gsa_config_new(&task->env.memory, &config, error);
    for (size_t i = 0; i < sizeof given / sizeof *given && status == GSA_OK; i++)
        status = gsa_config_set(config, given[i][0], given[i][1], error);
    if (status == GSA_OK)
        status = gsa_state_new(config, &task->env.memory, out, error);
    gsa_config_free(config);
    GSA_TRY(status);
    status = gsa_state_prepare(*out, &task->train, error);
    if (status != GSA_OK)
        gsa_reader_locate(task->data->reader, &task->train, error);
    return status;
}

/* Finds the classes of the training rows, or that all labels are numbers. */
static gsa_status set_classes(compare_task *task, gsa_error *error)
{
    const gsa_batch *train = &task->train;
    gsa_model_info info = info_of(task->like);
    for (size_t row = 0; info.n_classes == 0 && row < train->n_rows && train->word != NULL; row++)
        if (train->word[row] >= 0) {
            gsai_fail(error, GSA_LABEL,
                      "label '%s' is a word, but this loss predicts numbers; give --loss softmax if the labels are "
                      "classes",
                      train->words[train->word[row]]);
            error->row = row;
            gsa_reader_locate(task->data->reader, train, error);
            return GSA_LABEL;
        }
    if (info.n_classes == 0)
        return GSA_OK;
    if (info.n_classes < 2)
        return gsai_fail(error, GSA_LABEL,
                         "all training rows have the label '%s': with one class there is nothing to compare",
                         gsa_model_label(task->like, 0));
    task->classes = gsai_alloc_zeroed(&task->env, train->n_rows, sizeof *task->classes);
    if (task->classes == NULL)
        return no_memory_to_split(task, error);
    for (size_t row = 0, class_number; row < train->n_rows; row++) {
        GSA_TRY(gsa_model_class(task->like, train, row, &class_number, error));
        task->classes[row] = (uint32_t)class_number;
    }
    return GSA_OK;
}

gsa_status compare_task_new(const compare_data *data, uint64_t seed, compare_task *out, gsa_error *error)
{
    const gsa_batch all = gsai_rows_view(&data->rows);
    *out = (compare_task){
        .env = data->env, .data = data, .seed = seed, .intercept = strcmp(data->intercept, "on") == 0, .train = all};
    gsai_rows_init(&out->train_rows, 0, 0, &out->env);
    gsai_rows_init(&out->test_rows, 0, 0, &out->env);
    if (data->test_reader != NULL)
        out->test = gsai_rows_view(&data->test_rows);
    else if (all.n_rows < 2)
        return gsai_fail(error, GSA_INPUT, "cannot split a single row into training and test rows; give --test a file");
    else
        GSA_TRY(split_by_seed(out, &all, error));
    gsa_state *state = NULL;
    gsa_status status = compare_task_state(out, "paper", "last", &state, error);
    if (status == GSA_OK)
        status = gsa_state_finish(state, &out->env.call, &out->like, error);
    gsa_state_free(state);
    GSA_TRY(status);
    GSA_TRY(set_classes(out, error));
    for (int64_t e = out->train.row_start[0]; e < out->train.row_start[out->train.n_rows]; e++)
        if (out->train.index[e] >= out->n_features)
            out->n_features = (size_t)out->train.index[e] + 1;
    out->order = gsai_alloc_zeroed(&out->env, out->train.n_rows, sizeof *out->order);
    return out->order != NULL ? GSA_OK : no_memory_to_split(out, error);
}

void compare_task_free(compare_task *task)
{
    gsa_model_free(task->like);
    gsai_free(&task->env, task->classes);
    gsai_free(&task->env, task->order);
    gsai_free(&task->env, task->test_number);
    gsai_rows_free(&task->train_rows);
    gsai_rows_free(&task->test_rows);
    *task = (compare_task){0};
}

void compare_task_set_order(compare_task *task, uint64_t pass)
{
    uint64_t block = 0;
    for (size_t first = 0, n; first < task->train.n_rows; first += n, block++) {
        n = gsa_plan_block(&task->train, first);
        gsa_plan_order(task->seed, pass, block, (uint32_t)n, task->order + first);
        for (size_t i = 0; i < n; i++)
            task->order[first + i] += (uint32_t)first;
    }
}
