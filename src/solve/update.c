/* Rows into a state: the first ones wait (learn/waiting.h), all others are learned as they come. */
#include "learn/schema.h"
#include "learn/state.h"
#include "solve/solve.h"

#include "base/error.h"
#include "base/rows.h"

#include <greedystep/distributed.h>

gsa_status gsa_state_update_rows(gsa_state *state, const gsa_batch *batch, const uint32_t *rows, size_t n_rows,
                                 gsa_error *error)
{
    size_t n_taken = 0;
    GSA_TRY(gsai_schema_check_unsigned(gsa_state_schema(state), error));
    if (n_rows > 0 && gsai_state_gathers(state)) {
        GSA_TRY(gsai_state_wait(state, batch, rows, n_rows, gsai_solve_waiting, true, &n_taken, error));
        if (!gsai_state_is_full(state))
            return GSA_OK;
        gsa_state *settled = NULL;
        GSA_TRY(gsai_state_closed(state, true, &settled, error));
        GSA_TRY(gsa_state_replace(state, settled, error));
    }
    const gsa_batch rest = rows ? *batch : gsai_batch_slice(batch, n_taken, n_rows - n_taken);
    gsa_status status = gsai_state_learn_rows(state, &rest, rows ? rows + n_taken : NULL, n_rows - n_taken, error);
    if (status != GSA_OK && error && !rows && error->row != GSA_NO_ROW)
        error->row += n_taken;
    return status;
}

gsa_status gsa_state_update(gsa_state *state, const gsa_batch *batch, gsa_error *error)
{
    return gsa_state_update_rows(state, batch, NULL, batch->n_rows, error);
}
