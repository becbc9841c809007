/* Designs of given rows, and rows in another order or several times. */
#ifndef TESTS_UNIT_SOLVE_DESIGNS_H
#define TESTS_UNIT_SOLVE_DESIGNS_H

#include "numbers.h"

#include "solve/design.h"

#include "base/memory.h"

/* Parameters are given as name, value, ..., NULL. */
static inline gsai_design design_of(const rows *r, const char *const *params)
{
    gsa_error error = {0};
    gsa_config *config = NULL;
    gsa_state *state = NULL;
    gsa_batch batch = rows_batch(r);
    gsai_design design;
    batch.weight = r->weight;
    must_be_ok(gsa_config_new(NULL, &config, &error), &error);
    for (; *params; params += 2)
        must_be_ok(gsa_config_set(config, params[0], params[1], &error), &error);
    must_be_ok(gsa_state_new(config, NULL, &state, &error), &error);
    prepare(state, &batch);
    must_be_ok(gsai_state_wait(state, &batch, NULL, batch.n_rows, NULL, false, &(size_t){0}, &error), &error);
    must_be_ok(gsai_design_make(&design, gsai_state_waiting(state), state, &error), &error);
    gsa_state_free(state);
    gsa_config_free(config);
    return design;
}

#define DESIGN(rows, ...) design_of(rows, (const char *const[]){__VA_ARGS__, NULL})

static inline void rows_copy(rows *to, const rows *from, size_t row)
{
    for (int64_t e = from->row_start[row]; e < from->row_start[row + 1]; e++)
        rows_entry(to, from->index[e], from->value[e]);
    rows_end(to, from->label[row]);
    to->weight[to->n_rows - 1] = from->weight[row];
}

/* The same rows in another order. */
static inline rows *rows_shuffled(const rows *from, uint64_t seed)
{
    size_t *order = calloc(from->n_rows + 1, sizeof *order);
    rows *r = rows_new();
    for (size_t i = 0; i < from->n_rows; i++) {
        size_t at = (size_t)(unit_at(seed, i) * (double)(i + 1));
        order[i] = order[at];
        order[at] = i;
    }
    for (size_t i = 0; i < from->n_rows; i++)
        rows_copy(r, from, order[i]);
    free(order);
    return r;
}

/* All rows n times, in another order. */
static inline rows *rows_times(const rows *from, size_t n)
{
    rows *all = rows_new(), *r;
    for (size_t i = 0; i < n; i++)
        for (size_t row = 0; row < from->n_rows; row++)
            rows_copy(all, from, row);
    r = rows_shuffled(all, n);
    free(all);
    return r;
}

/* Weights between 1/4 and 4, by the features and label of a row and its number among equal ones. */
static inline void rows_weigh(rows *r)
{
    for (size_t i = 0; i < r->n_rows; i++)
        r->weight[i] = (float)(0.25 * pow(16, unit_at(77, i)));
}

#endif
