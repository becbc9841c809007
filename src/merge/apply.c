/* Applying the changes of all states to the slots of the base. */
#include "merge/apply.h"

#include "learn/lineage.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/workers.h"

#include <string.h>

/* Slots that are worth a task, a multiple of every block. */
#define RANGE_SLOTS ((size_t)1 << 16)

gsa_status gsai_merging_begin(gsai_merging *merging, const gsai_delta *reduced, size_t n_reduced, gsa_error *error)
{
    gsai_arena *arena = &merging->arena;
    size_t n = merging->n_states, n_slots = gsai_state_table(merging->into)->n_slots;
    size_t n_ranges = n_reduced > 0 ? n_reduced + 1 : (n_slots + RANGE_SLOTS - 1) / RANGE_SLOTS;
    merging->residents = gsai_arena_take(arena, n + 1, sizeof *merging->residents);
    merging->deltas = gsai_arena_take(arena, n, sizeof *merging->deltas);
    merging->ranges = gsai_arena_take(arena, n_ranges, sizeof *merging->ranges);
    GSA_TRY(gsai_arena_check(arena, "the states to merge", error));
    for (size_t s = 0; s < n + (merging->base != NULL); s++)
        gsai_resident_begin(&merging->residents[s], s < n ? merging->states[s] : merging->base, merging->base,
                            merging->continues, merging->into, arena);
    for (size_t s = 0; s < n; s++)
        merging->deltas[s] = gsai_delta_of(&merging->residents[s], s);
    GSA_TRY(gsai_arena_check(arena, "the outputs of the states to merge", error));
    /* Reduced deltas have no intercept, which headers have. */
    for (size_t i = 0; i < n_ranges && n_reduced == 0; i++)
        merging->ranges[i] = (gsai_range){i * RANGE_SLOTS, (i + 1) * RANGE_SLOTS, merging->deltas, n};
    if (n_reduced > 0)
        merging->ranges[0] = (gsai_range){0, 1, merging->deltas, n};
    for (size_t i = 0; i < n_reduced; i++) {
        uint64_t first = reduced[i].first + 1, end = first + reduced[i].n_features;
        first = first < n_slots ? first : n_slots;
        gsai_delta_use(&reduced[i], gsai_state_own_table(merging->into));
        merging->ranges[i + 1] = (gsai_range){(size_t)first, end < n_slots ? (size_t)end : n_slots, &reduced[i], 1};
    }
    merging->ranges[n_ranges - 1].end = n_slots;
    merging->n_ranges = n_ranges;
    return GSA_OK;
}

gsa_status gsai_merging_adder(const gsai_merging *merging, gsai_adder *adder, gsa_error *error)
{
    const gsa_state *into = merging->into;
    size_t n = merging->n_states;
    gsa_status status = gsai_adder_begin(adder, n, n, gsai_state_n_outputs(into), merging->env, error);
    adder->base = &merging->residents[n];
    adder->continues = merging->continues;
    adder->steps.kept = 1 - gsai_fresh_share(into, merging->base, merging->continues);
    adder->steps.total = gsai_state_average_total(into);
    size_t record = gsai_table_stride(gsai_state_table(into)) * sizeof *adder->records;
    adder->records = gsai_arena_take(&adder->arena, adder->start.block, record);
    return status == GSA_OK ? gsai_arena_check(&adder->arena, "the slots of a merge", error) : status;
}

void gsai_adder_enter(gsai_adder *adder, const gsai_range *range)
{
    memcpy(adder->deltas, range->deltas, range->n_deltas * sizeof *adder->deltas);
    adder->n_deltas = range->n_deltas;
}

gsa_status gsai_adder_changes(gsai_adder *adder, const gsai_merging *merging, const gsai_slots *slots, gsai_sums **out,
                              gsa_error *error)
{
    bool continues = merging->continues;
    GSA_TRY(gsai_adder_add(adder, slots, 0, error));
    gsai_sums *sums = *out = gsai_tree_sum(&adder->tree, merging->n_states);
    if (sums->is_empty)
        gsai_sums_clear(sums, adder->n_outputs);
    adder->tree.kernels->mean_changes(sums, &adder->start, continues && gsai_state_is_standardised(merging->base),
                                      continues ? 0 : (double)merging->n_states, slots->n, &adder->steps);
    return GSA_OK;
}

/* Finds the next block of a range, of a table in pages that of slots in use; none if all are zeros. Returns where the
 * block after it begins. */
static size_t next_slots(const gsai_table *table, size_t first, size_t end, gsai_adder *adder, gsai_slots *out)
{
    size_t block = adder->start.block, n = end - first < block ? end - first : block;
    size_t slot = gsai_table_next(table, first);
    *out = (gsai_slots){.first = first, .n = slot < first + n ? n : 0};
    if (!table->page)
        return first + n;
    out->at = adder->list;
    for (out->n = 0; out->n < block && slot < end; slot = gsai_table_next(table, slot + 1))
        adder->list[out->n++] = (uint32_t)slot;
    return slot;
}

/* Task: a range. All share what is merged and into what, each has an adder of its own. Slots do not depend on one
 * another: the bits are the same for any number of threads. */
static gsa_status apply_range(void *ctx, size_t task, gsa_error *error)
{
    const gsai_merging *merging = ctx;
    const gsai_range *range = &merging->ranges[task];
    const gsai_prior_totals *prior = gsai_state_prior(merging->into);
    const gsai_table *table = gsai_state_table(merging->into);
    size_t stride = gsai_table_stride(table);
    gsai_adder adder;
    gsa_status status = gsai_merging_adder(merging, &adder, error);
    if (status == GSA_OK)
        gsai_adder_enter(&adder, range);
    gsai_slots slots;
    for (size_t first = range->first; first < range->end && status == GSA_OK;) {
        gsai_sums *sums;
        first = next_slots(table, first, range->end, &adder, &slots);
        size_t n = slots.n;
        if (n == 0)
            continue;
        status = gsai_adder_changes(&adder, merging, &slots, &sums, error);
        if (status != GSA_OK)
            break;
        /* Counts that fit stay in the table, where learning has them at hand. */
        for (size_t i = 0; i < n && slots.first < prior->n; i++) {
            prior->at[gsai_slots_at(&slots, i)] = (gsai_totals){adder.start.sum_sq[i], (uint64_t)adder.start.count[i]};
            adder.start.sum_sq[i] = adder.start.count[i] = 0;
        }
        for (size_t which = 0; which < 2; which++) {
            float *restrict step = adder.steps.step[which], gamma = (float)merging->line_step[which].gamma;
            double alpha = merging->line_step[which].alpha;
            if (alpha > 0)
                adder.tree.kernels->aggregations(adder.steps.all, adder.steps.one, n, (float)alpha, step);
            for (size_t i = 0; i < n; i++)
                step[i] = alpha > 0 ? step[i] * gamma : gamma;
        }
        adder.tree.kernels->enter_slots(slots.at ? adder.records : gsai_table_slot(table, slots.first), table->room,
                                        &adder.start, sums, &adder.steps, n);
        for (size_t i = 0; i < n && slots.at; i++)
            memcpy(gsai_table_slot(table, slots.at[i]), adder.records + i * stride, stride * sizeof(gsai_cell));
    }
    gsai_adder_end(&adder);
    return status;
}

gsa_status gsai_merging_apply(gsai_merging *merging, gsa_error *error)
{
    return gsai_workers_run(gsai_workers_count(merging->env), merging->n_ranges, apply_range, merging, merging->env,
                            error);
}
