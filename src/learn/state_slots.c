/* The slots of a state: its table and its prior totals; and its outputs: one per class, or one for two classes. */
#include "learn/state_slots.h"

#include "learn/inside.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/real.h"

#include <string.h>

/* Margins, and the scales of each row, begin with a line of the cache: vectors that straddle two are stored at half the
 * speed. */
gsa_status gsai_state_reserve_scratch(gsa_state *state, size_t n_outputs, gsa_error *error)
{
    const size_t line = 64;
    size_t size, n = gsai_scales_stride(n_outputs);
    GSAI_TRY_MEMORY(gsai_multiply(n, sizeof *state->margins + GSAI_GROUP_ROWS * sizeof *state->scales, &size) &&
                        gsai_add(size, line, &size) &&
                        gsai_reserve(&state->env, &state->scratch.memory, &state->scratch.capacity, size, 1),
                    &state->env, error, "no memory for %zu outputs", n_outputs);
    state->margins =
        (double *)(void *)((char *)state->scratch.memory + (line - (uintptr_t)state->scratch.memory % line));
    state->scales = (float *)(state->margins + n);
    return GSA_OK;
}

gsa_status gsai_state_decide(gsa_state *state, const gsai_loss *loss, gsa_error *error)
{
    size_t n_outputs = gsai_loss_outputs(loss, state->labels.n);
    GSA_TRY(gsai_params_suit_loss(&state->params, loss, error));
    GSA_TRY(gsai_state_reserve_scratch(state, n_outputs, error));
    GSA_TRY(gsai_table_init(&state->table, 1, n_outputs, &state->env, error));
    state->table.is_whole = state->params.value[GSAI_PARAM_method] == GSAI_METHOD_PAPER;
    state->loss = loss;
    return GSA_OK;
}

void gsai_state_scale_as_asked(gsa_state *state)
{
    uint64_t asked = state->params.value[GSAI_PARAM_scale];
    bool is_open = asked == GSAI_SCALE_AUTO && gsai_loss_is_custom(state->loss); /* and no rows can decide */
    state->standardised =
        state->params.value[GSAI_PARAM_method] != GSAI_METHOD_PAPER && (asked == GSAI_SCALE_STANDARD || is_open);
}

gsa_status gsai_state_fit_slots(gsa_state *state, size_t n_slots, gsa_error *error)
{
    return gsai_table_grow(&state->table, n_slots, &state->env, error);
}

gsa_status gsai_state_fold(gsa_state *state, gsa_error *error)
{
    GSA_TRY(gsai_array_grow(&state->prior, state->table.n_slots, sizeof *state->prior.at, &state->env, error));
    GSAI_EACH_SLOT(slot, &state->table)
    {
        double sum_sq = gsai_state_sum_sq(state, slot);
        uint64_t count = gsai_state_n_seen(state, slot);
        gsai_cell *record = gsai_table_slot(&state->table, slot);
        record[gsai_table_mean(&state->table)].f = 0;
        record[gsai_table_count(&state->table)].u = 0;
        state->prior.at[slot] = (gsai_totals){sum_sq, count};
    }
    state->n_counted = 0;
    return GSA_OK;
}

/* ---- outputs ----------------------------------------------------------------------------------------------------- */

/* One output for two classes to one per class: w_1 = w/2, w_0 = -w/2. Halving is exact, so the model is the same; a
 * step moves two outputs apart twice as fast as one, so that steps, and hence the sums of steps, are halved too. */
static void split_output(gsai_table *table, gsai_step_mean *step)
{
    GSAI_EACH_SLOT(slot, table)
    {
        gsai_cell *weight = gsai_table_slot(table, slot);
        gsai_cell *average = weight + gsai_table_average(table);
        weight[1].f = weight[0].f / 2;
        weight[0].f = -weight[1].f;
        average[1].f = average[0].f / 2;
        average[0].f = -average[1].f;
    }
    step->sum /= 2;
}

double gsai_state_unseen(const gsa_state *state)
{
    bool has_prior = gsai_loss_has_probabilities(state->loss) && state->params.value[GSAI_PARAM_intercept] &&
                     state->params.value[GSAI_PARAM_method] != GSAI_METHOD_PAPER;
    return has_prior && state->rows_behind > 0 ? -gsai_log1p((double)state->rows_behind) : 0;
}

gsa_status gsai_state_widen(gsa_state *state, size_t n_outputs, gsa_error *error)
{
    bool binary = gsai_state_is_binary(state);
    size_t before = state->table.n_outputs;
    gsa_status status = gsai_state_reserve_scratch(state, n_outputs, error);
    if (status == GSA_OK)
        status = gsai_table_widen(&state->table, n_outputs, &state->env, error);
    if (status != GSA_OK) {
        state->table.n_outputs = before; /* the room that was made does no harm */
        return status;
    }
    if (binary)
        split_output(&state->table, &state->step);
    for (size_t k = binary ? 2 : before; k < n_outputs; k++) /* of classes that come late */
        gsai_table_slot(&state->table, 0)[k].f = (float)gsai_state_unseen(state);
    if (binary && state->loss->widened)
        state->loss = state->loss->widened;
    return GSA_OK;
}

/* ---- scratch, the table and the prior totals as parts ------------------------------------------------------------ */

static void release_entries(gsa_state *state)
{
    gsai_free(&state->env, state->entries.memory);
}

const gsai_part_functions gsai_entries_part = {.release = release_entries};

static void release_table(gsa_state *state)
{
    gsai_table_release(&state->table, &state->env);
    gsai_free(&state->env, state->scratch.memory);
}

/* Uses the memory again that a replica has had. */
static gsa_status copy_table(gsa_state *to, const gsa_state *from, gsa_error *error)
{
    if (!from->loss)
        return GSA_OK;
    to->loss = from->loss;
    GSA_TRY(gsai_table_copy(&to->table, &from->table, &to->env, error));
    return gsai_state_reserve_scratch(to, to->table.n_outputs, error);
}

/* Makes a table of the loss of all states, for their labels. */
static gsa_status merge_table(const gsai_merge *merge, gsa_error *error)
{
    gsa_state *into = merge->into;
    const gsai_loss *loss = NULL;
    for (size_t s = 0; s < merge->n_states; s++)
        if (!loss || gsai_loss_widens_to(loss, merge->states[s]->loss))
            loss = merge->states[s]->loss;
    if (loss && loss->widened && into->labels.n > loss->max_labels)
        loss = loss->widened;
    GSA_TRY(gsai_state_decide(into, loss, error));
    into->table.is_whole = merge->base ? !merge->base->table.page : !merge->states[0]->table.page;
    GSA_TRY(gsai_table_grow(&into->table, merge->n_slots, &into->env, error));
    for (size_t s = 0; s < merge->n_states + (merge->base != NULL); s++)
        gsai_table_use_all(&into->table, s < merge->n_states ? &merge->states[s]->table : &merge->base->table);
    gsai_table_settle(&into->table, &into->env);
    return GSA_OK;
}

/* Makes the table of the decided loss, with zeros. */
static gsa_status load_table(gsa_state *state, const gsai_bundle *bundle, gsa_error *error)
{
    const gsai_tensor *weight;
    const gsai_tensor_key key = {"weight", GSAI_F32, GSAI_ANY_NUMBER}; /* for its shape */
    gsai_lines lines;
    GSA_TRY(gsai_bundle_need(bundle, &key, GSAI_ANY_LEN, &weight, error));
    GSA_TRY(gsai_lines_find(bundle, &GSAI_SLOT_KEY, (size_t)GSA_MAX_ID + 2, &lines, error));
    bool fits = weight->n_dims == 2 && weight->shape[1] == gsai_loss_outputs(state->loss, state->labels.n) &&
                weight->shape[0] > 0 && weight->shape[0] <= lines.n &&
                (!lines.id || (weight->shape[0] == lines.n && lines.id[0] == 0));
    if (!fits || state->labels.n > state->loss->max_labels ||
        gsai_params_suit_loss(&state->params, state->loss, NULL) != GSA_OK)
        return gsai_fail(error, GSA_FORMAT, "the weights do not fit %zu labels and %s loss", state->labels.n,
                         gsai_loss_name(state->loss));
    GSA_TRY(gsai_state_decide(state, state->loss, error));
    size_t n = (size_t)weight->shape[0], n_slots = lines.id ? (size_t)lines.id[n - 1] + 1 : n;
    GSA_TRY(gsai_table_grow(&state->table, n_slots, &state->env, error));
    for (size_t i = 0; i < n; i++)
        gsai_table_use(&state->table, lines.id ? lines.id[i] : i);
    gsai_table_settle(&state->table, &state->env);
    return GSA_OK;
}

/* No feature is in more rows than there are: counts would else overflow before the next fold. */
static size_t table_lines(const gsa_state *state, gsai_line_tensor *out)
{
    const gsai_table *table = &state->table;
    out[0] = gsai_table_lines(table, "weight", GSAI_F32, 0, GSAI_FINITE);
    out[1] = gsai_table_lines(table, "average_term", GSAI_F32, gsai_table_average(table), GSAI_FINITE);
    out[2] = gsai_table_lines(table, "mean_square", GSAI_F32, gsai_table_mean(table), GSAI_NOT_NEGATIVE);
    out[3] = gsai_table_lines(table, "n_seen", GSAI_U32, gsai_table_count(table), state->n_counted);
    return 4;
}

static void only_intercept(gsa_state *view, const gsa_state *base, gsai_snapshot *snapshot)
{
    (void)base;
    (void)snapshot;
    view->table.n_slots = view->table.n_slots > 0 ? 1 : 0;
    view->prior.n = view->prior.n > 0 ? 1 : 0;
}

const gsai_part_functions gsai_table_part = {.release = release_table,
                                             .copy = copy_table,
                                             .merge = merge_table,
                                             .key = "weight",
                                             .load = load_table,
                                             .lines = table_lines,
                                             .since = only_intercept};

/* Makes room. A table's counts have 31 bits; totals from before stay apart, so that what was counted since can be told.
 */
static gsa_status merge_prior(const gsai_merge *merge, gsa_error *error)
{
    gsa_state *into = merge->into;
    bool has_prior = into->rows_behind > INT32_MAX || (merge->base && merge->base->prior.n > 0);
    for (size_t s = 0; s < merge->n_states; s++)
        has_prior = has_prior || merge->states[s]->prior.n > 0;
    into->n_counted = has_prior ? 0 : into->rows_behind;
    return has_prior ? gsai_array_grow(&into->prior, into->table.n_slots, sizeof *into->prior.at, &into->env, error)
                     : GSA_OK;
}

static gsa_status copy_prior(gsa_state *to, const gsa_state *from, gsa_error *error)
{
    GSA_TRY(gsai_array_grow(&to->prior, from->prior.n, sizeof *to->prior.at, &to->env, error));
    for (size_t slot = 0; slot < from->prior.n; slot = gsai_table_next(&from->table, slot + 1))
        to->prior.at[slot] = from->prior.at[slot];
    return GSA_OK;
}

static gsa_status load_prior(gsa_state *state, const gsai_bundle *bundle, gsa_error *error)
{
    (void)bundle;
    return gsai_array_grow(&state->prior, state->table.n_slots, sizeof *state->prior.at, &state->env, error);
}

static size_t prior_lines(const gsa_state *state, gsai_line_tensor *out)
{
    const gsai_prior_totals *prior = &state->prior;
    gsai_tensor_key sum_sq = {"prior.sum_sq", GSAI_F64, GSAI_NOT_NEGATIVE};
    gsai_tensor_key count = {"prior.n_seen", GSAI_U64, state->rows_behind - state->n_counted};
    if (prior->n == 0)
        return 0;
    out[0] = (gsai_line_tensor){sum_sq, 1, 1, (char *)&prior->at->sum_sq, sizeof *prior->at, prior->n, NULL};
    out[1] = (gsai_line_tensor){count, 1, 1, (char *)&prior->at->count, sizeof *prior->at, prior->n, NULL};
    return 2;
}

static bool prior_uses(const gsa_state *state, size_t slot)
{
    return slot < state->prior.n && (state->prior.at[slot].count != 0 || state->prior.at[slot].sum_sq != 0);
}

const gsai_part_functions gsai_prior_part = {.copy = copy_prior,
                                             .merge = merge_prior,
                                             .key = "prior.sum_sq",
                                             .load = load_prior,
                                             .lines = prior_lines,
                                             .uses = prior_uses};
