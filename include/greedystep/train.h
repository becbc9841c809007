/* greedystep: training, prediction and evaluation over a reader. */
#ifndef GREEDYSTEP_TRAIN_H
#define GREEDYSTEP_TRAIN_H

#include <greedystep/data.h>
#include <greedystep/greedystep.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A communicator of processes that train together, on one machine or many. Each calls gsa_train with the same state,
 * parameters and plain caches (other input is GSA_UNSUPPORTED), learns its share, and ends with the state that one process would have. The library carries no
 * bytes itself (libgreedystep_mpi, <greedystep/mpi.h>, does). All processes make the same calls in the same order;
 * results are valid until the next call. A failure ends the run of its process; the communicator must end the
 * others. */
typedef struct gsa_comm {
    void *ctx;            /* passed to both functions */
    size_t rank, n_ranks; /* this process, from 0, and the number of processes */
    /* Gathers the bytes of all ranks on every rank, in the order of ranks: sizes[r] bytes are from rank r. */
    gsa_status (*allgather)(void *ctx, const void *bytes, size_t size, const unsigned char **all, const size_t **sizes,
                            gsa_error *error);
    /* Sends sizes[r] bytes to each rank r and receives what each had for this one, both in the order of ranks. */
    gsa_status (*alltoall)(void *ctx, const void *bytes, const size_t *sizes, const unsigned char **all,
                           const size_t **all_sizes, gsa_error *error);
} gsa_comm;

/* A finished round, as seen by this process. */
typedef struct gsa_round_report {
    size_t n_shards;           /* replicas that were merged */
    uint64_t n_rows;           /* of all replicas, in all processes */
    uint64_t n_mine, n_fewest; /* rows of this process, and of the process with the fewest */
    /* Seconds spent making replicas, reading and learning rows, waiting for other processes, and merging. */
    double forking, learning, waiting, merging;
    uint64_t bytes_sent; /* to other processes */
} gsa_round_report;

/* The subject of a notice. */
typedef enum gsa_notice {
    GSA_NOTICE_SORTED = 0,       /* rows are sorted by label */
    GSA_NOTICE_LATE_LABELS = 1,  /* labels appeared after the first rows */
    GSA_NOTICE_TINY_FEATURES = 2 /* features are too small to be learned */
} gsa_notice;

/* Callbacks of gsa_train, and the communicator. Every member may be NULL. */
typedef struct gsa_train_hooks {
    void *ctx; /* passed to all functions */
    /* Called every few hundred rows with the state; in rounds every few blocks, with one of the replicas. Not called
     * while rows in memory are solved. */
    void (*progress)(void *ctx, const gsa_state *state, const gsa_reader *reader);
    /* Called after every pass, and once when rows in memory are solved. Any status but GSA_OK ends the training.
     * Processes that train together are all here, and may call gsa_evaluate_together if each has this function. */
    gsa_status (*pass_ended)(void *ctx, const gsa_state *state, gsa_error *error);
    /* Called with a warning about the input: what was found and what to do. */
    void (*notice)(void *ctx, gsa_notice what, const char *text);
    /* Called whenever the state can be saved: after a block, a round, a pass. A run resumed from it gives the bits of
     * an undisturbed run, with any number of threads and processes. */
    gsa_status (*state_is_whole)(void *ctx, const gsa_state *state, gsa_error *error);
    /* Called after every round. */
    void (*round_ended)(void *ctx, const gsa_round_report *report);
    const gsa_comm *comm; /* NULL: one process */
    /* Called while rows in memory are solved, after every penalty strength: how many were tried, and the mean held-out
     * loss of this one. */
    void (*strength_tried)(void *ctx, uint64_t n_tried, double held_out_loss);
} gsa_train_hooks;

/* Trains a state on a reader, for as many passes as its parameters say; more than one pass over a stream is
 * GSA_ARGUMENT. A state that has learned before continues: rows it has taken are skipped, so a resumed run gives the
 * bits of an undisturbed one; GSA_CONFLICT if the input begins differently. On GSA_STOPPED the state can be saved and
 * resumed: where the current round began or, while rows in memory are solved, from the start. env: should_stop,
 * allocator and threads. Hooks are called from the caller's thread. */
GSA_API GSA_NODISCARD gsa_status gsa_train(gsa_state *state, gsa_reader *reader, const gsa_train_hooks *hooks,
                                           const gsa_env *env, gsa_error *error);

/* Returns the method that gsa_train tries first for a state that has taken no rows: "optimum", "gsa" or "paper". With
 * the method auto, "optimum" becomes "gsa" if the rows do not fit or the loss is the caller's own. *chosen_by: the
 * parameter that decided, NULL if none did. */
GSA_API const char *gsa_train_method(const gsa_state *state, int is_stream, const char **chosen_by);
/* Returns 0 if n_rows rows with n_entries non-zero values are too many for the optimum, whatever the features.
 * n_outputs: 1 for two classes and regression, else the number of classes. */
GSA_API int gsa_train_fits(uint64_t n_rows, uint64_t n_entries, uint64_t n_outputs);

/* The shard number of the first rows of all shards. */
#define GSA_FIRST_SHARD ((uint64_t)1 << 31)
/* Trains a replica on one shard of a pass (gsa_plan_first_rows): all rows of the reader, in blocks shuffled by the pass
 * and the shard's number. *n_rows: their number. */
GSA_API GSA_NODISCARD gsa_status gsa_train_shard(gsa_state *copy, gsa_reader *reader, uint64_t shard,
                                                 const gsa_env *env, uint64_t *n_rows, gsa_error *error);

/* Adds all rows of a reader to metrics. */
GSA_API GSA_NODISCARD gsa_status gsa_evaluate(gsa_metrics *metrics, gsa_reader *reader, const gsa_env *env,
                                              gsa_error *error);

/* The callback of gsa_evaluate_together, and the communicator. */
typedef struct gsa_judgement_hooks {
    void *ctx;                                           /* passed to tell */
    void (*tell)(void *ctx, const gsa_metrics *metrics); /* called with the results */
    const gsa_comm *comm;                                /* NULL: one process */
} gsa_judgement_hooks;
/* Evaluates the model of a state on a reader that can be read again, by one process or by all of them, which call it
 * with the same state and input; all succeed or fail alike. Each evaluates some of up to 64 parts of plain caches, which
 * are merged in one order: results do not depend on the number of processes. Other input is evaluated by rank 0. Rank 0 calls `tell` if all succeeded; the metrics are finished and
 * borrowed. */
GSA_API GSA_NODISCARD gsa_status gsa_evaluate_together(const gsa_state *state, gsa_reader *reader,
                                                       const gsa_judgement_hooks *hooks, const gsa_env *env,
                                                       gsa_error *error);

/* The text format of predictions; fields are in docs/formats/predictions.md. */
typedef enum gsa_text {
    GSA_TEXT_NONE, /* numbers only */
    /* The most probable label and its probability ("%s %.6g"), without probabilities the label and its margin, in
     * regression the value ("%.9g"). */
    GSA_TEXT_LINES,
    GSA_TEXT_CSV,  /* a table */
    GSA_TEXT_JSONL /* a JSON object per line */
} gsa_text;

/* Predictions for consecutive rows; borrowed for the call. */
typedef struct gsa_predictions {
    const gsa_batch *rows; /* the rows */
    uint64_t first_row;    /* rows predicted before */
    size_t width;          /* numbers per row */
    const double *number;  /* row-major: as by gsa_model_predict, without probabilities as by gsa_model_margins */
    const char *text;      /* a line per row, or NULL if no text was asked for */
    size_t text_size;      /* in bytes */
} gsa_predictions;

/* The format and callback of predictions. */
typedef struct gsa_predict_hooks {
    void *ctx;       /* passed to take */
    gsa_text text;   /* text format, beside the numbers */
    int header;      /* nonzero: CSV begins with a line of column names, in a call of its own */
    int every_class; /* nonzero: CSV and JSONL have the numbers of all classes too */
    /* Called for one batch at a time, in the order of rows, from the thread that predicted it. Any status but GSA_OK
     * ends the prediction. */
    gsa_status (*take)(void *ctx, const gsa_predictions *some, gsa_error *error);
} gsa_predict_hooks;

/* Predicts all rows of a reader, on env's threads. Predictions of all rows before an error are delivered first. Rows of
 * a stream are predicted as soon as they arrive. */
GSA_API GSA_NODISCARD gsa_status gsa_predict(const gsa_model *model, gsa_reader *reader, const gsa_predict_hooks *hooks,
                                             const gsa_env *env, gsa_error *error);

#ifdef __cplusplus
}
#endif
#endif
