/* The loader of states: S1 to S3 of states.h, and what is made of a loaded state: copies, a run that starts from it,
 * the end of a pass, its best weights. */
#include "states.h"

static void check_copies(const gsa_state *state, const gsa_batch *rows)
{
    gsa_state *copy = NULL, *run = NULL;
    gsa_error error = {0};
    if (fuzz_status(gsa_state_fork(state, 2, &copy, &error), &error) == GSA_OK) {
        fuzz_status(gsa_state_update(copy, rows, &error), &error);
        fuzz_check_state_file(copy);
        gsa_state_free(copy);
    }
    if (fuzz_status(gsa_state_start_from(state, NULL, &run, &error), &error) == GSA_OK) {
        fuzz_check_state_file(run);
        gsa_state_free(run);
    }
}

static void check_pass(gsa_state *state)
{
    gsa_error error = {0};
    gsa_summary summary = {.size = sizeof summary};
    if (gsa_state_end_pass(state, &error) != GSA_OK) /* its rows cannot be learned */
        return;
    fuzz_status(gsa_state_checkpoint_best(state, NULL, &error), &error);
    gsa_state_get_summary(state, &summary);
    fuzz_must(summary.pass > 0, "a pass that ended is counted", NULL);
    (void)gsa_state_held_out_loss(state);
    fuzz_check_state_file(state);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static fuzz_bytes file;
    if (size > FUZZ_MAX)
        return -1;
    fuzz_input in = {data, size};
    uint8_t what = fuzz_byte(&in);
    const gsa_batch *rows = fuzz_take_rows(&in);
    if (!fuzz_make_file(&in, &file))
        return -1;
    gsa_state *state = fuzz_read_state(&file);
    if (!state)
        return 0;
    fuzz_check_state_file(state);
    fuzz_check_model_of(state, rows);
    if (what & 1)
        fuzz_check_learning(&file, rows);
    if (what & 2)
        check_copies(state, rows);
    if (what & 4)
        check_pass(state);
    gsa_state_free(state);
    return 0;
}
