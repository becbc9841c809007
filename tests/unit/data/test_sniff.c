/* Which format a file is taken for. What was libsvm text before there were tables stays it. */
#include "unit/data/support.h"

#include "data/format/format.h"

static void expect(const gsai_format *format, const char *name, const char *text)
{
    const gsai_format *found = gsai_recognise(name, (const unsigned char *)text, strlen(text), NULL);
    if (found != format)
        fail_msg("%s: '%s' is taken for %s", name, text, found->title);
}

static void libsvm_text_is_what_it_was(void **state)
{
    (void)state;
    static const char *const texts[] = {"1 3:1 4:2\n",
                                        "1\t3:1\t4:2\n",
                                        "1 3:1, 4:1\n",
                                        "1,2 3:1\n",
                                        "cat 3:1\n",
                                        "1\n",
                                        "1\t\n",
                                        "-1 # one, two\n",
                                        "# a, b\n\n1 3:1\n",
                                        "",
                                        "\xEF\xBB\xBF+1 2:3",
                                        "1 qid:3 1:1\n",
                                        "hello world\n",
                                        "1 abc\n",
                                        "1  3:1\r\n",
                                        "1 3:x;y\n",
                                        "#a,b\n#c,d\n1\n",
                                        " \t\r\n+1 1:1 # ,\n",
                                        "1:1 2:1\n",
                                        "1\t3:1 4:1\t# ;\n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        expect(&gsai_format_libsvm, "data", texts[i]);
    expect(&gsai_format_libsvm, "data.csv", "1 3:1 4:2\n");
    expect(&gsai_format_libsvm, "data.csv.gz", "1 3:1\n");
}

static void lines_with_separators_are_a_table(void **state)
{
    (void)state;
    static const char *const texts[] = {"1,2,3\n",    "a;b\n1;2\n",         "1\t12:30\tfoo\n",
                                        "label\tx\n", "\"a b\",c\n",        "Name, Age\n",
                                        "1,3:1\n",    "1\t\t5\n",           "a,b",
                                        "x y,z\n",    "0\t1\t1\t5\t0\t",    "a|b\n1|2\n",
                                        "1|x\n",      "first name|age|y\n", "sep=|\n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        expect(&gsai_format_table, "data", texts[i]);
}

static void a_bar_behind_a_blank_makes_vowpal_wabbit_text(void **state)
{
    (void)state;
    static const char *const texts[] = {"1 |a b c:2\n", "|a b\n", " | b, c\n", "1 2 'tag |x y:1 |z w\n", "-1\t| a;b\n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        expect(&gsai_format_vw, "data", texts[i]);
    expect(&gsai_format_libsvm, "data", "1|f a b:2\n"); /* it may be meant so, and is refused */
    expect(&gsai_format_vw, "train.vw.gz", "1 2 second_house|price:.23\n");
    expect(&gsai_format_vw, "train.vw", "1\n");
    expect(&gsai_format_table, "a.csv", "id | x,y\n");
    expect(&gsai_format_table, "data", "a|b,c\n");
    expect(&gsai_format_libsvm, "data", "1 # | \n");
    expect(&gsai_format_libsvm, "data", "1 3:1 | 4:1\n");
    const char table[] = "a | b,c\n";
    assert_ptr_equal(gsai_recognise("x", (const unsigned char *)table, sizeof table - 1, &gsai_format_table),
                     &gsai_format_table);
}

static void the_name_decides_where_the_content_does_not(void **state)
{
    (void)state;
    expect(&gsai_format_table, "data.csv", "1\n2\n");
    expect(&gsai_format_table, "data.tsv", "1\t3:1\n");
    expect(&gsai_format_table, "data.tsv.zst", "1\t3:1\n");
    expect(&gsai_format_libsvm, "data.tsv.x", "1\t3:1\n");
    expect(&gsai_format_table, "x.csv", "");
    expect(&gsai_format_table, "x.tab.bz2", "word\n");
    expect(&gsai_format_libsvm, ".csv", "word\n");
}

static void a_first_line_that_is_cut_is_judged_by_its_whole_tokens(void **state)
{
    (void)state;
    char text[GSAI_DECODE_START + 1] = "1";
    size_t n = 1;
    while (n < GSAI_DECODE_START - 20)
        n += (size_t)snprintf(text + n, sizeof text - n, "\t%zu:0.5", n + 10);
    snprintf(text + n, sizeof text - n, "%*s", (int)(GSAI_DECODE_START - n), "\t17");
    assert_int_equal(strlen(text), GSAI_DECODE_START);
    expect(&gsai_format_libsvm, "data", text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(libsvm_text_is_what_it_was),
        cmocka_unit_test(lines_with_separators_are_a_table),
        cmocka_unit_test(a_bar_behind_a_blank_makes_vowpal_wabbit_text),
        cmocka_unit_test(the_name_decides_where_the_content_does_not),
        cmocka_unit_test(a_first_line_that_is_cut_is_judged_by_its_whole_tokens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
