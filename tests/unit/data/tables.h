/* Tables in memory, and what is expected of them. */
#ifndef GSA_TESTS_DATA_TABLES_H
#define GSA_TESTS_DATA_TABLES_H

#include "unit/data/support.h"

#include "base/hash.h"

static inline gsa_reader *open_table(const char *text, const gsa_reader_options *options,
                                     const gsai_reader_sizes *sizes)
{
    static const gsai_reader_sizes defaults = {0};
    gsa_reader *reader = NULL;
    assert_int_equal(gsai_reader_open_bytes(text, strlen(text), "t.csv", NULL, options, sizes ? sizes : &defaults, NULL,
                                            &reader, NULL),
                     GSA_OK);
    return reader;
}

/* The schema without its first line, which is always the same, and without means. */
static inline void expect_schema(const char *text, const gsa_reader_options *options, const char *expected)
{
    gsa_reader *reader = open_table(text, options, NULL);
    gsa_error error = {0};
    gsa_status status = gsa_reader_begin(reader, &error);
    if (status != GSA_OK)
        print_message("%s\n", error.message);
    assert_int_equal(status, GSA_OK);
    assert_non_null(gsa_reader_schema(reader));
    char text_of_kinds[1024], *out = text_of_kinds;
    const char *mean;
    for (const char *p = gsa_reader_schema(reader) + strlen("greedystep schema 2\n"); *p; p = mean) {
        mean = strstr(p, "\tmean=") ? strstr(p, "\tmean=") : p + strlen(p);
        assert_true((size_t)(mean - p) < sizeof text_of_kinds - (size_t)(out - text_of_kinds));
        memcpy(out, p, (size_t)(mean - p));
        out += mean - p;
        mean += *mean ? 1 + strcspn(mean + 1, "\t\n") : 0;
    }
    *out = '\0';
    assert_string_equal(text_of_kinds, expected);
    gsa_reader_close(reader);
}

static inline void expect_rows(const char *text, const gsa_reader_options *options, const char *expected)
{
    gsa_reader *reader = open_table(text, options, NULL);
    gsa_error error = {0};
    gsa_status status;
    char *dump = dump_reader(reader, &status, &error);
    if (status != GSA_END)
        print_message("%s\n", error.message);
    assert_int_equal(status, GSA_END);
    assert_string_equal(dump, expected);
    free(dump);
    gsa_reader_close(reader);
}

static inline void expect_failure(const char *text, const gsa_reader_options *options, gsa_status expected,
                                  const char *message)
{
    gsa_reader *reader = open_table(text, options, NULL);
    gsa_error error = {0};
    gsa_status status;
    free(dump_reader(reader, &status, &error));
    assert_int_equal(status, expected);
    assert_string_equal(error.message, message);
    gsa_reader_close(reader);
}

/* What another table had for columns. */
static const char *const model = "greedystep schema 2\ncolumns named\nbits 24\nlabel y\nnumber a\nwords c\nnumber b\n";

#endif
