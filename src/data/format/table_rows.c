/* A record of a table to a row. */
#include "data/format/table_rows.h"

#include "base/error.h"
#include "data/format/input_text.h"

#include <math.h>

/* ---- what can be wrong ------------------------------------------------------------------------------------------ */

/* "column 'age' holds 'x': ..." */
static gsa_status fail_cell(const gsai_tabular *table, const gsai_record *record, const gsai_cell *cell, size_t field,
                            const char *expected, gsa_error *error)
{
    const gsai_field *of = &table->input->schema->field[field];
    char name[GSAI_QUOTE_SIZE], held[GSAI_QUOTE_SIZE];
    return gsai_fail_line(error, GSA_INPUT, record->line.number, gsai_line_offset(&record->line, cell->at),
                          "column '%s' holds '%s': %s", gsai_quote(of->name, of->name_size, name),
                          gsai_quote(cell->text, cell->size, held), expected);
}

static gsa_status fail_number(const gsai_tabular *table, const gsai_record *record, const gsai_cell *cell, size_t field,
                              gsa_error *error)
{
    const gsai_field *of = &table->input->schema->field[field];
    char name[GSAI_QUOTE_SIZE], held[GSAI_QUOTE_SIZE];
    if (gsai_is_nonfinite_word(cell->text, cell->size))
        return fail_cell(table, record, cell, field, "values must be finite", error);
    if (table->input->schema_is_fixed)
        return fail_cell(table, record, cell, field, "the model was trained with numbers in it", error);
    gsai_quote(of->name, of->name_size, name);
    return gsai_fail_about(
        error, "categorical",
        gsai_fail_line(error, GSA_INPUT, record->line.number, gsai_line_offset(&record->line, cell->at),
                       "column '%s' holds '%s', and only numbers in the first rows; treat the column "
                       "as categorical, or skip such rows",
                       name, gsai_quote(cell->text, cell->size, held)));
}

static size_t field_of(const gsai_tabular *table, gsai_field_kind kind)
{
    size_t f = 0;
    while (table->input->schema->field[f].kind != kind)
        f++;
    return f;
}

/* ---- cells ------------------------------------------------------------------------------------------------------ */

static gsa_status take_date(const gsai_tabular *table, const gsai_record *record, size_t i, gsai_features *features,
                            gsai_cell_value *is, gsa_error *error)
{
    const gsai_tabular_column *column = &table->column[i];
    gsai_cell cell = gsai_cell_trim(record->cell[column->cell]);
    gsai_date date;
    *is = gsai_read_date(column->reading, cell.text, cell.size, &date);
    if (*is == GSAI_VALUE_WRONG)
        return fail_cell(table, record, &cell, column->field, GSAI_NO_DATE, error);
    if (*is == GSAI_VALUE)
        gsai_tabular_add_date(table, i, date, features);
    return GSA_OK;
}

static gsa_status take_number(gsai_tabular *table, const gsai_record *record, const gsai_tabular_column *column,
                              gsai_features *features, gsa_error *error)
{
    const gsai_cell *cell = &record->cell[column->cell];
    size_t i = (size_t)(column - table->column);
    gsai_number number = {0};
    gsai_cell_value is = GSAI_VALUE;
    if (!column->reading && column->offset == 0)
        gsai_number_parse_float(table->locale, cell->text, &number);
    else if (!column->reading)
        gsai_number_parse(table->locale, cell->text, &number);
    if (column->date) {
        GSA_TRY(take_date(table, record, i, features, &is, error));
    } else if (number.after != cell->text + cell->size || cell->size == 0) {
        gsai_cell inner = gsai_cell_trim(*cell);
        is = gsai_read_number(table->locale, column->reading, inner.text, inner.size, &number);
        if (is == GSAI_VALUE_WRONG)
            return fail_number(table, record, &inner, column->field, error);
    }
    if (is == GSAI_VALUE_MISSING)
        gsai_tabular_add_missing(table, i, features);
    if (is == GSAI_VALUE_MISSING || column->date)
        return GSA_OK;
    bool fits =
        column->offset == 0 ? gsai_number_fits_float(&number) : isfinite((float)(number.value - column->offset));
    if (!fits)
        return fail_cell(table, record, cell, column->field, GSAI_NO_FLOAT, error);
    gsai_tabular_add_number(table, i, (float)(number.value - column->offset), features);
    return GSA_OK;
}

void gsai_tabular_add_gaps(gsai_tabular *table, gsai_features *features)
{
    for (size_t i = 0; i < table->n_gaps; i++)
        gsai_features_add(features, (uint32_t)table->n_numbers + table->gap[i], 1);
    features->n_numbers = features->n;
}

void gsai_tabular_add_parts(gsai_tabular *table, gsai_features *features)
{
    const gsai_schema *schema = table->input->schema;
    for (size_t i = 0; i < table->n_dates; i++) {
        gsai_date_column *date = &table->date[i];
        for (int part = 0; part < GSAI_DATE_PARTS - !date->has_time && date->is_there; part++) {
            const gsai_key *key = &date->key[part];
            const char *word = gsai_date_part(date->value, part);
            uint32_t id = (uint32_t)(gsai_key_hash(key, word, strlen(word)) & ((UINT64_C(1) << schema->bits) - 1));
            gsai_features_add(features, gsai_schema_first_word(schema) + id, 1);
            if (gsai_feature_names_is_new(table->input->names, id))
                gsai_feature_names_enter(table->input->names, id, key->bytes, key->size - 1, word, strlen(word));
        }
        date->is_there = false;
    }
}

uint64_t gsai_tabular_add_category(const gsai_tabular *table, size_t column, const char *text, size_t size,
                                   gsai_features *features)
{
    gsai_tabular_column *of = &table->column[column];
    uint64_t hash = gsai_key_hash(&of->key, text, size);
    uint32_t id = (uint32_t)(hash & ((UINT64_C(1) << table->input->schema->bits) - 1));
    if (gsai_feature_names_expect(table->input->names, id)) {
        of->word = text;
        of->word_size = size;
        of->id = id;
    }
    gsai_features_add(features, gsai_schema_first_word(table->input->schema) + id, 1);
    if (table->cells)
        table->cells[column] = hash;
    if (table->term) {
        gsai_term *term = &table->term[column];
        *term = (gsai_term){hash, 1, term->name, text, term->name_size, size};
    }
    return hash;
}

void gsai_tabular_add_hash(const gsai_tabular *table, size_t column, uint64_t hash, gsai_features *features)
{
    uint64_t mask = (UINT64_C(1) << table->input->schema->bits) - 1;
    gsai_features_add(features, gsai_schema_first_word(table->input->schema) + (uint32_t)(hash & mask), 1);
    if (table->cells)
        table->cells[column] = hash;
}

void gsai_tabular_note_categories(const gsai_tabular *table)
{
    gsai_feature_names *names = table->input->names;
    for (size_t i = table->n_numbers; i < table->n_columns && names->came; i++) {
        gsai_tabular_column *of = &table->column[i];
        if (of->word && gsai_feature_names_is_new(names, of->id))
            gsai_feature_names_enter(names, of->id, of->key.bytes, of->key.size - 1, of->word, of->word_size);
        of->word = NULL;
    }
}

static inline void take_category(const gsai_tabular *table, const gsai_cell *cell, size_t column,
                                 gsai_features *features)
{
    const char *text = cell->text;
    size_t size = cell->size;
    if (size > 0 && (*text == ' ' || text[size - 1] == ' ')) {
        gsai_cell inner = gsai_cell_trim(*cell);
        text = inner.text;
        size = inner.size;
    }
    if (size > 0 && !gsai_is_missing(text, size))
        gsai_tabular_add_category(table, column, text, size, features);
}

size_t gsai_tabular_add_crosses(const gsai_tabular *table, gsai_features *features)
{
    for (size_t i = 0; i < table->n_crosses; i++) {
        const size_t *cross = table->cross[i];
        if (!gsai_cross_add(features, table->input, gsai_schema_first_word(table->input->schema),
                            &table->term[cross[0]], &table->term[cross[1]]))
            return cross[0];
    }
    return SIZE_MAX;
}

static gsa_status take_features(gsai_tabular *table, const gsai_record *record, gsai_features *features,
                                gsa_error *error)
{
    for (size_t i = 0; i < table->n_numbers; i++)
        GSA_TRY(take_number(table, record, &table->column[i], features, error));
    gsai_tabular_add_gaps(table, features);
    for (size_t i = table->n_numbers; i < table->n_columns; i++)
        take_category(table, &record->cell[table->column[i].cell], i, features);
    gsai_tabular_add_parts(table, features);
    gsai_tabular_note_categories(table);
    size_t bad = gsai_tabular_add_crosses(table, features);
    if (bad != SIZE_MAX)
        return fail_cell(table, record, &record->cell[table->column[bad].cell], table->column[bad].field,
                         GSAI_NO_PRODUCT, error);
    return gsai_features_finish(features)
               ? GSA_OK
               : gsai_fail_line(error, GSA_INPUT, record->line.number, record->line.byte, GSAI_NO_SUM);
}

const char *gsai_tabular_weigh(gsai_row_head *head, double weight)
{
    head->weight = (float)weight;
    return head->weight >= 0 && !isinf(head->weight) ? NULL : GSAI_NO_WEIGHT;
}

const char *gsai_tabular_expose(gsai_row_head *head, double exposure)
{
    if (!(exposure > 0) || isinf((float)exposure))
        return GSAI_NO_EXPOSURE;
    head->label /= exposure;
    head->weight *= (float)exposure;
    if (isinf(head->label) || isinf(head->weight) || head->word)
        return head->word ? "the label is a word, and not a count per exposure" : GSAI_NO_EXPOSURE;
    return NULL;
}

/* A weight, or an exposure. */
static gsa_status take_weight(const gsai_tabular *table, const gsai_record *record, size_t column, gsai_field_kind kind,
                              gsai_row_head *head, gsa_error *error)
{
    if (column == SIZE_MAX)
        return GSA_OK;
    bool is_weight = kind == GSAI_FIELD_WEIGHT;
    gsai_cell cell = gsai_cell_trim(record->cell[column]);
    gsai_number number;
    (is_weight ? gsai_number_parse_float : gsai_number_parse)(table->locale, cell.text, &number);
    double found = cell.size > 0 && number.after == cell.text + cell.size ? number.value : -1;
    const char *objection = (is_weight ? gsai_tabular_weigh : gsai_tabular_expose)(head, found);
    return objection ? fail_cell(table, record, &cell, field_of(table, kind), objection, error) : GSA_OK;
}

const char *gsai_tabular_label(const gsai_tabular *table, const char *text, size_t size, gsai_row_head *head)
{
    gsai_number number = {0};
    gsai_cell_value is = gsai_is_absent(text, size) ? GSAI_VALUE_MISSING : GSAI_VALUE;
    if (table->label_has_reading && is == GSAI_VALUE)
        is = gsai_read_number(table->locale, &table->label_reading, text, size, &number);
    else if (is == GSAI_VALUE)
        gsai_number_parse(table->locale, text, &number);
    head->is_missing = is == GSAI_VALUE_MISSING;
    table->input->n_unlabelled += head->is_missing;
    if (head->is_missing)
        return NULL;
    if (is == GSAI_VALUE_WRONG)
        return gsai_is_nonfinite_word(text, size) ? "a label must be finite"
                                                  : "expected a number that is written as the labels of the first rows";
    if (!table->label_has_reading && (number.after != text + size || table->label_is_class)) {
        head->word = text;
        head->word_size = size;
        return gsai_word_objection(text, size);
    }
    head->label = number.value + 0.0; /* -0 is 0 */
    return gsai_number_fits_double(&number) ? NULL : "it does not fit a double";
}

static gsa_status take_label(const gsai_tabular *table, const gsai_record *record, gsai_row_head *head,
                             gsa_error *error)
{
    if (table->label == SIZE_MAX)
        return GSA_OK;
    gsai_cell cell = gsai_cell_trim(record->cell[table->label]);
    const char *objection = gsai_tabular_label(table, cell.text, cell.size, head);
    return objection ? fail_cell(table, record, &cell, field_of(table, GSAI_FIELD_LABEL), objection, error) : GSA_OK;
}

/* ---- a row ------------------------------------------------------------------------------------------------------ */

gsa_status gsai_tabular_begin_row(gsai_tabular *table, size_t max, gsai_rows *rows, gsai_features *out,
                                  gsa_error *error)
{
    bool has_cells = table->input->options->keep_cells && table->input->schema->text && table->n_columns > 0;
    GSA_TRY(gsai_rows_reserve(rows, max + 1, error));
    if (has_cells)
        GSA_TRY(gsai_rows_reserve_cells(rows, table->n_columns, error));
    table->cells = has_cells ? rows->cell + rows->n_cells : NULL;
    for (size_t i = 0; i < table->n_columns && table->term; i++)
        table->term[i].value = 0;
    for (size_t i = 0; i < table->n_dates; i++)
        table->date[i].is_there = false;
    table->n_gaps = 0;
    *out =
        (gsai_features){.index = rows->index + rows->n_values, .value = rows->value + rows->n_values, .all_ones = true};
    return GSA_OK;
}

gsa_status gsai_tabular_end_row(const gsai_tabular *table, gsai_rows *rows, const gsai_features *features,
                                const gsai_row_head *head, gsa_place place, gsa_error *error)
{
    int32_t number = -1;
    if (head->word)
        GSA_TRY(gsai_rows_word(rows, head->word, head->word_size, place.line, place.byte, &number, error));
    gsai_rows_finish(rows, features->n, features->all_ones, head->label, number, place);
    gsai_rows_weigh(rows, head->weight);
    rows->n_cells += table->cells ? table->n_columns : 0;
    return GSA_OK;
}

gsa_status gsai_tabular_row(gsai_tabular *table, const gsai_record *record, gsai_rows *rows, gsa_error *error)
{
    gsai_row_head head = {.weight = 1};
    gsai_features features;
    if (gsai_record_cells(record, table->n_cells) != table->n_cells)
        return gsai_fail_line(error, GSA_INPUT, record->line.number, record->line.byte,
                              "the row has %zu cells, the first line has %zu", record->n_cells, table->n_cells);
    GSA_TRY(gsai_tabular_keep_row(table, record, rows, error));
    GSA_TRY(take_label(table, record, &head, error));
    if (head.is_missing)
        return GSA_OK;
    GSA_TRY(take_weight(table, record, table->weight, GSAI_FIELD_WEIGHT, &head, error));
    GSA_TRY(take_weight(table, record, table->exposure, GSAI_FIELD_EXPOSURE, &head, error));
    GSA_TRY(gsai_tabular_begin_row(table, table->max_entries, rows, &features, error));
    GSA_TRY(take_features(table, record, &features, error));
    gsa_place place = gsai_format_location(table->input, record->line.number, record->line.byte);
    return gsai_tabular_end_row(table, rows, &features, &head, place, error);
}
