/* Means of dense columns, and deviations of features. */
#ifndef GSA_LEARN_CENTRE_H
#define GSA_LEARN_CENTRE_H

#include "learn/table.h"

/* Mean and sum of squares around it of a column, over the rows where it was present while present in nearly all rows
 * (in one of 20, of rows in memory). */
typedef struct gsai_column {
    double n, mean, squares;
} gsai_column;

/* Columns beyond are never centred: their means would cost memory as the weights do. */
#define GSAI_MAX_COLUMNS 65536u
/* Columns by slot, up to the last one that was ever present in nearly all rows. */
typedef struct gsai_centre {
    gsai_column *at;
    size_t n, capacity;
} gsai_centre;

/* Adds what `from` knows of a column beyond `start`, which it began with. */
void gsai_column_add(gsai_column *into, const gsai_column *from, const gsai_column *start);

/* No column in a slot from `end` on is centred while there are fewer than n_rows rows: nearly all features of a click
 * log, so that rows need not look. */
typedef struct gsai_dense_slots {
    size_t end;
    uint64_t n_rows;
} gsai_dense_slots;
/* Makes room for the columns of a row. *n_dense: the entries that may be centred, or measured, are among that many
 * first ones. */
gsa_status gsai_centre_reserve(gsa_state *state, const uint32_t *slot, size_t n, size_t *n_dense, gsa_error *error);
/* Enters the rows of a group, before they are counted. */
void gsai_centre_group(gsa_state *state);

/* Returns the standard deviation of a feature over all rows, absent ones counted as 0: exact for ones, from the centre
 * of columns that are or were present in nearly all rows, else from the mean square and the count, within a factor of
 * sqrt(2) while it is present in at most half of the rows. docs/decisions/0031. */
double gsai_state_deviation(const gsa_state *state, size_t slot);

/* The origin that the values of a feature are measured from, and 1 / their unit; below 0: the unit is the table's. */
typedef struct gsai_measure {
    double origin;
    float per_unit;
} gsai_measure;
gsai_measure gsai_measure_of(const gsa_state *state, const gsai_table *table, size_t slot);

#endif
