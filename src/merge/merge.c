/* Several states into one: changes since a common base, weighted by mass, added in one fixed tree.
 *
 *   M1  the result does not depend on which worker learned what, only on the states and their numbers;
 *   M2  merging is commutative bit for bit for two states, and associative up to the rounding of doubles to float;
 *   M3  a label, feature or row that only one state knows keeps what that state learned of it. */
#include "merge/merge.h"

#include "learn/lineage.h"
#include "learn/schema.h"
#include "merge/change.h"

#include "base/error.h"
#include "base/memory.h"

#include <math.h>

/* ---- the frame of the result ------------------------------------------------------------------------------------- */

/* A run that goes on keeps the order of the labels that it knew. */
static gsa_status unite_labels(const gsai_merging *merging, gsa_error *error)
{
    gsa_state *into = merging->into;
    gsai_labels all;
    gsai_labels_init(&all, &into->env);
    gsa_status status = merging->goes_on ? gsai_labels_add_all(&into->labels, &merging->base->labels, error) : GSA_OK;
    for (size_t s = 0; s < merging->n_states && status == GSA_OK; s++)
        status = gsai_labels_add_all(&all, &merging->states[s]->labels, error);
    if (status == GSA_OK)
        status = gsai_labels_add_sorted(&into->labels, &all, error);
    gsai_labels_release(&all);
    return status;
}

static const gsai_loss *united_loss(const gsa_state *into, const gsa_state *const *states, size_t n_states)
{
    const gsai_loss *loss = NULL;
    for (size_t s = 0; s < n_states; s++)
        if (!loss || gsai_loss_widens_to(loss, states[s]->loss))
            loss = states[s]->loss;
    return loss && loss->widened && into->labels.n > loss->max_labels ? loss->widened : loss;
}

static size_t slots_of(const gsai_merging *merging)
{
    const gsa_state *base = merging->base;
    size_t n_slots = base && base->table.n_slots ? base->table.n_slots : 1;
    for (size_t s = 0; s < merging->n_states; s++)
        if (merging->states[s]->table.n_slots > n_slots)
            n_slots = merging->states[s]->table.n_slots;
    for (size_t i = 0; i < merging->n_deltas; i++)
        if (merging->deltas[i].end + 1 > n_slots)
            n_slots = (size_t)merging->deltas[i].end + 1;
    return n_slots;
}

/* What a merge is written into: labels, loss, origins, and a table of so many slots. */
static gsa_status make_frame(gsai_merging *merging, size_t n_slots, const gsa_env *env, gsa_error *error)
{
    const gsa_state *base = merging->base;
    size_t n_states = merging->n_states;
    gsa_status status = gsai_state_create(&merging->states[0]->params, env, &merging->into, error);
    if (status != GSA_OK)
        return status;
    gsa_state *into = merging->into;
    if (base && !into->params.has_custom_loss) /* of heads: functions do not travel */
        gsai_params_take_loss(&into->params, &base->params);
    status = unite_labels(merging, error);
    if (status == GSA_OK)
        status = gsai_schema_copy(&into->schema, merging->states[0]->schema, &into->env, error);
    if (merging->goes_on) /* copies of one run stay that run */
        into->origin = base->origin;
    into->origin.closed = 1;
    if (status == GSA_OK)
        status = merging->goes_on ? gsai_lineage_add_all(into, base->lineage, base->n_lineage, error)
                                  : gsai_lineage_unite(into, merging->states, n_states, error);
    if (status == GSA_OK)
        status = gsai_state_decide(into, united_loss(into, merging->states, n_states), error);
    if (status == GSA_OK)
        status = gsai_table_grow(&into->table, n_slots, &into->env, error);
    if (status == GSA_OK && gsai_params_balance(&into->params))
        status = gsai_class_sums_grow(&into->class_sums, into->labels.n + 1, &into->env, error);
    return status;
}

/* What copies have in common counts once. */
static gsa_status unite_centres(const gsai_merging *merging, gsa_error *error)
{
    gsai_centre *into = &merging->into->centre;
    gsa_status status =
        merging->goes_on ? gsai_centre_grow(into, merging->base->centre.n, &merging->into->env, error) : GSA_OK;
    for (size_t s = 0; s < merging->n_states && status == GSA_OK; s++)
        status = gsai_centre_grow(into, merging->states[s]->centre.n, &merging->into->env, error);
    for (size_t slot = 0; slot < into->n && status == GSA_OK; slot++) {
        const gsai_centre *base = merging->goes_on ? &merging->base->centre : NULL;
        const gsai_column nothing = {0}, *start = base && slot < base->n ? &base->at[slot] : &nothing;
        into->at[slot] = *start;
        for (size_t s = 0; s < merging->n_states; s++)
            if (slot < merging->states[s]->centre.n)
                gsai_column_add(&into->at[slot], &merging->states[s]->centre.at[slot], start);
    }
    while (into->n > 0 && into->at[into->n - 1].n == 0) /* of which nothing is known */
        into->n--;
    return status;
}

/* An entry that several copies have is the base's once, and what each of them has added to it. What is common to one of
 * them is common to all: an infinite weight stands for that until the end. */
static gsa_status add_held(gsai_merging *merging, const gsa_state *from, const gsai_held_row *held, size_t *at,
                           gsa_error *error)
{
    gsa_state *into = merging->into;
    const gsai_held_row *before = merging->goes_on ? gsai_sample_next(&merging->base->sample, at, held) : NULL;
    bool is_news = !before || before->seen != held->seen || before->weight != held->weight;
    if (held->hash >= into->sample.below || !is_news)
        return GSA_OK;
    if (before && (held->seen < before->seen || (held->weight > 0 && held->weight < before->weight)))
        return gsai_fail(error, GSA_CONFLICT,
                         "cannot merge the states: a held-out row weighs less than in the base; give their own base");
    gsai_held_row *copy = gsai_held_row_copy(held, &into->env);
    if (copy) {
        copy->seen -= before ? before->seen : 0;
        copy->weight = held->weight > 0 ? held->weight - (before ? before->weight : 0) : INFINITY;
    }
    if (copy && gsai_loss_has_classes(into->loss))
        copy->class_number = (uint32_t)gsai_labels_find_text(&into->labels, from->labels.at[held->class_number].text);
    return gsai_sample_insert(&into->sample, copy, &into->env, error);
}

/* No entry of a common kind holds anything. */
static void clear_common(gsai_sample *sample)
{
    for (size_t i = 0, end; i < sample->n; i = end) {
        bool common = false;
        for (end = i; end < sample->n && sample->at[end]->hash == sample->at[i]->hash; end++)
            common = common || isinf(sample->at[end]->weight) || sample->at[end]->weight == 0;
        for (size_t k = i; k < end && common; k++)
            sample->at[k]->weight = 0;
    }
}

/* The entries below the threshold of all. After the first pass copies hold the rows that the base holds. In it they
 * hold others too, and their heads have these alone. Rows that a copy has given back are cut here. */
static gsa_status unite_samples(gsai_merging *merging, gsa_error *error)
{
    gsa_state *into = merging->into;
    gsa_status status = merging->goes_on ? gsai_state_copy_sample(into, merging->base, error) : GSA_OK;
    if (status != GSA_OK || (merging->goes_on && merging->base->position.pass > 0))
        return status;
    const gsa_state *const *states = merging->states;
    for (size_t s = 0; s < merging->n_states; s++)
        if (states[s]->sample.below < into->sample.below)
            into->sample.below = states[s]->sample.below;
    for (size_t s = 0; s < merging->n_states; s++)
        for (size_t i = 0, at = 0; i < states[s]->sample.n && status == GSA_OK; i++)
            status = add_held(merging, states[s], states[s]->sample.at[i], &at, error);
    const gsai_held_row *last;
    while ((last = gsai_sample_last(&into->sample)) &&
           (last->hash >= into->sample.below || into->sample.n > gsai_params_holdout(&into->params)))
        gsai_free(&into->env, gsai_sample_pop(&into->sample));
    gsai_sample_settle(&into->sample);
    clear_common(&into->sample);
    return status;
}

/* ---- adding up --------------------------------------------------------------------------------------------------- */

/* States that have met no row yet: any of them is what they come to. */
static bool all_undecided(const gsa_state *const *states, size_t n_states)
{
    for (size_t s = 0; s < n_states; s++)
        if (states[s]->loss)
            return false;
    return true;
}

/* A table's counts have 31 bits. Totals from before stay apart, so that what was counted since can be told. */
static gsa_status make_room_for_counts(gsai_merging *merging, uint64_t n_rows, gsa_error *error)
{
    gsa_state *into = merging->into;
    bool carried = n_rows > INT32_MAX || (merging->base && merging->base->carried.n > 0);
    for (size_t s = 0; s < merging->n_states; s++)
        carried = carried || merging->states[s]->carried.n > 0;
    into->n_counted = carried ? 0 : n_rows;
    return carried ? gsai_prior_totals_grow(&into->carried, into->table.n_slots, &into->env, error) : GSA_OK;
}

static gsa_status add_up(gsai_merging *merging, gsa_error *error)
{
    gsai_change sum = gsai_change_sum(merging->states, merging->n_states, merging->base, merging->into);
    gsai_change_apply(merging->into, &sum, merging->base, merging->goes_on);
    gsai_label_offsets_merge(merging->into, merging->states, merging->n_states,
                             merging->goes_on ? merging->base : NULL);
    gsa_status status = make_room_for_counts(merging, merging->into->rows_behind, error);
    if (status == GSA_OK)
        status = gsai_merging_begin(merging, error);
    if (status == GSA_OK)
        status = gsai_merging_line_steps(merging, error);
    if (status == GSA_OK)
        status = gsai_merging_slots(merging, error);
    gsai_merging_end(merging);
    return status;
}

gsa_status gsai_merge_run(gsai_merging *merging, const gsa_env *env, gsa_state **out, gsa_error *error)
{
    merging->goes_on = merging->base && gsai_state_continues(merging->states[0], merging->base);
    gsa_status status = make_frame(merging, slots_of(merging), env, error);
    if (status == GSA_OK && merging->goes_on)
        status = gsai_best_checkpoint_copy(merging->into, merging->base, error);
    if (status == GSA_OK)
        status = unite_samples(merging, error);
    if (status == GSA_OK)
        status = unite_centres(merging, error);
    if (status == GSA_OK)
        status = add_up(merging, error);
    if (status == GSA_OK)
        status = gsai_names_merge(merging->into, merging->states, merging->n_states, error);
    if (status == GSA_OK)
        *out = merging->into;
    else
        gsa_state_free(merging->into);
    return status;
}

/* With a copy of the state, or else of the base, in which rows wait for their group. */
/* NOLINTNEXTLINE(misc-no-recursion): once per state */
static gsa_status merge_closed(const gsa_state *const *states, size_t n_states, size_t waiting, const gsa_state *base,
                               const gsa_env *env, gsa_state **out, gsa_error *error)
{
    gsa_env resolved = gsai_env_resolve(env);
    gsa_state *closed = NULL;
    const gsa_state **all = gsai_copy(&resolved, states, n_states, sizeof *all);
    if (!all)
        return gsai_fail_memory(&resolved, error, "no memory to merge %zu states", n_states);
    gsa_status status = gsai_state_closed(waiting < n_states ? all[waiting] : base, env, &closed, error);
    if (waiting < n_states)
        all[waiting] = closed;
    if (status == GSA_OK)
        status = gsa_state_merge(all, n_states, waiting < n_states ? base : closed, env, out, error);
    gsa_state_free(closed);
    gsai_free(&resolved, all);
    return status;
}

/* NOLINTNEXTLINE(misc-no-recursion): once per state */
gsa_status gsa_state_merge(const gsa_state *const *states, size_t n_states, const gsa_state *base, const gsa_env *env,
                           gsa_state **out, gsa_error *error)
{
    size_t waiting = 0;
    if (n_states == 0)
        return gsai_fail(error, GSA_ARGUMENT, "no states to merge");
    while (waiting < n_states && states[waiting]->group.n_rows == 0)
        waiting++;
    if (waiting < n_states || (base && base->group.n_rows > 0))
        return merge_closed(states, n_states, waiting, base, env, out, error);
    gsa_status status = gsai_merge_check(states, n_states, base, error);
    if (status != GSA_OK)
        return status;
    if (n_states == 1 || all_undecided(states, n_states))
        return gsa_state_fork(states[0], 1, env, out, error);
    gsai_merging merging = {.states = states, .n_states = n_states, .base = base};
    return gsai_merge_run(&merging, env, out, error);
}
