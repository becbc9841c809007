/* Rows into a state: which are held out, and learning the rest in order. */
#include "learn/update.h"
#include "learn/learner.h"
#include "learn/lineage.h"
#include "learn/paper.h"
#include "learn/parts.h"
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

/* Learns what is held of a kind that has become common. There is room for its features. */
static gsa_status give_back_kind(gsa_state *state, uint64_t hash, gsa_error *error)
{
    gsai_held_row *held;
    while ((held = gsai_sample_next_held(&state->sample, hash)))
        GSA_TRY(give_back(state, held, error));
    return GSA_OK;
}

/* Label and weight of a row: what it was given, its share of the mean of all given weights, and that times the weight
 * of its class. A row of weight 0 is passed over, but a row of the input all the same. */
struct row_target {
    size_t class_number;
    double y, given, share, c;
};

/* Returns a weight as a share of the mean of the rows of the first pass, this one among them if it is one (`counts`);
 * of 1 where nothing is known. */
static double share_of(const gsa_state *state, double given, bool counts)
{
    const gsai_row_weights *all = &state->row_weights;
    uint64_t n_rows = all->n_rows + counts;
    return n_rows > 0 ? given * (double)n_rows / (all->sum + (counts ? given : 0)) : given;
}

static gsa_status target_of(gsa_state *state, const gsa_batch *batch, size_t row, uint32_t last, bool counts,
                            struct row_target *out, gsa_error *error)
{
    double c = 1;
    if (batch->weight)
        GSA_TRY(gsai_row_weight(batch, row, &c, error));
    double share = c > 0 ? share_of(state, c, counts) : 0;
    *out = (struct row_target){0, 0, c, share, share};
    if (last > GSA_MAX_ID)
        GSA_TRY(gsai_batch_check_ids(batch, row, error));
    GSA_TRY(gsai_label_check(batch, row, error));
    if (c == 0)
        return GSA_OK;
    GSA_TRY(gsai_label_take(state, batch, row, &out->class_number, &out->y, error));
    return gsai_class_weight_of(state, out->class_number, share, &out->c, error);
}

/* Into the sample; equal rows add up. held: what of the weight is not learned. */
static gsa_status keep(gsa_state *state, const gsa_batch *batch, size_t row, uint64_t hash,
                       const struct row_target *target, double seen, double held, gsa_error *error)
{
    gsai_row view = gsai_row_at(batch, row);
    gsai_held_row *kept = gsai_held_row_new(&view, hash, target->class_number, target->y, seen, &state->env);
    if (kept)
        kept->weight = held;
    return gsai_sample_insert(&state->sample, kept, &state->env, error);
}

/* A row of a kind that is common, or becomes so: it counts in the held-out loss, and is learned. Room for it is made
 * first. */
static gsa_status keep_common(gsa_state *state, const gsa_batch *batch, size_t row, uint64_t hash,
                              const struct row_target *target, const gsai_kind *kind, gsa_error *error)
{
    gsai_row view = gsai_row_at(batch, row);
    GSA_TRY(gsai_state_fit_row(state, &view, error));
    if ((kind->n > 0 || hash >= state->sample.below) && kind->n < GSAI_COMMON_LABELS)
        GSA_TRY(keep(state, batch, row, hash, target, target->c, 0, error));
    return give_back_kind(state, hash, error);
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

/* *held is set if the row is kept out of learning. The first pass chooses; later ones leave the same rows out. */
static gsa_status hold_out(gsa_state *state, const gsa_batch *batch, size_t row, uint64_t hash,
                           const struct row_target *target, bool *held, gsa_error *error)
{
    if (gsai_params_holdout(&state->params) == 0)
        return GSA_OK;
    bool is_below = hash < state->sample.below;
    if (!is_below && !is_low(state, hash))
        return GSA_OK;
    gsai_kind kind = gsai_sample_kind(&state->sample, hash);
    *held = state->position.pass > 0 ? kind.weight > 0
                                     : is_below && (kind.n == 0 || kind.weight > 0) &&
                                           (kind.weight + target->c <= GSAI_COMMON_WEIGHT || is_copied(state, &kind));
    if (state->position.pass > 0)
        return GSA_OK;
    GSA_TRY(*held ? keep(state, batch, row, hash, target, target->c, target->c, error)
                  : keep_common(state, batch, row, hash, target, &kind, error));
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
        GSA_TRY(hold_out(state, batch, row, scan.hash, &target, &held, error));
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
        gsai_fingerprint_add_row(&state->rows, gsai_row_hash_with(batch, row, scan.hash));
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
