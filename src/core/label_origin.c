/* The origin of the labels of a regression, and what is known of rows before they are learned.
 *
 * A weight is a float. An intercept near 1e9 would be right to 64 only, and so would be every prediction; measured from
 * the mean of the labels it is small. Moving the origin changes no prediction: what is relative to it moves too. */
#include "core/state.h"
#include "core/team.h"

static bool has_origin(const gsa_state *state)
{
    return state->loss == GSA__SQUARED && state->params.value[GSA__PARAM_intercept] &&
           state->params.value[GSA__PARAM_method] == GSA__METHOD_AUTO;
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

gsa_status gsa__state_expect(gsa_state *state, const gsa_batch *rows, gsa_error *error)
{
    gsa__label_origin *origin = &state->origin_of_labels;
    gsa_status status = GSA_OK;
    bool labels = has_origin(state) && !origin->settled;
    for (size_t row = 0; row < rows->n_rows && status == GSA_OK; row++) {
        double c;
        status = gsa__row_weight(rows, row, &c, error);
        if (status != GSA_OK && error)
            error->row = row;
        if (status != GSA_OK || c == 0)
            continue;
        gsa__given_add(&state->given, c);
        if (labels && !gsa__row_is_word(rows, row))
            enter(origin, rows->label[row], c);
    }
    if (labels && origin->weight > 0) {
        gsa__label_origin_move(state, origin->mean);
        origin->settled = 1;
    }
    return status;
}

void gsa__label_origins_unite(gsa_state *into, const gsa_state *const *states, size_t n_states)
{
    gsa__label_origin all = {.at = states[0]->origin_of_labels.at, .settled = 1};
    double n_rows = 0, sum = 0, labels = 0;
    bool differ = false;
    for (size_t s = 0; s < n_states; s++) {
        const gsa__label_origin *own = &states[s]->origin_of_labels;
        differ = differ || own->at != all.at;
        n_rows += (double)states[s]->n_rows;
        sum += (double)states[s]->n_rows * own->at;
        labels += own->weight * own->mean;
        all.weight += own->weight;
        all.settled = all.settled && own->settled;
    }
    if (differ && n_rows > 0)
        all.at = sum / n_rows;
    if (all.weight > 0)
        all.mean = labels / all.weight;
    into->origin_of_labels = all;
}
