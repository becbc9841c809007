/* Where the features of a row come from: a column for each cell that has some, in the order of their ids. */
#include "data/format/table_rows.h"

#include "base/error.h"
#include "base/memory.h"

#include <string.h>

void gsai_tabular_forget(gsai_tabular *table)
{
    for (size_t i = 0; i < table->n_columns; i++)
        gsai_key_free(&table->column[i].key, table->env);
    for (size_t i = 0; i < table->n_dates; i++)
        for (int part = 0; part < GSAI_DATE_PARTS; part++)
            gsai_key_free(&table->date[i].key[part], table->env);
    gsai_free(table->env, table->column);
    gsai_free(table->env, table->date);
    gsai_free(table->env, table->gap);
    gsai_free(table->env, table->term);
    gsai_free(table->env, table->cross);
    gsai_free(table->env, table->kept);
    table->kept = NULL;
    table->n_kept = 0;
    table->column = NULL;
    table->date = NULL;
    table->gap = NULL;
    table->term = NULL;
    table->cross = NULL;
    table->n_columns = table->n_numbers = table->n_dates = table->n_crosses = 0;
}

/* The parts of a date are categories of columns of their own: "when weekday". */
static bool plan_date(gsai_tabular *table, const gsai_field *field, gsai_tabular_column *column)
{
    gsai_date_column *date = column->date = &table->date[table->n_dates++];
    date->has_time = field->reading->has_time;
    bool has_room = true;
    for (int part = 0; part < GSAI_DATE_PARTS && has_room; part++) {
        size_t size = strlen(gsai_date_part_names[part]);
        char *name = gsai_alloc(table->env, field->name_size + 1 + size, 1);
        if (name) {
            memcpy(name, field->name, field->name_size);
            name[field->name_size] = ' ';
            memcpy(name + field->name_size + 1, gsai_date_part_names[part], size);
        }
        has_room = name && gsai_key_set(&date->key[part], name, field->name_size + 1 + size, table->env);
        gsai_free(table->env, name);
    }
    return has_room;
}

static gsa_status plan_columns(gsai_tabular *table, const size_t *cell_of, gsa_error *error)
{
    const gsai_schema *schema = table->input->schema;
    gsai_tabular_forget(table);
    table->label = table->weight = table->exposure = SIZE_MAX;
    table->column = gsai_alloc_zeroed(table->env, schema->n_fields, sizeof *table->column);
    table->date = gsai_alloc_zeroed(table->env, schema->n_of_kind[GSAI_FIELD_DATE], sizeof *table->date);
    table->gap = gsai_alloc(table->env, schema->n_numbers, sizeof *table->gap);
    bool has_room = table->column && table->date && table->gap;
    for (size_t k = 0; k < 2; k++)
        for (size_t f = 0; f < schema->n_fields && has_room; f++) {
            const gsai_field *field = &schema->field[f];
            if (field->kind == GSAI_FIELD_LABEL && !table->input->options->without_labels) {
                table->label = cell_of[f];
                table->label_has_reading = field->reading != NULL;
                table->label_is_class = field->is_class;
                if (field->reading)
                    table->label_reading = *field->reading;
            }
            if (field->kind == GSAI_FIELD_WEIGHT && !table->input->options->without_labels)
                table->weight = cell_of[f];
            if (field->kind == GSAI_FIELD_EXPOSURE) /* of rows without labels too: it is their weight */
                table->exposure = cell_of[f];
            bool is_number = field->kind == GSAI_FIELD_NUMBER || field->kind == GSAI_FIELD_DATE;
            if (k == 0 ? !is_number : field->kind != GSAI_FIELD_CATEGORICAL)
                continue;
            gsai_tabular_column *column = &table->column[table->n_columns++];
            *column = (gsai_tabular_column){.field = f,
                                            .cell = cell_of[f],
                                            .mean = field->mean,
                                            .offset = field->offset,
                                            .reading = field->reading};
            has_room = gsai_key_set(&column->key, field->name, field->name_size, table->env);
            if (field->kind == GSAI_FIELD_DATE)
                has_room = has_room && plan_date(table, field, column);
            table->n_numbers += k == 0;
        }
    table->max_entries = table->n_columns + table->n_numbers + table->n_dates * GSAI_DATE_PARTS + schema->n_crosses;
    return has_room ? GSA_OK : gsai_fail_memory(table->env, error, "no memory for %zu columns", schema->n_fields);
}

/* The column of a name that the schema has. */
static size_t column_of(const gsai_tabular *table, const char *name)
{
    size_t field = gsai_schema_find(table->input->schema, name, strlen(name)), i = 0;
    while (table->column[i].field != field)
        i++;
    return i;
}

static gsa_status plan_crosses(gsai_tabular *table, gsa_error *error)
{
    const gsai_schema *schema = table->input->schema;
    if (schema->n_crosses == 0)
        return GSA_OK;
    table->term = gsai_alloc_zeroed(table->env, table->n_columns, sizeof *table->term);
    table->cross = gsai_alloc_zeroed(table->env, schema->n_crosses, sizeof *table->cross);
    GSAI_TRY_MEMORY(table->term && table->cross, table->env, error, "no memory for %zu crosses", schema->n_crosses);
    for (size_t i = 0; i < table->n_columns; i++) {
        const gsai_key *key = &table->column[i].key;
        table->term[i] = (gsai_term){.hash = gsai_key_hash(key, "", 0), .name = key->bytes, .name_size = key->size - 1};
    }
    for (table->n_crosses = 0; table->n_crosses < schema->n_crosses; table->n_crosses++)
        for (int k = 0; k < 2; k++)
            table->cross[table->n_crosses][k] = column_of(table, schema->cross[table->n_crosses].name[k]);
    return GSA_OK;
}

gsa_status gsai_tabular_plan(gsai_tabular *table, const size_t *cell_of, gsa_error *error)
{
    GSA_TRY(plan_columns(table, cell_of, error));
    return plan_crosses(table, error);
}
