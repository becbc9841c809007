/* The hash: published values, the same in pieces as in one, and the mixing of numbers. */
#include "base/hash.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void hash_is_xxh3(void **state)
{
    (void)state;
    assert_true(gsai_hash("", 0, 0) == 0x2D06800538D394C2u);
    assert_true(gsai_hash("a", 1, 0) == 0xE6C632B61E964E1Fu);
    assert_true(gsai_hash("abc", 3, 0) == 0x78AF5F94892F3950u);
}

static void hash_depends_on_every_byte_and_on_the_seed(void **state)
{
    (void)state;
    unsigned char bytes[300];
    memset(bytes, 7, sizeof bytes);
    uint64_t whole = gsai_hash(bytes, sizeof bytes, 0);
    assert_true(gsai_hash(bytes, sizeof bytes, 1) != whole);
    assert_true(gsai_hash(bytes, sizeof bytes - 1, 0) != whole);
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] ^= 1;
        assert_true(gsai_hash(bytes, sizeof bytes, 0) != whole);
        bytes[i] ^= 1;
    }
    assert_true(gsai_hash(bytes, sizeof bytes, 0) == whole);
}

static void short_bytes_in_words_hash_as_in_memory(void **state)
{
    (void)state;
    uint64_t bytes[3] = {0}, last = 0;
    for (uint64_t i = 0; i < 100000; i++) {
        unsigned char *byte = (unsigned char *)bytes;
        size_t size = 9 + i % 8;
        for (size_t k = 0; k < size; k++)
            byte[k] = (unsigned char)gsai_mix(i * 16 + k);
        uint64_t first = last = 0;
        for (size_t k = 0; k < 8; k++) {
            first |= (uint64_t)byte[k] << 8 * k;
            last |= (uint64_t)byte[size - 8 + k] << 8 * k;
        }
        assert_true(gsai_hash_16(first, last, size) == gsai_hash(bytes, size, 0));
    }
}

/* XXH3 changes its way at 16, 128, 240 and every 1024 bytes. */
static void pieces_hash_as_the_whole(void **state)
{
    (void)state;
    unsigned char bytes[5000];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)gsai_mix(i);
    static const size_t sizes[] = {0, 1, 3, 8, 16, 17, 128, 129, 240, 241, 1023, 1024, 1025, 4097, 5000};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (size_t piece = 1; piece < 2000; piece = piece * 3 + 1) {
            gsai_hasher hasher;
            gsai_hasher_init(&hasher);
            for (size_t at = 0; at < sizes[s]; at += piece)
                gsai_hasher_add(&hasher, bytes + at, sizes[s] - at < piece ? sizes[s] - at : piece);
            assert_true(gsai_hasher_value(&hasher) == gsai_hash(bytes, sizes[s], 0));
        }
}

static void the_value_can_be_asked_on_the_way(void **state)
{
    (void)state;
    gsai_hasher hasher;
    gsai_hasher_init(&hasher);
    gsai_hasher_add(&hasher, "a", 1);
    assert_true(gsai_hasher_value(&hasher) == gsai_hash("a", 1, 0));
    gsai_hasher_add(&hasher, "bc", 2);
    assert_true(gsai_hasher_value(&hasher) == gsai_hash("abc", 3, 0));
}

/* The first three outputs of splitmix64 from seed 0. */
static void mix_is_splitmix64(void **state)
{
    (void)state;
    assert_true(gsai_mix(0) == 0xE220A8397B1DCDAFu);
    assert_true(gsai_mix(0x9E3779B97F4A7C15u) == 0x6E789E6AA1B965F4u);
    assert_true(gsai_mix(2 * 0x9E3779B97F4A7C15u) == 0x06C45D188009454Fu);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hash_is_xxh3),
        cmocka_unit_test(hash_depends_on_every_byte_and_on_the_seed),
        cmocka_unit_test(short_bytes_in_words_hash_as_in_memory),
        cmocka_unit_test(pieces_hash_as_the_whole),
        cmocka_unit_test(the_value_can_be_asked_on_the_way),
        cmocka_unit_test(mix_is_splitmix64),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
