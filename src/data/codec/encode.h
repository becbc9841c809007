/* Bytes on their way to a file, compressed: in pieces that are members of their own, on all threads.
 *
 *   1 Where a piece ends depends on the number of bytes alone, so that a file is the same whatever the threads.
 *   2 Pieces are written in their order, by whoever writes or finishes. */
#ifndef GSA_DATA_ENCODE_H
#define GSA_DATA_ENCODE_H

#include "base/atomic_file.h"
#include "data/codec/codec.h"

typedef struct gsa__encode gsa__encode;

/* The codec must have an encoder; the file is borrowed. NULL if there is no memory. */
gsa__encode *gsa__encode_new(const gsa__codec_entry *entry, gsa__atomic_file *file, const gsa_env *env);
/* A failure may be that of bytes before. */
gsa_status gsa__encode_write(gsa__encode *encode, const void *bytes, size_t size, gsa_error *error);
/* Writes what is left. */
gsa_status gsa__encode_finish(gsa__encode *encode, gsa_error *error);
/* Takes NULL. */
void gsa__encode_free(gsa__encode *encode);

#endif
