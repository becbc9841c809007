/* Text that threads read ahead, a chunk each: the rows, words, names, counts and failures are those that one thread
 * would have had, in the same order.
 *
 *   1 The parser of the reader gives whole rows away and never waits for a stream. Where it gives none (the end, a
 *     failure, a line that is too long, a stream that is silent) it goes on by itself once all chunks are taken.
 *   2 Chunks in flight are bounded, and count in the budget. With one thread, or little memory, none is used. */
#ifndef GSA_DATA_CHUNKS_H
#define GSA_DATA_CHUNKS_H

#include "base/memory.h"
#include "data/reader.h"

typedef struct gsai_chunks gsai_chunks;

/* Makes chunks for files in a format that can give rows away; borrows parser and input of the reader. Returns NULL if
 * one thread is to read all. */
gsai_chunks *gsai_chunks_new(const gsai_format *format, void *parser, gsai_format_input *input,
                             const gsai_reader_sizes *sizes, const gsai_env *env);
void gsai_chunks_free(gsai_chunks *chunks);
/* Threads begin to read what comes next in the current file: the parser and the stream are theirs until read ends. */
void gsai_chunks_start(gsai_chunks *chunks);
/* Reads rows as `read` of the format does; GSA_END: the parser continues. */
gsa_status gsai_chunks_read(gsai_chunks *chunks, gsai_rows *rows, gsa_error *error);
/* Forgets what was read of a file that is to be closed or left. Takes NULL, as the next does. */
void gsai_chunks_stop(gsai_chunks *chunks);
/* Returns whether rows come from threads; *n_bytes is then the bytes of the source up to the rows that were taken last.
 */
bool gsai_chunks_are_read(const gsai_chunks *chunks, uint64_t *n_bytes);

#endif
