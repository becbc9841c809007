/* A program of somebody else's: four rows in memory, a model, its file in memory and back. It is both C99 and C++11. */
#include <greedystep/data.h>
#include <greedystep/greedystep.h>
#include <greedystep/train.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(int ok, const char *what)
{
    if (!ok) {
        fprintf(stderr, "consumer: %s\n", what);
        exit(1);
    }
}

typedef struct file_bytes {
    unsigned char at[65536];
    size_t size;
} file_bytes;

static int receive(void *ctx, const void *bytes, size_t size)
{
    file_bytes *file = (file_bytes *)ctx;
    if (size > sizeof file->at - file->size)
        return 1;
    memcpy(file->at + file->size, bytes, size);
    file->size += size;
    return 0;
}

static gsa_model *train(const gsa_batch *batch)
{
    gsa_error error;
    gsa_config *config;
    gsa_state *state;
    gsa_model *model;
    int pass;
    check(gsa_config_new(NULL, &config, &error) == GSA_OK, "no configuration");
    check(gsa_state_new(config, NULL, &state, &error) == GSA_OK, "no state");
    gsa_config_free(config);
    for (pass = 0; pass < 5; pass++) {
        check(gsa_state_update(state, batch, &error) == GSA_OK, "no update");
        check(gsa_state_end_pass(state, &error) == GSA_OK, "the pass does not end");
    }
    check(gsa_state_finish(state, NULL, &model, &error) == GSA_OK, "no model");
    gsa_state_free(state);
    return model;
}

int main(void)
{
    /* The label is whether the first value is positive. */
    static const float value[] = {2, 1, -2, 1, 3, -1, -3, -1};
    static const double label[] = {1, 0, 1, 0};
    static file_bytes file;
    double before[8], after[8];
    gsa_batch batch;
    gsa_error error;
    gsa_model *model, *copy;
    const char *codec_version;
    int r;

    memset(&batch, 0, sizeof batch);
    batch.n_rows = 4;
    batch.width = 2;
    batch.value = value;
    batch.label = label;
    model = train(&batch);
    check(gsa_model_predict(model, &batch, before, &error) == GSA_OK, "no prediction");
    for (r = 0; r < 4; r++)
        check((before[2 * r + 1] > 0.5) == (label[r] > 0.5), "a row of four is wrong");

    check(gsa_model_write(model, receive, &file, &error) == GSA_OK, "no file");
    check(gsa_model_read(file.at, file.size, NULL, &copy, &error) == GSA_OK, "no model in the file");
    check(gsa_model_predict(copy, &batch, after, &error) == GSA_OK, "no prediction by the copy");
    check(memcmp(before, after, sizeof before) == 0, "the copy predicts otherwise");
    gsa_model_free(copy);
    gsa_model_free(model);
    check(gsa_codec_at(0, &codec_version) != NULL, "no codec");
    check(strcmp(gsa_version(), GSA_VERSION) == 0, "library and header are of different versions");
    printf("%s\n", gsa_version());
    return 0;
}
