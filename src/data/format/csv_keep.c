/* Columns whose texts are kept beside the rows (option keep): the cells of a row as they are written, without quotes,
 * each with a NUL. */
#include "data/format/csv.h"

#include "base/error.h"
#include "base/memory.h"

#include <string.h>

gsa_status gsai_csv_keep_room(gsai_csv *csv, size_t n, gsa_error *error)
{
    gsai_free(csv->env, csv->kept);
    csv->n_kept = 0;
    csv->kept = n > 0 ? gsai_alloc(csv->env, n, sizeof *csv->kept) : NULL;
    return n == 0 || csv->kept ? GSA_OK : gsai_fail_memory(csv->env, error, "no memory for %zu columns", n);
}

gsa_status gsai_csv_keep_same(gsai_csv *csv, const gsai_csv *other, gsa_error *error)
{
    GSA_TRY(gsai_csv_keep_room(csv, other->n_kept, error));
    for (size_t i = 0; i < other->n_kept; i++)
        csv->kept[csv->n_kept++] = other->kept[i];
    return GSA_OK;
}

gsa_status gsai_csv_keep_text(gsai_rows *rows, const char *text, size_t size, gsa_error *error)
{
    const char *nul = size > 0 ? memchr(text, '\0', size) : NULL;
    GSA_TRY(gsai_rows_keep_texts(rows, size > 0 ? text : "", nul ? (size_t)(nul - text) : size, error));
    return gsai_rows_keep_texts(rows, "", 1, error);
}

gsa_status gsai_csv_keep_row(const gsai_csv *csv, const gsai_record *record, gsai_rows *rows, gsa_error *error)
{
    gsai_rows_begin_texts(rows);
    for (size_t i = 0; i < csv->n_kept && rows->keeps; i++) {
        gsai_cell cell = gsai_cell_trim(record->cell[csv->kept[i]]);
        GSA_TRY(gsai_csv_keep_text(rows, cell.text, cell.size, error));
    }
    return GSA_OK;
}
