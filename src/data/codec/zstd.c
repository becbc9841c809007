/* zstd, by libzstd. Its stable interface has no allocator hook: the one place where memory is not the environment's.
 * The window is limited before it is made, and what the library took is counted after each step. */
#include "data/codec/codec.h"

#if GSA_HAVE_ZSTD

#include <zstd.h>
#include <zstd_errors.h>

typedef struct zstd_stream {
    ZSTD_DStream *stream;
    ZSTD_CCtx *encoder; /* one of the two is NULL */
    const gsai_env *env;
    size_t counted; /* bytes of the library's that are in the budget */
} zstd_stream;

static bool count_memory(zstd_stream *file)
{
    size_t size = file->encoder ? ZSTD_sizeof_CCtx(file->encoder) : ZSTD_sizeof_DStream(file->stream);
    if (size <= file->counted)
        return true;
    if (!gsai_charge(file->env, size - file->counted))
        return false;
    file->counted = size;
    return true;
}

/* The window of a decoder may take what the memory limit leaves, but no more than the library allows by itself (128
 * MiB). An encoder has the library's default level (3), and a checksum as the command zstd adds one. */
static bool begin_zstd(void *memory, const gsai_env *env, bool encodes)
{
    zstd_stream *file = memory;
    *file = (zstd_stream){.env = env};
    int log = 10;
    while (log < 27 && (UINT64_C(2) << log) <= gsai_memory_left(env))
        log++;
    if (encodes)
        file->encoder = ZSTD_createCCtx();
    else
        file->stream = ZSTD_createDStream();
    if (!file->encoder && !file->stream)
        return false;
    size_t result = encodes ? ZSTD_CCtx_setParameter(file->encoder, ZSTD_c_checksumFlag, 1)
                            : ZSTD_DCtx_setParameter(file->stream, ZSTD_d_windowLogMax, log);
    return !ZSTD_isError(result) && count_memory(file);
}

static void end_zstd(void *memory)
{
    zstd_stream *file = memory;
    ZSTD_freeDStream(file->stream);
    ZSTD_freeCCtx(file->encoder);
    gsai_discharge(file->env, file->counted);
}

static gsai_codec_result step_zstd(void *memory, gsai_codec_io *io)
{
    zstd_stream *file = memory;
    ZSTD_EndDirective end = io->is_last ? ZSTD_e_end : ZSTD_e_continue;
    ZSTD_inBuffer in = {io->in, io->in_size, 0};
    ZSTD_outBuffer out = {io->out, io->out_size, 0};
    size_t result = file->encoder ? ZSTD_compressStream2(file->encoder, &out, &in, end)
                                  : ZSTD_decompressStream(file->stream, &out, &in);
    gsai_codec_move(io, in.pos, out.pos);
    if (!count_memory(file))
        return GSAI_CODEC_NO_MEMORY;
    if (result == 0)
        return GSAI_CODEC_MEMBER_END;
    if (!ZSTD_isError(result))
        return GSAI_CODEC_MORE;
    io->detail = ZSTD_getErrorName(result);
    switch (ZSTD_getErrorCode(result)) {
    case ZSTD_error_memory_allocation:
        return GSAI_CODEC_NO_MEMORY;
    case ZSTD_error_frameParameter_windowTooLarge:
        return GSAI_CODEC_OVER_LIMIT;
    default:
        return GSAI_CODEC_DAMAGED;
    }
}

const gsai_codec gsai_codec_zstd = {ZSTD_versionString, sizeof(zstd_stream), true,    false,
                                    begin_zstd,         step_zstd,           end_zstd};

#endif
