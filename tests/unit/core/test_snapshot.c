/* States and models as bytes: nothing is lost, equal states give equal bytes, a resumed run gives the same bits. */
#include "rows.h"

#include <math.h>

typedef struct bytes {
    unsigned char *data;
    size_t size;
} bytes;

static int append(void *ctx, const void *data, size_t size)
{
    bytes *b = ctx;
    b->data = realloc(b->data, b->size + size);
    memcpy(b->data + b->size, data, size);
    b->size += size;
    return 0;
}

static bytes state_bytes(const gsa_state *state)
{
    bytes out = {0};
    gsa_error error = {0};
    must_be_ok(gsa_state_write(state, append, &out, &error), &error);
    return out;
}

static gsa_state *reread(const gsa_state *state)
{
    bytes b = state_bytes(state);
    gsa_error error = {0};
    gsa_state *out = NULL;
    must_be_ok(gsa_state_read(b.data, b.size, NULL, &out, &error), &error);
    free(b.data);
    return out;
}

static void same_bytes(const gsa_state *a, const gsa_state *b)
{
    bytes x = state_bytes(a), y = state_bytes(b);
    assert_int_equal(x.size, y.size);
    assert_memory_equal(x.data, y.data, x.size);
    free(x.data);
    free(y.data);
}

static const struct {
    const char *loss, *average, *holdout;
    unsigned n_classes;
} kinds[] = {{"auto", "suffix", "0", 2},   {"logistic", "last", "10", 2}, {"softmax", "full", "0", 5},
             {"auto", "suffix", "20", 6},  {"squared", "suffix", "0", 0}, {"auto", "suffix", "5", 0},
             {"softmax", "suffix", "0", 2}};

/* Saved and loaded again after every single row, in two passes: the bytes at the end are those of the quiet run. */
static void a_run_resumed_at_every_row_gives_the_same_bytes(void **unused)
{
    (void)unused;
    for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++) {
        rows *r = rows_random(kind, 70, 25, kinds[kind].n_classes);
        gsa_batch batch = rows_batch(r);
        gsa_state *quiet =
            state_with("loss", kinds[kind].loss, "average", kinds[kind].average, "holdout", kinds[kind].holdout, NULL);
        gsa_state *disturbed = reread(quiet);
        gsa_error error = {0};
        must_be_ok(gsa_state_prepare(quiet, &batch, &error), &error);
        must_be_ok(gsa_state_prepare(disturbed, &batch, &error), &error);
        for (int pass = 0; pass < 2; pass++) {
            learn(quiet, &batch);
            gsa_state_end_pass(quiet);
            for (size_t row = 0; row < batch.n_rows; row++) {
                gsa_batch slice = rows_slice(&batch, row, 1);
                learn(disturbed, &slice);
                gsa_state *again = reread(disturbed);
                gsa_state_free(disturbed);
                disturbed = again;
            }
            gsa_state_end_pass(disturbed);
        }
        same_bytes(quiet, disturbed);
        gsa_state_free(quiet);
        gsa_state_free(disturbed);
        free(r);
    }
}

static void merged_forked_and_started_states_survive_the_trip(void **unused)
{
    (void)unused;
    gsa_error error = {0};
    rows *r = rows_random(1, 300, 40, 3), *s = rows_random(2, 200, 40, 3);
    gsa_batch x = rows_batch(r), y = rows_batch(s);
    gsa_state *a = state_with("holdout", "16", NULL), *b = state_with("holdout", "16", NULL), *both, *next;
    learn(a, &x);
    learn(b, &y);
    const gsa_state *pair[] = {a, b};
    must_be_ok(gsa_state_merge(pair, 2, NULL, NULL, &both, &error), &error);
    must_be_ok(gsa_state_start_from(both, NULL, NULL, &next, &error), &error);
    learn(next, &y);
    gsa_state *both_again = reread(both), *next_again = reread(next);
    same_bytes(both, both_again);
    same_bytes(next, next_again);
    learn(next, &x);
    learn(next_again, &x);
    same_bytes(next, next_again);
    gsa_state *all[] = {a, b, both, next, both_again, next_again};
    for (size_t i = 0; i < 6; i++)
        gsa_state_free(all[i]);
    free(r);
    free(s);
}

static void a_model_predicts_the_same_after_the_trip(void **unused)
{
    (void)unused;
    for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++)
        for (int sparse = 0; sparse < 2; sparse++) {
            rows *r = rows_random(kind, 200, 25, kinds[kind].n_classes);
            if (sparse)
                for (size_t e = 0; e < r->n_entries; e++)
                    r->index[e] *= 1000;
            gsa_batch batch = rows_batch(r);
            gsa_state *state = state_with("loss", kinds[kind].loss, NULL);
            gsa_error error = {0};
            learn(state, &batch);
            gsa_model *model = model_of(state), *again = NULL;
            bytes b = {0};
            must_be_ok(gsa_model_write(model, append, &b, &error), &error);
            assert_true(b.size < 60000);
            must_be_ok(gsa_model_read(b.data, b.size, NULL, &again, &error), &error);
            free(b.data);
            double *p = calloc(200 * 8, sizeof *p), *q = calloc(200 * 8, sizeof *q);
            must_be_ok(gsa_model_predict(model, &batch, p, &error), &error);
            must_be_ok(gsa_model_predict(again, &batch, q, &error), &error);
            assert_memory_equal(p, q, 200 * 8 * sizeof *p);
            gsa_model_info info, other;
            gsa_model_get_info(model, &info);
            gsa_model_get_info(again, &other);
            assert_string_equal(info.loss, other.loss);
            assert_string_equal(info.average, other.average);
            assert_int_equal(info.n_rows, other.n_rows);
            free(p);
            free(q);
            gsa_model_free(model);
            gsa_model_free(again);
            gsa_state_free(state);
            free(r);
        }
}

static void a_model_is_no_state_and_the_message_says_so(void **unused)
{
    (void)unused;
    rows *r = rows_random(1, 50, 20, 2);
    gsa_batch batch = rows_batch(r);
    gsa_state *state = state_with(NULL), *other = NULL;
    gsa_error error = {0};
    learn(state, &batch);
    gsa_model *model = model_of(state);
    bytes b = {0};
    must_be_ok(gsa_model_write(model, append, &b, &error), &error);
    assert_int_equal(gsa_state_read(b.data, b.size, NULL, &other, &error), GSA_FORMAT);
    assert_non_null(strstr(error.message, "greedystep.model"));
    free(b.data);
    gsa_model_free(model);
    gsa_state_free(state);
    free(r);
}

/* Any damage is noticed: the checksum catches a flipped bit, and nothing crashes on the way there. */
static void damaged_bytes_are_refused(void **unused)
{
    (void)unused;
    rows *r = rows_random(1, 60, 12, 3);
    gsa_batch batch = rows_batch(r);
    gsa_state *state = state_with("holdout", "4", NULL);
    learn(state, &batch);
    bytes b = state_bytes(state);
    for (size_t i = 0; i < b.size; i += 3) {
        gsa_state *out = NULL;
        gsa_error error = {0};
        b.data[i] ^= (unsigned char)(1u << (i % 8));
        assert_true(gsa_state_read(b.data, b.size, NULL, &out, &error) != GSA_OK);
        b.data[i] ^= (unsigned char)(1u << (i % 8));
    }
    free(b.data);
    gsa_state_free(state);
    free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_resumed_at_every_row_gives_the_same_bytes),
        cmocka_unit_test(merged_forked_and_started_states_survive_the_trip),
        cmocka_unit_test(a_model_predicts_the_same_after_the_trip),
        cmocka_unit_test(a_model_is_no_state_and_the_message_says_so),
        cmocka_unit_test(damaged_bytes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
