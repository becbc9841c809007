/* Bytes on their way to a file, compressed: in pieces that are members of their own, on all threads.
 *
 *   1 Where a piece ends depends on the number of bytes alone, so that a file is the same whatever the threads.
 *   2 Pieces are written in their order, by the thread that writes or finishes. */
#ifndef GSA_DATA_CODEC_ENCODE_H
#define GSA_DATA_CODEC_ENCODE_H

#include "base/atomic_file.h"
#include "data/codec/codec.h"

typedef struct gsai_encode gsai_encode;

/* Makes an encoder; the codec must have one. Borrows the file. Returns NULL if out of memory. */
gsai_encode *gsai_encode_new(const gsai_codec_entry *entry, gsai_atomic_file *file, const gsai_env *env);
/* Writes bytes; a failure may concern earlier ones. */
gsa_status gsai_encode_write(gsai_encode *encode, const void *bytes, size_t size, gsa_error *error);
/* Writes what is left. */
gsa_status gsai_encode_finish(gsai_encode *encode, gsa_error *error);
/* Takes NULL. */
void gsai_encode_free(gsai_encode *encode);

#endif
