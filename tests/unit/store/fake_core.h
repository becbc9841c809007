/* A core for the tests of store, which link without the real one: a state or a model is one float and one text.
 * Include it in exactly one file of an executable. */
#ifndef TESTS_UNIT_STORE_FAKE_CORE_H
#define TESTS_UNIT_STORE_FAKE_CORE_H

#include "base/error.h"
#include "store/snapshot.h"

#include <stdlib.h>
#include <string.h>

struct gsa_state {
    float number;
};

struct gsa_model {
    const float *number; /* its own, or inside the owner's memory */
    float own;
    void (*close)(void *owner);
    void *owner;
};

static gsa_status fake_snapshot(const float *number, const char *format, gsai_snapshot *out)
{
    static const gsai_tensor_key key = {"number", GSAI_F32, GSAI_ANY_NUMBER};
    static const gsai_env env;
    gsai_snapshot_init(out, &env);
    gsai_snapshot_add(out, &key, number, 1);
    gsai_snapshot_note(out, "format", format);
    return GSA_OK;
}

gsa_status gsai_state_snapshot(const gsa_state *state, const gsa_state *base, gsai_snapshot *out, gsa_error *error)
{
    static const gsai_env env;
    (void)base;
    gsai_snapshot_init(out, &env);
    if (state->number < 0)
        return gsai_fail(error, GSA_MEMORY, "no snapshot of a negative state");
    return fake_snapshot(&state->number, "state", out);
}

gsa_status gsai_model_snapshot(const gsa_model *model, gsai_snapshot *out, gsa_error *error)
{
    (void)error;
    return fake_snapshot(model->number, "model", out);
}

static gsa_status fake_check(const gsai_bundle *bundle, const char *format, gsa_error *error)
{
    const char *found = gsai_bundle_note(bundle, "format");
    if (!found || strcmp(found, format) != 0)
        return gsai_fail(error, GSA_FORMAT, "this is a %s, expected a %s", found ? found : "stranger", format);
    return GSA_OK;
}

gsa_status gsai_state_restore(const gsai_bundle *bundle, const gsai_env *env, gsa_state **out, gsa_error *error)
{
    (void)env;
    gsa_status status = fake_check(bundle, "state", error);
    if (status != GSA_OK)
        return status;
    *out = malloc(sizeof **out);
    (*out)->number = *(const float *)gsai_bundle_tensor(bundle, "number")->data;
    return GSA_OK;
}

gsa_status gsai_model_restore(const gsai_bundle *bundle, const gsai_env *env, void (*close)(void *owner), void *owner,
                              int *kept, gsa_model **out, gsa_error *error)
{
    (void)env;
    *kept = 0;
    gsa_status status = fake_check(bundle, "model", error);
    if (status != GSA_OK)
        return status;
    gsa_model *model = malloc(sizeof *model);
    const float *stored = gsai_bundle_tensor(bundle, "number")->data;
    *kept = close != NULL;
    *model = (gsa_model){.own = *stored, .close = close, .owner = owner};
    model->number = close ? stored : &model->own;
    *out = model;
    return GSA_OK;
}

void gsa_state_free(gsa_state *state)
{
    free(state);
}

void gsa_model_free(gsa_model *model)
{
    if (model && model->close)
        model->close(model->owner);
    free(model);
}

#endif
