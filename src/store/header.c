/* The JSON header of a container. Everything that a hostile file can say is refused here, before anything points into
 * its tensors; every number is checked in 64 bits against the size of the file.
 *
 * Messages quote a name from the file only after it was seen to be short printable ASCII. */
#include "store/header.h"

#include "base/byte_order.h"
#include "base/error.h"
#include "base/memory.h"
#include "store/container.h"

#include <jansson.h>

#define METADATA "__metadata__"
#define MAX_NAME_LEN 64
#define LENGTH_SIZE 8
#define MAX_FILE_SIZE ((uint64_t)INT64_MAX / 2)

/* By gsai_dtype. */
static const char *const dtype_names[] = {"U8", "I32", "U32", "I64", "U64", "F32", "F64"};
#define N_DTYPES (sizeof dtype_names / sizeof *dtype_names)

/* Names are written by programs for programs: a short word that any terminal shows as it is. */
static bool name_is_plain(const char *name)
{
    size_t len = strlen(name);
    for (size_t i = 0; i < len; i++)
        if (name[i] < '!' || name[i] > '~')
            return false;
    return len >= 1 && len <= MAX_NAME_LEN;
}

/* Elements times their size; false if that passes any file. */
static bool tensor_size(const gsai_tensor *tensor, uint64_t *size)
{
    uint64_t total = gsai_dtype_size(tensor->dtype);
    bool empty = false, fits = true;
    for (unsigned d = 0; d < tensor->n_dims; d++) {
        empty = empty || tensor->shape[d] == 0;
        if (tensor->shape[d] != 0 && total > MAX_FILE_SIZE / tensor->shape[d])
            fits = false;
        else if (tensor->shape[d] != 0)
            total *= tensor->shape[d];
    }
    *size = empty ? 0 : total;
    return fits;
}

/* ---- to text ---------------------------------------------------------------------------------------------------- */

static json_t *tensor_entry(const gsai_tensor *tensor, uint64_t begin, uint64_t end)
{
    const char *dtype = dtype_names[tensor->dtype];
    const json_int_t from = (json_int_t)begin, to = (json_int_t)end;
    const json_int_t rows = (json_int_t)tensor->shape[0], columns = (json_int_t)tensor->shape[1];
    if (tensor->n_dims == 1)
        return json_pack("{s:s, s:[I], s:[I, I]}", "dtype", dtype, "shape", rows, "data_offsets", from, to);
    return json_pack("{s:s, s:[I, I], s:[I, I]}", "dtype", dtype, "shape", rows, columns, "data_offsets", from, to);
}

/* Appends the entry and moves *end behind the tensor. */
static gsa_status add_tensor(json_t *header, const gsai_tensor *tensor, uint64_t *end, gsa_error *error)
{
    uint64_t size, begin = *end;
    if (!name_is_plain(tensor->name) || strcmp(tensor->name, METADATA) == 0 || json_object_get(header, tensor->name))
        return gsai_fail(error, GSA_ARGUMENT, "tensor name \"%.64s\" is reserved, taken or not plain", tensor->name);
    if (tensor->n_dims < 1 || tensor->n_dims > GSAI_TENSOR_DIMS)
        return gsai_fail(error, GSA_ARGUMENT, "tensor %s has %u dimensions, at most %d can be written", tensor->name,
                         tensor->n_dims, GSAI_TENSOR_DIMS);
    if (!tensor_size(tensor, &size) || size > MAX_FILE_SIZE - begin)
        return gsai_fail(error, GSA_LIMIT, "tensor %s is larger than any file", tensor->name);
    *end = begin + size;
    if (json_object_set_new(header, tensor->name, tensor_entry(tensor, begin, *end)) != 0)
        return gsai_fail(error, GSA_MEMORY, "no memory for the file's header");
    return GSA_OK;
}

static gsa_status add_notes(json_t *header, const gsai_bundle *bundle, gsa_error *error)
{
    json_t *notes = json_object();
    int failed = json_object_set_new(header, METADATA, notes);
    for (size_t i = 0; i < bundle->n_notes && !failed; i++)
        failed = json_object_set_new(notes, bundle->notes[i].key, json_string(bundle->notes[i].text));
    if (failed)
        return gsai_fail(error, GSA_MEMORY, "cannot make the file's header: no memory, or a text that is not UTF-8");
    return GSA_OK;
}

static gsa_status add_all(json_t *header, const gsai_bundle *bundle, const size_t *order, gsa_error *error)
{
    const gsai_tensor checksum = {
        .name = GSAI_CONTAINER_CHECKSUM, .dtype = GSAI_U8, .n_dims = 1, .shape = {GSAI_CONTAINER_CHECKSUM_SIZE}};
    uint64_t end = 0;
    GSA_TRY(add_notes(header, bundle, error));
    for (size_t i = 0; i < bundle->n_tensors; i++)
        GSA_TRY(add_tensor(header, &bundle->tensors[order[i]], &end, error));
    /* Last, so that a tensor of the bundle with this name is found to be a duplicate. */
    return add_tensor(header, &checksum, &end, error);
}

/* Objects keep the order in which their members were set (jansson 2.8 and later): the order of the file. Into a buffer
 * of ours, since json_dumps goes on without the name of a member that it has no memory for. */
static gsa_status dump_padded(const json_t *header, const gsai_env *env, char **text, size_t *size, gsa_error *error)
{
    size_t dump_size = json_dumpb(header, NULL, 0, JSON_COMPACT);
    *size = (dump_size + 7) / 8 * 8;
    if (*size > GSAI_CONTAINER_MAX_HEADER)
        return gsai_fail(error, GSA_LIMIT, "the file's header would have %zu bytes, the most is %zu", *size,
                         GSAI_CONTAINER_MAX_HEADER);
    *text = dump_size > 0 ? gsai_alloc(env, *size, 1) : NULL;
    GSAI_TRY_MEMORY(*text, env, error, "no memory for the file's header");
    memset(*text, ' ', *size);
    if (json_dumpb(header, *text, dump_size, JSON_COMPACT) == dump_size)
        return GSA_OK;
    gsai_free(env, *text);
    *text = NULL;
    return gsai_fail_memory(env, error, "no memory for the file's header");
}

gsa_status gsai_header_compose(const gsai_bundle *bundle, const size_t *order, const gsai_env *env, char **text,
                               size_t *size, gsa_error *error)
{
    json_t *header = json_object();
    gsa_status status;
    if (bundle->n_tensors > GSAI_CONTAINER_MAX_TENSORS)
        status = gsai_fail(error, GSA_LIMIT, "%zu tensors are more than the %d that a file can hold", bundle->n_tensors,
                           GSAI_CONTAINER_MAX_TENSORS);
    else
        status = add_all(header, bundle, order, error);
    if (status == GSA_OK)
        status = dump_padded(header, env, text, size, error);
    json_decref(header);
    return status;
}

/* ---- and back --------------------------------------------------------------------------------------------------- */

/* The state of one parse. Messages go on from the name of the file. */
typedef struct parsing {
    const unsigned char *data; /* behind the header */
    uint64_t data_start;       /* offset of data in the file */
    uint64_t data_size;
    uint64_t end; /* of the tensors so far, from data */
} parsing;

static bool read_dtype(const char *text, gsai_dtype *out)
{
    for (size_t i = 0; i < N_DTYPES; i++)
        if (strcmp(text, dtype_names[i]) == 0) {
            *out = (gsai_dtype)i;
            return true;
        }
    return false;
}

static bool read_shape(const json_t *value, gsai_tensor *out)
{
    size_t n_dims = json_array_size(value);
    for (size_t d = 0; d < n_dims && d < GSAI_TENSOR_DIMS; d++) {
        const json_t *size = json_array_get(value, d);
        if (!json_is_integer(size) || json_integer_value(size) < 0)
            return false;
        out->shape[d] = (uint64_t)json_integer_value(size);
    }
    out->n_dims = (unsigned)n_dims;
    return n_dims >= 1 && n_dims <= GSAI_TENSOR_DIMS;
}

/* C1 and C2 for one tensor. */
static gsa_status place_tensor(parsing *parse, uint64_t begin, uint64_t end, gsai_tensor *out, gsa_error *error)
{
    uint64_t size;
    if (begin != parse->end)
        return gsai_fail(error, GSA_FORMAT,
                         "is damaged or not ours: tensor %s starts at byte %llu of the data, not at %llu", out->name,
                         (unsigned long long)begin, (unsigned long long)parse->end);
    if (!tensor_size(out, &size) || end < begin || end - begin != size)
        return gsai_fail(error, GSA_FORMAT, "is damaged or not ours: shape and offsets of tensor %s disagree",
                         out->name);
    if (end > parse->data_size)
        return gsai_fail(error, GSA_FORMAT, "is cut short: tensor %s ends at byte %llu, the file at byte %llu",
                         out->name, (unsigned long long)(parse->data_start + end),
                         (unsigned long long)(parse->data_start + parse->data_size));
    if ((parse->data_start + begin) % gsai_dtype_size(out->dtype) != 0)
        return gsai_fail(error, GSA_FORMAT, "is damaged or not ours: tensor %s is not aligned", out->name);
    out->data = parse->data + begin;
    parse->end = end;
    return GSA_OK;
}

static gsa_status read_tensor(parsing *parse, const char *name, json_t *entry, gsai_tensor *out, gsa_error *error)
{
    const char *dtype;
    const json_t *shape;
    json_int_t begin, end;
    *out = (gsai_tensor){.name = name};
    if (!name_is_plain(name))
        return gsai_fail(error, GSA_FORMAT,
                         "is damaged or not ours: the name of a tensor is not 1 to %d printable characters",
                         MAX_NAME_LEN);
    if (json_object_size(entry) != 3 || json_unpack(entry, "{s:s, s:o, s:[I, I!]}", "dtype", &dtype, "shape", &shape,
                                                    "data_offsets", &begin, &end) != 0)
        return gsai_fail(error, GSA_FORMAT, "is damaged or not ours: tensor %s needs dtype, shape and data_offsets",
                         name);
    if (!read_dtype(dtype, &out->dtype))
        return gsai_fail(error, GSA_FORMAT, "is damaged or not ours: tensor %s has an unknown dtype", name);
    if (!read_shape(shape, out) || begin < 0 || end < 0)
        return gsai_fail(error, GSA_FORMAT, "is damaged or not ours: shape or data_offsets of tensor %s are no counts",
                         name);
    return place_tensor(parse, (uint64_t)begin, (uint64_t)end, out, error);
}

static gsa_status read_notes(json_t *metadata, const gsai_env *env, gsai_header *out, gsa_error *error)
{
    size_t n = json_object_size(metadata);
    if (metadata && !json_is_object(metadata))
        return gsai_fail(error, GSA_FORMAT, "is damaged or not ours: its metadata is no object");
    if (n > GSAI_CONTAINER_MAX_TENSORS)
        return gsai_fail(error, GSA_FORMAT, "is damaged or not ours: its metadata has %zu entries", n);
    out->notes = gsai_alloc(env, n, sizeof *out->notes);
    GSAI_TRY_MEMORY(out->notes, env, error, "no memory to read a header");
    for (void *i = json_object_iter(metadata); i; i = json_object_iter_next(metadata, i)) {
        const char *text = json_string_value(json_object_iter_value(i));
        if (!text)
            return gsai_fail(error, GSA_FORMAT, "is damaged or not ours: its metadata is not all text");
        out->notes[out->n_notes++] = (gsai_note){json_object_iter_key(i), text};
    }
    return GSA_OK;
}

static gsa_status read_tensors(parsing *parse, json_t *json, const gsai_env *env, gsai_header *out, gsa_error *error)
{
    size_t n = json_object_size(json);
    if (n > GSAI_CONTAINER_MAX_TENSORS + 2)
        return gsai_fail(error, GSA_FORMAT, "is damaged or not ours: it has %zu tensors, more than the %d allowed", n,
                         GSAI_CONTAINER_MAX_TENSORS);
    out->tensors = gsai_alloc(env, n, sizeof *out->tensors);
    GSAI_TRY_MEMORY(out->tensors, env, error, "no memory to read a header");
    for (void *i = json_object_iter(json); i; i = json_object_iter_next(json, i)) {
        const char *key = json_object_iter_key(i);
        if (strcmp(key, METADATA) != 0)
            GSA_TRY(read_tensor(parse, key, json_object_iter_value(i), &out->tensors[out->n_tensors++], error));
    }
    return GSA_OK;
}

/* C3, as far as the header tells; takes the checksum off the list. */
static gsa_status take_checksum(const parsing *parse, gsai_header *out, gsa_error *error)
{
    const gsai_tensor *last = out->n_tensors > 0 ? &out->tensors[out->n_tensors - 1] : NULL;
    if (!last || strcmp(last->name, GSAI_CONTAINER_CHECKSUM) != 0)
        return gsai_fail(error, GSA_FORMAT, "was not written by greedystep: its last tensor is not a checksum");
    if (last->dtype != GSAI_U8 || last->n_dims != 1 || last->shape[0] != GSAI_CONTAINER_CHECKSUM_SIZE)
        return gsai_fail(error, GSA_FORMAT, "was not written by greedystep: its checksum is not of 8 bytes");
    if (parse->end != parse->data_size)
        return gsai_fail(error, GSA_FORMAT, "is damaged: %llu bytes follow its last tensor",
                         (unsigned long long)(parse->data_size - parse->end));
    out->n_tensors--;
    return GSA_OK;
}

static gsa_status load_json(const unsigned char *text, size_t size, json_t **out, gsa_error *error)
{
    json_error_t problem;
    *out = json_loadb((const char *)text, size, JSON_REJECT_DUPLICATES, &problem);
    /* jansson's own message would quote the file, whatever is in it. */
    if (!*out)
        return gsai_fail(error, GSA_FORMAT, "is damaged or not ours: its header is not JSON (near byte %d)",
                         problem.position < 0 ? LENGTH_SIZE : LENGTH_SIZE + problem.position);
    if (!json_is_object(*out))
        return gsai_fail(error, GSA_FORMAT, "is damaged or not ours: its header is not a JSON object");
    return GSA_OK;
}

static gsa_status parse_file(const unsigned char *file, size_t file_size, const gsai_env *env, gsai_header *out,
                             gsa_error *error)
{
    uint64_t claimed = file_size < LENGTH_SIZE ? UINT64_MAX : gsai_load_u64(file);
    if (file_size < LENGTH_SIZE || claimed > file_size - LENGTH_SIZE)
        return gsai_fail(error, GSA_FORMAT, "is cut short: its header does not fit into %zu bytes", file_size);
    if (claimed > GSAI_CONTAINER_MAX_HEADER || claimed % 8 != 0)
        return gsai_fail(error, GSA_FORMAT, "is damaged or not ours: no header of ours has %llu bytes",
                         (unsigned long long)claimed);
    size_t start = LENGTH_SIZE + (size_t)claimed;
    parsing parse = {.data = file + start, .data_start = start, .data_size = file_size - start};
    json_t *json = NULL;
    gsa_status status = load_json(file + LENGTH_SIZE, (size_t)claimed, &json, error);
    out->json = json;
    GSA_TRY(status);
    GSA_TRY(read_notes(json_object_get(json, METADATA), env, out, error));
    GSA_TRY(read_tensors(&parse, json, env, out, error));
    return take_checksum(&parse, out, error);
}

gsa_status gsai_header_parse(const char *name, const unsigned char *file, size_t file_size, const gsai_env *env,
                             gsai_header *out, gsa_error *error)
{
    *out = (gsai_header){0};
    gsa_status status = parse_file(file, file_size, env, out, error);
    if (status == GSA_FORMAT)
        gsai_error_prefix(error, "%s ", name);
    if (status != GSA_OK)
        gsai_header_free(env, out);
    return status;
}

void gsai_header_free(const gsai_env *env, gsai_header *header)
{
    json_decref(header->json);
    gsai_free(env, header->tensors);
    gsai_free(env, header->notes);
    *header = (gsai_header){0};
}
