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

/* Returns the first point where d <= level, to a relative tolerance, by the Illinois rule: `before` has d > level,
 * `after` d <= level, and a straight line is drawn through their heights above the level. An end that stays for the
 * second time counts half, so that the next proposal falls on its side. */
static point descend(const ray *way, point before, point after, double level, double tolerance)
{
    point last = before; /* the `before` of an earlier time, or the same */
    double height_before = before.d - level, height_after = after.d - level, width = after.u - before.u;
    int moved = 0; /* the end that moved last: -1 before, +1 after, 0 none */
    for (int i = 1; i < MAX_TRIES && after.u - before.u > tolerance * after.u; i++) {
        /* An end that is exactly level does not tell where the flat part begins: then the last two points before it are
         * extended. A proposal that hugs an end is moved half a tolerance inside, so that both ends close in on an edge
         * that is found. */
        double u = before.u, middle = 0.5 * (before.u + after.u), room = 0.5 * tolerance * after.u;
        if (after.d < level)
            u += (after.u - before.u) * (height_before / (height_before - height_after));
        else
            u += (before.u - last.u) * ((before.d - level) / (last.d - before.d));
        double min = before.u + room, max = after.u - room;
        u = isnan(u) || !(min < max) ? middle : fmin(fmax(u, min), max);
        if (i % 3 == 0) { /* every third try halves the interval unless the two before did */
            u = after.u - before.u > 0.5 * width ? middle : u;
            width = after.u - before.u;
        }
        point now = look(way, u);
        if (now.d <= level) {
            after = now;
            height_after = now.d - level;
            height_before *= moved > 0 ? 0.5 : 1.0;
            moved = 1;
        } else {
            last = before;
            before = now;
            height_before = now.d - level;
            height_after *= moved < 0 ? 0.5 : 1.0;
            moved = -1;
        }
    }
    return fabs(before.d - level) < fabs(after.d - level) ? before : after;
}

/* For one level: the last point above it and the first at or below it, as far as they are known. */
typedef struct bounds {
    double level;
    point above, below;
    bool found;
} bounds;

/* Doubles the distance until the slope has turned, or is 0 twice, or the end of the reach. True if it has turned. */
static bool walk(const ray *way, bounds *target, bounds *zero)
{
    double scale = fmax(1.0, fabs(way->m));
    /* lambda = 1 is the answer for a loss of unit curvature; a tiny g would need too many doublings from there. */
    double u = fabs(way->g) > 0x1p-10 * scale ? fabs(way->g) : scale;
    for (; u <= REACH * scale && isfinite(way->m - u) && isfinite(way->m + u); u *= 2) {
        point now = look(way, u);
        bool was_zero = zero->found;
        for (int i = 0; i < 2; i++) {
            bounds *b = i == 0 ? target : zero;
            if (!b->found)
                *(now.d <= b->level ? &b->below : &b->above) = now;
            b->found = b->found || now.d <= b->level;
        }
        if (now.d < 0)
            return true;
        if (was_zero)
            break;
    }
    return false;
}

double gsai_search_lambda(const gsa_margin_loss *loss, double m, double y, double g)
{
    const ray way = {loss, m, y, g};
    const point start = {0, 1};
    const double second = LEFT_OVER * LEFT_OVER;
    bounds target = {LEFT_OVER, start, start, false}, zero = {0, start, start, false};
    if (g == 0)
        return 0;
    if (walk(&way, &target, &zero))
        return fmin(descend(&way, zero.above, zero.below, 0, FINE).u / fabs(g), DBL_MAX);
    if (!target.found)
        return 0;
    point there = descend(&way, target.above, target.below, LEFT_OVER, FINE);
    if (there.d > 0 && zero.found) { /* A2: is the end of the slope an edge, or a tail without digits? */
        point t2 = there.d > second ? descend(&way, there, zero.below, second, ROUGH) : there;
        if (look(&way, t2.u + 4 * (t2.u - there.u)).d <= 0)
            there = descend(&way, there, zero.below, 0, FINE);
    }
    return fmin(there.u / fabs(g), DBL_MAX);
}
