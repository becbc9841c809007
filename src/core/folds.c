/* Copies that each left out a part of the same rows, into one: their mean, calibrated by the rows each had left out.
 *
 * One copy that learns all rows in one order carries the noise of that order; the mean of several carries less of it.
 * And every row is judged by a copy that has not seen it, so that all rows tell how confident the mean may be. */
#include "core/calibrate.h"
#include "core/merge.h"
#include "core/team.h"

#include "base/error.h"
#include "base/hash.h"
#include "base/memory.h"

#include <stdlib.h>

/* A row by its features, for dealing it out. */
typedef struct dealt_row {
    uint64_t features, all; /* hashes */
    uint32_t row;
} dealt_row;

static int compare_dealt(const void *a, const void *b)
{
    const dealt_row *x = a, *y = b;
    if (x->features != y->features)
        return x->features < y->features ? -1 : 1;
    if (x->all != y->all)
        return x->all < y->all ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

/* The end of the run of rows from `from` on that are equal in features, or in label too. */
static size_t run_end(const dealt_row *sorted, size_t from, size_t n, bool labels)
{
    size_t end = from + 1;
    while (end < n && sorted[end].features == sorted[from].features && (!labels || sorted[end].all == sorted[from].all))
        end++;
    return end;
}

/* Copies of a row have its label. Equal features that often come with different labels are rows of their own, of which
 * the others tell something; and with few kinds of rows each has to be learned from all others. */
#define KINDS_A_FOLD 8u
#define SAME_LABEL 0.9

static bool by_features(const dealt_row *sorted, size_t n, uint32_t n_folds)
{
    size_t n_kinds = 0;
    double extra = 0, same = 0; /* rows beyond the first of a kind; those of them that a row of the kind agrees with */
    for (size_t i = 0, end; i < n; i = end, n_kinds++) {
        end = run_end(sorted, i, n, false);
        extra += (double)(end - i - 1);
        for (size_t l = i, next; l < end; l = next) {
            next = run_end(sorted, l, end, true);
            same += (double)(next - l) * (double)(next - l - 1) / (double)(end - i);
        }
    }
    return n_kinds >= (size_t)KINDS_A_FOLD * n_folds && same >= SAME_LABEL * extra;
}

gsa_status gsa__fold_rows(const gsa_batch *rows, uint64_t seed, uint32_t n_folds, const gsa_env *env, uint8_t *fold,
                          gsa_error *error)
{
    size_t n = rows->n_rows, kind = 0;
    dealt_row *dealt = gsa__alloc(env, n, sizeof *dealt);
    if (!dealt)
        return gsa__fail_memory(env, error, "no memory for the folds of %zu rows", n);
    for (size_t i = 0; i < n; i++) {
        uint64_t features = gsa__mix(gsa__row_features_hash(rows, i) ^ gsa__mix(seed));
        dealt[i] = (dealt_row){features, gsa__mix(features ^ gsa__row_label_hash(rows, i)), (uint32_t)i};
    }
    qsort(dealt, n, sizeof *dealt, compare_dealt);
    bool whole = by_features(dealt, n, n_folds);
    for (size_t i = 0; i < n && !whole; i++)
        dealt[i].all = 0; /* labels do not decide where a row goes */
    if (!whole)
        qsort(dealt, n, sizeof *dealt, compare_dealt);
    for (size_t i = 0; i < n; i++) {
        kind += i > 0 && (!whole || dealt[i].features != dealt[i - 1].features);
        fold[dealt[i].row] = (uint8_t)(kind % n_folds);
    }
    gsa__free(env, dealt);
    return GSA_OK;
}

static double mean_last_pass_loss(const gsa_state *const *states, size_t n_states)
{
    double sum = 0;
    for (size_t s = 0; s < n_states; s++)
        sum += states[s]->position.last_pass_loss / (double)n_states;
    return sum;
}

/* The average term is what the average lacks of the last weights: calibrated averages make another one. */
static void calibrate_average(gsa_state *state, const gsa__calibration *calibration)
{
    gsa__table *table = &state->table;
    double total = gsa__clock_total(state, state->clock.now);
    bool averaged = state->params.value[GSA__PARAM_average] != GSA__AVERAGE_LAST && total > 0;
    for (size_t slot = 0; slot < table->n_slots; slot++) {
        gsa__cell *weight = gsa__table_slot(table, slot), *average = weight + gsa__table_average(table);
        for (size_t k = 0; k < table->n_outputs; k++) {
            double goal = gsa__calibrated(calibration, state, slot, gsa__state_average(state, slot, k));
            if (averaged)
                average[k].f = (float)(total * ((double)weight[k].f - goal));
            else
                weight[k].f = (float)goal;
        }
    }
}

gsa_status gsa__state_merge_folds(const gsa_state *const *states, size_t n_states, const gsa_state *base,
                                  const gsa_env *env, gsa_state **out, double *loss, gsa_error *error)
{
    gsa__calibration calibration;
    if (n_states < 2 || !base)
        return gsa__fail(error, GSA_ARGUMENT, "folds need a base and at least two copies of it");
    for (size_t s = 1; s < n_states; s++)
        if (states[s]->loss != states[0]->loss || !gsa__labels_equal(&states[s]->labels, &states[0]->labels))
            return gsa__fail(error, GSA_ARGUMENT,
                             "the copies have met different labels: prepare the base with all rows");
    double constant;
    gsa_status status = gsa__constant_loss(states, n_states, &constant, error);
    if (status == GSA_OK)
        status = gsa__calibrate(states, n_states, &states[0]->env, &calibration, error);
    if (status == GSA_OK)
        status = gsa__merge(states, n_states, base, n_states - 1, env, out, error);
    if (status != GSA_OK)
        return status;
    (*out)->params = base->params;
    (*out)->position.last_pass_loss = mean_last_pass_loss(states, n_states);
    (*out)->position.held_out_loss = calibration.loss;
    (*out)->position.constant_loss = constant;
    calibrate_average(*out, &calibration);
    *loss = calibration.loss;
    return GSA_OK;
}
