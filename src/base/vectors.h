/* The choice of the compiled loops for this processor. */
#ifndef GSA_BASE_VECTORS_H
#define GSA_BASE_VECTORS_H

#include <stddef.h>

/* Returns how wide the vectors of this machine are, as far as loops are compiled for them: 0 the baseline's, 1 AVX2,
 * 2 AVX-512. */
size_t gsai_vectors(void);

#endif
