/* Algorithm 2: the greedy step of a loss that is known only by its derivative, by search along the line.
 *
 * Along the way of the step, at distance u = lambda |g| from m, the slope left over is d(u) = l'(m - u sign g) / g: 1
 * at the start and, for a convex loss, falling. The minimiser is where d falls to 0. Three shapes occur:
 *
 *   A1  d becomes negative: there is a minimiser (squared, Huber ...);
 *   A2  d becomes 0 and stays there: a flat bottom, whose near edge is the minimiser (hinges), or a tail that falls for
 *       ever and has merely run out of digits (logistic), which has none;
 *   A3  d stays positive: a loss that falls for ever; its target is d = 1 - P_HAT.
 *
 * The two kinds of A2 are told apart by the approach. With t1, t2 the points where d has come down to 1 - P_HAT and to
 * (1 - P_HAT)^2, an edge of the kind (u* - u)^n lies within 4 (t2 - t1) beyond t2 for every n up to 13, while an
 * exponential tail still has slope left there.
 *
 * A derivative that is not monotone leads to some finite answer: every loop is bounded and every interval shrinks. A
 * loss that never comes down to 1 - P_HAT (a straight line) has neither minimiser nor target: 0. */
#include "learn/loss/loss.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

#define FINE 0x1p-42
#define ROUGH 0x1p-8
#define REACH 0x1p60
#define LEFT_OVER (1 - GSAI_P_HAT)
#define MAX_TRIES 400

typedef struct ray {
    const gsa_margin_loss *loss;
    double m, y, g;
} ray;

typedef struct point {
    double u, d;
} point;

static point look(const ray *way, double u)
{
    double margin = way->g > 0 ? way->m - u : way->m + u;
    return (point){u, way->loss->derivative(way->loss->ctx, margin, way->y) / way->g};
}

/* An interval that holds the edge: d > level at `before`, d <= level at `after`. The heights are what a straight line
 * is drawn through: d - level, less where an end has stayed behind. */
typedef struct interval {
    point before, after;
    double height_before, height_after;
    point last; /* the `before` of an earlier time, or the same */
    int moved;  /* the end that moved last: -1 before, +1 after, 0 none */
} interval;

/* Returns the point at which the line through the two ends meets the level. An end that is exactly level does not tell
 * where the flat part begins: then the last two points before it are extended. A proposal that hugs an end is moved
 * half a tolerance inside, so that both ends close in on an edge that is found. */
static double propose(const interval *in, double level, double tolerance)
{
    double u;
    if (in->after.d < level)
        u = in->before.u + (in->after.u - in->before.u) * (in->height_before / (in->height_before - in->height_after));
    else
        u = in->before.u + (in->before.u - in->last.u) * ((in->before.d - level) / (in->last.d - in->before.d));
    double room = 0.5 * tolerance * in->after.u;
    double min = in->before.u + room, max = in->after.u - room;
    if (isnan(u) || !(min < max))
        return 0.5 * (in->before.u + in->after.u);
    return fmin(fmax(u, min), max);
}

/* The Illinois rule: an end that stays for the second time counts half, so that the next proposal falls on its side. */
static void narrow(interval *in, point now, double level)
{
    if (now.d <= level) {
        in->after = now;
        in->height_after = now.d - level;
        in->height_before *= in->moved > 0 ? 0.5 : 1.0;
        in->moved = 1;
    } else {
        in->last = in->before;
        in->before = now;
        in->height_before = now.d - level;
        in->height_after *= in->moved < 0 ? 0.5 : 1.0;
        in->moved = -1;
    }
}

/* The first point where d <= level, to a relative tolerance. Every third try halves the interval unless the two before
 * did. */
static point descend(const ray *way, point before, point after, double level, double tolerance)
{
    interval in = {before, after, before.d - level, after.d - level, before, 0};
    double width = after.u - before.u;
    for (int i = 1; i < MAX_TRIES && in.after.u - in.before.u > tolerance * in.after.u; i++) {
        double u = propose(&in, level, tolerance);
        if (i % 3 == 0) {
            if (in.after.u - in.before.u > 0.5 * width)
                u = 0.5 * (in.before.u + in.after.u);
            width = in.after.u - in.before.u;
        }
        narrow(&in, look(way, u), level);
    }
    return fabs(in.before.d - level) < fabs(in.after.d - level) ? in.before : in.after;
}

/* For one level: the last point above it and the first at or below it, as far as they are known. */
typedef struct bounds {
    point above, below;
    bool found;
} bounds;

static void update(bounds *b, point now, double level)
{
    if (b->found)
        return;
    b->found = now.d <= level;
    if (b->found)
        b->below = now;
    else
        b->above = now;
}

/* Doubles the distance until the slope has turned, or is 0 twice, or the end of the reach. True if it has turned. */
static bool walk(const ray *way, bounds *target, bounds *zero)
{
    double scale = fmax(1.0, fabs(way->m));
    /* lambda = 1 is the answer for a loss of unit curvature; a tiny g would need too many doublings from there. */
    double u = fabs(way->g) > 0x1p-10 * scale ? fabs(way->g) : scale;
    for (; u <= REACH * scale && isfinite(way->m - u) && isfinite(way->m + u); u *= 2) {
        point now = look(way, u);
        bool was_zero = zero->found;
        update(target, now, LEFT_OVER);
        update(zero, now, 0);
        if (now.d < 0)
            return true;
        if (was_zero)
            break;
    }
    return false;
}

/* A2: is the end of the slope an edge (true) or a tail without digits? */
static bool ends_in_edge(const ray *way, point target, point zero)
{
    const double second = LEFT_OVER * LEFT_OVER;
    point t2 = target.d > second ? descend(way, target, zero, second, ROUGH) : target;
    return look(way, t2.u + 4 * (t2.u - target.u)).d <= 0;
}

static double search_distance(const ray *way)
{
    const point start = {0, 1};
    bounds target = {start, start, false}, zero = target;
    if (walk(way, &target, &zero))
        return descend(way, zero.above, zero.below, 0, FINE).u;
    if (!target.found)
        return 0;
    point there = descend(way, target.above, target.below, LEFT_OVER, FINE);
    if (there.d > 0 && zero.found && ends_in_edge(way, there, zero.below))
        return descend(way, there, zero.below, 0, FINE).u;
    return there.u;
}

double gsai_search_lambda(const gsa_margin_loss *loss, double m, double y, double g)
{
    if (g == 0)
        return 0;
    ray way = {loss, m, y, g};
    return fmin(search_distance(&way) / fabs(g), DBL_MAX);
}
