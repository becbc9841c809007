/* Rows held out by hand, the best weights that are kept, and the model that is made of all that. */
#include "bytes.h"

#include "learn/calibration.h"
#include "learn/inside.h"
#include "learn/learner.h"
#include "store/snapshot.h"
#include "support/failing_memory.h"

#include <math.h>

#define FEATURES 24

static double model_weight(const gsa_model *model, size_t slot, size_t k)
{
    return slot == 0 ? gsa_model_intercept(model, k) : (double)gsa_model_weight(model, slot - 1, k);
}

static void same_models(const gsa_model *a, const gsa_model *b)
{
    bytes x = {0}, y = {0};
    gsa_error error = {0};
    must_be_ok(gsa_model_write(a, append, &x, &error), &error);
    must_be_ok(gsa_model_write(b, append, &y, &error), &error);
    assert_int_equal(x.size, y.size);
    assert_memory_equal(x.data, y.data, x.size);
    free(x.data);
    free(y.data);
}

static void keep_best(gsa_state *state)
{
    gsa_error error = {0};
    must_be_ok(gsa_state_checkpoint_best(state, NULL, &error), &error);
}

static void read_pass(gsa_state *state, const gsa_batch *batch)
{
    learn(state, batch);
    keep_best(state);
    end_pass(state);
}

/* Labels that the features hardly explain: the more passes, the worse on other rows. */
static rows *noisy(uint64_t seed, size_t n, unsigned n_classes)
{
    rows *r = rows_random(seed, n, FEATURES, n_classes);
    gsai_rng rng = gsai_rng_of(seed, 5, 5);
    for (size_t row = 0; row < n; row++)
        if (gsai_rng_unit(&rng) < 0.7)
            r->label[row] = n_classes > 0 ? (double)gsai_rng_below(&rng, n_classes) : 3 * gsai_rng_unit(&rng);
    return r;
}

/* ---- the model ------------------------------------------------------------------------------------------------------
 */

static const struct {
    const char *loss, *scale, *class_weight;
    unsigned n_classes;
} kinds[] = {{"auto", "auto", "none", 2},    {"auto", "standard", "balanced", 2}, {"softmax", "none", "none", 4},
             {"squared", "auto", "none", 0}, {"hinge", "auto", "none", 3},        {"auto", "auto", "balanced", 3}};

static gsa_state *state_of_kind(size_t kind)
{
    return state_with("method", "auto", "loss", kinds[kind].loss, "scale", kinds[kind].scale, "class_weight",
                      kinds[kind].class_weight, NULL);
}

/* Calibrated by the held-out rows, learned on by a copy that takes them in too. */
static void a_model_is_calibrated_before_it_learns_the_held_out_rows(void **unused)
{
    (void)unused;
    for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++) {
        rows *r = noisy(kind, 600, kinds[kind].n_classes);
        gsa_batch batch = rows_batch(r);
        gsa_state *state = state_of_kind(kind), *copy;
        gsa_error error = {0};
        prepare(state, &batch);
        learn(state, &batch);
        bytes before = state_bytes(state);
        gsa_model *model = model_of(state);
        same_bytes(&before, state);
        gsai_calibration calibration;
        must_be_ok(gsai_calibrate(state, gsai_state_table(state), NULL, &calibration, &error), &error);
        assert_true(calibration.scale != 1);
        copy = forked(state, 1);
        assert_in_range(state->sample.n, 30, 100);
        for (size_t i = 0; i < state->sample.n; i++) {
            const gsai_held_row *held = state->sample.at[i];
            gsai_row row = gsai_held_row_view(held);
            must_be_ok(
                gsai_state_learn(copy, &row, NULL, held->class_number, held->number, (double)held->weight, &error),
                &error);
        }
        gsa_model_info info = {.size = sizeof info};
        gsa_model_get_info(model, &info);
        assert_int_equal(info.n_rows, 600);
        for (size_t slot = 0; slot <= info.n_features; slot++)
            for (size_t k = 0; k < info.n_outputs; k++) {
                double expected = calibration.scale * gsai_state_average(copy, slot, k);
                expected += slot == 0 ? calibration.offset + copy->label_offset.at : 0;
                assert_close(model_weight(model, slot, k), expected, 1e-6 * (1 + fabs(expected)));
            }
        free(before.data);
        gsa_model_free(model);
        free_states(state, copy);
        free(r);
    }
}

/* Which of the two a run has is for the engine: a state that is given rows learns, holds out and measures alike. */
static void gsa_and_auto_are_the_same_to_a_state(void **unused)
{
    (void)unused;
    for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++) {
        rows *r = noisy(kind, 600, kinds[kind].n_classes);
        gsa_batch batch = rows_batch(r);
        gsa_error error = {0};
        gsa_state *states[2] = {state_of_kind(kind), state_of_kind(kind)};
        gsa_model *models[2];
        must_be_ok(gsa_state_set(states[1], "method", "gsa", &error), &error);
        for (size_t i = 0; i < 2; i++) {
            prepare(states[i], &batch);
            for (int pass = 0; pass < 3; pass++)
                read_pass(states[i], &batch);
            assert_true(state_summary(states[i]).n_held_out > 0);
            must_be_ok(gsai_params_set(&states[i]->params, "method", "auto", &error), &error);
            models[i] = model_of(states[i]);
        }
        same_states(states[0], states[1]);
        same_models(models[0], models[1]);
        gsa_model_free(models[0]);
        gsa_model_free(models[1]);
        free_each_state(states, 2);
        free(r);
    }
}

/* The same model whether the two labels came in sorted order or not. */
static void a_calibrated_model_does_not_depend_on_the_order_of_labels(void **unused)
{
    (void)unused;
    rows *r = noisy(3, 400, 2);
    gsa_batch batch = rows_batch(r);
    size_t one = 0;
    while (r->label[one] != 1)
        one++;
    gsa_batch just_one = rows_slice(&batch, one, 1);
    gsa_state *sorted = state_with("method", "auto", NULL), *turned = state_with("method", "auto", NULL);
    prepare(sorted, &batch);
    prepare(turned, &just_one);
    learn(sorted, &batch);
    learn(turned, &batch);
    gsa_model *a = model_of(sorted), *b = model_of(turned);
    for (size_t slot = 0; slot <= FEATURES; slot++)
        assert_close(model_weight(a, slot, 0), model_weight(b, slot, 0), 1e-5);
    gsa_model_free(a);
    gsa_model_free(b);
    free_states(sorted, turned);
    free(r);
}

static void the_papers_method_makes_its_model_of_the_weights_as_they_are(void **unused)
{
    (void)unused;
    rows *r = noisy(3, 400, 3);
    gsa_batch batch = rows_batch(r);
    gsa_state *state = state_with("method", "paper", NULL);
    read_pass(state, &batch);
    learn(state, &batch);
    assert_int_equal(state_summary(state).n_held_out, 0);
    assert_int_equal(state_summary(state).best_pass, 0);
    assert_true(isnan(state_summary(state).best_loss));
    gsa_model *model = model_of(state);
    for (size_t slot = 0; slot <= FEATURES; slot++)
        for (size_t k = 0; k < 3; k++)
            assert_true(model_weight(model, slot, k) == (double)(float)gsai_state_average(state, slot, k));
    gsa_model_free(model);
    gsa_state_free(state);
    free(r);
}

/* ---- the best -------------------------------------------------------------------------------------------------------
 */

static void the_model_is_the_best_pass_when_later_ones_are_worse(void **unused)
{
    (void)unused;
    for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++) {
        rows *r = noisy(kind, 600, kinds[kind].n_classes);
        gsa_batch batch = rows_batch(r);
        gsa_state *state = state_of_kind(kind);
        gsa_error error = {0};
        prepare(state, &batch);
        double best_loss = INFINITY, best_told = NAN, weight[FEATURES + 1][4];
        uint64_t best_pass = 0, pass = 0;
        for (; pass < 12 && pass <= best_pass + 1; pass++) {
            learn(state, &batch);
            close_group(state);
            gsai_calibration now;
            must_be_ok(gsai_calibrate(state, gsai_state_table(state), NULL, &now, &error), &error);
            keep_best(state);
            if (now.loss < (1 - 0.0005) * best_loss) {
                best_loss = now.loss;
                best_pass = pass + 1;
                best_told = gsa_state_held_out_loss(state);
                for (size_t slot = 0; slot < state->table.n_slots; slot++)
                    for (size_t k = 0; k < state->table.n_outputs; k++)
                        weight[slot][k] = now.scale * (double)(float)gsai_state_average(state, slot, k) +
                                          (slot == 0 ? now.offset + state->label_offset.at : 0);
            }
            end_pass(state);
            assert_int_equal(state_summary(state).best_pass, best_pass);
            assert_close(state_summary(state).best_loss, best_loss, 0);
        }
        assert_true(best_pass < pass); /* else the data is too easy to test anything */
        assert_close(gsa_state_held_out_loss(state), best_told, 1e-5 * best_told); /* that of the model, not of now */
        gsa_model *model = model_of(state);
        gsa_model_info info = {.size = sizeof info};
        gsa_model_get_info(model, &info);
        for (size_t slot = 0; slot <= FEATURES; slot++)
            for (size_t k = 0; k < info.n_outputs; k++)
                assert_close(model_weight(model, slot, k), weight[slot][k], 1e-6 * (1 + fabs(weight[slot][k])));
        gsa_model_free(model);
        gsa_state_free(state);
        free(r);
    }
}

/* Features that came after the best pass have no weight in it. */
static void the_best_weights_know_nothing_of_later_features(void **unused)
{
    (void)unused;
    rows *r = noisy(1, 600, 2), *later = noisy(2, 300, 2);
    for (size_t e = 0; e < later->n_entries; e++)
        later->index[e] += FEATURES;
    gsa_batch batch = rows_batch(r), unknown = rows_batch(later);
    gsa_state *state = state_with("method", "auto", "loss", "logistic", NULL);
    read_pass(state, &batch);
    for (int pass = 0; pass < 3; pass++) {
        learn(state, &unknown);
        end_pass(state);
    }
    assert_int_equal(state_summary(state).best_pass, 1);
    gsa_model *model = model_of(state);
    double known = 0;
    for (size_t i = 0; i < 2 * FEATURES; i++)
        if (i < FEATURES)
            known += fabs((double)gsa_model_weight(model, i, 0));
        else
            assert_true(gsa_model_weight(model, i, 0) == 0);
    assert_true(known > 0);
    gsa_model_free(model);
    gsa_state_free(state);
    free(r);
    free(later);
}

/* A third label makes other outputs: what was kept for one is of no use then. */
static void the_best_of_fewer_labels_is_not_made_a_model_of(void **unused)
{
    (void)unused;
    rows *r = noisy(1, 600, 2), *more = noisy(2, 600, 3);
    gsa_batch two = rows_batch(r), three = rows_batch(more);
    gsa_state *state = state_with("method", "auto", NULL);
    read_pass(state, &two);
    learn(state, &three);
    end_pass(state);
    assert_int_equal(state_summary(state).best_pass, 1);
    gsa_model *model = model_of(state);
    gsa_model_info info = {.size = sizeof info};
    gsa_model_get_info(model, &info);
    assert_int_equal(info.n_outputs, 3);
    gsa_state *again = reread(state);
    gsa_model *same = model_of(again);
    same_models(model, same);
    gsa_model_free(model);
    gsa_model_free(same);
    free_states(state, again);
    free(r);
    free(more);
}

static void a_kept_best_survives_saving_and_forking(void **unused)
{
    (void)unused;
    for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++) {
        rows *r = noisy(kind, 600, kinds[kind].n_classes);
        gsa_batch batch = rows_batch(r);
        gsa_state *quiet = state_of_kind(kind), *disturbed = state_of_kind(kind), *copy;
        prepare(quiet, &batch);
        prepare(disturbed, &batch);
        for (int pass = 0; pass < 5; pass++) {
            read_pass(quiet, &batch);
            read_pass(disturbed, &batch);
            gsa_state *again = reread(disturbed);
            gsa_state_free(disturbed);
            disturbed = forked(again, 1);
            gsa_state_free(again);
            bytes before = state_bytes(quiet);
            same_bytes(&before, disturbed);
            free(before.data);
            gsa_model *a = model_of(quiet), *b = model_of(disturbed);
            same_models(a, b);
            gsa_model_free(a);
            gsa_model_free(b);
        }
        assert_true(state_summary(disturbed).best_pass > 0);
        /* A fork has a best of its own: what the copy finds does not change the state. */
        bytes before = state_bytes(quiet);
        copy = forked(quiet, 1);
        copy->best_checkpoint.weight[0] += 1;
        same_bytes(&before, quiet);
        free(before.data);
        free_states(copy, quiet, disturbed);
        free(r);
    }
}

static void replacing_leaves_one_state_of_two(void **unused)
{
    (void)unused;
    rows *r = noisy(1, 300, 3);
    gsa_batch batch = rows_batch(r);
    gsa_state *state = state_with("method", "auto", NULL), *by = state_with("method", "auto", NULL);
    gsa_error error = {0};
    learn(state, &batch);
    read_pass(by, &batch);
    bytes expected = state_bytes(by);
    must_be_ok(gsa_state_replace(state, by, &error), &error);
    same_bytes(&expected, state);
    learn(state, &batch);
    free(expected.data);
    gsa_state_free(state);
    free(r);
}

/* ---- troubles -------------------------------------------------------------------------------------------------------
 */

/* The rows cannot be evaluated or learned without their loss; the weights are there all the same. */
static void a_loaded_state_without_its_loss_still_makes_a_model(void **unused)
{
    (void)unused;
    rows *r = noisy(8, 300, 0);
    gsa_batch batch = rows_batch(r);
    gsa_margin_loss loss = {.size = sizeof loss, half_square, half_square_slope, NULL};
    gsa_config *config;
    gsa_error error = {0};
    gsa_state *state;
    config = config_with(NULL);
    must_be_ok(gsa_config_set_loss(config, &loss, &error), &error);
    must_be_ok(gsa_state_new(config, NULL, &state, &error), &error);
    gsa_config_free(config);
    learn(state, &batch);
    gsa_state *bare = reread(state);
    assert_in_range(state_summary(bare).n_held_out, 20, 40);
    keep_best(bare);
    gsa_model *model = model_of(bare);
    assert_true(model_weight(model, 0, 0) == gsai_state_average(bare, 0, 0));
    for (size_t slot = 1; slot <= FEATURES; slot++)
        assert_true(model_weight(model, slot, 0) == (double)(float)gsai_state_average(bare, slot, 0));
    gsa_model_free(model);
    must_be_ok(gsa_state_set_loss(bare, &loss, &error), &error);
    gsa_model *a = model_of(state), *b = model_of(bare);
    same_models(a, b);
    gsa_model_free(a);
    gsa_model_free(b);
    gsa_state_free(bare);
    keep_best(state);
    end_pass(state);
    end_pass(state);
    bare = reread(state); /* what was kept needs no loss */
    a = model_of(state);
    b = model_of(bare);
    same_models(a, b);
    gsa_model_free(a);
    gsa_model_free(b);
    free_states(bare, state);
    free(r);
}

static void no_memory_to_finish_or_to_keep_is_a_status_and_changes_nothing(void **unused)
{
    (void)unused;
    rows *r = noisy(2, 300, 3);
    gsa_batch batch = rows_batch(r);
    failing memory = {SIZE_MAX, 0};
    gsai_env env = failing_env(&memory);
    gsa_state *plain = state_with("method", "auto", NULL), *state;
    gsa_error error = {0};
    learn(plain, &batch);
    must_be_ok(state_in(&env.memory, plain, &state, &error), &error);
    gsa_state_free(plain);
    bytes before = state_bytes(state);
    size_t live = memory.live, n = 0;
    for (int finish = 1; finish >= 0; finish--) {
        gsa_status status = GSA_MEMORY;
        for (n = 0; status != GSA_OK; n++) {
            gsa_model *model = NULL;
            memory.left = n;
            status =
                finish ? gsa_state_finish(state, NULL, &model, &error) : gsa_state_checkpoint_best(state, NULL, &error);
            assert_true(status == GSA_OK || status == GSA_MEMORY);
            memory.left = SIZE_MAX;
            gsa_model_free(model);
            if (status != GSA_OK || finish) {
                assert_int_equal(memory.live, live);
                same_bytes(&before, state);
            }
        }
        assert_true(n > (finish ? 30 : 3));
    }
    assert_int_equal(memory.live, live + 1);
    gsa_state_free(state);
    assert_int_equal(memory.live, 0);
    free(before.data);
    free(r);
}

/* ---- rows of a few kinds ------------------------------------------------------------------------------------------
 */

enum { KINDS = 200, PARTS = 2 };

/* One feature a kind; its label is 1 in a share of the rows that the kind tells. */
static double share_of(size_t kind, size_t n_kinds)
{
    return 0.04 + 0.4 * (double)kind / (double)n_kinds;
}

static void learn_kinds(gsa_state *state, uint64_t seed, size_t n_kinds)
{
    rows *r = rows_new();
    gsai_rng rng = gsai_rng_of(seed, 3, 3);
    for (size_t i = 0; i < MAX_ROWS; i++) {
        size_t kind = (size_t)gsai_rng_below(&rng, n_kinds);
        rows_entry(r, (uint32_t)kind, 1);
        rows_end(r, gsai_rng_unit(&rng) < share_of(kind, n_kinds));
    }
    gsa_batch batch = rows_batch(r);
    learn(state, &batch);
    close_group(state);
    free(r);
}

static double held_weight(const gsa_state *state)
{
    double sum = 0;
    for (size_t i = 0; i < state->sample.n; i++)
        sum += state->sample.at[i]->weight;
    return sum;
}

/* A kind is held with all its rows, both labels by their weight, or learned with all of them. */
static void kinds_of_rows_are_held_whole(void **unused)
{
    (void)unused;
    gsa_state *state = state_with("method", "auto", "scale", "none", NULL);
    for (uint64_t part = 0; part < PARTS; part++)
        learn_kinds(state, part, KINDS);
    double n = PARTS * MAX_ROWS, weight = held_weight(state);
    assert_true(state->sample.n > 10 && weight > 0.04 * n && weight < 0.2 * n);
    assert_int_equal(state->n_rows + (uint64_t)weight, PARTS * MAX_ROWS);
    for (size_t i = 0; i < state->sample.n; i++)
        assert_int_equal(gsai_state_n_seen(state, (size_t)state->sample.at[i]->entries[0] + 1), 0);
    gsa_state *again = reread(state);
    bytes before = state_bytes(state);
    same_bytes(&before, again);
    assert_true(held_weight(again) == weight);
    free(before.data);
    free_states(again, state);
}

static double seen_by(const gsa_state *state)
{
    double sum = 0;
    for (size_t i = 0; i < state->sample.n; i++)
        sum += state->sample.at[i]->seen;
    return sum;
}

/* Five kinds of thousands of rows: all are learned, and their entries weigh all that was seen, both labels of a kind
 * by their shares. Whether their hashes are below the threshold makes no difference. */
static void learn_common_kinds(uint64_t below)
{
    gsa_error error = {0};
    gsa_state *state = state_with("method", "auto", "scale", "none", NULL);
    gsa_model *model;
    state->sample.below = below;
    for (uint64_t part = 0; part < PARTS; part++)
        learn_kinds(state, part, 5);
    assert_int_equal(state->sample.n, 2 * 5);
    assert_true(held_weight(state) == 0 && seen_by(state) == PARTS * MAX_ROWS);
    assert_int_equal(state->n_rows, PARTS * MAX_ROWS);
    gsa_state *again = reread(state), *copies[] = {forked(state, 2), forked(state, 2)};
    bytes before = state_bytes(state);
    same_bytes(&before, again);
    learn_kinds(copies[0], 11, 5);
    learn_kinds(copies[1], 12, 5);
    gsa_state *both = merged_two(copies[0], copies[1], state);
    assert_true(held_weight(both) == 0 && seen_by(both) == (PARTS + 2) * MAX_ROWS);
    must_be_ok(gsa_state_finish(state, NULL, &model, &error), &error);
    for (size_t kind = 0; kind < 5; kind++) {
        double margin = model_weight(model, 0, 0) + model_weight(model, kind + 1, 0);
        assert_true(fabs(1 / (1 + exp(-margin)) - share_of(kind, 5)) < 0.05);
    }
    free(before.data);
    gsa_model_free(model);
    free_states(state, again, copies[0], copies[1], both);
}

static void common_kinds_are_learned_and_judge(void **unused)
{
    (void)unused;
    learn_common_kinds(UINT64_MAX); /* all would be held */
    learn_common_kinds(GSAI_SAMPLE_BELOW);
    learn_common_kinds(1); /* none would be */
}

/* A kind that has become common to one copy is so to all. */
static void what_is_common_to_one_copy_is_common_to_the_merged(void **unused)
{
    (void)unused;
    gsa_state *base = state_with("method", "auto", "scale", "none", NULL);
    base->sample.below = UINT64_MAX;
    learn_kinds(base, 1, 2 * KINDS); /* about 10 rows of each */
    gsa_state *copies[] = {forked(base, 2), forked(base, 2)};
    assert_true(held_weight(base) == MAX_ROWS);
    for (uint64_t part = 0; part < 12; part++)
        learn_kinds(copies[0], 20 + part, 2 * KINDS);
    learn_kinds(copies[1], 40, 2 * KINDS);
    assert_true(held_weight(copies[0]) == 0 && held_weight(copies[1]) == 2 * MAX_ROWS);
    gsa_state *both = merged_two(copies[0], copies[1], base), *turned = merged_two(copies[1], copies[0], base);
    assert_true(held_weight(both) == 0 && held_weight(turned) == 0);
    assert_true(seen_by(both) == 14 * MAX_ROWS && seen_by(turned) == 14 * MAX_ROWS);
    free_states(base, copies[0], copies[1], both, turned);
}

static void what_copies_hold_adds_up_and_their_base_counts_once(void **unused)
{
    (void)unused;
    gsa_state *base = state_with("method", "auto", "scale", "none", NULL), *copies[3], *all;
    learn_kinds(base, 0, 2 * KINDS); /* so many that none becomes common */
    double expected = held_weight(base);
    for (size_t c = 0; c < 3; c++) {
        copies[c] = forked(base, 3);
        learn_kinds(copies[c], 10 + c, 2 * KINDS);
        assert_true(held_weight(copies[c]) > held_weight(base));
        expected += held_weight(copies[c]) - held_weight(base);
    }
    all = merged((const gsa_state *const *)copies, 3, base);
    assert_true(held_weight(all) == expected);
    for (size_t c = 0; c < 3; c++)
        gsa_state_free(copies[c]);
    free_states(base, all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_model_is_calibrated_before_it_learns_the_held_out_rows),
        cmocka_unit_test(a_calibrated_model_does_not_depend_on_the_order_of_labels),
        cmocka_unit_test(gsa_and_auto_are_the_same_to_a_state),
        cmocka_unit_test(the_papers_method_makes_its_model_of_the_weights_as_they_are),
        cmocka_unit_test(the_model_is_the_best_pass_when_later_ones_are_worse),
        cmocka_unit_test(the_best_weights_know_nothing_of_later_features),
        cmocka_unit_test(the_best_of_fewer_labels_is_not_made_a_model_of),
        cmocka_unit_test(a_kept_best_survives_saving_and_forking),
        cmocka_unit_test(replacing_leaves_one_state_of_two),
        cmocka_unit_test(a_loaded_state_without_its_loss_still_makes_a_model),
        cmocka_unit_test(kinds_of_rows_are_held_whole),
        cmocka_unit_test(common_kinds_are_learned_and_judge),
        cmocka_unit_test(what_is_common_to_one_copy_is_common_to_the_merged),
        cmocka_unit_test(what_copies_hold_adds_up_and_their_base_counts_once),
        cmocka_unit_test(no_memory_to_finish_or_to_keep_is_a_status_and_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
