/* Numbers of 32 bits in one to four bytes each, little-endian. The sizes stand apart from the bytes, four to a control
 * byte, two bits each from the lowest (0: one byte), so that nothing has to be guessed while unpacking.
 *
 *   1 Whoever unpacks may read GSA__PACKED_SLACK bytes beyond the data, and whoever packs may write them.
 *   2 Bits of the last control byte that belong to no number are zero. */
#ifndef GSA_DATA_PACKED_H
#define GSA_DATA_PACKED_H

#include <stddef.h>
#include <stdint.h>

#define GSA__PACKED_SLACK 16

typedef struct gsa__packed {
    const unsigned char *control; /* of the first number */
    const unsigned char *data;    /* of the next */
    size_t at;                    /* its position */
} gsa__packed;

static inline size_t gsa__packed_controls(size_t n)
{
    return n / 4 + (n % 4 != 0);
}

/* Bytes of data that n numbers take; if rule 2 is broken, more than they do. */
size_t gsa__packed_size(const unsigned char *control, size_t n);
/* The next n numbers. */
void gsa__unpack(gsa__packed *from, uint32_t *out, size_t n);

/* The bytes of a number to data; returns its code, which is one less than they are. */
static inline unsigned gsa__pack_bytes(uint32_t number, unsigned char *data)
{
    for (int i = 0; i < 4; i++)
        data[i] = (unsigned char)(number >> 8 * i);
    return (unsigned)(number > 0xFF) + (number > 0xFFFF) + (number > 0xFFFFFF);
}

/* Number `at` of a column; returns how many bytes it took. */
static inline size_t gsa__pack(uint32_t number, size_t at, unsigned char *control, unsigned char *data)
{
    unsigned code = gsa__pack_bytes(number, data), before = at % 4 == 0 ? 0u : control[at / 4];
    control[at / 4] = (unsigned char)(before | code << 2 * (at % 4));
    return code + 1;
}

#endif
