/* The progressive loss of the rows since the last line of a trace, over all replicas.
 *
 * A learner's sums are those of the pass so far: of the run's own state, or in rounds of a replica, whose sums began
 * with those of the state when the round did. So a learner is compared with its own last report, and a replica that has
 * not reported in this round with the state. In rounds not every replica reports: the loss is that of the rows of those
 * that do. */
#ifndef GREEDYSTEP_CLI_RECENT_H
#define GREEDYSTEP_CLI_RECENT_H

#include <greedystep/distributed.h>
#include <greedystep/greedystep.h>

typedef struct recent_learner {
    const void *who;
    double sum, weight;
} recent_learner;

typedef struct cli_recent {
    recent_learner seen[GSA_MAX_RESIDENT + 1]; /* since the pass, or the round, began */
    size_t n_seen;
    uint64_t pass, rows_before; /* before: learned when the round began */
    double sum, weight;         /* of the rows since the last line, in this pass */
} cli_recent;

/* Starts a run with its state. */
void recent_begin(cli_recent *recent, const void *state, const gsa_summary *summary);
/* Adds the report of a learner. base: where it began, if it is a copy of the state; else NULL. */
void recent_add(cli_recent *recent, const void *learner, const gsa_summary *summary, const gsa_summary *base);
/* Returns the mean loss since the last call, NaN if no row of this pass was reported. */
double recent_take(cli_recent *recent);

#endif
