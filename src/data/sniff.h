/* Detection of a file's format. */
#ifndef GSA_DATA_SNIFF_H
#define GSA_DATA_SNIFF_H

#include "data/format/format.h"

/* By the first bytes of the plain content, then by the name; where both leave it open, what is expected (NULL:
 * nothing).
 *
 *   1 A cache, or an array of NumPy, is known by its magic.
 *   2 The first line that is neither blank nor a comment decides. It is libsvm text if its second token begins like
 *     index:value after a space, or if after tabs all further tokens do. Else it is Vowpal Wabbit text if a bar begins
 *     it or follows a blank; else a table if there is a comma, semicolon or tab in it, or a bar and no blank,
 *     or two bars; else libsvm text.
 *   3 In a file that is named .csv, .tsv or .tab a line is libsvm text only if it has a pair and none of these
 *     separators; any other is one of a table. In a file that is named .vw, any that has a bar or no pair is Vowpal
 *     Wabbit text. */
const gsai_format *gsai_recognise(const char *name, const unsigned char *start, size_t size,
                                  const gsai_format *expected);
/* Returns what a file is that is often given by mistake, and what to do; NULL for other files. */
const char *gsai_foreign(const unsigned char *start, size_t size);

#endif
