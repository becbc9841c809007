/* Putting bundles together and taking them apart. */
#include "store/bundle.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

gsa_status gsai_snapshot_new(const gsai_env *env, gsai_snapshot **out, gsa_error *error)
{
    gsai_snapshot *snapshot = gsai_alloc_zeroed(env, 1, sizeof *snapshot);
    GSAI_TRY_MEMORY(snapshot, env, error, "no memory to describe a file");
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
    gsai_env env = snapshot->env;
    for (size_t i = 0; i < snapshot->n_owned; i++)
        gsai_free(&env, snapshot->owned[i]);
    gsai_free(&env, snapshot);
}

gsa_status gsai_snapshot_finish(gsai_snapshot *snapshot, gsa_status status, gsai_snapshot **out)
{
    if (status == GSA_OK)
        *out = snapshot;
    else
        gsai_snapshot_free(snapshot);
    return status;
}

void gsai_snapshot_note(gsai_snapshot *snapshot, const char *key, const char *text)
{
    snapshot->notes[snapshot->bundle.n_notes++] = (gsai_note){key, text};
}

gsai_tensor *gsai_snapshot_add(gsai_snapshot *snapshot, const gsai_key *key, const void *data, uint64_t len)
{
    size_t i = snapshot->bundle.n_tensors++;
    assert(i < GSAI_SNAPSHOT_TENSORS);
    snapshot->limits[i] = key->limit;
    snapshot->tensors[i] =
        (gsai_tensor){.name = key->name, .dtype = key->dtype, .n_dims = 1, .shape = {len}, .data = data};
    return &snapshot->tensors[i];
}

void gsai_snapshot_fields(gsai_snapshot *snapshot, const gsai_field *fields, size_t n, const void *from)
{
    for (size_t i = 0; i < n; i++)
        gsai_snapshot_add(snapshot, &fields[i].key, (const char *)from + fields[i].at, fields[i].len);
}

void *gsai_snapshot_alloc(gsai_snapshot *snapshot, size_t n, size_t element_size)
{
    void *memory = gsai_alloc_zeroed(&snapshot->env, n, element_size);
    if (memory)
        snapshot->owned[snapshot->n_owned++] = memory;
    return memory;
}

/* Texts one after the other, each with its NUL; which are numbers; and the numbers, exactly. */
static const gsai_key label_text = {"labels.text", GSAI_U8, 0}, label_is_number = {"labels.is_number", GSAI_U8, 0},
                      label_number = {"labels.number", GSAI_F64, GSAI_FINITE}, schema_key = {"schema", GSAI_U8, 0},
                      name_feature = {"feature_names.feature", GSAI_U32, GSA_MAX_ID},
                      name_text = {"feature_names.text", GSAI_U8, 0};

static gsa_status add_labels(gsai_snapshot *snapshot, const gsai_labels *labels, gsa_error *error)
{
    size_t text_size = 0;
    for (size_t k = 0; k < labels->n; k++)
        text_size += strlen(labels->at[k].text) + 1;
    char *text = gsai_snapshot_alloc(snapshot, text_size, 1);
    uint8_t *is_number = gsai_snapshot_alloc(snapshot, labels->n, 1);
    double *number = gsai_snapshot_alloc(snapshot, labels->n, sizeof *number);
    GSAI_TRY_MEMORY(text && is_number && number, &snapshot->env, error, "no memory for %zu labels", labels->n);
    gsai_snapshot_add(snapshot, &label_text, text, text_size);
    gsai_snapshot_add(snapshot, &label_is_number, is_number, labels->n);
    gsai_snapshot_add(snapshot, &label_number, number, labels->n);
    for (size_t k = 0; k < labels->n; k++) {
        size_t size = strlen(labels->at[k].text) + 1;
        memcpy(text, labels->at[k].text, size);
        text += size;
        is_number[k] = labels->at[k].is_number;
        number[k] = labels->at[k].is_number ? labels->at[k].number : 0;
    }
    return GSA_OK;
}

gsa_status gsai_snapshot_texts(gsai_snapshot *snapshot, const gsai_labels *labels, const char *schema,
                               const gsai_names *names, gsa_error *error)
{
    GSA_TRY(add_labels(snapshot, labels, error));
    if (schema)
        gsai_snapshot_add(snapshot, &schema_key, schema, strlen(schema));
    if (names->n > 0) {
        gsai_snapshot_add(snapshot, &name_feature, names->id, names->n);
        gsai_snapshot_add(snapshot, &name_text, names->text, names->start[names->n]);
    }
    return GSA_OK;
}

static const gsai_key result_keys[GSAI_N_RESULTS] = {
#define RESULT_KEY(name) {"results." #name, GSAI_F64, GSAI_FINITE},
    GSAI_RESULTS(RESULT_KEY)
#undef RESULT_KEY
};

void gsai_snapshot_results(gsai_snapshot *snapshot, const gsai_results *results)
{
    for (size_t i = 0; i < GSAI_N_RESULTS; i++)
        if (isfinite(results->at[i]))
            gsai_snapshot_add(snapshot, &result_keys[i], &results->at[i], 1);
}

/* ---- checks ------------------------------------------------------------------------------------------------------ */

/* One plain loop per type: every element of a file goes through one of them. */
static bool are_in_range(gsai_dtype dtype, uint64_t limit, const void *elements, size_t n)
{
    const double least = limit == GSAI_FINITE ? -DBL_MAX : 0;
    size_t n_bad = 0;
    for (size_t i = 0; dtype == GSAI_U32 && i < n; i++)
        n_bad += ((const uint32_t *)elements)[i] > limit ? 1 : 0;
    for (size_t i = 0; dtype == GSAI_U64 && i < n; i++)
        n_bad += ((const uint64_t *)elements)[i] > limit ? 1 : 0;
    for (size_t i = 0; dtype == GSAI_F32 && i < n; i++) {
        double x = (double)((const float *)elements)[i];
        n_bad += x >= least && x <= DBL_MAX ? 0 : 1;
    }
    for (size_t i = 0; dtype == GSAI_F64 && i < n; i++) {
        double x = ((const double *)elements)[i];
        n_bad += x >= least && x <= DBL_MAX ? 0 : 1;
    }
    return n_bad == 0;
}

static bool are_sound(const gsai_tensor *tensor, uint64_t limit)
{
    enum { STRETCH = 512 };
    uint64_t room[STRETCH], len = gsai_tensor_len(tensor);
    bool is_float = tensor->dtype == GSAI_F32 || tensor->dtype == GSAI_F64, sound = true;
    if (tensor->dtype == GSAI_U8 || limit == (is_float ? (uint64_t)GSAI_ANY_NUMBER : UINT64_MAX))
        return true;
    for (uint64_t from = 0; from < len && sound; from += STRETCH) {
        size_t n = len - from < STRETCH ? (size_t)(len - from) : STRETCH;
        const void *elements = room;
        if (tensor->fill)
            tensor->fill(tensor->ctx, from, n, room);
        else
            elements = (const char *)tensor->data + from * gsai_dtype_size(tensor->dtype);
        sound = are_in_range(tensor->dtype, limit, elements, n);
    }
    return sound;
}

/* above, not_finite: what an integer and a float fail with. */
static gsa_status check(const gsai_tensor *tensor, uint64_t limit, gsa_status above, gsa_status not_finite,
                        gsa_error *error)
{
    bool is_float = tensor->dtype == GSAI_F32 || tensor->dtype == GSAI_F64;
    if (are_sound(tensor, limit))
        return GSA_OK;
    if (!is_float)
        return gsai_fail(error, above, "tensor '%s' has a value above %llu", tensor->name, (unsigned long long)limit);
    return gsai_fail(error, not_finite, "tensor '%s' has a value that is %snot finite%s", tensor->name,
                     limit == GSAI_FINITE ? "" : "negative or ",
                     not_finite == GSA_DIVERGED ? "; scale features and labels to a similar range" : "");
}

gsa_status gsai_snapshot_check(const gsai_snapshot *snapshot, gsa_error *error)
{
    for (size_t i = 0; i < snapshot->bundle.n_tensors; i++)
        GSA_TRY(check(&snapshot->tensors[i], snapshot->limits[i], GSA_LIMIT, GSA_DIVERGED, error));
    return GSA_OK;
}

/* ---- from a bundle ----------------------------------------------------------------------------------------------- */

gsa_status gsai_bundle_need(const gsai_bundle *bundle, const gsai_key *key, uint64_t len, const gsai_tensor **out,
                            gsa_error *error)
{
    const gsai_tensor *tensor = *out = gsai_bundle_tensor(bundle, key->name);
    if (!tensor)
        return gsai_fail(error, GSA_FORMAT, "the file has no tensor '%s'", key->name);
    if (tensor->dtype != key->dtype)
        return gsai_fail(error, GSA_FORMAT, "tensor '%s' is of the wrong type", key->name);
    if (len != GSAI_ANY_LEN && gsai_tensor_len(tensor) != len)
        return gsai_fail(error, GSA_FORMAT, "tensor '%s' has %llu elements, expected %llu", key->name,
                         (unsigned long long)gsai_tensor_len(tensor), (unsigned long long)len);
    return check(tensor, key->limit, GSA_FORMAT, GSA_FORMAT, error);
}

gsa_status gsai_bundle_may_have(const gsai_bundle *bundle, const gsai_key *key, uint64_t len, const gsai_tensor **out,
                                gsa_error *error)
{
    *out = NULL;
    return gsai_bundle_tensor(bundle, key->name) ? gsai_bundle_need(bundle, key, len, out, error) : GSA_OK;
}

gsa_status gsai_bundle_fields(const gsai_bundle *bundle, const gsai_field *fields, size_t n, void *to, gsa_error *error)
{
    for (size_t i = 0; i < n; i++) {
        const gsai_tensor *found;
        GSA_TRY(gsai_bundle_need(bundle, &fields[i].key, fields[i].len, &found, error));
        memcpy((char *)to + fields[i].at, found->data, fields[i].len * gsai_dtype_size(found->dtype));
    }
    return GSA_OK;
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

/* "model" or "state", of a bundle whose format was checked. */
static const char *kind_of(const gsai_bundle *bundle)
{
    return strchr(gsai_bundle_note(bundle, "format"), '.') + 1;
}

gsa_status gsai_bundle_param(const gsai_bundle *bundle, gsai_param_id id, gsai_params *params, gsa_error *error)
{
    const char *text, *name = gsa_param_at((size_t)id)->name;
    GSA_TRY(gsai_bundle_need_note(bundle, name, &text, error));
    return gsai_params_set(params, name, text, NULL) == GSA_OK
               ? GSA_OK
               : gsai_fail(error, GSA_FORMAT, "the %s of a %s cannot be '%.40s'", name, kind_of(bundle), text);
}

gsa_status gsai_bundle_check(const gsai_bundle *bundle, const char *format, gsa_error *error)
{
    const char *found = gsai_bundle_note(bundle, "format"), *version = gsai_bundle_note(bundle, "version");
    if (!found)
        return gsai_fail(error, GSA_FORMAT, "a safetensors file, but no model or state of greedystep");
    if (strcmp(found, format) != 0)
        return gsai_fail(error, GSA_FORMAT, "this is a %.40s, expected a %s; give the other", found, format);
    if (!version)
        return gsai_fail(error, GSA_FORMAT, "a %s without a format version; train it again", kind_of(bundle));
    if (strcmp(version, "1") == 0 || strcmp(version, "2") == 0)
        return gsai_fail(error, GSA_FORMAT, "a %s of format version %s, which was never published; train it again",
                         kind_of(bundle), version);
    if (strcmp(version, GSAI_FORMAT_VERSION) != 0)
        return gsai_fail(error, GSA_FORMAT,
                         "a %s of format version %.20s, this release reads %s; use a newer greedystep", kind_of(bundle),
                         version, GSAI_FORMAT_VERSION);
    return GSA_OK;
}

/* One label; its text must be what its number is written as. */
static gsa_status restore_label(gsai_labels *labels, const char *text, uint8_t is_number, double number,
                                gsa_error *error)
{
    char expected[GSAI_NUMBER_TEXT];
    size_t before = labels->n, out;
    if (is_number)
        gsai_number_text(number, expected);
    if (is_number && strcmp(text, expected) != 0)
        return gsai_fail(error, GSA_FORMAT, "label %zu has a text that is not its number", before);
    GSA_TRY(is_number ? gsai_labels_add_number(labels, number, &out, error)
                      : gsai_labels_add_word(labels, text, &out, error));
    return out == before ? GSA_OK : gsai_fail(error, GSA_FORMAT, "label '%.60s' occurs twice", text);
}

static gsa_status restore_labels(gsai_labels *labels, const gsai_bundle *bundle, gsa_error *error)
{
    const gsai_tensor *texts, *kinds, *numbers;
    GSA_TRY(gsai_bundle_need(bundle, &label_text, GSAI_ANY_LEN, &texts, error));
    GSA_TRY(gsai_bundle_need(bundle, &label_is_number, GSAI_ANY_LEN, &kinds, error));
    GSA_TRY(gsai_bundle_need(bundle, &label_number, gsai_tensor_len(kinds), &numbers, error));
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

static gsa_status restore_schema(char **out, const gsai_bundle *bundle, const gsai_env *env, gsa_error *error)
{
    const gsai_tensor *text;
    GSA_TRY(gsai_bundle_may_have(bundle, &schema_key, GSAI_ANY_LEN, &text, error));
    if (!text)
        return GSA_OK;
    size_t size = (size_t)gsai_tensor_len(text);
    if (!gsai_is_text(text->data, size))
        return gsai_fail(error, GSA_FORMAT, "tensor 'schema' is not a text");
    *out = gsai_alloc_zeroed(env, size + 1, 1);
    GSAI_TRY_MEMORY(*out, env, error, "no memory for the meaning of the columns");
    memcpy(*out, text->data, size);
    return GSA_OK;
}

static gsa_status restore_names(gsai_names *out, const gsai_bundle *bundle, const gsai_env *env, gsa_error *error)
{
    const gsai_tensor *ids, *texts;
    GSA_TRY(gsai_bundle_may_have(bundle, &name_feature, GSAI_ANY_LEN, &ids, error));
    if (!ids)
        return GSA_OK;
    GSA_TRY(gsai_bundle_need(bundle, &name_text, GSAI_ANY_LEN, &texts, error));
    return gsai_names_read(out, ids->data, (size_t)gsai_tensor_len(ids), texts->data, (size_t)gsai_tensor_len(texts),
                           env, error);
}

gsa_status gsai_bundle_results(const gsai_bundle *bundle, gsai_results *out, gsa_error *error)
{
    *out = gsai_results_none();
    for (size_t i = 0; i < GSAI_N_RESULTS; i++) {
        const gsai_tensor *found;
        GSA_TRY(gsai_bundle_may_have(bundle, &result_keys[i], 1, &found, error));
        if (found)
            memcpy(&out->at[i], found->data, sizeof out->at[i]);
    }
    return GSA_OK;
}

gsa_status gsai_bundle_texts(const gsai_bundle *bundle, const gsai_env *env, gsai_labels *labels, char **schema,
                             gsai_names *names, gsa_error *error)
{
    GSA_TRY(restore_labels(labels, bundle, error));
    GSA_TRY(restore_schema(schema, bundle, env, error));
    return restore_names(names, bundle, env, error);
}
