/* greedystep: readers and writers. Bytes to batches and back; nothing here knows of training. */
#ifndef GREEDYSTEP_DATA_H
#define GREEDYSTEP_DATA_H

#include <greedystep/greedystep.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where batches come from. */
typedef struct gsa_reader gsa_reader;

/* All zero is the default. Texts are copied. Columns are given by name or, if none has that name, by number from 1;
 * those of a list are parted by commas. label, weight, categorical and ignore say that the input is a table. */
typedef struct gsa_reader_options {
    int skip_bad_rows;       /* nonzero: count bad rows and go on; zero: a bad row ends the reading with GSA_INPUT */
    int without_labels;      /* nonzero: labels of tables are not looked at and may be missing; batches have none */
    int remember_names;      /* nonzero: gsa_reader_name knows the words that came first, GSA_MAX_NAMES of them */
    const char *label;       /* the column that is learned */
    const char *weight;      /* the column that says what a row counts for */
    const char *categorical; /* columns that are taken for words, whatever stands in them */
    const char *ignore;      /* columns that are left out */
    const char *cross;       /* "A*B,C*D": products of the features of two columns, or namespaces, are features too */
    unsigned bits;           /* words are hashed to so many, 1 .. 31; 0: 24 */
    int keep_cells;          /* nonzero: gsa_reader_cells tells what stood in the columns of a table */
} gsa_reader_options;

/* Files in libsvm / svmlight text, tables in text (CSV, TSV), Vowpal Wabbit text or caches of parsed rows (.gsac),
 * plain or compressed, all recognised by content and name (docs/formats/csv.md), read one after the other; "-" is
 * standard input and stands alone. Options and env may be NULL. Files are opened when their turn comes, but one that
 * cannot be opened is reported here. With more than one thread (env.n_threads) text is decompressed and parsed ahead,
 * also between calls, to the same rows and failures. */
GSA_API GSA_NODISCARD gsa_status gsa_reader_open(const char *const *paths, size_t n_paths,
                                                 const gsa_reader_options *options, const gsa_env *env,
                                                 gsa_reader **out, gsa_error *error);
/* The same in memory, borrowed until close. The name is used in messages. */
GSA_API GSA_NODISCARD gsa_status gsa_reader_open_memory(const void *bytes, size_t size, const char *name,
                                                        const gsa_reader_options *options, const gsa_env *env,
                                                        gsa_reader **out, gsa_error *error);

struct ArrowArrayStream;
/* How a stream of Arrow is opened once more, for several passes. */
typedef struct gsa_arrow_again {
    /* A stream of the same rows from the first on; 0, or a code of errno.h. */
    int (*open)(void *ctx, struct ArrowArrayStream *out);
    void (*release)(void *ctx); /* NULL, or called once: at close, or if the reader cannot be opened */
    void *ctx;                  /* handed to both */
} gsa_arrow_again;

/* A table as an Arrow C stream (<greedystep/arrow.h>, docs/formats/arrow.md), with the options, the schema and the
 * features of tables in text; kinds come from the types. Columns of integers, floats, bool, text and dictionaries of
 * these are features; or a list of ids and a list of values, or one list of fixed size, are all features of the row,
 * which have then no schema. Null and NaN are absent. Other types are refused by name, unless they are ignored.
 *
 * The stream is taken over, also on failure: its `release` is NULL then, and is called once, at close or when another
 * is opened in its place. That is what `again` is for; where it or its `open` is NULL, the rows are a stream, which is
 * read once. The reader checks offsets, lengths and numbers of dictionaries against each other, but buffers have no
 * sizes in this interface: that they are as long as the arrays say, and aligned for their type, is trusted. */
GSA_API GSA_NODISCARD gsa_status gsa_reader_open_arrow(struct ArrowArrayStream *stream, const gsa_arrow_again *again,
                                                       const gsa_reader_options *options, const gsa_env *env,
                                                       gsa_reader **out, gsa_error *error);

/* Rows that the caller has in memory, or makes. Functions are called from the thread that reads, which in gsa_train may
 * be another than the caller's, but one at a time. */
typedef struct gsa_row_source {
    void *ctx; /* handed to both functions */
    /* The next rows, borrowed until the next call of either; GSA_END after the last, GSA_STOPPED, or a failure. */
    gsa_status (*next)(void *ctx, gsa_batch *out, gsa_error *error);
    gsa_status (*rewind)(void *ctx, gsa_error *error); /* NULL: the rows are a stream, which is read once */
} gsa_row_source;
/* A reader of these rows. The source is copied; what its ctx points to must outlive the reader. */
GSA_API GSA_NODISCARD gsa_status gsa_reader_open_rows(const gsa_row_source *source, const gsa_env *env,
                                                      gsa_reader **out, gsa_error *error);

/* Rows with planted weights; the same on every machine, any row computable alone. Feature ids of a row: one in each of
 * `nnz` equal slices of the features, value 1; with a skew the id at place r (from 0) of its slice comes about in
 * proportion to 1 / (r + 1)^skew. Labels are drawn from the planted model's own probabilities: of two classes 0 and 1,
 * of more 0 .. classes-1; classes = 1 gives a real target with Gaussian-like noise. */
typedef struct gsa_generator {
    uint64_t n_rows;     /* how many */
    uint64_t n_features; /* 1 .. 2^32 - 2 */
    uint64_t nnz;        /* 1 .. n_features */
    uint64_t n_classes;  /* 1 .. 1000 */
    uint64_t seed;       /* another one gives other weights and rows */
    double skew;         /* 0 .. 10; 0: all ids of a slice alike, 1: like words of a language */
    double noise;        /* classes: share of rows, 0 .. 1, whose label is any of the classes, whatever the features;
                          * a real target: the noise's standard deviation, 0 .. 1e6, where 0 stands for 0.3 */
} gsa_generator;
/* A reader of these rows; GSA_ARGUMENT if a number is out of its range. */
GSA_API GSA_NODISCARD gsa_status gsa_reader_open_generated(const gsa_generator *what, const gsa_env *env,
                                                           gsa_reader **out, gsa_error *error);

/* The next rows (of a stream of text those that are there), valid until the next call on this reader (label words keep
 * their numbers and texts until close); GSA_END after the last. A failure may be followed by another call only if it
 * was GSA_STOPPED. */
GSA_API GSA_NODISCARD gsa_status gsa_reader_next(gsa_reader *reader, gsa_batch *out, gsa_error *error);
/* Reads as far as it takes to know what the input is, of a table the meaning of its columns; rows are still to come.
 * The first call of next does the same. GSA_OK also if there are no rows. */
GSA_API GSA_NODISCARD gsa_status gsa_reader_begin(gsa_reader *reader, gsa_error *error);
/* What the columns must be, as another reader or a model tells it (NULL: whatever they are); before begin and next. In
 * a table with a header they are found by name, else by position; one that is missing or not known is GSA_ARGUMENT. */
GSA_API GSA_NODISCARD gsa_status gsa_reader_set_schema(gsa_reader *reader, const char *text, gsa_error *error);
/* After begin: the meaning of the columns (docs/formats/schema.md), NULL if the rows came with feature numbers. Valid
 * until close. */
GSA_API const char *gsa_reader_schema(const gsa_reader *reader);
/* After begin: one line about what the first file was taken for, NULL if there is nothing to say. Valid until close. */
GSA_API const char *gsa_reader_description(const gsa_reader *reader);
/* The name of a feature of a table: that of its column or, of a word, column=word; NULL if it is not known. */
GSA_API const char *gsa_reader_name(const gsa_reader *reader, uint64_t feature);
/* The most words that have a name. */
#define GSA_MAX_NAMES ((size_t)1 << 20)
/* The most bytes of all names. */
#define GSA_NAMES_SIZE ((size_t)64 << 20)
/* Names of words by number, in the order in which their features came; NULL beyond the end. There are at most
 * GSA_MAX_NAMES, and GSA_NAMES_SIZE bytes of them. The first word of a feature may be one that cannot be shown; then
 * the name is empty here, and gsa_reader_name has none. Valid until rows are read. */
GSA_API const char *gsa_reader_name_at(const gsa_reader *reader, size_t number, uint64_t *feature);
/* With remember_names, while no other thread reads: the share of the words so far that have a feature in common with
 * another word, estimated by how many features are taken; NaN if there are no words. */
GSA_API double gsa_reader_collision_rate(const gsa_reader *reader);

/* With keep_cells, of the batch that came last: a table's columns of features, numbers and then words, each in the
 * order of the schema; *n_columns a row. An absent cell is 0. A number is 1, and zero if the batch does not have it; a
 * word is the hash of which its feature is the lowest bits (docs/formats/schema.md). NULL if a row of it did not come
 * as text or Arrow columns. */
GSA_API const uint64_t *gsa_reader_cells(const gsa_reader *reader, size_t *n_columns);

/* What a schema says of features: words are hashed to ids from n_numbers on, 2^bits of them. */
typedef struct gsa_schema_info {
    unsigned bits;               /* of the reader's options */
    uint64_t n_numbers, n_words; /* columns; of namespaces 0 and 1 */
    uint64_t n_crosses;          /* products of two columns or namespaces */
} gsa_schema_info;
/* Takes a text apart that gsa_reader_schema gave. */
GSA_API GSA_NODISCARD gsa_status gsa_schema_get_info(const char *schema, gsa_schema_info *out, gsa_error *error);
/* Back to the first row; GSA_UNSUPPORTED for a stream. */
GSA_API GSA_NODISCARD gsa_status gsa_reader_rewind(gsa_reader *reader, gsa_error *error);

/* Readers of the same input, in one process or many, that deal its rows among themselves. Both calls find out what the
 * input is, as begin does, and count rows anew; a rewind leads back to the first row of all. Streams, rows of a caller
 * and Arrow streams that are not kept are GSA_UNSUPPORTED. After a failure, GSA_STOPPED included, there are no rows
 * until the next such call or a rewind.
 *
 * The next row is the one at this place, which this reader or another one of the same input delivered in a batch (kept
 * rows: a reader of these), and all others follow up to the end. GSA_ARGUMENT if no row begins there, as far as that
 * can be told: of a table the beginning of any line is believed. What is compressed is read again from the beginning of
 * its file. If the line of the place is 0, the lines of the rows that follow in its file are not known either. */
GSA_API GSA_NODISCARD gsa_status gsa_reader_seek(gsa_reader *reader, const gsa_place *row, gsa_error *error);
/* Only the rows of one part, counted from 0, and then GSA_END: each row is in exactly one part, and one after the other
 * the parts are all rows in their order. They are about equal in bytes, as these are stored, of all files together: a
 * line is in the part in which it begins, a block of a cache likewise, and so is the whole of a file that is a table in
 * text, or compressed. Of the file in which a part begins in the middle, lines are not known. */
GSA_API GSA_NODISCARD gsa_status gsa_reader_share(gsa_reader *reader, uint64_t part, uint64_t n_parts,
                                                  gsa_error *error);
/* Some consecutive rows of an input. */
typedef struct gsa_row_range {
    gsa_place at;               /* the first of them */
    uint64_t n_rows, n_entries; /* how many */
} gsa_row_range;
/* Right after seek or share, and again: the next rows are passed over, without being read where what they are is told
 * without, as it is of the blocks of a cache. GSA_UNSUPPORTED: the rows that come now have to be read. */
GSA_API GSA_NODISCARD gsa_status gsa_reader_skip(gsa_reader *reader, gsa_row_range *out, gsa_error *error);
/* Closes and frees the reader; its batches are no longer valid. Takes NULL. */
GSA_API void gsa_reader_close(gsa_reader *reader);

/* Before several passes: goes back to the first row and, if one of the files is compressed or it is Arrow streams,
 * writes the rows of the next complete pass as a cache to a file without a name in `folder`; after that a rewind leads
 * there, and the rows come several times as fast, with their numbers as places. The file takes at most half of the room
 * there and is gone when the reader is closed, however the process ends. What cannot be kept, then or from the start
 * (plain files, memory), is read again. Does nothing to a stream, which is read once, nor to rows that a caller has or
 * that are generated. */
GSA_API GSA_NODISCARD gsa_status gsa_reader_spill(gsa_reader *reader, const char *folder, gsa_error *error);

/* How far a reader has come. */
typedef struct gsa_reader_progress {
    uint64_t n_rows;      /* delivered since the start or the last rewind, seek or share */
    uint64_t n_bad_rows;  /* skipped since then; of kept rows, when they were kept */
    uint64_t bytes_read;  /* from the source, compressed where it is, since then */
    uint64_t bytes_total; /* 0 if unknown */
    int is_stream;        /* nonzero: cannot be read again */
    uint64_t bytes_kept;  /* of gsa_reader_spill's file, which are bytes_total then; 0: rows do not come from it */
    int keep_failed;      /* nonzero: rows could not be kept, for want of room for instance */
    int is_packed;        /* nonzero: a file that was read is compressed, so that a seek in it reads what is before */
} gsa_reader_progress;
/* May be asked while another thread reads. */
GSA_API void gsa_reader_get_progress(const gsa_reader *reader, gsa_reader_progress *out);
/* Name of a file by the number in gsa_place; never NULL. */
GSA_API const char *gsa_reader_file(const gsa_reader *reader, uint32_t file);
/* Puts file, line and byte of a row in front of the message of an error that names a row of `batch`. */
GSA_API void gsa_reader_locate(const gsa_reader *reader, const gsa_batch *batch, gsa_error *error);

/* The codecs of this build by number: "gzip", "zstd" ...; NULL beyond the end. `version` gets the library's version or
 * NULL where this build lacks it. */
GSA_API const char *gsa_codec_at(size_t number, const char **version);

/* Where rows go. */
typedef struct gsa_writer gsa_writer;
/* Rows to a file ("-": standard output) as "libsvm" text, "gsac" (a cache of parsed rows) or "vw" (Vowpal Wabbit text);
 * NULL: what its name ends in, or libsvm text. Each is compressed if .gz or .zst stands behind that. A file appears
 * under its name only when close succeeds. libsvm text has no weights of rows, Vowpal Wabbit text no words as labels:
 * GSA_UNSUPPORTED and GSA_INPUT. */
GSA_API GSA_NODISCARD gsa_status gsa_writer_open(const char *path, const char *format, const gsa_env *env,
                                                 gsa_writer **out, gsa_error *error);
/* Before the first row: what the columns mean that the rows came from (gsa_reader_schema; NULL: they had none). A cache
 * keeps it, libsvm text cannot; Vowpal Wabbit text of such rows is GSA_UNSUPPORTED. */
GSA_API GSA_NODISCARD gsa_status gsa_writer_set_schema(gsa_writer *writer, const char *text, gsa_error *error);
/* Writes the next rows. */
GSA_API GSA_NODISCARD gsa_status gsa_writer_write(gsa_writer *writer, const gsa_batch *batch, gsa_error *error);
/* Finishes and frees; on failure no file is left behind. */
GSA_API GSA_NODISCARD gsa_status gsa_writer_close(gsa_writer *writer, gsa_error *error);
/* Frees and removes what was written. Takes NULL. */
GSA_API void gsa_writer_discard(gsa_writer *writer);

#ifdef __cplusplus
}
#endif
#endif
