/* A group: rows that are learned together, against the weights before the first of them.
 *
 *   G1  a group is cut by the rows that are learned and by nothing else: how many were learned before, what they weigh
 *       and how many entries they have. A call, a batch or a save cuts none: rows of a group that is not full
 *       wait in the state, in its file and in copies of it;
 *   G2  the entries of a row begin at a multiple of 4 and are padded to one, with slot 0 and value 0;
 *   G3  what the table has of a feature is that before the group; the updates are made in the order of rows and
 *       entries, but of several outputs and rows that have much the same features in that of features and rows. */
#ifndef GSA_LEARN_GROUP_H
#define GSA_LEARN_GROUP_H

#include "learn/row.h"
#include "learn/table.h"

#include <stdbool.h>

#define GSAI_GROUP_ROWS ((size_t)8)
#define GSAI_GROUP_PAD ((size_t)4)
/* The most slots that the columns of a group span. */
#define GSAI_GROUP_COLUMNS ((size_t)4096)

/* The entries of a group whose rows have much the same features, by feature. They take the place of the scratch. */
typedef struct gsai_columns {
    size_t n; /* 0: the group is learned by rows */
    /* The origins that values are measured from, and 1 / their units, as in a group. */
    double *origin;
    float *per_unit;
    float *x, *direction;    /* [n x rows of a whole group], 0 where a row lacks the feature */
    float *square;           /* what the rows add to the mean square of the feature */
    uint32_t *slot, *n_rows; /* ascending; rows that have it */
} gsai_columns;

/* The mean of the greedy steps: sum c eta / sum c. */
typedef struct gsai_step_mean {
    double sum;
    double weight;
} gsai_step_mean;

typedef struct gsai_group {
    size_t n_rows, n_entries;          /* n_entries: padding included */
    size_t n_full;                     /* rows that it is full with */
    size_t start[GSAI_GROUP_ROWS + 1]; /* of a row's entries */
    size_t n[GSAI_GROUP_ROWS];         /* entries of a row, without padding */
    size_t n_dense[GSAI_GROUP_ROWS];   /* the first of them, of which some may be centred */
    size_t class_number[GSAI_GROUP_ROWS];
    double y[GSAI_GROUP_ROWS], c[GSAI_GROUP_ROWS]; /* label of a regression; weight */
    double weight;                                 /* of all rows */
    uint32_t last;                                 /* slot of all rows */
    bool is_ones;                                  /* no row has values */
    uint32_t *slot;                                /* feature + 1; what stands before it is copied with a group */
    float *x;
    /* Scratch: of the first entries of a row where values are measured from, and 1 / their unit (below 0: it is that of
     * the table); the direction, and what the entry adds to the mean square of its feature; and the records that lie
     * before that of its slot. */
    double *origin;
    float *centred, *per_unit, *direction, *square;
    uint32_t *place;
    gsai_columns columns;
    size_t capacity; /* entries that all arrays have room for */
    size_t slot_capacity, x_capacity, scratch_capacity;
    /* Rows to come, whose records are asked for while these are learned. */
    gsai_row ahead[GSAI_GROUP_ROWS];
} gsai_group;

/* Returns where the entries of a row end of which some may be centred, with padding. */
static inline size_t gsai_group_dense_end(const gsai_group *group, size_t row)
{
    return group->start[row] + (group->n_dense[row] + GSAI_GROUP_PAD - 1) / GSAI_GROUP_PAD * GSAI_GROUP_PAD;
}

/* Sums over the entries of each row of a group. */
typedef struct gsai_group_margins {
    float m[GSAI_GROUP_ROWS], xdx[GSAI_GROUP_ROWS]; /* without the intercept; m of one output */
    bool means_move;                                /* a mean of squares is not what the rows have; of one output */
    bool has_new;                                   /* a feature was in no row before */
} gsai_group_margins;

/* Returns whether a state learns rows in groups (gsa_state_close_group closes one). */
bool gsai_state_has_groups(const gsa_state *state);
/* Adds a row to those that wait; scan NULL: it was not scanned. GSA_INPUT if a value is not finite. */
gsa_status gsai_group_add(gsa_state *state, const gsai_row *row, const gsai_row_scan *scan, size_t class_number,
                          double y, double c, gsa_error *error);
bool gsai_group_is_full(const gsa_state *state);
/* Makes room for a row and what it takes to learn it, several times. */
gsa_status gsai_group_fit(gsa_state *state, const gsai_row *row, gsa_error *error);
/* Learns the group; *loss is the weighted sum of the losses of its rows. GSA_DIVERGED, without a message, if margins
 * are not finite. */
gsa_status gsai_group_learn(gsa_state *state, double past_weight, double *loss);
void gsai_group_clear(gsai_group *group);

#endif
