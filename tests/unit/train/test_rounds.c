/* Rounds: long files are learned by copies side by side, the same bits whatever the threads. */
#include "runs.h"

#include "learn/inside.h"

#include <greedystep/train.h>

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>

/* Twenty blocks; rounds begin with the seventeenth, since a row has 2 of 40 features. */
enum { ROWS = 20 * 65536 - 1000, FEATURES = 40 };

static gsa_reader *many_rows(void)
{
    gsa_generator what = {
        .size = sizeof what, .n_rows = ROWS, .n_features = FEATURES, .nnz = 2, .n_classes = 2, .seed = 3};
    gsa_reader *reader;
    gsa_error error = {0};
    must_be_ok(gsa_reader_open_generated(&what, NULL, NULL, &reader, &error), &error);
    return reader;
}

static gsa_state *one_pass(const char *order)
{
    return state_with("method", "auto", "passes", "1", "order", order, "max_held_out", "2048", NULL);
}

/* Who is asked whether to stop: every thread that learns. */
struct crowd {
    pthread_mutex_t lock;
    pthread_t who[16];
    size_t n;
};

static int note_thread(void *ctx)
{
    struct crowd *crowd = ctx;
    pthread_mutex_lock(&crowd->lock);
    size_t i = 0;
    while (i < crowd->n && !pthread_equal(crowd->who[i], pthread_self()))
        i++;
    if (i == crowd->n && i < 16)
        crowd->who[crowd->n++] = pthread_self();
    pthread_mutex_unlock(&crowd->lock);
    return 0;
}

static bytes bytes_with_threads(unsigned n_threads, size_t *n_seen)
{
    struct crowd crowd = {.lock = PTHREAD_MUTEX_INITIALIZER};
    gsa_call call = {.size = sizeof call, .n_threads = n_threads, .should_stop = note_thread, .ctx = &crowd};
    gsa_error error = {0};
    gsa_reader *reader = many_rows();
    gsa_state *state = one_pass("shuffled");
    must_be_ok(gsa_train(state, reader, NULL, &call, &error), &error);
    bytes saved = state_bytes(state);
    gsa_state_free(state);
    gsa_reader_close(reader);
    *n_seen = crowd.n;
    return saved;
}

static void the_plan_has_eight_shards_here(void **unused)
{
    (void)unused;
    gsa_step round = gsa_plan_step(17 * 65536, FEATURES, 1, 1);
    assert_int_equal(round.n_replicas, 8);
    assert_int_equal(round.n_rows, 17 * 65536);
    assert_int_equal(gsa_plan_step(15 * 65536, FEATURES, 1, 1).n_replicas, 1);
}

static bytes quiet; /* of one thread: for the tests after the first */

static void one_two_and_eight_threads_give_the_same_bytes_and_all_learn(void **unused)
{
    (void)unused;
    size_t seen;
    bytes one = bytes_with_threads(1, &seen);
    assert_int_equal(seen, 1);
    for (unsigned n = 2; n <= 8; n += 6) {
        bytes several = bytes_with_threads(n, &seen);
        assert_true(seen >= 2); /* threads end with a block: later ones may have the names of earlier ones */
        assert_same_bytes(one, several);
        free(several.data);
    }
    quiet = one;
}

/* How far the run is, as it is told; a copy tells of the others too. */
struct told {
    uint64_t last, by_copies;
};

static void note_progress(void *ctx, const gsa_state *state, const gsa_reader *reader)
{
    struct told *told = ctx;
    (void)reader;
    gsa_summary summary = state_summary(state);
    told->by_copies += summary.n_rows_all != summary.n_rows;
    told->last = summary.n_rows_all;
}

static gsa_state *trained_once(gsa_state *state, struct told *told)
{
    gsa_error error = {0};
    gsa_reader *reader = many_rows();
    gsa_train_hooks hooks = {.size = sizeof hooks, .ctx = told, .progress = note_progress};
    must_be_ok(gsa_train(state, reader, &hooks, NULL, &error), &error);
    gsa_reader_close(reader);
    return state;
}

/* Whatever copy a row went to: counted once, by features. */
static void every_row_was_learned_once(const gsa_state *state)
{
    gsa_error error = {0};
    gsa_reader *reader = many_rows();
    gsa_batch batch;
    uint64_t count[FEATURES] = {0};
    while (gsa_reader_next(reader, &batch, &error) == GSA_OK)
        for (int64_t i = batch.row_start[0]; i < batch.row_start[batch.n_rows]; i++)
            count[batch.index[i]]++;
    for (size_t i = 0; i < state->sample.n; i++) {
        gsai_row row = gsai_held_row_view(state->sample.at[i]);
        for (size_t j = 0; j < row.n; j++)
            count[row.index[j]] -= (uint64_t)state->sample.at[i]->weight;
    }
    for (size_t f = 0; f < FEATURES; f++)
        assert_int_equal(gsai_state_n_seen(state, f + 1), count[f]);
    gsa_reader_close(reader);
}

static void rounds_learn_what_one_learner_does_each_row_once(void **unused)
{
    (void)unused;
    struct told several = {0}, alone = {0};
    gsa_state *rounds = trained_once(one_pass("shuffled"), &several), *single = trained_once(one_pass("file"), &alone);
    double a = gsa_state_held_out_loss(rounds), b = gsa_state_held_out_loss(single);
    assert_true(a < 1.002 * b);
    gsa_summary x = state_summary(rounds), y = state_summary(single);
    assert_int_equal(x.n_rows, ROWS); /* 400 kinds of rows: all are common */
    assert_int_equal(y.n_rows, ROWS);
    assert_true(x.n_held_out > 0 && y.n_held_out > 0);
    assert_int_equal(x.pass, 1);
    assert_true(fabs(x.last_pass_loss - y.last_pass_loss) < 0.01 * y.last_pass_loss);
    assert_true(fabs(x.falling) < 0.02);
    assert_int_equal(alone.by_copies, 0);
    every_row_was_learned_once(rounds);
    assert_true(several.by_copies > 0);
    assert_true(several.last > ROWS - 65536 && several.last < ROWS + 8 * 65536); /* to the end of the copies' turns */
    gsa_state_free(rounds);
    gsa_state_free(single);
}

/* Without held-out rows nothing tells how far a merge should go. */
static void without_held_out_rows_there_are_no_rounds(void **unused)
{
    (void)unused;
    struct told told = {0};
    gsa_state *state =
        trained_once(state_with("method", "auto", "passes", "1", "order", "shuffled", "holdout", "none", NULL), &told);
    assert_int_equal(told.by_copies, 0);
    assert_int_equal(told.last, ROWS);
    gsa_state_free(state);
}

/* Counts calls from all threads. */
struct patience {
    atomic_uint left;
};

static int run_out(void *ctx)
{
    struct patience *patience = ctx;
    unsigned left = atomic_load(&patience->left);
    while (left > 0 && !atomic_compare_exchange_weak(&patience->left, &left, left - 1))
        ;
    return left == 0;
}

static void a_run_stopped_in_a_round_goes_on_to_the_bytes_of_a_quiet_one(void **unused)
{
    (void)unused;
    /* Of 5100 calls: in the block before the round, when there are rows enough for one, and in the round. */
    static const unsigned patience[] = {3990, 4700};
    for (size_t i = 0; i < sizeof patience / sizeof *patience; i++) {
        gsa_error error = {0};
        struct patience left = {patience[i]};
        gsa_call call = {.size = sizeof call, .n_threads = 2, .should_stop = run_out, .ctx = &left};
        gsa_reader *reader = many_rows();
        gsa_state *state = one_pass("shuffled");
        assert_int_equal(gsa_train(state, reader, NULL, &call, &error), GSA_STOPPED);
        gsa_summary summary = state_summary(state);
        assert_true(i == 0 ? summary.pass_rows > 1010000 && summary.pass_rows < 16 * 65536 - 1
                           : summary.pass_rows == 16 * 65536); /* where the round began */
        bytes saved = state_bytes(state);
        gsa_state_free(state);
        must_be_ok(gsa_state_read(saved.data, saved.size, NULL, &state, &error), &error);
        must_be_ok(gsa_state_set(state, "passes", "1", &error), &error);
        free(saved.data);
        must_be_ok(gsa_reader_rewind(reader, &error), &error);
        must_be_ok(gsa_train(state, reader, NULL, NULL, &error), &error);
        same_bytes(&quiet, state);
        gsa_state_free(state);
        gsa_reader_close(reader);
    }
    free(quiet.data);
}

/* test_rounds [PATTERN]: the tests whose names match. */
int main(int argc, char **argv)
{
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_plan_has_eight_shards_here),
        cmocka_unit_test(one_two_and_eight_threads_give_the_same_bytes_and_all_learn),
        cmocka_unit_test(rounds_learn_what_one_learner_does_each_row_once),
        cmocka_unit_test(without_held_out_rows_there_are_no_rounds),
        cmocka_unit_test(a_run_stopped_in_a_round_goes_on_to_the_bytes_of_a_quiet_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
