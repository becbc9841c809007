/* Readers that begin in the middle, and fail: messages name the line that they name without, and what cannot be is
 * refused. */
#include "shares.h"

/* ---- what goes wrong --------------------------------------------------------------------------------------------- */

/* The failure of a plain reader is that of the part which has its row, and of every seek to a row before it. */
static void expect_same_failure(const input *in, const gsa_env *env)
{
    for (size_t s = 0; s < N_SIZES; s++) {
        gsa_reader *reader = open_with(in, &all_sizes[s], env);
        list rows = {0}, got = {0};
        gsa_error wanted, error;
        gsa_status failure = take_rows(reader, &rows, SIZE_MAX, &wanted);
        assert_true(failure != GSA_END && wanted.line > 0);
        for (uint64_t n_parts = 2; n_parts <= 17; n_parts += 3) {
            size_t n_failed = 0;
            for (uint64_t part = 0; part < n_parts; part++) {
                assert_int_equal(gsa_reader_share(reader, part, n_parts, &error), GSA_OK);
                gsa_status status = take_rows(reader, &got, SIZE_MAX, &error);
                n_failed += status != GSA_END;
                if (status == GSA_END)
                    continue;
                assert_int_equal(status, failure);
                assert_string_equal(error.message, wanted.message);
                assert_int_equal(error.line, wanted.line);
                assert_int_equal(error.byte, wanted.byte);
            }
            assert_int_equal(n_failed, 1);
        }
        for (size_t i = 0; i < 2 * rows.n; i++) {
            gsa_place place = rows.row[i / 2].place;
            place.line *= i % 2;
            gsa_status status = gsa_reader_seek(reader, &place, &error);
            if (status == GSA_OK)
                status = take_rows(reader, &got, SIZE_MAX, &error);
            assert_int_equal(status, failure);
            assert_string_equal(error.message, wanted.message);
            assert_int_equal(error.line, wanted.line);
            assert_int_equal(error.byte, wanted.byte);
        }
        gsa_reader_close(reader);
        free_list(&rows);
        free_list(&got);
    }
}

static void failures_name_the_line_that_they_name_without(void **state)
{
    (void)state;
    static const char *const ends[][2] = {{"1 3:x\n1 1:1\n", "1 1:1\n# c\n\n2 1:1\r\n"},
                                          {"1 2 3 4|a b\n1 |a c\n", "1 |a x\n\n-1 |b y:2\n"},
                                          {"1 |a b:x\n", "1 |a x\n"}};
    for (size_t e = 0; e < sizeof ends / sizeof *ends; e++) {
        char text[4096] = "";
        for (int i = 0; i < 9; i++)
            strcat(text, ends[e][1]);
        input in = {0};
        add_text(&in, text);
        strcat(text, ends[e][0]);
        add_text(&in, text);
        expect_same_failure(&in, NULL);
        free_input(&in);
    }
    static const char *const tables[] = {"1,x,\"y\"z\n0,1,2\n", "1,x,\"two\nlines\",3\n", "1,\"a\nb\",word\n0,"};
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++) {
        char text[4096] = "y,a,b\n";
        for (int i = 0; i < 9; i++)
            strcat(text, i % 2 ? "1,2," QUOTED "\n\n" : "0,3,\"cr\ror\r\ncrlf\"\r\n");
        strcat(text, tables[t]);
        input in = {.format = gsai_format_csv()};
        add_file(&in, text, strlen(text), false);
        expect_same_failure(&in, NULL);
        free_input(&in);
    }
}

static void a_line_that_is_too_long_fails_where_it_begins(void **state)
{
    (void)state;
    enum { LONG = 600000 };
    static char text[LONG + 100] = "1 1:1\n2 2:1\n3 1:1\n";
    size_t size = strlen(text);
    memset(text + size, ' ', LONG);
    strcpy(text + size + LONG, "\n1 1:1\n");
    input in = {.format = gsai_format_libsvm()};
    add_text(&in, text);
    expect_both(&in, 0, true);
    expect_same_failure(&in, &(gsa_env){.budget = &(gsa_budget){.limit = 4 * (LONG - 1)}});
    free_input(&in);
}

static void rows_of_a_share_are_located(void **state)
{
    (void)state;
    input in = {0};
    add_made(&in, 40, 5, (flavour){"\r\n", true, false});
    add_made(&in, 40, 6, (flavour){"\n", false, false});
    list wanted = all_rows(&in);
    gsa_reader *reader = open_with(&in, &all_sizes[1], NULL);
    size_t at = 0, n_unknown = 0;
    gsa_error error;
    gsa_batch batch;
    for (uint64_t part = 0; part < 5; part++) {
        assert_int_equal(gsa_reader_share(reader, part, 5, &error), GSA_OK);
        while (gsa_reader_next(reader, &batch, &error) == GSA_OK)
            for (size_t r = 0; r < batch.n_rows; r++, at++) {
                char text[200];
                const gsa_place *place = &wanted.row[at].place;
                snprintf(text, sizeof text, "%s:%" PRIu64 " (byte %" PRIu64 "): it is bad", in.path[place->file],
                         place->line, place->byte);
                gsa_error bad = {.status = GSA_INPUT, .row = r, .message = "it is bad"};
                gsa_reader_locate(reader, &batch, &bad);
                assert_string_equal(bad.message, text);
                assert_int_equal(bad.line, place->line);
                n_unknown += batch.place[r].line == 0;
            }
    }
    assert_int_equal(at, wanted.n);
    assert_true(n_unknown > 0 && n_unknown < wanted.n);
    gsa_reader_close(reader);
    free_list(&wanted);
    free_input(&in);
}

static void bad_rows_are_counted_once(void **state)
{
    (void)state;
    char text[4096] = "";
    for (int i = 0; i < 40; i++)
        strcat(text, i % 3 ? "1 1:1 2:2\n" : "1 x\n");
    input in = {.skip = 1};
    add_text(&in, text);
    add_packed(&in, text);
    list rows = all_rows(&in);
    gsa_reader *reader = open_with(&in, &all_sizes[1], NULL);
    gsa_error error;
    gsa_reader_progress progress;
    for (uint64_t n_parts = 1; n_parts <= 17; n_parts++) {
        uint64_t n_bad = 0;
        for (uint64_t part = 0; part < n_parts; part++) {
            list got = {0};
            assert_int_equal(gsa_reader_share(reader, part, n_parts, &error), GSA_OK);
            assert_int_equal(take_rows(reader, &got, SIZE_MAX, &error), GSA_END);
            gsa_reader_get_progress(reader, &progress);
            n_bad += progress.n_bad_rows;
            free_list(&got);
        }
        assert_int_equal(n_bad, 28);
    }
    expect_rest(reader, &rows, 26 + 10, SIZE_MAX, false); /* row 16 of the second file: 9 bad ones are before it, */
    gsa_reader_get_progress(reader, &progress);
    assert_int_equal(progress.n_bad_rows, 14 - 6);
    gsa_reader_close(reader);
    free_list(&rows);
    free_input(&in);
}

static void expect_no_row(gsa_reader *reader, gsa_place place, const char *part_of_message)
{
    gsa_error error;
    gsa_batch batch;
    assert_int_equal(gsa_reader_seek(reader, &place, &error), GSA_ARGUMENT);
    assert_non_null(strstr(error.message, part_of_message));
    assert_int_equal(gsa_reader_next(reader, &batch, &error), GSA_ARGUMENT);
    assert_int_equal(gsa_reader_rewind(reader, &error), GSA_OK);
    assert_int_equal(gsa_reader_next(reader, &batch, &error), GSA_OK);
}

static void a_place_without_a_row_is_refused(void **state)
{
    (void)state;
    input in = {0};
    add_text(&in, "1 1:1\n\n# c\n2 2:2\n");
    add_packed(&in, "1 1:1\n2 2:2\n");
    add_cache(&in, "1 1:1\n2 2:2\n", ".gsac");
    gsa_reader *reader = open_with(&in, &all_sizes[0], NULL);
    expect_no_row(reader, (gsa_place){1, 1, 0}, "no row begins at byte 1: expected a place");
    expect_no_row(reader, (gsa_place){1, 6, 0}, "byte 6");
    expect_no_row(reader, (gsa_place){1, 16, 0}, "byte 16");
    expect_no_row(reader, (gsa_place){1, 17, 0}, "byte 17");
    expect_no_row(reader, (gsa_place){1, UINT64_MAX, 0}, "byte 18446744073709551615");
    expect_no_row(reader, (gsa_place){1, 5, 1}, "byte 5");
    expect_no_row(reader, (gsa_place){3, 12, 1}, "byte 12");
    expect_no_row(reader, (gsa_place){0, 16, 2}, "number 0");
    expect_no_row(reader, (gsa_place){3, 16, 2}, "number 3");
    expect_no_row(reader, (gsa_place){1, 0, 3}, "a place in file number 3, of 3 files");
    gsa_error error;
    assert_int_equal(gsa_reader_share(reader, 0, 0, &error), GSA_ARGUMENT);
    assert_int_equal(gsa_reader_share(reader, 3, 3, &error), GSA_ARGUMENT);
    gsa_reader_close(reader);
    free_input(&in);
    input table = {0};
    add_file(&table, "y,a\n1,2\n0,3\n", strlen("y,a\n1,2\n0,3\n"), false);
    reader = open_with(&table, &all_sizes[0], NULL);
    expect_no_row(reader, (gsa_place){2, 5, 0}, "byte 5");
    expect_no_row(reader, (gsa_place){2, 12, 0}, "byte 12");
    gsa_reader_close(reader);
    free_input(&table);
}

static gsa_status give_nothing(void *ctx, gsa_batch *out, gsa_error *error)
{
    (void)ctx;
    (void)out;
    (void)error;
    return GSA_END;
}

static void what_is_read_once_is_not_dealt_out(void **state)
{
    (void)state;
    char path[PATH_SIZE];
    make_file(path, "", 0);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    const char *const paths[] = {path};
    const gsa_row_source source = {.next = give_nothing};
    gsa_place place = {1, 0, 0};
    gsa_reader *reader[2] = {NULL, NULL};
    gsa_error error;
    assert_int_equal(gsa_reader_open(paths, 1, NULL, NULL, &reader[0], &error), GSA_OK);
    assert_int_equal(gsa_reader_open_rows(&source, NULL, &reader[1], &error), GSA_OK);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(gsa_reader_seek(reader[i], &place, &error), GSA_UNSUPPORTED);
        assert_int_equal(gsa_reader_share(reader[i], 0, 2, &error), GSA_UNSUPPORTED);
        gsa_reader_close(reader[i]);
    }
    unlink(path);
}

static int stop_if(void *ctx)
{
    int *left = ctx;
    return *left == 0 || (*left)-- < 0;
}

static void a_stopped_seek_leaves_no_rows(void **state)
{
    (void)state;
    int left = 1000000;
    const gsa_env env = {.should_stop = stop_if, .stop_ctx = &left};
    char *text = make_text(500, 5, (flavour){"\n", true, false});
    input in = {0};
    add_packed(&in, text);
    list rows = all_rows(&in);
    gsa_reader *reader = open_with(&in, &all_sizes[2], &env);
    gsa_error error;
    gsa_batch batch;
    left = 50;
    assert_int_equal(gsa_reader_seek(reader, &rows.row[400].place, &error), GSA_STOPPED);
    left = 1000000;
    assert_int_equal(gsa_reader_next(reader, &batch, &error), GSA_STOPPED);
    expect_rest(reader, &rows, 400, SIZE_MAX, false);
    gsa_reader_close(reader);
    free_list(&rows);
    free_input(&in);
    free(text);
}

static void part_of_a_pass_is_not_kept(void **state)
{
    (void)state;
    char *text = make_text(300, 5, (flavour){"\n", true, false});
    input in = {0};
    add_packed(&in, text);
    list rows = all_rows(&in), got = {0};
    gsa_reader *reader = open_with(&in, &all_sizes[0], NULL);
    gsa_error error;
    gsa_reader_progress progress;
    assert_int_equal(gsa_reader_spill(reader, "/tmp", &error), GSA_OK);
    for (int how = 0; how < 2; how++) {
        gsa_status status =
            how ? gsa_reader_share(reader, 0, 1, &error) : gsa_reader_seek(reader, &rows.row[299].place, &error);
        assert_int_equal(status, GSA_OK);
        assert_int_equal(take_rows(reader, &got, SIZE_MAX, &error), GSA_END);
        free_list(&got);
        assert_int_equal(gsa_reader_rewind(reader, &error), GSA_OK);
        gsa_reader_get_progress(reader, &progress);
        assert_int_equal(progress.bytes_kept, 0);
    }
    assert_int_equal(take_rows(reader, &got, SIZE_MAX, &error), GSA_END);
    free_list(&got);
    assert_int_equal(gsa_reader_rewind(reader, &error), GSA_OK);
    gsa_reader_get_progress(reader, &progress);
    assert_true(progress.bytes_kept > 0);
    assert_int_equal(take_rows(reader, &got, SIZE_MAX, &error), GSA_END);
    input kept = {.is_divisible = {true}, .size = {progress.bytes_kept}};
    for (uint64_t n_parts = 1; n_parts <= 17; n_parts++)
        expect_parts(&kept, reader, &got, n_parts);
    for (size_t i = 0; i < got.n; i += 23)
        expect_rest(reader, &got, i, SIZE_MAX, false);
    gsa_reader_close(reader);
    free_list(&got);
    free_list(&rows);
    free_input(&in);
    free(text);
}

static void without_memory_nothing_is_lost(void **state)
{
    (void)state;
    input in = {0};
    add_made(&in, 20, 5, (flavour){"\n", true, false});
    add_cache(&in, "1 1:1\n2 2:2\n", ".gsac");
    list rows = all_rows(&in);
    gsa_status status = GSA_MEMORY;
    for (size_t n = 0; status != GSA_OK; n++) {
        failing memory = {.left = SIZE_MAX};
        const gsa_env env = failing_env(&memory);
        gsa_reader *reader = open_with(&in, &all_sizes[0], &env);
        gsa_error error;
        memory.left = n;
        status = gsa_reader_seek(reader, &rows.row[21].place, &error);
        assert_true(status == GSA_OK || status == GSA_MEMORY);
        memory.left = SIZE_MAX;
        expect_rest(reader, &rows, 21, SIZE_MAX, false);
        gsa_reader_close(reader);
        assert_int_equal(memory.live, 0);
    }
    free_list(&rows);
    free_input(&in);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(failures_name_the_line_that_they_name_without),
        cmocka_unit_test(a_line_that_is_too_long_fails_where_it_begins),
        cmocka_unit_test(rows_of_a_share_are_located),
        cmocka_unit_test(bad_rows_are_counted_once),
        cmocka_unit_test(a_place_without_a_row_is_refused),
        cmocka_unit_test(what_is_read_once_is_not_dealt_out),
        cmocka_unit_test(a_stopped_seek_leaves_no_rows),
        cmocka_unit_test(part_of_a_pass_is_not_kept),
        cmocka_unit_test(without_memory_nothing_is_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
