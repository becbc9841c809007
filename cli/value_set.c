/* Values and their counts, and the estimate of a sketch. */
#include "value_set.h"

#include "base/hash.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_RANK = 64 };

/* Ertl's equation for ranks that never reach their limit, which 2^40 values would not. */
double sketch_count(const sketch *of)
{
    size_t n_with_rank[MAX_RANK + 1] = {0};
    for (size_t i = 0; i < SKETCH_SIZE; i++)
        n_with_rank[of->rank[i]]++;
    double sum = 0, size = SKETCH_SIZE;
    for (int rank = MAX_RANK; rank > 0; rank--)
        sum = 0.5 * (sum + (double)n_with_rank[rank]);
    /* sigma(x) = x + sum over k >= 1 of x^(2^k) 2^(k-1): what registers without a value stand for. */
    double x = (double)n_with_rank[0] / size, sigma = x, before = -1;
    if (x >= 1)
        return 0; /* all are without */
    for (double factor = 1; sigma > before; factor *= 2) {
        before = sigma;
        x *= x;
        sigma += x * factor;
    }
    sum += size * sigma;
    return size * size / (2 * log(2)) / sum;
}

/* ---- sets of values --------------------------------------------------------------------------------------------- */

enum { SLOTS_AN_ENTRY = 4, SAMPLED = 32 };

bool value_set_init(value_set *set, size_t capacity, bool is_for_frequent)
{
    *set = (value_set){.capacity = capacity, .is_for_frequent = is_for_frequent};
    set->entry = calloc(capacity, sizeof *set->entry);
    set->slot = calloc(capacity * SLOTS_AN_ENTRY, sizeof *set->slot);
    return set->entry != NULL && set->slot != NULL;
}

static void forget_entries(value_set *set)
{
    free(set->entry);
    free(set->slot);
    set->entry = NULL;
    set->slot = NULL;
    set->n = 0;
}

void value_set_free(value_set *set)
{
    forget_entries(set);
    free(set->sketch);
    set->sketch = NULL;
}

/* The slot of a value, or the free one where it belongs. */
static uint16_t *find_slot(const value_set *set, uint64_t value, uint64_t hash)
{
    size_t mask = set->capacity * SLOTS_AN_ENTRY - 1, at = (size_t)hash & mask;
    while (set->slot[at] != 0 && set->entry[set->slot[at] - 1].value != value)
        at = (at + 1) & mask;
    return &set->slot[at];
}

static int compare_counts(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Makes room: all counts lose as much, and those with nothing left go. */
static void thin(value_set *set)
{
    uint64_t count[SAMPLED]; /* a few that stand for all; the middle one is lost */
    size_t kept = 0;
    for (size_t i = 0; i < SAMPLED; i++)
        count[i] = set->entry[i * (set->n / SAMPLED)].count;
    qsort(count, SAMPLED, sizeof *count, compare_counts);
    uint64_t loss = count[SAMPLED / 2];
    memset(set->slot, 0, set->capacity * SLOTS_AN_ENTRY * sizeof *set->slot);
    for (size_t i = 0; i < set->n; i++) {
        if (set->entry[i].count <= loss)
            continue;
        set->entry[kept] = set->entry[i];
        set->entry[kept].count -= loss;
        uint64_t value = set->entry[kept].value;
        *find_slot(set, value, gsai_mix(value)) = (uint16_t)(kept + 1);
        kept++;
    }
    set->n = kept;
    set->lost += loss;
}

static bool add_entry(value_set *set, uint64_t value, uint64_t hash, uint64_t label)
{
    uint16_t *slot = find_slot(set, value, hash);
    if (*slot != 0) {
        value_entry *entry = &set->entry[*slot - 1];
        entry->count++;
        entry->is_mixed = entry->is_mixed || entry->label != label;
        return true;
    }
    if (set->n == set->capacity) {
        if (set->sketch == NULL) { /* from here on the number of values is an estimate */
            set->sketch = calloc(1, sizeof *set->sketch);
            if (set->sketch == NULL)
                return false;
            for (size_t i = 0; i < set->n; i++)
                sketch_add(set->sketch, gsai_mix(set->entry[i].value));
        }
        sketch_add(set->sketch, hash);
        if (!set->is_for_frequent) {
            forget_entries(set);
            return true;
        }
        thin(set);
        slot = find_slot(set, value, hash);
    }
    set->entry[set->n] = (value_entry){.value = value, .count = 1, .first = set->n_added, .label = label};
    *slot = (uint16_t)++set->n;
    return true;
}

bool value_set_add(value_set *set, uint64_t value, uint64_t label)
{
    uint64_t hash = gsai_mix(value);
    if (set->sketch != NULL)
        sketch_add(set->sketch, hash);
    bool has_room = set->entry == NULL || add_entry(set, value, hash, label);
    set->n_added++;
    return has_room;
}

uint64_t value_set_count(const value_set *set)
{
    if (set->sketch == NULL)
        return set->n;
    /* That much is known besides. */
    double count = fmin(sketch_count(set->sketch), (double)set->n_added);
    return (uint64_t)(fmax(count, (double)set->capacity + 1) + 0.5);
}

static int compare_entries(const void *a, const void *b)
{
    const value_entry *x = a, *y = b;
    return x->count != y->count ? (x->count < y->count) - (x->count > y->count)
                                : (x->first > y->first) - (x->first < y->first);
}

void value_set_sort(value_set *set)
{
    if (set->n > 1)
        qsort(set->entry, set->n, sizeof *set->entry, compare_entries);
}
