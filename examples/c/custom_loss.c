/* A loss of your own, on a stream of rows that the program generates. How long will a delivery take? Promising an hour
 * too few is nine times as bad as an hour too many, so the model should promise more than the mean.
 *
 *   cc custom_loss.c -o custom_loss $(pkg-config --cflags --libs greedystep)
 *   ./custom_loss
 *
 * Prints the weights of this loss and of squared loss, each below the best ones (../expected/custom_loss.txt).
 */
#include <greedystep/train.h>

#include <stdint.h>
#include <stdio.h>

enum { WIDTH = 2, CHUNK = 100, N_ROWS = 100000 };
static const double planted[WIDTH] = {0.5, 0.05}, most[WIDTH] = {10, 100}; /* parcels, miles */

/* The loss of a margin (the prediction) for a label, and its derivative with respect to the margin. Any convex function
 * of the margin will do. */
static double weigh(const double *too_few, double off)
{
    return off < 0 ? *too_few : 1;
}

static double loss_of(void *too_few, double margin, double label)
{
    double off = margin - label;
    return 0.5 * weigh((const double *)too_few, off) * off * off;
}

static double derivative_of(void *too_few, double margin, double label)
{
    double off = margin - label;
    return weigh((const double *)too_few, off) * off;
}

/* The source of rows: deliveries of some parcels over some miles, with a random delay of 0 to 10 hours. */
typedef struct depot {
    uint64_t seed;
    size_t n_made;
    float value[CHUNK * WIDTH];
    double label[CHUNK];
} depot;

static double uniform(depot *from) /* 0 .. 1 */
{
    from->seed = from->seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(from->seed >> 40) / (1 << 24);
}

static gsa_status next_rows(void *ctx, gsa_batch *out, gsa_error *error)
{
    depot *from = (depot *)ctx;
    (void)error;
    if (from->n_made == N_ROWS)
        return GSA_END;
    for (size_t r = 0; r < CHUNK; r++) {
        double hours = 10 * uniform(from);
        for (size_t j = 0; j < WIDTH; j++) {
            double x = most[j] * uniform(from);
            from->value[r * WIDTH + j] = (float)x;
            hours += planted[j] * x;
        }
        from->label[r] = hours;
    }
    from->n_made += CHUNK;
    *out = (gsa_batch){.n_rows = CHUNK, .width = WIDTH, .value = from->value, .label = from->label};
    return GSA_OK;
}

static void print(const char *name, double parcel, double mile, double always)
{
    printf("%-14s %.2f per parcel, %.3f per mile, %.2f always\n", name, parcel, mile, always);
}

/* Learns the stream once and prints the weights. loss NULL: squared loss. */
static gsa_status learn(const char *name, const gsa_margin_loss *loss, gsa_error *error)
{
    depot from = {.seed = 1};
    gsa_row_source source = {.size = sizeof source, .ctx = &from, .next = next_rows};
    gsa_reader *reader = NULL;
    gsa_config *config = NULL;
    gsa_state *state = NULL;
    gsa_model *model = NULL;
    gsa_status status = gsa_reader_open_rows(&source, NULL, NULL, &reader, error);
    if (status == GSA_OK)
        status = gsa_config_new(NULL, &config, error);
    if (status == GSA_OK)
        status = loss ? gsa_config_set_loss(config, loss, error) : gsa_config_set(config, "loss", "squared", error);
    if (status == GSA_OK)
        status = gsa_state_new(config, NULL, &state, error);
    if (status == GSA_OK)
        status = gsa_train(state, reader, NULL, NULL, error);
    if (status == GSA_OK)
        status = gsa_state_finish(state, NULL, &model, error);
    if (status == GSA_OK)
        print(name, (double)gsa_model_weight(model, 0, 0), (double)gsa_model_weight(model, 1, 0),
              gsa_model_intercept(model, 0));
    gsa_model_free(model);
    gsa_state_free(state);
    gsa_config_free(config);
    gsa_reader_close(reader);
    return status;
}

int main(void)
{
    /* The mean of a delay between 0 and 10 is 5; at 7.5 the loss above is that below: 9 (10 - 7.5)^2 = 7.5^2. */
    double too_few = 9;
    const gsa_margin_loss loss = {.size = sizeof loss, .loss = loss_of, .derivative = derivative_of, .ctx = &too_few};
    gsa_error error;
    print("best, squared", planted[0], planted[1], 5);
    if (learn("found", NULL, &error) != GSA_OK)
        return fprintf(stderr, "custom_loss: %s\n", error.message), 1;
    print("best, our own", planted[0], planted[1], 7.5);
    if (learn("found", &loss, &error) != GSA_OK)
        return fprintf(stderr, "custom_loss: %s\n", error.message), 1;
    return 0;
}
