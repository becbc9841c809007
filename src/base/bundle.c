/* Putting bundles together and taking them apart. */
#include "base/bundle.h"

#include "base/error.h"
#include "base/memory.h"

#include <assert.h>
#include <float.h>
#include <string.h>

void gsai_snapshot_init(gsai_snapshot *snapshot, const gsai_env *env)
{
    snapshot->bundle = (gsai_bundle){snapshot->tensors, 0, snapshot->notes, 0};
    snapshot->owned = (gsai_arena){.env = env};
}

void gsai_snapshot_note(gsai_snapshot *snapshot, const char *key, const char *text)
{
    snapshot->notes[snapshot->bundle.n_notes++] = (gsai_note){key, text};
}

gsai_tensor *gsai_snapshot_add(gsai_snapshot *snapshot, const gsai_tensor_key *key, const void *data, uint64_t len)
{
    size_t i = snapshot->bundle.n_tensors++;
    assert(i < GSAI_SNAPSHOT_TENSORS);
    snapshot->limits[i] = key->limit;
    snapshot->tensors[i] =
        (gsai_tensor){.name = key->name, .dtype = key->dtype, .n_dims = 1, .shape = {len}, .data = data};
    return &snapshot->tensors[i];
}

void gsai_snapshot_fields(gsai_snapshot *snapshot, const gsai_stored_field *fields, size_t n, const void *from)
{
    for (size_t i = 0; i < n; i++)
        gsai_snapshot_add(snapshot, &fields[i].key, (const char *)from + fields[i].at, fields[i].len);
}

/* ---- checks ------------------------------------------------------------------------------------------------------ */

/* Loops so plain that a compiler makes one per type: every element of a file goes through one of them. */
static bool are_in_range(gsai_dtype dtype, uint64_t limit, const void *elements, size_t n)
{
    const bool is_float = dtype == GSAI_F32 || dtype == GSAI_F64, is_wide = gsai_dtype_size(dtype) == 8;
    const double least = limit == GSAI_FINITE ? -DBL_MAX : 0;
    size_t n_bad = 0;
    for (size_t i = 0; !is_float && i < n; i++) {
        uint64_t x = is_wide ? ((const uint64_t *)elements)[i] : ((const uint32_t *)elements)[i];
        n_bad += x > limit ? 1 : 0;
    }
    for (size_t i = 0; is_float && i < n; i++) {
        double x = is_wide ? ((const double *)elements)[i] : (double)((const float *)elements)[i];
        n_bad += x >= least && x <= DBL_MAX ? 0 : 1;
    }
    return n_bad == 0;
}

/* above, not_finite: what an integer and a float fail with. */
static gsa_status check(const gsai_tensor *tensor, uint64_t limit, gsa_status above, gsa_status not_finite,
                        gsa_error *error)
{
    enum { STRETCH = 512 };
    uint64_t room[STRETCH], len = gsai_tensor_len(tensor);
    bool is_float = tensor->dtype == GSAI_F32 || tensor->dtype == GSAI_F64, is_sound = true;
    if (tensor->dtype == GSAI_U8 || limit == (is_float ? (uint64_t)GSAI_ANY_NUMBER : UINT64_MAX))
        return GSA_OK;
    for (uint64_t from = 0; from < len && is_sound; from += STRETCH) {
        size_t n = len - from < STRETCH ? (size_t)(len - from) : STRETCH;
        const void *elements = room;
        if (tensor->fill)
            tensor->fill(tensor->ctx, from, n, room);
        else
            elements = (const char *)tensor->data + from * gsai_dtype_size(tensor->dtype);
        is_sound = are_in_range(tensor->dtype, limit, elements, n);
    }
    if (is_sound)
        return GSA_OK;
    if (!is_float)
        return gsai_fail(error, above, "tensor '%s' has a value above %llu", tensor->name, (unsigned long long)limit);
    return gsai_fail(error, not_finite, "tensor '%s' has a value that is %snot finite%s", tensor->name,
                     limit == GSAI_FINITE ? "" : "negative or ",
                     not_finite == GSA_DIVERGED ? "; scale features and labels to a similar range" : "");
}

gsa_status gsai_snapshot_check(const gsai_snapshot *snapshot, gsa_error *error)
{
    GSA_TRY(gsai_arena_check(&snapshot->owned, "the description of a file", error));
    for (size_t i = 0; i < snapshot->bundle.n_tensors; i++)
        GSA_TRY(check(&snapshot->tensors[i], snapshot->limits[i], GSA_LIMIT, GSA_DIVERGED, error));
    return GSA_OK;
}

/* ---- from a bundle ----------------------------------------------------------------------------------------------- */

const gsai_tensor *gsai_bundle_tensor(const gsai_bundle *bundle, const char *name)
{
    for (size_t i = 0; i < bundle->n_tensors; i++)
        if (strcmp(bundle->tensors[i].name, name) == 0)
            return &bundle->tensors[i];
    return NULL;
}

const char *gsai_bundle_note(const gsai_bundle *bundle, const char *key)
{
    for (size_t i = 0; i < bundle->n_notes; i++)
        if (strcmp(bundle->notes[i].key, key) == 0)
            return bundle->notes[i].text;
    return NULL;
}

/* The size of a header, below 16 MiB, and the brace that it begins with (docs/formats/model.md). */
int gsa_model_matches(const void *start, size_t size)
{
    return size > 8 && memcmp((const char *)start + 3, "\0\0\0\0\0{", 6) == 0;
}

gsa_status gsai_bundle_need(const gsai_bundle *bundle, const gsai_tensor_key *key, uint64_t len,
                            const gsai_tensor **out, gsa_error *error)
{
    const gsai_tensor *tensor = *out = gsai_bundle_tensor(bundle, key->name);
    if (!tensor)
        return gsai_fail(error, GSA_FORMAT, "the file has no tensor '%s'", key->name);
    if (tensor->dtype != key->dtype)
        return gsai_fail(error, GSA_FORMAT, "tensor '%s' is of the wrong type", key->name);
    if (len != GSAI_ANY_LEN && gsai_tensor_len(tensor) != len)
        return gsai_fail(error, GSA_FORMAT, "tensor '%s' has %llu elements, expected %llu", key->name,
                         (unsigned long long)gsai_tensor_len(tensor), (unsigned long long)len);
    return check(tensor, key->limit, GSA_FORMAT, GSA_FORMAT, error);
}

gsa_status gsai_bundle_may_have(const gsai_bundle *bundle, const gsai_tensor_key *key, uint64_t len,
                                const gsai_tensor **out, gsa_error *error)
{
    *out = NULL;
    return gsai_bundle_tensor(bundle, key->name) ? gsai_bundle_need(bundle, key, len, out, error) : GSA_OK;
}

gsa_status gsai_bundle_fields(const gsai_bundle *bundle, const gsai_stored_field *fields, size_t n, void *to,
                              gsa_error *error)
{
    for (size_t i = 0; i < n; i++) {
        const gsai_tensor *found;
        GSA_TRY(gsai_bundle_need(bundle, &fields[i].key, fields[i].len, &found, error));
        memcpy((char *)to + fields[i].at, found->data, fields[i].len * gsai_dtype_size(found->dtype));
    }
    return GSA_OK;
}

/* ---- lines ------------------------------------------------------------------------------------------------------- */

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

/* The source that a tensor is filled from. */
typedef struct line_source {
    gsai_line_tensor tensor;
    gsai_lines lines;
} line_source;

/* Returns the elements of an id. */
static char *line_at(const gsai_line_tensor *of, size_t id)
{
    return of->at + (of->page ? of->page[id / GSAI_LINE_PAGE] * GSAI_LINE_PAGE + id % GSAI_LINE_PAGE : id) * of->stride;
}

/* Lines lie far apart where few ids are listed: they are asked for before they are needed. */
#define LINES_AHEAD 16

static void fill_lines(const void *ctx, uint64_t from, size_t n, void *out)
{
    static const uint64_t zero = 0;
    const line_source *source = ctx;
    const gsai_line_tensor *of = &source->tensor;
    size_t size = gsai_dtype_size(of->key.dtype), line = (size_t)(from / of->width), k = (size_t)(from % of->width);
    for (size_t done = 0; done < n; done++) {
        size_t id = id_at(&source->lines, line);
        if (k == 0 && source->lines.id && line + LINES_AHEAD < source->lines.n)
            __builtin_prefetch(line_at(of, source->lines.id[line + LINES_AHEAD]));
        const void *element = id < of->n ? (const void *)(line_at(of, id) + k * size) : &zero;
        copy_element(of->key.dtype, (char *)out + done * size, element);
        if (++k == of->width) {
            k = 0;
            line++;
        }
    }
}

static size_t line_size(const gsai_line_tensor *of)
{
    return of->width * gsai_dtype_size(of->key.dtype);
}

/* Visits the ids in use: lists them, and copies their lines, n_max of each tensor, unless NULL. Returns their number.
 */
static size_t visit_used(const gsai_line_tensor *tensors, size_t n_tensors, size_t n, size_t n_max,
                         gsai_next_used *next_used, const void *ctx, uint32_t *ids, char *columns)
{
    size_t n_used = 0, size;
    for (size_t id = next_used(ctx, 0, n); id < n; id = next_used(ctx, id + 1, n), n_used++) {
        char *column = columns;
        if (ids)
            ids[n_used] = (uint32_t)id;
        for (size_t i = 0; i < n_tensors && columns; i++, column += n_max * size) {
            size = line_size(&tensors[i]);
            if (id < tensors[i].n) /* else zeros */
                memcpy(column + n_used * size, line_at(&tensors[i], id), size);
        }
    }
    return n_used;
}

void gsai_snapshot_lines(gsai_snapshot *snapshot, const gsai_line_tensor *tensors, size_t n_tensors,
                         const gsai_tensor_key *list, size_t n, size_t n_max, gsai_next_used *next_used,
                         const void *ctx)
{
    line_source *sources = gsai_arena_take(&snapshot->owned, n_tensors, sizeof *sources);
    char *columns = NULL, *column;
    uint32_t *ids = NULL;
    size_t size = 0, n_used;
    for (size_t i = 0; i < n_tensors; i++)
        size += line_size(&tensors[i]);
    double most = (double)n * (double)size / (double)(size + sizeof *ids);
    /* Lines in pages are copied while they are looked at, once, if a part of the memory is enough. */
    if ((double)n_max < most)
        ids = gsai_arena_take(&snapshot->owned, n_max, sizeof *ids);
    n_max += n_max % 2; /* each column begins with a whole number of doubles */
    if (ids && tensors->page && (double)n_max * (double)size < (double)gsai_memory_left(snapshot->owned.env) / 4)
        columns = gsai_arena_take(&snapshot->owned, n_max, size);
    n_used = visit_used(tensors, n_tensors, n, n_max, next_used, ctx, ids, columns);
    if (!ids && (double)n_used < most && (ids = gsai_arena_take(&snapshot->owned, n_used, sizeof *ids)))
        (void)visit_used(tensors, n_tensors, n, n_max, next_used, ctx, ids, NULL);
    if (ids)
        gsai_snapshot_add(snapshot, list, ids, n_used);
    column = columns;
    for (size_t i = 0; i < n_tensors && sources; i++) {
        size_t line = line_size(&tensors[i]);
        sources[i] = (line_source){tensors[i], {ids, ids ? n_used : n}};
        gsai_tensor *tensor = gsai_snapshot_add(snapshot, &tensors[i].key, NULL, sources[i].lines.n);
        tensor->n_dims = tensors[i].n_dims;
        tensor->shape[1] = tensors[i].width;
        bool is_contiguous = !ids && tensors[i].n == n && tensors[i].stride == line && !tensors[i].page;
        tensor->data = columns ? column : is_contiguous ? tensors[i].at : NULL;
        tensor->fill = tensor->data ? NULL : fill_lines;
        tensor->ctx = &sources[i];
        column = columns ? column + n_max * line : NULL;
    }
}

gsa_status gsai_lines_find(const gsai_bundle *bundle, const gsai_tensor_key *list, size_t n, gsai_lines *out,
                           gsa_error *error)
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
        char *line = line_at(to, id_at(lines, i));
        for (size_t k = 0; k < to->width; k++, line += size, element += size)
            if (!is_equal(to->key.dtype, line, element))
                copy_element(to->key.dtype, line, element);
    }
    return GSA_OK;
}
