/* Vowpal Wabbit text as a format of the reader. */
#ifndef GSA_DATA_FORMAT_VW_H
#define GSA_DATA_FORMAT_VW_H

#include "data/format/format.h"

const gsai_format *gsai_format_vw(void);

#endif
