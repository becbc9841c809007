/* Rows with planted weights.
 *
 *   1 Row r follows from (seed, r) alone, a weight from (seed, feature, class) alone: nothing is stored, any row can be
 *     made without the rows before it.
 *   2 Same bits on every machine: integers, and doubles through + - * / sqrt and our own exp and log.
 *   3 Noise draws after everything else, so that a row has the features, and unless it is one of the noisy the label,
 *     that it has without noise.
 *
 * The margin of class c is b_c + the sum of w(feature, c) over the row's features. Weights are uniform in [-a, a] with
 * a = 2 sqrt(3 / nnz), so that the sum has standard deviation 2 whatever nnz; b_c is uniform in [-1/2, 1/2]. Of two
 * classes only class 1 has weights. */
#include "data/reader.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/real.h"
#include "base/rng.h"

#include <inttypes.h>
#include <math.h>

#define MOST_CLASSES 1000
#define MOST_SKEW 10
#define MOST_NOISE 1e6 /* of a real target */
#define DEFAULT_NOISE 0.3

/* Streams of random numbers that must not meet. */
enum { STREAM_ROWS = 1, STREAM_WEIGHTS = 2, STREAM_INTERCEPTS = 3 };

typedef struct generated {
    gsa_reader head;
    gsai_arena memory; /* of the arrays below */
    gsa_generator what;
    uint64_t at; /* the next row */
    size_t batch_rows;
    double weight_scale; /* a */
    uint64_t weight_key;
    double growth[2]; /* what skewed draws need of the slices' width, of the narrow slices and of those one wider */
    int64_t *row_start;
    uint32_t *index;
    double *label;
    gsa_place *place;
    double *margin;    /* one a class */
    double *intercept; /* one a class */
} generated;

static void close_generated(gsa_reader *head)
{
    generated *reader = (generated *)head;
    gsai_env env = head->env;
    gsai_arena_release(&reader->memory);
    gsai_free(&env, reader);
}

static uint64_t n_margins(const generated *reader)
{
    return reader->what.n_classes > 2 ? reader->what.n_classes : 1;
}

/* A place below `width` by the inverse of the distribution of x^-S on [1, width + 1): with a = 1 - S it is
 * (1 + u ((width + 1)^a - 1))^(1 / a), and (width + 1)^u where a is 0. `growth` is what u is multiplied by. */
static uint64_t draw_skewed(double skew, double growth, uint64_t width, gsai_rng *rng)
{
    double u = gsai_rng_unit(rng) * growth;
    uint64_t place = (uint64_t)(gsai_exp(skew == 1 ? u : gsai_log1p(u) / (1 - skew)) - 1);
    return place < width ? place : width - 1; /* rounding */
}

/* One feature in each slice [j F / K, (j + 1) F / K): the bounds advance by F / K, remainders carried. */
static void draw_features(const generated *reader, gsai_rng *rng, uint32_t *index)
{
    const gsa_generator *what = &reader->what;
    uint64_t step = what->n_features / what->nnz, remainder = what->n_features % what->nnz;
    uint64_t from = 0, carried = 0;
    for (uint64_t j = 0; j < what->nnz; j++) {
        uint64_t to = from + step;
        carried += remainder;
        if (carried >= what->nnz) {
            carried -= what->nnz;
            to++;
        }
        uint32_t width = (uint32_t)(to - from); /* which spares gsai_rng_below half of its work */
        index[j] = (uint32_t)(from + (what->skew > 0 ? draw_skewed(what->skew, reader->growth[width - step], width, rng)
                                                     : gsai_rng_below(rng, width)));
        from = to;
    }
}

static double draw_class(double *margin, uint64_t n_classes, gsai_rng *rng)
{
    double highest = margin[0], total = 0;
    for (uint64_t c = 1; c < n_classes; c++)
        highest = margin[c] > highest ? margin[c] : highest;
    for (uint64_t c = 0; c < n_classes; c++)
        total += margin[c] = gsai_exp(margin[c] - highest);
    double left = gsai_rng_unit(rng) * total;
    uint64_t drawn = 0;
    while (drawn + 1 < n_classes && left >= margin[drawn])
        left -= margin[drawn++];
    return (double)drawn;
}

static double draw_label(generated *reader, gsai_rng *rng)
{
    uint64_t n_classes = reader->what.n_classes;
    double noise = reader->what.noise, label;
    if (n_classes == 1) {
        /* Twelve uniform numbers less six: nearly Gaussian, variance 1, no libm. Cut to three decimals, for short text.
         */
        double drawn = -6, deviation = noise > 0 ? noise : DEFAULT_NOISE;
        for (int i = 0; i < 12; i++)
            drawn += gsai_rng_unit(rng);
        return floor((reader->margin[0] + deviation * drawn) * 1000 + 0.5) / 1000 + 0.0;
    }
    if (n_classes == 2)
        label = gsai_rng_unit(rng) * (1 + gsai_exp(-reader->margin[0])) < 1;
    else
        label = draw_class(reader->margin, n_classes, rng);
    bool is_noisy = noise > 0 && gsai_rng_unit(rng) < noise;
    return is_noisy ? (double)gsai_rng_below(rng, n_classes) : label;
}

static gsa_status next_generated(gsa_reader *head, gsa_batch *out, gsa_error *error)
{
    generated *reader = (generated *)head;
    if (gsai_should_stop(&head->env))
        return gsai_fail(error, GSA_STOPPED, "generating rows was stopped on request");
    uint64_t left = reader->what.n_rows - reader->at;
    if (left == 0)
        return GSA_END;
    size_t n = left < reader->batch_rows ? (size_t)left : reader->batch_rows;
    for (size_t r = 0; r < n; r++) {
        gsai_rng rng = gsai_rng_of(reader->what.seed, reader->at + r, STREAM_ROWS);
        uint32_t *index = reader->index + (size_t)reader->row_start[r];
        draw_features(reader, &rng, index);
        for (uint64_t c = 0; c < n_margins(reader); c++) {
            double sum = reader->intercept[c];
            for (uint64_t j = 0; j < reader->what.nnz; j++) {
                gsai_rng weight = {gsai_mix(gsai_mix(reader->weight_key ^ index[j]) ^ c), 0};
                sum += (2 * gsai_rng_unit(&weight) - 1) * reader->weight_scale;
            }
            reader->margin[c] = sum;
        }
        reader->label[r] = draw_label(reader, &rng);
        reader->place[r] = (gsa_place){.line = reader->at + r + 1, .byte = UINT64_MAX};
    }
    reader->at += n;
    *out = (gsa_batch){.n_rows = n,
                       .row_start = reader->row_start,
                       .index = reader->index,
                       .label = reader->label,
                       .place = reader->place};
    return GSA_OK;
}

static gsa_status rewind_generated(gsa_reader *head, gsa_error *error)
{
    (void)error;
    ((generated *)head)->at = 0;
    return GSA_OK;
}

static const char *file_generated(const gsa_reader *head, uint32_t file)
{
    (void)head;
    return file == 0 ? "generated rows" : NULL;
}

static gsa_status check(const gsa_generator *what, const gsai_env *env, gsa_error *error)
{
    const uint64_t most_features = (uint64_t)GSA_MAX_ID + 1;
    if (what->n_features < 1 || what->n_features > most_features)
        return gsai_fail(error, GSA_ARGUMENT, "%" PRIu64 " features: expected 1 to %" PRIu64, what->n_features,
                         most_features);
    if (what->nnz < 1 || what->nnz > what->n_features)
        return gsai_fail(error, GSA_ARGUMENT,
                         "%" PRIu64 " non-zeros a row: expected 1 to the number of features, %" PRIu64, what->nnz,
                         what->n_features);
    if (what->n_classes < 1 || what->n_classes > MOST_CLASSES)
        return gsai_fail(error, GSA_ARGUMENT, "%" PRIu64 " classes: expected 1 (a real target) to %d", what->n_classes,
                         MOST_CLASSES);
    if (!(what->skew >= 0 && what->skew <= MOST_SKEW))
        return gsai_fail(error, GSA_ARGUMENT, "a skew of %g: expected 0 (none) to %d", what->skew, MOST_SKEW);
    double most_noise = what->n_classes == 1 ? MOST_NOISE : 1;
    if (!(what->noise >= 0 && what->noise <= most_noise))
        return gsai_fail(error, GSA_ARGUMENT, "a noise of %g: expected 0 to %g", what->noise, most_noise);
    if (what->nnz > gsai_memory_limit(env) / sizeof(uint32_t))
        return gsai_fail_param(error, "memory_limit", GSA_LIMIT,
                               "a row of %" PRIu64 " non-zeros is over the memory limit", what->nnz);
    return GSA_OK;
}

gsa_status gsa_reader_open_generated(const gsa_generator *what, const gsa_memory *memory, const gsa_call *call,
                                     gsa_reader **out, gsa_error *error)
{
    gsai_env resolved;
    GSA_TRY(gsai_env_take(&resolved, memory, call, error));
    static const gsai_reader_kind kind = {
        .next = next_generated, .rewind = rewind_generated, .close = close_generated, .file = file_generated};
    gsa_generator asked;
    GSA_TRY(gsai_take(&asked, what, error));
    what = &asked;
    GSA_TRY(check(what, &resolved, error));
    generated *reader = gsai_alloc_zeroed(&resolved, 1, sizeof *reader);
    GSAI_TRY_MEMORY(reader, &resolved, error, "no memory for a generator of rows");
    reader->head = (gsa_reader){.kind = &kind, .env = resolved};
    reader->what = *what;
    uint64_t batch_rows = GSAI_BATCH_VALUES / what->nnz;
    reader->batch_rows = batch_rows < 1 ? 1 : batch_rows > GSAI_BATCH_ROWS ? GSAI_BATCH_ROWS : (size_t)batch_rows;
    reader->weight_scale = 2 * sqrt(3 / (double)what->nnz);
    reader->weight_key = gsai_mix(gsai_rng_of(what->seed, 0, STREAM_WEIGHTS).key);
    for (uint64_t i = 0; i < 2; i++) {
        double log_width = gsai_log((double)(what->n_features / what->nnz + i) + 1);
        reader->growth[i] = what->skew == 1 ? log_width : gsai_expm1((1 - what->skew) * log_width);
    }
    size_t n = reader->batch_rows, n_values = 0, n_of = (size_t)n_margins(reader);
    gsai_arena *arena = &reader->memory;
    arena->env = &reader->head.env;
    arena->failed = !gsai_multiply(n, (size_t)what->nnz, &n_values);
    reader->row_start = gsai_arena_take(arena, n + 1, sizeof *reader->row_start);
    reader->index = gsai_arena_take(arena, n_values, sizeof *reader->index);
    reader->label = gsai_arena_take(arena, n, sizeof *reader->label);
    reader->place = gsai_arena_take(arena, n, sizeof *reader->place);
    reader->margin = gsai_arena_take(arena, n_of, sizeof *reader->margin);
    reader->intercept = gsai_arena_take(arena, n_of, sizeof *reader->intercept);
    if (arena->failed) {
        close_generated(&reader->head);
        return gsai_fail_memory(&resolved, error, "no memory for rows of %" PRIu64 " non-zeros", what->nnz);
    }
    for (size_t r = 0; r <= n; r++)
        reader->row_start[r] = (int64_t)(r * (size_t)what->nnz);
    for (size_t c = 0; c < n_of; c++) {
        gsai_rng rng = gsai_rng_of(what->seed, c, STREAM_INTERCEPTS);
        reader->intercept[c] = gsai_rng_unit(&rng) - 0.5;
    }
    *out = &reader->head;
    return GSA_OK;
}
