/* Means of dense columns, so that the origin of a measurement does not matter: years, Kelvin, time stamps.
 *
 * Only columns that are present in nearly all rows are centred; the others must stay sparse. Which they are follows
 * from the counts; in the first rows nearly everything is dense, and leaves soon. A value of 0 is absent: where a dense
 * column is absent it is taken to be at its mean. */
#include "learn/parts.h"

#include "base/error.h"
#include "base/memory.h"

#include <math.h>
#include <string.h>

/* Present in at least this share of rows. */
#define DENSE_SHARE 0.9
/* Of rows in memory columns are measured that are present in at least this share, for gsai_state_deviation. */
#define MEASURED_SHARE 0.05

/* Returns the column to centre by, NULL if the feature is not present in nearly all of `rows`. */
static const gsai_column *column_of(const gsa_state *state, size_t slot, double count, double rows)
{
    bool dense = count >= DENSE_SHARE * rows && slot > 0 && slot < state->centre.n;
    return dense && state->centre.at[slot].n > 0 ? &state->centre.at[slot] : NULL;
}

/* Without an intercept nothing could take up the origin. */
static bool centres(const gsa_state *state)
{
    return (state->standardised || state->scaling) && state->params.value[GSAI_PARAM_intercept];
}

gsai_measure gsai_measure_of(const gsa_state *state, const gsai_table *table, size_t slot)
{
    if (slot >= state->centre.n || !centres(state))
        return (gsai_measure){0, -1};
    const gsai_column *column =
        column_of(state, slot, gsai_state_rows_of(state, table, slot) + 1, (double)(state->rows_behind + 1));
    if (!column)
        return (gsai_measure){0, -1};
    /* A column that does not vary, up to the rounding of its values, has nothing to say. */
    double noise = 1e-14 * column->mean * column->mean * column->n;
    double per_unit = column->squares > noise ? sqrt(column->n / column->squares) : 0;
    return (gsai_measure){column->mean, gsai_finite_float(per_unit)};
}

gsa_status gsai_centre_grow(gsai_centre *centre, size_t n, const gsai_env *env, gsa_error *error)
{
    if (n <= centre->n)
        return GSA_OK;
    GSAI_TRY_MEMORY(gsai_reserve(env, &centre->at, &centre->capacity, n, sizeof *centre->at), env, error,
                    "no memory for the means of %zu columns", n);
    memset(centre->at + centre->n, 0, (n - centre->n) * sizeof *centre->at);
    centre->n = n;
    return GSA_OK;
}

static void enter(gsai_column *column, double x)
{
    double off = x - column->mean;
    column->n++;
    column->mean += off / column->n;
    column->squares += off * (x - column->mean);
}

gsa_status gsai_centre_reserve(gsa_state *state, const uint32_t *slot, size_t n, gsa_error *error)
{
    size_t last = 0;
    for (size_t i = 0; i < n && (centres(state) || state->is_frozen); i++)
        if (slot[i] > last && slot[i] < GSAI_MAX_COLUMNS)
            last = slot[i];
    return last > 0 ? gsai_centre_grow(&state->centre, last + 1, &state->env, error) : GSA_OK;
}

void gsai_centre_group(gsa_state *state)
{
    const gsai_group *group = &state->group;
    double min = (state->is_frozen ? MEASURED_SHARE : DENSE_SHARE) * (double)(state->rows_behind + 1);
    for (size_t row = 0; row < group->n_rows && (centres(state) || state->is_frozen); row++)
        for (size_t e = group->start[row], end = e + group->n[row]; e < end; e++) {
            size_t slot = group->slot[e];
            if (slot < state->centre.n && (double)(gsai_slot_count(state, slot) + 1) >= min)
                enter(&state->centre.at[slot], (double)group->x[e]);
        }
}

void gsai_column_add(gsai_column *into, const gsai_column *from, const gsai_column *start)
{
    double n = from->n - start->n;
    if (n <= 0)
        return;
    /* The rows since the start: their mean is `off` from where the sums are taken. */
    double about = start->n > 0 ? start->mean : from->mean, shift = from->mean - about, off = from->n * shift / n;
    double squares = from->squares - start->squares + from->n * shift * shift - n * off * off;
    double between = about + off - into->mean, total = into->n + n;
    into->squares += (squares > 0 ? squares : 0) + between * between * into->n * n / total;
    into->mean += between * n / total;
    into->n = total;
}

/* Values of a column that are enough to know where they lie. */
#define ENOUGH_VALUES 32

double gsai_state_deviation(const gsa_state *state, size_t slot)
{
    double count = (double)gsai_slot_count(state, slot), rows = (double)state->rows_behind;
    if (!(count > 0) || !(rows > 0))
        return 0;
    const gsai_column *column = slot < state->centre.n ? &state->centre.at[slot] : NULL;
    double present = fmin(count / rows, 1), square = gsai_state_sum_sq(state, slot) / count, mean_square = square;
    if (column && column->n >= ENOUGH_VALUES) {
        mean_square = column->mean * column->mean;
        square = mean_square + column->squares / column->n;
    } else if (square != 1) {
        mean_square = square / 2; /* between values that are all one and values around 0 */
    }
    double variance = present * square - present * present * mean_square;
    return sqrt(fmax(variance, 0));
}
