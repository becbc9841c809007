/* States in memory: what becomes of their outputs, and their slots as arrays. */
#include "merge/resident.h"

#include "learn/lineage.h"

#include <string.h>

void gsai_resident_begin(gsai_resident *resident, const gsa_state *state, const gsa_state *base, bool continues,
                         const gsa_state *into, gsai_arena *arena)
{
    double total = gsai_state_average_total(state);
    const gsai_labels *own = gsai_state_labels(state);
    *resident = (gsai_resident){.n_labels = own->n,
                                .prior = gsai_state_prior(state),
                                .is_standardised = gsai_state_is_standardised(state),
                                .table = gsai_state_table(state),
                                .per_total = total > 0 ? 1 / total : 0,
                                .fresh = gsai_fresh_share(state, base, continues),
                                .sign = 1,
                                .unseen = (float)gsai_state_unseen(state),
                                .weight = 1};
    if (!into)
        return;
    resident->weight = base ? 1 : gsai_state_weight_in(state, into);
    resident->label_offset = (float)(gsai_state_label_offset(state) - gsai_state_label_offset(into));
    if (!gsai_loss_has_classes(gsai_state_loss(into)))
        return;
    const gsai_labels *all = gsai_state_labels(into);
    resident->to = gsai_arena_take(arena, own->n, sizeof *resident->to);
    resident->split = gsai_state_splits(state, into);
    resident->is_placed = own->n != all->n || gsai_state_n_outputs(state) != gsai_state_n_outputs(into);
    for (size_t k = 0; resident->to && k < own->n; k++) {
        resident->to[k] = gsai_labels_find_text(all, own->at[k].text);
        resident->is_placed = resident->is_placed || resident->to[k] != k; /* else in the order of the result */
    }
    if (resident->to && gsai_state_is_binary(into) && own->n > 0 && resident->to[0] == 1)
        resident->sign = -1;
}

void gsai_view_begin(gsai_view *view, size_t n_outputs, gsai_arena *arena)
{
    size_t block = gsai_sums_block(n_outputs);
    double *memory = gsai_arena_take(arena, block, (n_outputs + 2) * sizeof *memory);
    *view = (gsai_view){.block = block, .n_outputs = n_outputs, .memory = memory};
    if (!memory)
        return;
    view->sum_sq = memory;
    view->count = memory + block;
    view->last = (float *)(memory + 2 * block);
    view->behind = view->last + block * n_outputs;
}

/* One output of a state into the outputs of the merged one. */
static void place(const gsai_resident *from, size_t output, float weight, size_t block, float *out)
{
    if (from->split) {
        for (size_t label = 0; label < from->n_labels; label++)
            out[from->to[label] * block] = label == 1 ? weight / 2 : -weight / 2;
    } else if (from->table->n_outputs > 1) {
        out[from->to[output] * block] = weight;
    } else {
        out[0] = from->sign * weight;
    }
}

/* Slots whose records are asked for before they are taken. */
#define AHEAD 16
/* Cells of a block of records that are taken side by side, for up to six outputs. */
#define MAX_GATHERED 1280

/* Slots that do not lie side by side, or outputs that are not those of the merged one. */
static void take_each(gsai_view *view, const gsai_resident *from, const gsai_slots *slots, size_t n)
{
    const gsai_table *table = from->table;
    size_t n_own = table->n_outputs > 1 ? from->n_labels : 1, size = view->block * view->n_outputs;
    memset(view->last, 0, size * sizeof *view->last);
    memset(view->behind, 0, size * sizeof *view->behind);
    for (size_t k = 0; k < view->n_outputs && gsai_slots_at(slots, 0) == 0 && view->n_outputs > 1; k++)
        view->last[k * view->block] = from->unseen;
    for (size_t i = 0; i < n; i++) {
        const gsai_cell *record = gsai_table_slot(table, gsai_slots_at(slots, i));
        const gsai_cell *terms = record + gsai_table_average(table);
        for (size_t k = 0; k < n_own; k++) {
            place(from, k, record[k].f, view->block, view->last + i);
            place(from, k, terms[k].f * (float)from->per_total, view->block, view->behind + i);
        }
        view->count[i] = (double)(int32_t)record[gsai_table_count(table)].u;
        view->sum_sq[i] = (double)record[gsai_table_mean(table)].f * view->count[i];
    }
}

void gsai_view_take(gsai_view *view, const gsai_resident *from, const gsai_slots *slots)
{
    const gsai_table *table = from->table;
    size_t n = slots->n, first = gsai_slots_at(slots, 0);
    while (n > 0 && (!table || gsai_slots_at(slots, n - 1) >= table->n_slots))
        n--;
    if (n < slots->n)
        memset(view->memory, 0, view->block * (view->n_outputs + 2) * sizeof(double));
    if (n == 0)
        return;
    gsai_cell gathered[MAX_GATHERED], *records = gsai_table_slot(table, first);
    size_t stride = gsai_table_stride(table);
    bool is_apart = slots->at || table->page;
    if (from->is_placed || (is_apart && n * stride > MAX_GATHERED)) {
        take_each(view, from, slots, n);
    } else {
        for (size_t i = 0; i < n && is_apart; i++) {
            if (i + AHEAD < n)
                __builtin_prefetch(gsai_table_slot(table, gsai_slots_at(slots, i + AHEAD)));
            memcpy(gathered + i * stride, gsai_table_slot(table, gsai_slots_at(slots, i)), stride * sizeof *gathered);
        }
        gsai_kernels_best()->view_records(view, is_apart ? gathered : records, table->room, n, (float)from->per_total);
    }
    const gsai_prior_totals *prior = from->prior;
    for (size_t i = 0; i < n && gsai_slots_at(slots, i) < prior->n; i++) {
        view->sum_sq[i] += prior->at[gsai_slots_at(slots, i)].sum_sq;
        view->count[i] += (double)prior->at[gsai_slots_at(slots, i)].count;
    }
    for (size_t i = 0; i < n && from->weight != 1; i++)
        view->sum_sq[i] *= from->weight;
    if (first == 0)
        view->last[0] += from->label_offset;
}
