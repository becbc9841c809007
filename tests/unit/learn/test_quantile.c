/* The quantile loss: its definition, heavy rows, what the solver and greedy steps find, and what is refused. */
#define MAX_ROWS 16384
#include "bytes.h"

#include "learn/inside.h"
#include "learn/loss/loss.h"
#include "learn/results.h"

#include "greedystep/train.h"

#include <math.h>
#include <string.h>

static void the_loss_is_that_of_its_definition(void **unused)
{
    (void)unused;
    static const double residuals[] = {-8, -1, -0.01, 0, 0.01, 2};
    for (size_t i = 0; i < sizeof residuals / sizeof *residuals; i++)
        for (double q = 0.1; q < 1; q += 0.2) {
            gsai_target target = {.y = 5, .width = 1, .quantile = q};
            double r = residuals[i], m = 5 + r, at = m;
            assert_close(gsai_loss_quantile.value(&at, 1, &target), r > 0 ? (1 - q) * r : -q * r, 1e-12);
            gsai_greedy_step step = gsai_loss_quantile.greedy_step(&at, 1, &target);
            assert_true(at == step.g && step.lambda > 0 && step.lambda < 0.1);
            if (fabs(r) > 0.1)
                assert_close(step.g, r > 0 ? 1 - q : -q, 1e-12);
            target.width = 0; /* not known yet: nothing moves */
            assert_true(gsai_loss_quantile.greedy_step(&m, 1, &target).g == 0);
        }
}

/* c rows of weight 1, one after the other, in steps so small that their order does not matter. */
static void a_heavy_row_moves_as_many_rows_would(void **unused)
{
    (void)unused;
    gsai_target target = {.y = 0, .width = 10, .quantile = 0.25};
    for (double c = 1.5; c < 200; c *= 1.7)
        for (double m = 0.5; m < 9; m *= 2) {
            const double e = 1e-3;
            double at = m, moved = m;
            gsai_greedy_step step = gsai_loss_quantile.greedy_step(&at, 1, &target);
            for (int i = 0; i < (int)(c * 100); i++) {
                double now = moved;
                moved -= e / 100 * gsai_loss_quantile.greedy_step(&now, 1, &target).g;
            }
            double steps = gsai_loss_quantile.repeats(&at, 1, &target, &step, e, c);
            assert_close(m - steps * e * step.g, moved, 0.1 * (m - moved) + 1e-9);
        }
}

/* Labels of 3 + 2 x and an exponential error, whose quantile q is -log(1 - q), as an optimum or by greedy steps. */
enum { N = 12000 };
static gsa_state *learned(const char *method, const char *quantile, double scale)
{
    gsa_error error = {0};
    gsa_config *config = NULL;
    gsa_state *state = NULL;
    gsa_reader *reader = NULL;
    rows *r = rows_new();
    gsai_rng rng = gsai_rng_of(5, 0, 0);
    for (size_t i = 0; i < N; i++) {
        float x = (float)gsai_rng_unit(&rng);
        rows_entry(r, 0, x);
        rows_end(r, scale * (3 + 2 * (double)x - log(1 - gsai_rng_unit(&rng))));
    }
    const rows *left = r;
    gsa_row_source source = {.size = sizeof source, .ctx = &left, .next = rows_next};
    const char *const params[][2] = {
        {"loss", "quantile"}, {"method", method}, {"quantile", quantile}, {"curves", "off"}};
    must_be_ok(gsa_config_new(NULL, &config, &error), &error);
    for (size_t i = 0; i < sizeof params / sizeof *params; i++)
        must_be_ok(gsa_config_set(config, params[i][0], params[i][1], &error), &error);
    must_be_ok(gsa_state_new(config, NULL, &state, &error), &error);
    must_be_ok(gsa_reader_open_rows(&source, NULL, NULL, &reader, &error), &error);
    must_be_ok(gsa_train(state, reader, NULL, NULL, &error), &error);
    gsa_reader_close(reader);
    gsa_config_free(config);
    free(r);
    return state;
}

static void quantiles_of_known_errors_are_found(void **unused)
{
    (void)unused;
    static const char *const methods[] = {"optimum", "gsa"}, *const quantiles[] = {"0.1", "0.5", "0.9"};
    for (size_t i = 0; i < 2 * 3 * 2; i++) {
        gsa_error error = {0};
        gsa_model *model = NULL;
        double scale = i % 2 == 0 ? 1 : 1e-6, q = strtod(quantiles[i / 4], NULL);
        gsa_state *state = learned(methods[i / 2 % 2], quantiles[i / 4], scale);
        must_be_ok(gsa_state_finish(state, NULL, &model, &error), &error);
        assert_close((double)gsa_model_weight(model, 0, 0) / scale, 2, 0.3);
        assert_close(gsa_model_intercept(model, 0) / scale, 3 - log(1 - q), 0.2);
        gsa_state *again = reread(state);
        same_states(state, again);
        gsa_metric metric;
        for (size_t k = 0; gsa_model_result_at(model, k, &metric) == GSA_OK; k++)
            if (strcmp(metric.name, "below") == 0)
                assert_close(metric.value, q, 0.03);
        gsa_model_free(model);
        gsa_state_free(again);
        gsa_state_free(state);
    }
}

static void quantiles_are_refused_where_they_mean_nothing(void **unused)
{
    (void)unused;
    static const char *const wrong[] = {"", "0", "1", "1.5", "0.", "-0.5", "0.5x", "nan", "0.0000001", ".9999999"};
    gsa_error error = {0};
    gsa_config *config = NULL;
    gsa_state *state = NULL, *other = learned("optimum", "0.9", 1);
    must_be_ok(gsa_config_new(NULL, &config, &error), &error);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(gsa_config_set(config, "quantile", wrong[i], &error), GSA_ARGUMENT);
    must_be_ok(gsa_config_set(config, "quantile", ".250", &error), &error);
    must_be_ok(gsa_config_set(config, "loss", "quantile", &error), &error);
    must_be_ok(gsa_state_new(config, NULL, &state, &error), &error);
    assert_string_equal(gsa_state_get(state, "quantile"), "0.25");
    gsa_state_free(state);
    assert_int_equal(gsa_state_start_from(other, config, &state, &error), GSA_CONFLICT);
    must_be_ok(gsa_config_set(config, "loss", "squared", &error), &error);
    assert_int_equal(gsa_state_new(config, NULL, &state, &error), GSA_ARGUMENT);
    assert_string_equal(error.param, "quantile");
    gsa_config_free(config);
    gsa_state_free(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_loss_is_that_of_its_definition),
        cmocka_unit_test(a_heavy_row_moves_as_many_rows_would),
        cmocka_unit_test(quantiles_of_known_errors_are_found),
        cmocka_unit_test(quantiles_are_refused_where_they_mean_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
