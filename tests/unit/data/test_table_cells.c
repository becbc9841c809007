/* A row of cells has the features that a reader makes of the same text. */
#include "unit/data/tables.h"

#include "support/failing_memory.h"

#include <math.h>

enum { MAX_CELLS = 16 };

static gsa_cell text_cell(const char *text)
{
    return (gsa_cell){.text = text, .text_size = strlen(text)};
}

static void expect_same_row(const gsa_batch *row, const gsa_batch *batch, size_t number)
{
    gsai_row mine = gsai_row_at(row, 0), theirs = gsai_row_at(batch, number);
    assert_int_equal(row->n_rows, 1);
    assert_int_equal(mine.n, theirs.n);
    assert_true(!row->label && !row->place);
    for (size_t i = 0; i < mine.n; i++) {
        float x = gsai_row_value(&mine, i), y = gsai_row_value(&theirs, i);
        assert_int_equal(gsai_row_id(&mine, i), gsai_row_id(&theirs, i));
        assert_memory_equal(&x, &y, sizeof x);
    }
    assert_true((row->weight ? row->weight[0] : 1) == (batch->weight ? batch->weight[number] : 1));
}

/* Reads the lines of a table, and sets a row to the cells of each. Numbers are given as numbers too, where a text of
 * theirs is the cell. */
static void expect_same(const char *schema, const char *header, const char *const *lines, size_t n_lines)
{
    char text[8192], name[MAX_CELLS][32], cell[MAX_CELLS][256];
    const char *columns[MAX_CELLS];
    size_t n = 0, size = (size_t)snprintf(text, sizeof text, "%s\n", header);
    for (const char *at = header; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL, n++) {
        snprintf(name[n], sizeof name[n], "%.*s", (int)strcspn(at, ","), at);
        columns[n] = name[n];
    }
    for (size_t r = 0; r < n_lines; r++)
        size += (size_t)snprintf(text + size, sizeof text - size, "%s\n", lines[r]);
    gsa_reader_options options = {.size = sizeof options, .without_labels = 1};
    gsa_reader *reader = open_table(text, &options, NULL);
    gsa_batch batch, out;
    gsa_row *row;
    gsa_error error = {0};
    assert_int_equal(gsa_reader_set_schema(reader, schema, NULL), GSA_OK);
    if (gsa_reader_next(reader, &batch, &error) != GSA_OK)
        fail_msg("%s", error.message);
    assert_int_equal(batch.n_rows, n_lines);
    assert_int_equal(gsa_row_new(schema, columns, n, NULL, &row, NULL), GSA_OK);
    for (size_t r = 0; r < n_lines; r++)
        for (int as_number = 0; as_number < 2; as_number++) {
            gsa_cell cells[MAX_CELLS];
            const char *at = lines[r];
            for (size_t i = 0; i < n; i++, at += strcspn(at, ",") + (i < n)) {
                char shortest[GSAI_NUMBER_TEXT] = "";
                snprintf(cell[i], sizeof cell[i], "%.*s", (int)strcspn(at, ","), at);
                cells[i] = text_cell(cell[i]);
                double number = strtod(cell[i], NULL);
                if (isfinite(number))
                    shortest[gsai_number_text(number, shortest)] = '\0';
                if (as_number && (strcmp(shortest, cell[i]) == 0 || !*cell[i]))
                    cells[i] = (gsa_cell){.number = *cell[i] ? number : (double)NAN};
            }
            if (gsa_row_set(row, cells, &out, &error) != GSA_OK)
                fail_msg("%s", error.message);
            expect_same_row(&out, &batch, r);
        }
    gsa_row_free(row);
    gsa_reader_close(reader);
}

/* Returns the schema that a table gets; the caller frees it. */
static char *schema_of(const char *text, const gsa_reader_options *options)
{
    gsa_reader *reader = open_table(text, options, NULL);
    gsa_error error = {0};
    if (gsa_reader_begin(reader, &error) != GSA_OK)
        fail_msg("%s", error.message);
    char *schema = strdup(gsa_reader_schema(reader));
    gsa_reader_close(reader);
    return schema;
}

static char *schema_of_all_kinds(void)
{
    static const char *const words[] = {"red", "green", "blue", "grey"};
    char text[8192] = "y,price,size,rare,when,time,colour,zip,note,off,id\n";
    size_t size = strlen(text);
    for (int i = 0; i < 40; i++)
        size += (size_t)snprintf(text + size, sizeof text - size,
                                 "%d,\"$%d,%03d.5\",%d.25,%s,2024-0%d-1%d,2024-03-1%d 1%d:30:00,%s,0%d01,"
                                 "this is note %d of a %s thing,%d,%d\n",
                                 i % 2, i + 1, i * 7, 16000000 + i, i % 5 ? "3" : "-999", i % 9 + 1, i % 10, i % 10,
                                 i % 10, words[i % 4], i % 10, i * i, words[i % 3], i % 3, i);
    gsa_reader_options options = {
        .size = sizeof options, .bits = 18, .cross = "colour:size", .offset = "off", .ignore = "id"};
    return schema_of(text, &options);
}

static void cells_have_the_features_of_the_reader(void **state)
{
    (void)state;
    char *schema = schema_of_all_kinds();
    static const char *const lines[] = {
        "red,3.5,16000001.25,3,2024-05-17,2024-03-12 12:30:00,00501,this thing is new and is this thing,0.25",
        "unseen,$1200.5,NA,-999,,2023-12-31 23:59:59,501,red,-1",
        ",(12),16000040,-999.0,2024-05-17T00:00:00,?,,,1e-3",
        " blue ,  7 ,15999999.75, 3,2025-01-01,2024-03-12, 7 ,\xC3\x9Cnder den Linden \xE6\x97\xA5\xE6\x9C\xAC,2",
        "7,-0,16000000,0.1,2024-02-29,2024-02-29 00:00,1e5,7,0",
        "0.1,123456789.123456789123456789123456789123456789123456789123456789123456789,1,5e-40,1970-01-01,,nan,NA,7",
    };
    expect_same(schema, "colour,price,size,rare,when,time,zip,note,off", lines, sizeof lines / sizeof *lines);
    free(schema);
}

static void customers_and_exposures_are_read(void **state)
{
    (void)state;
    gsa_reader_options options = {.size = sizeof options, .bits = 18, .per = "who", .exposure = "hours"};
    char *schema = schema_of("who,age,hours,y\nann,20,2,1\nbob,30,1,2\nann,41,1,0\ncarl,35,3,3\n", &options);
    static const char *const lines[] = {"ann,20,2", "new,,0.5", ",33,1e2", "7,7,7"};
    static const char *const rates[] = {"ann,20", "bob,21"};
    expect_same(schema, "who,age,hours", lines, 4);
    expect_same(schema, "who,age", rates, 2); /* per unit of exposure */
    free(schema);
}

static void columns_come_in_any_order_and_others_are_ignored(void **state)
{
    (void)state;
    static const char *const columns[] = {"id", "b", "c", "y", "a", "a"};
    gsa_row *row;
    gsa_error error = {0};
    gsa_batch out;
    assert_int_equal(gsa_row_new(model, NULL, 0, NULL, &row, NULL), GSA_OK);
    static const char *const in_order[] = {"a", "c", "b"};
    for (size_t i = 0; i < 3; i++)
        assert_string_equal(gsa_row_column(row, i), in_order[i]);
    assert_null(gsa_row_column(row, 3));
    gsa_row_free(row);
    assert_int_equal(gsa_row_new(model, columns, 6, NULL, &row, NULL), GSA_OK);
    assert_null(gsa_row_column(row, 0));
    assert_null(gsa_row_column(row, 3));
    assert_null(gsa_row_column(row, 5));
    assert_string_equal(gsa_row_column(row, 4), "a");
    gsa_cell cells[6] = {[0] = {.text = "anything", .text_size = 8},
                         [1] = {.number = 2},
                         [2] = text_cell("x"),
                         [4] = {.number = 5},
                         [5] = text_cell("not read")};
    assert_int_equal(gsa_row_set(row, cells, &out, &error), GSA_OK);
    assert_true(out.index[0] == 0 && out.value[0] == 5 && out.index[1] == 1 && out.value[1] == 2);
    assert_int_equal(out.row_start[1], 3);
    gsa_row_free(row);
    assert_int_equal(gsa_row_new(model, columns, 3, NULL, &row, &error), GSA_ARGUMENT);
    assert_string_equal(error.message, "the row has no column 'a', which the model was trained with");
    assert_int_equal(gsa_row_new(NULL, columns, 3, NULL, &row, &error), GSA_UNSUPPORTED);
    assert_int_equal(gsa_row_new("greedystep schema 2\nnonsense\n", columns, 3, NULL, &row, &error), GSA_FORMAT);
    gsa_row_free(NULL);
}

static void a_cell_that_is_refused_leaves_the_row_as_good_as_new(void **state)
{
    (void)state;
    gsa_row *row;
    gsa_error error = {0};
    gsa_batch first, again;
    gsa_cell cells[] = {{.number = 1}, text_cell("x"), {.number = 3}};
    assert_int_equal(gsa_row_new(model, NULL, 0, NULL, &row, NULL), GSA_OK);
    const struct {
        gsa_cell cell;
        const char *message;
    } bad[] = {{text_cell("many"), "column 'a' holds 'many': the model was trained with numbers in it"},
               {{.number = (double)INFINITY}, "column 'a' holds 'inf': values must be finite"},
               {{.number = 1e300},
                "column 'a' holds '1e300': it does not fit a float, whose magnitudes go from 1.5e-45 to 3.4e38"},
               {text_cell("1e300"),
                "column 'a' holds '1e300': it does not fit a float, whose magnitudes go from 1.5e-45 to 3.4e38"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        gsa_cell with[] = {bad[i].cell, cells[1], cells[2]};
        assert_int_equal(gsa_row_set(row, with, &again, &error), GSA_INPUT);
        assert_string_equal(error.message, bad[i].message);
    }
    assert_int_equal(gsa_row_set(row, cells, &first, &error), GSA_OK);
    assert_true(first.n_rows == 1 && first.row_start[1] == 3);
    cells[1] = (gsa_cell){.number = (double)NAN};
    assert_int_equal(gsa_row_set(row, cells, &again, &error), GSA_OK);
    assert_int_equal(again.row_start[1], 2);
    gsa_row_free(row);
}

static void rows_take_no_memory_of_their_own(void **state)
{
    (void)state;
    char *schema = schema_of_all_kinds();
    failing memory = {.left = SIZE_MAX};
    gsai_env env = failing_env(&memory);
    gsa_row *row = NULL;
    gsa_batch out;
    gsa_error error = {0};
    gsa_status status = GSA_MEMORY;
    for (size_t left = 0; status == GSA_MEMORY; left++) {
        memory.left = left;
        status = gsa_row_new(schema, NULL, 0, &env.memory, &row, &error);
        assert_true(status == GSA_OK || memory.live == 0);
    }
    assert_int_equal(status, GSA_OK);
    gsa_cell cells[MAX_CELLS];
    for (size_t i = 0; i < MAX_CELLS; i++)
        cells[i] = (gsa_cell){.number = 1};
    for (size_t i = 0; gsa_row_column(row, i); i++) {
        const char *name = gsa_row_column(row, i);
        cells[i] = strcmp(name, "note") == 0                                ? text_cell("a note of several words")
                   : strcmp(name, "when") == 0 || strcmp(name, "time") == 0 ? text_cell("2024-05-17")
                                                                            : cells[i];
    }
    status = GSA_MEMORY;
    for (size_t left = 0; status == GSA_MEMORY; left++) {
        memory.left = left;
        status = gsa_row_set(row, cells, &out, &error);
    }
    assert_int_equal(status, GSA_OK);
    memory.left = 0;
    for (int i = 0; i < 100; i++) {
        cells[1].number = i;
        assert_int_equal(gsa_row_set(row, cells, &out, &error), GSA_OK);
    }
    gsa_row_free(row);
    assert_int_equal(memory.live, 0);
    free(schema);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_have_the_features_of_the_reader),
        cmocka_unit_test(customers_and_exposures_are_read),
        cmocka_unit_test(columns_come_in_any_order_and_others_are_ignored),
        cmocka_unit_test(a_cell_that_is_refused_leaves_the_row_as_good_as_new),
        cmocka_unit_test(rows_take_no_memory_of_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
