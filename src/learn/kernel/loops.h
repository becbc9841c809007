/* The loops themselves, compiled once for every kind of machine: a file that includes this names its kernels in
 * GSAI_KERNELS and GSAI_KERNELS_NAME first. */
#include "learn/kernel/exponentials.h"
#include "learn/kernel/kernel.h"

#include <math.h>
#include <string.h>

#define LANES GSAI_LANES
#define BLOCK GSAI_ENTRIES_BLOCK

/* A multiple of the block also where a compiler looks: a vectorised loop then has no rest. */
static inline size_t padded(const gsai_entries *entries)
{
    return entries->n_padded / BLOCK * BLOCK;
}

/* Padding adds zeros to the partial sums, which changes nothing; the intercept's product is spent. */
static double sum(const gsai_entries *entries)
{
    double *product = entries->product, lane[LANES] = {0};
    double intercept = entries->n_all > entries->n ? product[entries->n] : 0;
    product[entries->n] = 0;
    for (size_t i = 0; i < entries->n_padded; i += LANES)
        for (size_t j = 0; j < LANES; j++)
            lane[j] += product[i + j];
    return gsai_add_lanes(lane) + intercept;
}

/* ---- gathering --------------------------------------------------------------------------------------------------- */

static void gather(gsai_entries *entries, const gsai_row *row, bool intercept)
{
    const uint32_t *restrict index = row->index;
    uint32_t *restrict slot = entries->slot;
    double *restrict x = entries->x;
    uint32_t max = 0;
    size_t n = 0;
    for (size_t i = 0; i < row->n && !row->value; i++) { /* ones */
        slot[i] = index[i] + 1;
        x[i] = 1;
        max = slot[i] > max ? slot[i] : max;
    }
    for (size_t i = 0; i < row->n && row->value; i++) {
        uint32_t at = (index ? index[i] : (uint32_t)i) + 1;
        x[n] = (double)row->value[i];
        slot[n] = at;
        max = x[n] != 0 && at > max ? at : max;
        n += x[n] != 0;
    }
    entries->n = n = row->value ? n : row->n;
    entries->n_slots = (size_t)max + 1;
    entries->n_all = n + intercept;
    entries->n_padded =
        (entries->n_all / BLOCK + 1) * BLOCK; /* position n is there even if it is not the intercept's */
    for (size_t i = n; i < entries->n_padded; i++)
        x[i] = 0;
    x[n] = intercept;
    slot[n] = 0;
}

static double square_length(const gsai_entries *entries)
{
    size_t n = padded(entries);
    const double *restrict x = entries->x;
    double *restrict product = entries->product;
    for (size_t i = 0; i < n; i++)
        product[i] = x[i] * x[i];
    return sum(entries);
}

/* ---- margins and counts ------------------------------------------------------------------------------------------ */

/* The mean of many rows moves by less than its last bit: rounded to the nearest it would stay where it is, or follow
 * the large squares and not the small ones. So it is rounded up as often as the part that is cut off says: by the
 * fractions of count times the golden ratio, which are spread evenly over any stretch of rows. */
#define MANY_ROWS ((int32_t)1 << 16)
static inline float round_evenly(double mean, int32_t count)
{
    const uint64_t cut = ((uint64_t)1 << 29) - 1; /* the bits that a double has and a float has not */
    uint64_t bits;
    memcpy(&bits, &mean, sizeof bits);
    bits = (bits + (((uint32_t)count * 0x9E3779B9u) >> 3)) & ~cut;
    double cut_off;
    memcpy(&cut_off, &bits, sizeof cut_off);
    return (float)(count < MANY_ROWS ? mean : cut_off);
}

/* The mean of the squares of `count` rows, the last n of which have these. */
static inline float next_mean(float mean, float squares, uint32_t n, uint32_t count)
{
    double before = (double)mean, off = (double)squares - (double)(int32_t)n * before;
    double next = before + off / (double)(int32_t)count;
    return (int32_t)count < MANY_ROWS ? (float)next : round_evenly(next, (int32_t)count);
}

/* One more row for all entries. The mean of c x^2 times the count is the sum of squares; exact for rows of ones. The
 * square of a float may lie outside the floats: it is brought back to their edge, so that no sum is infinite and none
 * of a feature that was seen is zero. Where no mean changes, only padding, whose mean is 0, differs from its square,
 * and the divisions are spared. Counts have 31 bits (learner.c). */
static void count_row(const gsai_entries *entries, double c)
{
    const double *restrict x = entries->x;
    float *restrict mean = entries->mean;
    uint32_t *restrict count = entries->count;
    double *restrict squares = entries->product;
    size_t n = padded(entries);
    int n_new = 0;
    int32_t max = 0;
    for (size_t i = 0; i < n; i++) {
        double square = c * x[i] * x[i];
        square = square < 1e-37 ? 1e-37 : square; /* as GSAI_MIN_SQUARE */
        squares[i] = square > 1e37 ? 1e37 : square;
        count[i]++;
        max = (int32_t)count[i] > max ? (int32_t)count[i] : max;
        n_new += (float)squares[i] != mean[i];
    }
    if (n_new == (int)(entries->n_padded - entries->n_all))
        return;
    if (max < MANY_ROWS)
        for (size_t i = 0; i < n; i++)
            mean[i] = (float)((double)mean[i] + (squares[i] - (double)mean[i]) / (double)(int32_t)count[i]);
    else
        for (size_t i = 0; i < n; i++)
            mean[i] = round_evenly((double)mean[i] + (squares[i] - (double)mean[i]) / (double)(int32_t)count[i],
                                   (int32_t)count[i]);
}

/* The last block's padding, which the gathering before the loops leaves as it is. */
static void clear_padding(const gsai_entries *entries)
{
    for (size_t i = entries->n_padded - BLOCK; i < entries->n_padded; i++) {
        entries->weight[i] = 0;
        entries->mean[i] = 0;
        entries->count[i] = 0;
    }
}

static double take_one(const gsai_table *table, const gsai_entries *entries, double c)
{
    const gsai_cell *cells = table->cells;
    const uint32_t *restrict slot = entries->slot;
    const double *restrict x = entries->x;
    float *restrict weight = entries->weight, *restrict mean = entries->mean;
    uint32_t *restrict count = entries->count;
    double *restrict product = entries->product;
    size_t n = padded(entries);
    clear_padding(entries);
    for (size_t i = 0; i < entries->n_all; i++) {
        const gsai_cell *record = cells + GSAI_ONE_STRIDE * (size_t)slot[i];
        weight[i] = record[0].f;
        mean[i] = record[2].f;
        count[i] = record[3].u;
    }
    count_row(entries, c);
    for (size_t i = 0; i < n; i++)
        product[i] = (double)weight[i] * x[i];
    return sum(entries);
}

/* Four outputs at a time: classes are often fewer than a compiler's own vectors are wide. Sixteens of them are left to
 * the compiler. */
typedef float four_floats __attribute__((vector_size(16)));
typedef double four_doubles __attribute__((vector_size(32)));

/* Four entries: their weights and values. */
typedef struct quartet {
    const gsai_cell *weight[4];
    float x[4];
} quartet;

static inline four_floats four_products(const quartet *of, size_t k)
{
    four_floats w[4];
    for (size_t i = 0; i < 4; i++)
        memcpy(&w[i], of->weight[i] + k, sizeof w[i]);
    return (w[0] * of->x[0] + w[1] * of->x[1]) + (w[2] * of->x[2] + w[3] * of->x[3]);
}

/* margins += weight . x for the outputs from k to the end. */
static inline void add_products(const quartet *of, double *restrict margins, size_t k, size_t end)
{
    const gsai_cell *restrict a = of->weight[0], *restrict b = of->weight[1], *restrict c = of->weight[2],
                              *restrict d = of->weight[3];
    float x[4];
    memcpy(x, of->x, sizeof x);
    for (; k < end; k++)
        margins[k] += (double)((a[k].f * x[0] + b[k].f * x[1]) + (c[k].f * x[2] + d[k].f * x[3]));
}

/* n is 2 or a multiple of 4. */
static inline void add_all_products(const quartet *of, double *restrict margins, size_t n)
{
    size_t n_wide = n / 16 * 16;
    add_products(of, margins, 0, n_wide);
    for (size_t k = n_wide; k + 4 <= n; k += 4) {
        four_doubles m;
        memcpy(&m, margins + k, sizeof m);
        m += __builtin_convertvector(four_products(of, k), four_doubles);
        memcpy(margins + k, &m, sizeof m);
    }
    if (n == 2)
        add_products(of, margins, 0, 2);
}

static bool take_many(const gsai_table *table, const gsai_entries *entries, double c, double *restrict margins)
{
    size_t n = gsai_table_padded(table->n_outputs), mean = gsai_table_mean(table);
    clear_padding(entries);
    for (size_t k = 0; k < n; k++)
        margins[k] = 0;
    for (size_t i = 0; i < entries->n_all; i += 4) {
        quartet of;
        for (size_t j = 0; j < 4; j++) {
            size_t at = i + j < entries->n_all ? i + j : i; /* where x is 0 any record will do */
            const gsai_cell *record = of.weight[j] = gsai_table_slot(table, entries->slot[at]);
            of.x[j] = (float)entries->x[i + j];
            entries->mean[at] = record[mean].f;
            entries->count[at] = record[mean + 1].u;
        }
        add_all_products(&of, margins, n);
    }
    count_row(entries, c);
    eight_doubles zero = {0};
    for (size_t k = 0; k < n; k += 8)
        zero += load(margins + k, n - k, 0) * 0;
    return add_eight(zero) == 0; /* NaN if a margin is not finite */
}

/* ---- updates ------------------------------------------------------------------------------------------------------
 */

static void update_one(gsai_table *table, const gsai_entries *entries, double scale, double past_weight)
{
    size_t n = padded(entries);
    gsai_cell *cells = table->cells;
    const double *restrict x = entries->x;
    float *restrict weight = entries->weight, *restrict late = entries->late;
    for (size_t i = 0; i < n; i++) {
        float move = (float)(scale * x[i]);
        weight[i] += move;
        late[i] = (float)(past_weight * (double)move);
    }
    for (size_t i = 0; i < entries->n_all; i++) {
        gsai_cell *record = cells + GSAI_ONE_STRIDE * (size_t)entries->slot[i];
        record[0].f = weight[i];
        record[1].f += late[i];
        record[2].f = entries->mean[i];
        record[3].u = entries->count[i];
    }
}

/* Floats, not cells: gcc does not vectorise sums of a union's members. */
static inline void move_wide(float *restrict weight, float *restrict average, float direction, float past_weight,
                             const float *restrict scale, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        float by = scale[k] * direction;
        weight[k] += by;
        average[k] += by * past_weight;
    }
}

static inline void move(gsai_cell *weight, gsai_cell *average, float direction, float past_weight, const float *scale,
                        size_t n)
{
    size_t n_wide = n == 2 ? n : n / 16 * 16;
    move_wide(&weight->f, &average->f, direction, past_weight, scale, n_wide);
    for (size_t k = n_wide; k < n; k += 4) {
        four_floats w, a, by;
        memcpy(&by, scale + k, sizeof by);
        memcpy(&w, weight + k, sizeof w);
        memcpy(&a, average + k, sizeof a);
        by *= direction;
        w += by;
        a += by * past_weight;
        memcpy(weight + k, &w, sizeof w);
        memcpy(average + k, &a, sizeof a);
    }
}

static void update_many(gsai_table *table, const gsai_entries *entries, double step, const float *scale,
                        double past_weight)
{
    size_t n = gsai_table_padded(table->n_outputs), average = gsai_table_average(table), mean = gsai_table_mean(table);
    /* Backwards: the margins took the last records last, and those of the next row will want the first ones first. */
    for (size_t i = entries->n_all; i-- > 0;) {
        gsai_cell *record = gsai_table_slot(table, entries->slot[i]);
        move(record, record + average, (float)(step * entries->x[i]), (float)past_weight, scale, n);
        record[mean].f = entries->mean[i];
        record[mean + 1].u = entries->count[i];
    }
}

#include "learn/kernel/groups_many.h"
#include "learn/kernel/merge_loops.h"

const gsai_kernels GSAI_KERNELS = {
    .name = GSAI_KERNELS_NAME,
    .gather = gather,
    .square_length = square_length,
    .take_one = take_one,
    .take_many = take_many,
    .update_one = update_one,
    .update_many = update_many,
    .scan_row = scan_row,
    .copy_row = copy_row,
    .inverse_frequency_of = inverse_frequency_of,
    .group_margins = group_margins,
    .group_update = group_update,
    .group_update_intercept = group_update_intercept,
    .logistic_steps = logistic_steps,
    .column_directions = column_directions,
    .column_margins = column_margins,
    .column_update = column_update,
    .move = move,
    .row_margins = row_margins,
    .row_update = row_update,
    .exponentiate_floats = exponentiate_floats,
    .share_floats = share_floats,
    .exponentiate = exponentiate,
    .expected_growth = expected_growth,
    .view_records = view_records,
    .sum_changes = sum_changes,
    .add_sums = add_sums,
    .aggregations = aggregations,
    .mean_changes = mean_changes,
    .enter_slots = enter_slots,
};
