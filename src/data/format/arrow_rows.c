/* A row of an Arrow batch to a row. */
#include "data/format/arrow.h"

#include "base/error.h"
#include "data/format/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* "the Arrow stream, row 7: column 'age' holds 'x': ..." */
static gsa_status fail_cell(const gsai_arrow *arrow, size_t number, const gsai_arrow_cell *cell, const char *expected,
                            gsa_error *error)
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
static gsa_status take_label(const gsai_arrow *arrow, int64_t row, gsai_csv_head *head, gsa_error *error)
{
    const gsai_csv *csv = &arrow->csv;
    if (csv->label == SIZE_MAX)
        return GSA_OK;
    gsai_arrow_cell cell = gsai_arrow_read(&arrow->column[csv->label], row);
    const char *objection = NULL;
    bool is_word = false;
    if (cell.kind == GSAI_CELL_NUMBER) {
        head->label = cell.number + 0.0; /* -0 is 0 */
        objection = isinf(cell.number) ? "a label must be finite" : NULL;
    } else if (cell.size > GSAI_LABEL_SIZE) {
        objection = "a label has at most 255 bytes";
    } else {
        char text[GSAI_LABEL_SIZE + 1] = ""; /* in the array the next word may follow and go on with digits */
        if (cell.size > 0)
            memcpy(text, cell.text, cell.size);
        objection = gsai_csv_label(csv, text, cell.size, &head->label, &is_word);
    }
    if (objection)
        return fail_cell(arrow, csv->label, &cell, objection, error);
    head->word = is_word ? cell.text : NULL;
    head->word_size = cell.size;
    return GSA_OK;
}

static gsa_status take_weight(const gsai_arrow *arrow, int64_t row, float *out, gsa_error *error)
{
    if (arrow->csv.weight == SIZE_MAX)
        return GSA_OK;
    gsai_arrow_cell cell = gsai_arrow_read(&arrow->column[arrow->csv.weight], row);
    *out = cell.kind == GSAI_CELL_NUMBER ? (float)cell.number : -1;
    bool is_weight = *out >= 0 && !isinf(*out);
    return is_weight ? GSA_OK : fail_cell(arrow, arrow->csv.weight, &cell, GSAI_NO_WEIGHT, error);
}

/* ---- columns ---------------------------------------------------------------------------------------------------- */

static inline const char *object_to_float(double number)
{
    float x = (float)number;
    if (isinf(number))
        return "values must be finite";
    return isinf(x) || (x == 0 && number != 0) ? GSAI_NO_FLOAT : NULL;
}

static gsa_status take_number(const gsai_arrow *arrow, size_t i, int64_t row, gsai_features *features, gsa_error *error)
{
    size_t number = arrow->csv.column[i].cell;
    gsai_arrow_cell cell = gsai_arrow_read(&arrow->column[number], row);
    if (cell.kind == GSAI_CELL_ABSENT)
        return GSA_OK;
    const char *objection = object_to_float(cell.number);
    if (objection)
        return fail_cell(arrow, number, &cell, objection, error);
    gsai_csv_add_number(&arrow->csv, i, (float)cell.number, features);
    return GSA_OK;
}

/* A number among words is the word that text would have for it. */
static gsa_status take_word(gsai_arrow *arrow, size_t i, int64_t row, gsai_features *features, gsa_error *error)
{
    size_t number = arrow->csv.column[i].cell;
    gsai_arrow_column *column = &arrow->column[number];
    int64_t place = column->n_hashes > 0 ? gsai_arrow_location(column, row) : -1;
    if (place >= 0 && column->hash[place] != 0) {
        gsai_csv_add_hash(&arrow->csv, i, column->hash[place], features);
        return GSA_OK;
    }
    gsai_arrow_cell cell = gsai_arrow_read(column, row);
    if (cell.kind == GSAI_CELL_NUMBER) {
        if (isinf(cell.number))
            return fail_cell(arrow, number, &cell, "values must be finite", error);
        if (column->type == 'l')
            cell.size = (size_t)snprintf(column->digits, sizeof column->digits, "%" PRId64, cell.whole);
        else if (column->type == 'L')
            cell.size = (size_t)snprintf(column->digits, sizeof column->digits, "%" PRIu64, (uint64_t)cell.whole);
        else
            cell.size = gsai_number_text(cell.number, column->digits);
        cell.text = column->digits;
    }
    if (cell.kind == GSAI_CELL_ABSENT)
        return GSA_OK;
    uint64_t hash = gsai_csv_add_category(&arrow->csv, i, cell.text, cell.size, features);
    if (place >= 0)
        column->hash[place] = hash;
    return GSA_OK;
}

static gsa_status take_columns(gsai_arrow *arrow, int64_t row, gsai_features *features, gsa_error *error)
{
    const gsai_csv *csv = &arrow->csv;
    gsa_status status = GSA_OK;
    for (size_t i = 0; i < csv->n_numbers && status == GSA_OK; i++)
        status = take_number(arrow, i, row, features, error);
    features->n_numbers = features->n;
    for (size_t i = csv->n_numbers; i < csv->n_columns && status == GSA_OK; i++)
        status = take_word(arrow, i, row, features, error);
    gsai_csv_note_categories(csv);
    if (status != GSA_OK)
        return status;
    size_t bad = gsai_csv_add_crosses(csv, features);
    if (bad != SIZE_MAX) {
        gsai_arrow_cell cell = gsai_arrow_read(&arrow->column[csv->column[bad].cell], row);
        return fail_cell(arrow, csv->column[bad].cell, &cell, GSAI_NO_PRODUCT, error);
    }
    return gsai_features_finish(features)
               ? GSA_OK
               : gsai_fail(error, GSA_INPUT, "the Arrow stream, row %" PRIu64 ": %s", arrow->n_rows, GSAI_NO_SUM);
}

/* ---- lists ------------------------------------------------------------------------------------------------------ */

/* Where the items of the row begin, and how many there are. */
typedef struct items {
    int64_t id, value;
    size_t n;
} items;

static gsa_status find_items(const gsai_arrow *arrow, int64_t row, items *out, gsa_error *error)
{
    *out = (items){0};
    out->n = gsai_arrow_list(&arrow->column[arrow->values], row, &out->value);
    if (arrow->ids == SIZE_MAX)
        return GSA_OK;
    size_t n_ids = gsai_arrow_list(&arrow->column[arrow->ids], row, &out->id);
    return n_ids == out->n ? GSA_OK
                           : gsai_fail(error, GSA_INPUT,
                                       "the Arrow stream, row %" PRIu64 ": %zu ids and %zu values: expected as many",
                                       arrow->n_rows, n_ids, out->n);
}

static gsa_status take_lists(const gsai_arrow *arrow, const items *of, gsai_features *features, gsa_error *error)
{
    const gsai_arrow_column *ids = arrow->ids == SIZE_MAX ? NULL : &arrow->column[arrow->ids];
    bool ascends = true;
    for (size_t i = 0; i < of->n; i++) {
        gsai_arrow_cell id = {.kind = GSAI_CELL_NUMBER, .number = (double)i};
        if (ids)
            id = gsai_arrow_item(ids, of->id + (int64_t)i);
        if (id.kind != GSAI_CELL_NUMBER || !(id.number >= 0 && id.number <= GSA_MAX_ID))
            return fail_cell(arrow, ids ? arrow->ids : arrow->values, &id, "feature ids are from 0 to 4294967293",
                             error);
        gsai_arrow_cell value = gsai_arrow_item(&arrow->column[arrow->values], of->value + (int64_t)i);
        const char *objection = value.kind == GSAI_CELL_NUMBER ? object_to_float(value.number) : NULL;
        if (objection)
            return fail_cell(arrow, arrow->values, &value, objection, error);
        ascends = ascends && (features->n == 0 || features->index[features->n - 1] < (uint32_t)id.number);
        gsai_features_add(features, (uint32_t)id.number, value.kind == GSAI_CELL_NUMBER ? (float)value.number : 0);
    }
    return ascends || gsai_features_finish(features)
               ? GSA_OK
               : gsai_fail(error, GSA_INPUT, "the Arrow stream, row %" PRIu64 ": values of one id have no finite sum",
                           arrow->n_rows);
}

/* ---- a row ------------------------------------------------------------------------------------------------------ */

gsa_status gsai_arrow_row(gsai_arrow *arrow, gsai_rows *rows, gsa_error *error)
{
    const gsai_csv *csv = &arrow->csv;
    int64_t row = arrow->batch.offset + arrow->at++;
    bool has_lists = arrow->values != SIZE_MAX;
    gsai_csv_head head = {.weight = 1};
    gsai_features features;
    items of = {.n = csv->n_columns + csv->n_crosses};
    arrow->n_rows++;
    gsa_status status = take_label(arrow, row, &head, error);
    if (status == GSA_OK)
        status = take_weight(arrow, row, &head.weight, error);
    if (status == GSA_OK && has_lists)
        status = find_items(arrow, row, &of, error);
    if (status == GSA_OK)
        status = gsai_csv_begin_row(&arrow->csv, of.n, rows, &features, error);
    if (status == GSA_OK)
        status = has_lists ? take_lists(arrow, &of, &features, error) : take_columns(arrow, row, &features, error);
    gsa_place place = {arrow->n_rows, UINT64_MAX, csv->input->file};
    return status == GSA_OK ? gsai_csv_end_row(csv, rows, &features, &head, place, error) : status;
}
