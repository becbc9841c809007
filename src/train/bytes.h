/* Bytes that grow: what gsa_write_fn fills when it is memory. */
#ifndef GSA_TRAIN_BYTES_H
#define GSA_TRAIN_BYTES_H

#include <greedystep/greedystep.h>

#include <stdbool.h>

typedef struct gsai_bytes {
    unsigned char *at;
    size_t size, capacity;
    const gsa_env *env; /* resolved */
} gsai_bytes;

/* A gsa_write_fn; ctx is the gsai_bytes. */
int gsai_bytes_add(void *ctx, const void *more, size_t size);
void gsai_bytes_free(gsai_bytes *bytes);

/* Things that follow one another, each behind its size: written between begin, which gives the start, and end. */
size_t gsai_frame_begin(gsai_bytes *to);
gsa_status gsai_frame_end(gsai_bytes *to, size_t start, gsa_error *error);
/* The next one, where *left bytes follow; false: there is none. */
bool gsai_frame_next(const unsigned char **from, size_t *left, const unsigned char **thing, size_t *size);

#endif
