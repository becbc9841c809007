/* Arrow streams as a format of the reader. */
#ifndef GSA_DATA_FORMAT_ARROW_H
#define GSA_DATA_FORMAT_ARROW_H

#include "data/format/format.h"

#include <greedystep/arrow.h>

/* Releases what a reader that is not opened was to take over. */
void gsai_arrow_refuse(struct ArrowArrayStream *stream, const gsa_arrow_again *again);
/* Makes a parser that owns stream and again, which are taken over also on failure. */
gsa_status gsai_arrow_open(struct ArrowArrayStream *stream, const gsa_arrow_again *again, const gsai_env *env,
                           void **out, gsa_error *error);

#endif
