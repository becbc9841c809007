/* Bytes that processes hand each other: deltas of what replicas have learned. They come over a network of one's own and
 * are no files, but a length in them is not believed either: nothing crashes, and a delta that was taken gives a state
 * that can be written. */
#include "states.h"

typedef struct world {
    gsa_state *base, *copy[2], *head[2];
} world;

static void must_be_ok(gsa_status status, const gsa_error *error)
{
    fuzz_must(status == GSA_OK, "there is a state to begin with", error->message);
}

/* The same in every process, so that an input means the same. seeds.c makes it too. */
static world *make_world(void)
{
    static world w;
    static fuzz_batch drawn;
    static fuzz_bytes head;
    static const uint8_t rows[] = "\0\1\1\2\x50\1\x44\2\x38\0\0\3\1\x40\2\1\5\2\x60\1\x23\1\0\1\4\x51\2\x33\1\x77\3";
    gsa_error error = {0};
    if (w.base)
        return &w;
    fuzz_input in = {rows, sizeof rows - 1};
    const gsa_batch *batch = fuzz_take_batch(&in, &drawn);
    gsa_config *config = NULL;
    must_be_ok(gsa_config_new(NULL, &config, &error), &error);
    must_be_ok(gsa_config_set(config, "scale", "none", &error), &error);
    must_be_ok(gsa_state_new(config, NULL, &w.base, &error), &error);
    gsa_config_free(config);
    must_be_ok(gsa_state_update(w.base, batch, &error), &error);
    must_be_ok(gsa_state_close_group(w.base, &error), &error); /* rows that wait have no deltas */
    for (int i = 0; i < 2; i++) {
        must_be_ok(gsa_state_fork(w.base, 2, &w.copy[i], &error), &error);
        must_be_ok(gsa_state_update(w.copy[i], batch, &error), &error);
        must_be_ok(gsa_state_close_group(w.copy[i], &error), &error);
        head.size = 0;
        must_be_ok(gsa_state_write_delta_header(w.copy[i], w.base, fuzz_write, &head, &error), &error);
        must_be_ok(gsa_state_read(head.data, head.size, NULL, &w.head[i], &error), &error);
    }
    return &w;
}

static void check_united(const world *w, const void *bytes, size_t size)
{
    gsa_state *merged = NULL;
    gsa_error error = {0};
    const void *const united[] = {bytes};
    const gsa_state *const heads[] = {w->head[0], w->head[1]};
    gsa_status status =
        gsa_state_merge_deltas(heads, 2, w->base, united, &size, 1, &fuzz_state_env.call, &merged, &error);
    if (fuzz_status(status, &error) == GSA_OK)
        fuzz_check_merged_file(merged, true);
    gsa_state_free(merged);
}

/* Two deltas of one range; what they become is what a merge takes. */
static void check_slices(const world *w, fuzz_input *in)
{
    static fuzz_bytes united;
    gsa_error error = {0};
    fuzz_input first = fuzz_part(in, (size_t)fuzz_number(in, 2));
    const void *const deltas[] = {first.at, in->at};
    const size_t sizes[] = {first.left, in->left};
    united.size = 0;
    gsa_status status = gsa_deltas_reduce(deltas, sizes, 2, &fuzz_state_env.memory, fuzz_write, &united, &error);
    if (fuzz_status(status, &error) == GSA_OK)
        check_united(w, united.data, united.size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static fuzz_bytes delta[2], seed;
    if (size > FUZZ_MAX)
        return -1;
    const world *w = make_world();
    fuzz_input in = {data, size};
    uint8_t what = fuzz_byte(&in);
    gsa_error error = {0};
    if (what % 4 < 2)
        check_united(w, in.at, in.left);
    if (what % 4 == 2)
        check_slices(w, &in);
    if (what % 4 != 3)
        return 0;
    /* What the copies would have sent, with some bytes changed: nobody can guess it. */
    for (size_t i = 0; i < 2; i++) {
        const gsa_state *const copy[] = {w->copy[i]};
        delta[i].size = 0;
        must_be_ok(gsa_state_write_delta(copy, 1, i, w->base, 0, 40, fuzz_write, &delta[i], &error), &error);
    }
    seed.size = 0;
    const uint8_t sizes[] = {(uint8_t)(delta[0].size >> 8), (uint8_t)delta[0].size};
    fuzz_put(&seed, sizes, 2);
    fuzz_put(&seed, delta[0].data, delta[0].size);
    fuzz_put(&seed, delta[1].data, delta[1].size);
    while (in.left > 0) {
        size_t at = (size_t)fuzz_number(&in, 2);
        seed.data[at % seed.size] = fuzz_byte(&in);
    }
    fuzz_input changed = {seed.data, seed.size};
    check_slices(w, &changed);
    return 0;
}
