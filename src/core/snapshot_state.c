/* States as bundles: everything a run needs to go on. The format is specified in docs/formats/model.md. */
#include "core/schema.h"
#include "core/snapshot_optional.h"
#include "core/snapshot_sample.h"
#include "core/snapshot_table.h"
#include "core/state.h"

#include "base/error.h"
#include "base/memory.h"

#include <math.h>
#include <string.h>

#define FORMAT "greedystep.state"
/* Far beyond any run, and far enough from 2^64 that counts can be added up and doubled. */
#define COUNT_MOST (UINT64_C(1) << 60)

/* Numbers of a state that are not tables, in the order of the tensors "counts" and "sums". */
enum {
    N_ROWS,
    N_COUNTED,
    CLOCK_NOW,
    CLOCK_FIRST,
    CLOCK_RESTART,
    PASS,
    PASS_ROWS,
    ORIGIN_HASH,
    ORIGIN_ROWS,
    ORIGIN_CLOSED,
    N_MERGED,
    ROWS_BEHIND,
    UNITS_FREE,
    CLOCK_PACE,
    COUNTS
};
/* And of a contest that is open, "contest". */
enum { RIVAL_SUM, RIVAL_WEIGHT, OWN_LOSS, RIVAL_LOSS, OWN_EARLIER, RIVAL_EARLIER, RESTART, CONTEST };
enum {
    STEP_SUM,
    STEP_WEIGHT,
    LOSS_SUM,
    LOSS_WEIGHT,
    LAST_PASS_LOSS,
    SQUARED_ERROR,
    SQUARED_LABEL,
    HELD_OUT_LOSS,
    LATE_LOSS,
    LATE_WEIGHT,
    EARLIER_LOSS,
    EARLIER_WEIGHT,
    SUMS
};

/* ---- there ------------------------------------------------------------------------------------------------------- */

static gsa_status add_numbers(gsa__snapshot *snapshot, const gsa_state *state, gsa_error *error)
{
    uint64_t *count = gsa__snapshot_alloc(snapshot, COUNTS, sizeof *count);
    double *sum = gsa__snapshot_alloc(snapshot, SUMS, sizeof *sum);
    if (!count || !sum)
        return gsa__fail(error, GSA_MEMORY, "no memory to describe a state");
    count[N_ROWS] = state->n_rows;
    count[N_COUNTED] = state->n_counted;
    count[CLOCK_NOW] = state->clock.now;
    count[CLOCK_FIRST] = state->clock.first;
    count[CLOCK_RESTART] = state->clock.restart;
    count[CLOCK_PACE] = state->clock.pace;
    count[PASS] = state->position.pass;
    count[PASS_ROWS] = state->position.pass_rows;
    count[ORIGIN_HASH] = state->origin.hash;
    count[ORIGIN_ROWS] = state->origin.n_rows;
    count[ORIGIN_CLOSED] = state->origin.closed;
    count[N_MERGED] = state->n_merged;
    count[ROWS_BEHIND] = state->rows_behind;
    count[UNITS_FREE] = state->units_free;
    sum[STEP_SUM] = state->step.sum;
    sum[STEP_WEIGHT] = state->step.weight;
    sum[LOSS_SUM] = state->position.loss_sum;
    sum[LOSS_WEIGHT] = state->position.loss_weight;
    sum[LAST_PASS_LOSS] = state->position.last_pass_loss;
    sum[HELD_OUT_LOSS] = state->position.held_out_loss;
    sum[LATE_LOSS] = state->position.late[0];
    sum[LATE_WEIGHT] = state->position.late[1];
    sum[EARLIER_LOSS] = state->position.earlier[0];
    sum[EARLIER_WEIGHT] = state->position.earlier[1];
    sum[SQUARED_ERROR] = state->squared_error;
    sum[SQUARED_LABEL] = state->squared_label;
    gsa__snapshot_vector(snapshot, "counts", GSA__U64, count, COUNTS);
    gsa__snapshot_vector(snapshot, "sums", GSA__F64, sum, SUMS);
    return GSA_OK;
}

static gsa_status add_contest(gsa__snapshot *snapshot, const gsa__contest *contest, gsa_error *error)
{
    double *number = gsa__snapshot_alloc(snapshot, CONTEST, sizeof *number);
    if (!number)
        return gsa__fail(error, GSA_MEMORY, "no memory to describe a contest");
    number[RIVAL_SUM] = contest->step.sum;
    number[RIVAL_WEIGHT] = contest->step.weight;
    number[OWN_LOSS] = contest->loss[0];
    number[RIVAL_LOSS] = contest->loss[1];
    number[OWN_EARLIER] = contest->earlier_loss[0];
    number[RIVAL_EARLIER] = contest->earlier_loss[1];
    number[RESTART] = (double)contest->restart;
    gsa__snapshot_vector(snapshot, "contest", GSA__F64, number, CONTEST);
    return GSA_OK;
}

static void add_notes(gsa__snapshot *snapshot, const gsa_state *state)
{
    gsa__snapshot_note(snapshot, "format", FORMAT);
    gsa__snapshot_note(snapshot, "version", GSA__FORMAT_VERSION);
    gsa__snapshot_note(snapshot, "learns", gsa__loss_name(state->loss));
    for (int id = 0; id < GSA__PARAMS; id++) {
        const gsa_param *param = gsa_param_at((size_t)id);
        bool is_new = !gsa__param_is_late((gsa__param_id)id) || strcmp(state->params.text[id], param->initial) != 0;
        if (gsa__param_decides_result((gsa__param_id)id) && is_new)
            gsa__snapshot_note(snapshot, param->name, state->params.text[id]);
    }
}

static gsa_status describe(gsa__snapshot *snapshot, const gsa_state *state, gsa_error *error)
{
    add_notes(snapshot, state);
    gsa_status status = add_numbers(snapshot, state, error);
    if (status == GSA_OK)
        status = gsa__snapshot_labels(snapshot, &state->labels, error);
    if (status == GSA_OK && state->loss != GSA__UNDECIDED)
        status = gsa__tables_snapshot(snapshot, &state->table, state->contest ? &state->contest->table : NULL, error);
    if (status == GSA_OK && state->contest)
        status = add_contest(snapshot, state->contest, error);
    gsa__schema_snapshot(snapshot, state->schema);
    gsa__names_snapshot(snapshot, &state->names);
    if (status == GSA_OK)
        status = gsa__optional_snapshot(snapshot, state, error);
    if (status == GSA_OK && state->sample.n > 0)
        status = gsa__sample_snapshot(snapshot, &state->sample, error);
    return status;
}

/* Columns that have gone on since the base; the others are nothing, which a merge passes over. */
static gsa__centre columns_since(const gsa__centre *now, const gsa__centre *before, gsa__column *room)
{
    gsa__centre since = {.at = room};
    for (size_t slot = 0; slot < now->n; slot++)
        if (now->at[slot].n > (slot < before->n ? before->at[slot].n : 0)) {
            room[slot] = now->at[slot];
            since.n = slot + 1;
        }
    return since;
}

/* Held-out rows that the base has not, or has seen less often; after the first pass there are none. */
static gsa__sample rows_since(const gsa_state *now, const gsa_state *before, gsa__held_row **room)
{
    gsa__sample since = {.at = room};
    for (size_t i = 0; i < now->sample.n && now->position.pass == 0; i++) {
        const gsa__held_row *held = now->sample.at[i], *known = gsa__sample_find(&before->sample, held->hash);
        if (!known || known->seen != held->seen)
            room[since.n++] = now->sample.at[i];
    }
    return since;
}

/* A view with the intercept only, and what is not the base's; NULL if there is no memory. */
static const gsa_state *head_of(gsa__snapshot *snapshot, const gsa_state *copy, const gsa_state *base)
{
    gsa_state *head = gsa__snapshot_alloc(snapshot, 1, sizeof *head);
    gsa__column *room = gsa__snapshot_alloc(snapshot, copy->centre.n + 1, sizeof *room);
    gsa__held_row **rows = gsa__snapshot_alloc(snapshot, copy->sample.n + 1, sizeof *rows);
    if (!head || !room || !rows)
        return NULL;
    *head = *copy;
    head->table.n_slots = copy->table.n_slots > 0 ? 1 : 0;
    head->carried.n = copy->carried.n > 0 ? 1 : 0;
    head->best = (gsa__best){0};
    head->contest = NULL;
    head->centre = columns_since(&copy->centre, &base->centre, room);
    if (gsa__state_has_sample(base))
        head->sample = rows_since(copy, base, rows);
    return head;
}

/* Of elements of floats: whether restore would take them. */
static bool are_finite(const gsa__tensor *tensor, uint64_t from, size_t n, const void *elements)
{
    bool has_gaps = strcmp(tensor->name, "sums") == 0; /* NaN: there is none */
    size_t n_bad = 0;
    for (size_t i = 0; i < n; i++) {
        bool is_gap = has_gaps && (from + i == LAST_PASS_LOSS || from + i == HELD_OUT_LOSS);
        double x = tensor->dtype == GSA__F32 ? (double)((const float *)elements)[i] : ((const double *)elements)[i];
        n_bad += !isfinite(x) && !is_gap;
    }
    return n_bad == 0;
}

/* A state with numbers that are not finite would be written, and could never be read. */
static gsa_status check_finite(const gsa__bundle *bundle, gsa_error *error)
{
    double room[512];
    for (size_t t = 0; t < bundle->n_tensors; t++) {
        const gsa__tensor *tensor = &bundle->tensors[t];
        bool is_float = tensor->dtype == GSA__F32 || tensor->dtype == GSA__F64;
        uint64_t len = is_float ? gsa__tensor_len(tensor) : 0;
        size_t size = gsa__dtype_size(tensor->dtype);
        for (uint64_t from = 0; from < len; from += 512) {
            size_t n = len - from < 512 ? (size_t)(len - from) : 512;
            if (!tensor->data)
                tensor->fill(tensor->ctx, from, n, room);
            if (!are_finite(tensor, from, n, tensor->data ? (const char *)tensor->data + from * size : (char *)room))
                return gsa__fail(error, GSA_DIVERGED,
                                 "the state has numbers in '%s' that are no longer finite, so that it could not be "
                                 "loaded: scale features and labels to a similar range",
                                 tensor->name);
        }
    }
    return GSA_OK;
}

/* base: of the head only. */
static gsa_status snapshot_of(const gsa_state *state, const gsa_state *base, gsa__snapshot **out, gsa_error *error)
{
    gsa__snapshot *snapshot;
    gsa_status status = gsa__snapshot_new(&state->env, &snapshot, error);
    if (status != GSA_OK)
        return status;
    const gsa_state *described = base ? head_of(snapshot, state, base) : state;
    status = described ? describe(snapshot, described, error)
                       : gsa__fail(error, GSA_MEMORY, "no memory to describe a state");
    if (status == GSA_OK)
        status = check_finite(&snapshot->bundle, error);
    if (status == GSA_OK)
        *out = snapshot;
    else
        gsa__snapshot_free(snapshot);
    return status;
}

gsa_status gsa__state_snapshot(const gsa_state *state, gsa__snapshot **out, gsa_error *error)
{
    return snapshot_of(state, NULL, out, error);
}

gsa_status gsa__state_snapshot_head(const gsa_state *copy, const gsa_state *base, gsa__snapshot **out, gsa_error *error)
{
    return snapshot_of(copy, base, out, error);
}

/* ---- back -------------------------------------------------------------------------------------------------------- */

static gsa_status restore_params(gsa__params *params, const gsa__bundle *bundle, gsa_error *error)
{
    gsa_status status = GSA_OK;
    gsa__params_init(params);
    for (int id = 0; id < GSA__PARAMS && status == GSA_OK; id++) {
        const char *name = gsa_param_at((size_t)id)->name, *text;
        if (!gsa__param_decides_result((gsa__param_id)id) ||
            (gsa__param_is_late((gsa__param_id)id) && !gsa__bundle_note(bundle, name)))
            continue;
        status = gsa__bundle_need_note(bundle, name, &text, error);
        if (status == GSA_OK && gsa__params_set(params, name, text, error) != GSA_OK)
            status = GSA_FORMAT;
    }
    if (status != GSA_OK && error)
        error->status = status;
    return status;
}

static gsa_status restore_loss(const gsa__bundle *bundle, gsa__loss *out, gsa_error *error)
{
    const char *text;
    gsa_status status = gsa__bundle_need_note(bundle, "learns", &text, error);
    if (status != GSA_OK)
        return status;
    for (int loss = 0; loss < GSA__LOSSES; loss++)
        if (strcmp(text, gsa__loss_name((gsa__loss)loss)) == 0) {
            *out = (gsa__loss)loss;
            return GSA_OK;
        }
    return gsa__fail(error, GSA_FORMAT, "unknown loss '%.40s'", text);
}

static gsa_status restore_numbers(gsa_state *state, const gsa__bundle *bundle, gsa_error *error)
{
    const gsa__tensor *counts, *sums;
    gsa_status status = gsa__bundle_need(bundle, "counts", GSA__U64, COUNTS, &counts, error);
    if (status == GSA_OK)
        status = gsa__bundle_need(bundle, "sums", GSA__F64, SUMS, &sums, error);
    if (status != GSA_OK)
        return status;
    const uint64_t *count = counts->data;
    const double *sum = sums->data;
    for (int i = 0; i < COUNTS; i++)
        if (count[i] > COUNT_MOST && i != ORIGIN_HASH && i != CLOCK_RESTART)
            return gsa__fail(error, GSA_FORMAT, "count %d is beyond any run", i);
    for (int i = 0; i < SUMS; i++)
        if (!isfinite(sum[i]) && i != LAST_PASS_LOSS && i != HELD_OUT_LOSS)
            return gsa__fail(error, GSA_FORMAT, "sum %d is not a finite number", i);
    state->n_rows = count[N_ROWS];
    state->n_counted = count[N_COUNTED];
    state->clock = (gsa__clock){count[CLOCK_NOW], count[CLOCK_FIRST], count[CLOCK_RESTART], count[CLOCK_PACE]};
    state->position.pass = count[PASS];
    state->position.pass_rows = count[PASS_ROWS];
    state->origin = (gsa__origin){count[ORIGIN_HASH], count[ORIGIN_ROWS], count[ORIGIN_CLOSED]};
    state->n_merged = count[N_MERGED];
    state->rows_behind = count[ROWS_BEHIND];
    state->units_free = count[UNITS_FREE] != 0;
    state->step = (gsa__step_mean){sum[STEP_SUM], sum[STEP_WEIGHT]};
    state->position.loss_sum = sum[LOSS_SUM];
    state->position.loss_weight = sum[LOSS_WEIGHT];
    state->position.last_pass_loss = sum[LAST_PASS_LOSS];
    state->position.held_out_loss = sum[HELD_OUT_LOSS];
    for (int i = 0; i < 2; i++) {
        state->position.late[i] = sum[LATE_LOSS + i];
        state->position.earlier[i] = sum[EARLIER_LOSS + i];
    }
    state->squared_error = sum[SQUARED_ERROR];
    state->squared_label = sum[SQUARED_LABEL];
    if (state->clock.restart <= state->clock.now || state->clock.first > state->clock.now || state->clock.pace == 0 ||
        state->clock.pace > UINT32_MAX || state->origin.n_rows > GSA__ORIGIN_ROWS || state->n_counted > UINT32_MAX)
        return gsa__fail(error, GSA_FORMAT, "the clocks of the state contradict each other");
    return GSA_OK;
}

static gsa_status restore_table(gsa_state *state, gsa__loss loss, const gsa__bundle *bundle, gsa_error *error)
{
    size_t n_outputs = gsa__loss_outputs(loss, state->labels.n), n_slots;
    gsa_status status = gsa__table_shape(bundle, n_outputs, &n_slots, error);
    if (status != GSA_OK)
        return status;
    if (n_slots == 0 || (!gsa__loss_has_classes(loss) && state->labels.n > 0) ||
        (loss == GSA__LOGISTIC && state->labels.n > 2) || gsa__class_weight_check(&state->params, loss, NULL) != GSA_OK)
        return gsa__fail(error, GSA_FORMAT, "the weights do not fit %zu labels and %s loss", state->labels.n,
                         gsa__loss_name(loss));
    status = gsa__state_decide(state, loss, error);
    if (status == GSA_OK)
        status = gsa__table_grow(&state->table, n_slots, &state->env, error);
    if (status == GSA_OK)
        status = gsa__weights_restore(&state->table, "weight", "average", bundle, error);
    if (status == GSA_OK)
        status = gsa__counts_restore(&state->table, state->n_counted, bundle, error);
    return status;
}

static gsa_status restore_contest(gsa_state *state, const gsa__bundle *bundle, gsa_error *error)
{
    const gsa__tensor *numbers;
    if (!gsa__bundle_tensor(bundle, "contest"))
        return GSA_OK;
    gsa_status status = gsa__bundle_need(bundle, "contest", GSA__F64, CONTEST, &numbers, error);
    if (status == GSA_OK && state->loss == GSA__UNDECIDED)
        status = gsa__fail(error, GSA_FORMAT, "a contest before there is anything to learn");
    if (status != GSA_OK)
        return status;
    const double *number = numbers->data;
    for (int i = 0; i < CONTEST; i++)
        if (!isfinite(number[i]) || (i == RESTART && !(number[i] >= 1 && number[i] <= 0x1p40)))
            return gsa__fail(error, GSA_FORMAT, "number %d of the contest is out of range", i);
    status = gsa__contest_resume(state, error);
    if (status != GSA_OK)
        return status;
    gsa__contest *contest = state->contest;
    contest->step = (gsa__step_mean){number[RIVAL_SUM], number[RIVAL_WEIGHT]};
    contest->loss[0] = number[OWN_LOSS];
    contest->loss[1] = number[RIVAL_LOSS];
    contest->earlier_loss[0] = number[OWN_EARLIER];
    contest->earlier_loss[1] = number[RIVAL_EARLIER];
    contest->restart = (uint64_t)number[RESTART];
    return gsa__weights_restore(&contest->table, "rival.weight", "rival.average", bundle, error);
}

static gsa_status restore_all(gsa_state *state, gsa__loss loss, const gsa__bundle *bundle, gsa_error *error)
{
    gsa_status status = gsa__labels_restore(&state->labels, bundle, error);
    if (status == GSA_OK)
        status = restore_numbers(state, bundle, error);
    /* Classes of a sample could not be checked against a loss that is decided later. */
    if (status == GSA_OK && loss == GSA__UNDECIDED &&
        (state->labels.n > 0 || gsa__bundle_tensor(bundle, "sample.hash")))
        status = gsa__fail(error, GSA_FORMAT, "there are labels or rows, but the loss is not decided");
    if (status == GSA_OK && loss != GSA__UNDECIDED)
        status = restore_table(state, loss, bundle, error);
    if (status == GSA_OK)
        status = restore_contest(state, bundle, error);
    if (status == GSA_OK)
        status = gsa__schema_restore(&state->schema, bundle, &state->env, error);
    if (status == GSA_OK)
        status = gsa__names_restore(&state->names, bundle, &state->env, error);
    if (status == GSA_OK)
        status = gsa__optional_restore(state, bundle, error);
    if (status == GSA_OK)
        status = gsa__sample_restore(state, bundle, error);
    return status;
}

gsa_status gsa__state_restore(const gsa__bundle *bundle, const gsa_env *env, gsa_state **out, gsa_error *error)
{
    gsa__params params;
    gsa__loss loss = GSA__UNDECIDED;
    gsa_state *state = NULL;
    gsa_status status = gsa__bundle_check(bundle, FORMAT, error);
    if (status == GSA_OK)
        status = restore_params(&params, bundle, error);
    if (status == GSA_OK)
        status = restore_loss(bundle, &loss, error);
    if (status == GSA_OK)
        status = gsa__state_create(&params, env, &state, error);
    if (status == GSA_OK)
        status = restore_all(state, loss, bundle, error);
    if (status != GSA_OK) {
        gsa_state_free(state);
        return status;
    }
    *out = state;
    return GSA_OK;
}
