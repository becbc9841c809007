/* The loop around the codecs: refilling, detection, several members, truncation, messages. */
#include "data/codec/decode.h"

#include "base/error.h"
#include "base/memory.h"

#include <inttypes.h>
#include <string.h>

#define DEFAULT_BUFFER ((size_t)128 << 10)

gsa_status gsai_decode_open(gsai_decode *decode, const gsai_source *source, const gsai_env *env, size_t buffer_size,
                            gsa_error *error)
{
    if (buffer_size == 0)
        buffer_size = DEFAULT_BUFFER;
    if (buffer_size < GSAI_CODEC_MAGIC)
        buffer_size = GSAI_CODEC_MAGIC;
    *decode = (gsai_decode){.source = *source, .env = env, .in_capacity = buffer_size};
    decode->in = gsai_alloc(env, buffer_size, 1);
    if (!decode->in) {
        const char *name = source->name;
        gsai_decode_close(decode);
        return gsai_fail_memory(env, error, "%s: no memory for a buffer of %zu bytes", name, buffer_size);
    }
    return GSA_OK;
}

void gsai_decode_close(gsai_decode *decode)
{
    if (decode->entry)
        gsai_codec_close(decode->entry->codec, decode->decoder, decode->env);
    gsai_free(decode->env, decode->in);
    gsai_source_close(&decode->source);
    memset(decode, 0, sizeof *decode);
}

/* Adds what one read of the source delivers to the input buffer, which must not be full. */
static gsa_status refill(gsai_decode *decode, gsa_error *error)
{
    if (decode->in_start == decode->in_end)
        decode->in_start = decode->in_end = 0;
    size_t got;
    GSA_TRY(gsai_source_read(&decode->source, decode->in + decode->in_end, decode->in_capacity - decode->in_end, &got,
                             error));
    decode->in_end += got;
    decode->source_ended = got == 0;
    return GSA_OK;
}

/* A newline is in no codec's first bytes: a short line that was typed is answered at once. */
static gsa_status detect(gsai_decode *decode, gsa_error *error)
{
    while (decode->in_end < GSAI_CODEC_MAGIC && !decode->source_ended && !memchr(decode->in, '\n', decode->in_end))
        GSA_TRY(refill(decode, error));
    const gsai_codec_entry *entry = gsai_codec_detect(decode->in, decode->in_end);
    if (entry) {
        const gsai_codec *codec = entry->codec;
        if (!codec)
            return gsai_fail(error, GSA_UNSUPPORTED,
                             "%s is compressed with %s, which this build cannot read: build it with %s, or decompress "
                             "the file first",
                             decode->source.name, entry->name, entry->library);
        decode->decoder = gsai_codec_open(codec, decode->env, false);
        GSAI_TRY_MEMORY(decode->decoder, decode->env, error, "%s: no memory to decompress %s", decode->source.name,
                        entry->name);
        decode->entry = entry;
        decode->inside = true;
    }
    decode->detected = true;
    return GSA_OK;
}

/* A failure of the codec, or GSAI_CODEC_MORE: the content ends inside a member. */
static gsa_status fail_decode(const gsai_decode *decode, gsa_error *error)
{
    const char *name = decode->source.name, *codec = decode->entry->name, *detail = decode->detail;
    uint64_t at = decode->source.n_read - (decode->in_end - decode->in_start);
    switch (decode->failed) {
    case GSAI_CODEC_NO_MEMORY:
        return gsai_fail_memory(decode->env, error, "%s: no memory to decompress %s (compressed byte %" PRIu64 ")",
                                name, codec, at);
    case GSAI_CODEC_OVER_LIMIT:
        return gsai_fail_param(error, "memory_limit", GSA_LIMIT,
                               "%s: the %s data at compressed byte %" PRIu64
                               " need more memory than allowed (%s): decompress the file first, or raise the limit",
                               name, codec, at, detail);
    case GSAI_CODEC_MORE:
        return gsai_fail(error, GSA_FORMAT,
                         "%s: the %s data end in the middle, at compressed byte %" PRIu64 ": the file is incomplete",
                         name, codec, at);
    default:
        return gsai_fail(error, GSA_FORMAT, "%s: damaged %s data near compressed byte %" PRIu64 ": %s", name, codec, at,
                         detail ? detail : "no further detail");
    }
}

/* Reads by steps of the codec, which can deliver bytes and fail in the same step. */
static gsa_status read_compressed(gsai_decode *decode, void *bytes, size_t size, size_t *got, gsa_error *error)
{
    const gsai_codec *codec = decode->entry->codec;
    while (*got == 0) {
        if (decode->failed != GSAI_CODEC_MORE)
            return fail_decode(decode, error);
        if (decode->in_start == decode->in_end && !decode->source_ended)
            GSA_TRY(refill(decode, error));
        const size_t n_in = decode->in_end - decode->in_start;
        if (n_in == 0 && decode->source_ended && !decode->inside)
            return GSA_OK;
        gsai_codec_io io = {.in = decode->in + decode->in_start,
                            .in_size = n_in,
                            .out = bytes,
                            .out_size = size,
                            .is_last = decode->source_ended};
        gsai_codec_result result = GSAI_CODEC_NO_MEMORY;
        if (decode->inside || gsai_codec_restart(codec, decode->decoder, decode->env, false))
            result = codec->step(decode->decoder, &io);
        decode->inside = result != GSAI_CODEC_MEMBER_END;
        decode->in_start = decode->in_end - io.in_size;
        *got = size - io.out_size;
        bool stands_still = result == GSAI_CODEC_MORE && io.in_size == n_in && *got == 0;
        if (stands_still && n_in == 0) /* which happens only when the source has ended */
            return fail_decode(decode, error);
        if (stands_still) {
            decode->failed = GSAI_CODEC_DAMAGED;
            decode->detail = "the decoder stands still";
        } else if (result != GSAI_CODEC_MORE && result != GSAI_CODEC_MEMBER_END) {
            decode->failed = result;
            decode->detail = io.detail;
        }
    }
    return GSA_OK;
}

static gsa_status read_plain(gsai_decode *decode, void *bytes, size_t size, size_t *got, gsa_error *error)
{
    size_t left = decode->in_end - decode->in_start;
    if (left == 0)
        return decode->source_ended ? GSA_OK : gsai_source_read(&decode->source, bytes, size, got, error);
    *got = size < left ? size : left;
    memcpy(bytes, decode->in + decode->in_start, *got);
    decode->in_start += *got;
    return GSA_OK;
}

static gsa_status read_on(gsai_decode *decode, void *bytes, size_t size, size_t *got, gsa_error *error)
{
    *got = 0;
    if (!decode->detected)
        GSA_TRY(detect(decode, error));
    return decode->entry ? read_compressed(decode, bytes, size, got, error)
                         : read_plain(decode, bytes, size, got, error);
}

bool gsai_decode_is_idle(const gsai_decode *decode)
{
    return decode->start_used == decode->start_size && decode->in_start == decode->in_end && !decode->source_ended &&
           gsai_source_is_idle(&decode->source);
}

/* A whole line that is neither blank nor a comment: it tells the format of text. */
static bool has_telling_line(const unsigned char *start, size_t size)
{
    bool told = false;
    for (size_t i = 0, line = 0; i < size; i++) {
        told = told || (!strchr("# \t\r\n", start[i]) && !memchr(start + line, '#', i - line));
        if (start[i] == '\n' && told)
            return true;
        line = start[i] == '\n' ? i + 1 : line;
    }
    return false;
}

gsa_status gsai_decode_peek(gsai_decode *decode, gsa_error *error)
{
    gsa_status status = GSA_OK;
    for (size_t got = 1; status == GSA_OK && got > 0 && decode->start_size < GSAI_DECODE_START;) {
        bool waits = decode->in_start == decode->in_end && gsai_source_is_idle(&decode->source);
        if (waits && has_telling_line(decode->start, decode->start_size))
            break;
        status =
            read_on(decode, decode->start + decode->start_size, GSAI_DECODE_START - decode->start_size, &got, error);
        decode->start_size += got;
    }
    return status == GSA_STOPPED || decode->start_size == 0 ? status : GSA_OK;
}

gsa_status gsai_decode_read(gsai_decode *decode, void *bytes, size_t size, size_t *got, gsa_error *error)
{
    size_t left = decode->start_size - decode->start_used;
    if (left == 0)
        return read_on(decode, bytes, size, got, error);
    *got = size < left ? size : left;
    memcpy(bytes, decode->start + decode->start_used, *got);
    decode->start_used += *got;
    return GSA_OK;
}

gsa_status gsai_decode_seek(gsai_decode *decode, uint64_t at, gsa_error *error)
{
    decode->in_start = decode->in_end = 0;
    decode->start_used = decode->start_size;
    decode->source_ended = false;
    decode->source.n_read = 0;
    return decode->source.seek(&decode->source, at, error);
}
