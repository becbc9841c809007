/* Arrow streams as a format of the reader: the schema, what the columns mean, and the rows of one batch after the
 * other, with their label, weight and features from columns or from lists. */
#include "base/error.h"
#include "base/memory.h"
#include "data/format/arrow_column.h"
#include "data/format/input_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct arrow_reader {
    gsai_tabular table; /* the meaning of the columns; a cell of its plan is the number of a column here */
    struct ArrowArrayStream stream;
    gsa_arrow_again again; /* open is NULL: the stream cannot be reopened */
    bool is_begun;         /* rows were asked for: a rewind needs another stream */
    bool is_over;          /* the stream is to be replaced before more are read */
    struct ArrowSchema schema;
    struct ArrowArray batch; /* without rows before the first */
    struct ArrowArray *held; /* batches that were looked at to decide the schema */
    size_t n_held, at_held, held_capacity;
    gsai_arrow_column *column;
    size_t n_columns;
    gsai_schema dropped; /* rows with lists have no schema, and how their labels are read stays here */
    size_t ids, values;  /* the lists that have the features in them; SIZE_MAX: none */
    size_t width;        /* of values without ids, which are dense rows; 0: not known yet */
    int64_t at;          /* the row of the batch that is next */
    int64_t block, end;  /* the rows of it whose plain cells are read: [block, end) */
    uint64_t n_rows;     /* taken from the stream, good or bad */
} arrow_reader;

static void release_batch(arrow_reader *arrow)
{
    if (arrow->batch.release)
        arrow->batch.release(&arrow->batch);
    arrow->batch = (struct ArrowArray){0};
    arrow->at = 0;
    arrow->end = 0;
}

static void release_stream(arrow_reader *arrow)
{
    release_batch(arrow);
    while (arrow->at_held < arrow->n_held) {
        arrow->batch = arrow->held[arrow->at_held++];
        release_batch(arrow);
    }
    if (arrow->schema.release)
        arrow->schema.release(&arrow->schema);
    arrow->schema = (struct ArrowSchema){0};
    if (arrow->stream.release)
        arrow->stream.release(&arrow->stream);
    arrow->stream = (struct ArrowArrayStream){0};
}

static void close_arrow(void *memory)
{
    arrow_reader *arrow = memory;
    const gsai_env *env = arrow->table.env;
    release_stream(arrow);
    if (arrow->again.release)
        arrow->again.release(arrow->again.ctx);
    gsai_tabular_forget(&arrow->table);
    gsai_schema_free(&arrow->dropped);
    gsai_os_c_locale_free(arrow->table.locale);
    gsai_free(env, arrow->column);
    gsai_free(env, arrow->held);
    gsai_free(env, arrow);
}

void gsai_arrow_refuse(struct ArrowArrayStream *stream, const gsa_arrow_again *again)
{
    if (stream->release)
        stream->release(stream);
    if (again && again->release)
        again->release(again->ctx);
}

gsa_status gsai_arrow_open(struct ArrowArrayStream *stream, const gsa_arrow_again *again, const gsai_env *env,
                           void **out, gsa_error *error)
{
    arrow_reader *arrow = stream->release ? gsai_alloc_zeroed(env, 1, sizeof *arrow) : NULL;
    if (!arrow) {
        bool is_used = !stream->release;
        gsai_arrow_refuse(stream, again);
        return is_used ? gsai_fail(error, GSA_ARGUMENT, "the Arrow stream was released already: a stream is read once")
                       : gsai_fail_memory(env, error, "no memory for a reader of Arrow streams");
    }
    arrow->stream = *stream;
    stream->release = NULL; /* moved, as the interface has it */
    if (again)
        arrow->again = *again;
    arrow->table.env = env;
    gsai_schema_init(&arrow->dropped, env);
    arrow->table.locale = gsai_os_c_locale();
    if (!arrow->table.locale) {
        close_arrow(arrow);
        return gsai_fail_memory(env, error, "no memory for a reader of Arrow streams");
    }
    *out = arrow;
    return GSA_OK;
}

static void begin_arrow(void *memory, gsai_format_input *input)
{
    arrow_reader *arrow = memory;
    arrow->table.input = input;
    arrow->is_over = arrow->is_begun;
}

/* Fails with a message about a column. */
static gsa_status fail_column(const arrow_reader *arrow, size_t column, gsa_status status, const char *what,
                              gsa_error *error)
{
    const char *name = arrow->column[column].name;
    char quote[GSAI_QUOTE_SIZE];
    return gsai_fail(error, status, "the Arrow stream: column '%s': %s", gsai_quote(name, strlen(name), quote), what);
}

/* "the Arrow stream, row 7: column 'age' holds 'x': ..." */
static gsa_status fail_cell(const arrow_reader *arrow, size_t number, const gsai_arrow_cell *cell, const char *expected,
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

/* ---- the schema ------------------------------------------------------------------------------------------------- */

static gsa_status fail_stream(arrow_reader *arrow, int code, gsa_error *error)
{
    const char *said = arrow->stream.get_last_error(&arrow->stream);
    return gsai_fail(error, GSA_IO, "the Arrow stream failed (code %d): %s", code, said ? said : "it does not say why");
}

static gsa_status get_schema(arrow_reader *arrow, gsa_error *error)
{
    struct ArrowSchema *schema = &arrow->schema;
    int code = arrow->stream.get_schema(&arrow->stream, schema);
    if (code != 0) {
        schema->release = NULL;
        return fail_stream(arrow, code, error);
    }
    return strcmp(schema->format, "+s") == 0 && schema->n_children > 0
               ? GSA_OK
               : gsai_fail(error, GSA_FORMAT, "the Arrow stream has no columns: expected record batches");
}

static gsa_status read_schema(arrow_reader *arrow, gsai_first_rows *first, gsa_error *error)
{
    const struct ArrowSchema *schema = &arrow->schema;
    gsai_free(arrow->table.env, arrow->column); /* of a call that was stopped */
    arrow->column = NULL;
    if (!schema->release)
        GSA_TRY(get_schema(arrow, error));
    arrow->n_columns = (size_t)schema->n_children;
    arrow->column = gsai_alloc_zeroed(arrow->table.env, arrow->n_columns, sizeof *arrow->column);
    first->column = gsai_alloc_zeroed(arrow->table.env, arrow->n_columns, sizeof *first->column);
    bool has_room = arrow->column && first->column;
    for (size_t i = 0; i < arrow->n_columns && has_room; i++) {
        gsai_seen_column *seen = &first->column[first->n_columns++];
        gsai_arrow_column_init(&arrow->column[i], schema->children[i]);
        seen->first = gsai_copy_text(arrow->table.env, arrow->column[i].name);
        seen->is_text = !arrow->column[i].list && gsai_arrow_is_text(arrow->column[i].type);
        seen->is_category = seen->is_text && arrow->column[i].is_category;
        seen->is_date = !arrow->column[i].list && gsai_arrow_is_date(arrow->column[i].type);
        has_room = seen->first != NULL;
        seen->first_size = has_room ? strlen(seen->first) : 0;
    }
    first->has_header = true;
    gsai_first_rows_find_weight(first, arrow->table.input->options, true);
    return has_room ? GSA_OK : gsai_fail_memory(arrow->table.env, error, "no memory for %zu columns", arrow->n_columns);
}

/* The list of this name among the features; else the only one that can be it and does not have the other's name. */
static size_t find_list(const arrow_reader *arrow, const char *name, const char *other, bool has_ids)
{
    size_t found = SIZE_MAX, n = 0;
    for (size_t i = 0; i < arrow->table.n_columns; i++) {
        size_t number = arrow->table.column[i].cell;
        const gsai_arrow_column *column = &arrow->column[number];
        bool can_be = column->list && column->type && number != arrow->ids;
        if (!can_be || (has_ids && (column->list == 'w' || !gsai_arrow_is_integer(column->type))))
            continue;
        if (strcmp(column->name, name) == 0)
            return number;
        if (strcmp(column->name, other) == 0)
            continue;
        found = number;
        n++;
    }
    return n == 1 ? found : SIZE_MAX;
}

static void find_lists(arrow_reader *arrow)
{
    arrow->ids = arrow->values = SIZE_MAX;
    arrow->ids = find_list(arrow, "indices", "values", true);
    arrow->values = find_list(arrow, "values", "indices", false);
    const gsai_arrow_column *values = arrow->values != SIZE_MAX ? &arrow->column[arrow->values] : NULL;
    bool stands_alone = arrow->ids == SIZE_MAX;
    if (!values || (stands_alone ? values->list != 'w' && !strchr("efg", values->type) : values->list == 'w'))
        arrow->ids = arrow->values = SIZE_MAX;
}

/* Why a column cannot be what the schema says of it, or NULL. */
static const char *object_to(const arrow_reader *arrow, size_t number, gsai_field_kind kind)
{
    const gsai_arrow_column *column = &arrow->column[number];
    bool is_text = kind == GSAI_FIELD_CATEGORICAL || kind == GSAI_FIELD_TEXT || kind == GSAI_FIELD_PER;
    bool is_feature = kind == GSAI_FIELD_NUMBER || is_text || kind == GSAI_FIELD_DATE || kind == GSAI_FIELD_OFFSET;
    bool has_lists = arrow->values != SIZE_MAX, is_features = number == arrow->ids || number == arrow->values;
    if (column->list && !(is_feature && is_features))
        return "cannot tell which lists are the features: expected a list of integers and a list of numbers, named "
               "indices and values if there are more, or one list of floats; ignore other lists";
    if (column->list && (is_text || arrow->table.n_crosses > 0 || arrow->table.input->schema_is_fixed))
        return "a list contains features, which can be neither categorical nor crossed nor used with a model of "
               "columns";
    if (is_feature && has_lists && !is_features)
        return "rows have their features in lists or in columns, not in both; ignore it";
    bool is_number = !gsai_arrow_is_text(column->type) && !gsai_arrow_is_date(column->type);
    if ((kind == GSAI_FIELD_WEIGHT || kind == GSAI_FIELD_EXPOSURE || kind == GSAI_FIELD_OFFSET) && !is_number)
        return kind == GSAI_FIELD_WEIGHT   ? "it holds no numbers, and a weight is one"
               : kind == GSAI_FIELD_OFFSET ? "it holds no numbers, and an offset is one"
                                           : "it holds no numbers, and an exposure is one";
    if (kind == GSAI_FIELD_DATE && !gsai_arrow_is_text(column->type) && !gsai_arrow_is_date(column->type))
        return "it holds no dates, and the model was trained with dates in it";
    if ((kind == GSAI_FIELD_NUMBER || is_text || kind == GSAI_FIELD_LABEL) && gsai_arrow_is_date(column->type))
        return kind == GSAI_FIELD_LABEL ? "it holds dates, and a label is a number or a word: cast it"
                                        : "it holds dates, and neither numbers nor words: cast it, or ignore it";
    return NULL;
}

static gsa_status use_column(arrow_reader *arrow, size_t number, gsai_field_kind kind, gsa_error *error)
{
    if (number == SIZE_MAX)
        return GSA_OK;
    char text[160];
    const char *objection = text;
    if (!arrow->column[number].type)
        snprintf(text, sizeof text, "the type %s (%s) is not supported: cast the column, or ignore it",
                 gsai_arrow_type_name(arrow->column[number].schema), arrow->column[number].schema->format);
    else
        objection = object_to(arrow, number, kind);
    arrow->column[number].is_used = true;
    if (!objection)
        return GSA_OK;
    return gsai_fail_about(error, strstr(objection, "ignore") ? "ignore" : "",
                           fail_column(arrow, number, GSA_ARGUMENT, objection, error));
}

static gsa_status use_columns(arrow_reader *arrow, gsa_error *error)
{
    const gsai_tabular *table = &arrow->table;
    GSA_TRY(use_column(arrow, table->label, GSAI_FIELD_LABEL, error));
    GSA_TRY(use_column(arrow, table->weight, GSAI_FIELD_WEIGHT, error));
    GSA_TRY(use_column(arrow, table->exposure, GSAI_FIELD_EXPOSURE, error));
    GSA_TRY(use_column(arrow, table->group, GSAI_FIELD_GROUP, error));
    for (size_t i = 0; i < table->n_columns; i++)
        GSA_TRY(use_column(arrow, table->column[i].cell, table->column[i].field->kind, error));
    for (size_t i = 0; i < table->n_kept; i++)
        GSA_TRY(use_column(arrow, table->kept[i], GSAI_FIELD_IGNORED, error));
    return GSA_OK;
}

/* ---- lists ------------------------------------------------------------------------------------------------------ */

#define PIECE 256 /* items that are read at a time */

/* The items of a row that are next: how many are left, where their ids and values are, and how many were before. */
typedef struct items {
    size_t n, n_before;
    int64_t id, value;
} items;

/* Finds the items of a row; returns how many ids it has. A dense row has no lists of ids: its positions are these. */
static size_t find_items(const arrow_reader *arrow, int64_t row, items *out)
{
    *out = (items){0};
    out->n = gsai_arrow_list(&arrow->column[arrow->values], row, &out->value);
    return arrow->ids == SIZE_MAX ? out->n : gsai_arrow_list(&arrow->column[arrow->ids], row, &out->id);
}

/* Reads a piece of items; returns its size, 0 after the last. */
static size_t take_piece(const arrow_reader *arrow, items *of, double id[PIECE], double value[PIECE])
{
    size_t n = of->n < PIECE ? of->n : PIECE;
    if (n > 0)
        gsai_arrow_items(&arrow->column[arrow->values], of->value, n, value);
    if (n > 0 && arrow->ids != SIZE_MAX)
        gsai_arrow_items(&arrow->column[arrow->ids], of->id, n, id);
    else
        for (size_t i = 0; i < n; i++)
            id[i] = (double)(of->n_before + i);
    *of = (items){of->n - n, of->n_before + n, of->id + (int64_t)n, of->value + (int64_t)n};
    return n;
}

/* ---- the rows that decide --------------------------------------------------------------------------------------- */

/* The next batch of the stream; GSA_END after the last. */
static gsa_status get_batch(arrow_reader *arrow, struct ArrowArray *out, gsa_error *error)
{
    const gsai_env *env = arrow->table.env;
    if (gsai_should_stop(env))
        return gsai_fail(error, GSA_STOPPED, "reading the Arrow stream was stopped on request");
    int code = arrow->stream.get_next(&arrow->stream, out);
    if (code != 0)
        *out = (struct ArrowArray){0};
    return code != 0 ? fail_stream(arrow, code, error) : out->release ? GSA_OK : GSA_END;
}

static void see_cell(arrow_reader *arrow, gsai_first_rows *first, size_t number, int64_t row, double weight, bool again)
{
    gsai_seen_column *seen = &first->column[number];
    gsai_arrow_cell cell = gsai_arrow_read(&arrow->column[number], row);
    gsai_arrow_text text = gsai_arrow_terminate(&cell);
    if (again && cell.kind == GSAI_CELL_WORD)
        gsai_first_rows_add_value(first, arrow->table.locale, number, text.text, text.size, weight);
    else if (!again && cell.kind == GSAI_CELL_WORD) {
        gsai_column_see(&seen->cells, arrow->table.locale, text.text, text.size, weight);
        gsai_stats_see_text(&seen->cells, cell.text, cell.size);
    } else if (again && cell.kind == GSAI_CELL_NUMBER && gsai_is_sentinel(&seen->decided.reading, cell.number))
        seen->cells.n_sentinels++;
    else if (cell.kind == GSAI_CELL_NUMBER)
        (again ? gsai_stats_add_value : gsai_stats_add_number)(&seen->cells, cell.number, weight);
    seen->cells.n_missing += !again && cell.kind == GSAI_CELL_ABSENT;
    seen->cells.has_time = seen->cells.has_time || cell.date.seconds > 0;
}

/* Adds up to `most` rows of a batch; columns that do not hold together are told of when they are used. */
static void see_batch(arrow_reader *arrow, gsai_first_rows *first, const struct ArrowArray *batch, size_t most,
                      bool again)
{
    int64_t n = (size_t)batch->length < most ? batch->length : (int64_t)most, end = batch->offset + n;
    for (size_t k = 0; k < arrow->n_columns; k++) {
        gsai_arrow_column *column = &arrow->column[k];
        gsai_arrow_column *weights = first->weight != SIZE_MAX ? &arrow->column[first->weight] : NULL;
        bool is_seen = !column->list && column->type &&
                       (!again || gsai_first_rows_is_again(first, &first->column[k])) &&
                       !gsai_arrow_column_take(column, batch->children[k], end);
        bool has_weights = is_seen && weights && weights->type && !weights->list &&
                           !gsai_arrow_column_take(weights, batch->children[first->weight], end);
        for (int64_t row = batch->offset; row < end && is_seen; row++) {
            double weight = has_weights ? gsai_arrow_read(weights, row).number : 1;
            see_cell(arrow, first, k, row, weight >= 0 && isfinite(weight) ? weight : 0, again);
        }
    }
}

static bool has_columns(const arrow_reader *arrow, const struct ArrowArray *batch)
{
    bool has_nulls = batch->n_buffers > 0 && batch->buffers && batch->buffers[0] && batch->null_count != 0;
    return batch->n_children == (int64_t)arrow->n_columns && batch->children && !has_nulls && batch->length >= 0 &&
           batch->offset >= 0 && batch->offset <= INT64_MAX - batch->length;
}

/* Holds batches until there are rows enough. */
static gsa_status see_rows(arrow_reader *arrow, gsai_first_rows *first, gsa_error *error)
{
    size_t most = gsai_first_rows_max(arrow->n_columns, false);
    gsa_status status = GSA_OK;
    for (size_t i = 0; first->n_rows < most && status == GSA_OK; i++) {
        GSAI_TRY_MEMORY(gsai_reserve(arrow->table.env, &arrow->held, &arrow->held_capacity, i + 1, sizeof *arrow->held),
                        arrow->table.env, error, "no memory for batches");
        struct ArrowArray *batch = &arrow->held[i];
        if (i == arrow->n_held && (status = get_batch(arrow, batch, error)) != GSA_OK)
            break;
        arrow->n_held += i == arrow->n_held;
        if (!has_columns(arrow, batch)) /* told of when it is its turn */
            break;
        size_t left = most - first->n_rows;
        see_batch(arrow, first, batch, left, false);
        first->n_rows += (size_t)batch->length < left ? (size_t)batch->length : left;
    }
    first->is_all = status == GSA_END;
    return status == GSA_END ? GSA_OK : status;
}

static gsa_status see_rows_again(gsai_tabular *table, gsai_first_rows *first, gsa_error *error)
{
    arrow_reader *arrow = (arrow_reader *)table; /* it begins with it */
    size_t left = first->n_rows;
    (void)error;
    for (size_t i = 0; i < arrow->n_held && left > 0; i++) {
        see_batch(arrow, first, &arrow->held[i], left, true);
        left -= (size_t)arrow->held[i].length < left ? (size_t)arrow->held[i].length : left;
    }
    return GSA_OK;
}

/* Tells of features in lists that are far from 0. They have no offsets, since rows may lack them and then have 0. */
static gsa_status tell_far(arrow_reader *arrow, size_t n_rows, gsa_error *error)
{
    enum { MOST = 65536 }; /* features */
    struct range {
        double low, high;
        size_t n;
    } *seen = gsai_alloc_zeroed(arrow->table.env, MOST, sizeof *seen);
    size_t n = 0, n_items = 0, first = 0, n_far = 0;
    bool is_sound = true;
    GSAI_TRY_MEMORY(seen, arrow->table.env, error, "no memory for what the lists hold");
    for (size_t b = 0; b < arrow->n_held && n < n_rows && is_sound; b++) {
        const struct ArrowArray *batch = &arrow->held[b];
        const int64_t end = batch->offset + batch->length;
        for (size_t i = 0; i < 2 && batch->length > 0; i++) {
            size_t list = i == 0 ? arrow->values : arrow->ids;
            is_sound = is_sound &&
                       (list == SIZE_MAX || !gsai_arrow_column_take(&arrow->column[list], batch->children[list], end));
        }
        for (int64_t row = batch->offset; row < end && n < n_rows && n_items < GSAI_DECIDING_CELLS && is_sound; row++) {
            double id[PIECE], value[PIECE];
            items of;
            size_t n_ids = find_items(arrow, row, &of);
            n_items += of.n;
            n++;
            of.n = of.n < n_ids ? of.n : n_ids;
            for (size_t part; (part = take_piece(arrow, &of, id, value)) > 0;)
                for (size_t i = 0; i < part; i++) {
                    double x = value[i];
                    if (!(id[i] >= 0 && id[i] < (double)MOST) || isnan(x))
                        continue;
                    struct range *to = &seen[(size_t)id[i]];
                    to->low = to->n == 0 || x < to->low ? x : to->low;
                    to->high = to->n++ == 0 || x > to->high ? x : to->high;
                }
        }
    }
    for (size_t i = MOST; i-- > 0 && n > 0;) {
        gsai_column_stats cells = {.low = seen[i].low, .high = seen[i].high, .has_value = seen[i].n == n};
        if (gsai_stats_offset(&cells) != 0) {
            first = i;
            n_far++;
        }
    }
    gsai_free(arrow->table.env, seen);
    char *text = arrow->table.input->description, more[40] = "";
    if (n_far > 1)
        snprintf(more, sizeof more, " and %zu more", n_far - 1);
    if (n_far > 0)
        snprintf(text + strlen(text), sizeof arrow->table.input->description - strlen(text),
                 "; values of feature %zu%s are so far from 0 that floats lose their digits: give columns instead of "
                 "lists (inputCols in Spark), which are measured from offsets",
                 first, more);
    return GSA_OK;
}

static gsa_status prepare_arrow(void *memory, gsa_error *error)
{
    arrow_reader *arrow = memory;
    gsai_first_rows first = {.again = see_rows_again};
    if (arrow->table.is_prepared)
        return GSA_OK;
    gsa_status status = read_schema(arrow, &first, error);
    if (status == GSA_OK && !arrow->table.input->schema->text)
        status = see_rows(arrow, &first, error);
    if (status == GSA_OK)
        status = gsai_tabular_settle(&arrow->table, &first, error);
    gsai_first_rows_free(&first, arrow->table.env);
    if (status == GSA_OK) {
        find_lists(arrow);
        status = use_columns(arrow, error);
    }
    if (status == GSA_OK && arrow->values != SIZE_MAX) {
        /* The schema is dropped: lists come with feature ids, so a model has no schema to keep. */
        gsai_format_input *input = arrow->table.input;
        char ids[GSAI_QUOTE_SIZE] = "", values[GSAI_QUOTE_SIZE];
        gsai_quote(arrow->column[arrow->values].name, strlen(arrow->column[arrow->values].name), values);
        if (arrow->ids != SIZE_MAX)
            gsai_quote(arrow->column[arrow->ids].name, strlen(arrow->column[arrow->ids].name), ids);
        snprintf(input->description, sizeof input->description, "%s: features are the list '%s'%s%s%s", input->name,
                 values, *ids ? " with the ids '" : "", ids, *ids ? "'" : "");
        gsai_schema_free(&arrow->dropped); /* of a call that was stopped */
        arrow->dropped = *input->schema;
        gsai_schema_init(input->schema, arrow->table.env);
        status = arrow->table.input->options->without_offsets ? GSA_OK : tell_far(arrow, first.n_rows, error);
    }
    arrow->table.is_prepared = status == GSA_OK;
    return status;
}

/* Another stream for another pass; its columns must be those of the first in type, number and order. */
static gsa_status open_again(arrow_reader *arrow, gsa_error *error)
{
    release_stream(arrow);
    int code = arrow->again.open(arrow->again.ctx, &arrow->stream);
    if (code != 0) {
        arrow->stream = (struct ArrowArrayStream){0};
        return gsai_fail(error, GSA_IO, "the Arrow stream cannot be opened again (code %d)", code);
    }
    gsa_status status = get_schema(arrow, error);
    bool same = status == GSA_OK && (size_t)arrow->schema.n_children == arrow->n_columns;
    for (size_t i = 0; i < arrow->n_columns && same; i++) {
        gsai_arrow_column before = arrow->column[i], *column = &arrow->column[i];
        gsai_arrow_column_init(column, arrow->schema.children[i]);
        column->is_used = before.is_used;
        same = column->type == before.type && column->index == before.index && column->list == before.list &&
               column->width == before.width;
    }
    arrow->is_over = status != GSA_OK || !same;
    arrow->n_rows = 0;
    return status != GSA_OK || same
               ? status
               : gsai_fail(error, GSA_CONFLICT, "the Arrow stream has other columns when it is opened again");
}

/* ---- label and weight ------------------------------------------------------------------------------------------- */

/* A number, or a word, as text would be taken for. */
static gsa_status take_label(arrow_reader *arrow, int64_t row, gsai_row_head *head, gsa_error *error)
{
    const gsai_tabular *table = &arrow->table;
    if (table->label == SIZE_MAX)
        return GSA_OK;
    const bool is_class = table->label_field->is_class;
    gsai_arrow_cell cell = gsai_arrow_read(&arrow->column[table->label], row);
    const char *objection = NULL;
    if (cell.kind == GSAI_CELL_NUMBER && is_class)
        gsai_arrow_make_word(&arrow->column[table->label], &cell);
    if (cell.kind == GSAI_CELL_NUMBER && !is_class) {
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
static gsa_status take_weight(const arrow_reader *arrow, size_t column, int64_t row,
                              const char *(*take)(gsai_row_head *, double), gsai_row_head *head, gsa_error *error)
{
    if (column == SIZE_MAX)
        return GSA_OK;
    gsai_arrow_cell cell = gsai_arrow_read(&arrow->column[column], row);
    const char *objection = take(head, cell.kind == GSAI_CELL_NUMBER ? cell.number : -1);
    return objection ? fail_cell(arrow, column, &cell, objection, error) : GSA_OK;
}

static gsa_status take_group(const arrow_reader *arrow, int64_t row, gsai_row_head *head, gsa_error *error)
{
    const gsai_tabular *table = &arrow->table;
    if (table->group == SIZE_MAX)
        return GSA_OK;
    gsai_arrow_column *column = &arrow->column[table->group];
    gsai_arrow_cell cell = gsai_arrow_read(column, row);
    bool is_time = gsai_field_is_time(table->group_field);
    if (is_time && cell.kind == GSAI_CELL_NUMBER && isfinite(cell.number)) {
        gsai_tabular_take_time(head, gsai_arrow_is_date(column->type) ? gsai_date_value(cell.date) : cell.number);
        return GSA_OK;
    }
    if (!is_time && cell.kind == GSAI_CELL_NUMBER)
        gsai_arrow_make_text(column, &cell);
    if (cell.kind == GSAI_CELL_ABSENT)
        cell.size = 0;
    const gsai_arrow_text copy = is_time ? gsai_arrow_terminate(&cell) : (gsai_arrow_text){0};
    const char *objection =
        gsai_tabular_take_group(table, is_time ? copy.text : cell.text, is_time ? copy.size : cell.size, head);
    return objection ? fail_cell(arrow, table->group, &cell, objection, error) : GSA_OK;
}

/* ---- columns ---------------------------------------------------------------------------------------------------- */

static inline const char *object_to_float(double number)
{
    float x = (float)number;
    if (isinf(number))
        return "values must be finite";
    return isinf(x) || (x == 0 && number != 0) ? GSAI_NO_FLOAT : NULL;
}

static gsa_status take_number(arrow_reader *arrow, size_t i, int64_t row, gsai_features *features, gsa_error *error)
{
    gsai_tabular *table = &arrow->table;
    const gsai_tabular_column *column = &table->column[i];
    gsai_arrow_cell cell = gsai_arrow_read(&arrow->column[column->cell], row);
    const char *objection = NULL;
    if (cell.kind == GSAI_CELL_WORD) { /* is read as a cell of text */
        const gsai_arrow_text copy = gsai_arrow_terminate(&cell);
        const gsai_text_cell text = {.text = copy.text, .size = copy.size};
        objection = column->kind->add(table, i, &text, features);
        if (objection == gsai_not_a_number)
            objection = "expected a number, as in the rows before";
    } else if (cell.kind == GSAI_CELL_ABSENT && column->kind == &gsai_kind_offset) {
        objection = GSAI_NO_OFFSET;
    } else if (cell.kind == GSAI_CELL_ABSENT) {
        gsai_tabular_add_missing(table, i, features);
    } else if (column->kind == &gsai_kind_date) {
        gsai_tabular_add_date(table, i, cell.date, features);
    } else {
        objection = gsai_tabular_add_double(table, i, cell.number, features);
    }
    return objection ? fail_cell(arrow, column->cell, &cell, objection, error) : GSA_OK;
}

/* Takes a category or a text. A number among words is the word that text would have for it. */
static gsa_status take_words(arrow_reader *arrow, size_t i, int64_t row, gsai_features *features, gsa_error *error)
{
    size_t number = arrow->table.column[i].cell;
    gsai_arrow_column *column = &arrow->column[number];
    gsai_arrow_cell cell = gsai_arrow_read(column, row);
    if (cell.kind == GSAI_CELL_NUMBER) {
        if (isinf(cell.number))
            return fail_cell(arrow, number, &cell, "values must be finite", error);
        gsai_arrow_make_word(column, &cell);
    }
    const gsai_text_cell text = {.text = cell.text, .size = cell.size};
    if (cell.kind != GSAI_CELL_ABSENT)
        (void)arrow->table.column[i].kind->add(&arrow->table, i, &text, features);
    return GSA_OK;
}

static void read_numbers(gsai_arrow_column *column, const gsai_field *field, int64_t row, size_t n)
{
    double number[GSAI_ARROW_BLOCK];
    gsai_arrow_items(column, row, n, number);
    for (size_t i = 0; i < n; i++) {
        const float x = (float)(number[i] - field->offset);
        const bool is_missing = field->reading && gsai_is_sentinel(field->reading, number[i]);
        const bool is_odd = x == 0 && number[i] != 0 && field->offset == 0;
        column->block.value[i] = is_missing ? (float)NAN : is_odd ? (float)INFINITY : x;
    }
}

/* Reads what is plain of the rows from this one on, column by column. */
static void read_block(arrow_reader *arrow, int64_t row)
{
    const gsai_tabular *table = &arrow->table;
    const int64_t left = arrow->batch.offset + arrow->batch.length - row;
    const size_t n = left < GSAI_ARROW_BLOCK ? (size_t)left : GSAI_ARROW_BLOCK;
    arrow->block = row;
    arrow->end = row + (int64_t)n;
    for (size_t i = 0; i < table->n_columns; i++) {
        gsai_arrow_column *column = &arrow->column[table->column[i].cell];
        bool is_text = gsai_arrow_is_text(column->type), is_number = table->column[i].kind == &gsai_kind_number;
        bool is_word = table->column[i].kind->see && !table->column[i].kind->has_number;
        column->has_block = is_number ? !is_text && !column->index : is_word && is_text && !table->term;
        if (column->has_block && is_number)
            read_numbers(column, table->column[i].field, row, n);
        else if (column->has_block)
            gsai_arrow_words(column, &table->column[i].key, row, n);
        for (size_t k = 0; k < n && column->has_block && !is_number; k++)
            gsai_feature_names_expect(table->input->names, (uint32_t)(column->block.word[k].hash & table->id_mask));
    }
}

static gsa_status take_columns(arrow_reader *arrow, int64_t row, gsai_features *features, gsa_error *error)
{
    gsai_tabular *table = &arrow->table;
    gsa_status status = GSA_OK;
    if (row >= arrow->end)
        read_block(arrow, row);
    const size_t at = (size_t)(row - arrow->block);
    for (size_t i = 0; i < table->n_numbers && status == GSA_OK; i++) {
        const gsai_arrow_column *column = &arrow->column[table->column[i].cell];
        float x = column->has_block ? column->block.value[at] : (float)INFINITY;
        if (isinf(x))
            status = take_number(arrow, i, row, features, error);
        else if (isnan(x))
            gsai_tabular_add_missing(table, i, features);
        else
            gsai_tabular_add_number(table, i, x, features);
    }
    gsai_tabular_add_gaps(table, features);
    for (size_t i = table->n_numbers; i < table->n_columns && status == GSA_OK; i++) {
        const gsai_arrow_column *column = &arrow->column[table->column[i].cell];
        const gsai_arrow_word *word = &column->block.word[at];
        if (!column->has_block)
            status = take_words(arrow, i, row, features, error);
        else if (word->text)
            gsai_tabular_add_word(table, i, word->text, word->size, word->hash, features);
    }
    size_t bad;
    const char *objection = gsai_tabular_complete(table, features, &bad);
    if (status != GSA_OK || !objection)
        return status;
    if (bad == SIZE_MAX)
        return gsai_fail(error, GSA_INPUT, "the Arrow stream, row %" PRIu64 ": %s", arrow->n_rows, objection);
    gsai_arrow_cell cell = gsai_arrow_read(&arrow->column[table->column[bad].cell], row);
    return fail_cell(arrow, table->column[bad].cell, &cell, objection, error);
}

/* ---- a row ------------------------------------------------------------------------------------------------------ */

static gsa_status fail_item(const arrow_reader *arrow, size_t column, double number, const char *expected,
                            gsa_error *error)
{
    const gsai_arrow_cell cell = {.kind = isnan(number) ? GSAI_CELL_ABSENT : GSAI_CELL_NUMBER, .number = number};
    return fail_cell(arrow, column, &cell, expected, error);
}

/* Takes the items of a row as features or, if `dense` is given, as the values of a dense row; what is absent is 0. */
static gsa_status take_items(const arrow_reader *arrow, items of, gsai_features *features, float *dense,
                             gsa_error *error)
{
    double id[PIECE], value[PIECE];
    bool ascends = true;
    if (dense && gsai_arrow_floats(&arrow->column[arrow->values], of.value, of.n, dense))
        return GSA_OK;
    for (size_t n; (n = take_piece(arrow, &of, id, value)) > 0;)
        for (size_t i = 0; i < n; i++) {
            if (!(id[i] >= 0 && id[i] <= GSA_MAX_ID))
                return fail_item(arrow, arrow->ids, id[i], "feature ids are from 0 to 4294967293", error);
            float x = isnan(value[i]) ? 0 : (float)value[i];
            const char *objection = isnan(value[i]) ? NULL : object_to_float(value[i]);
            if (objection)
                return fail_item(arrow, arrow->values, value[i], objection, error);
            if (dense) {
                *dense++ = x;
                continue;
            }
            ascends = ascends && (features->n == 0 || features->index[features->n - 1] < (uint32_t)id[i]);
            gsai_features_add(features, (uint32_t)id[i], x);
        }
    return dense || ascends || gsai_features_finish(features)
               ? GSA_OK
               : gsai_fail(error, GSA_INPUT, "the Arrow stream, row %" PRIu64 ": values of one id have no finite sum",
                           arrow->n_rows);
}

/* Takes the values of a dense row; a null list is a row of zeros. */
static gsa_status take_dense(const arrow_reader *arrow, const items *of, float *out, gsa_error *error)
{
    if (of->n == 0) {
        memset(out, 0, arrow->width * sizeof *out);
        return GSA_OK;
    }
    if (of->n == arrow->width)
        return take_items(arrow, *of, NULL, out, error);
    return gsai_fail(error, GSA_INPUT,
                     "the Arrow stream, row %" PRIu64
                     ": a list of %zu values, and the first has %zu: expected the same number",
                     arrow->n_rows, of->n, arrow->width);
}

/* Takes the next row of the batch. */
static gsa_status take_row(arrow_reader *arrow, gsai_rows *rows, gsa_error *error)
{
    const gsai_tabular *table = &arrow->table;
    int64_t row = arrow->batch.offset + arrow->at++;
    bool has_lists = arrow->values != SIZE_MAX, is_dense = has_lists && arrow->ids == SIZE_MAX;
    gsai_row_head head = {.weight = 1};
    gsai_features features;
    items of = {.n = table->max_entries};
    arrow->n_rows++;
    gsai_rows_begin_texts(rows);
    for (size_t i = 0; i < table->n_kept && rows->keeps; i++) {
        gsai_arrow_column *column = &arrow->column[table->kept[i]];
        gsai_arrow_cell cell = gsai_arrow_read(column, row);
        if (cell.kind == GSAI_CELL_NUMBER)
            gsai_arrow_make_text(column, &cell);
        GSA_TRY(gsai_tabular_keep_text(rows, cell.text, cell.kind == GSAI_CELL_ABSENT ? 0 : cell.size, error));
    }
    size_t n_ids = has_lists ? find_items(arrow, row, &of) : of.n;
    if (n_ids != of.n)
        return gsai_fail(error, GSA_INPUT,
                         "the Arrow stream, row %" PRIu64 ": %zu ids and %zu values: expected the same number",
                         arrow->n_rows, n_ids, of.n);
    if (is_dense) { /* all rows are as long as the first, or as the type says */
        const gsai_arrow_column *column = &arrow->column[arrow->values];
        if (arrow->width == 0)
            arrow->width = column->list == 'w' ? (size_t)column->width : of.n;
        if (arrow->width > (size_t)GSA_MAX_ID)
            return fail_column(arrow, arrow->values, GSA_LIMIT, "lists have more values than there are features",
                               error);
        if (arrow->width == 0)
            return fail_column(arrow, arrow->values, GSA_ARGUMENT, "the list of the first row is empty", error);
        GSA_TRY(gsai_rows_reserve_dense(rows, 1, arrow->width, error));
    }
    GSA_TRY(take_label(arrow, row, &head, error));
    if (head.is_missing)
        return GSA_OK;
    GSA_TRY(take_weight(arrow, table->weight, row, gsai_tabular_weigh, &head, error));
    GSA_TRY(take_weight(arrow, table->exposure, row, gsai_tabular_expose, &head, error));
    GSA_TRY(take_group(arrow, row, &head, error));
    if (is_dense) {
        features = (gsai_features){.n = arrow->width};
        GSA_TRY(take_dense(arrow, &of, rows->value + rows->n_values, error));
    } else {
        for (size_t i = table->n_numbers; i < table->n_columns && table->has_many; i++)
            if (table->column[i].kind->has_many)
                of.n += GSAI_ARROW_TEXT + gsai_arrow_read(&arrow->column[table->column[i].cell], row).size;
        GSA_TRY(gsai_tabular_begin_row(&arrow->table, of.n, rows, &features, error));
        GSA_TRY(has_lists ? take_items(arrow, of, &features, NULL, error) : take_columns(arrow, row, &features, error));
    }
    gsa_place place = {arrow->n_rows, UINT64_MAX, table->input->file};
    return gsai_tabular_end_row(table, rows, &features, &head, place, error);
}

/* ---- batches ---------------------------------------------------------------------------------------------------- */

/* Goes to the next batch, whose columns in use are checked. */
static gsa_status take_batch(arrow_reader *arrow, gsa_error *error)
{
    const struct ArrowArray *batch = &arrow->batch;
    release_batch(arrow);
    if (arrow->at_held < arrow->n_held)
        arrow->batch = arrow->held[arrow->at_held++];
    else
        GSA_TRY(get_batch(arrow, &arrow->batch, error));
    if (!has_columns(arrow, batch))
        return gsai_fail(error, GSA_FORMAT, "the Arrow stream: a batch does not have the columns of the schema");
    for (size_t i = 0; i < arrow->n_columns; i++) {
        gsai_arrow_column *column = &arrow->column[i];
        if (!column->is_used || batch->length == 0)
            continue;
        const char *objection = gsai_arrow_column_take(column, batch->children[i], batch->offset + batch->length);
        if (objection)
            return fail_column(arrow, i, GSA_FORMAT, objection, error);
    }
    return GSA_OK;
}

static gsa_status next_batch(arrow_reader *arrow, gsa_error *error)
{
    gsa_status status = take_batch(arrow, error);
    if (status != GSA_OK)
        release_batch(arrow);
    return status;
}

static gsa_status read_arrow(void *memory, gsai_rows *rows, gsa_error *error)
{
    arrow_reader *arrow = memory;
    gsa_status status = prepare_arrow(arrow, error);
    if (status == GSA_OK && arrow->is_over)
        status = open_again(arrow, error);
    arrow->is_begun = true;
    while (status == GSA_OK && !gsai_rows_full(rows)) {
        status = arrow->at < arrow->batch.length ? take_row(arrow, rows, error) : next_batch(arrow, error);
        status = gsai_format_settle(arrow->table.input, rows, status, error);
    }
    return status;
}

const gsai_format gsai_format_arrow = {.title = "an Arrow stream",
                                       .begin = begin_arrow,
                                       .read = read_arrow,
                                       .close = close_arrow,
                                       .prepare = prepare_arrow};
