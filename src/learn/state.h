/* A state as other folders see it: accessors to its parts. The struct is in learn/inside.h, which only src/learn
 * includes; docs/ARCHITECTURE.md, "The state", says what each part means. */
#ifndef GSA_LEARN_STATE_H
#define GSA_LEARN_STATE_H

#include "learn/basis.h"
#include "learn/config.h"
#include "learn/group.h"
#include "learn/holdout.h"
#include "learn/labels.h"
#include "learn/loss/loss.h"
#include "learn/names.h"
#include "learn/results.h"
#include "learn/table.h"
#include "learn/waiting.h"

#include <greedystep/distributed.h>

/* The position of the run in its input. */
typedef struct gsai_position {
    uint64_t pass;
    uint64_t pass_rows; /* rows taken in this pass, learned, held out or of weight 0 */
    double loss_sum, loss_weight;
    double last_pass_loss;
    /* Progressive loss and weight of the rows since the last power of two, and of those between it and the one before.
     */
    double late_loss_sum, late_loss_weight;
    double earlier_loss_sum, earlier_loss_weight;
    double held_out_loss; /* of rows that were held out earlier and are not now; or NaN */
    double constant_loss; /* the same of the best constant prediction */
} gsai_position;

/* The averaged and calibrated weights that were best on the held-out rows, [slots x outputs]. learn/quality.c. */
typedef struct gsai_best_checkpoint {
    float *weight; /* NULL: none */
    size_t n_slots, n_outputs;
    uint64_t pass;
    double loss;
    double scale, offset; /* by which the weights were calibrated */
} gsai_best_checkpoint;

/* ---- a state as a whole -------------------------------------------------------------------------------------------
 */

/* Makes an empty state with these parameters. */
gsa_status gsai_state_create(const gsai_params *params, const gsai_env *env, gsa_state **out, gsa_error *error);
/* Makes a copy that may take the place of the state: it begins with the same rows. */
gsa_status gsai_state_twin(const gsa_state *state, gsa_state **out, gsa_error *error);
/* Makes a copy in which no row waits: rows that wait to be solved are; goes_on: as those that others follow, else after
 * the labels of a state that started from nothing are sorted. Then the group is closed. */
gsa_status gsai_state_closed(const gsa_state *state, bool goes_on, gsa_state **out, gsa_error *error);
/* Learns the rows that are held out, which stay there. GSA_STOPPED if `stop` asks for it. */
gsa_status gsai_state_learn_sample(gsa_state *state, const gsai_env *stop, gsa_error *error);

/* ---- its parts --------------------------------------------------------------------------------------------------- */

const gsai_env *gsai_state_env(const gsa_state *state);
const gsai_params *gsai_state_params(const gsa_state *state);
/* Returns the value of a parameter. */
uint64_t gsai_state_param(const gsa_state *state, gsai_param_id id);
/* Returns how many passes are asked for; 0: as many as help. */
static inline uint64_t gsai_state_passes(const gsa_state *state)
{
    uint64_t passes = gsai_state_param(state, GSAI_PARAM_passes);
    return passes == GSA_COUNT_AUTO ? 0 : passes;
}
/* Decides the order of rows, which was left open. */
void gsai_state_set_order(gsa_state *state, uint64_t order);
/* Returns NULL while the loss is undecided. */
const gsai_loss *gsai_state_loss(const gsa_state *state);
const gsai_labels *gsai_state_labels(const gsa_state *state);
const gsai_names *gsai_state_names(const gsa_state *state);
const gsai_sample *gsai_state_sample(const gsa_state *state);
const gsai_position *gsai_state_position(const gsa_state *state);
const gsai_best_checkpoint *gsai_state_best_checkpoint(const gsa_state *state);
/* Returns the results of an optimum; of no meaning if the state is not solved. */
const gsai_results *gsai_state_results(const gsa_state *state);
/* Returns the curves, and sets them, of a state without weights. */
const gsai_basis *gsai_state_basis(const gsa_state *state);
gsa_status gsai_state_set_basis(gsa_state *state, const gsai_basis *basis, gsa_error *error);
const gsai_table *gsai_state_table(const gsa_state *state);
/* Returns the mean step. */
const gsai_step_mean *gsai_state_step(const gsa_state *state);
/* Returns the table, to grow it. */
gsai_table *gsai_state_own_table(gsa_state *state);
const gsai_prior_totals *gsai_state_prior(const gsa_state *state);

/* ---- its numbers ------------------------------------------------------------------------------------------------- */

/* Return the rows learned in this run, and the rows behind the counts of features, those of earlier runs included. */
uint64_t gsai_state_n_rows(const gsa_state *state);
uint64_t gsai_state_rows_behind(const gsa_state *state);
/* Returns whether a run that started from others has fewer rows than those had. A second pass over its rows would make
 * them count for more than all earlier ones. */
static inline bool gsai_state_has_more_behind(const gsa_state *state, uint64_t passes)
{
    uint64_t n = gsai_state_n_rows(state);
    return gsai_state_rows_behind(state) - n > n / passes &&
           gsai_state_param(state, GSAI_PARAM_method) != GSAI_METHOD_PAPER;
}
/* Returns the number of distinct rows that the weights are the optimum of; 0: they are not one. */
uint64_t gsai_state_n_solved(const gsa_state *state);
/* Returns the number of outputs: 1, or one per class. */
size_t gsai_state_n_outputs(const gsa_state *state);
/* Returns whether the table learns standardised features. */
bool gsai_state_is_standardised(const gsa_state *state);
/* Returns what labels are measured from. The intercept of the table is relative to it. */
double gsai_state_label_offset(const gsa_state *state);
/* Returns the rows that wait to be solved, or learned together with others; gsa_state_close_group learns them. */
size_t gsai_state_n_waiting(const gsa_state *state);

/* ---- rows that wait to be solved (waiting.h) ----------------------------------------------------------------------
 */

/* Returns whether rows wait before they are learned: nothing was learned in this run, and its loss can be solved. */
bool gsai_state_gathers(const gsa_state *state);
/* Returns whether no more rows than these may wait in a state that is updated row by row. */
bool gsai_state_is_full(const gsa_state *state);
/* Returns the state or, where rows wait, what was solved of them when there were at least half as many, with the same
 * labels. It belongs to the state. */
gsa_status gsai_state_so_far(gsa_state *state, const gsa_state **out, gsa_error *error);
/* Lets rows of a state that gathers wait, and decides on the loss if it is open; is_bounded: until it is full.
 * *n_taken: how many. On failure those before the row of the error wait. */
gsa_status gsai_state_wait(gsa_state *state, const gsa_batch *batch, const uint32_t *rows, size_t n_rows,
                           gsai_solve_fn *solve, bool is_bounded, size_t *n_taken, gsa_error *error);
/* Numbers the labels of rows that wait, from n_known on, in their canonical order, as if all rows had come at once. On
 * failure the state can only be freed. */
gsa_status gsai_state_sort_labels(gsa_state *state, size_t n_known, gsa_error *error);
const gsai_waiting *gsai_state_waiting(const gsa_state *state);
/* Returns the rows that wait, the caller's from now on; NULL: none. */
gsai_waiting *gsai_state_take_waiting(gsa_state *state);
/* Sets what solves the rows that wait, which files do not say. */
void gsai_state_set_solver(gsa_state *state, gsai_solve_fn *solve);
/* Solves the rows that wait. goes_on: rows are learned after them, so some are held out, and those of a sample decide
 * the scaling and begin the weights; the others are learned. Else all are solved, if they are not too many for that.
 * On failure the state can only be freed. */
gsa_status gsai_state_settle(gsa_state *state, bool goes_on, const gsai_env *env, gsa_error *error);
/* Learns rows as gsa_state_update_rows does, but none waits before. */
gsa_status gsai_state_learn_rows(gsa_state *state, const gsa_batch *batch, const uint32_t *rows, size_t n_rows,
                                 gsa_error *error);

/* Returns how the weights were found: "optimum", "gsa" or "paper". */
const char *gsai_state_method(const gsa_state *state);
/* Returns whether two classes share one output. */
bool gsai_state_is_binary(const gsa_state *state);
/* Returns whether a loss of the caller's, which files do not contain, has to be set again. */
bool gsai_state_lacks_loss(const gsa_state *state);
/* Returns how the state takes the offsets of rows. */
gsai_offset gsai_state_offset(const gsa_state *state);
/* Returns the target of a held-out row. */
gsai_target gsai_held_target(const gsa_state *state, const gsai_held_row *held);

/* Return the rows that a slot was in, and its sum of squares, prior totals included. */
uint64_t gsai_state_n_seen(const gsa_state *state, size_t slot);
double gsai_state_sum_sq(const gsa_state *state, size_t slot);
/* Returns the weight that the model would have: last, or averaged as the parameters say.
 * avg = w - sum total(t - 1) D_t / total(now): weights before row t lack its update D_t. */
double gsai_state_average(const gsa_state *state, size_t slot, size_t output);
/* Returns the total weight in the average of the weights after the first t rows: 1 each; if recent ones count most, t
 * (t + 1) after row t (polynomial decay, Shamir and Zhang 2013), which has no jumps and costs one number per weight. */
double gsai_averaging_total(const gsa_state *state, uint64_t t);
/* Returns the total weight in the average of now; 0: the last weights are the model's. */
double gsai_state_average_total(const gsa_state *state);

/* Returns the intercept of a class that none of the rows so far had: -log(rows + 1), not 0, or one stray label would
 * take a share of every probability. 0 without probabilities or an intercept, and in the paper's method. */
double gsai_state_unseen(const gsa_state *state);

/* Returns the number of features whose values are so small that their squares underflow a float: they learn nothing. */
size_t gsai_state_count_tiny(const gsa_state *state);

#endif
