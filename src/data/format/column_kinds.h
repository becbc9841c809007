/* All kinds of columns, and which of them the cells of a new column are. A cell of a categorical column is one feature,
 * hashed with the name of the column. */
#ifndef GSA_DATA_FORMAT_COLUMN_KINDS_H
#define GSA_DATA_FORMAT_COLUMN_KINDS_H

#include "data/format/column.h"
#include "data/format/column_stats.h"

/* Returns the functions of a kind. */
const gsai_column_kind *gsai_kind_at(gsai_field_kind kind);
/* Returns the kind of a word at the beginning of a line; GSAI_FIELD_KINDS if not found. */
gsai_field_kind gsai_kind_find(const char *word, size_t size);

/* Counts a trimmed cell of a new column, which a byte follows that cannot continue a number. */
void gsai_column_see(gsai_column_stats *stats, const gsai_number_locale *locale, const char *text, size_t size,
                     double weight);
/* Returns which kind they are of, and how they are read. */
gsai_decided gsai_column_decide(const gsai_column_stats *stats, const gsai_asked *asked);

/* Adds the feature of a text in column i. Returns its hash, by which it can be added again (but for crosses, which want
 * its text). */
uint64_t gsai_tabular_add_category(struct gsai_tabular *table, size_t i, const char *text, size_t size,
                                   gsai_features *features);
void gsai_tabular_add_hash(struct gsai_tabular *table, size_t i, uint64_t hash, gsai_features *features);

#endif
