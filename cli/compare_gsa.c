/* Greedy step averaging through the library's own state, by one state or by several that are merged after each pass. */
#include "compare.h"
#include "views.h"

#include <stdlib.h>

enum { ROWS_BETWEEN_CHECKS = 1024 };

typedef struct gsa_learner {
    const compare_method *method;
    const compare_task *task;
    gsa_env env;
    gsa_state *state;
    gsa_state **shards; /* method->n_shards; NULL but during a pass */
} gsa_learner;

static void free_shards(gsa_learner *learner)
{
    for (size_t i = 0; i < learner->method->n_shards && learner->shards != NULL; i++) {
        gsa_state_free(learner->shards[i]);
        learner->shards[i] = NULL;
    }
}

static void close_gsa(void *self)
{
    gsa_learner *learner = self;
    if (learner == NULL)
        return;
    free_shards(learner);
    free(learner->shards);
    gsa_state_free(learner->state);
    free(learner);
}

static gsa_status open_gsa(const compare_method *method, const compare_task *task, const gsa_env *env, void **self,
                           gsa_error *error)
{
    gsa_learner *learner = calloc(1, sizeof *learner);
    if (learner == NULL)
        return gsai_fail(error, GSA_MEMORY, "out of memory");
    *self = learner;
    *learner = (gsa_learner){.method = method, .task = task, .env = *env};
    if (method->n_shards > 0) {
        learner->shards = calloc(method->n_shards, sizeof *learner->shards);
        if (learner->shards == NULL)
            return gsai_fail(error, GSA_MEMORY, "out of memory");
    }
    return compare_task_state(task, method->of_state, method->average, env, &learner->state, error);
}

/* Rows [from, to) of the order. */
static gsa_status learn_run(const gsa_learner *learner, gsa_state *state, size_t from, size_t to, gsa_error *error)
{
    const compare_task *task = learner->task;
    gsa_status status = GSA_OK;
    while (from < to && status == GSA_OK) {
        size_t n = to - from < ROWS_BETWEEN_CHECKS ? to - from : ROWS_BETWEEN_CHECKS;
        status = compare_check_stop(&learner->env, error);
        if (status != GSA_OK)
            return status;
        status = gsa_state_update_rows(state, &task->train, task->order + from, n, error);
        if (status != GSA_OK)
            gsa_reader_locate(task->data->reader, &task->train, error);
        from += n;
    }
    return status;
}

static gsa_status learn_shards(gsa_learner *learner, gsa_error *error)
{
    size_t n_shards = learner->method->n_shards, n_rows = learner->task->train.n_rows;
    gsa_status status = GSA_OK;
    for (size_t i = 0; i < n_shards && status == GSA_OK; i++) {
        size_t from = n_rows / n_shards * i + n_rows % n_shards * i / n_shards;
        size_t to = n_rows / n_shards * (i + 1) + n_rows % n_shards * (i + 1) / n_shards;
        status = gsa_state_fork(learner->state, n_shards, &learner->env, &learner->shards[i], error);
        if (status == GSA_OK)
            status = learn_run(learner, learner->shards[i], from, to, error);
    }
    gsa_state *merged = NULL;
    if (status == GSA_OK)
        status = gsa_state_merge((const gsa_state *const *)learner->shards, n_shards, learner->state, &learner->env,
                                 &merged, error);
    if (status == GSA_OK) {
        gsa_state_free(learner->state);
        learner->state = merged;
    }
    free_shards(learner);
    return status;
}

static gsa_status pass_gsa(void *self, gsa_error *error)
{
    gsa_learner *learner = self;
    gsa_status status = learner->method->n_shards > 0
                            ? learn_shards(learner, error)
                            : learn_run(learner, learner->state, 0, learner->task->train.n_rows, error);
    if (status == GSA_OK)
        gsa_state_end_pass(learner->state);
    return status;
}

static gsa_status finish_gsa(void *self, gsa_model **out, gsa_error *error)
{
    const gsa_learner *learner = self;
    return gsa_state_finish(learner->state, &learner->env, out, error);
}

static double step_of_gsa(const void *self)
{
    const gsa_learner *learner = self;
    return summary_of(learner->state).step;
}

const compare_learner compare_gsa_learner = {open_gsa, pass_gsa, finish_gsa, step_of_gsa, close_gsa};
