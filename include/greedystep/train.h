/* greedystep: training, prediction and evaluation over a reader. */
#ifndef GREEDYSTEP_TRAIN_H
#define GREEDYSTEP_TRAIN_H

#include <greedystep/data.h>
#include <greedystep/greedystep.h>

#ifdef __cplusplus
extern "C" {
#endif

struct gsa_comm;         /* processes that train together; see distributed.h */
struct gsa_round_report; /* a finished round; see distributed.h */

/* The subject of a notice. */
typedef enum gsa_notice {
    GSA_NOTICE_SORTED = 0,        /* rows are sorted by label */
    GSA_NOTICE_LATE_LABELS = 1,   /* labels appeared after the first rows */
    GSA_NOTICE_TINY_FEATURES = 2, /* features are too small to be learned */
    GSA_NOTICE_CLASSES = 3,       /* whole numbers are taken for classes; a loss for numbers predicts them instead */
    GSA_NOTICE_NUMBER = 4,        /* whole numbers are taken for a number; softmax loss makes them classes instead */
    GSA_NOTICE_ORDER = 5 /* rows came in the order of a date, and later rows may have another loss: they are held
                          * out by a reader that is told the column (option time) */
} gsa_notice;

/* Callbacks of gsa_train, and the communicator. Every member but the size may be NULL. */
typedef struct gsa_train_hooks {
    size_t size; /* sizeof(gsa_train_hooks), set by the caller */
    void *ctx;   /* passed to all functions */
    /* Called every few hundred rows with the state; in rounds every few blocks, with one of the replicas. Not called
     * while rows in memory are solved. */
    void (*progress)(void *ctx, const gsa_state *state, const gsa_reader *reader);
    /* Called after every pass, and once when rows in memory are solved. Any status but GSA_OK ends the training. */
    gsa_status (*pass_ended)(void *ctx, const gsa_state *state, gsa_error *error);
    /* Called with a warning about the input: what was found and what to do. */
    void (*notice)(void *ctx, gsa_notice what, const char *text);
    /* Called whenever the state can be saved: after a block, a round, a pass. A run resumed from it gives the bits of
     * an uninterrupted run, with any number of threads and processes. */
    gsa_status (*state_is_whole)(void *ctx, const gsa_state *state, gsa_error *error);
    /* Called after every round. */
    void (*round_ended)(void *ctx, const struct gsa_round_report *report);
    const struct gsa_comm *comm; /* NULL: one process */
    /* Nonzero: the files of the reader are this process's own, and each is a shard: a replica learns it, and replicas
     * are merged after every pass. The result depends on the list of files of all processes, in the order of their
     * ranks. */
    int files_are_own;
    /* Called while rows in memory are solved, after every penalty: how many were tried, about how many there will be
     * (an estimate that is revised), the name of the loss, and the lowest mean held-out loss of the present rows: first
     * of a sample, then of all rows. */
    void (*strength_tried)(void *ctx, uint64_t n_tried, uint64_t n_about, const char *loss, double best_loss);
    /* Nonzero: the reader is an endless stream, learned row by row. Its end is not the end of a pass, so the state can
     * continue with later rows. Rows are learned as soon as they arrive, except the first 1024, which decide what
     * labels mean and are learned together. The position of the state (gsa_state_position) is updated: the first text
     * that the reader keeps of a row (option keep), else the row's line number. state_is_whole is called if, and only
     * if, the should_stop that the reader was opened with is true and that of gsa_train is not, also while no row
     * arrives; the former must then become false. */
    int is_live;
    /* Nonzero, with is_live: the reader begins after the position of the state, so no row is skipped. */
    int starts_at_position;
} gsa_train_hooks;

/* Trains a state on a reader, for as many passes as its parameters say; more than one pass over a stream is
 * GSA_ARGUMENT. A state that has learned before continues: the rows of that run are skipped, so a resumed run gives the
 * bits of an uninterrupted one; GSA_CONFLICT if the input begins differently. On GSA_STOPPED the state can be saved and
 * resumed: from where the current round began or, while rows in memory are solved, from the start. Hooks are called
 * from the caller's thread. */
GSA_API GSA_NODISCARD gsa_status gsa_train(gsa_state *state, gsa_reader *reader, const gsa_train_hooks *hooks,
                                           const gsa_call *call, gsa_error *error);

/* Makes a state and trains it on all rows of a batch, as gsa_train does with a reader of them. config NULL: the
 * defaults. error->row is a row of the batch. */
GSA_API GSA_NODISCARD gsa_status gsa_train_batch(const gsa_batch *rows, const gsa_config *config,
                                                 const gsa_memory *memory, const gsa_call *call, gsa_state **out,
                                                 gsa_error *error);

/* Returns the method that gsa_train tries first for a state without rows: "optimum", "gsa" or "paper". With
 * the method auto, "optimum" becomes "gsa" if the rows do not fit, the run is live or the loss is the caller's own.
 * *chosen_by: the parameter that decided, NULL if none did. */
GSA_API const char *gsa_train_method(const gsa_state *state, const char **chosen_by);

/* Adds all rows of a reader to metrics. */
GSA_API GSA_NODISCARD gsa_status gsa_evaluate(gsa_metrics *metrics, gsa_reader *reader, const gsa_call *call,
                                              gsa_error *error);

/* The text format of predictions; fields are in docs/command.md. */
typedef enum gsa_text {
    GSA_TEXT_NONE, /* numbers only */
    /* The most probable label and its probability ("%s %.6g"), or the margin of a loss without probabilities (with
     * two classes that of the second); the value of a regression ("%.9g"). NA for a bad row (gsa_batch.bad). */
    GSA_TEXT_LINES,
    GSA_TEXT_CSV,  /* a table */
    GSA_TEXT_JSONL /* a JSON object per line */
} gsa_text;

/* Predictions for consecutive rows; borrowed for the call. */
typedef struct gsa_predictions {
    const gsa_batch *rows; /* the rows */
    uint64_t first_row;    /* number of rows predicted before */
    size_t width;          /* numbers per row */
    const double *number;  /* row-major: as by gsa_model_predict, without probabilities as by gsa_model_margins; NaN for
                            * bad rows */
    const char *text;      /* a line per row; NULL with GSA_TEXT_NONE */
    size_t text_size;      /* in bytes */
} gsa_predictions;

/* The format and callback of predictions. */
typedef struct gsa_predict_hooks {
    size_t size;     /* sizeof(gsa_predict_hooks), set by the caller */
    void *ctx;       /* passed to take */
    gsa_text text;   /* text format, beside the numbers */
    int header;      /* nonzero: CSV begins with a line of column names, in a call of its own */
    int every_class; /* nonzero: CSV and JSONL have the numbers of all classes too */
    double coverage; /* text of a regression also has the ends of intervals (gsa_model_intervals); 0: none */
    /* Called for one batch at a time, in the order of rows, from the caller's thread. Any status but GSA_OK ends the
     * prediction. */
    gsa_status (*take)(void *ctx, const gsa_predictions *some, gsa_error *error);
    /* The names of the texts that the reader keeps of each row (gsa_batch.kept), as in its option keep; "tag". NULL:
     * they are not written, except for a tag in GSA_TEXT_LINES. */
    const char *kept;
} gsa_predict_hooks;

/* Predicts all rows of a reader, on the threads of `call`. Predictions of all rows before an error are delivered first.
 * Rows of a stream are predicted as soon as they arrive. */
GSA_API GSA_NODISCARD gsa_status gsa_predict(const gsa_model *model, gsa_reader *reader, const gsa_predict_hooks *hooks,
                                             const gsa_call *call, gsa_error *error);

/* Computes how much each column of a table adds to the margins of rows (gsa_model_margins), beside the intercepts:
 * row-major with n_outputs numbers per row and column, numbers and dates first, then categorical columns, each in the
 * order of the schema; if there are crosses, all of them are one more column, and each pair of columns (gsa_model_pair)
 * is one. Without a schema rows are dense, and each feature is a column. `cells` are those of the rows
 * (gsa_reader_cells), needed if a column is categorical or has dates. GSA_UNSUPPORTED for rows without columns, such as
 * those of a cache. */
GSA_API GSA_NODISCARD gsa_status gsa_explain(const gsa_model *model, const gsa_batch *batch, const uint64_t *cells,
                                             size_t n_cells, double *out, gsa_error *error);

#ifdef __cplusplus
}
#endif
#endif
