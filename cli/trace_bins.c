/* Rows counted by one number each.
 *
 * A bin is a range of floats with the same leading bits: sign, exponent and nine bits of fraction. So it is fine (one
 * part in 512) at every scale, the range need not be known beforehand, and memory does not grow with the rows. For
 * people, neighbours are put together into a few hundred. */
#include "trace_bins.h"

#include "report.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define KEY_BITS 18
#define N_BINS ((size_t)1 << KEY_BITS)
#define SIGN_BIT 0x80000000u

enum { CLASS_GROUPS = 200, NUMBER_GROUPS = 40, HISTOGRAM_BINS = 60 };
static const double left_out = 0.005; /* of the weight, at either end of a histogram */

bool trace_bins_new(trace_bins *out)
{
    out->bin = calloc(N_BINS, sizeof *out->bin);
    return out->bin != NULL;
}

void trace_bins_free(trace_bins *bins)
{
    free(bins->bin);
    bins->bin = NULL;
}

/* Negative floats have their bits in falling order: turned over, positive ones put above them. */
static size_t bin_of(double score)
{
    uint32_t bits;
    float narrow = (float)score;
    memcpy(&bits, &narrow, sizeof bits);
    bits = bits & SIGN_BIT ? ~bits : bits | SIGN_BIT;
    return bits >> (32 - KEY_BITS);
}

/* The least number of a bin. */
static double edge_of(size_t bin)
{
    uint32_t bits = (uint32_t)bin << (32 - KEY_BITS);
    float edge;
    bits = bits & SIGN_BIT ? bits & ~SIGN_BIT : ~bits;
    memcpy(&edge, &bits, sizeof edge);
    return (double)edge;
}

void trace_bins_add(trace_bins *bins, double score, size_t side, double y, double weight)
{
    if (!isfinite((float)score) || !isfinite(y))
        return;
    trace_bin *bin = &bins->bin[bin_of(score)];
    bin->mass[side] += weight;
    bin->score += weight * score;
    bin->y += weight * y;
    bin->yy += weight * y * y;
}

static trace_bin sum_of(const trace_bins *bins)
{
    trace_bin sum = {0};
    for (size_t i = 0; i < N_BINS; i++) {
        sum.mass[0] += bins->bin[i].mass[0];
        sum.mass[1] += bins->bin[i].mass[1];
    }
    return sum;
}

/* ---- groups of neighbours ---------------------------------------------------------------------------------------- */

/* What a group has of all; each of two classes counts for one half. */
static double share_of(const trace_bin *group, const trace_bin *all)
{
    double share = 0;
    int sides = (all->mass[0] > 0) + (all->mass[1] > 0);
    for (size_t side = 0; side < 2; side++)
        share += all->mass[side] > 0 ? group->mass[side] / all->mass[side] / sides : 0;
    return share;
}

static void append(json_t *columns, const char *name, double value)
{
    json_t *column = json_object_get(columns, name);
    if (column == NULL) {
        column = json_array();
        json_object_set_new(columns, name, column);
    }
    json_array_append_new(column, report_real(value));
}

typedef void (*group_writer)(json_t *columns, const trace_bin *group);

static json_t *group(const trace_bins *bins, int n_groups, group_writer write)
{
    json_t *columns = json_object();
    trace_bin all = sum_of(bins), sum = {0};
    for (size_t i = 0; i < N_BINS; i++) {
        const trace_bin *bin = &bins->bin[i];
        sum.mass[0] += bin->mass[0];
        sum.mass[1] += bin->mass[1];
        sum.score += bin->score;
        sum.y += bin->y;
        sum.yy += bin->yy;
        bool is_last = i + 1 == N_BINS;
        if (sum.mass[0] + sum.mass[1] > 0 && (is_last || share_of(&sum, &all) >= 1.0 / n_groups)) {
            write(columns, &sum);
            sum = (trace_bin){0};
        }
    }
    return columns;
}

static void write_margins(json_t *columns, const trace_bin *group)
{
    append(columns, "score", group->score / (group->mass[0] + group->mass[1]));
    append(columns, "positive", group->mass[1]);
    append(columns, "negative", group->mass[0]);
}

static void write_probabilities(json_t *columns, const trace_bin *group)
{
    write_margins(columns, group);
    append(columns, "probability", group->y / (group->mass[0] + group->mass[1]));
}

static void write_numbers(json_t *columns, const trace_bin *group)
{
    double weight = group->mass[0], mean = group->y / weight;
    append(columns, "prediction", group->score / weight);
    append(columns, "weight", weight);
    append(columns, "residual", mean);
    append(columns, "deviation", sqrt(fmax(group->yy / weight - mean * mean, 0)));
}

json_t *trace_bins_of_classes(const trace_bins *bins, bool has_probabilities)
{
    return group(bins, CLASS_GROUPS, has_probabilities ? write_probabilities : write_margins);
}

json_t *trace_bins_of_numbers(const trace_bins *bins)
{
    return group(bins, NUMBER_GROUPS, write_numbers);
}

/* ---- equal bins -------------------------------------------------------------------------------------------------- */

/* The number below which about this share of the weight lies. */
static double quantile(const trace_bins *bins, double share, double total)
{
    double below = 0;
    size_t i = 0;
    for (; i + 1 < N_BINS && below + bins->bin[i].mass[0] <= share * total; i++)
        below += bins->bin[i].mass[0];
    double mass = bins->bin[i].mass[0], low = edge_of(i), high = edge_of(i + 1);
    return mass > 0 ? low + (high - low) * fmin((share * total - below) / mass, 1) : low;
}

/* A fine bin is spread evenly over the equal bins that it touches, so that edges leave no pattern. */
static void spread(double low, double high, double mass, double from, double width, double count[HISTOGRAM_BINS + 2])
{
    double first = fmin(fmax(floor((low - from) / width), -1), HISTOGRAM_BINS);
    double last = fmin(fmax(floor((high - from) / width), -1), HISTOGRAM_BINS);
    for (double at = first; at <= last; at++) {
        double begin = at < 0 ? low : fmax(low, from + at * width);
        double end = at >= (double)HISTOGRAM_BINS ? high : fmin(high, from + (at + 1) * width);
        count[(size_t)(at + 1)] += mass * (high > low ? fmax(end - begin, 0) / (high - low) : 1);
    }
}

json_t *trace_bins_histogram(const trace_bins *bins)
{
    double total = sum_of(bins).mass[0], count[HISTOGRAM_BINS + 2] = {0};
    double from = quantile(bins, left_out, total), to = quantile(bins, 1 - left_out, total);
    double width = (to - from) / (double)HISTOGRAM_BINS;
    json_t *object = json_object(), *edges = json_array(), *weights = json_array();
    json_object_set_new(object, "edges", edges);
    json_object_set_new(object, "weight", weights);
    for (size_t i = 0; width > 0 && i + 1 < N_BINS; i++) {
        if (bins->bin[i].mass[0] > 0)
            spread(edge_of(i), edge_of(i + 1), bins->bin[i].mass[0], from, width, count);
    }
    for (int i = 0; width > 0 && i <= HISTOGRAM_BINS; i++)
        json_array_append_new(edges, report_real(from + i * width));
    for (int i = 0; width > 0 && i < HISTOGRAM_BINS; i++)
        json_array_append_new(weights, report_real(count[i + 1]));
    json_object_set_new(object, "below", report_real(count[0]));
    json_object_set_new(object, "above", report_real(count[HISTOGRAM_BINS + 1]));
    return object;
}
