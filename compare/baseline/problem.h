/* The problem of an optimiser: rows in memory, a loss, and weights as one table of doubles.
 *
 * Weights are [slots x outputs], slot 0 the intercept, slot i + 1 feature i. The gradient of a row is g_k x for output
 * k, so that one number per output and the row's entries are all there is to it. */
#ifndef GSA_BASELINE_PROBLEM_H
#define GSA_BASELINE_PROBLEM_H

#include "learn/loss/loss.h"

typedef struct gsai_problem {
    const gsa_batch *rows;   /* sparse rows; ids below n_features */
    const uint32_t *classes; /* by row; NULL for a loss of numbers, which takes rows->label */
    const gsai_loss *loss;
    size_t n_features;
    size_t n_outputs; /* 1, or the number of classes */
    bool intercept;
} gsai_problem;

static inline size_t gsai_problem_slots(const gsai_problem *problem)
{
    return problem->n_features + 1;
}

static inline size_t gsai_problem_cells(const gsai_problem *problem)
{
    return gsai_problem_slots(problem) * problem->n_outputs;
}

/* One term of a row: x of a slot. The intercept is a term like any other. */
typedef struct gsai_term {
    size_t slot;
    double x;
} gsai_term;

/* Fills in the terms of a row; the array has room for the longest row and the intercept. Returns their number. */
size_t gsai_problem_terms(const gsai_problem *problem, size_t row, gsai_term *terms);
/* Returns the room that gsai_problem_terms needs. */
size_t gsai_problem_longest(const gsai_problem *problem);

/* Margins of a row of the given terms, n_outputs of them. */
void gsai_problem_margins(const gsai_problem *problem, const double *w, const gsai_term *terms, size_t n_terms,
                          double *margins);
/* Turns the margins into gradient scales g_k, in place; returns the row's loss and greedy step. */
gsai_greedy_step gsai_problem_gradient(const gsai_problem *problem, size_t row, double *margins_to_g);

#endif
