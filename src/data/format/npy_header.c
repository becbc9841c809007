/* The head of a .npy file: the magic, a version, and a dictionary in the syntax of Python. */
#include "data/format/npy.h"

#include "base/byte_order.h"
#include "base/error.h"
#include "base/half.h"
#include "data/format/number.h"

#include <string.h>

#define MAGIC "\x93NUMPY"
#define MAGIC_SIZE 6

bool gsai_npy_matches(const unsigned char *start, size_t size)
{
    return size >= MAGIC_SIZE && memcmp(start, MAGIC, MAGIC_SIZE) == 0;
}

/* ---- the dictionary --------------------------------------------------------------------------------------------- */

typedef struct cursor {
    const char *p, *end;
    unsigned n_dims;
    bool is_fortran;
} cursor;

static bool take(cursor *at, const char *text)
{
    while (at->p < at->end && (*at->p == ' ' || *at->p == '\n'))
        at->p++;
    size_t size = strlen(text);
    bool is_there = (size_t)(at->end - at->p) >= size && memcmp(at->p, text, size) == 0;
    at->p += is_there ? size : 0;
    return is_there;
}

static bool take_count(cursor *at, uint64_t *out)
{
    (void)take(at, "");
    const char *first = at->p;
    for (*out = 0; at->p < at->end && gsai_is_digit(*at->p) && *out < UINT64_MAX / 10 - 1; at->p++)
        *out = *out * 10 + (uint64_t)(*at->p - '0');
    return at->p > first && (at->p == at->end || !gsai_is_digit(*at->p));
}

/* '<f4': byte order, kind, bytes per item; of U code points per item. */
static bool take_type(cursor *at, gsai_npy_header *out)
{
    uint64_t size = 0;
    if (!take(at, "'") || at->end - at->p < 3)
        return false;
    char order = *at->p++;
    out->kind = *at->p++;
    out->is_big = order == '>' || (order == '=' && !gsai_machine_is_little_endian());
    if (!strchr("<>=|", order) || (out->kind != 'O' && !take_count(at, &size)) || size > 1 << 20)
        return false;
    out->item = (size_t)size * (out->kind == 'U' ? 4 : 1);
    return take(at, "'");
}

/* Goes on after an item of a list that ends with a bracket; returns false after the last, or if it is not a list. */
static bool take_comma(cursor *at, const char *bracket, bool *is_right)
{
    bool has_comma = take(at, ","), has_ended = take(at, bracket);
    *is_right = *is_right && (has_comma || has_ended);
    return *is_right && !has_ended;
}

static bool take_shape(cursor *at, gsai_npy_header *out)
{
    uint64_t length[2] = {1, 1}, other;
    bool is_right = take(at, "(");
    if (!is_right || take(at, ")"))
        return is_right;
    do {
        is_right = take_count(at, at->n_dims < 2 ? &length[at->n_dims] : &other);
        at->n_dims++;
    } while (take_comma(at, ")", &is_right));
    out->n_rows = length[0];
    out->width = length[1];
    return is_right;
}

static bool take_dictionary(cursor *at, gsai_npy_header *out)
{
    unsigned found = 0;
    bool is_right = take(at, "{");
    do {
        unsigned key = take(at, "'descr':") ? 1 : take(at, "'fortran_order':") ? 2 : take(at, "'shape':") ? 4 : 0;
        is_right = is_right && !(found & key);
        found |= key;
        if (key == 1)
            is_right = is_right && take_type(at, out);
        else if (key == 2)
            is_right = is_right && ((at->is_fortran = take(at, "True")) || take(at, "False"));
        else
            is_right = is_right && key == 4 && take_shape(at, out);
    } while (take_comma(at, "}", &is_right));
    (void)take(at, "");
    return is_right && found == 7 && at->p == at->end;
}

/* ---- what it may say -------------------------------------------------------------------------------------------- */

/* Returns whether items are of a type that is read here. */
static bool is_known(gsai_npy_header *header)
{
    size_t size = header->item;
    if (header->kind == 'V' && size == 2) /* how bf16 is written, which has no name of its own in .npy */
        header->kind = 'h';
    switch (header->kind) {
    case 'f':
        return size == 2 || size == 4 || size == 8;
    case 'i':
    case 'u':
        return size == 1 || size == 2 || size == 4 || size == 8;
    case 'b':
        return size == 1;
    case 'U':
    case 'S':
        return size > 0;
    default:
        return header->kind == 'h';
    }
}

static gsa_status check(const cursor *at, gsai_npy_header *header, const char *name, gsa_error *error)
{
    if (header->kind == 'O')
        return gsai_fail(error, GSA_UNSUPPORTED,
                         "%s holds Python objects: save it as numbers or as texts (array.astype(str))", name);
    if (!is_known(header))
        return gsai_fail(error, GSA_UNSUPPORTED, "%s is an array of another type than numbers or texts: convert it",
                         name);
    if (at->n_dims < 1 || at->n_dims > 2)
        return gsai_fail(error, GSA_UNSUPPORTED, "%s has %u dimensions: expected rows and columns", name, at->n_dims);
    if (at->is_fortran && header->n_rows > 1 && header->width > 1)
        return gsai_fail(error, GSA_UNSUPPORTED,
                         "%s is in Fortran order, column after column: save it by rows (numpy.ascontiguousarray)",
                         name);
    return GSA_OK;
}

gsa_status gsai_npy_header_parse(const gsai_decode *stream, const char *name, gsai_npy_header *out, gsa_error *error)
{
    const unsigned char *start = stream->start;
    size_t n_lead = stream->start_size > 8 && start[MAGIC_SIZE] > 1 ? 12 : 10, n = 0;
    *out = (gsai_npy_header){0};
    if (stream->start_size < n_lead || !gsai_npy_matches(start, stream->start_size) || start[MAGIC_SIZE] < 1 ||
        start[MAGIC_SIZE] > 3)
        return gsai_fail(error, GSA_FORMAT, "%s is no array of NumPy (.npy) of version 1, 2 or 3", name);
    for (size_t i = n_lead; i > 8; i--)
        n = n << 8 | start[i - 1];
    if (n > stream->start_size - n_lead)
        return gsai_fail(error, GSA_FORMAT, "%s: its header of %zu bytes is cut off or too long", name, n);
    cursor at = {.p = (const char *)start + n_lead, .end = (const char *)start + n_lead + n};
    out->size = n_lead + n;
    if (!take_dictionary(&at, out))
        return gsai_fail(error, GSA_FORMAT, "%s: its header makes no sense, or it holds records: '%.*s'", name,
                         n < 120 ? (int)n : 120, (const char *)start + n_lead);
    return check(&at, out, name, error);
}

/* ---- items ------------------------------------------------------------------------------------------------------ */

double gsai_npy_number(const gsai_npy_header *header, const unsigned char *items, size_t i)
{
    unsigned char item[8] = {0};
    memcpy(item, items + i * header->item, header->item);
    if (header->is_big)
        gsai_swap_bytes(item, 1, header->item);
    uint64_t bits = gsai_load_u64(item);
    unsigned unused = 64 - 8 * (unsigned)header->item;
    uint16_t half = (uint16_t)bits;
    uint32_t single = (uint32_t)bits;
    float x = 0;
    double wide;
    if (header->kind == 'u' || header->kind == 'b')
        return (double)bits;
    if (header->kind == 'i')
        return (double)((int64_t)(bits << unused) >> unused);
    memcpy(&wide, &bits, sizeof wide);
    if (header->item == 4)
        memcpy(&x, &single, sizeof x);
    if (header->item == 2)
        gsa_half_read(header->kind == 'h' ? GSA_HALF_BF16 : GSA_HALF_F16, &half, 1, &x);
    return header->item == 8 ? wide : (double)x;
}

gsa_status gsai_npy_fill(gsai_decode *stream, const char *name, unsigned char *to, size_t size, size_t *filled,
                         gsa_error *error)
{
    for (size_t got = 1; *filled < size && got > 0; *filled += got)
        GSA_TRY(gsai_decode_read(stream, to + *filled, size - *filled, &got, error));
    return *filled == size ? GSA_OK
                           : gsai_fail(error, GSA_FORMAT, "%s ends before the last row that its header tells of", name);
}

gsa_status gsai_npy_end(gsai_decode *stream, const char *name, gsa_error *error)
{
    unsigned char byte;
    size_t got;
    GSA_TRY(gsai_decode_read(stream, &byte, 1, &got, error));
    return got == 0 ? GSA_OK
                    : gsai_fail(error, GSA_FORMAT, "%s goes on behind the last row that its header tells of", name);
}
