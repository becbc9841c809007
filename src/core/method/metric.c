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

/* One entry free of units and origin: its direction, and what it adds to x.Dx. Returns the mean that it is measured
 * from, 0 if none. */
static double free_entry(const gsa_state *state, size_t i, double rows)
{
    const gsa__entries *entries = &state->entries;
    size_t slot = entries->slot[i];
    double count = (double)entries->count[i], mass = (double)entries->mean[i] * count;
    if (slot < state->carried.n) {
        count += (double)state->carried.count[slot];
        mass += state->carried.mass[slot];
    }
    const gsa__column *column = gsa__centre_column(state, slot, count, rows);
    double origin = column ? column->mean : 0, units = count / mass;
    if (column) {
        /* A column that does not vary, up to the rounding of its values, has nothing to say. */
        double noise = 1e-14 * column->mean * column->mean * column->n;
        units = column->squares > noise ? column->n / column->squares : 0;
    }
    double centred = entries->x[i] - origin;
    entries->along[i] = (double)entries->rarity[i] * units * centred;
    entries->product[i] = entries->along[i] * centred;
    return origin;
}

static double free_of_units(const gsa_state *state, double rows)
{
    const gsa__entries *entries = &state->entries;
    double origins = 0;
    for (size_t i = 0; i < entries->n_all; i++)
        origins += free_entry(state, i, rows) * entries->along[i];
    if (entries->n_all > entries->n)
        entries->along[entries->n] -= origins;
    return state->kernels->sum(entries);
}

double gsa__metric_of(const gsa_state *state, bool units_free)
{
    const gsa__entries *entries = &state->entries;
    double rows = (double)(state->rows_behind + 1);
    for (size_t i = 0; i < entries->n_all && state->carried.n > 0; i++)
        if (entries->slot[i] < state->carried.n)
            entries->rarity[i] += (float)state->carried.count[entries->slot[i]];
    state->kernels->rarities(entries, (float)(rows + 1));
    return units_free ? free_of_units(state, rows) : state->kernels->direct(entries);
}
