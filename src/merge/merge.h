/* The merge behind gsa_state_merge and gsa_state_merge_deltas. */
#ifndef GSA_MERGE_MERGE_H
#define GSA_MERGE_MERGE_H

#include "merge/slots.h"

/* The merge of states that are known to fit together; `into` is made here. */
gsa_status gsai_merge_run(gsai_merging *merging, const gsa_env *env, gsa_state **out, gsa_error *error);
/* merge_check.c: GSA_CONFLICT if these do not add up. The second is for heads, which know of no feature. */
gsa_status gsai_merge_check(const gsa_state *const *states, size_t n_states, const gsa_state *base, gsa_error *error);
gsa_status gsai_merge_check_pairs(const gsa_state *const *states, size_t n_states, const gsa_state *base,
                                  gsa_error *error);

#endif
