/* Predictions of a reader's rows, on threads, in the order of the rows.
 *
 * Every worker takes the rows that come next, predicts them and makes their text beside the others, and hands them on
 * when its turn has come. No thread waits for a full block, so that a stream is answered as it comes.
 *
 *   P1  whoever has `reading` may touch the reader, `last`, `n_rows` and what waits in blocks; n_taken is the number of
 * the turn; P2  whoever has `telling` and whose turn it is (n_told) may call the hook and set the result; P3  the turn
 * after which there is nothing more to tell is the first that failed or met the end. */
#include "base/workers.h"
#include "train/block.h"
#include "train/prediction_text.h"

#include "base/error.h"
#include "base/memory.h"

#include <greedystep/train.h>

#include <stdatomic.h>
#include <stdbool.h>

/* Numbers computed at a time: many classes must not make a batch of rows a huge table. */
#define TABLE_LEN ((size_t)1 << 18)
/* And long labels must not make their text one. */
#define MAX_TEXT ((size_t)16 << 20)

typedef struct worker {
    gsai_block *block;
    double *number;
    char *text;
    size_t number_capacity, text_capacity;
    uint64_t turn;
    gsa_batch rows;
    gsa_predictions some;
    gsa_error error;
} worker;

typedef struct predicting {
    const gsa_model *model;
    gsa_model_info info;
    gsa_reader *reader;
    const gsa_predict_hooks *hooks;
    gsa_env env;
    bool has_margins; /* classes without probabilities */
    size_t width, most_rows, n_workers;
    worker *workers;
    pthread_mutex_t reading, telling;
    pthread_cond_t told;
    const gsai_block *last;
    uint64_t n_rows, n_taken, n_told;
    gsai_prediction_text text;
    atomic_bool ended;
    gsa_status status;
    gsa_error failure;
} predicting;

/* The class that is predicted, and how sure that is. The one margin of two classes is that of the second. */
static size_t best_class(const predicting *run, const double *row, double *number)
{
    size_t best = 0;
    if (run->has_margins && run->info.n_classes <= 2) {
        best = run->info.n_classes == 2 && row[0] > 0;
        *number = best ? row[0] : -row[0];
        return best;
    }
    for (size_t i = 1; i < run->width; i++)
        best = row[i] > row[best] ? i : best;
    *number = row[best];
    return best;
}

/* Makes the text of predictions that have their numbers. */
static gsa_status write_text(const predicting *run, worker *mine)
{
    size_t n_rows = mine->rows.n_rows, size = 0;
    for (size_t i = 0; i < n_rows; i++) {
        const double *row = mine->number + i * run->width;
        double number = row[0];
        size_t best = run->info.n_classes > 0 ? best_class(run, row, &number) : 0;
        if (!gsai_reserve(&run->env, &mine->text, &mine->text_capacity, size + run->text.room, 1))
            return gsai_fail_memory(&run->env, &mine->error, "no memory for the text of %zu predictions", n_rows);
        uint64_t row_number = mine->some.first_row + i + 1;
        size = (size_t)(gsai_prediction_text_line(&run->text, row_number, best, number, row, mine->text + size) -
                        mine->text);
    }
    mine->some.text = mine->text;
    mine->some.text_size = size;
    return GSA_OK;
}

/* The next rows, and their turn. */
static gsa_status take_rows(predicting *run, worker *mine)
{
    gsa_status status = GSA_END;
    pthread_mutex_lock(&run->reading);
    if (!run->ended) {
        if (run->last)
            gsai_block_match(mine->block, run->last);
        run->last = mine->block;
        status = run->env.should_stop(run->env.stop_ctx)
                     ? gsai_fail(&mine->error, GSA_STOPPED, "stopped on request")
                     : gsai_block_take(mine->block, run->reader, run->most_rows, &mine->rows, &mine->error);
    }
    if (status != GSA_OK)
        run->ended = true;
    mine->turn = run->n_taken++;
    mine->some = (gsa_predictions){.rows = &mine->rows, .first_row = run->n_rows, .width = run->width};
    run->n_rows += status == GSA_OK ? mine->rows.n_rows : 0;
    pthread_mutex_unlock(&run->reading);
    return status;
}

static gsa_status predict_rows(const predicting *run, worker *mine)
{
    size_t n = mine->rows.n_rows * run->width;
    if (!gsai_reserve(&run->env, &mine->number, &mine->number_capacity, n, sizeof *mine->number))
        return gsai_fail_memory(&run->env, &mine->error, "no memory for %zu predictions", n);
    gsa_status status =
        (run->has_margins ? gsa_model_margins : gsa_model_predict)(run->model, &mine->rows, mine->number, &mine->error);
    if (status != GSA_OK)
        gsa_reader_locate(run->reader, &mine->rows, &mine->error);
    mine->some.number = mine->number;
    return status == GSA_OK && run->hooks->text != GSA_TEXT_NONE ? write_text(run, mine) : status;
}

static void hand_on(predicting *run, worker *mine, gsa_status status)
{
    pthread_mutex_lock(&run->telling);
    while (run->n_told != mine->turn)
        pthread_cond_wait(&run->told, &run->telling);
    if (run->status == GSA_OK && status == GSA_OK)
        status = run->hooks->take(run->hooks->ctx, &mine->some, &mine->error);
    if (run->status == GSA_OK && status != GSA_OK) {
        run->ended = true;
        run->status = status;
        run->failure = mine->error;
    }
    run->n_told++;
    pthread_cond_broadcast(&run->told);
    pthread_mutex_unlock(&run->telling);
}

static gsa_status work(void *ctx, size_t number, gsa_error *unused)
{
    predicting *run = ctx;
    worker *mine = &run->workers[number];
    (void)unused;
    while (!run->ended) {
        mine->error = (gsa_error){.row = GSA_NO_ROW};
        gsa_status status = take_rows(run, mine);
        hand_on(run, mine, status == GSA_OK ? predict_rows(run, mine) : status);
    }
    return GSA_OK;
}

static gsa_status set_up(predicting *run, gsa_error *error)
{
    const gsa_model_info *info = &run->info;
    gsa_model_get_info(run->model, &run->info);
    run->has_margins = info->n_classes > 0 && !info->has_probabilities;
    run->width = (size_t)(run->has_margins ? info->n_outputs : info->n_classes > 0 ? info->n_classes : 1);
    run->most_rows = run->width < TABLE_LEN ? TABLE_LEN / run->width : 1;
    if (run->most_rows > GSA_BLOCK_ROWS)
        run->most_rows = GSA_BLOCK_ROWS;
    run->workers = gsai_alloc_zeroed(&run->env, run->n_workers, sizeof *run->workers);
    gsa_status status = run->workers ? GSA_OK : gsai_fail_memory(&run->env, error, "no memory to predict");
    for (size_t i = 0; i < run->n_workers && status == GSA_OK; i++)
        status = gsai_block_new(&run->env, &run->workers[i].block, error);
    if (status == GSA_OK && run->hooks->text != GSA_TEXT_NONE)
        status = gsai_prediction_text_open(&run->text, run->model, run->hooks, &run->env, error);
    if (run->text.room > MAX_TEXT / run->most_rows)
        run->most_rows = run->text.room < MAX_TEXT ? MAX_TEXT / run->text.room : 1;
    return status;
}

static gsa_status tell_header(predicting *run, gsa_error *error)
{
    gsa_batch no_rows = {0};
    worker *first = &run->workers[0];
    if (!gsai_reserve(&run->env, &first->text, &first->text_capacity, run->text.room, 1))
        return gsai_fail_memory(&run->env, error, "no memory for the names of columns");
    gsa_predictions some = {.rows = &no_rows, .width = run->width, .text = first->text};
    some.text_size = (size_t)(gsai_prediction_text_header(&run->text, first->text) - first->text);
    return run->hooks->take(run->hooks->ctx, &some, error);
}

gsa_status gsa_predict(const gsa_model *model, gsa_reader *reader, const gsa_predict_hooks *hooks, const gsa_env *env,
                       gsa_error *error)
{
    predicting run = {.model = model,
                      .reader = reader,
                      .hooks = hooks,
                      .env = gsai_env_resolve(env),
                      .reading = PTHREAD_MUTEX_INITIALIZER,
                      .telling = PTHREAD_MUTEX_INITIALIZER,
                      .told = PTHREAD_COND_INITIALIZER};
    run.n_workers = gsai_workers_count(&run.env);
    gsa_status status = set_up(&run, error);
    if (status == GSA_OK && hooks->header && hooks->text == GSA_TEXT_CSV)
        status = tell_header(&run, error);
    if (status == GSA_OK)
        status = gsai_workers_run(run.n_workers, run.n_workers, work, &run, &run.env, error);
    if (status == GSA_OK && run.status != GSA_END) {
        status = run.status;
        if (error)
            *error = run.failure;
    }
    for (size_t i = 0; run.workers && i < run.n_workers; i++) {
        gsai_block_free(run.workers[i].block);
        gsai_free(&run.env, run.workers[i].number);
        gsai_free(&run.env, run.workers[i].text);
    }
    gsai_free(&run.env, run.workers);
    gsai_free(&run.env, run.text.start);
    return status;
}
