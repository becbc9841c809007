/* Whether the loss that `train` prints is the loss on new rows: trains on rows of planted models, and compares the
 * held-out loss of the state with the loss of the model on 20,000 other rows of the same planted model.
 *
 * The held-out rows of one draw are easy or hard by chance, which the loss of the planted model on them tells: what it
 * has there beyond its loss on the other rows is subtracted. That leaves the mean difference as it is, and takes away
 * most of its noise.
 *
 *   honest estimates DRAWS     prints a table; 1 if a method is optimistic beyond the bounds
 *   honest curves DRAWS        the same of rows in memory where half of the columns bend, with curves
 *   honest pairs DRAWS         the same where columns also act on one another, with pairs
 *   honest copies DRAWS        the loss on new rows of models of 300 rows, each given 1 to 100 times; 1 if copies cost
 */
#include "base/rng.h"
#include "learn/inside.h"

#include <greedystep/train.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FEATURES = 2000, MAX_ENTRIES = 50, MAX_CLASSES = 5, FRESH = 20000 };

/* Optimism that is allowed: of all problems together as a share of the loss, beyond one standard error, and of one
 * problem in standard errors. */
static const double max_share = 0.01, max_errors = 3.5;
/* What the model of many copies may lose, as a share of the loss of the model of one: nothing where rows are solved,
 * and little where each of them is learned as often as it comes. */
static const double max_cost[] = {1e-6, 0.08};

typedef struct problem {
    const char *name, *loss;
    size_t n_rows, n_features, n_entries; /* entries of a row: as many as features, or fewer, which are ones */
    size_t n_outputs;
    double strength; /* standard deviation of the planted margin, roughly */
} problem;

static const problem problems[] = {{"logistic, 10 columns", "logistic", 1000, 10, 10, 1, 2},
                                   {"logistic, 2000 rare features", "logistic", 4000, 2000, 12, 1, 3},
                                   {"softmax, 5 classes, 12 columns", "softmax", 2000, 12, 12, 5, 2},
                                   {"squared, 20 columns", "squared", 500, 20, 20, 1, 1},
                                   {"poisson, 8 columns", "poisson", 1000, 8, 8, 1, 0.7},
                                   {"logistic, 50 noisy columns", "logistic", 300, 50, 50, 1, 1}};
enum { PROBLEMS = sizeof problems / sizeof *problems };
static const char *const methods[] = {"optimum", "gsa"};
static int bends, has_pairs; /* whether columns bend, and may; and act on one another, and may */

typedef struct data {
    const problem *of;
    size_t n, n_copies, at; /* rows; how often a reader gives them, and how often it has */
    int64_t *start;
    uint32_t *index;
    float *value;
    double *label;
} data;

static void check(gsa_status status, const gsa_error *error)
{
    if (status != GSA_OK) {
        fprintf(stderr, "honest: %s\n", error->message);
        exit(2);
    }
}

static double normal(gsai_rng *rng)
{
    double r = sqrt(-2 * log(1 - gsai_rng_unit(rng)));
    return r * cos(6.283185307179586 * gsai_rng_unit(rng));
}

/* ---- planted rows ------------------------------------------------------------------------------------------------ */

typedef struct planted {
    const problem *of;
    double weight[MAX_FEATURES][MAX_CLASSES], intercept[MAX_CLASSES];
} planted;

static void plant(planted *truth, const problem *of, gsai_rng *rng)
{
    truth->of = of;
    for (size_t k = 0; k < of->n_outputs; k++) {
        truth->intercept[k] = 0.5 * normal(rng);
        for (size_t j = 0; j < of->n_features; j++)
            truth->weight[j][k] = of->strength / sqrt((double)of->n_entries) * normal(rng);
    }
}

static double bent(const problem *of, uint32_t feature, double x)
{
    return bends && of->n_entries == of->n_features && feature % 2 == 0 ? 1.6 * fabs(x) - 1.3 : x;
}

static void planted_margins(const planted *truth, const uint32_t *index, const float *value, size_t n, double *margins)
{
    memcpy(margins, truth->intercept, sizeof truth->intercept);
    for (size_t e = 0; e < n; e++)
        for (size_t k = 0; k < truth->of->n_outputs; k++)
            margins[k] += bent(truth->of, index[e], (double)value[e]) * truth->weight[index[e]][k];
    bool is_dense = truth->of->n_entries == truth->of->n_features;
    for (size_t e = 0; e + 1 < n && has_pairs && is_dense; e += 4) /* every fourth with the next */
        for (size_t k = 0; k < truth->of->n_outputs; k++)
            margins[k] += (double)value[e] * (double)value[e + 1] * truth->weight[index[e]][k] / 2;
}

static double label_of(const problem *of, const double *margins, gsai_rng *rng)
{
    double best = -INFINITY, label = 0, left = exp(margins[0]);
    if (strcmp(of->loss, "squared") == 0)
        return margins[0] + normal(rng);
    if (strcmp(of->loss, "logistic") == 0)
        return gsai_rng_unit(rng) < 1 / (1 + exp(-margins[0]));
    for (size_t k = 0; k < of->n_outputs && of->n_outputs > 1; k++) {
        double score = margins[k] - log(-log(gsai_rng_unit(rng)));
        label = score > best ? (double)k : label;
        best = score > best ? score : best;
    }
    while (of->n_outputs == 1 && (left += log(gsai_rng_unit(rng))) > 0)
        label++;
    return label;
}

/* Of n ranges of equal length one feature each, the first of a range most often; or all, from a normal distribution. */
static void draw(data *d, const planted *truth, size_t n, gsai_rng *rng)
{
    const problem *of = truth->of;
    size_t at = 0, width = of->n_features / of->n_entries;
    double margins[MAX_CLASSES];
    *d = (data){.of = of, .n = n, .n_copies = 1};
    d->start = malloc((n + 1) * sizeof *d->start);
    d->index = malloc(n * of->n_entries * sizeof *d->index);
    d->value = malloc(n * of->n_entries * sizeof *d->value);
    d->label = malloc(n * sizeof *d->label);
    for (size_t i = 0; i < n; i++) {
        d->start[i] = (int64_t)at;
        for (size_t j = 0; j < of->n_entries; j++, at++) {
            double u = gsai_rng_unit(rng);
            d->index[at] = (uint32_t)(j * width + (size_t)((double)width * u * u * u));
            d->value[at] = width > 1 ? 1 : (float)normal(rng);
        }
        planted_margins(truth, d->index + d->start[i], d->value + d->start[i], of->n_entries, margins);
        d->label[i] = label_of(of, margins, rng);
    }
    d->start[n] = (int64_t)at;
}

static void free_data(data *d)
{
    free(d->start);
    free(d->index);
    free(d->value);
    free(d->label);
}

static gsa_status next_rows(void *ctx, gsa_batch *out, gsa_error *error)
{
    data *d = ctx;
    (void)error;
    *out = (gsa_batch){.n_rows = d->n, .row_start = d->start, .index = d->index, .value = d->value, .label = d->label};
    return d->at++ < d->n_copies ? GSA_OK : GSA_END;
}

static gsa_status rewind_rows(void *ctx, gsa_error *error)
{
    (void)error;
    ((data *)ctx)->at = 0;
    return GSA_OK;
}

/* ---- losses, by their definition --------------------------------------------------------------------------------- */

static double loss_of(const problem *of, const double *margins, double y)
{
    double m = margins[0], sum = 0;
    if (strcmp(of->loss, "squared") == 0)
        return (y - m) * (y - m);
    if (strcmp(of->loss, "logistic") == 0)
        return log1p(exp(y > 0 ? -m : m));
    if (strcmp(of->loss, "poisson") == 0)
        return 2 * (exp(m) - y - (y > 0 ? y * (m - log(y)) : 0));
    for (size_t k = 0; k < of->n_outputs; k++)
        sum += exp(margins[k] - margins[(size_t)y]);
    return log(sum);
}

static void model_margins(const gsa_model *model, const uint32_t *index, const float *value, size_t n, double *margins)
{
    const int64_t start[] = {0, (int64_t)n};
    const gsa_batch row = {.n_rows = 1, .row_start = start, .index = index, .value = value};
    gsa_error error = {0};
    check(gsa_model_margins(model, &row, margins, &error), &error);
}

/* The mean over rows, of the planted model or (model not NULL) of one that was learned. */
static double mean_loss(const data *d, const planted *truth, const gsa_model *model)
{
    double sum = 0, margins[MAX_CLASSES];
    for (size_t i = 0; i < d->n; i++) {
        const uint32_t *index = d->index + d->start[i];
        const float *value = d->value + d->start[i];
        if (model)
            model_margins(model, index, value, d->of->n_entries, margins);
        else
            planted_margins(truth, index, value, d->of->n_entries, margins);
        sum += loss_of(d->of, margins, d->label[i]);
    }
    return sum / (double)d->n;
}

/* Of the planted model, over the rows that the printed loss is of: the held-out rows, for an optimum all. */
static double planted_loss(const data *d, const planted *truth, const gsa_state *state)
{
    double sum = 0, weight = 0, margins[MAX_CLASSES];
    for (size_t i = 0; i < state->sample.n; i++) {
        const gsai_held_row *held = state->sample.at[i];
        gsai_row row = gsai_held_row_view(held);
        planted_margins(truth, row.index, row.value, row.n, margins);
        double y = state->labels.n > 0 ? state->labels.at[held->class_number].number : held->number;
        sum += held->seen * loss_of(d->of, margins, y);
        weight += held->seen;
    }
    return weight > 0 ? sum / weight : mean_loss(d, truth, NULL);
}

/* ---- what is said, and what is ----------------------------------------------------------------------------------- */

static gsa_state *learn(data *d, const char *method, gsa_model **model)
{
    gsa_error error = {0};
    gsa_config *config;
    gsa_state *state;
    gsa_reader *reader;
    gsa_row_source source = {.size = sizeof source, d, next_rows, rewind_rows};
    d->at = 0;
    check(gsa_config_new(NULL, &config, &error), &error);
    check(gsa_config_set(config, "loss", d->of->loss, &error), &error);
    check(gsa_config_set(config, "method", method, &error), &error);
    check(gsa_config_set(config, "curves", bends ? "auto" : "off", &error), &error);
    check(gsa_config_set(config, "pairs", has_pairs ? "auto" : "off", &error), &error);
    check(gsa_state_new(config, NULL, &state, &error), &error);
    check(gsa_reader_open_rows(&source, NULL, NULL, &reader, &error), &error);
    check(gsa_train(state, reader, NULL, NULL, &error), &error);
    check(gsa_state_finish(state, NULL, model, &error), &error);
    gsa_reader_close(reader);
    gsa_config_free(config);
    return state;
}

typedef struct figures {
    double said, is, off, off_square; /* sums over the draws */
} figures;

static void compare(const problem *of, const char *method, uint64_t number, figures *into)
{
    static planted truth;
    gsai_rng rng = gsai_rng_of(7, (uint64_t)(of - problems), number);
    data rows, fresh;
    gsa_model *model;
    plant(&truth, of, &rng);
    draw(&rows, &truth, of->n_rows, &rng);
    draw(&fresh, &truth, FRESH, &rng);
    gsa_state *state = learn(&rows, method, &model);
    double said = gsa_state_held_out_loss(state), is = mean_loss(&fresh, NULL, model);
    gsa_loss_measure(of->loss, &said);
    said = strcmp(of->loss, "squared") == 0 ? said * said : said;
    double off = said - is - (planted_loss(&rows, &truth, state) - mean_loss(&fresh, &truth, NULL));
    into->said += said;
    into->is += is;
    into->off += off;
    into->off_square += off * off;
    gsa_model_free(model);
    gsa_state_free(state);
    free_data(&rows);
    free_data(&fresh);
}

static int estimates_are_honest(size_t n_draws)
{
    int failed = 0;
    double n = (double)n_draws;
    printf("%-32s%-9s%10s%10s%12s%10s\n", "problem", "method", "printed", "new rows", "difference", "error");
    for (size_t m = 0; m < (bends ? 1 : sizeof methods / sizeof *methods);
         m++) { /* streams hold out rows that are bent */
        double share = 0, square = 0;
        for (size_t p = 0; p < PROBLEMS; p++) {
            figures sum = {0};
            for (uint64_t i = 0; i < n_draws; i++)
                compare(&problems[p], methods[m], i, &sum);
            double off = sum.off / n, variance = (sum.off_square / n - off * off) / (n - 1), is = sum.is / n;
            int bad = off < -max_errors * sqrt(variance);
            printf("%-32s%-9s%10.4f%10.4f%+12.4f%10.4f%s\n", problems[p].name, methods[m], sum.said / n, is, off,
                   sqrt(variance), bad ? "  OPTIMISTIC" : "");
            share += off / is / PROBLEMS;
            square += variance / (is * is) / (PROBLEMS * PROBLEMS);
            failed = failed || bad;
        }
        int bad = share + sqrt(square) < -max_share;
        printf("%-32s%-9s%31.2f %%%8.2f %%%s\n", "all, relative to the loss", methods[m], 100 * share,
               100 * sqrt(square), bad ? "  OPTIMISTIC" : "");
        failed = failed || bad;
    }
    return failed;
}

/* Copies are of one draw, so the losses are compared pair by pair. */
static int copies_cost_nothing(size_t n_draws)
{
    static const size_t n_copies[] = {1, 2, 5, 20, 100};
    enum { TIMES = sizeof n_copies / sizeof *n_copies };
    static const problem tables[] = {{"logistic, 50 columns", "logistic", 300, 50, 50, 1, 2},
                                     {"logistic, 120 binary features", "logistic", 300, 120, 14, 1, 2}};
    static planted truth;
    int failed = 0;
    printf("%-32s%-9s", "problem", "method");
    for (size_t c = 0; c < TIMES; c++)
        printf("%9zu x", n_copies[c]);
    puts("");
    for (size_t p = 0; p < sizeof tables / sizeof *tables; p++)
        for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
            double loss[TIMES] = {0};
            for (uint64_t i = 0; i < n_draws; i++) {
                gsai_rng rng = gsai_rng_of(8, p, i);
                data rows, fresh;
                gsa_model *model;
                plant(&truth, &tables[p], &rng);
                draw(&rows, &truth, tables[p].n_rows, &rng);
                draw(&fresh, &truth, FRESH, &rng);
                for (size_t c = 0; c < TIMES; c++) {
                    rows.n_copies = n_copies[c];
                    gsa_state_free(learn(&rows, methods[m], &model));
                    loss[c] += mean_loss(&fresh, NULL, model) / (double)n_draws;
                    gsa_model_free(model);
                }
                free_data(&rows);
                free_data(&fresh);
            }
            printf("%-32s%-9s", tables[p].name, methods[m]);
            for (size_t c = 0; c < TIMES; c++) {
                int bad = loss[c] > (1 + max_cost[m]) * loss[0];
                printf("%10.4f%s", loss[c], bad ? "!" : " ");
                failed = failed || bad;
            }
            puts("");
        }
    return failed;
}

int main(int argc, char **argv)
{
    size_t n_draws = argc == 3 ? (size_t)strtod(argv[2], NULL) : 0;
    has_pairs = argc == 3 && strcmp(argv[1], "pairs") == 0;
    bends = has_pairs || (argc == 3 && strcmp(argv[1], "curves") == 0);
    if (n_draws < 2 || (!bends && strcmp(argv[1], "estimates") != 0 && strcmp(argv[1], "copies") != 0)) {
        fprintf(stderr, "usage: honest estimates|curves|pairs|copies DRAWS\n");
        return 2;
    }
    return bends || strcmp(argv[1], "estimates") == 0 ? estimates_are_honest(n_draws) : copies_cost_nothing(n_draws);
}
