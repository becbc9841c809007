/* Elements in a file are little-endian; on other machines their bytes are swapped on the way. */
#ifndef GSA_BASE_BYTE_ORDER_H
#define GSA_BASE_BYTE_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Compilers see through this: it costs nothing. */
static inline bool gsai_machine_is_little_endian(void)
{
    const uint16_t one = 1;
    unsigned char first;
    memcpy(&first, &one, 1);
    return first == 1;
}

static inline void gsai_swap_bytes(unsigned char *bytes, size_t n_elements, size_t element_size)
{
    for (size_t e = 0; e < n_elements; e++, bytes += element_size) {
        for (size_t i = 0; i < element_size / 2; i++) {
            unsigned char kept = bytes[i];
            bytes[i] = bytes[element_size - 1 - i];
            bytes[element_size - 1 - i] = kept;
        }
    }
}

static inline void gsai_store_u64(uint64_t number, unsigned char out[8])
{
    for (int i = 0; i < 8; i++)
        out[i] = (unsigned char)(number >> (8 * i));
}

static inline uint64_t gsai_load_u64(const unsigned char bytes[8])
{
    uint64_t number = 0;
    for (int i = 0; i < 8; i++)
        number |= (uint64_t)bytes[i] << (8 * i);
    return number;
}

#endif
