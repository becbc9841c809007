/* The meaning of labels to a state. */
#ifndef GSA_LEARN_PREPARE_H
#define GSA_LEARN_PREPARE_H

#include <greedystep/greedystep.h>

#include <stdbool.h>

/* Check whether a value can be a label (else GSA_INPUT), and take what it means to the state, which may be a new class.
 */
gsa_status gsai_label_check(const gsa_batch *batch, size_t row, gsa_error *error);
gsa_status gsai_label_take(gsa_state *state, const gsa_batch *batch, size_t row, size_t *class_number, double *y,
                           gsa_error *error);
/* Says in the note what the labels of the first rows were taken for, if they are whole numbers and could be something
 * else; returns whether. */
bool gsai_state_describe_task(const gsa_state *state, gsa_error *note);

#endif
