/* Warnings about data, each with its remedy. */
#include "inspect_data.h"

#include "base/label_rule.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES_LISTED = 10, MIN_ROWS = 20, MIN_OF_CLASS = 5, CLASSES_LISTED = 5 };

/* ---- writing ---------------------------------------------------------------------------------------------------- */

/* Begins the next warning; NULL if MAX_WARNINGS are in use. */
static data_warning *begin_warning(data_inspection *data, const char *what)
{
    if (data->n_warnings == MAX_WARNINGS)
        return NULL;
    data_warning *next = &data->warning[data->n_warnings++];
    *next = (data_warning){.what = what};
    return next;
}

__attribute__((format(printf, 2, 3))) static void put(data_warning *out, const char *format, ...)
{
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
    out->is_cut = out->is_cut || longer == NULL;
    va_end(again);
    va_end(arguments);
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
    return column->kind == COLUMN_WORDS && is_new_in_each_row(column);
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

static bool warn_of_columns(data_inspection *data, size_t check)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
    const data_column *column = data->column;
    size_t n = 0, n_columns = data->n_columns, listed = 0;
    for (size_t i = 0; i < n_columns; i++)
        n += is_first_to_apply(data, &column[i], check);
    if (n == 0)
        return true;
    data_warning *out = begin_warning(data, checks[check].what);
    if (out == NULL)
        return false;
    put(out, "column%s ", n > 1 ? "s" : "");
    for (size_t i = 0; i < n_columns && listed < NAMES_LISTED; i++)
        if (is_first_to_apply(data, &column[i], check)) {
            put(out, "%s", listed++ > 0 ? ", " : "");
            for (const char *c = column[i].name; *c != '\0'; c++)
                put(out, "%c", (unsigned char)*c < ' ' || *c == 0x7F ? '?' : *c);
        }
    if (n > listed)
        put(out, " and %zu more", n - listed);
    put(out, ": %s; leave %s out with --ignore ", checks[check].says, n > 1 ? "them" : "it");
    for (size_t i = 0, written = 0; i < n_columns; i++)
        if (is_first_to_apply(data, &column[i], check)) {
            /* Its number, if a name cannot be in a list, or a shell would change it. */
            const char *name = column[i].name;
            put(out, "%s", written++ > 0 ? "," : "");
            if (name[strspn(name, plain)] == '\0' && name[0] != '-')
                put(out, "%s", name);
            else
                put(out, "%" PRIu64, column[i].number);
        }
    put(out, "%s", checks[check].unless);
    return !out->is_cut;
}

/* ---- labels ----------------------------------------------------------------------------------------------------- */

static bool warn_plainly(data_inspection *data, const char *what, const char *text)
{
    data_warning *out = begin_warning(data, what);
    if (out != NULL)
        put(out, "%s", text);
    return out != NULL && !out->is_cut;
}

static bool warn_of_one_class(data_inspection *data)
{
    char buffer[LABEL_TEXT_SIZE];
    data_warning *out = begin_warning(data, "one_class");
    if (out != NULL)
        put(out, "every row has the label %s; add rows of other classes%s",
            label_text(&data->labels, data->labels.values.entry[0].value, buffer),
            data->column != NULL ? ", or name the right column with --label" : "");
    return out != NULL && !out->is_cut;
}

/* Counts descend: the rare ones are the last. */
static bool warn_of_rare_classes(data_inspection *data)
{
    const value_set *values = &data->labels.values;
    size_t n = 0, listed = 0;
    while (n < values->n && values->entry[values->n - 1 - n].count < MIN_OF_CLASS)
        n++;
    if (n == 0 || data->labels.n_rows < MIN_ROWS || values->sketch != NULL)
        return true;
    data_warning *out = begin_warning(data, "rare_class");
    if (out == NULL)
        return false;
    put(out, "fewer than %d rows have the label ", MIN_OF_CLASS);
    for (; listed < n && listed < CLASSES_LISTED; listed++) {
        char buffer[LABEL_TEXT_SIZE];
        const value_entry *entry = &values->entry[values->n - n + listed];
        put(out, "%s%s (%" PRIu64 ")", listed > 0 ? ", " : "", label_text(&data->labels, entry->value, buffer),
            entry->count);
    }
    if (n > listed)
        put(out, " and %zu more", n - listed);
    put(out, ": too few to learn or to evaluate; join classes, or add rows");
    return !out->is_cut;
}

static bool warn_of_labels(data_inspection *data)
{
    const data_labels *labels = &data->labels;
    uint64_t n_classes = labels_n_classes(labels);
    bool has_room = n_classes != 1 || warn_of_one_class(data);
    if (has_room && n_classes > 1)
        has_room = warn_of_rare_classes(data);
    if (has_room && n_classes == 0 && labels->n_fractions == 0 && !labels->has_columns &&
        value_set_count(&labels->values) > GSAI_MAX_CLASSES)
        has_room = warn_plainly(data, "many_classes",
                                "more than 10000 different whole numbers as labels; give `train` --loss squared to "
                                "predict numbers, or --loss softmax to tell that many classes apart");
    if (has_room && labels->n_words > 0 && labels->n_fractions > 0)
        has_room = warn_plainly(data, "mixed_labels",
                                "some labels are words and some are fractions; give `train` --loss softmax if each is "
                                "the name of a class, or correct them");
    if (has_room && labels_are_sorted(labels))
        has_room = warn_plainly(data, "sorted",
                                data->column != NULL
                                    ? "the rows are sorted by label; shuffle them, all but a header, for instance with "
                                      "shuf: long files and streams make a worse model otherwise"
                                    : "the rows are sorted by label; shuffle them, for instance with shuf: long files "
                                      "and streams make a worse model otherwise");
    return has_room;
}

bool data_warn(data_inspection *data)
{
    bool has_room = warn_of_labels(data);
    for (size_t i = 0; i < sizeof checks / sizeof *checks && has_room; i++)
        has_room = warn_of_columns(data, i);
    return has_room;
}
