/* The schema: a text that goes wherever a state goes, and keeps states of different columns apart. */
#include "bytes.h"

static const char *const colours = "greedystep schema 1\nlabel y\nwords colour\n";
static const char *const sizes = "greedystep schema 1\nlabel y\nnumber size\n";

static gsa_state *state_of(uint64_t seed, const char *schema)
{
    gsa_error error = {0};
    rows *r = rows_random(seed, 100, 20, 2);
    gsa_batch batch = rows_batch(r);
    gsa_state *state = state_with("holdout", "8", NULL);
    must_be_ok(gsa_state_set_schema(state, schema, &error), &error);
    learn(state, &batch);
    free(r);
    return state;
}

static void a_schema_goes_with_copies_merges_models_and_files(void **unused)
{
    (void)unused;
    gsa_error error = {0};
    gsa_state *a = state_of(1, colours), *b = state_of(2, colours), *made[4];
    const gsa_state *pair[] = {a, b};
    must_be_ok(gsa_state_fork(a, NULL, &made[0], &error), &error);
    must_be_ok(gsa_state_start_from(a, NULL, NULL, &made[1], &error), &error);
    must_be_ok(gsa_state_merge(pair, 2, NULL, NULL, &made[2], &error), &error);
    made[3] = reread(a);
    for (size_t i = 0; i < 4; i++) {
        assert_string_equal(gsa_state_schema(made[i]), colours);
        gsa_state_free(made[i]);
    }
    gsa_model *model, *again;
    must_be_ok(gsa_state_finish(a, NULL, &model, &error), &error);
    bytes file = {0};
    must_be_ok(gsa_model_write(model, append, &file, &error), &error);
    must_be_ok(gsa_model_read(file.data, file.size, NULL, &again, &error), &error);
    assert_string_equal(gsa_model_schema(model), colours);
    assert_string_equal(gsa_model_schema(again), colours);
    free(file.data);
    gsa_model_free(model);
    gsa_model_free(again);
    gsa_state_free(a);
    gsa_state_free(b);
}

static void states_of_different_columns_are_not_merged(void **unused)
{
    (void)unused;
    gsa_error error = {0};
    gsa_state *a = state_of(1, colours), *b = state_of(2, sizes), *c = state_of(3, NULL), *out = NULL;
    const gsa_state *columns[] = {a, b}, *none[] = {a, c};
    assert_int_equal(gsa_state_merge(columns, 2, NULL, NULL, &out, &error), GSA_CONFLICT);
    assert_non_null(strstr(error.message, "states 1 and 2"));
    assert_non_null(strstr(error.message, "'words colour' of the one, 'number size' of the other"));
    assert_int_equal(gsa_state_merge(none, 2, NULL, NULL, &out, &error), GSA_CONFLICT);
    assert_non_null(strstr(error.message, "feature numbers"));
    gsa_state_free(a);
    gsa_state_free(b);
    gsa_state_free(c);
}

static void a_schema_changes_only_before_the_first_row(void **unused)
{
    (void)unused;
    gsa_error error = {0};
    gsa_state *fresh = state_with("holdout", "8", NULL), *begun = state_of(1, colours);
    must_be_ok(gsa_state_set_schema(fresh, colours, &error), &error);
    must_be_ok(gsa_state_set_schema(fresh, NULL, &error), &error);
    assert_null(gsa_state_schema(fresh));
    must_be_ok(gsa_state_set_schema(begun, colours, &error), &error);
    assert_int_equal(gsa_state_set_schema(begun, sizes, &error), GSA_CONFLICT);
    assert_int_equal(gsa_state_set_schema(begun, NULL, &error), GSA_CONFLICT);
    assert_string_equal(gsa_state_schema(begun), colours);
    gsa_state_free(fresh);
    gsa_state_free(begun);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_schema_goes_with_copies_merges_models_and_files),
        cmocka_unit_test(states_of_different_columns_are_not_merged),
        cmocka_unit_test(a_schema_changes_only_before_the_first_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
