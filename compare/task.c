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

/* ---- capacity
 * -------------------------------------------------------------------------------------------------------- */

static gsa_status no_memory(const gsai_env *env, gsa_error *error)
{
    return gsai_fail_memory(env, error, "no memory for the rows, which compare keeps in memory");
}

/* The array with room for n elements; where there is no memory it stays as it is, and *fits becomes false. */
static void *resize(const gsai_env *env, void *array, size_t n, size_t element_size, bool *fits)
{
    size_t size = 0;
    *fits = *fits && gsai_multiply(n, element_size, &size);
    void *grown = !*fits ? NULL : array != NULL ? gsai_resize(env, array, size) : gsai_alloc(env, size, 1);
    *fits = grown != NULL;
    return grown != NULL ? grown : array;
}

/* At least half as much again, so that growing stays cheap. */
static size_t wider(size_t capacity, size_t need)
{
    size_t more = capacity + capacity / 2 + 1024;
    return more > need ? more : need;
}

static gsa_status check_limit(size_t n_rows, size_t n_entries, const gsai_env *env, gsa_error *error)
{
    static const uint64_t row_size = sizeof(int64_t) + sizeof(double) + sizeof(int32_t) + sizeof(gsa_place);
    uint64_t bytes = n_rows * row_size + n_entries * (uint64_t)(sizeof(uint32_t) + sizeof(float));
    char limit[COMPARE_SIZE_TEXT];
    if (n_rows >= UINT32_MAX)
        return gsai_fail(error, GSA_LIMIT, "more than 2^32 - 2 rows cannot be compared");
    if (bytes > gsai_memory_limit(env))
        return gsai_fail(error, GSA_LIMIT,
                         "the rows take more than the memory limit of %s; raise --memory-limit, or give fewer rows: "
                         "compare keeps all of them in memory",
                         compare_size_text((double)gsai_memory_limit(env), limit));
    return GSA_OK;
}

static gsa_status reserve(compare_rows *rows, size_t more_rows, size_t more_entries, const gsai_env *env,
                          gsa_error *error)
{
    size_t n_rows = rows->n_rows + more_rows, n_entries = rows->n_entries + more_entries;
    GSA_TRY(check_limit(n_rows, n_entries, env, error));
    bool fits = true;
    if (rows->row_start == NULL)
        rows->env = gsai_env_resolve(env);
    if (n_rows > rows->row_capacity || rows->row_start == NULL) {
        size_t n = wider(rows->row_capacity, n_rows);
        rows->row_start = resize(&rows->env, rows->row_start, n + 1, sizeof *rows->row_start, &fits);
        rows->label = resize(&rows->env, rows->label, n, sizeof *rows->label, &fits);
        rows->word = resize(&rows->env, rows->word, n, sizeof *rows->word, &fits);
        rows->place = resize(&rows->env, rows->place, n, sizeof *rows->place, &fits);
        rows->row_capacity = fits ? n : rows->row_capacity;
    }
    if (n_entries > rows->entry_capacity || rows->index == NULL) {
        size_t n = wider(rows->entry_capacity, n_entries);
        rows->index = resize(&rows->env, rows->index, n, sizeof *rows->index, &fits);
        rows->value = resize(&rows->env, rows->value, n, sizeof *rows->value, &fits);
        rows->entry_capacity = fits ? n : rows->entry_capacity;
    }
    if (fits)
        rows->row_start[rows->n_rows] = (int64_t)rows->n_entries;
    return fits ? GSA_OK : no_memory(&rows->env, error);
}

/* A word keeps its number for the life of the reader; its text is ours, since the reader's may move. */
static gsa_status copy_words(compare_rows *rows, const gsa_batch *batch, gsa_error *error)
{
    bool fits = true;
    if (batch->n_words > rows->n_words)
        rows->words = resize(&rows->env, rows->words, batch->n_words, sizeof *rows->words, &fits);
    while (fits && rows->n_words < batch->n_words) {
        const char *text = batch->words[rows->n_words];
        char *copy = resize(&rows->env, NULL, strlen(text) + 1, 1, &fits);
        if (fits)
            rows->words[rows->n_words++] = memcpy(copy, text, strlen(text) + 1);
    }
    return fits ? GSA_OK : no_memory(&rows->env, error);
}

/* ---- filling ----------------------------------------------------------------------------------------------------- */

/* There must be room. A value of zero means the same as none. */
static void append_row(compare_rows *rows, const gsa_batch *from, size_t row)
{
    static const gsa_place nowhere = {0};
    size_t at = rows->n_entries;
    gsai_row entries = gsai_row_at(from, row);
    for (size_t e = 0; e < entries.n; e++) {
        float value = gsai_row_value(&entries, e);
        if (value == 0)
            continue;
        rows->index[at] = gsai_row_id(&entries, e);
        rows->value[at++] = value;
        rows->any_value = rows->any_value || value != 1.0f;
    }
    rows->n_entries = at;
    rows->label[rows->n_rows] = from->label[row];
    rows->word[rows->n_rows] = from->word != NULL ? from->word[row] : -1;
    rows->any_word = rows->any_word || rows->word[rows->n_rows] >= 0;
    rows->place[rows->n_rows] = from->place != NULL ? from->place[row] : nowhere;
    rows->row_start[++rows->n_rows] = (int64_t)at;
}

static gsa_status append_batch(compare_rows *rows, const gsa_batch *batch, const gsai_env *env, gsa_error *error)
{
    if (batch->weight != NULL)
        return gsai_fail(error, GSA_UNSUPPORTED, "the rows have weights, which compare does not support");
    size_t n_entries = batch->n_rows * batch->width;
    if (batch->index != NULL)
        n_entries = (size_t)(batch->row_start[batch->n_rows] - batch->row_start[0]);
    GSA_TRY(reserve(rows, batch->n_rows, n_entries, env, error));
    GSA_TRY(copy_words(rows, batch, error));
    for (size_t row = 0; row < batch->n_rows; row++)
        append_row(rows, batch, row);
    return GSA_OK;
}

gsa_status compare_rows_read(compare_rows *rows, gsa_reader *reader, const gsai_env *env, cli_progress *progress,
                             gsa_error *error)
{
    gsa_batch batch;
    gsa_status status;
    while ((status = gsa_reader_next(reader, &batch, error)) == GSA_OK) {
        GSA_TRY(compare_check_stop(env, error));
        GSA_TRY(append_batch(rows, &batch, env, error));
        if (progress->is_live)
            progress_show_rows(progress, "read", rows->n_rows, 0);
    }
    if (status == GSA_END && rows->n_rows == 0)
        return gsai_fail(error, GSA_INPUT, "no rows in %s: nothing to compare", gsa_reader_file(reader, 0));
    return status == GSA_END ? GSA_OK : status;
}

static gsa_batch view_rows(const compare_rows *rows)
{
    const compare_rows *speaker = rows->borrowed_words != NULL ? rows->borrowed_words : rows;
    return (gsa_batch){.n_rows = rows->n_rows,
                       .row_start = rows->row_start,
                       .index = rows->index,
                       .value = rows->any_value ? rows->value : NULL,
                       .label = rows->label,
                       .word = rows->any_word ? rows->word : NULL,
                       .words = (const char *const *)speaker->words,
                       .n_words = speaker->n_words,
                       .place = rows->place};
}

/* Adds those rows of `from`, in its order, for which chosen[row] is `which`. */
static gsa_status choose_rows(compare_rows *rows, const compare_rows *from, const bool *chosen, bool which,
                              const gsai_env *env, gsa_error *error)
{
    gsa_batch batch = view_rows(from);
    size_t n_rows = 0, n_entries = 0;
    for (size_t row = 0; row < from->n_rows; row++) {
        if (chosen[row] != which)
            continue;
        n_rows++;
        n_entries += (size_t)(from->row_start[row + 1] - from->row_start[row]);
    }
    gsa_status status = reserve(rows, n_rows, n_entries, env, error);
    for (size_t row = 0; row < from->n_rows && status == GSA_OK; row++) {
        if (chosen[row] == which)
            append_row(rows, &batch, row);
    }
    rows->borrowed_words = from;
    return status;
}

void compare_rows_free(compare_rows *rows)
{
    for (size_t i = 0; i < rows->n_words; i++)
        gsai_free(&rows->env, rows->words[i]);
    gsai_free(&rows->env, rows->words);
    gsai_free(&rows->env, rows->row_start);
    gsai_free(&rows->env, rows->index);
    gsai_free(&rows->env, rows->value);
    gsai_free(&rows->env, rows->label);
    gsai_free(&rows->env, rows->word);
    gsai_free(&rows->env, rows->place);
    *rows = (compare_rows){0};
}

/* ---- the split -------------------------------------------------------------------------------------------------- */

static gsa_status no_memory_to_split(const compare_task *task, gsa_error *error)
{
    return gsai_fail_memory(&task->env, error, "no memory for the split into training and test rows");
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

static gsa_status split_by_seed(compare_task *task, const gsai_env *env, gsa_error *error)
{
    const compare_rows *rows = &task->data->rows;
    bool *is_test = gsai_alloc_zeroed(&task->env, rows->n_rows, sizeof *is_test);
    task->test_number = gsai_alloc_zeroed(&task->env, rows->n_rows, sizeof *task->test_number);
    gsa_status status = task->test_number != NULL && is_test != NULL ? GSA_OK : no_memory_to_split(task, error);
    if (status == GSA_OK) {
        choose_tests(task->seed, (uint32_t)rows->n_rows, task->test_number, is_test); /* as scratch */
        number_tests(is_test, rows->n_rows, task->test_number);
        status = choose_rows(&task->train_rows, rows, is_test, false, env, error);
    }
    if (status == GSA_OK)
        status = choose_rows(&task->test_rows, rows, is_test, true, env, error);
    gsai_free(&task->env, is_test);
    return status;
}

static gsa_status set_parts(compare_task *task, const gsai_env *env, gsa_error *error)
{
    const compare_data *data = task->data;
    if (data->test_reader != NULL) {
        task->train = view_rows(&data->rows);
        task->test = view_rows(&data->test_rows);
        return GSA_OK;
    }
    if (data->rows.n_rows < 2)
        return gsai_fail(error, GSA_INPUT, "cannot split a single row into training and test rows; give --test a file");
    gsa_status status = split_by_seed(task, env, error);
    task->train = view_rows(&task->train_rows);
    task->test = view_rows(&task->test_rows);
    return status;
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
    GSA_TRY(set_parts(out, env, error));
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
