/* `greedystep inspect DATA`: reads the rows once and hands them to labels, columns and features. */
#include "inspect_data.h"

#include "interrupt.h"
#include "message.h"
#include "progress.h"
#include "report.h"
#include "session.h"
#include "style.h"
#include "views.h"

#include "base/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading ---------------------------------------------------------------------------------------------------- */

/* Cells are numbers and then words, each in the order of the columns. */
static bool begin_rows(data_inspection *data)
{
    size_t n_cells;
    const uint64_t *cell = gsa_reader_cells(data->reader, &n_cells);
    const char *schema = gsa_reader_schema(data->reader);
    data->min_entries = UINT64_MAX;
    if (!labels_init(&data->labels))
        return false;
    data->labels.has_columns = schema != NULL && strstr(schema, "\ncolumns namespaces\n") == NULL;
    if (cell == NULL || n_cells > MAX_COLUMNS)
        return features_init(&data->features);
    data->column = columns_of_schema(schema, &data->n_columns);
    data->of_cell = calloc(n_cells + 1, sizeof *data->of_cell);
    if (data->column == NULL || data->of_cell == NULL)
        return false;
    for (int kind = COLUMN_NUMBER; kind <= COLUMN_WORDS; kind++)
        for (size_t i = 0; i < data->n_columns; i++)
            if ((int)data->column[i].kind == kind && data->n_cells < n_cells)
                data->of_cell[data->n_cells++] = &data->column[i];
    return true;
}

static bool add_cells(data_inspection *data, const gsa_batch *batch, size_t row, const uint64_t *cell,
                      const row_label *label)
{
    int64_t at = batch->row_start[row], end = batch->row_start[row + 1];
    bool has_room = true;
    for (size_t i = 0; i < data->n_cells; i++) {
        double x = 0;
        if (i < data->schema.n_numbers && at < end && batch->index[at] == i)
            x = batch->value != NULL ? (double)batch->value[at++] : (at++, 1);
        if (cell[i] == 0)
            column_add_absent(data->of_cell[i], label->key);
        else if (i < data->schema.n_numbers)
            has_room = column_add_number(data->of_cell[i], x, label, data->labels.first_number) && has_room;
        else
            has_room = column_add_word(data->of_cell[i], cell[i], label) && has_room;
    }
    return has_room;
}

static bool add_rows(data_inspection *data, const gsa_batch *batch)
{
    size_t n_cells;
    const uint64_t *cell = gsa_reader_cells(data->reader, &n_cells);
    bool has_room = true;
    if (data->column != NULL && cell == NULL)
        data->n_rows_without_cells += batch->n_rows;
    for (size_t row = 0; row < batch->n_rows && has_room; row++) {
        row_label label;
        gsai_row entries = gsai_row_at(batch, row);
        uint64_t n_entries = 0;
        for (size_t i = 0; i < entries.n; i++)
            n_entries += gsai_row_value(&entries, i) != 0;
        data->n_entries += n_entries;
        data->min_entries = n_entries < data->min_entries ? n_entries : data->min_entries;
        data->max_entries = n_entries > data->max_entries ? n_entries : data->max_entries;
        moments_add(&data->weights, batch->weight != NULL ? (double)batch->weight[row] : 1);
        has_room = labels_add(&data->labels, batch, row, &label);
        if (has_room && data->column == NULL)
            has_room = features_add(&data->features, &entries);
        else if (has_room && cell != NULL)
            has_room = add_cells(data, batch, row, cell + row * n_cells, &label);
    }
    return has_room;
}

static gsa_status read_all(data_inspection *data, gsa_error *error)
{
    gsa_batch batch;
    cli_progress progress;
    bool has_room = true;
    progress_begin(&progress, style_is_on(stderr) && data->max_rows == 0, NULL);
    gsa_status status = gsa_reader_begin(data->reader, error);
    const char *schema = status == GSA_OK ? gsa_reader_schema(data->reader) : NULL;
    data->schema.size = sizeof data->schema;
    if (schema != NULL)
        status = gsa_schema_get_info(schema, &data->schema, error);
    while (status == GSA_OK && (status = gsa_reader_next(data->reader, &batch, error)) == GSA_OK) {
        has_room = (data->labels.n_rows > 0 || begin_rows(data)) && add_rows(data, &batch);
        if (!has_room)
            break;
        progress_show_rows(&progress, "inspected", data->labels.n_rows, 0);
        status = interrupt_should_stop(NULL) ? GSA_STOPPED : GSA_OK;
        if (data->max_rows > 0 && data->labels.n_rows >= data->max_rows)
            break;
    }
    progress_clear(&progress);
    data->reading = progress_of(data->reader);
    if (data->max_rows == 0)
        session_tell_recoded(data->reader);
    if (!has_room)
        return gsai_fail(error, GSA_MEMORY, "out of memory");
    return status == GSA_END ? GSA_OK : status;
}

/* ---- telling ---------------------------------------------------------------------------------------------------- */

static bool finish(data_inspection *data)
{
    value_set_sort(&data->labels.values);
    for (size_t i = 0; i < data->n_columns; i++)
        value_set_sort(&data->column[i].values);
    return features_finish(&data->features, data->n_frequent) && data_warn(data);
}

static void release(data_inspection *data)
{
    value_set_free(&data->labels.values);
    features_free(&data->features);
    for (size_t i = 0; i < data->n_columns; i++)
        column_free(&data->column[i]);
    for (size_t i = 0; i < data->n_warnings; i++)
        free(data->warning[i].text);
    free(data->column);
    free(data->of_cell);
    gsa_reader_close(data->reader);
}

/* Warnings for a summary, the most serious first. The first few hold for a part of the rows as for all; labels that are
 * all the same or sorted are told otherwise. */
static const char *const serious[] = {"label_again", "id",      "row_number", "mixed_labels",
                                      "rare_class",  "missing", "constant",   "empty"};
enum { FIRST_ROWS = 4096, SERIOUS = sizeof serious / sizeof *serious, SERIOUS_OF_PART = 3 };

static const gsa_reader_options wanted = {.remember_names = true, .keep_cells = true};

size_t inspect_first_rows(const cli_arguments *arguments, char **out, size_t max)
{
    gsai_env env = session_env(arguments);
    gsa_error error = {0};
    gsa_batch more;
    data_inspection data = {.paths = arguments->positional, .n_paths = arguments->n_positional, .max_rows = FIRST_ROWS};
    char part[64] = "";
    size_t n = 0;
    if (session_open_reader(arguments, &wanted, data.paths, data.n_paths, &env, &data.reader) != EXIT_DONE)
        return 0;
    if (read_all(&data, &error) == GSA_OK && data.labels.n_rows > 0 && finish(&data)) {
        bool is_part = data.labels.n_rows >= FIRST_ROWS && gsa_reader_next(data.reader, &more, &error) == GSA_OK;
        if (is_part)
            snprintf(part, sizeof part, "in the first %llu rows, ", (unsigned long long)data.labels.n_rows);
        for (size_t i = 0; i < (is_part ? SERIOUS_OF_PART : SERIOUS) && n < max; i++)
            for (size_t k = 0; k < data.n_warnings && n < max; k++) {
                size_t size = sizeof part + data.warning[k].length;
                if (strcmp(data.warning[k].what, serious[i]) != 0 || (out[n] = malloc(size)) == NULL)
                    continue;
                snprintf(out[n++], size, "%s%s", part, data.warning[k].text);
            }
    }
    release(&data);
    return n;
}

int inspect_data(const cli_arguments *arguments)
{
    gsai_env env = session_env(arguments);
    gsa_error error = {0};
    data_inspection data = {.paths = arguments->positional,
                            .n_paths = arguments->n_positional,
                            .n_frequent = (size_t)arguments_number(arguments, "top")};
    int code = session_open_reader(arguments, &wanted, data.paths, data.n_paths, &env, &data.reader);
    if (code != EXIT_DONE)
        return code;
    interrupt_catch();
    gsa_status status = read_all(&data, &error);
    const char *where = data.n_paths > 0 ? data.paths[0] : "the query";
    if (status != GSA_OK)
        code = complain_error(status, &error);
    else if (data.labels.n_rows == 0 && data.reading.n_bad_rows > 0)
        code = complain_failed("cannot read any row of %s; leave out --bad-rows skip to see the first error", where);
    else if (data.labels.n_rows == 0)
        code = complain_failed("no rows in %s%s: nothing to inspect; give a file with rows", where,
                               data.n_paths > 1 ? " and the others" : "");
    else if (!finish(&data))
        code = complain_failed("out of memory");
    else if (arguments_flag(arguments, "json"))
        code = report_print_json(data_json(&data));
    else
        data_print(&data);
    release(&data);
    return code;
}
