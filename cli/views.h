/* Information about objects of the library, as values. */
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

#endif
