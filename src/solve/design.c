/* From rows as they come to rows that can be solved: joined, assigned to folds, numbered, standardised. */
#include "solve/design.h"

#include "learn/residuals.h"
#include "learn/schema.h"
#include "learn/state.h"

#include "base/error.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/real.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A column is dense if it is present in this share of rows: its units are then its deviation from its mean. */
#define DENSE_SHARE 0.9
/* Rows are stored dense if this many times their entries are at least all cells. */
#define DENSE_ENTRIES 3u
/* A column that varies by less, relative to its mean square, does not vary. */
#define MIN_VARIANCE 1e-24

/* ---- order, folds, joined rows ----------------------------------------------------------------------------------- */

typedef struct ordered_row {
    uint64_t hash;
    uint64_t label; /* class, or the bits of a number */
    double weight;
    uint32_t row;
    uint32_t fold; /* the number of its group, until rows are dealt to folds */
} ordered_row;

static int compare_rows(const void *a, const void *b)
{
    const ordered_row *x = a, *y = b;
    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    if (x->label != y->label)
        return x->label < y->label ? -1 : 1;
    if (x->weight != y->weight)
        return x->weight < y->weight ? -1 : 1;
    if (x->fold != y->fold)
        return x->fold < y->fold ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

/* The end of the rows from `from` on that are equal in features, or in label too, or in weight too. */
enum { FEATURES, LABEL, WEIGHT };
static size_t run_end(const ordered_row *sorted, size_t from, size_t n, int in)
{
    size_t end = from + 1;
    while (end < n && sorted[end].hash == sorted[from].hash &&
           (in < LABEL || sorted[end].label == sorted[from].label) &&
           (in < WEIGHT || sorted[end].weight == sorted[from].weight))
        end++;
    return end;
}

/* Finds whether most values are those of one kind only, as measurements are and counts and words are not: rows that
 * agree in all of their measurements are copies. The first kinds tell. */
#define ENTRIES_COMPARED 65536u
#define MEASURED_SHARE 0.5

static gsa_status are_measured(const gsai_waiting *rows, const ordered_row *sorted, bool *measured, gsa_error *error)
{
    uint64_t *values = gsai_alloc(&rows->env, ENTRIES_COMPARED, sizeof *values);
    size_t n = 0, n_single = 0;
    GSAI_TRY_MEMORY(values, &rows->env, error, "no memory to compare values");
    for (size_t i = 0; i < rows->csr.n_rows && n < ENTRIES_COMPARED;
         i = run_end(sorted, i, rows->csr.n_rows, FEATURES)) {
        size_t row = sorted[i].row;
        const gsai_row entries = gsai_waiting_at(rows, row).row;
        for (size_t t = 0; t < entries.n && n < ENTRIES_COMPARED; t++) {
            uint32_t bits;
            float value = gsai_row_value(&entries, t);
            memcpy(&bits, &value, sizeof bits);
            values[n++] = (uint64_t)entries.index[t] << 32 | bits;
        }
    }
    qsort(values, n, sizeof *values, gsai_waiting_compare_keys);
    for (size_t i = 0; i < n; i++)
        n_single += (i == 0 || values[i] != values[i - 1]) && (i + 1 == n || values[i] != values[i + 1]);
    gsai_free(&rows->env, values);
    *measured = (double)n_single > MEASURED_SHARE * (double)n;
    return GSA_OK;
}

/* Equal features stay together if they are copies: they have one label, and few rows are copied or all are measured.
 * Otherwise rows that repeat others are rows of their own, and rows to come will repeat them too: so are measurements
 * that were repeated, as at the doses of a trial, which then have several labels. And with few kinds of rows, those
 * with equal features, each has to be learned from all others. */
#define KINDS_PER_FOLD 8u
#define SAME_LABEL 0.9
#define REPEATED_FEW 0.1
#define KINDS_PER_MIXED 24u

static gsa_status kinds_stay_whole(const gsai_waiting *rows, const ordered_row *sorted, size_t copies, bool *whole,
                                   gsa_error *error)
{
    size_t n = rows->csr.n_rows, n_kinds = 0, n_repeated = 0; /* repeated: rows beyond the first of a kind */
    size_t n_several = 0, n_mixed = 0;                        /* kinds of several rows, and of several labels */
    double same = 0; /* repeated rows that a row of the kind agrees with in its label */
    for (size_t i = 0, end; i < n; i = end, n_kinds++) {
        end = run_end(sorted, i, n, FEATURES);
        size_t count = (end - i) / copies;
        n_repeated += count - 1;
        n_several += count > 1;
        n_mixed += run_end(sorted, i, end, LABEL) < end;
        for (size_t l = i, next; l < end; l = next) {
            next = run_end(sorted, l, end, LABEL);
            double of_label = (double)((next - l) / copies);
            same += of_label * (of_label - 1) / (double)count;
        }
    }
    *whole = n_kinds >= (size_t)KINDS_PER_FOLD * GSAI_FOLDS && same >= SAME_LABEL * (double)n_repeated;
    if (!*whole || (double)n_repeated < REPEATED_FEW * (double)(n / copies))
        return GSA_OK;
    *whole = KINDS_PER_MIXED * n_mixed < n_several;
    return *whole ? are_measured(rows, sorted, whole, error) : GSA_OK;
}

/* The greatest number that divides how often every row comes: k copies of a file are dealt out as one would be. But
 * counts of classes among rows with equal features may have a common divisor by chance, or for being round shares: two
 * counts have one in two of five cases, three in one of six. So it takes three different counts, or many; or that most
 * rows would be single ones without their copies; or that none disagree. */
#define MIN_DIFFERENT_COUNTS 3u
#define MIN_COUNTS 16u

static size_t common_copies(const ordered_row *sorted, size_t n, bool has_classes)
{
    size_t common = 0, n_counts = 0, n_kinds = 0, n_single = 0, n_different = 0, different[MIN_DIFFERENT_COUNTS];
    for (size_t i = 0, end; i < n && common != 1; i = end) {
        end = run_end(sorted, i, n, WEIGHT);
        for (size_t a = end - i; a != 0;) {
            size_t rest = common % a;
            common = a;
            a = rest;
        }
    }
    for (size_t i = 0, end; i < n && common > 1 && has_classes; i = end, n_kinds++) {
        size_t largest = 0;
        end = run_end(sorted, i, n, FEATURES);
        n_single += end - i == common;
        for (size_t l = i, next; l < end; l = next) {
            next = run_end(sorted, l, end, LABEL);
            size_t count = next - l, smaller = count < largest ? count : largest, seen = 0;
            largest = count > largest ? count : largest;
            n_counts += smaller > 0;
            while (seen < n_different && different[seen] != smaller)
                seen++;
            if (smaller > 0 && seen == n_different && n_different < MIN_DIFFERENT_COUNTS)
                different[n_different++] = smaller;
        }
    }
    return n_counts == 0 || n_counts >= MIN_COUNTS || 2 * n_single > n_kinds || n_different >= MIN_DIFFERENT_COUNTS
               ? common
               : 1;
}

/* Weights are counts, as in a table of frequencies, if they are whole numbers of a unit, and every row comes once (or
 * in as many copies as all others) though kinds of rows come with several classes: were they rows of their own, some
 * would come again with the same class. Returns the unit, 0 if they are not. */
#define MAX_COUNT 1048576.0
#define MAX_COUNTED_ROWS 65536u
#define KINDS_PER_MIXED_COUNT 16u

static double count_unit(const ordered_row *sorted, size_t n, size_t *copies)
{
    size_t n_kinds = 0, n_mixed = 0;
    double unit = 0, largest = 0;
    *copies = run_end(sorted, 0, n, LABEL);
    for (size_t i = 0, end; i < n && n <= MAX_COUNTED_ROWS; i = end, n_kinds++) {
        end = run_end(sorted, i, n, FEATURES);
        n_mixed += run_end(sorted, i, end, LABEL) < end;
        for (; i < end; i += *copies) {
            if (run_end(sorted, i, end, LABEL) != i + *copies || run_end(sorted, i, end, WEIGHT) != i + *copies)
                return 0;
            largest = fmax(largest, sorted[i].weight);
            for (double a = sorted[i].weight; a != 0;) {
                double rest = fmod(unit, a);
                unit = a;
                a = rest;
            }
        }
    }
    bool counts = n_mixed > 0 && KINDS_PER_MIXED_COUNT * n_mixed >= n_kinds;
    return counts && largest > unit && largest <= MAX_COUNT * unit ? unit : 0;
}

/* ---- groups and times -------------------------------------------------------------------------------------------- */

typedef struct group_row {
    uint64_t key; /* of its group */
    uint32_t row;
} group_row;

static int compare_keys(const void *a, const void *b)
{
    const group_row *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

/* Numbers the groups of rows by their keys. */
static gsa_status number_groups(const gsai_waiting *rows, ordered_row *own, size_t *n_groups, gsa_error *error)
{
    size_t n = rows->csr.n_rows;
    group_row *sorted = gsai_alloc(&rows->env, n, sizeof *sorted);
    GSAI_TRY_MEMORY(sorted, &rows->env, error, "no memory for the groups of %zu rows", n);
    for (size_t i = 0; i < n; i++)
        sorted[i] = (group_row){gsai_waiting_key(rows, own[i].row), (uint32_t)i};
    qsort(sorted, n, sizeof *sorted, compare_keys);
    *n_groups = 0;
    for (size_t i = 0; i < n; i++) {
        *n_groups += i == 0 || sorted[i].key != sorted[i - 1].key;
        own[sorted[i].row].fold = (uint32_t)(*n_groups - 1);
    }
    gsai_free(&rows->env, sorted);
    return GSA_OK;
}

/* Finds what rows are dealt to folds by: their groups, or whether they are among the latest; not where all rows are of
 * one group or of one time. */
static gsa_status find_groups(gsai_design *design, const gsai_waiting *rows, ordered_row *own, gsa_error *error)
{
    size_t n = rows->csr.n_rows;
    uint64_t latest, later_half;
    design->n_folds = GSAI_FOLDS;
    if (gsai_waiting_held_by(rows) == GSAI_BY_GROUP)
        return number_groups(rows, own, &design->n_groups, error);
    if (gsai_waiting_held_by(rows) == GSAI_BY_FEATURES)
        return GSA_OK;
    design->has_times = true;
    GSA_TRY(gsai_waiting_latest(rows, n / GSAI_FOLDS, &latest, error));
    GSA_TRY(gsai_waiting_latest(rows, n / (2 * GSAI_FOLDS), &later_half, error));
    for (size_t i = 0; i < n; i++) {
        uint64_t key = gsai_waiting_key(rows, own[i].row);
        own[i].fold = (uint32_t)(key >= later_half) + (key >= latest);
        design->n_latest += key < latest;
    }
    design->n_folds = design->n_latest > 0 ? 1 : GSAI_FOLDS;
    return GSA_OK;
}

/* Deals groups to folds. The first folds, of which one may be all that is held out, have the smallest groups. */
static gsa_status deal_groups(gsai_design *design, ordered_row *sorted, size_t n, gsa_error *error)
{
    size_t n_of_fold[GSAI_FOLDS] = {0}, n_groups = design->n_groups;
    group_row *size = gsai_alloc_zeroed(&design->env, n_groups, sizeof *size); /* key: as many rows fewer than all */
    uint32_t *fold = gsai_alloc(&design->env, n_groups, sizeof *fold);
    design->group = gsai_alloc(&design->env, n, sizeof *design->group);
    design->n_folds = n_groups < GSAI_FOLDS ? n_groups : GSAI_FOLDS;
    for (size_t i = 0; i < n && size; i++)
        size[sorted[i].fold].key++;
    for (uint32_t g = 0; g < n_groups && size; g++)
        size[g] = (group_row){n - size[g].key, g};
    if (size)
        qsort(size, n_groups, sizeof *size, compare_keys);
    for (size_t g = 0; g < n_groups && size && fold; g++) {
        size_t smallest = design->n_folds - 1;
        for (size_t f = smallest; f-- > 0;)
            smallest = n_of_fold[f] < n_of_fold[smallest] ? f : smallest;
        n_of_fold[smallest] += n - (size_t)size[g].key;
        design->n_groups_in[smallest]++;
        fold[size[g].row] = (uint32_t)smallest;
    }
    bool done = size && fold && design->group;
    for (size_t i = 0; i < n && done; i++) {
        design->group[sorted[i].row] = sorted[i].fold;
        sorted[i].fold = fold[sorted[i].fold];
    }
    gsai_free(&design->env, size);
    gsai_free(&design->env, fold);
    return done ? GSA_OK : gsai_fail_memory(&design->env, error, "no memory for the folds of %zu groups", n_groups);
}

/* ---- folds, joined rows ------------------------------------------------------------------------------------------ */

/* More rows than this that are equal are dealt out evenly. */
#define MAX_DRAWN ((size_t)4096)

/* Returns the fold of number j of n_equal rows that are equal in features and label; it is at `place` among all. Which
 * folds they are in is drawn: dealt out evenly, what is held out would have the labels of what is not, and repeat their
 * noise. */
static uint32_t fold_of_copy(const ordered_row *row, size_t n_equal, size_t j, size_t place)
{
    bool is_drawn = n_equal > 1 && n_equal <= MAX_DRAWN;
    return (uint32_t)((is_drawn ? gsai_mix(row->hash ^ gsai_mix(gsai_mix(row->label) + j)) : place) % GSAI_FOLDS);
}

/* Deals rows to folds; rows with counts as if each came as often as it weighs. `n_weighed` is what all rows weigh
 * together: as many as are dealt out; 0: as many as are left when equal ones are joined. */
static gsa_status assign_folds(gsai_design *design, const gsai_waiting *rows, ordered_row **sorted, size_t *n,
                               bool has_classes, size_t *n_weighed, gsa_error *error)
{
    size_t copies = 1, kind = 0, n_pieces = 0;
    if (design->n_groups > 1 || design->n_latest > 0) {
        *n_weighed = *n / common_copies(*sorted, *n, has_classes);
        return design->n_groups > 1 ? deal_groups(design, *sorted, *n, error) : GSA_OK;
    }
    double unit = has_classes ? count_unit(*sorted, *n, &copies) : 0;
    if (unit == 0) {
        bool whole;
        copies = common_copies(*sorted, *n, has_classes);
        GSA_TRY(kinds_stay_whole(rows, *sorted, copies, &whole, error));
        for (size_t i = 0, end; i < *n; i = end) {
            end = run_end(*sorted, i, *n, LABEL);
            kind += i > 0 && (*sorted)[i].hash != (*sorted)[i - 1].hash;
            for (size_t j = i; j < end; j++)
                (*sorted)[j].fold = whole ? (uint32_t)(kind % GSAI_FOLDS)
                                          : fold_of_copy(*sorted + j, (end - i) / copies, (j - i) / copies, j / copies);
        }
        *n_weighed = whole ? 0 : *n / copies;
        return GSA_OK;
    }
    ordered_row *pieces = gsai_alloc(&rows->env, *n / copies, GSAI_FOLDS * sizeof *pieces);
    GSAI_TRY_MEMORY(pieces, &rows->env, error, "no memory for the folds of %zu rows", *n);
    for (size_t i = 0; i < *n; i += copies) {
        size_t count = (size_t)((*sorted)[i].weight / unit);
        size_t n_before = n_pieces;
        for (size_t j = 0; j < count; j++) {
            uint32_t fold = fold_of_copy(*sorted + i, count, j, *n_weighed + j);
            size_t at = n_before;
            while (at < n_pieces && pieces[at].fold != fold)
                at++;
            if (at == n_pieces) {
                pieces[n_pieces] = (*sorted)[i];
                pieces[n_pieces].weight = 0;
                pieces[n_pieces++].fold = fold;
            }
            pieces[at].weight++;
        }
        *n_weighed += count;
    }
    gsai_free(&rows->env, *sorted);
    *sorted = pieces;
    *n = n_pieces;
    return GSA_OK;
}

/* Joins rows that are equal in features, label and fold; the first of them stands for all. Returns how many are left.
 */
static size_t join(ordered_row *sorted, size_t n, size_t *n_different)
{
    size_t kept = 0;
    *n_different = 0;
    for (size_t i = 0, end; i < n; i = end) {
        size_t of_fold[GSAI_FOLDS];
        end = run_end(sorted, i, n, LABEL);
        ++*n_different;
        for (size_t f = 0; f < GSAI_FOLDS; f++)
            of_fold[f] = SIZE_MAX;
        for (size_t j = i; j < end; j++) {
            ordered_row own = sorted[j];
            if (of_fold[own.fold] != SIZE_MAX) {
                sorted[of_fold[own.fold]].weight += own.weight;
                continue;
            }
            of_fold[own.fold] = kept;
            sorted[kept++] = own;
        }
    }
    return kept;
}

/* ---- columns ----------------------------------------------------------------------------------------------------- */

/* Means and deviations, in double and in two passes over the entries. */
static gsa_status measure_columns(gsai_design *design, bool centres, gsa_error *error)
{
    const gsai_env *env = &design->env;
    size_t n = design->n_columns;
    double *weight = gsai_alloc_zeroed(env, n, 4 * sizeof *weight); /* of a column, where it is present */
    double total = 0; /* weight of all rows: about their number, since weights are rounded */
    design->count = gsai_alloc_zeroed(env, n, sizeof *design->count);
    design->origin = gsai_alloc_zeroed(env, n, sizeof *design->origin);
    design->unit = gsai_alloc_zeroed(env, n, sizeof *design->unit);
    design->variance = gsai_alloc_zeroed(env, n, sizeof *design->variance);
    design->mean = gsai_alloc_zeroed(env, n, sizeof *design->mean);
    if (!weight || !design->count || !design->origin || !design->unit || !design->variance || !design->mean) {
        gsai_free(env, weight);
        return gsai_fail_memory(env, error, "no memory for the means of %zu columns", n);
    }
    double *sum = weight + n, *squares = sum + n, *middle = squares + n; /* 0 until it is known */
    for (int pass = 0; pass < 2; pass++) {
        double *restrict to = pass == 0 ? sum : squares;
        for (size_t i = 0; i < design->n_rows; i++) {
            double own = (double)design->weight[i];
            const float *x = design->dense ? design->dense + i * design->width : NULL;
            total += pass == 0 ? own : 0;
            for (size_t j = 1; j < n && x; j++) {
                double off = (double)x[j - 1] - middle[j], more = own * off * (pass == 0 ? 1 : off);
                to[j] += x[j - 1] != 0 ? more : 0;
            }
            for (size_t j = 1; j < n && x && pass == 0; j++) {
                weight[j] += x[j - 1] != 0 ? own : 0;
                design->count[j] += x[j - 1] != 0;
            }
            for (size_t t = x ? 0 : design->start[i]; !x && t < design->start[i + 1]; t++) {
                uint32_t j = design->column[t];
                double off = (double)design->value[t] - middle[j];
                to[j] += own * off * (pass == 0 ? 1 : off);
                weight[j] += pass == 0 ? own : 0;
                design->count[j] += pass == 0;
            }
        }
        for (size_t j = 1; j < n; j++)
            middle[j] = sum[j] / weight[j];
    }
    for (size_t j = 1; j < n; j++) {
        double present = weight[j], mean = sum[j] / present, variance = squares[j] / present, all = sum[j] / total;
        double square = variance + mean * mean, off = mean - all, absent = total > present ? total - present : 0;
        bool dense = centres && (double)design->count[j] >= DENSE_SHARE * (double)design->n_rows;
        double units = dense && variance > MIN_VARIANCE * square ? variance : square;
        double around =
            centres ? (present * (variance + off * off) + absent * all * all) / total : present * square / total;
        bool shifted = centres && (design->width > 0 || design->count[j] == design->n_rows);
        design->unit[j] = sqrt(units);
        design->variance[j] = around > MIN_VARIANCE * square ? around / units : 0;
        design->origin[j] = shifted ? all : 0;
        design->mean[j] = centres && !shifted ? (float)(all / design->unit[j]) : 0;
    }
    design->count[0] = (uint32_t)design->n_rows;
    design->unit[0] = design->variance[0] = 1;
    gsai_free(env, weight);
    return GSA_OK;
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

/* A table with open addressing from features to columns; small ids are their own addresses. */
typedef struct numbers {
    struct {
        uint32_t id, number; /* number 0: the slot is free */
    } * slot;
    size_t mask;
    bool is_direct;
} numbers;

/* Returns the column of a feature, the next one if it is new. */
static uint32_t number_of(gsai_design *design, const numbers *of, uint32_t id)
{
    size_t at = (size_t)(of->is_direct ? id : gsai_mix(id)) & of->mask;
    while (of->slot[at].number != 0 && of->slot[at].id != id)
        at = (at + 1) & of->mask;
    if (of->slot[at].number == 0) {
        of->slot[at].id = design->id[design->n_columns] = id;
        of->slot[at].number = (uint32_t)design->n_columns++;
    }
    return of->slot[at].number;
}

/* Numbers the features and copies the entries of rows, which are never 0. */
static gsa_status copy_entries(gsai_design *design, const gsai_waiting *rows, const ordered_row *sorted,
                               const numbers *of, gsa_error *error)
{
    const gsai_env *env = &design->env;
    size_t n_entries = 0, to = 0;
    for (size_t i = 0; i < design->n_rows && design->first_own <= rows->highest; i++) {
        const gsai_row row = gsai_waiting_at(rows, sorted[i].row).row;
        for (size_t t = 0; t < row.n && row.index[t] < design->first_own; t++)
            (void)number_of(design, of, row.index[t]);
    }
    for (size_t i = 0; i < design->n_rows; i++) {
        const gsai_row row = gsai_waiting_at(rows, sorted[i].row).row;
        n_entries += row.n;
        for (size_t t = 0; t < row.n && rows->highest >= GSAI_MAX_COUNTED; t++) /* they were not counted */
            (void)number_of(design, of, row.index[t]);
    }
    size_t n = rows->highest < GSAI_MAX_COUNTED ? rows->n_features : design->n_columns - 1;
    bool is_dense = n_entries > 0 && n_entries * DENSE_ENTRIES >= design->n_rows * n;
    design->width = is_dense ? gsai_row_width(n) : 0;
    design->dense = is_dense ? gsai_alloc_zeroed(env, design->n_rows, design->width * sizeof *design->dense) : NULL;
    design->start = gsai_alloc_zeroed(env, design->n_rows + 1, sizeof *design->start);
    bool has_columns = !is_dense || design->keeps_columns;
    design->column = !has_columns ? NULL : gsai_alloc(env, n_entries + 1, sizeof *design->column);
    design->value = is_dense ? NULL : gsai_alloc(env, n_entries + 1, sizeof *design->value);
    GSAI_TRY_MEMORY(design->start && (design->dense || design->value) && (design->column || !has_columns), env, error,
                    "no memory for %zu rows of %zu columns", design->n_rows, n);
    for (size_t i = 0; i < design->n_rows; i++) {
        const gsai_row row = gsai_waiting_at(rows, sorted[i].row).row;
        float *dense = is_dense ? design->dense + i * design->width : NULL;
        if (i + GSAI_WAITING_FAR < design->n_rows)
            gsai_waiting_fetch(rows, sorted[i + GSAI_WAITING_FAR].row, sorted[i + GSAI_WAITING_FAR / 2].row);
        for (size_t t = 0; t < row.n; t++) {
            uint32_t column = number_of(design, of, row.index[t]);
            float *to_value = is_dense ? &dense[column - 1] : &design->value[to];
            *to_value = gsai_row_value(&row, t);
            if (has_columns)
                design->column[to++] = column;
        }
        design->start[i + 1] = to;
    }
    return GSA_OK;
}

static gsa_status copy_rows(gsai_design *design, const gsai_waiting *rows, const ordered_row *sorted, gsa_error *error)
{
    const gsai_env *env = &design->env;
    size_t n = design->n_rows;
    design->target = gsai_alloc(env, n, sizeof *design->target);
    design->weight = gsai_alloc(env, n, sizeof *design->weight);
    design->fold = gsai_alloc(env, n, sizeof *design->fold);
    design->kind = gsai_alloc(env, n, sizeof *design->kind);
    design->row = gsai_alloc(env, n, sizeof *design->row);
    GSAI_TRY_MEMORY(design->target && design->weight && design->fold && design->kind && design->row, env, error,
                    "no memory for %zu rows", n);
    uint32_t *group_of = design->group, *group = group_of ? gsai_alloc(env, n, sizeof *group) : NULL;
    GSAI_TRY_MEMORY(group || !group_of, env, error, "no memory for the groups of %zu rows", n);
    for (size_t i = 0; i < n; i++) {
        design->row[i] = sorted[i].row;
        design->fold[i] = (uint8_t)sorted[i].fold;
        if (group_of)
            group[i] = group_of[sorted[i].row];
        design->kind[i] = i == 0 ? 0 : design->kind[i - 1] + (sorted[i].hash != sorted[i - 1].hash);
    }
    gsai_free(env, group_of);
    design->group = group;
    numbers of = {.mask = 1023, .is_direct = rows->highest < 65536 + 4 * rows->csr.n_values};
    while (of.mask < (of.is_direct ? rows->highest : 2 * rows->n_features - 1))
        of.mask = 2 * of.mask + 1;
    design->n_columns = 1;
    of.slot = gsai_alloc_zeroed(env, of.mask + 1, sizeof *of.slot);
    design->id = gsai_alloc_zeroed(env, (size_t)rows->n_features + 1, sizeof *design->id);
    gsa_status status = of.slot && design->id ? copy_entries(design, rows, sorted, &of, error)
                                              : gsai_fail_memory(env, error, "no memory to number the features");
    gsai_free(env, of.slot);
    return status;
}

/* ---- labels and weights ------------------------------------------------------------------------------------------ */

/* With balanced classes all classes have the same weight. */
static gsa_status balance(ordered_row *sorted, size_t n, const gsa_state *state, gsa_error *error)
{
    const gsai_env *env = gsai_state_env(state);
    size_t n_classes = gsai_state_labels(state)->n;
    if (!gsai_params_balance(gsai_state_params(state)))
        return GSA_OK;
    double total = 0, *of_class = gsai_alloc_zeroed(env, n_classes + 1, sizeof *of_class);
    GSAI_TRY_MEMORY(of_class, env, error, "no memory for the weights of %zu classes", n_classes);
    for (size_t i = 0; i < n; i++) {
        of_class[sorted[i].label] += sorted[i].weight;
        total += sorted[i].weight;
    }
    for (size_t i = 0; i < n; i++)
        sorted[i].weight *= total / (of_class[sorted[i].label] * (double)n_classes);
    gsai_free(env, of_class);
    return GSA_OK;
}

/* Finds the median of the labels and their scale: the median distance from it, of those that differ if most are equal
 * to it. */
static gsa_status find_medians(const gsai_waiting *rows, const ordered_row *sorted, size_t n, bool centres,
                               double *median, double *scale, gsa_error *error)
{
    gsai_weighted *at = gsai_alloc(&rows->env, n, sizeof *at);
    size_t n_off = 0;
    GSAI_TRY_MEMORY(at, &rows->env, error, "no memory for the median of %zu labels", n);
    for (size_t i = 0; i < n; i++)
        at[i] = (gsai_weighted){gsai_waiting_at(rows, sorted[i].row).number, sorted[i].weight};
    *median = centres ? gsai_weighted_median(at, n) : 0;
    for (size_t i = 0; i < n; i++)
        at[i].number = fabs(at[i].number - *median);
    *scale = gsai_weighted_median(at, n) / GSAI_MEDIAN_DISTANCE;
    for (size_t i = 0; i < n && *scale == 0; i++)
        if (at[i].number > 0)
            at[n_off++] = at[i];
    if (n_off > 0)
        *scale = gsai_weighted_median(at, n_off);
    gsai_free(&rows->env, at);
    return GSA_OK;
}

/* Labels are measured from their mean, in their deviations; where margins are logarithms, in their mean. Without an
 * intercept to take the mean, it is 0, and with a log link 1. */
static gsa_status set_labels(gsai_design *design, const gsai_waiting *rows, const ordered_row *sorted,
                             const gsa_state *state, gsa_error *error)
{
    const gsai_loss *loss = gsai_state_loss(state);
    bool centres = gsai_state_param(state, GSAI_PARAM_intercept);
    double total = 0, mean = 0, squares = 0, scale = 0;
    const double quantile = gsai_params_quantile(gsai_state_params(state));
    size_t n = design->n_rows;
    bool has_classes = gsai_loss_has_classes(loss), has_mean = centres && !has_classes;
    bool is_swapped = gsai_labels_are_swapped(gsai_state_labels(state));
    for (size_t i = 0; i < n; i++) {
        total += sorted[i].weight;
        mean += has_mean ? (gsai_waiting_at(rows, sorted[i].row).number - mean) * (sorted[i].weight / total) : 0;
    }
    design->weight_unit = total / design->total_weight;
    design->margin_unit = design->loss_unit = 1;
    if (loss->has_log_link && mean > 0) {
        design->margin_origin = gsai_log(mean);
        design->loss_unit = mean;
    }
    if (!has_classes && !loss->has_log_link) {
        if (loss->has_width) /* outliers move neither the median nor the median distance from it */
            GSA_TRY(find_medians(rows, sorted, n, centres, &mean, &scale, error));
        for (size_t i = 0; i < n && !loss->has_width; i++) {
            double off = gsai_waiting_at(rows, sorted[i].row).number - mean;
            squares += sorted[i].weight / total * off * off;
        }
        scale = loss->has_width ? scale : sqrt(squares);
        design->margin_origin = mean;
        design->margin_unit = scale > 0 ? scale : 1;
        design->loss_unit = design->margin_unit * (loss->has_quantile ? 1 : design->margin_unit);
    }
    if (has_classes && rows->offset.loss) {
        design->offset = gsai_alloc(&design->env, n, sizeof *design->offset);
        GSAI_TRY_MEMORY(design->offset, &design->env, error, "no memory for the offsets of %zu rows", n);
    }
    for (size_t i = 0; i < n; i++) {
        double y = gsai_waiting_at(rows, sorted[i].row).number, weight = sorted[i].weight / design->weight_unit;
        if (design->offset)
            design->offset[i] = (float)(is_swapped ? -y : y);
        y = loss->has_log_link ? y / design->loss_unit : (y - design->margin_origin) / design->margin_unit;
        if (loss->has_width && fabs(y) > GSAI_MAX_TARGET) {
            double pull = !loss->has_quantile ? 1 : y > 0 ? quantile : 1 - quantile;
            design->clipped += pull * (fabs(y) - GSAI_MAX_TARGET) * weight / design->total_weight;
            y = y > 0 ? GSAI_MAX_TARGET : -GSAI_MAX_TARGET;
        }
        design->target[i] = has_classes ? (float)rows->csr.word[sorted[i].row] : (float)y;
        design->weight[i] = (float)weight;
    }
    return GSA_OK;
}

/* Orders the rows. Hashes are spread evenly: their first bits, of as many values as there are rows, say about where a
 * row comes. */
static gsa_status order_rows(gsai_design *design, const gsai_waiting *rows, bool has_classes, ordered_row *sorted,
                             gsa_error *error)
{
    size_t n = rows->csr.n_rows, n_parts = 2;
    unsigned shift = 63;
    for (; n_parts < n; n_parts *= 2)
        shift--;
    uint32_t *end = gsai_alloc_zeroed(&rows->env, n_parts + 1, sizeof *end);
    GSAI_TRY_MEMORY(end, &rows->env, error, "no memory to order %zu rows", n);
    for (size_t i = 0; i < n; i++)
        end[(rows->hash[i] >> shift) + 1]++;
    for (size_t part = 0; part < n_parts; part++)
        end[part + 1] += end[part];
    for (size_t i = 0; i < n; i++) {
        const gsai_unlearned row = gsai_waiting_at(rows, i);
        uint64_t label = row.class_number;
        double number = row.number + 0.0; /* -0 is 0 */
        if (!has_classes)
            memcpy(&label, &number, sizeof label);
        sorted[end[rows->hash[i] >> shift]++] = (ordered_row){rows->hash[i], label, row.weight, (uint32_t)i, 0};
    }
    gsa_status status = find_groups(design, rows, sorted, error);
    for (size_t part = 0, from = 0; part < n_parts; from = end[part++])
        if (end[part] > from + 1)
            qsort(sorted + from, end[part] - from, sizeof *sorted, compare_rows);
    gsai_free(&rows->env, end);
    return status;
}

/* Orders the rows and joins equal ones, with their labels and weights; columns still have the ids of features. *sorted
 * is to be freed by the caller. */
static gsa_status arrange_rows(gsai_design *design, const gsai_waiting *rows, const gsa_state *state,
                               ordered_row **sorted, gsa_error *error)
{
    const gsai_loss *loss = gsai_state_loss(state);
    bool has_classes = gsai_loss_has_classes(loss);
    size_t n_weighed = 0, n = rows->csr.n_rows;
    *sorted = gsai_alloc(&rows->env, n, sizeof **sorted);
    GSAI_TRY_MEMORY(*sorted, &rows->env, error, "no memory to order %zu rows", n);
    GSA_TRY(order_rows(design, rows, has_classes, *sorted, error));
    design->order = gsai_alloc(&rows->env, n, sizeof *design->order);
    GSAI_TRY_MEMORY(design->order, &rows->env, error, "no memory for the order of %zu rows", n);
    for (size_t i = 0; i < n; i++)
        design->order[i] = (*sorted)[i].row;
    GSA_TRY(assign_folds(design, rows, sorted, &n, has_classes, &n_weighed, error));
    design->n_rows = join(*sorted, n, &design->n_different);
    design->total_weight = (double)(n_weighed > 0 ? n_weighed : design->n_rows);
    design->n_outputs = gsai_loss_outputs(loss, gsai_state_labels(state)->n);
    design->stride = design->n_outputs == 1 ? 1 : (design->n_outputs + 7) / 8 * 8;
    GSA_TRY(balance(*sorted, design->n_rows, state, error));
    GSA_TRY(copy_rows(design, rows, *sorted, error));
    return set_labels(design, rows, *sorted, state, error);
}

/* Sets the signs of columns as the schema has them, for the label that comes last in a model. */
static gsa_status set_signs(gsai_design *design, const gsa_state *state, gsa_error *error)
{
    const char *schema = gsa_state_schema(state);
    bool is_swapped = gsai_labels_are_swapped(gsai_state_labels(state));
    uint64_t next = 0;
    uint32_t feature;
    for (int sign; (sign = gsai_schema_next_sign(&schema, &next, &feature)) != 0;) {
        if (design->n_outputs > 1)
            return gsai_fail_param(error, "increasing", GSA_ARGUMENT,
                                   "the labels are %zu classes, and increasing or decreasing columns are for two "
                                   "classes and numbers; leave them out",
                                   design->n_outputs);
        if (gsai_state_rows_behind(state) > 0)
            return gsai_schema_check_unsigned(gsa_state_schema(state), error);
        if (!design->sign)
            design->sign = gsai_alloc_zeroed(&design->env, design->n_columns, sizeof *design->sign);
        GSAI_TRY_MEMORY(design->sign, &design->env, error, "no memory for the signs of columns");
        for (size_t j = 1; j < design->n_columns; j++)
            if (design->id[j] == feature)
                design->sign[j] = (int8_t)(is_swapped ? -sign : sign);
    }
    return GSA_OK;
}

gsa_status gsai_design_make(gsai_design *design, const gsai_waiting *rows, const gsa_state *state, gsa_error *error)
{
    ordered_row *sorted = NULL;
    *design = (gsai_design){.env = rows->env, .keeps_columns = gsai_state_param(state, GSAI_PARAM_curves)};
    design->first_own = gsai_schema_customers(gsa_state_schema(state), &design->own_each);
    gsa_status status = arrange_rows(design, rows, state, &sorted, error);
    gsai_free(&rows->env, sorted);
    GSA_TRY(status);
    GSA_TRY(measure_columns(design, gsai_state_param(state, GSAI_PARAM_intercept), error));
    for (size_t t = 0; !design->dense && t < design->start[design->n_rows]; t++) {
        uint32_t j = design->column[t];
        design->value[t] = (float)(((double)design->value[t] - design->origin[j]) / design->unit[j]);
    }
    for (size_t i = 0; i < design->n_rows && design->dense; i++) { /* columns that do not vary are 0 */
        float *row = design->dense + i * design->width;
        for (size_t j = 1; j < design->n_columns; j++) {
            float value = (float)(((double)row[j - 1] - design->origin[j]) / design->unit[j]);
            row[j - 1] = design->variance[j] > 0 ? value : 0;
        }
    }
    return set_signs(design, state, error);
}

void gsai_design_release(gsai_design *design)
{
    void *const all[] = {design->dense,  design->start, design->column,   design->value, design->target,
                         design->weight, design->fold,  design->kind,     design->id,    design->count,
                         design->origin, design->unit,  design->variance, design->mean,  design->group,
                         design->order,  design->row,   design->offset,   design->sign};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        gsai_free(&design->env, all[i]);
    *design = (gsai_design){.env = design->env};
}

void gsai_design_describe(const gsai_design *design, size_t n_folds, gsai_results *out)
{
    double n_groups = 0;
    for (size_t f = 0; f < n_folds; f++)
        n_groups += (double)design->n_groups_in[f];
    if (design->n_groups > 0)
        out->at[GSAI_RESULT_groups] = n_groups;
    if (design->has_times)
        out->at[GSAI_RESULT_latest] = (double)design->n_latest;
}

bool gsai_design_varies(const gsai_design *design)
{
    size_t j = 1;
    while (j < design->n_columns && !(design->variance[j] > 0))
        j++;
    return j < design->n_columns;
}

size_t gsai_design_columns(const gsai_design *design, size_t n_rows)
{
    uint32_t highest = 0;
    size_t shift = gsai_design_shift(design), least = gsai_design_parts(design);
    if (design->width > 0 || n_rows >= design->n_rows)
        return design->n_columns;
    for (size_t t = 0; t < design->start[n_rows]; t++)
        highest = design->column[t] > highest ? design->column[t] : highest;
    size_t n = (size_t)highest + 1 > shift ? (size_t)highest + 1 - shift : 0;
    return n > least ? n : least;
}

double gsai_design_margin(const gsai_design *design, size_t row, const double *weight)
{
    double m = weight[0];
    if (design->width > 0) {
        const float *x = design->dense + row * design->width;
        for (size_t j = 1; j < design->n_columns; j++)
            m += weight[j] * (double)x[j - 1];
        return m;
    }
    size_t shift = gsai_design_shift(design), first_line = shift + gsai_design_parts(design);
    for (size_t e = design->start[row]; e < design->start[row + 1]; e++)
        m += (design->column[e] < first_line && shift > 0
                  ? gsai_bends_value(design->bends, design->column[e] - 1, weight + 1)
                  : weight[design->column[e] - shift]) *
             (double)design->value[e];
    return m;
}

/* ---- columns that bend ------------------------------------------------------------------------------------------- */

/* Takes the columns that stay lines, in their order; *number says which they are now. */
static void take_lines(gsai_design *bent, const gsai_design *lines, uint32_t *number)
{
    size_t n = gsai_design_parts(bent);
    for (size_t j = 1; j < lines->n_columns; j++) {
        if (number[j] == 0)
            continue;
        double middle = gsai_design_middle(lines, j);
        bool shifted = lines->count[j] == lines->n_rows;
        bent->id[n] = lines->id[j];
        bent->count[n] = lines->count[j];
        bent->unit[n] = lines->unit[j];
        bent->variance[n] = lines->variance[j];
        if (lines->sign)
            bent->sign[n] = lines->sign[j];
        bent->origin[n] = shifted ? middle : 0;
        bent->mean[n] = shifted ? 0 : (float)(middle / lines->unit[j]);
        number[j] = (uint32_t)n++;
    }
    bent->n_columns = n;
}

gsa_status gsai_design_bend(gsai_design *bent, const gsai_design *lines, const gsai_bends *bends,
                            const gsai_waiting *rows, gsai_arena *arena, gsa_error *error)
{
    size_t n_pairs = bends->n - bends->n_curves, n = lines->n_columns + bends->n_parts,
           n_entries = 2 * lines->start[lines->n_rows] + 4 * n_pairs * lines->n_rows,
           shift = bends->n_knots - bends->n_parts;
    float *value = gsai_arena_take(arena, bends->n_sides, sizeof *value);
    uint32_t *side_of = gsai_arena_take(arena, lines->n_columns, sizeof *side_of);
    uint32_t *number = gsai_arena_take(arena, lines->n_columns, sizeof *number);
    *bent = *lines;
    bent->bends = bends;
    bent->width = 0;
    bent->dense = NULL;
    bent->id = gsai_arena_take(arena, n, sizeof *bent->id);
    bent->count = gsai_arena_take(arena, n, sizeof *bent->count);
    bent->origin = gsai_arena_take(arena, n, sizeof *bent->origin);
    bent->unit = gsai_arena_take(arena, n, sizeof *bent->unit);
    bent->variance = gsai_arena_take(arena, n, sizeof *bent->variance);
    bent->mean = gsai_arena_take(arena, n, sizeof *bent->mean);
    bent->sign = lines->sign ? gsai_arena_take(arena, n, sizeof *bent->sign) : NULL;
    bent->start = gsai_arena_take(arena, lines->n_rows + 1, sizeof *bent->start);
    bent->column = gsai_arena_take(arena, n_entries, sizeof *bent->column);
    bent->value = gsai_arena_take(arena, n_entries, sizeof *bent->value);
    const gsai_bend **bend_of = gsai_arena_take(arena, lines->n_columns, sizeof *bend_of);
    GSA_TRY(gsai_arena_check(arena, "columns that bend", error));
    for (size_t j = 1; j < lines->n_columns; j++)
        number[j] = 1;
    for (size_t s = 0; s < bends->n_sides; s++)
        side_of[bends->side[s].column] = (uint32_t)s + 1;
    for (size_t b = 0; b < bends->n_curves; b++) {
        bend_of[bends->at[b].column] = &bends->at[b];
        number[bends->at[b].column] = 0;
    }
    bent->count[0] = (uint32_t)lines->n_rows;
    bent->unit[0] = bent->variance[0] = 1;
    for (size_t b = 0; b < bends->n; b++)
        for (size_t p = 0; p < bends->at[b].n_parts; p++) {
            size_t j = 1 + bends->at[b].first_part + p;
            bent->id[j] = bends->at[b].feature;
            bent->count[j] = (uint32_t)lines->n_rows;
            bent->unit[j] = 1;
            bent->variance[j] = bends->at[b].variance[p];
            bent->mean[j] = bends->at[b].mean[p];
            if (lines->sign && b < bends->n_curves)
                bent->sign[j] = lines->sign[bends->at[b].column];
        }
    take_lines(bent, lines, number);
    size_t to = 0;
    for (size_t i = 0; i < lines->n_rows; i++) {
        if (i % 256 == 0 && gsai_should_stop(&lines->env))
            return gsai_fail(error, GSA_STOPPED, "stopped on request");
        const gsai_row row = gsai_waiting_at(rows, lines->row[i]).row;
        memset(value, 0, bends->n_sides * sizeof *value);
        for (size_t t = 0; t < row.n; t++) {
            float x = gsai_row_value(&row, t);
            size_t column = lines->column[lines->start[i] + t], at = number[column];
            if (side_of[column] > 0)
                value[side_of[column] - 1] = x;
            const gsai_bend *bend = bend_of[column];
            if (!bend) {
                bent->column[to] = (uint32_t)(at + shift);
                bent->value[to++] = (float)(((double)x - bent->origin[at]) / bent->unit[at]);
                continue;
            }
            const float *knot = bends->knot + bend->first_knot;
            gsai_place place = gsai_place_of(knot, bend->n_knots, x);
            for (uint32_t k = 0; k < 2; k++) {
                float share = k == 0 ? 1 - place.share : place.share;
                bent->column[to] = 1 + bend->first_knot + place.low + k;
                bent->value[to] = share;
                to += share != 0 && knot[place.low + k] != 0;
            }
        }
        for (size_t p = 0; p < n_pairs; p++) {
            const gsai_pair *pair = &bends->pair[p];
            const float both[2] = {value[pair->side[0]], value[pair->side[1]]};
            size_t n_nodes = gsai_pair_nodes(bends, pair, both, bent->column + to, bent->value + to);
            for (size_t k = 0; k < n_nodes; k++)
                bent->column[to++] += 1 + bends->at[bends->n_curves + p].first_knot;
        }
        bent->start[i + 1] = to;
    }
    return GSA_OK;
}

bool gsai_design_has(const gsai_design *design, size_t column)
{
    const gsai_bends *bends = design->bends;
    for (size_t b = bends ? bends->n_curves : 0; bends && b < bends->n; b++)
        if (column > bends->at[b].first_part && column <= bends->at[b].first_part + bends->at[b].n_parts)
            return bends->pair[b - bends->n_curves].found & GSAI_FOUND_BY_ALL;
    return true;
}

double gsai_design_value(const gsai_design *design, size_t row, size_t column)
{
    double value = 0;
    size_t parts = gsai_design_parts(design), shift = gsai_design_shift(design);
    if (column < parts) { /* a value is the mean of the knots around it */
        for (size_t t = design->start[row]; t < design->start[row + 1]; t++)
            for (size_t b = 0; b < design->bends->n_curves; b++) {
                const gsai_bend *bend = &design->bends->at[b];
                size_t knot = design->column[t] - (size_t)1;
                if (bend->feature == design->id[column] && knot >= bend->first_knot &&
                    knot < bend->first_knot + bend->n_knots)
                    value += (double)design->value[t] * (double)design->bends->knot[knot];
            }
        return value;
    }
    if (design->width > 0)
        value = (double)design->dense[row * design->width + column - 1];
    for (size_t t = design->start[row]; design->width == 0 && t < design->start[row + 1]; t++)
        value += design->column[t] == column + shift ? (double)design->value[t] : 0;
    return design->origin[column] + value * design->unit[column];
}
