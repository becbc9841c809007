/* One scale, and for one output an offset, on the margins, and a doubt about rare features: what held-out rows say
 * about a model's confidence. */
#ifndef GSA_CORE_CALIBRATE_H
#define GSA_CORE_CALIBRATE_H

#include "core/state.h"

typedef struct gsa__calibration {
    double scale, offset; /* 1 and 0: margins as they are */
    double doubt;         /* a weight counts n / (n + doubt) if its feature was in n rows */
    double loss;          /* mean loss of the held-out rows with these; NaN if there are none */
} gsa__calibration;

/* By the rows that a state holds out, under the averaged weights of its table, or of the rival's. Losses of the
 * caller's are left as they are, and so are all with the paper's method; hinge losses get a scale. GSA_STOPPED if
 * `stop` (NULL: never) asks for it. */
gsa_status gsa__calibrate(const gsa_state *state, const gsa__table *table, const gsa_env *stop, gsa__calibration *out,
                          gsa_error *error);

/* The averaged weight of a slot of the state, calibrated. */
static inline double gsa__calibrated(const gsa__calibration *calibration, const gsa_state *state, size_t slot,
                                     double weight)
{
    if (slot == 0)
        return calibration->scale * weight + calibration->offset;
    return weight == 0 ? 0 : calibration->scale * gsa__state_belief(state, slot, calibration->doubt) * weight;
}

#endif
