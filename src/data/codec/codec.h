/* What a codec is: a way to turn compressed bytes into plain ones, and of some codecs back; one library a file.
 *
 * A codec is reached by a getter that returns NULL where the build lacks the library, so that callers test a pointer
 * and never a macro. The loop around the codecs (refilling, several members, truncation, messages) is decode.c. */
#ifndef GSA_DATA_CODEC_H
#define GSA_DATA_CODEC_H

#include <greedystep/greedystep.h>

#include <stdbool.h>

/* One step's input and output; the codec moves both forward. */
typedef struct gsa__codec_io {
    const unsigned char *in;
    size_t in_size;
    unsigned char *out;
    size_t out_size;
    bool is_last;       /* no input will follow what is in `in`: an encoder ends its member */
    const char *detail; /* what the library says of a failure: static text, or NULL */
} gsa__codec_io;

typedef enum gsa__codec_result {
    GSA__CODEC_MORE = 0,   /* inside a member */
    GSA__CODEC_MEMBER_END, /* a member is complete; another may follow */
    GSA__CODEC_DAMAGED,
    GSA__CODEC_NO_MEMORY,
    GSA__CODEC_OVER_LIMIT /* would need more than env.memory_limit */
} gsa__codec_result;

typedef struct gsa__codec {
    const char *(*version)(void);
    /* NULL if there is no memory. env is borrowed until close. */
    void *(*open)(const gsa_env *env);
    /* Called after GSA__CODEC_MEMBER_END with input left: begins the next member. False if there is no memory. NULL:
     * the library does so by itself. */
    bool (*restart)(void *decoder);
    gsa__codec_result (*step)(void *decoder, gsa__codec_io *io);
    void (*close)(void *decoder);
    /* The way back, with the same steps and close; NULL in a codec that is read only. */
    void *(*open_encoder)(const gsa_env *env);
} gsa__codec;

const gsa__codec *gsa__codec_gzip(void);
const gsa__codec *gsa__codec_zstd(void);
const gsa__codec *gsa__codec_xz(void);
const gsa__codec *gsa__codec_bzip2(void);

/* A line of the list of codecs: known by its first bytes also where the library is missing. */
typedef struct gsa__codec_entry {
    const char *name;
    const char *library;
    bool (*matches)(const unsigned char *bytes, size_t size);
    const gsa__codec *(*get)(void);
    const char *ending; /* of the names of such files */
} gsa__codec_entry;

/* Bytes that decide, none of them a newline; content that is shorter is what it is. */
#define GSA__CODEC_MAGIC 10

/* The codec that the content begins with, or NULL for plain bytes. */
const gsa__codec_entry *gsa__codec_detect(const unsigned char *bytes, size_t size);
/* The codec that a file to be written is named after, or NULL. */
const gsa__codec_entry *gsa__codec_named(const char *path);

#endif
