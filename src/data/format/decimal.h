/* Ids and float values to decimal text: as short as reads back to the same bits, whatever the locale of the process. */
#ifndef GSA_DATA_DECIMAL_H
#define GSA_DATA_DECIMAL_H

#include "data/format/number.h"

#define GSA__DECIMAL_SIZE 32 /* room for any number; no NUL is written */

/* Each writes to out and returns the end of what it wrote. Values must be finite. */
char *gsa__decimal_unsigned(uint64_t value, char *out);
char *gsa__decimal_float(float value, const gsa__number_locale *locale, char *out);

#endif
