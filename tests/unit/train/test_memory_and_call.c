/* Who has whose memory, and which call a stop request ends. */
#include "runs.h"
#include "support/failing_memory.h"

static gsa_state *trained_in(const gsa_memory *memory, uint64_t seed)
{
    gsa_error error = {0};
    gsa_config *config = config_with("passes", "1", NULL);
    gsa_state *state;
    gsa_reader *reader = generated(300, 2, seed);
    must_be_ok(gsa_state_new(config, memory, &state, &error), &error);
    must_be_ok(gsa_train(state, reader, NULL, NULL, &error), &error);
    gsa_reader_close(reader);
    gsa_config_free(config);
    return state;
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

/* What there was before something was made. */
typedef struct levels {
    failing *memory;
    gsa_budget *budget;
    size_t live, used;
} levels;

static levels levels_now(failing *memory, gsa_budget *budget)
{
    return (levels){memory, budget, memory->live, budget->used};
}

static void must_be_above(const levels *before)
{
    assert_true(before->memory->live > before->live);
    assert_true(before->budget->used > before->used);
}

static void must_be_back(const levels *before)
{
    assert_int_equal(before->memory->live, before->live);
    assert_int_equal(before->budget->used, before->used);
}

static gsa_status fork_one(const gsa_state *state, gsa_state **out, gsa_error *error)
{
    return gsa_state_fork(state, 2, out, error);
}

static gsa_status start_next(const gsa_state *state, gsa_state **out, gsa_error *error)
{
    return gsa_state_start_from(state, NULL, out, error);
}

/* With a state that is elsewhere: the first one decides. */
static gsa_status merge_with_another(const gsa_state *state, gsa_state **out, gsa_error *error)
{
    gsa_state *other = trained_in(NULL, 2);
    const gsa_state *both[] = {state, other};
    gsa_status status = gsa_state_merge(both, 2, NULL, NULL, out, error);
    gsa_state_free(other);
    return status;
}

static void a_state_made_of_another_has_its_allocator_and_counts_in_its_budget(void **unused)
{
    (void)unused;
    gsa_status (*const make[])(const gsa_state *, gsa_state **, gsa_error *) = {fork_one, start_next,
                                                                                merge_with_another};
    failing memory = {.left = SIZE_MAX};
    gsa_budget budget = {.size = sizeof budget};
    gsai_env env = failing_env(&memory);
    env.memory.budget = &budget;
    gsa_state *state = trained_in(&env.memory, 1);
    for (size_t i = 0; i < sizeof make / sizeof *make; i++) {
        gsa_error error = {0};
        gsa_state *made = NULL;
        levels before = levels_now(&memory, &budget);
        must_be_ok(make[i](state, &made, &error), &error);
        must_be_above(&before);
        gsa_state_free(made);
        must_be_back(&before);
        budget.limit = budget.used;
        assert_int_equal(make[i](state, &made, &error), GSA_LIMIT);
        budget.limit = 0;
        must_be_back(&before);
    }
    gsa_state_free(state);
    assert_int_equal(memory.live, 0);
}

static void a_model_and_its_metrics_have_the_memory_of_the_state(void **unused)
{
    (void)unused;
    failing memory = {.left = SIZE_MAX};
    gsa_budget budget = {.size = sizeof budget};
    gsai_env env = failing_env(&memory);
    env.memory.budget = &budget;
    gsa_error error = {0};
    gsa_state *state = trained_in(&env.memory, 1);
    gsa_model *model, *other;
    gsa_metrics *metrics;
    levels first = levels_now(&memory, &budget);
    must_be_ok(gsa_state_finish(state, NULL, &model, &error), &error);
    must_be_above(&first);
    levels second = levels_now(&memory, &budget);
    must_be_ok(gsa_metrics_new(model, &metrics, &error), &error);
    must_be_above(&second);
    gsa_metrics_free(metrics);
    must_be_back(&second);
    must_be_ok(gsa_model_with_weights(model, 1, (const float[]){1}, NULL, &other, &error), &error);
    must_be_above(&second);
    gsa_model_free(other);
    must_be_back(&second);
    gsa_model_free(model);
    must_be_back(&first);
    gsa_state_free(state);
    assert_int_equal(memory.live, 0);
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

typedef struct asked {
    int answer;
    unsigned n;
} asked;

static int answer(void *ctx)
{
    asked *a = ctx;
    a->n++;
    return a->answer;
}

static void a_call_is_stopped_by_its_own_struct_and_no_later_one(void **unused)
{
    (void)unused;
    enum { CLASSES = 300 }; /* so many that calibration asks too */
    asked stop = {.answer = 1};
    gsa_call call = {.size = sizeof call, .should_stop = answer, .ctx = &stop, .n_threads = 1};
    gsa_error error = {0};
    gsa_state *state = state_with("method", "gsa", "passes", "1", NULL), *copy;
    gsa_reader *reader = generated(3000, CLASSES, 1);
    assert_int_equal(gsa_train(state, reader, NULL, &call, &error), GSA_STOPPED);
    assert_true(stop.n > 0);
    stop.answer = 0;
    stop.n = 0;
    must_be_ok(gsa_reader_rewind(reader, &error), &error);
    must_be_ok(gsa_train(state, reader, NULL, &call, &error), &error);
    assert_true(stop.n > 0);
    stop = (asked){.answer = 1};
    assert_int_equal(gsa_state_checkpoint_best(state, &call, &error), GSA_STOPPED);
    stop.n = 0;
    gsa_model *model = model_of(state);
    must_be_ok(gsa_state_checkpoint_best(state, NULL, &error), &error);
    must_be_ok(gsa_state_fork(state, 1, &copy, &error), &error);
    bytes whole = state_bytes(copy);
    assert_int_equal(stop.n, 0);
    free(whole.data);
    gsa_model_free(model);
    free_states(copy, state);
    gsa_reader_close(reader);
}

static void a_file_that_is_not_loaded_on_request_can_be_loaded_without_one(void **unused)
{
    (void)unused;
    char path[] = "/tmp/gsa-call-test-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    asked stop = {.answer = 1};
    gsa_call call = {.size = sizeof call, .should_stop = answer, .ctx = &stop};
    gsa_error error = {0};
    gsa_state *state = trained_in(NULL, 1), *loaded = NULL;
    must_be_ok(gsa_state_save(state, path, &error), &error);
    assert_int_equal(gsa_state_load(path, NULL, &call, &loaded, &error), GSA_STOPPED);
    assert_null(loaded);
    must_be_ok(gsa_state_load(path, NULL, NULL, &loaded, &error), &error);
    same_states(state, loaded);
    free_states(loaded, state);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_state_made_of_another_has_its_allocator_and_counts_in_its_budget),
        cmocka_unit_test(a_model_and_its_metrics_have_the_memory_of_the_state),
        cmocka_unit_test(a_call_is_stopped_by_its_own_struct_and_no_later_one),
        cmocka_unit_test(a_file_that_is_not_loaded_on_request_can_be_loaded_without_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
