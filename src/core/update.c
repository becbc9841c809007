/* Rows into a state: which are held out, and learning the rest in order. */
#include "core/origins.h"
#include "core/team.h"

#include "base/error.h"
#include "base/memory.h"

/* ---- the held-out sample ----------------------------------------------------------------------------------------- */

/* At most a tenth of the rows so far, so that small data is learned rather than kept. */
static size_t sample_most(const gsa_state *state)
{
    uint64_t tenth = (state->n_rows + state->sample.n + 1) / 10;
    uint64_t most = gsa__params_holdout(&state->params);
    return (size_t)(tenth < most ? tenth : most);
}

static gsa_status learn_held(gsa_state *state, const gsa__held_row *held, gsa_error *error)
{
    gsa__row row = gsa__held_row_view(held);
    return gsa__state_learn(state, &row, held->class_number, held->number, (double)held->weight, error);
}

gsa_status gsa__state_learn_sample(gsa_state *state, gsa_error *error)
{
    gsa_status status = GSA_OK;
    for (size_t i = 0; i < state->sample.n && status == GSA_OK; i++)
        status = learn_held(state, state->sample.at[i], error);
    return status;
}

/* Room for the row that a new one may push out of the sample, so that learning it then cannot fail for memory. */
static gsa_status fit_last_held(gsa_state *state, gsa_error *error)
{
    const gsa__held_row *last = gsa__sample_last(&state->sample);
    if (!last)
        return GSA_OK;
    double xx;
    gsa__row row = gsa__held_row_view(last);
    return gsa__state_fit_row(state, &row, &xx, error);
}

/* Label and weight of a row. A row of weight 0 is passed over, but a row of the input all the same. */
struct facts {
    size_t class_number;
    double y, given, c;
};

static gsa_status facts_of(gsa_state *state, const gsa_batch *batch, size_t row, struct facts *out, gsa_error *error)
{
    double c;
    gsa_status status = gsa__row_weight(batch, row, &c, error);
    *out = (struct facts){0, 0, c, c};
    if (status == GSA_OK)
        status = gsa__label_check(batch, row, error);
    if (status != GSA_OK || c == 0)
        return status;
    status = gsa__label_take(state, batch, row, &out->class_number, &out->y, error);
    return status == GSA_OK ? gsa__class_weight_of(state, out->class_number, c, &out->c, error) : status;
}

/* A row that is wanted into the sample; the one that it pushes out is learned. */
static gsa_status exchange(gsa_state *state, const gsa_batch *batch, size_t row, uint64_t hash,
                           const struct facts *facts, gsa_error *error)
{
    gsa_status status = sample_most(state) <= state->sample.n ? fit_last_held(state, error) : GSA_OK;
    if (status != GSA_OK)
        return status;
    gsa__row view = gsa__row_at(batch, row);
    gsa__held_row *kept = gsa__held_row_new(&view, hash, facts->class_number, facts->y, facts->c, &state->env);
    gsa__held_row *pushed_out;
    status = gsa__sample_insert(&state->sample, kept, sample_most(state), &state->env, &pushed_out, error);
    if (pushed_out)
        status = learn_held(state, pushed_out, error);
    gsa__free(&state->env, pushed_out);
    return status;
}

/* *held is set if the row is kept out of learning. The first pass chooses; later ones leave the same rows out. */
static gsa_status hold_out(gsa_state *state, const gsa_batch *batch, size_t row, const struct facts *facts, bool *held,
                           gsa_error *error)
{
    if (gsa__params_holdout(&state->params) == 0)
        return GSA_OK;
    uint64_t hash = gsa__row_hash(batch, row), pass = state->position.pass;
    *held = pass > 0 ? gsa__sample_leaves_out(&state->sample, hash, pass)
                     : gsa__sample_wants(&state->sample, hash, sample_most(state));
    if (pass > 0)
        return GSA_OK;
    if (*held)
        return exchange(state, batch, row, hash, facts, error);
    gsa__held_row *equal = gsa__sample_find(&state->sample, hash);
    if (equal)
        equal->seen += facts->c;
    return GSA_OK;
}

/* Into the sample, however many there are; equal rows add up. */
static gsa_status keep(gsa_state *state, const gsa_batch *batch, size_t row, const struct facts *facts,
                       gsa_error *error)
{
    gsa__row view = gsa__row_at(batch, row);
    gsa__held_row *held =
        gsa__held_row_new(&view, gsa__row_hash(batch, row), facts->class_number, facts->y, facts->given, &state->env);
    gsa__held_row *equal = held ? gsa__sample_find(&state->sample, held->hash) : NULL;
    if (equal) {
        equal->weight += held->weight;
        equal->seen += held->seen;
    }
    return gsa__sample_insert(&state->sample, held, SIZE_MAX, &state->env, NULL, error);
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static gsa_status take_row(gsa_state *state, const gsa_batch *batch, size_t row, gsa_error *error)
{
    struct facts facts;
    gsa_status status = facts_of(state, batch, row, &facts, error);
    bool held = facts.given == 0;
    if (status == GSA_OK && !held)
        status = hold_out(state, batch, row, &facts, &held, error);
    gsa__row view = gsa__row_at(batch, row);
    if (status == GSA_OK && !held)
        status = gsa__state_learn(state, &view, facts.class_number, facts.y, facts.c, error);
    if (status == GSA_OK && facts.given > 0)
        gsa__class_sums_add(state, facts.class_number, facts.given);
    if (status == GSA_OK && !state->origin.closed)
        gsa__origin_add_row(&state->origin, batch, row);
    return status;
}

/* A row's record of a feature comes from far away: it is asked for some rows before it is needed, and the row's own
 * entries some rows before that. */
#define RECORDS_AHEAD 8
#define ENTRIES_AHEAD 16
#define STARTS_AHEAD 32
#define LINE_ENTRIES 16

static void fetch_ahead(gsa_state *state, const gsa_batch *batch, const uint32_t *rows, size_t i, size_t n_rows)
{
    if (rows && i + STARTS_AHEAD < n_rows)
        __builtin_prefetch(batch->row_start + rows[i + STARTS_AHEAD]);
    if (i + ENTRIES_AHEAD < n_rows) {
        size_t row = rows ? rows[i + ENTRIES_AHEAD] : i + ENTRIES_AHEAD;
        for (int64_t at = batch->row_start[row]; at < batch->row_start[row + 1]; at += LINE_ENTRIES)
            __builtin_prefetch(batch->index + at);
    }
    state->ahead = (gsa__row){0};
    if (i + RECORDS_AHEAD < n_rows)
        state->ahead = gsa__row_at(batch, rows ? rows[i + RECORDS_AHEAD] : i + RECORDS_AHEAD);
    gsa__state_fetch(state, 0);
}

gsa_status gsa_state_update_rows(gsa_state *state, const gsa_batch *batch, const uint32_t *rows, size_t n_rows,
                                 gsa_error *error)
{
    gsa_status status = gsa__batch_check(batch, 1, error);
    if (status == GSA_OK && state->loss == GSA__UNDECIDED)
        status = gsa_state_prepare(state, batch, error);
    if (status == GSA_OK && state->loss == GSA__CUSTOM && !state->params.has_custom_loss)
        status = gsa__fail(error, GSA_ARGUMENT, "this state learns with a loss of the caller's: give it again first");
    for (size_t i = 0; i < n_rows && status == GSA_OK; i++)
        if ((rows ? rows[i] : i) >= batch->n_rows)
            return gsa__fail(error, GSA_ARGUMENT, "row %zu of a batch of %zu", rows ? rows[i] : i, batch->n_rows);
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
    state->ahead = (gsa__row){0}; /* it is the caller's memory */
    gsa__sample_settle(&state->sample);
    return status;
}

gsa_status gsa__state_hold_out(gsa_state *state, const gsa_batch *batch, const uint32_t *rows, size_t n_rows,
                               gsa_error *error)
{
    gsa_status status = gsa__batch_check(batch, 1, error);
    if (status == GSA_OK && state->loss == GSA__UNDECIDED)
        status = gsa__fail(error, GSA_ARGUMENT, "rows cannot be held out before the loss is decided");
    for (size_t i = 0; i < n_rows && status == GSA_OK; i++) {
        struct facts facts;
        if (rows[i] >= batch->n_rows) {
            status = gsa__fail(error, GSA_ARGUMENT, "row %u of a batch of %zu", rows[i], batch->n_rows);
            break;
        }
        status = facts_of(state, batch, rows[i], &facts, error);
        if (status == GSA_OK && facts.given > 0)
            status = keep(state, batch, rows[i], &facts, error);
        if (status != GSA_OK && error)
            error->row = rows[i];
    }
    gsa__sample_settle(&state->sample);
    return status;
}

gsa_status gsa_state_update(gsa_state *state, const gsa_batch *batch, gsa_error *error)
{
    return gsa_state_update_rows(state, batch, NULL, batch->n_rows, error);
}
