/* A whole tiny life: two halves of a text are trained apart under fuzzed parameters, merged, saved, loaded and made a
 * model, which predicts both.
 *
 *   T1  a run that was trained, or merged, loads with the same bytes, and so does its model;
 *   T2  the loaded model predicts what the one before it did, to the bit, and every number is finite;
 *   T3  the text of predictions has a line a row. */
#include "rows.h"
#include "states.h"

#include <greedystep/train.h>

typedef struct predicted {
    fuzz_bytes number;
    size_t n_rows, n_lines;
} predicted;

static gsa_status take(void *ctx, const gsa_predictions *some, gsa_error *error)
{
    predicted *out = ctx;
    (void)error;
    fuzz_put(&out->number, some->number, some->rows->n_rows * some->width * sizeof *some->number);
    for (size_t i = 0; i < some->rows->n_rows * some->width; i++)
        fuzz_must(isfinite(some->number[i]), "predictions are finite", NULL);
    out->n_rows += some->rows->n_rows;
    for (size_t i = 0; i < some->text_size; i++)
        out->n_lines += some->text[i] == '\n';
    return GSA_OK;
}

static void predict(const gsa_model *model, const fuzz_source *from, uint8_t how, predicted *out)
{
    gsa_predict_hooks hooks = {.size = sizeof hooks, out, (gsa_text)(how % 4), 0, how >> 4 & 1, 0, take};
    gsa_error error = {0};
    gsa_reader *reader = fuzz_open(from, &fuzz_sizes, true);
    out->number.size = out->n_rows = out->n_lines = 0;
    fuzz_status(gsa_predict(model, reader, &hooks, &fuzz_state_env.call, &error), &error);
    gsa_reader_close(reader);
    fuzz_must(hooks.text == GSA_TEXT_NONE || out->n_lines == out->n_rows, "there is a line a row", NULL);
}

/* T1 and T2 of models. */
static void check_model(const gsa_state *state, const fuzz_source *rows, uint8_t how)
{
    static predicted before, after;
    gsa_model *model = NULL;
    gsa_error error = {0};
    if (fuzz_status(gsa_state_finish(state, &fuzz_state_env.call, &model, &error), &error) != GSA_OK)
        return;
    gsa_model *back = fuzz_check_model_file(model);
    predict(model, rows, how, &before);
    predict(back, rows, how, &after);
    fuzz_must(fuzz_same(&before.number, &after.number), "a loaded model predicts the same", NULL);
    gsa_model_free(model);
    gsa_model_free(back);
}

static gsa_state *train(const gsa_config *config, const fuzz_source *from)
{
    gsa_state *state = NULL;
    gsa_error error = {0};
    if (fuzz_status(gsa_state_new(config, &fuzz_state_env.memory, &state, &error), &error) != GSA_OK)
        return NULL;
    gsa_reader *reader = fuzz_open(from, &fuzz_sizes, true);
    gsa_status status = fuzz_status(gsa_train(state, reader, NULL, &fuzz_state_env.call, &error), &error);
    gsa_reader_close(reader);
    if (status == GSA_OK)
        return state;
    gsa_state_free(state);
    return NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 2048)
        return -1;
    fuzz_input in = {data, size};
    uint8_t how = fuzz_byte(&in);
    gsa_config *config = fuzz_take_config(&in);
    char passes[] = {(char)('1' + how % 3), '\0'};
    gsa_error error = {0};
    fuzz_must(gsa_config_set(config, "passes", passes, &error) == GSA_OK, "passes are taken", error.message);
    const gsai_format *format = how & 128 ? &gsai_format_table : how & 64 ? &gsai_format_vw : &gsai_format_libsvm;
    fuzz_source whole = {in.at, in.left, "rows", format, {.bits = 4}, false}, half[2] = {whole, whole};
    half[0].size = in.left / 2;
    half[1].bytes = in.at + half[0].size;
    half[1].size = in.left - half[0].size;
    gsa_state *one = train(config, &half[0]), *two = train(config, &half[1]), *merged = NULL;
    if (one)
        fuzz_check_state_file(one);
    if (one && two) {
        const gsa_state *const both[] = {one, two};
        if (fuzz_status(gsa_state_merge(both, 2, NULL, &fuzz_state_env.call, &merged, &error), &error) == GSA_OK)
            fuzz_check_state_file(merged);
    }
    if (merged || one)
        check_model(merged ? merged : one, &whole, how >> 2);
    gsa_state_free(one);
    gsa_state_free(two);
    gsa_state_free(merged);
    gsa_config_free(config);
    return 0;
}
