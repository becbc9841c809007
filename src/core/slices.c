/* Slices: what copies have learned of some features, in bytes.
 *
 *   1 A slice is of a range of features and of copies that follow one another. A block of features (merge_sums.h) is a
 *     chunk for every run of its copies that has met any: a run is a whole part of the tree, so that sums of several
 *     slices add up to the same bits. United, a slice is of all copies, which are one run.
 *   2 A slice is a head of six words of eight bytes (kind, outputs, first feature, features, first copy, copies), the
 *     chunks, by block and run, and how many these are.
 *   3 A chunk is four words of four bytes (block, first copy of the run from that of the slice on, copies, features |
 *     WIDE if counts have eight bytes), a bit for every feature of the block that a copy of the run has met; and of
 *     these the rows of the sums in floats, the counts, and how many copies met each: nothing for one copy, one byte
 * for up to 255, else four. 4 All of it is little-endian, and nothing is aligned. */
#include "core/change.h"
#include "core/merge.h"

#include "base/byte_order.h"
#include "base/error.h"
#include "base/memory.h"

#include <string.h>

#define HEAD_SIZE ((size_t)48)
#define CHUNK_HEAD_SIZE ((size_t)16)
#define WIDE UINT32_C(0x80000000)

#define CHANGE UINT64_C(0x32474e4843415347) /* "GSACHNG2" */
#define UNITED UINT64_C(0x3254494e55415347) /* "GSAUNIT2" */

/* ---- chunks ------------------------------------------------------------------------------------------------------ */

static uint32_t u32_at(const unsigned char *bytes)
{
    return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static void put_u32(uint32_t number, unsigned char *out)
{
    for (int i = 0; i < 4; i++)
        out[i] = (unsigned char)(number >> (8 * i));
}

typedef struct chunk {
    uint64_t block;
    size_t first, n_copies;      /* the run, from the first copy of the slice on */
    size_t n;                    /* features */
    size_t count_size, met_size; /* bytes of their counts, and of the number of copies that met them */
    size_t size;                 /* bytes in all */
    const unsigned char *bits;
} chunk;

static size_t met_size_of(size_t n_copies)
{
    return n_copies == 1 ? 0 : n_copies <= UINT8_MAX ? 1 : 4;
}

static size_t chunk_size(const chunk *of, size_t n_outputs)
{
    size_t record = gsa__sums_width(n_outputs) * sizeof(float) + of->count_size + of->met_size;
    return CHUNK_HEAD_SIZE + gsa__sums_block(n_outputs) / 8 + of->n * record;
}

/* NOLINTBEGIN(clang-analyzer-core.uninitialized.ArraySubscript): `at` has as many numbers as n says, of bits or slots
 */
/* Numbers of a block to where they come together, and back again. */
static void pack(const float *from, const uint32_t *at, size_t n, unsigned char *out)
{
    for (size_t j = 0; j < n; j++)
        memcpy(out + 4 * j, &from[at[j]], 4);
    if (!gsa__machine_is_little_endian())
        gsa__swap_bytes(out, n, 4);
}

static void unpack(const unsigned char *from, const uint32_t *at, size_t n, float *out)
{
    for (size_t j = 0; j < n; j++) {
        gsa__cell cell = {.u = u32_at(from + 4 * j)};
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
        for (uint64_t rest = gsa__load_u64(bits + i / 8); rest != 0; rest &= rest - 1)
            *at++ = (uint32_t)i + (uint32_t)__builtin_ctzll(rest);
}

/* ---- out --------------------------------------------------------------------------------------------------------- */

typedef struct sink {
    gsa_write_fn write;
    void *ctx;
    bool failed;
    uint64_t n_chunks;
    size_t n_outputs;
    unsigned char *chunk; /* room for the largest */
} sink;

static gsa_status open_sink(sink *to, size_t n_outputs, const gsa_env *env, gsa_error *error)
{
    chunk largest = {.n = gsa__sums_block(n_outputs), .count_size = 8, .met_size = 4};
    to->n_outputs = n_outputs;
    to->chunk = gsa__alloc(env, 1, chunk_size(&largest, n_outputs));
    return to->chunk ? GSA_OK : gsa__fail(error, GSA_MEMORY, "no memory for a slice");
}

static void put(sink *to, const void *bytes, size_t size)
{
    to->failed = to->failed || to->write(to->ctx, bytes, size) != 0;
}

static void put_head(sink *to, uint64_t kind, const gsa__slice *of)
{
    const uint64_t head[] = {kind, to->n_outputs, of->first, of->n_features, of->first_copy, of->n_copies};
    unsigned char bytes[HEAD_SIZE];
    for (size_t i = 0; i < HEAD_SIZE / 8; i++)
        gsa__store_u64(head[i], bytes + 8 * i);
    put(to, bytes, sizeof bytes);
}

static gsa_status close_sink(sink *to, const gsa_env *env, gsa_error *error)
{
    unsigned char last[8];
    gsa__store_u64(to->n_chunks, last);
    put(to, last, sizeof last);
    gsa__free(env, to->chunk);
    return to->failed ? gsa__fail(error, GSA_IO, "the bytes of a slice could not be written") : GSA_OK;
}

/* Which slots were met, as bits and as numbers; and whether a count needs eight bytes. */
static void find_met(const gsa__sums *sums, size_t n_slots, chunk *of, unsigned char *bits, uint32_t *at)
{
    double most = 0;
    for (size_t i = 0; i < n_slots; i++) {
        at[of->n] = (uint32_t)i;
        of->n += sums->count[i] > 0;
        most = sums->count[i] > most ? sums->count[i] : most;
    }
    for (size_t j = 0; j < of->n; j++)
        /* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): n of them were written above */
        bits[at[j] / 8] |= (unsigned char)(1u << at[j] % 8);
    of->count_size = most > UINT32_MAX ? 8 : 4;
}

static void put_chunk(sink *to, const gsa__sums *sums, size_t n_slots, uint64_t number, size_t first_copy)
{
    size_t block = gsa__sums_block(to->n_outputs), width = gsa__sums_width(to->n_outputs);
    unsigned char *bits = to->chunk + CHUNK_HEAD_SIZE, *out = bits + block / 8;
    uint32_t at[GSA__BLOCK_MOST];
    chunk of = {.met_size = met_size_of(sums->n)};
    memset(bits, 0, block / 8);
    if (!sums->is_empty)
        find_met(sums, n_slots, &of, bits, at);
    if (of.n == 0)
        return;
    const uint32_t head[] = {(uint32_t)number, (uint32_t)(sums->first - first_copy), (uint32_t)sums->n,
                             (uint32_t)of.n | (of.count_size > 4 ? WIDE : 0)};
    for (size_t i = 0; i < 4; i++)
        put_u32(head[i], to->chunk + 4 * i);
    for (size_t k = 0; k < width; k++, out += 4 * of.n)
        pack(sums->sum + k * block, at, of.n, out);
    for (unsigned half = 0; half < of.count_size / 4; half++, out += 4 * of.n)
        pack_words(sums->count, at, of.n, 32 * half, out);
    for (size_t j = 0; j < of.n && of.met_size == 1; j++)
        out[j] = (unsigned char)sums->met[at[j]];
    if (of.met_size == 4)
        pack_words(sums->met, at, of.n, 0, out);
    put(to, to->chunk, chunk_size(&of, to->n_outputs));
    to->n_chunks++;
}

/* ---- changes ----------------------------------------------------------------------------------------------------- */

/* A copy of the base with the same labels: what it is merged into has the same outputs. */
static gsa_status check_copy(const gsa_state *copy, const gsa_state *base, gsa_error *error)
{
    if (!base || copy->loss != base->loss || copy->loss == GSA__UNDECIDED ||
        !gsa__labels_equal(&copy->labels, &base->labels))
        return gsa__fail(error, GSA_CONFLICT,
                         "slices are of copies of a base that knows all labels: prepare the base with all of them");
    return gsa__state_continues(copy, base) && !copy->contest && !base->contest
               ? GSA_OK
               : gsa__fail(error, GSA_CONFLICT, "slices are of copies that go on from the base that is given");
}

static gsa_status put_changes(gsa__merging *merging, const gsa__slice *of, sink *to, gsa_error *error)
{
    size_t end = 1, block = gsa__sums_block(merging->n_outputs);
    gsa_status status = GSA_OK;
    for (size_t s = 0; s < merging->n_states; s++)
        end = merging->states[s]->table.n_slots > end ? merging->states[s]->table.n_slots : end;
    if (of->first + of->n_features + 1 < end)
        end = (size_t)(of->first + of->n_features) + 1;
    put_head(to, CHANGE, of);
    for (uint64_t b = 0; of->first + b * block + 1 < end && status == GSA_OK && !to->failed; b++) {
        size_t first = (size_t)(of->first + b * block) + 1, n = end - first < block ? end - first : block;
        gsa__merging_start(merging, first, n);
        status = gsa__merging_add(merging, (size_t)of->first_copy, first, n, error);
        for (size_t i = 0; i < merging->tree.depth && status == GSA_OK; i++)
            put_chunk(to, &merging->tree.at[i], n, b, (size_t)of->first_copy);
        merging->tree.depth = 0;
    }
    return status;
}

gsa_status gsa_state_write_slice(const gsa_state *const *copies, size_t n_copies, size_t first_copy,
                                 const gsa_state *base, uint64_t first, uint64_t n_features, gsa_write_fn write,
                                 void *ctx, gsa_error *error)
{
    gsa_status status = GSA_OK, closed;
    if (n_copies == 0 || n_copies > UINT32_MAX || first_copy > UINT32_MAX - n_copies)
        return gsa__fail(error, GSA_ARGUMENT, "a slice has 1 to 2^32 - 1 copies");
    for (size_t s = 0; s < n_copies && status == GSA_OK; s++)
        status = check_copy(copies[s], base, error);
    if (status != GSA_OK)
        return status;
    if (n_features == 0 || n_features > UINT32_MAX || first > GSA_MAX_ID)
        return gsa__fail(error, GSA_ARGUMENT, "a slice has 1 to 2^32 - 1 features, the first at most 2^32 - 3");
    gsa__slice of = {.first = first, .n_features = n_features, .first_copy = first_copy, .n_copies = n_copies};
    gsa__merging merging = {.states = copies, .n_states = n_copies, .base = base, .goes_on = true};
    sink to = {.write = write, .ctx = ctx};
    status = gsa__merging_begin(&merging, error);
    if (status == GSA_OK)
        status = open_sink(&to, merging.n_outputs, merging.env, error);
    if (status == GSA_OK)
        status = put_changes(&merging, &of, &to, error);
    to.failed = to.failed || status != GSA_OK;
    closed = close_sink(&to, merging.env, status == GSA_OK ? error : NULL);
    gsa__merging_end(&merging);
    return status == GSA_OK ? closed : status;
}

/* ---- in ---------------------------------------------------------------------------------------------------------- */

/* The chunk at these bytes; false if there is none of that size. */
static bool read_chunk(const unsigned char *at, size_t size, size_t n_outputs, chunk *out)
{
    size_t block = gsa__sums_block(n_outputs);
    if (size < CHUNK_HEAD_SIZE)
        return false;
    *out = (chunk){.block = u32_at(at),
                   .first = u32_at(at + 4),
                   .n_copies = u32_at(at + 8),
                   .n = u32_at(at + 12) & ~WIDE,
                   .count_size = u32_at(at + 12) & WIDE ? 8 : 4,
                   .bits = at + CHUNK_HEAD_SIZE};
    out->met_size = met_size_of(out->n_copies);
    out->size = out->n <= block ? chunk_size(out, n_outputs) : SIZE_MAX;
    return out->n > 0 && out->n_copies > 0 && out->size <= size;
}

/* Bits are as many as was said, within the range; *end becomes the last one + 1, from the first of the slice on. */
static bool has_right_bits(const chunk *of, const gsa__slice *slice, size_t block, uint64_t *end)
{
    size_t n = 0, last = 0;
    for (size_t i = 0; i < block; i += 64) {
        uint64_t bits = gsa__load_u64(of->bits + i / 8);
        n += (size_t)__builtin_popcountll(bits);
        last = bits ? i + 64 - (size_t)__builtin_clzll(bits) : last;
    }
    *end = of->block * block + last;
    return n == of->n && *end <= slice->n_features && slice->first + *end <= GSA_MAX_ID + (uint64_t)1;
}

/* Chunks ascend, and a run is a part of the tree, or everything. */
static bool check_chunks(uint64_t kind, const unsigned char *at, size_t size, size_t n_outputs, gsa__slice *out)
{
    uint64_t block = 0, n = 0, end = 0;
    size_t run = 0; /* where the next one may begin */
    for (; size > 0; n++) {
        chunk next;
        if (!read_chunk(at, size, n_outputs, &next) || next.block < block ||
            !has_right_bits(&next, out, gsa__sums_block(n_outputs), &end))
            return false;
        run = next.block > block ? 0 : run;
        bool is_part =
            (next.n_copies & (next.n_copies - 1)) == 0 && (out->first_copy + next.first) % next.n_copies == 0;
        if (next.first < run || next.first + next.n_copies > out->n_copies ||
            !(kind == UNITED ? next.n_copies == out->n_copies : is_part))
            return false;
        run = next.first + next.n_copies;
        block = next.block;
        at += next.size;
        size -= next.size;
    }
    out->end = n > 0 ? out->first + end : 0;
    return n == out->n_chunks;
}

static gsa_status open_slice(uint64_t kind, const void *bytes, size_t size, size_t *n_outputs, gsa__slice *out,
                             gsa_error *error)
{
    const unsigned char *at = bytes;
    bool is_slice = size >= HEAD_SIZE + 8 && gsa__load_u64(at) == kind && gsa__load_u64(at + 8) >= 1 &&
                    gsa__load_u64(at + 8) <= UINT32_MAX;
    if (is_slice) {
        *n_outputs = (size_t)gsa__load_u64(at + 8);
        *out = (gsa__slice){.chunks = at + HEAD_SIZE,
                            .first = gsa__load_u64(at + 16),
                            .n_features = gsa__load_u64(at + 24),
                            .first_copy = gsa__load_u64(at + 32),
                            .n_copies = gsa__load_u64(at + 40),
                            .n_chunks = gsa__load_u64(at + size - 8)};
        is_slice = out->first <= GSA_MAX_ID && out->n_features <= UINT32_MAX && out->n_copies >= 1 &&
                   out->n_copies <= UINT32_MAX && out->first_copy <= UINT32_MAX - out->n_copies &&
                   check_chunks(kind, out->chunks, size - HEAD_SIZE - 8, *n_outputs, out);
    }
    return is_slice ? GSA_OK : gsa__fail(error, GSA_FORMAT, "these bytes are not a slice of changes, or a damaged one");
}

static void take_chunk(const chunk *of, size_t n_slots, size_t n_outputs, gsa__sums *out)
{
    size_t block = gsa__sums_block(n_outputs), width = gsa__sums_width(n_outputs);
    const unsigned char *from = of->bits + block / 8;
    uint32_t at[GSA__BLOCK_MOST];
    list_bits(of->bits, block, at);
    memset(out->count, 0, block * sizeof *out->count);
    memset(out->met, 0, block * sizeof *out->met);
    if (of->n < n_slots)
        memset(out->sum, 0, block * width * sizeof *out->sum);
    for (size_t k = 0; k < width; k++, from += 4 * of->n)
        unpack(from, at, of->n, out->sum + k * block);
    for (size_t half = 0; half < of->count_size / 4; half++, from += 4 * of->n)
        add_words(from, at, of->n, half ? 0x1p32 : 1, out->count);
    for (size_t j = 0; j < of->n && of->met_size < 4; j++)
        /* NOLINTNEXTLINE(clang-analyzer-core.uninitialized.ArraySubscript): as in unpack */
        out->met[at[j]] = of->met_size ? (double)from[j] : 1;
    if (of->met_size == 4)
        add_words(from, at, of->n, 1, out->met);
}

/* ---- uniting ----------------------------------------------------------------------------------------------------- */

typedef struct union_of {
    gsa__slice *slice; /* of some copies each, and the chunks that are still to come */
    size_t n, n_outputs;
    gsa__tree tree;
} union_of;

static bool comes_next(const union_of *all, size_t s, uint64_t block, chunk *out)
{
    const gsa__slice *slice = &all->slice[s];
    return slice->n_chunks > 0 && read_chunk(slice->chunks, SIZE_MAX, all->n_outputs, out) && out->block == block;
}

/* The next block that somebody has met; UINT64_MAX: none. */
static uint64_t next_block(const union_of *all)
{
    uint64_t next = UINT64_MAX;
    for (size_t s = 0; s < all->n; s++)
        if (all->slice[s].n_chunks > 0 && u32_at(all->slice[s].chunks) < next)
            next = u32_at(all->slice[s].chunks);
    return next;
}

static void unite_block(union_of *all, uint64_t block, sink *to)
{
    chunk of;
    size_t end = 0; /* of the copies that are in the tree */
    for (size_t s = 0; s < all->n; s++)
        for (; comes_next(all, s, block, &of); all->slice[s].chunks += of.size, all->slice[s].n_chunks--) {
            size_t first = (size_t)all->slice[s].first_copy + of.first;
            gsa__tree_skip(&all->tree, end, first);
            take_chunk(&of, all->tree.n_slots, all->n_outputs, gsa__tree_next(&all->tree, first, of.n_copies));
            gsa__tree_grow(&all->tree);
            end = first + of.n_copies;
        }
    const gsa__slice *last = &all->slice[all->n - 1];
    gsa__tree_skip(&all->tree, end, (size_t)(last->first_copy + last->n_copies));
    put_chunk(to, gsa__tree_sum(&all->tree), all->tree.n_slots, block, 0);
}

/* Slices of the same features, of copies that follow one another. */
static gsa_status open_all(union_of *all, const void *const *slices, const size_t *sizes, gsa_error *error)
{
    gsa_status status = GSA_OK;
    uint64_t n_copies = 0;
    for (size_t s = 0; s < all->n && status == GSA_OK; s++) {
        size_t n_outputs = 0;
        gsa__slice *slice = &all->slice[s];
        status = open_slice(CHANGE, slices[s], sizes[s], &n_outputs, slice, error);
        if (status != GSA_OK)
            break;
        if (s > 0 && (n_outputs != all->n_outputs || slice->first != all->slice[0].first ||
                      slice->n_features != all->slice[0].n_features))
            status = gsa__fail(error, GSA_CONFLICT, "slices 1 and %zu are not of the same features", s + 1);
        else if (slice->first_copy != n_copies)
            status = gsa__fail(error, GSA_CONFLICT, "slice %zu begins with copy %llu, expected %llu", s + 1,
                               (unsigned long long)slice->first_copy, (unsigned long long)n_copies);
        n_copies += slice->n_copies;
        all->n_outputs = n_outputs;
    }
    return status;
}

static gsa_status unite_all(union_of *all, const gsa_env *env, gsa_write_fn write, void *ctx, gsa_error *error)
{
    sink to = {.write = write, .ctx = ctx};
    const gsa__slice *last = &all->slice[all->n - 1];
    gsa__slice united = {.first = last->first, .n_features = last->n_features};
    united.n_copies = last->first_copy + last->n_copies;
    /* Where there is no chunk, nothing tells whether there are so many outputs, and nothing needs room. */
    size_t n_outputs = next_block(all) == UINT64_MAX ? 1 : all->n_outputs;
    gsa_status status = open_sink(&to, n_outputs, env, error);
    to.n_outputs = all->n_outputs;
    if (status == GSA_OK && !gsa__tree_begin(&all->tree, (size_t)united.n_copies, n_outputs, env))
        status = gsa__fail(error, GSA_MEMORY, "no memory to unite %zu slices", all->n);
    to.failed = status != GSA_OK;
    if (status == GSA_OK) {
        all->tree.n_slots = gsa__sums_block(all->n_outputs);
        put_head(&to, UNITED, &united);
        for (uint64_t block; !to.failed && (block = next_block(all)) != UINT64_MAX;)
            unite_block(all, block, &to);
    }
    gsa_status closed = close_sink(&to, env, status == GSA_OK ? error : NULL);
    gsa__tree_end(&all->tree, env);
    return status == GSA_OK ? closed : status;
}

gsa_status gsa_slices_unite(const void *const *slices, const size_t *sizes, size_t n_slices, const gsa_env *env,
                            gsa_write_fn write, void *ctx, gsa_error *error)
{
    gsa_env resolved = gsa__env_resolve(env);
    union_of all = {.n = n_slices};
    if (n_slices == 0)
        return gsa__fail(error, GSA_ARGUMENT, "no slices to unite");
    all.slice = gsa__alloc(&resolved, n_slices, sizeof *all.slice);
    gsa_status status = all.slice ? open_all(&all, slices, sizes, error)
                                  : gsa__fail(error, GSA_MEMORY, "no memory to unite %zu slices", n_slices);
    if (status == GSA_OK)
        status = unite_all(&all, &resolved, write, ctx, error);
    gsa__free(&resolved, all.slice);
    return status;
}

/* ---- joining ----------------------------------------------------------------------------------------------------- */

/* Slots [first, end) are those of a slice from its block 0 on. */
static void take_slice(gsa__merging *merging, const gsa__slice *slice, size_t first, size_t end)
{
    const unsigned char *next = slice->chunks;
    size_t block = gsa__sums_block(merging->n_outputs);
    uint64_t left = slice->n_chunks;
    for (uint64_t b = 0; first < end; b++, first += block) {
        size_t n = end - first < block ? end - first : block;
        gsa__sums *sums = &merging->tree.at[0];
        chunk of;
        sums->is_empty = !(left > 0 && read_chunk(next, SIZE_MAX, merging->n_outputs, &of) && of.block == b);
        if (!sums->is_empty) {
            take_chunk(&of, n, merging->n_outputs, sums);
            next += of.size;
            left--;
        }
        gsa__merging_start(merging, first, n);
        gsa__merging_enter(merging, sums, first, n);
    }
}

void gsa__slices_take(gsa__merging *merging)
{
    const gsa__slice nothing = {0};
    size_t n_slots = merging->into->table.n_slots, slot = 1;
    for (size_t i = 0; i < merging->n_slices && slot < n_slots; i++) {
        uint64_t end = 1 + merging->slices[i].first + merging->slices[i].n_features;
        size_t from = slot;
        slot = end < n_slots ? (size_t)end : n_slots;
        take_slice(merging, &merging->slices[i], from, slot);
    }
    take_slice(merging, &nothing, slot, n_slots);
}

/* Slices of all copies that follow one another from the first feature on: none is there twice, and none is missing but
 * for the last ones, which nobody can tell. */
static gsa_status open_united(const gsa__merging *merging, const void *const *united, const size_t *sizes,
                              gsa__slice *out, gsa_error *error)
{
    gsa_status status = GSA_OK;
    for (size_t i = 0; i < merging->n_slices && status == GSA_OK; i++) {
        size_t n_outputs = 0;
        uint64_t first = i == 0 ? 0 : out[i - 1].first + out[i - 1].n_features;
        status = open_slice(UNITED, united[i], sizes[i], &n_outputs, &out[i], error);
        if (status == GSA_OK && out[i].first != first)
            status = gsa__fail(error, GSA_CONFLICT, "slice %zu begins with feature %llu, expected %llu", i + 1,
                               (unsigned long long)out[i].first, (unsigned long long)first);
        else if (status == GSA_OK &&
                 (n_outputs != merging->base->table.n_outputs || out[i].n_copies != merging->n_states))
            status = gsa__fail(
                error, GSA_CONFLICT, "slice %zu is of %llu copies with %zu outputs, expected %zu with %zu", i + 1,
                (unsigned long long)out[i].n_copies, n_outputs, merging->n_states, merging->base->table.n_outputs);
    }
    return status;
}

gsa_status gsa_state_merge_slices(const gsa_state *const *heads, size_t n_copies, const gsa_state *base,
                                  const void *const *united, const size_t *sizes, size_t n_slices, const gsa_env *env,
                                  gsa_state **out, gsa_error *error)
{
    gsa_env resolved = gsa__env_resolve(env);
    if (n_copies < 2 || n_slices == 0)
        return gsa__fail(error, GSA_ARGUMENT, "a merge of slices has two copies or more, and a slice: %zu and %zu",
                         n_copies, n_slices);
    gsa_status status = GSA_OK;
    for (size_t s = 0; s < n_copies && status == GSA_OK; s++)
        status = check_copy(heads[s], base, error);
    if (status == GSA_OK)
        status = gsa__merge_check_pairs(heads, n_copies, base, error);
    gsa__slice *slices = gsa__alloc(&resolved, n_slices, sizeof *slices);
    gsa__merging merging = {
        .states = heads, .n_states = n_copies, .base = base, .slices = slices, .n_slices = n_slices};
    if (status == GSA_OK)
        status = slices ? open_united(&merging, united, sizes, slices, error)
                        : gsa__fail(error, GSA_MEMORY, "no memory for %zu slices", n_slices);
    if (status == GSA_OK)
        status = gsa__merge_run(&merging, env, out, error);
    gsa__free(&resolved, slices);
    return status;
}
