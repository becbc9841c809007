/* Changes of states since a base, added up: blocks of slots in a tree, and the numbers that a state has once. */
#include "merge/sums.h"

#include "base/memory.h"

#include <string.h>

/* ---- the tree ---------------------------------------------------------------------------------------------------- */

bool gsai_tree_begin(gsai_tree *tree, size_t n_states, size_t n_outputs, const gsai_env *env)
{
    size_t n_levels = 3, block = gsai_sums_block(n_outputs), width = gsai_sums_width(n_outputs);
    for (size_t n = n_states; n > 0; n /= 2)
        n_levels += 2; /* a run may begin and end with parts of every size */
    *tree = (gsai_tree){.n_outputs = n_outputs, .kernels = gsai_kernels_best()};
    tree->at = gsai_alloc(env, n_levels, sizeof *tree->at);
    double *memory = tree->memory = gsai_alloc_zeroed(env, n_levels, block * (width + 4) * sizeof(float));
    for (size_t i = 0; tree->at && memory && i < n_levels; i++, memory += block * (width + 4) / 2)
        tree->at[i] = (gsai_sums){.count = memory, .touched = memory + block, .sum = (float *)(memory + 2 * block)};
    return tree->at && memory;
}

void gsai_tree_end(gsai_tree *tree, const gsai_env *env)
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
    memset(sums->touched, 0, block * sizeof *sums->touched);
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

bool gsai_view_begin(gsai_view *view, size_t n_outputs, const gsai_env *env)
{
    size_t block = gsai_sums_block(n_outputs);
    double *memory = gsai_alloc_zeroed(env, block, (n_outputs + 2) * sizeof *memory);
    *view = (gsai_view){.block = block, .n_outputs = n_outputs, .memory = memory};
    if (!memory)
        return false;
    view->sum_sq = memory;
    view->count = memory + block;
    view->last = (float *)(memory + 2 * block);
    view->behind = view->last + block * n_outputs;
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
    memset(view->behind, 0, size * sizeof *view->behind);
    for (size_t k = 0; k < view->n_outputs && gsai_slots_at(slots, 0) == 0 && view->n_outputs > 1; k++)
        view->last[k * view->block] = from->unseen;
    for (size_t i = 0; i < n; i++) {
        const gsai_cell *record = gsai_table_slot(table, gsai_slots_at(slots, i));
        if (i + AHEAD < n)
            __builtin_prefetch(gsai_table_slot(table, gsai_slots_at(slots, i + AHEAD)));
        const gsai_cell *terms = record + gsai_table_average(table);
        for (size_t k = 0; k < n_own; k++) {
            place(from, k, record[k].f, view->block, view->last + i);
            place(from, k, terms[k].f * (float)from->per_total, view->block, view->behind + i);
        }
        view->count[i] = (double)(int32_t)record[gsai_table_count(table)].u;
        view->sum_sq[i] = (double)record[gsai_table_mean(table)].f * view->count[i];
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
    const gsai_prior_totals *prior = &from->state->prior;
    for (size_t i = 0; i < n && gsai_slots_at(slots, i) < prior->n; i++) {
        view->sum_sq[i] += prior->sum_sq[gsai_slots_at(slots, i)];
        view->count[i] += (double)prior->count[gsai_slots_at(slots, i)];
    }
    for (size_t i = 0; i < n && from->weight != 1; i++)
        view->sum_sq[i] *= from->weight;
    if (first == 0)
        view->last[0] += from->label_offset;
}

/* ---- numbers that a state has once ------------------------------------------------------------------------------- */

bool gsai_state_splits(const gsa_state *state, const gsa_state *into)
{
    return gsai_state_is_binary(state) && !gsai_state_is_binary(into);
}

bool gsai_state_continues(const gsa_state *state, const gsa_state *base)
{
    size_t n = base->n_lineage;
    return state->run_id.hash == base->run_id.hash && state->n_lineage == n &&
           (n == 0 || memcmp(state->lineage, base->lineage, n * sizeof *base->lineage) == 0) &&
           state->n_rows >= base->n_rows && state->averaging.now >= base->averaging.now &&
           state->rows_behind >= base->rows_behind && state->row_weights.n_rows >= base->row_weights.n_rows &&
           state->row_weights.sum >= base->row_weights.sum;
}

double gsai_weight_in(const gsa_state *state, const gsa_state *into)
{
    const gsai_row_weights *own = &state->row_weights, *all = &into->row_weights;
    if (!(own->sum > 0 && all->sum > 0 && own->n_rows > 0 && all->n_rows > 0))
        return 1;
    return own->sum / (double)own->n_rows / (all->sum / (double)all->n_rows);
}

static double step_sum(const gsa_state *state, const gsa_state *into)
{
    return gsai_state_step(state)->sum / (gsai_state_splits(state, into) ? 2 : 1);
}

static gsai_change change_of(const gsa_state *state, const gsa_state *base, const gsa_state *into)
{
    gsai_change change = {
        .n_rows = state->n_rows,
        .n_averaged = state->averaging.now,
        .n_merged = state->n_merged,
        .rows_behind = state->rows_behind - (base ? base->rows_behind : 0),
        .rows_standardised = state->standardised || gsai_state_table(state) != &state->table ? state->n_rows : 0,
        .step = {step_sum(state, into), gsai_state_step(state)->weight},
        .loss_sum = state->position.loss_sum,
        .loss_weight = state->position.loss_weight,
        .squared_error = state->squared_error,
        .squared_label = state->squared_label,
        .row_weights = state->row_weights,
        .pass = state->position.pass,
        .pass_rows = state->position.pass_rows,
        .rows = state->rows,
    };
    if (base && gsai_state_continues(state, base)) {
        change.n_rows -= base->n_rows;
        change.n_averaged = (change.n_averaged - base->averaging.now) / state->averaging.per_row;
        change.n_merged = 1;
        change.rows.sum -= base->rows.sum;
        change.rows.n_rows -= base->rows.n_rows;
        change.step.sum -= step_sum(base, into);
        change.step.weight -= gsai_state_step(base)->weight;
        change.squared_error -= base->squared_error;
        change.squared_label -= base->squared_label;
        change.row_weights.sum -= base->row_weights.sum;
        change.row_weights.n_rows -= base->row_weights.n_rows;
        if (state->position.pass == base->position.pass) { /* else these began anew with the pass */
            change.loss_sum -= base->position.loss_sum;
            change.loss_weight -= base->position.loss_weight;
            change.pass_rows -= base->position.pass_rows;
        }
    }
    return change;
}

static void add(gsai_change *into, const gsai_change *from)
{
    into->n_rows += from->n_rows;
    into->rows_behind += from->rows_behind;
    into->rows_standardised += from->rows_standardised;
    into->n_averaged += from->n_averaged;
    into->n_merged += from->n_merged;
    into->step.sum += from->step.sum;
    into->step.weight += from->step.weight;
    into->loss_sum += from->loss_sum;
    into->loss_weight += from->loss_weight;
    into->squared_error += from->squared_error;
    into->squared_label += from->squared_label;
    into->row_weights.sum += from->row_weights.sum;
    into->row_weights.max =
        from->row_weights.max > into->row_weights.max ? from->row_weights.max : into->row_weights.max;
    into->row_weights.n_rows += from->row_weights.n_rows;
    into->pass = into->pass > from->pass ? into->pass : from->pass;
    into->pass_rows += from->pass_rows;
    into->rows.sum += from->rows.sum;
    into->rows.n_rows += from->rows.n_rows;
}

/* NOLINTNEXTLINE(misc-no-recursion): log2 of the number of states deep */
gsai_change gsai_change_sum(const gsa_state *const *states, size_t n_states, const gsa_state *base,
                            const gsa_state *into)
{
    if (n_states == 1)
        return change_of(states[0], base, into);
    size_t left = 1;
    while (2 * left < n_states)
        left *= 2;
    gsai_change sum = gsai_change_sum(states, left, base, into);
    gsai_change right = gsai_change_sum(states + left, n_states - left, base, into);
    add(&sum, &right);
    return sum;
}

/* The rows of a round count as the last; the marks of falling are moved if it went past a power of two. */
static void note_losses(gsa_state *into, const gsai_change *sum, uint64_t rows_before)
{
    gsai_position *at = &into->position;
    at->pass_rows += sum->pass_rows;
    at->loss_sum += sum->loss_sum;
    at->loss_weight += sum->loss_weight;
    if ((rows_before ^ into->n_rows) > rows_before) { /* the highest bit is another one */
        memcpy(at->earlier, at->late, sizeof at->late);
        at->late[0] = at->late[1] = 0;
    }
    at->late[0] += sum->loss_sum;
    at->late[1] += sum->loss_weight;
}

void gsai_change_apply(gsa_state *into, const gsai_change *sum, const gsa_state *base, bool goes_on)
{
    into->n_rows = sum->n_rows + (goes_on ? base->n_rows : 0);
    into->rows_behind = sum->rows_behind + (base ? base->rows_behind : 0);
    into->standardised = 2 * sum->rows_standardised > sum->n_rows; /* what most rows were learned with */
    into->step = sum->step;
    into->squared_error = sum->squared_error;
    into->squared_label = sum->squared_label;
    into->row_weights = sum->row_weights;
    into->averaging.now = sum->n_averaged + (goes_on ? base->averaging.now : 0);
    into->n_merged = goes_on ? base->n_merged : sum->n_merged;
    into->position.pass = sum->pass;
    into->rows = sum->rows;
    if (goes_on) {
        into->rows.sum += base->rows.sum;
        into->rows.n_rows += base->rows.n_rows;
        into->step.sum += step_sum(base, into);
        into->step.weight += gsai_state_step(base)->weight;
        into->squared_error += base->squared_error;
        into->squared_label += base->squared_label;
        into->row_weights.sum += base->row_weights.sum;
        into->row_weights.max =
            base->row_weights.max > into->row_weights.max ? base->row_weights.max : into->row_weights.max;
        into->row_weights.n_rows += base->row_weights.n_rows;
        if (sum->pass == base->position.pass)
            into->position = base->position;
        note_losses(into, sum, base->n_rows);
    }
    /* A suffix average starts anew with the next row, that of the merged copies being where it begins. */
    bool recent = gsai_params_average(&into->params) == GSAI_AVERAGE_RECENT;
    into->averaging.first = recent && into->averaging.now > 0 ? 1 : into->averaging.now;
    into->averaging.restart = recent ? UINT64_MAX : into->averaging.now + 1;
}
