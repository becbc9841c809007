/* xz, by liblzma. The library itself goes from stream to stream and over the padding between them. */
#include "data/codec/codec.h"

#if GSA_HAVE_LZMA

#include <lzma.h>

/* A header can ask for a dictionary of 4 GiB; files made by xz -9 need 65 MiB. */
#define MOST_MEMORY (UINT64_C(1) << 30)

typedef struct xz_decoder {
    lzma_stream stream;
    lzma_allocator allocator;
} xz_decoder;

static void *allocate(void *env, size_t n, size_t size)
{
    return gsai_alloc(env, n, size);
}

static bool begin_xz(void *memory, const gsai_env *env, bool encodes)
{
    xz_decoder *decoder = memory;
    (void)encodes;                                                                               /* it is read only */
    decoder->allocator = (lzma_allocator){allocate, gsai_codec_release, (void *)(uintptr_t)env}; /* only read through */
    decoder->stream = (lzma_stream)LZMA_STREAM_INIT;
    decoder->stream.allocator = &decoder->allocator;
    return lzma_stream_decoder(&decoder->stream, MOST_MEMORY, LZMA_CONCATENATED) == LZMA_OK;
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
    case LZMA_MEMLIMIT_ERROR:
        io->detail = "its dictionary is too large";
        return GSAI_CODEC_OVER_LIMIT;
    default:
        io->detail = result == LZMA_OPTIONS_ERROR ? "it was made with options that this library does not know"
                                                  : "the data contradict their checks";
        return GSAI_CODEC_DAMAGED;
    }
}

static void end_xz(void *memory)
{
    lzma_end(&((xz_decoder *)memory)->stream);
}

const gsai_codec gsai_codec_xz = {lzma_version_string, sizeof(xz_decoder), false, false, begin_xz, step_xz, end_xz};

#endif
