/* Slices: what copies have learned of some features, in bytes.
 *
 *   1 A change has a record for every feature of its range that the copy has met since the base, in their order: the
 *     feature, how often it came, the copy's mass and the base's, its presence (merge_slots.h), and the changes times
 *     the mass.
 *   2 United, there is a record for every feature that some copy has met: how often, the new mass, its
 *     presence in all and in one, and the changes as the table of a merge has them.
 *   3 Everything is in words of eight bytes, little-endian: a head (kind, outputs, first feature, features, copies),
 *     the records, and how many these are. */
#include "core/slices.h"

#include "core/change.h"
#include "core/merge.h"

#include "base/byte_order.h"
#include "base/error.h"
#include "base/memory.h"

#include <string.h>

#define HEAD_WORDS 5u
#define BUFFER_WORDS 8192u

#define CHANGE UINT64_C(0x31474e4843415347) /* "GSACHNG1" */
#define UNITED UINT64_C(0x3154494e55415347) /* "GSAUNIT1" */

static size_t record_words(uint64_t kind, size_t n_outputs)
{
    return kind == CHANGE ? 5 + 2 * n_outputs : 4 + n_outputs;
}

static uint64_t word_at(const unsigned char *bytes, size_t word)
{
    return gsa__load_u64(bytes + 8 * word);
}

static double real_of(uint64_t word)
{
    double number;
    memcpy(&number, &word, sizeof number);
    return number;
}

static uint64_t word_of(double number)
{
    uint64_t word;
    memcpy(&word, &number, sizeof word);
    return word;
}

static uint64_t word_of_floats(double low, double high)
{
    float floats[2] = {(float)low, (float)high};
    uint32_t bits[2];
    memcpy(bits, floats, sizeof bits);
    return (uint64_t)bits[1] << 32 | bits[0];
}

static void floats_of(uint64_t word, float *low, float *high)
{
    uint32_t bits[2] = {(uint32_t)word, (uint32_t)(word >> 32)};
    memcpy(low, &bits[0], sizeof *low);
    memcpy(high, &bits[1], sizeof *high);
}

/* ---- out --------------------------------------------------------------------------------------------------------- */

typedef struct sink {
    gsa_write_fn write;
    void *ctx;
    bool failed;
    size_t n;
    unsigned char buffer[8 * BUFFER_WORDS];
} sink;

static void flush(sink *to)
{
    to->failed = to->failed || (to->n > 0 && to->write(to->ctx, to->buffer, 8 * to->n) != 0);
    to->n = 0;
}

static void put(sink *to, uint64_t word)
{
    gsa__store_u64(word, to->buffer + 8 * to->n);
    if (++to->n == BUFFER_WORDS)
        flush(to);
}

static void put_head(sink *to, uint64_t kind, size_t n_outputs, const gsa__slice *of)
{
    const uint64_t head[HEAD_WORDS] = {kind, n_outputs, of->first, of->n_features, of->n_copies};
    for (size_t i = 0; i < HEAD_WORDS; i++)
        put(to, head[i]);
}

static gsa_status close_sink(sink *to, gsa_error *error)
{
    flush(to);
    return to->failed ? gsa__fail(error, GSA_IO, "the bytes of a slice could not be written") : GSA_OK;
}

/* ---- changes ----------------------------------------------------------------------------------------------------- */

static bool has_met(const gsa_state *copy, const gsa_state *base, size_t slot)
{
    return gsa__state_count(copy, slot) > gsa__state_count(base, slot);
}

static void put_change(const gsa__merging *merging, size_t slot, uint64_t feature, double *sum, sink *to)
{
    const gsa_state *copy = merging->states[0], *base = merging->base;
    size_t n_outputs = copy->table.n_outputs;
    gsa__merging_change(merging, 0, slot, sum);
    put(to, feature);
    put(to, gsa__state_count(copy, slot) - gsa__state_count(base, slot));
    put(to, word_of(sum[2 * n_outputs]));
    put(to, word_of(gsa__state_mass(base, slot)));
    put(to, word_of(sum[2 * n_outputs + 1]));
    for (size_t k = 0; k < 2 * n_outputs; k++)
        put(to, word_of(sum[k]));
}

/* A copy of the base with the same labels: what it is merged into has the same outputs. */
static gsa_status check_copy(const gsa_state *copy, const gsa_state *base, gsa_error *error)
{
    bool same = base && copy->loss == base->loss && copy->labels.n == base->labels.n && copy->loss != GSA__UNDECIDED;
    for (size_t k = 0; same && k < copy->labels.n; k++)
        same = strcmp(copy->labels.at[k].text, base->labels.at[k].text) == 0;
    if (!same)
        return gsa__fail(error, GSA_CONFLICT,
                         "slices are of copies of a base that knows all labels: prepare the base with all of them");
    return gsa__state_continues(copy, base) && !copy->contest && !base->contest
               ? GSA_OK
               : gsa__fail(error, GSA_CONFLICT, "slices are of copies that go on from the base that is given");
}

static gsa_status put_changes(gsa__merging *merging, uint64_t first, uint64_t n_features, gsa_write_fn write, void *ctx,
                              gsa_error *error)
{
    const gsa_state *copy = merging->states[0], *base = merging->base;
    size_t n_outputs = copy->table.n_outputs, end = copy->table.n_slots;
    size_t from = first + 1 < end ? (size_t)first + 1 : end,
           to_slot = n_features < end - from ? from + (size_t)n_features : end;
    uint64_t n = 0;
    sink *to = gsa__alloc_zeroed(&copy->env, 1, sizeof *to);
    if (!to)
        return gsa__fail(error, GSA_MEMORY, "no memory to write a slice");
    to->write = write;
    to->ctx = ctx;
    put_head(to, CHANGE, n_outputs, &(gsa__slice){.first = first, .n_features = n_features, .n_copies = 1});
    for (size_t slot = from; slot < to_slot; slot++)
        if (has_met(copy, base, slot)) {
            put_change(merging, slot, slot - from, merging->sums, to);
            n++;
        }
    put(to, n);
    gsa_status status = close_sink(to, error);
    gsa__free(&copy->env, to);
    return status;
}

gsa_status gsa_state_write_slice(const gsa_state *copy, const gsa_state *base, uint64_t first, uint64_t n_features,
                                 gsa_write_fn write, void *ctx, gsa_error *error)
{
    gsa_status status = check_copy(copy, base, error);
    if (status != GSA_OK)
        return status;
    if (n_features == 0 || n_features > UINT32_MAX || first > GSA_MAX_ID)
        return gsa__fail(error, GSA_ARGUMENT, "a slice has 1 to 2^32 - 1 features, the first at most 2^32 - 3");
    gsa_state *frame = NULL; /* has the outputs, and a table of the intercept only */
    gsa__merging merging = {.states = &copy, .n_states = 1, .base = base, .goes_on = true};
    status = gsa__merge_frame(&merging, 1, &copy->env, &frame, error);
    if (status == GSA_OK)
        status = gsa__merging_begin(&merging, error);
    if (status == GSA_OK)
        status = put_changes(&merging, first, n_features, write, ctx, error);
    if (frame)
        gsa__merging_end(&merging);
    gsa_state_free(frame);
    return status;
}

/* ---- in ---------------------------------------------------------------------------------------------------------- */

static gsa_status open_slice(uint64_t kind, const void *bytes, size_t size, size_t *n_outputs, gsa__slice *out,
                             gsa_error *error)
{
    const unsigned char *at = bytes;
    bool is_slice =
        size >= 8 * (HEAD_WORDS + 1) && word_at(at, 0) == kind && word_at(at, 1) >= 1 && word_at(at, 1) <= UINT32_MAX;
    if (is_slice) {
        *n_outputs = (size_t)word_at(at, 1);
        size_t record = 8 * record_words(kind, *n_outputs), rest = size - 8 * (HEAD_WORDS + 1);
        *out = (gsa__slice){at + 8 * HEAD_WORDS, word_at(at, 2), word_at(at, 3), word_at(at, 4), rest / record};
        is_slice = rest % record == 0 && gsa__load_u64(at + size - 8) == out->n_records && out->first <= GSA_MAX_ID &&
                   out->n_features <= UINT32_MAX && (kind == UNITED || out->n_copies == 1);
        uint64_t after = 0; /* features ascend, and are in the range */
        for (size_t i = 0; is_slice && i < out->n_records; i++) {
            uint64_t feature = word_at(out->bytes + i * record, 0);
            is_slice = feature >= after && feature < out->n_features && out->first + feature <= GSA_MAX_ID;
            after = feature + 1;
        }
    }
    return is_slice ? GSA_OK : gsa__fail(error, GSA_FORMAT, "these bytes are not a slice of changes, or a damaged one");
}

/* ---- uniting ----------------------------------------------------------------------------------------------------- */

typedef struct union_of {
    gsa__slice *slice;        /* of each copy */
    const unsigned char **at; /* its next record */
    uint64_t *left;           /* records from there on */
    size_t n, n_outputs;
    unsigned char *is_met;      /* a bit a feature: whether some copy has a record of it */
    uint64_t n_features, n_met; /* up to the last of them; how many of these */
    double *sums, *masses;      /* [n x GSA__SUMS(outputs)], [n]; scratch */
} union_of;

static bool comes_next(const union_of *all, size_t s, uint64_t feature)
{
    return all->left[s] > 0 && word_at(all->at[s], 0) == feature;
}

static void unite_feature(union_of *all, uint64_t feature, sink *to)
{
    size_t n_outputs = all->n_outputs, width = GSA__SUMS(n_outputs), size = 8 * record_words(CHANGE, n_outputs);
    uint64_t count = 0;
    for (size_t s = 0; s < all->n; s++) {
        double *sum = all->sums + s * width;
        memset(sum, 0, width * sizeof *sum);
        all->masses[s] = 0;
        if (!comes_next(all, s, feature))
            continue;
        for (size_t k = 0; k < 2 * n_outputs; k++)
            sum[k] = real_of(word_at(all->at[s], 5 + k));
        double c = real_of(word_at(all->at[s], 2)), presence = real_of(word_at(all->at[s], 4));
        sum[2 * n_outputs] = c;
        sum[2 * n_outputs + 1] = presence;
        sum[2 * n_outputs + 2] = presence * presence;
        all->masses[s] = c - real_of(word_at(all->at[s], 3));
        count += word_at(all->at[s], 1);
        all->at[s] += size;
        all->left[s]--;
    }
    gsa__add_up(all->sums, all->n, width);
    gsa__add_up(all->masses, all->n, 1);
    double c = all->sums[2 * n_outputs];
    put(to, feature);
    put(to, count);
    put(to, word_of(all->masses[0]));
    gsa__presence met = gsa__presence_of(all->sums, n_outputs);
    put(to, word_of_floats((double)met.all, (double)met.one));
    for (size_t k = 0; k < n_outputs; k++)
        put(to, c > 0 ? word_of_floats(all->sums[k] / c, all->sums[n_outputs + k] / c) : 0);
}

static gsa_status note_met(union_of *all, const gsa_env *env, gsa_error *error)
{
    size_t size = 8 * record_words(CHANGE, all->n_outputs);
    for (size_t s = 0; s < all->n; s++)
        if (all->left[s] > 0) {
            uint64_t last = word_at(all->at[s] + (size_t)(all->left[s] - 1) * size, 0);
            all->n_features = last + 1 > all->n_features ? last + 1 : all->n_features;
        }
    all->is_met = gsa__alloc_zeroed(env, (size_t)(all->n_features / 8 + 1), 1);
    if (!all->is_met)
        return gsa__fail(error, GSA_MEMORY, "no memory to unite %zu slices", all->n);
    for (size_t s = 0; s < all->n; s++)
        for (size_t i = 0; i < all->left[s]; i++) {
            uint64_t feature = word_at(all->at[s] + i * size, 0);
            unsigned char bit = (unsigned char)(1u << feature % 8), *at = &all->is_met[feature / 8];
            all->n_met += !(*at & bit);
            *at |= bit;
        }
    return GSA_OK;
}

static gsa_status open_all(union_of *all, const void *const *slices, const size_t *sizes, gsa_error *error)
{
    gsa_status status = GSA_OK;
    for (size_t s = 0; s < all->n && status == GSA_OK; s++) {
        size_t n_outputs = 0;
        status = open_slice(CHANGE, slices[s], sizes[s], &n_outputs, &all->slice[s], error);
        bool same = s == 0 || (n_outputs == all->n_outputs && all->slice[s].first == all->slice[0].first &&
                               all->slice[s].n_features == all->slice[0].n_features);
        if (status == GSA_OK && !same)
            status = gsa__fail(error, GSA_CONFLICT, "slices 1 and %zu are not of the same features", s + 1);
        all->n_outputs = n_outputs;
        all->at[s] = all->slice[s].bytes;
        all->left[s] = all->slice[s].n_records;
    }
    return status;
}

static gsa_status unite_all(union_of *all, const gsa_env *env, gsa_write_fn write, void *ctx, gsa_error *error)
{
    size_t n_sums;
    sink *to = gsa__alloc_zeroed(env, 1, sizeof *to);
    bool fits = gsa__multiply(all->n, GSA__SUMS(all->n_outputs), &n_sums);
    all->sums = fits ? gsa__alloc(env, n_sums, sizeof *all->sums) : NULL;
    all->masses = gsa__alloc(env, all->n, sizeof *all->masses);
    gsa_status status = to && all->sums && all->masses
                            ? note_met(all, env, error)
                            : gsa__fail(error, GSA_MEMORY, "no memory to unite %zu slices", all->n);
    if (status == GSA_OK) {
        to->write = write;
        to->ctx = ctx;
        const gsa__slice *of = all->slice;
        put_head(to, UNITED, all->n_outputs, &(gsa__slice){NULL, of->first, of->n_features, all->n, 0});
        for (uint64_t feature = 0; feature < all->n_features; feature++)
            if (all->is_met[feature / 8] >> feature % 8 & 1)
                unite_feature(all, feature, to);
        put(to, all->n_met);
        status = close_sink(to, error);
    }
    gsa__free(env, to);
    return status;
}

gsa_status gsa_slices_unite(const void *const *slices, const size_t *sizes, size_t n_copies, const gsa_env *env,
                            gsa_write_fn write, void *ctx, gsa_error *error)
{
    gsa_env resolved = gsa__env_resolve(env);
    union_of all = {.n = n_copies};
    if (n_copies == 0)
        return gsa__fail(error, GSA_ARGUMENT, "no slices to unite");
    all.slice = gsa__alloc(&resolved, n_copies, sizeof *all.slice);
    all.at = gsa__alloc(&resolved, n_copies, sizeof *all.at);
    all.left = gsa__alloc(&resolved, n_copies, sizeof *all.left);
    gsa_status status = all.slice && all.at && all.left
                            ? open_all(&all, slices, sizes, error)
                            : gsa__fail(error, GSA_MEMORY, "no memory to unite %zu slices", n_copies);
    if (status == GSA_OK)
        status = unite_all(&all, &resolved, write, ctx, error);
    gsa__free(&resolved, all.slice);
    gsa__free(&resolved, all.at);
    gsa__free(&resolved, all.left);
    gsa__free(&resolved, all.sums);
    gsa__free(&resolved, all.masses);
    gsa__free(&resolved, all.is_met);
    return status;
}

/* ---- joining ----------------------------------------------------------------------------------------------------- */

uint64_t gsa__slice_end(const gsa__slice *slice, size_t n_outputs)
{
    size_t size = 8 * record_words(UNITED, n_outputs);
    return slice->n_records > 0 ? slice->first + word_at(slice->bytes + (size_t)(slice->n_records - 1) * size, 0) + 1
                                : 0;
}

static void take_record(gsa__merging *merging, const gsa__slice *slice, const unsigned char *record)
{
    gsa__table *table = &merging->into->table;
    size_t slot = (size_t)(slice->first + word_at(record, 0)) + 1;
    gsa__cell *weight = gsa__table_slot(table, slot), *average = weight + gsa__table_average(table);
    floats_of(word_at(record, 3), &merging->met[slot].all, &merging->met[slot].one);
    for (size_t k = 0; k < table->n_outputs; k++)
        floats_of(word_at(record, 4 + k), &weight[k].f, &average[k].f);
    gsa__merging_enter(merging->into, slot, gsa__state_mass(merging->base, slot) + real_of(word_at(record, 2)),
                       gsa__state_count(merging->base, slot) + word_at(record, 1));
}

void gsa__slices_take(gsa__merging *merging)
{
    size_t size = 8 * record_words(UNITED, merging->into->table.n_outputs);
    for (size_t slot = 1; slot < merging->base->table.n_slots; slot++)
        gsa__merging_enter(merging->into, slot, gsa__state_mass(merging->base, slot),
                           gsa__state_count(merging->base, slot));
    for (size_t i = 0; i < merging->n_slices; i++)
        for (size_t r = 0; r < merging->slices[i].n_records; r++)
            take_record(merging, &merging->slices[i], merging->slices[i].bytes + r * size);
}

/* Slices of all copies that follow one another from the first feature on: none is there twice, and none is missing but
 * for the last ones, which nobody can tell. */
static gsa_status open_united(const gsa__merging *merging, const void *const *united, const size_t *sizes,
                              gsa__slice *out, gsa_error *error)
{
    gsa_status status = GSA_OK;
    for (size_t i = 0; i < merging->n_slices && status == GSA_OK; i++) {
        size_t n_outputs = 0;
        uint64_t first = i == 0 ? 0 : out[i - 1].first + out[i - 1].n_features;
        status = open_slice(UNITED, united[i], sizes[i], &n_outputs, &out[i], error);
        if (status == GSA_OK && out[i].first != first)
            status = gsa__fail(error, GSA_CONFLICT, "slice %zu begins with feature %llu, expected %llu", i + 1,
                               (unsigned long long)out[i].first, (unsigned long long)first);
        else if (status == GSA_OK &&
                 (n_outputs != merging->base->table.n_outputs || out[i].n_copies != merging->n_states))
            status = gsa__fail(
                error, GSA_CONFLICT, "slice %zu is of %llu copies with %zu outputs, expected %zu with %zu", i + 1,
                (unsigned long long)out[i].n_copies, n_outputs, merging->n_states, merging->base->table.n_outputs);
    }
    return status;
}

gsa_status gsa_state_merge_slices(const gsa_state *const *heads, size_t n_copies, const gsa_state *base,
                                  const void *const *united, const size_t *sizes, size_t n_slices, const gsa_env *env,
                                  gsa_state **out, gsa_error *error)
{
    gsa_env resolved = gsa__env_resolve(env);
    if (n_copies < 2 || n_slices == 0)
        return gsa__fail(error, GSA_ARGUMENT, "a merge of slices has two copies or more, and a slice: %zu and %zu",
                         n_copies, n_slices);
    gsa_status status = GSA_OK;
    for (size_t s = 0; s < n_copies && status == GSA_OK; s++)
        status = check_copy(heads[s], base, error);
    if (status == GSA_OK)
        status = gsa__merge_check_pairs(heads, n_copies, base, error);
    gsa__slice *slices = gsa__alloc(&resolved, n_slices, sizeof *slices);
    gsa__merging merging = {
        .states = heads, .n_states = n_copies, .base = base, .slices = slices, .n_slices = n_slices};
    if (status == GSA_OK)
        status = slices ? open_united(&merging, united, sizes, slices, error)
                        : gsa__fail(error, GSA_MEMORY, "no memory for %zu slices", n_slices);
    if (status == GSA_OK)
        status = gsa__merge_run(&merging, env, out, error);
    gsa__free(&resolved, slices);
    return status;
}
