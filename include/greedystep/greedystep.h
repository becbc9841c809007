/* greedystep: linear models with nothing to tune, by greedy step averaging (GSA).
 *
 * This is the core of the contract, in rings; most callers need only the first few lines of each:
 *
 *   1 version, status, error     4 parameters     7 metrics
 *   2 environment                5 state          8 the plan
 *   3 batch                      6 model
 *
 * Two things travel through the library. A *batch* is data: a borrowed view of rows. A *state* is knowledge: everything
 * learned so far, mergeable and serialisable. A *model* is a state made read-only.
 *
 * Rules that hold for every function here:
 *   - A fallible call returns gsa_status and takes, last, an optional gsa_error (NULL is fine) that it fills on
 * failure.
 *   - `**out` is yours to free; everything `const` is borrowed for the duration of the call unless it says otherwise.
 *   - A `const` handle may be shared between threads; any other handle belongs to one thread at a time.
 *   - free functions take NULL.
 *   - The library prints nothing, never exits, reads no environment variable and has no writable global data.
 */
#ifndef GREEDYSTEP_GREEDYSTEP_H
#define GREEDYSTEP_GREEDYSTEP_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__) || defined(__clang__)
/* What the library exports. */
#ifdef GSAI_EXPORTS /* on Windows, where the library is made */
#define GSA_API __declspec(dllexport)
#else
#define GSA_API __attribute__((visibility("default")))
#endif
/* Whoever ignores the result is warned. */
#define GSA_NODISCARD __attribute__((warn_unused_result))
#else
#define GSA_API
#define GSA_NODISCARD
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- 1. version, status, error ---------------------------------------------------------------------------------- */

#define GSA_VERSION_MAJOR 0 /* 1 in 1.2.3 */
#define GSA_VERSION_MINOR 1 /* 2 in 1.2.3 */
#define GSA_VERSION_PATCH 0 /* 3 in 1.2.3 */
/* The version of this header. */
#define GSA_VERSION "0.1.0"

/* The version of the library that is linked, which may differ from the header's. */
GSA_API const char *gsa_version(void);

/* All statuses, for whoever needs a table of them: X(name, value, text). Values are frozen: a number, once given, keeps
 * its meaning. */
#define GSA_STATUS_LIST(X)                                              \
    X(OK, 0, "ok")                                                      \
    X(END, 1, "end of data")                                            \
    X(STOPPED, 2, "stopped on request")                                 \
    X(MEMORY, 3, "out of memory")                                       \
    X(ARGUMENT, 4, "invalid argument")                                  \
    X(INPUT, 5, "invalid row")                                          \
    X(IO, 6, "input or output failed")                                  \
    X(FORMAT, 7, "not a file of the expected format, or a damaged one") \
    X(LIMIT, 8, "over a limit")                                         \
    X(LABEL, 9, "label contradicts the loss")                           \
    X(DIVERGED, 10, "training diverged")                                \
    X(UNSUPPORTED, 11, "not supported by this build")                   \
    X(CONFLICT, 12, "states do not fit together")

/* What a call says of how it went. */
typedef enum gsa_status {
#define GSA_STATUS_ENTRY(name, value, text) GSA_##name = value,
    GSA_STATUS_LIST(GSA_STATUS_ENTRY)
#undef GSA_STATUS_ENTRY
} gsa_status;

/* A short English text for a status; never NULL, also for numbers that are no status. */
GSA_API const char *gsa_status_text(gsa_status status);

/* The error is about no row. */
#define GSA_NO_ROW UINT64_MAX

/* What went wrong, for a person and for a program. Owned by the caller, no resources inside. */
typedef struct gsa_error {
    gsa_status status; /* what the call returned */
    uint64_t line;     /* 1-based line of the input, 0 if unknown */
    uint64_t byte;     /* 0-based byte offset in the (decompressed) input of what is wrong; meaningful if line > 0 */
    uint64_t row;      /* row of the batch handed in, or GSA_NO_ROW */
    char message[512]; /* what happened, where, what was expected or what to do; NUL-terminated, no newline */
} gsa_error;

/* ---- 2. environment --------------------------------------------------------------------------------------------- */

/* Counts the memory that the objects of a run take together, and limits it. The caller makes one, sets the limit and
 * zeroes the rest; environments point to it, and it must outlive every object that was made with one of them. Objects
 * on several threads may share it. docs/memory.md says what is counted. */
typedef struct gsa_budget {
    uint64_t limit; /* bytes; beyond it a call fails with GSA_LIMIT. 0: memory is counted, but not limited */
    size_t used;    /* bytes in use; changed by the library alone, atomically */
    size_t refused; /* what the last request that failed asked for; 0: the limit allowed it, but there was no memory */
} gsa_budget;

/* Where an object gets memory, how much it may take, and whom it tells. Copied into each object that is given one.
 * NULL for the whole, or zero for a member, means the default. Nothing here changes what is learned. */
typedef struct gsa_env {
    /* Memory; malloc, calloc, realloc and free by default. All four or none. Sizes are never 0. */
    void *(*alloc)(void *ctx, size_t size);
    void *(*alloc_zeroed)(void *ctx, size_t size);         /* all bytes 0 */
    void *(*resize)(void *ctx, void *memory, size_t size); /* as realloc does */
    void (*release)(void *ctx, void *memory);              /* as free does */
    void *alloc_ctx;                                       /* handed to these four */
    /* What all objects that share it may take together: asked before memory is taken. A line, a block, the words or the
     * columns of a reader may have a quarter of its limit each. NULL: memory is neither counted nor limited. */
    gsa_budget *budget;
    /* Asked now and then in long calls and after an interrupted system call; nonzero ends the call with GSA_STOPPED. */
    int (*should_stop)(void *ctx);
    void *stop_ctx; /* handed to should_stop */
    /* Threads that a call of the engine, and a reader of text until it is closed, may use; 0: as many as there are
     * processors, or one with an allocator of the caller's. Never changes a result. With more than one, should_stop and
     * the allocator are called from several. */
    unsigned n_threads;
} gsa_env;

/* ---- 3. batch --------------------------------------------------------------------------------------------------- */

/* Where a row came from, for messages and gsa_reader_seek. Without text the line is the number of the row, and the byte
 * UINT64_MAX or, in a cache, that of its block. */
typedef struct gsa_place {
    uint64_t line; /* 1-based; 0: not known, since the file was entered in the middle (gsa_reader_locate finds it) */
    uint64_t byte; /* 0-based, of the line's first byte in the decompressed file */
    uint32_t file; /* number of the file in the reader, from 0 */
} gsa_place;

/* Rows in compressed-sparse-row form, or dense rows of one width. All pointers are borrowed.
 * A value of zero means the same as an absent feature, in sparse and in dense rows. Ids within a row must be distinct;
 * their order is free (readers deliver them ascending). Values, labels and weights must be finite, weights >= 0. */
typedef struct gsa_batch {
    size_t n_rows;            /* how many */
    const int64_t *row_start; /* n_rows + 1 offsets >= 0 into index and value, none descends; NULL for dense rows */
    const uint32_t *index;    /* feature ids from 0, at most GSA_MAX_ID; NULL for dense rows */
    const float *value;       /* NULL: every value is 1 (sparse rows only) */
    size_t width;             /* values a row, dense rows only */
    const double *label;      /* NULL: rows without labels, for prediction only */
    const int32_t *word;      /* NULL: all labels are numbers; else word[r] >= 0 means words[word[r]] is the label */
    const char *const *words; /* UTF-8, NUL-terminated */
    size_t n_words;           /* how many words there are */
    const float *weight;      /* NULL: every row counts once */
    const gsa_place *place;   /* NULL: unknown */
} gsa_batch;

/* The highest id of a feature, 2^32 - 3: libsvm's index 2^32 - 2. */
#define GSA_MAX_ID 0xFFFFFFFDu

/* ---- 4. parameters ---------------------------------------------------------------------------------------------- */

/* What the value of a parameter looks like. */
typedef enum gsa_param_kind {
    GSA_PARAM_CHOICE = 0, /* one of some words */
    GSA_PARAM_COUNT = 1,  /* a whole number */
    GSA_PARAM_SWITCH = 2  /* on or off */
} gsa_param_kind;

/* One entry of the parameter table, from which flags, config keys, keywords and manual are made. */
typedef struct gsa_param {
    const char *name;     /* with underscores; a dash is accepted wherever a name is given */
    gsa_param_kind kind;  /* what its value looks like */
    const char *choices;  /* "a|b|c", or NULL */
    const char *initial;  /* the default, as text */
    uint64_t least, most; /* range of a count */
    const char *help;     /* one line */
} gsa_param;

/* A parameter by its number from 0; NULL beyond the end. */
GSA_API const gsa_param *gsa_param_at(size_t number);

/* Values for parameters, by name. */
typedef struct gsa_config gsa_config;
/* A configuration in which all parameters have their defaults. */
GSA_API GSA_NODISCARD gsa_status gsa_config_new(const gsa_env *env, gsa_config **out, gsa_error *error);
/* Frees the configuration; states have copies of it. */
GSA_API void gsa_config_free(gsa_config *config);
/* Gives a parameter a value, as text. Unknown names and bad values are GSA_ARGUMENT; the message proposes what was
 * probably meant. */
GSA_API GSA_NODISCARD gsa_status gsa_config_set(gsa_config *config, const char *name, const char *value,
                                                gsa_error *error);

/* A convex loss of the margin that the caller supplies; trained by the paper's Algorithm 2 (a one-dimensional search a
 * row). Replaces the parameter "loss". Both functions must be pure and finite for finite arguments. */
typedef struct gsa_margin_loss {
    double (*loss)(void *ctx, double margin, double label);       /* of one row */
    double (*derivative)(void *ctx, double margin, double label); /* with respect to the margin */
    void *ctx;                                                    /* handed to both */
} gsa_margin_loss;
/* Sets the loss, which is copied; its ctx must outlive the states. */
GSA_API GSA_NODISCARD gsa_status gsa_config_set_loss(gsa_config *config, const gsa_margin_loss *loss, gsa_error *error);

/* ---- 5. state --------------------------------------------------------------------------------------------------- */

/* Everything learned so far. */
typedef struct gsa_state gsa_state;
/* A state made read-only, for predicting. */
typedef struct gsa_model gsa_model;

/* A state that has learned nothing. The configuration is copied; NULL: every parameter has its default. */
GSA_API GSA_NODISCARD gsa_status gsa_state_new(const gsa_config *config, const gsa_env *env, gsa_state **out,
                                               gsa_error *error);
/* Frees the state; models that were made of it stay. */
GSA_API void gsa_state_free(gsa_state *state);

/* Look at the first rows without learning them: decides `loss=auto` and enters their labels in sorted order. Optional
 * and once: the first update does the same with its own rows when loss is auto. After this, a label that contradicts
 * the decision is GSA_LABEL. Rows that all have weight 0 are not the first of the input: they only tell its labels. */
GSA_API GSA_NODISCARD gsa_status gsa_state_prepare(gsa_state *state, const gsa_batch *first, gsa_error *error);

/* Learn all rows in order. On failure the state holds the rows before error->row and remains usable. With a loss that
 * is decided, chunking does not matter: update(A) then update(B) equals update(A then B), bit for bit. Offsets that
 * descend and feature ids above GSA_MAX_ID are GSA_ARGUMENT here and in every call that takes a batch. */
GSA_API GSA_NODISCARD gsa_status gsa_state_update(gsa_state *state, const gsa_batch *batch, gsa_error *error);
/* Learn the rows named, in the order named. */
GSA_API GSA_NODISCARD gsa_status gsa_state_update_rows(gsa_state *state, const gsa_batch *batch, const uint32_t *rows,
                                                       size_t n_rows, gsa_error *error);
/* Rows with one output are learned in groups of up to eight, which are cut by the rows alone; rows of a group that is
 * not full wait in the state, and everything that is asked of the state is answered as if they were learned. This
 * learns them: copies that are written in parts (gsa_state_write_delta_header) must have it done. The end of a pass
 * does it. */
GSA_API GSA_NODISCARD gsa_status gsa_state_close_group(gsa_state *state, gsa_error *error);
/* The input is read to its end once; the next row is the first of the next pass. */
GSA_API void gsa_state_end_pass(gsa_state *state);

/* Several states into one, weighted feature by feature by the mass (sum of squares) that each saw. States trained apart
 * from nothing: base NULL. States that all started from one: give it as base. States that share a start that is not
 * given are GSA_CONFLICT, as are states of different loss or intercept, and states of which only some have the method
 * paper. */
GSA_API GSA_NODISCARD gsa_status gsa_state_merge(const gsa_state *const *states, size_t n_states, const gsa_state *base,
                                                 const gsa_env *env, gsa_state **out, gsa_error *error);

/* Receives consecutive bytes; returns nonzero to fail the write. */
typedef int (*gsa_write_fn)(void *ctx, const void *bytes, size_t size);

/* What gsa_state_merge does, bit for bit, for copies that are in different processes: of a base that knows all labels,
 * two copies or more. Every copy writes its head, which is a state without features (gsa_state_read). A process that
 * has copies first_copy, first_copy + 1 ... of all writes what they learned of a delta of the features, added up;
 * wherever the deltas of one range come together, from all processes in the order of their copies, they become one;
 * heads of all copies, base and united deltas, in the order of their features, are the merged state. How copies are
 * spread over processes changes no bit, and nobody needs to have more than a few of the size of a model. A delta has 21
 * bytes a feature that was met (one output) and a bit for every one. Its bytes are for a moment, not for files. */
GSA_API GSA_NODISCARD gsa_status gsa_state_write_delta_header(const gsa_state *copy, const gsa_state *base,
                                                              gsa_write_fn write, void *ctx, gsa_error *error);
/* What consecutive copies, the first of which is number first_copy of all, learned of n_features features from `first`
 * on, added up (gsa_state_write_delta_header says what for). */
GSA_API GSA_NODISCARD gsa_status gsa_state_write_delta(const gsa_state *const *copies, size_t n_copies,
                                                       size_t first_copy, const gsa_state *base, uint64_t first,
                                                       uint64_t n_features, gsa_write_fn write, void *ctx,
                                                       gsa_error *error);
/* Slices of one range, in the order of their copies, as one. */
GSA_API GSA_NODISCARD gsa_status gsa_deltas_reduce(const void *const *deltas, const size_t *sizes, size_t n_deltas,
                                                   const gsa_env *env, gsa_write_fn write, void *ctx, gsa_error *error);
/* The merged state, of the heads of all copies and the united deltas in the order of their features. */
GSA_API GSA_NODISCARD gsa_status gsa_state_merge_deltas(const gsa_state *const *heads, size_t n_copies,
                                                        const gsa_state *base, const void *const *united,
                                                        const size_t *sizes, size_t n_deltas, const gsa_env *env,
                                                        gsa_state **out, gsa_error *error);

/* The state becomes what `by` is, in memory from its own env and with its own parameters of the run; `by` is freed,
 * also if that fails. */
GSA_API GSA_NODISCARD gsa_status gsa_state_replace(gsa_state *state, gsa_state *by, gsa_error *error);
/* Judges by the held-out rows: the averaged weights are kept aside if none before were better by the loss of these rows
 * (by more than a rounding), and are then what a model is made of. To be called at the end of a pass; does nothing if
 * no rows are held out or the method is paper. */
GSA_API GSA_NODISCARD gsa_status gsa_state_checkpoint_best(gsa_state *state, gsa_error *error);

/* A working copy that goes on from here like the state itself would: one of n_copies that learn side by side, each its
 * own rows. What they learn comes together again by gsa_state_merge with the state they were taken from as base. With
 * n_copies > 1 a row counts for so many in the average of a copy, so that the averages of all are that of one run. */
GSA_API GSA_NODISCARD gsa_status gsa_state_fork(const gsa_state *base, size_t n_copies, const gsa_env *env,
                                                gsa_state **out, gsa_error *error);
/* A copy of an earlier base becomes one of this base, in the memory that it has as far as that is enough: several times
 * as fast as new memory where a table is large. After a failure it is good for gsa_state_free only. */
GSA_API GSA_NODISCARD gsa_status gsa_state_refresh(gsa_state *copy, const gsa_state *base, size_t n_copies,
                                                   gsa_error *error);

/* A new run that begins with what another has learned (weights, masses, labels) and starts its own average, step mean
 * and rows from nothing. config NULL: the parameters of `from`. */
GSA_API GSA_NODISCARD gsa_status gsa_state_start_from(const gsa_state *from, const gsa_config *config,
                                                      const gsa_env *env, gsa_state **out, gsa_error *error);

/* The model that this state stands for; the state can go on learning. If env asks to stop meanwhile, and there are
 * hundreds of classes, the weights are neither calibrated by the held-out rows nor learn these: that can take long. */
GSA_API GSA_NODISCARD gsa_status gsa_state_finish(const gsa_state *state, const gsa_env *env, gsa_model **out,
                                                  gsa_error *error);

/* What a state has learned and where its run stands. */
typedef struct gsa_summary {
    const char *loss;      /* "auto" while undecided, else as in gsa_model_info */
    const char *method;    /* how the weights were found: "optimum", "gsa" or "paper" */
    uint64_t n_rows;       /* rows learned in this run, over all passes */
    uint64_t n_rows_all;   /* of a copy: with those of the others, taken to be as many each */
    uint64_t n_held_out;   /* rows in the held-out sample */
    uint64_t n_features;   /* highest feature id seen + 1 */
    uint64_t n_classes;    /* labels known; 0 for regression */
    uint64_t pass;         /* passes completed */
    uint64_t pass_rows;    /* rows taken in the pass under way, learned or held out */
    double step;           /* current mean of the greedy steps */
    double loss_sum;       /* progressive: each row's loss before it was learned, in the pass under way */
    double loss_weight;    /* what to divide loss_sum by */
    double last_pass_loss; /* mean progressive loss of the last completed pass, NaN if none */
    uint64_t n_merged;     /* runs that were merged into this state, 1 if none were */
    uint64_t best_pass;    /* passes completed when the weights that are kept were the best; 0 if none are kept */
    double best_loss;      /* loss of the held-out rows with these, NaN if none are kept */
    double falling;        /* how much of the progressive loss was lost between the last rows and the quarter to half
                            * before them, as a share; NaN while there are few rows */
} gsa_summary;
/* Where the state stands now. */
GSA_API void gsa_state_summary(const gsa_state *state, gsa_summary *out);
/* Mean loss of the held-out rows under the weights that a model would have now, calibrated by them; NaN if none were
 * held out. Costs their length. */
GSA_API double gsa_state_held_out_loss(const gsa_state *state);
/* The loss on the same rows of the best prediction that looks at no feature: the shares of classes, or the mean of
 * labels. NaN for hinge and custom losses, without held-out rows, and where fewer than 100 are left to judge. */
GSA_API double gsa_state_constant_loss(const gsa_state *state);
/* Returns what people call the mean of a loss, such as "log loss", and turns *mean into it: of squared loss the root of
 * the mean squared error, "rmse". NULL for an unknown loss. */
GSA_API const char *gsa_loss_measure(const char *loss, double *mean);
/* A parameter of the state as text, NULL for an unknown name. */
GSA_API const char *gsa_state_get(const gsa_state *state, const char *name);
/* Changes a parameter. Once rows were taken only `passes` can change; any other new value is GSA_CONFLICT, the same
 * value is fine. */
GSA_API GSA_NODISCARD gsa_status gsa_state_set(gsa_state *state, const char *name, const char *value, gsa_error *error);

/* What the columns of the rows mean, as gsa_reader_schema tells it (docs/formats/schema.md); NULL: the rows came with
 * feature numbers. The library keeps the text in the state, its copies and its models, and does not read it. Once rows
 * were taken another text is GSA_CONFLICT; so are states of different texts that are to be merged. gsa_train sets it.
 */
GSA_API GSA_NODISCARD gsa_status gsa_state_set_schema(gsa_state *state, const char *text, gsa_error *error);
/* The text that gsa_state_set_schema was given, or NULL. */
GSA_API const char *gsa_state_schema(const gsa_state *state);
/* Asks for the names (UTF-8) of the features that have been seen, and keeps those of the 65536 strongest that have one,
 * for its models; names from before stay where none is given (NULL). gsa_train does it at its end. */
GSA_API GSA_NODISCARD gsa_status gsa_state_set_names(gsa_state *state,
                                                     const char *(*name)(const void *ctx, uint64_t feature),
                                                     const void *ctx, gsa_error *error);

/* Nonzero if the rows begin like those this state has learned first; a resumed run checks its input so. Compares as
 * many as the state remembers (at most 1024); fewer rows than that are a no. */
GSA_API int gsa_state_run_matches(const gsa_state *state, const gsa_batch *first);
/* Which rows there are, whatever their order: it adds up over batches, and over copies. */
typedef struct gsa_fingerprint {
    uint64_t sum; /* of hashes, modulo 2^64 */
    uint64_t n_rows;
} gsa_fingerprint;
/* Adds n_rows rows of the batch, by their numbers; rows NULL: the first n_rows. */
GSA_API void gsa_fingerprint_add(gsa_fingerprint *fingerprint, const gsa_batch *batch, const uint32_t *rows,
                                 size_t n_rows);
/* The rows that the state has taken in its first pass; gsa_train compares them with the input of a run that goes on. */
GSA_API void gsa_state_fingerprint(const gsa_state *state, gsa_fingerprint *out);

/* Writes the state to a file: under a temporary name beside it, fsynced and renamed. Equal states give equal bytes. */
GSA_API GSA_NODISCARD gsa_status gsa_state_save(const gsa_state *state, const char *path, gsa_error *error);
/* Reads a file that gsa_state_save wrote. */
GSA_API GSA_NODISCARD gsa_status gsa_state_load(const char *path, const gsa_env *env, gsa_state **out,
                                                gsa_error *error);
/* Gives the bytes of such a file to a function. */
GSA_API GSA_NODISCARD gsa_status gsa_state_write(const gsa_state *state, gsa_write_fn write, void *ctx,
                                                 gsa_error *error);
/* A state from such bytes, of which it copies what it needs. */
GSA_API GSA_NODISCARD gsa_status gsa_state_read(const void *bytes, size_t size, const gsa_env *env, gsa_state **out,
                                                gsa_error *error);
/* A state of a caller-supplied loss is loaded without it; give it again before update. */
GSA_API GSA_NODISCARD gsa_status gsa_state_set_loss(gsa_state *state, const gsa_margin_loss *loss, gsa_error *error);

/* ---- 6. model --------------------------------------------------------------------------------------------------- */

/* Frees the model; weights of a file are unmapped. */
GSA_API void gsa_model_free(gsa_model *model);
/* Writes the model to a file, as gsa_state_save does. */
GSA_API GSA_NODISCARD gsa_status gsa_model_save(const gsa_model *model, const char *path, gsa_error *error);
/* Reads a file that gsa_model_save wrote; the weights are mapped from it where they can be. */
GSA_API GSA_NODISCARD gsa_status gsa_model_load(const char *path, const gsa_env *env, gsa_model **out,
                                                gsa_error *error);
/* Gives the bytes of such a file to a function. */
GSA_API GSA_NODISCARD gsa_status gsa_model_write(const gsa_model *model, gsa_write_fn write, void *ctx,
                                                 gsa_error *error);
/* A model from such bytes, of which it copies what it needs. */
GSA_API GSA_NODISCARD gsa_status gsa_model_read(const void *bytes, size_t size, const gsa_env *env, gsa_model **out,
                                                gsa_error *error);
/* Nonzero if a file that begins like this is one of a model or state, perhaps a damaged one: no text does. 9 bytes are
 * enough, fewer are a no. */
GSA_API int gsa_model_matches(const void *start, size_t size);

/* What a model is. */
typedef struct gsa_model_info {
    const char *loss;    /* "squared", "logistic", "softmax", "hinge", "squared_hinge", "custom" */
    const char *method;  /* how it was trained */
    const char *average; /* which weights it has: "recent", "full", ... */
    uint64_t n_rows;     /* rows learned; of an optimum, rows that differ from one another */
    uint64_t n_passes;   /* over the input */
    uint64_t n_features; /* highest feature id + 1 */
    /* Margins a row: 1, or the number of classes for softmax and for hinge losses of more than two. */
    uint64_t n_outputs;
    uint64_t n_classes;    /* 0 for regression */
    int has_intercept;     /* whether it has a constant term */
    int has_probabilities; /* logistic and softmax */
} gsa_model_info;
/* What the model is; texts in it are valid until the model is freed. */
GSA_API void gsa_model_get_info(const gsa_model *model, gsa_model_info *out);

/* Labels in sorted order: numbers by value, then words by bytes. Of two, the second is the positive class. NULL beyond
 * the end. Numbers are written as briefly as reads back equal. */
GSA_API const char *gsa_model_label(const gsa_model *model, size_t class_number);
/* The class of a row's label, SIZE_MAX if the model does not know it or has no classes. */
GSA_API size_t gsa_model_class(const gsa_model *model, const gsa_batch *batch, size_t row);
/* What the columns of a table must be for this model; NULL: rows with feature numbers. */
GSA_API const char *gsa_model_schema(const gsa_model *model);
/* The name of a feature, NULL if none is kept. */
GSA_API const char *gsa_model_name(const gsa_model *model, uint64_t feature);
/* One weight; 0 for ids beyond the model. */
GSA_API float gsa_model_weight(const gsa_model *model, uint64_t feature, size_t output);
/* The constant term of an output; 0 if there is none. */
GSA_API double gsa_model_intercept(const gsa_model *model, size_t output);
/* All weights, row-major [n_features x n_outputs]; valid until the model is freed. */
GSA_API const float *gsa_model_weights(const gsa_model *model);

/* A model with the loss and labels of another and weights of its own: row-major [n_features x n_outputs], and one
 * intercept an output (NULL: zeros). For weights that were found in another way. */
GSA_API GSA_NODISCARD gsa_status gsa_model_with_weights(const gsa_model *like, uint64_t n_features,
                                                        const float *weights, const double *intercept,
                                                        const gsa_env *env, gsa_model **out, gsa_error *error);

/* One number a row and output: w.x + b. Features that the model does not know count as absent.
 * Neither of the two allocates for sparse rows. `out` is row-major with n_outputs (margins) or
 * max(1, n_classes) (predictions) numbers a row. */
GSA_API GSA_NODISCARD gsa_status gsa_model_margins(const gsa_model *model, const gsa_batch *batch, double *out,
                                                   gsa_error *error);
/* Classification: the probability of every class. Regression: the value. Models of a hinge loss have no probabilities
 * (GSA_ARGUMENT): their label is that of the largest margin, or of two the second if the one margin is above 0. */
GSA_API GSA_NODISCARD gsa_status gsa_model_predict(const gsa_model *model, const gsa_batch *batch, double *out,
                                                   gsa_error *error);

/* ---- 7. metrics ------------------------------------------------------------------------------------------------- */

/* Counts how predictions compare with labels. */
typedef struct gsa_metrics gsa_metrics;
/* Begins with nothing counted. The model must outlive the metrics. */
GSA_API GSA_NODISCARD gsa_status gsa_metrics_new(const gsa_model *model, const gsa_env *env, gsa_metrics **out,
                                                 gsa_error *error);
/* Frees the metrics, not their model. */
GSA_API void gsa_metrics_free(gsa_metrics *metrics);
/* Predicts the rows and compares with their labels. A label that the model does not know counts as wrong. */
GSA_API GSA_NODISCARD gsa_status gsa_metrics_update(gsa_metrics *metrics, const gsa_batch *batch, gsa_error *error);
/* Adds what `from` has counted; both must be of equal models. */
GSA_API GSA_NODISCARD gsa_status gsa_metrics_merge(gsa_metrics *metrics, const gsa_metrics *from, gsa_error *error);
/* What was counted as bytes, to be added up in another process with an equal model (another is GSA_CONFLICT); a row of
 * two classes has 8 bytes in them. They are for a moment, not for files. */
GSA_API GSA_NODISCARD gsa_status gsa_metrics_write(const gsa_metrics *metrics, gsa_write_fn write, void *ctx,
                                                   gsa_error *error);
/* Metrics from such bytes. */
GSA_API GSA_NODISCARD gsa_status gsa_metrics_read(const void *bytes, size_t size, const gsa_model *model,
                                                  const gsa_env *env, gsa_metrics **out, gsa_error *error);

/* One result. */
typedef struct gsa_metric {
    const char *name; /* "rows", "log_loss", ...: static text */
    double value;     /* NaN where it is not defined, such as the AUC of one class */
} gsa_metric;
/* Computes everything from what was counted so far. */
GSA_API GSA_NODISCARD gsa_status gsa_metrics_finish(gsa_metrics *metrics, gsa_error *error);
/* After finish: the results in a fixed order; 0 when there are no more. Numbers have rmse, mae and r2. Classes have
 * log_loss, accuracy and calibration_error (the expected one: by how much the probability of the predicted class
 * differs from how often it is right, in 15 bins of equal width), two of them auc, average_precision and brier, more
 * precision, recall and f1, each _macro and _weighted. */
GSA_API int gsa_metrics_at(const gsa_metrics *metrics, size_t number, gsa_metric *out);

/* ---- 8. the plan ------------------------------------------------------------------------------------------------ */

/* The order of rows is part of the algorithm, never of the machine. Shuffled rows come in blocks: a block ends after
 * this many rows, or with the row that brings it to GSA_BLOCK_ENTRIES entries. */
#define GSA_BLOCK_ROWS 65536u
/* The most entries of a block, but for its last row. */
#define GSA_BLOCK_ENTRIES ((size_t)1 << 24)
/* The labels of this many first rows decide what is learned. */
#define GSA_FIRST_ROWS 8192u
/* After this many rows it is decided whether features keep their units; copies can then be merged in deltas. */
#define GSA_SCALING_ROWS 8191u

/* Rows of the block that begins at row `from` of a batch that holds all rows. */
GSA_API size_t gsa_plan_block(const gsa_batch *rows, size_t from);

/* The order in which the n_rows (at most GSA_BLOCK_ROWS) rows of a block are learned: a permutation that depends on the
 * arguments only. */
GSA_API void gsa_plan_order(uint64_t seed, uint64_t pass, uint64_t block, uint32_t n_rows, uint32_t *out);
/* Passes that are made without being told where nothing judges. */
#define GSA_PASSES_UNJUDGED 5u
/* The most passes that are made without being told over an input of so many rows (2^18 rows in all, from 20 to 100). */
GSA_API uint64_t gsa_plan_passes(uint64_t n_rows);
/* The most copies of a round. */
#define GSA_MAX_SHARDS 8192u
/* The most of them that learn at a time. */
#define GSA_MAX_TOGETHER 8u
/* How the next shuffled rows are learned, except with the method paper: one after the other (n_shards 1), or by
 * n_shards copies that are merged when n_rows are learned: n_together of them at a time have whole blocks dealt out to
 * them in turn, n_rows / (n_shards / n_together) rows of the input, and after them come the next ones. */
typedef struct gsa_round {
    size_t n_shards;   /* 1, or up to GSA_MAX_SHARDS, a power of two */
    size_t n_together; /* 1, or up to GSA_MAX_TOGETHER */
    uint64_t n_rows;   /* of all copies */
} gsa_round;
/* The next round. Follows from what the run has learned so far: its rows, its features, and the outputs of the model;
 * more copies than those of one time only if no further label can come, which is so after the first pass, or with one
 * output. */
GSA_API gsa_round gsa_plan_round(uint64_t n_rows, uint64_t n_features, uint64_t n_outputs, int knows_labels);
/* Shards are parts of an input that learn side by side and are merged once a pass, such as the partitions of a cluster
 * (docs/spark.md). Their first rows are learned before that, one after the other, and end a pass of their own: so many
 * of each, or as many as have GSA_FIRST_ENTRIES / n_shards entries if these are fewer. */
GSA_API uint64_t gsa_plan_first_rows(uint64_t n_rows, uint64_t n_shards);
/* About how many entries the first rows of all shards have together, at the most. */
#define GSA_FIRST_ENTRIES ((uint64_t)1 << 22)
/* The rows of a shard count as those of one of so many copies. */
GSA_API uint64_t gsa_plan_replicas(uint64_t n_rows, uint64_t shard_rows);
/* After the first rows and after every pass: whether another is due, because fewer than were asked for are done or,
 * with 0, because held-out rows gained by the last one. */
GSA_API int gsa_plan_another_pass(const gsa_state *state, uint64_t asked);
/* A gain below this share of the loss is none: by it passes are ended, and a falling loss is told from a flat one. */
#define GSA_MIN_GAIN 0.0005

#ifdef __cplusplus
}
#endif
#endif
