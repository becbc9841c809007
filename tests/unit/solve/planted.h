/* Rows with a rule in them, and the data sets that whole solutions are tested with. */
#ifndef TESTS_UNIT_SOLVE_PLANTED_H
#define TESTS_UNIT_SOLVE_PLANTED_H

#include "models.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* n rows of d features, each present in a share of them, multiples of 1/16; n_classes 0: numbers to predict. */
static inline rows *planted(size_t n, uint32_t d, double share, size_t n_classes)
{
    rows *r = rows_new();
    for (size_t i = 0; i < n; i++) {
        double score[8] = {0};
        for (uint32_t j = 0; j < d; j++) {
            if (unit_at(61, i * d + j) >= share)
                continue;
            float x = (float)(round(normal_at(62, i * d + j) * 16) / 16);
            x = x == 0 ? 0.0625F : x;
            rows_entry(r, j, x);
            for (size_t k = 0; k < 8; k++)
                score[k] += (double)x * normal_at(63, j * 8 + k) / sqrt(share * d);
        }
        size_t best = 0;
        for (size_t k = 0; k < n_classes; k++) {
            score[k] += normal_at(64, i * 8 + k) / 2;
            best = score[k] > score[best] ? k : best;
        }
        rows_end(r, n_classes ? (double)best : 3 + score[0] + normal_at(64, i) / 4);
    }
    return r;
}

/* Four kinds of rows, n_each of each; the label of kind k is 1 in a share of them that no factor divides. */
static inline rows *four_kinds(size_t n_each)
{
    rows *r = rows_new();
    static const double share[] = {0.111, 0.362, 0.604, 0.928};
    for (size_t i = 0; i < 4 * n_each; i++) {
        size_t kind = i % 4;
        rows_entry(r, 0, kind & 1 ? 1 : -1);
        rows_entry(r, 1, kind & 2 ? 1 : -1);
        rows_entry(r, 2, kind == 3 ? 1 : -1);
        rows_end(r, (double)(i / 4) < share[kind] * (double)n_each);
    }
    return r;
}

typedef struct data {
    size_t n;
    uint32_t d;
    double share;
    size_t n_classes;
    const char *loss;
} data;

/* Dense and sparse rows; few rows, and more than the sample has; a factored inverse and a diagonal one; and rows for
 * dual sweeps. */
static const data DATA[] = {
    {300, 6, 1, 2, "logistic"},       {250, 40, 0.1, 2, "logistic"},  {60, 40, 1, 2, "logistic"},
    {4500, 4, 1, 2, "logistic"},      {300, 6, 1, 4, "softmax"},      {4200, 12, 0.2, 3, "softmax"},
    {200, 1500, 0.005, 3, "softmax"}, {300, 6, 1, 0, "squared"},      {250, 40, 0.1, 0, "squared"},
    {300, 6, 1, 2, "squared_hinge"},  {200, 6, 1, 3, "squared_hinge"}};

static inline rows *rows_of(const data *of)
{
    return planted(of->n, of->d, of->share, of->n_classes);
}

#endif
