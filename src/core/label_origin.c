/* The origin of the labels of a regression, and what is known of rows before they are learned.
 *
 * A weight is a float. An intercept near 1e9 would be right to 64 only, and so would be every prediction; measured from
 * the mean of the labels it is small. Moving the origin changes no prediction: what is relative to it moves too. */
#include "core/engine.h"
#include "core/state.h"

static bool has_origin(const gsa_state *state)
{
    return state->loss && state->loss->depends_on_residual && state->params.value[GSA__PARAM_intercept] &&
           state->params.value[GSA__PARAM_method] != GSA__METHOD_PAPER;
}

static void shift_intercept(gsa__table *table, double by)
{
    if (table->n_slots > 0)
        gsa__table_slot(table, 0)->f = (float)((double)gsa__table_slot(table, 0)->f + by);
}

void gsa__label_origin_move(gsa_state *state, double to)
{
    double by = state->origin_of_labels.at - to;
    state->origin_of_labels.at = to;
    if (by == 0 || state->n_rows == 0) /* an intercept that has learned nothing stays at the origin */
        return;
    shift_intercept(&state->table, by);
    if (state->contest)
        shift_intercept(&state->contest->table, by);
    if (state->best.weight)
        state->best.weight[0] = (float)((double)state->best.weight[0] + by);
}

static void enter(gsa__label_origin *origin, double y, double c)
{
    origin->weight += c;
    origin->mean += (y - origin->mean) * (c / origin->weight);
}

void gsa__label_origin_add(gsa_state *state, double y, double c)
{
    gsa__label_origin *origin = &state->origin_of_labels;
    if (origin->settled || !has_origin(state))
        return;
    enter(origin, y, c);
    if ((state->n_rows & (state->n_rows + 1)) == 0)
        gsa__label_origin_move(state, origin->mean);
    origin->settled = state->n_rows + 1 >= GSA__ORIGIN_LABELS;
}

/* The mean of the labels of all, by shares of their weight. What copies have from their base counts once: added up
 * again and again it would soon be infinite. */
static void unite_labels(gsa__label_origin *all, const gsa_state *const *states, size_t n_states,
                         const gsa__label_origin *base)
{
    all->weight = base->weight;
    for (size_t s = 0; s < n_states; s++)
        all->weight += states[s]->origin_of_labels.weight - base->weight;
    double total = all->weight > 0 ? all->weight : 1, common = base->weight / total * base->mean;
    all->mean = common;
    for (size_t s = 0; s < n_states; s++)
        all->mean += states[s]->origin_of_labels.weight / total * states[s]->origin_of_labels.mean - common;
}

void gsa__label_origins_unite(gsa_state *into, const gsa_state *const *states, size_t n_states, const gsa_state *base)
{
    const gsa__label_origin nothing = {0}, *common = base ? &base->origin_of_labels : &nothing;
    gsa__label_origin *all = &into->origin_of_labels;
    double n_rows = 0, sum = 0;
    bool differ = false;
    if (common->settled) {
        *all = *common;
        return;
    }
    *all = (gsa__label_origin){.at = states[0]->origin_of_labels.at, .settled = 1};
    for (size_t s = 0; s < n_states; s++) {
        const gsa__label_origin *own = &states[s]->origin_of_labels;
        differ = differ || own->at != all->at;
        n_rows += (double)states[s]->n_rows;
        sum += (double)states[s]->n_rows * own->at;
        all->settled = all->settled && own->settled;
    }
    if (differ && n_rows > 0)
        all->at = sum / n_rows;
    unite_labels(all, states, n_states, common);
}
