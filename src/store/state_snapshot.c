/* States as bundles: everything a run needs to go on. The format is specified in docs/formats/model.md. */
#include "learn/life.h"
#include "learn/lineage.h"
#include "store/lines.h"
#include "store/state_rows.h"
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

/* Far beyond any run: so many are whole numbers of doubles too, and can be added up and doubled. */
#define MAX_COUNT (UINT64_C(1) << 52)
#define AT(member) offsetof(gsa_state, member), 1

static const gsai_field state_fields[] = {
    {{"n_rows", GSAI_U64, MAX_COUNT}, AT(n_rows)},
    {{"n_counted", GSAI_U64, INT32_MAX}, AT(n_counted)}, /* counts of a table have 31 bits */
    {{"rows_behind", GSAI_U64, MAX_COUNT}, AT(rows_behind)},
    {{"n_merged", GSAI_U64, MAX_COUNT}, AT(n_merged)},
    {{"n_solved", GSAI_U64, MAX_COUNT}, AT(n_solved)},
    {{"standardised", GSAI_U64, 1}, AT(standardised)},
    {{"averaging.now", GSAI_U64, MAX_COUNT}, AT(averaging.now)},
    {{"averaging.first", GSAI_U64, MAX_COUNT}, AT(averaging.first)},
    {{"averaging.restart", GSAI_U64, UINT64_MAX}, AT(averaging.restart)},
    {{"averaging.per_row", GSAI_U64, UINT32_MAX}, AT(averaging.per_row)},
    {{"position.pass", GSAI_U64, MAX_COUNT}, AT(position.pass)},
    {{"position.pass_rows", GSAI_U64, MAX_COUNT}, AT(position.pass_rows)},
    {{"position.loss_sum", GSAI_F64, GSAI_FINITE}, AT(position.loss_sum)},
    {{"position.loss_weight", GSAI_F64, GSAI_NOT_NEGATIVE}, AT(position.loss_weight)},
    {{"position.late_loss_sum", GSAI_F64, GSAI_FINITE}, AT(position.late_loss_sum)},
    {{"position.late_loss_weight", GSAI_F64, GSAI_NOT_NEGATIVE}, AT(position.late_loss_weight)},
    {{"position.earlier_loss_sum", GSAI_F64, GSAI_FINITE}, AT(position.earlier_loss_sum)},
    {{"position.earlier_loss_weight", GSAI_F64, GSAI_NOT_NEGATIVE}, AT(position.earlier_loss_weight)},
    {{"position.last_pass_loss", GSAI_F64, GSAI_ANY_NUMBER}, AT(position.last_pass_loss)},
    {{"position.held_out_loss", GSAI_F64, GSAI_ANY_NUMBER}, AT(position.held_out_loss)},
    {{"position.constant_loss", GSAI_F64, GSAI_ANY_NUMBER}, AT(position.constant_loss)},
    {{"run_id.hash", GSAI_U64, UINT64_MAX}, AT(run_id.hash)},
    {{"run_id.n_rows", GSAI_U64, GSAI_RUN_ID_ROWS}, AT(run_id.n_rows)},
    {{"run_id.closed", GSAI_U64, 1}, AT(run_id.closed)},
    {{"fingerprint.sum", GSAI_U64, UINT64_MAX}, AT(rows.sum)},
    {{"fingerprint.n_rows", GSAI_U64, MAX_COUNT}, AT(rows.n_rows)},
    {{"step.sum", GSAI_F64, GSAI_FINITE}, AT(step.sum)},
    {{"step.weight", GSAI_F64, GSAI_FINITE}, AT(step.weight)},
    {{"row_weights.n_rows", GSAI_U64, MAX_COUNT}, AT(row_weights.n_rows)},
    {{"row_weights.sum", GSAI_F64, GSAI_NOT_NEGATIVE}, AT(row_weights.sum)},
    {{"row_weights.max", GSAI_F64, GSAI_NOT_NEGATIVE}, AT(row_weights.max)},
    {{"label_offset.at", GSAI_F64, GSAI_FINITE}, AT(label_offset.at)},
    {{"label_offset.mean", GSAI_F64, GSAI_FINITE}, AT(label_offset.mean)},
    {{"label_offset.weight", GSAI_F64, GSAI_NOT_NEGATIVE}, AT(label_offset.weight)},
    {{"label_offset.settled", GSAI_U64, 1}, AT(label_offset.settled)},
    {{"squared_error", GSAI_F64, GSAI_NOT_NEGATIVE}, AT(squared_error)},
    {{"squared_label", GSAI_F64, GSAI_NOT_NEGATIVE}, AT(squared_label)},
    {{"sample.below", GSAI_U64, UINT64_MAX}, AT(sample.below)},
};

/* Of losses with a width. */
static const gsai_field residual_fields[] = {
    {{"residuals.late", GSAI_F64, GSAI_NOT_NEGATIVE}, offsetof(gsa_state, residuals.late), GSAI_RESIDUAL_BINS},
    {{"residuals.earlier", GSAI_F64, GSAI_NOT_NEGATIVE}, offsetof(gsa_state, residuals.earlier), GSAI_RESIDUAL_BINS},
    {{"residuals.first", GSAI_F64, GSAI_FINITE}, offsetof(gsa_state, residuals.first), GSAI_FIRST_LABELS},
    {{"residuals.n_first", GSAI_U64, GSAI_FIRST_LABELS}, AT(residuals.n_first)},
    {{"residuals.n_rows", GSAI_F64, GSAI_NOT_NEGATIVE}, AT(residuals.n_rows)},
    {{"residuals.n_not_zero", GSAI_F64, GSAI_NOT_NEGATIVE}, AT(residuals.n_not_zero)},
    {{"residuals.width", GSAI_F64, GSAI_NOT_NEGATIVE}, AT(residuals.width)},
};

static const gsai_field best_fields[] = {
    {{"best_checkpoint.pass", GSAI_U64, MAX_COUNT + 1}, AT(best_checkpoint.pass)}, /* one more than passes ended */
    {{"best_checkpoint.loss", GSAI_F64, GSAI_FINITE}, AT(best_checkpoint.loss)},
    {{"best_checkpoint.scale", GSAI_F64, GSAI_NOT_NEGATIVE}, AT(best_checkpoint.scale)},
    {{"best_checkpoint.offset", GSAI_F64, GSAI_FINITE}, AT(best_checkpoint.offset)},
};

/* While the choice of scaling is open. */
static const gsai_field scaling_fields[] = {
    {{"scaling.step_sum", GSAI_F64, GSAI_FINITE}, offsetof(gsai_scaling, step.sum), 1},
    {{"scaling.step_weight", GSAI_F64, GSAI_FINITE}, offsetof(gsai_scaling, step.weight), 1},
    {{"scaling.loss", GSAI_F64, GSAI_FINITE}, offsetof(gsai_scaling, loss), 2},
    {{"scaling.earlier_loss", GSAI_F64, GSAI_FINITE}, offsetof(gsai_scaling, earlier_loss), 2},
    {{"scaling.held_out_loss", GSAI_F64, GSAI_FINITE}, offsetof(gsai_scaling, held_out_loss), 2},
    {{"scaling.restart", GSAI_U64, UINT64_C(1) << 40}, offsetof(gsai_scaling, restart), 1},
};

/* Checks numbers that depend on each other, on saving as on loading: all that is saved can be loaded. */
static gsa_status check_numbers(const gsa_state *state, const gsai_loss *loss, gsa_status status, gsa_error *error)
{
    const gsai_averaging *averaging = &state->averaging;
    const gsai_label_offset *offset = &state->label_offset;
    if (averaging->restart <= averaging->now || averaging->first > averaging->now || averaging->per_row == 0)
        return gsai_fail(error, status, "the numbers of averaging contradict each other");
    if (state->n_counted > state->rows_behind)
        return gsai_fail(error, status, "features are counted in more rows than were seen");
    if (state->row_weights.n_rows > 0 && state->row_weights.sum == 0)
        return gsai_fail(error, status, "all rows have weight 0");
    if (!gsai_loss_has_offset(loss) && (offset->at != 0 || offset->mean != 0 || offset->weight != 0))
        return gsai_fail(error, status, "%s loss has no label offset", gsai_loss_name(loss));
    return GSA_OK;
}

/* Numbers of a column, stored as they are: rows, mean, sum of squares around it. */
#define COLUMN 3u
static_assert(sizeof(gsai_column) == COLUMN * sizeof(double), "columns are stored as they are");

static const gsai_key class_sums_key = {"class_sums", GSAI_F64, GSAI_NOT_NEGATIVE},
                      lineage_key = {"lineage", GSAI_U64, UINT64_MAX}, centre_key = {"centre", GSAI_F64, GSAI_FINITE},
                      centre_slot_key = {"centre.slot", GSAI_U32, GSAI_MAX_COLUMNS - 1};

/* ---- to a bundle ------------------------------------------------------------------------------------------------- */

static void add_notes(gsai_snapshot *snapshot, const gsa_state *state)
{
    gsai_snapshot_note(snapshot, "format", FORMAT);
    gsai_snapshot_note(snapshot, "version", GSAI_FORMAT_VERSION);
    gsai_snapshot_note(snapshot, "decided_loss", gsai_loss_name(state->loss));
    if (state->input_position[0])
        gsai_snapshot_note(snapshot, "input_position", state->input_position);
    for (int id = 0; id < GSAI_PARAMS; id++) {
        const gsa_param *param = gsa_param_at((size_t)id);
        bool is_new = !gsai_param_is_late((gsai_param_id)id) || strcmp(state->params.text[id], param->initial) != 0;
        if (gsai_param_decides_result((gsai_param_id)id) && is_new)
            gsai_snapshot_note(snapshot, param->name, state->params.text[id]);
    }
}

/* The next column with rows. */
static size_t next_column(const void *ctx, size_t slot, size_t n)
{
    const gsai_centre *centre = ctx;
    while (slot < n && centre->at[slot].n == 0)
        slot++;
    return slot;
}

/* The columns up to n, as lines. */
static gsai_line_tensor lines_of(const gsai_centre *centre, size_t n)
{
    return (gsai_line_tensor){centre_key, 2, COLUMN, (char *)centre->at, sizeof *centre->at, n};
}

/* Columns without rows are as columns that are not there. */
static gsa_status add_centre(gsai_snapshot *snapshot, const gsai_centre *centre, gsa_error *error)
{
    size_t n = centre->n;
    while (n > 0 && centre->at[n - 1].n == 0)
        n--;
    gsai_line_tensor columns = lines_of(centre, n);
    return n > 0 ? gsai_snapshot_lines(snapshot, &columns, 1, &centre_slot_key, n, next_column, centre, error) : GSA_OK;
}

/* What only some states have. */
static gsa_status add_optional(gsai_snapshot *snapshot, const gsa_state *state, gsa_error *error)
{
    if (state->n_solved > 0)
        gsai_snapshot_results(snapshot, &state->results);
    if (state->scaling)
        gsai_snapshot_fields(snapshot, scaling_fields, N(scaling_fields), state->scaling);
    if (state->loss && state->loss->has_width)
        gsai_snapshot_fields(snapshot, residual_fields, N(residual_fields), state);
    if (state->best_checkpoint.weight)
        gsai_snapshot_fields(snapshot, best_fields, N(best_fields), state);
    GSA_TRY(add_centre(snapshot, &state->centre, error));
    if (state->class_sums.n > 0)
        gsai_snapshot_add(snapshot, &class_sums_key, state->class_sums.at, state->class_sums.n);
    if (state->n_lineage > 0)
        gsai_snapshot_add(snapshot, &lineage_key, state->lineage, state->n_lineage);
    if (state->sample.n > 0)
        GSA_TRY(gsai_snapshot_sample(snapshot, &state->sample, error));
    return state->group.n_rows > 0 ? gsai_snapshot_group(snapshot, state, error) : GSA_OK;
}

static gsa_status describe(gsai_snapshot *snapshot, const gsa_state *state, gsa_error *error)
{
    add_notes(snapshot, state);
    GSA_TRY(check_numbers(state, state->loss, GSA_LIMIT, error));
    gsai_snapshot_fields(snapshot, state_fields, N(state_fields), state);
    GSA_TRY(gsai_snapshot_texts(snapshot, &state->labels, state->schema, &state->names, error));
    if (state->loss)
        GSA_TRY(gsai_snapshot_slots(snapshot, state, error));
    GSA_TRY(add_optional(snapshot, state, error));
    return gsai_snapshot_check(snapshot, error);
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
    if (replica->group.n_rows > 0)
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

/* Makes the table of a decided loss, with zeros. */
static gsa_status make_table(gsa_state *state, const gsai_loss *loss, const gsai_bundle *bundle, gsa_error *error)
{
    size_t n_outputs = gsai_loss_outputs(loss, state->labels.n), n_slots;
    GSA_TRY(gsai_slots_shape(bundle, n_outputs, &n_slots, error));
    if (n_slots == 0 || state->labels.n > loss->max_labels ||
        gsai_class_weight_check(&state->params, loss, NULL) != GSA_OK)
        return gsai_fail(error, GSA_FORMAT, "the weights do not fit %zu labels and %s loss", state->labels.n,
                         gsai_loss_name(loss));
    GSA_TRY(gsai_state_decide(state, loss, error));
    return gsai_table_grow(&state->table, n_slots, &state->env, error);
}

/* Makes room for the other scaling, prior totals and best weights, if there are any. */
static gsa_status make_scaling(gsa_state *state, const gsai_bundle *bundle, gsa_error *error)
{
    if (!gsai_bundle_tensor(bundle, "scaling.restart"))
        return GSA_OK;
    GSA_TRY(gsai_scaling_resume(state, error));
    GSA_TRY(gsai_bundle_fields(bundle, scaling_fields, N(scaling_fields), state->scaling, error));
    return state->scaling->restart > 0 ? GSA_OK : gsai_fail(error, GSA_FORMAT, "scaling.restart is 0");
}

static gsa_status make_best(gsa_state *state, const gsai_bundle *bundle, gsa_error *error)
{
    gsai_best_checkpoint *best = &state->best_checkpoint;
    const gsai_key key = {"best_checkpoint.weight", GSAI_F32, GSAI_ANY_NUMBER}; /* for its shape */
    const gsai_tensor *weights;
    if (!gsai_bundle_tensor(bundle, "best_checkpoint.pass"))
        return GSA_OK;
    GSA_TRY(gsai_bundle_fields(bundle, best_fields, N(best_fields), state, error));
    GSA_TRY(gsai_bundle_need(bundle, &key, GSAI_ANY_LEN, &weights, error));
    if (best->pass == 0 || weights->n_dims != 2 || weights->shape[1] < 1 || weights->shape[1] > state->table.n_outputs)
        return gsai_fail(error, GSA_FORMAT, "the weights of the best checkpoint do not fit the state");
    best->n_slots = state->table.n_slots;
    best->n_outputs = (size_t)weights->shape[1];
    best->weight = gsai_alloc_zeroed(&state->env, best->n_slots, best->n_outputs * sizeof *best->weight);
    return best->weight ? GSA_OK : gsai_fail_memory(&state->env, error, "no memory for the best weights");
}

static bool column_is_sound(const gsai_column *column)
{
    bool is_empty = column->n == 0 && column->mean == 0 && column->squares == 0;
    return is_empty || (column->n >= 1 && column->n == floor(column->n) && column->squares >= 0);
}

/* The header of a delta has no features, and columns all the same. */
static gsa_status restore_centre(gsa_state *state, const gsai_bundle *bundle, gsa_error *error)
{
    const gsai_tensor *found;
    gsai_centre *centre = &state->centre;
    gsai_lines lines;
    GSA_TRY(gsai_bundle_may_have(bundle, &centre_key, GSAI_ANY_LEN, &found, error));
    if (!found)
        return GSA_OK;
    uint64_t n = gsai_tensor_len(found) / COLUMN;
    GSA_TRY(gsai_lines_find(bundle, &centre_slot_key, GSAI_MAX_COLUMNS, &lines, error));
    if (n == 0 || n > lines.n)
        return gsai_fail(error, GSA_FORMAT, "the centre has no columns, or more than %u", (unsigned)GSAI_MAX_COLUMNS);
    lines.n = lines.id ? lines.n : (size_t)n;
    size_t n_columns = lines.id ? (size_t)lines.id[lines.n - 1] + 1 : lines.n;
    GSA_TRY(gsai_centre_grow(centre, n_columns, &state->env, error));
    gsai_line_tensor columns = lines_of(centre, n_columns);
    GSA_TRY(gsai_lines_restore(&columns, &lines, bundle, error));
    for (size_t slot = 0; slot < n_columns; slot++)
        if (!column_is_sound(&centre->at[slot]) || (slot + 1 == n_columns && centre->at[slot].n == 0))
            return gsai_fail(error, GSA_FORMAT, "column %zu of the centre is out of range", slot);
    return GSA_OK;
}

static gsa_status restore_class_sums(gsa_state *state, const gsai_bundle *bundle, gsa_error *error)
{
    const gsai_tensor *found;
    GSA_TRY(gsai_bundle_may_have(bundle, &class_sums_key, GSAI_ANY_LEN, &found, error));
    if (!found || !gsai_params_balance(&state->params))
        return GSA_OK;
    const double *sum = found->data;
    size_t n = (size_t)gsai_tensor_len(found);
    if (n > state->labels.n + 1)
        return gsai_fail(error, GSA_FORMAT, "there are more weights of classes than labels");
    GSA_TRY(gsai_class_sums_grow(&state->class_sums, n, &state->env, error));
    if (n > 0)
        memcpy(state->class_sums.at, sum, n * sizeof *sum);
    return GSA_OK;
}

static gsa_status restore_lineage(gsa_state *state, const gsai_bundle *bundle, gsa_error *error)
{
    const gsai_tensor *found;
    GSA_TRY(gsai_bundle_may_have(bundle, &lineage_key, GSAI_ANY_LEN, &found, error));
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
    GSA_TRY(make_table(state, loss, bundle, error));
    GSA_TRY(make_scaling(state, bundle, error));
    GSA_TRY(make_best(state, bundle, error));
    if (gsai_bundle_tensor(bundle, "prior.sum_sq"))
        GSA_TRY(gsai_prior_totals_grow(&state->prior, state->table.n_slots, &state->env, error));
    GSA_TRY(gsai_slots_restore(state, bundle, error));
    if (loss->has_width)
        GSA_TRY(gsai_bundle_fields(bundle, residual_fields, N(residual_fields), state, error));
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
    GSA_TRY(gsai_bundle_texts(bundle, &state->env, &state->labels, &state->schema, &state->names, error));
    const char *position = gsai_bundle_note(bundle, "input_position");
    if (gsa_state_set_position(state, position, NULL) != GSA_OK)
        return gsai_fail(error, GSA_FORMAT, "the position of the input is no text, or too long");
    GSA_TRY(gsai_bundle_fields(bundle, state_fields, N(state_fields), state, error));
    GSA_TRY(gsai_bundle_results(bundle, &state->results, error));
    GSA_TRY(check_numbers(state, loss, GSA_FORMAT, error));
    GSA_TRY(restore_centre(state, bundle, error));
    GSA_TRY(restore_class_sums(state, bundle, error));
    GSA_TRY(restore_lineage(state, bundle, error));
    return loss ? restore_learned(state, loss, bundle, error) : check_undecided(state, bundle, error);
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
    gsa_status status = restore_all(state, loss, bundle, error);
    if (status == GSA_OK)
        *out = state;
    else
        gsa_state_free(state);
    return status;
}
