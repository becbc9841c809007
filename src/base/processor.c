/* The facts behind __builtin_cpu_supports, for a compiler whose own libraries lack them, as Zig's do: the place and the
 * bits are those that gcc and clang agree on. Only what vectors.c asks for is found out. */
#include <cpuid.h>

enum { HAS_AVX2 = 1 << 10, HAS_512F = 1 << 15, HAS_512VL = 1 << 20, HAS_512BW = 1 << 21, HAS_512DQ = 1 << 22 };
enum { SAVES_AVX = 0x06, SAVES_512 = 0xe6 }; /* the registers of which a switch of threads keeps the contents */

extern struct gsai_cpu_model {
    unsigned vendor, type, subtype, features[1];
} __cpu_model;
struct gsai_cpu_model __cpu_model;

__attribute__((constructor(101))) static void find_features(void)
{
    unsigned a, b, c, d, saved, rest;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE))
        return;
    __asm__("xgetbv" : "=a"(saved), "=d"(rest) : "c"(0));
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || (saved & SAVES_AVX) != SAVES_AVX || !(b & bit_AVX2))
        return;
    __cpu_model.features[0] = HAS_AVX2;
    if ((saved & SAVES_512) == SAVES_512)
        __cpu_model.features[0] |= (b & bit_AVX512F ? HAS_512F : 0) | (b & bit_AVX512VL ? HAS_512VL : 0) |
                                   (b & bit_AVX512BW ? HAS_512BW : 0) | (b & bit_AVX512DQ ? HAS_512DQ : 0);
}
