/* The loops over a row's entries: what is compiled for wider vectors gives the bits of the plain code. */
#include "rows.h"

#include "base/memory.h"
#include "base/real.h"
#include "learn/kernel/kernel.h"
#include "merge/resident.h"
#include "merge/sums.h"

#include <math.h>

enum { FEATURES = 300, MOST = 90 };

/* A row of n distinct ascending features; every seventh value is zero, unless all are ones. */
typedef struct drawn {
    uint32_t index[MOST];
    float value[MOST];
    gsai_row row;
} drawn;

static void draw(drawn *out, size_t n, bool ones, uint64_t seed)
{
    for (size_t i = 0; i < n; i++) {
        double unit = (double)(gsai_mix(seed + i) >> 11) * 0x1p-53;
        out->index[i] = (uint32_t)(i * 3 + (gsai_mix(seed ^ i) & 1));
        out->value[i] = i % 7 == 3 ? 0.0f : (float)((unit - 0.5) * (i % 5 ? 1.0 : 1e4));
    }
    out->row = (gsai_row){n, out->index, ones ? NULL : out->value};
}

static void fill(gsai_table *table)
{
    for (size_t slot = 0; slot < table->n_slots; slot++) {
        gsai_cell *record = gsai_table_slot(table, slot);
        for (size_t k = 0; k < 2 * table->room; k++)
            record[k].f = (float)((double)(gsai_mix(slot * 64 + k) >> 40) * 0x1p-24 - 0.5);
        record[gsai_table_mean(table)].f = slot % 3 ? 1.0f : 0.37f;
        record[gsai_table_count(table)].u = (uint32_t)(gsai_mix(slot) % 100000) << slot % 13;
    }
}

/* All that learning a row does, into out: sums first, then the whole table. */
typedef struct learned {
    double xx, margin, margins[44];
    gsai_cell cells[(FEATURES + 1) * 110];
} learned;

static void learn_row(const gsai_kernels *kernels, const gsai_row *row, size_t n_outputs, bool intercept, double c,
                      learned *out)
{
    gsai_env env = gsai_env_resolve(NULL);
    gsai_entries entries = {0};
    gsai_table table;
    gsa_error error = {0};
    float scale[44] = {0};
    memset(out, 0, sizeof *out);
    assert_int_equal(gsai_table_init(&table, FEATURES + 1, n_outputs, &env, &error), GSA_OK);
    fill(&table);
    assert_true(gsai_entries_reserve(&entries, row->n, &env));
    kernels->gather(&entries, row, intercept);
    out->xx = kernels->square_length(&entries);
    if (n_outputs == 1)
        out->margin = kernels->take_one(&table, &entries, c);
    else
        assert_true(kernels->take_many(&table, &entries, c, out->margins));
    for (size_t k = 0; k < n_outputs; k++)
        scale[k] = (float)(k + 1);
    if (n_outputs == 1)
        kernels->update_one(&table, &entries, 0.01, 12.5);
    else
        kernels->update_many(&table, &entries, 0.01, scale, 12.5);
    memcpy(out->cells, table.cells, (FEATURES + 1) * gsai_table_stride(&table) * sizeof(gsai_cell));
    gsai_free(&env, entries.memory);
    gsai_table_release(&table, &env);
}

static void every_kernel_gives_the_bits_of_the_plain_code(void **unused)
{
    (void)unused;
    static learned plain, wide;
    static const size_t outputs[] = {1, 2, 3, 8, 17, 40};
    size_t n_kernels = 1;
    for (size_t number = 1; gsai_kernels_at(number); number++, n_kernels++)
        for (size_t n = 0; n < MOST; n++)
            for (size_t o = 0; o < sizeof outputs / sizeof *outputs; o++) {
                drawn row;
                draw(&row, n, n % 2, n * 1000 + o);
                learn_row(gsai_kernels_at(0), &row.row, outputs[o], n % 3, 1 + (double)(n % 4) / 2, &plain);
                learn_row(gsai_kernels_at(number), &row.row, outputs[o], n % 3, 1 + (double)(n % 4) / 2, &wide);
                assert_memory_equal(&plain, &wide, sizeof plain);
            }
    print_message("kernels on this machine: %zu, the best is %s\n", n_kernels, gsai_kernels_best()->name);
}

/* Class j goes to partial sum j mod 8, as kernel.h says, with the exponentials of base/real.h. */
/* All that merging two copies with a base does to n slots, the result in `out`. */
static void merge_slots(const gsai_kernels *kernels, gsai_table *table, size_t n, bool standardised, gsai_table *out)
{
    gsai_env env = gsai_env_resolve(NULL);
    gsai_arena arena = {.env = &env};
    gsai_tree tree;
    gsai_view base, copy;
    float numbers[5][GSAI_MAX_BLOCK];
    gsai_block_steps steps = {numbers[0], numbers[1], numbers[2], {numbers[3], numbers[4]}, 0.25, 1e6};
    gsai_tree_begin(&tree, 2, table->n_outputs, &arena);
    gsai_view_begin(&base, table->n_outputs, &arena);
    gsai_view_begin(&copy, table->n_outputs, &arena);
    assert_false(arena.failed);
    fill(table);
    kernels->view_records(&base, table->cells, table->room, n, 0.125F);
    for (size_t c = 0; c < 2; c++) {
        fill(table);
        for (size_t slot = c; slot < n; slot += 2 + c) { /* what it has touched */
            gsai_cell *record = gsai_table_slot(table, slot);
            record[0].f += 0.1F * (float)(slot % 7);
            record[gsai_table_average(table)].f *= 0.3F;
            record[gsai_table_count(table)].u += 1 + (uint32_t)slot;
        }
        kernels->view_records(&copy, table->cells, table->room, n, 0.0625F);
        assert_true(kernels->sum_changes(&tree.at[c], &copy, &base, 0.75F, standardised, n));
        assert_int_equal(tree.at[c].is_empty, n <= c);
    }
    if (n > 1)
        kernels->add_sums(&tree.at[0], &tree.at[1], table->n_outputs, n);
    kernels->mean_changes(&tree.at[0], &base, standardised, 0, n, &steps);
    kernels->aggregations(steps.all, steps.one, n, 0.01F, steps.step[0]);
    kernels->aggregations(steps.all, steps.one, n, 1e-6F, steps.step[1]);
    kernels->enter_slots(out->cells, out->room, &base, &tree.at[0], &steps, n);
    base.count[n - 1] = copy.count[n - 1] + 1; /* more than the copy knows */
    assert_false(kernels->sum_changes(&tree.at[1], &copy, &base, 0.75F, standardised, n));
    gsai_arena_release(&arena);
}

static void slots_are_merged_to_the_bits_of_the_plain_code(void **unused)
{
    (void)unused;
    gsai_env env = gsai_env_resolve(NULL);
    gsa_error error = {0};
    for (size_t number = 1; gsai_kernels_at(number); number++)
        for (size_t n_outputs = 1; n_outputs < 6; n_outputs++)
            for (size_t n = 1; n <= gsai_sums_block(n_outputs); n += n < 40 ? 1 : 13) {
                gsai_table table, plain, wide;
                must_be_ok(gsai_table_init(&table, n, n_outputs, &env, &error), &error);
                must_be_ok(gsai_table_init(&plain, n, n_outputs, &env, &error), &error);
                must_be_ok(gsai_table_init(&wide, n, n_outputs, &env, &error), &error);
                merge_slots(gsai_kernels_at(0), &table, n, n % 2, &plain);
                merge_slots(gsai_kernels_at(number), &table, n, n % 2, &wide);
                assert_memory_equal(plain.cells, wide.cells, n * gsai_table_stride(&plain) * sizeof *plain.cells);
                gsai_table_release(&table, &env);
                gsai_table_release(&plain, &env);
                gsai_table_release(&wide, &env);
            }
}

static void exponentials_of_many_classes_are_those_of_one(void **unused)
{
    (void)unused;
    const gsai_kernels *kernels;
    for (size_t number = 0; (kernels = gsai_kernels_at(number)) != NULL; number++)
        for (size_t n = 1; n < 60; n++) {
            double m[60], p[60], lane[2][8] = {{0}}, sum[2];
            for (size_t j = 0; j < n; j++) {
                double unit = (double)(gsai_mix(n * 100 + j) >> 11) * 0x1p-53;
                m[j] = j == 0 ? 3 : 3 - unit * (j % 3 == 0 ? 800 : j % 3 == 1 ? 1 : 1e-8);
                p[j] = j % 5 == 4 ? unit * 1e-300 : j % 7 == 6 ? (double)(j % 2) : unit;
                lane[0][j % 8] += gsai_exp(m[j] - 3);
                lane[1][j % 8] += p[j] * gsai_expm1(p[j]);
            }
            for (int i = 0; i < 2; i++) {
                const double *s = lane[i];
                sum[i] = ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
            }
            double before[60], shift = n % 2 ? 3 : -1e300;
            memcpy(before, m, sizeof before);
            assert_true(kernels->exponentiate(m, n, &shift) == sum[0] && shift == 3);
            assert_true(kernels->expected_growth(p, n) == sum[1]);
            for (size_t j = 0; j < n; j++)
                assert_true(m[j] == gsai_exp(before[j] - 3));
        }
}

static void assert_near(double got, long double wanted, long double most)
{
    if (!(fabsl(got - wanted) <= most))
        fail_msg("%.17g is not %.17Lg", got, wanted);
}

static void what_is_not_finite_does_not_go_unseen(void **unused)
{
    (void)unused;
    const gsai_kernels *kernels;
    const double none[] = {NAN, INFINITY, -INFINITY};
    for (size_t number = 0; (kernels = gsai_kernels_at(number)) != NULL; number++)
        for (size_t n = 1; n < 20; n++)
            for (size_t j = 0; j < n; j++)
                for (int i = 0; i < 3; i++) {
                    double m[20] = {0}, shift = 0;
                    m[j] = none[i];
                    double sum = kernels->exponentiate(m, n, &shift);
                    assert_true(i < 2 ? isnan(sum) && isnan(m[j]) : sum == (double)(n - 1) && m[j] == 0);
                }
}

/* Every class and entry in turn; class 2 of 3 is followed by padding. */
static void margins_that_are_not_finite_are_told(void **unused)
{
    (void)unused;
    gsai_env env = gsai_env_resolve(NULL);
    const gsai_kernels *kernels;
    static const size_t outputs[] = {2, 3, 8, 13, 40};
    const float value[] = {1, 2, 3, 4, 5, 6};
    const gsai_row row = {6, NULL, value};
    for (size_t number = 0; (kernels = gsai_kernels_at(number)) != NULL; number++)
        for (size_t o = 0; o < sizeof outputs / sizeof *outputs; o++)
            for (size_t k = 0; k < outputs[o]; k++) {
                gsai_table table;
                gsai_entries entries = {0};
                double margins[44];
                assert_int_equal(gsai_table_init(&table, 8, outputs[o], &env, NULL), GSA_OK);
                assert_true(gsai_entries_reserve(&entries, row.n, &env));
                kernels->gather(&entries, &row, true);
                assert_true(kernels->take_many(&table, &entries, 1, margins));
                gsai_table_slot(&table, k % 7)[k].f = k % 2 ? NAN : INFINITY;
                assert_false(kernels->take_many(&table, &entries, 1, margins));
                gsai_free(&env, entries.memory);
                gsai_table_release(&table, &env);
            }
}

/* By hand, with the floats and fours that kernel.h names; sixteen classes in one loop, the rest in another. */
static void several_outputs_are_summed_and_moved_as_written(void **unused)
{
    (void)unused;
    enum { OUTPUTS = 19, ROOM = 20, STRIDE = 2 * ROOM + 2, DRAWN = 12 };
    static learned plain;
    static gsai_cell before[(FEATURES + 1) * STRIDE];
    gsai_table table = {
        .cells = before, .n_slots = FEATURES + 1, .capacity = FEATURES + 1, .n_outputs = OUTPUTS, .room = ROOM};
    drawn row;
    float x[DRAWN + 4] = {0};
    size_t at[DRAWN + 4] = {0}, n = 0;
    fill(&table);
    draw(&row, DRAWN, false, 3);
    learn_row(gsai_kernels_at(0), &row.row, OUTPUTS, true, 1, &plain);
    for (size_t i = 0; i < DRAWN; i++)
        if (row.value[i] != 0) {
            x[n] = row.value[i];
            at[n++] = STRIDE * (row.index[i] + (size_t)1);
        }
    x[n++] = 1; /* the intercept, in slot 0 */
    for (size_t k = 0; k < OUTPUTS; k++) {
        double margin = 0;
        float product[DRAWN + 4] = {0};
        for (size_t i = 0; i < n; i++) {
            product[i] = x[i] * before[at[i] + k].f;
            const gsai_cell *old = before + at[i], *new = plain.cells + at[i];
            long double by = 0.01L * (k + 1) * x[i];
            assert_near((double)new[k].f, old[k].f + by, 1e-6L * fabsl(by) + 1e-7L);
            assert_near((double)new[ROOM + k].f, old[ROOM + k].f + 12.5L * by, 1e-5L * fabsl(by) + 1e-7L);
        }
        for (size_t i = 0; i < n; i += 4)
            margin += (double)((product[i] + product[i + 1]) + (product[i + 2] + product[i + 3]));
        assert_true(plain.margins[k] == margin);
    }
}

/* By hand, in long double, against the plain code: the figures that all kernels share are the right ones. */
static void the_plain_code_computes_what_is_written(void **unused)
{
    (void)unused;
    static learned plain;
    static gsai_cell before[(FEATURES + 1) * 4];
    gsai_table table = {.cells = before, .n_slots = FEATURES + 1, .capacity = FEATURES + 1, .n_outputs = 1, .room = 1};
    fill(&table);
    drawn row;
    draw(&row, 61, false, 5);
    learn_row(gsai_kernels_at(0), &row.row, 1, true, 2, &plain);
    long double xx = 1, margin = (long double)before[0].f;
    for (size_t i = 0; i <= 61; i++) {
        float x = i == 61 ? 1.0f : row.value[i];
        size_t slot = i == 61 ? 0 : row.index[i] + (size_t)1;
        const gsai_cell *old = before + 4 * slot, *new = plain.cells + 4 * slot;
        if (x == 0) {
            assert_memory_equal(old, new, 4 * sizeof *old);
            continue;
        }
        if (i < 61) {
            xx += (long double)x * x;
            margin += (long double)x * old[0].f;
        }
        assert_near((double)new[0].f, old[0].f + 0.01L * x, 1e-6L * fabsl(x) + 1e-7L);
        assert_near((double)new[1].f, old[1].f + 0.125L * x, 1e-6L * fabsl(x) + 1e-6L);
        long double mean = old[2].f + (2.0L * x * x - old[2].f) / (old[3].u + 1.0L);
        assert_near((double)new[2].f, mean, 1e-6L * fabsl(mean));
        assert_int_equal(new[3].u, old[3].u + 1);
    }
    assert_near(plain.xx, xx, 1e-14L * xx);
    assert_near(plain.margin, margin, 1e-12L * xx);
}

/* Of 2^26 rows before, whose mean of squares is 0.02, and 300,000 more whose squares are 0.01, but for one in a
 * thousand that has 7: in floats rounded to the nearest none of the small ones changed anything. */
static void the_mean_of_many_squares_follows_the_small_ones_too(void **unused)
{
    (void)unused;
    enum { BEFORE = 1 << 26, ROWS = 300000 };
    gsai_env env = gsai_env_resolve(NULL);
    gsai_entries entries = {0};
    gsai_table table;
    const uint32_t index = 0;
    assert_true(gsai_entries_reserve(&entries, 1, &env));
    for (int tailed = 0; tailed < 2; tailed++) {
        assert_int_equal(gsai_table_init(&table, 2, 1, &env, NULL), GSA_OK);
        gsai_cell *record = gsai_table_slot(&table, 1);
        double sum_sq = 0.02 * (double)BEFORE;
        record[gsai_table_mean(&table)].f = 0.02f;
        record[gsai_table_count(&table)].u = BEFORE;
        for (uint32_t i = 0; i < ROWS; i++) {
            float x = tailed && i % 1000 == 0 ? 2.6457513f : 0.1f;
            gsai_row row = {1, &index, &x};
            gsai_kernels_generic.gather(&entries, &row, true);
            (void)gsai_kernels_generic.take_one(&table, &entries, 1);
            gsai_kernels_generic.update_one(&table, &entries, 0, 0);
            sum_sq += (double)x * (double)x;
        }
        double mean = sum_sq / (BEFORE + ROWS), error = (double)record[gsai_table_mean(&table)].f / mean - 1;
        assert_true(fabs(error) < 1e-5);
        gsai_table_release(&table, &env);
    }
    gsai_free(&env, entries.memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kernel_gives_the_bits_of_the_plain_code),
        cmocka_unit_test(slots_are_merged_to_the_bits_of_the_plain_code),
        cmocka_unit_test(the_mean_of_many_squares_follows_the_small_ones_too),
        cmocka_unit_test(exponentials_of_many_classes_are_those_of_one),
        cmocka_unit_test(what_is_not_finite_does_not_go_unseen),
        cmocka_unit_test(margins_that_are_not_finite_are_told),
        cmocka_unit_test(several_outputs_are_summed_and_moved_as_written),
        cmocka_unit_test(the_plain_code_computes_what_is_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
