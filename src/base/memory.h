/* Memory through the environment, and sizes that cannot overflow unnoticed.
 *
 * Sizes that come from input are only ever computed with these functions. */
#ifndef GSA_BASE_MEMORY_H
#define GSA_BASE_MEMORY_H

#include <greedystep/greedystep.h>

#include <stdbool.h>

/* A copy of env with every default filled in. env may be NULL. */
gsa_env gsa__env_resolve(const gsa_env *env);

static inline bool gsa__add(size_t a, size_t b, size_t *sum)
{
    *sum = a + b;
    return *sum >= a;
}

static inline bool gsa__multiply(size_t a, size_t b, size_t *product)
{
    if (b != 0 && a > SIZE_MAX / b)
        return false;
    *product = a * b;
    return true;
}

/* n elements of the given size; NULL if there is no memory or the product overflows. n may be 0. */
void *gsa__alloc(const gsa_env *env, size_t n, size_t element_size);
void *gsa__alloc_zeroed(const gsa_env *env, size_t n, size_t element_size);
void gsa__free(const gsa_env *env, void *memory);

/* Makes room for at least `need` elements in a growing array: the pointer that `array` is the address of, of whatever
 * type, and *capacity change together, by at least half as much again. False (and nothing changes) if there is no
 * memory or the size overflows. */
bool gsa__reserve(const gsa_env *env, void *array, size_t *capacity, size_t need, size_t element_size);

/* Asks the system for large pages for memory that is read here and there (huge_pages.c); it may do so or not. */
void gsa__prefer_huge_pages(void *memory, size_t size);

/* A copy of n elements, or of a text; NULL if there is no memory. */
void *gsa__copy(const gsa_env *env, const void *from, size_t n, size_t element_size);
char *gsa__copy_text(const gsa_env *env, const char *text);

/* "12.3 GiB" and the like into a buffer, for messages. */
#define GSA__SIZE_TEXT 32
const char *gsa__size_text(uint64_t bytes, char buffer[GSA__SIZE_TEXT]);

#endif
