/* Learners: greedy step averaging through the library's own state, by one state or by several that are merged
 * after each pass; the other optimisers on the same rows in the same order. Weights of the latter are doubles; they are
 * scored as a model of floats, as greedy step averaging is. */
#include "compare.h"

#include "cli/views.h"

#include "base/memory.h"

#include <float.h>
#include <math.h>

enum { ROWS_BETWEEN_CHECKS = 1024 };

void compare_learner_close(compare_learner *learner)
{
    gsa_state_free(learner->state);
    gsai_optimizer_free(learner->optimizer);
    gsai_free(&learner->task->env, learner->weights);
    gsai_free(&learner->task->env, learner->float_weights);
}

gsa_status compare_learner_open(const compare_method *method, const compare_task *task, compare_learner *out,
                                gsa_error *error)
{
    const gsai_env *env = &task->env;
    const gsai_method *baseline = method->baseline;
    *out = (compare_learner){.method = method, .task = task};
    if (baseline == NULL)
        return compare_task_state(task, method->of_state, method->average, &out->state, error);
    gsa_model_info info = info_of(task->like);
    size_t n_outputs = (size_t)info.n_outputs;
    out->problem = (gsai_problem){.rows = &task->train,
                                  .classes = task->classes,
                                  .loss = gsai_loss_find(info.loss),
                                  .n_features = task->n_features,
                                  .n_outputs = n_outputs,
                                  .intercept = task->intercept};
    /* Tables of the method, weights to score and times of slots, in doubles, which cannot overflow. */
    double n_slots = (double)gsai_problem_slots(&out->problem), n_cells = n_slots * (double)n_outputs;
    double memory = (double)task->train.n_rows * (double)baseline->row_numbers * (double)n_outputs;
    double bytes = 8 * (n_cells * (2.5 + (double)baseline->n_tables) + memory + n_slots);
    double limit = (double)gsai_memory_limit(env);
    char size[COMPARE_SIZE_TEXT], limit_text[COMPARE_SIZE_TEXT];
    if (bytes > limit)
        return gsai_fail(error, GSA_LIMIT,
                         "%s takes %s for %zu features and %zu output%s, more than the memory limit of %s; leave it "
                         "out of --methods, or raise --memory-limit",
                         method->name, compare_size_text(bytes, size), task->n_features, n_outputs,
                         n_outputs == 1 ? "" : "s", compare_size_text(limit, limit_text));
    out->weights = gsai_alloc_zeroed(env, gsai_problem_cells(&out->problem), sizeof *out->weights);
    out->float_weights = gsai_alloc_zeroed(env, gsai_problem_cells(&out->problem), sizeof *out->float_weights);
    GSAI_TRY_MEMORY(out->weights && out->float_weights, env, error, "no memory for the weights of %s", method->name);
    return gsai_optimizer_new(baseline, method->knob, &out->problem, task->seed, env, &out->optimizer, error);
}

gsa_status compare_learner_pass(compare_learner *learner, gsa_error *error)
{
    const compare_task *task = learner->task;
    size_t n_rows = task->train.n_rows, n_shards = learner->method->n_shards;
    gsa_status status = GSA_OK;
    if (learner->optimizer != NULL)
        return gsai_optimizer_pass(learner->optimizer, task->order, n_rows, error);
    if (n_shards > 0)
        status =
            gsa_train_replicas(learner->state, &task->train, task->order, n_rows, n_shards, &task->env.call, error);
    for (size_t from = 0; n_shards == 0 && from < n_rows && status == GSA_OK; from += ROWS_BETWEEN_CHECKS) {
        size_t n = n_rows - from < ROWS_BETWEEN_CHECKS ? n_rows - from : ROWS_BETWEEN_CHECKS;
        GSA_TRY(compare_check_stop(&task->env, error));
        status = gsa_state_update_rows(learner->state, &task->train, task->order + from, n, error);
    }
    if (status == GSA_OK)
        status = gsa_state_end_pass(learner->state, error);
    else
        gsa_reader_locate(task->data->reader, &task->train, error);
    return status;
}

gsa_status compare_learner_model(compare_learner *learner, gsa_model **out, gsa_error *error)
{
    const compare_task *task = learner->task;
    size_t n_outputs = learner->problem.n_outputs;
    if (learner->optimizer == NULL)
        return gsa_state_finish(learner->state, &task->env.call, out, error);
    gsai_optimizer_weights(learner->optimizer, learner->weights);
    for (size_t i = 0; i < gsai_problem_cells(&learner->problem); i++) {
        if (!(fabs(learner->weights[i]) <= (double)FLT_MAX))
            return gsai_fail(error, GSA_DIVERGED, "a weight is not finite");
        learner->float_weights[i] = (float)learner->weights[i];
    }
    return gsa_model_with_weights(task->like, task->n_features, learner->float_weights + n_outputs,
                                  task->intercept ? learner->weights : NULL, out, error);
}

double compare_learner_step(const compare_learner *learner)
{
    return learner->optimizer != NULL ? learner->optimizer->last_step : summary_of(learner->state).step;
}
