/* Caches that are damaged, cut or made to deceive: refused, and never believed; and memory that is not there. */
#include "unit/data/caches.h"

#include "base/hash.h"

static void any_damaged_byte_is_found(void **state)
{
    (void)state;
    table t;
    content c = small_cache(&t);
    for (size_t at = 0; at < c.size; at++) {
        for (unsigned k = 0; k <= 8; k++) {
            int change = k < 8 ? 1 << k : 0xFF;
            c.bytes[at] ^= (unsigned char)change;
            gsa_status status;
            gsa_error error = {0};
            size_t n = expect_rows(open_bytes(c.bytes, c.size, NULL, NULL), &t.batch, &status, &error);
            bool in_magic = at < 8; /* then it is no cache but very bad text */
            if (status != (in_magic ? GSA_INPUT : GSA_FORMAT) || (in_magic && n > 0))
                fail_msg("byte %zu ^ %d: %d %s", at, change, (int)status, error.message);
            if (at >= GSAI_CACHE_HEAD_SIZE && !strstr(error.message, "text: damaged cache (make it anew), block "))
                fail_msg("byte %zu ^ %d: %s", at, change, error.message);
            c.bytes[at] ^= (unsigned char)change;
        }
    }
    free(c.bytes);
    free_table(&t);
}

static void refuses(const content *c, const gsa_batch *rows, const char *message)
{
    gsa_status status;
    gsa_error error = {0};
    (void)expect_rows(open_bytes(c->bytes, c->size, NULL, NULL), rows, &status, &error);
    assert_int_equal(status, GSA_FORMAT);
    if (!strstr(error.message, message))
        fail_msg("%s", error.message);
}

static void any_truncation_is_found(void **state)
{
    (void)state;
    table t;
    content c = small_cache(&t);
    for (size_t size = 1; size < c.size; size++) {
        unsigned char *cut = checked(malloc(size)); /* so that a read beyond it is seen */
        memcpy(cut, c.bytes, size);
        gsa_status status;
        gsa_error error = {0};
        (void)expect_rows(open_bytes(cut, size, NULL, NULL), &t.batch, &status, &error);
        assert_int_equal(status, GSA_FORMAT);
        assert_non_null(strstr(error.message, "the file ends in the middle"));
        free(cut);
    }
    c.bytes[c.size++] = 0;
    refuses(&c, &t.batch, "more bytes follow");
    free(c.bytes);
    free_table(&t);
}

/* Hashes that fit again, as somebody would make them who wants to be believed. */
static void sign(unsigned char *bytes, size_t size, size_t header_at)
{
    unsigned char *header = bytes + header_at;
    uint64_t payload_size = gsai_load_u64(header + 8);
    size_t left = size - header_at - GSAI_CACHE_HEADER_SIZE;
    if (payload_size <= left)
        gsai_store_u64(gsai_hash(header + GSAI_CACHE_HEADER_SIZE, (size_t)payload_size, 0), header + 16);
    gsai_store_u64(gsai_hash(header, 72, 0), header + 72);
}

static bool is_lawful(const gsa_batch *batch)
{
    for (size_t r = 0; r < batch->n_rows; r++) {
        if (!isfinite(batch->label[r]) || (batch->weight && !(batch->weight[r] >= 0 && isfinite(batch->weight[r]))))
            return false;
        if (batch->word && batch->word[r] >= 0 && (size_t)batch->word[r] >= batch->n_words)
            return false;
        gsai_row row = gsai_row_at(batch, r);
        for (size_t i = 0; i < row.n; i++)
            if (gsai_row_id(&row, i) > GSA_MAX_ID || !isfinite(gsai_row_value(&row, i)) ||
                (row.index && gsai_row_value(&row, i) == 0) ||
                (i > 0 && gsai_row_id(&row, i) <= gsai_row_id(&row, i - 1)))
                return false;
    }
    return true;
}

static void a_lie_with_right_hashes_breaks_nothing(void **state)
{
    (void)state;
    table t;
    content c = small_cache(&t);
    gsa_error error = {0};
    size_t index_at = read_index(&c).offset, n_refused = 0, n_taken = 0;
    unsigned char *lie = checked(malloc(c.size));
    for (size_t at = GSAI_CACHE_HEAD_SIZE; at < c.size - GSAI_CACHE_FOOT_SIZE; at++) {
        for (int value = 0; value < 256; value += value < 4 || value > 250 ? 1 : 19) {
            memcpy(lie, c.bytes, c.size);
            lie[at] = (unsigned char)value;
            sign(lie, c.size, at < index_at ? GSAI_CACHE_HEAD_SIZE : index_at);
            gsa_reader *reader =
                open_bytes(lie, c.size, NULL,
                           &(gsai_env){ENV_SIZES, .memory.budget = &(gsa_budget){.size = sizeof(gsa_budget),
                                                                                 .limit = (uint64_t)4 << 20}});
            gsa_batch batch;
            gsa_status status;
            while ((status = gsa_reader_next(reader, &batch, &error)) == GSA_OK)
                assert_true(is_lawful(&batch));
            assert_true(status == GSA_END || status == GSA_FORMAT || status == GSA_LIMIT || status == GSA_UNSUPPORTED);
            *(status == GSA_END ? &n_taken : &n_refused) += 1;
            gsa_reader_close(reader);
        }
    }
    assert_true(n_refused > 1000 && n_taken > 1000);
    free(lie);
    free(c.bytes);
    free_table(&t);
}

static void a_header_that_does_not_fit_is_refused(void **state)
{
    (void)state;
    table t;
    content c = small_cache(&t);
    static const char *const messages[] = {"no block", "", NULL, "continue", "", "", "", "", "no sense"};
    for (size_t field = 0; field < 9; field++) {
        unsigned char *at = c.bytes + GSAI_CACHE_HEAD_SIZE + 8 * field;
        uint64_t right = gsai_load_u64(at);
        gsai_store_u64(field == 8 ? 8 : right + 1, at);
        sign(c.bytes, c.size, GSAI_CACHE_HEAD_SIZE);
        if (messages[field])
            refuses(&c, &t.batch, messages[field]);
        gsai_store_u64(right, at);
        sign(c.bytes, c.size, GSAI_CACHE_HEAD_SIZE);
    }
    size_t foot = c.size - GSAI_CACHE_FOOT_SIZE;
    gsai_store_u64(gsai_load_u64(c.bytes + foot) + 1, c.bytes + foot);
    refuses(&c, &t.batch, "the last bytes");
    free(c.bytes);
    free_table(&t);
}

static void another_version_is_refused_by_name(void **state)
{
    (void)state;
    table t;
    content c = small_cache(&t);
    c.bytes[8] = 2;
    refuses(&c, &t.batch, "text is a cache of version 2, this release reads version 3: convert the rows again");
    c.bytes[8] = 4;
    refuses(&c, &t.batch, "text is a cache of version 4");
    free(c.bytes);
    free_table(&t);
}

/* Codes that have a meaning, and no reader. */
static void what_is_to_come_is_refused_by_name(void **state)
{
    (void)state;
    static const struct {
        uint64_t flags;
        const char *message;
    } cases[] = {
        {GSAI_CACHE_MISSING, "text: the block at byte 16 has numbers that may be missing, which this release does"},
        {GSAI_CACHE_MISSING | GSAI_CACHE_VALUES, "numbers that may be missing"}};
    table t;
    content c = small_cache(&t);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        gsai_store_u64(cases[i].flags, c.bytes + GSAI_CACHE_HEAD_SIZE + 64);
        sign(c.bytes, c.size, GSAI_CACHE_HEAD_SIZE);
        gsa_status status;
        gsa_error error = {0};
        (void)expect_rows(open_bytes(c.bytes, c.size, NULL, NULL), &t.batch, &status, &error);
        assert_int_equal(status, GSA_UNSUPPORTED);
        if (!strstr(error.message, cases[i].message))
            fail_msg("%s", error.message);
    }
    gsai_store_u64(4 << GSAI_CACHE_FORM_SHIFT, c.bytes + GSAI_CACHE_HEAD_SIZE + 64);
    sign(c.bytes, c.size, GSAI_CACHE_HEAD_SIZE);
    refuses(&c, &t.batch, "its header makes no sense");
    free(c.bytes);
    free_table(&t);
}

static void a_failed_allocation_is_an_error_and_leaks_nothing(void **state)
{
    (void)state;
    table t;
    content c = small_cache(&t);
    char path[PATH_SIZE];
    make_file(path, "", 0);
    bool came_through = false;
    for (size_t n = 0; !came_through; n++) {
        failing f = {.left = n};
        gsai_env env = failing_env(&f);
        gsa_error error;
        gsa_writer *writer = NULL;
        gsa_status status = gsa_writer_open(path, "gsac", &env.memory, &env.call, &writer, &error);
        if (status == GSA_OK)
            status = gsa_writer_write(writer, &t.batch, &error);
        if (status == GSA_OK)
            status = gsa_writer_close(writer, &error);
        else
            gsa_writer_discard(writer);
        assert_true(status == GSA_OK || status == GSA_MEMORY);
        assert_int_equal(f.live, 0);
        came_through = status == GSA_OK;
    }
    unlink(path);
    came_through = false;
    for (size_t n = 0; !came_through; n++) {
        failing f = {.left = n};
        gsai_env env = failing_env(&f);
        gsa_error error;
        gsa_reader *reader = NULL;
        gsa_batch batch;
        gsa_status status = gsa_reader_open_memory(c.bytes, c.size, "c", NULL, &env.memory, &env.call, &reader, &error);
        while (status == GSA_OK)
            status = gsa_reader_next(reader, &batch, &error);
        gsa_reader_close(reader);
        assert_true(status == GSA_END || status == GSA_MEMORY);
        assert_int_equal(f.live, 0);
        came_through = status == GSA_END;
    }
    free(c.bytes);
    free_table(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_damaged_byte_is_found),
        cmocka_unit_test(any_truncation_is_found),
        cmocka_unit_test(a_lie_with_right_hashes_breaks_nothing),
        cmocka_unit_test(a_header_that_does_not_fit_is_refused),
        cmocka_unit_test(another_version_is_refused_by_name),
        cmocka_unit_test(what_is_to_come_is_refused_by_name),
        cmocka_unit_test(a_failed_allocation_is_an_error_and_leaks_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
