/* Learning fuzzed rows under fuzzed parameters:
 *
 *   M1  the widest kernels of the machine give the bytes of the plain ones;
 *   M2  pieces do not matter: update(A) then update(B) is update(A then B);
 *   M3  dense rows give the bytes of the sparse ones that say the same;
 *   M4  a state that was saved and loaded in between gives the bytes of one that was not;
 *   M5  what was learned predicts finite numbers, or training says that it diverged; what has diverged is not saved;
 *   M6  weights, labels, ids and offsets of any bits are refused where they cannot be, by every call that takes rows.
 */
#include "states.h"

#include <greedystep/data.h>

#include <float.h>

/* Ways to learn the same rows. */
enum { AT_ONCE, PLAIN_KERNELS, IN_PIECES, LOADED_BETWEEN, DENSE, N_WAYS };

/* Bytes of an input that put_raw has. */
enum { RAW_BYTES = 24 };

static gsa_status learn_dense(gsa_state *state, const gsa_batch *rows, gsa_error *error)
{
    enum { WIDTH = 128 };
    static float dense[FUZZ_MAX_ROWS * WIDTH];
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
        fuzz_must(gsa_state_read(file.data, file.size, &fuzz_state_env.memory, state, error) == GSA_OK,
                  "a state that was written loads", error->message);
    }
    return status == GSA_OK ? gsa_state_update(*state, &b, error) : status;
}

static gsa_state *learn(const gsa_config *config, const gsa_batch *rows, int way, gsa_status *status)
{
    gsa_state *state = NULL;
    gsa_error error = {0};
    *status = fuzz_status(gsa_state_new(config, &fuzz_state_env.memory, &state, &error), &error);
    fuzz_must(*status == GSA_OK || *status == GSA_ARGUMENT, "parameters fit together or not", error.message);
    if (*status != GSA_OK)
        return NULL;
    if (way == PLAIN_KERNELS)
        state->kernels = gsai_kernels_at(0);
    *status = fuzz_status(gsa_state_prepare(state, rows, &error), &error);
    if (*status != GSA_OK)
        return state;
    *status = way == DENSE                                ? learn_dense(state, rows, &error)
              : way == IN_PIECES || way == LOADED_BETWEEN ? learn_pieces(&state, rows, way == LOADED_BETWEEN, &error)
                                                          : gsa_state_update(state, rows, &error);
    fuzz_status(*status, &error);
    return state;
}

/* ---- M6 ---------------------------------------------------------------------------------------------------------- */

/* Numbers of any bits in the place of some that were drawn: weights, ids, offsets, and words or labels. The last offset
 * stays within the arrays, which is all that callers have to vouch for. */
static void put_raw(fuzz_input *in, fuzz_batch *rows)
{
    size_t n_rows = rows->batch.n_rows, n_entries = (size_t)rows->start[n_rows];
    for (size_t n = 1 + fuzz_byte(in) % 3; n > 0; n--) {
        uint8_t kind = fuzz_byte(in), place = fuzz_byte(in);
        uint64_t bits = fuzz_number(in, kind % 8 == 2 || kind % 8 == 3 ? 8 : 4);
        uint32_t low = (uint32_t)bits;
        if (kind % 4 == 0) {
            rows->batch.weight = rows->weight;
            memcpy(&rows->weight[place % n_rows], &low, sizeof low);
        } else if (kind % 4 == 1 && n_entries > 0) {
            rows->index[place % n_entries] = kind & 128 ? UINT32_MAX - low % 4 : low;
        } else if (kind % 4 == 2) {
            memcpy(&rows->start[place % (n_rows + 1)], &bits, sizeof bits);
        } else if (kind % 4 == 3) {
            memcpy(&rows->word[place % n_rows], &low, sizeof low);
            memcpy(&rows->label[place % n_rows], &bits, sizeof bits);
        }
    }
    if (rows->start[n_rows] > (int64_t)n_entries)
        rows->start[n_rows] = (int64_t)n_entries;
}

static bool has_wrong_offsets(const gsa_batch *rows)
{
    bool wrong = rows->row_start[0] < 0;
    for (size_t r = 0; r < rows->n_rows; r++)
        wrong = wrong || rows->row_start[r] > rows->row_start[r + 1];
    return wrong;
}

static bool has_wrong_ids(const gsa_batch *rows)
{
    bool wrong = false;
    for (int64_t i = rows->row_start[0]; i < rows->row_start[rows->n_rows]; i++)
        wrong = wrong || rows->index[i] > GSA_MAX_ID;
    return wrong;
}

static bool has_wrong_facts(const gsa_batch *rows)
{
    bool wrong = false;
    for (size_t r = 0; r < rows->n_rows; r++) {
        float c = rows->weight ? rows->weight[r] : 1.0f;
        int32_t word = rows->word ? rows->word[r] : -1;
        wrong = wrong || !(c >= 0 && c <= FLT_MAX) || (word < 0 && !isfinite(rows->label[r])) ||
                (word >= 0 && (size_t)word >= rows->n_words);
    }
    return wrong;
}

static gsa_status give_rows(void *ctx, gsa_batch *out, gsa_error *error)
{
    (void)error;
    *out = *(const gsa_batch *)ctx;
    return GSA_OK;
}

/* What takes rows and learns nothing. */
static void check_takers(const gsa_model *model, gsa_batch *rows, bool wrong)
{
    static double out[FUZZ_MAX_ROWS * FUZZ_MAX_ROWS];
    const gsa_row_source source = {.size = sizeof source, .ctx = rows, .next = give_rows};
    gsa_error error = {0};
    gsa_metrics *metrics = NULL;
    gsa_reader *reader = NULL;
    gsa_batch given = {0};
    gsa_status status = fuzz_status(gsa_model_margins(model, rows, out, &error), &error);
    fuzz_must(wrong ? status == GSA_ARGUMENT : status == GSA_OK, "margins are of rows that can be", error.message);
    fuzz_must(gsa_metrics_new(model, &metrics, &error) == GSA_OK, "there is memory", NULL);
    status = fuzz_status(gsa_metrics_update(metrics, rows, &error), &error);
    fuzz_must(!wrong || status != GSA_OK, "metrics are of rows that can be", gsa_status_text(status));
    gsa_metrics_free(metrics);
    fuzz_must(gsa_reader_open_rows(&source, &fuzz_state_env.memory, &fuzz_state_env.call, &reader, &error) == GSA_OK,
              "there is memory", NULL);
    status = fuzz_status(gsa_reader_next(reader, &given, &error), &error);
    fuzz_must(wrong ? status == GSA_ARGUMENT : status == GSA_OK, "readers give rows that can be", error.message);
    gsa_reader_close(reader);
}

static void check_raw(const gsa_config *config, fuzz_input *raw, fuzz_batch *drawn)
{
    static fuzz_bytes before, after;
    gsa_status status;
    gsa_error error = {0};
    gsa_model *model = NULL;
    gsa_state *state = learn(config, &drawn->batch, AT_ONCE, &status);
    if (!state)
        return;
    bool written = fuzz_write_state(state, &before);
    if (fuzz_status(gsa_state_finish(state, &fuzz_state_env.call, &model, &error), &error) != GSA_OK)
        model = NULL;
    put_raw(raw, drawn);
    bool offsets = has_wrong_offsets(&drawn->batch), ids = !offsets && has_wrong_ids(&drawn->batch);
    status = fuzz_status(gsa_state_update(state, &drawn->batch, &error), &error);
    fuzz_must(!offsets || status == GSA_ARGUMENT, "offsets that cannot be are refused", error.message);
    fuzz_must(!(ids || has_wrong_facts(&drawn->batch)) || status != GSA_OK, "rows that cannot be are refused", NULL);
    if (offsets && written)
        fuzz_must(fuzz_write_state(state, &after) && fuzz_same(&before, &after), "nothing was learned of them", NULL);
    if (model)
        check_takers(model, &drawn->batch, offsets || ids);
    gsa_model_free(model);
    gsa_state_free(state);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const laws[] = {"", "the widest kernels give the bytes of the plain ones",
                                       "in two pieces it is the same", "loaded in between it is the same",
                                       "dense rows are the sparse ones"};
    static fuzz_batch drawn;
    static fuzz_bytes wanted, got;
    if (size > FUZZ_MAX)
        return -1;
    fuzz_input in = {data, size};
    uint8_t what = fuzz_byte(&in);
    int way = 1 + what % (N_WAYS - 1);
    gsa_config *config = fuzz_take_config(&in);
    fuzz_input raw = fuzz_part(&in, what & 32 ? RAW_BYTES : 0);
    const gsa_batch *rows = fuzz_take_batch(&in, &drawn);
    if (what & 32) {
        check_raw(config, &raw, &drawn);
        gsa_config_free(config);
        return 0;
    }
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
