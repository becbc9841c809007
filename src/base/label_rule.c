/* Classes are numbered or few; a number has many values, and few rows at the ends of its range. */
#include "base/label_rule.h"

static double range_of(const gsai_label_values *values)
{
    return values->max - values->min + 1;
}

void gsai_label_values_add(gsai_label_values *values, double label, uint64_t n_rows)
{
    double twentieth = range_of(values) / 20;
    values->n_low += label - values->min < twentieth ? n_rows : 0;
    values->n_high += values->max - label < twentieth ? n_rows : 0;
}

/* Numbered from 0 with hardly a gap, three rows each, and at both ends at least half as frequent as elsewhere. */
static bool are_numbered_evenly(const gsai_label_values *values)
{
    double n_rows = (double)values->n_rows, n_values = (double)values->n_values, range = range_of(values);
    return values->min == 0 && 20 * n_values >= 19 * range && n_rows >= 3 * range &&
           40 * (double)values->n_low >= n_rows && 40 * (double)values->n_high >= n_rows;
}

/* Formats with feature ids have no other way to write classes: few values are classes wherever they lie, and many if
 * they are numbered from 0 or 1 with hardly a gap, as far as the rows are enough to tell. */
static bool are_class_numbers(const gsai_label_values *values)
{
    double n_values = (double)values->n_values, range = range_of(values);
    bool is_dense = 20 * n_values >= 19 * range || (double)values->n_rows < 3 * range;
    return values->n_values <= GSAI_FEW_VALUES ||
           ((values->min == 0 || values->min == 1) && range <= GSAI_MAX_CLASSES + 1 && is_dense);
}

bool gsai_label_values_are_classes(const gsai_label_values *values, bool has_ids)
{
    if (has_ids)
        return are_class_numbers(values);
    bool is_numbered = (values->min == 0 || values->min == 1) && range_of(values) == (double)values->n_values;
    bool comes_again = values->n_rows >= 2 * values->n_values;
    if (values->n_values <= GSAI_CLASSES_ANYWHERE)
        return values->n_values <= 2 || is_numbered || comes_again;
    return values->n_values <= GSAI_FEW_VALUES ? is_numbered && comes_again : are_numbered_evenly(values);
}
