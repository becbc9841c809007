/* States as bundles: everything a run needs to go on. The format is specified in docs/formats/model.md. */
#include "store/snapshot.h"

#include "learn/life.h"
#include "learn/parts.h"
#include "learn/state.h"
#include "store/notes.h"

#include "base/error.h"

#include <string.h>

#define FORMAT "greedystep.state"

static void add_notes(gsai_snapshot *snapshot, const gsa_state *state)
{
    gsai_snapshot_note(snapshot, "format", FORMAT);
    gsai_snapshot_note(snapshot, "version", GSAI_FORMAT_VERSION);
    gsai_snapshot_note(snapshot, "decided_loss", gsai_loss_name(gsai_state_loss(state)));
    if (gsa_state_position(state)[0])
        gsai_snapshot_note(snapshot, "input_position", gsa_state_position(state));
    for (int id = 0; id < GSAI_PARAMS; id++) {
        const gsa_param *param = gsa_param_at((size_t)id);
        bool is_new =
            !gsai_param_is_late((gsai_param_id)id) || strcmp(gsai_state_params(state)->text[id], param->initial) != 0;
        if (gsai_param_decides_result((gsai_param_id)id) && is_new)
            gsai_snapshot_note(snapshot, param->name, gsai_state_params(state)->text[id]);
    }
}

/* base: of the header of a delta only. */
static gsa_status snapshot_of(const gsa_state *state, const gsa_state *base, gsai_snapshot **out, gsa_error *error)
{
    gsai_snapshot *snapshot;
    GSA_TRY(gsai_snapshot_new(gsai_state_env(state), &snapshot, error));
    add_notes(snapshot, state);
    gsa_status status =
        base ? gsai_parts_save_since(snapshot, state, base, error) : gsai_parts_save(snapshot, state, error);
    if (status != GSA_OK)
        gsai_error_prefix(error, "cannot save the state: ");
    return gsai_snapshot_finish(snapshot, status, out);
}

gsa_status gsai_state_snapshot(const gsa_state *state, gsai_snapshot **out, gsa_error *error)
{
    return snapshot_of(state, NULL, out, error);
}

gsa_status gsai_state_snapshot_delta_header(const gsa_state *replica, const gsa_state *base, gsai_snapshot **out,
                                            gsa_error *error)
{
    if (gsai_state_n_waiting(replica) > 0)
        return gsai_fail(error, GSA_ARGUMENT, "rows still wait for their group: close it first");
    return snapshot_of(replica, base, out, error);
}

/* ---- from a bundle ----------------------------------------------------------------------------------------------- */

static gsa_status restore_params(gsai_params *params, const gsai_bundle *bundle, gsa_error *error)
{
    gsai_params_init(params);
    for (int id = 0; id < GSAI_PARAMS; id++)
        if (gsai_param_decides_result((gsai_param_id)id) &&
            (!gsai_param_is_late((gsai_param_id)id) || gsai_bundle_note(bundle, gsa_param_at((size_t)id)->name)))
            GSA_TRY(gsai_bundle_param(bundle, (gsai_param_id)id, params, error));
    return GSA_OK;
}

gsa_status gsai_state_restore(const gsai_bundle *bundle, const gsai_env *env, gsa_state **out, gsa_error *error)
{
    gsai_params params;
    const gsai_loss *loss;
    gsa_state *state;
    GSA_TRY(gsai_bundle_check(bundle, FORMAT, error));
    GSA_TRY(restore_params(&params, bundle, error));
    GSA_TRY(gsai_bundle_loss(bundle, "decided_loss", true, &loss, error));
    GSA_TRY(gsai_state_create(&params, env, &state, error));
    gsa_status status = gsai_parts_load(state, loss, bundle, error);
    if (status == GSA_OK && gsa_state_set_position(state, gsai_bundle_note(bundle, "input_position"), NULL) != GSA_OK)
        status = gsai_fail(error, GSA_FORMAT, "the position of the input is no text, or too long");
    if (status == GSA_OK)
        *out = state;
    else
        gsa_state_free(state);
    return status;
}
