/* Names of hashed features. */
#include "data/name_book.h"

#include "base/error.h"
#include "base/hash.h"
#include "base/memory.h"

#include <string.h>

#define SLOTS (2 * GSA_NAMES_MOST)

gsa_status gsa__name_book_begin(gsa__name_book *book, unsigned bits, const gsa_env *env, gsa_error *error)
{
    if (book->came)
        return GSA_OK;
    *book = (gsa__name_book){.env = env};
    book->came = gsa__alloc_zeroed(env, ((size_t)1 << bits) / 64 + 1, sizeof *book->came);
    book->slot = gsa__alloc_zeroed(env, SLOTS, sizeof *book->slot);
    if (book->came && book->slot)
        return GSA_OK;
    gsa__name_book_free(book);
    return gsa__fail_memory(env, error, "no memory for the names of features");
}

void gsa__name_book_free(gsa__name_book *book)
{
    void *const memory[] = {book->came, book->slot, book->id, book->start, book->text};
    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++)
        gsa__free(book->env, memory[i]);
    *book = (gsa__name_book){.env = book->env};
}

static size_t find_slot(const gsa__name_book *book, uint64_t id)
{
    size_t at = (size_t)gsa__mix(id) % SLOTS;
    while (book->slot[at] != 0 && book->id[book->slot[at] - 1] != id)
        at = (at + 1) % SLOTS;
    return at;
}

static bool reserve(gsa__name_book *book, size_t size)
{
    return gsa__reserve(book->env, &book->id, &book->id_capacity, book->n + 1, sizeof *book->id) &&
           gsa__reserve(book->env, &book->start, &book->start_capacity, book->n + 1, sizeof *book->start) &&
           gsa__reserve(book->env, &book->text, &book->text_capacity, book->text_size + size, 1);
}

void gsa__name_book_enter(gsa__name_book *book, uint32_t id, const char *column, size_t column_size, const char *word,
                          size_t word_size)
{
    __atomic_store_n(&book->came[id / 64], book->came[id / 64] | UINT64_C(1) << id % 64, __ATOMIC_RELAXED);
    book->n_came++;
    if (memchr(word, '\0', word_size))
        column_size = word_size = 0; /* that this came first is known all the same */
    size_t head = column_size + (column_size > 0), size = head + word_size + 1;
    if (!book->known && (book->n == GSA_NAMES_MOST || size > GSA_NAMES_SIZE - book->text_size))
        return;
    book->lacks_memory = book->lacks_memory || !reserve(book, size);
    if (book->lacks_memory)
        return;
    char *text = book->text + book->text_size;
    memcpy(text, column, column_size);
    if (head > 0)
        text[column_size] = '=';
    memcpy(text + head, word, word_size);
    text[size - 1] = '\0';
    if (book->slot)
        book->slot[find_slot(book, id)] = (uint32_t)book->n + 1;
    book->id[book->n] = id;
    book->start[book->n++] = book->text_size;
    book->text_size += size;
}

bool gsa__name_book_list(gsa__name_book *list, const gsa__name_book *known, unsigned bits, const gsa_env *env)
{
    *list = (gsa__name_book){.env = env, .known = known};
    list->came = gsa__alloc_zeroed(env, ((size_t)1 << bits) / 64 + 1, sizeof *list->came);
    return list->came != NULL;
}

void gsa__name_book_take(gsa__name_book *book, const gsa__name_book *list)
{
    book->lacks_memory = book->lacks_memory || list->lacks_memory;
    for (size_t i = 0; i < list->n; i++) {
        const char *text = list->text + list->start[i];
        if (gsa__name_book_is_new(book, list->id[i]))
            gsa__name_book_enter(book, list->id[i], "", 0, text, strlen(text));
    }
}

void gsa__name_book_clear(gsa__name_book *list)
{
    for (size_t i = 0; i < list->n; i++)
        list->came[list->id[i] / 64] = 0;
    list->n = list->n_came = list->text_size = 0;
}

const char *gsa__name_book_find(const gsa__name_book *book, uint64_t id)
{
    uint32_t number = book->slot ? book->slot[find_slot(book, id)] : 0;
    const char *text = number ? book->text + book->start[number - 1] : "";
    return *text ? text : NULL;
}
