/* The file that a writer writes, compressed if its name ends like that of a compressed one: in pieces that are members
 * of their own, on all threads.
 *
 *   1 Where a piece ends depends on the number of bytes alone, so that a file is the same whatever the threads.
 *   2 Pieces are written in their order, by the thread that writes or commits. */
#ifndef GSA_DATA_OUTPUT_H
#define GSA_DATA_OUTPUT_H

#include "base/atomic_file.h"
#include "base/pipeline.h"
#include "data/codec/codec.h"

#include <stdint.h>

typedef struct gsai_piece {
    void *encoder;
    unsigned char *plain, *packed;
    size_t plain_size, packed_size;
    bool is_begun; /* has content to compress, possibly empty */
    bool is_whole; /* it could be compressed */
} gsai_piece;

/* Not to be moved while it is open. */
typedef struct gsai_output {
    const gsai_env *env;
    gsai_atomic_file *file;
    uint64_t n_bytes, max_bytes;   /* before compression: put so far, and allowed; 0: any number */
    const gsai_codec_entry *entry; /* NULL: the bytes are not compressed */
    gsai_pipeline *pipeline;       /* of the pieces; without threads there is one, and the caller compresses it */
    gsai_piece *piece, *current;
    size_t n_pieces, max_pieces;
} gsai_output;

/* Opens the file of a zeroed `output`; whatever this returns, the caller ends it by commit or discard. env is borrowed
 * until then. */
gsa_status gsai_output_open(gsai_output *output, const char *path, const gsai_env *env, gsa_error *error);
/* Appends bytes, one thread at a time; a failure may concern earlier ones. */
gsa_status gsai_output_put(gsai_output *output, const void *bytes, size_t size, gsa_error *error);
/* Gives the file its name. After a failure nothing is left of it. */
gsa_status gsai_output_commit(gsai_output *output, gsa_error *error);
void gsai_output_discard(gsai_output *output);

#endif
