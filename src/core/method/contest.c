/* The contest for the units of features.
 *
 * Some data has units that mean something (text weights, pixels), some has not (raw measurements), and the two ways to
 * learn are far apart where it matters. So the first rows are learned both ways, and progressive loss decides: over the
 * rows from 4096 to 8191, or over the last half to all of the rows if the first pass is shorter. Early rows are left
 * out of the judgement because freedom from units learns faster at first even where it is worse in the end. */
#include "core/state.h"

#include "base/error.h"
#include "base/memory.h"

gsa_status gsa__contest_resume(gsa_state *state, gsa_error *error)
{
    gsa__contest *contest = gsa__alloc_zeroed(&state->env, 1, sizeof *contest);
    if (!contest)
        return gsa__fail_memory(&state->env, error, "no memory for a contest");
    gsa_status status = gsa__table_copy(&contest->table, &state->table, &state->env, error);
    if (status != GSA_OK) {
        gsa__free(&state->env, contest);
        return status;
    }
    contest->restart = 1;
    state->contest = contest;
    return GSA_OK;
}

gsa_status gsa__contest_open(gsa_state *state, gsa_error *error)
{
    bool wanted = state->params.value[GSA__PARAM_method] != GSA__METHOD_PAPER;
    state->units_free = wanted && state->params.value[GSA__PARAM_units] == GSA__UNITS_FREE;
    if (!wanted || state->params.value[GSA__PARAM_units] != GSA__UNITS_AUTO)
        return GSA_OK;
    return gsa__contest_resume(state, error);
}

/* By as much as counts for a gain: where values are all ones there is nothing to be free of, and the plain way is the
 * faster one. */
static bool rival_leads(const gsa__contest *contest)
{
    double own = contest->earlier_loss[0] + contest->loss[0], rival = contest->earlier_loss[1] + contest->loss[1];
    return rival < (1 - GSA_GAIN_LEAST) * own;
}

const gsa__table *gsa__state_table(const gsa_state *state)
{
    return state->contest && rival_leads(state->contest) ? &state->contest->table : &state->table;
}

const gsa__step_mean *gsa__state_step(const gsa_state *state)
{
    return state->contest && rival_leads(state->contest) ? &state->contest->step : &state->step;
}

void gsa__contest_close(gsa_state *state)
{
    gsa__contest *contest = state->contest;
    if (!contest)
        return;
    if (rival_leads(contest)) {
        gsa__table loser = state->table;
        state->table = contest->table;
        state->step = contest->step;
        contest->table = loser;
        state->units_free = true;
    }
    gsa__table_release(&contest->table, &state->env);
    gsa__free(&state->env, contest);
    state->contest = NULL;
}
