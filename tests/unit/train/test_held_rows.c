/* Rows that are held out by group or by time: S6, S7 and S8 of learn/holdout.h and D5 of solve/design.h. */
#define MAX_ROWS 20480
#include "../learn/bytes.h"

#include "learn/inside.h"
#include "solve/design.h"

#include <math.h>
#include <stdlib.h>

enum { N = 20000, N_FEW = 900 };

/* Rows with a number each, by which they are held out; of groups: `each` rows per group, by turns. */
typedef struct held_rows {
    rows *r;
    uint64_t group[N];
} held_rows;

static held_rows *rows_of_groups(size_t n, size_t n_groups)
{
    held_rows *h = calloc(1, sizeof *h);
    h->r = rows_random(11, n, 12, 2);
    for (size_t i = 0; i < n; i++)
        h->group[i] = 1000 + i % n_groups;
    return h;
}

enum { ASCENDING, DESCENDING, RANDOM };

static held_rows *rows_of_times(size_t n, int order)
{
    held_rows *h = rows_of_groups(n, 1);
    for (size_t i = 0; i < n; i++)
        h->group[i] = order == ASCENDING ? 10 + i / 3 : order == DESCENDING ? 10 + (n - i) / 3 : gsai_mix(i) % n;
    return h;
}

static gsa_batch batch_of(const held_rows *h, size_t from, size_t n, bool is_time)
{
    gsa_batch all = rows_batch(h->r), some = rows_slice(&all, from, n);
    some.group = h->group + from;
    some.group_is_time = is_time;
    return some;
}

static void free_rows(held_rows *h)
{
    free(h->r);
    free(h);
}

/* A state that has learned rows in chunks. */
static gsa_state *learned(const held_rows *h, size_t n, size_t chunk, bool is_time)
{
    gsa_state *state = state_with("loss", "logistic", "method", "gsa", NULL);
    for (size_t from = 0; from < n; from += chunk) {
        gsa_batch batch = batch_of(h, from, chunk < n - from ? chunk : n - from, is_time);
        update(state, &batch);
    }
    return state;
}

/* What is held of one number: rows, each of weight 1. */
static double held_of(const gsa_state *state, uint64_t key)
{
    return gsai_sample_kind(gsai_state_sample(state), key).weight;
}

static double held_in_all(const gsa_state *state)
{
    const gsai_sample *sample = gsai_state_sample(state);
    double sum = 0;
    for (size_t i = 0; i < sample->n; i++)
        sum += sample->at[i]->weight;
    return sum;
}

/* ---- folds ------------------------------------------------------------------------------------------------------- */

static gsai_design design_of(const held_rows *h, size_t n, bool is_time, const size_t *order)
{
    gsa_error error = {0};
    gsa_state *state = state_with("loss", "squared", "method", "auto", NULL);
    gsai_design design;
    for (size_t i = 0; i < n; i++) {
        gsa_batch row = batch_of(h, order ? order[i] : i, 1, is_time);
        must_be_ok(gsai_state_wait(state, &row, NULL, 1, NULL, false, &(size_t){0}, &error), &error);
    }
    must_be_ok(gsai_design_make(&design, gsai_state_waiting(state), state, &error), &error);
    gsa_state_free(state);
    return design;
}

static void all_rows_of_a_group_are_in_one_fold(void **unused)
{
    (void)unused;
    static const size_t n_groups[] = {2, 5, 8, 60, 899};
    for (size_t k = 0; k < sizeof n_groups / sizeof *n_groups; k++) {
        held_rows *h = rows_of_groups(N_FEW, n_groups[k]);
        gsai_design design = design_of(h, N_FEW, false, NULL);
        size_t n_of_fold[GSAI_FOLDS] = {0}, n_folds = n_groups[k] < GSAI_FOLDS ? n_groups[k] : GSAI_FOLDS;
        uint8_t fold_of[N_FEW];
        memset(fold_of, 255, sizeof fold_of);
        assert_int_equal(design.n_groups, n_groups[k]);
        assert_int_equal(design.n_folds, n_folds);
        for (size_t i = 0; i < design.n_rows; i++) {
            uint8_t *fold = &fold_of[design.group[i]];
            assert_true(*fold == 255 || *fold == design.fold[i]);
            *fold = design.fold[i];
            n_of_fold[design.fold[i]]++;
        }
        for (size_t f = 0; f < n_folds; f++) /* as even as whole groups can be */
            assert_true(n_of_fold[f] + N_FEW / n_groups[k] + 1 >= N_FEW / n_folds &&
                        n_of_fold[f] <= N_FEW / n_folds + N_FEW / n_groups[k] + 1);
        gsai_design_release(&design);
        free_rows(h);
    }
}

static void the_order_of_rows_changes_no_fold(void **unused)
{
    (void)unused;
    for (int is_time = 0; is_time < 2; is_time++) {
        held_rows *h = is_time ? rows_of_times(N_FEW, RANDOM) : rows_of_groups(N_FEW, 37);
        for (size_t e = 0; e < h->r->n_entries; e++) /* many copies, in other groups */
            h->r->value[e] = 1;
        for (size_t i = 0; i < N_FEW; i++)
            h->r->label[i] = (double)(i % 3);
        size_t order[N_FEW];
        for (size_t i = 0; i < N_FEW; i++)
            order[i] = N_FEW - 1 - i;
        gsai_design a = design_of(h, N_FEW, is_time, NULL), b = design_of(h, N_FEW, is_time, order);
        assert_int_equal(a.n_rows, b.n_rows);
        assert_memory_equal(a.fold, b.fold, a.n_rows);
        assert_memory_equal(a.weight, b.weight, a.n_rows * sizeof *a.weight);
        assert_memory_equal(a.target, b.target, a.n_rows * sizeof *a.target);
        if (!is_time)
            assert_memory_equal(a.group, b.group, a.n_rows * sizeof *a.group);
        gsai_design_release(&a);
        gsai_design_release(&b);
        free_rows(h);
    }
}

static void the_latest_eighth_is_the_one_fold(void **unused)
{
    (void)unused;
    held_rows *h = rows_of_times(N_FEW, RANDOM);
    gsai_design design = design_of(h, N_FEW, true, NULL);
    double weight[3] = {0, 0, 0};
    assert_int_equal(design.n_folds, 1);
    assert_in_range(design.n_latest, N_FEW / 8 - 5, N_FEW / 8);
    for (size_t i = 0; i < design.n_rows; i++)
        weight[design.fold[i]] += (double)design.weight[i] * design.weight_unit;
    assert_true(fabs(weight[0] + weight[1] - (double)design.n_latest) < 1e-3 * N_FEW);
    assert_true(fabs(weight[0] - weight[1]) < 8); /* halves, but for rows of equal time */
    gsai_design_release(&design);
    for (size_t i = 0; i < N_FEW; i++) /* more than an eighth are of the last time, then all are of one */
        h->group[i] = i % 4 == 0 ? 9 : 8;
    design = design_of(h, N_FEW, true, NULL);
    assert_int_equal(design.n_latest, N_FEW / 4);
    gsai_design_release(&design);
    memset(h->group, 0, sizeof h->group);
    design = design_of(h, N_FEW, true, NULL);
    assert_true(design.n_latest == 0 && design.n_folds == GSAI_FOLDS);
    gsai_design_release(&design);
    free_rows(h);
}

/* ---- the sample -------------------------------------------------------------------------------------------------- */

static void a_group_of_many_rows_is_held_whole_or_learned_whole(void **unused)
{
    (void)unused;
    held_rows *h = rows_of_groups(N, 50);
    gsa_state *state = learned(h, N, N, false);
    size_t n_held = 0;
    for (uint64_t g = 0; g < 50; g++) {
        double held = held_of(state, gsai_mix(1000 + g));
        assert_true(held == 0 || held == N / 50);
        n_held += held > 0;
    }
    assert_in_range(n_held, 1, 12);
    assert_int_equal((size_t)held_in_all(state), n_held * N / 50);
    gsa_state_free(state);
    free_rows(h);
}

static void a_group_that_is_all_there_is_is_learned(void **unused)
{
    (void)unused;
    held_rows *h = rows_of_groups(N, 1);
    uint64_t group = 0;
    while (gsai_mix(group) >= GSAI_SAMPLE_BELOW) /* it would be held out */
        group++;
    for (size_t i = 0; i < N; i++)
        h->group[i] = group;
    for (size_t n = N_FEW; n <= N; n *= N / N_FEW) {
        gsa_error error = {0};
        gsa_state *state = learned(h, n, n, false);
        must_be_ok(gsa_state_close_group(state, &error), &error);
        assert_true(held_in_all(state) == 0 && gsai_state_n_rows(state) == n);
        gsa_state_free(state);
    }
    free_rows(h);
}

static void the_latest_rows_of_a_stream_are_held(void **unused)
{
    (void)unused;
    for (int order = ASCENDING; order <= RANDOM; order++) {
        held_rows *h = rows_of_times(N, order);
        gsa_state *state = learned(h, N, N, true);
        const gsai_sample *sample = gsai_state_sample(state);
        double held = held_in_all(state), n_late = 0;
        for (size_t i = 0; i < N; i++) /* those below the threshold, and no others */
            n_late += ~h->group[i] < sample->below;
        assert_true(held == n_late);
        assert_in_range((size_t)held, order == DESCENDING ? 800 : N / 11, N / 10);
        gsa_state_free(state);
        free_rows(h);
    }
}

/* ---- states ------------------------------------------------------------------------------------------------------ */

static void chunks_and_files_in_between_change_no_byte(void **unused)
{
    (void)unused;
    for (int is_time = 0; is_time < 2; is_time++) {
        held_rows *h = is_time ? rows_of_times(N, RANDOM) : rows_of_groups(N, 300);
        gsa_state *whole = learned(h, N, N, is_time), *pieces = state_with("loss", "logistic", "method", "gsa", NULL);
        for (size_t from = 0; from < N; from += 2500) { /* saved while rows wait, and later */
            gsa_batch batch = batch_of(h, from, 2500, is_time);
            update(pieces, &batch);
            gsa_state *again = reread(pieces);
            same_states(pieces, again);
            gsa_state_free(pieces);
            pieces = again;
        }
        same_states(whole, pieces);
        gsa_state_free(whole);
        gsa_state_free(pieces);
        free_rows(h);
    }
}

/* Replicas hold what one state would hold of the same rows, as far as none of them has handed it back; in any order. */
static void merging_is_union_and_cut(void **unused)
{
    (void)unused;
    for (int is_time = 0; is_time < 2; is_time++) {
        held_rows *h = is_time ? rows_of_times(N, RANDOM) : rows_of_groups(N, 300);
        gsa_error error = {0};
        gsa_state *base = learned(h, 10000, 10000, is_time), *fork[3], *merged[2];
        for (size_t k = 0; k < 3; k++) {
            gsa_batch batch = batch_of(h, 10000 + 3000 * k, 3000, is_time);
            must_be_ok(gsa_state_fork(base, 3, &fork[k], &error), &error);
            update(fork[k], &batch);
        }
        const gsa_state *const states[2][3] = {{fork[0], fork[1], fork[2]}, {fork[2], fork[0], fork[1]}};
        for (int i = 0; i < 2; i++)
            must_be_ok(gsa_state_merge(states[i], 3, base, NULL, &merged[i], &error), &error);
        const gsai_sample *a = gsai_state_sample(merged[0]), *b = gsai_state_sample(merged[1]);
        assert_true(a->by == (is_time ? GSAI_BY_TIME : GSAI_BY_GROUP) && a->n == b->n && a->below == b->below);
        double n_below = 0;
        for (size_t i = 0; i < 19000; i++)
            n_below += (is_time ? ~h->group[i] : gsai_mix(h->group[i])) < a->below;
        assert_true(held_in_all(merged[0]) == n_below && n_below > 1000);
        for (size_t i = 0; i < a->n; i++)
            assert_true(a->at[i]->hash == b->at[i]->hash && a->at[i]->weight == b->at[i]->weight);
        for (size_t k = 0; k < 3; k++)
            gsa_state_free(fork[k]);
        gsa_state_free(merged[0]);
        gsa_state_free(merged[1]);
        gsa_state_free(base);
        free_rows(h);
    }
}

static void rows_with_groups_and_without_do_not_mix(void **unused)
{
    (void)unused;
    held_rows *h = rows_of_groups(N, 300);
    gsa_error error;
    for (size_t n = 100; n <= 10000; n *= 100) {
        gsa_state *state = learned(h, n, n, false);
        bytes before = state_bytes(state);
        for (int is_time = 0; is_time < 2; is_time++) {
            gsa_batch batch = batch_of(h, n, 10, is_time);
            batch.group = is_time ? batch.group : NULL;
            assert_int_equal(gsa_state_update(state, &batch, &error), GSA_ARGUMENT);
            assert_non_null(strstr(error.message, is_time ? "times" : "groups"));
        }
        same_bytes(&before, state);
        free(before.data);
        gsa_state_free(state);
    }
    free_rows(h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_rows_of_a_group_are_in_one_fold),
        cmocka_unit_test(the_order_of_rows_changes_no_fold),
        cmocka_unit_test(the_latest_eighth_is_the_one_fold),
        cmocka_unit_test(a_group_of_many_rows_is_held_whole_or_learned_whole),
        cmocka_unit_test(a_group_that_is_all_there_is_is_learned),
        cmocka_unit_test(the_latest_rows_of_a_stream_are_held),
        cmocka_unit_test(chunks_and_files_in_between_change_no_byte),
        cmocka_unit_test(merging_is_union_and_cut),
        cmocka_unit_test(rows_with_groups_and_without_do_not_mix),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
