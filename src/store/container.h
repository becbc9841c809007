/* A bundle of tensors as a safetensors file: 8 bytes little-endian header size, a JSON header, the tensors.
 * docs/formats/model.md has it byte by byte.
 *
 * Invariants of a file that we write, checked when one is read:
 *   C1  tensors are contiguous, in the order of the header, without gaps or overlaps, and fill the file;
 *   C2  every tensor starts at a multiple of its element size from the start of the file: the header is padded with
 *       spaces to a multiple of 8, and larger element types come first;
 *   C3  the last tensor is "checksum", U8 [8]: XXH3 of every byte before it. Bytes and not one U64, because after
 *       tensors of single bytes a U64 would break C2;
 *   C4  elements are little-endian. */
#ifndef GSA_STORE_CONTAINER_H
#define GSA_STORE_CONTAINER_H

#include "base/bundle.h"
#include "base/memory.h"

#define GSAI_CONTAINER_MAX_TENSORS 4096
/* More than 4096 tensors and as many texts need, and little enough that a hostile header cannot fill the memory. */
#define GSAI_CONTAINER_MAX_HEADER ((size_t)4 << 20)
#define GSAI_CONTAINER_CHECKSUM "checksum"
#define GSAI_CONTAINER_CHECKSUM_SIZE 8
/* The name of nameless bytes in messages. */
#define GSAI_CONTAINER_BYTES "the bytes given"

/* Writes the bundle through `write`. Names are 1 to 64 printable ASCII characters and distinct, texts are UTF-8. */
gsa_status gsai_container_write(const gsai_bundle *bundle, gsa_write_fn write, void *ctx, gsa_error *error);

/* Writes the bundle to a file: temporary name beside it, fsync, rename, fsync of the directory. */
gsa_status gsai_container_save(const gsai_bundle *bundle, const char *path, gsa_error *error);

/* A file or bytes opened for reading, everything above checked; the bundle's tensors (without the checksum) have `data`
 * pointing into it, aligned to their element size and in machine order. A file is mapped where it can be: it may be
 * replaced meanwhile (as we do, by rename), but not changed in place. */
typedef struct gsai_container gsai_container;
/* Opens a file, or, where path is NULL, bytes, borrowed until close. They are copied only if they are not aligned to 8.
 */
gsa_status gsai_container_open(const char *path, const void *bytes, size_t size, const gsai_env *env,
                               gsai_container **out, gsa_error *error);
const gsai_bundle *gsai_container_bundle(const gsai_container *container);
/* Takes NULL. */
void gsai_container_close(gsai_container *container);

#endif
