/* Records of a table: what Python's csv module cannot tell (tests/real/csv_reference.py does the rest): places, errors,
 * going on after them, and looking at a block before reading it. */
#include "unit/data/support.h"

#include "base/memory.h"
#include "data/format/digits.h"
#include "data/format/records.h"

typedef struct table {
    gsai_env env;
    gsai_decode stream;
    gsai_records records;
} table;

static table *open_table(const char *text, size_t size, size_t buffer)
{
    table *t = calloc(1, sizeof *t);
    gsai_source source;
    t->env = gsai_env_resolve(NULL);
    gsai_source_open_memory(text, size, "text", &t->env, &source);
    assert_int_equal(gsai_decode_open(&t->stream, &source, &t->env, buffer, NULL), GSA_OK);
    assert_int_equal(gsai_records_init(&t->records, buffer, &t->env, NULL), GSA_OK);
    gsai_records_begin(&t->records, &t->stream);
    return t;
}

static void close_table(table *t)
{
    gsai_records_free(&t->records);
    gsai_decode_close(&t->stream);
    free(t);
}

static void expect_cell(const gsai_record *record, size_t cell, const char *text)
{
    assert_true(cell < record->n_cells);
    assert_int_equal(record->cell[cell].size, strlen(text));
    assert_memory_equal(record->cell[cell].text, text, strlen(text));
}

static void records_know_their_line_and_byte(void **state)
{
    (void)state;
    const char text[] = "\xEF\xBB\xBF"
                        "a,b\r\n\r\n\"1\n2\r\n3\r4\",\"x\"\"y\"\nlast,";
    for (size_t buffer = 1; buffer < 60; buffer++) {
        table *t = open_table(text, sizeof text - 1, buffer);
        gsai_record r;
        assert_int_equal(gsai_records_next(&t->records, &r, NULL), GSA_OK);
        assert_int_equal(r.line.number, 1);
        assert_int_equal(r.line.byte, 3);
        assert_int_equal(gsai_records_next(&t->records, &r, NULL), GSA_OK);
        assert_int_equal(r.line.number, 3);
        assert_int_equal(r.line.byte, 10);
        expect_cell(&r, 0, "1\n2\r\n3\r4");
        expect_cell(&r, 1, "x\"y");
        assert_int_equal(r.cell[1].at - r.line.start, 11);
        assert_int_equal(gsai_records_next(&t->records, &r, NULL), GSA_OK);
        assert_int_equal(r.line.number, 7);
        assert_int_equal(r.n_cells, 2);
        expect_cell(&r, 1, "");
        assert_int_equal(gsai_records_next(&t->records, &r, NULL), GSA_END);
        close_table(t);
    }
}

static void text_after_a_closing_quote_is_refused_and_the_next_line_is_read(void **state)
{
    (void)state;
    const char text[] = "1,2\n3,\"a\"b,4\n5,6\n";
    table *t = open_table(text, sizeof text - 1, 4);
    gsai_record r;
    gsa_error error = {0};
    assert_int_equal(gsai_records_next(&t->records, &r, &error), GSA_OK);
    assert_int_equal(gsai_records_next(&t->records, &r, &error), GSA_INPUT);
    assert_int_equal(error.line, 2);
    assert_int_equal(error.byte, 9);
    assert_int_equal(gsai_records_next(&t->records, &r, &error), GSA_OK);
    assert_int_equal(r.line.number, 3);
    expect_cell(&r, 0, "5");
    close_table(t);
}

static void a_quote_that_is_never_closed_names_where_it_opens(void **state)
{
    (void)state;
    const char text[] = "1,2\n3,\"a\n5,6\n";
    table *t = open_table(text, sizeof text - 1, 4);
    gsai_record r;
    gsa_error error = {0};
    assert_int_equal(gsai_records_next(&t->records, &r, &error), GSA_OK);
    assert_int_equal(gsai_records_next(&t->records, &r, &error), GSA_INPUT);
    assert_int_equal(error.line, 2);
    assert_int_equal(error.byte, 6);
    assert_int_equal(gsai_records_next(&t->records, &r, &error), GSA_END);
    close_table(t);
}

/* Each takes 32 bytes: a line of the longest that is allowed would else be gigabytes of them. */
static void a_row_of_more_cells_than_any_table_is_refused_and_the_next_line_is_read(void **state)
{
    (void)state;
    size_t size = 2 * GSAI_RECORDS_CELLS;
    char *text = malloc(size + 5);
    memcpy(text, "1,2\n", 4);
    memset(text + 4, ',', size - 4);
    memcpy(text + size, "\n3,4\n", 5);
    table *t = open_table(text, size + 5, 4096);
    gsai_record r;
    gsa_error error = {0};
    assert_int_equal(gsai_records_next(&t->records, &r, NULL), GSA_OK);
    assert_int_equal(gsai_records_next(&t->records, &r, &error), GSA_INPUT);
    assert_int_equal(error.line, 2);
    assert_int_equal(error.byte, 4);
    assert_non_null(strstr(error.message, "more than 1048576 cells"));
    assert_true(t->records.cell_capacity < 2 * GSAI_RECORDS_CELLS);
    assert_int_equal(gsai_records_next(&t->records, &r, NULL), GSA_OK);
    assert_int_equal(r.line.number, 3);
    expect_cell(&r, 1, "4");
    assert_int_equal(gsai_records_next(&t->records, &r, NULL), GSA_END);
    close_table(t);
    free(text);
}

static void what_was_held_is_read_again(void **state)
{
    (void)state;
    const char text[] = "a,\"b\"\"c\"\n1,2\n3,4\n";
    for (size_t buffer = 1; buffer < 30; buffer++) {
        table *t = open_table(text, sizeof text - 1, buffer);
        gsai_record r;
        for (int round = 0; round < 3; round++) {
            gsai_records_back(&t->records, round < 2 ? 4096 : 0);
            assert_int_equal(gsai_records_next(&t->records, &r, NULL), GSA_OK);
            expect_cell(&r, 1, "b\"c");
            assert_int_equal(r.line.number, 1);
            assert_int_equal(gsai_records_next(&t->records, &r, NULL), GSA_OK);
            expect_cell(&r, 0, "1");
            assert_int_equal(r.line.byte, 9);
        }
        assert_int_equal(gsai_records_next(&t->records, &r, NULL), GSA_OK);
        expect_cell(&r, 1, "4");
        assert_int_equal(gsai_records_next(&t->records, &r, NULL), GSA_END);
        close_table(t);
    }
}

static void holding_ends_after_four_mebibytes_whatever_the_buffer(void **state)
{
    (void)state;
    size_t size = (size_t)5 << 20;
    char *text = malloc(size);
    memset(text, 'x', size);
    for (size_t i = 999; i < size; i += 1000)
        text[i] = '\n';
    for (size_t buffer = 1000; buffer <= (size_t)8 << 20; buffer *= 80) {
        table *t = open_table(text, size, buffer);
        gsai_record r;
        size_t n = 0;
        gsai_records_back(&t->records, (size_t)4 << 20);
        while (gsai_records_next(&t->records, &r, NULL) == GSA_OK)
            n++;
        assert_int_equal(n, (4 << 20) / 1000);
        gsai_records_back(&t->records, 0);
        for (n = 0; gsai_records_next(&t->records, &r, NULL) == GSA_OK;)
            n++;
        assert_int_equal(n, size / 1000 + 1);
        close_table(t);
    }
    free(text);
}

static void marks_are_those_of_the_plain_form(void **state)
{
    (void)state;
    uint64_t seed = 5;
    const char letters[] = "a,;\t\n\r\"\0\xFF";
    char text[64];
    for (int round = 0; round < 2000; round++) {
        for (size_t i = 0; i < sizeof text; i++)
            text[i] = letters[next_random(&seed) % (sizeof letters - 1)];
        char separator = letters[1 + round % 3];
        assert_int_equal(gsai_marks(text, separator), gsai_marks_plain(text, separator));
        for (size_t i = 0; i < sizeof text; i++)
            assert_int_equal(gsai_marks(text, separator) >> i & 1,
                             text[i] == separator || text[i] == '\n' || text[i] == '\r' || text[i] == '"');
    }
}

/* The next record of [from, size), byte by byte: fills in its cells, and where it ends. Returns how many there are; 0:
 * it has text after a closing quote, at *from, or a quote that is never closed. */
typedef struct plain_cell {
    char text[400];
    size_t size, at;
} plain_cell;

static size_t read_plainly(const char *text, size_t size, char separator, size_t *from, size_t *n_lines,
                           plain_cell *cell)
{
    size_t p = *from;
    for (size_t n = 0;; p++, n++) {
        cell[n].size = 0;
        cell[n].at = p;
        if (p < size && text[p] == '"') {
            for (p++; p < size && (text[p] != '"' || (p + 1 < size && text[p + 1] == '"')); p++) {
                *n_lines += text[p] == '\n' || (text[p] == '\r' && !(p + 1 < size && text[p + 1] == '\n'));
                p += text[p] == '"';
                cell[n].text[cell[n].size++] = text[p];
            }
            *from = p + (p < size);
            if (p++ == size || (p < size && !strchr("\r\n", text[p]) && text[p] != separator))
                return 0;
        } else {
            for (; p < size && text[p] != separator && text[p] != '\n' && text[p] != '\r'; p++)
                cell[n].text[cell[n].size++] = text[p];
        }
        if (p < size && text[p] == separator)
            continue;
        p += p + 1 < size && text[p] == '\r' && text[p + 1] == '\n';
        *from = p + (p < size);
        *n_lines += 1;
        return n + 1;
    }
}

/* Cells, places and refusals of random text, whatever the buffer and where in it a record begins. */
static void records_are_those_that_are_read_byte_by_byte(void **state)
{
    (void)state;
    static plain_cell cell[400];
    uint64_t seed = 11;
    const char letters[] = "ab,,;\t\t\n\n\r\"\"x ";
    for (int round = 0; round < 20000; round++) {
        char text[400], separator = ",;\t"[round % 3];
        size_t size = next_random(&seed) % (round % 10 == 0 ? sizeof text : 90), from = 0, line = 0;
        size_t n_letters = round % 4 == 0 ? 3 : sizeof letters - 1; /* long cells too */
        for (size_t i = 0; i < size; i++)
            text[i] =
                next_random(&seed) % 8 && n_letters == 3 ? 'x' : letters[next_random(&seed) % (sizeof letters - 1)];
        table *t = open_table(text, size, 1 + next_random(&seed) % 130);
        t->records.separator = separator;
        while (from < size) {
            gsai_record r;
            size_t start = from, n_lines = 0, n = read_plainly(text, size, separator, &from, &n_lines, cell);
            if (n == 1 && cell->size == 0 && text[start] != '"') {
                line += n_lines;
                continue;
            }
            assert_int_equal(gsai_records_next(&t->records, &r, NULL), n > 0 ? GSA_OK : GSA_INPUT);
            if (n == 0) { /* what is left of the line is skipped */
                bool is_open = from == size && text[size - 1] != '"';
                const char *newline = memchr(text + from, '\n', size - from);
                from = newline && !is_open ? (size_t)(newline - text) + 1 : size;
                line += n_lines + (newline && !is_open);
                continue;
            }
            assert_int_equal(r.n_cells, n);
            assert_int_equal(r.line.byte, start);
            assert_int_equal(r.line.number, line + 1);
            for (size_t i = 0; i < n; i++) {
                assert_int_equal(r.cell[i].size, cell[i].size);
                assert_memory_equal(r.cell[i].text, cell[i].text, cell[i].size);
                assert_int_equal(r.line.byte + (size_t)(r.cell[i].at - r.line.start), cell[i].at);
            }
            line += n_lines;
        }
        gsai_record none;
        assert_int_equal(gsai_records_next(&t->records, &none, NULL), GSA_END);
        close_table(t);
    }
}

static void cells_that_are_not_utf8_are_windows_1252(void **state)
{
    (void)state;
    /* UTF-8 stays as it is beside them, and so do NUL bytes. */
    const char text[] = "na\xEFve,\"say \"\"\x80\"\"\",caf\xC3\xA9,plain,\xC3\n1,2,3,4,\"\"\"\"\n";
    for (size_t buffer = 1; buffer < 60; buffer++) {
        table *t = open_table(text, sizeof text - 1, buffer);
        gsai_record r;
        assert_int_equal(gsai_records_next(&t->records, &r, NULL), GSA_OK);
        expect_cell(&r, 0, "na\xC3\xAFve");
        expect_cell(&r, 1, "say \"\xE2\x82\xAC\"");
        expect_cell(&r, 2, "caf\xC3\xA9");
        expect_cell(&r, 3, "plain");
        expect_cell(&r, 4, "\xC3\x83");
        assert_int_equal(r.cell[1].at - r.line.start, 6);
        assert_int_equal(t->records.n_recoded, 3);
        assert_int_equal(gsai_records_next(&t->records, &r, NULL), GSA_OK);
        expect_cell(&r, 4, "\"");
        assert_int_equal(t->records.n_recoded, 3);
        close_table(t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_know_their_line_and_byte),
        cmocka_unit_test(text_after_a_closing_quote_is_refused_and_the_next_line_is_read),
        cmocka_unit_test(a_quote_that_is_never_closed_names_where_it_opens),
        cmocka_unit_test(a_row_of_more_cells_than_any_table_is_refused_and_the_next_line_is_read),
        cmocka_unit_test(what_was_held_is_read_again),
        cmocka_unit_test(holding_ends_after_four_mebibytes_whatever_the_buffer),
        cmocka_unit_test(marks_are_those_of_the_plain_form),
        cmocka_unit_test(records_are_those_that_are_read_byte_by_byte),
        cmocka_unit_test(cells_that_are_not_utf8_are_windows_1252),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
