/* The first block of a table: its separator, and what stands in its columns.
 *
 * The block is the first 4096 records, as far as they lie in the first 4 MiB (records.h): the content decides, not the
 * size of a buffer. */
#include "data/format/csv.h"

#include "base/error.h"
#include "base/memory.h"
#include "data/format/text.h"

#include <string.h>

enum { RECORDS_OF_BLOCK = 4096, RECORDS_FOR_SEPARATOR = 100 };

/* An infinity is meant as a number, and is refused as one when its row is read. */
static gsai_cell_kind classify(const gsai_number_locale *locale, const gsai_cell *cell)
{
    if (gsai_is_absent(cell->text, cell->size))
        return GSAI_CELL_ABSENT;
    gsai_number number;
    gsai_number_parse(locale, cell->text, &number);
    bool is_number = number.after == cell->text + cell->size || gsai_is_nonfinite_word(cell->text, cell->size);
    return is_number ? GSAI_CELL_NUMBER : GSAI_CELL_WORD;
}

/* Reads the block once with this separator: cells of the first record, 0 if the records have not all as many. */
static gsa_status try_separator(gsai_csv *csv, char separator, size_t *first, bool *agree, gsa_error *error)
{
    gsai_record record;
    gsa_status status = GSA_OK;
    csv->records.separator = separator;
    gsai_records_back(&csv->records);
    gsai_records_hold(&csv->records);
    *first = 0;
    *agree = true;
    for (int i = 0; i < RECORDS_FOR_SEPARATOR && status == GSA_OK; i++) {
        csv->records.lines.hurried = i > 0 && csv->input->schema_is_given;
        status = gsai_records_next(&csv->records, &record, error);
        if (status == GSA_OK && i == 0)
            *first = record.n_cells;
        *agree = *agree && (status == GSA_END || (status == GSA_OK && record.n_cells == *first));
    }
    return status == GSA_END || status == GSA_INPUT ? GSA_OK : status;
}

/* A comma stands in texts and in numbers more often than the others: it is tried last. */
static gsa_status find_separator(gsai_csv *csv, gsa_error *error)
{
    static const char candidates[] = {'\t', ';', ','};
    char best = ',';
    size_t most = 1;
    for (size_t i = 0; i < sizeof candidates; i++) {
        size_t n_cells;
        bool agree;
        gsa_status status = try_separator(csv, candidates[i], &n_cells, &agree, error);
        if (status != GSA_OK)
            return status;
        if (agree && n_cells > 1) {
            best = candidates[i];
            break;
        }
        if (n_cells > most) {
            most = n_cells;
            best = candidates[i];
        }
    }
    csv->records.separator = best;
    gsai_records_back(&csv->records);
    gsai_records_hold(&csv->records);
    return GSA_OK;
}

static gsa_status see_first(gsai_csv *csv, const gsai_record *record, gsai_csv_sniff *look, gsa_error *error)
{
    look->column = gsai_alloc_zeroed(csv->env, record->n_cells, sizeof *look->column);
    for (size_t i = 0; look->column && i < record->n_cells; i++) {
        gsai_cell cell = gsai_cell_trim(record->cell[i]);
        gsai_csv_seen *seen = &look->column[look->n_columns++];
        seen->first = gsai_alloc_zeroed(csv->env, cell.size + 1, 1);
        if (!seen->first)
            break;
        memcpy(seen->first, cell.text, cell.size);
        seen->first_size = cell.size;
        seen->first_kind = classify(csv->locale, &cell);
    }
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): a record has a cell at least */
    bool whole = look->n_columns == record->n_cells && look->column[look->n_columns - 1].first;
    return whole ? GSA_OK : gsai_fail_memory(csv->env, error, "no memory for %zu columns", record->n_cells);
}

static void see(gsai_csv *csv, const gsai_record *record, gsai_csv_sniff *look)
{
    for (size_t i = 0; i < look->n_columns && record->n_cells == look->n_columns; i++) {
        gsai_cell cell = gsai_cell_trim(record->cell[i]);
        gsai_csv_seen *seen = &look->column[i];
        gsai_cell_kind kind = classify(csv->locale, &cell);
        seen->n_numbers += kind == GSAI_CELL_NUMBER;
        seen->n_words += kind == GSAI_CELL_WORD;
        if (cell.size == seen->first_size && memcmp(cell.text, seen->first, cell.size) == 0)
            seen->first_again = true;
    }
}

gsa_status gsai_csv_sniff_row(gsai_csv *csv, gsai_csv_sniff *out, gsa_error *error)
{
    gsai_record record;
    *out = (gsai_csv_sniff){0};
    gsa_status status = find_separator(csv, error);
    for (int i = 0; i < RECORDS_OF_BLOCK && (status == GSA_OK || (status == GSA_INPUT && i > 1)); i++) {
        csv->records.lines.hurried = i > 0 && csv->input->schema_is_given; /* the first record tells the columns */
        status = gsai_records_next(&csv->records, &record, error);
        if (status == GSA_OK && i == 0)
            status = see_first(csv, &record, out, error);
        else if (status == GSA_OK)
            see(csv, &record, out);
    }
    if (status == GSA_INPUT && out->n_columns == 0) { /* what the columns are cannot be told without the first record */
        if (error)
            error->status = GSA_FORMAT;
        return GSA_FORMAT;
    }
    bool had_some = out->n_columns > 0 && (status == GSA_END || status == GSA_INPUT);
    if (status == GSA_END && !had_some && !csv->records.lines.ended)
        return gsai_fail(error, GSA_LIMIT, "%s: the first line is longer than 4 MiB: is this a table?",
                         csv->input->name);
    return had_some ? GSA_OK : status;
}

void gsai_csv_sniff_free(gsai_csv *csv, gsai_csv_sniff *look)
{
    for (size_t i = 0; i < look->n_columns; i++)
        gsai_free(csv->env, look->column[i].first);
    gsai_free(csv->env, look->column);
}
