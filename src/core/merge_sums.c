/* Blocks of slots: taken from states, added up in a tree. Loops are plain, over arrays without gaps, so that compilers
 * make vectors of them; one output has its own copy of each. */
#include "core/merge_sums.h"

#include "base/memory.h"

#include <string.h>

/* ---- the tree ---------------------------------------------------------------------------------------------------- */

bool gsa__tree_begin(gsa__tree *tree, size_t n_states, size_t n_outputs, const gsa_env *env)
{
    size_t n_levels = 3, block = gsa__sums_block(n_outputs), n_floats = block * (gsa__sums_width(n_outputs) + 3);
    for (size_t n = n_states; n > 0; n /= 2)
        n_levels += 2; /* a run may begin and end with parts of every size */
    *tree = (gsa__tree){.n_outputs = n_outputs};
    tree->at = gsa__alloc(env, n_levels, sizeof *tree->at);
    double *memory = tree->memory = gsa__alloc(env, n_levels, n_floats * sizeof(float));
    for (size_t i = 0; tree->at && memory && i < n_levels; i++, memory += n_floats / 2) {
        float *floats = (float *)(memory + block);
        tree->at[i] = (gsa__sums){.count = memory, .n_met = floats, .row = floats + block};
    }
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

static void add(float *restrict to, const float *restrict from, size_t n)
{
    for (size_t i = 0; i < n; i++)
        to[i] += from[i];
}

static void add_counts(double *restrict to, const double *restrict from, size_t n)
{
    for (size_t i = 0; i < n; i++)
        to[i] += from[i];
}

/* The uppermost two become one. */
static void join(gsa__tree *tree)
{
    size_t n = tree->n_slots;
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
    add(left->row, right->row, n * gsa__sums_width(tree->n_outputs));
    add(left->n_met, right->n_met, n);
    add_counts(left->count, right->count, n);
}

void gsa__tree_grow(gsa__tree *tree)
{
    for (const gsa__sums *right; tree->depth > 1; join(tree)) {
        right = &tree->at[tree->depth - 1];
        if (right[-1].n != right->n || right[-1].first % (2 * right->n) != 0)
            return;
    }
}

void gsa__tree_skip(gsa__tree *tree, size_t first, size_t end)
{
    while (first < end) {
        size_t n = 1;
        while (first % (2 * n) == 0 && 2 * n <= end - first)
            n *= 2;
        gsa__tree_next(tree, first, n)->is_empty = true;
        gsa__tree_grow(tree);
        first += n;
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
    double *memory = view->memory = gsa__alloc(env, block * (n_outputs + 2), sizeof *memory);
    if (!memory)
        return false;
    view->mass = memory;
    view->count = memory + block;
    view->last = (float *)(memory + 2 * block);
    view->lag = view->last + block * n_outputs;
    return true;
}

/* Records into arrays; outputs are those of the table. */
__attribute__((always_inline)) static inline void take_plain(gsa__view *view, const gsa__cell *restrict record,
                                                             size_t room, size_t n, size_t n_outputs, double per_total)
{
    float *restrict last = view->last, *restrict lag = view->lag;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n_outputs; k++) {
            last[i * n_outputs + k] = record[i * (2 * room + 2) + k].f;
            lag[i * n_outputs + k] = (float)((double)record[i * (2 * room + 2) + room + k].f * per_total);
        }
}

/* A table's counts have 31 bits. */
__attribute__((always_inline)) static inline void take_presence(gsa__view *view, const gsa__cell *restrict record,
                                                                size_t room, size_t n)
{
    double *restrict mass = view->mass, *restrict count = view->count;
    for (size_t i = 0; i < n; i++) {
        count[i] = (double)(int32_t)record[i * (2 * room + 2) + 2 * room + 1].u;
        mass[i] = (double)record[i * (2 * room + 2) + 2 * room].f * count[i];
    }
}

/* One output of a state into the outputs of the merged one. */
static void place(const gsa__merged *from, size_t output, float weight, float *out)
{
    if (from->split) {
        for (size_t label = 0; label < from->state->labels.n; label++)
            out[from->to[label]] = label == 1 ? weight / 2 : -weight / 2;
    } else if (from->table->n_outputs > 1) {
        out[from->to[output]] = weight;
    } else {
        out[0] = from->sign * weight;
    }
}

static void take_placed(gsa__view *view, const gsa__merged *from, size_t first, size_t n, size_t n_outputs)
{
    size_t n_own = from->table->n_outputs > 1 ? from->state->labels.n : 1;
    memset(view->last, 0, n * n_outputs * sizeof *view->last);
    memset(view->lag, 0, n * n_outputs * sizeof *view->lag);
    for (size_t i = 0; i < n; i++) {
        const gsa__cell *record = gsa__table_slot(from->table, first + i),
                        *terms = record + gsa__table_average(from->table);
        for (size_t k = 0; k < n_own; k++) {
            place(from, k, record[k].f, view->last + i * n_outputs);
            place(from, k, (float)((double)terms[k].f * from->per_total), view->lag + i * n_outputs);
        }
    }
}

static void clear(gsa__view *view, size_t from, size_t n, size_t n_outputs)
{
    memset(view->last + from * n_outputs, 0, (n - from) * n_outputs * sizeof *view->last);
    memset(view->lag + from * n_outputs, 0, (n - from) * n_outputs * sizeof *view->lag);
    memset(view->mass + from, 0, (n - from) * sizeof *view->mass);
    memset(view->count + from, 0, (n - from) * sizeof *view->count);
}

void gsa__view_take(gsa__view *view, const gsa__merged *from, size_t first, size_t n, size_t n_outputs)
{
    const gsa__table *table = from->table;
    size_t n_own = !table || first >= table->n_slots ? 0 : table->n_slots - first < n ? table->n_slots - first : n;
    clear(view, n_own, n, n_outputs);
    if (n_own == 0)
        return;
    const gsa__cell *record = gsa__table_slot(table, first);
    if (from->is_placed)
        take_placed(view, from, first, n_own, n_outputs);
    else if (n_outputs == 1)
        take_plain(view, record, 1, n_own, 1, from->per_total);
    else
        take_plain(view, record, table->room, n_own, n_outputs, from->per_total);
    if (table->room == 1)
        take_presence(view, record, 1, n_own);
    else
        take_presence(view, record, table->room, n_own);
    const gsa__carried *carried = &from->state->carried;
    for (size_t i = 0; i < n_own && first + i < carried->n; i++) {
        view->mass[i] += carried->mass[first + i];
        view->count[i] += (double)carried->count[first + i];
    }
}

/* ---- changes ----------------------------------------------------------------------------------------------------- */

/* The average would stand at last - (1 - fresh) lag of the base if no weight had changed. */
__attribute__((always_inline)) static inline bool take_changes(gsa__sums *sums, const gsa__view *state,
                                                               const gsa__view *base, double fresh, bool units_free,
                                                               size_t n, size_t n_outputs)
{
    size_t width = gsa__sums_width(n_outputs);
    float *restrict row = sums->row, *restrict n_met = sums->n_met;
    double *restrict count = sums->count, kept = 1 - fresh, least = 0;
    const float *last = state->last, *lag = state->lag, *base_last = base->last, *base_lag = base->lag;
    const double *mass = state->mass, *own_count = state->count, *base_mass = base->mass, *base_count = base->count;
    for (size_t i = 0; i < n; i++) {
        double since = own_count[i] - base_count[i], gained = mass[i] - base_mass[i];
        double presence = units_free ? since : gained;
        bool met = since > 0;
        double c = met ? mass[i] : 0;
        least = since < least ? since : least;
        count[i] = since;
        n_met[i] = met ? 1 : 0;
        for (size_t k = 0; k < n_outputs; k++) {
            size_t at = i * n_outputs + k;
            double moved = (double)last[at] - (double)base_last[at];
            row[i * width + k] = (float)(c * moved) + 0.0F;
            row[i * width + n_outputs + k] =
                (float)(c * (moved - ((double)lag[at] - kept * (double)base_lag[at]))) + 0.0F;
        }
        row[i * width + 2 * n_outputs] = met ? (float)gained + 0.0F : 0.0F;
        row[i * width + 2 * n_outputs + 1] = met ? (float)(presence * presence) : 0.0F;
    }
    return least >= 0;
}

bool gsa__sums_take(gsa__sums *sums, const gsa__view *state, const gsa__view *base, double fresh, bool units_free,
                    size_t n, size_t n_outputs)
{
    return n_outputs == 1 ? take_changes(sums, state, base, fresh, units_free, n, 1)
                          : take_changes(sums, state, base, fresh, units_free, n, n_outputs);
}
