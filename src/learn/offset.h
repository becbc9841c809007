/* The offset of a row: a margin of another model, to which the learned one is added.
 *
 *   O1  It is the value of a feature that the schema names, and comes with the row through readers, caches and buffers.
 *   O2  Where a row is learned it is taken off: of losses that depend on the residual the label becomes y - o; with a
 *       log link, which is an exposure of e^o, y / e^o with the weight times e^o; and of two classes with one margin it
 *       is the number of the row, from which the loss measures the margin (gsai_target.origin).
 *   O3  A model has the weight 1 for it. */
#ifndef GSA_LEARN_OFFSET_H
#define GSA_LEARN_OFFSET_H

#include "learn/basis.h"
#include "learn/loss/loss.h"

/* loss NULL: rows have none. */
typedef struct gsai_offset {
    uint32_t feature;
    const gsai_loss *loss;
} gsai_offset;

/* Moves the entry of the offset behind the others, into memory that lasts until the next row, if the row has one. */
gsa_status gsai_offset_move(const gsai_offset *offset, gsai_bent *memory, const gsai_env *env, gsai_row *row,
                            gsa_error *error);
/* Takes the offset off the end of a row; 0: it has none. */
static inline double gsai_offset_hide(const gsai_offset *offset, gsai_row *row)
{
    bool is_last = offset->loss && row->n > 0 && gsai_row_id(row, row->n - 1) == offset->feature;
    return is_last ? (double)gsai_row_value(row, --row->n) : 0;
}
/* Returns what a row weighs, and the number that it has in place of y. */
double gsai_offset_weight(const gsai_offset *offset, double o, double c);
double gsai_offset_number(const gsai_offset *offset, double o, double y);
/* Checks that both exist. */
gsa_status gsai_offset_check(const gsai_offset *offset, double o, size_t row, gsa_error *error);
/* Returns the hash of the features of a row that has this number: rows of two classes are equal if their offsets are.
 */
uint64_t gsai_offset_hash(const gsai_loss *loss, uint64_t hash, double number);

#endif
