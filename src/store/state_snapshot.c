/* States as bundles: everything a run needs to go on. The format is specified in docs/formats/model.md. */
#include "learn/lineage.h"
#include "store/state_tensors.h"

#include "base/error.h"
#include "base/memory.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#define FORMAT "greedystep.state"
/* Far beyond any run: so many are whole numbers of doubles too, and can be added up and doubled. */
#define MAX_COUNT (UINT64_C(1) << 52)

/* Numbers of a state that are not tables: where each is and what messages call it, in the order of the tensors "counts"
 * and "sums". */
typedef struct stored_count {
    size_t at;
    uint64_t max;
    const char *name;
} stored_count;

static const stored_count counts[] = {
    {offsetof(gsa_state, n_rows), MAX_COUNT, "rows learned"},
    {offsetof(gsa_state, n_counted), INT32_MAX, "rows since the last fold"}, /* counts of a table have 31 bits */
    {offsetof(gsa_state, averaging.now), MAX_COUNT, "rows of the average"},
    {offsetof(gsa_state, averaging.first), MAX_COUNT, "rows before the average"},
    {offsetof(gsa_state, averaging.restart), UINT64_MAX, "rows to the next average"},
    {offsetof(gsa_state, position.pass), MAX_COUNT, "passes"},
    {offsetof(gsa_state, position.pass_rows), MAX_COUNT, "rows of the pass"},
    {offsetof(gsa_state, run_id.hash), UINT64_MAX, "hash of the first rows"},
    {offsetof(gsa_state, run_id.n_rows), GSAI_RUN_ID_ROWS, "first rows"},
    {offsetof(gsa_state, run_id.closed), 1, "ends of the first rows"},
    {offsetof(gsa_state, n_merged), MAX_COUNT, "runs merged"},
    {offsetof(gsa_state, rows_behind), MAX_COUNT, "rows behind the counts of features"},
    {offsetof(gsa_state, standardised), 1, "choices of units"},
    {offsetof(gsa_state, averaging.per_row), UINT32_MAX, "rows that a row counts for"},
    {offsetof(gsa_state, sample.below), UINT64_MAX, "hashes that are held out"},
    {offsetof(gsa_state, row_weights.n_rows), MAX_COUNT, "rows with weights"},
    {offsetof(gsa_state, label_offset.settled), 1, "origins of labels"},
    {offsetof(gsa_state, rows.sum), UINT64_MAX, "hash of the first pass"},
    {offsetof(gsa_state, rows.n_rows), MAX_COUNT, "rows of the first pass"},
    {offsetof(gsa_state, n_solved), MAX_COUNT, "rows that were solved"},
};

typedef struct stored_sum {
    size_t at;
    enum { FINITE, NOT_NEGATIVE, ANY } range; /* ANY: NaN is none */
    const char *name;
} stored_sum;

static const stored_sum sums[] = {
    {offsetof(gsa_state, step.sum), FINITE, "sum of steps"},
    {offsetof(gsa_state, step.weight), FINITE, "weight of steps"},
    {offsetof(gsa_state, position.loss_sum), FINITE, "sum of losses"},
    {offsetof(gsa_state, position.loss_weight), NOT_NEGATIVE, "weight of losses"},
    {offsetof(gsa_state, position.last_pass_loss), ANY, "loss of the last pass"},
    {offsetof(gsa_state, squared_error), NOT_NEGATIVE, "squared error"},
    {offsetof(gsa_state, squared_label), NOT_NEGATIVE, "squared label"},
    {offsetof(gsa_state, position.held_out_loss), ANY, "held-out loss"},
    {offsetof(gsa_state, position.late[0]), FINITE, "sum of late losses"},
    {offsetof(gsa_state, position.late[1]), NOT_NEGATIVE, "weight of late losses"},
    {offsetof(gsa_state, position.earlier[0]), FINITE, "sum of earlier losses"},
    {offsetof(gsa_state, position.earlier[1]), NOT_NEGATIVE, "weight of earlier losses"},
    {offsetof(gsa_state, row_weights.sum), NOT_NEGATIVE, "sum of the weights of rows"},
    {offsetof(gsa_state, label_offset.at), FINITE, "origin of labels"},
    {offsetof(gsa_state, label_offset.mean), FINITE, "mean of the first labels"},
    {offsetof(gsa_state, label_offset.weight), NOT_NEGATIVE, "weight of the first labels"},
    {offsetof(gsa_state, position.constant_loss), ANY, "loss of the best constant"},
    {offsetof(gsa_state, row_weights.max), NOT_NEGATIVE, "largest weight of a row"},
};

enum { COUNTS = sizeof counts / sizeof *counts, SUMS = sizeof sums / sizeof *sums };

/* The numbers of a choice of scaling that is open, "contest", in their order; all but the restart are doubles. */
enum { RESTART = 6 };
static const size_t scaling_numbers[] = {
    offsetof(gsai_scaling, step.sum),         offsetof(gsai_scaling, step.weight),
    offsetof(gsai_scaling, loss[0]),          offsetof(gsai_scaling, loss[1]),
    offsetof(gsai_scaling, earlier_loss[0]),  offsetof(gsai_scaling, earlier_loss[1]),
    offsetof(gsai_scaling, restart),          offsetof(gsai_scaling, held_out_loss[0]),
    offsetof(gsai_scaling, held_out_loss[1]),
};
enum { SCALING = sizeof scaling_numbers / sizeof *scaling_numbers };

/* Numbers of the best weights, "best.numbers". */
enum { BEST_LOSS, BEST_PASS, BEST_SLOTS, BEST_OUTPUTS, BEST };

/* Numbers of "residuals". */
#define RESIDUALS 5u
static_assert(sizeof(gsai_residuals) == RESIDUALS * sizeof(double), "residuals are stored as they are");

/* Each number for itself; whether sums are finite is asked elsewhere. */
static gsa_status check_ranges(const gsa_state *state, gsa_status status, const char *verb, gsa_error *error)
{
    for (size_t i = 0; i < COUNTS; i++) {
        uint64_t count;
        memcpy(&count, (const char *)state + counts[i].at, sizeof count);
        if (count > counts[i].max)
            return gsai_fail(error, status, "cannot %s the state: %llu %s are beyond any run", verb,
                             (unsigned long long)count, counts[i].name);
    }
    for (size_t i = 0; i < SUMS; i++) {
        double sum;
        memcpy(&sum, (const char *)state + sums[i].at, sizeof sum);
        if (sums[i].range == NOT_NEGATIVE && sum < 0)
            return gsai_fail(error, status, "cannot %s the state: the %s is negative", verb, sums[i].name);
    }
    return GSA_OK;
}

/* Checks numbers that depend on each other, on saving as on loading: all that is saved can be loaded. */
static gsa_status check_numbers(const gsa_state *state, const gsai_loss *loss, gsa_status status, const char *verb,
                                gsa_error *error)
{
    const gsai_averaging *averaging = &state->averaging;
    const gsai_label_offset *offset = &state->label_offset;
    GSA_TRY(check_ranges(state, status, verb, error));
    if (averaging->restart <= averaging->now || averaging->first > averaging->now || averaging->per_row == 0)
        return gsai_fail(error, status, "cannot %s the state: its clocks contradict each other", verb);
    if (state->n_counted > state->rows_behind)
        return gsai_fail(error, status, "cannot %s the state: it counts features of more rows than it has met", verb);
    if (state->row_weights.n_rows > 0 && state->row_weights.sum == 0)
        return gsai_fail(error, status, "cannot %s the state: all of its rows have weight 0", verb);
    if (!(loss && loss->depends_on_residual) && (offset->at != 0 || offset->mean != 0 || offset->weight != 0))
        return gsai_fail(error, status, "cannot %s the state: %s loss has no origin of labels", verb,
                         gsai_loss_name(loss));
    return GSA_OK;
}

/* ---- there ------------------------------------------------------------------------------------------------------- */

static gsa_status add_numbers(gsai_snapshot *snapshot, const gsa_state *state, gsa_error *error)
{
    uint64_t *count = gsai_snapshot_alloc(snapshot, COUNTS, sizeof *count);
    double *sum = gsai_snapshot_alloc(snapshot, SUMS, sizeof *sum);
    if (!count || !sum)
        return gsai_fail_memory(&snapshot->env, error, "no memory to describe a state");
    for (size_t i = 0; i < COUNTS; i++)
        memcpy(&count[i], (const char *)state + counts[i].at, sizeof *count);
    for (size_t i = 0; i < SUMS; i++)
        memcpy(&sum[i], (const char *)state + sums[i].at, sizeof *sum);
    gsai_snapshot_vector(snapshot, "counts", GSAI_U64, count, COUNTS);
    gsai_snapshot_vector(snapshot, "sums", GSAI_F64, sum, SUMS);
    return check_numbers(state, state->loss, GSA_LIMIT, "save", error);
}

static void add_notes(gsai_snapshot *snapshot, const gsa_state *state)
{
    gsai_snapshot_note(snapshot, "format", FORMAT);
    gsai_snapshot_note(snapshot, "version", GSAI_FORMAT_VERSION);
    gsai_snapshot_note(snapshot, "learns", gsai_loss_name(state->loss));
    for (int id = 0; id < GSAI_PARAMS; id++) {
        const gsa_param *param = gsa_param_at((size_t)id);
        bool is_new = !gsai_param_is_late((gsai_param_id)id) || strcmp(state->params.text[id], param->initial) != 0;
        if (gsai_param_decides_result((gsai_param_id)id) && is_new)
            gsai_snapshot_note(snapshot, param->name, state->params.text[id]);
    }
}

static gsa_status add_scaling(gsai_snapshot *snapshot, const gsai_scaling *scaling, gsa_error *error)
{
    double *number = gsai_snapshot_alloc(snapshot, SCALING, sizeof *number);
    if (!number)
        return gsai_fail_memory(&snapshot->env, error, "no memory to describe a choice of scaling");
    for (int i = 0; i < SCALING; i++)
        memcpy(&number[i], (const char *)scaling + scaling_numbers[i], sizeof *number);
    number[RESTART] = (double)scaling->restart;
    gsai_snapshot_vector(snapshot, "contest", GSAI_F64, number, SCALING);
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

static gsa_status add_optional(gsai_snapshot *snapshot, const gsa_state *state, gsa_error *error)
{
    gsai_snapshot_totals(snapshot, state);
    if (state->class_sums.n > 0)
        gsai_snapshot_vector(snapshot, "class_sums", GSAI_F64, state->class_sums.at, state->class_sums.n);
    if (state->n_lineage > 0)
        gsai_snapshot_vector(snapshot, "ancestors", GSAI_U64, state->lineage, state->n_lineage);
    if (state->loss && state->loss->has_width)
        gsai_snapshot_vector(snapshot, "residuals", GSAI_F64, &state->residuals, RESIDUALS);
    if (state->best_checkpoint.weight)
        GSA_TRY(add_best(snapshot, &state->best_checkpoint, error));
    return state->group.n_rows > 0 ? gsai_snapshot_group(snapshot, state, error) : GSA_OK;
}

static gsa_status describe(gsai_snapshot *snapshot, const gsa_state *state, gsa_error *error)
{
    const gsai_scaling *scaling = state->scaling;
    add_notes(snapshot, state);
    GSA_TRY(add_numbers(snapshot, state, error));
    GSA_TRY(gsai_snapshot_labels(snapshot, &state->labels, error));
    if (state->loss)
        GSA_TRY(gsai_snapshot_tables(snapshot, &state->table, scaling ? &scaling->table : NULL, error));
    if (scaling)
        GSA_TRY(add_scaling(snapshot, scaling, error));
    gsai_snapshot_schema(snapshot, state->schema);
    gsai_snapshot_names(snapshot, &state->names);
    GSA_TRY(add_optional(snapshot, state, error));
    return state->sample.n > 0 ? gsai_snapshot_sample(snapshot, &state->sample, error) : GSA_OK;
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
static const gsa_state *header_of(gsai_snapshot *snapshot, const gsa_state *copy, const gsa_state *base)
{
    gsa_state *header = gsai_snapshot_alloc(snapshot, 1, sizeof *header);
    gsai_column *room = gsai_snapshot_alloc(snapshot, copy->centre.n + 1, sizeof *room);
    gsai_held_row **rows = gsai_snapshot_alloc(snapshot, copy->sample.n + 1, sizeof *rows);
    if (!header || !room || !rows)
        return NULL;
    *header = *copy;
    header->table.n_slots = copy->table.n_slots > 0 ? 1 : 0;
    header->prior.n = copy->prior.n > 0 ? 1 : 0;
    header->best_checkpoint = (gsai_best_checkpoint){0};
    header->scaling = NULL;
    header->centre = columns_since(&copy->centre, &base->centre, room);
    header->sample = rows_since(copy, base, rows);
    return header;
}

/* Whether restore would take these floats. */
static bool are_finite(const gsai_tensor *tensor, uint64_t from, size_t n, const void *elements)
{
    bool has_gaps = strcmp(tensor->name, "sums") == 0; /* NaN: there is none */
    size_t n_bad = 0;
    for (size_t i = 0; i < n; i++) {
        bool is_gap = has_gaps && sums[from + i].range == ANY;
        double x = tensor->dtype == GSAI_F32 ? (double)((const float *)elements)[i] : ((const double *)elements)[i];
        n_bad += !isfinite(x) && !is_gap;
    }
    return n_bad == 0;
}

/* A state with numbers that are not finite would be written, and could never be read. */
static gsa_status check_finite(const gsai_bundle *bundle, gsa_error *error)
{
    double room[512];
    for (size_t t = 0; t < bundle->n_tensors; t++) {
        const gsai_tensor *tensor = &bundle->tensors[t];
        bool is_float = tensor->dtype == GSAI_F32 || tensor->dtype == GSAI_F64;
        uint64_t len = is_float ? gsai_tensor_len(tensor) : 0;
        size_t size = gsai_dtype_size(tensor->dtype);
        for (uint64_t from = 0; from < len; from += 512) {
            size_t n = len - from < 512 ? (size_t)(len - from) : 512;
            if (!tensor->data)
                tensor->fill(tensor->ctx, from, n, room);
            if (!are_finite(tensor, from, n, tensor->data ? (const char *)tensor->data + from * size : (char *)room))
                return gsai_fail(error, GSA_DIVERGED,
                                 "the state has numbers in '%s' that are no longer finite, so that it could not be "
                                 "loaded: scale features and labels to a similar range",
                                 tensor->name);
        }
    }
    return GSA_OK;
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
        status = check_finite(&snapshot->bundle, error);
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

gsa_status gsai_state_snapshot_delta_header(const gsa_state *copy, const gsa_state *base, gsai_snapshot **out,
                                            gsa_error *error)
{
    if (copy->group.n_rows > 0)
        return gsai_fail(error, GSA_ARGUMENT, "rows still wait for their group: gsa_state_close_group learns them");
    return snapshot_of(copy, base, out, error);
}

/* ---- back -------------------------------------------------------------------------------------------------------- */

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

static gsa_status restore_numbers(gsa_state *state, const gsai_loss *loss, const gsai_bundle *bundle, gsa_error *error)
{
    const gsai_tensor *found_counts, *found_sums;
    GSA_TRY(gsai_bundle_need(bundle, "counts", GSAI_U64, COUNTS, &found_counts, error));
    GSA_TRY(gsai_bundle_need(bundle, "sums", GSAI_F64, SUMS, &found_sums, error));
    const uint64_t *count = found_counts->data;
    const double *sum = found_sums->data;
    for (size_t i = 0; i < COUNTS; i++)
        memcpy((char *)state + counts[i].at, &count[i], sizeof *count);
    for (size_t i = 0; i < SUMS; i++) {
        if (!isfinite(sum[i]) && sums[i].range != ANY)
            return gsai_fail(error, GSA_FORMAT, "cannot load the state: the %s is not a finite number", sums[i].name);
        memcpy((char *)state + sums[i].at, &sum[i], sizeof *sum);
    }
    return check_numbers(state, loss, GSA_FORMAT, "load", error);
}

static gsa_status restore_table(gsa_state *state, const gsai_loss *loss, const gsai_bundle *bundle, gsa_error *error)
{
    size_t n_outputs = gsai_loss_outputs(loss, state->labels.n), n_slots;
    GSA_TRY(gsai_table_shape(bundle, n_outputs, &n_slots, error));
    if (n_slots == 0 || state->labels.n > loss->max_labels ||
        gsai_class_weight_check(&state->params, loss, NULL) != GSA_OK)
        return gsai_fail(error, GSA_FORMAT, "the weights do not fit %zu labels and %s loss", state->labels.n,
                         gsai_loss_name(loss));
    GSA_TRY(gsai_state_decide(state, loss, error));
    GSA_TRY(gsai_table_grow(&state->table, n_slots, &state->env, error));
    GSA_TRY(gsai_weights_restore(&state->table, "weight", "average", bundle, error));
    return gsai_counts_restore(&state->table, state->n_counted, bundle, error);
}

static gsa_status restore_scaling(gsa_state *state, const gsai_bundle *bundle, gsa_error *error)
{
    const gsai_tensor *numbers;
    GSA_TRY(gsai_bundle_may_have(bundle, "contest", GSAI_F64, SCALING, &numbers, error));
    if (!numbers)
        return GSA_OK;
    if (!state->loss)
        return gsai_fail(error, GSA_FORMAT, "a choice of scaling before there is anything to learn");
    const double *number = numbers->data;
    for (int i = 0; i < SCALING; i++)
        if (!isfinite(number[i]) || (i == RESTART && !gsai_is_whole(number[i], 0x1p40)))
            return gsai_fail(error, GSA_FORMAT, "number %d of the choice of scaling is out of range", i);
    GSA_TRY(gsai_scaling_resume(state, error));
    for (int i = 0; i < SCALING; i++)
        memcpy((char *)state->scaling + scaling_numbers[i], &number[i], sizeof *number);
    state->scaling->restart = (uint64_t)number[RESTART];
    return gsai_weights_restore(&state->scaling->table, "rival.weight", "rival.average", bundle, error);
}

static gsa_status restore_class_sums(gsa_state *state, const gsai_bundle *bundle, gsa_error *error)
{
    const gsai_tensor *found;
    if (!gsai_params_balance(&state->params))
        return GSA_OK;
    GSA_TRY(gsai_bundle_may_have(bundle, "class_sums", GSAI_F64, GSAI_ANY_LEN, &found, error));
    if (!found)
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
    GSA_TRY(gsai_bundle_may_have(bundle, "ancestors", GSAI_U64, GSAI_ANY_LEN, &found, error));
    if (!found)
        return GSA_OK;
    size_t n = (size_t)gsai_tensor_len(found);
    const uint64_t *run = found->data;
    for (size_t i = 1; i < n; i++)
        if (run[i] < run[i - 1]) /* equal: a run that started from a run on the same rows */
            return gsai_fail(error, GSA_FORMAT, "the origins of the state are out of order");
    return gsai_lineage_add_all(state, run, n, error);
}

static gsa_status restore_residuals(gsa_state *state, const gsai_bundle *bundle, gsa_error *error)
{
    const gsai_tensor *found;
    if (!(state->loss && state->loss->has_width))
        return GSA_OK;
    GSA_TRY(gsai_bundle_need(bundle, "residuals", GSAI_F64, RESIDUALS, &found, error));
    const double *number = found->data;
    for (size_t i = 0; i < RESIDUALS; i++)
        if (!(number[i] >= 0) || !isfinite(number[i]))
            return gsai_fail(error, GSA_FORMAT, "a sum of residuals is out of range");
    memcpy(&state->residuals, number, sizeof state->residuals);
    return GSA_OK;
}

static gsa_status restore_best(gsa_state *state, const gsai_bundle *bundle, gsa_error *error)
{
    const gsai_tensor *numbers, *weights;
    GSA_TRY(gsai_bundle_may_have(bundle, "best.numbers", GSAI_F64, BEST, &numbers, error));
    if (!numbers)
        return GSA_OK;
    GSA_TRY(gsai_bundle_need(bundle, "best.weight", GSAI_F32, GSAI_ANY_LEN, &weights, error));
    const double *number = numbers->data;
    const float *weight = weights->data;
    uint64_t n = gsai_tensor_len(weights);
    if (!isfinite(number[BEST_LOSS]) ||
        !gsai_is_whole(number[BEST_PASS], 0x1p52 + 1) || /* one more than passes ended */
        !gsai_is_whole(number[BEST_SLOTS], (double)state->table.n_slots) ||
        !gsai_is_whole(number[BEST_OUTPUTS], (double)state->table.n_outputs) ||
        number[BEST_SLOTS] * number[BEST_OUTPUTS] != (double)n)
        return gsai_fail(error, GSA_FORMAT, "the best weights do not fit the state");
    for (uint64_t i = 0; i < n; i++)
        if (!isfinite(weight[i]))
            return gsai_fail(error, GSA_FORMAT, "a weight of the best is not finite");
    float *copy = gsai_copy(&state->env, weight, (size_t)n, sizeof *weight);
    if (!copy)
        return gsai_fail_memory(&state->env, error, "no memory for the best weights");
    state->best_checkpoint = (gsai_best_checkpoint){copy, (size_t)number[BEST_SLOTS], (size_t)number[BEST_OUTPUTS],
                                                    (uint64_t)number[BEST_PASS], number[BEST_LOSS]};
    return GSA_OK;
}

static gsa_status restore_all(gsa_state *state, const gsai_loss *loss, const gsai_bundle *bundle, gsa_error *error)
{
    GSA_TRY(gsai_labels_restore(&state->labels, bundle, error));
    GSA_TRY(restore_numbers(state, loss, bundle, error));
    /* Classes of a sample could not be checked against a loss that is decided later. */
    if (!loss && (state->labels.n > 0 || gsai_bundle_tensor(bundle, "sample.hash")))
        return gsai_fail(error, GSA_FORMAT, "there are labels or rows, but the loss is not decided");
    if (loss)
        GSA_TRY(restore_table(state, loss, bundle, error));
    GSA_TRY(restore_scaling(state, bundle, error));
    GSA_TRY(gsai_schema_restore(&state->schema, bundle, &state->env, error));
    GSA_TRY(gsai_names_restore(&state->names, bundle, &state->env, error));
    GSA_TRY(gsai_totals_restore(state, bundle, error));
    GSA_TRY(restore_class_sums(state, bundle, error));
    GSA_TRY(restore_lineage(state, bundle, error));
    GSA_TRY(restore_residuals(state, bundle, error));
    GSA_TRY(restore_best(state, bundle, error));
    GSA_TRY(gsai_group_restore(state, bundle, error));
    return gsai_sample_restore(state, bundle, error);
}

gsa_status gsai_state_restore(const gsai_bundle *bundle, const gsa_env *env, gsa_state **out, gsa_error *error)
{
    gsai_params params;
    const gsai_loss *loss;
    gsa_state *state;
    GSA_TRY(gsai_bundle_check(bundle, FORMAT, error));
    GSA_TRY(restore_params(&params, bundle, error));
    GSA_TRY(gsai_bundle_loss(bundle, "learns", true, &loss, error));
    GSA_TRY(gsai_state_create(&params, env, &state, error));
    gsa_status status = restore_all(state, loss, bundle, error);
    if (status == GSA_OK)
        *out = state;
    else
        gsa_state_free(state);
    return status;
}
