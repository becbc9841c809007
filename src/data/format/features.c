/* Ids of words and crosses, and rows brought into order. */
#include "data/format/features.h"

#include "base/byte_order.h"
#include "base/hash.h"
#include "base/memory.h"
#include "data/format/digits.h"

#include <math.h>
#include <string.h>

bool gsai_key_set(gsai_key *key, const char *name, size_t name_size, const gsai_env *env)
{
    if (!gsai_reserve(env, &key->bytes, &key->capacity, name_size + 1 + GSAI_KEY_ROOM, 1))
        return false;
    memcpy(key->bytes, name, name_size);
    key->bytes[name_size] = '\0';
    key->size = name_size + 1;
    return true;
}

void gsai_key_free(gsai_key *key, const gsai_env *env)
{
    gsai_free(env, key->bytes);
    *key = (gsai_key){0};
}

__attribute__((noinline)) static uint64_t hash_long(const gsai_key *key, const char *word, size_t size)
{
    gsai_hasher hasher;
    gsai_hasher_init(&hasher);
    gsai_hasher_add(&hasher, key->bytes, key->size);
    gsai_hasher_add(&hasher, word, size);
    return gsai_hasher_value(&hasher);
}

uint64_t gsai_key_hash(const gsai_key *key, const char *word, size_t size)
{
    if (size > GSAI_KEY_ROOM)
        return hash_long(key, word, size);
    if (size >= 8 && key->size < 8 &&
        key->size + size <= 16) { /* without memory that was just written: that would wait */
        uint64_t name = gsai_load_word(key->bytes) & ((UINT64_C(1) << 8 * key->size) - 1);
        return gsai_hash_16(name | gsai_load_word(word) << 8 * key->size, gsai_load_word(word + size - 8),
                            key->size + size);
    }
    memcpy(key->bytes + key->size, word, size);
    return gsai_hash(key->bytes, key->size + size, 0);
}

#define FEW 64
typedef int32_t four_ints __attribute__((vector_size(16)));

/* The place of each id is the number of lower ones, which is counted without a branch, for 16 ids at a time. Where ids
 * are equal, the places do not add up to those of different ones, and what came first goes first. */
static void sort_few(uint32_t *index, float *value, size_t n)
{
    union { /* ids from the lowest int on, which compares as an int */
        int32_t at[FEW];
        four_ints four[FEW / 4];
    } id = {{0}}, place;
    float x[FEW];
    size_t sum = 0;
    memcpy(x, value, n * sizeof *x);
    for (size_t i = 0; i < n; i++)
        id.at[i] = (int32_t)(index[i] ^ UINT32_C(0x80000000));
    for (size_t i = 0; i < n; i += 16) {
        const four_ints *own = &id.four[i / 4];
        four_ints a = {0}, b = a, c = a, d = a; /* less one for each lower id */
        for (size_t j = 0; j < n; j++) {
            four_ints other = {id.at[j], id.at[j], id.at[j], id.at[j]};
            a += other < own[0];
            b += other < own[1];
            c += other < own[2];
            d += other < own[3];
        }
        place.four[i / 4] = -a;
        place.four[i / 4 + 1] = -b;
        place.four[i / 4 + 2] = -c;
        place.four[i / 4 + 3] = -d;
    }
    for (size_t i = 0; i < n; i++)
        sum += (size_t)place.at[i];
    for (size_t i = 1; i < n && sum != n * (n - 1) / 2; i++)
        for (size_t j = 0; j < i; j++)
            place.at[i] += id.at[j] == id.at[i];
    for (size_t i = 0; i < n; i++) {
        index[place.at[i]] = (uint32_t)id.at[i] ^ UINT32_C(0x80000000);
        value[place.at[i]] = x[i];
    }
}

/* Sorts by the byte of the ids at `shift` in place, then each of the 256 parts by the bytes below it (American flag
 * sort): linear in the length of the row. Equal ids may change places, which changes their sum by its rounding alone;
 * the order is the same on every machine. */
/* NOLINTNEXTLINE(misc-no-recursion): four levels, one per byte */
static void sort_many(uint32_t *index, float *value, size_t n, unsigned shift)
{
    size_t next[256], end[256] = {0};
    for (size_t i = 0; i < n; i++)
        end[index[i] >> shift & 0xFF]++;
    for (size_t b = 0, sum = 0; b < 256; b++) {
        next[b] = sum;
        end[b] = sum += end[b];
    }
    for (size_t b = 0; b < 256; b++)
        while (next[b] < end[b]) {
            size_t at = next[b], to = index[at] >> shift & 0xFF, place = next[to]++;
            uint32_t id = index[place];
            float x = value[place];
            index[place] = index[at];
            value[place] = value[at];
            index[at] = id;
            value[at] = x;
        }
    for (size_t b = 0, from = 0; b < 256 && shift > 0; from = end[b++]) {
        if (end[b] - from <= FEW)
            sort_few(index + from, value + from, end[b] - from);
        else
            sort_many(index + from, value + from, end[b] - from, shift - 8);
    }
}

/* Adds up neighbours with one id; drops sums of zero. */
static bool unite(gsai_features *features)
{
    uint32_t *index = features->index;
    float *value = features->value;
    size_t n = features->n_numbers;
    bool finite = true;
    features->all_ones = true; /* of what is left, whatever it was added up from */
    for (size_t i = 0; i < n; i++)
        features->all_ones = features->all_ones && value[i] == 1;
    for (size_t i = n; i < features->n;) {
        uint32_t id = index[i];
        float sum = value[i++];
        for (; i < features->n && index[i] == id; i++)
            sum += value[i];
        finite = finite && isfinite(sum);
        features->all_ones = features->all_ones && (sum == 1 || sum == 0);
        index[n] = id;
        value[n] = sum;
        n += sum != 0;
    }
    features->n = n;
    return finite;
}

bool gsai_features_finish(gsai_features *features)
{
    uint32_t *index = features->index + features->n_numbers;
    float *value = features->value + features->n_numbers;
    size_t n = features->n - features->n_numbers;
    if (n < 2)
        return true;
    uint32_t bits = 0;
    for (size_t i = 0; i < n; i++)
        bits |= index[i];
    unsigned shift = 24; /* of the highest byte that is not 0 everywhere */
    while (shift > 0 && bits >> shift == 0)
        shift -= 8;
    if (n <= FEW)
        sort_few(index, value, n);
    else
        sort_many(index, value, n, shift);
    bool distinct = true;
    for (size_t i = 1; i < n; i++)
        distinct &= index[i] != index[i - 1];
    return distinct || unite(features);
}

/* ---- crosses ---------------------------------------------------------------------------------------------------- */

#define NAME_SIZE 512

static size_t put(char *out, size_t at, const char *text, size_t size)
{
    size_t n = size < NAME_SIZE - at ? size : NAME_SIZE - at;
    memcpy(out + at, text, n);
    return at + n;
}

/* "column=word", or the column of a number, cut where it is too long. */
static size_t put_term(char *out, size_t at, const gsai_term *term)
{
    at = put(out, at, term->name, term->name_size);
    if (term->word_size > 0 && term->name_size > 0)
        at = put(out, at, "=", 1);
    return term->word_size > 0 ? put(out, at, term->word, term->word_size) : at;
}

void gsai_cross_enter(gsai_feature_names *names, uint32_t id, const gsai_term *a, const gsai_term *b)
{
    char name[NAME_SIZE];
    if (!gsai_feature_names_is_new(names, id))
        return;
    size_t size = put_term(name, put(name, put_term(name, 0, a), ":", 1), b);
    gsai_feature_names_enter(names, id, "", 0, name, size);
}

bool gsai_cross_add(gsai_features *features, gsai_feature_names *names, uint32_t base, uint64_t mask,
                    const gsai_term *a, const gsai_term *b)
{
    float value = a->value * b->value;
    if (a->value == 0 || b->value == 0)
        return true;
    unsigned char both[16];
    gsai_store_u64(a->hash, both);
    gsai_store_u64(b->hash, both + 8);
    uint32_t id = (uint32_t)(gsai_hash(both, sizeof both, 0) & mask);
    gsai_cross_enter(names, id, a, b);
    gsai_features_add(features, base + id, value);
    return isfinite(value);
}
