/* XXH3 behind four functions: the only file that knows xxHash. */
#include "base/hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

_Static_assert(sizeof(XXH3_state_t) <= sizeof(gsai_hasher), "gsai_hasher has room for the state of XXH3");
_Static_assert(_Alignof(XXH3_state_t) <= _Alignof(gsai_hasher), "and is aligned for it");

uint64_t gsai_hash(const void *bytes, size_t size, uint64_t seed)
{
    return XXH3_64bits_withSeed(bytes, size, seed);
}

/* XXH3 of such sizes, whose constants are differences of words of its secret. */
uint64_t gsai_hash_16(uint64_t first, uint64_t last, size_t size)
{
    uint64_t low = first ^ 0x6782737BEA4239B9u, high = last ^ 0xAF56BC3B0996523Au;
    uint64_t sum = size + XXH_swap64(low) + high + XXH3_mul128_fold64(low, high);
    sum = (sum ^ sum >> 37) * 0x165667919E3779F9u;
    return sum ^ sum >> 32;
}

void gsai_hasher_init(gsai_hasher *hasher)
{
    XXH3_INITSTATE((XXH3_state_t *)hasher);
    (void)XXH3_64bits_reset((XXH3_state_t *)hasher);
}

void gsai_hasher_add(gsai_hasher *hasher, const void *bytes, size_t size)
{
    (void)XXH3_64bits_update((XXH3_state_t *)hasher, bytes, size);
}

uint64_t gsai_hasher_value(const gsai_hasher *hasher)
{
    return XXH3_64bits_digest((const XXH3_state_t *)hasher);
}
