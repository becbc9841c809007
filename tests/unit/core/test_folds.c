/* Copies that each left out a part of the rows, into one: against means, counts and masses that are added up here from
 * the rows themselves. */
#include "bytes.h"

#include "core/calibrate.h"
#include "core/team.h"
#include "support/failing_memory.h"

#include <math.h>

#define FEATURES 24
#define MEMBERS_MOST 8

typedef struct folds {
    gsa_state *base, *member[MEMBERS_MOST];
    size_t n;
} folds;

static gsa_status merge(const folds *f, gsa_state **out, double *loss, gsa_error *error)
{
    return gsa__state_merge_folds((const gsa_state *const *)f->member, f->n, f->base, NULL, out, loss, error);
}

static void release(folds *f)
{
    for (size_t m = 0; m < f->n; m++)
        gsa_state_free(f->member[m]);
    gsa_state_free(f->base);
}

/* Row i is left out by member i modulo n; the others learn it, each beginning elsewhere. */
static void learn_folds(folds *f, const gsa_batch *batch, size_t n_passes)
{
    gsa_error error = {0};
    uint32_t *chosen = calloc(batch->n_rows, sizeof *chosen);
    for (size_t m = 0; m < f->n; m++) {
        size_t n = 0;
        for (size_t i = m; i < batch->n_rows; i += f->n)
            chosen[n++] = (uint32_t)i;
        must_be_ok(gsa__state_hold_out(f->member[m], batch, chosen, n, &error), &error);
        for (size_t pass = 0; pass < n_passes; pass++) {
            n = 0;
            for (size_t i = 0; i < batch->n_rows; i++) {
                size_t row = (i + 17 * m + pass) % batch->n_rows;
                if (row % f->n != m)
                    chosen[n++] = (uint32_t)row;
            }
            must_be_ok(gsa_state_update_rows(f->member[m], batch, chosen, n, &error), &error);
            gsa_state_end_pass(f->member[m]);
        }
    }
    free(chosen);
}

static folds forks(gsa_state *base, const gsa_batch *batch, size_t n)
{
    folds f = {base, {0}, n};
    prepare(base, batch);
    for (size_t m = 0; m < n; m++)
        f.member[m] = forked(base, 1);
    return f;
}

static const struct {
    const char *loss, *units, *average, *class_weight;
    unsigned n_classes, n_members;
} kinds[] = {{"auto", "given", "recent", "none", 2, 8},    {"auto", "free", "recent", "none", 4, 5},
             {"squared", "given", "recent", "none", 0, 3}, {"hinge", "free", "full", "none", 3, 4},
             {"auto", "free", "suffix", "balanced", 2, 2}, {"softmax", "given", "last", "balanced", 3, 2},
             {"squared", "free", "recent", "none", 0, 2}};
#define KINDS (sizeof kinds / sizeof *kinds)

static gsa_state *base_of_kind(size_t kind)
{
    return state_with("method", "auto", "holdout", "0", "loss", kinds[kind].loss, "units", kinds[kind].units, "average",
                      kinds[kind].average, "class_weight", kinds[kind].class_weight, NULL);
}

/* Sum of x^2 of a slot over the rows that member m learned (all rows: m >= n). */
static double mass_of(const gsa_batch *batch, size_t slot, size_t m, size_t n, size_t n_passes, double *count)
{
    double mass = 0;
    *count = 0;
    for (size_t row = 0; row < batch->n_rows; row++) {
        double x = slot == 0;
        for (int64_t e = batch->row_start[row]; e < batch->row_start[row + 1]; e++)
            if (batch->index[e] + 1 == slot)
                x = (double)batch->value[e];
        if (m < n && row % n == m)
            continue;
        mass += x * x * (double)n_passes;
        *count += (x != 0) * (double)n_passes;
    }
    return mass;
}

static void the_average_of_the_result_is_the_calibrated_mean_of_the_averages(void **unused)
{
    (void)unused;
    for (size_t kind = 0; kind < KINDS; kind++) {
        rows *r = rows_random(kind + 1, 240, FEATURES, kinds[kind].n_classes);
        gsa_batch batch = rows_batch(r);
        folds f = forks(base_of_kind(kind), &batch, kinds[kind].n_members);
        learn_folds(&f, &batch, 2);
        gsa_state *out = NULL;
        gsa_error error = {0};
        gsa__calibration calibration;
        double loss, count;
        must_be_ok(gsa__calibrate((const gsa_state *const *)f.member, f.n, NULL, &calibration, &error), &error);
        must_be_ok(merge(&f, &out, &loss, &error), &error);
        assert_close(loss, calibration.loss, 0);
        assert_close(gsa_state_held_out_loss(out), loss, 0);
        bool balanced = strcmp(kinds[kind].class_weight, "balanced") == 0; /* masses are then not plain sums */
        for (size_t slot = 0; slot < out->table.n_slots; slot++)
            for (size_t k = 0; k < out->table.n_outputs; k++) {
                double sum = 0, mass = 0;
                for (size_t m = 0; m < f.n; m++) {
                    double c = balanced ? gsa__state_mass(f.member[m], slot) : mass_of(&batch, slot, m, f.n, 2, &count);
                    if (slot < f.member[m]->table.n_slots && c > 0)
                        sum += c * gsa__state_average(f.member[m], slot, k);
                    mass += c;
                }
                double expected = mass > 0 ? calibration.scale * sum / mass : 0;
                expected += slot == 0 ? calibration.offset : 0;
                assert_close(gsa__state_average(out, slot, k), expected, 2e-5 * (1 + fabs(expected)));
            }
        gsa_state_free(out);
        release(&f);
        free(r);
    }
}

static void rows_and_what_they_weigh_count_once(void **unused)
{
    (void)unused;
    for (size_t kind = 0; kind < KINDS; kind++)
        for (size_t n_passes = 1; n_passes < 4; n_passes++) {
            rows *r = rows_random(kind + 1, 120, FEATURES, kinds[kind].n_classes);
            gsa_batch batch = rows_batch(r);
            folds f = forks(base_of_kind(kind), &batch, kinds[kind].n_members);
            learn_folds(&f, &batch, n_passes);
            gsa_state *out = NULL;
            gsa_error error = {0};
            gsa_summary summary;
            double loss, count, steps = 0, last = 0;
            must_be_ok(merge(&f, &out, &loss, &error), &error);
            summary = state_summary(out);
            assert_int_equal(summary.n_rows, 120 * n_passes);
            assert_int_equal(out->rows_behind, 120 * n_passes);
            assert_int_equal(out->clock.now, 120 * n_passes);
            assert_int_equal(summary.pass, n_passes);
            assert_int_equal(summary.pass_rows, 0);
            assert_int_equal(summary.n_held_out, 0);
            assert_int_equal(summary.n_merged, 1);
            assert_int_equal(summary.n_classes, kinds[kind].n_classes);
            assert_int_equal(out->units_free, strcmp(kinds[kind].units, "free") == 0);
            assert_string_equal(gsa_state_get(out, "units"), kinds[kind].units);
            for (size_t slot = 0; slot < out->table.n_slots; slot++) {
                double mass = mass_of(&batch, slot, SIZE_MAX, f.n, n_passes, &count);
                assert_close((double)gsa__state_count(out, slot), count, 0);
                if (strcmp(kinds[kind].class_weight, "balanced") != 0)
                    assert_close(gsa__state_mass(out, slot), mass, 1e-5 * mass);
            }
            for (size_t i = 0; i < out->class_sums.n; i++) { /* all rows, then those of each label */
                double rows_of = 0;
                for (size_t row = 0; row < 120; row++)
                    rows_of += i == 0 || r->label[row] == strtod(out->labels.at[i - 1].text, NULL);
                assert_close(out->class_sums.at[i], rows_of * (double)n_passes, 1e-9);
            }
            for (size_t m = 0; m < f.n; m++) {
                steps += f.member[m]->step.sum / (double)(f.n - 1);
                last += f.member[m]->position.last_pass_loss / (double)f.n;
            }
            assert_close(out->step.sum, steps, 1e-9 * steps);
            assert_close(summary.last_pass_loss, last, 1e-12);
            gsa_state_free(out);
            release(&f);
            free(r);
        }
}

/* Nothing is held out, all learn the same: their mean is any of them, and there is nothing to calibrate by. */
static void equal_copies_have_themselves_for_a_mean(void **unused)
{
    (void)unused;
    for (size_t kind = 0; kind < KINDS; kind++) {
        rows *r = rows_random(kind + 1, 200, FEATURES, kinds[kind].n_classes);
        gsa_batch batch = rows_batch(r);
        folds f = forks(base_of_kind(kind), &batch, kinds[kind].n_members);
        for (size_t m = 0; m < f.n; m++)
            learn(f.member[m], &batch);
        gsa_state *out = NULL;
        gsa_error error = {0};
        double loss;
        must_be_ok(merge(&f, &out, &loss, &error), &error);
        assert_true(isnan(loss));
        for (size_t slot = 0; slot < out->table.n_slots; slot++)
            for (size_t k = 0; k < out->table.n_outputs; k++) {
                double expected = gsa__state_average(f.member[0], slot, k);
                assert_close(gsa__state_average(out, slot, k), expected, 1e-6 * (1 + fabs(expected)));
                expected = (double)gsa__table_slot(&f.member[0]->table, slot)[k].f;
                assert_close((double)gsa__table_slot(&out->table, slot)[k].f, expected, 1e-6 * (1 + fabs(expected)));
            }
        gsa_state_free(out);
        release(&f);
        free(r);
    }
}

/* Two copies are no ordinary merge of two: their held-out rows are left behind, and the mean is not stretched. */
static void two_copies_that_may_hold_out_rows_hold_out_none_in_the_end(void **unused)
{
    (void)unused;
    rows *r = rows_random(3, 400, FEATURES, 2);
    gsa_batch batch = rows_batch(r);
    folds f = forks(state_with("method", "auto", "units", "given", "average", "last", NULL), &batch, 2);
    learn_folds(&f, &batch, 1);
    gsa_state *out = NULL;
    gsa_error error = {0};
    gsa_summary summary;
    gsa__calibration calibration;
    double loss;
    must_be_ok(gsa__calibrate((const gsa_state *const *)f.member, 2, NULL, &calibration, &error), &error);
    must_be_ok(merge(&f, &out, &loss, &error), &error);
    summary = state_summary(out);
    assert_int_equal(summary.n_held_out, 0);
    for (size_t slot = 0; slot < out->table.n_slots; slot++) {
        double a = gsa__state_mass(f.member[0], slot), b = gsa__state_mass(f.member[1], slot);
        double mean = (a * gsa__state_average(f.member[0], slot, 0) + b * gsa__state_average(f.member[1], slot, 0)) /
                      (a + b > 0 ? a + b : 1);
        double expected = calibration.scale * mean + (slot == 0 ? calibration.offset : 0);
        assert_close(gsa__state_average(out, slot, 0), expected, 1e-5 * (1 + fabs(expected)));
    }
    gsa_state_free(out);
    release(&f);
    free(r);
}

/* The base is a run that started from another: its weights, mass and labels are in every copy, and count once. */
static void copies_of_a_run_that_started_from_another_keep_what_it_began_with(void **unused)
{
    (void)unused;
    rows *s = rows_random(2, 100, FEATURES, 2);
    gsa_batch second = rows_batch(s);
    gsa_state *old = state_with("method", "auto", "units", "free", "holdout", "0", NULL), *base = NULL, *out = NULL;
    gsa_error error = {0};
    double loss, count;
    learn_random(old, 1, 300, FEATURES, 2);
    base = started_from(old);
    folds f = forks(base, &second, 4);
    learn_folds(&f, &second, 2);
    must_be_ok(merge(&f, &out, &loss, &error), &error);
    assert_int_equal(out->n_rows, 200);
    assert_int_equal(out->rows_behind, 300 + 200);
    assert_true(out->units_free);
    assert_int_equal(out->n_ancestors, 1);
    for (size_t slot = 0; slot < out->table.n_slots; slot++) {
        double mass = mass_of(&second, slot, SIZE_MAX, 4, 2, &count) + gsa__state_mass(old, slot);
        assert_close((double)gsa__state_count(out, slot), count + (double)gsa__state_count(old, slot), 0);
        assert_close(gsa__state_mass(out, slot), mass, 1e-5 * mass);
    }
    free_states(out, old);
    release(&f);
    free(s);
}

/* With the next row the average moves as one over all rows would: (T_n avg + (n + 1)(n + 2) w) / T_(n+1). */
static void the_result_goes_on_learning(void **unused)
{
    (void)unused;
    for (size_t kind = 0; kind < KINDS; kind++) {
        rows *r = rows_random(kind + 1, 160, FEATURES, kinds[kind].n_classes);
        gsa_batch batch = rows_batch(r), next = rows_slice(&batch, 5, 1);
        folds f = forks(base_of_kind(kind), &batch, kinds[kind].n_members);
        learn_folds(&f, &batch, 1);
        gsa_state *out = NULL;
        gsa_error error = {0};
        gsa_summary summary;
        double loss, before[FEATURES + 1][4];
        must_be_ok(merge(&f, &out, &loss, &error), &error);
        for (size_t slot = 0; slot < out->table.n_slots; slot++)
            for (size_t k = 0; k < out->table.n_outputs; k++)
                before[slot][k] = gsa__state_average(out, slot, k);
        learn(out, &next);
        bool recent = strcmp(kinds[kind].average, "recent") == 0;
        for (size_t slot = 0; slot < out->table.n_slots && recent; slot++)
            for (size_t k = 0; k < out->table.n_outputs; k++) {
                double share = 161.0 * 162 / (161.0 * 162 * 163 / 3);
                double w = (double)gsa__table_slot(&out->table, slot)[k].f;
                double expected = (1 - share) * before[slot][k] + share * w;
                assert_close(gsa__state_average(out, slot, k), expected, 1e-5 * (1 + fabs(expected)));
            }
        for (int pass = 0; pass < 3; pass++) {
            learn(out, &batch);
            gsa_state_end_pass(out);
        }
        summary = state_summary(out);
        assert_int_equal(summary.n_rows, 160 * 4 + 1);
        assert_true(isfinite(summary.last_pass_loss) && summary.last_pass_loss >= 0);
        for (size_t slot = 0; slot < out->table.n_slots; slot++)
            for (size_t k = 0; k < out->table.n_outputs; k++)
                assert_true(isfinite(gsa__state_average(out, slot, k)));
        bytes saved = state_bytes(out);
        gsa_state *again = NULL;
        must_be_ok(gsa_state_read(saved.data, saved.size, NULL, &again, &error), &error);
        free(saved.data);
        free_states(again, out);
        release(&f);
        free(r);
    }
}

static void copies_that_met_different_labels_are_refused(void **unused)
{
    (void)unused;
    for (int same_number = 0; same_number < 2; same_number++) {
        rows *r = rows_random(1, 60, FEATURES, 2);
        gsa_batch batch = rows_batch(r);
        folds f = forks(state_with("method", "auto", "loss", "softmax", "holdout", "0", NULL), &batch, 3);
        learn_folds(&f, &batch, 1);
        for (size_t m = same_number ? 0 : 1; m < 3; m++) {
            r->label[7] = m == 2 ? 6 : 5;
            gsa_batch one = rows_slice(&batch, 7, 1);
            learn(f.member[m], &one);
        }
        gsa_state *out = NULL;
        gsa_error error = {0};
        double loss;
        assert_int_equal(merge(&f, &out, &loss, &error), GSA_ARGUMENT);
        assert_non_null(strstr(error.message, "different labels"));
        assert_null(out);
        release(&f);
        free(r);
    }
}

static void one_copy_or_no_base_is_refused(void **unused)
{
    (void)unused;
    rows *r = rows_random(1, 60, FEATURES, 2);
    gsa_batch batch = rows_batch(r);
    folds f = forks(base_of_kind(0), &batch, 2);
    learn_folds(&f, &batch, 1);
    gsa_state *out = NULL;
    gsa_error error = {0};
    double loss;
    const gsa_state *const *states = (const gsa_state *const *)f.member;
    assert_int_equal(gsa__state_merge_folds(states, 1, f.base, NULL, &out, &loss, &error), GSA_ARGUMENT);
    assert_int_equal(gsa__state_merge_folds(states, 0, f.base, NULL, &out, &loss, &error), GSA_ARGUMENT);
    assert_int_equal(gsa__state_merge_folds(states, 2, NULL, NULL, &out, &loss, &error), GSA_ARGUMENT);
    assert_null(out);
    release(&f);
    free(r);
}

static void no_memory_is_a_status_and_no_leak(void **unused)
{
    (void)unused;
    rows *r = rows_random(1, 60, FEATURES, 3);
    gsa_batch batch = rows_batch(r);
    failing memory = {SIZE_MAX, 0};
    gsa_env env = failing_env(&memory);
    folds f = forks(base_of_kind(1), &batch, 3);
    for (size_t m = 0; m < 3; m++) { /* calibration takes its memory from the first copy */
        gsa_error error = {0};
        gsa_state_free(f.member[m]);
        must_be_ok(gsa_state_fork(f.base, 1, &env, &f.member[m], &error), &error);
    }
    learn_folds(&f, &batch, 1);
    size_t live = memory.live, n = 0;
    gsa_status status = GSA_MEMORY;
    for (; status != GSA_OK; n++) {
        gsa_state *out = NULL;
        gsa_error error = {0};
        double loss;
        memory.left = n;
        status = gsa__state_merge_folds((const gsa_state *const *)f.member, 3, f.base, &env, &out, &loss, &error);
        assert_true(status == GSA_MEMORY || status == GSA_OK);
        memory.left = SIZE_MAX;
        gsa_state_free(out);
        assert_int_equal(memory.live, live);
    }
    assert_true(n > 20);
    release(&f);
    assert_int_equal(memory.live, 0);
    free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_average_of_the_result_is_the_calibrated_mean_of_the_averages),
        cmocka_unit_test(rows_and_what_they_weigh_count_once),
        cmocka_unit_test(equal_copies_have_themselves_for_a_mean),
        cmocka_unit_test(two_copies_that_may_hold_out_rows_hold_out_none_in_the_end),
        cmocka_unit_test(copies_of_a_run_that_started_from_another_keep_what_it_began_with),
        cmocka_unit_test(the_result_goes_on_learning),
        cmocka_unit_test(copies_that_met_different_labels_are_refused),
        cmocka_unit_test(one_copy_or_no_base_is_refused),
        cmocka_unit_test(no_memory_is_a_status_and_no_leak),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
