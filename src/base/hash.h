/* The one hash of the project: XXH3, 64 bits. The same bytes give the same number on every machine and in every
 * release: it decides the order of rows, the held-out sample and the checksums of files. */
#ifndef GSA_BASE_HASH_H
#define GSA_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

uint64_t gsai_hash(const void *bytes, size_t size, uint64_t seed);

/* The same of 9 to 16 bytes, seed 0: the first eight and the last eight of them, each with its first byte lowest. */
uint64_t gsai_hash_16(uint64_t first, uint64_t last, size_t size);

/* The same number of bytes that come in pieces (seed 0). */
typedef struct gsai_hasher {
    _Alignas(64) unsigned char opaque[640];
} gsai_hasher;
void gsai_hasher_init(gsai_hasher *hasher);
void gsai_hasher_add(gsai_hasher *hasher, const void *bytes, size_t size);
uint64_t gsai_hasher_value(const gsai_hasher *hasher);

/* Maps 64-bit numbers one to one to numbers that look random (the finaliser of splitmix64, Steele, Lea, Flood 2014). */
static inline uint64_t gsai_mix(uint64_t x)
{
    x += 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

#endif
