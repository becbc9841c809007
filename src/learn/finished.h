/* A state that has learned the rows it held out, which is what a model is made of. The table is not copied: slots that
 * these rows do not have are those of the state. */
#ifndef GSA_LEARN_FINISHED_H
#define GSA_LEARN_FINISHED_H

#include "base/memory.h"

#include <greedystep/greedystep.h>

typedef struct gsai_finished {
    const gsa_state *state; /* all but the slots of held-out rows */
    gsa_state *learned;     /* these; NULL: they are in `state` too */
    gsa_state *own;         /* what `state` is, if it was made */
    uint32_t *slot;         /* of them, from GSAI_MAX_COLUMNS on, ascending; below, all are in `learned` */
    size_t n, at;           /* and the one that was asked for last */
} gsai_finished;

/* Learns the rows that are held out. No row waits in the state, which must outlive the result. GSA_STOPPED if `stop`
 * asks for it. */
gsa_status gsai_finished_make(gsai_finished *out, const gsa_state *state, const gsai_env *stop, gsa_error *error);
void gsai_finished_release(gsai_finished *finished);
/* Returns the first slot in use from this one on; SIZE_MAX beyond the last. */
size_t gsai_finished_next(gsai_finished *finished, size_t slot);
/* Return the number of slots, and at most how many are in use. */
size_t gsai_finished_slots(const gsai_finished *finished);
size_t gsai_finished_count(const gsai_finished *finished);
/* Returns the state that has a slot, and sets *at to the number that it has there. Fastest with ascending slots. */
const gsa_state *gsai_finished_find(gsai_finished *finished, size_t slot, size_t *at);

#endif
