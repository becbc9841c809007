/* Rows whose features have numbers: all of them together and, while they are few, each for itself. */
#include "inspect_data.h"

#include <stdlib.h>
#include <string.h>

bool features_init(data_features *features)
{
    *features = (data_features){.few = calloc(FEW_FEATURES, sizeof *features->few)};
    return features->few != NULL && value_set_init(&features->beyond, MANY_VALUES, true);
}

static void forget_few(data_features *features)
{
    for (size_t i = 0; i < features->n_few; i++)
        column_free(&features->few[i]);
    free(features->few);
    features->few = NULL;
    features->n_few = 0;
}

void features_free(data_features *features)
{
    value_set_free(&features->beyond);
    free(features->count);
    top_free(&features->frequent);
    forget_few(features);
}

/* A feature that turns up was absent in all rows before this one, the last of `labels`. */
static bool begin_feature(data_column *feature, uint64_t id, const row_label *label, const data_labels *labels)
{
    bool has_room = column_init(feature, COLUMN_NUMBER);
    feature->number = id;
    feature->n_absent = labels->n_rows - 1;
    feature->absent_label = labels->side[0];
    feature->absent_is_mixed = labels->n_changes > label->is_change;
    return has_room;
}

/* Its place among the few; n_few: it is new. */
static size_t find_few(const data_features *features, uint64_t id, size_t guess)
{
    if (guess < features->n_few && features->few[guess].number == id)
        return guess;
    size_t at = 0;
    while (at < features->n_few && features->few[at].number != id)
        at++;
    return at;
}

static bool add_to_few(data_features *features, const gsa_batch *batch, size_t row, const row_label *label,
                       const data_labels *labels)
{
    uint64_t met = 0;
    size_t guess = 0;
    bool has_room = true;
    for (int64_t i = batch->row_start[row]; i < batch->row_start[row + 1] && has_room; i++) {
        size_t at = find_few(features, batch->index[i], guess);
        if (at == FEW_FEATURES) {
            forget_few(features);
            return true;
        }
        if (at == features->n_few)
            has_room = begin_feature(&features->few[features->n_few++], batch->index[i], label, labels);
        double x = batch->value != NULL ? (double)batch->value[i] : 1;
        if (x == 0)
            continue;
        has_room = has_room && column_add_number(&features->few[at], x, label, labels->first_number);
        met |= UINT64_C(1) << at;
        guess = at + 1;
    }
    for (size_t at = 0; at < features->n_few; at++)
        if (!(met >> at & 1))
            column_add_absent(&features->few[at], label->key);
    return has_room;
}

/* ---- all together ----------------------------------------------------------------------------------------------- */

static bool grow_counts(data_features *features, size_t id)
{
    size_t n = features->n_counts > 0 ? features->n_counts : 1024;
    while (n <= id)
        n *= 2;
    uint32_t *count = realloc(features->count, n * sizeof *count);
    if (count == NULL)
        return false;
    memset(count + features->n_counts, 0, (n - features->n_counts) * sizeof *count);
    features->count = count;
    features->n_counts = n;
    return true;
}

static bool count_feature(data_features *features, uint32_t id)
{
    features->highest = id > features->highest ? id : features->highest;
    if (id >= MOST_COUNTED)
        return value_set_add(&features->beyond, id, 0);
    if (id >= features->n_counts && !grow_counts(features, id))
        return false;
    features->count[id] += features->count[id] < UINT32_MAX;
    return true;
}

bool features_add(data_features *features, const gsa_batch *batch, size_t row, const row_label *label,
                  const data_labels *labels)
{
    int64_t begin = batch->row_start[row], end = batch->row_start[row + 1];
    bool has_room = features->few == NULL || add_to_few(features, batch, row, label, labels);
    if (features->n_entries == 0 && end > begin)
        features->least = features->most = batch->value != NULL ? (double)batch->value[begin] : 1;
    for (int64_t i = begin; i < end && has_room; i++) {
        double x = batch->value != NULL ? (double)batch->value[i] : 1;
        features->least = x < features->least ? x : features->least;
        features->most = x > features->most ? x : features->most;
        has_room = count_feature(features, batch->index[i]);
    }
    features->n_entries += (uint64_t)(end - begin);
    return has_room;
}

/* ---- at the end ------------------------------------------------------------------------------------------------- */

static int compare_numbers(const void *a, const void *b)
{
    const data_column *x = a, *y = b;
    return (x->number > y->number) - (x->number < y->number);
}

bool features_finish(data_features *features, size_t most_frequent)
{
    if (!top_init(&features->frequent, most_frequent))
        return false;
    features->n_seen = value_set_count(&features->beyond);
    for (size_t id = 0; id < features->n_counts; id++) {
        features->n_seen += features->count[id] > 0;
        if (features->count[id] > 0)
            top_consider(&features->frequent, (top_feature){.id = id, .value = (double)features->count[id]});
    }
    for (size_t i = 0; i < features->beyond.n; i++) {
        const value_entry *entry = &features->beyond.entry[i];
        top_consider(&features->frequent, (top_feature){.id = entry->value, .value = (double)entry->count});
    }
    if (features->n_few > 1)
        qsort(features->few, features->n_few, sizeof *features->few, compare_numbers);
    return true;
}
