/* The loader of models: a loaded model predicts finite numbers, is written and loads again with the same bytes, from
 * memory and mapped from a file, and knows its labels. */
#include "states.h"

/* The model that was read is there still: a second one of its size needs a limit of its own. */
static const gsai_env mapped_env = {
    .memory = {.size = sizeof(gsa_memory),
               .budget = &(gsa_budget){.size = sizeof(gsa_budget), .limit = (uint64_t)16 << 20}},
    .call = {.size = sizeof(gsa_call), .n_threads = 1}};

/* The same bytes in a file without a name are mapped. */
static void check_mapped(const gsa_model *model, const fuzz_bytes *bytes)
{
    static fuzz_bytes read, mapped;
    char path[32];
    gsa_model *other = NULL;
    gsa_error error = {0};
    fuzz_must(pwrite(fuzz_file(path), bytes->data, bytes->size, 0) == (ssize_t)bytes->size, "a file can be written",
              NULL);
    fuzz_must(gsa_model_load(path, &mapped_env.memory, &mapped_env.call, &other, &error) == GSA_OK,
              "a model loads as it is read", error.message);
    fuzz_write_model(model, &read);
    fuzz_write_model(other, &mapped);
    fuzz_must(fuzz_same(&read, &mapped), "a mapped model is the one that is read", NULL);
    gsa_model_free(other);
}

static void check_labels(const gsa_model *model)
{
    gsa_model_info info = {.size = sizeof info};
    gsa_model_get_info(model, &info);
    for (size_t k = 0; k < info.n_classes; k++) {
        const char *label = gsa_model_label(model, k);
        fuzz_must(label != NULL, "every class has a label", NULL);
        for (size_t i = 0; i < k; i++)
            fuzz_must(strcmp(label, gsa_model_label(model, i)) != 0, "labels are distinct", label);
    }
    fuzz_must(!gsa_model_label(model, (size_t)info.n_classes), "there are as many labels as classes", NULL);
    for (uint64_t feature = 0; feature < 40; feature++) {
        (void)gsa_model_name(model, feature);
        (void)gsa_model_weight(model, feature, 0);
    }
}

static void check_metrics(const gsa_model *model, const gsa_batch *rows)
{
    gsa_metrics *metrics = NULL;
    gsa_error error = {0};
    gsa_metric metric;
    fuzz_must(gsa_metrics_new(model, &metrics, &error) == GSA_OK, "a model can be judged", error.message);
    if (fuzz_status(gsa_metrics_update(metrics, rows, &error), &error) == GSA_OK)
        fuzz_status(gsa_metrics_finish(metrics, &error), &error);
    for (size_t i = 0; gsa_metrics_at(metrics, i, &metric) == GSA_OK; i++)
        fuzz_must(metric.name != NULL, "a metric has a name", NULL);
    gsa_metrics_free(metrics);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static fuzz_bytes file;
    if (size > FUZZ_MAX)
        return -1;
    fuzz_input in = {data, size};
    uint8_t what = fuzz_byte(&in);
    const gsa_batch *rows = fuzz_take_rows(&in);
    if (!fuzz_make_file(&in, &file))
        return -1;
    gsa_model *model = NULL;
    gsa_error error = {0};
    if (fuzz_status(gsa_model_read(file.data, file.size, &fuzz_state_env.memory, &model, &error), &error) != GSA_OK)
        return 0;
    fuzz_check_weights(model);
    fuzz_check_predictions(model, rows);
    gsa_model_free(fuzz_check_model_file(model));
    check_labels(model);
    if (what & 1)
        check_mapped(model, &file);
    if (what & 2)
        check_metrics(model, rows);
    gsa_model_free(model);
    return 0;
}
