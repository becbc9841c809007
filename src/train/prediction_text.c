/* The text of predictions. Labels are quoted once, when it is opened: a line is copies and digits. */
#include "train/prediction_text.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/significant.h"

#include <stdbool.h>
#include <string.h>

#define FIXED_ROOM ((size_t)128) /* what a line has beside labels and the numbers of classes */
#define CLASS_ROOM (GSAI_DECIMAL_SIZE + 2)
#define MOST_GROWTH 2 /* a byte with one before it that quotes it */

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

static char *put_class(const gsai_prediction_text *text, size_t number, char *out)
{
    size_t size = text->start[number + 1] - text->start[number];
    memcpy(out, text->label + text->start[number], size);
    return out + size;
}

static void set_marks(gsai_prediction_text *text, bool has_probabilities)
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

gsa_status gsai_prediction_text_open(gsai_prediction_text *text, const gsa_model *model, const gsa_predict_hooks *hooks,
                                     const gsa_env *env, gsa_error *error)
{
    gsa_model_info info;
    gsa_model_get_info(model, &info);
    size_t n = (size_t)info.n_classes, size = (n + 1) * sizeof *text->start + MOST_GROWTH;
    bool has_all = info.has_probabilities || info.n_outputs == info.n_classes;
    bool is_listed = hooks->every_class && hooks->text != GSA_TEXT_LINES && has_all;
    *text = (gsai_prediction_text){.kind = hooks->text, .n_classes = n, .n_listed = is_listed ? n : 0};
    set_marks(text, info.has_probabilities);
    for (size_t i = 0; i < n; i++)
        size += MOST_GROWTH * (strlen(gsa_model_label(model, i)) + 1);
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

char *gsai_prediction_text_header(const gsai_prediction_text *text, char *out)
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

char *gsai_prediction_text_line(const gsai_prediction_text *text, uint64_t row, size_t best, double number,
                                const double *every, char *out)
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
