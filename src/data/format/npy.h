/* Arrays of NumPy (.npy) as a format of the reader, with labels from other files. */
#ifndef GSA_DATA_FORMAT_NPY_H
#define GSA_DATA_FORMAT_NPY_H

#include "data/format/format.h"

/* Returns whether content begins like an array. */
bool gsai_npy_matches(const unsigned char *start, size_t size);
/* Checks, of an input that was peeked at, what opening its labels would: one file of labels for each of n_files, and as
 * many labels as rows. */
gsa_status gsai_npy_labels_check(const gsai_format_input *input, size_t n_files, const gsai_env *env, gsa_error *error);

#endif
