/* Numbers of a struct that are tensors of their own in a file. One table per struct says how they are written, read and
 * checked. */
#ifndef GSA_STORE_FIELDS_H
#define GSA_STORE_FIELDS_H

#include "store/bundle.h"

/* The numbers that an F64 may be. */
typedef enum gsai_range { GSAI_FINITE, GSAI_NOT_NEGATIVE, GSAI_OR_NAN } gsai_range;

typedef struct gsai_field {
    const char *name; /* of the tensor */
    size_t at, len;   /* the first element in the struct, and how many follow each other */
    gsai_dtype dtype; /* GSAI_U64 or GSAI_F64 */
    uint64_t limit;   /* the largest U64, or the gsai_range of an F64 */
} gsai_field;

/* Far beyond any run: so many are whole numbers of doubles too, and can be added up and doubled. */
#define GSAI_MAX_COUNT (UINT64_C(1) << 52)

/* Why fields are checked: what messages call it, and the status of a number beyond its limit and of one that is not
 * finite. */
typedef struct gsai_purpose {
    const char *verb, *advice;
    gsa_status beyond, not_finite;
} gsai_purpose;

extern const gsai_purpose gsai_save_state, gsai_load_state, gsai_load_model;

/* Borrows the numbers of the struct. */
void gsai_snapshot_fields(gsai_snapshot *snapshot, const gsai_field *fields, size_t n, const void *from);
gsa_status gsai_fields_check(const gsai_field *fields, size_t n, const void *from, const gsai_purpose *why,
                             gsa_error *error);
/* Copies the numbers into the struct and checks them. All tensors of the table must be there. */
gsa_status gsai_fields_restore(const gsai_field *fields, size_t n, const gsai_bundle *bundle, void *to,
                               const gsai_purpose *why, gsa_error *error);
/* Fails with GSA_DIVERGED if a tensor of floats, from number `first` on, has a value that could not be loaded. */
gsa_status gsai_snapshot_check_finite(const gsai_snapshot *snapshot, size_t first, gsa_error *error);

#endif
