/* Slots: added up, entered in the result, moved along the change. */
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
    return gsa__tree_begin(&merging->tree, merging->n_states, merging->n_outputs, merging->env) &&
           gsa__view_begin(&merging->view, merging->n_outputs, merging->env) &&
           gsa__view_begin(&merging->start, merging->n_outputs, merging->env);
}

static void end_scratch(gsa__merging *merging)
{
    gsa__tree_end(&merging->tree, merging->env);
    gsa__free(merging->env, merging->view.memory);
    gsa__free(merging->env, merging->start.memory);
}

gsa_status gsa__merging_begin(gsa__merging *merging, gsa_error *error)
{
    const gsa_state *into = merging->into;
    const gsa_env *env = merging->env = into ? &into->env : &merging->base->env;
    size_t n = merging->n_states, n_outputs = into ? into->table.n_outputs : merging->base->table.n_outputs;
    bool gains = into && merging->goes_on && n > 1;
    merging->n_outputs = n_outputs;
    merging->from = gsa__alloc_zeroed(env, n + 1, sizeof *merging->from);
    merging->met.all = gains ? gsa__alloc_zeroed(env, into->table.n_slots, 2 * sizeof(float)) : NULL;
    bool done = begin_scratch(merging) && merging->from && (merging->met.all || !gains);
    for (size_t s = 0; s < n && done; s++)
        done = enter(&merging->from[s], merging, merging->states[s]);
    if (done && merging->base)
        done = enter(&merging->from[n], merging, merging->base);
    if (!done)
        return gsa__fail_memory(env, error, "no memory to merge %zu states of %zu outputs", n, n_outputs);
    if (gains) {
        merging->met.one = merging->met.all + into->table.n_slots;
        gsa__prefer_huge_pages(merging->met.all, into->table.n_slots * 2 * sizeof(float));
    }
    merging->fresh = into ? fresh_share(merging, into) : 1;
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
    gsa__free(env, merging->met.all);
    end_scratch(merging);
}

/* ---- ranges of slots on all threads ------------------------------------------------------------------------------ */

/* Slots that are worth a thread. */
#define RANGE_SLOTS ((size_t)1 << 16)

typedef struct ranges {
    const gsa__merging *merging;
    size_t n_slots, n;
    gsa_status (*merge)(gsa__merging *merging, const void *ctx, size_t first, size_t end, gsa_error *error);
    const void *ctx;
} ranges;

/* Task: a range, which begins with a block. All ranges share what is merged and into what, each has its own scratch. */
static gsa_status merge_range(void *ctx, size_t task, gsa_error *error)
{
    const ranges *of = ctx;
    gsa__merging own = *of->merging;
    size_t block = own.tree.block, n_blocks = (of->n_slots + block - 1) / block;
    size_t first = n_blocks * task / of->n * block, end = n_blocks * (task + 1) / of->n * block;
    own.tree = (gsa__tree){0};
    own.view = own.start = (gsa__view){0};
    gsa_status status =
        begin_scratch(&own) ? GSA_OK : gsa__fail_memory(own.env, error, "no memory to merge %zu states", own.n_states);
    if (status == GSA_OK)
        status = of->merge(&own, of->ctx, first, end < of->n_slots ? end : of->n_slots, error);
    end_scratch(&own);
    return status;
}

/* Slots do not depend on one another: the bits are the same for any number of ranges. */
static gsa_status merge_ranges(gsa__merging *merging, ranges of, gsa_error *error)
{
    size_t n_threads = gsa__workers_count(merging->env), max = of.n_slots / RANGE_SLOTS;
    of.merging = merging;
    of.n = max < n_threads ? max : n_threads;
    return of.n > 1 ? gsa__workers_run(n_threads, of.n, merge_range, &of, merging->env, error)
                    : of.merge(merging, of.ctx, 0, of.n_slots, error);
}

/* ---- taking ------------------------------------------------------------------------------------------------------ */

/* Of the base. A new run started from the base's average. */
void gsa__merging_start(gsa__merging *merging, size_t first, size_t n)
{
    gsa__view *start = &merging->start;
    gsa__view_take(start, &merging->from[merging->n_states], first, n);
    for (size_t i = 0; i < start->block * start->n_outputs && !merging->goes_on; i++) {
        start->last[i] -= start->lag[i];
        start->lag[i] = 0;
    }
}

gsa_status gsa__merging_add(gsa__merging *merging, size_t number, size_t first, size_t n, gsa_error *error)
{
    bool units_free = merging->goes_on && merging->base->units_free;
    merging->tree.n_slots = n;
    for (size_t s = 0; s < merging->n_states; s++) {
        const gsa__merged *from = &merging->from[s];
        gsa__sums *sums = gsa__tree_next(&merging->tree, number + s, 1);
        gsa__view_take(&merging->view, from, first, n);
        if (!gsa__sums_take(sums, &merging->view, &merging->start, from->fresh, units_free, n))
            return gsa__fail(error, GSA_CONFLICT, "state %zu did not start from this base; give its own",
                             number + s + 1);
        gsa__tree_grow(&merging->tree);
    }
    return GSA_OK;
}

/* Counts that fit stay in the table, where learning has them at hand. */
static void enter_presence(gsa_state *into, size_t first, size_t n, const double *mass, const double *count)
{
    gsa__cell *record = gsa__table_slot(&into->table, first) + gsa__table_mean(&into->table);
    size_t stride = gsa__table_stride(&into->table);
    for (size_t i = 0; i < n && first < into->carried.n; i++) {
        into->carried.mass[first + i] = mass[i];
        into->carried.count[first + i] = (uint64_t)count[i];
    }
    for (size_t i = 0; i < n && first >= into->carried.n; i++) {
        record[i * stride].f = (float)(mass[i] / (count[i] > 0 ? count[i] : 1));
        record[i * stride + 1].u = (uint32_t)(int32_t)(count[i] < INT32_MAX ? count[i] : INT32_MAX);
    }
}

/* The mean change of an output, c being the sum of masses. */
static void enter_change(gsa__cell *restrict out, size_t stride, const float *restrict sum, const float *restrict c,
                         size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i * stride].f = sum[i] / c[i];
}

/* What slots have now, in place of what the base had of them; *c: what changes are to be divided by. */
static void add_gained(gsa__merging *merging, const gsa__sums *sums, size_t n, float *restrict c)
{
    const float *restrict gained = sums->sum + 2 * merging->n_outputs * merging->tree.block;
    double *restrict mass = merging->start.mass, *restrict count = merging->start.count;
    double n_states = (double)merging->n_states;
    for (size_t i = 0; i < n; i++) {
        double n_counting = merging->goes_on ? sums->met[i] : n_states;
        double total = n_counting * mass[i] + (double)gained[i];
        c[i] = (float)(total > 0 ? total : 1);
        mass[i] += (double)gained[i];
        count[i] += sums->count[i];
    }
}

static void enter_met(const double *restrict count, const float *restrict gained, const float *restrict squares,
                      bool units_free, size_t n, float *restrict all, float *restrict one)
{
    const float free = units_free ? 1 : 0;
    for (size_t i = 0; i < n; i++) {
        all[i] = free * (float)count[i] + (1 - free) * gained[i];
        one[i] = squares[i] / (all[i] > 0 ? all[i] : 1);
    }
}

void gsa__merging_enter(gsa__merging *merging, const gsa__sums *sums, size_t first, size_t n)
{
    gsa__table *table = &merging->into->table;
    gsa__cell *record = gsa__table_slot(table, first);
    size_t block = merging->tree.block, n_outputs = merging->n_outputs, stride = gsa__table_stride(table);
    float *c = merging->view.scratch[0];
    if (!sums->is_empty) {
        add_gained(merging, sums, n, c);
        for (size_t k = 0; k < n_outputs; k++) {
            enter_change(record + k, stride, sums->sum + k * block, c, n);
            enter_change(record + table->room + k, stride, sums->sum + (n_outputs + k) * block, c, n);
        }
        const float *gained = sums->sum + 2 * n_outputs * block;
        if (merging->met.all)
            enter_met(sums->count, gained, gained + block, merging->base->units_free, n, merging->met.all + first,
                      merging->met.one + first);
    }
    enter_presence(merging->into, first, n, merging->start.mass, merging->start.count);
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

static gsa_status take_range(gsa__merging *merging, const void *unused, size_t first, size_t end, gsa_error *error)
{
    size_t block = merging->tree.block;
    gsa_status status = GSA_OK;
    (void)unused;
    for (; first < end && status == GSA_OK; first += block) {
        size_t n = end - first < block ? end - first : block;
        gsa__merging_start(merging, first, n);
        status = gsa__merging_add(merging, 0, first, n, error);
        if (status == GSA_OK)
            gsa__merging_enter(merging, gsa__tree_sum(&merging->tree), first, n);
    }
    return status;
}

gsa_status gsa__merging_take(gsa__merging *merging, gsa_error *error)
{
    size_t n_slots = merging->n_slices > 0 ? 1 : merging->into->table.n_slots;
    gsa_status status = merge_ranges(merging, (ranges){.n_slots = n_slots, .merge = take_range}, error);
    if (status == GSA_OK && merging->n_slices > 0)
        gsa__slices_take(merging);
    if (status == GSA_OK)
        take_class_sums(merging);
    return status;
}

/* ---- applying ---------------------------------------------------------------------------------------------------- */

/* 1 - e^-x for x >= 0 (else 0), to a few units of a float's last place: e^-x = 2^k e^r, |r| <= ln 2 / 2, and
 *   1 - 2^k (1 + p) = (1 - 2^k) - 2^k p      p = e^r - 1
 * which is -p itself near 0. From 80 on it is 1. */
static inline float share_gone(float x)
{
    const float rounder = 12582912.0F; /* 1.5 * 2^23: a sum with it has no fraction */
    float least = x > 0 ? x : 0, far = least < 80 ? least : 80, k = (far * -1.44269504F + rounder) - rounder;
    float r = (-far - k * 0.693145752F) - k * 1.42860677e-6F;
    float p = r + r * r * (0.5F + r * (0.166666667F + r * (0.0416666667F + r * (8.33333333e-3F + r * 1.38888889e-3F))));
    gsa__cell power = {.u = (uint32_t)((int32_t)k + 127) << 23};
    return (1 - power.f) - power.f * p;
}

void gsa__gains(const float *restrict all, const float *restrict one, size_t n, double alpha, float *restrict gain)
{
    float a = (float)alpha;
    for (size_t i = 0; i < n; i++) {
        float of_all = share_gone(a * all[i]), of_one = share_gone(a * one[i]);
        float ratio = (of_one > 0 ? of_all : 1) / (of_one > 0 ? of_one : 1);
        gain[i] = all[i] > one[i] ? ratio : 1;
    }
}

static void find_steps(const gsa__merging *merging, const gsa__stride *along, size_t first, size_t n, float *step)
{
    for (size_t i = 0; i < n; i++)
        step[i] = 1;
    if (merging->met.all && along->alpha > 0)
        gsa__gains(merging->met.all + first, merging->met.one + first, n, along->alpha, step);
    for (size_t i = 0; i < n; i++)
        step[i] *= (float)along->gamma;
}

/* One output of some slots; floats, not cells: gcc makes vectors of them. */
__attribute__((always_inline)) static inline void move(float *restrict weight, size_t room, const gsa__view *start,
                                                       size_t k, float *const step[2], double kept, double total,
                                                       size_t n)
{
    const float *restrict last = start->last + k * start->block, *restrict lag = start->lag + k * start->block,
                          *restrict last_step = step[0], *restrict average_step = step[1];
    for (size_t i = 0; i < n; i++) {
        size_t at = i * (2 * room + 2);
        double from = (double)last[i];
        double goal = (from - kept * (double)lag[i]) + (double)average_step[i] * (double)weight[at + room];
        float to = (float)(from + (double)last_step[i] * (double)weight[at]);
        weight[at] = to;
        weight[at + room] = (float)(total * ((double)to - goal)) + 0.0F;
    }
}

/* How far to go along the changes of the last weights and of the averaged. */
typedef struct both_strides {
    gsa__stride last, average;
} both_strides;

static gsa_status apply_range(gsa__merging *merging, const void *ctx, size_t first, size_t end, gsa_error *error)
{
    const both_strides *along = ctx;
    gsa_state *into = merging->into;
    bool averaged = into->params.value[GSA__PARAM_average] != GSA__AVERAGE_LAST;
    double total = averaged ? gsa__clock_total(into, into->clock.now) : 0, kept = 1 - merging->fresh;
    size_t block = merging->tree.block;
    float *const *step = merging->view.scratch;
    (void)error;
    for (; first < end; first += block) {
        size_t n = end - first < block ? end - first : block;
        float *weight = &gsa__table_slot(&into->table, first)->f;
        gsa__merging_start(merging, first, n);
        find_steps(merging, &along->last, first, n, step[0]);
        find_steps(merging, &along->average, first, n, step[1]);
        if (into->table.room == 1)
            move(weight, 1, &merging->start, 0, step, kept, total, n);
        for (size_t k = 0; k < merging->n_outputs && into->table.room > 1; k++)
            move(weight + k, into->table.room, &merging->start, k, step, kept, total, n);
    }
    return GSA_OK;
}

gsa_status gsa__merging_apply(gsa__merging *merging, const gsa__stride *along, const gsa__stride *along_average,
                              gsa_error *error)
{
    const both_strides both = {*along, *along_average};
    return merge_ranges(merging, (ranges){.n_slots = merging->into->table.n_slots, .merge = apply_range, .ctx = &both},
                        error);
}
