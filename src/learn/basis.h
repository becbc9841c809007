/* Columns that bend: a number may count by a piecewise-linear curve in place of a straight line.
 *
 *   B1  The knots of a curve ascend. The first and the last are one range outside of the others, where no row was: a
 *       value beyond counts as they do.
 *   B2  The cell of a curve is two entries: its shares in the knots around it. A row that lacks the cell has the value
 *       0, as everywhere; a curve is measured from its value at 0, and a knot at 0 has no entry. If 0 is outside of all
 *       knots, it is measured from its mean over the rows that decided.
 *   B3  In rows that are bent the knots of all curves are features from id `at` on, which is beyond those of the rows
 *       that decided; a feature that comes later stands behind the knots.
 *   B4  A surface is of two sides, which are columns with knots of their own, and has a node for each pair of their
 *       knots, behind the knots of curves. A row has four entries at most: the products of its shares on both sides.
 *       Values beyond the outer knots of a side count as at them. A row that lacks a cell has the value 0, as
 *       everywhere; where 0 is beyond the knots of a side, 0 has no place on it, and the surface no entry. */
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

/* Two sides by number, the second of a higher feature. */
typedef struct gsai_surface {
    uint32_t side[2];
    uint32_t first; /* of its nodes, behind all knots of curves */
} gsai_surface;

#define GSAI_MAX_SURFACES 256u
#define GSAI_MAX_SIDES (2 * GSAI_MAX_SURFACES)

/* Without curves all of it is 0: surfaces need curves. */
typedef struct gsai_basis {
    uint64_t at;       /* id of the first knot */
    gsai_curve *curve; /* by feature, ascending */
    size_t n;
    float *knot;  /* of all curves */
    float *share; /* that the rows which decided have in each knot and node, on average */
    size_t n_knots;
    gsai_curve *side; /* by feature, ascending; `first` is of side_knot */
    size_t n_sides;
    float *side_knot;
    size_t n_side_knots;
    gsai_surface *surface;
    size_t n_surfaces;
    size_t n_ids;         /* knots of curves, and nodes */
    uint32_t *of_feature; /* number of a feature's curve + 1, or 0; */
    uint32_t *side_of;    /* and that of its side */
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

/* The values of a row on the sides of surfaces: first 0 on all, then as its entries come. */
typedef struct gsai_sides_at {
    float value[GSAI_MAX_SIDES];
} gsai_sides_at;

static inline void gsai_sides_clear(const gsai_basis *basis, gsai_sides_at *at)
{
    for (size_t s = 0; s < basis->n_sides; s++)
        at->value[s] = 0;
}

static inline void gsai_sides_set(const gsai_basis *basis, gsai_sides_at *at, uint32_t feature, float value)
{
    uint32_t number = basis->n_sides > 0 && feature < basis->n_features ? basis->side_of[feature] : 0;
    if (number > 0)
        at->value[number - 1] = value;
}
/* Returns the nodes of a surface around the values of its two sides, [n_knots of the first x n_knots of the second],
 * and the shares in them: at most 4, none if a 0 has no place. */
size_t gsai_surface_nodes(const gsai_curve *const side[2], const float *knot, const float value[2], uint32_t *node,
                          float *share);
/* Returns the ids of the nodes of one surface of a row, and the shares in them. */
size_t gsai_basis_nodes(const gsai_basis *basis, size_t surface, const gsai_sides_at *at, uint32_t *id, float *share);

/* Chooses at most `most` knots for numbers, which ascend: all of them if they are few; else those that are as common as
 * a knot on average, and quantiles of the others, which are numbers too. A weight is a number of repetitions. Returns
 * how many; below 3 there can be no curve. */
size_t gsai_knots_choose(const gsai_weighted *at, size_t n, size_t most, float *knot);
/* Adds the knots outside and, between them, one at 0; returns how many there are then. */
size_t gsai_knots_extend(float *knot, size_t n);

/* Makes an empty basis a copy of what is given; GSA_FORMAT if that contradicts B1, B3 or B4. */
gsa_status gsai_basis_make(gsai_basis *basis, const gsai_basis *given, const gsai_env *env, gsa_error *error);
void gsai_basis_release(gsai_basis *basis, const gsai_env *env);
bool gsai_basis_equals(const gsai_basis *a, const gsai_basis *b);
void gsai_basis_save(gsai_snapshot *snapshot, const gsai_basis *basis);
gsa_status gsai_basis_load(gsai_basis *basis, const gsai_bundle *bundle, const gsai_env *env, gsa_error *error);

/* Returns the id of a feature without a curve in rows that are bent, or more than GSA_MAX_ID. */
static inline uint64_t gsai_basis_id(const gsai_basis *basis, uint32_t feature)
{
    return feature < basis->at ? feature : feature + (uint64_t)basis->n_ids;
}
/* Bends a row into at most twice its entries, and 4 for each surface. Entries without an id are left out. Returns how
 * many there are. */
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
