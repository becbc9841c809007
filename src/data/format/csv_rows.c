/* A record of a table to a row. */
#include "data/format/csv.h"

#include "base/error.h"
#include "data/format/text.h"

#include <math.h>

/* ---- what can be wrong ------------------------------------------------------------------------------------------ */

/* "column 'age' holds 'x': ..." */
static gsa_status fail_cell(const gsa__csv *csv, const gsa__record *record, const gsa__cell *cell, size_t field,
                            const char *expected, gsa_error *error)
{
    const gsa__field *of = &csv->input->schema->field[field];
    char name[GSA__QUOTE_SIZE], held[GSA__QUOTE_SIZE];
    return gsa__fail_line(error, GSA_INPUT, record->line.number, gsa__line_offset(&record->line, cell->at),
                          "column '%s' holds '%s': %s", gsa__quote(of->name, of->name_size, name),
                          gsa__quote(cell->text, cell->size, held), expected);
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
    return gsa__fail_line(error, GSA_INPUT, record->line.number, gsa__line_offset(&record->line, cell->at),
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
    if (!gsa__number_fits_float(&number))
        return fail_cell(csv, record, cell, column->field, GSA__NO_FLOAT, error);
    gsa__csv_add_number(csv, (size_t)(column - csv->column), (float)number.value, features);
    return GSA_OK;
}

uint64_t gsa__csv_add_word(const gsa__csv *csv, size_t column, const char *text, size_t size, gsa__features *features)
{
    gsa__csv_column *of = &csv->column[column];
    uint64_t hash = gsa__key_hash(&of->key, text, size);
    uint32_t id = (uint32_t)(hash & ((UINT64_C(1) << csv->input->schema->bits) - 1));
    if (gsa__name_book_expect(csv->input->names, id)) {
        of->word = text;
        of->word_size = size;
        of->id = id;
    }
    gsa__features_add(features, (uint32_t)csv->n_numbers + id, 1);
    if (csv->kept)
        csv->kept[column] = hash;
    if (csv->term) {
        gsa__term *term = &csv->term[column];
        *term = (gsa__term){hash, 1, term->name, text, term->name_size, size};
    }
    return hash;
}

void gsa__csv_add_hash(const gsa__csv *csv, size_t column, uint64_t hash, gsa__features *features)
{
    uint64_t mask = (UINT64_C(1) << csv->input->schema->bits) - 1;
    gsa__features_add(features, (uint32_t)(csv->n_numbers + (hash & mask)), 1);
    if (csv->kept)
        csv->kept[column] = hash;
}

void gsa__csv_note_words(const gsa__csv *csv)
{
    gsa__name_book *names = csv->input->names;
    for (size_t i = csv->n_numbers; i < csv->n_columns && names->came; i++) {
        gsa__csv_column *of = &csv->column[i];
        if (of->word && gsa__name_book_is_new(names, of->id))
            gsa__name_book_enter(names, of->id, of->key.bytes, of->key.size - 1, of->word, of->word_size);
        of->word = NULL;
    }
}

static inline void take_word(const gsa__csv *csv, const gsa__cell *cell, size_t column, gsa__features *features)
{
    const char *text = cell->text;
    size_t size = cell->size;
    if (size > 0 && (*text == ' ' || text[size - 1] == ' ')) {
        gsa__cell inner = gsa__cell_trim(*cell);
        text = inner.text;
        size = inner.size;
    }
    if (size > 0 && !gsa__is_absent(text, size))
        gsa__csv_add_word(csv, column, text, size, features);
}

size_t gsa__csv_add_crosses(const gsa__csv *csv, gsa__features *features)
{
    for (size_t i = 0; i < csv->n_crosses; i++) {
        const size_t *cross = csv->cross[i];
        if (!gsa__cross_add(features, csv->input, (uint32_t)csv->n_numbers, &csv->term[cross[0]], &csv->term[cross[1]]))
            return cross[0];
    }
    return SIZE_MAX;
}

static gsa_status take_features(const gsa__csv *csv, const gsa__record *record, gsa__features *features,
                                gsa_error *error)
{
    for (size_t i = 0; i < csv->n_numbers; i++) {
        gsa_status status = take_number(csv, record, &csv->column[i], features, error);
        if (status != GSA_OK)
            return status;
    }
    features->n_numbers = features->n;
    for (size_t i = csv->n_numbers; i < csv->n_columns; i++)
        take_word(csv, &record->cell[csv->column[i].cell], i, features);
    gsa__csv_note_words(csv);
    size_t bad = gsa__csv_add_crosses(csv, features);
    if (bad != SIZE_MAX)
        return fail_cell(csv, record, &record->cell[csv->column[bad].cell], csv->column[bad].field, GSA__NO_PRODUCT,
                         error);
    return gsa__features_finish(features)
               ? GSA_OK
               : gsa__fail_line(error, GSA_INPUT, record->line.number, record->line.byte, GSA__NO_SUM);
}

static gsa_status take_weight(const gsa__csv *csv, const gsa__record *record, float *out, gsa_error *error)
{
    if (csv->weight == SIZE_MAX)
        return GSA_OK;
    gsa__cell cell = gsa__cell_trim(record->cell[csv->weight]);
    gsa__number number;
    gsa__number_parse_float(csv->locale, cell.text, &number);
    float weight = number.after == cell.text + cell.size ? (float)number.value : -1;
    if (cell.size == 0 || !(weight >= 0) || isinf(weight))
        return fail_cell(csv, record, &cell, field_of(csv, GSA__FIELD_WEIGHT), GSA__NO_WEIGHT, error);
    *out = weight;
    return GSA_OK;
}

const char *gsa__csv_label(const gsa__csv *csv, const char *text, size_t size, double *label, bool *is_word)
{
    gsa__number number;
    if (gsa__is_absent(text, size))
        return GSA__NO_LABEL;
    gsa__number_parse(csv->locale, text, &number);
    *is_word = number.after != text + size;
    if (*is_word)
        return gsa__word_objection(text, size);
    /* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): a number that ends has a value */
    *label = number.value + 0.0; /* -0 is 0 */
    return gsa__number_fits_double(&number) ? NULL : "it does not fit a double";
}

static gsa_status take_label(const gsa__csv *csv, const gsa__record *record, gsa__csv_head *head, gsa_error *error)
{
    if (csv->label == SIZE_MAX)
        return GSA_OK;
    gsa__cell cell = gsa__cell_trim(record->cell[csv->label]);
    bool is_word;
    const char *objection = gsa__csv_label(csv, cell.text, cell.size, &head->label, &is_word);
    if (objection)
        return fail_cell(csv, record, &cell, field_of(csv, GSA__FIELD_LABEL), objection, error);
    head->word = is_word ? cell.text : NULL;
    head->word_size = cell.size;
    return GSA_OK;
}

/* ---- a row ------------------------------------------------------------------------------------------------------ */

gsa_status gsa__csv_begin_row(gsa__csv *csv, size_t most, gsa__rows *rows, gsa__features *out, gsa_error *error)
{
    bool keeps = csv->input->options->keep_cells && csv->input->schema->text && csv->n_columns > 0;
    gsa_status status = gsa__rows_reserve(rows, most + 1, error);
    if (status == GSA_OK && keeps)
        status = gsa__rows_reserve_cells(rows, csv->n_columns, error);
    if (status != GSA_OK)
        return status;
    csv->kept = keeps ? rows->cell + rows->n_cells : NULL;
    for (size_t i = 0; i < csv->n_columns && csv->term; i++)
        csv->term[i].value = 0;
    *out =
        (gsa__features){.index = rows->index + rows->n_values, .value = rows->value + rows->n_values, .all_ones = true};
    return GSA_OK;
}

gsa_status gsa__csv_end_row(const gsa__csv *csv, gsa__rows *rows, const gsa__features *features,
                            const gsa__csv_head *head, gsa_place place, gsa_error *error)
{
    int32_t number = -1;
    gsa_status status =
        head->word ? gsa__rows_word(rows, head->word, head->word_size, place.line, place.byte, &number, error) : GSA_OK;
    if (status != GSA_OK)
        return status;
    gsa__rows_finish(rows, features->n, features->all_ones, head->label, number, place);
    gsa__rows_weigh(rows, head->weight);
    rows->n_cells += csv->kept ? csv->n_columns : 0;
    return GSA_OK;
}

gsa_status gsa__csv_row(gsa__csv *csv, const gsa__record *record, gsa__rows *rows, gsa_error *error)
{
    gsa__csv_head head = {.weight = 1};
    gsa__features features;
    if (record->n_cells != csv->n_cells)
        return gsa__fail_line(error, GSA_INPUT, record->line.number, record->line.byte,
                              "the row has %zu cells, the first line has %zu", record->n_cells, csv->n_cells);
    gsa_status status = take_label(csv, record, &head, error);
    if (status == GSA_OK)
        status = take_weight(csv, record, &head.weight, error);
    if (status == GSA_OK)
        status = gsa__csv_begin_row(csv, csv->n_columns + csv->n_crosses, rows, &features, error);
    if (status == GSA_OK)
        status = take_features(csv, record, &features, error);
    gsa_place place = gsa__format_place(csv->input, record->line.number, record->line.byte);
    return status == GSA_OK ? gsa__csv_end_row(csv, rows, &features, &head, place, error) : status;
}
