/* States and models to and from files and bytes: snapshot.h describes their contents, container.h the file. */
#include "base/error.h"
#include "base/memory.h"
#include "store/container.h"
#include "store/snapshot.h"

#include <greedystep/distributed.h>

/* ---- out -------------------------------------------------------------------------------------------------------- */

/* Writes a snapshot, if it was made, to a path, or through a function where path is NULL. Frees it. */
static gsa_status put(gsai_snapshot *snapshot, gsa_status status, const char *path, gsa_write_fn write, void *ctx,
                      gsa_error *error)
{
    if (status == GSA_OK)
        status = path ? gsai_container_save(&snapshot->bundle, path, error)
                      : gsai_container_write(&snapshot->bundle, write, ctx, error);
    gsai_arena_release(&snapshot->owned);
    return status;
}

static gsa_status put_state(const gsa_state *state, const gsa_state *base, const char *path, gsa_write_fn write,
                            void *ctx, gsa_error *error)
{
    gsai_snapshot snapshot;
    gsa_status status = gsai_state_snapshot(state, base, &snapshot, error);
    return put(&snapshot, status, path, write, ctx, error);
}

gsa_status gsa_state_save(const gsa_state *state, const char *path, gsa_error *error)
{
    return put_state(state, NULL, path, NULL, NULL, error);
}

gsa_status gsa_state_write(const gsa_state *state, gsa_write_fn write, void *ctx, gsa_error *error)
{
    return put_state(state, NULL, NULL, write, ctx, error);
}

gsa_status gsa_state_write_delta_header(const gsa_state *copy, const gsa_state *base, gsa_write_fn write, void *ctx,
                                        gsa_error *error)
{
    return put_state(copy, base, NULL, write, ctx, error);
}

gsa_status gsa_model_save(const gsa_model *model, const char *path, gsa_error *error)
{
    gsai_snapshot snapshot;
    gsa_status status = gsai_model_snapshot(model, &snapshot, error);
    return put(&snapshot, status, path, NULL, NULL, error);
}

gsa_status gsa_model_write(const gsa_model *model, gsa_write_fn write, void *ctx, gsa_error *error)
{
    gsai_snapshot snapshot;
    gsa_status status = gsai_model_snapshot(model, &snapshot, error);
    return put(&snapshot, status, NULL, write, ctx, error);
}

/* ---- in --------------------------------------------------------------------------------------------------------- */

static void close_container(void *owner)
{
    gsai_container_close(owner);
}

/* Fills in a state or a model from a path, or from bytes where path is NULL; the pointer to the other is NULL. A model
 * may hold on to a mapped file, in which its weights then stay. */
static gsa_status take(const char *path, const void *bytes, size_t size, const gsa_memory *memory, const gsa_call *call,
                       gsa_state **state, gsa_model **model, gsa_error *error)
{
    gsai_env own;
    gsai_container *container;
    int kept = 0;
    GSA_TRY(gsai_env_take(&own, memory, call, error));
    GSA_TRY(gsai_container_open(path, bytes, size, &own, &container, error));
    const gsai_bundle *bundle = gsai_container_bundle(container);
    gsa_status status =
        state ? gsai_state_restore(bundle, &own, state, error)
              : gsai_model_restore(bundle, &own, path ? close_container : NULL, container, &kept, model, error);
    if (status != GSA_OK)
        gsai_error_prefix(error, "%s: ", path ? path : GSAI_CONTAINER_BYTES);
    if (!kept)
        gsai_container_close(container);
    return status;
}

gsa_status gsa_state_load(const char *path, const gsa_memory *memory, const gsa_call *call, gsa_state **out,
                          gsa_error *error)
{
    *out = NULL;
    return take(path, NULL, 0, memory, call, out, NULL, error);
}

gsa_status gsa_state_read(const void *bytes, size_t size, const gsa_memory *memory, gsa_state **out, gsa_error *error)
{
    *out = NULL;
    return take(NULL, bytes, size, memory, NULL, out, NULL, error);
}

gsa_status gsa_model_load(const char *path, const gsa_memory *memory, const gsa_call *call, gsa_model **out,
                          gsa_error *error)
{
    *out = NULL;
    return take(path, NULL, 0, memory, call, NULL, out, error);
}

gsa_status gsa_model_read(const void *bytes, size_t size, const gsa_memory *memory, gsa_model **out, gsa_error *error)
{
    *out = NULL;
    return take(NULL, bytes, size, memory, NULL, NULL, out, error);
}
