/* States as bundles: everything a run needs to go on. The format is specified in docs/formats/model.md. */
#include "learn/lineage.h"
#include "store/fields.h"
#include "store/rows.h"
#include "store/slots.h"

#include "base/error.h"
#include "base/memory.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#define FORMAT "greedystep.state"
#define N(array) (sizeof(array) / sizeof *(array))

/* ---- the numbers of a state -------------------------------------------------------------------------------------- */

#define COUNT(name, member, max)                            \
    {                                                       \
        name, offsetof(gsa_state, member), 1, GSAI_U64, max \
    }
#define NUMBER(name, member, range)                           \
    {                                                         \
        name, offsetof(gsa_state, member), 1, GSAI_F64, range \
    }

static const gsai_field state_fields[] = {
    COUNT("n_rows", n_rows, GSAI_MAX_COUNT),
    COUNT("n_counted", n_counted, INT32_MAX), /* counts of a table have 31 bits */
    COUNT("rows_behind", rows_behind, GSAI_MAX_COUNT),
    COUNT("n_merged", n_merged, GSAI_MAX_COUNT),
    COUNT("n_solved", n_solved, GSAI_MAX_COUNT),
    COUNT("standardised", standardised, 1),
    COUNT("averaging.now", averaging.now, GSAI_MAX_COUNT),
    COUNT("averaging.first", averaging.first, GSAI_MAX_COUNT),
    COUNT("averaging.restart", averaging.restart, UINT64_MAX),
    COUNT("averaging.per_row", averaging.per_row, UINT32_MAX),
    COUNT("position.pass", position.pass, GSAI_MAX_COUNT),
    COUNT("position.pass_rows", position.pass_rows, GSAI_MAX_COUNT),
    NUMBER("position.loss_sum", position.loss_sum, GSAI_FINITE),
    NUMBER("position.loss_weight", position.loss_weight, GSAI_NOT_NEGATIVE),
    NUMBER("position.late_loss_sum", position.late[0], GSAI_FINITE),
    NUMBER("position.late_loss_weight", position.late[1], GSAI_NOT_NEGATIVE),
    NUMBER("position.earlier_loss_sum", position.earlier[0], GSAI_FINITE),
    NUMBER("position.earlier_loss_weight", position.earlier[1], GSAI_NOT_NEGATIVE),
    NUMBER("position.last_pass_loss", position.last_pass_loss, GSAI_OR_NAN),
    NUMBER("position.held_out_loss", position.held_out_loss, GSAI_OR_NAN),
    NUMBER("position.constant_loss", position.constant_loss, GSAI_OR_NAN),
    COUNT("run_id.hash", run_id.hash, UINT64_MAX),
    COUNT("run_id.n_rows", run_id.n_rows, GSAI_RUN_ID_ROWS),
    COUNT("run_id.closed", run_id.closed, 1),
    COUNT("fingerprint.sum", rows.sum, UINT64_MAX),
    COUNT("fingerprint.n_rows", rows.n_rows, GSAI_MAX_COUNT),
    NUMBER("step.sum", step.sum, GSAI_FINITE),
    NUMBER("step.weight", step.weight, GSAI_FINITE),
    COUNT("row_weights.n_rows", row_weights.n_rows, GSAI_MAX_COUNT),
    NUMBER("row_weights.sum", row_weights.sum, GSAI_NOT_NEGATIVE),
    NUMBER("row_weights.max", row_weights.max, GSAI_NOT_NEGATIVE),
    NUMBER("label_offset.at", label_offset.at, GSAI_FINITE),
    NUMBER("label_offset.mean", label_offset.mean, GSAI_FINITE),
    NUMBER("label_offset.weight", label_offset.weight, GSAI_NOT_NEGATIVE),
    COUNT("label_offset.settled", label_offset.settled, 1),
    NUMBER("squared_error", squared_error, GSAI_NOT_NEGATIVE),
    NUMBER("squared_label", squared_label, GSAI_NOT_NEGATIVE),
    COUNT("sample.below", sample.below, UINT64_MAX),
};

/* Of losses with a width. */
static const gsai_field residual_fields[] = {
    {"residuals.late", offsetof(gsa_state, residuals.late), 2, GSAI_F64, GSAI_NOT_NEGATIVE},
    {"residuals.earlier", offsetof(gsa_state, residuals.earlier), 2, GSAI_F64, GSAI_NOT_NEGATIVE},
    NUMBER("residuals.n_rows", residuals.n_rows, GSAI_NOT_NEGATIVE),
};

static const gsai_field best_fields[] = {
    COUNT("best_checkpoint.pass", best_checkpoint.pass, GSAI_MAX_COUNT + 1), /* one more than passes ended */
    NUMBER("best_checkpoint.loss", best_checkpoint.loss, GSAI_FINITE),
};

/* While the choice of scaling is open. */
static const gsai_field scaling_fields[] = {
    {"scaling.step_sum", offsetof(gsai_scaling, step.sum), 1, GSAI_F64, GSAI_FINITE},
    {"scaling.step_weight", offsetof(gsai_scaling, step.weight), 1, GSAI_F64, GSAI_FINITE},
    {"scaling.loss", offsetof(gsai_scaling, loss), 2, GSAI_F64, GSAI_FINITE},
    {"scaling.earlier_loss", offsetof(gsai_scaling, earlier_loss), 2, GSAI_F64, GSAI_FINITE},
    {"scaling.held_out_loss", offsetof(gsai_scaling, held_out_loss), 2, GSAI_F64, GSAI_FINITE},
    {"scaling.restart", offsetof(gsai_scaling, restart), 1, GSAI_U64, UINT64_C(1) << 40},
};

/* Checks numbers that depend on each other, on saving as on loading: all that is saved can be loaded. */
static gsa_status check_numbers(const gsa_state *state, const gsai_loss *loss, const gsai_purpose *why,
                                gsa_error *error)
{
    const gsai_averaging *averaging = &state->averaging;
    const gsai_label_offset *offset = &state->label_offset;
    GSA_TRY(gsai_fields_check(state_fields, N(state_fields), state, why, error));
    if (averaging->restart <= averaging->now || averaging->first > averaging->now || averaging->per_row == 0)
        return gsai_fail(error, why->beyond, "cannot %s: its numbers of averaging contradict each other", why->verb);
    if (state->n_counted > state->rows_behind)
        return gsai_fail(error, why->beyond, "cannot %s: it counts features of more rows than it has seen", why->verb);
    if (state->row_weights.n_rows > 0 && state->row_weights.sum == 0)
        return gsai_fail(error, why->beyond, "cannot %s: all of its rows have weight 0", why->verb);
    if (!(loss && loss->depends_on_residual) && (offset->at != 0 || offset->mean != 0 || offset->weight != 0))
        return gsai_fail(error, why->beyond, "cannot %s: %s loss has no label offset", why->verb, gsai_loss_name(loss));
    return GSA_OK;
}

/* Numbers of a column, stored as they are: rows, mean, sum of squares around it. */
#define COLUMN 3u
static_assert(sizeof(gsai_column) == COLUMN * sizeof(double), "columns are stored as they are");

/* ---- to a bundle ------------------------------------------------------------------------------------------------- */

static void add_notes(gsai_snapshot *snapshot, const gsa_state *state)
{
    gsai_snapshot_note(snapshot, "format", FORMAT);
    gsai_snapshot_note(snapshot, "version", GSAI_FORMAT_VERSION);
    gsai_snapshot_note(snapshot, "decided_loss", gsai_loss_name(state->loss));
    for (int id = 0; id < GSAI_PARAMS; id++) {
        const gsa_param *param = gsa_param_at((size_t)id);
        bool is_new = !gsai_param_is_late((gsai_param_id)id) || strcmp(state->params.text[id], param->initial) != 0;
        if (gsai_param_decides_result((gsai_param_id)id) && is_new)
            gsai_snapshot_note(snapshot, param->name, state->params.text[id]);
    }
}

/* The columns of which there are any rows: most of hashed features have none. */
static gsa_status add_centre(gsai_snapshot *snapshot, const gsai_centre *centre, gsa_error *error)
{
    size_t n = 0;
    for (size_t slot = 0; slot < centre->n; slot++)
        n += centre->at[slot].n > 0;
    uint32_t *slots = gsai_snapshot_alloc(snapshot, n, sizeof *slots);
    gsai_column *columns = gsai_snapshot_alloc(snapshot, n, sizeof *columns);
    if (!slots || !columns)
        return gsai_fail_memory(&snapshot->env, error, "no memory to describe %zu columns", n);
    if (n > 0) {
        gsai_snapshot_vector(snapshot, "centre.slot", GSAI_U32, slots, n);
        gsai_snapshot_matrix(snapshot, "centre.column", GSAI_F64, columns, n, COLUMN);
    }
    for (size_t slot = 0; slot < centre->n; slot++)
        if (centre->at[slot].n > 0) {
            *slots++ = (uint32_t)slot;
            *columns++ = centre->at[slot];
        }
    return GSA_OK;
}

/* What only some states have. */
static gsa_status add_optional(gsai_snapshot *snapshot, const gsa_state *state, gsa_error *error)
{
    if (state->scaling)
        gsai_snapshot_fields(snapshot, scaling_fields, N(scaling_fields), state->scaling);
    if (state->loss && state->loss->has_width)
        gsai_snapshot_fields(snapshot, residual_fields, N(residual_fields), state);
    if (state->best_checkpoint.weight)
        gsai_snapshot_fields(snapshot, best_fields, N(best_fields), state);
    GSA_TRY(add_centre(snapshot, &state->centre, error));
    if (state->class_sums.n > 0)
        gsai_snapshot_vector(snapshot, "class_sums", GSAI_F64, state->class_sums.at, state->class_sums.n);
    if (state->n_lineage > 0)
        gsai_snapshot_vector(snapshot, "lineage", GSAI_U64, state->lineage, state->n_lineage);
    if (state->sample.n > 0)
        GSA_TRY(gsai_snapshot_sample(snapshot, &state->sample, error));
    return state->group.n_rows > 0 ? gsai_snapshot_group(snapshot, state, error) : GSA_OK;
}

static gsa_status describe(gsai_snapshot *snapshot, const gsa_state *state, gsa_error *error)
{
    add_notes(snapshot, state);
    GSA_TRY(check_numbers(state, state->loss, &gsai_save_state, error));
    gsai_snapshot_fields(snapshot, state_fields, N(state_fields), state);
    GSA_TRY(gsai_snapshot_labels(snapshot, &state->labels, error));
    gsai_snapshot_schema(snapshot, state->schema);
    gsai_snapshot_names(snapshot, &state->names);
    if (state->loss)
        GSA_TRY(gsai_snapshot_slots(snapshot, state, error));
    GSA_TRY(add_optional(snapshot, state, error));
    return gsai_snapshot_check_finite(snapshot, N(state_fields), error);
}

/* Columns that have gone on since the base; the others are nothing, which a merge passes over. */
static gsai_centre columns_since(const gsai_centre *now, const gsai_centre *before, gsai_column *room)
{
    gsai_centre since = {.at = room};
    for (size_t slot = 0; slot < now->n; slot++)
        if (now->at[slot].n > (slot < before->n ? before->at[slot].n : 0)) {
            room[slot] = now->at[slot];
            since.n = slot + 1;
        }
    return since;
}

/* Held-out rows that the base has not, or with less weight; after the first pass there are none. */
static gsai_sample rows_since(const gsa_state *now, const gsa_state *before, gsai_held_row **room)
{
    gsai_sample since = {.at = room, .below = now->sample.below};
    for (size_t i = 0; i < now->sample.n && now->position.pass == 0; i++) {
        const gsai_held_row *held = now->sample.at[i], *known = gsai_sample_find(&before->sample, held);
        if (!known || known->weight != held->weight || known->seen != held->seen)
            room[since.n++] = now->sample.at[i];
    }
    return since;
}

/* A view with the intercept only, and what is not the base's; NULL if there is no memory. */
static const gsa_state *header_of(gsai_snapshot *snapshot, const gsa_state *replica, const gsa_state *base)
{
    gsa_state *header = gsai_snapshot_alloc(snapshot, 1, sizeof *header);
    gsai_column *room = gsai_snapshot_alloc(snapshot, replica->centre.n + 1, sizeof *room);
    gsai_held_row **rows = gsai_snapshot_alloc(snapshot, replica->sample.n + 1, sizeof *rows);
    if (!header || !room || !rows)
        return NULL;
    *header = *replica;
    header->table.n_slots = replica->table.n_slots > 0 ? 1 : 0;
    header->prior.n = replica->prior.n > 0 ? 1 : 0;
    header->best_checkpoint = (gsai_best_checkpoint){0};
    header->scaling = NULL;
    header->centre = columns_since(&replica->centre, &base->centre, room);
    header->sample = rows_since(replica, base, rows);
    return header;
}

/* base: of the header of a delta only. */
static gsa_status snapshot_of(const gsa_state *state, const gsa_state *base, gsai_snapshot **out, gsa_error *error)
{
    gsai_snapshot *snapshot;
    GSA_TRY(gsai_snapshot_new(&state->env, &snapshot, error));
    const gsa_state *described = base ? header_of(snapshot, state, base) : state;
    gsa_status status = described ? describe(snapshot, described, error)
                                  : gsai_fail_memory(&state->env, error, "no memory to describe a state");
    if (status == GSA_OK)
        *out = snapshot;
    else
        gsai_snapshot_free(snapshot);
    return status;
}

gsa_status gsai_state_snapshot(const gsa_state *state, gsai_snapshot **out, gsa_error *error)
{
    return snapshot_of(state, NULL, out, error);
}

gsa_status gsai_state_snapshot_delta_header(const gsa_state *replica, const gsa_state *base, gsai_snapshot **out,
                                            gsa_error *error)
{
    if (replica->group.n_rows > 0)
        return gsai_fail(error, GSA_ARGUMENT, "rows still wait for their group: gsa_state_close_group learns them");
    return snapshot_of(replica, base, out, error);
}

/* ---- from a bundle ----------------------------------------------------------------------------------------------- */

static gsa_status restore_params(gsai_params *params, const gsai_bundle *bundle, gsa_error *error)
{
    gsa_status status = GSA_OK;
    gsai_params_init(params);
    for (int id = 0; id < GSAI_PARAMS && status == GSA_OK; id++) {
        const char *name = gsa_param_at((size_t)id)->name, *text;
        if (!gsai_param_decides_result((gsai_param_id)id) ||
            (gsai_param_is_late((gsai_param_id)id) && !gsai_bundle_note(bundle, name)))
            continue;
        status = gsai_bundle_need_note(bundle, name, &text, error);
        if (status == GSA_OK && gsai_params_set(params, name, text, error) != GSA_OK)
            status = GSA_FORMAT;
    }
    if (status != GSA_OK && error)
        error->status = status;
    return status;
}

static gsa_status restore_table(gsa_state *state, const gsai_loss *loss, const gsai_bundle *bundle, gsa_error *error)
{
    size_t n_outputs = gsai_loss_outputs(loss, state->labels.n), n_slots;
    GSA_TRY(gsai_slots_shape(bundle, n_outputs, &n_slots, error));
    if (n_slots == 0 || state->labels.n > loss->max_labels ||
        gsai_class_weight_check(&state->params, loss, NULL) != GSA_OK)
        return gsai_fail(error, GSA_FORMAT, "the weights do not fit %zu labels and %s loss", state->labels.n,
                         gsai_loss_name(loss));
    GSA_TRY(gsai_state_decide(state, loss, error));
    GSA_TRY(gsai_table_grow(&state->table, n_slots, &state->env, error));
    return gsai_slots_restore(state, GSAI_SLOTS_TABLE, bundle, error);
}

static gsa_status restore_scaling(gsa_state *state, const gsai_bundle *bundle, gsa_error *error)
{
    if (!gsai_bundle_tensor(bundle, "scaling.restart"))
        return GSA_OK;
    GSA_TRY(gsai_scaling_resume(state, error));
    GSA_TRY(gsai_fields_restore(scaling_fields, N(scaling_fields), bundle, state->scaling, &gsai_load_state, error));
    if (state->scaling->restart == 0)
        return gsai_fail(error, GSA_FORMAT, "cannot load the state: scaling.restart is 0");
    return gsai_slots_restore(state, GSAI_SLOTS_SCALING, bundle, error);
}

static gsa_status restore_prior(gsa_state *state, const gsai_bundle *bundle, gsa_error *error)
{
    if (!gsai_bundle_tensor(bundle, "prior.sum_sq"))
        return GSA_OK;
    GSA_TRY(gsai_prior_totals_grow(&state->prior, state->table.n_slots, &state->env, error));
    return gsai_slots_restore(state, GSAI_SLOTS_PRIOR, bundle, error);
}

static gsa_status restore_best(gsa_state *state, const gsai_bundle *bundle, gsa_error *error)
{
    gsai_best_checkpoint *best = &state->best_checkpoint;
    const gsai_tensor *weights;
    if (!gsai_bundle_tensor(bundle, "best_checkpoint.pass"))
        return GSA_OK;
    GSA_TRY(gsai_fields_restore(best_fields, N(best_fields), bundle, state, &gsai_load_state, error));
    GSA_TRY(gsai_bundle_need(bundle, "best_checkpoint.weight", GSAI_F32, GSAI_ANY_LEN, &weights, error));
    if (best->pass == 0 || weights->n_dims != 2 || weights->shape[1] < 1 || weights->shape[1] > state->table.n_outputs)
        return gsai_fail(error, GSA_FORMAT, "the weights of the best checkpoint do not fit the state");
    best->n_slots = state->table.n_slots;
    best->n_outputs = (size_t)weights->shape[1];
    best->weight = gsai_alloc_zeroed(&state->env, best->n_slots, best->n_outputs * sizeof *best->weight);
    if (!best->weight)
        return gsai_fail_memory(&state->env, error, "no memory for the best weights");
    return gsai_slots_restore(state, GSAI_SLOTS_BEST, bundle, error);
}

static bool column_is_sound(const gsai_column *column)
{
    return column->n >= 1 && isfinite(column->n) && column->n == floor(column->n) && isfinite(column->mean) &&
           column->squares >= 0 && isfinite(column->squares);
}

/* The header of a delta has no features, and columns all the same. */
static gsa_status restore_centre(gsa_state *state, const gsai_bundle *bundle, gsa_error *error)
{
    const gsai_tensor *slots, *columns;
    GSA_TRY(gsai_bundle_may_have(bundle, "centre.slot", GSAI_U32, GSAI_ANY_LEN, &slots, error));
    if (!slots)
        return GSA_OK;
    const uint32_t *slot = slots->data;
    size_t n = (size_t)gsai_tensor_len(slots);
    GSA_TRY(gsai_bundle_need(bundle, "centre.column", GSAI_F64, (uint64_t)n * COLUMN, &columns, error));
    const gsai_column *column = columns->data;
    for (size_t i = 0; i < n; i++)
        if (slot[i] >= GSAI_MAX_COLUMNS || (i > 0 && slot[i] <= slot[i - 1]) || !column_is_sound(&column[i]))
            return gsai_fail(error, GSA_FORMAT, "column %zu of the centre is out of order or range", i);
    GSA_TRY(gsai_centre_grow(&state->centre, n > 0 ? (size_t)slot[n - 1] + 1 : 0, &state->env, error));
    for (size_t i = 0; i < n; i++)
        state->centre.at[slot[i]] = column[i];
    return GSA_OK;
}

static gsa_status restore_class_sums(gsa_state *state, const gsai_bundle *bundle, gsa_error *error)
{
    const gsai_tensor *found;
    GSA_TRY(gsai_bundle_may_have(bundle, "class_sums", GSAI_F64, GSAI_ANY_LEN, &found, error));
    if (!found || !gsai_params_balance(&state->params))
        return GSA_OK;
    const double *sum = found->data;
    size_t n = (size_t)gsai_tensor_len(found);
    if (n > state->labels.n + 1)
        return gsai_fail(error, GSA_FORMAT, "there are more weights of classes than labels");
    for (size_t i = 0; i < n; i++)
        if (!(sum[i] >= 0) || !isfinite(sum[i]))
            return gsai_fail(error, GSA_FORMAT, "a weight of a class is negative or not finite");
    GSA_TRY(gsai_class_sums_grow(&state->class_sums, n, &state->env, error));
    if (n > 0)
        memcpy(state->class_sums.at, sum, n * sizeof *sum);
    return GSA_OK;
}

static gsa_status restore_lineage(gsa_state *state, const gsai_bundle *bundle, gsa_error *error)
{
    const gsai_tensor *found;
    GSA_TRY(gsai_bundle_may_have(bundle, "lineage", GSAI_U64, GSAI_ANY_LEN, &found, error));
    if (!found)
        return GSA_OK;
    size_t n = (size_t)gsai_tensor_len(found);
    const uint64_t *run = found->data;
    for (size_t i = 1; i < n; i++)
        if (run[i] < run[i - 1]) /* equal: a run that started from a run on the same rows */
            return gsai_fail(error, GSA_FORMAT, "the lineage of the state is out of order");
    return gsai_lineage_add_all(state, run, n, error);
}

/* The parts of a state whose loss is decided. */
static gsa_status restore_learned(gsa_state *state, const gsai_loss *loss, const gsai_bundle *bundle, gsa_error *error)
{
    GSA_TRY(restore_table(state, loss, bundle, error));
    GSA_TRY(restore_scaling(state, bundle, error));
    GSA_TRY(restore_prior(state, bundle, error));
    GSA_TRY(restore_best(state, bundle, error));
    if (loss->has_width)
        GSA_TRY(gsai_fields_restore(residual_fields, N(residual_fields), bundle, state, &gsai_load_state, error));
    GSA_TRY(gsai_group_restore(state, bundle, error));
    return gsai_sample_restore(state, bundle, error);
}

/* Classes of rows could not be checked against a loss that is decided later. */
static gsa_status check_undecided(const gsa_state *state, const gsai_bundle *bundle, gsa_error *error)
{
    static const char *const learned[] = {"weight",       "scaling.restart", "best_checkpoint.pass",
                                          "prior.sum_sq", "group.number",    "sample.number"};
    bool any = state->labels.n > 0;
    for (size_t i = 0; i < N(learned) && !any; i++)
        any = gsai_bundle_tensor(bundle, learned[i]) != NULL;
    return any ? gsai_fail(error, GSA_FORMAT, "there are labels, weights or rows, but the loss is not decided")
               : GSA_OK;
}

static gsa_status restore_all(gsa_state *state, const gsai_loss *loss, const gsai_bundle *bundle, gsa_error *error)
{
    GSA_TRY(gsai_labels_restore(&state->labels, bundle, error));
    GSA_TRY(gsai_fields_restore(state_fields, N(state_fields), bundle, state, &gsai_load_state, error));
    GSA_TRY(check_numbers(state, loss, &gsai_load_state, error));
    GSA_TRY(gsai_schema_restore(&state->schema, bundle, &state->env, error));
    GSA_TRY(gsai_names_restore(&state->names, bundle, &state->env, error));
    GSA_TRY(restore_centre(state, bundle, error));
    GSA_TRY(restore_class_sums(state, bundle, error));
    GSA_TRY(restore_lineage(state, bundle, error));
    return loss ? restore_learned(state, loss, bundle, error) : check_undecided(state, bundle, error);
}

gsa_status gsai_state_restore(const gsai_bundle *bundle, const gsa_env *env, gsa_state **out, gsa_error *error)
{
    gsai_params params;
    const gsai_loss *loss;
    gsa_state *state;
    GSA_TRY(gsai_bundle_check(bundle, FORMAT, error));
    GSA_TRY(restore_params(&params, bundle, error));
    GSA_TRY(gsai_bundle_loss(bundle, "decided_loss", true, &loss, error));
    GSA_TRY(gsai_state_create(&params, env, &state, error));
    gsa_status status = restore_all(state, loss, bundle, error);
    if (status == GSA_OK)
        *out = state;
    else
        gsa_state_free(state);
    return status;
}
