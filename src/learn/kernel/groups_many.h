/* The loops over a group of rows with several outputs (learn/group.h), compiled with the others. GSAI_WIDEST: the
 * floats of this machine's vectors.
 *
 *   K9   by columns, each output of each row has one sum of floats in the order of slots; an update adds up what the
 *        rows ask for in their order, u = scale_0 * direction_0 + scale_1 * direction_1 ..., weight += u,
 *        average += past_weight * u;
 *   K10  row by row, margins are those of K3, and an update is u = scale * direction for each row;
 *   K11  a sum over outputs adds output j to partial sum j mod 16 (float); the sixteen are added as i and i + 8, i + 4,
 *        i + 2, i + 1. */
#ifndef GSA_LEARN_KERNEL_GROUPS_MANY_H
#define GSA_LEARN_KERNEL_GROUPS_MANY_H

#include "learn/kernel/groups.h"

/* A number: it may be beyond the table. */
static inline void ask_at(const gsai_cell *cell, ptrdiff_t n)
{
    __builtin_prefetch((const void *)((uintptr_t)cell + (uintptr_t)n * sizeof *cell), 1);
}

/* The last that is done to a column, with its first outputs. */
static inline void count_column(const gsai_columns *columns, const gsai_table *table, size_t i)
{
    gsai_cell *mean = gsai_table_slot(table, columns->slot[i]) + gsai_table_mean(table);
    mean[1].u += columns->n_rows[i];
    mean->f = next_mean(mean->f, columns->square[i], columns->n_rows[i], mean[1].u);
}

#define WIDTH 2
#include "learn/kernel/outputs.h"
#define WIDTH 4
#include "learn/kernel/outputs.h"
#if GSAI_WIDEST >= 8
#define WIDTH 8
#include "learn/kernel/outputs.h"
#endif
#if GSAI_WIDEST >= 16
#define WIDTH 16
#include "learn/kernel/outputs.h"
#endif

/* ---- directions -------------------------------------------------------------------------------------------------- */

static void group_margins(const gsai_group *group, const gsai_table *table, const gsai_prior_totals *before,
                          bool standardised, gsai_group_margins *out)
{
    bool many = table->n_outputs > 1;
    if (many && standardised)
        find_margins(group, table, before, STANDARDISED, true, out);
    else if (many)
        find_margins(group, table, before, AS_GIVEN, true, out);
    else if (standardised)
        find_margins(group, table, before, STANDARDISED, false, out);
    else if (group->is_ones)
        find_margins(group, table, before, ONES, false, out);
    else
        find_margins(group, table, before, AS_GIVEN, false, out);
}

/* The same numbers of one feature for four rows. */
static inline four_records splat_counts(const gsai_table *table, uint32_t slot, const gsai_prior_totals *before)
{
    const gsai_cell *record = gsai_table_slot(table, slot) + gsai_table_mean(table);
    const uint32_t same[4] = {slot, slot, slot, slot};
    four_floats zero = {0};
    four_records out = {zero, zero + record[0].f, zero + (float)(int32_t)record[1].u};
    count_before(&out, same, before);
    return out;
}

static inline four_floats centre_four(four_floats x, double origin)
{
    return __builtin_convertvector(__builtin_convertvector(x, four_doubles) - origin, four_floats);
}

/* Four rows of a column. */
__attribute__((always_inline)) static inline four_floats direct_column(const gsai_columns *columns, size_t i,
                                                                       size_t row, const four_records *of,
                                                                       four_floats c, bool standardised,
                                                                       four_floats *squares)
{
    float *to = columns->direction + GSAI_GROUP_ROWS * i + row;
    four_floats x = load_floats(columns->x + GSAI_GROUP_ROWS * i + row), zero = {0}, direction, xdx;
    four_ints there = x != zero;
    four_floats square = pick_four(there, square_of_lanes(x, c), zero);
    if (standardised) {
        four_floats centred = pick_four(there, centre_four(x, columns->origin[i]), zero);
        xdx = direct_four_standardised(of, centred, zero + columns->per_unit[i], square, &direction);
    } else {
        xdx = direct_four(of, x, &direction);
    }
    *squares += square;
    memcpy(to, &direction, sizeof direction);
    return xdx;
}

static void column_directions(const gsai_columns *columns, const gsai_table *table, const gsai_prior_totals *before,
                              const float *c, bool standardised, float *xdx)
{
    four_floats low = {0}, high = {0}, c_low = load_floats(c), c_high = load_floats(c + 4);
    for (size_t i = 0; i < columns->n; i++) {
        four_records of = splat_counts(table, columns->slot[i], before);
        four_floats squares = {0};
        low += direct_column(columns, i, 0, &of, c_low, standardised, &squares);
        high += direct_column(columns, i, 4, &of, c_high, standardised, &squares);
        columns->square[i] = add_four(squares);
    }
    memcpy(xdx, &low, sizeof low);
    memcpy(xdx + 4, &high, sizeof high);
}

/* ---- margins and updates ----------------------------------------------------------------------------------------- */

/* A record goes on behind its weights: the last vector may take what is there, into margins that are not read. */
static void column_margins(const gsai_columns *columns, const gsai_table *table, float *margins, size_t stride)
{
    size_t n = gsai_table_padded(table->n_outputs), k = 0;
#if GSAI_WIDEST >= 16
    for (; k < n && n >= 12; k += 16)
        add_columns_16(columns, table, k, margins, stride);
#endif
#if GSAI_WIDEST >= 8
    for (; k < n && n >= 4; k += 8)
        add_columns_8(columns, table, k, margins, stride);
#endif
    for (; k < n && n >= 4; k += 4)
        add_columns_4(columns, table, k, margins, stride);
    if (k < n)
        add_columns_2(columns, table, k, margins, stride);
}

#if GSAI_WIDEST >= 16
static inline void move_eight(gsai_cell *cell, floats_8 by)
{
    floats_8 old;
    memcpy(&old, cell, sizeof old);
    old += by;
    memcpy(cell, &old, sizeof old);
}

static inline void move_four(gsai_cell *cell, four_floats by)
{
    four_floats old;
    memcpy(&old, cell, sizeof old);
    old += by;
    memcpy(cell, &old, sizeof old);
}

/* Twelve outputs, as many as ten classes have: added up at once, moved as eight and four. */
static void move_columns_12(const gsai_columns *columns, const gsai_table *table, size_t k, const float *scales,
                            size_t stride, float past_weight)
{
    size_t average = gsai_table_average(table);
    floats_16 scale[GSAI_GROUP_ROWS];
    for (size_t row = 0; row < GSAI_GROUP_ROWS; row++)
        memcpy(&scale[row], scales + row * stride + k, sizeof scale[row]);
    for (size_t i = 0; i < columns->n; i++) {
        gsai_cell *record = gsai_table_slot(table, columns->slot[i]) + k;
        floats_16 by = sum_rows_16(scale, columns->direction + GSAI_GROUP_ROWS * i), late = by * past_weight;
        move_eight(record, __builtin_shufflevector(by, by, 0, 1, 2, 3, 4, 5, 6, 7));
        move_four(record + 8, __builtin_shufflevector(by, by, 8, 9, 10, 11));
        move_eight(record + average, __builtin_shufflevector(late, late, 0, 1, 2, 3, 4, 5, 6, 7));
        move_four(record + average + 8, __builtin_shufflevector(late, late, 8, 9, 10, 11));
        if (k == 0)
            count_column(columns, table, i);
    }
}
#endif

/* From the last output to the first: the margins of the next group want the first ones first. */
static void column_update(const gsai_columns *columns, gsai_table *table, const float *scales, size_t stride,
                          float past_weight)
{
    size_t k = gsai_table_padded(table->n_outputs);
    if (k % 4 > 0)
        move_columns_2(columns, table, k -= 2, scales, stride, past_weight);
#if GSAI_WIDEST >= 16
    if (k % 16 == 12)
        move_columns_12(columns, table, k -= 12, scales, stride, past_weight);
#endif
#if GSAI_WIDEST >= 8
    if (k % 8 > 0)
        move_columns_4(columns, table, k -= 4, scales, stride, past_weight);
#if GSAI_WIDEST >= 16
    if (k % 16 > 0)
        move_columns_8(columns, table, k -= 8, scales, stride, past_weight);
    while (k > 0)
        move_columns_16(columns, table, k -= 16, scales, stride, past_weight);
#endif
    while (k > 0)
        move_columns_8(columns, table, k -= 8, scales, stride, past_weight);
#endif
    while (k > 0)
        move_columns_4(columns, table, k -= 4, scales, stride, past_weight);
}

static void row_margins(const gsai_group *group, const gsai_table *table, size_t row, double *restrict margins)
{
    size_t n = gsai_table_padded(table->n_outputs);
    memset(margins, 0, n * sizeof *margins);
    for (size_t e = group->start[row]; e < group->start[row + 1]; e += 4) {
        quartet of;
        for (size_t j = 0; j < 4; j++) {
            of.weight[j] = gsai_table_slot(table, group->slot[e + j]);
            of.x[j] = group->x[e + j];
        }
        add_all_products(&of, margins, n);
    }
}

static void row_update(const gsai_group *group, gsai_table *table, size_t row, const float *scale, float past_weight)
{
    size_t n = gsai_table_padded(table->n_outputs), average = gsai_table_average(table), mean = gsai_table_mean(table);
    for (size_t e = group->start[row], end = e + group->n[row]; e < end; e++) {
        gsai_cell *record = gsai_table_slot(table, group->slot[e]);
        move(record, record + average, group->direction[e], past_weight, scale, n);
        record[mean].f = next_mean(record[mean].f, group->square[e], 1, ++record[mean + 1].u);
    }
}

/* ---- probabilities ----------------------------------------------------------------------------------------------- */

typedef float sixteen_floats __attribute__((vector_size(64)));
typedef int32_t sixteen_ints __attribute__((vector_size(64)));
typedef uint32_t sixteen_bits __attribute__((vector_size(64)));

static inline float add_sixteen(sixteen_floats lane)
{
    float s[16];
    memcpy(s, &lane, sizeof s);
    for (size_t n = 8; n > 0; n /= 2)
        for (size_t i = 0; i < n; i++)
            s[i] += s[i + n];
    return s[0];
}

/* Returns the same as exp_of, but 0 below -64: smaller values would only make products that underflow a float. */
static inline sixteen_floats exp_of_sixteen(sixteen_floats x)
{
    sixteen_floats zero = {0};
    sixteen_ints there = ~(x <= zero - 64.0F); /* NaN is */
    x = (sixteen_floats)((sixteen_ints)x & there);
    sixteen_floats t = x * 0x1.715476p+0F + 0x1.8p23F, k = t - 0x1.8p23F;
    sixteen_floats r = (x - k * 0x1.62e400p-1F) - k * 0x1.7f7d1cp-20F;
    sixteen_floats p =
        1.0F + r * (1.0F + r * (1.0F / 2 + r * (1.0F / 6 + r * (1.0F / 24 + r * (1.0F / 120 + r * (1.0F / 720))))));
    p *= (sixteen_floats)(((sixteen_bits)t - 0x4B400000u + 127u) << 23);
    return (sixteen_floats)((sixteen_ints)p & there);
}

static float exponentiate_floats(float *m, size_t n, float *shift)
{
    sixteen_floats e, lane = {0}, max = lane - INFINITY;
    for (size_t i = n; i % 16 > 0; i++)
        m[i] = -INFINITY;
    for (size_t i = 0; i < n; i += 16) {
        memcpy(&e, m + i, sizeof e);
        sixteen_ints above = e > max;
        max = (sixteen_floats)(((sixteen_ints)e & above) | ((sixteen_ints)max & ~above));
    }
    for (size_t j = 0; j < 16; j++)
        *shift = max[j] > *shift ? max[j] : *shift;
    for (size_t i = 0; i < n; i += 16) {
        memcpy(&e, m + i, sizeof e);
        e = exp_of_sixteen(e - *shift);
        memcpy(m + i, &e, sizeof e);
        lane += e;
    }
    return add_sixteen(lane);
}

/* e^p - 1 = p (1 + p/2 + p^2/6 ...), for p in [0, 1] to 3e-7. */
static float share_floats(float *e, size_t n, float per_total)
{
    sixteen_floats p, lane = {0};
    for (size_t i = 0; i < n; i += 16) {
        memcpy(&p, e + i, sizeof p);
        p *= per_total;
        memcpy(e + i, &p, sizeof p);
        lane +=
            p * p *
            (1.0F +
             p * (1.0F / 2 +
                  p * (1.0F / 6 +
                       p * (1.0F / 24 +
                            p * (1.0F / 120 +
                                 p * (1.0F / 720 + p * (1.0F / 5040 + p * (1.0F / 40320 + p * (1.0F / 362880)))))))));
    }
    return add_sixteen(lane);
}

#endif
