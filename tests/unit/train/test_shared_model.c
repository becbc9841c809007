/* One const model, many threads: every answer has the bits that one thread gets. Of most use under a thread sanitizer.
 */
#include "runs.h"

#include <pthread.h>
#include <unistd.h>

enum { N_THREADS = 64, N_ROWS = 200, TURNS = 4 };

typedef struct answers {
    double predicted[N_ROWS * 3], dense[3];
    size_t n_classes, class_of_first;
    float weight;
    uint64_t hash; /* of the bytes that the model is written as */
    size_t text_size;
    double log_loss;
} answers;

typedef struct asker {
    const gsa_model *model;
    const gsa_batch *batch;
    answers got;
} asker;

static int add_to_hash(void *ctx, const void *written, size_t size)
{
    uint64_t *hash = ctx;
    for (size_t i = 0; i < size; i++)
        *hash = (*hash ^ ((const unsigned char *)written)[i]) * 1099511628211u;
    return 0;
}

static gsa_status count_text(void *ctx, const gsa_predictions *some, gsa_error *error)
{
    (void)error;
    *(size_t *)ctx += some->text_size;
    return GSA_OK;
}

static void ask(const gsa_model *model, const gsa_batch *batch, answers *out)
{
    static const float dense_row[] = {1, 0, 0.5f, 0, 2};
    const gsa_batch dense = {.n_rows = 1, .value = dense_row, .width = 5};
    gsa_model_info info = {.size = sizeof info};
    gsa_metrics *metrics;
    gsa_metric metric;
    *out = (answers){.hash = 14695981039346656037u};
    gsa_model_get_info(model, &info);
    out->n_classes = (size_t)info.n_classes;
    must_be_ok(gsa_model_predict(model, batch, out->predicted, NULL), NULL);
    must_be_ok(gsa_model_predict(model, &dense, out->dense, NULL), NULL);
    must_be_ok(gsa_model_class(model, batch, 0, &out->class_of_first, NULL), NULL);
    out->weight = gsa_model_weight(model, 7, 1) + (float)strlen(gsa_model_label(model, 1));
    must_be_ok(gsa_model_write(model, add_to_hash, &out->hash, NULL), NULL);
    must_be_ok(gsa_metrics_new(model, &metrics, NULL), NULL);
    must_be_ok(gsa_metrics_update(metrics, batch, NULL), NULL);
    must_be_ok(gsa_metrics_finish(metrics, NULL), NULL);
    for (size_t i = 0; gsa_metrics_at(metrics, i, &metric) == GSA_OK; i++)
        out->log_loss = strcmp(metric.name, "log_loss") == 0 ? metric.value : out->log_loss;
    gsa_metrics_free(metrics);
    gsa_reader *reader = generated(50, 3, 4);
    gsa_predict_hooks hooks = {
        .size = sizeof hooks, .ctx = &out->text_size, .text = GSA_TEXT_CSV, .every_class = 1, .take = count_text};
    must_be_ok(gsa_predict(model, reader, &hooks, &(gsa_call){.size = sizeof(gsa_call), .n_threads = 1}, NULL), NULL);
    gsa_reader_close(reader);
}

static void *ask_again_and_again(void *ctx)
{
    asker *mine = ctx;
    for (int turn = 0; turn < TURNS; turn++)
        ask(mine->model, mine->batch, &mine->got);
    return NULL;
}

static gsa_model *mapped_model(void)
{
    gsa_error error = {0};
    gsa_state *state = state_with("passes", "1", "holdout", "none", NULL);
    gsa_reader *reader = generated(3000, 3, 1);
    must_be_ok(gsa_train(state, reader, NULL, NULL, &error), &error);
    gsa_model *model = model_of(state), *mapped = NULL;
    char path[] = "/tmp/gsa-shared-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    must_be_ok(gsa_model_save(model, path, &error), &error);
    must_be_ok(gsa_model_load(path, NULL, NULL, &mapped, &error), &error);
    unlink(path);
    gsa_reader_close(reader);
    gsa_state_free(state);
    gsa_model_free(model);
    return mapped;
}

static void threads_that_share_a_model_get_the_bits_that_one_gets(void **unused)
{
    (void)unused;
    static asker askers[N_THREADS];
    static answers alone;
    pthread_t threads[N_THREADS];
    gsa_model *model = mapped_model();
    gsa_reader *reader = generated(N_ROWS, 3, 2);
    gsa_batch batch;
    must_be_ok(gsa_reader_next(reader, &batch, NULL), NULL);
    assert_int_equal(batch.n_rows, N_ROWS);
    ask(model, &batch, &alone);
    assert_int_equal(alone.n_classes, 3);
    assert_true(alone.text_size > 50 && alone.log_loss > 0);
    for (size_t i = 0; i < N_THREADS; i++) {
        askers[i] = (asker){.model = model, .batch = &batch};
        assert_int_equal(pthread_create(&threads[i], NULL, ask_again_and_again, &askers[i]), 0);
    }
    for (size_t i = 0; i < N_THREADS; i++)
        pthread_join(threads[i], NULL);
    for (size_t i = 0; i < N_THREADS; i++) {
        assert_memory_equal(askers[i].got.predicted, alone.predicted, sizeof alone.predicted);
        assert_memory_equal(askers[i].got.dense, alone.dense, sizeof alone.dense);
        assert_true(askers[i].got.class_of_first == alone.class_of_first && askers[i].got.weight == alone.weight);
        assert_true(askers[i].got.hash == alone.hash && askers[i].got.text_size == alone.text_size);
        assert_true(askers[i].got.log_loss == alone.log_loss);
    }
    gsa_reader_close(reader);
    gsa_model_free(model);
}

/* ---- rows of cells ---------------------------------------------------------------------------------------------- */

enum { N_CELLS = 3, TABLE_ROWS = 300 };

typedef struct cells_asker {
    const gsa_model *model;
    const char (*text)[N_CELLS][16];
    double predicted[TABLE_ROWS * 2];
} cells_asker;

static void *ask_by_cells(void *ctx)
{
    static const char *const columns[] = {"colour", "size", "when"};
    cells_asker *mine = ctx;
    gsa_row *row;
    gsa_batch batch;
    must_be_ok(gsa_row_new(gsa_model_schema(mine->model), columns, N_CELLS, NULL, &row, NULL), NULL);
    for (size_t r = 0; r < TABLE_ROWS; r++) {
        gsa_cell cells[N_CELLS];
        for (size_t i = 0; i < N_CELLS; i++)
            cells[i] = (gsa_cell){.text = mine->text[r][i], .text_size = strlen(mine->text[r][i])};
        must_be_ok(gsa_row_set(row, cells, &batch, NULL), NULL);
        must_be_ok(gsa_model_predict(mine->model, &batch, mine->predicted + 2 * r, NULL), NULL);
    }
    gsa_row_free(row);
    return NULL;
}

static void rows_of_cells_have_the_predictions_of_the_reader(void **unused)
{
    (void)unused;
    static char text[64 * TABLE_ROWS];
    static char cell[TABLE_ROWS][N_CELLS][16];
    static cells_asker askers[4];
    static double predicted[TABLE_ROWS * 2];
    pthread_t threads[4];
    gsa_error error = {0};
    size_t size = (size_t)snprintf(text, sizeof text, "size,colour,when,y\n"), n = 0;
    for (size_t r = 0; r < TABLE_ROWS; r++) {
        snprintf(cell[r][0], sizeof cell[r][0], "c%zu", r * 7 % 11);
        if (r % 13 > 0)
            snprintf(cell[r][1], sizeof cell[r][1], "%zu.%zu", r * 31 % 17, r % 10);
        snprintf(cell[r][2], sizeof cell[r][2], "2024-0%zu-1%zu", r % 9 + 1, r % 10);
        size += (size_t)snprintf(text + size, sizeof text - size, "%s,%s,%s,%s\n", cell[r][1], cell[r][0], cell[r][2],
                                 (r * 31 % 17 + r * 7 % 11 + r % 5) % 29 > 12 ? "yes" : "no");
    }
    gsa_reader *reader;
    gsa_batch batch;
    gsa_state *state = state_with("holdout", "auto", NULL);
    const gsa_reader_options options = {.size = sizeof options, .label = "y"};
    must_be_ok(gsa_reader_open_memory(text, size, "t.csv", &options, NULL, NULL, &reader, &error), &error);
    must_be_ok(gsa_train(state, reader, NULL, NULL, &error), &error);
    gsa_model *model = model_of(state);
    must_be_ok(gsa_reader_rewind(reader, &error), &error);
    for (; gsa_reader_next(reader, &batch, &error) == GSA_OK; n += batch.n_rows)
        must_be_ok(gsa_model_predict(model, &batch, predicted + 2 * n, &error), &error);
    assert_int_equal(n, TABLE_ROWS);
    assert_true(predicted[0] != predicted[2]);
    for (size_t i = 0; i < 4; i++) {
        askers[i] = (cells_asker){.model = model, .text = (const char(*)[N_CELLS][16])cell};
        assert_int_equal(pthread_create(&threads[i], NULL, ask_by_cells, &askers[i]), 0);
    }
    for (size_t i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        assert_memory_equal(askers[i].predicted, predicted, sizeof predicted);
    }
    gsa_reader_close(reader);
    gsa_state_free(state);
    gsa_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_cells_have_the_predictions_of_the_reader),
        cmocka_unit_test(threads_that_share_a_model_get_the_bits_that_one_gets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
