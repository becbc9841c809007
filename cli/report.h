/* Results for people (aligned lines of name and value) and for programs (JSON). */
#ifndef GREEDYSTEP_CLI_REPORT_H
#define GREEDYSTEP_CLI_REPORT_H

#include "message.h"

#include <greedystep/greedystep.h>

#include <jansson.h>
#include <stdbool.h>

/* Prints the name of a line `name   value`, and the space behind it. */
void report_name(const char *name);
/* Prints a whole line; characters that a terminal must not show are replaced. */
void report_field(const char *name, const char *format, ...) CLI_PRINTF(2, 3);
/* Do the same for a summary, whose names are short; a paragraph wraps at 80 columns. */
void report_short_name(const char *name);
void report_paragraph(const char *name, const char *format, ...) CLI_PRINTF(2, 3);
/* Prints a line above others. */
void report_heading(const char *format, ...) CLI_PRINTF(1, 2);
/* Appends text to a line in a buffer of this size. */
void report_append(char *line, size_t size, const char *format, ...) CLI_PRINTF(3, 4);
/* Prints the results of finished metrics, one per line. */
void report_metrics(const gsa_metrics *metrics);

/* Prepares JSON; call it once, before all other JSON functions. */
void report_prepare_json(void);
/* Returns whether there was memory for every JSON value so far. */
bool report_json_is_whole(void);
/* Returns a number as a JSON value; NaN and infinities are null, because JSON lacks them. */
json_t *report_real(double value);
json_t *report_count(uint64_t value);
/* Returns a text as a JSON value; in text that is not UTF-8 all bytes that are not ASCII become question marks. */
json_t *report_text(const char *text);
/* Returns whether a number is a count that JSON holds exactly. */
bool report_is_whole(double value);
/* Adds every metric under its name. */
void report_metrics_json(json_t *object, const gsa_metrics *metrics);
/* Returns a result of training by its name; NaN: not known. */
double report_result(const gsa_model *model, const char *name);
/* Turns a loss into what people know it as: of squared loss the root of the mean squared error. Returns its name. */
const char *report_measure(const char *loss, double *value);
/* Appends a loss, by default the held-out one, and the metrics beside it: "held-out log loss 0.25 (baseline 0.55),
 * accuracy 0.91, AUC 0.93". */
void report_append_quality(char *line, size_t size, const gsa_model *model, const char *kind, double value,
                           double baseline);
/* Appends by which column rows were held out; nothing if by none. */
void report_append_held(char *line, size_t size, const gsa_model *model);
/* Prints what training chose, a line or paragraph for each part that a model has. */
void report_choices(const gsa_model *model, void (*print)(const char *name, const char *format, ...));
/* Adds the results of training: metrics under their names, and an object "chosen". */
void report_results_json(json_t *object, const gsa_model *model);
/* Prints the object to stdout and releases it. Complains if it could not be built for lack of memory. */
int report_print_json(json_t *object);

/* Fills a buffer with the few metrics that are printed first, "log_loss 0.25, accuracy 0.9", cut to fit. */
const char *report_headlines(const gsa_metrics *metrics, const char *separator, char *buffer, size_t size);

#endif
