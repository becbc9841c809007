/* Names of features whose ids are hashes, as they come, while there is room; and how many ids came at all.
 *
 *   1 An id keeps the name that came first: at most GSA_NAMES_MOST of them, and GSA_NAMES_SIZE bytes of text.
 *   2 A bit an id says whether it came: that is all that most words cost.
 *   3 A thread that reads rows before their turn makes a list; lists that are taken in the order of their rows give the
 *     book that one thread would have made. */
#ifndef GSA_DATA_NAME_BOOK_H
#define GSA_DATA_NAME_BOOK_H

#include <greedystep/data.h>

#include <stdbool.h>

typedef struct gsa__name_book {
    const gsa_env *env;
    uint64_t *came; /* NULL: names are not remembered */
    size_t n_came;
    uint32_t *slot; /* open addressing: number of the name + 1; 0: none */
    uint32_t *id;   /* of each name */
    size_t *start;  /* of its text */
    char *text;
    size_t n, text_size, id_capacity, start_capacity, text_capacity;
    bool lacks_memory; /* for a name that has room */
    /* Not NULL: this is a list of what that book does not know yet, made by another thread than the one it grows in. */
    const struct gsa__name_book *known;
} gsa__name_book;

/* Of a zeroed book, for ids below 2^bits; does nothing to one that has begun. */
gsa_status gsa__name_book_begin(gsa__name_book *book, unsigned bits, const gsa_env *env, gsa_error *error);
void gsa__name_book_free(gsa__name_book *book);
/* An id that came for the first time: "column=word", or the word alone if the column has no name. Where there is no
 * room it has no name, and an empty one if there is a NUL in the word. */
void gsa__name_book_enter(gsa__name_book *book, uint32_t id, const char *column, size_t column_size, const char *word,
                          size_t word_size);
/* An empty list of what another book, which has begun for the same bits, does not know; and its turn. */
bool gsa__name_book_list(gsa__name_book *list, const gsa__name_book *known, unsigned bits, const gsa_env *env);
void gsa__name_book_take(gsa__name_book *book, const gsa__name_book *list);
void gsa__name_book_clear(gsa__name_book *list);
const char *gsa__name_book_find(const gsa__name_book *book, uint64_t id);

/* That an id will be asked about soon; false: nobody wants to know. */
static inline bool gsa__name_book_expect(const gsa__name_book *book, uint32_t id)
{
    if (book->came)
        __builtin_prefetch(&(book->known ? book->known : book)->came[id / 64]);
    return book->came != NULL;
}

static inline bool gsa__name_book_came(const gsa__name_book *book, uint32_t id)
{
    return __atomic_load_n(&book->came[id / 64], __ATOMIC_RELAXED) >> id % 64 & 1;
}

static inline bool gsa__name_book_is_new(const gsa__name_book *book, uint32_t id)
{
    return book->came && !(book->known && gsa__name_book_came(book->known, id)) && !gsa__name_book_came(book, id);
}

#endif
