/* Floats of two bytes: f16 (IEEE binary16) and bf16 (the upper half of a binary32). Every one of them is a float, so
 * that conversion to floats is exact, and the same by whatever instructions. */
#ifndef GSA_BASE_HALF_H
#define GSA_BASE_HALF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum gsai_half { GSAI_F16, GSAI_BF16 } gsai_half;

/* Converts n halves to floats; infinities and NaNs stay what they are. */
void gsai_half_read(gsai_half kind, const uint16_t *from, size_t n, float *out);
/* Converts n finite floats to halves. Returns whether all of them are halves; if not, `out` is of no use. */
bool gsai_half_write(gsai_half kind, const float *from, size_t n, uint16_t *out);

#endif
