/* The loops themselves, compiled once for every kind of machine: a file that includes this names its kernels in
 * GSA__KERNELS and GSA__KERNELS_NAME first. */
#include "core/kernel/kernel.h"

#include <math.h>
#include <string.h>

#define LANES GSA__LANES
#define BLOCK GSA__ENTRIES_BLOCK

/* A multiple of the block also where a compiler looks: a vectorised loop then has no rest. */
static inline size_t padded(const gsa__entries *entries)
{
    return entries->n_padded / BLOCK * BLOCK;
}

/* Padding adds zeros to the partial sums, which changes nothing; the intercept's product is spent. */
static double sum(const gsa__entries *entries)
{
    double *product = entries->product, lane[LANES] = {0};
    double intercept = entries->n_all > entries->n ? product[entries->n] : 0;
    product[entries->n] = 0;
    for (size_t i = 0; i < entries->n_padded; i += LANES)
        for (size_t j = 0; j < LANES; j++)
            lane[j] += product[i + j];
    return gsa__add_lanes(lane) + intercept;
}

/* ---- gathering --------------------------------------------------------------------------------------------------- */

static void gather_ones(gsa__entries *entries, const gsa__row *row)
{
    const uint32_t *restrict index = row->index;
    uint32_t *restrict slot = entries->slot;
    double *restrict x = entries->x;
    uint32_t most = 0;
    for (size_t i = 0; i < row->n; i++) {
        slot[i] = index[i] + 1;
        x[i] = 1;
        most = slot[i] > most ? slot[i] : most;
    }
    entries->n = row->n;
    entries->n_slots = (size_t)most + 1;
}

static void gather_values(gsa__entries *entries, const gsa__row *row)
{
    size_t n = 0;
    uint32_t most = 0;
    for (size_t i = 0; i < row->n; i++) {
        float x = row->value[i];
        uint32_t slot = (row->index ? row->index[i] : (uint32_t)i) + 1;
        entries->x[n] = (double)x;
        entries->slot[n] = slot;
        n += x != 0;
        most = x != 0 && slot > most ? slot : most;
    }
    entries->n = n;
    entries->n_slots = (size_t)most + 1;
}

static void gather(gsa__entries *entries, const gsa__row *row, bool intercept)
{
    if (row->value)
        gather_values(entries, row);
    else
        gather_ones(entries, row);
    size_t n = entries->n_all = entries->n + intercept;
    entries->n_padded = (n / BLOCK + 1) * BLOCK; /* position n is there even if it is not the intercept's */
    for (size_t i = entries->n; i < entries->n_padded; i++)
        entries->x[i] = 0;
    entries->x[entries->n] = intercept;
    entries->slot[entries->n] = 0;
}

static double square_length(const gsa__entries *entries)
{
    size_t n = padded(entries);
    const double *restrict x = entries->x;
    double *restrict product = entries->product;
    for (size_t i = 0; i < n; i++)
        product[i] = x[i] * x[i];
    return sum(entries);
}

/* ---- margins and counts ------------------------------------------------------------------------------------------ */

/* One more row for all entries. The mean of c x^2 times the count is the mass; exact for rows of ones. The square of a
 * float may lie outside the floats: it is brought back to their edge, so that no mass is infinite and none that was
 * seen is zero. Where no mean changes, only padding, whose mean is 0, differs from its mass, and the divisions are
 * spared. Counts have 31 bits (learn.c). */
static void count_row(const gsa__entries *entries, double c)
{
    const double *restrict x = entries->x;
    float *restrict mean = entries->mean, *restrict rarity = entries->rarity;
    uint32_t *restrict count = entries->count;
    double *restrict mass = entries->product;
    size_t n = padded(entries);
    int n_new = 0;
    for (size_t i = 0; i < n; i++) {
        double square = c * x[i] * x[i];
        square = square < 1e-37 ? 1e-37 : square;
        mass[i] = square > 1e37 ? 1e37 : square;
        count[i]++;
        rarity[i] = (float)(int32_t)count[i];
        n_new += (float)mass[i] != mean[i];
    }
    if (n_new == (int)(entries->n_padded - entries->n_all))
        return;
    for (size_t i = 0; i < n; i++)
        mean[i] = (float)((double)mean[i] + (mass[i] - (double)mean[i]) / (double)(int32_t)count[i]);
}

/* The last block's padding, which the gathering before the loops leaves as it is. */
static void clear_padding(const gsa__entries *entries)
{
    for (size_t i = entries->n_padded - BLOCK; i < entries->n_padded; i++) {
        entries->weight[i] = 0;
        entries->mean[i] = 0;
        entries->count[i] = 0;
    }
}

static double take_one(const gsa__table *table, const gsa__entries *entries, double c)
{
    const gsa__cell *cells = table->cells;
    const uint32_t *restrict slot = entries->slot;
    const double *restrict x = entries->x;
    float *restrict weight = entries->weight, *restrict mean = entries->mean;
    uint32_t *restrict count = entries->count;
    double *restrict product = entries->product;
    size_t n = padded(entries);
    clear_padding(entries);
    for (size_t i = 0; i < entries->n_all; i++) {
        const gsa__cell *record = cells + GSA__ONE_STRIDE * (size_t)slot[i];
        weight[i] = record[0].f;
        mean[i] = record[2].f;
        count[i] = record[3].u;
    }
    count_row(entries, c);
    for (size_t i = 0; i < n; i++)
        product[i] = (double)weight[i] * x[i];
    return sum(entries);
}

/* Four outputs at a time: classes are often fewer than a compiler's own vectors are wide. */
typedef float four_floats __attribute__((vector_size(16)));
typedef double four_doubles __attribute__((vector_size(32)));

/* margins += weight * x; n is 2 or a multiple of 4. */
static inline void add_weights(const gsa__cell *weight, double x, double *margins, size_t n)
{
    for (size_t k = 0; k < 2 && n == 2; k++)
        margins[k] += (double)weight[k].f * x;
    for (size_t k = 0; k + 4 <= n; k += 4) {
        four_floats w;
        four_doubles m;
        memcpy(&w, weight + k, sizeof w);
        memcpy(&m, margins + k, sizeof m);
        m += __builtin_convertvector(w, four_doubles) * x;
        memcpy(margins + k, &m, sizeof m);
    }
}

static void take_many(const gsa__table *table, const gsa__entries *entries, double c, double *restrict margins)
{
    size_t n = gsa__table_padded(table->n_outputs), mean = gsa__table_mean(table);
    clear_padding(entries);
    for (size_t k = 0; k < n; k++)
        margins[k] = 0;
    for (size_t i = 0; i < entries->n_all; i++) {
        const gsa__cell *record = gsa__table_slot(table, entries->slot[i]);
        add_weights(record, entries->x[i], margins, n);
        entries->mean[i] = record[mean].f;
        entries->count[i] = record[mean + 1].u;
    }
    count_row(entries, c);
}

/* ---- directions and updates -------------------------------------------------------------------------------------- */

static void rarities(const gsa__entries *entries, float rows)
{
    size_t n = padded(entries);
    float *restrict rarity = entries->rarity;
    for (size_t i = 0; i < n; i++) {
        float fourth_root = sqrtf(sqrtf(rows / (rarity[i] + 1)));
        rarity[i] = sqrtf(fourth_root * fourth_root * fourth_root);
    }
}

static double direct(const gsa__entries *entries)
{
    size_t n = padded(entries);
    const float *restrict rarity = entries->rarity;
    const double *restrict x = entries->x;
    double *restrict along = entries->along, *restrict product = entries->product;
    for (size_t i = 0; i < n; i++) {
        along[i] = (double)rarity[i] * x[i];
        product[i] = along[i] * x[i];
    }
    return sum(entries);
}

static void update_one(gsa__table *table, const gsa__entries *entries, const double *restrict along, double scale,
                       double lag)
{
    size_t n = padded(entries);
    gsa__cell *cells = table->cells;
    float *restrict weight = entries->weight, *restrict late = entries->rarity;
    for (size_t i = 0; i < n; i++) {
        float move = (float)(scale * along[i]);
        weight[i] += move;
        late[i] = (float)(lag * (double)move);
    }
    for (size_t i = 0; i < entries->n_all; i++) {
        gsa__cell *record = cells + GSA__ONE_STRIDE * (size_t)entries->slot[i];
        record[0].f = weight[i];
        record[1].f += late[i];
        record[2].f = entries->mean[i];
        record[3].u = entries->count[i];
    }
}

static inline void move(gsa__cell *weight, gsa__cell *average, double along, double lag, const double *scale, size_t n)
{
    for (size_t k = 0; k < 2 && n == 2; k++) {
        float by = (float)(scale[k] * along);
        weight[k].f += by;
        average[k].f += (float)(lag * (double)by);
    }
    for (size_t k = 0; k + 4 <= n; k += 4) {
        four_floats w, a;
        four_doubles s;
        memcpy(&s, scale + k, sizeof s);
        memcpy(&w, weight + k, sizeof w);
        memcpy(&a, average + k, sizeof a);
        four_floats by = __builtin_convertvector(s * along, four_floats);
        w += by;
        a += __builtin_convertvector(__builtin_convertvector(by, four_doubles) * lag, four_floats);
        memcpy(weight + k, &w, sizeof w);
        memcpy(average + k, &a, sizeof a);
    }
}

static void update_many(gsa__table *table, const gsa__entries *entries, const double *along, const double *scale,
                        double lag)
{
    size_t n = gsa__table_padded(table->n_outputs), average = gsa__table_average(table), mean = gsa__table_mean(table);
    for (size_t i = 0; i < entries->n_all; i++) {
        gsa__cell *record = gsa__table_slot(table, entries->slot[i]);
        move(record, record + average, along[i], lag, scale, n);
        record[mean].f = entries->mean[i];
        record[mean + 1].u = entries->count[i];
    }
}

/* ---- exponentials of several classes ----------------------------------------------------------------------------- */

/* base/real.c has these for one number, with the reasons; here the same operations in the same order, on four. */
typedef int64_t four_longs __attribute__((vector_size(32)));

#define LN2_HIGH 0x1.62e42fefa3p-1
#define LN2_LOW 0x1.3de6af278ece6p-42
#define ONE_BY_LN2 0x1.71547652b82fep+0
#define ROUNDER 0x1.8p52
#define ROUNDER_BITS INT64_C(0x4338000000000000)

static inline four_doubles four_of(double x)
{
    return (four_doubles){x, x, x, x};
}

/* e^x = 2^k (1 + r + tail). */
static inline void reduce(four_doubles x, four_doubles *r, four_doubles *tail, four_longs *k)
{
    four_doubles t = x * ONE_BY_LN2 + ROUNDER, n = t - ROUNDER;
    four_doubles high = x - n * LN2_HIGH, low = n * LN2_LOW, q = high - low, q_low = (high - q) - low, z = q * q;
    four_doubles a = 1.0 / 2 + q * (1.0 / 6), b = 1.0 / 24 + q * (1.0 / 120), c = 1.0 / 720 + q * (1.0 / 5040);
    four_doubles d = 1.0 / 40320 + q * (1.0 / 362880), e = 1.0 / 3628800 + q * (1.0 / 39916800);
    four_doubles f = 1.0 / 479001600 + q * (1.0 / 6227020800), zz = z * z;
    *tail = z * ((a + z * b) + zz * ((c + z * d) + zz * (e + z * f))) + (q_low + q_low * q);
    *r = q;
    *k = (four_longs)t - ROUNDER_BITS;
}

static inline four_doubles powers_of_two(four_longs k)
{
    return (four_doubles)((k + 1023) << 52);
}

/* e^x for x <= 0; in two steps of scaling, so that the second rounds once where the result is subnormal. */
static inline four_doubles exp_four(four_doubles x)
{
    four_doubles r, tail, least = four_of(-746);
    four_longs k, below = x < least;
    x = (four_doubles)(((four_longs)x & ~below) | ((four_longs)least & below));
    reduce(x, &r, &tail, &k);
    four_doubles high = 1 + r, low = r - (high - 1);
    four_longs half = ((k + 2048) >> 1) - 1024;
    return (high + (low + tail)) * powers_of_two(half) * powers_of_two(k - half);
}

/* e^x - 1 for 0 <= x <= 1. */
static inline four_doubles expm1_four(four_doubles x)
{
    four_doubles r, tail;
    four_longs k;
    reduce(x, &r, &tail, &k);
    four_doubles power = powers_of_two(-k), one = 1 - power, one_low = -power - (one - 1);
    four_doubles high = one + r, low = r - (high - one);
    return (high + (low + (one_low + tail))) * powers_of_two(k);
}

static inline double add_fours(four_doubles a, four_doubles b)
{
    double lane[LANES];
    memcpy(lane, &a, sizeof a);
    memcpy(lane + 4, &b, sizeof b);
    return gsa__add_lanes(lane);
}

/* Four numbers, those beyond the end of n are `rest`. */
static inline four_doubles load_four(const double *number, size_t at, size_t n, double rest)
{
    four_doubles out = four_of(rest);
    if (at + 4 <= n)
        memcpy(&out, number + at, sizeof out);
    else if (at < n)
        memcpy(&out, number + at, (n - at) * sizeof *number);
    return out;
}

static double exponentiate(double *m, size_t n, double shift)
{
    four_doubles lane[2] = {four_of(0), four_of(0)};
    for (size_t i = 0; i < n; i += 4) {
        four_doubles e = exp_four(load_four(m, i, n, -INFINITY) - shift);
        memcpy(m + i, &e, (n - i < 4 ? n - i : 4) * sizeof *m);
        lane[i / 4 % 2] += e;
    }
    return add_fours(lane[0], lane[1]);
}

static double expected_growth(const double *p, size_t n)
{
    four_doubles lane[2] = {four_of(0), four_of(0)};
    for (size_t i = 0; i < n; i += 4) {
        four_doubles q = load_four(p, i, n, 0);
        lane[i / 4 % 2] += q * expm1_four(q);
    }
    return add_fours(lane[0], lane[1]);
}

const gsa__kernels GSA__KERNELS = {
    .name = GSA__KERNELS_NAME,
    .gather = gather,
    .square_length = square_length,
    .sum = sum,
    .take_one = take_one,
    .take_many = take_many,
    .rarities = rarities,
    .direct = direct,
    .update_one = update_one,
    .update_many = update_many,
    .exponentiate = exponentiate,
    .expected_growth = expected_growth,
};
