/* greedystep: the engine that runs the plan over a reader on one machine. */
#ifndef GREEDYSTEP_TRAIN_H
#define GREEDYSTEP_TRAIN_H

#include <greedystep/data.h>
#include <greedystep/greedystep.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Processes that learn together, on one machine or on many. Each calls gsa_train with the same state, parameters and
 * input, and comes to the same state, which is that of one process; every one learns its share. What carries bytes
 * between them is not this library's business (libgreedystep_mpi, <greedystep/mpi.h>). All make the same calls in the
 * same order. What a call gives is valid until the next one. A failure of these functions ends the run of its process;
 * that the others end too is up to whoever carries the bytes. */
typedef struct gsa_comm {
    void *ctx;            /* handed to both functions */
    size_t rank, n_ranks; /* which one this is, from 0, and of how many */
    /* Everyone gives bytes and gets those of all, one after the other by rank: sizes[r] bytes are of rank r. */
    gsa_status (*gather)(void *ctx, const void *bytes, size_t size, const unsigned char **all, const size_t **sizes,
                         gsa_error *error);
    /* Everyone has sizes[r] bytes for rank r, one after the other, and gets what each had for it, likewise. */
    gsa_status (*exchange)(void *ctx, const void *bytes, const size_t *sizes, const unsigned char **all,
                           const size_t **all_sizes, gsa_error *error);
} gsa_comm;

/* A round that has ended, in this process. */
typedef struct gsa_round_report {
    size_t n_shards;           /* copies that were merged */
    uint64_t n_rows;           /* of all copies, wherever they are */
    uint64_t n_mine, n_fewest; /* of the copies of this process, and of the process that had the fewest */
    /* Seconds to make its copies, to read and learn its rows, to wait for other processes and to merge with them. */
    double forking, learning, waiting, merging;
    uint64_t bytes_sent; /* what it had for others */
} gsa_round_report;

/* What a notice is about. */
typedef enum gsa_notice {
    GSA_NOTICE_SORTED = 0,       /* rows are sorted by label */
    GSA_NOTICE_LATE_LABELS = 1,  /* labels that the first rows did not have */
    GSA_NOTICE_TINY_FEATURES = 2 /* features that are too small to be learned */
} gsa_notice;

/* Whom the engine tells, and who helps. Every member may be NULL. */
typedef struct gsa_train_hooks {
    void *ctx; /* handed to all functions */
    /* Often, and the caller decides when to show it: a few hundred rows apart at the most, with the state; in
     * rounds once every few blocks, with one of the copies. Not while rows in memory are solved. */
    void (*progress)(void *ctx, const gsa_state *state, const gsa_reader *reader);
    /* After every pass, and once when rows in memory are solved.
     * Anything but GSA_OK ends the training with that status. Processes that learn together all are there, and may
     * meet in gsa_evaluate_together if every one has this function. */
    gsa_status (*pass_ended)(void *ctx, const gsa_state *state, gsa_error *error);
    /* Something about the input that its owner should know: what it is, and what to do. */
    void (*notice)(void *ctx, gsa_notice what, const char *text);
    /* Whenever the state is whole: after a block, a round, a pass. What goes on from a state that was saved then gives
     * the bits of an undisturbed run, with any number of threads and processes. */
    gsa_status (*state_is_whole)(void *ctx, const gsa_state *state, gsa_error *error);
    /* After every round. */
    void (*round_ended)(void *ctx, const gsa_round_report *report);
    /* Of several processes that read a part each: once, before they learn, the rows that were skipped in all parts. */
    void (*counted)(void *ctx, uint64_t n_bad_rows);
    const gsa_comm *comm; /* NULL: it learns alone */
    /* While rows in memory are solved, after every strength of the penalty: how many were tried, and the mean loss of
     * the held-out rows with this one. */
    void (*strength_tried)(void *ctx, uint64_t n_tried, double held_out_loss);
} gsa_train_hooks;

/* Learns all passes that the state's parameters ask for; a stream is read once, and more is GSA_ARGUMENT. A state that
 * has already learned continues where it stands: rows it has taken are read and passed over, so that an interrupted run
 * gives the bits of an undisturbed one; an input that begins differently is GSA_CONFLICT. On GSA_STOPPED the state can
 * be saved and resumed. With the method auto, a file of at most GSA_BLOCK_ROWS rows is learned as a whole: the state is
 * untouched until the end, and a run that was stopped begins anew; after a million shuffled rows or more they are
 * learned in rounds (gsa_plan_round), and a run that was stopped goes on where the round began. env: should_stop,
 * allocator and threads; hooks are called from the caller's thread. */
GSA_API GSA_NODISCARD gsa_status gsa_train(gsa_state *state, gsa_reader *reader, const gsa_train_hooks *hooks,
                                           const gsa_env *env, gsa_error *error);

/* Which method gsa_train tries first, for a state that has taken no rows: "optimum", "gsa" or "paper". With the method
 * auto, "optimum" becomes "gsa" if the rows do not fit or the loss is the caller's own. *chosen_by: the parameter that
 * decided, NULL if none did. */
GSA_API const char *gsa_train_method(const gsa_state *state, int is_stream, const char **chosen_by);
/* Returns 0 if so many rows, with so many values that are not zero, are too many for the optimum with any features.
 * n_outputs: 1 for two classes and for numbers, else the number of classes. */
GSA_API int gsa_train_fits(uint64_t n_rows, uint64_t n_entries, uint64_t n_outputs);

/* The number of a shard that is the first rows of all shards. */
#define GSA_FIRST_SHARD ((uint64_t)1 << 31)
/* One shard of a pass (gsa_plan_first_rows): a copy of the state learns all rows of the reader, in blocks that are
 * shuffled as the pass and the shard's number say. *n_rows: how many there were. */
GSA_API GSA_NODISCARD gsa_status gsa_train_shard(gsa_state *copy, gsa_reader *reader, uint64_t shard,
                                                 const gsa_env *env, uint64_t *n_rows, gsa_error *error);

/* Adds every row of the reader to the metrics. */
GSA_API GSA_NODISCARD gsa_status gsa_evaluate(gsa_metrics *metrics, gsa_reader *reader, const gsa_env *env,
                                              gsa_error *error);

/* Who hears of a judgement, and who helps. */
typedef struct gsa_judgement_hooks {
    void *ctx;                                           /* handed to tell */
    void (*tell)(void *ctx, const gsa_metrics *metrics); /* the results */
    const gsa_comm *comm;                                /* NULL: it judges alone */
} gsa_judgement_hooks;
/* The model of a state, judged on the rows of a reader that can be read again, by one process or by all of them
 * together, which call it with the same state and input; all succeed or fail alike. Each judges some parts of the
 * input, 64 at the most, which are added up in one order: results do not depend on the number of processes. Rows that
 * cannot be dealt out (gsa_reader_share) are judged by rank 0. The results are told there, and only if all have
 * succeeded; the metrics, finished, are borrowed. */
GSA_API GSA_NODISCARD gsa_status gsa_evaluate_together(const gsa_state *state, gsa_reader *reader,
                                                       const gsa_judgement_hooks *hooks, const gsa_env *env,
                                                       gsa_error *error);

/* What predictions are written as; the fields are in docs/formats/predictions.md. */
typedef enum gsa_text {
    GSA_TEXT_NONE, /* numbers only */
    /* The most probable label and its probability ("%s %.6g"), the label and its margin without probabilities, or of a
     * model of numbers the number ("%.9g"). */
    GSA_TEXT_LINES,
    GSA_TEXT_CSV,  /* a table */
    GSA_TEXT_JSONL /* a JSON object a line */
} gsa_text;

/* Some consecutive rows of an input and what a model says of them; everything is borrowed for the call. */
typedef struct gsa_predictions {
    const gsa_batch *rows; /* what was predicted */
    uint64_t first_row;    /* how many rows were predicted before */
    size_t width;          /* numbers a row */
    const double *number;  /* row-major: as by gsa_model_predict, or gsa_model_margins if there are no probabilities */
    const char *text;      /* a line a row, or NULL if nobody asked for it */
    size_t text_size;      /* in bytes */
} gsa_predictions;

/* Who takes predictions, and what they come as. */
typedef struct gsa_predict_hooks {
    void *ctx;       /* handed to take */
    gsa_text text;   /* what predictions come as, beside their numbers */
    int header;      /* nonzero: CSV begins with the names of its columns, which come alone, before the rows */
    int every_class; /* nonzero: CSV and JSONL have the numbers of all classes too, where there are as many */
    /* One call at a time and in the order of the rows, each from the thread that predicted them; anything but GSA_OK
     * ends the prediction with that status. */
    gsa_status (*take)(void *ctx, const gsa_predictions *some, gsa_error *error);
} gsa_predict_hooks;

/* Predicts every row of the reader, on env's threads. A failure comes after the predictions of all rows before it. Rows
 * of a stream are predicted as soon as they are there. */
GSA_API GSA_NODISCARD gsa_status gsa_predict(const gsa_model *model, gsa_reader *reader, const gsa_predict_hooks *hooks,
                                             const gsa_env *env, gsa_error *error);

#ifdef __cplusplus
}
#endif
#endif
