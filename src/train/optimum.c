/* The optimum of rows that fit in memory. */
#include "train/optimum.h"

#include "train/block.h"
#include "train/comm.h"

#include "base/error.h"
#include "learn/state.h"
#include "solve/solve.h"

#include <string.h>

/* Returns the name of the parameter of greedy step averaging that has a value of its own, NULL if none has. */
static const char *learner_param(const gsa_state *state)
{
    uint64_t average = gsai_state_param(state, GSAI_PARAM_average);
    if (gsai_state_param(state, GSAI_PARAM_passes) != GSA_COUNT_AUTO)
        return "passes";
    if (average != GSAI_AVERAGE_AUTO && average != GSAI_AVERAGE_RECENT) /* auto means recent */
        return "average";
    if (gsai_state_param(state, GSAI_PARAM_holdout) != GSAI_HOLDOUT_AUTO)
        return "holdout";
    if (gsai_state_param(state, GSAI_PARAM_shards) > 0)
        return "shards";
    return gsai_state_param(state, GSAI_PARAM_order) == GSAI_ORDER_FILE ? "order" : NULL;
}

/* Returns whether a state without rows is tried to be solved. */
static bool may_solve(const gsa_state *state, bool is_stream)
{
    uint64_t method = gsai_state_param(state, GSAI_PARAM_method);
    return method == GSAI_METHOD_OPTIMUM || (method == GSAI_METHOD_AUTO && !is_stream && !learner_param(state));
}

const char *gsa_train_method(const gsa_state *state, int is_stream, const char **chosen_by)
{
    uint64_t method = gsai_state_param(state, GSAI_PARAM_method);
    *chosen_by = method != GSAI_METHOD_AUTO ? "method" : is_stream ? NULL : learner_param(state);
    if (method == GSAI_METHOD_PAPER)
        return "paper";
    return may_solve(state, is_stream != 0) ? "optimum" : "gsa";
}

int gsa_train_fits(uint64_t n_rows, uint64_t n_entries, uint64_t n_outputs)
{
    uint64_t max = GSAI_SOLVER_CELLS; /* of each: their products do not overflow */
    return n_rows <= max && n_entries <= max && n_outputs <= max &&
           gsai_solver_cells(n_rows, n_entries, n_outputs) <= max;
}

gsa_status gsai_optimum_may(const gsai_job *job, bool *may, gsa_error *error)
{
    const char *param = learner_param(job->state);
    *may = may_solve(job->state, gsai_progress_of(job->reader).is_stream);
    if (!*may || !param)
        return GSA_OK;
    return gsai_fail(error, GSA_ARGUMENT,
                     "%s %s is for greedy step averaging, and method optimum has none; leave one of the two out", param,
                     gsa_state_get(job->state, param));
}

/* Replaces the remedy of rows that cannot be solved within the memory limit, which never chooses the method itself. */
static gsa_status suggest_gsa(const gsai_job *job, gsa_status status, gsa_error *error)
{
    bool is_limit = status == GSA_LIMIT && error && strcmp(error->param, "memory_limit") == 0;
    if (!is_limit || strstr(error->message, GSAI_NEEDS_TABLE)) /* gsa would need it too */
        return status;
    gsa_error reason = *error;
    return gsai_fail_param(error, "method", GSA_LIMIT,
                           "cannot solve the rows of %s in memory: %.300s; choose method gsa, which takes less "
                           "memory, or raise the limit",
                           gsa_reader_file(job->reader, 0), reason.message);
}

gsa_status gsai_optimum_train(gsai_job *job, gsai_prefetch *prefetch, bool *taken, gsa_error *error)
{
    gsai_solver *solver = NULL;
    gsa_batch rows;
    bool fits = false;
    gsa_status status = gsai_prefetch_next(prefetch, GSAI_MAX_BLOCK_ROWS, &rows, error);
    *taken = false;
    if (status == GSA_END)
        return gsai_fail(error, GSA_INPUT, "no rows in %s: nothing to learn", gsa_reader_file(job->reader, 0));
    if (status != GSA_OK)
        return status;
    status = gsai_solver_new(job->state, &rows, &job->env, &solver, error);
    if (status != GSA_OK)
        gsa_reader_locate(job->reader, &rows, error);
    if (status != GSA_OK || !solver)
        return suggest_gsa(job, status, error);
    for (fits = true; status == GSA_OK && fits;) {
        if (gsai_should_stop(&job->env))
            status = gsai_fail(error, GSA_STOPPED, "stopped on request");
        else if ((status = gsai_solver_add(solver, &rows, &fits, error)) != GSA_OK)
            gsa_reader_locate(job->reader, &rows, error);
        else if (fits)
            status = gsai_prefetch_next(prefetch, GSAI_MAX_BLOCK_ROWS, &rows, error);
    }
    status = status == GSA_END ? GSA_OK : status;
    if (status == GSA_OK && !fits && gsai_state_param(job->state, GSAI_PARAM_method) == GSAI_METHOD_OPTIMUM)
        status = gsai_fail_param(error, "method", GSA_LIMIT,
                                 "the rows of %s are more than method optimum takes (%llu million numbers); leave "
                                 "the method out, or give method gsa",
                                 gsa_reader_file(job->reader, 0), (unsigned long long)(GSAI_SOLVER_CELLS >> 20));
    *taken = status == GSA_OK && fits;
    if (*taken)
        gsai_job_tell_task(job, gsai_solver_state(solver));
    if (*taken && gsai_comm_rank(job) == 0)
        status = gsai_solver_solve(solver, job->state, (gsai_strength_hook){job->hooks.strength_tried, job->hooks.ctx},
                                   error);
    gsai_solver_free(solver);
    status = suggest_gsa(job, status, error);
    if (!*taken)
        return status;
    status = gsai_comm_share_first(job, status, error);
    return gsai_comm_end_pass(job, status, error);
}
