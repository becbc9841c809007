/* What an optimiser sees: rows in memory, a loss, and weights as one table of doubles.
 *
 * Weights are [slots x outputs], slot 0 the intercept, slot i + 1 feature i. The gradient of a row is g_k x for output
 * k, so that one number an output and the row's entries are all there is to it. */
#ifndef GSA_BASELINE_PROBLEM_H
#define GSA_BASELINE_PROBLEM_H

#include "core/loss/loss.h"

typedef struct gsa__problem {
    const gsa_batch *rows;   /* sparse rows; ids below n_features */
    const uint32_t *classes; /* by row; NULL for a loss of numbers, which takes rows->label */
    const gsa__loss *loss;
    size_t n_features;
    size_t n_outputs; /* 1, or the number of classes */
    bool intercept;
} gsa__problem;

static inline size_t gsa__problem_slots(const gsa__problem *problem)
{
    return problem->n_features + 1;
}

static inline size_t gsa__problem_cells(const gsa__problem *problem)
{
    return gsa__problem_slots(problem) * problem->n_outputs;
}

/* One term of a row: x of a slot. The intercept is a term like any other. */
typedef struct gsa__term {
    size_t slot;
    double x;
} gsa__term;

/* The terms of a row, into an array with room for the longest row and the intercept; their number. */
size_t gsa__problem_terms(const gsa__problem *problem, size_t row, gsa__term *terms);
/* Room that gsa__problem_terms needs. */
size_t gsa__problem_longest(const gsa__problem *problem);

/* Margins of a row of the given terms, n_outputs of them. */
void gsa__problem_margins(const gsa__problem *problem, const double *w, const gsa__term *terms, size_t n_terms,
                          double *margins);
/* Turns the margins into gradient scales g_k, in place; returns the row's loss and greedy step. */
gsa__greedy_step gsa__problem_gradient(const gsa__problem *problem, size_t row, double *margins_to_g);

#endif
