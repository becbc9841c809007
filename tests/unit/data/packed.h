/* Texts as gzip files, for tests of builds that have that codec. */
#ifndef GSA_TESTS_DATA_PACKED_H
#define GSA_TESTS_DATA_PACKED_H

#include "unit/data/support.h"

#include "base/memory.h"
#include "data/codec/codec.h"

/* A new file; returns its size. */
static inline size_t make_packed(char path[PATH_SIZE], const char *text, size_t size)
{
    gsai_env env = gsai_env_resolve(NULL);
    void *encoder = gsai_codec_open(&gsai_codec_gzip, &env, true);
    size_t capacity = size + 1000;
    unsigned char *packed = malloc(capacity);
    assert_non_null(packed);
    gsai_codec_io io = {
        .in = (const unsigned char *)text, .in_size = size, .out = packed, .out_size = capacity, .is_last = true};
    assert_int_equal(gsai_codec_gzip.step(encoder, &io), GSAI_CODEC_MEMBER_END);
    gsai_codec_close(&gsai_codec_gzip, encoder, &env);
    make_file(path, packed, capacity - io.out_size);
    free(packed);
    return capacity - io.out_size;
}

#endif
