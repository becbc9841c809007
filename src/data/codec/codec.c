/* The list of codecs, and the detection of a codec by content. The name of a file that is read does not matter. */
#include "data/codec/codec.h"

#include <greedystep/data.h>

#include <string.h>

static const gsai_codec_entry codecs[] = {
    {"gzip", "zlib", GSA_HAVE_ZLIB ? &gsai_codec_gzip : NULL, ".gz"},
    {"zstd", "libzstd", GSA_HAVE_ZSTD ? &gsai_codec_zstd : NULL, ".zst"},
    {"xz", "liblzma", GSA_HAVE_LZMA ? &gsai_codec_xz : NULL, ".xz"},
    {"bzip2", "libbz2", GSA_HAVE_BZIP2 ? &gsai_codec_bzip2 : NULL, ".bz2"},
};

enum { GZIP, ZSTD, XZ, BZIP2, N_CODECS };

const gsai_codec_entry *gsai_codec_detect(const unsigned char *bytes, size_t size)
{
    static const struct {
        const char *magic;
        size_t at, size;
        int codec;
    } magics[] = {{"\x1F\x8B", 0, 2, GZIP},
                  {"\x28\xB5\x2F\xFD", 0, 4, ZSTD},
                  {"\x2A\x4D\x18", 1, 3, ZSTD}, /* a skippable frame, behind 0x50 to 0x5F; some compressors begin so */
                  {"\xFD\x37zXZ\0", 0, 6, XZ},
                  /* "BZh9" could be a label; the digits of pi or of its root, in binary, could not follow it there */
                  {"\x31\x41\x59\x26\x53\x59", 4, 6, BZIP2},
                  {"\x17\x72\x45\x38\x50\x90", 4, 6, BZIP2}};
    for (size_t i = 0; i < sizeof magics / sizeof *magics; i++) {
        const size_t at = magics[i].at;
        if (size < at + magics[i].size || memcmp(bytes + at, magics[i].magic, magics[i].size) != 0)
            continue;
        bool is_frame = (bytes[0] & 0xF0u) == 0x50;
        bool is_level = at > 1 && memcmp(bytes, "BZh", 3) == 0 && bytes[3] >= '1' && bytes[3] <= '9';
        if (at == 0 || (at == 1 ? is_frame : is_level))
            return &codecs[magics[i].codec];
    }
    return NULL;
}

void *gsai_codec_open(const gsai_codec *codec, const gsai_env *env, bool encodes)
{
    void *state = gsai_alloc_zeroed(env, 1, codec->size);
    if (!state || codec->begin(state, env, encodes))
        return state;
    gsai_codec_close(codec, state, env);
    return NULL;
}

bool gsai_codec_restart(const gsai_codec *codec, void *state, const gsai_env *env, bool encodes)
{
    if (!codec->ends_at_member)
        return true;
    codec->end(state);
    return codec->begin(state, env, encodes);
}

void gsai_codec_close(const gsai_codec *codec, void *state, const gsai_env *env)
{
    if (state)
        codec->end(state);
    gsai_free(env, state);
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
