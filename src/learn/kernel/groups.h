/* The loops over a group of rows (learn/group.h), compiled with the others.
 *
 *   K6  a sum over the entries of a row adds position j to partial sum j mod 4 (float), and the four are added as
 *       (0+2)+(1+3);
 *   K7  of a feature that was in n rows the inverse frequency is (n+2)^(-3/8), to 4 %: a shift and two subtractions of
 *       the bits of n+2, which are a logarithm to that accuracy;
 *   K8  of one output an update rounds once: u = scale * direction, weight += u, average += past_weight * u, all
 *       floats. */
#ifndef GSA_LEARN_KERNEL_GROUPS_H
#define GSA_LEARN_KERNEL_GROUPS_H

#include "base/hash.h"

#include <float.h>

typedef int32_t four_ints __attribute__((vector_size(16)));
typedef uint32_t four_bits __attribute__((vector_size(16)));

/* ---- rows into a group ------------------------------------------------------------------------------------------- */

static inline uint32_t bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* Most rows have no zeros, and loops without a chain. */
static void scan_row(const gsai_row *row, gsai_row_scan *out)
{
    const float *restrict value = row->value;
    const uint32_t *restrict index = row->index;
    size_t n = row->n;
    uint32_t highest = !index && n > 0 ? (uint32_t)(n - 1) : 0;
    int n_zero = 0, n_bad = 0;
    uint64_t hash = 0;
    if (!value) {
        for (size_t i = 0; i < n; i++)
            hash += gsai_hash_entry(i + 1, index[i], GSAI_ONE_BITS);
        for (size_t i = 0; i < n; i++)
            highest = index[i] > highest ? index[i] : highest;
    } else {
        for (size_t i = 0; i < n; i++) {
            highest = index && index[i] > highest ? index[i] : highest;
            n_zero += value[i] == 0;
            n_bad += !(fabsf(value[i]) <= FLT_MAX);
        }
        for (size_t i = 0; i < n && n_zero == 0; i++)
            hash += gsai_hash_entry(i + 1, index ? index[i] : (uint32_t)i, bits_of(value[i]));
        for (size_t i = 0, position = 0; i < n && n_zero > 0; i++) /* zeros have no part in it */
            if (value[i] != 0)
                hash += gsai_hash_entry(++position, gsai_row_id(row, i), bits_of(value[i]));
    }
    *out = (gsai_row_scan){gsai_mix(hash), highest, n_zero > 0, n_bad == 0};
}

static size_t copy_row(const gsai_row *row, bool has_zeros, uint32_t *restrict slot, float *restrict x)
{
    const float *restrict value = row->value;
    const uint32_t *restrict index = row->index;
    size_t n = row->n, n_copied = 0;
    if (!has_zeros) {
        for (size_t i = 0; i < n; i++)
            slot[i] = (index ? index[i] : (uint32_t)i) + 1;
        for (size_t i = 0; i < n; i++)
            x[i] = value ? value[i] : 1;
        return n;
    }
    for (size_t i = 0; i < n; i++) {
        slot[n_copied] = gsai_row_id(row, i) + 1;
        x[n_copied] = value[i];
        n_copied += value[i] != 0;
    }
    return n_copied;
}

/* ---- groups ------------------------------------------------------------------------------------------------------ */

static inline float add_four(four_floats lane)
{
    return (lane[0] + lane[2]) + (lane[1] + lane[3]);
}

/* The bits of 1 times 1 + 3/8, moved by what makes the error the same at both ends. */
#define INVERSE_FREQUENCY_BITS 0x57697834u

static inline four_floats inverse_frequency_of_four(four_floats count)
{
    four_bits bits = (four_bits)(count + 2.0F);
    return (four_floats)(INVERSE_FREQUENCY_BITS - (bits >> 2) - (bits >> 3));
}

static float inverse_frequency_of(float count)
{
    four_floats one = {count, count, count, count};
    return inverse_frequency_of_four(one)[0];
}

/* The records of four features. */
typedef struct four_records {
    four_floats weight, mean, count;
} four_records;

/* Adds what the table does not hold. */
static inline void count_before(four_records *of, const uint32_t *slot, const gsai_prior_totals *before)
{
    for (size_t j = 0; j < 4 && before->n > 0; j++)
        if (slot[j] < before->n && before->at[slot[j]].count > 0) {
            double own = (double)of->count[j], all = own + (double)before->at[slot[j]].count;
            of->mean[j] = (float)(((double)of->mean[j] * own + before->at[slot[j]].sum_sq) / all);
            of->count[j] = (float)all;
        }
}

static inline four_records load_four(const gsai_cell *cells, const gsai_group *group, size_t e,
                                     const gsai_prior_totals *before)
{
    four_floats r[4];
    for (size_t j = 0; j < 4; j++)
        memcpy(&r[j], cells + GSAI_ONE_STRIDE * (size_t)group->place[e + j], sizeof r[j]);
    four_floats low = __builtin_shufflevector(r[0], r[1], 0, 4, 2, 6),
                high = __builtin_shufflevector(r[2], r[3], 0, 4, 2, 6);
    four_floats low_n = __builtin_shufflevector(r[0], r[1], 3, 7, 3, 7),
                high_n = __builtin_shufflevector(r[2], r[3], 3, 7, 3, 7);
    four_records out = {
        __builtin_shufflevector(low, high, 0, 1, 4, 5), __builtin_shufflevector(low, high, 2, 3, 6, 7),
        __builtin_convertvector((four_ints)__builtin_shufflevector(low_n, high_n, 0, 1, 4, 5), four_floats)};
    count_before(&out, group->slot + e, before);
    return out;
}

/* The same of several outputs, without weights. */
static inline four_records load_four_counts(const gsai_table *table, const uint32_t *slot,
                                            const gsai_prior_totals *before)
{
    four_records out = {0};
    size_t mean = gsai_table_mean(table);
    for (size_t j = 0; j < 4; j++) {
        const gsai_cell *record = gsai_table_slot(table, slot[j]) + mean;
        out.mean[j] = record[0].f;
        out.count[j] = (float)(int32_t)record[1].u;
    }
    count_before(&out, slot, before);
    return out;
}

/* The table may not reach as far yet. */
static inline void ask_for(const gsai_group *group, const gsai_table *table, size_t row, bool second_half)
{
    const gsai_row *ahead = &group->ahead[row];
    size_t half = ahead->n / 2, end = second_half ? ahead->n : half;
    for (size_t i = second_half ? half : 0; i < end; i++)
        if (ahead->index[i] < table->n_slots - 1)
            __builtin_prefetch(gsai_table_slot(table, (size_t)ahead->index[i] + 1), 1);
}

static inline four_floats load_floats(const float *from)
{
    four_floats out;
    memcpy(&out, from, sizeof out);
    return out;
}

/* Picks from a where all bits are set, else from b. */
static inline four_floats pick_four(four_ints set, four_floats a, four_floats b)
{
    return (four_floats)(((four_ints)a & set) | ((four_ints)b & ~set));
}

/* c x^2, brought back to the edge of the floats as in count_row. */
static inline four_floats square_of_lanes(four_floats x, four_floats c)
{
    four_floats square = c * x * x, zero = {0}, low = zero + 1e-37F, high = zero + 1e37F;
    return pick_four(square > high, high, pick_four(square < low, low, square));
}

static inline four_floats square_of_four(four_floats x, float c)
{
    return square_of_lanes(x, (four_floats){c, c, c, c});
}

/* 1 / the units of four entries: given ones, or the root of the mean of the squares of the feature, this row among
 * them. The root, because its square may be no float. */
static inline four_floats per_unit_of_four(four_floats given, const four_records *of, four_floats square)
{
    four_floats mean = of->mean + (square - of->mean) / (of->count + 1.0F), zero = {0}, low = zero + 1e-37F;
    mean = pick_four(mean < low, low, mean);
    for (size_t j = 0; j < 4; j++)
        mean[j] = sqrtf(mean[j]);
    return pick_four(given >= 0.0F, given, 1.0F / mean);
}

/* The directions of four values, standardised if they are centred; returns what they add to x.Dx. */
static inline four_floats direct_four(const four_records *of, four_floats x, four_floats *direction)
{
    *direction = inverse_frequency_of_four(of->count) * x;
    return *direction * x;
}

static inline four_floats direct_four_standardised(const four_records *of, four_floats centred, four_floats given,
                                                   four_floats square, four_floats *direction)
{
    four_floats per_unit = per_unit_of_four(given, of, square), z = centred * per_unit;
    four_floats away = inverse_frequency_of_four(of->count) * z;
    *direction = away * per_unit;
    return away * z;
}

/* How the values of a group are measured: as they are, by the unit of the table, or from an origin too. */
enum measure { ONES, AS_GIVEN, STANDARDISED, CENTRED };

/* A quarter of a group's row: four entries, whose direction and square go into the group. */
typedef struct four_sums {
    four_floats m, xdx;
    four_ints differs; /* whether a mean of squares will move */
    four_ints is_new;  /* whether a feature was in no row before */
} four_sums;

__attribute__((always_inline)) static inline void add_entries(const gsai_group *group, size_t e, four_records of,
                                                              float c, enum measure measure, four_sums *sum)
{
    four_floats x = load_floats(group->x + e), square = square_of_four(x, c), direction;
    if (measure == CENTRED)
        sum->xdx += direct_four_standardised(&of, load_floats(group->centred + e), load_floats(group->per_unit + e),
                                             square, &direction);
    else if (measure == STANDARDISED)
        sum->xdx += direct_four_standardised(&of, x, (four_floats){-1, -1, -1, -1}, square, &direction);
    else
        sum->xdx += direct_four(&of, x, &direction);
    sum->m += of.weight * x;
    sum->differs |= (x != 0.0F) & (square != of.mean);
    sum->is_new |= of.count == 0.0F;
    memcpy(group->direction + e, &direction, sizeof direction);
    memcpy(group->square + e, &square, sizeof square);
}

/* The same of ones: fewer steps to the same bits. */
static inline void add_ones(float *restrict direction_of, float *restrict square_of, four_records of,
                            four_floats square, four_sums *sum)
{
    four_floats direction = inverse_frequency_of_four(of.count);
    sum->xdx += direction;
    sum->m += of.weight;
    sum->differs |= square != of.mean;
    sum->is_new |= of.count == 0.0F;
    memcpy(direction_of, &direction, sizeof direction);
    memcpy(square_of, &square, sizeof square);
}

/* With many outputs margins are 0. */
__attribute__((always_inline)) static inline void find_margins(const gsai_group *group, const gsai_table *table,
                                                               const gsai_prior_totals *prior, enum measure measure,
                                                               bool many, gsai_group_margins *out)
{
    const gsai_prior_totals before = *prior;
    const gsai_cell *cells = table->cells;
    const uint32_t *restrict slot = group->slot;
    float *restrict direction = group->direction, *restrict square = group->square;
    four_ints differs = {0}, is_new = {0};
    for (size_t row = 0; row < group->n_rows; row++) {
        four_sums sum = {0};
        float c = (float)group->c[row];
        size_t e = group->start[row], end = group->start[row + 1], whole = e + group->n[row] / 4 * 4,
               centred = measure == STANDARDISED ? gsai_group_dense_end(group, row) : 0;
        four_floats one = {1, 1, 1, 1}, weight = square_of_four(one, c);
        for (; measure == ONES && e < whole; e += 4)
            add_ones(direction + e, square + e, load_four(cells, group, e, &before), weight, &sum);
        for (; e < centred; e += 4)
            add_entries(group, e,
                        many ? load_four_counts(table, slot + e, &before) : load_four(cells, group, e, &before), c,
                        CENTRED, &sum);
        for (; e < end; e += 4)
            add_entries(group, e,
                        many ? load_four_counts(table, slot + e, &before) : load_four(cells, group, e, &before), c,
                        measure, &sum);
        if (!many)
            ask_for(group, table, row, false);
        differs |= sum.differs;
        is_new |= sum.is_new;
        out->m[row] = add_four(sum.m);
        out->xdx[row] = add_four(sum.xdx);
    }
    out->has_new = (is_new[0] | is_new[1] | is_new[2] | is_new[3]) != 0;
    out->means_move = many || before.n > 0 || (differs[0] | differs[1] | differs[2] | differs[3]) != 0;
}

/* Moves a weight and what the average lacks, and counts the row. */
static inline gsai_cell *move_record(gsai_cell *record, four_floats by)
{
    four_ints old, one_more = {0, 0, 0, 1};
    memcpy(&old, record, sizeof old);
    four_floats moved = (four_floats)old + by;
    four_ints next = __builtin_shufflevector((four_ints)moved, old + one_more, 0, 1, 6, 7);
    memcpy(record, &next, sizeof next);
    return record;
}

static void group_update(const gsai_group *group, gsai_table *table, const float *scale, float past_weight,
                         bool means_move)
{
    gsai_cell *cells = table->cells;
    const uint32_t *restrict place = group->place;
    const float *restrict direction = group->direction, *restrict square = group->square;
    for (size_t row = 0; row < group->n_rows; row++) {
        four_floats by = {scale[row], scale[row] * past_weight, 0, 0};
        size_t e = group->start[row], end = e + group->n[row];
        for (; e < end && !means_move; e++)
            move_record(cells + GSAI_ONE_STRIDE * (size_t)place[e], by * direction[e]);
        for (; e < end; e++) {
            gsai_cell *record = move_record(cells + GSAI_ONE_STRIDE * (size_t)place[e], by * direction[e]);
            if (bits_of(square[e]) != bits_of(record[2].f))
                record[2].f = next_mean(record[2].f, square[e], 1, record[3].u);
        }
        ask_for(group, table, row, true);
    }
}

static void group_update_intercept(const gsai_group *group, gsai_table *table, float by, float past_weight)
{
    gsai_cell *weight = gsai_table_slot(table, 0), *average = weight + gsai_table_average(table),
              *mean = weight + gsai_table_mean(table);
    weight->f += by;
    average->f += past_weight * by;
    for (size_t row = 0; row < group->n_rows; row++)
        mean[0].f = next_mean(mean[0].f, (float)group->c[row], 1, ++mean[1].u);
}

/* e^x for x in [-80, 0], to 2e-7. */
static inline float exp_of(float x)
{
    float t = x * 0x1.715476p+0F + 0x1.8p23F, k = t - 0x1.8p23F;
    int32_t bits;
    memcpy(&bits, &t, sizeof bits);
    float r = (x - k * 0x1.62e400p-1F) - k * 0x1.7f7d1cp-20F;
    float p =
        1.0F + r * (1.0F + r * (1.0F / 2 + r * (1.0F / 6 + r * (1.0F / 24 + r * (1.0F / 120 + r * (1.0F / 720))))));
    uint32_t power = ((uint32_t)bits - 0x4B400000u + 127u) << 23;
    float scale;
    memcpy(&scale, &power, sizeof scale);
    return p * scale;
}

/* The greedy step of the logistic loss as a polynomial of 1 - p - 1/2, at Chebyshev's points; it is 2.4e-5 off at the
 * most (tests/unit/learn/test_groups.c). */
static const float lambda_terms[] = {0x1.e9e04ep-1F, 0x1.f29954p+0F, -0x1.8b2568p+1F, -0x1.11ff38p+2F,
                                     0x1.50b752p+3F, 0x1.e31476p+2F, -0x1.e26594p+4F, -0x1.2d81dap+3F,
                                     0x1.e7191ep+5F, 0x1.7e2b80p+2F, -0x1.dbebd0p+5F};

static void logistic_steps(const float *m, const float *sign, float *rest, float *lambda, float *e)
{
    enum { TERMS = sizeof lambda_terms / sizeof *lambda_terms };
    for (size_t r = 0; r < GSAI_GROUP_ROWS; r++) {
        float v = sign[r] * m[r], away = fabsf(v);
        e[r] = exp_of(-(away > 80 ? 80 : away));
        float small = e[r] / (1.0F + e[r]);
        rest[r] = v < 0 ? 1.0F - small : small;
        float z = rest[r] - 0.5F, sum = lambda_terms[TERMS - 1];
        for (size_t i = TERMS - 1; i-- > 0;)
            sum = sum * z + lambda_terms[i];
        lambda[r] = sum;
    }
}

#endif
