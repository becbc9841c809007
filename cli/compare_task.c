/* What is to be learned with one seed: the split, the classes, the order of rows. */
#include "compare.h"
#include "views.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

static gsa_status no_memory(const compare_task *task, gsa_error *error)
{
    return gsai_fail_memory(&task->env, error, "no memory for the split into rows to learn and rows to test");
}

/* NOLINTBEGIN(clang-analyzer-core.NullDereference): called only if both were allocated, which no_memory hides */
static void number_tests(const bool *is_test, size_t n_rows, uint32_t *out)
{
    for (size_t row = 0; row < n_rows; row++) {
        if (is_test[row])
            *out++ = (uint32_t)row;
    }
}
/* NOLINTEND(clang-analyzer-core.NullDereference) */

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

static gsa_status split_by_seed(compare_task *task, const gsa_env *env, gsa_error *error)
{
    const compare_rows *rows = &task->data->rows;
    bool *is_test = gsai_alloc_zeroed(&task->env, rows->n_rows, sizeof *is_test);
    task->test_number = gsai_alloc_zeroed(&task->env, rows->n_rows, sizeof *task->test_number);
    gsa_status status = task->test_number != NULL && is_test != NULL ? GSA_OK : no_memory(task, error);
    if (status == GSA_OK) {
        choose_tests(task->seed, (uint32_t)rows->n_rows, task->test_number, is_test); /* as scratch */
        number_tests(is_test, rows->n_rows, task->test_number);
        status = compare_rows_choose(&task->train_rows, rows, is_test, false, env, error);
    }
    if (status == GSA_OK)
        status = compare_rows_choose(&task->test_rows, rows, is_test, true, env, error);
    gsai_free(&task->env, is_test);
    return status;
}

static gsa_status set_parts(compare_task *task, const gsa_env *env, gsa_error *error)
{
    const compare_data *data = task->data;
    if (data->test_reader != NULL) {
        task->train = compare_rows_view(&data->rows);
        task->test = compare_rows_view(&data->test_rows);
        return GSA_OK;
    }
    if (data->rows.n_rows < 2)
        return gsai_fail(error, GSA_INPUT, "a single row cannot be split; give --test a file with rows to test by");
    gsa_status status = split_by_seed(task, env, error);
    task->train = compare_rows_view(&task->train_rows);
    task->test = compare_rows_view(&task->test_rows);
    return status;
}

/* ---- what the labels mean ---------------------------------------------------------------------------------------- */

static gsa_status make_state(const compare_task *task, const char *method, const char *average, const gsa_env *env,
                             gsa_state **out, gsa_error *error)
{
    gsa_config *config = NULL;
    gsa_status status = gsa_config_new(env, &config, error);
    if (status == GSA_OK)
        status = gsa_config_set(config, "loss", task->data->loss, error);
    if (status == GSA_OK)
        status = gsa_config_set(config, "intercept", task->data->intercept, error);
    if (status == GSA_OK)
        status = gsa_config_set(config, "method", method, error);
    if (status == GSA_OK)
        status = gsa_config_set(config, "average", average, error);
    if (status == GSA_OK)
        status = gsa_state_new(config, env, out, error);
    gsa_config_free(config);
    return status;
}

gsa_status compare_task_state(const compare_task *task, const char *method, const char *average, const gsa_env *env,
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

static gsa_status set_like(compare_task *task, const gsa_env *env, gsa_error *error)
{
    gsa_state *state = NULL;
    gsa_status status = compare_task_state(task, "paper", "last", env, &state, error);
    if (status == GSA_OK)
        status = gsa_state_finish(state, env, &task->like, error);
    gsa_state_free(state);
    return status;
}

static gsa_status refuse_word(compare_task *task, size_t row, gsa_error *error)
{
    gsai_fail(error, GSA_LABEL,
              "label '%s' is a word, but this loss predicts numbers; give --loss softmax if labels are names of "
              "classes",
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
                         "all rows to learn have the label '%s': with one class there is nothing to compare",
                         gsa_model_label(task->like, 0));
    task->classes = gsai_alloc_zeroed(&task->env, task->train.n_rows, sizeof *task->classes);
    if (task->classes == NULL)
        return no_memory(task, error);
    for (size_t row = 0; row < task->train.n_rows; row++)
        task->classes[row] = (uint32_t)gsa_model_class(task->like, &task->train, row);
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

gsa_status compare_task_new(const compare_data *data, uint64_t seed, const gsa_env *env, compare_task *out,
                            gsa_error *error)
{
    *out = (compare_task){
        .env = gsai_env_resolve(env), .data = data, .seed = seed, .intercept = strcmp(data->intercept, "on") == 0};
    gsa_status status = set_parts(out, env, error);
    if (status == GSA_OK)
        status = set_like(out, env, error);
    if (status == GSA_OK)
        status = set_classes(out, error);
    if (status != GSA_OK)
        return status;
    out->n_features = count_features(&out->train);
    out->order = gsai_alloc_zeroed(&out->env, out->train.n_rows, sizeof *out->order);
    return out->order != NULL ? GSA_OK : no_memory(out, error);
}

void compare_task_free(compare_task *task)
{
    gsa_model_free(task->like);
    gsai_free(&task->env, task->classes);
    gsai_free(&task->env, task->order);
    gsai_free(&task->env, task->test_number);
    compare_rows_free(&task->train_rows);
    compare_rows_free(&task->test_rows);
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
