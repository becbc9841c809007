/* Data that processes with files of their own exchange: labels and first rows before replicas learn, and the names
 * of features at the end. */
#ifndef GSA_TRAIN_SHARE_H
#define GSA_TRAIN_SHARE_H

#include "base/rows.h"
#include "train/comm.h"

#include <greedystep/distributed.h>

/* Adds the labels that processes have found to the state, which all have: those of `from`, a copy that knows the labels
 * of this process, in the order of the ranks. */
gsa_status gsai_labels_share(gsai_job *job, const gsa_state *from, gsa_error *error);

/* Adds the first n_rows rows of a sparse batch as bytes. */
gsa_status gsai_rows_add_frame(gsai_bytes *to, const gsa_batch *rows, size_t n_rows, gsa_error *error);
/* Appends what all processes have added so, in the order of the ranks. */
gsa_status gsai_rows_share(gsai_job *job, gsa_status status, const gsai_bytes *mine, gsai_rows *to, gsa_error *error);

/* Gives the state, which all processes have, the names that the readers of all know; the first rank that has one for a
 * feature decides. */
gsa_status gsai_names_share(gsai_job *job, gsa_status status, gsa_error *error);

#endif
