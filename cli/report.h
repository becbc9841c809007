/* Results for people (aligned lines of name and value) and for programs (JSON). */
#ifndef GREEDYSTEP_CLI_REPORT_H
#define GREEDYSTEP_CLI_REPORT_H

#include "message.h"

#include <greedystep/greedystep.h>

#include <jansson.h>
#include <stdbool.h>

/* The name of a line `name   value`, and the space behind it. */
void report_name(const char *name);
/* The whole line; what a terminal must not be shown is replaced. */
void report_field(const char *name, const char *format, ...) CLI_PRINTF(2, 3);
/* A line above others. */
void report_heading(const char *format, ...) CLI_PRINTF(1, 2);
/* More text for a line that is put together, in a buffer of this size. */
void report_append(char *line, size_t size, const char *format, ...) CLI_PRINTF(3, 4);
/* The results of metrics that are finished, one a line. */
void report_metrics(const gsa_metrics *metrics);

/* To be called once, before anything JSON. */
void report_prepare_json(void);
/* Whether there was memory for every JSON value so far. */
bool report_json_is_whole(void);
/* JSON values; NaN and infinities are null, which JSON has no words for. */
json_t *report_real(double value);
json_t *report_count(uint64_t value);
/* Text that is not UTF-8, which JSON cannot hold, has question marks in place of what is not ASCII. */
json_t *report_text(const char *text);
/* Adds every metric under its name. */
void report_metrics_json(json_t *object, const gsa_metrics *metrics);
/* The labels of a model in order, so many at the most. */
json_t *report_labels(const gsa_model *model, size_t max);
/* Prints the object to stdout and releases it. Complains if it could not be built for lack of memory. */
int report_print_json(json_t *object);

/* The few metrics that a person looks at first. */
bool report_is_headline(const char *name);
/* "  log_loss 0.25  accuracy 0.9 ..." of them into a buffer, cut to fit. */
const char *report_headlines(const gsa_metrics *metrics, char *buffer, size_t size);

#endif
