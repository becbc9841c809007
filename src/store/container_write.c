/* Writing a container. Tensors are streamed in chunks and hashed on the way, so that no table is ever copied whole and
 * nothing is read twice. Equal bundles give equal bytes: the order of the file depends on the bundle only. */
#include "store/container.h"

#include "base/atomic_file.h"
#include "base/byte_order.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/memory.h"
#include "store/header.h"

#define CHUNK_SIZE ((size_t)1 << 20)

typedef struct output {
    gsai_env env;
    gsa_write_fn write;
    void *ctx;
    gsai_hasher hasher;
    unsigned char *chunk;
} output;

static gsa_status emit(output *out, const void *bytes, size_t size, gsa_error *error)
{
    gsai_hasher_add(&out->hasher, bytes, size);
    if (size > 0 && out->write(out->ctx, bytes, size) != 0)
        return gsai_fail(error, GSA_IO, "the function that receives the file's bytes reported a failure");
    return GSA_OK;
}

/* Elements [from, from + n) as they stand in the file: in place if they can be taken as they are, else in the chunk. */
static const void *file_elements(const gsai_tensor *tensor, uint64_t from, size_t n, unsigned char *chunk)
{
    size_t element_size = gsai_dtype_size(tensor->dtype);
    if (tensor->data) {
        const unsigned char *elements = (const unsigned char *)tensor->data + (size_t)from * element_size;
        if (gsai_machine_is_little_endian())
            return elements;
        memcpy(chunk, elements, n * element_size);
    } else {
        tensor->fill(tensor->ctx, from, n, chunk);
    }
    if (!gsai_machine_is_little_endian())
        gsai_swap_bytes(chunk, n, element_size);
    return chunk;
}

static gsa_status emit_tensor(output *out, const gsai_tensor *tensor, gsa_error *error)
{
    size_t element_size = gsai_dtype_size(tensor->dtype), max = CHUNK_SIZE / element_size;
    uint64_t len = gsai_tensor_len(tensor);
    for (uint64_t from = 0; from < len;) {
        size_t n = len - from < max ? (size_t)(len - from) : max;
        GSA_TRY(emit(out, file_elements(tensor, from, n, out->chunk), n * element_size, error));
        from += n;
    }
    return GSA_OK;
}

/* C2: by element size, largest first, otherwise as the bundle has them. */
static void order_by_element_size(const gsai_bundle *bundle, size_t *order)
{
    size_t n = 0;
    for (size_t element_size = 8; element_size > 0; element_size /= 2)
        for (size_t i = 0; i < bundle->n_tensors; i++)
            if (gsai_dtype_size(bundle->tensors[i].dtype) == element_size)
                order[n++] = i;
}

static gsa_status emit_header(output *out, const gsai_bundle *bundle, const size_t *order, gsa_error *error)
{
    char *header;
    size_t header_size;
    unsigned char size_bytes[8];
    GSA_TRY(gsai_header_compose(bundle, order, &out->env, &header, &header_size, error));
    gsai_store_u64(header_size, size_bytes);
    gsa_status status = emit(out, size_bytes, sizeof size_bytes, error);
    if (status == GSA_OK)
        status = emit(out, header, header_size, error);
    gsai_free(&out->env, header);
    return status;
}

static gsa_status emit_checksum(output *out, gsa_error *error)
{
    unsigned char checksum[GSAI_CONTAINER_CHECKSUM_SIZE];
    gsai_store_u64(gsai_hasher_value(&out->hasher), checksum);
    return emit(out, checksum, sizeof checksum, error);
}

static gsa_status emit_file(output *out, const gsai_bundle *bundle, size_t *order, gsa_error *error)
{
    order_by_element_size(bundle, order);
    GSA_TRY(emit_header(out, bundle, order, error));
    for (size_t i = 0; i < bundle->n_tensors; i++)
        GSA_TRY(emit_tensor(out, &bundle->tensors[order[i]], error));
    return emit_checksum(out, error);
}

gsa_status gsai_container_write(const gsai_bundle *bundle, gsa_write_fn write, void *ctx, gsa_error *error)
{
    output out = {.env = gsai_env_resolve(NULL), .write = write, .ctx = ctx};
    gsai_hasher_init(&out.hasher);
    out.chunk = gsai_alloc(&out.env, CHUNK_SIZE, 1);
    size_t *order = gsai_alloc(&out.env, bundle->n_tensors, sizeof *order);
    gsa_status status;
    if (out.chunk && order)
        status = emit_file(&out, bundle, order, error);
    else
        status = gsai_fail_memory(&out.env, error, "no memory for a buffer to write from");
    gsai_free(&out.env, order);
    gsai_free(&out.env, out.chunk);
    return status;
}

/* A gsa_write_fn has one way to fail; the file's own status and message are kept beside it. */
typedef struct file_output {
    gsai_atomic_file *file;
    gsa_status status;
    gsa_error *error;
} file_output;

static int write_to_file(void *ctx, const void *bytes, size_t size)
{
    file_output *out = ctx;
    out->status = gsai_atomic_file_write(out->file, bytes, size, out->error);
    return out->status != GSA_OK;
}

gsa_status gsai_container_save(const gsai_bundle *bundle, const char *path, gsa_error *error)
{
    gsa_error file_error;
    file_output out = {.status = GSA_OK, .error = &file_error};
    GSA_TRY(gsai_atomic_file_open(path, NULL, &out.file, error));
    gsa_status status = gsai_container_write(bundle, write_to_file, &out, error);
    if (status == GSA_OK)
        return gsai_atomic_file_commit(out.file, error);
    gsai_atomic_file_discard(out.file);
    if (out.status == GSA_OK) {
        gsai_error_prefix(error, "cannot write %s: ", path);
        return status;
    }
    if (error)
        *error = file_error;
    return out.status;
}
