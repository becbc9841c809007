/* Whole runs in which the n-th allocation is refused, n = 1, 2, 3 ..., alone or with all later ones, until nothing is
 * refused any more: a status that says so and a message, or the bytes of the undisturbed run; and nothing is left. Then
 * the same runs with ever larger memory limits: GSA_LIMIT or the same bytes, and never more memory than the limit. */
#include "runs.h"

#include <greedystep/train.h>

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>

/* ---- memory that is refused -------------------------------------------------------------------------------------- */

/* Threads share it. */
typedef struct refusing {
    size_t first, last; /* requests that are refused, from 1 */
    atomic_size_t n_requests, n_refused;
    atomic_long n_live;
} refusing;

static bool is_refused(refusing *r)
{
    size_t n = atomic_fetch_add(&r->n_requests, 1) + 1;
    bool refused = n >= r->first && n <= r->last;
    atomic_fetch_add(&r->n_refused, refused);
    return refused;
}

static void *take(void *ctx, size_t size)
{
    void *memory = is_refused(ctx) ? NULL : malloc(size);
    atomic_fetch_add(&((refusing *)ctx)->n_live, memory != NULL);
    return memory;
}

static void *take_zeroed(void *ctx, size_t size)
{
    void *memory = is_refused(ctx) ? NULL : calloc(1, size);
    atomic_fetch_add(&((refusing *)ctx)->n_live, memory != NULL);
    return memory;
}

static void *take_more(void *ctx, void *memory, size_t size)
{
    return is_refused(ctx) ? NULL : realloc(memory, size);
}

static void give_back(void *ctx, void *memory)
{
    atomic_fetch_sub(&((refusing *)ctx)->n_live, 1);
    free(memory);
}

/* ---- runs -------------------------------------------------------------------------------------------------------- */

/* Of one kind of run: what it says goes to `out`, and all that it takes from env it gives back. */
typedef gsa_status (*run_fn)(const gsa_env *env, bytes *out, gsa_error *error);

static void refuse_each(run_fn run, unsigned n_threads, bool and_all_later)
{
    bytes whole = {0};
    size_t n_refused = 1, n_failed = 0, n = 0;
    must_be_ok(run(NULL, &whole, NULL), NULL);
    while (n_refused > 0) {
        refusing memory = {.first = ++n, .last = and_all_later ? SIZE_MAX : n};
        gsa_env env = {.alloc = take, .alloc_zeroed = take_zeroed, .resize = take_more, .release = give_back};
        env.alloc_ctx = &memory;
        env.n_threads = n_threads;
        bytes out = {0};
        gsa_error error = {0};
        gsa_status status = run(&env, &out, &error);
        n_refused = atomic_load(&memory.n_refused);
        if (status != GSA_OK && (status != GSA_MEMORY || strlen(error.message) < 9 || n_refused == 0))
            fail_msg("request %zu: status %d, %s", n, (int)status, error.message);
        if (status == GSA_OK && (out.size != whole.size || memcmp(out.data, whole.data, out.size) != 0))
            fail_msg("request %zu was refused, nothing was said, and the result is another", n);
        if (atomic_load(&memory.n_live) != 0)
            fail_msg("request %zu: %ld blocks are left", n, atomic_load(&memory.n_live));
        n_failed += status != GSA_OK;
        free(out.data);
    }
    assert_true(n_failed > 5);
    free(whole.data);
}

static void refuse_all_ways(run_fn run)
{
    refuse_each(run, 1, false);
    refuse_each(run, 1, true);
    refuse_each(run, 3, false);
}

/* ---- memory that is limited -------------------------------------------------------------------------------------- */

/* Counts bytes apart from the library: each block has its size in front. */
typedef struct meter {
    atomic_size_t now, most;
} meter;

static void note(meter *m, size_t now)
{
    size_t most = atomic_load(&m->most);
    while (now > most && !atomic_compare_exchange_weak(&m->most, &most, now))
        ;
}

static void *measure_zeroed(void *ctx, size_t size)
{
    size_t *block = calloc(1, size + 16);
    *block = size;
    note(ctx, atomic_fetch_add(&((meter *)ctx)->now, size) + size);
    return (char *)block + 16;
}

static void measure_release(void *ctx, void *memory)
{
    size_t *block = (size_t *)(void *)((char *)memory - 16);
    atomic_fetch_sub(&((meter *)ctx)->now, *block);
    free(block);
}

static void *measure_resize(void *ctx, void *memory, size_t size)
{
    size_t *block = realloc((char *)memory - 16, size + 16), before = *block;
    *block = size;
    note(ctx, atomic_fetch_add(&((meter *)ctx)->now, size - before) + size - before);
    return (char *)block + 16;
}

static void limit_each(run_fn run, unsigned n_threads)
{
    bytes whole = {0};
    size_t n_refused = 0, n_fine = 0;
    must_be_ok(run(NULL, &whole, NULL), NULL);
    for (uint64_t limit = 1024; n_fine < 3; limit += limit / 8) {
        meter memory = {0};
        gsa_budget budget = {.limit = limit};
        gsa_env env = {
            measure_zeroed, measure_zeroed, measure_resize, measure_release, &memory, &budget, NULL, NULL, 0};
        env.n_threads = n_threads;
        bytes out = {0};
        gsa_error error = {0};
        gsa_status status = run(&env, &out, &error);
        if (status != GSA_OK && (status != GSA_LIMIT || !strstr(error.message, "memory limit")))
            fail_msg("limit %llu: status %d, %s", (unsigned long long)limit, (int)status, error.message);
        if (status == GSA_OK && (out.size != whole.size || memcmp(out.data, whole.data, out.size) != 0))
            fail_msg("limit %llu: the result is another", (unsigned long long)limit);
        if (atomic_load(&memory.most) > limit || budget.used != 0 || atomic_load(&memory.now) != 0)
            fail_msg("limit %llu: %zu bytes were taken, %zu are left", (unsigned long long)limit,
                     atomic_load(&memory.most), budget.used);
        n_refused += status != GSA_OK;
        n_fine += status == GSA_OK;
        free(out.data);
    }
    assert_true(n_refused > 5);
    free(whole.data);
}

/* ---- the runs ---------------------------------------------------------------------------------------------------- */

/* Trains with these parameters (name, value ..., NULL) on a text. */
static gsa_status train_on(const char *text, const char *const *params, const gsa_env *env, bytes *out,
                           gsa_error *error)
{
    gsa_config *config = NULL;
    gsa_state *state = NULL;
    gsa_reader *reader = NULL;
    gsa_reader_options options = {.remember_names = 1, .bits = 6};
    gsa_status status = gsa_config_new(env, &config, error);
    for (; status == GSA_OK && *params; params += 2)
        status = gsa_config_set(config, params[0], params[1], error);
    if (status == GSA_OK)
        status = gsa_state_new(config, env, &state, error);
    if (status == GSA_OK)
        status = gsa_reader_open_memory(text, strlen(text), "rows", &options, env, &reader, error);
    if (status == GSA_OK)
        status = gsa_train(state, reader, NULL, env, error);
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

static gsa_status train_team(const gsa_env *env, bytes *out, gsa_error *error)
{
    return train_on(NUMBERED, (const char *const[]){"passes", "2", NULL}, env, out, error);
}

static gsa_status train_alone(const gsa_env *env, bytes *out, gsa_error *error)
{
    return train_on(NUMBERED, (const char *const[]){"method", "gsa", "passes", "2", NULL}, env, out, error);
}

static gsa_status train_shards(const gsa_env *env, bytes *out, gsa_error *error)
{
    return train_on(NUMBERED, (const char *const[]){"shards", "2", "passes", "1", NULL}, env, out, error);
}

static gsa_status train_table(const gsa_env *env, bytes *out, gsa_error *error)
{
    return train_on(TABLE, (const char *const[]){"method", "gsa", "passes", "1", NULL}, env, out, error);
}

static gsa_status train_words(const gsa_env *env, bytes *out, gsa_error *error)
{
    return train_on(WORDS, (const char *const[]){"method", "gsa", "passes", "1", NULL}, env, out, error);
}

static gsa_state *trained_on(uint64_t seed)
{
    gsa_state *state = state_with("method", "auto", "passes", "1", NULL);
    gsa_reader *reader = generated(60, 2, seed);
    must_be_ok(gsa_train(state, reader, NULL, NULL, NULL), NULL);
    gsa_reader_close(reader);
    return state;
}

static gsa_status merge_two(const gsa_env *env, bytes *out, gsa_error *error)
{
    gsa_state *first = trained_on(1), *second = trained_on(2), *merged = NULL;
    const gsa_state *both[] = {first, second};
    gsa_status status = gsa_state_merge(both, 2, NULL, env, &merged, error);
    if (status == GSA_OK)
        status = gsa_state_write(merged, append, out, error);
    gsa_state_free(merged);
    gsa_state_free(first);
    gsa_state_free(second);
    return status;
}

static gsa_status read_and_finish(const gsa_env *env, bytes *out, gsa_error *error)
{
    gsa_state *state = trained_on(1), *again = NULL;
    gsa_model *model = NULL;
    bytes file = state_bytes(state);
    gsa_status status = gsa_state_read(file.data, file.size, env, &again, error);
    if (status == GSA_OK)
        status = gsa_state_finish(again, env, &model, error);
    if (status == GSA_OK)
        status = gsa_model_write(model, append, out, error);
    gsa_model_free(model);
    gsa_state_free(again);
    gsa_state_free(state);
    free(file.data);
    return status;
}

static gsa_status evaluate_model(const gsa_env *env, bytes *out, gsa_error *error)
{
    gsa_state *state = trained_on(1);
    gsa_model *model = model_of(state);
    gsa_reader *reader = NULL;
    gsa_metrics *metrics = NULL;
    gsa_metric metric;
    gsa_status status = gsa_reader_open_memory(NUMBERED, sizeof NUMBERED - 1, "rows", NULL, env, &reader, error);
    if (status == GSA_OK)
        status = gsa_metrics_new(model, env, &metrics, error);
    if (status == GSA_OK)
        status = gsa_evaluate(metrics, reader, env, error);
    if (status == GSA_OK)
        status = gsa_metrics_finish(metrics, error);
    for (size_t i = 0; status == GSA_OK && gsa_metrics_at(metrics, i, &metric); i++)
        append(out, &metric.value, sizeof metric.value);
    gsa_metrics_free(metrics);
    gsa_reader_close(reader);
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

static gsa_status predict_rows(const gsa_env *env, bytes *out, gsa_error *error)
{
    gsa_state *state = trained_on(1);
    gsa_model *model = model_of(state);
    gsa_reader *reader = NULL;
    gsa_predict_hooks hooks = {.ctx = out, .text = GSA_TEXT_JSONL, .every_class = 1, .take = take_lines};
    gsa_status status = gsa_reader_open_memory(NUMBERED, sizeof NUMBERED - 1, "rows", NULL, env, &reader, error);
    if (status == GSA_OK)
        status = gsa_predict(model, reader, &hooks, env, error);
    gsa_reader_close(reader);
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
