/* A reader of files, or of one piece of memory, in some format.
 *
 *   1 Rows before a failure are delivered first; the failure follows with the next call, and with every one after it.
 *   2 GSA_STOPPED is not a failure: rows that were read stay, and the next call goes on behind them.
 *   3 Batches depend on the content alone: they end at the same rows whatever the sizes of buffers and reads, or with
 *     their file. */
#include "data/files.h"

#include "base/error.h"
#include "base/memory.h"
#include "data/format/arrow.h"
#include "data/format/cache.h"
#include "data/format/npy.h"

#include <math.h>
#include <string.h>

/* ---- reading ---------------------------------------------------------------------------------------------------- */

static void hand_to_threads(gsai_files *reader)
{
    if (!reader->current->give || reader->is_alone)
        return;
    if (!reader->chunks)
        reader->chunks =
            gsai_chunks_new(reader->format, reader->parser, &reader->input, &reader->sizes, &reader->head.env);
    reader->is_alone = !reader->chunks;
    if (reader->chunks)
        gsai_chunks_start(reader->chunks);
}

/* Rows that threads have read ahead, then those that are read here. Where these were enough for a batch without a wait,
 * threads go on. */
static gsa_status read_current(gsai_files *reader, gsa_error *error)
{
    gsa_status status = reader->chunks ? gsai_chunks_read(reader->chunks, &reader->rows, error) : GSA_END;
    if (status != GSA_END)
        return status;
    status = reader->current->read(gsai_files_parser(reader), &reader->rows, error);
    if (status == GSA_OK && gsai_rows_full(&reader->rows))
        hand_to_threads(reader);
    return status;
}

/* Fills rows from the next file that has any: GSA_END if it has no more, GSA_OK if they are full. */
static gsa_status fill(gsai_files *reader, gsa_error *error)
{
    gsa_status status = GSA_END;
    for (bool has_rows = false; status == GSA_END && gsai_files_has_next(reader) && !has_rows;) {
        status = gsai_files_open(reader, error);
        if (status == GSA_OK)
            status = read_current(reader, error);
        if (status == GSA_END)
            gsai_files_next(reader);
        has_rows = reader->rows.n_rows > 0;
    }
    if (status != GSA_OK && status != GSA_END)
        gsai_files_locate(reader, error);
    return status;
}

/* Looks after rows that were read behind the first n_before: a failure waits until they are delivered. */
static gsa_status deliver(gsai_files *reader, gsa_status status, size_t n_before, gsa_error *failure, gsa_batch *out,
                          gsa_error *error)
{
    const gsai_env *env = &reader->head.env;
    if ((status == GSA_OK || status == GSA_END) && reader->names.lacks_memory)
        status = gsai_fail_memory(env, failure, "no memory for the names of features");
    if (status == GSA_STOPPED) {
        if (error)
            *error = *failure;
        return status;
    }
    if (status != GSA_OK && status != GSA_END)
        reader->failure = *failure;
    if (reader->rows.n_rows == n_before)
        return status == GSA_END ? GSA_END : gsai_files_fail_again(reader, error);
    const uint32_t file = reader->rows.place[n_before].file;
    reader->begins_file = file != reader->last_file || reader->input.begins_file;
    reader->last_file = file;
    const gsa_batch rows = gsai_rows_view(&reader->rows);
    *out = gsai_batch_slice(&rows, n_before, rows.n_rows - n_before);
    if (reader->spill.writer && reader->begins_file)
        gsa_writer_begin_file(reader->spill.writer);
    gsai_spill_add(&reader->spill, out, reader->schema.text, env);
    return GSA_OK;
}

static gsa_status next_files(gsa_reader *head, gsa_batch *out, gsa_error *error)
{
    gsai_files *reader = (gsai_files *)head;
    if (reader->delivered)
        gsai_rows_clear(&reader->rows);
    reader->delivered = false;
    if (reader->failure.status != GSA_OK)
        return gsai_files_fail_again(reader, error);
    gsa_error failure = {0};
    gsa_status status = deliver(reader, fill(reader, &failure), 0, &failure, out, error);
    reader->delivered = status == GSA_OK;
    if (status == GSA_END)
        gsai_spill_end(&reader->spill, &head->env);
    return status;
}

/* Exchanges all but whose rows they are. */
static void exchange_arrays(gsai_rows *a, gsai_rows *b)
{
    gsai_rows *both[2] = {a, b};
    const gsai_rows own[2] = {*a, *b};
    for (int i = 0; i < 2; i++) {
        *both[i] = own[!i];
        both[i]->env = own[i].env;
        both[i]->max_rows = own[i].max_rows;
        both[i]->max_values = own[i].max_values;
        both[i]->without_labels = own[i].without_labels;
        both[i]->words = own[i].words;
    }
}

static bool has_same_memory(const gsai_env *a, const gsai_env *b)
{
    return a->memory.budget == b->memory.budget && a->memory.release == b->memory.release &&
           a->memory.ctx == b->memory.ctx;
}

/* Not at the beginning of a file, which another block may have to begin with, and not where rows may be waited for. */
static gsa_status extend_rows(gsa_reader *head, gsai_rows *rows, gsa_batch *out, gsa_error *error)
{
    gsai_files *reader = (gsai_files *)head;
    bool is_between = !reader->delivered && reader->rows.n_rows > 0;
    if (!reader->current || !reader->current->give || reader->is_stream || is_between || rows->width > 0 ||
        rows->keeps || reader->rows.keeps || reader->options.keep_cells || reader->failure.status != GSA_OK ||
        !has_same_memory(&head->env, rows->env))
        return GSA_UNSUPPORTED;
    size_t n_before = rows->n_rows, max_rows = reader->rows.max_rows, max_values = reader->rows.max_values;
    gsa_error failure = {0};
    exchange_arrays(&reader->rows, rows);
    reader->rows.max_rows = rows->max_rows;
    reader->rows.max_values = rows->max_values;
    gsa_status status = read_current(reader, &failure);
    bool has_ended = status == GSA_END;
    if (has_ended)
        gsai_files_next(reader);
    else if (status != GSA_OK)
        gsai_files_locate(reader, &failure);
    if (status == GSA_STOPPED && reader->rows.n_rows > n_before)
        status = GSA_OK; /* the next call is stopped again */
    else if (status == GSA_OK && reader->rows.n_rows == n_before)
        status = GSA_UNSUPPORTED;
    if (status != GSA_UNSUPPORTED)
        status = deliver(reader, status, n_before, &failure, out, error);
    reader->rows.max_rows = max_rows;
    reader->rows.max_values = max_values;
    exchange_arrays(&reader->rows, rows);
    return status == GSA_OK && has_ended ? GSA_END : status;
}

static gsa_status skip_rows(gsa_reader *head, gsa_row_range *out, gsa_error *error)
{
    gsai_files *reader = (gsai_files *)head;
    gsa_status status = reader->failure.status != GSA_OK ? gsai_files_fail_again(reader, error) : GSA_END;
    while (status == GSA_END && gsai_files_has_next(reader)) {
        status = gsai_files_open(reader, error);
        bool can = status == GSA_OK && reader->current->skip && !reader->stream.entry && !reader->is_stream;
        if (status == GSA_OK)
            status =
                can ? reader->current->skip(gsai_files_parser(reader), out, error)
                    : gsai_fail(error, GSA_UNSUPPORTED,
                                "%s is not a plain cache, so its blocks cannot be read one by one", reader->input.name);
        if (status == GSA_END)
            gsai_files_next(reader);
    }
    return status;
}

static gsa_status rewind_files(gsa_reader *head, gsa_error *error)
{
    gsai_files *reader = (gsai_files *)head;
    if (reader->is_stream)
        return gsai_fail(error, GSA_UNSUPPORTED,
                         "the input is a stream and cannot be read again: put it in a file for more than one pass");
    reader->bytes_spilled = reader->spill.size;
    gsai_files_restart(reader, reader->bytes_spilled > 0 ? reader->n_files - 1 : 0);
    gsai_spill_begin(&reader->spill, &head->env);
    return GSA_OK;
}

static void describe_files(const gsa_reader *head, gsa_reader_progress *out)
{
    const gsai_files *reader = (const gsai_files *)head;
    out->bytes_kept = reader->bytes_spilled;
    out->keep_failed = reader->spill.failed;
    out->bytes_total = out->bytes_kept > 0 ? out->bytes_kept : reader->total_unknown ? 0 : reader->bytes_total;
    out->is_stream = reader->is_stream;
}

static void locate_in_files(const gsa_reader *head, gsa_reader_progress *out)
{
    const gsai_files *reader = (const gsai_files *)head;
    out->n_bad_rows = reader->input.n_bad_rows;
    out->n_unlabelled = reader->input.n_unlabelled;
    out->n_recoded = reader->input.n_recoded;
    uint64_t here = 0;
    if (reader->is_open && !gsai_chunks_are_read(reader->chunks, &here))
        here = reader->stream.source.n_read;
    out->bytes_read = reader->bytes_done + here;
}

/* ---- columns and features --------------------------------------------------------------------------------------- */

static gsa_status match_schema(gsa_reader *head, const char *text, gsa_error *error)
{
    gsai_files *reader = (gsai_files *)head;
    if (reader->is_open || reader->file > 0 || reader->schema.text)
        return gsai_fail(error, GSA_ARGUMENT, "the reader knows its columns already");
    reader->input.schema_is_fixed = text != NULL;
    if (!text)
        return GSA_OK;
    reader->input.schema_from = "the model";
    GSA_TRY(gsai_schema_parse(&reader->schema, text, error));
    const char *list = reader->options.cross, *name[2];
    size_t name_size[2];
    gsa_status status;
    while ((status = gsai_schema_next_cross(&list, name, name_size, error)) == GSA_OK)
        if (!gsai_schema_is_crossed(&reader->schema, name, name_size))
            return gsai_fail_about(error, "cross",
                                   gsai_fail(error, GSA_ARGUMENT, "crosses contradict the model; leave them out"));
    if (status != GSA_END)
        return status;
    if (reader->options.bits != 0 && reader->options.bits != reader->schema.bits)
        return gsai_fail_about(error, "bits",
                               gsai_fail(error, GSA_ARGUMENT,
                                         "%u bits contradict the model, which has %u; leave them out",
                                         reader->options.bits, reader->schema.bits));
    return GSA_OK;
}

static const char *schema_of_files(const gsa_reader *head, bool in_words)
{
    const gsai_files *reader = (const gsai_files *)head;
    return in_words ? reader->input.description[0] ? reader->input.description : NULL : reader->schema.text;
}

static const char *feature_name(const gsa_reader *head, uint64_t feature)
{
    const gsai_files *reader = (const gsai_files *)head;
    const gsai_schema *schema = &reader->schema;
    uint64_t first = gsai_schema_first_word(schema);
    return feature >= first ? gsai_feature_names_find(&reader->names, feature - first)
                            : gsai_schema_number_name(schema, feature);
}

/* Returns the share of places that are taken: 1 - e^(-n/N) with n words in N places, as is the share of words that are
 * not alone. */
static double collision_rate_of_words(const gsa_reader *head)
{
    const gsai_files *reader = (const gsai_files *)head;
    return reader->names.n_came > 0 ? (double)reader->names.n_came / (double)(UINT64_C(1) << reader->schema.bits)
                                    : (double)NAN;
}

/* ---- opening and closing ---------------------------------------------------------------------------------------- */

static void close_files(gsa_reader *head)
{
    gsai_files *reader = (gsai_files *)head;
    gsai_env env = head->env; /* outlives the reader that holds it */
    gsai_files_close(reader);
    gsai_spill_drop(&reader->spill, &env);
    gsai_chunks_free(reader->chunks);
    if (reader->parser)
        reader->format->close(reader->parser);
    if (reader->cache)
        gsai_format_cache()->close(reader->cache);
    gsai_schema_free(&reader->schema);
    gsai_feature_names_free(&reader->names);
    const char *texts[] = {reader->options.label,  reader->options.weight, reader->options.categorical,
                           reader->options.ignore, reader->options.cross,  reader->options.decimal,
                           reader->options.dates,  reader->options.keep,   reader->options.exposure,
                           reader->options.labels, reader->options.missing};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        gsai_free(&env, (void *)(uintptr_t)texts[i]);
    gsai_rows_free(&reader->rows);
    for (size_t i = 0; reader->paths && i < reader->n_files; i++)
        gsai_free(&env, reader->paths[i]);
    gsai_free(&env, reader->paths);
    gsai_free(&env, reader->memory_name);
    gsai_free(&env, reader);
}

static const gsai_reader_kind files_kind = {
    .next = next_files,
    .extend = extend_rows,
    .rewind = rewind_files,
    .close = close_files,
    .file = gsai_files_name,
    .describe = describe_files,
    .position = locate_in_files,
    .begin = gsai_files_begin,
    .match = match_schema,
    .schema = schema_of_files,
    .name = feature_name,
    .collision_rate = collision_rate_of_words,
    .seek = gsai_files_seek,
    .skip = skip_rows,
};

/* Copies the options. A text becomes NULL if out of memory, so that all texts left are the reader's. */
static bool copy_options(gsai_files *reader, const gsa_reader_options *from)
{
    gsa_reader_options *to = &reader->options;
    const char **texts[] = {&to->label, &to->weight, &to->categorical, &to->ignore, &to->cross,  &to->decimal,
                            &to->dates, &to->keep,   &to->exposure,    &to->labels, &to->missing};
    bool has_room = true;
    *to = *from;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (*texts[i]) {
            *texts[i] = gsai_copy_text(&reader->head.env, *texts[i]);
            has_room = has_room && *texts[i];
        }
    return has_room;
}

/* Options that are one of two words. */
static gsa_status check_words(const gsa_reader_options *options, gsa_error *error)
{
    const struct {
        const char *name, *given, *words[2];
    } option[] = {{"decimal", options->decimal, {"point", "comma"}},
                  {"dates", options->dates, {"day-first", "month-first"}}};
    for (size_t i = 0; i < 2; i++)
        if (option[i].given && strcmp(option[i].given, option[i].words[0]) != 0 &&
            strcmp(option[i].given, option[i].words[1]) != 0)
            return gsai_fail_about(error, option[i].name,
                                   gsai_fail(error, GSA_ARGUMENT, "'%s': expected %s or %s", option[i].given,
                                             option[i].words[0], option[i].words[1]));
    return GSA_OK;
}

/* A reader without files yet; whatever fails after this is cleaned up by close_files. */
static gsa_status new_files(const gsai_format *format, const gsa_reader_options *options,
                            const gsai_reader_sizes *sizes, const gsai_env *env, gsai_files **out, gsa_error *error)
{
    gsai_env resolved = gsai_env_resolve(env);
    gsai_files *reader = gsai_alloc_zeroed(&resolved, 1, sizeof *reader);
    GSAI_TRY_MEMORY(reader, &resolved, error, "no memory for a reader");
    reader->head = (gsa_reader){.kind = &files_kind, .env = resolved};
    reader->format = format;
    reader->recognises = format == NULL;
    reader->sizes = *sizes;
    reader->last_file = UINT32_MAX;
    gsai_schema_init(&reader->schema, &reader->head.env);
    reader->input.schema = &reader->schema;
    reader->input.names = &reader->names;
    reader->input.schema_from = "the first file";
    reader->input.options = &reader->options;
    bool has_room = !options || copy_options(reader, options);
    reader->options.files = NULL; /* those of the caller are copied */
    gsai_rows_init(&reader->rows, sizes->batch_rows, sizes->batch_values, &reader->head.env);
    reader->rows.without_labels = reader->options.without_labels != 0;
    gsa_status status = gsai_format_keeps(&reader->input) ? gsai_rows_keep(&reader->rows, error) : GSA_OK;
    if (status == GSA_OK && !has_room)
        status = gsai_fail_memory(&resolved, error, "no memory for a reader");
    if (status == GSA_OK)
        status = check_words(&reader->options, error);
    if (status == GSA_OK && reader->options.bits > GSAI_MAX_BITS)
        status = gsai_fail(error, GSA_ARGUMENT, "%u bits to hash words to: expected 1 to %u", reader->options.bits,
                           GSAI_MAX_BITS);
    if (status != GSA_OK) {
        gsa_reader_close(&reader->head);
        return status;
    }
    *out = reader;
    return GSA_OK;
}

/* A file of the caller is opened, so that a wrong name is said before any work. */
static gsa_status probe(const gsai_files *reader, const char *path, gsai_source_info *out, gsa_error *error)
{
    const gsai_env *env = &reader->head.env;
    if (!reader->given.open)
        return gsai_source_probe(path, env, out, error);
    gsai_source source;
    GSA_TRY(gsai_source_open_given(&reader->given, path, env, &source, error));
    out->size = source.given_size;
    gsai_source_close(&source);
    return GSA_OK;
}

static gsa_status add_path(gsai_files *reader, const char *path, bool stands_alone, gsa_error *error)
{
    if (strcmp(path, GSAI_STDIN_PATH) == 0 && !stands_alone)
        return gsai_fail(error, GSA_ARGUMENT, "- (standard input) must be the only input; a file of that name is ./-");
    gsai_source_info info = {0};
    GSA_TRY(probe(reader, path, &info, error));
    char *copy = gsai_copy_text(&reader->head.env, path);
    GSAI_TRY_MEMORY(copy, &reader->head.env, error, "no memory for the names of the input files");
    reader->bytes_total += info.size;
    reader->paths[reader->n_files++] = copy;
    reader->is_stream = reader->input.is_stream = reader->is_stream || info.is_stream;
    reader->total_unknown = reader->total_unknown || (info.is_stream && info.size == 0);
    return GSA_OK;
}

/* Checks that all rows have labels, as far as headers tell. */
static gsa_status check_labels(gsai_files *reader, gsa_error *error)
{
    gsa_status status = GSA_OK;
    if (!reader->options.labels || reader->options.without_labels || reader->is_stream)
        return GSA_OK;
    for (reader->file = 0; reader->file < reader->n_files && status == GSA_OK; reader->file++) {
        gsai_files_close(reader);
        status = gsai_files_open_current(reader, error);
        if (status == GSA_OK)
            status = gsai_decode_peek(&reader->stream, error);
        if (status == GSA_OK && gsai_npy_matches(reader->stream.start, reader->stream.start_size))
            status = gsai_npy_labels_check(&reader->input, reader->n_files, &reader->head.env, error);
    }
    gsai_files_restart(reader, 0);
    return status;
}

gsa_status gsai_reader_open_files(const char *const *paths, size_t n_paths, const gsai_format *format,
                                  const gsa_reader_options *options, const gsai_reader_sizes *sizes,
                                  const gsai_env *env, gsa_reader **out, gsa_error *error)
{
    if (n_paths == 0 || n_paths > UINT32_MAX)
        return gsai_fail(error, GSA_ARGUMENT, "%zu input files: expected at least one, or - for standard input",
                         n_paths);
    gsai_files *reader = NULL;
    gsa_status status = new_files(format, options, sizes, env, &reader, error);
    if (status != GSA_OK)
        return status;
    const gsa_file_source *files = options ? options->files : NULL;
    status = gsai_take(&reader->given, files, error);
    reader->options.files = files ? &reader->given : NULL;
    reader->paths = gsai_alloc_zeroed(&reader->head.env, n_paths, sizeof *reader->paths);
    if (status == GSA_OK && !reader->paths)
        status = gsai_fail_memory(&reader->head.env, error, "no memory for the names of %zu input files", n_paths);
    for (size_t i = 0; status == GSA_OK && i < n_paths; i++)
        status = add_path(reader, paths[i], n_paths == 1, error);
    if (status == GSA_OK)
        status = check_labels(reader, error);
    if (status != GSA_OK) {
        gsa_reader_close(&reader->head);
        return status;
    }
    *out = &reader->head;
    return GSA_OK;
}

gsa_status gsa_reader_open(const char *const *paths, size_t n_paths, const gsa_reader_options *options,
                           const gsa_memory *memory, const gsa_call *call, gsa_reader **out, gsa_error *error)
{
    gsai_env own;
    GSA_TRY(gsai_env_take(&own, memory, call, error));
    const gsai_reader_sizes defaults = {0};
    gsa_reader_options asked;
    GSA_TRY(gsai_take(&asked, options, error));
    return gsai_reader_open_files(paths, n_paths, NULL, &asked, &defaults, &own, out, error);
}

gsa_status gsai_reader_open_bytes(const void *bytes, size_t size, const char *name, const gsai_format *format,
                                  const gsa_reader_options *options, const gsai_reader_sizes *sizes,
                                  const gsai_env *env, gsa_reader **out, gsa_error *error)
{
    gsai_files *reader = NULL;
    gsa_status status = new_files(format, options, sizes, env, &reader, error);
    if (status != GSA_OK)
        return status;
    reader->memory_name = gsai_copy_text(&reader->head.env, name ? name : "memory");
    if (!reader->memory_name) {
        status = gsai_fail_memory(&reader->head.env, error, "no memory for a reader");
        gsa_reader_close(&reader->head);
        return status;
    }
    reader->n_files = 1;
    reader->memory = bytes;
    reader->memory_size = size;
    reader->bytes_total = size;
    *out = &reader->head;
    return GSA_OK;
}

gsa_status gsa_reader_open_memory(const void *bytes, size_t size, const char *name, const gsa_reader_options *options,
                                  const gsa_memory *memory, const gsa_call *call, gsa_reader **out, gsa_error *error)
{
    gsai_env own;
    GSA_TRY(gsai_env_take(&own, memory, call, error));
    const gsai_reader_sizes defaults = {0};
    gsa_reader_options asked;
    GSA_TRY(gsai_take(&asked, options, error));
    return gsai_reader_open_bytes(bytes, size, name, NULL, &asked, &defaults, &own, out, error);
}

/* To the reader this is memory without bytes, whose parser is there already and has its rows from elsewhere. */
static gsa_status open_arrow(struct ArrowArrayStream *stream, const gsa_arrow_again *again,
                             const gsa_reader_options *options, const gsai_env *env, gsa_reader **out, gsa_error *error)
{
    const gsai_reader_sizes defaults = {0};
    gsa_reader *head = NULL;
    gsa_status status =
        gsai_reader_open_bytes("", 0, "the Arrow stream", gsai_format_arrow(), options, &defaults, env, &head, error);
    gsai_files *reader = (gsai_files *)head;
    if (status == GSA_OK && options->labels) {
        gsa_reader_close(head);
        gsai_arrow_refuse(stream, again);
        return gsai_fail_about(error, "labels",
                               gsai_fail(error, GSA_ARGUMENT, "a table has its labels in a column: leave others out"));
    }
    if (status == GSA_OK)
        status = gsai_arrow_open(stream, again, &head->env, &reader->parser, error);
    else
        gsai_arrow_refuse(stream, again);
    if (status != GSA_OK) {
        gsa_reader_close(head);
        return status;
    }
    reader->is_arrow = true;
    reader->is_stream = !again->open;
    *out = head;
    return GSA_OK;
}

/* The stream is taken over in any case; what reopens it only if its size is known. */
gsa_status gsa_reader_open_arrow(struct ArrowArrayStream *stream, const gsa_arrow_again *again,
                                 const gsa_reader_options *options, const gsa_memory *memory, const gsa_call *call,
                                 gsa_reader **out, gsa_error *error)
{
    gsai_env own;
    gsa_reader_options asked;
    gsa_arrow_again reopens = {0};
    gsa_status status = gsai_take(&reopens, again, error);
    if (status == GSA_OK)
        status = gsai_take(&asked, options, error);
    if (status == GSA_OK)
        status = gsai_env_take(&own, memory, call, error);
    if (status == GSA_OK)
        return open_arrow(stream, &reopens, &asked, &own, out, error);
    gsai_arrow_refuse(stream, &reopens);
    return status;
}

/* ---- what only files have --------------------------------------------------------------------------------------- */

const char *gsa_reader_name_at(const gsa_reader *head, size_t number, uint64_t *feature)
{
    const gsai_files *reader = (const gsai_files *)head;
    if (head->kind != &files_kind || number >= reader->names.n)
        return NULL;
    *feature = gsai_schema_first_word(&reader->schema) + (uint64_t)reader->names.id[number];
    return reader->names.text + reader->names.start[number];
}

const uint64_t *gsa_reader_cells(const gsa_reader *head, size_t *n_columns)
{
    const gsai_files *reader = (const gsai_files *)head;
    *n_columns = 0;
    if (head->kind != &files_kind || !reader->delivered || !reader->options.keep_cells)
        return NULL;
    const gsai_schema *schema = &reader->schema;
    *n_columns = schema->n_numbers + schema->n_of_kind[GSAI_FIELD_CATEGORICAL];
    return reader->rows.n_cells == reader->rows.n_rows * *n_columns ? reader->rows.cell : NULL;
}

/* Text that is not compressed is read as fast as it is learned, and a cache is kept rows already. Arrow streams and
 * files of the caller come from who has to make or fetch them anew. */
gsa_status gsa_reader_spill(gsa_reader *head, const char *folder, gsa_error *error)
{
    gsai_files *reader = (gsai_files *)head;
    if (head->kind != &files_kind || reader->is_stream || reader->spill.path)
        return GSA_OK;
    bool is_worth = reader->is_arrow || reader->given.open;
    for (reader->file = 0; reader->paths && reader->file < reader->n_files && !is_worth; reader->file++) {
        gsai_files_close(reader);
        is_worth = gsai_files_open_current(reader, NULL) == GSA_OK &&
                   gsai_decode_peek(&reader->stream, NULL) == GSA_OK &&
                   reader->stream.entry; /* what fails here fails again when it is read */
    }
    GSA_TRY(gsa_reader_rewind(head, error));
    return is_worth ? gsai_spill_open(&reader->spill, folder, &head->env, error) : GSA_OK;
}

uint64_t gsai_reader_header_lines(const gsa_reader *head)
{
    return head->kind == &files_kind ? ((const gsai_files *)head)->input.header_lines : 0;
}

int gsa_reader_begins_file(const gsa_reader *head)
{
    return head->kind == &files_kind && ((const gsai_files *)head)->begins_file;
}

bool gsai_reader_take_rows(gsa_reader *head, gsai_rows *rows)
{
    gsai_files *reader = (gsai_files *)head;
    if (head->kind != &files_kind || !reader->delivered || !has_same_memory(&head->env, rows->env))
        return false;
    if (reader->rows.keeps && gsai_rows_keep(rows, NULL) != GSA_OK) /* which the reader goes on with */
        return false;
    exchange_arrays(&reader->rows, rows);
    return true;
}
