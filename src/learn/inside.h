/* The inside of a state, for src/learn only: other folders use learn/state.h. docs/ARCHITECTURE.md, "The state", says
 * what each part means. */
#ifndef GSA_LEARN_INSIDE_H
#define GSA_LEARN_INSIDE_H

#include "base/bundle.h"
#include "learn/centre.h"
#include "learn/class_weight.h"
#include "learn/compact.h"
#include "learn/kernel/kernel.h"
#include "learn/label_offset.h"
#include "learn/lineage.h"
#include "learn/order.h"
#include "learn/parts.h"
#include "learn/residuals.h"
#include "learn/state.h"
#include "learn/waiting.h"

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

/* A solution of rows that wait, to predict others by; not in copies and files. */
typedef struct gsai_so_far {
    gsa_state *state; /* NULL: none yet */
    size_t n_rows, n_labels;
} gsai_so_far;

/* Memory for the margins and the gradient scales of a group. */
typedef struct gsai_scratch {
    void *memory;
    size_t capacity;
} gsai_scratch;

/* The position at which the input continues, in its own terms. */
typedef char gsai_input_position[GSA_MAX_POSITION + 1];
typedef uint64_t gsai_number_U64;
typedef double gsai_number_F64;

/* Far beyond any run: counts up to here are whole numbers of doubles too, and can be added up and doubled. */
#define GSAI_MAX_COUNT (UINT64_C(1) << 52)

struct gsa_state {
    gsai_env env;
    gsai_params params;
    const gsai_loss *loss; /* NULL: undecided */
#define GSAI_NUMBER(dtype, name, copy, merge, limit) gsai_number_##dtype name;
#define GSAI_PART(type, name, copy, merge, header, own) type name;
#define GSAI_FIELD(dtype, number, merge, limit)
#define GSAI_ARRAY(type, name, dtype, copy, limit, own) type name;
#include "learn/parts.def"
#undef GSAI_NUMBER
#undef GSAI_PART
#undef GSAI_FIELD
#undef GSAI_ARRAY
    gsai_so_far so_far;
    gsai_order dates; /* of the rows that were solved; not in copies and files */
    gsai_dense_slots dense;
    double *margins; /* in the scratch, one number per output */
    float *scales;   /* likewise, of the rows of a group, each a multiple of 16 long */
    gsai_row ahead;  /* a row to come, whose records are asked for while this one is learned; n 0: none */
    const gsai_kernels *kernels;
};

/* ---- what is done with parts ------------------------------------------------------------------------------------- */

/* Functions of a part. NULL: there is nothing to do, or what its row says. */
typedef struct gsai_part_functions {
    void (*release)(gsa_state *state);
    /* Copies the part of another state into an empty one. */
    gsa_status (*copy)(gsa_state *to, const gsa_state *from, gsa_error *error);
    gsa_status (*merge)(const gsai_merge *merge, gsa_error *error);
    /* The tensor that is in every file with the part; only states whose loss is decided have it. NULL: load is called
     * for every file. */
    const char *key;
    void (*save)(gsai_snapshot *snapshot, const gsa_state *state);
    gsa_status (*load)(gsa_state *state, const gsai_bundle *bundle, gsa_error *error);
    /* Checks an array that was loaded. */
    bool (*is_sound)(const gsa_state *state);
    /* Lists tensors with a line per slot, and tells whether a slot has anything in them. load has made room for them.
     */
    size_t (*lines)(const gsa_state *state, gsai_line_tensor *out);
    bool (*uses)(const gsa_state *state, size_t slot);
    /* Leaves what the header of a delta has of the part in a view of the replica, which saves it. */
    void (*since)(gsa_state *view, const gsa_state *base, gsai_snapshot *snapshot);
} gsai_part_functions;

/* The list of the slots that lines are of. */
/* Returns whether a slot is of a customer, whose values count as they are given. */
static inline bool gsai_slot_is_own(const gsa_state *state, size_t slot)
{
    return state->own_slot > 0 && slot >= state->own_slot;
}

#define GSAI_SLOT_KEY ((gsai_tensor_key){"slot", GSAI_U32, GSA_MAX_ID + 1u})

extern const gsai_part_functions gsai_averaging_part, gsai_basis_part, gsai_best_checkpoint_part, gsai_centre_part,
    gsai_class_sums_part, gsai_entries_part, gsai_group_part, gsai_label_offset_part, gsai_labels_part,
    gsai_lineage_part, gsai_names_part, gsai_plain_part, gsai_position_part, gsai_prior_part, gsai_residuals_part,
    gsai_results_part, gsai_sample_part, gsai_schema_part, gsai_step_part, gsai_table_part, gsai_waiting_part;

/* ---- small functions of several files ---------------------------------------------------------------------------- */

static inline size_t gsai_scales_stride(size_t n_outputs)
{
    return (n_outputs + 15) / 16 * 16;
}
/* Returns whether a loop over rows, each of which costs many outputs, should end; env NULL: it should not. With few
 * outputs such a loop ends soon anyway, and nothing is asked. */
#define GSAI_MANY_OUTPUTS 256u
static inline bool gsai_rows_should_stop(const gsai_env *env, size_t n_outputs)
{
    return env && n_outputs >= GSAI_MANY_OUTPUTS && gsai_should_stop(env);
}
/* Returns whether low kinds stay in the sample above the threshold, too: if all their labels can. */
static inline bool gsai_state_keeps_low(const gsa_state *state)
{
    return state->sample.by == GSAI_BY_FEATURES && gsai_loss_has_probabilities(state->loss) &&
           state->labels.n <= GSAI_COMMON_LABELS &&
           GSAI_SAMPLE_MANY * state->labels.n <= gsai_params_holdout(&state->params);
}
/* Returns how many entries the sample may have: of the latest rows a tenth of those so far. */
size_t gsai_state_max_held(const gsa_state *state);
/* Sets what rows are held by; an error if others were held by something else. */
gsa_status gsai_state_hold_by(gsa_state *state, gsai_held_by by, gsa_error *error);
/* Returns the width of the loss, 0 if it has none. */
static inline double gsai_state_width(const gsa_state *state)
{
    return state->loss && state->loss->has_width ? state->residuals.width : 0;
}
/* Returns the target of a row with this class or number. */
static inline gsai_target gsai_state_target(const gsa_state *state, size_t class_number, double number)
{
    double at = state->label_offset.at, width = gsai_state_width(state);
    double quantile = gsai_params_quantile(&state->params);
    const gsa_margin_loss *custom = &state->params.custom_loss;
    if (state->loss && state->loss->has_log_link)
        return (gsai_target){class_number, number, custom, width, at, quantile};
    if (number != 0 && gsai_loss_has_classes(state->loss)) /* an offset, of the label that comes last in a model */
        at = gsai_labels_are_swapped(&state->labels) ? -number : number;
    if (gsai_loss_has_classes(state->loss))
        return (gsai_target){class_number, 0, custom, width, at, quantile};
    return (gsai_target){class_number, number - at, custom, width, 0, quantile};
}
/* Returns what the weight of a feature counts for, 0 to 1, if one that was in `shrinkage` rows counts for half. */
static inline double gsai_state_shrinkage(const gsa_state *state, size_t slot, double shrinkage)
{
    double count = shrinkage > 0 ? (double)gsai_state_n_seen(state, slot) : 1;
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
           (slot < state->prior.n ? (double)state->prior.at[slot].count : 0);
}
/* Returns the float that is nearest among the finite ones. */
static inline float gsai_finite_float(double x)
{
    x = x < (double)FLT_MAX ? x : (double)FLT_MAX;
    return (float)(x > -(double)FLT_MAX ? x : -(double)FLT_MAX);
}

#endif
