/* Offsets of rows: what losses, learning and the solver make of them. */
#include "bytes.h"

#include "learn/inside.h"
#include "learn/loss/loss_rows.h"

#include "base/real.h"

#include <math.h>

#define N_ROWS 600u
#define OFFSET 3u
static const char *const schema = "greedystep schema 2\nlabel y\nnumber a\ndate b\nwords w\nnumber c\noffset o\n";

static void a_loss_at_an_offset_is_that_of_the_sum(void **unused)
{
    (void)unused;
    const gsai_loss *const losses[] = {&gsai_loss_logistic, &gsai_loss_hinge, &gsai_loss_squared_hinge};
    enum { N = 40 };
    float y[N], c[N], m[N], o[N], sum[N], loss[2][N], g[2][N], h[2][N];
    for (size_t i = 0; i < N; i++) {
        y[i] = (float)(i % 2);
        c[i] = 1;
        m[i] = (float)i / 8 - 2;
        o[i] = (float)(i * 7 % 16) / 4 - 2;
        sum[i] = m[i] + o[i];
    }
    for (size_t l = 0; l < 3; l++) {
        gsai_rows_at at[2];
        for (size_t k = 0; k < 2; k++) {
            at[k] = (gsai_rows_at){.math = &gsai_array_math_generic, .n = N, .n_outputs = 1, .stride = 1, .target = y};
            at[k].weight = c;
            at[k].margin = k == 0 ? m : sum;
            at[k].offset = k == 0 ? o : NULL;
            at[k].loss = loss[k];
            at[k].residual = g[k];
            at[k].curvature = h[k];
            losses[l]->rows(&at[k]);
        }
        assert_true(at[0].value == at[1].value);
        assert_memory_equal(loss[0], loss[1], sizeof loss[0]);
        assert_memory_equal(g[0], g[1], sizeof g[0]);
        assert_memory_equal(h[0], h[1], sizeof h[0]);
        for (size_t i = 0; i < N; i++) {
            double one = (double)m[i], all = (double)sum[i];
            gsai_target with = {.class_number = i % 2, .origin = (double)o[i]}, without = {.class_number = i % 2};
            assert_true(losses[l]->value(&one, 1, &with) == losses[l]->value(&all, 1, &without));
            one = (double)m[i], all = (double)sum[i];
            gsai_greedy_step a = losses[l]->greedy_step(&one, 1, &with), b = losses[l]->greedy_step(&all, 1, &without);
            assert_true(a.loss == b.loss && a.lambda == b.lambda && one == all && a.m == b.m);
        }
    }
}

static void an_entry_is_moved_behind_the_others_and_hidden(void **unused)
{
    (void)unused;
    const gsai_env env = gsai_env_resolve(NULL);
    gsai_bent memory = {0};
    const uint32_t index[] = {1, OFFSET, 9};
    const float value[] = {2, -0.5F, 4}, dense[] = {0, 7, 8, 0.25F, 5};
    const gsai_offset offset = {OFFSET, &gsai_loss_logistic}, none = {0, NULL};
    gsai_row row = {3, index, value}, same = row;
    must_be_ok(gsai_offset_move(&none, &memory, &env, &same, NULL), &(gsa_error){0});
    assert_true(same.index == index && gsai_offset_hide(&none, &same) == 0 && same.n == 3);
    must_be_ok(gsai_offset_move(&offset, &memory, &env, &row, NULL), &(gsa_error){0});
    assert_true(gsai_offset_hide(&offset, &row) == -0.5 && row.n == 2);
    assert_true(row.index[0] == 1 && row.index[1] == 9 && row.value[1] == 4);
    row = (gsai_row){5, NULL, dense};
    must_be_ok(gsai_offset_move(&offset, &memory, &env, &row, NULL), &(gsa_error){0});
    assert_true(gsai_offset_hide(&offset, &row) == 0.25 && row.n == 3 && row.index[0] == 1 && row.index[2] == 4);
    row = (gsai_row){1, index, value};
    must_be_ok(gsai_offset_move(&offset, &memory, &env, &row, NULL), &(gsa_error){0});
    assert_true(gsai_offset_hide(&offset, &row) == 0 && row.n == 1);
    gsai_bent_release(&memory, &env);
    gsa_error error;
    const gsai_offset rates = {OFFSET, &gsai_loss_poisson};
    assert_int_equal(gsai_offset_check(&rates, 90, 7, &error), GSA_INPUT);
    assert_int_equal(error.row, 7);
    assert_int_equal(gsai_offset_check(&offset, 90, 7, &error), GSA_OK);
    assert_int_equal(gsai_offset_check(&offset, (double)NAN, 7, &error), GSA_INPUT);
}

/* Rows with an offset (which 0), or with what a label or a weight has of it (1), which no feature is. */
static gsa_model *learned(const char *loss, const char *method, int which, rows *r, gsa_state **state)
{
    bool is_log = strcmp(loss, "poisson") == 0;
    gsa_error error = {0};
    gsai_rng rng = gsai_rng_of(3, 0, 0);
    r->n_rows = r->n_entries = 0;
    for (size_t i = 0; i < N_ROWS; i++) {
        double o = (double)(i * 5 % 17) / 8 - 1, e = gsai_exp(o), m = 0.3;
        for (uint32_t id = 0; id < OFFSET; id++) {
            float x = (float)(gsai_rng_unit(&rng) - 0.5);
            rows_entry(r, id, x);
            m += (double)x * (id + 1);
        }
        double y = is_log ? floor(gsai_exp(m) * e + gsai_rng_unit(&rng)) : m + o + gsai_rng_unit(&rng) / 8;
        if (which == 0 && o != 0)
            rows_entry(r, OFFSET, (float)o);
        rows_end(r, which == 0 ? y : is_log ? y / e : y - o);
        r->weight[i] = which == 1 && is_log ? (float)e : 1;
    }
    gsa_batch batch = rows_batch(r);
    batch.weight = r->weight;
    *state = state_with("loss", loss, "method", method, NULL);
    must_be_ok(gsa_state_set_schema(*state, which == 0 ? schema : NULL, &error), &error);
    must_be_ok(gsa_state_update(*state, &batch, &error), &error);
    must_be_ok(gsa_state_end_pass(*state, &error), &error);
    gsa_model *model;
    must_be_ok(gsa_state_finish(*state, NULL, &model, &error), &error);
    return model;
}

static void numbers_and_counts_are_learned_as_their_labels_less_the_offset(void **unused)
{
    (void)unused;
    rows *r = rows_new();
    const char *const losses[] = {"squared", "huber", "poisson"}, *const methods[] = {"auto", "gsa", "paper"};
    for (size_t i = 0; i < 8; i++) { /* the steps of the paper are too large for these counts */
        gsa_state *state[2], *again;
        gsa_error error = {0};
        gsa_model *plain = learned(losses[i / 3], methods[i % 3], 1, r, &state[1]);
        gsa_model *model = learned(losses[i / 3], methods[i % 3], 0, r, &state[0]), *reread_model;
        /* The offset of a row is a float, so an exposure is e^o to 6e-8. */
        double rounding = i / 3 == 2 ? 1e-5 : 0;
        for (uint32_t id = 0; id < OFFSET; id++)
            assert_close((double)gsa_model_weight(model, id, 0), (double)gsa_model_weight(plain, id, 0), rounding);
        assert_close(gsa_model_intercept(model, 0), gsa_model_intercept(plain, 0), rounding);
        assert_true(gsa_model_weight(model, OFFSET, 0) == 1);
        again = reread(state[0]);
        must_be_ok(gsa_state_finish(again, NULL, &reread_model, &error), &error);
        assert_true(gsa_model_weight(reread_model, OFFSET, 0) == 1);
        assert_true(gsa_model_weight(reread_model, 1, 0) == gsa_model_weight(model, 1, 0));
        gsa_model_free(reread_model);
        gsa_model_free(model);
        gsa_model_free(plain);
        gsa_state_free(again);
        free_states(state[0], state[1]);
    }
    free(r);
}

static void several_margins_have_no_offset(void **unused)
{
    (void)unused;
    rows *r = rows_new();
    gsa_error error = {0};
    for (size_t i = 0; i < 30; i++) {
        rows_entry(r, 0, (float)i);
        rows_end(r, (double)(i % 3));
    }
    gsa_batch batch = rows_batch(r);
    gsa_state *state = state_with("method", "gsa", NULL);
    must_be_ok(gsa_state_set_schema(state, schema, &error), &error);
    assert_int_equal(gsa_state_update(state, &batch, &error), GSA_ARGUMENT);
    assert_non_null(strstr(error.message, "more classes have a margin for each"));
    gsa_batch two = rows_slice(&batch, 0, 2);
    must_be_ok(gsa_state_update(state, &two, &error), &error); /* a third class comes later */
    assert_int_equal(gsa_state_update(state, &batch, &error), GSA_ARGUMENT);
    gsa_state_free(state);
    free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_loss_at_an_offset_is_that_of_the_sum),
        cmocka_unit_test(an_entry_is_moved_behind_the_others_and_hidden),
        cmocka_unit_test(numbers_and_counts_are_learned_as_their_labels_less_the_offset),
        cmocka_unit_test(several_margins_have_no_offset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
