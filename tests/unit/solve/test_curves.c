/* States with curves: what becomes of them on other knots, in files and in runs that go on. */
#include "models.h"

#include "learn/rebase.h"

#include "base/real.h"

/* n rows of five columns, the second mostly 0; labels bend in all of them but the last. Part: another draw. */
static rows *bent_rows(size_t n, uint64_t part, size_t n_classes)
{
    rows *r = rows_new();
    for (size_t i = 0; i < n; i++) {
        double x[5], score = normal_at(70 + part, i) / 4;
        for (uint32_t j = 0; j < 5; j++) {
            x[j] = unit_at(80 + part, 5 * i + j) * 4 - 2 + (j == 3 ? 10 : 0);
            x[j] = j == 1 && unit_at(90 + part, i) < 0.6 ? 0 : (double)(float)x[j];
            if (x[j] != 0)
                rows_entry(r, j, (float)x[j]);
        }
        score += fabs(x[0]) + x[1] * x[1] / 2 + (x[2] > 0) - fabs(x[3] - 10) + x[4] / 2;
        rows_end(r, n_classes == 0 ? score : (double)(size_t)(score < 0.3 ? 0 : score < 1.4 || n_classes == 2 ? 1 : 2));
    }
    return r;
}

static gsa_state *trained(const rows *r, const char *loss, const char *method, const char *form)
{
    gsa_state *state;
    gsa_error error = {0};
    bool has_pairs = strcmp(form, "pairs") == 0;
    const char *const params[] = {
        "loss", loss, "method", method, "curves", has_pairs ? "auto" : form, "pairs", has_pairs ? "auto" : "off", NULL};
    must_be_ok(try_training(r, params, NULL, &state, &error), &error);
    return state;
}

/* The largest difference of two states' predictions, relative to their spread. */
static double difference(gsa_state *a, gsa_state *b, const rows *r)
{
    size_t n, same;
    gsa_model *one = model_of(a), *other = model_of(b);
    double *p = predictions(one, r, &n), *q = predictions(other, r, &same), most = 0, spread = 0;
    assert_int_equal(n, same);
    for (size_t i = 0; i < n; i++) {
        most = fmax(most, fabs(p[i] - q[i]));
        spread = fmax(spread, fabs(p[i] - p[0]));
    }
    free(p);
    free(q);
    gsa_model_free(one);
    gsa_model_free(other);
    assert_true(spread > 0);
    return most / spread;
}

static const struct {
    const char *loss, *method;
    size_t n_classes;
} CASES[] = {{"squared", "optimum", 0}, {"logistic", "optimum", 2}, {"softmax", "optimum", 3},  {"logistic", "gsa", 2},
             {"softmax", "gsa", 3},     {"squared", "gsa", 0},      {"squared_hinge", "gsa", 2}};
enum { CASE_COUNT = sizeof CASES / sizeof *CASES };

static void a_state_on_more_knots_predicts_the_same(void **unused)
{
    (void)unused;
    for (size_t c = 0; c < CASE_COUNT; c++) {
        rows *r = bent_rows(1200, 0, CASES[c].n_classes), *s = bent_rows(1100, 1, CASES[c].n_classes);
        gsa_state *states[3] = {trained(r, CASES[c].loss, CASES[c].method, "auto"),
                                trained(s, CASES[c].loss, CASES[c].method, "auto"),
                                trained(s, CASES[c].loss, CASES[c].method, "off")};
        gsa_state *out[3] = {NULL};
        gsa_error error = {0};
        assert_true(gsai_state_basis(states[0])->n == 5 && gsai_state_basis(states[2])->n == 0);
        must_be_ok(gsai_states_rebase((const gsa_state *const *)states, 3, out, &error), &error);
        assert_true(gsai_bases_agree((const gsa_state *const *)out, 3));
        for (size_t i = 0; i < 3; i++) {
            double off = difference(states[i], out[i], r);
            if (off > 1e-5)
                print_message("%s %s state %zu: off by %g\n", CASES[c].loss, CASES[c].method, i, off);
            assert_true(off < 1e-5);
            for (uint32_t j = 0; j < 5; j++) /* its knots have the weight in its place */
                assert_true(!gsai_table_uses(gsai_state_table(out[i]), j + 1));
            gsa_state_free(states[i]);
            gsa_state_free(out[i]);
        }
        free(r);
        free(s);
    }
}

static void on_its_own_knots_a_state_is_what_it_was(void **unused)
{
    (void)unused;
    for (size_t c = 0; c < CASE_COUNT; c++) {
        rows *r = bent_rows(1200, 0, CASES[c].n_classes);
        gsa_state *state = trained(r, CASES[c].loss, CASES[c].method, "auto"), *out[1] = {NULL};
        gsa_error error = {0};
        must_be_ok(gsai_states_rebase((const gsa_state *const *)&state, 1, out, &error), &error);
        assert_true(gsai_basis_equals(gsai_state_basis(state), gsai_state_basis(out[0])));
        const gsai_table *a = gsai_state_table(state), *b = gsai_state_table(out[0]);
        assert_int_equal(a->n_slots, b->n_slots);
        for (size_t slot = 1; slot < a->n_slots; slot++) {
            assert_int_equal(gsai_state_n_seen(state, slot), gsai_state_n_seen(out[0], slot));
            assert_true(gsai_state_sum_sq(state, slot) == gsai_state_sum_sq(out[0], slot));
        }
        assert_true(difference(state, out[0], r) < 1e-5);
        gsa_state_free(state);
        gsa_state_free(out[0]);
        free(r);
    }
}

/* n rows of four columns, of which the first and another, by the part, act on one another. */
static rows *paired_rows(size_t n, uint32_t part, size_t n_classes)
{
    rows *r = rows_new();
    for (size_t i = 0; i < n; i++) {
        double x[4], score = normal_at(170 + part, i) / 8;
        for (uint32_t j = 0; j < 4; j++) {
            x[j] = (double)(float)(unit_at(180 + part, 4 * i + j) * (4 + part) - 2);
            rows_entry(r, j, (float)x[j]);
        }
        score += x[0] * x[1 + part] + fabs(x[3]) / 2;
        rows_end(r, n_classes == 0 ? score : (double)(size_t)(score < -1 ? 0 : score < 1 || n_classes == 2 ? 1 : 2));
    }
    return r;
}

static void a_state_on_the_grids_of_others_predicts_the_same(void **unused)
{
    (void)unused;
    for (size_t c = 0; c < CASE_COUNT; c++) {
        rows *r = paired_rows(1500, 0, CASES[c].n_classes), *s = paired_rows(1400, 1, CASES[c].n_classes);
        gsa_state *states[3] = {trained(r, CASES[c].loss, CASES[c].method, "pairs"),
                                trained(s, CASES[c].loss, CASES[c].method, "pairs"),
                                trained(s, CASES[c].loss, CASES[c].method, "auto")};
        gsa_state *out[3] = {NULL}, *merged = NULL;
        gsa_error error = {0};
        assert_true(gsai_state_basis(states[0])->n_surfaces > 0 && gsai_state_basis(states[1])->n_surfaces > 0);
        assert_int_equal(gsai_state_basis(states[2])->n_surfaces, 0);
        must_be_ok(gsai_states_rebase((const gsa_state *const *)states, 3, out, &error), &error);
        assert_true(gsai_bases_agree((const gsa_state *const *)out, 3));
        for (size_t i = 0; i < 3; i++) {
            double off = difference(states[i], out[i], i == 0 ? r : s);
            if (off > 1e-5)
                print_message("%s %s state %zu: off by %g\n", CASES[c].loss, CASES[c].method, i, off);
            assert_true(off < 1e-5);
        }
        must_be_ok(gsa_state_merge((const gsa_state *const *)states, 2, NULL, NULL, &merged, &error), &error);
        assert_true(gsai_state_basis(merged)->n_surfaces >= gsai_state_basis(states[0])->n_surfaces);
        for (size_t i = 0; i < 3; i++) {
            gsa_state_free(states[i]);
            gsa_state_free(out[i]);
        }
        gsa_state_free(merged);
        free(r);
        free(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(on_its_own_knots_a_state_is_what_it_was),
        cmocka_unit_test(a_state_on_more_knots_predicts_the_same),
        cmocka_unit_test(a_state_on_the_grids_of_others_predicts_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
