/* Means of dense columns, so that the origin of a measurement does not matter: years, Kelvin, time stamps.
 *
 * Only columns that are present in nearly all rows are centred; the others must stay sparse. Which they are follows
 * from the counts; in the first rows nearly everything is dense, and leaves soon. A value of 0 is absent: where a dense
 * column is absent it is taken to be at its mean. */
#include "learn/inside.h"

#include "base/error.h"
#include "base/memory.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Present in at least this share of rows. */
#define DENSE_SHARE 0.9
/* For rows in memory: columns present in at least this share are measured, for gsai_state_deviation. */
#define MEASURED_SHARE 0.05

/* Without an intercept nothing could take up the origin. */
static bool centres(const gsa_state *state)
{
    return state->standardised && state->params.value[GSAI_PARAM_intercept];
}

gsai_measure gsai_measure_of(const gsa_state *state, const gsai_table *table, size_t slot)
{
    if (gsai_slot_is_own(state, slot) && centres(state))
        return (gsai_measure){0, 1};
    if (slot >= state->centre.n || !centres(state))
        return (gsai_measure){0, -1};
    double count = gsai_state_rows_of(state, table, slot) + 1, rows = (double)(state->rows_behind + 1);
    const gsai_column *column = &state->centre.at[slot];
    if (count < DENSE_SHARE * rows || slot == 0 || column->n == 0) /* not present in nearly all rows */
        return (gsai_measure){0, -1};
    /* A column that does not vary, up to the rounding of its values, has nothing to say. */
    double noise = 1e-14 * column->mean * column->mean * column->n;
    double per_unit = column->squares > noise ? sqrt(column->n / column->squares) : 0;
    return (gsai_measure){column->mean, gsai_finite_float(per_unit)};
}

/* A column that is in less than this share of rows is in less than DENSE_SHARE of them until they have doubled. */
#define SPARSE_SHARE (2 * DENSE_SHARE - 1)

/* Returns the slot from which on no column is centred, found anew whenever the rows have doubled. */
static size_t dense_end(gsa_state *state)
{
    gsai_dense_slots *dense = &state->dense;
    double rows = (double)(state->rows_behind + 1);
    if (state->rows_behind < dense->n_rows)
        return dense->end;
    dense->n_rows = 2 * state->rows_behind + 1;
    dense->end = state->rows_behind == 0 ? GSAI_MAX_COLUMNS : 0;
    for (size_t slot = gsai_table_next(&state->table, 1); slot < state->table.n_slots && slot < GSAI_MAX_COLUMNS;
         slot = gsai_table_next(&state->table, slot + 1))
        if (gsai_state_rows_of(state, &state->table, slot) + 1 >= SPARSE_SHARE * rows && slot >= dense->end)
            dense->end = slot + 1;
    return dense->end;
}

gsa_status gsai_centre_reserve(gsa_state *state, const uint32_t *slot, size_t n, size_t *n_dense, gsa_error *error)
{
    size_t last = 0, end = state->is_frozen ? GSAI_MAX_COLUMNS : centres(state) ? dense_end(state) : 0;
    *n_dense = 0;
    for (size_t i = 0; i < n && end > 0; i++) {
        bool may_be = slot[i] < end;
        last = may_be && slot[i] > last ? slot[i] : last;
        *n_dense = may_be || gsai_slot_is_own(state, slot[i]) ? i + 1 : *n_dense;
    }
    return last >= state->centre.n && last > 0
               ? gsai_array_grow(&state->centre, last + 1, sizeof *state->centre.at, &state->env, error)
               : GSA_OK;
}

void gsai_centre_group(gsa_state *state)
{
    const gsai_group *group = &state->group;
    double min = (state->is_frozen ? MEASURED_SHARE : DENSE_SHARE) * (double)(state->rows_behind + 1);
    for (size_t row = 0; row < group->n_rows; row++)
        for (size_t e = group->start[row], end = e + group->n_dense[row]; e < end; e++) {
            size_t slot = group->slot[e];
            if (slot >= state->centre.n || gsai_state_rows_of(state, &state->table, slot) + 1 < min)
                continue;
            gsai_column *column = &state->centre.at[slot];
            double x = (double)group->x[e], off = x - column->mean;
            column->n++;
            column->mean += off / column->n;
            column->squares += off * (x - column->mean);
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
    double count = (double)gsai_state_n_seen(state, slot), rows = (double)state->rows_behind;
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

/* ---- the part of a state ----------------------------------------------------------------------------------------- */

/* Adds up the means of columns. Rows that replicas have in common count once. */
static gsa_status merge_centre(const gsai_merge *merge, gsa_error *error)
{
    gsai_centre *into = &merge->into->centre;
    if (merge->continues)
        GSA_TRY(gsai_array_grow(into, merge->base->centre.n, sizeof *into->at, &merge->into->env, error));
    for (size_t s = 0; s < merge->n_states; s++)
        GSA_TRY(gsai_array_grow(into, merge->states[s]->centre.n, sizeof *into->at, &merge->into->env, error));
    for (size_t slot = 0; slot < into->n; slot++) {
        const gsai_centre *base = merge->continues ? &merge->base->centre : NULL;
        const gsai_column nothing = {0}, *start = base && slot < base->n ? &base->at[slot] : &nothing;
        into->at[slot] = *start;
        for (size_t s = 0; s < merge->n_states; s++)
            if (slot < merge->states[s]->centre.n)
                gsai_column_add(&into->at[slot], &merge->states[s]->centre.at[slot], start);
    }
    while (into->n > 0 && into->at[into->n - 1].n == 0) /* nothing is known of it */
        into->n--;
    return GSA_OK;
}

/* Columns that have gone on since the base; the others are empty, and a merge skips them. */
static void columns_since(gsa_state *view, const gsa_state *base, gsai_snapshot *snapshot)
{
    const gsai_centre now = view->centre, *before = &base->centre;
    gsai_centre since = {.at = gsai_arena_take(&snapshot->owned, now.n + 1, sizeof *since.at)};
    for (size_t slot = 0; slot < now.n && since.at; slot++)
        if (now.at[slot].n > (slot < before->n ? before->at[slot].n : 0)) {
            since.at[slot] = now.at[slot];
            since.n = slot + 1;
        }
    view->centre = since;
}

/* Numbers of a column, stored as they are: rows, mean, sum of squares around it. */
#define COLUMN 3u
static_assert(sizeof(gsai_column) == COLUMN * sizeof(double), "columns are stored as they are");

static const gsai_tensor_key centre_key = {"centre", GSAI_F64, GSAI_FINITE},
                             centre_slot_key = {"centre.slot", GSAI_U32, GSAI_MAX_COLUMNS - 1};

/* The next column with rows. */
static size_t next_column(const void *ctx, size_t slot, size_t n)
{
    const gsai_centre *centre = ctx;
    while (slot < n && centre->at[slot].n == 0)
        slot++;
    return slot;
}

/* The columns up to n, as lines. */
static gsai_line_tensor lines_of(const gsai_centre *centre, size_t n)
{
    return (gsai_line_tensor){centre_key, 2, COLUMN, (char *)centre->at, sizeof *centre->at, n, NULL};
}

/* Columns without rows are as columns that are not there. */
static void save_centre(gsai_snapshot *snapshot, const gsa_state *state)
{
    const gsai_centre *centre = &state->centre;
    size_t n = centre->n;
    while (n > 0 && centre->at[n - 1].n == 0)
        n--;
    gsai_line_tensor columns = lines_of(centre, n);
    if (n > 0)
        gsai_snapshot_lines(snapshot, &columns, 1, &centre_slot_key, n, n, next_column, centre);
}

static bool column_is_sound(const gsai_column *column)
{
    bool is_empty = column->n == 0 && column->mean == 0 && column->squares == 0;
    return is_empty || (column->n >= 1 && column->n == floor(column->n) && column->squares >= 0);
}

/* The header of a delta has no features, and columns all the same. */
static gsa_status load_centre(gsa_state *state, const gsai_bundle *bundle, gsa_error *error)
{
    const gsai_tensor *found;
    gsai_centre *centre = &state->centre;
    gsai_lines lines;
    GSA_TRY(gsai_bundle_may_have(bundle, &centre_key, GSAI_ANY_LEN, &found, error));
    if (!found)
        return GSA_OK;
    uint64_t n = gsai_tensor_len(found) / COLUMN;
    GSA_TRY(gsai_lines_find(bundle, &centre_slot_key, GSAI_MAX_COLUMNS, &lines, error));
    if (n == 0 || n > lines.n)
        return gsai_fail(error, GSA_FORMAT, "the centre has no columns, or more than %u", (unsigned)GSAI_MAX_COLUMNS);
    lines.n = lines.id ? lines.n : (size_t)n;
    size_t n_columns = lines.id ? (size_t)lines.id[lines.n - 1] + 1 : lines.n;
    GSA_TRY(gsai_array_grow(centre, n_columns, sizeof *centre->at, &state->env, error));
    gsai_line_tensor columns = lines_of(centre, n_columns);
    GSA_TRY(gsai_lines_restore(&columns, &lines, bundle, error));
    for (size_t slot = 0; slot < n_columns; slot++)
        if (!column_is_sound(&centre->at[slot]) || (slot + 1 == n_columns && centre->at[slot].n == 0))
            return gsai_fail(error, GSA_FORMAT, "column %zu of the centre is out of range", slot);
    return GSA_OK;
}

const gsai_part_functions gsai_centre_part = {
    .merge = merge_centre, .save = save_centre, .load = load_centre, .since = columns_since};
