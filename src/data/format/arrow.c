/* Arrow streams as a format of the reader: the schema, what the columns mean, and the rows of one batch after the
 * other. */
#include "data/format/arrow.h"

#include "base/error.h"
#include "base/memory.h"
#include "data/format/arrow_rows.h"
#include "data/format/column_number.h"
#include "data/format/input_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

static void release_batch(gsai_arrow_reader *arrow)
{
    if (arrow->batch.release)
        arrow->batch.release(&arrow->batch);
    arrow->batch = (struct ArrowArray){0};
    arrow->at = 0;
}

static void release_stream(gsai_arrow_reader *arrow)
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
    gsai_arrow_reader *arrow = memory;
    const gsai_env *env = arrow->table.env;
    release_stream(arrow);
    if (arrow->again.release)
        arrow->again.release(arrow->again.ctx);
    gsai_tabular_forget(&arrow->table);
    gsai_number_locale_free(env, arrow->table.locale);
    for (size_t i = 0; i < arrow->n_columns && arrow->column; i++)
        gsai_free(env, arrow->column[i].hash);
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
    gsai_arrow_reader *arrow = stream->release ? gsai_alloc_zeroed(env, 1, sizeof *arrow) : NULL;
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
    arrow->table.locale = gsai_number_locale_new(env);
    if (!arrow->table.locale) {
        close_arrow(arrow);
        return gsai_fail_memory(env, error, "no memory for a reader of Arrow streams");
    }
    *out = arrow;
    return GSA_OK;
}

static void begin_arrow(void *memory, gsai_format_input *input)
{
    gsai_arrow_reader *arrow = memory;
    arrow->table.input = input;
    arrow->is_over = arrow->is_begun;
}

/* ---- the schema ------------------------------------------------------------------------------------------------- */

static gsa_status fail_stream(gsai_arrow_reader *arrow, int code, gsa_error *error)
{
    const char *said = arrow->stream.get_last_error(&arrow->stream);
    return gsai_fail(error, GSA_IO, "the Arrow stream failed (code %d): %s", code, said ? said : "it does not say why");
}

static gsa_status get_schema(gsai_arrow_reader *arrow, gsa_error *error)
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

static gsa_status read_schema(gsai_arrow_reader *arrow, gsai_first_rows *first, gsa_error *error)
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
static size_t find_list(const gsai_arrow_reader *arrow, const char *name, const char *other, bool has_ids)
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

static void find_lists(gsai_arrow_reader *arrow)
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
static const char *object_to(const gsai_arrow_reader *arrow, size_t number, gsai_field_kind kind)
{
    const gsai_arrow_column *column = &arrow->column[number];
    bool is_feature = kind == GSAI_FIELD_NUMBER || kind == GSAI_FIELD_CATEGORICAL || kind == GSAI_FIELD_DATE;
    bool has_lists = arrow->values != SIZE_MAX, is_features = number == arrow->ids || number == arrow->values;
    if (column->list && !(is_feature && is_features))
        return "cannot tell which lists are the features: expected a list of integers and a list of numbers, named "
               "indices and values if there are more, or one list of floats; ignore other lists";
    if (column->list &&
        (kind == GSAI_FIELD_CATEGORICAL || arrow->table.n_crosses > 0 || arrow->table.input->schema_is_fixed))
        return "a list contains features, which can be neither categorical nor crossed nor used with a model of "
               "columns";
    if (is_feature && has_lists && !is_features)
        return "rows have their features in lists or in columns, not in both; ignore it";
    bool is_number = !gsai_arrow_is_text(column->type) && !gsai_arrow_is_date(column->type);
    if ((kind == GSAI_FIELD_WEIGHT || kind == GSAI_FIELD_EXPOSURE) && !is_number)
        return kind == GSAI_FIELD_WEIGHT ? "it holds no numbers, and a weight is one"
                                         : "it holds no numbers, and an exposure is one";
    if (kind == GSAI_FIELD_DATE && !gsai_arrow_is_text(column->type) && !gsai_arrow_is_date(column->type))
        return "it holds no dates, and the model was trained with dates in it";
    if ((kind == GSAI_FIELD_NUMBER || kind == GSAI_FIELD_CATEGORICAL || kind == GSAI_FIELD_LABEL) &&
        gsai_arrow_is_date(column->type))
        return kind == GSAI_FIELD_LABEL ? "it holds dates, and a label is a number or a word: cast it"
                                        : "it holds dates, and neither numbers nor words: cast it, or ignore it";
    return NULL;
}

static gsa_status use_column(gsai_arrow_reader *arrow, size_t number, gsai_field_kind kind, gsa_error *error)
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
                           gsai_arrow_fail_column(arrow, number, GSA_ARGUMENT, objection, error));
}

static gsa_status use_columns(gsai_arrow_reader *arrow, gsa_error *error)
{
    const gsai_tabular *table = &arrow->table;
    GSA_TRY(use_column(arrow, table->label, GSAI_FIELD_LABEL, error));
    GSA_TRY(use_column(arrow, table->weight, GSAI_FIELD_WEIGHT, error));
    GSA_TRY(use_column(arrow, table->exposure, GSAI_FIELD_EXPOSURE, error));
    for (size_t i = 0; i < table->n_columns; i++)
        GSA_TRY(
            use_column(arrow, table->column[i].cell, table->input->schema->field[table->column[i].field].kind, error));
    for (size_t i = 0; i < table->n_kept; i++)
        GSA_TRY(use_column(arrow, table->kept[i], GSAI_FIELD_IGNORED, error));
    return GSA_OK;
}

/* Drops the schema: lists come with feature ids, so a model has no schema to keep. */
static void forget_schema(gsai_arrow_reader *arrow)
{
    gsai_format_input *input = arrow->table.input;
    char ids[GSAI_QUOTE_SIZE] = "", values[GSAI_QUOTE_SIZE];
    gsai_quote(arrow->column[arrow->values].name, strlen(arrow->column[arrow->values].name), values);
    if (arrow->ids != SIZE_MAX)
        gsai_quote(arrow->column[arrow->ids].name, strlen(arrow->column[arrow->ids].name), ids);
    snprintf(input->description, sizeof input->description, "%s: features are the list '%s'%s%s%s", input->name, values,
             *ids ? " with the ids '" : "", ids, *ids ? "'" : "");
    gsai_schema_free(input->schema);
}

/* ---- the rows that decide --------------------------------------------------------------------------------------- */

static gsa_status get_batch(gsai_arrow_reader *arrow, struct ArrowArray *out, gsa_error *error);

static void see_cell(gsai_arrow_reader *arrow, gsai_first_rows *first, size_t number, int64_t row, double weight,
                     bool again)
{
    gsai_seen_column *seen = &first->column[number];
    gsai_arrow_cell cell = gsai_arrow_read(&arrow->column[number], row);
    gsai_arrow_text text = gsai_arrow_terminate(&cell);
    if (again && cell.kind == GSAI_CELL_WORD)
        gsai_first_rows_add_value(first, arrow->table.locale, number, text.text, text.size, weight);
    else if (!again && cell.kind == GSAI_CELL_WORD)
        gsai_column_see(&seen->cells, arrow->table.locale, text.text, text.size, weight);
    else if (again && cell.kind == GSAI_CELL_NUMBER && gsai_is_sentinel(&seen->decided.reading, cell.number))
        seen->cells.n_sentinels++;
    else if (cell.kind == GSAI_CELL_NUMBER)
        (again ? gsai_stats_add_value : gsai_stats_add_number)(&seen->cells, cell.number, weight);
    seen->cells.n_missing += !again && cell.kind == GSAI_CELL_ABSENT;
    seen->cells.has_time = seen->cells.has_time || cell.date.seconds > 0;
}

/* Adds up to `most` rows of a batch; columns that do not hold together are told of when they are used. */
static void see_batch(gsai_arrow_reader *arrow, gsai_first_rows *first, const struct ArrowArray *batch, size_t most,
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

static bool has_columns(const gsai_arrow_reader *arrow, const struct ArrowArray *batch)
{
    bool has_nulls = batch->n_buffers > 0 && batch->buffers && batch->buffers[0] && batch->null_count != 0;
    return batch->n_children == (int64_t)arrow->n_columns && batch->children && !has_nulls && batch->length >= 0 &&
           batch->offset >= 0 && batch->offset <= INT64_MAX - batch->length;
}

/* Holds batches until there are rows enough. */
static gsa_status see_rows(gsai_arrow_reader *arrow, gsai_first_rows *first, gsa_error *error)
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
    gsai_arrow_reader *arrow = (gsai_arrow_reader *)table; /* it begins with it */
    size_t left = first->n_rows;
    (void)error;
    for (size_t i = 0; i < arrow->n_held && left > 0; i++) {
        see_batch(arrow, first, &arrow->held[i], left, true);
        left -= (size_t)arrow->held[i].length < left ? (size_t)arrow->held[i].length : left;
    }
    return GSA_OK;
}

/* Tells of features in lists that are far from 0. They have no offsets, since rows may lack them and then have 0. */
static gsa_status tell_far(gsai_arrow_reader *arrow, size_t n_rows, gsa_error *error)
{
    enum { MOST = 65536 }; /* features */
    struct range {
        double low, high;
        size_t n;
    } *seen = gsai_alloc_zeroed(arrow->table.env, MOST, sizeof *seen);
    gsai_arrow_column *values = &arrow->column[arrow->values];
    gsai_arrow_column *ids = arrow->ids == SIZE_MAX ? NULL : &arrow->column[arrow->ids];
    size_t n = 0, n_items = 0, first = 0, n_far = 0;
    bool is_sound = true;
    GSAI_TRY_MEMORY(seen, arrow->table.env, error, "no memory for what the lists hold");
    for (size_t b = 0; b < arrow->n_held && n < n_rows && is_sound; b++) {
        const struct ArrowArray *batch = &arrow->held[b];
        int64_t end = batch->offset + batch->length, at_id = 0, at = 0;
        if (batch->length == 0)
            continue;
        is_sound = !gsai_arrow_column_take(values, batch->children[arrow->values], end) &&
                   (!ids || !gsai_arrow_column_take(ids, batch->children[arrow->ids], end));
        for (int64_t row = batch->offset; row < end && n < n_rows && n_items < GSAI_DECIDING_CELLS && is_sound; row++) {
            size_t size = gsai_arrow_list(values, row, &at);
            size_t n_ids = ids ? gsai_arrow_list(ids, row, &at_id) : size;
            for (size_t from = 0; from < size && from < n_ids; from += GSAI_ARROW_PIECE) {
                double id[GSAI_ARROW_PIECE], value[GSAI_ARROW_PIECE];
                size_t left = (size < n_ids ? size : n_ids) - from,
                       part = left < GSAI_ARROW_PIECE ? left : GSAI_ARROW_PIECE;
                if (ids)
                    gsai_arrow_items(ids, at_id + (int64_t)from, part, id);
                gsai_arrow_items(values, at + (int64_t)from, part, value);
                for (size_t i = 0; i < part; i++) {
                    double feature = ids ? id[i] : (double)(from + i), x = value[i];
                    if (!(feature >= 0 && feature < MOST) || isnan(x))
                        continue;
                    struct range *of = &seen[(size_t)feature];
                    of->low = of->n == 0 || x < of->low ? x : of->low;
                    of->high = of->n++ == 0 || x > of->high ? x : of->high;
                }
            }
            n_items += size;
            n++;
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
    gsai_arrow_reader *arrow = memory;
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
        forget_schema(arrow);
        status = arrow->table.input->options->without_offsets ? GSA_OK : tell_far(arrow, first.n_rows, error);
    }
    arrow->table.is_prepared = status == GSA_OK;
    return status;
}

/* Another stream for another pass; its columns must be those of the first in type, number and order. */
static gsa_status open_again(gsai_arrow_reader *arrow, gsa_error *error)
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
        column->hash = before.hash;
        column->hash_capacity = before.hash_capacity;
        same = column->type == before.type && column->index == before.index && column->list == before.list &&
               column->width == before.width;
    }
    arrow->is_over = status != GSA_OK || !same;
    arrow->n_rows = 0;
    return status != GSA_OK || same
               ? status
               : gsai_fail(error, GSA_CONFLICT, "the Arrow stream has other columns when it is opened again");
}

/* ---- batches ---------------------------------------------------------------------------------------------------- */

/* A word of a dictionary is hashed once a batch, unless there are many more words than rows. */
static void forget_hashes(const gsai_arrow_reader *arrow, gsai_arrow_column *column)
{
    bool has_words = column->index && gsai_arrow_is_text(column->type) && !arrow->table.term;
    int64_t n = has_words ? column->values->length : 0;
    column->n_hashes = 0;
    if (n == 0 || n / 4 > arrow->batch.length ||
        !gsai_reserve(arrow->table.env, &column->hash, &column->hash_capacity, (size_t)n, sizeof *column->hash))
        return;
    memset(column->hash, 0, (size_t)n * sizeof *column->hash);
    column->n_hashes = (size_t)n;
}

static gsa_status take_batch(gsai_arrow_reader *arrow, gsa_error *error)
{
    const struct ArrowArray *batch = &arrow->batch;
    if (!has_columns(arrow, batch))
        return gsai_fail(error, GSA_FORMAT, "the Arrow stream: a batch does not have the columns of the schema");
    for (size_t i = 0; i < arrow->n_columns; i++) {
        if (!arrow->column[i].is_used || batch->length == 0)
            continue;
        const char *objection =
            gsai_arrow_column_take(&arrow->column[i], batch->children[i], batch->offset + batch->length);
        if (objection)
            return gsai_arrow_fail_column(arrow, i, GSA_FORMAT, objection, error);
        forget_hashes(arrow, &arrow->column[i]);
    }
    return GSA_OK;
}

/* The next batch of the stream; GSA_END after the last. */
static gsa_status get_batch(gsai_arrow_reader *arrow, struct ArrowArray *out, gsa_error *error)
{
    const gsai_env *env = arrow->table.env;
    if (gsai_should_stop(env))
        return gsai_fail(error, GSA_STOPPED, "reading the Arrow stream was stopped on request");
    int code = arrow->stream.get_next(&arrow->stream, out);
    if (code != 0)
        *out = (struct ArrowArray){0};
    return code != 0 ? fail_stream(arrow, code, error) : out->release ? GSA_OK : GSA_END;
}

static gsa_status next_batch(gsai_arrow_reader *arrow, gsa_error *error)
{
    release_batch(arrow);
    bool is_held = arrow->at_held < arrow->n_held;
    if (is_held)
        arrow->batch = arrow->held[arrow->at_held++];
    GSA_TRY(is_held ? GSA_OK : get_batch(arrow, &arrow->batch, error));
    gsa_status status = take_batch(arrow, error);
    if (status != GSA_OK)
        release_batch(arrow);
    return status;
}

static gsa_status read_arrow(void *memory, gsai_rows *rows, gsa_error *error)
{
    gsai_arrow_reader *arrow = memory;
    gsa_status status = prepare_arrow(arrow, error);
    if (status == GSA_OK && arrow->is_over)
        status = open_again(arrow, error);
    arrow->is_begun = true;
    while (status == GSA_OK && !gsai_rows_full(rows)) {
        status = arrow->at < arrow->batch.length ? gsai_arrow_row(arrow, rows, error) : next_batch(arrow, error);
        status = gsai_format_settle(arrow->table.input, rows, status, error);
    }
    return status;
}

const gsai_format *gsai_format_arrow(void)
{
    static const gsai_format format = {.title = "an Arrow stream",
                                       .begin = begin_arrow,
                                       .read = read_arrow,
                                       .close = close_arrow,
                                       .prepare = prepare_arrow};
    return &format;
}
