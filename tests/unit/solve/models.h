/* Models of given rows, trained as the engine trains. */
#ifndef TESTS_UNIT_SOLVE_MODELS_H
#define TESTS_UNIT_SOLVE_MODELS_H

#include "designs.h" /* which says how many rows there may be */

#include "../learn/bytes.h"

#include <greedystep/train.h>

/* A source of rows for a reader. */
typedef struct source {
    const rows *rows;
    size_t at;
} source;

static inline gsa_status source_next(void *ctx, gsa_batch *out, gsa_error *error)
{
    source *s = ctx;
    gsa_batch all = rows_batch(s->rows);
    size_t left = s->rows->n_rows - s->at, n = left < 700 ? left : 700;
    (void)error;
    if (left == 0)
        return GSA_END;
    all.weight = s->rows->weight;
    *out = rows_slice(&all, s->at, n);
    s->at += n;
    return GSA_OK;
}

static inline gsa_status source_rewind(void *ctx, gsa_error *error)
{
    (void)error;
    ((source *)ctx)->at = 0;
    return GSA_OK;
}

/* Trains; parameters are given as name, value, ..., NULL. *out is NULL after a failure. */
static inline gsa_status try_training(const rows *r, const char *const *params, const gsai_env *env, gsa_state **out,
                                      gsa_error *error)
{
    source from = {r, 0};
    const gsa_row_source source_of = {
        .size = sizeof source_of, .ctx = &from, .next = source_next, .rewind = source_rewind};
    gsa_config *config = NULL;
    gsa_reader *reader = NULL;
    *out = NULL;
    gsa_status status = gsa_config_new(memory_of(env), &config, error);
    for (; status == GSA_OK && *params; params += 2)
        status = gsa_config_set(config, params[0], params[1], error);
    if (status == GSA_OK)
        status = gsa_state_new(config, memory_of(env), out, error);
    if (status == GSA_OK)
        status = gsa_reader_open_rows(&source_of, memory_of(env), call_of(env), &reader, error);
    if (status == GSA_OK)
        status = gsa_train(*out, reader, NULL, call_of(env), error);
    gsa_reader_close(reader);
    gsa_config_free(config);
    if (status != GSA_OK) {
        gsa_state_free(*out);
        *out = NULL;
    }
    return status;
}

static inline gsa_state *trained_state(const rows *r, const char *const *params)
{
    gsa_error error = {0};
    gsa_state *state;
    must_be_ok(try_training(r, params, NULL, &state, &error), &error);
    return state;
}

static inline gsa_model *trained_model(const rows *r, const char *const *params)
{
    gsa_state *state = trained_state(r, params);
    gsa_model *model = model_of(state);
    gsa_state_free(state);
    return model;
}

#define STATE(rows, ...) trained_state(rows, (const char *const[]){__VA_ARGS__, NULL})
#define MODEL(rows, ...) trained_model(rows, (const char *const[]){__VA_ARGS__, NULL})

static inline gsa_model_info info_of(const gsa_model *model)
{
    gsa_model_info info = {.size = sizeof info};
    gsa_model_get_info(model, &info);
    return info;
}

/* What a model says of all rows: a probability per class, a number, or for hinge losses the margins. */
static inline double *predictions(const gsa_model *model, const rows *r, size_t *n)
{
    gsa_error error = {0};
    gsa_batch batch = rows_batch(r);
    gsa_model_info info = info_of(model);
    bool has_margins = info.n_classes > 0 && !info.has_probabilities;
    *n = r->n_rows * (size_t)(has_margins ? info.n_outputs : info.n_classes > 0 ? info.n_classes : 1);
    double *out = calloc(*n + 1, sizeof *out);
    must_be_ok((has_margins ? gsa_model_margins : gsa_model_predict)(model, &batch, out, &error), &error);
    return out;
}

static inline void assert_finite_model(const gsa_model *model, const rows *r)
{
    gsa_model_info info = info_of(model);
    size_t n, n_outputs = (size_t)info.n_outputs;
    double *p = predictions(model, r, &n);
    for (size_t i = 0; i < n; i++)
        assert_true(isfinite(p[i]));
    for (size_t k = 0; k < n_outputs; k++) {
        assert_true(isfinite(gsa_model_intercept(model, k)));
        for (uint64_t j = 0; j < info.n_features; j++)
            assert_true(isfinite(gsa_model_weight(model, j, k)));
    }
    free(p);
}

#endif
