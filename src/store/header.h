/* The JSON header of a container, to text and back. Its words are safetensors': dtype, shape, data_offsets. */
#ifndef GSA_STORE_HEADER_H
#define GSA_STORE_HEADER_H

#include "base/env.h"
#include "base/tensor.h"

/* The header of a bundle whose tensors stand in the file in the given order, the checksum behind them; padded with
 * spaces to a multiple of 8, not terminated. The text is from env, and the caller frees it.
 *
 * What jansson itself allocates, here and below, comes from malloc: its allocator is one for the whole process and not
 * ours to change. It is bounded by GSAI_CONTAINER_MAX_HEADER. */
gsa_status gsai_header_compose(const gsai_bundle *bundle, const size_t *order, const gsai_env *env, char **text,
                               size_t *size, gsa_error *error);

/* A header that was read. Names and texts live in `json` (a json_t, hidden here so that only header.c knows jansson).
 */
typedef struct gsai_header {
    void *json;
    gsai_tensor *tensors; /* with data; without the checksum */
    size_t n_tensors;
    gsai_note *notes;
    size_t n_notes;
} gsai_header;

/* Reads and checks the header of a whole file in memory: C1, C2 and the place of the checksum (not its value). `name`
 * is what messages call the file. On failure nothing is left to free. */
gsa_status gsai_header_parse(const char *name, const unsigned char *file, size_t file_size, const gsai_env *env,
                             gsai_header *out, gsa_error *error);
void gsai_header_free(const gsai_env *env, gsai_header *header);

#endif
