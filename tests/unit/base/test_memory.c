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

static gsai_env counted_env(counter *c)
{
    return (gsai_env){
        .memory = {sizeof(gsa_memory), counted_alloc, counted_alloc_zeroed, counted_resize, counted_release, c, NULL}};
}

static void nothing_given_means_the_defaults(void **state)
{
    (void)state;
    gsai_env env = gsai_env_resolve(NULL);
    assert_true(gsai_memory_limit(&env) == UINT64_MAX && gsai_memory_left(&env) == UINT64_MAX);
    assert_int_equal(gsai_should_stop(&env), 0);
    unsigned char *memory = gsai_alloc_zeroed(&env, 100, 10);
    assert_non_null(memory);
    for (size_t i = 0; i < 1000; i++)
        assert_int_equal(memory[i], 0);
    memory = gsai_resize(&env, memory, 2000);
    assert_non_null(memory);
    assert_int_equal(memory[999], 0);
    gsai_free(&env, memory);
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
    gsai_env given = counted_env(&c);
    gsa_budget budget = {.size = sizeof budget, .limit = 77};
    given.memory.budget = &budget;
    given.call.should_stop = stop_at_once;
    given.call.ctx = &stop;
    gsai_env env = gsai_env_resolve(&given);
    assert_true(gsai_memory_limit(&env) == 77);
    assert_int_equal(env.call.should_stop(env.call.ctx), 42);
    void *memory = gsai_alloc(&env, 3, 5);
    assert_non_null(memory);
    assert_true(c.last_size == 16 + 15 && c.live == 1 && budget.used == 31);
    gsai_free(&env, memory);
    gsai_free(&env, NULL);
    assert_int_equal(c.live, 0);
}

static void sums_and_products_notice_overflow(void **state)
{
    (void)state;
    size_t result;
    assert_true(gsai_add(SIZE_MAX - 1, 1, &result) && result == SIZE_MAX);
    assert_false(gsai_add(SIZE_MAX, 1, &result));
    assert_true(gsai_multiply(SIZE_MAX, 1, &result) && result == SIZE_MAX);
    assert_true(gsai_multiply(SIZE_MAX, 0, &result) && result == 0);
    assert_true(gsai_multiply(0, SIZE_MAX, &result) && result == 0);
    assert_false(gsai_multiply(SIZE_MAX / 2 + 1, 2, &result));
    const size_t above_root = (size_t)1 << (4 * sizeof(size_t) + 1);
    assert_false(gsai_multiply(above_root, above_root, &result));
}

static void impossible_sizes_are_refused_before_the_allocator(void **state)
{
    (void)state;
    counter c = {10, 0, 0};
    gsai_env env = counted_env(&c);
    assert_null(gsai_alloc(&env, SIZE_MAX / 4, 8));
    assert_null(gsai_alloc_zeroed(&env, SIZE_MAX / 4, 8));
    void *memory = NULL;
    size_t capacity = 0;
    assert_false(gsai_reserve(&env, &memory, &capacity, SIZE_MAX / 4, 8));
    assert_true(c.left == 10 && !memory && capacity == 0);
}

static void nothing_is_still_something_to_free(void **state)
{
    (void)state;
    counter c = {2, 0, 0};
    gsai_env env = counted_env(&c);
    void *a = gsai_alloc(&env, 0, 8), *b = gsai_alloc_zeroed(&env, 8, 0);
    assert_true(a && b && c.last_size == 1);
    gsai_free(&env, a);
    gsai_free(&env, b);
    assert_int_equal(c.live, 0);
}

static void reserve_keeps_what_is_there_and_grows_by_half(void **state)
{
    (void)state;
    gsai_env env = gsai_env_resolve(NULL);
    void *memory = NULL;
    size_t capacity = 0, n_growths = 0;
    for (size_t n = 0; n < 100000; n++) {
        size_t before = capacity;
        assert_true(gsai_reserve(&env, &memory, &capacity, n + 1, sizeof(uint32_t)));
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
    gsai_free(&env, memory);
}

static void a_reserve_that_fails_changes_nothing(void **state)
{
    (void)state;
    counter c = {1, 0, 0};
    gsai_env env = counted_env(&c);
    void *memory = NULL;
    size_t capacity = 0;
    assert_true(gsai_reserve(&env, &memory, &capacity, 10, 4));
    void *old = memory;
    size_t old_capacity = capacity;
    assert_false(gsai_reserve(&env, &memory, &capacity, 1000, 4));
    assert_true(memory == old && capacity == old_capacity);
    assert_true(gsai_reserve(&env, &memory, &capacity, old_capacity, 4));
    gsai_free(&env, memory);
}

static void text_is_copied(void **state)
{
    (void)state;
    counter c = {1, 0, 0};
    gsai_env env = counted_env(&c);
    char text[] = "caf\xC3\xA9";
    char *copy = gsai_copy_text(&env, text);
    text[0] = 'x';
    assert_string_equal(copy, "caf\xC3\xA9");
    assert_int_equal(c.last_size, 6);
    gsai_free(&env, copy);
    assert_null(gsai_copy_text(&env, text));
}

static void sizes_are_written_for_people(void **state)
{
    (void)state;
    char buffer[GSAI_SIZE_TEXT];
    assert_string_equal(gsai_size_text(0, buffer), "0 bytes");
    assert_string_equal(gsai_size_text(1023, buffer), "1023 bytes");
    assert_string_equal(gsai_size_text(1024, buffer), "1.0 KiB");
    assert_string_equal(gsai_size_text(1536, buffer), "1.5 KiB");
    assert_string_equal(gsai_size_text((uint64_t)5 << 30, buffer), "5.0 GiB");
    assert_string_equal(gsai_size_text(UINT64_MAX, buffer), "16.0 EiB");
}

/* ---- the budget -------------------------------------------------------------------------------------------------- */

static void a_budget_counts_what_is_taken_and_what_is_given_back(void **state)
{
    (void)state;
    gsa_budget budget = {.size = sizeof budget};
    gsai_env env = gsai_env_resolve(&(gsai_env){.memory.budget = &budget});
    unsigned char *a = gsai_alloc(&env, 10, 10), *b = gsai_alloc_zeroed(&env, 0, 4);
    assert_int_equal(budget.used, 100 + 2 * 16);
    assert_true((uintptr_t)a % 16 == 0 && (uintptr_t)b % 16 == 0);
    memset(a, 7, 100);
    a = gsai_resize(&env, a, 1000);
    assert_int_equal(budget.used, 1000 + 2 * 16);
    for (size_t i = 0; i < 100; i++)
        assert_int_equal(a[i], 7);
    a = gsai_resize(&env, a, 50);
    assert_int_equal(budget.used, 50 + 2 * 16);
    assert_true(gsai_charge(&env, 5000));
    assert_int_equal(budget.used, 5050 + 2 * 16);
    gsai_discharge(&env, 5000);
    gsai_free(&env, a);
    gsai_free(&env, b);
    assert_int_equal(budget.used, 0);
}

static void beyond_the_limit_memory_is_not_taken(void **state)
{
    (void)state;
    counter c = {1, 0, 0};
    gsa_budget budget = {.size = sizeof budget, .limit = 1000};
    gsai_env given = counted_env(&c);
    given.memory.budget = &budget;
    gsai_env env = gsai_env_resolve(&given);
    gsa_error error = {0};
    void *a = gsai_alloc(&env, 500, 1);
    assert_non_null(a);
    c.last_size = 0;
    assert_null(gsai_alloc(&env, 500, 1));
    assert_null(gsai_alloc_zeroed(&env, SIZE_MAX, 2));
    assert_null(gsai_alloc(&env, SIZE_MAX, 1));
    assert_null(gsai_resize(&env, a, 2000));
    assert_null(gsai_resize(&env, a, SIZE_MAX));
    assert_false(gsai_charge(&env, UINT64_MAX));
    assert_false(gsai_charge(&env, 485));
    assert_true(c.last_size == 0 && budget.used == 516); /* the allocator was not asked */
    assert_int_equal(gsai_fail_memory(&env, &error, "no memory for %d things", 3), GSA_LIMIT);
    assert_string_equal(error.message,
                        "no memory for 3 things: it takes 485 bytes, 516 bytes are in use, and the memory "
                        "limit is 1000 bytes");
    assert_true(gsai_charge(&env, 484) && gsai_memory_left(&env) == 0);
    gsai_discharge(&env, 484);
    gsai_free(&env, a);
    assert_true(budget.used == 0 && c.live == 0);
}

static void memory_that_the_allocator_does_not_have_is_no_limit(void **state)
{
    (void)state;
    counter c = {1, 0, 0};
    gsa_budget budget = {.size = sizeof budget, .limit = 1000};
    gsai_env given = counted_env(&c);
    given.memory.budget = &budget;
    gsai_env env = gsai_env_resolve(&given);
    gsa_error error = {0};
    void *a = gsai_alloc(&env, 100, 1);
    assert_null(gsai_alloc(&env, 1000, 1)); /* refused by the limit */
    assert_null(gsai_alloc(&env, 100, 1));
    assert_null(gsai_resize(&env, a, 200));
    assert_int_equal(budget.used, 116);
    assert_int_equal(gsai_fail_memory(&env, &error, "no memory"), GSA_MEMORY);
    gsai_free(&env, a);
    assert_int_equal(budget.used, 0);
}

static void near_the_limit_an_array_has_less_to_spare(void **state)
{
    (void)state;
    gsa_budget budget = {.size = sizeof budget, .limit = 10000};
    gsai_env env = gsai_env_resolve(&(gsai_env){.memory.budget = &budget});
    unsigned char *array = NULL;
    size_t capacity = 0, n = 0, n_growths = 0;
    while (n < capacity || gsai_reserve(&env, &array, &capacity, n + 1, 1))
        n_growths += ++n == capacity;
    assert_int_equal(capacity, 10000 - 16); /* all of it was given */
    assert_true(n_growths < 60);
    gsai_free(&env, array);
    assert_int_equal(budget.used, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_given_means_the_defaults),
        cmocka_unit_test(what_is_given_is_kept),
        cmocka_unit_test(a_budget_counts_what_is_taken_and_what_is_given_back),
        cmocka_unit_test(beyond_the_limit_memory_is_not_taken),
        cmocka_unit_test(memory_that_the_allocator_does_not_have_is_no_limit),
        cmocka_unit_test(near_the_limit_an_array_has_less_to_spare),
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
