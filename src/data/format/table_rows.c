/* A record of a table to a row: a column for each cell that has features, in the order of their ids. */
#include "data/format/table_rows.h"

#include "base/error.h"
#include "base/hash.h"
#include "base/memory.h"
#include "data/format/input_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- the plan --------------------------------------------------------------------------------------------------- */

void gsai_tabular_forget(gsai_tabular *table)
{
    table->memory.env = table->env;
    gsai_arena_release(&table->memory);
    table->n_columns = table->n_numbers = table->n_parts = table->n_crosses = table->n_kept = 0;
    table->has_many = false;
}

gsa_status gsai_tabular_begin_plan(gsai_tabular *table, size_t max_kept, gsa_error *error)
{
    size_t n_fields = table->input->schema->n_fields;
    gsai_tabular_forget(table);
    table->cell_of = gsai_arena_take(&table->memory, n_fields, sizeof *table->cell_of);
    table->kept = gsai_arena_take(&table->memory, max_kept, sizeof *table->kept);
    GSA_TRY(gsai_arena_check(&table->memory, "the columns of a table", error));
    memset(table->cell_of, 0xFF, n_fields * sizeof *table->cell_of); /* SIZE_MAX: nowhere */
    return GSA_OK;
}

/* Returns the key of a column or of a part of it: "when weekday". */
static gsai_key make_key(gsai_arena *memory, const gsai_field *field, const char *part)
{
    size_t size = field->name_size + (*part ? 1 + strlen(part) : 0) + 1;
    gsai_key key = {gsai_arena_take(memory, size + GSAI_KEY_ROOM, 1), size, size + GSAI_KEY_ROOM};
    if (key.bytes)
        snprintf(key.bytes, size, "%s%s%s", field->name, *part ? " " : "", part);
    return key;
}

gsa_status gsai_tabular_plan(gsai_tabular *table, gsa_error *error)
{
    const gsai_schema *schema = table->input->schema;
    const bool has_labels = !table->input->options->without_labels;
    gsai_arena *memory = &table->memory;
    table->label = table->weight = table->exposure = table->group = SIZE_MAX;
    table->first_hashed = gsai_schema_first_word(schema);
    table->id_mask = (UINT64_C(1) << schema->bits) - 1;
    table->column = gsai_arena_take(memory, schema->n_fields, sizeof *table->column);
    table->gap = gsai_arena_take(memory, schema->n_numbers, sizeof *table->gap);
    table->term = schema->n_crosses > 0 ? gsai_arena_take(memory, schema->n_fields, sizeof *table->term) : NULL;
    table->cross = gsai_arena_take(memory, schema->n_crosses, sizeof *table->cross);
    for (int has_number = 1; has_number >= 0; has_number--)
        for (size_t f = 0; f < schema->n_fields && !memory->failed; f++) {
            const gsai_field *field = &schema->field[f];
            const gsai_column_kind *kind = gsai_kind_at(field->kind);
            if (!kind->add || kind->has_number != has_number)
                continue;
            gsai_tabular_column *column = &table->column[table->n_columns++];
            *column = (gsai_tabular_column){
                .kind = kind, .field = field, .cell = table->cell_of[f], .key = make_key(memory, field, "")};
            column->first_part = table->n_parts;
            column->part = kind->n_parts > 0 ? gsai_arena_take(memory, kind->n_parts, sizeof *column->part) : NULL;
            for (size_t k = 0; k < kind->n_parts && column->part; k++)
                column->part[k] = make_key(memory, field, kind->part[k]);
            table->n_numbers += kind->has_number;
            table->n_parts += kind->n_parts;
            table->has_many = table->has_many || kind->has_many;
        }
    GSA_TRY(gsai_arena_check(memory, "the columns of a table", error));
    for (size_t f = 0; f < schema->n_fields; f++) {
        const gsai_field *field = &schema->field[f];
        if (field->kind == GSAI_FIELD_LABEL && has_labels) {
            table->label = table->cell_of[f];
            table->label_field = field;
        } else if (field->kind == GSAI_FIELD_WEIGHT && has_labels) {
            table->weight = table->cell_of[f];
        } else if (field->kind == GSAI_FIELD_EXPOSURE) { /* of rows without labels too: it is their weight */
            table->exposure = table->cell_of[f];
        }
        if ((field->kind == GSAI_FIELD_GROUP || gsai_field_is_time(field)) &&
            gsai_tabular_learns(table->input->options)) {
            table->group = table->cell_of[f];
            table->group_field = field;
        }
    }
    table->max_entries = table->n_columns + table->n_numbers + table->n_parts + schema->n_crosses +
                         schema->n_of_kind[GSAI_FIELD_PER] * (size_t)gsai_schema_per_customer(schema);
    for (size_t i = 0; i < table->n_columns && table->term; i++) {
        const gsai_key *key = &table->column[i].key;
        table->term[i] = (gsai_term){.hash = gsai_key_hash(key, "", 0), .name = key->bytes, .name_size = key->size - 1};
    }
    for (; table->n_crosses < schema->n_crosses; table->n_crosses++)
        for (int k = 0; k < 2; k++) {
            const char *name = schema->cross[table->n_crosses].name[k];
            const gsai_field *field = &schema->field[gsai_schema_find(schema, name, strlen(name))];
            size_t i = 0;
            while (table->column[i].field != field)
                i++;
            table->cross[table->n_crosses][k] = i;
        }
    return GSA_OK;
}

gsa_status gsai_tabular_plan_same(gsai_tabular *table, const gsai_tabular *other, gsa_error *error)
{
    GSA_TRY(gsai_tabular_begin_plan(table, other->n_kept, error));
    memcpy(table->cell_of, other->cell_of, table->input->schema->n_fields * sizeof *table->cell_of);
    memcpy(table->kept, other->kept, other->n_kept * sizeof *table->kept);
    table->n_kept = other->n_kept;
    table->n_cells = other->n_cells;
    return gsai_tabular_plan(table, error);
}

/* ---- label and weight ------------------------------------------------------------------------------------------- */

const char *gsai_tabular_label(const gsai_tabular *table, const char *text, size_t size, gsai_row_head *head)
{
    const gsai_reading *reading = table->label_field->reading;
    gsai_number number = {0};
    gsai_cell_value is = gsai_is_absent(text, size) ? GSAI_VALUE_MISSING : GSAI_VALUE;
    if (reading && is == GSAI_VALUE)
        is = gsai_read_number(table->locale, reading, text, size, &number);
    else if (is == GSAI_VALUE)
        gsai_number_parse(table->locale, text, &number);
    head->is_missing = is == GSAI_VALUE_MISSING;
    table->input->n_unlabelled += head->is_missing;
    if (head->is_missing)
        return NULL;
    if (is == GSAI_VALUE_WRONG)
        return gsai_is_nonfinite_word(text, size) ? GSAI_LABEL_INFINITE
                                                  : "expected a number that is written as the labels of the first rows";
    if (!reading && (number.after != text + size || table->label_field->is_class)) {
        head->word = text;
        head->word_size = size;
        return gsai_is_nonfinite_word(text, size) ? GSAI_LABEL_INFINITE : gsai_label_objection(text, size);
    }
    head->label = number.value + 0.0; /* -0 is 0 */
    return gsai_number_fits_double(&number) ? NULL : "it does not fit a double";
}

const char *gsai_tabular_weigh(gsai_row_head *head, double weight)
{
    head->weight = (float)weight;
    return head->weight >= 0 && !isinf(head->weight) ? NULL : GSAI_NO_WEIGHT;
}

void gsai_tabular_take_time(gsai_row_head *head, double time)
{
    uint64_t bits;
    time += 0.0; /* -0 is 0 */
    memcpy(&bits, &time, sizeof bits);
    head->group = bits >> 63 ? ~bits : bits | UINT64_C(1) << 63; /* ascends as the time does */
}

const char *gsai_tabular_take_group(const gsai_tabular *table, const char *text, size_t size, gsai_row_head *head)
{
    const gsai_field *field = table->group_field;
    gsai_number number = {0};
    if (!gsai_field_is_time(field)) {
        head->group = gsai_hash(text, size, 0);
        return NULL;
    }
    if (gsai_kind_at(field->time)->read(table->locale, field->reading, text, size, &number) != GSAI_VALUE ||
        !isfinite(number.value))
        return GSAI_NO_TIME;
    gsai_tabular_take_time(head, number.value);
    return NULL;
}

const char *gsai_tabular_expose(gsai_row_head *head, double exposure)
{
    if (!(exposure > 0) || isinf((float)exposure))
        return GSAI_NO_EXPOSURE;
    head->label /= exposure;
    head->weight *= (float)exposure;
    if (head->word)
        return "the label is a word, and not a count per exposure";
    return isinf(head->label) || isinf(head->weight) ? GSAI_NO_EXPOSURE : NULL;
}

gsa_status gsai_tabular_keep_text(gsai_rows *rows, const char *text, size_t size, gsa_error *error)
{
    const char *nul = size > 0 ? memchr(text, '\0', size) : NULL;
    GSA_TRY(gsai_rows_keep_texts(rows, size > 0 ? text : "", nul ? (size_t)(nul - text) : size, error));
    return gsai_rows_keep_texts(rows, "", 1, error);
}

/* ---- features --------------------------------------------------------------------------------------------------- */

gsa_status gsai_tabular_begin_row(gsai_tabular *table, size_t max, gsai_rows *rows, gsai_features *out,
                                  gsa_error *error)
{
    bool has_cells = table->input->options->keep_cells && table->input->schema->text && table->n_columns > 0;
    GSA_TRY(gsai_rows_reserve(rows, max + 1, error));
    GSA_TRY(gsai_rows_reserve_cells(rows, has_cells ? table->n_columns + table->n_parts : 0, error));
    table->cells = has_cells ? rows->cell + rows->n_cells : NULL;
    for (size_t i = 0; i < table->n_columns && table->term; i++)
        table->term[i].value = 0;
    table->n_gaps = 0;
    *out =
        (gsai_features){.index = rows->index + rows->n_values, .value = rows->value + rows->n_values, .all_ones = true};
    return GSA_OK;
}

const char *gsai_tabular_add_double(gsai_tabular *table, size_t column, double number, gsai_features *features)
{
    const gsai_field *field = table->column[column].field;
    const float x = (float)(number - field->offset);
    if (field->reading && gsai_is_sentinel(field->reading, number)) {
        gsai_tabular_add_missing(table, column, features);
        return NULL;
    }
    gsai_tabular_add_number(table, column, x, features);
    if (isinf(number))
        return "values must be finite";
    return isinf(x) || (x == 0 && number != 0 && field->offset == 0) ? GSAI_NO_FLOAT : NULL;
}

void gsai_tabular_add_gaps(gsai_tabular *table, gsai_features *features)
{
    for (size_t i = 0; i < table->n_gaps; i++)
        gsai_features_add(features, (uint32_t)table->n_numbers + table->gap[i], 1);
    features->n_numbers = features->n;
}

const char *gsai_tabular_complete(gsai_tabular *table, gsai_features *features, size_t *column)
{
    gsai_feature_names *names = table->input->names;
    for (size_t i = 0; i < table->n_columns && table->n_parts > 0; i++)
        if (table->column[i].part)
            table->column[i].kind->add_parts(table, i, features);
    /* Names of new categories are not noted one by one, because the lookup of a category waits for memory longer than
     * it takes to hash the next one. */
    for (size_t i = table->n_numbers; i < table->n_columns && names->came; i++) {
        gsai_tabular_column *of = &table->column[i];
        if (of->word && gsai_feature_names_is_new(names, of->id))
            gsai_feature_names_enter(names, of->id, of->key.bytes, of->key.size - 1, of->word, of->word_size);
        of->word = NULL;
    }
    for (size_t i = 0; i < table->n_crosses; i++) {
        const size_t *cross = table->cross[i];
        *column = cross[0];
        if (!gsai_cross_add(features, names, table->first_hashed, table->id_mask, &table->term[cross[0]],
                            &table->term[cross[1]]))
            return "its product with the column that it is crossed with does not fit a float";
    }
    *column = SIZE_MAX;
    return gsai_features_finish(features) ? NULL : "crosses that share a feature have no finite sum";
}

gsa_status gsai_tabular_end_row(const gsai_tabular *table, gsai_rows *rows, const gsai_features *features,
                                const gsai_row_head *head, gsa_place place, gsa_error *error)
{
    int32_t number = -1;
    if (head->word)
        GSA_TRY(gsai_rows_word(rows, head->word, head->word_size, place.line, place.byte, &number, error));
    gsai_rows_finish(rows, features->n, features->all_ones, head->label, number, place);
    gsai_rows_weigh(rows, head->weight);
    if (table->group != SIZE_MAX)
        GSA_TRY(gsai_rows_set_group(rows, head->group, gsai_field_is_time(table->group_field), error));
    rows->n_cells += table->cells ? table->n_columns + table->n_parts : 0;
    return GSA_OK;
}

/* ---- a record --------------------------------------------------------------------------------------------------- */

/* "column 'age' holds 'x': ..." */
static gsa_status fail_cell(const gsai_tabular *table, const gsai_record *record, size_t number, const char *objection,
                            gsa_error *error)
{
    char name[GSAI_QUOTE_SIZE], held[GSAI_QUOTE_SIZE];
    gsai_text_cell cell = gsai_cell_trim(record->cell[number]);
    uint64_t line = record->line.number, byte = gsai_line_offset(&record->line, cell.at);
    const gsai_field *field = table->input->schema->field;
    for (const size_t *at = table->cell_of; *at != number; at++)
        field++;
    gsai_quote(field->name, field->name_size, name);
    gsai_quote(cell.text, cell.size, held);
    if (objection == gsai_not_a_number && !table->input->schema_is_fixed)
        return gsai_fail_about(error, "categorical",
                               gsai_fail_line(error, GSA_INPUT, line, byte,
                                              "column '%s' holds '%s', and only numbers in the first rows; treat the "
                                              "column as categorical, or skip such rows",
                                              name, held));
    return gsai_fail_line(error, GSA_INPUT, line, byte, "column '%s' holds '%s': %s", name, held, objection);
}

gsa_status gsai_tabular_row(gsai_tabular *table, const gsai_record *record, gsai_rows *rows, gsa_error *error)
{
    gsai_row_head head = {.weight = 1};
    gsai_features features;
    if (gsai_record_cells(record, table->n_cells) != table->n_cells)
        return gsai_fail_line(error, GSA_INPUT, record->line.number, record->line.byte,
                              "the row has %zu cells, the first line has %zu", record->n_cells, table->n_cells);
    gsai_rows_begin_texts(rows);
    for (size_t i = 0; i < table->n_kept && rows->keeps; i++) { /* before anything of the row can be wrong */
        gsai_text_cell cell = gsai_cell_trim(record->cell[table->kept[i]]);
        GSA_TRY(gsai_tabular_keep_text(rows, cell.text, cell.size, error));
    }
    if (table->label != SIZE_MAX) {
        gsai_text_cell cell = gsai_cell_trim(record->cell[table->label]);
        const char *objection = gsai_tabular_label(table, cell.text, cell.size, &head);
        if (objection)
            return fail_cell(table, record, table->label, objection, error);
    }
    if (head.is_missing)
        return GSA_OK;
    const size_t factor[] = {table->weight, table->exposure};
    for (int i = 0; i < 2; i++) {
        if (factor[i] == SIZE_MAX)
            continue;
        gsai_text_cell cell = gsai_cell_trim(record->cell[factor[i]]);
        gsai_number number;
        gsai_number_parse(table->locale, cell.text, &number);
        double x = cell.size > 0 && number.after == cell.text + cell.size ? number.value : -1;
        const char *objection = i == 0 ? gsai_tabular_weigh(&head, x) : gsai_tabular_expose(&head, x);
        if (objection)
            return fail_cell(table, record, factor[i], objection, error);
    }
    if (table->group != SIZE_MAX) {
        gsai_text_cell cell = gsai_cell_trim(record->cell[table->group]);
        const char *objection = gsai_tabular_take_group(table, cell.text, cell.size, &head);
        if (objection)
            return fail_cell(table, record, table->group, objection, error);
    }
    size_t max = table->max_entries;
    for (size_t i = table->n_numbers; i < table->n_columns && table->has_many; i++)
        max += table->column[i].kind->has_many ? record->cell[table->column[i].cell].size : 0;
    GSA_TRY(gsai_tabular_begin_row(table, max, rows, &features, error));
    for (size_t i = 0; i < table->n_columns; i++) {
        const gsai_tabular_column *column = &table->column[i];
        if (i == table->n_numbers)
            gsai_tabular_add_gaps(table, &features);
        const char *objection = column->kind->add(table, i, &record->cell[column->cell], &features);
        if (objection)
            return fail_cell(table, record, column->cell, objection, error);
    }
    if (table->n_numbers == table->n_columns)
        gsai_tabular_add_gaps(table, &features);
    size_t bad;
    const char *objection = gsai_tabular_complete(table, &features, &bad);
    if (objection && bad == SIZE_MAX)
        return gsai_fail_line(error, GSA_INPUT, record->line.number, record->line.byte, "%s", objection);
    if (objection)
        return fail_cell(table, record, table->column[bad].cell, objection, error);
    gsa_place place = gsai_format_location(table->input, record->line.number, record->line.byte);
    return gsai_tabular_end_row(table, rows, &features, &head, place, error);
}
