/* Float values to decimal text: as short as reads back to the same bits, whatever the locale of the process. */
#ifndef GSA_DATA_FORMAT_DECIMAL_H
#define GSA_DATA_FORMAT_DECIMAL_H

#include "base/significant.h"
#include "data/format/number.h"

/* Writes to out, which has room for GSAI_DECIMAL_SIZE bytes, and returns the end of what it wrote. The value must be
 * finite. */
char *gsai_decimal_float(float value, const gsai_number_locale *locale, char *out);

#endif
