/* A part is one row of the table: two that no code knows are freed, copied, merged, saved, loaded and in headers. */
#include "bytes.h"
#include "support/failing_memory.h"

#include "learn/inside.h"

#include "base/memory.h"

static void set_parts(gsa_state *state, double sum, uint64_t first)
{
    size_t n = 3;
    assert_true(gsai_reserve(&state->env, &state->more_list.at, &state->more_list.capacity, n, sizeof first));
    for (size_t i = 0; i < n; i++)
        state->more_list.at[i] = first + i;
    state->more_list.n = n;
    state->more_sum = sum;
}

static void has_parts(const gsa_state *state, double sum, uint64_t first)
{
    assert_true(state->more_sum == sum);
    assert_int_equal(state->more_list.n, 3);
    assert_int_equal(state->more_list.at[2], first + 2);
}

/* Copies a state in all ways. */
static gsa_status copy_all(const gsa_state *state, const gsai_env *env, gsa_state *out[3], gsa_error *error)
{
    gsa_status status = state_in(memory_of(env), state, &out[0], error);
    if (status == GSA_OK)
        status = gsa_state_fork(out[0], 1, &out[1], error);
    if (status == GSA_OK)
        status = gsa_state_start_from(out[0], NULL, &out[2], error);
    return status;
}

static void parts_are_copied_and_saved(void **unused)
{
    (void)unused;
    rows *r = rows_random(1, 200, 30, 2);
    gsa_batch batch = rows_batch(r);
    gsa_state *state = state_with("loss", "logistic", NULL);
    learn(state, &batch);
    set_parts(state, 2.5, 7);
    for (size_t n = 0;; n++) {
        failing f = {n, 0};
        gsai_env env = failing_env(&f);
        gsa_error error = {0};
        gsa_state *copies[3] = {NULL, NULL, NULL};
        gsa_status status = copy_all(state, &env, copies, &error);
        if (status == GSA_OK) {
            has_parts(copies[0], 2.5, 7);
            has_parts(copies[1], 2.5, 7);
            has_parts(copies[2], 0, 7); /* a new run has the list only */
        }
        free_states(copies[0], copies[1], copies[2]);
        assert_int_equal(f.live, 0);
        if (status == GSA_OK)
            break;
        assert_int_equal(status, GSA_MEMORY);
    }
    free_states(state);
    free(r);
}

static void parts_are_merged_and_in_headers(void **unused)
{
    (void)unused;
    rows *r = rows_random(1, 200, 30, 2);
    gsa_batch batch = rows_batch(r);
    gsa_error error = {0};
    gsa_state *base = state_with("loss", "logistic", "scale", "none", NULL), *replica[2], *all = NULL, *header = NULL;
    learn(base, &batch);
    must_be_ok(gsa_state_close_group(base, &error), &error);
    set_parts(base, 1, 7);
    for (size_t s = 0; s < 2; s++) {
        must_be_ok(gsa_state_fork(base, 2, &replica[s], &error), &error);
        replica[s]->more_sum += 2 + (double)s;
    }
    must_be_ok(gsa_state_merge((const gsa_state *const *)replica, 2, base, NULL, &all, &error), &error);
    assert_true(all->more_sum == 1 + 2 + 3);
    bytes b = {0};
    must_be_ok(gsa_state_write_delta_header(replica[1], base, append, &b, &error), &error);
    must_be_ok(gsa_state_read(b.data, b.size, NULL, &header, &error), &error);
    has_parts(header, 4, 7);
    free(b.data);
    free_states(header, all, replica[0], replica[1], base);
    free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_are_copied_and_saved),
        cmocka_unit_test(parts_are_merged_and_in_headers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
