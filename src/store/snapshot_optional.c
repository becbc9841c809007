/* Optional parts of a state as tensors. The format is specified in docs/formats/model.md. */
#include "store/snapshot_parts.h"

#include "learn/lineage.h"

#include "base/error.h"
#include "base/memory.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Numbers of a column in "columns": rows, mean, sum of squares around it. */
#define COLUMN 3u
static_assert(sizeof(gsai_column) == COLUMN * sizeof(double), "columns are stored as they are");
/* Numbers of the best weights, "best.numbers". */
enum { BEST_LOSS, BEST_PASS, BEST_SLOTS, BEST_OUTPUTS, BEST };

/* Numbers of a contest that is open, "contest". */
enum {
    RIVAL_SUM,
    RIVAL_WEIGHT,
    OWN_LOSS,
    RIVAL_LOSS,
    OWN_EARLIER,
    RIVAL_EARLIER,
    RESTART,
    OWN_HELD_OUT,
    RIVAL_HELD_OUT,
    CONTEST
};

gsa_status gsai_scaling_snapshot(gsai_snapshot *snapshot, const gsai_scaling *contest, gsa_error *error)
{
    double *number = gsai_snapshot_alloc(snapshot, CONTEST, sizeof *number);
    if (!number)
        return gsai_fail_memory(&snapshot->env, error, "no memory to describe a contest");
    number[RIVAL_SUM] = contest->step.sum;
    number[RIVAL_WEIGHT] = contest->step.weight;
    number[OWN_LOSS] = contest->loss[0];
    number[RIVAL_LOSS] = contest->loss[1];
    number[OWN_EARLIER] = contest->earlier_loss[0];
    number[RIVAL_EARLIER] = contest->earlier_loss[1];
    number[RESTART] = (double)contest->restart;
    number[OWN_HELD_OUT] = contest->held_out_loss[0];
    number[RIVAL_HELD_OUT] = contest->held_out_loss[1];
    gsai_snapshot_vector(snapshot, "contest", GSAI_F64, number, CONTEST);
    return GSA_OK;
}

static gsa_status add_best(gsai_snapshot *snapshot, const gsai_best_checkpoint *best, gsa_error *error)
{
    double *number = gsai_snapshot_alloc(snapshot, BEST, sizeof *number);
    if (!number)
        return gsai_fail_memory(&snapshot->env, error, "no memory to describe the best weights");
    number[BEST_LOSS] = best->loss;
    number[BEST_PASS] = (double)best->pass;
    number[BEST_SLOTS] = (double)best->n_slots;
    number[BEST_OUTPUTS] = (double)best->n_outputs;
    gsai_snapshot_vector(snapshot, "best.numbers", GSAI_F64, number, BEST);
    gsai_snapshot_vector(snapshot, "best.weight", GSAI_F32, best->weight, (uint64_t)best->n_slots * best->n_outputs);
    return GSA_OK;
}

/* Numbers of a row that waits for its group, "group.rows": class or label, weight, entries. */
enum { GROUP_LABEL, GROUP_WEIGHT, GROUP_ENTRIES, GROUP_ROW };

static gsa_status add_group(gsai_snapshot *snapshot, const gsa_state *state, gsa_error *error)
{
    const gsai_group *group = &state->group;
    bool has_classes = gsai_loss_has_classes(state->loss);
    double *number = gsai_snapshot_alloc(snapshot, GROUP_ROW * group->n_rows, sizeof *number);
    uint32_t *index = gsai_snapshot_alloc(snapshot, group->n_entries, sizeof *index);
    float *value = gsai_snapshot_alloc(snapshot, group->n_entries, sizeof *value);
    size_t n_entries = 0;
    if (!number || !index || !value)
        return gsai_fail_memory(&snapshot->env, error, "no memory to describe the rows of a group");
    for (size_t row = 0; row < group->n_rows; row++) {
        double *of = number + GROUP_ROW * row;
        of[GROUP_LABEL] = has_classes ? (double)group->class_number[row] : group->y[row];
        of[GROUP_WEIGHT] = group->c[row];
        of[GROUP_ENTRIES] = (double)group->n[row];
        for (size_t e = group->start[row], end = e + group->n[row]; e < end; e++, n_entries++) {
            index[n_entries] = group->slot[e] - 1;
            value[n_entries] = group->x[e];
        }
    }
    gsai_snapshot_vector(snapshot, "group.rows", GSAI_F64, number, GROUP_ROW * (uint64_t)group->n_rows);
    gsai_snapshot_vector(snapshot, "group.index", GSAI_U32, index, n_entries);
    gsai_snapshot_vector(snapshot, "group.value", GSAI_F32, value, n_entries);
    return GSA_OK;
}

gsa_status gsai_optional_snapshot(gsai_snapshot *snapshot, const gsa_state *state, gsa_error *error)
{
    if (state->carried.n > 0) {
        gsai_snapshot_vector(snapshot, "carried.mass", GSAI_F64, state->carried.mass, state->carried.n);
        gsai_snapshot_vector(snapshot, "carried.presence", GSAI_U64, state->carried.count, state->carried.n);
    }
    if (state->centre.n > 0)
        gsai_snapshot_vector(snapshot, "columns", GSAI_F64, state->centre.at, COLUMN * (uint64_t)state->centre.n);
    if (state->class_sums.n > 0)
        gsai_snapshot_vector(snapshot, "class_sums", GSAI_F64, state->class_sums.at, state->class_sums.n);
    if (state->n_lineage > 0)
        gsai_snapshot_vector(snapshot, "ancestors", GSAI_U64, state->lineage, state->n_lineage);
    gsa_status status = state->best.weight ? add_best(snapshot, &state->best, error) : GSA_OK;
    return status == GSA_OK && state->group.n_rows > 0 ? add_group(snapshot, state, error) : status;
}

/* From 1 to `most`. */
static bool is_whole(double number, double most)
{
    return number >= 1 && number <= most && number == floor(number);
}

gsa_status gsai_scaling_restore(gsa_state *state, const gsai_bundle *bundle, gsa_error *error)
{
    const gsai_tensor *numbers;
    gsa_status status = gsai_bundle_may_have(bundle, "contest", GSAI_F64, CONTEST, &numbers, error);
    if (!numbers)
        return status;
    if (!state->loss)
        return gsai_fail(error, GSA_FORMAT, "a contest before there is anything to learn");
    const double *number = numbers->data;
    for (int i = 0; i < CONTEST; i++)
        if (!isfinite(number[i]) || (i == RESTART && !is_whole(number[i], 0x1p40)))
            return gsai_fail(error, GSA_FORMAT, "number %d of the contest is out of range", i);
    status = gsai_scaling_resume(state, error);
    if (status != GSA_OK)
        return status;
    gsai_scaling *contest = state->contest;
    contest->step = (gsai_step_mean){number[RIVAL_SUM], number[RIVAL_WEIGHT]};
    contest->loss[0] = number[OWN_LOSS];
    contest->loss[1] = number[RIVAL_LOSS];
    contest->earlier_loss[0] = number[OWN_EARLIER];
    contest->earlier_loss[1] = number[RIVAL_EARLIER];
    contest->restart = (uint64_t)number[RESTART];
    contest->held_out_loss[0] = number[OWN_HELD_OUT];
    contest->held_out_loss[1] = number[RIVAL_HELD_OUT];
    return gsai_weights_restore(&contest->table, "rival.weight", "rival.average", bundle, error);
}

static gsa_status restore_carried(gsa_state *state, const gsai_bundle *bundle, gsa_error *error)
{
    const gsai_tensor *mass, *count;
    gsa_status status = gsai_bundle_may_have(bundle, "carried.mass", GSAI_F64, GSAI_ANY_LEN, &mass, error);
    if (!mass)
        return status;
    size_t n = (size_t)gsai_tensor_len(mass);
    status = gsai_bundle_need(bundle, "carried.presence", GSAI_U64, n, &count, error);
    if (status == GSA_OK && n > state->table.n_slots)
        status = gsai_fail(error, GSA_FORMAT, "there is more mass than there are features");
    for (size_t slot = 0; status == GSA_OK && slot < n; slot++)
        if (!(((const double *)mass->data)[slot] >= 0) || !isfinite(((const double *)mass->data)[slot]))
            status = gsai_fail(error, GSA_FORMAT, "a mass is negative or not finite");
        else if (((const uint64_t *)count->data)[slot] > state->rows_behind - state->n_counted)
            status = gsai_fail(error, GSA_FORMAT, "a feature is in more rows than there are");
    if (status == GSA_OK)
        status = gsai_prior_totals_grow(&state->carried, n, &state->env, error);
    if (status == GSA_OK && n > 0) {
        memcpy(state->carried.mass, mass->data, n * sizeof(double));
        memcpy(state->carried.count, count->data, n * sizeof(uint64_t));
    }
    return status;
}

static gsa_status restore_centre(gsa_state *state, const gsai_bundle *bundle, gsa_error *error)
{
    const gsai_tensor *columns;
    gsa_status status = gsai_bundle_may_have(bundle, "columns", GSAI_F64, GSAI_ANY_LEN, &columns, error);
    if (!columns)
        return status;
    uint64_t len = gsai_tensor_len(columns), n = len / COLUMN;
    const double *number = columns->data;
    if (len % COLUMN != 0 || n > GSAI_MAX_COLUMNS) /* the head of a copy has no features, and columns all the same */
        return gsai_fail(error, GSA_FORMAT, "the means of columns are more than %u", (unsigned)GSAI_MAX_COLUMNS);
    for (size_t i = 0; i < len; i++)
        if (!isfinite(number[i]) || (i % COLUMN != 1 && number[i] < 0) ||
            (i % COLUMN == 0 ? number[i] != floor(number[i]) : number[i - i % COLUMN] == 0 && number[i] != 0))
            return gsai_fail(error, GSA_FORMAT, "a mean of a column is out of range");
    status = gsai_centre_grow(&state->centre, (size_t)n, &state->env, error);
    if (status == GSA_OK && n > 0)
        memcpy(state->centre.at, number, (size_t)len * sizeof *number);
    return status;
}

static gsa_status restore_class_sums(gsa_state *state, const gsai_bundle *bundle, gsa_error *error)
{
    const gsai_tensor *sums;
    if (!gsai_params_balance(&state->params))
        return GSA_OK;
    gsa_status status = gsai_bundle_may_have(bundle, "class_sums", GSAI_F64, GSAI_ANY_LEN, &sums, error);
    if (!sums)
        return status;
    const double *sum = sums->data;
    size_t n = (size_t)gsai_tensor_len(sums);
    if (n > state->labels.n + 1)
        return gsai_fail(error, GSA_FORMAT, "there are more weights of classes than labels");
    for (size_t i = 0; i < n; i++)
        if (!(sum[i] >= 0) || !isfinite(sum[i]))
            return gsai_fail(error, GSA_FORMAT, "a weight of a class is negative or not finite");
    status = gsai_class_sums_grow(&state->class_sums, n, &state->env, error);
    if (status == GSA_OK && n > 0)
        memcpy(state->class_sums.at, sum, n * sizeof *sum);
    return status;
}

static gsa_status restore_lineage(gsa_state *state, const gsai_bundle *bundle, gsa_error *error)
{
    const gsai_tensor *origins;
    gsa_status status = gsai_bundle_may_have(bundle, "ancestors", GSAI_U64, GSAI_ANY_LEN, &origins, error);
    if (!origins)
        return status;
    size_t n = (size_t)gsai_tensor_len(origins);
    const uint64_t *origin = origins->data;
    for (size_t i = 1; i < n; i++)
        if (origin[i] < origin[i - 1]) /* equal: a run that started from a run on the same rows */
            return gsai_fail(error, GSA_FORMAT, "the origins of the state are out of order");
    return gsai_lineage_add_all(state, origin, n, error);
}

static gsa_status restore_best(gsa_state *state, const gsai_bundle *bundle, gsa_error *error)
{
    const gsai_tensor *numbers, *weights;
    gsa_status status = gsai_bundle_may_have(bundle, "best.numbers", GSAI_F64, BEST, &numbers, error);
    if (numbers)
        status = gsai_bundle_need(bundle, "best.weight", GSAI_F32, GSAI_ANY_LEN, &weights, error);
    if (!numbers || status != GSA_OK)
        return status;
    const double *number = numbers->data;
    const float *weight = weights->data;
    uint64_t n = gsai_tensor_len(weights);
    if (!isfinite(number[BEST_LOSS]) || !is_whole(number[BEST_PASS], 0x1p52 + 1) || /* one more than passes ended */
        !is_whole(number[BEST_SLOTS], (double)state->table.n_slots) ||
        !is_whole(number[BEST_OUTPUTS], (double)state->table.n_outputs) ||
        number[BEST_SLOTS] * number[BEST_OUTPUTS] != (double)n)
        return gsai_fail(error, GSA_FORMAT, "the best weights do not fit the state");
    for (uint64_t i = 0; i < n; i++)
        if (!isfinite(weight[i]))
            return gsai_fail(error, GSA_FORMAT, "a weight of the best is not finite");
    state->best.weight = gsai_copy(&state->env, weight, (size_t)n, sizeof *weight);
    if (!state->best.weight)
        return gsai_fail_memory(&state->env, error, "no memory for the best weights");
    state->best.loss = number[BEST_LOSS];
    state->best.pass = (uint64_t)number[BEST_PASS];
    state->best.n_slots = (size_t)number[BEST_SLOTS];
    state->best.n_outputs = (size_t)number[BEST_OUTPUTS];
    return GSA_OK;
}

static bool group_row_is_sound(const gsa_state *state, const double *of, uint64_t n_left)
{
    bool known = gsai_loss_has_classes(state->loss)
                     ? of[GROUP_LABEL] == 0 || is_whole(of[GROUP_LABEL], (double)state->labels.n - 1)
                     : isfinite(of[GROUP_LABEL]);
    return known && of[GROUP_WEIGHT] > 0 && isfinite(of[GROUP_WEIGHT]) &&
           (of[GROUP_ENTRIES] == 0 || is_whole(of[GROUP_ENTRIES], (double)n_left));
}

static bool group_entries_are_sound(const gsa_state *state, const gsai_row *row)
{
    for (size_t i = 0; i < row->n; i++)
        if (row->value[i] == 0 || (size_t)row->index[i] + 1 >= state->table.n_slots)
            return false;
    return true;
}

static gsa_status restore_group(gsa_state *state, const gsai_bundle *bundle, gsa_error *error)
{
    const gsai_tensor *rows, *index, *value;
    gsa_status status = gsai_bundle_may_have(bundle, "group.rows", GSAI_F64, GSAI_ANY_LEN, &rows, error);
    if (!rows)
        return status;
    status = gsai_bundle_need(bundle, "group.index", GSAI_U32, GSAI_ANY_LEN, &index, error);
    uint64_t n_entries = status == GSA_OK ? gsai_tensor_len(index) : 0, n = gsai_tensor_len(rows) / GROUP_ROW;
    if (status == GSA_OK)
        status = gsai_bundle_need(bundle, "group.value", GSAI_F32, n_entries, &value, error);
    if (status == GSA_OK && (n * GROUP_ROW != gsai_tensor_len(rows) || !gsai_state_has_groups(state)))
        status = gsai_fail(error, GSA_FORMAT, "the rows of a group do not fit the state");
    for (size_t i = 0, at = 0; i < n && status == GSA_OK; i++) {
        const double *of = (const double *)rows->data + GROUP_ROW * i;
        bool sound = !gsai_group_is_full(state) && group_row_is_sound(state, of, n_entries - at);
        gsai_row row = {sound ? (size_t)of[GROUP_ENTRIES] : 0, (const uint32_t *)index->data + at,
                        (const float *)value->data + at};
        if (!sound || !group_entries_are_sound(state, &row))
            return gsai_fail(error, GSA_FORMAT, "row %zu of a group is damaged", i);
        bool has_classes = gsai_loss_has_classes(state->loss);
        gsai_staged staged;
        status = gsai_group_stage(state, &row, &staged, error);
        if (status == GSA_OK)
            status = gsai_group_add(state, &staged, has_classes ? (size_t)of[GROUP_LABEL] : 0,
                                    has_classes ? 0 : of[GROUP_LABEL], of[GROUP_WEIGHT], error);
        at += row.n;
    }
    if (status == GSA_OK && gsai_group_is_full(state))
        status = gsai_fail(error, GSA_FORMAT, "a group that is full still waits");
    return status;
}

gsa_status gsai_optional_restore(gsa_state *state, const gsai_bundle *bundle, gsa_error *error)
{
    gsa_status status = restore_carried(state, bundle, error);
    if (status == GSA_OK)
        status = restore_centre(state, bundle, error);
    if (status == GSA_OK)
        status = restore_class_sums(state, bundle, error);
    if (status == GSA_OK)
        status = restore_lineage(state, bundle, error);
    if (status == GSA_OK)
        status = restore_best(state, bundle, error);
    return status == GSA_OK ? restore_group(state, bundle, error) : status;
}
