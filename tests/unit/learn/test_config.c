/* The parameter table. */
#include "rows.h"

#include "learn/config.h"

static gsa_config *config_new(void)
{
    gsa_config *config;
    assert_int_equal(gsa_config_new(NULL, &config, NULL), GSA_OK);
    return config;
}

static void every_default_is_a_value_that_can_be_set(void **unused)
{
    (void)unused;
    gsa_config *config = config_new();
    for (size_t i = 0; i < GSAI_PARAMS; i++) {
        const gsa_param *param = gsa_param_at(i);
        gsa_error error = {0};
        assert_string_equal(gsai_params_get(&config->params, param->name), param->initial);
        must_be_ok(gsa_config_set(config, param->name, param->initial, &error), &error);
        assert_string_equal(gsai_params_get(&config->params, param->name), param->initial);
        assert_true(param->help == NULL || strlen(param->help) > 10);
    }
    assert_null(gsa_param_at(GSAI_PARAMS));
    gsa_config_free(config);
}

static void a_misspelt_name_gets_a_suggestion(void **unused)
{
    (void)unused;
    gsa_config *config = config_new();
    gsa_error error;
    assert_int_equal(gsa_config_set(config, "pases", "3", &error), GSA_ARGUMENT);
    assert_non_null(strstr(error.message, "did you mean 'passes'"));
    assert_int_equal(gsa_config_set(config, "zzzzzzzz", "3", &error), GSA_ARGUMENT);
    assert_null(strstr(error.message, "did you mean"));
    assert_null(gsai_params_get(&config->params, "pases"));
    gsa_config_free(config);
}

static void values_outside_the_table_are_refused_and_named(void **unused)
{
    (void)unused;
    gsa_config *config = config_new();
    gsa_error error;
    assert_int_equal(gsa_config_set(config, "loss", "tukey", &error), GSA_ARGUMENT);
    assert_non_null(strstr(error.message, "auto|squared|"));
    assert_int_equal(gsa_config_set(config, "passes", "1000001", &error), GSA_ARGUMENT);
    assert_int_equal(gsa_config_set(config, "passes", "-1", &error), GSA_ARGUMENT);
    assert_int_equal(gsa_config_set(config, "passes", "2.5", &error), GSA_ARGUMENT);
    assert_int_equal(gsa_config_set(config, "passes", "", &error), GSA_ARGUMENT);
    assert_int_equal(gsa_config_set(config, "seed", "18446744073709551616", &error), GSA_ARGUMENT);
    assert_int_equal(gsa_config_set(config, "intercept", "maybe", &error), GSA_ARGUMENT);
    assert_string_equal(gsai_params_get(&config->params, "passes"), "auto");
    gsa_config_free(config);
}

static void a_word_is_asked_for_in_place_of_0(void **unused)
{
    (void)unused;
    static const char *const cases[][2] = {
        {"passes", "passes is '0', expected auto or a whole number from 1 to 1000000"},
        {"shards", "shards is '0', expected none or a whole number from 1 to 65536"},
        {"holdout", "holdout is '0', expected one of auto|none"}};
    gsa_config *config = config_new();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        gsa_error error;
        assert_int_equal(gsa_config_set(config, cases[i][0], "0", &error), GSA_ARGUMENT);
        assert_string_equal(error.message, cases[i][1]);
        assert_int_equal(gsa_config_set(config, cases[i][0], "N", &error), GSA_ARGUMENT);
    }
    must_be_ok(gsa_config_set(config, "holdout", "none", NULL), NULL);
    assert_int_equal(gsai_params_holdout(&config->params), 0);
    must_be_ok(gsa_config_set(config, "holdout", "auto", NULL), NULL);
    assert_int_equal(gsai_params_holdout(&config->params), 16384);
    gsa_config_free(config);
}

static void equal_values_have_equal_texts(void **unused)
{
    (void)unused;
    gsa_config *config = config_new();
    gsa_error error = {0};
    must_be_ok(gsa_config_set(config, "passes", "1_0e1", &error), &error);
    assert_string_equal(gsai_params_get(&config->params, "passes"), "100");
    must_be_ok(gsa_config_set(config, "seed", "18446744073709551615", &error), &error);
    assert_string_equal(gsai_params_get(&config->params, "seed"), "18446744073709551615");
    must_be_ok(gsa_config_set(config, "intercept", "no", &error), &error);
    assert_string_equal(gsai_params_get(&config->params, "intercept"), "off");
    gsa_config_free(config);
}

static void a_run_that_has_begun_changes_only_its_passes(void **unused)
{
    (void)unused;
    gsa_state *state = state_with("loss", "logistic", NULL);
    gsa_error error;
    assert_int_equal(gsa_state_set(state, "seed", "3", &error), GSA_OK);
    learn_random(state, 1, 10, 12, 2);
    assert_int_equal(gsa_state_set(state, "seed", "4", &error), GSA_CONFLICT);
    assert_int_equal(gsa_state_set(state, "seed", "3", &error), GSA_OK);
    assert_int_equal(gsa_state_set(state, "passes", "9", &error), GSA_OK);
    assert_string_equal(gsa_state_get(state, "passes"), "9");
    gsa_state_free(state);
}

static void parameters_are_read_back_as_numbers(void **unused)
{
    (void)unused;
    static const struct {
        const char *name, *text;
        uint64_t number;
    } cases[] = {{"passes", "auto", GSA_COUNT_AUTO},
                 {"passes", "7", 7},
                 {"shards", "none", 0},
                 {"seed", "18446744073709551615", UINT64_MAX},
                 {"intercept", "off", 0},
                 {"compact", "yes", 1},
                 {"method", "gsa", 2},
                 {"order", "auto", 0}};
    gsa_error error;
    uint64_t number = 99;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        gsa_state *state = state_with(cases[i].name, cases[i].text, NULL);
        must_be_ok(gsa_state_get_number(state, cases[i].name, &number, &error), &error);
        assert_int_equal(number, cases[i].number);
        assert_int_equal(gsa_state_get_number(state, "pases", &number, &error), GSA_ARGUMENT);
        gsa_state_free(state);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_default_is_a_value_that_can_be_set),
        cmocka_unit_test(a_misspelt_name_gets_a_suggestion),
        cmocka_unit_test(values_outside_the_table_are_refused_and_named),
        cmocka_unit_test(a_word_is_asked_for_in_place_of_0),
        cmocka_unit_test(equal_values_have_equal_texts),
        cmocka_unit_test(a_run_that_has_begun_changes_only_its_passes),
        cmocka_unit_test(parameters_are_read_back_as_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
