/* A view of some rows of a batch. */
#ifndef GREEDYSTEP_CLI_BATCH_H
#define GREEDYSTEP_CLI_BATCH_H

#include <greedystep/greedystep.h>

/* Rows `from` on, `most` of them or those that there are. Sparse rows, as readers deliver them. */
static inline gsa_batch batch_part(const gsa_batch *batch, size_t from, size_t most)
{
    gsa_batch part = *batch;
    part.n_rows = batch->n_rows - from < most ? batch->n_rows - from : most;
    part.row_start += from;
    part.label = batch->label != NULL ? batch->label + from : NULL;
    part.word = batch->word != NULL ? batch->word + from : NULL;
    part.weight = batch->weight != NULL ? batch->weight + from : NULL;
    part.place = batch->place != NULL ? batch->place + from : NULL;
    return part;
}

#endif
