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
    if (basis->n_ids < basis->n_knots)
        return false;
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
    return first == basis->n_knots && basis->at <= (uint64_t)GSA_MAX_ID + 1 - basis->n_ids;
}

/* Returns whether sides and surfaces are as B4 says. */
static bool has_sound_surfaces(const gsai_basis *basis)
{
    size_t first = 0, node = basis->n_knots;
    if (basis->n_surfaces > GSAI_MAX_SURFACES || basis->n_sides > 2 * basis->n_surfaces)
        return false;
    for (size_t i = 0; i < basis->n_sides; i++) {
        const gsai_curve *side = &basis->side[i];
        if (side->first != first || side->n_knots < 2 || side->n_knots > basis->n_side_knots - first ||
            side->feature >= basis->at || (i > 0 && side->feature <= side[-1].feature))
            return false;
        for (size_t k = first; k < first + side->n_knots; k++)
            if (!isfinite(basis->side_knot[k]) || (k > first && !(basis->side_knot[k] > basis->side_knot[k - 1])))
                return false;
        first += side->n_knots;
    }
    for (size_t i = 0; i < basis->n_surfaces; i++) {
        const gsai_surface *surface = &basis->surface[i];
        if (surface->side[0] >= surface->side[1] || surface->side[1] >= basis->n_sides || surface->first != node)
            return false;
        uint64_t n_nodes = (uint64_t)basis->side[surface->side[0]].n_knots * basis->side[surface->side[1]].n_knots;
        if (n_nodes > basis->n_ids - node)
            return false;
        node += (size_t)n_nodes;
    }
    for (size_t k = basis->n_knots; k < basis->n_ids; k++)
        if (!(basis->share[k] >= 0 && basis->share[k] <= 1))
            return false;
    return first == basis->n_side_knots && node == basis->n_ids;
}

gsa_status gsai_basis_make(gsai_basis *basis, const gsai_basis *given, const gsai_env *env, gsa_error *error)
{
    gsai_basis made = *given;
    const gsai_basis *from = &made;
    *basis = (gsai_basis){0};
    if (from->n == 0)
        return GSA_OK;
    made.n_ids = made.n_surfaces > 0 ? made.n_ids : made.n_knots;
    if (!is_sound(from))
        return gsai_fail(error, GSA_FORMAT, "the knots of curves contradict each other");
    if (!has_sound_surfaces(from))
        return gsai_fail(error, GSA_FORMAT, "the knots of pairs contradict each other");
    *basis = *from;
    basis->n_features = (size_t)from->curve[from->n - 1].feature + 1;
    if (from->n_sides > 0 && from->side[from->n_sides - 1].feature >= basis->n_features)
        basis->n_features = (size_t)from->side[from->n_sides - 1].feature + 1;
    basis->curve = gsai_copy(env, from->curve, from->n, sizeof *from->curve);
    basis->knot = gsai_copy(env, from->knot, from->n_knots, sizeof *from->knot);
    basis->share = gsai_copy(env, from->share, from->n_ids, sizeof *from->share);
    basis->of_feature = gsai_alloc_zeroed(env, basis->n_features, sizeof *basis->of_feature);
    basis->side_of = gsai_alloc_zeroed(env, basis->n_features, sizeof *basis->side_of);
    basis->side = NULL;
    basis->side_knot = NULL;
    basis->surface = NULL;
    bool has_all = basis->curve && basis->knot && basis->share && basis->of_feature && basis->side_of;
    if (from->n_surfaces > 0) {
        basis->side = gsai_copy(env, from->side, from->n_sides, sizeof *from->side);
        basis->side_knot = gsai_copy(env, from->side_knot, from->n_side_knots, sizeof *from->side_knot);
        basis->surface = gsai_copy(env, from->surface, from->n_surfaces, sizeof *from->surface);
        has_all = has_all && basis->side && basis->side_knot && basis->surface;
    }
    if (!has_all) {
        gsai_basis_release(basis, env);
        return gsai_fail_memory(env, error, "no memory for %zu curves", from->n);
    }
    for (size_t i = 0; i < basis->n; i++)
        basis->of_feature[basis->curve[i].feature] = (uint32_t)i + 1;
    for (size_t i = 0; i < basis->n_sides; i++)
        basis->side_of[basis->side[i].feature] = (uint32_t)i + 1;
    return GSA_OK;
}

void gsai_basis_release(gsai_basis *basis, const gsai_env *env)
{
    gsai_free(env, basis->curve);
    gsai_free(env, basis->knot);
    gsai_free(env, basis->share);
    gsai_free(env, basis->side);
    gsai_free(env, basis->side_knot);
    gsai_free(env, basis->surface);
    gsai_free(env, basis->of_feature);
    gsai_free(env, basis->side_of);
    *basis = (gsai_basis){0};
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

static const gsai_tensor_key at_key = {"curve.at", GSAI_U64, (uint64_t)GSA_MAX_ID + 1},
                             curve_key = {"curve", GSAI_U32, GSA_MAX_ID},
                             knot_key = {"curve.knot", GSAI_F32, GSAI_FINITE},
                             share_key = {"curve.share", GSAI_F32, GSAI_NOT_NEGATIVE},
                             side_key = {"pair.side", GSAI_U32, GSA_MAX_ID},
                             side_knot_key = {"pair.knot", GSAI_F32, GSAI_FINITE},
                             surface_key = {"pair", GSAI_U32, GSA_MAX_ID};

void gsai_basis_save(gsai_snapshot *snapshot, const gsai_basis *basis)
{
    if (basis->n == 0)
        return;
    gsai_snapshot_add(snapshot, &at_key, &basis->at, 1);
    gsai_snapshot_add(snapshot, &curve_key, basis->curve, 3 * basis->n);
    gsai_snapshot_add(snapshot, &knot_key, basis->knot, basis->n_knots);
    gsai_snapshot_add(snapshot, &share_key, basis->share, basis->n_ids);
    if (basis->n_surfaces == 0)
        return;
    gsai_snapshot_add(snapshot, &side_key, basis->side, 3 * basis->n_sides);
    gsai_snapshot_add(snapshot, &side_knot_key, basis->side_knot, basis->n_side_knots);
    gsai_snapshot_add(snapshot, &surface_key, basis->surface, 3 * basis->n_surfaces);
}

gsa_status gsai_basis_load(gsai_basis *basis, const gsai_bundle *bundle, const gsai_env *env, gsa_error *error)
{
    const gsai_tensor *at, *curve, *knot, *share, *surface, *side = NULL, *side_knot = NULL;
    gsai_basis from = {0};
    *basis = from;
    GSA_TRY(gsai_bundle_may_have(bundle, &curve_key, GSAI_ANY_LEN, &curve, error));
    if (!curve)
        return GSA_OK;
    GSA_TRY(gsai_bundle_need(bundle, &at_key, 1, &at, error));
    GSA_TRY(gsai_bundle_need(bundle, &knot_key, GSAI_ANY_LEN, &knot, error));
    GSA_TRY(gsai_bundle_may_have(bundle, &surface_key, GSAI_ANY_LEN, &surface, error));
    if (surface) {
        GSA_TRY(gsai_bundle_need(bundle, &side_key, GSAI_ANY_LEN, &side, error));
        GSA_TRY(gsai_bundle_need(bundle, &side_knot_key, GSAI_ANY_LEN, &side_knot, error));
        from.n_sides = (size_t)gsai_tensor_len(side) / 3;
        from.n_side_knots = (size_t)gsai_tensor_len(side_knot);
        from.n_surfaces = (size_t)gsai_tensor_len(surface) / 3;
    }
    GSA_TRY(gsai_bundle_need(bundle, &share_key, surface ? GSAI_ANY_LEN : gsai_tensor_len(knot), &share, error));
    from.n_ids = (size_t)gsai_tensor_len(share);
    size_t n = (size_t)gsai_tensor_len(curve);
    if (n == 0 || n % 3 != 0 || (surface && (gsai_tensor_len(side) % 3 != 0 || gsai_tensor_len(surface) % 3 != 0)))
        return gsai_fail(error, GSA_FORMAT, "the knots of curves contradict each other");
    from.at = *(const uint64_t *)at->data;
    from.n = n / 3;
    from.n_knots = (size_t)gsai_tensor_len(knot);
    from.curve = gsai_copy(env, curve->data, from.n, sizeof *from.curve);
    GSAI_TRY_MEMORY(from.curve, env, error, "no memory for %zu curves", from.n);
    if (surface) {
        from.side = gsai_copy(env, side->data, from.n_sides, sizeof *from.side);
        from.surface = gsai_copy(env, surface->data, from.n_surfaces, sizeof *from.surface);
        from.side_knot = (float *)(uintptr_t)side_knot->data;
    }
    bool has_all = !surface || (from.side && from.surface);
    from.knot = (float *)(uintptr_t)knot->data; /* only read */
    from.share = (float *)(uintptr_t)share->data;
    gsa_status status = has_all ? gsai_basis_make(basis, &from, env, error)
                                : gsai_fail_memory(env, error, "no memory for %zu pairs", from.n_surfaces);
    gsai_free(env, from.curve);
    gsai_free(env, from.side);
    gsai_free(env, from.surface);
    return status;
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

size_t gsai_surface_nodes(const gsai_curve *const side[2], const float *knot, const float value[2], uint32_t *node,
                          float *share)
{
    gsai_place at[2];
    size_t n = 0;
    for (int i = 0; i < 2; i++) {
        const float *own = knot + side[i]->first;
        if (value[i] == 0 && (own[0] > 0 || own[side[i]->n_knots - 1] < 0))
            return 0;
        at[i] = gsai_place_of(own, side[i]->n_knots, value[i]);
    }
    for (uint32_t k = 0; k < 4; k++) {
        uint32_t a = k / 2, b = k % 2;
        node[n] = (at[0].low + a) * side[1]->n_knots + at[1].low + b;
        share[n] = (a ? at[0].share : 1 - at[0].share) * (b ? at[1].share : 1 - at[1].share);
        n += share[n] != 0;
    }
    return n;
}

size_t gsai_basis_nodes(const gsai_basis *basis, size_t surface, const gsai_sides_at *at, uint32_t *id, float *share)
{
    const gsai_surface *own = &basis->surface[surface];
    const gsai_curve *const side[2] = {&basis->side[own->side[0]], &basis->side[own->side[1]]};
    const float value[2] = {at->value[own->side[0]], at->value[own->side[1]]};
    size_t n = gsai_surface_nodes(side, basis->side_knot, value, id, share);
    for (size_t k = 0; k < n; k++)
        id[k] += (uint32_t)basis->at + own->first;
    return n;
}

size_t gsai_basis_bend(const gsai_basis *basis, const gsai_row *row, uint32_t *index, float *value)
{
    gsai_sides_at sides;
    size_t n = 0;
    gsai_sides_clear(basis, &sides);
    for (size_t i = 0; i < row->n; i++) {
        float x = gsai_row_value(row, i);
        uint32_t feature = gsai_row_id(row, i);
        const gsai_curve *curve = gsai_basis_curve(basis, feature);
        gsai_sides_set(basis, &sides, feature, x);
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
    for (size_t s = 0; s < basis->n_surfaces; s++)
        n += gsai_basis_nodes(basis, s, &sides, index + n, value + n);
    return n;
}

gsa_status gsai_basis_bend_row(const gsai_basis *basis, gsai_bent *bent, const gsai_env *env, gsai_row *row,
                               gsa_error *error)
{
    size_t need;
    if (basis->n == 0)
        return GSA_OK;
    bool fits = gsai_multiply(row->n, 2, &need) && gsai_add(need, 2 + 4 * basis->n_surfaces, &need) &&
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
    gsai_bent_release(&state->moved, &state->env);
}

static gsa_status copy_basis(gsa_state *to, const gsa_state *from, gsa_error *error)
{
    return gsai_basis_make(&to->basis, &from->basis, &to->env, error);
}

bool gsai_basis_equals(const gsai_basis *a, const gsai_basis *b)
{
    return a->n == b->n && a->at == b->at && a->n_knots == b->n_knots && a->n_sides == b->n_sides &&
           a->n_side_knots == b->n_side_knots && a->n_surfaces == b->n_surfaces &&
           (a->n == 0 || (memcmp(a->curve, b->curve, a->n * sizeof *a->curve) == 0 &&
                          memcmp(a->knot, b->knot, a->n_knots * sizeof *a->knot) == 0)) &&
           (a->n_surfaces == 0 || (memcmp(a->side, b->side, a->n_sides * sizeof *a->side) == 0 &&
                                   memcmp(a->side_knot, b->side_knot, a->n_side_knots * sizeof *a->side_knot) == 0 &&
                                   memcmp(a->surface, b->surface, a->n_surfaces * sizeof *a->surface) == 0));
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
