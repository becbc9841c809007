/* The input of a run, block by block in the order of a pass: what is read, what is skipped, and whether these are the
 * rows that the run began with. */
#ifndef GSA_TRAIN_INPUT_H
#define GSA_TRAIN_INPUT_H

#include "train/shuffle.h"

#include <stdbool.h>

/* Tells whether labels are mixed, by the first row's label against all others in the order of the input: a file that is
 * sorted by label is learned badly unless it is shuffled as a whole. Begins as zeros. */
typedef struct gsai_mixing {
    double label;
    int32_t word;
    int last_is_first;
    uint64_t n_rows, n_first, n_changes;
} gsai_mixing;

void gsai_mixing_add(gsai_mixing *mixing, const gsa_batch *rows);
/* Returns nonzero if that label comes and goes ten times less often than it would in a mixed input. */
int gsai_mixing_is_poor(const gsai_mixing *mixing);

typedef struct gsai_input {
    gsai_job *job;
    gsai_prefetch *prefetch;
    gsai_shuffle *shuffle; /* of a stream that is too long to be solved; NULL: none */
    bool is_shuffled;      /* within blocks */
    gsai_index index;      /* of processes together; empty: blocks are read one after the other */
    uint64_t pass, number; /* of the next block */
    uint64_t n_before;     /* rows of the pass before it */
    uint64_t n_taken;      /* rows from it on that the run has taken before it was stopped */
    gsa_batch block;       /* the next block, if it was read */
    bool is_read;
    size_t range_end;        /* blocks of the index before this one are being read ahead */
    bool is_checked;         /* the first rows are those that the run began with */
    uint64_t n_first_labels; /* of the first rows; 0: the run did not begin here */
    gsai_mixing mixing;      /* of the first pass */
    /* Rows that the state took in its first pass, and those of this input, until they are compared. */
    bool is_resumed;
    gsa_fingerprint due, found;
    uint32_t *order; /* scratch, of rows that are compared */
} gsai_input;

/* Finds the blocks of the job's reader by their headers, from the first row on; the reader knows the names of all
 * categories afterwards. GSA_UNSUPPORTED if a file is not a plain cache, GSA_CONFLICT if another process of the same
 * files has other blocks. */
gsa_status gsai_input_index(gsai_input *input, gsa_status status, gsa_error *error);
/* Begins to compare rows, if the state has taken some; does so at once if blocks have an index or no row is to be
 * learned any more. GSA_CONFLICT if they are others. */
gsa_status gsai_input_resume(gsai_input *input, bool has_ended, gsa_error *error);
/* Goes to the first block of a pass. Rows that the run has taken are still to be skipped. */
gsa_status gsai_input_begin_pass(gsai_input *input, gsa_error *error);
/* Finds the next block and its number of rows. Without an index it is read. GSA_END after the last. */
gsa_status gsai_input_find(gsai_input *input, uint64_t *n_rows, gsa_error *error);
/* Reads the next block, unless it was read. The view stays valid as gsai_prefetch_next says. */
gsa_status gsai_input_read(gsai_input *input, gsa_error *error);
/* Leaves the next block behind, which has n_rows rows and need not have been read. */
void gsai_input_leave(gsai_input *input, uint64_t n_rows);
/* Reads ahead, of the blocks with the next n_rows rows, only those for replicas of this process. Does nothing without
 * an index. */
void gsai_input_assign(gsai_input *input, uint64_t n_rows, gsai_deal deal);
/* Returns the rows from the next block on; UINT64_MAX if they are not known. */
uint64_t gsai_input_rows_left(const gsai_input *input);
/* Compares the rows of the pass, all of which were read, with those that the run has learned from. */
gsa_status gsai_input_end_pass(gsai_input *input, gsa_error *error);
/* Tells that the state can be saved, unless it has learned from rows that may be others. */
gsa_status gsai_input_tell_whole(const gsai_input *input, gsa_error *error);
void gsai_input_free(gsai_input *input);

#endif
