/* Which format a file is in. */
#ifndef GSA_DATA_RECOGNISE_H
#define GSA_DATA_RECOGNISE_H

#include "data/format/format.h"

/* By the first bytes of the plain content, then by the name; must_be_table decides where both leave it open.
 *
 *   1 A cache is known by its magic.
 *   2 The first line that is neither blank nor a comment decides. It is libsvm text if its second token begins like
 *     index:value after a space, or if after tabs all further tokens do; and if there is no comma, semicolon or tab in
 *     it. Any other line is one of a table.
 *   3 In a file that is named .csv, .tsv or .tab a line is libsvm text only if it has a pair and no comma, semicolon or
 *     tab. */
const gsa__format *gsa__recognise(const char *name, const unsigned char *start, size_t size, bool must_be_table);

#endif
