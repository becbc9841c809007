/* A record of a table to a row. */
#include "data/format/csv.h"

#include "base/error.h"
#include "data/format/text.h"

#include <math.h>
#include <string.h>

/* ---- what can be wrong ------------------------------------------------------------------------------------------ */

static uint64_t offset(const gsa__record *record, const gsa__cell *cell)
{
    return record->line.byte + (uint64_t)(cell->at - record->line.start);
}

/* "column 'age' holds 'x': ..." */
static gsa_status fail_cell(const gsa__csv *csv, const gsa__record *record, const gsa__cell *cell, size_t field,
                            const char *expected, gsa_error *error)
{
    const gsa__field *of = &csv->input->schema->field[field];
    char name[GSA__QUOTE_SIZE], held[GSA__QUOTE_SIZE];
    return gsa__fail_line(error, GSA_INPUT, record->line.number, offset(record, cell), "column '%s' holds '%s': %s",
                          gsa__quote(of->name, of->name_size, name), gsa__quote(cell->text, cell->size, held),
                          expected);
}

static gsa_status fail_number(const gsa__csv *csv, const gsa__record *record, const gsa__cell *cell, size_t field,
                              gsa_error *error)
{
    const gsa__field *of = &csv->input->schema->field[field];
    char name[GSA__QUOTE_SIZE], held[GSA__QUOTE_SIZE];
    if (gsa__is_nonfinite_word(cell->text, cell->size))
        return fail_cell(csv, record, cell, field, "values must be finite", error);
    if (csv->input->schema_is_given)
        return fail_cell(csv, record, cell, field, "the model was trained with numbers in it", error);
    gsa__quote(of->name, of->name_size, name);
    return gsa__fail_line(error, GSA_INPUT, record->line.number, offset(record, cell),
                          "column '%s' holds '%s', and only numbers in the first rows: take all of it for words with "
                          "--categorical '%s', or leave such rows out with --bad-rows skip",
                          name, gsa__quote(cell->text, cell->size, held), name);
}

static size_t field_of(const gsa__csv *csv, gsa__field_kind kind)
{
    size_t f = 0;
    while (csv->input->schema->field[f].kind != kind)
        f++;
    return f;
}

/* ---- cells ------------------------------------------------------------------------------------------------------ */

static gsa_status take_number(const gsa__csv *csv, const gsa__record *record, const gsa__csv_column *column,
                              gsa__features *features, gsa_error *error)
{
    const gsa__cell *cell = &record->cell[column->cell];
    gsa__number number;
    if (cell->size == 0)
        return GSA_OK;
    gsa__number_parse_float(csv->locale, cell->text, &number);
    if (number.after != cell->text + cell->size) {
        gsa__cell inner = gsa__cell_trim(*cell);
        if (gsa__is_absent(inner.text, inner.size))
            return GSA_OK;
        gsa__number_parse_float(csv->locale, inner.text, &number);
        if (number.after != inner.text + inner.size)
            return fail_number(csv, record, &inner, column->field, error);
    }
    float x = (float)number.value;
    if (isinf(x) || (x == 0 && number.has_nonzero))
        return fail_cell(csv, record, cell, column->field,
                         "it does not fit a float, whose magnitudes go from 1.5e-45 to 3.4e38", error);
    gsa__features_add(features, (uint32_t)(column - csv->column), x);
    if (csv->term)
        csv->term[column - csv->column].value = x;
    return GSA_OK;
}

static inline void take_word(const gsa__csv *csv, const gsa__cell *cell, const gsa__csv_column *column,
                             gsa__features *features)
{
    const char *text = cell->text;
    size_t size = cell->size;
    if (size > 0 && (*text == ' ' || text[size - 1] == ' ')) {
        gsa__cell inner = gsa__cell_trim(*cell);
        text = inner.text;
        size = inner.size;
    }
    if (size == 0 || gsa__is_absent(text, size))
        return;
    uint64_t hash = gsa__key_hash(&column->key, text, size);
    uint32_t id = (uint32_t)(hash & ((UINT64_C(1) << csv->input->schema->bits) - 1));
    if (gsa__name_book_is_new(csv->input->names, id))
        gsa__name_book_enter(csv->input->names, id, column->key.bytes, column->key.size - 1, text, size);
    gsa__features_add(features, (uint32_t)csv->n_numbers + id, 1);
    if (csv->term) {
        gsa__term *term = &csv->term[column - csv->column];
        *term = (gsa__term){hash, 1, term->name, text, term->name_size, size};
    }
}

static gsa_status take_crosses(const gsa__csv *csv, const gsa__record *record, gsa__features *features,
                               gsa_error *error)
{
    for (size_t i = 0; i < csv->n_crosses; i++) {
        const size_t *cross = csv->cross[i];
        if (!gsa__cross_add(features, csv->input, (uint32_t)csv->n_numbers, &csv->term[cross[0]], &csv->term[cross[1]]))
            return fail_cell(csv, record, &record->cell[csv->column[cross[0]].cell], csv->column[cross[0]].field,
                             "its product with the column that it is crossed with does not fit a float", error);
    }
    return GSA_OK;
}

static gsa_status take_features(const gsa__csv *csv, const gsa__record *record, gsa__features *features,
                                gsa_error *error)
{
    for (size_t i = 0; i < csv->n_columns && csv->term; i++)
        csv->term[i].value = 0;
    for (size_t i = 0; i < csv->n_numbers; i++) {
        gsa_status status = take_number(csv, record, &csv->column[i], features, error);
        if (status != GSA_OK)
            return status;
    }
    features->n_numbers = features->n;
    for (size_t i = csv->n_numbers; i < csv->n_columns; i++)
        take_word(csv, &record->cell[csv->column[i].cell], &csv->column[i], features);
    gsa_status status = take_crosses(csv, record, features, error);
    if (status == GSA_OK && !gsa__features_finish(features))
        return gsa__fail_line(error, GSA_INPUT, record->line.number, record->line.byte,
                              "crosses that share a feature have no finite sum");
    return status;
}

static gsa_status take_weight(const gsa__csv *csv, const gsa__record *record, float *out, gsa_error *error)
{
    *out = 1;
    if (csv->weight == SIZE_MAX)
        return GSA_OK;
    gsa__cell cell = gsa__cell_trim(record->cell[csv->weight]);
    gsa__number number;
    gsa__number_parse_float(csv->locale, cell.text, &number);
    float weight = number.after == cell.text + cell.size ? (float)number.value : -1;
    if (cell.size == 0 || !(weight >= 0) || isinf(weight))
        return fail_cell(csv, record, &cell, field_of(csv, GSA__FIELD_WEIGHT),
                         "the weight of a row must be a finite number that is not negative", error);
    *out = weight;
    return GSA_OK;
}

/* A number, or a word, which is entered by the caller when the rest of the row is good. */
static gsa_status take_label(const gsa__csv *csv, const gsa__record *record, double *label, gsa__cell *word,
                             gsa_error *error)
{
    *label = 0;
    *word = (gsa__cell){0};
    if (csv->label == SIZE_MAX)
        return GSA_OK;
    gsa__cell cell = gsa__cell_trim(record->cell[csv->label]);
    gsa__number number;
    if (gsa__is_absent(cell.text, cell.size))
        return fail_cell(csv, record, &cell, field_of(csv, GSA__FIELD_LABEL),
                         "a row without a label cannot be learned from; leave such rows out with --bad-rows skip",
                         error);
    gsa__number_parse(csv->locale, cell.text, &number);
    if (number.after == cell.text + cell.size) {
        *label = number.value + 0.0; /* -0 is 0 */
        bool fits = !isinf(number.value) && !(number.value == 0 && number.has_nonzero);
        return fits ? GSA_OK
                    : fail_cell(csv, record, &cell, field_of(csv, GSA__FIELD_LABEL), "it does not fit a double", error);
    }
    const char *objection = gsa__word_objection(cell.text, cell.size);
    if (objection)
        return fail_cell(csv, record, &cell, field_of(csv, GSA__FIELD_LABEL), objection, error);
    *word = cell;
    return GSA_OK;
}

/* ---- a row ------------------------------------------------------------------------------------------------------ */

gsa_status gsa__csv_row(gsa__csv *csv, const gsa__record *record, gsa__rows *rows, gsa_error *error)
{
    double label;
    gsa__cell word;
    float weight;
    if (record->n_cells != csv->n_cells)
        return gsa__fail_line(error, GSA_INPUT, record->line.number, record->line.byte,
                              "the row has %zu cells, the first line has %zu", record->n_cells, csv->n_cells);
    gsa_status status = take_label(csv, record, &label, &word, error);
    if (status == GSA_OK)
        status = take_weight(csv, record, &weight, error);
    if (status == GSA_OK)
        status = gsa__rows_reserve(rows, csv->n_columns + csv->n_crosses + 1, error);
    if (status != GSA_OK)
        return status;
    gsa__features features = {
        .index = rows->index + rows->n_values, .value = rows->value + rows->n_values, .all_ones = true};
    status = take_features(csv, record, &features, error);
    int32_t number = -1;
    if (status == GSA_OK && word.text)
        status = gsa__words_enter(&rows->words, word.text, word.size, &number, error);
    if (status != GSA_OK)
        return status;
    gsa_place place = {record->line.number, record->line.byte, csv->input->file};
    gsa__rows_finish(rows, features.n, features.all_ones, label, number, place);
    gsa__rows_weigh(rows, weight);
    return GSA_OK;
}
