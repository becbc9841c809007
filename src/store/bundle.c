/* Putting bundles together and taking them apart. */
#include "store/bundle.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"

#include <assert.h>
#include <math.h>
#include <string.h>

gsa_status gsai_snapshot_new(const gsa_env *env, gsai_snapshot **out, gsa_error *error)
{
    gsai_snapshot *snapshot = gsai_alloc_zeroed(env, 1, sizeof *snapshot);
    if (!snapshot)
        return gsai_fail_memory(env, error, "no memory to describe a file");
    snapshot->env = *env;
    snapshot->bundle = (gsai_bundle){snapshot->tensors, 0, snapshot->notes, 0};
    *out = snapshot;
    return GSA_OK;
}

const gsai_bundle *gsai_snapshot_bundle(const gsai_snapshot *snapshot)
{
    return &snapshot->bundle;
}

void gsai_snapshot_free(gsai_snapshot *snapshot)
{
    if (!snapshot)
        return;
    gsa_env env = snapshot->env;
    for (size_t i = 0; i < snapshot->n_owned; i++)
        gsai_free(&env, snapshot->owned[i]);
    gsai_free(&env, snapshot);
}

void gsai_snapshot_note(gsai_snapshot *snapshot, const char *key, const char *text)
{
    snapshot->notes[snapshot->bundle.n_notes++] = (gsai_note){key, text};
}

gsai_tensor *gsai_snapshot_add(gsai_snapshot *snapshot, const char *name, gsai_dtype dtype)
{
    assert(snapshot->bundle.n_tensors < GSAI_SNAPSHOT_TENSORS);
    gsai_tensor *tensor = &snapshot->tensors[snapshot->bundle.n_tensors++];
    tensor->name = name;
    tensor->dtype = dtype;
    tensor->n_dims = 1;
    return tensor;
}

void gsai_snapshot_vector(gsai_snapshot *snapshot, const char *name, gsai_dtype dtype, const void *data, uint64_t len)
{
    gsai_tensor *tensor = gsai_snapshot_add(snapshot, name, dtype);
    tensor->shape[0] = len;
    tensor->data = data;
}

void gsai_snapshot_matrix(gsai_snapshot *snapshot, const char *name, gsai_dtype dtype, const void *data, uint64_t n,
                          uint64_t width)
{
    gsai_snapshot_vector(snapshot, name, dtype, data, n);
    gsai_tensor *tensor = &snapshot->tensors[snapshot->bundle.n_tensors - 1];
    tensor->n_dims = 2;
    tensor->shape[1] = width;
}

void *gsai_snapshot_alloc(gsai_snapshot *snapshot, size_t n, size_t element_size)
{
    void *memory = gsai_alloc_zeroed(&snapshot->env, n, element_size);
    if (memory)
        snapshot->owned[snapshot->n_owned++] = memory;
    return memory;
}

/* Texts one after the other, each with its NUL; which are numbers; and the numbers, exactly. */
gsa_status gsai_snapshot_labels(gsai_snapshot *snapshot, const gsai_labels *labels, gsa_error *error)
{
    size_t text_size = 0;
    for (size_t k = 0; k < labels->n; k++)
        text_size += strlen(labels->at[k].text) + 1;
    char *text = gsai_snapshot_alloc(snapshot, text_size, 1);
    uint8_t *is_number = gsai_snapshot_alloc(snapshot, labels->n, 1);
    double *number = gsai_snapshot_alloc(snapshot, labels->n, sizeof *number);
    if (!text || !is_number || !number)
        return gsai_fail_memory(&snapshot->env, error, "no memory for %zu labels", labels->n);
    gsai_snapshot_vector(snapshot, "labels.text", GSAI_U8, text, text_size);
    gsai_snapshot_vector(snapshot, "labels.is_number", GSAI_U8, is_number, labels->n);
    gsai_snapshot_vector(snapshot, "labels.number", GSAI_F64, number, labels->n);
    for (size_t k = 0; k < labels->n; k++) {
        size_t size = strlen(labels->at[k].text) + 1;
        memcpy(text, labels->at[k].text, size);
        text += size;
        is_number[k] = labels->at[k].is_number;
        number[k] = labels->at[k].is_number ? labels->at[k].number : 0;
    }
    return GSA_OK;
}

gsa_status gsai_bundle_need(const gsai_bundle *bundle, const char *name, gsai_dtype dtype, uint64_t len,
                            const gsai_tensor **out, gsa_error *error)
{
    const gsai_tensor *tensor = *out = gsai_bundle_tensor(bundle, name);
    if (!tensor)
        return gsai_fail(error, GSA_FORMAT, "the file has no tensor '%s'", name);
    if (tensor->dtype != dtype)
        return gsai_fail(error, GSA_FORMAT, "tensor '%s' is of the wrong type", name);
    if (len != GSAI_ANY_LEN && gsai_tensor_len(tensor) != len)
        return gsai_fail(error, GSA_FORMAT, "tensor '%s' has %llu elements, expected %llu", name,
                         (unsigned long long)gsai_tensor_len(tensor), (unsigned long long)len);
    return GSA_OK;
}

gsa_status gsai_bundle_may_have(const gsai_bundle *bundle, const char *name, gsai_dtype dtype, uint64_t len,
                                const gsai_tensor **out, gsa_error *error)
{
    *out = NULL;
    return gsai_bundle_tensor(bundle, name) ? gsai_bundle_need(bundle, name, dtype, len, out, error) : GSA_OK;
}

gsa_status gsai_bundle_need_note(const gsai_bundle *bundle, const char *key, const char **out, gsa_error *error)
{
    *out = gsai_bundle_note(bundle, key);
    if (!*out)
        return gsai_fail(error, GSA_FORMAT, "the file does not say '%s'", key);
    return GSA_OK;
}

gsa_status gsai_bundle_loss(const gsai_bundle *bundle, const char *key, bool may_be_auto, const gsai_loss **out,
                            gsa_error *error)
{
    const char *text;
    GSA_TRY(gsai_bundle_need_note(bundle, key, &text, error));
    *out = gsai_loss_find(text);
    bool known = *out || (may_be_auto && strcmp(text, gsai_loss_name(NULL)) == 0);
    return known ? GSA_OK : gsai_fail(error, GSA_FORMAT, "unknown loss '%.40s'", text);
}

gsa_status gsai_bundle_check(const gsai_bundle *bundle, const char *format, gsa_error *error)
{
    const char *found = gsai_bundle_note(bundle, "format"), *version = gsai_bundle_note(bundle, "version");
    if (!found || !version)
        return gsai_fail(error, GSA_FORMAT, "a safetensors file, but no model or state of greedystep");
    if (strcmp(found, format) != 0)
        return gsai_fail(error, GSA_FORMAT, "this is a %.40s, expected a %s; give the other", found, format);
    const char *kind = strchr(format, '.') + 1;
    if (strcmp(version, "1") == 0)
        return gsai_fail(error, GSA_FORMAT, "a %s of format version 1, which was never released; train it again", kind);
    if (strcmp(version, GSAI_FORMAT_VERSION) != 0)
        return gsai_fail(error, GSA_FORMAT,
                         "a %s of format version %.20s, this release reads %s; use a newer greedystep", kind, version,
                         GSAI_FORMAT_VERSION);
    return GSA_OK;
}

/* One label; its text must be what its number is written as. */
static gsa_status restore_label(gsai_labels *labels, const char *text, uint8_t is_number, double number,
                                gsa_error *error)
{
    char expected[GSAI_NUMBER_TEXT];
    size_t before = labels->n, out;
    if (is_number && !isfinite(number))
        return gsai_fail(error, GSA_FORMAT, "label %zu is not a finite number", before);
    if (is_number)
        gsai_number_text(number, expected);
    if (is_number && strcmp(text, expected) != 0)
        return gsai_fail(error, GSA_FORMAT, "label %zu has a text that is not its number", before);
    GSA_TRY(is_number ? gsai_labels_add_number(labels, number, &out, error)
                      : gsai_labels_add_word(labels, text, &out, error));
    return out == before ? GSA_OK : gsai_fail(error, GSA_FORMAT, "label '%.60s' occurs twice", text);
}

gsa_status gsai_labels_restore(gsai_labels *labels, const gsai_bundle *bundle, gsa_error *error)
{
    const gsai_tensor *texts, *kinds, *numbers;
    GSA_TRY(gsai_bundle_need(bundle, "labels.text", GSAI_U8, GSAI_ANY_LEN, &texts, error));
    GSA_TRY(gsai_bundle_need(bundle, "labels.is_number", GSAI_U8, GSAI_ANY_LEN, &kinds, error));
    GSA_TRY(gsai_bundle_need(bundle, "labels.number", GSAI_F64, gsai_tensor_len(kinds), &numbers, error));
    const char *at = texts->data, *end = at + gsai_tensor_len(texts);
    for (uint64_t k = 0; k < gsai_tensor_len(kinds); k++) {
        const char *nul = at < end ? memchr(at, 0, (size_t)(end - at)) : NULL;
        if (!nul || !gsai_is_label(at, (size_t)(nul - at)))
            return gsai_fail(error, GSA_FORMAT, "label %llu is not a text", (unsigned long long)k);
        GSA_TRY(
            restore_label(labels, at, ((const uint8_t *)kinds->data)[k], ((const double *)numbers->data)[k], error));
        at = nul + 1;
    }
    return at == end ? GSA_OK : gsai_fail(error, GSA_FORMAT, "there is text after the last label");
}

void gsai_snapshot_schema(gsai_snapshot *snapshot, const char *schema)
{
    if (schema)
        gsai_snapshot_vector(snapshot, "schema", GSAI_U8, schema, strlen(schema));
}

gsa_status gsai_schema_restore(char **out, const gsai_bundle *bundle, const gsa_env *env, gsa_error *error)
{
    const gsai_tensor *text;
    GSA_TRY(gsai_bundle_may_have(bundle, "schema", GSAI_U8, GSAI_ANY_LEN, &text, error));
    if (!text)
        return GSA_OK;
    size_t size = (size_t)gsai_tensor_len(text);
    if (!gsai_is_text(text->data, size))
        return gsai_fail(error, GSA_FORMAT, "tensor 'schema' is not a text");
    *out = gsai_alloc_zeroed(env, size + 1, 1);
    if (!*out)
        return gsai_fail_memory(env, error, "no memory for the meaning of the columns");
    memcpy(*out, text->data, size);
    return GSA_OK;
}

void gsai_snapshot_names(gsai_snapshot *snapshot, const gsai_names *names)
{
    if (names->n == 0)
        return;
    gsai_snapshot_vector(snapshot, "feature_names.feature", GSAI_U32, names->id, names->n);
    gsai_snapshot_vector(snapshot, "feature_names.text", GSAI_U8, names->text, names->start[names->n]);
}

gsa_status gsai_names_restore(gsai_names *out, const gsai_bundle *bundle, const gsa_env *env, gsa_error *error)
{
    const gsai_tensor *ids, *texts;
    GSA_TRY(gsai_bundle_may_have(bundle, "feature_names.feature", GSAI_U32, GSAI_ANY_LEN, &ids, error));
    if (!ids)
        return GSA_OK;
    GSA_TRY(gsai_bundle_need(bundle, "feature_names.text", GSAI_U8, GSAI_ANY_LEN, &texts, error));
    return gsai_names_read(out, ids->data, (size_t)gsai_tensor_len(ids), texts->data, (size_t)gsai_tensor_len(texts),
                           env, error);
}
