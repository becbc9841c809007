/* A look at rows with the model that was learned: what they are, and how well they are predicted. */
#ifndef GREEDYSTEP_CLI_TRACE_ROWS_H
#define GREEDYSTEP_CLI_TRACE_ROWS_H

#include <greedystep/data.h>
#include <greedystep/greedystep.h>

#include <jansson.h>

/* The first rows of a reader that stands at its beginning: 10^5, or fewer if they are long. */
#define TRACE_ROWS_SOME 100000u
/* Every row. */
#define TRACE_ROWS_ALL UINT64_MAX

/* *rows: how many, how long, of which classes or numbers. *evaluation: metrics and what curves are drawn from. Both are
 * the caller's, also on failure, and may be NULL then. */
gsa_status trace_rows_look(gsa_reader *reader, const gsa_model *model, uint64_t most_rows, const gsa_env *env,
                           json_t **rows, json_t **evaluation, gsa_error *error);

#endif
