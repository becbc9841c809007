/* Caches: what was written comes back to the bit, whatever the pieces. */
#include "unit/data/caches.h"

#include "base/hash.h"

static void cache_gives_back_every_row(void **state)
{
    (void)state;
    for (int with = 0; with < 16; with++) {
        table t = make_table(1500, with, (uint64_t)with);
        content c = write_cache(&t.batch, 1500);
        expect_all_rows(&c, &t.batch, NULL, NULL);
        for (size_t piece = 1; piece < 9; piece += 3) {
            gsai_reader_sizes sizes = {
                .buffer = piece, .read = 50 * piece, .batch_rows = 97 * piece, .batch_values = 500};
            expect_all_rows(&c, &t.batch, &sizes, NULL);
        }
        free(c.bytes);
        free_table(&t);
    }
}

/* Stops every other time. */
static int flip(void *ctx)
{
    int *calls = ctx;
    return ++*calls % 2;
}

static void cache_goes_on_after_a_stop(void **state)
{
    (void)state;
    table t = make_table(300, WITH_WORDS | WITH_VALUES | WITH_WEIGHTS, 5);
    content c = write_cache(&t.batch, 300);
    int calls = 0;
    gsai_env env = {ENV_SIZES, .call.should_stop = flip, .call.ctx = &calls};
    gsai_reader_sizes sizes = {.read = 3};
    expect_all_rows(&c, &t.batch, &sizes, &env);
    assert_true(calls > 1000);
    free(c.bytes);
    free_table(&t);
}

static void cache_keeps_many_or_few_labels(void **state)
{
    (void)state;
    static const size_t counts[] = {1, 2, 255, 256, 257, 3000};
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
        table t = make_table(4000, WITH_WORDS, k);
        for (size_t r = 0; r < 4000; r++) {
            t.word[r] = r < 4 ? 3 : -1;
            t.label[r] = t.word[r] >= 0 || counts[k] == 1 ? -0.0 : 1e300 / (double)(r % (counts[k] - 1) + 1);
        }
        content c = write_cache(&t.batch, 4000);
        gsai_cache_header header;
        assert_true(gsai_cache_header_read(c.bytes + GSAI_CACHE_HEAD_SIZE, &header));
        size_t wanted = counts[k] == 1 ? 2 : counts[k];
        assert_int_equal(header.n_labels, wanted > 256 ? 0 : wanted);
        expect_all_rows(&c, &t.batch, NULL, NULL);
        free(c.bytes);
        free_table(&t);
    }
}

static void cache_drops_zeros_and_sorts_ids(void **state)
{
    (void)state;
    const int64_t start[] = {0, 4}, sorted_start[] = {0, 3};
    const uint32_t index[] = {7, GSA_MAX_ID, 0, 3}, sorted[] = {0, 7, GSA_MAX_ID};
    const float value[] = {2, -0.5f, 1, 0}, sorted_value[] = {1, 2, -0.5f}, dense[] = {0, 4, 0};
    const double label[] = {1};
    gsa_batch batch = {.n_rows = 1, .row_start = start, .index = index, .value = value, .label = label};
    gsa_batch wanted = {.n_rows = 1, .row_start = sorted_start, .index = sorted, .value = sorted_value, .label = label};
    content c = write_cache(&batch, 1);
    expect_all_rows(&c, &wanted, NULL, NULL);
    free(c.bytes);
    gsa_writer *writer = NULL;
    gsa_error error;
    batch = (gsa_batch){.n_rows = 1, .value = dense, .width = 3, .label = label};
    char path[PATH_SIZE];
    make_file(path, "", 0);
    assert_int_equal(gsa_writer_open(path, "gsac", NULL, NULL, &writer, &error), GSA_OK);
    assert_int_equal(gsa_writer_write(writer, &batch, &error), GSA_OK);
    assert_int_equal(gsa_writer_close(writer, &error), GSA_OK);
    c = load_and_remove(path);
    const int64_t dense_start[] = {0, 1};
    const uint32_t dense_index[] = {1};
    wanted =
        (gsa_batch){.n_rows = 1, .row_start = dense_start, .index = dense_index, .value = dense + 1, .label = label};
    expect_all_rows(&c, &wanted, NULL, NULL);
    free(c.bytes);
}

static void cache_without_rows_is_fine(void **state)
{
    (void)state;
    table t = make_table(0, 0, 1);
    content c = write_cache(&t.batch, 1);
    assert_int_equal(c.size, GSAI_CACHE_HEAD_SIZE + GSAI_CACHE_HEADER_SIZE + GSAI_CACHE_FOOT_SIZE);
    expect_all_rows(&c, &t.batch, NULL, NULL);
    free(c.bytes);
    free_table(&t);
}

/* Rows of the last block, which is found by the index: what is before it is not looked at. */
static void expect_last_block(content *c, size_t block, const gsa_batch *wanted)
{
    gsa_error error;
    cache_index index = read_index(c);
    size_t offset = (size_t)entry_of(&index, block, 0), row = (size_t)entry_of(&index, block, 1);
    const size_t first = GSAI_CACHE_HEAD_SIZE + GSAI_CACHE_HEADER_SIZE;
    memset(c->bytes + first, 0xAA, offset - first);
    failing all = {.left = SIZE_MAX};
    gsai_env env = failing_env(&all);
    gsa_reader *reader = open_bytes(c->bytes, c->size, NULL, &env);
    gsa_batch batch;
    gsa_status status = gsa_reader_seek(reader, &(gsa_place){.line = row + 1, .byte = offset}, &error);
    while (status == GSA_OK && (status = gsa_reader_next(reader, &batch, &error)) == GSA_OK)
        for (size_t r = 0; r < batch.n_rows; r++)
            assert_same_row(&batch, r, wanted, row++);
    if (status != GSA_END)
        fail_msg("%s", error.message);
    assert_int_equal(row, wanted->n_rows);
    gsa_reader_close(reader);
    assert_int_equal(all.live, 0);
}

static void blocks_are_cut_by_rows_and_read_alone(void **state)
{
    (void)state;
    table t = make_table(70000, WITH_WORDS | WITH_WEIGHTS, 3);
    content whole = write_cache(&t.batch, 70000), pieces = write_cache(&t.batch, 777);
    assert_int_equal(whole.size, pieces.size);
    assert_memory_equal(whole.bytes, pieces.bytes, whole.size);
    expect_all_rows(&whole, &t.batch, NULL, NULL);
    cache_index index = read_index(&whole);
    assert_int_equal(index.totals.n_rows, 2);
    assert_int_equal(index.totals.first_row, 70000);
    assert_int_equal(index.totals.n_entries, t.row_start[70000]);
    assert_int_equal(index.totals.n_labels, (uint64_t)GSA_MAX_ID + 1);
    assert_int_equal(index.totals.flags, GSAI_CACHE_WEIGHTS);
    assert_int_equal(entry_of(&index, 0, 0), GSAI_CACHE_HEAD_SIZE);
    assert_int_equal(entry_of(&index, 0, 2), GSA_BLOCK_ROWS);
    assert_int_equal(entry_of(&index, 1, 1), GSA_BLOCK_ROWS);
    assert_int_equal(entry_of(&index, 1, 2), 70000 - GSA_BLOCK_ROWS);
    expect_last_block(&whole, 1, &t.batch);
    free(whole.bytes);
    free(pieces.bytes);
    free_table(&t);
}

static void blocks_are_cut_by_entries(void **state)
{
    (void)state;
    enum { WIDTH = 3 << 20, ROWS = 7 }; /* five rows are below 2^24 entries, the sixth reaches them */
    uint32_t *id = checked(malloc(WIDTH * sizeof *id));
    for (uint32_t i = 0; i < WIDTH; i++)
        id[i] = 300 * i;
    const int64_t start[] = {0, WIDTH};
    const double label[] = {2};
    gsa_batch row = {.n_rows = 1, .row_start = start, .index = id, .label = label};
    char path[PATH_SIZE];
    make_file(path, "", 0);
    gsa_writer *writer = NULL;
    gsa_error error;
    assert_int_equal(gsa_writer_open(path, "gsac", NULL, NULL, &writer, &error), GSA_OK);
    for (int r = 0; r < ROWS; r++)
        assert_int_equal(gsa_writer_write(writer, &row, &error), GSA_OK);
    assert_int_equal(gsa_writer_close(writer, &error), GSA_OK);
    content c = load_and_remove(path);
    cache_index index = read_index(&c);
    assert_int_equal(index.totals.n_rows, 2);
    assert_int_equal(entry_of(&index, 0, 2), 6);
    gsa_reader *reader = open_bytes(c.bytes, c.size, NULL, NULL);
    gsa_batch batch;
    for (int block = 0; block < 2; block++) { /* a block of the file is a batch */
        assert_int_equal(gsa_reader_next(reader, &batch, &error), GSA_OK);
        assert_int_equal(batch.n_rows, block == 0 ? 6 : 1);
        for (size_t r = 0; r < batch.n_rows; r++)
            assert_memory_equal(batch.index + batch.row_start[r], id, WIDTH * sizeof *id);
    }
    assert_int_equal(gsa_reader_next(reader, &batch, &error), GSA_END);
    gsa_reader_close(reader);
    reader = open_bytes(/* read in pieces, as from a pipe: what is in memory takes none */
                        c.bytes, c.size, &(gsai_reader_sizes){.read = 1 << 20},
                        &(gsai_env){ENV_SIZES, .memory.budget = &(gsa_budget){.size = sizeof(gsa_budget),
                                                                              .limit = (uint64_t)1 << 20}});
    assert_int_equal(gsa_reader_next(reader, &batch, &error), GSA_LIMIT);
    assert_non_null(strstr(error.message, "memory limit"));
    gsa_reader_close(reader);
    free(c.bytes);
    free(id);
}

/* ---- writers and readers around it ------------------------------------------------------------------------------ */

static void writer_chooses_by_the_ending_or_by_name(void **state)
{
    (void)state;
    table t = make_table(5, 0, 2);
    static const struct {
        const char *ending, *format;
        bool is_cache;
    } cases[] = {{".gsac", NULL, true}, {".svm", NULL, false}, {".gsac", "libsvm", false}, {".svm", "gsac", true}};
    gsa_writer *writer = NULL;
    gsa_error error;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char path[PATH_SIZE], longer[PATH_SIZE + 8];
        make_file(path, "", 0);
        unlink(path);
        snprintf(longer, sizeof longer, "%s%s", path, cases[i].ending);
        assert_int_equal(gsa_writer_open(longer, cases[i].format, NULL, NULL, &writer, &error), GSA_OK);
        assert_int_equal(gsa_writer_write(writer, &t.batch, &error), GSA_OK);
        assert_int_equal(gsa_writer_close(writer, &error), GSA_OK);
        content c = load_and_remove(longer);
        assert_int_equal(c.bytes[0] == 0x89, cases[i].is_cache);
        free(c.bytes);
    }
    assert_int_equal(gsa_writer_open("x", "csv", NULL, NULL, &writer, &error), GSA_ARGUMENT);
    free_table(&t);
}

static void writer_refuses_what_a_cache_cannot_hold(void **state)
{
    (void)state;
    table t = make_table(40, WITH_WORDS | WITH_WEIGHTS, 2);
    char path[PATH_SIZE];
    make_file(path, "", 0);
    gsa_writer *writer = NULL;
    gsa_error error;
    assert_int_equal(gsa_writer_open(path, "gsac", NULL, NULL, &writer, &error), GSA_OK);
    for (int i = 0; i < 4; i++)
        t.word[i] = 3;
    t.weight[0] = -1;
    t.weight[1] = NAN;
    t.word[2] = -1;
    t.label[2] = INFINITY;
    free(t.words[3]);
    t.words[3] = checked(strdup("\xFF"));
    static const char *const messages[] = {"the weight is -1", "the weight is nan", "the label is inf",
                                           "label '\\xFF'"};
    for (size_t i = 0; i < 4; i++) {
        gsa_batch one = some_rows(&t.batch, i, 1);
        assert_int_equal(gsa_writer_write(writer, &one, &error), GSA_INPUT);
        assert_int_equal(error.row, 0);
        if (!strstr(error.message, messages[i]))
            fail_msg("%s", error.message);
    }
    for (size_t r = 4; r < 40; r++) /* what was refused has left no trace */
        t.word[r] = t.word[r] == 3 ? 4 : t.word[r];
    gsa_batch rest = some_rows(&t.batch, 4, 36);
    assert_int_equal(gsa_writer_write(writer, &rest, &error), GSA_OK);
    assert_int_equal(gsa_writer_close(writer, &error), GSA_OK);
    content c = load_and_remove(path);
    expect_all_rows(&c, &rest, NULL, NULL);
    free(c.bytes);
    free_table(&t);
}

/* Text, a cache with weights, values and words, text again: a batch for each, and the same once more. */
static void caches_and_text_can_be_mixed(void **state)
{
    (void)state;
    static const char text[] = "1 1:1\nw3 2:1\n";
    table t;
    content c = small_cache(&t);
    char a[PATH_SIZE], b[PATH_SIZE];
    make_file(a, text, sizeof text - 1);
    make_file(b, c.bytes, c.size);
    const char *paths[] = {a, b, a, b};
    gsa_reader *reader = NULL;
    gsa_error error;
    gsa_batch batch;
    assert_int_equal(gsa_reader_open(paths, 4, NULL, NULL, NULL, &reader, &error), GSA_OK);
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t file = 0; file < 4; file++) {
            assert_int_equal(gsa_reader_next(reader, &batch, &error), GSA_OK);
            assert_int_equal(batch.n_rows, file % 2 == 0 ? 2 : 12);
            assert_int_equal(batch.place[0].file, file);
            for (size_t r = 0; r < batch.n_rows && file % 2 == 1; r++)
                assert_same_row(&batch, r, &t.batch, r);
            if (file % 2 == 0)
                assert_string_equal(batch.words[batch.word[1]], "w3");
        }
        assert_int_equal(gsa_reader_next(reader, &batch, &error), GSA_END);
        gsa_reader_progress progress = {.size = sizeof progress};
        gsa_reader_get_progress(reader, &progress);
        assert_int_equal(progress.bytes_read, 2 * (c.size + sizeof text - 1));
        assert_int_equal(gsa_reader_rewind(reader, &error), GSA_OK);
    }
    gsa_reader_close(reader);
    unlink(a);
    unlink(b);
    free(c.bytes);
    free_table(&t);
}

static void sections_that_nobody_has_to_know_are_skipped(void **state)
{
    (void)state;
    table t;
    content c = small_cache(&t);
    static const size_t sizes[] = {0, 5, 300000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        size_t size = GSAI_CACHE_HEADER_SIZE + sizes[i] + gsai_cache_padding(sizes[i]);
        content longer = {checked(calloc(c.size + size, 1)), c.size + size};
        unsigned char *section = longer.bytes + GSAI_CACHE_HEAD_SIZE, *payload = section + GSAI_CACHE_HEADER_SIZE;
        gsai_cache_header header = {.payload_size = sizes[i], .payload_hash = gsai_hash(payload, sizes[i], 0)};
        header.marker = gsai_load_u64((const unsigned char *)"rowhash");
        gsai_cache_header_write(&header, section);
        memcpy(longer.bytes, c.bytes, GSAI_CACHE_HEAD_SIZE);
        memcpy(section + size, c.bytes + GSAI_CACHE_HEAD_SIZE, c.size - GSAI_CACHE_HEAD_SIZE);
        unsigned char *foot = longer.bytes + longer.size - GSAI_CACHE_FOOT_SIZE;
        gsai_store_u64(gsai_load_u64(foot) + size, foot);
        expect_all_rows(&longer, &t.batch, NULL, NULL);
        expect_all_rows(&longer, &t.batch, &(gsai_reader_sizes){.buffer = 64, .read = 7}, NULL);
        gsa_status status;
        gsa_error error;
        section[16] ^= 1; /* not even of what is skipped may a byte be damaged */
        gsai_store_u64(gsai_hash(section, 72, 0), section + 72);
        (void)expect_rows(open_bytes(longer.bytes, longer.size, NULL, NULL), &t.batch, &status, &error);
        assert_int_equal(status, GSA_FORMAT);
        free(longer.bytes);
    }
    free(c.bytes);
    free_table(&t);
}

/* The example of docs/formats/cache.md. */
static void a_tiny_cache_has_exactly_these_bytes(void **state)
{
    (void)state;
    const int64_t start[] = {0, 2, 2};
    const uint32_t index[] = {2, 1000};
    const double label[] = {1, 0};
    const int32_t word[] = {-1, 0};
    const char *const words[] = {"no"};
    gsa_batch batch = {
        .n_rows = 2, .row_start = start, .index = index, .label = label, .word = word, .words = words, .n_words = 1};
    content c = write_cache(&batch, 2);
    static const unsigned char payload[] = {0, 0,   0,  0, 0,    0,    0xF0, 0x3F, /* labels */
                                            0, 0,   0,  0, 0xFF, 0xFF, 0xFF, 0xFF, /* of which this is a word */
                                            2, 0,   0,  0, 0,    0,    0,    0,    /* lengths */
                                            2, 0,   0,  0, 0xE8, 3,    0,    0,    /* ids */
                                            0, 1,                                  /* codes */
                                            2, 'n', 'o'};                          /* words */
    assert_memory_equal(c.bytes, "\x89GSAC\0\r\n\3\0\0\0\0\0\0\0BLOCK\0\0\0", 24);
    assert_int_equal(gsai_load_u64(c.bytes + 24), sizeof payload);
    assert_memory_equal(c.bytes + 96, payload, sizeof payload);
    assert_memory_equal(c.bytes + 96 + sizeof payload, "\0\0\0", 3);
    assert_int_equal(c.size, 96 + sizeof payload + 3 + 80 + 24 + 16);
    assert_int_equal(gsai_hash(c.bytes, c.size, 0), 0x54a7bf100a942f77);
    free(c.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cache_gives_back_every_row),
        cmocka_unit_test(cache_goes_on_after_a_stop),
        cmocka_unit_test(cache_keeps_many_or_few_labels),
        cmocka_unit_test(cache_drops_zeros_and_sorts_ids),
        cmocka_unit_test(cache_without_rows_is_fine),
        cmocka_unit_test(blocks_are_cut_by_rows_and_read_alone),
        cmocka_unit_test(blocks_are_cut_by_entries),
        cmocka_unit_test(writer_chooses_by_the_ending_or_by_name),
        cmocka_unit_test(writer_refuses_what_a_cache_cannot_hold),
        cmocka_unit_test(caches_and_text_can_be_mixed),
        cmocka_unit_test(sections_that_nobody_has_to_know_are_skipped),
        cmocka_unit_test(a_tiny_cache_has_exactly_these_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
