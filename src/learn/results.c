/* The names of results, and metrics of held-out rows. */
#include "learn/results.h"

#include "learn/inside.h"

#include "base/error.h"
#include "base/memory.h"

#include <math.h>
#include <string.h>

#define PREFIX "results."
static const gsai_tensor_key result_keys[GSAI_N_RESULTS] = {
#define RESULT_KEY(name) {PREFIX #name, GSAI_F64, GSAI_FINITE},
    GSAI_RESULTS(RESULT_KEY)
#undef RESULT_KEY
};

gsai_results gsai_results_none(void)
{
    gsai_results none = {.intervals.n = 0};
    for (size_t i = 0; i < GSAI_N_RESULTS; i++)
        none.at[i] = NAN;
    return none;
}

const char *gsai_result_name(size_t number)
{
    return result_keys[number].name + strlen(PREFIX);
}

void gsai_results_save(gsai_snapshot *snapshot, const gsai_results *results)
{
    for (size_t i = 0; i < GSAI_N_RESULTS; i++)
        if (isfinite(results->at[i]))
            gsai_snapshot_add(snapshot, &result_keys[i], &results->at[i], 1);
    gsai_intervals_save(snapshot, &results->intervals);
}

gsa_status gsai_results_load(gsai_results *out, const gsai_bundle *bundle, gsa_error *error)
{
    *out = gsai_results_none();
    for (size_t i = 0; i < GSAI_N_RESULTS; i++) {
        const gsai_tensor *found;
        GSA_TRY(gsai_bundle_may_have(bundle, &result_keys[i], 1, &found, error));
        if (found)
            memcpy(&out->at[i], found->data, sizeof out->at[i]);
    }
    return gsai_intervals_load(&out->intervals, bundle, error);
}

static void save_results(gsai_snapshot *snapshot, const gsa_state *state)
{
    if (state->n_solved > 0)
        gsai_results_save(snapshot, &state->results);
}

static gsa_status load_results(gsa_state *state, const gsai_bundle *bundle, gsa_error *error)
{
    return gsai_results_load(&state->results, bundle, error);
}

const gsai_part_functions gsai_results_part = {.save = save_results, .load = load_results};

gsa_status gsai_quality_add_class(gsai_quality *quality, const double *margins, size_t n_outputs, size_t class_number,
                                  double c, gsa_error *error)
{
    size_t best = n_outputs == 1 && margins[0] > 0 ? 1 : 0;
    for (size_t k = 1; k < n_outputs; k++)
        best = margins[k] > margins[best] ? k : best;
    quality->weight += c;
    quality->correct += best == class_number ? c : 0;
    float score = (float)(n_outputs == 1 ? margins[0] : margins[1] - margins[0]);
    return quality->n_classes == 2 && c > 0 && !isnan(score)
               ? gsai_ranking_add(&quality->ranking, score, class_number == 1, (float)c, error)
               : GSA_OK;
}

gsa_status gsai_quality_add_number(gsai_quality *quality, double prediction, double label, double c, gsa_error *error)
{
    double off = prediction - label, before = label - quality->mean;
    quality->weight += c;
    quality->absolute += c * fabs(off);
    quality->squared += c * off * off;
    quality->below += off > 0 ? c : 0;
    quality->mean += quality->weight > 0 ? before * (c / quality->weight) : 0;
    quality->spread += c * before * (label - quality->mean);
    if (!(c > 0) || !isfinite(off))
        return GSA_OK;
    GSAI_TRY_MEMORY(gsai_reserve(quality->ranking.env, &quality->held.at, &quality->held.capacity, quality->held.n + 1,
                                 sizeof *quality->held.at),
                    quality->ranking.env, error, "no memory for %zu held-out rows", quality->held.n);
    quality->held.at[quality->held.n++] = (gsai_held_number){prediction, -off, c};
    return GSA_OK;
}

void gsai_quality_finish(gsai_quality *quality, gsai_results *out)
{
    double n = quality->weight;
    if (out && quality->n_classes > 0) {
        out->at[GSAI_RESULT_accuracy] = quality->correct / n;
        if (quality->n_classes == 2)
            out->at[GSAI_RESULT_auc] = gsai_ranking_finish(&quality->ranking).auc;
    } else if (out && quality->quantile > 0) {
        out->at[GSAI_RESULT_below] = quality->below / n;
    } else if (out) {
        out->at[GSAI_RESULT_r2] = quality->spread > 0 ? 1 - quality->squared / quality->spread : (double)NAN;
        out->at[GSAI_RESULT_mae] = quality->absolute / n;
    }
    if (out && quality->n_classes == 0)
        gsai_intervals_find(&out->intervals, quality->held.at, quality->held.n);
    gsai_free(quality->ranking.env, quality->held.at);
    gsai_free(quality->ranking.env, quality->ranking.entries);
}
