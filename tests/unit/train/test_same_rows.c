/* The same rows train to the same weights, to the bit, whatever format they come in, where the feature ids agree:
 * numbers as libsvm text, as a table, as an Arrow stream and as caches; words as a table, as Vowpal Wabbit text, as
 * caches and, by the numbers of their features, as libsvm text. */
#include "runs.h"

#include "support/arrow_numbers.h"

#include <greedystep/distributed.h>

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- one set of rows -------------------------------------------------------------------------------------------- */

enum { N_COLUMNS = 5, N_WORDS = 9 };

typedef struct table {
    size_t n_rows;
    double *label, *weight, *cell[N_COLUMNS]; /* NaN: absent */
} table;

/* Cells are floats of few digits, of very different sizes, a fifth of them absent and some of them 0. */
static table make_table(size_t n_rows, uint64_t seed)
{
    static const double unit[N_COLUMNS] = {1, 1024, 0.03125, 1, 16};
    table made = {.n_rows = n_rows, .label = calloc(n_rows, sizeof(double)), .weight = calloc(n_rows, sizeof(double))};
    gsai_rng rng = gsai_rng_of(seed, 0, 0);
    for (size_t k = 0; k < N_COLUMNS; k++)
        made.cell[k] = calloc(n_rows, sizeof(double));
    for (size_t i = 0; i < n_rows; i++) {
        double score = gsai_rng_unit(&rng) - 0.5;
        for (size_t k = 0; k < N_COLUMNS; k++) {
            double x = floor(gsai_rng_unit(&rng) * 64) / 16 - 2;
            made.cell[k][i] = gsai_rng_unit(&rng) < 0.2 ? (double)NAN : x * unit[k];
            score += isnan(made.cell[k][i]) ? 0 : x * ((double)k - 2);
        }
        made.label[i] = score > 0;
        made.weight[i] = floor(gsai_rng_unit(&rng) * 8) / 4;
    }
    return made;
}

/* Zeros in place of missing numbers, which tables count as the mean and libsvm text as 0. */
static void fill_gaps(table *of)
{
    for (size_t k = 0; k < N_COLUMNS; k++)
        for (size_t i = 0; i < of->n_rows; i++)
            of->cell[k][i] = isnan(of->cell[k][i]) ? 0 : of->cell[k][i];
}

static void free_table(table *of)
{
    for (size_t k = 0; k < N_COLUMNS; k++)
        free(of->cell[k]);
    free(of->label);
    free(of->weight);
}

typedef struct text {
    char *at;
    size_t size;
} text;

static text libsvm_of(const table *from)
{
    text made = {0};
    FILE *out = open_memstream(&made.at, &made.size);
    for (size_t i = 0; i < from->n_rows; i++) {
        fprintf(out, "%g", from->label[i]);
        for (size_t k = 0; k < N_COLUMNS; k++)
            if (!isnan(from->cell[k][i]))
                fprintf(out, " %zu:%.9g", k + 1, from->cell[k][i]);
        fputc('\n', out);
    }
    fclose(out);
    return made;
}

static text csv_of(const table *from)
{
    text made = {0};
    FILE *out = open_memstream(&made.at, &made.size);
    fprintf(out, "a,b,y,c,d,w,e\n");
    for (size_t i = 0; i < from->n_rows; i++) {
        for (size_t k = 0; k < N_COLUMNS; k++) {
            if (!isnan(from->cell[k][i]))
                fprintf(out, "%.9g", from->cell[k][i]);
            fprintf(out, k == 4 ? "\n" : ",");
            if (k == 1)
                fprintf(out, "%g,", from->label[i]);
            if (k == 3)
                fprintf(out, "%g,", from->weight[i]);
        }
    }
    fclose(out);
    return made;
}

/* The word of a cell, -1 if there is none. */
static int word_of(const table *from, size_t row, size_t column)
{
    double x = from->cell[column][row];
    return isnan(x) ? -1 : (int)fmod(fabs(x) * 64, N_WORDS);
}

static text csv_of_words(const table *from)
{
    text made = {0};
    FILE *out = open_memstream(&made.at, &made.size);
    fprintf(out, "y,w,a,b,c,d,e\n");
    for (size_t i = 0; i < from->n_rows; i++) {
        fprintf(out, "%g,%g", from->label[i], from->weight[i]);
        for (size_t k = 0; k < N_COLUMNS; k++) {
            fputc(',', out);
            if (word_of(from, i, k) >= 0)
                fprintf(out, "town%d", word_of(from, i, k));
        }
        fputc('\n', out);
    }
    fclose(out);
    return made;
}

static text vw_of_words(const table *from, bool with_weights)
{
    text made = {0};
    FILE *out = open_memstream(&made.at, &made.size);
    for (size_t i = 0; i < from->n_rows; i++) {
        fprintf(out, "%g", from->label[i]);
        if (with_weights)
            fprintf(out, " %g", from->weight[i]);
        fprintf(out, " |");
        for (size_t k = 0; k < N_COLUMNS; k++)
            if (word_of(from, i, k) >= 0)
                fprintf(out, " |%c town%d", (char)('a' + (int)k), word_of(from, i, k));
        fputc('\n', out);
    }
    fclose(out);
    return made;
}

/* ---- readers of it ---------------------------------------------------------------------------------------------- */

static gsa_reader *open_text(const text *what, const char *name, const gsa_reader_options *options)
{
    gsa_error error = {0};
    gsa_reader *reader = NULL;
    must_be_ok(gsa_reader_open_memory(what->at, what->size, name, options, NULL, NULL, &reader, &error), &error);
    return reader;
}

/* Through a pipe, which holds the text at once. */
static gsa_reader *open_pipe(const text *what, const gsa_reader_options *options)
{
    int end[2];
    char name[32];
    const char *path = name;
    gsa_error error = {0};
    gsa_reader *reader = NULL;
    assert_int_equal(pipe(end), 0);
    assert_true(what->size <= 65536);
    assert_int_equal(write(end[1], what->at, what->size), (ssize_t)what->size);
    close(end[1]);
    snprintf(name, sizeof name, "/dev/fd/%d", end[0]);
    must_be_ok(gsa_reader_open(&path, 1, options, NULL, NULL, &reader, &error), &error);
    must_be_ok(gsa_reader_begin(reader, &error), &error); /* opens it */
    close(end[0]);
    return reader;
}

typedef struct arrow_table {
    const double *column[N_COLUMNS + 2];
    arrow_numbers numbers;
} arrow_table;

static int open_again(void *ctx, struct ArrowArrayStream *out)
{
    *out = arrow_stream(ctx);
    return 0;
}

/* can_rewind: it can be read again, as a file can. */
static gsa_reader *open_arrow(arrow_table *memory, const table *from, const gsa_reader_options *options,
                              bool can_rewind)
{
    static const char *const names[] = {"a", "b", "y", "c", "d", "w", "e"};
    const double *column[] = {from->cell[0], from->cell[1], from->label,  from->cell[2],
                              from->cell[3], from->weight,  from->cell[4]};
    gsa_error error = {0};
    gsa_reader *reader = NULL;
    memcpy(memory->column, column, sizeof column);
    memory->numbers = (arrow_numbers){names, memory->column, N_COLUMNS + 2, (int64_t)from->n_rows, 999, 0};
    struct ArrowArrayStream stream = arrow_stream(&memory->numbers);
    const gsa_arrow_again again = {.size = sizeof again, .open = open_again, .ctx = &memory->numbers};
    must_be_ok(gsa_reader_open_arrow(&stream, can_rewind ? &again : NULL, options, NULL, NULL, &reader, &error),
               &error);
    return reader;
}

/* Writes the rows of a reader, which is closed, to a file. False if this build does not compress like that. */
static bool write_rows(gsa_reader *from, const char *path)
{
    gsa_error error = {0};
    gsa_writer *writer = NULL;
    gsa_batch batch;
    gsa_status status = gsa_writer_open(path, NULL, NULL, NULL, &writer, &error);
    bool is_supported = status != GSA_UNSUPPORTED;
    if (is_supported) {
        must_be_ok(status, &error);
        must_be_ok(gsa_reader_begin(from, &error), &error);
        must_be_ok(gsa_writer_set_schema(writer, gsa_reader_schema(from), &error), &error);
        while ((status = gsa_reader_next(from, &batch, &error)) == GSA_OK)
            must_be_ok(gsa_writer_write(writer, &batch, &error), &error);
        assert_int_equal(status, GSA_END);
        must_be_ok(gsa_writer_close(writer, &error), &error);
    }
    gsa_reader_close(from);
    return is_supported;
}

/* ---- their models ----------------------------------------------------------------------------------------------- */

typedef enum how { DEFAULTS, ONE_PASS } how;

/* Closes the reader. */
static gsa_model *learned(gsa_reader *reader, how plan)
{
    gsa_error error = {0};
    gsa_state *state = plan == DEFAULTS ? state_with("method", "auto", NULL)
                                        : state_with("method", "auto", "order", "file", "passes", "1", NULL);
    must_be_ok(gsa_train(state, reader, NULL, NULL, &error), &error);
    gsa_model *model = model_of(state);
    gsa_state_free(state);
    gsa_reader_close(reader);
    return model;
}

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Closes the reader; the name is of its format. */
static void must_learn(const gsa_model *expected, gsa_reader *reader, how plan, const char *name)
{
    gsa_model_info info = {.size = sizeof info}, other = {.size = sizeof other};
    gsa_model *model = learned(reader, plan);
    gsa_model_get_info(expected, &info);
    gsa_model_get_info(model, &other);
    if (other.n_features != info.n_features || other.n_rows != info.n_rows || other.n_passes != info.n_passes)
        fail_msg("%s: %d features, %d rows, %d passes", name, (int)other.n_features, (int)other.n_rows,
                 (int)other.n_passes);
    for (uint64_t i = 0; i < info.n_features; i++)
        if (bits_of(gsa_model_weight(model, i, 0)) != bits_of(gsa_model_weight(expected, i, 0)))
            fail_msg("%s: weight %d is %a", name, (int)i, (double)gsa_model_weight(model, i, 0));
    assert_true(gsa_model_intercept(model, 0) == gsa_model_intercept(expected, 0));
    gsa_model_free(model);
}

/* The same of a file that the rows of a reader are written to, in the format of its ending. */
static void must_learn_as(const gsa_model *expected, gsa_reader *from, const char *ending, how plan)
{
    char name[64];
    const char *path = name;
    gsa_error error = {0};
    gsa_reader *reader = NULL;
    snprintf(name, sizeof name, "/tmp/gsa-same-rows-%ld%s", (long)getpid(), ending);
    if (!write_rows(from, path))
        return;
    must_be_ok(gsa_reader_open(&path, 1, NULL, NULL, NULL, &reader, &error), &error);
    must_learn(expected, reader, plan, ending);
    unlink(path);
}

/* Something was learned, so that equal weights say something. */
static void must_have_learned(const gsa_model *model, uint64_t least_features)
{
    gsa_model_info info = {.size = sizeof info};
    gsa_model_get_info(model, &info);
    assert_true(info.n_features >= least_features);
    uint64_t n = 0;
    for (uint64_t i = 0; i < info.n_features; i++)
        n += gsa_model_weight(model, i, 0) != 0;
    assert_true(n >= 4);
}

static const gsa_reader_options plain = {.size = sizeof plain, .ignore = "w"},
                                weighted = {.size = sizeof weighted, .weight = "w"};

/* What is read once is not learned as a whole, as a small file is: they meet where files are longer than that. */
static void numbers_train_alike(const table *from, how plan)
{
    arrow_table arrow;
    text svm = libsvm_of(from), csv = csv_of(from);
    gsa_model *model = learned(open_text(&svm, "t.svm", NULL), plan);
    must_have_learned(model, N_COLUMNS);
    must_learn(model, open_text(&csv, "t.csv", &plain), plan, "csv");
    static const char *const endings[] = {".gsac", ".gsac.gz", ".gsac.zst", ".svm", ".svm.gz", ".svm.zst"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        must_learn_as(model, open_text(&svm, "t.svm", NULL), endings[i], plan);
    must_learn_as(model, open_text(&csv, "t.csv", &plain), ".gsac", plan);
    must_learn_as(model, open_arrow(&arrow, from, &plain, false), ".gsac", plan);
    must_learn(model, open_arrow(&arrow, from, &plain, true), plan, "arrow");
    if (from->n_rows > GSA_BLOCK_ROWS)
        must_learn(model, open_arrow(&arrow, from, &plain, false), plan, "arrow, once");
    gsa_model_free(model);
    free(svm.at);
    free(csv.at);
}

static void weighted_numbers_train_alike(const table *from, how plan)
{
    arrow_table arrow;
    text csv = csv_of(from), svm = libsvm_of(from);
    gsa_model *model = learned(open_text(&csv, "t.csv", &weighted), plan);
    gsa_model *unweighted = learned(open_text(&svm, "t.svm", NULL), plan);
    must_have_learned(model, N_COLUMNS);
    assert_int_not_equal(bits_of(gsa_model_weight(model, 0, 0)), bits_of(gsa_model_weight(unweighted, 0, 0)));
    must_learn_as(model, open_text(&csv, "t.csv", &weighted), ".gsac", plan);
    must_learn_as(model, open_arrow(&arrow, from, &weighted, false), ".gsac", plan);
    must_learn(model, open_arrow(&arrow, from, &weighted, true), plan, "arrow");
    gsa_model_free(model);
    gsa_model_free(unweighted);
    free(csv.at);
    free(svm.at);
}

static void numbers_train_to_the_same_bits_in_every_format(void **unused)
{
    (void)unused;
    table small = make_table(1500, 1);
    weighted_numbers_train_alike(&small, DEFAULTS);
    fill_gaps(&small);
    numbers_train_alike(&small, DEFAULTS);
    free_table(&small);
}

/* Longer than what a team learns as a whole, and than a block. */
static void long_inputs_train_to_the_same_bits_in_every_format(void **unused)
{
    (void)unused;
    table large = make_table(70000, 2);
    weighted_numbers_train_alike(&large, ONE_PASS);
    fill_gaps(&large);
    numbers_train_alike(&large, ONE_PASS);
    free_table(&large);
}

static void streams_train_to_the_same_bits_in_every_format(void **unused)
{
    (void)unused;
    arrow_table arrow;
    table small = make_table(1200, 3);
    fill_gaps(&small);
    text svm = libsvm_of(&small), csv = csv_of(&small);
    gsa_model *model = learned(open_pipe(&svm, NULL), DEFAULTS);
    must_have_learned(model, N_COLUMNS);
    must_learn(model, open_pipe(&csv, &plain), DEFAULTS, "csv");
    must_learn(model, open_arrow(&arrow, &small, &plain, false), DEFAULTS, "arrow");
    gsa_model_free(model);
    free(svm.at);
    free(csv.at);
    free_table(&small);
}

/* Words of a table without numbers have the ids of the features of namespaces with the names of its columns. */
static void words_train_alike(const table *from, how plan)
{
    const gsa_reader_options of_csv = {.size = sizeof of_csv, .ignore = "w", .bits = 12},
                             of_vw = {.size = sizeof of_vw, .bits = 12};
    const gsa_reader_options of_weighted_csv = {.size = sizeof of_weighted_csv, .weight = "w", .bits = 12};
    text csv = csv_of_words(from), vw = vw_of_words(from, false), weighted_vw = vw_of_words(from, true);
    gsa_model *model = learned(open_text(&csv, "t.csv", &of_csv), plan);
    must_have_learned(model, N_COLUMNS * N_WORDS / 2);
    must_learn(model, open_text(&vw, "t.vw", &of_vw), plan, "vw");
    static const char *const endings[] = {".gsac", ".svm"};
    for (size_t i = 0; i < 2; i++) {
        must_learn_as(model, open_text(&vw, "t.vw", &of_vw), endings[i], plan);
        must_learn_as(model, open_text(&csv, "t.csv", &of_csv), endings[i], plan);
    }
    gsa_model *other = learned(open_text(&csv, "t.csv", &of_weighted_csv), plan);
    must_learn(other, open_text(&weighted_vw, "t.vw", &of_vw), plan, "weighted vw");
    must_learn_as(other, open_text(&weighted_vw, "t.vw", &of_vw), ".gsac", plan);
    gsa_model_free(model);
    gsa_model_free(other);
    free(csv.at);
    free(vw.at);
    free(weighted_vw.at);
}

static void words_train_to_the_same_bits_in_every_format(void **unused)
{
    (void)unused;
    table small = make_table(1500, 4), large = make_table(70000, 5);
    words_train_alike(&small, DEFAULTS);
    words_train_alike(&large, ONE_PASS);
    free_table(&small);
    free_table(&large);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_train_to_the_same_bits_in_every_format),
        cmocka_unit_test(long_inputs_train_to_the_same_bits_in_every_format),
        cmocka_unit_test(streams_train_to_the_same_bits_in_every_format),
        cmocka_unit_test(words_train_to_the_same_bits_in_every_format),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
