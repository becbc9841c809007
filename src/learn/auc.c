/* Area under the ROC curve and average precision.
 *
 *   K1  an entry is one number of 64 bits: above, the score as an integer of the same order; below, the bits of the
 *       weight, whose sign says the class (set: negative). Sorting the numbers sorts by score and then in one way, so
 *       that sums over ties do not depend on the order of arrival;
 *   K2  beyond the limit there are N_BINS bins by the leading bits of the score, each with two sums. Pairs inside a bin
 *       count one half; each is wrong by at most one half, which is the bound.
 *
 * In bins, weights that are no multiples of a common power of two may round differently for another order of arrival
 * (the last bits only). */
#include "learn/auc.h"

#include "base/error.h"
#include "base/memory.h"

#include <math.h>
#include <string.h>

#define BIN_BITS 20
#define N_BINS ((size_t)1 << BIN_BITS)
#define SIGN_BIT 0x80000000u

/* Weights of the rows of one score or bin. */
typedef struct class_weights {
    double positive, negative;
} class_weights;

struct gsai_ranking {
    gsai_env env;
    size_t limit;
    uint64_t *entries; /* NULL once there are bins */
    size_t n_entries, capacity;
    bool sorted;
    class_weights *bins; /* NULL while exact */
};

/* Negative floats have their bits in falling order: turned over, positive ones put above them. */
static uint32_t key_of(float score)
{
    uint32_t bits;
    if (score == 0)
        score = 0; /* of the two zeros the positive one */
    memcpy(&bits, &score, sizeof bits);
    return bits & SIGN_BIT ? ~bits : bits | SIGN_BIT;
}

static uint64_t entry_of(float score, bool positive, float weight)
{
    uint32_t bits;
    memcpy(&bits, &weight, sizeof bits);
    return (uint64_t)key_of(score) << 32 | (positive ? bits : bits | SIGN_BIT);
}

static void count_entry(class_weights *into, uint64_t entry)
{
    uint32_t bits = (uint32_t)entry & ~SIGN_BIT;
    float weight;
    memcpy(&weight, &bits, sizeof weight);
    if (entry & SIGN_BIT)
        into->negative += (double)weight;
    else
        into->positive += (double)weight;
}

static void count_in_bins(class_weights *bins, const uint64_t *entries, size_t n)
{
    for (size_t i = 0; i < n; i++)
        count_entry(&bins[entries[i] >> (64 - BIN_BITS)], entries[i]);
}

gsa_status gsai_ranking_new(size_t limit, const gsai_env *env, gsai_ranking **out, gsa_error *error)
{
    gsai_env resolved = gsai_env_resolve(env);
    gsai_ranking *ranking = gsai_alloc_zeroed(&resolved, 1, sizeof *ranking);
    GSAI_TRY_MEMORY(ranking, &resolved, error, "no memory for ranking scores");
    ranking->env = resolved;
    ranking->limit = limit;
    *out = ranking;
    return GSA_OK;
}

void gsai_ranking_free(gsai_ranking *ranking)
{
    if (!ranking)
        return;
    gsai_env env = ranking->env;
    gsai_free(&env, ranking->entries);
    gsai_free(&env, ranking->bins);
    gsai_free(&env, ranking);
}

/* From entries to bins, for good. On failure nothing has changed. */
static gsa_status fold(gsai_ranking *ranking, gsa_error *error)
{
    if (ranking->bins)
        return GSA_OK;
    ranking->bins = gsai_alloc_zeroed(&ranking->env, N_BINS, sizeof(class_weights));
    GSAI_TRY_MEMORY(ranking->bins, &ranking->env, error, "no memory for the %zu MiB that ranking scores needs",
                    N_BINS * sizeof(class_weights) >> 20);
    count_in_bins(ranking->bins, ranking->entries, ranking->n_entries);
    gsai_free(&ranking->env, ranking->entries);
    ranking->entries = NULL;
    ranking->n_entries = ranking->capacity = 0;
    return GSA_OK;
}

/* Room for n more entries, which the limit allows. */
static gsa_status grow(gsai_ranking *ranking, size_t n, gsa_error *error)
{
    size_t need = ranking->n_entries + n;
    GSAI_TRY_MEMORY(gsai_reserve(&ranking->env, &ranking->entries, &ranking->capacity, need, sizeof *ranking->entries),
                    &ranking->env, error, "no memory for the scores of %zu rows", need);
    return GSA_OK;
}

static gsa_status append(gsai_ranking *ranking, const uint64_t *entries, size_t n, gsa_error *error)
{
    if (!ranking->bins && n <= ranking->limit - ranking->n_entries) {
        gsa_status status = grow(ranking, n, error);
        if (status)
            return status;
        if (n)
            memcpy(ranking->entries + ranking->n_entries, entries, n * sizeof *entries);
        ranking->n_entries += n;
        ranking->sorted = false;
        return GSA_OK;
    }
    gsa_status status = fold(ranking, error);
    if (status)
        return status;
    count_in_bins(ranking->bins, entries, n);
    return GSA_OK;
}

gsa_status gsai_ranking_add(gsai_ranking *ranking, float score, bool positive, float weight, gsa_error *error)
{
    uint64_t entry = entry_of(score, positive, weight);
    return append(ranking, &entry, 1, error);
}

gsa_status gsai_ranking_merge(gsai_ranking *ranking, const gsai_ranking *from, gsa_error *error)
{
    if (!from->bins)
        return append(ranking, from->entries, from->n_entries, error);
    gsa_status status = fold(ranking, error);
    if (status)
        return status;
    for (size_t b = 0; b < N_BINS; b++) {
        ranking->bins[b].positive += from->bins[b].positive;
        ranking->bins[b].negative += from->bins[b].negative;
    }
    return GSA_OK;
}

/* ---- sorting ---------------------------------------------------------------------------------------------------- */

/* One pass of a radix sort by one byte. */
static void sort_by_byte(const uint64_t *from, uint64_t *to, size_t n, unsigned shift, const size_t count[256])
{
    size_t start[256], sum = 0;
    for (size_t b = 0; b < 256; b++) {
        start[b] = sum;
        sum += count[b];
    }
    for (size_t i = 0; i < n; i++)
        to[start[from[i] >> shift & 255]++] = from[i];
}

/* From the least byte to the greatest; bytes that are equal in all entries (most, for unit weights) cost nothing.
 * Returns the one of the two arrays that holds the result. */
static uint64_t *radix_sort(uint64_t *entries, uint64_t *scratch, size_t n)
{
    size_t count[8][256] = {{0}};
    for (size_t i = 0; i < n; i++)
        for (unsigned byte = 0; byte < 8; byte++)
            count[byte][entries[i] >> 8 * byte & 255]++;
    for (unsigned byte = 0; byte < 8; byte++) {
        if (count[byte][entries[0] >> 8 * byte & 255] == n)
            continue;
        sort_by_byte(entries, scratch, n, 8 * byte, count[byte]);
        uint64_t *swap = entries;
        entries = scratch;
        scratch = swap;
    }
    return entries;
}

/* Sorts in place by one bit after the other, from the greatest: slower, for where there is no memory to sort in. */
/* NOLINTNEXTLINE(misc-no-recursion): 64 levels at most */
static void sort_in_place(uint64_t *entries, size_t n, uint64_t bit)
{
    size_t from = 0, end = n;
    while (from < end)
        if (entries[from] & bit) {
            uint64_t swap = entries[--end];
            entries[end] = entries[from];
            entries[from] = swap;
        } else {
            from++;
        }
    if (n < 2 || bit == 1)
        return;
    sort_in_place(entries, from, bit >> 1);
    sort_in_place(entries + from, n - from, bit >> 1);
}

static void sort(gsai_ranking *ranking)
{
    if (ranking->sorted || ranking->n_entries < 2)
        return;
    uint64_t *scratch = gsai_alloc(&ranking->env, ranking->capacity, sizeof *scratch);
    if (scratch) {
        uint64_t *result = radix_sort(ranking->entries, scratch, ranking->n_entries);
        gsai_free(&ranking->env, result == scratch ? ranking->entries : scratch);
        ranking->entries = result;
    } else {
        sort_in_place(ranking->entries, ranking->n_entries, UINT64_C(1) << 63);
    }
    ranking->sorted = true;
}

/* ---- the two curves --------------------------------------------------------------------------------------------- */

typedef struct curves {
    double n_positive;   /* weight of all positive rows */
    class_weights above; /* of the rows seen so far: those with greater scores */
    double ordered_pairs, tied_pairs, precision_sum;
    double best_f1, best_score;
} curves;

/* The score of a key, the inverse of key_of. */
static double score_of(uint32_t key)
{
    uint32_t bits = key & SIGN_BIT ? key & ~SIGN_BIT : ~key;
    float score;
    memcpy(&score, &bits, sizeof score);
    return (double)score;
}

/* Adds the rows of the next lower score; those that are not counted yet lie below `cut`. */
static void curve_add(curves *curve, class_weights here, double cut)
{
    class_weights *above = &curve->above;
    curve->ordered_pairs += above->positive * here.negative;
    curve->tied_pairs += here.positive * here.negative;
    above->positive += here.positive;
    above->negative += here.negative;
    if (here.positive > 0)
        curve->precision_sum += here.positive * (above->positive / (above->positive + above->negative));
    double f1 = 2 * above->positive / (curve->n_positive + above->positive + above->negative);
    if (here.positive > 0 && f1 > curve->best_f1) {
        curve->best_f1 = f1;
        curve->best_score = cut;
    }
}

/* Returns what lies between two neighbours. The scores of rows were rounded to these: one that became `key` may lie
 * below it, but not below the middle. */
static double middle(uint32_t key, uint32_t next)
{
    return (score_of(key) + score_of(next)) / 2;
}

/* Returns a score that is below all rows also after it has been rounded, as a probability or in print. */
static double below_all(uint32_t lowest)
{
    double score = score_of(lowest);
    return score - 1 - fabs(score) * 1e-6;
}

/* The weight of the run of equal scores that ends before entry `end`; *end becomes its first entry. */
static class_weights run_before(const uint64_t *entries, size_t *end)
{
    class_weights run = {0, 0};
    uint64_t key = entries[*end - 1] >> 32;
    while (*end > 0 && entries[*end - 1] >> 32 == key)
        count_entry(&run, entries[--*end]);
    return run;
}

static gsai_ranking_result result_of(const curves *curve, bool exact)
{
    gsai_ranking_result result = {NAN, NAN, 0, NAN, NAN};
    double positive = curve->above.positive, pairs = positive * curve->above.negative;
    if (pairs > 0) {
        result.auc = (curve->ordered_pairs + 0.5 * curve->tied_pairs) / pairs;
        result.auc_error = exact ? 0.0 : 0.5 * curve->tied_pairs / pairs;
    }
    if (positive > 0) {
        result.average_precision = curve->precision_sum / positive;
        result.best_f1 = curve->best_f1;
        result.best_score = curve->best_score;
    }
    return result;
}

gsai_ranking_result gsai_ranking_finish(gsai_ranking *ranking)
{
    curves curve = {0};
    class_weights all = {0, 0};
    for (size_t i = 0; i < ranking->n_entries; i++)
        count_entry(&all, ranking->entries[i]);
    for (size_t b = 0; ranking->bins && b < N_BINS; b++)
        all.positive += ranking->bins[b].positive;
    curve.n_positive = all.positive;
    if (ranking->bins) {
        for (size_t b = N_BINS; b-- > 1;) {
            uint32_t lowest = (uint32_t)(b << (32 - BIN_BITS));
            curve_add(&curve, ranking->bins[b], middle(lowest, lowest - 1));
        }
    } else {
        sort(ranking);
        for (size_t end = ranking->n_entries; end > 0;) {
            uint32_t key = (uint32_t)(ranking->entries[end - 1] >> 32);
            class_weights run = run_before(ranking->entries, &end);
            double cut = end > 0 ? middle(key, (uint32_t)(ranking->entries[end - 1] >> 32)) : below_all(key);
            curve_add(&curve, run, cut);
        }
    }
    return result_of(&curve, !ranking->bins);
}
