/* Labels, columns and features, counted row by row in bounded memory. */
#include "inspect_data.h"

#include "base/label_rule.h"
#include "base/schema_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- labels ----------------------------------------------------------------------------------------------------- */

static const uint64_t word_mark = UINT64_C(0xFFF8) << 48; /* the sign and the bits of a NaN: no label is one */

void moments_add(moments *of, double x)
{
    if (of->n++ == 0)
        of->first = of->min = of->max = x;
    double from_first = x - of->first;
    of->sum += from_first;
    of->squares += from_first * from_first;
    of->min = x < of->min ? x : of->min;
    of->max = x > of->max ? x : of->max;
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

bool labels_add(data_labels *labels, const gsa_batch *batch, size_t row, row_label *out)
{
    row_label label = {.number = batch->label[row]};
    if (batch->word != NULL && batch->word[row] >= 0) {
        label.number = batch->word[row];
        label.key = word_mark | (uint64_t)batch->word[row];
        labels->n_words++;
    } else {
        memcpy(&label.key, &label.number, sizeof label.key);
        labels->n_fractions += label.number != floor(label.number);
        moments_add(&labels->numbers, label.number);
    }
    while (label.side < labels->n_sides && labels->side[label.side] != label.key)
        label.side++;
    if (label.side == labels->n_sides && label.side < 2)
        labels->side[labels->n_sides++] = label.key;
    labels->has_columns = labels->has_columns || batch->index == NULL;
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

/* As `train` decides, which looks at the first rows only. */
bool labels_are_numbers(const data_labels *labels)
{
    gsai_label_values values = {
        labels->n_rows, value_set_count(&labels->values), labels->numbers.min, labels->numbers.max, 0, 0};
    if (labels->n_words > 0 || labels->n_fractions > 0)
        return labels->n_words == 0;
    for (size_t i = 0; i < labels->values.n; i++) {
        double number;
        memcpy(&number, &labels->values.entry[i].value, sizeof number);
        gsai_label_values_add(&values, number, labels->values.entry[i].count);
    }
    return !gsai_label_values_are_classes(&values, !labels->has_columns);
}

uint64_t labels_n_classes(const data_labels *labels)
{
    return labels_are_numbers(labels) ? 0 : value_set_count(&labels->values);
}

bool labels_are_sorted(const data_labels *labels)
{
    double same = 0, n = (double)labels->n_rows, changes = (double)labels->n_changes;
    uint64_t n_classes = labels_n_classes(labels);
    for (size_t i = 0; i < labels->values.n; i++)
        same += (double)labels->values.entry[i].count / n * ((double)labels->values.entry[i].count / n);
    double expected = (n - 1) * (1 - same); /* changes from one row to the next in a mixed input */
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

/* ---- columns ---------------------------------------------------------------------------------------------------- */

static const char *const kind_names[] = {"number", "words",    "label", "weight", "ignored",
                                         "date",   "exposure", "group", "text"};

const char *column_kind_name(const data_column *column)
{
    return kind_names[column->is_date ? COLUMN_DATE : column->is_text ? COLUMN_TEXT : column->kind];
}

bool column_init(data_column *column, column_kind kind)
{
    bool is_date = kind == COLUMN_DATE, is_text = kind == COLUMN_TEXT;
    kind = is_date ? COLUMN_NUMBER : is_text ? COLUMN_WORDS : kind;
    *column = (data_column){
        .kind = kind, .is_date = is_date, .is_text = is_text, .all_whole = true, .rises = true, .falls = true};
    return (kind != COLUMN_NUMBER && kind != COLUMN_WORDS) ||
           value_set_init(&column->values, FEW_VALUES, kind == COLUMN_WORDS);
}

void column_free(data_column *column)
{
    value_set_free(&column->values);
    free(column->name);
}

bool column_add_number(data_column *column, double x, const row_label *label, double first_label)
{
    uint64_t bits = 0;
    float narrow = (float)x; /* as all values are: half of the bits are 0 in a double */
    double y = label->number - first_label;
    memcpy(&bits, &narrow, sizeof narrow);
    x += column->offset;
    column->all_whole = column->all_whole && x == floor(x);
    if (column->n_present > 0) {
        column->rises = column->rises && x >= column->last;
        column->falls = column->falls && x <= column->last;
    }
    column->last = x;
    column->n_present++;
    moments_add(&column->numbers, x);
    column->label_sum += y;
    column->label_squares += y * y;
    column->products += y * (x - column->numbers.first);
    if (label->side < 2)
        moments_add(&column->of_side[label->side], x);
    return value_set_add(&column->values, bits, label->key);
}

bool column_add_word(data_column *column, uint64_t hash, const row_label *label)
{
    column->n_present++;
    return value_set_add(&column->values, hash, label->key);
}

void column_add_absent(data_column *column, uint64_t label)
{
    if (column->n_absent++ == 0)
        column->absent_label = label;
    column->absent_is_mixed = column->absent_is_mixed || column->absent_label != label;
}

/* ---- the label again -------------------------------------------------------------------------------------------- */

bool column_tells_label(const data_column *column, const data_labels *labels)
{
    uint64_t n_classes = labels_n_classes(labels), n_values = column->values.n + (column->n_absent > 0);
    if (labels->n_rows < 20 || n_classes == 1)
        return false;
    /* Few values, that no cell is there being one of them, and each comes with one label only. */
    bool values_tell = n_classes > 1 && column->values.sketch == NULL && !column->absent_is_mixed &&
                       column->n_present + column->n_absent >= 5 * n_values;
    for (size_t i = 0; i < column->values.n && values_tell; i++)
        values_tell = !column->values.entry[i].is_mixed;
    if (values_tell || column->kind != COLUMN_NUMBER || column->n_absent >= column->n_present)
        return values_tell;
    /* One of two classes has all the higher numbers, or the numbers are a line of those to predict. */
    const moments *a = &column->of_side[0], *b = &column->of_side[1], *x = &column->numbers;
    if (n_classes == 2 && a->n >= 5 && b->n >= 5 && (a->max < b->min || b->max < a->min))
        return true;
    double n = (double)x->n, xx = x->squares - x->sum * x->sum / n,
           xy = column->products - x->sum * column->label_sum / n,
           yy = column->label_squares - column->label_sum * column->label_sum / n;
    return labels->n_words == 0 && xx > 0 && yy > 0 && fabs(xy) > 0.9999 * sqrt(xx) * sqrt(yy);
}

/* ---- the columns of a table ------------------------------------------------------------------------------------- */

data_column *columns_of_schema(const char *schema, size_t *n_columns)
{
    size_t n_lines = 0;
    bool has_room = true;
    for (const char *p = schema; (p = strchr(p, '\n')) != NULL; p++)
        n_lines++;
    data_column *column = calloc(n_lines + 1, sizeof *column);
    *n_columns = 0;
    for (gsai_schema_line line; column != NULL && gsai_schema_next_line(&schema, &line);) {
        int kind = 0;
        while (kind < COLUMN_KINDS && !gsai_schema_line_is(&line, kind_names[kind]))
            kind++;
        kind = gsai_schema_line_is(&line, "offset") ? (int)COLUMN_NUMBER
               : gsai_schema_line_is(&line, "per")  ? (int)COLUMN_WORDS
                                                    : kind;
        if (kind == COLUMN_KINDS)
            continue;
        data_column *next = &column[*n_columns];
        has_room = column_init(next, (column_kind)kind) && has_room;
        next->number = ++*n_columns;
        next->is_per = gsai_schema_line_is(&line, "per");
        const char *offset = gsai_schema_item(&line, "offset");
        next->name = malloc(line.name_size + 1);
        next->offset = offset != NULL ? strtod(offset, NULL) : 0;
        has_room =
            has_room && next->name != NULL && gsai_schema_take_name(line.name, line.name_size, next->name) != SIZE_MAX;
    }
    for (size_t i = 0; !has_room && i < *n_columns; i++)
        column_free(&column[i]);
    if (!has_room)
        free(column);
    return has_room ? column : NULL;
}

/* ---- features with numbers -------------------------------------------------------------------------------------- */

bool features_init(data_features *features)
{
    *features = (data_features){.count = NULL};
    return value_set_init(&features->beyond, MANY_VALUES, true);
}

void features_free(data_features *features)
{
    value_set_free(&features->beyond);
    free(features->count);
    free(features->frequent);
}

bool features_add(data_features *features, const gsai_row *row)
{
    bool has_room = true;
    for (size_t i = 0; i < row->n && has_room; i++) {
        double x = gsai_row_value(row, i);
        if (x == 0)
            continue;
        features->min = features->n_entries == 0 || x < features->min ? x : features->min;
        features->max = features->n_entries == 0 || x > features->max ? x : features->max;
        uint32_t id = gsai_row_id(row, i);
        features->highest = id > features->highest ? id : features->highest;
        features->n_entries++;
        if (id >= MAX_COUNTED) {
            has_room = value_set_add(&features->beyond, id, 0);
            continue;
        }
        if (id >= features->n_counts) {
            size_t n = features->n_counts > 0 ? features->n_counts : 1024;
            while (n <= id)
                n *= 2;
            uint32_t *count = realloc(features->count, n * sizeof *count);
            if (count == NULL)
                return false;
            memset(count + features->n_counts, 0, (n - features->n_counts) * sizeof *count);
            features->count = count;
            features->n_counts = n;
        }
        features->count[id] += features->count[id] < UINT32_MAX;
    }
    return has_room;
}

bool features_finish(data_features *features, size_t max)
{
    const value_set *beyond = &features->beyond;
    value_entry *top = calloc(max + 1, sizeof *top);
    size_t n = 0;
    features->frequent = top;
    features->n_seen = value_set_count(beyond);
    for (size_t i = 0; top != NULL && i < features->n_counts + beyond->n; i++) {
        bool is_counted = i < features->n_counts;
        value_entry next =
            is_counted ? (value_entry){.value = i, .count = features->count[i]} : beyond->entry[i - features->n_counts];
        features->n_seen += is_counted && next.count > 0;
        if (next.count == 0 || (n == max && (n == 0 || top[n - 1].count >= next.count)))
            continue;
        size_t at = n < max ? n++ : n - 1;
        for (; at > 0 && top[at - 1].count < next.count; at--)
            top[at] = top[at - 1];
        top[at] = next;
    }
    features->n_frequent = n;
    return top != NULL;
}
