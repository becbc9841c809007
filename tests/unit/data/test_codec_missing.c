/* A build without any codec library: linked with a data room that was compiled so. */
#include "unit/data/support.h"

static void codec_that_is_missing_names_the_library_to_build_with(void **state)
{
    (void)state;
    static const struct {
        const char *content;
        const char *message;
    } cases[] = {
        {"\x1F\x8B\x08\0\0\0\0\0\0\0\0\0", "compressed with gzip, which this build cannot read: build it with zlib"},
        {"\x28\xB5\x2F\xFD\0\0\0\0\0\0\0\0",
         "compressed with zstd, which this build cannot read: build it with libzstd"},
        {"\xFD"
         "7zXZ\0\0\0\0\0\0\0",
         "compressed with xz, which this build cannot read: build it with liblzma"},
        {"BZh91AY&SY\0\0", "compressed with bzip2, which this build cannot read: build it with libbz2"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        gsa_reader *reader = open_text(cases[i].content, 12, NULL, 1, NULL);
        gsa_error error;
        gsa_batch batch;
        assert_int_equal(gsa_reader_next(reader, &batch, &error), GSA_UNSUPPORTED);
        assert_non_null(strstr(error.message, cases[i].message));
        gsa_reader_close(reader);
    }
}

static void codec_that_is_missing_is_listed_without_a_version(void **state)
{
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        const char *version = "something";
        assert_non_null(gsa_codec_at(i, &version));
        assert_null(version);
    }
}

static void codec_that_is_missing_is_not_written(void **state)
{
    (void)state;
    gsa_writer *writer = NULL;
    gsa_error error;
    assert_int_equal(gsa_writer_open("/tmp/gsa-never.svm.gz", NULL, NULL, NULL, &writer, &error), GSA_UNSUPPORTED);
    assert_string_equal(error.message, "cannot write /tmp/gsa-never.svm.gz: this build does not compress with gzip; "
                                       "build it with zlib, or leave out .gz");
    assert_int_not_equal(access("/tmp/gsa-never.svm.gz", F_OK), 0);
}

static void plain_text_needs_no_codec(void **state)
{
    (void)state;
    char *dump = dump_text("1 1:1\n", 6, NULL, NULL);
    assert_string_equal(dump, "0:1@0 0x1p+0 0\n-- ones\n");
    free(dump);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(codec_that_is_missing_names_the_library_to_build_with),
        cmocka_unit_test(codec_that_is_missing_is_listed_without_a_version),
        cmocka_unit_test(codec_that_is_missing_is_not_written),
        cmocka_unit_test(plain_text_needs_no_codec),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
