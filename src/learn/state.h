/* The inside of a state. What each part means is in docs/ARCHITECTURE.md, "The state". */
#ifndef GSA_LEARN_STATE_H
#define GSA_LEARN_STATE_H

#include "learn/config.h"
#include "learn/holdout.h"
#include "learn/kernel/kernel.h"
#include "learn/labels.h"
#include "learn/loss/loss.h"
#include "learn/names.h"
#include "learn/residuals.h"
#include "learn/results.h"
#include "learn/table.h"

#include <greedystep/distributed.h>

/* Returns the loss that parameters name; NULL: it is still to be decided. */
static inline const gsai_loss *gsai_loss_asked(const gsai_params *params)
{
    return gsai_loss_find(params->text[GSAI_PARAM_loss]);
}

/* The mean of the greedy steps: sum c eta / sum c. */
typedef struct gsai_step_mean {
    double sum;
    double weight;
} gsai_step_mean;

/* The average is over the weights after rows first .. now, and starts anew at row restart (never, but for suffix
 * averages). */
typedef struct gsai_averaging {
    uint64_t now;
    uint64_t first;
    uint64_t restart;
    uint64_t per_row; /* what a row adds to `now`: the number of copies that learn side by side */
} gsai_averaging;

/* Where the run stands in its input. */
typedef struct gsai_position {
    uint64_t pass;
    uint64_t pass_rows; /* rows taken in this pass, learned, held out or of weight 0 */
    double loss_sum, loss_weight;
    double last_pass_loss;
    /* Progressive loss and weight of the rows since the last power of two, and of those between it and the one before.
     */
    double late[2], earlier[2];
    double held_out_loss; /* of rows that were held out and are no longer; NaN */
    double constant_loss; /* the same of the best constant prediction */
} gsai_position;

/* Totals that the table's counts do not hold: sums of squares and counts of features from before (another run, merged
 * states, or so many rows that a 32-bit count would overflow). n slots, perhaps fewer than the table's. */
typedef struct gsai_prior_totals {
    double *sum_sq;
    uint64_t *count;
    size_t n, capacity_sum_sq, capacity_count;
} gsai_prior_totals;

/* The weights that rows were given in the first pass. A row counts for its share of their mean, so that a common factor
 * changes nothing. */
typedef struct gsai_row_weights {
    double sum, max;
    uint64_t n_rows;
} gsai_row_weights;

/* Returns how much heavier than the mean the heaviest row is, at most 8. */
static inline double gsai_row_weights_ratio(const gsai_row_weights *weights)
{
    double ratio = weights->sum > 0 ? weights->max * (double)weights->n_rows / weights->sum : 1;
    return ratio < 1 ? 1 : ratio < 8 ? ratio : 8;
}

static inline void gsai_row_weights_add(gsai_row_weights *weights, double c)
{
    weights->sum += c;
    weights->max = c > weights->max ? c : weights->max;
    weights->n_rows++;
}

/* Squared loss learns labels as differences from an offset, which a float weight can hold however large the labels are:
 * the mean of the first labels, taken anew at every power of two rows until it is settled. The intercept of the table
 * is relative to it. With a log link it is the logarithm of that mean: the unit of rates does not matter. */
#define GSAI_LABEL_OFFSET_ROWS 4096u
typedef struct gsai_label_offset {
    double at;           /* 0 for all other losses, and without an intercept */
    double mean, weight; /* of the labels so far */
    uint64_t settled;
} gsai_label_offset;

/* With --class-weight balanced: the weight of all rows so far, then of those of each class. */
typedef struct gsai_class_sums {
    double *at;
    size_t n, capacity; /* n: 0, or up to the labels + 1 */
} gsai_class_sums;

/* Mean and sum of squares around it of a column, over the rows where it was present while present in nearly all rows
 * (in one of 20, of rows in memory). */
typedef struct gsai_column {
    double n, mean, squares;
} gsai_column;

/* Columns beyond are never centred: their means would cost memory as the weights do. */
#define GSAI_MAX_COLUMNS 65536u
/* Columns by slot, as far as there are any that were ever present in nearly all rows. learn/centre.c. */
typedef struct gsai_centre {
    gsai_column *at;
    size_t n, capacity;
} gsai_centre;

/* Two ways to learn the same rows, side by side, until held-out and progressive loss choose one: with features as given
 * (the state's own table), and standardised. learn/scaling.c. */
typedef struct gsai_scaling {
    gsai_table table; /* of standardised features */
    gsai_step_mean step;
    /* Progressive losses, as given and standardised: of the rows since the last power of two, and of those between the
     * last and the one before it. Together that is the last half to three quarters of the rows. */
    double loss[2], earlier_loss[2];
    double held_out_loss[2]; /* of all held-out rows together, at the last power of two; of one output */
    uint64_t restart;        /* the next power of two */
} gsai_scaling;

/* The averaged and calibrated weights that were best on the held-out rows, [slots x outputs]. learn/quality.c. */
typedef struct gsai_best_checkpoint {
    float *weight; /* NULL: none */
    size_t n_slots, n_outputs;
    uint64_t pass;
    double loss;
    double scale, offset; /* by which the weights were calibrated */
} gsai_best_checkpoint;

/* Identifies a run: a rolling hash of its first rows. Two states that began alike must not be added up. */
#define GSAI_RUN_ID_ROWS 1024u
typedef struct gsai_run_id {
    uint64_t hash;
    uint64_t n_rows; /* rows in the hash */
    uint64_t closed; /* nonzero: no more rows enter */
} gsai_run_id;

/* What dropping the weakest features came to: features, and the loss of rows that were not learned. */
typedef struct gsai_compaction {
    uint64_t n_before, n_after; /* both 0: nothing was tried */
    double loss_before, loss_after, error_of_mean;
} gsai_compaction;

struct gsa_state {
    gsai_env env;
    gsai_params params;
    const gsai_loss *loss; /* NULL: undecided */
    gsai_labels labels;
    uint64_t
        n_label_values; /* different whole numbers by which the loss was decided, 0: not by them; not kept in files */
    gsai_compaction compaction; /* of this run; not kept in files */
    char *schema;               /* NULL: none; learn/schema.h */
    gsai_names names;
    gsai_table table; /* cells NULL until the loss is decided */
    gsai_prior_totals prior;
    gsai_class_sums class_sums;
    gsai_row_weights row_weights;
    gsai_label_offset label_offset;
    gsai_residuals residuals; /* of losses with a width */
    gsai_centre centre;
    gsai_scaling *scaling; /* NULL: decided, or nothing to decide */
    bool is_frozen;        /* rows are counted and move no weight */
    uint64_t n_solved;     /* different rows that the weights are the optimum of; 0: they are none */
    gsai_results results;  /* of an optimum; else of no meaning */
    uint64_t standardised; /* whether the table learns standardised features; a number, as files have it */
    uint64_t rows_behind;  /* rows behind the counts of features, those of earlier runs included */
    gsai_step_mean step;
    gsai_averaging averaging;
    gsai_position position;
    uint64_t n_rows;                     /* learned in this run */
    uint64_t n_counted;                  /* learned since the table's counts were folded */
    double squared_error, squared_label; /* sums, to notice that squared loss diverges */
    gsai_run_id run_id;
    gsa_fingerprint rows;                      /* that were taken in the first pass */
    char input_position[GSA_MAX_POSITION + 1]; /* where the input is to go on, in its own terms; "": not known */
    uint64_t *lineage; /* ids of the runs this one contains or started from, ascending, without its own; one comes
                        * twice if a run on the same rows was started from */
    size_t n_lineage, lineage_capacity;
    uint64_t n_merged;
    gsai_sample sample;
    gsai_best_checkpoint best_checkpoint;
    double *margins; /* scratch, one number per output; they share memory with the scales */
    float *scales;   /* of the rows of a group, each a multiple of 16 long */
    void *scratch;
    size_t scratch_capacity;
    gsai_group group;     /* rows that wait to be learned together */
    gsai_row ahead;       /* a row to come, whose records are asked for while this one is learned; n 0: none */
    gsai_entries entries; /* of the row that is being learned */
    const gsai_kernels *kernels;
};

/* Returns how the weights were found: "optimum", "gsa" or "paper". */
const char *gsai_state_method(const gsa_state *state);

/* Returns whether two classes share one output. */
static inline bool gsai_state_is_binary(const gsa_state *state)
{
    return gsai_loss_has_classes(state->loss) && state->table.n_outputs == 1;
}

/* Returns whether a loss of the caller's, which files do not contain, has to be set again. */
static inline bool gsai_state_lacks_loss(const gsa_state *state)
{
    return gsai_loss_is_custom(state->loss) && !state->params.has_custom_loss;
}

/* Makes an empty state with these parameters. */
gsa_status gsai_state_create(const gsai_params *params, const gsai_env *env, gsa_state **out, gsa_error *error);

/* Sets the loss and makes the table. For classes the labels may be entered before or after. */
gsa_status gsai_state_decide(gsa_state *state, const gsai_loss *loss, gsa_error *error);
/* Makes room for the labels there are now: more outputs, or one output for two classes becomes one per class (logistic
 * becomes softmax). On failure nothing has changed. */
gsa_status gsai_state_fit_labels(gsa_state *state, gsa_error *error);
/* Turns one output for two classes into two, of the same model. */
gsa_status gsai_state_split(gsa_state *state, gsa_error *error);
/* Returns the intercept of a class that none of the rows so far had: -log(rows + 1), not 0, or one stray label would
 * take a share of every probability. 0 without probabilities or an intercept, and in the paper's method. */
double gsai_state_unseen(const gsa_state *state);
static inline size_t gsai_scales_stride(size_t n_outputs)
{
    return (n_outputs + 15) / 16 * 16;
}
/* Makes room for features up to that slot, in both tables or in none. */
gsa_status gsai_state_fit_slots(gsa_state *state, size_t n_slots, gsa_error *error);
gsa_status gsai_state_reserve_scratch(gsa_state *state, size_t n_outputs, gsa_error *error);

/* Makes a copy whose group is closed. fork.c. */
gsa_status gsai_state_closed(const gsa_state *state, gsa_state **out, gsa_error *error);

/* Sets the offset of a merged state: that of its parts, or, if they differ, the mean over their rows. base: what they
 * are copies of, or NULL. */
void gsai_label_offset_merge(gsa_state *into, const gsa_state *const *states, size_t n_states, const gsa_state *base);

static inline bool gsai_params_balance(const gsai_params *params)
{
    return params->value[GSAI_PARAM_class_weight] == GSAI_CLASS_WEIGHT_BALANCED;
}
/* Returns GSA_ARGUMENT if class weights are asked for and the loss has no classes. class_weight.c. */
gsa_status gsai_class_weight_check(const gsai_params *params, const gsai_loss *loss, gsa_error *error);
gsa_status gsai_class_sums_grow(gsai_class_sums *sums, size_t n, const gsai_env *env, gsa_error *error);

/* Copies the sample into a state that has none. fork.c. */
gsa_status gsai_state_copy_sample(gsa_state *to, const gsa_state *from, gsa_error *error);
gsa_status gsai_best_checkpoint_copy(gsa_state *to, const gsa_state *from, gsa_error *error);
/* Whether a loop over rows, each of which costs many outputs, should end; env NULL: it should not. With few outputs
 * such a loop ends soon anyway, and nothing is asked. */
#define GSAI_MANY_OUTPUTS 256u
static inline bool gsai_rows_should_stop(const gsai_env *env, size_t n_outputs)
{
    return env && n_outputs >= GSAI_MANY_OUTPUTS && gsai_should_stop(env);
}
/* Returns whether low kinds stay in the sample above the threshold, too: if all their labels can. */
static inline bool gsai_state_keeps_low(const gsa_state *state)
{
    return gsai_loss_has_probabilities(state->loss) && state->labels.n <= GSAI_COMMON_LABELS &&
           GSAI_SAMPLE_MANY * state->labels.n <= gsai_params_holdout(&state->params);
}
/* Returns the width of the loss, 0 if it has none. */
static inline double gsai_state_width(const gsa_state *state)
{
    return state->loss && state->loss->has_width ? state->residuals.width : 0;
}
/* Returns the target of a row with this class or number. */
static inline gsai_target gsai_state_target(const gsa_state *state, size_t class_number, double number)
{
    double at = state->label_offset.at, width = gsai_state_width(state);
    const gsa_margin_loss *custom = &state->params.custom_loss;
    if (state->loss && state->loss->has_log_link)
        return (gsai_target){class_number, number, custom, width, at};
    return (gsai_target){class_number, number - at, custom, width, 0};
}
static inline gsai_target gsai_held_target(const gsa_state *state, const gsai_held_row *held)
{
    return gsai_state_target(state, held->class_number, held->number);
}

/* Returns the rows that a slot was in, prior totals included. */
static inline uint64_t gsai_state_n_seen(const gsa_state *state, size_t slot)
{
    uint64_t count = slot < state->prior.n ? state->prior.count[slot] : 0;
    if (slot < state->table.n_slots)
        count += gsai_table_slot(&state->table, slot)[gsai_table_count(&state->table)].u;
    return count;
}

/* Returns its sum of squares, likewise. */
static inline double gsai_state_sum_sq(const gsa_state *state, size_t slot)
{
    double sum_sq = slot < state->prior.n ? state->prior.sum_sq[slot] : 0.0;
    if (slot < state->table.n_slots) {
        const gsai_cell *record = gsai_table_slot(&state->table, slot);
        sum_sq += (double)record[gsai_table_mean(&state->table)].f * (double)record[gsai_table_count(&state->table)].u;
    }
    return sum_sq;
}
/* Returns what the weight of a feature counts for, 0 to 1, if one that was in `shrinkage` rows counts for half. */
static inline double gsai_state_shrinkage(const gsa_state *state, size_t slot, double shrinkage)
{
    double count = shrinkage > 0 ? (double)gsai_state_n_seen(state, slot) : 1;
    return count > 0 ? count / (count + shrinkage) : 0;
}
/* Moves the table's counts into the prior totals. */
gsa_status gsai_state_fold(gsa_state *state, gsa_error *error);
gsa_status gsai_prior_totals_grow(gsai_prior_totals *prior, size_t n, const gsai_env *env, gsa_error *error);

/* Open the choice of scaling if the method has one and nothing is learned yet, and close it, with the better table as
 * the state's own. Closing one that is not open does nothing. scaling.c. */
gsa_status gsai_scaling_open(gsa_state *state, gsa_error *error);
/* Opens a choice whose second table has counted what the state's own has; its weights are still to be filled in. */
gsa_status gsai_scaling_resume(gsa_state *state, gsa_error *error);
void gsai_scaling_close(gsa_state *state);
/* Returns whether the standardised features are better by more than GSA_MIN_GAIN: where values are all ones both are
 * the same, and features as given are the faster way. */
static inline bool gsai_scaling_prefers_standard(const gsai_scaling *scaling)
{
    double loss[2];
    for (int i = 0; i < 2; i++)
        loss[i] = scaling->earlier_loss[i] + scaling->loss[i] + scaling->held_out_loss[i];
    return loss[1] < (1 - GSA_MIN_GAIN) * loss[0];
}
/* Returns the table that is better so far: the state's own unless a choice is open and standardised features lead. */
static inline const gsai_table *gsai_state_table(const gsa_state *state)
{
    return state->scaling && gsai_scaling_prefers_standard(state->scaling) ? &state->scaling->table : &state->table;
}
static inline const gsai_step_mean *gsai_state_step(const gsa_state *state)
{
    return state->scaling && gsai_scaling_prefers_standard(state->scaling) ? &state->scaling->step : &state->step;
}

gsa_status gsai_centre_grow(gsai_centre *centre, size_t n, const gsai_env *env, gsa_error *error);
/* Adds what `from` knows of a column beyond `start`, which it began with. */
void gsai_column_add(gsai_column *into, const gsai_column *from, const gsai_column *start);
/* Returns the total weight in the average of the weights after the first t rows: 1 each; if recent ones count most, t
 * (t + 1) after row t (polynomial decay, Shamir and Zhang 2013), which has no jumps and costs one number per weight. */
static inline double gsai_averaging_total(const gsa_state *state, uint64_t t)
{
    double n = (double)t;
    if (gsai_params_average(&state->params) == GSAI_AVERAGE_RECENT)
        return n * (n + 1) * (n + 2) / 3;
    return t < state->averaging.first ? 0 : (double)(t - state->averaging.first + 1);
}

/* Returns the total weight in the average of now; 0: the last weights are the model's. */
static inline double gsai_state_average_total(const gsa_state *state)
{
    bool is_averaged = gsai_params_average(&state->params) != GSAI_AVERAGE_LAST;
    return is_averaged ? gsai_averaging_total(state, state->averaging.now) : 0;
}

/* Adds x times the averaged weights of a slot. */
static inline void gsai_table_add_average(const gsai_table *table, double total, size_t slot, double x, double *margins)
{
    const gsai_cell *weight = gsai_table_slot(table, slot), *average = weight + gsai_table_average(table);
    for (size_t k = 0; k < table->n_outputs; k++)
        margins[k] += x * ((double)weight[k].f - (total > 0 ? (double)average[k].f / total : 0));
}

/* Returns the weight that the model would have: last, or averaged as the parameters say.
 * avg = w - sum total(t - 1) D_t / total(now): weights before row t lack its update D_t. */
static inline double gsai_state_average(const gsa_state *state, size_t slot, size_t output)
{
    const gsai_table *table = gsai_state_table(state);
    const gsai_cell *record = gsai_table_slot(table, slot);
    double weight = (double)record[output].f, total = gsai_state_average_total(state);
    return total > 0 ? weight - (double)record[gsai_table_average(table) + output].f / total : weight;
}

/* Returns the mean step, 0 before the first row. */
static inline double gsai_step_mean_value(const gsai_step_mean *step)
{
    return step->weight > 0 ? step->sum / step->weight : 0.0;
}

#endif
