/* Bytes that grow: what gsa_write_fn fills when it is memory. */
#ifndef GSA_ENGINE_BYTES_H
#define GSA_ENGINE_BYTES_H

#include <greedystep/greedystep.h>

typedef struct gsa__bytes {
    unsigned char *at;
    size_t size, capacity;
    const gsa_env *env; /* resolved */
} gsa__bytes;

/* A gsa_write_fn; ctx is the gsa__bytes. */
int gsa__bytes_add(void *ctx, const void *more, size_t size);
void gsa__bytes_free(gsa__bytes *bytes);

#endif
