/* greedystep: readers and writers. Bytes to batches and back, independent of training. */
#ifndef GREEDYSTEP_DATA_H
#define GREEDYSTEP_DATA_H

#include <greedystep/greedystep.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A source of batches. */
typedef struct gsa_reader gsa_reader;

/* Opens files that are not in the file system, such as those of an object store. The functions return GSA_IO with a
 * message that names the file. One thread at a time uses a file; in gsa_train this may be another thread than the
 * caller's. */
typedef struct gsa_file_source {
    size_t size; /* sizeof(gsa_file_source), set by the caller */
    void *ctx;   /* passed to open */
    /* Opens a file at its first byte and returns its size. */
    gsa_status (*open)(void *ctx, const char *path, void **file, uint64_t *n_bytes, gsa_error *error);
    /* Reads up to `size` bytes; *got is 0 at the end only. */
    gsa_status (*read)(void *file, void *bytes, size_t size, size_t *got, gsa_error *error);
    gsa_status (*seek)(void *file, uint64_t at, gsa_error *error); /* continues at this byte */
    void (*close)(void *file);                                     /* called once per file that was opened */
} gsa_file_source;

/* Options of a reader; all zero except the size is the default. Texts are copied. Columns are given by name or, if none
 * has that name, by number from 1; lists are separated by commas. label, weight, exposure, offset, categorical,
 * ignore, group, time and per imply that the input is a table. */
typedef struct gsa_reader_options {
    size_t size;             /* sizeof(gsa_reader_options), set by the caller */
    int skip_bad_rows;       /* nonzero: count bad rows and continue; zero: a bad row fails with GSA_INPUT */
    int without_labels;      /* nonzero: labels of tables are ignored and may be missing; batches have none */
    int remember_names;      /* nonzero: keep the first GSA_MAX_NAMES names of categories for gsa_reader_name */
    const char *label;       /* the column to predict */
    const char *weight;      /* the column of row weights */
    const char *categorical; /* columns to treat as categories, whatever they contain */
    const char *ignore;      /* columns to leave out */
    const char *cross;       /* "A:B,C:D": adds products of the features of two columns or namespaces */
    unsigned bits;           /* categories are hashed to 2^bits features, 1 .. 31; 0: 24 */
    int keep_cells;          /* nonzero: keep the cells of a table for gsa_reader_cells */
    const char *decimal;     /* "point" or "comma": the decimal separator, if the cells are ambiguous */
    const char *dates;       /* "day-first" or "month-first", if the cells are ambiguous */
    /* Opens the paths; NULL: the file system does. Copied; what its ctx points to must outlive the reader. */
    const gsa_file_source *files;
    /* Columns whose texts are kept (gsa_batch.kept). They are features only if a schema that was set has them. */
    const char *keep;
    int keep_tags;     /* nonzero: the tags of Vowpal Wabbit text are kept too */
    int keep_bad_rows; /* nonzero, with skip_bad_rows: a bad row is a row without features (gsa_batch.bad) */
    /* The column of exposures, above 0, that the counts in the label column refer to: the label becomes the count per
     * unit of exposure, and the weight is multiplied by the exposure. */
    const char *exposure;
    /* Files with the labels of arrays (.npy), one for each file of rows, in the same order: arrays of one label per
     * row. */
    const char *labels;
    /* Nonzero: rows may lack the column of weights that a schema has, unless `weight` names it; each then counts 1. */
    int without_weights;
    /* Nonzero: a new schema has no offsets, so values are rounded to floats as they are, however far from 0; and no
     * number means a missing value unless `missing` says so. */
    int without_offsets;
    /* Numbers that mean a missing value in the numeric columns of tables, such as "-999", at most 4; "none": no number
     * does. NULL: those that are far from all others (docs/formats/csv.md). */
    const char *missing;
    /* The column whose values say which rows belong together: those of one value are held out together. It is no
     * feature. */
    const char *group;
    /* The column of numbers or dates that say when a row was: the latest rows are held out. It stays a feature, unless
     * it is ignored. */
    const char *time;
    const char *text; /* columns to treat as texts of words, however few their words are */
    /* The column of offsets: margins of another model, to which the learned one is added (docs/method.md). It is a
     * feature whose weight is 1. */
    const char *offset;
    /* Columns of numbers with which the prediction never falls, or never rises, everything else being the same
     * (docs/method.md): of two classes the log-odds of the one that comes last. */
    const char *increasing;
    const char *decreasing;
    /* The column whose values, such as customers, have an intercept and slopes of their own each, beside those of all
     * (docs/method.md). */
    const char *per;
} gsa_reader_options;

/* Opens files, which are read in sequence: libsvm / svmlight text, tables in text (CSV, TSV, JSON lines), Vowpal Wabbit
 * text, NumPy arrays (.npy, docs/formats/arrow.md) or caches of parsed rows (.gsac), plain or compressed, recognised by
 * content and name (docs/formats/csv.md). "-" is standard input and must be the only path. Options, memory and call may
 * be NULL. Fails at once if a file cannot be opened. With more than one thread text is decompressed and parsed ahead,
 * with the same rows and errors. These threads live as long as the reader, so it keeps memory and call: should_stop
 * ends gsa_reader_next and all calls that read. Readers that are opened otherwise do the same. */
GSA_API GSA_NODISCARD gsa_status gsa_reader_open(const char *const *paths, size_t n_paths,
                                                 const gsa_reader_options *options, const gsa_memory *memory,
                                                 const gsa_call *call, gsa_reader **out, gsa_error *error);
/* Opens the same formats in memory, borrowed until close. The name is used in messages. */
GSA_API GSA_NODISCARD gsa_status gsa_reader_open_memory(const void *bytes, size_t size, const char *name,
                                                        const gsa_reader_options *options, const gsa_memory *memory,
                                                        const gsa_call *call, gsa_reader **out, gsa_error *error);

struct ArrowArrayStream;
/* Reopens an Arrow stream, for several passes. */
typedef struct gsa_arrow_again {
    size_t size; /* sizeof(gsa_arrow_again), set by the caller */
    /* Opens a stream of the same rows from the first on; returns 0, or a code of errno.h. */
    int (*open)(void *ctx, struct ArrowArrayStream *out);
    void (*release)(void *ctx); /* NULL, or called once: at close, or if opening fails */
    void *ctx;                  /* passed to both */
} gsa_arrow_again;

/* Opens a table as an Arrow C stream (<greedystep/arrow.h>, docs/formats/arrow.md), with the options, schema and
 * features of tables in text; kinds of columns follow from their types. Columns of integers, floats, bool, text and
 * dictionaries of these are features. Alternatively a list of ids and a list of values, or one list of floats, hold
 * all features of a row, without a schema. Null and NaN are absent. Other types are errors unless ignored.
 *
 * Takes ownership of the stream, also on failure: sets its `release` to NULL and calls it once, at close or when
 * `again` opens another in its place. If `again` or its `open` is NULL the rows can be read once. Offsets, lengths and
 * dictionary indexes are checked against each other; buffers have no sizes in this interface, so their length and
 * alignment are trusted. */
GSA_API GSA_NODISCARD gsa_status gsa_reader_open_arrow(struct ArrowArrayStream *stream, const gsa_arrow_again *again,
                                                       const gsa_reader_options *options, const gsa_memory *memory,
                                                       const gsa_call *call, gsa_reader **out, gsa_error *error);

/* Rows that the caller holds or makes. The functions are called one at a time, from the thread that reads; in gsa_train
 * this may be another thread than the caller's. */
typedef struct gsa_row_source {
    size_t size; /* sizeof(gsa_row_source), set by the caller */
    void *ctx;   /* passed to both functions */
    /* Returns the next rows, borrowed until the next call of either; GSA_END after the last, GSA_STOPPED, or an error.
     */
    gsa_status (*next)(void *ctx, gsa_batch *out, gsa_error *error);
    gsa_status (*rewind)(void *ctx, gsa_error *error); /* NULL: the rows can be read once */
} gsa_row_source;
/* Opens a reader of such rows. The source is copied; what its ctx points to must outlive the reader. */
GSA_API GSA_NODISCARD gsa_status gsa_reader_open_rows(const gsa_row_source *source, const gsa_memory *memory,
                                                      const gsa_call *call, gsa_reader **out, gsa_error *error);

/* Generated rows with planted weights, the same on every machine. A row has one feature of value 1 in each of `nnz`
 * equal ranges of the features; with a skew, id r (from 0) of a range has a probability in proportion to
 * 1 / (r + 1)^skew. Labels are drawn from the planted model's probabilities: 0 and 1, or 0 .. classes - 1; classes = 1
 * gives a real target with Gaussian-like noise. */
typedef struct gsa_generator {
    size_t size;         /* sizeof(gsa_generator), set by the caller */
    uint64_t n_rows;     /* number of rows */
    uint64_t n_features; /* 1 .. 2^32 - 2 */
    uint64_t nnz;        /* 1 .. n_features */
    uint64_t n_classes;  /* 1 .. 1000 */
    uint64_t seed;       /* of weights and rows */
    double skew;         /* 0 .. 10; 0: uniform, 1: like words of a language */
    double noise;        /* classes: share of rows, 0 .. 1, with a random label; a real target: the standard
                          * deviation of the noise, 0 .. 1e6, where 0 means 0.3 */
} gsa_generator;
/* Opens a reader of generated rows; GSA_ARGUMENT if a number is out of range. */
GSA_API GSA_NODISCARD gsa_status gsa_reader_open_generated(const gsa_generator *what, const gsa_memory *memory,
                                                           const gsa_call *call, gsa_reader **out, gsa_error *error);

/* Returns the next rows, valid until the next call on this reader (label words keep their numbers and texts until
 * close); GSA_END after the last. From a stream, rows are returned as soon as they arrive. After an error other than
 * GSA_STOPPED the reader must not be read further. */
GSA_API GSA_NODISCARD gsa_status gsa_reader_next(gsa_reader *reader, gsa_batch *out, gsa_error *error);
/* Reads as far as needed to recognise the format and the columns of a table, without consuming rows. The first call of
 * next does the same. GSA_OK also if there are no rows. */
GSA_API GSA_NODISCARD gsa_status gsa_reader_begin(gsa_reader *reader, gsa_error *error);
/* Sets the schema that the input must match, as another reader or a model returns it (NULL: any); before begin and
 * next. Columns are matched by name if the table has a header, else by position; a missing or unknown one is
 * GSA_ARGUMENT. */
GSA_API GSA_NODISCARD gsa_status gsa_reader_set_schema(gsa_reader *reader, const char *text, gsa_error *error);
/* Returns the schema, after begin: the meaning of the columns (docs/formats/csv.md); NULL if rows have feature
 * numbers. Valid until close. */
GSA_API const char *gsa_reader_schema(const gsa_reader *reader);
/* Returns a line that describes the first file, after begin; NULL if there is none. Valid until close. */
GSA_API const char *gsa_reader_description(const gsa_reader *reader);
/* Returns the name of a table's feature: its column, or column=category; NULL if it is not known. */
GSA_API const char *gsa_reader_name(const gsa_reader *reader, uint64_t feature);
/* The maximum number of categories with names. */
#define GSA_MAX_NAMES ((size_t)1 << 20)
/* The maximum total size of the names, in bytes. */
#define GSA_NAMES_SIZE ((size_t)64 << 20)
/* Returns the names of categories by number, in the order in which their features appeared; NULL beyond the end. Empty
 * if the category cannot be printed. Valid until rows are read. */
GSA_API const char *gsa_reader_name_at(const gsa_reader *reader, size_t number, uint64_t *feature);
/* Returns the share of categories that collide with another in one feature, estimated from the number of features in
 * use; NaN without categories. Needs remember_names; not while another thread reads. */
GSA_API double gsa_reader_collision_rate(const gsa_reader *reader);

/* Returns the cells of the last batch, *n_cells per row: numeric columns, then categorical ones, each in the order of
 * the schema. An absent cell is 0, a number 1, a category the hash whose lowest bits are its feature
 * (docs/formats/csv.md), a text a hash of all of it. Then weekday, month and hour of every column of dates: the number
 * of the column, from 0, times 2^32, plus the feature. A bad row that is kept has none. NULL without keep_cells, and if
 * a row did not come from text or Arrow columns. */
GSA_API const uint64_t *gsa_reader_cells(const gsa_reader *reader, size_t *n_cells);

/* The features of a schema: numbers and dates have the ids 0 .. n_numbers - 1, the markers of their missing values the
 * next n_numbers, and categories are hashed to 2^bits ids from first_word on. */
typedef struct gsa_schema_info {
    size_t size;                 /* sizeof(gsa_schema_info), set by the caller */
    unsigned bits;               /* as in the reader's options */
    uint64_t n_numbers, n_words; /* columns of numbers or dates, and others; for namespaces 0 and 1 */
    uint64_t n_crosses;          /* products of two columns or namespaces */
    uint64_t n_dates;            /* how many of n_numbers are dates */
    uint64_t first_word;         /* the first feature of categories */
    uint64_t n_texts;            /* how many of n_words are texts, which have the features of their words */
    uint64_t first_text;         /* number of the first of them among numeric columns, then others */
    uint64_t n_per;              /* 1: one of n_words is the column of customers; 0: none is */
    uint64_t per;                /* its number, likewise */
    uint64_t first_per;          /* the first feature of customers, each of whom has 1 + n_numbers */
} gsa_schema_info;
/* Parses a schema as gsa_reader_schema returns it. */
GSA_API GSA_NODISCARD gsa_status gsa_schema_get_info(const char *schema, gsa_schema_info *out, gsa_error *error);

/* A cell of a row: text as in a table (UTF-8, which need not end with a NUL, "" if it is missing), or a number. */
typedef struct gsa_cell {
    const char *text; /* NULL: it is the number */
    size_t text_size;
    double number; /* NaN: missing */
} gsa_cell;

/* A row of cells, for servers that predict one at a time (docs/serving.md). Threads that share a model have one each.
 */
typedef struct gsa_row gsa_row;
/* Makes a row of a schema (gsa_model_schema), which is copied, for cells in the order of these columns. Columns that
 * are no features are ignored but for the exposure, and each that is one must be there. NULL: the features in the order
 * of the schema. GSA_UNSUPPORTED without a schema. */
GSA_API GSA_NODISCARD gsa_status gsa_row_new(const char *schema, const char *const *columns, size_t n_columns,
                                             const gsa_memory *memory, gsa_row **out, gsa_error *error);
/* Returns the column of a cell, by its number from 0; NULL if it is ignored or beyond the last. Valid until the row is
 * freed. */
GSA_API const char *gsa_row_column(const gsa_row *row, size_t cell);
/* Makes a batch of one row from a cell per column, valid until the next call on this row; gsa_model_predict and others
 * take it. It has the features that readers make of such cells, and takes no memory unless a text is longer than all
 * before. A cell that readers would refuse is GSA_INPUT, and the row can be set again. */
GSA_API GSA_NODISCARD gsa_status gsa_row_set(gsa_row *row, const gsa_cell *cells, gsa_batch *out, gsa_error *error);
/* Frees a row. Takes NULL. */
GSA_API void gsa_row_free(gsa_row *row);

/* Returns to the first row; GSA_UNSUPPORTED for a stream. */
GSA_API GSA_NODISCARD gsa_status gsa_reader_rewind(gsa_reader *reader, gsa_error *error);

/* Closes and frees a reader; its batches become invalid. Takes NULL. */
GSA_API void gsa_reader_close(gsa_reader *reader);

/* Prepares several passes: returns to the first row and, if a file is compressed or the input is an Arrow stream or
 * comes from a gsa_file_source, writes the rows of the next complete pass as a cache to an unnamed file in `folder`.
 * Later passes read it, several times faster, with row numbers as locations. The file takes at most half of the free
 * space and is gone when the reader is closed or the process ends. Without space, and for plain files and memory, rows
 * are parsed again. Does nothing for streams, rows of the caller and generated rows. */
GSA_API GSA_NODISCARD gsa_status gsa_reader_spill(gsa_reader *reader, const char *folder, gsa_error *error);

/* The progress of a reader. */
typedef struct gsa_reader_progress {
    size_t size;           /* sizeof(gsa_reader_progress), set by the caller */
    uint64_t n_rows;       /* delivered since the start or the last rewind or seek */
    uint64_t n_bad_rows;   /* skipped since then; for spilled rows, when they were written */
    uint64_t bytes_read;   /* from the source since then, before decompression */
    uint64_t bytes_total;  /* 0 if unknown */
    int is_stream;         /* nonzero: cannot be read again */
    uint64_t bytes_kept;   /* size of the spill file, then also bytes_total; 0: rows do not come from it */
    int keep_failed;       /* nonzero: rows could not be spilled, for example for lack of space */
    uint64_t n_unlabelled; /* rows of tables without a label, left out; counted like bad rows */
    uint64_t n_recoded;    /* cells of tables in text that are not UTF-8, read as Windows-1252; counted alike */
} gsa_reader_progress;
/* Fills in the progress; may be called while another thread reads. */
GSA_API gsa_status gsa_reader_get_progress(const gsa_reader *reader, gsa_reader_progress *out);
/* Returns the name of a file by its number in gsa_place; never NULL. */
GSA_API const char *gsa_reader_file(const gsa_reader *reader, uint32_t file);
/* Prefixes the message of an error about a row of `batch` with its file, line and byte. */
GSA_API void gsa_reader_locate(const gsa_reader *reader, const gsa_batch *batch, gsa_error *error);

/* Returns a codec by its number, "gzip", "zstd" ...; NULL beyond the end. *version: that of the library, NULL if this
 * build lacks it. */
GSA_API const char *gsa_codec_at(size_t number, const char **version);

/* A destination of batches. */
typedef struct gsa_writer gsa_writer;
/* Opens a file ("-": standard output) for "libsvm" text, "gsac" (a cache of parsed rows) or "vw" (Vowpal Wabbit text);
 * NULL: by the suffix, else libsvm text. Compresses if .gz or .zst follows the suffix. The file appears under its name
 * when close succeeds. Row weights in libsvm text are GSA_UNSUPPORTED, words as labels in Vowpal Wabbit text
 * GSA_INPUT. Keeps memory and call until close, as readers do: it compresses on several threads. */
GSA_API GSA_NODISCARD gsa_status gsa_writer_open(const char *path, const char *format, const gsa_memory *memory,
                                                 const gsa_call *call, gsa_writer **out, gsa_error *error);
/* Sets the schema of the rows (gsa_reader_schema; NULL: none), before the first row. A cache keeps it, libsvm text does
 * not; Vowpal Wabbit text of such rows is GSA_UNSUPPORTED. */
GSA_API GSA_NODISCARD gsa_status gsa_writer_set_schema(gsa_writer *writer, const char *text, gsa_error *error);
/* Adds the name of a feature (gsa_reader_name_at), before close. A cache keeps it; other formats ignore it. */
GSA_API GSA_NODISCARD gsa_status gsa_writer_add_name(gsa_writer *writer, uint64_t feature, const char *name,
                                                     gsa_error *error);
/* Writes the next rows. */
GSA_API GSA_NODISCARD gsa_status gsa_writer_write(gsa_writer *writer, const gsa_batch *batch, gsa_error *error);
/* Finishes the file and frees the writer; leaves no file behind on failure. */
GSA_API GSA_NODISCARD gsa_status gsa_writer_close(gsa_writer *writer, gsa_error *error);
/* Removes what was written and frees the writer. Takes NULL. */
GSA_API void gsa_writer_discard(gsa_writer *writer);

#ifdef __cplusplus
}
#endif
#endif
