/* One line about the first table, for people: how the reader understood it. */
#ifndef GSA_DATA_FORMAT_TABLE_SUMMARY_H
#define GSA_DATA_FORMAT_TABLE_SUMMARY_H

#include "data/format/table_infer.h"

/* Describes the first table; is_new: its rows have decided the schema, and what is odd about them is said, too. */
void gsai_tabular_describe(const gsai_tabular *table, const gsai_first_rows *first, bool is_new);

#endif
