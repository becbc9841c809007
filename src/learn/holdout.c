/* The held-out sample. */
#include "learn/holdout.h"

#include "base/error.h"
#include "base/memory.h"

#include <math.h>
#include <string.h>

void gsai_sample_release(gsai_sample *sample, const gsai_env *env)
{
    gsai_sample_settle(sample);
    for (size_t i = 0; i < sample->n; i++)
        gsai_free(env, sample->at[i]);
    gsai_free(env, sample->at);
    gsai_free(env, sample->hash);
    memset(sample, 0, sizeof *sample);
}

/* By hash, class and number: below 0, 0 or above. */
static int compare(const gsai_held_row *a, const gsai_held_row *b)
{
    if (a->hash != b->hash)
        return a->hash < b->hash ? -1 : 1;
    if (a->class_number != b->class_number)
        return a->class_number < b->class_number ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

/* Rows in order, with their hashes. */
struct list {
    gsai_held_row *const *row;
    const uint64_t *hash;
    size_t n;
};

static struct list settled(const gsai_sample *sample)
{
    return (struct list){sample->at, sample->hash, sample->n - sample->n_late};
}

static struct list late(const gsai_sample *sample)
{
    return (struct list){sample->late, sample->late_hash, sample->n_late};
}

/* The first place whose hash is not below. */
static size_t first_of(struct list list, uint64_t hash)
{
    size_t low = 0, n = list.n;
    for (; n > 1; n -= n / 2) /* without branches: none of them could be foreseen */
        low += (list.hash[low + n / 2 - 1] < hash) * (n / 2);
    return low + (n > 0 && list.hash[low] < hash);
}

/* The first place whose row is not below. */
static size_t place_of(struct list list, const gsai_held_row *row)
{
    size_t place = first_of(list, row->hash);
    while (place < list.n && compare(list.row[place], row) < 0)
        place++;
    return place;
}

static gsai_held_row *find_in(struct list list, const gsai_held_row *row)
{
    size_t place = place_of(list, row);
    return place < list.n && compare(list.row[place], row) == 0 ? list.row[place] : NULL;
}

gsai_held_row *gsai_sample_find(const gsai_sample *sample, const gsai_held_row *row)
{
    gsai_held_row *found = find_in(late(sample), row);
    return found ? found : find_in(settled(sample), row);
}

/* Makes a gap of so many places before the rows from `place` to `end`. */
static void move_up(gsai_held_row **rows, uint64_t *hashes, size_t place, size_t end, size_t by)
{
    memmove(rows + place + by, rows + place, (end - place) * sizeof *rows);
    memmove(hashes + place + by, hashes + place, (end - place) * sizeof *hashes);
}

const gsai_held_row *gsai_sample_next(const gsai_sample *sample, size_t *at, const gsai_held_row *row)
{
    while (*at < sample->n && compare(sample->at[*at], row) < 0)
        ++*at;
    return *at < sample->n && compare(sample->at[*at], row) == 0 ? sample->at[*at] : NULL;
}

/* From the back, so that every row is moved once. */
void gsai_sample_settle(gsai_sample *sample)
{
    size_t end = sample->n - sample->n_late;
    while (sample->n_late > 0) {
        gsai_held_row *held = sample->late[--sample->n_late];
        size_t place = place_of((struct list){sample->at, sample->hash, end}, held);
        move_up(sample->at, sample->hash, place, end, sample->n_late + 1);
        sample->at[place + sample->n_late] = held;
        sample->hash[place + sample->n_late] = held->hash;
        end = place;
    }
}

static bool last_is_late(const gsai_sample *sample)
{
    size_t n = sample->n - sample->n_late;
    return n == 0 || (sample->n_late > 0 && compare(sample->late[sample->n_late - 1], sample->at[n - 1]) > 0);
}

const gsai_held_row *gsai_sample_last(const gsai_sample *sample)
{
    if (sample->n == 0)
        return NULL;
    return last_is_late(sample) ? sample->late[sample->n_late - 1] : sample->at[sample->n - sample->n_late - 1];
}

gsai_held_row *gsai_sample_pop(gsai_sample *sample)
{
    if (sample->n == 0)
        return NULL;
    bool late = last_is_late(sample);
    gsai_held_row *last = late ? sample->late[sample->n_late - 1] : sample->at[sample->n - sample->n_late - 1];
    sample->n_late -= late;
    sample->n--;
    sample->below = last->hash < sample->below ? last->hash : sample->below;
    return last;
}

static void add_kind(struct list list, uint64_t hash, gsai_kind *kind)
{
    for (size_t i = first_of(list, hash); i < list.n && list.hash[i] == hash; i++) {
        kind->n++;
        kind->weight += list.row[i]->weight;
    }
}

gsai_kind gsai_sample_kind(const gsai_sample *sample, uint64_t hash)
{
    gsai_kind kind = {0};
    add_kind(settled(sample), hash, &kind);
    add_kind(late(sample), hash, &kind);
    return kind;
}

/* Walks the kinds in ascending order, over both lists. */
bool gsai_sample_is_low(const gsai_sample *sample, uint64_t hash)
{
    struct list lists[2] = {settled(sample), late(sample)};
    size_t at[2] = {0, 0};
    for (size_t kinds = 0; kinds < GSAI_SAMPLE_MANY; kinds++) {
        uint64_t next = hash;
        for (int l = 0; l < 2; l++)
            next = at[l] < lists[l].n && lists[l].hash[at[l]] < next ? lists[l].hash[at[l]] : next;
        if (next == hash)
            return true;
        for (int l = 0; l < 2; l++)
            while (at[l] < lists[l].n && lists[l].hash[at[l]] == next)
                at[l]++;
    }
    return false;
}

bool gsai_sample_is_over(const gsai_sample *sample, size_t max, bool keeps_low)
{
    const gsai_held_row *last = gsai_sample_last(sample);
    if (!last || sample->n > max)
        return last != NULL;
    bool is_learned = last->weight == 0 || isinf(last->weight); /* infinite while states are merged */
    return last->hash >= sample->below && !(keeps_low && is_learned && gsai_sample_is_low(sample, last->hash));
}

size_t gsai_sample_count(const gsai_sample *sample)
{
    size_t n = first_of(settled(sample), sample->below), kinds = 0;
    double seen = 0;
    for (size_t i = n; i < sample->n; i++) {
        kinds += i == n || sample->hash[i] != sample->hash[i - 1];
        seen += sample->at[i]->seen;
    }
    return seen > GSAI_COMMON_WEIGHT * (double)kinds ? sample->n : n;
}

/* Above this share of rows with another label than most of their kind, rows of a kind are no copies. */
#define MAX_OTHER_LABELS 0.1
/* Fewer rows per kind are those that are equal by chance. */
#define MIN_COPIES 1.5

double gsai_sample_copies(const gsai_sample *sample)
{
    double kinds = 0, weight = 0, other = 0;
    for (size_t i = 0, next; i < sample->n; i = next) {
        double sum = 0, max = 0;
        for (next = i; next < sample->n && sample->hash[next] == sample->hash[i]; next++) {
            sum += sample->at[next]->weight;
            max = sample->at[next]->weight > max ? sample->at[next]->weight : max;
        }
        kinds += sum > 0;
        weight += sum;
        other += sum - max;
    }
    return kinds >= GSAI_SAMPLE_MANY && weight >= MIN_COPIES * kinds && other <= MAX_OTHER_LABELS * weight
               ? weight / kinds
               : 1;
}

gsai_held_row *gsai_sample_next_held(gsai_sample *sample, uint64_t hash)
{
    gsai_sample_settle(sample);
    for (size_t i = first_of(settled(sample), hash); i < sample->n && sample->hash[i] == hash; i++)
        if (sample->at[i]->weight > 0)
            return sample->at[i];
    return NULL;
}

static size_t held_size(size_t n)
{
    return sizeof(gsai_held_row) + 2 * n * sizeof(uint32_t); /* n < 2^32: no overflow in 64 bits */
}

gsai_held_row *gsai_held_row_new(const gsai_row *row, uint64_t hash, size_t class_number, double y, double c,
                                 const gsai_env *env)
{
    if (row->n > UINT32_MAX || row->n > (SIZE_MAX - sizeof(gsai_held_row)) / 8)
        return NULL;
    gsai_held_row *held = gsai_alloc(env, held_size(row->n), 1);
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

gsai_held_row *gsai_held_row_copy(const gsai_held_row *held, const gsai_env *env)
{
    return gsai_copy(env, held, held_size(held->n), 1);
}

/* There is room in both. A row above all others need not wait among the late ones. */
static void enter(gsai_sample *sample, gsai_held_row *held)
{
    const gsai_held_row *last = gsai_sample_last(sample);
    if (!last || (sample->n_late == 0 && compare(held, last) > 0)) {
        sample->hash[sample->n] = held->hash;
        sample->at[sample->n++] = held;
        return;
    }
    size_t place = place_of(late(sample), held);
    move_up(sample->late, sample->late_hash, place, sample->n_late, 1);
    sample->late[place] = held;
    sample->late_hash[place] = held->hash;
    sample->n_late++;
    sample->n++;
}

gsa_status gsai_sample_insert(gsai_sample *sample, gsai_held_row *held, const gsai_env *env, gsa_error *error)
{
    gsai_held_row *equal = held ? gsai_sample_find(sample, held) : NULL;
    if (equal) {
        equal->weight += held->weight;
        equal->seen += held->seen;
        gsai_free(env, held);
        return GSA_OK;
    }
    if (!held || !gsai_reserve(env, &sample->at, &sample->capacity_allocated, sample->n + 1, sizeof *sample->at) ||
        !gsai_reserve(env, &sample->hash, &sample->hash_capacity, sample->n + 1, sizeof *sample->hash)) {
        gsai_free(env, held);
        return gsai_fail_memory(env, error, "no memory for the held-out sample");
    }
    if (sample->n_late == GSAI_SAMPLE_LATE)
        gsai_sample_settle(sample);
    enter(sample, held);
    return GSA_OK;
}
