/* The losses: value, gradient scale and greedy step of one row, as functions of its margins.
 *
 * Notation as in the paper (arXiv 1611.03608): margin m = w.x, xx = x.x, probability p, label y or class k. The
 * gradient of the loss is g x (softmax: g_j x for class j). A greedy step eta would bring this one row to its target;
 * the functions return lambda = eta xx, which does not depend on the length of the row. The target of a probability is
 * P_HAT, fixed.
 *
 * All functions are total over finite arguments: no NaN, and no overflow for margins up to 1e300, but for the squared
 * losses, which are infinite where |y - m| or h is above 1.3e154. */
#ifndef GSA_CORE_LOSS_H
#define GSA_CORE_LOSS_H

#include <greedystep/greedystep.h>

#include <stdbool.h>

#define GSA__P_HAT 0.95

/* squared.c: loss 1/2 (y - m)^2, g = m - y. Its greedy step is exact: lambda = 1. */
double gsa__squared_loss(double m, double y);

/* logistic.c: y is 0 or 1. */
typedef struct gsa__logistic_row {
    double loss;   /* log(1 + e^-sm), s = 2y - 1 */
    double g;      /* p1 - y, to full relative accuracy */
    double rest;   /* 1 - p_y, likewise: |g| */
    double lambda; /* the paper's approximation, used by Algorithm 1; in [-0.062, 1.232] */
} gsa__logistic_row;
gsa__logistic_row gsa__logistic(double m, int y);
double gsa__logistic_loss(double m, int y);

/* softmax.c: K classes, K >= 1, k in [0, K). */
typedef struct gsa__softmax_row {
    double loss;   /* log(sum_j e^m_j) - m_k */
    double rest;   /* 1 - p_k, to full relative accuracy; the gradient scale of class k is -rest */
    double lambda; /* the paper's approximation */
} gsa__softmax_row;
/* Turns the K margins into probabilities, in place, each to full relative accuracy. */
gsa__softmax_row gsa__softmax(double *m_to_p, size_t n_classes, size_t k);
/* Only the probabilities, in place. */
void gsa__softmax_probabilities(double *m_to_p, size_t n_classes);

/* hinge.c: h = max(0, 1 - z), or squared h^2 / 2. Two classes by one output, y is 0 or 1. */
typedef struct gsa__hinge_row {
    double loss;
    double g;      /* gradient scale; of several outputs that of the highest rival, and -g that of class k */
    double lambda; /* exact: the row's own minimiser; 0 beyond the margin */
} gsa__hinge_row;
gsa__hinge_row gsa__hinge(double m, int y, bool squared);
/* K classes, one output each: turns the margins into gradient scales, in place. */
gsa__hinge_row gsa__hinge_many(double *m_to_g, size_t n_classes, size_t k, bool squared);
/* Only the loss; k beyond the classes is one that the weights say nothing of, margin 0. */
double gsa__hinge_many_loss(const double *m, size_t n_classes, size_t k, bool squared);

/* search.c: Algorithm 2 for a loss that is known only as two functions of the margin. g = l'(m). The minimiser of
 * l(m - lambda g) over lambda >= 0 if there is one within 2^60 max(1, |m|); else (a loss that falls for ever) the point
 * where |l'| has come down to 1 - P_HAT of |g|. 0 for g = 0 and for a straight line. */
double gsa__search_lambda(const gsa_margin_loss *loss, double m, double y, double g);

/* heavy.c: the number of plain steps of length e = eta xx > 0 that a row of weight c > 1 moves by. */
double gsa__squared_repeats(double e, double c);
/* Of one output or several; lambda > 0 is the row's greedy step. */
double gsa__hinge_repeats(double lambda, double e, double c, bool squared);
/* rest = 1 - p of the row's own class. */
double gsa__logistic_repeats(double m, int y, double rest, double e, double c);
/* p: the probabilities of all classes; that of k is not looked at. */
double gsa__softmax_repeats(const double *p, size_t n_classes, size_t k, double loss, double rest, double e, double c);
double gsa__custom_repeats(const gsa_margin_loss *loss, double m, double y, double g, double e, double c);

#endif
