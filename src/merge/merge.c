/* Several states into one: changes since a common base, weighted by sums of squares, added in one fixed tree.
 *
 *   M1  the result does not depend on which worker learned what, only on the states and their numbers;
 *   M2  merging is commutative bit for bit for two states, and associative up to the rounding of doubles to float;
 *   M3  a label, feature or row that only one state knows keeps what that state learned of it. */
#include "learn/lineage.h"
#include "learn/parts.h"
#include "learn/rebase.h"
#include "learn/schema.h"
#include "merge/line_search.h"

#include "base/error.h"
#include "base/memory.h"

/* ---- what may be merged -------------------------------------------------------------------------------------------
 */

/* All methods but the paper's learn rows alike. */
static uint64_t value_of(const gsa_state *state, gsai_param_id id)
{
    uint64_t value = gsai_state_param(state, id);
    if (id == GSAI_PARAM_average)
        return gsai_params_average(gsai_state_params(state));
    return id == GSAI_PARAM_method ? value == GSAI_METHOD_PAPER : value;
}

static gsa_status check_pair(const gsa_state *a, const gsa_state *b, size_t a_number, size_t b_number,
                             const gsa_state *base, gsa_error *error)
{
    static const gsai_param_id same[] = {GSAI_PARAM_method, GSAI_PARAM_average, GSAI_PARAM_intercept,
                                         GSAI_PARAM_class_weight, GSAI_PARAM_quantile};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        if (value_of(a, same[i]) != value_of(b, same[i]))
            return gsai_fail(error, GSA_CONFLICT, "state %zu was trained with %s=%s, state %zu with %s; train alike",
                             a_number + 1, gsa_param_at(same[i])->name, gsai_state_params(a)->text[same[i]],
                             b_number + 1, gsai_state_params(b)->text[same[i]]);
    gsa_fingerprint a_rows, b_rows;
    gsa_state_get_fingerprint(a, &a_rows);
    gsa_state_get_fingerprint(b, &b_rows);
    if (gsai_state_sample(a)->by != gsai_state_sample(b)->by && a_rows.n_rows > 0 && b_rows.n_rows > 0)
        return gsai_fail(error, GSA_CONFLICT,
                         "states %zu and %zu hold rows out by different things, such as a group; train alike",
                         a_number + 1, b_number + 1);
    const gsai_loss *a_loss = gsai_state_loss(a), *b_loss = gsai_state_loss(b);
    if (a_loss && b_loss && !gsai_losses_agree(a_loss, b_loss))
        return gsai_fail(error, GSA_CONFLICT, "state %zu has %s loss, state %zu %s loss; train both alike",
                         a_number + 1, gsai_loss_name(a_loss), b_number + 1, gsai_loss_name(b_loss));
    for (size_t i = 0; i < gsai_lineage_count(a); i++)
        if (gsai_lineage_has(b, gsai_lineage_at(a, i)) && !(base && gsai_lineage_has(base, gsai_lineage_at(a, i))))
            return gsai_fail_param(
                error, "base", GSA_CONFLICT,
                "states %zu and %zu began with the same rows or started from the same model, which would "
                "count twice; give the state that they share as base",
                a_number + 1, b_number + 1);
    GSA_TRY(gsai_schema_check_unsigned(gsa_state_schema(a), error));
    GSA_TRY(gsai_schema_check_unsigned(gsa_state_schema(b), error));
    gsa_status status = gsai_schema_check(gsa_state_schema(a), gsa_state_schema(b), error);
    if (status != GSA_OK)
        gsai_error_prefix(error, "states %zu and %zu: ", a_number + 1, b_number + 1);
    return status;
}

static gsa_status check_pairs(const gsa_state *const *states, size_t n_states, const gsa_state *base, gsa_error *error)
{
    for (size_t a = 0; a < n_states; a++)
        for (size_t b = a + 1; b < n_states; b++)
            GSA_TRY(check_pair(states[a], states[b], a, b, base, error));
    return GSA_OK;
}

/* ---- adding up --------------------------------------------------------------------------------------------------- */

/* Merges states that are known to fit together. */
static gsa_status merge_run(const gsa_state *const *states, size_t n_states, const gsa_state *base,
                            const gsai_delta *reduced, size_t n_reduced, const gsai_env *env, gsa_state **out,
                            gsa_error *error)
{
    gsai_merging merging = {.states = states, .n_states = n_states, .base = base, .env = env, .arena.env = env};
    gsai_params params = *gsai_state_params(states[0]);
    size_t n_slots = 1;
    for (size_t s = 0; s < n_states + (base != NULL); s++) {
        size_t n = gsai_state_table(s < n_states ? states[s] : base)->n_slots;
        n_slots = n > n_slots ? n : n_slots;
    }
    for (size_t i = 0; i < n_reduced; i++)
        n_slots = reduced[i].end + 1 > n_slots ? (size_t)reduced[i].end + 1 : n_slots;
    if (base && !params.has_custom_loss) /* headers of deltas have no functions */
        gsai_params_take_loss(&params, gsai_state_params(base));
    GSA_TRY(gsai_state_create(&params, env, &merging.into, error));
    merging.continues = base && gsai_state_continues(states[0], base);
    const gsai_merge parts = {merging.into, states, n_states, base, merging.continues, n_slots};
    gsa_status status = gsai_parts_merge(&parts, error);
    if (status == GSA_OK)
        status = gsai_merging_begin(&merging, reduced, n_reduced, error);
    if (status == GSA_OK)
        status = gsai_merging_line_steps(&merging, error);
    if (status == GSA_OK)
        status = gsai_merging_apply(&merging, error);
    gsai_arena_release(&merging.arena);
    if (status == GSA_OK)
        status = gsai_names_merge(merging.into, states, n_states, error);
    if (status == GSA_OK)
        *out = merging.into;
    else
        gsa_state_free(merging.into);
    return status;
}

/* NOLINTNEXTLINE(misc-no-recursion): once per state */
gsa_status gsa_state_merge(const gsa_state *const *states, size_t n_states, const gsa_state *base, const gsa_call *call,
                           gsa_state **out, gsa_error *error)
{
    gsai_env own;
    const gsai_env *env = &own;
    size_t waiting = 0;
    if (n_states == 0)
        return gsai_fail(error, GSA_ARGUMENT, "no states to merge");
    GSA_TRY(gsai_env_take(&own, &gsai_state_env(states[0])->memory, call, error));
    /* Runs that started from a base began with what was solved of its rows. */
    bool continues = base && gsai_state_continues(states[0], base);
    bool all_gather = n_states > 1; /* then the result has the rows of all */
    if (base)
        all_gather = all_gather && gsai_state_gathers(base) && (continues || gsai_state_n_waiting(base) == 0);
    for (size_t s = 0; s < n_states; s++)
        all_gather = all_gather && gsai_state_gathers(states[s]);
    while (waiting < n_states && (all_gather || gsai_state_n_waiting(states[waiting]) == 0))
        waiting++;
    if (waiting < n_states || (base && !all_gather && gsai_state_n_waiting(base) > 0)) {
        /* With a copy of the state, or else of the base, in which rows wait. */
        gsa_state *closed = NULL;
        const gsa_state **all = gsai_copy(env, states, n_states, sizeof *all);
        GSAI_TRY_MEMORY(all, env, error, "no memory to merge %zu states", n_states);
        gsa_status status = waiting < n_states ? gsai_state_closed(all[waiting], true, &closed, error)
                                               : gsai_state_closed(base, continues, &closed, error);
        if (waiting < n_states)
            all[waiting] = closed;
        if (status == GSA_OK)
            status = gsa_state_merge(all, n_states, waiting < n_states ? base : closed, call, out, error);
        gsa_state_free(closed);
        gsai_free(env, all);
        return status;
    }
    for (size_t a = 0; a < n_states && base; a++) {
        if (!gsai_state_contains(states[a], base, n_states == 1))
            return gsai_fail(error, GSA_CONFLICT, "state %zu did not start from this base; give its own", a + 1);
        if (gsai_state_continues(states[a], base) != gsai_state_continues(states[0], base))
            return gsai_fail(error, GSA_CONFLICT,
                             "of states 1 and %zu one is a copy of the base and one a new run that started from it; "
                             "these do not add up; merge only copies, or only new runs",
                             a + 1);
    }
    GSA_TRY(check_pairs(states, n_states, base, error));
    if (!base && !gsai_bases_agree(states, n_states)) {
        gsa_state **all = gsai_alloc_zeroed(env, n_states, sizeof *all);
        GSAI_TRY_MEMORY(all, env, error, "no memory to merge %zu states", n_states);
        gsa_status status = gsai_states_rebase(states, n_states, all, error);
        if (status == GSA_OK)
            status = gsa_state_merge((const gsa_state *const *)all, n_states, NULL, call, out, error);
        for (size_t s = 0; s < n_states; s++)
            gsa_state_free(all[s]);
        gsai_free(env, all);
        return status;
    }
    bool has_rows = false; /* if no state has any, each of them is the result */
    for (size_t s = 0; s < n_states && !has_rows; s++)
        has_rows = gsai_state_loss(states[s]) != NULL;
    if (n_states == 1 || !has_rows)
        return gsa_state_fork(states[0], 1, out, error);
    return merge_run(states, n_states, base, NULL, 0, env, out, error);
}

/* ---- deltas ------------------------------------------------------------------------------------------------------ */

/* A copy of the base with the same labels: what it is merged into has the same outputs. */
static gsa_status check_copy(const gsa_state *copy, const gsa_state *base, gsa_error *error)
{
    const gsai_loss *loss = gsai_state_loss(copy);
    if (!base || !loss || loss != gsai_state_loss(base) ||
        !gsai_labels_equal(gsai_state_labels(copy), gsai_state_labels(base)))
        return gsai_fail(error, GSA_CONFLICT,
                         "deltas are of replicas of a base that knows all labels: prepare the base with all of them");
    if (gsai_state_n_waiting(copy) > 0 || gsai_state_n_waiting(base) > 0)
        return gsai_fail(error, GSA_ARGUMENT, "rows still wait: close the group first");
    return gsai_state_continues(copy, base)
               ? GSA_OK
               : gsai_fail(error, GSA_CONFLICT, "deltas are of replicas that continue from the given base");
}

gsa_status gsa_state_write_delta(const gsa_state *const *copies, size_t n_copies, size_t first_copy,
                                 const gsa_state *base, uint64_t first, uint64_t n_features, gsa_write_fn write,
                                 void *ctx, gsa_error *error)
{
    if (n_copies == 0 || n_copies > UINT32_MAX || first_copy > UINT32_MAX - n_copies)
        return gsai_fail(error, GSA_ARGUMENT, "a delta has 1 to 2^32 - 1 replicas");
    for (size_t s = 0; s < n_copies; s++)
        GSA_TRY(check_copy(copies[s], base, error));
    if (n_features == 0 || n_features > UINT32_MAX || first > GSA_MAX_ID)
        return gsai_fail(error, GSA_ARGUMENT, "a delta has 1 to 2^32 - 1 features, the first at most 2^32 - 3");
    const gsai_env *env = gsai_state_env(base);
    gsai_delta header = {.first_copy = first_copy,
                         .n_copies = n_copies,
                         .first = first,
                         .n_features = n_features,
                         .n_outputs = gsai_state_n_outputs(base)};
    gsai_adder adder;
    gsa_status status = gsai_adder_begin(&adder, n_copies, n_copies, header.n_outputs, env, error);
    gsai_resident *residents = gsai_arena_take(&adder.arena, n_copies + 1, sizeof *residents);
    if (status == GSA_OK)
        status = gsai_arena_check(&adder.arena, "the delta of replicas", error);
    if (status == GSA_OK) {
        for (size_t s = 0; s <= n_copies; s++)
            gsai_resident_begin(&residents[s], s < n_copies ? copies[s] : base, base, true, NULL, NULL);
        for (size_t s = 0; s < n_copies; s++)
            adder.deltas[s] = gsai_delta_of(&residents[s], first_copy + s);
        adder.base = &residents[n_copies];
        adder.continues = true;
        status = gsai_adder_write(&adder, GSAI_DELTA_OF_ONE, &header, write, ctx, error);
    }
    gsai_adder_end(&adder);
    return status;
}

/* Opens deltas of all replicas that follow one another from the first feature on: none is there twice, and none is
 * missing but for the last ones, which cannot be told. */
static gsa_status open_reduced(const void *const *reduced, const size_t *sizes, size_t n, size_t n_copies,
                               size_t n_outputs, gsai_delta *out, gsa_error *error)
{
    uint64_t first = 0;
    for (size_t i = 0; i < n; first = out[i].first + out[i].n_features, i++) {
        GSA_TRY(gsai_delta_open(GSAI_DELTA_REDUCED, reduced[i], sizes[i], &out[i], error));
        if (out[i].first != first)
            return gsai_fail(error, GSA_CONFLICT, "delta %zu begins with feature %llu, expected %llu", i + 1,
                             (unsigned long long)out[i].first, (unsigned long long)first);
        if (out[i].n_outputs != n_outputs || out[i].n_copies != n_copies)
            return gsai_fail(error, GSA_CONFLICT,
                             "delta %zu is of %llu replicas with %zu outputs, expected %zu with %zu", i + 1,
                             (unsigned long long)out[i].n_copies, out[i].n_outputs, n_copies, n_outputs);
    }
    return GSA_OK;
}

gsa_status gsa_state_merge_deltas(const gsa_state *const *headers, size_t n_copies, const gsa_state *base,
                                  const void *const *reduced, const size_t *sizes, size_t n_deltas,
                                  const gsa_call *call, gsa_state **out, gsa_error *error)
{
    gsai_env env;
    GSA_TRY(gsai_env_take(&env, &gsai_state_env(base)->memory, call, error));
    if (n_copies < 2 || n_deltas == 0)
        return gsai_fail(error, GSA_ARGUMENT, "a merge of deltas has two replicas or more, and a delta: %zu and %zu",
                         n_copies, n_deltas);
    for (size_t s = 0; s < n_copies; s++)
        GSA_TRY(check_copy(headers[s], base, error));
    GSA_TRY(check_pairs(headers, n_copies, base, error));
    gsai_delta *deltas = gsai_alloc(&env, n_deltas, sizeof *deltas);
    GSAI_TRY_MEMORY(deltas, &env, error, "no memory for %zu deltas", n_deltas);
    gsa_status status = open_reduced(reduced, sizes, n_deltas, n_copies, gsai_state_n_outputs(base), deltas, error);
    if (status == GSA_OK)
        status = merge_run(headers, n_copies, base, deltas, n_deltas, &env, out, error);
    gsai_free(&env, deltas);
    return status;
}
