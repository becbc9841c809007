/* Arrays of NumPy: what a header may say, which rows and labels follow, and that a cache keeps them. */
#include "unit/data/caches.h"

#include "base/byte_order.h"
#include "base/half.h"
#include "base/hash.h"
#include "data/format/cache.h"

#include <math.h>

/* A file with this dictionary, of version `major`, and these bytes behind it. */
static content make_npy(int major, const char *dictionary, const void *items, size_t size)
{
    size_t n_lead = major == 1 ? 10 : 12, n = strlen(dictionary);
    content c = {checked(malloc(n_lead + n + size)), n_lead + n + size};
    memcpy(c.bytes, "\x93NUMPY", 6);
    c.bytes[6] = (unsigned char)major;
    c.bytes[7] = 0;
    for (size_t i = 8; i < n_lead; i++)
        c.bytes[i] = (unsigned char)(n >> 8 * (i - 8));
    memcpy(c.bytes + n_lead, dictionary, n);
    if (size > 0)
        memcpy(c.bytes + n_lead + n, items, size);
    return c;
}

#define DICTIONARY(type, shape) "{'descr': '" type "', 'fortran_order': False, 'shape': " shape ", }   \n"

/* Everything that is read of rows and the labels in a file, or the message. */
static char *tell(const content *rows, const content *labels, const gsai_reader_sizes *sizes, int skip)
{
    static const gsai_reader_sizes defaults = {0};
    char path[PATH_SIZE];
    make_file(path, labels ? labels->bytes : (const void *)"", labels ? labels->size : 0);
    const gsa_reader_options options = {.size = sizeof options, .labels = labels ? path : NULL, .skip_bad_rows = skip};
    gsa_reader *reader = NULL;
    gsa_error error = {0};
    gsa_status status;
    assert_int_equal(gsai_reader_open_bytes(rows->bytes, rows->size, "x.npy", NULL, &options, sizes ? sizes : &defaults,
                                            NULL, &reader, &error),
                     GSA_OK);
    char *text = dump_reader(reader, &status, &error);
    if (status != GSA_END) {
        char *found = strstr(error.message, path); /* its name is another every time */
        if (found)
            memmove(found, found + strlen(path) - 1, strlen(found + strlen(path)) + 2);
        free(text);
        text = strdup(error.message);
    }
    gsa_reader_close(reader);
    unlink(path);
    return text;
}

static void expect(const content *rows, const content *labels, int skip, const char *part)
{
    char *told = tell(rows, labels, NULL, skip);
    if (!strstr(told, part))
        fail_msg("expected '%s', found '%s'", part, told);
    free(told);
}

static const float x[] = {1, 0, 0.5f, -2, 3, 65504};

static void rows_of_all_types_are_the_same(void **state)
{
    (void)state;
    double wide[6];
    uint16_t half[6];
    unsigned char big[24];
    for (size_t i = 0; i < 6; i++) {
        wide[i] = (double)x[i];
        for (size_t b = 0; b < 4; b++)
            big[4 * i + b] = ((const unsigned char *)x)[4 * i + 3 - b];
    }
    assert_true(gsai_half_write(GSA_HALF_F16, x, 6, half));
    const signed char y[] = {1, -1};
    content labels = make_npy(1, DICTIONARY("|i1", "(2,)"), y, 2);
    content files[] = {make_npy(1, DICTIONARY("<f4", "(2, 3)"), x, sizeof x),
                       make_npy(2, DICTIONARY("<f4", "(2,3)"), x, sizeof x),
                       make_npy(3, "{'shape':(2, 3),'fortran_order':False,'descr':'<f4'}", x, sizeof x),
                       make_npy(1, DICTIONARY("<f8", "(2, 3)"), wide, sizeof wide),
                       make_npy(1, DICTIONARY("<f2", "(2, 3)"), half, sizeof half),
                       make_npy(1, DICTIONARY(">f4", "(2, 3)"), big, sizeof big)};
    char *first = tell(&files[0], &labels, NULL, 0);
    assert_string_equal(first, "0:1@18446744073709551615 0x1p+0 0=0x1p+0 2=0x1p-1\n"
                               "0:2@18446744073709551615 -0x1p+0 0=-0x1p+1 1=0x1.8p+1 2=0x1.ffcp+15\n-- values\n");
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        const gsai_reader_sizes sizes = {.read = 1 + i};
        char *told = tell(&files[i], &labels, i > 0 ? &sizes : NULL, 0);
        assert_string_equal(told, first);
        free(told);
        free(files[i].bytes);
    }
    free(first);
    free(labels.bytes);
}

/* The schema is that of the same columns in a table, and a model's is applied. */
static void columns_far_from_zero_are_measured_from_an_offset(void **state)
{
    (void)state;
    const double items[] = {1700000003, 0.5, 1700000000, 1, 1699999991, 2};
    content rows = make_npy(1, DICTIONARY("<f8", "(3, 2)"), items, sizeof items);
    static const char schema[] = "greedystep schema 2\ncolumns named\nbits 24\nnumber 1\toffset=1700000000\tmean=-2\n"
                                 "number 2\tmean=1.16666663\nlabel label\n";
    static const char *const expected[] = {"0=0x1.8p+1 1=0x1p-1\n", " 1=0x1p+0\n", "0=-0x1.2p+3 1=0x1p+1\n"};
    const float y[] = {1, 0, 1};
    content labels = make_npy(1, DICTIONARY("<f4", "(3,)"), y, sizeof y);
    char path[PATH_SIZE];
    make_file(path, labels.bytes, labels.size);
    for (size_t pass = 0; pass < 5; pass++) {
        const gsai_reader_sizes sizes = {.read = 1 + pass * 7};
        gsa_reader_options options = {.size = sizeof options, .labels = path, .without_offsets = pass > 2};
        gsa_reader *reader = NULL;
        gsa_error error = {0};
        gsa_status status;
        assert_int_equal(
            gsai_reader_open_bytes(rows.bytes, rows.size, "x.npy", NULL, &options, &sizes, NULL, &reader, NULL),
            GSA_OK);
        if (pass > 1 && pass < 4)
            assert_int_equal(gsa_reader_set_schema(reader, schema, NULL), GSA_OK);
        char *text = dump_reader(reader, &status, &error);
        assert_int_equal(status, GSA_END);
        for (size_t i = 0; i < 3; i += pass == 4 ? 2 : 1) /* the row in the middle has the offset itself */
            assert_true((strstr(text, expected[i]) != NULL) == (pass < 4));
        if (pass < 4)
            assert_string_equal(gsa_reader_schema(reader), schema);
        else
            assert_null(gsa_reader_schema(reader));
        if (pass == 0)
            assert_string_equal(gsa_reader_description(reader),
                                "x.npy: an array of 2 columns; column 1 is measured from 1700000000");
        free(text);
        gsa_reader_close(reader);
    }
    unlink(path);
    free(labels.bytes);
    free(rows.bytes);
}

static void an_array_has_as_many_columns_as_its_model(void **state)
{
    (void)state;
    const float items[] = {1, 2, 3, 4};
    content rows = make_npy(1, DICTIONARY("<f4", "(1, 4)"), items, sizeof items);
    static const char *const schemas[] = {"number a\nnumber b\n", "number a\nnumber b\nnumber c\nnumber d\nwords e\n"};
    static const char *const messages[] = {
        "x.npy has 4 columns, and the model 2",
        "x.npy is an array (.npy), and a table was expected, which the model was trained on"};
    for (size_t i = 0; i < 2; i++) {
        char schema[256];
        snprintf(schema, sizeof schema, "greedystep schema 2\ncolumns named\nbits 24\n%slabel y\n", schemas[i]);
        const gsa_reader_options options = {.size = sizeof options, .without_labels = 1};
        const gsai_reader_sizes sizes = {0};
        gsa_reader *reader = NULL;
        gsa_error error = {0};
        assert_int_equal(
            gsai_reader_open_bytes(rows.bytes, rows.size, "x.npy", NULL, &options, &sizes, NULL, &reader, NULL),
            GSA_OK);
        assert_int_equal(gsa_reader_set_schema(reader, schema, NULL), GSA_OK);
        assert_int_equal(gsa_reader_begin(reader, &error), GSA_ARGUMENT);
        assert_string_equal(error.message, messages[i]);
        gsa_reader_close(reader);
    }
    free(rows.bytes);
}

static void bf16_has_two_bytes_without_a_name(void **state)
{
    (void)state;
    const uint16_t item[] = {0x3F80, 0x7F00}; /* 1 and 2^127 */
    content rows = make_npy(1, DICTIONARY("<V2", "(2,)"), item, sizeof item);
    const double y[] = {0.5, 2};
    content labels = make_npy(1, DICTIONARY("<f8", "(2, 1)"), y, sizeof y);
    expect(&rows, &labels, 0, " 0x1p-1 0=0x1p+0\n");
    expect(&rows, &labels, 0, " 0x1p+1 0=0x1p+127\n");
    free(rows.bytes);
    free(labels.bytes);
}

static void labels_are_numbers_or_texts(void **state)
{
    (void)state;
    content rows = make_npy(1, DICTIONARY("<f4", "(2, 3)"), x, sizeof x);
    const uint32_t wide[] = {0xE9, 0x1F600, 'b', 0};
    const uint32_t surrogate[] = {0xD800, 0, 'b', 0};
    const int64_t large[] = {1, INT64_C(9007199254740993)};
    const double nan[] = {1, NAN};
    const struct {
        const char *dictionary;
        const void *items;
        size_t size;
        const char *part;
    } cases[] = {{DICTIONARY("<U2", "(2,)"), wide, sizeof wide, "'\xC3\xA9\xF0\x9F\x98\x80' 0="},
                 {DICTIONARY("|S2", "(2,)"), "ab\0b", 4, "row 2: its label in X: a label must be UTF-8"},
                 {DICTIONARY("|S2", "(2,)"), "abc\0", 4, "'c' 0="},
                 {DICTIONARY("<U2", "(2,)"), surrogate, sizeof surrogate, "row 1: its label in"},
                 {DICTIONARY("|b1", "(2,)"), "\1\0", 2, " 0x0p+0 0=-0x1p+1"},
                 {DICTIONARY("<u2", "(2,)"), "\1\0\xFF\xFF", 4, " 0x1.fffep+15 0="},
                 {DICTIONARY("<i8", "(2,)"), large, sizeof large, "beyond 2^53"},
                 {DICTIONARY("<f8", "(2,)"), nan, sizeof nan, "row 2: its label in"},
                 {DICTIONARY("|i1", "(3,)"), "\1\2\3", 3, "x.npy has 2 rows and "},
                 {DICTIONARY("|i1", "(2, 2)"), "\1\2\3\4", 4, "has 2 columns: expected one label per row"},
                 {DICTIONARY("|i1", "(2,)"), "\1", 1, "ends before the last row"},
                 {DICTIONARY("|i1", "(2,)"), "\1\2\3", 3, "goes on behind the last row"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        content labels = make_npy(1, cases[i].dictionary, cases[i].items, cases[i].size);
        if (i == 1)
            memcpy(labels.bytes + labels.size - 4, "ab\xFF\xFE", 4);
        expect(&rows, &labels, 0, i == 1 ? "a label must be UTF-8" : cases[i].part);
        free(labels.bytes);
    }
    expect(&rows, NULL, 0, "x.npy holds rows without labels");
    free(rows.bytes);
}

static void values_that_are_not_finite_are_named_or_skipped(void **state)
{
    (void)state;
    const double y[] = {1, 2, 3}, bad[] = {1, 2, NAN, 4, 5, 6}, beyond[] = {1, 2, 3, 1e39, 5, 6};
    content labels = make_npy(1, DICTIONARY("<f8", "(3,)"), y, sizeof y);
    content rows = make_npy(1, DICTIONARY("<f8", "(3, 2)"), bad, sizeof bad);
    expect(&rows, &labels, 0, "x.npy, row 2: column 1 holds no number (NaN): values must be finite");
    expect(&rows, &labels, 1, "0x1.8p+1 0=0x1.4p+2 1=0x1.8p+2\n-- values");
    free(rows.bytes);
    rows = make_npy(1, DICTIONARY("<f8", "(3, 2)"), beyond, sizeof beyond);
    expect(&rows, &labels, 0, "row 2: column 2 holds an infinite number");
    free(rows.bytes);
    free(labels.bytes);
}

static void headers_that_cannot_be_are_refused(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3)}", "in Fortran order"},
        {"{'descr': '<c8', 'fortran_order': False, 'shape': (2, 3)}", "another type than numbers or texts"},
        {"{'descr': '<f3', 'fortran_order': False, 'shape': (2, 3)}", "another type"},
        {"{'descr': '|O', 'fortran_order': False, 'shape': (2, 3)}", "holds Python objects"},
        {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,)}", "it holds records"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3, 4)}", "has 3 dimensions"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': ()}", "has 0 dimensions"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 0)}", "has 0 columns"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 4294967296)}", "has 4294967296 columns"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 99999999999999999999999)}", "makes no sense"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2 3)}", "makes no sense"},
        {"{'descr': '<f4', 'fortran_order': False}", "makes no sense"},
        {"{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)}", "makes no sense"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)} x", "makes no sense"},
        {"{'descr': '<U4', 'fortran_order': False, 'shape': (2, 3)}", "holds texts"},
        {"", "makes no sense"},
    };
    const double y[] = {1, 2};
    content labels = make_npy(1, DICTIONARY("<f8", "(2,)"), y, sizeof y);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        content rows = make_npy(1, cases[i][0], x, sizeof x);
        expect(&rows, &labels, 0, cases[i][1]);
        free(rows.bytes);
    }
    content rows = make_npy(4, DICTIONARY("<f4", "(2, 3)"), x, sizeof x);
    expect(&rows, &labels, 0, "of version 1, 2 or 3");
    rows.bytes[6] = 1;
    rows.bytes[9] = 0xFF;
    expect(&rows, &labels, 0, "is cut off or too long");
    free(rows.bytes);
    rows = make_npy(1, DICTIONARY("<f4", "(2, 3)"), x, sizeof x - 1);
    expect(&rows, &labels, 0, "x.npy ends before the last row that its header tells of");
    free(rows.bytes);
    rows = make_npy(1, DICTIONARY("<f4", "(2, 2)"), x, sizeof x);
    expect(&rows, &labels, 0, "x.npy goes on behind the last row that its header tells of");
    free(rows.bytes);
    free(labels.bytes);
}

/* ---- dense blocks of caches ------------------------------------------------------------------------------------- */

/* 300 rows of 20 values, of which few are zero: halves (form 2), the upper halves of floats (3), or others (1). */
static table make_dense_table(unsigned form)
{
    table t = make_table(300, WITH_WORDS | WITH_VALUES | WITH_WEIGHTS, form);
    free(t.index);
    free(t.value);
    t.index = checked(malloc(300 * 20 * sizeof *t.index));
    t.value = checked(malloc(300 * 20 * sizeof *t.value));
    uint64_t random = form;
    int64_t n = 0;
    for (size_t r = 0; r < 300; r++, t.row_start[r] = n)
        for (uint32_t i = 0; i < 20; i++) {
            uint64_t draw = next_random(&random);
            if (draw % 5 == 0 && (r > 0 || i < 19))
                continue;
            t.index[n] = i;
            float value = (float)(1 + draw % 63) * (form == 3 ? 0x1p60f : 0x1p-24f);
            t.value[n] = form == 1 && n == 7 ? 0.1f : draw & 64 ? value : -value;
            n++;
        }
    t.batch.index = t.index;
    t.batch.value = t.value;
    return t;
}

static void dense_rows_come_back_in_the_smallest_form_that_is_exact(void **state)
{
    (void)state;
    for (unsigned form = 1; form <= 3; form++) {
        table t = make_dense_table(form);
        content c = write_cache(&t.batch, 300), again = write_cache(&t.batch, 7);
        gsai_cache_header header;
        assert_true(gsai_cache_header_read(c.bytes + GSAI_CACHE_HEAD_SIZE, &header));
        assert_int_equal(header.flags >> GSAI_CACHE_FORM_SHIFT & 0xFF, form);
        assert_int_equal(header.flags >> GSAI_CACHE_WIDTH_SHIFT, 20);
        assert_int_equal(header.n_entries, t.row_start[300]);
        assert_int_equal(c.size, again.size);
        assert_memory_equal(c.bytes, again.bytes, c.size);
        expect_all_rows(&c, &t.batch, NULL, NULL);
        for (size_t piece = 1; piece < 9; piece += 3) {
            gsai_reader_sizes sizes = {.buffer = piece, .read = 5 * piece, .batch_rows = 97 * piece};
            expect_all_rows(&c, &t.batch, &sizes, NULL);
        }
        free(c.bytes);
        free(again.bytes);
        free_table(&t);
    }
}

/* Values of a dense block, with right hashes: what is not finite, and a number of entries that is not theirs. */
static void a_dense_block_that_lies_is_refused(void **state)
{
    (void)state;
    for (int lie = 0; lie < 4; lie++) {
        table t = make_dense_table(2);
        content c = write_cache(&t.batch, 300);
        unsigned char *header = c.bytes + GSAI_CACHE_HEAD_SIZE;
        uint64_t payload = gsai_load_u64(header + 8), flags = gsai_load_u64(header + 64);
        uint64_t values = 8 * gsai_load_u64(header + 48);
        values += flags & GSAI_CACHE_WEIGHTS ? 4 * gsai_load_u64(header + 32) : 0;
        if (lie == 0) /* infinite or not a number, as a half */
            header[GSAI_CACHE_HEADER_SIZE + values + 1] = 0x7C;
        if (lie == 1)
            gsai_store_u64(gsai_load_u64(header + 40) + 1, header + 40);
        if (lie == 2) /* wider */
            gsai_store_u64(flags + ((uint64_t)1 << GSAI_CACHE_WIDTH_SHIFT), header + 64);
        if (lie == 3) /* a form that there is not */
            gsai_store_u64(flags + (2 << GSAI_CACHE_FORM_SHIFT), header + 64);
        gsai_store_u64(gsai_hash(header + GSAI_CACHE_HEADER_SIZE, (size_t)payload, 0), header + 16);
        gsai_store_u64(gsai_hash(header, 72, 0), header + 72);
        gsa_status status;
        gsa_error error = {0};
        assert_int_equal(expect_rows(open_bytes(c.bytes, c.size, NULL, NULL), &t.batch, &status, &error), 0);
        assert_int_equal(status, GSA_FORMAT);
        free(c.bytes);
        free_table(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_all_types_are_the_same),
        cmocka_unit_test(columns_far_from_zero_are_measured_from_an_offset),
        cmocka_unit_test(an_array_has_as_many_columns_as_its_model),
        cmocka_unit_test(bf16_has_two_bytes_without_a_name),
        cmocka_unit_test(labels_are_numbers_or_texts),
        cmocka_unit_test(values_that_are_not_finite_are_named_or_skipped),
        cmocka_unit_test(headers_that_cannot_be_are_refused),
        cmocka_unit_test(dense_rows_come_back_in_the_smallest_form_that_is_exact),
        cmocka_unit_test(a_dense_block_that_lies_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
