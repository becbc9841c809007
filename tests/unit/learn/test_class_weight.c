/* --class-weight balanced: the formula, the same bits in chunks and after resuming, sums that add up in merges. */
#include "bytes.h"

#include "learn/inside.h"
#include "learn/learner.h"
#include "support/failing_memory.h"

#include <math.h>

static gsa_state *balanced(const char *loss)
{
    return state_with("loss", loss, "class_weight", "balanced", "method", "auto", "holdout", "none", NULL);
}

/* Rows of which every hundredth is of class 1; a third feature tells the classes apart, not cleanly. */
static rows *rare_rows(uint64_t seed, size_t n)
{
    rows *r = rows_new();
    gsai_rng rng = gsai_rng_of(seed, 9, 9);
    for (size_t i = 0; i < n; i++) {
        int rare = i % 100 == 7;
        rows_entry(r, 0, (float)gsai_rng_unit(&rng));
        rows_entry(r, 1, (float)(gsai_rng_unit(&rng) + gsai_rng_unit(&rng) - 1));
        double bell = gsai_rng_unit(&rng) + gsai_rng_unit(&rng) + gsai_rng_unit(&rng) - 1.5;
        rows_entry(r, 2, (float)((rare ? 1 : -1) + 2.4 * bell));
        rows_end(r, rare);
    }
    return r;
}

/* Weights that are no multiples of anything: sums of them show in which order they were made. */
static void draw_weights(rows *r, uint64_t seed)
{
    gsai_rng rng = gsai_rng_of(seed, 5, 5);
    for (size_t i = 0; i < r->n_rows; i++)
        r->weight[i] = i % 50 == 3 ? 0 : (float)(0.1 + 2 * gsai_rng_unit(&rng));
}

/* The sum of the weights that rows were learned with is the sum of the formula's, and so is the model. */
static void weights_follow_their_formula(void **unused)
{
    (void)unused;
    rows *r = rows_random(3, 900, 20, 4);
    draw_weights(r, 3);
    gsa_batch batch = rows_batch(r);
    batch.weight = r->weight;
    gsa_state *state = balanced("softmax"),
              *by_hand = state_with("loss", "softmax", "method", "auto", "holdout", "none", NULL);
    prepare(state, &batch);
    prepare(by_hand, &batch);
    learn(state, &batch);
    gsa_error error = {0};
    double n = 0, of_class[4] = {0}, total = 0, given = 0, n_given = 0;
    for (size_t row = 0; row < r->n_rows; row++) {
        double c = (double)r->weight[row];
        if (c == 0)
            continue;
        given += c;
        c *= ++n_given / given;
        n += c;
        of_class[(size_t)r->label[row]] += c;
        double rarest = n;
        for (size_t k = 0; k < 4; k++)
            rarest = of_class[k] > 0 ? fmin(rarest, of_class[k]) : rarest;
        c *= (fmax(rarest, sqrt(n)) + 1) / (of_class[(size_t)r->label[row]] + 1);
        total += c;
        gsai_row view = gsai_row_at(&batch, row);
        must_be_ok(gsai_state_learn(by_hand, &view, NULL, (size_t)r->label[row], 0, c, &error), &error);
        gsai_row_weights_add(&by_hand->row_weights, (double)r->weight[row]);
    }
    gsa_summary summary = state_summary(state);
    assert_close(summary.loss_weight, total, 1e-9 * total);
    gsa_model *a = model_of(state), *b = model_of(by_hand);
    for (uint64_t i = 0; i < 20; i++)
        for (size_t k = 0; k < 4; k++)
            assert_close((double)gsa_model_weight(a, i, k), (double)gsa_model_weight(b, i, k), 1e-4);
    gsa_model_free(a);
    gsa_model_free(b);
    free_states(state, by_hand);
    free(r);
}

static double recall_of_rare(const gsa_state *state, const gsa_batch *eval)
{
    double m[2 * MAX_ROWS], found = 0, n = 0;
    gsa_error error = {0};
    gsa_model *model = model_of(state);
    gsa_model_info info = {.size = sizeof info};
    gsa_model_get_info(model, &info);
    must_be_ok(gsa_model_margins(model, eval, m, &error), &error);
    for (size_t row = 0; row < eval->n_rows; row++)
        if (eval->label[row] == 1) {
            n++;
            found += info.n_outputs == 1 ? m[row] > 0 : m[2 * row + 1] > m[2 * row];
        }
    gsa_model_free(model);
    return found / n;
}

static void one_row_in_a_hundred_is_found_again(void **unused)
{
    (void)unused;
    static const char *const losses[] = {"logistic", "softmax", "hinge", "squared_hinge"};
    rows *r = rare_rows(1, 4000), *s = rare_rows(2, 4000);
    gsa_batch batch = rows_batch(r), eval = rows_batch(s);
    for (size_t l = 0; l < 8; l++) {
        const char *method = l < 4 ? "auto" : "paper";
        gsa_state *plain = state_with("loss", losses[l % 4], "method", method, "holdout", "none", NULL);
        gsa_state *even =
            state_with("loss", losses[l % 4], "method", method, "class_weight", "balanced", "holdout", "none", NULL);
        for (int pass = 0; pass < 3; pass++) {
            learn(plain, &batch);
            learn(even, &batch);
            end_pass(plain);
            end_pass(even);
        }
        double before = recall_of_rare(plain, &eval), after = recall_of_rare(even, &eval);
        if (!(before < 0.1 && after > 0.7))
            fail_msg("%s, %s: recall %g alike, %g balanced", losses[l % 4], method, before, after);
        free_states(plain, even);
    }
    free(r);
    free(s);
}

/* Chunk by chunk, saved and loaded between them, labels that come on the way, some rows held out. */
static void chunks_and_resuming_give_the_same_bits(void **unused)
{
    (void)unused;
    static const char *const losses[] = {"logistic", "softmax", "hinge", "squared_hinge"};
    for (size_t l = 0; l < 4; l++) {
        rows *r = rows_random(4, 500, 40, l == 0 ? 2 : 6);
        draw_weights(r, l);
        gsa_batch batch = rows_batch(r);
        batch.weight = r->weight;
        gsa_state *whole =
            state_with("method", "gsa", "loss", losses[l], "class_weight", "balanced", "max_held_out", "20", NULL);
        learn(whole, &batch);
        for (size_t chunk = 1; chunk < 120; chunk += 37) {
            gsa_state *pieces =
                state_with("method", "gsa", "loss", losses[l], "class_weight", "balanced", "max_held_out", "20", NULL);
            for (size_t from = 0; from < batch.n_rows; from += chunk) {
                gsa_batch delta = rows_slice(&batch, from, from + chunk < 500 ? chunk : 500 - from);
                gsa_error error = {0};
                learn(pieces, &delta);
                bytes b = state_bytes(pieces);
                gsa_state_free(pieces);
                must_be_ok(gsa_state_read(b.data, b.size, NULL, &pieces, &error), &error);
                free(b.data);
            }
            same_states(whole, pieces);
            gsa_state_free(pieces);
        }
        gsa_state_free(whole);
        free(r);
    }
}

static double sum_of(const gsa_state *state, const char *label)
{
    size_t k = label ? gsai_labels_find_text(&state->labels, label) : 0;
    return k == GSAI_NO_LABEL ? 0 : state->class_sums.at[label ? k + 1 : 0];
}

static void merges_add_up_by_label(void **unused)
{
    (void)unused;
    static const char *const labels[] = {NULL, "0", "1", "2"};
    rows *r = rows_random(6, 400, 20, 3), *s = rows_random(7, 300, 20, 2);
    draw_weights(r, 1);
    draw_weights(s, 2);
    for (size_t row = 0; row < s->n_rows; row++)
        s->label[row] = 2 - s->label[row]; /* 2 and 1 */
    gsa_batch x = rows_batch(r), y = rows_batch(s);
    x.weight = r->weight;
    y.weight = s->weight;
    gsa_state *a = balanced("hinge"), *b = balanced("hinge"),
              *plain = state_with("loss", "hinge", "method", "auto", NULL);
    learn(a, &x);
    learn(b, &y);
    learn(plain, &y);
    gsa_state *all = merged_two(a, b, NULL), *turned = merged_two(b, a, NULL);
    same_states(all, turned);
    double mean[2] = {a->row_weights.sum / (double)a->row_weights.n_rows,
                      b->row_weights.sum / (double)b->row_weights.n_rows};
    double all_mean = all->row_weights.sum / (double)all->row_weights.n_rows;
    for (size_t i = 0; i < 4; i++)
        assert_close(sum_of(all, labels[i]) * all_mean, sum_of(a, labels[i]) * mean[0] + sum_of(b, labels[i]) * mean[1],
                     1e-9);
    assert_true(sum_of(a, "0") > 0 && sum_of(b, "0") == 0 && sum_of(b, NULL) > 200);

    gsa_error error = {0};
    gsa_state *one, *two, *refused;
    one = forked(all, 1);
    two = forked(all, 1);
    learn(one, &x);
    learn(two, &y);
    gsa_state *round = merged_two(one, two, all);
    for (size_t i = 0; i < 4; i++)
        assert_close(sum_of(round, labels[i]), sum_of(one, labels[i]) + sum_of(two, labels[i]) - sum_of(all, labels[i]),
                     1e-9);
    learn(round, &x);
    const gsa_state *odd[] = {a, plain};
    assert_int_equal(gsa_state_merge(odd, 2, NULL, NULL, &refused, &error), GSA_CONFLICT);
    assert_non_null(strstr(error.message, "class_weight"));
    gsa_state *const mine[] = {a, b, plain, all, turned, one, two, round};
    for (size_t i = 0; i < sizeof mine / sizeof *mine; i++)
        gsa_state_free(mine[i]);
    free(r);
    free(s);
}

/* Wherever memory runs out, and then is there again: no sum is left of a label that was taken back. */
static void a_label_that_found_no_room_leaves_no_sum(void **unused)
{
    (void)unused;
    rows *r = rows_random(1, 60, 20, 6);
    gsa_batch batch = rows_batch(r);
    gsa_error error = {0};
    gsa_config *config = config_with("loss", "hinge", "class_weight", "balanced", NULL);
    for (size_t n = 0, failed = 1; failed; n++) {
        failing f = {SIZE_MAX, 0};
        gsai_env env = failing_env(&f);
        gsa_state *state;
        must_be_ok(gsa_state_new(config, &env.memory, &state, &error), &error);
        f.left = n;
        failed = 0;
        for (size_t i = 0; i < r->n_rows; i++) {
            gsa_batch one = rows_slice(&batch, i, 1);
            if (gsai_state_learn_rows(state, &one, NULL, one.n_rows, &error) == GSA_OK)
                continue;
            failed = 1;
            assert_true(state->class_sums.n <= state->labels.n + 1);
            f.left = SIZE_MAX;
            learn(state, &one);
        }
        assert_true(state->class_sums.at[0] == 60);
        gsa_state_free(state);
    }
    gsa_config_free(config);
    free(r);
}

/* Yesterday's classes weigh in; where they were not counted, counting begins with the new run. */
static void a_new_run_goes_on_counting(void **unused)
{
    (void)unused;
    rows *r = rows_random(6, 400, 20, 3);
    gsa_batch x = rows_batch(r);
    gsa_error error = {0};
    gsa_config *config = config_with("class_weight", "balanced", NULL);
    for (int counted = 0; counted < 2; counted++) {
        gsa_state *first = state_with("class_weight", counted ? "balanced" : "none", NULL), *next;
        learn(first, &x);
        must_be_ok(gsa_state_start_from(first, config, &next, &error), &error);
        learn(next, &x);
        assert_close(sum_of(next, NULL), counted ? 800 : 400, 0);
        assert_close(sum_of(next, "0") + sum_of(next, "1") + sum_of(next, "2"), counted ? 800 : 400, 0);
        free_states(first, next);
    }
    gsa_config_free(config);
    free(r);
}

static void numbers_have_no_classes_to_weigh(void **unused)
{
    (void)unused;
    rows *r = rows_random(6, 100, 20, 0);
    gsa_batch x = rows_batch(r);
    gsa_error error = {0};
    gsa_config *config;
    gsa_state *state = NULL;
    config = config_with("class_weight", "balanced", NULL);
    must_be_ok(gsa_state_new(config, NULL, &state, &error), &error);
    assert_int_equal(gsai_state_learn_rows(state, &x, NULL, x.n_rows, &error), GSA_ARGUMENT);
    assert_string_equal(error.param, "class_weight");
    assert_int_equal(gsa_state_set(state, "loss", "squared", &error), GSA_ARGUMENT);
    gsa_state_free(state);
    must_be_ok(gsa_config_set(config, "loss", "squared", &error), &error);
    assert_int_equal(gsa_state_new(config, NULL, &state, &error), GSA_ARGUMENT);
    state = state_with("loss", "squared", NULL);
    assert_int_equal(gsa_state_set(state, "class_weight", "balanced", &error), GSA_ARGUMENT);
    learn(state, &x);
    gsa_state *next;
    assert_int_equal(gsa_state_start_from(state, config, &next, &error), GSA_ARGUMENT);
    gsa_state_free(state);
    gsa_config_free(config);
    free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_follow_their_formula),
        cmocka_unit_test(one_row_in_a_hundred_is_found_again),
        cmocka_unit_test(chunks_and_resuming_give_the_same_bits),
        cmocka_unit_test(merges_add_up_by_label),
        cmocka_unit_test(a_label_that_found_no_room_leaves_no_sum),
        cmocka_unit_test(a_new_run_goes_on_counting),
        cmocka_unit_test(numbers_have_no_classes_to_weigh),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
