/* Slots: added up, and made those of the result. */
#include "core/merge_slots.h"

#include "core/change.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/workers.h"

/* ---- setting up -------------------------------------------------------------------------------------------------- */

/* How much of the average of a copy comes from weights since its base; the rest is the base's average. */
static double fresh_share(const gsa__merging *merging, const gsa_state *state)
{
    const gsa_state *base = merging->base;
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): what goes on has a base */
    if (!merging->goes_on || state->clock.first != base->clock.first) /* or the average began anew */
        return 1;
    double total = gsa__clock_total(state, state->clock.now);
    return total > 0 ? 1 - gsa__clock_total(base, base->clock.now) / total : 1;
}

/* Labels that are those of the result, in their order, need no places. */
static bool find_places(gsa__merged *from, const gsa_state *state, const gsa_state *into)
{
    size_t n_moved = state->labels.n != into->labels.n || state->table.n_outputs != into->table.n_outputs;
    from->to = gsa__alloc(&into->env, state->labels.n, sizeof *from->to);
    for (size_t k = 0; from->to && k < state->labels.n; k++) {
        from->to[k] = gsa__labels_find_text(&into->labels, state->labels.at[k].text);
        n_moved += from->to[k] != k;
    }
    from->split = gsa__state_splits(state, into);
    if (from->to && gsa__state_is_binary(into) && state->labels.n > 0 && from->to[0] == 1)
        from->sign = -1;
    from->is_placed = n_moved > 0;
    return from->to != NULL;
}

static bool enter(gsa__merged *from, const gsa__merging *merging, const gsa_state *state)
{
    bool averaged = state->params.value[GSA__PARAM_average] != GSA__AVERAGE_LAST;
    double total = averaged ? gsa__clock_total(state, state->clock.now) : 0;
    from->state = state;
    from->table = gsa__state_table(state);
    from->per_total = total > 0 ? 1 / total : 0;
    from->fresh = fresh_share(merging, state);
    from->sign = 1;
    from->unseen = (float)gsa__state_unseen(state);
    from->weight = merging->base ? 1 : gsa__weight_in(state, merging->into);
    from->origin = merging->into ? (float)(state->origin_of_labels.at - merging->into->origin_of_labels.at) : 0.0F;
    return !merging->into || !gsa__loss_has_classes(merging->into->loss) || find_places(from, state, merging->into);
}

/* What a block takes to be merged. */
static bool begin_scratch(gsa__merging *merging)
{
    size_t block = gsa__sums_block(merging->n_outputs);
    float *memory = merging->steps.c = gsa__alloc_zeroed(merging->env, block, 5 * sizeof *memory);
    if (memory) {
        merging->steps.all = memory + block;
        merging->steps.one = memory + 2 * block;
        merging->steps.step[0] = memory + 3 * block;
        merging->steps.step[1] = memory + 4 * block;
    }
    return memory && gsa__tree_begin(&merging->tree, merging->n_states, merging->n_outputs, merging->env) &&
           gsa__view_begin(&merging->view, merging->n_outputs, merging->env) &&
           gsa__view_begin(&merging->start, merging->n_outputs, merging->env);
}

static void end_scratch(gsa__merging *merging)
{
    gsa__tree_end(&merging->tree, merging->env);
    gsa__free(merging->env, merging->steps.c);
    gsa__free(merging->env, merging->view.memory);
    gsa__free(merging->env, merging->start.memory);
}

gsa_status gsa__merging_begin(gsa__merging *merging, gsa_error *error)
{
    const gsa_state *into = merging->into;
    const gsa_env *env = merging->env = into ? &into->env : &merging->base->env;
    size_t n = merging->n_states, n_outputs = into ? into->table.n_outputs : merging->base->table.n_outputs;
    merging->n_outputs = n_outputs;
    merging->from = gsa__alloc_zeroed(env, n + 1, sizeof *merging->from);
    bool done = begin_scratch(merging) && merging->from;
    for (size_t s = 0; s < n && done; s++)
        done = enter(&merging->from[s], merging, merging->states[s]);
    if (done && merging->base)
        done = enter(&merging->from[n], merging, merging->base);
    if (!done)
        return gsa__fail_memory(env, error, "no memory to merge %zu states of %zu outputs", n, n_outputs);
    if (merging->n_slices > 0)
        merging->found = merging->slices[0];
    bool averaged = into && into->params.value[GSA__PARAM_average] != GSA__AVERAGE_LAST;
    merging->steps.kept = into ? 1 - fresh_share(merging, into) : 0;
    merging->steps.total = averaged ? gsa__clock_total(into, into->clock.now) : 0;
    return GSA_OK;
}

void gsa__merging_end(gsa__merging *merging)
{
    const gsa_env *env = merging->env;
    if (!env)
        return;
    for (size_t s = 0; merging->from && s <= merging->n_states; s++)
        gsa__free(env, merging->from[s].to);
    gsa__free(env, merging->from);
    end_scratch(merging);
}

/* ---- a block ----------------------------------------------------------------------------------------------------- */

/* Where last weights start from, and by how much averages start below. A new run started from the base's average. */
static void take_start(gsa__merging *merging, const gsa__slots *slots)
{
    gsa__view *start = &merging->start;
    gsa__view_take(start, &merging->from[merging->n_states], slots);
    for (size_t i = 0; i < start->block * start->n_outputs && !merging->goes_on; i++) {
        start->last[i] -= start->lag[i];
        start->lag[i] = 0;
    }
}

gsa_status gsa__merging_add(gsa__merging *merging, size_t number, const gsa__slots *slots, gsa_error *error)
{
    bool units_free = merging->goes_on && merging->base->units_free;
    take_start(merging, slots);
    merging->tree.n_slots = slots->n;
    for (size_t s = 0; s < merging->n_states; s++) {
        const gsa__merged *from = &merging->from[s];
        gsa__sums *sums = gsa__tree_next(&merging->tree, number + s, 1);
        gsa__view_take(&merging->view, from, slots);
        if (s + 1 < merging->n_states)
            gsa__view_ask(from + 1, slots);
        if (!from->state->kernels->sum_changes(sums, &merging->view, &merging->start, (float)(1 - from->fresh),
                                               units_free, slots->n))
            return gsa__fail(error, GSA_CONFLICT, "state %zu did not start from this base; give its own",
                             number + s + 1);
        gsa__tree_grow(&merging->tree);
    }
    return GSA_OK;
}

/* The base's slots become those of the result but for the weights. */
static void mean_changes(gsa__merging *merging, gsa__sums *sums, size_t n)
{
    const gsa_state *into = merging->into;
    if (sums->is_empty)
        gsa__sums_clear(sums, merging->n_outputs);
    into->kernels->mean_changes(sums, &merging->start, merging->goes_on && merging->base->units_free,
                                merging->goes_on ? 0 : (double)merging->n_states, n, &merging->steps);
}

gsa_status gsa__merging_changes(gsa__merging *merging, const gsa__slots *slots, gsa__sums **out, gsa_error *error)
{
    gsa_status status = GSA_OK;
    if (merging->n_slices > 0 && gsa__slots_at(slots, 0) > 0) {
        take_start(merging, slots);
        *out = gsa__slices_find(merging, slots);
    } else {
        status = gsa__merging_add(merging, 0, slots, error);
        *out = gsa__tree_sum(&merging->tree);
    }
    if (status == GSA_OK)
        mean_changes(merging, *out, slots->n);
    return status;
}

/* Counts that fit stay in the table, where learning has them at hand. */
static void carry_presence(gsa__merging *merging, size_t first, size_t n)
{
    gsa__carried *carried = &merging->into->carried;
    for (size_t i = 0; i < n && first < carried->n; i++) {
        carried->mass[first + i] = merging->start.mass[i];
        carried->count[first + i] = (uint64_t)merging->start.count[i];
        merging->start.mass[i] = merging->start.count[i] = 0;
    }
}

static void find_steps(gsa__merging *merging, size_t which, size_t n)
{
    const gsa__stride *along = &merging->along[which];
    gsa__block_steps *steps = &merging->steps;
    float *restrict step = steps->step[which], gamma = (float)along->gamma;
    if (along->alpha > 0)
        merging->into->kernels->gains(steps->all, steps->one, n, (float)along->alpha, step);
    for (size_t i = 0; i < n; i++)
        step[i] = along->alpha > 0 ? step[i] * gamma : gamma;
}

static void enter_block(gsa__merging *merging, gsa__sums *sums, size_t first, size_t n)
{
    const gsa__table *table = &merging->into->table;
    mean_changes(merging, sums, n);
    carry_presence(merging, first, n);
    for (size_t which = 0; which < 2; which++)
        find_steps(merging, which, n);
    merging->into->kernels->enter_slots(gsa__table_slot(table, first), table->room, &merging->start, sums,
                                        &merging->steps, n);
}

void gsa__merging_enter(gsa__merging *merging, gsa__sums *sums, size_t first, size_t n)
{
    take_start(merging, &(gsa__slots){.first = first, .n = n});
    enter_block(merging, sums, first, n);
}

/* ---- all slots --------------------------------------------------------------------------------------------------- */

/* Slots that are worth a task, a multiple of every block. */
#define RANGE_SLOTS ((size_t)1 << 16)

static gsa_status merge_states(gsa__merging *merging, size_t first, size_t end, gsa_error *error)
{
    size_t block = merging->start.block;
    gsa_status status = GSA_OK;
    for (; first < end && status == GSA_OK; first += block) {
        gsa__slots slots = {.first = first, .n = end - first < block ? end - first : block};
        status = gsa__merging_add(merging, 0, &slots, error);
        if (status == GSA_OK)
            enter_block(merging, gsa__tree_sum(&merging->tree), first, slots.n);
    }
    return status;
}

/* Task: a slice, or a range of slots. All share what is merged and into what, each has its own scratch. */
static gsa_status merge_range(void *ctx, size_t task, gsa_error *error)
{
    gsa__merging own = *(const gsa__merging *)ctx;
    size_t first = task * RANGE_SLOTS, n_slots = own.into->table.n_slots;
    size_t end = n_slots - first < RANGE_SLOTS ? n_slots : first + RANGE_SLOTS;
    own.tree = (gsa__tree){0};
    own.view = own.start = (gsa__view){0};
    gsa_status status =
        begin_scratch(&own) ? GSA_OK : gsa__fail_memory(own.env, error, "no memory to merge %zu states", own.n_states);
    if (status == GSA_OK && own.n_slices > 0)
        gsa__slices_enter(&own, task);
    else if (status == GSA_OK)
        status = merge_states(&own, first, end, error);
    end_scratch(&own);
    return status;
}

static void add_class_sums(gsa_state *into, const gsa__merged *from, double share)
{
    const gsa__class_sums *sums = &from->state->class_sums;
    for (size_t i = 0; i < sums->n && i <= from->state->labels.n; i++)
        into->class_sums.at[i > 0 ? from->to[i - 1] + 1 : 0] += share * from->weight * sums->at[i];
}

static void take_class_sums(gsa__merging *merging)
{
    for (size_t s = 0; s < merging->n_states; s++)
        add_class_sums(merging->into, &merging->from[s], 1);
    if (merging->base)
        add_class_sums(merging->into, &merging->from[merging->n_states], 1 - (double)merging->n_states);
}

/* Slots do not depend on one another: the bits are the same for any number of threads. */
gsa_status gsa__merging_slots(gsa__merging *merging, gsa_error *error)
{
    size_t n_slots = merging->into->table.n_slots, n = merging->n_slices;
    gsa_status status = n > 0 ? merge_states(merging, 0, 1, error) : GSA_OK;
    if (n == 0)
        n = (n_slots + RANGE_SLOTS - 1) / RANGE_SLOTS;
    if (status == GSA_OK)
        status = gsa__workers_run(gsa__workers_count(merging->env), n, merge_range, merging, merging->env, error);
    if (status == GSA_OK)
        take_class_sums(merging);
    return status;
}
