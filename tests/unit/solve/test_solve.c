/* Solutions of hardly any rows, how good they are, and how they end early. */
#include "planted.h"

#include "learn/loss/loss_rows.h"
#include "solve/solve.h"

#include <stdatomic.h>

/* ---- hardly anything to learn from ------------------------------------------------------------------------------- */

static void assert_learns(rows *r, const char *loss)
{
    gsa_model *model = MODEL(r, "loss", loss);
    assert_finite_model(model, r);
    gsa_model_free(model);
    free(r);
}

static void few_rows_make_a_finite_model(void **unused)
{
    (void)unused;
    static const size_t sizes[] = {1, 2, 3, 4, 5, 7, 8, 9, 12, 16, 17, 63, 64, 65};
    for (size_t s = 0; s < COUNT(sizes); s++)
        for (int sparse = 0; sparse < 2; sparse++) {
            uint32_t d = sparse ? 2000 : 5;
            double share = sparse ? 0.003 : 1;
            assert_learns(planted(sizes[s], d, share, 2), "logistic");
            assert_learns(planted(sizes[s], d, share, 3), "softmax");
            assert_learns(planted(sizes[s], d, share, 0), "squared");
            assert_learns(planted(sizes[s], d, share, 2), "squared_hinge");
            assert_learns(planted(sizes[s], d, share, 3), "squared_hinge");
        }
}

static void one_label_makes_a_finite_model(void **unused)
{
    (void)unused;
    static const char *const losses[] = {"logistic", "softmax", "squared_hinge", "squared"};
    for (size_t i = 0; i < COUNT(losses); i++) {
        rows *r = planted(100, 4, 1, 2);
        for (size_t row = 0; row < 100; row++)
            r->label[row] = 1;
        assert_learns(r, losses[i]);
    }
}

/* Every row is the only one of its class. */
static void a_class_may_have_a_single_row(void **unused)
{
    (void)unused;
    static const size_t sizes[] = {2, 3, 10, 100};
    for (size_t s = 0; s < COUNT(sizes); s++)
        for (int sparse = 0; sparse < 2; sparse++)
            for (int hinge = 0; hinge < 2; hinge++) {
                rows *r = sparse ? planted(sizes[s], 2000, 0.003, 0) : planted(sizes[s], 4, 1, 0);
                for (size_t row = 0; row < r->n_rows; row++)
                    r->label[row] = (double)row;
                assert_learns(r, hinge ? "squared_hinge" : "softmax");
            }
}

/* Constants, with labels that vary: the model is that of the shares, or of the mean. */
static void features_that_do_not_vary_say_nothing(void **unused)
{
    (void)unused;
    for (uint32_t n_features = 0; n_features < 4; n_features++)
        for (int has_classes = 0; has_classes < 2; has_classes++) {
            rows *r = rows_new();
            for (size_t i = 0; i < 300; i++) {
                for (uint32_t j = 0; j < n_features; j++)
                    rows_entry(r, j, (float)(j + 1) * 1000.1F);
                rows_end(r, has_classes ? (double)(i % 10 < 3) : 5 + (double)(i % 10 < 3));
            }
            size_t n;
            gsa_model *model = MODEL(r, "loss", has_classes ? "logistic" : "squared");
            double *p = predictions(model, r, &n);
            for (size_t i = 0; i < n; i++)
                assert_close(p[i], has_classes ? (i % 2 ? 0.3 : 0.7) : 5.3, 0.05);
            for (uint32_t j = 0; j < n_features; j++)
                assert_true(gsa_model_weight(model, j, 0) == 0);
            gsa_model_free(model);
            free(p);
            free(r);
        }
}

static void rows_of_extreme_values_make_a_finite_model(void **unused)
{
    (void)unused;
    static const float values[] = {3e38F, -3e38F, 1e-38F, 1e-45F, 1, -1};
    static const char *const losses[] = {"logistic", "softmax", "squared", "squared_hinge"};
    for (size_t i = 0; i < COUNT(losses); i++) {
        rows *r = planted(200, 4, 1, 2);
        for (size_t e = 0; e < r->n_entries; e++)
            r->value[e] = values[gsai_mix(e) % COUNT(values)];
        for (size_t row = 0; row < 200; row++)
            r->label[row] *= i == 2 ? 1e15 : 1;
        assert_learns(r, losses[i]);
    }
}

/* Rows of weight 0 tell labels and nothing else. */
static void rows_that_all_weigh_nothing_are_no_rows(void **unused)
{
    (void)unused;
    rows *r = planted(50, 4, 1, 2);
    gsa_error error = {0};
    gsa_state *state;
    for (size_t row = 0; row < 50; row++)
        r->weight[row] = 0;
    gsa_status status = try_training(r, (const char *const[]){"loss", "logistic", NULL}, NULL, &state, &error);
    if (status == GSA_OK) {
        gsa_model *model = model_of(state);
        assert_finite_model(model, r);
        gsa_model_free(model);
    } else {
        assert_true(strlen(error.message) > 10);
    }
    gsa_state_free(state);
    free(r);
}

/* ---- how good it is ---------------------------------------------------------------------------------------------- */

static double mean_log_loss(const gsa_model *model, const rows *r)
{
    size_t n;
    double sum = 0, *p = predictions(model, r, &n);
    size_t n_classes = n / r->n_rows;
    for (size_t i = 0; i < r->n_rows; i++)
        sum -= log(p[i * n_classes + (size_t)r->label[i]]);
    free(p);
    return sum / (double)r->n_rows;
}

static void few_kinds_of_rows_are_learned_to_their_shares(void **unused)
{
    (void)unused;
    rows *r = four_kinds(250);
    double best = 0, count[4][2] = {{0}};
    for (size_t i = 0; i < r->n_rows; i++)
        count[i % 4][(size_t)r->label[i]]++;
    for (size_t i = 0; i < r->n_rows; i++)
        best -= log(count[i % 4][(size_t)r->label[i]] / 250) / (double)r->n_rows;
    static const char *const losses[] = {"logistic", "softmax"};
    for (size_t l = 0; l < 2; l++) {
        gsa_model *model = MODEL(r, "loss", losses[l]);
        double loss = mean_log_loss(model, r);
        if (!(loss <= 1.001 * best))
            fail_msg("%s: the loss is %g, the best possible one %g", losses[l], loss, best);
        gsa_model_free(model);
    }
    free(r);
}

/* Rows from number `first` on with six frequent features that decide, and 10 columns of 8000 categories that say
 * nothing. *loss: the mean log loss of the true probabilities. */
static rows *frequent_and_rare(size_t first, size_t n, double *loss)
{
    rows *r = rows_new();
    *loss = 0;
    for (size_t i = first; i < first + n; i++) {
        double margin = 0;
        for (uint32_t j = 0; j < 6; j++)
            if (unit_at(71, i * 6 + j) < 0.4) {
                rows_entry(r, j, 1);
                margin += j % 2 ? 1 : -1;
            }
        for (uint32_t column = 0; column < 10; column++)
            rows_entry(r, 6 + 8000 * column + (uint32_t)(8000 * unit_at(72, i * 10 + column)), 1);
        double p = 1 / (1 + exp(-margin));
        bool is_one = unit_at(73, i) < p;
        *loss -= log(is_one ? p : 1 - p) / (double)n;
        rows_end(r, is_one);
    }
    return r;
}

/* A sample of the rows holds categories that come once or twice, all rows hold them more often: the strength that suits
 * the sample is too weak, and a scale that favours rare features makes it worse. */
static void categories_that_say_nothing_do_no_harm(void **unused)
{
    (void)unused;
    double best;
    rows *train = frequent_and_rare(0, 24000, &best), *test = frequent_and_rare(24000, 20000, &best);
    gsa_model *model = MODEL(train, "loss", "logistic");
    double loss = mean_log_loss(model, test);
    if (!(loss <= 1.001 * best))
        fail_msg("the loss is %g, that of the truth %g", loss, best);
    gsa_model_free(model);
    free(train);
    free(test);
}

/* ---- stops ------------------------------------------------------------------------------------------------------- */

/* Says stop from the n-th question on, and counts how often it has said so. */
typedef struct patience {
    atomic_uint n_asked;
    unsigned n_before;
} patience;

static int has_had_enough(void *ctx)
{
    patience *p = ctx;
    return atomic_fetch_add(&p->n_asked, 1) >= p->n_before;
}

static void a_stop_ends_the_solution_at_once(void **unused)
{
    (void)unused;
    static const unsigned n_before[] = {0, 1, 2, 5, 10, 20, 50, 100};
    for (size_t i = 0; i < COUNT(DATA); i++) {
        rows *r = rows_of(&DATA[i]);
        size_t n_stopped = 0;
        for (size_t k = 0; k < COUNT(n_before); k++)
            for (unsigned n_threads = 1; n_threads < 4; n_threads += 2) {
                patience p = {.n_before = n_before[k]};
                gsai_env env = {ENV_SIZES, .call.should_stop = has_had_enough, .call.ctx = &p,
                                .call.n_threads = n_threads};
                gsa_error error = {0};
                gsa_state *state;
                gsa_status status =
                    try_training(r, (const char *const[]){"loss", DATA[i].loss, NULL}, &env, &state, &error);
                if (status != GSA_OK)
                    assert_int_equal(status, GSA_STOPPED);
                if (status == GSA_OK)
                    assert_true(p.n_asked <= n_before[k]);
                assert_true(p.n_asked <= n_before[k] + GSAI_FOLDS + n_threads);
                n_stopped += status == GSA_STOPPED;
                gsa_state_free(state);
            }
        assert_true(n_stopped >= COUNT(n_before));
        free(r);
    }
}

/* ---- too much ---------------------------------------------------------------------------------------------------- */

/* Rows of weight 0 tell labels and count for nothing else. */
static void more_classes_than_a_loss_has_room_for_are_not_solved(void **unused)
{
    (void)unused;
    for (size_t n = GSAI_MAX_OUTPUTS - 1; n <= GSAI_MAX_OUTPUTS + 1; n++) {
        gsa_error error = {0};
        rows *r = rows_new();
        gsa_state *state = state_with("method", "auto", "loss", "softmax", NULL);
        for (size_t i = 0; i < n; i++) {
            rows_entry(r, 0, 1);
            rows_end(r, (double)i);
            r->weight[i] = i % 100 == 0;
        }
        gsa_batch batch = rows_batch(r);
        batch.weight = r->weight;
        prepare(state, &batch);
        must_be_ok(gsai_state_wait(state, &batch, NULL, batch.n_rows, NULL, false, &(size_t){0}, &error), &error);
        assert_int_equal(gsai_solver_fits(state, gsai_state_waiting(state)), n <= GSAI_MAX_OUTPUTS);
        gsa_state_free(state);
        free(r);
    }
}

/* The last numbers, and the lowest loss, that were told; the estimate at first. */
typedef struct told {
    uint64_t n_tried, n_about, n_about_first;
    double best;
} told;

static void note_strength(void *ctx, uint64_t n_tried, uint64_t n_about, const char *loss, double best_loss)
{
    told *noted = ctx;
    assert_int_equal(n_tried, noted->n_tried + 1);
    assert_true(n_about >= n_tried && isfinite(best_loss) && best_loss <= noted->best);
    assert_non_null(loss);
    if (n_tried == 1)
        noted->n_about_first = n_about;
    noted->n_tried = n_tried;
    noted->n_about = n_about;
    noted->best = best_loss;
}

static void every_strength_is_told_with_about_how_many_there_are_and_the_best_loss(void **unused)
{
    (void)unused;
    for (size_t n_classes = 0; n_classes < 4; n_classes += n_classes == 0 ? 2 : 1) {
        rows *r = planted(600, 5, 1, n_classes);
        source from = {r, 0};
        const gsa_row_source source_of = {
            .size = sizeof source_of, .ctx = &from, .next = source_next, .rewind = source_rewind};
        told noted = {.best = INFINITY};
        const gsa_train_hooks hooks = {.size = sizeof hooks, .ctx = &noted, .strength_tried = note_strength};
        gsa_error error = {0};
        gsa_reader *reader;
        gsa_state *state;
        must_be_ok(gsa_state_new(NULL, NULL, &state, &error), &error);
        must_be_ok(gsa_reader_open_rows(&source_of, NULL, NULL, &reader, &error), &error);
        must_be_ok(gsa_train(state, reader, &hooks, NULL, &error), &error);
        assert_true(noted.n_tried >= 2 && noted.n_about - noted.n_tried <= 5);
        assert_true(noted.n_about_first >= 4 && noted.n_about_first <= 2 * noted.n_tried + 2);
        double held_out = gsa_state_held_out_loss(state); /* of the mix, which is about as good as the best */
        assert_true(fabs(held_out - noted.best) < 0.05 * noted.best);
        gsa_reader_close(reader);
        gsa_state_free(state);
        free(r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_rows_make_a_finite_model),
        cmocka_unit_test(one_label_makes_a_finite_model),
        cmocka_unit_test(a_class_may_have_a_single_row),
        cmocka_unit_test(features_that_do_not_vary_say_nothing),
        cmocka_unit_test(rows_of_extreme_values_make_a_finite_model),
        cmocka_unit_test(rows_that_all_weigh_nothing_are_no_rows),
        cmocka_unit_test(few_kinds_of_rows_are_learned_to_their_shares),
        cmocka_unit_test(categories_that_say_nothing_do_no_harm),
        cmocka_unit_test(a_stop_ends_the_solution_at_once),
        cmocka_unit_test(more_classes_than_a_loss_has_room_for_are_not_solved),
        cmocka_unit_test(every_strength_is_told_with_about_how_many_there_are_and_the_best_loss),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
