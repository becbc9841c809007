/* Columns that bend, as the solver sees them.
 *
 * The prior of a curve is a random walk over its knots: what is likely to be small are the steps from knot to knot, so
 * that more knots do not make a rougher curve. Where a curve is to rise or fall, its parts are the steps themselves,
 * and their weights, and that of the line, have the sign: their prior is the same, since the parts of the walk are a
 * rotation of its steps. Rows have shares in knots, two a cell (learn/basis.h). Weights are those
 * of the line through the knots and of a few features, in which the walk has independent parts; a matrix says what the
 * curve is at the knots under them. Parts with a small share of the variance are left out. */
#ifndef GSA_SOLVE_BEND_H
#define GSA_SOLVE_BEND_H

#include "learn/basis.h"
#include "learn/waiting.h"

/* Parts of a curve at most: the line, and one per step between the knots inside. */
#define GSAI_MAX_BEND_PARTS (GSAI_MAX_KNOTS - 3)

typedef struct gsai_bend {
    uint32_t feature, column;     /* column of the design of lines */
    uint32_t first_knot, n_knots; /* among those of all */
    uint32_t first_part, n_parts; /* among those of all */
    float *matrix;                /* [n_knots x n_parts], measured from the value 0; the first part is the line */
    float *mean;                  /* of each part, over the rows that decide; */
    double *variance;             /* and its variance */
    float *share;                 /* that those rows have in each knot, on average */
} gsai_bend;

/* A column as a side of surfaces: few knots, and the first parts of a walk over them. */
typedef struct gsai_side {
    gsai_curve at; /* `first` is of the knots of all sides */
    uint32_t column, n_parts;
    float *knot, *matrix; /* [n_knots], [n_knots x n_parts] */
} gsai_side;

/* A surface: the sides, by number, the second of a higher feature; and by which folds it was found, a bit each, and by
 * all rows. A fold knows what it found alone. */
typedef struct gsai_pair {
    uint32_t side[2];
    uint32_t found;
} gsai_pair;
#define GSAI_FOUND_BY_ALL (UINT32_C(1) << 31)

/* Curves, and after them surfaces, whose knots are the nodes. */
typedef struct gsai_bends {
    gsai_bend *at; /* curves by feature, ascending; then as `pair` has them */
    size_t n, n_curves, n_knots, n_parts;
    float *knot; /* of curves */
    gsai_side *side;
    size_t n_sides, n_side_knots;
    float *side_knot;
    gsai_pair *pair;
} gsai_bends;

struct gsai_design;

/* Finds the columns of a design that can bend, of features below `end`, from its first rows. */
gsa_status gsai_bends_find(gsai_bends *bends, const struct gsai_design *design, const gsai_waiting *rows, uint64_t end,
                           gsai_arena *arena, gsa_error *error);
/* Makes the bend of numbers, which ascend, each with the number of rows that it weighs. Returns whether they can bend.
 * The arena has its memory. */
bool gsai_bend_make(const gsai_weighted *at, size_t n, size_t most, double least, gsai_arena *arena, float *knot,
                    gsai_bend *out);

/* Returns the nodes of a surface for values of its sides, and the shares in them, as gsai_surface_nodes. */
static inline size_t gsai_pair_nodes(const gsai_bends *bends, const gsai_pair *pair, const float value[2],
                                     uint32_t *node, float *share)
{
    const gsai_curve *const side[2] = {&bends->side[pair->side[0]].at, &bends->side[pair->side[1]].at};
    return gsai_surface_nodes(side, bends->side_knot, value, node, share);
}

/* Most steps of a walk, between knots inside. Fills in the parts of a walk over k knots for numbers,
 * part[knot * GSAI_MAX_STEPS + number], down to a share of their variance, below 0 its steps, and the mean shares of
 * the knots. Returns how many parts there are. */
#define GSAI_MAX_STEPS (GSAI_MAX_KNOTS - 4)
size_t gsai_walk_find(const gsai_weighted *at, size_t n, const float *knot, size_t k, double least, double *mean,
                      double *part, double *variance);

/* Returns the value of a curve at a knot under the weights of all parts. */
double gsai_bends_value(const gsai_bends *bends, size_t knot, const double *weight);
/* Computes the values of curves at all knots from the weights of parts [n_parts x stride], scaled; and from sums over
 * rows for each knot those for each part. */
void gsai_bends_turn(const gsai_bends *bends, size_t stride, const float *v, const float *scale, float *knot);
void gsai_bends_turn_back(const gsai_bends *bends, size_t stride, const float *knot, float *part);

#endif
