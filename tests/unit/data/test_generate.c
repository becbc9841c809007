/* Generated rows: the same everywhere, as described, and with labels that the planted weights explain. */
#include "unit/data/support.h"

#include "base/byte_order.h"
#include "base/hash.h"

#include <math.h>

static gsa_reader *generate_as(gsa_generator what)
{
    gsa_reader *reader = NULL;
    gsa_error error;
    gsa_status status = gsa_reader_open_generated(&what, NULL, NULL, &reader, &error);
    if (status != GSA_OK)
        fail_msg("%s", error.message);
    return reader;
}

static gsa_reader *generate(uint64_t rows, uint64_t features, uint64_t nnz, uint64_t classes, uint64_t seed)
{
    return generate_as((gsa_generator){.size = sizeof(gsa_generator), rows, features, nnz, classes, seed, 0, 0});
}

static void hash_numbers(gsai_hasher *hasher, const void *numbers, size_t n, size_t size)
{
    unsigned char *bytes = malloc(n * size + 1);
    memcpy(bytes, numbers, n * size);
    if (!gsai_machine_is_little_endian())
        gsai_swap_bytes(bytes, n, size);
    gsai_hasher_add(hasher, bytes, n * size);
    free(bytes);
}

static uint64_t hash_rows(gsa_generator what)
{
    gsa_reader *reader = generate_as(what);
    gsai_hasher hasher;
    gsai_hasher_init(&hasher);
    gsa_batch batch;
    uint64_t n = 0;
    while (gsa_reader_next(reader, &batch, NULL) == GSA_OK) {
        hash_numbers(&hasher, batch.index, (size_t)batch.row_start[batch.n_rows], sizeof *batch.index);
        hash_numbers(&hasher, batch.label, batch.n_rows, sizeof *batch.label);
        n += batch.n_rows;
    }
    assert_int_equal(n, what.n_rows);
    gsa_reader_close(reader);
    return gsai_hasher_value(&hasher);
}

/* Pinned: a change here changes every data set that anybody has generated. (The hash is of little-endian numbers.) */
static void generated_rows_are_the_same_on_every_machine(void **state)
{
    (void)state;
    static const struct {
        gsa_generator what;
        uint64_t hash;
    } cases[] = {
        {{sizeof(gsa_generator), 1000, 1000000, 20, 2, 1, 0, 0}, 0xCFA9F9CE2D743D97},
        {{sizeof(gsa_generator), 1000, 1000000, 20, 2, 2, 0, 0}, 0x6F2090C4EDF0A4FF},
        {{sizeof(gsa_generator), 1000, 4294967294u, 7, 5, 1, 0, 0}, 0x133D80A8871D22F7},
        {{sizeof(gsa_generator), 1000, 100, 10, 1, 3, 0, 0}, 0xB126FE3C3D73EA0C},
        {{sizeof(gsa_generator), 1000, 1000003, 20, 2, 1, 1, 0.1}, 0x01E8C5094BB9844E},
        {{sizeof(gsa_generator), 1000, 4294967294u, 7, 5, 1, 0.5, 1}, 0x30E8F16C93CBBAA7},
        {{sizeof(gsa_generator), 1000, 1000000, 10, 1, 3, 2.5, 4}, 0xA0534E434C762770},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t hash = hash_rows(cases[i].what);
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
    gsa_reader_progress progress = {.size = sizeof progress};
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

/* By an independent sum over the places of the slice: of S = 1 also the exact share of a place, log((r + 2) / (r + 1))
 * / log(width + 1). */
static void generated_features_are_skewed_as_asked(void **state)
{
    (void)state;
    enum { ROWS = 200000, WIDTH = 50 };
    static const double skews[] = {0.3, 1, 1.7, 10};
    for (size_t s = 0; s < sizeof skews / sizeof *skews; s++) {
        double count[2 * WIDTH] = {0}, a = 1 - skews[s];
        gsa_reader *reader =
            generate_as((gsa_generator){.size = sizeof(gsa_generator), ROWS, 2 * WIDTH, 2, 2, 7, skews[s], 0});
        gsa_batch batch;
        while (gsa_reader_next(reader, &batch, NULL) == GSA_OK)
            for (int64_t i = 0; i < batch.row_start[batch.n_rows]; i++)
                count[batch.index[i]]++;
        gsa_reader_close(reader);
        for (int i = 0; i < 2 * WIDTH; i++) {
            double r = i % WIDTH;
            double share = a == 0 ? log((r + 2) / (r + 1)) / log((double)WIDTH + 1)
                                  : (pow(r + 2, a) - pow(r + 1, a)) / (pow((double)WIDTH + 1, a) - 1);
            double expected = (double)ROWS * share;
            assert_true(fabs(count[i] - expected) < 5 * sqrt(expected) + 3);
        }
    }
}

static void generated_skew_stays_in_its_slice_whatever_its_width(void **state)
{
    (void)state;
    static const uint64_t features[] = {7, 8, 13, 1000003, 4294967294u};
    for (size_t i = 0; i < sizeof features / sizeof *features; i++)
        for (double skew = 0.25; skew <= 10; skew *= 2) {
            gsa_reader *reader =
                generate_as((gsa_generator){.size = sizeof(gsa_generator), 2000, features[i], 7, 2, i, skew, 0});
            gsa_batch batch;
            while (gsa_reader_next(reader, &batch, NULL) == GSA_OK)
                for (uint64_t at = 0; at < 7 * batch.n_rows; at++) {
                    uint64_t j = at % 7, f = features[i];
                    assert_true(batch.index[at] >= j * f / 7 && batch.index[at] < (j + 1) * f / 7);
                }
            gsa_reader_close(reader);
        }
}

/* A noisy row keeps its features; of k classes the share noise (1 - 1 / k) gets another label. */
static void generated_noise_changes_as_many_labels_as_asked(void **state)
{
    (void)state;
    enum { ROWS = 40000 };
    static const double noises[] = {0.1, 0.5, 1};
    for (uint64_t classes = 2; classes <= 5; classes += 3)
        for (size_t n = 0; n < sizeof noises / sizeof *noises; n++) {
            gsa_reader *clean = generate(ROWS, 1000, 5, classes, 9);
            gsa_reader *noisy =
                generate_as((gsa_generator){.size = sizeof(gsa_generator), ROWS, 1000, 5, classes, 9, 0, noises[n]});
            gsa_batch a, b;
            double changed = 0, most = (double)classes - 1;
            while (gsa_reader_next(clean, &a, NULL) == GSA_OK) {
                assert_int_equal(gsa_reader_next(noisy, &b, NULL), GSA_OK);
                assert_int_equal(a.n_rows, b.n_rows);
                assert_memory_equal(a.index, b.index, 5 * a.n_rows * sizeof *a.index);
                for (size_t r = 0; r < a.n_rows; r++) {
                    assert_true(b.label[r] >= 0 && b.label[r] <= most);
                    changed += a.label[r] != b.label[r];
                }
            }
            double share = noises[n] * most / (double)classes;
            assert_true(fabs(changed - (double)ROWS * share) < 5 * sqrt((double)ROWS * share));
            gsa_reader_close(clean);
            gsa_reader_close(noisy);
        }
}

/* The same draws, scaled: 0 stands for 0.3. */
static void generated_targets_have_the_noise_that_is_asked_for(void **state)
{
    (void)state;
    gsa_batch base, same, wide;
    gsa_reader *usual = generate(4000, 1000, 5, 1, 9);
    gsa_reader *named = generate_as((gsa_generator){.size = sizeof(gsa_generator), 4000, 1000, 5, 1, 9, 0, 0.3});
    gsa_reader *more = generate_as((gsa_generator){.size = sizeof(gsa_generator), 4000, 1000, 5, 1, 9, 0, 5.3});
    assert_int_equal(gsa_reader_next(usual, &base, NULL), GSA_OK);
    assert_int_equal(gsa_reader_next(named, &same, NULL), GSA_OK);
    assert_int_equal(gsa_reader_next(more, &wide, NULL), GSA_OK);
    assert_memory_equal(base.label, same.label, base.n_rows * sizeof *base.label);
    double squares = 0;
    for (size_t r = 0; r < base.n_rows; r++)
        squares += (wide.label[r] - base.label[r]) * (wide.label[r] - base.label[r]);
    double deviation = sqrt(squares / (double)base.n_rows);
    assert_true(deviation > 4.7 && deviation < 5.3);
    gsa_reader_close(usual);
    gsa_reader_close(named);
    gsa_reader_close(more);
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
        {{sizeof(gsa_generator), 10, 0, 1, 2, 0, 0, 0}, GSA_ARGUMENT, "0 features: expected 1 to 4294967294"},
        {{sizeof(gsa_generator), 10, 4294967295u, 1, 2, 0, 0, 0}, GSA_ARGUMENT, "4294967295 features"},
        {{sizeof(gsa_generator), 10, 5, 0, 2, 0, 0, 0},
         GSA_ARGUMENT,
         "0 non-zeros a row: expected 1 to the number of features, 5"},
        {{sizeof(gsa_generator), 10, 5, 6, 2, 0, 0, 0}, GSA_ARGUMENT, "6 non-zeros"},
        {{sizeof(gsa_generator), 10, 5, 5, 0, 0, 0, 0}, GSA_ARGUMENT, "0 classes: expected 1 (a real target) to 1000"},
        {{sizeof(gsa_generator), 10, 5, 5, 1001, 0, 0, 0}, GSA_ARGUMENT, "1001 classes"},
        {{sizeof(gsa_generator), 10, 5, 5, 2, 0, -1, 0}, GSA_ARGUMENT, "a skew of -1: expected 0 (none) to 10"},
        {{sizeof(gsa_generator), 10, 5, 5, 2, 0, NAN, 0}, GSA_ARGUMENT, "a skew of "},
        {{sizeof(gsa_generator), 10, 5, 5, 2, 0, 0, 1.5}, GSA_ARGUMENT, "a noise of 1.5: expected 0 to 1"},
        {{sizeof(gsa_generator), 10, 5, 5, 1, 0, 0, 1e7}, GSA_ARGUMENT, "a noise of 1e+07: expected 0 to 1e+06"},
        {{sizeof(gsa_generator), 10, 5, 5, 1, 0, 0, NAN}, GSA_ARGUMENT, "a noise of "},
        {{sizeof(gsa_generator), 10, 1000000, 1000000, 2, 0, 0, 0}, GSA_LIMIT, "over the memory limit"},
    };
    gsa_memory memory = {.size = sizeof memory, .budget = &(gsa_budget){.size = sizeof(gsa_budget), .limit = 1 << 20}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        gsa_reader *reader = NULL;
        gsa_error error;
        assert_int_equal(gsa_reader_open_generated(&cases[i].what, &memory, NULL, &reader, &error), cases[i].status);
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
        cmocka_unit_test(generated_features_are_skewed_as_asked),
        cmocka_unit_test(generated_skew_stays_in_its_slice_whatever_its_width),
        cmocka_unit_test(generated_noise_changes_as_many_labels_as_asked),
        cmocka_unit_test(generated_targets_have_the_noise_that_is_asked_for),
        cmocka_unit_test(generated_labels_follow_the_features),
        cmocka_unit_test(generated_classes_all_occur),
        cmocka_unit_test(generated_targets_have_the_stated_spread),
        cmocka_unit_test(generator_explains_what_it_cannot_do),
        cmocka_unit_test(generator_of_no_rows_ends_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
