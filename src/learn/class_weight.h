/* Weights of classes, with --class-weight balanced. */
#ifndef GSA_LEARN_CLASS_WEIGHT_H
#define GSA_LEARN_CLASS_WEIGHT_H

#include "learn/config.h"
#include "learn/loss/loss.h"

/* The weight of all rows so far, then of those of each class. */
typedef struct gsai_class_sums {
    double *at;
    size_t n, capacity; /* n: 0, or up to the labels + 1 */
} gsai_class_sums;

/* Returns GSA_ARGUMENT if class weights or a quantile are asked of a loss that has none. */
gsa_status gsai_params_suit_loss(const gsai_params *params, const gsai_loss *loss, gsa_error *error);
/* Fills in the weight of a row of this class and weight c; gsai_class_sums_add counts the row once it is taken. */
gsa_status gsai_class_weight_of(gsa_state *state, size_t class_number, double c, double *out, gsa_error *error);
void gsai_class_sums_add(gsa_state *state, size_t class_number, double c);

#endif
