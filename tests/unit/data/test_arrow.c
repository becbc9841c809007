/* Arrow streams made by hand: the rows of the same table as text, in pieces, and of lists. */
#include "unit/data/arrow_stream.h"

/* ---- cells ------------------------------------------------------------------------------------------------------ */

static void arrow_numbers_of_every_type_are_those_of_text(void **state)
{
    (void)state;
    static const int8_t c[] = {-128, 127};
    static const uint8_t C[] = {255, 1}, b[] = {2};
    static const int16_t s[] = {-32768, 5};
    static const uint16_t S[] = {65535, 0};
    static const int32_t i[] = {-2147483647, 7};
    static const uint32_t I[] = {4294967295u, 8};
    static const int64_t l[] = {-9007199254740993, 16777217};
    static const uint64_t L[] = {18446744073709551615u, 9};
    static const float f[] = {0.1f, -1.5f};
    static const double g[] = {0.1, 1e-40};
    const plan columns[] = {LABEL(2),
                            {"c", "c", 2, 0, 2, {NULL, c}, NULL, NULL},
                            {"C", "C", 2, 0, 2, {NULL, C}, NULL, NULL},
                            {"s", "s", 2, 0, 2, {NULL, s}, NULL, NULL},
                            {"S", "S", 2, 0, 2, {NULL, S}, NULL, NULL},
                            {"i", "i", 2, 0, 2, {NULL, i}, NULL, NULL},
                            {"I", "I", 2, 0, 2, {NULL, I}, NULL, NULL},
                            {"l", "l", 2, 0, 2, {NULL, l}, NULL, NULL},
                            {"L", "L", 2, 0, 2, {NULL, L}, NULL, NULL},
                            {"f", "f", 2, 0, 2, {NULL, f}, NULL, NULL},
                            {"g", "g", 2, 0, 2, {NULL, g}, NULL, NULL},
                            {"b", "b", 2, 0, 2, {NULL, b}, NULL, NULL},
                            {"n", "n", 2, 0, 0, {NULL}, NULL, NULL}};
    source from = SOURCE(columns, 2);
    assert_same_as_csv(
        &from,
        "y,c,C,s,S,i,I,l,L,f,g,b,n\n"
        "1,-128,255,-32768,65535,-2147483647,4294967295,-9007199254740993,18446744073709551615,0.1,0.1,0,\n"
        "0,127,1,5,0,7,8,16777217,9,-1.5,1e-40,1,\n",
        NULL);
}

static void arrow_numbers_and_dates_far_from_zero_are_those_of_text(void **state)
{
    (void)state;
    static const int64_t l[] = {1700000003, 1700000000, 1699999991};
    static const double g[] = {1e9 + 0.25, NAN, 1e9 - 0.1};
    static const float f[] = {16777216, 16777218, 16777220};
    static const int32_t at[] = {0, 9, 18, 27};
    static const int64_t when[] = {1700000003, 1700003600, 1700000000};
    const plan columns[] = {LABEL(3),
                            {"t", "tss:", 3, 0, 2, {NULL, when}, NULL, NULL},
                            {"l", "l", 3, 0, 2, {NULL, l}, NULL, NULL},
                            {"g", "g", 3, 0, 2, {NULL, g}, NULL, NULL},
                            {"f", "f", 3, 0, 2, {NULL, f}, NULL, NULL},
                            {"u", "u", 3, 0, 3, {NULL, at, "$10000001$10000002$10000003"}, NULL, NULL}};
    source from = SOURCE(columns, 3);
    assert_same_as_csv(&from,
                       "y,t,l,g,f,u\n1,2023-11-14 22:13:23,1700000003,1000000000.25,16777216,$10000001\n"
                       "0,2023-11-14 23:13:20,1700000000,,16777218,$10000002\n"
                       "1,2023-11-14 22:13:20,1699999991,999999999.9,16777220,$10000003\n",
                       NULL);
}

static void arrow_null_and_nan_are_absent_whatever_the_offset(void **state)
{
    (void)state;
    static const double a[] = {9, 9, 9, 1, 2, NAN, 4, 5};
    static const uint8_t a_valid[] = {0xEF}, b_valid[] = {0xFF, 0xFB}; /* a: not 4; b: not 10 */
    static const int32_t b[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 11, 12, 13, 14, 15};
    const plan columns[] = {
        LABEL(5), {"a", "g", 5, 3, 2, {a_valid, a}, NULL, NULL}, {"b", "i", 5, 9, 2, {b_valid, b}, NULL, NULL}};
    source from = SOURCE(columns, 5);
    assert_same_as_csv(&from, "y,a,b\n1,1,11\n0,,\n1,,13\n0,4,14\n1,5,15\n",
                       &(gsa_reader_options){.size = sizeof(gsa_reader_options), .keep_cells = 1});
}

static const char table_of_words[] = "y,w\n1,oslo\n0,rome\n1,NaN\n0,\n1,a rather long name of a town\n1,rome\n";

static void arrow_text_is_words(void **state)
{
    (void)state;
    const gsa_reader_options options = {.size = sizeof options, .remember_names = 1, .keep_cells = 1};
    const plan small[] = {LABEL(6), {"w", "u", 6, 0, 3, {NULL, word_at, words}, NULL, NULL}};
    const plan large[] = {LABEL(6), {"w", "U", 6, 0, 3, {NULL, word_at_large, words}, NULL, NULL}};
    source from = SOURCE(small, 6), from_large = SOURCE(large, 6);
    assert_same_as_csv(&from, table_of_words, &options);
    assert_same_as_csv(&from_large, table_of_words, &options);
}

typedef struct short_view {
    int32_t size;
    char text[12];
} short_view;

static void arrow_text_views_are_words(void **state)
{
    (void)state;
    short_view views[] = {{4, "oslo"}, {4, "rome"}, {3, "NaN"}, {0, ""}, {28, "a ra"}, {4, "rome"}};
    const int32_t where[] = {0, 2};
    memcpy(views[4].text + 4, where, sizeof where);
    static const char data[] = "xxa rather long name of a town";
    int64_t sizes[] = {30};
    plan columns[] = {LABEL(6), {"w", "vu", 6, 0, 4, {NULL, views, data, sizes}, NULL, NULL}};
    source from = SOURCE(columns, 6), again = SOURCE(columns, 6);
    assert_same_as_csv(&from, table_of_words, NULL);
    sizes[0] = 29;
    assert_refused(&again, NULL, GSA_FORMAT, "'w'", "views");
}

static void arrow_dictionaries_are_their_values(void **state)
{
    (void)state;
    static const plan towns = {NULL, "u", 4, 1, 3, {NULL, word_at, words}, NULL, NULL}; /* rome NaN "" long */
    static const double prices[] = {2.5, NAN};
    static const plan price = {NULL, "g", 2, 0, 2, {NULL, prices}, NULL, NULL};
    static const int8_t town_at[] = {3, 0, 1, 2, 99, 0};
    static const uint8_t valid[] = {0xEF};
    static const uint16_t price_at[] = {0, 0, 1, 0, 1, 0};
    const plan columns[] = {LABEL(6),
                            {"t", "c", 6, 0, 2, {valid, town_at}, NULL, &towns},
                            {"p", "S", 6, 0, 2, {NULL, price_at}, NULL, &price}};
    source from = SOURCE(columns, 6);
    assert_same_as_csv(&from, "y,t,p\n1,a rather long name of a town,2.5\n0,rome,2.5\n1,,\n0,,2.5\n1,,\n1,rome,2.5\n",
                       NULL);
}

static void an_arrow_dictionary_is_that_of_its_batch(void **state)
{
    (void)state;
    static const char text[] = "oslobergenrome";
    static const int32_t first_at[] = {0, 4, 10}, then_at[] = {4, 10, 14};
    static const plan first = {NULL, "u", 2, 0, 3, {NULL, first_at, text}, NULL, NULL};
    static const plan then = {NULL, "u", 2, 0, 3, {NULL, then_at, text}, NULL, NULL};
    static const double y[] = {1, 0, 1, 0};
    static const int32_t place[] = {0, 1, 1, 0};
    const plan columns[] = {{"y", "g", 4, 0, 2, {NULL, y}, NULL, NULL},
                            {"t", "i", 4, 0, 2, {NULL, place}, NULL, &first},
                            {"y", "g", 4, 0, 2, {NULL, y}, NULL, NULL},
                            {"t", "i", 4, 0, 2, {NULL, place}, NULL, &then}};
    source from = {.column = columns, .n_columns = 2, .n_batches = 2, .length = {4, 4}};
    assert_same_as_csv(&from, "y,t\n1,oslo\n0,bergen\n1,bergen\n0,oslo\n1,bergen\n0,rome\n1,rome\n0,bergen\n", NULL);
}

static void arrow_columns_taken_for_words_and_crossed_are_those_of_text(void **state)
{
    (void)state;
    static const int64_t id[] = {9007199254740993, -4};
    static const uint64_t wide[] = {18446744073709551615u, 3};
    static const float x[] = {2.5f, 0.5f};
    const plan columns[] = {LABEL(2),
                            {"id", "l", 2, 0, 2, {NULL, id}, NULL, NULL},
                            {"wide", "L", 2, 0, 2, {NULL, wide}, NULL, NULL},
                            {"x", "f", 2, 0, 2, {NULL, x}, NULL, NULL}};
    const gsa_reader_options options = {
        .size = sizeof options, .categorical = "id,wide", .cross = "id:x,id:wide", .bits = 20, .remember_names = 1};
    source from = SOURCE(columns, 2);
    assert_same_as_csv(&from, "y,id,wide,x\n1,9007199254740993,18446744073709551615,2.5\n0,-4,3,0.5\n", &options);
}

static void arrow_labels_and_weights_are_those_of_text(void **state)
{
    (void)state;
    static const char text[] = "1yes2.5"; /* no byte between a number and what follows */
    static const int32_t at[] = {0, 1, 4, 5, 7};
    static const float w[] = {1, 0.5f, 2, 0};
    static const double x[] = {1, 2, 3, 4};
    const plan columns[] = {{"l", "u", 4, 0, 3, {NULL, at, text}, NULL, NULL},
                            {"w", "f", 4, 0, 2, {NULL, w}, NULL, NULL},
                            {"x", "g", 4, 0, 2, {NULL, x}, NULL, NULL},
                            {"when", "tsu:", 4, 0, 2, {NULL, x}, NULL, NULL}};
    const gsa_reader_options options = {.size = sizeof options, .label = "l", .weight = "w", .ignore = "when"};
    source from = SOURCE(columns, 4);
    assert_same_as_csv(&from, "l,w,x,when\n1,1,1,a\nyes,0.5,2,b\n2,2,3,c\n.5,0,4,d\n", &options);
}

/* ---- pieces ----------------------------------------------------------------------------------------------------- */

static void arrow_batches_and_slices_make_one_table(void **state)
{
    (void)state;
    static const int32_t y[] = {7, 1, 0, 1, 7}, x[] = {9, 9, 1, 2, 3, 9};
    const plan columns[] = {
        {"y", "i", 5, 0, 2, {NULL, y}, NULL, NULL},    {"x", "i", 4, 1, 2, {NULL, x}, NULL, NULL},
        {"y", "i", 0, 0, 2, {NULL, NULL}, NULL, NULL}, {"x", "i", 0, 0, 2, {NULL, NULL}, NULL, NULL},
        {"y", "i", 1, 2, 2, {NULL, y}, NULL, NULL},    {"x", "i", 1, 5, 2, {NULL, x}, NULL, NULL}};
    source from = {.column = columns, .n_columns = 2, .n_batches = 3, .length = {3, 0, 1}, .offset = {1, 0, 0}};
    assert_same_as_csv(&from, "y,x\n1,1\n0,2\n1,3\n0,9\n", NULL);
    assert_int_equal(from.count.n_arrays, 3);
}

static void arrow_rows_fill_batches_as_text_does(void **state)
{
    (void)state;
    enum { ROWS = 10000 };
    static int32_t y[ROWS], x[ROWS];
    char *table = malloc(ROWS * 16), *end = table + sprintf(table, "y,x\n");
    for (int r = 0; r < ROWS; r++) {
        y[r] = r % 2;
        x[r] = r + 1;
        end += sprintf(end, "%d,%d\n", y[r], x[r]);
    }
    const plan columns[] = {{"y", "i", 4097, 0, 2, {NULL, y}, NULL, NULL},
                            {"x", "i", 4097, 0, 2, {NULL, x}, NULL, NULL},
                            {"y", "i", 5903, 4097, 2, {NULL, y}, NULL, NULL},
                            {"x", "i", 5903, 4097, 2, {NULL, x}, NULL, NULL}};
    source from = {.column = columns, .n_columns = 2, .n_batches = 2, .length = {4097, 5903}};
    assert_same_as_csv(&from, table, NULL);
    free(table);
}

/* Rows without a label, bad cells and gaps, anywhere in the rows that are read at a time. */
static void arrow_rows_with_odd_cells_are_those_of_text(void **state)
{
    (void)state;
    enum { ROWS = 150 };
    static double y[ROWS], x[ROWS], z[ROWS];
    static int32_t at[ROWS + 1], place[ROWS];
    static char text[ROWS * 16], table[ROWS * 80];
    static const char *const town[] = {"oslo", "NA", "bergen by the sea", " rome ", ""};
    static const plan towns = {NULL, "u", 6, 0, 3, {NULL, word_at, words}, NULL, NULL};
    char *end = table + sprintf(table, "y,x,z,w,t\n");
    for (int r = 0; r < ROWS; r++) {
        const char *w = town[r * 7 % 5];
        y[r] = r % 11 == 3 || r / 8 == 4 ? (double)NAN : r % 2;
        x[r] = r % 13 == 5 || r == 96 ? 1e-60 : r * 0.5;
        z[r] = r % 3 == 0 ? (double)NAN : r % 7 == 0 ? -999 : 0.25 * r;
        place[r] = r % 6;
        memcpy(text + at[r], w, strlen(w));
        at[r + 1] = at[r] + (int32_t)strlen(w);
        end += sprintf(end, isnan(y[r]) ? "," : "%g,", y[r]);
        end += sprintf(end, isnan(z[r]) ? "%g,," : "%g,%g,", x[r], z[r]);
        end +=
            sprintf(end, "%s,%.*s\n", w, (int)(word_at[place[r] + 1] - word_at[place[r]]), words + word_at[place[r]]);
    }
    const plan columns[] = {{"y", "g", ROWS, 0, 2, {NULL, y}, NULL, NULL},
                            {"x", "g", ROWS, 0, 2, {NULL, x}, NULL, NULL},
                            {"z", "g", ROWS, 0, 2, {NULL, z}, NULL, NULL},
                            {"w", "u", ROWS, 0, 3, {NULL, at, text}, NULL, NULL},
                            {"t", "i", ROWS, 0, 2, {NULL, place}, NULL, &towns}};
    const gsa_reader_options plain = {.size = sizeof plain, .remember_names = 1, .skip_bad_rows = 1, .missing = "-999"};
    gsa_reader_options others[] = {plain, plain, plain};
    others[1].keep_cells = 1;
    others[2].cross = "w:t,x:w";
    for (size_t i = 0; i < N(others); i++) {
        source from = SOURCE(columns, ROWS);
        assert_same_as_csv(&from, table, &others[i]);
    }
    source from = SOURCE(columns, ROWS);
    assert_refused(&from, NULL, GSA_INPUT, "row 6: column 'x' holds '1e-60'", "float");
}

/* Decimals, dates, durations (in days), gaps and texts that are odd numbers become the rows and the schema of the same
 * table in text. */
static void arrow_cells_are_read_as_those_of_text(void **state)
{
    (void)state;
    static const uint8_t valid[] = {5}; /* the second of three is null */
    const bool is_little = *(const unsigned char *)&(const uint16_t){1} == 1;
    const uint64_t low = is_little ? 0 : 1, high = 1 - low;
    uint64_t price[3][2] = {{0}};
    price[0][low] = 1250;
    price[2][low] = (uint64_t)-399;
    price[2][high] = UINT64_MAX;
    static const int32_t day[] = {20774, 7, -1}, text_at[] = {0, 6, 7, 9};
    static const int64_t when[] = {INT64_C(1794902707000000), 0, -1}, ms[] = {INT64_C(86400000) * 20774, 0, 0};
    static const char texts[] = "$1,200-$7";
    static const int64_t wait[] = {129600, 9, -21600}, pause[] = {INT64_C(43200000000000), 0, 86400};
    const plan columns[] = {LABEL(3),
                            {"price", "d:10,2", 3, 0, 2, {valid, price}, NULL, NULL},
                            {"day", "tdD", 3, 0, 2, {NULL, day}, NULL, NULL},
                            {"when", "tsu:UTC", 3, 0, 2, {valid, when}, NULL, NULL},
                            {"ms", "tdm", 3, 0, 2, {NULL, ms}, NULL, NULL},
                            {"cost", "u", 3, 0, 3, {NULL, text_at, texts}, NULL, NULL},
                            {"wait", "tDs", 3, 0, 2, {valid, wait}, NULL, NULL},
                            {"pause", "tDn", 3, 0, 2, {NULL, pause}, NULL, NULL}};
    source from = SOURCE(columns, 3);
    const gsa_reader_options options = {.size = sizeof options, .remember_names = 1, .decimal = "point"};
    assert_same_as_csv(&from,
                       "y,price,day,when,ms,cost,wait,pause\n"
                       "1,12.50,2026-11-17,2026-11-17 08:05:07,2026-11-17,\"$1,200\",1.5,.5\n"
                       "0,,1970-01-08,,1970-01-01,-,,0\n"
                       "1,-3.99,1969-12-31,1969-12-31T23:59:59.999999,1970-01-01,$7,-.25,1e-9\n",
                       &options);
}

/* ---- lists ------------------------------------------------------------------------------------------------------ */

static void assert_rows(source *from, const gsa_reader_options *options, const char *expected)
{
    char *text = dump_arrow(from, options);
    assert_string_equal(text, expected);
    free(text);
}

static void arrow_lists_are_sparse_rows(void **state)
{
    (void)state;
    const char expected[] =
        "0x1p+0 0=0x1p+0 4=0x1p-1\n0x0p+0\n0x1p+0 1=0x1p+0 5=0x1.4p+2\n0x0p+0\n-- values\nno schema";
    const plan named[] = {LABEL(4),
                          {"other", "+l", 4, 0, 2, {NULL, list_at}, &id_items, NULL},
                          {"values", "+L", 4, 0, 2, {not_the_last, list_at_large}, &value_items, NULL},
                          {"indices", "+l", 4, 0, 2, {not_the_last, list_at}, &id_items, NULL}};
    const plan alone[] = {LABEL(4),
                          {"b", "+l", 4, 0, 2, {not_the_last, list_at}, &value_items, NULL},
                          {"a", "+L", 4, 0, 2, {not_the_last, list_at_large}, &id_items, NULL}};
    const gsa_reader_options ignore = {.size = sizeof ignore, .ignore = "other"};
    source from = SOURCE(named, 4), from_alone = SOURCE(alone, 4), unclear = SOURCE(named, 4);
    assert_rows(&from, &ignore, expected);
    assert_rows(&from_alone, NULL, expected);
    assert_refused(&unclear, NULL, GSA_ARGUMENT, "'other'", "which lists");
}

/* The columns are known before the lists are found, and rows with lists have no schema. */
static void arrow_labels_beside_lists_are_read_as_the_first_rows_say(void **state)
{
    (void)state;
    static const int32_t label_at[] = {0, 3, 7, 11, 14};
    const plan columns[] = {{"y", "u", 4, 0, 3, {NULL, label_at, "1,52,25-3,57,5"}, NULL, NULL},
                            {"indices", "+l", 4, 0, 2, {NULL, list_at}, &id_items, NULL},
                            {"values", "+l", 4, 0, 2, {NULL, list_at}, &value_items, NULL}};
    source from = SOURCE(columns, 4);
    assert_rows(&from, NULL,
                "0x1.8p+0 0=0x1p+0 4=0x1p-1\n0x1.2p+1\n-0x1.cp+1 1=0x1p+0 5=0x1.4p+2\n0x1.ep+2 3=0x1.cp+2\n"
                "-- values\nno schema");
}

static void arrow_list_of_fixed_size_is_a_dense_row(void **state)
{
    (void)state;
    const plan columns[] = {LABEL(2), {"v", "+w:3", 2, 0, 1, {NULL}, &value_items, NULL}};
    source from = SOURCE(columns, 2), crossed = SOURCE(columns, 2);
    assert_rows(&from, NULL, "0x1p+0 0=0x1p+0 1=0x1p-1\n0x0p+0 0=0x1p+1 1=0x1.8p+1 2=0x1p+0\n-- values\nno schema");
    const gsa_reader_options options = {.size = sizeof options, .cross = "v:v"};
    assert_refused(&crossed, &options, GSA_ARGUMENT, "'v'", "list");
}

/* Floats near 10^9 are multiples of 64. The feature in the middle has a row of another id, which is a row of 0. */
static void arrow_tells_which_features_of_lists_lose_digits(void **state)
{
    (void)state;
    static const double far[] = {1e9, 1e9 + 1, 3, 1e9 + 2, 1e9 + 3, 4};
    static const int32_t at[] = {0, 3, 6}, id[] = {0, 1, 2, 0, 3, 2};
    const plan items = {"item", "g", 6, 0, 2, {NULL, far}, NULL, NULL};
    const plan numbers = {"item", "i", 6, 0, 2, {NULL, id}, NULL, NULL};
    const plan fixed[] = {LABEL(2), {"v", "+w:3", 2, 0, 1, {NULL}, &items, NULL}};
    const plan pairs[] = {LABEL(2),
                          {"indices", "+l", 2, 0, 2, {NULL, at}, &numbers, NULL},
                          {"values", "+l", 2, 0, 2, {NULL, at}, &items, NULL}};
    const char *const expected[] = {"list 'v'; values of feature 0 and 1 more are so far from 0",
                                    "ids 'indices'; values of feature 0 are so far from 0", NULL};
    for (int i = 0; i < 3; i++) {
        const gsa_reader_options options = {.size = sizeof options, .without_offsets = i == 2};
        source from_fixed = SOURCE(fixed, 2), from_pairs = SOURCE(pairs, 2);
        gsa_reader *reader = NULL;
        assert_int_equal(open_arrow(i == 1 ? &from_pairs : &from_fixed, &options, NULL, &reader, NULL), GSA_OK);
        assert_int_equal(gsa_reader_begin(reader, NULL), GSA_OK);
        const char *found = gsa_reader_description(reader);
        assert_non_null(strstr(found, expected[i] ? expected[i] : "'v'"));
        assert_true((strstr(found, "far from 0") != NULL) == (i < 2));
        gsa_reader_close(reader);
    }
}

/* ---- options and schemas ---------------------------------------------------------------------------------------- */

static void arrow_floats_taken_for_words_are_those_of_text(void **state)
{
    (void)state;
    static const double zip[] = {10115, 0.5, NAN};
    static const float f[] = {1.5f, -2, 3};
    const plan columns[] = {
        LABEL(3), {"zip", "g", 3, 0, 2, {NULL, zip}, NULL, NULL}, {"f", "f", 3, 0, 2, {NULL, f}, NULL, NULL}};
    source from = SOURCE(columns, 3);
    assert_same_as_csv(
        &from, "y,zip,f\n1,10115,1.5\n0,0.5,-2\n1,,3\n",
        &(gsa_reader_options){.size = sizeof(gsa_reader_options), .categorical = "zip,f", .remember_names = 1});
}

/* Rows to predict need no label, and the column is not missed. */
static void arrow_texts_of_columns_are_kept_as_text_would_have_them(void **state)
{
    (void)state;
    static const int64_t id[] = {9007199254740993, 12};
    static const double a[] = {0.25, INFINITY};
    static const uint8_t b[] = {2}, valid[] = {1};
    static const int32_t town_at[] = {0, 4, 4};
    static const char first[] = "9007199254740993\0oslo\0false\0"
                                "0.25",
                      bad[] = "12\0\0true\0inf";
    const plan columns[] = {LABEL(2),
                            {"id", "l", 2, 0, 2, {NULL, id}, NULL, NULL},
                            {"a", "g", 2, 0, 2, {NULL, a}, NULL, NULL},
                            {"b", "b", 2, 0, 2, {NULL, b}, NULL, NULL},
                            {"town", "u", 2, 0, 3, {valid, town_at, "oslo"}, NULL, NULL},
                            {"x", "g", 2, 0, 2, {NULL, a}, NULL, NULL}};
    source from = SOURCE(columns, 2);
    gsa_reader *reader = NULL;
    gsa_error error = {0};
    gsa_batch batch;
    const gsa_reader_options options = {
        .size = sizeof options, .keep = "id,town,b,a", .skip_bad_rows = 1, .keep_bad_rows = 1};
    assert_int_equal(open_arrow(&from, &options, NULL, &reader, &error), GSA_OK);
    assert_int_equal(gsa_reader_next(reader, &batch, &error), GSA_OK);
    assert_int_equal(batch.n_rows, 2);
    assert_non_null(batch.kept);
    assert_int_equal(batch.kept_start[1] - batch.kept_start[0], sizeof first);
    assert_memory_equal(batch.kept, first, sizeof first);
    assert_int_equal(batch.kept_start[2] - batch.kept_start[1], sizeof bad);
    assert_memory_equal(batch.kept + batch.kept_start[1], bad, sizeof bad);
    assert_true(batch.bad && !batch.bad[0] && batch.bad[1]); /* an infinity is no value */
    assert_int_equal(batch.row_start[1], 1);                 /* of x: what is kept is no feature */
    gsa_reader_close(reader);
}

static void arrow_dates_are_kept_as_the_calendar_has_them(void **state)
{
    (void)state;
    static const int32_t day[] = {20196, -1};
    static const int64_t milliseconds[] = {20196 * INT64_C(86400000), -86400000};
    static const int64_t seconds[] = {951827696, -1}, micro[] = {INT64_C(1704114000250000), -1};
    static const char first[] = "2025-04-18\0"
                                "2025-04-18\0"
                                "2000-02-29T12:34:56\0"
                                "2024-01-01T13:00:00.250000Z",
                      second[] = "1969-12-31\0"
                                 "1969-12-31\0"
                                 "1969-12-31T23:59:59\0"
                                 "1969-12-31T23:59:59.999999Z";
    const plan columns[] = {LABEL(2),
                            {"d", "tdD", 2, 0, 2, {NULL, day}, NULL, NULL},
                            {"m", "tdm", 2, 0, 2, {NULL, milliseconds}, NULL, NULL},
                            {"s", "tss:", 2, 0, 2, {NULL, seconds}, NULL, NULL},
                            {"u", "tsu:UTC", 2, 0, 2, {NULL, micro}, NULL, NULL}};
    source from = SOURCE(columns, 2);
    gsa_reader *reader = NULL;
    gsa_error error = {0};
    gsa_batch batch;
    const gsa_reader_options options = {.size = sizeof options, .keep = "d,m,s,u"};
    assert_int_equal(open_arrow(&from, &options, NULL, &reader, &error), GSA_OK);
    assert_int_equal(gsa_reader_next(reader, &batch, &error), GSA_OK);
    assert_int_equal(batch.kept_start[1], sizeof first);
    assert_memory_equal(batch.kept, first, sizeof first);
    assert_int_equal(batch.kept_start[2] - batch.kept_start[1], sizeof second);
    assert_memory_equal(batch.kept + batch.kept_start[1], second, sizeof second);
    gsa_reader_close(reader);
}

static void arrow_rows_without_labels_are_read(void **state)
{
    (void)state;
    static const double x[] = {1, 2};
    const plan columns[] = {{"x", "g", 2, 0, 2, {NULL, x}, NULL, NULL}};
    source from = SOURCE(columns, 2);
    gsa_reader *reader = NULL;
    gsa_error error = {0};
    gsa_batch batch;
    assert_int_equal(open_arrow(&from, &(gsa_reader_options){.size = sizeof(gsa_reader_options), .without_labels = 1},
                                NULL, &reader, &error),
                     GSA_OK);
    assert_int_equal(
        gsa_reader_set_schema(reader, "greedystep schema 2\ncolumns named\nbits 24\nnumber x\nlabel y\n", &error),
        GSA_OK);
    assert_int_equal(gsa_reader_next(reader, &batch, &error), GSA_OK);
    assert_int_equal(batch.n_rows, 2);
    assert_null(batch.label);
    assert_true(batch.value[1] == 2);
    gsa_reader_close(reader);
}

static void arrow_follows_the_schema_of_a_model(void **state)
{
    (void)state;
    static const char schema[] =
        "greedystep schema 2\ncolumns named\nbits 24\nnumber a\nlabel y\nwords w\nignored id\n";
    static const double a[] = {1.5, 2};
    const plan columns[] = {
        {"w", "u", 2, 0, 3, {NULL, word_at, words}, NULL, NULL}, LABEL(2), {"a", "g", 2, 0, 2, {NULL, a}, NULL, NULL}};
    const plan texts[] = {{"w", "u", 2, 0, 3, {NULL, word_at, words}, NULL, NULL},
                          LABEL(2),
                          {"a", "u", 2, 0, 3, {NULL, word_at, words}, NULL, NULL}};
    gsa_reader *readers[3] = {NULL};
    gsa_error error = {0};
    gsa_status status;
    const char table[] = "a,y,w,id\n1.5,1,oslo,7\n2,0,rome,8\n";
    source from = SOURCE(columns, 2), from_texts = SOURCE(texts, 2);
    assert_int_equal(open_arrow(&from, NULL, NULL, &readers[0], &error), GSA_OK);
    assert_int_equal(gsa_reader_open_memory(table, strlen(table), "t.csv", NULL, NULL, NULL, &readers[1], &error),
                     GSA_OK);
    assert_int_equal(open_arrow(&from_texts, NULL, NULL, &readers[2], &error), GSA_OK);
    char *rows[3];
    for (int i = 0; i < 3; i++) {
        assert_int_equal(gsa_reader_set_schema(readers[i], schema, &error), GSA_OK);
        rows[i] = dump(readers[i], &status, &error);
        assert_int_equal(status, i < 2 ? GSA_END : GSA_INPUT);
    }
    assert_string_equal(rows[0], rows[1]);
    assert_non_null(strstr(error.message, "column 'a' holds 'oslo': expected a number"));
    for (int i = 0; i < 3; i++)
        free(rows[i]);
}

static void arrow_says_what_it_understood(void **state)
{
    (void)state;
    const plan columns[] = {LABEL(2), {"w", "u", 2, 0, 3, {NULL, word_at, words}, NULL, NULL}};
    const plan lists[] = {LABEL(4),
                          {"indices", "+l", 4, 0, 2, {NULL, list_at}, &id_items, NULL},
                          {"values", "+l", 4, 0, 2, {NULL, list_at}, &value_items, NULL}};
    const gsa_reader_options options = {.size = sizeof options, .remember_names = 1};
    source from = SOURCE(columns, 2), from_lists = SOURCE(lists, 4);
    gsa_reader *reader = NULL;
    gsa_error error = {0};
    gsa_batch batch;
    assert_int_equal(open_arrow(&from, &options, NULL, &reader, &error), GSA_OK);
    assert_int_equal(gsa_reader_next(reader, &batch, &error), GSA_OK);
    assert_string_equal(
        gsa_reader_description(reader),
        "the Arrow stream: columns with types, found by name; label is 'y', 0 numeric and 1 categorical column "
        "(hashed to 2^24 slots)");
    assert_string_equal(gsa_reader_name(reader, batch.index[0]), "w=oslo");
    gsa_reader_close(reader);
    assert_int_equal(open_arrow(&from_lists, &options, NULL, &reader, &error), GSA_OK);
    assert_int_equal(gsa_reader_begin(reader, &error), GSA_OK);
    assert_string_equal(gsa_reader_description(reader),
                        "the Arrow stream: features are the list 'values' with the ids 'indices'");
    assert_null(gsa_reader_name(reader, 0));
    gsa_reader_close(reader);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrow_numbers_of_every_type_are_those_of_text),
        cmocka_unit_test(arrow_numbers_and_dates_far_from_zero_are_those_of_text),
        cmocka_unit_test(arrow_null_and_nan_are_absent_whatever_the_offset),
        cmocka_unit_test(arrow_text_is_words),
        cmocka_unit_test(arrow_text_views_are_words),
        cmocka_unit_test(arrow_dictionaries_are_their_values),
        cmocka_unit_test(an_arrow_dictionary_is_that_of_its_batch),
        cmocka_unit_test(arrow_columns_taken_for_words_and_crossed_are_those_of_text),
        cmocka_unit_test(arrow_labels_and_weights_are_those_of_text),
        cmocka_unit_test(arrow_batches_and_slices_make_one_table),
        cmocka_unit_test(arrow_rows_fill_batches_as_text_does),
        cmocka_unit_test(arrow_rows_with_odd_cells_are_those_of_text),
        cmocka_unit_test(arrow_cells_are_read_as_those_of_text),
        cmocka_unit_test(arrow_lists_are_sparse_rows),
        cmocka_unit_test(arrow_labels_beside_lists_are_read_as_the_first_rows_say),
        cmocka_unit_test(arrow_list_of_fixed_size_is_a_dense_row),
        cmocka_unit_test(arrow_tells_which_features_of_lists_lose_digits),
        cmocka_unit_test(arrow_floats_taken_for_words_are_those_of_text),
        cmocka_unit_test(arrow_texts_of_columns_are_kept_as_text_would_have_them),
        cmocka_unit_test(arrow_dates_are_kept_as_the_calendar_has_them),
        cmocka_unit_test(arrow_rows_without_labels_are_read),
        cmocka_unit_test(arrow_follows_the_schema_of_a_model),
        cmocka_unit_test(arrow_says_what_it_understood),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
