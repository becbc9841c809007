/* AUC and average precision: against counting all pairs, ties, weights, order, merges, bins. */
#include "learn/auc.h"

#include "base/memory.h"
#include "base/rng.h"
#include "support/failing_memory.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MAX_ROWS 2000

typedef struct scored {
    float score, weight;
    bool positive;
} scored;

static gsai_ranking ranking_of(const scored *rows, size_t n, const gsai_env *env)
{
    gsai_ranking ranking = {.env = env};
    for (size_t i = 0; i < n; i++)
        assert_int_equal(gsai_ranking_add(&ranking, rows[i].score, rows[i].positive, rows[i].weight, NULL), GSA_OK);
    return ranking;
}

static void free_ranking(gsai_ranking *ranking)
{
    gsai_free(ranking->env, ranking->entries);
}

static gsai_ranking_result result_of(const scored *rows, size_t n)
{
    gsai_env env = gsai_env_resolve(NULL);
    gsai_ranking ranking = ranking_of(rows, n, &env);
    gsai_ranking_result result = gsai_ranking_finish(&ranking);
    free_ranking(&ranking);
    return result;
}

/* The definitions, pair by pair and threshold by threshold. */
static double auc_by_pairs(const scored *rows, size_t n)
{
    double won = 0, pairs = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            if (rows[i].positive && !rows[j].positive) {
                double w = (double)rows[i].weight * (double)rows[j].weight;
                pairs += w;
                won += rows[i].score > rows[j].score ? w : rows[i].score < rows[j].score ? 0 : w / 2;
            }
    return won / pairs;
}

/* Each positive row adds the precision among all rows with a score no less than its own. */
static double average_precision_by_rows(const scored *rows, size_t n)
{
    double sum = 0, positive = 0;
    for (size_t i = 0; i < n; i++) {
        if (!rows[i].positive)
            continue;
        double hits = 0, all = 0;
        for (size_t j = 0; j < n; j++)
            if (rows[j].score >= rows[i].score) {
                all += (double)rows[j].weight;
                hits += rows[j].positive ? (double)rows[j].weight : 0;
            }
        sum += (double)rows[i].weight * hits / all;
        positive += (double)rows[i].weight;
    }
    return sum / positive;
}

/* Scores on a grid of `n_levels` (0: all different), over both signs. */
static void draw_rows(gsai_rng *rng, size_t n, unsigned n_levels, bool weighted, scored *rows)
{
    for (size_t i = 0; i < n; i++) {
        bool positive = gsai_rng_unit(rng) < 0.3;
        double score = 6 * gsai_rng_unit(rng) - 3 + (positive ? 0.7 : 0);
        if (n_levels)
            score = floor(score * n_levels / 6) * 6 / n_levels;
        float weight = weighted ? (float)(0.1 + gsai_rng_unit(rng)) : 1.0f;
        rows[i] = (scored){(float)score, weight, positive};
    }
}

static void results_agree_with_counting_pairs(void **state)
{
    (void)state;
    gsai_rng rng = gsai_rng_of(1, 0, 0);
    static scored rows[MAX_ROWS];
    static const unsigned levels[] = {0, 2, 5, 40};
    for (int i = 0; i < 60; i++) {
        size_t n = 20 + (size_t)gsai_rng_below(&rng, i < 8 ? MAX_ROWS - 20 : 200);
        draw_rows(&rng, n, levels[i % 4], i % 3 == 0, rows);
        gsai_ranking_result result = result_of(rows, n);
        assert_true(fabs(result.auc - auc_by_pairs(rows, n)) < 1e-12);
        assert_true(fabs(result.average_precision - average_precision_by_rows(rows, n)) < 1e-12);
        assert_true(result.auc > 0);
    }
}

/* The example in scikit-learn's documentation: 0.75 and 0.8333. */
static void known_small_cases(void **state)
{
    (void)state;
    scored four[] = {{0.1f, 1, false}, {0.4f, 1, false}, {0.35f, 1, true}, {0.8f, 1, true}};
    assert_true(result_of(four, 4).auc == 0.75);
    assert_true(fabs(result_of(four, 4).average_precision - 5.0 / 6) < 1e-15);
    scored tied[] = {{2, 1, true}, {2, 1, false}, {2, 1, false}, {2, 1, true}};
    assert_true(result_of(tied, 4).auc == 0.5);
    assert_true(result_of(tied, 4).average_precision == 0.5);
    scored best[] = {{-1, 1, false}, {1e30f, 1, true}};
    assert_true(result_of(best, 2).auc == 1 && result_of(best, 2).average_precision == 1);
    scored worst[] = {{-INFINITY, 1, true}, {INFINITY, 1, false}};
    assert_true(result_of(worst, 2).auc == 0 && result_of(worst, 2).average_precision == 0.5);
}

static void zeros_of_both_signs_are_one_score(void **state)
{
    (void)state;
    scored rows[] = {{0.0f, 1, false}, {-0.0f, 1, true}};
    assert_true(result_of(rows, 2).auc == 0.5);
    assert_true(result_of(rows, 2).auc == 0.5);
    scored tiny[] = {{-1e-45f, 1, false}, {-0.0f, 1, true}};
    assert_true(result_of(tiny, 2).auc == 1);
}

static void one_class_has_no_auc(void **state)
{
    (void)state;
    scored positive[] = {{1, 1, true}, {2, 1, true}}, negative[] = {{1, 1, false}};
    for (size_t limit = 0; limit <= 100; limit += 100) {
        assert_true(isnan(result_of(positive, 2).auc) && result_of(positive, 2).average_precision == 1);
        assert_true(isnan(result_of(negative, 1).auc) && isnan(result_of(negative, 1).average_precision));
        assert_true(isnan(result_of(negative, 0).auc) && isnan(result_of(negative, 0).average_precision));
    }
}

static void a_weight_is_so_many_rows(void **state)
{
    (void)state;
    gsai_rng rng = gsai_rng_of(2, 0, 0);
    static scored rows[100], repeated[1000];
    draw_rows(&rng, 100, 9, false, rows);
    size_t n = 0;
    for (size_t i = 0; i < 100; i++) {
        size_t times = 1 + (size_t)gsai_rng_below(&rng, 9);
        for (size_t t = 0; t < times; t++)
            repeated[n++] = rows[i];
        rows[i].weight = (float)times;
    }
    gsai_ranking_result a = result_of(rows, 100), b = result_of(repeated, n);
    assert_true(a.auc == b.auc && fabs(a.average_precision - b.average_precision) < 1e-14);
}

static void shuffle(gsai_rng *rng, scored *rows, size_t n)
{
    for (size_t i = n; i > 1; i--) {
        size_t j = (size_t)gsai_rng_below(rng, i);
        scored swap = rows[i - 1];
        rows[i - 1] = rows[j];
        rows[j] = swap;
    }
}

static void assert_same_bits(gsai_ranking_result a, gsai_ranking_result b)
{
    assert_true(a.auc == b.auc && a.average_precision == b.average_precision);
}

/* R2. Weights that do not add up exactly make this a test of the order of sums. */
static void order_and_merges_change_no_bit(void **state)
{
    (void)state;
    gsai_rng rng = gsai_rng_of(3, 0, 0);
    static scored rows[MAX_ROWS];
    for (int i = 0; i < 20; i++) {
        bool weighted = i % 2 == 0;
        draw_rows(&rng, MAX_ROWS, 30, weighted, rows);
        for (size_t r = 0; weighted && r < MAX_ROWS; r++)
            rows[r].weight = (float)exp(40 * gsai_rng_unit(&rng) - 20);
        gsai_ranking_result whole = result_of(rows, MAX_ROWS);
        shuffle(&rng, rows, MAX_ROWS);
        assert_same_bits(result_of(rows, MAX_ROWS), whole);
        size_t cut = (size_t)gsai_rng_below(&rng, MAX_ROWS);
        gsai_env env = gsai_env_resolve(NULL);
        gsai_ranking a = ranking_of(rows, cut, &env), b = ranking_of(rows + cut, MAX_ROWS - cut, &env);
        assert_int_equal(gsai_ranking_merge(&a, &b, NULL), GSA_OK);
        assert_same_bits(gsai_ranking_finish(&a), whole);
        free_ranking(&a);
        free_ranking(&b);
    }
}

static void finish_can_be_asked_on_the_way(void **state)
{
    (void)state;
    gsai_rng rng = gsai_rng_of(4, 0, 0);
    static scored rows[MAX_ROWS];
    draw_rows(&rng, MAX_ROWS, 0, true, rows);
    gsai_env env = gsai_env_resolve(NULL);
    gsai_ranking ranking = ranking_of(rows, 500, &env);
    assert_same_bits(gsai_ranking_finish(&ranking), result_of(rows, 500));
    assert_same_bits(gsai_ranking_finish(&ranking), result_of(rows, 500));
    for (size_t i = 500; i < MAX_ROWS; i++)
        assert_int_equal(gsai_ranking_add(&ranking, rows[i].score, rows[i].positive, rows[i].weight, NULL), GSA_OK);
    assert_same_bits(gsai_ranking_finish(&ranking), result_of(rows, MAX_ROWS));
    free_ranking(&ranking);
}

/* ---- memory ----------------------------------------------------------------------------------------------------- */

/* Fail the n-th allocation: a row that was refused is added again when there is memory. */
static void a_failed_allocation_loses_nothing(void **state)
{
    (void)state;
    gsai_rng rng = gsai_rng_of(7, 0, 0);
    static scored rows[300];
    draw_rows(&rng, 300, 20, true, rows);
    for (size_t n = 0; n < 14; n++) {
        failing memory = {n, 0};
        gsai_env given = failing_env(&memory), env = gsai_env_resolve(&given);
        gsai_ranking ranking = {.env = &env};
        gsa_error error = {0};
        for (size_t i = 0; i < 300; i++)
            while (gsai_ranking_add(&ranking, rows[i].score, rows[i].positive, rows[i].weight, &error)) {
                assert_int_equal(error.status, GSA_MEMORY);
                memory.left = 1;
            }
        /* With no memory to sort in, the result is the same. */
        assert_same_bits(gsai_ranking_finish(&ranking), result_of(rows, 300));
        free_ranking(&ranking);
        assert_int_equal(memory.live, 0);
    }
}

static void a_memory_limit_is_an_error_and_changes_no_result(void **state)
{
    (void)state;
    gsai_rng rng = gsai_rng_of(8, 0, 0);
    static scored rows[MAX_ROWS];
    draw_rows(&rng, MAX_ROWS, 0, false, rows);
    gsa_budget budget = {.size = sizeof budget, .limit = 20u << 20};
    gsai_env given = {ENV_SIZES, .memory.budget = &budget}, env = gsai_env_resolve(&given);
    gsai_ranking ranking = ranking_of(rows, MAX_ROWS, &env);
    assert_true(gsai_ranking_finish(&ranking).auc > 0);
    free_ranking(&ranking);
    assert_int_equal(budget.used, 0);

    ranking = ranking_of(rows, 10, &env);
    budget.limit = budget.used;
    gsa_error error = {0};
    gsa_status status = GSA_OK;
    size_t n = 10;
    while (status == GSA_OK && n < MAX_ROWS) {
        status = gsai_ranking_add(&ranking, rows[n].score, rows[n].positive, rows[n].weight, &error);
        n += status == GSA_OK;
    }
    assert_int_equal(status, GSA_LIMIT);
    assert_non_null(strstr(error.message, "memory limit"));
    assert_same_bits(gsai_ranking_finish(&ranking), result_of(rows, n)); /* sorted in place */
    free_ranking(&ranking);
    assert_int_equal(budget.used, 0);
}

/* F1 of the rows whose score, which is not rounded, is no less than this. */
static double f1_above(const double *score, const scored *rows, size_t n, double threshold)
{
    double both = 0, either = 0;
    for (size_t i = 0; i < n; i++) {
        bool is_above = score[i] >= threshold;
        both += is_above && rows[i].positive;
        either += (is_above ? 1 : 0) + (rows[i].positive ? 1 : 0);
    }
    return 2 * both / either;
}

static void the_best_score_has_the_best_f1_of_scores_not_rounded(void **unused)
{
    (void)unused;
    gsai_rng rng = gsai_rng_of(5, 0, 0);
    scored rows[64];
    double score[64];
    for (size_t try = 0; try < 200; try++) {
        size_t n = try % 4 ? 1 + try % 3 : 64;
        for (size_t i = 0; i < n; i++) {
            score[i] = 6 * gsai_rng_unit(&rng) - 3;
            rows[i] = (scored){(float)score[i], 1, i == 0 || gsai_rng_unit(&rng) < 0.9};
        }
        gsai_ranking_result result = result_of(rows, n);
        assert_true(fabs(f1_above(score, rows, n, result.best_score) - result.best_f1) < 1e-12);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_agree_with_counting_pairs),
        cmocka_unit_test(known_small_cases),
        cmocka_unit_test(the_best_score_has_the_best_f1_of_scores_not_rounded),
        cmocka_unit_test(zeros_of_both_signs_are_one_score),
        cmocka_unit_test(one_class_has_no_auc),
        cmocka_unit_test(a_weight_is_so_many_rows),
        cmocka_unit_test(order_and_merges_change_no_bit),
        cmocka_unit_test(finish_can_be_asked_on_the_way),
        cmocka_unit_test(a_failed_allocation_loses_nothing),
        cmocka_unit_test(a_memory_limit_is_an_error_and_changes_no_result),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
