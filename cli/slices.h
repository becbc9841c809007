/* Metrics of parts of the rows: those with the same value in a column, or of the same day. */
#ifndef GREEDYSTEP_CLI_SLICES_H
#define GREEDYSTEP_CLI_SLICES_H

#include <greedystep/greedystep.h>

#include <jansson.h>

typedef struct slices slices;

/* Returns NULL if out of memory. The model must outlive it. */
slices *slices_new(const gsa_model *model);
void slices_free(slices *of);
/* Adds rows to the slices that their kept texts name. */
gsa_status slices_add(slices *to, const gsa_batch *rows, gsa_error *error);
/* Computes the results; before both functions below. */
gsa_status slices_finish(slices *of, gsa_error *error);
/* Prints a table, the slices in the order of their names. column: what names them. */
void slices_print(const slices *of, const char *column);
json_t *slices_json(const slices *of);

#endif
