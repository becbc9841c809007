/* Do very many updates drift? One state learns a stream of rows, and so does a twin that keeps every number in double:
 * weights, averages, sums of squares, counts. Rows are of a kind that small additions get lost in: labels are rare, one
 * feature is heavy-tailed, one is rare. After 10^4 rows, before which methods are still finding their feet, the twin
 * takes over what the state has; from then on nothing but rounding can part them.
 *
 * usage: drift ROWS [logistic|squared]      a line at every power of ten; 1 if they part by more than is allowed */
#include "base/rng.h"
#include "learn/inside.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS 4 /* the intercept and three features */
#define CHUNK 10000u
/* What is allowed: of a sum of squares and of the mean step, as a share; of an averaged weight, as a share of how far
 * the weight itself is from its average: they are floats, and their rounding is a random walk. */
#define MOST_MASS 1e-4
#define MOST_WEIGHT 1e-2
#define MOST_STEP 3e-5 /* the greedy step of a group is a polynomial, 2.4e-5 off at the most */

typedef struct chunk {
    int64_t row_start[CHUNK + 1];
    uint32_t index[CHUNK * SLOTS];
    float value[CHUNK * SLOTS];
    double label[CHUNK];
} chunk;

typedef struct twin {
    double weight[SLOTS], average[SLOTS], mass[SLOTS], count[SLOTS];
    double square[SLOTS]; /* of the distance between the two */
    double step_sum, step_weight, rows;
    bool squared;
} twin;

static void make_row(gsai_rng *rng, chunk *to, size_t row, bool squared)
{
    double u = gsai_rng_unit(rng), margin = squared ? 3 : -5;
    int64_t n = to->row_start[row];
    float x[3] = {u < 0.5 ? (u < 0.2 ? -1.0F : 1.0F) : 0, 0, 0};
    double v = gsai_rng_unit(rng);
    x[1] = v < 3e-4 ? 3.0F : v < 0.3 ? 0.1F : 0;
    x[2] = gsai_rng_unit(rng) < 0.01 ? 0.7F : 0;
    margin += (double)x[0] * 0.8 + (double)x[1] * 0.05 - (double)x[2] * 1.5;
    for (uint32_t i = 0; i < 3; i++) {
        if (x[i] == 0)
            continue;
        to->index[n] = i;
        to->value[n++] = x[i];
    }
    to->row_start[row + 1] = n;
    double noise = gsai_rng_unit(rng);
    to->label[row] = squared ? margin + 2 * noise - 1 : noise < 1 / (1 + exp(-margin));
}

/* The greedy step of the paper for two classes, written from the definition: docs/algorithms.md. */
static double greedy(double p)
{
    double rest = 1 - p, hat = 0.95;
    return 2 * (hat - p) / (hat * (p * expm1(p) + rest * expm1(rest)) + p * expm1(rest));
}

/* (n + 2)^(-3/8) with a logarithm and a power that are straight between powers of two: learn/kernel/groups.h. */
static double inverse_frequency_of(double n)
{
    int e;
    double f = 2 * frexp(n + 2, &e) - 1, power = 0x57697834p-23 - 127 - 0.375 * (127 + (e - 1) + f);
    return exp2(floor(power)) * (1 + power - floor(power));
}

/* What a row of a group asks for, against what there was before the group. */
typedef struct proposal {
    double x[SLOTS], along[SLOTS], g, eta;
} proposal;

static proposal propose(twin *t, const chunk *from, size_t row)
{
    proposal of = {.x = {1}};
    double margin = t->weight[0], xdx = 0, all = pow(t->rows + 2, 0.375);
    for (int64_t i = from->row_start[row]; i < from->row_start[row + 1]; i++) {
        of.x[from->index[i] + 1] = (double)from->value[i];
        margin += t->weight[from->index[i] + 1] * (double)from->value[i];
    }
    for (size_t s = 0; s < SLOTS; s++) {
        double square = of.x[s] * of.x[s];
        if (square == 0)
            continue;
        double units = s == 0 ? 1 : (t->count[s] + 1) / (t->mass[s] + square);
        of.along[s] = inverse_frequency_of(t->count[s]) * all * units * of.x[s];
        xdx += of.along[s] * of.x[s];
    }
    double y = from->label[row], p = 1 / (1 + exp(y > 0 ? -margin : margin));
    of.g = t->squared ? margin - y : y > 0 ? p - 1 : 1 - p;
    of.eta = (t->squared ? 1 : greedy(p)) / xdx;
    double vote = t->squared ? of.g * of.g * xdx : fabs(of.g);
    t->step_sum += vote * of.eta;
    t->step_weight += vote;
    return of;
}

static void twin_learn(twin *t, const chunk *from, size_t first, size_t n)
{
    proposal of[GSAI_GROUP_ROWS];
    for (size_t r = 0; r < n; r++)
        of[r] = propose(t, from, first + r);
    double mean = t->step_sum / t->step_weight;
    for (size_t r = 0; r < n; r++)
        for (size_t s = 0; s < SLOTS; s++) {
            t->weight[s] -= (t->squared && of[r].eta < mean ? of[r].eta : mean) * of[r].g * of[r].along[s];
            t->mass[s] += of[r].x[s] * of[r].x[s];
            t->count[s] += of[r].x[s] != 0;
        }
    for (size_t r = 0; r < n; r++) {
        t->rows++;
        for (size_t s = 0; s < SLOTS; s++) {
            double off = t->weight[s] - t->average[s];
            t->average[s] += off * (3 / (t->rows + 2));
            t->square[s] += (off * off - t->square[s]) * (3 / (t->rows + 2));
        }
    }
}

/* The intercept of a state is relative to the origin of its labels. */
static double origin_of(const gsa_state *state, size_t slot)
{
    return slot == 0 ? state->label_offset.at : 0;
}

static double average_of(const gsa_state *state, size_t slot)
{
    return gsai_state_average(state, slot, 0) + origin_of(state, slot);
}

static void twin_take(twin *t, const gsa_state *state)
{
    for (size_t s = 0; s < SLOTS; s++) {
        t->weight[s] = (double)gsai_table_slot(&state->table, s)->f + origin_of(state, s);
        t->average[s] = average_of(state, s);
        t->mass[s] = gsai_state_sum_sq(state, s);
        t->count[s] = (double)gsai_state_n_seen(state, s);
    }
    t->step_sum = state->step.sum;
    t->step_weight = state->step.weight;
    t->rows = (double)state->n_rows;
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

/* A line of the table; false if more than allowed. */
static bool compare(const twin *t, const gsa_state *state)
{
    double mass = 0, average = 0, step = gsai_step_mean_value(&state->step) / (t->step_sum / t->step_weight) - 1;
    bool counts = (double)state->n_rows == t->rows;
    for (size_t s = 0; s < SLOTS; s++) {
        mass = larger(mass, fabs(gsai_state_sum_sq(state, s) / t->mass[s] - 1));
        average = larger(average, fabs(average_of(state, s) - t->average[s]) / sqrt(t->square[s]));
        counts = counts && (double)gsai_state_n_seen(state, s) == t->count[s];
    }
    printf("| %.0e | %s | %.1e | %.1e | %.1e |", t->rows, counts ? "exact" : "WRONG", mass, fabs(step), average);
    for (size_t s = 0; s < SLOTS; s++)
        printf(" %.6f |", average_of(state, s));
    printf("\n");
    fflush(stdout);
    return counts && mass < MOST_MASS && fabs(step) < MOST_STEP && average < MOST_WEIGHT;
}

static gsa_state *new_state(bool squared)
{
    gsa_config *config = NULL;
    gsa_state *state = NULL;
    const char *parameters[][2] = {
        {"loss", squared ? "squared" : "logistic"}, {"scale", "standard"}, {"holdout", "none"}};
    if (gsa_config_new(NULL, &config, NULL) != GSA_OK)
        abort();
    for (size_t i = 0; i < sizeof parameters / sizeof *parameters; i++)
        if (gsa_config_set(config, parameters[i][0], parameters[i][1], NULL) != GSA_OK)
            abort();
    if (gsa_state_new(config, NULL, &state, NULL) != GSA_OK)
        abort();
    gsa_config_free(config);
    return state;
}

int main(int n_arguments, char **arguments)
{
    double n_rows = n_arguments > 1 ? strtod(arguments[1], NULL) : 1e7, next = 1e5;
    bool squared = n_arguments > 2 && strcmp(arguments[2], "squared") == 0, good = true;
    gsai_rng rng = gsai_rng_of(7, 0, 0);
    gsa_state *state = new_state(squared);
    twin beside = {.squared = squared};
    static chunk rows;
    gsa_error error;
    printf("| rows | counts | mass | mean step | averaged weights | intercept | even | heavy-tailed | rare |\n"
           "|--:|---|--:|--:|--:|--:|--:|--:|--:|\n");
    for (double done = 0; done < n_rows; done += CHUNK) {
        for (size_t r = 0; r < CHUNK; r++)
            make_row(&rng, &rows, r, squared);
        gsa_batch batch = {.n_rows = CHUNK,
                           .row_start = rows.row_start,
                           .index = rows.index,
                           .value = rows.value,
                           .label = rows.label};
        if (gsai_state_learn_rows(state, &batch, NULL, batch.n_rows, &error) != GSA_OK) {
            fprintf(stderr, "%s\n", error.message);
            return 1;
        }
        size_t n = squared ? 1 : GSAI_GROUP_ROWS; /* chunks have a whole number of groups */
        if (gsa_state_close_group(state, &error) != GSA_OK)
            return 1;
        for (size_t r = 0; r < CHUNK && done > 0; r += n)
            twin_learn(&beside, &rows, r, n);
        if (done == 0)
            twin_take(&beside, state);
        if (done + CHUNK >= next) {
            good = compare(&beside, state) && good;
            next *= 10;
        }
    }
    gsa_state_free(state);
    puts(good ? "no drift" : "DRIFT: more than is allowed");
    return good ? 0 : 1;
}
