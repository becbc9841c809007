/* Structs of callers of other versions: shorter ones, whose missing members have their default, and longer ones. */
#include "../learn/rows.h"

#include <greedystep/arrow.h>
#include <greedystep/train.h>

#define POISON 0xAA

/* A copy of a struct for a caller of another version, in a block of exactly that size. */
static void *resized(const void *of, size_t size, size_t wanted)
{
    unsigned char *copy = malloc(wanted > 0 ? wanted : sizeof wanted);
    assert_non_null(copy);
    memset(copy, POISON, wanted > 0 ? wanted : sizeof wanted);
    memcpy(copy, of, wanted > 0 && wanted < size ? wanted : wanted == 0 ? sizeof wanted : size);
    memcpy(copy, &wanted, sizeof wanted);
    return copy;
}

static gsa_reader *some_rows(void)
{
    gsa_generator what = {.size = sizeof what, .n_rows = 200, .n_features = 20, .nnz = 3, .n_classes = 2};
    gsa_reader *reader = NULL;
    gsa_error error = {0};
    must_be_ok(gsa_reader_open_generated(&what, NULL, NULL, &reader, &error), &error);
    return reader;
}

static gsa_state *trained_state(void)
{
    gsa_error error = {0};
    gsa_reader *reader = some_rows();
    gsa_state *state = state_with("passes", "1", NULL);
    must_be_ok(gsa_train(state, reader, NULL, NULL, &error), &error);
    gsa_reader_close(reader);
    return state;
}

/* ---- what callers give ------------------------------------------------------------------------------------------- */

static gsa_status take_memory(const void *given, gsa_error *error)
{
    gsa_config *config = NULL;
    gsa_status status = gsa_config_new(memory_of(given), &config, error);
    gsa_config_free(config);
    return status;
}

static gsa_status take_call(const void *given, gsa_error *error)
{
    gsa_state *state = trained_state();
    gsa_model *model = NULL;
    gsa_status status = gsa_state_finish(state, given, &model, error);
    gsa_model_free(model);
    gsa_state_free(state);
    return status;
}

static gsa_status take_budget(const void *given, gsa_error *error)
{
    gsa_budget budget; /* a caller's own, which must not be written behind its end */
    memcpy(&budget, given, sizeof budget < *(const size_t *)given ? sizeof budget : *(const size_t *)given);
    budget.size = *(const size_t *)given;
    return take_memory(&(gsa_memory){.size = sizeof(gsa_memory), .budget = &budget}, error);
}

static gsa_status take_options(const void *given, gsa_error *error)
{
    gsa_reader *reader = NULL;
    gsa_batch batch;
    gsa_status status = gsa_reader_open_memory("1 1:1\n", 6, "t.svm", given, NULL, NULL, &reader, error);
    if (status == GSA_OK)
        status = gsa_reader_next(reader, &batch, error);
    gsa_reader_close(reader);
    return status;
}

static gsa_status take_train_hooks(const void *given, gsa_error *error)
{
    gsa_reader *reader = some_rows();
    gsa_state *state = state_with("method", "auto", NULL);
    gsa_status status = gsa_train(state, reader, given, NULL, error);
    gsa_state_free(state);
    gsa_reader_close(reader);
    return status;
}

static gsa_status take_nothing(void *ctx, const gsa_predictions *some, gsa_error *error)
{
    (void)ctx, (void)some, (void)error;
    return GSA_OK;
}

static gsa_status take_predict_hooks(const void *given, gsa_error *error)
{
    gsa_reader *reader = some_rows();
    gsa_state *state = trained_state();
    gsa_model *model = model_of(state);
    gsa_status status = gsa_predict(model, reader, given, NULL, error);
    gsa_model_free(model);
    gsa_state_free(state);
    gsa_reader_close(reader);
    return status;
}

static gsa_status no_rows(void *ctx, gsa_batch *out, gsa_error *error)
{
    (void)ctx, (void)out, (void)error;
    return GSA_END;
}

static gsa_status take_rows(const void *given, gsa_error *error)
{
    gsa_reader *reader = NULL;
    gsa_batch batch;
    gsa_status status = gsa_reader_open_rows(given, NULL, NULL, &reader, error);
    if (status == GSA_OK)
        status = gsa_reader_next(reader, &batch, error) == GSA_END ? GSA_OK : GSA_INPUT;
    gsa_reader_close(reader);
    return status;
}

static void release_stream(struct ArrowArrayStream *stream)
{
    stream->release = NULL;
    ++*(int *)stream->private_data;
}

static gsa_status take_again(const void *given, gsa_error *error)
{
    int n_released = 0;
    struct ArrowArrayStream stream = {.release = release_stream, .private_data = &n_released};
    gsa_reader *reader = NULL;
    gsa_status status = gsa_reader_open_arrow(&stream, given, NULL, NULL, NULL, &reader, error);
    gsa_reader_close(reader);
    assert_int_equal(n_released, 1);
    return status;
}

static gsa_status take_generator(const void *given, gsa_error *error)
{
    gsa_reader *reader = NULL;
    gsa_status status = gsa_reader_open_generated(given, NULL, NULL, &reader, error);
    gsa_reader_close(reader);
    return status;
}

static gsa_status take_loss(const void *given, gsa_error *error)
{
    gsa_config *config = config_with(NULL);
    gsa_status status = gsa_config_set_loss(config, given, error);
    gsa_config_free(config);
    return status;
}

static void structs_of_other_versions_are_taken_and_those_without_a_size_refused(void **unused)
{
    (void)unused;
    const gsa_memory memory = {.size = sizeof memory};
    const gsa_call call = {.size = sizeof call};
    const gsa_budget budget = {.size = sizeof budget, .limit = 1 << 20};
    const gsa_reader_options options = {.size = sizeof options, .skip_bad_rows = 1};
    const gsa_train_hooks train = {.size = sizeof train};
    const gsa_predict_hooks predict = {.size = sizeof predict, .take = take_nothing};
    const gsa_row_source source = {.size = sizeof source, .next = no_rows};
    const gsa_arrow_again again = {.size = sizeof again};
    const gsa_generator generator = {.size = sizeof generator, .n_rows = 9, .n_features = 5, .nnz = 1, .n_classes = 2};
    const gsa_margin_loss loss = {.size = sizeof loss, .loss = half_square, .derivative = half_square_slope};
    const struct {
        const void *full;
        size_t size, older; /* older: where the last member begins, or the size if none can be missing */
        gsa_status (*use)(const void *given, gsa_error *error);
    } kinds[] = {{&memory, sizeof memory, offsetof(gsa_memory, budget), take_memory},
                 {&call, sizeof call, offsetof(gsa_call, n_threads), take_call},
                 {&budget, sizeof budget, sizeof budget, take_budget},
                 {&options, sizeof options, offsetof(gsa_reader_options, bits), take_options},
                 {&train, sizeof train, offsetof(gsa_train_hooks, strength_tried), take_train_hooks},
                 {&predict, sizeof predict, sizeof predict, take_predict_hooks},
                 {&source, sizeof source, offsetof(gsa_row_source, rewind), take_rows},
                 {&again, sizeof again, offsetof(gsa_arrow_again, ctx), take_again},
                 {&generator, sizeof generator, offsetof(gsa_generator, noise), take_generator},
                 {&loss, sizeof loss, offsetof(gsa_margin_loss, ctx), take_loss}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const size_t sizes[] = {kinds[i].older, kinds[i].size, kinds[i].size + 64};
        gsa_error error = {0};
        for (size_t k = 0; k < 3; k++) {
            void *given = resized(kinds[i].full, kinds[i].size, sizes[k]);
            gsa_status status = kinds[i].use(given, &error);
            if (status != GSA_OK)
                fail_msg("struct %zu of %zu bytes: %s", i, sizes[k], error.message);
            free(given);
        }
        void *unset = resized(kinds[i].full, kinds[i].size, 0);
        assert_int_equal(kinds[i].use(unset, &error), GSA_ARGUMENT);
        assert_non_null(strstr(error.message, "size"));
        free(unset);
    }
}

/* ---- what callers are given -------------------------------------------------------------------------------------- */

static void give_summary(const void *of, void *out)
{
    gsa_state_get_summary(of, out);
}

static void give_info(const void *of, void *out)
{
    gsa_model_get_info(of, out);
}

static void give_progress(const void *of, void *out)
{
    gsa_reader_get_progress(of, out);
}

static void give_schema(const void *of, void *out)
{
    gsa_error error = {0};
    must_be_ok(gsa_schema_get_info(of, out, &error), &error);
}

static void structs_of_other_versions_are_filled_as_far_as_they_go(void **unused)
{
    (void)unused;
    gsa_reader *reader = some_rows();
    gsa_state *state = trained_state();
    gsa_model *model = model_of(state);
    const struct {
        void (*give)(const void *of, void *out);
        const void *of;
        size_t size, older;
    } kinds[] = {{give_summary, state, sizeof(gsa_summary), offsetof(gsa_summary, falling)},
                 {give_info, model, sizeof(gsa_model_info), offsetof(gsa_model_info, has_probabilities)},
                 {give_progress, reader, sizeof(gsa_reader_progress), offsetof(gsa_reader_progress, keep_failed)},
                 {give_schema, "greedystep schema 2\ncolumns named\nbits 10\nlabel y\nnumber a\nwords b\n",
                  sizeof(gsa_schema_info), offsetof(gsa_schema_info, n_crosses)}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        unsigned char full[256] = {0}, other[256], poison[256];
        size_t size = kinds[i].size, longer = size + 16;
        assert_true(longer < sizeof full);
        memset(poison, POISON, sizeof poison);
        memcpy(full, &size, sizeof size);
        kinds[i].give(kinds[i].of, full);
        memset(other, POISON, sizeof other);
        memcpy(other, &kinds[i].older, sizeof size);
        kinds[i].give(kinds[i].of, other);
        assert_memory_equal(other + sizeof size, full + sizeof size, kinds[i].older - sizeof size);
        assert_memory_equal(other + kinds[i].older, poison, sizeof other - kinds[i].older);
        memset(other, POISON, sizeof other);
        memcpy(other, &longer, sizeof longer);
        kinds[i].give(kinds[i].of, other);
        assert_memory_equal(other + sizeof size, full + sizeof size, longer - sizeof size);
        assert_memory_equal(other + longer, poison, sizeof other - longer);
    }
    gsa_summary unset = {.size = 0, .n_rows = 77};
    gsa_schema_info nothing = {.size = 0};
    gsa_error error = {0};
    gsa_state_get_summary(state, &unset);
    assert_int_equal(unset.n_rows, 77);
    assert_int_equal(gsa_schema_get_info("", &nothing, &error), GSA_ARGUMENT);
    gsa_model_free(model);
    gsa_state_free(state);
    gsa_reader_close(reader);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(structs_of_other_versions_are_taken_and_those_without_a_size_refused),
        cmocka_unit_test(structs_of_other_versions_are_filled_as_far_as_they_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
