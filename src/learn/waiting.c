/* Rows that wait, as a part of a state. */
#include "learn/waiting.h"

#include "learn/inside.h"
#include "learn/learner.h"
#include "learn/prepare.h"
#include "learn/stored_rows.h"

#include "base/error.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

gsa_status gsai_waiting_new(gsai_solve_fn *solve, const gsai_env *env, gsai_waiting **out, gsa_error *error)
{
    gsai_waiting *waiting = gsai_alloc_zeroed(env, 1, sizeof *waiting);
    *out = waiting;
    GSAI_TRY_MEMORY(waiting, env, error, "no memory for rows that wait");
    waiting->env = *env;
    waiting->solve = solve;
    gsai_rows_init(&waiting->csr, 0, 0, &waiting->env);
    waiting->csr.without_places = true;
    return GSA_OK;
}

void gsai_waiting_free(gsai_waiting *waiting)
{
    if (!waiting)
        return;
    gsai_env env = waiting->env;
    gsai_rows_free(&waiting->csr);
    gsai_free(&env, waiting->hash);
    gsai_free(&env, waiting->seen);
    gsai_free(&env, waiting);
}

static gsa_status add_row(gsai_waiting *rows, const gsa_batch *from, size_t row, size_t class_number, double number,
                          uint64_t hash, gsa_error *error)
{
    gsai_rows *csr = &rows->csr;
    size_t at = csr->n_rows, n_before = csr->n_values;
    GSAI_TRY_MEMORY(gsai_reserve(&rows->env, &rows->hash, &rows->hash_capacity, at + 1, sizeof *rows->hash), &rows->env,
                    error, "no memory for %zu rows", at + 1);
    GSA_TRY(gsai_rows_append(csr, from, row, 1, false, NULL, error));
    csr->label[at] = number;
    csr->word[at] = (int32_t)class_number;
    rows->hash[at] = hash;
    size_t n = csr->n_values - n_before, end = csr->n_values; /* most often the features are those of the row before */
    bool is_alike = n <= n_before && memcmp(csr->index + n_before, csr->index + n_before - n, 4 * n) == 0;
    end -= n > 0 && rows->offset.loss && csr->index[end - 1] == rows->offset.feature;
    for (size_t i = n_before; i < end && !(is_alike && rows->highest < GSAI_MAX_COUNTED); i++) {
        uint32_t id = csr->index[i];
        uint64_t bit = UINT64_C(1) << id % 64;
        rows->highest = id > rows->highest ? id : rows->highest;
        if (id >= GSAI_MAX_COUNTED) {
            rows->n_features++;
            continue;
        }
        if (id / 64 >= rows->n_seen)
            GSAI_TRY_MEMORY(
                gsai_reserve(&rows->env, &rows->seen, &rows->seen_capacity, id / 64 + 1, sizeof *rows->seen),
                &rows->env, error, "no memory to count features");
        while (id / 64 >= rows->n_seen)
            rows->seen[rows->n_seen++] = 0;
        rows->n_features += !(rows->seen[id / 64] & bit);
        rows->seen[id / 64] |= bit;
    }
    return GSA_OK;
}

gsa_status gsai_waiting_copy(gsai_waiting *to, const gsai_waiting *from, size_t i, gsa_error *error)
{
    const gsa_batch rows = gsai_rows_view(&from->csr);
    to->offset = from->offset;
    return add_row(to, &rows, i, (size_t)from->csr.word[i], from->csr.label[i], from->hash[i], error);
}

gsa_status gsai_waiting_bend(const gsai_waiting *from, const gsai_basis *basis, gsai_waiting **out, gsa_error *error)
{
    gsai_bent bent = {0};
    gsa_status status = gsai_waiting_new(from->solve, &from->env, out, error);
    if (status == GSA_OK)
        (*out)->offset = from->offset;
    for (size_t i = 0; i < from->csr.n_rows && status == GSA_OK; i++) {
        gsa_batch row = gsai_rows_view(&from->csr);
        gsai_row entries = gsai_row_at(&row, i);
        status = gsai_basis_bend_row(basis, &bent, &from->env, &entries, error);
        if (status != GSA_OK)
            break;
        row = gsai_batch_slice(&row, i, 1);
        row.row_start = (const int64_t[]){0, (int64_t)entries.n};
        row.index = entries.index;
        row.value = entries.value;
        status = add_row(*out, &row, 0, (size_t)from->csr.word[i], from->csr.label[i], from->hash[i], error);
    }
    gsai_bent_release(&bent, &from->env);
    return status;
}

size_t gsai_waiting_next(const gsai_waiting *waiting, size_t id)
{
    for (size_t word = id / 64; waiting && word < waiting->n_seen; word++, id = 64 * word) {
        uint64_t bits = waiting->seen[word] >> id % 64;
        if (bits)
            return id + (size_t)__builtin_ctzll(bits);
    }
    size_t from = id > GSAI_MAX_COUNTED ? id : GSAI_MAX_COUNTED;
    return waiting && from <= waiting->highest ? from : SIZE_MAX;
}

gsai_held_by gsai_waiting_held_by(const gsai_waiting *waiting)
{
    const gsa_batch view = gsai_rows_view(&waiting->csr);
    return gsai_batch_held_by(&view);
}

uint64_t gsai_waiting_key(const gsai_waiting *waiting, size_t i)
{
    const gsa_batch view = {.group = waiting->csr.any_group ? waiting->csr.group : NULL,
                            .group_is_time = waiting->csr.group_is_time};
    return gsai_held_key(&view, i, waiting->hash[i]);
}

int gsai_waiting_compare_keys(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

gsa_status gsai_waiting_latest(const gsai_waiting *waiting, size_t n, uint64_t *below, gsa_error *error)
{
    size_t n_rows = waiting->csr.n_rows, i = n;
    uint64_t *key = gsai_alloc(&waiting->env, n_rows, sizeof *key);
    GSAI_TRY_MEMORY(key, &waiting->env, error, "no memory for the times of %zu rows", n_rows);
    for (size_t row = 0; row < n_rows; row++)
        key[row] = gsai_waiting_key(waiting, row);
    qsort(key, n_rows, sizeof *key, gsai_waiting_compare_keys);
    while (i < n_rows && key[i] == key[0])
        i++;
    *below = i < n_rows ? key[i] : 0;
    gsai_free(&waiting->env, key);
    return GSA_OK;
}

/* Returns a row as it came. */
static gsai_unlearned given_row(const gsai_waiting *waiting, size_t i)
{
    const gsai_rows *csr = &waiting->csr;
    size_t from = (size_t)csr->row_start[i], n = (size_t)csr->row_start[i + 1] - from;
    const gsai_row row = {n, csr->index + from, csr->all_ones ? NULL : csr->value + from};
    return (gsai_unlearned){row, (size_t)csr->word[i], csr->label[i], (double)csr->weight[i]};
}

gsai_unlearned gsai_waiting_at(const void *waiting, size_t i)
{
    const gsai_offset *offset = &((const gsai_waiting *)waiting)->offset;
    gsai_unlearned out = given_row(waiting, i);
    double o = gsai_offset_hide(offset, &out.row);
    out.number = gsai_offset_number(offset, o, out.number);
    out.weight = gsai_offset_weight(offset, o, out.weight);
    return out;
}

/* ---- rows of a state that wait ----------------------------------------------------------------------------------- */

bool gsai_state_gathers(const gsa_state *state)
{
    bool is_new = state->n_rows == 0 && state->group.n_rows == 0 && state->position.pass == 0;
    bool may_wait = state->params.value[GSAI_PARAM_method] != GSAI_METHOD_PAPER && !gsai_loss_is_custom(state->loss) &&
                    (!state->loss || state->loss->rows);
    return is_new && may_wait && !state->is_decided && gsai_sample_count(&state->sample) == 0;
}

bool gsai_state_is_full(const gsa_state *state)
{
    const gsai_rows *csr = state->waiting ? &state->waiting->csr : NULL;
    return csr && (csr->n_rows >= GSAI_MAX_WAITING || csr->n_values >= GSA_BLOCK_ENTRIES);
}

const gsai_waiting *gsai_state_waiting(const gsa_state *state)
{
    return state->waiting;
}

gsai_waiting *gsai_state_take_waiting(gsa_state *state)
{
    gsai_waiting *waiting = state->waiting;
    state->waiting = NULL;
    return waiting;
}

void gsai_state_set_solver(gsa_state *state, gsai_solve_fn *solve)
{
    if (state->waiting)
        state->waiting->solve = solve;
}

static gsa_status wait_row(gsa_state *state, const gsa_batch *batch, size_t row, gsa_error *error)
{
    size_t class_number = 0;
    double weight, y = 0;
    const gsai_offset *offset = &state->waiting->offset;
    gsai_row all = gsai_row_at(batch, row);
    gsai_row_scan scan;
    GSA_TRY(gsai_offset_move(offset, &state->moved, &state->env, &all, error));
    gsai_row view = all;
    double o = gsai_offset_hide(offset, &view);
    const int64_t start[] = {0, (int64_t)all.n};
    gsa_batch one = gsai_batch_slice(batch, row, 1);
    if (o != 0) {
        one.row_start = start;
        one.width = 0;
        one.index = all.index;
        one.value = all.value;
    }
    state->kernels->scan_row(&view, &scan);
    scan.hash = gsai_offset_hash(offset->loss, scan.hash, o);
    GSA_TRY(gsai_offset_check(offset, o, row, error));
    GSA_TRY(gsai_row_weight(batch, row, &weight, error));
    if (scan.highest > GSA_MAX_ID)
        GSA_TRY(gsai_batch_check_ids(batch, row, error));
    GSA_TRY(gsai_label_check(batch, row, error));
    if (weight > 0) {
        GSA_TRY(gsai_label_take(state, batch, row, &class_number, &y, error));
        if (!scan.is_finite)
            return gsai_fail_row(error, GSA_INPUT, row, "a value is not a finite number");
        GSA_TRY(add_row(state->waiting, &one, 0, class_number, y, scan.hash, error));
    }
    gsai_fingerprint_add_row(&state->fingerprint, gsai_row_hash_with(batch, row, scan.hash));
    if (!state->run_id.closed)
        gsai_run_id_add_row(&state->run_id, batch, row);
    state->position.pass_rows++;
    return GSA_OK;
}

gsa_status gsai_state_wait(gsa_state *state, const gsa_batch *batch, const uint32_t *rows, size_t n_rows,
                           gsai_solve_fn *solve, bool is_bounded, size_t *n_taken, gsa_error *error)
{
    size_t i = 0;
    *n_taken = 0;
    GSA_TRY(gsai_batch_check(batch, rows, n_rows, 1, error));
    GSA_TRY(gsai_state_hold_by(state, gsai_batch_held_by(batch), error));
    if (!state->loss)
        GSA_TRY(gsa_state_prepare(state, batch, error));
    if (!state->waiting)
        GSA_TRY(gsai_waiting_new(solve, &state->env, &state->waiting, error));
    state->waiting->offset = gsai_state_offset(state);
    for (; i < n_rows && !(is_bounded && gsai_state_is_full(state)); i++) {
        size_t row = rows ? rows[i] : i;
        gsa_status status = wait_row(state, batch, row, error);
        if (status != GSA_OK && error)
            error->row = row;
        GSA_TRY(status);
    }
    *n_taken = i;
    return GSA_OK;
}

/* Numbers the classes of rows from `first` on, which were those of other labels. */
static gsa_status rename_classes(gsa_state *into, const gsai_labels *from, size_t first, gsa_error *error)
{
    for (size_t i = first; i < gsai_waiting_rows(into->waiting) && gsai_loss_has_classes(into->loss); i++) {
        int32_t *class_number = &into->waiting->csr.word[i];
        size_t number = gsai_labels_find_text(&into->labels, from->at[*class_number].text);
        if (number == GSAI_NO_LABEL)
            return gsai_fail(error, GSA_CONFLICT, "a row that waits has a label that the merged state does not know");
        *class_number = (int32_t)number;
    }
    return GSA_OK;
}

gsa_status gsai_state_sort_labels(gsa_state *state, size_t n_known, gsa_error *error)
{
    gsa_status status = GSA_OK;
    gsai_labels came = state->labels;
    gsai_labels_init(&state->labels, &state->env);
    for (size_t k = 0, number; k < n_known && status == GSA_OK; k++)
        status = gsai_labels_add_label(&state->labels, &came.at[k], &number, error);
    if (status == GSA_OK)
        status = gsai_labels_add_sorted(&state->labels, &came, error);
    if (status == GSA_OK)
        status = rename_classes(state, &came, 0, error);
    gsai_labels_release(&came);
    return status;
}

/* ---- the part of a state ----------------------------------------------------------------------------------------- */

static void release(gsa_state *state)
{
    gsai_waiting_free(state->waiting);
    state->waiting = NULL;
}

/* Adds the rows of another state from row `first` on. */
static gsa_status append(gsa_state *to, const gsa_state *from, size_t first, gsa_error *error)
{
    const gsai_waiting *rows = from->waiting;
    if (!to->waiting)
        GSA_TRY(gsai_waiting_new(rows->solve, &to->env, &to->waiting, error));
    for (size_t i = first; i < rows->csr.n_rows; i++)
        GSA_TRY(gsai_waiting_copy(to->waiting, rows, i, error));
    return GSA_OK;
}

static gsa_status copy_waiting(gsa_state *to, const gsa_state *from, gsa_error *error)
{
    return from->waiting ? append(to, from, 0, error) : GSA_OK;
}

/* The rows of all states; those that they have from their base once. */
static gsa_status merge_waiting(const gsai_merge *merge, gsa_error *error)
{
    gsa_state *into = merge->into;
    size_t n_base = merge->continues && merge->base->waiting ? merge->base->waiting->csr.n_rows : 0;
    for (size_t s = 0; s < merge->n_states; s++) {
        const gsa_state *from = merge->states[s];
        if (!from->waiting)
            continue;
        size_t n_before = into->waiting ? into->waiting->csr.n_rows : 0;
        GSA_TRY(append(into, from, s == 0 ? 0 : n_base, error));
        GSA_TRY(rename_classes(into, &from->labels, n_before, error));
    }
    return GSA_OK;
}

static const gsai_tensor_key keys[GSAI_ROW_HASH] = {
    [GSAI_ROW_START] = {"waiting.row_start", GSAI_U64, UINT64_MAX},
    [GSAI_ROW_NUMBER] = {"waiting.number", GSAI_F64, GSAI_FINITE},
    [GSAI_ROW_WEIGHT] = {"waiting.weight", GSAI_F64, GSAI_NOT_NEGATIVE},
    [GSAI_ROW_CLASS] = {"waiting.class", GSAI_U32, UINT32_MAX},
    [GSAI_ROW_INDEX] = {"waiting.index", GSAI_U32, GSA_MAX_ID},
    [GSAI_ROW_VALUE] = {"waiting.value", GSAI_F32, GSAI_FINITE},
};

static const gsai_tensor_key group_key = {"waiting.group", GSAI_U64, UINT64_MAX};

static void save_waiting(gsai_snapshot *snapshot, const gsa_state *state)
{
    const gsai_waiting *waiting = state->waiting;
    gsai_stored_rows out = {0};
    if (!waiting || waiting->csr.n_rows == 0)
        return;
    bool done = gsai_stored_rows_add(snapshot, keys, GSAI_ROW_HASH, waiting->csr.n_rows, waiting->csr.n_values, &out);
    for (size_t i = 0, at = 0; i < waiting->csr.n_rows && done; i++) {
        gsai_unlearned row = given_row(waiting, i);
        out.class_number[i] = (uint32_t)row.class_number;
        out.number[i] = row.number;
        out.weight[i] = row.weight;
        for (size_t e = 0; e < row.row.n; e++, at++) {
            out.index[at] = row.row.index[e];
            out.value[at] = gsai_row_value(&row.row, e);
        }
        out.start[i + 1] = at;
    }
    if (waiting->csr.any_group)
        gsai_snapshot_add(snapshot, &group_key, waiting->csr.group, waiting->csr.n_rows);
}

static gsa_status load_waiting(gsa_state *state, const gsai_bundle *bundle, gsa_error *error)
{
    gsai_stored_rows in = {0};
    const gsai_tensor *group = NULL;
    GSA_TRY(gsai_stored_rows_find(bundle, keys, GSAI_ROW_HASH, &in, error));
    if (state->sample.by != GSAI_BY_FEATURES)
        GSA_TRY(gsai_bundle_need(bundle, &group_key, in.n, &group, error));
    if (!gsai_state_gathers(state))
        return gsai_fail(error, GSA_FORMAT, "rows wait in a state that has learned");
    GSA_TRY(gsai_waiting_new(NULL, &state->env, &state->waiting, error));
    state->waiting->offset = gsai_state_offset(state);
    for (size_t i = 0; i < in.n; i++) {
        gsai_row row = {0};
        float weight = in.weight[i] <= (double)FLT_MAX ? (float)in.weight[i] : 0;
        bool is_sound = gsai_stored_row(state, &in, i, &row) && weight > 0;
        if (!is_sound)
            return gsai_fail(error, GSA_FORMAT, "row %zu of those that wait is damaged", i);
        const gsa_batch batch = {.n_rows = 1,
                                 .row_start = (const int64_t[]){0, (int64_t)row.n},
                                 .index = row.index,
                                 .value = row.value,
                                 .label = &in.number[i],
                                 .weight = &weight,
                                 .group = group ? (const uint64_t *)group->data + i : NULL,
                                 .group_is_time = state->sample.by == GSAI_BY_TIME};
        gsai_row view = row;
        double o = gsai_offset_hide(&state->waiting->offset, &view);
        gsa_batch without = batch;
        without.row_start = (const int64_t[]){0, (int64_t)view.n};
        uint64_t hash = gsai_offset_hash(state->loss, gsai_row_features_hash(&without, 0), o);
        GSA_TRY(gsai_offset_check(&state->waiting->offset, o, i, error));
        GSA_TRY(add_row(state->waiting, &batch, 0, in.class_number[i], in.number[i], hash, error));
    }
    return GSA_OK;
}

const gsai_part_functions gsai_waiting_part = {.release = release,
                                               .copy = copy_waiting,
                                               .merge = merge_waiting,
                                               .key = "waiting.number",
                                               .save = save_waiting,
                                               .load = load_waiting};
