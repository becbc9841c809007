/* Area under the ROC curve and average precision.
 *
 *   K1  an entry is one number of 64 bits: above, the score as an integer of the same order; below, the bits of the
 *       weight, whose sign says the class (set: negative). Sorting the numbers sorts by score and then in one way, so
 *       that sums over ties do not depend on the order of arrival. */
#include "learn/auc.h"

#include "base/error.h"
#include "base/memory.h"

#include <math.h>
#include <string.h>

#define SIGN_BIT 0x80000000u

/* Weights of the rows of one score. */
typedef struct class_weights {
    double positive, negative;
} class_weights;

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

static gsa_status append(gsai_ranking *ranking, const uint64_t *entries, size_t n, gsa_error *error)
{
    size_t need = ranking->n_entries + n;
    GSAI_TRY_MEMORY(gsai_reserve(ranking->env, &ranking->entries, &ranking->capacity, need, sizeof *ranking->entries),
                    ranking->env, error, "no memory for the scores of %zu rows", need);
    if (n > 0)
        memcpy(ranking->entries + ranking->n_entries, entries, n * sizeof *entries);
    ranking->n_entries = need;
    ranking->sorted = false;
    return GSA_OK;
}

gsa_status gsai_ranking_add(gsai_ranking *ranking, float score, bool positive, float weight, gsa_error *error)
{
    uint32_t key, bits;
    score = score == 0 ? 0 : score; /* of the two zeros the positive one */
    memcpy(&key, &score, sizeof key);
    memcpy(&bits, &weight, sizeof bits);
    key = key & SIGN_BIT ? ~key : key | SIGN_BIT; /* negative floats have their bits in falling order */
    uint64_t entry = (uint64_t)key << 32 | (positive ? bits : bits | SIGN_BIT);
    return append(ranking, &entry, 1, error);
}

gsa_status gsai_ranking_merge(gsai_ranking *ranking, const gsai_ranking *from, gsa_error *error)
{
    return append(ranking, from->entries, from->n_entries, error);
}

/* ---- sorting ---------------------------------------------------------------------------------------------------- */

#define FEW ((size_t)32)

static void sort_few(uint64_t *entries, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        uint64_t entry = entries[i];
        size_t at = i;
        for (; at > 0 && entries[at - 1] > entry; at--)
            entries[at] = entries[at - 1];
        entries[at] = entry;
    }
}

/* Sorts in place by one byte, then what is equal in it by the next ones. Each entry is moved to the part of its byte at
 * most once. */
/* NOLINTNEXTLINE(misc-no-recursion): eight levels */
static void sort_by_byte(uint64_t *entries, size_t n, unsigned shift)
{
    size_t count[256] = {0}, next[256], end[256], sum = 0;
    for (size_t i = 0; i < n; i++)
        count[entries[i] >> shift & 255]++;
    for (size_t b = 0; b < 256; b++) {
        next[b] = sum;
        end[b] = sum += count[b];
    }
    for (size_t b = 0; b < 256; b++)
        for (; next[b] < end[b]; next[b]++) {
            uint64_t entry = entries[next[b]];
            for (size_t to = entry >> shift & 255; to != b; to = entry >> shift & 255) {
                uint64_t other = entries[next[to]];
                entries[next[to]++] = entry;
                entry = other;
            }
            entries[next[b]] = entry;
        }
    for (size_t b = 0; b < 256 && shift > 0; b++) {
        if (count[b] > FEW)
            sort_by_byte(entries + end[b] - count[b], count[b], shift - 8);
        else
            sort_few(entries + end[b] - count[b], count[b]);
    }
}

/* ---- the two curves --------------------------------------------------------------------------------------------- */

/* Returns the score of an entry. */
static double score_of(uint64_t entry)
{
    uint32_t key = (uint32_t)(entry >> 32), bits = key & SIGN_BIT ? key & ~SIGN_BIT : ~key;
    float score;
    memcpy(&score, &bits, sizeof score);
    return (double)score;
}

/* Takes the runs of equal scores from the highest on. */
gsai_ranking_result gsai_ranking_finish(gsai_ranking *ranking)
{
    const uint64_t *entries = ranking->entries;
    gsai_ranking_result result = {NAN, NAN, NAN, NAN};
    class_weights all = {0, 0}, above = {0, 0}; /* above: of rows with greater scores */
    double ordered_pairs = 0, tied_pairs = 0, precision_sum = 0, best_f1 = 0, best_score = 0;
    if (!ranking->sorted && ranking->n_entries > 0)
        sort_by_byte(ranking->entries, ranking->n_entries, 56);
    ranking->sorted = true;
    for (size_t i = 0; i < ranking->n_entries; i++)
        count_entry(&all, entries[i]);
    for (size_t end = ranking->n_entries; end > 0;) {
        uint64_t entry = entries[end - 1];
        class_weights run = {0, 0};
        while (end > 0 && entries[end - 1] >> 32 == entry >> 32)
            count_entry(&run, entries[--end]);
        ordered_pairs += above.positive * run.negative;
        tied_pairs += run.positive * run.negative;
        above.positive += run.positive;
        above.negative += run.negative;
        if (run.positive == 0)
            continue;
        precision_sum += run.positive * (above.positive / (above.positive + above.negative));
        double f1 = 2 * above.positive / (all.positive + above.positive + above.negative), score = score_of(entry);
        if (!(f1 > best_f1))
            continue;
        best_f1 = f1;
        /* The scores of rows were rounded to these: one that became this may lie below it, but not below the middle to
         * the next. Below all: also after it has been rounded, as a probability or in print. */
        best_score = end > 0 ? (score + score_of(entries[end - 1])) / 2 : score - 1 - fabs(score) * 1e-6;
    }
    double pairs = above.positive * above.negative;
    if (pairs > 0)
        result.auc = (ordered_pairs + 0.5 * tied_pairs) / pairs;
    if (above.positive > 0) {
        result.average_precision = precision_sum / above.positive;
        result.best_f1 = best_f1;
        result.best_score = best_score;
    }
    return result;
}
