/* Predictions of a reader: the model's own, in the order of the rows, whatever the threads. */
#include "runs.h"

#include "support/failing_memory.h"

#include <greedystep/train.h>

#include <stdio.h>

static gsa_model *trained(uint64_t n_classes, const char *loss)
{
    gsa_error error = {0};
    gsa_state *state = state_with("passes", "1", "loss", loss, "holdout", "none", NULL);
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
    if (n > 0) /* a header has none */
        memcpy(all->number + all->n_rows * some->width, some->number, n * some->width * sizeof *all->number);
    assert_int_equal(some->first_row, all->n_rows);
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

static gsa_status predict_on(const gsa_model *model, gsa_reader *reader, unsigned n_threads, gsa_text text,
                             collected *all, gsa_error *error)
{
    gsa_predict_hooks hooks = {.size = sizeof hooks, .ctx = all, .text = text, .every_class = 1, .take = collect};
    gsa_call call = {.size = sizeof call, .n_threads = n_threads};
    return gsa_predict(model, reader, &hooks, &call, error);
}

/* Row by row, with printf. */
static void expect(const gsa_model *model, gsa_reader *reader, int margins, collected *all)
{
    gsa_model_info info = {.size = sizeof info};
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
                sure = number[0];
            }
            if (n_classes > 0)
                snprintf(line, sizeof line, "%s %.6g\n", gsa_model_label(model, best), sure);
            else
                snprintf(line, sizeof line, "%.9g\n", number[0]);
            gsa_predictions some = {&row, all->n_rows, width, number, line, strlen(line)};
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
            must_be_ok(predict_on(model, reader, n_threads, GSA_TEXT_LINES, &all, &error), &error);
            assert_int_equal(all.n_rows, 9000);
            assert_int_equal(all.width, expected.width);
            assert_memory_equal(all.number, expected.number, all.n_rows * all.width * sizeof *all.number);
            assert_string_equal(all.text, expected.text);
            forget(&all);
        }
        must_be_ok(gsa_reader_rewind(reader, &error), &error);
        must_be_ok(predict_on(model, reader, 2, GSA_TEXT_NONE, &all, &error), &error);
        assert_int_equal(all.n_rows, 9000);
        assert_null(all.text);
        forget(&all);
        forget(&expected);
        gsa_reader_close(reader);
        gsa_model_free(model);
    }
}

/* Labels of any text, sorted, so that they are the classes 0 .. n-1; feature i says class i. */
static gsa_model *trained_on_words(const char *const *words, int n_classes, const char *loss)
{
    gsa_error error = {0};
    gsa_state *state = state_with("passes", "1", "loss", loss, "holdout", "none", NULL);
    int64_t row_start[] = {0, 1};
    double label = 0;
    for (int i = 0; i < 40 * n_classes; i++) {
        uint32_t index = (uint32_t)(i % n_classes);
        int32_t word = i % n_classes;
        gsa_batch row = {.n_rows = 1, .row_start = row_start, .index = &index, .label = &label, .word = &word};
        row.words = words;
        row.n_words = (size_t)n_classes;
        must_be_ok(gsa_state_update(state, &row, &error), &error);
    }
    gsa_model *model = model_of(state);
    gsa_state_free(state);
    return model;
}

static void must_be_text(const gsa_model *model, const char *rows_text, gsa_text kind, int every_class,
                         const char *text)
{
    gsa_error error = {0};
    collected all = {0};
    gsa_reader *reader = text_reader(rows_text, NULL);
    gsa_predict_hooks hooks = {
        .size = sizeof hooks, .ctx = &all, .text = kind, .every_class = every_class, .take = collect};
    must_be_ok(gsa_predict(model, reader, &hooks, NULL, &error), &error);
    assert_string_equal(all.text ? all.text : "", text);
    gsa_reader_close(reader);
    forget(&all);
}

/* One of the numbers that a row of this one feature is predicted as. */
static const char *number_of(const gsa_model *model, uint32_t feature, size_t number, char out[32])
{
    int64_t row_start[] = {0, 1};
    double numbers[64];
    gsa_batch row = {.n_rows = 1, .row_start = row_start, .index = &feature};
    gsa_model_info info = {.size = sizeof info};
    gsa_model_get_info(model, &info);
    must_be_ok(info.n_classes > 0 && !info.has_probabilities ? gsa_model_margins(model, &row, numbers, NULL)
                                                             : gsa_model_predict(model, &row, numbers, NULL),
               NULL);
    snprintf(out, 32, "%.9g", numbers[number]);
    return out;
}

static void labels_are_quoted_as_the_format_asks(void **unused)
{
    (void)unused;
    static const char *const words[] = {
        " blank", "a,b", "back\\slash", "plain", "say \"so\"", "tilde~\x7f", "z\xc3\xbcrich \xe2\x82\xac"};
    static const char *const csv[] = {"\" blank\"",
                                      "\"a,b\"",
                                      "back\\slash",
                                      "plain",
                                      "\"say \"\"so\"\"\"",
                                      "tilde~\x7f",
                                      "z\xc3\xbcrich \xe2\x82\xac"};
    static const char *const json[] = {
        " blank", "a,b", "back\\\\slash", "plain", "say \\\"so\\\"", "tilde~\x7f", "z\xc3\xbcrich \xe2\x82\xac"};
    gsa_model *model = trained_on_words(words, 7, "softmax");
    must_be_text(model, "", GSA_TEXT_CSV, 1, "");
    must_be_text(model, "", GSA_TEXT_JSONL, 1, "");
    for (uint32_t i = 0; i < 7; i++) {
        gsa_error error = {0};
        char rows_text[32], number[32], begin[256], text[512];
        snprintf(rows_text, sizeof rows_text, "0 1:0\n0 %u:1\n", i + 1); /* the second row is looked at */
        collected all = {0};
        gsa_reader *reader = text_reader(rows_text, NULL);
        must_be_ok(predict_on(model, reader, 1, GSA_TEXT_CSV, &all, &error), &error);
        snprintf(begin, sizeof begin, "\n2,%s,%s,", csv[i], number_of(model, i, i, number));
        assert_non_null(strstr(all.text, begin));
        gsa_reader_close(reader);
        forget(&all);
        reader = text_reader(rows_text, NULL);
        must_be_ok(predict_on(model, reader, 1, GSA_TEXT_JSONL, &all, &error), &error);
        snprintf(begin, sizeof begin,
                 "\n{\"row\":2,\"label\":\"%s\",\"probability\":%s,\"probabilities\":{\" blank\":", json[i], number);
        assert_non_null(strstr(all.text, begin));
        snprintf(text, sizeof text, "\"%s\":%s%s", json[i], number, i == 6 ? "}}\n" : ",\"");
        assert_non_null(strstr(all.text, text));
        gsa_reader_close(reader);
        forget(&all);
    }
    gsa_model_free(model);
}

static void models_of_margins_and_numbers_say_so(void **unused)
{
    (void)unused;
    static const char *const words[] = {"maybe", "no", "yes"};
    char line[512], a[32], b[32], c[32];
    gsa_model *two = trained_on_words(words, 2, "hinge");
    number_of(two, 1, 0, a);
    assert_true(a[0] != '-');
    snprintf(line, sizeof line, "1,no,%s\n", a);
    must_be_text(two, "0 2:1\n", GSA_TEXT_CSV, 1, line);
    snprintf(line, sizeof line, "{\"row\":1,\"label\":\"no\",\"margin\":%s}\n", a);
    must_be_text(two, "0 2:1\n", GSA_TEXT_JSONL, 1, line);
    gsa_model_free(two);
    gsa_model *three = trained_on_words(words, 3, "squared_hinge");
    snprintf(line, sizeof line, "1,yes,%s,%s,%s,%s\n", number_of(three, 2, 2, c), number_of(three, 2, 0, a),
             number_of(three, 2, 1, b), c);
    must_be_text(three, "0 3:1\n", GSA_TEXT_CSV, 1, line);
    snprintf(line, sizeof line,
             "{\"row\":1,\"label\":\"yes\",\"margin\":%s,\"margins\":{\"maybe\":%s,\"no\":%s,\"yes\":%s}}\n", c, a, b,
             c);
    must_be_text(three, "0 3:1\n", GSA_TEXT_JSONL, 1, line);
    gsa_model_free(three);
    gsa_model *number = trained(1, "squared");
    snprintf(line, sizeof line, "1,%s\n2,%s\n", number_of(number, 4, 0, a), number_of(number, 9, 0, b));
    must_be_text(number, "0 5:1\n0 10:1\n", GSA_TEXT_CSV, 1, line);
    snprintf(line, sizeof line, "{\"row\":1,\"prediction\":%s}\n{\"row\":2,\"prediction\":%s}\n", a, b);
    must_be_text(number, "0 5:1\n0 10:1\n", GSA_TEXT_JSONL, 0, line);
    gsa_model_free(number);
}

static void must_begin_with(const gsa_model *model, gsa_text kind, int every_class, const char *header)
{
    gsa_error error = {0};
    for (int fails = 0; fails < 2; fails++) {
        collected all = {.fail_at = (size_t)fails};
        gsa_reader *reader = text_reader("", NULL); /* also if there are no rows */
        gsa_predict_hooks hooks = {
            .size = sizeof hooks, .ctx = &all, .text = kind, .header = 1, .every_class = every_class, .take = collect};
        gsa_status status = gsa_predict(model, reader, &hooks, NULL, &error);
        assert_int_equal(status, fails && *header ? GSA_LIMIT : GSA_OK);
        assert_int_equal(all.n_calls, *header ? 1 : 0);
        assert_string_equal(all.text ? all.text : "", fails ? "" : header);
        gsa_reader_close(reader);
        forget(&all);
    }
}

static void csv_begins_with_a_header_where_it_is_asked_for(void **unused)
{
    (void)unused;
    static const char *const words[] = {"", " blank", "a,b", "plain", "say \"so\""}, *const few[] = {"a", "b", "c,d"};
    gsa_model *model = trained_on_words(words, 5, "softmax");
    must_begin_with(model, GSA_TEXT_CSV, 0, "row,label,probability\n");
    must_begin_with(model, GSA_TEXT_CSV, 1,
                    "row,label,probability,\"p_\",\"p_ blank\",\"p_a,b\",p_plain,\"p_say \"\"so\"\"\"\n");
    must_begin_with(model, GSA_TEXT_JSONL, 1, "");
    must_begin_with(model, GSA_TEXT_LINES, 1, "");
    gsa_model_free(model);
    model = trained_on_words(few, 2, "hinge");
    must_begin_with(model, GSA_TEXT_CSV, 1, "row,label,margin\n");
    gsa_model_free(model);
    model = trained_on_words(few, 3, "hinge");
    must_begin_with(model, GSA_TEXT_CSV, 1, "row,label,margin,m_a,m_b,\"m_c,d\"\n");
    gsa_model_free(model);
    model = trained(1, "squared");
    must_begin_with(model, GSA_TEXT_CSV, 1, "row,prediction\n");
    gsa_model_free(model);
    model = trained(2, "logistic");
    collected all = {0};
    gsa_error error = {0};
    gsa_reader *reader = generated(5000, 2, 2);
    gsa_predict_hooks hooks = {.size = sizeof hooks, .ctx = &all, .text = GSA_TEXT_CSV, .header = 1, .take = collect};
    must_be_ok(gsa_predict(model, reader, &hooks, NULL, &error), &error);
    assert_int_equal(strncmp(all.text, "row,label,probability\n1,", 24), 0);
    assert_int_equal(all.n_rows, 5000);
    gsa_reader_close(reader);
    gsa_model_free(model);
    forget(&all);
}

static size_t count(const char *text, char what)
{
    size_t n = 0;
    for (; *text; text++)
        n += *text == what;
    return n;
}

static void every_class_is_told_only_on_request(void **unused)
{
    (void)unused;
    gsa_model *model = trained(21, "softmax");
    for (int every_class = 0; every_class <= 1; every_class++)
        for (gsa_text kind = GSA_TEXT_CSV; kind <= GSA_TEXT_JSONL; kind++) {
            gsa_error error = {0};
            collected all = {0};
            gsa_reader *reader = generated(1, 21, 2);
            gsa_predict_hooks hooks = {
                .size = sizeof hooks, .ctx = &all, .text = kind, .every_class = every_class, .take = collect};
            must_be_ok(gsa_predict(model, reader, &hooks, NULL, &error), &error);
            if (kind == GSA_TEXT_CSV)
                assert_int_equal(count(all.text, ','), every_class ? 2 + 21 : 2);
            else
                assert_int_equal(count(all.text, ':'), every_class ? 3 + 1 + 21 : 3);
            gsa_reader_close(reader);
            forget(&all);
        }
    gsa_model_free(model);
}

static void rows_are_numbered_through_whatever_the_threads(void **unused)
{
    (void)unused;
    gsa_model *model = trained(2, "logistic");
    for (unsigned n_threads = 1; n_threads <= 8; n_threads *= 2)
        for (gsa_text kind = GSA_TEXT_CSV; kind <= GSA_TEXT_JSONL; kind++) {
            gsa_error error = {0};
            collected all = {0};
            gsa_reader *reader = generated(30000, 2, 2);
            must_be_ok(predict_on(model, reader, n_threads, kind, &all, &error), &error);
            const char *line = all.text;
            for (unsigned long row = 1; row <= 30000; row++) {
                assert_int_equal(strtoul(line + (kind == GSA_TEXT_CSV ? 0 : strlen("{\"row\":")), NULL, 10), row);
                line = strchr(line, '\n') + 1;
            }
            assert_int_equal(*line, '\0');
            gsa_reader_close(reader);
            forget(&all);
        }
    gsa_model_free(model);
}

static void what_the_hook_refuses_ends_the_prediction(void **unused)
{
    (void)unused;
    gsa_model *model = trained(2, "logistic");
    for (unsigned n_threads = 1; n_threads <= 8; n_threads *= 2) {
        gsa_error error = {0};
        collected all = {.fail_at = 2};
        gsa_reader *reader = generated(40000, 2, 2);
        assert_int_equal(predict_on(model, reader, n_threads, GSA_TEXT_LINES, &all, &error), GSA_LIMIT);
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
        must_be_ok(gsa_reader_open_memory(text, size, "rows", NULL, NULL, NULL, &reader, &error), &error);
        assert_int_equal(predict_on(model, reader, n_threads, GSA_TEXT_LINES, &all, &error), GSA_INPUT);
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
    gsa_predict_hooks hooks = {.size = sizeof hooks, .ctx = &all, .take = collect};
    gsa_call call = {.size = sizeof call, .should_stop = stop_after, .ctx = &left, .n_threads = 1};
    assert_int_equal(gsa_predict(model, reader, &hooks, &call, &error), GSA_STOPPED);
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
        failing memory = {.left = SIZE_MAX};
        gsai_env env = failing_env(&memory);
        gsa_model *counted;
        must_be_ok(model_in(&env.memory, model, &counted, NULL), NULL);
        memory.left = n;
        collected all = {0};
        gsa_predict_hooks hooks = {
            .size = sizeof hooks, .ctx = &all, .text = GSA_TEXT_CSV, .every_class = 1, .take = collect};
        assert_int_equal(gsa_reader_rewind(reader, NULL), GSA_OK);
        status = gsa_predict(counted, reader, &hooks, NULL, NULL);
        gsa_model_free(counted);
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
        gsai_env env = failing_env(&memory);
        gsa_model *model = trained(k == 1 ? 3 : k == 2 ? 1 : 2, losses[k]), *counted = NULL;
        must_be_ok(model_in(&env.memory, model, &counted, NULL), NULL);
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
        assert_int_equal(memory.live, 0);
    }
}

static gsa_status note_the_longest(void *ctx, const gsa_predictions *some, gsa_error *error)
{
    size_t *longest = ctx;
    (void)error;
    *longest = some->text_size > *longest ? some->text_size : *longest;
    return GSA_OK;
}

/* 5000 rows of 100 kB each are half a gigabyte of text: never at once. */
static void long_labels_make_few_rows_at_a_time(void **unused)
{
    (void)unused;
    char *long_word = malloc(100001);
    memset(long_word, 'x', 100000);
    long_word[100000] = '\0';
    const char *const words[] = {long_word, long_word + 1};
    gsa_model *model = trained_on_words(words, 2, "logistic");
    gsa_reader *reader = generated(5000, 2, 2);
    size_t longest = 0;
    gsa_predict_hooks hooks = {.size = sizeof hooks, .ctx = &longest, .text = GSA_TEXT_LINES, .take = note_the_longest};
    must_be_ok(gsa_predict(model, reader, &hooks, NULL, NULL), NULL);
    assert_true(longest > 100000 && longest <= (16u << 20));
    gsa_reader_close(reader);
    gsa_model_free(model);
    free(long_word);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(predictions_are_those_of_the_model_in_the_order_of_the_rows),
        cmocka_unit_test(labels_are_quoted_as_the_format_asks),
        cmocka_unit_test(models_of_margins_and_numbers_say_so),
        cmocka_unit_test(csv_begins_with_a_header_where_it_is_asked_for),
        cmocka_unit_test(every_class_is_told_only_on_request),
        cmocka_unit_test(rows_are_numbered_through_whatever_the_threads),
        cmocka_unit_test(what_the_hook_refuses_ends_the_prediction),
        cmocka_unit_test(a_bad_row_comes_after_the_predictions_before_it),
        cmocka_unit_test(a_request_to_stop_is_answered),
        cmocka_unit_test(every_failure_of_memory_is_reported_and_nothing_is_lost),
        cmocka_unit_test(one_sparse_row_is_predicted_without_memory),
        cmocka_unit_test(long_labels_make_few_rows_at_a_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
