/* How far to go in the direction of the changes of a merge, by held-out rows. */
#ifndef GSA_MERGE_LINE_SEARCH_H
#define GSA_MERGE_LINE_SEARCH_H

#include "merge/apply.h"

/* Finds the steps by the held-out rows of the result, for the last weights and for the averaged. Gammas are in [0,
 * number of states]; 1 without an aggregation factor if the sample is empty. */
gsa_status gsai_merging_line_steps(gsai_merging *merging, gsa_error *error);

#endif
