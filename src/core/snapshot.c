/* Putting bundles together and taking them apart. */
#include "core/snapshot_parts.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"

#include <math.h>
#include <string.h>

gsa_status gsa__snapshot_new(const gsa_env *env, gsa__snapshot **out, gsa_error *error)
{
    gsa__snapshot *snapshot = gsa__alloc_zeroed(env, 1, sizeof *snapshot);
    if (!snapshot)
        return gsa__fail_memory(env, error, "no memory to describe a file");
    snapshot->env = *env;
    snapshot->bundle = (gsa__bundle){snapshot->tensors, 0, snapshot->notes, 0};
    *out = snapshot;
    return GSA_OK;
}

const gsa__bundle *gsa__snapshot_bundle(const gsa__snapshot *snapshot)
{
    return &snapshot->bundle;
}

void gsa__snapshot_free(gsa__snapshot *snapshot)
{
    if (!snapshot)
        return;
    gsa_env env = snapshot->env;
    for (size_t i = 0; i < snapshot->n_owned; i++)
        gsa__free(&env, snapshot->owned[i]);
    gsa__free(&env, snapshot);
}

void gsa__snapshot_note(gsa__snapshot *snapshot, const char *key, const char *text)
{
    snapshot->notes[snapshot->bundle.n_notes++] = (gsa__note){key, text};
}

gsa__tensor *gsa__snapshot_add(gsa__snapshot *snapshot, const char *name, gsa__dtype dtype)
{
    gsa__tensor *tensor = &snapshot->tensors[snapshot->bundle.n_tensors++];
    tensor->name = name;
    tensor->dtype = dtype;
    tensor->n_dims = 1;
    return tensor;
}

void gsa__snapshot_vector(gsa__snapshot *snapshot, const char *name, gsa__dtype dtype, const void *data, uint64_t len)
{
    gsa__tensor *tensor = gsa__snapshot_add(snapshot, name, dtype);
    tensor->shape[0] = len;
    tensor->data = data;
}

void *gsa__snapshot_alloc(gsa__snapshot *snapshot, size_t n, size_t element_size)
{
    void *memory = gsa__alloc_zeroed(&snapshot->env, n, element_size);
    if (memory)
        snapshot->owned[snapshot->n_owned++] = memory;
    return memory;
}

/* Texts one after the other, each with its NUL; which are numbers; and the numbers, exactly. */
gsa_status gsa__snapshot_labels(gsa__snapshot *snapshot, const gsa__labels *labels, gsa_error *error)
{
    size_t text_size = 0;
    for (size_t k = 0; k < labels->n; k++)
        text_size += strlen(labels->at[k].text) + 1;
    char *text = gsa__snapshot_alloc(snapshot, text_size, 1);
    uint8_t *is_number = gsa__snapshot_alloc(snapshot, labels->n, 1);
    double *number = gsa__snapshot_alloc(snapshot, labels->n, sizeof *number);
    if (!text || !is_number || !number)
        return gsa__fail_memory(&snapshot->env, error, "no memory for %zu labels", labels->n);
    gsa__snapshot_vector(snapshot, "labels.text", GSA__U8, text, text_size);
    gsa__snapshot_vector(snapshot, "labels.is_number", GSA__U8, is_number, labels->n);
    gsa__snapshot_vector(snapshot, "labels.number", GSA__F64, number, labels->n);
    for (size_t k = 0; k < labels->n; k++) {
        size_t size = strlen(labels->at[k].text) + 1;
        memcpy(text, labels->at[k].text, size);
        text += size;
        is_number[k] = labels->at[k].is_number;
        number[k] = labels->at[k].is_number ? labels->at[k].number : 0;
    }
    return GSA_OK;
}

gsa_status gsa__bundle_need(const gsa__bundle *bundle, const char *name, gsa__dtype dtype, uint64_t len,
                            const gsa__tensor **out, gsa_error *error)
{
    const gsa__tensor *tensor = gsa__bundle_tensor(bundle, name);
    if (!tensor)
        return gsa__fail(error, GSA_FORMAT, "the file has no tensor '%s'", name);
    if (tensor->dtype != dtype)
        return gsa__fail(error, GSA_FORMAT, "tensor '%s' is of the wrong type", name);
    if (len != GSA__ANY_LEN && gsa__tensor_len(tensor) != len)
        return gsa__fail(error, GSA_FORMAT, "tensor '%s' has %llu elements, expected %llu", name,
                         (unsigned long long)gsa__tensor_len(tensor), (unsigned long long)len);
    *out = tensor;
    return GSA_OK;
}

gsa_status gsa__bundle_may_have(const gsa__bundle *bundle, const char *name, gsa__dtype dtype, uint64_t len,
                                const gsa__tensor **out, gsa_error *error)
{
    *out = NULL;
    return gsa__bundle_tensor(bundle, name) ? gsa__bundle_need(bundle, name, dtype, len, out, error) : GSA_OK;
}

gsa_status gsa__bundle_need_note(const gsa__bundle *bundle, const char *key, const char **out, gsa_error *error)
{
    *out = gsa__bundle_note(bundle, key);
    if (!*out)
        return gsa__fail(error, GSA_FORMAT, "the file does not say '%s'", key);
    return GSA_OK;
}

gsa_status gsa__bundle_loss(const gsa__bundle *bundle, const char *key, bool may_be_auto, const gsa__loss **out,
                            gsa_error *error)
{
    const char *text;
    gsa_status status = gsa__bundle_need_note(bundle, key, &text, error);
    if (status != GSA_OK)
        return status;
    *out = gsa__loss_find(text);
    bool known = *out || (may_be_auto && strcmp(text, gsa__loss_name(NULL)) == 0);
    return known ? GSA_OK : gsa__fail(error, GSA_FORMAT, "unknown loss '%.40s'", text);
}

gsa_status gsa__bundle_check(const gsa__bundle *bundle, const char *format, gsa_error *error)
{
    const char *found = gsa__bundle_note(bundle, "format");
    const char *version = gsa__bundle_note(bundle, "version");
    if (!found || !version)
        return gsa__fail(error, GSA_FORMAT, "a safetensors file, but not of greedystep; give one that `train` wrote");
    if (strcmp(found, format) != 0)
        return gsa__fail(error, GSA_FORMAT, "this is a %s, expected a %s; give the other", found, format);
    if (strcmp(version, GSA__FORMAT_VERSION) != 0)
        return gsa__fail(error, GSA_FORMAT,
                         "format version %s, this release reads up to %s; read it with a newer greedystep", version,
                         GSA__FORMAT_VERSION);
    return GSA_OK;
}

/* One label; its text must be what its number is written as. */
static gsa_status restore_label(gsa__labels *labels, const char *text, uint8_t is_number, double number,
                                gsa_error *error)
{
    char expected[GSA__NUMBER_TEXT];
    size_t before = labels->n, out;
    gsa_status status;
    if (is_number && !isfinite(number))
        return gsa__fail(error, GSA_FORMAT, "label %zu is not a finite number", before);
    if (is_number)
        gsa__number_text(number, expected);
    if (is_number && strcmp(text, expected) != 0)
        return gsa__fail(error, GSA_FORMAT, "label %zu has a text that is not its number", before);
    status = is_number ? gsa__labels_add_number(labels, number, &out, error)
                       : gsa__labels_add_word(labels, text, &out, error);
    if (status == GSA_OK && out != before)
        return gsa__fail(error, GSA_FORMAT, "label '%.60s' occurs twice", text);
    return status;
}

gsa_status gsa__labels_restore(gsa__labels *labels, const gsa__bundle *bundle, gsa_error *error)
{
    const gsa__tensor *texts = NULL, *kinds = NULL, *numbers = NULL;
    gsa_status status = gsa__bundle_need(bundle, "labels.text", GSA__U8, GSA__ANY_LEN, &texts, error);
    if (status == GSA_OK)
        status = gsa__bundle_need(bundle, "labels.is_number", GSA__U8, GSA__ANY_LEN, &kinds, error);
    if (status == GSA_OK)
        status = gsa__bundle_need(bundle, "labels.number", GSA__F64, gsa__tensor_len(kinds), &numbers, error);
    if (status != GSA_OK)
        return status;
    const char *at = texts->data, *end = at + gsa__tensor_len(texts);
    for (uint64_t k = 0; k < gsa__tensor_len(kinds) && status == GSA_OK; k++) {
        const char *nul = at < end ? memchr(at, 0, (size_t)(end - at)) : NULL;
        if (!nul || !gsa__is_label(at, (size_t)(nul - at)))
            return gsa__fail(error, GSA_FORMAT, "label %llu is not a text", (unsigned long long)k);
        status =
            restore_label(labels, at, ((const uint8_t *)kinds->data)[k], ((const double *)numbers->data)[k], error);
        at = nul + 1;
    }
    if (status == GSA_OK && at != end)
        return gsa__fail(error, GSA_FORMAT, "there is text after the last label");
    return status;
}
