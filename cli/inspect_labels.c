/* The labels of rows that are looked at: classes or numbers, how many, in which order. */
#include "inspect_data.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static const uint64_t word_mark = UINT64_C(0xFFF8) << 48; /* the sign and the bits of a NaN: no label is one */

void moments_add(moments *of, double x)
{
    if (of->n++ == 0)
        of->first = of->least = of->most = x;
    double from_first = x - of->first;
    of->sum += from_first;
    of->squares += from_first * from_first;
    of->least = x < of->least ? x : of->least;
    of->most = x > of->most ? x : of->most;
}

double moments_mean(const moments *of)
{
    return of->n > 0 ? of->first + of->sum / (double)of->n : (double)NAN;
}

double moments_deviation(const moments *of)
{
    double n = (double)of->n;
    return of->n > 1 ? sqrt(fmax(0, (of->squares - of->sum * of->sum / n) / (n - 1))) : (double)NAN;
}

bool labels_init(data_labels *labels)
{
    *labels = (data_labels){.rises = true, .falls = true};
    return value_set_init(&labels->values, MANY_VALUES, true);
}

static int side_of(data_labels *labels, uint64_t key)
{
    int side = 0;
    while (side < labels->n_sides && labels->side[side] != key)
        side++;
    if (side == labels->n_sides && side < 2)
        labels->side[labels->n_sides++] = key;
    return side;
}

static row_label look_at(data_labels *labels, const gsa_batch *batch, size_t row)
{
    row_label out = {.number = batch->label[row]};
    if (batch->word != NULL && batch->word[row] >= 0) {
        out.number = batch->word[row];
        out.key = word_mark | (uint64_t)batch->word[row];
        labels->n_words++;
    } else {
        memcpy(&out.key, &out.number, sizeof out.key);
        labels->n_fractions += out.number != floor(out.number);
        moments_add(&labels->numbers, out.number);
    }
    out.side = side_of(labels, out.key);
    return out;
}

bool labels_add(data_labels *labels, const gsa_batch *batch, size_t row, row_label *out)
{
    row_label label = look_at(labels, batch, row);
    if (labels->n_rows++ == 0) {
        labels->first_number = label.number;
    } else {
        label.is_change = label.key != labels->last.key;
        labels->n_changes += label.is_change;
        labels->rises = labels->rises && label.number >= labels->last.number;
        labels->falls = labels->falls && label.number <= labels->last.number;
    }
    labels->last = *out = label;
    labels->words = batch->words;
    return value_set_add(&labels->values, label.key, label.key);
}

/* As `train` decides. */
bool labels_are_numbers(const data_labels *labels)
{
    return labels->n_words == 0 && (labels->n_fractions > 0 || value_set_count(&labels->values) > MOST_CLASSES);
}

uint64_t labels_n_classes(const data_labels *labels)
{
    return labels_are_numbers(labels) ? 0 : value_set_count(&labels->values);
}

/* Changes from one row to the next that there would be in a mixed input. */
static double expected_changes(const data_labels *labels)
{
    double same = 0, n = (double)labels->n_rows;
    for (size_t i = 0; i < labels->values.n; i++)
        same += (double)labels->values.entry[i].count / n * ((double)labels->values.entry[i].count / n);
    return (n - 1) * (1 - same);
}

bool labels_are_sorted(const data_labels *labels)
{
    double expected = expected_changes(labels), changes = (double)labels->n_changes;
    uint64_t n_classes = labels_n_classes(labels);
    if (labels->n_rows < 20 || labels->n_changes == 0)
        return false;
    if (n_classes == 0)
        return labels->rises || labels->falls;
    return 10 * changes < expected || (labels->n_changes == n_classes - 1 && 4 * changes < expected);
}

const char *label_text(const data_labels *labels, uint64_t key, char buffer[LABEL_TEXT_SIZE])
{
    double number;
    if ((key & word_mark) == word_mark)
        return labels->words[key & ~word_mark];
    memcpy(&number, &key, sizeof number);
    snprintf(buffer, LABEL_TEXT_SIZE, "%.15g", number);
    return buffer;
}
