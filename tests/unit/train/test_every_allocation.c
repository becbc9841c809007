/* Whole runs in which memory is refused or limited. */
#include "refusing.h"
#include "runs.h"

#include <greedystep/train.h>

/* ---- the runs ---------------------------------------------------------------------------------------------------- */

/* Trains with these parameters (name, value ..., NULL) on a text. */
static gsa_status train_on(const char *text, const char *const *params, const gsai_env *env, bytes *out,
                           gsa_error *error)
{
    gsa_config *config = NULL;
    gsa_state *state = NULL;
    gsa_reader *reader = NULL;
    gsa_reader_options options = {.size = sizeof options, .remember_names = 1, .bits = 6};
    gsa_status status = gsa_config_new(memory_of(env), &config, error);
    for (; status == GSA_OK && *params; params += 2)
        status = gsa_config_set(config, params[0], params[1], error);
    if (status == GSA_OK)
        status = gsa_state_new(config, memory_of(env), &state, error);
    if (status == GSA_OK)
        status =
            gsa_reader_open_memory(text, strlen(text), "rows", &options, memory_of(env), call_of(env), &reader, error);
    if (status == GSA_OK)
        status = gsa_train(state, reader, NULL, call_of(env), error);
    if (status == GSA_OK)
        status = gsa_state_write(state, append, out, error);
    gsa_reader_close(reader);
    gsa_state_free(state);
    gsa_config_free(config);
    return status;
}

#define NUMBERED "1 1:1 3:2\n0 2:1\n1 1:2 2:1\n0 3:1\n1 1:1\n0 2:3 3:1\n1 1:3\n0 2:1 4:1\n"
#define TABLE                                                                   \
    "label,colour,size\n1,red,3\n0,blue,4\n1,red,5\n0,green,1\n1,red and some " \
    "more,2\n0,blue,8\n1,violet,1\n0,grey,4\n"
#define WORDS "1 |a one two:2 |b three\n-1 |a two four |b five\n1 |a one |b six seven\n-1 |a four:3 |b five eight\n"

static gsa_status train_team(const gsai_env *env, bytes *out, gsa_error *error)
{
    return train_on(NUMBERED, (const char *const[]){"passes", "2", NULL}, env, out, error);
}

static gsa_status train_alone(const gsai_env *env, bytes *out, gsa_error *error)
{
    return train_on(NUMBERED, (const char *const[]){"method", "paper", "passes", "2", NULL}, env, out, error);
}

static gsa_status train_shards(const gsai_env *env, bytes *out, gsa_error *error)
{
    return train_on(NUMBERED, (const char *const[]){"shards", "2", "passes", "1", NULL}, env, out, error);
}

static gsa_status train_table(const gsai_env *env, bytes *out, gsa_error *error)
{
    return train_on(TABLE, (const char *const[]){"method", "paper", "passes", "1", NULL}, env, out, error);
}

static gsa_status train_words(const gsai_env *env, bytes *out, gsa_error *error)
{
    return train_on(WORDS, (const char *const[]){"method", "paper", "passes", "1", NULL}, env, out, error);
}

static gsa_state *trained_on(uint64_t seed)
{
    gsa_state *state = state_with("method", "auto", "passes", "1", NULL);
    gsa_reader *reader = generated(60, 2, seed);
    must_be_ok(gsa_train(state, reader, NULL, NULL, NULL), NULL);
    gsa_reader_close(reader);
    return state;
}

static gsa_status merge_two(const gsai_env *env, bytes *out, gsa_error *error)
{
    gsa_state *first = trained_on(1), *second = trained_on(2), *counted = NULL, *merged = NULL;
    gsa_status status = state_in(memory_of(env), first, &counted, error);
    const gsa_state *both[] = {counted, second};
    if (status == GSA_OK)
        status = gsa_state_merge(both, 2, NULL, call_of(env), &merged, error);
    if (status == GSA_OK)
        status = gsa_state_write(merged, append, out, error);
    gsa_state_free(merged);
    gsa_state_free(counted);
    gsa_state_free(first);
    gsa_state_free(second);
    return status;
}

static gsa_status read_and_finish(const gsai_env *env, bytes *out, gsa_error *error)
{
    gsa_state *state = trained_on(1), *again = NULL;
    gsa_model *model = NULL;
    bytes file = state_bytes(state);
    gsa_status status = gsa_state_read(file.data, file.size, memory_of(env), &again, error);
    if (status == GSA_OK)
        status = gsa_state_finish(again, call_of(env), &model, error);
    if (status == GSA_OK)
        status = gsa_model_write(model, append, out, error);
    gsa_model_free(model);
    gsa_state_free(again);
    gsa_state_free(state);
    free(file.data);
    return status;
}

static gsa_status evaluate_model(const gsai_env *env, bytes *out, gsa_error *error)
{
    gsa_state *state = trained_on(1);
    gsa_model *model = model_of(state), *counted = NULL;
    gsa_reader *reader = NULL;
    gsa_metrics *metrics = NULL;
    gsa_metric metric;
    gsa_status status = model_in(memory_of(env), model, &counted, error);
    if (status == GSA_OK)
        status = gsa_reader_open_memory(NUMBERED, sizeof NUMBERED - 1, "rows", NULL, memory_of(env), call_of(env),
                                        &reader, error);
    if (status == GSA_OK)
        status = gsa_metrics_new(counted, &metrics, error);
    if (status == GSA_OK)
        status = gsa_evaluate(metrics, reader, call_of(env), error);
    if (status == GSA_OK)
        status = gsa_metrics_finish(metrics, error);
    for (size_t i = 0; status == GSA_OK && gsa_metrics_at(metrics, i, &metric) == GSA_OK; i++)
        append(out, &metric.value, sizeof metric.value);
    gsa_metrics_free(metrics);
    gsa_reader_close(reader);
    gsa_model_free(counted);
    gsa_model_free(model);
    gsa_state_free(state);
    return status;
}

static gsa_status take_lines(void *ctx, const gsa_predictions *some, gsa_error *error)
{
    (void)error;
    append(ctx, some->text, some->text_size);
    return GSA_OK;
}

static gsa_status predict_rows(const gsai_env *env, bytes *out, gsa_error *error)
{
    gsa_state *state = trained_on(1);
    gsa_model *model = model_of(state), *counted = NULL;
    gsa_reader *reader = NULL;
    gsa_predict_hooks hooks = {
        .size = sizeof hooks, .ctx = out, .text = GSA_TEXT_JSONL, .every_class = 1, .take = take_lines};
    gsa_status status = model_in(memory_of(env), model, &counted, error);
    if (status == GSA_OK)
        status = gsa_reader_open_memory(NUMBERED, sizeof NUMBERED - 1, "rows", NULL, memory_of(env), call_of(env),
                                        &reader, error);
    if (status == GSA_OK)
        status = gsa_predict(counted, reader, &hooks, call_of(env), error);
    gsa_reader_close(reader);
    gsa_model_free(counted);
    gsa_model_free(model);
    gsa_state_free(state);
    return status;
}

/* ---- tests ------------------------------------------------------------------------------------------------------- */

#define TEST(name, run)             \
    static void name(void **unused) \
    {                               \
        (void)unused;               \
        refuse_all_ways(run);       \
        limit_each(run, 1);         \
        limit_each(run, 3);         \
    }

TEST(every_allocation_of_a_team_may_fail, train_team)
TEST(every_allocation_of_one_learner_may_fail, train_alone)
TEST(every_allocation_of_shards_may_fail, train_shards)
TEST(every_allocation_of_a_run_on_a_table_may_fail, train_table)
TEST(every_allocation_of_a_run_on_words_may_fail, train_words)
TEST(every_allocation_of_a_merge_may_fail, merge_two)
TEST(every_allocation_from_a_state_to_a_model_may_fail, read_and_finish)
TEST(every_allocation_of_an_evaluation_may_fail, evaluate_model)
TEST(every_allocation_of_predictions_may_fail, predict_rows)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_allocation_of_a_team_may_fail),
        cmocka_unit_test(every_allocation_of_one_learner_may_fail),
        cmocka_unit_test(every_allocation_of_shards_may_fail),
        cmocka_unit_test(every_allocation_of_a_run_on_a_table_may_fail),
        cmocka_unit_test(every_allocation_of_a_run_on_words_may_fail),
        cmocka_unit_test(every_allocation_of_a_merge_may_fail),
        cmocka_unit_test(every_allocation_from_a_state_to_a_model_may_fail),
        cmocka_unit_test(every_allocation_of_an_evaluation_may_fail),
        cmocka_unit_test(every_allocation_of_predictions_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
