/* gzip, by zlib. */
#include "data/codec/codec.h"

#if GSA_HAVE_ZLIB

#define ZLIB_CONST /* input is const */
#include <zlib.h>

#define LEVEL 6
#define MEMORY_LEVEL 8             /* the library's default, as is the level */
#define GZIP_HEADER_ONLY (15 + 16) /* the largest window; a gzip header, not a zlib one */

typedef struct gzip_stream {
    z_stream stream;
    bool is_encoder;
} gzip_stream;

static void *allocate(void *env, unsigned items, unsigned size)
{
    return gsai_alloc(env, items, size);
}

static bool begin_gzip(void *memory, const gsai_env *env, bool encodes)
{
    gzip_stream *file = memory;
    *file = (gzip_stream){.is_encoder = encodes};
    file->stream.zalloc = allocate;
    file->stream.zfree = gsai_codec_release;
    file->stream.opaque = (void *)(uintptr_t)env; /* only read through */
    return (encodes ? deflateInit2(&file->stream, LEVEL, Z_DEFLATED, GZIP_HEADER_ONLY, MEMORY_LEVEL, Z_DEFAULT_STRATEGY)
                    : inflateInit2(&file->stream, GZIP_HEADER_ONLY)) == Z_OK;
}

static gsai_codec_result step_gzip(void *memory, gsai_codec_io *io)
{
    gzip_stream *file = memory;
    z_stream *stream = &file->stream;
    unsigned in_size = gsai_codec_size(io->in_size), out_size = gsai_codec_size(io->out_size);
    stream->next_in = io->in;
    stream->avail_in = in_size;
    stream->next_out = io->out;
    stream->avail_out = out_size;
    int result = file->is_encoder ? deflate(stream, io->is_last ? Z_FINISH : Z_NO_FLUSH) : inflate(stream, Z_NO_FLUSH);
    gsai_codec_move(io, in_size - stream->avail_in, out_size - stream->avail_out);
    io->detail = stream->msg;
    switch (result) {
    case Z_OK:
    case Z_BUF_ERROR: /* no progress was possible; the loop outside knows whether input is over */
        return GSAI_CODEC_MORE;
    case Z_STREAM_END:
        return GSAI_CODEC_MEMBER_END;
    case Z_MEM_ERROR:
        return GSAI_CODEC_NO_MEMORY;
    default:
        return GSAI_CODEC_DAMAGED;
    }
}

static void end_gzip(void *memory)
{
    gzip_stream *file = memory;
    (void)(file->is_encoder ? deflateEnd(&file->stream) : inflateEnd(&file->stream));
}

static const char *version(void)
{
    return zlibVersion();
}

const gsai_codec gsai_codec_gzip = {version, sizeof(gzip_stream), true, true, begin_gzip, step_gzip, end_gzip};

#endif
