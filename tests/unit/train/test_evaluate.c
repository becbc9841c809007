/* Evaluation on threads comes to the results and failures of one. */
#include "runs.h"

#include <math.h>

enum { MAX_RESULTS = 32, N_ROWS = 140000 /* three blocks */ };

typedef struct results {
    gsa_metric of[MAX_RESULTS];
    size_t n;
} results;

static void keep_results(void *ctx, const gsa_metrics *metrics)
{
    results *to = ctx;
    to->n = 0;
    while (gsa_metrics_at(metrics, to->n, &to->of[to->n]) == GSA_OK)
        to->n++;
}

static char *text_of(uint64_t n_rows, int is_number, int is_table)
{
    char *text = malloc(n_rows * 64 + 64), *at = text;
    uint64_t x = 7;
    assert_non_null(text);
    at += is_table ? sprintf(at, "label,a,b,c\n") : 0;
    for (uint64_t i = 0; i < n_rows; i++) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        double a = (double)(x >> 40) / 1e6, b = (double)(x >> 50) / 1e3;
        double y = is_number ? 3 * a - b + (double)(x >> 60) : a + b > 16 ? 1 : 0;
        at += sprintf(at, is_table ? "%.3f,%.4f,%.4f,%u\n" : "%.3f 1:%.4f 2:%.4f 3:%u\n", y, a, b, (unsigned)(x >> 58));
    }
    return text;
}

/* A model that is wrong enough. */
static gsa_state *learned(const char *text, const char *loss)
{
    gsa_error error = {0};
    gsa_reader *reader = text_reader(text, NULL);
    gsa_state *state = state_with("loss", loss, "passes", "1", "method", "auto", NULL);
    must_be_ok(gsa_train(state, reader, NULL, NULL, &error), &error);
    gsa_reader_close(reader);
    return state;
}

static void must_be_equal(const results *a, const results *b, double within)
{
    assert_int_equal(a->n, b->n);
    for (size_t i = 0; i < a->n; i++) {
        assert_string_equal(a->of[i].name, b->of[i].name);
        if (within > 0)
            assert_true(fabs(a->of[i].value - b->of[i].value) <= within * fabs(a->of[i].value));
        else
            assert_memory_equal(&a->of[i].value, &b->of[i].value, sizeof(double));
    }
}

/* One thread, which is the caller's, is what others are compared with; a row that cannot be judged comes after many. */
static void results_and_failures_do_not_depend_on_the_number_of_threads(void **unused)
{
    (void)unused;
    static const char *const losses[] = {"squared", "logistic", "softmax", "hinge"};
    for (size_t i = 0; i < 8; i++) {
        char *text = text_of(N_ROWS, i % 4 == 0, 0), *other = text_of(500, i % 4 == 0, 0);
        gsa_state *state = learned(other, losses[i % 4]);
        gsa_error error = {0}, first_error = {0};
        results first = {0};
        gsa_model *model;
        char *label = strchr(text + strlen(text) / 2, '\n') + 1;
        if (i >= 4)
            memset(label, 'w', strcspn(label, " ")); /* a word: no number, and no class that is known */
        must_be_ok(gsa_state_finish(state, NULL, &model, &error), &error);
        for (unsigned n_threads = 1; n_threads <= 5; n_threads += 2) {
            const gsa_call call = {.size = sizeof call, .n_threads = n_threads};
            gsa_metrics *metrics;
            gsa_reader *reader = text_reader(text, NULL);
            must_be_ok(gsa_metrics_new(model, &metrics, &error), &error);
            gsa_status status = gsa_evaluate(metrics, reader, &call, &error);
            results found = {0};
            if (status == GSA_OK)
                must_be_ok(gsa_metrics_finish(metrics, &error), &error);
            keep_results(&found, metrics);
            if (n_threads == 1) {
                first = found;
                first_error = error;
            }
            assert_int_equal(status, i == 4 ? GSA_LABEL : GSA_OK);
            must_be_equal(&first, &found, 0);
            assert_string_equal(first_error.message, error.message);
            gsa_metrics_free(metrics);
            gsa_reader_close(reader);
        }
        gsa_model_free(model);
        gsa_state_free(state);
        free(text);
        free(other);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_and_failures_do_not_depend_on_the_number_of_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
