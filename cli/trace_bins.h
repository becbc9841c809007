/* Rows counted by one number each: a score, a prediction or a residual. */
#ifndef GREEDYSTEP_CLI_TRACE_BINS_H
#define GREEDYSTEP_CLI_TRACE_BINS_H

#include <jansson.h>
#include <stdbool.h>

typedef struct trace_bin {
    double mass[2]; /* weight of the rows: of the first (or no) class, of the second */
    double score;   /* sums of weight times ... the number that the bin is of */
    double y, yy;   /* ... and what else is known of the row, and its square */
} trace_bin;

typedef struct trace_bins {
    trace_bin *bin; /* NULL: none */
} trace_bins;

bool trace_bins_new(trace_bins *out);
void trace_bins_free(trace_bins *bins);
void trace_bins_add(trace_bins *bins, double score, size_t side, double y, double weight);

/* Two classes: mean score, positive and negative weight of at most some 200 groups of neighbours, by rising score; each
 * class has half of the resolution, however rare it is. With probabilities (the y) also their mean. */
json_t *trace_bins_of_classes(const trace_bins *bins, bool has_probabilities);
/* Numbers by prediction, with residuals as y: mean prediction, weight, mean and standard deviation of the residuals. */
json_t *trace_bins_of_numbers(const trace_bins *bins);
/* Equal bins from the 0.5th to the 99.5th percent: edges, weights, and the weights below and above. */
json_t *trace_bins_histogram(const trace_bins *bins);

#endif
