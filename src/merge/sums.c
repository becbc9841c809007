/* Blocks of slots: taken from states, added up in a tree. */
#include "merge/sums.h"

#include "base/memory.h"

#include <string.h>

/* ---- the tree ---------------------------------------------------------------------------------------------------- */

bool gsai_tree_begin(gsai_tree *tree, size_t n_states, size_t n_outputs, const gsa_env *env)
{
    size_t n_levels = 3, block = gsai_sums_block(n_outputs), width = gsai_sums_width(n_outputs);
    for (size_t n = n_states; n > 0; n /= 2)
        n_levels += 2; /* a run may begin and end with parts of every size */
    *tree = (gsai_tree){.n_outputs = n_outputs, .kernels = gsai_kernels_best()};
    tree->at = gsai_alloc(env, n_levels, sizeof *tree->at);
    double *memory = tree->memory = gsai_alloc_zeroed(env, n_levels, block * (width + 4) * sizeof(float));
    for (size_t i = 0; tree->at && memory && i < n_levels; i++, memory += block * (width + 4) / 2)
        tree->at[i] = (gsai_sums){.count = memory, .met = memory + block, .sum = (float *)(memory + 2 * block)};
    return tree->at && memory;
}

void gsai_tree_end(gsai_tree *tree, const gsa_env *env)
{
    gsai_free(env, tree->at);
    gsai_free(env, tree->memory);
}

gsai_sums *gsai_tree_next(gsai_tree *tree, size_t first, size_t n)
{
    gsai_sums *next = &tree->at[tree->depth++];
    next->first = first;
    next->n = n;
    next->is_empty = false;
    return next;
}

void gsai_sums_clear(gsai_sums *sums, size_t n_outputs)
{
    size_t block = gsai_sums_block(n_outputs);
    memset(sums->count, 0, block * sizeof *sums->count);
    memset(sums->met, 0, block * sizeof *sums->met);
    memset(sums->sum, 0, gsai_sums_width(n_outputs) * block * sizeof *sums->sum);
    sums->is_empty = false;
}

/* The uppermost two become one. */
static void join(gsai_tree *tree)
{
    gsai_sums *right = &tree->at[--tree->depth], *left = right - 1;
    size_t first = left->first, n_states = left->n + right->n;
    if (left->is_empty) {
        gsai_sums nothing = *left;
        *left = *right;
        *right = nothing;
    }
    left->first = first;
    left->n = n_states;
    if (right->is_empty)
        return;
    tree->kernels->add_sums(left, right, tree->n_outputs, tree->n_slots);
}

void gsai_tree_grow(gsai_tree *tree)
{
    for (; tree->depth > 1; join(tree)) {
        const gsai_sums *right = &tree->at[tree->depth - 1], *left = right - 1;
        if (left->n != right->n || left->first % (2 * left->n) != 0)
            return;
    }
}

void gsai_tree_skip(gsai_tree *tree, size_t first, size_t end)
{
    for (size_t n; first < end; first += n) {
        for (n = 1; first % (2 * n) == 0 && 2 * n <= end - first;)
            n *= 2;
        gsai_tree_next(tree, first, n)->is_empty = true;
        gsai_tree_grow(tree);
    }
}

gsai_sums *gsai_tree_sum(gsai_tree *tree)
{
    while (tree->depth > 1)
        join(tree);
    tree->depth = 0;
    return &tree->at[0];
}

/* ---- slots of a state -------------------------------------------------------------------------------------------- */

bool gsai_view_begin(gsai_view *view, size_t n_outputs, const gsa_env *env)
{
    size_t block = gsai_sums_block(n_outputs);
    double *memory = gsai_alloc_zeroed(env, block, (n_outputs + 2) * sizeof *memory);
    *view = (gsai_view){.block = block, .n_outputs = n_outputs, .memory = memory};
    if (!memory)
        return false;
    view->mass = memory;
    view->count = memory + block;
    view->last = (float *)(memory + 2 * block);
    view->lag = view->last + block * n_outputs;
    return true;
}

/* One output of a state into the outputs of the merged one. */
static void place(const gsai_merged *from, size_t output, float weight, size_t block, float *out)
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
static void take_each(gsai_view *view, const gsai_merged *from, const gsai_slots *slots, size_t n)
{
    const gsai_table *table = from->table;
    size_t n_own = table->n_outputs > 1 ? from->state->labels.n : 1, size = view->block * view->n_outputs;
    memset(view->last, 0, size * sizeof *view->last);
    memset(view->lag, 0, size * sizeof *view->lag);
    for (size_t k = 0; k < view->n_outputs && gsai_slots_at(slots, 0) == 0 && view->n_outputs > 1; k++)
        view->last[k * view->block] = from->unseen;
    for (size_t i = 0; i < n; i++) {
        const gsai_cell *record = gsai_table_slot(table, gsai_slots_at(slots, i));
        if (i + AHEAD < n)
            __builtin_prefetch(gsai_table_slot(table, gsai_slots_at(slots, i + AHEAD)));
        const gsai_cell *terms = record + gsai_table_average(table);
        for (size_t k = 0; k < n_own; k++) {
            place(from, k, record[k].f, view->block, view->last + i);
            place(from, k, terms[k].f * (float)from->per_total, view->block, view->lag + i);
        }
        view->count[i] = (double)(int32_t)record[gsai_table_count(table)].u;
        view->mass[i] = (double)record[gsai_table_mean(table)].f * view->count[i];
    }
}

void gsai_view_ask(const gsai_merged *from, const gsai_slots *slots)
{
    const gsai_table *table = from->table;
    if (!table || slots->at || slots->first + slots->n > table->n_slots)
        return;
    const char *record = (const char *)gsai_table_slot(table, slots->first);
    size_t size = slots->n * gsai_table_stride(table) * sizeof(gsai_cell);
    for (size_t at = 0; at < size && at < 8192; at += 64)
        __builtin_prefetch(record + at, 0, 2);
}

void gsai_view_take(gsai_view *view, const gsai_merged *from, const gsai_slots *slots)
{
    const gsai_table *table = from->table;
    size_t n = slots->n, first = gsai_slots_at(slots, 0);
    while (n > 0 && (!table || gsai_slots_at(slots, n - 1) >= table->n_slots))
        n--;
    if (n < slots->n)
        memset(view->memory, 0, view->block * (view->n_outputs + 2) * sizeof(double));
    if (n == 0)
        return;
    if (from->is_placed || slots->at)
        take_each(view, from, slots, n);
    else
        from->state->kernels->view_records(view, gsai_table_slot(table, first), table->room, n, (float)from->per_total);
    const gsai_prior_totals *carried = &from->state->carried;
    for (size_t i = 0; i < n && gsai_slots_at(slots, i) < carried->n; i++) {
        view->mass[i] += carried->mass[gsai_slots_at(slots, i)];
        view->count[i] += (double)carried->count[gsai_slots_at(slots, i)];
    }
    for (size_t i = 0; i < n && from->weight != 1; i++)
        view->mass[i] *= from->weight;
    if (first == 0)
        view->last[0] += from->origin;
}
