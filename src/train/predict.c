/* Predictions of a reader's rows, on threads, in the order of the rows.
 *
 * Every worker takes the rows that come next, predicts them and makes their text beside the others, and hands them on
 * when its turn has come. No thread waits for a full block, so that a stream is answered as it comes.
 *
 *   1 The worker that has `reading` may touch the reader, `last`, `n_rows` and rows that wait in blocks; n_taken is the
 *     number of its turn.
 *   2 The worker that has `telling` and whose turn it is (n_told) may call the hook and set the result.
 *   3 The first turn that failed or came to the end is the last one that is told. */
#include "model/model.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/workers.h"
#include "train/block.h"

#include <greedystep/train.h>

#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

/* ---- text: lines for people, CSV (RFC 4180, but lines end in \n) or a JSON object per line ---------------------- */

/* Labels are quoted once, when it is opened: a line is copies and digits. */

/* A line: begin ROW before_label LABEL before_number NUMBER before_every NUMBERS end, as far as it has them. */
typedef struct prediction_text {
    gsa_text kind;
    size_t n_classes, n_listed; /* listed: classes whose numbers stand in a line; all or none */
    const char *begin, *before_label, *before_number, *before_every, *end;
    const char *header, *prefix; /* the first columns of CSV; what stands before a label that names one */
    size_t *start; /* of each label in `label`, which lies behind it, as it is written: quoted where it must be */
    char *label;
    size_t room; /* that no line exceeds */
} prediction_text;

#define FIXED_ROOM ((size_t)128) /* what a line has beside labels and the numbers of classes */
#define CLASS_ROOM (GSAI_DECIMAL_SIZE + 2)
#define MAX_GROWTH 2 /* a byte with one before it that quotes it */

static char *put(char *out, const char *text)
{
    size_t size = strlen(text);
    memcpy(out, text, size);
    return out + size;
}

/* Blanks at the ends are quoted for those who trim. A label is UTF-8 without control characters, which JSON takes. */
static char *put_label(char *out, const char *label, gsa_text kind)
{
    size_t size = strlen(label);
    bool is_plain = size > 0 && !strpbrk(label, ",\"") && label[0] != ' ' && label[size - 1] != ' ';
    if (kind == GSA_TEXT_LINES || (kind == GSA_TEXT_CSV && is_plain))
        return put(out, label);
    *out++ = '"';
    for (; *label; label++) {
        if (*label == '"' || (*label == '\\' && kind == GSA_TEXT_JSONL))
            *out++ = kind == GSA_TEXT_JSONL ? '\\' : '"';
        *out++ = *label;
    }
    return put(out, "\"");
}

static char *put_class(const prediction_text *text, size_t number, char *out)
{
    size_t size = text->start[number + 1] - text->start[number];
    memcpy(out, text->label + text->start[number], size);
    return out + size;
}

static void set_marks(prediction_text *text, bool has_probabilities)
{
    static const char *const json_number[] = {",\"prediction\":", ",\"margin\":", ",\"probability\":"};
    bool is_json = text->kind == GSA_TEXT_JSONL, has_classes = text->n_classes > 0;
    text->begin = is_json ? "{\"row\":" : "";
    text->before_label = is_json ? ",\"label\":" : text->kind == GSA_TEXT_CSV ? "," : "";
    text->before_number = is_json                      ? json_number[has_classes + (has_classes && has_probabilities)]
                          : text->kind == GSA_TEXT_CSV ? ","
                          : has_classes                ? " "
                                                       : "";
    text->before_every = !is_json ? "," : has_probabilities ? ",\"probabilities\":{" : ",\"margins\":{";
    text->header = !has_classes ? "row,prediction" : has_probabilities ? "row,label,probability" : "row,label,margin";
    text->prefix = has_probabilities ? "p_" : "m_";
    text->end = !is_json ? "\n" : text->n_listed > 0 ? "}}\n" : "}\n";
}

static gsa_status text_open(prediction_text *text, const gsa_model *model, const gsa_predict_hooks *hooks,
                            const gsa_env *env, gsa_error *error)
{
    gsa_model_info info = {.size = sizeof info};
    gsa_model_get_info(model, &info);
    size_t n = (size_t)info.n_classes, size = (n + 1) * sizeof *text->start + MAX_GROWTH;
    bool has_all = info.has_probabilities || info.n_outputs == info.n_classes;
    bool is_listed = hooks->every_class && hooks->text != GSA_TEXT_LINES && has_all;
    *text = (prediction_text){.kind = hooks->text, .n_classes = n, .n_listed = is_listed ? n : 0};
    set_marks(text, info.has_probabilities);
    for (size_t i = 0; i < n; i++)
        size += MAX_GROWTH * (strlen(gsa_model_label(model, i)) + 1);
    text->start = gsai_alloc_zeroed(env, size, 1);
    if (!text->start)
        return gsai_fail_memory(env, error, "no memory for the text of %zu labels", n);
    text->label = (char *)(text->start + n + 1);
    for (size_t i = 0; i < n; i++) {
        char *from = text->label + text->start[i], *to = put_label(from, gsa_model_label(model, i), text->kind);
        text->start[i + 1] = (size_t)(to - text->label);
        text->room = (size_t)(to - from) > text->room ? (size_t)(to - from) : text->room;
    }
    text->room += FIXED_ROOM + (is_listed ? text->start[n] + n * CLASS_ROOM : 0);
    return GSA_OK;
}

static char *text_header(const prediction_text *text, char *out)
{
    out = put(out, text->header);
    for (size_t i = 0; i < text->n_listed; i++) {
        char *cell = put(out, ",");
        out = put_class(text, i, cell + 2);
        cell[0] = '"'; /* if the label begins so, the prefix comes behind that */
        memcpy(cell + (cell[2] == '"'), text->prefix, 2);
    }
    return put(out, "\n");
}

static char *text_line(const prediction_text *text, uint64_t row, size_t best, double number, const double *every,
                       char *out)
{
    bool is_lines = text->kind == GSA_TEXT_LINES;
    out = put(out, text->begin);
    if (!is_lines)
        out = gsai_decimal_unsigned(row, out);
    if (text->n_classes > 0)
        out = put_class(text, best, put(out, text->before_label));
    out = gsai_decimal_general(number, is_lines && text->n_classes > 0 ? 6 : 9, put(out, text->before_number));
    for (size_t i = 0; i < text->n_listed; i++) {
        out = put(out, i > 0 ? "," : text->before_every);
        if (text->kind == GSA_TEXT_JSONL)
            out = put(put_class(text, i, out), ":");
        out = gsai_decimal_general(every[i], 9, out);
    }
    return put(out, text->end);
}

/* ---- predicting ------------------------------------------------------------------------------------------------- */

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
    size_t width, max_rows, n_workers;
    worker *workers;
    pthread_mutex_t reading, telling;
    pthread_cond_t told;
    const gsai_block *last;
    uint64_t n_rows, n_taken, n_told;
    prediction_text text;
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
        size = (size_t)(text_line(&run->text, row_number, best, number, row, mine->text + size) - mine->text);
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
            gsai_block_continue(mine->block, run->last);
        run->last = mine->block;
        status = gsai_should_stop(&run->env)
                     ? gsai_fail(&mine->error, GSA_STOPPED, "stopped on request")
                     : gsai_block_take(mine->block, run->reader, run->max_rows, &mine->rows, &mine->error);
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
    run->info.size = sizeof run->info;
    gsa_model_get_info(run->model, &run->info);
    run->has_margins = info->n_classes > 0 && !info->has_probabilities;
    run->width = (size_t)(run->has_margins ? info->n_outputs : info->n_classes > 0 ? info->n_classes : 1);
    run->max_rows = run->width < TABLE_LEN ? TABLE_LEN / run->width : 1;
    if (run->max_rows > GSA_BLOCK_ROWS)
        run->max_rows = GSA_BLOCK_ROWS;
    run->workers = gsai_alloc_zeroed(&run->env, run->n_workers, sizeof *run->workers);
    gsa_status status = run->workers ? GSA_OK : gsai_fail_memory(&run->env, error, "no memory to predict");
    for (size_t i = 0; i < run->n_workers && status == GSA_OK; i++)
        status = gsai_block_new(&run->env, &run->workers[i].block, error);
    if (status == GSA_OK && run->hooks->text != GSA_TEXT_NONE)
        status = text_open(&run->text, run->model, run->hooks, &run->env, error);
    if (run->text.room > MAX_TEXT / run->max_rows)
        run->max_rows = run->text.room < MAX_TEXT ? MAX_TEXT / run->text.room : 1;
    return status;
}

static gsa_status tell_header(predicting *run, gsa_error *error)
{
    gsa_batch no_rows = {0};
    worker *first = &run->workers[0];
    if (!gsai_reserve(&run->env, &first->text, &first->text_capacity, run->text.room, 1))
        return gsai_fail_memory(&run->env, error, "no memory for the names of columns");
    gsa_predictions some = {.rows = &no_rows, .width = run->width, .text = first->text};
    some.text_size = (size_t)(text_header(&run->text, first->text) - first->text);
    return run->hooks->take(run->hooks->ctx, &some, error);
}

gsa_status gsa_predict(const gsa_model *model, gsa_reader *reader, const gsa_predict_hooks *hooks, const gsa_call *call,
                       gsa_error *error)
{
    gsa_env own;
    GSA_TRY(gsai_env_take(&own, &model->env.memory, call, error));
    gsa_predict_hooks taken;
    GSA_TRY(gsai_take(&taken, hooks, error));
    predicting run = {.model = model,
                      .reader = reader,
                      .hooks = &taken,
                      .env = own,
                      .reading = PTHREAD_MUTEX_INITIALIZER,
                      .telling = PTHREAD_MUTEX_INITIALIZER,
                      .told = PTHREAD_COND_INITIALIZER};
    run.n_workers = gsai_workers_count(&run.env);
    gsa_status status = set_up(&run, error);
    if (status == GSA_OK && taken.header && taken.text == GSA_TEXT_CSV)
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
