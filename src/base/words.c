/* Words: a hash table with open addressing, at most half full. */
#include "base/words.h"

#include "base/error.h"
#include "base/hash.h"
#include "base/memory.h"

#include <string.h>

void gsai_words_free(gsai_words *words)
{
    for (size_t i = 0; i < words->n_words; i++)
        gsai_free(words->env, words->word[i]);
    gsai_free(words->env, words->word);
    gsai_free(words->env, words->slot);
    *words = (gsai_words){.env = words->env};
}

/* The slot of the word, or the empty one where it belongs. */
static size_t find_slot(const gsai_words *words, const char *text, size_t size)
{
    size_t mask = words->n_slots - 1;
    size_t at = (size_t)gsai_hash(text, size, 0) & mask;
    for (; words->slot[at] >= 0; at = (at + 1) & mask) {
        const char *word = words->word[words->slot[at]];
        if (strlen(word) == size && memcmp(word, text, size) == 0)
            break;
    }
    return at;
}

static bool grow_slots(gsai_words *words)
{
    gsai_words wider = *words;
    wider.n_slots = words->n_slots ? words->n_slots * 2 : 64;
    wider.slot = gsai_alloc(words->env, wider.n_slots, sizeof *wider.slot);
    if (!wider.slot)
        return false;
    memset(wider.slot, 0xFF, wider.n_slots * sizeof *wider.slot); /* all -1 */
    for (size_t i = 0; i < words->n_words; i++)
        wider.slot[find_slot(&wider, words->word[i], strlen(words->word[i]))] = (int32_t)i;
    gsai_free(words->env, words->slot);
    words->slot = wider.slot;
    words->n_slots = wider.n_slots;
    return true;
}

int32_t gsai_words_find(const gsai_words *words, const char *text, size_t size)
{
    return words->n_slots > 0 ? words->slot[find_slot(words, text, size)] : -1;
}

bool gsai_words_add(gsai_words *words, const char *text, size_t size)
{
    bool has_room = (words->n_words * 2 < words->n_slots || grow_slots(words)) &&
                    gsai_reserve(words->env, &words->word, &words->capacity, words->n_words + 1, sizeof *words->word);
    char *copy = has_room ? gsai_alloc(words->env, size + 1, 1) : NULL;
    if (!copy)
        return false;
    memcpy(copy, text, size);
    copy[size] = '\0';
    words->slot[find_slot(words, text, size)] = (int32_t)words->n_words;
    words->word[words->n_words++] = copy;
    words->n_bytes += size + 32;
    return true;
}

gsa_status gsai_words_enter(gsai_words *words, const char *text, size_t size, int32_t *number, gsa_error *error)
{
    *number = gsai_words_find(words, text, size);
    if (*number >= 0)
        return GSA_OK;
    if (words->n_words == GSAI_MAX_WORDS)
        return gsai_fail(error, GSA_LIMIT,
                         "more than %zu different words as labels: is the first column really the label?",
                         GSAI_MAX_WORDS);
    /* A word costs its text, a pointer and its share of the slots. */
    if (words->n_bytes + size + 32 > gsai_memory_limit(words->env) / 4)
        return gsai_fail_param(error, "memory_limit", GSA_LIMIT,
                               "%zu different words as labels take a quarter of the memory limit: raise the limit",
                               words->n_words);
    GSAI_TRY_MEMORY(gsai_words_add(words, text, size), words->env, error, "no memory for the label words");
    *number = (int32_t)(words->n_words - 1);
    return GSA_OK;
}
