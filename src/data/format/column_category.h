/* Categorical columns: a cell is one feature, hashed with the name of the column. */
#ifndef GSA_DATA_FORMAT_COLUMN_CATEGORY_H
#define GSA_DATA_FORMAT_COLUMN_CATEGORY_H

#include "data/format/column.h"

extern const gsai_column_kind gsai_kind_category;

/* Adds the feature of a text in column i. Returns its hash, by which it can be added again (but for crosses, which want
 * its text). */
uint64_t gsai_tabular_add_category(struct gsai_tabular *table, size_t i, const char *text, size_t size,
                                   gsai_features *features);
void gsai_tabular_add_hash(struct gsai_tabular *table, size_t i, uint64_t hash, gsai_features *features);

#endif
