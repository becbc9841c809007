/* States and models under fuzzed bytes: what they are made of, and what holds for all of them.
 *
 * A file has a checksum and a header of offsets that must fit, so that nearly every changed byte is refused at once. A
 * *loose* bundle is the same content without these: notes, then tensors, each with its name, type, shape and bytes. The
 * store makes a file of it, and a fuzzer changes what is inside.
 *
 *   S1  what was loaded and written loads again, and is written with the same bytes;
 *   S2  a loaded state goes on learning or says why not, and its weights and predictions are finite;
 *   S3  the widest kernels of the machine give the bytes of the plain ones. */
#ifndef GSA_FUZZ_STATES_H
#define GSA_FUZZ_STATES_H

#include "fuzz.h"

#include "learn/inside.h"
#include "store/container.h"

static const gsai_env fuzz_state_env = {
    .memory = {.size = sizeof(gsa_memory),
               .budget = &(gsa_budget){.size = sizeof(gsa_budget), .limit = (uint64_t)16 << 20}},
    .call = {.size = sizeof(gsa_call), .n_threads = 1}};

/* ---- loose bundles ----------------------------------------------------------------------------------------------- */

enum { FUZZ_MAX_TENSORS = 80, FUZZ_NAME = 64 };

typedef struct fuzz_bundle {
    gsai_bundle bundle;
    gsai_tensor tensor[FUZZ_MAX_TENSORS];
    gsai_note note[FUZZ_MAX_TENSORS];
    char name[FUZZ_MAX_TENSORS][FUZZ_NAME + 1], key[FUZZ_MAX_TENSORS][FUZZ_NAME + 1],
        text[FUZZ_MAX_TENSORS][FUZZ_NAME + 1];
    _Alignas(8) unsigned char data[4 * FUZZ_MAX];
} fuzz_bundle;

/* dtype, dimensions and shape of two bytes each, then the elements; those that the input lacks are zero. */
static inline bool fuzz_take_tensor(fuzz_input *in, fuzz_bundle *out, size_t *used)
{
    size_t i = out->bundle.n_tensors;
    gsai_tensor *tensor = &out->tensor[i];
    *tensor = (gsai_tensor){.name = fuzz_text(in, out->name[i], FUZZ_NAME)};
    uint8_t kind = fuzz_byte(in);
    tensor->dtype = (gsai_dtype)((kind & 7) % 7);
    tensor->n_dims = kind & 8 ? 2 : 1;
    uint64_t n = 1;
    for (unsigned d = 0; d < tensor->n_dims; d++) {
        tensor->shape[d] = fuzz_number(in, 2);
        n *= tensor->shape[d];
    }
    size_t size = (size_t)n * gsai_dtype_size(tensor->dtype), at = (*used + 7) / 8 * 8;
    if (n > sizeof out->data || size > sizeof out->data - at)
        return false;
    fuzz_input data = fuzz_part(in, size);
    memcpy(out->data + at, data.at, data.left);
    memset(out->data + at + data.left, 0, size - data.left);
    tensor->data = out->data + at;
    *used = at + size;
    out->bundle.n_tensors++;
    return true;
}

/* false: it is larger than what is looked at here. */
static inline bool fuzz_take_bundle(fuzz_input *in, fuzz_bundle *out)
{
    size_t used = 0;
    out->bundle = (gsai_bundle){.tensors = out->tensor, .notes = out->note};
    size_t n_notes = fuzz_byte(in) % FUZZ_MAX_TENSORS;
    for (size_t i = 0; i < n_notes; i++) {
        out->note[i].key = fuzz_text(in, out->key[i], FUZZ_NAME);
        out->note[i].text = fuzz_text(in, out->text[i], FUZZ_NAME);
    }
    out->bundle.n_notes = n_notes;
    while (in->left > 0 && out->bundle.n_tensors < FUZZ_MAX_TENSORS)
        if (!fuzz_take_tensor(in, out, &used))
            return false;
    return true;
}

/* The way back, for seeds. */
static inline void fuzz_put_bundle(const gsai_bundle *bundle, fuzz_bytes *out)
{
    const unsigned char n_notes = (unsigned char)bundle->n_notes;
    fuzz_put(out, &n_notes, 1);
    for (size_t i = 0; i < bundle->n_notes; i++) {
        fuzz_put(out, bundle->notes[i].key, strlen(bundle->notes[i].key) + 1);
        fuzz_put(out, bundle->notes[i].text, strlen(bundle->notes[i].text) + 1);
    }
    for (size_t i = 0; i < bundle->n_tensors; i++) {
        const gsai_tensor *tensor = &bundle->tensors[i];
        const unsigned char kind = (unsigned char)((unsigned)tensor->dtype | (tensor->n_dims == 2 ? 8u : 0u));
        fuzz_put(out, tensor->name, strlen(tensor->name) + 1);
        fuzz_put(out, &kind, 1);
        for (unsigned d = 0; d < tensor->n_dims; d++) {
            const unsigned char shape[] = {(unsigned char)(tensor->shape[d] >> 8), (unsigned char)tensor->shape[d]};
            fuzz_put(out, shape, 2);
        }
        size_t n = (size_t)gsai_tensor_len(tensor), size = n * gsai_dtype_size(tensor->dtype);
        void *filled = tensor->data ? NULL : malloc(size + 1);
        if (!tensor->data && n > 0)
            tensor->fill(tensor->ctx, 0, n, filled);
        fuzz_put(out, tensor->data ? tensor->data : filled, size);
        free(filled);
    }
}

/* A file of a loose bundle; false if the store refuses it. */
static inline bool fuzz_make_file(fuzz_input *in, fuzz_bytes *out)
{
    static fuzz_bundle loose;
    gsa_error error = {0};
    out->size = 0;
    return fuzz_take_bundle(in, &loose) &&
           fuzz_status(gsai_container_write(&loose.bundle, fuzz_write, out, &error), &error) == GSA_OK;
}

/* ---- what holds for states --------------------------------------------------------------------------------------- */

/* A state that has diverged, or that counts more than any run, cannot be written: false, and no bytes. */
static inline bool fuzz_write_state(const gsa_state *state, fuzz_bytes *out)
{
    gsa_error error = {0};
    out->size = 0;
    gsa_status status = fuzz_status(gsa_state_write(state, fuzz_write, out, &error), &error);
    fuzz_must(status == GSA_OK || status == GSA_DIVERGED || status == GSA_LIMIT, "a state can be written",
              error.message);
    return status == GSA_OK;
}

static inline gsa_state *fuzz_read_state(const fuzz_bytes *bytes)
{
    gsa_state *state = NULL;
    gsa_error error = {0};
    return fuzz_status(gsa_state_read(bytes->data, bytes->size, &fuzz_state_env.memory, &state, &error), &error) ==
                   GSA_OK
               ? state
               : NULL;
}

/* S1. Of what was merged from bytes that contradict each other, writing alone can be asked for. */
static inline void fuzz_check_merged_file(const gsa_state *state, bool may_be_refused)
{
    static fuzz_bytes file, again;
    gsa_state *back = NULL;
    gsa_error error = {0};
    if (!fuzz_write_state(state, &file))
        return;
    gsa_status status = fuzz_status(gsa_state_read(file.data, file.size, NULL, &back, &error), &error);
    if (status == GSA_FORMAT && may_be_refused)
        return;
    fuzz_must(status == GSA_OK, "a state that was written loads", error.message);
    fuzz_write_state(back, &again);
    fuzz_must(fuzz_same(&file, &again), "a state that was loaded is written with the same bytes", NULL);
    gsa_state_free(back);
}

static inline void fuzz_check_state_file(const gsa_state *state)
{
    fuzz_check_merged_file(state, false);
}

static inline void fuzz_check_predictions(const gsa_model *model, const gsa_batch *rows)
{
    enum { MOST = 4096 };
    static double margin[MOST], number[MOST];
    gsa_model_info info = {.size = sizeof info};
    gsa_error error = {0};
    gsa_model_get_info(model, &info);
    size_t width = info.n_classes > 0 ? (size_t)info.n_classes : 1;
    if (rows->n_rows * width > MOST || rows->n_rows * info.n_outputs > MOST)
        return;
    fuzz_must(gsa_model_margins(model, rows, margin, &error) == GSA_OK, "a model has margins", error.message);
    for (size_t i = 0; i < rows->n_rows * info.n_outputs; i++)
        fuzz_must(isfinite(margin[i]), "margins are finite", info.loss);
    if (gsa_model_predict(model, rows, number, &error) != GSA_OK) {
        fuzz_must(!info.has_probabilities && info.n_classes > 0, "a model predicts", error.message);
        return;
    }
    for (size_t r = 0; r < rows->n_rows; r++) {
        double sum = 0;
        for (size_t k = 0; k < width; k++) {
            double p = number[r * width + k];
            fuzz_must(isfinite(p), "predictions are finite", info.loss);
            fuzz_must(info.n_classes == 0 || (p >= 0 && p <= 1), "probabilities are from 0 to 1", info.loss);
            sum += p;
        }
        fuzz_must(info.n_classes == 0 || fabs(sum - 1) < 1e-6, "probabilities add up to 1", info.loss);
    }
}

static inline void fuzz_check_weights(const gsa_model *model)
{
    gsa_model_info info = {.size = sizeof info};
    gsa_model_get_info(model, &info);
    uint64_t n;
    const uint32_t *feature = gsa_model_features(model, &n);
    const float *weights = gsa_model_weights(model);
    for (uint64_t i = 0; i < n * info.n_outputs; i++)
        fuzz_must(isfinite(weights[i]), "weights are finite", info.loss);
    for (uint64_t i = 0; feature && i < n; i++)
        fuzz_must(feature[i] < info.n_features && (i == 0 || feature[i - 1] < feature[i]), "features ascend",
                  info.loss);
    for (size_t k = 0; k < info.n_outputs; k++)
        fuzz_must(isfinite(gsa_model_intercept(model, k)), "intercepts are finite", info.loss);
}

/* The model of a state, if it can have one. */
static inline void fuzz_check_model_of(const gsa_state *state, const gsa_batch *rows)
{
    gsa_model *model = NULL;
    gsa_error error = {0};
    gsa_status status = fuzz_status(gsa_state_finish(state, &fuzz_state_env.call, &model, &error), &error);
    if (status != GSA_OK)
        return;
    fuzz_check_weights(model);
    fuzz_check_predictions(model, rows);
    gsa_model_free(model);
}

/* S2 and S3: two states of the same bytes learn the same rows. */
static inline void fuzz_check_learning(const fuzz_bytes *file, const gsa_batch *rows)
{
    static fuzz_bytes wide_bytes, plain_bytes;
    gsa_state *wide = fuzz_read_state(file), *plain = fuzz_read_state(file);
    if (!wide || !plain)
        return;
    gsa_error wide_error = {0}, plain_error = {0};
    plain->kernels = gsai_kernels_at(0);
    gsa_status status = fuzz_status(gsa_state_update(wide, rows, &wide_error), &wide_error);
    gsa_status other = fuzz_status(gsa_state_update(plain, rows, &plain_error), &plain_error);
    fuzz_must(status == other, "all kernels learn or fail alike", wide_error.message);
    fuzz_write_state(wide, &wide_bytes);
    fuzz_write_state(plain, &plain_bytes);
    fuzz_must(fuzz_same(&wide_bytes, &plain_bytes), "the widest kernels give the bytes of the plain ones", NULL);
    if (status == GSA_OK) {
        fuzz_check_state_file(wide);
        fuzz_check_model_of(wide, rows);
    }
    gsa_state_free(wide);
    gsa_state_free(plain);
}

/* ---- what holds for models --------------------------------------------------------------------------------------- */

static inline void fuzz_write_model(const gsa_model *model, fuzz_bytes *out)
{
    gsa_error error = {0};
    out->size = 0;
    fuzz_must(gsa_model_write(model, fuzz_write, out, &error) == GSA_OK, "a model can be written", error.message);
}

/* S1; returns the model that was loaded. */
static inline gsa_model *fuzz_check_model_file(const gsa_model *model)
{
    static fuzz_bytes file, again;
    gsa_model *back = NULL;
    gsa_error error = {0};
    fuzz_write_model(model, &file);
    fuzz_must(gsa_model_read(file.data, file.size, NULL, &back, &error) == GSA_OK, "a model that was written loads",
              error.message);
    fuzz_write_model(back, &again);
    fuzz_must(fuzz_same(&file, &again), "a model that was loaded is written with the same bytes", NULL);
    return back;
}

/* ---- parameters -------------------------------------------------------------------------------------------------- */

/* A byte a parameter; counts are small. */
static inline gsa_config *fuzz_take_config(fuzz_input *in)
{
    gsa_config *config = NULL;
    gsa_error error = {0};
    fuzz_must(gsa_config_new(NULL, &config, &error) == GSA_OK, "there is memory", NULL);
    for (size_t i = 0; gsa_param_at(i); i++) {
        const gsa_param *param = gsa_param_at(i);
        uint8_t choice = fuzz_byte(in);
        char value[64];
        if (param->kind == GSA_PARAM_COUNT) {
            snprintf(value, sizeof value, "%d", choice % 8);
            if (choice % 8 < (int)param->least) /* the word before N stands for it */
                snprintf(value, sizeof value, "%s",
                         strstr(param->choices, "none")   ? "none"
                         : strstr(param->choices, "auto") ? "auto"
                                                          : param->initial);
        } else if (param->kind == GSA_PARAM_SHARE) { /* most losses have but the initial one */
            snprintf(value, sizeof value, "%s", choice % 16 == 15 ? "0.9" : param->initial);
        } else if (param->kind == GSA_PARAM_SWITCH) {
            snprintf(value, sizeof value, "%s", choice & 1 ? "off" : "on");
        } else {
            const char *at = param->choices;
            for (unsigned n = choice % 8u; n > 0 && strchr(at, '|'); n--)
                at = strchr(at, '|') + 1;
            snprintf(value, sizeof value, "%.*s", (int)strcspn(at, "|"), at);
        }
        fuzz_must(gsa_config_set(config, param->name, value, &error) == GSA_OK, "a value of the table is taken",
                  error.message);
    }
    return config;
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

enum { FUZZ_MAX_ROWS = 24, FUZZ_MAX_ENTRIES = 16 };

typedef struct fuzz_batch {
    gsa_batch batch;
    int64_t start[FUZZ_MAX_ROWS + 1];
    uint32_t index[FUZZ_MAX_ROWS * FUZZ_MAX_ENTRIES];
    float value[FUZZ_MAX_ROWS * FUZZ_MAX_ENTRIES], weight[FUZZ_MAX_ROWS];
    double label[FUZZ_MAX_ROWS];
    int32_t word[FUZZ_MAX_ROWS];
} fuzz_batch;

static const char *const fuzz_words[] = {"red", "green", "blue", "a b", "1", "\xc3\xbc"};

static inline void fuzz_take_entries(fuzz_input *in, fuzz_batch *out, size_t *at)
{
    uint64_t id = fuzz_byte(in) % 32;
    for (size_t n = fuzz_byte(in) % (FUZZ_MAX_ENTRIES + 1); n > 0 && in->left > 0; n--) {
        out->index[*at] = (uint32_t)id;
        out->value[(*at)++] = fuzz_float(in);
        id += 1 + fuzz_byte(in) % 4;
    }
}

/* Labels 0, 1, a few others, fractions or words, as the first byte says; rows as long as there are bytes. */
static inline const gsa_batch *fuzz_take_batch(fuzz_input *in, fuzz_batch *out)
{
    uint8_t how = fuzz_byte(in);
    size_t n_rows = 0, at = 0;
    while (n_rows < FUZZ_MAX_ROWS && (in->left > 0 || n_rows == 0)) {
        uint8_t label = fuzz_byte(in);
        out->start[n_rows] = (int64_t)at;
        out->label[n_rows] = how & 1 ? (double)fuzz_float(in) : label % (how & 2 ? 7 : 2);
        out->word[n_rows] = how & 4 && label % 3 ? label % 6 : -1;
        out->weight[n_rows] = how & 8 ? fabsf(fuzz_float(in)) : 1.0f;
        fuzz_take_entries(in, out, &at);
        n_rows++;
    }
    out->start[n_rows] = (int64_t)at;
    out->batch = (gsa_batch){.n_rows = n_rows, .row_start = out->start, .index = out->index, .label = out->label};
    out->batch.value = how & 16 ? NULL : out->value;
    out->batch.weight = how & 8 ? out->weight : NULL;
    if (how & 4) {
        out->batch.word = out->word;
        out->batch.words = fuzz_words;
        out->batch.n_words = sizeof fuzz_words / sizeof *fuzz_words;
    }
    return &out->batch;
}

/* Rows of a part of the input, whose size comes first. */
static inline const gsa_batch *fuzz_take_rows(fuzz_input *in)
{
    static fuzz_batch drawn;
    fuzz_input part = fuzz_part(in, 1 + fuzz_byte(in));
    return fuzz_take_batch(&part, &drawn);
}

static inline gsa_batch fuzz_rows_from(const gsa_batch *batch, size_t from, size_t n)
{
    gsa_batch some = *batch;
    some.n_rows = n;
    some.row_start += from;
    some.label += from;
    some.word = batch->word ? batch->word + from : NULL;
    some.weight = batch->weight ? batch->weight + from : NULL;
    return some;
}

#endif
