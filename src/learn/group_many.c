/* Groups of rows with several outputs.
 *
 * Where rows have much the same features, margins and updates are small products of matrices: a weight is loaded once
 * for all rows of the group. Elsewhere the rows are taken one after the other; their records are asked for as the rows
 * come. */
#include "learn/group_many.h"
#include "learn/inside.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* ---- columns ----------------------------------------------------------------------------------------------------- */

/* Fewer rows are not worth it: the loops are made for a whole group. */
#define MIN_ROWS 4u

/* Slots from 1 on that the rows span; 0: they are not for columns, since they have less than an eighth of them. */
static size_t span_of(const gsai_group *group)
{
    size_t span = group->last;
    return group->n_rows >= MIN_ROWS && span <= GSAI_GROUP_COLUMNS && span <= group->n_entries ? span : 0;
}

static void lay_out(gsai_columns *columns, double *memory, size_t span)
{
    columns->origin = memory;
    columns->x = (float *)(memory + span);
    columns->direction = columns->x + GSAI_GROUP_ROWS * span;
    columns->square = columns->direction + GSAI_GROUP_ROWS * span;
    columns->per_unit = columns->square + span;
    columns->slot = (uint32_t *)(columns->per_unit + span);
    columns->n_rows = columns->slot + span;
    columns->n = 0;
    memset(columns->x, 0, GSAI_GROUP_ROWS * span * sizeof *columns->x);
    memset(columns->n_rows, 0, span * sizeof *columns->n_rows);
}

typedef struct lanes {
    float of[GSAI_GROUP_ROWS];
} lanes;

/* Leaves out the slots that no row has. */
static void close_up(gsai_columns *columns, size_t span)
{
    lanes *x = (lanes *)(void *)columns->x;
    size_t n = 0;
    for (size_t at = 0; at < span; at++) {
        uint32_t n_rows = columns->n_rows[at];
        x[n] = x[at];
        columns->slot[n] = (uint32_t)at + 1;
        columns->n_rows[n] = n_rows;
        n += n_rows > 0;
    }
    columns->n = n;
}

static void fill_columns(gsai_group *group)
{
    gsai_columns *columns = &group->columns;
    size_t span = span_of(group);
    lay_out(columns, group->origin, span);
    lanes *x = (lanes *)(void *)columns->x;
    uint32_t *n_rows = columns->n_rows;
    for (size_t row = 0; row < group->n_rows && span > 0; row++)
        for (size_t e = group->start[row], end = e + group->n[row]; e < end; e++) {
            size_t at = group->slot[e] - 1;
            x[at].of[row] = group->x[e];
            n_rows[at]++;
        }
    close_up(columns, span);
}

static void measure(const gsa_state *state, const gsai_table *table)
{
    const gsai_columns *columns = &state->group.columns;
    for (size_t i = 0; i < columns->n; i++) {
        gsai_measure of = gsai_measure_of(state, table, columns->slot[i]);
        columns->origin[i] = of.origin;
        columns->per_unit[i] = of.per_unit;
    }
}

bool gsai_group_direct_columns(gsa_state *state, const gsai_table *table, const gsai_counts_before *before,
                               bool standardised, double *xdx, double *origins)
{
    gsai_group *group = &state->group;
    gsai_columns *columns = &group->columns;
    float c[GSAI_GROUP_ROWS] = {0}, sums[GSAI_GROUP_ROWS];
    for (size_t row = 0; row < group->n_rows; row++)
        c[row] = (float)group->c[row];
    fill_columns(group);
    if (standardised)
        measure(state, table);
    state->kernels->column_directions(columns, table, before, c, standardised, sums);
    for (size_t row = 0; row < GSAI_GROUP_ROWS; row++) {
        xdx[row] = (double)sums[row];
        origins[row] = 0;
    }
    for (size_t i = 0; i < columns->n && standardised; i++)
        for (size_t row = 0; row < GSAI_GROUP_ROWS; row++)
            origins[row] += columns->origin[i] * (double)columns->direction[GSAI_GROUP_ROWS * i + row];
    for (size_t row = 0; row < group->n_rows; row++)
        columns->n = isfinite(xdx[row]) ? columns->n : 0;
    return columns->n > 0;
}

/* ---- learning ---------------------------------------------------------------------------------------------------- */

static float *scales_of(const gsa_state *state, const gsai_table *table, size_t row)
{
    return state->scales + row * gsai_scales_stride(table->n_outputs);
}

static gsai_greedy_step step_in_doubles(const gsa_state *state, float *m_to_g, size_t n, const gsai_target *target)
{
    double *g = state->margins;
    for (size_t k = 0; k < n; k++)
        g[k] = (double)m_to_g[k];
    gsai_greedy_step step = state->loss->greedy_step(g, n, target);
    for (size_t k = 0; k < gsai_scales_stride(n); k++)
        m_to_g[k] = k < n ? (float)g[k] : 0;
    return step;
}

/* Margins are in the scales already where the group has columns. */
static bool greedy_step_of(const gsa_state *state, const gsai_table *table, size_t row, const gsai_target *target,
                           gsai_greedy_step *out)
{
    float *m = scales_of(state, table, row);
    size_t n = table->n_outputs;
    if (state->group.columns.n == 0) {
        state->kernels->row_margins(&state->group, table, row, state->margins);
        for (size_t k = 0; k < n; k++)
            m[k] = (float)state->margins[k];
    }
    int n_bad = 0;
    for (size_t k = 0; k < n; k++) {
        m[k] += table->cells[k].f; /* of the intercept; 0 without one */
        n_bad += !(fabsf(m[k]) <= FLT_MAX);
    }
    if (n_bad > 0)
        return false;
    *out = state->loss->greedy_step_of_floats ? state->loss->greedy_step_of_floats(state->kernels, m, n, target)
                                              : step_in_doubles(state, m, n, target);
    return true;
}

bool gsai_group_greedy_steps(gsa_state *state, const gsai_table *table, const gsai_target *target,
                             gsai_greedy_step *out, double *loss)
{
    gsai_group *group = &state->group;
    bool finite = true;
    if (group->columns.n > 0)
        state->kernels->column_margins(&group->columns, table, state->scales, gsai_scales_stride(table->n_outputs));
    *loss = 0;
    for (size_t row = 0; row < group->n_rows && finite; row++) {
        finite = greedy_step_of(state, table, row, &target[row], &out[row]);
        *loss += finite ? group->c[row] * out[row].loss : 0;
    }
    return finite;
}

const double *gsai_group_scales(gsa_state *state, const gsai_table *table, size_t row)
{
    const float *g = scales_of(state, table, row);
    for (size_t k = 0; k < table->n_outputs; k++)
        state->margins[k] = (double)g[k];
    return state->margins;
}

/* Rows that are not there have scales too. */
static void scale_rows(gsa_state *state, const gsai_table *table, const float *scale)
{
    size_t stride = gsai_scales_stride(table->n_outputs);
    for (size_t row = 0; row < GSAI_GROUP_ROWS; row++) {
        float *g = scales_of(state, table, row), by = row < state->group.n_rows ? scale[row] : 0;
        if (by == 0)
            memset(g, 0, stride * sizeof *g);
        for (size_t k = 0; k < stride && by != 0; k++)
            g[k] *= by;
    }
}

static void update_intercept(gsa_state *state, gsai_table *table, const double *direction, float past_weight)
{
    gsai_cell *weight = table->cells, *average = weight + gsai_table_average(table);
    gsai_group *group = &state->group;
    for (size_t row = 0; row < group->n_rows; row++) {
        const float *scale = scales_of(state, table, row);
        state->kernels->move(weight, average, (float)direction[row], past_weight, scale,
                             gsai_table_padded(table->n_outputs));
    }
}

void gsai_group_update_many(gsa_state *state, gsai_table *table, const float *scale, const double *intercept,
                            float past_weight)
{
    gsai_group *group = &state->group;
    size_t stride = gsai_scales_stride(table->n_outputs);
    scale_rows(state, table, scale);
    if (group->columns.n > 0)
        state->kernels->column_update(&group->columns, table, state->scales, stride, past_weight);
    for (size_t row = 0; row < group->n_rows && group->columns.n == 0; row++)
        state->kernels->row_update(group, table, row, scales_of(state, table, row), past_weight);
    if (state->params.value[GSAI_PARAM_intercept])
        update_intercept(state, table, intercept, past_weight);
}
