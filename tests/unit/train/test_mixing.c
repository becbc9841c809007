/* The runs test of labels. */
#include "../learn/rows.h"

#include "train/input.h"

static int poor(const char *pattern, size_t times, size_t chunk)
{
    rows *r = rows_new();
    for (size_t i = 0; i < times; i++)
        for (const char *label = pattern; *label; label++)
            rows_end(r, *label - '0');
    gsa_batch batch = rows_batch(r);
    gsai_mixing mixing = {0};
    for (size_t from = 0; from < batch.n_rows; from += chunk) {
        gsa_batch delta = rows_slice(&batch, from, batch.n_rows - from < chunk ? batch.n_rows - from : chunk);
        gsai_mixing_add(&mixing, &delta);
    }
    free(r);
    return gsai_mixing_is_poor(&mixing);
}

static void labels_in_few_runs_are_poorly_mixed(void **unused)
{
    (void)unused;
    char sorted[401] = {0}, runs[401] = {0}, mixed[401] = {0};
    for (int i = 0; i < 400; i++) {
        sorted[i] = (char)('0' + i / 100);
        runs[i] = (char)('0' + i / 25 % 2);
        mixed[i] = (char)('0' + (i * 7 + i / 3) % 4);
    }
    for (size_t chunk = 1; chunk <= 400; chunk += 133) {
        assert_true(poor(sorted, 1, chunk));
        assert_true(poor(runs, 2, chunk));
        assert_false(poor(mixed, 1, chunk));
    }
}

static void few_rows_or_one_label_prove_nothing(void **unused)
{
    (void)unused;
    assert_false(poor("0000000000111111111122222222223333333333", 1, 7));
    assert_false(poor("0", 4000, 64));
    assert_false(
        poor("0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000001", 40, 64));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(labels_in_few_runs_are_poorly_mixed),
        cmocka_unit_test(few_rows_or_one_label_prove_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
