/* Pairs of columns: their sides, the search, and what they are worth. */
#include "solve/pairs.h"

#include "base/error.h"
#include "base/workers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Standard deviation of a surface over the rows where that of a line is 1; parts of both sides are multiplied if the
 * product of their numbers is not above PARTS_PRODUCT. */
#define PAIR 0.5
#define SIDE_PARTS 5u
#define PARTS_PRODUCT 8u
#define SIDE_KNOTS ((size_t)8)
#define MAX_SIDE_KNOTS (SIDE_KNOTS + 8)
/* Indicators that can be sides at most, and the least share of rows that they are in, and are not. */
#define MAX_INDICATORS ((size_t)40)
#define MIN_INDICATED 0.005
#define MIN_INDICATED_ROWS 20u
/* Rows that pairs are found in, as many as this number of looks at pairs allows, but at least and at most; sides and
 * outputs at most, and cells of a design. */
#define SCREEN_LOOKS ((size_t)1 << 26)
static const size_t SCREEN_ROWS[2] = {8192, 65536};
#define MAX_SIDES ((size_t)128)
#define MAX_OUTPUTS ((size_t)32)
#define MAX_ENTRIES ((size_t)1 << 27)
/* Numbers of surfaces. */
static const size_t LADDER[] = {8, 32};
#define MOST 32u

typedef struct pair_search {
    const gsai_design *lines;
    const gsai_waiting *rows;
    gsai_path *path;       /* of curves */
    const gsai_record *of; /* the best: its mean of the folds is what all rows have */
    gsai_arena *arena;
    gsai_side *side; /* by feature, ascending */
    size_t n_sides, n_knots;
    float *knot;
    size_t n_rows; /* the first of the design: */
    float *value;  /* of sides in them, [sides x rows], */
    uint8_t *code; /* and the nearest knot */
    /* The pairs found by each fold, and by all rows. */
    gsai_pair found[GSAI_FOLDS + 1][MOST];
    size_t n_found[GSAI_FOLDS + 1];
    /* Memory of each fold, and of all. */
    uint32_t *row[GSAI_FOLDS + 1];
    float *cells[GSAI_FOLDS + 1];
} pair_search;

/* ---- sides ------------------------------------------------------------------------------------------------------- */

/* Finds the columns that are 1 in some rows and 0 in others, the most frequent first. */
static size_t find_indicators(pair_search *search, uint32_t *out, gsa_error *error)
{
    const gsai_design *design = search->lines;
    size_t n = 0;
    uint8_t *is_other = gsai_arena_take(search->arena, design->n_columns, sizeof *is_other);
    if (gsai_arena_check(search->arena, "pairs of columns", error) != GSA_OK)
        return 0;
    for (size_t i = 0; i < design->n_rows && !search->rows->csr.all_ones; i++) {
        const gsai_row row = gsai_waiting_at(search->rows, design->row[i]).row;
        for (size_t t = 0; t < row.n; t++)
            is_other[design->column[design->start[i] + t]] |= gsai_row_value(&row, t) != 1;
    }
    for (uint32_t j = 1; j < design->n_columns; j++) {
        double share = (double)design->count[j] / (double)design->n_rows;
        bool has_sign = design->sign && design->sign[j] != 0;
        if (is_other[j] || has_sign || gsai_design_is_own(design, j) || share < MIN_INDICATED ||
            share > 1 - MIN_INDICATED || design->count[j] < MIN_INDICATED_ROWS)
            continue;
        size_t at = n < MAX_INDICATORS ? n++ : n;
        for (; at > 0 && design->count[out[at - 1]] < design->count[j]; at--)
            if (at < MAX_INDICATORS)
                out[at] = out[at - 1];
        if (at < MAX_INDICATORS)
            out[at] = j;
    }
    return n;
}

/* Makes the side that a curve can be: its knots stand for the rows. Returns whether it has parts. */
static bool make_side(const gsai_bend *bend, const float *knot, gsai_arena *arena, gsai_side *out)
{
    double part[(GSAI_MAX_STEPS + 1) * GSAI_MAX_STEPS], variance[GSAI_MAX_STEPS], mean[GSAI_MAX_KNOTS];
    gsai_weighted at[GSAI_MAX_KNOTS];
    size_t n = 0;
    for (size_t i = 0; i < bend->n_knots; i++)
        if (bend->share[i] > 0)
            at[n++] = (gsai_weighted){(double)knot[i], (double)bend->share[i]};
    float *own = gsai_arena_take(arena, GSAI_MAX_KNOTS, sizeof *own);
    size_t k = own ? gsai_knots_choose(at, n, SIDE_KNOTS, own) : 0;
    if (k < 3 || k > MAX_SIDE_KNOTS)
        return false;
    size_t n_parts = gsai_walk_find(at, n, own, k, 0, mean, part, variance);
    n_parts = n_parts < SIDE_PARTS ? n_parts : SIDE_PARTS;
    *out = (gsai_side){{bend->feature, 0, (uint32_t)k}, bend->column, (uint32_t)n_parts, own, NULL};
    out->matrix = gsai_arena_take(arena, k * (n_parts + 1), sizeof *out->matrix);
    for (size_t i = 0; i < k && out->matrix; i++)
        for (size_t r = 0; r < n_parts; r++)
            out->matrix[i * n_parts + r] = (float)part[i * GSAI_MAX_STEPS + r];
    return n_parts > 0;
}

static int compare_sides(const void *a, const void *b)
{
    const gsai_side *x = a, *y = b;
    return x->at.feature < y->at.feature ? -1 : x->at.feature > y->at.feature;
}

static gsa_status find_sides(pair_search *search, gsa_error *error)
{
    const gsai_bends *curves = search->path->problem->design->bends;
    uint32_t indicator[MAX_INDICATORS];
    size_t n_indicators = find_indicators(search, indicator, error);
    search->side = gsai_arena_take(search->arena, curves->n + n_indicators, sizeof *search->side);
    GSA_TRY(gsai_arena_check(search->arena, "pairs of columns", error));
    for (size_t b = 0; b < curves->n; b++)
        if (search->lines->sign && search->lines->sign[curves->at[b].column] != 0)
            continue; /* a pair could take the sign away */
        else
            search->n_sides += make_side(&curves->at[b], curves->knot + curves->at[b].first_knot, search->arena,
                                         &search->side[search->n_sides]);
    for (size_t i = 0; i < n_indicators; i++) {
        double share = (double)search->lines->count[indicator[i]] / (double)search->lines->n_rows;
        gsai_side *side = &search->side[search->n_sides++];
        *side = (gsai_side){{search->lines->id[indicator[i]], 0, 2}, indicator[i], 1, NULL, NULL};
        side->knot = gsai_arena_take(search->arena, 2, sizeof *side->knot);
        side->matrix = gsai_arena_take(search->arena, 2, sizeof *side->matrix);
        GSA_TRY(gsai_arena_check(search->arena, "pairs of columns", error));
        side->knot[1] = 1;
        side->matrix[0] = (float)(-share / sqrt(share * (1 - share)));
        side->matrix[1] = (float)((1 - share) / sqrt(share * (1 - share)));
    }
    GSA_TRY(gsai_arena_check(search->arena, "pairs of columns", error));
    qsort(search->side, search->n_sides, sizeof *search->side, compare_sides);
    search->knot = gsai_arena_take(search->arena, search->n_sides * MAX_SIDE_KNOTS + 1, sizeof *search->knot);
    GSA_TRY(gsai_arena_check(search->arena, "pairs of columns", error));
    for (size_t s = 0; s < search->n_sides; s++) {
        gsai_side *side = &search->side[s];
        side->at.first = (uint32_t)search->n_knots;
        memcpy(search->knot + search->n_knots, side->knot, side->at.n_knots * sizeof *side->knot);
        search->n_knots += side->at.n_knots;
    }
    return GSA_OK;
}

/* Looks up what sides are in the rows that pairs are found in. */
static gsa_status look_at_rows(pair_search *search, gsa_error *error)
{
    const gsai_design *design = search->lines;
    size_t n_cells = search->n_sides * search->n_rows;
    search->value = gsai_arena_take(search->arena, n_cells, sizeof *search->value);
    search->code = gsai_arena_take(search->arena, n_cells, sizeof *search->code);
    uint32_t *side_of = gsai_arena_take(search->arena, design->n_columns, sizeof *side_of);
    GSA_TRY(gsai_arena_check(search->arena, "pairs of columns", error));
    for (size_t s = 0; s < search->n_sides; s++)
        side_of[search->side[s].column] = (uint32_t)s + 1;
    for (size_t i = 0; i < search->n_rows; i++) {
        const gsai_row row = gsai_waiting_at(search->rows, design->row[i]).row;
        for (size_t t = 0; t < row.n; t++) {
            uint32_t s = side_of[design->column[design->start[i] + t]];
            if (s > 0)
                search->value[(s - 1) * search->n_rows + i] = gsai_row_value(&row, t);
        }
    }
    for (size_t c = 0; c < n_cells; c++) {
        const gsai_side *side = &search->side[c / search->n_rows];
        gsai_place place = gsai_place_of(side->knot, side->at.n_knots, search->value[c]);
        search->code[c] = (uint8_t)(place.low + (place.share > 0.5F));
    }
    return GSA_OK;
}

/* ---- the search -------------------------------------------------------------------------------------------------- */

/* Takes the mean of n cells, a step apart, off each of them. */
static void take_mean(double *off, const double *weight, size_t n, size_t step)
{
    double sum = 0, all = 0;
    for (size_t c = 0; c < n; c++) {
        sum += off[c * step] * weight[c * step];
        all += weight[c * step];
    }
    for (size_t c = 0; c < n; c++)
        off[c * step] -= sum / all;
}

/* Returns what a surface would gain: of the means of derivatives in cells, what no sum over two columns has. */
static double gain_of(const double *slope, size_t step, const double *weight, size_t na, size_t nb)
{
    double off[MAX_SIDE_KNOTS * MAX_SIDE_KNOTS], w[MAX_SIDE_KNOTS * MAX_SIDE_KNOTS], total = 0, gain = 0;
    size_t n = na * nb;
    for (size_t c = 0; c < n; c++)
        total += weight[c];
    if (!(total > 0))
        return 0;
    for (size_t c = 0; c < n; c++) {
        w[c] = weight[c] + 1e-3 * total / (double)n;
        off[c] = slope[c * step] / w[c];
    }
    for (int round = 0; round < 2; round++) {
        for (size_t a = 0; a < na; a++)
            take_mean(off + a * nb, w + a * nb, nb, 1);
        for (size_t b = 0; b < nb; b++)
            take_mean(off + b, w + b, na, nb);
    }
    for (size_t c = 0; c < n; c++)
        gain += off[c] * off[c] * weight[c] * weight[c] / (weight[c] + total / (double)n);
    return gain;
}

/* Ranks pairs by derivatives of n rows, and keeps the best. */
static void rank_pairs(const pair_search *search, const uint32_t *row, size_t n, const float *slope,
                       const float *curvature, gsai_pair *best, size_t *n_best)
{
    enum { MAX_CELLS = MAX_SIDE_KNOTS * MAX_SIDE_KNOTS };
    double weight[MAX_CELLS], sum[MAX_CELLS * MAX_OUTPUTS], gain[MOST];
    size_t stride = search->lines->stride, n_outputs = search->lines->n_outputs;
    *n_best = 0;
    for (uint32_t a = 0; a < search->n_sides; a++)
        for (uint32_t b = a + 1; b < search->n_sides; b++) {
            size_t na = search->side[a].at.n_knots, nb = search->side[b].at.n_knots, at;
            const uint8_t *in_a = search->code + a * search->n_rows, *in_b = search->code + b * search->n_rows;
            double own = 0;
            if (na == 2 && nb == 2)
                continue;
            memset(weight, 0, na * nb * sizeof *weight);
            memset(sum, 0, na * nb * stride * sizeof *sum);
            for (size_t q = 0; q < n; q++) {
                size_t cell = in_a[row[q]] * nb + in_b[row[q]];
                weight[cell] += (double)curvature[q];
                for (size_t k = 0; k < stride; k++)
                    sum[cell * stride + k] += (double)slope[q * stride + k];
            }
            for (size_t k = 0; k < n_outputs; k++)
                own += gain_of(sum + k, stride, weight, na, nb);
            if (*n_best == MOST && !(own > gain[MOST - 1]))
                continue;
            at = *n_best < MOST ? (*n_best)++ : MOST - 1;
            for (; at > 0 && gain[at - 1] < own; at--) {
                gain[at] = gain[at - 1];
                best[at] = best[at - 1];
            }
            gain[at] = own;
            best[at] = (gsai_pair){{a, b}, 0};
        }
}

#define MIN_CURVATURE 1e-6F

/* Finds the pairs of a fold, on the rows that it fits, or of all rows. */
static void search_fold(pair_search *search, size_t fold)
{
    const gsai_path *path = search->path;
    const gsai_problem *problem = path->problem;
    const gsai_design *design = problem->design;
    bool is_all = fold == path->n_folds;
    size_t n = 0, stride = design->stride;
    uint32_t *row = search->row[fold];
    float *margin = search->cells[fold], *slope = margin + search->n_rows * stride;
    float *curvature = slope + search->n_rows * stride, *target = curvature + search->n_rows;
    float *weight = target + search->n_rows, *offset = weight + search->n_rows;
    for (uint32_t i = 0; i < search->n_rows; i++)
        if (is_all || gsai_design_fold(design, i) != fold) {
            target[n] = design->target[i];
            weight[n] = design->weight[i];
            offset[n] = design->offset ? design->offset[i] : 0;
            row[n++] = i;
        }
    const gsai_fit *fit = &path->fit[is_all ? 0 : fold];
    gsai_margins_of(is_all ? problem : fit->problem, path->n_columns, row, n, is_all ? search->of->v : fit->v,
                    fit->scaled, margin);
    gsai_rows_at at = gsai_problem_rows(problem, target, design->offset ? offset : NULL, weight, margin, n);
    at.residual = slope;
    at.curvature = curvature;
    problem->loss(&at);
    for (size_t q = 0; q < n; q++)
        curvature[q] = fmaxf(curvature[q], MIN_CURVATURE);
    rank_pairs(search, row, n, slope, curvature, search->found[fold], &search->n_found[fold]);
}

/* Task: the folds that share memory, one after the other. */
static gsa_status search_group(void *ctx, size_t number, gsa_error *error)
{
    pair_search *search = ctx;
    (void)error;
    for (size_t f = number; f < search->path->n_folds; f += search->path->n_groups)
        search_fold(search, f);
    return GSA_OK;
}

static gsa_status find_pairs(pair_search *search, gsa_error *error)
{
    gsai_path *path = search->path;
    size_t stride = search->lines->stride;
    for (size_t f = 0; f <= path->n_folds; f++) {
        search->row[f] = gsai_arena_take(search->arena, search->n_rows, sizeof *search->row[f]);
        search->cells[f] = gsai_arena_take(search->arena, search->n_rows, (2 * stride + 4) * sizeof *search->cells[f]);
    }
    GSA_TRY(gsai_arena_check(search->arena, "pairs of columns", error));
    GSA_TRY(gsai_workers_run(path->n_groups, path->n_groups, search_group, search, path->problem->env, error));
    gsai_path_unscale(path); /* from here on weights of columns as they are */
    gsai_scale_columns(path->problem, search->of->scaling);
    search_fold(search, path->n_folds);
    return GSA_OK;
}

/* ---- surfaces ---------------------------------------------------------------------------------------------------- */

/* Fills in one surface: products of parts, with the mean 0 over the rows that have it. */
static void make_surface(const pair_search *search, const gsai_bends *bends, const gsai_pair *pair, gsai_bend *out)
{
    const gsai_side *a = &search->side[pair->side[0]], *b = &search->side[pair->side[1]];
    size_t n_parts = out->n_parts;
    double mean[SIDE_PARTS * SIDE_PARTS] = {0}, square[SIDE_PARTS * SIDE_PARTS] = {0}, all = 0, here = 0, total = 0;
    for (size_t i = 0; i < a->at.n_knots; i++)
        for (size_t j = 0; j < b->at.n_knots; j++) {
            float *to = out->matrix + (i * b->at.n_knots + j) * n_parts;
            for (uint32_t p = 0; p < a->n_parts; p++)
                for (uint32_t q = 0; q < b->n_parts && (p + 1) * (q + 1) <= PARTS_PRODUCT; q++)
                    *to++ = a->matrix[i * a->n_parts + p] * b->matrix[j * b->n_parts + q];
        }
    for (size_t r = 0; r < search->n_rows; r++) {
        const float value[2] = {search->value[pair->side[0] * search->n_rows + r],
                                search->value[pair->side[1] * search->n_rows + r]};
        double weight = (double)search->lines->weight[r], part[SIDE_PARTS * SIDE_PARTS] = {0};
        uint32_t node[4];
        float share[4];
        size_t n = gsai_pair_nodes(bends, pair, value, node, share);
        all += weight;
        here += n > 0 ? weight : 0;
        for (size_t k = 0; k < n; k++) {
            out->share[node[k]] += (float)weight * share[k];
            for (size_t p = 0; p < n_parts; p++)
                part[p] += (double)(share[k] * out->matrix[node[k] * n_parts + p]);
        }
        for (size_t p = 0; p < n_parts; p++) {
            mean[p] += weight * part[p];
            square[p] += weight * part[p] * part[p];
        }
    }
    for (size_t p = 0; p < n_parts; p++) {
        mean[p] /= here > 0 ? here : 1;
        out->variance[p] = fmax((square[p] - here * mean[p] * mean[p]) / all, 0);
        total += out->variance[p];
    }
    double scale = total > 0 ? PAIR / sqrt(total) : 0;
    for (size_t i = 0; i < out->n_knots; i++) {
        out->share[i] = fminf(out->share[i] / (float)all, 1);
        for (size_t p = 0; p < n_parts; p++)
            out->matrix[i * n_parts + p] = (float)(((double)out->matrix[i * n_parts + p] - mean[p]) * scale);
    }
    for (size_t p = 0; p < n_parts; p++)
        out->variance[p] *= scale * scale;
}

/* Makes bends with the curves that there are, and surfaces of the first `most` pairs that each fold found. */
static gsa_status make_bends(const pair_search *search, size_t most, gsai_bends *out, gsa_error *error)
{
    const gsai_bends *curves = search->path->problem->design->bends;
    size_t n = 0, n_lists = search->path->n_folds + 1;
    *out = *curves;
    out->pair = gsai_arena_take(search->arena, n_lists * MOST, sizeof *out->pair);
    out->at = gsai_arena_take(search->arena, curves->n + n_lists * MOST, sizeof *out->at);
    GSA_TRY(gsai_arena_check(search->arena, "pairs of columns", error));
    for (size_t f = n_lists; f-- > 0;) /* those of all come first */
        for (size_t i = 0; i < search->n_found[f] && i < most; i++) {
            const gsai_pair *pair = &search->found[f][i];
            size_t at = 0;
            while (at < n && memcmp(out->pair[at].side, pair->side, sizeof pair->side) != 0)
                at++;
            if (at == n)
                out->pair[n++] = *pair;
            out->pair[at].found |= f + 1 == n_lists ? GSAI_FOUND_BY_ALL : UINT32_C(1) << f;
        }
    memcpy(out->at, curves->at, curves->n * sizeof *out->at);
    out->side = search->side;
    out->n_sides = search->n_sides;
    out->side_knot = search->knot;
    out->n_side_knots = search->n_knots;
    for (size_t i = 0; i < n; i++) {
        const gsai_side *a = &search->side[out->pair[i].side[0]], *b = &search->side[out->pair[i].side[1]];
        gsai_bend *bend = &out->at[out->n++];
        uint32_t n_parts = 0;
        for (uint32_t p = 1; p <= a->n_parts; p++)
            for (uint32_t q = 1; q <= b->n_parts; q++)
                n_parts += p * q <= PARTS_PRODUCT;
        *bend = (gsai_bend){.feature = a->at.feature,
                            .column = a->column,
                            .first_knot = (uint32_t)out->n_knots,
                            .n_knots = a->at.n_knots * b->at.n_knots,
                            .first_part = (uint32_t)out->n_parts,
                            .n_parts = n_parts};
        bend->matrix = gsai_arena_take(search->arena, (size_t)bend->n_knots * n_parts, sizeof *bend->matrix);
        bend->mean = gsai_arena_take(search->arena, n_parts, sizeof *bend->mean);
        bend->variance = gsai_arena_take(search->arena, n_parts, sizeof *bend->variance);
        bend->share = gsai_arena_take(search->arena, bend->n_knots, sizeof *bend->share);
        GSA_TRY(gsai_arena_check(search->arena, "pairs of columns", error));
        make_surface(search, out, &out->pair[i], bend);
        out->n_knots += bend->n_knots;
        out->n_parts += n_parts;
    }
    return GSA_OK;
}

/* ---- the choice -------------------------------------------------------------------------------------------------- */

/* Makes a path of the same rows with surfaces, scaled as a record of the path of curves; the folds begin with its. */
static gsa_status make_path(const pair_search *search, const gsai_bends *bends, const gsai_record *from, bool all,
                            gsai_path *out, gsa_error *error)
{
    const gsai_path *curves = search->path;
    size_t stride = search->lines->stride, n_parts = curves->problem->design->bends->n_parts;
    gsai_design *design = gsai_arena_take(search->arena, 1, sizeof *design);
    gsai_problem *problem = gsai_arena_take(search->arena, 1, sizeof *problem);
    GSA_TRY(gsai_arena_check(search->arena, "pairs of columns", error));
    GSA_TRY(gsai_design_bend(design, search->lines, bends, search->rows, search->arena, error));
    *problem = *curves->problem;
    problem->design = design;
    problem->scale = gsai_arena_take(search->arena, design->n_columns, sizeof *problem->scale);
    size_t n_before = curves->problem->design->n_columns, added = bends->n_parts - n_parts;
    gsai_column_scaling scaling = from->scaling;
    float *factor = gsai_arena_take(search->arena, 1 + curves->n_folds, design->n_columns * sizeof *factor);
    GSA_TRY(gsai_arena_check(search->arena, "pairs of columns", error));
    for (size_t of = 0; of <= curves->n_folds && scaling.factor; of++)
        for (size_t j = 0; j < design->n_columns; j++) /* surfaces stand between curves and lines */
            factor[of * design->n_columns + j] = j > n_parts && j <= n_parts + added
                                                     ? 1
                                                     : scaling.factor[of * n_before + (j <= n_parts ? j : j - added)];
    scaling.factor = scaling.factor ? factor : NULL;
    gsai_scale_columns(problem, scaling);
    /* Fewer rows are held out than for curves, where they are dear: those of the first folds. Never more. */
    size_t wanted = gsai_held_out_wanted(problem, all), most = curves->n_folds * curves->n_rows / GSAI_FOLDS;
    GSA_TRY(gsai_path_make(out, problem, curves->n_rows, wanted < most ? wanted : most, curves->tolerance,
                           search->arena, error));
    problem->best_loss = curves->problem->best_loss;
    for (size_t f = 0; f < out->n_folds; f++) /* each from its own: others know the rows that it leaves out */
        for (size_t i = 0; i < curves->n_columns * stride; i++) {
            size_t j = i / stride, to = j <= n_parts ? j : j + added;
            out->fit[f].v[to * stride + i % stride] = curves->fit[f].v[i];
        }
    gsai_path_scale(out, scaling);
    return GSA_OK;
}

gsa_status gsai_pairs_try(gsai_forms *forms, const gsai_design *lines, bool all, gsai_arena *arena, gsa_error *error)
{
    gsai_path *curves = forms->path[1];
    const gsai_record *of = &curves->record[forms->best[1]];
    pair_search search = {.lines = lines, .rows = curves->problem->rows, .path = curves, .of = of, .arena = arena};
    GSA_TRY(find_sides(&search, error));
    if (search.n_sides < 2 || search.n_sides > MAX_SIDES || lines->stride > MAX_OUTPUTS)
        return GSA_OK;
    search.n_rows = SCREEN_LOOKS / (search.n_sides * (search.n_sides - 1) / 2 * lines->stride);
    search.n_rows = search.n_rows > SCREEN_ROWS[0] ? search.n_rows : SCREEN_ROWS[0];
    search.n_rows = search.n_rows < SCREEN_ROWS[1] ? search.n_rows : SCREEN_ROWS[1];
    search.n_rows = search.n_rows < curves->n_rows ? search.n_rows : curves->n_rows;
    GSA_TRY(look_at_rows(&search, error));
    GSA_TRY(find_pairs(&search, error));
    for (size_t step = 0; step < sizeof LADDER / sizeof *LADDER; step++) {
        gsai_path *own = gsai_arena_take(arena, 1, sizeof *own);
        gsai_bends *bends = gsai_arena_take(arena, 1, sizeof *bends);
        size_t best;
        GSA_TRY(gsai_arena_check(arena, "pairs of columns", error));
        GSA_TRY(make_bends(&search, LADDER[step], bends, error));
        size_t n_pairs = bends->n - bends->n_curves, n_added = bends->n_parts - curves->problem->design->bends->n_parts;
        if (2 * lines->start[lines->n_rows] + 4 * n_pairs * lines->n_rows > MAX_ENTRIES ||
            (lines->sign && curves->n_columns + n_added > GSAI_SIGNED_COLUMNS))
            break;
        GSA_TRY(make_path(&search, bends, of, all, own, error));
        GSA_TRY(gsai_path_climb(own, of->strength, 1, &best, error));
        curves->problem->n_tried = own->problem->n_tried;
        gsai_forms_add(forms, own, best);
        if (forms->chosen + 1 < forms->n || search.n_found[curves->n_folds] <= LADDER[step])
            break;
    }
    return GSA_OK;
}
