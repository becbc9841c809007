/* Several states into one: changes since a common base, weighted by sums of squares, added in one fixed tree.
 *
 *   M1  the result does not depend on which worker learned what, only on the states and their numbers;
 *   M2  merging is commutative bit for bit for two states, and associative up to the rounding of doubles to float;
 *   M3  a label, feature or row that only one state knows keeps what that state learned of it. */
#include "learn/fork.h"
#include "learn/life.h"
#include "learn/lineage.h"
#include "learn/schema.h"
#include "merge/line_search.h"
#include "merge/totals.h"

#include "base/error.h"
#include "base/memory.h"

#include <math.h>

/* ---- what may be merged -------------------------------------------------------------------------------------------
 */

/* All methods but the paper's learn rows alike. */
static uint64_t value_of(const gsa_state *state, gsai_param_id id)
{
    uint64_t value = state->params.value[id];
    if (id == GSAI_PARAM_average)
        return gsai_params_average(&state->params);
    return id == GSAI_PARAM_method ? value == GSAI_METHOD_PAPER : value;
}

static gsa_status check_pair(const gsa_state *a, const gsa_state *b, size_t a_number, size_t b_number,
                             const gsa_state *base, gsa_error *error)
{
    static const gsai_param_id same[] = {GSAI_PARAM_method, GSAI_PARAM_average, GSAI_PARAM_intercept,
                                         GSAI_PARAM_class_weight};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        if (value_of(a, same[i]) != value_of(b, same[i]))
            return gsai_fail(error, GSA_CONFLICT, "state %zu was trained with %s=%s, state %zu with %s; train alike",
                             a_number + 1, gsa_param_at(same[i])->name, a->params.text[same[i]], b_number + 1,
                             b->params.text[same[i]]);
    if (a->loss && b->loss && !gsai_losses_agree(a->loss, b->loss))
        return gsai_fail(error, GSA_CONFLICT, "state %zu has %s loss, state %zu %s loss; train both alike",
                         a_number + 1, gsai_loss_name(a->loss), b_number + 1, gsai_loss_name(b->loss));
    for (size_t i = 0; i < gsai_lineage_count(a); i++)
        if (gsai_lineage_has(b, gsai_lineage_at(a, i)) && !(base && gsai_lineage_has(base, gsai_lineage_at(a, i))))
            return gsai_fail_about(
                error, "base",
                gsai_fail(error, GSA_CONFLICT,
                          "states %zu and %zu began with the same rows or started from the same model, which would "
                          "count twice; give the state that they share as base",
                          a_number + 1, b_number + 1));
    gsa_status status = gsai_schema_check(a->schema, b->schema, error);
    if (status != GSA_OK)
        gsai_error_prefix(error, "states %zu and %zu: ", a_number + 1, b_number + 1);
    return status;
}

/* Whether a state knows all that the base knows: labels, features, and no less of each, which adding up several states
 * finds anyway. */
static bool knows_all_of(const gsa_state *state, const gsa_state *base, bool is_alone)
{
    bool same_loss = !base->loss || base->loss == state->loss || gsai_loss_widens_to(base->loss, state->loss);
    if (!same_loss || base->table.n_slots > state->table.n_slots || base->rows_behind > state->rows_behind)
        return false;
    for (size_t i = 0; i < gsai_lineage_count(base); i++)
        if (!gsai_lineage_has(state, gsai_lineage_at(base, i)))
            return false;
    for (size_t k = 0; k < base->labels.n; k++)
        if (gsai_labels_find_text(&state->labels, base->labels.at[k].text) == GSAI_NO_LABEL)
            return false;
    for (size_t slot = 0; slot < base->table.n_slots && is_alone; slot++)
        if (gsai_state_n_seen(state, slot) < gsai_state_n_seen(base, slot))
            return false;
    return true;
}

static gsa_status check_base(const gsa_state *const *states, size_t n_states, const gsa_state *base, gsa_error *error)
{
    for (size_t a = 0; a < n_states; a++) {
        if (!knows_all_of(states[a], base, n_states == 1))
            return gsai_fail(error, GSA_CONFLICT, "state %zu did not start from this base; give its own", a + 1);
        if (gsai_state_continues(states[a], base) != gsai_state_continues(states[0], base))
            return gsai_fail(error, GSA_CONFLICT,
                             "of states 1 and %zu one is a copy of the base and one a new run that started from it; "
                             "these do not add up; merge only copies, or only new runs",
                             a + 1);
    }
    return GSA_OK;
}

static gsa_status check_pairs(const gsa_state *const *states, size_t n_states, const gsa_state *base, gsa_error *error)
{
    for (size_t a = 0; a < n_states; a++)
        for (size_t b = a + 1; b < n_states; b++)
            GSA_TRY(check_pair(states[a], states[b], a, b, base, error));
    return GSA_OK;
}

static gsa_status check_all(const gsa_state *const *states, size_t n_states, const gsa_state *base, gsa_error *error)
{
    if (base)
        GSA_TRY(check_base(states, n_states, base, error));
    return check_pairs(states, n_states, base, error);
}

/* ---- the frame of the result ------------------------------------------------------------------------------------- */

/* A run that goes on keeps the order of the labels that it knew. */
static gsa_status merge_labels(const gsai_merging *merging, gsa_error *error)
{
    gsa_state *into = merging->into;
    gsai_labels all;
    gsai_labels_init(&all, &into->env);
    gsa_status status = merging->continues ? gsai_labels_add_all(&into->labels, &merging->base->labels, error) : GSA_OK;
    for (size_t s = 0; s < merging->n_states && status == GSA_OK; s++)
        status = gsai_labels_add_all(&all, &merging->states[s]->labels, error);
    if (status == GSA_OK)
        status = gsai_labels_add_sorted(&into->labels, &all, error);
    gsai_labels_release(&all);
    return status;
}

static const gsai_loss *merged_loss(const gsa_state *into, const gsa_state *const *states, size_t n_states)
{
    const gsai_loss *loss = NULL;
    for (size_t s = 0; s < n_states; s++)
        if (!loss || gsai_loss_widens_to(loss, states[s]->loss))
            loss = states[s]->loss;
    return loss && loss->widened && into->labels.n > loss->max_labels ? loss->widened : loss;
}

/* Makes the state that a merge is written into: labels, loss, lineage, and a table of so many slots. */
static gsa_status make_frame(gsai_merging *merging, size_t n_slots, gsa_error *error)
{
    const gsa_state *base = merging->base;
    size_t n_states = merging->n_states;
    GSA_TRY(gsai_state_create(&merging->states[0]->params, merging->env, &merging->into, error));
    gsa_state *into = merging->into;
    if (base && !into->params.has_custom_loss) /* headers of deltas have no functions */
        gsai_params_take_loss(&into->params, &base->params);
    GSA_TRY(merge_labels(merging, error));
    GSA_TRY(gsai_schema_copy(&into->schema, merging->states[0]->schema, &into->env, error));
    if (merging->continues) /* copies of one run stay that run */
        into->run_id = base->run_id;
    into->run_id.closed = 1;
    GSA_TRY(merging->continues ? gsai_lineage_add_all(into, base->lineage, base->n_lineage, error)
                               : gsai_lineage_merge(into, merging->states, n_states, error));
    GSA_TRY(gsai_state_decide(into, merged_loss(into, merging->states, n_states), error));
    GSA_TRY(gsai_table_grow(&into->table, n_slots, &into->env, error));
    if (gsai_params_balance(&into->params))
        GSA_TRY(gsai_class_sums_grow(&into->class_sums, into->labels.n + 1, &into->env, error));
    return GSA_OK;
}

/* Adds up the means of columns. Rows that copies have in common count once. */
static gsa_status merge_centres(const gsai_merging *merging, gsa_error *error)
{
    gsai_centre *into = &merging->into->centre;
    if (merging->continues)
        GSA_TRY(gsai_centre_grow(into, merging->base->centre.n, &merging->into->env, error));
    for (size_t s = 0; s < merging->n_states; s++)
        GSA_TRY(gsai_centre_grow(into, merging->states[s]->centre.n, &merging->into->env, error));
    for (size_t slot = 0; slot < into->n; slot++) {
        const gsai_centre *base = merging->continues ? &merging->base->centre : NULL;
        const gsai_column nothing = {0}, *start = base && slot < base->n ? &base->at[slot] : &nothing;
        into->at[slot] = *start;
        for (size_t s = 0; s < merging->n_states; s++)
            if (slot < merging->states[s]->centre.n)
                gsai_column_add(&into->at[slot], &merging->states[s]->centre.at[slot], start);
    }
    while (into->n > 0 && into->at[into->n - 1].n == 0) /* of which nothing is known */
        into->n--;
    return GSA_OK;
}

/* An entry that several copies have is the base's once, and what each of them has added to it. What is common to one of
 * them is common to all: an infinite weight stands for that until the end. */
static gsa_status add_held(gsai_merging *merging, const gsa_state *from, const gsai_held_row *held, size_t *at,
                           gsa_error *error)
{
    gsa_state *into = merging->into;
    const gsai_held_row *before = merging->continues ? gsai_sample_next(&merging->base->sample, at, held) : NULL;
    bool is_news = !before || before->seen != held->seen || before->weight != held->weight;
    if ((held->hash >= into->sample.below && held->weight > 0) || !is_news)
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
 * hold others too, and headers of deltas have these alone. Rows that a copy has given back are cut here. */
static gsa_status merge_samples(gsai_merging *merging, gsa_error *error)
{
    gsa_state *into = merging->into;
    if (merging->continues)
        GSA_TRY(gsai_state_copy_sample(into, merging->base, error));
    if (merging->continues && merging->base->position.pass > 0)
        return GSA_OK;
    const gsa_state *const *states = merging->states;
    for (size_t s = 0; s < merging->n_states; s++)
        if (states[s]->sample.below < into->sample.below)
            into->sample.below = states[s]->sample.below;
    for (size_t s = 0; s < merging->n_states; s++)
        for (size_t i = 0, at = 0; i < states[s]->sample.n; i++)
            GSA_TRY(add_held(merging, states[s], states[s]->sample.at[i], &at, error));
    while (gsai_sample_is_over(&into->sample, gsai_params_holdout(&into->params), gsai_state_keeps_low(into)))
        gsai_free(&into->env, gsai_sample_pop(&into->sample));
    gsai_sample_settle(&into->sample);
    clear_common(&into->sample);
    return GSA_OK;
}

/* ---- adding up --------------------------------------------------------------------------------------------------- */

/* Whether no state has a row yet: any of them is then the result. */
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
    bool has_prior = n_rows > INT32_MAX || (merging->base && merging->base->prior.n > 0);
    for (size_t s = 0; s < merging->n_states; s++)
        has_prior = has_prior || merging->states[s]->prior.n > 0;
    into->n_counted = has_prior ? 0 : n_rows;
    return has_prior ? gsai_prior_totals_grow(&into->prior, into->table.n_slots, &into->env, error) : GSA_OK;
}

/* Adds up the weights of classes; what all states have from the base counts once. */
static void merge_class_sums(const gsai_merging *merging)
{
    size_t n = merging->n_states;
    for (size_t s = 0; s <= n; s++) {
        const gsai_resident *from = &merging->residents[s];
        const gsai_class_sums *sums = from->state ? &from->state->class_sums : NULL;
        double share = s < n ? 1 : 1 - (double)n;
        for (size_t i = 0; sums && i < sums->n && i <= from->state->labels.n; i++)
            merging->into->class_sums.at[i > 0 ? from->to[i - 1] + 1 : 0] += share * from->weight * sums->at[i];
    }
}

static gsa_status merge_slots(gsai_merging *merging, const gsai_delta *reduced, size_t n_reduced, gsa_error *error)
{
    gsa_status status = gsai_merging_begin(merging, reduced, n_reduced, error);
    if (status == GSA_OK)
        status = gsai_merging_line_steps(merging, error);
    if (status == GSA_OK)
        status = gsai_merging_apply(merging, error);
    if (status == GSA_OK)
        merge_class_sums(merging);
    gsai_merging_end(merging);
    return status;
}

static gsa_status merge_parts(gsai_merging *merging, const gsai_delta *reduced, size_t n_reduced, gsa_error *error)
{
    const gsa_state *base = merging->base, *const *states = merging->states;
    size_t n = merging->n_states, n_slots = base && base->table.n_slots ? base->table.n_slots : 1;
    for (size_t s = 0; s < n; s++)
        n_slots = states[s]->table.n_slots > n_slots ? states[s]->table.n_slots : n_slots;
    for (size_t i = 0; i < n_reduced; i++)
        n_slots = reduced[i].end + 1 > n_slots ? (size_t)reduced[i].end + 1 : n_slots;
    GSA_TRY(make_frame(merging, n_slots, error));
    gsa_state *into = merging->into;
    if (merging->continues)
        GSA_TRY(gsai_best_checkpoint_copy(into, base, error));
    GSA_TRY(merge_samples(merging, error));
    GSA_TRY(merge_centres(merging, error));
    gsai_change sum = gsai_change_sum(states, n, base, into);
    gsai_change_apply(into, &sum, base, merging->continues);
    gsai_label_offset_merge(into, states, n, merging->continues ? base : NULL);
    for (size_t s = 0; s < n; s++)
        gsai_residuals_merge(&into->residuals, &states[s]->residuals, 1 / (double)n);
    GSA_TRY(make_room_for_counts(merging, into->rows_behind, error));
    GSA_TRY(merge_slots(merging, reduced, n_reduced, error));
    return gsai_names_merge(into, states, n, error);
}

/* Merges states that are known to fit together. */
static gsa_status merge_run(const gsa_state *const *states, size_t n_states, const gsa_state *base,
                            const gsai_delta *reduced, size_t n_reduced, const gsai_env *env, gsa_state **out,
                            gsa_error *error)
{
    gsai_merging merging = {.states = states, .n_states = n_states, .base = base, .env = env};
    merging.continues = base && gsai_state_continues(states[0], base);
    gsa_status status = merge_parts(&merging, reduced, n_reduced, error);
    if (status == GSA_OK)
        *out = merging.into;
    else
        gsa_state_free(merging.into);
    return status;
}

/* With a copy of the state, or else of the base, in which rows wait for their group. */
/* NOLINTNEXTLINE(misc-no-recursion): once per state */
static gsa_status merge_closed(const gsa_state *const *states, size_t n_states, size_t waiting, const gsa_state *base,
                               const gsai_env *env, gsa_state **out, gsa_error *error)
{
    gsa_state *closed = NULL;
    const gsa_state **all = gsai_copy(env, states, n_states, sizeof *all);
    GSAI_TRY_MEMORY(all, env, error, "no memory to merge %zu states", n_states);
    gsa_status status = gsai_state_closed(waiting < n_states ? all[waiting] : base, &closed, error);
    if (waiting < n_states)
        all[waiting] = closed;
    if (status == GSA_OK)
        status = gsa_state_merge(all, n_states, waiting < n_states ? base : closed, &env->call, out, error);
    gsa_state_free(closed);
    gsai_free(env, all);
    return status;
}

/* NOLINTNEXTLINE(misc-no-recursion): once per state */
gsa_status gsa_state_merge(const gsa_state *const *states, size_t n_states, const gsa_state *base, const gsa_call *call,
                           gsa_state **out, gsa_error *error)
{
    gsai_env own;
    const gsai_env *env = &own;
    size_t waiting = 0;
    if (n_states == 0)
        return gsai_fail(error, GSA_ARGUMENT, "no states to merge");
    GSA_TRY(gsai_env_take(&own, &states[0]->env.memory, call, error));
    while (waiting < n_states && states[waiting]->group.n_rows == 0)
        waiting++;
    if (waiting < n_states || (base && base->group.n_rows > 0))
        return merge_closed(states, n_states, waiting, base, env, out, error);
    GSA_TRY(check_all(states, n_states, base, error));
    if (n_states == 1 || all_undecided(states, n_states))
        return gsa_state_fork(states[0], 1, out, error);
    return merge_run(states, n_states, base, NULL, 0, env, out, error);
}

/* ---- deltas ------------------------------------------------------------------------------------------------------ */

/* A copy of the base with the same labels: what it is merged into has the same outputs. */
static gsa_status check_copy(const gsa_state *copy, const gsa_state *base, gsa_error *error)
{
    if (!base || copy->loss != base->loss || !copy->loss || !gsai_labels_equal(&copy->labels, &base->labels))
        return gsai_fail(error, GSA_CONFLICT,
                         "deltas are of replicas of a base that knows all labels: prepare the base with all of them");
    if (copy->group.n_rows > 0 || base->group.n_rows > 0)
        return gsai_fail(error, GSA_ARGUMENT, "rows still wait for their group: close it first");
    return gsai_state_continues(copy, base) && !copy->scaling && !base->scaling
               ? GSA_OK
               : gsai_fail(error, GSA_CONFLICT, "deltas are of replicas that continue from the given base");
}

gsa_status gsa_state_write_delta(const gsa_state *const *copies, size_t n_copies, size_t first_copy,
                                 const gsa_state *base, uint64_t first, uint64_t n_features, gsa_write_fn write,
                                 void *ctx, gsa_error *error)
{
    if (n_copies == 0 || n_copies > UINT32_MAX || first_copy > UINT32_MAX - n_copies)
        return gsai_fail(error, GSA_ARGUMENT, "a delta has 1 to 2^32 - 1 replicas");
    for (size_t s = 0; s < n_copies; s++)
        GSA_TRY(check_copy(copies[s], base, error));
    if (n_features == 0 || n_features > UINT32_MAX || first > GSA_MAX_ID)
        return gsai_fail(error, GSA_ARGUMENT, "a delta has 1 to 2^32 - 1 features, the first at most 2^32 - 3");
    const gsai_env *env = &base->env;
    gsai_delta header = {.first_copy = first_copy,
                         .n_copies = n_copies,
                         .first = first,
                         .n_features = n_features,
                         .n_outputs = base->table.n_outputs};
    gsai_adder adder;
    gsai_resident *residents = gsai_alloc(env, n_copies + 1, sizeof *residents);
    bool has_room = gsai_adder_begin(&adder, n_copies, n_copies, header.n_outputs, env) && residents;
    for (size_t s = 0; s <= n_copies && has_room; s++) {
        has_room = gsai_resident_begin(&residents[s], s < n_copies ? copies[s] : base, base, true, NULL);
        if (s < n_copies)
            adder.deltas[s] = gsai_delta_of(&residents[s], first_copy + s);
    }
    adder.base = &residents[n_copies];
    adder.continues = true;
    adder.n_deltas = n_copies;
    gsa_status status = has_room ? gsai_adder_write(&adder, GSAI_DELTA_OF_ONE, &header, write, ctx, error)
                                 : gsai_fail_memory(env, error, "no memory for the delta of %zu replicas", n_copies);
    gsai_adder_end(&adder);
    gsai_free(env, residents);
    return status;
}

/* Opens deltas of all replicas that follow one another from the first feature on: none is there twice, and none is
 * missing but for the last ones, which cannot be told. */
static gsa_status open_reduced(const void *const *reduced, const size_t *sizes, size_t n, size_t n_copies,
                               size_t n_outputs, gsai_delta *out, gsa_error *error)
{
    uint64_t first = 0;
    for (size_t i = 0; i < n; first = out[i].first + out[i].n_features, i++) {
        GSA_TRY(gsai_delta_open(GSAI_DELTA_REDUCED, reduced[i], sizes[i], &out[i], error));
        if (out[i].first != first)
            return gsai_fail(error, GSA_CONFLICT, "delta %zu begins with feature %llu, expected %llu", i + 1,
                             (unsigned long long)out[i].first, (unsigned long long)first);
        if (out[i].n_outputs != n_outputs || out[i].n_copies != n_copies)
            return gsai_fail(error, GSA_CONFLICT,
                             "delta %zu is of %llu replicas with %zu outputs, expected %zu with %zu", i + 1,
                             (unsigned long long)out[i].n_copies, out[i].n_outputs, n_copies, n_outputs);
    }
    return GSA_OK;
}

gsa_status gsa_state_merge_deltas(const gsa_state *const *headers, size_t n_copies, const gsa_state *base,
                                  const void *const *reduced, const size_t *sizes, size_t n_deltas,
                                  const gsa_call *call, gsa_state **out, gsa_error *error)
{
    gsai_env env;
    GSA_TRY(gsai_env_take(&env, &base->env.memory, call, error));
    if (n_copies < 2 || n_deltas == 0)
        return gsai_fail(error, GSA_ARGUMENT, "a merge of deltas has two replicas or more, and a delta: %zu and %zu",
                         n_copies, n_deltas);
    for (size_t s = 0; s < n_copies; s++)
        GSA_TRY(check_copy(headers[s], base, error));
    GSA_TRY(check_pairs(headers, n_copies, base, error));
    gsai_delta *deltas = gsai_alloc(&env, n_deltas, sizeof *deltas);
    GSAI_TRY_MEMORY(deltas, &env, error, "no memory for %zu deltas", n_deltas);
    gsa_status status = open_reduced(reduced, sizes, n_deltas, n_copies, base->table.n_outputs, deltas, error);
    if (status == GSA_OK)
        status = merge_run(headers, n_copies, base, deltas, n_deltas, &env, out, error);
    gsai_free(&env, deltas);
    return status;
}
