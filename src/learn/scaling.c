/* The choice of scaling: features as given, or standardised.
 *
 * Some data has units that mean something (text weights, pixels), some has not (raw measurements), and the two ways to
 * learn are far apart where it matters. So the first rows are learned both ways, and progressive loss decides: over the
 * rows from 2048 to 8191, or over the last half to three quarters of the rows if the first pass is shorter. Early rows
 * are left out because standardised features learn faster at first even where they are worse in the end. With one
 * output the held-out rows count too, each as much as a row that is learned: where rows come sorted by label, the next
 * row tells nothing, and calibrated margins of held-out ones do. */
#include "learn/inside.h"

#include "base/error.h"
#include "base/memory.h"

#include <stddef.h>

/* Makes the second table from the first. */
static gsa_status make(gsa_state *state, gsa_error *error)
{
    gsai_scaling *scaling = gsai_alloc_zeroed(&state->env, 1, sizeof *scaling);
    GSAI_TRY_MEMORY(scaling, &state->env, error, "no memory for a choice of scaling");
    gsa_status status = gsai_table_copy(&scaling->table, &state->table, &state->env, error);
    if (status != GSA_OK) {
        gsai_free(&state->env, scaling);
        return status;
    }
    scaling->restart = 1;
    state->scaling = scaling;
    return GSA_OK;
}

gsa_status gsai_scaling_open(gsa_state *state, gsa_error *error)
{
    bool wanted = state->params.value[GSAI_PARAM_method] != GSAI_METHOD_PAPER;
    state->standardised = wanted && state->params.value[GSAI_PARAM_scale] == GSAI_SCALE_STANDARD;
    if (!wanted || state->params.value[GSAI_PARAM_scale] != GSAI_SCALE_AUTO)
        return GSA_OK;
    return make(state, error);
}

static void release(gsa_state *state)
{
    if (state->scaling)
        gsai_table_release(&state->scaling->table, &state->env);
    gsai_free(&state->env, state->scaling);
    state->scaling = NULL;
}

void gsai_scaling_close(gsa_state *state)
{
    if (gsai_scaling_prefers_standard(state)) {
        gsai_table loser = state->table;
        state->table = state->scaling->table;
        state->step = state->scaling->step;
        state->scaling->table = loser;
        state->standardised = true;
    }
    release(state);
}

/* ---- the part of a state ----------------------------------------------------------------------------------------- */

static gsa_status copy_scaling(gsa_state *to, const gsa_state *from, gsa_error *error)
{
    if (!from->scaling)
        return GSA_OK;
    gsai_scaling *scaling = gsai_copy(&to->env, from->scaling, 1, sizeof *scaling);
    GSAI_TRY_MEMORY(scaling, &to->env, error, "no memory for a choice of scaling");
    scaling->table = (gsai_table){0};
    gsa_status status = gsai_table_copy(&scaling->table, &from->scaling->table, &to->env, error);
    if (status == GSA_OK)
        to->scaling = scaling;
    else
        gsai_free(&to->env, scaling);
    return status;
}

enum { SUM, WEIGHT };

/* A number of the mean step of the better table, as the result has it. */
static double step_number(const gsai_merge *merge, const gsa_state *state, size_t which)
{
    const gsai_step_mean *step = gsai_state_step(state);
    return which == WEIGHT ? step->weight : step->sum / (gsai_state_splits(state, merge->into) ? 2 : 1);
}

static double added(const gsai_merge *merge, const gsa_state *state, size_t which)
{
    return step_number(merge, state, which) - (merge->continues ? step_number(merge, merge->base, which) : 0);
}

/* The steps of the better tables, and the scaling that most rows were learned with. */
static gsa_status merge_scaling(const gsai_merge *merge, gsa_error *error)
{
    (void)error;
    gsa_state *into = merge->into;
    uint64_t n_standardised = 0, n_rows = into->n_rows - (merge->continues ? merge->base->n_rows : 0);
    for (size_t s = 0; s < merge->n_states; s++)
        n_standardised += merge->states[s]->standardised || gsai_scaling_prefers_standard(merge->states[s])
                              ? merge->states[s]->n_rows
                              : 0;
    into->standardised = 2 * n_standardised > n_rows;
    for (size_t which = SUM; which <= WEIGHT; which++)
        *(which == SUM ? &into->step.sum : &into->step.weight) =
            gsai_merge_sum(merge, added, which) + (merge->continues ? step_number(merge, merge->base, which) : 0);
    return GSA_OK;
}

static const gsai_stored_field fields[] = {
    {{"scaling.step_sum", GSAI_F64, GSAI_FINITE}, offsetof(gsai_scaling, step.sum), 1},
    {{"scaling.step_weight", GSAI_F64, GSAI_FINITE}, offsetof(gsai_scaling, step.weight), 1},
    {{"scaling.loss", GSAI_F64, GSAI_FINITE}, offsetof(gsai_scaling, loss), 2},
    {{"scaling.earlier_loss", GSAI_F64, GSAI_FINITE}, offsetof(gsai_scaling, earlier_loss), 2},
    {{"scaling.held_out_loss", GSAI_F64, GSAI_FINITE}, offsetof(gsai_scaling, held_out_loss), 2},
    {{"scaling.restart", GSAI_U64, UINT64_C(1) << 40}, offsetof(gsai_scaling, restart), 1},
};
enum { FIELDS = sizeof fields / sizeof *fields };

static void save_scaling(gsai_snapshot *snapshot, const gsa_state *state)
{
    if (state->scaling)
        gsai_snapshot_fields(snapshot, fields, FIELDS, state->scaling);
}

/* Both tables have counted the same rows: the second is a copy whose weights are still to be filled in. */
static gsa_status load_scaling(gsa_state *state, const gsai_bundle *bundle, gsa_error *error)
{
    GSA_TRY(make(state, error));
    GSA_TRY(gsai_bundle_fields(bundle, fields, FIELDS, state->scaling, error));
    return state->scaling->restart > 0 ? GSA_OK : gsai_fail(error, GSA_FORMAT, "scaling.restart is 0");
}

static size_t list_lines(const gsa_state *state, gsai_line_tensor *out)
{
    const gsai_table *table = state->scaling ? &state->scaling->table : NULL;
    if (!table)
        return 0;
    out[0] = gsai_table_lines(table, "scaling.weight", GSAI_F32, 0, GSAI_FINITE);
    out[1] = gsai_table_lines(table, "scaling.average_term", GSAI_F32, gsai_table_average(table), GSAI_FINITE);
    return 2;
}

static bool uses_slot(const gsa_state *state, size_t slot)
{
    return state->scaling && !gsai_table_is_zero(&state->scaling->table, slot);
}

const gsai_part_functions gsai_scaling_part = {.release = release,
                                               .copy = copy_scaling,
                                               .merge = merge_scaling,
                                               .key = "scaling.restart",
                                               .save = save_scaling,
                                               .load = load_scaling,
                                               .lines = list_lines,
                                               .uses = uses_slot};
