/* direct FOLDER ROWS PASSES: the library called from C on arrays in memory, for comparison in bench/python/csr.py.
 * The arrays are those that the script wrote: starts (int64), indices (uint32), data (float), labels (double). Prints
 * the seconds of gsa_train and the sum of the magnitudes of all weights. */
#include <greedystep/distributed.h>
#include <greedystep/train.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef struct arrays {
    int64_t *starts;
    uint32_t *indices;
    float *data;
    double *labels;
    size_t n_rows, at;
} arrays;

static void *read_all(const char *folder, const char *name)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END) != 0)
        exit(1);
    size_t size = (size_t)ftell(file);
    void *bytes = malloc(size);
    rewind(file);
    if (!bytes || fread(bytes, 1, size, file) != size)
        exit(1);
    fclose(file);
    return bytes;
}

static gsa_status next_rows(void *ctx, gsa_batch *out, gsa_error *error)
{
    arrays *from = ctx;
    (void)error;
    size_t left = from->n_rows - from->at, n = left < GSA_BLOCK_ROWS ? left : GSA_BLOCK_ROWS;
    *out = (gsa_batch){.n_rows = n,
                       .row_start = from->starts + from->at,
                       .index = from->indices,
                       .value = from->data,
                       .label = from->labels + from->at};
    from->at += n;
    return n > 0 ? GSA_OK : GSA_END;
}

static gsa_status rewind_rows(void *ctx, gsa_error *error)
{
    (void)error;
    ((arrays *)ctx)->at = 0;
    return GSA_OK;
}

static double clock_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    arrays from = {read_all(argv[1], "starts"), read_all(argv[1], "indices"), read_all(argv[1], "data"),
                   read_all(argv[1], "labels"), strtoull(argv[2], NULL, 10),  0};
    gsa_row_source source = {.size = sizeof source, &from, next_rows, rewind_rows};
    gsa_error error;
    gsa_config *config;
    gsa_state *state;
    gsa_reader *reader;
    gsa_model *model;
    if (gsa_config_new(NULL, &config, &error) != GSA_OK ||
        gsa_config_set(config, "passes", argv[3], &error) != GSA_OK ||
        gsa_config_set(config, "loss", "logistic", &error) != GSA_OK ||
        gsa_state_new(config, NULL, &state, &error) != GSA_OK ||
        gsa_reader_open_rows(&source, NULL, NULL, &reader, &error) != GSA_OK)
        return 1;
    double began = clock_seconds();
    if (gsa_train(state, reader, NULL, NULL, &error) != GSA_OK ||
        gsa_state_finish(state, NULL, &model, &error) != GSA_OK)
        return 1;
    double seconds = clock_seconds() - began, sum = 0;
    gsa_model_info info = {.size = sizeof info};
    gsa_model_get_info(model, &info);
    for (uint64_t i = 0; i < info.n_features; i++)
        sum +=
            gsa_model_weight(model, i, 0) < 0 ? -(double)gsa_model_weight(model, i, 0) : gsa_model_weight(model, i, 0);
    printf("%.6f %.17g\n", seconds, sum);
    return 0;
}
