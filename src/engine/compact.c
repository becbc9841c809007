/* Renumbering by a bitmap of the ids there are: the new number of an id is how many are below it. */
#include "engine/compact.h"

#include "base/error.h"
#include "base/memory.h"

#include <string.h>

/* Fewer numbers are no trouble as they are; more would need a bitmap that is. */
#define NUMBERS_LEAST ((uint64_t)1 << 16)
#define NUMBERS_MOST ((uint64_t)1 << 30)
/* Renumbered if less than one number in so many is there. */
#define GAIN_LEAST 4u

struct bitmap {
    uint64_t *word;
    uint32_t *below; /* bits in the words before */
    size_t n_words, n_bits;
};

static void mark(struct bitmap *map, const gsa_batch *rows)
{
    for (int64_t i = rows->row_start[0]; i < rows->row_start[rows->n_rows]; i++)
        map->word[rows->index[i] / 64] |= UINT64_C(1) << rows->index[i] % 64;
    for (size_t w = 0; w < map->n_words; w++) {
        map->below[w] = (uint32_t)map->n_bits;
        map->n_bits += (size_t)__builtin_popcountll(map->word[w]);
    }
}

static uint32_t number_of(const struct bitmap *map, uint32_t id)
{
    uint64_t lower = map->word[id / 64] & ((UINT64_C(1) << id % 64) - 1);
    return map->below[id / 64] + (uint32_t)__builtin_popcountll(lower);
}

static void renumber(gsa__compact *compact, const struct bitmap *map, const gsa_batch *rows)
{
    for (size_t w = 0; w < map->n_words; w++)
        for (uint64_t left = map->word[w]; left; left &= left - 1)
            compact->id[compact->n_ids++] = (uint32_t)(64 * w + (size_t)__builtin_ctzll(left));
    for (int64_t i = rows->row_start[0]; i < rows->row_start[rows->n_rows]; i++)
        compact->index[i] = number_of(map, rows->index[i]);
    compact->rows.index = compact->index;
}

gsa_status gsa__compact_rows(gsa__compact *compact, const gsa_batch *rows, const gsa_env *env, gsa_error *error)
{
    struct bitmap map = {0};
    uint64_t n_numbers = 0;
    memset(compact, 0, sizeof *compact);
    compact->rows = *rows;
    for (int64_t i = rows->row_start[0]; i < rows->row_start[rows->n_rows]; i++)
        n_numbers = rows->index[i] >= n_numbers ? rows->index[i] + (uint64_t)1 : n_numbers;
    if (n_numbers < NUMBERS_LEAST || n_numbers > NUMBERS_MOST)
        return GSA_OK;
    map.n_words = (size_t)(n_numbers / 64 + 1);
    map.word = gsa__alloc_zeroed(env, map.n_words, sizeof *map.word);
    map.below = gsa__alloc(env, map.n_words, sizeof *map.below);
    bool done = map.word && map.below;
    if (done)
        mark(&map, rows);
    if (done && map.n_bits < n_numbers / GAIN_LEAST) {
        compact->index = gsa__alloc(env, (size_t)rows->row_start[rows->n_rows], sizeof *compact->index);
        compact->id = gsa__alloc(env, map.n_bits, sizeof *compact->id);
        done = compact->index && compact->id;
        if (done)
            renumber(compact, &map, rows);
    }
    gsa__free(env, map.word);
    gsa__free(env, map.below);
    if (done)
        return GSA_OK;
    gsa__compact_release(compact, env);
    return gsa__fail_memory(env, error, "no memory to renumber the features of %zu rows", rows->n_rows);
}

void gsa__compact_release(gsa__compact *compact, const gsa_env *env)
{
    gsa__free(env, compact->index);
    gsa__free(env, compact->id);
    memset(compact, 0, sizeof *compact);
}
