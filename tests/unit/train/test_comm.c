/* Processes that learn together give the bytes of one, and fail together. */
#include "ranks.h"

#include <stdatomic.h>
#include <stdbool.h>

/* What all of them are to learn. */
struct task {
    uint64_t n_rows, n_classes;
    gsa_reader *(*open)(const struct task *task);
    const char *passes;
    unsigned n_threads;
    size_t stops;   /* the rank that is stopped, or SIZE_MAX */
    bytes cache;    /* of those rows */
    size_t damaged; /* the rank whose cache has a wrong byte, if `is_damaged` */
    bool is_damaged;
};

static gsa_reader *open_rows(const struct task *task)
{
    gsa_generator what = {.size = sizeof what,
                          .n_rows = task->n_rows,
                          .n_features = 40,
                          .nnz = 2,
                          .n_classes = task->n_classes,
                          .seed = 3};
    gsa_reader *reader;
    gsa_error error = {0};
    must_be_ok(gsa_reader_open_generated(&what, NULL, NULL, &reader, &error), &error);
    return reader;
}

/* Rows that this rank's copies, or members of its part of a team, have learned: counted as they are looked at. */
static int count_looks(void *ctx)
{
    struct rank *rank = ctx;
    const struct task *task = rank->ctx;
    atomic_fetch_add((_Atomic uint64_t *)(void *)&rank->n_learned, 1);
    return rank->comm.rank == task->stops && rank->n_learned > 20;
}

static void learn_together(struct rank *rank)
{
    const struct task *task = rank->ctx;
    gsa_call call = {.size = sizeof call, .n_threads = task->n_threads, .should_stop = count_looks, .ctx = rank};
    gsa_train_hooks hooks = {.size = sizeof hooks, .comm = &rank->comm};
    bytes cache = {malloc(task->cache.size), task->cache.size};
    memcpy(cache.data, task->cache.data, cache.size);
    if (task->is_damaged && rank->comm.rank == task->damaged)
        cache.data[200] ^= 1;
    gsa_reader *reader = cache_reader(cache);
    gsa_state *state = state_with("method", "auto", "passes", task->passes, "max_held_out", "2048", NULL);
    rank->status = gsa_train(state, reader, &hooks, &call, &rank->error);
    if (rank->status == GSA_OK)
        rank->saved = state_bytes(state);
    gsa_state_free(state);
    gsa_reader_close(reader);
    free(cache.data);
}

static bytes alone(const struct task *task)
{
    gsa_error error = {0};
    gsa_reader *reader = task->open(task);
    gsa_state *state = state_with("method", "auto", "passes", task->passes, "max_held_out", "2048", NULL);
    gsa_call call = {.size = sizeof call, .n_threads = 1};
    must_be_ok(gsa_train(state, reader, NULL, &call, &error), &error);
    bytes saved = state_bytes(state);
    gsa_state_free(state);
    gsa_reader_close(reader);
    return saved;
}

static void the_same_for(const struct task *given, const size_t *n_ranks, size_t n)
{
    bytes one = alone(given);
    for (size_t i = 0; i < n; i++) {
        struct task task = *given;
        struct rank rank[MAX_RANKS];
        task.cache = cache_of(task.open(&task));
        task.n_threads = i % 2 == 0 ? 1 : 2;
        run_ranks(rank, n_ranks[i], learn_together, &task);
        for (size_t r = 0; r < n_ranks[i]; r++) {
            must_be_ok(rank[r].status, &rank[r].error);
            assert_same_bytes(one, rank[r].saved);
            assert_true(n_ranks[i] > 8 || rank[r].n_learned > 0);
            assert_true(n_ranks[i] == 1 || rank[r].n_meetings > 2);
            free(rank[r].saved.data);
        }
        free(task.cache.data);
    }
    free(one.data);
}

static void small_files_give_the_bytes_of_one_process(void **unused)
{
    (void)unused;
    static const size_t n_ranks[] = {1, 2, 3, 4, 8, 17};
    struct task task = {3000, 3, open_rows, "auto", 1, SIZE_MAX, {0}, 0, false};
    the_same_for(&task, n_ranks, sizeof n_ranks / sizeof *n_ranks);
}

static void long_files_give_the_bytes_of_one_process(void **unused)
{
    (void)unused;
    static const size_t n_ranks[] = {3, 5};
    assert_int_equal(gsa_plan_step(17 * 65536, 40, 1, 1).n_replicas, 8);
    struct task task = {20 * 65536 - 1000, 2, open_rows, "2", 1, SIZE_MAX, {0}, 0, false};
    the_same_for(&task, n_ranks, sizeof n_ranks / sizeof *n_ranks);
}

/* A class that comes in the last block only, so that copies of a round have different labels. */
struct late {
    gsa_reader *rows;
    uint64_t at;
    double label[65536];
};

static gsa_status next_late(void *ctx, gsa_batch *out, gsa_error *error)
{
    struct late *late = ctx;
    gsa_status status = gsa_reader_next(late->rows, out, error);
    if (status != GSA_OK)
        return status;
    assert_true(out->n_rows <= 65536);
    for (size_t i = 0; i < out->n_rows; i++)
        late->label[i] = late->at + i == 18 * 65536 + 77 ? 7 : out->label[i];
    late->at += out->n_rows;
    out->label = late->label;
    return GSA_OK;
}

static gsa_status rewind_late(void *ctx, gsa_error *error)
{
    struct late *late = ctx;
    late->at = 0;
    return gsa_reader_rewind(late->rows, error);
}

static struct late last_late;

static gsa_reader *open_late(const struct task *task)
{
    struct late *late = &last_late;
    if (late->rows)
        gsa_reader_close(late->rows);
    *late = (struct late){.rows = open_rows(task)};
    gsa_row_source source = {.size = sizeof source, late, next_late, rewind_late};
    gsa_reader *reader;
    gsa_error error = {0};
    must_be_ok(gsa_reader_open_rows(&source, NULL, NULL, &reader, &error), &error);
    return reader;
}

static void a_class_that_only_one_copy_has_met_is_everyones_after_the_round(void **unused)
{
    (void)unused;
    static const size_t n_ranks[] = {3};
    struct task task = {19 * 65536, 3, open_late, "1", 1, SIZE_MAX, {0}, 0, false};
    the_same_for(&task, n_ranks, 1);
    gsa_reader_close(last_late.rows);
}

/* After the first round there are more features than rows, so that the rows that follow are learned one by one again.
 */
enum { MANY = 36 * 65536 };
static char *growing_text;

static gsa_reader *open_growing(const struct task *task)
{
    (void)task;
    return text_reader(growing_text, NULL);
}

static void rows_after_a_round_are_learned_one_by_one_if_that_is_the_plan(void **unused)
{
    (void)unused;
    static const size_t n_ranks[] = {2};
    struct task task = {0, 2, open_growing, "1", 1, SIZE_MAX, {0}, 0, false};
    assert_int_equal(gsa_plan_step(32 * 65536, 6000000, 1, 1).n_replicas, 1);
    char *at = growing_text = malloc((size_t)MANY * 6 + 1000);
    assert_non_null(at);
    for (size_t r = 0; r < MANY; r++) {
        const char *row = r / 50 == 20 * 65536 / 50 ? "1 6000000:1\n" : "0 1:1\n";
        size_t size = strlen(row);
        memcpy(at, row, size);
        if (size == 6) {
            at[0] = r % 3 == 0 ? '1' : '0';
            at[2] = (char)('1' + r % 7);
        }
        at += size;
    }
    *at = '\0';
    the_same_for(&task, n_ranks, 1);
    free(growing_text);
}

static void a_failure_of_one_is_everyones_and_names_it(void **unused)
{
    (void)unused;
    struct task task = {3000, 2, open_rows, "auto", 1, SIZE_MAX, {0}, 2, true};
    struct rank rank[5];
    task.cache = cache_of(open_rows(&task));
    run_ranks(rank, 5, learn_together, &task);
    for (size_t r = 0; r < 5; r++) {
        assert_int_equal(rank[r].status, GSA_FORMAT);
        assert_non_null(strstr(rank[r].error.message, "rank 2: test.gsac: damaged cache"));
    }
    free(task.cache.data);
}

static void learn_what_each_has(struct rank *rank)
{
    const bytes *of = rank->ctx;
    gsa_train_hooks hooks = {.size = sizeof hooks, .comm = &rank->comm};
    gsa_reader *reader = of ? cache_reader(of[rank->comm.rank]) : text_reader("1 1:1\n0 2:1\n", NULL);
    gsa_state *state = state_with("passes", "1", NULL);
    rank->status = gsa_train(state, reader, &hooks, NULL, &rank->error);
    gsa_state_free(state);
    gsa_reader_close(reader);
}

static void processes_learn_from_caches_only_and_from_the_same_ones(void **unused)
{
    (void)unused;
    struct rank rank[2];
    run_ranks(rank, 2, learn_what_each_has, NULL);
    for (size_t r = 0; r < 2; r++) {
        assert_int_equal(rank[r].status, GSA_UNSUPPORTED);
        assert_non_null(strstr(rank[r].error.message, "test.svm is not a plain cache"));
    }
    /* Another number of rows, and another label only. */
    static const char *const differing[][2] = {{"1 1:1\n0 2:1\n", "1 1:1\n0 2:1\n0 3:1\n"},
                                               {"1 1:1\n0 2:1\n", "1 1:1\n1 2:1\n"}};
    for (size_t i = 0; i < 2; i++) {
        bytes of[2] = {cache_of(text_reader(differing[i][0], NULL)), cache_of(text_reader(differing[i][1], NULL))};
        run_ranks(rank, 2, learn_what_each_has, of);
        for (size_t r = 0; r < 2; r++) {
            assert_int_equal(rank[r].status, GSA_CONFLICT);
            assert_non_null(strstr(rank[r].error.message, "rank 1 has other rows than rank 0"));
            free(of[r].data);
        }
    }
}

static void a_stop_of_one_stops_all(void **unused)
{
    (void)unused;
    for (size_t who = 0; who < 3; who += 2) { /* in a team, and before rounds */
        struct task task = {who == 0 ? 3000 : 20 * 65536, 2, open_rows, "3", 1, who, {0}, 0, false};
        struct rank rank[3];
        task.cache = cache_of(open_rows(&task));
        run_ranks(rank, 3, learn_together, &task);
        for (size_t r = 0; r < 3; r++)
            assert_int_equal(rank[r].status, GSA_STOPPED);
        free(task.cache.data);
    }
}

/* A table whose first rows have 20 labels, and later ones eight more of this rank's own, but for rank 0. */
static bytes rows_with_late_labels(size_t rank)
{
    enum { ROWS = 9000, LINE = 16 };
    gsa_reader_options options = {.size = sizeof options, .label = "label"};
    char *text = malloc(LINE * (ROWS + 1)), *end = text + sprintf(text, "label,a\n");
    for (size_t i = 0; i < ROWS; i++) {
        bool is_late = rank > 0 && i > ROWS / 2 && i % 4 == 0;
        end += sprintf(end, "%zu,%zu\n", is_late ? 12 + 8 * rank + i / 4 % 8 : i % 20, i % 9);
    }
    bytes cache = cache_of(text_reader(text, &options));
    free(text);
    return cache;
}

static void learn_own_file(struct rank *rank)
{
    const bytes *of = rank->ctx;
    gsa_train_hooks hooks = {.size = sizeof hooks, .comm = &rank->comm, .files_are_own = 1};
    gsa_reader *reader = cache_reader(of[rank->comm.rank]);
    gsa_state *state = state_with("passes", "1", NULL);
    rank->status = gsa_train(state, reader, &hooks, NULL, &rank->error);
    gsa_state_free(state);
    gsa_reader_close(reader);
}

static void late_labels_of_several_processes_have_the_limit_of_one(void **unused)
{
    (void)unused;
    struct rank rank[3];
    bytes of[] = {rows_with_late_labels(0), rows_with_late_labels(1), rows_with_late_labels(2)};
    run_ranks(rank, 2, learn_own_file, of); /* 28 labels */
    assert_int_equal(rank[0].status, GSA_OK);
    run_ranks(rank, 3, learn_own_file, of); /* 36 of all, at most 28 of each */
    for (size_t r = 0; r < 3; r++) {
        assert_int_equal(rank[r].status, GSA_LABEL);
        assert_non_null(strstr(rank[r].error.message, "more than 30 different whole numbers as labels"));
        free(of[r].data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_files_give_the_bytes_of_one_process),
        cmocka_unit_test(long_files_give_the_bytes_of_one_process),
        cmocka_unit_test(a_class_that_only_one_copy_has_met_is_everyones_after_the_round),
        cmocka_unit_test(rows_after_a_round_are_learned_one_by_one_if_that_is_the_plan),
        cmocka_unit_test(a_failure_of_one_is_everyones_and_names_it),
        cmocka_unit_test(processes_learn_from_caches_only_and_from_the_same_ones),
        cmocka_unit_test(a_stop_of_one_stops_all),
        cmocka_unit_test(late_labels_of_several_processes_have_the_limit_of_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
