/* What callers may get wrong: each call says so with a status and a message, and the state is what it was before. */
#include "bytes.h"

#include "base/memory.h"
#include "learn/inside.h"
#include "learn/labels.h"

#include <math.h>

static void must_say(gsa_status status, gsa_status expected, const gsa_error *error, const char *message)
{
    if (status != expected || error->status != expected || !strstr(error->message, message))
        fail_msg("status %d, '%s', expected %d, '%s'", (int)status, error->message, (int)expected, message);
}

/* A state of two classes that has learned a little. */
static gsa_state *some_state(void)
{
    gsa_state *state = state_with("method", "gsa", "max_held_out", "8", NULL);
    learn_random(state, 1, 100, 20, 2);
    return state;
}

static void rows_that_are_incomplete_are_refused(void **unused)
{
    (void)unused;
    static const int64_t row_start[] = {0, 1};
    static const uint32_t index[] = {3};
    static const float value[] = {1, 2};
    static const double label[] = {1};
    const struct {
        gsa_batch batch;
        const char *message;
    } cases[] = {
        {{.n_rows = 1, .index = index, .label = label}, "sparse rows needs row_start"},
        {{.n_rows = 1, .width = 2, .label = label}, "one of dense rows value"},
        {{.n_rows = 1, .width = (size_t)1 << 33, .value = value, .label = label}, "8589934592 values are too wide"},
        {{.n_rows = 1, .row_start = row_start, .index = index}, "no labels to learn from"},
    };
    gsa_state *state = some_state(), *fresh = state_with("holdout", "none", NULL);
    gsa_model *model = model_of(state);
    gsa_metrics *metrics;
    gsa_error error = {0};
    must_be_ok(gsa_metrics_new(model, &metrics, &error), &error);
    bytes before = state_bytes(state), before_fresh = state_bytes(fresh);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        must_say(gsa_state_update(state, &cases[i].batch, &error), GSA_ARGUMENT, &error, cases[i].message);
        must_say(gsa_state_prepare(fresh, &cases[i].batch, &error), GSA_ARGUMENT, &error, cases[i].message);
        must_say(gsa_metrics_update(metrics, &cases[i].batch, &error), GSA_ARGUMENT, &error, cases[i].message);
    }
    gsa_batch nothing = {0};
    assert_int_equal(gsai_state_learn_rows(state, &nothing, NULL, nothing.n_rows, &error), GSA_OK);
    assert_int_equal(gsa_state_prepare(fresh, &nothing, &error), GSA_OK);
    same_bytes(&before, state);
    same_bytes(&before_fresh, fresh);
    gsa_batch one = {.n_rows = 1, .row_start = row_start, .index = index, .label = label};
    static const uint32_t beyond[] = {0, 1};
    must_say(gsai_state_learn_rows(state, &one, beyond, 2, &error), GSA_ARGUMENT, &error, "row 1 of a batch of 1");
    must_say(gsai_state_learn_rows(state, &one, NULL, 3, &error), GSA_ARGUMENT, &error, "row 1 of a batch of 1");
    same_bytes(&before, state); /* not even the first row was learned */
    free(before.data);
    free(before_fresh.data);
    gsa_metrics_free(metrics);
    gsa_model_free(model);
    free_states(state, fresh);
}

/* Every call that takes a batch; none may look at memory that these rows do not have. n_learned: rows of the batch that
 * a state with a loss learns before it refuses. */
static void all_must_refuse_with(const char *method, gsa_batch batch, uint64_t row, uint64_t n_learned,
                                 const char *message)
{
    gsa_state *state = state_with("holdout", "none", "method", method, NULL);
    gsa_state *fresh = state_with("holdout", "none", "method", method, NULL);
    learn_random(state, 1, 100, 20, 2);
    gsa_model *model = model_of(state);
    gsa_metrics *metrics;
    gsa_error error = {0};
    double out[8];
    uint32_t named = (uint32_t)row;
    must_be_ok(gsa_metrics_new(model, &metrics, &error), &error);
    bytes before_fresh = state_bytes(fresh);
    for (int call = 0; call < 7; call++) {
        error = (gsa_error){.row = GSA_NO_ROW};
        gsa_status status = call == 0   ? gsai_state_learn_rows(state, &batch, NULL, batch.n_rows, &error)
                            : call == 1 ? gsai_state_learn_rows(fresh, &batch, NULL, batch.n_rows, &error)
                            : call == 2 ? gsa_state_prepare(fresh, &batch, &error)
                            : call == 3 ? gsai_state_learn_rows(state, &batch, &named, 1, &error)
                            : call == 4 ? gsa_model_margins(model, &batch, out, &error)
                            : call == 5 ? gsa_model_predict(model, &batch, out, &error)
                                        : gsa_metrics_update(metrics, &batch, &error);
        must_say(status, GSA_ARGUMENT, &error, message);
        assert_int_equal(error.row, row);
    }
    assert_int_equal(gsa_state_run_matches(state, &batch), 0);
    assert_int_equal(state_summary(state).n_rows, 100 + n_learned);
    same_bytes(&before_fresh, fresh);
    free(before_fresh.data);
    gsa_metrics_free(metrics);
    gsa_model_free(model);
    free_states(state, fresh);
}

static void all_must_refuse(gsa_batch batch, uint64_t row, uint64_t n_learned, const char *message)
{
    all_must_refuse_with("paper", batch, row, n_learned, message); /* row by row */
    all_must_refuse_with("gsa", batch, row, n_learned, message);   /* in groups */
}

/* The slot of a feature is its id + 1: the largest ids would be the intercept and beyond the table. */
static void feature_ids_above_the_largest_are_refused(void **unused)
{
    (void)unused;
    static const int64_t row_start[] = {2, 4, 5}; /* offsets may begin above 0 */
    static const uint32_t wrong[] = {UINT32_MAX, UINT32_MAX, 0, 1, UINT32_MAX}, last[] = {7, 7, 1, 0, 0xFFFFFFFEu};
    static const uint32_t first[] = {7, 7, 3, UINT32_MAX, 2};
    static const double label[] = {0, 1};
    static const float value[] = {1, 1, 2, 3, 4}, zeros[] = {1, 1, 0, 3, 4};
    gsa_batch batch = {.n_rows = 2, .row_start = row_start, .label = label};
    for (int values = 0; values < 3; values++) {
        batch.value = values == 0 ? NULL : values == 1 ? value : zeros;
        batch.index = wrong;
        all_must_refuse(batch, 1, 1, "feature id 4294967295 is too large: the largest is 4294967293");
        batch.index = last;
        all_must_refuse(batch, 1, 1, "feature id 4294967294 is too large");
        batch.index = first;
        all_must_refuse(batch, 0, 0, "feature id 4294967295 is too large");
    }
    gsa_state *state = some_state();
    gsa_error error = {0};
    const uint32_t second = 1; /* rows that are not named are not looked at */
    must_be_ok(gsai_state_learn_rows(state, &batch, &second, 1, &error), &error);
    gsa_state_free(state);
}

static void offsets_that_descend_or_are_negative_are_refused(void **unused)
{
    (void)unused;
    static const int64_t descending[] = {0, 2, 1}, negative[] = {-1, 1, 2}, far[] = {0, 1, INT64_MIN};
    static const int64_t back[] = {INT64_MAX, INT64_MIN, 0};
    static const uint32_t index[] = {0, 1};
    static const double label[] = {0, 1};
    gsa_batch batch = {.n_rows = 2, .index = index, .label = label};
    batch.row_start = descending;
    all_must_refuse(batch, 1, 0, "row_start has 2 and then 1: offsets are from 0 and never descend");
    batch.row_start = negative;
    all_must_refuse(batch, 0, 0, "row_start has -1 and then 1");
    batch.row_start = far;
    all_must_refuse(batch, 1, 0, "row_start has 1 and then -9223372036854775808");
    batch.row_start = back;
    all_must_refuse(batch, 0, 0, "row_start has 9223372036854775807 and then -9223372036854775808");
    assert_int_equal(gsa_plan_block(&batch, 0), 2); /* of any offsets without overflow */
}

/* Words are numbered by the batch: a number beyond its words is never looked up. */
static void a_word_beyond_the_words_of_the_batch_is_refused(void **unused)
{
    (void)unused;
    static const int64_t row_start[] = {0, 1, 2};
    static const uint32_t index[] = {0, 1};
    static const double label[] = {NAN, NAN};
    static const char *const words[] = {"no", "yes"};
    static const int32_t right[] = {0, 1}, wrong[] = {1, 1000000};
    gsa_batch batch = {.n_rows = 2, .row_start = row_start, .index = index, .label = label};
    batch.words = words;
    batch.n_words = 2;
    batch.word = right;
    gsa_state *state = state_with("holdout", "none", NULL), *fresh = state_with("holdout", "none", NULL);
    gsa_error error = {0};
    learn(state, &batch);
    gsa_model *model = model_of(state);
    gsa_metrics *metrics;
    must_be_ok(gsa_metrics_new(model, &metrics, &error), &error);
    size_t found;
    must_be_ok(gsa_model_class(model, &batch, 1, &found, &error), &error);
    assert_int_equal(found, 1);
    assert_int_equal(gsa_state_run_matches(state, &batch), 1);
    batch.word = wrong;
    must_say(gsa_state_prepare(fresh, &batch, &error), GSA_ARGUMENT, &error, "the label is word 1000000 of 2");
    assert_int_equal(error.row, 1);
    assert_int_equal(gsa_model_class(model, &batch, 1, &found, &error), GSA_LABEL);
    assert_int_equal(gsa_state_run_matches(state, &batch), 0);
    must_be_ok(gsa_metrics_update(metrics, &batch, &error), &error); /* an unknown label is wrong */
    must_be_ok(gsa_metrics_finish(metrics, &error), &error);
    must_say(gsai_state_learn_rows(state, &batch, NULL, batch.n_rows, &error), GSA_ARGUMENT, &error,
             "the label is word 1000000 of 2");
    gsa_summary summary = state_summary(state);
    assert_int_equal(summary.n_rows, 3); /* the first row was right */
    batch.label = NULL;
    assert_int_equal(gsa_state_run_matches(state, &batch), 0);
    gsa_metrics_free(metrics);
    gsa_model_free(model);
    free_states(state, fresh);
}

static void words_beside_fractions_are_for_the_user_to_sort_out(void **unused)
{
    (void)unused;
    static const int64_t row_start[] = {0, 1, 2};
    static const uint32_t index[] = {0, 1};
    static const double label[] = {2.5, NAN};
    static const char *const words[] = {"cheap"};
    static const int32_t word[] = {-1, 0};
    gsa_batch batch = {.n_rows = 2, .row_start = row_start, .index = index, .label = label};
    batch.words = words;
    batch.word = word;
    batch.n_words = 1;
    gsa_state *state = state_with("holdout", "none", NULL);
    bytes before = state_bytes(state);
    gsa_error error = {0};
    must_say(gsai_state_learn_rows(state, &batch, NULL, batch.n_rows, &error), GSA_LABEL, &error,
             "label 2.5 is a fraction while other labels");
    assert_int_equal(error.row, 0);
    same_bytes(&before, state);
    free(before.data);
    gsa_state_free(state);
}

/* Labels 0 to 10000 one by one: the last is one too many for classes that were not asked for. */
static void the_ten_thousand_and_first_number_is_no_class(void **unused)
{
    (void)unused;
    static const int64_t row_start[] = {0, 1};
    static const uint32_t index[] = {0};
    double label = 0;
    gsa_batch batch = {.n_rows = 1, .row_start = row_start, .index = index, .label = &label};
    gsa_state *state = state_with("holdout", "none", NULL);
    gsa_error error = {0};
    for (int i = 0; i < 10000; i++) {
        label = i;
        learn(state, &batch);
    }
    bytes before = state_bytes(state);
    label = 10000;
    must_say(gsai_state_learn_rows(state, &batch, NULL, batch.n_rows, &error), GSA_LABEL, &error,
             "there are more than 10000 different whole numbers as labels: choose squared loss");
    same_bytes(&before, state);
    label = 999; /* goes on with what it knows */
    learn(state, &batch);
    static const char *const words[] = {"a word"};
    static const int32_t word[] = {0};
    batch.words = words;
    batch.word = word;
    batch.n_words = 1;
    learn(state, &batch); /* with a word among them they are classes, however many */
    batch.word = NULL;
    label = 10000;
    learn(state, &batch);
    free(before.data);
    gsa_state_free(state);
}

static void there_are_at_most_a_million_labels(void **unused)
{
    (void)unused;
    gsai_env env = gsai_env_resolve(NULL);
    gsai_labels labels;
    gsa_error error = {0};
    size_t number;
    gsai_labels_init(&labels, &env);
    for (size_t i = 0; i < GSAI_MAX_LABELS; i++)
        must_be_ok(gsai_labels_add(&labels, NULL, (double)i, &number, &error), &error);
    must_say(gsai_labels_add(&labels, NULL, -1, &number, &error), GSA_LIMIT, &error,
             "more than 1048576 different labels");
    must_say(gsai_labels_add(&labels, "word", 0, &number, &error), GSA_LIMIT, &error, "more than 1048576");
    assert_int_equal(labels.n, GSAI_MAX_LABELS);
    must_be_ok(gsai_labels_add(&labels, NULL, 77, &number, &error), &error); /* is there already */
    assert_int_equal(number, 77);
    gsai_labels_release(&labels);
}

/* ---- losses of the caller's -------------------------------------------------------------------------------------- */

static const gsa_margin_loss square = {.size = sizeof square, .loss = half_square, .derivative = half_square_slope};

static gsa_state *state_of_custom_loss(void)
{
    gsa_config *config;
    gsa_state *state;
    gsa_error error = {0};
    config = config_with("method", "paper", "holdout", "none", NULL);
    must_be_ok(gsa_config_set_loss(config, &square, &error), &error);
    must_be_ok(gsa_state_new(config, NULL, &state, &error), &error);
    gsa_config_free(config);
    return state;
}

static void half_a_loss_is_refused(void **unused)
{
    (void)unused;
    const gsa_margin_loss halves[] = {{.size = sizeof *halves, .loss = half_square},
                                      {.size = sizeof *halves, .derivative = half_square_slope}};
    gsa_config *config;
    gsa_error error = {0};
    gsa_state *custom = state_of_custom_loss(), *other = some_state();
    config = config_with(NULL);
    for (int i = 0; i < 3; i++) {
        const gsa_margin_loss *loss = i < 2 ? &halves[i] : NULL;
        must_say(gsa_config_set_loss(config, loss, &error), GSA_ARGUMENT, &error, "a loss needs both");
        must_say(gsa_state_set_loss(custom, loss, &error), GSA_ARGUMENT, &error, "a loss needs both");
    }
    must_say(gsa_state_set_loss(other, &square, &error), GSA_CONFLICT, &error, "learns with the logistic loss");
    gsa_config_free(config);
    free_states(custom, other);
}

/* Functions are in no file. A state that was loaded has to be given them again, a run that goes on has them. */
static void a_loss_of_the_callers_is_kept_wherever_it_can_be(void **unused)
{
    (void)unused;
    rows *r = rows_random(3, 60, 10, 0);
    gsa_batch batch = rows_batch(r);
    gsa_error error = {0};
    gsa_state *state = state_of_custom_loss(), *next = NULL;
    learn(state, &batch);
    gsa_state *loaded = reread(state);
    bytes before = state_bytes(loaded);
    must_say(gsai_state_learn_rows(loaded, &batch, NULL, batch.n_rows, &error), GSA_ARGUMENT, &error,
             "give it again first");
    same_bytes(&before, loaded);
    must_be_ok(gsa_state_set_loss(loaded, &square, &error), &error);
    learn(loaded, &batch);
    next = started_from(state);
    learn(next, &batch); /* has the functions of the state it started from */
    gsa_state_free(next);

    /* Of copies that came as bytes: a merge has the loss of its base, and so has what a state becomes. */
    gsa_state *copies[2], *all = NULL;
    for (size_t i = 0; i < 2; i++) {
        gsa_state *copy = forked(state, 2);
        gsa_batch half = rows_slice(&batch, 30 * i, 30);
        learn(copy, &half);
        copies[i] = reread(copy);
        gsa_state_free(copy);
    }
    all = merged((const gsa_state *const *)copies, 2, state);
    learn(all, &batch);
    must_be_ok(gsa_state_replace(state, copies[0], &error), &error);
    learn(state, &batch);
    free_states(state, loaded, copies[1], all);
    free(before.data);
    free(r);
}

static void a_start_that_contradicts_what_was_learned_is_refused(void **unused)
{
    (void)unused;
    static const char *const wrong[][3] = {{"loss", "squared", "has logistic loss, not squared"},
                                           {"loss", "hinge", "has logistic loss, not hinge"},
                                           {"intercept", "off", "has intercept=on; leave it out"}};
    gsa_state *state = some_state(), *out = NULL;
    gsa_error error = {0};
    gsa_config *config;
    for (size_t i = 0; i < 3; i++) {
        config = config_with(wrong[i][0], wrong[i][1], NULL);
        must_say(gsa_state_start_from(state, config, &out, &error), GSA_CONFLICT, &error, wrong[i][2]);
        gsa_config_free(config);
    }
    config = config_with(NULL);
    must_be_ok(gsa_config_set_loss(config, &square, &error), &error);
    must_say(gsa_state_start_from(state, config, &out, &error), GSA_CONFLICT, &error, "not one of the caller's");
    assert_null(out);
    gsa_config_free(config);
    gsa_state_free(state);
}

/* ---- merging ----------------------------------------------------------------------------------------------------- */

static void a_base_that_is_none_of_the_states_is_refused(void **unused)
{
    (void)unused;
    rows *r = rows_random(1, 100, 20, 2), *s = rows_random(2, 100, 20, 2);
    gsa_batch x = rows_batch(r), y = rows_batch(s);
    gsa_state *a = state_with("holdout", "none", NULL), *b = state_with("holdout", "none", NULL), *out = NULL;
    gsa_error error = {0};
    learn(a, &x);
    learn(b, &y);
    const gsa_state *pair[] = {a, a};
    must_say(gsa_state_merge(pair, 1, b, NULL, &out, &error), GSA_CONFLICT, &error,
             "state 1 did not start from this base; give its own");
    assert_null(out);

    /* A copy of the base, and the base gone on with another label. */
    gsa_state *copy = forked(a, 2), *other = forked(a, 2);
    learn(copy, &y);
    learn(other, &y);
    double third = 2;
    gsa_batch one = rows_slice(&x, 0, 1);
    one.label = &third;
    learn(a, &one);
    const gsa_state *copies[] = {copy, other};
    must_say(gsa_state_merge(copies, 2, a, NULL, &out, &error), GSA_CONFLICT, &error, "did not start from this base");
    assert_null(out);
    free_states(a, b, copy, other);
    free(r);
    free(s);
}

/* Nothing but what is asked after tells them apart: the rows the base began with, then how often it has met a feature,
 * then a label that it alone knows. */
static void a_base_is_known_by_its_rows_and_its_labels(void **unused)
{
    (void)unused;
    rows *r = rows_random(1, 100, 20, 3);
    gsa_batch x = rows_batch(r);
    gsa_state *a = state_with("holdout", "none", "loss", "softmax", NULL), *copy, *out = NULL;
    gsa_state *smaller = state_with("holdout", "none", "loss", "softmax", NULL);
    gsa_error error = {0};
    learn(a, &x);
    learn_random(smaller, 2, 100, 5, 3);
    must_say(gsa_state_merge((const gsa_state *const *)&a, 1, smaller, NULL, &out, &error), GSA_CONFLICT, &error,
             "state 1 did not start from this base; give its own");
    copy = forked(a, 1);
    learn(copy, &x);
    out = merged((const gsa_state *const *)&copy, 1, a);
    gsa_state_free(out);
    out = NULL;
    learn(a, &x);
    learn(a, &x); /* has now seen more of every feature than the copy */
    must_say(gsa_state_merge((const gsa_state *const *)&copy, 1, a, NULL, &out, &error), GSA_CONFLICT, &error,
             "state 1 did not start from this base; give its own");
    double fourth = 7;
    gsa_batch one = rows_slice(&x, 0, 1);
    one.label = &fourth;
    learn(a, &one);
    must_say(gsa_state_merge((const gsa_state *const *)&copy, 1, a, NULL, &out, &error), GSA_CONFLICT, &error,
             "state 1 did not start from this base; give its own");
    assert_null(out);
    free_states(a, copy, smaller);
    free(r);
}

/* The same rows and labels, but the base has seen more of a feature than either copy. */
static void a_base_that_went_on_is_found_by_its_counts(void **unused)
{
    (void)unused;
    rows *r = rows_random(1, 100, 20, 2);
    gsa_batch batch = rows_batch(r);
    gsa_state *base = state_with("holdout", "none", NULL), *copies[2], *out = NULL;
    gsa_error error = {0};
    learn(base, &batch);
    for (size_t i = 0; i < 2; i++) {
        copies[i] = forked(base, 2);
        learn(copies[i], &batch);
    }
    learn(base, &batch);
    learn(base, &batch);
    must_say(gsa_state_merge((const gsa_state *const *)copies, 2, base, NULL, &out, &error), GSA_CONFLICT, &error,
             "state 1 did not start from this base; give its own");
    assert_null(out);
    free_states(base, copies[0], copies[1]);
    free(r);
}

/* Numbers that only a file that lies can have: what would be added up is less than nothing. */
static void copies_with_less_than_their_base_are_refused(void **unused)
{
    (void)unused;
    rows *r = rows_random(1, 400, 20, 2);
    gsa_batch batch = rows_batch(r), some = rows_slice(&batch, 0, 200), others = rows_slice(&batch, 200, 200);
    gsa_state *base = state_with("method", "auto", "scale", "standard", NULL), *copies[2], *out = NULL;
    gsa_error error = {0};
    learn(base, &some);
    for (size_t i = 0; i < 2; i++) {
        copies[i] = forked(base, 2);
        learn(copies[i], &others);
    }
    assert_true(base->sample.n > 0);
    gsai_held_row *held = gsai_sample_find(&copies[1]->sample, base->sample.at[0]);
    assert_non_null(held);
    double seen = held->seen;
    uint64_t rows_behind = copies[1]->rows_behind;
    held->seen = held->weight = seen / 2;
    must_say(gsa_state_merge((const gsa_state *const *)copies, 2, base, NULL, &out, &error), GSA_CONFLICT, &error,
             "cannot merge the states: a held-out row weighs less than in the base; give their own base");
    held->seen = held->weight = seen;
    copies[1]->rows_behind = base->rows_behind - 1;
    must_say(gsa_state_merge((const gsa_state *const *)copies, 2, base, NULL, &out, &error), GSA_CONFLICT, &error,
             "state 2 did not start from this base; give its own");
    copies[1]->rows_behind = rows_behind;
    copies[1]->row_weights.sum = base->row_weights.sum / 2;
    must_say(gsa_state_merge((const gsa_state *const *)copies, 2, base, NULL, &out, &error), GSA_CONFLICT, &error,
             "one is a copy of the base and one a new run");
    assert_null(out);
    free_states(base, copies[0], copies[1]);
    free(r);
}

/* A weight of no rows: nothing is divided by their number. */
static void weights_of_no_rows_leave_a_merge_finite(void **unused)
{
    (void)unused;
    gsa_state *a = state_with("holdout", "none", NULL), *b = state_with("holdout", "none", NULL);
    learn_random(a, 1, 100, 20, 2);
    learn_random(b, 2, 100, 20, 2);
    b->row_weights.n_rows = 0;
    gsa_state *both = merged_two(a, b, NULL), *again = reread(both);
    same_states(both, again);
    free_states(a, b, both, again);
}

/* ---- models and metrics ------------------------------------------------------------------------------------------ */

static void weights_that_cannot_be_are_refused(void **unused)
{
    (void)unused;
    gsa_state *state = some_state();
    gsa_model *model = model_of(state), *out = NULL;
    gsa_error error = {0};
    float weights[] = {1, 2, 3};
    double intercept = 0;
    must_say(gsa_model_with_weights(model, UINT64_MAX, weights, NULL, &out, &error), GSA_ARGUMENT, &error,
             "a model of 18446744073709551615 features is too large");
    weights[1] = INFINITY;
    must_say(gsa_model_with_weights(model, 3, weights, NULL, &out, &error), GSA_ARGUMENT, &error,
             "weight 1 is not a finite number");
    weights[1] = 2;
    intercept = NAN;
    must_say(gsa_model_with_weights(model, 3, weights, &intercept, &out, &error), GSA_ARGUMENT, &error,
             "intercept 0 is not a finite number");
    assert_null(out);
    gsa_model_free(model);
    gsa_state_free(state);
}

static gsa_model *model_of_labels(double first, double second, const char *loss)
{
    static const int64_t row_start[] = {0, 1, 2};
    static const uint32_t index[] = {0, 1};
    const double label[] = {first, second};
    gsa_batch batch = {.n_rows = 2, .row_start = row_start, .index = index, .label = label};
    gsa_state *state = state_with("holdout", "none", "loss", loss, NULL);
    learn(state, &batch);
    gsa_model *model = model_of(state);
    gsa_state_free(state);
    return model;
}

static void metrics_of_different_models_are_not_added(void **unused)
{
    (void)unused;
    gsa_model *models[] = {model_of_labels(0, 1, "logistic"), model_of_labels(0, 2, "logistic"),
                           model_of_labels(0, 1, "hinge"), model_of_labels(0, 1, "squared")};
    gsa_metrics *metrics[4];
    gsa_error error = {0};
    for (size_t i = 0; i < 4; i++)
        must_be_ok(gsa_metrics_new(models[i], &metrics[i], &error), &error);
    for (size_t i = 0; i < 4; i++)
        for (size_t j = 0; j < 4; j++) {
            gsa_status status = gsa_metrics_merge(metrics[i], metrics[j], &error);
            if (i == j)
                assert_int_equal(status, GSA_OK);
            else
                must_say(status, GSA_CONFLICT, &error, "different losses or labels cannot be added");
        }
    for (size_t i = 0; i < 4; i++) {
        gsa_metrics_free(metrics[i]);
        gsa_model_free(models[i]);
    }
}

static void a_row_that_cannot_be_judged_is_refused_with_its_number(void **unused)
{
    (void)unused;
    static const int64_t row_start[] = {0, 1, 2};
    static const uint32_t index[] = {0, 1};
    float value[] = {1, INFINITY}, weight[] = {1, 1};
    double label[] = {0, 1};
    gsa_batch batch = {.n_rows = 2, .row_start = row_start, .index = index, .value = value, .label = label};
    batch.weight = weight;
    gsa_model *model = model_of_labels(0, 1, "logistic"), *numbers = model_of_labels(0, 1, "squared");
    gsa_metrics *metrics, *of_numbers;
    gsa_error error = {0};
    must_be_ok(gsa_metrics_new(model, &metrics, &error), &error);
    must_be_ok(gsa_metrics_new(numbers, &of_numbers, &error), &error);
    must_say(gsa_metrics_update(metrics, &batch, &error), GSA_INPUT, &error, "a value is not a finite number");
    assert_int_equal(error.row, 1);
    value[1] = 1;
    weight[1] = -1;
    must_say(gsa_metrics_update(metrics, &batch, &error), GSA_INPUT, &error, "the weight of the row is -1");
    weight[1] = 1;
    label[1] = NAN;
    must_say(gsa_metrics_update(of_numbers, &batch, &error), GSA_LABEL, &error, "the label is no number");
    gsa_metrics_free(metrics);
    gsa_metrics_free(of_numbers);
    gsa_model_free(model);
    gsa_model_free(numbers);
}

static double nowhere(void *ctx, double m, double y)
{
    (void)ctx;
    (void)m;
    return y < 0 ? (double)NAN : 1;
}

/* Losses are the caller's to get wrong. */
static void a_loss_that_is_no_number_stops_the_run_with_advice(void **unused)
{
    (void)unused;
    static const char *const methods[][2] = {{"paper", "custom loss diverged after 1 rows"},
                                             {"auto", "weights are no longer finite after 1 rows"}};
    const gsa_margin_loss losses[] = {{.size = sizeof *losses, .loss = nowhere, .derivative = half_square_slope},
                                      {.size = sizeof *losses, .loss = half_square, .derivative = nowhere}};
    static const int64_t row_start[] = {0, 1, 2};
    static const uint32_t index[] = {0, 1};
    static const double label[] = {1, -1};
    gsa_batch batch = {.n_rows = 2, .row_start = row_start, .index = index, .label = label};
    for (size_t i = 0; i < 4; i++) {
        gsa_config *config;
        gsa_state *state;
        gsa_error error = {0};
        config = config_with("method", methods[i / 2][0], "holdout", "none", NULL);
        must_be_ok(gsa_config_set_loss(config, &losses[i % 2], &error), &error);
        must_be_ok(gsa_state_new(config, NULL, &state, &error), &error);
        must_say(gsai_state_learn_rows(state, &batch, NULL, batch.n_rows, &error), GSA_DIVERGED, &error,
                 methods[i / 2][1]);
        assert_int_equal(error.row, 1);
        gsa_model *model = model_of(state); /* of the row before */
        assert_true(isfinite(gsa_model_weight(model, 0, 0)) && isfinite(gsa_model_intercept(model, 0)));
        gsa_model_free(model);
        gsa_config_free(config);
        gsa_state_free(state);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_that_are_incomplete_are_refused),
        cmocka_unit_test(feature_ids_above_the_largest_are_refused),
        cmocka_unit_test(offsets_that_descend_or_are_negative_are_refused),
        cmocka_unit_test(a_word_beyond_the_words_of_the_batch_is_refused),
        cmocka_unit_test(words_beside_fractions_are_for_the_user_to_sort_out),
        cmocka_unit_test(the_ten_thousand_and_first_number_is_no_class),
        cmocka_unit_test(there_are_at_most_a_million_labels),
        cmocka_unit_test(half_a_loss_is_refused),
        cmocka_unit_test(a_loss_of_the_callers_is_kept_wherever_it_can_be),
        cmocka_unit_test(a_start_that_contradicts_what_was_learned_is_refused),
        cmocka_unit_test(a_base_that_is_none_of_the_states_is_refused),
        cmocka_unit_test(a_base_is_known_by_its_rows_and_its_labels),
        cmocka_unit_test(a_base_that_went_on_is_found_by_its_counts),
        cmocka_unit_test(copies_with_less_than_their_base_are_refused),
        cmocka_unit_test(weights_of_no_rows_leave_a_merge_finite),
        cmocka_unit_test(weights_that_cannot_be_are_refused),
        cmocka_unit_test(metrics_of_different_models_are_not_added),
        cmocka_unit_test(a_row_that_cannot_be_judged_is_refused_with_its_number),
        cmocka_unit_test(a_loss_that_is_no_number_stops_the_run_with_advice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
