/* Rows that came in the order of a column of dates, and what the latest of them say about rows to come. */
#ifndef GSA_LEARN_ORDER_H
#define GSA_LEARN_ORDER_H

#include "learn/waiting.h"

typedef struct gsai_order {
    uint32_t feature;   /* the date's */
    size_t n_latest;    /* rows of the latest eighth, those of one date on one side; 0: no column has an order */
    double after;       /* their dates, as values of the feature, are above this */
    double loss, error; /* their mean loss, if they are predicted from earlier rows, and its standard error; NaN: not
                         * measured */
} gsai_order;

/* Finds the first column of dates that ascend or descend from row to row, but for missing ones, unless rows are held
 * out by group or time. */
gsai_order gsai_order_find(const gsai_waiting *rows, const char *schema);
/* Sets what gsa_state_get_summary says; neither files nor copies have it. */
void gsai_state_set_dates(gsa_state *state, const gsai_order *order);

#endif
