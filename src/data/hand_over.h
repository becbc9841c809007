/* The engine's door to this folder: rows that a reader leaves to somebody else, who need not copy them. */
#ifndef GSA_DATA_HAND_OVER_H
#define GSA_DATA_HAND_OVER_H

#include "data/rows.h"

#include <greedystep/data.h>

/* The arrays of the batch that the reader delivered last become those of `rows`, which are the reader's to fill from
 * now on: the batch stays valid whatever the reader does. Only its words are still the reader's. It has no zeros. False
 * if the reader has none to give, or its memory is another. */
bool gsai_hand_over(gsa_reader *reader, gsai_rows *rows);

#endif
