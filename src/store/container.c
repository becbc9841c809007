/* Writing a container, and opening one.
 *
 * Tensors are streamed in chunks and hashed on the way, so that no table is ever copied whole and nothing is read
 * twice. Equal bundles give equal bytes: the order of the file depends on the bundle only.
 *
 * Everything that a hostile file can say is refused before anything points into its tensors; every number is checked in
 * 64 bits against the size of the file. Messages quote a name from the file only after it was seen to be short
 * printable ASCII. What jansson itself allocates comes from malloc: its allocator is one for the whole process and not
 * ours to change. It is bounded by GSAI_CONTAINER_MAX_HEADER. */
#include "store/container.h"

#include "base/atomic_file.h"
#include "base/byte_order.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/os.h"

#include <errno.h>
#include <jansson.h>

#define METADATA "__metadata__"
#define MAX_NAME_LEN 64
#define LENGTH_SIZE 8
#define MAX_FILE_SIZE ((uint64_t)INT64_MAX / 2)
#define CHUNK_SIZE ((size_t)1 << 20)
/* Hashed between two looks at should_stop. */
#define HASH_STRETCH ((size_t)16 << 20)

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

/* ---- writing ---------------------------------------------------------------------------------------------------- */

typedef struct output {
    gsai_atomic_file *file; /* or NULL, and a function: */
    gsa_write_fn write;
    void *ctx;
    gsai_hasher hasher;
    unsigned char *chunk;
    const gsai_tensor **order; /* as tensors stand in the file */
    json_t *header;
    char *text; /* of the header */
} output;

static gsa_status emit(output *out, const void *bytes, size_t size, gsa_error *error)
{
    gsai_hasher_add(&out->hasher, bytes, size);
    if (out->file)
        return gsai_atomic_file_write(out->file, bytes, size, error);
    if (size > 0 && out->write(out->ctx, bytes, size) != 0)
        return gsai_fail(error, GSA_IO, "the function that receives the file's bytes reported a failure");
    return GSA_OK;
}

static gsa_status emit_number(output *out, uint64_t number, gsa_error *error)
{
    unsigned char bytes[8];
    gsai_store_u64(number, bytes);
    return emit(out, bytes, sizeof bytes, error);
}

/* Adds a tensor to the header and moves *end behind it. */
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
    const char *dtype = dtype_names[tensor->dtype];
    const json_int_t from = (json_int_t)begin, to = (json_int_t)*end;
    const json_int_t rows = (json_int_t)tensor->shape[0], columns = (json_int_t)tensor->shape[1];
    json_t *entry =
        tensor->n_dims == 1
            ? json_pack("{s:s, s:[I], s:[I, I]}", "dtype", dtype, "shape", rows, "data_offsets", from, to)
            : json_pack("{s:s, s:[I, I], s:[I, I]}", "dtype", dtype, "shape", rows, columns, "data_offsets", from, to);
    if (json_object_set_new(header, tensor->name, entry) != 0)
        return gsai_fail(error, GSA_MEMORY, "no memory for the file's header");
    return GSA_OK;
}

/* Objects keep the order in which their members were set (jansson 2.8 and later): the order of the file. */
static gsa_status describe(const output *out, const gsai_bundle *bundle, gsa_error *error)
{
    const gsai_tensor checksum = {
        .name = GSAI_CONTAINER_CHECKSUM, .dtype = GSAI_U8, .n_dims = 1, .shape = {GSAI_CONTAINER_CHECKSUM_SIZE}};
    uint64_t end = 0;
    json_t *notes = json_object();
    int failed = json_object_set_new(out->header, METADATA, notes);
    for (size_t i = 0; i < bundle->n_notes && !failed; i++)
        failed = json_object_set_new(notes, bundle->notes[i].key, json_string(bundle->notes[i].text));
    if (failed)
        return gsai_fail(error, GSA_MEMORY, "cannot make the file's header: no memory, or a text that is not UTF-8");
    for (size_t i = 0; i < bundle->n_tensors; i++)
        GSA_TRY(add_tensor(out->header, out->order[i], &end, error));
    /* Last, so that a tensor of the bundle with this name is found to be a duplicate. */
    return add_tensor(out->header, &checksum, &end, error);
}

/* Writes the header, padded with spaces. It goes into a buffer of ours first, since json_dumps goes on without the name
 * of a member that it has no memory for. */
static gsa_status emit_header(output *out, const gsai_env *env, gsa_error *error)
{
    size_t dump_size = json_dumpb(out->header, NULL, 0, JSON_COMPACT), size = (dump_size + 7) / 8 * 8;
    if (size > GSAI_CONTAINER_MAX_HEADER)
        return gsai_fail(error, GSA_LIMIT, "the file's header would have %zu bytes, the most is %zu", size,
                         GSAI_CONTAINER_MAX_HEADER);
    out->text = dump_size > 0 ? gsai_alloc(env, size, 1) : NULL;
    if (out->text)
        memset(out->text, ' ', size);
    if (!out->text || json_dumpb(out->header, out->text, dump_size, JSON_COMPACT) != dump_size)
        return gsai_fail(error, GSA_MEMORY, "no memory for the file's header");
    GSA_TRY(emit_number(out, size, error));
    return emit(out, out->text, size, error);
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

static gsa_status emit_file(output *out, const gsai_bundle *bundle, const gsai_env *env, gsa_error *error)
{
    size_t n_ordered = 0;
    if (bundle->n_tensors > GSAI_CONTAINER_MAX_TENSORS)
        return gsai_fail(error, GSA_LIMIT, "%zu tensors are more than the %d that a file can hold", bundle->n_tensors,
                         GSAI_CONTAINER_MAX_TENSORS);
    if (!out->chunk || !out->order)
        return gsai_fail(error, GSA_MEMORY, "no memory for a buffer to write from");
    /* C2: by element size, largest first, otherwise as the bundle has them. */
    for (size_t element_size = 8; element_size > 0; element_size /= 2)
        for (size_t i = 0; i < bundle->n_tensors; i++)
            if (gsai_dtype_size(bundle->tensors[i].dtype) == element_size)
                out->order[n_ordered++] = &bundle->tensors[i];
    GSA_TRY(describe(out, bundle, error));
    GSA_TRY(emit_header(out, env, error));
    for (size_t i = 0; i < n_ordered; i++) {
        const gsai_tensor *tensor = out->order[i];
        size_t element_size = gsai_dtype_size(tensor->dtype), n;
        uint64_t len = gsai_tensor_len(tensor);
        for (uint64_t from = 0; from < len; from += n) {
            n = len - from < CHUNK_SIZE / element_size ? (size_t)(len - from) : CHUNK_SIZE / element_size;
            GSA_TRY(emit(out, file_elements(tensor, from, n, out->chunk), n * element_size, error));
        }
    }
    return emit_number(out, gsai_hasher_value(&out->hasher), error);
}

static gsa_status write_bundle(output *out, const gsai_bundle *bundle, gsa_error *error)
{
    const gsai_env env = gsai_env_resolve(NULL);
    out->chunk = gsai_alloc(&env, CHUNK_SIZE, 1);
    out->order = gsai_alloc(&env, bundle->n_tensors, sizeof *out->order);
    out->header = json_object();
    gsai_hasher_init(&out->hasher);
    gsa_status status = emit_file(out, bundle, &env, error);
    json_decref(out->header);
    gsai_free(&env, out->text);
    gsai_free(&env, out->order);
    gsai_free(&env, out->chunk);
    return status;
}

gsa_status gsai_container_write(const gsai_bundle *bundle, gsa_write_fn write, void *ctx, gsa_error *error)
{
    return write_bundle(&(output){.write = write, .ctx = ctx}, bundle, error);
}

gsa_status gsai_container_save(const gsai_bundle *bundle, const char *path, gsa_error *error)
{
    output out = {0};
    GSA_TRY(gsai_atomic_file_open(path, NULL, &out.file, error));
    gsa_status status = write_bundle(&out, bundle, error);
    if (status == GSA_OK)
        return gsai_atomic_file_commit(out.file, error);
    gsai_atomic_file_discard(out.file);
    if (status != GSA_IO && status != GSA_STOPPED) /* the file's own messages have its name */
        gsai_error_prefix(error, "cannot write %s: ", path);
    return status;
}

/* ---- files of other kinds --------------------------------------------------------------------------------------- */

typedef struct known_kind {
    unsigned char start[6];
    unsigned char start_len;
    const char *is;
} known_kind;

static const known_kind known_kinds[] = {
    {{0x1F, 0x8B}, 2, "it is compressed by gzip; decompress it first"},
    {{0x28, 0xB5, 0x2F, 0xFD}, 4, "it is compressed by zstd; decompress it first"},
    {{0xFD, '7', 'z', 'X', 'Z', 0x00}, 6, "it is compressed by xz; decompress it first"},
    {{'B', 'Z', 'h'}, 3, "it is compressed by bzip2; decompress it first"},
    {{'P', 'K', 0x03, 0x04}, 4, "it is a zip archive"},
    {{0x93, 'N', 'U', 'M', 'P', 'Y'}, 6, "it is a NumPy array"},
    {{0x7F, 'E', 'L', 'F'}, 4, "it is a program"},
};

/* Returns what the file is instead of ours, or NULL if it may be ours: it starts with a header's size and a brace. Text
 * has no control characters, and no bytes that UTF-8 never has. */
static const char *other_kind(const unsigned char *bytes, size_t size)
{
    bool is_text = true;
    for (size_t i = 0; i < sizeof known_kinds / sizeof *known_kinds; i++)
        if (size >= known_kinds[i].start_len && memcmp(bytes, known_kinds[i].start, known_kinds[i].start_len) == 0)
            return known_kinds[i].is;
    for (size_t i = 0; i < size && i < 64; i++)
        is_text = is_text && (bytes[i] >= ' ' || (bytes[i] >= '\t' && bytes[i] <= '\r')) && bytes[i] != 0x7F &&
                  bytes[i] < 0xF8;
    if (is_text)
        return size == 0 ? "it is empty" : "it is text, perhaps the data";
    return size <= 8 || bytes[8] != '{' ? "it does not start like one" : NULL;
}

/* ---- the header ------------------------------------------------------------------------------------------------- */

struct gsai_container {
    gsai_env env;
    const unsigned char *bytes;
    size_t size;
    const void *mapped;  /* or NULL */
    unsigned char *copy; /* or NULL */
    json_t *header;      /* has the names and texts of the bundle */
    gsai_tensor *tensors;
    gsai_note *notes;
    gsai_bundle bundle;
};

/* C1 and C2 for one tensor: the data begins at `start` of the file, and the tensors so far end at *end of it. */
static gsa_status read_tensor(const gsai_container *container, size_t start, uint64_t *end, const char *name,
                              json_t *entry, gsai_tensor *out, gsa_error *error)
{
    const char *dtype;
    const json_t *shape;
    json_int_t from, to;
    uint64_t size, data_size = container->size - start;
    *out = (gsai_tensor){.name = name};
    if (!name_is_plain(name))
        return gsai_fail(error, GSA_FORMAT,
                         "is damaged or not ours: the name of a tensor is not 1 to %d printable characters",
                         MAX_NAME_LEN);
    if (json_object_size(entry) != 3 ||
        json_unpack(entry, "{s:s, s:o, s:[I, I!]}", "dtype", &dtype, "shape", &shape, "data_offsets", &from, &to) != 0)
        return gsai_fail(error, GSA_FORMAT, "is damaged or not ours: tensor %s needs dtype, shape and data_offsets",
                         name);
    while (out->dtype < N_DTYPES && strcmp(dtype, dtype_names[out->dtype]) != 0)
        out->dtype++;
    if (out->dtype == N_DTYPES)
        return gsai_fail(error, GSA_FORMAT, "is damaged or not ours: tensor %s has an unknown dtype", name);
    out->n_dims = (unsigned)json_array_size(shape);
    bool are_counts = json_array_size(shape) >= 1 && json_array_size(shape) <= GSAI_TENSOR_DIMS && from >= 0 && to >= 0;
    for (size_t d = 0; are_counts && d < out->n_dims; d++) {
        const json_t *count = json_array_get(shape, d);
        are_counts = json_is_integer(count) && json_integer_value(count) >= 0;
        out->shape[d] = (uint64_t)json_integer_value(count);
    }
    if (!are_counts)
        return gsai_fail(error, GSA_FORMAT, "is damaged or not ours: shape or data_offsets of tensor %s are no counts",
                         name);
    if ((uint64_t)from != *end)
        return gsai_fail(error, GSA_FORMAT,
                         "is damaged or not ours: tensor %s starts at byte %llu of the data, not at %llu", name,
                         (unsigned long long)from, (unsigned long long)*end);
    *end = (uint64_t)to;
    if (!tensor_size(out, &size) || to < from || *end - (uint64_t)from != size)
        return gsai_fail(error, GSA_FORMAT, "is damaged or not ours: shape and offsets of tensor %s disagree", name);
    if (*end > data_size)
        return gsai_fail(error, GSA_FORMAT, "is cut short: tensor %s ends at byte %llu, the file at byte %zu", name,
                         (unsigned long long)(start + *end), container->size);
    if ((start + (uint64_t)from) % gsai_dtype_size(out->dtype) != 0)
        return gsai_fail(error, GSA_FORMAT, "is damaged or not ours: tensor %s is not aligned", name);
    out->data = container->bytes + start + (size_t)from;
    return GSA_OK;
}

static gsa_status read_notes(gsai_container *container, json_t *metadata, gsa_error *error)
{
    size_t n = json_object_size(metadata);
    if (metadata && !json_is_object(metadata))
        return gsai_fail(error, GSA_FORMAT, "is damaged or not ours: its metadata is no object");
    if (n > GSAI_CONTAINER_MAX_TENSORS)
        return gsai_fail(error, GSA_FORMAT, "is damaged or not ours: its metadata has %zu entries", n);
    container->notes = gsai_alloc(&container->env, n, sizeof *container->notes);
    GSAI_TRY_MEMORY(container->notes, &container->env, error, "no memory to read a header");
    for (void *i = json_object_iter(metadata); i; i = json_object_iter_next(metadata, i)) {
        const char *text = json_string_value(json_object_iter_value(i));
        if (!text)
            return gsai_fail(error, GSA_FORMAT, "is damaged or not ours: its metadata is not all text");
        container->notes[container->bundle.n_notes++] = (gsai_note){json_object_iter_key(i), text};
    }
    container->bundle.notes = container->notes;
    return GSA_OK;
}

/* C1, C2 and the place of the checksum, which the bundle is without. */
static gsa_status read_header(gsai_container *container, gsa_error *error)
{
    size_t size = container->size, n_tensors = 0;
    uint64_t end = 0, claimed = size < LENGTH_SIZE ? UINT64_MAX : gsai_load_u64(container->bytes);
    if (size < LENGTH_SIZE || claimed > size - LENGTH_SIZE)
        return gsai_fail(error, GSA_FORMAT, "is cut short: its header does not fit into %zu bytes", size);
    if (claimed > GSAI_CONTAINER_MAX_HEADER || claimed % 8 != 0)
        return gsai_fail(error, GSA_FORMAT, "is damaged or not ours: no header of ours has %llu bytes",
                         (unsigned long long)claimed);
    json_error_t problem;
    size_t start = LENGTH_SIZE + (size_t)claimed;
    json_t *header =
        json_loadb((const char *)container->bytes + LENGTH_SIZE, (size_t)claimed, JSON_REJECT_DUPLICATES, &problem);
    container->header = header;
    if (!header) /* jansson's own message would quote the file, whatever is in it */
        return gsai_fail(error, GSA_FORMAT, "is damaged or not ours: its header is not JSON (near byte %d)",
                         problem.position < 0 ? LENGTH_SIZE : LENGTH_SIZE + problem.position);
    if (!json_is_object(header))
        return gsai_fail(error, GSA_FORMAT, "is damaged or not ours: its header is not a JSON object");
    GSA_TRY(read_notes(container, json_object_get(header, METADATA), error));
    if (json_object_size(header) > GSAI_CONTAINER_MAX_TENSORS + 2)
        return gsai_fail(error, GSA_FORMAT, "is damaged or not ours: it has %zu tensors, more than the %d allowed",
                         json_object_size(header), GSAI_CONTAINER_MAX_TENSORS);
    gsai_tensor *tensors = gsai_alloc(&container->env, json_object_size(header), sizeof *tensors);
    GSAI_TRY_MEMORY(tensors, &container->env, error, "no memory to read a header");
    container->tensors = tensors;
    for (void *i = json_object_iter(header); i; i = json_object_iter_next(header, i))
        if (strcmp(json_object_iter_key(i), METADATA) != 0)
            GSA_TRY(read_tensor(container, start, &end, json_object_iter_key(i), json_object_iter_value(i),
                                &tensors[n_tensors++], error));
    const gsai_tensor *last = n_tensors > 0 ? &tensors[n_tensors - 1] : NULL;
    if (!last || strcmp(last->name, GSAI_CONTAINER_CHECKSUM) != 0)
        return gsai_fail(error, GSA_FORMAT, "was not written by greedystep: its last tensor is not a checksum");
    if (last->dtype != GSAI_U8 || last->n_dims != 1 || last->shape[0] != GSAI_CONTAINER_CHECKSUM_SIZE)
        return gsai_fail(error, GSA_FORMAT, "was not written by greedystep: its checksum is not of 8 bytes");
    if (end != size - start)
        return gsai_fail(error, GSA_FORMAT, "is damaged: %llu bytes follow its last tensor",
                         (unsigned long long)(size - start - end));
    container->bundle.tensors = tensors;
    container->bundle.n_tensors = n_tensors - 1;
    return GSA_OK;
}

/* ---- opening ---------------------------------------------------------------------------------------------------- */

static gsa_status map_file(gsai_container *container, const char *path, gsa_error *error)
{
    gsai_file_info info;
    if (gsai_os_path_info(path, &info) != 0)
        return gsai_fail_errno(error, "open", path, errno);
    if (info.kind == GSAI_FILE_DIRECTORY)
        return gsai_fail(error, GSA_FORMAT, "is not a greedystep model or state: it is a directory");
    if (info.kind == GSAI_FILE_OTHER) /* opening it could wait for a writer */
        return gsai_fail(error, GSA_UNSUPPORTED, "%s is a pipe or device; a model or state is read from a file", path);
    gsa_status status = GSA_OK;
    int fd;
    do {
        fd = gsai_os_open(path);
    } while (fd < 0 && errno == EINTR);
    if (fd < 0 || gsai_os_info(fd, &info) != 0)
        status = gsai_fail_errno(error, "open", path, errno);
    else if (info.kind != GSAI_FILE_REGULAR)
        status = gsai_fail(error, GSA_IO, "%s is not the file that it was a moment ago", path);
    else if (info.size > SIZE_MAX)
        status = gsai_fail(error, GSA_LIMIT, "%s is too large for this machine's addresses", path);
    else if (!gsai_charge(&container->env, info.size)) /* its pages are resident while they are used */
        status = gsai_fail_memory(&container->env, error, "no memory to map %s", path);
    else if (info.size > 0 && !(container->mapped = gsai_os_map(fd, info.size))) {
        status = gsai_fail_errno(error, "map", path, errno);
        gsai_discharge(&container->env, info.size);
    }
    if (container->mapped) {
        container->bytes = container->mapped;
        container->size = (size_t)info.size;
    }
    if (fd >= 0)
        gsai_os_close(fd);
    return status;
}

/* Takes a copy where the bytes cannot be used in place: on a machine that is not little-endian (C4), and for bytes that
 * are not aligned. */
static gsa_status copy_bytes(gsai_container *container, const char *name, gsa_error *error)
{
    char text[GSAI_SIZE_TEXT];
    if (container->size == 0 || ((uintptr_t)container->bytes % 8 == 0 && gsai_machine_is_little_endian()))
        return GSA_OK;
    container->copy = gsai_copy(&container->env, container->bytes, container->size, 1);
    GSAI_TRY_MEMORY(container->copy, &container->env, error, "no memory for %s (%s)", name,
                    gsai_size_text(container->size, text));
    container->bytes = container->copy;
    return GSA_OK;
}

static gsa_status check(gsai_container *container, const char *name, gsa_error *error)
{
    const char *other = other_kind(container->bytes, container->size);
    if (other)
        return gsai_fail(error, GSA_FORMAT, "is not a greedystep model or state: %s", other);
    GSA_TRY(read_header(container, error));
    /* C3. */
    gsai_hasher hasher;
    size_t covered = container->size - GSAI_CONTAINER_CHECKSUM_SIZE, n;
    gsai_hasher_init(&hasher);
    for (size_t from = 0; from < covered; from += n) {
        n = covered - from < HASH_STRETCH ? covered - from : HASH_STRETCH;
        gsai_hasher_add(&hasher, container->bytes + from, n);
        if (gsai_should_stop(&container->env))
            return gsai_fail(error, GSA_STOPPED, "stopped while reading %s", name);
    }
    if (gsai_load_u64(container->bytes + covered) != gsai_hasher_value(&hasher))
        return gsai_fail(error, GSA_FORMAT, "is damaged: its bytes do not match their checksum; take another copy");
    for (size_t i = 0; i < container->bundle.n_tensors && !gsai_machine_is_little_endian(); i++) {
        const gsai_tensor *tensor = &container->tensors[i];
        size_t offset = (size_t)((const unsigned char *)tensor->data - container->bytes);
        gsai_swap_bytes(container->copy + offset, (size_t)gsai_tensor_len(tensor), gsai_dtype_size(tensor->dtype));
    }
    return GSA_OK;
}

gsa_status gsai_container_open(const char *path, const void *bytes, size_t size, const gsai_env *env,
                               gsai_container **out, gsa_error *error)
{
    const char *name = path ? path : GSAI_CONTAINER_BYTES;
    gsai_env resolved = gsai_env_resolve(env);
    *out = NULL;
    gsai_container *container = gsai_alloc(&resolved, 1, sizeof *container);
    GSAI_TRY_MEMORY(container, &resolved, error, "no memory to read %s", name);
    *container = (gsai_container){.env = resolved, .bytes = bytes, .size = size};
    gsa_status status = path ? map_file(container, path, error) : GSA_OK;
    if (status == GSA_OK)
        status = copy_bytes(container, name, error);
    if (status == GSA_OK)
        status = check(container, name, error);
    if (status == GSA_FORMAT)
        gsai_error_prefix(error, "%s ", name);
    if (status == GSA_OK)
        *out = container;
    else
        gsai_container_close(container);
    return status;
}

const gsai_bundle *gsai_container_bundle(const gsai_container *container)
{
    return &container->bundle;
}

void gsai_container_close(gsai_container *container)
{
    if (!container)
        return;
    gsai_env env = container->env;
    json_decref(container->header);
    gsai_free(&env, container->tensors);
    gsai_free(&env, container->notes);
    if (container->mapped) {
        gsai_os_unmap(container->mapped, container->size);
        gsai_discharge(&env, container->size);
    }
    gsai_free(&env, container->copy);
    gsai_free(&env, container);
}
