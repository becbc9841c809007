/* Nanoseconds of a prediction from cells by the functions of examples/c/serving.c, while the model is replaced:
 *
 *   latency REQUESTS CHECK
 *
 * For 1, 10 and 100 columns, half of them numbers, the others categories: two workers ask REQUESTS times each, and the
 * model is replaced every 10 ms by one that was trained on other rows. CHECK 1 compares each answer with those of both
 * models, in place of measuring. Prints a line per number of columns. run.sh builds it and says on what it ran. */
#define main example_main
#include "../../examples/c/serving.c"
#undef main

#include <greedystep/train.h>

#include <unistd.h>

enum { N_ROWS = 2000, N_ASKED = 64, N_ASKING = 2, CELL = 24, SWAP_MILLISECONDS = 10 };

static char table[N_ROWS * MAX_COLUMNS];
static char names[100][CELL], texts[N_ASKED][100][CELL];
static const char *columns_asked[100];
static gsa_cell asked[N_ASKED][100];
static double right[2][N_ASKED];
static size_t n_requests;
static int checks;
static atomic_int n_left;

static void must(gsa_status status, const gsa_error *error)
{
    if (status != GSA_OK)
        exit((fprintf(stderr, "latency: %s\n", error->message), 1));
}

static uint64_t draw(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return *seed >> 33;
}

/* Trains a model of generated rows. The strength of two columns differs by the seed. */
static void train(const char *path, size_t n_columns, uint64_t seed)
{
    gsa_reader_options options = {.size = sizeof options, .label = "y"};
    gsa_reader *reader;
    gsa_state *state;
    gsa_model *model;
    gsa_error error = {0};
    size_t size = 0;
    for (size_t i = 0; i < n_columns; i++)
        size += (size_t)snprintf(table + size, sizeof table - size, "%s,", columns_asked[i]);
    size += (size_t)snprintf(table + size, sizeof table - size, "y\n");
    for (size_t r = 0; r < N_ROWS; r++) {
        uint64_t sum = seed % 50;
        for (size_t i = 0; i < n_columns; i++) {
            uint64_t x = draw(&seed) % 100;
            sum += i < 2 ? x : 0;
            size += (size_t)snprintf(table + size, sizeof table - size, i % 2 ? "w%d," : "%d.5,", (int)x);
        }
        size += (size_t)snprintf(table + size, sizeof table - size, "%s\n", sum + draw(&seed) % 50 > 75 ? "yes" : "no");
    }
    must(gsa_reader_open_memory(table, size, "rows.csv", &options, NULL, NULL, &reader, &error), &error);
    must(gsa_state_new(NULL, NULL, &state, &error), &error);
    must(gsa_train(state, reader, NULL, NULL, &error), &error);
    must(gsa_state_finish(state, NULL, &model, &error), &error);
    must(gsa_model_save(model, path, &error), &error);
    gsa_model_free(model);
    gsa_state_free(state);
    gsa_reader_close(reader);
}

static uint64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

typedef struct asking {
    size_t worker;
    uint64_t *took; /* nanoseconds of each request */
} asking;

static void *ask(void *ctx)
{
    const asking *mine = ctx;
    gsa_error error;
    for (size_t i = 0; i < n_requests; i++) {
        size_t which = i % N_ASKED;
        uint64_t start = now();
        const double *out = predict(begin(mine->worker), mine->worker, asked[which], &error);
        mine->took[i] = now() - start;
        if (out == NULL || (checks && out[1] != right[0][which] && out[1] != right[1][which]))
            exit((fprintf(stderr, "latency: %s\n", out == NULL ? error.message : "an answer of no model"), 1));
        end(mine->worker);
    }
    atomic_fetch_sub(&n_left, 1);
    return NULL;
}

static int ascends(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void measure(size_t n_columns, char path[2][32])
{
    const size_t n = N_ASKING * n_requests;
    uint64_t *took = calloc(n, sizeof *took), seed = 7;
    pthread_t thread[N_ASKING];
    asking of[N_ASKING];
    served *next;
    gsa_error error = {0};
    int n_swaps = 0;
    if (took == NULL)
        exit(1);
    for (size_t i = 0; i < n_columns; i++)
        snprintf(names[i], CELL, "column_%d", (int)i);
    for (size_t i = 0; i < n_columns; i++)
        columns_asked[i] = names[i];
    for (size_t r = 0; r < N_ASKED; r++)
        for (size_t i = 0; i < n_columns; i++) {
            uint64_t x = draw(&seed) % 110; /* some categories are new */
            int size = snprintf(texts[r][i], CELL, "w%d", (int)x);
            asked[r][i] = i % 2 ? (gsa_cell){.text = texts[r][i], .text_size = (size_t)size}
                                : (gsa_cell){.number = (double)x + 0.5};
        }
    for (int k = 1; k >= 0; k--) {
        train(path[k], n_columns, 20 + 41 * (uint64_t)k);
        must(load(path[k], columns_asked, n_columns, &next, &error), &error);
        publish(next);
        for (size_t r = 0; r < N_ASKED; r++)
            right[k][r] = predict(begin(0), 0, asked[r], &error)[1];
        end(0);
    }
    atomic_store(&n_left, N_ASKING);
    for (size_t i = 0; i < N_ASKING; i++) {
        of[i] = (asking){i, took + i * n_requests};
        pthread_create(&thread[i], NULL, ask, &of[i]);
    }
    for (; atomic_load(&n_left) > 0; n_swaps++) {
        pause_for(SWAP_MILLISECONDS);
        must(load(path[(n_swaps + 1) % 2], columns_asked, n_columns, &next, &error), &error);
        publish(next);
    }
    for (size_t i = 0; i < N_ASKING; i++)
        pthread_join(thread[i], NULL);
    publish(NULL);
    qsort(took, n, sizeof *took, ascends);
    if (checks)
        printf("%zu columns: %zu answers, each of one of two models, %s swaps\n", n_columns, n,
               n_swaps > 0 ? "with" : "no");
    else
        printf("%7zu %10.2f %10.2f %10.2f %8d\n", n_columns, (double)took[n / 2] / 1e3,
               (double)took[n / 100 * 99] / 1e3, (double)took[n / 1000 * 999] / 1e3, n_swaps);
    free(took);
}

int main(int argc, char **argv)
{
    static const size_t n_columns[] = {1, 10, 100};
    char path[2][32] = {"/tmp/gsa-serving-a-XXXXXX", "/tmp/gsa-serving-b-XXXXXX"};
    n_requests = argc > 1 ? strtoul(argv[1], NULL, 10) : 200000;
    checks = argc > 2 && argv[2][0] == '1';
    for (int k = 0; k < 2; k++)
        close(mkstemp(path[k]));
    if (!checks)
        printf("columns     p50 us     p99 us   p99.9 us    swaps\n");
    for (size_t i = 0; i < sizeof n_columns / sizeof *n_columns; i++)
        measure(n_columns[i], path);
    for (int k = 0; k < 2; k++)
        unlink(path[k]);
    return 0;
}
