/* Merges of states in which rows wait to be solved. */
#include "../learn/bytes.h"
#include "../learn/evaluated.h"

#include "learn/inside.h"

static gsa_state *fresh(const char *loss)
{
    return state_with("loss", loss, "method", "auto", NULL);
}

static void add(gsa_state *state, const rows *r, size_t from, size_t n)
{
    const gsa_batch all = rows_batch(r), some = rows_slice(&all, from, n);
    update(state, &some);
}

/* States that fork from a base, or start from it, and have n rows more each. */
static void branch(const gsa_state *base, bool starts, const rows *r, size_t from, size_t n, gsa_state **out)
{
    gsa_error error = {0};
    for (size_t s = 0; s < 2; s++) {
        if (starts)
            must_be_ok(gsa_state_start_from(base, NULL, &out[s], &error), &error);
        else
            must_be_ok(gsa_state_fork(base, 1, &out[s], &error), &error);
        add(out[s], r, from + s * n, n);
    }
}

static void same_models(const gsa_state *a, const gsa_state *b)
{
    bytes of[2] = {{0}, {0}};
    gsa_error error = {0};
    for (int i = 0; i < 2; i++) {
        gsa_model *model = model_of(i ? b : a);
        must_be_ok(gsa_model_write(model, append, &of[i], &error), &error);
        gsa_model_free(model);
    }
    assert_true(of[0].size == of[1].size && memcmp(of[0].data, of[1].data, of[0].size) == 0);
    free(of[0].data);
    free(of[1].data);
}

static void rows_that_wait_wait_together(void **unused)
{
    (void)unused;
    for (int with_base = 0; with_base < 2; with_base++) {
        rows *r = rows_random(5, 900, 20, 4);
        gsa_state *all = fresh("softmax"), *base = fresh("softmax"), *part[2];
        add(all, r, 0, 900);
        add(base, r, 0, 300);
        branch(base, false, r, 300, 300, part);
        if (!with_base)
            for (size_t s = 0; s < 2; s++) {
                gsa_state_free(part[s]);
                part[s] = fresh("softmax");
                add(part[s], r, s * 450, 450);
            }
        gsa_state *both = merged_two(part[0], part[1], with_base ? base : NULL), *again = reread(both);
        assert_int_equal(gsai_state_n_waiting(both), 900);
        same_models(both, all);
        same_models(again, all);
        free_states(all, base, part[0], part[1]);
        free_states(both, again, NULL, NULL);
        free(r);
    }
}

/* Rows of the base are behind all states that started from it, and count once. */
static void a_base_whose_rows_wait_counts_once(void **unused)
{
    (void)unused;
    rows *r = rows_random(6, 900, 20, 2);
    gsa_state *base = fresh("logistic"), *part[2];
    add(base, r, 0, 300);
    branch(base, true, r, 300, 300, part);
    gsa_state *both = merged_two(part[0], part[1], base), *closed = NULL;
    gsa_error error = {0};
    must_be_ok(gsai_state_closed(both, true, &closed, &error), &error);
    gsa_model_free(model_of(both));
    assert_in_range(gsai_state_rows_behind(closed), 800, 900);
    free_states(base, part[0], part[1], both);
    gsa_state_free(closed);
    free(r);
}

static void states_that_wait_merge_with_states_that_have_learned(void **unused)
{
    (void)unused;
    rows *r = rows_random(7, 4000, 20, 2);
    for (int settles = 0; settles < 2; settles++) {
        gsa_state *base = fresh("logistic"), *part[2];
        gsa_error error = {0};
        add(base, r, 0, 1000);
        branch(base, false, r, 1000, 1000, part);
        if (settles)
            must_be_ok(gsa_state_close_group(part[0], &error), &error);
        gsa_state *with = merged_two(part[0], part[1], base);
        assert_int_equal(state_summary(with).n_rows + state_summary(with).n_held_out, 3000);
        gsa_model_free(model_of(with));
        free_states(base, part[0], part[1], with);
    }
    free(r);
}

static void rows_with_groups_do_not_merge_with_rows_without(void **unused)
{
    (void)unused;
    rows *r = rows_random(8, 2000, 20, 2);
    uint64_t group[2000];
    for (size_t i = 0; i < 2000; i++)
        group[i] = i % 50;
    for (int settles = 0; settles < 2; settles++) {
        gsa_state *a = fresh("logistic"), *b = fresh("logistic"), *both = NULL;
        gsa_error error = {0};
        gsa_batch all = rows_batch(r), some = rows_slice(&all, 0, 1000);
        update(b, &some);
        some = rows_slice(&all, 1000, 1000);
        some.group = group;
        update(a, &some);
        if (settles) {
            must_be_ok(gsa_state_close_group(a, &error), &error);
            must_be_ok(gsa_state_close_group(b, &error), &error);
        }
        assert_int_equal(gsa_state_merge((const gsa_state *[]){a, b}, 2, NULL, NULL, &both, &error), GSA_CONFLICT);
        assert_non_null(strstr(error.message, "group"));
        gsa_state *none = fresh("logistic");
        both = merged_two(a, none, NULL);
        free_states(a, b, both, none);
    }
    free(r);
}

static void headers_of_deltas_have_the_groups(void **unused)
{
    (void)unused;
    rows *r = rows_random(8, 4000, 20, 2);
    uint64_t group[4000];
    for (size_t i = 0; i < 4000; i++)
        group[i] = i % 50;
    gsa_batch all = rows_batch(r), some = rows_slice(&all, 0, 2000);
    gsa_state *base = fresh("logistic"), *part, *header;
    gsa_error error = {0};
    bytes b = {0};
    some.group = group;
    update(base, &some);
    close_group(base);
    must_be_ok(gsa_state_fork(base, 2, &part, &error), &error);
    some = rows_slice(&all, 2000, 2000);
    some.group = group + 2000;
    update(part, &some);
    close_group(part);
    must_be_ok(gsa_state_write_delta_header(part, base, append, &b, &error), &error);
    must_be_ok(gsa_state_read(b.data, b.size, NULL, &header, &error), &error);
    assert_int_equal(gsai_state_sample(header)->by, GSAI_BY_GROUP);
    free(b.data);
    free_states(base, part, header, NULL);
    free(r);
}

static void a_base_with_later_rows_is_refused(void **unused)
{
    (void)unused;
    rows *r = rows_random(9, 900, 20, 2);
    gsa_state *base = fresh("logistic"), *part[2], *both = NULL;
    gsa_error error = {0};
    add(base, r, 0, 300);
    branch(base, false, r, 300, 100, part);
    add(base, r, 500, 400);
    assert_int_equal(gsa_state_merge((const gsa_state *[]){part[0], part[1]}, 2, base, NULL, &both, &error),
                     GSA_CONFLICT);
    free_states(base, part[0], part[1], NULL);
    free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_that_wait_wait_together),
        cmocka_unit_test(a_base_whose_rows_wait_counts_once),
        cmocka_unit_test(states_that_wait_merge_with_states_that_have_learned),
        cmocka_unit_test(rows_with_groups_do_not_merge_with_rows_without),
        cmocka_unit_test(headers_of_deltas_have_the_groups),
        cmocka_unit_test(a_base_with_later_rows_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
