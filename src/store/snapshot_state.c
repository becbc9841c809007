/* States as bundles: everything a run needs to go on. The format is specified in docs/formats/model.md. */
#include "store/snapshot_parts.h"

#include "base/error.h"
#include "base/memory.h"

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
    uint64_t most;
    const char *name;
} stored_count;

static const stored_count counts[] = {
    {offsetof(gsa_state, n_rows), MAX_COUNT, "rows learned"},
    {offsetof(gsa_state, n_counted), INT32_MAX, "rows since the last fold"}, /* counts of a table have 31 bits */
    {offsetof(gsa_state, clock.now), MAX_COUNT, "ticks of the clock"},
    {offsetof(gsa_state, clock.first), MAX_COUNT, "ticks before the average"},
    {offsetof(gsa_state, clock.restart), UINT64_MAX, "ticks to the next average"},
    {offsetof(gsa_state, position.pass), MAX_COUNT, "passes"},
    {offsetof(gsa_state, position.pass_rows), MAX_COUNT, "rows of the pass"},
    {offsetof(gsa_state, origin.hash), UINT64_MAX, "hash of the first rows"},
    {offsetof(gsa_state, origin.n_rows), GSAI_RUN_ID_ROWS, "first rows"},
    {offsetof(gsa_state, origin.closed), 1, "ends of the first rows"},
    {offsetof(gsa_state, n_merged), MAX_COUNT, "runs merged"},
    {offsetof(gsa_state, rows_behind), MAX_COUNT, "rows behind the counts of features"},
    {offsetof(gsa_state, units_free), 1, "choices of units"},
    {offsetof(gsa_state, clock.pace), UINT32_MAX, "ticks per row"},
    {offsetof(gsa_state, sample.below), UINT64_MAX, "hashes that are held out"},
    {offsetof(gsa_state, given.n_rows), MAX_COUNT, "rows with weights"},
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
    {offsetof(gsa_state, given.sum), NOT_NEGATIVE, "sum of the weights of rows"},
    {offsetof(gsa_state, label_offset.at), FINITE, "origin of labels"},
    {offsetof(gsa_state, label_offset.mean), FINITE, "mean of the first labels"},
    {offsetof(gsa_state, label_offset.weight), NOT_NEGATIVE, "weight of the first labels"},
    {offsetof(gsa_state, position.constant_loss), ANY, "loss of the best constant"},
    {offsetof(gsa_state, given.most), NOT_NEGATIVE, "largest weight of a row"},
};

enum { COUNTS = sizeof counts / sizeof *counts, SUMS = sizeof sums / sizeof *sums };

/* Each number for itself; whether sums are finite is asked elsewhere. */
static gsa_status check_ranges(const gsa_state *state, gsa_status status, const char *verb, gsa_error *error)
{
    for (size_t i = 0; i < COUNTS; i++) {
        uint64_t count;
        memcpy(&count, (const char *)state + counts[i].at, sizeof count);
        if (count > counts[i].most)
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

/* What is saved can be loaded: both ask for this. */
static gsa_status check_numbers(const gsa_state *state, const gsai_loss *loss, gsa_status status, const char *verb,
                                gsa_error *error)
{
    const gsai_averaging *clock = &state->clock;
    const gsai_label_offset *origin = &state->label_offset;
    gsa_status in_range = check_ranges(state, status, verb, error);
    if (in_range != GSA_OK)
        return in_range;
    if (clock->restart <= clock->now || clock->first > clock->now || clock->pace == 0)
        return gsai_fail(error, status, "cannot %s the state: its clocks contradict each other", verb);
    if (state->n_counted > state->rows_behind)
        return gsai_fail(error, status, "cannot %s the state: it counts features of more rows than it has met", verb);
    if (state->given.n_rows > 0 && state->given.sum == 0)
        return gsai_fail(error, status, "cannot %s the state: all of its rows have weight 0", verb);
    if (!(loss && loss->depends_on_residual) && (origin->at != 0 || origin->mean != 0 || origin->weight != 0))
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

static gsa_status describe(gsai_snapshot *snapshot, const gsa_state *state, gsa_error *error)
{
    add_notes(snapshot, state);
    gsa_status status = add_numbers(snapshot, state, error);
    if (status == GSA_OK)
        status = gsai_snapshot_labels(snapshot, &state->labels, error);
    if (status == GSA_OK && state->loss)
        status = gsai_tables_snapshot(snapshot, &state->table, state->contest ? &state->contest->table : NULL, error);
    if (status == GSA_OK && state->contest)
        status = gsai_scaling_snapshot(snapshot, state->contest, error);
    gsai_snapshot_schema(snapshot, state->schema);
    gsai_snapshot_names(snapshot, &state->names);
    if (status == GSA_OK)
        status = gsai_optional_snapshot(snapshot, state, error);
    if (status == GSA_OK && state->sample.n > 0)
        status = gsai_sample_snapshot(snapshot, &state->sample, error);
    return status;
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
static const gsa_state *head_of(gsai_snapshot *snapshot, const gsa_state *copy, const gsa_state *base)
{
    gsa_state *head = gsai_snapshot_alloc(snapshot, 1, sizeof *head);
    gsai_column *room = gsai_snapshot_alloc(snapshot, copy->centre.n + 1, sizeof *room);
    gsai_held_row **rows = gsai_snapshot_alloc(snapshot, copy->sample.n + 1, sizeof *rows);
    if (!head || !room || !rows)
        return NULL;
    *head = *copy;
    head->table.n_slots = copy->table.n_slots > 0 ? 1 : 0;
    head->carried.n = copy->carried.n > 0 ? 1 : 0;
    head->best = (gsai_best_checkpoint){0};
    head->contest = NULL;
    head->centre = columns_since(&copy->centre, &base->centre, room);
    head->sample = rows_since(copy, base, rows);
    return head;
}

/* Of elements of floats: whether restore would take them. */
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

/* base: of the head only. */
static gsa_status snapshot_of(const gsa_state *state, const gsa_state *base, gsai_snapshot **out, gsa_error *error)
{
    gsai_snapshot *snapshot;
    gsa_status status = gsai_snapshot_new(&state->env, &snapshot, error);
    if (status != GSA_OK)
        return status;
    const gsa_state *described = base ? head_of(snapshot, state, base) : state;
    status = described ? describe(snapshot, described, error)
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
    gsa_status status = gsai_bundle_need(bundle, "counts", GSAI_U64, COUNTS, &found_counts, error);
    if (status == GSA_OK)
        status = gsai_bundle_need(bundle, "sums", GSAI_F64, SUMS, &found_sums, error);
    if (status != GSA_OK)
        return status;
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
    gsa_status status = gsai_table_shape(bundle, n_outputs, &n_slots, error);
    if (status != GSA_OK)
        return status;
    if (n_slots == 0 || state->labels.n > loss->max_labels ||
        gsai_class_weight_check(&state->params, loss, NULL) != GSA_OK)
        return gsai_fail(error, GSA_FORMAT, "the weights do not fit %zu labels and %s loss", state->labels.n,
                         gsai_loss_name(loss));
    status = gsai_state_decide(state, loss, error);
    if (status == GSA_OK)
        status = gsai_table_grow(&state->table, n_slots, &state->env, error);
    if (status == GSA_OK)
        status = gsai_weights_restore(&state->table, "weight", "average", bundle, error);
    if (status == GSA_OK)
        status = gsai_counts_restore(&state->table, state->n_counted, bundle, error);
    return status;
}

static gsa_status restore_all(gsa_state *state, const gsai_loss *loss, const gsai_bundle *bundle, gsa_error *error)
{
    gsa_status status = gsai_labels_restore(&state->labels, bundle, error);
    if (status == GSA_OK)
        status = restore_numbers(state, loss, bundle, error);
    /* Classes of a sample could not be checked against a loss that is decided later. */
    if (status == GSA_OK && !loss && (state->labels.n > 0 || gsai_bundle_tensor(bundle, "sample.hash")))
        status = gsai_fail(error, GSA_FORMAT, "there are labels or rows, but the loss is not decided");
    if (status == GSA_OK && loss)
        status = restore_table(state, loss, bundle, error);
    if (status == GSA_OK)
        status = gsai_scaling_restore(state, bundle, error);
    if (status == GSA_OK)
        status = gsai_schema_restore(&state->schema, bundle, &state->env, error);
    if (status == GSA_OK)
        status = gsai_names_restore(&state->names, bundle, &state->env, error);
    if (status == GSA_OK)
        status = gsai_optional_restore(state, bundle, error);
    if (status == GSA_OK)
        status = gsai_sample_restore(state, bundle, error);
    return status;
}

gsa_status gsai_state_restore(const gsai_bundle *bundle, const gsa_env *env, gsa_state **out, gsa_error *error)
{
    gsai_params params;
    const gsai_loss *loss = NULL;
    gsa_state *state = NULL;
    gsa_status status = gsai_bundle_check(bundle, FORMAT, error);
    if (status == GSA_OK)
        status = restore_params(&params, bundle, error);
    if (status == GSA_OK)
        status = gsai_bundle_loss(bundle, "learns", true, &loss, error);
    if (status == GSA_OK)
        status = gsai_state_create(&params, env, &state, error);
    if (status == GSA_OK)
        status = restore_all(state, loss, bundle, error);
    if (status != GSA_OK) {
        gsa_state_free(state);
        return status;
    }
    *out = state;
    return GSA_OK;
}
