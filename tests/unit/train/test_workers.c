/* Tasks on threads: each once, whatever the number of threads; of failures the lowest. */
#include "../learn/rows.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/workers.h"

#include <stdatomic.h>

enum { TASKS = 200 };

typedef struct counts {
    atomic_int run[TASKS];
    size_t first_bad, second_bad;
    pthread_t caller;
    int task_0_elsewhere;
} counts;

static gsa_status count(void *ctx, size_t number, gsa_error *error)
{
    counts *c = ctx;
    atomic_fetch_add(&c->run[number], 1);
    if (number == 0 && !pthread_equal(c->caller, pthread_self()))
        c->task_0_elsewhere = 1;
    if (number == c->first_bad || number == c->second_bad)
        return gsai_fail(error, GSA_INPUT, "task %zu", number);
    return GSA_OK;
}

static void every_task_is_run_once_and_the_first_by_the_caller(void **unused)
{
    (void)unused;
    gsai_env env = gsai_env_resolve(NULL);
    for (size_t n_threads = 1; n_threads < 10; n_threads++)
        for (size_t n = 0; n <= TASKS; n += n < 4 ? 1 : 49) {
            counts c = {.first_bad = TASKS, .second_bad = TASKS, .caller = pthread_self()};
            assert_int_equal(gsai_workers_run(n_threads, n, count, &c, &env, NULL), GSA_OK);
            for (size_t i = 0; i < TASKS; i++)
                assert_int_equal(atomic_load(&c.run[i]), i < n);
            assert_false(c.task_0_elsewhere);
        }
}

static void the_failure_of_the_lowest_task_is_reported(void **unused)
{
    (void)unused;
    gsai_env env = gsai_env_resolve(NULL);
    for (size_t n_threads = 1; n_threads < 10; n_threads++)
        for (int again = 0; again < 20; again++) {
            gsa_error error = {0};
            counts c = {.first_bad = 70, .second_bad = 71, .caller = pthread_self()};
            assert_int_equal(gsai_workers_run(n_threads, TASKS, count, &c, &env, &error), GSA_INPUT);
            assert_string_equal(error.message, "task 70");
            for (size_t i = 0; i <= 70; i++)
                assert_int_equal(atomic_load(&c.run[i]), 1);
        }
}

static void threads_are_those_asked_for_or_the_processors(void **unused)
{
    (void)unused;
    gsai_env env = gsai_env_resolve(NULL);
    assert_true(gsai_workers_count(&env) >= 1);
    env.call.n_threads = 3;
    assert_int_equal(gsai_workers_count(&env), 3);
    env.call.n_threads = 100000;
    assert_int_equal(gsai_workers_count(&env), 256);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_task_is_run_once_and_the_first_by_the_caller),
        cmocka_unit_test(the_failure_of_the_lowest_task_is_reported),
        cmocka_unit_test(threads_are_those_asked_for_or_the_processors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
