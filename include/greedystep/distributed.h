/* greedystep: for engines that distribute training over processes, such as MPI and Spark. Unlike
 * greedystep.h, data.h and train.h, which do not include it, this header may change between versions: build an engine
 * for one version of the library.
 *
 *   1 replicas     2 deltas     3 schedule     4 parts of an input     5 processes that train together */
#ifndef GREEDYSTEP_DISTRIBUTED_H
#define GREEDYSTEP_DISTRIBUTED_H

#include <greedystep/greedystep.h>

#ifdef __cplusplus
extern "C" {
#endif

struct gsa_reader; /* see data.h */
struct gsa_writer; /* see data.h */

/* ---- 1. replicas ------------------------------------------------------------------------------------------------- */

/* Makes a replica that continues from the state, one of n_copies that learn different rows in parallel. Merge them by
 * gsa_state_merge with this state as base. In the average of a replica a row counts as n_copies rows, so that the
 * merged average is that of one run. */
GSA_API GSA_NODISCARD gsa_status gsa_state_fork(const gsa_state *base, size_t n_copies, gsa_state **out,
                                                gsa_error *error);
/* Makes an earlier replica a replica of this base, reusing its memory: several times faster than a new one if the table
 * is large. After a failure the replica can only be freed. */
GSA_API GSA_NODISCARD gsa_status gsa_state_refresh(gsa_state *copy, const gsa_state *base, size_t n_copies,
                                                   gsa_error *error);
/* Takes the labels of rows without learning the rows: decides `loss=auto` and adds labels in sorted order after those
 * that are known. The rows of the first call must be the first of the run. Optional: the first update does the
 * same with its own rows. Afterwards a label that contradicts the decision is GSA_LABEL. */
GSA_API GSA_NODISCARD gsa_status gsa_state_prepare(gsa_state *state, const gsa_batch *first, gsa_error *error);
/* Learns the given rows of a batch, in the given order. */
GSA_API GSA_NODISCARD gsa_status gsa_state_update_rows(gsa_state *state, const gsa_batch *batch, const uint32_t *rows,
                                                       size_t n_rows, gsa_error *error);
/* Learns the rows that wait in the state: the first ones of a run, which are solved together (gsa_state_update), and
 * those of an unfinished group. Later rows are learned in groups of up to eight, which depend only on the rows. Every
 * query except gsa_state_predict treats rows that wait as learned. Required before replicas are forked and before
 * deltas are written (gsa_state_write_delta); the end of a pass does it. */
GSA_API GSA_NODISCARD gsa_status gsa_state_close_group(gsa_state *state, gsa_error *error);
/* Replaces what a state has learned by that of `by`, keeping its own memory and run parameters. Frees `by`, also on
 * failure. */
GSA_API GSA_NODISCARD gsa_status gsa_state_replace(gsa_state *state, gsa_state *by, gsa_error *error);
/* Keeps the averaged weights as the best checkpoint if their held-out loss is the lowest so far (by GSA_MIN_GAIN);
 * models are made from it. Call it at the end of a pass. Does nothing without held-out rows or with the method
 * paper. */
GSA_API GSA_NODISCARD gsa_status gsa_state_checkpoint_best(gsa_state *state, const gsa_call *call, gsa_error *error);

/* Returns nonzero if the rows begin with the first rows of this state's run, as a resumed run must. Compares at most
 * 1024 rows; returns 0 if `first` has fewer than the state remembers. */
GSA_API int gsa_state_run_matches(const gsa_state *state, const gsa_batch *first);
/* Identifies a set of rows, in any order: fingerprints of batches and of replicas add up. */
typedef struct gsa_fingerprint {
    uint64_t sum; /* of hashes, modulo 2^64 */
    uint64_t n_rows;
} gsa_fingerprint;
/* Adds n_rows rows of a batch, given by their numbers; rows NULL: the first n_rows. */
GSA_API void gsa_fingerprint_add(gsa_fingerprint *fingerprint, const gsa_batch *batch, const uint32_t *rows,
                                 size_t n_rows);
/* Fills in the fingerprint of the rows of the first pass; a resumed gsa_train compares it with its input. */
GSA_API void gsa_state_get_fingerprint(const gsa_state *state, gsa_fingerprint *out);

/* ---- 2. deltas --------------------------------------------------------------------------------------------------- */

/* Merging across processes, with the bits of gsa_state_merge, for two or more replicas of a base that knows all labels:
 *   1 every replica writes a header, a state without features (gsa_state_read reads it);
 *   2 every process writes a delta per range of features: the sum of what its replicas learned there;
 *   3 the deltas of one range are reduced to one, in the order of their replicas, by any process;
 *   4 headers, base and reduced deltas in the order of their features become the merged state.
 * The distribution of replicas over processes changes no bit. A delta has 21 bytes per touched feature (one output) and
 * a bit per feature. Its format may change between versions: do not store it.
 *
 * Writes the header of a replica. */
GSA_API GSA_NODISCARD gsa_status gsa_state_write_delta_header(const gsa_state *copy, const gsa_state *base,
                                                              gsa_write_fn write, void *ctx, gsa_error *error);
/* Writes the delta of consecutive replicas, numbers first_copy, first_copy + 1 ... of all, for n_features features from
 * `first` on. */
GSA_API GSA_NODISCARD gsa_status gsa_state_write_delta(const gsa_state *const *copies, size_t n_copies,
                                                       size_t first_copy, const gsa_state *base, uint64_t first,
                                                       uint64_t n_features, gsa_write_fn write, void *ctx,
                                                       gsa_error *error);
/* Reduces the deltas of one range, in the order of their replicas, to one. */
GSA_API GSA_NODISCARD gsa_status gsa_deltas_reduce(const void *const *deltas, const size_t *sizes, size_t n_deltas,
                                                   const gsa_memory *memory, gsa_write_fn write, void *ctx,
                                                   gsa_error *error);
/* Merges the headers of all replicas and the reduced deltas, in the order of their features. The memory is that of the
 * base. */
GSA_API GSA_NODISCARD gsa_status gsa_state_merge_deltas(const gsa_state *const *headers, size_t n_copies,
                                                        const gsa_state *base, const void *const *reduced,
                                                        const size_t *sizes, size_t n_deltas, const gsa_call *call,
                                                        gsa_state **out, gsa_error *error);

/* ---- 3. schedule ------------------------------------------------------------------------------------------------- */

/* The order of rows is part of the algorithm; it never depends on the machine. Rows are shuffled in blocks. A block
 * ends after this many rows of a file, or with the row that brings them to GSA_BLOCK_ENTRIES entries; with the last row
 * of a file if it has GSA_FIRST_ROWS rows or half of these entries by then, else the first rows of the next file
 * follow. */
#define GSA_BLOCK_ROWS 65536u
/* The maximum number of entries of a block before its last row. */
#define GSA_BLOCK_ENTRIES ((size_t)1 << 24)
/* The loss is decided by the labels of this many first rows. */
#define GSA_FIRST_ROWS 8192u

/* Returns the number of rows of the block that begins at row `from` of a batch that holds all rows. */
GSA_API size_t gsa_plan_block(const gsa_batch *rows, size_t from);

/* Fills in the order in which the n_rows rows of a block are learned: a permutation that depends on the arguments
 * only. */
GSA_API void gsa_plan_order(uint64_t seed, uint64_t pass, uint64_t block, uint32_t n_rows, uint32_t *out);
/* The default number of passes without held-out rows. */
#define GSA_PASSES_UNJUDGED 5u
/* Returns the maximum number of passes over n_rows rows if the number is not given: about 2^18 rows in all, but 20 to
 * 100 passes. */
GSA_API uint64_t gsa_plan_passes(uint64_t n_rows);
/* The maximum number of replicas in a schedule. */
#define GSA_MAX_REPLICAS 8192u
/* The maximum number of replicas in memory at a time. */
#define GSA_MAX_RESIDENT 8u
/* A step: how the next rows are learned. By the state itself (n_replicas 1), or by replicas of it, which are merged
 * after n_rows rows. n_resident replicas learn at a time, and their changes wait as deltas for the merge. Interleaved:
 * whole blocks of the next n_rows / (n_replicas / n_resident) rows are assigned to them in turn. Contiguous: each
 * replica learns a shard of consecutive rows. */
typedef struct gsa_step {
    size_t n_replicas; /* 1, or up to GSA_MAX_REPLICAS, a power of two; for contiguous rows any number */
    size_t n_resident; /* 1, or up to GSA_MAX_RESIDENT; for contiguous rows any number */
    uint64_t n_rows;   /* rows of all replicas */
    int is_contiguous; /* nonzero: shards */
} gsa_step;
/* Returns the next step from the rows, features and outputs of the run so far. For shuffled rows with a held-out
 * sample, except with the method paper; in all other runs the state itself learns. There are more replicas than
 * n_resident only if knows_labels is nonzero: no further label is possible, after the first pass or with one output. */
GSA_API gsa_step gsa_plan_step(uint64_t n_rows, uint64_t n_features, uint64_t n_outputs, int knows_labels);
/* Returns the step of a pass over n_rows rows in shards. */
GSA_API gsa_step gsa_plan_shards(uint64_t n_rows, uint64_t n_shards);
/* Returns how many rows of n_rows are before a shard; shards are as even as possible. */
GSA_API uint64_t gsa_plan_shard_start(uint64_t n_rows, uint64_t n_shards, uint64_t shard);
/* Returns how many first rows of each shard are learned in sequence, as a pass of their own, before shards are learned
 * in parallel. The caller takes fewer if these have more than GSA_FIRST_ENTRIES / n_shards entries. Shards are
 * partitions of an input, such as those of a cluster (docs/spark.md); their replicas are merged after every pass. */
GSA_API uint64_t gsa_plan_first_rows(uint64_t n_rows, uint64_t n_shards);
/* The approximate maximum number of entries in the first rows of all shards. */
#define GSA_FIRST_ENTRIES ((uint64_t)1 << 22)
/* Returns the n_copies of gsa_state_fork for a shard of shard_rows rows out of n_rows. */
GSA_API uint64_t gsa_plan_replicas(uint64_t n_rows, uint64_t shard_rows);
/* Returns nonzero if another pass should follow, after the first rows or a pass: if fewer than `asked` are done or,
 * with asked 0, the last one improved the held-out loss or, without held-out rows, fewer than GSA_PASSES_UNJUDGED are
 * done. */
GSA_API int gsa_plan_another_pass(const gsa_state *state, uint64_t asked);
/* An improvement below this share of the loss counts as none. */
#define GSA_MIN_GAIN 0.0005
/* Returns 0 if n_rows rows with n_entries non-zero values are too many for the optimum, whatever the features.
 * n_outputs: 1 for two classes and regression, else the number of classes. */
GSA_API int gsa_train_fits(uint64_t n_rows, uint64_t n_entries, uint64_t n_outputs);

/* ---- 4. parts of an input ---------------------------------------------------------------------------------------- */

/* Continues with the block of a plain cache that gsa_reader_skip described, and counts rows anew; a rewind returns to
 * the first row of the input. GSA_ARGUMENT if no block begins there, GSA_UNSUPPORTED for other input. After a failure
 * there are no rows until the next seek or rewind. */
GSA_API GSA_NODISCARD gsa_status gsa_reader_seek(struct gsa_reader *reader, const gsa_place *block, gsa_error *error);
/* Some consecutive rows of an input. */
typedef struct gsa_row_range {
    gsa_place at;               /* location of the first row */
    uint64_t n_rows, n_entries; /* rows and their entries */
    uint64_t hash;              /* of their bytes in the cache */
    int begins_file;            /* nonzero: they are the first rows of a file before conversion */
} gsa_row_range;
/* Skips the next block of a plain cache without reading it, at the first row or right after seek or skip, and describes
 * it. GSA_END after the last, when the names of categories are known. GSA_UNSUPPORTED for other input, whose rows must
 * be read. */
GSA_API GSA_NODISCARD gsa_status gsa_reader_skip(struct gsa_reader *reader, gsa_row_range *out, gsa_error *error);
/* Returns nonzero if the last batch begins with the first row of a file before conversion. */
GSA_API int gsa_reader_begins_file(const struct gsa_reader *reader);
/* Marks the next row as the first of a file, which ends a block of a cache. Rows whose places name another file do this
 * by themselves. */
GSA_API void gsa_writer_begin_file(struct gsa_writer *writer);

/* ---- 5. processes that train together ---------------------------------------------------------------------------- */

/* A communicator of processes that train together, on one machine or many. Each calls gsa_train with the same state,
 * parameters and plain caches (other input is GSA_UNSUPPORTED), learns its share, and ends with the state that one
 * process would have. The library sends no bytes itself (libgreedystep_mpi, <greedystep/mpi.h>, does). All processes
 * make the same calls in the same order; results are valid until the next call. A failure ends the run of its process;
 * the communicator must end the others. */
typedef struct gsa_comm {
    void *ctx;            /* passed to both functions */
    size_t rank, n_ranks; /* this process, from 0, and the number of processes */
    /* Gathers the bytes of all ranks on every rank, in the order of ranks: sizes[r] bytes are from rank r. */
    gsa_status (*allgather)(void *ctx, const void *bytes, size_t size, const unsigned char **all, const size_t **sizes,
                            gsa_error *error);
    /* Sends sizes[r] bytes to each rank r and receives the bytes of each for this rank, both in the order of ranks. */
    gsa_status (*alltoall)(void *ctx, const void *bytes, const size_t *sizes, const unsigned char **all,
                           const size_t **all_sizes, gsa_error *error);
} gsa_comm;

/* A finished round, as seen by this process. */
typedef struct gsa_round_report {
    size_t n_shards;           /* replicas that were merged */
    uint64_t n_rows;           /* rows of all replicas, in all processes */
    uint64_t n_mine, n_fewest; /* rows of this process, and of the process with the fewest */
    /* Seconds spent making replicas, reading and learning rows, waiting for other processes, and merging. */
    double forking, learning, waiting, merging;
    uint64_t bytes_sent; /* to other processes */
} gsa_round_report;

/* The shard number of the first rows of all shards. */
#define GSA_FIRST_SHARD ((uint64_t)1 << 31)
/* Trains a replica on one shard of a pass: all rows of the reader after the first n_skipped, which were learned before
 * (gsa_plan_first_rows), in blocks shuffled by the pass and the shard's number. *n_rows: the rows learned. */
GSA_API GSA_NODISCARD gsa_status gsa_train_shard(gsa_state *copy, struct gsa_reader *reader, uint64_t shard,
                                                 uint64_t n_skipped, const gsa_call *call, uint64_t *n_rows,
                                                 gsa_error *error);

/* Adds other metrics of an equal model. */
GSA_API GSA_NODISCARD gsa_status gsa_metrics_merge(gsa_metrics *metrics, const gsa_metrics *from, gsa_error *error);
/* Runs a step of shards in memory: n_replicas replicas of the state learn shards of the given rows of a batch, in the
 * given order, and are merged into the state. Can be stopped; on failure the state is unchanged. */
GSA_API GSA_NODISCARD gsa_status gsa_train_replicas(gsa_state *state, const gsa_batch *batch, const uint32_t *rows,
                                                    size_t n_rows, size_t n_replicas, const gsa_call *call,
                                                    gsa_error *error);

#ifdef __cplusplus
}
#endif
#endif
