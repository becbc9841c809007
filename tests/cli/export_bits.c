/* export_bits MODEL DATA LIBRARY NAME: whether NAME_predict of an exported model, compiled to a shared library, gives
 * the bits of the library for every row of DATA, sparse and dense, and the class that `predict` would name.
 * export_bits MODEL DATA: prints the bits of the library, a line per row, for others to compare. */
#include <greedystep/data.h>
#include <greedystep/greedystep.h>

#include <dlfcn.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int predict_fn(const uint32_t *index, const float *value, size_t n, double *out);

enum { MOST_OUT = 1024, MOST_WIDTH = 4096 };

typedef struct comparing {
    gsa_model *model;
    gsa_model_info info;
    predict_fn *predict;
    const char *const *labels;
    size_t width;
    unsigned long n_rows, n_different;
} comparing;

static void die(const char *what, const gsa_error *error)
{
    printf("export_bits: %s%s%s\n", what, error != NULL ? ": " : "", error != NULL ? error->message : "");
    exit(1);
}

static int best_of(const comparing *what, const double *out)
{
    int best = 0;
    if (what->width == 1)
        return what->info.n_classes == 2 && out[0] > 0;
    for (size_t k = 1; k < what->width; k++)
        best = out[k] > out[best] ? (int)k : best;
    return best;
}

static void compare(comparing *what, const gsa_batch *one, const uint32_t *index, const float *value, size_t n)
{
    double expected[MOST_OUT], got[MOST_OUT];
    gsa_error error;
    int has_margins = what->info.n_classes > 0 && !what->info.has_probabilities;
    gsa_status status = (has_margins ? gsa_model_margins : gsa_model_predict)(what->model, one, expected, &error);
    if (status != GSA_OK)
        die("predict", &error);
    if (what->predict == NULL) {
        for (size_t k = 0; k < what->width; k++) {
            uint64_t bits;
            memcpy(&bits, &expected[k], sizeof bits);
            printf(k == 0 ? "%016" PRIx64 : " %016" PRIx64, bits);
        }
        putchar('\n');
        return;
    }
    memset(got, 0x55, sizeof got);
    int best = what->predict(index, value, n, got);
    what->n_rows++;
    if (memcmp(expected, got, what->width * sizeof *got) == 0 && best == best_of(what, expected) &&
        (what->width == MOST_OUT || isless(got[what->width], DBL_MAX)))
        return;
    if (what->n_different++ == 0)
        printf("export_bits: row %lu: %a became %a, class %d\n", what->n_rows, expected[0], got[0], best);
}

/* The same row in dense form, as far as it is narrow. */
static void compare_dense(comparing *what, const uint32_t *index, const float *value, size_t n)
{
    static float dense[MOST_WIDTH];
    memset(dense, 0, sizeof dense);
    for (size_t i = 0; i < n; i++)
        if (index[i] < MOST_WIDTH)
            dense[index[i]] = value != NULL ? value[i] : 1.0f;
    gsa_batch row = {.n_rows = 1, .value = dense, .width = MOST_WIDTH};
    compare(what, &row, NULL, dense, MOST_WIDTH);
}

static void compare_rows(comparing *what, gsa_reader *reader)
{
    gsa_batch batch;
    gsa_error error;
    gsa_status status;
    while ((status = gsa_reader_next(reader, &batch, &error)) == GSA_OK) {
        for (size_t r = 0; r < batch.n_rows; r++) {
            size_t from = (size_t)batch.row_start[r], n = (size_t)batch.row_start[r + 1] - from;
            const float *value = batch.value != NULL ? batch.value + from : NULL;
            gsa_batch one = {.n_rows = 1, .row_start = batch.row_start + r, .index = batch.index, .value = batch.value};
            compare(what, &one, batch.index + from, value, n);
            if (what->predict != NULL)
                compare_dense(what, batch.index + from, value, n);
        }
    }
    if (status != GSA_END)
        die("reading", &error);
}

static void check_labels(const comparing *what)
{
    for (size_t k = 0; k < what->info.n_classes; k++)
        if (strcmp(what->labels[k], gsa_model_label(what->model, k)) != 0)
            die("another label", NULL);
}

/* Values that are no numbers are refused, and nothing is written. */
static void check_refusal(const comparing *what)
{
    const float bad[] = {NAN, INFINITY, -INFINITY};
    const uint32_t index[] = {0, UINT32_MAX};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        double out = 7;
        float value[] = {1, bad[i]};
        if (what->predict(index, value, 2, &out) != -1 || isless(out, 7) || isgreater(out, 7))
            die("a value that is not finite was taken", NULL);
    }
}

static void *symbol(void *library, const char *name, const char *end)
{
    char text[128];
    snprintf(text, sizeof text, "%s_%s", name, end);
    return dlsym(library, text);
}

int main(int argc, char **argv)
{
    comparing what = {0};
    gsa_error error;
    gsa_reader *reader;
    const char *path = argc == 5 || argc == 3 ? argv[2] : NULL;
    if (path == NULL || gsa_model_load(argv[1], NULL, NULL, &what.model, &error) != GSA_OK)
        die("usage: export_bits MODEL DATA [LIBRARY NAME], with a model", NULL);
    what.info.size = sizeof what.info;
    gsa_model_get_info(what.model, &what.info);
    void *library = argc == 5 ? dlopen(argv[3], RTLD_NOW) : NULL;
    void *found = library != NULL ? symbol(library, argv[4], "predict") : NULL;
    if (argc == 5 && found == NULL)
        die("no library, or no function in it", NULL);
    memcpy(&what.predict, &found, sizeof found);
    what.labels = found != NULL ? symbol(library, argv[4], "label") : NULL;
    what.width = (size_t)(what.info.has_probabilities ? what.info.n_classes : what.info.n_outputs);
    if (gsa_reader_open(&path, 1, NULL, NULL, NULL, &reader, &error) != GSA_OK ||
        (gsa_model_schema(what.model) != NULL &&
         gsa_reader_set_schema(reader, gsa_model_schema(what.model), &error) != GSA_OK))
        die("opening", &error);
    if (found != NULL) {
        check_labels(&what);
        check_refusal(&what);
    }
    compare_rows(&what, reader);
    gsa_reader_close(reader);
    gsa_model_free(what.model);
    if (library == NULL)
        return 0;
    dlclose(library);
    printf("%lu rows, %lu different\n", what.n_rows, what.n_different);
    return what.n_different > 0;
}
