/* Memory through the environment, and sizes that cannot overflow unnoticed. */
#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* An allocator that counts, and fails when `left` has come to 0. */
typedef struct counter {
    int left, live;
    size_t last_size;
} counter;

static void *counted_alloc(void *ctx, size_t size)
{
    counter *c = ctx;
    c->last_size = size;
    if (c->left-- <= 0)
        return NULL;
    c->live++;
    return malloc(size);
}

static void *counted_alloc_zeroed(void *ctx, size_t size)
{
    void *memory = counted_alloc(ctx, size);
    return memory ? memset(memory, 0, size) : NULL;
}

static void *counted_resize(void *ctx, void *memory, size_t size)
{
    counter *c = ctx;
    c->last_size = size;
    return c->left-- <= 0 ? NULL : realloc(memory, size);
}

static void counted_release(void *ctx, void *memory)
{
    ((counter *)ctx)->live--;
    free(memory);
}

static gsa_env counted_env(counter *c)
{
    return (gsa_env){counted_alloc, counted_alloc_zeroed, counted_resize, counted_release, c, 0, NULL, NULL, 0};
}

static void nothing_given_means_the_defaults(void **state)
{
    (void)state;
    gsa_env env = gsa__env_resolve(NULL);
    assert_true(env.alloc && env.alloc_zeroed && env.resize && env.release && env.should_stop);
    assert_true(env.memory_limit == UINT64_MAX);
    assert_int_equal(env.should_stop(env.stop_ctx), 0);
    unsigned char *memory = gsa__alloc_zeroed(&env, 100, 10);
    assert_non_null(memory);
    for (size_t i = 0; i < 1000; i++)
        assert_int_equal(memory[i], 0);
    gsa__free(&env, memory);
}

static int stop_at_once(void *ctx)
{
    return *(int *)ctx;
}

static void what_is_given_is_kept(void **state)
{
    (void)state;
    counter c = {1, 0, 0};
    int stop = 42;
    gsa_env given = counted_env(&c);
    given.memory_limit = 77;
    given.should_stop = stop_at_once;
    given.stop_ctx = &stop;
    gsa_env env = gsa__env_resolve(&given);
    assert_true(env.memory_limit == 77);
    assert_int_equal(env.should_stop(env.stop_ctx), 42);
    void *memory = gsa__alloc(&env, 3, 5);
    assert_non_null(memory);
    assert_true(c.last_size == 15 && c.live == 1);
    gsa__free(&env, memory);
    gsa__free(&env, NULL);
    assert_int_equal(c.live, 0);
}

static void sums_and_products_notice_overflow(void **state)
{
    (void)state;
    size_t result;
    assert_true(gsa__add(SIZE_MAX - 1, 1, &result) && result == SIZE_MAX);
    assert_false(gsa__add(SIZE_MAX, 1, &result));
    assert_true(gsa__multiply(SIZE_MAX, 1, &result) && result == SIZE_MAX);
    assert_true(gsa__multiply(SIZE_MAX, 0, &result) && result == 0);
    assert_true(gsa__multiply(0, SIZE_MAX, &result) && result == 0);
    assert_false(gsa__multiply(SIZE_MAX / 2 + 1, 2, &result));
    const size_t above_root = (size_t)1 << (4 * sizeof(size_t) + 1);
    assert_false(gsa__multiply(above_root, above_root, &result));
}

static void impossible_sizes_are_refused_before_the_allocator(void **state)
{
    (void)state;
    counter c = {10, 0, 0};
    gsa_env env = counted_env(&c);
    assert_null(gsa__alloc(&env, SIZE_MAX / 4, 8));
    assert_null(gsa__alloc_zeroed(&env, SIZE_MAX / 4, 8));
    void *memory = NULL;
    size_t capacity = 0;
    assert_false(gsa__reserve(&env, &memory, &capacity, SIZE_MAX / 4, 8));
    assert_true(c.left == 10 && !memory && capacity == 0);
}

static void nothing_is_still_something_to_free(void **state)
{
    (void)state;
    counter c = {2, 0, 0};
    gsa_env env = counted_env(&c);
    void *a = gsa__alloc(&env, 0, 8), *b = gsa__alloc_zeroed(&env, 8, 0);
    assert_true(a && b && c.last_size == 1);
    gsa__free(&env, a);
    gsa__free(&env, b);
    assert_int_equal(c.live, 0);
}

static void reserve_keeps_what_is_there_and_grows_by_half(void **state)
{
    (void)state;
    gsa_env env = gsa__env_resolve(NULL);
    void *memory = NULL;
    size_t capacity = 0, n_growths = 0;
    for (size_t n = 0; n < 100000; n++) {
        size_t before = capacity;
        assert_true(gsa__reserve(&env, &memory, &capacity, n + 1, sizeof(uint32_t)));
        assert_true(capacity > n);
        if (capacity != before) {
            assert_true(capacity >= before + before / 2);
            n_growths++;
        }
        ((uint32_t *)memory)[n] = (uint32_t)n;
    }
    assert_true(n_growths < 40);
    for (size_t n = 0; n < 100000; n++)
        assert_int_equal(((uint32_t *)memory)[n], n);
    gsa__free(&env, memory);
}

static void a_reserve_that_fails_changes_nothing(void **state)
{
    (void)state;
    counter c = {1, 0, 0};
    gsa_env env = counted_env(&c);
    void *memory = NULL;
    size_t capacity = 0;
    assert_true(gsa__reserve(&env, &memory, &capacity, 10, 4));
    void *old = memory;
    size_t old_capacity = capacity;
    assert_false(gsa__reserve(&env, &memory, &capacity, 1000, 4));
    assert_true(memory == old && capacity == old_capacity);
    assert_true(gsa__reserve(&env, &memory, &capacity, old_capacity, 4));
    gsa__free(&env, memory);
}

static void text_is_copied(void **state)
{
    (void)state;
    counter c = {1, 0, 0};
    gsa_env env = counted_env(&c);
    char text[] = "caf\xC3\xA9";
    char *copy = gsa__copy_text(&env, text);
    text[0] = 'x';
    assert_string_equal(copy, "caf\xC3\xA9");
    assert_int_equal(c.last_size, 6);
    gsa__free(&env, copy);
    assert_null(gsa__copy_text(&env, text));
}

static void sizes_are_written_for_people(void **state)
{
    (void)state;
    char buffer[GSA__SIZE_TEXT];
    assert_string_equal(gsa__size_text(0, buffer), "0 bytes");
    assert_string_equal(gsa__size_text(1023, buffer), "1023 bytes");
    assert_string_equal(gsa__size_text(1024, buffer), "1.0 KiB");
    assert_string_equal(gsa__size_text(1536, buffer), "1.5 KiB");
    assert_string_equal(gsa__size_text((uint64_t)5 << 30, buffer), "5.0 GiB");
    assert_string_equal(gsa__size_text(UINT64_MAX, buffer), "16.0 EiB");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_given_means_the_defaults),
        cmocka_unit_test(what_is_given_is_kept),
        cmocka_unit_test(sums_and_products_notice_overflow),
        cmocka_unit_test(impossible_sizes_are_refused_before_the_allocator),
        cmocka_unit_test(nothing_is_still_something_to_free),
        cmocka_unit_test(reserve_keeps_what_is_there_and_grows_by_half),
        cmocka_unit_test(a_reserve_that_fails_changes_nothing),
        cmocka_unit_test(text_is_copied),
        cmocka_unit_test(sizes_are_written_for_people),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
