/* --class-weight balanced: rows of rare classes count for more than others.
 *
 * A row's weight is multiplied by (r + 1) / (n_k + 1): n_k is the weight of the rows of its class k so far, r that of
 * the rarest class so far, but no less than the square root of the weight of all rows; the row is counted in all of
 * them. That runs with the rows, so that chunks of any size, a resumed run and a stream give the same bits. It tends to
 * r / n_k, which gives every class the same weight in all. The rarest class counts 1, not n / (K n_k) as usual, because
 * a row of a large weight moves no further than it takes to fit it (docs/decisions/0009-class-weights.md). */
#include "learn/inside.h"

#include "base/error.h"
#include "base/memory.h"

#include <math.h>
#include <string.h>

gsa_status gsai_params_suit_loss(const gsai_params *params, const gsai_loss *loss, gsa_error *error)
{
    if (loss && !loss->has_quantile && params->value[GSAI_PARAM_quantile] != GSAI_SHARE_UNITS / 2)
        return gsai_fail_param(error, "quantile", GSA_ARGUMENT,
                               "a quantile is for quantile loss, not for %s loss; choose that loss, or leave it out",
                               gsai_loss_name(loss));
    if (!gsai_params_balance(params) || !loss || gsai_loss_has_classes(loss))
        return GSA_OK;
    return gsai_fail_param(error, "class_weight", GSA_ARGUMENT,
                           "balanced class weights are for classes, but %s loss predicts numbers; leave them "
                           "out, or choose logistic or softmax loss if labels are names of classes",
                           gsai_loss_name(loss));
}

gsa_status gsai_class_weight_of(gsa_state *state, size_t class_number, double c, double *out, gsa_error *error)
{
    *out = c;
    if (!gsai_params_balance(&state->params))
        return GSA_OK;
    GSA_TRY(gsai_array_grow(&state->class_sums, state->labels.n + 1, sizeof *state->class_sums.at, &state->env, error));
    const double *sum = state->class_sums.at;
    double min = sqrt(sum[0] + c), own = sum[class_number + 1] + c, rarest = own;
    for (size_t k = 1; k <= state->labels.n; k++)
        if (sum[k] > 0 && sum[k] < rarest && k - 1 != class_number)
            rarest = sum[k];
    rarest = rarest > min ? rarest : min; /* a label that came a few times must not slow down all others */
    *out = c * ((rarest + 1) / (own + 1));
    return GSA_OK;
}

void gsai_class_sums_add(gsa_state *state, size_t class_number, double c)
{
    if (!gsai_params_balance(&state->params))
        return;
    state->class_sums.at[0] += c;
    state->class_sums.at[class_number + 1] += c;
}

/* ---- the part of a state ----------------------------------------------------------------------------------------- */

static gsa_status copy_sums(gsa_state *to, const gsa_state *from, gsa_error *error)
{
    if (!gsai_params_balance(&to->params) || from->class_sums.n == 0)
        return GSA_OK;
    GSA_TRY(gsai_array_grow(&to->class_sums, from->class_sums.n, sizeof *to->class_sums.at, &to->env, error));
    memcpy(to->class_sums.at, from->class_sums.at, from->class_sums.n * sizeof *from->class_sums.at);
    return GSA_OK;
}

/* Adds up the weights of classes; what all states have from the base counts once. */
static gsa_status merge_sums(const gsai_merge *merge, gsa_error *error)
{
    gsa_state *into = merge->into;
    if (!gsai_params_balance(&into->params))
        return GSA_OK;
    GSA_TRY(gsai_array_grow(&into->class_sums, into->labels.n + 1, sizeof *into->class_sums.at, &into->env, error));
    for (size_t s = 0; s < merge->n_states + (merge->base != NULL); s++) {
        const gsa_state *from = s < merge->n_states ? merge->states[s] : merge->base;
        double share = s < merge->n_states ? 1 : 1 - (double)merge->n_states;
        double weight = share * (merge->base ? 1 : gsai_state_weight_in(from, into));
        for (size_t i = 0; i < from->class_sums.n && i <= from->labels.n; i++) {
            size_t to = i > 0 ? gsai_labels_find_text(&into->labels, from->labels.at[i - 1].text) + 1 : 0;
            into->class_sums.at[to] += weight * from->class_sums.at[i];
        }
    }
    return GSA_OK;
}

static bool fit_labels(const gsa_state *state)
{
    return state->class_sums.n <= state->labels.n + 1;
}

const gsai_part_functions gsai_class_sums_part = {.copy = copy_sums, .merge = merge_sums, .is_sound = fit_labels};
