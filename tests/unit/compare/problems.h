/* Small problems for the tests of the baselines, orders of their rows, and runs over them. */
#ifndef TESTS_UNIT_BASELINE_PROBLEMS_H
#define TESTS_UNIT_BASELINE_PROBLEMS_H

#include "unit/learn/rows.h"

#include "baseline/optimizer.h"

typedef struct toy {
    rows *rows;
    gsa_batch batch;
    uint32_t *classes;
    uint32_t *order;
    gsai_problem problem;
} toy;

/* Takes the rows over; classes are their labels. The order is that of the rows. */
static inline toy *toy_of(rows *r, const gsai_loss *loss, size_t n_features, size_t n_outputs, bool intercept)
{
    toy *made = calloc(1, sizeof *made);
    made->rows = r;
    made->batch = rows_batch(r);
    made->classes = calloc(r->n_rows + 1, sizeof *made->classes);
    made->order = calloc(r->n_rows + 1, sizeof *made->order);
    for (size_t i = 0; i < r->n_rows; i++) {
        made->classes[i] = loss == &gsai_loss_squared ? 0 : (uint32_t)r->label[i];
        made->order[i] = (uint32_t)i;
    }
    made->problem = (gsai_problem){.rows = &made->batch,
                                   .classes = loss == &gsai_loss_squared ? NULL : made->classes,
                                   .loss = loss,
                                   .n_features = n_features,
                                   .n_outputs = n_outputs,
                                   .intercept = intercept};
    return made;
}

static inline void toy_free(toy *made)
{
    free(made->rows);
    free(made->classes);
    free(made->order);
    free(made);
}

/* Sparse rows with a planted rule and some noise: labels of classes, or numbers for squared loss. */
static inline toy *toy_random(uint64_t seed, const gsai_loss *loss, size_t n_rows, uint32_t n_features, bool intercept)
{
    size_t n_outputs = loss == &gsai_loss_softmax ? 4 : 1;
    rows *r = rows_random(seed, n_rows, n_features, loss == &gsai_loss_softmax ? 4 : 2);
    gsai_rng rng = gsai_rng_of(seed, 8, 8);
    for (size_t i = 0; i < n_rows; i++) {
        double score = 0;
        for (int64_t e = r->row_start[i]; e < r->row_start[i + 1]; e++)
            score += (double)r->value[e] * ((double)(r->index[e] % 7u) - 3);
        if (loss == &gsai_loss_squared)
            r->label[i] = score / 3 + gsai_rng_unit(&rng);
        else if (gsai_rng_below(&rng, 10) == 0) /* nothing that can be separated */
            r->label[i] = (double)gsai_rng_below(&rng, n_outputs == 1 ? 2 : n_outputs);
    }
    return toy_of(r, loss, n_features, n_outputs, intercept);
}

/* Another permutation for every pass. */
static inline void toy_shuffle(toy *t, uint64_t pass)
{
    gsai_rng rng = gsai_rng_of(pass, 5, 5);
    for (size_t i = t->batch.n_rows; i > 1; i--) {
        size_t j = (size_t)gsai_rng_below(&rng, i);
        uint32_t swapped = t->order[i - 1];
        t->order[i - 1] = t->order[j];
        t->order[j] = swapped;
    }
}

static inline size_t toy_cells(const toy *t)
{
    return gsai_problem_slots(&t->problem) * t->problem.n_outputs;
}

static inline gsai_optimizer *optimizer_of(const toy *t, const char *text, uint64_t seed)
{
    gsa_error error = {0};
    const gsai_method *method = NULL;
    double knobs[GSAI_KNOBS];
    gsai_optimizer *o = NULL;
    must_be_ok(gsai_method_parse(text, &method, knobs, &error), &error);
    must_be_ok(gsai_optimizer_new(method, knobs, &t->problem, seed, NULL, &o, &error), &error);
    return o;
}

static inline void pass_over(gsai_optimizer *o, const toy *t)
{
    gsa_error error = {0};
    must_be_ok(gsai_optimizer_pass(o, t->order, t->batch.n_rows, &error), &error);
}

/* The mean loss of all rows under weights. */
static inline double toy_loss(const toy *t, const double *w)
{
    gsai_optimizer *o = optimizer_of(t, "sgd:1", 0);
    double sum = 0;
    for (size_t i = 0; i < t->batch.n_rows; i++)
        sum += gsai_optimizer_gradient(o, w, i).loss;
    gsai_optimizer_free(o);
    return sum / (double)t->batch.n_rows;
}

#endif
