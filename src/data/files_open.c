/* Opening a reader of files, or of one piece of memory. */
#include "data/files.h"

#include "base/error.h"
#include "base/memory.h"
#include "data/format/arrow.h"

#include <string.h>

/* Texts that there is no memory for become NULL: none is left that is not the reader's. */
static bool copy_options(gsai_files *reader, const gsa_reader_options *from)
{
    gsa_reader_options *to = &reader->options;
    const char **texts[] = {&to->label, &to->weight, &to->categorical, &to->ignore, &to->cross};
    bool has_room = true;
    *to = *from;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (*texts[i]) {
            *texts[i] = gsai_copy_text(&reader->head.env, *texts[i]);
            has_room = has_room && *texts[i];
        }
    return has_room;
}

/* A reader without files yet; whatever fails after this is cleaned up by close_files. */
static gsa_status new_files(const gsai_format *format, const gsa_reader_options *options,
                            const gsai_reader_sizes *sizes, const gsa_env *env, gsai_files **out, gsa_error *error)
{
    gsa_env resolved = gsai_env_resolve(env);
    gsai_files *reader = gsai_alloc_zeroed(&resolved, 1, sizeof *reader);
    if (!reader)
        return gsai_fail_memory(&resolved, error, "no memory for a reader");
    reader->head = (gsa_reader){.kind = gsai_files_kind(), .env = resolved};
    reader->format = format;
    reader->recognises = format == NULL;
    reader->sizes = *sizes;
    reader->stop = UINT64_MAX;
    gsai_schema_init(&reader->schema, &reader->head.env);
    reader->input.schema = &reader->schema;
    reader->input.names = &reader->names;
    reader->input.schema_from = "the first file";
    reader->input.options = &reader->options;
    bool has_room = !options || copy_options(reader, options);
    gsa_status status = gsai_rows_init(&reader->rows, sizes->batch_rows, sizes->batch_values, &reader->head.env, error);
    reader->rows.without_labels = reader->options.without_labels != 0;
    if (status == GSA_OK && !has_room)
        status = gsai_fail_memory(&resolved, error, "no memory for a reader");
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

static gsa_status add_path(gsai_files *reader, const char *path, bool stands_alone, gsa_error *error)
{
    if (strcmp(path, GSAI_STDIN_PATH) == 0 && !stands_alone)
        return gsai_fail(error, GSA_ARGUMENT, "- (standard input) must be the only input; a file of that name is ./-");
    gsai_source_info facts = {0};
    gsa_status status = gsai_source_probe(path, &reader->head.env, &facts, error);
    if (status != GSA_OK)
        return status;
    char *copy = gsai_copy_text(&reader->head.env, path);
    if (!copy)
        return gsai_fail_memory(&reader->head.env, error, "no memory for the names of the input files");
    reader->bytes_total += facts.size;
    reader->file_end[reader->n_files] = reader->bytes_total;
    reader->paths[reader->n_files++] = copy;
    reader->is_stream = reader->is_stream || facts.is_stream;
    reader->total_unknown = reader->total_unknown || (facts.is_stream && facts.size == 0);
    return GSA_OK;
}

gsa_status gsai_reader_open_files(const char *const *paths, size_t n_paths, const gsai_format *format,
                                  const gsa_reader_options *options, const gsai_reader_sizes *sizes, const gsa_env *env,
                                  gsa_reader **out, gsa_error *error)
{
    if (n_paths == 0 || n_paths > UINT32_MAX)
        return gsai_fail(error, GSA_ARGUMENT, "%zu input files: expected at least one, or - for standard input",
                         n_paths);
    gsai_files *reader = NULL;
    gsa_status status = new_files(format, options, sizes, env, &reader, error);
    if (status != GSA_OK)
        return status;
    reader->paths = gsai_alloc_zeroed(&reader->head.env, n_paths, sizeof *reader->paths);
    reader->file_end = gsai_alloc_zeroed(&reader->head.env, n_paths, sizeof *reader->file_end);
    if (!reader->paths || !reader->file_end)
        status = gsai_fail_memory(&reader->head.env, error, "no memory for the names of %zu input files", n_paths);
    for (size_t i = 0; status == GSA_OK && i < n_paths; i++)
        status = add_path(reader, paths[i], n_paths == 1, error);
    if (status != GSA_OK) {
        gsa_reader_close(&reader->head);
        return status;
    }
    *out = &reader->head;
    return GSA_OK;
}

gsa_status gsai_reader_open_bytes(const void *bytes, size_t size, const char *name, const gsai_format *format,
                                  const gsa_reader_options *options, const gsai_reader_sizes *sizes, const gsa_env *env,
                                  gsa_reader **out, gsa_error *error)
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

/* To the reader this is memory without bytes, whose parser is there already and has its rows from elsewhere. */
gsa_status gsa_reader_open_arrow(struct ArrowArrayStream *stream, const gsa_arrow_again *again,
                                 const gsa_reader_options *options, const gsa_env *env, gsa_reader **out,
                                 gsa_error *error)
{
    const gsai_reader_sizes defaults = {0};
    gsa_reader *head = NULL;
    gsa_status status =
        gsai_reader_open_bytes("", 0, "the Arrow stream", gsai_format_arrow(), options, &defaults, env, &head, error);
    gsai_files *reader = (gsai_files *)head;
    if (status == GSA_OK)
        status = gsai_arrow_open(stream, again, &head->env, &reader->parser, error);
    else
        gsai_arrow_refuse(stream, again);
    if (status != GSA_OK) {
        gsa_reader_close(head);
        return status;
    }
    reader->is_arrow = true;
    reader->is_stream = !again || !again->open;
    *out = head;
    return GSA_OK;
}
