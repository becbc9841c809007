/* Warnings about data, each with its remedy. */
#include "inspect_data.h"

#include "base/label_rule.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES_LISTED = 10, MIN_ROWS = 20, MIN_OF_CLASS = 5, CLASSES_LISTED = 5 };

/* ---- writing ---------------------------------------------------------------------------------------------------- */

/* Appends to the last warning. */
__attribute__((format(printf, 2, 3))) static void put(data_inspection *data, const char *format, ...)
{
    data_warning *out = &data->warning[data->n_warnings - 1];
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int n = vsnprintf(NULL, 0, format, arguments);
    char *longer = n >= 0 ? realloc(out->text, out->length + (size_t)n + 1) : NULL;
    if (longer != NULL) {
        vsnprintf(longer + out->length, (size_t)n + 1, format, again);
        out->text = longer;
        out->length += (size_t)n;
    }
    data->is_cut = data->is_cut || longer == NULL;
    va_end(again);
    va_end(arguments);
}

static void begin_warning(data_inspection *data, const char *what)
{
    data->warning[data->n_warnings++] = (data_warning){.what = what};
}

/* ---- columns ---------------------------------------------------------------------------------------------------- */

static bool is_empty(const data_inspection *data, const data_column *column)
{
    (void)data;
    return column->n_present == 0;
}

static bool is_constant(const data_inspection *data, const data_column *column)
{
    (void)data;
    return column->n_absent == 0 && value_set_count(&column->values) == 1 && column->n_present > 1;
}

static bool tells_label(const data_inspection *data, const data_column *column)
{
    return column_tells_label(column, &data->labels);
}

/* The estimate may be off by a few percent. */
static bool is_new_in_each_row(const data_column *column)
{
    return column->n_present >= MIN_ROWS && (double)value_set_count(&column->values) >= 0.9 * (double)column->n_present;
}

static bool counts_rows(const data_inspection *data, const data_column *column)
{
    (void)data;
    return column->kind == COLUMN_NUMBER && !column->is_date && column->all_whole && (column->rises || column->falls) &&
           is_new_in_each_row(column);
}

static bool is_id(const data_inspection *data, const data_column *column)
{
    (void)data;
    return column->kind == COLUMN_WORDS && !column->is_text && !column->is_per && is_new_in_each_row(column);
}

static bool is_mostly_missing(const data_inspection *data, const data_column *column)
{
    return column->n_absent > 9 * column->n_present && data->labels.n_rows >= MIN_ROWS;
}

typedef struct column_check {
    const char *what;
    bool (*applies)(const data_inspection *data, const data_column *column);
    const char *says; /* of one column or several */
    const char *unless;
} column_check;

/* A column is warned of once, by the first that applies. */
static const column_check checks[] = {
    {"empty", is_empty, "empty in every row", ""},
    {"constant", is_constant, "the same in every row", ""},
    {"label_again", tells_label, "enough to determine the label of every row",
     ", unless it is known when predictions are made"},
    {"row_number", counts_rows, "rising or falling from row to row, like a row number or a time", ""},
    {"id", is_id, "almost every value is different, like ids or free text", ""},
    {"missing", is_mostly_missing, "missing in more than 90 % of the rows", ", unless the few other rows matter"},
};

static bool is_first_to_apply(const data_inspection *data, const data_column *column, size_t check)
{
    bool is_feature = column->kind == COLUMN_NUMBER || column->kind == COLUMN_WORDS;
    for (size_t i = 0; i < check && is_feature; i++)
        if (checks[i].applies(data, column))
            return false;
    return is_feature && checks[check].applies(data, column);
}

static void warn_of_columns(data_inspection *data, size_t check)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
    const data_column *column = data->column;
    size_t n = 0, n_columns = data->n_columns, listed = 0, written = 0;
    for (size_t i = 0; i < n_columns; i++)
        n += is_first_to_apply(data, &column[i], check);
    if (n == 0)
        return;
    begin_warning(data, checks[check].what);
    put(data, "column%s ", n > 1 ? "s" : "");
    for (size_t i = 0; i < n_columns && listed < NAMES_LISTED; i++)
        if (is_first_to_apply(data, &column[i], check)) {
            put(data, "%s", listed++ > 0 ? ", " : "");
            for (const char *c = column[i].name; *c != '\0'; c++)
                put(data, "%c", (unsigned char)*c < ' ' || *c == 0x7F ? '?' : *c);
        }
    if (n > listed)
        put(data, " and %zu more", n - listed);
    put(data, ": %s; leave %s out with --ignore ", checks[check].says, n > 1 ? "them" : "it");
    for (size_t i = 0; i < n_columns; i++)
        if (is_first_to_apply(data, &column[i], check)) {
            /* Its number, if a name cannot be in a list, or a shell would change it. */
            const char *name = column[i].name;
            put(data, "%s", written++ > 0 ? "," : "");
            if (name[strspn(name, plain)] == '\0' && name[0] != '-')
                put(data, "%s", name);
            else
                put(data, "%" PRIu64, column[i].number);
        }
    put(data, "%s", checks[check].unless);
}

/* ---- labels ----------------------------------------------------------------------------------------------------- */

/* Counts descend: the rare ones are the last. */
static void warn_of_rare_classes(data_inspection *data)
{
    const value_set *values = &data->labels.values;
    size_t n = 0, listed = 0;
    while (n < values->n && values->entry[values->n - 1 - n].count < MIN_OF_CLASS)
        n++;
    if (n == 0 || data->labels.n_rows < MIN_ROWS || values->sketch != NULL)
        return;
    begin_warning(data, "rare_class");
    put(data, "fewer than %d rows have the label ", MIN_OF_CLASS);
    for (; listed < n && listed < CLASSES_LISTED; listed++) {
        char buffer[LABEL_TEXT_SIZE];
        const value_entry *entry = &values->entry[values->n - n + listed];
        put(data, "%s%s (%" PRIu64 ")", listed > 0 ? ", " : "", label_text(&data->labels, entry->value, buffer),
            entry->count);
    }
    if (n > listed)
        put(data, " and %zu more", n - listed);
    put(data, ": too few to learn or to evaluate; join classes, or add rows");
}

bool data_warn(data_inspection *data)
{
    const data_labels *labels = &data->labels;
    uint64_t n_classes = labels_n_classes(labels);
    char buffer[LABEL_TEXT_SIZE];
    if (n_classes == 1) {
        begin_warning(data, "one_class");
        put(data, "every row has the label %s; add rows of other classes%s",
            label_text(labels, labels->values.entry[0].value, buffer),
            data->column != NULL ? ", or name the right column with --label" : "");
    } else if (n_classes > 1) {
        warn_of_rare_classes(data);
    } else if (labels->n_fractions == 0 && !labels->has_columns &&
               value_set_count(&labels->values) > GSAI_MAX_CLASSES) {
        begin_warning(data, "many_classes");
        put(data, "more than 10000 different whole numbers as labels; give `train` --loss squared to predict numbers, "
                  "or --loss softmax to tell that many classes apart");
    }
    if (labels->n_words > 0 && labels->n_fractions > 0) {
        begin_warning(data, "mixed_labels");
        put(data, "some labels are words and some are fractions; give `train` --loss softmax if each is the name of a "
                  "class, or correct them");
    }
    if (labels_are_sorted(labels)) {
        begin_warning(data, "sorted");
        put(data,
            "the rows are sorted by label; shuffle them%s, for instance with shuf: long files and streams make a "
            "worse model otherwise",
            data->column != NULL ? ", all but a header" : "");
    }
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++)
        warn_of_columns(data, i);
    return !data->is_cut;
}
