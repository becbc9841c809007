/* Tables in text (CSV, TSV, JSON lines) as a format of the reader. */
#ifndef GSA_DATA_FORMAT_TABLE_TEXT_H
#define GSA_DATA_FORMAT_TABLE_TEXT_H

#include "data/format/format.h"

const gsai_format *gsai_format_table(void);

#endif
