/* Learns while it serves: every row is scored by the model of the rows before it, and then learned. The mean loss of
 * these scores is an unbiased estimate (progressive validation), because no row was scored after it was learned.
 *
 *   cc online.c -o online $(pkg-config --cflags --libs greedystep) -lm && ./online
 *
 * Prints the log loss and accuracy of the rows so far at intervals (../expected/online.txt). */
#include <greedystep/greedystep.h>

#include <math.h>
#include <stdio.h>

enum { WIDTH = 4, N_ROWS = 10000 };

static double uniform(uint64_t *seed) /* 0 .. 1 */
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(*seed >> 40) / (1 << 24);
}

/* The next event: its features, and its label, 0 or 1, which a service would learn later. */
static double next_event(uint64_t *seed, float *x)
{
    static const double planted[WIDTH] = {4, -3, 2, 0};
    double margin = -1.5;
    for (size_t j = 0; j < WIDTH; j++)
        margin += planted[j] * (x[j] = (float)uniform(seed));
    return uniform(seed) < 1 / (1 + exp(-margin)) ? 1 : 0;
}

int main(void)
{
    static const double labels[] = {0, 1};
    float x[WIDTH];
    double label, probability[2], loss = 0;
    const gsa_batch row = {.n_rows = 1, .width = WIDTH, .value = x, .label = &label};
    uint64_t seed = 1;
    int n_right = 0, report_at = 10;
    gsa_state *state = NULL;
    gsa_error error;
    gsa_status status = gsa_state_new(NULL, NULL, &state, &error);
    if (status == GSA_OK)
        status = gsa_state_add_labels(state, labels, NULL, 2, &error);
    for (int n = 1; status == GSA_OK && n <= N_ROWS; n++) {
        label = next_event(&seed, x);
        status = gsa_state_predict(state, &row, probability, &error);
        if (status == GSA_OK)
            status = gsa_state_update(state, &row, &error);
        loss -= log(fmax(probability[label > 0.5], 1e-15));
        n_right += probability[label > 0.5] > 0.5;
        if (status == GSA_OK && n == report_at) {
            printf("%5d rows: log loss %.3f, accuracy %.3f\n", n, loss / n, (double)n_right / n);
            report_at *= 10;
        }
    }
    gsa_state_free(state);
    if (status != GSA_OK)
        return fprintf(stderr, "online: %s\n", error.message), 1;
    return 0;
}
