/* Merges of states that were loaded from fuzzed bytes: of two, of two with a base, of copies, of folds, and in deltas.
 * None of them crashes; what comes of it is a state that can be written, loaded and made a model of; and deltas give
 * the bytes of a merge. */
#include "states.h"

#include "learn/inside.h"

/* Numbers that a fuzzed state says of itself need not go together, and what is merged of them neither: fuzz_round
 * merges states that were learned, and asks for more. */
static void check_result(gsa_state *merged, const gsa_batch *rows)
{
    fuzz_check_merged_file(merged, true);
    fuzz_check_model_of(merged, rows);
    gsa_state_free(merged);
}

static void check_merge(const gsa_state *const *states, size_t n, const gsa_state *base, const gsa_batch *rows)
{
    gsa_state *merged = NULL;
    gsa_error error = {0};
    if (fuzz_status(gsa_state_merge(states, n, base, &fuzz_state_env.call, &merged, &error), &error) == GSA_OK)
        check_result(merged, rows);
}

/* Head and delta of each copy, united. */
static gsa_state *merge_in_slices(const gsa_state *const *copies, const gsa_state *base, gsa_error *error)
{
    static fuzz_bytes head[2], delta[2], united;
    gsa_state *heads[2] = {NULL, NULL}, *out = NULL;
    gsa_summary summary = {.size = sizeof summary};
    uint64_t n_features = 1;
    gsa_status status = GSA_OK;
    for (size_t i = 0; i < 2; i++) {
        gsa_state_get_summary(copies[i], &summary);
        n_features = summary.n_features > n_features ? summary.n_features : n_features;
    }
    for (size_t i = 0; i < 2 && status == GSA_OK; i++) {
        head[i].size = delta[i].size = 0;
        status = gsa_state_write_delta_header(copies[i], base, fuzz_write, &head[i], error);
        if (status == GSA_OK)
            status = gsa_state_read(head[i].data, head[i].size, &fuzz_state_env.memory, &heads[i], error);
        if (status == GSA_OK)
            status = gsa_state_write_delta(&copies[i], 1, i, base, 0, n_features, fuzz_write, &delta[i], error);
    }
    const void *deltas[] = {delta[0].data, delta[1].data};
    const size_t sizes[] = {delta[0].size, delta[1].size};
    united.size = 0;
    if (status == GSA_OK)
        status = gsa_deltas_reduce(deltas, sizes, 2, &fuzz_state_env.memory, fuzz_write, &united, error);
    const void *whole[] = {united.data};
    if (status == GSA_OK)
        status = gsa_state_merge_deltas((const gsa_state *const *)heads, 2, base, whole, &united.size, 1,
                                        &fuzz_state_env.call, &out, error);
    fuzz_status(status, error);
    gsa_state_free(heads[0]);
    gsa_state_free(heads[1]);
    return status == GSA_OK ? out : NULL;
}

/* Copies of one base, each with rows of its own. */
static void check_copies(const gsa_state *base, const gsa_batch *rows)
{
    static fuzz_bytes by_merge, by_deltas;
    gsa_state *copy[2] = {NULL, NULL}, *merged = NULL, *united = NULL;
    gsa_error error = {0};
    gsa_status status = GSA_OK;
    for (size_t i = 0; i < 2 && status == GSA_OK; i++) {
        gsa_batch part = *rows;
        part.n_rows = i == 0 ? rows->n_rows / 2 : rows->n_rows;
        status = fuzz_status(gsa_state_fork(base, 2, &copy[i], &error), &error);
        if (status == GSA_OK)
            status = fuzz_status(gsa_state_update(copy[i], &part, &error), &error);
    }
    const gsa_state *const copies[] = {copy[0], copy[1]};
    if (status == GSA_OK)
        status = fuzz_status(gsa_state_merge(copies, 2, base, &fuzz_state_env.call, &merged, &error), &error);
    if (status == GSA_OK) {
        united = merge_in_slices(copies, base, &error);
        fuzz_write_state(merged, &by_merge);
        if (united)
            fuzz_write_state(united, &by_deltas);
        fuzz_must(!united || fuzz_same(&by_merge, &by_deltas), "deltas give the bytes of a merge", NULL);
        check_result(merged, rows);
    }
    gsa_state_free(united);
    gsa_state_free(copy[0]);
    gsa_state_free(copy[1]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static fuzz_bytes file[2];
    if (size > FUZZ_MAX)
        return -1;
    fuzz_input in = {data, size};
    uint8_t what = fuzz_byte(&in);
    const gsa_batch *rows = fuzz_take_rows(&in);
    size_t first_size = (size_t)fuzz_number(&in, 2);
    fuzz_input first = fuzz_part(&in, first_size);
    if (!fuzz_make_file(&first, &file[0]))
        return -1;
    gsa_state *a = fuzz_read_state(&file[0]), *b = NULL;
    if (in.left > 0 && fuzz_make_file(&in, &file[1]))
        b = fuzz_read_state(&file[1]);
    const gsa_state *const both[] = {a, b}, *const twice[] = {b, b};
    if (a && b && (what & 1))
        check_merge(both, 2, NULL, rows);
    if (a && b && (what & 2))
        check_merge(twice, 2, a, rows);
    if (a && (what & 4))
        check_copies(a, rows);
    gsa_state_free(a);
    gsa_state_free(b);
    return 0;
}
