/* Digits, many at a time: where they end, and the number that they are; and the ends of cells. Wide loads: bytes behind
 * the text are read. */
#ifndef GSA_DATA_FORMAT_DIGITS_H
#define GSA_DATA_FORMAT_DIGITS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* Loads eight bytes, the first of them lowest, on any machine. Compilers make one load of it. */
static inline uint64_t gsai_load_word(const char *p)
{
    const unsigned char *byte = (const unsigned char *)p;
    return (uint64_t)byte[0] | (uint64_t)byte[1] << 8 | (uint64_t)byte[2] << 16 | (uint64_t)byte[3] << 24 |
           (uint64_t)byte[4] << 32 | (uint64_t)byte[5] << 40 | (uint64_t)byte[6] << 48 | (uint64_t)byte[7] << 56;
}

/* Returns a bit for each byte that is above 9, its highest. The highest bit of a byte is set, or is reached by adding
 * 118. */
static inline uint64_t gsai_above_nine(uint64_t x)
{
    const uint64_t every = UINT64_C(0x0101010101010101);
    return (((x & 127 * every) + 118 * every) | x) & 128 * every;
}

/* Returns a bit for each of the 64 bytes at p, the first of them lowest, set unless the byte is a digit. The
 * multiplication puts the highest bits of a word side by side. */
static inline uint64_t gsai_others_plain(const char *p)
{
    uint64_t bits = 0;
    for (unsigned i = 0; i < 64; i += 8) {
        uint64_t others = gsai_above_nine(gsai_load_word(p + i) ^ UINT64_C(0x3030303030303030));
        bits |= (others * UINT64_C(0x0002040810204081) >> 56) << i;
    }
    return bits;
}

/* Returns a bit for the first byte of eight that ends a string of JSON, or is a backslash or a control character, and
 * perhaps for some that follow it: of bytes that are taken away, those that were lower borrow from the next. */
static inline uint64_t gsai_string_ends(uint64_t x)
{
    const uint64_t every = UINT64_C(0x0101010101010101);
    uint64_t quote = x ^ '"' * every, backslash = x ^ '\\' * every;
    return (((quote - every) & ~quote) | ((backslash - every) & ~backslash) | ((x - ' ' * every) & ~x)) & 128 * every;
}

/* Returns a bit for each of the 64 bytes at p: whether it separates cells of a table, ends a line, or is a quote. */
static inline uint64_t gsai_marks_plain(const char *p, char separator)
{
    uint64_t bits = 0;
    for (unsigned i = 0; i < 64; i++)
        bits |= (uint64_t)(p[i] == separator || p[i] == '\n' || p[i] == '\r' || p[i] == '"') << i;
    return bits;
}

#ifdef __SSE2__ /* which every x86-64 has; the plain forms are its oracle */

static inline uint64_t gsai_others(const char *p)
{
    uint64_t bits = 0;
    for (unsigned i = 0; i < 64; i += 16) {
        __m128i x = _mm_sub_epi8(_mm_loadu_si128((const __m128i *)(const void *)(p + i)), _mm_set1_epi8('0'));
        __m128i others = _mm_cmpeq_epi8(_mm_max_epu8(x, _mm_set1_epi8(10)), x);
        bits |= (uint64_t)(unsigned)_mm_movemask_epi8(others) << i;
    }
    return bits;
}

static inline uint64_t gsai_marks(const char *p, char separator)
{
    const __m128i part = _mm_set1_epi8(separator), lf = _mm_set1_epi8('\n'), cr = _mm_set1_epi8('\r'),
                  quote = _mm_set1_epi8('"');
    uint64_t bits = 0;
    for (unsigned i = 0; i < 64; i += 16) {
        __m128i x = _mm_loadu_si128((const __m128i *)(const void *)(p + i));
        __m128i ends = _mm_or_si128(_mm_cmpeq_epi8(x, lf), _mm_cmpeq_epi8(x, cr));
        __m128i marks = _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(x, part), _mm_cmpeq_epi8(x, quote)), ends);
        bits |= (uint64_t)(unsigned)_mm_movemask_epi8(marks) << i;
    }
    return bits;
}

#else
#define gsai_others gsai_others_plain
#define gsai_marks gsai_marks_plain
#endif

/* Returns the number that eight digits stand for, bytes of 0 to 9: pairs of digits, then fours and eights in one step.
 */
static inline uint64_t gsai_join_digits(uint64_t x)
{
    const uint64_t pairs = UINT64_C(0x000000FF000000FF);
    x = x * 10 + (x >> 8);
    return ((x & pairs) * (100 + (UINT64_C(1000000) << 32)) + (x >> 16 & pairs) * (1 + (UINT64_C(10000) << 32))) >> 32;
}

/* Returns n bytes at p, 1 to 8, as numbers that digits stand for, with zeros before them. */
static inline uint64_t gsai_load_digits(const char *p, size_t n)
{
    return (gsai_load_word(p) ^ UINT64_C(0x3030303030303030)) << (64 - 8 * n);
}

/* Returns the number that the n digits at p, 1 to 8, stand for. */
static inline uint64_t gsai_read_digits(const char *p, size_t n)
{
    return gsai_join_digits(gsai_load_digits(p, n));
}

#endif
