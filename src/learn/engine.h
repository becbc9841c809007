/* State functions that training needs and that are not public. */
#ifndef GSA_LEARN_ENGINE_H
#define GSA_LEARN_ENGINE_H

#include "learn/config.h"

#include <stdbool.h>

/* Returns the memory of a state. */
const gsa_memory *gsai_state_memory(const gsa_state *state);
/* Returns the value of a parameter. */
uint64_t gsai_state_param(const gsa_state *state, gsai_param_id id);
/* Returns how many passes are asked for; 0: as many as help. */
static inline uint64_t gsai_state_passes(const gsa_state *state)
{
    uint64_t passes = gsai_state_param(state, GSAI_PARAM_passes);
    return passes == GSA_COUNT_AUTO ? 0 : passes;
}
/* Decides the order of rows, which was left open. */
void gsai_state_set_order(gsa_state *state, uint64_t order);
/* Returns a label by its number, in the order in which labels came. */
const char *gsai_state_label(const gsa_state *state, size_t number);
/* Returns nonzero if the label is a number, and which. */
int gsai_state_label_number(const gsa_state *state, size_t number, double *out);
/* Returns the names of the strongest features. */
const struct gsai_names *gsai_state_names(const gsa_state *state);
/* Returns the number of outputs: 1, or one per class. */
size_t gsai_state_n_outputs(const gsa_state *state);
/* Part of the message about features that would need a table above the memory limit: the caller knows where the
 * features come from, and so what to do. */
#define GSAI_NEEDS_TABLE " needs a table of "
/* Returns the number of features whose values are so small that their squares are no floats: they learn nothing. */
size_t gsai_state_count_tiny(const gsa_state *state);
/* Says in the note what the labels of the first rows were taken for, if they are whole numbers and could be something
 * else; returns whether. */
bool gsai_state_describe_task(const gsa_state *state, gsa_error *note);
/* Held-out rows below which nothing is dropped: they could not tell which features matter. */
#define GSAI_COMPACT_MIN_ROWS 30
/* Drops the weakest features by the held-out sample; nothing if there is none. */
gsa_status gsai_state_compact(gsa_state *state, const gsai_env *env, gsa_error *error);
/* Returns whether the weights are an optimum. */
bool gsai_state_is_solved(const gsa_state *state);

#endif
