/* Counts and sums of a column's cells. */
#include "data/format/column_stats.h"

#include <math.h>
#include <string.h>

const double gsai_sentinels[GSAI_SENTINELS] = {-9, -99, -999, -9999, -99999, 99, 999, 9999, 99999, 999999};

void gsai_stats_add_value(gsai_column_stats *stats, double value, double weight)
{
    float x = (float)value;
    if (!isfinite(x))
        return;
    stats->low = stats->has_value && stats->low < value ? stats->low : value;
    stats->high = stats->has_value && stats->high > value ? stats->high : value;
    stats->has_value = true;
    stats->sum += weight * (double)x;
    stats->exact += weight * value;
    stats->weight += weight;
    const double off = value - stats->mean;
    stats->mean += weight > 0 ? off * weight / stats->weight : 0;
    stats->squares += weight * off * (value - stats->mean);
}

void gsai_stats_add_number(gsai_column_stats *stats, double value, double weight)
{
    stats->numbers += weight;
    gsai_stats_add_value(stats, value, weight);
    if (!isfinite(value))
        return;
    bool is_candidate = value == -9 || value <= -99 || value >= 99;
    for (size_t i = 0; i < GSAI_SENTINELS && is_candidate; i++)
        if (gsai_sentinels[i] == value) {
            stats->n_sentinel[i]++;
            return;
        }
    stats->least = stats->n_others == 0 || value < stats->least ? value : stats->least;
    stats->most = stats->n_others == 0 || value > stats->most ? value : stats->most;
    stats->n_others++;
    if (stats->n_few == GSAI_FEW_NUMBERS)
        return;
    size_t k = 0;
    while (k < stats->n_few && stats->few[k] != value)
        k++;
    if (k == stats->n_few)
        stats->few[stats->n_few++] = value;
}

void gsai_stats_forget_values(gsai_column_stats *stats)
{
    stats->sum = stats->exact = stats->weight = stats->mean = stats->squares = 0;
    stats->has_value = false;
    stats->n_sentinels = 0;
}

void gsai_stats_keep_ambiguous(gsai_column_stats *stats, const char *text, size_t size)
{
    if (!*stats->ambiguous)
        memcpy(stats->ambiguous, text, size < sizeof stats->ambiguous ? size : sizeof stats->ambiguous - 1);
}

bool gsai_stats_are_nearly_all(const gsai_column_stats *stats, double these, double others)
{
    return these > 0 && others == 0 && stats->words * 9 <= these && stats->n_different <= GSAI_MISSING_WORDS;
}

void gsai_stats_take_missing(const gsai_column_stats *stats, gsai_reading *out)
{
    out->n_missing = stats->n_different;
    memcpy(out->missing, stats->word, stats->n_different * sizeof *stats->word);
}

/* Few different numbers must be further away still. */
void gsai_stats_find_sentinels(const gsai_column_stats *stats, double share_of_range, bool is_out[GSAI_SENTINELS])
{
    size_t n = stats->n_others;
    double low = stats->least, high = stats->most;
    for (size_t i = 0; i < GSAI_SENTINELS; i++) {
        n += stats->n_sentinel[i];
        is_out[i] = stats->n_others > 0 && stats->odd == 0 && stats->n_sentinel[i] > 0;
    }
    for (bool changes = true; changes;) {
        changes = false;
        for (size_t i = 0; i < GSAI_SENTINELS; i++) {
            double x = gsai_sentinels[i], gap = x < low ? low - x : x > high ? x - high : 0;
            double wanted = (stats->n_few < GSAI_FEW_NUMBERS ? 10 : share_of_range) * (high - low);
            bool is_often = stats->n_sentinel[i] >= 5 && stats->n_sentinel[i] >= n / 100;
            if (!is_out[i] || (is_often && gap > 0 && gap >= wanted && high > low))
                continue;
            is_out[i] = false;
            low = x < low ? x : low;
            high = x > high ? x : high;
            changes = true;
        }
    }
}

size_t gsai_stats_suspect(const gsai_column_stats *stats, double *value)
{
    bool is_out[GSAI_SENTINELS];
    gsai_stats_find_sentinels(stats, 0.1, is_out);
    size_t i = 0;
    while (i < GSAI_SENTINELS && !is_out[i])
        i++;
    if (i == GSAI_SENTINELS)
        return 0;
    *value = gsai_sentinels[i];
    return stats->n_sentinel[i];
}

/* Magnitudes of FAR_FROM_ZERO times the range leave a float 14 bits for the range. Extremes are compared as floats,
 * which the first reading knows to the last digit. */
enum { FAR_FROM_ZERO = 1024 };
bool gsai_stats_are_far(const gsai_column_stats *stats, double finest)
{
    double low = (double)(float)stats->low, high = (double)(float)stats->high;
    double magnitude = fabs(low) > fabs(high) ? fabs(low) : fabs(high);
    return stats->has_value && magnitude > (double)FAR_FROM_ZERO * (high - low) &&
           stats->high - stats->low > finest * magnitude;
}

double gsai_stats_offset(const gsai_column_stats *stats)
{
    if (!gsai_stats_are_far(stats, 0x1p-40))
        return 0;
    double middle = stats->low + (stats->high - stats->low) / 2, power = 1e22;
    for (int k = 22; k >= -22; k--) { /* multiples of a power of ten, the nearest to the middle */
        double found = k >= 0 ? floor(middle / power + 0.5) * power : floor(middle * power + 0.5) / power;
        if (found >= stats->low && found <= stats->high)
            return found;
        power = k > 0 ? power / 10 : power * 10;
    }
    return middle;
}

float gsai_stats_deviation(const gsai_column_stats *stats)
{
    const double deviation = stats->weight > 0 ? sqrt(fmax(stats->squares, 0) / stats->weight) : 0;
    return isfinite((float)deviation) ? (float)deviation : 0;
}

float gsai_stats_mean(const gsai_column_stats *stats, double offset)
{
    double mean = stats->weight > 0 ? (offset != 0 ? stats->exact : stats->sum) / stats->weight - offset : 0;
    return isfinite((float)mean) ? (float)mean : 0;
}
