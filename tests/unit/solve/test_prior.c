/* Runs that start from the state of another: what they keep, learn and forget. */
#include "planted.h"

#include "learn/inside.h"

#include "base/real.h"

/* ---- days -------------------------------------------------------------------------------------------------------- */

/* Rows [from, from + n), which have only every step-th feature. */
static rows *part_of(const rows *all, size_t from, size_t n, uint32_t step)
{
    rows *r = rows_new();
    for (size_t row = from; row < from + n; row++) {
        for (int64_t e = all->row_start[row]; e < all->row_start[row + 1]; e++)
            if (all->index[e] % step == 0)
                rows_entry(r, all->index[e], all->value[e]);
        rows_end(r, all->label[row]);
    }
    return r;
}

/* A run over rows that starts from a state (NULL: from nothing), by a method. */
static gsa_state *day_of(const gsa_state *from, const rows *r, const char *loss, const char *method, unsigned n_threads)
{
    source rows_from = {r, 0};
    const gsa_row_source source_of = {
        .size = sizeof source_of, .ctx = &rows_from, .next = source_next, .rewind = source_rewind};
    gsa_call call = {.size = sizeof call, .n_threads = n_threads};
    gsa_error error = {0};
    gsa_config *config = config_with("loss", loss, "method", method, NULL);
    gsa_reader *reader;
    gsa_state *state;
    if (from)
        must_be_ok(gsa_state_start_from(from, config, &state, &error), &error);
    else
        must_be_ok(gsa_state_new(config, NULL, &state, &error), &error);
    must_be_ok(gsa_reader_open_rows(&source_of, NULL, &call, &reader, &error), &error);
    must_be_ok(gsa_train(state, reader, NULL, &call, &error), &error);
    gsa_reader_close(reader);
    gsa_config_free(config);
    return state;
}

/* Mean log loss, or squared error, of rows. */
static double loss_of(const gsa_state *state, const rows *r)
{
    gsa_model *model = model_of(state);
    size_t n, n_classes = (size_t)info_of(model).n_classes;
    double *p = predictions(model, r, &n), sum = 0;
    for (size_t row = 0; row < r->n_rows; row++) {
        size_t k = 0;
        while (k < n_classes && strtod(gsa_model_label(model, k), NULL) != r->label[row])
            k++;
        double off = n_classes ? 0 : p[row] - r->label[row];
        sum += n_classes ? -gsai_log(p[row * n_classes + k]) : off * off;
    }
    gsa_model_free(model);
    free(p);
    return sum / (double)r->n_rows;
}

/* ---- what is kept ------------------------------------------------------------------------------------------------ */

static void features_that_are_absent_today_keep_their_weights(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < COUNT(DATA); i++) {
        rows *all = rows_of(&DATA[i]), *today = part_of(all, all->n_rows / 2, all->n_rows / 2, 2);
        gsa_state *first = day_of(NULL, all, DATA[i].loss, "auto", 1);
        gsa_state *second = day_of(first, today, DATA[i].loss, "auto", 1);
        gsa_model *before = model_of(first), *after = model_of(second);
        size_t n_outputs = (size_t)info_of(after).n_outputs, n_changed = 0;
        for (uint32_t j = 0; j < DATA[i].d; j++)
            for (size_t k = 0; k < n_outputs; k++) {
                bool same = gsa_model_weight(before, j, k) == gsa_model_weight(after, j, k);
                assert_true(j % 2 == 0 || same);
                n_changed += !same;
            }
        assert_true(n_changed > 0);
        gsa_model_free(before);
        gsa_model_free(after);
        free_states(first, second);
        free(all);
        free(today);
    }
}

static void a_column_that_does_not_vary_today_keeps_its_weight(void **unused)
{
    (void)unused;
    rows *all = planted(1000, 5, 1, 2), *today = part_of(all, 500, 500, 1), *rest = part_of(all, 0, 500, 1);
    for (size_t e = 0; e < today->n_entries; e++)
        if (today->index[e] == 2)
            today->value[e] = 7;
    gsa_state *first = day_of(NULL, rest, "logistic", "auto", 1), *second = day_of(first, today, "logistic", "auto", 1);
    gsa_model *before = model_of(first), *after = model_of(second);
    assert_true(gsa_model_weight(before, 2, 0) != 0);
    assert_true(gsa_model_weight(before, 2, 0) == gsa_model_weight(after, 2, 0));
    assert_true(gsa_model_weight(before, 1, 0) != gsa_model_weight(after, 1, 0));
    gsa_model_free(before);
    gsa_model_free(after);
    free_states(first, second);
    free(all);
    free(today);
    free(rest);
}

static void the_same_rows_again_change_little(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < COUNT(DATA); i++) {
        rows *r = rows_of(&DATA[i]);
        size_t n;
        gsa_state *first = day_of(NULL, r, DATA[i].loss, "auto", 1),
                  *second = day_of(first, r, DATA[i].loss, "auto", 1);
        gsa_model *before = model_of(first), *after = model_of(second);
        double *p = predictions(before, r, &n), *q = predictions(after, r, &n), off = 0, size = 0;
        for (size_t j = 0; j < n; j++) {
            off += (p[j] - q[j]) * (p[j] - q[j]);
            size += p[j] * p[j];
        }
        assert_true(off < 0.04 * size);
        gsa_model_free(before);
        gsa_model_free(after);
        free_states(first, second);
        free(p);
        free(q);
        free(r);
    }
}

/* Neither in one pass nor in many: of a hundred rows ten are held out, which alone would calibrate all weights. */
static void a_few_rows_do_not_spoil_a_model(void **unused)
{
    (void)unused;
    static const size_t sizes[] = {1, 2, 3, 8, 30, 100};
    static const char *const methods[] = {"auto", "gsa"};
    for (size_t n_classes = 2; n_classes <= 6; n_classes += 4) {
        rows *all = planted(4000, 6, 1, n_classes), *test = part_of(all, 2000, 2000, 1);
        rows *yesterday = part_of(all, 0, 1000, 1);
        gsa_state *first = day_of(NULL, yesterday, "auto", "auto", 1);
        double before = loss_of(first, test);
        for (size_t s = 0; s < COUNT(sizes) * COUNT(methods); s++) {
            rows *today = part_of(all, 1000, sizes[s / COUNT(methods)], 1);
            gsa_state *second = day_of(first, today, "auto", methods[s % COUNT(methods)], 1);
            assert_true(loss_of(second, test) < 1.02 * before);
            gsa_state_free(second);
            free(today);
        }
        gsa_state_free(first);
        free(all);
        free(yesterday);
        free(test);
    }
}

/* Sums of weights are known from all earlier rows, but each by itself hardly: the diagonal knows only the latter. */
static void rows_of_correlated_features_do_not_spoil_a_model(void **unused)
{
    (void)unused;
    rows *all = rows_new();
    for (size_t i = 0; i < 5900; i++) {
        double common[8], score[6] = {0};
        size_t best = 0;
        for (uint32_t j = 0; j < 8; j++)
            common[j] = normal_at(71, i * 8 + j);
        for (uint32_t j = 0; j < 64; j++)
            rows_entry(all, j, (float)(common[j % 8] + normal_at(72, i * 64 + j) / 8));
        for (size_t k = 0; k < 6; k++) {
            for (size_t j = 0; j < 8; j++)
                score[k] += common[j] * normal_at(73, j * 6 + k);
            best = score[k] > score[best] ? k : best;
        }
        rows_end(all, (double)best);
    }
    rows *yesterday = part_of(all, 0, 2000, 1), *today = part_of(all, 2000, 200, 1);
    rows *test = part_of(all, 2300, 3600, 1);
    gsa_state *first = day_of(NULL, yesterday, "softmax", "auto", 1);
    gsa_state *second = day_of(first, today, "softmax", "auto", 1);
    assert_true(loss_of(second, test) < loss_of(first, test) + 0.0015);
    free_states(first, second);
    free(all);
    free(yesterday);
    free(today);
    free(test);
}

/* Rows of one class say that it is frequent, and nothing about features. */
static void a_day_of_one_class_does_not_spoil_a_model(void **unused)
{
    (void)unused;
    rows *all = planted(4000, 6, 1, 2), *yesterday = part_of(all, 0, 1000, 1), *test = part_of(all, 2000, 2000, 1);
    rows *today = rows_new();
    for (size_t row = 1000; row < 1400; row++)
        if (all->label[row] == 1)
            rows_copy(today, all, row);
    gsa_state *first = day_of(NULL, yesterday, "logistic", "auto", 1);
    gsa_state *second = day_of(first, today, "logistic", "auto", 1);
    assert_true(loss_of(second, test) < 1.1 * loss_of(first, test));
    free_states(first, second);
    free(all);
    free(yesterday);
    free(test);
    free(today);
}

/* ---- what is learned --------------------------------------------------------------------------------------------- */

#define DAYS 8u

/* The last of the days that start from each other, the last day alone, and one run over all. */
static void follow(const rows *all, size_t n_rows, const char *loss, const char *second_method, gsa_state *out[3])
{
    gsa_state *state = NULL;
    for (size_t day = 0; day < DAYS; day++) {
        rows *today = part_of(all, day * n_rows, n_rows, 1);
        gsa_state *next = day_of(state, today, loss, day % 2 ? second_method : "auto", 1);
        gsa_state_free(state);
        state = next;
        if (day == DAYS - 1)
            out[1] = day_of(NULL, today, loss, "auto", 1);
        free(today);
    }
    out[0] = state;
    rows *together = part_of(all, 0, DAYS * n_rows, 1);
    out[2] = day_of(NULL, together, loss, "auto", 1);
    free(together);
}

/* Some of what a long run gains over the last day alone is lost; least is left of it where rows are few and wide. */
static void days_are_worth_nearly_a_long_run(void **unused)
{
    (void)unused;
    static const data of[] = {{6000, 20, 1, 2, "logistic"},
                              {6000, 60, 0.1, 2, "logistic"},
                              {6000, 6, 1, 4, "softmax"},
                              {6000, 20, 1, 0, "squared"},
                              {4000, 1500, 0.005, 3, "softmax"}};
    static const double lost[] = {0.1, 0.1, 0.1, 0.1, 0.8};
    for (size_t i = 0; i < COUNT(of); i++) {
        rows *all = rows_of(&of[i]), *test = part_of(all, of[i].n / 2, of[i].n / 2, 1);
        gsa_state *state[3];
        follow(all, of[i].n / 2 / DAYS, of[i].loss, "auto", state);
        double chain = loss_of(state[0], test), alone = loss_of(state[1], test), together = loss_of(state[2], test);
        assert_true(together < alone);
        assert_true(chain < together + lost[i] * (alone - together));
        free_states(state[0], state[1], state[2]);
        free(all);
        free(test);
    }
}

static void the_streaming_learner_may_take_every_other_day(void **unused)
{
    (void)unused;
    rows *all = planted(8000, 60, 0.1, 2), *test = part_of(all, 4000, 4000, 1);
    gsa_state *state[3];
    follow(all, 500, "logistic", "gsa", state);
    double chain = loss_of(state[0], test), alone = loss_of(state[1], test), together = loss_of(state[2], test);
    /* How much is lost depends on which fifty rows of a day are held out. */
    assert_true(chain < together + 0.75 * (alone - together));
    free_states(state[0], state[1], state[2]);
    free(all);
    free(test);
}

static void an_upheaval_is_forgotten(void **unused)
{
    (void)unused;
    rows *all = planted(4000, 20, 1, 2), *yesterday = part_of(all, 0, 1000, 1);
    for (size_t row = 0; row < all->n_rows; row++)
        all->label[row] = 1 - all->label[row];
    rows *today = part_of(all, 1000, 1000, 1), *test = part_of(all, 2000, 2000, 1);
    gsa_state *first = day_of(NULL, yesterday, "logistic", "auto", 1);
    gsa_state *second = day_of(first, today, "logistic", "auto", 1),
              *alone = day_of(NULL, today, "logistic", "auto", 1);
    assert_true(loss_of(first, test) > 1);
    assert_true(loss_of(second, test) < 1.02 * loss_of(alone, test));
    free_states(first, second, alone);
    free(all);
    free(yesterday);
    free(today);
    free(test);
}

static void a_class_that_is_new_today_is_learned(void **unused)
{
    (void)unused;
    for (int sparse = 0; sparse < 2; sparse++) {
        rows *all = sparse ? planted(3000, 1500, 0.005, 3) : planted(3000, 6, 1, 3), *yesterday = rows_new();
        rows *today = part_of(all, 1000, 1000, 1), *test = part_of(all, 2000, 1000, 1);
        for (size_t row = 0; row < 1000; row++)
            if (all->label[row] < 2)
                rows_copy(yesterday, all, row);
        gsa_state *first = day_of(NULL, yesterday, sparse ? "softmax" : "auto", "auto", 1);
        gsa_state *second = day_of(first, today, "auto", "auto", 1), *alone = day_of(NULL, today, "softmax", "auto", 1);
        assert_true(loss_of(second, test) < (sparse ? 1.06 : 1.01) * loss_of(alone, test));
        free_states(first, second, alone);
        free(all);
        free(yesterday);
        free(today);
        free(test);
    }
}

static void labels_may_be_far_from_0(void **unused)
{
    (void)unused;
    rows *all = planted(2000, 6, 1, 0);
    for (size_t row = 0; row < all->n_rows; row++)
        all->label[row] = 1e6 + 100 * all->label[row];
    rows *yesterday = part_of(all, 0, 500, 1), *today = part_of(all, 500, 20, 1), *test = part_of(all, 1000, 1000, 1);
    gsa_state *first = day_of(NULL, yesterday, "squared", "auto", 1);
    gsa_state *second = day_of(first, today, "squared", "auto", 1), *alone = day_of(NULL, today, "squared", "auto", 1);
    assert_true(loss_of(second, test) < 1.02 * loss_of(first, test));
    assert_true(loss_of(second, test) < loss_of(alone, test));
    free_states(first, second, alone);
    free(all);
    free(yesterday);
    free(today);
    free(test);
}

/* ---- the state --------------------------------------------------------------------------------------------------- */

static void the_number_of_threads_changes_no_bit(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < COUNT(DATA); i++) {
        rows *all = rows_of(&DATA[i]), *today = part_of(all, 0, all->n_rows / 2, 1);
        gsa_state *first = day_of(NULL, all, DATA[i].loss, "auto", 1);
        gsa_state *one = day_of(first, today, DATA[i].loss, "auto", 1),
                  *three = day_of(first, today, DATA[i].loss, "auto", 3);
        same_states(one, three);
        free_states(first, one, three);
        free(all);
        free(today);
    }
}

/* Where nothing is forgotten. */
static void sums_of_squares_of_all_days_are_carried_on(void **unused)
{
    (void)unused;
    rows *all = planted(2000, 6, 1, 2), *a = part_of(all, 0, 1000, 1), *b = part_of(all, 1000, 1000, 1);
    gsa_state *first = day_of(NULL, a, "logistic", "auto", 1), *second = day_of(first, b, "logistic", "auto", 1);
    gsa_state *other = day_of(NULL, b, "logistic", "auto", 1);
    assert_int_equal(second->rows_behind, 2000);
    for (size_t slot = 0; slot < 7; slot++) {
        double sum = gsai_state_sum_sq(first, slot) + gsai_state_sum_sq(other, slot);
        assert_close(gsai_state_sum_sq(second, slot), sum, 1e-4 * sum);
        assert_int_equal(gsai_state_n_seen(second, slot),
                         gsai_state_n_seen(first, slot) + gsai_state_n_seen(other, slot));
    }
    free_states(first, second, other);
    free(all);
    free(a);
    free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(features_that_are_absent_today_keep_their_weights),
        cmocka_unit_test(a_column_that_does_not_vary_today_keeps_its_weight),
        cmocka_unit_test(the_same_rows_again_change_little),
        cmocka_unit_test(a_few_rows_do_not_spoil_a_model),
        cmocka_unit_test(rows_of_correlated_features_do_not_spoil_a_model),
        cmocka_unit_test(a_day_of_one_class_does_not_spoil_a_model),
        cmocka_unit_test(days_are_worth_nearly_a_long_run),
        cmocka_unit_test(the_streaming_learner_may_take_every_other_day),
        cmocka_unit_test(an_upheaval_is_forgotten),
        cmocka_unit_test(a_class_that_is_new_today_is_learned),
        cmocka_unit_test(labels_may_be_far_from_0),
        cmocka_unit_test(the_number_of_threads_changes_no_bit),
        cmocka_unit_test(sums_of_squares_of_all_days_are_carried_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
