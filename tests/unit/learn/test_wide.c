/* Wide tables, most of whose slots were never learned: which slots count as used, and which features keep a name. */
#define MAX_ROWS 16384
#include "learn/learner.h"
#include "rows.h"

#include "base/memory.h"
#include "learn/inside.h"
#include "model/model.h"

#include <math.h>
#include <stdio.h>

#define FEATURES 200000u
#define KEPT 65536u

static void a_slot_is_unused_only_if_all_of_its_record_is_zero(void **unused)
{
    (void)unused;
    gsai_env env = gsai_env_resolve(NULL);
    gsa_error error = {0};
    for (size_t n_outputs = 1; n_outputs <= 3; n_outputs += 2) {
        gsai_table table;
        must_be_ok(gsai_table_init(&table, 3, n_outputs, &env, &error), &error);
        for (size_t cell = 0; cell < gsai_table_stride(&table); cell++) {
            assert_true(gsai_table_is_zero(&table, 1));
            gsai_table_slot(&table, 1)[cell].u = 1;
            assert_false(gsai_table_is_zero(&table, 1));
            assert_true(gsai_table_is_zero(&table, 0) && gsai_table_is_zero(&table, 2));
            gsai_table_slot(&table, 1)[cell].u = 0;
        }
        gsai_table_release(&table, &env);
    }
}

/* Every third feature has none. */
static const char *name_of(const void *ctx, uint64_t feature)
{
    return feature % 3 == 2 ? NULL : (const char *)ctx + 16 * feature;
}

static int descending(const void *a, const void *b)
{
    const float *x = a, *y = b;
    return (*x < *y) - (*x > *y);
}

static float strength_of(const gsa_state *state, uint32_t id)
{
    return (float)(fabs(gsai_state_average(state, id + 1, 0)) * gsai_state_deviation(state, id + 1));
}

static void the_strongest_features_keep_their_names(void **unused)
{
    (void)unused;
    static float strength[FEATURES];
    static char texts[FEATURES][16];
    gsa_error error = {0};
    rows *r = rows_new();
    gsai_rng rng = gsai_rng_of(5, 0, 0);
    for (uint32_t i = 0; i < FEATURES; i++) {
        uint32_t id = FEATURES - 16 * (i / 16 + 1) + i % 16; /* the highest ids first: they become the strongest */
        snprintf(texts[id], sizeof texts[id], "f%u", id);
        rows_entry(r, id, (float)(1 + gsai_rng_below(&rng, 1000)));
        if (i % 16 == 15)
            rows_end(r, (double)(i / 16 % 2));
    }
    gsa_batch batch = rows_batch(r);
    gsa_state *state = state_with("holdout", "none", NULL);
    learn(state, &batch);
    size_t n_named = 0, n_kept = 0;
    for (uint32_t id = 0; id < FEATURES; id++)
        if (id % 3 != 2)
            strength[n_named++] = strength_of(state, id);
    qsort(strength, n_named, sizeof *strength, descending);
    must_be_ok(gsa_state_set_names(state, name_of, texts, &error), &error);
    gsa_model *model = NULL;
    must_be_ok(gsa_state_finish(state, NULL, &model, &error), &error);
    for (uint32_t id = 0; id < FEATURES; id++) {
        const char *name = gsa_model_name(model, id);
        float own = strength_of(state, id);
        n_kept += name != NULL;
        if (id % 3 == 2 || own < strength[KEPT - 1])
            assert_null(name);
        else if (own > strength[KEPT])
            assert_string_equal(name, texts[id]);
    }
    assert_int_equal(n_kept, KEPT);
    gsa_model_free(model);
    gsa_state_free(state);
    free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_slot_is_unused_only_if_all_of_its_record_is_zero),
        cmocka_unit_test(the_strongest_features_keep_their_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
