/* What a codec is: a way to turn compressed bytes into plain ones, and of some codecs back; one library a file.
 *
 * A codec is reached by the list (codec.c), which has NULL where the build lacks the library, so that callers test a
 * pointer and never a macro. The loop around the codecs (refilling, several members, truncation, messages) is decode.c.
 */
#ifndef GSA_DATA_CODEC_H
#define GSA_DATA_CODEC_H

#include <greedystep/greedystep.h>

#include <limits.h>
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

static inline void gsa__codec_move(gsa__codec_io *io, size_t n_in, size_t n_out)
{
    io->in += n_in;
    io->in_size -= n_in;
    io->out += n_out;
    io->out_size -= n_out;
}

/* For libraries whose sizes are no larger. */
static inline unsigned gsa__codec_size(size_t size)
{
    return size > UINT_MAX ? UINT_MAX : (unsigned)size;
}

typedef enum gsa__codec_result {
    GSA__CODEC_MORE = 0,   /* inside a member */
    GSA__CODEC_MEMBER_END, /* a member is complete; another may follow */
    GSA__CODEC_DAMAGED,
    GSA__CODEC_NO_MEMORY,
    GSA__CODEC_OVER_LIMIT /* would need more than any file of its kind may */
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
    /* The way back, with the same steps, restart and close; NULL in a codec that is read only. */
    void *(*open_encoder)(const gsa_env *env);
} gsa__codec;

/* Each is there if its library is. */
extern const gsa__codec gsa__codec_gzip, gsa__codec_zstd, gsa__codec_xz, gsa__codec_bzip2;

/* A line of the list of codecs: known by its first bytes also where the library is missing. */
typedef struct gsa__codec_entry {
    const char *name;
    const char *library;
    bool (*matches)(const unsigned char *bytes, size_t size);
    const gsa__codec *codec; /* NULL: this build lacks it */
    const char *ending;      /* of the names of such files */
} gsa__codec_entry;

/* Bytes that decide, none of them a newline; content that is shorter is what it is. */
#define GSA__CODEC_MAGIC 10

/* The codec that the content begins with, or NULL for plain bytes. */
const gsa__codec_entry *gsa__codec_detect(const unsigned char *bytes, size_t size);
/* The codec that a file is named after, or NULL. */
const gsa__codec_entry *gsa__codec_named(const char *path);
/* Whether the name ends so, perhaps followed by the ending of a codec. */
bool gsa__codec_ends(const char *path, const char *ending);

#endif
