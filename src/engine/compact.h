/* Rows whose features are few among many numbers, as hashed words are: renumbered 0, 1, 2 ... in the order of their
 * ids, so that tables are as large as there are features. */
#ifndef GSA_ENGINE_COMPACT_H
#define GSA_ENGINE_COMPACT_H

#include <greedystep/greedystep.h>

typedef struct gsa__compact {
    gsa_batch rows; /* with the new numbers; all else is borrowed from the rows given */
    uint32_t *index;
    uint32_t *id; /* ids by new number, ascending; NULL: the numbers were left as they are */
    size_t n_ids;
} gsa__compact;

gsa_status gsa__compact_rows(gsa__compact *compact, const gsa_batch *rows, const gsa_env *env, gsa_error *error);
void gsa__compact_release(gsa__compact *compact, const gsa_env *env);

#endif
