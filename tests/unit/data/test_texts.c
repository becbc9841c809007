/* Columns of texts: their words, the features of a cell, and which columns are of texts. */
#include "unit/data/tables.h"

#include "base/byte_order.h"
#include "data/format/column_stats.h"

#include <math.h>

/* Returns the words with a bar behind each. */
static void expect_words(const char *text, const char *expected)
{
    char found[400], word[GSAI_WORD_SIZE];
    const char *at = text, *end = text + strlen(text);
    size_t n = 0, size;
    while ((size = gsai_text_next_word(&at, end, word)) > 0) {
        assert_true(n + size + 2 < sizeof found);
        memcpy(found + n, word, size);
        n += size;
        found[n++] = '|';
    }
    found[n] = '\0';
    assert_string_equal(found, expected);
    assert_ptr_equal(at, end);
}

static void words_are_letters_digits_and_underscores(void **state)
{
    (void)state;
    expect_words("", "");
    expect_words(" .,;! ", "");
    expect_words("Free entry: WIN 1000 now!!", "free|entry|win|1000|now|");
    expect_words("don't stop_it e-mail", "don|t|stop_it|e|mail|");
    expect_words("a\nb\tc", "a|b|c|");
}

static void letters_of_three_scripts_become_small(void **state)
{
    (void)state;
    expect_words("ÉCOLE Straße ÀÞ×Ÿ ŁÓDŹ Ĳ Ž", "école|straße|àþ|ÿ|łódź|ĳ|ž|");
    expect_words("ΆΣΟΣ όΏ ΐ Ϊ", "άσοσ|όώ|ΐ|ϊ|");
    expect_words("ПРИВЕТ Ёлка Ґ Ӏ ӂ Ӂ", "привет|ёлка|ґ|ӏ|ӂ|ӂ|");
    expect_words("TIẾNG VIỆT ẞ", "tiếng|việt|ẞ|");
    expect_words("Ａｂ ԱԲ", "ａｂ|աբ|");
}

static void marks_above_ascii_separate_words(void **state)
{
    (void)state;
    expect_words("«oui» – non…“ja”\u00A0„nein“", "oui|non|ja|nein|");
    expect_words("१२। नमस्ते ¿qué? 5µ 2ª", "१२|नमस्ते|qué|5µ|2ª|");
    expect_words("日本語,とabc。", "日|本|語|と|abc|");
    expect_words("ok👍👍 ☀️x", "ok|👍|👍|☀|x|");
    expect_words("a\xFF"
                 "b \xC3",
                 "a|b|"); /* no UTF-8 */
}

static void long_words_are_cut_between_characters(void **state)
{
    (void)state;
    char text[200], expected[200];
    memset(text, 'A', 150);
    strcpy(text + 150, " é");
    memset(expected, 'a', 64);
    strcpy(expected + 64, "|é|");
    expect_words(text, expected);
    memset(text, 'A', 63);
    strcpy(text + 63, "éaé b");
    memset(expected, 'a', 63);
    strcpy(expected + 63, "|b|");
    expect_words(text, expected);
}

/* Twelve texts, and what they are called. */
static const char talk[] = "y,said\n1,\"The cat sat, the cat ran\"\n0,no dog was ever here\n1,what a cold day it is\n"
                           "0,one two three four five\n1,we went home by train\n0,they ate all of it\n"
                           "1,nothing is ever so easy\n0,rain fell on the roof\n1,he read two long books\n"
                           "0,she wrote a short letter\n1,trees grow in the garden\n0,the end of this story\n";

static void a_text_has_words_and_pairs(void **state)
{
    (void)state;
    gsa_reader_options options = {.size = sizeof options, .remember_names = 1, .bits = 20, .keep_cells = 1};
    gsa_reader *reader = open_table(talk, &options, NULL);
    gsa_batch batch;
    assert_int_equal(gsa_reader_next(reader, &batch, NULL), GSA_OK);
    assert_non_null(strstr(gsa_reader_schema(reader), "\ntext said\n"));
    assert_non_null(strstr(gsa_reader_description(reader), "0 numeric and 1 text column (hashed to 2^20 slots)"));
    static const struct {
        const char *name;
        double value;
    } expected[] = {{"said=the", 2},      {"said=cat", 2},      {"said=sat", 1},      {"said=ran", 1},
                    {"said=the cat", -2}, {"said=cat sat", -1}, {"said=sat the", -1}, {"said=cat ran", -1}};
    const size_t n = sizeof expected / sizeof *expected;
    assert_int_equal(batch.row_start[1], n);
    double squares = 0;
    for (size_t i = 0; i < n; i++)
        squares += pow((expected[i].value < 0 ? 0.5 : 1) * (1 + log(fabs(expected[i].value))), 2);
    for (size_t i = 0; i < n; i++) {
        const char *name = gsa_reader_name(reader, batch.index[i]);
        assert_non_null(name);
        assert_true(i == 0 || batch.index[i] > batch.index[i - 1]);
        size_t k = 0;
        while (k < n && strcmp(expected[k].name, name) != 0)
            k++;
        assert_true(k < n);
        double value = (expected[k].value < 0 ? 0.5 : 1) * (1 + log(fabs(expected[k].value))) / sqrt(squares);
        assert_true(fabs((double)batch.value[i] - value) < 1e-6);
    }
    /* A word has the id of a category, a pair that of a cross of its words. */
    unsigned char both[16];
    const uint64_t the = gsai_hash("said\0the", 8, 0), cat = gsai_hash("said\0cat", 8, 0);
    gsai_store_u64(the, both);
    gsai_store_u64(cat, both + 8);
    assert_string_equal(gsa_reader_name(reader, the & 0xFFFFF), "said=the");
    assert_string_equal(gsa_reader_name(reader, gsai_hash(both, 16, 0) & 0xFFFFF), "said=the cat");
    size_t n_cells;
    const uint64_t *cell = gsa_reader_cells(reader, &n_cells);
    assert_int_equal(n_cells, 1);
    assert_true(cell[0] == gsai_hash("said\0The cat sat, the cat ran", 29, 0));
    gsa_schema_info info = {.size = sizeof info};
    assert_int_equal(gsa_schema_get_info(gsa_reader_schema(reader), &info, NULL), GSA_OK);
    assert_true(info.n_words == 1 && info.n_texts == 1 && info.first_text == 0);
    gsa_reader_close(reader);
}

/* Returns whether a column of cells is of texts; n of them, of which `different` are. */
static bool is_text(const char *format, size_t n, size_t different)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    fputs("y;x\n", out);
    for (size_t i = 0; i < n; i++) {
        fprintf(out, "%zu;", i % 2);
        for (const char *p = format; *p; p++) /* # is a letter that differs */
            if (*p == '#')
                fprintf(out, "%c%c", (int)('a' + i % different % 26), (int)('a' + i % different / 26));
            else if (*p == '0')
                fprintf(out, "%zu", i % different);
            else
                putc(*p, out);
        putc('\n', out);
    }
    fclose(out);
    gsa_reader *reader = open_table(text, NULL, NULL);
    gsa_error error = {0};
    if (gsa_reader_begin(reader, &error) != GSA_OK)
        fail_msg("%s", error.message);
    bool is = strstr(gsa_reader_schema(reader), "\ntext x\n") != NULL;
    gsa_reader_close(reader);
    free(text);
    return is;
}

static void columns_of_several_different_words_are_texts(void **state)
{
    (void)state;
    assert_true(is_text("the # was here", 300, 300));
    assert_true(is_text("0 stars for the # today", 300, 300));
    assert_true(is_text("the # was here", 300, 200));
    assert_true(is_text("这部电影非常#好看。真的很好看", 300, 300));
}

static void others_stay_categories(void **state)
{
    (void)state;
    assert_false(is_text("the # was here", 300, 100)); /* a few that come again */
    assert_false(is_text("the # was here", 3000, 500));
    assert_false(is_text("the # was here", 9, 9)); /* too few to tell */
    assert_false(is_text("New #", 300, 300));
    assert_false(is_text("Ann Mary #", 300, 300));    /* persons */
    assert_false(is_text("0 High Street", 300, 300)); /* addresses of houses, pages and people */
    assert_false(is_text("0 Old High Street", 300, 300));
    assert_false(is_text("https://www.example.org/the/page/of/#?id=0", 300, 300));
    assert_false(is_text("some.one.called.#@example.org", 300, 300));
    assert_false(is_text("550e8400-e29b-41d4-a716-44665544#", 300, 300));
    assert_false(is_text("#-12 7 8 9 0 1 2", 300, 300));
    assert_false(is_text("北京市#", 300, 300));
}

static void labels_are_no_texts_and_options_decide(void **state)
{
    (void)state;
    gsa_reader_options options = {.size = sizeof options, .categorical = "said"};
    expect_schema(talk, &options, "columns named\nbits 24\nlabel y\nwords said\n");
    options = (gsa_reader_options){.size = sizeof options, .label = "said"};
    expect_schema(talk, &options, "columns named\nbits 24\nnumber y\nlabel said\n");
    options = (gsa_reader_options){.size = sizeof options};
    expect_schema(talk, &options, "columns named\nbits 24\nlabel y\ntext said\n");
    gsa_reader_options asked = {.size = sizeof asked, .text = "a,b"};
    expect_schema("y,a,b,c\n1,x,3,z\n0,x,4,z\n", &asked, "columns named\nbits 24\nlabel y\ntext a\ntext b\nwords c\n");
    options.cross = "said:said";
    expect_failure(talk, &options, GSA_ARGUMENT, "t.csv: cannot cross 'said': it is a column of texts");
}

/* A table without a header whose first column is the label. */
static void the_first_text_is_not_a_header(void **state)
{
    (void)state;
    gsa_reader *reader = open_table(talk + strlen("y,said\n"), NULL, NULL);
    gsa_batch batch;
    assert_int_equal(gsa_reader_next(reader, &batch, NULL), GSA_OK);
    assert_int_equal(batch.n_rows, 12);
    assert_non_null(strstr(gsa_reader_schema(reader), "\nlabel 1\ntext 2\n"));
    gsa_reader_close(reader);
}

/* A model reads few rows, and cells that are empty, numbers or of other kinds, as texts. */
static void a_known_schema_decides(void **state)
{
    (void)state;
    gsa_reader *reader = open_table("said,y\n,0\nThe,1\n12,1\n?,1\n...,0\n", NULL, NULL);
    gsa_batch batch;
    assert_int_equal(
        gsa_reader_set_schema(reader, "greedystep schema 2\ncolumns named\nbits 10\nlabel y\ntext said\n", NULL),
        GSA_OK);
    assert_int_equal(gsa_reader_next(reader, &batch, NULL), GSA_OK);
    const int64_t starts[] = {0, 0, 1, 2, 2, 2};
    assert_memory_equal(batch.row_start, starts, sizeof starts);
    assert_int_equal(batch.index[0], gsai_hash("said\0the", 8, 0) & 1023);
    assert_int_equal(batch.index[1], gsai_hash("said\0"
                                               "12",
                                               7, 0) &
                                         1023);
    gsa_reader_close(reader);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_letters_digits_and_underscores),
        cmocka_unit_test(letters_of_three_scripts_become_small),
        cmocka_unit_test(marks_above_ascii_separate_words),
        cmocka_unit_test(long_words_are_cut_between_characters),
        cmocka_unit_test(a_text_has_words_and_pairs),
        cmocka_unit_test(columns_of_several_different_words_are_texts),
        cmocka_unit_test(others_stay_categories),
        cmocka_unit_test(labels_are_no_texts_and_options_decide),
        cmocka_unit_test(the_first_text_is_not_a_header),
        cmocka_unit_test(a_known_schema_decides),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
