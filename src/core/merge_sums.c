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
    *tree = (gsa__tree){.block = block, .width = width};
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
    for (size_t k = 0; k < tree->width; k++)
        add(left->sum + k * tree->block, right->sum + k * tree->block, tree->n_slots);
    add_counts(left->count, right->count, tree->n_slots);
    add_counts(left->met, right->met, tree->n_slots);
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
    double *memory = gsa__alloc_zeroed(env, block, (n_outputs + 3) * sizeof *memory);
    *view = (gsa__view){.block = block, .n_outputs = n_outputs, .memory = memory};
    if (!memory)
        return false;
    view->mass = memory;
    view->count = memory + block;
    view->last = (float *)(memory + 2 * block);
    view->lag = view->last + block * n_outputs;
    view->scratch[0] = view->lag + block * n_outputs;
    view->scratch[1] = view->scratch[0] + block;
    return true;
}

/* Outputs are those of the table. */
__attribute__((always_inline)) static inline void take_plain(gsa__view *view, const gsa__cell *restrict record,
                                                             size_t room, size_t n, float per_total)
{
    for (size_t k = 0; k < view->n_outputs; k++) {
        float *restrict last = view->last + k * view->block, *restrict lag = view->lag + k * view->block;
        for (size_t i = 0; i < n; i++) {
            last[i] = record[i * (2 * room + 2) + k].f;
            lag[i] = record[i * (2 * room + 2) + room + k].f * per_total;
        }
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

static void take_placed(gsa__view *view, const gsa__merged *from, size_t first, size_t n)
{
    size_t n_own = from->table->n_outputs > 1 ? from->state->labels.n : 1, size = view->block * view->n_outputs;
    memset(view->last, 0, size * sizeof *view->last);
    memset(view->lag, 0, size * sizeof *view->lag);
    for (size_t k = 0; k < view->n_outputs && first == 0 && view->n_outputs > 1; k++)
        view->last[k * view->block] = from->unseen;
    for (size_t i = 0; i < n; i++) {
        const gsa__cell *record = gsa__table_slot(from->table, first + i);
        const gsa__cell *terms = record + gsa__table_average(from->table);
        for (size_t k = 0; k < n_own; k++) {
            place(from, k, record[k].f, view->block, view->last + i);
            place(from, k, terms[k].f * (float)from->per_total, view->block, view->lag + i);
        }
    }
}

void gsa__view_take(gsa__view *view, const gsa__merged *from, size_t first, size_t n)
{
    const gsa__table *table = from->table;
    size_t n_own = !table || first >= table->n_slots ? 0 : table->n_slots - first < n ? table->n_slots - first : n;
    if (n_own < n)
        memset(view->memory, 0, view->block * (view->n_outputs + 2) * sizeof(double));
    if (n_own == 0)
        return;
    const gsa__cell *record = gsa__table_slot(table, first);
    if (from->is_placed)
        take_placed(view, from, first, n_own);
    else if (table->room == 1)
        take_plain(view, record, 1, n_own, (float)from->per_total);
    else
        take_plain(view, record, table->room, n_own, (float)from->per_total);
    if (table->room == 1)
        take_presence(view, record, 1, n_own);
    else
        take_presence(view, record, table->room, n_own);
    const gsa__carried *carried = &from->state->carried;
    for (size_t i = 0; i < n_own && first + i < carried->n; i++) {
        view->mass[i] += carried->mass[first + i];
        view->count[i] += (double)carried->count[first + i];
    }
    for (size_t i = 0; i < n_own && from->weight != 1; i++)
        view->mass[i] *= from->weight;
    if (first == 0)
        view->last[0] += from->origin;
}

/* ---- changes ----------------------------------------------------------------------------------------------------- */

static void take_gained(const double *restrict mass, const double *restrict base_mass, double *restrict count,
                        const double *restrict base_count, bool units_free, size_t n, double *restrict met,
                        float *restrict gained, float *restrict squares, float *restrict c)
{
    const double free = units_free ? 1 : 0;
    for (size_t i = 0; i < n; i++) { /* products, not branches */
        double since = count[i] - base_count[i], more = mass[i] - base_mass[i], is_met = since > 0 ? 1.0 : 0.0;
        double presence = free * since + (1 - free) * more;
        count[i] = since;
        met[i] = is_met;
        gained[i] = (float)(is_met * more) + 0.0F;
        squares[i] = (float)(is_met * presence * presence);
        c[i] = (float)(is_met * mass[i]);
    }
}

/* If no weight had changed, the average would lack of the last weights what the base's does, as far as it is the
 * base's. */
static void take_changes(const gsa__view *state, const gsa__view *base, size_t k, float kept, const float *restrict c,
                         size_t n, float *restrict change, float *restrict average)
{
    const float *restrict last = state->last + k, *restrict lag = state->lag + k, *restrict base_last = base->last + k,
                          *restrict base_lag = base->lag + k;
    for (size_t i = 0; i < n; i++) {
        float moved = last[i] - base_last[i];
        change[i] = c[i] * moved + 0.0F;
        average[i] = c[i] * (moved - (lag[i] - kept * base_lag[i])) + 0.0F;
    }
}

static bool has_negative(const double *numbers, size_t n)
{
    double least[4] = {0};
    for (size_t i = 0; i < n / 4 * 4; i += 4)
        for (size_t j = 0; j < 4; j++)
            least[j] = numbers[i + j] < least[j] ? numbers[i + j] : least[j];
    for (size_t i = n / 4 * 4; i < n; i++)
        least[0] = numbers[i] < least[0] ? numbers[i] : least[0];
    return least[0] + least[1] + least[2] + least[3] < 0;
}

bool gsa__sums_take(gsa__sums *sums, const gsa__view *state, const gsa__view *base, double fresh, bool units_free,
                    size_t n)
{
    float *c = state->scratch[0], *gained = sums->sum + 2 * state->n_outputs * state->block;
    memcpy(sums->count, state->count, n * sizeof *sums->count);
    take_gained(state->mass, base->mass, sums->count, base->count, units_free, n, sums->met, gained,
                gained + state->block, c);
    for (size_t k = 0; k < state->n_outputs; k++)
        take_changes(state, base, k * state->block, (float)(1 - fresh), c, n, sums->sum + k * state->block,
                     sums->sum + (state->n_outputs + k) * state->block);
    return !has_negative(sums->count, n);
}
