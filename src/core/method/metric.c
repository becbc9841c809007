/* The self-scaled metric: steps in x.Dx instead of x.x, updates along Dx instead of x.
 *
 *   D_i = (1/u_i if units are free, else 1) * sqrt(1/r_i)
 *
 * u_i is the mean of x_i^2 over the rows where feature i is present, its units; r_i the share of rows where it is
 * present, its rarity. Both come from the counts that merging needs anyway. A rare feature moves further when it is
 * there, because it is there seldom; the square root was best on every sparse set tried. */
#include "core/method/method.h"

#include <math.h>

static double factor(const gsa_state *state, const gsa__table *table, size_t slot, double rows, bool units_free)
{
    const gsa__cell *record = gsa__table_slot(table, slot);
    double count = (double)record[gsa__table_count(table)].u;
    double mass = (double)record[gsa__table_mean(table)].f * count;
    if (slot < state->carried.n) {
        count += (double)state->carried.count[slot];
        mass += state->carried.mass[slot];
    }
    double d = sqrt(rows / count);
    return units_free ? d * count / mass : d;
}

double gsa__metric_of(const gsa_state *state, const gsa__table *table, const gsa__row *row, bool units_free, double *d)
{
    double rows = (double)(state->rows_behind + 1), xdx = 0;
    size_t position = 0;
    for (size_t i = 0; i < row->n; i++) {
        double x = row->value ? (double)row->value[i] : 1.0;
        if (x == 0)
            continue;
        d[position] = factor(state, table, (row->index ? row->index[i] : i) + 1, rows, units_free);
        xdx += x * x * d[position++];
    }
    if (state->params.value[GSA__PARAM_intercept]) {
        d[position] = factor(state, table, 0, rows, units_free);
        xdx += d[position];
    }
    return xdx;
}
