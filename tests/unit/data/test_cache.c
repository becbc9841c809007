/* Caches: what was written comes back to the bit, whatever the pieces; what is damaged is refused and never believed.
 */
#include "unit/data/support.h"

#include "base/byte_order.h"
#include "base/hash.h"
#include "base/memory.h"
#include "data/format/cache.h"
#include "data/format/packed.h"
#include "support/failing_memory.h"

#include <math.h>

/* ---- rows ------------------------------------------------------------------------------------------------------- */

enum { WITH_WORDS = 1, WITH_WEIGHTS = 2, WITH_VALUES = 4, WITH_MANY_LABELS = 8 };

/* A batch that owns its arrays. */
typedef struct table {
    gsa_batch batch;
    int64_t *row_start;
    uint32_t *index;
    float *value, *weight;
    double *label;
    int32_t *word;
    char **words;
} table;

static void *checked(void *memory)
{
    assert_non_null(memory);
    return memory;
}

/* Any finite float but zero, any bits. */
static float random_float(uint64_t *random)
{
    for (;;) {
        uint32_t bits = (uint32_t)next_random(random);
        float value;
        memcpy(&value, &bits, sizeof value);
        if (isfinite(value) && value != 0)
            return value;
    }
}

static uint32_t random_gap(uint64_t *random)
{
    return (uint32_t)(next_random(random) >> (32 + next_random(random) % 32)) % 0x10000000u;
}

static table make_table(size_t n_rows, int with, uint64_t seed)
{
    uint64_t random = seed * 2 + 1;
    size_t most = n_rows * 16 + 1, n = 0, n_words = with & WITH_MANY_LABELS ? 700 : 5;
    table t = {.row_start = checked(malloc((n_rows + 1) * sizeof *t.row_start)),
               .index = checked(malloc(most * sizeof *t.index)),
               .value = checked(malloc(most * sizeof *t.value)),
               .weight = checked(malloc((n_rows + 1) * sizeof *t.weight)),
               .label = checked(malloc((n_rows + 1) * sizeof *t.label)),
               .word = checked(malloc((n_rows + 1) * sizeof *t.word)),
               .words = checked(malloc(n_words * sizeof *t.words))};
    for (size_t i = 0; i < n_words; i++) {
        t.words[i] = checked(malloc(300));
        snprintf(t.words[i], 300, i == 1 ? "%0255d" : i == 2 ? "na\xC3\xAFve two words, 3:1#%d" : "w%d", (int)i);
    }
    t.row_start[0] = 0;
    for (size_t r = 0; r < n_rows; r++) {
        size_t length = (size_t)(next_random(&random) % 13);
        uint64_t id = next_random(&random) % 7 == 0 ? 0xF0000000u : random_gap(&random);
        for (size_t i = 0; i < length && id <= GSA_MAX_ID; i++, n++) {
            t.index[n] = (uint32_t)id;
            t.value[n] = next_random(&random) % 2 ? 1 : random_float(&random);
            id += (uint64_t)random_gap(&random) + 1;
        }
        if (length == 12 && n > (size_t)t.row_start[r])
            t.index[n - 1] = GSA_MAX_ID;
        t.row_start[r + 1] = (int64_t)n;
        t.weight[r] = next_random(&random) % 2 ? 1 : (float)(next_random(&random) % 1000) / 7;
        t.label[r] =
            with & WITH_MANY_LABELS ? (double)next_random(&random) / 3 : (double)(next_random(&random) % 3) / 3;
        t.word[r] = next_random(&random) % 3 ? (int32_t)(next_random(&random) % n_words) : -1;
    }
    t.batch = (gsa_batch){.n_rows = n_rows,
                          .row_start = t.row_start,
                          .index = t.index,
                          .value = with & WITH_VALUES ? t.value : NULL,
                          .label = t.label,
                          .word = with & WITH_WORDS ? t.word : NULL,
                          .words = (const char *const *)t.words,
                          .n_words = n_words,
                          .weight = with & WITH_WEIGHTS ? t.weight : NULL};
    return t;
}

static void free_table(table *t)
{
    for (size_t i = 0; i < t->batch.n_words; i++)
        free(t->words[i]);
    void *arrays[] = {t->row_start, t->index, t->value, t->weight, t->label, t->word, t->words};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        free(arrays[i]);
}

static gsa_batch slice(const gsa_batch *batch, size_t from, size_t n)
{
    gsa_batch part = *batch;
    part.n_rows = n;
    part.row_start += from;
    part.label += from;
    part.word = batch->word ? batch->word + from : NULL;
    part.weight = batch->weight ? batch->weight + from : NULL;
    return part;
}

/* ---- writing and reading ---------------------------------------------------------------------------------------- */

typedef struct content {
    unsigned char *bytes;
    size_t size;
} content;

static content load_and_remove(const char *path)
{
    content c = {.bytes = NULL};
    FILE *file = checked(fopen(path, "rb"));
    fseek(file, 0, SEEK_END);
    c.size = (size_t)ftell(file);
    rewind(file);
    c.bytes = checked(malloc(c.size + 1));
    assert_int_equal(fread(c.bytes, 1, c.size, file), c.size);
    fclose(file);
    unlink(path);
    return c;
}

/* The cache of a batch that is handed over in pieces of `piece` rows. */
static content write_cache(const gsa_batch *batch, size_t piece)
{
    char path[PATH_SIZE];
    make_file(path, "", 0);
    gsa_writer *writer = NULL;
    gsa_error error;
    assert_int_equal(gsa_writer_open_as(path, "gsac", NULL, &writer, &error), GSA_OK);
    for (size_t from = 0; from < batch->n_rows; from += piece) {
        gsa_batch part = slice(batch, from, piece < batch->n_rows - from ? piece : batch->n_rows - from);
        gsa_status status = gsa_writer_write(writer, &part, &error);
        if (status != GSA_OK)
            fail_msg("%s", error.message);
    }
    assert_int_equal(gsa_writer_close(writer, &error), GSA_OK);
    return load_and_remove(path);
}

static float value_at(const gsa_batch *batch, int64_t i)
{
    return batch->value ? batch->value[i] : 1;
}

/* Row r of `got` is row w of `wanted`, bit for bit. */
static void assert_same_row(const gsa_batch *got, size_t r, const gsa_batch *wanted, size_t w)
{
    bool is_word = wanted->word && wanted->word[w] >= 0;
    assert_int_equal(got->word && got->word[r] >= 0, is_word);
    if (is_word)
        assert_string_equal(got->words[got->word[r]], wanted->words[wanted->word[w]]);
    else
        assert_memory_equal(&got->label[r], &wanted->label[w], sizeof(double));
    float weight = got->weight ? got->weight[r] : 1, wanted_weight = wanted->weight ? wanted->weight[w] : 1;
    assert_memory_equal(&weight, &wanted_weight, sizeof weight);
    int64_t n = wanted->row_start[w + 1] - wanted->row_start[w];
    assert_int_equal(got->row_start[r + 1] - got->row_start[r], n);
    for (int64_t i = 0; i < n; i++) {
        assert_int_equal(got->index[got->row_start[r] + i], wanted->index[wanted->row_start[w] + i]);
        float a = value_at(got, got->row_start[r] + i), b = value_at(wanted, wanted->row_start[w] + i);
        assert_memory_equal(&a, &b, sizeof a);
    }
}

static gsa_reader *open_bytes(const void *bytes, size_t size, const gsa__reader_sizes *sizes, const gsa_env *env)
{
    return open_text(bytes, size, sizes, 0, env);
}

/* Reads to the end or a failure; every row must be the next one of `wanted`. Returns how many there were. */
static size_t expect_rows(gsa_reader *reader, const gsa_batch *wanted, gsa_status *status, gsa_error *error)
{
    gsa_batch batch;
    size_t n = 0;
    while ((*status = gsa_reader_next(reader, &batch, error)) == GSA_OK || *status == GSA_STOPPED) {
        for (size_t r = 0; *status == GSA_OK && r < batch.n_rows; r++, n++) {
            assert_true(n < wanted->n_rows);
            assert_same_row(&batch, r, wanted, n);
            assert_int_equal(batch.place[r].line, n + 1);
        }
    }
    gsa_reader_close(reader);
    return n;
}

static void expect_all_rows(const content *c, const gsa_batch *wanted, const gsa__reader_sizes *sizes,
                            const gsa_env *env)
{
    gsa_status status;
    gsa_error error = {0};
    size_t n = expect_rows(open_bytes(c->bytes, c->size, sizes, env), wanted, &status, &error);
    if (status != GSA_END)
        fail_msg("%s", error.message);
    assert_int_equal(n, wanted->n_rows);
}

/* ---- tests ------------------------------------------------------------------------------------------------------ */

static void packed_numbers_come_back(void **state)
{
    (void)state;
    uint32_t number[64], got[64];
    unsigned char control[16], data[256 + GSA__PACKED_SLACK];
    uint64_t random = 7;
    for (size_t n = 0; n <= 64; n++) {
        size_t size = 0;
        for (size_t i = 0; i < n; i++) {
            static const uint32_t edges[] = {0, 0xFF, 0x100, 0xFFFF, 0x10000, 0xFFFFFF, 0x1000000, 0xFFFFFFFF};
            number[i] = next_random(&random) % 2 ? edges[next_random(&random) % 8] : random_gap(&random);
            size += gsa__pack(number[i], i, control, data + size);
        }
        assert_int_equal(gsa__packed_size(control, n), size);
        for (size_t cut = 0; cut <= n; cut++) {
            gsa__packed from = {.control = control, .data = data};
            gsa__unpack(&from, got, cut);
            gsa__unpack(&from, got + cut, n - cut);
            assert_memory_equal(got, number, n * sizeof *got);
            assert_ptr_equal(from.data, data + size);
        }
    }
}

static void cache_gives_back_every_row(void **state)
{
    (void)state;
    for (int with = 0; with < 16; with++) {
        table t = make_table(1500, with, (uint64_t)with);
        content c = write_cache(&t.batch, 1500);
        expect_all_rows(&c, &t.batch, NULL, NULL);
        for (size_t piece = 1; piece < 9; piece += 3) {
            gsa__reader_sizes sizes = {
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
    gsa_env env = {.should_stop = flip, .stop_ctx = &calls};
    gsa__reader_sizes sizes = {.read = 3};
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
        gsa__cache_header header;
        assert_true(gsa__cache_header_read(c.bytes + GSA__CACHE_HEAD_SIZE, &header));
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
    assert_int_equal(gsa_writer_open_as(path, "gsac", NULL, &writer, &error), GSA_OK);
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
    assert_int_equal(c.size, GSA__CACHE_HEAD_SIZE + GSA__CACHE_HEADER_SIZE + GSA__CACHE_FOOT_SIZE);
    expect_all_rows(&c, &t.batch, NULL, NULL);
    free(c.bytes);
    free_table(&t);
}

/* The index of a cache in memory; its entries are to be freed. */
static gsa_status read_index(const unsigned char *bytes, size_t size, gsa__cache_index *out, gsa_error *error)
{
    gsa_env env = gsa__env_resolve(NULL);
    gsa__source source;
    gsa__decode stream;
    gsa__source_open_memory(bytes, size, "c", &env, &source);
    assert_int_equal(gsa__decode_open(&stream, &source, &env, 0, error), GSA_OK);
    gsa_status status = gsa__decode_peek(&stream, error);
    if (status == GSA_OK)
        status = gsa__cache_index_read(&stream, &env, out, error);
    gsa__decode_close(&stream);
    return status;
}

static uint64_t entry_of(const gsa__cache_index *index, size_t block, size_t field)
{
    return gsa__load_u64(index->entries + GSA__CACHE_ENTRY_SIZE * block + 8 * field);
}

/* Rows of the block, read through the index alone. */
static void expect_block(const content *c, size_t block, const gsa_batch *wanted)
{
    gsa__cache_index index;
    gsa_error error;
    assert_int_equal(read_index(c->bytes, c->size, &index, &error), GSA_OK);
    uint64_t offset = entry_of(&index, block, 0), first = entry_of(&index, block, 1);
    failing all = {.left = SIZE_MAX};
    gsa_env counting = failing_env(&all), env = gsa__env_resolve(&counting);
    gsa__source source;
    gsa__decode stream;
    gsa__rows rows;
    void *parser = NULL;
    gsa__source_open_memory(c->bytes + offset, c->size - offset, "c", &env, &source);
    assert_int_equal(gsa__decode_open(&stream, &source, &env, 0, &error), GSA_OK);
    assert_int_equal(gsa__rows_init(&rows, GSA_BLOCK_ROWS, SIZE_MAX, &env, &error), GSA_OK);
    assert_int_equal(gsa__format_cache()->open(0, &env, &parser, &error), GSA_OK);
    gsa__format_input input = {.stream = &stream, .name = "c", .limit = UINT64_MAX};
    gsa__format_cache()->begin(parser, &input);
    gsa__cache_begin_at(parser, block, offset, first);
    gsa_status status = gsa__format_cache()->read(parser, &rows, &error);
    if (status != GSA_END)
        fail_msg("%s", error.message);
    gsa_batch got;
    gsa__rows_view(&rows, &got);
    assert_int_equal(got.n_rows, entry_of(&index, block, 2));
    for (size_t r = 0; r < got.n_rows; r++)
        assert_same_row(&got, r, wanted, (size_t)first + r);
    gsa__format_cache()->close(parser);
    gsa__rows_free(&rows);
    gsa__decode_close(&stream);
    assert_int_equal(all.live, 0);
    free(index.entries);
}

static void blocks_are_cut_by_rows_and_read_alone(void **state)
{
    (void)state;
    table t = make_table(70000, WITH_WORDS | WITH_WEIGHTS, 3);
    content whole = write_cache(&t.batch, 70000), pieces = write_cache(&t.batch, 777);
    assert_int_equal(whole.size, pieces.size);
    assert_memory_equal(whole.bytes, pieces.bytes, whole.size);
    expect_all_rows(&whole, &t.batch, NULL, NULL);
    gsa__cache_index index;
    gsa_error error;
    assert_int_equal(read_index(whole.bytes, whole.size, &index, &error), GSA_OK);
    assert_int_equal(index.totals.n_rows, 2);
    assert_int_equal(index.totals.first_row, 70000);
    assert_int_equal(index.totals.n_entries, t.row_start[70000]);
    assert_int_equal(index.totals.n_labels, (uint64_t)GSA_MAX_ID + 1);
    assert_int_equal(index.totals.flags, GSA__CACHE_WEIGHTS);
    assert_int_equal(entry_of(&index, 0, 0), GSA__CACHE_HEAD_SIZE);
    assert_int_equal(entry_of(&index, 0, 2), GSA_BLOCK_ROWS);
    assert_int_equal(entry_of(&index, 1, 1), GSA_BLOCK_ROWS);
    assert_int_equal(entry_of(&index, 1, 2), 70000 - GSA_BLOCK_ROWS);
    expect_block(&whole, 1, &t.batch);
    free(index.entries);
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
    assert_int_equal(gsa_writer_open_as(path, "gsac", NULL, &writer, &error), GSA_OK);
    for (int r = 0; r < ROWS; r++)
        assert_int_equal(gsa_writer_write(writer, &row, &error), GSA_OK);
    assert_int_equal(gsa_writer_close(writer, &error), GSA_OK);
    content c = load_and_remove(path);
    gsa__cache_index index;
    assert_int_equal(read_index(c.bytes, c.size, &index, &error), GSA_OK);
    assert_int_equal(index.totals.n_rows, 2);
    assert_int_equal(entry_of(&index, 0, 2), 6);
    free(index.entries);
    gsa_reader *reader = open_bytes(c.bytes, c.size, NULL, NULL);
    gsa_batch batch;
    for (int r = 0; r < ROWS; r++) { /* each is more than a batch takes */
        assert_int_equal(gsa_reader_next(reader, &batch, &error), GSA_OK);
        assert_int_equal(batch.n_rows, 1);
        assert_memory_equal(batch.index, id, WIDTH * sizeof *id);
    }
    assert_int_equal(gsa_reader_next(reader, &batch, &error), GSA_END);
    gsa_reader_close(reader);
    reader = open_bytes(c.bytes, c.size, NULL, &(gsa_env){.memory_limit = (uint64_t)1 << 20});
    assert_int_equal(gsa_reader_next(reader, &batch, &error), GSA_LIMIT);
    assert_non_null(strstr(error.message, "memory limit"));
    gsa_reader_close(reader);
    free(c.bytes);
    free(id);
}

/* ---- damage ----------------------------------------------------------------------------------------------------- */

static content small_cache(table *t)
{
    *t = make_table(12, WITH_WORDS | WITH_VALUES | WITH_WEIGHTS, 11);
    free(t->words[1]);
    t->words[1] = checked(strdup("short"));
    return write_cache(&t->batch, 12);
}

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
            if (at >= GSA__CACHE_HEAD_SIZE && !strstr(error.message, "text: damaged cache (make it anew), block "))
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
        gsa__cache_index index;
        assert_int_equal(read_index(cut, size, &index, &error), GSA_FORMAT);
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
    uint64_t payload_size = gsa__load_u64(header + 8);
    size_t left = size - header_at - GSA__CACHE_HEADER_SIZE;
    if (payload_size <= left)
        gsa__store_u64(gsa__hash(header + GSA__CACHE_HEADER_SIZE, (size_t)payload_size, 0), header + 16);
    gsa__store_u64(gsa__hash(header, 72, 0), header + 72);
}

static bool is_lawful(const gsa_batch *batch)
{
    for (size_t r = 0; r < batch->n_rows; r++) {
        if (!isfinite(batch->label[r]) || (batch->weight && !(batch->weight[r] >= 0 && isfinite(batch->weight[r]))))
            return false;
        if (batch->word && batch->word[r] >= 0 && (size_t)batch->word[r] >= batch->n_words)
            return false;
        for (int64_t i = batch->row_start[r]; i < batch->row_start[r + 1]; i++)
            if (batch->index[i] > GSA_MAX_ID || !isfinite(value_at(batch, i)) ||
                (i > batch->row_start[r] && batch->index[i] <= batch->index[i - 1]))
                return false;
    }
    return true;
}

static void a_lie_with_right_hashes_breaks_nothing(void **state)
{
    (void)state;
    table t;
    content c = small_cache(&t);
    gsa__cache_index index;
    gsa_error error = {0};
    assert_int_equal(read_index(c.bytes, c.size, &index, &error), GSA_OK);
    size_t index_at = (size_t)index.offset, n_refused = 0, n_taken = 0;
    free(index.entries);
    unsigned char *lie = checked(malloc(c.size));
    for (size_t at = GSA__CACHE_HEAD_SIZE; at < c.size - GSA__CACHE_FOOT_SIZE; at++) {
        for (int value = 0; value < 256; value += value < 4 || value > 250 ? 1 : 19) {
            memcpy(lie, c.bytes, c.size);
            lie[at] = (unsigned char)value;
            sign(lie, c.size, at < index_at ? GSA__CACHE_HEAD_SIZE : index_at);
            gsa_reader *reader = open_bytes(lie, c.size, NULL, &(gsa_env){.memory_limit = (uint64_t)1 << 20});
            gsa_batch batch;
            gsa_status status;
            while ((status = gsa_reader_next(reader, &batch, &error)) == GSA_OK)
                assert_true(is_lawful(&batch));
            assert_true(status == GSA_END || status == GSA_FORMAT || status == GSA_LIMIT);
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
    static const char *const messages[] = {"no block", "columns", NULL, "continue", "", "", "", "", "no sense"};
    for (size_t field = 0; field < 9; field++) {
        unsigned char *at = c.bytes + GSA__CACHE_HEAD_SIZE + 8 * field;
        uint64_t right = gsa__load_u64(at);
        gsa__store_u64(right + 1, at);
        sign(c.bytes, c.size, GSA__CACHE_HEAD_SIZE);
        if (messages[field])
            refuses(&c, &t.batch, messages[field]);
        gsa__store_u64(right, at);
        sign(c.bytes, c.size, GSA__CACHE_HEAD_SIZE);
    }
    size_t foot = c.size - GSA__CACHE_FOOT_SIZE;
    gsa__store_u64(gsa__load_u64(c.bytes + foot) + 1, c.bytes + foot);
    refuses(&c, &t.batch, "the last bytes");
    gsa__cache_index index;
    assert_int_equal(read_index(c.bytes, c.size, &index, NULL), GSA_FORMAT);
    free(c.bytes);
    free_table(&t);
}

static void a_newer_version_is_refused(void **state)
{
    (void)state;
    table t;
    content c = small_cache(&t);
    c.bytes[8] = 2;
    refuses(&c, &t.batch, "text is a cache of version 2");
    free(c.bytes);
    free_table(&t);
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
        assert_int_equal(gsa_writer_open_as(longer, cases[i].format, NULL, &writer, &error), GSA_OK);
        assert_int_equal(gsa_writer_write(writer, &t.batch, &error), GSA_OK);
        assert_int_equal(gsa_writer_close(writer, &error), GSA_OK);
        content c = load_and_remove(longer);
        assert_int_equal(c.bytes[0] == 0x89, cases[i].is_cache);
        free(c.bytes);
    }
    assert_int_equal(gsa_writer_open_as("x", "csv", NULL, &writer, &error), GSA_ARGUMENT);
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
    assert_int_equal(gsa_writer_open_as(path, "gsac", NULL, &writer, &error), GSA_OK);
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
        gsa_batch one = slice(&t.batch, i, 1);
        assert_int_equal(gsa_writer_write(writer, &one, &error), GSA_INPUT);
        assert_int_equal(error.row, 0);
        if (!strstr(error.message, messages[i]))
            fail_msg("%s", error.message);
    }
    for (size_t r = 4; r < 40; r++) /* what was refused has left no trace */
        t.word[r] = t.word[r] == 3 ? 4 : t.word[r];
    gsa_batch rest = slice(&t.batch, 4, 36);
    assert_int_equal(gsa_writer_write(writer, &rest, &error), GSA_OK);
    assert_int_equal(gsa_writer_close(writer, &error), GSA_OK);
    content c = load_and_remove(path);
    expect_all_rows(&c, &rest, NULL, NULL);
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
        gsa_env env = failing_env(&f);
        gsa_error error;
        gsa_writer *writer = NULL;
        gsa_status status = gsa_writer_open_as(path, "gsac", &env, &writer, &error);
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
        gsa_env env = failing_env(&f);
        gsa_error error;
        gsa_reader *reader = NULL;
        gsa_batch batch;
        gsa_status status = gsa_reader_open_memory(c.bytes, c.size, "c", NULL, &env, &reader, &error);
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

/* Text, a cache with weights, values and words, text again: one batch over all of them, and the same once more. */
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
    assert_int_equal(gsa_reader_open(paths, 4, NULL, NULL, &reader, &error), GSA_OK);
    for (int pass = 0; pass < 2; pass++) {
        assert_int_equal(gsa_reader_next(reader, &batch, &error), GSA_OK);
        assert_int_equal(batch.n_rows, 2 * (2 + 12));
        assert_non_null(batch.weight);
        for (size_t r = 0; r < 28; r++) {
            size_t in_pair = r % 14;
            assert_int_equal(batch.place[r].file, r / 14 * 2 + (in_pair >= 2));
            if (in_pair >= 2)
                assert_same_row(&batch, r, &t.batch, in_pair - 2);
            else
                assert_true(batch.weight[r] == 1 && batch.value[batch.row_start[r]] == 1);
        }
        assert_string_equal(batch.words[batch.word[15]], "w3");
        assert_int_equal(gsa_reader_next(reader, &batch, &error), GSA_END);
        gsa_reader_progress progress;
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
    static const unsigned char payload[] = {2,    'n', 'o',                                     /* words */
                                            0,    0,   0,    0,   0,    0,    0xF0, 0x3F,       /* labels */
                                            0,    0,   0,    0,   0xFF, 0xFF, 0xFF, 0xFF, 0, 1, /* and codes */
                                            0x00, 2,   0,                                       /* lengths */
                                            0x04, 2,   0xE5, 0x03};                             /* ids */
    assert_memory_equal(c.bytes, "\x89GSAC\0\r\n\1\0\0\0\0\0\0\0BLOCK\0\0\0", 24);
    assert_int_equal(gsa__load_u64(c.bytes + 24), sizeof payload);
    assert_memory_equal(c.bytes + 96, payload, sizeof payload);
    assert_int_equal(c.size, 96 + sizeof payload + 80 + 24 + 16);
    assert_int_equal(gsa__hash(c.bytes, c.size, 0), 0xed7241cec7b5f583);
    free(c.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packed_numbers_come_back),
        cmocka_unit_test(cache_gives_back_every_row),
        cmocka_unit_test(cache_goes_on_after_a_stop),
        cmocka_unit_test(cache_keeps_many_or_few_labels),
        cmocka_unit_test(cache_drops_zeros_and_sorts_ids),
        cmocka_unit_test(cache_without_rows_is_fine),
        cmocka_unit_test(blocks_are_cut_by_rows_and_read_alone),
        cmocka_unit_test(blocks_are_cut_by_entries),
        cmocka_unit_test(any_damaged_byte_is_found),
        cmocka_unit_test(any_truncation_is_found),
        cmocka_unit_test(a_lie_with_right_hashes_breaks_nothing),
        cmocka_unit_test(a_header_that_does_not_fit_is_refused),
        cmocka_unit_test(a_newer_version_is_refused),
        cmocka_unit_test(writer_chooses_by_the_ending_or_by_name),
        cmocka_unit_test(writer_refuses_what_a_cache_cannot_hold),
        cmocka_unit_test(a_failed_allocation_is_an_error_and_leaks_nothing),
        cmocka_unit_test(caches_and_text_can_be_mixed),
        cmocka_unit_test(a_tiny_cache_has_exactly_these_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
