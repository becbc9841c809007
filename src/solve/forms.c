/* Which form is chosen, and honest predictions of held-out rows. */
#include "solve/forms.h"

#include "base/real.h"

#include <math.h>
#include <string.h>

/* A form is to be better than lines by this many standard errors, and by this loss: labels on a line exactly have the
 * variance 1, too. And than the form before it by one. */
#define MIN_ERRORS_AGAINST_LINES 2.0
#define MIN_ERRORS 1.0
#define MIN_GAIN 1e-6
/* A strength whose loss on n rows is worse by e counts exp(-0.3 n e), or nothing below a tenth. */
#define MIX_RATE 0.3
#define MIN_MIX_SHARE 0.1

/* ---- the choice -------------------------------------------------------------------------------------------------- */

/* Returns whether a form has a lower loss than an earlier one, by more than some standard errors. */
static bool is_better(const gsai_forms *forms, size_t form, size_t than, double errors)
{
    double error_of_mean;
    const gsai_record *of = &forms->path[form]->record[forms->best[form]];
    const gsai_record *over = &forms->path[than]->record[forms->best[than]];
    double excess = gsai_path_excess(forms->path[form], of, over, &error_of_mean);
    return excess < -errors * error_of_mean && (than > 0 || excess < -MIN_GAIN);
}

/* Returns the form that held-out rows choose, by their weights: curves are compared with lines; surfaces with curves,
 * and with lines too, until more of them gain nothing. */
static size_t choose(const gsai_forms *forms)
{
    size_t chosen = 0;
    for (size_t i = 1; i < forms->n; i++) {
        if (is_better(forms, i, 0, MIN_ERRORS_AGAINST_LINES) &&
            (i == 1 || is_better(forms, i, chosen > 0 ? chosen : 1, MIN_ERRORS)))
            chosen = i;
        else if (i > 1)
            break;
    }
    return chosen;
}

void gsai_forms_add(gsai_forms *forms, gsai_path *path, size_t best)
{
    forms->path[forms->n] = path;
    forms->best[forms->n++] = best;
    forms->n_folds = path->n_folds;
    forms->n_held = path->held_from[path->n_folds];
    forms->chosen = choose(forms);
    for (size_t i = 0; i < GSAI_FOLDS; i++)
        forms->chosen_without[i] = forms->chosen;
}

/* Returns the piece of a held-out row; GSAI_FOLDS if it is in none. */
static size_t piece_of(const gsai_forms *forms, size_t q)
{
    const gsai_design *design = forms->path[0]->problem->design;
    uint32_t row = forms->path[0]->held[q];
    if (forms->n_folds > 1 || design->n_latest > 0)
        return design->fold[row];
    if (q >= forms->n_held)
        return GSAI_FOLDS;
    return design->group ? design->group[row] % 2 : 2 * q >= forms->n_held;
}

#define NO_PIECE (GSAI_FOLDS + 1)

/* Gives held-out rows of a form their weights, and those of a piece 0; returns how many are in that piece. */
static size_t leave_out(const gsai_forms *forms, gsai_path *path, size_t piece)
{
    size_t n = 0;
    for (size_t q = 0; q < path->held_from[path->n_folds]; q++) {
        bool is_out = piece_of(forms, q) == piece;
        path->held_weight[q] = is_out ? 0 : path->problem->design->weight[path->held[q]];
        n += is_out;
    }
    return n;
}

void gsai_forms_choose_without(gsai_forms *forms)
{
    for (size_t piece = 0; piece < GSAI_FOLDS && forms->n > 1; piece++) {
        size_t n = 0;
        for (size_t i = 0; i < forms->n; i++)
            n = leave_out(forms, forms->path[i], piece);
        if (n > 0 && n < forms->n_held)
            forms->chosen_without[piece] = choose(forms);
    }
    for (size_t i = 0; i < forms->n; i++)
        (void)leave_out(forms, forms->path[i], NO_PIECE);
}

/* ---- the mix ----------------------------------------------------------------------------------------------------- */

size_t gsai_forms_share_out(gsai_path *path, double *share)
{
    size_t best = 0;
    double total = 0, unit, n = 0;
    for (size_t q = 0; q < path->held_from[path->n_folds]; q++)
        n += (double)path->held_weight[q];
    for (size_t r = 1; r < path->n_records; r++)
        best = path->record[r].calibration.loss < path->record[best].calibration.loss ? r : best;
    unit = path->problem->has_probabilities ? 1 : 2 * path->record[best].calibration.loss;
    for (size_t r = 0; r < path->n_records; r++) {
        double excess = path->record[r].calibration.loss - path->record[best].calibration.loss, error_of_mean = 0;
        if (path->record[r].strength < path->record[best].strength)
            gsai_path_excess(path, &path->record[r], &path->record[best], &error_of_mean);
        excess = excess > error_of_mean ? excess - error_of_mean : 0;
        share[r] = gsai_exp(-MIX_RATE * n * excess / (unit > 0 ? unit : 1));
        share[r] = share[r] < MIN_MIX_SHARE ? 0 : share[r];
        total += share[r];
    }
    for (size_t r = 0; r < path->n_records; r++)
        share[r] /= total;
    return best;
}

/* ---- honest predictions of held-out rows ------------------------------------------------------------------------- */

/* Mixes the held-out margins of the records, calibrated. */
static void mix_held(gsai_path *path, const double *share, float *held)
{
    size_t n_held = path->held_from[path->n_folds], n_cells = n_held * path->problem->design->stride;
    memset(held, 0, n_cells * sizeof *held);
    for (size_t r = 0; r < path->n_records; r++) {
        const gsai_scale_shift *by = &path->record[r].calibration;
        for (size_t i = 0; i < n_cells && share[r] > 0; i++)
            held[i] += (float)(share[r] * (by->scale * (double)path->record[r].held[i] + by->shift));
    }
}

/* Predicts the rows of a piece by the strengths, shares and calibration that the others choose, on the path of a form;
 * not if they are all it has, or none. */
static gsa_status predict_piece(const gsai_forms *forms, gsai_path *path, size_t piece, float *out, size_t n_out,
                                gsa_error *error)
{
    const gsai_problem *problem = path->problem;
    size_t n_held = path->held_from[path->n_folds], stride = problem->design->stride;
    size_t n_piece = leave_out(forms, path, piece);
    double share[GSAI_RECORDS];
    float *held = gsai_arena_take(path->arena, n_held, stride * sizeof *held);
    gsai_scale_shift *before = gsai_arena_take(path->arena, path->n_records, sizeof *before), last = {1, 0, 0};
    GSA_TRY(gsai_arena_check(path->arena, "held-out predictions", error));
    for (size_t r = 0; r < path->n_records && n_piece < n_held; r++) {
        gsai_record *record = &path->record[r];
        double behind = record->penalty.share > 0 ? problem->prior->n_rows / path->weight : 0;
        before[r] = record->calibration;
        record->calibration = gsai_held_calibrate(problem, path->held_target, path->held_offset, path->held_weight,
                                                  record->held, n_held, behind, path->scratch[0]);
    }
    if (n_piece < n_held) {
        size_t best = gsai_forms_share_out(path, share);
        mix_held(path, share, held);
        if (path->record[best].penalty.share == 0)
            last = gsai_held_calibrate(problem, path->held_target, path->held_offset, path->held_weight, held, n_held,
                                       0, path->scratch[0]);
        for (size_t q = 0; q < n_held && q < n_out; q++)
            for (size_t k = 0; k < stride && piece_of(forms, q) == piece; k++)
                out[q * stride + k] = (float)(last.scale * (double)held[q * stride + k] + last.shift);
        for (size_t r = 0; r < path->n_records; r++)
            path->record[r].calibration = before[r];
    }
    (void)leave_out(forms, path, NO_PIECE);
    return GSA_OK;
}

gsa_status gsai_forms_predict(const gsai_forms *forms, const double *share, size_t best, float *held,
                              gsai_scale_shift *last, gsai_scale_shift *final, gsa_error *error)
{
    gsai_path *path = forms->path[forms->chosen];
    const gsai_problem *problem = path->problem;
    const gsai_design *design = problem->design;
    size_t n_held = path->held_from[path->n_folds];
    /* A level that drifts, or the luck of few groups, would be known to a calibration that is measured on them. */
    bool all_by_others = design->n_groups > 1 || design->n_latest > 0, any_by_others = all_by_others;
    for (size_t piece = 0; piece < GSAI_FOLDS; piece++)
        any_by_others = any_by_others || forms->chosen_without[piece] != forms->chosen;
    mix_held(path, share, held);
    *last = (gsai_scale_shift){1, 0, path->record[best].calibration.loss};
    if (path->record[best].penalty.share == 0)
        *last = gsai_held_calibrate(problem, path->held_target, path->held_offset, path->held_weight, held, n_held, 0,
                                    path->scratch[0]);
    *final = *last;
    if (!any_by_others)
        return GSA_OK;
    for (size_t i = 0; i < n_held * design->stride; i++)
        held[i] = (float)(last->scale * (double)held[i] + last->shift);
    for (size_t piece = 0; piece < GSAI_FOLDS; piece++)
        if (all_by_others || forms->chosen_without[piece] != forms->chosen)
            GSA_TRY(predict_piece(forms, forms->path[forms->chosen_without[piece]], piece, held, n_held, error));
    *final = (gsai_scale_shift){1, 0, 0};
    gsai_held_losses(problem, final, path->held_target, path->held_offset, path->held_weight, held, n_held,
                     path->scratch[0], path->held_loss[0]);
    double loss = 0, total = 0;
    for (size_t q = 0; q < n_held; q++) {
        loss += (double)path->held_loss[0][q];
        total += (double)path->held_weight[q];
    }
    final->loss = loss / total;
    return GSA_OK;
}
