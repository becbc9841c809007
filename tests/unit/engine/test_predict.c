/* Predictions of a reader: the model's own, in the order of the rows, whatever the threads. */
#include "runs.h"

#include "support/failing_memory.h"

#include <greedystep/train.h>

#include <stdio.h>

static gsa_model *trained(uint64_t n_classes, const char *loss)
{
    gsa_error error = {0};
    gsa_state *state = state_with("passes", "1", "loss", loss, "holdout", "0", NULL);
    gsa_reader *reader = generated(6000, n_classes, 1);
    must_be_ok(gsa_train(state, reader, NULL, NULL, &error), &error);
    gsa_model *model = model_of(state);
    gsa_reader_close(reader);
    gsa_state_free(state);
    return model;
}

typedef struct collected {
    size_t n_rows, width, n_calls, text_size, fail_at; /* fail_at: the call that fails, 0: none */
    double *number;
    char *text;
    size_t number_room, text_room;
} collected;

static void *room_for(void *memory, size_t *room, size_t size)
{
    if (size <= *room)
        return memory;
    *room = 2 * size;
    return realloc(memory, *room);
}

static gsa_status collect(void *ctx, const gsa_predictions *some, gsa_error *error)
{
    collected *all = ctx;
    if (++all->n_calls == all->fail_at) {
        snprintf(error->message, sizeof error->message, "enough");
        return GSA_LIMIT;
    }
    size_t n = some->rows->n_rows;
    all->number = room_for(all->number, &all->number_room, (all->n_rows + n) * some->width * sizeof *all->number);
    memcpy(all->number + all->n_rows * some->width, some->number, n * some->width * sizeof *all->number);
    all->n_rows += n;
    all->width = some->width;
    if (some->text) {
        all->text = room_for(all->text, &all->text_room, all->text_size + some->text_size + 1);
        memcpy(all->text + all->text_size, some->text, some->text_size);
        all->text_size += some->text_size;
        all->text[all->text_size] = '\0';
    }
    return GSA_OK;
}

static void forget(collected *all)
{
    free(all->number);
    free(all->text);
    *all = (collected){0};
}

static gsa_status predict_on(const gsa_model *model, gsa_reader *reader, unsigned n_threads, int as_text,
                             collected *all, gsa_error *error)
{
    gsa_predict_hooks hooks = {.ctx = all, .as_text = as_text, .take = collect};
    gsa_env env = {.n_threads = n_threads};
    return gsa_predict(model, reader, &hooks, &env, error);
}

/* Row by row, with printf. */
static void expect(const gsa_model *model, gsa_reader *reader, int margins, collected *all)
{
    gsa_model_info info;
    gsa_batch batch;
    gsa_model_get_info(model, &info);
    size_t n_classes = (size_t)info.n_classes;
    gsa_batch row = {.n_rows = 1};
    double *number = calloc(n_classes + 1, sizeof *number);
    while (gsa_reader_next(reader, &batch, NULL) == GSA_OK)
        for (size_t i = 0; i < batch.n_rows; i++) {
            char line[512];
            row.row_start = batch.row_start + i;
            row.index = batch.index;
            row.value = batch.value;
            must_be_ok(margins ? gsa_model_margins(model, &row, number, NULL)
                               : gsa_model_predict(model, &row, number, NULL),
                       NULL);
            size_t best = 0, width = margins ? (size_t)info.n_outputs : n_classes > 0 ? n_classes : 1;
            for (size_t k = 1; k < width; k++)
                best = number[k] > number[best] ? k : best;
            double sure = number[best];
            if (margins && n_classes == 2) {
                best = number[0] > 0;
                sure = best ? number[0] : -number[0];
            }
            if (n_classes > 0)
                snprintf(line, sizeof line, "%s %.6g\n", gsa_model_label(model, best), sure);
            else
                snprintf(line, sizeof line, "%.9g\n", number[0]);
            gsa_predictions some = {&row, width, number, line, strlen(line)};
            gsa_error error = {0};
            assert_int_equal(collect(all, &some, &error), GSA_OK);
        }
    free(number);
}

static void predictions_are_those_of_the_model_in_the_order_of_the_rows(void **unused)
{
    (void)unused;
    static const struct {
        uint64_t n_classes;
        const char *loss;
    } kinds[] = {{2, "logistic"}, {1, "squared"}, {3, "softmax"}, {2, "hinge"}, {3, "squared_hinge"}, {300, "softmax"}};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        gsa_error error = {0};
        gsa_model *model = trained(kinds[k].n_classes, kinds[k].loss);
        collected expected = {0}, all = {0};
        gsa_reader *reader = generated(9000, kinds[k].n_classes, 2);
        expect(model, reader, strstr(kinds[k].loss, "hinge") != NULL, &expected);
        for (unsigned n_threads = 1; n_threads <= 8; n_threads = n_threads * 2 + (n_threads == 2)) {
            must_be_ok(gsa_reader_rewind(reader, &error), &error);
            must_be_ok(predict_on(model, reader, n_threads, 1, &all, &error), &error);
            assert_int_equal(all.n_rows, 9000);
            assert_int_equal(all.width, expected.width);
            assert_memory_equal(all.number, expected.number, all.n_rows * all.width * sizeof *all.number);
            assert_string_equal(all.text, expected.text);
            forget(&all);
        }
        must_be_ok(gsa_reader_rewind(reader, &error), &error);
        must_be_ok(predict_on(model, reader, 2, 0, &all, &error), &error);
        assert_int_equal(all.n_rows, 9000);
        assert_null(all.text);
        forget(&all);
        forget(&expected);
        gsa_reader_close(reader);
        gsa_model_free(model);
    }
}

static void what_the_hook_refuses_ends_the_prediction(void **unused)
{
    (void)unused;
    gsa_model *model = trained(2, "logistic");
    for (unsigned n_threads = 1; n_threads <= 8; n_threads *= 2) {
        gsa_error error = {0};
        collected all = {.fail_at = 2};
        gsa_reader *reader = generated(40000, 2, 2);
        assert_int_equal(predict_on(model, reader, n_threads, 1, &all, &error), GSA_LIMIT);
        assert_string_equal(error.message, "enough");
        assert_int_equal(all.n_calls, 2);
        gsa_reader_close(reader);
        forget(&all);
    }
    gsa_model_free(model);
}

static void a_bad_row_comes_after_the_predictions_before_it(void **unused)
{
    (void)unused;
    gsa_model *model = trained(2, "logistic");
    size_t size = 0;
    char *text = malloc(20000 * 16);
    for (int i = 0; i < 20000; i++)
        size += (size_t)sprintf(text + size, i == 12345 ? "1 2:x\n" : "1 %d:1\n", i % 100 + 1);
    for (unsigned n_threads = 1; n_threads <= 8; n_threads *= 2) {
        gsa_error error = {0};
        collected all = {0};
        gsa_reader *reader = NULL;
        must_be_ok(gsa_reader_open_memory(text, size, "rows", NULL, NULL, &reader, &error), &error);
        assert_int_equal(predict_on(model, reader, n_threads, 1, &all, &error), GSA_INPUT);
        assert_int_equal(all.n_rows, 12345);
        assert_int_equal(error.line, 12346);
        gsa_reader_close(reader);
        forget(&all);
    }
    free(text);
    gsa_model_free(model);
}

static void a_request_to_stop_is_answered(void **unused)
{
    (void)unused;
    gsa_error error = {0};
    gsa_model *model = trained(2, "logistic");
    gsa_reader *reader = generated(100000, 2, 2);
    collected all = {0};
    unsigned left = 3;
    gsa_predict_hooks hooks = {.ctx = &all, .take = collect};
    gsa_env env = {.should_stop = stop_after, .stop_ctx = &left, .n_threads = 1};
    assert_int_equal(gsa_predict(model, reader, &hooks, &env, &error), GSA_STOPPED);
    assert_true(all.n_rows > 0 && all.n_rows < 100000);
    forget(&all);
    gsa_reader_close(reader);
    gsa_model_free(model);
}

static void every_failure_of_memory_is_reported_and_nothing_is_lost(void **unused)
{
    (void)unused;
    gsa_model *model = trained(2, "logistic");
    gsa_reader *reader = generated(5000, 2, 2);
    gsa_status status = GSA_MEMORY;
    for (size_t n = 0; status == GSA_MEMORY; n++) {
        failing memory = {.left = n};
        gsa_env env = failing_env(&memory);
        collected all = {0};
        gsa_predict_hooks hooks = {.ctx = &all, .as_text = 1, .take = collect};
        assert_int_equal(gsa_reader_rewind(reader, NULL), GSA_OK);
        status = gsa_predict(model, reader, &hooks, &env, NULL);
        assert_int_equal(memory.live, 0);
        assert_true(status == GSA_OK ? all.n_rows == 5000 : n < 1000);
        forget(&all);
    }
    assert_int_equal(status, GSA_OK);
    gsa_reader_close(reader);
    gsa_model_free(model);
}

static void one_sparse_row_is_predicted_without_memory(void **unused)
{
    (void)unused;
    static const char *const losses[] = {"logistic", "softmax", "squared", "hinge"};
    for (size_t k = 0; k < 4; k++) {
        failing memory = {.left = SIZE_MAX};
        gsa_env env = failing_env(&memory);
        gsa_model *model = trained(k == 1 ? 3 : k == 2 ? 1 : 2, losses[k]), *counted = NULL;
        bytes saved = {0};
        must_be_ok(gsa_model_write(model, append, &saved, NULL), NULL);
        must_be_ok(gsa_model_read(saved.data, saved.size, &env, &counted, NULL), NULL);
        int64_t row_start[] = {0, 3};
        uint32_t index[] = {1, 7, 4000000};
        double out[3];
        gsa_batch row = {.n_rows = 1, .row_start = row_start, .index = index};
        memory.left = 0;
        must_be_ok(gsa_model_margins(counted, &row, out, NULL), NULL);
        if (k < 3)
            must_be_ok(gsa_model_predict(counted, &row, out, NULL), NULL);
        gsa_model_free(counted);
        gsa_model_free(model);
        free(saved.data);
        assert_int_equal(memory.live, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(predictions_are_those_of_the_model_in_the_order_of_the_rows),
        cmocka_unit_test(what_the_hook_refuses_ends_the_prediction),
        cmocka_unit_test(a_bad_row_comes_after_the_predictions_before_it),
        cmocka_unit_test(a_request_to_stop_is_answered),
        cmocka_unit_test(every_failure_of_memory_is_reported_and_nothing_is_lost),
        cmocka_unit_test(one_sparse_row_is_predicted_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
