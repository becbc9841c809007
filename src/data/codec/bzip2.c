/* bzip2, by libbz2. */
#include "data/codec/codec.h"

#if GSA_HAVE_BZIP2

#include "base/memory.h"

#include <bzlib.h>
#include <string.h>

typedef struct bzip2_decoder {
    bz_stream stream;
    const gsai_env *env;
} bzip2_decoder;

static void *allocate(void *env, int n, int size)
{
    return n < 0 || size < 0 ? NULL : gsai_alloc(env, (size_t)n, (size_t)size);
}

static void release(void *env, void *memory)
{
    gsai_free(env, memory);
}

static bool begin(bzip2_decoder *decoder)
{
    memset(&decoder->stream, 0, sizeof decoder->stream);
    decoder->stream.bzalloc = allocate;
    decoder->stream.bzfree = release;
    decoder->stream.opaque = (void *)(uintptr_t)decoder->env; /* only read through */
    return BZ2_bzDecompressInit(&decoder->stream, 0, 0) == BZ_OK;
}

static void *open_bzip2(const gsai_env *env)
{
    bzip2_decoder *decoder = gsai_alloc_zeroed(env, 1, sizeof *decoder);
    if (!decoder)
        return NULL;
    decoder->env = env;
    if (!begin(decoder)) {
        gsai_free(env, decoder);
        return NULL;
    }
    return decoder;
}

static bool restart_bzip2(void *memory)
{
    bzip2_decoder *decoder = memory;
    BZ2_bzDecompressEnd(&decoder->stream);
    return begin(decoder);
}

static gsai_codec_result step_bzip2(void *memory, gsai_codec_io *io)
{
    bz_stream *stream = &((bzip2_decoder *)memory)->stream;
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

static void close_bzip2(void *memory)
{
    bzip2_decoder *decoder = memory;
    BZ2_bzDecompressEnd(&decoder->stream);
    gsai_free(decoder->env, decoder);
}

const gsai_codec gsai_codec_bzip2 = {BZ2_bzlibVersion, open_bzip2, restart_bzip2, step_bzip2, close_bzip2, NULL};

#endif
