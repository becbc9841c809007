/* Several states into one: changes since a common base, weighted by mass, added in one fixed tree.
 *
 *   M1  the result does not depend on which worker learned what, only on the states and their numbers;
 *   M2  merging is commutative bit for bit for two states, and associative up to the rounding of doubles to float;
 *   M3  a label, feature or row that only one state knows keeps what that state learned of it. */
#include "core/merge.h"

#include "core/change.h"
#include "core/greedy_merge.h"

#include "base/error.h"
#include "base/memory.h"

#include <math.h>
#include <string.h>

/* ---- who may be merged ------------------------------------------------------------------------------------------- */

static bool contains(const gsa_state *state, uint64_t origin)
{
    if (state->origin.n_rows > 0 && state->origin.hash == origin)
        return true;
    for (size_t i = 0; i < state->n_ancestors; i++)
        if (state->ancestors[i] == origin)
            return true;
    return false;
}

/* Origins of a state by number: its ancestors, then its own if it has one. */
static size_t n_origins(const gsa_state *state)
{
    return state->n_ancestors + (state->origin.n_rows > 0);
}

static uint64_t origin_at(const gsa_state *state, size_t i)
{
    return i < state->n_ancestors ? state->ancestors[i] : state->origin.hash;
}

static gsa_status check_pair(const gsa_state *a, const gsa_state *b, size_t a_number, size_t b_number,
                             const gsa_state *base, gsa_error *error)
{
    static const gsa__param_id same[] = {GSA__PARAM_method, GSA__PARAM_average, GSA__PARAM_intercept,
                                         GSA__PARAM_class_weight};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        if (a->params.value[same[i]] != b->params.value[same[i]])
            return gsa__fail(error, GSA_CONFLICT, "state %zu was trained with %s=%s, state %zu with %s", a_number + 1,
                             gsa_param_at(same[i])->name, a->params.text[same[i]], b_number + 1,
                             b->params.text[same[i]]);
    bool compatible = gsa__loss_has_probabilities(a->loss) && gsa__loss_has_probabilities(b->loss);
    if (a->loss != b->loss && !compatible && a->loss != GSA__UNDECIDED && b->loss != GSA__UNDECIDED)
        return gsa__fail(error, GSA_CONFLICT, "state %zu has %s loss, state %zu %s loss", a_number + 1,
                         gsa__loss_name(a->loss), b_number + 1, gsa__loss_name(b->loss));
    for (size_t i = 0; i < n_origins(a); i++)
        if (contains(b, origin_at(a, i)) && !(base && contains(base, origin_at(a, i))))
            return gsa__fail(error, GSA_CONFLICT,
                             "states %zu and %zu began with the same rows or started from the same model: added up, "
                             "that would count twice; give the state that they share as base (--base)",
                             a_number + 1, b_number + 1);
    return GSA_OK;
}

/* Whatever the base knows, a state that came from it knows too: labels, features, and no less of each. */
static bool knows_all_of(const gsa_state *state, const gsa_state *base)
{
    bool same_loss = base->loss == state->loss || base->loss == GSA__UNDECIDED ||
                     (base->loss == GSA__LOGISTIC && state->loss == GSA__SOFTMAX);
    if (!same_loss || base->table.n_slots > state->table.n_slots)
        return false;
    for (size_t i = 0; i < n_origins(base); i++)
        if (!contains(state, origin_at(base, i)))
            return false;
    for (size_t k = 0; k < base->labels.n; k++)
        if (gsa__labels_find_text(&state->labels, base->labels.at[k].text) == GSA__NO_LABEL)
            return false;
    for (size_t slot = 0; slot < base->table.n_slots; slot++)
        if (gsa__state_count(state, slot) < gsa__state_count(base, slot))
            return false;
    return true;
}

static gsa_status check_base(const gsa_state *const *states, size_t n_states, const gsa_state *base, gsa_error *error)
{
    for (size_t a = 0; a < n_states; a++) {
        if (!knows_all_of(states[a], base))
            return gsa__fail(error, GSA_CONFLICT, "state %zu did not start from the base that was given", a + 1);
        if (gsa__state_continues(states[a], base) != gsa__state_continues(states[0], base))
            return gsa__fail(error, GSA_CONFLICT,
                             "of states 1 and %zu one is a copy of the base and one a new run that started from it; "
                             "these do not add up",
                             a + 1);
    }
    return GSA_OK;
}

static gsa_status check_all(const gsa_state *const *states, size_t n_states, const gsa_state *base, gsa_error *error)
{
    gsa_status status = base ? check_base(states, n_states, base, error) : GSA_OK;
    for (size_t a = 0; a < n_states; a++)
        for (size_t b = a + 1; b < n_states && status == GSA_OK; b++)
            status = check_pair(states[a], states[b], a, b, base, error);
    return status;
}

/* ---- the frame of the result ------------------------------------------------------------------------------------- */

static gsa_status unite_labels(gsa_state *into, const gsa_state *const *states, size_t n_states, gsa_error *error)
{
    gsa__labels all;
    gsa__labels_init(&all, &into->env);
    gsa_status status = GSA_OK;
    size_t number;
    for (size_t s = 0; s < n_states; s++)
        for (size_t k = 0; k < states[s]->labels.n && status == GSA_OK; k++)
            status = gsa__labels_add_label(&all, &states[s]->labels.at[k], &number, error);
    if (status == GSA_OK)
        status = gsa__labels_add_sorted(&into->labels, &all, error);
    gsa__labels_release(&all);
    return status;
}

static gsa_status unite_ancestors(gsa_state *into, const gsa_state *const *states, size_t n_states, gsa_error *error)
{
    size_t most = 0;
    for (size_t s = 0; s < n_states; s++)
        most += n_origins(states[s]);
    into->ancestors = gsa__alloc(&into->env, most, sizeof *into->ancestors);
    if (!into->ancestors)
        return gsa__fail(error, GSA_MEMORY, "no memory for the origins of %zu states", n_states);
    for (size_t s = 0; s < n_states; s++)
        for (size_t i = 0; i < n_origins(states[s]); i++) {
            uint64_t origin = origin_at(states[s], i);
            if (contains(into, origin))
                continue;
            size_t at = into->n_ancestors++;
            for (; at > 0 && into->ancestors[at - 1] > origin; at--)
                into->ancestors[at] = into->ancestors[at - 1];
            into->ancestors[at] = origin;
        }
    return GSA_OK;
}

/* Copies of one run stay that run, with its ancestors as they are. */
static gsa_status stay_the_run(gsa_state *into, const gsa_state *base, gsa_error *error)
{
    into->origin = base->origin;
    into->ancestors = gsa__alloc(&into->env, base->n_ancestors, sizeof *into->ancestors);
    if (!into->ancestors)
        return gsa__fail(error, GSA_MEMORY, "no memory for the origins of a state");
    if (base->n_ancestors > 0)
        memcpy(into->ancestors, base->ancestors, base->n_ancestors * sizeof *into->ancestors);
    into->n_ancestors = base->n_ancestors;
    return GSA_OK;
}

static gsa__loss united_loss(const gsa_state *into, const gsa_state *const *states, size_t n_states)
{
    gsa__loss loss = GSA__UNDECIDED;
    for (size_t s = 0; s < n_states; s++)
        if (states[s]->loss > loss)
            loss = states[s]->loss;
    return loss == GSA__LOGISTIC && into->labels.n > 2 ? GSA__SOFTMAX : loss;
}

static gsa_status frame(const gsa_state *const *states, size_t n_states, const gsa_state *base, const gsa_env *env,
                        gsa_state **out, gsa_error *error)
{
    size_t n_slots = base && base->table.n_slots ? base->table.n_slots : 1;
    for (size_t s = 0; s < n_states; s++)
        if (states[s]->table.n_slots > n_slots)
            n_slots = states[s]->table.n_slots;
    gsa_status status = gsa__state_create(&states[0]->params, env, out, error);
    if (status != GSA_OK)
        return status;
    gsa_state *into = *out;
    status = unite_labels(into, states, n_states, error);
    if (status == GSA_OK)
        status = base && gsa__state_continues(states[0], base) ? stay_the_run(into, base, error)
                                                               : unite_ancestors(into, states, n_states, error);
    into->origin.closed = 1;
    if (status == GSA_OK)
        status = gsa__state_decide(into, united_loss(into, states, n_states), error);
    if (status == GSA_OK)
        status = gsa__table_grow(&into->table, n_slots, &into->env, error);
    if (status == GSA_OK)
        status = gsa__carried_grow(&into->carried, n_slots, &into->env, error);
    if (status == GSA_OK && gsa__params_balance(&into->params))
        status = gsa__class_sums_grow(&into->class_sums, into->labels.n + 1, &into->env, error);
    return status;
}

/* What the states had in common counts once for each: means do not mind. */
static gsa_status unite_centres(gsa_state *into, const gsa_state *const *states, size_t n_states, gsa_error *error)
{
    gsa_status status = GSA_OK;
    for (size_t s = 0; s < n_states && status == GSA_OK; s++) {
        status = gsa__centre_grow(&into->centre, states[s]->centre.n, &into->env, error);
        for (size_t slot = 0; slot < states[s]->centre.n && status == GSA_OK; slot++)
            gsa__column_add(&into->centre.at[slot], &states[s]->centre.at[slot]);
    }
    return status;
}

static gsa_status unite_samples(gsa_state *into, const gsa_state *const *states, size_t n_states, gsa_error *error)
{
    size_t most = (size_t)gsa__params_holdout(&into->params);
    for (size_t s = 0; s < n_states; s++)
        for (size_t i = 0; i < states[s]->sample.n; i++) {
            gsa__held_row *held = gsa__held_row_copy(states[s]->sample.at[i], &into->env), *pushed_out = NULL;
            if (!held)
                return gsa__fail(error, GSA_MEMORY, "no memory for the held-out sample");
            if (gsa__loss_has_classes(into->loss))
                held->class_number =
                    (uint32_t)gsa__labels_find_text(&into->labels, states[s]->labels.at[held->class_number].text);
            gsa_status status = gsa__sample_insert(&into->sample, held, most, &into->env, &pushed_out, error);
            gsa__free(&into->env, status == GSA_OK ? pushed_out : held);
            if (status != GSA_OK)
                return status;
        }
    return GSA_OK;
}

/* ---- adding up --------------------------------------------------------------------------------------------------- */

/* The sum of the changes of states [from, from + n): left half plus right half, the left one a power of two. */
static gsa_status sum_changes(gsa__change *sum, const gsa_state *const *states, size_t n, const gsa_state *base,
                              const gsa_state *into, gsa_error *error)
{
    if (n == 1)
        return gsa__change_of(sum, states[0], base, into, error);
    size_t left = 1;
    while (2 * left < n)
        left *= 2;
    gsa__change right;
    gsa_status status = sum_changes(sum, states, left, base, into, error);
    if (status != GSA_OK)
        return status;
    status = sum_changes(&right, states + left, n - left, base, into, error);
    if (status != GSA_OK)
        gsa__change_release(sum, &into->env);
    else
        gsa__change_add(sum, &right, &into->env);
    return status;
}

static void add_class_sums(gsa_state *into, const gsa__change *change)
{
    for (size_t i = 0; i < into->class_sums.n; i++)
        into->class_sums.at[i] += change->class_sums[i];
}

/* The base's weights into the result's table, as the point that the change starts from. */
static gsa_status place_base(gsa_state *into, const gsa_state *base, bool goes_on, gsa_error *error)
{
    gsa__change start;
    if (!base)
        return GSA_OK;
    gsa_status status = gsa__change_of(&start, base, NULL, into, error);
    if (status != GSA_OK)
        return status;
    const double *weights = goes_on ? start.weight : start.average;
    for (size_t slot = 0; slot < into->table.n_slots; slot++) {
        gsa__cell *record = gsa__table_slot(&into->table, slot);
        for (size_t k = 0; k < into->table.n_outputs; k++)
            if (start.c[slot] > 0)
                record[k].f = (float)(weights[slot * start.n_outputs + k] / start.c[slot]);
        into->carried.mass[slot] = start.mass[slot];
        into->carried.count[slot] = start.count[slot];
    }
    add_class_sums(into, &start);
    gsa__change_release(&start, &into->env);
    return GSA_OK;
}

/* From sums to directions: what one unit of gamma moves. */
static void divide_by_mass(gsa__change *sum)
{
    for (size_t slot = 0; slot < sum->n_slots; slot++) {
        double c = sum->c[slot];
        for (size_t k = slot * sum->n_outputs; k < (slot + 1) * sum->n_outputs; k++) {
            sum->weight[k] = c > 0 ? sum->weight[k] / c : 0;
            sum->average[k] = c > 0 ? sum->average[k] / c : 0;
        }
    }
}

static void apply_slots(gsa_state *into, const gsa__change *sum, double gamma, double gamma_average)
{
    bool averaged = into->params.value[GSA__PARAM_average] != GSA__AVERAGE_LAST;
    double total = gsa__clock_total(into, into->clock.now);
    for (size_t slot = 0; slot < into->table.n_slots; slot++) {
        gsa__cell *weight = gsa__table_slot(&into->table, slot);
        gsa__cell *average = weight + gsa__table_average(&into->table);
        for (size_t k = 0; k < into->table.n_outputs; k++) {
            size_t i = slot * sum->n_outputs + k;
            double start = (double)weight[k].f;
            weight[k].f = (float)(start + gamma * sum->weight[i]);
            if (averaged)
                average[k].f = (float)(total * ((double)weight[k].f - (start + gamma_average * sum->average[i])));
        }
        into->carried.mass[slot] += sum->mass[slot];
        into->carried.count[slot] += sum->count[slot];
    }
}

static void apply_scalars(gsa_state *into, const gsa__change *sum, const gsa_state *base, bool goes_on)
{
    into->n_rows = sum->n_rows + (goes_on ? base->n_rows : 0);
    into->rows_behind = sum->rows_behind + (base ? base->rows_behind : 0);
    into->units_free = 2 * sum->rows_free > sum->n_rows; /* what most rows were learned with */
    into->step = sum->step;
    into->squared_error = sum->squared_error;
    into->squared_label = sum->squared_label;
    into->clock.now = sum->n_ticks + (goes_on ? base->clock.now : 0);
    into->n_merged = goes_on ? base->n_merged : sum->n_merged;
    into->position.pass = sum->pass;
    if (goes_on) {
        into->step.sum += base->step.sum / (gsa__state_splits(base, into) ? 2 : 1);
        into->step.weight += base->step.weight;
        into->squared_error += base->squared_error;
        into->squared_label += base->squared_label;
        if (sum->pass == base->position.pass)
            into->position = base->position;
        into->position.pass_rows += sum->pass_rows;
        into->position.loss_sum += sum->loss_sum;
        into->position.loss_weight += sum->loss_weight;
    }
    /* The average is that of the merged copies; a suffix starts anew with the next row. */
    into->clock.first = into->clock.now;
    into->clock.restart = into->clock.now + 1;
}

/* States that have met no row yet: any of them is what they come to. */
static bool all_undecided(const gsa_state *const *states, size_t n_states)
{
    for (size_t s = 0; s < n_states; s++)
        if (states[s]->loss != GSA__UNDECIDED)
            return false;
    return true;
}

gsa_status gsa__merge(const gsa_state *const *states, size_t n_states, const gsa_state *base, size_t shares,
                      const gsa_env *env, gsa_state **out, gsa_error *error)
{
    gsa_status status = check_all(states, n_states, base, error);
    if (status != GSA_OK)
        return status;
    if (n_states == 1 || all_undecided(states, n_states))
        return gsa_state_fork(states[0], env, out, error);
    gsa_state *into = NULL;
    gsa__change sum;
    bool goes_on = base && gsa__state_continues(states[0], base);
    status = frame(states, n_states, base, env, &into, error);
    if (status == GSA_OK && shares == 0)
        status = unite_samples(into, states, n_states, error);
    if (status == GSA_OK)
        status = unite_centres(into, states, n_states, error);
    if (status == GSA_OK)
        status = place_base(into, base, goes_on, error);
    if (status == GSA_OK && (status = sum_changes(&sum, states, n_states, base, into, error)) == GSA_OK) {
        double gamma = 1, gamma_average = 1;
        gsa__change_share(&sum, shares);
        divide_by_mass(&sum);
        status = gsa__greedy_gammas(into, &sum, n_states, &gamma, &gamma_average, error);
        if (status == GSA_OK) {
            apply_scalars(into, &sum, base, goes_on);
            apply_slots(into, &sum, gamma, gamma_average);
            add_class_sums(into, &sum);
        }
        gsa__change_release(&sum, &into->env);
    }
    if (status != GSA_OK) {
        gsa_state_free(into);
        return status;
    }
    *out = into;
    return GSA_OK;
}

gsa_status gsa_state_merge(const gsa_state *const *states, size_t n_states, const gsa_state *base, const gsa_env *env,
                           gsa_state **out, gsa_error *error)
{
    if (n_states == 0)
        return gsa__fail(error, GSA_ARGUMENT, "no states to merge");
    return gsa__merge(states, n_states, base, 0, env, out, error);
}
