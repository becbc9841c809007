/* Bytes that grow: what gsa_write_fn fills when it is memory. */
#ifndef GSA_ENGINE_BYTES_H
#define GSA_ENGINE_BYTES_H

#include <greedystep/greedystep.h>

#include <stdbool.h>

typedef struct gsa__bytes {
    unsigned char *at;
    size_t size, capacity;
    const gsa_env *env; /* resolved */
} gsa__bytes;

/* A gsa_write_fn; ctx is the gsa__bytes. */
int gsa__bytes_add(void *ctx, const void *more, size_t size);
void gsa__bytes_free(gsa__bytes *bytes);

/* Things that follow one another, each behind its size: written between begin, which gives the start, and end. */
size_t gsa__thing_begin(gsa__bytes *to);
gsa_status gsa__thing_end(gsa__bytes *to, size_t start, gsa_error *error);
/* The next one, where *left bytes follow; false: there is none. */
bool gsa__thing_next(const unsigned char **from, size_t *left, const unsigned char **thing, size_t *size);

#endif
