/* Results for people and for programs. */
#include "report.h"

#include "printable.h"
#include "style.h"
#include "views.h"

#include "base/schema_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_WIDTH = 18, SHORT_NAME_WIDTH = 9, LINE_WIDTH = 80, TEXT_SIZE = 10000, DOUBLE_DIGITS = 17 };

void report_name(const char *name)
{
    printf("%s%-*s%s ", style_begin(stdout, STYLE_NAME), NAME_WIDTH, name, style_end(stdout, STYLE_NAME));
}

/* Cleaned of what a terminal must not be shown, between the marks of a style. */
static void print_text(style_role role, const char *format, va_list arguments)
{
    char text[TEXT_SIZE];
    vsnprintf(text, sizeof text, format, arguments);
    printf("%s%s%s\n", style_begin(stdout, role), printable_clean(text), style_end(stdout, role));
}

void report_heading(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print_text(STYLE_HEADING, format, arguments);
    va_end(arguments);
}

void report_field(const char *name, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    report_name(name);
    print_text(STYLE_NONE, format, arguments);
    va_end(arguments);
}

void report_short_name(const char *name)
{
    printf("%s%-*s%s ", style_begin(stdout, STYLE_NAME), SHORT_NAME_WIDTH, name, style_end(stdout, STYLE_NAME));
}

void report_paragraph(const char *name, const char *format, ...)
{
    char text[TEXT_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    const char *word = printable_clean(text);
    size_t indent = SHORT_NAME_WIDTH + 1, at = indent;
    report_short_name(name);
    while (*word != '\0') {
        size_t size = strcspn(word, " ");
        if (at > indent && at + 1 + size > LINE_WIDTH) {
            printf("\n%*s", (int)indent, "");
            at = indent;
        }
        at += (size_t)printf("%s%.*s", at > indent ? " " : "", (int)size, word);
        word += size + (word[size] == ' ');
    }
    putchar('\n');
}

void report_append(char *line, size_t size, const char *format, ...)
{
    va_list arguments;
    size_t used = strlen(line);
    va_start(arguments, format);
    vsnprintf(line + used, size - used, format, arguments);
    va_end(arguments);
}

bool report_is_whole(double value)
{
    return value >= 0 && value < 0x1p53 && value == floor(value);
}

/* The metrics that count something are shown without a fraction, unless row weights have one. */
static bool is_count(gsa_metric metric)
{
    const char *name = metric.name;
    bool counts = strcmp(name, "rows") == 0 || strcmp(name, "unknown_labels") == 0 || strncmp(name, "true_", 5) == 0 ||
                  strncmp(name, "false_", 6) == 0;
    return counts && report_is_whole(metric.value);
}

static const char *metric_text(gsa_metric metric, char buffer[32])
{
    if (isnan(metric.value))
        return "undefined";
    snprintf(buffer, 32, is_count(metric) ? "%.0f" : "%.6g", metric.value);
    return buffer;
}

void report_metrics(const gsa_metrics *metrics)
{
    gsa_metric metric;
    char text[32];
    for (size_t i = 0; gsa_metrics_at(metrics, i, &metric) == GSA_OK; i++)
        report_field(metric.name, "%s", metric_text(metric, text));
}

static bool is_headline(const char *name)
{
    static const char *const headlines[] = {"log_loss", "accuracy", "auc", "rmse", "r2"};
    double any = 0;
    for (size_t i = 0; i < sizeof headlines / sizeof *headlines; i++) {
        if (strcmp(name, headlines[i]) == 0)
            return true;
    }
    return gsa_loss_measure(name, &any) != NULL; /* some losses are metrics under their own name */
}

const char *report_headlines(const gsa_metrics *metrics, const char *separator, char *buffer, size_t size)
{
    gsa_metric metric;
    char text[32];
    size_t used = 0;
    buffer[0] = '\0';
    for (size_t i = 0; gsa_metrics_at(metrics, i, &metric) == GSA_OK && used < size; i++) {
        if (!is_headline(metric.name))
            continue;
        int more = snprintf(buffer + used, size - used, "%s%s %s", used > 0 ? separator : "", metric.name,
                            metric_text(metric, text));
        used += more > 0 ? (size_t)more : 0;
    }
    return buffer;
}

json_t *report_real(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *report_text(const char *text)
{
    json_t *string = json_string(text);
    char *copy = string == NULL ? malloc(strlen(text) + 1) : NULL;
    if (copy == NULL)
        return string;
    for (size_t i = 0; i <= strlen(text); i++)
        copy[i] = (char)((unsigned char)text[i] < 0x80 ? text[i] : '?');
    string = json_string(copy);
    free(copy);
    return string;
}

json_t *report_count(uint64_t value)
{
    return json_integer((json_int_t)value);
}

void report_metrics_json(json_t *object, const gsa_metrics *metrics)
{
    gsa_metric metric;
    for (size_t i = 0; gsa_metrics_at(metrics, i, &metric) == GSA_OK; i++) {
        json_object_set_new(object, metric.name,
                            is_count(metric) ? report_count((uint64_t)metric.value) : report_real(metric.value));
    }
}

/* ---- results of training ----------------------------------------------------------------------------------------- */

double report_result(const gsa_model *model, const char *name)
{
    gsa_metric result;
    for (size_t i = 0; gsa_model_result_at(model, i, &result) == GSA_OK; i++)
        if (strcmp(result.name, name) == 0)
            return result.value;
    return (double)NAN;
}

/* Metrics, and how they are printed; those that are printed elsewhere have no title. */
static const char *const result_metrics[][2] = {
    {"held_out_loss", NULL},       {"baseline_loss", NULL}, {"accuracy", "accuracy"}, {"auc", "AUC"}, {"r2", "R2"},
    {"mae", "mean absolute error"}};
enum { RESULT_METRICS = sizeof result_metrics / sizeof *result_metrics };

const char *report_measure(const char *loss, double *value)
{
    const char *name = gsa_loss_measure(loss, value);
    return name != NULL ? name : "loss";
}

void report_append_quality(char *line, size_t size, const gsa_model *model, const char *kind, double value,
                           double baseline)
{
    gsa_model_info info = info_of(model);
    const char *name = report_measure(info.loss, &value);
    if (kind == NULL)
        kind = report_result(model, "folds") > 1 ? "cross-validated" : "held-out";
    report_append(line, size, "%s %s %.4g", kind, name, value);
    report_measure(info.loss, &baseline);
    if (!isnan(baseline))
        report_append(line, size, " (baseline %.4g)", baseline);
    for (size_t i = 0; i < RESULT_METRICS; i++) {
        double metric = report_result(model, result_metrics[i][0]);
        if (result_metrics[i][1] != NULL && !isnan(metric))
            report_append(line, size, ", %s %.4g", result_metrics[i][1], metric);
    }
}

void report_append_held(char *line, size_t size, const gsa_model *model)
{
    const char *schema = gsa_model_schema(model);
    double n_groups = report_result(model, "groups"), n_latest = report_result(model, "latest");
    char name[512] = "";
    for (gsai_schema_line column; schema != NULL && gsai_schema_next_line(&schema, &column);) {
        bool is_it = gsai_schema_line_is(&column, "group") || gsai_schema_item(&column, "moment") != NULL;
        if (is_it && column.name_size < sizeof name)
            gsai_schema_take_name(column.name, column.name_size, name);
    }
    if (n_groups > 0)
        report_append(line, size, "; held out by group '%s' (%.0f group%s)", name, n_groups, n_groups == 1 ? "" : "s");
    else if (n_latest > 0)
        report_append(line, size, "; held out: the latest %.0f rows by '%s'", n_latest, name);
    else if (!isnan(n_groups) || !isnan(n_latest))
        report_append(line, size, "; rows were not held out by '%s', which has too few %s", name,
                      isnan(n_groups) ? "times" : "groups");
}

/* Appends penalty, scaling and calibration; nothing if they are not known. */
static void append_chosen(char *line, size_t size, const gsa_model *model)
{
    static const char *const names[] = {"C", "alpha", "lambda"};
    double penalty = (double)NAN, folds = report_result(model, "folds"), share = report_result(model, "prior_share");
    double n_averaged = report_result(model, "penalties_averaged"), pass = report_result(model, "best_pass");
    double standardised = report_result(model, "standardised"), power = report_result(model, "inverse_frequency");
    double shrinkage = report_result(model, "shrinkage"), scale = report_result(model, "calibration_scale");
    size_t i = 0;
    while (i < 3 && isnan(penalty = report_result(model, names[i])))
        i++;
    if (!isnan(penalty)) {
        report_append(line, size, "%s %.3g (L2 penalty", names[i], penalty);
        if (!isnan(share))
            report_append(line, size, " towards the earlier model, whose rows count %.3g %%", 100 * share);
        if (folds == 8)
            report_append(line, size, ", 8-fold cross-validation");
        else if (folds > 1)
            report_append(line, size, ", cross-validation on %.0f of 8 folds", folds);
        else
            report_append(line, size, ", held-out rows");
        report_append(line, size, " over %.0f penalties", report_result(model, "penalties_tried"));
        if (n_averaged > 1)
            report_append(line, size, "; %.0f averaged", n_averaged);
        report_append(line, size, "), ");
    }
    if (isnan(standardised))
        return;
    report_append(line, size, "%s", standardised > 0 ? "standardised" : "not scaled");
    if (power > 0 || power < 0)
        report_append(line, size, ", inverse frequency ^%.3g", power);
    if (pass > 0 && info_of(model).n_passes > 1)
        report_append(line, size, ", best pass %.0f of %" PRIu64, pass, info_of(model).n_passes);
    if (shrinkage > 0)
        report_append(line, size, ", shrinkage %.0f rows", shrinkage);
    if (!isnan(scale))
        report_append(line, size, ", calibrated (x %.3g)", scale);
}

/* Appends how many columns bend, how many pairs there are, and what it gained. */
static void append_curves(char *line, size_t size, const gsa_model *model)
{
    double n = report_result(model, "curves"), lines = report_result(model, "lines_loss");
    double loss = report_result(model, "held_out_loss");
    if (!(n > 0))
        return;
    const char *name = gsa_loss_measure(info_of(model).loss, &loss);
    (void)gsa_loss_measure(info_of(model).loss, &lines);
    report_append(line, size, "%.0f column%s", n, n == 1 ? "" : "s");
    if (report_result(model, "pairs") > 0)
        report_append(line, size, ", %.0f pair%s", report_result(model, "pairs"),
                      report_result(model, "pairs") == 1 ? "" : "s");
    if (!isnan(lines))
        report_append(line, size, "; %s %.4g, lines alone %.4g", name != NULL ? name : "loss", loss, lines);
}

/* Appends which columns have a sign: "age, income increasing; price decreasing". */
static void append_signs(char *line, size_t size, const gsa_model *model)
{
    static const char *const items[] = {"\tincreasing", "\tdecreasing"};
    for (size_t k = 0; k < sizeof items / sizeof *items; k++) {
        const char *text = gsa_model_schema(model), *mark = line[0] != '\0' ? "; " : "", *found = NULL;
        for (gsai_schema_line at; text != NULL && gsai_schema_next_line(&text, &at);) {
            const char *item = strstr(at.items, items[k]);
            if (item == NULL || item >= at.items + at.items_size)
                continue;
            report_append(line, size, "%s%.*s", mark, (int)at.name_size, at.name);
            mark = ", ";
            found = items[k] + 1;
        }
        if (found != NULL)
            report_append(line, size, " %s", found);
    }
}

/* Appends what features per customer gain; nothing if they were not asked for. */
static void append_per(char *line, size_t size, const gsa_model *model)
{
    double n = report_result(model, "customers"), common = report_result(model, "common_loss");
    double loss = report_result(model, "held_out_loss");
    if (isnan(n))
        return;
    const char *name = gsa_loss_measure(info_of(model).loss, &loss);
    (void)gsa_loss_measure(info_of(model).loss, &common);
    if (n > 0)
        report_append(line, size, "%.0f have their own; %s %.4g, without %.4g; intercepts deviate by %.3g", n,
                      name != NULL ? name : "loss", loss, common, report_result(model, "customer_deviation"));
    else
        report_append(line, size, "none has its own: that is not better by more than chance");
}

void report_choices(const gsa_model *model, void (*print)(const char *name, const char *format, ...))
{
    static const struct {
        const char *name;
        void (*append)(char *line, size_t size, const gsa_model *model);
    } parts[] = {{"chosen", append_chosen}, {"curves", append_curves}, {"signs", append_signs}, {"per", append_per}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        char line[TEXT_SIZE] = "";
        parts[i].append(line, sizeof line, model);
        if (line[0] != '\0')
            print(parts[i].name, "%s", line);
    }
}

void report_results_json(json_t *object, const gsa_model *model)
{
    static const char *const counts[] = {"penalties_tried", "penalties_averaged", "folds",  "groups",
                                         "latest",          "best_pass",          "curves", "pairs",
                                         "customers"};
    json_t *chosen = json_object();
    gsa_metric result;
    for (size_t i = 0; gsa_model_result_at(model, i, &result) == GSA_OK; i++) {
        bool is_metric = false, is_counted = false;
        for (size_t k = 0; k < RESULT_METRICS; k++)
            is_metric = is_metric || strcmp(result.name, result_metrics[k][0]) == 0;
        for (size_t k = 0; k < sizeof counts / sizeof *counts; k++)
            is_counted = is_counted || strcmp(result.name, counts[k]) == 0;
        json_t *value = strcmp(result.name, "standardised") == 0 ? json_boolean(result.value > 0)
                        : is_counted                             ? report_count((uint64_t)result.value)
                                                                 : report_real(result.value);
        json_object_set_new(is_metric ? object : chosen, result.name, value);
    }
    json_object_set_new(object, "chosen", chosen);
}

/* Objects are built member by member, and one that there was no memory for would only be missing: the code that prints
 * them asks here. A variable of the process, like jansson's allocator. */
static atomic_bool json_lacked_memory;

static void *allocate_json(size_t size)
{
    void *memory = malloc(size);
    if (memory == NULL)
        json_lacked_memory = true;
    return memory;
}

void report_prepare_json(void)
{
    json_set_alloc_funcs(allocate_json, free);
}

bool report_json_is_whole(void)
{
    return !json_lacked_memory;
}

int report_print_json(json_t *object)
{
    if (object == NULL || !report_json_is_whole()) {
        json_decref(object);
        return complain_failed("out of memory");
    }
    int failed = json_dumpf(object, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(DOUBLE_DIGITS)) != 0;
    json_decref(object);
    putchar('\n');
    /* A stdout that takes no more is reported when it is flushed. */
    return failed && !ferror(stdout) ? complain_failed("out of memory") : EXIT_DONE;
}
