/* Features that are few among many numbers: renumbered to learn, and given back their numbers. */
#include "runs.h"

#include "base/memory.h"
#include "core/state.h"
#include "core/team.h"
#include "engine/compact.h"

#include <greedystep/train.h>

#include <stdio.h>

/* Rows of the generator whose features 0 .. 49 have numbers far apart, in the same order. */
static uint32_t far(uint32_t feature)
{
    return feature * 300007u + feature % 7u;
}

typedef struct copied {
    int64_t row_start[3001];
    uint32_t near[15000], wide[15000];
    double label[3000];
} copied;

static gsa_batch copy_rows(copied *data, int wide)
{
    gsa_reader *reader = generated(3000, 2, 5);
    gsa_batch batch;
    size_t n = 0, at = 0;
    while (gsa_reader_next(reader, &batch, NULL) == GSA_OK)
        for (size_t row = 0; row < batch.n_rows; row++) {
            for (int64_t i = batch.row_start[row]; i < batch.row_start[row + 1]; i++, at++) {
                data->near[at] = batch.index[i];
                data->wide[at] = far(batch.index[i]);
            }
            data->label[n] = batch.label[row];
            data->row_start[++n] = (int64_t)at;
        }
    gsa_reader_close(reader);
    return (gsa_batch){
        .n_rows = n, .row_start = data->row_start, .index = wide ? data->wide : data->near, .label = data->label};
}

static void ids_far_apart_are_renumbered_in_their_order(void **unused)
{
    (void)unused;
    static copied data;
    gsa_env env = gsa__env_resolve(NULL);
    gsa_error error = {0};
    gsa_batch batch = copy_rows(&data, 1);
    gsa__compact compact;
    must_be_ok(gsa__compact_rows(&compact, &batch, &env, &error), &error);
    assert_int_equal(compact.n_ids, 50);
    for (uint32_t f = 0; f < 50; f++)
        assert_int_equal(compact.id[f], far(f));
    assert_memory_equal(compact.rows.index, data.near, sizeof data.near);
    assert_ptr_equal(compact.rows.label, batch.label);
    gsa__compact_release(&compact, &env);
}

static void ids_that_are_small_or_dense_stay(void **unused)
{
    (void)unused;
    static uint32_t index[70000];
    static int64_t row_start[70001];
    gsa_env env = gsa__env_resolve(NULL);
    gsa_error error = {0};
    gsa__compact compact;
    for (uint32_t i = 0; i < 70000; i++) {
        index[i] = 4 * i;
        row_start[i + 1] = i + 1;
    }
    gsa_batch quarter = {.n_rows = 70000, .row_start = row_start, .index = index}, few = quarter;
    few.n_rows = 16000;
    must_be_ok(gsa__compact_rows(&compact, &quarter, &env, &error), &error);
    assert_null(compact.id);
    assert_ptr_equal(compact.rows.index, index);
    must_be_ok(gsa__compact_rows(&compact, &few, &env, &error), &error);
    assert_null(compact.id);
    index[69999] = 4 * 69999 + 8; /* now fewer than one in four */
    must_be_ok(gsa__compact_rows(&compact, &quarter, &env, &error), &error);
    assert_int_equal(compact.n_ids, 70000);
    assert_int_equal(compact.id[69999], 4 * 69999 + 8);
    gsa__compact_release(&compact, &env);
}

static bytes text_of(const gsa_batch *batch)
{
    bytes text = {malloc(4000000), 0};
    for (size_t row = 0; row < batch->n_rows; row++) {
        text.size += (size_t)sprintf((char *)text.data + text.size, "%g", batch->label[row]);
        for (int64_t i = batch->row_start[row]; i < batch->row_start[row + 1]; i++)
            text.size += (size_t)sprintf((char *)text.data + text.size, " %u:1", batch->index[i] + 1);
        text.size += (size_t)sprintf((char *)text.data + text.size, "\n");
    }
    return text;
}

typedef struct told {
    int passes;
    uint64_t n_features;
} told;

static gsa_status pass_ended(void *ctx, const gsa_state *state, gsa_error *error)
{
    told *what = ctx;
    (void)error;
    gsa_summary summary = state_summary(state);
    what->passes++;
    what->n_features = summary.n_features;
    return GSA_OK;
}

static gsa_state *learned(int wide, told *what)
{
    static copied data;
    gsa_error error = {0};
    gsa_reader *reader;
    gsa_batch batch = copy_rows(&data, wide);
    bytes text = text_of(&batch);
    gsa_train_hooks hooks = {.ctx = what, .pass_ended = pass_ended};
    gsa_state *state = state_with("method", "auto", "passes", "3", NULL);
    must_be_ok(gsa_reader_open_memory(text.data, text.size, "t.svm", NULL, NULL, &reader, &error), &error);
    must_be_ok(gsa_train(state, reader, &hooks, NULL, &error), &error);
    gsa_reader_close(reader);
    free(text.data);
    return state;
}

/* Numbers of features mean nothing to a team: the same weights, elsewhere. */
static void a_team_learns_the_same_whatever_the_numbers_of_features(void **unused)
{
    (void)unused;
    told near_told = {0}, wide_told = {0};
    gsa_state *near = learned(0, &near_told), *wide = learned(1, &wide_told);
    gsa_model *a = model_of(near), *b = model_of(wide);
    assert_int_equal(near_told.passes, wide_told.passes);
    assert_int_equal(near_told.n_features, 50);
    assert_int_equal(wide_told.n_features, (uint64_t)far(49) + 1);
    for (uint32_t f = 0; f < 50; f++) {
        assert_true(gsa_model_weight(a, f, 0) == gsa_model_weight(b, far(f), 0));
        assert_int_equal(gsa__state_count(near, f + 1), gsa__state_count(wide, (size_t)far(f) + 1));
        assert_true(gsa_model_weight(b, far(f) + 1u, 0) == 0);
    }
    gsa_model_free(a);
    gsa_model_free(b);
    gsa_state_free(near);
    gsa_state_free(wide);
}

/* A state of few features among many numbers is a small file, and comes back as it was. */
static void a_sparse_state_is_saved_without_its_gaps(void **unused)
{
    (void)unused;
    told what = {0};
    gsa_state *state = learned(1, &what), *back = reread(state);
    bytes saved = state_bytes(state);
    assert_true(saved.size < 20000);
    assert_int_equal(back->table.n_slots, state->table.n_slots);
    for (size_t slot = 0; slot < state->table.n_slots; slot++)
        for (size_t cell = 0; cell < gsa__table_stride(&state->table); cell++)
            assert_int_equal(gsa__table_slot(&state->table, slot)[cell].u, gsa__table_slot(&back->table, slot)[cell].u);
    same_bytes(&saved, back);
    free(saved.data);
    gsa_state_free(state);
    gsa_state_free(back);
}

static void numbers_that_do_not_fit_are_refused(void **unused)
{
    (void)unused;
    gsa_error error = {0};
    told what = {0};
    uint32_t ids[60];
    for (uint32_t i = 0; i < 60; i++)
        ids[i] = 10 * i;
    gsa_state *state = learned(0, &what);
    assert_int_equal(gsa__state_spread(state, ids, 49, &error), GSA_ARGUMENT);
    ids[20] = ids[19];
    assert_int_equal(gsa__state_spread(state, ids, 60, &error), GSA_ARGUMENT);
    ids[20] = 200;
    must_be_ok(gsa__state_spread(state, ids, 60, &error), &error);
    gsa_summary summary = state_summary(state);
    assert_int_equal(summary.n_features, 491);
    gsa_state_free(state);
    state = state_with("method", "auto", "loss", "logistic", NULL); /* a contest is open */
    assert_int_equal(gsa__state_spread(state, ids, 60, &error), GSA_ARGUMENT);
    gsa_state_free(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_far_apart_are_renumbered_in_their_order),
        cmocka_unit_test(ids_that_are_small_or_dense_stay),
        cmocka_unit_test(a_team_learns_the_same_whatever_the_numbers_of_features),
        cmocka_unit_test(a_sparse_state_is_saved_without_its_gaps),
        cmocka_unit_test(numbers_that_do_not_fit_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
