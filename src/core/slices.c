/* Slices: what copies have learned of some features, written by one process, united and joined by others. Their bytes
 * are in slice_bytes.h. */
#include "core/change.h"
#include "core/merge.h"
#include "core/slice_bytes.h"

#include "base/error.h"
#include "base/memory.h"

/* ---- changes ----------------------------------------------------------------------------------------------------- */

/* A copy of the base with the same labels: what it is merged into has the same outputs. */
static gsa_status check_copy(const gsa_state *copy, const gsa_state *base, gsa_error *error)
{
    if (!base || copy->loss != base->loss || !copy->loss || !gsa__labels_equal(&copy->labels, &base->labels))
        return gsa__fail(error, GSA_CONFLICT,
                         "slices are of copies of a base that knows all labels: prepare the base with all of them");
    if (copy->group.n_rows > 0 || base->group.n_rows > 0)
        return gsa__fail(error, GSA_ARGUMENT, "rows still wait for their group: gsa_state_close_group learns them");
    return gsa__state_continues(copy, base) && !copy->contest && !base->contest
               ? GSA_OK
               : gsa__fail(error, GSA_CONFLICT, "slices are of copies that go on from the base that is given");
}

static gsa_status put_changes(gsa__merging *merging, const gsa__slice *of, gsa__sink *to, gsa_error *error)
{
    size_t end = 1, block = gsa__sums_block(merging->n_outputs);
    gsa_status status = GSA_OK;
    for (size_t s = 0; s < merging->n_states; s++)
        end = merging->states[s]->table.n_slots > end ? merging->states[s]->table.n_slots : end;
    if (of->first + of->n_features + 1 < end)
        end = (size_t)(of->first + of->n_features) + 1;
    gsa__sink_head(to, GSA__SLICE_CHANGE, of);
    for (uint64_t b = 0; of->first + b * block + 1 < end && status == GSA_OK && !to->failed; b++) {
        gsa__slots slots = {.first = (size_t)(of->first + b * block) + 1};
        slots.n = end - slots.first < block ? end - slots.first : block;
        status = gsa__merging_add(merging, (size_t)of->first_copy, &slots, error);
        for (size_t i = 0; i < merging->tree.depth && status == GSA_OK; i++)
            gsa__sink_chunk(to, &merging->tree.at[i], slots.n, b, (size_t)of->first_copy);
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
    gsa__sink to = {.write = write, .ctx = ctx};
    status = gsa__merging_begin(&merging, error);
    if (status == GSA_OK)
        status = gsa__sink_open(&to, merging.n_outputs, merging.env, error);
    if (status == GSA_OK)
        status = put_changes(&merging, &of, &to, error);
    to.failed = to.failed || status != GSA_OK;
    closed = gsa__sink_close(&to, merging.env, status == GSA_OK ? error : NULL);
    gsa__merging_end(&merging);
    return status == GSA_OK ? closed : status;
}

/* ---- uniting ----------------------------------------------------------------------------------------------------- */

typedef struct union_of {
    gsa__slice *slice; /* of some copies each, and the chunks that are still to come */
    size_t n, n_outputs;
    gsa__tree tree;
} union_of;

/* The next block that somebody has met; UINT64_MAX: none. */
static uint64_t next_block(const union_of *all)
{
    uint64_t next = UINT64_MAX;
    for (size_t s = 0; s < all->n; s++)
        if (gsa__slice_block(&all->slice[s]) < next)
            next = gsa__slice_block(&all->slice[s]);
    return next;
}

static void unite_block(union_of *all, uint64_t block, gsa__sink *to)
{
    gsa__chunk of;
    size_t end = 0; /* of the copies that are in the tree */
    for (size_t s = 0; s < all->n; s++)
        while (gsa__slice_next(&all->slice[s], block, all->n_outputs, &of)) {
            size_t first = (size_t)all->slice[s].first_copy + of.first;
            gsa__tree_skip(&all->tree, end, first);
            gsa__chunk_take(&of, all->tree.n_slots, all->n_outputs, gsa__tree_next(&all->tree, first, of.n_copies));
            gsa__tree_grow(&all->tree);
            end = first + of.n_copies;
        }
    const gsa__slice *last = &all->slice[all->n - 1];
    gsa__tree_skip(&all->tree, end, (size_t)(last->first_copy + last->n_copies));
    gsa__sink_chunk(to, gsa__tree_sum(&all->tree), all->tree.n_slots, block, 0);
}

/* Slices of the same features, of copies that follow one another. */
static gsa_status open_all(union_of *all, const void *const *slices, const size_t *sizes, gsa_error *error)
{
    gsa_status status = GSA_OK;
    uint64_t n_copies = 0;
    for (size_t s = 0; s < all->n && status == GSA_OK; s++) {
        size_t n_outputs = 0;
        gsa__slice *slice = &all->slice[s];
        status = gsa__slice_open(GSA__SLICE_CHANGE, slices[s], sizes[s], &n_outputs, slice, error);
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
    gsa__sink to = {.write = write, .ctx = ctx};
    const gsa__slice *last = &all->slice[all->n - 1];
    gsa__slice united = {.first = last->first, .n_features = last->n_features};
    united.n_copies = last->first_copy + last->n_copies;
    /* Where there is no chunk, nothing tells whether there are so many outputs, and nothing needs room. */
    size_t n_outputs = next_block(all) == UINT64_MAX ? 1 : all->n_outputs;
    gsa_status status = gsa__sink_open(&to, n_outputs, env, error);
    to.n_outputs = all->n_outputs;
    if (status == GSA_OK && !gsa__tree_begin(&all->tree, (size_t)united.n_copies, n_outputs, env))
        status = gsa__fail_memory(env, error, "no memory to unite %zu slices", all->n);
    to.failed = status != GSA_OK;
    if (status == GSA_OK) {
        all->tree.n_slots = gsa__sums_block(all->n_outputs);
        gsa__sink_head(&to, GSA__SLICE_UNITED, &united);
        for (uint64_t block; !to.failed && (block = next_block(all)) != UINT64_MAX;)
            unite_block(all, block, &to);
    }
    gsa_status closed = gsa__sink_close(&to, env, status == GSA_OK ? error : NULL);
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
                                  : gsa__fail_memory(&resolved, error, "no memory to unite %zu slices", n_slices);
    if (status == GSA_OK)
        status = unite_all(&all, &resolved, write, ctx, error);
    gsa__free(&resolved, all.slice);
    return status;
}

/* ---- joining ----------------------------------------------------------------------------------------------------- */

gsa__sums *gsa__slices_find(gsa__merging *merging, const gsa__slots *slots)
{
    gsa__sums *sums = &merging->tree.at[0];
    size_t block = gsa__sums_block(merging->n_outputs);
    gsa__sums_clear(sums, merging->n_outputs);
    for (size_t i = 0; i < slots->n; i++) {
        uint64_t feature = gsa__slots_at(slots, i) - 1;
        while (merging->found.n_features > 0 && feature - merging->found.first >= merging->found.n_features)
            merging->found =
                ++merging->n_found < merging->n_slices ? merging->slices[merging->n_found] : (gsa__slice){0};
        feature -= merging->found.first;
        gsa__chunk of;
        if (gsa__slice_seek(&merging->found, feature / block, merging->n_outputs, &of))
            gsa__chunk_find(&of, feature % block, merging->n_outputs, i, sums);
    }
    return sums;
}

/* Its slots are those of the slice from its block 0 on; the last one has all that follow. */
void gsa__slices_enter(gsa__merging *merging, size_t number)
{
    gsa__slice left = merging->slices[number];
    size_t block = gsa__sums_block(merging->n_outputs), n_slots = merging->into->table.n_slots;
    uint64_t end = number + 1 < merging->n_slices ? 1 + left.first + left.n_features : n_slots;
    end = end < n_slots ? end : n_slots;
    for (uint64_t b = 0, first = 1 + left.first; first < end; b++, first += block) {
        size_t n = end - first < block ? (size_t)(end - first) : block;
        gsa__sums *sums = &merging->tree.at[0];
        gsa__chunk of;
        sums->is_empty = !gsa__slice_next(&left, b, merging->n_outputs, &of);
        if (!sums->is_empty)
            gsa__chunk_take(&of, n, merging->n_outputs, sums);
        gsa__merging_enter(merging, sums, (size_t)first, n);
    }
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
        status = gsa__slice_open(GSA__SLICE_UNITED, united[i], sizes[i], &n_outputs, &out[i], error);
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
                        : gsa__fail_memory(&resolved, error, "no memory for %zu slices", n_slices);
    if (status == GSA_OK)
        status = gsa__merge_run(&merging, env, out, error);
    gsa__free(&resolved, slices);
    return status;
}
