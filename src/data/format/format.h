/* A format turns the plain bytes of one file after the other into rows. Another format is another file with one of
 * these structs. */
#ifndef GSA_DATA_FORMAT_FORMAT_H
#define GSA_DATA_FORMAT_FORMAT_H

#include "base/error.h"
#include "base/memory.h"
#include "base/rows.h"
#include "data/codec/decode.h"
#include "data/feature_names.h"
#include "data/format/table_schema.h"

#include <greedystep/data.h>
#include <greedystep/distributed.h>

/* The file being read, and what the reader wants to know of it. Owned by the reader. */
typedef struct gsai_format_input {
    gsai_decode *stream;
    const char *name;      /* for messages */
    uint32_t file;         /* number for gsa_place */
    uint64_t n_bad_rows;   /* the format adds to it */
    uint64_t n_unlabelled; /* and to it: rows of tables without a label */
    uint64_t n_recoded;    /* and to it: cells of tables that were not UTF-8 */
    uint64_t header_lines; /* of the first file: lines up to the end of its header */
    bool is_stream;        /* it can be read once, and may wait for more */
    bool begins_file;      /* of a cache: its last block was the first of a file that was converted */
    const gsa_reader_options *options;
    gsai_schema *schema;       /* of the reader; the first table completes it unless it is fixed */
    gsai_feature_names *names; /* of the reader; the format makes it if names are to be remembered */
    bool schema_is_fixed;      /* it is a model's */
    const char *schema_from;   /* whose it is, for messages */
    char description[1024];    /* what the format took the first file for; empty: nothing to say */
} gsai_format_input;

typedef struct gsai_format {
    const char *title; /* what a file in it is, for messages */
    size_t size;       /* of a parser, which begins with a pointer to its environment; 0: it is not made here */
    /* Makes what a zeroed parser holds; close follows also if this fails. buffer_size 0: the default. NULL: nothing. */
    gsa_status (*open)(void *parser, size_t buffer_size, gsa_error *error);
    /* The next file; the input is borrowed until the next begin or close. */
    void (*begin)(void *parser, gsai_format_input *input);
    /* Adds rows until they are full (GSA_OK) or the file has ended (GSA_END). On failure the rows before it are there;
     * after GSA_STOPPED another call goes on. */
    gsa_status (*read)(void *parser, gsai_rows *rows, gsa_error *error);
    void (*close)(void *parser);
    /* Reads as far as it takes to know the schema, rows are still to be read; NULL: no schema. GSA_END: no rows. */
    gsa_status (*prepare)(void *parser, gsa_error *error);
    /* Seeks in plain content, after begin and prepare, to the block that begins at this byte; GSA_ARGUMENT if none
     * does. NULL: it cannot. */
    gsa_status (*enter)(void *parser, const gsa_place *at, gsa_error *error);
    /* Skips rows of plain content that come next, as many as can be told without reading them; GSA_END after the last.
     * NULL: none can. */
    gsa_status (*skip)(void *parser, gsa_row_range *out, gsa_error *error);
    /* Gives the text of rows that come next to another parser of the format, which has begun with an input that has no
     * stream: there it is all there is, and its lines count from 1. Never waits for a stream. GSA_END: nothing is
     * given, read goes on. NULL: one thread reads all. */
    gsa_status (*give)(void *parser, void *to, gsa_error *error);
    uint64_t *(*lines)(void *parser); /* how many were read; NULL where give is */
} gsai_format;

extern const gsai_format gsai_format_libsvm, gsai_format_vw, gsai_format_table, gsai_format_cache, gsai_format_npy,
    gsai_format_arrow;

/* Makes a parser of files in a format. */
static inline gsa_status gsai_format_open(const gsai_format *format, size_t buffer_size, const gsai_env *env,
                                          void **out, gsa_error *error)
{
    const gsai_env **parser = gsai_alloc_zeroed(env, 1, format->size);
    GSAI_TRY_MEMORY(parser, env, error, "no memory for a reader of %s", format->title);
    *parser = env;
    gsa_status status = format->open ? format->open(parser, buffer_size, error) : GSA_OK;
    if (status == GSA_OK)
        *out = parser;
    else
        format->close(parser);
    return status;
}

/* Returns whether rows have texts that are kept, or may be bad. */
static inline bool gsai_format_keeps(const gsai_format_input *input)
{
    return input->options->keep || input->options->keep_tags || input->options->keep_bad_rows;
}

/* Handles the status of a row: counts a bad one and, if bad rows are kept, adds it as one. */
static inline gsa_status gsai_format_settle(gsai_format_input *input, gsai_rows *rows, gsa_status status,
                                            gsa_error *error)
{
    if (status != GSA_INPUT || !input->options->skip_bad_rows)
        return status;
    input->n_bad_rows++;
    return input->options->keep_bad_rows ? gsai_rows_finish_bad(rows, (gsa_place){0, UINT64_MAX, input->file}, error)
                                         : GSA_OK;
}

static inline gsa_place gsai_format_location(const gsai_format_input *input, uint64_t line, uint64_t byte)
{
    return (gsa_place){line, byte, input->file};
}

#endif
