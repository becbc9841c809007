/* Rows into a state: which are held out, and learning the rest in order. */
#include "learn/inside.h"
#include "learn/learner.h"
#include "learn/lineage.h"
#include "learn/paper.h"
#include "learn/prepare.h"
#include "learn/waiting.h"

#include "base/error.h"
#include "base/memory.h"

#include <math.h>
#include <string.h>

/* ---- the held-out sample ----------------------------------------------------------------------------------------- */

/* A held row stands for its equals, and is learned as often as there would be rows of weight 1. */
#define MAX_VISITS 1024.0

static double visits_of(const gsai_held_row *held, double copies)
{
    double visits = floor(held->weight / copies + 0.5);
    return held->weight <= 0 ? 0 : visits < 1 ? 1 : visits < MAX_VISITS ? visits : MAX_VISITS;
}

static gsa_status visit_held(gsa_state *state, const gsai_held_row *held, double copies, gsa_error *error)
{
    gsai_row row = gsai_held_row_view(held);
    double c = held->weight / copies / visits_of(held, copies);
    return gsai_state_learn(state, &row, NULL, held->class_number, held->number, c, error);
}

/* In rounds over all rows: the labels of a kind take turns. Copies of a row are not learned again and again in a row.
 */
gsa_status gsai_state_learn_sample(gsa_state *state, const gsai_env *stop, gsa_error *error)
{
    bool more = true;
    double copies = gsai_sample_copies(&state->sample);
    GSA_TRY(gsa_state_close_group(state, error));
    for (double round = 0; more; round++) {
        more = false;
        for (size_t i = 0; i < state->sample.n; i++) {
            if (visits_of(state->sample.at[i], copies) <= round)
                continue;
            if (gsai_rows_should_stop(stop, state->table.n_outputs))
                return gsai_fail(error, GSA_STOPPED, "stopped on request");
            GSA_TRY(visit_held(state, state->sample.at[i], copies, error));
            more = true;
        }
    }
    return gsa_state_close_group(state, error);
}

/* Learns what an entry holds. */
static gsa_status give_back(gsa_state *state, gsai_held_row *held, gsa_error *error)
{
    gsa_status status = GSA_OK;
    for (double visits = 0; status == GSA_OK && visits < visits_of(held, 1); visits++)
        status = visit_held(state, held, 1, error);
    held->weight = 0;
    return status;
}

/* Learns the held rows of the highest hash, until there are few enough. Room for each is made first, so that learning
 * it cannot fail for memory. */
static gsa_status give_back_last(gsa_state *state, gsa_error *error)
{
    size_t max = gsai_state_max_held(state);
    while (gsai_sample_is_over(&state->sample, max, gsai_state_keeps_low(state))) {
        const gsai_held_row *last = gsai_sample_last(&state->sample);
        gsai_row row = gsai_held_row_view(last);
        if (last->weight > 0)
            GSA_TRY(gsai_state_fit_row(state, &row, error));
        gsai_held_row *held = gsai_sample_pop(&state->sample);
        gsa_status status = give_back(state, held, error);
        gsai_free(&state->env, held);
        if (status != GSA_OK)
            return status;
    }
    return GSA_OK;
}

/* Label and weight of a row: what it was given, its share of the mean of all given weights, and that times the weight
 * of its class. A row of weight 0 is passed over, but a row of the input all the same. */
struct row_target {
    uint64_t key, features; /* what the row is held by, and the hash of its features */
    size_t class_number;
    double y, given, share, c;
};

/* `counts`: the row is one of the first pass, whose mean weight the share is of; 1 where no weight is known. */
static gsa_status target_of(gsa_state *state, const gsa_batch *batch, size_t row, const gsai_row_scan *scan,
                            const gsai_offset *offset, double o, bool counts, struct row_target *out, gsa_error *error)
{
    const gsai_row_weights *all = &state->row_weights;
    uint64_t n_rows = all->n_rows + counts;
    double c = 1;
    if (batch->weight)
        GSA_TRY(gsai_row_weight(batch, row, &c, error));
    GSA_TRY(gsai_offset_check(offset, o, row, error));
    c = gsai_offset_weight(offset, o, c);
    double share = c > 0 && n_rows > 0 ? c * (double)n_rows / (all->sum + (counts ? c : 0)) : c;
    *out = (struct row_target){gsai_held_key(batch, row, scan->hash), scan->hash, 0, 0, c, share, share};
    if (scan->highest > GSA_MAX_ID)
        GSA_TRY(gsai_batch_check_ids(batch, row, error));
    GSA_TRY(gsai_label_check(batch, row, error));
    if (c == 0)
        return GSA_OK;
    GSA_TRY(gsai_label_take(state, batch, row, &out->class_number, &out->y, error));
    out->y = gsai_offset_number(offset, o, out->y);
    return gsai_class_weight_of(state, out->class_number, share, &out->c, error);
}

/* Returns whether the rows of a kind are copies as those of all other kinds are: they have one label, and are not many
 * more than rows per entry. A kind that is common stays so. */
static bool is_copied(const gsa_state *state, const gsai_kind *kind)
{
    const gsai_sample *sample = &state->sample;
    double held_rows = (double)state->position.pass_rows * ((double)sample->below / (double)UINT64_MAX);
    return kind->n == 1 && kind->weight > 0 && sample->n >= GSAI_SAMPLE_MANY &&
           kind->weight * (double)sample->n < 2 * held_rows;
}

/* Most rows are found out by the number of entries: a kind has one per label at most. */
static bool is_low(const gsa_state *state, uint64_t hash)
{
    const gsai_sample *sample = &state->sample;
    bool is_above_many =
        sample->n >= GSAI_SAMPLE_MANY * state->labels.n && sample->n > 0 && hash > gsai_sample_last(sample)->hash;
    return state->position.pass == 0 && !is_above_many && gsai_state_keeps_low(state) &&
           gsai_sample_is_low(sample, hash);
}

/* Decides whether a row is held out. The first pass chooses; later ones leave the same rows out. */
static gsa_status hold_out(gsa_state *state, const gsai_row *row, const struct row_target *target, bool *held,
                           gsa_error *error)
{
    gsai_sample *sample = &state->sample;
    uint64_t hash = target->key;
    bool is_below = hash < sample->below, is_kind = sample->by == GSAI_BY_FEATURES;
    if (gsai_params_holdout(&state->params) == 0 || (!is_below && !is_low(state, hash)))
        return GSA_OK;
    gsai_kind kind = is_kind ? gsai_sample_kind(sample, hash) : (gsai_kind){0};
    if (state->position.pass > 0) {
        *held = !is_kind || kind.weight > 0;
        return GSA_OK;
    }
    *held = !is_kind || (is_below && (kind.n == 0 || kind.weight > 0) &&
                         (kind.weight + target->c <= GSAI_COMMON_WEIGHT || is_copied(state, &kind)));
    if (!*held) /* the kind is common, or becomes so: the row is learned, and what is held of its kind */
        GSA_TRY(gsai_state_fit_row(state, row, error));
    if (*held || ((kind.n > 0 || !is_below) && kind.n < GSAI_COMMON_LABELS)) {
        gsai_row_scan bent = {.hash = target->features};
        if (!is_kind && state->basis.n > 0) /* as files have it */
            state->kernels->scan_row(row, &bent);
        if (!is_kind && state->basis.n > 0)
            bent.hash = gsai_offset_hash(state->loss, bent.hash, target->y);
        gsai_held_row *kept =
            gsai_held_row_new(row, hash, bent.hash, target->class_number, target->y, target->c, &state->env);
        if (kept && !*held)
            kept->weight = 0; /* it only counts in the held-out loss */
        GSA_TRY(gsai_sample_insert(sample, kept, &state->env, error));
    }
    gsai_held_row *common;
    while (!*held && (common = gsai_sample_next_held(sample, hash)))
        GSA_TRY(give_back(state, common, error));
    return give_back_last(state, error);
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

/* Holds a row out or learns it; is_solved: the weights have it already. Only a row that is learned is copied. */
static gsa_status hold_or_learn(gsa_state *state, const gsai_row *row, const gsai_row_scan *scan,
                                const struct row_target *target, bool is_solved, gsa_error *error)
{
    bool held = target->given == 0;
    if (!held)
        GSA_TRY(hold_out(state, row, target, &held, error));
    if (!held && !is_solved)
        GSA_TRY(gsai_state_learn(state, row, scan, target->class_number, target->y, target->c, error));
    if (target->given > 0 && !is_solved) {
        gsai_class_sums_add(state, target->class_number, target->share);
        if (state->position.pass == 0)
            gsai_row_weights_add(&state->row_weights, target->given);
    }
    return GSA_OK;
}

/* Label and weight first, then whether the row is held out. */
static gsa_status take_row(gsa_state *state, const gsa_batch *batch, size_t row, gsa_error *error)
{
    struct row_target target;
    gsai_row_scan scan;
    gsai_row view = gsai_row_at(batch, row);
    bool is_first_pass = state->position.pass == 0;
    const gsai_offset offset = gsai_state_offset(state);
    GSA_TRY(gsai_offset_move(&offset, &state->moved, &state->env, &view, error));
    double o = gsai_offset_hide(&offset, &view);
    state->kernels->scan_row(&view, &scan);
    uint64_t hash = scan.hash = gsai_offset_hash(state->loss, scan.hash, o);
    GSA_TRY(target_of(state, batch, row, &scan, &offset, o, is_first_pass, &target, error));
    if (state->basis.n > 0) {
        GSA_TRY(gsai_basis_bend_row(&state->basis, &state->bent, &state->env, &view, error));
        bool is_finite = scan.is_finite;
        state->kernels->scan_row(&view, &scan);
        scan.is_finite = scan.is_finite && is_finite;
    }
    GSA_TRY(hold_or_learn(state, &view, &scan, &target, false, error));
    if (!state->run_id.closed)
        gsai_run_id_add_row(&state->run_id, batch, row);
    if (is_first_pass)
        gsai_fingerprint_add_row(&state->fingerprint, gsai_row_hash_with(batch, row, hash));
    return GSA_OK;
}

/* ---- rows that have waited --------------------------------------------------------------------------------------- */

/* Solves the rows that will not be held out or, of many, those of a sample, GSAI_MAX_WAITING at most: the ones with the
 * lowest hashes, whatever their order. [*from, *to]: the hashes of those that were. */
static gsa_status solve_sample(gsa_state *state, const gsai_waiting *waiting, const gsai_env *env, uint64_t *from,
                               uint64_t *to, bool *solved, gsa_error *error)
{
    size_t n = SIZE_MAX;
    if (gsai_waiting_held_by(waiting) == GSAI_BY_TIME)
        GSA_TRY(gsai_waiting_latest(waiting, gsai_state_max_held(state), &state->sample.below, error));
    uint64_t highest = 0; /* of groups: that one is learned if all would be held out */
    for (size_t i = 0; i < waiting->csr.n_rows && state->sample.by == GSAI_BY_GROUP; i++)
        highest = gsai_waiting_key(waiting, i) > highest ? gsai_waiting_key(waiting, i) : highest;
    if (state->sample.by == GSAI_BY_GROUP && highest < state->sample.below)
        state->sample.below = highest;
    *from = gsai_params_holdout(&state->params) > 0 ? state->sample.below : 0;
    *to = UINT64_MAX;
    *solved = false;
    for (; n > 0 && !*solved; *to = *solved ? *to : *from + (*to - *from) / 2) {
        n = 0;
        for (size_t i = 0; i < waiting->csr.n_rows; i++)
            n += gsai_waiting_key(waiting, i) >= *from && gsai_waiting_key(waiting, i) <= *to;
        if (n > 0 && n <= GSAI_MAX_WAITING)
            GSA_TRY(waiting->solve(state, waiting, *from, *to, true, env, solved, error));
        if (*to == *from)
            break;
    }
    return GSA_OK;
}

/* Takes all rows after some of them were solved, in an order that is not theirs. */
static gsa_status take_waiting(gsa_state *state, const gsai_waiting *waiting, const gsai_env *env, gsa_error *error)
{
    uint64_t from, to;
    bool solved;
    size_t n = waiting->csr.n_rows;
    uint32_t *order = gsai_alloc(env, n, sizeof *order);
    GSAI_TRY_MEMORY(order, env, error, "no memory for the order of %zu rows", n);
    gsa_plan_order(state->params.value[GSAI_PARAM_seed], 0, 0, (uint32_t)n, order);
    gsa_status status = solve_sample(state, waiting, env, &from, &to, &solved, error);
    for (size_t at = 0; at < n && status == GSA_OK; at++) {
        uint64_t key = gsai_waiting_key(waiting, order[at]);
        gsai_unlearned row = gsai_waiting_at(waiting, order[at]);
        const gsai_row_weights *all = &state->row_weights;
        bool is_solved = solved && key >= from && key <= to;
        double rows = (double)all->n_rows + !is_solved, sum = all->sum + (is_solved ? 0 : row.weight);
        double share = row.weight * rows / sum;
        struct row_target target = {key,  waiting->hash[order[at]], row.class_number, row.number, row.weight, share,
                                    share};
        status = gsai_class_weight_of(state, row.class_number, share, &target.c, error);
        if (status == GSA_OK)
            status = gsai_basis_bend_row(&state->basis, &state->bent, &state->env, &row.row, error);
        if (status == GSA_OK)
            status = hold_or_learn(state, &row.row, NULL, &target, is_solved, error);
    }
    gsai_sample_settle(&state->sample);
    gsai_free(env, order);
    return status;
}

gsa_status gsai_state_settle(gsa_state *state, bool goes_on, const gsai_env *env, gsa_error *error)
{
    gsai_waiting *waiting = state->waiting;
    bool solved = false;
    gsa_status status = GSA_OK;
    state->waiting = NULL;
    if (gsai_waiting_rows(waiting) > 0) {
        state->is_decided = true;
        if (!goes_on)
            status = waiting->solve(state, waiting, 0, UINT64_MAX, false, env, &solved, error);
        if (status == GSA_OK && !solved)
            status = take_waiting(state, waiting, env, error);
    }
    gsai_waiting_free(waiting);
    return status;
}

gsa_status gsa_state_close_group(gsa_state *state, gsa_error *error)
{
    GSA_TRY(gsai_state_settle(state, true, &state->env, error));
    return gsai_state_close_own_group(state, error);
}

gsa_status gsa_state_end_pass(gsa_state *state, gsa_error *error)
{
    gsai_position *at = &state->position;
    GSA_TRY(gsa_state_close_group(state, error));
    at->last_pass_loss = at->loss_weight > 0 ? at->loss_sum / at->loss_weight : NAN;
    at->pass++;
    at->pass_rows = 0;
    at->loss_sum = at->loss_weight = 0;
    return GSA_OK;
}

/* A row's record of a feature comes from far away: it is asked for some rows before it is needed; where it is, and the
 * row's own entries, some rows before that. */
#define RECORDS_AHEAD 8
#define PAGES_AHEAD 16
#define ENTRIES_AHEAD 24
#define STARTS_AHEAD 32
#define LINE_ENTRIES 16
/* Smaller tables are never far away. */
#define FAR_SLOTS 16384u

static void fetch_ahead(gsa_state *state, const gsa_batch *batch, const uint32_t *rows, size_t i, size_t n_rows)
{
    if (rows && i + STARTS_AHEAD < n_rows)
        __builtin_prefetch(batch->row_start + rows[i + STARTS_AHEAD]);
    if (i + ENTRIES_AHEAD < n_rows) {
        size_t row = rows ? rows[i + ENTRIES_AHEAD] : i + ENTRIES_AHEAD;
        __builtin_prefetch(batch->label + row);
        if (batch->weight)
            __builtin_prefetch(batch->weight + row);
        for (int64_t at = batch->row_start[row]; at < batch->row_start[row + 1]; at += LINE_ENTRIES) {
            __builtin_prefetch(batch->index + at);
            if (batch->value)
                __builtin_prefetch(batch->value + at);
        }
    }
    const uint32_t *page = state->table.page;
    if (page && i + PAGES_AHEAD < n_rows) {
        size_t row = rows ? rows[i + PAGES_AHEAD] : i + PAGES_AHEAD;
        for (int64_t at = batch->row_start[row]; at < batch->row_start[row + 1];
             at++) /* a number, as they may be new */
            __builtin_prefetch(
                (const void *)((uintptr_t)page + ((size_t)batch->index[at] + 1) / GSAI_PAGE * sizeof *page));
    }
    gsai_row ahead = {0};
    if (i + RECORDS_AHEAD < n_rows && state->table.n_slots >= FAR_SLOTS)
        ahead = gsai_row_at(batch, rows ? rows[i + RECORDS_AHEAD] : i + RECORDS_AHEAD);
    state->group.ahead[i % GSAI_GROUP_ROWS] = ahead;
    if (gsai_state_has_groups(state))
        return;
    state->ahead = ahead;
    gsai_paper_fetch(state, 0);
}

gsa_status gsai_state_learn_rows(gsa_state *state, const gsa_batch *batch, const uint32_t *rows, size_t n_rows,
                                 gsa_error *error)
{
    gsa_status status = gsai_batch_check(batch, rows, n_rows, 1, error);
    if (status == GSA_OK && n_rows > 0)
        status = gsai_state_hold_by(state, gsai_batch_held_by(batch), error);
    if (status == GSA_OK && !state->loss)
        status = gsa_state_prepare(state, batch, error);
    if (status == GSA_OK && gsai_state_lacks_loss(state))
        status = gsai_fail(error, GSA_ARGUMENT, "this state learns with a loss of the caller's: give it again first");
    for (size_t i = 0; i < n_rows && status == GSA_OK; i++) {
        size_t row = rows ? rows[i] : i;
        if (batch->index)
            fetch_ahead(state, batch, rows, i, n_rows);
        status = take_row(state, batch, row, error);
        if (status == GSA_OK)
            state->position.pass_rows++;
        else if (error)
            error->row = row;
    }
    state->ahead = (gsai_row){0}; /* it is the caller's memory */
    memset(state->group.ahead, 0, sizeof state->group.ahead);
    gsai_sample_settle(&state->sample);
    return status;
}
