/* Rows that grow: what is appended comes back, whole, as slices and as bytes; sizes are checked, and what fails leaves
 * the rows that were there. */
#include "base/memory.h"
#include "base/rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- rows to append ---------------------------------------------------------------------------------------------- */

static const int64_t starts[] = {0, 2, 2, 5};
static const uint32_t ids[] = {3, 7, 0, 1, GSA_MAX_ID};
static const float values[] = {1.5F, -2, 0.25F, 0, 4};
static const double labels[] = {1, 0, -3.5};
static const int32_t words[] = {-1, 1, 0};
static const char *const texts[] = {"no", "yes"};
static const float weights[] = {1, 2, 0.5F};
static const gsa_place places[] = {{1, 0, 0}, {2, 10, 0}, {3, 20, 1}};

static gsa_batch sparse_rows(void)
{
    return (gsa_batch){.n_rows = 3,
                       .row_start = starts,
                       .index = ids,
                       .value = values,
                       .label = labels,
                       .word = words,
                       .words = texts,
                       .n_words = 2,
                       .weight = weights,
                       .place = places};
}

static gsa_batch rows_of_ones(void)
{
    gsa_batch rows = sparse_rows();
    rows.value = NULL;
    rows.word = NULL;
    rows.weight = NULL;
    return rows;
}

/* Compares row r of a batch with row s of another, without zeros. */
static void assert_same_row(const gsa_batch *a, size_t r, const gsa_batch *b, size_t s)
{
    size_t i = gsai_batch_start(a, r), j = gsai_batch_start(b, s);
    size_t a_start = i, b_start = j, a_end = gsai_batch_start(a, r + 1), b_end = gsai_batch_start(b, s + 1);
    for (;; i++, j++) {
        while (i < a_end && a->value && a->value[i] == 0)
            i++;
        while (j < b_end && b->value && b->value[j] == 0)
            j++;
        if (i >= a_end || j >= b_end)
            break;
        assert_int_equal(a->index ? a->index[i] : i - a_start, b->index ? b->index[j] : j - b_start);
        assert_true((a->value ? a->value[i] : 1) == (b->value ? b->value[j] : 1));
    }
    assert_true(i >= a_end && j >= b_end);
    assert_true(a->label[r] == b->label[s]);
    assert_true((a->weight ? a->weight[r] : 1) == (b->weight ? b->weight[s] : 1));
    int32_t a_word = a->word ? a->word[r] : -1, b_word = b->word ? b->word[s] : -1;
    assert_int_equal(a_word >= 0, b_word >= 0);
    if (a_word >= 0)
        assert_string_equal(a->words[a_word], b->words[b_word]);
}

static gsa_status append_all(gsai_rows *rows, const gsa_batch *from, gsai_word_map *map)
{
    return gsai_rows_append(rows, from, 0, from->n_rows, false, map, NULL);
}

/* ---- tests ------------------------------------------------------------------------------------------------------- */

static void appended_rows_come_back(void **state)
{
    (void)state;
    gsai_env env = gsai_env_resolve(NULL);
    const gsa_batch some = sparse_rows(), ones = rows_of_ones();
    gsai_rows rows;
    gsai_word_map map = {0};
    gsai_rows_init(&rows, 0, 0, &env);
    for (int round = 0; round < 2000; round++) {
        assert_int_equal(append_all(&rows, &ones, &map), GSA_OK);
        assert_int_equal(gsai_rows_append(&rows, &some, 1, 2, false, &map, NULL), GSA_OK);
    }
    gsa_batch view = gsai_rows_view(&rows);
    assert_int_equal(view.n_rows, 10000);
    assert_int_equal(view.n_words, 2);
    for (size_t r = 0; r < view.n_rows; r++) {
        if (r % 5 < 3)
            assert_same_row(&view, r, &ones, r % 5);
        else
            assert_same_row(&view, r, &some, r % 5 - 2);
        assert_int_equal(view.place[r].line, (r % 5 < 3 ? r % 5 : r % 5 - 2) + 1);
    }
    assert_int_equal(view.row_start[view.n_rows], 2000 * (5 + 2)); /* zeros are left out */
    gsai_free(&env, map.number);
    gsai_rows_free(&rows);
}

/* Values of 1 take no memory, and are there once others follow. */
static void ones_are_implied(void **state)
{
    (void)state;
    gsai_env env = gsai_env_resolve(NULL);
    const gsa_batch some = sparse_rows(), ones = rows_of_ones();
    gsai_rows rows;
    gsai_rows_init(&rows, 0, 0, &env);
    assert_int_equal(append_all(&rows, &ones, NULL), GSA_OK);
    assert_null(gsai_rows_view(&rows).value);
    assert_null(rows.value);
    assert_int_equal(append_all(&rows, &some, NULL), GSA_OK);
    assert_int_equal(append_all(&rows, &ones, NULL), GSA_OK);
    gsa_batch view = gsai_rows_view(&rows);
    for (size_t r = 0; r < 3; r++) {
        view.words = texts;
        assert_same_row(&view, r, &ones, r);
        assert_same_row(&view, 3 + r, &some, r);
        assert_same_row(&view, 6 + r, &ones, r);
    }
    gsai_rows_free(&rows);
}

static void dense_rows_stay_so_until_sparse_ones_follow(void **state)
{
    (void)state;
    gsai_env env = gsai_env_resolve(NULL);
    static const float dense[] = {1, 0, 2, 0, 0, 3};
    const gsa_batch wide = {.n_rows = 2, .width = 3, .value = dense, .label = labels}, some = sparse_rows();
    gsai_rows rows;
    gsai_rows_init(&rows, 0, 0, &env);
    assert_int_equal(gsai_rows_append(&rows, &wide, 0, 2, true, NULL, NULL), GSA_OK);
    gsa_batch view = gsai_rows_view(&rows);
    assert_null(view.index);
    assert_memory_equal(view.value, dense, sizeof dense);
    assert_int_equal(append_all(&rows, &some, NULL), GSA_OK);
    view = gsai_rows_view(&rows);
    view.words = texts;
    assert_non_null(view.index);
    assert_int_equal(view.row_start[2], 3);
    for (size_t r = 0; r < 2; r++)
        assert_same_row(&view, r, &wide, r);
    for (size_t r = 0; r < 3; r++)
        assert_same_row(&view, 2 + r, &some, r);
    gsai_rows_free(&rows);
}

static void slices_are_the_rows(void **state)
{
    (void)state;
    const gsa_batch all = sparse_rows(), last = gsai_batch_slice(&all, 1, 2);
    assert_int_equal(last.n_rows, 2);
    for (size_t r = 0; r < 2; r++) {
        assert_same_row(&last, r, &all, 1 + r);
        assert_int_equal(last.place[r].line, 2 + r);
    }
    assert_int_equal(gsai_batch_count(&all, 0, 10, 1), 1); /* with the row that brings them there */
    assert_int_equal(gsai_batch_count(&all, 0, 10, 3), 3);
    assert_int_equal(gsai_batch_count(&all, 0, 2, 100), 2);
}

typedef struct bytes {
    unsigned char at[4096];
    size_t size, max;
} bytes;

static int write_bytes(void *ctx, const void *more, size_t size)
{
    bytes *to = ctx;
    if (size > to->max - to->size)
        return 1;
    memcpy(to->at + to->size, more, size);
    to->size += size;
    return 0;
}

static void packed_rows_come_back(void **state)
{
    (void)state;
    gsai_env env = gsai_env_resolve(NULL);
    const gsa_batch some = sparse_rows(), ones = rows_of_ones();
    bytes a = {.max = sizeof a.at}, b = {.max = sizeof b.at};
    gsai_rows rows;
    int32_t other;
    gsai_rows_init(&rows, 0, 0, &env);
    assert_int_equal(gsai_words_enter(&rows.words, "other", 5, &other, NULL), GSA_OK); /* so that numbers differ */
    assert_int_equal(gsai_rows_pack(&some, 1, 2, write_bytes, &a), 0);
    assert_int_equal(gsai_rows_pack(&ones, 0, 3, write_bytes, &b), 0);
    for (int round = 0; round < 2; round++) {
        assert_int_equal(gsai_rows_unpack(&rows, b.at, b.size, NULL), GSA_OK);
        assert_int_equal(gsai_rows_unpack(&rows, a.at, a.size, NULL), GSA_OK);
    }
    gsa_batch view = gsai_rows_view(&rows);
    assert_int_equal(view.n_rows, 10);
    assert_int_equal(view.n_words, 3);
    for (size_t r = 0; r < 10; r++)
        assert_same_row(&view, r, r % 5 < 3 ? &ones : &some, r % 5 < 3 ? r % 5 : r % 5 - 2);
    gsai_rows_free(&rows);
}

/* A byte that is cut off or changed gives other rows or GSA_FORMAT, and never rows that make no sense. */
static void damaged_bytes_are_refused(void **state)
{
    (void)state;
    gsai_env env = gsai_env_resolve(NULL);
    const gsa_batch some = sparse_rows();
    bytes whole = {.max = sizeof whole.at};
    gsai_rows rows;
    gsai_rows_init(&rows, 0, 0, &env);
    assert_int_equal(gsai_rows_pack(&some, 0, 3, write_bytes, &whole), 0);
    for (size_t size = 0; size < whole.size; size++)
        assert_int_equal(gsai_rows_unpack(&rows, whole.at, size, NULL), GSA_FORMAT);
    assert_int_equal(rows.n_rows, 0);
    for (size_t i = 0; i < whole.size; i++)
        for (int bit = 0; bit < 8; bit++) {
            bytes changed = whole;
            changed.at[i] ^= (unsigned char)(1 << bit);
            gsa_status status = gsai_rows_unpack(&rows, changed.at, changed.size, NULL);
            assert_true(status == GSA_OK || status == GSA_FORMAT);
            for (size_t e = 0; e < rows.n_values; e++)
                assert_true(rows.index[e] <= GSA_MAX_ID);
            for (size_t r = 0; r < rows.n_rows; r++)
                assert_true(rows.row_start[r] <= rows.row_start[r + 1] && rows.word[r] < (int32_t)rows.words.n_words);
            gsai_rows_clear(&rows);
        }
    for (size_t max = 0; max < whole.size; max++) {
        bytes few = {.max = max};
        assert_int_not_equal(gsai_rows_pack(&some, 0, 3, write_bytes, &few), 0);
    }
    gsai_rows_free(&rows);
}

/* Fails the n-th request, counted over all functions, and every one for more than a test can need. */
typedef struct refusing {
    size_t n_left;
} refusing;

#define MAX_SIZE ((size_t)1 << 26)

static bool is_refused(refusing *of, size_t size)
{
    return size > MAX_SIZE || (of->n_left > 0 && --of->n_left == 0);
}

static void *refuse_alloc(void *ctx, size_t size)
{
    return is_refused(ctx, size) ? NULL : malloc(size);
}

static void *refuse_alloc_zeroed(void *ctx, size_t size)
{
    return is_refused(ctx, size) ? NULL : calloc(1, size);
}

static void *refuse_resize(void *ctx, void *memory, size_t size)
{
    return is_refused(ctx, size) ? NULL : realloc(memory, size);
}

static void release(void *ctx, void *memory)
{
    (void)ctx;
    free(memory);
}

static gsai_env refusing_env(refusing *of)
{
    const gsai_env given = {.memory = {.alloc = refuse_alloc,
                                       .alloc_zeroed = refuse_alloc_zeroed,
                                       .resize = refuse_resize,
                                       .release = release,
                                       .ctx = of}};
    return gsai_env_resolve(&given);
}

static void sizes_that_overflow_are_refused(void **state)
{
    (void)state;
    refusing none = {0};
    gsai_env env = refusing_env(&none);
    const gsa_batch some = sparse_rows();
    gsai_rows rows;
    gsai_rows_init(&rows, 0, 0, &env);
    assert_int_equal(append_all(&rows, &some, NULL), GSA_OK);
    static const size_t huge[] = {SIZE_MAX, SIZE_MAX - 1, SIZE_MAX - 4, SIZE_MAX / 4, SIZE_MAX / 4 + 1};
    for (size_t i = 0; i < sizeof huge / sizeof *huge; i++) {
        assert_int_equal(gsai_rows_reserve(&rows, huge[i], NULL), GSA_MEMORY);
        assert_int_equal(gsai_rows_reserve_block(&rows, huge[i], 1, true, NULL), GSA_MEMORY);
        assert_int_equal(gsai_rows_reserve_dense(&rows, huge[i], 5, NULL), GSA_MEMORY);
        assert_int_equal(gsai_rows_reserve_dense(&rows, 5, huge[i], NULL), GSA_MEMORY);
        assert_int_equal(gsai_rows_reserve_cells(&rows, huge[i], NULL), GSA_MEMORY);
        assert_int_equal(gsai_rows_keep_texts(&rows, "", huge[i], NULL), GSA_MEMORY);
    }
    gsa_batch view = gsai_rows_view(&rows);
    view.words = texts;
    assert_int_equal(view.n_rows, 3);
    for (size_t r = 0; r < 3; r++)
        assert_same_row(&view, r, &some, r);
    gsai_rows_free(&rows);
}

/* Whatever request fails, the rows before are whole, and a second attempt gives all of them. */
static void every_failed_allocation_leaves_rows_whole(void **state)
{
    (void)state;
    const gsa_batch some = sparse_rows(), ones = rows_of_ones();
    gsa_batch kept = sparse_rows();
    static const size_t kept_start[] = {0, 2, 2, 4};
    static const unsigned char bad[] = {0, 1, 0};
    kept.kept = "a\0b";
    kept.kept_start = kept_start;
    kept.bad = bad;
    bytes packed = {.max = sizeof packed.at};
    assert_int_equal(gsai_rows_pack(&some, 0, 3, write_bytes, &packed), 0);
    bool failed = true;
    size_t nth = 1;
    for (; failed; nth++) {
        refusing of = {nth};
        gsai_env env = refusing_env(&of);
        gsai_rows rows;
        gsai_word_map map = {0};
        gsai_rows_init(&rows, 2, 2, &env);
        failed = false;
        for (int step = 0; step < 4; step++) {
            size_t before = rows.n_rows;
            gsa_status status = GSA_MEMORY;
            for (int attempt = 0; attempt < 2 && status != GSA_OK; attempt++) {
                size_t done = rows.n_rows - before;
                const gsa_batch *from = step == 0 ? &ones : step == 2 ? &kept : &some;
                status = step == 3 ? gsai_rows_unpack(&rows, packed.at, packed.size, NULL)
                                   : gsai_rows_append(&rows, from, done, 3 - done, false, &map, NULL);
                failed = failed || status != GSA_OK;
                assert_true(status == GSA_OK || status == GSA_MEMORY);
            }
            assert_int_equal(status, GSA_OK);
            assert_int_equal(rows.n_rows, before + 3);
        }
        gsa_batch view = gsai_rows_view(&rows);
        for (size_t r = 0; r < 12; r++)
            assert_same_row(&view, r, r < 3 ? &ones : &some, r % 3);
        assert_int_equal(view.bad[7], 1);
        assert_string_equal(view.kept + view.kept_start[8], "b");
        gsai_free(&env, map.number);
        gsai_rows_free(&rows);
    }
    assert_true(nth > 15); /* or hardly any was refused */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(appended_rows_come_back),
        cmocka_unit_test(ones_are_implied),
        cmocka_unit_test(dense_rows_stay_so_until_sparse_ones_follow),
        cmocka_unit_test(slices_are_the_rows),
        cmocka_unit_test(packed_rows_come_back),
        cmocka_unit_test(damaged_bytes_are_refused),
        cmocka_unit_test(sizes_that_overflow_are_refused),
        cmocka_unit_test(every_failed_allocation_leaves_rows_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
