/* The meaning of a table's columns. */
#include "data/format/table_infer.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "data/format/table_summary.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void gsai_first_rows_free(gsai_first_rows *first, const gsai_env *env)
{
    for (size_t i = 0; i < first->n_columns; i++)
        gsai_free(env, first->column[i].first);
    gsai_free(env, first->column);
}

/* Refuses the file because of an option: its name and the text, which begins behind it. */
GSAI_PRINTF(4, 5)
static gsa_status refuse(const gsai_tabular *table, const char *option, gsa_error *error, const char *format, ...)
{
    char text[sizeof error->message];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return gsai_fail_param(error, option, GSA_ARGUMENT, "%s%s", table->input->name, text);
}

/* ---- names of columns ------------------------------------------------------------------------------------------- */

static bool names_label(const gsai_seen_column *seen)
{
    static const char *const names[] = {"label", "target", "y", "class", "click", "clicked"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (gsai_equals_word(seen->first, seen->first_size, names[i]))
            return true;
    return false;
}

/* The first record is a header if it has a word where the others have numbers or dates, or a name of labels or the one
 * asked for (NULL: none) that does not come again; unless numbers stand in it twice, which names would not. */
static bool first_record_is_header(const gsai_first_rows *first, const char *label)
{
    bool is_header = false;
    for (size_t i = 0; i < first->n_columns && !is_header; i++) {
        const gsai_seen_column *seen = &first->column[i];
        const gsai_column_stats *cells = &seen->cells;
        bool is_word = seen->first_kind == GSAI_CELL_WORD;
        bool is_name = names_label(seen) || (label && is_word && strcmp(seen->first, label) == 0);
        if (is_word && !is_name && cells->numbers + cells->odd + cells->dates > 0) {
            gsai_decided decided = gsai_column_decide(cells, &(gsai_asked){0});
            is_name = gsai_kind_at(decided.kind)->has_number || decided.is_code;
        }
        is_header = is_name && !seen->first_again;
    }
    for (size_t i = 0; i < first->n_columns && is_header; i++)
        for (size_t j = 0; j < i && first->column[i].first_kind == GSAI_CELL_NUMBER; j++)
            if (strcmp(first->column[i].first, first->column[j].first) == 0)
                return false;
    return is_header;
}

/* Sets the names that a header gives the columns, or their numbers from 1, which are also those of columns without a
 * name. */
static void name_columns(gsai_first_rows *first)
{
    for (size_t i = 0; i < first->n_columns; i++) {
        gsai_seen_column *seen = &first->column[i];
        bool is_named = first->has_header && seen->first_size > 0;
        size_t size = gsai_number_text((double)(i + 1), seen->number);
        seen->name = is_named ? seen->first : seen->number;
        seen->name_size = is_named ? seen->first_size : size;
        gsai_quote(seen->name, seen->name_size, seen->quote);
    }
}

const char *gsai_next_item(const char **list, size_t *size)
{
    const char *item = *list;
    if (!item)
        return NULL;
    *size = strcspn(item, ",");
    *list = item[*size] == ',' ? item + *size + 1 : NULL;
    return item;
}

/* Finds the column that an item means: by name if there is a header, else by number; SIZE_MAX if not found. */
static size_t find_item(const gsai_first_rows *first, bool has_header, const char *item, size_t size)
{
    for (size_t i = 0; i < first->n_columns && has_header; i++)
        if (first->column[i].first_size == size && memcmp(first->column[i].first, item, size) == 0)
            return i;
    uint64_t number = 0;
    for (size_t i = 0; i < size; i++) {
        if (!gsai_is_digit(item[i]) || number > first->n_columns)
            return SIZE_MAX;
        number = number * 10 + (uint64_t)(item[i] - '0');
    }
    return number >= 1 && number <= first->n_columns ? (size_t)number - 1 : SIZE_MAX;
}

static bool is_listed(const char *list, const gsai_first_rows *first, size_t column)
{
    size_t size;
    for (const char *item; (item = gsai_next_item(&list, &size));)
        if (find_item(first, first->has_header, item, size) == column)
            return true;
    return false;
}

/* "a, b, c ..." of a header, or how many columns there are. */
static const char *list_columns(const gsai_first_rows *first, char *out, size_t size)
{
    size_t n = 0;
    for (size_t i = 0; i < first->n_columns && first->has_header; i++) {
        const char *quote = first->column[i].first_size > 0 ? first->column[i].quote : "";
        if (n + strlen(quote) + 8 > size) {
            memcpy(out + n, " ...", 5);
            break;
        }
        n += (size_t)snprintf(out + n, size - n, "%s%s", i ? ", " : "", quote);
    }
    if (!first->has_header)
        snprintf(out, size, "1 to %zu", first->n_columns);
    return out;
}

/* Refuses an item that is not a column, and suggests one of the header that is called nearly so. */
static gsa_status check_list(const gsai_tabular *table, const char *option, const char *list,
                             const gsai_first_rows *first, gsa_error *error)
{
    char columns[200], quote[GSAI_QUOTE_SIZE], suggestion[GSAI_QUOTE_SIZE + 32] = "";
    size_t size, n_empty = 0;
    const char *item = gsai_next_item(&list, &size);
    while (item && find_item(first, first->has_header, item, size) != SIZE_MAX)
        item = gsai_next_item(&list, &size);
    if (!item)
        return GSA_OK;
    gsai_quote(item, size, quote);
    size_t best = strlen(quote) / 3 < 2 ? strlen(quote) / 3 : 2;
    for (size_t i = 0; i < first->n_columns; i++) {
        const char *name = first->column[i].first_size > 0 ? first->column[i].quote : "";
        size_t distance = first->has_header ? gsai_edit_distance(quote, name) : 0;
        n_empty += *name == '\0';
        if (distance > 0 && distance <= best) {
            snprintf(suggestion, sizeof suggestion, " (did you mean '%s'?)", name);
            best = distance - 1;
        }
    }
    bool is_titled = n_empty > first->n_columns / 2; /* as behind a title */
    return refuse(table, option, error, ": there is no column '%s'%s; the columns are %s%s%s", quote, suggestion,
                  list_columns(first, columns, sizeof columns),
                  first->has_header ? "" : ", by number, since there is no header",
                  is_titled && !gsai_is_digit(*item) ? "; remove lines before the header" : "");
}

/* ---- a schema from the first rows ------------------------------------------------------------------------------- */

/* Before it is known whether there is a header, a name of the first record is one. Without labels weights are not read.
 */
void gsai_first_rows_find_weight(gsai_first_rows *first, const gsa_reader_options *options, bool has_header)
{
    bool is_asked = options->weight && !options->without_labels;
    first->weight = is_asked ? find_item(first, has_header, options->weight, strlen(options->weight)) : SIZE_MAX;
}

static gsa_status find_label(const gsai_tabular *table, gsai_first_rows *first, gsa_error *error)
{
    const char *asked = table->input->options->label;
    char columns[200];
    first->label = asked ? find_item(first, first->has_header, asked, strlen(asked)) : 0;
    if (first->label == SIZE_MAX)
        return refuse(table, "label", error, ": the label is %s, expected one column", asked);
    if (asked || !first->has_header)
        return GSA_OK;
    size_t n_found = 0;
    for (size_t i = 0; i < first->n_columns; i++)
        if (names_label(&first->column[i])) {
            first->label = i;
            n_found++;
        }
    if (n_found == 1)
        return GSA_OK;
    return refuse(table, "label", error,
                  ": which column is the label? %s named label, target, y, class, click or clicked; name one of %s",
                  n_found ? "More than one is" : "None is", list_columns(first, columns, sizeof columns));
}

/* Reads the options that say how cells are read. */
static gsa_status read_asked(const gsai_tabular *table, gsai_asked *out, gsa_error *error)
{
    const gsa_reader_options *options = table->input->options;
    const char *list = options->missing && strcmp(options->missing, "none") != 0 ? options->missing : NULL;
    size_t size;
    *out = (gsai_asked){.finds_missing = !options->missing && !options->without_offsets};
    out->order = (char)(options->dates ? *options->dates : '\0');
    if (options->decimal)
        out->decimal = (char)(*options->decimal == 'c' ? ',' : '.');
    for (const char *item; (item = gsai_next_item(&list, &size));) {
        gsai_number number = {0};
        gsai_number_parse(table->locale, item, &number);
        if (number.after != item + size || !gsai_number_fits_float(&number))
            return gsai_fail_param(error, "missing", GSA_ARGUMENT,
                                   "'%.*s' as a missing value: expected a number, or none",
                                   (int)(size < 80 ? size : 80), item);
        if (out->n_missing == GSAI_MISSING_NUMBERS)
            return gsai_fail_param(error, "missing", GSA_ARGUMENT, "too many missing values: expected at most %d",
                                   (int)GSAI_MISSING_NUMBERS);
        out->missing[out->n_missing++] = number.value;
    }
    return GSA_OK;
}

double gsai_first_rows_weigh(const gsai_number_locale *locale, const char *text, size_t size)
{
    gsai_number number;
    gsai_number_parse_float(locale, text, &number);
    return number.after == text + size && number.value >= 0 && isfinite(number.value) ? number.value : 0;
}

void gsai_first_rows_add_value(gsai_first_rows *first, const gsai_number_locale *locale, size_t column,
                               const char *text, size_t size, double weight)
{
    gsai_seen_column *seen = &first->column[column];
    const gsai_reading *reading = seen->decided.is_plain ? NULL : &seen->decided.reading;
    gsai_number number;
    gsai_cell_value is = gsai_kind_at(seen->decided.kind)->read(locale, reading, text, size, &number);
    seen->cells.n_sentinels += is == GSAI_VALUE_MISSING && number.after;
    if (is != GSAI_VALUE)
        return;
    gsai_stats_add_value(&seen->cells, number.value, weight);
    if (column != first->label || first->n_label_values > GSAI_CLASSES_ANYWHERE)
        return;
    const double value = number.value;
    size_t i = 0;
    while (i < first->n_label_values && first->label_value[i] != value)
        i++;
    if (value != floor(value) || i == GSAI_CLASSES_ANYWHERE)
        first->n_label_values = GSAI_CLASSES_ANYWHERE + 1;
    else if (i == first->n_label_values)
        first->label_value[first->n_label_values++] = value;
}

/* Decides what the columns are, by the options that name them, else by their cells, and adds the values of those whose
 * cells had to be understood first. Numbers with two readings are never guessed. */
static gsa_status decide_columns(gsai_tabular *table, gsai_first_rows *first, gsai_asked *asked, gsa_error *error)
{
    const gsa_reader_options *options = table->input->options;
    bool any_again = false, has_commas = false;
    for (size_t i = 0; i < first->n_columns; i++) {
        gsai_seen_column *seen = &first->column[i];
        gsai_decided *decided = &seen->decided;
        asked->is_label = i == first->label;
        *decided = (gsai_decided){.kind = GSAI_FIELD_CATEGORICAL, .is_plain = true};
        seen->kind = asked->is_label                          ? GSAI_FIELD_LABEL
                     : is_listed(options->weight, first, i)   ? GSAI_FIELD_WEIGHT
                     : is_listed(options->exposure, first, i) ? GSAI_FIELD_EXPOSURE
                     : is_listed(options->offset, first, i)   ? GSAI_FIELD_OFFSET
                     : is_listed(options->per, first, i)      ? GSAI_FIELD_PER
                     : is_listed(options->group, first, i)    ? GSAI_FIELD_GROUP
                     : is_listed(options->ignore, first, i)   ? GSAI_FIELD_IGNORED
                     : is_listed(options->keep, first, i)     ? GSAI_FIELD_IGNORED
                                                              : GSAI_FIELD_CATEGORICAL;
        bool is_feature = !seen->is_category && !is_listed(options->categorical, first, i) &&
                          (asked->is_label || seen->kind == GSAI_FIELD_CATEGORICAL);
        if (!is_feature && !is_listed(options->time, first, i))
            continue;
        if (is_feature && !asked->is_label && is_listed(options->text, first, i))
            *decided = (gsai_decided){.kind = GSAI_FIELD_TEXT, .is_plain = true};
        else if (seen->is_date)
            *decided =
                (gsai_decided){.kind = GSAI_FIELD_DATE, .reading = {.decimal = '.', .has_time = seen->cells.has_time}};
        else
            *decided = gsai_column_decide(&seen->cells, asked);
        if (decided->is_plain && (asked->is_label || options->without_offsets)) /* labels are doubles */
            decided->needs_values = false;
        if (!is_feature)
            decided->needs_values = false;
        else if (!asked->is_label)
            seen->kind = decided->kind;
        has_commas = has_commas || (decided->kind == GSAI_FIELD_NUMBER && decided->reading.decimal == ',');
    }
    for (size_t i = 0; i < first->n_columns; i++) {
        gsai_seen_column *seen = &first->column[i];
        gsai_decided *decided = &seen->decided;
        bool may_group = has_commas && decided->reading.decimal == '.' && !asked->decimal &&
                         gsai_number_may_group_by_points(&seen->cells);
        char held[GSAI_QUOTE_SIZE];
        if (decided->kind == GSAI_FIELD_NUMBER && (decided->is_ambiguous || may_group))
            return refuse(table, "decimal", error,
                          ": column '%s' holds '%s', which is ambiguous: the %s may separate thousands or decimals; "
                          "say which mark comes before decimals, point or comma",
                          seen->quote, gsai_quote(seen->cells.ambiguous, strlen(seen->cells.ambiguous), held),
                          strchr(seen->cells.ambiguous, ',') ? "comma" : "point");
        if (gsai_first_rows_is_again(first, seen)) {
            any_again = true;
            gsai_stats_forget_values(&seen->cells);
        }
    }
    GSA_TRY(any_again ? first->again(table, first, error) : GSA_OK);
    gsai_seen_column *label = &first->column[first->label];
    if (label->decided.kind == GSAI_FIELD_DATE)
        return refuse(table, "categorical", error,
                      ": the label '%s' holds dates, and a label is a number or a class: make it a number, such as "
                      "days, or treat the column as categorical",
                      label->quote);
    /* Words among few whole numbers are names of classes as those are, among other numbers they are missing. */
    if (label->decided.kind == GSAI_FIELD_NUMBER && label->cells.n_words > 0 && label->cells.odd == 0 &&
        first->n_label_values <= GSAI_CLASSES_ANYWHERE)
        label->decided = (gsai_decided){.kind = GSAI_FIELD_CATEGORICAL, .is_plain = true};
    return GSA_OK;
}

static gsa_status add_field(gsai_tabular *table, const gsai_first_rows *first, size_t i, gsa_error *error)
{
    const gsa_reader_options *options = table->input->options;
    gsai_schema *schema = table->input->schema;
    const gsai_seen_column *seen = &first->column[i];
    const gsai_decided *decided = &seen->decided;
    GSA_TRY(gsai_schema_add(schema, seen->name, seen->name_size, seen->kind, error));
    if (seen->kind == GSAI_FIELD_OFFSET) /* which is never missing */
        return GSA_OK;
    if (is_listed(options->time, first, i))
        schema->field[i].time = decided->kind;
    if (gsai_kind_at(seen->kind)->has_number) {
        bool is_exact = decided->kind == GSAI_FIELD_DATE || gsai_first_rows_is_again(first, seen);
        double offset = is_exact && !options->without_offsets ? gsai_stats_offset(&seen->cells) : 0;
        gsai_schema_set_offset(schema, offset);
        schema->field[i].deviation = gsai_stats_deviation(&seen->cells);
        return gsai_schema_set_reading(schema, gsai_stats_mean(&seen->cells, offset),
                                       decided->is_plain ? NULL : &decided->reading, error);
    }
    if (seen->kind != GSAI_FIELD_LABEL) {
        bool has_reading = gsai_field_is_time(&schema->field[i]) && !decided->is_plain;
        return gsai_schema_set_reading(schema, 0, has_reading ? &decided->reading : NULL, error);
    }
    schema->field[i].is_class = seen->is_category || decided->is_code || is_listed(options->categorical, first, i);
    bool is_read = decided->kind == GSAI_FIELD_NUMBER && (!decided->is_plain || seen->cells.is_marked);
    return gsai_schema_set_reading(schema, 0, is_read ? &decided->reading : NULL, error);
}

/* Sets the signs of columns: of numbers alone, since dates have categories too. */
static gsa_status set_signs(const gsai_tabular *table, const gsai_first_rows *first, gsa_error *error)
{
    const gsa_reader_options *options = table->input->options;
    for (size_t i = 0; i < first->n_columns; i++) {
        gsai_field *field = &table->input->schema->field[i];
        bool rises = is_listed(options->increasing, first, i), falls = is_listed(options->decreasing, first, i);
        if (rises && falls)
            return gsai_fail_param(error, "decreasing", GSA_ARGUMENT,
                                   "'%s' cannot be both increasing and decreasing; leave one of the two out",
                                   first->column[i].quote);
        if ((rises || falls) && field->kind != GSAI_FIELD_NUMBER)
            return gsai_fail_param(error, rises ? "increasing" : "decreasing", GSA_ARGUMENT,
                                   "'%s' is no feature of numbers, which alone can increase or decrease; leave it out",
                                   first->column[i].quote);
        field->sign = (int8_t)(rises - falls);
    }
    return GSA_OK;
}

static gsa_status infer(gsai_tabular *table, gsai_first_rows *first, gsa_error *error)
{
    const gsa_reader_options *options = table->input->options;
    gsai_schema *schema = table->input->schema;
    gsai_asked asked;
    if (!first->has_header) {
        size_t before = first->weight;
        gsai_first_rows_find_weight(first, options, false);
        first->all_again = first->weight != before;
        const gsai_seen_column *weighs = first->weight != SIZE_MAX ? &first->column[first->weight] : NULL;
        double weight = weighs ? gsai_first_rows_weigh(table->locale, weighs->first, weighs->first_size) : 1;
        for (size_t i = 0; i < first->n_columns; i++) {
            gsai_seen_column *seen = &first->column[i];
            gsai_column_see(&seen->cells, table->locale, seen->first, seen->first_size, weight);
            gsai_stats_see_text(&seen->cells, seen->first, seen->first_size);
        }
        first->n_rows++;
    }
    GSA_TRY(check_list(table, "label", options->label, first, error));
    GSA_TRY(check_list(table, "weight", options->weight, first, error));
    GSA_TRY(check_list(table, "exposure", options->exposure, first, error));
    GSA_TRY(check_list(table, "offset", options->offset, first, error));
    GSA_TRY(check_list(table, "per", options->per, first, error));
    GSA_TRY(check_list(table, "group", options->group, first, error));
    GSA_TRY(check_list(table, "time", options->time, first, error));
    GSA_TRY(check_list(table, "categorical", options->categorical, first, error));
    GSA_TRY(check_list(table, "text", options->text, first, error));
    GSA_TRY(check_list(table, "ignore", options->ignore, first, error));
    GSA_TRY(check_list(table, "increasing", options->increasing, first, error));
    GSA_TRY(check_list(table, "decreasing", options->decreasing, first, error));
    GSA_TRY(read_asked(table, &asked, error));
    GSA_TRY(find_label(table, first, error));
    GSA_TRY(decide_columns(table, first, &asked, error));
    schema->is_named = first->has_header;
    schema->bits = options->bits ? options->bits : GSAI_DEFAULT_BITS;
    gsa_status status = GSA_OK;
    for (size_t i = 0; i < first->n_columns && status == GSA_OK; i++)
        status = add_field(table, first, i, error);
    if (status == GSA_OK)
        status = set_signs(table, first, error);
    const char *crosses = options->cross, *name[2];
    size_t size[2];
    while (status == GSA_OK && (status = gsai_schema_next_cross(&crosses, name, size, error)) == GSA_OK) {
        for (int k = 0; k < 2; k++) { /* columns may be named by numbers */
            size_t column = size[k] > 0 ? find_item(first, first->has_header, name[k], size[k]) : SIZE_MAX;
            if (column != SIZE_MAX) {
                name[k] = schema->field[column].name;
                size[k] = schema->field[column].name_size;
            }
        }
        status = gsai_schema_add_cross(schema, name, size, error);
    }
    if (status != GSA_END) {
        gsai_error_prefix(error, "%s: ", table->input->name);
        return status;
    }
    if (schema->n_of_kind[GSAI_FIELD_WEIGHT] > 1)
        return refuse(table, "weight", error, ": more than one column of weights; name one");
    if (schema->n_of_kind[GSAI_FIELD_EXPOSURE] > 1)
        return refuse(table, "exposure", error, ": more than one column of exposures; name one");
    if (schema->n_of_kind[GSAI_FIELD_OFFSET] > 1)
        return refuse(table, "offset", error, ": more than one column of offsets; name one, which has their sum");
    if (schema->n_of_kind[GSAI_FIELD_PER] > 1)
        return refuse(table, "per", error, ": more than one column of customers; name one");
    if (schema->n_of_kind[GSAI_FIELD_PER] > 0 && (options->increasing || options->decreasing))
        return refuse(table, "per", error,
                      ": slopes of customers keep no sign; name no columns that increase or decrease");
    if (schema->n_of_kind[GSAI_FIELD_PER] > 0 && options->group && schema->n_of_kind[GSAI_FIELD_GROUP] == 0)
        return refuse(table, "group", error, ": customers who are held out have no features; leave one of the two out");
    if (options->group && options->time)
        return refuse(table, "group", error, ": rows are held out by group or by time; leave one of the two out");
    if (schema->n_of_kind[GSAI_FIELD_GROUP] > 1)
        return refuse(table, "group", error, ": more than one column of groups; name one");
    size_t n_times = 0;
    for (size_t i = 0; i < first->n_columns && options->time; i++) {
        if (!is_listed(options->time, first, i))
            continue;
        if (n_times++ > 0 || i == first->label || !gsai_field_is_time(&schema->field[i]))
            return refuse(table, "time", error,
                          n_times > 1 ? ": more than one column of times; name one"
                                      : ": '%s' holds neither numbers nor dates, or it is the label; name "
                                        "the column that says when a row was",
                          first->column[i].quote);
    }
    return gsai_schema_complete(schema, error);
}

/* ---- a file whose columns are known ----------------------------------------------------------------------------- */

/* Returns whether the first record is a header: with at least one of the names, and no number but names; or with none
 * of them, and no number, over numbers. */
static bool has_header(const gsai_tabular *table, const gsai_first_rows *first)
{
    const gsai_schema *schema = table->input->schema;
    size_t n_names = 0, n_numbers = 0, n_other_numbers = 0;
    bool is_over_numbers = false;
    for (size_t i = 0; i < first->n_columns; i++) {
        const gsai_seen_column *seen = &first->column[i];
        const gsai_field *field = first->n_columns == schema->n_fields ? &schema->field[i] : NULL;
        bool is_name = gsai_schema_find(schema, seen->first, seen->first_size) != SIZE_MAX;
        bool is_number = seen->first_kind == GSAI_CELL_NUMBER;
        gsai_number number;
        n_names += is_name;
        n_numbers += is_number;
        n_other_numbers += is_number && !is_name;
        if (field && field->kind == GSAI_FIELD_NUMBER && seen->first_kind == GSAI_CELL_WORD)
            is_over_numbers = is_over_numbers || gsai_read_number(table->locale, field->reading, seen->first,
                                                                  seen->first_size, &number) == GSAI_VALUE_WRONG;
    }
    return (n_names > 0 && n_other_numbers == 0) ||
           (n_numbers == 0 && (is_over_numbers || first_record_is_header(first, NULL)));
}

/* Returns whether a file may be without a column of this kind. */
static bool may_lack(const gsai_tabular *table, gsai_field_kind kind)
{
    const gsa_reader_options *options = table->input->options;
    bool is_target = kind == GSAI_FIELD_LABEL || kind == GSAI_FIELD_WEIGHT || kind == GSAI_FIELD_EXPOSURE;
    bool is_weight = kind == GSAI_FIELD_WEIGHT && options->without_weights && !options->weight;
    bool is_group = kind == GSAI_FIELD_GROUP && !gsai_tabular_learns(options);
    return kind == GSAI_FIELD_IGNORED || is_weight || is_group || (is_target && options->without_labels);
}

/* Names the columns of the schema that the file lacks: all of them, so that one message is enough. */
static gsa_status check_complete(const gsai_tabular *table, const gsai_first_rows *first, gsa_error *error)
{
    enum { NAMED = 3 };
    const gsai_schema *schema = table->input->schema;
    char names[NAMED * (GSAI_QUOTE_SIZE + 4) + 64] = "", quote[GSAI_QUOTE_SIZE], columns[200];
    size_t n = 0, size = 0;
    for (size_t f = 0; f < schema->n_fields; f++) {
        const gsai_field *field = &schema->field[f];
        bool may =
            may_lack(table, field->kind) && !(gsai_field_is_time(field) && gsai_tabular_learns(table->input->options));
        if (table->cell_of[f] == SIZE_MAX && !may && n++ < NAMED)
            size += (size_t)snprintf(names + size, sizeof names - size, "%s'%s'%s", n > 1 ? ", " : "",
                                     gsai_quote(field->name, field->name_size, quote),
                                     field->kind == GSAI_FIELD_EXPOSURE ? " (exposure of the counts)"
                                     : field->kind == GSAI_FIELD_OFFSET ? " (offset of the margin)"
                                                                        : "");
    }
    if (n == 0)
        return GSA_OK;
    if (n > NAMED)
        snprintf(names + size, sizeof names - size, " and %zu more", n - NAMED);
    return refuse(table, "", error, " has no column%s %s, which %s has; its columns are %s", n == 1 ? "" : "s", names,
                  table->input->schema_from, list_columns(first, columns, sizeof columns));
}

static gsa_status match_by_name(const gsai_tabular *table, const gsai_first_rows *first, gsa_error *error)
{
    const gsai_format_input *input = table->input;
    const gsai_schema *schema = input->schema;
    size_t unknown = SIZE_MAX;
    for (size_t i = 0; i < first->n_columns; i++) {
        const gsai_seen_column *seen = &first->column[i];
        size_t field = gsai_schema_find(schema, seen->name, seen->name_size);
        bool is_ignored = is_listed(input->options->ignore, first, i);
        if (field == SIZE_MAX) {
            bool may_be_there = is_ignored || is_listed(input->options->keep, first, i);
            unknown = unknown == SIZE_MAX && !may_be_there ? i : unknown;
            continue;
        }
        if (table->cell_of[field] != SIZE_MAX)
            return refuse(table, "", error, ": columns %zu and %zu have the same name '%s': rename one of them",
                          table->cell_of[field] + 1, i + 1, seen->quote);
        if (is_ignored && gsai_kind_at(schema->field[field].kind)->add)
            return refuse(table, "ignore", error, ": %s needs the column '%s': it cannot be ignored",
                          input->schema_from, seen->quote);
        table->cell_of[field] = i;
    }
    GSA_TRY(check_complete(table, first, error));
    if (unknown == SIZE_MAX)
        return GSA_OK;
    return refuse(table, "ignore", error, " has a column '%s' that %s does not have; ignore it",
                  first->column[unknown].quote, input->schema_from);
}

/* Expects the same columns in the same order; the label may be left out where it is not needed. */
static gsa_status match_by_position(const gsai_tabular *table, const gsai_first_rows *first, gsa_error *error)
{
    const gsai_schema *schema = table->input->schema;
    bool lacks_label = first->n_columns + 1 == schema->n_fields && may_lack(table, GSAI_FIELD_LABEL);
    if (first->n_columns != schema->n_fields && !lacks_label)
        return refuse(table, "", error, " has %zu columns%s, %s has %zu: expected the same columns", first->n_columns,
                      schema->is_named ? " and no header with their names" : "", table->input->schema_from,
                      schema->n_fields);
    size_t cell = 0;
    for (size_t f = 0; f < schema->n_fields; f++)
        if (!(lacks_label && schema->field[f].kind == GSAI_FIELD_LABEL))
            table->cell_of[f] = cell++;
    return GSA_OK;
}

/* Options may repeat what is known of a column, and say nothing else. */
static gsa_status check_options(const gsai_tabular *table, const gsai_first_rows *first, gsa_error *error)
{
    const gsai_schema *schema = table->input->schema;
    const gsa_reader_options *options = table->input->options;
    const struct {
        const char *name, *list;
        gsai_field_kind kind;
    } known[] = {{"label", options->label, GSAI_FIELD_LABEL},
                 {"weight", options->weight, GSAI_FIELD_WEIGHT},
                 {"exposure", options->exposure, GSAI_FIELD_EXPOSURE},
                 {"offset", options->offset, GSAI_FIELD_OFFSET},
                 {"per", options->per, GSAI_FIELD_PER},
                 {"group", options->group, GSAI_FIELD_GROUP},
                 {"categorical", options->categorical, GSAI_FIELD_CATEGORICAL},
                 {"text", options->text, GSAI_FIELD_TEXT}};
    char quote[GSAI_QUOTE_SIZE];
    for (size_t f = 0; f < schema->n_fields; f++)
        for (size_t k = 0; k < sizeof known / sizeof *known && table->cell_of[f] != SIZE_MAX; k++)
            if (schema->field[f].kind != known[k].kind && is_listed(known[k].list, first, table->cell_of[f]) &&
                !(schema->field[f].is_class && known[k].kind == GSAI_FIELD_CATEGORICAL))
                return refuse(table, known[k].name, error, ": %s %s column contradicts %s about '%s'; leave it out",
                              strchr("eo", *known[k].name) ? "an" : "a", known[k].name, table->input->schema_from,
                              gsai_quote(schema->field[f].name, schema->field[f].name_size, quote));
    for (size_t f = 0; f < schema->n_fields; f++) {
        size_t cell = table->cell_of[f];
        bool rises = cell != SIZE_MAX && is_listed(options->increasing, first, cell);
        bool falls = cell != SIZE_MAX && is_listed(options->decreasing, first, cell);
        if ((rises && schema->field[f].sign <= 0) || (falls && schema->field[f].sign >= 0))
            return refuse(
                table, rises ? "increasing" : "decreasing", error, ": '%s' has no such sign in %s; leave it out",
                gsai_quote(schema->field[f].name, schema->field[f].name_size, quote), table->input->schema_from);
    }
    for (size_t f = 0; f < schema->n_fields; f++)
        if (table->cell_of[f] != SIZE_MAX && !gsai_field_is_time(&schema->field[f]) &&
            is_listed(options->time, first, table->cell_of[f]))
            return refuse(table, "time", error, ": a time column contradicts %s about '%s'; leave it out",
                          table->input->schema_from,
                          gsai_quote(schema->field[f].name, schema->field[f].name_size, quote));
    return GSA_OK;
}

gsa_status gsai_tabular_settle(gsai_tabular *table, gsai_first_rows *first, gsa_error *error)
{
    gsai_format_input *input = table->input;
    const char *list = input->options->keep;
    bool is_new = !input->schema->text;
    size_t size, max_kept = 1;
    if (!first->has_header)
        first->has_header = is_new ? first_record_is_header(first, input->options->label)
                                   : input->schema->is_named && has_header(table, first);
    name_columns(first);
    gsa_status status = is_new ? infer(table, first, error) : GSA_OK;
    if (status != GSA_OK) {
        gsai_schema_free(input->schema);
        return status;
    }
    for (const char *at = list; at && *at; at++)
        max_kept += *at == ',';
    GSA_TRY(gsai_tabular_begin_plan(table, max_kept, error));
    table->n_cells = first->n_columns;
    GSA_TRY((first->has_header && input->schema->is_named ? match_by_name : match_by_position)(table, first, error));
    GSA_TRY(check_options(table, first, error));
    GSA_TRY(gsai_tabular_plan(table, error));
    GSA_TRY(check_list(table, "keep", list, first, error));
    for (const char *item; (item = gsai_next_item(&list, &size));)
        table->kept[table->n_kept++] = find_item(first, first->has_header, item, size);
    if (input->options->remember_names)
        GSA_TRY(gsai_feature_names_begin(input->names, gsai_schema_id_bits(input->schema), table->env, error));
    if (input->description[0] == '\0')
        gsai_tabular_describe(table, first, is_new);
    return GSA_OK;
}
