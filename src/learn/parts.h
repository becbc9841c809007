/* Operations on all parts of a state: free, copies, merges, files. The parts are the rows of learn/parts.def. */
#ifndef GSA_LEARN_PARTS_H
#define GSA_LEARN_PARTS_H

#include "base/bundle.h"
#include "learn/lineage.h"
#include "learn/loss/loss.h"

/* Kinds of copies: all of a state, one of several replicas, or a run that starts from it. A part is in those up to its
 * own. */
typedef enum gsai_copy_kind { GSAI_COPY_NONE, GSAI_COPY_WHOLE, GSAI_COPY_REPLICA, GSAI_COPY_RUN } gsai_copy_kind;

void gsai_parts_release(gsa_state *state);
/* Copies the parts of another state into an empty one. */
gsa_status gsai_parts_copy(gsa_state *to, const gsa_state *from, gsai_copy_kind how, gsa_error *error);
/* Makes `into`, which is empty, of what the states have; all but the slots of the table and the prior totals, and the
 * names. */
gsa_status gsai_parts_merge(const gsai_merge *merge, gsa_error *error);

/* Adds all parts to a file. */
gsa_status gsai_parts_save(gsai_snapshot *snapshot, const gsa_state *state, gsa_error *error);
/* Does the same for the header of a delta: all but features and best weights, and of rows and columns those that the
 * base does not have. */
gsa_status gsai_parts_save_since(gsai_snapshot *snapshot, const gsa_state *replica, const gsa_state *base,
                                 gsa_error *error);
/* Reads all parts into an empty state; loss NULL: undecided. Checks everything that a damaged or hostile file could
 * say. */
gsa_status gsai_parts_load(gsa_state *state, const gsai_loss *loss, const gsai_bundle *bundle, gsa_error *error);

#endif
