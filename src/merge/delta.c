/* Deltas in bytes, there and back, and several of them into one. */
#include "merge/delta.h"

#include "base/byte_order.h"
#include "base/error.h"
#include "base/memory.h"

#include <string.h>

#define HEADER_SIZE ((size_t)48)
#define CHUNK_HEADER_SIZE ((size_t)16)
#define WIDE UINT32_C(0x80000000)

static uint32_t u32_at(const unsigned char *bytes)
{
    return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static void put_u32(uint32_t number, unsigned char *out)
{
    for (int i = 0; i < 4; i++)
        out[i] = (unsigned char)(number >> (8 * i));
}

static size_t touched_size_of(size_t n_copies)
{
    return n_copies == 1 ? 0 : n_copies <= UINT8_MAX ? 1 : 4;
}

static size_t chunk_size(const gsai_chunk *of, size_t n_outputs)
{
    size_t record = gsai_sums_width(n_outputs) * sizeof(float) + of->count_size + of->touched_size;
    return CHUNK_HEADER_SIZE + gsai_sums_block(n_outputs) / 8 + of->n * record;
}

/* NOLINTBEGIN(clang-analyzer-core.uninitialized.ArraySubscript): `at` has as many numbers as n says, of bits or slots
 */
/* Numbers of a block to where they come together, and back again. */
static void pack(const float *from, const uint32_t *at, size_t n, unsigned char *out)
{
    for (size_t j = 0; j < n; j++)
        memcpy(out + 4 * j, &from[at[j]], 4);
    if (!gsai_machine_is_little_endian())
        gsai_swap_bytes(out, n, 4);
}

static void unpack(const unsigned char *from, const uint32_t *at, size_t n, float *out)
{
    for (size_t j = 0; j < n; j++) {
        gsai_cell cell = {.u = u32_at(from + 4 * j)};
        out[at[j]] = cell.f;
    }
}

/* Whole numbers: the lower half of them, or the upper one. */
static void pack_words(const double *from, const uint32_t *at, size_t n, unsigned shift, unsigned char *out)
{
    for (size_t j = 0; j < n; j++)
        put_u32((uint32_t)((uint64_t)(int64_t)from[at[j]] >> shift), out + 4 * j);
}

static void add_words(const unsigned char *from, const uint32_t *at, size_t n, double unit, double *out)
{
    for (size_t j = 0; j < n; j++)
        out[at[j]] += unit * (double)u32_at(from + 4 * j);
}

/* NOLINTEND(clang-analyzer-core.uninitialized.ArraySubscript) */
/* The numbers of the bits that are set. */
static void list_bits(const unsigned char *bits, size_t n_bits, uint32_t *at)
{
    for (size_t i = 0; i < n_bits; i += 64)
        for (uint64_t rest = gsai_load_u64(bits + i / 8); rest != 0; rest &= rest - 1)
            *at++ = (uint32_t)i + (uint32_t)__builtin_ctzll(rest);
}

/* ---- out --------------------------------------------------------------------------------------------------------- */

gsa_status gsai_sink_open(gsai_sink *to, size_t n_outputs, const gsai_env *env, gsa_error *error)
{
    gsai_chunk largest = {.n = gsai_sums_block(n_outputs), .count_size = 8, .touched_size = 4};
    to->n_outputs = n_outputs;
    to->chunk = gsai_alloc(env, 1, chunk_size(&largest, n_outputs));
    return to->chunk ? GSA_OK : gsai_fail_memory(env, error, "no memory for a delta");
}

static void put(gsai_sink *to, const void *bytes, size_t size)
{
    to->failed = to->failed || to->write(to->ctx, bytes, size) != 0;
}

void gsai_sink_header(gsai_sink *to, uint64_t kind, const gsai_delta *of)
{
    const uint64_t header[] = {kind, to->n_outputs, of->first, of->n_features, of->first_copy, of->n_copies};
    unsigned char bytes[HEADER_SIZE];
    for (size_t i = 0; i < HEADER_SIZE / 8; i++)
        gsai_store_u64(header[i], bytes + 8 * i);
    put(to, bytes, sizeof bytes);
}

gsa_status gsai_sink_close(gsai_sink *to, const gsai_env *env, gsa_error *error)
{
    unsigned char last[8];
    gsai_store_u64(to->n_chunks, last);
    put(to, last, sizeof last);
    gsai_free(env, to->chunk);
    return to->failed ? gsai_fail(error, GSA_IO, "cannot write the bytes of a delta") : GSA_OK;
}

/* Which slots were touched, as bits and as numbers; and whether a count needs eight bytes. */
static void find_touched(const gsai_sums *sums, size_t n_slots, gsai_chunk *of, unsigned char *bits, uint32_t *at)
{
    double max = 0;
    for (size_t i = 0; i < n_slots; i++) {
        at[of->n] = (uint32_t)i;
        of->n += sums->count[i] > 0;
        max = sums->count[i] > max ? sums->count[i] : max;
    }
    for (size_t j = 0; j < of->n; j++)
        /* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): n of them were written above */
        bits[at[j] / 8] |= (unsigned char)(1u << at[j] % 8);
    of->count_size = max > UINT32_MAX ? 8 : 4;
}

void gsai_sink_chunk(gsai_sink *to, const gsai_sums *sums, size_t n_slots, uint64_t number, size_t first_copy)
{
    size_t block = gsai_sums_block(to->n_outputs), width = gsai_sums_width(to->n_outputs);
    unsigned char *bits = to->chunk + CHUNK_HEADER_SIZE, *out = bits + block / 8;
    uint32_t at[GSAI_MAX_BLOCK];
    gsai_chunk of = {.touched_size = touched_size_of(sums->n)};
    memset(bits, 0, block / 8);
    if (!sums->is_empty)
        find_touched(sums, n_slots, &of, bits, at);
    if (of.n == 0)
        return;
    const uint32_t header[] = {(uint32_t)number, (uint32_t)(sums->first - first_copy), (uint32_t)sums->n,
                               (uint32_t)of.n | (of.count_size > 4 ? WIDE : 0)};
    for (size_t i = 0; i < 4; i++)
        put_u32(header[i], to->chunk + 4 * i);
    for (size_t k = 0; k < width; k++, out += 4 * of.n)
        pack(sums->sum + k * block, at, of.n, out);
    for (unsigned half = 0; half < of.count_size / 4; half++, out += 4 * of.n)
        pack_words(sums->count, at, of.n, 32 * half, out);
    for (size_t j = 0; j < of.n && of.touched_size == 1; j++)
        out[j] = (unsigned char)sums->touched[at[j]];
    if (of.touched_size == 4)
        pack_words(sums->touched, at, of.n, 0, out);
    put(to, to->chunk, chunk_size(&of, to->n_outputs));
    to->n_chunks++;
}

/* ---- in ---------------------------------------------------------------------------------------------------------- */

/* The chunk at these bytes; false if there is none of that size. */
static bool read_chunk(const unsigned char *at, size_t size, size_t n_outputs, gsai_chunk *out)
{
    size_t block = gsai_sums_block(n_outputs);
    if (size < CHUNK_HEADER_SIZE)
        return false;
    *out = (gsai_chunk){.block = u32_at(at),
                        .first = u32_at(at + 4),
                        .n_copies = u32_at(at + 8),
                        .n = u32_at(at + 12) & ~WIDE,
                        .count_size = u32_at(at + 12) & WIDE ? 8 : 4,
                        .bits = at + CHUNK_HEADER_SIZE};
    out->touched_size = touched_size_of(out->n_copies);
    out->size = out->n <= block ? chunk_size(out, n_outputs) : SIZE_MAX;
    return out->n > 0 && out->n_copies > 0 && out->size <= size;
}

/* Bits are as many as was said, within the range; *end becomes the last one + 1, from the first of the delta on. */
static bool has_right_bits(const gsai_chunk *of, const gsai_delta *delta, size_t block, uint64_t *end)
{
    size_t n = 0, last = 0;
    for (size_t i = 0; i < block; i += 64) {
        uint64_t bits = gsai_load_u64(of->bits + i / 8);
        n += (size_t)__builtin_popcountll(bits);
        last = bits ? i + 64 - (size_t)__builtin_clzll(bits) : last;
    }
    *end = of->block * block + last;
    return n == of->n && *end <= delta->n_features && delta->first + *end <= GSA_MAX_ID + (uint64_t)1;
}

/* Chunks ascend, and a run is a part of the tree, or everything. */
static bool check_chunks(uint64_t kind, const unsigned char *at, size_t size, size_t n_outputs, gsai_delta *out)
{
    uint64_t block = 0, n = 0, end = 0;
    size_t run = 0; /* where the next one may begin */
    for (; size > 0; n++) {
        gsai_chunk next;
        if (!read_chunk(at, size, n_outputs, &next) || next.block < block ||
            !has_right_bits(&next, out, gsai_sums_block(n_outputs), &end))
            return false;
        run = next.block > block ? 0 : run;
        bool is_part =
            (next.n_copies & (next.n_copies - 1)) == 0 && (out->first_copy + next.first) % next.n_copies == 0;
        if (next.first < run || next.first + next.n_copies > out->n_copies ||
            !(kind == GSAI_DELTA_REDUCED ? next.n_copies == out->n_copies : is_part))
            return false;
        run = next.first + next.n_copies;
        block = next.block;
        at += next.size;
        size -= next.size;
    }
    out->end = n > 0 ? out->first + end : 0;
    return n == out->n_chunks;
}

gsa_status gsai_delta_open(uint64_t kind, const void *bytes, size_t size, size_t *n_outputs, gsai_delta *out,
                           gsa_error *error)
{
    const unsigned char *at = bytes;
    bool is_delta = size >= HEADER_SIZE + 8 && gsai_load_u64(at) == kind && gsai_load_u64(at + 8) >= 1 &&
                    gsai_load_u64(at + 8) <= UINT32_MAX;
    if (is_delta) {
        *n_outputs = (size_t)gsai_load_u64(at + 8);
        *out = (gsai_delta){.chunks = at + HEADER_SIZE,
                            .first = gsai_load_u64(at + 16),
                            .n_features = gsai_load_u64(at + 24),
                            .first_copy = gsai_load_u64(at + 32),
                            .n_copies = gsai_load_u64(at + 40),
                            .n_chunks = gsai_load_u64(at + size - 8)};
        is_delta = out->first <= GSA_MAX_ID && out->n_features <= UINT32_MAX && out->n_copies >= 1 &&
                   out->n_copies <= UINT32_MAX && out->first_copy <= UINT32_MAX - out->n_copies &&
                   check_chunks(kind, out->chunks, size - HEADER_SIZE - 8, *n_outputs, out);
    }
    return is_delta ? GSA_OK : gsai_fail(error, GSA_FORMAT, "these bytes are no delta, or a damaged one");
}

uint64_t gsai_delta_block(const gsai_delta *delta)
{
    return delta->n_chunks > 0 ? u32_at(delta->chunks) : UINT64_MAX;
}

bool gsai_delta_next(gsai_delta *delta, uint64_t block, size_t n_outputs, gsai_chunk *out)
{
    if (gsai_delta_block(delta) != block || !read_chunk(delta->chunks, SIZE_MAX, n_outputs, out))
        return false;
    delta->chunks += out->size;
    delta->n_chunks--;
    return true;
}

bool gsai_delta_seek(gsai_delta *delta, uint64_t block, size_t n_outputs, gsai_chunk *out)
{
    while (gsai_delta_block(delta) < block)
        (void)gsai_delta_next(delta, gsai_delta_block(delta), n_outputs, out);
    return gsai_delta_block(delta) == block && read_chunk(delta->chunks, SIZE_MAX, n_outputs, out);
}

void gsai_chunk_find(const gsai_chunk *of, size_t slot, size_t n_outputs, size_t i, gsai_sums *out)
{
    size_t block = gsai_sums_block(n_outputs), width = gsai_sums_width(n_outputs), rank = 0;
    const unsigned char *from = of->bits + block / 8;
    uint64_t bits = gsai_load_u64(of->bits + slot / 64 * 8);
    const uint32_t at = (uint32_t)i;
    if (!(bits >> slot % 64 & 1))
        return;
    for (size_t k = 0; k < slot / 64; k++)
        rank += (size_t)__builtin_popcountll(gsai_load_u64(of->bits + 8 * k));
    rank += (size_t)__builtin_popcountll(bits & ((UINT64_C(1) << slot % 64) - 1));
    for (size_t k = 0; k < width; k++, from += 4 * of->n)
        unpack(from + 4 * rank, &at, 1, out->sum + k * block);
    for (size_t half = 0; half < of->count_size / 4; half++, from += 4 * of->n)
        add_words(from + 4 * rank, &at, 1, half ? 0x1p32 : 1, out->count);
    out->touched[i] = of->touched_size == 0   ? 1
                      : of->touched_size == 1 ? (double)from[rank]
                                              : (double)u32_at(from + 4 * rank);
}

void gsai_chunk_take(const gsai_chunk *of, size_t n_slots, size_t n_outputs, gsai_sums *out)
{
    size_t block = gsai_sums_block(n_outputs), width = gsai_sums_width(n_outputs);
    const unsigned char *from = of->bits + block / 8;
    uint32_t at[GSAI_MAX_BLOCK];
    list_bits(of->bits, block, at);
    memset(out->count, 0, block * sizeof *out->count);
    memset(out->touched, 0, block * sizeof *out->touched);
    if (of->n < n_slots)
        memset(out->sum, 0, block * width * sizeof *out->sum);
    for (size_t k = 0; k < width; k++, from += 4 * of->n)
        unpack(from, at, of->n, out->sum + k * block);
    for (size_t half = 0; half < of->count_size / 4; half++, from += 4 * of->n)
        add_words(from, at, of->n, half ? 0x1p32 : 1, out->count);
    for (size_t j = 0; j < of->n && of->touched_size < 4; j++)
        /* NOLINTNEXTLINE(clang-analyzer-core.uninitialized.ArraySubscript): as in unpack */
        out->touched[at[j]] = of->touched_size ? (double)from[j] : 1;
    if (of->touched_size == 4)
        add_words(from, at, of->n, 1, out->touched);
}

/* ---- several into one -------------------------------------------------------------------------------------------- */

typedef struct reduction {
    gsai_delta *delta; /* of some copies each, and the chunks that are still to come */
    size_t n, n_outputs;
    gsai_tree tree;
} reduction;

/* Returns the next block of any delta; UINT64_MAX: none. */
static uint64_t next_block(const reduction *all)
{
    uint64_t next = UINT64_MAX;
    for (size_t s = 0; s < all->n; s++)
        if (gsai_delta_block(&all->delta[s]) < next)
            next = gsai_delta_block(&all->delta[s]);
    return next;
}

static void reduce_block(reduction *all, uint64_t block, gsai_sink *to)
{
    gsai_chunk of;
    size_t end = 0; /* of the copies that are in the tree */
    for (size_t s = 0; s < all->n; s++)
        while (gsai_delta_next(&all->delta[s], block, all->n_outputs, &of)) {
            size_t first = (size_t)all->delta[s].first_copy + of.first;
            gsai_tree_skip(&all->tree, end, first);
            gsai_chunk_take(&of, all->tree.n_slots, all->n_outputs, gsai_tree_next(&all->tree, first, of.n_copies));
            gsai_tree_grow(&all->tree);
            end = first + of.n_copies;
        }
    const gsai_delta *last = &all->delta[all->n - 1];
    gsai_tree_skip(&all->tree, end, (size_t)(last->first_copy + last->n_copies));
    gsai_sink_chunk(to, gsai_tree_sum(&all->tree), all->tree.n_slots, block, 0);
}

/* Slices of the same features, of copies that follow one another. */
static gsa_status open_all(reduction *all, const void *const *deltas, const size_t *sizes, gsa_error *error)
{
    uint64_t n_copies = 0;
    for (size_t s = 0; s < all->n; s++) {
        size_t n_outputs = 0;
        gsai_delta *delta = &all->delta[s];
        GSA_TRY(gsai_delta_open(GSAI_DELTA_OF_ONE, deltas[s], sizes[s], &n_outputs, delta, error));
        if (s > 0 && (n_outputs != all->n_outputs || delta->first != all->delta[0].first ||
                      delta->n_features != all->delta[0].n_features))
            return gsai_fail(error, GSA_CONFLICT, "deltas 1 and %zu are not of the same features", s + 1);
        if (delta->first_copy != n_copies)
            return gsai_fail(error, GSA_CONFLICT, "delta %zu begins with replica %llu, expected %llu", s + 1,
                             (unsigned long long)delta->first_copy, (unsigned long long)n_copies);
        n_copies += delta->n_copies;
        all->n_outputs = n_outputs;
    }
    return GSA_OK;
}

static gsa_status reduce_all(reduction *all, const gsai_env *env, gsa_write_fn write, void *ctx, gsa_error *error)
{
    gsai_sink to = {.write = write, .ctx = ctx};
    const gsai_delta *last = &all->delta[all->n - 1];
    gsai_delta reduced = {.first = last->first, .n_features = last->n_features};
    reduced.n_copies = last->first_copy + last->n_copies;
    /* Where there is no chunk, nothing tells whether there are so many outputs, and nothing needs room. */
    size_t n_outputs = next_block(all) == UINT64_MAX ? 1 : all->n_outputs;
    gsa_status status = gsai_sink_open(&to, n_outputs, env, error);
    to.n_outputs = all->n_outputs;
    if (status == GSA_OK && !gsai_tree_begin(&all->tree, (size_t)reduced.n_copies, n_outputs, env))
        status = gsai_fail_memory(env, error, "no memory to reduce %zu deltas", all->n);
    to.failed = status != GSA_OK;
    if (status == GSA_OK) {
        all->tree.n_slots = gsai_sums_block(all->n_outputs);
        gsai_sink_header(&to, GSAI_DELTA_REDUCED, &reduced);
        for (uint64_t block; !to.failed && (block = next_block(all)) != UINT64_MAX;)
            reduce_block(all, block, &to);
    }
    gsa_status closed = gsai_sink_close(&to, env, status == GSA_OK ? error : NULL);
    gsai_tree_end(&all->tree, env);
    return status == GSA_OK ? closed : status;
}

gsa_status gsa_deltas_reduce(const void *const *deltas, const size_t *sizes, size_t n_deltas, const gsa_memory *memory,
                             gsa_write_fn write, void *ctx, gsa_error *error)
{
    gsai_env resolved;
    GSA_TRY(gsai_env_take(&resolved, memory, NULL, error));
    reduction all = {.n = n_deltas};
    if (n_deltas == 0)
        return gsai_fail(error, GSA_ARGUMENT, "no deltas to reduce");
    all.delta = gsai_alloc(&resolved, n_deltas, sizeof *all.delta);
    gsa_status status = all.delta ? open_all(&all, deltas, sizes, error)
                                  : gsai_fail_memory(&resolved, error, "no memory to reduce %zu deltas", n_deltas);
    if (status == GSA_OK)
        status = reduce_all(&all, &resolved, write, ctx, error);
    gsai_free(&resolved, all.delta);
    return status;
}
