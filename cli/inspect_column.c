/* One column of a table, or one feature, as rows come by. */
#include "inspect_data.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *column_kind_name(column_kind kind)
{
    static const char *const names[] = {"number", "words", "label", "weight", "ignored"};
    return names[kind];
}

bool column_init(data_column *column, column_kind kind)
{
    *column = (data_column){.kind = kind, .all_whole = true, .rises = true, .falls = true};
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

/* Few values, that no cell is there being one of them, and each comes with one label only. */
static bool values_tell_class(const data_column *column)
{
    uint64_t n_values = column->values.n + (column->n_absent > 0);
    if (column->values.sketch != NULL || column->absent_is_mixed || column->n_present + column->n_absent < 5 * n_values)
        return false;
    for (size_t i = 0; i < column->values.n; i++)
        if (column->values.entry[i].is_mixed)
            return false;
    return true;
}

/* Of two classes one has all the higher numbers. */
static bool numbers_tell_class(const data_column *column)
{
    const moments *a = &column->of_side[0], *b = &column->of_side[1];
    return a->n >= 5 && b->n >= 5 && column->n_absent < column->n_present && (a->most < b->least || b->most < a->least);
}

static bool is_line_of_label(const data_column *column)
{
    const moments *x = &column->numbers;
    double n = (double)x->n;
    double xx = x->squares - x->sum * x->sum / n, xy = column->products - x->sum * column->label_sum / n,
           yy = column->label_squares - column->label_sum * column->label_sum / n;
    return xx > 0 && yy > 0 && fabs(xy) > 0.9999 * sqrt(xx) * sqrt(yy) && column->n_absent < column->n_present;
}

bool column_tells_label(const data_column *column, const data_labels *labels)
{
    uint64_t n_classes = labels_n_classes(labels);
    if (labels->n_rows < 20 || n_classes == 1)
        return false;
    if (n_classes > 1 && values_tell_class(column))
        return true;
    if (column->kind != COLUMN_NUMBER)
        return false;
    return (n_classes == 2 && numbers_tell_class(column)) || (labels->n_words == 0 && is_line_of_label(column));
}

/* ---- the columns of a table ------------------------------------------------------------------------------------- */

/* A name up to the end of its line, without the schema's escapes. */
static char *copy_name(const char *text, size_t size)
{
    char *name = malloc(size + 1), *out = name;
    for (size_t i = 0; i < size && name != NULL; i++) {
        char c = text[i];
        if (c == '\\' && i + 1 < size) {
            c = text[++i];
            c = (char)(c == 'n' ? '\n' : c == 'r' ? '\r' : c == 't' ? '\t' : c);
        }
        *out++ = c;
    }
    if (name != NULL)
        *out = '\0';
    return name;
}

/* Of a line "number age"; COLUMN_KINDS if it is none of a column. */
static column_kind kind_of_line(const char *line, const char **name)
{
    int kind = 0;
    for (; kind < COLUMN_KINDS; kind++) {
        size_t size = strlen(column_kind_name((column_kind)kind));
        *name = line + size + 1;
        if (strncmp(line, column_kind_name((column_kind)kind), size) == 0 && line[size] == ' ')
            break;
    }
    return (column_kind)kind;
}

data_column *columns_of_schema(const char *schema, size_t *n_columns)
{
    size_t n_lines = 0;
    bool has_room = true;
    for (const char *p = schema; (p = strchr(p, '\n')) != NULL; p++)
        n_lines++;
    data_column *column = calloc(n_lines + 1, sizeof *column);
    *n_columns = 0;
    for (const char *line = schema, *end, *name; column != NULL && (end = strchr(line, '\n')) != NULL; line = end + 1) {
        column_kind kind = kind_of_line(line, &name);
        if (kind == COLUMN_KINDS)
            continue;
        data_column *next = &column[*n_columns];
        has_room = column_init(next, kind) && has_room;
        next->number = ++*n_columns;
        next->name = copy_name(name, (size_t)(end - name));
        has_room = has_room && next->name != NULL;
    }
    for (size_t i = 0; !has_room && i < *n_columns; i++)
        column_free(&column[i]);
    if (!has_room)
        free(column);
    return has_room ? column : NULL;
}
