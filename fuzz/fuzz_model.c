/* The loader of models: a loaded model predicts finite numbers, is written and loads again with the same bytes, from
 * memory and mapped from a file, and knows its labels. */
#include "states.h"

#include <sys/mman.h>
#include <unistd.h>

static void write_model(const gsa_model *model, fuzz_bytes *out)
{
    gsa_error error = {0};
    out->size = 0;
    fuzz_must(gsa_model_write(model, fuzz_write, out, &error) == GSA_OK, "a model can be written", error.message);
}

static void check_file(const gsa_model *model)
{
    static fuzz_bytes file, again;
    gsa_model *back = NULL;
    gsa_error error = {0};
    write_model(model, &file);
    fuzz_must(gsa_model_read(file.data, file.size, NULL, &back, &error) == GSA_OK, "a model that was written loads",
              error.message);
    write_model(back, &again);
    fuzz_must(fuzz_same(&file, &again), "a model that was loaded is written with the same bytes", NULL);
    gsa_model_free(back);
}

/* The same bytes in a file without a name are mapped. */
static void check_mapped(const gsa_model *model, const fuzz_bytes *bytes)
{
    static int fd = -1;
    static fuzz_bytes read, mapped;
    char path[32];
    gsa_model *other = NULL;
    gsa_error error = {0};
    if (fd < 0)
        fd = memfd_create("fuzz", 0);
    fuzz_must(ftruncate(fd, 0) == 0 && pwrite(fd, bytes->data, bytes->size, 0) == (ssize_t)bytes->size,
              "there is a file in memory", NULL);
    snprintf(path, sizeof path, "/dev/fd/%d", fd);
    fuzz_must(gsa_model_load(path, &fuzz_state_env, &other, &error) == GSA_OK, "a model loads as it is read",
              error.message);
    write_model(model, &read);
    write_model(other, &mapped);
    fuzz_must(fuzz_same(&read, &mapped), "a mapped model is the one that is read", NULL);
    gsa_model_free(other);
}

static void check_labels(const gsa_model *model)
{
    gsa_model_info info;
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
    fuzz_must(gsa_metrics_new(model, NULL, &metrics, &error) == GSA_OK, "a model can be judged", error.message);
    if (fuzz_status(gsa_metrics_update(metrics, rows, &error), &error) == GSA_OK)
        fuzz_status(gsa_metrics_finish(metrics, &error), &error);
    for (size_t i = 0; gsa_metrics_at(metrics, i, &metric); i++)
        fuzz_must(metric.name != NULL, "a metric has a name", NULL);
    gsa_metrics_free(metrics);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static fuzz_bytes file;
    static fuzz_batch drawn;
    if (size > FUZZ_MOST)
        return -1;
    fuzz_input in = {data, size};
    uint8_t what = fuzz_byte(&in);
    fuzz_input for_rows = fuzz_part(&in, 1 + fuzz_byte(&in));
    if (!fuzz_make_file(&in, &file))
        return -1;
    gsa_model *model = NULL;
    gsa_error error = {0};
    if (fuzz_status(gsa_model_read(file.data, file.size, &fuzz_state_env, &model, &error), &error) != GSA_OK)
        return 0;
    const gsa_batch *rows = fuzz_take_batch(&for_rows, &drawn);
    fuzz_check_weights(model);
    fuzz_check_predictions(model, rows);
    check_file(model);
    check_labels(model);
    if (what & 1)
        check_mapped(model, &file);
    if (what & 2)
        check_metrics(model, rows);
    gsa_model_free(model);
    return 0;
}
