/* Deltas in memory and in bytes: added up, written, and several of them reduced to one. */
#include "merge/delta.h"

#include "base/byte_order.h"
#include "base/error.h"

#include <string.h>

#define HEADER_SIZE ((size_t)48)
#define CHUNK_HEADER_SIZE ((size_t)16)
#define WIDE UINT32_C(0x80000000)
/* Sizes of chunks and sums of a block do not overflow up to this. */
#define MAX_OUTPUTS (SIZE_MAX / 4096 < UINT32_MAX ? SIZE_MAX / 4096 : UINT32_MAX)

/* ---- chunks ------------------------------------------------------------------------------------------------------ */

typedef struct chunk {
    uint64_t block;
    size_t first, n_copies;          /* the run, from the first replica of the delta on */
    size_t n;                        /* features */
    size_t count_size, touched_size; /* bytes of their counts, and of the number of replicas that touched them */
    size_t size;                     /* bytes in all */
    const unsigned char *bits;
} chunk;

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

static size_t chunk_size(const chunk *of, size_t n_outputs)
{
    size_t record = gsai_sums_width(n_outputs) * sizeof(float) + of->count_size + of->touched_size;
    return CHUNK_HEADER_SIZE + gsai_sums_block(n_outputs) / 8 + of->n * record;
}

/* Writes the whole numbers of some slots: the lower half of each, or the upper one. */
static void pack_words(const double *from, const uint32_t *slot, size_t n, unsigned shift, unsigned char *out)
{
    for (size_t j = 0; j < n; j++)
        put_u32((uint32_t)((uint64_t)(int64_t)from[slot[j]] >> shift), out + 4 * j);
}

/* Writes the sums of the slots that were touched, as a chunk of this block; returns its size, 0 if none were. */
static size_t pack_chunk(const gsai_sums *sums, size_t n_outputs, const gsai_slots *slots, uint64_t number,
                         size_t first_copy, unsigned char *to)
{
    size_t block = gsai_sums_block(n_outputs);
    unsigned char *bits = to + CHUNK_HEADER_SIZE, *out = bits + block / 8;
    uint32_t slot[GSAI_MAX_BLOCK];
    chunk of = {.touched_size = touched_size_of(sums->n)};
    double max = 0;
    for (size_t i = 0; i < slots->n && !sums->is_empty; i++) {
        slot[of.n] = (uint32_t)i;
        of.n += sums->count[i] > 0;
        max = sums->count[i] > max ? sums->count[i] : max;
    }
    if (of.n == 0)
        return 0;
    of.count_size = max > UINT32_MAX ? 8 : 4;
    const uint32_t header[] = {(uint32_t)number, (uint32_t)(sums->first - first_copy), (uint32_t)sums->n,
                               (uint32_t)of.n | (of.count_size > 4 ? WIDE : 0)};
    for (size_t i = 0; i < 4; i++)
        put_u32(header[i], to + 4 * i);
    memset(bits, 0, block / 8);
    for (size_t j = 0; j < of.n; j++) {
        size_t place = gsai_slots_at(slots, slot[j]) - slots->first;
        bits[place / 8] |= (unsigned char)(1u << place % 8);
    }
    for (size_t k = 0; k < gsai_sums_width(n_outputs); k++, out += 4 * of.n) {
        for (size_t j = 0; j < of.n; j++) {
            gsai_cell cell = {.f = sums->sum[k * block + slot[j]]};
            put_u32(cell.u, out + 4 * j);
        }
    }
    for (unsigned half = 0; half < of.count_size / 4; half++, out += 4 * of.n)
        pack_words(sums->count, slot, of.n, 32 * half, out);
    for (size_t j = 0; j < of.n && of.touched_size == 1; j++)
        out[j] = (unsigned char)sums->touched[slot[j]];
    if (of.touched_size == 4)
        pack_words(sums->touched, slot, of.n, 0, out);
    return chunk_size(&of, n_outputs);
}

/* Reads the header of the chunk at these bytes; false if none of that size is there. */
static bool read_chunk(const unsigned char *at, size_t size, size_t n_outputs, chunk *out)
{
    if (size < CHUNK_HEADER_SIZE)
        return false;
    *out = (chunk){.block = u32_at(at),
                   .first = u32_at(at + 4),
                   .n_copies = u32_at(at + 8),
                   .n = u32_at(at + 12) & ~WIDE,
                   .count_size = u32_at(at + 12) & WIDE ? 8 : 4,
                   .bits = at + CHUNK_HEADER_SIZE};
    out->touched_size = touched_size_of(out->n_copies);
    out->size = out->n <= gsai_sums_block(n_outputs) ? chunk_size(out, n_outputs) : SIZE_MAX;
    return out->n > 0 && out->n_copies > 0 && out->size <= size;
}

/* Copies n features of a chunk, from place `first` in it on, to slots of sums that are zero there. */
static void unpack_chunk(const chunk *of, size_t n_outputs, size_t first, const uint32_t *slot, size_t n,
                         gsai_sums *out)
{
    size_t block = gsai_sums_block(n_outputs);
    const unsigned char *from = of->bits + block / 8;
    for (size_t k = 0; k < gsai_sums_width(n_outputs); k++, from += 4 * of->n) {
        float *sum = out->sum + k * block;
        for (size_t j = 0; j < n; j++) {
            gsai_cell cell = {.u = u32_at(from + 4 * (first + j))};
            sum[slot[j]] = cell.f;
        }
    }
    for (size_t half = 0; half < of->count_size / 4; half++, from += 4 * of->n)
        for (size_t j = 0; j < n; j++)
            out->count[slot[j]] += (half ? 0x1p32 : 1) * (double)u32_at(from + 4 * (first + j));
    for (size_t j = 0; j < n; j++)
        out->touched[slot[j]] = of->touched_size == 0   ? 1
                                : of->touched_size == 1 ? (double)from[first + j]
                                                        : (double)u32_at(from + 4 * (first + j));
}

/* ---- opening ----------------------------------------------------------------------------------------------------- */

/* Checks that bits are as many as was said, within the range; *end becomes the last one + 1, from the first of the
 * delta on. */
static bool has_right_bits(const chunk *of, const gsai_delta *delta, size_t block, uint64_t *end)
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
static bool check_chunks(uint64_t kind, const unsigned char *at, size_t size, gsai_delta *out)
{
    size_t n_outputs = out->n_outputs;
    uint64_t block = 0, n = 0, end = 0;
    size_t run = 0; /* where the next one may begin */
    for (; size > 0; n++) {
        chunk next;
        if (!read_chunk(at, size, n_outputs, &next) || next.block < block ||
            !has_right_bits(&next, out, gsai_sums_block(n_outputs), &end))
            return false;
        run = next.block > block ? 0 : run;
        bool is_part =
            (next.n_copies & (next.n_copies - 1)) == 0 && (out->first_copy + next.first) % next.n_copies == 0;
        if (next.first < run || (uint64_t)next.first + next.n_copies > out->n_copies ||
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

gsa_status gsai_delta_open(uint64_t kind, const void *bytes, size_t size, gsai_delta *out, gsa_error *error)
{
    const unsigned char *at = bytes;
    bool is_delta = size >= HEADER_SIZE + 8 && gsai_load_u64(at) == kind && gsai_load_u64(at + 8) >= 1 &&
                    gsai_load_u64(at + 8) <= MAX_OUTPUTS;
    if (is_delta) {
        *out = (gsai_delta){.chunks = at + HEADER_SIZE,
                            .n_outputs = (size_t)gsai_load_u64(at + 8),
                            .first = gsai_load_u64(at + 16),
                            .n_features = gsai_load_u64(at + 24),
                            .first_copy = gsai_load_u64(at + 32),
                            .n_copies = gsai_load_u64(at + 40),
                            .n_chunks = gsai_load_u64(at + size - 8)};
        is_delta = out->first <= GSA_MAX_ID && out->n_features <= UINT32_MAX && out->n_copies >= 1 &&
                   out->n_copies <= UINT32_MAX && out->first_copy <= UINT32_MAX - out->n_copies &&
                   check_chunks(kind, out->chunks, size - HEADER_SIZE - 8, out);
    }
    return is_delta ? GSA_OK : gsai_fail(error, GSA_FORMAT, "these bytes are no delta, or a damaged one");
}

gsai_delta gsai_delta_of(const gsai_resident *replica, size_t number)
{
    return (gsai_delta){.first_copy = number, .n_copies = 1, .end = replica->table->n_slots - 1, .resident = replica};
}

void gsai_delta_use(const gsai_delta *delta, gsai_table *table)
{
    size_t block = gsai_sums_block(delta->n_outputs);
    const unsigned char *at = delta->chunks;
    chunk of;
    for (uint64_t n = delta->n_chunks; n > 0 && read_chunk(at, SIZE_MAX, delta->n_outputs, &of); n--, at += of.size)
        for (size_t i = 0; i < block; i += 64)
            for (uint64_t rest = gsai_load_u64(of.bits + i / 8); rest != 0; rest &= rest - 1)
                gsai_table_use(table,
                               (size_t)(delta->first + of.block * block + i) + (size_t)__builtin_ctzll(rest) + 1);
}

/* ---- adding up --------------------------------------------------------------------------------------------------- */

/* Reads the first chunk of this block or of a later one; returns whether it is of this block. */
static bool seek(gsai_delta *delta, uint64_t block, size_t n_outputs, chunk *out)
{
    while (delta->n_chunks > 0 && read_chunk(delta->chunks, SIZE_MAX, n_outputs, out) && out->block < block) {
        delta->chunks += out->size;
        delta->n_chunks--;
    }
    return delta->n_chunks > 0 && out->block == block;
}

/* Adds slots of a delta as bytes: all chunks of a block of features, or those of a list. A list is asked for of reduced
 * deltas, so that all chunks are of one run. */
static void add_chunks(gsai_delta *delta, const gsai_slots *slots, gsai_adder *adder)
{
    size_t n_outputs = adder->n_outputs, size = gsai_sums_block(n_outputs);
    uint32_t slot[GSAI_MAX_BLOCK];
    chunk of;
    if (!slots->at) {
        uint64_t number = (slots->first - 1 - delta->first) / size;
        for (; seek(delta, number, n_outputs, &of); delta->n_chunks--, delta->chunks += of.size) {
            gsai_sums *sums = gsai_tree_next(&adder->tree, (size_t)delta->first_copy + of.first, of.n_copies);
            size_t n = 0;
            for (size_t i = 0; i < size; i += 64)
                for (uint64_t rest = gsai_load_u64(of.bits + i / 8); rest != 0; rest &= rest - 1)
                    slot[n++] = (uint32_t)i + (uint32_t)__builtin_ctzll(rest);
            gsai_sums_clear(sums, n_outputs);
            unpack_chunk(&of, n_outputs, 0, slot, n, sums);
            gsai_tree_grow(&adder->tree);
        }
        return;
    }
    gsai_sums *sums = gsai_tree_next(&adder->tree, (size_t)delta->first_copy, (size_t)delta->n_copies);
    gsai_sums_clear(sums, n_outputs);
    for (uint32_t i = 0; i < slots->n; i++) {
        uint64_t feature = slots->at[i] - 1 - delta->first, bit = feature % size;
        if (!seek(delta, feature / size, n_outputs, &of) || !(of.bits[bit / 8] >> bit % 8 & 1))
            continue;
        uint64_t below = gsai_load_u64(of.bits + bit / 64 * 8) & ((UINT64_C(1) << bit % 64) - 1);
        size_t place = (size_t)__builtin_popcountll(below);
        for (size_t word = 0; word < bit / 64; word++)
            place += (size_t)__builtin_popcountll(gsai_load_u64(of.bits + 8 * word));
        unpack_chunk(&of, n_outputs, place, &i, 1, sums);
    }
}

gsa_status gsai_adder_begin(gsai_adder *adder, size_t n_copies, size_t n_deltas, size_t n_outputs, const gsai_env *env,
                            gsa_error *error)
{
    size_t size = gsai_sums_block(n_outputs);
    *adder = (gsai_adder){.arena.env = env, .n_outputs = n_outputs, .n_deltas = n_deltas};
    float **const numbers[] = {&adder->steps.c, &adder->steps.all, &adder->steps.one, &adder->steps.step[0],
                               &adder->steps.step[1]};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        *numbers[i] = gsai_arena_take(&adder->arena, size, sizeof(float));
    adder->deltas = gsai_arena_take(&adder->arena, n_deltas, sizeof *adder->deltas);
    gsai_tree_begin(&adder->tree, n_copies, n_outputs, &adder->arena);
    gsai_view_begin(&adder->view, n_outputs, &adder->arena);
    gsai_view_begin(&adder->start, n_outputs, &adder->arena);
    return gsai_arena_check(&adder->arena, "the changes of replicas", error);
}

void gsai_adder_end(gsai_adder *adder)
{
    gsai_arena_release(&adder->arena);
}

gsa_status gsai_adder_add(gsai_adder *adder, const gsai_slots *slots, size_t first_copy, gsa_error *error)
{
    gsai_view *start = &adder->start;
    bool standardised = adder->continues && adder->base->is_standardised;
    if (adder->base)
        gsai_view_take(start, adder->base, slots);
    /* Averages begin at the average of the base, from which a new run started. */
    for (size_t i = 0; i < start->block * start->n_outputs && !adder->continues; i++) {
        start->last[i] -= start->behind[i];
        start->behind[i] = 0;
    }
    gsai_tree_clear(&adder->tree, first_copy, slots->n);
    for (size_t i = 0; i < adder->n_deltas; i++) {
        gsai_delta *delta = &adder->deltas[i];
        if (!delta->resident) {
            add_chunks(delta, slots, adder);
            continue;
        }
        /* A state in memory, as far as it has changed since the base. */
        gsai_sums *sums = gsai_tree_next(&adder->tree, (size_t)delta->first_copy, 1);
        gsai_view_take(&adder->view, delta->resident, slots);
        if (!adder->tree.kernels->sum_changes(sums, &adder->view, start, (float)(1 - delta->resident->fresh),
                                              standardised, slots->n))
            return gsai_fail(error, GSA_CONFLICT, "state %llu did not start from this base; give its own",
                             (unsigned long long)delta->first_copy + 1);
        gsai_tree_grow(&adder->tree);
    }
    return GSA_OK;
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

/* Returns the first slot from this one on that a replica in memory has, or the base; UINT64_MAX: none. */
static uint64_t next_used(const gsai_adder *adder, uint64_t slot)
{
    uint64_t next = UINT64_MAX;
    for (size_t i = 0; i <= adder->n_deltas; i++) {
        const gsai_table *table = (i < adder->n_deltas ? adder->deltas[i].resident : adder->base)->table;
        size_t own = slot < table->n_slots ? gsai_table_next(table, (size_t)slot) : table->n_slots;
        next = own < table->n_slots && own < next ? own : next;
    }
    return next;
}

/* Returns the next block, from this one on, with slots of a delta or of the base; UINT64_MAX: none. */
static uint64_t next_block(const gsai_adder *adder, const gsai_delta *header, uint64_t from)
{
    uint64_t next = UINT64_MAX, size = gsai_sums_block(adder->n_outputs);
    if (adder->base) {
        uint64_t slot = next_used(adder, header->first + from * size + 1);
        return slot <= header->first + header->n_features ? (slot - 1 - header->first) / size : UINT64_MAX;
    }
    for (size_t i = 0; i < adder->n_deltas; i++)
        if (adder->deltas[i].n_chunks > 0 && u32_at(adder->deltas[i].chunks) < next)
            next = u32_at(adder->deltas[i].chunks);
    return next;
}

gsa_status gsai_adder_write(gsai_adder *adder, uint64_t kind, const gsai_delta *header, gsa_write_fn write, void *ctx,
                            gsa_error *error)
{
    size_t n_outputs = adder->n_outputs, size = gsai_sums_block(n_outputs), first_copy = (size_t)header->first_copy;
    const uint64_t words[] = {
        kind, header->n_outputs, header->first, header->n_features, header->first_copy, header->n_copies};
    const chunk largest = {.n = size, .count_size = 8, .touched_size = 4};
    unsigned char *chunk_bytes = gsai_arena_take(&adder->arena, 1, chunk_size(&largest, n_outputs));
    unsigned char bytes[HEADER_SIZE];
    uint64_t n_chunks = 0;
    GSA_TRY(gsai_arena_check(&adder->arena, "a delta", error));
    for (size_t i = 0; i < HEADER_SIZE / 8; i++)
        gsai_store_u64(words[i], bytes + 8 * i);
    bool failed = write(ctx, bytes, HEADER_SIZE) != 0;
    for (uint64_t b = next_block(adder, header, 0); b != UINT64_MAX && !failed; b = next_block(adder, header, b + 1)) {
        uint64_t left = header->n_features - b * size;
        gsai_slots slots = {.first = (size_t)(header->first + b * size) + 1, .n = left < size ? (size_t)left : size};
        if (adder->base && adder->base->table->page) { /* those in use only */
            uint64_t end = slots.first + slots.n, slot = next_used(adder, slots.first);
            for (slots.at = adder->list, slots.n = 0; slot < end; slot = next_used(adder, slot + 1))
                adder->list[slots.n++] = (uint32_t)slot;
        }
        GSA_TRY(gsai_adder_add(adder, &slots, first_copy, error));
        if (kind == GSAI_DELTA_REDUCED) {
            (void)gsai_tree_sum(&adder->tree, first_copy + (size_t)header->n_copies);
            adder->tree.depth = 1;
        }
        for (size_t i = 0; i < adder->tree.depth && !failed; i++) {
            size_t n = pack_chunk(&adder->tree.at[i], n_outputs, &slots, b, first_copy, chunk_bytes);
            n_chunks += n > 0;
            failed = n > 0 && write(ctx, chunk_bytes, n) != 0;
        }
    }
    gsai_store_u64(n_chunks, bytes);
    failed = failed || write(ctx, bytes, 8) != 0;
    return failed ? gsai_fail(error, GSA_IO, "cannot write the bytes of a delta") : GSA_OK;
}

/* Opens deltas of the same features, of replicas that follow one another. */
static gsa_status open_all(const void *const *bytes, const size_t *sizes, size_t n, gsai_delta *out, gsa_error *error)
{
    uint64_t n_copies = 0;
    for (size_t i = 0; i < n; n_copies += out[i++].n_copies) {
        GSA_TRY(gsai_delta_open(GSAI_DELTA_OF_ONE, bytes[i], sizes[i], &out[i], error));
        if (out[i].n_outputs != out[0].n_outputs || out[i].first != out[0].first ||
            out[i].n_features != out[0].n_features)
            return gsai_fail(error, GSA_CONFLICT, "deltas 1 and %zu are not of the same features", i + 1);
        if (out[i].first_copy != n_copies)
            return gsai_fail(error, GSA_CONFLICT, "delta %zu begins with replica %llu, expected %llu", i + 1,
                             (unsigned long long)out[i].first_copy, (unsigned long long)n_copies);
    }
    return GSA_OK;
}

gsa_status gsa_deltas_reduce(const void *const *deltas, const size_t *sizes, size_t n_deltas, const gsa_memory *memory,
                             gsa_write_fn write, void *ctx, gsa_error *error)
{
    gsai_env env;
    uint64_t n_chunks = 0;
    GSA_TRY(gsai_env_take(&env, memory, NULL, error));
    if (n_deltas == 0)
        return gsai_fail(error, GSA_ARGUMENT, "no deltas to reduce");
    gsai_delta *open = gsai_alloc(&env, n_deltas, sizeof *open);
    GSAI_TRY_MEMORY(open, &env, error, "no memory to reduce %zu deltas", n_deltas);
    gsa_status status = open_all(deltas, sizes, n_deltas, open, error);
    if (status == GSA_OK) {
        gsai_adder adder;
        gsai_delta reduced = open[0];
        reduced.n_copies = open[n_deltas - 1].first_copy + open[n_deltas - 1].n_copies;
        for (size_t i = 0; i < n_deltas; i++)
            n_chunks += open[i].n_chunks;
        /* Without a chunk nothing confirms the number of outputs, and nothing needs room. */
        status =
            gsai_adder_begin(&adder, (size_t)reduced.n_copies, 0, n_chunks > 0 ? reduced.n_outputs : 1, &env, error);
        adder.deltas = open;
        adder.n_deltas = n_deltas;
        if (status == GSA_OK)
            status = gsai_adder_write(&adder, GSAI_DELTA_REDUCED, &reduced, write, ctx, error);
        gsai_adder_end(&adder);
    }
    gsai_free(&env, open);
    return status;
}
