/* The slots of several states into those of one.
 *
 * Slot by slot and output by output the merged change is
 *   sum c_s (w_s - start) / sum c_s        c_s = the mass of the slot in state s, its base's included
 * once for the last weights and once for the averaged, added in one fixed binary tree over the numbers of the states,
 * as doubles. Copies of a base that have not met a feature since do not count; states that were trained apart do, with
 * the base's mass and no change. It is written into the table of the result in place of weight and average term; the
 * result is start + gamma * gain * change.
 *
 * The gain is of copies. Each has gone a part of the way that all rows together would have gone: with q of presence the
 * share 1 - exp(-alpha q) of it, so that a mean of copies is to be multiplied by
 *   (1 - exp(-alpha Q)) / (1 - exp(-alpha q))    Q = presence of all copies, q = of one that stands for them
 * which is the number of copies for a feature that is rare, whose changes add up, and 1 for one that is frequent, where
 * every copy has arrived. How frequent that is, alpha, is found with gamma (greedy_merge.c; docs/decisions/0017). */
#ifndef GSA_CORE_MERGE_SLOTS_H
#define GSA_CORE_MERGE_SLOTS_H

#include "core/state.h"

/* Some features, as slices.c has them in bytes. */
typedef struct gsa__slice {
    const unsigned char *bytes; /* the records */
    uint64_t first, n_features, n_copies, n_records;
} gsa__slice;

/* A state, and where its outputs go in the outputs of the merged one. */
typedef struct gsa__merged {
    const gsa_state *state;  /* NULL: nothing, zero everywhere */
    const gsa__table *table; /* the one that is ahead */
    double total;            /* what its average is over; 0: it has none */
    double fresh;            /* share of the weights since the base in its average */
    size_t *to;              /* by output of the state; if that is split: of its two labels */
    bool split;  /* one output for two classes into one a class: w/2 to its second label, -w/2 to its first */
    double sign; /* one output into one: -1 if the labels change places */
} gsa__merged;

/* Of a feature since the base: of all copies, and of one that stands for them, the sum of squares over the sum. In
 * units of the given features it is mass, else the number of rows. */
typedef struct gsa__presence {
    float all, one;
} gsa__presence;

/* How far to go along the change: gamma, and alpha of the gain (0: there is none). */
typedef struct gsa__stride {
    double gamma, alpha;
} gsa__stride;

typedef struct gsa__merging {
    const gsa_state *const *states;
    size_t n_states;
    const gsa_state *base;    /* NULL: the states began with nothing */
    bool goes_on;             /* the states are copies of the base that went on like it */
    size_t shares;            /* states that learned the same row; 0 is 1 */
    const gsa__slice *slices; /* n_slices > 0: the features of all states, united; the states have the intercept only */
    size_t n_slices;
    gsa_state *into;
    gsa__merged *from;  /* the states, then the base */
    double fresh;       /* as above, of the result */
    gsa__presence *met; /* by slot; NULL: no gain */
    double *sums;       /* [states x GSA__SUMS(outputs)], scratch */
    double *start; /* [3 outputs], scratch: last weights of the base, its average, where the result's starts from */
} gsa__merging;

/* What is to be merged is in place, the rest is made here. `into` has its shape and its clock. */
gsa_status gsa__merging_begin(gsa__merging *merging, gsa_error *error);
void gsa__merging_end(gsa__merging *merging);

/* Mass, presence and the sums of classes of the result, and the changes for gamma = 1 in its table. */
void gsa__merging_take(gsa__merging *merging);
/* What a state brings to a slot: changes of its last weights and of its average, times its mass, the mass, its presence
 * since the base and the square of that. */
#define GSA__SUMS(n_outputs) (2 * (n_outputs) + 3)
void gsa__merging_change(const gsa__merging *merging, size_t s, size_t slot, double *sum);
/* Left half plus right half, the left one a power of two, for every column of [n x width]; into the first row. */
void gsa__add_up(double *sums, size_t n, size_t width);
/* Mass and presence of a slot of the result. */
void gsa__merging_enter(gsa_state *into, size_t slot, double mass, uint64_t count);
/* slices.c: the slots above the first, from slices. */
void gsa__slices_take(gsa__merging *merging);
/* Where the last weights of a slot start from, and where the average does: [outputs] each, valid until the next call.
 */
void gsa__merging_start(const gsa__merging *merging, size_t slot, const double **last, const double **average);
/* Of sums that are added up. */
gsa__presence gsa__presence_of(const double *sum, size_t n_outputs);
double gsa__merging_gain(const gsa__merging *merging, size_t slot, double alpha);
/* From changes to weights: the last ones, and the averaged. */
void gsa__merging_apply(gsa__merging *merging, const gsa__stride *along, const gsa__stride *along_average);

#endif
