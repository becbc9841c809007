/* What a format is: it turns the plain bytes of one file after the other into rows. Another format is another file with
 * one of these structs. */
#ifndef GSA_DATA_FORMAT_H
#define GSA_DATA_FORMAT_H

#include "data/codec/decode.h"
#include "data/rows.h"

/* The file being read, and what the reader wants to know of it. Owned by the reader. */
typedef struct gsa__format_input {
    gsa__decode *stream;
    const char *name;    /* for messages */
    uint32_t file;       /* number for gsa_place */
    bool skip_bad_rows;  /* count them instead of failing with GSA_INPUT */
    uint64_t n_bad_rows; /* the format adds to it */
} gsa__format_input;

typedef struct gsa__format {
    const char *name;
    /* buffer_size 0: the default. */
    gsa_status (*open)(size_t buffer_size, const gsa_env *env, void **out, gsa_error *error);
    /* The next file; the input is borrowed until the next begin or close. */
    void (*begin)(void *parser, gsa__format_input *input);
    /* Adds rows until they are full (GSA_OK) or the file has ended (GSA_END). On failure the rows before it are there;
     * after GSA_STOPPED another call goes on. */
    gsa_status (*read)(void *parser, gsa__rows *rows, gsa_error *error);
    void (*close)(void *parser);
} gsa__format;

const gsa__format *gsa__format_libsvm(void);

#endif
