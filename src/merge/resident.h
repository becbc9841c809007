/* Slots of a state in memory, as the merged state has them: in its outputs, from its offset of labels. */
#ifndef GSA_MERGE_RESIDENT_H
#define GSA_MERGE_RESIDENT_H

#include "base/memory.h"
#include "learn/kernel/kernel.h"
#include "learn/state.h"

/* A state, or the header of a replica, and where its outputs go in those of the merged state. */
typedef struct gsai_resident {
    const gsai_table *table; /* the one that is ahead; NULL: zero everywhere */
    const gsai_prior_totals *prior;
    size_t n_labels;
    bool is_standardised; /* the table of the base */
    double per_total;     /* 1 / what its average is over; 0: it has none */
    double fresh;         /* share of the weights since the base in its average */
    size_t *to;           /* by output of the state; if that is split: of its two labels */
    bool is_placed;       /* by these; else the outputs are those of the merged one */
    bool split;         /* one output for two classes into one per class: w/2 to its second label, -w/2 to its first */
    float sign;         /* one output into one: -1 if the labels change places */
    float unseen;       /* the intercept of labels that it does not know */
    float label_offset; /* of its labels, from that of the merged one */
    double weight;      /* the mean weight of its rows, in that of the merged one's; 1 with a base */
} gsai_resident;

/* Prepares a state for being read. base: what the states to merge have in common, or NULL; continues: they are replicas
 * that went on where it stood; into: the merged state, NULL if that has the outputs of the base, and no memory is
 * needed. */
void gsai_resident_begin(gsai_resident *resident, const gsa_state *state, const gsa_state *base, bool continues,
                         const gsa_state *into, gsai_arena *arena);

/* Makes room for a block of slots, if the arena has it. */
void gsai_view_begin(gsai_view *view, size_t n_outputs, gsai_arena *arena);
/* Reads at most a block of slots; those that the state does not have are zero. */
void gsai_view_take(gsai_view *view, const gsai_resident *from, const gsai_slots *slots);

#endif
