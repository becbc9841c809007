/* The held-out sample. */
#include "core/sample.h"

#include "base/error.h"
#include "base/memory.h"

#include <string.h>

void gsa__sample_release(gsa__sample *sample, const gsa_env *env)
{
    gsa__sample_settle(sample);
    for (size_t i = 0; i < sample->n; i++)
        gsa__free(env, sample->at[i]);
    gsa__free(env, sample->at);
    memset(sample, 0, sizeof *sample);
}

/* The first place whose hash is not below. */
static size_t place_of(gsa__held_row *const *rows, size_t n, uint64_t hash)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (rows[middle]->hash < hash)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static gsa__held_row *find_in(gsa__held_row *const *rows, size_t n, uint64_t hash)
{
    size_t place = place_of(rows, n, hash);
    return place < n && rows[place]->hash == hash ? rows[place] : NULL;
}

gsa__held_row *gsa__sample_find(const gsa__sample *sample, uint64_t hash)
{
    if (hash > sample->highest)
        return NULL;
    gsa__held_row *late = find_in(sample->late, sample->n_late, hash);
    return late ? late : find_in(sample->at, sample->n - sample->n_late, hash);
}

/* From the back, so that every row is moved once. */
void gsa__sample_settle(gsa__sample *sample)
{
    size_t end = sample->n - sample->n_late;
    while (sample->n_late > 0) {
        gsa__held_row *held = sample->late[--sample->n_late];
        gsa__held_row **place = sample->at + place_of(sample->at, end, held->hash);
        memmove(place + sample->n_late + 1, place, (size_t)(sample->at + end - place) * sizeof *place);
        place[sample->n_late] = held;
        end = (size_t)(place - sample->at);
    }
}

static gsa__held_row **last_place(gsa__sample *sample)
{
    size_t n = sample->n - sample->n_late;
    gsa__held_row **late = sample->n_late > 0 ? sample->late + sample->n_late - 1 : NULL;
    return late && (n == 0 || (*late)->hash > sample->at[n - 1]->hash) ? late : sample->at + n - 1;
}

const gsa__held_row *gsa__sample_last(gsa__sample *sample)
{
    return sample->n > 0 ? *last_place(sample) : NULL;
}

bool gsa__sample_leaves_out(gsa__sample *sample, uint64_t hash, uint64_t pass)
{
    gsa__held_row *held = gsa__sample_find(sample, hash);
    if (!held || held->pass == (uint32_t)pass)
        return false;
    held->pass = (uint32_t)pass;
    return true;
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
    held->number = y;
    held->class_number = (uint32_t)class_number;
    held->weight = (float)c > 0 ? (float)c : 0x1p-149f; /* what was above 0 stays so: a file has no others */
    held->seen = (double)held->weight;
    held->pass = 0;
    held->n = n;
    return held;
}

gsa__held_row *gsa__held_row_copy(const gsa__held_row *held, const gsa_env *env)
{
    return gsa__copy(env, held, held_size(held->n), 1);
}

bool gsa__sample_wants(gsa__sample *sample, uint64_t hash, size_t most)
{
    if (sample->n == most && hash >= sample->highest)
        return false;
    if (gsa__sample_find(sample, hash))
        return false;
    if (sample->n <= most)
        return true;
    gsa__sample_settle(sample);
    return most > 0 && hash < sample->at[most - 1]->hash;
}

/* There is room in both. A row above all others need not wait among the late ones. */
static void enter(gsa__sample *sample, gsa__held_row *held)
{
    if (sample->n == 0 || held->hash > sample->highest) {
        sample->at[sample->n++ - sample->n_late] = held;
        return;
    }
    gsa__held_row **place = sample->late + place_of(sample->late, sample->n_late, held->hash);
    memmove(place + 1, place, (size_t)(sample->late + sample->n_late - place) * sizeof *place);
    *place = held;
    sample->n_late++;
    sample->n++;
}

gsa_status gsa__sample_insert(gsa__sample *sample, gsa__held_row *held, size_t most, const gsa_env *env,
                              gsa__held_row **pushed_out, gsa_error *error)
{
    gsa__held_row *unwanted = NULL, **out = pushed_out ? pushed_out : &unwanted;
    *out = NULL;
    bool is_there = held && gsa__sample_find(sample, held->hash);
    bool fits = held && gsa__reserve(env, &sample->at, &sample->capacity_allocated, sample->n + 1, sizeof *sample->at);
    if (is_there || !fits) {
        gsa__free(env, held);
        return is_there ? GSA_OK : gsa__fail(error, GSA_MEMORY, "no memory for the held-out sample");
    }
    if (sample->n_late == GSA__SAMPLE_LATE)
        gsa__sample_settle(sample);
    enter(sample, held);
    if (sample->n > most) {
        gsa__held_row **last = last_place(sample);
        *out = *last;
        sample->n_late -= sample->n_late > 0 && last == sample->late + sample->n_late - 1;
        sample->n--;
    }
    sample->highest = sample->n > 0 ? gsa__sample_last(sample)->hash : 0;
    if (!pushed_out)
        gsa__free(env, unwanted);
    return GSA_OK;
}
