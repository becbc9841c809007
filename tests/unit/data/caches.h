/* Rows that are written to caches, and caches as bytes. */
#ifndef GSA_TESTS_DATA_CACHES_H
#define GSA_TESTS_DATA_CACHES_H

#include "unit/data/support.h"

#include "base/byte_order.h"
#include "base/memory.h"
#include "data/format/cache.h"
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

static inline void *checked(void *memory)
{
    assert_non_null(memory);
    return memory;
}

/* Any finite float but zero, any bits. */
static inline float random_float(uint64_t *random)
{
    for (;;) {
        uint32_t bits = (uint32_t)next_random(random);
        float value;
        memcpy(&value, &bits, sizeof value);
        if (isfinite(value) && value != 0)
            return value;
    }
}

static inline uint32_t random_gap(uint64_t *random)
{
    return (uint32_t)(next_random(random) >> (32 + next_random(random) % 32)) % 0x10000000u;
}

static inline table make_table(size_t n_rows, int with, uint64_t seed)
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

static inline void free_table(table *t)
{
    for (size_t i = 0; i < t->batch.n_words; i++)
        free(t->words[i]);
    void *arrays[] = {t->row_start, t->index, t->value, t->weight, t->label, t->word, t->words};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        free(arrays[i]);
}

static inline gsa_batch some_rows(const gsa_batch *batch, size_t from, size_t n)
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

static inline content load_and_remove(const char *path)
{
    content c;
    c.bytes = load_and_unlink(path, &c.size);
    return c;
}

/* The cache of a batch that is handed over in pieces of `piece` rows. */
static inline content write_cache(const gsa_batch *batch, size_t piece)
{
    char path[PATH_SIZE];
    make_file(path, "", 0);
    gsa_writer *writer = NULL;
    gsa_error error;
    assert_int_equal(gsa_writer_open(path, "gsac", NULL, NULL, &writer, &error), GSA_OK);
    for (size_t from = 0; from < batch->n_rows; from += piece) {
        gsa_batch part = some_rows(batch, from, piece < batch->n_rows - from ? piece : batch->n_rows - from);
        gsa_status status = gsa_writer_write(writer, &part, &error);
        if (status != GSA_OK)
            fail_msg("%s", error.message);
    }
    assert_int_equal(gsa_writer_close(writer, &error), GSA_OK);
    return load_and_remove(path);
}

/* Row r of `got` is row w of `wanted`, bit for bit. */
static inline void assert_same_row(const gsa_batch *got, size_t r, const gsa_batch *wanted, size_t w)
{
    bool is_word = wanted->word && wanted->word[w] >= 0;
    assert_int_equal(got->word && got->word[r] >= 0, is_word);
    if (is_word)
        assert_string_equal(got->words[got->word[r]], wanted->words[wanted->word[w]]);
    else
        assert_memory_equal(&got->label[r], &wanted->label[w], sizeof(double));
    float weight = got->weight ? got->weight[r] : 1, wanted_weight = wanted->weight ? wanted->weight[w] : 1;
    assert_memory_equal(&weight, &wanted_weight, sizeof weight);
    gsai_row row = gsai_row_at(got, r), wanted_row = gsai_row_at(wanted, w);
    size_t n = 0;
    for (size_t i = 0; i < row.n; i++) {
        float a = gsai_row_value(&row, i);
        if (!row.index && a == 0)
            continue; /* which is no entry of a dense row */
        assert_true(n < wanted_row.n);
        float b = gsai_row_value(&wanted_row, n);
        assert_int_equal(gsai_row_id(&row, i), gsai_row_id(&wanted_row, n++));
        assert_memory_equal(&a, &b, sizeof a);
    }
    assert_int_equal(n, wanted_row.n);
}

static inline gsa_reader *open_bytes(const void *bytes, size_t size, const gsai_reader_sizes *sizes,
                                     const gsai_env *env)
{
    return open_text(bytes, size, sizes, 0, env);
}

/* Reads to the end or a failure; every row must be the next one of `wanted`. Returns how many there were. */
static inline size_t expect_rows(gsa_reader *reader, const gsa_batch *wanted, gsa_status *status, gsa_error *error)
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

static inline void expect_all_rows(const content *c, const gsa_batch *wanted, const gsai_reader_sizes *sizes,
                                   const gsai_env *env)
{
    gsa_status status;
    gsa_error error = {0};
    size_t n = expect_rows(open_bytes(c->bytes, c->size, sizes, env), wanted, &status, &error);
    if (status != GSA_END)
        fail_msg("%s", error.message);
    assert_int_equal(n, wanted->n_rows);
}

/* The index of a cache in memory. */
typedef struct cache_index {
    size_t offset; /* of its header */
    gsai_cache_header totals;
    const unsigned char *entries;
} cache_index;

static inline cache_index read_index(const content *c)
{
    cache_index index = {.offset = (size_t)gsai_load_u64(c->bytes + c->size - GSAI_CACHE_FOOT_SIZE)};
    assert_memory_equal(c->bytes + c->size - 8, GSAI_CACHE_END, 8);
    assert_true(gsai_cache_header_read(c->bytes + index.offset, &index.totals));
    assert_true(index.totals.marker == GSAI_CACHE_INDEX);
    assert_int_equal(index.totals.payload_size, index.totals.n_rows * GSAI_CACHE_ENTRY_SIZE);
    index.entries = c->bytes + index.offset + GSAI_CACHE_HEADER_SIZE;
    return index;
}

static inline uint64_t entry_of(const cache_index *index, size_t block, size_t field)
{
    return gsai_load_u64(index->entries + GSAI_CACHE_ENTRY_SIZE * block + 8 * field);
}

/* With everything that rows can have, and few bytes. */
static inline content small_cache(table *t)
{
    *t = make_table(12, WITH_WORDS | WITH_VALUES | WITH_WEIGHTS, 11);
    free(t->words[1]);
    t->words[1] = checked(strdup("short"));
    return write_cache(&t->batch, 12);
}

#endif
