/* The bend of a column: its knots, and the parts of a random walk over them. */
#include "solve/design.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Standard deviation of a curve over the rows where that of the line is 1. */
#define CURVE 0.5
#define MAX_TURNS 30

/* Turns a symmetric matrix [n x n] into its eigenvalues, on the diagonal, by Jacobi's method; the columns of `vectors`
 * become the eigenvectors. */
static void find_eigenvectors(double *a, size_t n, double *vectors)
{
    memset(vectors, 0, n * n * sizeof *vectors);
    for (size_t i = 0; i < n; i++)
        vectors[i * n + i] = 1;
    for (int turn = 0; turn < MAX_TURNS; turn++) {
        double off = 0, all = 0;
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n; j++) {
                all += a[i * n + j] * a[i * n + j];
                off += i != j ? a[i * n + j] * a[i * n + j] : 0;
            }
        if (off <= 1e-24 * all)
            return;
        for (size_t p = 0; p < n; p++)
            for (size_t q = p + 1; q < n; q++) {
                if (a[p * n + q] == 0)
                    continue;
                double theta = (a[q * n + q] - a[p * n + p]) / (2 * a[p * n + q]);
                double t = (theta < 0 ? -1 : 1) / (fabs(theta) + sqrt(theta * theta + 1));
                double c = 1 / sqrt(t * t + 1), s = t * c;
                for (size_t i = 0; i < n; i++) {
                    double x = a[i * n + p], y = a[i * n + q];
                    a[i * n + p] = c * x - s * y;
                    a[i * n + q] = s * x + c * y;
                }
                for (size_t i = 0; i < n; i++) {
                    double x = a[p * n + i], y = a[q * n + i];
                    a[p * n + i] = c * x - s * y;
                    a[q * n + i] = s * x + c * y;
                }
                for (size_t i = 0; i < n; i++) {
                    double x = vectors[i * n + p], y = vectors[i * n + q];
                    vectors[i * n + p] = c * x - s * y;
                    vectors[i * n + q] = s * x + c * y;
                }
            }
    }
}

/* Fills in the parts of a random walk over k knots inside, of which rows have the mean shares and products of shares
 * (with themselves and the next): part[i * GSAI_MAX_STEPS + r], their variances, largest first, down to a share of all;
 * below 0: all of its steps. Returns how many. */
static size_t find_parts(const double *mean, const double *square, const double *next, size_t k, double least,
                         double *part, double *variance)
{
    size_t n = k - 1, n_parts = 0;
    double after[GSAI_MAX_STEPS + 1], gram[GSAI_MAX_STEPS * GSAI_MAX_STEPS], vectors[GSAI_MAX_STEPS * GSAI_MAX_STEPS],
        trace = 0;
    bool taken[GSAI_MAX_STEPS] = {false};
    /* Step i is 1 behind knot i: its mean is the share of the knots behind, and the product of two steps is that of
     * sums of shares. */
    double behind = 0;
    for (size_t i = n; i-- > 0;)
        after[i] = behind += mean[i + 1];
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j <= i; j++) {
            double sum = 0;
            for (size_t a = i + 1; a < k; a++) { /* shares are of neighbours only */
                sum += square[a];
                sum += a + 1 < k ? next[a] : 0;
                sum += a > j + 1 ? next[a - 1] : 0;
            }
            gram[i * n + j] = gram[j * n + i] = sum - after[i] * after[j];
        }
        trace += gram[i * n + i];
    }
    if (!(trace > 0))
        return 0;
    if (least < 0) { /* steps are their own parts */
        memset(vectors, 0, sizeof vectors);
        for (size_t i = 0; i < n; i++)
            vectors[i * n + i] = 1;
    } else {
        find_eigenvectors(gram, n, vectors);
    }
    for (; n_parts < n; n_parts++) {
        size_t best = n;
        for (size_t i = 0; i < n; i++)
            if (!taken[i] && (best == n || gram[i * n + i] > gram[best * n + best]))
                best = i;
        double share = gram[best * n + best] / trace;
        if (!(share > least))
            break;
        taken[best] = true;
        /* The value at a knot is the sum of the steps before it; its mean over the rows is taken off. */
        double at = 0, middle = 0, *own = part + n_parts;
        for (size_t i = 0; i < k; i++) {
            at += i > 0 ? vectors[(i - 1) * n + best] / sqrt(trace) : 0;
            own[i * GSAI_MAX_STEPS] = at;
            middle += mean[i] * at;
        }
        double sign = own[(k - 1) * GSAI_MAX_STEPS] < own[0] ? -1 : 1;
        for (size_t i = 0; i < k; i++)
            own[i * GSAI_MAX_STEPS] = sign * (own[i * GSAI_MAX_STEPS] - middle);
        variance[n_parts] = share;
    }
    return n_parts;
}

size_t gsai_walk_find(const gsai_weighted *at, size_t n, const float *knot, size_t k, double least, double *mean,
                      double *part, double *variance)
{
    double square[GSAI_MAX_KNOTS] = {0}, next[GSAI_MAX_KNOTS] = {0}, total = 0;
    memset(mean, 0, k * sizeof *mean);
    for (size_t i = 0; i < n; i++) {
        gsai_place place = gsai_place_of(knot, (uint32_t)k, (float)at[i].number);
        double share = (double)place.share, weight = at[i].weight;
        total += weight;
        mean[place.low] += weight * (1 - share);
        mean[place.low + 1] += weight * share;
        square[place.low] += weight * (1 - share) * (1 - share);
        square[place.low + 1] += weight * share * share;
        next[place.low] += weight * share * (1 - share);
    }
    for (size_t i = 0; i < k; i++) {
        mean[i] /= total;
        square[i] /= total;
        next[i] /= total;
    }
    return find_parts(mean, square, next, k, least, part, variance);
}

bool gsai_bend_make(const gsai_weighted *at, size_t n, size_t most, double least, gsai_arena *arena, float *knot,
                    gsai_bend *out)
{
    double part[(GSAI_MAX_STEPS + 1) * GSAI_MAX_STEPS], variance[GSAI_MAX_STEPS], mean[GSAI_MAX_KNOTS];
    double total = 0, centre = 0, spread = 0;
    float inside[GSAI_MAX_KNOTS];
    most = most < GSAI_KNOTS_INSIDE ? most : GSAI_KNOTS_INSIDE;
    size_t k = most < 3 ? 0 : gsai_knots_choose(at, n, most, knot);
    if (k < 3)
        return false;
    for (size_t i = 0; i < n; i++) {
        total += at[i].weight;
        centre += (at[i].number - centre) * (at[i].weight / total);
    }
    for (size_t i = 0; i < n; i++)
        spread += at[i].weight / total * (at[i].number - centre) * (at[i].number - centre);
    size_t n_walk = gsai_walk_find(at, n, knot, k, least, mean, part, variance), n_parts = 1 + n_walk;
    memcpy(inside, knot, k * sizeof *inside);
    size_t n_knots = gsai_knots_extend(knot, k), zero = 0;
    if (n_walk == 0 || n_knots < k + 2 || !(spread > 0) || !isfinite(spread))
        return false;
    out->n_knots = (uint32_t)n_knots;
    out->n_parts = (uint32_t)n_parts;
    out->matrix = gsai_arena_take(arena, n_knots * n_parts, sizeof *out->matrix);
    out->mean = gsai_arena_take(arena, n_parts, sizeof *out->mean);
    out->variance = gsai_arena_take(arena, n_parts, sizeof *out->variance);
    out->share = gsai_arena_take(arena, n_knots, sizeof *out->share);
    if (!out->matrix || !out->mean || !out->variance || !out->share)
        return false;
    for (size_t i = 0, next_inside = 0; i < n_knots && next_inside < k; i++)
        if (knot[i] == inside[next_inside])
            out->share[i] = (float)fmin(mean[next_inside++], 1);
    while (zero < n_knots && knot[zero] != 0)
        zero++;
    for (size_t r = 0; r < n_parts; r++) {
        double plain[GSAI_MAX_KNOTS] = {0};
        for (size_t i = 0; i < n_knots; i++) { /* a curve is constant outside */
            gsai_place place = gsai_place_of(inside, (uint32_t)k, knot[i]);
            const double *own = part + place.low * GSAI_MAX_STEPS + (r > 0 ? r - 1 : 0);
            double share = (double)place.share, curve = (1 - share) * own[0] + share * own[GSAI_MAX_STEPS];
            if (least < 0) /* flat beside a step, to the last bit */
                curve = own[0] + share * (own[GSAI_MAX_STEPS] - own[0]);
            plain[i] = r == 0 ? ((double)knot[i] - centre) / sqrt(spread) : CURVE * curve;
        }
        size_t end = knot[0] > 0 ? 0 : n_knots - 1; /* where 0 is beyond the knots, which a sign holds for, too */
        double origin = zero < n_knots ? plain[zero] : least < 0 ? plain[end] : 0;
        for (size_t i = 0; i < n_knots; i++)
            out->matrix[i * n_parts + r] = (float)(plain[i] - origin);
        out->mean[r] = (float)-origin;
        out->variance[r] = r == 0 ? 1 : CURVE * CURVE * variance[r - 1];
    }
    return true;
}

/* ---- the columns of a design ------------------------------------------------------------------------------------- */

/* Rows that decide, columns, and rows behind a knot. */
#define MAX_ROWS ((size_t)16384)
#define MAX_COLUMNS ((size_t)512)
#define ROWS_PER_KNOT 20.0
/* Parts with a smaller share of the variance of a walk are left out; of few columns, so that the inverse is not a
 * diagonal, rows that are many tell more of them. */
#define MIN_SHARE 0.004
#define MIN_SHARE_OF_ROWS 12.0
#define FEW_COLUMNS ((size_t)32)
/* More columns than this have few knots. */
#define MANY_COLUMNS ((size_t)128)
#define FEW_KNOTS ((size_t)5)
/* Features above are never numbers of a table. */
#define MAX_FEATURE 65536u
/* A column is to be present in this share of the rows. */
#define MIN_PRESENT 0.02

static int compare_numbers(const void *a, const void *b)
{
    const gsai_weighted *x = a, *y = b;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* Finds the columns that may bend, those with values that are not all the same, and numbers them from 1 on by their
 * features. Returns how many; candidate[n] is the column of number n + 1. Too many are not looked at. */
static size_t find_candidates(const gsai_design *design, const gsai_waiting *rows, size_t n_rows, uint64_t end,
                              uint64_t *candidate, uint32_t *number)
{
    end = end < MAX_FEATURE ? end : MAX_FEATURE;
    size_t n = 0;
    for (size_t i = 0; i < n_rows && !rows->csr.all_ones && n <= MAX_COLUMNS; i++) {
        const gsai_row row = gsai_waiting_at(rows, design->row[i]).row;
        for (size_t t = 0; t < row.n && n <= MAX_COLUMNS; t++) {
            size_t j = design->column[design->start[i] + t];
            if (number[j] > 0 || gsai_row_value(&row, t) == 1 || design->id[j] >= end ||
                (double)design->count[j] < MIN_PRESENT * (double)design->n_rows || !(design->variance[j] > 0))
                continue;
            number[j] = 1;
            candidate[n++] = (uint64_t)design->id[j] << 32 | j;
        }
    }
    qsort(candidate, n, sizeof *candidate, gsai_waiting_compare_keys);
    for (size_t c = 0; c < n; c++) {
        candidate[c] &= UINT32_MAX;
        number[candidate[c]] = (uint32_t)c + 1;
    }
    return n;
}

gsa_status gsai_bends_find(gsai_bends *bends, const gsai_design *design, const gsai_waiting *rows, uint64_t end,
                           gsai_arena *arena, gsa_error *error)
{
    size_t n_rows = design->n_rows < MAX_ROWS ? design->n_rows : MAX_ROWS, from = 0;
    double total = 0;
    uint32_t *number = gsai_arena_take(arena, design->n_columns, sizeof *number);
    uint64_t candidate[MAX_COLUMNS + 1];
    *bends = (gsai_bends){0};
    GSA_TRY(gsai_arena_check(arena, "columns that bend", error));
    size_t n = find_candidates(design, rows, n_rows, end, candidate, number);
    if (n == 0 || n > MAX_COLUMNS)
        return GSA_OK;
    size_t *start = gsai_arena_take(arena, n + 2, sizeof *start);
    bends->at = gsai_arena_take(arena, n, sizeof *bends->at);
    bends->knot = gsai_arena_take(arena, n * GSAI_MAX_KNOTS, sizeof *bends->knot);
    GSA_TRY(gsai_arena_check(arena, "columns that bend", error));
    for (size_t i = 0; i < n_rows; i++) {
        total += (double)design->weight[i];
        for (size_t t = design->start[i]; t < design->start[i + 1]; t++)
            start[number[design->column[t]] + 1] += number[design->column[t]] > 0;
    }
    for (size_t c = 1; c <= n; c++)
        start[c + 1] += start[c] + 1; /* and one for the rows without it */
    gsai_weighted *all = gsai_arena_take(arena, start[n + 1], sizeof *all);
    GSA_TRY(gsai_arena_check(arena, "columns that bend", error));
    for (size_t i = 0; i < n_rows; i++) {
        const gsai_row row = gsai_waiting_at(rows, design->row[i]).row;
        for (size_t t = 0; t < row.n; t++) {
            uint32_t c = number[design->column[design->start[i] + t]];
            if (c > 0)
                all[start[c]++] = (gsai_weighted){(double)gsai_row_value(&row, t), (double)design->weight[i]};
        }
    }
    size_t most = (size_t)(total / ROWS_PER_KNOT);
    most = n > MANY_COLUMNS && most > FEW_KNOTS ? FEW_KNOTS : most;
    double least = n <= FEW_COLUMNS ? fmin(MIN_SHARE, MIN_SHARE_OF_ROWS / (double)design->n_rows) : MIN_SHARE;
    for (uint32_t c = 1; c <= n; from = ++start[c++]) {
        size_t n_own = start[c] - from;
        double present = 0;
        for (size_t i = 0; i < n_own; i++)
            present += all[from + i].weight;
        if (total - present > 1e-6 * total)
            all[from + n_own++] = (gsai_weighted){0, total - present};
        qsort(all + from, n_own, sizeof *all, compare_numbers);
        gsai_bend *own = &bends->at[bends->n];
        *own = (gsai_bend){.first_knot = (uint32_t)bends->n_knots, .first_part = (uint32_t)bends->n_parts};
        own->column = (uint32_t)candidate[c - 1];
        bool has_sign = design->sign && design->sign[own->column] != 0;
        if (!gsai_bend_make(all + from, n_own, most, has_sign ? -1 : least, arena, bends->knot + bends->n_knots, own))
            continue;
        own->feature = design->id[own->column];
        bends->n_knots += own->n_knots;
        bends->n_parts += own->n_parts;
        bends->n++;
    }
    bends->n_curves = bends->n;
    return gsai_arena_check(arena, "columns that bend", error);
}

double gsai_bends_value(const gsai_bends *bends, size_t knot, const double *weight)
{
    size_t b = 0;
    while (b + 1 < bends->n && bends->at[b + 1].first_knot <= knot)
        b++;
    const gsai_bend *bend = &bends->at[b];
    const float *row = bend->matrix + (knot - bend->first_knot) * bend->n_parts;
    double sum = 0;
    for (size_t p = 0; p < bend->n_parts; p++)
        sum += (double)row[p] * weight[bend->first_part + p];
    return sum;
}

void gsai_bends_turn(const gsai_bends *bends, size_t stride, const float *v, const float *scale, float *knot)
{
    for (size_t b = 0; b < bends->n; b++) {
        const gsai_bend *bend = &bends->at[b];
        for (size_t i = 0; i < bend->n_knots; i++) {
            float *to = knot + (bend->first_knot + i) * stride;
            memset(to, 0, stride * sizeof *to);
            for (size_t p = 0; p < bend->n_parts; p++) {
                size_t j = bend->first_part + p;
                for (size_t k = 0; k < stride; k++)
                    to[k] += bend->matrix[i * bend->n_parts + p] * (scale[j] * v[j * stride + k]);
            }
        }
    }
}

void gsai_bends_turn_back(const gsai_bends *bends, size_t stride, const float *knot, float *part)
{
    memset(part, 0, bends->n_parts * stride * sizeof *part);
    for (size_t b = 0; b < bends->n; b++) {
        const gsai_bend *bend = &bends->at[b];
        for (size_t i = 0; i < bend->n_knots; i++)
            for (size_t p = 0; p < bend->n_parts; p++)
                for (size_t k = 0; k < stride; k++)
                    part[(bend->first_part + p) * stride + k] +=
                        bend->matrix[i * bend->n_parts + p] * knot[(bend->first_knot + i) * stride + k];
    }
}
