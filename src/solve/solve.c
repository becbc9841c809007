/* A state from the optimum of its rows. */
#include "solve/solve.h"

#include "solve/best_penalty.h"
#include "solve/sweeps.h"

#include "learn/lineage.h"
#include "learn/schema.h"
#include "learn/solution.h"
#include "learn/state.h"

#include "base/error.h"
#include "base/hash.h"
#include "base/real.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Strengths on the path: up to a prior variance of margins of 1024; numbers may be predicted far more exactly. */
#define STRENGTHS_CLASSES 8u
#define STRENGTHS_NUMBERS 18u
/* The smallest width of a loss, in units of the label: labels that are fitted exactly have no outliers to tell. */
#define MIN_WIDTH 1e-6
/* Solutions with a width until it moves by less than this share of it. */
#define ROUND_GAIN 0.05
#define ROUND_GAIN_OF_CORNERS 1.0 /* a rounded corner may have half or twice the width */
#define MAX_ROUNDS 6

/* Vectors of weights that a solution has at once, on a path and by sweeps, and margins of a row. */
#define VECTORS 64u
#define VECTORS_OF_SWEEPS 8u
#define MARGINS 24u

uint64_t gsai_solver_cells(uint64_t n_rows, uint64_t n_entries, uint64_t n_outputs)
{
    return 4 * n_entries + MARGINS * n_rows * n_outputs;
}

bool gsai_solver_fits(const gsa_state *state, const gsai_waiting *rows)
{
    uint64_t n_outputs = gsai_state_n_outputs(state), per_feature = VECTORS, each;
    bool has_own = gsai_schema_customers(gsa_state_schema(state), &each) <= rows->highest;
    if (n_outputs > 1 && !has_own && rows->n_features > GSAI_FACTOR_COLUMNS &&
        gsai_state_loss(state)->has_probabilities)
        per_feature = VECTORS_OF_SWEEPS;
    return n_outputs <= GSAI_MAX_OUTPUTS && gsai_solver_cells(rows->csr.n_rows, rows->csr.n_values, n_outputs) +
                                                    per_feature * rows->n_features * n_outputs <=
                                                GSAI_SOLVER_CELLS;
}

/* ---- the state of a solution ------------------------------------------------------------------------------------- */

/* The rows that are solved, and the state that becomes the solution; it knows their labels. */
typedef struct solution_of {
    gsa_state *state;
    const gsai_waiting *rows;
    const gsai_waiting *seen; /* by the solver: bent, if the state has curves */
    const gsai_env *env;
    gsai_strength_hook hook;
    gsai_order *latest;    /* the last of rows in the order of a date; NULL: they are in none */
    bool goes_on;          /* rows are learned after these */
    const uint32_t *order; /* of the design, in which rows are added up: theirs would be seen in the last bits. NULL:
                              they are learned in their order anyway */
} solution_of;

static gsai_unlearned row_at(const void *of, size_t i)
{
    const solution_of *solution = of;
    if (solution->order && i + GSAI_WAITING_FAR < solution->rows->csr.n_rows)
        gsai_waiting_fetch(solution->rows, solution->order[i + GSAI_WAITING_FAR],
                           solution->order[i + GSAI_WAITING_FAR / 2]);
    return gsai_waiting_at(solution->rows, solution->order ? solution->order[i] : i);
}

static gsai_unlearned_rows rows_of(const solution_of *of)
{
    return (gsai_unlearned_rows){row_at, of, of->rows->csr.n_rows, of->env};
}

/* The loss of the best constant prediction. NaN for losses that have none. */
static double constant_loss(const gsa_state *state, const gsai_design *design, double *of_class)
{
    const gsai_loss *loss = gsai_state_loss(state);
    gsai_label_totals totals = {.class_weight = of_class, .n_classes = gsai_state_labels(state)->n};
    for (size_t i = 0; i < design->n_rows; i++) {
        double weight = (double)design->weight[i], y = (double)design->target[i];
        totals.weight += weight;
        totals.mean_square += weight * y * y / design->total_weight; /* labels are measured from their mean */
        if (loss->has_log_link) {
            totals.mean += weight * y / design->total_weight;
            totals.mean_log += y > 0 ? weight * y * gsai_log(y) / design->total_weight : 0;
        }
        if (gsai_loss_has_classes(loss))
            of_class[(size_t)y] += weight;
    }
    return (loss->constant ? loss->constant(&totals) : (double)NAN) * design->loss_unit;
}

/* Returns the highest feature that rows have, that of an offset included. */
static size_t highest_feature(const solution_of *of)
{
    const gsai_offset *offset = &of->seen->offset;
    return offset->loss && offset->feature > of->seen->highest ? offset->feature : of->seen->highest;
}

/* Fills in the basis of a state: the curves, and the surfaces that all rows have found. */
static gsa_status fill_basis(const gsai_bends *bends, gsai_basis *basis, gsai_arena *arena, gsa_error *error)
{
    size_t n_pairs = bends->n - bends->n_curves;
    uint32_t *number = gsai_arena_take(arena, bends->n_sides, sizeof *number);
    basis->curve = gsai_arena_take(arena, basis->n, sizeof *basis->curve);
    basis->share = gsai_arena_take(arena, bends->n_knots, sizeof *basis->share);
    basis->side = gsai_arena_take(arena, bends->n_sides, sizeof *basis->side);
    basis->side_knot = gsai_arena_take(arena, bends->n_side_knots, sizeof *basis->side_knot);
    basis->surface = gsai_arena_take(arena, n_pairs, sizeof *basis->surface);
    GSA_TRY(gsai_arena_check(arena, "curves", error));
    for (size_t b = 0; b < bends->n_curves; b++) {
        const gsai_bend *bend = &bends->at[b];
        basis->curve[b] = (gsai_curve){bend->feature, bend->first_knot, bend->n_knots};
        memcpy(basis->share + bend->first_knot, bend->share, bend->n_knots * sizeof *basis->share);
        basis->n_knots += bend->n_knots;
    }
    basis->n_ids = basis->n_knots;
    for (size_t p = 0; p < n_pairs; p++)
        for (size_t i = 0; i < 2 && bends->pair[p].found & GSAI_FOUND_BY_ALL; i++)
            number[bends->pair[p].side[i]] = 1;
    for (size_t s = 0; s < bends->n_sides; s++) {
        const gsai_curve *side = &bends->side[s].at;
        if (number[s] == 0)
            continue;
        memcpy(basis->side_knot + basis->n_side_knots, bends->side_knot + side->first,
               side->n_knots * sizeof *basis->side_knot);
        basis->side[basis->n_sides] = (gsai_curve){side->feature, (uint32_t)basis->n_side_knots, side->n_knots};
        basis->n_side_knots += side->n_knots;
        number[s] = (uint32_t)basis->n_sides++;
    }
    for (size_t p = 0; p < n_pairs; p++) {
        const gsai_bend *bend = &bends->at[bends->n_curves + p];
        const gsai_pair *pair = &bends->pair[p];
        if (!(pair->found & GSAI_FOUND_BY_ALL))
            continue;
        basis->surface[basis->n_surfaces++] =
            (gsai_surface){{number[pair->side[0]], number[pair->side[1]]}, (uint32_t)basis->n_ids};
        memcpy(basis->share + basis->n_ids, bend->share, bend->n_knots * sizeof *basis->share);
        basis->n_ids += bend->n_knots;
    }
    return GSA_OK;
}

/* Sets the curves and surfaces of a state, and their values; intercept[k] gets what curves are measured from. */
static gsa_status set_curves(const solution_of *of, const gsai_design *design, const gsai_optimum *optimum,
                             double *intercept, gsai_arena *arena, gsa_error *error)
{
    const gsai_bends *bends = design->bends;
    gsai_basis basis = {.at = (uint64_t)highest_feature(of) + 1, .n = bends->n_curves, .knot = bends->knot};
    gsai_table *table = gsai_state_own_table(of->state);
    double *weight = gsai_arena_take(arena, bends->n_parts, sizeof *weight);
    GSA_TRY(gsai_arena_check(arena, "curves", error));
    GSA_TRY(fill_basis(bends, &basis, arena, error));
    GSA_TRY(gsai_state_set_basis(of->state, &basis, error));
    GSA_TRY(gsai_table_grow(table, (size_t)basis.at + basis.n_ids + 1, gsai_state_env(of->state), error));
    for (size_t k = 0; k < design->n_outputs; k++) {
        size_t slot = (size_t)basis.at + 1;
        for (size_t p = 0; p < bends->n_parts; p++)
            weight[p] = optimum->weight[(1 + p) * design->n_outputs + k] * design->margin_unit;
        for (size_t b = 0; b < bends->n; b++) {
            const gsai_bend *bend = &bends->at[b];
            const float *knot = b < bends->n_curves ? bends->knot + bend->first_knot : NULL;
            bool has_sign = design->sign && design->sign[1 + bend->first_part] != 0; /* then 0 has the value 0 */
            double origin = 0; /* the value at a knot at 0, or else the mean; surfaces have the mean 0 */
            if (!knot && !(bends->pair[b - bends->n_curves].found & GSAI_FOUND_BY_ALL))
                continue;
            for (size_t i = 0; i < bend->n_knots && knot && !has_sign; i++)
                origin += (double)bend->share[i] * gsai_bends_value(bends, bend->first_knot + i, weight);
            for (size_t i = 0; i < bend->n_knots && knot; i++)
                origin = knot[i] == 0 ? gsai_bends_value(bends, bend->first_knot + i, weight) : origin;
            intercept[k] += origin;
            for (size_t i = 0; i < bend->n_knots; i++, slot++) {
                float value = (float)(gsai_bends_value(bends, bend->first_knot + i, weight) - origin);
                if (knot ? knot[i] == 0 : bend->share[i] == 0 && value == 0)
                    continue;
                gsai_table_use(table, slot);
                gsai_table_slot(table, slot)[k].f = isfinite(value) ? value : 0;
            }
        }
    }
    return GSA_OK;
}

/* Makes the state from the weights of features, in their own units; those of columns that do not vary, and of features
 * that are not there, stay. intercept[k] makes up for where columns begin, with the weights as they are rounded. */
static gsa_status make_state(const solution_of *of, const gsai_design *design, const gsai_optimum *optimum,
                             gsai_arena *arena, gsa_error *error)
{
    gsa_state *state = of->state;
    double *intercept = gsai_arena_take(arena, design->n_outputs, sizeof *intercept);
    double *of_class = gsai_arena_take(arena, gsai_state_labels(state)->n + 1, sizeof *of_class);
    const gsai_loss *loss = gsai_state_loss(state);
    gsai_table *table = gsai_state_own_table(state);
    size_t n_outputs = design->n_outputs;
    double unit = design->margin_unit, lambda = optimum->results.at[GSAI_RESULT_lambda];
    const gsai_label_offset offset = {design->margin_origin,
                                      loss->has_log_link ? design->loss_unit : design->margin_origin, 1, 1};
    bool has_classes = gsai_loss_has_classes(loss);
    bool has_offset = gsai_loss_has_offset(loss) && gsai_state_param(state, GSAI_PARAM_intercept);
    gsai_solution solution = {.intercept = intercept,
                              .label_offset = has_offset ? &offset : NULL,
                              .residuals = optimum->residuals,
                              .results = optimum->results,
                              .is_standardised = optimum->standardised,
                              .prior_share = fmin(optimum->share, 1),
                              .n_different = design->n_different,
                              .held_out_loss = optimum->held_out_loss * design->loss_unit};
    gsai_unlearned_rows rows = rows_of(of);
    GSA_TRY(gsai_arena_check(arena, "the intercepts", error));
    solution.constant_loss = constant_loss(state, design, of_class);
    size_t n_slots = design->n_columns > 1 ? highest_feature(of) + 2 : 1;
    GSA_TRY(gsai_table_grow(table, n_slots, gsai_state_env(state), error));
    for (size_t k = 0; k < n_outputs; k++)
        intercept[k] = optimum->weight[k] * unit;
    if (design->bends)
        GSA_TRY(set_curves(of, design, optimum, intercept, arena, error));
    for (size_t j = gsai_design_parts(design); j < design->n_columns; j++) {
        gsai_table_use(table, (size_t)design->id[j] + 1);
        gsai_cell *cell = gsai_table_slot(table, (size_t)design->id[j] + 1);
        for (size_t k = 0; k < n_outputs; k++) {
            double weight = optimum->weight[j * n_outputs + k] * unit, exact = weight / design->unit[j];
            if (design->variance[j] > 0)
                cell[k].f = isfinite((float)exact) ? (float)exact : 0;
            intercept[k] += (double)design->mean[j] * optimum->weight[j * n_outputs + k] * unit -
                            (double)cell[k].f * gsai_design_middle(design, j);
        }
    }
    /* The penalty is also said as others define it: C of LogisticRegression and LinearSVC, alpha of Ridge and
     * PoissonRegressor. With a prior it has another meaning. */
    double *result = solution.results.at;
    bool halves = loss == gsai_loss_find("squared_hinge"); /* the square, which LinearSVC does not */
    if (optimum->share == 0 && has_classes)
        result[GSAI_RESULT_C] = halves ? 0.5 / lambda : 1 / lambda;
    else if (optimum->share == 0)
        result[GSAI_RESULT_alpha] = loss->has_log_link ? lambda * design->loss_unit / design->total_weight : lambda;
    result[GSAI_RESULT_lines_loss] *= design->loss_unit;
    result[GSAI_RESULT_common_loss] *= design->loss_unit;
    result[GSAI_RESULT_customer_deviation] *= unit;
    result[GSAI_RESULT_mae] *= loss->has_log_link ? design->loss_unit : unit;
    gsai_intervals_move(&solution.results.intervals, loss->has_log_link ? design->loss_unit : unit,
                        loss->has_log_link ? 0 : design->margin_origin);
    result[GSAI_RESULT_calibration_shift] *= unit;
    return gsai_solution_finish(state, &solution, &rows, of->goes_on, error);
}

/* Finds the optimum of a loss with a width, and the width: that of the labels first, whose unit is their scale, then
 * that of the residuals, until it stays. */
static gsa_status find_with_width(gsai_problem *problem, gsai_arena *arena, gsai_optimum *out, gsa_error *error)
{
    const gsai_design *design = problem->design;
    double *residual = gsai_arena_take(arena, design->n_rows, sizeof *residual), before = INFINITY, width = GSAI_WIDTH;
    const double round_gain = problem->quantile > 0 ? ROUND_GAIN_OF_CORNERS : ROUND_GAIN;
    GSA_TRY(gsai_arena_check(arena, "the residuals", error));
    for (size_t i = 0; i < design->n_rows; i++)
        residual[i] = (double)design->target[i];
    /* Labels without noise leave no width to find: from weights of 0 it would be too small to move them. */
    for (int round = 0;
         round == 0 || (round < MAX_ROUNDS && width > 10 * MIN_WIDTH && fabs(width - before) > round_gain * width);
         round++) {
        before = width;
        width = gsai_residuals_solve(residual, design->weight, design->n_rows, width);
        problem->width = (float)fmin(fmax(width, MIN_WIDTH), FLT_MAX);
        *out = (gsai_optimum){.results = gsai_results_none()};
        problem->n_after = round == 0 ? GSAI_EXPECTED_STRENGTHS : 0;
        GSA_TRY(gsai_optimum_find(problem, arena, out, error));
        for (size_t i = 0; i < design->n_rows; i++)
            residual[i] = gsai_design_margin(out->design, i, out->weight) - (double)design->target[i];
        width = gsai_residuals_solve(residual, design->weight, design->n_rows, width);
    }
    out->held_out_loss += gsai_problem_clipped(problem);
    if (design->clipped > 0) /* these would be of the clipped labels */
        out->results.at[GSAI_RESULT_r2] = out->results.at[GSAI_RESULT_mae] = NAN;
    out->residuals =
        gsai_residuals_of(residual, design->weight, design->n_rows, (double)problem->width, design->margin_unit);
    return GSA_OK;
}

/* Returns whether columns may have curves: not without an intercept, which takes what they are measured from; not where
 * features are dropped one by one, or rows were learned as lines before; and not of text, whose numbers stand anywhere
 * (Vowpal Wabbit's), or which is wide and has several classes, so that sweeps find the optimum. */
static bool may_bend(const solution_of *of, const gsai_design *design)
{
    const gsai_params *params = gsai_state_params(of->state);
    const char *schema = gsa_state_schema(of->state);
    return params->value[GSAI_PARAM_curves] && params->value[GSAI_PARAM_intercept] &&
           !params->value[GSAI_PARAM_compact] && gsai_state_rows_behind(of->state) == 0 &&
           gsai_state_basis(of->state)->n == 0 && !gsai_sweeps_suit(design) &&
           (!schema || gsai_schema_is_table(schema));
}

static gsa_status check_signs(const gsai_design *design, gsa_error *error)
{
    if (!design->sign || design->n_columns <= GSAI_SIGNED_COLUMNS)
        return GSA_OK;
    return gsai_fail_param(error, "increasing", GSA_LIMIT,
                           "the rows have %zu features, and where columns are increasing or decreasing there may be "
                           "%zu: leave columns out, or hash to fewer bits, such as 10",
                           design->n_columns - 1, GSAI_SIGNED_COLUMNS - 1);
}

/* Makes the state that of the optimum of its rows, and *order that of the rows, which the caller frees; NULL: it is not
 * wanted. */
static gsa_status solve(solution_of *of, uint32_t **order, gsa_error *error)
{
    gsai_design design = {.env = *of->env};
    gsai_arena arena = {.env = of->env};
    gsai_optimum optimum = {.results = gsai_results_none()};
    gsa_state *own = of->state;
    const gsai_loss *loss = gsai_state_loss(own);
    const gsai_params *params = gsai_state_params(own);
    const uint64_t words = gsai_schema_words_of_texts(gsa_state_schema(own));
    gsai_waiting *bent_rows = NULL;
    gsa_status status = GSA_OK;
    if (gsai_state_basis(own)->n > 0)
        status = gsai_waiting_bend(of->rows, gsai_state_basis(own), &bent_rows, error);
    of->seen = bent_rows ? bent_rows : of->rows;
    if (status == GSA_OK)
        status = gsai_design_make(&design, of->seen, own, error);
    gsai_problem problem = {.design = &design,
                            .loss = loss->rows,
                            .kernels = gsai_solve_kernels_best(),
                            .env = of->env,
                            .hook = of->hook,
                            .order = of->latest,
                            .loss_name = gsai_loss_name(loss),
                            .width = FLT_MAX, /* none yet */
                            .quantile = loss->has_quantile ? (float)gsai_params_quantile(params) : 0,
                            .asked = params->value[GSAI_PARAM_scale],
                            .n_strengths = gsai_loss_has_classes(loss) ? STRENGTHS_CLASSES : STRENGTHS_NUMBERS,
                            .has_intercept = params->value[GSAI_PARAM_intercept],
                            .n_classes = gsai_state_labels(own)->n,
                            .has_log_link = loss->has_log_link,
                            .has_texts = words <= GSA_MAX_ID,
                            .has_probabilities = gsai_loss_has_probabilities(loss),
                            .is_start = of->goes_on};
    gsai_design bent_design;
    gsai_bends bends;
    gsai_problem bent;
    if (status == GSA_OK)
        status = check_signs(&design, error);
    if (status == GSA_OK)
        status = gsai_prior_make(&problem, own, of->rows->csr.n_rows, &arena, error);
    if (status == GSA_OK && may_bend(of, &design)) {
        status = gsai_bends_find(&bends, &design, of->rows, words < design.first_own ? words : design.first_own, &arena,
                                 error);
        if (design.sign && design.n_columns + bends.n_parts > GSAI_SIGNED_COLUMNS)
            bends.n = 0;
        if (status == GSA_OK && bends.n > 0)
            status = gsai_design_bend(&bent_design, &design, &bends, of->rows, &arena, error);
        bent = problem;
        bent.design = &bent_design;
        bent.rows = params->value[GSAI_PARAM_pairs] ? of->rows : NULL;
        problem.bent = bends.n > 0 ? &bent : NULL;
    }
    if (status == GSA_OK && loss->has_width)
        status = find_with_width(&problem, &arena, &optimum, error);
    else if (status == GSA_OK && problem.has_probabilities && gsai_sweeps_suit(&design))
        status = gsai_sweeps_find(&problem, &arena, &optimum, error);
    else if (status == GSA_OK)
        status = gsai_optimum_find(&problem, &arena, &optimum, error);
    if (gsai_params_balance(params)) /* rows do not count alike */
        optimum.results.at[GSAI_RESULT_accuracy] = NAN;
    of->order = of->goes_on ? NULL : design.order;
    if (status == GSA_OK)
        status = make_state(of, optimum.design ? optimum.design : &design, &optimum, &arena, error);
    if (order) {
        *order = design.order;
        design.order = NULL;
    }
    gsai_arena_release(&arena);
    gsai_design_release(&design);
    gsai_waiting_free(bent_rows);
    return status;
}

/* ---- compact: how many features are enough is measured on a part of the rows, by the optimum of the rest --------- */

/* Measures how many features are enough, on rows that a solver of the others, the state, does not see; not if these are
 * few. Rows with equal features are on one side. */
static gsa_status measure(const solution_of *of, gsa_state *state, gsai_compaction *out, gsa_error *error)
{
    const gsai_waiting *rows = of->rows;
    gsai_waiting *held = NULL, *others = NULL;
    uint64_t latest = 0;
    bool is_time = gsai_waiting_held_by(rows) == GSAI_BY_TIME;
    if (is_time)
        GSA_TRY(gsai_waiting_latest(rows, rows->csr.n_rows / GSAI_FOLDS, &latest, error));
    gsa_status status = gsai_waiting_new(NULL, of->env, &held, error);
    if (status == GSA_OK)
        status = gsai_waiting_new(NULL, of->env, &others, error);
    for (size_t at = 0; at < rows->csr.n_rows && status == GSA_OK; at++) {
        uint64_t key = gsai_waiting_key(rows, of->order[at]);
        bool is_held = is_time ? key < latest : gsai_mix(key) % GSAI_FOLDS == 0;
        status = gsai_waiting_copy(is_held ? held : others, rows, of->order[at], error);
    }
    if (status == GSA_OK && held->csr.n_rows >= GSAI_COMPACT_MIN_ROWS && others->csr.n_rows > 0) {
        gsai_unlearned_rows held_rows = {gsai_waiting_at, held, held->csr.n_rows, of->env};
        status = solve(&(solution_of){.state = state, .rows = others, .env = of->env}, NULL, error);
        if (status == GSA_OK)
            status = gsai_compact_measure(state, &held_rows, out, error);
    }
    gsai_waiting_free(held);
    gsai_waiting_free(others);
    return status;
}

gsa_status gsai_solve(gsa_state *state, const gsai_waiting *rows, gsai_order *latest, gsai_strength_hook hook,
                      const gsai_env *env, gsa_error *error)
{
    solution_of of = {.state = state, .rows = rows, .env = env, .hook = hook, .latest = latest};
    gsai_unlearned_rows all = rows_of(&of);
    gsai_compaction measured = {0};
    gsa_state *before = NULL;
    uint32_t *order = NULL;
    bool compacts = gsai_state_param(state, GSAI_PARAM_compact);
    if (rows->csr.n_rows == 0)
        return gsai_fail(error, GSA_INPUT, "no row has a weight above 0: nothing to learn");
    if (compacts)
        GSA_TRY(gsa_state_fork(state, 1, &before, error));
    gsa_status status = solve(&of, &order, error);
    if (status == GSA_OK && compacts)
        status = measure(&of, before, &measured, error);
    if (status == GSA_OK && measured.n_before > 0)
        status = gsai_solution_compact(state, &measured, &all, error);
    gsai_free(&rows->env, order);
    gsa_state_free(before);
    return status;
}

gsa_status gsai_solve_waiting(gsa_state *state, const gsai_waiting *rows, uint64_t from, uint64_t to, bool goes_on,
                              const gsai_env *env, bool *solved, gsa_error *error)
{
    gsai_waiting *some = NULL;
    bool are_all = true;
    gsa_status status = GSA_OK;
    for (size_t i = 0; i < rows->csr.n_rows && are_all; i++)
        are_all = gsai_waiting_key(rows, i) >= from && gsai_waiting_key(rows, i) <= to;
    if (!are_all)
        GSA_TRY(gsai_waiting_new(NULL, env, &some, error));
    for (size_t i = 0; i < rows->csr.n_rows && !are_all && status == GSA_OK; i++)
        if (gsai_waiting_key(rows, i) >= from && gsai_waiting_key(rows, i) <= to)
            status = gsai_waiting_copy(some, rows, i, error);
    rows = are_all ? rows : some;
    *solved = status == GSA_OK && gsai_solver_fits(state, rows);
    if (*solved && goes_on)
        status = solve(&(solution_of){.state = state, .rows = rows, .env = env, .goes_on = true}, NULL, error);
    else if (*solved)
        status = gsai_solve(state, rows, NULL, (gsai_strength_hook){0}, env, error);
    gsai_waiting_free(some);
    return status;
}
