/* The offset of the labels of a regression. */
#ifndef GSA_LEARN_LABEL_OFFSET_H
#define GSA_LEARN_LABEL_OFFSET_H

#include <greedystep/greedystep.h>

#include <stdbool.h>

/* Squared loss learns labels as differences from an offset, which a float weight can hold however large the labels are:
 * the mean of the first labels, taken anew at every power of two rows until it is settled. The intercept of the table
 * is relative to it. With a log link it is the logarithm of that mean: the unit of rates does not matter. */
#define GSAI_LABEL_OFFSET_ROWS 4096u
typedef struct gsai_label_offset {
    double at;           /* 0 for all other losses, and without an intercept */
    double mean, weight; /* of the labels so far */
    uint64_t settled;
} gsai_label_offset;

/* Enters a label of weight c that is about to be learned, and moves the offset if it is time. */
void gsai_label_offset_add(gsa_state *state, double y, double c);

/* Returns the remedy for weights that have ceased to be finite; y: the label of the row, 0 if it is not known. */
const char *gsai_diverged_remedy(const gsa_state *state, double y);
/* Returns whether labels are beyond what makes weights that a float holds, whatever the features are. */
bool gsai_has_huge_labels(const gsa_state *state, double y);

#endif
