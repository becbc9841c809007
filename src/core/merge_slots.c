/* Slots: taken from the states, added up, entered in the result. */
#include "core/merge_slots.h"

#include "core/change.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/real.h"

#include <math.h>

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

static bool enter(gsa__merged *from, const gsa__merging *merging, const gsa_state *state)
{
    const gsa_state *into = merging->into;
    bool averaged = state->params.value[GSA__PARAM_average] != GSA__AVERAGE_LAST;
    from->state = state;
    from->table = gsa__state_table(state);
    from->total = averaged ? gsa__clock_total(state, state->clock.now) : 0;
    from->fresh = fresh_share(merging, state);
    from->sign = 1;
    if (!gsa__loss_has_classes(into->loss))
        return true;
    from->to = gsa__alloc(&into->env, state->labels.n, sizeof *from->to);
    for (size_t k = 0; from->to && k < state->labels.n; k++)
        from->to[k] = gsa__labels_find_text(&into->labels, state->labels.at[k].text);
    from->split = gsa__state_splits(state, into);
    if (from->to && gsa__state_is_binary(into) && state->labels.n > 0 && from->to[0] == 1)
        from->sign = -1;
    return from->to != NULL;
}

gsa_status gsa__merging_begin(gsa__merging *merging, gsa_error *error)
{
    const gsa_env *env = &merging->into->env;
    size_t n = merging->n_states, n_outputs = merging->into->table.n_outputs, n_sums;
    bool fits = gsa__multiply(n, GSA__SUMS(n_outputs), &n_sums),
         gains = merging->goes_on && merging->shares == 0 && n > 1;
    merging->from = gsa__alloc_zeroed(env, n + 1, sizeof *merging->from);
    merging->sums = fits ? gsa__alloc(env, n_sums, sizeof *merging->sums) : NULL;
    merging->start = gsa__alloc(env, 3 * n_outputs, sizeof *merging->start);
    merging->met = gains ? gsa__alloc_zeroed(env, merging->into->table.n_slots, sizeof *merging->met) : NULL;
    bool done = merging->from && merging->sums && merging->start && (merging->met || !gains);
    for (size_t s = 0; s < n && done; s++)
        done = enter(&merging->from[s], merging, merging->states[s]);
    if (done && merging->base)
        done = enter(&merging->from[n], merging, merging->base);
    if (!done)
        return gsa__fail(error, GSA_MEMORY, "no memory to merge %zu states of %zu outputs", n, n_outputs);
    merging->fresh = fresh_share(merging, merging->into);
    return GSA_OK;
}

void gsa__merging_end(gsa__merging *merging)
{
    const gsa_env *env = &merging->into->env;
    for (size_t s = 0; merging->from && s <= merging->n_states; s++)
        gsa__free(env, merging->from[s].to);
    gsa__free(env, merging->from);
    gsa__free(env, merging->sums);
    gsa__free(env, merging->start);
    gsa__free(env, merging->met);
}

/* ---- taking ------------------------------------------------------------------------------------------------------ */

/* One output of a state into the outputs of the merged one. */
static void place(const gsa__merged *from, size_t output, double weight, double *out)
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

/* One slot in the outputs of the merged state, last weights and averaged; outputs that `from` does not have are zero.
 */
static void gather(const gsa__merged *from, size_t slot, size_t n_outputs, double *last, double *average)
{
    for (size_t k = 0; k < n_outputs; k++)
        last[k] = average[k] = 0;
    if (!from->state || slot >= from->table->n_slots)
        return;
    const gsa__cell *record = gsa__table_slot(from->table, slot), *terms = record + gsa__table_average(from->table);
    size_t n = from->table->n_outputs > 1 ? from->state->labels.n : 1;
    for (size_t k = 0; k < n; k++) {
        double weight = (double)record[k].f;
        place(from, k, weight, last);
        place(from, k, from->total > 0 ? weight - (double)terms[k].f / from->total : weight, average);
    }
}

/* Of the base. A new run started from the base's average. */
static void take_start(const gsa__merging *merging, size_t slot)
{
    size_t n_outputs = merging->into->table.n_outputs;
    double *last = merging->start, *average = last + n_outputs;
    gather(&merging->from[merging->n_states], slot, n_outputs, last, average);
    for (size_t k = 0; k < n_outputs && !merging->goes_on; k++)
        last[k] = average[k];
}

/* Where an average would stand if no weight had changed. */
static double average_start(const gsa__merging *merging, double fresh, size_t output)
{
    size_t n_outputs = merging->into->table.n_outputs;
    return fresh * merging->start[output] + (1 - fresh) * merging->start[n_outputs + output];
}

void gsa__merging_start(const gsa__merging *merging, size_t slot, const double **last, const double **average)
{
    size_t n_outputs = merging->into->table.n_outputs;
    take_start(merging, slot);
    for (size_t k = 0; k < n_outputs; k++)
        merging->start[2 * n_outputs + k] = average_start(merging, merging->fresh, k);
    *last = merging->start;
    *average = merging->start + 2 * n_outputs;
}

void gsa__add_up(double *sums, size_t n, size_t width)
{
    for (size_t step = 1; step < n; step *= 2)
        for (size_t s = 0; s + step < n; s += 2 * step)
            for (size_t i = 0; i < width; i++)
                sums[s * width + i] += sums[(s + step) * width + i];
}

/* Since the base, in what a feature's progress goes by. */
static double presence_of(const gsa__merging *merging, size_t s, size_t slot)
{
    const gsa_state *state = merging->states[s], *base = merging->base;
    if (!merging->goes_on)
        return 0;
    return base->units_free ? (double)(gsa__state_count(state, slot) - gsa__state_count(base, slot))
                            : gsa__state_mass(state, slot) - gsa__state_mass(base, slot);
}

void gsa__merging_change(const gsa__merging *merging, size_t s, size_t slot, double *sum)
{
    size_t n_outputs = merging->into->table.n_outputs;
    double c = gsa__state_mass(merging->states[s], slot);
    take_start(merging, slot);
    gather(&merging->from[s], slot, n_outputs, sum, sum + n_outputs);
    for (size_t k = 0; k < n_outputs; k++) {
        sum[k] = c * (sum[k] - merging->start[k]);
        sum[n_outputs + k] = c * (sum[n_outputs + k] - average_start(merging, merging->from[s].fresh, k));
    }
    double presence = presence_of(merging, s, slot);
    sum[2 * n_outputs] = c;
    sum[2 * n_outputs + 1] = presence;
    sum[2 * n_outputs + 2] = presence * presence;
}

/* A slot that the state has not met since the base: only this mass speaks for it. */
static void no_change(double mass, size_t n_outputs, double *sum)
{
    for (size_t k = 0; k < GSA__SUMS(n_outputs); k++)
        sum[k] = 0;
    sum[2 * n_outputs] = mass;
}

gsa__presence gsa__presence_of(const double *sum, size_t n_outputs)
{
    double all = sum[2 * n_outputs + 1];
    return (gsa__presence){(float)all, (float)(all > 0 ? sum[2 * n_outputs + 2] / all : 0)};
}

static void take_changes(gsa__merging *merging, size_t slot, uint64_t count_before, double mass_before)
{
    gsa__table *table = &merging->into->table;
    size_t n_outputs = table->n_outputs, width = GSA__SUMS(n_outputs);
    for (size_t s = 0; s < merging->n_states; s++) {
        if (slot == 0 || gsa__state_count(merging->states[s], slot) > count_before)
            gsa__merging_change(merging, s, slot, merging->sums + s * width);
        else
            no_change(merging->goes_on ? 0 : mass_before, n_outputs, merging->sums + s * width);
    }
    gsa__add_up(merging->sums, merging->n_states, width);
    double c = merging->sums[2 * n_outputs];
    if (merging->met)
        merging->met[slot] = gsa__presence_of(merging->sums, n_outputs);
    gsa__cell *record = gsa__table_slot(table, slot), *average = record + gsa__table_average(table);
    for (size_t k = 0; k < n_outputs && c > 0; k++) {
        record[k].f = (float)(merging->sums[k] / c);
        average[k].f = (float)(merging->sums[n_outputs + k] / c);
    }
}

/* Presence since the base, of all states together. */
static uint64_t new_presence(const gsa__merging *merging, size_t slot, uint64_t before)
{
    uint64_t count = 0;
    for (size_t s = 0; s < merging->n_states; s++)
        count += gsa__state_count(merging->states[s], slot) - before;
    return count;
}

static double new_mass(const gsa__merging *merging, size_t slot, double before)
{
    size_t n = merging->n_states;
    for (size_t s = 0; s < n; s++)
        merging->sums[s] = gsa__state_mass(merging->states[s], slot) - before;
    gsa__add_up(merging->sums, n, 1);
    return merging->shares > 1 ? merging->sums[0] / (double)merging->shares : merging->sums[0];
}

/* Counts that fit stay in the table, where learning has them at hand. */
void gsa__merging_enter(gsa_state *into, size_t slot, double mass, uint64_t count)
{
    gsa__cell *record = gsa__table_slot(&into->table, slot);
    if (slot < into->carried.n) {
        into->carried.mass[slot] = mass;
        into->carried.count[slot] = count;
    } else if (count > 0) {
        record[gsa__table_mean(&into->table)].f = (float)(mass / (double)count);
        record[gsa__table_count(&into->table)].u = (uint32_t)count;
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

static void take_slot(gsa__merging *merging, size_t slot)
{
    const gsa_state *base = merging->base;
    uint64_t before = base ? gsa__state_count(base, slot) : 0, count = new_presence(merging, slot, before);
    double mass = base ? gsa__state_mass(base, slot) : 0;
    if (count > 0 || slot == 0) {
        take_changes(merging, slot, before, mass);
        mass += new_mass(merging, slot, mass);
    }
    gsa__merging_enter(merging->into, slot, mass, before + (merging->shares > 1 ? count / merging->shares : count));
}

void gsa__merging_take(gsa__merging *merging)
{
    size_t n_slots = merging->n_slices > 0 ? 1 : merging->into->table.n_slots;
    for (size_t slot = 0; slot < n_slots; slot++)
        take_slot(merging, slot);
    if (merging->n_slices > 0)
        gsa__slices_take(merging);
    take_class_sums(merging);
}

double gsa__merging_gain(const gsa__merging *merging, size_t slot, double alpha)
{
    if (!merging->met || !(alpha > 0) || !(merging->met[slot].all > merging->met[slot].one))
        return 1;
    return gsa__expm1(-alpha * (double)merging->met[slot].all) / gsa__expm1(-alpha * (double)merging->met[slot].one);
}

void gsa__merging_apply(gsa__merging *merging, const gsa__stride *along, const gsa__stride *along_average)
{
    gsa_state *into = merging->into;
    bool averaged = into->params.value[GSA__PARAM_average] != GSA__AVERAGE_LAST;
    double total = gsa__clock_total(into, into->clock.now);
    for (size_t slot = 0; slot < into->table.n_slots; slot++) {
        gsa__cell *weight = gsa__table_slot(&into->table, slot), *average = weight + gsa__table_average(&into->table);
        const double *last_start, *average_start;
        gsa__merging_start(merging, slot, &last_start, &average_start);
        double step = along->gamma * gsa__merging_gain(merging, slot, along->alpha);
        double average_step = along_average->gamma * gsa__merging_gain(merging, slot, along_average->alpha);
        for (size_t k = 0; k < into->table.n_outputs; k++) {
            double goal = average_start[k] + average_step * (double)average[k].f;
            weight[k].f = (float)(last_start[k] + step * (double)weight[k].f);
            average[k].f = averaged ? (float)(total * ((double)weight[k].f - goal)) : 0;
        }
    }
}
