/* Few features in a large space of ids, as hashed ones are: the slots in use are known in every state, and ids far
 * apart give what the same features side by side give. */
#include "bytes.h"

#include "learn/calibration.h"
#include "learn/inside.h"
#include "learn/learner.h"
#include "learn/state_slots.h"

#include "base/memory.h"

#define FEATURES 40u
#define APART 30011u

/* The same rows with ids that lie far apart, in the same order. */
static void spread(rows *r)
{
    for (size_t e = 0; e < r->n_entries; e++)
        r->index[e] = r->index[e] * APART + 17;
}

static rows *spread_rows(uint64_t seed, unsigned n_classes)
{
    rows *r = rows_random(seed, 600, FEATURES, n_classes);
    spread(r);
    return r;
}

static bool has_anything(const gsa_state *state, size_t slot)
{
    const gsai_best_checkpoint *best = &state->best_checkpoint;
    bool any = !gsai_table_is_zero(&state->table, slot) || gsai_state_n_seen(state, slot) > 0;
    for (size_t k = 0; best->weight && slot < best->n_slots && k < best->n_outputs; k++)
        any = any || best->weight[slot * best->n_outputs + k] != 0;
    return any;
}

static void knows_its_slots(const gsa_state *state)
{
    const gsai_table *table = &state->table;
    size_t n = 0;
    assert_true(table->n_slots > 1000000 && gsai_table_uses(table, 0));
    for (size_t slot = 1; slot < table->n_slots; slot++) {
        if (gsai_table_uses(table, slot) != has_anything(state, slot))
            fail_msg("slot %zu is %sin use", slot, gsai_table_uses(table, slot) ? "" : "not ");
        n += gsai_table_uses(table, slot);
    }
    assert_true(n > 20 && n <= FEATURES && table->n_used == n + 1);
    size_t n_visited = 0;
    GSAI_EACH_SLOT(slot, table)
    n_visited++;
    assert_int_equal(n_visited, n + 1);
}

static gsa_state *read_back(const gsa_state *state)
{
    gsa_error error = {0};
    gsa_state *back = NULL;
    bytes first = state_bytes(state);
    must_be_ok(gsa_state_read(first.data, first.size, NULL, &back, &error), &error);
    bytes second = state_bytes(back);
    assert_int_equal(first.size, second.size);
    assert_memory_equal(first.data, second.data, first.size);
    free(first.data);
    free(second.data);
    return back;
}

static void every_state_knows_its_slots(void **unused)
{
    (void)unused;
    static const char *const methods[] = {"auto", "paper"};
    gsa_error error = {0};
    for (unsigned n_classes = 2; n_classes <= 3; n_classes++)
        for (size_t m = 0; m < 2; m++) {
            rows *r = spread_rows(n_classes, n_classes), *more = spread_rows(n_classes + 2, n_classes);
            gsa_batch all = rows_batch(r), half = rows_slice(&all, 0, 300), rest = rows_slice(&all, 300, 300);
            gsa_state *state = state_with("loss", "softmax", "method", methods[m], "compact", "on", NULL);
            learn(state, &half);
            close_group(state);
            must_be_ok(gsa_state_checkpoint_best(state, NULL, &error), &error);
            gsa_state *copy = forked(state, 2), *run = started_from(state), *back = read_back(state);
            learn(copy, &rest);
            close_group(copy);
            gsa_state *other = state_with("loss", "softmax", "method", methods[m], NULL);
            gsa_batch others = rows_batch(more);
            learn(other, &others);
            close_group(other);
            gsa_state *both = merged_two(state, other, NULL), *twin = forked(state, 2),
                      *since = merged_two(twin, copy, state);
            gsa_state *const states[] = {state, copy, run, back, both, since, other, twin};
            for (size_t s = 0; s < 8; s++) {
                knows_its_slots(states[s]);
                gsa_state_free(read_back(states[s]));
            }
            must_be_ok(gsa_state_refresh(run, state, 2, &error), &error); /* what the run had is gone */
            knows_its_slots(run);
            must_be_ok(gsai_state_fold(back, &error), &error);
            knows_its_slots(back);
            must_be_ok(gsai_state_widen(back, 9, &error), &error);
            knows_its_slots(back);
            free_each_state(states, 8);
            free(r);
            free(more);
        }
}

static void ids_far_apart_give_the_weights_of_ids_side_by_side(void **unused)
{
    (void)unused;
    static const char *const methods[] = {"gsa", "paper"};
    for (size_t m = 0; m < 2; m++) {
        rows *near = rows_random(5, 600, FEATURES, 2), *far = spread_rows(5, 2);
        gsa_batch batch[2] = {rows_batch(near), rows_batch(far)};
        gsa_model *model[2];
        for (size_t i = 0; i < 2; i++) {
            gsa_state *state =
                state_with("loss", "logistic", "method", methods[m], "holdout", "none", "scale", "none", NULL);
            learn(state, &batch[i]);
            model[i] = model_of(state);
            gsa_state_free(state);
        }
        size_t n_weights = 0;
        for (uint64_t id = 0; id < FEATURES; id++) {
            float expected = gsa_model_weight(model[0], id, 0), found = gsa_model_weight(model[1], id * APART + 17, 0);
            assert_memory_equal(&expected, &found, sizeof found);
            n_weights += found != 0;
            assert_true(gsa_model_weight(model[1], id * APART + 16, 0) == 0);
        }
        assert_true(n_weights > 20);
        gsa_model_free(model[0]);
        gsa_model_free(model[1]);
        free(near);
        free(far);
    }
}

/* Features of a part of the ids, each of the eight entries of a row in its own eighth: until many are in use. */
static void pages_give_the_bytes_of_records_side_by_side(void **unused)
{
    (void)unused;
    enum { IDS = 1 << 15, ROWS = 2000, PART = IDS / 8 };
    for (unsigned n_classes = 2; n_classes <= 3; n_classes++) {
        rows *r = rows_random(9, ROWS, FEATURES, n_classes);
        for (size_t i = 0; i < ROWS; i++)
            for (int64_t first = r->row_start[i], e = first; e < r->row_start[i + 1]; e++)
                r->index[e] = (uint32_t)(e - first) * PART + (uint32_t)(gsai_mix((uint64_t)e) % PART);
        gsa_batch all = rows_batch(r);
        gsa_state *paged = state_with("loss", "softmax", "method", "gsa", NULL),
                  *whole = state_with("loss", "softmax", "method", "gsa", NULL);
        bool had_pages = false;
        prepare(whole, &all);
        whole->table.is_whole = true;
        prepare(paged, &all);
        for (size_t from = 0; from < ROWS; from += 100) {
            gsa_batch some = rows_slice(&all, from, 100);
            learn(paged, &some);
            learn(whole, &some);
            close_group(paged);
            close_group(whole);
            had_pages = had_pages || paged->table.page;
            assert_null(whole->table.page);
            same_states(paged, whole);
        }
        assert_true(had_pages && !paged->table.page);
        free_states(paged, whole);
        free(r);
    }
}

/* Each row has two features that no other row has, one of them beyond the columns that may be centred. */
static void give_own_features(rows *r)
{
    spread(r);
    for (size_t i = 0; i < r->n_rows; i++)
        if (r->row_start[i + 1] - r->row_start[i] > 2) {
            r->index[r->row_start[i]] = (uint32_t)(1000 + i);
            r->index[r->row_start[i + 1] - 1] = (uint32_t)(3000000 + i);
        }
}

static void has_weights_of_a_whole_copy(const gsa_state *state)
{
    gsa_error error = {0};
    gsai_calibration calibration;
    gsa_state *copy = forked(state, 1);
    assert_true(gsai_sample_count(&state->sample) > 30 && gsai_state_n_waiting(state) == 0);
    must_be_ok(gsai_calibrate(state, &state->table, NULL, &calibration, &error), &error);
    must_be_ok(gsai_state_learn_sample(copy, NULL, &error), &error);
    assert_true(copy->table.n_used > state->table.n_used + 30); /* features of held-out rows alone */
    gsa_model *model = model_of(state);
    bool is_swapped = gsai_labels_find_text(&state->labels, "1") == 0; /* a model has labels in their order */
    size_t n = 0;
    for (size_t slot = gsai_table_next(&copy->table, 1); slot < copy->table.n_slots;
         slot = gsai_table_next(&copy->table, slot + 1)) {
        double weight = gsai_calibrated(&calibration, copy, slot, gsai_state_average(copy, slot, 0));
        float exact = (float)(is_swapped ? -weight : weight) + 0.0F;
        float found = gsa_model_weight(model, slot - 1, 0);
        assert_memory_equal(&exact, &found, sizeof found);
        n += found != 0;
    }
    gsa_model_info info;
    info.size = sizeof info;
    must_be_ok(gsa_model_get_info(model, &info), &error);
    assert_int_equal(info.n_used, n);
    assert_int_equal(info.n_features, copy->table.n_slots - 1);
    gsa_model_free(model);
    gsa_state_free(copy);
}

static void a_model_has_the_weights_of_a_copy_that_learns_the_held_out_rows(void **unused)
{
    (void)unused;
    rows *r = rows_random(11, 1003, FEATURES, 2);
    give_own_features(r);
    gsa_batch all = rows_batch(r), first = rows_slice(&all, 0, 800), rest = rows_slice(&all, 800, 203);
    gsa_state *state = state_with("loss", "logistic", "method", "gsa", NULL);
    learn(state, &first);
    close_group(state);
    gsa_state *next = started_from(state);
    learn(state, &rest);
    close_group(state);
    has_weights_of_a_whole_copy(state);
    learn(next, &first);
    close_group(next);
    learn(next, &rest);
    close_group(next);
    has_weights_of_a_whole_copy(next);
    gsa_state_free(state);
    gsa_state_free(next);
    free(r);
}

static void a_state_without_a_table_has_copies_without_one(void **unused)
{
    (void)unused;
    gsa_state *state = state_with("loss", "auto", NULL), *copy = forked(state, 2), *back = read_back(copy);
    assert_true(!copy->table.cells && copy->table.n_used == 0 && !back->table.cells);
    free_states(state, copy, back);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_state_knows_its_slots),
        cmocka_unit_test(a_state_without_a_table_has_copies_without_one),
        cmocka_unit_test(a_model_has_the_weights_of_a_copy_that_learns_the_held_out_rows),
        cmocka_unit_test(pages_give_the_bytes_of_records_side_by_side),
        cmocka_unit_test(ids_far_apart_give_the_weights_of_ids_side_by_side),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
