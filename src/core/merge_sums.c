/* Blocks of slots: taken from states, added up in a tree. */
#include "core/merge_sums.h"

#include "base/memory.h"

#include <string.h>

/* ---- the tree ---------------------------------------------------------------------------------------------------- */

bool gsa__tree_begin(gsa__tree *tree, size_t n_states, size_t n_outputs, const gsa_env *env)
{
    size_t n_levels = 3, block = gsa__sums_block(n_outputs), width = gsa__sums_width(n_outputs);
    for (size_t n = n_states; n > 0; n /= 2)
        n_levels += 2; /* a run may begin and end with parts of every size */
    *tree = (gsa__tree){.n_outputs = n_outputs, .kernels = gsa__kernels_best()};
    tree->at = gsa__alloc(env, n_levels, sizeof *tree->at);
    double *memory = tree->memory = gsa__alloc_zeroed(env, n_levels, block * (width + 4) * sizeof(float));
    for (size_t i = 0; tree->at && memory && i < n_levels; i++, memory += block * (width + 4) / 2)
        tree->at[i] = (gsa__sums){.count = memory, .met = memory + block, .sum = (float *)(memory + 2 * block)};
    return tree->at && memory;
}

void gsa__tree_end(gsa__tree *tree, const gsa_env *env)
{
    gsa__free(env, tree->at);
    gsa__free(env, tree->memory);
}

gsa__sums *gsa__tree_next(gsa__tree *tree, size_t first, size_t n)
{
    gsa__sums *next = &tree->at[tree->depth++];
    next->first = first;
    next->n = n;
    next->is_empty = false;
    return next;
}

void gsa__sums_clear(gsa__sums *sums, size_t n_outputs)
{
    size_t block = gsa__sums_block(n_outputs);
    memset(sums->count, 0, block * sizeof *sums->count);
    memset(sums->met, 0, block * sizeof *sums->met);
    memset(sums->sum, 0, gsa__sums_width(n_outputs) * block * sizeof *sums->sum);
    sums->is_empty = false;
}

/* The uppermost two become one. */
static void join(gsa__tree *tree)
{
    gsa__sums *right = &tree->at[--tree->depth], *left = right - 1;
    size_t first = left->first, n_states = left->n + right->n;
    if (left->is_empty) {
        gsa__sums nothing = *left;
        *left = *right;
        *right = nothing;
    }
    left->first = first;
    left->n = n_states;
    if (right->is_empty)
        return;
    tree->kernels->add_sums(left, right, tree->n_outputs, tree->n_slots);
}

void gsa__tree_grow(gsa__tree *tree)
{
    for (; tree->depth > 1; join(tree)) {
        const gsa__sums *right = &tree->at[tree->depth - 1], *left = right - 1;
        if (left->n != right->n || left->first % (2 * left->n) != 0)
            return;
    }
}

void gsa__tree_skip(gsa__tree *tree, size_t first, size_t end)
{
    for (size_t n; first < end; first += n) {
        for (n = 1; first % (2 * n) == 0 && 2 * n <= end - first;)
            n *= 2;
        gsa__tree_next(tree, first, n)->is_empty = true;
        gsa__tree_grow(tree);
    }
}

gsa__sums *gsa__tree_sum(gsa__tree *tree)
{
    while (tree->depth > 1)
        join(tree);
    tree->depth = 0;
    return &tree->at[0];
}

/* ---- slots of a state -------------------------------------------------------------------------------------------- */

bool gsa__view_begin(gsa__view *view, size_t n_outputs, const gsa_env *env)
{
    size_t block = gsa__sums_block(n_outputs);
    double *memory = gsa__alloc_zeroed(env, block, (n_outputs + 2) * sizeof *memory);
    *view = (gsa__view){.block = block, .n_outputs = n_outputs, .memory = memory};
    if (!memory)
        return false;
    view->mass = memory;
    view->count = memory + block;
    view->last = (float *)(memory + 2 * block);
    view->lag = view->last + block * n_outputs;
    return true;
}

/* One output of a state into the outputs of the merged one. */
static void place(const gsa__merged *from, size_t output, float weight, size_t block, float *out)
{
    if (from->split) {
        for (size_t label = 0; label < from->state->labels.n; label++)
            out[from->to[label] * block] = label == 1 ? weight / 2 : -weight / 2;
    } else if (from->table->n_outputs > 1) {
        out[from->to[output] * block] = weight;
    } else {
        out[0] = from->sign * weight;
    }
}

/* Slots whose records are asked for before they are taken. */
#define AHEAD 16

/* Slots that do not lie side by side, or outputs that are not those of the merged one. */
static void take_each(gsa__view *view, const gsa__merged *from, const gsa__slots *slots, size_t n)
{
    const gsa__table *table = from->table;
    size_t n_own = table->n_outputs > 1 ? from->state->labels.n : 1, size = view->block * view->n_outputs;
    memset(view->last, 0, size * sizeof *view->last);
    memset(view->lag, 0, size * sizeof *view->lag);
    for (size_t k = 0; k < view->n_outputs && gsa__slots_at(slots, 0) == 0 && view->n_outputs > 1; k++)
        view->last[k * view->block] = from->unseen;
    for (size_t i = 0; i < n; i++) {
        const gsa__cell *record = gsa__table_slot(table, gsa__slots_at(slots, i));
        if (i + AHEAD < n)
            __builtin_prefetch(gsa__table_slot(table, gsa__slots_at(slots, i + AHEAD)));
        const gsa__cell *terms = record + gsa__table_average(table);
        for (size_t k = 0; k < n_own; k++) {
            place(from, k, record[k].f, view->block, view->last + i);
            place(from, k, terms[k].f * (float)from->per_total, view->block, view->lag + i);
        }
        view->count[i] = (double)(int32_t)record[gsa__table_count(table)].u;
        view->mass[i] = (double)record[gsa__table_mean(table)].f * view->count[i];
    }
}

void gsa__view_ask(const gsa__merged *from, const gsa__slots *slots)
{
    const gsa__table *table = from->table;
    if (!table || slots->at || slots->first + slots->n > table->n_slots)
        return;
    const char *record = (const char *)gsa__table_slot(table, slots->first);
    size_t size = slots->n * gsa__table_stride(table) * sizeof(gsa__cell);
    for (size_t at = 0; at < size && at < 8192; at += 64)
        __builtin_prefetch(record + at, 0, 2);
}

void gsa__view_take(gsa__view *view, const gsa__merged *from, const gsa__slots *slots)
{
    const gsa__table *table = from->table;
    size_t n = slots->n, first = gsa__slots_at(slots, 0);
    while (n > 0 && (!table || gsa__slots_at(slots, n - 1) >= table->n_slots))
        n--;
    if (n < slots->n)
        memset(view->memory, 0, view->block * (view->n_outputs + 2) * sizeof(double));
    if (n == 0)
        return;
    if (from->is_placed || slots->at)
        take_each(view, from, slots, n);
    else
        from->state->kernels->view_records(view, gsa__table_slot(table, first), table->room, n, (float)from->per_total);
    const gsa__carried *carried = &from->state->carried;
    for (size_t i = 0; i < n && gsa__slots_at(slots, i) < carried->n; i++) {
        view->mass[i] += carried->mass[gsa__slots_at(slots, i)];
        view->count[i] += (double)carried->count[gsa__slots_at(slots, i)];
    }
    for (size_t i = 0; i < n && from->weight != 1; i++)
        view->mass[i] *= from->weight;
    if (first == 0)
        view->last[0] += from->origin;
}
