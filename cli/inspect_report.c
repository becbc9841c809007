/* The report on data: for people, and the same as one JSON object. */
#include "inspect_data.h"

#include "printable.h"
#include "report.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <time.h>

enum { MIN_NAME = 6, MAX_NAME = 28, CELL_SIZE = 40 };

/* Returns the number of different features in the rows; *is_exact is false if it is an estimate. The reader counts the
 * different words of a table, and crosses, one by one. */
static uint64_t data_n_features(const data_inspection *data, bool *is_exact)
{
    double taken = gsa_reader_collision_rate(data->reader);
    uint64_t n = isnan(taken) ? 0 : (uint64_t)(ldexp(taken, (int)data->schema.bits) + 0.5);
    *is_exact = data->column != NULL || data->features.beyond.sketch == NULL;
    if (data->column == NULL)
        return data->features.n_seen;
    for (size_t i = 0; i < data->n_columns; i++) {
        const moments *numbers = &data->column[i].numbers;
        n += data->column[i].kind == COLUMN_NUMBER && numbers->n > 0 && (numbers->min != 0 || numbers->max != 0);
    }
    return n;
}

/* Returns the word of a column that has this hash, as far as names are remembered; NULL if it is not known. */
static const char *data_word(const data_inspection *data, const data_column *column, uint64_t hash)
{
    uint64_t id = data->schema.first_word + (hash & ((UINT64_C(1) << data->schema.bits) - 1));
    const char *name = gsa_reader_name(data->reader, id);
    size_t size = strlen(column->name);
    /* A word that shares its feature may have another's name. */
    return name != NULL && !column->is_text && strncmp(name, column->name, size) == 0 && name[size] == '='
               ? name + size + 1
               : NULL;
}

static double percent(uint64_t part, uint64_t whole)
{
    return whole > 0 ? 100 * (double)part / (double)whole : 0;
}

/* Characters of UTF-8 text, which is as wide as most of it is. */
static int width_of(const char *text)
{
    int n = 0;
    for (; *text != '\0'; text++)
        n += ((unsigned char)*text & 0xC0) != 0x80;
    return n;
}

static void print_padded(const char *text, int width)
{
    int padding = width - width_of(text);
    printable_put(stdout, text);
    printf("%*s", padding > 0 ? padding : 0, "");
}

/* ---- rows and labels -------------------------------------------------------------------------------------------- */

static void print_rows(const data_inspection *data)
{
    const char *description = gsa_reader_description(data->reader);
    uint64_t n_rows = data->labels.n_rows, more = data->n_paths > 1 ? data->n_paths - 1 : 0;
    char others[48] = "";
    if (more > 0)
        snprintf(others, sizeof others, " (and %" PRIu64 " more file%s)", more, more > 1 ? "s" : "");
    if (description != NULL)
        report_field("input", "%s%s", description, others);
    else
        report_field("input", "%s: rows with feature numbers%s", gsa_reader_file(data->reader, 0), others);
    report_field("rows", "%" PRIu64, n_rows);
    if (data->reading.n_bad_rows > 0)
        report_field("bad rows", "%" PRIu64 " (skipped)", data->reading.n_bad_rows);
    if (data->weights.min != 1 || data->weights.max != 1)
        report_field("row weights", "%.6g to %.6g, mean %.6g", data->weights.min, data->weights.max,
                     moments_mean(&data->weights));
    report_field("entries per row", "%" PRIu64 " to %" PRIu64 ", mean %.6g", data->min_entries, data->max_entries,
                 (double)data->n_entries / (double)n_rows);
}

static void print_features(const data_inspection *data)
{
    bool is_exact;
    uint64_t n = data_n_features(data, &is_exact);
    const data_features *features = &data->features;
    const char *about = is_exact ? "" : "about ";
    if (data->column != NULL) {
        report_field("features seen", "%" PRIu64, n);
        return;
    }
    if (data->schema.bits == 0 && features->n_entries > 0)
        report_field("features seen", "%s%" PRIu64 ", the highest has index %" PRIu64, about, n, features->highest + 1);
    else
        report_field("features seen", "%s%" PRIu64, about, n);
    if (features->n_entries == 0)
        return;
    double cells = (double)n * (double)data->labels.n_rows;
    report_field("zeros", "%s%.4g %% of rows times features seen", about,
                 fmax(0, 100 * (1 - (double)features->n_entries / cells)));
    report_field("values", "%.6g to %.6g", features->min, features->max);
}

static void print_classes(const data_inspection *data)
{
    const value_set *values = &data->labels.values;
    uint64_t n_classes = labels_n_classes(&data->labels);
    char buffer[LABEL_TEXT_SIZE];
    int width = 0;
    size_t n = values->n < LABELS_LISTED ? values->n : LABELS_LISTED;
    report_field("labels", "%s%" PRIu64 " class%s", values->sketch != NULL ? "about " : "", n_classes,
                 n_classes == 1 ? "" : "es");
    for (size_t i = 0; i < n; i++) {
        int each = width_of(label_text(&data->labels, values->entry[i].value, buffer));
        width = each > width ? each : width;
    }
    for (size_t i = 0; i < n; i++) {
        fputs("  ", stdout);
        print_padded(label_text(&data->labels, values->entry[i].value, buffer), width > 16 ? width : 16);
        printf(" %s%" PRIu64 "  %.4g %%\n", values->lost > 0 ? "at least " : "", values->entry[i].count,
               percent(values->entry[i].count, data->labels.n_rows));
    }
    if (n_classes > n)
        printf("  and %" PRIu64 " more\n", n_classes - n);
}

/* ---- a line a column -------------------------------------------------------------------------------------------- */

/* Days since 1970 as a date. */
static void put_day(double days, char out[CELL_SIZE])
{
    time_t seconds = (time_t)floor(days * 86400 + 0.5); /* days of floats, from an offset */
    struct tm parts;
    if (gmtime_r(&seconds, &parts) == NULL || strftime(out, CELL_SIZE, "%Y-%m-%d", &parts) == 0)
        snprintf(out, CELL_SIZE, "%.6g", days);
}

static void print_column(const data_inspection *data, const data_column *column, int width)
{
    const moments *numbers = &column->numbers;
    const value_set *values = &column->values;
    char missing[CELL_SIZE], distinct[CELL_SIZE], from[CELL_SIZE], to[CELL_SIZE];
    const char *separator = "  ";
    print_padded(column->name, width);
    printf(" %s", column_kind_name(column));
    if (column->kind == COLUMN_NUMBER || column->kind == COLUMN_WORDS) {
        snprintf(missing, sizeof missing, "%" PRIu64 " (%.3g %%)", column->n_absent,
                 percent(column->n_absent, column->n_absent + column->n_present));
        snprintf(distinct, sizeof distinct, "%s%" PRIu64, values->sketch != NULL ? "about " : "",
                 value_set_count(values));
        printf("%*s %16s %16s", 7 - (int)strlen(column_kind_name(column)), "", column->n_absent > 0 ? missing : "0",
               distinct);
    }
    if (column->kind == COLUMN_NUMBER && numbers->n > 0 && column->is_date) {
        put_day(numbers->min, from);
        put_day(numbers->max, to);
        printf("  %s to %s", from, to);
    } else if (column->kind == COLUMN_NUMBER && numbers->n > 0) {
        int digits = 6; /* of the range, where the values are far from 0 */
        for (double size = fabs(column->offset); size > numbers->max - numbers->min && digits < 17; size /= 10)
            digits++;
        printf("  %.*g to %.*g, mean %.*g", digits, numbers->min, digits, numbers->max, digits, moments_mean(numbers));
    }
    /* Words that are surely more frequent than one in a hundred, or any of few. */
    for (size_t i = 0; column->kind == COLUMN_WORDS && i < values->n && i < WORDS_LISTED; i++) {
        const char *word = data_word(data, column, values->entry[i].value);
        if (word == NULL || (values->sketch != NULL && values->entry[i].count * 100 < column->n_present))
            continue;
        printf("%s'", separator);
        print_padded(word, 0);
        printf("' %s%.3g %%", values->lost > 0 ? "at least " : "",
               percent(values->entry[i].count, column->n_present + column->n_absent));
        separator = ", ";
    }
    putchar('\n');
}

static void print_columns(const data_inspection *data)
{
    int width = MIN_NAME;
    for (size_t i = 0; i < data->n_columns; i++) {
        int each = width_of(data->column[i].name);
        width = each > width ? each : width;
    }
    width = width < MAX_NAME ? width : MAX_NAME;
    putchar('\n');
    report_heading("%-*s %-7s %16s %16s", width, "column", "kind", "missing", "distinct");
    for (size_t i = 0; i < data->n_columns; i++)
        print_column(data, &data->column[i], width);
}

static void print_frequent(const data_inspection *data)
{
    const data_features *features = &data->features;
    if (features->n_frequent == 0)
        return;
    putchar('\n');
    report_heading("most frequent features");
    printf("%10s  %12s  %8s\n", "index", "rows", "share");
    for (size_t i = 0; i < features->n_frequent; i++) {
        const value_entry *feature = &features->frequent[i];
        const char *name = gsa_reader_name(data->reader, feature->value);
        char share[CELL_SIZE];
        snprintf(share, sizeof share, "%.3g %%", percent(feature->count, data->labels.n_rows));
        printf("%10" PRIu64 "  %12" PRIu64 "  %8s", feature->value + 1, feature->count, share);
        fputs(name != NULL ? "  " : "", stdout);
        print_padded(name != NULL ? name : "", 0);
        putchar('\n');
    }
    if (features->beyond.lost > 0)
        printf("(counts of indices above 2^24 may be too low, by %" PRIu64 " at most)\n", features->beyond.lost);
}

void data_print(const data_inspection *data)
{
    const data_labels *labels = &data->labels;
    const char *schema = gsa_reader_schema(data->reader);
    uint64_t n_columns = data->schema.n_numbers + data->schema.n_words;
    bool is_table = schema != NULL && strstr(schema, "\ncolumns namespaces\n") == NULL && n_columns > 0;
    print_rows(data);
    print_features(data);
    if (labels_are_numbers(labels)) {
        report_field("labels", "numbers, %s%" PRIu64 " different", labels->values.sketch != NULL ? "about " : "",
                     value_set_count(&labels->values));
        report_field("  least, most", "%.6g, %.6g", labels->numbers.min, labels->numbers.max);
        report_field("  mean", "%.6g", moments_mean(&labels->numbers));
        report_field("  deviation", "%.6g", moments_deviation(&labels->numbers));
    } else {
        print_classes(data);
    }
    if (data->column != NULL)
        print_columns(data);
    else
        print_frequent(data);
    if (data->column == NULL && is_table && n_columns > MAX_COLUMNS)
        printf("\n(a table of more than %d columns: they are shown as features)\n", MAX_COLUMNS);
    else if (data->column == NULL && is_table)
        puts("\n(a cache of a table has no cells: inspect the table itself for one line per column)");
    if (data->n_rows_without_cells > 0)
        printf("\n(%" PRIu64 " rows came from a cache, which has no cells: the columns are those of the other rows)\n",
               data->n_rows_without_cells);
    putchar('\n');
    report_heading(data->n_warnings > 0 ? "warnings" : "no warnings");
    for (size_t i = 0; i < data->n_warnings; i++) {
        fputs("- ", stdout);
        printable_put(stdout, data->warning[i].text);
        putchar('\n');
    }
}

/* ---- JSON ------------------------------------------------------------------------------------------------------- */

static json_t *moments_json(const moments *of)
{
    return json_pack("{s:o, s:o, s:o, s:o}", "least", of->n > 0 ? report_real(of->min) : json_null(), "mean",
                     report_real(moments_mean(of)), "most", of->n > 0 ? report_real(of->max) : json_null(), "deviation",
                     report_real(moments_deviation(of)));
}

static void set_distinct(json_t *object, const value_set *values)
{
    json_object_set_new(object, "distinct", report_count(value_set_count(values)));
    json_object_set_new(object, "distinct_is_exact", json_boolean(values->sketch == NULL));
}

static json_t *labels_json(const data_labels *labels)
{
    json_t *object = json_object(), *list = json_array();
    bool are_numbers = labels_are_numbers(labels);
    char buffer[LABEL_TEXT_SIZE];
    json_object_set_new(object, "kind", json_string(are_numbers ? "numbers" : "classes"));
    set_distinct(object, &labels->values);
    if (are_numbers)
        json_object_update_new(object, moments_json(&labels->numbers));
    for (size_t i = 0; i < labels->values.n && !are_numbers; i++) {
        const value_entry *entry = &labels->values.entry[i];
        json_array_append_new(list,
                              json_pack("{s:o, s:o}", "label", report_text(label_text(labels, entry->value, buffer)),
                                        "rows", report_count(entry->count)));
    }
    json_object_set_new(object, "classes", list);
    json_object_set_new(object, "rows_lost", report_count(labels->values.lost));
    return object;
}

static json_t *column_json(const data_inspection *data, const data_column *column)
{
    json_t *object = json_pack("{s:o, s:s}", "name", report_text(column->name), "kind", column_kind_name(column));
    if (column->kind != COLUMN_NUMBER && column->kind != COLUMN_WORDS)
        return object;
    json_object_set_new(object, "missing", report_count(column->n_absent));
    set_distinct(object, &column->values);
    if (column->kind == COLUMN_NUMBER) {
        json_object_update_new(object, moments_json(&column->numbers));
        return object;
    }
    json_t *list = json_array();
    for (size_t i = 0; i < column->values.n && i < WORDS_LISTED; i++) {
        const value_entry *entry = &column->values.entry[i];
        const char *word = data_word(data, column, entry->value);
        json_array_append_new(list, json_pack("{s:o, s:o}", "word", word != NULL ? report_text(word) : json_null(),
                                              "rows_at_least", report_count(entry->count)));
    }
    json_object_set_new(object, "frequent", list);
    return object;
}

json_t *data_json(const data_inspection *data)
{
    json_t *object = json_object(), *paths = json_array(), *warnings = json_array();
    const data_features *features = &data->features;
    bool is_exact;
    const char *description = gsa_reader_description(data->reader);
    for (size_t i = 0; i < data->n_paths; i++)
        json_array_append_new(paths, report_text(data->paths[i]));
    json_object_set_new(object, "data", paths);
    json_object_set_new(object, "understood", description != NULL ? report_text(description) : json_null());
    json_object_set_new(object, "rows", report_count(data->labels.n_rows));
    json_object_set_new(object, "bad_rows", report_count(data->reading.n_bad_rows));
    json_object_set_new(object, "rows_without_cells", report_count(data->n_rows_without_cells));
    json_object_set_new(object, "row_weights", moments_json(&data->weights));
    json_object_set_new(object, "entries",
                        json_pack("{s:o, s:o, s:o}", "least", report_count(data->min_entries), "mean",
                                  report_real((double)data->n_entries / (double)data->labels.n_rows), "most",
                                  report_count(data->max_entries)));
    json_object_set_new(object, "features", report_count(data_n_features(data, &is_exact)));
    json_object_set_new(object, "features_is_exact", json_boolean(is_exact));
    json_object_set_new(object, "labels", labels_json(&data->labels));
    if (data->column != NULL) {
        json_t *columns = json_array();
        for (size_t i = 0; i < data->n_columns; i++)
            json_array_append_new(columns, column_json(data, &data->column[i]));
        json_object_set_new(object, "columns", columns);
    } else {
        json_object_set_new(object, "highest_index", report_count(features->highest + (features->n_entries > 0)));
        json_object_set_new(object, "least_value", report_real(features->min));
        json_object_set_new(object, "most_value", report_real(features->max));
        json_t *frequent = json_array();
        for (size_t i = 0; i < features->n_frequent; i++) {
            const value_entry *feature = &features->frequent[i];
            const char *name = gsa_reader_name(data->reader, feature->value);
            json_t *entry = json_pack("{s:o, s:o}", "index", report_count(feature->value + 1), "rows_at_least",
                                      report_count(feature->count));
            if (name != NULL)
                json_object_set_new(entry, "name", report_text(name));
            json_array_append_new(frequent, entry);
        }
        json_object_set_new(object, "frequent", frequent);
    }
    for (size_t i = 0; i < data->n_warnings; i++)
        json_array_append_new(warnings, json_pack("{s:s, s:o}", "what", data->warning[i].what, "text",
                                                  report_text(data->warning[i].text)));
    json_object_set_new(object, "warnings", warnings);
    return object;
}
