/* The greedy merge: how far to go along a merged change. */
#ifndef GSA_CORE_GREEDY_MERGE_H
#define GSA_CORE_GREEDY_MERGE_H

#include "core/change.h"

/* `into` holds the weights before the change and the held-out sample; `direction` the merged change for gamma = 1, once
 * for the last weights and once for the averaged. Both gammas are in [0, most]; 1 where there is no sample. */
gsa_status gsa__greedy_gammas(const gsa_state *into, const gsa__change *direction, size_t most, double *gamma,
                              double *gamma_average, gsa_error *error);

#endif
