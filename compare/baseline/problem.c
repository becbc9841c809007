/* Rows, margins and gradients for the optimisers. */
#include "baseline/problem.h"

size_t gsai_problem_terms(const gsai_problem *problem, size_t row, gsai_term *terms)
{
    const gsa_batch *rows = problem->rows;
    size_t n = 0;
    if (problem->intercept)
        terms[n++] = (gsai_term){0, 1};
    for (int64_t e = rows->row_start[row]; e < rows->row_start[row + 1]; e++) {
        double x = rows->value ? (double)rows->value[e] : 1;
        if (x != 0)
            terms[n++] = (gsai_term){(size_t)rows->index[e] + 1, x};
    }
    return n;
}

size_t gsai_problem_longest(const gsai_problem *problem)
{
    int64_t longest = 0;
    for (size_t row = 0; row < problem->rows->n_rows; row++) {
        int64_t n = problem->rows->row_start[row + 1] - problem->rows->row_start[row];
        longest = n > longest ? n : longest;
    }
    return (size_t)longest + 1;
}

void gsai_problem_margins(const gsai_problem *problem, const double *w, const gsai_term *terms, size_t n_terms,
                          double *margins)
{
    size_t n_outputs = problem->n_outputs;
    for (size_t k = 0; k < n_outputs; k++)
        margins[k] = 0;
    for (size_t i = 0; i < n_terms; i++) {
        const double *weights = w + terms[i].slot * n_outputs;
        for (size_t k = 0; k < n_outputs; k++)
            margins[k] += weights[k] * terms[i].x;
    }
}

gsai_greedy_step gsai_problem_gradient(const gsai_problem *problem, size_t row, double *margins_to_g)
{
    gsai_target target = {.class_number = problem->classes ? problem->classes[row] : 0, .y = problem->rows->label[row]};
    return problem->loss->greedy_step(margins_to_g, problem->n_outputs, &target);
}
