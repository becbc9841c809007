/* The memory of the table, and of arrays. */
#include "learn/table.h"

#include "base/error.h"
#include "base/memory.h"

#include <string.h>

static gsa_status too_large(size_t n_slots, size_t n_outputs, uint64_t size, const gsai_env *env, gsa_error *error)
{
    char need[GSAI_SIZE_TEXT], limit[GSAI_SIZE_TEXT];
    if (n_outputs > 2)
        return gsai_fail_param(error, "loss", GSA_LIMIT,
                               "the label has %zu classes, which need a table of %s for %zu features, above "
                               "the memory limit of %s; choose squared loss if the label is a number, hash "
                               "words to fewer bits, or raise the limit",
                               n_outputs, gsai_size_text(size, need), n_slots - 1,
                               gsai_size_text(gsai_memory_limit(env), limit));
    return gsai_fail_param(error, "memory_limit", GSA_LIMIT,
                           "feature %zu" GSAI_NEEDS_TABLE "%s for %zu output%s, above the memory limit of %s",
                           n_slots - 1, gsai_size_text(size, need), n_outputs, n_outputs == 1 ? "" : "s",
                           gsai_size_text(gsai_memory_limit(env), limit));
}

static size_t record_size(size_t room)
{
    return (2 * room + 2) * sizeof(gsai_cell);
}

static size_t bits_size(size_t n_slots)
{
    return (n_slots + 63) / 64 * sizeof(uint64_t);
}

/* With this share in use a page of 256 records has eight on average: nearly none is untouched. */
#define HUGE_SHARE 32

/* Takes memory for the slots of an empty table of that room, and for up to `spare` more: as many as a quarter of what
 * the limit leaves is enough for, so that spare slots are never what lacks elsewhere. n_used slots will soon be in use.
 */
static gsa_status allocate(gsai_table *table, size_t spare, bool is_paged, size_t n_used, const gsai_env *env,
                           gsa_error *error)
{
    size_t size, all, n_slots = table->n_slots, record = record_size(table->room);
    if (!gsai_multiply(n_slots, record, &size) || size > gsai_memory_limit(env))
        return too_large(n_slots, table->n_outputs, (uint64_t)n_slots * record, env, error);
    uint64_t left = gsai_memory_left(env), affordable = left > size ? (left - size) / 4 / record : 0;
    table->capacity = n_slots + (spare < affordable ? spare : (size_t)affordable);
    size_t n_pages = is_paged ? table->capacity / GSAI_PAGE + 1 : 0; /* and one of zeros */
    bool fits = gsai_multiply(is_paged ? (n_pages + 1) * GSAI_PAGE : table->capacity, record, &size) &&
                gsai_add(size, bits_size(table->capacity) + n_pages * sizeof *table->page, &all);
    table->cells = fits ? gsai_alloc_zeroed(env, all, 1) : NULL;
    if (!table->cells) {
        char need[GSAI_SIZE_TEXT];
        return gsai_fail_memory(env, error, "no memory for a table of %s (%zu features, %zu output%s)",
                                gsai_size_text((uint64_t)table->capacity * record, need), n_slots - 1, table->n_outputs,
                                table->n_outputs == 1 ? "" : "s");
    }
    table->used = (uint64_t *)(void *)((char *)table->cells + size);
    table->page = is_paged ? (uint32_t *)(void *)((char *)table->used + bits_size(table->capacity)) : NULL;
    table->n_pages = 1;
    table->is_huge = is_paged || n_used >= table->capacity / HUGE_SHARE;
    if (table->is_huge)
        gsai_prefer_huge_pages(table->cells, size);
    gsai_table_use(table, 0);
    return GSA_OK;
}

/* Records may lie far apart: those of a word of the bitmap, at most this number, are asked for some words before they
 * are needed. */
#define WORDS_AHEAD 32
#define RECORDS_OF_WORD 8

size_t gsai_table_next_of_words(const gsai_table *table, size_t word)
{
    size_t n_words = (table->n_slots + 63) / 64;
    for (; word < n_words; word++) {
        uint64_t bits = table->used[word], ahead = word + WORDS_AHEAD < n_words ? table->used[word + WORDS_AHEAD] : 0;
        if (table->page) /* 64 slots have a line of it */
            __builtin_prefetch(&table->page[(word + 2 * WORDS_AHEAD) * (64 / GSAI_PAGE)]);
        for (int n = 0; ahead && n < RECORDS_OF_WORD; n++, ahead &= ahead - 1)
            __builtin_prefetch(gsai_table_slot(table, 64 * (word + WORDS_AHEAD) + (size_t)__builtin_ctzll(ahead)));
        if (bits)
            return 64 * word + (size_t)__builtin_ctzll(bits);
    }
    return table->n_slots;
}

void gsai_table_use_all(gsai_table *table, const gsai_table *from)
{
    for (size_t word = 0; word < (from->n_slots + 63) / 64; word++) {
        uint64_t more = from->used[word] & ~table->used[word];
        for (uint64_t rest = table->page ? more : 0; rest != 0; rest &= rest - 1)
            gsai_table_map(table, 64 * word + (size_t)__builtin_ctzll(rest));
        table->used[word] |= more;
        table->n_used += (size_t)__builtin_popcountll(more);
    }
}

gsa_status gsai_array_grow(void *array, size_t n, size_t element, const gsai_env *env, gsa_error *error)
{
    struct {
        void *at;
        size_t n, capacity;
    } grown;
    memcpy(&grown, array, sizeof grown);
    if (n <= grown.n)
        return GSA_OK;
    bool is_new = !grown.at; /* its pages stay untouched */
    if (is_new && (grown.at = gsai_alloc_zeroed(env, n, element)))
        grown.capacity = n;
    GSAI_TRY_MEMORY(is_new ? grown.at != NULL : gsai_reserve(env, &grown.at, &grown.capacity, n, element), env, error,
                    "no memory for %zu numbers of a state", n);
    if (!is_new)
        memset((char *)grown.at + grown.n * element, 0, (n - grown.n) * element);
    grown.n = n;
    memcpy(array, &grown, sizeof grown);
    return GSA_OK;
}

gsa_status gsai_table_init(gsai_table *table, size_t n_slots, size_t n_outputs, const gsai_env *env, gsa_error *error)
{
    *table = (gsai_table){.n_slots = n_slots, .n_outputs = n_outputs, .room = gsai_table_padded(n_outputs)};
    gsa_status status = allocate(table, 0, false, n_slots, env, error);
    if (status != GSA_OK)
        *table = (gsai_table){0};
    return status;
}

void gsai_table_release(gsai_table *table, const gsai_env *env)
{
    gsai_free(env, table->cells);
    memset(table, 0, sizeof *table);
}

/* Words of the bitmap with this number of slots in use are copied whole: the others are zeros (T3). */
#define DENSE_WORD 12

/* Into a table with memory for as many slots and at least as many outputs. */
static void copy_records(gsai_table *to, const gsai_table *from)
{
    size_t record = record_size(to->room), page = GSAI_PAGE * record, size = from->n_outputs * sizeof(gsai_cell);
    size_t n_slots = to->n_slots > from->n_slots ? to->n_slots : from->n_slots, n = from->n_pages;
    bool is_same = to->room == from->room, has_pages = is_same && to->page && from->page;
    if (has_pages) {
        if (to->n_pages > 1) /* of a new table the index is zero, and most of it is never touched */
            memset(to->page, 0, (to->n_slots + GSAI_PAGE - 1) / GSAI_PAGE * sizeof *to->page);
        memcpy(to->cells, from->cells, n * page);
        memset((char *)to->cells + n * page, 0, to->n_pages > n ? (to->n_pages - n) * page : 0);
        to->n_pages = n;
    }
    to->n_used = 0;
    for (size_t first = 0; first < n_slots; first += 64) {
        uint64_t used = first < from->n_slots ? from->used[first / 64] : 0, old = to->used[first / 64];
        if (used != old)
            to->used[first / 64] = used;
        to->n_used += (size_t)__builtin_popcountll(used);
        n = (from->n_slots + GSAI_PAGE - 1 - first) / GSAI_PAGE;
        if (has_pages && used)
            memcpy(to->page + first / GSAI_PAGE, from->page + first / GSAI_PAGE,
                   (n < 64 / GSAI_PAGE ? n : 64 / GSAI_PAGE) * sizeof *to->page);
        if (is_same && !to->page && !from->page && __builtin_popcountll(used) >= DENSE_WORD) {
            n = from->n_slots - first < 64 ? from->n_slots - first : 64;
            memcpy(gsai_table_slot(to, first), gsai_table_slot(from, first), n * record);
            old &= n < 64 ? ~UINT64_C(0) << n : 0;
            used = 0;
        }
        for (old = has_pages ? 0 : old; old != 0; old &= old - 1)
            memset(gsai_table_slot(to, first + (size_t)__builtin_ctzll(old)), 0, record);
        for (used = has_pages ? 0 : used; used != 0; used &= used - 1) {
            size_t slot = first + (size_t)__builtin_ctzll(used);
            gsai_table_map(to, slot);
            const gsai_cell *source = gsai_table_slot(from, slot);
            gsai_cell *target = gsai_table_slot(to, slot);
            memcpy(target, source, size);
            memcpy(target + gsai_table_average(to), source + gsai_table_average(from), size);
            memcpy(target + gsai_table_mean(to), source + gsai_table_mean(from), 2 * sizeof(gsai_cell)); /* and count */
        }
    }
}

/* Smaller tables, and those of which this part is in use, have no pages. */
#define MIN_SLOTS_PAGED ((size_t)1 << 14)
#define MAX_SLOTS_PAGED ((size_t)1 << 31)
#define MAX_USED_PAGED(n_slots) ((n_slots) / 4)

static bool is_sparse(const gsai_table *table, size_t n_slots)
{
    return !table->is_whole && table->n_used < MAX_USED_PAGED(n_slots) && n_slots >= MIN_SLOTS_PAGED &&
           n_slots <= MAX_SLOTS_PAGED;
}

/* Moves all into new memory, for these slots and outputs and some to spare. */
static gsa_status move(gsai_table *table, size_t n_slots, size_t spare, size_t n_outputs, size_t room,
                       const gsai_env *env, gsa_error *error)
{
    gsai_table moved = {.n_slots = n_slots, .n_outputs = n_outputs, .room = room, .is_whole = table->is_whole};
    GSA_TRY(allocate(&moved, spare, is_sparse(table, n_slots), table->n_used, env, error));
    copy_records(&moved, table);
    gsai_free(env, table->cells);
    *table = moved;
    return GSA_OK;
}

gsa_status gsai_table_grow(gsai_table *table, size_t n_slots, const gsai_env *env, gsa_error *error)
{
    size_t spare = table->capacity > n_slots / 4 ? table->capacity / 2 : n_slots / 8;
    if (n_slots > table->capacity)
        return move(table, n_slots, spare, table->n_outputs, table->room, env, error);
    if (n_slots > table->n_slots)
        table->n_slots = n_slots;
    return GSA_OK;
}

void gsai_table_settle(gsai_table *table, const gsai_env *env)
{
    if (!table->is_huge && table->n_used >= table->capacity / HUGE_SHARE) {
        table->is_huge = true;
        gsai_prefer_huge_pages(table->cells, table->capacity * record_size(table->room));
    }
    if (table->page && !is_sparse(table, table->n_slots)) /* out of memory it stays as it is */
        (void)move(table, table->n_slots, table->capacity - table->n_slots, table->n_outputs, table->room, env, NULL);
}

gsa_status gsai_table_copy(gsai_table *to, const gsai_table *from, const gsai_env *env, gsa_error *error)
{
    if (!from->cells || !to->cells || to->room != from->room || to->capacity < from->n_slots ||
        !to->page != !from->page) {
        gsai_table_release(to, env);
        if (!from->cells) /* nothing was decided yet */
            return GSA_OK;
        *to = (gsai_table){.n_slots = from->n_slots, .n_outputs = from->n_outputs, .room = from->room};
        GSA_TRY(allocate(to, 0, from->page != NULL, from->n_used, env, error));
    }
    copy_records(to, from);
    to->is_whole = from->is_whole;
    to->n_slots = from->n_slots;
    to->n_outputs = from->n_outputs;
    return GSA_OK;
}

gsa_status gsai_table_widen(gsai_table *table, size_t n_outputs, const gsai_env *env, gsa_error *error)
{
    /* Half as much room again, so that classes that come one by one are not copied one by one. */
    if (n_outputs > table->room)
        GSA_TRY(move(table, table->n_slots, 0, n_outputs,
                     gsai_table_padded(n_outputs > 2 ? n_outputs + table->room / 2 : n_outputs), env, error));
    if (n_outputs > table->n_outputs)
        table->n_outputs = n_outputs;
    return GSA_OK;
}

void gsai_table_clear_average(gsai_table *table)
{
    GSAI_EACH_SLOT(slot, table)
    {
        gsai_cell *average = gsai_table_slot(table, slot) + gsai_table_average(table);
        for (size_t k = 0; k < table->n_outputs; k++)
            if (average[k].f != 0) /* a -0 stays */
                average[k].f = 0;
    }
}

gsai_line_tensor gsai_table_lines(const gsai_table *table, const char *name, gsai_dtype dtype, size_t cell,
                                  uint64_t limit)
{
    bool is_wide = cell < gsai_table_mean(table);
    return (gsai_line_tensor){.key = {name, dtype, limit},
                              .n_dims = is_wide ? 2 : 1,
                              .width = is_wide ? table->n_outputs : 1,
                              .page = table->page,
                              .at = table->cells ? (char *)(table->cells + cell) : NULL,
                              .stride = gsai_table_stride(table) * sizeof *table->cells,
                              .n = table->n_slots};
}
