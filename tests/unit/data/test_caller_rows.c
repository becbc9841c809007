/* Rows that the caller gives: handed on as they are, numbered, read again where that is possible. */
#include "support.h"

#include <string.h>

typedef struct maker {
    const gsa_batch *batch;
    size_t n_batches, at;
    int n_rewinds, fails;
} maker;

static gsa_status next(void *ctx, gsa_batch *out, gsa_error *error)
{
    maker *from = ctx;
    if (from->fails) {
        error->row = GSA_NO_ROW;
        strcpy(error->message, "the maker broke");
        return error->status = GSA_IO;
    }
    if (from->at == from->n_batches)
        return GSA_END;
    *out = from->batch[from->at++];
    return GSA_OK;
}

static gsa_status start_over(void *ctx, gsa_error *error)
{
    (void)error;
    ((maker *)ctx)->at = 0;
    ((maker *)ctx)->n_rewinds++;
    return GSA_OK;
}

static const float values[] = {1, 2, 3, 4, 5, 6};
static const double labels[] = {0, 1, 0};
static const gsa_batch batches[] = {{.n_rows = 2, .width = 2, .value = values, .label = labels},
                                    {.n_rows = 0, .width = 2, .value = values, .label = labels},
                                    {.n_rows = 1, .width = 2, .value = values + 4, .label = labels + 2}};

static void given_batches_are_borrowed_and_their_rows_numbered(void **state)
{
    (void)state;
    maker rows = {.batch = batches, .n_batches = 3};
    const gsa_row_source source = {.size = sizeof source, &rows, next, start_over};
    gsa_reader *reader = NULL;
    gsa_error error = {0};
    gsa_batch batch;
    gsa_reader_progress progress = {.size = sizeof progress};
    assert_int_equal(gsa_reader_open_rows(&source, NULL, NULL, &reader, &error), GSA_OK);
    for (int pass = 0; pass < 2; pass++) {
        assert_int_equal(gsa_reader_next(reader, &batch, &error), GSA_OK);
        assert_int_equal(batch.n_rows, 2);
        assert_ptr_equal(batch.value, values);
        assert_int_equal(batch.place[1].line, 2);
        assert_int_equal(gsa_reader_next(reader, &batch, &error), GSA_OK); /* no batch is empty */
        assert_ptr_equal(batch.value, values + 4);
        assert_int_equal(batch.place[0].line, 3);
        error = (gsa_error){.row = 0, .message = "its value is infinite"};
        gsa_reader_locate(reader, &batch, &error);
        assert_string_equal(error.message, "the rows given, row 3: its value is infinite");
        assert_int_equal(gsa_reader_next(reader, &batch, &error), GSA_END);
        gsa_reader_get_progress(reader, &progress);
        assert_int_equal(progress.n_rows, 3);
        assert_false(progress.is_stream);
        assert_int_equal(gsa_reader_rewind(reader, &error), GSA_OK);
    }
    assert_int_equal(rows.n_rewinds, 2);
    gsa_reader_close(reader);
}

static void given_rows_without_rewind_are_a_stream(void **state)
{
    (void)state;
    maker rows = {.batch = batches, .n_batches = 3};
    const gsa_row_source source = {.size = sizeof source, &rows, next, NULL};
    gsa_reader *reader = NULL;
    gsa_error error = {0};
    gsa_reader_progress progress = {.size = sizeof progress};
    assert_int_equal(gsa_reader_open_rows(&source, NULL, NULL, &reader, &error), GSA_OK);
    gsa_reader_get_progress(reader, &progress);
    assert_true(progress.is_stream);
    assert_int_equal(gsa_reader_rewind(reader, &error), GSA_UNSUPPORTED);
    assert_null(gsa_reader_schema(reader));
    assert_int_equal(gsa_reader_begin(reader, &error), GSA_OK);
    assert_int_equal(gsa_reader_set_schema(reader, "x", &error), GSA_ARGUMENT);
    gsa_reader_close(reader);
}

static int stop(void *ctx)
{
    return *(int *)ctx;
}

static void given_rows_fail_with_the_words_of_who_gives_them_and_stop_on_request(void **state)
{
    (void)state;
    int stops = 1;
    const gsa_call call = {.size = sizeof call, .should_stop = stop, .ctx = &stops};
    maker rows = {.batch = batches, .n_batches = 3, .fails = 1};
    const gsa_row_source source = {.size = sizeof source, &rows, next, NULL};
    gsa_reader *reader = NULL;
    gsa_error error = {0};
    gsa_batch batch;
    assert_int_equal(gsa_reader_open_rows(&source, NULL, &call, &reader, &error), GSA_OK);
    assert_int_equal(gsa_reader_next(reader, &batch, &error), GSA_STOPPED);
    stops = 0;
    assert_int_equal(gsa_reader_next(reader, &batch, &error), GSA_IO);
    assert_string_equal(error.message, "the maker broke");
    gsa_reader_close(reader);
}

static void given_rows_whose_offsets_or_ids_cannot_be_are_refused_by_their_number(void **state)
{
    (void)state;
    static const int64_t start[] = {0, 1}, back[] = {1, 0};
    static const uint32_t right[] = {3}, wrong[] = {UINT32_MAX};
    const gsa_batch sparse[][2] = {{{.n_rows = 1, .row_start = start, .index = right, .label = labels},
                                    {.n_rows = 1, .row_start = start, .index = wrong, .label = labels}},
                                   {{.n_rows = 1, .row_start = start, .index = right, .label = labels},
                                    {.n_rows = 1, .row_start = back, .index = right, .label = labels}}};
    const char *const messages[] = {"the rows given, row 2: feature id 4294967295 is too large",
                                    "the rows given, row 2: row_start has 1 and then 0"};
    for (int i = 0; i < 2; i++) {
        maker rows = {.batch = sparse[i], .n_batches = 2};
        const gsa_row_source source = {.size = sizeof source, &rows, next, NULL};
        gsa_reader *reader = NULL;
        gsa_error error = {0};
        gsa_batch batch;
        assert_int_equal(gsa_reader_open_rows(&source, NULL, NULL, &reader, &error), GSA_OK);
        assert_int_equal(gsa_reader_next(reader, &batch, &error), GSA_OK);
        assert_int_equal(gsa_reader_next(reader, &batch, &error), GSA_ARGUMENT);
        assert_non_null(strstr(error.message, messages[i]));
        gsa_reader_close(reader);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(given_batches_are_borrowed_and_their_rows_numbered),
        cmocka_unit_test(given_rows_without_rewind_are_a_stream),
        cmocka_unit_test(given_rows_whose_offsets_or_ids_cannot_be_are_refused_by_their_number),
        cmocka_unit_test(given_rows_fail_with_the_words_of_who_gives_them_and_stop_on_request),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
