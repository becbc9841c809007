/* Tables in text as a format of the reader.
 *
 * Before the first row, the first records show the separator and what stands in the columns: those of a file as far as
 * table_infer.h and records.h say, of a stream 4096 in 4 MiB. The content decides, neither the size of a buffer nor the
 * clock. */

#include "base/error.h"
#include "base/memory.h"
#include "data/format/json.h"
#include "data/format/table_infer.h"

#include <string.h>

/* ---- the first block -------------------------------------------------------------------------------------------- */

#define SHORT_BLOCK ((size_t)4 << 20)

/* Streams are not waited for, and a schema that is known needs no more. */
static bool is_short(const gsai_tabular *table)
{
    return table->input->is_stream || table->input->schema->text;
}

static void hold(gsai_tabular *table)
{
    gsai_records_back(&table->records, is_short(table) ? SHORT_BLOCK : GSAI_RECORDS_HELD);
}

/* A comma stands in texts and in numbers more often than the others: it is tried last. If the first line has one cell,
 * whatever the separator, it may be a title, and the records after it show the separator. */
static gsa_status find_separator(gsai_tabular *table, gsa_error *error)
{
    enum { RECORDS = 100 };
    static const char separators[] = {'\t', ';', '|', ','};
    char best = ',', best_below = ',';
    size_t max = 1, max_below = 1, n_bars = 0;
    for (size_t k = 0; k < sizeof separators; k++) {
        size_t n_first = 0, n_last = 0, n_like_last = 0; /* cells of the first and the last; records like the last */
        bool agree = true;                               /* all records have as many cells as the first */
        gsa_status status = GSA_OK;
        table->records.separator = separators[k];
        hold(table);
        for (int i = 0; i < RECORDS && status == GSA_OK; i++) {
            gsai_record record;
            table->records.lines.hurried = i > 0 && table->input->schema_is_fixed;
            status = gsai_records_next(&table->records, &record, error);
            if (status == GSA_OK) {
                n_first = i == 0 ? record.n_cells : n_first;
                n_like_last = record.n_cells == n_last ? n_like_last + 1 : 1;
                n_last = record.n_cells;
            }
            agree = agree && (status == GSA_END || (status == GSA_OK && record.n_cells == n_first));
        }
        GSA_TRY(status == GSA_END || status == GSA_INPUT ? GSA_OK : status);
        const char declared = table->records.declared;
        bool is_bar = separators[k] == '|' && !declared; /* may stand in texts between commas */
        n_bars = is_bar && agree ? n_first : n_bars;
        if (declared || (agree && n_first > 1 && !is_bar && n_first >= n_bars)) {
            best = declared ? declared : separators[k];
            max = n_first + 1;
            n_bars = 0;
            break;
        }
        if (n_first > max) {
            max = n_first;
            best = separators[k];
        }
        if (n_last > 1 && n_like_last > max_below) {
            max_below = n_like_last;
            best_below = separators[k];
        }
    }
    table->records.separator = n_bars > 1 ? '|' : max == 1 ? best_below : best;
    hold(table);
    return GSA_OK;
}

/* Adds a column with its text in the first record; returns false if out of memory. */
static bool add_column(const gsai_tabular *table, gsai_first_rows *first, const char *text, size_t size)
{
    gsai_seen_column *seen = &first->column[first->n_columns++];
    seen->first_size = size;
    seen->first = gsai_alloc_zeroed(table->env, size + GSAI_CELL_PADDING, 1);
    if (seen->first)
        memcpy(seen->first, text, size);
    return seen->first != NULL;
}

/* Makes a column of each cell of the first record. An infinity is meant as a number, and is refused as one when its row
 * is read. */
static gsa_status see_first(gsai_tabular *table, const gsai_record *record, gsai_first_rows *first, gsa_error *error)
{
    first->column = gsai_alloc_zeroed(table->env, record->n_cells, sizeof *first->column);
    bool has_room = first->column != NULL;
    for (size_t i = 0; i < record->n_cells && has_room; i++) {
        gsai_text_cell cell = gsai_cell_trim(record->cell[i]);
        gsai_column_stats one = {0};
        gsai_column_see(&one, table->locale, cell.text, cell.size, 1);
        first->column[i].first_kind = one.n_missing > 0                      ? GSAI_CELL_ABSENT
                                      : one.n_words > 0 || one.has_word_unit ? GSAI_CELL_WORD
                                                                             : GSAI_CELL_NUMBER;
        has_room = add_column(table, first, cell.text, cell.size);
    }
    GSAI_TRY_MEMORY(has_room, table->env, error, "no memory for %zu columns", record->n_cells);
    gsai_first_rows_find_weight(first, table->input->options, true);
    return GSA_OK;
}

/* Counts the cells of a record; again: adds the values of columns that had to be understood first. */
static void see(const gsai_tabular *table, const gsai_record *record, gsai_first_rows *first, bool again)
{
    double weight = 1;
    if (first->weight != SIZE_MAX) {
        gsai_text_cell cell = gsai_cell_trim(record->cell[first->weight]);
        weight = gsai_first_rows_weigh(table->locale, cell.text, cell.size);
    }
    for (size_t i = 0; i < first->n_columns; i++) {
        gsai_seen_column *seen = &first->column[i];
        if (again && !gsai_first_rows_is_again(first, seen))
            continue;
        gsai_text_cell cell = gsai_cell_trim(record->cell[i]);
        if (again) {
            gsai_first_rows_add_value(first, table->locale, i, cell.text, cell.size, weight);
            continue;
        }
        gsai_column_see(&seen->cells, table->locale, cell.text, cell.size, weight);
        gsai_stats_see_text(&seen->cells, cell.text, cell.size);
        seen->has_text = seen->has_text || cell.size > 0;
        if (!seen->first_again && cell.size == seen->first_size && memcmp(cell.text, seen->first, cell.size) == 0)
            seen->first_again = true;
    }
}

/* Reads the records of the block once more, for the columns whose values were not known. */
static gsa_status see_again(gsai_tabular *table, gsai_first_rows *first, gsa_error *error)
{
    gsai_record record;
    gsa_status status = GSA_OK;
    hold(table);
    for (size_t i = 0, n = 0; n < first->n_rows && (status == GSA_OK || status == GSA_INPUT); i++) {
        status = gsai_records_next(&table->records, &record, error);
        if (status != GSA_OK || gsai_record_cells(&record, first->n_columns) != first->n_columns ||
            (i == 0 && first->has_header && !table->records.keys))
            continue;
        see(table, &record, first, true);
        n++;
    }
    return status == GSA_END || status == GSA_INPUT ? GSA_OK : status;
}

/* Finds the columns of JSON lines: they are the keys of the block or, where a schema is known, its names and those of
 * options. Rows that come later do not matter then. */
static gsa_status see_keys(gsai_tabular *table, gsai_first_rows *first, gsa_error *error)
{
    const gsai_schema *schema = table->input->schema;
    const char *lists[] = {table->input->options->ignore, table->input->options->keep};
    gsai_words *keys = &table->keys;
    gsai_record record;
    gsa_status status = GSA_OK;
    bool has_room = true, is_known = schema->text != NULL;
    gsai_words_free(keys);
    for (size_t i = 0; is_known && i < schema->n_fields && has_room; i++)
        has_room = gsai_words_add(keys, schema->field[i].name, schema->field[i].name_size);
    for (size_t i = 0, size; is_known && i < sizeof lists / sizeof *lists; i++)
        for (const char *item; has_room && (item = gsai_next_item(&lists[i], &size));)
            has_room = size == 0 || gsai_words_find(keys, item, size) >= 0 || gsai_words_add(keys, item, size);
    table->records.keys = keys;
    table->records.collects = true;
    hold(table);
    size_t n_good = is_known;
    while (!is_known && (status == GSA_OK || (status == GSA_INPUT && n_good > 0)) &&
           n_good < gsai_first_rows_max(keys->n_words > 0 ? keys->n_words : 1, is_short(table))) {
        status = gsai_records_next(&table->records, &record, error);
        n_good += status == GSA_OK;
    }
    table->records.collects = false;
    hold(table);
    if (n_good == 0 || (status != GSA_OK && status != GSA_END && status != GSA_INPUT))
        return status;
    first->column = gsai_alloc_zeroed(table->env, keys->n_words, sizeof *first->column);
    has_room = has_room && first->column;
    for (size_t i = 0; i < keys->n_words && has_room; i++)
        has_room = add_column(table, first, keys->word[i], strlen(keys->word[i]));
    GSAI_TRY_MEMORY(has_room, table->env, error, "no memory for the columns");
    first->has_header = true;
    gsai_first_rows_find_weight(first, table->input->options, true);
    return GSA_OK;
}

/* Drops columns at the end that have neither a name nor a value, unless a known schema has them: rows that end with a
 * separator, as spreadsheets write them. */
static void drop_empty(const gsai_tabular *table, gsai_first_rows *first)
{
    const gsai_schema *schema = table->input->schema;
    bool is_header = false; /* with names of the schema; else columns are known by their positions */
    for (size_t i = 0; i < first->n_columns && schema->text && schema->is_named; i++)
        is_header =
            is_header || gsai_schema_find(schema, first->column[i].first, first->column[i].first_size) != SIZE_MAX;
    while (first->n_columns > 1 && (!schema->text || is_header || first->n_columns > schema->n_fields)) {
        gsai_seen_column *last = &first->column[first->n_columns - 1];
        char number[GSAI_NUMBER_TEXT];
        size_t size = gsai_number_text((double)first->n_columns, number);
        if (last->first_size > 0 || last->has_text ||
            (schema->text && gsai_schema_find(schema, number, size) != SIZE_MAX))
            return;
        gsai_free(table->env, last->first);
        first->n_columns--;
    }
}

/* Reads the rows that decide; an empty file is GSA_END. */
static gsa_status see_block(gsai_tabular *table, gsai_first_rows *out, gsa_error *error)
{
    const gsai_format_input *input = table->input;
    gsai_record record;
    bool has_keys = gsai_json_matches(input->stream->start, input->stream->start_size);
    gsa_status status = has_keys ? see_keys(table, out, error) : find_separator(table, error);
    size_t max = has_keys ? gsai_first_rows_max(out->n_columns, is_short(table)) : GSAI_DECIDING_ROWS;
    size_t n_cells = 0, n_others = 0; /* records with n_cells cells, not as many as the first has */
    for (size_t i = has_keys; out->n_rows < max && (status == GSA_OK || (status == GSA_INPUT && i > 1)); i++) {
        table->records.lines.hurried = i > 0 && input->schema_is_fixed; /* the first record tells the columns */
        status = gsai_records_next(&table->records, &record, error);
        if (status == GSA_OK && i == 0) {
            status = see_first(table, &record, out, error);
            max = gsai_first_rows_max(out->n_columns, is_short(table));
        } else if (status == GSA_OK) {
            size_t n = gsai_record_cells(&record, out->n_columns);
            if (n == out->n_columns) {
                see(table, &record, out, false);
                out->n_rows++;
            } else {
                n_others = n == n_cells ? n_others + 1 : 1;
                n_cells = n;
            }
        }
    }
    if (status == GSA_INPUT && out->n_columns == 0) { /* what the columns are cannot be told without the first record */
        if (error)
            error->status = GSA_FORMAT;
        return GSA_FORMAT;
    }
    out->is_all = status == GSA_END && table->records.lines.ended;
    bool had_some = out->n_columns > 0 && (status == GSA_END || status == GSA_INPUT);
    if (status == GSA_END && !had_some && !table->records.lines.ended)
        return gsai_fail(error, GSA_LIMIT, "%s: the first line is longer than %s: is this a table?", input->name,
                         is_short(table) ? "4 MiB" : "32 MiB");
    if (!had_some && status != GSA_OK)
        return status;
    if (n_others >= 2 && n_others > out->n_rows && n_cells > out->n_columns)
        return gsai_fail(error, GSA_ARGUMENT,
                         "%s: the first line has %zu cell%s, and the others have %zu: remove lines before the header, "
                         "and name every column in it",
                         input->name, out->n_columns, out->n_columns == 1 ? "" : "s", n_cells);
    if (!has_keys)
        drop_empty(table, out);
    const gsai_lines *lines = &table->records.lines;
    if (lines->end >= 2 && (memcmp(lines->buffer, "\xFF\xFE", 2) == 0 || memcmp(lines->buffer, "\xFE\xFF", 2) == 0 ||
                            lines->buffer[1] == '\0'))
        return gsai_fail(error, GSA_FORMAT, "%s is UTF-16 text; save it as UTF-8", input->name);
    return GSA_OK;
}

/* ---- the format ------------------------------------------------------------------------------------------------- */

static void close_table(void *memory)
{
    gsai_tabular *table = memory;
    gsai_tabular_forget(table);
    gsai_records_free(&table->records);
    gsai_words_free(&table->keys);
    gsai_os_c_locale_free(table->locale);
    gsai_free(table->env, table);
}

static gsa_status open_table(void *memory, size_t buffer_size, gsa_error *error)
{
    gsai_tabular *table = memory;
    table->keys = (gsai_words){.env = table->env};
    GSA_TRY(gsai_records_init(&table->records, buffer_size, table->env, error));
    table->locale = gsai_os_c_locale();
    GSAI_TRY_MEMORY(table->locale, table->env, error, "no memory for a reader of tables");
    return GSA_OK;
}

static void begin_table(void *memory, gsai_format_input *input)
{
    gsai_tabular *table = memory;
    table->input = input;
    table->is_prepared = false;
    table->records.keys = NULL;
    gsai_records_begin(&table->records, input->stream);
}

/* Looks at the first block of the file; the next record is then its first row. An empty file is GSA_END. */
static gsa_status prepare_table(void *memory, gsa_error *error)
{
    gsai_tabular *table = memory;
    gsai_first_rows first = {.again = see_again};
    gsai_record header;
    if (table->is_prepared)
        return GSA_OK;
    gsa_status status = see_block(table, &first, error);
    if (status == GSA_OK)
        status = gsai_tabular_settle(table, &first, error);
    gsai_records_back(&table->records, 0);
    table->records.lines.hurried = false;
    if (status == GSA_OK && first.has_header && !table->records.keys)
        status = gsai_records_next(&table->records, &header, error);
    if (status == GSA_OK && table->input->file == 0)
        table->input->header_lines = table->records.line;
    table->is_prepared = status == GSA_OK;
    gsai_first_rows_free(&first, table->env);
    return status;
}

static gsa_status read_table(void *memory, gsai_rows *rows, gsa_error *error)
{
    gsai_tabular *table = memory;
    gsa_status status = prepare_table(table, error);
    while (status == GSA_OK && !gsai_rows_full(rows)) {
        gsai_record record;
        table->records.lines.hurried = rows->n_rows > 0; /* an answer to these may be waited for */
        status = gsai_records_next(&table->records, &record, error);
        table->input->n_recoded += table->records.n_recoded;
        table->records.n_recoded = 0;
        if (status == GSA_END && !table->records.lines.ended)
            return GSA_OK;
        if (status == GSA_OK)
            status = gsai_tabular_row(table, &record, rows, error);
        status = gsai_format_settle(table->input, rows, status, error);
    }
    return status;
}

static gsa_status give_table(void *memory, void *to_memory, gsa_error *error)
{
    gsai_tabular *table = memory, *to = to_memory;
    if (!to->is_prepared)
        GSA_TRY(gsai_tabular_plan_same(to, table, error));
    to->is_prepared = true;
    return gsai_records_give(&table->records, &to->records, error);
}

static uint64_t *lines_of_table(void *memory)
{
    return &((gsai_tabular *)memory)->records.line;
}

const gsai_format gsai_format_table = {.title = "a table",
                                       .size = sizeof(gsai_tabular),
                                       .open = open_table,
                                       .begin = begin_table,
                                       .read = read_table,
                                       .close = close_table,
                                       .prepare = prepare_table,
                                       .give = give_table,
                                       .lines = lines_of_table};
