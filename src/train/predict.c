/* Predictions of a reader's rows, on threads, in the order of the rows. */
#include "model/model.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "train/scan.h"

#include <greedystep/train.h>

#include <math.h>
#include <stdbool.h>
#include <string.h>

/* ---- text: lines for people, CSV (RFC 4180, but lines end in \n) or a JSON object per line ---------------------- */

/* A line is begin ROW KEPT before_label LABEL before_number NUMBER before_every NUMBERS end, as far as it has them;
 * with GSA_TEXT_LINES the kept texts are last. Labels are quoted once, so writing a line copies bytes and formats
 * numbers. */
typedef struct prediction_text {
    gsa_text kind;
    size_t n_classes, n_listed; /* listed: classes whose numbers are in a line; all or none */
    size_t n_ends;              /* of an interval: 2, or 0 */
    size_t n_kept;              /* texts of a row that are written */
    char *kept_marks;           /* the texts before each of them, NUL-terminated */
    const char *begin, *before_label, *before_number, *before_end[2], *before_every, *end;
    const char *header, *prefix; /* the first columns of CSV; the letters before a label that names a column */
    size_t *start;               /* of each label in `label`, which is in the same memory */
    char *label;                 /* all labels, quoted where the format asks for it */
    size_t room;                 /* the maximum size of a line without its kept texts */
} prediction_text;

#define FIXED_ROOM ((size_t)128) /* bytes of a line beside labels and the numbers of classes */
#define CLASS_ROOM (GSAI_DECIMAL_SIZE + 2)
#define NAME_SIZE ((size_t)256)
#define MAX_WRITTEN 1.79769313486231e308 /* rounded to 15 digits, DBL_MAX would be read as infinity */
#define JSON_GROWTH ((size_t)6)          /* a control character as \uXXXX */

static char *put(char *out, const char *text)
{
    size_t size = strlen(text);
    memcpy(out, text, size);
    return out + size;
}

/* Writes a text. CSV quotes it if it has to be, blanks at its ends for readers that trim among the reasons. Bytes that
 * are not UTF-8 become question marks in JSON, control characters escapes; in lines, blanks. */
static char *put_text(char *out, const char *text, gsa_text kind)
{
    size_t size = strlen(text);
    bool is_json = kind == GSA_TEXT_JSONL, is_csv = kind == GSA_TEXT_CSV;
    bool is_plain = size > 0 && !strpbrk(text, ",\"\r\n") && text[0] != ' ' && text[size - 1] != ' ';
    bool is_quoted = is_json || (is_csv && !is_plain);
    if (is_csv && is_plain)
        return put(out, text);
    if (is_quoted)
        *out++ = '"';
    for (size_t at = 0, n; at < size; at += n) {
        unsigned char c = (unsigned char)text[at];
        size_t valid = is_json ? gsai_utf8_character(text + at, size - at) : 1;
        n = valid > 0 ? valid : 1;
        if (c < 0x20 && is_json) {
            out = put(out, "\\u00");
            *out++ = (char)('0' + c / 16);
            *out++ = "0123456789abcdef"[c % 16];
            n = 1;
        } else if (valid == 0) {
            out = put(out, "?");
        } else if (c < 0x20 && !is_csv) {
            out = put(out, " ");
        } else {
            if (is_quoted && (c == '"' || (c == '\\' && is_json)))
                *out++ = is_json ? '\\' : '"';
            memcpy(out, text + at, n);
            out += n;
        }
    }
    return is_quoted ? put(out, "\"") : out;
}

/* Writes the kept texts of a row; a bad row may lack some, which are empty. */
static char *put_kept(const prediction_text *text, const char *kept, size_t size, char *out)
{
    const char *mark = text->kept_marks, *end = kept + size;
    for (size_t i = 0; i < text->n_kept; i++, mark += strlen(mark) + 1) {
        const char *own = kept < end ? kept : "";
        out = put(out, mark);
        if (*own || text->kind == GSA_TEXT_JSONL) /* an empty cell of CSV stays empty */
            out = put_text(out, own, text->kind);
        kept += kept < end ? strlen(kept) + 1 : 0;
    }
    return text->kind == GSA_TEXT_JSONL && text->n_kept > 0 ? put(out, "}") : out;
}

static char *put_class(const prediction_text *text, size_t number, char *out)
{
    size_t size = text->start[number + 1] - text->start[number];
    memcpy(out, text->label + text->start[number], size);
    return out + size;
}

/* Returns whether a name is in the list before `end`, which commas separate. */
static bool has_name(const char *names, const char *end, const char *name)
{
    size_t size = strlen(name);
    for (const char *item = names; item < end; item += strcspn(item, ",") + 1)
        if (strcspn(item, ",") == size && memcmp(item, name, size) == 0)
            return true;
    return false;
}

/* Copies the first name of a list, cut to NAME_SIZE. Returns the rest of the list, NULL after the last. */
static const char *copy_name(const char *item, char name[NAME_SIZE])
{
    size_t length = strcspn(item, ","), size = length < NAME_SIZE ? length : NAME_SIZE - 1;
    memcpy(name, item, size);
    name[size] = '\0';
    return item[length] == ',' ? item + length + 1 : NULL;
}

/* Makes the texts before kept ones: names in JSON, separators in CSV and lines. Refuses a name that the line has
 * already: of a kept text or, in CSV, of a column of predictions. */
static gsa_status mark_kept(prediction_text *text, const char *names, const gsa_model *model, const gsai_env *env,
                            gsa_error *error)
{
    char name[NAME_SIZE];
    const char *answers = text->header + 1;
    size_t size = names ? strlen(names) : 0;
    text->kept_marks = gsai_alloc_zeroed(env, JSON_GROWTH * size + FIXED_ROOM, 1);
    GSAI_TRY_MEMORY(text->kept_marks, env, error, "no memory for the names of columns");
    char *out = text->kept_marks;
    for (const char *item = names, *next; item; item = next) {
        next = copy_name(item, name);
        if (has_name(names, item, name))
            return gsai_fail(error, GSA_ARGUMENT, "the column '%s' is to be kept twice: name it once", name);
        bool is_answer = strcmp(name, "row") == 0 || has_name(answers, answers + strlen(answers), name);
        for (size_t i = 0; i < text->n_listed && !is_answer; i++)
            is_answer = strncmp(name, text->prefix, 2) == 0 && strcmp(name + 2, gsa_model_label(model, i)) == 0;
        if (is_answer && text->kind == GSA_TEXT_CSV)
            return gsai_fail(
                error, GSA_ARGUMENT,
                "predictions have a column '%s' too: rename the one to be kept, or write JSON lines or text", name);
        if (text->kind == GSA_TEXT_JSONL)
            out = put(put_text(put(out, text->n_kept > 0 ? "," : ",\"kept\":{"), name, text->kind), ":");
        else
            out = put(out, text->kind == GSA_TEXT_CSV ? "," : "\t");
        *out++ = '\0';
        text->n_kept++;
    }
    text->room += JSON_GROWTH * size + FIXED_ROOM + 4 * text->n_kept;
    return GSA_OK;
}

static gsa_status text_open(prediction_text *text, const gsa_model *model, const gsa_predict_hooks *hooks,
                            const gsai_env *env, gsa_error *error)
{
    gsa_model_info info = {.size = sizeof info};
    gsa_model_get_info(model, &info);
    size_t n = (size_t)info.n_classes, size = (n + 1) * sizeof *text->start + JSON_GROWTH;
    bool has_all = info.has_probabilities || info.n_outputs == info.n_classes;
    bool is_listed = hooks->every_class && hooks->text != GSA_TEXT_LINES && has_all;
    *text = (prediction_text){
        .kind = hooks->text, .n_classes = n, .n_listed = is_listed ? n : 0, .n_ends = hooks->coverage > 0 ? 2 : 0};
    static const char *const json_number[] = {",\"prediction\":", ",\"margin\":", ",\"probability\":"};
    bool is_json = text->kind == GSA_TEXT_JSONL, is_csv = text->kind == GSA_TEXT_CSV, has_classes = n > 0;
    text->begin = is_json ? "{\"row\":" : "";
    text->before_label = is_json ? ",\"label\":" : is_csv ? "," : "";
    if (is_json)
        text->before_number = json_number[has_classes + (has_classes && info.has_probabilities)];
    else
        text->before_number = is_csv ? "," : has_classes ? " " : "";
    text->before_end[0] = is_json ? ",\"lower\":" : is_csv ? "," : " ";
    text->before_end[1] = is_json ? ",\"upper\":" : text->before_end[0];
    text->before_every = !is_json ? "," : info.has_probabilities ? ",\"probabilities\":{" : ",\"margins\":{";
    text->header = hooks->coverage > 0      ? ",prediction,lower,upper"
                   : !has_classes           ? ",prediction"
                   : info.has_probabilities ? ",label,probability"
                                            : ",label,margin";
    text->prefix = info.has_probabilities ? "p_" : "m_";
    text->end = !is_json ? "\n" : text->n_listed > 0 ? "}}\n" : "}\n";
    for (size_t i = 0; i < n; i++)
        size += JSON_GROWTH * (strlen(gsa_model_label(model, i)) + 1);
    text->start = gsai_alloc_zeroed(env, size, 1);
    GSAI_TRY_MEMORY(text->start, env, error, "no memory for the text of %zu labels", n);
    text->label = (char *)(text->start + n + 1);
    for (size_t i = 0; i < n; i++) {
        char *from = text->label + text->start[i], *to = put_text(from, gsa_model_label(model, i), text->kind);
        text->start[i + 1] = (size_t)(to - text->label);
        text->room = (size_t)(to - from) > text->room ? (size_t)(to - from) : text->room;
    }
    text->room += FIXED_ROOM + 2 * text->n_ends * CLASS_ROOM + (is_listed ? text->start[n] + n * CLASS_ROOM : 0);
    return mark_kept(text, hooks->kept, model, env, error);
}

/* ---- predicting ------------------------------------------------------------------------------------------------- */

#define TABLE_LEN ((size_t)1 << 18) /* numbers of a piece at most, however many classes there are */
#define MAX_TEXT ((size_t)16 << 20) /* bytes of its text, however long labels are */

typedef struct predicting {
    const gsa_model *model;
    gsa_model_info info;
    gsa_predict_hooks hooks;
    gsai_env env;
    bool has_margins; /* classes without probabilities */
    size_t width;
    prediction_text text;
} predicting;

/* Writes the predictions of a row: label, number and the numbers of all classes, as far as the format has them. */
static char *put_prediction(const predicting *run, const double *row, char *out)
{
    const prediction_text *text = &run->text;
    double number = row[0];
    size_t best = 0;
    if (run->has_margins && run->info.n_classes <= 2) { /* two classes have one margin, that of the second */
        best = run->info.n_classes == 2 && number > 0;
    } else if (text->n_classes > 0) {
        for (size_t i = 1; i < run->width; i++)
            best = row[i] > row[best] ? i : best;
        number = row[best];
    }
    if (text->n_classes > 0)
        out = put_class(text, best, put(out, text->before_label));
    bool is_far = text->n_classes == 0 && fabs(number) >= 1e6; /* small differences count, too */
    int digits = is_far ? 15 : text->kind == GSA_TEXT_LINES && text->n_classes > 0 ? 6 : 9;
    out = gsai_decimal_general(fmin(number, MAX_WRITTEN), digits, put(out, text->before_number));
    for (size_t i = 0; i < text->n_listed; i++) {
        out = put(out, i > 0 ? "," : text->before_every);
        if (text->kind == GSA_TEXT_JSONL)
            out = put(put_class(text, i, out), ":");
        out = gsai_decimal_general(row[i], 9, out);
    }
    double end[2];
    bool has_ends =
        text->n_ends > 0 && gsa_model_intervals(run->model, run->hooks.coverage, &number, 1, end, NULL) == GSA_OK;
    for (size_t i = 0; i < text->n_ends && has_ends; i++)
        out = gsai_decimal_general(end[i], digits, put(out, text->before_end[i]));
    return out;
}

static gsa_status write_text(const predicting *run, gsai_piece *of, gsa_error *error)
{
    const gsa_batch *rows = &of->rows;
    const prediction_text *text = &run->text;
    bool is_lines = text->kind == GSA_TEXT_LINES, is_json = text->kind == GSA_TEXT_JSONL;
    of->text_size = 0;
    for (size_t i = 0; i < rows->n_rows; i++) {
        const char *kept = rows->kept ? rows->kept + rows->kept_start[i] : "";
        size_t kept_size = rows->kept ? rows->kept_start[i + 1] - rows->kept_start[i] : 0;
        size_t size = of->text_size + text->room + JSON_GROWTH * kept_size;
        GSAI_TRY_MEMORY(gsai_reserve(&run->env, &of->text, &of->text_capacity, size, 1), &run->env, error,
                        "no memory for the text of %zu predictions", rows->n_rows);
        char *out = of->text + of->text_size;
        bool is_bad = rows->bad && rows->bad[i];
        if (!is_lines) {
            out = gsai_decimal_unsigned(of->first_row + i + 1, put(out, text->begin));
            out = put_kept(text, kept, kept_size, out);
        }
        if (!is_bad) {
            out = put_prediction(run, of->number + i * run->width, out);
        } else if (is_lines) { /* a row that could not be read: NA, null, or empty cells */
            out = put(out, "NA");
        } else {
            const char *nothing = is_json ? "null" : "";
            if (text->n_classes > 0)
                out = put(put(out, text->before_label), nothing);
            out = put(put(out, text->before_number), nothing);
            for (size_t k = 0; k < text->n_listed + text->n_ends && !is_json; k++)
                out = put(out, ",");
        }
        if (is_lines && text->n_kept > 0)
            out = put_kept(text, kept, kept_size, out);
        else if (is_lines && kept_size > 1) /* a tag */
            out = put_text(put(out, "\t"), kept, text->kind);
        out = put(out, is_bad && is_json ? "}\n" : text->end);
        of->text_size = (size_t)(out - of->text);
    }
    return GSA_OK;
}

static gsa_status predict_piece(void *ctx, gsai_piece *of, gsa_error *error)
{
    const predicting *run = ctx;
    size_t n = of->rows.n_rows * run->width;
    GSA_TRY((run->has_margins ? gsa_model_margins : gsa_model_predict)(run->model, &of->rows, of->number, error));
    for (size_t i = 0; of->rows.bad && i < n; i++)
        if (of->rows.bad[i / run->width])
            of->number[i] = NAN;
    return run->hooks.text != GSA_TEXT_NONE ? write_text(run, of, error) : GSA_OK;
}

static gsa_status deliver_piece(void *ctx, gsai_piece *of, gsa_error *error)
{
    const predicting *run = ctx;
    gsa_predictions some = {.rows = &of->rows,
                            .first_row = of->first_row,
                            .width = run->width,
                            .number = of->number,
                            .text = run->hooks.text != GSA_TEXT_NONE ? of->text : NULL,
                            .text_size = of->text_size};
    return run->hooks.take(run->hooks.ctx, &some, error);
}

static gsa_status deliver_header(const predicting *run, gsa_error *error)
{
    const prediction_text *text = &run->text;
    gsa_batch no_rows = {0};
    char name[NAME_SIZE], *line = gsai_alloc(&run->env, text->room, 1);
    GSAI_TRY_MEMORY(line, &run->env, error, "no memory for the names of columns");
    char *out = put(line, "row");
    for (const char *item = run->hooks.kept; item;) {
        item = copy_name(item, name);
        out = put_text(put(out, ","), name, text->kind);
    }
    out = put(out, text->header);
    for (size_t i = 0; i < text->n_listed; i++) {
        char *cell = put(out, ",");
        out = put_class(text, i, cell + 2);
        cell[0] = '"'; /* if the label begins so, the prefix comes behind that */
        memcpy(cell + (cell[2] == '"'), text->prefix, 2);
    }
    out = put(out, "\n");
    gsa_predictions some = {.rows = &no_rows, .width = run->width, .text = line, .text_size = (size_t)(out - line)};
    gsa_status status = run->hooks.take(run->hooks.ctx, &some, error);
    gsai_free(&run->env, line);
    return status;
}

gsa_status gsa_predict(const gsa_model *model, gsa_reader *reader, const gsa_predict_hooks *hooks, const gsa_call *call,
                       gsa_error *error)
{
    predicting run = {.model = model, .info.size = sizeof run.info};
    GSA_TRY(gsai_env_take(&run.env, &model->env.memory, call, error));
    GSA_TRY(gsai_take(&run.hooks, hooks, error));
    gsa_model_get_info(model, &run.info);
    size_t n_outputs = (size_t)run.info.n_outputs, n_classes = (size_t)run.info.n_classes;
    run.has_margins = n_classes > 0 && !run.info.has_probabilities;
    run.width = run.has_margins ? n_outputs : n_classes > 0 ? n_classes : 1;
    gsa_status status = GSA_OK;
    if (run.hooks.coverage != 0)
        status = gsa_model_intervals(model, run.hooks.coverage, NULL, 0, NULL, error);
    if (status == GSA_OK && run.hooks.text != GSA_TEXT_NONE)
        status = text_open(&run.text, model, &run.hooks, &run.env, error);
    if (status == GSA_OK && run.hooks.header && run.hooks.text == GSA_TEXT_CSV)
        status = deliver_header(&run, error);
    if (status == GSA_OK) {
        size_t max_rows = run.width < TABLE_LEN ? TABLE_LEN / run.width : 1;
        max_rows = max_rows < GSA_BLOCK_ROWS ? max_rows : GSA_BLOCK_ROWS;
        if (run.text.room > MAX_TEXT / max_rows)
            max_rows = run.text.room < MAX_TEXT ? MAX_TEXT / run.text.room : 1;
        gsai_scan scan = {reader, max_rows, run.width, predict_piece, deliver_piece, &run};
        status = gsai_scan_rows(&scan, &run.env, error);
    }
    gsai_free(&run.env, run.text.start);
    gsai_free(&run.env, run.text.kept_marks);
    return status;
}

/* ---- contributions ---------------------------------------------------------------------------------------------- */

gsa_status gsa_explain(const gsa_model *model, const gsa_batch *batch, const uint64_t *cell, size_t n_cells,
                       double *out, gsa_error *error)
{
    gsa_schema_info of = {.size = sizeof of, .n_numbers = batch->width, .first_word = UINT64_MAX};
    if (model->schema)
        GSA_TRY(gsa_schema_get_info(model->schema, &of, error));
    if (model->schema ? !cell && of.n_words + of.n_dates > 0 : batch->index != NULL)
        return gsai_fail(error, GSA_UNSUPPORTED, "the rows have features and no columns: give the table itself");
    if (of.n_texts + (of.n_crosses > 0) > 1)
        return gsai_fail(error, GSA_UNSUPPORTED,
                         "the words of several columns of texts, or of texts and crosses, cannot be told apart");
    const size_t rest = (size_t)(of.n_texts > 0 ? of.first_text : of.n_numbers + of.n_words);
    const size_t n_numbers = (size_t)of.n_numbers, n_columns = n_numbers + (size_t)of.n_words;
    const size_t n_outputs = model->n_outputs, n_pairs = model->basis.n_surfaces,
                 first_pair = (n_columns + (of.n_crosses > 0)) * n_outputs, width = first_pair + n_pairs * n_outputs;
    for (size_t r = 0; r < batch->n_rows; r++, out += width, cell += cell ? n_cells : 0) {
        gsai_row row = gsai_row_at(batch, r);
        memset(out, 0, width * sizeof *out);
        for (size_t i = 0; i < row.n; i++) {
            uint32_t id = gsai_row_id(&row, i);
            float x = gsai_row_value(&row, i);
            const gsai_row one = {1, &id, &x};
            for (size_t c = n_numbers; c < n_cells && id >= of.first_word; c++) {
                uint64_t word = of.first_word + (cell[c] & ((UINT64_C(1) << of.bits) - 1));
                double *to = out + (c < n_columns ? c : (size_t)(cell[c] >> 32)) * n_outputs;
                if (cell[c] == 0 || (of.n_texts > 0 && c == rest) || id != (c < n_columns ? word : (uint32_t)cell[c]))
                    continue;
                gsai_model_add_row(model, &one, 1, to);
                x--; /* the rest is that of other categories which share the feature, and of crosses */
                gsai_model_add_row(model, &one, -1, to);
            }
            if (of.n_per > 0 && id >= of.first_per)
                gsai_model_add_row(model, &one, 1, out + of.per * n_outputs);
            else if (id < of.first_word || of.n_texts + of.n_crosses > 0)
                gsai_model_add_row(model, &one, 1, out + (id < of.first_word ? id % n_numbers : rest) * n_outputs);
        }
        gsai_model_add_pairs(model, &row, n_outputs, out + first_pair);
    }
    return GSA_OK;
}
