/* Curves: their knots, and rows in terms of them. */
#include "learn/basis.h"

#include "learn/inside.h"

#include "base/error.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* ---- knots ------------------------------------------------------------------------------------------------------- */

/* Adds a knot to those that ascend, unless it is there. */
static size_t insert_knot(float *knot, size_t n, float value)
{
    size_t at = n;
    while (at > 0 && knot[at - 1] >= value)
        at--;
    if (at < n && knot[at] == value)
        return n;
    memmove(knot + at + 1, knot + at, (n - at) * sizeof *knot);
    knot[at] = value;
    return n + 1;
}

size_t gsai_knots_choose(const gsai_weighted *at, size_t n, size_t most, float *knot)
{
    size_t n_values = 0, n_knots = 0, n_heavy = 0;
    double total = 0, rest = 0, so_far = 0;
    for (size_t i = 0; i < n; i++) {
        n_values += i == 0 || at[i].number != at[i - 1].number;
        total += at[i].weight;
    }
    if (n_values <= most) {
        for (size_t i = 0; i < n; i++)
            if (i == 0 || at[i].number != at[i - 1].number)
                knot[n_knots++] = (float)at[i].number;
        return n_knots;
    }
    /* The runs of equal numbers: twice, since quantiles are of what is not heavy. */
    for (size_t i = 0, end; i < n; i = end) {
        double weight = 0;
        for (end = i; end < n && at[end].number == at[i].number; end++)
            weight += at[end].weight;
        bool is_heavy = weight * (double)most >= total;
        n_heavy += is_heavy;
        rest += is_heavy ? 0 : weight;
    }
    size_t n_quantiles = most > n_heavy + 2 ? most - n_heavy : 2, next = 0;
    for (size_t i = 0, end; i < n; i = end) {
        double weight = 0;
        for (end = i; end < n && at[end].number == at[i].number; end++)
            weight += at[end].weight;
        bool is_heavy = weight * (double)most >= total, is_knot = is_heavy;
        so_far += is_heavy ? 0 : weight;
        /* Quantile q of Q + 1 is the first number that a share of q / Q is not above. */
        for (; !is_heavy && next < n_quantiles &&
               so_far * (double)(n_quantiles - 1) >= rest * (double)next * (1 - 4 * DBL_EPSILON);
             next++)
            is_knot = true;
        n_knots = is_knot ? insert_knot(knot, n_knots, (float)at[i].number) : n_knots;
    }
    return n_knots;
}

size_t gsai_knots_extend(float *knot, size_t n)
{
    double range = (double)knot[n - 1] - (double)knot[0];
    float low = (float)fmax((double)knot[0] - range, -(double)FLT_MAX);
    float high = (float)fmin((double)knot[n - 1] + range, (double)FLT_MAX);
    n = insert_knot(knot, n, low);
    n = insert_knot(knot, n, high);
    return low < 0 && high > 0 ? insert_knot(knot, n, 0) : n;
}

/* ---- a basis ----------------------------------------------------------------------------------------------------- */

/* Returns whether curves and knots are as B1 and B3 say. */
static bool is_sound(const gsai_basis *basis)
{
    size_t first = 0;
    for (size_t i = 0; i < basis->n; i++) {
        const gsai_curve *curve = &basis->curve[i];
        if (curve->first != first || curve->n_knots < 3 || curve->n_knots > basis->n_knots - first ||
            curve->feature >= basis->at || (i > 0 && curve->feature <= curve[-1].feature))
            return false;
        for (size_t k = first; k < first + curve->n_knots; k++)
            if (!isfinite(basis->knot[k]) || !(basis->share[k] >= 0 && basis->share[k] <= 1) ||
                (k > first && !(basis->knot[k] > basis->knot[k - 1])))
                return false;
        first += curve->n_knots;
    }
    return first == basis->n_knots && basis->at <= (uint64_t)GSA_MAX_ID + 1 - first;
}

gsa_status gsai_basis_make(gsai_basis *basis, const gsai_basis *from, const gsai_env *env, gsa_error *error)
{
    *basis = (gsai_basis){0};
    if (from->n == 0)
        return GSA_OK;
    if (!is_sound(from))
        return gsai_fail(error, GSA_FORMAT, "the knots of curves contradict each other");
    *basis = *from;
    basis->n_features = (size_t)from->curve[from->n - 1].feature + 1;
    basis->curve = gsai_copy(env, from->curve, from->n, sizeof *from->curve);
    basis->knot = gsai_copy(env, from->knot, from->n_knots, sizeof *from->knot);
    basis->share = gsai_copy(env, from->share, from->n_knots, sizeof *from->share);
    basis->of_feature = gsai_alloc_zeroed(env, basis->n_features, sizeof *basis->of_feature);
    if (!basis->curve || !basis->knot || !basis->share || !basis->of_feature) {
        gsai_basis_release(basis, env);
        return gsai_fail_memory(env, error, "no memory for %zu curves", from->n);
    }
    for (size_t i = 0; i < basis->n; i++)
        basis->of_feature[basis->curve[i].feature] = (uint32_t)i + 1;
    return GSA_OK;
}

void gsai_basis_release(gsai_basis *basis, const gsai_env *env)
{
    gsai_free(env, basis->curve);
    gsai_free(env, basis->knot);
    gsai_free(env, basis->share);
    gsai_free(env, basis->of_feature);
    *basis = (gsai_basis){0};
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

static const gsai_tensor_key at_key = {"curve.at", GSAI_U64, (uint64_t)GSA_MAX_ID + 1},
                             curve_key = {"curve", GSAI_U32, GSA_MAX_ID},
                             knot_key = {"curve.knot", GSAI_F32, GSAI_FINITE},
                             share_key = {"curve.share", GSAI_F32, GSAI_NOT_NEGATIVE};

void gsai_basis_save(gsai_snapshot *snapshot, const gsai_basis *basis)
{
    if (basis->n == 0)
        return;
    gsai_snapshot_add(snapshot, &at_key, &basis->at, 1);
    gsai_snapshot_add(snapshot, &curve_key, basis->curve, 3 * basis->n);
    gsai_snapshot_add(snapshot, &knot_key, basis->knot, basis->n_knots);
    gsai_snapshot_add(snapshot, &share_key, basis->share, basis->n_knots);
}

gsa_status gsai_basis_load(gsai_basis *basis, const gsai_bundle *bundle, const gsai_env *env, gsa_error *error)
{
    const gsai_tensor *at, *curve, *knot, *share;
    gsai_basis from = {0};
    *basis = from;
    GSA_TRY(gsai_bundle_may_have(bundle, &curve_key, GSAI_ANY_LEN, &curve, error));
    if (!curve)
        return GSA_OK;
    GSA_TRY(gsai_bundle_need(bundle, &at_key, 1, &at, error));
    GSA_TRY(gsai_bundle_need(bundle, &knot_key, GSAI_ANY_LEN, &knot, error));
    GSA_TRY(gsai_bundle_need(bundle, &share_key, gsai_tensor_len(knot), &share, error));
    size_t n = (size_t)gsai_tensor_len(curve);
    if (n == 0 || n % 3 != 0)
        return gsai_fail(error, GSA_FORMAT, "the knots of curves contradict each other");
    from.at = *(const uint64_t *)at->data;
    from.n = n / 3;
    from.n_knots = (size_t)gsai_tensor_len(knot);
    from.curve = gsai_copy(env, curve->data, from.n, sizeof *from.curve);
    GSAI_TRY_MEMORY(from.curve, env, error, "no memory for %zu curves", from.n);
    from.knot = (float *)(uintptr_t)knot->data; /* only read */
    from.share = (float *)(uintptr_t)share->data;
    gsa_status status = gsai_basis_make(basis, &from, env, error);
    gsai_free(env, from.curve);
    return status;
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

size_t gsai_basis_bend(const gsai_basis *basis, const gsai_row *row, uint32_t *index, float *value)
{
    size_t n = 0;
    for (size_t i = 0; i < row->n; i++) {
        float x = gsai_row_value(row, i);
        uint32_t feature = gsai_row_id(row, i);
        const gsai_curve *curve = gsai_basis_curve(basis, feature);
        if (!curve) {
            uint64_t id = gsai_basis_id(basis, feature);
            index[n] = (uint32_t)id;
            value[n] = x;
            n += id <= GSA_MAX_ID;
            continue;
        }
        const float *knot = basis->knot + curve->first;
        gsai_place place = gsai_place_of(knot, curve->n_knots, x);
        float share[2] = {1 - place.share, place.share};
        for (uint32_t k = 0; k < 2; k++) {
            index[n] = (uint32_t)basis->at + curve->first + place.low + k;
            value[n] = share[k];
            n += x != 0 && share[k] != 0 && knot[place.low + k] != 0;
        }
    }
    return n;
}

gsa_status gsai_basis_bend_row(const gsai_basis *basis, gsai_bent *bent, const gsai_env *env, gsai_row *row,
                               gsa_error *error)
{
    size_t need;
    if (basis->n == 0)
        return GSA_OK;
    bool fits = gsai_multiply(row->n, 2, &need) && gsai_add(need, 2, &need) &&
                gsai_reserve(env, &bent->index, &bent->index_capacity, need, sizeof *bent->index) &&
                gsai_reserve(env, &bent->value, &bent->value_capacity, need, sizeof *bent->value);
    GSAI_TRY_MEMORY(fits, env, error, "no memory for a row of %zu entries", row->n);
    *row = (gsai_row){gsai_basis_bend(basis, row, bent->index, bent->value), bent->index, bent->value};
    return GSA_OK;
}

void gsai_bent_release(gsai_bent *bent, const gsai_env *env)
{
    gsai_free(env, bent->index);
    gsai_free(env, bent->value);
    *bent = (gsai_bent){0};
}

/* ---- the part of a state ----------------------------------------------------------------------------------------- */

static void release_basis(gsa_state *state)
{
    gsai_basis_release(&state->basis, &state->env);
    gsai_bent_release(&state->bent, &state->env);
}

static gsa_status copy_basis(gsa_state *to, const gsa_state *from, gsa_error *error)
{
    return gsai_basis_make(&to->basis, &from->basis, &to->env, error);
}

bool gsai_basis_equals(const gsai_basis *a, const gsai_basis *b)
{
    return a->n == b->n && a->at == b->at && a->n_knots == b->n_knots &&
           (a->n == 0 || (memcmp(a->curve, b->curve, a->n * sizeof *a->curve) == 0 &&
                          memcmp(a->knot, b->knot, a->n_knots * sizeof *a->knot) == 0));
}

static gsa_status merge_basis(const gsai_merge *merge, gsa_error *error)
{
    const gsa_state *first = merge->states[0];
    for (size_t s = 1; s < merge->n_states; s++)
        if (!gsai_basis_equals(&merge->states[s]->basis, &first->basis))
            return gsai_fail(error, GSA_CONFLICT, "the states have curves with different knots");
    /* Headers of deltas have no knots, since they have no slots for them. */
    return copy_basis(merge->into, merge->continues && first->basis.n == 0 ? merge->base : first, error);
}

static void save_basis(gsai_snapshot *snapshot, const gsa_state *state)
{
    gsai_basis_save(snapshot, &state->basis);
}

static gsa_status load_basis(gsa_state *state, const gsai_bundle *bundle, gsa_error *error)
{
    return gsai_basis_load(&state->basis, bundle, &state->env, error);
}

const gsai_part_functions gsai_basis_part = {
    .release = release_basis, .copy = copy_basis, .merge = merge_basis, .save = save_basis, .load = load_basis};

const gsai_basis *gsai_state_basis(const gsa_state *state)
{
    return &state->basis;
}

gsa_status gsai_state_set_basis(gsa_state *state, const gsai_basis *basis, gsa_error *error)
{
    gsai_basis_release(&state->basis, &state->env);
    return gsai_basis_make(&state->basis, basis, &state->env, error);
}
