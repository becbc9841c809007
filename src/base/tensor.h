/* A named array on its way to or from a file: the one thing that core and store both know.
 *
 * core describes a state or a model as a list of tensors; store writes the list to a file and reads one back. A tensor
 * that is being written produces its bytes by a function, so that tables that are interleaved in memory need no copy.
 */
#ifndef GSA_BASE_TENSOR_H
#define GSA_BASE_TENSOR_H

#include <greedystep/greedystep.h>

typedef enum gsa__dtype { GSA__U8, GSA__I32, GSA__U32, GSA__I64, GSA__U64, GSA__F32, GSA__F64 } gsa__dtype;

static inline size_t gsa__dtype_size(gsa__dtype dtype)
{
    static const unsigned char sizes[] = {1, 4, 4, 8, 8, 4, 8};
    return sizes[dtype];
}

#define GSA__TENSOR_DIMS 2

typedef struct gsa__tensor gsa__tensor;
struct gsa__tensor {
    const char *name; /* borrowed */
    gsa__dtype dtype;
    unsigned n_dims;
    uint64_t shape[GSA__TENSOR_DIMS];
    /* Contiguous elements in machine order; or NULL and `fill`, which writes elements [from, from + n) to out. */
    const void *data;
    void (*fill)(const void *ctx, uint64_t from, size_t n, void *out);
    const void *ctx;
};

static inline uint64_t gsa__tensor_len(const gsa__tensor *tensor) /* elements; the maker has checked the product */
{
    uint64_t len = 1;
    for (unsigned d = 0; d < tensor->n_dims; d++)
        len *= tensor->shape[d];
    return len;
}

/* A text that goes with the tensors: parameters and the format's name and version. */
typedef struct gsa__note {
    const char *key;
    const char *text;
} gsa__note;

/* What a file holds. Both arrays are borrowed. */
typedef struct gsa__bundle {
    const gsa__tensor *tensors;
    size_t n_tensors;
    const gsa__note *notes;
    size_t n_notes;
} gsa__bundle;

/* The tensor or text of that name, or NULL. */
const gsa__tensor *gsa__bundle_tensor(const gsa__bundle *bundle, const char *name);
const char *gsa__bundle_note(const gsa__bundle *bundle, const char *key);

#endif
