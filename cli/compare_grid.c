/* Every method with every seed, pass by pass. A method that diverges is recorded as such, and the next goes on. */
#include "compare.h"

#include <math.h>
#include <stdlib.h>

compare_record *compare_grid_at(const compare_grid *grid, size_t method, size_t seed, size_t pass)
{
    return &grid->records[(method * grid->n_seeds + seed) * grid->n_passes + pass];
}

static const compare_record diverged_record = {
    .score = {{NAN, NAN, NAN}, {NAN, NAN, NAN}}, .step = NAN, .diverged = true};

/* One pass, timed, and its judgement, which is not. */
static gsa_status run_pass(const compare_learner *learner, void *self, const compare_task *task, const gsa_env *env,
                           compare_record *record, gsa_error *error)
{
    gsa_model *model = NULL;
    double began = progress_clock();
    gsa_status status = learner->pass(self, error);
    record->seconds += progress_clock() - began;
    if (status == GSA_OK)
        status = compare_check_stop(env, error);
    if (status == GSA_OK)
        status = learner->model(self, &model, error);
    if (status == GSA_OK)
        status = compare_judge(task, model, env, record, error);
    if (status == GSA_OK)
        record->step = learner->step(self);
    gsa_model_free(model);
    return status;
}

static gsa_status run_passes(compare_grid *grid, size_t method, compare_task *task, void *self, const gsa_env *env,
                             gsa_error *error)
{
    const compare_learner *learner = grid->methods[method].learner;
    size_t seed = (size_t)task->seed;
    bool diverged = false;
    double seconds = 0;
    for (size_t pass = 0; pass < grid->n_passes; pass++) {
        compare_record *record = compare_grid_at(grid, method, seed, pass);
        compare_progress_show(grid, (method * grid->n_seeds + seed) * grid->n_passes + pass, method);
        record->seconds = seconds;
        gsa_status status = GSA_DIVERGED;
        if (!diverged) {
            compare_task_set_order(task, pass);
            status = run_pass(learner, self, task, env, record, error);
            grid->n_rows_learned += task->train.n_rows;
        }
        diverged = status == GSA_DIVERGED;
        if (status != GSA_OK && !diverged)
            return status;
        seconds = record->seconds;
        if (diverged) {
            *record = diverged_record;
            record->seconds = seconds;
        }
    }
    return GSA_OK;
}

static gsa_status write_rows(const compare_grid *grid, size_t method, const compare_task *task, void *self,
                             const gsa_env *env, gsa_error *error)
{
    gsa_model *model = NULL;
    gsa_status status = GSA_OK;
    if (!compare_grid_at(grid, method, (size_t)task->seed, grid->n_passes - 1)->diverged)
        status = grid->methods[method].learner->model(self, &model, error);
    if (status == GSA_OK)
        status = compare_write_row_results(grid, method, task, model, env, error);
    gsa_model_free(model);
    return status;
}

static gsa_status run_seed(compare_grid *grid, size_t method, compare_task *task, const gsa_env *env, gsa_error *error)
{
    const compare_learner *learner = grid->methods[method].learner;
    void *self = NULL;
    gsa_status status = learner->open(&grid->methods[method], task, env, &self, error);
    if (status == GSA_OK)
        status = run_passes(grid, method, task, self, env, error);
    if (status == GSA_OK && grid->row_stream != NULL)
        status = write_rows(grid, method, task, self, env, error);
    learner->close(self);
    return status;
}

/* The task of a seed is made anew for every method: splitting costs little beside learning, and keeping the splits of
 * all seeds would take their number times the memory. */
static gsa_status run_method(compare_grid *grid, const compare_data *data, size_t method, const gsa_env *env,
                             gsa_error *error)
{
    gsa_status status = GSA_OK;
    grid->n_rows_learned = 0;
    for (size_t seed = 0; seed < grid->n_seeds && status == GSA_OK; seed++) {
        compare_task task;
        status = compare_task_new(data, seed, env, &task, error);
        grid->n_train = task.train.n_rows;
        grid->n_test = task.test.n_rows;
        if (status == GSA_OK)
            status = run_seed(grid, method, &task, env, error);
        compare_task_free(&task);
    }
    return status;
}

gsa_status compare_grid_run(compare_grid *grid, const compare_data *data, const gsa_env *env, gsa_error *error)
{
    gsa_status status = GSA_OK;
    if (grid->n_methods > SIZE_MAX / grid->n_seeds / grid->n_passes)
        return gsai_fail(error, GSA_MEMORY, "no memory for the results of so many methods, seeds and passes");
    grid->records = calloc(grid->n_methods * grid->n_seeds * grid->n_passes, sizeof *grid->records);
    if (grid->records == NULL)
        return gsai_fail(error, GSA_MEMORY, "no memory for the results of so many methods, seeds and passes");
    for (size_t method = 0; method < grid->n_methods && status == GSA_OK; method++) {
        status = run_method(grid, data, method, env, error);
        if (status == GSA_OK)
            compare_progress_method(grid, method);
    }
    return status;
}

void compare_grid_free(compare_grid *grid)
{
    free(grid->records);
    grid->records = NULL;
}
