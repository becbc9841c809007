/* exp, log and friends, the same bits on every machine.
 *
 * libm differs between systems and releases; whatever enters a model or the order of rows must not. Plain double
 * arithmetic, no fused multiply-add (the build has -ffp-contract=off), no tables, no branches on the machine.
 * Accuracy, checked by tests against 50-digit values: below 2 ulp on the stated domains. */
#ifndef GSA_BASE_REAL_H
#define GSA_BASE_REAL_H

/* Returns e^x: 0 below -745.2, +infinity above 709.79, NaN for NaN. */
double gsai_exp(double x);
/* Returns e^x - 1, accurate also near 0. */
double gsai_expm1(double x);
/* Returns the natural logarithm: -infinity at 0, NaN below, +infinity at +infinity. */
double gsai_log(double x);
/* Returns log(1 + x), accurate also near 0. */
double gsai_log1p(double x);

/* Returns 1 / (1 + e^-x): never NaN for a number, exactly 0 or 1 only if no double is nearer. */
double gsai_sigmoid(double x);
/* Computes the sigmoids of -x and of x, at the cost of one. */
void gsai_sigmoids(double x, double both[2]);
/* Returns log(1 + e^x) without overflow: the logistic loss of a margin -x. */
double gsai_softplus(double x);

#endif
