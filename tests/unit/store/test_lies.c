/* Models and states whose tensors and texts are not what they should be, though every checksum is right: each is
 * refused with a message that names what is wrong, and leaves no memory behind. */
#include "../learn/rows.h"

#include "store/snapshot.h"

#include <stdbool.h>

#include "support/failing_memory.h"

#include <greedystep/distributed.h>

#define MOST 96
#define MINUS_ONE 0xBFF0000000000000
#define NOT_A_NUMBER 0x7FF8000000000000

/* A bundle of our own, whose parts can be changed. */
typedef struct forged {
    gsai_tensor tensor[MOST];
    gsai_note note[MOST];
    void *memory[MOST];
    gsai_bundle bundle;
} forged;

static void copy_bundle(const gsai_bundle *from, forged *to)
{
    *to = (forged){.bundle = {to->tensor, from->n_tensors, to->note, from->n_notes}};
    assert_true(from->n_tensors < MOST && from->n_notes < MOST);
    memcpy(to->note, from->notes, from->n_notes * sizeof *to->note);
    for (size_t i = 0; i < from->n_tensors; i++) {
        gsai_tensor *tensor = &to->tensor[i];
        *tensor = from->tensors[i];
        size_t len = (size_t)gsai_tensor_len(tensor), size = gsai_dtype_size(tensor->dtype);
        to->memory[i] = calloc(len + 64, 8); /* so that it may be said to be longer or of a wider type */
        if (tensor->fill)
            tensor->fill(tensor->ctx, 0, len, to->memory[i]);
        else if (len > 0)
            memcpy(to->memory[i], tensor->data, len * size);
        tensor->fill = NULL;
        tensor->data = to->memory[i];
    }
}

static void forge_state(const gsa_state *state, forged *out)
{
    gsa_error error = {0};
    gsai_snapshot snapshot;
    must_be_ok(gsai_state_snapshot(state, NULL, &snapshot, &error), &error);
    copy_bundle(&snapshot.bundle, out);
    gsai_arena_release(&snapshot.owned);
}

static void forge_model(const gsa_model *model, forged *out)
{
    gsa_error error = {0};
    gsai_snapshot snapshot;
    must_be_ok(gsai_model_snapshot(model, &snapshot, &error), &error);
    copy_bundle(&snapshot.bundle, out);
    gsai_arena_release(&snapshot.owned);
}

static void destroy(forged *what)
{
    for (size_t i = 0; i < MOST; i++)
        free(what->memory[i]);
}

static gsai_tensor *tensor_of(forged *what, const char *name)
{
    for (size_t i = 0; i < what->bundle.n_tensors; i++)
        if (strcmp(what->tensor[i].name, name) == 0)
            return &what->tensor[i];
    fail_msg("there is no tensor %s to forge", name);
    return NULL;
}

static void set_element(forged *what, const char *name, size_t element, uint64_t bits)
{
    const gsai_tensor *tensor = tensor_of(what, name);
    size_t size = gsai_dtype_size(tensor->dtype);
    memcpy((char *)what->memory[tensor - what->tensor] + element * size, &bits, size);
}

static void set_note(forged *what, const char *key, const char *text)
{
    for (size_t i = 0; i < what->bundle.n_notes; i++)
        if (strcmp(what->note[i].key, key) == 0)
            what->note[i].text = text;
}

static gsa_status restore_state(const gsai_bundle *bundle, const gsai_env *env, gsa_error *error)
{
    gsa_state *state = NULL;
    gsa_status status = gsai_state_restore(bundle, env, &state, error);
    assert_true((status == GSA_OK) == (state != NULL));
    gsa_state_free(state);
    return status;
}

static int n_closed;

static void count_close(void *owner)
{
    (void)owner;
    n_closed++;
}

/* As from a file: the model may keep the bundle, and closes it then, once. What is refused keeps nothing. */
static gsa_status restore_model(const gsai_bundle *bundle, const gsai_env *env, gsa_error *error)
{
    gsa_model *model = NULL;
    int kept = 7, owner;
    n_closed = 0;
    gsa_status status = gsai_model_restore(bundle, env, count_close, &owner, &kept, &model, error);
    assert_true((status == GSA_OK) == (model != NULL));
    assert_true(kept == 0 || status == GSA_OK);
    gsa_model_free(model);
    assert_int_equal(n_closed, kept);
    return status;
}

typedef gsa_status restore_function(const gsai_bundle *bundle, const gsai_env *env, gsa_error *error);

static void must_be_refused(restore_function *restore, const gsai_bundle *bundle, gsa_status expected,
                            const char *message, const char *what)
{
    failing memory = {SIZE_MAX, 0};
    gsai_env env = failing_env(&memory);
    gsa_error error = {0};
    gsa_status status = restore(bundle, &env, &error);
    if (status != expected || error.status != expected || !strstr(error.message, message))
        fail_msg("%s: status %d, '%s', expected %d, '%s'", what, (int)status, error.message, (int)expected, message);
    assert_int_equal(memory.live, 0);
}

/* What older releases did not write, or only some states have. */
static bool may_be_missing(const char *name)
{
    static const char *const optional[] = {"prior.sum_sq", "centre", "centre.slot",           "class_sums",
                                           "lineage",      "schema", "feature_names.feature", "deviation.feature",
                                           "feature",      "slot",   "best_checkpoint.pass",  "waiting.number",
                                           "sample.number"};
    for (size_t i = 0; i < sizeof optional / sizeof *optional; i++)
        if (strcmp(name, optional[i]) == 0)
            return true;
    return false;
}

/* Each tensor in turn is missing, of another type, and one element longer. */
static void spoil_each_tensor(forged *what, restore_function *restore)
{
    for (size_t i = 0; i < what->bundle.n_tensors; i++) {
        gsai_tensor honest = what->tensor[i];
        if (!may_be_missing(honest.name)) {
            what->tensor[i].name = "something.else";
            must_be_refused(restore, &what->bundle, GSA_FORMAT, honest.name, honest.name);
        }
        what->tensor[i] = honest;
        what->tensor[i].dtype = honest.dtype == GSAI_I64 ? GSAI_U64 : GSAI_I64;
        must_be_refused(restore, &what->bundle, GSA_FORMAT, "is of the wrong type", honest.name);
        what->tensor[i] = honest;
        if (strcmp(honest.name, "schema") == 0)
            continue; /* has no length to hold to, and ends in a zero then */
        what->tensor[i].shape[0]++;
        must_be_refused(restore, &what->bundle, GSA_FORMAT, "", honest.name);
        what->tensor[i] = honest;
    }
}

static void miss_each_note(forged *what, restore_function *restore)
{
    for (size_t i = 0; i < what->bundle.n_notes; i++) {
        gsai_note honest = what->note[i];
        what->note[i].key = "something else";
        gsa_error error = {0};
        gsa_status status = restore(&what->bundle, NULL, &error);
        if (status != GSA_OK) { /* parameters of later releases have defaults */
            bool is_ours = strcmp(honest.key, "format") != 0;
            must_be_refused(restore, &what->bundle, GSA_FORMAT,
                            is_ours ? honest.key : "no model or state of greedystep", honest.key);
        }
        what->note[i] = honest;
    }
    assert_int_equal(restore(&what->bundle, NULL, NULL), GSA_OK);
}

static const char *name_of(const void *ctx, uint64_t feature)
{
    static const char *const names[] = {"zero", "one", "two", "three"};
    (void)ctx;
    return feature % 1000 < 4 ? names[feature % 1000] : NULL;
}

/* A state with all that a state can have: a sample, classes with weights, names, a schema, lineage and a best. */
static gsa_state *rich_state(void)
{
    gsa_error error = {0};
    rows *r = rows_random(1, 300, 30, 3);
    gsa_batch batch = rows_batch(r);
    gsa_state *first = state_with("method", "auto", "scale", "standard", "class_weight", "balanced", NULL), *out = NULL;
    must_be_ok(gsa_state_set_schema(first, "columns of a table", &error), &error);
    learn(first, &batch);
    out = started_from(first);
    learn(out, &batch);
    must_be_ok(gsa_state_set_names(out, name_of, NULL, &error), &error);
    must_be_ok(gsa_state_checkpoint_best(out, NULL, &error), &error);
    end_pass(out);
    gsa_state_free(first);
    free(r);
    return out;
}

/* The default method, while rows wait. */
static gsa_state *state_with_waiting_rows(void)
{
    gsa_state *state = state_with("method", "auto", "holdout", "none", NULL);
    rows *r = rows_random(2, 60, 12, 2);
    gsa_batch batch = rows_batch(r);
    update(state, &batch);
    free(r);
    return state;
}

static void a_state_is_refused_for_any_tensor_or_text_that_is_missing_or_different(void **unused)
{
    (void)unused;
    gsa_state *states[] = {rich_state(), state_with_waiting_rows()};
    for (size_t i = 0; i < 2; i++) {
        forged what;
        forge_state(states[i], &what);
        assert_int_equal(restore_state(&what.bundle, NULL, NULL), GSA_OK);
        spoil_each_tensor(&what, restore_state);
        miss_each_note(&what, restore_state);
        destroy(&what);
        gsa_state_free(states[i]);
    }
}

static gsa_model *model_of_classes(uint32_t far)
{
    rows *r = rows_random(1, 200, 30, 3);
    for (size_t e = 0; far && e < r->n_entries; e++)
        r->index[e] *= far;
    gsa_batch batch = rows_batch(r);
    gsa_error error = {0};
    gsa_state *state = state_with("holdout", "none", NULL);
    must_be_ok(gsa_state_set_schema(state, "columns of a table", &error), &error);
    learn(state, &batch);
    must_be_ok(gsa_state_set_names(state, name_of, NULL, &error), &error);
    gsa_model *model = model_of(state);
    gsa_state_free(state);
    free(r);
    return model;
}

static void a_model_is_refused_for_any_tensor_or_text_that_is_missing_or_different(void **unused)
{
    (void)unused;
    for (uint32_t far = 0; far < 2000; far += 1000) { /* dense, and as ids and weights */
        forged what;
        gsa_model *model = model_of_classes(far);
        forge_model(model, &what);
        assert_int_equal(restore_model(&what.bundle, NULL, NULL), GSA_OK);
        spoil_each_tensor(&what, restore_model);
        miss_each_note(&what, restore_model);
        destroy(&what);
        gsa_model_free(model);
    }
}

typedef struct lie {
    const char *note, *text;
    const char *tensor;
    size_t element;
    uint64_t bits;
    const char *message;
} lie;

static void no_lie_is_believed(const gsa_state *state, const gsa_model *model, const lie *lies, size_t n_lies)
{
    for (size_t i = 0; i < n_lies; i++) {
        forged what;
        state ? forge_state(state, &what) : forge_model(model, &what);
        if (lies[i].note)
            set_note(&what, lies[i].note, lies[i].text);
        if (lies[i].tensor)
            set_element(&what, lies[i].tensor, lies[i].element, lies[i].bits);
        must_be_refused(state ? restore_state : restore_model, &what.bundle, GSA_FORMAT, lies[i].message,
                        lies[i].note ? lies[i].note : lies[i].tensor);
        destroy(&what);
    }
}

static void a_state_that_lies_is_refused_with_a_message_that_says_where(void **unused)
{
    (void)unused;
    static const lie lies[] = {
        {.note = "version",
         .text = "1",
         .message = "a state of format version 1, which was never published; train it again"},
        {.note = "version", .text = "4", .message = "a state of format version 4, this release reads 3"},
        {.note = "format", .text = "greedystep.model", .message = "this is a greedystep.model"},
        {.note = "decided_loss", .text = "absolute", .message = "unknown loss 'absolute'"},
        {.note = "average", .text = "none", .message = "average"},
        {.tensor = "labels.number",
         .element = 1,
         .bits = NOT_A_NUMBER,
         .message = "tensor 'labels.number' has a value that is not finite"},
        {.tensor = "labels.text", .element = 0, .bits = '1', .message = "label 0 has a text that is not its number"},
        {.tensor = "mean_square",
         .element = 1,
         .bits = 0xBF800000,
         .message = "'mean_square' has a value that is negative or not finite"},
        {.tensor = "mean_square",
         .element = 1,
         .bits = 0x7FC00000,
         .message = "'mean_square' has a value that is negative or not finite"},
        {.tensor = "average_term",
         .element = 1,
         .bits = 0x7FC00000,
         .message = "'average_term' has a value that is not finite"},
        {.tensor = "prior.sum_sq",
         .element = 1,
         .bits = MINUS_ONE,
         .message = "'prior.sum_sq' has a value that is negative or not finite"},
        {.tensor = "prior.sum_sq",
         .element = 1,
         .bits = NOT_A_NUMBER,
         .message = "'prior.sum_sq' has a value that is negative or not finite"},
        {.tensor = "prior.n_seen", .element = 1, .bits = 100000, .message = "'prior.n_seen' has a value above "},
        {.tensor = "position.pass",
         .bits = UINT64_C(1) << 60,
         .message = "tensor 'position.pass' has a value above 4503599627370496"},
        {.tensor = "step.sum", .bits = NOT_A_NUMBER, .message = "tensor 'step.sum' has a value that is not finite"},
        {.tensor = "row_weights.sum",
         .bits = MINUS_ONE,
         .message = "tensor 'row_weights.sum' has a value that is negative"},
        {.tensor = "row_weights.sum", .bits = 0, .message = "all rows have weight 0"},
        {.tensor = "label_offset.at", .bits = MINUS_ONE, .message = "softmax loss has no label offset"},
        {.tensor = "row_weights.max",
         .bits = MINUS_ONE,
         .message = "tensor 'row_weights.max' has a value that is negative"},
        {.tensor = "lineage", .element = 0, .bits = UINT64_MAX, .message = "tensor 'lineage' does not fit the state"},
        {.tensor = "class_sums",
         .element = 0,
         .bits = NOT_A_NUMBER,
         .message = "'class_sums' has a value that is negative"},
        {.tensor = "feature_names.feature", .element = 0, .bits = 1, .message = "the names of features are damaged"},
        {.tensor = "feature_names.text", .element = 0, .bits = 0, .message = "the names of features are damaged"},
        {.tensor = "feature_names.text", .element = 0, .bits = 0xC3, .message = "the names of features are damaged"},
        {.tensor = "schema", .element = 3, .bits = 0, .message = "tensor 'schema' is not a text"},
        {.tensor = "schema", .element = 3, .bits = 0xFF, .message = "tensor 'schema' is not a text"},
    };
    gsa_state *state = rich_state();
    gsa_state *next = NULL;
    gsa_error error = {0};
    next = started_from(state); /* two lineage */
    learn_random(next, 9, 50, 30, 3);
    must_be_ok(gsa_state_set_names(next, name_of, NULL, &error), &error);
    no_lie_is_believed(next, NULL, lies, sizeof lies / sizeof *lies);
    free_states(next, state);
}

static void rows_that_wait_and_cannot_be_are_refused(void **unused)
{
    (void)unused;
    static const lie lies[] = {
        {.tensor = "waiting.number", .bits = NOT_A_NUMBER, .message = "'waiting.number' has a value that is not"},
        {.tensor = "waiting.weight", .element = 1, .bits = 0, .message = "row 1 of those that wait is damaged"},
        {.tensor = "waiting.weight",
         .element = 1,
         .bits = UINT64_C(0x7C00000000000000), /* no float */
         .message = "row 1 of those that wait is damaged"},
        {.tensor = "waiting.class", .element = 2, .bits = 2, .message = "row 2 of those that wait is damaged"},
        {.tensor = "waiting.row_start", .element = 3, .bits = 1 << 20, .message = "of those that wait is damaged"},
        {.tensor = "waiting.value", .element = 1, .bits = 0x7F800000, .message = "'waiting.value' has a value"},
        {.tensor = "n_rows", .bits = 1, .message = "rows wait in a state that has learned"},
    };
    gsa_state *state = state_with_waiting_rows();
    no_lie_is_believed(state, NULL, lies, sizeof lies / sizeof *lies);
    forged what;
    forge_state(state, &what);
    set_note(&what, "decided_loss", "auto");
    tensor_of(&what, "labels.text")->shape[0] = 0;
    tensor_of(&what, "labels.is_number")->shape[0] = 0;
    tensor_of(&what, "labels.number")->shape[0] = 0;
    must_be_refused(restore_state, &what.bundle, GSA_FORMAT, "weights or rows, but the loss is not decided", "waiting");
    destroy(&what);
    gsa_state_free(state);
}

static void labels_that_cannot_be_are_refused(void **unused)
{
    (void)unused;
    gsa_state *state = state_with_waiting_rows(); /* labels 0 and 1 */
    forged what;
    forge_state(state, &what);
    set_element(&what, "labels.text", 2, '0');
    set_element(&what, "labels.number", 1, 0);
    must_be_refused(restore_state, &what.bundle, GSA_FORMAT, "label '0' occurs twice", "labels");
    set_element(&what, "labels.is_number", 0, 0); /* a word that looks as the number */
    must_be_refused(restore_state, &what.bundle, GSA_FORMAT, "", "labels");
    destroy(&what);
    forge_state(state, &what);
    tensor_of(&what, "labels.text")->shape[0] = 3; /* the last one has no end */
    must_be_refused(restore_state, &what.bundle, GSA_FORMAT, "label 1 is not a text", "labels");
    tensor_of(&what, "labels.text")->shape[0] = 2; /* there is no second one */
    must_be_refused(restore_state, &what.bundle, GSA_FORMAT, "label 1 is not a text", "labels");
    tensor_of(&what, "labels.text")->shape[0] = 5;
    must_be_refused(restore_state, &what.bundle, GSA_FORMAT, "there is text after the last label", "labels");
    destroy(&what);
    gsa_state_free(state);
}

static void a_model_that_lies_is_refused_with_a_message_that_says_where(void **unused)
{
    (void)unused;
    static const char long_text[] =
        "a text of more than sixty-four bytes, which no parameter of ours has ever had in it";
    static const lie lies[] = {
        {.note = "version", .text = "", .message = "use a newer greedystep"},
        {.note = "loss", .text = "absolute", .message = "unknown loss 'absolute'"},
        {.note = "loss", .text = "squared", .message = "a model cannot have 3 labels and squared loss"},
        {.note = "loss", .text = "logistic", .message = "a model cannot have 3 labels and logistic loss"},
        {.note = "method", .text = long_text, .message = "the method of a model cannot be 'a text"},
        {.note = "method", .text = "\033[31m", .message = "the method of a model cannot be"},
        {.note = "method", .text = "", .message = "the method of a model cannot be ''"},
        {.note = "average", .text = "mean\n", .message = "the average of a model cannot be"},
        {.note = "intercept", .text = "perhaps", .message = "the intercept of a model cannot be 'perhaps'"},
        {.note = "average", .text = long_text, .message = "the average of a model cannot be 'a text"},
        {.tensor = "n_features", .bits = UINT64_MAX, .message = "'n_features' has a value above 4294967294"},
        {.tensor = "weight",
         .element = 4,
         .bits = 0x7F800000,
         .message = "tensor 'weight' has a value that is not finite"},
        {.tensor = "intercept",
         .element = 2,
         .bits = NOT_A_NUMBER,
         .message = "tensor 'intercept' has a value that is not finite"},
        {.tensor = "feature_names.feature", .element = 1, .bits = 0, .message = "the names of features are damaged"},
        {.tensor = "deviation.feature", .element = 1, .bits = 0, .message = "the deviations of features are damaged"},
        {.tensor = "feature_names.text", .element = 0, .bits = 0xFF, .message = "the names of features are damaged"},
        {.tensor = "schema", .element = 0, .bits = 0, .message = "tensor 'schema' is not a text"},
        {.tensor = "schema", .element = 0, .bits = 0x80, .message = "tensor 'schema' is not a text"},
        {.tensor = "feature", .element = 1, .bits = 0, .message = "feature 0 is out of order or range"},
        {.tensor = "feature", .element = 2, .bits = UINT32_MAX, .message = "'feature' has a value above 4294967293"},
    };
    gsa_model *model = model_of_classes(1000);
    no_lie_is_believed(NULL, model, lies, sizeof lies / sizeof *lies);
    gsa_model_free(model);
}

/* A few bytes of ids do not make a table of gigabytes: memory is in proportion to the weights that are there. */
static void a_model_that_claims_billions_of_features_takes_the_memory_of_its_file(void **unused)
{
    (void)unused;
    gsa_model *model = model_of_classes(1000), *out = NULL;
    gsai_env env = {ENV_SIZES, .memory.budget = &(gsa_budget){.size = sizeof(gsa_budget), .limit = 1 << 20}};
    gsa_error error = {0};
    forged what;
    int kept;
    forge_model(model, &what);
    set_element(&what, "n_features", 0, 4000000000);
    must_be_ok(gsai_model_restore(&what.bundle, &env, NULL, NULL, &kept, &out, &error), &error);
    gsa_model_info info = {.size = sizeof info}, honest = {.size = sizeof honest};
    gsa_model_get_info(out, &info);
    gsa_model_get_info(model, &honest);
    assert_true(info.n_features == 4000000000 && info.n_used == honest.n_used && honest.n_used > 0);
    for (uint64_t id = 0; id < honest.n_features + 100; id++)
        for (size_t k = 0; k < honest.n_outputs; k++)
            assert_true(gsa_model_weight(out, id, k) == gsa_model_weight(model, id, k));
    assert_true(gsa_model_weight(out, 3999999999, 0) == 0 && gsa_model_weight(out, 4000000000, 0) == 0);
    uint32_t index[] = {0, 5, 3999999999};
    float value[] = {1, 2, 3};
    double found[3], expected[3];
    gsa_batch row = {.n_rows = 1, .row_start = (int64_t[]){0, 3}, .index = index, .value = value};
    must_be_ok(gsa_model_margins(out, &row, found, &error), &error);
    must_be_ok(gsa_model_margins(model, &row, expected, &error), &error);
    assert_memory_equal(found, expected, sizeof found);
    gsa_model_free(out);
    destroy(&what);
    gsa_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_state_is_refused_for_any_tensor_or_text_that_is_missing_or_different),
        cmocka_unit_test(a_model_is_refused_for_any_tensor_or_text_that_is_missing_or_different),
        cmocka_unit_test(a_state_that_lies_is_refused_with_a_message_that_says_where),
        cmocka_unit_test(rows_that_wait_and_cannot_be_are_refused),
        cmocka_unit_test(labels_that_cannot_be_are_refused),
        cmocka_unit_test(a_model_that_lies_is_refused_with_a_message_that_says_where),
        cmocka_unit_test(a_model_that_claims_billions_of_features_takes_the_memory_of_its_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
