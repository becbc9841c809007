/* The inner loops over the entries of a row. generic.c is the oracle: whatever is chosen at run time gives its bits.
 *
 * The order of additions is part of the contract:
 *   K1  entries that are zero are passed over and do not count as a position;
 *   K2  with one output, the products of position j go to partial sum j mod 8 (double), and the eight are added as
 *       ((0+4)+(2+6)) + ((1+5)+(3+7)); the intercept is added last; x.x likewise, for any number of outputs;
 *   K3  with several outputs, each class has one sum, in the order of positions, the intercept last;
 *   K4  an update rounds once: u = (float)(scale * along), weight += u, average += (float)(lag * u). */
#ifndef GSA_CORE_KERNEL_H
#define GSA_CORE_KERNEL_H

#include "core/row.h"
#include "core/table.h"

#include <stdbool.h>

/* The margin of a row with one output. All ids are below the table's end. */
double gsa__dot_one(const gsa__table *table, const gsa__row *row, bool intercept);
/* The margins of all outputs. */
void gsa__dot_many(const gsa__table *table, const gsa__row *row, bool intercept, double *margins);
/* x.x, the intercept included. Not finite if a value is not. */
double gsa__square_length(const gsa__row *row, bool intercept);

/* Counts the row's features as present, with mass c x^2. */
void gsa__count_row(gsa__table *table, const gsa__row *row, bool intercept, double c);

/* weight += scale * along (scale one a output), average += lag * that. along has a number for every position and then
 * the intercept's; NULL: it is the row. */
void gsa__update_one(gsa__table *table, const gsa__row *row, bool intercept, const double *along, double scale,
                     double lag);
void gsa__update_many(gsa__table *table, const gsa__row *row, bool intercept, const double *along, const double *scale,
                      double lag);

/* The same dots over plain weights of a model, row-major [n_features x n_outputs]; ids beyond n_features are absent. */
double gsa__model_dot_one(const float *weights, uint64_t n_features, const gsa__row *row);
void gsa__model_dot_many(const float *weights, uint64_t n_features, size_t n_outputs, const gsa__row *row,
                         double *margins);

#endif
