/* A run goes on with the rows that it began with, and with no others. */
#include "ranks.h"

#include <stdio.h>

enum { NONE = -1, MAX_LINE = 32 };

/* Rows in libsvm text, the row `changed` with another value. */
static char *rows_text(long n_rows, long changed)
{
    char *text = malloc((size_t)n_rows * MAX_LINE + 1), *end = text;
    uint32_t random = 1;
    assert_non_null(text);
    *end = '\0';
    for (long i = 0; i < n_rows; i++) {
        random = random * 1664525u + 1013904223u;
        int x = (int)(random >> 24), y = (int)(random >> 16 & 255);
        end += sprintf(end, "%d 1:%d 2:%d\n", x + y > 250, x, i == changed ? y + 1 : y);
    }
    return text;
}

static gsa_status train_on(gsa_state *state, long n_rows, long changed, const gsa_train_hooks *hooks,
                           const gsai_env *env, gsa_error *error)
{
    char *text = rows_text(n_rows, changed);
    gsa_reader *reader = text_reader(text, NULL);
    bytes cache = {0};
    if (hooks) { /* of processes */
        cache = cache_of(reader);
        reader = cache_reader(cache);
    }
    gsa_status status = gsa_train(state, reader, hooks, call_of(env), error);
    gsa_reader_close(reader);
    free(cache.data);
    free(text);
    return status;
}

static void assert_conflict(gsa_state *state, long n_rows, long changed, const char *says)
{
    gsa_error error = {0};
    bytes before = state_bytes(state);
    assert_int_equal(train_on(state, n_rows, changed, NULL, NULL, &error), GSA_CONFLICT);
    assert_non_null(strstr(error.message, says));
    assert_string_equal(error.param, "start_from");
    bytes after = state_bytes(state);
    assert_same_bytes(before, after);
    free(before.data);
    free(after.data);
}

static void a_run_that_has_ended_compares_all_rows(void **unused)
{
    (void)unused;
    static const char *const methods[] = {"auto", "gsa", "paper"}; /* a team, and one state */
    enum { ROWS = 3000 };
    for (size_t m = 0; m < 3; m++) {
        gsa_error error = {0};
        gsa_state *state = state_with("method", methods[m], "passes", "2", NULL);
        must_be_ok(train_on(state, ROWS, NONE, NULL, NULL, &error), &error);
        assert_conflict(state, ROWS, ROWS - 1, "not those that the run has learned from");
        assert_conflict(state, ROWS, 1100, "not those");
        assert_conflict(state, ROWS - 1, NONE, "this input has 2999 rows and the run has learned from 3000");
        assert_conflict(state, ROWS + 1, NONE, "this input has 3001 rows");
        bytes before = state_bytes(state);
        must_be_ok(train_on(state, ROWS, NONE, NULL, NULL, &error), &error);
        bytes after = state_bytes(state);
        assert_same_bytes(before, after);
        free(before.data);
        free(after.data);
        gsa_state_free(state);
    }
}

static gsa_status count_whole(void *ctx, const gsa_state *state, gsa_error *error)
{
    (void)state;
    (void)error;
    ++*(unsigned *)ctx;
    return GSA_OK;
}

static void a_later_pass_compares_all_rows_before_it_ends(void **unused)
{
    (void)unused;
    static const long inputs[][2] = {{3000, 2999}, {2000, NONE}, {4000, NONE}, {3000, NONE}};
    for (size_t i = 0; i < 4; i++) {
        gsa_error error = {0};
        unsigned n_whole = 0;
        gsa_train_hooks hooks = {.size = sizeof hooks, .ctx = &n_whole, .state_is_whole = count_whole};
        gsa_state *state = state_with("method", "paper", "passes", "1", NULL);
        must_be_ok(train_on(state, 3000, NONE, NULL, NULL, &error), &error);
        must_be_ok(gsa_state_set(state, "passes", "3", &error), &error);
        gsa_status status = train_on(state, inputs[i][0], inputs[i][1], &hooks, NULL, &error);
        assert_int_equal(status, i < 3 ? GSA_CONFLICT : GSA_OK);
        assert_int_equal(n_whole > 0, i == 3);
        gsa_summary summary = state_summary(state);
        assert_int_equal(summary.pass, i < 3 ? 1 : 3);
        gsa_state_free(state);
    }
}

/* A state that was stopped in its first pass. */
static gsa_state *stopped_state(const char *method, const char *order, long n_rows, unsigned looks, long *n_taken)
{
    gsa_error error = {0};
    gsa_state *state = state_with("method", method, "order", order, "passes", "2", NULL);
    gsai_env env = {ENV_SIZES, .call.should_stop = stop_after, .call.ctx = &looks, .call.n_threads = 1};
    assert_int_equal(train_on(state, n_rows, NONE, NULL, &env, &error), GSA_STOPPED);
    gsa_summary summary = state_summary(state);
    assert_int_equal(summary.pass, 0);
    *n_taken = (long)summary.pass_rows;
    assert_in_range(*n_taken, 1100, n_rows - 1);
    return state;
}

static void the_first_pass_compares_the_rows_that_are_passed_over(void **unused)
{
    (void)unused;
    gsa_error error = {0};
    long n;
    gsa_state *state = stopped_state("paper", "file", 5000, 15, &n);
    assert_conflict(state, 5000, n - 1, "not those");
    assert_conflict(state, 5000, 1030, "not those");
    must_be_ok(train_on(state, 5000, n, NULL, NULL, &error), &error); /* the next row may be any */
    gsa_state_free(state);
    state = stopped_state("paper", "shuffled", 5000, 15, &n);
    assert_conflict(state, 4999, NONE, "not those"); /* another order */
    must_be_ok(train_on(state, 5000, NONE, NULL, NULL, &error), &error);
    gsa_state_free(state);
}

static void the_state_of_another_run_is_refused(void **unused)
{
    (void)unused;
    gsa_error error = {0};
    gsa_state *state = state_with("method", "paper", "passes", "1", NULL);
    gsa_reader *other = generated(3000, 2, 7);
    must_be_ok(gsa_train(state, other, NULL, NULL, &error), &error);
    gsa_reader_close(other);
    assert_conflict(state, 3000, NONE, "not those");
    gsa_state_free(state);
}

/* ---- ranks ------------------------------------------------------------------------------------------------------- */

struct rows_of_ranks {
    bytes state;
    long n_rows, changed;
};

static void go_on(struct rank *rank)
{
    const struct rows_of_ranks *task = rank->ctx;
    gsa_train_hooks hooks = {.size = sizeof hooks, .comm = &rank->comm};
    gsa_state *state = NULL;
    rank->status = gsa_state_read(task->state.data, task->state.size, NULL, &state, &rank->error);
    if (rank->status == GSA_OK)
        rank->status = gsa_state_set(state, "passes", "2", &rank->error);
    if (rank->status == GSA_OK)
        rank->status = train_on(state, task->n_rows, task->changed, &hooks, NULL, &rank->error);
    gsa_state_free(state);
}

static void on_three_ranks(gsa_state *state, long n_rows, long changed, gsa_status expected)
{
    struct rank rank[3];
    struct rows_of_ranks task = {state_bytes(state), n_rows, changed};
    run_ranks(rank, 3, go_on, &task);
    for (size_t r = 0; r < 3; r++)
        assert_int_equal(rank[r].status, expected);
    free(task.state.data);
}

/* More rows than a block, so that ranks deal them out. */
static void ranks_compare_together_what_each_has_read(void **unused)
{
    (void)unused;
    enum { ROWS = 140000 };
    gsa_error error = {0};
    long n;
    gsa_state *state = state_with("method", "auto", "passes", "1", NULL);
    must_be_ok(train_on(state, ROWS, NONE, NULL, NULL, &error), &error);
    on_three_ranks(state, ROWS, 1500, GSA_CONFLICT);
    on_three_ranks(state, ROWS, 70000, GSA_CONFLICT);
    on_three_ranks(state, ROWS, ROWS - 1, GSA_CONFLICT);
    on_three_ranks(state, ROWS - 1, NONE, GSA_CONFLICT);
    on_three_ranks(state, ROWS, NONE, GSA_OK);
    gsa_state_free(state);
    state = stopped_state("auto", "shuffled", ROWS, 400, &n);
    assert_in_range(n, 66000, ROWS);
    on_three_ranks(state, ROWS, 1500, GSA_CONFLICT);
    on_three_ranks(state, ROWS, NONE, GSA_OK);
    gsa_state_free(state);
}

/* ---- adding up --------------------------------------------------------------------------------------------------- */

static void copies_that_are_merged_have_the_rows_of_all(void **unused)
{
    (void)unused;
    gsa_error error = {0};
    char *text = rows_text(900, NONE);
    gsa_reader *reader = text_reader(text, NULL);
    gsa_batch batch;
    must_be_ok(gsa_reader_begin(reader, &error), &error);
    must_be_ok(gsa_reader_next(reader, &batch, &error), &error);
    assert_int_equal(batch.n_rows, 900);
    uint32_t number[900];
    for (uint32_t i = 0; i < 900; i++)
        number[i] = i;
    gsa_state *base = state_with("method", "paper", NULL), *copy[2], *merged;
    must_be_ok(gsa_state_update_rows(base, &batch, number, 300, &error), &error);
    for (size_t c = 0; c < 2; c++) {
        must_be_ok(gsa_state_fork(base, 2, &copy[c], &error), &error);
        must_be_ok(gsa_state_update_rows(copy[c], &batch, number + 300 * (c + 1), 300, &error), &error);
    }
    must_be_ok(gsa_state_merge((const gsa_state *const *)copy, 2, base, NULL, &merged, &error), &error);
    gsa_fingerprint all = {0}, found;
    gsa_fingerprint_add(&all, &batch, NULL, 900);
    end_pass(merged);
    must_be_ok(gsa_state_update_rows(merged, &batch, number, 300, &error), &error); /* a later pass adds nothing */
    gsa_state_get_fingerprint(merged, &found);
    assert_true(found.sum == all.sum);
    assert_int_equal(found.n_rows, 900);
    gsa_state_free(merged);
    gsa_state_free(copy[0]);
    gsa_state_free(copy[1]);
    gsa_state_free(base);
    gsa_reader_close(reader);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_that_has_ended_compares_all_rows),
        cmocka_unit_test(a_later_pass_compares_all_rows_before_it_ends),
        cmocka_unit_test(the_first_pass_compares_the_rows_that_are_passed_over),
        cmocka_unit_test(the_state_of_another_run_is_refused),
        cmocka_unit_test(ranks_compare_together_what_each_has_read),
        cmocka_unit_test(copies_that_are_merged_have_the_rows_of_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
