/* States on the union of their knots. */
#include "learn/rebase.h"

#include "learn/inside.h"
#include "learn/learner.h"

#include "base/error.h"
#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool gsai_bases_agree(const gsa_state *const *states, size_t n)
{
    size_t s = 1;
    while (s < n && gsai_basis_equals(&states[s]->basis, &states[0]->basis))
        s++;
    return s >= n;
}

/* ---- the union --------------------------------------------------------------------------------------------------- */

typedef struct knot_of {
    uint32_t feature;
    float at, share;
} knot_of;

static int compare_knots(const void *a, const void *b)
{
    const knot_of *x = a, *y = b;
    if (x->feature != y->feature)
        return x->feature < y->feature ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

/* Fills in the knots of all states; the arena has them. */
static gsa_status find_union(const gsa_state *const *states, size_t n, gsai_arena *arena, gsai_basis *out,
                             gsa_error *error)
{
    size_t n_knots = 0, at = 0;
    *out = (gsai_basis){0};
    for (size_t s = 0; s < n; s++) {
        size_t plain = states[s]->table.n_slots - (states[s]->loss != NULL) - states[s]->basis.n_ids;
        n_knots += states[s]->basis.n_knots;
        out->at = plain > out->at ? plain : out->at;
    }
    knot_of *all = gsai_arena_take(arena, n_knots, sizeof *all);
    out->curve = gsai_arena_take(arena, n_knots, sizeof *out->curve);
    out->knot = gsai_arena_take(arena, n_knots, sizeof *out->knot);
    out->share = gsai_arena_take(arena, n_knots, sizeof *out->share);
    GSA_TRY(gsai_arena_check(arena, "the knots of states", error));
    for (size_t s = 0; s < n; s++)
        for (size_t i = 0; i < states[s]->basis.n; i++) {
            const gsai_curve *curve = &states[s]->basis.curve[i];
            for (size_t k = curve->first; k < curve->first + curve->n_knots; k++)
                all[at++] = (knot_of){curve->feature, states[s]->basis.knot[k], states[s]->basis.share[k] / (float)n};
        }
    qsort(all, n_knots, sizeof *all, compare_knots);
    for (size_t k = 0; k < n_knots; k++) {
        bool is_new = k == 0 || all[k].feature != all[k - 1].feature;
        if (is_new)
            out->curve[out->n++] = (gsai_curve){all[k].feature, (uint32_t)out->n_knots, 0};
        if (is_new || all[k].at != all[k - 1].at) {
            out->knot[out->n_knots++] = all[k].at;
            out->curve[out->n - 1].n_knots++;
        }
        out->share[out->n_knots - 1] = fminf(out->share[out->n_knots - 1] + all[k].share, 1);
    }
    return GSA_OK;
}

/* Nodes of a union at most. */
#define MAX_UNION ((size_t)1 << 24)

/* Finds the sides in a union of the two features of a surface. Returns the number of the union's surface of both, or
 * how many it has if it lacks one. */
static size_t surface_like(const gsai_basis *all, const gsai_basis *of, const gsai_surface *surface, uint32_t side[2])
{
    size_t found = 0;
    for (int i = 0; i < 2; i++)
        for (side[i] = 0; all->side[side[i]].feature != of->side[surface->side[i]].feature;)
            side[i]++;
    while (found < all->n_surfaces && memcmp(all->surface[found].side, side, sizeof all->surface[found].side) != 0)
        found++;
    return found;
}

static void add_surface(const gsai_basis *of, const gsai_surface *surface, gsai_basis *all)
{
    uint32_t side[2];
    if (surface_like(all, of, surface, side) < all->n_surfaces || all->n_ids > MAX_UNION)
        return;
    all->surface[all->n_surfaces++] = (gsai_surface){{side[0], side[1]}, (uint32_t)all->n_ids};
    all->n_ids += (size_t)all->side[side[0]].n_knots * all->side[side[1]].n_knots;
}

/* Adds the shares of rows at the nodes of a surface, which are nodes of the union too. */
static void share_nodes(const gsai_basis *of, const gsai_surface *surface, float part, gsai_basis *all)
{
    uint32_t number[2];
    const gsai_surface *own = &all->surface[surface_like(all, of, surface, number)];
    const gsai_curve *old[2] = {&of->side[surface->side[0]], &of->side[surface->side[1]]};
    for (size_t node = 0; node < (size_t)old[0]->n_knots * old[1]->n_knots; node++) {
        size_t at[2] = {node / old[1]->n_knots, node % old[1]->n_knots};
        for (int i = 0; i < 2; i++) {
            const gsai_curve *side = &all->side[number[i]];
            gsai_place place =
                gsai_place_of(all->side_knot + side->first, side->n_knots, of->side_knot[old[i]->first + at[i]]);
            at[i] = place.low + (place.share > 0.5F);
        }
        float *share = &all->share[own->first + at[0] * all->side[number[1]].n_knots + at[1]];
        *share = fminf(*share + part * of->share[surface->first + node], 1);
    }
}

/* The grids of all states: those of the same two features are one. */
static gsa_status find_surfaces(const gsa_state *const *states, size_t n, gsai_arena *arena, gsai_basis *out,
                                gsa_error *error)
{
    size_t n_knots = 0, n_surfaces = 0, at = 0;
    for (size_t s = 0; s < n; s++) {
        n_knots += states[s]->basis.n_side_knots;
        n_surfaces += states[s]->basis.n_surfaces;
    }
    out->n_ids = out->n_knots;
    if (n_surfaces == 0)
        return GSA_OK;
    knot_of *all = gsai_arena_take(arena, n_knots, sizeof *all);
    out->side = gsai_arena_take(arena, n_knots, sizeof *out->side);
    out->side_knot = gsai_arena_take(arena, n_knots, sizeof *out->side_knot);
    out->surface = gsai_arena_take(arena, n_surfaces, sizeof *out->surface);
    GSA_TRY(gsai_arena_check(arena, "the pairs of states", error));
    for (size_t s = 0; s < n; s++)
        for (size_t i = 0; i < states[s]->basis.n_sides; i++) {
            const gsai_curve *side = &states[s]->basis.side[i];
            for (size_t k = side->first; k < side->first + side->n_knots; k++)
                all[at++] = (knot_of){side->feature, states[s]->basis.side_knot[k], 0};
        }
    qsort(all, n_knots, sizeof *all, compare_knots);
    for (size_t k = 0; k < n_knots; k++) {
        bool is_new = k == 0 || all[k].feature != all[k - 1].feature;
        if (is_new)
            out->side[out->n_sides++] = (gsai_curve){all[k].feature, (uint32_t)out->n_side_knots, 0};
        if (is_new || all[k].at != all[k - 1].at) {
            out->side_knot[out->n_side_knots++] = all[k].at;
            out->side[out->n_sides - 1].n_knots++;
        }
    }
    for (size_t s = 0; s < n; s++)
        for (size_t i = 0; i < states[s]->basis.n_surfaces; i++)
            add_surface(&states[s]->basis, &states[s]->basis.surface[i], out);
    if (out->n_surfaces > GSAI_MAX_SURFACES || out->n_ids > MAX_UNION)
        return gsai_fail(error, GSA_CONFLICT, "the states have too many different pairs of columns");
    float *share = gsai_arena_take(arena, out->n_ids, sizeof *share);
    GSA_TRY(gsai_arena_check(arena, "the pairs of states", error));
    memcpy(share, out->share, out->n_knots * sizeof *share);
    out->share = share;
    for (size_t s = 0; s < n; s++)
        for (size_t i = 0; i < states[s]->basis.n_surfaces; i++)
            share_nodes(&states[s]->basis, &states[s]->basis.surface[i], 1 / (float)n, out);
    return GSA_OK;
}

/* ---- one state --------------------------------------------------------------------------------------------------- */

/* A slot on new knots as the sum of at most four on the old ones. */
#define SOURCES 4
typedef struct source_of {
    size_t slot[SOURCES];
    double share[SOURCES];
    double square; /* of the values that count, where it is not that of the sources; or 0 */
} source_of;

/* The share of the rows near a knot where none was. */
#define LEAST_SHARE 1e-6

/* The slot of a feature without a curve. */
static size_t plain_slot(const gsai_basis *basis, uint32_t feature)
{
    return (size_t)gsai_basis_id(basis, feature) + 1;
}

static source_of knot_source(const gsai_basis *from, const gsai_basis *to, const gsai_curve *curve, size_t k)
{
    const gsai_curve *old = gsai_basis_curve(from, curve->feature);
    float at = to->knot[curve->first + k];
    if (!old) /* a line through all knots */
        return (source_of){{plain_slot(from, curve->feature), 0},
                           {(double)at, 0},
                           fmax((double)to->share[curve->first + k], LEAST_SHARE)};
    gsai_place place = gsai_place_of(from->knot + old->first, old->n_knots, at);
    size_t low = (size_t)from->at + old->first + place.low + 1;
    return (source_of){{low, low + 1}, {1 - (double)place.share, (double)place.share}, 0};
}

/* The node of a surface as a sum of nodes of a state. A state without the surface has none of it in all of its rows. */
static source_of node_source(const gsai_basis *from, const gsai_basis *to, const gsai_surface *surface, size_t node)
{
    const gsai_curve *const side[2] = {&to->side[surface->side[0]], &to->side[surface->side[1]]};
    const float value[2] = {to->side_knot[side[0]->first + node / side[1]->n_knots],
                            to->side_knot[side[1]->first + node % side[1]->n_knots]};
    source_of of = {.square = 0};
    uint32_t old[SOURCES];
    float share[SOURCES];
    for (size_t s = 0; s < from->n_surfaces; s++) {
        const gsai_surface *own = &from->surface[s];
        const gsai_curve *const mine[2] = {&from->side[own->side[0]], &from->side[own->side[1]]};
        if (mine[0]->feature != side[0]->feature || mine[1]->feature != side[1]->feature)
            continue;
        size_t n = gsai_surface_nodes(mine, from->side_knot, value, old, share);
        for (size_t i = 0; i < n; i++) {
            of.slot[i] = (size_t)from->at + own->first + old[i] + 1;
            of.share[i] = (double)share[i];
        }
        return of;
    }
    of.square = fmax((double)to->share[surface->first + node], LEAST_SHARE);
    return of;
}

/* Returns the mixture of the numbers of slots; those beyond the table are 0. */
static double mixed(const gsai_table *table, const source_of *of, size_t cell)
{
    double sum = 0;
    for (size_t i = 0; i < SOURCES; i++)
        sum += of->share[i] != 0 && of->slot[i] < table->n_slots
                   ? of->share[i] * (double)gsai_table_slot(table, of->slot[i])[cell].f
                   : 0;
    return sum;
}

static double mixed_best(const gsa_state *from, const source_of *of, size_t output)
{
    const gsai_best_checkpoint *best = &from->best_checkpoint;
    double sum = 0;
    for (size_t i = 0; i < SOURCES; i++)
        sum += of->share[i] != 0 && of->slot[i] < best->n_slots
                   ? of->share[i] * (double)best->weight[of->slot[i] * best->n_outputs + output]
                   : 0;
    return sum;
}

static void fill_record(gsa_state *to, const gsa_state *from, size_t slot, const source_of *of)
{
    const gsai_table *old = &from->table;
    gsai_table *table = &to->table;
    size_t K = old->n_outputs, average = gsai_table_average(old), mean = gsai_table_mean(old);
    double count = 0, behind = 0, sum_sq = 0;
    gsai_table_use(table, slot);
    gsai_cell *record = gsai_table_slot(table, slot);
    for (size_t k = 0; k < K; k++) {
        record[k].f = (float)mixed(old, of, k);
        record[gsai_table_average(table) + k].f = (float)mixed(old, of, average + k);
    }
    for (size_t i = 0; i < SOURCES; i++) {
        double share = of->square > 0 ? i == 0 : of->share[i];
        if (share == 0 || of->slot[i] >= old->n_slots)
            continue;
        count += share * (double)gsai_table_slot(old, of->slot[i])[gsai_table_count(old)].u;
        behind += share * (of->slot[i] < from->prior.n ? (double)from->prior.at[of->slot[i]].count : 0);
        sum_sq += share * (of->slot[i] < from->prior.n ? from->prior.at[of->slot[i]].sum_sq : 0);
    }
    record[gsai_table_count(table)].u = (uint32_t)floor(count + 0.5);
    record[gsai_table_mean(table)].f = of->square > 0 ? (float)of->square : (float)mixed(old, of, mean);
    if (slot < to->prior.n)
        to->prior.at[slot] =
            (gsai_totals){of->square > 0 ? of->square * behind : sum_sq, (uint64_t)floor(behind + 0.5)};
    for (size_t k = 0; k < K && to->best_checkpoint.weight; k++)
        to->best_checkpoint.weight[slot * K + k] = (float)mixed_best(from, of, k);
}

/* Returns where a curve of a state is measured from, in cells `cell` on: its value at a knot at 0, or its mean. */
static double origin_of(const gsa_state *from, const gsai_basis *to, const gsai_curve *curve, const float *best,
                        size_t cell)
{
    double mean = 0, total = 0, value;
    for (size_t k = 0; k < curve->n_knots; k++) {
        source_of of = knot_source(&from->basis, to, curve, k);
        value = best ? mixed_best(from, &of, cell) : mixed(&from->table, &of, cell);
        if (to->knot[curve->first + k] == 0)
            return value;
        mean += value * (double)to->share[curve->first + k];
        total += (double)to->share[curve->first + k];
    }
    return total > 0 ? mean / total : 0;
}

/* Takes the origins of all curves off their knots, and adds them to the intercept. */
static void measure_curves(gsa_state *state, const gsa_state *from, const gsai_basis *to)
{
    gsai_table *table = &state->table;
    float *best = state->best_checkpoint.weight;
    size_t K = table->n_outputs;
    for (size_t i = 0; i < to->n; i++)
        for (size_t k = 0; k < K; k++) {
            const gsai_curve *curve = &to->curve[i];
            double origin[3] = {origin_of(from, to, curve, NULL, k),
                                origin_of(from, to, curve, NULL, gsai_table_average(&from->table) + k),
                                best ? origin_of(from, to, curve, from->best_checkpoint.weight, k) : 0};
            for (size_t at = 0; at <= curve->n_knots; at++) { /* the last is the intercept */
                size_t slot = at < curve->n_knots ? (size_t)to->at + curve->first + at + 1 : 0;
                double sign = slot > 0 ? -1 : 1;
                if (slot > 0 && to->knot[slot - 1 - to->at] == 0)
                    continue;
                gsai_cell *record = gsai_table_slot(table, slot), *average = record + gsai_table_average(table);
                record[k].f = (float)((double)record[k].f + sign * origin[0]);
                average[k].f = (float)((double)average[k].f + sign * origin[1]);
                if (best)
                    best[slot * K + k] = (float)((double)best[slot * K + k] + sign * origin[2]);
            }
        }
}

/* Gives a held-out row its values back, and bends it anew. */
static gsa_status bend_held(gsa_state *state, const gsai_basis *from, const gsai_basis *to, gsai_held_row **held,
                            gsa_error *error)
{
    gsai_row row = gsai_held_row_view(*held);
    gsai_arena arena = {.env = &state->env};
    uint32_t *index = gsai_arena_take(&arena, row.n + 1, sizeof *index);
    float *value = gsai_arena_take(&arena, row.n + 1, sizeof *value);
    size_t n = 0;
    gsa_status status = gsai_arena_check(&arena, "a held-out row", error);
    for (size_t i = 0; i < row.n && status == GSA_OK; i++) {
        uint32_t id = row.index[i];
        size_t b = 0, knot = (size_t)(id - from->at);
        if (id >= from->at && knot >= from->n_knots && knot < from->n_ids) /* a node */
            continue;
        if (id < from->at || knot >= from->n_knots) {
            index[n] = id < from->at ? id : id - (uint32_t)from->n_ids;
            value[n++] = gsai_row_value(&row, i);
            continue;
        }
        while (knot >= from->curve[b].first + from->curve[b].n_knots)
            b++;
        bool goes_on = i > 0 && n > 0 && index[n - 1] == from->curve[b].feature; /* its other knot */
        float part = gsai_row_value(&row, i) * from->knot[knot];
        index[goes_on ? n - 1 : n] = from->curve[b].feature;
        value[goes_on ? n - 1 : n] = goes_on ? value[n - 1] + part : part;
        n += !goes_on;
    }
    gsai_row plain = {n, index, value};
    if (status == GSA_OK)
        status = gsai_basis_bend_row(to, &state->bent, &state->env, &plain, error);
    gsai_held_row *bent = status != GSA_OK
                              ? NULL
                              : gsai_held_row_new(&plain, (*held)->hash, (*held)->features, (*held)->class_number,
                                                  (*held)->number, (*held)->weight, &state->env);
    if (status == GSA_OK && !bent)
        status = gsai_fail_memory(&state->env, error, "no memory for a held-out row");
    if (bent) {
        bent->seen = (*held)->seen;
        gsai_free(&state->env, *held);
        *held = bent;
    }
    gsai_arena_release(&arena);
    return status;
}

static gsa_status rebase(gsa_state *state, const gsa_state *from, const gsai_basis *all, gsa_error *error)
{
    const gsai_basis *old = &from->basis, *to = &state->basis;
    GSA_TRY(gsai_state_set_basis(state, all, error));
    size_t n_slots = (size_t)to->at + to->n_ids + 1, K = from->table.n_outputs;
    gsai_table_release(&state->table, &state->env);
    GSA_TRY(gsai_table_init(&state->table, 1, K, &state->env, error));
    state->table.is_whole = from->table.is_whole;
    GSA_TRY(gsai_table_grow(&state->table, n_slots, &state->env, error));
    state->centre.n = 0; /* shares in knots are not centred, and the others are found again */
    if (from->prior.n > 0) {
        state->prior.n = 0;
        GSA_TRY(gsai_array_grow(&state->prior, n_slots, sizeof *state->prior.at, &state->env, error));
        memset(state->prior.at, 0, n_slots * sizeof *state->prior.at);
    }
    if (state->best_checkpoint.weight) {
        gsai_free(&state->env, state->best_checkpoint.weight);
        state->best_checkpoint.weight = gsai_alloc_zeroed(&state->env, n_slots, K * sizeof(float));
        GSAI_TRY_MEMORY(state->best_checkpoint.weight, &state->env, error, "no memory for %zu slots", n_slots);
        state->best_checkpoint.n_slots = n_slots;
    }
    GSAI_EACH_SLOT(slot, &from->table)
    {
        size_t knot = slot - 1 - (size_t)old->at;
        bool is_knot = slot > old->at && knot < old->n_ids;
        uint32_t feature = slot > old->at ? (uint32_t)(slot - 1 - old->n_ids) : (uint32_t)(slot - 1);
        if (slot == 0 || (!is_knot && !gsai_basis_curve(to, feature)))
            fill_record(state, from, slot == 0 ? 0 : plain_slot(to, feature), &(source_of){{slot, 0}, {1, 0}, 0});
    }
    for (size_t i = 0; i < to->n; i++)
        for (size_t k = 0; k < to->curve[i].n_knots; k++) {
            source_of of = knot_source(old, to, &to->curve[i], k);
            if (to->knot[to->curve[i].first + k] != 0)
                fill_record(state, from, (size_t)to->at + to->curve[i].first + k + 1, &of);
        }
    for (size_t i = 0; i < to->n_surfaces; i++) {
        const gsai_surface *surface = &to->surface[i];
        size_t n_nodes = (size_t)to->side[surface->side[0]].n_knots * to->side[surface->side[1]].n_knots;
        for (size_t node = 0; node < n_nodes; node++) {
            source_of of = node_source(old, to, surface, node);
            fill_record(state, from, (size_t)to->at + surface->first + node + 1, &of);
        }
    }
    measure_curves(state, from, to);
    for (size_t i = 0; i < state->sample.n; i++)
        GSA_TRY(bend_held(state, old, to, &state->sample.at[i], error));
    return GSA_OK;
}

gsa_status gsai_states_rebase(const gsa_state *const *states, size_t n, gsa_state **out, gsa_error *error)
{
    gsai_arena arena = {.env = &states[0]->env};
    gsai_basis all;
    gsa_status status = find_union(states, n, &arena, &all, error);
    if (status == GSA_OK)
        status = find_surfaces(states, n, &arena, &all, error);
    for (size_t s = 0; s < n && status == GSA_OK; s++) {
        gsa_state *closed = NULL;
        status = gsa_state_fork(states[s], 1, &closed, error);
        if (status == GSA_OK)
            status = gsai_state_close_own_group(closed, error);
        if (status == GSA_OK)
            status = gsa_state_fork(closed, 1, &out[s], error);
        if (status == GSA_OK && closed->loss)
            status = rebase(out[s], closed, &all, error);
        gsa_state_free(closed);
    }
    gsai_arena_release(&arena);
    return status;
}
