/* The list of codecs, and the detection of a codec by content. The name of a file that is read does not matter. */
#include "data/codec/codec.h"

#include <greedystep/data.h>

#include <string.h>

static bool begins_with(const unsigned char *bytes, size_t size, const char *magic, size_t magic_size)
{
    return size >= magic_size && memcmp(bytes, magic, magic_size) == 0;
}

static bool is_gzip(const unsigned char *bytes, size_t size)
{
    return begins_with(bytes, size, "\x1F\x8B", 2);
}

/* A frame, or a skippable frame (some compressors begin with one). */
static bool is_zstd(const unsigned char *bytes, size_t size)
{
    if (begins_with(bytes, size, "\x28\xB5\x2F\xFD", 4))
        return true;
    return size >= 4 && (bytes[0] & 0xF0u) == 0x50 && memcmp(bytes + 1, "\x2A\x4D\x18", 3) == 0;
}

static bool is_xz(const unsigned char *bytes, size_t size)
{
    return begins_with(bytes, size,
                       "\xFD"
                       "7zXZ\0",
                       6);
}

/* "BZh9" could be a label; what follows it in a bzip2 file (the digits of pi or of its root, in binary) could not. */
static bool is_bzip2(const unsigned char *bytes, size_t size)
{
    if (size < 10 || memcmp(bytes, "BZh", 3) != 0 || bytes[3] < '1' || bytes[3] > '9')
        return false;
    return memcmp(bytes + 4, "\x31\x41\x59\x26\x53\x59", 6) == 0 ||
           memcmp(bytes + 4, "\x17\x72\x45\x38\x50\x90", 6) == 0;
}

static const gsai_codec_entry codecs[] = {
    {"gzip", "zlib", is_gzip, GSA_HAVE_ZLIB ? &gsai_codec_gzip : NULL, ".gz"},
    {"zstd", "libzstd", is_zstd, GSA_HAVE_ZSTD ? &gsai_codec_zstd : NULL, ".zst"},
    {"xz", "liblzma", is_xz, GSA_HAVE_LZMA ? &gsai_codec_xz : NULL, ".xz"},
    {"bzip2", "libbz2", is_bzip2, GSA_HAVE_BZIP2 ? &gsai_codec_bzip2 : NULL, ".bz2"},
};

#define N_CODECS (sizeof codecs / sizeof *codecs)

const gsai_codec_entry *gsai_codec_detect(const unsigned char *bytes, size_t size)
{
    for (size_t i = 0; i < N_CODECS; i++)
        if (codecs[i].matches(bytes, size))
            return &codecs[i];
    return NULL;
}

/* There is something before the ending. */
static bool ends_with(const char *text, size_t size, const char *ending)
{
    size_t ending_size = strlen(ending);
    return size > ending_size && memcmp(text + size - ending_size, ending, ending_size) == 0;
}

const gsai_codec_entry *gsai_codec_named(const char *path)
{
    for (size_t i = 0; i < N_CODECS; i++)
        if (ends_with(path, strlen(path), codecs[i].ending))
            return &codecs[i];
    return NULL;
}

bool gsai_codec_ends(const char *path, const char *ending)
{
    const gsai_codec_entry *entry = gsai_codec_named(path);
    return ends_with(path, strlen(path) - (entry ? strlen(entry->ending) : 0), ending);
}

const char *gsa_codec_at(size_t number, const char **version)
{
    if (version)
        *version = NULL;
    if (number >= N_CODECS)
        return NULL;
    if (version && codecs[number].codec)
        *version = codecs[number].codec->version();
    return codecs[number].name;
}
