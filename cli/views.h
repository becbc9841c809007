/* Information about objects of the library, as values, and a view of some rows of a batch. */
#ifndef GREEDYSTEP_CLI_VIEWS_H
#define GREEDYSTEP_CLI_VIEWS_H

#include <greedystep/data.h>
#include <greedystep/greedystep.h>

#include <stdbool.h>
#include <string.h>

/* Returns whether rows in memory were solved: such a run has no passes, steps or averages to show. */
static inline bool is_optimum(const char *method)
{
    return strcmp(method, "optimum") == 0;
}

/* Returns a count or switch among the parameters; 0 for auto and none. */
static inline uint64_t parameter_of(const gsa_state *state, const char *name)
{
    uint64_t number = 0;
    bool is_known = gsa_state_get_number(state, name, &number, NULL) == GSA_OK;
    return is_known && number != GSA_COUNT_AUTO ? number : 0;
}

static inline gsa_summary summary_of(const gsa_state *state)
{
    gsa_summary summary = {.size = sizeof summary};
    gsa_state_get_summary(state, &summary);
    return summary;
}

static inline gsa_model_info info_of(const gsa_model *model)
{
    gsa_model_info info = {.size = sizeof info};
    gsa_model_get_info(model, &info);
    return info;
}

static inline gsa_reader_progress progress_of(const gsa_reader *reader)
{
    gsa_reader_progress progress = {.size = sizeof progress};
    gsa_reader_get_progress(reader, &progress);
    return progress;
}

/* Returns a view of rows from `from` on, at most `max` of them. For sparse rows, as readers deliver them. */
static inline gsa_batch batch_part(const gsa_batch *batch, size_t from, size_t max)
{
    gsa_batch part = *batch;
    part.n_rows = batch->n_rows - from < max ? batch->n_rows - from : max;
    part.row_start += from;
    part.label = batch->label != NULL ? batch->label + from : NULL;
    part.word = batch->word != NULL ? batch->word + from : NULL;
    part.weight = batch->weight != NULL ? batch->weight + from : NULL;
    part.place = batch->place != NULL ? batch->place + from : NULL;
    return part;
}

#endif
