/* A named array on its way to or from a file: what learn, model and store all know.
 *
 * Learn and model describe a state or a model as a list of tensors; store writes the list to a file and reads one
 * back. A tensor that is being written produces its bytes by a function, so that tables that are interleaved in memory
 * need no copy.
 */
#ifndef GSA_BASE_TENSOR_H
#define GSA_BASE_TENSOR_H

#include <greedystep/greedystep.h>

typedef enum gsai_dtype { GSAI_U8, GSAI_I32, GSAI_U32, GSAI_I64, GSAI_U64, GSAI_F32, GSAI_F64 } gsai_dtype;

static inline size_t gsai_dtype_size(gsai_dtype dtype)
{
    static const unsigned char sizes[] = {1, 4, 4, 8, 8, 4, 8};
    return sizes[dtype];
}

#define GSAI_TENSOR_DIMS 2

typedef struct gsai_tensor gsai_tensor;
struct gsai_tensor {
    const char *name; /* borrowed */
    gsai_dtype dtype;
    unsigned n_dims;
    uint64_t shape[GSAI_TENSOR_DIMS];
    /* Contiguous elements in machine order; or NULL and `fill`, which writes elements [from, from + n) to out. */
    const void *data;
    void (*fill)(const void *ctx, uint64_t from, size_t n, void *out);
    const void *ctx;
};

static inline uint64_t gsai_tensor_len(const gsai_tensor *tensor) /* elements; the maker has checked the product */
{
    uint64_t len = 1;
    for (unsigned d = 0; d < tensor->n_dims; d++)
        len *= tensor->shape[d];
    return len;
}

/* A text that goes with the tensors: parameters and the format's name and version. */
typedef struct gsai_note {
    const char *key;
    const char *text;
} gsai_note;

/* The content of a file. Both arrays are borrowed. */
typedef struct gsai_bundle {
    const gsai_tensor *tensors;
    size_t n_tensors;
    const gsai_note *notes;
    size_t n_notes;
} gsai_bundle;

/* Return the tensor or text of that name, or NULL. */
const gsai_tensor *gsai_bundle_tensor(const gsai_bundle *bundle, const char *name);
const char *gsai_bundle_note(const gsai_bundle *bundle, const char *key);

#endif
