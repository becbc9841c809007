/* Rows in memory. The optimisers know no row weights, so that a reader that delivers some is refused. */
#include "compare.h"

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

gsa_status compare_check_stop(const gsa_env *env, gsa_error *error)
{
    if (env->should_stop != NULL && env->should_stop(env->stop_ctx))
        return gsai_fail(error, GSA_STOPPED, "stopped on request");
    return GSA_OK;
}

/* ---- room -------------------------------------------------------------------------------------------------------- */

static gsa_status no_memory(const gsa_env *env, gsa_error *error)
{
    return gsai_fail_memory(env, error, "no memory for the rows, all of which compare keeps in memory");
}

/* The array with room for n elements; where there is no memory it stays as it is, and *fits becomes false. */
static void *resize(const gsa_env *env, void *array, size_t n, size_t element_size, bool *fits)
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

static gsa_status check_limit(size_t n_rows, size_t n_entries, const gsa_env *env, gsa_error *error)
{
    static const uint64_t row_size = sizeof(int64_t) + sizeof(double) + sizeof(int32_t) + sizeof(gsa_place);
    uint64_t bytes = n_rows * row_size + n_entries * (uint64_t)(sizeof(uint32_t) + sizeof(float));
    char limit[COMPARE_SIZE_TEXT];
    if (n_rows >= UINT32_MAX)
        return gsai_fail(error, GSA_LIMIT, "more than 2^32 - 2 rows cannot be compared");
    if (bytes > gsai_memory_limit(env))
        return gsai_fail(error, GSA_LIMIT,
                         "the rows take more than the memory limit of %s; compare keeps all of them in "
                         "memory: give fewer rows, or raise --memory-limit",
                         compare_size_text((double)gsai_memory_limit(env), limit));
    return GSA_OK;
}

static gsa_status reserve(compare_rows *rows, size_t more_rows, size_t more_entries, const gsa_env *env,
                          gsa_error *error)
{
    size_t n_rows = rows->n_rows + more_rows, n_entries = rows->n_entries + more_entries;
    gsa_status status = check_limit(n_rows, n_entries, env, error);
    if (status != GSA_OK)
        return status;
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
    for (int64_t e = from->row_start[row]; e < from->row_start[row + 1]; e++) {
        float value = from->value != NULL ? from->value[e] : 1.0f;
        if (value == 0)
            continue;
        rows->index[at] = from->index[e];
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

static gsa_status append_batch(compare_rows *rows, const gsa_batch *batch, const gsa_env *env, gsa_error *error)
{
    if (batch->weight != NULL)
        return gsai_fail(error, GSA_UNSUPPORTED, "the rows have weights, which compare does not know");
    size_t n_entries = (size_t)(batch->row_start[batch->n_rows] - batch->row_start[0]);
    gsa_status status = reserve(rows, batch->n_rows, n_entries, env, error);
    if (status == GSA_OK)
        status = copy_words(rows, batch, error);
    for (size_t row = 0; row < batch->n_rows && status == GSA_OK; row++)
        append_row(rows, batch, row);
    return status;
}

gsa_status compare_rows_read(compare_rows *rows, gsa_reader *reader, const gsa_env *env, cli_progress *progress,
                             gsa_error *error)
{
    gsa_batch batch;
    gsa_status status;
    while ((status = gsa_reader_next(reader, &batch, error)) == GSA_OK) {
        status = compare_check_stop(env, error);
        if (status == GSA_OK)
            status = append_batch(rows, &batch, env, error);
        if (status != GSA_OK)
            return status;
        if (progress->is_live)
            progress_show_rows(progress, "read", rows->n_rows, 0);
    }
    if (status == GSA_END && rows->n_rows == 0)
        return gsai_fail(error, GSA_INPUT, "no rows in %s: nothing to compare", gsa_reader_file(reader, 0));
    return status == GSA_END ? GSA_OK : status;
}

gsa_status compare_rows_choose(compare_rows *rows, const compare_rows *from, const bool *chosen, bool which,
                               const gsa_env *env, gsa_error *error)
{
    gsa_batch batch = compare_rows_view(from);
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

gsa_batch compare_rows_view(const compare_rows *rows)
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
