/* The self-scaled metric: steps in x.Dx instead of x.x, updates along Dx instead of x.
 *
 *   D_i = (1/u_i if units are free, else 1) * (1/r_i)^(3/8)
 *
 * u_i is the mean of x_i^2 over the rows where feature i is present, its units; r_i = (n_i + 1) / (n + 1) the share of
 * rows where it is present, its rarity. Both come from the counts that merging needs anyway. A rare feature moves
 * further when it is there, because it is there seldom.
 *
 * Free of units means free of the origin too: a column that is present in nearly all rows is measured from its mean
 * mu_i, with its variance for units. Only the direction of the update changes, never the margin: moving w_i by d (x_i -
 * mu_i) and the intercept by -mu_i times that moves the margins of all rows by (x_i - mu_i) (x'_i - mu_i) d, as if the
 * columns had been centred beforehand, and a mean that is still finding its place does no harm. */
#include "core/method/method.h"

#include <math.h>

/* Where a feature stands: the mean that it is measured from (0: as it is), and its D. */
struct measure {
    double origin, d;
};

static struct measure measure_of(const gsa_state *state, const gsa__table *table, size_t slot, double rows,
                                 bool units_free)
{
    const gsa__cell *record = gsa__table_slot(table, slot);
    double count = (double)record[gsa__table_count(table)].u;
    double mass = (double)record[gsa__table_mean(table)].f * count;
    if (slot < state->carried.n) {
        count += (double)state->carried.count[slot];
        mass += state->carried.mass[slot];
    }
    double fourth_root = sqrt(sqrt((rows + 1) / (count + 1)));
    struct measure out = {0, sqrt(fourth_root * fourth_root * fourth_root)};
    if (!units_free)
        return out;
    const gsa__column *column = gsa__centre_column(state, slot, count, rows);
    if (!column) {
        out.d *= count / mass;
        return out;
    }
    /* A column that does not vary, up to the rounding of its values, has nothing to say. */
    double noise = 1e-14 * column->mean * column->mean * column->n;
    out.origin = column->mean;
    out.d = column->squares > noise ? out.d * column->n / column->squares : 0;
    return out;
}

double gsa__metric_of(const gsa_state *state, const gsa__table *table, const gsa__row *row, bool units_free,
                      double *along)
{
    double rows = (double)(state->rows_behind + 1), xdx = 0, origins = 0;
    size_t position = 0;
    for (size_t i = 0; i < row->n; i++) {
        double x = row->value ? (double)row->value[i] : 1.0;
        if (x == 0)
            continue;
        struct measure measure = measure_of(state, table, (row->index ? row->index[i] : i) + 1, rows, units_free);
        double centred = x - measure.origin;
        along[position] = measure.d * centred;
        xdx += along[position] * centred;
        origins += along[position++] * measure.origin;
    }
    if (state->params.value[GSA__PARAM_intercept]) {
        struct measure measure = measure_of(state, table, 0, rows, units_free);
        along[position] = measure.d - origins;
        xdx += measure.d;
    }
    return xdx;
}
