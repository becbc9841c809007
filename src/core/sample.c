/* The held-out sample. */
#include "core/sample.h"

#include "base/error.h"
#include "base/memory.h"

#include <math.h>
#include <string.h>

void gsa__sample_release(gsa__sample *sample, const gsa_env *env)
{
    gsa__sample_settle(sample);
    for (size_t i = 0; i < sample->n; i++)
        gsa__free(env, sample->at[i]);
    gsa__free(env, sample->at);
    memset(sample, 0, sizeof *sample);
}

/* By hash, class and number: below 0, 0 or above. */
static int compare(const gsa__held_row *a, const gsa__held_row *b)
{
    if (a->hash != b->hash)
        return a->hash < b->hash ? -1 : 1;
    if (a->class_number != b->class_number)
        return a->class_number < b->class_number ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

/* The first place whose row is not below. */
static size_t place_of(gsa__held_row *const *rows, size_t n, const gsa__held_row *row)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare(rows[middle], row) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static gsa__held_row *find_in(gsa__held_row *const *rows, size_t n, const gsa__held_row *row)
{
    size_t place = place_of(rows, n, row);
    return place < n && compare(rows[place], row) == 0 ? rows[place] : NULL;
}

gsa__held_row *gsa__sample_find(const gsa__sample *sample, const gsa__held_row *row)
{
    gsa__held_row *late = find_in(sample->late, sample->n_late, row);
    return late ? late : find_in(sample->at, sample->n - sample->n_late, row);
}

/* From the back, so that every row is moved once. */
void gsa__sample_settle(gsa__sample *sample)
{
    size_t end = sample->n - sample->n_late;
    while (sample->n_late > 0) {
        gsa__held_row *held = sample->late[--sample->n_late];
        gsa__held_row **place = sample->at + place_of(sample->at, end, held);
        memmove(place + sample->n_late + 1, place, (size_t)(sample->at + end - place) * sizeof *place);
        place[sample->n_late] = held;
        end = (size_t)(place - sample->at);
    }
}

static bool last_is_late(const gsa__sample *sample)
{
    size_t n = sample->n - sample->n_late;
    return n == 0 || (sample->n_late > 0 && compare(sample->late[sample->n_late - 1], sample->at[n - 1]) > 0);
}

const gsa__held_row *gsa__sample_last(const gsa__sample *sample)
{
    if (sample->n == 0)
        return NULL;
    return last_is_late(sample) ? sample->late[sample->n_late - 1] : sample->at[sample->n - sample->n_late - 1];
}

gsa__held_row *gsa__sample_pop(gsa__sample *sample)
{
    if (sample->n == 0)
        return NULL;
    bool late = last_is_late(sample);
    gsa__held_row *last = late ? sample->late[sample->n_late - 1] : sample->at[sample->n - sample->n_late - 1];
    sample->n_late -= late;
    sample->n--;
    sample->below = last->hash < sample->below ? last->hash : sample->below;
    return last;
}

static size_t first_of(gsa__held_row *const *rows, size_t n, uint64_t hash)
{
    const gsa__held_row least = {.hash = hash, .number = -INFINITY};
    return place_of(rows, n, &least);
}

static void add_kind(gsa__held_row *const *rows, size_t n, uint64_t hash, gsa__kind *kind)
{
    for (size_t i = first_of(rows, n, hash); i < n && rows[i]->hash == hash; i++) {
        kind->n++;
        kind->weight += rows[i]->weight;
    }
}

gsa__kind gsa__sample_kind(const gsa__sample *sample, uint64_t hash)
{
    gsa__kind kind = {0};
    add_kind(sample->at, sample->n - sample->n_late, hash, &kind);
    add_kind(sample->late, sample->n_late, hash, &kind);
    return kind;
}

gsa__held_row *gsa__sample_next_held(gsa__sample *sample, uint64_t hash)
{
    gsa__sample_settle(sample);
    for (size_t i = first_of(sample->at, sample->n, hash); i < sample->n && sample->at[i]->hash == hash; i++)
        if (sample->at[i]->weight > 0)
            return sample->at[i];
    return NULL;
}

static size_t held_size(size_t n)
{
    return sizeof(gsa__held_row) + 2 * n * sizeof(uint32_t); /* n < 2^32: no overflow in 64 bits */
}

gsa__held_row *gsa__held_row_new(const gsa__row *row, uint64_t hash, size_t class_number, double y, double c,
                                 const gsa_env *env)
{
    if (row->n > UINT32_MAX || row->n > (SIZE_MAX - sizeof(gsa__held_row)) / 8)
        return NULL;
    gsa__held_row *held = gsa__alloc(env, held_size(row->n), 1);
    if (!held)
        return NULL;
    uint32_t n = 0;
    for (size_t i = 0; i < row->n; i++)
        if (!row->value || row->value[i] != 0)
            held->entries[n++] = row->index ? row->index[i] : (uint32_t)i;
    uint32_t at = n;
    for (size_t i = 0; i < row->n; i++) {
        float value = row->value ? row->value[i] : 1.0f;
        if (value != 0)
            memcpy(&held->entries[at++], &value, sizeof value);
    }
    held->hash = hash;
    held->number = y + 0.0; /* -0 is 0 */
    held->class_number = (uint32_t)class_number;
    held->weight = held->seen = c;
    held->n = n;
    return held;
}

gsa__held_row *gsa__held_row_copy(const gsa__held_row *held, const gsa_env *env)
{
    return gsa__copy(env, held, held_size(held->n), 1);
}

/* There is room in both. A row above all others need not wait among the late ones. */
static void enter(gsa__sample *sample, gsa__held_row *held)
{
    const gsa__held_row *last = gsa__sample_last(sample);
    if (!last || (sample->n_late == 0 && compare(held, last) > 0)) {
        sample->at[sample->n++] = held;
        return;
    }
    gsa__held_row **place = sample->late + place_of(sample->late, sample->n_late, held);
    memmove(place + 1, place, (size_t)(sample->late + sample->n_late - place) * sizeof *place);
    *place = held;
    sample->n_late++;
    sample->n++;
}

gsa_status gsa__sample_insert(gsa__sample *sample, gsa__held_row *held, const gsa_env *env, gsa_error *error)
{
    gsa__held_row *equal = held ? gsa__sample_find(sample, held) : NULL;
    if (equal) {
        equal->weight += held->weight;
        equal->seen += held->seen;
        gsa__free(env, held);
        return GSA_OK;
    }
    if (!held || !gsa__reserve(env, &sample->at, &sample->capacity_allocated, sample->n + 1, sizeof *sample->at)) {
        gsa__free(env, held);
        return gsa__fail_memory(env, error, "no memory for the held-out sample");
    }
    if (sample->n_late == GSA__SAMPLE_LATE)
        gsa__sample_settle(sample);
    enter(sample, held);
    return GSA_OK;
}
