/* States and models to and from files and bytes: snapshot.h describes their contents, container.h the file. */
#include "base/error.h"
#include "base/memory.h"
#include "store/container.h"
#include "store/snapshot.h"

#include <greedystep/distributed.h>

#include <stdbool.h>

/* The name of nameless bytes in messages. */
#define NAMELESS "the bytes given"

/* ---- out -------------------------------------------------------------------------------------------------------- */

/* To a path, or through a function where path is NULL. */
static gsa_status put_snapshot(gsai_snapshot *snapshot, const char *path, gsa_write_fn write, void *ctx,
                               gsa_error *error)
{
    const gsai_bundle *bundle = &snapshot->bundle;
    gsa_status status =
        path ? gsai_container_save(bundle, path, error) : gsai_container_write(bundle, write, ctx, error);
    gsai_snapshot_free(snapshot);
    return status;
}

gsa_status gsa_state_save(const gsa_state *state, const char *path, gsa_error *error)
{
    gsai_snapshot *snapshot;
    GSA_TRY(gsai_state_snapshot(state, &snapshot, error));
    return put_snapshot(snapshot, path, NULL, NULL, error);
}

gsa_status gsa_state_write(const gsa_state *state, gsa_write_fn write, void *ctx, gsa_error *error)
{
    gsai_snapshot *snapshot;
    GSA_TRY(gsai_state_snapshot(state, &snapshot, error));
    return put_snapshot(snapshot, NULL, write, ctx, error);
}

gsa_status gsa_state_write_delta_header(const gsa_state *copy, const gsa_state *base, gsa_write_fn write, void *ctx,
                                        gsa_error *error)
{
    gsai_snapshot *snapshot;
    GSA_TRY(gsai_state_snapshot_delta_header(copy, base, &snapshot, error));
    return put_snapshot(snapshot, NULL, write, ctx, error);
}

gsa_status gsa_model_save(const gsa_model *model, const char *path, gsa_error *error)
{
    gsai_snapshot *snapshot;
    GSA_TRY(gsai_model_snapshot(model, &snapshot, error));
    return put_snapshot(snapshot, path, NULL, NULL, error);
}

gsa_status gsa_model_write(const gsa_model *model, gsa_write_fn write, void *ctx, gsa_error *error)
{
    gsai_snapshot *snapshot;
    GSA_TRY(gsai_model_snapshot(model, &snapshot, error));
    return put_snapshot(snapshot, NULL, write, ctx, error);
}

/* ---- in --------------------------------------------------------------------------------------------------------- */

static gsa_status take_state(gsai_container *container, const char *name, const gsai_env *env, gsa_state **out,
                             gsa_error *error)
{
    gsa_status status = gsai_state_restore(gsai_container_bundle(container), env, out, error);
    if (status != GSA_OK)
        gsai_error_prefix(error, "%s: ", name);
    gsai_container_close(container);
    return status;
}

gsa_status gsa_state_load(const char *path, const gsa_memory *memory, const gsa_call *call, gsa_state **out,
                          gsa_error *error)
{
    gsai_env own;
    GSA_TRY(gsai_env_take(&own, memory, call, error));
    gsai_container *container;
    *out = NULL;
    GSA_TRY(gsai_container_open(path, &own, &container, error));
    return take_state(container, path, &own, out, error);
}

gsa_status gsa_state_read(const void *bytes, size_t size, const gsa_memory *memory, gsa_state **out, gsa_error *error)
{
    gsai_env own;
    GSA_TRY(gsai_env_take(&own, memory, NULL, error));
    gsai_container *container;
    *out = NULL;
    GSA_TRY(gsai_container_open_bytes(bytes, size, NAMELESS, &own, &container, error));
    return take_state(container, NAMELESS, &own, out, error);
}

static void close_container(void *owner)
{
    gsai_container_close(owner);
}

/* With may_keep the model may hold on to the container, and with it to the mapped file that its weights then stay in;
 * without, it copies. */
static gsa_status take_model(gsai_container *container, const char *name, bool may_keep, const gsai_env *env,
                             gsa_model **out, gsa_error *error)
{
    int kept = 0;
    gsa_status status = gsai_model_restore(gsai_container_bundle(container), env, may_keep ? close_container : NULL,
                                           container, &kept, out, error);
    if (status != GSA_OK)
        gsai_error_prefix(error, "%s: ", name);
    if (!kept)
        gsai_container_close(container);
    return status;
}

gsa_status gsa_model_load(const char *path, const gsa_memory *memory, const gsa_call *call, gsa_model **out,
                          gsa_error *error)
{
    gsai_env own;
    GSA_TRY(gsai_env_take(&own, memory, call, error));
    gsai_container *container;
    *out = NULL;
    GSA_TRY(gsai_container_open(path, &own, &container, error));
    return take_model(container, path, true, &own, out, error);
}

gsa_status gsa_model_read(const void *bytes, size_t size, const gsa_memory *memory, gsa_model **out, gsa_error *error)
{
    gsai_env own;
    GSA_TRY(gsai_env_take(&own, memory, NULL, error));
    gsai_container *container;
    *out = NULL;
    GSA_TRY(gsai_container_open_bytes(bytes, size, NAMELESS, &own, &container, error));
    return take_model(container, NAMELESS, false, &own, out, error);
}
