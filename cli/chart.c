/* Bars of eight heights, by the logarithm: a loss may fall by orders of magnitude, and one that is all but flat should
 * look so. */
#include "chart.h"

#include <math.h>
#include <string.h>

enum { FIRST_APART = 256, LEVELS = 8 };
static const double min_range = 0.05; /* of logarithms, from the lowest bar to the highest */

void chart_begin(cli_chart *chart, uint64_t n_rows)
{
    *chart = (cli_chart){.apart = FIRST_APART, .next = n_rows + FIRST_APART};
}

bool chart_is_due(const cli_chart *chart, uint64_t n_rows)
{
    return n_rows >= chart->next;
}

static void halve(cli_chart *chart)
{
    chart->n /= 2;
    for (size_t i = 0; i < chart->n; i++)
        chart->value[i] = (chart->value[2 * i] + chart->value[2 * i + 1]) / 2;
    chart->apart *= 2;
}

void chart_add(cli_chart *chart, uint64_t n_rows, double value)
{
    if (!isfinite(value))
        return;
    chart->value[chart->n++] = value;
    if (chart->n == CHART_VALUES)
        halve(chart);
    chart->next = n_rows + chart->apart;
}

/* The mean of the values that share a column, as a logarithm. */
static double height(const cli_chart *chart, size_t column, size_t n_columns)
{
    size_t from = column * chart->n / n_columns, to = (column + 1) * chart->n / n_columns;
    double sum = 0;
    for (size_t i = from; i < to; i++)
        sum += chart->value[i];
    return log(fmax(sum / (double)(to - from), 1e-12));
}

const char *chart_draw(const cli_chart *chart, size_t width, char buffer[CHART_SIZE])
{
    double bar[CHART_WIDTH], min = INFINITY, max = -INFINITY;
    size_t n = chart->n < CHART_WIDTH ? chart->n : CHART_WIDTH;
    n = n < width ? n : width;
    char *at = buffer;
    for (size_t i = 0; i < n; i++) {
        bar[i] = height(chart, i, n);
        min = fmin(min, bar[i]);
        max = fmax(max, bar[i]);
    }
    double range = fmax(max - min, min_range);
    for (size_t i = 0; i < n && n > 1; i++, at += 3) {
        int level = (int)((bar[i] - min) / range * (LEVELS - 1) + 0.5);
        memcpy(at, "\xE2\x96\x81", 3); /* U+2581, the lowest of eight blocks */
        at[2] = (char)(at[2] + level);
    }
    *at = '\0';
    return buffer;
}
