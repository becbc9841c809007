/* gzip, by zlib. */
#include "data/codec/codec.h"

#if GSA_HAVE_ZLIB

#include "base/memory.h"

#define ZLIB_CONST /* input is const */
#include <limits.h>
#include <zlib.h>

#define GZIP_HEADER_ONLY (15 + 16) /* the largest window; a gzip header, not a zlib one */

typedef struct gzip_decoder {
    z_stream stream;
    const gsa_env *env;
} gzip_decoder;

static void *allocate(void *env, unsigned items, unsigned size)
{
    return gsa__alloc(env, items, size);
}

static void release(void *env, void *memory)
{
    gsa__free(env, memory);
}

static void *open_gzip(const gsa_env *env)
{
    gzip_decoder *decoder = gsa__alloc_zeroed(env, 1, sizeof *decoder);
    if (!decoder)
        return NULL;
    decoder->env = env;
    decoder->stream.zalloc = allocate;
    decoder->stream.zfree = release;
    decoder->stream.opaque = (void *)(uintptr_t)env; /* only read through */
    if (inflateInit2(&decoder->stream, GZIP_HEADER_ONLY) != Z_OK) {
        gsa__free(env, decoder);
        return NULL;
    }
    return decoder;
}

static bool restart_gzip(void *memory)
{
    gzip_decoder *decoder = memory;
    return inflateReset(&decoder->stream) == Z_OK;
}

static unsigned clamp(size_t size)
{
    return size > UINT_MAX ? UINT_MAX : (unsigned)size;
}

static gsa__codec_result step_gzip(void *memory, gsa__codec_io *io)
{
    z_stream *stream = &((gzip_decoder *)memory)->stream;
    unsigned in_size = clamp(io->in_size), out_size = clamp(io->out_size);
    stream->next_in = io->in;
    stream->avail_in = in_size;
    stream->next_out = io->out;
    stream->avail_out = out_size;
    int result = inflate(stream, Z_NO_FLUSH);
    io->in += in_size - stream->avail_in;
    io->in_size -= in_size - stream->avail_in;
    io->out += out_size - stream->avail_out;
    io->out_size -= out_size - stream->avail_out;
    io->detail = stream->msg;
    switch (result) {
    case Z_OK:
    case Z_BUF_ERROR: /* no progress was possible; the loop outside knows whether input is over */
        return GSA__CODEC_MORE;
    case Z_STREAM_END:
        return GSA__CODEC_MEMBER_END;
    case Z_MEM_ERROR:
        return GSA__CODEC_NO_MEMORY;
    default:
        return GSA__CODEC_DAMAGED;
    }
}

static void close_gzip(void *memory)
{
    gzip_decoder *decoder = memory;
    inflateEnd(&decoder->stream);
    gsa__free(decoder->env, decoder);
}

static const char *version(void)
{
    return zlibVersion();
}

const gsa__codec *gsa__codec_gzip(void)
{
    static const gsa__codec codec = {version, open_gzip, restart_gzip, step_gzip, close_gzip};
    return &codec;
}

#else

const gsa__codec *gsa__codec_gzip(void)
{
    return NULL;
}

#endif
