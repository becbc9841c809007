/* Readers that begin in the middle: the rows of all parts are those of one reader, each once, and from any place on
 * they are the same. */
#include "shares.h"

static void lines_are_dealt_out_and_found(void **state)
{
    (void)state;
    static const flavour flavours[] = {{"\n", true, false},    {"\r\n", true, false}, {"\n", false, false},
                                       {"\r\n", false, false}, {"\n", true, true},    {"\r\n", false, true}};
    for (size_t i = 0; i < sizeof flavours / sizeof *flavours; i++) {
        input in = {0};
        add_made(&in, 60, 3 + i, flavours[i]);
        expect_both(&in, 0, true);
        free_input(&in);
    }
}

static void every_cut_of_a_short_text_is_right(void **state)
{
    (void)state;
    static const char *const texts[] = {"1 1:1\n2 2:2\n3 3:3\n",
                                        "1\n2\n3",
                                        "\n\n1\n\n\n2\n",
                                        "1\r\n\r\n2\r\n",
                                        "\357\273\2771 1:1\n2 1:1\n",
                                        "# c\n1 1:1 # x\n# d\n",
                                        "1",
                                        "\n",
                                        "# nothing\n",
                                        "1 1:1 2:1 3:1 4:1 5:1 6:1 7:1 8:1 9:1\n2\n"};
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++)
        for (int in_memory = 0; in_memory < 2; in_memory++) {
            input in = {.format = gsai_format_libsvm()};
            if (in_memory)
                set_memory(&in, texts[t], strlen(texts[t]));
            else
                add_text(&in, texts[t]);
            list wanted = all_rows(&in);
            for (size_t s = 0; s < N_SIZES; s++) {
                gsa_reader *reader = open_with(&in, &all_sizes[s], NULL);
                for (uint64_t n_parts = 1; n_parts <= 2 * strlen(texts[t]) + 1; n_parts++)
                    expect_parts(&in, reader, &wanted, n_parts);
                gsa_reader_close(reader);
            }
            free_list(&wanted);
            free_input(&in);
        }
}

static void several_files_are_one_input(void **state)
{
    (void)state;
    input in = {.format = gsai_format_libsvm()};
    add_text(&in, "");
    add_made(&in, 20, 5, (flavour){"\n", false, false});
    add_text(&in, "# only a comment");
    add_text(&in, "1 7:1");
    add_text(&in, "");
    add_made(&in, 30, 6, (flavour){"\r\n", true, false});
    expect_both(&in, 0, true);
    free_input(&in);
    input nothing = {.format = gsai_format_libsvm()};
    add_text(&nothing, "");
    add_text(&nothing, "");
    expect_shares(&nothing);
    free_input(&nothing);
}

static void compressed_files_go_to_one_part_each(void **state)
{
    (void)state;
    char *text = make_text(40, 8, (flavour){"\n", true, false});
    input in = {0};
    add_made(&in, 20, 5, (flavour){"\n", true, false});
    add_packed(&in, text);
    add_packed(&in, "1 1:1\n");
    add_made(&in, 20, 7, (flavour){"\n", false, false});
    add_cache(&in, text, ".gsac.gz");
    add_packed(&in, text);
    expect_both(&in, 0, false);
    free_input(&in);
    free(text);
}

static void tables_go_to_one_part_each_and_are_entered_at_any_row(void **state)
{
    (void)state;
    input in = {0};
    add_file(&in, "y,a,b\n1,2," QUOTED "\n0,3,word\n\n1,,\"x\"\n",
             strlen("y,a,b\n1,2," QUOTED "\n0,3,word\n\n1,,\"x\"\n"), false);
    add_file(&in, "b,y,a\r\nword,1,5\r\n" QUOTED ",0,6", strlen("b,y,a\r\nword,1,5\r\n" QUOTED ",0,6"), false);
    add_file(&in, "\357\273\277y,a,b\r1,2,word\r0,3," QUOTED "\r1,4,\"\"\r",
             strlen("\357\273\277y,a,b\r1,2,word\r0,3," QUOTED "\r1,4,\"\"\r"), false);
    expect_both(&in, 0, true);
    free_input(&in);
    input bare = {0}; /* without a header, so that the first row is behind the byte order mark */
    add_file(&bare, "\357\273\2771,2,3\n0,4,5\n1,6,7\n", strlen("\357\273\2771,2,3\n0,4,5\n1,6,7\n"), false);
    expect_both(&bare, 0, true);
    free_input(&bare);
}

static void add_many(input *in, size_t n_rows)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    for (size_t r = 0; r < n_rows; r++)
        fprintf(out, "%s %zu:%zu\n", r % 70000 == 3 ? "rare" : r % 3 ? "1" : "word", 1 + r * 7 % 1000, 1 + r % 5);
    fclose(out);
    add_cache(in, text, ".gsac");
    free(text);
}

/* Caches first, then text, which has to be read. */
static input caches_and_text(void)
{
    input in = {0};
    add_many(&in, 50);
    add_many(&in, 140000);
    add_made(&in, 20, 5, (flavour){"\n", true, false});
    return in;
}

static void blocks_of_a_cache_are_dealt_out(void **state)
{
    (void)state;
    input in = caches_and_text();
    list wanted = all_rows(&in);
    gsa_reader *reader = open_with(&in, &all_sizes[0], NULL);
    for (uint64_t n_parts = 1; n_parts <= 17; n_parts += n_parts < 4 ? 1 : 13)
        expect_parts(&in, reader, &wanted, n_parts);
    static const size_t to[] = {0,          1,           49,          50,     51,     50 + 65535,
                                50 + 65536, 50 + 131071, 50 + 131072, 140049, 140050, 140069};
    for (size_t i = 0; i < sizeof to / sizeof *to; i++)
        expect_rest(reader, &wanted, to[i], i % 3 == 0 ? SIZE_MAX : 5000, false);
    gsa_reader_close(reader);
    free_list(&wanted);
    free_input(&in);
    input small = {0}; /* cuts in every part of the file */
    add_many(&small, 50);
    expect_both(&small, 0, false);
    size_t size;
    void *bytes = load_file(small.path[0], &size);
    input memory = {0};
    set_memory(&memory, bytes, size);
    free(bytes);
    expect_both(&memory, 0, false);
    free_input(&memory);
    free_input(&small);
    input table = {0}; /* a cache with a schema */
    add_cache(&table, "y,a,b\n1,2,x\n0,3,y\n1,,x\n", ".gsac");
    expect_both(&table, 0, false);
    free_input(&table);
}

static void blocks_of_a_cache_are_passed_over_by_what_their_headers_tell(void **state)
{
    (void)state;
    input in = caches_and_text();
    list wanted = all_rows(&in), rest = {0};
    for (uint64_t n_parts = 1; n_parts <= 3; n_parts++) {
        gsa_reader *reader = open_with(&in, &all_sizes[0], NULL);
        uint64_t at = 0, n_extents = 0;
        gsa_error error = {0};
        for (uint64_t part = 0; part < n_parts; part++) {
            gsa_row_range row_range;
            gsa_status status = gsa_reader_share(reader, part, n_parts, &error);
            while (status == GSA_OK && (status = gsa_reader_skip(reader, &row_range, &error)) == GSA_OK) {
                assert_int_equal(row_range.at.line, wanted.row[at].place.line);
                assert_int_equal(row_range.at.file, wanted.row[at].place.file);
                assert_int_equal(row_range.at.byte, wanted.row[at].place.byte);
                assert_int_equal(row_range.n_entries, row_range.n_rows); /* one a row */
                at += row_range.n_rows;
                n_extents++;
            }
            assert_true(status == (part + 1 == n_parts ? GSA_UNSUPPORTED : GSA_END));
        }
        assert_int_equal(at, 140050);
        assert_int_equal(n_extents, 4); /* 50; 65536, 65536 and the others */
        assert_int_equal(take_rows(reader, &rest, SIZE_MAX, &error), GSA_END);
        assert_int_equal(rest.n, wanted.n - 140050);
        assert_same_row(&rest.row[0], &wanted.row[140050], false);
        free_list(&rest);
        gsa_reader_close(reader);
    }
    free_list(&wanted);
    free_input(&in);
}

/* The bytes of a small cache, to be freed. */
static unsigned char *cache_bytes(size_t *size)
{
    input in = {0};
    add_many(&in, 30);
    unsigned char *bytes = load_file(in.path[0], size);
    free_input(&in);
    return bytes;
}

/* What a seek, or the rows after it, comes to. */
static gsa_status seek_in(const unsigned char *bytes, size_t size, gsa_place place, gsa_error *error)
{
    input in = {0};
    list got = {0};
    set_memory(&in, bytes, size);
    gsa_reader *reader = open_with(&in, &all_sizes[0], NULL);
    gsa_status status = gsa_reader_seek(reader, &place, error);
    if (status == GSA_OK)
        status = take_rows(reader, &got, SIZE_MAX, error);
    gsa_reader_close(reader);
    free_list(&got);
    free_input(&in);
    return status;
}

static void a_damaged_cache_is_not_entered(void **state)
{
    (void)state;
    size_t size;
    unsigned char *bytes = cache_bytes(&size);
    const gsa_place place = {7, UINT64_MAX, 0};
    gsa_error error;
    assert_int_equal(seek_in(bytes, size, place, &error), GSA_END);
    for (size_t at = 8; at < size; at++) { /* behind the magic, without which it is something else */
        bytes[at] ^= 0x10;
        assert_int_equal(seek_in(bytes, size, place, &error), GSA_FORMAT);
        assert_int_equal(seek_in(bytes, at, place, &error), GSA_FORMAT);
        bytes[at] ^= 0x10;
    }
    size_t index_at = (size_t)gsai_load_u64(bytes + size - GSAI_CACHE_FOOT_SIZE);
    unsigned char *entry = bytes + index_at + GSAI_CACHE_HEADER_SIZE;
    static const uint64_t lies[] = {0, 17, UINT64_C(1) << 63, UINT64_MAX, UINT64_MAX >> 1};
    for (size_t field = 0; field < 2; field++) /* with hashes that fit: another offset, other rows before the block */
        for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
            uint64_t right = gsai_load_u64(entry + 8 * field);
            if (lies[i] == right)
                continue;
            gsai_store_u64(lies[i], entry + 8 * field);
            gsai_store_u64(gsai_hash(entry, GSAI_CACHE_ENTRY_SIZE, 0), bytes + index_at + 16);
            gsai_store_u64(gsai_hash(bytes + index_at, 72, 0), bytes + index_at + 72);
            gsa_status status = seek_in(bytes, size, place, &error);
            assert_true(status == GSA_FORMAT || status == GSA_ARGUMENT || status == GSA_IO);
            gsai_store_u64(right, entry + 8 * field);
        }
    free(bytes);
}

static void generated_rows_are_dealt_out(void **state)
{
    (void)state;
    const gsa_generator what = {.n_rows = 10007, .n_features = 1000, .nnz = 5, .n_classes = 3, .seed = 4};
    gsa_reader *reader = NULL;
    gsa_error error;
    list wanted = {0};
    assert_int_equal(gsa_reader_open_generated(&what, NULL, &reader, &error), GSA_OK);
    assert_int_equal(take_rows(reader, &wanted, SIZE_MAX, &error), GSA_END);
    assert_int_equal(wanted.n, 10007);
    for (size_t i = 0; i < wanted.n; i++) {
        assert_int_equal(wanted.row[i].place.line, i + 1);
        assert_true(wanted.row[i].place.byte == UINT64_MAX);
    }
    for (uint64_t n_parts = 1; n_parts <= 17; n_parts++) {
        list got = {0};
        for (uint64_t part = 0; part < n_parts; part++) {
            size_t before = got.n;
            assert_int_equal(gsa_reader_share(reader, part, n_parts, &error), GSA_OK);
            assert_int_equal(take_rows(reader, &got, SIZE_MAX, &error), GSA_END);
            assert_true(got.n - before == 10007 / n_parts || got.n - before == 10007 / n_parts + 1);
        }
        assert_int_equal(got.n, wanted.n);
        for (size_t i = 0; i < got.n; i++)
            assert_same_row(&got.row[i], &wanted.row[i], false);
        free_list(&got);
    }
    for (size_t from = 0; from < wanted.n; from += 1429)
        expect_rest(reader, &wanted, from, SIZE_MAX, false);
    gsa_place beyond = {.line = 10008, .byte = UINT64_MAX}, none = {.line = 0, .byte = UINT64_MAX};
    assert_int_equal(gsa_reader_seek(reader, &beyond, &error), GSA_ARGUMENT);
    assert_string_equal(error.message, "row 10008: expected 1 to 10007");
    assert_int_equal(gsa_reader_seek(reader, &none, &error), GSA_ARGUMENT);
    gsa_reader_close(reader);
    free_list(&wanted);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_dealt_out_and_found),
        cmocka_unit_test(every_cut_of_a_short_text_is_right),
        cmocka_unit_test(several_files_are_one_input),
        cmocka_unit_test(compressed_files_go_to_one_part_each),
        cmocka_unit_test(tables_go_to_one_part_each_and_are_entered_at_any_row),
        cmocka_unit_test(blocks_of_a_cache_are_dealt_out),
        cmocka_unit_test(blocks_of_a_cache_are_passed_over_by_what_their_headers_tell),
        cmocka_unit_test(a_damaged_cache_is_not_entered),
        cmocka_unit_test(generated_rows_are_dealt_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
