/* Names of hashed features. */
#include "data/feature_names.h"

#include "base/error.h"
#include "base/hash.h"
#include "base/memory.h"

#include <string.h>

#define SLOTS (2 * GSA_MAX_NAMES)
/* A category that is new to the book may be in every row of a chunk: a list that noted it each time would have its
 * name as often. */
#define LATEST 4096
/* Names that are looked up soon are asked for. */
#define NAMES_AHEAD 16

gsa_status gsai_feature_names_begin(gsai_feature_names *book, unsigned bits, const gsai_env *env, gsa_error *error)
{
    if (book->came)
        return GSA_OK;
    *book = (gsai_feature_names){.env = env};
    book->came = gsai_alloc_zeroed(env, ((size_t)1 << bits) / 64 + 1, sizeof *book->came);
    book->slot = gsai_alloc_zeroed(env, SLOTS, sizeof *book->slot);
    if (book->came && book->slot)
        return GSA_OK;
    gsai_feature_names_free(book);
    return gsai_fail_memory(env, error, "no memory for the names of features");
}

void gsai_feature_names_free(gsai_feature_names *book)
{
    void *const memory[] = {
        book->is_list ? NULL : book->came, book->slot, book->id, book->start, book->text, book->latest};
    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++)
        gsai_free(book->env, memory[i]);
    *book = (gsai_feature_names){.env = book->env};
}

void gsai_feature_names_enter(gsai_feature_names *book, uint32_t id, const char *column, size_t column_size,
                              const char *word, size_t word_size)
{
    if (book->is_list) {
        uint32_t *latest = &book->latest[gsai_mix(id) % LATEST];
        if (*latest == id + 1)
            return;
        *latest = id + 1;
    } else {
        __atomic_store_n(&book->came[id / 64], book->came[id / 64] | UINT64_C(1) << id % 64, __ATOMIC_RELAXED);
        book->n_came++;
    }
    if (memchr(word, '\0', word_size))
        column_size = word_size = 0; /* that this came first is known all the same */
    size_t head = column_size + (column_size > 0), size = head + word_size + 1;
    if (!book->is_list && (book->n == GSA_MAX_NAMES || size > GSA_NAMES_SIZE - book->text_size))
        return;
    book->lacks_memory =
        book->lacks_memory || !gsai_reserve(book->env, &book->id, &book->id_capacity, book->n + 1, sizeof *book->id) ||
        !gsai_reserve(book->env, &book->start, &book->start_capacity, book->n + 1, sizeof *book->start) ||
        !gsai_reserve(book->env, &book->text, &book->text_capacity, book->text_size + size, 1);
    if (book->lacks_memory)
        return;
    char *text = book->text + book->text_size;
    memcpy(text, column, column_size);
    if (head > 0)
        text[column_size] = '=';
    memcpy(text + head, word, word_size);
    text[size - 1] = '\0';
    book->id[book->n] = id;
    book->start[book->n++] = book->text_size;
    book->text_size += size;
}

bool gsai_feature_names_list(gsai_feature_names *list, const gsai_feature_names *book, const gsai_env *env)
{
    *list = (gsai_feature_names){.env = env, .came = book->came, .is_list = true};
    list->latest = gsai_alloc_zeroed(env, LATEST, sizeof *list->latest);
    return list->latest != NULL;
}

void gsai_feature_names_take(gsai_feature_names *book, const gsai_feature_names *list)
{
    book->lacks_memory = book->lacks_memory || list->lacks_memory;
    for (size_t i = 0; i < list->n; i++) {
        if (i + NAMES_AHEAD < list->n)
            (void)gsai_feature_names_expect(book, list->id[i + NAMES_AHEAD]);
        const char *text = list->text + list->start[i];
        if (gsai_feature_names_is_new(book, list->id[i]))
            gsai_feature_names_enter(book, list->id[i], "", 0, text, strlen(text));
    }
}

void gsai_feature_names_clear(gsai_feature_names *list)
{
    if (list->n > 0)
        memset(list->latest, 0, LATEST * sizeof *list->latest);
    list->n = list->text_size = 0;
}

/* Gives the names that came since the last look-up their slots: all at once, because each of them waits for memory. */
static void index_names(gsai_feature_names *book)
{
    for (size_t i = book->n_indexed; i < book->n; i++) {
        size_t at = (size_t)gsai_mix(book->id[i]) % SLOTS;
        if (i + NAMES_AHEAD < book->n)
            __builtin_prefetch(&book->slot[gsai_mix(book->id[i + NAMES_AHEAD]) % SLOTS], 1);
        while (book->slot[at] != 0)
            at = (at + 1) % SLOTS;
        book->slot[at] = (uint32_t)i + 1;
    }
    book->n_indexed = book->n;
}

const char *gsai_feature_names_find(gsai_feature_names *book, uint64_t id)
{
    if (!book->slot)
        return NULL;
    index_names(book);
    size_t at = (size_t)gsai_mix(id) % SLOTS;
    while (book->slot[at] != 0 && book->id[book->slot[at] - 1] != id)
        at = (at + 1) % SLOTS;
    const char *text = book->slot[at] != 0 ? book->text + book->start[book->slot[at] - 1] : "";
    return *text ? text : NULL;
}
