/* How methods learn: greedy step averaging through the library's own state, by one state or by several that are merged
 * after each pass; the other optimisers on the same rows in the same order. Weights of the latter are doubles; they are
 * scored as a model of floats, as greedy step averaging is. */
#include "compare.h"

#include "cli/views.h"

#include "base/memory.h"
#include "baseline/optimizer.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- greedy step averaging -------------------------------------------------------------------------------------- */

enum { ROWS_BETWEEN_CHECKS = 1024 };

typedef struct gsa_learner {
    const compare_method *method;
    const compare_task *task;
    gsai_env env;
    gsa_state *state;
} gsa_learner;

static void close_gsa(void *self)
{
    gsa_learner *learner = self;
    if (learner == NULL)
        return;
    gsa_state_free(learner->state);
    free(learner);
}

static gsa_status open_gsa(const compare_method *method, const compare_task *task, const gsai_env *env, void **self,
                           gsa_error *error)
{
    gsa_learner *learner = calloc(1, sizeof *learner);
    if (learner == NULL)
        return gsai_fail(error, GSA_MEMORY, "out of memory");
    *self = learner;
    *learner = (gsa_learner){.method = method, .task = task, .env = *env};
    return compare_task_state(task, method->of_state, method->average, env, &learner->state, error);
}

/* Rows [from, to) of the order. */
static gsa_status learn_run(const gsa_learner *learner, gsa_state *state, size_t from, size_t to, gsa_error *error)
{
    const compare_task *task = learner->task;
    gsa_status status = GSA_OK;
    while (from < to && status == GSA_OK) {
        size_t n = to - from < ROWS_BETWEEN_CHECKS ? to - from : ROWS_BETWEEN_CHECKS;
        GSA_TRY(compare_check_stop(&learner->env, error));
        status = gsa_state_update_rows(state, &task->train, task->order + from, n, error);
        if (status != GSA_OK)
            gsa_reader_locate(task->data->reader, &task->train, error);
        from += n;
    }
    return status;
}

static gsa_status learn_shards(gsa_learner *learner, gsa_error *error)
{
    const compare_task *task = learner->task;
    gsa_status status = gsa_train_replicas(learner->state, &task->train, task->order, task->train.n_rows,
                                           learner->method->n_shards, &learner->env.call, error);
    if (status != GSA_OK)
        gsa_reader_locate(task->data->reader, &task->train, error);
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
    return gsa_state_finish(learner->state, &learner->env.call, out, error);
}

static double step_of_gsa(const void *self)
{
    const gsa_learner *learner = self;
    return summary_of(learner->state).step;
}

const compare_learner compare_gsa_learner = {open_gsa, pass_gsa, finish_gsa, step_of_gsa, close_gsa};

/* ---- the other optimisers --------------------------------------------------------------------------------------- */

typedef struct baseline_learner {
    const compare_task *task;
    gsai_env env;
    gsai_problem problem;
    gsai_optimizer *optimizer;
    double *weights;      /* [slots x outputs], slot 0 the intercept */
    float *float_weights; /* the same */
} baseline_learner;

static void close_baseline(void *self)
{
    baseline_learner *learner = self;
    if (learner == NULL)
        return;
    gsai_optimizer_free(learner->optimizer);
    gsai_free(&learner->env, learner->weights);
    gsai_free(&learner->env, learner->float_weights);
    free(learner);
}

static gsai_problem make_problem(const compare_task *task)
{
    gsa_model_info info = info_of(task->like);
    return (gsai_problem){.rows = &task->train,
                          .classes = task->classes,
                          .loss = gsai_loss_find(info.loss),
                          .n_features = task->n_features,
                          .n_outputs = (size_t)info.n_outputs,
                          .intercept = task->intercept};
}

/* Checks the memory of the method's tables, the weights to score and the times of slots, in doubles, which cannot
 * overflow. */
static gsa_status check_limit(const gsai_method *method, const gsai_problem *problem, const gsai_env *env,
                              gsa_error *error)
{
    double cells = (double)gsai_problem_slots(problem) * (double)problem->n_outputs;
    double memory = (double)problem->rows->n_rows * (double)method->row_numbers * (double)problem->n_outputs;
    double bytes = 8 * (cells * (2.5 + (double)method->n_tables) + memory + (double)gsai_problem_slots(problem));
    char size[COMPARE_SIZE_TEXT], limit[COMPARE_SIZE_TEXT];
    if (bytes > (double)gsai_memory_limit(env))
        return gsai_fail(error, GSA_LIMIT,
                         "%s takes %s for %zu features and %zu output%s, more than the memory limit of %s; leave it "
                         "out of --methods, or raise --memory-limit",
                         method->name, compare_size_text(bytes, size), problem->n_features, problem->n_outputs,
                         problem->n_outputs == 1 ? "" : "s", compare_size_text((double)gsai_memory_limit(env), limit));
    return GSA_OK;
}

static gsa_status open_baseline(const compare_method *method, const compare_task *task, const gsai_env *env,
                                void **self, gsa_error *error)
{
    _Static_assert(COMPARE_KNOBS == GSAI_KNOBS, "a method has room for all knobs");
    baseline_learner *learner = calloc(1, sizeof *learner);
    if (learner == NULL)
        return gsai_fail(error, GSA_MEMORY, "out of memory");
    *self = learner;
    *learner = (baseline_learner){.task = task, .env = gsai_env_resolve(env), .problem = make_problem(task)};
    GSA_TRY(check_limit(method->baseline, &learner->problem, env, error));
    size_t n_cells = gsai_problem_slots(&learner->problem) * learner->problem.n_outputs;
    learner->weights = gsai_alloc_zeroed(&learner->env, n_cells, sizeof *learner->weights);
    learner->float_weights = gsai_alloc_zeroed(&learner->env, n_cells, sizeof *learner->float_weights);
    if (learner->weights == NULL || learner->float_weights == NULL)
        return gsai_fail_memory(&learner->env, error, "no memory for the weights of %s", method->name);
    return gsai_optimizer_new(method->baseline, method->knob, &learner->problem, task->seed, env, &learner->optimizer,
                              error);
}

static gsa_status pass_baseline(void *self, gsa_error *error)
{
    baseline_learner *learner = self;
    return gsai_optimizer_pass(learner->optimizer, learner->task->order, learner->task->train.n_rows, error);
}

static gsa_status finish_baseline(void *self, gsa_model **out, gsa_error *error)
{
    baseline_learner *learner = self;
    size_t n_outputs = learner->problem.n_outputs;
    gsai_optimizer_weights(learner->optimizer, learner->weights);
    for (size_t i = 0; i < gsai_problem_slots(&learner->problem) * n_outputs; i++) {
        if (!(fabs(learner->weights[i]) <= (double)FLT_MAX))
            return gsai_fail(error, GSA_DIVERGED, "a weight is not finite");
        learner->float_weights[i] = (float)learner->weights[i];
    }
    return gsa_model_with_weights(learner->task->like, learner->problem.n_features, learner->float_weights + n_outputs,
                                  learner->problem.intercept ? learner->weights : NULL, out, error);
}

static double step_of_baseline(const void *self)
{
    const baseline_learner *learner = self;
    return learner->optimizer->last_step;
}

const compare_learner compare_baseline_learner = {open_baseline, pass_baseline, finish_baseline, step_of_baseline,
                                                  close_baseline};
