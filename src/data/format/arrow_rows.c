/* A row of an Arrow batch: its label, weight and features, from columns or from lists. */
#include "data/format/arrow_rows.h"

#include "base/error.h"
#include "data/format/column_category.h"
#include "data/format/column_number.h"
#include "data/format/input_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

gsa_status gsai_arrow_fail_column(const gsai_arrow_reader *arrow, size_t column, gsa_status status, const char *what,
                                  gsa_error *error)
{
    const char *name = arrow->column[column].name;
    char quote[GSAI_QUOTE_SIZE];
    return gsai_fail(error, status, "the Arrow stream: column '%s': %s", gsai_quote(name, strlen(name), quote), what);
}

/* "the Arrow stream, row 7: column 'age' holds 'x': ..." */
static gsa_status fail_cell(const gsai_arrow_reader *arrow, size_t number, const gsai_arrow_cell *cell,
                            const char *expected, gsa_error *error)
{
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): there are columns where there are rows */
    const char *name = arrow->column[number].name;
    char quote[GSAI_QUOTE_SIZE], held[GSAI_QUOTE_SIZE] = "";
    if (cell->kind == GSAI_CELL_WORD)
        gsai_quote(cell->text, cell->size, held);
    else if (cell->kind == GSAI_CELL_NUMBER && isfinite(cell->number))
        gsai_number_text(cell->number, held);
    else if (cell->kind == GSAI_CELL_NUMBER)
        snprintf(held, sizeof held, "%s", cell->number > 0 ? "inf" : "-inf");
    return gsai_fail(error, GSA_INPUT, "the Arrow stream, row %" PRIu64 ": column '%s' holds '%s': %s", arrow->n_rows,
                     gsai_quote(name, strlen(name), quote), held, expected);
}

/* ---- label and weight ------------------------------------------------------------------------------------------- */

/* A number, or a word, as text would be taken for. */
static gsa_status take_label(gsai_arrow_reader *arrow, int64_t row, gsai_row_head *head, gsa_error *error)
{
    const gsai_tabular *table = &arrow->table;
    if (table->label == SIZE_MAX)
        return GSA_OK;
    gsai_arrow_cell cell = gsai_arrow_read(&arrow->column[table->label], row);
    const char *objection = NULL;
    if (cell.kind == GSAI_CELL_NUMBER && table->label_is_class)
        gsai_arrow_make_word(&arrow->column[table->label], &cell);
    if (cell.kind == GSAI_CELL_NUMBER && !table->label_is_class) {
        head->label = cell.number + 0.0; /* -0 is 0 */
        objection = isinf(cell.number) ? GSAI_LABEL_INFINITE : NULL;
    } else if (cell.size > GSAI_LABEL_SIZE) {
        objection = gsai_label_objection(cell.text, cell.size);
    } else {
        char text[GSAI_LABEL_SIZE + 1] = ""; /* in the array the next word may follow and go on with digits */
        if (cell.size > 0)
            memcpy(text, cell.text, cell.size);
        objection = gsai_tabular_label(table, text, cell.kind == GSAI_CELL_ABSENT ? 0 : cell.size, head);
        head->word = head->word ? cell.text : NULL;
    }
    return objection ? fail_cell(arrow, table->label, &cell, objection, error) : GSA_OK;
}

/* A weight, or an exposure. */
static gsa_status take_weight(const gsai_arrow_reader *arrow, size_t column, int64_t row,
                              const char *(*take)(gsai_row_head *, double), gsai_row_head *head, gsa_error *error)
{
    if (column == SIZE_MAX)
        return GSA_OK;
    gsai_arrow_cell cell = gsai_arrow_read(&arrow->column[column], row);
    const char *objection = take(head, cell.kind == GSAI_CELL_NUMBER ? cell.number : -1);
    return objection ? fail_cell(arrow, column, &cell, objection, error) : GSA_OK;
}

/* ---- columns ---------------------------------------------------------------------------------------------------- */

static inline const char *object_to_float(double number, double offset)
{
    float x = (float)(number - offset);
    if (isinf(number))
        return "values must be finite";
    return isinf(x) || (x == 0 && number != 0 && offset == 0) ? GSAI_NO_FLOAT : NULL;
}

/* The number or date that a text is; what is wrong with it, or NULL. */
static const char *read_text(const gsai_arrow_reader *arrow, const gsai_tabular_column *column, gsai_arrow_cell *cell)
{
    gsai_number number = {0};
    gsai_arrow_text text = gsai_arrow_terminate(cell);
    bool is_date = column->kind == &gsai_kind_date;
    gsai_cell_value is = is_date
                             ? gsai_read_date(column->reading, text.text, text.size, &cell->date)
                             : gsai_read_number(arrow->table.locale, column->reading, text.text, text.size, &number);
    cell->number = number.value;
    if (is == GSAI_VALUE_MISSING)
        cell->kind = GSAI_CELL_ABSENT;
    if (is != GSAI_VALUE_WRONG)
        return NULL;
    return is_date                                          ? GSAI_NO_DATE
           : gsai_is_nonfinite_word(cell->text, cell->size) ? "values must be finite"
                                                            : "expected a number, as in the rows before";
}

static gsa_status take_number(gsai_arrow_reader *arrow, size_t i, int64_t row, gsai_features *features,
                              gsa_error *error)
{
    const gsai_tabular_column *column = &arrow->table.column[i];
    bool is_date = column->kind == &gsai_kind_date;
    size_t number = column->cell;
    gsai_arrow_cell cell = gsai_arrow_read(&arrow->column[number], row);
    const char *objection = cell.kind == GSAI_CELL_WORD ? read_text(arrow, column, &cell) : NULL;
    bool is_sentinel = !objection && column->reading && gsai_is_sentinel(column->reading, cell.number);
    if (cell.kind == GSAI_CELL_ABSENT || is_sentinel) {
        gsai_tabular_add_missing(&arrow->table, i, features);
        return GSA_OK;
    }
    if (!objection && !is_date)
        objection = object_to_float(cell.number, column->offset);
    if (objection)
        return fail_cell(arrow, number, &cell, objection, error);
    if (is_date) {
        gsai_tabular_add_date(&arrow->table, i, cell.date, features);
        return GSA_OK;
    }
    gsai_tabular_add_number(&arrow->table, i, (float)(cell.number - column->offset), features);
    return GSA_OK;
}

/* A number among words is the word that text would have for it. */
static gsa_status take_category(gsai_arrow_reader *arrow, size_t i, int64_t row, gsai_features *features,
                                gsa_error *error)
{
    size_t number = arrow->table.column[i].cell;
    gsai_arrow_column *column = &arrow->column[number];
    int64_t place = column->n_hashes > 0 ? gsai_arrow_location(column, row) : -1;
    if (place >= 0 && column->hash[place] != 0) {
        gsai_tabular_add_hash(&arrow->table, i, column->hash[place], features);
        return GSA_OK;
    }
    gsai_arrow_cell cell = gsai_arrow_read(column, row);
    if (cell.kind == GSAI_CELL_NUMBER) {
        if (isinf(cell.number))
            return fail_cell(arrow, number, &cell, "values must be finite", error);
        gsai_arrow_make_word(column, &cell);
    }
    if (cell.kind == GSAI_CELL_ABSENT || gsai_is_missing(cell.text, cell.size))
        return GSA_OK;
    uint64_t hash = gsai_tabular_add_category(&arrow->table, i, cell.text, cell.size, features);
    if (place >= 0)
        column->hash[place] = hash;
    return GSA_OK;
}

static gsa_status take_columns(gsai_arrow_reader *arrow, int64_t row, gsai_features *features, gsa_error *error)
{
    gsai_tabular *table = &arrow->table;
    gsa_status status = GSA_OK;
    for (size_t i = 0; i < table->n_numbers && status == GSA_OK; i++)
        status = take_number(arrow, i, row, features, error);
    gsai_tabular_add_gaps(table, features);
    for (size_t i = table->n_numbers; i < table->n_columns && status == GSA_OK; i++)
        status = take_category(arrow, i, row, features, error);
    gsai_tabular_add_parts(table, features);
    gsai_tabular_note_categories(table);
    if (status != GSA_OK)
        return status;
    size_t bad = gsai_tabular_add_crosses(table, features);
    if (bad != SIZE_MAX) {
        gsai_arrow_cell cell = gsai_arrow_read(&arrow->column[table->column[bad].cell], row);
        return fail_cell(arrow, table->column[bad].cell, &cell, GSAI_NO_PRODUCT, error);
    }
    return gsai_features_finish(features)
               ? GSA_OK
               : gsai_fail(error, GSA_INPUT, "the Arrow stream, row %" PRIu64 ": %s", arrow->n_rows, GSAI_NO_SUM);
}

/* ---- lists ------------------------------------------------------------------------------------------------------ */

/* The positions of a row's first id and first value, and the number of items. */
typedef struct items {
    int64_t id, value;
    size_t n;
} items;

static gsa_status find_items(const gsai_arrow_reader *arrow, int64_t row, items *out, gsa_error *error)
{
    *out = (items){0};
    out->n = gsai_arrow_list(&arrow->column[arrow->values], row, &out->value);
    if (arrow->ids == SIZE_MAX)
        return GSA_OK;
    size_t n_ids = gsai_arrow_list(&arrow->column[arrow->ids], row, &out->id);
    return n_ids == out->n
               ? GSA_OK
               : gsai_fail(error, GSA_INPUT,
                           "the Arrow stream, row %" PRIu64 ": %zu ids and %zu values: expected the same number",
                           arrow->n_rows, n_ids, out->n);
}

static gsa_status fail_item(const gsai_arrow_reader *arrow, size_t column, double number, const char *expected,
                            gsa_error *error)
{
    const gsai_arrow_cell cell = {.kind = isnan(number) ? GSAI_CELL_ABSENT : GSAI_CELL_NUMBER, .number = number};
    return fail_cell(arrow, column, &cell, expected, error);
}

static gsa_status take_lists(const gsai_arrow_reader *arrow, const items *of, gsai_features *features, gsa_error *error)
{
    double id[GSAI_ARROW_PIECE], value[GSAI_ARROW_PIECE];
    bool ascends = true;
    for (size_t from = 0; from < of->n; from += GSAI_ARROW_PIECE) {
        size_t n = of->n - from < GSAI_ARROW_PIECE ? of->n - from : GSAI_ARROW_PIECE;
        gsai_arrow_items(&arrow->column[arrow->ids], of->id + (int64_t)from, n, id);
        gsai_arrow_items(&arrow->column[arrow->values], of->value + (int64_t)from, n, value);
        for (size_t i = 0; i < n; i++) {
            if (!(id[i] >= 0 && id[i] <= GSA_MAX_ID))
                return fail_item(arrow, arrow->ids, id[i], "feature ids are from 0 to 4294967293", error);
            const char *objection = isnan(value[i]) ? NULL : object_to_float(value[i], 0);
            if (objection)
                return fail_item(arrow, arrow->values, value[i], objection, error);
            ascends = ascends && (features->n == 0 || features->index[features->n - 1] < (uint32_t)id[i]);
            gsai_features_add(features, (uint32_t)id[i], isnan(value[i]) ? 0 : (float)value[i]);
        }
    }
    return ascends || gsai_features_finish(features)
               ? GSA_OK
               : gsai_fail(error, GSA_INPUT, "the Arrow stream, row %" PRIu64 ": values of one id have no finite sum",
                           arrow->n_rows);
}

/* Makes room for a dense row; all are as long as the first, or as the type says. */
static gsa_status reserve_dense(gsai_arrow_reader *arrow, const items *of, gsai_rows *rows, gsa_error *error)
{
    const gsai_arrow_column *column = &arrow->column[arrow->values];
    if (arrow->width == 0)
        arrow->width = column->list == 'w' ? (size_t)column->width : of->n;
    if (arrow->width == 0)
        return gsai_arrow_fail_column(arrow, arrow->values, GSA_ARGUMENT, "the list of the first row is empty", error);
    return gsai_rows_reserve_dense(rows, 1, arrow->width, error);
}

/* The values of a dense row; what is absent is 0. */
static gsa_status take_dense(const gsai_arrow_reader *arrow, const items *of, float *out, gsa_error *error)
{
    const gsai_arrow_column *column = &arrow->column[arrow->values];
    if (of->n == 0) {
        memset(out, 0, arrow->width * sizeof *out);
        return GSA_OK;
    }
    if (of->n != arrow->width)
        return gsai_fail(error, GSA_INPUT,
                         "the Arrow stream, row %" PRIu64
                         ": a list of %zu values, and the first has %zu: expected the same number",
                         arrow->n_rows, of->n, arrow->width);
    if (gsai_arrow_floats(column, of->value, of->n, out))
        return GSA_OK;
    for (size_t from = 0; from < of->n; from += GSAI_ARROW_PIECE) {
        size_t n = of->n - from < GSAI_ARROW_PIECE ? of->n - from : GSAI_ARROW_PIECE;
        double value[GSAI_ARROW_PIECE];
        gsai_arrow_items(column, of->value + (int64_t)from, n, value);
        for (size_t i = 0; i < n; i++) {
            const char *objection = isnan(value[i]) ? NULL : object_to_float(value[i], 0);
            if (objection)
                return fail_item(arrow, arrow->values, value[i], objection, error);
            out[from + i] = isnan(value[i]) ? 0 : (float)value[i];
        }
    }
    return GSA_OK;
}

/* ---- a row ------------------------------------------------------------------------------------------------------ */

static gsa_status keep_texts(gsai_arrow_reader *arrow, int64_t row, gsai_rows *rows, gsa_error *error)
{
    gsai_rows_begin_texts(rows);
    for (size_t i = 0; i < arrow->table.n_kept && rows->keeps; i++) {
        gsai_arrow_column *column = &arrow->column[arrow->table.kept[i]];
        gsai_arrow_cell cell = gsai_arrow_read(column, row);
        if (cell.kind == GSAI_CELL_NUMBER)
            gsai_arrow_make_text(column, &cell);
        GSA_TRY(gsai_tabular_keep_text(rows, cell.text, cell.kind == GSAI_CELL_ABSENT ? 0 : cell.size, error));
    }
    return GSA_OK;
}

gsa_status gsai_arrow_row(gsai_arrow_reader *arrow, gsai_rows *rows, gsa_error *error)
{
    const gsai_tabular *table = &arrow->table;
    int64_t row = arrow->batch.offset + arrow->at++;
    bool has_lists = arrow->values != SIZE_MAX, is_dense = has_lists && arrow->ids == SIZE_MAX;
    gsai_row_head head = {.weight = 1};
    gsai_features features;
    items of = {.n = table->max_entries};
    arrow->n_rows++;
    GSA_TRY(keep_texts(arrow, row, rows, error));
    if (has_lists)
        GSA_TRY(find_items(arrow, row, &of, error));
    if (is_dense)
        GSA_TRY(reserve_dense(arrow, &of, rows, error));
    GSA_TRY(take_label(arrow, row, &head, error));
    if (head.is_missing)
        return GSA_OK;
    GSA_TRY(take_weight(arrow, table->weight, row, gsai_tabular_weigh, &head, error));
    GSA_TRY(take_weight(arrow, table->exposure, row, gsai_tabular_expose, &head, error));
    if (is_dense) {
        features = (gsai_features){.n = arrow->width};
        GSA_TRY(take_dense(arrow, &of, rows->value + rows->n_values, error));
    } else {
        GSA_TRY(gsai_tabular_begin_row(&arrow->table, of.n, rows, &features, error));
        GSA_TRY(has_lists ? take_lists(arrow, &of, &features, error) : take_columns(arrow, row, &features, error));
    }
    gsa_place place = {arrow->n_rows, UINT64_MAX, table->input->file};
    return gsai_tabular_end_row(table, rows, &features, &head, place, error);
}
