/* Row weights are repetitions: rows with weights 1 to 50 beside the same rows repeated as often and shuffled, as a file
 * (learned in memory) or as a stream (one learner, one pass). Compares the loss over the weighted rows and the weights
 * of the two models, and demands equal bits where all weights are twice as large.
 *
 *   weights file|stream ROWS LOSS     prints the figures; 1 if they are out of bounds */
#include "base/rng.h"

#include <greedystep/train.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FEATURES = 6, CLASSES = 4, CHUNK = 4096 };

typedef struct data {
    size_t n, n_listed, at; /* rows; entries of the list, and where a reader is in it */
    float *x, *weight;
    double *label;
    uint32_t *list; /* which row comes when; NULL: each once, in order */
    float *row, *row_weight;
    double *row_label;
    float factor;
} data;

/* How far the two may be apart: loss, weights, as shares. */
static const struct bound {
    const char *loss;
    double file[2], stream[2];
} bounds[] = {{"squared", {0.01, 0.05}, {0.02, 0.1}},
              {"logistic", {0.01, 0.05}, {0.02, 0.1}},
              {"softmax", {0.01, 0.05}, {0.02, 0.1}},
              {"hinge", {0.01, 0.05}, {0.02, 0.1}},
              {"squared_hinge", {0.01, 0.05}, {0.02, 0.1}}};

static void check(gsa_status status, const gsa_error *error)
{
    if (status != GSA_OK) {
        fprintf(stderr, "weights: %s\n", error->message);
        exit(2);
    }
}

static double normal(gsai_rng *rng)
{
    double r = sqrt(-2 * log(1 - gsai_rng_unit(rng)));
    return r * cos(6.283185307179586 * gsai_rng_unit(rng));
}

static double label_of(const char *loss, const float *x, gsai_rng *rng)
{
    static const double planted[] = {1.1, -0.8, 0.6, -0.4, 0.9, 0.2};
    double m = 0.3, best = -INFINITY, label = 0;
    for (size_t j = 0; j < FEATURES; j++)
        m += planted[j] * (double)x[j];
    if (strcmp(loss, "squared") == 0)
        return m + 0.7 * normal(rng);
    if (strcmp(loss, "softmax") != 0)
        return gsai_rng_unit(rng) < 1 / (1 + exp(-m));
    for (size_t k = 0; k < CLASSES; k++) {
        double score = -log(-log(gsai_rng_unit(rng)));
        for (size_t j = 0; j < FEATURES; j++)
            score += planted[(j + k) % FEATURES] * (double)x[j];
        label = score > best ? (double)k : label;
        best = score > best ? score : best;
    }
    return label;
}

static void draw(data *d, const char *loss, size_t n)
{
    gsai_rng rng = gsai_rng_of(1, 2, 3);
    d->n = n;
    d->factor = 1;
    d->x = malloc(n * FEATURES * sizeof *d->x);
    d->weight = malloc(n * sizeof *d->weight);
    d->label = malloc(n * sizeof *d->label);
    d->row = malloc(CHUNK * FEATURES * sizeof *d->row);
    d->row_weight = malloc(CHUNK * sizeof *d->row_weight);
    d->row_label = malloc(CHUNK * sizeof *d->row_label);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < FEATURES; j++)
            d->x[i * FEATURES + j] = (float)normal(&rng);
        d->label[i] = label_of(loss, d->x + i * FEATURES, &rng);
        d->weight[i] = (float)(1 + gsai_rng_below(&rng, 50));
    }
}

static void repeat(data *d)
{
    gsai_rng rng = gsai_rng_of(4, 5, 6);
    double total = 0;
    for (size_t i = 0; i < d->n; i++)
        total += (double)d->weight[i];
    d->list = malloc((size_t)total * sizeof *d->list);
    for (size_t i = 0; i < d->n; i++)
        for (float c = 0; c < d->weight[i]; c++)
            d->list[d->n_listed++] = (uint32_t)i;
    for (size_t i = d->n_listed; i > 1; i--) {
        size_t j = (size_t)gsai_rng_below(&rng, i);
        uint32_t held = d->list[i - 1];
        d->list[i - 1] = d->list[j];
        d->list[j] = held;
    }
}

static gsa_status next_rows(void *ctx, gsa_batch *out, gsa_error *error)
{
    data *d = ctx;
    (void)error;
    size_t n = 0, end = d->list ? d->n_listed : d->n;
    for (; n < CHUNK && d->at < end; n++, d->at++) {
        size_t row = d->list ? d->list[d->at] : d->at;
        memcpy(d->row + n * FEATURES, d->x + row * FEATURES, FEATURES * sizeof *d->x);
        d->row_label[n] = d->label[row];
        d->row_weight[n] = d->list ? 1 : d->factor * d->weight[row];
    }
    *out = (gsa_batch){.n_rows = n, .value = d->row, .width = FEATURES, .label = d->row_label, .weight = d->row_weight};
    return n > 0 ? GSA_OK : GSA_END;
}

static gsa_status rewind_rows(void *ctx, gsa_error *error)
{
    (void)error;
    ((data *)ctx)->at = 0;
    return GSA_OK;
}

static gsa_model *learn(data *d, const char *loss, int is_stream)
{
    gsa_error error = {0};
    gsa_config *config;
    gsa_state *state;
    gsa_reader *reader;
    gsa_model *model;
    gsa_row_source source = {.size = sizeof source, d, next_rows, is_stream ? NULL : rewind_rows};
    d->at = 0;
    check(gsa_config_new(NULL, &config, &error), &error);
    check(gsa_config_set(config, "loss", loss, &error), &error);
    check(gsa_state_new(config, NULL, &state, &error), &error);
    check(gsa_reader_open_rows(&source, NULL, NULL, &reader, &error), &error);
    check(gsa_train(state, reader, NULL, NULL, &error), &error);
    check(gsa_state_finish(state, NULL, &model, &error), &error);
    gsa_reader_close(reader);
    gsa_state_free(state);
    gsa_config_free(config);
    return model;
}

/* The value of the loss over the weighted rows. */
static double loss_of(data *d, const gsa_model *model, const char *loss)
{
    gsa_error error = {0};
    gsa_metrics *metrics;
    gsa_metric metric;
    gsa_batch batch;
    double value = NAN;
    uint32_t *list = d->list;
    d->list = NULL;
    d->at = 0;
    check(gsa_metrics_new(model, &metrics, &error), &error);
    while (next_rows(d, &batch, &error) == GSA_OK)
        check(gsa_metrics_update(metrics, &batch, &error), &error);
    check(gsa_metrics_finish(metrics, &error), &error);
    const char *name = strcmp(loss, "squared") == 0 ? "rmse" : strstr(loss, "hinge") ? loss : "log_loss";
    for (size_t i = 0; gsa_metrics_at(metrics, i, &metric) == GSA_OK; i++)
        if (strcmp(metric.name, name) == 0)
            value = metric.value;
    gsa_metrics_free(metrics);
    d->list = list;
    return strcmp(loss, "squared") == 0 ? value * value : value;
}

/* A weight of a feature, from the mean over the classes: softmax has as many to spare. */
static double weight_of(const gsa_model *model, size_t feature, size_t output)
{
    gsa_model_info info = {.size = sizeof info};
    gsa_model_get_info(model, &info);
    double mean = 0;
    for (size_t k = 0; k < info.n_outputs && info.n_outputs > 1; k++)
        mean += (double)gsa_model_weight(model, feature, k) / (double)info.n_outputs;
    return (double)gsa_model_weight(model, feature, output) - mean;
}

static double apart(const gsa_model *a, const gsa_model *b)
{
    gsa_model_info info = {.size = sizeof info};
    double off = 0, length = 0;
    gsa_model_get_info(a, &info);
    for (size_t j = 0; j < FEATURES; j++)
        for (size_t k = 0; k < info.n_outputs; k++) {
            double x = weight_of(a, j, k), y = weight_of(b, j, k);
            off += (x - y) * (x - y);
            length += y * y;
        }
    return sqrt(off / length);
}

static int same_bits(const gsa_model *a, const gsa_model *b)
{
    gsa_model_info info = {.size = sizeof info};
    gsa_model_get_info(a, &info);
    int same = 1;
    for (size_t k = 0; k < info.n_outputs; k++)
        same = same && gsa_model_intercept(a, k) == gsa_model_intercept(b, k);
    uint64_t n_a, n_b;
    const uint32_t *of_a = gsa_model_features(a, &n_a), *of_b = gsa_model_features(b, &n_b);
    same = same && n_a == n_b && !of_a == !of_b && (!of_a || memcmp(of_a, of_b, (size_t)n_a * sizeof *of_a) == 0);
    return same &&
           memcmp(gsa_model_weights(a), gsa_model_weights(b), (size_t)n_a * info.n_outputs * sizeof(float)) == 0;
}

int main(int argc, char **argv)
{
    const struct bound *bound = bounds;
    size_t n = argc == 4 ? (size_t)strtod(argv[2], NULL) : 0;
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds && n > 0; i++)
        bound = strcmp(argv[3], bounds[i].loss) == 0 ? &bounds[i] : bound;
    if (n == 0 || strcmp(bound->loss, argv[3]) != 0) {
        fprintf(stderr, "usage: weights file|stream ROWS LOSS\n");
        return 2;
    }
    int is_stream = strcmp(argv[1], "stream") == 0;
    const double *most = is_stream ? bound->stream : bound->file;
    data d = {0};
    draw(&d, argv[3], n);
    gsa_model *weighted = learn(&d, argv[3], is_stream);
    d.factor = 2;
    gsa_model *twice = learn(&d, argv[3], is_stream);
    d.factor = 1;
    repeat(&d);
    gsa_model *repeated = learn(&d, argv[3], is_stream);
    double a = loss_of(&d, weighted, argv[3]), b = loss_of(&d, repeated, argv[3]), off = apart(weighted, repeated);
    int equal = same_bits(weighted, twice);
    printf("%s of %zu rows, %s: loss %.5f weighted, %.5f repeated (%+.2f %%), weights %.2f %% apart; times 2: %s\n",
           argv[1], n, argv[3], a, b, 100 * (a / b - 1), 100 * off, equal ? "equal bits" : "OTHER BITS");
    gsa_model_free(weighted);
    gsa_model_free(twice);
    gsa_model_free(repeated);
    free(d.x);
    free(d.weight);
    free(d.label);
    free(d.list);
    free(d.row);
    free(d.row_weight);
    free(d.row_label);
    return !(fabs(a / b - 1) <= most[0] && off <= most[1] && equal);
}
