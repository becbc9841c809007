/* gsa_metrics_update in two steps: what threads may do side by side, and what is added up in the order of the rows. */
#ifndef GSA_MODEL_METRICS_H
#define GSA_MODEL_METRICS_H

#include <greedystep/greedystep.h>

/* Returns the memory of metrics, which is that of their model. */
const gsa_memory *gsai_metrics_memory(const gsa_metrics *metrics);
/* Returns the number of margins per row. */
size_t gsai_metrics_n_margins(const gsa_metrics *metrics);
/* Computes the margins of all rows of a batch. */
gsa_status gsai_metrics_margins(const gsa_metrics *metrics, const gsa_batch *batch, double *out, gsa_error *error);
gsa_status gsai_metrics_add(gsa_metrics *metrics, const gsa_batch *batch, const double *margins, gsa_error *error);

#endif
