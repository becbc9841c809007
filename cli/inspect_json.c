/* What was found out about data, for programs: the same as one JSON object. */
#include "inspect_data.h"

#include "report.h"

static json_t *moments_json(const moments *of)
{
    json_t *object = json_object();
    json_object_set_new(object, "least", of->n > 0 ? report_real(of->least) : json_null());
    json_object_set_new(object, "mean", report_real(moments_mean(of)));
    json_object_set_new(object, "most", of->n > 0 ? report_real(of->most) : json_null());
    json_object_set_new(object, "deviation", report_real(moments_deviation(of)));
    return object;
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
        json_t *entry = json_object();
        json_object_set_new(entry, "label", report_text(label_text(labels, labels->values.entry[i].value, buffer)));
        json_object_set_new(entry, "rows", report_count(labels->values.entry[i].count));
        json_array_append_new(list, entry);
    }
    json_object_set_new(object, "classes", list);
    json_object_set_new(object, "rows_lost", report_count(labels->values.lost));
    return object;
}

static json_t *words_json(const data_inspection *data, const data_column *column)
{
    json_t *list = json_array();
    for (size_t i = 0; i < column->values.n && i < WORDS_LISTED; i++) {
        json_t *entry = json_object();
        const char *word = data_word(data, column, column->values.entry[i].value);
        json_object_set_new(entry, "word", word != NULL ? report_text(word) : json_null());
        json_object_set_new(entry, "rows_at_least", report_count(column->values.entry[i].count));
        json_array_append_new(list, entry);
    }
    return list;
}

static json_t *column_json(const data_inspection *data, const data_column *column)
{
    json_t *object = json_object();
    if (column->name != NULL) {
        json_object_set_new(object, "name", report_text(column->name));
        json_object_set_new(object, "kind", json_string(column_kind_name(column->kind)));
    } else {
        json_object_set_new(object, "index", report_count(column->number + 1));
        if (gsa_reader_name(data->reader, column->number) != NULL)
            json_object_set_new(object, "name", report_text(gsa_reader_name(data->reader, column->number)));
    }
    if (column->kind != COLUMN_NUMBER && column->kind != COLUMN_WORDS)
        return object;
    json_object_set_new(object, column->name != NULL ? "missing" : "zero", report_count(column->n_absent));
    set_distinct(object, &column->values);
    if (column->kind == COLUMN_NUMBER)
        json_object_update_new(object, moments_json(&column->numbers));
    else
        json_object_set_new(object, "frequent", words_json(data, column));
    return object;
}

static json_t *columns_json(const data_inspection *data, const data_column *column, size_t n)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(list, column_json(data, &column[i]));
    return list;
}

static json_t *frequent_json(const data_inspection *data)
{
    json_t *list = json_array();
    for (size_t i = 0; i < data->features.frequent.n; i++) {
        const top_feature *feature = &data->features.frequent.at[i];
        json_t *entry = json_object();
        const char *name = gsa_reader_name(data->reader, feature->id);
        json_object_set_new(entry, "index", report_count(feature->id + 1));
        json_object_set_new(entry, "rows_at_least", report_count((uint64_t)feature->value));
        if (name != NULL)
            json_object_set_new(entry, "name", report_text(name));
        json_array_append_new(list, entry);
    }
    return list;
}

static json_t *rows_json(const data_inspection *data)
{
    json_t *object = json_object(), *paths = json_array(), *entries = json_object();
    const char *description = gsa_reader_description(data->reader);
    for (size_t i = 0; i < data->n_paths; i++)
        json_array_append_new(paths, report_text(data->paths[i]));
    json_object_set_new(object, "data", paths);
    json_object_set_new(object, "understood", description != NULL ? report_text(description) : json_null());
    json_object_set_new(object, "rows", report_count(data->labels.n_rows));
    json_object_set_new(object, "bad_rows", report_count(data->reading.n_bad_rows));
    json_object_set_new(object, "rows_without_cells", report_count(data->n_rows_without_cells));
    json_object_set_new(object, "row_weights", moments_json(&data->weights));
    json_object_set_new(entries, "least", report_count(data->least_entries));
    json_object_set_new(entries, "mean", report_real((double)data->n_entries / (double)data->labels.n_rows));
    json_object_set_new(entries, "most", report_count(data->most_entries));
    json_object_set_new(object, "entries", entries);
    return object;
}

json_t *data_json(const data_inspection *data)
{
    json_t *object = rows_json(data), *warnings = json_array();
    const data_features *features = &data->features;
    bool is_exact;
    json_object_set_new(object, "features", report_count(data_n_features(data, &is_exact)));
    json_object_set_new(object, "features_is_exact", json_boolean(is_exact));
    json_object_set_new(object, "labels", labels_json(&data->labels));
    if (data->column != NULL) {
        json_object_set_new(object, "columns", columns_json(data, data->column, data->n_columns));
    } else {
        json_object_set_new(object, "highest_index", report_count(features->highest + (features->n_entries > 0)));
        json_object_set_new(object, "least_value", report_real(features->least));
        json_object_set_new(object, "most_value", report_real(features->most));
        json_object_set_new(object, "few_features", columns_json(data, features->few, features->n_few));
        json_object_set_new(object, "frequent", frequent_json(data));
    }
    for (size_t i = 0; i < data->n_warnings; i++) {
        json_t *entry = json_object();
        json_object_set_new(entry, "what", json_string(data->warning[i].what));
        json_object_set_new(entry, "text", report_text(data->warning[i].text));
        json_array_append_new(warnings, entry);
    }
    json_object_set_new(object, "warnings", warnings);
    return object;
}
