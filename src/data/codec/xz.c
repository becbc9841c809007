/* xz, by liblzma. The library itself goes from stream to stream and over the padding between them. */
#include "data/codec/codec.h"

#if GSA_HAVE_LZMA

#include "base/memory.h"

#include <lzma.h>

/* A header can ask for a dictionary of 4 GiB; files made by xz -9 need 65 MiB. */
#define MOST_MEMORY (UINT64_C(1) << 30)

typedef struct xz_decoder {
    lzma_stream stream;
    lzma_allocator allocator;
    const gsai_env *env;
} xz_decoder;

static void *allocate(void *env, size_t n, size_t size)
{
    return gsai_alloc(env, n, size);
}

static void release(void *env, void *memory)
{
    gsai_free(env, memory);
}

static void *open_xz(const gsai_env *env)
{
    xz_decoder *decoder = gsai_alloc_zeroed(env, 1, sizeof *decoder);
    if (!decoder)
        return NULL;
    decoder->env = env;
    decoder->allocator = (lzma_allocator){allocate, release, (void *)(uintptr_t)env}; /* only read through */
    decoder->stream = (lzma_stream)LZMA_STREAM_INIT;
    decoder->stream.allocator = &decoder->allocator;
    if (lzma_stream_decoder(&decoder->stream, MOST_MEMORY, LZMA_CONCATENATED) != LZMA_OK) {
        gsai_free(env, decoder);
        return NULL;
    }
    return decoder;
}

static const char *describe(lzma_ret result)
{
    switch (result) {
    case LZMA_OPTIONS_ERROR:
        return "it was made with options that this library does not know";
    case LZMA_MEMLIMIT_ERROR:
        return "its dictionary is too large";
    default:
        return "the data contradict their checks";
    }
}

static gsai_codec_result step_xz(void *memory, gsai_codec_io *io)
{
    lzma_stream *stream = &((xz_decoder *)memory)->stream;
    stream->next_in = io->in;
    stream->avail_in = io->in_size;
    stream->next_out = io->out;
    stream->avail_out = io->out_size;
    lzma_ret result = lzma_code(stream, io->is_last ? LZMA_FINISH : LZMA_RUN);
    gsai_codec_move(io, io->in_size - stream->avail_in, io->out_size - stream->avail_out);
    switch (result) {
    case LZMA_OK:
    case LZMA_BUF_ERROR: /* no progress was possible */
        return GSAI_CODEC_MORE;
    case LZMA_STREAM_END:
        return GSAI_CODEC_MEMBER_END;
    case LZMA_MEM_ERROR:
        return GSAI_CODEC_NO_MEMORY;
    default:
        io->detail = describe(result);
        return result == LZMA_MEMLIMIT_ERROR ? GSAI_CODEC_OVER_LIMIT : GSAI_CODEC_DAMAGED;
    }
}

static void close_xz(void *memory)
{
    xz_decoder *decoder = memory;
    lzma_end(&decoder->stream);
    gsai_free(decoder->env, decoder);
}

const gsai_codec gsai_codec_xz = {lzma_version_string, open_xz, NULL, step_xz, close_xz, NULL};

#endif
