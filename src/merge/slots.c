/* Slots: added up, and made those of the result. */
#include "merge/slots.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/workers.h"

/* ---- setting up -------------------------------------------------------------------------------------------------- */

/* How much of the average of a copy comes from weights since its base; the rest is the base's average. */
static double fresh_share(const gsai_merging *merging, const gsa_state *state)
{
    const gsa_state *base = merging->base;
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): what goes on has a base */
    if (!merging->goes_on || state->averaging.first != base->averaging.first) /* or the average began anew */
        return 1;
    double total = gsai_averaging_total(state, state->averaging.now);
    return total > 0 ? 1 - gsai_averaging_total(base, base->averaging.now) / total : 1;
}

/* Labels that are those of the result, in their order, need no places. */
static bool find_places(gsai_merged *from, const gsa_state *state, const gsa_state *into)
{
    size_t n_moved = state->labels.n != into->labels.n || state->table.n_outputs != into->table.n_outputs;
    from->to = gsai_alloc(&into->env, state->labels.n, sizeof *from->to);
    for (size_t k = 0; from->to && k < state->labels.n; k++) {
        from->to[k] = gsai_labels_find_text(&into->labels, state->labels.at[k].text);
        n_moved += from->to[k] != k;
    }
    from->split = gsai_state_splits(state, into);
    if (from->to && gsai_state_is_binary(into) && state->labels.n > 0 && from->to[0] == 1)
        from->sign = -1;
    from->is_placed = n_moved > 0;
    return from->to != NULL;
}

static bool enter(gsai_merged *from, const gsai_merging *merging, const gsa_state *state)
{
    bool averaged = gsai_params_average(&state->params) != GSAI_AVERAGE_LAST;
    double total = averaged ? gsai_averaging_total(state, state->averaging.now) : 0;
    from->state = state;
    from->table = gsai_state_table(state);
    from->per_total = total > 0 ? 1 / total : 0;
    from->fresh = fresh_share(merging, state);
    from->sign = 1;
    from->unseen = (float)gsai_state_unseen(state);
    from->weight = merging->base ? 1 : gsai_weight_in(state, merging->into);
    from->label_offset = merging->into ? (float)(state->label_offset.at - merging->into->label_offset.at) : 0.0F;
    return !merging->into || !gsai_loss_has_classes(merging->into->loss) || find_places(from, state, merging->into);
}

/* Takes the memory for merging a block. */
static bool begin_scratch(gsai_merging *merging)
{
    size_t block = gsai_sums_block(merging->n_outputs);
    float *memory = merging->steps.c = gsai_alloc_zeroed(merging->env, block, 5 * sizeof *memory);
    if (memory) {
        merging->steps.all = memory + block;
        merging->steps.one = memory + 2 * block;
        merging->steps.step[0] = memory + 3 * block;
        merging->steps.step[1] = memory + 4 * block;
    }
    return memory && gsai_tree_begin(&merging->tree, merging->n_states, merging->n_outputs, merging->env) &&
           gsai_view_begin(&merging->view, merging->n_outputs, merging->env) &&
           gsai_view_begin(&merging->start, merging->n_outputs, merging->env);
}

static void end_scratch(gsai_merging *merging)
{
    gsai_tree_end(&merging->tree, merging->env);
    gsai_free(merging->env, merging->steps.c);
    gsai_free(merging->env, merging->view.memory);
    gsai_free(merging->env, merging->start.memory);
}

gsa_status gsai_merging_begin(gsai_merging *merging, gsa_error *error)
{
    const gsa_state *into = merging->into;
    const gsai_env *env = merging->env = merging->env ? merging->env : &merging->base->env;
    size_t n = merging->n_states, n_outputs = into ? into->table.n_outputs : merging->base->table.n_outputs;
    merging->n_outputs = n_outputs;
    merging->from = gsai_alloc_zeroed(env, n + 1, sizeof *merging->from);
    bool done = begin_scratch(merging) && merging->from;
    for (size_t s = 0; s < n && done; s++)
        done = enter(&merging->from[s], merging, merging->states[s]);
    if (done && merging->base)
        done = enter(&merging->from[n], merging, merging->base);
    GSAI_TRY_MEMORY(done, env, error, "no memory to merge %zu states of %zu outputs", n, n_outputs);
    if (merging->n_deltas > 0)
        merging->found = merging->deltas[0];
    bool averaged = into && gsai_params_average(&into->params) != GSAI_AVERAGE_LAST;
    merging->steps.kept = into ? 1 - fresh_share(merging, into) : 0;
    merging->steps.total = averaged ? gsai_averaging_total(into, into->averaging.now) : 0;
    return GSA_OK;
}

void gsai_merging_end(gsai_merging *merging)
{
    const gsai_env *env = merging->env;
    if (!env)
        return;
    for (size_t s = 0; merging->from && s <= merging->n_states; s++)
        gsai_free(env, merging->from[s].to);
    gsai_free(env, merging->from);
    end_scratch(merging);
}

/* ---- a block ----------------------------------------------------------------------------------------------------- */

/* Where last weights start from, and by how much averages start below. A new run started from the base's average. */
static void take_start(gsai_merging *merging, const gsai_slots *slots)
{
    gsai_view *start = &merging->start;
    gsai_view_take(start, &merging->from[merging->n_states], slots);
    for (size_t i = 0; i < start->block * start->n_outputs && !merging->goes_on; i++) {
        start->last[i] -= start->behind[i];
        start->behind[i] = 0;
    }
}

gsa_status gsai_merging_add(gsai_merging *merging, size_t number, const gsai_slots *slots, gsa_error *error)
{
    bool standardised = merging->goes_on && merging->base->standardised;
    take_start(merging, slots);
    merging->tree.n_slots = slots->n;
    for (size_t s = 0; s < merging->n_states; s++) {
        const gsai_merged *from = &merging->from[s];
        gsai_sums *sums = gsai_tree_next(&merging->tree, number + s, 1);
        gsai_view_take(&merging->view, from, slots);
        if (s + 1 < merging->n_states)
            gsai_view_ask(from + 1, slots);
        if (!from->state->kernels->sum_changes(sums, &merging->view, &merging->start, (float)(1 - from->fresh),
                                               standardised, slots->n))
            return gsai_fail(error, GSA_CONFLICT, "state %zu did not start from this base; give its own",
                             number + s + 1);
        gsai_tree_grow(&merging->tree);
    }
    return GSA_OK;
}

/* The base's slots become those of the result but for the weights. */
static void mean_changes(gsai_merging *merging, gsai_sums *sums, size_t n)
{
    const gsa_state *into = merging->into;
    if (sums->is_empty)
        gsai_sums_clear(sums, merging->n_outputs);
    into->kernels->mean_changes(sums, &merging->start, merging->goes_on && merging->base->standardised,
                                merging->goes_on ? 0 : (double)merging->n_states, n, &merging->steps);
}

/* Returns the sums of some slots above the first. */
static gsai_sums *find_in_deltas(gsai_merging *merging, const gsai_slots *slots)
{
    gsai_sums *sums = &merging->tree.at[0];
    size_t block = gsai_sums_block(merging->n_outputs);
    gsai_sums_clear(sums, merging->n_outputs);
    for (size_t i = 0; i < slots->n; i++) {
        uint64_t feature = gsai_slots_at(slots, i) - 1;
        while (merging->found.n_features > 0 && feature - merging->found.first >= merging->found.n_features)
            merging->found =
                ++merging->n_found < merging->n_deltas ? merging->deltas[merging->n_found] : (gsai_delta){0};
        feature -= merging->found.first;
        gsai_chunk of;
        if (gsai_delta_seek(&merging->found, feature / block, merging->n_outputs, &of))
            gsai_chunk_find(&of, feature % block, merging->n_outputs, i, sums);
    }
    return sums;
}

gsa_status gsai_merging_changes(gsai_merging *merging, const gsai_slots *slots, gsai_sums **out, gsa_error *error)
{
    if (merging->n_deltas > 0 && gsai_slots_at(slots, 0) > 0) {
        take_start(merging, slots);
        *out = find_in_deltas(merging, slots);
    } else {
        GSA_TRY(gsai_merging_add(merging, 0, slots, error));
        *out = gsai_tree_sum(&merging->tree);
    }
    mean_changes(merging, *out, slots->n);
    return GSA_OK;
}

/* Counts that fit stay in the table, where learning has them at hand. */
static void move_to_prior(gsai_merging *merging, size_t first, size_t n)
{
    gsai_prior_totals *prior = &merging->into->prior;
    for (size_t i = 0; i < n && first < prior->n; i++) {
        prior->sum_sq[first + i] = merging->start.sum_sq[i];
        prior->count[first + i] = (uint64_t)merging->start.count[i];
        merging->start.sum_sq[i] = merging->start.count[i] = 0;
    }
}

static void find_steps(gsai_merging *merging, size_t which, size_t n)
{
    const gsai_line_step *line_step = &merging->line_step[which];
    gsai_block_steps *steps = &merging->steps;
    float *restrict step = steps->step[which], gamma = (float)line_step->gamma;
    if (line_step->alpha > 0)
        merging->into->kernels->aggregations(steps->all, steps->one, n, (float)line_step->alpha, step);
    for (size_t i = 0; i < n; i++)
        step[i] = line_step->alpha > 0 ? step[i] * gamma : gamma;
}

static void enter_block(gsai_merging *merging, gsai_sums *sums, size_t first, size_t n)
{
    const gsai_table *table = &merging->into->table;
    mean_changes(merging, sums, n);
    move_to_prior(merging, first, n);
    for (size_t which = 0; which < 2; which++)
        find_steps(merging, which, n);
    merging->into->kernels->enter_slots(gsai_table_slot(table, first), table->room, &merging->start, sums,
                                        &merging->steps, n);
}

/* ---- all slots --------------------------------------------------------------------------------------------------- */

/* Slots that are worth a task, a multiple of every block. */
#define RANGE_SLOTS ((size_t)1 << 16)

static gsa_status merge_states(gsai_merging *merging, size_t first, size_t end, gsa_error *error)
{
    size_t block = merging->start.block;
    for (; first < end; first += block) {
        gsai_slots slots = {.first = first, .n = end - first < block ? end - first : block};
        GSA_TRY(gsai_merging_add(merging, 0, &slots, error));
        enter_block(merging, gsai_tree_sum(&merging->tree), first, slots.n);
    }
    return GSA_OK;
}

/* Slots of the result from delta `number`. Its slots are those of the delta from its block 0 on; the last one has all
 * that follow. */
static void enter_delta(gsai_merging *merging, size_t number)
{
    gsai_delta left = merging->deltas[number];
    size_t block = gsai_sums_block(merging->n_outputs), n_slots = merging->into->table.n_slots;
    uint64_t end = number + 1 < merging->n_deltas ? 1 + left.first + left.n_features : n_slots;
    end = end < n_slots ? end : n_slots;
    for (uint64_t b = 0, first = 1 + left.first; first < end; b++, first += block) {
        size_t n = end - first < block ? (size_t)(end - first) : block;
        gsai_sums *sums = &merging->tree.at[0];
        gsai_chunk of;
        sums->is_empty = !gsai_delta_next(&left, b, merging->n_outputs, &of);
        if (!sums->is_empty)
            gsai_chunk_take(&of, n, merging->n_outputs, sums);
        take_start(merging, &(gsai_slots){.first = (size_t)first, .n = n});
        enter_block(merging, sums, (size_t)first, n);
    }
}

/* Task: a delta, or a range of slots. All share what is merged and into what, each has its own scratch. */
static gsa_status merge_range(void *ctx, size_t task, gsa_error *error)
{
    gsai_merging own = *(const gsai_merging *)ctx;
    size_t first = task * RANGE_SLOTS, n_slots = own.into->table.n_slots;
    size_t end = n_slots - first < RANGE_SLOTS ? n_slots : first + RANGE_SLOTS;
    own.tree = (gsai_tree){0};
    own.view = own.start = (gsai_view){0};
    if (!begin_scratch(&own)) {
        end_scratch(&own);
        return gsai_fail_memory(own.env, error, "no memory to merge %zu states", own.n_states);
    }
    gsa_status status = GSA_OK;
    if (own.n_deltas > 0)
        enter_delta(&own, task);
    else
        status = merge_states(&own, first, end, error);
    end_scratch(&own);
    return status;
}

static void add_class_sums(gsa_state *into, const gsai_merged *from, double share)
{
    const gsai_class_sums *sums = &from->state->class_sums;
    for (size_t i = 0; i < sums->n && i <= from->state->labels.n; i++)
        into->class_sums.at[i > 0 ? from->to[i - 1] + 1 : 0] += share * from->weight * sums->at[i];
}

static void take_class_sums(gsai_merging *merging)
{
    for (size_t s = 0; s < merging->n_states; s++)
        add_class_sums(merging->into, &merging->from[s], 1);
    if (merging->base)
        add_class_sums(merging->into, &merging->from[merging->n_states], 1 - (double)merging->n_states);
}

/* Slots do not depend on one another: the bits are the same for any number of threads. */
gsa_status gsai_merging_slots(gsai_merging *merging, gsa_error *error)
{
    size_t n_slots = merging->into->table.n_slots, n = merging->n_deltas;
    if (n > 0)
        GSA_TRY(merge_states(merging, 0, 1, error));
    else
        n = (n_slots + RANGE_SLOTS - 1) / RANGE_SLOTS;
    GSA_TRY(gsai_workers_run(gsai_workers_count(merging->env), n, merge_range, merging, merging->env, error));
    take_class_sums(merging);
    return GSA_OK;
}
