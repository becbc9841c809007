/* A codec: turns compressed bytes into plain ones and, for some codecs, back; one library per file.
 *
 * A codec is reached by the list (codec.c), which has NULL where the build lacks the library, so that callers test a
 * pointer and never a macro. The loop around the codecs (refilling, several members, truncation, messages) is decode.c.
 */
#ifndef GSA_DATA_CODEC_CODEC_H
#define GSA_DATA_CODEC_CODEC_H

#include "base/memory.h"

#include <limits.h>
#include <stdbool.h>

/* One step's input and output; the codec moves both forward. */
typedef struct gsai_codec_io {
    const unsigned char *in;
    size_t in_size;
    unsigned char *out;
    size_t out_size;
    bool is_last;       /* no input will follow what is in `in`: an encoder ends its member */
    const char *detail; /* what the library says of a failure: static text, or NULL */
} gsai_codec_io;

static inline void gsai_codec_move(gsai_codec_io *io, size_t n_in, size_t n_out)
{
    io->in += n_in;
    io->in_size -= n_in;
    io->out += n_out;
    io->out_size -= n_out;
}

/* Limits a size to what libraries with smaller size types take. */
static inline unsigned gsai_codec_size(size_t size)
{
    return size > UINT_MAX ? UINT_MAX : (unsigned)size;
}

typedef enum gsai_codec_result {
    GSAI_CODEC_MORE = 0,   /* inside a member */
    GSAI_CODEC_MEMBER_END, /* a member is complete; another may follow */
    GSAI_CODEC_DAMAGED,
    GSAI_CODEC_NO_MEMORY,
    GSAI_CODEC_OVER_LIMIT /* would need more than any file of its kind may */
} gsai_codec_result;

typedef struct gsai_codec {
    const char *(*version)(void);
    size_t size;         /* of what it keeps between steps, its state */
    bool can_encode;     /* it has the way back, with the same functions */
    bool ends_at_member; /* it is to end and begin again between members; else the library goes on by itself */
    /* Begins a state of any content; env is borrowed until the end. Returns false if out of memory. */
    bool (*begin)(void *state, const gsai_env *env, bool encodes);
    gsai_codec_result (*step)(void *state, gsai_codec_io *io);
    void (*end)(void *state); /* also after begin returned false */
} gsai_codec;

/* Makes a decoder, or an encoder; returns NULL if out of memory. */
void *gsai_codec_open(const gsai_codec *codec, const gsai_env *env, bool encodes);
/* Begins the next member; returns false if out of memory. */
bool gsai_codec_restart(const gsai_codec *codec, void *state, const gsai_env *env, bool encodes);
/* Takes NULL. */
void gsai_codec_close(const gsai_codec *codec, void *state, const gsai_env *env);

/* Frees memory of a library that keeps the environment as its own pointer. */
static inline void gsai_codec_release(void *env, void *memory)
{
    gsai_free(env, memory);
}

/* Each is there if its library is. */
extern const gsai_codec gsai_codec_gzip, gsai_codec_zstd, gsai_codec_xz, gsai_codec_bzip2;

/* A line of the list of codecs: known by its first bytes also where the library is missing. */
typedef struct gsai_codec_entry {
    const char *name;
    const char *library;
    const gsai_codec *codec; /* NULL: this build lacks it */
    const char *ending;      /* of the names of such files */
} gsai_codec_entry;

/* Bytes that decide, none of them a newline; content that is shorter is what it is. */
#define GSAI_CODEC_MAGIC 10

/* Returns the codec by the first bytes of the content, or NULL for plain bytes. */
const gsai_codec_entry *gsai_codec_detect(const unsigned char *bytes, size_t size);
/* Returns the codec that a file is named after, or NULL. */
const gsai_codec_entry *gsai_codec_named(const char *path);
/* Returns whether the name has this ending, with or without that of a codec behind it. */
bool gsai_codec_ends(const char *path, const char *ending);

#endif
