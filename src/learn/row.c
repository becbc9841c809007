/* One row: its weight, its hash, the memory of its entries. */
#include "learn/kernel/kernel.h"

#include "base/error.h"
#include "base/hash.h"
#include "base/memory.h"

#include <math.h>
#include <string.h>

gsa_status gsai_row_weight(const gsa_batch *batch, size_t row, double *out, gsa_error *error)
{
    double c = *out = batch->weight ? (double)batch->weight[row] : 1.0;
    if (!(c >= 0) || !isfinite(c))
        return gsai_fail(error, GSA_INPUT, "the weight of the row is %g, expected a finite number of at least 0", c);
    return GSA_OK;
}

uint64_t gsai_row_features_hash(const gsa_batch *batch, size_t row_number)
{
    gsai_row row = gsai_row_at(batch, row_number);
    gsai_row_scan scan;
    gsai_kernels_best()->scan_row(&row, &scan);
    return scan.hash;
}

static uint64_t label_hash(const gsa_batch *batch, size_t row)
{
    if (!batch->label)
        return 0;
    if (gsai_row_is_word(batch, row) && (size_t)batch->word[row] < batch->n_words) {
        const char *text = batch->words[batch->word[row]];
        return gsai_hash(text, strlen(text), 0);
    }
    double number = batch->label[row] + 0.0; /* -0 is 0 */
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

uint64_t gsai_row_hash_with(const gsa_batch *batch, size_t row, uint64_t features_hash)
{
    float weight = batch->weight ? batch->weight[row] : 1.0f;
    uint32_t weight_bits;
    memcpy(&weight_bits, &weight, sizeof weight_bits);
    return gsai_mix(features_hash ^ gsai_mix(label_hash(batch, row) ^ weight_bits));
}

uint64_t gsai_row_hash(const gsa_batch *batch, size_t row_number)
{
    return gsai_row_hash_with(batch, row_number, gsai_row_features_hash(batch, row_number));
}

/* The numbers per entry in the memory that the arrays share. */
struct share {
    double x, product;
    float weight, mean, late;
    uint32_t slot, count;
};

bool gsai_entries_reserve(gsai_entries *entries, size_t n, const gsai_env *env)
{
    size_t room;
    if (n + GSAI_ENTRIES_BLOCK < entries->capacity)
        return true;
    if (!gsai_add(n, 2 * GSAI_ENTRIES_BLOCK, &room) ||
        !gsai_reserve(env, &entries->memory, &entries->capacity, room, sizeof(struct share)))
        return false;
    room = entries->capacity;
    entries->x = entries->memory;
    entries->product = entries->x + room;
    entries->weight = (float *)(entries->product + room);
    entries->mean = entries->weight + room;
    entries->late = entries->mean + room;
    entries->slot = (uint32_t *)(entries->late + room);
    entries->count = entries->slot + room;
    return true;
}
