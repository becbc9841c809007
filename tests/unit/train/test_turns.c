/* Rounds of more copies than learn at a time: they take turns, on one machine. */
#include "runs.h"

#include <greedystep/distributed.h>

/* In the first pass rounds have eight copies; in the third there are 2^22 rows behind, and sixteen, of which the first
 * eight have nearly all rows of the pass. */
enum { ROWS = 3000000 };

struct seen {
    size_t n_rounds, most, n_last;
    uint64_t n_rows;
};

static void note_round(void *ctx, const gsa_round_report *report)
{
    struct seen *seen = ctx;
    seen->n_rounds++;
    seen->n_last = report->n_shards;
    seen->most = report->n_shards > seen->most ? report->n_shards : seen->most;
    seen->n_rows += report->n_rows;
    assert_int_equal(report->n_mine, report->n_rows);
}

/* Rows of so many features that hardly two are equal: equals of held-out rows are not learned in later passes. */
static bytes bytes_of(uint64_t n_rows, const char *passes, unsigned n_threads, struct seen *seen)
{
    gsa_generator what = {
        .size = sizeof what, .n_rows = n_rows, .n_features = 2000, .nnz = 5, .n_classes = 2, .seed = 3};
    gsa_call call = {.size = sizeof call, .n_threads = n_threads};
    gsa_train_hooks hooks = {.size = sizeof hooks, .ctx = seen, .round_ended = note_round};
    gsa_reader *reader;
    gsa_error error = {0};
    must_be_ok(gsa_reader_open_generated(&what, NULL, NULL, &reader, &error), &error);
    gsa_state *state = state_with("method", "auto", "passes", passes, "max_held_out", "2048", NULL);
    must_be_ok(gsa_train(state, reader, &hooks, &call, &error), &error);
    gsa_summary summary = state_summary(state);
    uint64_t n_passes = (uint64_t)(passes[0] - '0');
    assert_int_equal(summary.pass, n_passes);
    assert_int_equal(summary.n_rows + n_passes * summary.n_held_out, n_passes * n_rows);
    bytes saved = state_bytes(state);
    gsa_state_free(state);
    gsa_reader_close(reader);
    return saved;
}

static void a_pass_that_ends_with_the_first_turn_of_a_round_is_merged(void **unused)
{
    (void)unused;
    struct seen seen = {0};
    bytes saved = bytes_of(ROWS, "3", 2, &seen);
    assert_int_equal(seen.n_last, 8); /* of sixteen */
    free(saved.data);
}

static void copies_that_take_turns_give_the_same_bytes_on_any_number_of_threads(void **unused)
{
    (void)unused;
    struct seen seen = {0}, again = {0};
    bytes one = bytes_of(4400000, "2", 1, &seen), three = bytes_of(4400000, "2", 3, &again);
    assert_int_equal(seen.most, 16);
    assert_int_equal(seen.n_rounds, again.n_rounds);
    assert_int_equal(seen.n_rows, again.n_rows);
    assert_same_bytes(one, three);
    free(one.data);
    free(three.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pass_that_ends_with_the_first_turn_of_a_round_is_merged),
        cmocka_unit_test(copies_that_take_turns_give_the_same_bytes_on_any_number_of_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
