/* Processes that judge together come to the results of one, and fail together. */
#include "ranks.h"

#include <math.h>
#include <stdio.h>

enum { MAX_RESULTS = 16, N_ROWS = 140000 /* three blocks */ };

typedef struct results {
    gsa_metric of[MAX_RESULTS];
    size_t n;
} results;

/* What everyone judges. */
struct task {
    const gsa_state *state;
    gsa_reader *(*open)(const struct task *task, size_t rank);
    const char *text;
    bytes cache;
    size_t n_passes; /* how often */
    results found[MAX_RANKS];
};

static void keep_results(void *ctx, const gsa_metrics *metrics)
{
    results *to = ctx;
    to->n = 0;
    while (gsa_metrics_at(metrics, to->n, &to->of[to->n]))
        to->n++;
}

static gsa_reader *open_text(const struct task *task, size_t rank)
{
    (void)rank;
    return text_reader(task->text, NULL);
}

static gsa_reader *open_cache(const struct task *task, size_t rank)
{
    (void)rank;
    return cache_reader(task->cache);
}

static void judge(struct rank *rank)
{
    struct task *task = rank->ctx;
    gsa_judgement_hooks hooks = {&task->found[rank->comm.rank], keep_results, &rank->comm};
    gsa_reader *reader = task->open(task, rank->comm.rank);
    rank->status = GSA_OK;
    for (size_t i = 0; i < task->n_passes && rank->status == GSA_OK; i++)
        rank->status = gsa_evaluate_together(task->state, reader, &hooks, NULL, &rank->error);
    gsa_reader_close(reader);
}

static char *text_of(uint64_t n_rows, int is_number, int is_table)
{
    char *text = malloc(n_rows * 64 + 64), *at = text;
    uint64_t x = 7;
    assert_non_null(text);
    at += is_table ? sprintf(at, "label,a,b,c\n") : 0;
    for (uint64_t i = 0; i < n_rows; i++) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        double a = (double)(x >> 40) / 1e6, b = (double)(x >> 50) / 1e3;
        double y = is_number ? 3 * a - b + (double)(x >> 60) : a + b > 16 ? 1 : 0;
        at += sprintf(at, is_table ? "%.3f,%.4f,%.4f,%u\n" : "%.3f 1:%.4f 2:%.4f 3:%u\n", y, a, b, (unsigned)(x >> 58));
    }
    return text;
}

/* A model that is wrong enough. */
static gsa_state *learned(const char *text, const char *loss)
{
    gsa_error error = {0};
    gsa_reader *reader = text_reader(text, NULL);
    gsa_state *state = state_with("loss", loss, "passes", "1", "method", "auto", NULL);
    must_be_ok(gsa_train(state, reader, NULL, NULL, &error), &error);
    gsa_reader_close(reader);
    return state;
}

static results plain_results(const gsa_state *state, gsa_reader *reader)
{
    gsa_error error = {0};
    results found = {0};
    gsa_metrics *metrics;
    gsa_model *model;
    must_be_ok(gsa_state_finish(state, NULL, &model, &error), &error);
    must_be_ok(gsa_metrics_new(model, NULL, &metrics, &error), &error);
    must_be_ok(gsa_evaluate(metrics, reader, NULL, &error), &error);
    must_be_ok(gsa_metrics_finish(metrics, &error), &error);
    keep_results(&found, metrics);
    gsa_metrics_free(metrics);
    gsa_model_free(model);
    gsa_reader_close(reader);
    return found;
}

static void must_be_equal(const results *a, const results *b, double within)
{
    assert_int_equal(a->n, b->n);
    for (size_t i = 0; i < a->n; i++) {
        assert_string_equal(a->of[i].name, b->of[i].name);
        if (within > 0)
            assert_true(fabs(a->of[i].value - b->of[i].value) <= within * fabs(a->of[i].value));
        else
            assert_memory_equal(&a->of[i].value, &b->of[i].value, sizeof(double));
    }
}

/* By one process, then by many; all results, to the last bit. */
static void the_same_for(struct task *task, double within)
{
    static const size_t n_ranks[] = {2, 3, 5, 17};
    gsa_error error = {0};
    results alone = {0}, plain = plain_results(task->state, task->open(task, 0));
    gsa_judgement_hooks hooks = {&alone, keep_results, NULL};
    gsa_reader *reader = task->open(task, 0);
    for (size_t i = 0; i < 2; i++)
        must_be_ok(gsa_evaluate_together(task->state, reader, &hooks, NULL, &error), &error);
    gsa_reader_close(reader);
    must_be_equal(&plain, &alone, within);
    for (size_t i = 0; i < sizeof n_ranks / sizeof *n_ranks; i++) {
        struct rank rank[MAX_RANKS];
        memset(task->found, 0, sizeof task->found);
        run_ranks(rank, n_ranks[i], judge, task);
        for (size_t r = 0; r < n_ranks[i]; r++)
            must_be_ok(rank[r].status, &rank[r].error);
        must_be_equal(&alone, &task->found[0], 0);
        assert_int_equal(task->found[1].n, 0); /* nobody else is told */
    }
}

static void results_do_not_depend_on_the_number_of_processes(void **unused)
{
    (void)unused;
    static const char *const losses[] = {"squared", "logistic", "softmax", "hinge"};
    for (int is_cache = 0; is_cache < 2; is_cache++) {
        for (size_t k = 0; k < 4; k++) {
            char *text = text_of(N_ROWS, k == 0, 0), *other = text_of(500, k == 0, 0);
            gsa_state *state = learned(other, losses[k]);
            struct task task = {.state = state, .open = is_cache ? open_cache : open_text, .text = text, .n_passes = 2};
            task.cache = cache_of(text_reader(text, NULL));
            the_same_for(&task, is_cache ? 1e-10 : 0); /* text is not divided */
            free(task.cache.data);
            gsa_state_free(state);
            free(text);
            free(other);
        }
    }
}

/* Rows that a caller has cannot be dealt out. */
static gsa_status next_of(void *ctx, gsa_batch *out, gsa_error *error)
{
    return gsa_reader_next(ctx, out, error);
}

static gsa_status rewind_of(void *ctx, gsa_error *error)
{
    return gsa_reader_rewind(ctx, error);
}

static gsa_reader *inner[MAX_RANKS];

static gsa_reader *open_rows(const struct task *task, size_t rank)
{
    gsa_error error = {0};
    gsa_reader *reader;
    gsa_reader_close(inner[rank]);
    inner[rank] = text_reader(task->text, NULL);
    gsa_row_source source = {inner[rank], next_of, rewind_of};
    must_be_ok(gsa_reader_open_rows(&source, NULL, &reader, &error), &error);
    return reader;
}

static void rows_that_cannot_be_dealt_out_are_judged_by_the_first(void **unused)
{
    (void)unused;
    char *text = text_of(N_ROWS, 0, 0);
    gsa_state *state = learned(text, "logistic");
    struct task task = {.state = state, .open = open_rows, .text = text, .n_passes = 2};
    the_same_for(&task, 0);
    for (size_t r = 0; r < MAX_RANKS; r++) {
        gsa_reader_close(inner[r]);
        inner[r] = NULL;
    }
    gsa_state_free(state);
    free(text);
}

static void a_failure_of_one_is_everyones(void **unused)
{
    (void)unused;
    char *text = text_of(N_ROWS, 0, 0), *at = text;
    gsa_state *state = learned(text, "logistic");
    for (size_t i = 0; i < N_ROWS - 10; i++)
        at = strchr(at, '\n') + 1;
    *strchr(at, ':') = 'x';
    struct task task = {.state = state, .open = open_text, .text = text, .n_passes = 1};
    struct rank rank[5];
    run_ranks(rank, 5, judge, &task);
    for (size_t r = 0; r < 5; r++) {
        assert_int_equal(rank[r].status, GSA_INPUT);
        assert_non_null(strstr(rank[r].error.message, "rank 0: test.svm:139991 (byte "));
        assert_int_equal(task.found[r].n, 0);
    }
    gsa_state_free(state);
    free(text);
}

static void no_rows_are_a_failure_for_all(void **unused)
{
    (void)unused;
    char *text = text_of(100, 0, 0);
    gsa_state *state = learned(text, "logistic");
    struct task task = {.state = state, .open = open_text, .text = "# nothing\n", .n_passes = 1};
    struct rank rank[3];
    run_ranks(rank, 3, judge, &task);
    for (size_t r = 0; r < 3; r++)
        assert_int_equal(rank[r].status, GSA_ARGUMENT);
    gsa_state_free(state);
    free(text);
}

/* One thread, which is the caller's, is what others are compared with; a row that cannot be judged comes after many. */
static void results_and_failures_do_not_depend_on_the_number_of_threads(void **unused)
{
    (void)unused;
    static const char *const losses[] = {"squared", "logistic", "softmax", "hinge"};
    for (size_t i = 0; i < 8; i++) {
        char *text = text_of(N_ROWS, i % 4 == 0, 0), *other = text_of(500, i % 4 == 0, 0);
        gsa_state *state = learned(other, losses[i % 4]);
        gsa_error error = {0}, first_error = {0};
        results first = {0};
        gsa_model *model;
        char *label = strchr(text + strlen(text) / 2, '\n') + 1;
        if (i >= 4)
            memset(label, 'w', strcspn(label, " ")); /* a word: no number, and no class that is known */
        must_be_ok(gsa_state_finish(state, NULL, &model, &error), &error);
        for (unsigned n_threads = 1; n_threads <= 5; n_threads += 2) {
            const gsa_env env = {.n_threads = n_threads};
            gsa_metrics *metrics;
            gsa_reader *reader = text_reader(text, NULL);
            must_be_ok(gsa_metrics_new(model, NULL, &metrics, &error), &error);
            gsa_status status = gsa_evaluate(metrics, reader, &env, &error);
            results found = {0};
            if (status == GSA_OK)
                must_be_ok(gsa_metrics_finish(metrics, &error), &error);
            keep_results(&found, metrics);
            if (n_threads == 1) {
                first = found;
                first_error = error;
            }
            assert_int_equal(status, i == 4 ? GSA_LABEL : GSA_OK);
            must_be_equal(&first, &found, 0);
            assert_string_equal(first_error.message, error.message);
            gsa_metrics_free(metrics);
            gsa_reader_close(reader);
        }
        gsa_model_free(model);
        gsa_state_free(state);
        free(text);
        free(other);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_do_not_depend_on_the_number_of_processes),
        cmocka_unit_test(rows_that_cannot_be_dealt_out_are_judged_by_the_first),
        cmocka_unit_test(a_failure_of_one_is_everyones),
        cmocka_unit_test(no_rows_are_a_failure_for_all),
        cmocka_unit_test(results_and_failures_do_not_depend_on_the_number_of_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
