/* Who may be merged: states that were trained alike and that do not count the same rows twice. */
#include "learn/lineage.h"
#include "learn/schema.h"
#include "merge/change.h"
#include "merge/merge.h"

#include "base/error.h"

/* All methods but the paper's learn rows alike. */
static uint64_t value_of(const gsa_state *state, gsai_param_id id)
{
    uint64_t value = state->params.value[id];
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
        if (gsai_lineage_has(b, gsai_run_id_of_row(a, i)) &&
            !(base && gsai_lineage_has(base, gsai_run_id_of_row(a, i))))
            return gsai_fail(error, GSA_CONFLICT,
                             "states %zu and %zu began with the same rows or started from the same model: added up, "
                             "that would count twice; give the state that they share as base (--base)",
                             a_number + 1, b_number + 1);
    gsa_status status = gsai_schema_check(a->schema, b->schema, error);
    if (status != GSA_OK)
        gsai_error_prefix(error, "states %zu and %zu: ", a_number + 1, b_number + 1);
    return status;
}

/* Whatever the base knows, a state that came from it knows too: labels, features, and no less of each, which whoever
 * adds up several states finds anyway. */
static bool knows_all_of(const gsa_state *state, const gsa_state *base, bool is_alone)
{
    bool same_loss = !base->loss || base->loss == state->loss || gsai_loss_widens_to(base->loss, state->loss);
    if (!same_loss || base->table.n_slots > state->table.n_slots || base->rows_behind > state->rows_behind)
        return false;
    for (size_t i = 0; i < gsai_lineage_count(base); i++)
        if (!gsai_lineage_has(state, gsai_run_id_of_row(base, i)))
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
                             "these do not add up; merge those of one sort",
                             a + 1);
    }
    return GSA_OK;
}

gsa_status gsai_merge_check_pairs(const gsa_state *const *states, size_t n_states, const gsa_state *base,
                                  gsa_error *error)
{
    gsa_status status = GSA_OK;
    for (size_t a = 0; a < n_states; a++)
        for (size_t b = a + 1; b < n_states && status == GSA_OK; b++)
            status = check_pair(states[a], states[b], a, b, base, error);
    return status;
}

gsa_status gsai_merge_check(const gsa_state *const *states, size_t n_states, const gsa_state *base, gsa_error *error)
{
    gsa_status status = base ? check_base(states, n_states, base, error) : GSA_OK;
    return status == GSA_OK ? gsai_merge_check_pairs(states, n_states, base, error) : status;
}
