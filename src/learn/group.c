/* Learning a group of rows: their margins, exponentials and divisions run side by side.
 *
 * All rows of a group see the weights before it, and take the mean step after the greedy steps of all have entered it.
 * With steps that end at a row's own minimum several rows at once would go past it, so that only losses with
 * probabilities have groups of more than one row; and the first rows, which move the weights far, have small ones. */
#include "learn/inside.h"
#include "learn/state_slots.h"
#include "learn/stored_rows.h"

#include "base/error.h"
#include "base/memory.h"

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

/* ---- rows that wait ---------------------------------------------------------------------------------------------- */

/* Rows learned until groups grow by one row. More with several outputs, because a class has its rows less often. */
#define RAMP_ROWS 512u
#define RAMP_ROWS_MANY 2048u
/* A group is also full at this number of entries, or above the weight of GSAI_GROUP_ROWS rows of weight 1. */
#define GROUP_ENTRIES 4096u
#define GROUP_WEIGHT ((double)GSAI_GROUP_ROWS)

static size_t rows_of_group(const gsa_state *state)
{
    uint64_t size = 1 + state->n_rows / (state->table.n_outputs > 1 ? RAMP_ROWS_MANY : RAMP_ROWS);
    if (!state->loss->has_probabilities)
        return 1;
    return size < GSAI_GROUP_ROWS ? (size_t)size : GSAI_GROUP_ROWS;
}

bool gsai_state_has_groups(const gsa_state *state)
{
    return state->loss && state->params.value[GSAI_PARAM_method] != GSAI_METHOD_PAPER;
}

bool gsai_group_is_full(const gsa_state *state)
{
    const gsai_group *group = &state->group;
    return group->n_rows > 0 &&
           (group->n_rows >= group->n_full || group->n_entries >= GROUP_ENTRIES || group->weight > GROUP_WEIGHT);
}

/* Reserves memory for n_rows rows of n entries after those that wait. Returns false if out of memory. */
static bool reserve(gsai_group *group, size_t n, size_t n_rows, const gsai_env *env)
{
    size_t need, size;
    if (!gsai_add(n, GSAI_GROUP_PAD, &need) || !gsai_multiply(need, n_rows, &need) ||
        !gsai_add(need, group->n_entries, &need) || !gsai_multiply(need, 4, &size) ||
        !gsai_add(size, GSAI_GROUP_ROWS * (need < GSAI_GROUP_COLUMNS ? need : GSAI_GROUP_COLUMNS), &size) ||
        !gsai_reserve(env, &group->slot, &group->slot_capacity, need, sizeof *group->slot) ||
        !gsai_reserve(env, &group->x, &group->x_capacity, need, sizeof *group->x) ||
        !gsai_reserve(env, &group->origin, &group->scratch_capacity, size, sizeof *group->origin))
        return false;
    group->capacity = need > group->capacity ? need : group->capacity;
    return true;
}

/* The scratch is that of as many entries as there are now. */
static void lay_out(gsai_group *group)
{
    group->centred = (float *)(group->origin + group->n_entries);
    group->per_unit = group->centred + group->n_entries;
    group->direction = group->per_unit + group->n_entries;
    group->square = group->direction + group->n_entries;
    group->place = (uint32_t *)(group->square + group->n_entries);
}

/* Copies the entries of a row behind those that wait, and makes room for their features. *last: their last slot. */
static gsa_status copy_row(gsa_state *state, const gsai_row *row, const gsai_row_scan *scan, size_t *n, size_t *n_dense,
                           uint32_t *last, gsa_error *error)
{
    gsai_group *group = &state->group;
    size_t from = group->n_entries, left = group->capacity - from;
    if (!scan->is_finite)
        return gsai_fail(error, GSA_INPUT, "a value is not a finite number");
    bool has_room = row->n < left && GSAI_GROUP_PAD <= left - row->n; /* most often */
    GSAI_TRY_MEMORY(has_room || reserve(group, row->n, 1, &state->env), &state->env, error,
                    "no memory for a row of %zu entries", row->n);
    *n = state->kernels->copy_row(row, scan->has_zeros, group->slot + from, group->x + from);
    *last = *n > 0 ? scan->highest + 1 : 0;
    if (scan->has_zeros) {
        *last = 0;
        for (size_t e = from; e < from + *n; e++)
            *last = group->slot[e] > *last ? group->slot[e] : *last;
    }
    if (*last >= state->table.n_slots)
        GSA_TRY(gsai_state_fit_slots(state, (size_t)*last + 1, error));
    return gsai_centre_reserve(state, group->slot + from, *n, n_dense, error);
}

gsa_status gsai_group_fit(gsa_state *state, const gsai_row *row, gsa_error *error)
{
    gsai_row_scan scan;
    size_t n = 0, n_dense;
    uint32_t last = 0;
    GSAI_TRY_MEMORY(reserve(&state->group, row->n, GSAI_GROUP_ROWS, &state->env), &state->env, error,
                    "no memory for a row of %zu entries", row->n);
    state->kernels->scan_row(row, &scan);
    return copy_row(state, row, &scan, &n, &n_dense, &last, error);
}

gsa_status gsai_group_add(gsa_state *state, const gsai_row *row, const gsai_row_scan *scan, size_t class_number,
                          double y, double c, gsa_error *error)
{
    gsai_group *group = &state->group;
    gsai_row_scan own;
    size_t at = group->n_rows, from = group->n_entries, n = 0;
    uint32_t last = 0;
    if (!scan)
        state->kernels->scan_row(row, &own);
    GSA_TRY(copy_row(state, row, scan ? scan : &own, &n, &group->n_dense[at], &last, error));
    size_t end = (from + n + GSAI_GROUP_PAD - 1) / GSAI_GROUP_PAD * GSAI_GROUP_PAD;
    for (size_t e = from + n; e < end; e++) {
        group->slot[e] = 0;
        group->x[e] = 0;
    }
    group->n_full = at == 0 ? rows_of_group(state) : group->n_full;
    group->start[at] = from;
    group->start[at + 1] = group->n_entries = end;
    group->n[at] = n;
    group->class_number[at] = class_number;
    group->y[at] = y;
    group->c[at] = c;
    group->weight += c;
    group->last = at == 0 || last > group->last ? last : group->last;
    group->is_ones = !row->value && (at == 0 || group->is_ones);
    group->n_rows++;
    return GSA_OK;
}

void gsai_group_clear(gsai_group *group)
{
    group->n_rows = group->n_entries = 0;
    group->weight = 0;
}

static gsa_status copy_group(gsa_state *to, const gsa_state *from, gsa_error *error)
{
    const gsai_group *own = &from->group;
    gsai_group_clear(&to->group);
    if (own->n_rows == 0)
        return GSA_OK;
    GSAI_TRY_MEMORY(reserve(&to->group, own->n_entries, 1, &to->env), &to->env, error,
                    "no memory for a row of %zu entries", own->n_entries);
    memcpy(&to->group, own, offsetof(gsai_group, slot)); /* all before the pointers */
    memcpy(to->group.slot, own->slot, own->n_entries * sizeof *own->slot);
    memcpy(to->group.x, own->x, own->n_entries * sizeof *own->x);
    return GSA_OK;
}

/* ---- columns -----------------------------------------------------------------------------------------------------
 * Of several outputs, where rows have much the same features, margins and updates are small products of matrices: a
 * weight is loaded once for all rows of the group. Elsewhere the rows are taken one after the other; their records are
 * asked for as the rows come. */

/* Fewer rows are not worth it: the loops are made for a whole group. */
#define MIN_ROWS 4u

typedef struct lanes {
    float of[GSAI_GROUP_ROWS];
} lanes;

/* Leaves no columns where the rows have less than an eighth of the slots that they span. */
static void fill_columns(gsai_group *group)
{
    gsai_columns *columns = &group->columns;
    size_t span = group->last, n = 0;
    columns->n = 0;
    if (group->n_rows < MIN_ROWS || span > GSAI_GROUP_COLUMNS || span > group->n_entries)
        return;
    columns->origin = group->origin;
    columns->x = (float *)(columns->origin + span);
    columns->direction = columns->x + GSAI_GROUP_ROWS * span;
    columns->square = columns->direction + GSAI_GROUP_ROWS * span;
    columns->per_unit = columns->square + span;
    columns->slot = (uint32_t *)(columns->per_unit + span);
    columns->n_rows = columns->slot + span;
    memset(columns->x, 0, GSAI_GROUP_ROWS * span * sizeof *columns->x);
    memset(columns->n_rows, 0, span * sizeof *columns->n_rows);
    lanes *x = (lanes *)(void *)columns->x;
    for (size_t row = 0; row < group->n_rows; row++)
        for (size_t e = group->start[row], end = e + group->n[row]; e < end; e++) {
            size_t at = group->slot[e] - 1;
            x[at].of[row] = group->x[e];
            columns->n_rows[at]++;
        }
    for (size_t at = 0; at < span; at++) { /* slots that no row has are left out */
        uint32_t n_rows = columns->n_rows[at];
        x[n] = x[at];
        columns->slot[n] = (uint32_t)at + 1;
        columns->n_rows[n] = n_rows;
        n += n_rows > 0;
    }
    columns->n = n;
}

/* Finds the directions of a group whose rows have much the same features, by columns; x.Dx, and what the origins of the
 * values add up to in them. False: it is to be learned by rows. */
static bool direct_columns(gsa_state *state, const gsai_table *table, const gsai_prior_totals *before,
                           bool standardised, double *xdx, double *origins)
{
    gsai_group *group = &state->group;
    gsai_columns *columns = &group->columns;
    float c[GSAI_GROUP_ROWS] = {0}, sums[GSAI_GROUP_ROWS];
    for (size_t row = 0; row < group->n_rows; row++)
        c[row] = (float)group->c[row];
    fill_columns(group);
    for (size_t i = 0; i < columns->n && standardised; i++) {
        gsai_measure of = gsai_measure_of(state, table, columns->slot[i]);
        columns->origin[i] = of.origin;
        columns->per_unit[i] = of.per_unit;
    }
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

/* ---- several outputs --------------------------------------------------------------------------------------------- */

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

/* Finds the greedy steps of the rows, whose directions are known, and the weighted sum of their losses; the gradient
 * scales stay in the state. False if a margin is not finite. */
static bool find_greedy_steps(gsa_state *state, const gsai_table *table, const gsai_target *target,
                              gsai_greedy_step *out, double *loss)
{
    gsai_group *group = &state->group;
    size_t n = table->n_outputs;
    if (group->columns.n > 0) /* of all rows at once, into the scales */
        state->kernels->column_margins(&group->columns, table, state->scales, gsai_scales_stride(n));
    *loss = 0;
    for (size_t row = 0; row < group->n_rows; row++) {
        float *m = scales_of(state, table, row);
        int n_bad = 0;
        if (group->columns.n == 0) {
            state->kernels->row_margins(group, table, row, state->margins);
            for (size_t k = 0; k < n; k++)
                m[k] = (float)state->margins[k];
        }
        for (size_t k = 0; k < n; k++) {
            m[k] += gsai_table_slot(table, 0)[k].f; /* of the intercept; 0 without one */
            n_bad += !(fabsf(m[k]) <= FLT_MAX);
        }
        if (n_bad > 0)
            return false;
        out[row] = state->loss->greedy_step_of_floats
                       ? state->loss->greedy_step_of_floats(state->kernels, m, n, &target[row])
                       : step_in_doubles(state, m, n, &target[row]);
        *loss += group->c[row] * out[row].loss;
    }
    return true;
}

/* Returns the gradient scales of a row, in the state's margins. */
static const double *gradient_scales(gsa_state *state, const gsai_table *table, size_t row)
{
    const float *g = scales_of(state, table, row);
    for (size_t k = 0; k < table->n_outputs; k++)
        state->margins[k] = (double)g[k];
    return state->margins;
}

/* Moves the weights by scale times the gradient scales of each row times its direction; intercept: that of slot 0. */
static void update_many(gsa_state *state, gsai_table *table, const float *scale, const double *intercept,
                        float past_weight)
{
    gsai_group *group = &state->group;
    const gsai_kernels *kernels = state->kernels;
    size_t stride = gsai_scales_stride(table->n_outputs), n = gsai_table_padded(table->n_outputs);
    for (size_t row = 0; row < GSAI_GROUP_ROWS; row++) { /* rows that are not there have scales too */
        float *g = scales_of(state, table, row), by = row < group->n_rows ? scale[row] : 0;
        if (by == 0)
            memset(g, 0, stride * sizeof *g);
        for (size_t k = 0; k < stride && by != 0; k++)
            g[k] *= by;
    }
    if (group->columns.n > 0)
        kernels->column_update(&group->columns, table, state->scales, stride, past_weight);
    for (size_t row = 0; row < group->n_rows && group->columns.n == 0; row++)
        kernels->row_update(group, table, row, scales_of(state, table, row), past_weight);
    gsai_cell *weight = gsai_table_slot(table, 0), *average = weight + gsai_table_average(table);
    for (size_t row = 0; row < group->n_rows && state->params.value[GSAI_PARAM_intercept]; row++)
        kernels->move(weight, average, (float)intercept[row], past_weight, scales_of(state, table, row), n);
}

/* ---- learning ---------------------------------------------------------------------------------------------------- */

/* Rows of a table have the same columns in the same order: what the first row has found serves the others. */
static void measure_row(gsa_state *state, const gsai_table *table, size_t row)
{
    gsai_group *group = &state->group;
    size_t n_first = row > 0 ? group->n_dense[0] : 0, first = 0;
    for (size_t e = group->start[row], end = gsai_group_dense_end(group, row); e < end; e++) {
        size_t slot = group->slot[e];
        gsai_measure of = {0, -1};
        while (first < n_first && group->slot[first] < slot)
            first++;
        if (first < n_first && group->slot[first] == slot)
            of = (gsai_measure){group->origin[first], group->per_unit[first]};
        else if (slot > 0 && (slot < state->centre.n || gsai_slot_is_own(state, slot)))
            of = gsai_measure_of(state, table, slot);
        group->origin[e] = of.origin;
        group->per_unit[e] = of.per_unit;
        group->centred[e] = gsai_finite_float((double)group->x[e] - of.origin);
    }
}

/* Margins and greedy steps of the rows of a group. */
struct greedy_steps {
    double m[GSAI_GROUP_ROWS], xdx[GSAI_GROUP_ROWS];
    double origins[GSAI_GROUP_ROWS], intercept[GSAI_GROUP_ROWS]; /* direction of the intercept */
    gsai_greedy_step step[GSAI_GROUP_ROWS];
    bool means_move, has_new;
};

/* Adds up, in doubles, the sums of a row whose values are so large that their products overflow a float. */
static void add_up_row(const gsai_group *group, const gsai_table *table, size_t row, bool standardised,
                       struct greedy_steps *out)
{
    out->m[row] = out->xdx[row] = 0;
    for (size_t e = group->start[row]; e < group->start[row + 1]; e++) {
        bool is_centred = standardised && e < gsai_group_dense_end(group, row);
        out->m[row] += (double)gsai_table_slot(table, group->slot[e])->f * (double)group->x[e];
        out->xdx[row] += (double)group->direction[e] * (double)(is_centred ? group->centred[e] : group->x[e]);
    }
}

/* Directions, x.Dx and, of one output, margins; what the origins of the values add up to in the directions. */
static void direct_rows(gsa_state *state, const gsai_table *table, const gsai_prior_totals *before, bool standardised,
                        struct greedy_steps *out)
{
    gsai_group *group = &state->group;
    gsai_group_margins sums;
    for (size_t row = 0; row < group->n_rows && standardised; row++)
        measure_row(state, table, row);
    state->kernels->group_margins(group, table, before, standardised, &sums);
    out->means_move = sums.means_move;
    out->has_new = sums.has_new;
    for (size_t row = 0; row < group->n_rows; row++) {
        out->m[row] = (double)sums.m[row];
        out->xdx[row] = (double)sums.xdx[row];
        if (!isfinite(out->m[row]) || !isfinite(out->xdx[row]))
            add_up_row(group, table, row, standardised, out);
        out->origins[row] = 0;
        for (size_t e = group->start[row], end = gsai_group_dense_end(group, row); e < end && standardised; e++)
            out->origins[row] += group->origin[e] * (double)group->direction[e];
    }
}

/* Margins and x.Dx, the intercept last. False if one is not finite. */
static bool find_margins(gsa_state *state, const gsai_table *table, bool standardised, struct greedy_steps *out)
{
    bool intercept = state->params.value[GSAI_PARAM_intercept], finite = true;
    if (table->n_outputs == 1 || !direct_columns(state, table, &state->prior, standardised, out->xdx, out->origins))
        direct_rows(state, table, &state->prior, standardised, out);
    double inverse_frequency =
        intercept ? (double)state->kernels->inverse_frequency_of((float)gsai_state_rows_of(state, table, 0)) : 0;
    for (size_t row = 0; row < state->group.n_rows; row++) {
        out->m[row] += intercept ? (double)gsai_table_slot(table, 0)->f : 0;
        out->xdx[row] += inverse_frequency;
        out->intercept[row] = intercept ? inverse_frequency - out->origins[row] : 0;
        finite = finite && isfinite(out->m[row]) && isfinite(out->xdx[row]);
    }
    return finite;
}

/* Enters the greedy steps of the rows in the mean and returns the mean as the step, to be taken times xdx * all; but
 * where a greedy step is the row's own minimiser, which is when a group has one row, not past that. */
static double step_of_group(const gsa_state *state, const struct greedy_steps *of, double all, gsai_step_mean *mean)
{
    const gsai_group *group = &state->group;
    bool own_minimum = !state->loss->has_probabilities;
    double sum = 0, weight = 0, own = INFINITY;
    for (size_t row = 0; row < group->n_rows; row++) {
        double xdx = of->xdx[row], g = of->step[row].g, lambda = of->step[row].lambda;
        double step_weight = group->c[row] * (own_minimum ? g * g * xdx * all : fabs(g));
        if (state->loss->has_log_link &&
            mean->weight > 0) /* a mean can be too large by any factor: once, not for good */
            step_weight = fmin(step_weight, mean->weight);
        sum += xdx > 0 ? step_weight * lambda / (xdx * all) : 0;
        weight += xdx > 0 ? step_weight : 0;
        own = own_minimum ? (xdx > 0 ? lambda / (xdx * all) : 0) : own;
    }
    mean->sum += sum;
    mean->weight += weight;
    double step = gsai_step_mean_value(mean);
    return own < step ? own : step;
}

/* Notes that the slots of a group are in use. */
static void use_slots(const gsai_group *group, gsai_table *table)
{
    const gsai_columns *columns = &group->columns;
    for (size_t i = 0; i < columns->n; i++)
        gsai_table_use(table, columns->slot[i]);
    for (size_t e = 0; e < group->n_entries && columns->n == 0; e++)
        if (gsai_table_slot(table, group->slot[e])[gsai_table_count(table)].u == 0)
            gsai_table_use(table, group->slot[e]);
}

/* Finds the records of a group of one output. */
static void place_slots(gsai_group *group, gsai_table *table)
{
    if (!table->page)
        group->place = group->slot;
    for (size_t e = 0; e < group->n_entries && table->page; e++) {
        gsai_table_map(table, group->slot[e]);
        group->place[e] = (uint32_t)gsai_table_place(table, group->slot[e]);
    }
}

gsa_status gsai_group_learn(gsa_state *state, double past_weight, double *loss)
{
    gsai_group *group = &state->group;
    gsai_table *table = &state->table;
    struct greedy_steps of = {0};
    gsai_target target[GSAI_GROUP_ROWS];
    float scale[GSAI_GROUP_ROWS];
    /* (rows + 2)^(3/8), the part of all inverse frequencies that does not depend on the feature. */
    double root = sqrt(sqrt((double)state->rows_behind + 2)), all = sqrt(root * root * root);
    double ratio = gsai_row_weights_ratio(&state->row_weights), intercept = 0;
    bool many = table->n_outputs > 1;
    lay_out(group);
    gsai_table_settle(table, &state->env);
    if (!many)
        place_slots(group, table);
    bool finite = find_margins(state, table, state->standardised, &of);
    for (size_t row = 0; row < group->n_rows; row++)
        target[row] = gsai_state_target(state, group->class_number[row], group->y[row]);
    if (finite && many)
        finite = find_greedy_steps(state, table, target, of.step, loss);
    else if (finite)
        *loss = gsai_greedy_steps(state->loss, state->kernels, of.m, target, group->c, group->n_rows, of.step);
    for (size_t row = 0; row < group->n_rows && finite; row++)
        finite = isfinite(of.step[row].g);
    if (!finite || !isfinite(*loss))
        return GSA_DIVERGED;
    for (size_t row = 0; row < group->n_rows && state->loss->has_width; row++)
        gsai_residuals_add(&state->residuals, of.step[row].m - target[row].y, group->c[row]);
    double step = step_of_group(state, &of, all, &state->step);
    for (size_t row = 0; row < group->n_rows; row++) {
        double c = group->c[row] / ratio, e = step * (of.xdx[row] * all);
        /* A plain step may fit a row already, and a heavier row could then not count for more. So the heaviest rows
         * take the plain step and the others a part of it, unless one row is far heavier than the mean of all; a step
         * that leads away from the label is never multiplied by more than the row's weight. */
        if (c > 1 && e > 0 && of.step[row].g != 0 && !state->is_frozen) {
            const double *g = many ? gradient_scales(state, table, row) : &of.step[row].g;
            c = state->loss->repeats(g, table->n_outputs, &target[row], &of.step[row], e, c);
        }
        scale[row] = state->is_frozen ? 0 : (float)(-step * all * c * (many ? 1 : of.step[row].g));
        intercept += (double)scale[row] * of.intercept[row];
    }
    if (of.has_new || (many && group->columns.n > 0))
        use_slots(group, table);
    if (many)
        update_many(state, table, scale, of.intercept, (float)past_weight);
    else
        state->kernels->group_update(group, table, scale, (float)past_weight, of.means_move);
    if (state->params.value[GSAI_PARAM_intercept])
        state->kernels->group_update_intercept(group, table, many ? 0 : (float)intercept, (float)past_weight);
    return GSA_OK;
}

/* ---- the part of a state ----------------------------------------------------------------------------------------- */

static void release(gsa_state *state)
{
    gsai_free(&state->env, state->group.slot);
    gsai_free(&state->env, state->group.x);
    gsai_free(&state->env, state->group.origin);
}

static const gsai_tensor_key keys[GSAI_ROW_HASH] = {
    [GSAI_ROW_START] = {"group.row_start", GSAI_U64, UINT64_MAX},
    [GSAI_ROW_NUMBER] = {"group.number", GSAI_F64, GSAI_FINITE},
    [GSAI_ROW_WEIGHT] = {"group.weight", GSAI_F64, GSAI_NOT_NEGATIVE},
    [GSAI_ROW_CLASS] = {"group.class", GSAI_U32, UINT32_MAX},
    [GSAI_ROW_INDEX] = {"group.index", GSAI_U32, GSA_MAX_ID},
    [GSAI_ROW_VALUE] = {"group.value", GSAI_F32, GSAI_FINITE},
};

static void save_group(gsai_snapshot *snapshot, const gsa_state *state)
{
    const gsai_group *group = &state->group;
    bool has_classes = gsai_loss_has_classes(state->loss);
    uint64_t n_entries = 0, at = 0;
    gsai_stored_rows rows = {0};
    if (group->n_rows == 0)
        return;
    for (size_t i = 0; i < group->n_rows; i++)
        n_entries += group->n[i];
    bool done = gsai_stored_rows_add(snapshot, keys, GSAI_ROW_HASH, group->n_rows, n_entries, &rows);
    for (size_t i = 0; i < group->n_rows && done; i++) {
        rows.class_number[i] = has_classes ? (uint32_t)group->class_number[i] : 0;
        rows.number[i] = group->y[i];
        rows.weight[i] = group->c[i];
        for (size_t e = group->start[i], end = e + group->n[i]; e < end; e++, at++) {
            rows.index[at] = group->slot[e] - 1;
            rows.value[at] = group->x[e];
        }
        rows.start[i + 1] = at;
    }
}

static gsa_status load_group(gsa_state *state, const gsai_bundle *bundle, gsa_error *error)
{
    gsai_stored_rows in = {0};
    gsai_row row;
    GSA_TRY(gsai_stored_rows_find(bundle, keys, GSAI_ROW_HASH, &in, error));
    if (in.n > 0 && !gsai_state_has_groups(state))
        return gsai_fail(error, GSA_FORMAT, "the rows of a group do not fit the state");
    for (size_t i = 0; i < in.n; i++) {
        bool is_sound = !gsai_group_is_full(state) && gsai_stored_row(state, &in, i, &row) && in.weight[i] != 0;
        for (size_t e = 0; is_sound && e < row.n; e++)
            is_sound = (size_t)row.index[e] + 1 < state->table.n_slots;
        if (!is_sound)
            return gsai_fail(error, GSA_FORMAT, "row %zu of a group is damaged", i);
        GSA_TRY(gsai_group_add(state, &row, NULL, in.class_number[i], in.number[i], in.weight[i], error));
    }
    return in.n > 0 && gsai_group_is_full(state) ? gsai_fail(error, GSA_FORMAT, "a group that is full still waits")
                                                 : GSA_OK;
}

const gsai_part_functions gsai_group_part = {
    .release = release, .copy = copy_group, .key = "group.number", .save = save_group, .load = load_group};
