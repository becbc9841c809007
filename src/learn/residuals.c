/* Huber's proposal 2, by rows that come one after the other and by all rows at once. */
#include "learn/residuals.h"

#include "learn/inside.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define ITERATIONS 60
/* Fewer residuals do not tell which of them is an outlier. */
#define MIN_RESIDUALS 3
#define MIN_EXPONENT (-159)

static int by_number(const void *a, const void *b)
{
    const gsai_weighted *x = a, *y = b;
    return (x->number > y->number) - (x->number < y->number);
}

double gsai_weighted_median(gsai_weighted *at, size_t n)
{
    double below = 0, total = 0;
    size_t i = 0;
    qsort(at, n, sizeof *at, by_number);
    for (size_t j = 0; j < n; j++)
        total += at[j].weight;
    while (i + 1 < n && (below += at[i].weight) < total / 2)
        i++;
    return at[i].number;
}

static size_t bin_of(double r)
{
    int exponent;
    double mantissa = frexp(fabs(r), &exponent);
    if (mantissa == 0)
        return 0;
    int bin = 1 + 2 * (exponent - MIN_EXPONENT) + (mantissa >= 0.75);
    return bin < 1 ? 1 : bin < GSAI_RESIDUAL_BINS ? (size_t)bin : GSAI_RESIDUAL_BINS - 1;
}

/* Starts at the median; where most residuals are 0, at that of the others. */
static void set_width(gsai_residuals *residuals)
{
    double r[GSAI_RESIDUAL_BINS];
    float c[GSAI_RESIDUAL_BINS];
    gsai_weighted at[GSAI_RESIDUAL_BINS];
    for (size_t i = 0; i < GSAI_RESIDUAL_BINS; i++) {
        /* the root of the mean square of numbers that are spread evenly over a bin */
        double centre = i % 2 == 1 ? 0.625 : 0.875, root = sqrt(centre * centre + 0.25 * 0.25 / 12);
        r[i] = i == 0 ? 0 : ldexp(root, ((int)i - 1) / 2 + MIN_EXPONENT);
        c[i] = (float)(residuals->late[i] + residuals->earlier[i]);
        at[i] = (gsai_weighted){r[i], (double)c[i]};
    }
    residuals->width = 0;
    if (residuals->n_rows < MIN_RESIDUALS || residuals->n_not_zero == 0)
        return;
    double median = gsai_weighted_median(at, GSAI_RESIDUAL_BINS);
    if (median == 0 && residuals->n_not_zero >= MIN_RESIDUALS)
        median = gsai_weighted_median(at + 1, GSAI_RESIDUAL_BINS - 1);
    if (median > 0)
        residuals->width = gsai_residuals_solve(r, c, GSAI_RESIDUAL_BINS, GSAI_WIDTH * median / GSAI_MEDIAN_DISTANCE);
}

/* The width follows eight times while the rows double. */
void gsai_residuals_add(gsai_residuals *residuals, double r, double c)
{
    int exponent;
    residuals->n_rows += 1;
    residuals->n_not_zero += r != 0;
    if (frexp(residuals->n_rows, &exponent) == 0.5) {
        memcpy(residuals->earlier, residuals->late, sizeof residuals->late);
        memset(residuals->late, 0, sizeof residuals->late);
    }
    residuals->late[bin_of(r)] += c;
    if (exponent <= 4 || fmod(residuals->n_rows, ldexp(1, exponent - 4)) == 0)
        set_width(residuals);
}

/* Takes the mean of all states: what they have from their base must not multiply from round to round. */
static gsa_status merge_residuals(const gsai_merge *merge, gsa_error *error)
{
    (void)error;
    gsai_residuals *into = &merge->into->residuals;
    double share = 1 / (double)merge->n_states;
    for (size_t s = 0; s < merge->n_states; s++) {
        const gsai_residuals *from = &merge->states[s]->residuals;
        for (size_t i = 0; i < GSAI_RESIDUAL_BINS; i++) {
            into->late[i] += share * from->late[i];
            into->earlier[i] += share * from->earlier[i];
        }
        into->n_rows = fmax(into->n_rows, from->n_rows);
        into->n_not_zero = fmax(into->n_not_zero, from->n_not_zero);
        if (into->n_first < from->n_first) {
            into->n_first = from->n_first;
            memcpy(into->first, from->first, sizeof into->first);
        }
    }
    if (into->n_rows > 0)
        set_width(into);
    return GSA_OK;
}

double gsai_residuals_centre(gsai_residuals *residuals, double y)
{
    gsai_weighted at[GSAI_FIRST_LABELS];
    if (residuals->n_first < GSAI_FIRST_LABELS)
        residuals->first[residuals->n_first++] = y;
    for (size_t i = 0; i < residuals->n_first; i++)
        at[i] = (gsai_weighted){residuals->first[i], 1};
    return gsai_weighted_median(at, residuals->n_first);
}

double gsai_residuals_solve(const double *r, const float *c, size_t n, double start)
{
    double width = start, before = 0;
    for (int i = 0; i < ITERATIONS && width != before; i++) {
        double sum = 0, weight = 0;
        for (size_t row = 0; row < n; row++) {
            double clipped = fmin(fabs(r[row]), width);
            sum += (double)c[row] * clipped * clipped;
            weight += (double)c[row];
        }
        before = width;
        width = weight > 0 ? GSAI_WIDTH * sqrt(sum / (GSAI_CLIPPED_SQUARE * weight)) : 0;
    }
    return width;
}

gsai_residuals gsai_residuals_of(const double *r, const float *c, size_t n, double width, double unit)
{
    gsai_residuals out = {.n_rows = (double)n, .width = width * unit};
    for (size_t i = 0; i < n; i++) {
        out.late[bin_of(r[i] * unit)] += (double)c[i];
        out.n_not_zero += r[i] != 0;
    }
    return out;
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

static const gsai_stored_field fields[] = {
    {{"residuals.late", GSAI_F64, GSAI_NOT_NEGATIVE}, offsetof(gsai_residuals, late), GSAI_RESIDUAL_BINS},
    {{"residuals.earlier", GSAI_F64, GSAI_NOT_NEGATIVE}, offsetof(gsai_residuals, earlier), GSAI_RESIDUAL_BINS},
    {{"residuals.first", GSAI_F64, GSAI_FINITE}, offsetof(gsai_residuals, first), GSAI_FIRST_LABELS},
    {{"residuals.n_first", GSAI_U64, GSAI_FIRST_LABELS}, offsetof(gsai_residuals, n_first), 1},
    {{"residuals.n_rows", GSAI_F64, GSAI_NOT_NEGATIVE}, offsetof(gsai_residuals, n_rows), 1},
    {{"residuals.n_not_zero", GSAI_F64, GSAI_NOT_NEGATIVE}, offsetof(gsai_residuals, n_not_zero), 1},
    {{"residuals.width", GSAI_F64, GSAI_NOT_NEGATIVE}, offsetof(gsai_residuals, width), 1},
};
enum { FIELDS = sizeof fields / sizeof *fields };

static void save(gsai_snapshot *snapshot, const gsa_state *state)
{
    if (state->loss && state->loss->has_width)
        gsai_snapshot_fields(snapshot, fields, FIELDS, &state->residuals);
}

static gsa_status load(gsa_state *state, const gsai_bundle *bundle, gsa_error *error)
{
    bool has_width = state->loss && state->loss->has_width;
    return has_width ? gsai_bundle_fields(bundle, fields, FIELDS, &state->residuals, error) : GSA_OK;
}

const gsai_part_functions gsai_residuals_part = {.merge = merge_residuals, .save = save, .load = load};
