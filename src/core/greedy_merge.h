/* The greedy merge: how far to go along a merged change. */
#ifndef GSA_CORE_GREEDY_MERGE_H
#define GSA_CORE_GREEDY_MERGE_H

#include "core/merge_slots.h"

/* After gsa__merging_take, by the held-out rows of the result: for the last weights and for the averaged. Gammas are in
 * [0, number of states]; 1 without a gain where there is no sample. */
gsa_status gsa__greedy_strides(gsa__merging *merging, gsa__stride *along, gsa__stride *along_average, gsa_error *error);

#endif
