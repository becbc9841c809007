/* Halves to floats and back, by integers or, if the processor has F16C, by its instruction. */
#include "base/half.h"

#include "base/vectors.h"

#include <string.h>

#define EXPONENT_STEP ((uint32_t)112 << 23) /* the bias of floats less that of f16 */
#define SMALLEST_NORMAL 0x1p-14f

static inline float float_of_bits(uint32_t bits)
{
    float out;
    memcpy(&out, &bits, sizeof out);
    return out;
}

static inline uint32_t bits_of_float(float x)
{
    uint32_t out;
    memcpy(&out, &x, sizeof out);
    return out;
}

/* Without branches: what is below the normal numbers is put behind a leading 1, which is taken away again. */
static inline float float_of_f16(uint32_t half)
{
    uint32_t magnitude = (half & 0x7FFF) << 13, sign = (half & 0x8000) << 16;
    float small = float_of_bits(magnitude + EXPONENT_STEP + (1u << 23)) - SMALLEST_NORMAL;
    uint32_t normal = magnitude + EXPONENT_STEP + ((half & 0x7C00) == 0x7C00 ? EXPONENT_STEP : 0);
    return float_of_bits(sign | ((half & 0x7C00) == 0 ? bits_of_float(small) : normal));
}

/* The half that a float is, if it is one; else any. */
static inline uint16_t f16_of_float(float x)
{
    uint32_t bits = bits_of_float(x), magnitude = bits & 0x7FFFFFFF;
    float small = float_of_bits(magnitude < 0x38800000 ? magnitude : 0) * 0x1p24f;
    uint32_t normal = (magnitude - EXPONENT_STEP) >> 13;
    return (uint16_t)((bits >> 16 & 0x8000) | (magnitude < 0x38800000 ? (uint32_t)small : normal & 0x7FFF));
}

#ifdef GSAI_HAVE_AVX
#include <immintrin.h>

/* Every processor with AVX2 has F16C. */
__attribute__((target("avx,f16c"))) static size_t read_eights(const uint16_t *from, size_t n, float *out)
{
    size_t i = 0;
    for (; i + 8 <= n; i += 8)
        _mm256_storeu_ps(out + i, _mm256_cvtph_ps(_mm_loadu_si128((const void *)(from + i))));
    return i;
}
#endif

void gsa_half_read(gsa_half kind, const uint16_t *from, size_t n, float *out)
{
    size_t done = 0;
    if (kind == GSA_HALF_BF16) {
        for (size_t i = 0; i < n; i++)
            out[i] = float_of_bits((uint32_t)from[i] << 16);
        return;
    }
#ifdef GSAI_HAVE_AVX
    if (gsai_vectors() > 0)
        done = read_eights(from, n, out);
#endif
    for (size_t i = done; i < n; i++)
        out[i] = float_of_f16(from[i]);
}

bool gsai_half_write(gsa_half kind, const float *from, size_t n, uint16_t *out)
{
    uint32_t n_other = 0;
    for (size_t i = 0; i < n && n_other == 0;) /* a piece at a time: most floats are not halves */
        for (size_t end = n - i < 256 ? n : i + 256; i < end; i++) {
            out[i] = kind == GSA_HALF_F16 ? f16_of_float(from[i]) : (uint16_t)(bits_of_float(from[i]) >> 16);
            float back = kind == GSA_HALF_F16 ? float_of_f16(out[i]) : float_of_bits((uint32_t)out[i] << 16);
            n_other |= bits_of_float(back) ^ bits_of_float(from[i]);
        }
    return n_other == 0;
}
