/* Tensors with a line per slot or feature, there and back. */
#include "store/lines.h"

#include "base/error.h"
#include "base/memory.h"

#include <string.h>

static size_t id_at(const gsai_lines *lines, size_t line)
{
    return lines->id ? lines->id[line] : line;
}

static void copy_element(gsai_dtype dtype, void *to, const void *from)
{
    if (gsai_dtype_size(dtype) == 4)
        memcpy(to, from, 4);
    else
        memcpy(to, from, 8);
}

static bool is_equal(gsai_dtype dtype, const void *a, const void *b)
{
    return gsai_dtype_size(dtype) == 4 ? memcmp(a, b, 4) == 0 : memcmp(a, b, 8) == 0;
}

/* ---- to a bundle ------------------------------------------------------------------------------------------------- */

/* What a tensor is filled from. */
typedef struct line_source {
    gsai_line_tensor tensor;
    gsai_lines lines;
} line_source;

static void fill_lines(const void *ctx, uint64_t from, size_t n, void *out)
{
    static const uint64_t zero = 0;
    const line_source *source = ctx;
    const gsai_line_tensor *of = &source->tensor;
    size_t size = gsai_dtype_size(of->key.dtype), line = (size_t)(from / of->width), k = (size_t)(from % of->width);
    for (size_t done = 0; done < n; done++) {
        size_t id = id_at(&source->lines, line);
        const void *element = id < of->n ? (const void *)(of->at + id * of->stride + k * size) : &zero;
        copy_element(of->key.dtype, (char *)out + done * size, element);
        if (++k == of->width) {
            k = 0;
            line++;
        }
    }
}

/* Are the elements in memory as they are in the file? */
static bool is_contiguous(const gsai_line_tensor *of, const gsai_lines *lines)
{
    return !lines->id && of->n == lines->n && of->stride == of->width * gsai_dtype_size(of->key.dtype);
}

static gsa_status choose(gsai_snapshot *snapshot, size_t line_size, const gsai_key *list, size_t n,
                         gsai_next_used *next_used, const void *ctx, gsai_lines *out, gsa_error *error)
{
    size_t n_used = 0;
    uint32_t *ids;
    *out = (gsai_lines){NULL, n};
    for (size_t id = next_used(ctx, 0, n); id < n; id = next_used(ctx, id + 1, n))
        n_used++;
    if ((double)n_used * (double)(line_size + sizeof *ids) >= (double)n * (double)line_size)
        return GSA_OK;
    *out = (gsai_lines){ids = gsai_snapshot_alloc(snapshot, n_used, sizeof *ids), n_used};
    GSAI_TRY_MEMORY(ids, &snapshot->env, error, "no memory for a list of %zu features", n_used);
    gsai_snapshot_add(snapshot, list, ids, n_used);
    for (size_t id = next_used(ctx, 0, n); id < n; id = next_used(ctx, id + 1, n))
        *ids++ = (uint32_t)id;
    return GSA_OK;
}

gsa_status gsai_snapshot_lines(gsai_snapshot *snapshot, const gsai_line_tensor *tensors, size_t n_tensors,
                               const gsai_key *list, size_t n, gsai_next_used *next_used, const void *ctx,
                               gsa_error *error)
{
    line_source *sources = gsai_snapshot_alloc(snapshot, n_tensors, sizeof *sources);
    size_t line_size = 0;
    gsai_lines lines;
    GSAI_TRY_MEMORY(sources, &snapshot->env, error, "no memory to describe a table");
    for (size_t i = 0; i < n_tensors; i++)
        line_size += tensors[i].width * gsai_dtype_size(tensors[i].key.dtype);
    GSA_TRY(choose(snapshot, line_size, list, n, next_used, ctx, &lines, error));
    for (size_t i = 0; i < n_tensors; i++) {
        sources[i] = (line_source){tensors[i], lines};
        gsai_tensor *tensor = gsai_snapshot_add(snapshot, &tensors[i].key, NULL, lines.n);
        tensor->n_dims = tensors[i].n_dims;
        tensor->shape[1] = tensors[i].width;
        if (is_contiguous(&tensors[i], &lines)) {
            tensor->data = tensors[i].at;
            continue;
        }
        tensor->fill = fill_lines;
        tensor->ctx = &sources[i];
    }
    return GSA_OK;
}

/* ---- from a bundle ----------------------------------------------------------------------------------------------- */

gsa_status gsai_lines_find(const gsai_bundle *bundle, const gsai_key *list, size_t n, gsai_lines *out, gsa_error *error)
{
    const gsai_tensor *found;
    GSA_TRY(gsai_bundle_may_have(bundle, list, GSAI_ANY_LEN, &found, error));
    *out = found ? (gsai_lines){found->data, (size_t)gsai_tensor_len(found)} : (gsai_lines){NULL, n};
    for (size_t i = 0; out->id && i < out->n; i++)
        if (out->id[i] >= n || (i > 0 && out->id[i] <= out->id[i - 1]))
            return gsai_fail(error, GSA_FORMAT, "%s %llu is out of order or range", list->name,
                             (unsigned long long)out->id[i]);
    return GSA_OK;
}

gsa_status gsai_lines_restore(const gsai_line_tensor *to, const gsai_lines *lines, const gsai_bundle *bundle,
                              gsa_error *error)
{
    const gsai_tensor *found;
    size_t size = gsai_dtype_size(to->key.dtype);
    GSA_TRY(gsai_bundle_need(bundle, &to->key, (uint64_t)lines->n * to->width, &found, error));
    const char *element = found->data;
    for (size_t i = 0; i < lines->n; i++) {
        char *line = to->at + id_at(lines, i) * to->stride;
        for (size_t k = 0; k < to->width; k++, line += size, element += size)
            if (!is_equal(to->key.dtype, line, element))
                copy_element(to->key.dtype, line, element);
    }
    return GSA_OK;
}
