/* States and models as bytes: nothing is lost, equal states give equal bytes, a resumed run gives the same bits. */
#include "../learn/bytes.h"

#include "learn/inside.h"
#include "store/snapshot.h"

#include <math.h>

static const struct {
    const char *loss, *average, *holdout;
    unsigned n_classes;
    const char *method, *scale;
} kinds[] = {
    {"auto", "suffix", "none", 2, "paper", "auto"},        {"logistic", "last", "auto", 2, "paper", "auto"},
    {"softmax", "full", "none", 5, "paper", "auto"},       {"auto", "suffix", "auto", 6, "paper", "auto"},
    {"squared", "suffix", "none", 0, "paper", "auto"},     {"auto", "suffix", "auto", 0, "paper", "auto"},
    {"softmax", "suffix", "none", 2, "paper", "auto"},     {"auto", "last", "none", 2, "auto", "auto"},
    {"softmax", "recent", "auto", 4, "auto", "auto"},      {"squared", "last", "none", 0, "auto", "auto"},
    {"logistic", "recent", "none", 2, "auto", "standard"}, {"auto", "last", "none", 5, "auto", "none"},
    {"hinge", "last", "auto", 2, "auto", "auto"},          {"squared_hinge", "last", "none", 5, "auto", "none"},
    {"hinge", "full", "none", 4, "paper", "auto"},         {"auto", "recent", "auto", 2, "auto", "auto"},
    {"softmax", "recent", "auto", 4, "auto", "standard"},  {"squared", "recent", "auto", 0, "auto", "standard"},
    {"hinge", "recent", "auto", 3, "auto", "none"}};

/* Saved and loaded again after every single row, in two passes: the bytes at the end are those of the quiet run. */
static void a_run_resumed_at_every_row_gives_the_same_bytes(void **unused)
{
    (void)unused;
    for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++) {
        rows *r = rows_random(kind, 70, 25, kinds[kind].n_classes);
        gsa_batch batch = rows_batch(r);
        gsa_state *quiet =
            state_with("loss", kinds[kind].loss, "average", kinds[kind].average, "holdout", kinds[kind].holdout,
                       "method", kinds[kind].method, "scale", kinds[kind].scale, "max_held_out", "10", NULL);
        gsa_state *disturbed = reread(quiet);
        gsa_error error = {0};
        prepare(quiet, &batch);
        prepare(disturbed, &batch);
        for (int pass = 0; pass < 2; pass++) {
            learn(quiet, &batch);
            must_be_ok(gsa_state_checkpoint_best(quiet, NULL, &error), &error);
            end_pass(quiet);
            for (size_t row = 0; row < batch.n_rows; row++) {
                gsa_batch delta = rows_slice(&batch, row, 1);
                learn(disturbed, &delta);
                gsa_state *again = reread(disturbed);
                gsa_state_free(disturbed);
                disturbed = again;
            }
            must_be_ok(gsa_state_checkpoint_best(disturbed, NULL, &error), &error);
            end_pass(disturbed);
        }
        same_states(quiet, disturbed);
        free_states(quiet, disturbed);
        free(r);
    }
}

static void merged_forked_and_started_states_survive_the_trip(void **unused)
{
    (void)unused;
    rows *r = rows_random(1, 300, 40, 3), *s = rows_random(2, 200, 40, 3);
    gsa_batch x = rows_batch(r), y = rows_batch(s);
    gsa_state *a = state_with("method", "gsa", "max_held_out", "16", NULL),
              *b = state_with("method", "gsa", "max_held_out", "16", NULL), *both, *next;
    learn(a, &x);
    learn(b, &y);
    const gsa_state *pair[] = {a, b};
    both = merged(pair, 2, NULL);
    next = started_from(both);
    learn(next, &y);
    gsa_state *both_again = reread(both), *next_again = reread(next);
    same_states(both, both_again);
    same_states(next, next_again);
    learn(next, &x);
    learn(next_again, &x);
    same_states(next, next_again);
    free_states(a, b, both, next, both_again, next_again);
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
            gsa_state *state = state_with("loss", kinds[kind].loss, "method", kinds[kind].method, NULL);
            gsa_error error = {0};
            learn(state, &batch);
            gsa_model *model = model_of(state), *again = NULL;
            bytes b = {0};
            must_be_ok(gsa_model_write(model, append, &b, &error), &error);
            assert_true(b.size < 60000);
            must_be_ok(gsa_model_read(b.data, b.size, NULL, &again, &error), &error);
            free(b.data);
            double *p = calloc(200 * 8, sizeof *p), *q = calloc(200 * 8, sizeof *q);
            must_be_ok(gsa_model_margins(model, &batch, p, &error), &error);
            must_be_ok(gsa_model_margins(again, &batch, q, &error), &error);
            assert_memory_equal(p, q, 200 * 8 * sizeof *p);
            gsa_status status = gsa_model_predict(model, &batch, p, &error);
            assert_int_equal(gsa_model_predict(again, &batch, q, &error), status);
            assert_true((status == GSA_OK) == !strstr(kinds[kind].loss, "hinge"));
            assert_memory_equal(p, q, 200 * 8 * sizeof *p);
            gsa_model_info info = {.size = sizeof info}, other = {.size = sizeof other};
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

/* Features that were never seen are in no tensor: prior totals, best weights and means of columns included. */
static void the_size_of_a_state_depends_on_the_features_seen(void **unused)
{
    (void)unused;
    gsa_error error = {0};
    rows *r = rows_random(1, 200, 30, 2);
    for (size_t e = 0; e < r->n_entries; e++)
        r->index[e] *= 2000;
    gsa_batch batch = rows_batch(r);
    gsa_state *first = state_with("method", "auto", "max_held_out", "16", NULL), *next;
    learn(first, &batch);
    next = started_from(first);
    learn(next, &batch);
    must_be_ok(gsa_state_checkpoint_best(next, NULL, &error), &error);
    gsa_state *again = reread(next);
    same_states(next, again);
    bytes b = state_bytes(next);
    assert_true(b.size < 16384);
    learn(next, &batch);
    learn(again, &batch);
    same_states(next, again);
    free(b.data);
    free_states(first, next, again);
    free(r);
}

static void a_model_is_no_state_and_the_message_says_so(void **unused)
{
    (void)unused;
    gsa_state *state = state_with(NULL), *other = NULL;
    gsa_error error = {0};
    learn_random(state, 1, 50, 20, 2);
    gsa_model *model = model_of(state);
    bytes b = {0};
    must_be_ok(gsa_model_write(model, append, &b, &error), &error);
    assert_int_equal(gsa_state_read(b.data, b.size, NULL, &other, &error), GSA_FORMAT);
    assert_non_null(strstr(error.message, "greedystep.model"));
    free(b.data);
    gsa_model_free(model);
    gsa_state_free(state);
}

/* Any damage is noticed: the checksum catches a flipped bit, and nothing crashes on the way there. */
static void damaged_bytes_are_refused(void **unused)
{
    (void)unused;
    gsa_state *state = state_with("method", "gsa", "max_held_out", "4", NULL);
    learn_random(state, 1, 60, 12, 3);
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
}

/* Day after day on the same rows: every run has the id of the one it started from in its lineage. */
static void runs_started_again_and_again_on_the_same_rows_survive_the_trip(void **unused)
{
    (void)unused;
    rows *r = rows_random(1, 100, 20, 2);
    gsa_batch batch = rows_batch(r);
    gsa_state *day = state_with(NULL);
    learn(day, &batch);
    for (int i = 0; i < 4; i++) {
        gsa_state *next = NULL;
        next = started_from(day);
        learn(next, &batch);
        gsa_state_free(day);
        day = reread(next);
        same_states(day, next);
        gsa_state_free(next);
    }
    gsa_state_free(day);
    free(r);
}

/* ---- files that lie with a right checksum -------------------------------------------------------------------------
 */

typedef struct lie {
    const char *note, *text; /* metadata that is replaced, or NULL */
    const char *tensor;      /* tensor whose element is replaced, or NULL */
    size_t element;
    uint64_t bits;       /* the new element, in the low bytes */
    const char *without; /* tensors with this beginning are left out, or NULL */
    const char *shorter; /* tensor that lacks its last element, or NULL */
} lie;

static gsa_status restore_with_lies(const gsa_state *honest, const lie *lies, size_t n_lies, gsa_error *error)
{
    gsai_snapshot snapshot;
    gsa_state *out = NULL;
    must_be_ok(gsai_state_snapshot(honest, NULL, &snapshot, error), error);
    const gsai_bundle *from = &snapshot.bundle;
    gsai_tensor tensors[96];
    gsai_note notes[32];
    void *data[96];
    gsai_bundle bundle = {tensors, 0, notes, from->n_notes};
    memcpy(notes, from->notes, from->n_notes * sizeof *notes);
    for (size_t i = 0; i < from->n_tensors; i++) {
        gsai_tensor tensor = from->tensors[i];
        size_t len = (size_t)gsai_tensor_len(&tensor), size = gsai_dtype_size(tensor.dtype), keep = 1;
        unsigned char *copy = calloc(len + 1, size);
        if (tensor.fill)
            tensor.fill(tensor.ctx, 0, len, copy);
        else if (len > 0)
            memcpy(copy, tensor.data, len * size);
        for (size_t l = 0; l < n_lies; l++) {
            const uint32_t low = (uint32_t)lies[l].bits;
            const uint8_t lowest = (uint8_t)lies[l].bits;
            const void *element = size == 8 ? (const void *)&lies[l].bits : size == 4 ? (const void *)&low : &lowest;
            if (lies[l].tensor && strcmp(lies[l].tensor, tensor.name) == 0)
                memcpy(copy + lies[l].element * size, element, size);
            if (lies[l].without && strncmp(lies[l].without, tensor.name, strlen(lies[l].without)) == 0)
                keep = 0;
            if (lies[l].shorter && strcmp(lies[l].shorter, tensor.name) == 0)
                tensor.shape[0]--;
        }
        tensor.fill = NULL;
        tensor.data = data[bundle.n_tensors] = copy;
        tensors[bundle.n_tensors] = tensor;
        if (keep)
            bundle.n_tensors++;
        else
            free(copy);
    }
    for (size_t l = 0; l < n_lies; l++)
        for (size_t i = 0; i < bundle.n_notes; i++)
            if (lies[l].note && strcmp(lies[l].note, notes[i].key) == 0)
                notes[i].text = lies[l].text;
    gsa_status status = gsai_state_restore(&bundle, NULL, &out, error);
    for (size_t i = 0; i < bundle.n_tensors; i++)
        free(data[i]);
    gsai_arena_release(&snapshot.owned);
    gsa_state_free(out);
    return status;
}

static void no_lie_is_believed(const gsa_state *state, const lie *lies, size_t n_lies)
{
    gsa_error error = {0};
    for (size_t i = 0; i < n_lies; i++) {
        if (restore_with_lies(state, &lies[i], 1, &error) != GSA_FORMAT)
            fail_msg("lie %zu was believed", i);
        assert_int_equal(error.status, GSA_FORMAT);
    }
}

static void a_state_that_contradicts_itself_is_refused(void **unused)
{
    (void)unused;
    static const lie lies[] = {
        {.note = "decided_loss", .text = "auto"},               /* a sample and labels, but no loss */
        {.note = "decided_loss", .text = "squared"},            /* numbers, but labels */
        {.note = "decided_loss", .text = "logistic"},           /* three labels */
        {.tensor = "n_seen", .element = 3, .bits = UINT32_MAX}, /* would overflow */
        {.tensor = "sample.class", .element = 0, .bits = 3},    /* there are 0, 1 and 2 */
        {.tensor = "sample.row_start", .element = 1, .bits = UINT64_MAX},
        {.tensor = "sample.seen", .element = 0, .bits = 0},
        {.tensor = "sample.weight", .element = 0, .bits = 0xBFF0000000000000}, /* -1 */
        {.tensor = "sample.weight", .element = 0, .bits = 0x4059000000000000}, /* 100, more than was seen */
        {.tensor = "sample.index", .element = 0, .bits = UINT32_MAX},
        {.tensor = "weight", .element = 2, .bits = 0x7F800000}, /* infinite */
        {.tensor = "averaging.restart", .bits = 1},             /* the average starts anew in the past */
        {.tensor = "n_rows", .bits = UINT64_MAX},               /* rows: what doubles up to them would not end */
        {.tensor = "position.pass", .bits = UINT64_MAX},        /* passes */
        {.tensor = "position.pass_rows", .bits = (UINT64_C(1) << 52) + 1}, /* rows of the pass */
        {.tensor = "n_merged", .bits = UINT64_MAX},                        /* runs merged */
        {.tensor = "rows_behind", .bits = 1},                              /* fewer rows than were counted */
        {.tensor = "averaging.per_row", .bits = 0},                        /* an average that stands still */
        {.tensor = "label_offset.settled", .bits = 2},                     /* neither true nor false */
        {.tensor = "step.sum", .bits = 0x7FF8000000000000},
        {.tensor = "labels.number", .element = 1, .bits = 0},               /* not the number of its text */
        {.tensor = "class_sums", .element = 1, .bits = 0xBFF0000000000000}, /* -1 */
        {.without = "n_seen"},
        {.without = "sample.value"},
    };
    gsa_state *state = state_with("method", "gsa", "max_held_out", "8", "class_weight", "balanced", NULL);
    gsa_error error = {0};
    learn_random(state, 1, 200, 30, 3);
    must_be_ok(restore_with_lies(state, NULL, 0, &error), &error);
    no_lie_is_believed(state, lies, sizeof lies / sizeof *lies);
    gsa_state_free(state);
}

static void labels_that_are_not_utf8_are_refused(void **unused)
{
    (void)unused;
    static const lie lies[] = {
        {.tensor = "labels.text", .element = 0, .bits = 0x1F}, /* a control character */
        {.tensor = "labels.text", .element = 2, .bits = 0xFF},
        {.tensor = "labels.text", .element = 2, .bits = 0xE0}, /* then overlong */
        {.tensor = "labels.text", .element = 3, .bits = 0xA0}, /* a surrogate */
        {.tensor = "labels.text", .element = 4, .bits = 'x'},
    };
    static const char *const words[] = {"a", "\xED\x9F\xBF"};
    int64_t row_start[] = {0, 1, 2};
    uint32_t index[] = {0, 1};
    double label[] = {0, 0};
    int32_t word[] = {0, 1};
    gsa_batch batch = {.n_rows = 2,
                       .row_start = row_start,
                       .index = index,
                       .label = label,
                       .word = word,
                       .words = words,
                       .n_words = 2};
    gsa_state *state = state_with("holdout", "none", NULL);
    gsa_error error = {0};
    learn(state, &batch);
    must_be_ok(restore_with_lies(state, NULL, 0, &error), &error);
    no_lie_is_believed(state, lies, sizeof lies / sizeof *lies);
    gsa_state_free(state);
}

#define MINUS_ONE 0xBFF0000000000000
#define NOT_A_NUMBER 0x7FF8000000000000
#define INFINITE 0x7FF0000000000000

/* What the default method adds: the means of columns (rows, mean, sum of squares), the best weights. */
static void means_of_columns_and_best_weights_that_cannot_be_are_refused(void **unused)
{
    (void)unused;
    static const lie lies[] = {
        {.tensor = "centre", .element = 3, .bits = MINUS_ONE},
        {.tensor = "centre", .element = 3, .bits = 0}, /* no rows */
        {.tensor = "centre", .element = 3, .bits = INFINITE},
        {.tensor = "centre", .element = 3, .bits = 0x3FF8000000000000}, /* a row and a half */
        {.tensor = "centre", .element = 4, .bits = INFINITE},
        {.tensor = "centre", .element = 4, .bits = NOT_A_NUMBER},
        {.tensor = "centre", .element = 5, .bits = MINUS_ONE},
        {.tensor = "centre", .element = 5, .bits = NOT_A_NUMBER},
        {.tensor = "centre.slot", .element = 1, .bits = 0},
        {.tensor = "centre.slot", .element = 1, .bits = 65536},
        {.shorter = "centre"},
        {.shorter = "centre.slot"},
        {.tensor = "best_checkpoint.loss", .bits = NOT_A_NUMBER},
        {.tensor = "best_checkpoint.loss", .bits = INFINITE},
        {.tensor = "best_checkpoint.pass", .bits = 0},
        {.tensor = "best_checkpoint.pass", .bits = (UINT64_C(1) << 52) + 2},
        {.without = "best_checkpoint.loss"},
        {.tensor = "best_checkpoint.weight", .element = 2, .bits = 0x7F800000},
        {.tensor = "best_checkpoint.weight", .element = 2, .bits = 0x7FC00000},
        {.shorter = "best_checkpoint.weight"},
        {.without = "best_checkpoint.weight"},
        {.tensor = "position.late_loss_sum", .bits = NOT_A_NUMBER}, /* losses of the last rows */
        {.tensor = "position.earlier_loss_weight", .bits = INFINITE},
    };
    gsa_state *state = state_with("method", "auto", "scale", "standard", NULL);
    gsa_error error = {0};
    learn_random(state, 1, 200, 30, 3);
    must_be_ok(gsa_state_checkpoint_best(state, NULL, &error), &error);
    end_pass(state);
    must_be_ok(restore_with_lies(state, NULL, 0, &error), &error);
    static const lie harmless[] = {{.tensor = "centre", .element = 3, .bits = 0x3FF0000000000000},
                                   {.tensor = "centre", .element = 4, .bits = MINUS_ONE}};
    must_be_ok(restore_with_lies(state, harmless, 2, &error), &error); /* a mean may be anywhere */
    no_lie_is_believed(state, lies, sizeof lies / sizeof *lies);
    gsa_state_free(state);
}

/* Found by fuzz_state: a state was loaded with the most passes that there may be, ended one more, and was saved. */
static void counts_beyond_any_run_are_not_saved(void **unused)
{
    (void)unused;
    gsa_state *state = state_with("method", "auto", "scale", "standard", NULL);
    gsa_error error = {0};
    bytes written = {0};
    learn_random(state, 1, 200, 30, 3);
    state->position.pass = (UINT64_C(1) << 52) - 1;
    end_pass(state);
    must_be_ok(gsa_state_checkpoint_best(state, NULL, &error), &error); /* of the pass after it */
    assert_int_equal(state_summary(state).best_pass, (UINT64_C(1) << 52) + 1);
    gsa_state *again = reread(state);
    same_states(state, again);
    end_pass(again);
    assert_int_equal(gsa_state_write(again, append, &written, &error), GSA_LIMIT);
    assert_string_equal(error.message,
                        "cannot save the state: tensor 'position.pass' has a value above 4503599627370496");
    assert_int_equal(written.size, 0);
    free_states(state, again);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_resumed_at_every_row_gives_the_same_bytes),
        cmocka_unit_test(merged_forked_and_started_states_survive_the_trip),
        cmocka_unit_test(a_model_predicts_the_same_after_the_trip),
        cmocka_unit_test(the_size_of_a_state_depends_on_the_features_seen),
        cmocka_unit_test(a_model_is_no_state_and_the_message_says_so),
        cmocka_unit_test(damaged_bytes_are_refused),
        cmocka_unit_test(runs_started_again_and_again_on_the_same_rows_survive_the_trip),
        cmocka_unit_test(a_state_that_contradicts_itself_is_refused),
        cmocka_unit_test(labels_that_are_not_utf8_are_refused),
        cmocka_unit_test(means_of_columns_and_best_weights_that_cannot_be_are_refused),
        cmocka_unit_test(counts_beyond_any_run_are_not_saved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
