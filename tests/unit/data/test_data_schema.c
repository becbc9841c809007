/* The text of a schema: there and back, and what is no such text. */
#include "unit/data/support.h"

#include "base/memory.h"
#include "data/format/table_schema.h"

static void a_schema_survives_its_text(void **state)
{
    (void)state;
    gsai_env env = gsai_env_resolve(NULL);
    gsai_schema schema, again;
    gsai_schema_init(&schema, &env);
    gsai_schema_init(&again, &env);
    schema.is_named = true;
    schema.bits = 18;
    const char *const names[] = {"y",     "when",  "two words ", "said", "a\nb\\n\r",  "number",
                                 "years", "prior", "customer",   "who",  " \xC3\xA9\t"};
    const gsai_reading number = {.decimal = ',', .group = ".", .unit = "€"};
    const gsai_reading date = {.decimal = '.', .order = 'd', .has_time = true, .n_missing = 1, .missing = {"a\tb"}};
    for (int i = 0; i < GSAI_FIELD_KINDS; i++) {
        assert_int_equal(gsai_schema_add(&schema, names[i], strlen(names[i]), (gsai_field_kind)i, NULL), GSA_OK);
        if (i == GSAI_FIELD_NUMBER || i == GSAI_FIELD_DATE) {
            gsai_schema_set_offset(&schema, i == GSAI_FIELD_DATE ? 20774.5 : 0.1);
            assert_int_equal(gsai_schema_set_reading(&schema, 0.1F, i == GSAI_FIELD_DATE ? &date : &number, NULL),
                             GSA_OK);
            schema.field[i].deviation = i == GSAI_FIELD_DATE ? 0 : 0.5F;
        }
        if (i == GSAI_FIELD_IGNORED) {
            schema.field[i].time = GSAI_FIELD_DATE;
            assert_int_equal(gsai_schema_set_reading(&schema, 0, &date, NULL), GSA_OK);
        }
    }
    const char *const pair[] = {names[0], names[2]}, *const label[] = {names[0], names[4]};
    const size_t pair_size[] = {strlen(names[0]), strlen(names[2])}, label_size[] = {1, strlen(names[4])};
    assert_int_equal(gsai_schema_add_cross(&schema, pair, pair_size, NULL), GSA_OK);
    assert_int_equal(gsai_schema_add_cross(&schema, pair, pair_size, NULL), GSA_ARGUMENT);
    assert_int_equal(gsai_schema_add_cross(&schema, label, label_size, NULL), GSA_ARGUMENT);
    const char *const text[] = {names[0], names[3]};
    const size_t text_size[] = {1, strlen(names[3])};
    assert_int_equal(gsai_schema_add_cross(&schema, text, text_size, NULL), GSA_ARGUMENT);
    assert_int_equal(gsai_schema_complete(&schema, NULL), GSA_OK);
    assert_string_equal(
        schema.text,
        "greedystep schema 2\ncolumns named\nbits 18\nnumber "
        "y\toffset=0.1\tmean=0.100000001\tdeviation=0.5\tdecimal=,\tgroup=.\tunit=€\ndate "
        "when\toffset=20774.5\tmean=0.100000001\torder=day\ttime\tmissing=a\\tb\nwords two words \ntext said\n"
        "label a\\nb\\\\n\\r\nweight number\nexposure years\noffset prior\nper customer\ngroup who\nignored  "
        "\xC3\xA9\\t\tmoment=date\torder=day\ttime\tmissing=a\\tb\ncross y\ttwo words \n");
    assert_int_equal(gsai_schema_parse(&again, schema.text, NULL), GSA_OK);
    assert_string_equal(again.text, schema.text);
    assert_int_equal(again.n_fields, GSAI_FIELD_KINDS);
    assert_true(again.is_named);
    assert_true(again.field[0].offset == 0.1 && again.field[GSAI_FIELD_DATE].offset == 20774.5);
    assert_memory_equal(again.field[GSAI_FIELD_NUMBER].reading, &number, sizeof number);
    assert_memory_equal(again.field[GSAI_FIELD_DATE].reading, &date, sizeof date);
    for (size_t i = 0; i < GSAI_FIELD_KINDS; i++) {
        assert_string_equal(again.field[i].name, names[i]);
        assert_int_equal(again.field[i].kind, i);
        assert_int_equal(gsai_schema_find(&again, names[i], strlen(names[i])), i);
    }
    gsai_schema_free(&schema);
    gsai_schema_free(&again);
}

static void a_name_stands_once_and_is_text(void **state)
{
    (void)state;
    gsai_env env = gsai_env_resolve(NULL);
    gsai_schema schema;
    gsai_schema_init(&schema, &env);
    assert_int_equal(gsai_schema_add(&schema, "a", 1, GSAI_FIELD_NUMBER, NULL), GSA_OK);
    assert_int_equal(gsai_schema_add(&schema, "a", 1, GSAI_FIELD_CATEGORICAL, NULL), GSA_ARGUMENT);
    assert_int_equal(gsai_schema_add(&schema, "", 0, GSAI_FIELD_CATEGORICAL, NULL), GSA_ARGUMENT);
    assert_int_equal(gsai_schema_add(&schema, "\xFF", 1, GSAI_FIELD_CATEGORICAL, NULL), GSA_ARGUMENT);
    assert_int_equal(gsai_schema_add(&schema, "a\0b", 3, GSAI_FIELD_CATEGORICAL, NULL), GSA_ARGUMENT);
    assert_int_equal(schema.n_fields, 1);
    gsai_schema_free(&schema);
}

static void other_texts_are_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",
        "greedystep schema 3\n",
        "greedystep schema 2\ncolumns named\nbits 24\nnumber a",
        "greedystep schema 2\nbits 24\ncolumns named\nnumber a\n",
        "greedystep schema 2\ncolumns named\nbits 0\nnumber a\n",
        "greedystep schema 2\ncolumns named\nbits 32\nnumber a\n",
        "greedystep schema 2\ncolumns named\nbits 24\nnumber a\nnumber a\n",
        "greedystep schema 2\ncolumns named\nbits 24\nnumber a\\x\n",
        "greedystep schema 2\ncolumns named\nbits 24\nnumber \n",
        "greedystep schema 2\ncolumns named\nbits 24\nnumb a\n",
        "greedystep schema 2\ncolumns named\nbits 24\nnumber a\\\n",
        "greedystep schema 2\ncolumns named\nbits 24\nnumber a\ncross a\tb\n",
        "greedystep schema 2\ncolumns named\nbits 24\nnumber a\ncross a\n",
        "greedystep schema 2\ncolumns bent\nbits 24\nnumber a\n",
        "greedystep schema 2\ncolumns named\nbits 24\nnumber a\tmean=x\n",
        "greedystep schema 2\ncolumns named\nbits 24\nnumber a\tmean=1e99\n",
        "greedystep schema 2\ncolumns named\nbits 24\nnumber a\tdecimal=.\n",
        "greedystep schema 2\ncolumns named\nbits 24\nnumber a\tunit=1234567890123456\n",
        "greedystep schema 2\ncolumns named\nbits 24\nnumber a\torder=year\n",
        "greedystep schema 2\ncolumns named\nbits 24\nnumber a\tmissing\n",
        "greedystep schema 2\ncolumns named\nbits 24\nnumber a\tnumber\n",
        "greedystep schema 2\ncolumns named\nbits 24\nnumber a\tunit=$\tformatted\n",
        "greedystep schema 2\ncolumns named\nbits 24\nlabel a\twords\tnumber\n",
        "greedystep schema 2\ncolumns named\nbits 24\nnumber a\toffset=1e99\n",
        "greedystep schema 2\ncolumns named\nbits 24\nnumber a\toffset=0\n",
        "greedystep schema 2\ncolumns named\nbits 24\nnumber a\tmean=1\toffset=2\n",
        "greedystep schema 2\ncolumns named\nbits 24\nwords a\toffset=2\n",
        "greedystep schema 2\ncolumns named\nbits 24\nlabel a\toffset=2\n",
        "greedystep schema 2\ncolumns named\nbits 24\nwords a\tmean=1\n",
        "greedystep schema 2\ncolumns named\nbits 24\nwords a\tincreasing\n",
        "greedystep schema 2\ncolumns named\nbits 24\ndate a\tincreasing\n",
        "greedystep schema 2\ncolumns named\nbits 24\nlabel a\tdecreasing\n",
        "greedystep schema 2\ncolumns named\nbits 24\nnumber a\tincreasing=1\n",
        "greedystep schema 2\ncolumns named\nbits 24\nnumber a\tincreasing\tdecreasing\n",
        "greedystep schema 2\ncolumns named\nbits 24\nnumber a\tdecreasing\tmean=1\n",
        "greedystep schema 2\ncolumns named\nbits 24\nnumber a\tincreasing\nnumber b\ncross a\tb\n",
        "greedystep schema 2\ncolumns named\nbits 24\nnumber a\tdeviation=1\n",
        "greedystep schema 2\ncolumns named\nbits 24\nnumber a\tdeviation=-1\nper b\n",
        "greedystep schema 2\ncolumns named\nbits 24\nper b\tdeviation=1\n",
        "greedystep schema 2\ncolumns named\nbits 31\nnumber a\nper b\n",
        "greedystep schema 2\ncolumns named\nbits 1\nnumber a\nnumber c\nper b\n"};
    gsai_env env = gsai_env_resolve(NULL);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        gsai_schema schema;
        gsa_error error = {0};
        gsai_schema_init(&schema, &env);
        assert_int_not_equal(gsai_schema_parse(&schema, texts[i], &error), GSA_OK);
        assert_true(strlen(error.message) > 0);
        assert_null(schema.text);
        gsai_schema_free(&schema);
    }
}

static void columns_stay_within_a_quarter_of_the_memory_limit(void **state)
{
    (void)state;
    gsai_env env =
        gsai_env_resolve(&(gsai_env){.memory.budget = &(gsa_budget){.size = sizeof(gsa_budget), .limit = 64 << 10}});
    gsai_schema schema;
    gsa_error error = {0};
    gsa_status status = GSA_OK;
    char name[16];
    gsai_schema_init(&schema, &env);
    for (int i = 0; i < 1000 && status == GSA_OK; i++) {
        snprintf(name, sizeof name, "c%d", i);
        status = gsai_schema_add(&schema, name, strlen(name), GSAI_FIELD_NUMBER, &error);
    }
    assert_int_equal(status, GSA_LIMIT);
    assert_true(schema.n_fields >= 20 && schema.n_fields <= 40);
    assert_non_null(strstr(error.message, "a quarter of the memory limit"));
    gsai_schema_free(&schema);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_schema_survives_its_text),
        cmocka_unit_test(a_name_stands_once_and_is_text),
        cmocka_unit_test(other_texts_are_refused),
        cmocka_unit_test(columns_stay_within_a_quarter_of_the_memory_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
