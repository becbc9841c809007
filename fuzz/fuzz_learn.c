/* Learning fuzzed rows under fuzzed parameters:
 *
 *   M1  the widest kernels of the machine give the bytes of the plain ones;
 *   M2  pieces do not matter: update(A) then update(B) is update(A then B);
 *   M3  dense rows give the bytes of the sparse ones that say the same;
 *   M4  a state that was saved and loaded in between gives the bytes of one that was not;
 *   M5  what was learned predicts finite numbers, or training says that it diverged; what has diverged is not saved. */
#include "states.h"

/* Ways to learn the same rows. */
enum { AT_ONCE, PLAIN_KERNELS, IN_PIECES, LOADED_BETWEEN, DENSE, N_WAYS };

static gsa_status learn_dense(gsa_state *state, const gsa_batch *rows, gsa_error *error)
{
    enum { WIDTH = 128 };
    static float dense[FUZZ_MOST_ROWS * WIDTH];
    memset(dense, 0, sizeof dense);
    for (size_t r = 0; r < rows->n_rows; r++)
        for (int64_t i = rows->row_start[r]; i < rows->row_start[r + 1]; i++)
            dense[r * WIDTH + rows->index[i]] = rows->value ? rows->value[i] : 1.0f;
    gsa_batch batch = *rows;
    batch.row_start = NULL;
    batch.index = NULL;
    batch.value = dense;
    batch.width = WIDTH;
    return gsa_state_update(state, &batch, error);
}

static gsa_status learn_pieces(gsa_state **state, const gsa_batch *rows, bool loads, gsa_error *error)
{
    static fuzz_bytes file;
    size_t half = rows->n_rows / 2;
    gsa_batch a = fuzz_rows_from(rows, 0, half), b = fuzz_rows_from(rows, half, rows->n_rows - half);
    gsa_status status = gsa_state_update(*state, &a, error);
    if (status == GSA_OK && loads) {
        if (!fuzz_write_state(*state, &file))
            return fuzz_status(gsa_state_write(*state, fuzz_write, &file, error), error);
        gsa_state_free(*state);
        fuzz_must(gsa_state_read(file.data, file.size, &fuzz_state_env, state, error) == GSA_OK,
                  "a state that was written loads", error->message);
    }
    return status == GSA_OK ? gsa_state_update(*state, &b, error) : status;
}

static gsa_state *learn(const gsa_config *config, const gsa_batch *rows, int way, gsa_status *status)
{
    gsa_state *state = NULL;
    gsa_error error = {0};
    *status = fuzz_status(gsa_state_new(config, &fuzz_state_env, &state, &error), &error);
    fuzz_must(*status == GSA_OK || *status == GSA_ARGUMENT, "parameters fit together or not", error.message);
    if (*status != GSA_OK)
        return NULL;
    if (way == PLAIN_KERNELS)
        state->kernels = gsa__kernels_at(0);
    *status = fuzz_status(gsa_state_prepare(state, rows, &error), &error);
    if (*status != GSA_OK)
        return state;
    *status = way == DENSE                                ? learn_dense(state, rows, &error)
              : way == IN_PIECES || way == LOADED_BETWEEN ? learn_pieces(&state, rows, way == LOADED_BETWEEN, &error)
                                                          : gsa_state_update(state, rows, &error);
    fuzz_status(*status, &error);
    return state;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const laws[] = {"", "the widest kernels give the bytes of the plain ones",
                                       "in two pieces it is the same", "loaded in between it is the same",
                                       "dense rows are the sparse ones"};
    static fuzz_batch drawn;
    static fuzz_bytes wanted, got;
    if (size > FUZZ_MOST)
        return -1;
    fuzz_input in = {data, size};
    uint8_t what = fuzz_byte(&in);
    int way = 1 + what % (N_WAYS - 1);
    gsa_config *config = fuzz_take_config(&in);
    const gsa_batch *rows = fuzz_take_batch(&in, &drawn);
    gsa_status status, other;
    gsa_state *state = learn(config, rows, AT_ONCE, &status), *twin = learn(config, rows, way, &other);
    bool stopped_between = way == LOADED_BETWEEN && other == GSA_DIVERGED; /* what has diverged is not saved */
    fuzz_must(status == other || stopped_between, laws[way], gsa_status_text(status));
    if (!state || !twin) {
        gsa_config_free(config);
        return 0;
    }
    fuzz_write_state(state, &wanted);
    fuzz_write_state(twin, &got);
    fuzz_must(status != GSA_OK || stopped_between || fuzz_same(&wanted, &got), laws[way], "bytes");
    if (status == GSA_OK && (what & 64))
        fuzz_check_state_file(state);
    if (status == GSA_OK && (what & 128))
        fuzz_check_model_of(state, rows);
    gsa_state_free(state);
    gsa_state_free(twin);
    gsa_config_free(config);
    return 0;
}
