/* Where the features of a row come from: a column for each cell that has some, in the order of their ids. */
#include "data/format/csv.h"

#include "base/error.h"
#include "base/memory.h"

#include <string.h>

void gsai_csv_forget(gsai_csv *csv)
{
    for (size_t i = 0; i < csv->n_columns; i++)
        gsai_key_free(&csv->column[i].key, csv->env);
    for (size_t i = 0; i < csv->n_dates; i++)
        for (int part = 0; part < GSAI_DATE_PARTS; part++)
            gsai_key_free(&csv->date[i].key[part], csv->env);
    gsai_free(csv->env, csv->column);
    gsai_free(csv->env, csv->date);
    gsai_free(csv->env, csv->gap);
    gsai_free(csv->env, csv->term);
    gsai_free(csv->env, csv->cross);
    gsai_free(csv->env, csv->kept);
    csv->kept = NULL;
    csv->n_kept = 0;
    csv->column = NULL;
    csv->date = NULL;
    csv->gap = NULL;
    csv->term = NULL;
    csv->cross = NULL;
    csv->n_columns = csv->n_numbers = csv->n_dates = csv->n_crosses = 0;
}

/* The parts of a date are categories of columns of their own: "when weekday". */
static bool plan_date(gsai_csv *csv, const gsai_field *field, gsai_csv_column *column)
{
    gsai_csv_date *date = column->date = &csv->date[csv->n_dates++];
    date->has_time = field->reading->has_time;
    bool has_room = true;
    for (int part = 0; part < GSAI_DATE_PARTS && has_room; part++) {
        size_t size = strlen(gsai_date_part_names[part]);
        char *name = gsai_alloc(csv->env, field->name_size + 1 + size, 1);
        if (name) {
            memcpy(name, field->name, field->name_size);
            name[field->name_size] = ' ';
            memcpy(name + field->name_size + 1, gsai_date_part_names[part], size);
        }
        has_room = name && gsai_key_set(&date->key[part], name, field->name_size + 1 + size, csv->env);
        gsai_free(csv->env, name);
    }
    return has_room;
}

static gsa_status plan_columns(gsai_csv *csv, const size_t *cell_of, gsa_error *error)
{
    const gsai_schema *schema = csv->input->schema;
    gsai_csv_forget(csv);
    csv->label = csv->weight = csv->exposure = SIZE_MAX;
    csv->column = gsai_alloc_zeroed(csv->env, schema->n_fields, sizeof *csv->column);
    csv->date = gsai_alloc_zeroed(csv->env, schema->n_of_kind[GSAI_FIELD_DATE], sizeof *csv->date);
    csv->gap = gsai_alloc(csv->env, schema->n_numbers, sizeof *csv->gap);
    bool has_room = csv->column && csv->date && csv->gap;
    for (size_t k = 0; k < 2; k++)
        for (size_t f = 0; f < schema->n_fields && has_room; f++) {
            const gsai_field *field = &schema->field[f];
            if (field->kind == GSAI_FIELD_LABEL && !csv->input->options->without_labels) {
                csv->label = cell_of[f];
                csv->label_has_reading = field->reading != NULL;
                csv->label_is_class = field->is_class;
                if (field->reading)
                    csv->label_reading = *field->reading;
            }
            if (field->kind == GSAI_FIELD_WEIGHT && !csv->input->options->without_labels)
                csv->weight = cell_of[f];
            if (field->kind == GSAI_FIELD_EXPOSURE) /* of rows without labels too: it is their weight */
                csv->exposure = cell_of[f];
            bool is_number = field->kind == GSAI_FIELD_NUMBER || field->kind == GSAI_FIELD_DATE;
            if (k == 0 ? !is_number : field->kind != GSAI_FIELD_CATEGORICAL)
                continue;
            gsai_csv_column *column = &csv->column[csv->n_columns++];
            *column = (gsai_csv_column){.field = f,
                                        .cell = cell_of[f],
                                        .mean = field->mean,
                                        .offset = field->offset,
                                        .reading = field->reading};
            has_room = gsai_key_set(&column->key, field->name, field->name_size, csv->env);
            if (field->kind == GSAI_FIELD_DATE)
                has_room = has_room && plan_date(csv, field, column);
            csv->n_numbers += k == 0;
        }
    csv->max_entries = csv->n_columns + csv->n_numbers + csv->n_dates * GSAI_DATE_PARTS + schema->n_crosses;
    return has_room ? GSA_OK : gsai_fail_memory(csv->env, error, "no memory for %zu columns", schema->n_fields);
}

/* The column of a name that the schema has. */
static size_t column_of(const gsai_csv *csv, const char *name)
{
    size_t field = gsai_schema_find(csv->input->schema, name, strlen(name)), i = 0;
    while (csv->column[i].field != field)
        i++;
    return i;
}

static gsa_status plan_crosses(gsai_csv *csv, gsa_error *error)
{
    const gsai_schema *schema = csv->input->schema;
    if (schema->n_crosses == 0)
        return GSA_OK;
    csv->term = gsai_alloc_zeroed(csv->env, csv->n_columns, sizeof *csv->term);
    csv->cross = gsai_alloc_zeroed(csv->env, schema->n_crosses, sizeof *csv->cross);
    GSAI_TRY_MEMORY(csv->term && csv->cross, csv->env, error, "no memory for %zu crosses", schema->n_crosses);
    for (size_t i = 0; i < csv->n_columns; i++) {
        const gsai_key *key = &csv->column[i].key;
        csv->term[i] = (gsai_term){.hash = gsai_key_hash(key, "", 0), .name = key->bytes, .name_size = key->size - 1};
    }
    for (csv->n_crosses = 0; csv->n_crosses < schema->n_crosses; csv->n_crosses++)
        for (int k = 0; k < 2; k++)
            csv->cross[csv->n_crosses][k] = column_of(csv, schema->cross[csv->n_crosses].name[k]);
    return GSA_OK;
}

gsa_status gsai_csv_plan(gsai_csv *csv, const size_t *cell_of, gsa_error *error)
{
    GSA_TRY(plan_columns(csv, cell_of, error));
    return plan_crosses(csv, error);
}
