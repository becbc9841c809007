/* What a terminal is shown of text that somebody else has written. */
#include "printable.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static const struct {
    const char *text, *shown;
} cases[] = {
    {"", ""},
    {"plain text, 1:2", "plain text, 1:2"},
    {"a\033[31mred\033[0m", "a?[31mred?[0m"},
    {"line\nend\r\t\177", "line?end???"},
    {"caf\303\251 \342\226\201 \360\237\220\204", "caf\303\251 \342\226\201 \360\237\220\204"},
    {"\302\23331m", "??31m"},   /* the control sequence introducer of Latin-1, as UTF-8 */
    {"\23331m", "?31m"},        /* and as a byte */
    {"\304\233", "\304\233"},   /* the same byte as a part of a letter */
    {"\340\200\233", "\340??"}, /* written longer than it is */
    {"\303", "\303"},           /* cut off; no terminal takes it for a control */
    {"\303\033", "\303?"},      /* or followed by one */
    {"\033", "?"},
    {"a\342\200\256b", "a???b"},                              /* U+202E turns the direction of what follows */
    {"\342\200\213\342\200\217", "??????"},                   /* U+200B, U+200F */
    {"\342\201\246x\342\201\251", "???x???"},                 /* U+2066, U+2069 */
    {"\357\273\277\302\255", "?????"},                        /* U+FEFF, U+00AD */
    {"\342\200\220\342\201\237", "\342\200\220\342\201\237"}, /* U+2010 and U+205F are beside them */
    {"\363\240\201\201", "????"},                             /* U+E0041, a tag */
    {"\377\376\237", "\377\376?"},
};

static void controls_become_question_marks_and_nothing_else_does(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[64], put[64] = "";
        strcpy(text, cases[i].text);
        assert_string_equal(printable_clean(text), cases[i].shown);
        FILE *stream = fmemopen(put, sizeof put, "w");
        printable_put(stream, cases[i].text);
        fclose(stream);
        assert_string_equal(put, cases[i].shown);
    }
}

static void words_are_quoted_for_a_shell_where_they_need_it(void **state)
{
    (void)state;
    static const char *const words[][2] = {{"my.model", "my.model"},
                                           {"", "''"},
                                           {"a b", "'a b'"},
                                           {"it's", "'it'\\''s'"},
                                           {"\304\233'\304\233", "'\304\233'\\''\304\233'"},
                                           {"'\033'", "''\\''?'\\'''"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        char put[64] = "";
        FILE *stream = fmemopen(put, sizeof put, "w");
        printable_put_word(stream, words[i][0]);
        fclose(stream);
        assert_string_equal(put, words[i][1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(controls_become_question_marks_and_nothing_else_does),
        cmocka_unit_test(words_are_quoted_for_a_shell_where_they_need_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
