/* The optimum of rows that fit in memory. */
#include "train/optimum.h"

#include "train/block.h"
#include "train/comm.h"

#include "base/error.h"
#include "learn/state.h"
#include "solve/solve.h"

#include <math.h>
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
static bool may_solve(const gsa_state *state)
{
    uint64_t method = gsai_state_param(state, GSAI_PARAM_method);
    return method == GSAI_METHOD_OPTIMUM || (method == GSAI_METHOD_AUTO && !learner_param(state));
}

const char *gsa_train_method(const gsa_state *state, const char **chosen_by)
{
    uint64_t method = gsai_state_param(state, GSAI_PARAM_method);
    *chosen_by = method != GSAI_METHOD_AUTO ? "method" : learner_param(state);
    if (method == GSAI_METHOD_PAPER)
        return "paper";
    return may_solve(state) ? "optimum" : "gsa";
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
    *may = may_solve(job->state) && gsai_state_gathers(job->state);
    if (!*may || !param)
        return GSA_OK;
    return gsai_fail(error, GSA_ARGUMENT,
                     "%s %s is for greedy step averaging, and method optimum has none; leave one of the two out", param,
                     gsa_state_get(job->state, param));
}

/* Replaces the remedy of rows that cannot be gathered or solved within the memory limit, which never chooses the method
 * itself. */
static gsa_status suggest_gsa(const gsai_job *job, gsa_status status, size_t n_rows, gsa_error *error)
{
    bool is_limit = status == GSA_LIMIT && error && strcmp(error->param, "memory_limit") == 0;
    if (!is_limit || strstr(error->message, GSAI_NEEDS_TABLE)) /* gsa would need it too */
        return status;
    gsa_error reason = *error;
    return gsai_fail_param(
        error, "method", GSA_LIMIT,
        "cannot solve the %zu rows so far of %s in memory: %.300s; choose method gsa, which keeps at "
        "most %u rows waiting, or raise the limit",
        n_rows, gsa_reader_file(job->reader, 0), reason.message, GSAI_MAX_WAITING);
}

/* Lets rows wait until the input ends (GSA_END), or they are too many (*fits false). */
static gsa_status gather(const gsai_job *job, gsai_prefetch *prefetch, gsa_state *own, bool *fits, gsa_error *error)
{
    gsa_status status = GSA_OK;
    gsa_batch rows;
    size_t n_taken;
    for (*fits = true; *fits && (status = gsai_prefetch_next(prefetch, GSAI_MAX_BLOCK_ROWS, &rows, error)) == GSA_OK;) {
        if (gsai_state_position(own)->pass_rows == 0)
            GSA_TRY(gsai_job_prepare(job, own, &rows, error));
        status = gsai_state_wait(own, &rows, NULL, rows.n_rows, gsai_solve_waiting, false, &n_taken, error);
        if (status != GSA_OK)
            gsa_reader_locate(job->reader, &rows, error);
        GSA_TRY(status);
        *fits = gsai_solver_fits(own, gsai_state_waiting(own));
        if (gsai_should_stop(&job->env))
            return gsai_fail(error, GSA_STOPPED, "stopped on request");
    }
    return status;
}

/* A difference counts from this share of the loss and these standard errors on. */
#define MIN_DIFFERENCE 0.01
#define MIN_ERRORS 2.0

/* Tells that rows came in the order of a date, if the latest have another loss than held-out rows, or may have. */
static void tell_order(const gsai_job *job, const gsai_order *order, size_t n_rows)
{
    gsa_error note;
    double held_out = gsa_state_held_out_loss(job->state), latest = order->loss, off = fabs(latest - held_out);
    const char *name = gsa_reader_name(job->reader, order->feature), *column = name ? name : "a date";
    const char *loss = gsai_summary_of(job->state).loss;
    gsai_state_set_dates(job->state, order);
    if (!job->hooks.notice || order->n_latest == 0 || off <= MIN_DIFFERENCE * held_out ||
        off <= MIN_ERRORS * order->error)
        return;
    const char *measure = gsa_loss_measure(loss, &latest);
    (void)gsa_loss_measure(loss, &held_out);
    if (isnan(latest))
        (void)gsai_fail(&note, GSA_INPUT,
                        "the first %zu rows are in the order of '%s', and later rows may have another loss", n_rows,
                        column);
    else
        (void)gsai_fail(
            &note, GSA_INPUT,
            "rows are in the order of '%s': the latest eighth, predicted from earlier rows, has %s %.4g, not %.4g",
            column, measure ? measure : "loss", latest, held_out);
    job->hooks.notice(job->hooks.ctx, GSA_NOTICE_ORDER, note.message);
}

gsa_status gsai_optimum_train(gsai_job *job, gsai_prefetch *prefetch, bool *taken, gsai_shuffle **shuffle,
                              gsa_error *error)
{
    gsa_state *own = NULL;
    gsai_env env = job->env;
    gsa_batch rows;
    size_t n_taken;
    bool fits = true, is_stream = gsai_progress_of(job->reader).is_stream;
    *taken = false;
    GSA_TRY(gsai_state_twin(job->state, &own, error));
    gsa_status status = gather(job, prefetch, own, &fits, error);
    bool is_stopped = status == GSA_STOPPED && is_stream;
    if (is_stopped && gsai_prefetch_partial(prefetch, &rows) &&
        gsai_state_gathers(own)) /* what has arrived is solved */
        status = gsai_state_wait(own, &rows, NULL, rows.n_rows, gsai_solve_waiting, false, &n_taken, error);
    size_t n_rows = gsai_waiting_rows(gsai_state_waiting(own));
    if (is_stopped && (status == GSA_OK || status == GSA_STOPPED)) {
        env.call.should_stop = NULL;
        status = n_rows > 0 ? GSA_END : GSA_STOPPED;
    }
    if (status == GSA_END && gsai_state_position(own)->pass_rows == 0)
        status = gsai_fail(error, GSA_INPUT, "no rows in %s: nothing to learn", gsa_reader_file(job->reader, 0));
    if (status == GSA_OK && !fits && gsai_state_param(job->state, GSAI_PARAM_method) == GSAI_METHOD_OPTIMUM)
        status = gsai_fail_param(error, "method", GSA_LIMIT,
                                 "the rows of %s are more than method optimum takes (%llu million numbers); leave "
                                 "the method out, or give method gsa",
                                 gsa_reader_file(job->reader, 0), (unsigned long long)(GSAI_SOLVER_CELLS >> 20));
    *taken = status == GSA_END;
    gsai_order order =
        gsai_order_find(gsai_comm_rank(job) == 0 ? gsai_state_waiting(own) : NULL, gsa_state_schema(own));
    if (status == GSA_OK && !fits && is_stream)
        status = gsai_shuffle_new(own, gsai_state_take_waiting(own), prefetch, &job->env, shuffle, error);
    if (*taken) {
        gsai_job_tell_task(job, own);
        status = gsai_state_sort_labels(own, gsai_state_labels(job->state)->n, error);
        gsai_waiting *waiting = gsai_state_take_waiting(own);
        if (gsai_comm_rank(job) == 0 && status == GSA_OK)
            status = gsai_solve(own, waiting, order.n_latest > 0 ? &order : NULL,
                                (gsai_strength_hook){job->hooks.strength_tried, job->hooks.ctx}, &env, error);
        gsai_waiting_free(waiting);
    }
    status = suggest_gsa(job, status, n_rows, error);
    if (*taken && status == GSA_OK && gsai_comm_rank(job) == 0) {
        status = gsa_state_replace(job->state, own, error);
        own = NULL;
    }
    if (status == GSA_OK)
        tell_order(job, &order, n_rows);
    gsa_state_free(own);
    if (!*taken)
        return status;
    status = gsai_comm_share_first(job, status, error);
    status = gsai_comm_end_pass(job, status, error);
    return status == GSA_OK && is_stopped ? gsai_fail(error, GSA_STOPPED, "stopped on request") : status;
}

gsa_status gsai_optimum_gather_again(gsai_job *job, gsai_prefetch *prefetch, gsai_shuffle **shuffle, gsa_error *error)
{
    gsa_state *fresh = NULL;
    bool fits;
    GSA_TRY(gsai_state_create(gsai_state_params(job->state), &job->env, &fresh, error));
    gsa_status status = gsa_state_set_schema(fresh, gsa_state_schema(job->state), error);
    if (status == GSA_OK)
        status = gather(job, prefetch, fresh, &fits, error);
    if (status == GSA_OK || (status == GSA_END && gsai_state_waiting(fresh)))
        status = gsai_shuffle_new(fresh, gsai_state_take_waiting(fresh), prefetch, &job->env, shuffle, error);
    gsa_state_free(fresh);
    return suggest_gsa(job, status == GSA_END ? GSA_OK : status, 0, error);
}
