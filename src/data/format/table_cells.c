/* One row at a time from the caller's cells, as a server gets them: the columns are planned once, and a row takes no
 * memory but for texts that are longer than all before. Cells become the features that readers make of them. */
#include "base/error.h"
#include "base/memory.h"
#include "data/format/input_text.h"
#include "data/format/table_rows.h"

#include <math.h>
#include <string.h>

struct gsa_row {
    gsai_env env;
    gsai_schema schema;
    gsa_reader_options options;
    gsai_feature_names names; /* none are remembered */
    gsai_format_input input;
    gsai_tabular table;
    const char **name; /* of each cell that is read; NULL for others */
    gsai_rows rows;
    char *copy; /* of a cell, with bytes behind it that cannot continue a number */
    size_t copy_capacity;
};

void gsa_row_free(gsa_row *row)
{
    if (!row)
        return;
    const gsai_env env = row->env; /* the row has it, and is freed with it */
    gsai_tabular_forget(&row->table);
    gsai_schema_free(&row->schema);
    gsai_rows_free(&row->rows);
    gsai_os_c_locale_free(row->table.locale);
    gsai_free(&env, row->copy);
    gsai_free(&env, row);
}

/* Finds the cells of the fields of the schema; without names they are the columns that have features, in its order. */
static gsa_status match_cells(gsa_row *row, const char *const *columns, size_t n_columns, gsa_error *error)
{
    gsai_tabular *table = &row->table;
    const gsai_schema *schema = &row->schema;
    char quote[GSAI_QUOTE_SIZE];
    for (size_t i = 0; columns && i < n_columns; i++) {
        size_t f = gsai_schema_find(schema, columns[i], strlen(columns[i]));
        if (f != SIZE_MAX && table->cell_of[f] == SIZE_MAX)
            table->cell_of[f] = i;
    }
    for (size_t f = 0; f < schema->n_fields; f++) {
        const gsai_field *field = &schema->field[f];
        const bool has_features = gsai_kind_at(field->kind)->add != NULL;
        if (has_features && !columns)
            table->cell_of[f] = table->n_cells++;
        if (has_features && table->cell_of[f] == SIZE_MAX)
            return gsai_fail(error, GSA_ARGUMENT, "the row has no column '%s', which the model was trained with",
                             gsai_quote(field->name, field->name_size, quote));
    }
    table->n_cells = columns ? n_columns : table->n_cells;
    row->name = gsai_arena_take(&table->memory, table->n_cells, sizeof *row->name);
    for (size_t f = 0; f < schema->n_fields && row->name; f++)
        if (table->cell_of[f] != SIZE_MAX &&
            (gsai_kind_at(schema->field[f].kind)->add || schema->field[f].kind == GSAI_FIELD_EXPOSURE))
            row->name[table->cell_of[f]] = schema->field[f].name;
    return gsai_arena_check(&table->memory, "the columns of a row", error);
}

gsa_status gsa_row_new(const char *schema, const char *const *columns, size_t n_columns, const gsa_memory *memory,
                       gsa_row **out, gsa_error *error)
{
    gsai_env env;
    GSA_TRY(gsai_env_take(&env, memory, NULL, error));
    if (!schema)
        return gsai_fail(error, GSA_UNSUPPORTED,
                         "the model has numbered features and no columns: predict a batch of rows");
    gsa_row *row = gsai_alloc_zeroed(&env, 1, sizeof *row);
    GSAI_TRY_MEMORY(row, &env, error, "no memory for a row");
    row->env = env;
    row->options = (gsa_reader_options){.size = sizeof row->options, .without_labels = 1};
    row->input = (gsai_format_input){
        .options = &row->options, .schema = &row->schema, .names = &row->names, .schema_is_fixed = true};
    row->table = (gsai_tabular){.env = &row->env, .input = &row->input, .locale = gsai_os_c_locale()};
    gsai_schema_init(&row->schema, &row->env);
    gsai_rows_init(&row->rows, 0, 0, &row->env);
    row->rows.without_labels = true;
    gsa_status status =
        row->table.locale ? GSA_OK : gsai_fail_memory(&row->env, error, "no memory for a reader of numbers");
    if (status == GSA_OK)
        status = gsai_schema_parse(&row->schema, schema, error);
    if (status == GSA_OK && row->schema.is_namespaced)
        status = gsai_fail(error, GSA_UNSUPPORTED, "the model has namespaces and no columns: read Vowpal Wabbit text");
    if (status == GSA_OK)
        status = gsai_tabular_begin_plan(&row->table, 0, error);
    if (status == GSA_OK)
        status = match_cells(row, columns, n_columns, error);
    if (status == GSA_OK)
        status = gsai_tabular_plan(&row->table, error);
    if (status == GSA_OK)
        status = gsai_rows_reserve(&row->rows, row->table.max_entries + 1, error);
    if (status == GSA_OK)
        *out = row;
    else
        gsa_row_free(row);
    return status;
}

const char *gsa_row_column(const gsa_row *row, size_t cell)
{
    return cell < row->table.n_cells ? row->name[cell] : NULL;
}

/* Returns the text of a cell with bytes behind it; a number as text has it. */
static gsa_status copy_cell(gsa_row *row, const gsa_cell *cell, gsai_text_cell *out, gsa_error *error)
{
    const size_t max = (cell->text ? cell->text_size : GSAI_NUMBER_TEXT) + GSAI_CELL_PADDING;
    GSAI_TRY_MEMORY(gsai_reserve(&row->env, &row->copy, &row->copy_capacity, max, 1), &row->env, error,
                    "no memory for a cell of %zu bytes", max);
    *out = (gsai_text_cell){.text = row->copy, .size = cell->text_size};
    if (cell->text && cell->text_size > 0)
        memcpy(row->copy, cell->text, cell->text_size);
    else if (!cell->text)
        out->size = gsai_number_text(cell->number, row->copy);
    memset(row->copy + out->size, '\n', max - out->size < GSAI_CELL_PADDING ? max - out->size : GSAI_CELL_PADDING);
    return GSA_OK;
}

static gsa_status fail_cell(gsa_row *row, size_t number, const gsa_cell *cell, const char *objection, gsa_error *error)
{
    char name[GSAI_QUOTE_SIZE], held[GSAI_QUOTE_SIZE];
    gsai_text_cell text = {.text = cell->number > 0 ? "inf" : "-inf", .size = cell->number > 0 ? 3 : 4};
    if (cell->text || isfinite(cell->number))
        GSA_TRY(copy_cell(row, cell, &text, error));
    text = gsai_cell_trim(text);
    return gsai_fail(error, GSA_INPUT, "column '%s' holds '%s': %s",
                     gsai_quote(row->name[number], strlen(row->name[number]), name),
                     gsai_quote(text.text, text.size, held), objection);
}

/* Adds the features of a cell of column i, and says what is wrong with it. */
static gsa_status add_cell(gsa_row *row, size_t i, const gsa_cell *cell, gsai_features *features,
                           const char **objection, gsa_error *error)
{
    const gsai_column_kind *kind = row->table.column[i].kind;
    const bool is_number = !cell->text;
    gsai_text_cell text = {.text = cell->text, .size = cell->text_size};
    *objection = NULL;
    if (is_number && isinf(cell->number)) {
        *objection = "values must be finite";
    } else if (is_number && !isnan(cell->number) && (kind == &gsai_kind_number || kind == &gsai_kind_offset)) {
        *objection = gsai_tabular_add_double(&row->table, i, cell->number, features);
    } else {
        if (is_number && isnan(cell->number))
            text = (gsai_text_cell){.text = "\n", .size = 0};
        else if (is_number || kind->has_number)
            GSA_TRY(copy_cell(row, cell, &text, error));
        *objection = kind->add(&row->table, i, &text, features);
    }
    return GSA_OK;
}

static gsa_status take_exposure(gsa_row *row, const gsa_cell *cell, gsai_row_head *head, gsa_error *error)
{
    double exposure = cell->number;
    if (cell->text) {
        gsai_text_cell text;
        gsai_number number;
        GSA_TRY(copy_cell(row, cell, &text, error));
        text = gsai_cell_trim(text);
        gsai_number_parse(row->table.locale, text.text, &number);
        exposure = text.size > 0 && number.after == text.text + text.size ? number.value : -1;
    }
    const char *objection = gsai_tabular_expose(head, exposure);
    return objection ? fail_cell(row, row->table.exposure, cell, objection, error) : GSA_OK;
}

gsa_status gsa_row_set(gsa_row *row, const gsa_cell *cells, gsa_batch *out, gsa_error *error)
{
    gsai_tabular *table = &row->table;
    gsai_row_head head = {.weight = 1};
    gsai_features features;
    const char *objection;
    size_t max = table->max_entries, bad;
    gsai_rows_clear(&row->rows);
    if (table->exposure != SIZE_MAX)
        GSA_TRY(take_exposure(row, &cells[table->exposure], &head, error));
    for (size_t i = table->n_numbers; i < table->n_columns && table->has_many; i++)
        if (table->column[i].kind->has_many) {
            const gsa_cell *cell = &cells[table->column[i].cell];
            GSAI_TRY_MEMORY(gsai_add(max, cell->text ? cell->text_size : GSAI_NUMBER_TEXT, &max), &row->env, error,
                            "no memory for a text");
        }
    GSA_TRY(gsai_tabular_begin_row(table, max, &row->rows, &features, error));
    for (size_t i = 0; i < table->n_columns; i++) {
        const size_t number = table->column[i].cell;
        if (i == table->n_numbers)
            gsai_tabular_add_gaps(table, &features);
        GSA_TRY(add_cell(row, i, &cells[number], &features, &objection, error));
        if (objection)
            return fail_cell(row, number, &cells[number], objection, error);
    }
    if (table->n_numbers == table->n_columns)
        gsai_tabular_add_gaps(table, &features);
    objection = gsai_tabular_complete(table, &features, &bad);
    if (objection && bad == SIZE_MAX)
        return gsai_fail(error, GSA_INPUT, "%s", objection);
    if (objection)
        return fail_cell(row, table->column[bad].cell, &cells[table->column[bad].cell], objection, error);
    GSA_TRY(gsai_tabular_end_row(table, &row->rows, &features, &head, (gsa_place){0}, error));
    *out = gsai_rows_view(&row->rows);
    out->place = NULL;
    return GSA_OK;
}
