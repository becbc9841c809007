/* A byte stream made plain: what a source delivers, decompressed if its first bytes say so.
 *
 *   1 A read delivers at least one byte unless the content has ended (*got == 0) or fails.
 *   2 A read that is stopped (GSA_STOPPED) loses nothing: calling it again goes on.
 *   3 Content that ends inside a member is GSA_FORMAT, never a short result. */
#ifndef GSA_DATA_CODEC_DECODE_H
#define GSA_DATA_CODEC_DECODE_H

#include "data/codec/codec.h"
#include "data/source.h"

#define GSAI_DECODE_START 4096 /* plain bytes that tell formats apart */

typedef struct gsai_decode {
    gsai_source source;
    const gsai_env *env; /* borrowed, resolved */
    unsigned char *in;   /* bytes of the source that are not used yet: [in_start, in_end) */
    size_t in_capacity, in_start, in_end;
    bool source_ended;
    bool detected;
    const gsai_codec_entry *entry; /* NULL: plain */
    void *decoder;
    bool inside;              /* a member has begun and is not complete */
    gsai_codec_result failed; /* the next read reports it: the bytes before it were delivered first */
    const char *detail;
    unsigned char start[GSAI_DECODE_START]; /* plain bytes that were peeked at: [start_used, start_size) come first */
    size_t start_used, start_size;
} gsai_decode;

/* Takes the source over, also on failure. buffer_size 0: the default. */
gsa_status gsai_decode_open(gsai_decode *decode, const gsai_source *source, const gsai_env *env, size_t buffer_size,
                            gsa_error *error);
gsa_status gsai_decode_read(gsai_decode *decode, void *bytes, size_t size, size_t *got, gsa_error *error);
/* Returns whether all that the source has delivered is used and it has nothing more at the moment. */
bool gsai_decode_is_idle(const gsai_decode *decode);
/* Fills decode->start, before the first read, with the first GSAI_DECODE_START bytes, or all there are, and keeps them
 * for reads. Of a stream that has no more at the moment these are the bytes that it has, up to a line that shows its
 * format. A failure after the first byte is left to the reads. After GSA_STOPPED another call continues. */
gsa_status gsai_decode_peek(gsai_decode *decode, gsa_error *error);
/* Moves in plain content that was peeked at: reads continue at byte `at`, and are counted anew. */
gsa_status gsai_decode_seek(gsai_decode *decode, uint64_t at, gsa_error *error);
/* Takes one that was never opened, if it is zeroed. */
void gsai_decode_close(gsai_decode *decode);

#endif
