/* Area under the ROC curve, average precision and best F1 of scored rows, mergeable and independent of row order.
 *
 *   R1  every score is kept, in 8 bytes, and the result is exact, ties included (a tie counts one half);
 *   R2  the result depends on the multiset of (score, class, weight) only, not on order or merges. With unit weights
 *       all sums are exact integers.
 * Scores are margins rounded to float. */
#ifndef GSA_LEARN_AUC_H
#define GSA_LEARN_AUC_H

#include "base/memory.h"

#include <stdbool.h>

/* Zeros but for env; the caller frees the entries. */
typedef struct gsai_ranking {
    const gsai_env *env;
    uint64_t *entries;
    size_t n_entries, capacity;
    bool sorted;
} gsai_ranking;

/* Adds a row; weight > 0; score not NaN. */
gsa_status gsai_ranking_add(gsai_ranking *ranking, float score, bool positive, float weight, gsa_error *error);
gsa_status gsai_ranking_merge(gsai_ranking *ranking, const gsai_ranking *from, gsa_error *error);

typedef struct gsai_ranking_result {
    double auc; /* NaN unless there are rows of both kinds */
    double
        average_precision; /* sum over distinct scores of (recall gained) x (precision there); NaN without positives */
    double best_f1;        /* of all thresholds, the highest of equals; NaN without positives */
    double best_score;     /* that threshold: halfway to the next lower score, or below all; NaN without positives */
} gsai_ranking_result;
/* Returns the results; may sort what is kept, so that later calls are cheap. */
gsai_ranking_result gsai_ranking_finish(gsai_ranking *ranking);

#endif
