/* The schema: a text that goes wherever a state goes, and keeps states of different columns apart. */
#include "bytes.h"

static const char *const colours = "greedystep schema 2\nlabel y\nwords colour\n";
static const char *const sizes = "greedystep schema 2\nlabel y\nnumber size\n";

static gsa_state *state_of(uint64_t seed, const char *schema)
{
    gsa_error error = {0};
    gsa_state *state = state_with("method", "gsa", "max_held_out", "8", NULL);
    must_be_ok(gsa_state_set_schema(state, schema, &error), &error);
    learn_random(state, seed, 100, 20, 2);
    return state;
}

static void a_schema_goes_with_copies_merges_models_and_files(void **unused)
{
    (void)unused;
    gsa_error error = {0};
    gsa_state *a = state_of(1, colours), *b = state_of(2, colours), *made[4];
    const gsa_state *pair[] = {a, b};
    made[0] = forked(a, 1);
    made[1] = started_from(a);
    made[2] = merged(pair, 2, NULL);
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
    free_states(a, b);
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
    free_states(a, b, c);
}

static void a_schema_changes_only_before_the_first_row(void **unused)
{
    (void)unused;
    gsa_error error = {0};
    gsa_state *fresh = state_with("method", "gsa", "max_held_out", "8", NULL), *begun = state_of(1, colours);
    must_be_ok(gsa_state_set_schema(fresh, colours, &error), &error);
    must_be_ok(gsa_state_set_schema(fresh, NULL, &error), &error);
    assert_null(gsa_state_schema(fresh));
    must_be_ok(gsa_state_set_schema(begun, colours, &error), &error);
    assert_int_equal(gsa_state_set_schema(begun, sizes, &error), GSA_CONFLICT);
    assert_int_equal(gsa_state_set_schema(begun, NULL, &error), GSA_CONFLICT);
    assert_string_equal(gsa_state_schema(begun), colours);
    free_states(fresh, begun);
}

/* ---- names ------------------------------------------------------------------------------------------------------ */

/* Names for features of an even id. */
static const char *even_name(const void *texts, uint64_t feature)
{
    return feature % 2 == 0 && feature < 20 ? ((const char *const *)texts)[feature / 2] : NULL;
}

static const char *const letters[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"};

static void names_go_with_merges_models_and_files(void **unused)
{
    (void)unused;
    gsa_error error = {0};
    gsa_state *a = state_of(1, colours), *b = state_of(2, colours), *both;
    must_be_ok(gsa_state_set_names(a, even_name, letters, &error), &error);
    const gsa_state *pair[] = {b, a};
    both = merged(pair, 2, NULL);
    gsa_state *again = reread(both);
    gsa_model *model, *read;
    must_be_ok(gsa_state_finish(again, NULL, &model, &error), &error);
    bytes file = {0};
    must_be_ok(gsa_model_write(model, append, &file, &error), &error);
    must_be_ok(gsa_model_read(file.data, file.size, NULL, &read, &error), &error);
    for (uint64_t id = 0; id < 25; id++) {
        const char *expected = even_name(letters, id), *found = gsa_model_name(read, id);
        assert_true(expected ? found && strcmp(found, expected) == 0 : !found);
    }
    free(file.data);
    gsa_model_free(model);
    gsa_model_free(read);
    free_states(a, b, both, again);
}

static const char *any_name(const void *ctx, uint64_t feature)
{
    (void)ctx;
    (void)feature;
    return "x";
}

/* One row a feature; features from 1000 on have larger values and so larger weights. */
static void names_are_those_of_the_strongest(void **unused)
{
    (void)unused;
    enum { N = 70000 };
    gsa_error error = {0};
    int64_t row_start[3] = {0, N, N};
    uint32_t *index = malloc(N * sizeof *index);
    float *value = malloc(N * sizeof *value);
    for (uint32_t i = 0; i < N; i++) {
        index[i] = i;
        value[i] = i < 1000 ? 0.001f : 1;
    }
    double label[2] = {1, 0}; /* a feature that every row has does not vary */
    gsa_batch batch = {.n_rows = 2, .row_start = row_start, .index = index, .value = value, .label = label};
    gsa_state *state = state_with("loss", "squared", "method", "paper", NULL);
    learn(state, &batch);
    must_be_ok(gsa_state_set_names(state, any_name, NULL, &error), &error);
    gsa_model *model;
    must_be_ok(gsa_state_finish(state, NULL, &model, &error), &error);
    size_t n_named = 0;
    for (uint64_t id = 0; id < N; id++)
        n_named += gsa_model_name(model, id) != NULL;
    assert_int_equal(n_named, 65536);
    assert_null(gsa_model_name(model, 999));
    assert_non_null(gsa_model_name(model, 1000));
    gsa_model_free(model);
    gsa_state_free(state);
    free(index);
    free(value);
}

static void a_position_goes_with_copies_and_files_but_not_with_a_new_run(void **unused)
{
    (void)unused;
    gsa_error error = {0};
    char text[GSA_MAX_POSITION + 2];
    gsa_state *state = state_of(1, NULL);
    assert_string_equal(gsa_state_position(state), "");
    memset(text, 'x', sizeof text);
    text[GSA_MAX_POSITION + 1] = '\0';
    must_be_ok(gsa_state_set_position(state, "clicks/0/\xC3\xA9\"17", &error), &error);
    assert_int_equal(gsa_state_set_position(state, text, &error), GSA_ARGUMENT);
    assert_int_equal(gsa_state_set_position(state, "\xFF", &error), GSA_ARGUMENT);
    gsa_state *fork = forked(state, 1), *again = reread(state), *later = started_from(state);
    assert_string_equal(gsa_state_position(fork), "clicks/0/\xC3\xA9\"17");
    assert_string_equal(gsa_state_position(again), "clicks/0/\xC3\xA9\"17");
    assert_string_equal(gsa_state_position(later), "");
    text[GSA_MAX_POSITION] = '\0';
    must_be_ok(gsa_state_set_position(again, text, &error), &error);
    must_be_ok(gsa_state_set_position(state, NULL, &error), &error);
    assert_string_equal(gsa_state_position(state), "");
    assert_string_equal(gsa_state_position(again), text);
    free_states(state, fork, again, later);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_schema_goes_with_copies_merges_models_and_files),
        cmocka_unit_test(states_of_different_columns_are_not_merged),
        cmocka_unit_test(a_schema_changes_only_before_the_first_row),
        cmocka_unit_test(names_go_with_merges_models_and_files),
        cmocka_unit_test(names_are_those_of_the_strongest),
        cmocka_unit_test(a_position_goes_with_copies_and_files_but_not_with_a_new_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
