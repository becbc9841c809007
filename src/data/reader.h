/* The inside of a reader: a kind (files of some format, generated rows) behind a few functions. */
#ifndef GSA_DATA_READER_H
#define GSA_DATA_READER_H

#include "base/rows.h"
#include "data/format/format.h"

#include <greedystep/data.h>

#include <stdatomic.h>

typedef struct gsai_reader_kind {
    /* The next batch with at least one row, or GSA_END. The reader counts the rows. */
    gsa_status (*next)(gsa_reader *reader, gsa_batch *out, gsa_error *error);
    gsa_status (*rewind)(gsa_reader *reader, gsa_error *error);
    void (*close)(gsa_reader *reader);                            /* frees the reader too */
    const char *(*file)(const gsa_reader *reader, uint32_t file); /* NULL: not found */
    /* Fills in what is neither here nor counted below; NULL: nothing. */
    void (*describe)(const gsa_reader *reader, gsa_reader_progress *out);
} gsai_reader_kind;

/* The first member of every reader. */
struct gsa_reader {
    const gsai_reader_kind *kind;
    gsai_env env; /* resolved */
    /* Delivered so far. Another thread than the one that reads may ask. */
    atomic_uint_fast64_t n_rows, n_bad_rows, n_unlabelled, n_recoded, bytes_read;
};

/* Prefixes an error with "FILE:LINE (byte N): " and sets its line (0: not known) and byte. */
void gsai_reader_prefix(const char *file, uint64_t line, uint64_t byte, gsa_error *error);

/* Exchanges the arrays of the batch that the reader delivered last for those of `rows`: the batch stays valid whatever
 * the reader does, which fills the other arrays from now on. Only label words stay the reader's. A sparse batch
 * has no zeros. Returns false, and changes nothing, if the reader has no such arrays or takes its memory from
 * elsewhere. */
bool gsai_reader_take_rows(gsa_reader *reader, gsai_rows *rows);

/* Appends the next rows of the current file of text to others of the same memory, until those are full or the file has
 * ended (GSA_END); *out is a view of the new ones. Their label words are the reader's. GSA_UNSUPPORTED, and nothing has
 * changed: rows are to be asked for by gsa_reader_next. */
gsa_status gsai_reader_extend(gsa_reader *reader, gsai_rows *rows, gsa_batch *out, gsa_error *error);

/* Returns the number of lines up to the end of the header of the first file, 0 if it has none. Not while another thread
 * reads. */
uint64_t gsai_reader_header_lines(const gsa_reader *reader);

/* Sizes that only tests choose; 0 means the default. */
typedef struct gsai_reader_sizes {
    size_t buffer; /* bytes of the buffers before and behind the codec; a longer line makes its own grow */
    size_t read;   /* bytes of one read of the source, at most */
    size_t batch_rows, batch_values;
} gsai_reader_sizes;

/* Does what gsa_reader_open and gsa_reader_open_memory do, with sizes, and with the format of files that are not
 * caches; NULL: it is recognised. */
gsa_status gsai_reader_open_files(const char *const *paths, size_t n_paths, const gsai_format *format,
                                  const gsa_reader_options *options, const gsai_reader_sizes *sizes,
                                  const gsai_env *env, gsa_reader **out, gsa_error *error);
gsa_status gsai_reader_open_bytes(const void *bytes, size_t size, const char *name, const gsai_format *format,
                                  const gsa_reader_options *options, const gsai_reader_sizes *sizes,
                                  const gsai_env *env, gsa_reader **out, gsa_error *error);

#endif
