/* Stages that overlap. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/pipeline.h"

#include <stdatomic.h>
#include <time.h>

#define SLOTS 4

typedef struct ring {
    size_t n_fills, end; /* fills up to this one, then once refuses */
    size_t number[SLOTS];
    size_t result[SLOTS];
    atomic_size_t n_inside, n_taken;
    atomic_bool overlapped, overflowed;
} ring;

static bool fill(void *memory, size_t slot)
{
    ring *of = memory;
    if (atomic_fetch_add(&of->n_inside, 1) > 0)
        atomic_store(&of->overlapped, true);
    bool is_filled = of->n_fills < of->end;
    if (is_filled) {
        if (of->n_fills >= atomic_load(&of->n_taken) + SLOTS)
            atomic_store(&of->overflowed, true);
        of->number[slot] = of->n_fills++;
    }
    atomic_fetch_sub(&of->n_inside, 1);
    return is_filled;
}

static void work(void *memory, size_t slot)
{
    ring *of = memory;
    if (of->number[slot] % 3 == 0)
        nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL); /* later ones are done before it */
    of->result[slot] = of->number[slot] * of->number[slot];
}

static const gsai_stages stages = {fill, work};

static void slots_come_in_order_with_what_was_filled_in(void **state)
{
    (void)state;
    gsai_env env = gsai_env_resolve(NULL);
    for (size_t n_threads = 0; n_threads <= 6; n_threads += 2) { /* without a thread the caller runs the stages */
        ring of = {0};
        gsai_pipeline *pipeline = gsai_pipeline_new(n_threads, SLOTS, &stages, &of, &env);
        assert_non_null(pipeline);
        size_t slot, number = 0;
        assert_false(gsai_pipeline_next(pipeline, &slot));
        for (int run = 0; run < 3; run++) {
            of.end += 50;
            gsai_pipeline_start(pipeline);
            for (; gsai_pipeline_next(pipeline, &slot); number++) {
                assert_int_equal(of.number[slot], number);
                assert_int_equal(of.result[slot], number * number);
                atomic_fetch_add(&of.n_taken, 1);
                gsai_pipeline_release(pipeline);
            }
            assert_int_equal(number, of.end);
        }
        gsai_pipeline_free(pipeline);
        assert_false(of.overlapped);
        assert_false(of.overflowed);
    }
}

static void a_pipeline_that_was_stopped_begins_anew(void **state)
{
    (void)state;
    gsai_env env = gsai_env_resolve(NULL);
    ring of = {.end = SIZE_MAX};
    gsai_pipeline *pipeline = gsai_pipeline_new(3, SLOTS, &stages, &of, &env);
    assert_non_null(pipeline);
    for (size_t run = 0; run < 200; run++) {
        size_t slot, first;
        gsai_pipeline_start(pipeline);
        for (size_t i = 0; i < run % 5; i++) {
            assert_true(gsai_pipeline_next(pipeline, &slot));
            first = i == 0 ? of.number[slot] : first;
            assert_int_equal(of.number[slot], first + i);
            atomic_fetch_add(&of.n_taken, 1);
            gsai_pipeline_release(pipeline);
        }
        gsai_pipeline_stop(pipeline);
        assert_int_equal(of.n_inside, 0);
        atomic_store(&of.n_taken, of.n_fills); /* nobody fills any more: this is no race */
        assert_false(gsai_pipeline_next(pipeline, &slot));
    }
    gsai_pipeline_start(pipeline);
    gsai_pipeline_free(pipeline); /* also while it runs */
    assert_false(of.overlapped);
    assert_false(of.overflowed);
}

static void threads_count_in_the_budget_until_it_is_freed(void **state)
{
    (void)state;
    gsa_budget budget = {.size = sizeof budget, .limit = (uint64_t)2 << 20};
    gsai_env env = gsai_env_resolve(&(gsai_env){.memory.budget = &budget});
    ring of = {.end = 10};
    gsai_pipeline *pipeline = gsai_pipeline_new(100, SLOTS, &stages, &of, &env); /* there is room for some of them */
    assert_non_null(pipeline);
    assert_true(budget.used > 1 << 20);
    size_t slot, n = 0;
    gsai_pipeline_start(pipeline);
    for (; gsai_pipeline_next(pipeline, &slot); n++)
        gsai_pipeline_release(pipeline);
    assert_int_equal(n, 10);
    gsai_pipeline_free(pipeline);
    assert_int_equal(budget.used, 0);
    budget.limit = 64;
    assert_null(gsai_pipeline_new(2, SLOTS, &stages, &of, &env));
    assert_int_equal(budget.used, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slots_come_in_order_with_what_was_filled_in),
        cmocka_unit_test(a_pipeline_that_was_stopped_begins_anew),
        cmocka_unit_test(threads_count_in_the_budget_until_it_is_freed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
