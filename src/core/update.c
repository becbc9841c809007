/* Rows into a state: what the labels mean, which rows are held out, and learning the rest in order. */
#include "core/state.h"

#include "base/error.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/text.h"

#include <math.h>
#include <string.h>

/* More different whole numbers than this are not taken for classes without being told. */
#define CLASSES_MOST 1000

static bool is_word(const gsa_batch *batch, size_t row)
{
    return batch->word && batch->word[row] >= 0;
}

static bool is_whole(double number)
{
    return number == floor(number);
}

static void add_to_origin(gsa__origin *origin, const gsa_batch *batch, size_t row)
{
    origin->hash = gsa__mix(origin->hash ^ gsa__row_hash(batch, row));
    origin->n_rows++;
    if (origin->n_rows >= GSA__ORIGIN_ROWS)
        origin->closed = 1;
}

int gsa_state_began_with(const gsa_state *state, const gsa_batch *first)
{
    gsa__origin origin = {0};
    if (first->n_rows < state->origin.n_rows)
        return 0;
    for (size_t row = 0; row < state->origin.n_rows; row++)
        add_to_origin(&origin, first, row);
    return origin.hash == state->origin.hash;
}

/* ---- deciding ---------------------------------------------------------------------------------------------------- */

static gsa_status check_label(const gsa_batch *batch, size_t row, gsa_error *error)
{
    if (!is_word(batch, row) && !isfinite(batch->label[row]))
        return gsa__fail_row(error, GSA_INPUT, row, "the label is not a finite number");
    if (is_word(batch, row) && (size_t)batch->word[row] >= batch->n_words)
        return gsa__fail_row(error, GSA_ARGUMENT, row, "the label is word %d of %zu", batch->word[row], batch->n_words);
    return GSA_OK;
}

/* Words, or few whole numbers, are classes; a fraction means regression; the rest is the user's to say. */
static gsa_status decide_auto(const gsa_batch *first, gsa__loss *loss, gsa_error *error)
{
    size_t first_word = SIZE_MAX, first_fraction = SIZE_MAX;
    for (size_t row = first->n_rows; row-- > 0;) {
        if (is_word(first, row))
            first_word = row;
        else if (!is_whole(first->label[row]))
            first_fraction = row;
    }
    if (first_word != SIZE_MAX && first_fraction != SIZE_MAX)
        return gsa__fail_row(error, GSA_LABEL, first_fraction,
                             "label %g is a fraction while other labels are words; give --loss softmax if every label "
                             "is the name of a class",
                             first->label[first_fraction]);
    *loss = first_fraction != SIZE_MAX ? GSA__SQUARED : GSA__LOGISTIC;
    return GSA_OK;
}

/* All labels of the rows into the table, in canonical order, after those that are there. */
static gsa_status enter_labels(gsa_state *state, const gsa_batch *first, gsa_error *error)
{
    gsa__labels met;
    gsa__labels_init(&met, &state->env);
    gsa_status status = GSA_OK;
    size_t number;
    for (size_t row = 0; row < first->n_rows && status == GSA_OK; row++)
        status = gsa__labels_add_row(&met, first, row, &number, error);
    if (status == GSA_OK)
        status = gsa__labels_add_sorted(&state->labels, &met, error);
    gsa__labels_release(&met);
    return status;
}

static gsa_status too_many_classes(const gsa_state *state, const char *where, gsa_error *error)
{
    return gsa__fail(error, GSA_LABEL,
                     "%s more than %d different whole numbers as labels: give --loss squared to predict numbers, or "
                     "--loss softmax to tell that many classes apart",
                     where, state->labels.n > CLASSES_MOST ? CLASSES_MOST : (int)state->labels.n);
}

static bool all_labels_are_numbers(const gsa__labels *labels)
{
    for (size_t i = 0; i < labels->n; i++)
        if (!labels->at[i].is_number)
            return false;
    return true;
}

static bool loss_is_auto(const gsa_state *state)
{
    return state->params.value[GSA__PARAM_loss] == GSA__LOSS_AUTO && state->loss != GSA__CUSTOM;
}

static gsa_status logistic_third_label(const gsa_state *state, uint64_t row, gsa_error *error)
{
    return gsa__fail_row(error, GSA_LABEL, row,
                         "label '%s' is the third after '%s' and '%s', and --loss logistic knows two; leave --loss out "
                         "or give --loss softmax",
                         state->labels.at[2].text, state->labels.at[0].text, state->labels.at[1].text);
}

static uint64_t row_of_label(const gsa_state *state, const gsa_batch *batch, size_t label)
{
    for (size_t row = 0; row < batch->n_rows; row++)
        if (gsa__labels_find_row(&state->labels, batch, row) == label)
            return row;
    return GSA_NO_ROW;
}

static gsa_status prepare_classes(gsa_state *state, const gsa_batch *first, gsa_error *error)
{
    gsa_status status = enter_labels(state, first, error);
    if (status != GSA_OK)
        return status;
    if (loss_is_auto(state) && state->labels.n > CLASSES_MOST && all_labels_are_numbers(&state->labels))
        return too_many_classes(state, "the first rows have", error);
    if (!loss_is_auto(state) && state->loss == GSA__LOGISTIC && state->labels.n > 2)
        return logistic_third_label(state, row_of_label(state, first, 2), error);
    return GSA_OK;
}

static void forget_labels(gsa_state *state, size_t n_before)
{
    while (state->labels.n > n_before)
        gsa__labels_drop_last(&state->labels);
    if (state->class_sums.n > state->labels.n + 1)
        state->class_sums.n = state->labels.n + 1;
}

/* Back to before a look at the first rows that failed. */
static void take_back(gsa_state *state, size_t n_labels_before, bool was_undecided)
{
    forget_labels(state, n_labels_before);
    if (was_undecided && state->loss != GSA__UNDECIDED) {
        gsa__contest_close(state);
        gsa__table_release(&state->table, &state->env);
        state->loss = GSA__UNDECIDED;
    }
}

static bool only_tell_labels(const gsa_batch *first)
{
    size_t row = 0;
    while (first->weight && row < first->n_rows && first->weight[row] == 0)
        row++;
    return row == first->n_rows;
}

gsa_status gsa_state_prepare(gsa_state *state, const gsa_batch *first, gsa_error *error)
{
    gsa_status status = gsa__batch_check(first, 1, error);
    if (status != GSA_OK || first->n_rows == 0)
        return status;
    for (size_t row = 0; row < first->n_rows && status == GSA_OK; row++)
        status = check_label(first, row, error);
    gsa__loss loss = state->loss;
    size_t n_labels_before = state->labels.n;
    bool was_undecided = loss == GSA__UNDECIDED;
    if (status == GSA_OK && loss == GSA__UNDECIDED)
        status = decide_auto(first, &loss, error);
    if (status == GSA_OK && gsa__loss_has_classes(loss))
        status = prepare_classes(state, first, error);
    if (status == GSA_OK && state->loss == GSA__UNDECIDED) {
        status = gsa__state_decide(state, loss, error);
        if (status == GSA_OK)
            status = gsa__contest_open(state, error);
    }
    if (status == GSA_OK && gsa__loss_has_classes(loss))
        status = gsa__state_fit_labels(state, error);
    if (status != GSA_OK) {
        take_back(state, n_labels_before, was_undecided);
        return status;
    }
    if (only_tell_labels(first))
        return GSA_OK;
    while (!state->origin.closed && state->origin.n_rows < first->n_rows)
        add_to_origin(&state->origin, first, (size_t)state->origin.n_rows);
    state->origin.closed = 1;
    return GSA_OK;
}

/* ---- labels of later rows ---------------------------------------------------------------------------------------- */

static gsa_status class_of(gsa_state *state, const gsa_batch *batch, size_t row, size_t *out, gsa_error *error)
{
    *out = gsa__labels_find_row(&state->labels, batch, row);
    if (*out != GSA__NO_LABEL)
        return GSA_OK;
    if (loss_is_auto(state) && !is_word(batch, row) && !is_whole(batch->label[row]))
        return gsa__fail_row(error, GSA_LABEL, row,
                             "label %g is a fraction, but the labels of the first rows were taken for classes; give "
                             "--loss squared to predict numbers, or --loss softmax if it is the name of a class",
                             batch->label[row]);
    /* A label stays known for good: everything else that can fail comes first, or takes it out again. */
    double xx;
    gsa__row view = gsa__row_at(batch, row);
    gsa_status status = gsa__state_fit_row(state, &view, &xx, error);
    size_t n_before = state->labels.n;
    if (status == GSA_OK)
        status = gsa__labels_add_row(&state->labels, batch, row, out, error);
    if (status == GSA_OK && loss_is_auto(state) && state->labels.n > CLASSES_MOST &&
        all_labels_are_numbers(&state->labels))
        status = too_many_classes(state, "there are", error);
    else if (status == GSA_OK && !loss_is_auto(state) && state->loss == GSA__LOGISTIC && state->labels.n > 2)
        status = logistic_third_label(state, row, error);
    if (status == GSA_OK)
        status = gsa__state_fit_labels(state, error);
    if (status != GSA_OK)
        forget_labels(state, n_before);
    return status;
}

static gsa_status number_of(const gsa_state *state, const gsa_batch *batch, size_t row, double *out, gsa_error *error)
{
    if (is_word(batch, row))
        return gsa__fail_row(
            error, GSA_LABEL, row, "label '%s' is a word, but %s; give --loss softmax if labels are names of classes",
            batch->words[batch->word[row]],
            loss_is_auto(state) ? "the first rows had numbers to predict" : "this loss predicts numbers");
    *out = batch->label[row];
    return GSA_OK;
}

/* ---- the held-out sample ----------------------------------------------------------------------------------------- */

/* At most a tenth of the rows so far, so that small data is learned rather than kept. */
static size_t sample_most(const gsa_state *state)
{
    uint64_t tenth = (state->n_rows + state->sample.n + 1) / 10;
    uint64_t most = gsa__params_holdout(&state->params);
    return (size_t)(tenth < most ? tenth : most);
}

static gsa_status learn_held(gsa_state *state, gsa__held_row *held, gsa_error *error)
{
    gsa__row row = gsa__held_row_view(held);
    gsa_status status = gsa__state_learn(state, &row, held->class_number, held->number, (double)held->weight, error);
    gsa__free(&state->env, held);
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

/* *held is set if the row is kept out of learning. The first pass chooses; later ones leave the same rows out. */
static gsa_status hold_out(gsa_state *state, const gsa_batch *batch, size_t row, size_t class_number, double y,
                           double c, bool *held, gsa_error *error)
{
    *held = false;
    if (gsa__params_holdout(&state->params) == 0)
        return GSA_OK;
    uint64_t hash = gsa__row_hash(batch, row);
    *held = state->position.pass > 0 ? gsa__sample_leaves_out(&state->sample, hash, state->position.pass)
                                     : gsa__sample_wants(&state->sample, hash, sample_most(state));
    gsa__held_row *equal = *held || state->position.pass > 0 ? NULL : gsa__sample_find(&state->sample, hash);
    if (equal)
        equal->seen += c;
    if (!*held || state->position.pass > 0)
        return GSA_OK;
    gsa_status status = sample_most(state) <= state->sample.n ? fit_last_held(state, error) : GSA_OK;
    if (status != GSA_OK)
        return status;
    gsa__row view = gsa__row_at(batch, row);
    gsa__held_row *kept = gsa__held_row_of(&view, hash, class_number, y, c, &state->env), *pushed_out;
    if (!kept)
        return gsa__fail(error, GSA_MEMORY, "no memory for the held-out sample");
    status = gsa__sample_insert(&state->sample, kept, sample_most(state), &state->env, &pushed_out, error);
    if (status != GSA_OK)
        gsa__free(&state->env, kept);
    else if (pushed_out)
        status = learn_held(state, pushed_out, error);
    return status;
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

/* Label and weight of a row. A row of weight 0 is passed over, but a row of the input all the same. */
struct facts {
    size_t class_number;
    double y, given, c;
};

static gsa_status facts_of(gsa_state *state, const gsa_batch *batch, size_t row, struct facts *out, gsa_error *error)
{
    double c = batch->weight ? (double)batch->weight[row] : 1.0;
    *out = (struct facts){0, 0, c, c};
    if (!(c >= 0) || !isfinite(c))
        return gsa__fail(error, GSA_INPUT, "the weight of the row is %g, expected a finite number of at least 0", c);
    gsa_status status = check_label(batch, row, error);
    if (status != GSA_OK || c == 0)
        return status;
    status = gsa__loss_has_classes(state->loss) ? class_of(state, batch, row, &out->class_number, error)
                                                : number_of(state, batch, row, &out->y, error);
    return status == GSA_OK ? gsa__class_weight_of(state, out->class_number, c, &out->c, error) : status;
}

/* Into the sample, however many there are; equal rows add up. */
static gsa_status keep(gsa_state *state, const gsa_batch *batch, size_t row, const struct facts *facts,
                       gsa_error *error)
{
    gsa__row view = gsa__row_at(batch, row);
    gsa__held_row *held = gsa__held_row_of(&view, gsa__row_hash(batch, row), facts->class_number, facts->y,
                                           facts->given, &state->env),
                  *pushed_out;
    if (!held)
        return gsa__fail(error, GSA_MEMORY, "no memory for the held-out sample");
    gsa__held_row *equal = gsa__sample_find(&state->sample, held->hash);
    if (equal) {
        equal->weight += held->weight;
        equal->seen += held->seen;
        gsa__free(&state->env, held);
        return GSA_OK;
    }
    gsa_status status = gsa__sample_insert(&state->sample, held, SIZE_MAX, &state->env, &pushed_out, error);
    if (status != GSA_OK)
        gsa__free(&state->env, held);
    return status;
}

static gsa_status take_row(gsa_state *state, const gsa_batch *batch, size_t row, gsa_error *error)
{
    struct facts facts;
    gsa_status status = facts_of(state, batch, row, &facts, error);
    bool held = facts.given == 0;
    if (status == GSA_OK && !held)
        status = hold_out(state, batch, row, facts.class_number, facts.y, facts.c, &held, error);
    gsa__row view = gsa__row_at(batch, row);
    if (status == GSA_OK && !held)
        status = gsa__state_learn(state, &view, facts.class_number, facts.y, facts.c, error);
    if (status == GSA_OK && facts.given > 0)
        gsa__class_sums_add(state, facts.class_number, facts.given);
    if (status == GSA_OK && !state->origin.closed)
        add_to_origin(&state->origin, batch, row);
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

gsa_status gsa__state_learn_sample(gsa_state *state, gsa_error *error)
{
    gsa_status status = GSA_OK;
    for (size_t i = 0; i < state->sample.n && status == GSA_OK; i++) {
        const gsa__held_row *held = state->sample.at[i];
        gsa__row row = gsa__held_row_view(held);
        status = gsa__state_learn(state, &row, held->class_number, held->number, (double)held->weight, error);
    }
    return status;
}

gsa_status gsa_state_hold_out(gsa_state *state, const gsa_batch *batch, const uint32_t *rows, size_t n_rows,
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
