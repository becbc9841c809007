/* Rows into a state: which are held out, and learning the rest in order. */
#include "learn/inside.h"
#include "learn/learner.h"
#include "learn/lineage.h"
#include "learn/paper.h"
#include "learn/prepare.h"

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
    size_t max = gsai_params_holdout(&state->params);
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
    size_t class_number;
    double y, given, share, c;
};

/* `counts`: the row is one of the first pass, whose mean weight the share is of; 1 where no weight is known. */
static gsa_status target_of(gsa_state *state, const gsa_batch *batch, size_t row, uint32_t highest, bool counts,
                            struct row_target *out, gsa_error *error)
{
    const gsai_row_weights *all = &state->row_weights;
    uint64_t n_rows = all->n_rows + counts;
    double c = 1;
    if (batch->weight)
        GSA_TRY(gsai_row_weight(batch, row, &c, error));
    double share = c > 0 && n_rows > 0 ? c * (double)n_rows / (all->sum + (counts ? c : 0)) : c;
    *out = (struct row_target){0, 0, c, share, share};
    if (highest > GSA_MAX_ID)
        GSA_TRY(gsai_batch_check_ids(batch, row, error));
    GSA_TRY(gsai_label_check(batch, row, error));
    if (c == 0)
        return GSA_OK;
    GSA_TRY(gsai_label_take(state, batch, row, &out->class_number, &out->y, error));
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
static gsa_status hold_out(gsa_state *state, const gsai_row *row, uint64_t hash, const struct row_target *target,
                           bool *held, gsa_error *error)
{
    gsai_sample *sample = &state->sample;
    bool is_below = hash < sample->below;
    if (gsai_params_holdout(&state->params) == 0 || (!is_below && !is_low(state, hash)))
        return GSA_OK;
    gsai_kind kind = gsai_sample_kind(sample, hash);
    if (state->position.pass > 0) {
        *held = kind.weight > 0;
        return GSA_OK;
    }
    *held = is_below && (kind.n == 0 || kind.weight > 0) &&
            (kind.weight + target->c <= GSAI_COMMON_WEIGHT || is_copied(state, &kind));
    if (!*held) /* the kind is common, or becomes so: the row is learned, and what is held of its kind */
        GSA_TRY(gsai_state_fit_row(state, row, error));
    if (*held || ((kind.n > 0 || !is_below) && kind.n < GSAI_COMMON_LABELS)) {
        gsai_held_row *kept = gsai_held_row_new(row, hash, target->class_number, target->y, target->c, &state->env);
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

/* Label and weight first, then whether the row is held out; only a row that is not is copied to be learned. */
static gsa_status take_row(gsa_state *state, const gsa_batch *batch, size_t row, gsa_error *error)
{
    struct row_target target;
    gsai_row_scan scan;
    gsai_row view = gsai_row_at(batch, row);
    bool is_first_pass = state->position.pass == 0;
    state->kernels->scan_row(&view, &scan);
    GSA_TRY(target_of(state, batch, row, scan.highest, is_first_pass, &target, error));
    bool held = target.given == 0;
    if (!held)
        GSA_TRY(hold_out(state, &view, scan.hash, &target, &held, error));
    if (!held)
        GSA_TRY(gsai_state_learn(state, &view, &scan, target.class_number, target.y, target.c, error));
    if (target.given > 0) {
        gsai_class_sums_add(state, target.class_number, target.share);
        if (is_first_pass)
            gsai_row_weights_add(&state->row_weights, target.given);
    }
    if (!state->run_id.closed)
        gsai_run_id_add_row(&state->run_id, batch, row);
    if (is_first_pass)
        gsai_fingerprint_add_row(&state->fingerprint, gsai_row_hash_with(batch, row, scan.hash));
    return GSA_OK;
}

/* A row's record of a feature comes from far away: it is asked for some rows before it is needed, and the row's own
 * entries some rows before that. */
#define RECORDS_AHEAD 8
#define ENTRIES_AHEAD 16
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
    gsai_row ahead = {0};
    if (i + RECORDS_AHEAD < n_rows && state->table.n_slots >= FAR_SLOTS)
        ahead = gsai_row_at(batch, rows ? rows[i + RECORDS_AHEAD] : i + RECORDS_AHEAD);
    state->group.ahead[i % GSAI_GROUP_ROWS] = ahead;
    if (gsai_state_has_groups(state))
        return;
    state->ahead = ahead;
    gsai_paper_fetch(state, 0);
}

gsa_status gsa_state_update_rows(gsa_state *state, const gsa_batch *batch, const uint32_t *rows, size_t n_rows,
                                 gsa_error *error)
{
    gsa_status status = gsai_batch_check(batch, rows, n_rows, 1, error);
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

gsa_status gsa_state_update(gsa_state *state, const gsa_batch *batch, gsa_error *error)
{
    return gsa_state_update_rows(state, batch, NULL, batch->n_rows, error);
}
