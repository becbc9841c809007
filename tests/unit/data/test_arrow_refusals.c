/* Arrow streams that cannot be read: refused by type, cell, list and array, or their bad rows left out. */
#include "unit/data/arrow_stream.h"

static void arrow_lists_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    static const int32_t descending[] = {0, 3, 2, 6, 7}, beyond[] = {0, 3, 3, 6, 8}, negative[] = {-1, 0, 0, 0, 0};
    static const int32_t bad_ids[] = {0, -4, 9, 5, 5, 1, 3}, other_at[] = {0, 2, 3, 6, 7};
    static const plan bad_items = {"item", "i", 7, 0, 2, {NULL, bad_ids}, NULL, NULL};
    const struct {
        const int32_t *at;
        const plan *items;
        gsa_status status;
        const char *part;
    } cases[] = {{descending, &id_items, GSA_FORMAT, "offsets"},
                 {beyond, &id_items, GSA_FORMAT, "offsets"},
                 {negative, &id_items, GSA_FORMAT, "offsets"},
                 {list_at, &bad_items, GSA_INPUT, "'-4'"},
                 {other_at, &id_items, GSA_INPUT, "2 ids and 3 values"}};
    for (size_t i = 0; i < N(cases); i++) {
        const plan columns[] = {LABEL(4),
                                {"indices", "+l", 4, 0, 2, {NULL, cases[i].at}, cases[i].items, NULL},
                                {"values", "+l", 4, 0, 2, {NULL, list_at}, &value_items, NULL}};
        source from = SOURCE(columns, 4);
        assert_refused(&from, NULL, cases[i].status, cases[i].part, "the Arrow stream");
    }
    const plan beside[] = {LABEL(4),
                           {"age", "i", 4, 0, 2, {NULL, ids}, NULL, NULL},
                           {"indices", "+l", 4, 0, 2, {NULL, list_at}, &id_items, NULL},
                           {"values", "+l", 4, 0, 2, {NULL, list_at}, &value_items, NULL}};
    const plan lonely[] = {LABEL(4), {"v", "+l", 4, 0, 2, {NULL, list_at}, &value_items, NULL}};
    const plan wide[] = {LABEL(3), {"v", "+w:3", 3, 0, 1, {NULL}, &value_items, NULL}};
    source from = SOURCE(beside, 4), from_lonely = SOURCE(lonely, 4), from_wide = SOURCE(wide, 3);
    assert_refused(&from, NULL, GSA_ARGUMENT, "'age'", "not in both");
    assert_refused(&from_lonely, NULL, GSA_INPUT, "row 4", "a list of 1 values, and the first has 3");
    assert_refused(&from_wide, NULL, GSA_FORMAT, "'v'", "fewer items");
}

static void arrow_types_that_are_not_read_are_refused_by_name(void **state)
{
    (void)state;
    static const char *const types[][2] = {{"d:10,2,256", "decimal"}, {"d:10,-2", "decimal"}, {"tD?", "duration"},
                                           {"tiM", "interval"},       {"z", "binary"},        {"+s", "struct"},
                                           {"w:4", "fixed-size"},     {"ttm", "time"},        {"+m", "map"}};
    static const double x[] = {1};
    for (size_t i = 0; i < N(types); i++) {
        const plan columns[] = {LABEL(1), {"price", types[i][0], 1, 0, 2, {NULL, x}, NULL, NULL}};
        source from = SOURCE(columns, 1);
        assert_refused(&from, NULL, GSA_ARGUMENT, "column 'price'", types[i][1]);
    }
}

/* A cell that cannot be what its column is: named with what it holds, as in text. */
static void arrow_cells_that_cannot_be_are_refused_by_what_they_hold(void **state)
{
    (void)state;
    static const char long_text[300] = "x";
    static const int32_t long_at[] = {0, 300}, town_at[] = {0, 4};
    static const double infinite[] = {-INFINITY}, large[] = {1e30};
    static const float one[] = {1};
    const plan long_label[] = {{"y", "u", 1, 0, 3, {NULL, long_at, long_text}, NULL, NULL},
                               {"x", "f", 1, 0, 2, {NULL, one}, NULL, NULL}};
    const plan word[] = {LABEL(1), {"x", "g", 1, 0, 2, {NULL, infinite}, NULL, NULL}};
    const plan product[] = {
        LABEL(1), {"a", "g", 1, 0, 2, {NULL, large}, NULL, NULL}, {"b", "g", 1, 0, 2, {NULL, large}, NULL, NULL}};
    const plan weight[] = {LABEL(1),
                           {"w", "u", 1, 0, 3, {NULL, town_at, words}, NULL, NULL},
                           {"x", "f", 1, 0, 2, {NULL, one}, NULL, NULL}};
    source of_label = SOURCE(long_label, 1), of_word = SOURCE(word, 1), of_product = SOURCE(product, 1),
           of_weight = SOURCE(weight, 1);
    assert_refused(&of_label, NULL, GSA_INPUT, "column 'y' holds 'x", "a label has at most 255 bytes");
    assert_refused(&of_word, &(gsa_reader_options){.size = sizeof(gsa_reader_options), .categorical = "x"}, GSA_INPUT,
                   "column 'x' holds '-inf'", "values must be finite");
    assert_refused(&of_product, &(gsa_reader_options){.size = sizeof(gsa_reader_options), .cross = "a:b"}, GSA_INPUT,
                   "column 'a' holds '1e30'", "product");
    assert_refused(&of_weight, &(gsa_reader_options){.size = sizeof(gsa_reader_options), .weight = "w"}, GSA_ARGUMENT,
                   "column 'w'", "it holds no numbers, and a weight is one");
}

static void arrow_items_that_cannot_be_are_refused(void **state)
{
    (void)state;
    static const int32_t at[] = {0, 2}, same_id[] = {3, 3}, descending[] = {3, 1};
    static const double beyond[] = {1, 1e300}, most[] = {3e38, 3e38};
    static const plan two_ids = {"item", "i", 2, 0, 2, {NULL, same_id}, NULL, NULL},
                      back = {"item", "i", 2, 0, 2, {NULL, descending}, NULL, NULL},
                      too_large = {"item", "g", 2, 0, 2, {NULL, beyond}, NULL, NULL},
                      large = {"item", "g", 2, 0, 2, {NULL, most}, NULL, NULL};
    const struct {
        const plan *ids, *values;
        const char *part;
    } cases[] = {{&back, &too_large, "column 'values' holds '1e300'"},
                 {&two_ids, &large, "values of one id have no finite sum"}};
    for (size_t i = 0; i < N(cases); i++) {
        const plan columns[] = {LABEL(1),
                                {"indices", "+l", 1, 0, 2, {NULL, at}, cases[i].ids, NULL},
                                {"values", "+l", 1, 0, 2, {NULL, at}, cases[i].values, NULL}};
        source from = SOURCE(columns, 1);
        assert_refused(&from, NULL, GSA_INPUT, cases[i].part, "the Arrow stream, row 1");
    }
}

/* What a producer may get wrong about its own arrays. */
static int next_without_columns(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    int code = get_next(stream, out);
    if (code == 0 && out->release) {
        arrow_free_array(out->children[0]);
        out->n_children = 0;
    }
    return code;
}

static int next_without_items(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    int code = get_next(stream, out);
    for (int64_t i = 0; code == 0 && out->release && i < out->n_children; i++) {
        struct ArrowArray *column = out->children[i];
        for (int64_t j = 0; j < column->n_children; j++)
            arrow_free_array(column->children[j]);
        column->n_children = 0;
        arrow_free_array(column->dictionary);
        column->dictionary = NULL;
    }
    return code;
}

static void arrow_arrays_without_their_parts_are_refused(void **state)
{
    (void)state;
    static const int32_t at[] = {0, 1}, id[] = {3};
    static const int8_t number[] = {0};
    static const double index[] = {0};
    static const plan item = {"item", "i", 1, 0, 2, {NULL, id}, NULL, NULL};
    static const plan towns = {NULL, "u", 6, 0, 3, {NULL, word_at, words}, NULL, NULL};
    const plan alone[] = {LABEL(1)};
    const plan list[] = {LABEL(1),
                         {"indices", "+l", 1, 0, 2, {NULL, at}, &item, NULL},
                         {"values", "+l", 1, 0, 2, {NULL, at}, &item, NULL}};
    const plan words_of[] = {LABEL(1), {"town", "c", 1, 0, 2, {NULL, number}, NULL, &towns}};
    const plan by_float[] = {LABEL(1), {"town", "g", 1, 0, 2, {NULL, index}, NULL, &towns}};
    const plan unknown[] = {LABEL(1), {"town", "?!", 1, 0, 2, {NULL, index}, NULL, NULL}};
    source from_alone = SOURCE(alone, 1), from_list = SOURCE(list, 1), from_words = SOURCE(words_of, 1),
           from_float = SOURCE(by_float, 1), from_unknown = SOURCE(unknown, 1);
    const struct {
        source *from;
        int (*next)(struct ArrowArrayStream *stream, struct ArrowArray *out);
        gsa_status status;
        const char *message;
    } cases[] = {{&from_alone, next_without_columns, GSA_FORMAT, "a batch does not have the columns of the schema"},
                 {&from_list, next_without_items, GSA_FORMAT, "the items of its list are missing"},
                 {&from_words, next_without_items, GSA_FORMAT, "column 'town'"},
                 {&from_float, get_next, GSA_ARGUMENT, "column 'town'"},
                 {&from_unknown, get_next, GSA_ARGUMENT, "?!"}};
    for (size_t i = 0; i < N(cases); i++) {
        struct ArrowArrayStream stream = {get_schema, cases[i].next, get_last_error, release_stream, cases[i].from};
        gsa_reader *reader = NULL;
        gsa_error error = {0};
        gsa_status status = gsa_reader_open_arrow(&stream, NULL, NULL, NULL, NULL, &reader, &error);
        if (status == GSA_OK)
            free(dump(reader, &status, &error));
        if (status != cases[i].status || !strstr(error.message, cases[i].message))
            fail_msg("case %zu: %d, %s", i, (int)status, error.message);
        assert_int_equal(cases[i].from->count.n_open, 0);
        assert_int_equal(cases[i].from->n_streams, 1);
    }
}

static void arrow_damage_is_refused_by_column(void **state)
{
    (void)state;
    static const int32_t descending[] = {0, 4, 3}, negative[] = {-2, 0, 1};
    static const int8_t outside[] = {0, 6}, below[] = {0, -1};
    static const plan towns = {NULL, "u", 6, 0, 3, {NULL, word_at, words}, NULL, NULL};
    const struct {
        plan column;
        const char *part;
    } cases[] = {{{"c", "u", 2, 0, 3, {NULL, descending, words}, NULL, NULL}, "offsets"},
                 {{"c", "u", 2, 0, 3, {NULL, negative, words}, NULL, NULL}, "offsets"},
                 {{"c", "u", 2, 0, 3, {NULL, word_at, NULL}, NULL, NULL}, "offsets"},
                 {{"c", "u", 2, 0, 2, {NULL, word_at}, NULL, NULL}, "buffers"},
                 {{"c", "i", 2, 0, 2, {NULL, NULL}, NULL, NULL}, "buffers"},
                 {{"c", "i", 1, 0, 2, {NULL, labels}, NULL, NULL}, "fewer rows"},
                 {{"c", "i", 2, -1, 2, {NULL, labels}, NULL, NULL}, "offset"},
                 {{"c", "i", 2, INT64_MAX, 2, {NULL, labels}, NULL, NULL}, "offset"},
                 {{"c", "c", 2, 0, 2, {NULL, outside}, NULL, &towns}, "dictionary"},
                 {{"c", "c", 2, 0, 2, {NULL, below}, NULL, &towns}, "dictionary"}};
    for (size_t i = 0; i < N(cases); i++) {
        const plan columns[] = {LABEL(2), cases[i].column};
        source from = SOURCE(columns, 2);
        assert_refused(&from, NULL, GSA_FORMAT, "column 'c'", cases[i].part);
    }
}

static void arrow_bad_rows_are_named_or_skipped(void **state)
{
    (void)state;
    static const double x[] = {1, INFINITY, 1e39, 4}, w[] = {1, 1, 1, -1};
    const plan columns[] = {LABEL(4), {"x", "g", 4, 0, 2, {NULL, x}, NULL, NULL}};
    const plan weighed[] = {LABEL(4), {"w", "g", 4, 0, 2, {NULL, w}, NULL, NULL}};
    const gsa_reader_options weigh = {.size = sizeof weigh, .weight = "w"},
                             skip = {.size = sizeof skip, .skip_bad_rows = 1};
    source from = SOURCE(columns, 4), from_weighed = SOURCE(weighed, 4), skipped = SOURCE(columns, 4);
    assert_refused(&from, NULL, GSA_INPUT, "row 2: column 'x' holds 'inf'", "finite");
    assert_refused(&from_weighed, &weigh, GSA_INPUT, "row 4: column 'w' holds '-1'", "weight");
    gsa_reader *reader = NULL;
    gsa_error error = {0};
    gsa_batch batch;
    gsa_reader_progress progress = {.size = sizeof progress};
    assert_int_equal(open_arrow(&skipped, &skip, NULL, &reader, &error), GSA_OK);
    assert_int_equal(gsa_reader_next(reader, &batch, &error), GSA_OK);
    assert_int_equal(batch.n_rows, 2);
    assert_int_equal(batch.place[1].line, 4);
    gsa_reader_get_progress(reader, &progress);
    assert_int_equal(progress.n_bad_rows, 2);
    assert_int_equal(progress.is_stream, 1);
    error = (gsa_error){.row = 1, .message = "no"};
    gsa_reader_locate(reader, &batch, &error);
    assert_string_equal(error.message, "the Arrow stream, row 4: no");
    assert_int_equal(gsa_reader_rewind(reader, &error), GSA_UNSUPPORTED);
    gsa_reader_close(reader);
    assert_int_equal(skipped.count.n_open, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrow_lists_that_do_not_fit_are_refused),
        cmocka_unit_test(arrow_types_that_are_not_read_are_refused_by_name),
        cmocka_unit_test(arrow_cells_that_cannot_be_are_refused_by_what_they_hold),
        cmocka_unit_test(arrow_items_that_cannot_be_are_refused),
        cmocka_unit_test(arrow_arrays_without_their_parts_are_refused),
        cmocka_unit_test(arrow_damage_is_refused_by_column),
        cmocka_unit_test(arrow_bad_rows_are_named_or_skipped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
