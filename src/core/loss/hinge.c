/* The hinge losses: classes told apart by a margin of 1, as linear support vector machines do.
 *
 * One output for two classes, z = m for the second label and -m for the first: h = max(0, 1 - z).
 * One output a class (Crammer, Singer 2001): h = max(0, 1 + max_{j != k} m_j - m_k), whose gradient has the scale +1 at
 * that rival j, the first of equal ones, and -1 at k. With m = m_1 - m_0 both are the same for two classes.
 * The loss is h, or squared h^2 / 2, whose gradient is h times as large. The greedy step is Algorithm 2's, exact: the
 * least step that brings h to 0, as long as no other class becomes the rival on the way; h never rises on it, since it
 * raises m_k and no other margin. Rows beyond the margin have nothing to gain: step 0. */
#include "core/loss/loss.h"

#include <math.h>

gsa__hinge_row gsa__hinge(double m, int y, bool squared)
{
    double h = fmax(0.0, 1.0 - (y ? m : -m)), sign = y ? -1.0 : 1.0;
    if (h == 0)
        return (gsa__hinge_row){0, 0, 0};
    return squared ? (gsa__hinge_row){0.5 * h * h, sign * h, 1} : (gsa__hinge_row){h, sign, h};
}

/* The first of the highest classes but k; n_classes if there is no other. */
static size_t rival_of(const double *m, size_t n_classes, size_t k)
{
    size_t rival = n_classes;
    for (size_t j = 0; j < n_classes; j++)
        if (j != k && (rival == n_classes || m[j] > m[rival]))
            rival = j;
    return rival;
}

/* One class only has no rival and is fitted. */
static double shortfall(const double *m, size_t n_classes, size_t k, size_t rival)
{
    return rival == n_classes ? 0.0 : fmax(0.0, 1.0 + (m[rival] - (k < n_classes ? m[k] : 0.0)));
}

gsa__hinge_row gsa__hinge_many(double *m_to_g, size_t n_classes, size_t k, bool squared)
{
    size_t rival = rival_of(m_to_g, n_classes, k);
    double h = shortfall(m_to_g, n_classes, k, rival);
    double g = h == 0 ? 0.0 : squared ? h : 1.0;
    for (size_t j = 0; j < n_classes; j++)
        m_to_g[j] = j == rival ? g : j == k ? -g : 0.0;
    if (h == 0)
        return (gsa__hinge_row){0, 0, 0};
    return squared ? (gsa__hinge_row){0.5 * h * h, g, 0.5} : (gsa__hinge_row){h, g, 0.5 * h};
}

double gsa__hinge_many_loss(const double *m, size_t n_classes, size_t k, bool squared)
{
    double h = shortfall(m, n_classes, k, rival_of(m, n_classes, k));
    return squared ? 0.5 * h * h : h;
}
