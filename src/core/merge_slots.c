/* Slots: added up, entered in the result, moved along the change. */
#include "core/merge_slots.h"

#include "core/change.h"

#include "base/error.h"
#include "base/memory.h"

#include <string.h>

/* ---- setting up -------------------------------------------------------------------------------------------------- */

/* How much of the average of a copy comes from weights since its base; the rest is the base's average. */
static double fresh_share(const gsa__merging *merging, const gsa_state *state)
{
    const gsa_state *base = merging->base;
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
    return !merging->into || !gsa__loss_has_classes(merging->into->loss) || find_places(from, state, merging->into);
}

gsa_status gsa__merging_begin(gsa__merging *merging, gsa_error *error)
{
    const gsa_state *into = merging->into;
    const gsa_env *env = merging->env = into ? &into->env : &merging->base->env;
    size_t n = merging->n_states, n_outputs = into ? into->table.n_outputs : merging->base->table.n_outputs;
    bool gains = into && merging->goes_on && merging->shares == 0 && n > 1;
    merging->n_outputs = n_outputs;
    merging->from = gsa__alloc_zeroed(env, n + 1, sizeof *merging->from);
    merging->met = gains ? gsa__alloc_zeroed(env, into->table.n_slots, sizeof *merging->met) : NULL;
    bool done = gsa__tree_begin(&merging->tree, n, n_outputs, env) && gsa__view_begin(&merging->view, n_outputs, env) &&
                gsa__view_begin(&merging->start, n_outputs, env) && merging->from && (merging->met || !gains);
    for (size_t s = 0; s < n && done; s++)
        done = enter(&merging->from[s], merging, merging->states[s]);
    if (done && merging->base)
        done = enter(&merging->from[n], merging, merging->base);
    if (!done)
        return gsa__fail(error, GSA_MEMORY, "no memory to merge %zu states of %zu outputs", n, n_outputs);
    if (merging->met)
        gsa__prefer_huge_pages(merging->met, into->table.n_slots * sizeof *merging->met);
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
    gsa__free(env, merging->met);
    gsa__tree_end(&merging->tree, env);
    gsa__free(env, merging->view.memory);
    gsa__free(env, merging->start.memory);
}

/* ---- taking ------------------------------------------------------------------------------------------------------ */

/* Of the base. A new run started from the base's average. */
void gsa__merging_start(gsa__merging *merging, size_t first, size_t n)
{
    gsa__view *start = &merging->start;
    gsa__view_take(start, &merging->from[merging->n_states], first, n, merging->n_outputs);
    for (size_t i = 0; i < n * merging->n_outputs && !merging->goes_on; i++) {
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
        gsa__view_take(&merging->view, from, first, n, merging->n_outputs);
        if (!gsa__sums_take(sums, &merging->view, &merging->start, from->fresh, units_free, n, merging->n_outputs))
            return gsa__fail(error, GSA_CONFLICT, "state %zu did not start from the base that was given",
                             number + s + 1);
        gsa__tree_grow(&merging->tree);
    }
    return GSA_OK;
}

/* Counts that fit stay in the table, where learning has them at hand. */
static void enter_presence(gsa_state *into, size_t slot, double mass, double count)
{
    if (slot < into->carried.n) {
        into->carried.mass[slot] = mass;
        into->carried.count[slot] = (uint64_t)count;
    } else if (count > 0) {
        gsa__cell *record = gsa__table_slot(&into->table, slot) + gsa__table_mean(&into->table);
        record[0].f = (float)(mass / count);
        record[1].u = (uint32_t)count;
    }
}

static gsa__presence presence_of(const float *mass_and_squares, double count, bool units_free)
{
    float all = units_free ? (float)count : mass_and_squares[0];
    return (gsa__presence){all, all > 0 ? mass_and_squares[1] / all : 0};
}

static double whole_part(double count, size_t shares)
{
    return (double)((uint64_t)count / shares);
}

void gsa__merging_enter(gsa__merging *merging, const gsa__sums *sums, size_t first, size_t n)
{
    gsa_state *into = merging->into;
    size_t n_outputs = merging->n_outputs, width = gsa__sums_width(n_outputs),
           shares = merging->shares > 1 ? merging->shares : 1;
    const double *mass = merging->start.mass, *count = merging->start.count;
    for (size_t i = 0; i < n; i++) {
        const float *row = sums->row + i * width, *gained = row + 2 * n_outputs;
        if (sums->is_empty || !(sums->count[i] > 0)) {
            enter_presence(into, first + i, mass[i], count[i]);
            continue;
        }
        double n_counting = merging->goes_on ? (double)sums->n_met[i] : (double)merging->n_states;
        float c = (float)(n_counting * mass[i] + (double)gained[0]);
        gsa__cell *record = gsa__table_slot(&into->table, first + i),
                  *average = record + gsa__table_average(&into->table);
        for (size_t k = 0; k < n_outputs && c > 0; k++) {
            record[k].f = row[k] / c;
            average[k].f = row[n_outputs + k] / c;
        }
        if (merging->met)
            merging->met[first + i] = presence_of(gained, sums->count[i], merging->base->units_free);
        enter_presence(into, first + i, mass[i] + (double)gained[0] / (double)shares,
                       count[i] + whole_part(sums->count[i], shares));
    }
}

static void add_class_sums(gsa_state *into, const gsa__merged *from, double share)
{
    const gsa__class_sums *sums = &from->state->class_sums;
    for (size_t i = 0; i < sums->n && i <= from->state->labels.n; i++)
        into->class_sums.at[i > 0 ? from->to[i - 1] + 1 : 0] += share * sums->at[i];
}

static void take_class_sums(gsa__merging *merging)
{
    double share = merging->shares > 1 ? 1 / (double)merging->shares : 1;
    for (size_t s = 0; s < merging->n_states; s++)
        add_class_sums(merging->into, &merging->from[s], share);
    if (merging->base)
        add_class_sums(merging->into, &merging->from[merging->n_states], 1 - share * (double)merging->n_states);
}

gsa_status gsa__merging_take(gsa__merging *merging, gsa_error *error)
{
    size_t n_slots = merging->n_slices > 0 ? 1 : merging->into->table.n_slots,
           block = gsa__sums_block(merging->n_outputs);
    gsa_status status = GSA_OK;
    for (size_t first = 0; first < n_slots && status == GSA_OK; first += block) {
        size_t n = n_slots - first < block ? n_slots - first : block;
        gsa__merging_start(merging, first, n);
        status = gsa__merging_add(merging, 0, first, n, error);
        if (status == GSA_OK)
            gsa__merging_enter(merging, gsa__tree_sum(&merging->tree), first, n);
    }
    if (status == GSA_OK && merging->n_slices > 0)
        gsa__slices_take(merging);
    if (status == GSA_OK)
        take_class_sums(merging);
    return status;
}

/* ---- applying ---------------------------------------------------------------------------------------------------- */

/* 1 - e^-x for x >= 0, to a few units of a float's last place: e^-x = 2^k e^r, |r| <= ln 2 / 2, and
 *   1 - 2^k (1 + p) = (1 - 2^k) - 2^k p      p = e^r - 1
 * which is -p itself near 0. From 80 on it is 1. */
static inline float share_gone(float x)
{
    const float rounder = 12582912.0F; /* 1.5 * 2^23: a sum with it has no fraction */
    float far = x < 80 ? x : 80, k = (far * -1.44269504F + rounder) - rounder;
    float r = (-far - k * 0.693145752F) - k * 1.42860677e-6F;
    float p = r + r * r * (0.5F + r * (0.166666667F + r * (0.0416666667F + r * (8.33333333e-3F + r * 1.38888889e-3F))));
    uint32_t bits = (uint32_t)((int32_t)k + 127) << 23;
    float power;
    memcpy(&power, &bits, sizeof power);
    return (1 - power) - power * p;
}

void gsa__gains(const gsa__presence *met, size_t n, double alpha, float *gain)
{
    float a = (float)alpha;
    for (size_t i = 0; i < n; i++) {
        float of_all = share_gone(a * met[i].all), of_one = share_gone(a * met[i].one);
        gain[i] = met[i].all > met[i].one && of_one > 0 ? of_all / of_one : 1;
    }
}

static void find_steps(const gsa__merging *merging, const gsa__stride *along, size_t first, size_t n, float *step)
{
    for (size_t i = 0; i < n; i++)
        step[i] = 1;
    if (merging->met && along->alpha > 0)
        gsa__gains(merging->met + first, n, along->alpha, step);
    for (size_t i = 0; i < n; i++)
        step[i] *= (float)along->gamma;
}

__attribute__((always_inline)) static inline void move(gsa__cell *restrict record, size_t room, const gsa__view *start,
                                                       const float *restrict step, const float *restrict average_step,
                                                       double kept, double total, size_t n, size_t n_outputs)
{
    const float *restrict last = start->last, *restrict lag = start->lag;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n_outputs; k++) {
            gsa__cell *weight = record + i * (2 * room + 2) + k, *average = weight + room;
            double from = (double)last[i * n_outputs + k];
            double goal = (from - kept * (double)lag[i * n_outputs + k]) + (double)average_step[i] * (double)average->f;
            weight->f = (float)(from + (double)step[i] * (double)weight->f);
            average->f = (float)(total * ((double)weight->f - goal)) + 0.0F;
        }
}

/* Steps share the memory of a block's view, which is of no more use. */
void gsa__merging_apply(gsa__merging *merging, const gsa__stride *along, const gsa__stride *along_average)
{
    gsa_state *into = merging->into;
    bool averaged = into->params.value[GSA__PARAM_average] != GSA__AVERAGE_LAST;
    double total = averaged ? gsa__clock_total(into, into->clock.now) : 0, kept = 1 - merging->fresh;
    size_t n_slots = into->table.n_slots, block = gsa__sums_block(merging->n_outputs);
    float *step = merging->view.last, *average_step = merging->view.lag;
    for (size_t first = 0; first < n_slots; first += block) {
        size_t n = n_slots - first < block ? n_slots - first : block;
        gsa__cell *record = gsa__table_slot(&into->table, first);
        gsa__merging_start(merging, first, n);
        find_steps(merging, along, first, n, step);
        find_steps(merging, along_average, first, n, average_step);
        if (merging->n_outputs == 1)
            move(record, 1, &merging->start, step, average_step, kept, total, n, 1);
        else
            move(record, into->table.room, &merging->start, step, average_step, kept, total, n, merging->n_outputs);
    }
}
