/* What the engine needs of states and metrics and is not public. */
#ifndef GSA_LEARN_ENGINE_H
#define GSA_LEARN_ENGINE_H

#include <greedystep/greedystep.h>

/* Returns a label by its number, in the order in which labels came. */
const char *gsai_state_label(const gsa_state *state, size_t number);
/* Returns the number of outputs: 1, or one per class. */
size_t gsai_state_n_outputs(const gsa_state *state);
/* Returns the number of features whose values are so small that their squares are no floats: they learn nothing. */
size_t gsai_state_count_tiny(const gsa_state *state);

/* gsa_metrics_update in two steps: what threads may do side by side, and what is added up in the order of the rows. */
/* Returns the number of margins per row. */
size_t gsai_metrics_n_margins(const gsa_metrics *metrics);
/* The margins of all rows of a batch. */
gsa_status gsai_metrics_margins(const gsa_metrics *metrics, const gsa_batch *batch, double *out, gsa_error *error);
gsa_status gsai_metrics_add(gsa_metrics *metrics, const gsa_batch *batch, const double *margins, gsa_error *error);

#endif
