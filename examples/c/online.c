/* Learns while it serves: every row is scored by the model of all rows before it, and then learned. The mean of those
 * scores is an honest judgement (progressive validation), since no row was judged by a model that had seen it.
 *
 *   cc online.c -o online $(pkg-config --cflags --libs greedystep) -lm
 *   ./online
 *
 * Prints the log loss and accuracy of the rows so far, now and then (../expected/online.txt). */
#include <greedystep/greedystep.h>

#include <math.h>
#include <stdint.h>
#include <stdio.h>

enum { WIDTH = 4, N_ROWS = 10000 };

static double uniform(uint64_t *seed) /* 0 .. 1 */
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(*seed >> 40) / (1 << 24);
}

/* The next event of the world: what is known of it, and its label, 0 or 1, which a service would learn later. */
static double next_event(uint64_t *seed, float *x)
{
    static const double planted[WIDTH] = {4, -3, 2, 0};
    double margin = -1.5;
    for (size_t j = 0; j < WIDTH; j++) {
        double value = uniform(seed);
        x[j] = (float)value;
        margin += planted[j] * value;
    }
    return uniform(seed) < 1 / (1 + exp(-margin)) ? 1 : 0;
}

/* A state of two classes, which it is told of before the first row: rows of weight 0 only name their labels. Nothing is
 * held out, since the loop below judges. */
static gsa_status begin(gsa_state **state, gsa_error *error)
{
    static const float nothing[2 * WIDTH] = {0}, weight[2] = {0, 0};
    static const double label[2] = {0, 1};
    const gsa_batch labels = {.n_rows = 2, .width = WIDTH, .value = nothing, .label = label, .weight = weight};
    gsa_config *config = NULL;
    gsa_status status = gsa_config_new(NULL, &config, error);
    if (status == GSA_OK)
        status = gsa_config_set(config, "holdout", "none", error);
    if (status == GSA_OK)
        status = gsa_state_new(config, NULL, state, error);
    if (status == GSA_OK)
        status = gsa_state_prepare(*state, &labels, error);
    gsa_config_free(config);
    return status;
}

/* The probability of each class, by what was learned so far. The model is a copy of the weights: a program of many
 * features makes one every thousand rows, not for every row. */
static gsa_status score(const gsa_state *state, const gsa_batch *row, double probability[2], gsa_error *error)
{
    gsa_model *model = NULL;
    gsa_status status = gsa_state_finish(state, NULL, &model, error);
    if (status == GSA_OK)
        status = gsa_model_predict(model, row, probability, error);
    gsa_model_free(model);
    return status;
}

int main(void)
{
    float x[WIDTH];
    double label, probability[2], loss = 0;
    const gsa_batch row = {.n_rows = 1, .width = WIDTH, .value = x, .label = &label};
    uint64_t seed = 1;
    int n_right = 0, report_at = 10;
    gsa_state *state = NULL;
    gsa_error error;
    gsa_status status = begin(&state, &error);
    for (int n = 1; status == GSA_OK && n <= N_ROWS; n++) {
        label = next_event(&seed, x);
        status = score(state, &row, probability, &error);
        if (status == GSA_OK)
            status = gsa_state_update(state, &row, &error);
        if (status != GSA_OK)
            break;
        double chance = probability[label > 0.5];
        loss -= log(fmax(chance, 1e-15));
        n_right += chance > 0.5;
        if (n == report_at) {
            printf("%5d rows: log loss %.3f, accuracy %.3f\n", n, loss / n, (double)n_right / n);
            report_at *= 10;
        }
    }
    gsa_state_free(state);
    if (status != GSA_OK)
        return fprintf(stderr, "online: %s\n", error.message), 1;
    return 0;
}
