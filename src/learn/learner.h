/* Learning rows: one by one or in groups, and what is measured of them on the way. */
#ifndef GSA_LEARN_LEARNER_H
#define GSA_LEARN_LEARNER_H

#include "learn/state.h"

#include <float.h>

/* Makes room for a row, whose values must be finite, and what it takes to learn it. */
gsa_status gsai_state_fit_row(gsa_state *state, const gsai_row *row, gsa_error *error);
/* Learns one row. Class for losses with classes, y for the others, c > 0 its weight. */
gsa_status gsai_state_learn(gsa_state *state, const gsai_row *row, size_t class_number, double y, double c,
                            gsa_error *error);
/* Learns a row that was staged for its group, since when none was learned. */
gsa_status gsai_state_learn_staged(gsa_state *state, const gsai_staged *staged, size_t class_number, double y, double c,
                                   gsa_error *error);

/* Returns what to do about weights that are no longer finite; y: the label of the row, 0 if it is not known. */
const char *gsai_diverged_remedy(const gsa_state *state, double y);

/* Learns the rows that are held out, which stay there. GSA_STOPPED if `stop` asks for it. update.c. */
gsa_status gsai_state_learn_sample(gsa_state *state, const gsai_env *stop, gsa_error *error);

/* Asks for the records of a quarter of the entries of the row ahead. Not all at once: the processor can wait for a
 * dozen or so at a time. */
__attribute__((always_inline)) static inline void gsai_state_fetch(const gsa_state *state, size_t quarter)
{
    const gsai_row *row = &state->ahead;
    size_t size = gsai_table_stride(&state->table) * sizeof(gsai_cell);
    uintptr_t first = (uintptr_t)state->table.cells + size; /* a number: the table may not reach as far yet */
    for (size_t i = row->n * quarter / 4, end = row->n * (quarter + 1) / 4; i < end; i++)
        __builtin_prefetch((const void *)(first + row->index[i] * size), 1);
}

/* ---- groups: group.c, and of several outputs group_many.c -------------------------------------------------------- */

/* Returns whether rows are learned in groups (gsa_state_close_group closes one). */
static inline bool gsai_state_has_groups(const gsa_state *state)
{
    return state->loss && state->params.value[GSAI_PARAM_method] != GSAI_METHOD_PAPER;
}

/* Copies a row behind those that wait and looks at it on the way; the second makes it one of them if nothing was
 * learned in between, GSA_INPUT if a value of it is not finite. */
gsa_status gsai_group_stage(gsa_state *state, const gsai_row *row, gsai_staged *out, gsa_error *error);
gsa_status gsai_group_add(gsa_state *state, const gsai_staged *staged, size_t class_number, double y, double c,
                          gsa_error *error);
bool gsai_group_is_full(const gsa_state *state);
/* Makes room for a row and what it takes to learn it, several times. */
gsa_status gsai_group_fit(gsa_state *state, const gsai_row *row, gsa_error *error);
/* Learns the group with this table; *loss is the weighted sum of the losses of its rows. GSA_DIVERGED, without a
 * message, if margins are not finite. */
gsa_status gsai_group_learn(gsa_state *state, gsai_table *table, gsai_step_mean *mean, bool standardised,
                            double past_weight, double *loss);
/* Finds the directions of a group whose rows have much the same features, by columns; x.Dx, and what the origins of the
 * values add up to in them. False: it is to be learned by rows. */
bool gsai_group_direct_columns(gsa_state *state, const gsai_table *table, const gsai_counts_before *before,
                               bool standardised, double *xdx, double *origins);
/* Finds the greedy steps of the rows, whose directions are known, and the weighted sum of their losses; the gradient
 * scales stay in the state. False if a margin is not finite. */
bool gsai_group_greedy_steps(gsa_state *state, const gsai_table *table, const gsai_target *target,
                             gsai_greedy_step *out, double *loss);
/* Returns the gradient scales of a row, in the state's margins. */
const double *gsai_group_scales(gsa_state *state, const gsai_table *table, size_t row);
/* Moves the weights by scale times the gradient scales of each row times its direction; intercept: that of slot 0. */
void gsai_group_update_many(gsa_state *state, gsai_table *table, const float *scale, const double *intercept,
                            float past_weight);
void gsai_group_clear(gsai_group *group);
gsa_status gsai_group_copy(gsa_state *to, const gsa_state *from, gsa_error *error);

/* ---- labels and weights of rows ---------------------------------------------------------------------------------- */

/* Check whether a value can be a label (else GSA_INPUT), and take what it means to the state, which may be a new class.
 * prepare.c. */
gsa_status gsai_label_check(const gsa_batch *batch, size_t row, gsa_error *error);
gsa_status gsai_label_take(gsa_state *state, const gsa_batch *batch, size_t row, size_t *class_number, double *y,
                           gsa_error *error);

/* Enters a label of weight c that is about to be learned, and moves the offset if it is time. label_offset.c. */
void gsai_label_offset_add(gsa_state *state, double y, double c);
/* Fills in the weight of a row of this class and weight c; gsai_class_sums_add counts the row once it is taken. */
gsa_status gsai_class_weight_balanced(gsa_state *state, size_t class_number, double c, double *out, gsa_error *error);
static inline gsa_status gsai_class_weight_of(gsa_state *state, size_t class_number, double c, double *out,
                                              gsa_error *error)
{
    *out = c;
    return gsai_params_balance(&state->params) ? gsai_class_weight_balanced(state, class_number, c, out, error)
                                               : GSA_OK;
}
static inline void gsai_class_sums_add(gsa_state *state, size_t class_number, double c)
{
    if (!gsai_params_balance(&state->params))
        return;
    state->class_sums.at[0] += c;
    state->class_sums.at[class_number + 1] += c;
}

/* ---- columns: centre.c ------------------------------------------------------------------------------------------- */

/* Makes room for the columns of a row; enters the rows of a group, before they are counted. */
gsa_status gsai_centre_reserve(gsa_state *state, const uint32_t *slot, size_t n, gsa_error *error);
void gsai_centre_group(gsa_state *state);
/* Returns the rows before the group that had a feature, by the counts of this table. */
static inline double gsai_state_rows_of(const gsa_state *state, const gsai_table *table, size_t slot)
{
    return (double)gsai_table_slot(table, slot)[gsai_table_count(table)].u +
           (slot < state->prior.n ? (double)state->prior.count[slot] : 0);
}
/* Returns the standard deviation of a feature over all rows, absent ones counted as 0: exact for ones, from the centre
 * of columns that are or were present in nearly all rows, else from the mean square and the count, within a factor of
 * sqrt(2) while it is present in at most half of the rows. docs/decisions/0031. */
double gsai_state_deviation(const gsa_state *state, size_t slot);
/* Where the values of a feature are measured from, and 1 / their unit; below 0: it is that of the table. */
typedef struct gsai_measure {
    double origin;
    float per_unit;
} gsai_measure;
gsai_measure gsai_measure_of(const gsa_state *state, const gsai_table *table, size_t slot);
/* Returns the float that is nearest among the finite ones. */
static inline float gsai_finite_float(double x)
{
    x = x < (double)FLT_MAX ? x : (double)FLT_MAX;
    return (float)(x > -(double)FLT_MAX ? x : -(double)FLT_MAX);
}

#endif
