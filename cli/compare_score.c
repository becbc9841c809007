/* How good a model is on the rows to learn and on the rows to test. */
#include "compare.h"
#include "views.h"

#include <math.h>
#include <string.h>

enum { ROWS_BETWEEN_CHECKS = 4096 };

static gsa_status add_rows(gsa_metrics *metrics, const gsa_batch *batch, const gsa_reader *reader, const gsa_env *env,
                           gsa_error *error)
{
    gsa_status status = GSA_OK;
    for (size_t first = 0; first < batch->n_rows && status == GSA_OK; first += ROWS_BETWEEN_CHECKS) {
        gsa_batch part = batch_part(batch, first, ROWS_BETWEEN_CHECKS);
        status = compare_check_stop(env, error);
        if (status != GSA_OK)
            return status;
        status = gsa_metrics_update(metrics, &part, error);
        if (status != GSA_OK)
            gsa_reader_locate(reader, &part, error);
    }
    return status;
}

static compare_score score_of(const gsa_metrics *metrics)
{
    compare_score score = {NAN, NAN, NAN};
    gsa_metric metric;
    for (size_t i = 0; gsa_metrics_at(metrics, i, &metric); i++) {
        if (strcmp(metric.name, "log_loss") == 0)
            score.loss = metric.value;
        else if (strcmp(metric.name, "rmse") == 0)
            score.loss = 0.5 * metric.value * metric.value;
        else if (strcmp(metric.name, "accuracy") == 0)
            score.accuracy = metric.value;
        else if (strcmp(metric.name, "auc") == 0)
            score.auc = metric.value;
    }
    return score;
}

static gsa_status judge_part(const gsa_batch *batch, const gsa_reader *reader, const gsa_model *model,
                             const gsa_env *env, compare_score *out, gsa_error *error)
{
    gsa_metrics *metrics = NULL;
    gsa_status status = gsa_metrics_new(model, env, &metrics, error);
    if (status == GSA_OK)
        status = add_rows(metrics, batch, reader, env, error);
    if (status == GSA_OK)
        status = gsa_metrics_finish(metrics, error);
    if (status == GSA_OK)
        *out = score_of(metrics);
    gsa_metrics_free(metrics);
    if (status == GSA_OK && !isfinite(out->loss))
        status = gsai_fail(error, GSA_DIVERGED, "the loss is not finite");
    return status;
}

static const gsa_reader *reader_of_test(const compare_task *task)
{
    return task->data->test_reader != NULL ? task->data->test_reader : task->data->reader;
}

gsa_status compare_judge(const compare_task *task, const gsa_model *model, const gsa_env *env, compare_record *out,
                         gsa_error *error)
{
    gsa_status status = judge_part(&task->train, task->data->reader, model, env, &out->score[COMPARE_TRAIN], error);
    if (status == GSA_OK)
        status = judge_part(&task->test, reader_of_test(task), model, env, &out->score[COMPARE_TEST], error);
    return status;
}

gsa_status compare_judge_row(const compare_task *task, const gsa_model *model, size_t row, const gsa_env *env,
                             compare_score *out, gsa_error *error)
{
    gsa_batch single = batch_part(&task->test, row, 1);
    return judge_part(&single, reader_of_test(task), model, env, out, error);
}
