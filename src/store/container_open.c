/* Opening a container: bytes into place (mapped, borrowed or copied), then the header, then the checksum.
 *
 * Files of other kinds are recognised first, so that the message says which kind it is. */
#include "store/container.h"

#include "base/byte_order.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/memory.h"
#include "store/header.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Hashed between two looks at should_stop. */
#define HASH_STRETCH ((size_t)16 << 20)

struct gsai_container {
    gsai_env env;
    const unsigned char *bytes;
    size_t size;
    void *mapped;        /* or NULL */
    unsigned char *copy; /* or NULL */
    gsai_header header;
    gsai_bundle bundle;
};

static gsa_status fail_errno(gsa_error *error, const char *what, const char *path, int number)
{
    char reason[GSAI_REASON_SIZE];
    return gsai_fail(error, GSA_IO, "cannot %s %s: %s", what, path, gsai_reason(number, reason));
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

/* No control characters, and no bytes that UTF-8 never has. */
static bool looks_like_text(const unsigned char *bytes, size_t size)
{
    size_t looked_at = size < 64 ? size : 64;
    for (size_t i = 0; i < looked_at; i++)
        if ((bytes[i] < ' ' && (bytes[i] < '\t' || bytes[i] > '\r')) || bytes[i] == 0x7F || bytes[i] >= 0xF8)
            return false;
    return true;
}

/* Returns what the file is instead of ours, or NULL if it may be ours: it starts with a header's size and a brace. */
static const char *other_kind(const unsigned char *bytes, size_t size)
{
    if (size == 0)
        return "it is empty";
    for (size_t i = 0; i < sizeof known_kinds / sizeof *known_kinds; i++)
        if (size >= known_kinds[i].start_len && memcmp(bytes, known_kinds[i].start, known_kinds[i].start_len) == 0)
            return known_kinds[i].is;
    if (looks_like_text(bytes, size))
        return "it is text, perhaps the data";
    if (size <= 8 || bytes[8] != '{')
        return "it does not start like one";
    return NULL;
}

/* ---- the checks ------------------------------------------------------------------------------------------------- */

/* C3. */
static gsa_status check_checksum(const gsai_container *container, const char *name, gsa_error *error)
{
    gsai_hasher hasher;
    size_t covered = container->size - GSAI_CONTAINER_CHECKSUM_SIZE;
    gsai_hasher_init(&hasher);
    for (size_t from = 0; from < covered;) {
        size_t n = covered - from < HASH_STRETCH ? covered - from : HASH_STRETCH;
        gsai_hasher_add(&hasher, container->bytes + from, n);
        from += n;
        if (gsai_should_stop(&container->env))
            return gsai_fail(error, GSA_STOPPED, "stopped while reading %s", name);
    }
    if (gsai_load_u64(container->bytes + covered) != gsai_hasher_value(&hasher))
        return gsai_fail(error, GSA_FORMAT, "%s is damaged: its bytes do not match their checksum; take another copy",
                         name);
    return GSA_OK;
}

/* C4, on a machine that is not little-endian: there the bytes are always a copy of ours. */
static void to_machine_order(gsai_container *container)
{
    if (gsai_machine_is_little_endian())
        return;
    for (size_t i = 0; i < container->header.n_tensors; i++) {
        const gsai_tensor *tensor = &container->header.tensors[i];
        size_t offset = (size_t)((const unsigned char *)tensor->data - container->bytes);
        gsai_swap_bytes(container->copy + offset, (size_t)gsai_tensor_len(tensor), gsai_dtype_size(tensor->dtype));
    }
}

static gsa_status check(gsai_container *container, const char *name, gsa_error *error)
{
    const char *other = other_kind(container->bytes, container->size);
    if (other)
        return gsai_fail(error, GSA_FORMAT, "%s is not a greedystep model or state: %s", name, other);
    gsai_header *header = &container->header;
    GSA_TRY(gsai_header_parse(name, container->bytes, container->size, &container->env, header, error));
    GSA_TRY(check_checksum(container, name, error));
    to_machine_order(container);
    container->bundle = (gsai_bundle){header->tensors, header->n_tensors, header->notes, header->n_notes};
    return GSA_OK;
}

/* ---- bytes into place ------------------------------------------------------------------------------------------- */

static gsa_status copy_bytes(gsai_container *container, const char *name, gsa_error *error)
{
    char text[GSAI_SIZE_TEXT];
    container->copy = gsai_alloc(&container->env, container->size, 1);
    GSAI_TRY_MEMORY(container->copy, &container->env, error, "no memory for %s (%s)", name,
                    gsai_size_text(container->size, text));
    memcpy(container->copy, container->bytes, container->size);
    container->bytes = container->copy;
    return GSA_OK;
}

static gsa_status map_descriptor(gsai_container *container, int fd, const char *path, gsa_error *error)
{
    struct stat info;
    if (fstat(fd, &info) != 0)
        return fail_errno(error, "read", path, errno);
    if (S_ISDIR(info.st_mode))
        return gsai_fail(error, GSA_FORMAT, "%s is not a greedystep model or state: it is a directory", path);
    if (!S_ISREG(info.st_mode))
        return gsai_fail(error, GSA_UNSUPPORTED, "%s is a pipe or device; a model or state is read from a file", path);
    if (info.st_size == 0)
        return GSA_OK;
    if ((uint64_t)info.st_size > SIZE_MAX)
        return gsai_fail(error, GSA_LIMIT, "%s is too large for this machine's addresses", path);
    if (!gsai_charge(&container->env, (uint64_t)info.st_size)) /* pages of it are resident while they are used */
        return gsai_fail_memory(&container->env, error, "no memory to map %s", path);
    void *mapped = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (mapped == MAP_FAILED) {
        gsai_discharge(&container->env, (uint64_t)info.st_size);
        return fail_errno(error, "map", path, errno);
    }
    container->mapped = mapped;
    container->bytes = mapped;
    container->size = (size_t)info.st_size;
    return GSA_OK;
}

/* O_NONBLOCK so that opening a pipe without a writer returns and can be refused; it does nothing to files. */
static gsa_status map_file(gsai_container *container, const char *path, gsa_error *error)
{
    int fd;
    do {
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    } while (fd < 0 && errno == EINTR);
    if (fd < 0)
        return fail_errno(error, "open", path, errno);
    gsa_status status = map_descriptor(container, fd, path, error);
    close(fd);
    if (status == GSA_OK && container->size > 0 && !gsai_machine_is_little_endian())
        status = copy_bytes(container, path, error);
    return status;
}

/* ---- opening ---------------------------------------------------------------------------------------------------- */

static gsa_status new_container(const gsai_env *env, const char *name, gsai_container **out, gsa_error *error)
{
    gsai_env resolved = gsai_env_resolve(env);
    gsai_container *container = gsai_alloc(&resolved, 1, sizeof *container);
    GSAI_TRY_MEMORY(container, &resolved, error, "no memory to read %s", name);
    *container = (gsai_container){.env = resolved};
    *out = container;
    return GSA_OK;
}

/* Hands the container out if everything is in order, and frees it if not. */
static gsa_status finish(gsai_container *container, gsa_status status, const char *name, gsai_container **out,
                         gsa_error *error)
{
    if (status == GSA_OK)
        status = check(container, name, error);
    if (status == GSA_OK)
        *out = container;
    else
        gsai_container_close(container);
    return status;
}

gsa_status gsai_container_open(const char *path, const gsai_env *env, gsai_container **out, gsa_error *error)
{
    *out = NULL;
    gsai_container *container = NULL;
    GSA_TRY(new_container(env, path, &container, error));
    return finish(container, map_file(container, path, error), path, out, error);
}

gsa_status gsai_container_open_bytes(const void *bytes, size_t size, const char *name, const gsai_env *env,
                                     gsai_container **out, gsa_error *error)
{
    *out = NULL;
    gsai_container *container = NULL;
    gsa_status status = GSA_OK;
    GSA_TRY(new_container(env, name, &container, error));
    container->bytes = bytes;
    container->size = size;
    if (size > 0 && ((uintptr_t)bytes % 8 != 0 || !gsai_machine_is_little_endian()))
        status = copy_bytes(container, name, error);
    return finish(container, status, name, out, error);
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
    gsai_header_free(&env, &container->header);
    if (container->mapped) {
        munmap(container->mapped, container->size);
        gsai_discharge(&env, container->size);
    }
    gsai_free(&env, container->copy);
    gsai_free(&env, container);
}
