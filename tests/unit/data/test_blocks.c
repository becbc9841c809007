/* Blocks of caches that are read apart, files that end blocks, and names that a cache keeps. */
#include "unit/data/caches.h"

#include "base/hash.h"

enum { ROWS = 140000, MAX_BLOCKS = 16 };

static gsa_reader *open_paths(const char *const *paths, size_t n, const gsa_reader_options *options)
{
    gsa_reader *reader = NULL;
    gsa_error error;
    if (gsa_reader_open(paths, n, options, NULL, NULL, &reader, &error) != GSA_OK)
        fail_msg("%s", error.message);
    return reader;
}

static size_t skip_all(gsa_reader *reader, gsa_row_range blocks[MAX_BLOCKS])
{
    size_t n = 0;
    gsa_error error;
    gsa_status status;
    while ((status = gsa_reader_skip(reader, &blocks[n], &error)) == GSA_OK)
        assert_true(++n < MAX_BLOCKS);
    assert_int_equal(status, GSA_END);
    return n;
}

static void every_block_is_found_and_read_alone(void **state)
{
    (void)state;
    table t = make_table(ROWS, WITH_WORDS | WITH_VALUES, 3);
    content c = write_cache(&t.batch, 7001);
    char path[PATH_SIZE];
    make_file(path, c.bytes, c.size);
    const char *paths[] = {path, path};
    gsa_reader *reader = open_paths(paths, 2, NULL);
    gsa_row_range block[MAX_BLOCKS];
    gsa_error error;
    gsa_batch batch;
    assert_int_equal(skip_all(reader, block), 6);
    for (size_t i = 6; i-- > 0;) {
        assert_int_equal(gsa_reader_seek(reader, &block[i].at, &error), GSA_OK);
        assert_int_equal(gsa_reader_next(reader, &batch, &error), GSA_OK);
        assert_int_equal(batch.n_rows, i % 3 < 2 ? 65536 : ROWS - 2 * 65536);
        assert_int_equal(batch.n_rows, block[i].n_rows);
        assert_int_equal(batch.row_start[batch.n_rows], block[i].n_entries);
        assert_int_equal(batch.place[0].file, i / 3);
        assert_true(block[i].hash == block[i % 3].hash && block[i].hash != block[(i + 1) % 3].hash);
        for (size_t r = 0; r < batch.n_rows; r++)
            assert_same_row(&batch, r, &t.batch, i % 3 * 65536 + r);
    }
    assert_int_equal(gsa_reader_rewind(reader, &error), GSA_OK);
    assert_int_equal(skip_all(reader, block), 6);
    gsa_reader_close(reader);
    unlink(path);
    free(c.bytes);
    free_table(&t);
}

static void blocks_of_a_file_are_views_that_stay(void **state)
{
    (void)state;
    table t = make_table(ROWS, WITH_VALUES, 5);
    content c = write_cache(&t.batch, 7001);
    char path[PATH_SIZE];
    make_file(path, c.bytes, c.size);
    const char *paths[] = {path};
    gsa_reader *reader = open_paths(paths, 1, NULL);
    gsa_error error;
    gsa_batch batch;
    const uint32_t *index[3] = {NULL};
    const float *value[3] = {NULL};
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < 3; i++) {
            assert_int_equal(gsa_reader_next(reader, &batch, &error), GSA_OK);
            assert_true(pass == 0 || !gsai_machine_is_little_endian() || batch.index == index[i]);
            index[i] = batch.index;
            value[i] = batch.value;
        }
        assert_int_equal(gsa_reader_next(reader, &batch, &error), GSA_END);
        assert_int_equal(gsa_reader_rewind(reader, &error), GSA_OK);
    }
    for (size_t i = 0; i < 3 && gsai_machine_is_little_endian(); i++) { /* also when another block was read */
        size_t from = (size_t)t.row_start[i * 65536], end = (size_t)t.row_start[i < 2 ? (i + 1) * 65536 : ROWS];
        assert_memory_equal(index[i], t.index + from, (end - from) * sizeof *t.index);
        assert_memory_equal(value[i], t.value + from, (end - from) * sizeof *t.value);
    }
    gsa_reader_close(reader);
    unlink(path);
    free(c.bytes);
    free_table(&t);
}

static void a_file_that_becomes_shorter_is_an_error(void **state)
{
    (void)state;
    table t = make_table(ROWS, 0, 7);
    content c = write_cache(&t.batch, ROWS);
    char path[PATH_SIZE];
    make_file(path, c.bytes, c.size);
    const char *paths[] = {path};
    gsa_reader *reader = open_paths(paths, 1, NULL);
    gsa_error error;
    gsa_batch batch;
    assert_int_equal(gsa_reader_next(reader, &batch, &error), GSA_OK);
    assert_int_equal(truncate(path, (off_t)c.size - 1), 0);
    assert_int_equal(gsa_reader_next(reader, &batch, &error), GSA_IO);
    assert_non_null(strstr(error.message, "it became shorter while it was read"));
    assert_int_equal(gsa_reader_rewind(reader, &error), GSA_OK); /* another file to the reader, and cut off */
    assert_int_equal(gsa_reader_next(reader, &batch, &error), GSA_FORMAT);
    assert_non_null(strstr(error.message, "no index at its end; was it cut off?"));
    gsa_reader_close(reader);
    unlink(path);
    free(c.bytes);
    free_table(&t);
}

/* Bytes that begin at an odd address, as those of a caller may, are copied. */
static void a_cache_in_memory_may_begin_anywhere(void **state)
{
    (void)state;
    table t = make_table(1000, WITH_VALUES | WITH_WEIGHTS | WITH_WORDS, 9);
    content c = write_cache(&t.batch, 1000);
    unsigned char *moved = checked(malloc(c.size + 1));
    memcpy(moved + 1, c.bytes, c.size);
    expect_all_rows(&(content){moved + 1, c.size}, &t.batch, NULL, NULL);
    free(moved);
    free(c.bytes);
    free_table(&t);
}

static void seek_refuses_what_is_no_block(void **state)
{
    (void)state;
    table t;
    content c = small_cache(&t);
    gsa_reader *reader = open_bytes(c.bytes, c.size, NULL, NULL);
    gsa_row_range block[MAX_BLOCKS];
    gsa_error error;
    gsa_batch batch;
    assert_int_equal(skip_all(reader, block), 1);
    const gsa_place here = block[0].at;
    const gsa_place wrong[] = {{here.line + 1, here.byte, 0},
                               {here.line, here.byte + 1, 0},
                               {here.line, here.byte, 1},
                               {1, UINT64_MAX, 0},
                               {0, 0, 0}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(gsa_reader_seek(reader, &wrong[i], &error), GSA_ARGUMENT);
        assert_int_equal(gsa_reader_next(reader, &batch, &error), GSA_ARGUMENT); /* no rows until the next seek */
    }
    assert_int_equal(gsa_reader_seek(reader, &here, &error), GSA_OK);
    assert_int_equal(gsa_reader_next(reader, &batch, &error), GSA_OK);
    gsa_reader_close(reader);
    free(c.bytes);
    free_table(&t);
}

static void a_damaged_cache_is_not_entered(void **state)
{
    (void)state;
    table t;
    content c = small_cache(&t);
    gsa_reader *whole = open_bytes(c.bytes, c.size, NULL, NULL);
    gsa_row_range block[MAX_BLOCKS];
    gsa_error error;
    assert_int_equal(skip_all(whole, block), 1);
    gsa_reader_close(whole);
    for (size_t at = 8; at < c.size; at++) { /* behind the magic, without which it is something else */
        gsa_batch batch;
        c.bytes[at] ^= 0x10;
        gsa_reader *reader = open_bytes(c.bytes, c.size, NULL, NULL);
        gsa_status status = gsa_reader_seek(reader, &block[0].at, &error);
        while (status == GSA_OK)
            status = gsa_reader_next(reader, &batch, &error);
        assert_int_equal(status, GSA_FORMAT);
        gsa_reader_close(reader);
        c.bytes[at] ^= 0x10;
    }
    free(c.bytes);
    free_table(&t);
}

static void only_plain_caches_have_blocks(void **state)
{
    (void)state;
    gsa_error error;
    gsa_row_range range;
    gsa_reader *reader = open_text("1 1:2\n", 6, NULL, 0, NULL);
    assert_int_equal(gsa_reader_skip(reader, &range, &error), GSA_UNSUPPORTED);
    assert_non_null(strstr(error.message, "text is not a plain cache"));
    assert_int_equal(gsa_reader_seek(reader, &(gsa_place){1, 0, 0}, &error), GSA_UNSUPPORTED);
    gsa_reader_close(reader);
    const gsa_generator what = {.size = sizeof what, .n_rows = 3, .n_features = 3, .nnz = 1, .n_classes = 2};
    assert_int_equal(gsa_reader_open_generated(&what, NULL, NULL, &reader, &error), GSA_OK);
    assert_int_equal(gsa_reader_skip(reader, &range, &error), GSA_UNSUPPORTED);
    assert_int_equal(gsa_reader_seek(reader, &(gsa_place){1, 0, 0}, &error), GSA_UNSUPPORTED);
    gsa_reader_close(reader);
}

/* Writes all rows and names of a reader to a cache, and closes the reader. */
static content convert(gsa_reader *reader)
{
    char path[PATH_SIZE];
    make_file(path, "", 0);
    gsa_writer *writer = NULL;
    gsa_batch batch;
    gsa_error error;
    uint64_t feature;
    const char *name;
    assert_int_equal(gsa_writer_open(path, "gsac", NULL, NULL, &writer, &error), GSA_OK);
    assert_int_equal(gsa_reader_begin(reader, &error), GSA_OK);
    assert_int_equal(gsa_writer_set_schema(writer, gsa_reader_schema(reader), &error), GSA_OK);
    while (gsa_reader_next(reader, &batch, &error) == GSA_OK)
        assert_int_equal(gsa_writer_write(writer, &batch, &error), GSA_OK);
    for (size_t i = 0; (name = gsa_reader_name_at(reader, i, &feature)) != NULL; i++)
        assert_int_equal(gsa_writer_add_name(writer, feature, name, &error), GSA_OK);
    assert_int_equal(gsa_writer_close(writer, &error), GSA_OK);
    gsa_reader_close(reader);
    return load_and_remove(path);
}

static const char *const tables[] = {"y,a,b\n1,2,x\n0,3,y\n1,4,x\n", "y,a,b\n0,2,z\n1,3,x\n"};
static const gsa_reader_options with_names = {.size = sizeof with_names, .remember_names = 1};

/* Both tables as files; names of them are written to paths. */
static gsa_reader *open_tables(char path[2][PATH_SIZE])
{
    const char *paths[] = {path[0], path[1]};
    for (size_t i = 0; i < 2; i++)
        make_file(path[i], tables[i], strlen(tables[i]));
    gsa_reader *reader = open_paths(paths, 2, &with_names);
    return reader;
}

static void a_block_of_a_cache_ends_with_the_file_its_rows_came_from(void **state)
{
    (void)state;
    char path[2][PATH_SIZE];
    content c = convert(open_tables(path));
    gsa_reader *reader = open_bytes(c.bytes, c.size, NULL, NULL);
    gsa_batch batch;
    gsa_error error;
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(gsa_reader_next(reader, &batch, &error), GSA_OK);
        assert_int_equal(batch.n_rows, 3 - i);
        assert_true(gsa_reader_begins_file(reader));
    }
    assert_int_equal(gsa_reader_next(reader, &batch, &error), GSA_END);
    gsa_reader_close(reader);
    for (size_t i = 0; i < 2; i++)
        unlink(path[i]);
    free(c.bytes);
}

static void a_cache_knows_the_names_of_its_categories(void **state)
{
    (void)state;
    char path[2][PATH_SIZE];
    content c = convert(open_tables(path));
    for (int by_headers = 0; by_headers < 2; by_headers++) {
        gsa_reader *text = open_tables(path), *reader = NULL;
        gsa_row_range block[MAX_BLOCKS];
        gsa_batch batch;
        gsa_error error;
        uint64_t feature, found;
        assert_int_equal(gsa_reader_open_memory(c.bytes, c.size, "c", &with_names, NULL, NULL, &reader, &error),
                         GSA_OK);
        if (by_headers)
            assert_int_equal(skip_all(reader, block), 2);
        while (!by_headers && gsa_reader_next(reader, &batch, &error) == GSA_OK) {
        }
        while (gsa_reader_next(text, &batch, &error) == GSA_OK) {
        }
        for (size_t i = 0; i < 3; i++) {
            const char *name = gsa_reader_name_at(text, i, &feature);
            assert_string_equal(name, i == 0 ? "b=x" : i == 1 ? "b=y" : "b=z");
            assert_string_equal(gsa_reader_name_at(reader, i, &found), name);
            assert_int_equal(found, feature);
            assert_string_equal(gsa_reader_name(reader, feature), name);
        }
        assert_null(gsa_reader_name_at(reader, 3, &found));
        gsa_reader_close(reader);
        gsa_reader_close(text);
        for (size_t i = 0; i < 2; i++)
            unlink(path[i]);
    }
    free(c.bytes);
}

/* Where the section of names begins. */
static unsigned char *names_of(const content *c)
{
    for (size_t at = GSAI_CACHE_HEAD_SIZE; at + GSAI_CACHE_HEADER_SIZE < c->size;) {
        if (gsai_load_u64(c->bytes + at) == GSAI_CACHE_NAMES)
            return c->bytes + at;
        const uint64_t size = gsai_load_u64(c->bytes + at + 8);
        at += GSAI_CACHE_HEADER_SIZE + (size_t)size + gsai_cache_padding(size);
    }
    fail_msg("no names");
    return NULL;
}

static void names_that_make_no_sense_are_refused(void **state)
{
    (void)state;
    char path[2][PATH_SIZE];
    content c = convert(open_tables(path));
    unsigned char *header = names_of(&c), *name = header + GSAI_CACHE_HEADER_SIZE;
    const uint64_t right = gsai_load_u64(name);
    const uint64_t wrong[] = {right + (UINT64_C(1) << 32), right | UINT64_C(0xFFFFFFFF) << 32,
                              right & ~UINT64_C(0xFFFFFFFF), right | UINT32_MAX};
    for (size_t i = 0; i <= sizeof wrong / sizeof *wrong; i++) {
        gsa_reader *reader = NULL;
        gsa_batch batch;
        gsa_error error;
        gsa_status status = GSA_OK;
        gsai_store_u64(i < sizeof wrong / sizeof *wrong ? wrong[i] : right, name);
        gsai_store_u64(gsai_hash(name, (size_t)gsai_load_u64(header + 8), 0), header + 16);
        gsai_store_u64(gsai_hash(header, 72, 0), header + 72);
        assert_int_equal(gsa_reader_open_memory(c.bytes, c.size, "c", &with_names, NULL, NULL, &reader, &error),
                         GSA_OK);
        while (status == GSA_OK)
            status = gsa_reader_next(reader, &batch, &error);
        assert_int_equal(status, i < sizeof wrong / sizeof *wrong ? GSA_FORMAT : GSA_END);
        gsa_reader_close(reader);
    }
    for (size_t i = 0; i < 2; i++)
        unlink(path[i]);
    free(c.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_block_is_found_and_read_alone),
        cmocka_unit_test(blocks_of_a_file_are_views_that_stay),
        cmocka_unit_test(a_file_that_becomes_shorter_is_an_error),
        cmocka_unit_test(a_cache_in_memory_may_begin_anywhere),
        cmocka_unit_test(seek_refuses_what_is_no_block),
        cmocka_unit_test(a_damaged_cache_is_not_entered),
        cmocka_unit_test(only_plain_caches_have_blocks),
        cmocka_unit_test(a_block_of_a_cache_ends_with_the_file_its_rows_came_from),
        cmocka_unit_test(a_cache_knows_the_names_of_its_categories),
        cmocka_unit_test(names_that_make_no_sense_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
