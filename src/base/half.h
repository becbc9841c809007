/* Floats of two bytes: f16 (IEEE binary16) and bf16 (the upper half of a binary32). Every one of them is a float, so
 * that conversion to floats (gsa_half_read) is exact, and the same by whatever instructions. */
#ifndef GSA_BASE_HALF_H
#define GSA_BASE_HALF_H

#include <greedystep/greedystep.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Converts n finite floats to halves. Returns whether all of them are halves; if not, `out` is of no use. */
bool gsai_half_write(gsa_half kind, const float *from, size_t n, uint16_t *out);

#endif
