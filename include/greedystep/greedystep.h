/* greedystep: linear models with nothing to tune. Rows in memory are solved to the penalised optimum; streams and
 * larger data are learned by greedy step averaging (GSA).
 *
 * The core API, in seven sections; most callers need only the first few functions of each:
 *
 *   1 version, status, error     4 parameters     7 metrics
 *   2 memory and calls           5 state
 *   3 batch                      6 model
 *
 * A *batch* is a borrowed view of rows. A *state* is what was learned from rows; states can be saved and merged. A
 * *model* is a read-only state, for prediction.
 *
 * Rules that hold for every function here:
 *   - A fallible call returns gsa_status and takes, last, an optional gsa_error (NULL is fine) that it fills
 *     on failure.
 *   - `**out` is yours to free; everything `const` is borrowed for the duration of the call unless it says otherwise.
 *   - A `const` handle may be shared between threads; any other handle belongs to one thread at a time.
 *   - free functions take NULL.
 *   - A struct that the caller makes begins with its size, which the caller sets: gsa_call call = {.size = sizeof
 *     call}. So programs and libraries of different versions work together: members that the caller's version lacks
 *     have their default, and no more than size bytes are filled in. A size of 0 is GSA_ARGUMENT. A struct without a
 *     size never changes, except at the end of those to which the library hands out pointers.
 *   - A query that fills in `*out` returns gsa_status, GSA_END beyond the last item of a list. A query that returns a
 *     text or an array returns NULL if there is none; one that returns a double, NaN if it is not defined.
 *   - The library prints nothing, never exits, reads no environment variable and has no writable global data.
 */
#ifndef GREEDYSTEP_GREEDYSTEP_H
#define GREEDYSTEP_GREEDYSTEP_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__) || defined(__clang__)
/* Marks an exported function. */
#ifdef GSAI_EXPORTS /* when the library is built for Windows */
#define GSA_API __declspec(dllexport)
#else
#define GSA_API __attribute__((visibility("default")))
#endif
/* Warns if the result is ignored. */
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
#define GSA_VERSION_MINOR 2 /* 2 in 1.2.3 */
#define GSA_VERSION_PATCH 0 /* 3 in 1.2.3 */
/* The version of this header. */
#define GSA_VERSION "0.2.0"

/* Returns the version of the linked library, which may differ from the header's. */
GSA_API const char *gsa_version(void);

/* Lists all statuses: X(name, value, text). Values never change. */
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

/* The result of a call. */
typedef enum gsa_status {
#define GSA_STATUS_ENTRY(name, value, text) GSA_##name = value,
    GSA_STATUS_LIST(GSA_STATUS_ENTRY)
#undef GSA_STATUS_ENTRY
} gsa_status;

/* Returns a short English text for a status; never NULL, even for numbers that are no status. */
GSA_API const char *gsa_status_text(gsa_status status);

/* The row of an error that concerns no row. */
#define GSA_NO_ROW UINT64_MAX

/* Describes a failure, for people and programs. Owned by the caller, who need not initialise it; holds no resources. A
 * callback that fails sets all members. */
typedef struct gsa_error {
    gsa_status status; /* what the call returned */
    uint64_t line;     /* 1-based line of the input, 0 if unknown */
    uint64_t byte;     /* 0-based byte offset of the error in the decompressed input; valid if line > 0 */
    uint64_t row;      /* row of the batch that was passed, or GSA_NO_ROW */
    char message[512]; /* what failed, where, and a remedy; NUL-terminated, no newline */
    char param[32];    /* the parameter or reader option that it concerns, such as "loss"; "" if none */
} gsa_error;

/* ---- 2. memory and calls ---------------------------------------------------------------------------------------- */

/* Counts and limits the memory of several objects together. The caller sets size and limit, zeroes the rest, and points
 * gsa_memory to it; it must outlive every object that uses it. Threads may share it. docs/performance.md says what is
 * counted. */
typedef struct gsa_budget {
    size_t size;    /* sizeof(gsa_budget), set by the caller */
    uint64_t limit; /* bytes; a call that needs more fails with GSA_LIMIT. 0: counted, not limited */
    size_t used;    /* bytes in use; written by the library only, atomically */
    size_t refused; /* size of the last request that exceeded the limit; 0: none did, but the system had no memory */
} gsa_budget;

/* The allocator and memory limit of an object, which keeps a copy. Functions that make an object from nothing take one;
 * an object that is made from others uses that of the first of them, also for temporary memory. NULL for the whole, or
 * zero for a member, means the default. */
typedef struct gsa_memory {
    size_t size; /* sizeof(gsa_memory), set by the caller */
    /* malloc, calloc, realloc and free by default. All four or none. Sizes are never 0. Called from several threads if
     * calls have several, or if threads share a handle. */
    void *(*alloc)(void *ctx, size_t size);
    void *(*alloc_zeroed)(void *ctx, size_t size);         /* all bytes 0 */
    void *(*resize)(void *ctx, void *memory, size_t size); /* as realloc does */
    void (*release)(void *ctx, void *memory);              /* as free does */
    void *ctx;                                             /* passed to these four */
    /* The shared memory limit, checked before memory is allocated. A line, a block, the categories and the columns of
     * a reader may each use a quarter of it. NULL: memory is neither counted nor limited. */
    gsa_budget *budget;
} gsa_memory;

/* Returns how many processors the process may use, at least 1: those of the machine, or fewer if its affinity mask or
 * its control groups, such as a container's, allow fewer. */
GSA_API size_t gsa_machine_processors(void);
/* Returns how many bytes of memory it may use, likewise; 0 if that is not known. The command limits memory to half of
 * that. */
GSA_API uint64_t gsa_machine_memory(void);

/* Stop request and threads of one call; only readers and writers keep it, until they are closed. NULL for the whole, or
 * zero for a member, means the default. Nothing here changes a result. */
typedef struct gsa_call {
    size_t size; /* sizeof(gsa_call), set by the caller */
    /* Polled in long calls and after an interrupted system call; nonzero ends the call with GSA_STOPPED. Called from
     * several threads if there are several. */
    int (*should_stop)(void *ctx);
    void *ctx; /* passed to should_stop */
    /* Number of threads that the call may use; 0: one per processor (gsa_machine_processors), or one if the memory has
     * an allocator of the caller's. */
    unsigned n_threads;
} gsa_call;

/* ---- 3. batch --------------------------------------------------------------------------------------------------- */

/* The location of a row, for messages. If the input is not text, the line is the number of the row, and the byte is
 * UINT64_MAX or, in a cache, that of its block. */
typedef struct gsa_place {
    uint64_t line; /* 1-based; 0: unknown */
    uint64_t byte; /* 0-based, of the line's first byte in the decompressed file */
    uint32_t file; /* number of the file in the reader, from 0 */
} gsa_place;

/* Rows in compressed sparse row form, or dense rows of one width. All pointers are borrowed.
 * A value of zero means the same as an absent feature, in sparse and in dense rows. Ids within a row must be distinct;
 * they may be in any order (readers deliver them ascending). Values, labels and weights must be finite, weights >= 0.
 */
typedef struct gsa_batch {
    size_t n_rows;            /* number of rows */
    const int64_t *row_start; /* n_rows + 1 ascending offsets >= 0 into index and value; NULL for dense rows */
    const uint32_t *index;    /* feature ids from 0, at most GSA_MAX_ID; NULL for dense rows */
    const float *value;       /* NULL: every value is 1 (sparse rows only) */
    size_t width;             /* values per row, dense rows only */
    const double *label;      /* NULL: rows without labels, for prediction only */
    const int32_t *word;      /* NULL: all labels are numbers; else word[r] >= 0 means words[word[r]] is the label */
    const char *const *words; /* UTF-8, NUL-terminated */
    size_t n_words;           /* number of words */
    const float *weight;      /* NULL: every row counts once */
    const gsa_place *place;   /* NULL: unknown */
    const char *kept;         /* texts that the reader kept of each row, each with its NUL; NULL: none */
    const size_t *kept_start; /* n_rows + 1 offsets into kept */
    const unsigned char *bad; /* nonzero: the row could not be read and has no features; NULL: all rows are good */
    /* Rows of one number are held out together. NULL: rows with equal features are. */
    const uint64_t *group;
    /* Nonzero: the numbers are moments, and the latest rows are held out. The bits of doubles >= 0 ascend as they do.
     */
    int group_is_time;
} gsa_batch;

/* The formats of 16-bit floats. */
typedef enum gsa_half {
    GSA_HALF_F16 = 0, /* IEEE binary16 */
    GSA_HALF_BF16 = 1 /* bfloat16, the upper half of a float */
} gsa_half;
/* Converts n 16-bit floats to the floats of batches, exactly. */
GSA_API void gsa_half_read(gsa_half kind, const uint16_t *from, size_t n, float *out);

/* The highest feature id, 2^32 - 3: libsvm's index 2^32 - 2. */
#define GSA_MAX_ID 0xFFFFFFFDu

/* ---- 4. parameters ---------------------------------------------------------------------------------------------- */

/* The kind of a parameter's value. */
typedef enum gsa_param_kind {
    GSA_PARAM_CHOICE = 0, /* one of some words */
    GSA_PARAM_COUNT = 1,  /* a whole number */
    GSA_PARAM_SWITCH = 2, /* on or off */
    GSA_PARAM_SHARE = 3   /* a number between 0 and 1 */
} gsa_param_kind;

/* One entry of the parameter table, from which options, configuration keys, keywords and manual are made. */
typedef struct gsa_param {
    const char *name;     /* with underscores; a dash is accepted wherever a name is given */
    gsa_param_kind kind;  /* of its value */
    const char *choices;  /* "a|b|c", of a count "auto|none|N", "N" and the like; NULL: on and off */
    const char *initial;  /* the default, as text */
    uint64_t least, most; /* range of a count; of a share, in millionths */
    const char *help;     /* one line; NULL: for tests of engines, left out of help and manual */
} gsa_param;

/* Returns a parameter by its number from 0; NULL beyond the end. */
GSA_API const gsa_param *gsa_param_at(size_t number);

/* Values for parameters, by name. */
typedef struct gsa_config gsa_config;
/* Makes a configuration with the defaults of all parameters. */
GSA_API GSA_NODISCARD gsa_status gsa_config_new(const gsa_memory *memory, gsa_config **out, gsa_error *error);
/* Frees a configuration; states keep copies of it. */
GSA_API void gsa_config_free(gsa_config *config);
/* Sets a parameter from text. Unknown names and bad values are GSA_ARGUMENT; the message suggests the closest name or
 * value. */
GSA_API GSA_NODISCARD gsa_status gsa_config_set(gsa_config *config, const char *name, const char *value,
                                                gsa_error *error);

/* A convex loss of the margin, supplied by the caller and learned by the paper's Algorithm 2 (a line search per row).
 * Replaces the parameter "loss". Both functions must be pure, and finite for finite arguments. */
typedef struct gsa_margin_loss {
    size_t size;                                                  /* sizeof(gsa_margin_loss), set by the caller */
    double (*loss)(void *ctx, double margin, double label);       /* of one row */
    double (*derivative)(void *ctx, double margin, double label); /* with respect to the margin */
    void *ctx;                                                    /* passed to both */
} gsa_margin_loss;
/* Sets the loss, which is copied; its ctx must outlive all states made with it. */
GSA_API GSA_NODISCARD gsa_status gsa_config_set_loss(gsa_config *config, const gsa_margin_loss *loss, gsa_error *error);

/* ---- 5. state --------------------------------------------------------------------------------------------------- */

/* A run so far: weights, and everything needed to continue it. */
typedef struct gsa_state gsa_state;
/* A read-only state, for prediction. */
typedef struct gsa_model gsa_model;

/* Makes a state that has learned nothing. The configuration is copied; NULL: defaults. */
GSA_API GSA_NODISCARD gsa_status gsa_state_new(const gsa_config *config, const gsa_memory *memory, gsa_state **out,
                                               gsa_error *error);
/* Frees a state; models made from it stay valid. */
GSA_API void gsa_state_free(gsa_state *state);

/* Adds labels of classes before rows with them are learned, as numbers or as words (the other array is NULL), in sorted
 * order after those that are known; decides `loss=auto`. GSA_ARGUMENT if the loss predicts numbers. */
GSA_API GSA_NODISCARD gsa_status gsa_state_add_labels(gsa_state *state, const double *numbers, const char *const *words,
                                                      size_t n_labels, gsa_error *error);

/* Learns all rows in order. On failure the state has learned the rows before error->row and remains usable. The labels
 * of the first batch decide `loss=auto` and are numbered in sorted order; later a label that contradicts the decision
 * is GSA_LABEL. Then chunking does not matter: update(A) then update(B) equals update(A then B), bit for bit. The first
 * 8192 rows of a run wait in the state, and in its file. A model that is made of them is their optimum, whatever their
 * order. With more rows, those that wait decide the scaling and begin the weights; all others are learned as they come.
 * Descending offsets and ids above GSA_MAX_ID are GSA_ARGUMENT here and in every call that takes a batch. */
GSA_API GSA_NODISCARD gsa_status gsa_state_update(gsa_state *state, const gsa_batch *batch, gsa_error *error);
/* Ends a pass: the next row is the first of the next pass. Rows that wait are solved or learned before. */
GSA_API GSA_NODISCARD gsa_status gsa_state_end_pass(gsa_state *state, gsa_error *error);

/* Merges states, weighted per feature by the sum of squares that each has seen. base: the state that all of them were
 * forked or started from; NULL: they were trained from nothing. GSA_CONFLICT if they share a start that is not given,
 * differ in loss or intercept, or only some of them have the method paper. */
GSA_API GSA_NODISCARD gsa_status gsa_state_merge(const gsa_state *const *states, size_t n_states, const gsa_state *base,
                                                 const gsa_call *call, gsa_state **out, gsa_error *error);

/* Receives consecutive bytes; returns nonzero to fail the write. */
typedef int (*gsa_write_fn)(void *ctx, const void *bytes, size_t size);

/* Makes a state for a new run that starts from the weights, sums of squares and labels of another, with an average,
 * step mean and row count of its own. config NULL: the parameters of `from`. */
GSA_API GSA_NODISCARD gsa_status gsa_state_start_from(const gsa_state *from, const gsa_config *config, gsa_state **out,
                                                      gsa_error *error);

/* Scores rows with the present averaged weights of a state, without copying them: for scoring a row before it is
 * learned. Row-major with max(1, labels known) numbers per row, like gsa_model_predict, but number k is for
 * gsa_state_label(state, k), and hinge losses give margins. Differs from the finished model: weights are not calibrated
 * on the held-out rows, which are not learned either; up to seven rows that wait for their group do not count yet; the
 * best checkpoint of earlier passes is not used. Otherwise the numbers agree up to the rounding of the model's weights.
 * While the first rows wait, it predicts by what is solved of them, which is done anew whenever they have doubled.
 * GSA_ARGUMENT before the first rows or labels. Allocates nothing else. */
GSA_API GSA_NODISCARD gsa_status gsa_state_predict(gsa_state *state, const gsa_batch *batch, double *out,
                                                   gsa_error *error);
/* Returns a label by its number, NULL beyond the end. Numbers do not change when further labels are added; a model has
 * the same labels in sorted order. */
GSA_API const char *gsa_state_label(const gsa_state *state, size_t number);
/* Makes a model of a state; the state can continue learning. If there are hundreds of classes and `call` asks to stop,
 * the model is made without calibration on the held-out rows and without learning them. */
GSA_API GSA_NODISCARD gsa_status gsa_state_finish(const gsa_state *state, const gsa_call *call, gsa_model **out,
                                                  gsa_error *error);

/* The progress and results of a run. */
typedef struct gsa_summary {
    size_t size;           /* sizeof(gsa_summary), set by the caller */
    const char *loss;      /* "auto" while undecided, else as in gsa_model_info */
    const char *method;    /* how the weights were found: "optimum", "gsa" or "paper" */
    uint64_t n_rows;       /* rows learned in this run, over all passes */
    uint64_t n_rows_all;   /* for a replica: with the rows of the other replicas, assumed to be as many each */
    uint64_t n_held_out;   /* rows in the held-out sample */
    uint64_t n_features;   /* highest feature id seen + 1 */
    uint64_t n_used;       /* features that rows had */
    uint64_t n_classes;    /* labels known; 0 for regression */
    uint64_t pass;         /* passes completed */
    uint64_t pass_rows;    /* rows of the current pass so far, learned or held out */
    double step;           /* current mean of the greedy steps */
    double loss_sum;       /* progressive loss: of each row before it was learned, in the current pass */
    double loss_weight;    /* the divisor of loss_sum for the mean */
    double last_pass_loss; /* mean progressive loss of the last completed pass, NaN if none */
    uint64_t n_merged;     /* runs that were merged into this state, 1 if none were */
    uint64_t best_pass;    /* passes completed at the best checkpoint; 0 if there is none */
    double best_loss;      /* held-out loss of the best checkpoint; NaN if there is none */
    double falling;        /* relative fall of the progressive loss from the rows between the last two powers of two to
                            * those since; NaN while there are few rows */
    /* With `compact`, of this run: features with a weight before the weakest were dropped (0: none were), and after;
     * the held-out loss before and after, and its standard error. */
    uint64_t n_features_full, n_features_kept;
    double full_loss, compact_loss, compact_error;
    /* If gsa_train found that rows came in the order of a date: the number of its feature, else UINT64_MAX; and the
     * mean loss of the latest eighth if it is predicted from earlier rows (NaN: not measured, as where rows are too
     * many to be solved). Files do not have this. */
    uint64_t order_feature;
    double latest_loss;
} gsa_summary;
/* Fills in the summary of a state. */
GSA_API gsa_status gsa_state_get_summary(const gsa_state *state, gsa_summary *out);
/* Returns the mean loss of the held-out rows under the weights that a model would have now, each row calibrated by
 * others than itself; for an optimum that of cross-validation. NaN if there are no such rows. Takes time in proportion
 * to their number. */
GSA_API double gsa_state_held_out_loss(const gsa_state *state);
/* Returns the loss of the best constant prediction (class shares, or the mean label) on the same rows. NaN for hinge
 * and custom losses, and with fewer than 100 held-out rows. */
GSA_API double gsa_state_constant_loss(const gsa_state *state);
/* Returns the usual name of the mean of a loss, such as "log loss", and converts *mean to it: for squared loss the root
 * mean squared error, "rmse". NULL for an unknown loss. */
GSA_API const char *gsa_loss_measure(const char *loss, double *mean);
/* Returns a parameter of the state as text, NULL for an unknown name. */
GSA_API const char *gsa_state_get(const gsa_state *state, const char *name);
/* Fills in a parameter as a number: a count (none: 0, auto: GSA_COUNT_AUTO), the number of a choice in the order of
 * gsa_param.choices from 0, or 0 and 1 for off and on. GSA_ARGUMENT for an unknown name. */
GSA_API GSA_NODISCARD gsa_status gsa_state_get_number(const gsa_state *state, const char *name, uint64_t *out,
                                                      gsa_error *error);
/* The value of a count that the library chooses. */
#define GSA_COUNT_AUTO UINT64_MAX
/* Sets a parameter. After the first row only `passes` can change; a new value for another is GSA_CONFLICT. */
GSA_API GSA_NODISCARD gsa_status gsa_state_set(gsa_state *state, const char *name, const char *value, gsa_error *error);

/* Sets the schema: what the columns of the rows mean, as gsa_reader_schema returns it (docs/formats/csv.md); NULL:
 * rows have feature numbers. Replicas and models keep the text; the library does not read it. After the first row
 * another text is GSA_CONFLICT, as in a merge. gsa_train sets it.
 *
 * The values of a batch are floats. A caller who makes rows with columns far from 0 (timestamps) subtracts an offset in
 * double first and keeps it here, as offset= of the column: readers then apply it to the rows that the model predicts.
 */
GSA_API GSA_NODISCARD gsa_status gsa_state_set_schema(gsa_state *state, const char *text, gsa_error *error);
/* Returns the schema, or NULL. */
GSA_API const char *gsa_state_schema(const gsa_state *state);

/* The longest position, in bytes. */
#define GSA_MAX_POSITION 1000u
/* Sets the position in the input after the last row, in the input's own terms, such as "clicks/0/1234". It is saved
 * with what was learned, so a run that is loaded and continues from there neither loses nor repeats a row.
 * The library does not read the text. "" or NULL: none; GSA_ARGUMENT if it is longer than GSA_MAX_POSITION or not
 * UTF-8. Live runs of gsa_train set it. */
GSA_API GSA_NODISCARD gsa_status gsa_state_set_position(gsa_state *state, const char *text, gsa_error *error);
/* Returns the position, "" if there is none. */
GSA_API const char *gsa_state_position(const gsa_state *state);
/* Calls `name` for features that were seen and keeps the names (UTF-8) of the 65536 strongest that have one, for
 * models. If it returns NULL, an earlier name stays. gsa_train does this at its end. */
GSA_API GSA_NODISCARD gsa_status gsa_state_set_names(gsa_state *state,
                                                     const char *(*name)(const void *ctx, uint64_t feature),
                                                     const void *ctx, gsa_error *error);

/* Writes a state to a file, atomically. Equal states give equal bytes. */
GSA_API GSA_NODISCARD gsa_status gsa_state_save(const gsa_state *state, const char *path, gsa_error *error);
/* Reads a file written by gsa_state_save. */
GSA_API GSA_NODISCARD gsa_status gsa_state_load(const char *path, const gsa_memory *memory, const gsa_call *call,
                                                gsa_state **out, gsa_error *error);
/* Passes the bytes of such a file to a function. */
GSA_API GSA_NODISCARD gsa_status gsa_state_write(const gsa_state *state, gsa_write_fn write, void *ctx,
                                                 gsa_error *error);
/* Makes a state from such bytes, which are not kept. */
GSA_API GSA_NODISCARD gsa_status gsa_state_read(const void *bytes, size_t size, const gsa_memory *memory,
                                                gsa_state **out, gsa_error *error);
/* Sets the caller's own loss again, which files do not contain; required before a loaded state is updated. */
GSA_API GSA_NODISCARD gsa_status gsa_state_set_loss(gsa_state *state, const gsa_margin_loss *loss, gsa_error *error);

/* ---- 6. model --------------------------------------------------------------------------------------------------- */

/* Frees a model and unmaps its file. */
GSA_API void gsa_model_free(gsa_model *model);
/* Writes a model to a file, as gsa_state_save does. */
GSA_API GSA_NODISCARD gsa_status gsa_model_save(const gsa_model *model, const char *path, gsa_error *error);
/* Reads a file written by gsa_model_save; maps the weights into memory where possible. */
GSA_API GSA_NODISCARD gsa_status gsa_model_load(const char *path, const gsa_memory *memory, const gsa_call *call,
                                                gsa_model **out, gsa_error *error);
/* Passes the bytes of such a file to a function. */
GSA_API GSA_NODISCARD gsa_status gsa_model_write(const gsa_model *model, gsa_write_fn write, void *ctx,
                                                 gsa_error *error);
/* Makes a model from such bytes, which are not kept. */
GSA_API GSA_NODISCARD gsa_status gsa_model_read(const void *bytes, size_t size, const gsa_memory *memory,
                                                gsa_model **out, gsa_error *error);
/* Returns nonzero if a file with these first 9 or more bytes is a model or state, possibly damaged; 0 for fewer
 * bytes. */
GSA_API int gsa_model_matches(const void *start, size_t size);

/* Properties of a model. */
typedef struct gsa_model_info {
    size_t size; /* sizeof(gsa_model_info), set by the caller */
    const char *
        loss; /* "squared", "huber", "quantile", "poisson", "logistic", "softmax", "hinge", "squared_hinge", "custom" */
    const char *method;  /* how it was trained */
    const char *average; /* which weights it has: "recent", "full", ... */
    uint64_t n_rows;     /* rows learned; of an optimum, distinct rows */
    uint64_t n_passes;   /* over the input */
    uint64_t n_features; /* highest feature id + 1 */
    uint64_t n_used;     /* features with a weight that is not 0 */
    /* Margins per row: 1, or the number of classes for softmax and for hinge losses of more than two. */
    uint64_t n_outputs;
    uint64_t n_classes;    /* 0 for regression */
    int has_intercept;     /* nonzero: it has a constant term */
    int has_probabilities; /* logistic and softmax */
    int has_log_link;      /* poisson: predictions are e^margin */
} gsa_model_info;
/* Fills in the properties of a model; texts are valid until it is freed. */
GSA_API gsa_status gsa_model_get_info(const gsa_model *model, gsa_model_info *out);

/* A number with its name. */
typedef struct gsa_metric {
    const char *name; /* "rows", "log_loss", ...: static text */
    double value;     /* NaN if it is not defined, such as the AUC of one class */
} gsa_metric;
/* Fills in a result of the training by its number; GSA_END beyond the last. Only what is known is listed, by the names
 * of docs/method.md: held_out_loss, baseline_loss, accuracy, auc, r2 and mae of held-out rows; what was chosen on them,
 * such as C or alpha (the penalty as scikit-learn defines it), standardised (1 or 0) and calibration_scale. */
GSA_API GSA_NODISCARD gsa_status gsa_model_result_at(const gsa_model *model, size_t number, gsa_metric *out);

/* Returns a label by its number, NULL beyond the end. Labels are sorted: numbers by value, then words by bytes. The
 * second of two is the positive class. Numbers have the shortest text that reads back equal. */
GSA_API const char *gsa_model_label(const gsa_model *model, size_t class_number);
/* Fills in the class of a row's label, as in gsa_model_label; GSA_LABEL if the model does not know it or has no
 * classes. */
GSA_API GSA_NODISCARD gsa_status gsa_model_class(const gsa_model *model, const gsa_batch *batch, size_t row,
                                                 size_t *out, gsa_error *error);
/* Returns the schema of the model's tables; NULL: rows with feature numbers. */
GSA_API const char *gsa_model_schema(const gsa_model *model);
/* Returns the name of a feature, NULL if none is kept. */
GSA_API const char *gsa_model_name(const gsa_model *model, uint64_t feature);
/* A feature whose influence is no straight line: between two knots it is interpolated, and beyond the outer ones it
 * stays as it is there. A value of 0 has the influence 0. At knot i it is gsa_model_weight(model, first + i, output).
 */
typedef struct gsa_curve {
    size_t size;        /* sizeof(gsa_curve), set by the caller */
    uint64_t feature;   /* its id */
    uint64_t first;     /* the id of its first knot */
    uint32_t n_knots;   /* at least 3, ascending; no row that decided was beyond the second or the last but one */
    const float *knot;  /* the values of the feature at the knots; the model's */
    const float *share; /* of the rows that decided, nearest to each knot */
} gsa_curve;
/* Fills in a curve by number; GSA_END beyond the last one. */
GSA_API gsa_status gsa_model_curve(const gsa_model *model, size_t number, gsa_curve *out);
/* Two features that act on one another: beside what each has alone, a row's margin has a value that is interpolated
 * between the nodes of a grid, in both directions. Beyond the outer knots it stays as it is there; where a feature is 0
 * and all its knots are above or below that, it is 0. At node i, j it is gsa_model_weight(model, first + i * n_knots[1]
 * + j, output), with a mean of 0 over the rows that decided. */
typedef struct gsa_pair {
    size_t size;         /* sizeof(gsa_pair), set by the caller */
    uint64_t feature[2]; /* their ids */
    uint64_t first;      /* the id of the first node */
    uint32_t n_knots[2]; /* at least 2 each, ascending */
    const float *knot[2];
    const float *share; /* of the rows that decided, nearest to each node */
} gsa_pair;
/* Fills in a pair by number; GSA_END beyond the last one. */
GSA_API gsa_status gsa_model_pair(const gsa_model *model, size_t number, gsa_pair *out);
/* A feature, and how much it influences predictions. */
typedef struct gsa_strong_feature {
    uint64_t feature;  /* its id */
    size_t output;     /* the output of the weight */
    double weight;     /* for one unit of the feature; NaN: it has a curve */
    double importance; /* |weight| x the standard deviation of the feature on the rows learned; NaN: not known */
} gsa_strong_feature;
/* Fills in the strongest features, the most important first, and returns their number, at most `max`. Each has the
 * weight of this output or, with SIZE_MAX, the largest of all outputs. Models keep the deviations of their 16384 most
 * important features; a model without any (gsa_model_with_weights) ranks by |weight|. */
GSA_API size_t gsa_model_strongest(const gsa_model *model, size_t output, gsa_strong_feature *out, size_t max);
/* Returns a weight; 0 for ids beyond the model. */
GSA_API float gsa_model_weight(const gsa_model *model, uint64_t feature, size_t output);
/* Returns the constant term of an output; 0 if there is none. */
GSA_API double gsa_model_intercept(const gsa_model *model, size_t output);
/* Returns the features that weights are kept of, ascending, and sets *n to their number; NULL: all n_features. Few
 * of all hashed ids ever occur: these are the ones in use. Valid until the model is freed. */
GSA_API const uint32_t *gsa_model_features(const gsa_model *model, uint64_t *n);
/* Returns the weights of these features, row-major [*n x n_outputs]; valid until the model is freed. */
GSA_API const float *gsa_model_weights(const gsa_model *model);

/* Makes a model with the loss and labels of another and the given weights: row-major [n_features x n_outputs], and one
 * intercept per output (NULL: zeros). */
GSA_API GSA_NODISCARD gsa_status gsa_model_with_weights(const gsa_model *like, uint64_t n_features,
                                                        const float *weights, const double *intercept, gsa_model **out,
                                                        gsa_error *error);

/* Computes w.x + b per row and output, row-major with n_outputs numbers per row. Features that the model does not know
 * count as absent. Allocates nothing for sparse rows. */
GSA_API GSA_NODISCARD gsa_status gsa_model_margins(const gsa_model *model, const gsa_batch *batch, double *out,
                                                   gsa_error *error);
/* Predicts rows, row-major with max(1, n_classes) numbers per row: the probability of every class, or the value of a
 * regression, DBL_MAX if it is larger. A model that was trained with exposures predicts the rate or, if the batch has
 * weights, which are then exposures, the expected count. Hinge losses have no probabilities (GSA_ARGUMENT): use the
 * label of the largest margin, or the second of two labels if the margin is above 0. Allocates nothing for sparse rows.
 */
GSA_API GSA_NODISCARD gsa_status gsa_model_predict(const gsa_model *model, const gsa_batch *batch, double *out,
                                                   gsa_error *error);

/* Computes intervals that contain a share of new labels, `coverage`, from the residuals of held-out rows: of each of n
 * predictions of a regression the lower and the upper end. The coverage is at most .99. GSA_ARGUMENT if the model has
 * none: of classes, with an offset or an exposure, or with fewer than 20 held-out rows. */
GSA_API GSA_NODISCARD gsa_status gsa_model_intervals(const gsa_model *model, double coverage, const double *prediction,
                                                     size_t n, double *out, gsa_error *error);

/* ---- 7. metrics ------------------------------------------------------------------------------------------------- */

/* Compares predictions with labels. */
typedef struct gsa_metrics gsa_metrics;
/* Makes empty metrics. The model must outlive them. */
GSA_API GSA_NODISCARD gsa_status gsa_metrics_new(const gsa_model *model, gsa_metrics **out, gsa_error *error);
/* Frees metrics, not their model. */
GSA_API void gsa_metrics_free(gsa_metrics *metrics);
/* Predicts rows and compares them with their labels. A label that the model does not know counts as wrong. */
GSA_API GSA_NODISCARD gsa_status gsa_metrics_update(gsa_metrics *metrics, const gsa_batch *batch, gsa_error *error);

/* Computes the results of all rows so far. GSA_LABEL if the model knows none of their labels; the results are there all
 * the same. */
GSA_API GSA_NODISCARD gsa_status gsa_metrics_finish(gsa_metrics *metrics, gsa_error *error);
/* Fills in a result by its number, after finish; GSA_END beyond the last. Regression has rmse, mae and r2, with
 * poisson loss also poisson_deviance and d2, with quantile loss pinball_loss and below (the share of labels that are
 * below the prediction). Classes have log_loss (the name of the loss instead if there are no
 * probabilities), accuracy and calibration_error (expected calibration error: 15 bins of equal width by the probability
 * of the predicted class). Two classes also have auc, average_precision and brier and, for the second class, which is
 * the positive one: precision, recall and f1 at the `threshold` of predictions (probability 0.5, margin 0), the
 * threshold with the highest f1 on these rows (best_f1, best_threshold), and true_negatives, false_positives,
 * false_negatives, true_positives, by row weight; all of these leave out labels that the model does not know. More
 * classes also have precision, recall and f1, each _macro and _weighted. unknown_labels is there if a label is not
 * known. */
GSA_API GSA_NODISCARD gsa_status gsa_metrics_at(const gsa_metrics *metrics, size_t number, gsa_metric *out);
/* Returns one of the first three labels that the model does not know; NULL beyond the end. */
GSA_API const char *gsa_metrics_unknown_label(const gsa_metrics *metrics, size_t number);

/* The results of one class. */
typedef struct gsa_class_metrics {
    size_t size;                     /* sizeof(gsa_class_metrics), set by the caller */
    double rows, predicted, correct; /* rows with its label, rows predicted as it, and both; by row weight */
    double precision, recall, f1;    /* 0 if no row is predicted as it, or has the label */
} gsa_class_metrics;
/* Fills in the results of a class by its number, as in gsa_model_label; GSA_END beyond the last. */
GSA_API GSA_NODISCARD gsa_status gsa_metrics_class_at(const gsa_metrics *metrics, size_t number,
                                                      gsa_class_metrics *out);

#ifdef __cplusplus
}
#endif
#endif
