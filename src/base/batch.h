/* Batches from outside the library: what must hold before a row of theirs is looked at. That the ids of a row are
 * distinct is trusted, and that arrays are as long as the last offset says. */
#ifndef GSA_BASE_BATCH_H
#define GSA_BASE_BATCH_H

#include <greedystep/greedystep.h>

/* Checks pointers, width, and the numbers and offsets of the rows named (NULL: the first n_rows). Returns GSA_ARGUMENT,
 * with error->row where the offsets of a row are wrong. */
gsa_status gsai_batch_check(const gsa_batch *batch, const uint32_t *rows, size_t n_rows, int needs_labels,
                            gsa_error *error);
/* Checks the feature ids of a row, best right before they are used. Returns GSA_ARGUMENT with error->row. */
gsa_status gsai_batch_check_ids(const gsa_batch *batch, size_t row, gsa_error *error);

#endif
