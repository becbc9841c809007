/* A state that has learned the rows of its last group and those it held out, which is what a model is made of. The
 * table is not copied: slots that these rows do not have are those of the state. */
#ifndef GSA_LEARN_FINISHED_H
#define GSA_LEARN_FINISHED_H

#include "base/memory.h"

#include <greedystep/greedystep.h>

typedef struct gsai_finished {
    const gsa_state *state; /* all but the slots of these rows */
    gsa_state *learned;     /* these; NULL: they are in `state` too */
    gsa_state *own;         /* what `state` is, if it was made */
    uint32_t *slot;         /* of them, from GSAI_MAX_COLUMNS on, ascending; below, all are in `learned` */
    size_t n, at;           /* and the one that was asked for last */
} gsai_finished;

/* Learns the rows of the last group. The state, which must outlive the result, has no rows that wait to be solved. */
gsa_status gsai_finished_open(gsai_finished *out, const gsa_state *state, gsa_error *error);
/* Learns the rows that are held out. GSA_STOPPED if `stop` asks for it: some of them were learned. */
gsa_status gsai_finished_learn(gsai_finished *finished, const gsai_env *stop, gsa_error *error);
void gsai_finished_release(gsai_finished *finished);
/* Returns the state that held-out rows can be predicted with: slots are numbers of its own. */
static inline const gsa_state *gsai_finished_held_out(const gsai_finished *finished)
{
    return finished->learned ? finished->learned : finished->state;
}
/* Returns the first slot in use from this one on; SIZE_MAX beyond the last. */
size_t gsai_finished_next(gsai_finished *finished, size_t slot);
/* Return the number of slots, and at most how many are in use. */
size_t gsai_finished_slots(const gsai_finished *finished);
size_t gsai_finished_count(const gsai_finished *finished);
/* Returns the state that has a slot, and sets *at to the number that it has there. Fastest with ascending slots. */
const gsa_state *gsai_finished_find(gsai_finished *finished, size_t slot, size_t *at);

#endif
