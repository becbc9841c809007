/* A line of bars for numbers that come one after the other, such as the loss of a run from its first row to the last.
 *
 * It holds a fixed number of values: when it is full, two that are neighbours become their mean, and values are taken
 * half as often from there on. */
#ifndef GREEDYSTEP_CLI_CHART_H
#define GREEDYSTEP_CLI_CHART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CHART_WIDTH = 24, CHART_VALUES = 2 * CHART_WIDTH, CHART_SIZE = 3 * CHART_WIDTH + 1 };

typedef struct cli_chart {
    double value[CHART_VALUES];
    size_t n;
    uint64_t apart, next; /* rows between values; where the next is due */
} cli_chart;

void chart_begin(cli_chart *chart, uint64_t n_rows);
bool chart_is_due(const cli_chart *chart, uint64_t n_rows);
/* A value that is not finite is passed over. */
void chart_add(cli_chart *chart, uint64_t n_rows, double value);
/* In UTF-8, a character a column, of which it takes `width` at most; "" if there are fewer than two values. */
const char *chart_draw(const cli_chart *chart, size_t width, char buffer[CHART_SIZE]);

#endif
