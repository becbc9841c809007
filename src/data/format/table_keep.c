/* Columns whose texts are kept beside the rows (option keep): the cells of a row as they are written, without quotes,
 * each with a NUL. */
#include "data/format/table_rows.h"

#include "base/error.h"
#include "base/memory.h"

#include <string.h>

gsa_status gsai_tabular_keep_room(gsai_tabular *table, size_t n, gsa_error *error)
{
    gsai_free(table->env, table->kept);
    table->n_kept = 0;
    table->kept = n > 0 ? gsai_alloc(table->env, n, sizeof *table->kept) : NULL;
    return n == 0 || table->kept ? GSA_OK : gsai_fail_memory(table->env, error, "no memory for %zu columns", n);
}

gsa_status gsai_tabular_keep_same(gsai_tabular *table, const gsai_tabular *other, gsa_error *error)
{
    GSA_TRY(gsai_tabular_keep_room(table, other->n_kept, error));
    for (size_t i = 0; i < other->n_kept; i++)
        table->kept[table->n_kept++] = other->kept[i];
    return GSA_OK;
}

gsa_status gsai_tabular_keep_text(gsai_rows *rows, const char *text, size_t size, gsa_error *error)
{
    const char *nul = size > 0 ? memchr(text, '\0', size) : NULL;
    GSA_TRY(gsai_rows_keep_texts(rows, size > 0 ? text : "", nul ? (size_t)(nul - text) : size, error));
    return gsai_rows_keep_texts(rows, "", 1, error);
}

gsa_status gsai_tabular_keep_row(const gsai_tabular *table, const gsai_record *record, gsai_rows *rows,
                                 gsa_error *error)
{
    gsai_rows_begin_texts(rows);
    for (size_t i = 0; i < table->n_kept && rows->keeps; i++) {
        gsai_cell cell = gsai_cell_trim(record->cell[table->kept[i]]);
        GSA_TRY(gsai_tabular_keep_text(rows, cell.text, cell.size, error));
    }
    return GSA_OK;
}
