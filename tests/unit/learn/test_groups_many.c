/* Groups of rows with several outputs: cut by the rows alone; and their kernels against plain loops in double. */
#define MAX_ROWS 16384
#include "bytes.h"

#include "base/memory.h"
#include "learn/inside.h"

#include <math.h>

enum { ROWS = 7500, KINDS = 12, GROUP = GSAI_GROUP_ROWS };

/* By columns or by rows (few features or many), with scale none, standard or auto, weighted or not; 3 or 24 classes. */
typedef struct kind {
    uint32_t n_features;
    const char *scale;
    int has_weights, has_classes;
} kind;

static kind kind_of(uint64_t number)
{
    static const char *const scales[] = {"none", "standard", "auto"};
    return (kind){number % 2 ? 24 : 300, scales[number / 2 % 3], number % 3 == 0, number / 6 % 2};
}

static rows *rows_of(uint64_t number)
{
    kind of = kind_of(number);
    rows *r = rows_random(number, ROWS, of.n_features, of.has_classes ? 8 : 3);
    for (size_t row = 0; row < ROWS; row++) {
        uint64_t drawn = gsai_rng_of(number, row, 1).key;
        r->weight[row] = of.has_weights ? (float)(0.2 + (double)(drawn % 64) / 32) : 1;
        r->label[row] += of.has_classes ? (double)(8 * (row % 3)) : 0;
    }
    return r;
}

static gsa_batch batch_of(const rows *r)
{
    gsa_batch batch = rows_batch(r);
    batch.weight = r->weight;
    return batch;
}

static gsa_state *learner(uint64_t number, const gsa_batch *batch)
{
    const char *holdout = number % 4 < 2 ? "none" : "auto";
    gsa_state *state =
        state_with("method", "gsa", "loss", "softmax", "scale", kind_of(number).scale, "holdout", holdout, NULL);
    prepare(state, batch);
    return state;
}

static bytes learned(uint64_t number, const gsa_batch *batch)
{
    gsa_state *state = learner(number, batch);
    learn(state, batch);
    bytes out = state_bytes(state);
    gsa_state_free(state);
    return out;
}

static void chunks_of_any_size_give_the_same_bits(void **unused)
{
    (void)unused;
    static const size_t sizes[] = {1, 2, 7, 4096};
    for (uint64_t number = 0; number < KINDS; number++) {
        rows *r = rows_of(number);
        gsa_batch batch = batch_of(r);
        bytes expected = learned(number, &batch);
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            gsa_state *parts = learner(number, &batch);
            for (size_t from = 0; from < ROWS; from += sizes[i]) {
                gsa_batch delta = rows_slice(&batch, from, ROWS - from < sizes[i] ? ROWS - from : sizes[i]);
                learn(parts, &delta);
            }
            same_bytes(&expected, parts);
            gsa_state_free(parts);
        }
        free(expected.data);
        free(r);
    }
}

static void a_save_after_every_row_changes_no_bit(void **unused)
{
    (void)unused;
    for (uint64_t number = 1; number < 3; number++) {
        rows *r = rows_of(number);
        gsa_batch batch = batch_of(r);
        bytes expected = learned(number, &batch);
        gsa_state *state = learner(number, &batch);
        size_t n_waited = 0;
        for (size_t row = 0; row < ROWS; row++) {
            gsa_batch one = rows_slice(&batch, row, 1);
            learn(state, &one);
            n_waited += state->group.n_rows > 0;
            gsa_state *again = row % 5 ? reread(state) : forked(state, 1);
            gsa_state_free(state);
            state = again;
        }
        assert_true(n_waited > ROWS / 4);
        same_bytes(&expected, state);
        free(expected.data);
        gsa_state_free(state);
        free(r);
    }
}

static void all_kernels_learn_the_same_bits(void **unused)
{
    (void)unused;
    for (uint64_t number = 0; number < KINDS; number++) {
        rows *r = rows_of(number);
        gsa_batch batch = batch_of(r);
        bytes expected = learned(number, &batch);
        for (size_t i = 0; gsai_kernels_at(i); i++) {
            gsa_state *state = learner(number, &batch);
            state->kernels = gsai_kernels_at(i);
            learn(state, &batch);
            same_bytes(&expected, state);
            gsa_state_free(state);
        }
        free(expected.data);
        free(r);
    }
}

/* Both ways to learn a group add up the same products: a table that is learned by columns, and one with the same rows
 * whose features lie so far apart that it is learned by rows. */
static void columns_and_rows_learn_the_same(void **unused)
{
    (void)unused;
    for (uint64_t number = 1; number < KINDS; number += 4) { /* without held-out rows, which hashes choose */
        rows *r = rows_of(number);
        gsa_batch batch = batch_of(r);
        gsa_state *near = learner(number, &batch), *far = learner(number, &batch);
        learn(near, &batch);
        for (size_t e = 0; e < r->n_entries; e++)
            r->index[e] *= 1000;
        learn(far, &batch);
        assert_int_equal(near->n_rows, far->n_rows);
        for (size_t slot = 0; slot <= kind_of(number).n_features; slot++)
            for (size_t k = 0; k < near->table.n_outputs; k++) {
                size_t far_slot = slot == 0 ? 0 : (slot - 1) * 1000 + 1;
                double a = gsai_state_average(near, slot, k), b = gsai_state_average(far, far_slot, k);
                assert_close(a, b, 2e-3 * (1 + fabs(b)));
                assert_close(gsai_state_sum_sq(near, slot) / gsai_state_sum_sq(far, far_slot), 1, 1e-5);
                assert_true(gsai_state_n_seen(near, slot) == gsai_state_n_seen(far, far_slot));
            }
        free_states(near, far);
        free(r);
    }
}

/* ---- kernels ----------------------------------------------------------------------------------------------------- */

enum { COLUMNS = 37, SLOTS = 90, OUTPUTS = 44, STRIDE = 48 };

static float drawn(uint64_t at)
{
    return (float)((double)(gsai_mix(at) >> 40) * 0x1p-24 - 0.5);
}

/* Columns, a table and scales, all of them numbers that were drawn. */
typedef struct matrices {
    gsai_table table;
    gsai_columns columns;
    uint32_t slot[COLUMNS], n_rows[COLUMNS];
    float x[COLUMNS * GROUP], direction[COLUMNS * GROUP], square[COLUMNS], per_unit[COLUMNS];
    float scales[GROUP * STRIDE];
    double origin[COLUMNS];
} matrices;

static void draw(matrices *to, size_t n_outputs)
{
    gsai_env env = gsai_env_resolve(NULL);
    memset(to, 0, sizeof *to);
    assert_int_equal(gsai_table_init(&to->table, SLOTS, n_outputs, &env, NULL), GSA_OK);
    to->columns =
        (gsai_columns){COLUMNS, to->origin, to->per_unit, to->x, to->direction, to->square, to->slot, to->n_rows};
    for (size_t slot = 0; slot < SLOTS; slot++) {
        gsai_cell *record = gsai_table_slot(&to->table, slot);
        for (size_t k = 0; k < n_outputs; k++) {
            record[k].f = drawn(slot * 100 + k);
            record[gsai_table_average(&to->table) + k].f = 10 * drawn(slot * 100 + k + 50);
        }
        record[gsai_table_mean(&to->table)].f = slot % 3 ? 1.0F : 0.37F;
        record[gsai_table_count(&to->table)].u = (uint32_t)(gsai_mix(slot) % 100000) << slot % 9;
    }
    for (uint32_t i = 0; i < COLUMNS; i++) {
        to->slot[i] = 1 + 2 * i + i % 2;
        to->square[i] = 3 + drawn(i);
        to->n_rows[i] = 1 + i % GROUP;
        for (size_t row = 0; row < GROUP; row++) {
            bool has = (i + row) % 5 > 0;
            to->x[i * GROUP + row] = has ? drawn(9000 + i * GROUP + row) : 0;
            to->direction[i * GROUP + row] = has ? drawn(19000 + i * GROUP + row) : 0;
        }
    }
    for (size_t row = 0; row < GROUP; row++)
        for (size_t k = 0; k < n_outputs; k++)
            to->scales[row * STRIDE + k] = drawn(29000 + row * STRIDE + k);
}

static void release(matrices *m)
{
    gsai_env env = gsai_env_resolve(NULL);
    gsai_table_release(&m->table, &env);
}

static const size_t outputs[] = {2, 3, 8, 10, 16, 17, 25, 40};

static void margins_by_columns_are_products_of_matrices(void **unused)
{
    (void)unused;
    const gsai_kernels *kernels;
    static matrices m;
    for (size_t number = 0; (kernels = gsai_kernels_at(number)) != NULL; number++)
        for (size_t o = 0; o < sizeof outputs / sizeof *outputs; o++) {
            float margins[GROUP * STRIDE];
            draw(&m, outputs[o]);
            kernels->column_margins(&m.columns, &m.table, margins, STRIDE);
            for (size_t row = 0; row < GROUP; row++)
                for (size_t k = 0; k < outputs[o]; k++) {
                    double sum = 0;
                    for (size_t i = 0; i < COLUMNS; i++)
                        sum += (double)gsai_table_slot(&m.table, m.slot[i])[k].f * (double)m.x[i * GROUP + row];
                    assert_close((double)margins[row * STRIDE + k], sum, 2e-6);
                }
            release(&m);
        }
}

static void updates_by_columns_are_those_of_all_rows(void **unused)
{
    (void)unused;
    const gsai_kernels *kernels;
    static matrices m, before;
    const float lag = 12.5F;
    for (size_t number = 0; (kernels = gsai_kernels_at(number)) != NULL; number++)
        for (size_t o = 0; o < sizeof outputs / sizeof *outputs; o++) {
            draw(&m, outputs[o]);
            draw(&before, outputs[o]);
            kernels->column_update(&m.columns, &m.table, m.scales, STRIDE, lag);
            size_t average = gsai_table_average(&m.table), mean = gsai_table_mean(&m.table);
            for (size_t slot = 0, i = 0; slot < SLOTS; slot++) {
                const gsai_cell *was = gsai_table_slot(&before.table, slot), *is = gsai_table_slot(&m.table, slot);
                if (i == COLUMNS || m.slot[i] != slot) {
                    assert_memory_equal(was, is, gsai_table_stride(&m.table) * sizeof *is);
                    continue;
                }
                for (size_t k = 0; k < outputs[o]; k++) {
                    double by = 0;
                    for (size_t row = 0; row < GROUP; row++)
                        by += (double)m.scales[row * STRIDE + k] * (double)m.direction[i * GROUP + row];
                    assert_close((double)is[k].f, (double)was[k].f + by, 1e-6);
                    assert_close((double)is[average + k].f, (double)was[average + k].f + (double)lag * by, 1e-5);
                }
                for (size_t k = outputs[o]; k < m.table.room; k++)
                    assert_true(is[k].f == 0 && is[average + k].f == 0);
                double count = (double)was[mean + 1].u, sum_sq = (double)was[mean].f * count + (double)m.square[i];
                assert_int_equal(is[mean + 1].u, was[mean + 1].u + m.n_rows[i]);
                assert_close((double)is[mean].f, sum_sq / (count + (double)m.n_rows[i]), 2e-7);
                i++;
            }
            release(&m);
            release(&before);
        }
}

static void softmax_of_floats_is_that_of_doubles(void **unused)
{
    (void)unused;
    const gsai_kernels *kernels;
    for (size_t number = 0; (kernels = gsai_kernels_at(number)) != NULL; number++)
        for (size_t n = 2; n <= OUTPUTS; n++)
            for (size_t wide = 0; wide < 60; wide++) {
                float m[STRIDE];
                double exact[OUTPUTS];
                gsai_target target = {.class_number = wide % n};
                for (size_t k = 0; k < n; k++)
                    exact[k] = (double)(m[k] = (float)wide * drawn(n * 1000 + wide * 50 + k));
                gsai_greedy_step step = gsai_loss_softmax.greedy_step_of_floats(kernels, m, n, &target);
                gsai_greedy_step wanted = gsai_loss_softmax.greedy_step(exact, n, &target);
                assert_close(step.loss, wanted.loss, 1e-6 + 1e-6 * wanted.loss);
                assert_close(step.lambda, wanted.lambda, 3e-6 * (1 + fabs(wanted.lambda)));
                assert_close(step.g, wanted.g, 2e-6 * wanted.g);
                for (size_t k = 0; k < STRIDE; k++)
                    if (k < n)
                        assert_close((double)m[k], exact[k], 3e-6 * fabs(exact[k]) + 1e-25);
                    else
                        assert_true(k >= (n + 15) / 16 * 16 || m[k] == 0);
            }
}

/* Rows of four dense columns, three classes; enough of them that groups are learned by columns. */
static rows *dense_rows(double from, double unit)
{
    rows *r = rows_new();
    gsai_rng rng = gsai_rng_of(8, 8, 8);
    for (size_t row = 0; row < 12000; row++) {
        double m = 0;
        for (uint32_t i = 0; i < 4; i++) {
            double x = gsai_rng_unit(&rng) + gsai_rng_unit(&rng) - 1;
            m += x * (i - 1.5);
            rows_entry(r, i, (float)((x + from * (i + 1)) * unit));
        }
        rows_end(r, m > 0.4 ? 2 : m > -0.4 ? 1 : 0);
    }
    return r;
}

/* Of the last 4000 rows, which are learned by columns. */
static double loss_of(double from, double unit, const char *scale)
{
    rows *r = dense_rows(from, unit);
    gsa_batch all = rows_batch(r), part = all;
    gsa_state *state = state_with("method", "gsa", "loss", "softmax", "scale", scale, "holdout", "none", NULL);
    gsa_summary summary[2] = {{.size = sizeof *summary}, {.size = sizeof *summary}};
    prepare(state, &all);
    for (size_t i = 0; i < 2; i++) {
        part.n_rows = i == 0 ? 8000 : 4000;
        part.row_start = all.row_start + 8000 * i;
        part.label = all.label + 8000 * i;
        learn(state, &part);
        summary[i] = state_summary(state);
    }
    gsa_state_free(state);
    free(r);
    return (summary[1].loss_sum - summary[0].loss_sum) / (summary[1].loss_weight - summary[0].loss_weight);
}

static void columns_that_lie_far_away_are_learned_as_if_centred(void **unused)
{
    (void)unused;
    double near = loss_of(0, 1, "standard"), far = loss_of(300, 1, "standard");
    assert_true(near < 0.1);
    assert_close(far, near, 0.01 * near);
}

/* Squares of such values are no floats: the sums of their rows are taken in double. Steps are so small then that the
 * rows are learned badly, but learned. */
static void columns_of_huge_values_are_learned(void **unused)
{
    (void)unused;
    assert_true(loss_of(0, 0x1p70, "none") < 0.8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chunks_of_any_size_give_the_same_bits),
        cmocka_unit_test(a_save_after_every_row_changes_no_bit),
        cmocka_unit_test(all_kernels_learn_the_same_bits),
        cmocka_unit_test(columns_and_rows_learn_the_same),
        cmocka_unit_test(margins_by_columns_are_products_of_matrices),
        cmocka_unit_test(updates_by_columns_are_those_of_all_rows),
        cmocka_unit_test(softmax_of_floats_is_that_of_doubles),
        cmocka_unit_test(columns_that_lie_far_away_are_learned_as_if_centred),
        cmocka_unit_test(columns_of_huge_values_are_learned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
