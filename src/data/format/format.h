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

#include <greedystep/arrow.h>
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

/* ---- which format a file has ------------------------------------------------------------------------------------ */

/* By the first bytes of the plain content, then by the name; where both leave it open, what is expected (NULL:
 * nothing).
 *
 *   1 A cache, or an array of NumPy, is known by its magic.
 *   2 The first line that is neither blank nor a comment decides. It is libsvm text if its second token begins like
 *     index:value after a space, or if after tabs all further tokens do. Else it is Vowpal Wabbit text if a bar begins
 *     it or follows a blank; else a table if there is a comma, semicolon or tab in it, or a bar and no blank,
 *     or two bars; else libsvm text.
 *   3 In a file that is named .csv, .tsv or .tab a line is libsvm text only if it has a pair and none of these
 *     separators; any other is one of a table. In a file that is named .vw, any that has a bar or no pair is Vowpal
 *     Wabbit text. */
const gsai_format *gsai_recognise(const char *name, const unsigned char *start, size_t size,
                                  const gsai_format *expected);
/* Returns what a file is that is often given by mistake, and what to do; NULL for other files. */
const char *gsai_foreign(const unsigned char *start, size_t size);

/* Return whether content begins like an array, or a cache, even if it ends within the magic of a cache. */
bool gsai_npy_matches(const unsigned char *start, size_t size);
bool gsai_cache_matches(const unsigned char *start, size_t size);

/* ---- what some formats ask for beside rows ---------------------------------------------------------------------- */

/* Checks, of an input that was peeked at, what opening its labels would: one file of labels for each of n_files, and as
 * many labels as rows. */
gsa_status gsai_npy_labels_check(const gsai_format_input *input, size_t n_files, const gsai_env *env, gsa_error *error);

/* Releases what a reader that is not opened was to take over. */
void gsai_arrow_refuse(struct ArrowArrayStream *stream, const gsa_arrow_again *again);
/* Makes a parser that owns stream and again, which are taken over also on failure. */
gsa_status gsai_arrow_open(struct ArrowArrayStream *stream, const gsa_arrow_again *again, const gsai_env *env,
                           void **out, gsa_error *error);

/* ---- what readers and formats share ----------------------------------------------------------------------------- */

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
    if (!input->options->keep_bad_rows)
        return GSA_OK;
    size_t n_cells = input->options->keep_cells ? gsai_schema_cells(input->schema) : 0; /* all of them absent */
    GSA_TRY(gsai_rows_reserve_cells(rows, n_cells, error));
    rows->n_cells += n_cells;
    return gsai_rows_finish_bad(rows, (gsa_place){0, UINT64_MAX, input->file}, error);
}

static inline gsa_place gsai_format_location(const gsai_format_input *input, uint64_t line, uint64_t byte)
{
    return (gsa_place){line, byte, input->file};
}

#endif
