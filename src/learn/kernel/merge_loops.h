/* The loops over the slots of states that are merged (merge/sums.h, merge/apply.h); part of loops.h.
 *
 * Records are read and written as words: compilers make vectors of those, not of unions. */
#include "learn/kernel/merge_block.h"

static inline float float_of(uint32_t word)
{
    float f;
    memcpy(&f, &word, sizeof f);
    return f;
}

/* ---- views ------------------------------------------------------------------------------------------------------- */

/* Without always_inline a compiler would not know the room, and a loop would not become vectors. A table's counts have
 * 31 bits. */
__attribute__((always_inline)) static inline void view_of(gsai_view *view, const uint32_t *restrict record, size_t room,
                                                          size_t n, float per_total)
{
    double *restrict sum_sq = view->sum_sq, *restrict count = view->count;
    size_t stride = 2 * room + 2;
    for (size_t k = 0; k < view->n_outputs; k++) {
        float *restrict last = view->last + k * view->block, *restrict behind = view->behind + k * view->block;
        for (size_t i = 0; i < n; i++) {
            last[i] = float_of(record[i * stride + k]);
            behind[i] = float_of(record[i * stride + room + k]) * per_total;
        }
    }
    for (size_t i = 0; i < n; i++) {
        count[i] = (double)(int32_t)record[i * stride + 2 * room + 1];
        sum_sq[i] = (double)float_of(record[i * stride + 2 * room]) * count[i];
    }
}

static void view_records(gsai_view *view, const gsai_cell *cells, size_t room, size_t n, float per_total)
{
    if (room == 1)
        view_of(view, &cells->u, 1, n, per_total);
    else
        view_of(view, &cells->u, room, n, per_total);
}

/* ---- sums -------------------------------------------------------------------------------------------------------- */

/* Products, not branches; arrays as arguments: compilers then know that they do not overlap. */
static void seen_since(const double *restrict sum_sq, const double *restrict count, const double *restrict base_sum_sq,
                       const double *restrict base_count, double free, size_t n, double *restrict since,
                       double *restrict touched, float *restrict gained, float *restrict squares, float *restrict c)
{
    for (size_t i = 0; i < n; i++) {
        double rows = count[i] - base_count[i], more = sum_sq[i] - base_sum_sq[i], is_touched = rows > 0 ? 1.0 : 0.0;
        double presence = free * rows + (1 - free) * more;
        since[i] = rows;
        touched[i] = is_touched;
        gained[i] = (float)(is_touched * more) + 0.0F;
        squares[i] = (float)(is_touched * presence * presence);
        c[i] = (float)(is_touched * sum_sq[i]);
    }
}

/* If no weight had changed, the average would lack of the last weights what the base's does, as far as it is the
 * base's. */
static void changes_since(gsai_sums *sums, const gsai_view *state, const gsai_view *base, float kept, size_t n,
                          const float *restrict c)
{
    for (size_t k = 0; k < state->n_outputs; k++) {
        size_t row = k * state->block;
        const float *restrict last = state->last + row, *restrict behind = state->behind + row,
                              *restrict base_last = base->last + row, *restrict base_behind = base->behind + row;
        float *restrict change = sums->sum + row, *restrict average = change + state->n_outputs * state->block;
        for (size_t i = 0; i < n; i++) {
            float moved = last[i] - base_last[i];
            change[i] = c[i] * moved + 0.0F;
            average[i] = c[i] * (moved - (behind[i] - kept * base_behind[i])) + 0.0F;
        }
    }
}

static bool sum_changes(gsai_sums *sums, const gsai_view *state, const gsai_view *base, float kept, bool standardised,
                        size_t n)
{
    float c[GSAI_MAX_BLOCK], *gained = sums->sum + 2 * state->n_outputs * state->block;
    uint64_t n_met = 0, n_less = 0;
    seen_since(state->sum_sq, state->count, base->sum_sq, base->count, standardised ? 1 : 0, n, sums->count,
               sums->touched, gained, gained + state->block, c);
    for (size_t i = 0; i < n; i++) {
        n_met += sums->count[i] > 0;
        n_less += sums->count[i] < 0;
    }
    sums->is_empty = n_met == 0;
    if (!sums->is_empty)
        changes_since(sums, state, base, kept, n, c);
    return n_less == 0;
}

static void add_floats(float *restrict to, const float *restrict from, size_t n)
{
    for (size_t i = 0; i < n; i++)
        to[i] += from[i];
}

static void add_doubles(double *restrict to, const double *restrict from, size_t n)
{
    for (size_t i = 0; i < n; i++)
        to[i] += from[i];
}

static void add_sums(gsai_sums *to, const gsai_sums *from, size_t n_outputs, size_t n)
{
    size_t block = gsai_sums_block(n_outputs);
    for (size_t k = 0; k < gsai_sums_width(n_outputs); k++)
        add_floats(to->sum + k * block, from->sum + k * block, n);
    add_doubles(to->count, from->count, n);
    add_doubles(to->touched, from->touched, n);
}

/* ---- aggregation ------------------------------------------------------------------------------------------------- */

/* 1 - e^-x for x >= 0 (else 0), to a few units of a float's last place: e^-x = 2^k e^r, |r| <= ln 2 / 2, and
 *   1 - 2^k (1 + p) = (1 - 2^k) - 2^k p      p = e^r - 1
 * which is -p itself near 0. From 80 on it is 1. */
static inline float share_gone(float x)
{
    const float rounder = 12582912.0F; /* 1.5 * 2^23: a sum with it has no fraction */
    float positive = x > 0 ? x : 0, far = positive < 80 ? positive : 80, k = (far * -1.44269504F + rounder) - rounder;
    float r = (-far - k * 0.693145752F) - k * 1.42860677e-6F;
    float p = r + r * r * (0.5F + r * (0.166666667F + r * (0.0416666667F + r * (8.33333333e-3F + r * 1.38888889e-3F))));
    float power = float_of((uint32_t)((int32_t)k + 127) << 23);
    return (1 - power) - power * p;
}

static void aggregations(const float *restrict all, const float *restrict one, size_t n, float alpha,
                         float *restrict aggregation)
{
    for (size_t i = 0; i < n; i++) {
        float of_all = share_gone(alpha * all[i]), of_one = share_gone(alpha * one[i]);
        float ratio = (of_one > 0 ? of_all : 1) / (of_one > 0 ? of_one : 1);
        aggregation[i] = all[i] > one[i] ? ratio : 1;
    }
}

/* ---- the result -------------------------------------------------------------------------------------------------- */

/* The base's totals become those of the result. n_states 0: those count that touched a slot. */
static void add_seen(const float *restrict gained, const float *restrict squares, const double *restrict since,
                     const double *restrict touched, double n_states, float free, size_t n, double *restrict sum_sq,
                     double *restrict count, float *restrict c, float *restrict all, float *restrict one)
{
    const double apart = n_states > 0 ? 0 : 1;
    for (size_t i = 0; i < n; i++) {
        double total = (n_states + apart * touched[i]) * sum_sq[i] + (double)gained[i];
        c[i] = (float)(total > 0 ? total : 1);
        sum_sq[i] += (double)gained[i];
        count[i] += since[i];
        all[i] = free * (float)since[i] + (1 - free) * gained[i];
        one[i] = squares[i] / (all[i] > 0 ? all[i] : 1);
    }
}

static void mean_changes(gsai_sums *sums, gsai_view *start, bool standardised, double n_states, size_t n,
                         gsai_block_steps *out)
{
    const float *restrict c = out->c, *gained = sums->sum + 2 * start->n_outputs * start->block;
    add_seen(gained, gained + start->block, sums->count, sums->touched, n_states, standardised ? 1 : 0, n,
             start->sum_sq, start->count, out->c, out->all, out->one);
    for (size_t k = 0; k < 2 * start->n_outputs; k++) {
        float *restrict change = sums->sum + k * start->block;
        for (size_t i = 0; i < n; i++)
            change[i] /= c[i];
    }
}

static void move_slots(const gsai_view *start, const gsai_sums *changes, size_t k, const gsai_block_steps *by, size_t n,
                       uint32_t *restrict weight, uint32_t *restrict term)
{
    const float *restrict last = start->last + k * start->block, *restrict behind = start->behind + k * start->block,
                          *restrict change = changes->sum + k * start->block,
                          *restrict average = change + start->n_outputs * start->block, *restrict step = by->step[0],
                          *restrict average_step = by->step[1];
    const double kept = by->kept, total = by->total;
    for (size_t i = 0; i < n; i++) {
        double from = (double)last[i];
        double goal = (from - kept * (double)behind[i]) + (double)average_step[i] * (double)average[i];
        float to = (float)(from + (double)step[i] * (double)change[i]);
        weight[i] = bits_of(to);
        term[i] = bits_of((float)(total * ((double)to - goal)) + 0.0F);
    }
}

static void presence_words(const gsai_view *start, size_t n, uint32_t *restrict mean, uint32_t *restrict words)
{
    const double *restrict sum_sq = start->sum_sq, *restrict count = start->count;
    for (size_t i = 0; i < n; i++) {
        mean[i] = bits_of((float)(sum_sq[i] / (count[i] > 0 ? count[i] : 1)));
        words[i] = (uint32_t)(int32_t)(count[i] < INT32_MAX ? count[i] : INT32_MAX);
    }
}

static void enter_slots(gsai_cell *cells, size_t room, const gsai_view *start, const gsai_sums *changes,
                        const gsai_block_steps *by, size_t n)
{
    uint32_t weight[GSAI_MAX_BLOCK], term[GSAI_MAX_BLOCK], mean[GSAI_MAX_BLOCK], count[GSAI_MAX_BLOCK];
    uint32_t *restrict record = &cells->u;
    size_t stride = 2 * room + 2;
    presence_words(start, n, mean, count);
    for (size_t k = 0; k < start->n_outputs; k++) {
        move_slots(start, changes, k, by, n, weight, term);
        for (size_t i = 0; i < n && room > 1; i++) {
            record[i * stride + k] = weight[i];
            record[i * stride + room + k] = term[i];
        }
    }
    for (size_t i = 0; i < n && room == 1; i++) { /* whole records at once */
        record[4 * i] = weight[i];
        record[4 * i + 1] = term[i];
        record[4 * i + 2] = mean[i];
        record[4 * i + 3] = count[i];
    }
    for (size_t i = 0; i < n && room > 1; i++) {
        record[i * stride + 2 * room] = mean[i];
        record[i * stride + 2 * room + 1] = count[i];
    }
}
