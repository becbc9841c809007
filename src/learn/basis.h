/* Columns that bend: a number may count by a piecewise-linear curve in place of a straight line.
 *
 *   B1  The knots of a curve ascend. The first and the last are one range outside of the others, where no row was: a
 *       value beyond counts as they do.
 *   B2  The cell of a curve is two entries: its shares in the knots around it. A row that lacks the cell has the value
 *       0, as everywhere; a curve is measured from its value at 0, and a knot at 0 has no entry. If 0 is outside of all
 *       knots, it is measured from its mean over the rows that decided.
 *   B3  In rows that are bent the knots of all curves are features from id `at` on, which is beyond those of the rows
 *       that decided; a feature that comes later stands behind the knots. */
#ifndef GSA_LEARN_BASIS_H
#define GSA_LEARN_BASIS_H

#include "base/batch.h"
#include "base/bundle.h"

#include "learn/residuals.h"

/* Knots of a curve at most as it is made, those outside and that at 0 included; of which rows decide this many, and two
 * more where common values leave no room for the lowest and the highest. */
#define GSAI_MAX_KNOTS 37u
#define GSAI_KNOTS_INSIDE 32u

typedef struct gsai_curve {
    uint32_t feature;
    uint32_t first; /* of its knots, among those of all curves */
    uint32_t n_knots;
} gsai_curve;

/* Without curves all of it is 0. */
typedef struct gsai_basis {
    uint64_t at;       /* id of the first knot */
    gsai_curve *curve; /* by feature, ascending */
    size_t n;
    float *knot;  /* of all curves */
    float *share; /* that the rows which decided have in each knot, on average */
    size_t n_knots;
    uint32_t *of_feature; /* number of a feature's curve + 1, or 0 */
    size_t n_features;
} gsai_basis;

/* The place of a value among knots: it has the share `share` of knot `low` + 1, the rest of knot `low`. */
typedef struct gsai_place {
    uint32_t low;
    float share;
} gsai_place;

static inline gsai_place gsai_place_of(const float *knot, uint32_t n_knots, float value)
{
    uint32_t low = 0, n = n_knots - 1;
    while (n > 1) {
        uint32_t half = n / 2;
        low += value >= knot[low + half] ? half : 0;
        n -= half;
    }
    double share = ((double)value - (double)knot[low]) / ((double)knot[low + 1] - (double)knot[low]);
    return (gsai_place){low, share > 0 ? share < 1 ? (float)share : 1.0F : 0.0F};
}

/* Returns the curve of a feature; NULL: it is a line. */
static inline const gsai_curve *gsai_basis_curve(const gsai_basis *basis, uint32_t feature)
{
    uint32_t number = feature < basis->n_features ? basis->of_feature[feature] : 0;
    return number > 0 ? &basis->curve[number - 1] : NULL;
}

/* Chooses at most `most` knots for numbers, which ascend: all of them if they are few; else those that are as common as
 * a knot on average, and quantiles of the others, which are numbers too. A weight is a number of repetitions. Returns
 * how many; below 3 there can be no curve. */
size_t gsai_knots_choose(const gsai_weighted *at, size_t n, size_t most, float *knot);
/* Adds the knots outside and, between them, one at 0; returns how many there are then. */
size_t gsai_knots_extend(float *knot, size_t n);

/* Makes an empty basis a copy of what is given; GSA_FORMAT if that contradicts B1 or B3. */
gsa_status gsai_basis_make(gsai_basis *basis, const gsai_basis *from, const gsai_env *env, gsa_error *error);
void gsai_basis_release(gsai_basis *basis, const gsai_env *env);
bool gsai_basis_equals(const gsai_basis *a, const gsai_basis *b);
void gsai_basis_save(gsai_snapshot *snapshot, const gsai_basis *basis);
gsa_status gsai_basis_load(gsai_basis *basis, const gsai_bundle *bundle, const gsai_env *env, gsa_error *error);

/* Returns the id of a feature without a curve in rows that are bent, or more than GSA_MAX_ID. */
static inline uint64_t gsai_basis_id(const gsai_basis *basis, uint32_t feature)
{
    return feature < basis->at ? feature : feature + (uint64_t)basis->n_knots;
}
/* Bends a row into at most twice its entries. Entries without an id are left out. Returns how many there are. */
size_t gsai_basis_bend(const gsai_basis *basis, const gsai_row *row, uint32_t *index, float *value);

/* Memory for a row that is bent. */
typedef struct gsai_bent {
    uint32_t *index;
    float *value;
    size_t index_capacity, value_capacity;
} gsai_bent;
/* Bends *row, which is then valid until the next one; without curves it stays. */
gsa_status gsai_basis_bend_row(const gsai_basis *basis, gsai_bent *bent, const gsai_env *env, gsai_row *row,
                               gsa_error *error);
void gsai_bent_release(gsai_bent *bent, const gsai_env *env);

#endif
