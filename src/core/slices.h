/* Merging in parts: features of copies as slices of bytes, which add up apart from the copies. */
#ifndef GSA_CORE_SLICES_H
#define GSA_CORE_SLICES_H

#include "core/merge_slots.h"

/* The last feature of a united slice + 1, or 0. */
uint64_t gsa__slice_end(const gsa__slice *slice, size_t n_outputs);

#endif
