/* How a comparison is getting on: on a terminal one bar for all of it, elsewhere a line a method. */
#include "compare.h"

#include <math.h>
#include <string.h>

enum { BAR_WIDTH = 24, LINE_SIZE = 200 };

/* "[=====>    ]" */
static void fill_bar(double fraction, char bar[BAR_WIDTH + 3])
{
    int filled = (int)(fraction * (double)BAR_WIDTH);
    for (int i = 0; i < BAR_WIDTH; i++)
        bar[i + 1] = (char)(i < filled ? '=' : i == filled ? '>' : ' ');
    bar[0] = '[';
    memcpy(bar + BAR_WIDTH + 1, "]", 2);
}

void compare_progress_show(compare_grid *grid, size_t done, size_t method)
{
    cli_progress *progress = &grid->progress;
    if (done == 0)
        progress->pass_began = progress_clock(); /* reading the rows is over */
    if (!progress->is_live || (!progress_is_due(progress) && done > 0))
        return;
    double total = (double)grid->n_methods * (double)grid->n_seeds * (double)grid->n_passes;
    double fraction = (double)done / total;
    char bar[BAR_WIDTH + 3], parameters[COMPARE_PARAMETERS_SIZE], line[LINE_SIZE];
    fill_bar(fraction, bar);
    snprintf(line, sizeof line, "%s %3.0f%%  %s %.40s", bar, 100 * fraction, grid->methods[method].name,
             compare_method_parameters(&grid->methods[method], parameters));
    double left = done > 0 ? (progress_clock() - progress->pass_began) * (1 - fraction) / fraction : NAN;
    progress_append_left(line, sizeof line, left);
    progress_draw(progress, line, "");
}

void compare_progress_method(compare_grid *grid, size_t method)
{
    if (!grid->progress.shown || grid->progress.is_live)
        return;
    char parameters[COMPARE_PARAMETERS_SIZE], accuracy[40] = "", loss[64];
    compare_spread losses = compare_grid_spread(grid, method, COMPARE_LOSS);
    compare_spread accuracies = compare_grid_spread(grid, method, COMPARE_ACCURACY);
    size_t n_diverged = compare_grid_diverged(grid, method);
    double seconds = 0;
    for (size_t seed = 0; seed < grid->n_seeds; seed++)
        seconds += compare_grid_at(grid, method, seed, grid->n_passes - 1)->seconds;
    if (n_diverged > 0)
        snprintf(loss, sizeof loss, "diverged with %zu of %zu seeds", n_diverged, grid->n_seeds);
    else
        snprintf(loss, sizeof loss, "test loss %.6g", losses.mean);
    if (!isnan(accuracies.mean))
        snprintf(accuracy, sizeof accuracy, "  accuracy %.6g", accuracies.mean);
    compare_method_parameters(&grid->methods[method], parameters);
    progress_say(&grid->progress, "%s%s%s  %s%s  %.2f s (%.0f rows/s)", grid->methods[method].name,
                 *parameters != '\0' ? " " : "", parameters, loss, accuracy, seconds,
                 (double)grid->n_rows_learned / fmax(seconds, 1e-9));
}
