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
    if (env->call.should_stop != NULL && gsai_should_stop(env))
        return gsai_fail(error, GSA_STOPPED, "stopped on request");
    return GSA_OK;
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

/* ---- the split -------------------------------------------------------------------------------------------------- */

static gsa_status no_memory_to_split(const compare_task *task, gsa_error *error)
{
    return gsai_fail_memory(&task->env, error, "no memory for the split into training and test rows");
}

/* In place of a pass, for an order of its own. */
#define SPLIT_STREAM 0x5917u

/* Chooses a fifth of the rows to test by, rounded down, at least 1. Depends on the seed and n_rows alone. */
static void choose_tests(uint64_t seed, uint32_t n_rows, uint32_t *scratch, bool *is_test)
{
    uint32_t n_tests = n_rows >= 5 ? n_rows / 5 : 1;
    gsa_plan_order(seed, SPLIT_STREAM, 0, n_rows, scratch);
    for (uint32_t i = 0; i < n_rows; i++)
        is_test[scratch[i]] = i < n_tests;
}

/* Adds every row to the test or the training rows, in order. */
static gsa_status split_by_seed(compare_task *task, const gsa_batch *all, gsa_error *error)
{
    bool *is_test = gsai_alloc_zeroed(&task->env, all->n_rows, sizeof *is_test);
    task->test_number = gsai_alloc_zeroed(&task->env, all->n_rows, sizeof *task->test_number);
    gsa_status status = task->test_number != NULL && is_test != NULL ? GSA_OK : no_memory_to_split(task, error);
    if (status == GSA_OK)
        choose_tests(task->seed, (uint32_t)all->n_rows, task->test_number, is_test); /* as scratch */
    for (size_t row = 0; row < all->n_rows && status == GSA_OK; row++) {
        if (is_test[row])
            task->test_number[task->test_rows.n_rows] = (uint32_t)row;
        status = gsai_rows_append(is_test[row] ? &task->test_rows : &task->train_rows, all, row, 1, false, NULL, error);
    }
    gsai_free(&task->env, is_test);
    task->train = gsai_rows_view(&task->train_rows);
    task->test = gsai_rows_view(&task->test_rows);
    task->train.words = task->test.words = all->words;
    task->train.n_words = task->test.n_words = all->n_words;
    return status;
}

static gsa_status set_parts(compare_task *task, gsa_error *error)
{
    const compare_data *data = task->data;
    const gsa_batch all = gsai_rows_view(&data->rows);
    gsai_rows_init(&task->train_rows, 0, 0, &task->env);
    gsai_rows_init(&task->test_rows, 0, 0, &task->env);
    if (data->test_reader != NULL) {
        task->train = all;
        task->test = gsai_rows_view(&data->test_rows);
        return GSA_OK;
    }
    if (all.n_rows < 2)
        return gsai_fail(error, GSA_INPUT, "cannot split a single row into training and test rows; give --test a file");
    return split_by_seed(task, &all, error);
}

/* ---- what the labels mean ---------------------------------------------------------------------------------------- */

static gsa_status make_state(const compare_task *task, const char *method, const char *average, const gsai_env *env,
                             gsa_state **out, gsa_error *error)
{
    gsa_config *config = NULL;
    gsa_status status = gsa_config_new(&env->memory, &config, error);
    if (status == GSA_OK)
        status = gsa_config_set(config, "loss", task->data->loss, error);
    if (status == GSA_OK)
        status = gsa_config_set(config, "intercept", task->data->intercept, error);
    if (status == GSA_OK)
        status = gsa_config_set(config, "method", method, error);
    if (status == GSA_OK)
        status = gsa_config_set(config, "average", average, error);
    if (status == GSA_OK)
        status = gsa_state_new(config, &env->memory, out, error);
    gsa_config_free(config);
    return status;
}

gsa_status compare_task_state(const compare_task *task, const char *method, const char *average, const gsai_env *env,
                              gsa_state **out, gsa_error *error)
{
    gsa_status status = make_state(task, method, average, env, out, error);
    if (status == GSA_OK) {
        status = gsa_state_prepare(*out, &task->train, error);
        if (status != GSA_OK)
            gsa_reader_locate(task->data->reader, &task->train, error);
    }
    return status;
}

static gsa_status set_like(compare_task *task, const gsai_env *env, gsa_error *error)
{
    gsa_state *state = NULL;
    gsa_status status = compare_task_state(task, "paper", "last", env, &state, error);
    if (status == GSA_OK)
        status = gsa_state_finish(state, &env->call, &task->like, error);
    gsa_state_free(state);
    return status;
}

static gsa_status refuse_word(compare_task *task, size_t row, gsa_error *error)
{
    gsai_fail(error, GSA_LABEL,
              "label '%s' is a word, but this loss predicts numbers; give --loss softmax if the labels are classes",
              task->train.words[task->train.word[row]]);
    error->row = row;
    gsa_reader_locate(task->data->reader, &task->train, error);
    return GSA_LABEL;
}

static gsa_status check_numbers(compare_task *task, gsa_error *error)
{
    for (size_t row = 0; row < task->train.n_rows && task->train.word != NULL; row++) {
        if (task->train.word[row] >= 0)
            return refuse_word(task, row, error);
    }
    return GSA_OK;
}

static gsa_status set_classes(compare_task *task, gsa_error *error)
{
    gsa_model_info info = info_of(task->like);
    if (info.n_classes == 0)
        return check_numbers(task, error);
    if (info.n_classes < 2)
        return gsai_fail(error, GSA_LABEL,
                         "all training rows have the label '%s': with one class there is nothing to compare",
                         gsa_model_label(task->like, 0));
    task->classes = gsai_alloc_zeroed(&task->env, task->train.n_rows, sizeof *task->classes);
    if (task->classes == NULL)
        return no_memory_to_split(task, error);
    for (size_t row = 0, class_number; row < task->train.n_rows; row++) {
        GSA_TRY(gsa_model_class(task->like, &task->train, row, &class_number, error));
        task->classes[row] = (uint32_t)class_number;
    }
    return GSA_OK;
}

/* ---- the task ---------------------------------------------------------------------------------------------------- */

static size_t count_features(const gsa_batch *rows)
{
    size_t n_features = 0;
    for (int64_t e = rows->row_start[0]; e < rows->row_start[rows->n_rows]; e++) {
        if (rows->index[e] >= n_features)
            n_features = (size_t)rows->index[e] + 1;
    }
    return n_features;
}

gsa_status compare_task_new(const compare_data *data, uint64_t seed, const gsai_env *env, compare_task *out,
                            gsa_error *error)
{
    *out = (compare_task){
        .env = gsai_env_resolve(env), .data = data, .seed = seed, .intercept = strcmp(data->intercept, "on") == 0};
    GSA_TRY(set_parts(out, error));
    GSA_TRY(set_like(out, env, error));
    GSA_TRY(set_classes(out, error));
    out->n_features = count_features(&out->train);
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
