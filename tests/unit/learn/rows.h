/* Small batches for tests: rows written by hand or drawn from a fixed generator. */
#ifndef TESTS_UNIT_CORE_ROWS_H
#define TESTS_UNIT_CORE_ROWS_H

#include "base/rows.h" /* before the name `rows` is taken */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <greedystep/distributed.h>
#include <greedystep/greedystep.h>

#include "base/rng.h"
#include "learn/state.h"
#include "support/env.h"

#ifndef MAX_ROWS
#define MAX_ROWS 4096
#endif
#define MAX_ENTRIES (MAX_ROWS * 16)

typedef struct rows {
    int64_t row_start[MAX_ROWS + 1];
    uint32_t index[MAX_ENTRIES];
    float value[MAX_ENTRIES];
    double label[MAX_ROWS];
    float weight[MAX_ROWS];
    size_t n_rows, n_entries;
} rows;

static inline rows *rows_new(void)
{
    return calloc(1, sizeof(rows));
}

static inline void rows_entry(rows *r, uint32_t id, float value)
{
    r->index[r->n_entries] = id;
    r->value[r->n_entries++] = value;
}

static inline void rows_end(rows *r, double label)
{
    r->label[r->n_rows] = label;
    r->weight[r->n_rows] = 1;
    r->row_start[++r->n_rows] = (int64_t)r->n_entries;
}

static inline gsa_batch rows_batch(const rows *r)
{
    gsa_batch batch = {0};
    batch.n_rows = r->n_rows;
    batch.row_start = r->row_start;
    batch.index = r->index;
    batch.value = r->value;
    batch.label = r->label;
    return batch;
}

/* A source of rows (gsa_row_source) that come once; ctx points to a pointer to them. */
static inline gsa_status rows_next(void *ctx, gsa_batch *out, gsa_error *error)
{
    (void)error;
    const rows **left = ctx;
    if (!*left)
        return GSA_END;
    *out = rows_batch(*left);
    *left = NULL;
    return GSA_OK;
}

/* Rows [from, from + n) of a batch. */
static inline gsa_batch rows_slice(const gsa_batch *batch, size_t from, size_t n)
{
    gsa_batch delta = *batch;
    delta.n_rows = n;
    delta.row_start += from;
    delta.label += from;
    if (delta.word)
        delta.word += from;
    if (delta.weight)
        delta.weight += from;
    if (delta.place)
        delta.place += from;
    return delta;
}

/* n rows of up to 8 ascending features out of n_features, values in (-2, 2), classes planted by a linear rule. */
static inline rows *rows_random(uint64_t seed, size_t n, uint32_t n_features, unsigned n_classes)
{
    rows *r = rows_new();
    gsai_rng rng = gsai_rng_of(seed, 7, 7);
    for (size_t i = 0; i < n; i++) {
        double score[8] = {0};
        uint32_t id = (uint32_t)gsai_rng_below(&rng, 3);
        for (int e = 0; e < 8 && id < n_features; e++) {
            float x = (float)(gsai_rng_unit(&rng) * 4 - 2);
            rows_entry(r, id, x);
            for (unsigned k = 0; k < n_classes && k < 8; k++)
                score[k] += (double)x * ((double)((id * 7919u + k * 104729u) % 13u) - 6);
            id += 1 + (uint32_t)gsai_rng_below(&rng, n_features / 6 + 1);
        }
        unsigned best = 0;
        for (unsigned k = 1; k < n_classes && k < 8; k++)
            if (score[k] + gsai_rng_unit(&rng) > score[best])
                best = k;
        rows_end(r, n_classes ? (double)best : score[0] / 10 + gsai_rng_unit(&rng) / 4);
    }
    return r;
}

/* A row in full, x[n_features] being the 1 of the intercept. */
static inline void rows_dense(const gsa_batch *batch, size_t row, size_t n_features, double *x)
{
    memset(x, 0, n_features * sizeof *x);
    x[n_features] = 1;
    for (int64_t e = batch->row_start[row]; e < batch->row_start[row + 1]; e++)
        x[batch->index[e]] = (double)batch->value[e];
}

/* cmocka's assert_float_equal rounds to float. */
static inline void assert_close(double value, double expected, double tolerance)
{
    if (!(value >= expected - tolerance && value <= expected + tolerance))
        fail_msg("%.17g, expected %.17g within %g", value, expected, tolerance);
}

static inline void must_be_ok(gsa_status status, const gsa_error *error)
{
    if (status != GSA_OK)
        fail_msg("status %d: %s", (int)status, error->message);
}

static inline gsa_config *config_of(const char *method, const char *name, va_list args)
{
    gsa_error error = {0};
    gsa_config *config = NULL;
    must_be_ok(gsa_config_new(NULL, &config, &error), &error);
    must_be_ok(gsa_config_set(config, "method", method, &error), &error);
    for (; name; name = va_arg(args, const char *))
        must_be_ok(gsa_config_set(config, name, va_arg(args, const char *), &error), &error);
    return config;
}

/* Parameters given as name, value, name, value, NULL. */
static inline gsa_config *config_with(const char *name, ...)
{
    va_list args;
    va_start(args, name);
    gsa_config *config = config_of("auto", name, args);
    va_end(args);
    return config;
}

/* A state with parameters given likewise. Laws of a state are tested with the plain method, unless a test names
 * another. */
static inline gsa_state *state_with(const char *name, ...)
{
    gsa_error error = {0};
    gsa_state *state = NULL;
    va_list args;
    va_start(args, name);
    gsa_config *config = config_of("paper", name, args);
    va_end(args);
    must_be_ok(gsa_state_new(config, NULL, &state, &error), &error);
    gsa_config_free(config);
    return state;
}

static inline void end_pass(gsa_state *state)
{
    gsa_error error = {0};
    must_be_ok(gsa_state_end_pass(state, &error), &error);
}

static inline void learn(gsa_state *state, const gsa_batch *batch)
{
    gsa_error error = {0};
    must_be_ok(gsai_state_learn_rows(state, batch, NULL, batch->n_rows, &error), &error);
}

/* Lets the first rows wait, as all callers of the library do. */
static inline void update(gsa_state *state, const gsa_batch *batch)
{
    gsa_error error = {0};
    must_be_ok(gsa_state_update(state, batch, &error), &error);
}

/* Learns what waits, for tests that look at the weights themselves. */
static inline void close_group(gsa_state *state)
{
    gsa_error error = {0};
    must_be_ok(gsa_state_close_group(state, &error), &error);
}

static inline void learn_random(gsa_state *state, uint64_t seed, size_t n, uint32_t n_features, unsigned n_classes)
{
    rows *r = rows_random(seed, n, n_features, n_classes);
    gsa_batch batch = rows_batch(r);
    learn(state, &batch);
    free(r);
}

/* Labels and loss, by the rows of a batch. */
static inline void prepare(gsa_state *state, const gsa_batch *batch)
{
    gsa_error error = {0};
    must_be_ok(gsa_state_prepare(state, batch, &error), &error);
}

static inline gsa_summary state_summary(const gsa_state *state)
{
    gsa_summary summary = {.size = sizeof summary};
    gsa_state_get_summary(state, &summary);
    return summary;
}

/* One of so many copies that go on from the base. */
static inline gsa_state *forked(const gsa_state *base, size_t n_copies)
{
    gsa_error error = {0};
    gsa_state *copy = NULL;
    must_be_ok(gsa_state_fork(base, n_copies, &copy, &error), &error);
    return copy;
}

/* A new run with the parameters of the old one. */
static inline gsa_state *started_from(const gsa_state *from)
{
    gsa_error error = {0};
    gsa_state *state = NULL;
    must_be_ok(gsa_state_start_from(from, NULL, &state, &error), &error);
    return state;
}

static inline gsa_state *merged(const gsa_state *const *states, size_t n, const gsa_state *base)
{
    gsa_error error = {0};
    gsa_state *out = NULL;
    must_be_ok(gsa_state_merge(states, n, base, NULL, &out, &error), &error);
    return out;
}

static inline gsa_state *merged_two(const gsa_state *a, const gsa_state *b, const gsa_state *base)
{
    return merged((const gsa_state *[]){a, b}, 2, base);
}

static inline void free_each_state(gsa_state *const *states, size_t n)
{
    for (size_t i = 0; i < n; i++)
        gsa_state_free(states[i]);
}

#define free_states(...) \
    free_each_state((gsa_state *[]){__VA_ARGS__}, sizeof((gsa_state *[]){__VA_ARGS__}) / sizeof(gsa_state *))

static inline gsa_model *model_of(const gsa_state *state)
{
    gsa_error error = {0};
    gsa_model *model = NULL;
    must_be_ok(gsa_state_finish(state, NULL, &model, &error), &error);
    return model;
}

/* Half the squared error, as a loss of the caller's. */
static inline double half_square(void *ctx, double m, double y)
{
    (void)ctx;
    return 0.5 * (m - y) * (m - y);
}

static inline double half_square_slope(void *ctx, double m, double y)
{
    (void)ctx;
    return m - y;
}

#endif
