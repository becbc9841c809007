/* The offset of the labels of a regression.
 *
 * A weight is a float. An intercept near 1e9 would be right to 64 only, and so would be every prediction; measured from
 * the mean of the labels it is small. Moving the offset changes no prediction: what is relative to it moves too. A
 * robust loss has the median of the first labels, which outliers do not move. With a log link the offset is the
 * logarithm of the mean, and steps are those of labels in units of the mean. */
#include "learn/inside.h"

#include "base/real.h"

#include <math.h>

/* Moves the offset of labels, and the weights that are relative to it. An intercept that has learned nothing stays at
 * the offset; one that has seen no count yet does not know its unit. */
static void move_to(gsa_state *state, double to, bool is_first)
{
    double by = state->label_offset.at - to;
    state->label_offset.at = to;
    if (by == 0 || is_first)
        return;
    if (state->table.n_slots > 0)
        gsai_table_slot(&state->table, 0)->f = (float)((double)gsai_table_slot(&state->table, 0)->f + by);
    if (state->best_checkpoint.weight)
        state->best_checkpoint.weight[0] = (float)((double)state->best_checkpoint.weight[0] + by);
}

void gsai_label_offset_add(gsa_state *state, double y, double c)
{
    gsai_label_offset *offset = &state->label_offset;
    if (offset->settled || !gsai_loss_has_offset(state->loss) || !state->params.value[GSAI_PARAM_intercept] ||
        state->params.value[GSAI_PARAM_method] == GSAI_METHOD_PAPER)
        return;
    bool is_log = state->loss->has_log_link, is_first = state->n_rows == 0 || (is_log && offset->mean == 0);
    bool is_power_of_two = (state->n_rows & (state->n_rows + 1)) == 0; /* with this row */
    if (state->loss->has_width) {                                      /* without a width no weight has moved */
        move_to(state, gsai_residuals_centre(&state->residuals, y), state->residuals.width == 0);
        offset->settled = state->residuals.n_first == GSAI_FIRST_LABELS;
        return;
    }
    offset->weight += c;
    offset->mean += (y - offset->mean) * (c / offset->weight);
    if (is_log && offset->mean > 0 && (is_first || is_power_of_two))
        move_to(state, gsai_log(offset->mean), is_first);
    if (!is_log && is_power_of_two)
        move_to(state, offset->mean, is_first);
    offset->settled = state->n_rows + 1 >= GSAI_LABEL_OFFSET_ROWS;
}

/* The offset of the states or, if theirs differ, the mean over their rows. */
static gsa_status merge_offset(const gsai_merge *merge, gsa_error *error)
{
    (void)error;
    const gsa_state *const *states = merge->states;
    const gsai_label_offset nothing = {0}, *common = merge->continues ? &merge->base->label_offset : &nothing;
    gsai_label_offset *all = &merge->into->label_offset;
    double n_rows = 0, sum = 0;
    bool differ = false;
    if (common->settled) {
        *all = *common;
        return GSA_OK;
    }
    *all = (gsai_label_offset){.at = states[0]->label_offset.at, .settled = 1};
    for (size_t s = 0; s < merge->n_states; s++) {
        const gsai_label_offset *own = &states[s]->label_offset;
        differ = differ || own->at != all->at;
        n_rows += (double)states[s]->n_rows;
        sum += (double)states[s]->n_rows * own->at;
        all->settled = all->settled && own->settled;
    }
    if (differ && n_rows > 0)
        all->at = sum / n_rows;
    /* The mean of the labels of all, by shares of their weight. What copies have from their base counts once: added up
     * again and again it would soon be infinite. */
    all->weight = common->weight;
    for (size_t s = 0; s < merge->n_states; s++)
        all->weight += states[s]->label_offset.weight - common->weight;
    double total = all->weight > 0 ? all->weight : 1, of_base = common->weight / total * common->mean;
    all->mean = of_base;
    for (size_t s = 0; s < merge->n_states; s++)
        all->mean += states[s]->label_offset.weight / total * states[s]->label_offset.mean - of_base;
    return GSA_OK;
}

const gsai_part_functions gsai_label_offset_part = {.merge = merge_offset};

#define MAX_LABEL 1e30

bool gsai_has_huge_labels(const gsa_state *state, double y)
{
    const gsai_label_offset *offset = &state->label_offset;
    return !gsai_loss_has_classes(state->loss) && !state->loss->has_log_link &&
           !(fabs(y) < MAX_LABEL && fabs(offset->mean) < MAX_LABEL && fabs(offset->at) < MAX_LABEL &&
             state->squared_label <= MAX_LABEL * MAX_LABEL * (double)(state->n_rows + 1));
}

const char *gsai_diverged_remedy(const gsa_state *state, double y)
{
    return gsai_has_huge_labels(state, y) ? "labels are above 1e30; give them in a larger unit"
                                          : "scale the features to a similar range such as [-1, 1]";
}
