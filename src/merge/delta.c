/* Slices: what copies have learned of some features, written by one process, united and joined by others. Their bytes
 * are in slice_bytes.h. */
#include "merge/change.h"
#include "merge/delta_bytes.h"
#include "merge/merge.h"

#include "base/error.h"
#include "base/memory.h"

/* ---- changes ----------------------------------------------------------------------------------------------------- */

/* A copy of the base with the same labels: what it is merged into has the same outputs. */
static gsa_status check_copy(const gsa_state *copy, const gsa_state *base, gsa_error *error)
{
    if (!base || copy->loss != base->loss || !copy->loss || !gsai_labels_equal(&copy->labels, &base->labels))
        return gsai_fail(error, GSA_CONFLICT,
                         "slices are of copies of a base that knows all labels: prepare the base with all of them");
    if (copy->group.n_rows > 0 || base->group.n_rows > 0)
        return gsai_fail(error, GSA_ARGUMENT, "rows still wait for their group: gsa_state_close_group learns them");
    return gsai_state_continues(copy, base) && !copy->contest && !base->contest
               ? GSA_OK
               : gsai_fail(error, GSA_CONFLICT, "slices are of copies that go on from the base that is given");
}

static gsa_status put_changes(gsai_merging *merging, const gsai_delta *of, gsai_sink *to, gsa_error *error)
{
    size_t end = 1, block = gsai_sums_block(merging->n_outputs);
    gsa_status status = GSA_OK;
    for (size_t s = 0; s < merging->n_states; s++)
        end = merging->states[s]->table.n_slots > end ? merging->states[s]->table.n_slots : end;
    if (of->first + of->n_features + 1 < end)
        end = (size_t)(of->first + of->n_features) + 1;
    gsai_sink_head(to, GSAI_DELTA_OF_ONE, of);
    for (uint64_t b = 0; of->first + b * block + 1 < end && status == GSA_OK && !to->failed; b++) {
        gsai_slots slots = {.first = (size_t)(of->first + b * block) + 1};
        slots.n = end - slots.first < block ? end - slots.first : block;
        status = gsai_merging_add(merging, (size_t)of->first_copy, &slots, error);
        for (size_t i = 0; i < merging->tree.depth && status == GSA_OK; i++)
            gsai_sink_chunk(to, &merging->tree.at[i], slots.n, b, (size_t)of->first_copy);
        merging->tree.depth = 0;
    }
    return status;
}

gsa_status gsa_state_write_delta(const gsa_state *const *copies, size_t n_copies, size_t first_copy,
                                 const gsa_state *base, uint64_t first, uint64_t n_features, gsa_write_fn write,
                                 void *ctx, gsa_error *error)
{
    gsa_status status = GSA_OK, closed;
    if (n_copies == 0 || n_copies > UINT32_MAX || first_copy > UINT32_MAX - n_copies)
        return gsai_fail(error, GSA_ARGUMENT, "a slice has 1 to 2^32 - 1 copies");
    for (size_t s = 0; s < n_copies && status == GSA_OK; s++)
        status = check_copy(copies[s], base, error);
    if (status != GSA_OK)
        return status;
    if (n_features == 0 || n_features > UINT32_MAX || first > GSA_MAX_ID)
        return gsai_fail(error, GSA_ARGUMENT, "a slice has 1 to 2^32 - 1 features, the first at most 2^32 - 3");
    gsai_delta of = {.first = first, .n_features = n_features, .first_copy = first_copy, .n_copies = n_copies};
    gsai_merging merging = {.states = copies, .n_states = n_copies, .base = base, .goes_on = true};
    gsai_sink to = {.write = write, .ctx = ctx};
    status = gsai_merging_begin(&merging, error);
    if (status == GSA_OK)
        status = gsai_sink_open(&to, merging.n_outputs, merging.env, error);
    if (status == GSA_OK)
        status = put_changes(&merging, &of, &to, error);
    to.failed = to.failed || status != GSA_OK;
    closed = gsai_sink_close(&to, merging.env, status == GSA_OK ? error : NULL);
    gsai_merging_end(&merging);
    return status == GSA_OK ? closed : status;
}

/* ---- uniting ----------------------------------------------------------------------------------------------------- */

typedef struct union_of {
    gsai_delta *delta; /* of some copies each, and the chunks that are still to come */
    size_t n, n_outputs;
    gsai_tree tree;
} union_of;

/* The next block that somebody has met; UINT64_MAX: none. */
static uint64_t next_block(const union_of *all)
{
    uint64_t next = UINT64_MAX;
    for (size_t s = 0; s < all->n; s++)
        if (gsai_delta_block(&all->delta[s]) < next)
            next = gsai_delta_block(&all->delta[s]);
    return next;
}

static void unite_block(union_of *all, uint64_t block, gsai_sink *to)
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
static gsa_status open_all(union_of *all, const void *const *deltas, const size_t *sizes, gsa_error *error)
{
    gsa_status status = GSA_OK;
    uint64_t n_copies = 0;
    for (size_t s = 0; s < all->n && status == GSA_OK; s++) {
        size_t n_outputs = 0;
        gsai_delta *delta = &all->delta[s];
        status = gsai_delta_open(GSAI_DELTA_OF_ONE, deltas[s], sizes[s], &n_outputs, delta, error);
        if (status != GSA_OK)
            break;
        if (s > 0 && (n_outputs != all->n_outputs || delta->first != all->delta[0].first ||
                      delta->n_features != all->delta[0].n_features))
            status = gsai_fail(error, GSA_CONFLICT, "slices 1 and %zu are not of the same features", s + 1);
        else if (delta->first_copy != n_copies)
            status = gsai_fail(error, GSA_CONFLICT, "slice %zu begins with copy %llu, expected %llu", s + 1,
                               (unsigned long long)delta->first_copy, (unsigned long long)n_copies);
        n_copies += delta->n_copies;
        all->n_outputs = n_outputs;
    }
    return status;
}

static gsa_status unite_all(union_of *all, const gsa_env *env, gsa_write_fn write, void *ctx, gsa_error *error)
{
    gsai_sink to = {.write = write, .ctx = ctx};
    const gsai_delta *last = &all->delta[all->n - 1];
    gsai_delta united = {.first = last->first, .n_features = last->n_features};
    united.n_copies = last->first_copy + last->n_copies;
    /* Where there is no chunk, nothing tells whether there are so many outputs, and nothing needs room. */
    size_t n_outputs = next_block(all) == UINT64_MAX ? 1 : all->n_outputs;
    gsa_status status = gsai_sink_open(&to, n_outputs, env, error);
    to.n_outputs = all->n_outputs;
    if (status == GSA_OK && !gsai_tree_begin(&all->tree, (size_t)united.n_copies, n_outputs, env))
        status = gsai_fail_memory(env, error, "no memory to unite %zu slices", all->n);
    to.failed = status != GSA_OK;
    if (status == GSA_OK) {
        all->tree.n_slots = gsai_sums_block(all->n_outputs);
        gsai_sink_head(&to, GSAI_DELTA_REDUCED, &united);
        for (uint64_t block; !to.failed && (block = next_block(all)) != UINT64_MAX;)
            unite_block(all, block, &to);
    }
    gsa_status closed = gsai_sink_close(&to, env, status == GSA_OK ? error : NULL);
    gsai_tree_end(&all->tree, env);
    return status == GSA_OK ? closed : status;
}

gsa_status gsa_deltas_reduce(const void *const *deltas, const size_t *sizes, size_t n_deltas, const gsa_env *env,
                             gsa_write_fn write, void *ctx, gsa_error *error)
{
    gsa_env resolved = gsai_env_resolve(env);
    union_of all = {.n = n_deltas};
    if (n_deltas == 0)
        return gsai_fail(error, GSA_ARGUMENT, "no slices to unite");
    all.delta = gsai_alloc(&resolved, n_deltas, sizeof *all.delta);
    gsa_status status = all.delta ? open_all(&all, deltas, sizes, error)
                                  : gsai_fail_memory(&resolved, error, "no memory to unite %zu slices", n_deltas);
    if (status == GSA_OK)
        status = unite_all(&all, &resolved, write, ctx, error);
    gsai_free(&resolved, all.delta);
    return status;
}

/* ---- joining ----------------------------------------------------------------------------------------------------- */

/* Slices of all copies that follow one another from the first feature on: none is there twice, and none is missing but
 * for the last ones, which nobody can tell. */
static gsa_status open_united(const gsai_merging *merging, const void *const *united, const size_t *sizes,
                              gsai_delta *out, gsa_error *error)
{
    gsa_status status = GSA_OK;
    for (size_t i = 0; i < merging->n_deltas && status == GSA_OK; i++) {
        size_t n_outputs = 0;
        uint64_t first = i == 0 ? 0 : out[i - 1].first + out[i - 1].n_features;
        status = gsai_delta_open(GSAI_DELTA_REDUCED, united[i], sizes[i], &n_outputs, &out[i], error);
        if (status == GSA_OK && out[i].first != first)
            status = gsai_fail(error, GSA_CONFLICT, "slice %zu begins with feature %llu, expected %llu", i + 1,
                               (unsigned long long)out[i].first, (unsigned long long)first);
        else if (status == GSA_OK &&
                 (n_outputs != merging->base->table.n_outputs || out[i].n_copies != merging->n_states))
            status = gsai_fail(
                error, GSA_CONFLICT, "slice %zu is of %llu copies with %zu outputs, expected %zu with %zu", i + 1,
                (unsigned long long)out[i].n_copies, n_outputs, merging->n_states, merging->base->table.n_outputs);
    }
    return status;
}

gsa_status gsa_state_merge_deltas(const gsa_state *const *heads, size_t n_copies, const gsa_state *base,
                                  const void *const *united, const size_t *sizes, size_t n_deltas, const gsa_env *env,
                                  gsa_state **out, gsa_error *error)
{
    gsa_env resolved = gsai_env_resolve(env);
    if (n_copies < 2 || n_deltas == 0)
        return gsai_fail(error, GSA_ARGUMENT, "a merge of slices has two copies or more, and a slice: %zu and %zu",
                         n_copies, n_deltas);
    gsa_status status = GSA_OK;
    for (size_t s = 0; s < n_copies && status == GSA_OK; s++)
        status = check_copy(heads[s], base, error);
    if (status == GSA_OK)
        status = gsai_merge_check_pairs(heads, n_copies, base, error);
    gsai_delta *deltas = gsai_alloc(&resolved, n_deltas, sizeof *deltas);
    gsai_merging merging = {
        .states = heads, .n_states = n_copies, .base = base, .deltas = deltas, .n_deltas = n_deltas};
    if (status == GSA_OK)
        status = deltas ? open_united(&merging, united, sizes, deltas, error)
                        : gsai_fail_memory(&resolved, error, "no memory for %zu slices", n_deltas);
    if (status == GSA_OK)
        status = gsai_merge_run(&merging, env, out, error);
    gsai_free(&resolved, deltas);
    return status;
}
