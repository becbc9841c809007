/* Solutions in which memory is refused or limited: dense and sparse rows, both inverses, both stages, and sweeps. */
#include "planted.h"

#include "../train/refusing.h"

/* Which of the data sets the run is of; shorter ones, since every allocation is a run. */
static gsa_status solve_of(const data *of, const gsai_env *env, bytes *out, gsa_error *error)
{
    rows *r = rows_of(of);
    gsa_state *state;
    gsa_status status = try_training(r, (const char *const[]){"loss", of->loss, NULL}, env, &state, error);
    if (status == GSA_OK)
        status = gsa_state_write(state, append, out, error);
    gsa_state_free(state);
    free(r);
    return status;
}

#define RUN(name, ...)                                                              \
    static gsa_status run_##name(const gsai_env *env, bytes *out, gsa_error *error) \
    {                                                                               \
        return solve_of(&(const data){__VA_ARGS__}, env, out, error);               \
    }                                                                               \
    static void every_allocation_may_fail_of_##name(void **unused)                  \
    {                                                                               \
        (void)unused;                                                               \
        refuse_all_ways(run_##name);                                                \
        limit_each(run_##name, 1);                                                  \
    }

RUN(dense_rows, 40, 2, 1, 2, "logistic")
RUN(sparse_rows, 40, 12, 0.2, 2, "logistic")
RUN(a_factored_inverse, 200, 3, 1, 2, "logistic")
RUN(several_classes, 40, 3, 1, 3, "softmax")
RUN(numbers, 40, 3, 1, 0, "squared")
RUN(margins_with_a_hinge, 40, 3, 1, 3, "squared_hinge")
RUN(sweeps, 30, 1500, 0.01, 3, "softmax")

/* The largest run that goes through both stages; only a few of its allocations. */
static void allocations_may_fail_of_rows_beyond_the_sample(void **unused)
{
    (void)unused;
    static const data large = {4200, 2, 1, 2, "logistic"};
    size_t n_refused = 1;
    for (size_t n = 1; n_refused > 0; n += 37) {
        refusing memory = {.first = n, .last = SIZE_MAX};
        gsai_env env = {ENV_SIZES, .call.n_threads = 1};
        bytes out = {0};
        gsa_error error = {0};
        env.memory = (gsa_memory){sizeof(gsa_memory), take, take_zeroed, take_more, give_back, &memory, NULL};
        gsa_status status = solve_of(&large, &env, &out, &error);
        n_refused = atomic_load(&memory.n_refused);
        assert_int_equal(status, n_refused > 0 ? GSA_MEMORY : GSA_OK);
        assert_int_equal(atomic_load(&memory.n_live), 0);
        free(out.data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_allocation_may_fail_of_dense_rows),
        cmocka_unit_test(every_allocation_may_fail_of_sparse_rows),
        cmocka_unit_test(every_allocation_may_fail_of_a_factored_inverse),
        cmocka_unit_test(every_allocation_may_fail_of_several_classes),
        cmocka_unit_test(every_allocation_may_fail_of_numbers),
        cmocka_unit_test(every_allocation_may_fail_of_margins_with_a_hinge),
        cmocka_unit_test(every_allocation_may_fail_of_sweeps),
        cmocka_unit_test(allocations_may_fail_of_rows_beyond_the_sample),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
