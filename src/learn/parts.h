/* The inside of a state, for src/learn only: other folders use learn/state.h. docs/ARCHITECTURE.md, "The state", says
 * what each part means. */
#ifndef GSA_LEARN_PARTS_H
#define GSA_LEARN_PARTS_H

#include "learn/centre.h"
#include "learn/class_weight.h"
#include "learn/compact.h"
#include "learn/kernel/kernel.h"
#include "learn/label_offset.h"
#include "learn/lineage.h"
#include "learn/residuals.h"
#include "learn/scaling.h"
#include "learn/state.h"

#include <float.h>

/* Returns the loss that parameters name; NULL: it is still to be decided. */
static inline const gsai_loss *gsai_loss_asked(const gsai_params *params)
{
    return gsai_loss_find(params->text[GSAI_PARAM_loss]);
}

/* The average is over the weights after rows first .. now, and starts anew at row restart: never, but for averages of
 * the paper's method. */
typedef struct gsai_averaging {
    uint64_t now;
    uint64_t first;
    uint64_t restart;
    uint64_t per_row; /* what a row adds to `now`: the number of copies that learn side by side */
} gsai_averaging;

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

static inline size_t gsai_scales_stride(size_t n_outputs)
{
    return (n_outputs + 15) / 16 * 16;
}
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
/* Returns the rows that a slot was in, prior totals included. */
static inline uint64_t gsai_slot_count(const gsa_state *state, size_t slot)
{
    uint64_t count = slot < state->prior.n ? state->prior.count[slot] : 0;
    if (slot < state->table.n_slots)
        count += gsai_table_slot(&state->table, slot)[gsai_table_count(&state->table)].u;
    return count;
}
/* Returns what the weight of a feature counts for, 0 to 1, if one that was in `shrinkage` rows counts for half. */
static inline double gsai_state_shrinkage(const gsa_state *state, size_t slot, double shrinkage)
{
    double count = shrinkage > 0 ? (double)gsai_slot_count(state, slot) : 1;
    return count > 0 ? count / (count + shrinkage) : 0;
}
/* Returns the total weight in the average of the weights before the last n_rows, which lack their update; 0 where no
 * average is asked for. */
static inline double gsai_state_past_weight(const gsa_state *state, size_t n_rows)
{
    if (gsai_params_average(&state->params) == GSAI_AVERAGE_LAST)
        return 0;
    return gsai_averaging_total(state, state->averaging.now - n_rows * state->averaging.per_row);
}
/* Returns the mean step, 0 before the first row. */
static inline double gsai_step_mean_value(const gsai_step_mean *step)
{
    return step->weight > 0 ? step->sum / step->weight : 0.0;
}

/* Returns the rows before the group that had a feature, by the counts of this table. */
static inline double gsai_state_rows_of(const gsa_state *state, const gsai_table *table, size_t slot)
{
    return (double)gsai_table_slot(table, slot)[gsai_table_count(table)].u +
           (slot < state->prior.n ? (double)state->prior.count[slot] : 0);
}
/* Returns the float that is nearest among the finite ones. */
static inline float gsai_finite_float(double x)
{
    x = x < (double)FLT_MAX ? x : (double)FLT_MAX;
    return (float)(x > -(double)FLT_MAX ? x : -(double)FLT_MAX);
}

#endif
