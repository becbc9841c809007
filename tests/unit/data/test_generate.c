/* Generated rows: the same everywhere, as described, and with labels that the planted weights explain. */
#include "unit/data/support.h"

#include "base/hash.h"

#include <math.h>

static gsa_reader *generate(uint64_t rows, uint64_t features, uint64_t nnz, uint64_t classes, uint64_t seed)
{
    gsa_generator what = {rows, features, nnz, classes, seed};
    gsa_reader *reader = NULL;
    gsa_error error;
    gsa_status status = gsa_reader_open_generated(&what, NULL, &reader, &error);
    if (status != GSA_OK)
        fail_msg("%s", error.message);
    return reader;
}

static uint64_t hash_rows(uint64_t rows, uint64_t features, uint64_t nnz, uint64_t classes, uint64_t seed)
{
    gsa_reader *reader = generate(rows, features, nnz, classes, seed);
    gsa__hasher hasher;
    gsa__hasher_init(&hasher);
    gsa_batch batch;
    uint64_t n = 0;
    while (gsa_reader_next(reader, &batch, NULL) == GSA_OK) {
        gsa__hasher_add(&hasher, batch.index, (size_t)batch.row_start[batch.n_rows] * sizeof *batch.index);
        gsa__hasher_add(&hasher, batch.label, batch.n_rows * sizeof *batch.label);
        n += batch.n_rows;
    }
    assert_int_equal(n, rows);
    gsa_reader_close(reader);
    return gsa__hasher_value(&hasher);
}

/* Pinned: a change here changes every data set that anybody has generated. (The hash is of little-endian numbers.) */
static void generated_rows_are_the_same_on_every_machine(void **state)
{
    (void)state;
    static const struct {
        uint64_t features, nnz, classes, seed, hash;
    } cases[] = {
        {1000000, 20, 2, 1, 0xCFA9F9CE2D743D97},
        {1000000, 20, 2, 2, 0x6F2090C4EDF0A4FF},
        {4294967294u, 7, 5, 1, 0x133D80A8871D22F7},
        {100, 10, 1, 3, 0xB126FE3C3D73EA0C},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t hash = hash_rows(1000, cases[i].features, cases[i].nnz, cases[i].classes, cases[i].seed);
        if (hash != cases[i].hash)
            fail_msg("case %zu: 0x%016" PRIX64, i, hash);
    }
}

static void generated_rows_do_not_depend_on_the_rows_before_them(void **state)
{
    (void)state;
    /* Batches of different sizes: nnz is the same, the number of rows is not. */
    gsa_reader *few = generate(5000, 1000, 5, 3, 9), *many = generate(9000, 1000, 5, 3, 9);
    gsa_batch a, b;
    assert_int_equal(gsa_reader_next(few, &a, NULL), GSA_OK);
    assert_int_equal(gsa_reader_next(few, &a, NULL), GSA_OK);
    assert_int_equal(gsa_reader_next(many, &b, NULL), GSA_OK);
    assert_int_equal(gsa_reader_next(many, &b, NULL), GSA_OK);
    assert_int_equal(a.n_rows, 5000 - 4096);
    assert_memory_equal(a.label, b.label, a.n_rows * sizeof *a.label);
    assert_memory_equal(a.index, b.index, 5 * a.n_rows * sizeof *a.index);
    gsa_reader_close(few);
    gsa_reader_close(many);
}

static void generated_rows_can_be_read_again(void **state)
{
    (void)state;
    gsa_reader *reader = generate(10000, 50, 3, 4, 5);
    gsa_status status;
    gsa_error error;
    char *first = dump_reader(reader, &status, &error);
    assert_int_equal(gsa_reader_rewind(reader, &error), GSA_OK);
    gsa_reader_progress progress;
    gsa_reader_get_progress(reader, &progress);
    assert_int_equal(progress.n_rows, 0);
    assert_false(progress.is_stream);
    char *second = dump_reader(reader, &status, &error);
    assert_string_equal(first, second);
    gsa_reader_get_progress(reader, &progress);
    assert_int_equal(progress.n_rows, 10000);
    free(first);
    free(second);
    gsa_reader_close(reader);
}

static void generated_features_lie_one_in_each_slice(void **state)
{
    (void)state;
    static const struct {
        uint64_t features, nnz;
    } cases[] = {{10, 3}, {7, 7}, {1, 1}, {4294967294u, 1000}, {4294967294u, 3}, {1000003, 17}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t f = cases[i].features, k = cases[i].nnz;
        gsa_reader *reader = generate(300, f, k, 2, i);
        gsa_batch batch;
        while (gsa_reader_next(reader, &batch, NULL) == GSA_OK) {
            assert_null(batch.value);
            for (size_t r = 0; r < batch.n_rows; r++) {
                assert_int_equal(batch.row_start[r + 1] - batch.row_start[r], k);
                for (uint64_t j = 0; j < k; j++) {
                    uint64_t id = batch.index[(uint64_t)batch.row_start[r] + j];
                    assert_true(id >= j * f / k && id < (j + 1) * f / k);
                }
            }
        }
        gsa_reader_close(reader);
    }
}

static void generated_features_cover_their_slices_evenly(void **state)
{
    (void)state;
    uint64_t count[10] = {0};
    gsa_reader *reader = generate(20000, 10, 2, 2, 1);
    gsa_batch batch;
    while (gsa_reader_next(reader, &batch, NULL) == GSA_OK)
        for (int64_t i = 0; i < batch.row_start[batch.n_rows]; i++)
            count[batch.index[i]]++;
    for (int i = 0; i < 10; i++) /* 4000 each, standard deviation 57 */
        assert_true(count[i] > 3700 && count[i] < 4300);
    gsa_reader_close(reader);
}

/* A small model that counts: how often each label comes with each feature. If labels follow the planted weights, some
 * features must go with label 1 far more often than others. */
static void generated_labels_follow_the_features(void **state)
{
    (void)state;
    uint64_t seen[40] = {0}, ones[40] = {0}, all_ones = 0;
    gsa_reader *reader = generate(40000, 40, 4, 2, 3);
    gsa_batch batch;
    while (gsa_reader_next(reader, &batch, NULL) == GSA_OK) {
        for (size_t r = 0; r < batch.n_rows; r++) {
            assert_true(batch.label[r] == 0 || batch.label[r] == 1);
            all_ones += batch.label[r] == 1;
            for (int64_t i = batch.row_start[r]; i < batch.row_start[r + 1]; i++) {
                seen[batch.index[i]]++;
                ones[batch.index[i]] += batch.label[r] == 1;
            }
        }
    }
    assert_true(all_ones > 10000 && all_ones < 30000);
    double spread = 0, mean = (double)all_ones / 40000;
    for (int i = 0; i < 40; i++) {
        double rate = (double)ones[i] / (double)seen[i];
        spread += (rate - mean) * (rate - mean) / 40;
    }
    /* A weight of standard deviation 1 (2 / sqrt(4)) moves the rate by about 0.15; chance alone by 0.008. */
    assert_true(sqrt(spread) > 0.08 && sqrt(spread) < 0.25);
    gsa_reader_close(reader);
}

static void generated_classes_all_occur(void **state)
{
    (void)state;
    uint64_t count[10] = {0};
    gsa_reader *reader = generate(20000, 1000, 10, 10, 4);
    gsa_batch batch;
    while (gsa_reader_next(reader, &batch, NULL) == GSA_OK) {
        for (size_t r = 0; r < batch.n_rows; r++) {
            assert_true(batch.label[r] >= 0 && batch.label[r] <= 9 && batch.label[r] == floor(batch.label[r]));
            count[(int)batch.label[r]]++;
        }
    }
    for (int c = 0; c < 10; c++)
        assert_true(count[c] > 500 && count[c] < 6000);
    gsa_reader_close(reader);
}

static void generated_targets_have_the_stated_spread(void **state)
{
    (void)state;
    for (uint64_t nnz = 1; nnz <= 100; nnz *= 10) {
        double sum = 0, squares = 0;
        gsa_reader *reader = generate(20000, 100000, nnz, 1, 6);
        gsa_batch batch;
        while (gsa_reader_next(reader, &batch, NULL) == GSA_OK) {
            for (size_t r = 0; r < batch.n_rows; r++) {
                sum += batch.label[r];
                squares += batch.label[r] * batch.label[r];
                assert_true(batch.label[r] * 1000 == nearbyint(batch.label[r] * 1000) ||
                            fabs(batch.label[r] * 1000 - nearbyint(batch.label[r] * 1000)) < 1e-9);
            }
        }
        double mean = sum / 20000, deviation = sqrt(squares / 20000 - mean * mean);
        assert_true(fabs(mean) < 0.7);
        assert_true(deviation > 1.9 && deviation < 2.15);
        gsa_reader_close(reader);
    }
}

static void generator_explains_what_it_cannot_do(void **state)
{
    (void)state;
    static const struct {
        gsa_generator what;
        gsa_status status;
        const char *message;
    } cases[] = {
        {{10, 0, 1, 2, 0}, GSA_ARGUMENT, "0 features: expected 1 to 4294967294"},
        {{10, 4294967295u, 1, 2, 0}, GSA_ARGUMENT, "4294967295 features"},
        {{10, 5, 0, 2, 0}, GSA_ARGUMENT, "0 non-zeros a row: expected 1 to the number of features, 5"},
        {{10, 5, 6, 2, 0}, GSA_ARGUMENT, "6 non-zeros"},
        {{10, 5, 5, 0, 0}, GSA_ARGUMENT, "0 classes: expected 1 (a real target) to 1000"},
        {{10, 5, 5, 1001, 0}, GSA_ARGUMENT, "1001 classes"},
        {{10, 1000000, 1000000, 2, 0}, GSA_LIMIT, "over the memory limit"},
    };
    gsa_env env = {.memory_limit = 1 << 20};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        gsa_reader *reader = NULL;
        gsa_error error;
        assert_int_equal(gsa_reader_open_generated(&cases[i].what, &env, &reader, &error), cases[i].status);
        assert_non_null(strstr(error.message, cases[i].message));
        assert_null(reader);
    }
}

static void generator_of_no_rows_ends_at_once(void **state)
{
    (void)state;
    gsa_reader *reader = generate(0, 5, 2, 2, 0);
    gsa_batch batch;
    assert_int_equal(gsa_reader_next(reader, &batch, NULL), GSA_END);
    assert_string_equal(gsa_reader_file(reader, 0), "generated rows");
    gsa_reader_close(reader);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(generated_rows_are_the_same_on_every_machine),
        cmocka_unit_test(generated_rows_do_not_depend_on_the_rows_before_them),
        cmocka_unit_test(generated_rows_can_be_read_again),
        cmocka_unit_test(generated_features_lie_one_in_each_slice),
        cmocka_unit_test(generated_features_cover_their_slices_evenly),
        cmocka_unit_test(generated_labels_follow_the_features),
        cmocka_unit_test(generated_classes_all_occur),
        cmocka_unit_test(generated_targets_have_the_stated_spread),
        cmocka_unit_test(generator_explains_what_it_cannot_do),
        cmocka_unit_test(generator_of_no_rows_ends_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
