/* What all fuzz targets share: bytes to draw from, bytes that grow, and a check that ends the process.
 *
 * A target is one file with LLVMFuzzerTestOneInput, which libFuzzer, AFL++ and replay.c call alike. The first bytes of
 * an input choose what is done, the rest is what it is done to. Properties are checked in every build: what breaks one
 * says which and aborts, as a crash would. */
#ifndef GSA_FUZZ_H
#define GSA_FUZZ_H

#include <greedystep/greedystep.h>

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Inputs beyond it are not looked at: executions stay fast, and everything that matters fits. */
#define FUZZ_MAX 8192

static inline void fuzz_must(bool holds, const char *property, const char *detail)
{
    if (holds)
        return;
    fprintf(stderr, "PROPERTY BROKEN: %s%s%s\n", property, detail ? ": " : "", detail ? detail : "");
    abort();
}

/* A status and its error belong together, and the message is a text without newline or period at its end. */
static inline gsa_status fuzz_status(gsa_status status, const gsa_error *error)
{
    if (status == GSA_OK || status == GSA_END)
        return status;
    size_t size = strnlen(error->message, sizeof error->message);
    fuzz_must(error->status == status, "the status returned is that of the error", error->message);
    fuzz_must(size > 0 && size < sizeof error->message, "a failure has a message", gsa_status_text(status));
    fuzz_must(!memchr(error->message, '\n', size), "a message is one line", error->message);
    return status;
}

/* ---- bytes to draw from ------------------------------------------------------------------------------------------ */

typedef struct fuzz_input {
    const uint8_t *at;
    size_t left;
} fuzz_input;

/* 0 once there are no more. */
static inline uint8_t fuzz_byte(fuzz_input *in)
{
    if (in->left == 0)
        return 0;
    in->left--;
    return *in->at++;
}

static inline uint64_t fuzz_number(fuzz_input *in, size_t n_bytes)
{
    uint64_t number = 0;
    while (n_bytes-- > 0)
        number = number << 8 | fuzz_byte(in);
    return number;
}

/* True for one input in 64, by a hash: for what is slow. A byte that asked for it would be kept by every corpus. */
static inline bool fuzz_rarely(const uint8_t *data, size_t size)
{
    uint32_t hash = 2166136261u; /* FNV-1a */
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ data[i]) * 16777619u;
    return hash % 64 == 0;
}

/* The next n bytes, or as many as there are. */
static inline fuzz_input fuzz_part(fuzz_input *in, size_t n)
{
    fuzz_input part = {in->at, n < in->left ? n : in->left};
    in->at += part.left;
    in->left -= part.left;
    return part;
}

/* A text of up to n bytes, ended by a zero in the input or by its end. */
static inline const char *fuzz_text(fuzz_input *in, char *out, size_t n)
{
    size_t size = 0;
    uint8_t byte;
    while (in->left > 0 && (byte = fuzz_byte(in)) != 0)
        if (size < n)
            out[size++] = (char)byte;
    out[size] = '\0';
    return out;
}

/* Finite, of all magnitudes, often a small whole number. */
static inline float fuzz_float(fuzz_input *in)
{
    uint8_t kind = fuzz_byte(in);
    if (kind < 128)
        return (float)(kind - 64) / (kind % 2 ? 1 : 4);
    uint32_t bits = (uint32_t)fuzz_number(in, 4);
    float value;
    memcpy(&value, &bits, sizeof value);
    return isfinite(value) ? value : 1.0f;
}

/* ---- bytes that grow --------------------------------------------------------------------------------------------- */

/* Reused from one execution to the next, so that it costs no memory of its own. */
typedef struct fuzz_bytes {
    unsigned char *data;
    size_t size, capacity;
} fuzz_bytes;

static inline void fuzz_reserve(fuzz_bytes *bytes, size_t size)
{
    if (size <= bytes->capacity)
        return;
    bytes->capacity = size * 2;
    bytes->data = realloc(bytes->data, bytes->capacity);
    fuzz_must(bytes->data != NULL, "there is memory", NULL);
}

static inline void fuzz_put(fuzz_bytes *bytes, const void *from, size_t size)
{
    fuzz_reserve(bytes, bytes->size + size);
    if (size > 0)
        memcpy(bytes->data + bytes->size, from, size);
    bytes->size += size;
}

/* A gsa_write_fn. */
static inline int fuzz_write(void *ctx, const void *bytes, size_t size)
{
    fuzz_put(ctx, bytes, size);
    return 0;
}

static inline bool fuzz_same(const fuzz_bytes *a, const fuzz_bytes *b)
{
    return a->size == b->size && (a->size == 0 || memcmp(a->data, b->data, a->size) == 0);
}

/* A file without a name, which is written and read without a disk. */
static inline int fuzz_file(char path[32])
{
    static int fd = -1;
    if (fd < 0)
        fd = memfd_create("fuzz", 0);
    fuzz_must(fd >= 0 && ftruncate(fd, 0) == 0, "there is a file in memory", NULL);
    snprintf(path, 32, "/dev/fd/%d", fd);
    return fd;
}

#endif
