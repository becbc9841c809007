/* Newton's method for a scale and a shift. */
#include "learn/scale_shift.h"

#include <math.h>

#define NEWTON_STEPS 30
/* Cells of margins between two looks at the clock. */
#define CELLS_AT_ONCE ((size_t)1 << 20)

/* Gradient and curvature: of scale, of scale and shift, of shift. */
struct sums {
    double g0, g1, h00, h01, h11;
};

/* Returns the loss of rows of one output, and adds to the sums. */
static double add_one_output(const gsai_scaled_rows *rows, const gsai_scale_shift *at, struct sums *sums)
{
    size_t n = rows->at.n;
    const float *margin = rows->at.margin;
    float *m = rows->scratch, *g = m + n, *h = g + n;
    gsai_rows_at scaled = rows->at;
    for (size_t i = 0; i < n; i++)
        m[i] = (float)(at->scale * (double)margin[i] + at->shift);
    scaled.margin = m;
    scaled.residual = g;
    scaled.curvature = h;
    rows->loss(&scaled);
    for (size_t i = 0; i < n; i++) {
        double z = (double)margin[i], slope = (double)g[i];
        bool is_second = rows->at.target[i] > 0.5F;
        if (rows->smoothing)
            slope += (double)rows->at.weight[i] * (is_second ? rows->smoothing[1] : -rows->smoothing[0]);
        sums->g0 += slope * z;
        sums->g1 += slope;
        sums->h00 += (double)h[i] * z * z;
        sums->h01 += (double)h[i] * z;
        sums->h11 += (double)h[i];
    }
    return scaled.value;
}

/* Returns the slope of smoothed targets of many outputs: they are linear in the scale. Sets
 * *stopped if it should stop. */
static double pull_of(const gsai_scaled_rows *rows, bool *stopped)
{
    size_t n_outputs = rows->at.n_outputs;
    double pull = 0;
    for (size_t i = 0; i < rows->at.n && rows->smoothing && !*stopped; i++) {
        const float *m = rows->at.margin + i * rows->at.stride;
        size_t own = (size_t)rows->at.target[i];
        double others = 0;
        for (size_t k = 0; k < n_outputs; k++)
            others += k == own ? 0 : (double)m[k];
        *stopped = rows->stop && gsai_should_stop(rows->stop);
        pull += (double)rows->at.weight[i] * rows->smoothing[own] * ((double)m[own] - others / (double)(n_outputs - 1));
    }
    return pull;
}

/* Does the same for many outputs, which have no shift. Sets *stopped if it should stop. */
static double add_many_outputs(const gsai_scaled_rows *rows, const gsai_scale_shift *at, double pull, struct sums *sums,
                               bool *stopped)
{
    size_t n = rows->at.n, some = rows->stop ? CELLS_AT_ONCE / rows->at.stride + 1 : n;
    double value = 0;
    sums->g0 += pull;
    for (size_t from = 0; from < n && !*stopped; from += some) {
        gsai_rows_at scaled = rows->at;
        scaled.n = n - from < some ? n - from : some;
        scaled.target += from;
        scaled.weight += from;
        scaled.direction = scaled.margin += from * scaled.stride;
        scaled.step = (float)(at->scale - 1);
        rows->loss(&scaled);
        sums->g0 += scaled.slope;
        sums->h00 += scaled.bending;
        value += scaled.value;
        *stopped = rows->stop && gsai_should_stop(rows->stop);
    }
    return value;
}

bool gsai_scale_shift_fit(const gsai_scaled_rows *rows, gsai_scale_shift *at)
{
    bool one_output = rows->at.stride == 1, stopped = false;
    double prior[2] = {rows->prior[0], rows->prior[1]}, pull = one_output ? 0 : pull_of(rows, &stopped);
    for (int i = 0; i < NEWTON_STEPS && !stopped; i++) {
        struct sums sums = {prior[0] * (at->scale - 1), prior[1] * at->shift, prior[0], 0, prior[1]};
        at->loss = one_output ? add_one_output(rows, at, &sums) : add_many_outputs(rows, at, pull, &sums, &stopped);
        if (rows->is_fixed || stopped)
            break;
        if (i == 0 && rows->behind > 0) {
            prior[0] += rows->behind * (sums.h00 - prior[0]);
            prior[1] += rows->behind * (sums.h11 - prior[1]);
            continue;
        }
        if (!rows->has_shift) {
            sums.g1 = sums.h01 = 0;
            sums.h11 = 1;
        }
        if (at->scale == 0 && sums.g0 > 0) /* held there, and the shift alone is left to find */
            sums.g0 = sums.h01 = 0;
        double determinant = sums.h00 * sums.h11 - sums.h01 * sums.h01;
        if (!(determinant > 1e-12 * sums.h00 * sums.h11)) /* margins that are all the same */
            break;
        double scale = (sums.g0 * sums.h11 - sums.g1 * sums.h01) / determinant;
        double shift = (sums.h00 * sums.g1 - sums.h01 * sums.g0) / determinant, part = 1;
        if (at->scale == 0 && scale > 0) { /* held there: the shift alone moves */
            scale = 0;
            shift = sums.g1 / sums.h11;
        }
        double lowest = rows->may_vanish ? 0 : at->scale / 2, more = rows->may_vanish ? 0.1 : 0;
        if (at->scale - scale < lowest)
            part = (at->scale - lowest) / scale;
        if (at->scale - scale > at->scale * 2 + more && !rows->has_full_steps)
            part = -(at->scale + more) / scale;
        if (fabs(shift) * part > rows->unit && !rows->has_full_steps)
            part = rows->unit / fabs(shift);
        at->scale -= part * scale;
        at->shift -= part * shift;
        if (rows->may_vanish && at->scale < 1e-9)
            at->scale = 0;
        if (fabs(scale) <= 1e-5 * at->scale && fabs(shift) < 1e-5 * rows->unit)
            break;
    }
    return !stopped;
}
