/* bzip2, by libbz2. */
#include "data/codec/codec.h"

#if GSA_HAVE_BZIP2

#include <bzlib.h>

static void *allocate(void *env, int n, int size)
{
    return n < 0 || size < 0 ? NULL : gsai_alloc(env, (size_t)n, (size_t)size);
}

static bool begin_bzip2(void *state, const gsai_env *env, bool encodes)
{
    bz_stream *stream = state;
    (void)encodes; /* it is read only */
    *stream = (bz_stream){.bzalloc = allocate, .bzfree = gsai_codec_release};
    stream->opaque = (void *)(uintptr_t)env; /* only read through */
    return BZ2_bzDecompressInit(stream, 0, 0) == BZ_OK;
}

static gsai_codec_result step_bzip2(void *state, gsai_codec_io *io)
{
    bz_stream *stream = state;
    unsigned in_size = gsai_codec_size(io->in_size), out_size = gsai_codec_size(io->out_size);
    stream->next_in = (char *)(uintptr_t)io->in; /* an old interface without const; only read */
    stream->avail_in = in_size;
    stream->next_out = (char *)io->out;
    stream->avail_out = out_size;
    int result = BZ2_bzDecompress(stream);
    gsai_codec_move(io, in_size - stream->avail_in, out_size - stream->avail_out);
    switch (result) {
    case BZ_OK:
        return GSAI_CODEC_MORE;
    case BZ_STREAM_END:
        return GSAI_CODEC_MEMBER_END;
    case BZ_MEM_ERROR:
        return GSAI_CODEC_NO_MEMORY;
    default:
        io->detail =
            result == BZ_DATA_ERROR_MAGIC ? "what follows is no bzip2 stream" : "the data contradict their checks";
        return GSAI_CODEC_DAMAGED;
    }
}

static void end_bzip2(void *state)
{
    BZ2_bzDecompressEnd(state);
}

const gsai_codec gsai_codec_bzip2 = {BZ2_bzlibVersion, sizeof(bz_stream), false,    true,
                                     begin_bzip2,      step_bzip2,        end_bzip2};

#endif
