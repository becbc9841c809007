/* Merging in parts: heads and deltas, written, united and joined, are the merge of the states themselves, bit for bit.
 */
#include "../learn/bytes.h"

#include "learn/inside.h"
#include "learn/state_slots.h"
#include "support/failing_memory.h"

enum { MAX_COPIES = 9, MAX_DELTAS = 7, FEATURES = 60, MAX_SPREAD = 17 };

static gsa_state *base_from(uint64_t seed, unsigned n_classes, const char *name, const char *value)
{
    rows *r = rows_random(seed, 400, 40, n_classes); /* copies see features that the base has not seen */
    gsa_batch batch = rows_batch(r);
    gsa_state *base = state_with("method", "auto", "scale", "standard", name, value, NULL);
    prepare(base, &batch);
    learn(base, &batch);
    close_group(base);
    free(r);
    return base;
}

static gsa_state *base_of(unsigned n_classes, const char *name, const char *value)
{
    return base_from(1, n_classes, name, value);
}

static gsa_state *copy_of(const gsa_state *base, size_t n_copies, size_t number, unsigned n_classes)
{
    gsa_state *copy = forked(base, n_copies);
    learn_random(copy, 10 + number, number == 1 ? 3 : 100 + 10 * number, FEATURES, n_classes);
    close_group(copy);
    return copy;
}

/* One copy after the other, as if each were in a process of its own. */
typedef struct parts {
    gsa_state *head[MAX_COPIES];
    bytes delta[MAX_DELTAS][MAX_COPIES], united[MAX_DELTAS];
    size_t n_copies, n_deltas;
} parts;

static uint64_t delta_size(const parts *of)
{
    return (FEATURES + of->n_deltas - 1) / of->n_deltas;
}

static void cut(parts *of, gsa_state *const *copies, const gsa_state *base)
{
    gsa_error error = {0};
    for (size_t c = 0; c < of->n_copies; c++) {
        bytes head = {0};
        must_be_ok(gsa_state_write_delta_header(copies[c], base, append, &head, &error), &error);
        must_be_ok(gsa_state_read(head.data, head.size, NULL, &of->head[c], &error), &error);
        free(head.data);
        for (size_t s = 0; s < of->n_deltas; s++)
            must_be_ok(gsa_state_write_delta((const gsa_state *const *)&copies[c], 1, c, base, s * delta_size(of),
                                             delta_size(of), append, &of->delta[s][c], &error),
                       &error);
    }
}

static void unite(parts *of)
{
    gsa_error error = {0};
    for (size_t s = 0; s < of->n_deltas; s++) {
        const void *data[MAX_COPIES];
        size_t sizes[MAX_COPIES];
        for (size_t c = 0; c < of->n_copies; c++) {
            data[c] = of->delta[s][c].data;
            sizes[c] = of->delta[s][c].size;
        }
        must_be_ok(gsa_deltas_reduce(data, sizes, of->n_copies, NULL, append, &of->united[s], &error), &error);
    }
}

static gsa_status join(const parts *of, const gsa_state *base, gsa_state **out, gsa_error *error)
{
    const void *data[MAX_DELTAS];
    size_t sizes[MAX_DELTAS];
    for (size_t s = 0; s < of->n_deltas; s++) {
        data[s] = of->united[s].data;
        sizes[s] = of->united[s].size;
    }
    return gsa_state_merge_deltas((const gsa_state *const *)of->head, of->n_copies, base, data, sizes, of->n_deltas,
                                  NULL, out, error);
}

static void free_parts(parts *of)
{
    for (size_t c = 0; c < of->n_copies; c++)
        gsa_state_free(of->head[c]);
    for (size_t s = 0; s < of->n_deltas; s++) {
        free(of->united[s].data);
        for (size_t c = 0; c < of->n_copies; c++)
            free(of->delta[s][c].data);
    }
}

static void slices_join_to_the_bits_of_a_merge(void **unused)
{
    (void)unused;
    static const char *const ways[][2] = {{"scale", "none"},   {"scale", "standard"},        {"holdout", "none"},
                                          {"average", "last"}, {"class_weight", "balanced"}, {"intercept", "off"}};
    for (unsigned n_classes = 0; n_classes < 4; n_classes += n_classes ? 1 : 2) /* 0: numbers */
        for (size_t way = 0; way < sizeof ways / sizeof *ways; way++)
            for (size_t n = 2; n <= MAX_COPIES; n += 1 + n / 3) {
                if (n_classes == 0 && way == 4)
                    continue; /* numbers have no classes */
                gsa_state *base = base_of(n_classes, ways[way][0], ways[way][1]), *copies[MAX_COPIES], *whole, *joined;
                gsa_error error = {0};
                for (size_t c = 0; c < n; c++)
                    copies[c] = copy_of(base, n, c, n_classes);
                whole = merged((const gsa_state *const *)copies, n, base);
                parts of = {.n_copies = n, .n_deltas = 1 + (n + way) % MAX_DELTAS};
                cut(&of, copies, base);
                unite(&of);
                must_be_ok(join(&of, base, &joined, &error), &error);
                same_states(whole, joined);
                free_parts(&of);
                for (size_t c = 0; c < n; c++)
                    gsa_state_free(copies[c]);
                free_states(base, whole, joined);
            }
}

enum { POOL = 600 };

/* Rows of a pool that come again and again; with weights of classes, sums of theirs are rounded. */
static void learn_from_pool(gsa_state *state, uint64_t seed, size_t n_rows, size_t n_known)
{
    rows *pool = rows_random(3, POOL, FEATURES, 2), *some = rows_new();
    gsai_rng rng = gsai_rng_of(seed, 1, 1);
    for (size_t i = 0; i < n_rows; i++) {
        size_t row = (size_t)gsai_rng_below(&rng, n_known);
        for (int64_t e = pool->row_start[row]; e < pool->row_start[row + 1]; e++)
            rows_entry(some, pool->index[e], pool->value[e]);
        rows_end(some, pool->label[row]);
        some->weight[i] = (float)(0.1 + 0.37 * (double)row);
    }
    gsa_batch batch = rows_batch(some);
    batch.weight = some->weight;
    learn(state, &batch);
    close_group(state);
    free(pool);
    free(some);
}

/* What the base and copies hold of a row, added up as they come; 0: none has it. */
static double seen_by_all(gsa_state *const *copies, size_t n, const gsa_state *base, const gsai_held_row *row)
{
    const gsai_held_row *before = gsai_sample_find(&base->sample, row);
    double seen = before ? before->seen : 0;
    for (size_t c = 0; c < n; c++) {
        const gsai_held_row *held = gsai_sample_find(&copies[c]->sample, row);
        if (held && held->seen != (before ? before->seen : 0))
            seen += held->seen - (before ? before->seen : 0);
    }
    return seen;
}

/* The rows below the lowest threshold that any copy holds, `most` of them, each with what all of them have added. */
static void assert_sample_unites(const gsa_state *all, gsa_state *const *copies, const gsa_state *base, size_t most)
{
    uint64_t below = UINT64_MAX;
    size_t n = 0;
    for (size_t c = 0; c < 4; c++)
        below = copies[c]->sample.below < below ? copies[c]->sample.below : below;
    assert_true(all->sample.below <= below && all->sample.n <= most);
    for (size_t c = 0; c < 4; c++)
        for (size_t k = 0; k < copies[c]->sample.n; k++) {
            const gsai_held_row *row = copies[c]->sample.at[k], *found = gsai_sample_find(&all->sample, row);
            assert_int_equal(found != NULL, row->hash < all->sample.below);
            double seen = seen_by_all(copies, 4, base, row);
            if (found)
                assert_memory_equal(&found->seen, &seen, sizeof seen);
            bool is_first = true;
            for (size_t before = 0; before < c; before++)
                is_first = is_first && !gsai_sample_find(&copies[before]->sample, row);
            n += found && is_first;
        }
    assert_int_equal(all->sample.n, n);
}

/* Whether a row of the base is held no more. */
static bool lacks_of_base(const gsa_state *all, const gsa_state *base)
{
    for (size_t i = 0; i < base->sample.n; i++)
        if (!gsai_sample_find(&all->sample, base->sample.at[i]))
            return true;
    return false;
}

/* Samples that are full, and samples that are not. */
static void held_out_rows_travel_only_where_they_are_news(void **unused)
{
    (void)unused;
    size_t n_lacking = 0, n_growing = 0, n_equal = 0;
    for (size_t i = 0; i < 16; i++) {
        size_t most = i % 2 ? 20 : 1000, n_known = i < 4 ? 40 : 150 + i / 4 * 150, n_told = 0, n_held = 0;
        gsa_state *base = state_with("method", "auto", "scale", "standard", "class_weight", "balanced", "max_held_out",
                                     i % 2 ? "20" : "1000", NULL);
        gsa_state *copies[4], *whole, *joined;
        gsa_error error = {0};
        learn_from_pool(base, i, 700, 300);
        for (size_t c = 0; c < 4; c++) {
            copies[c] = forked(base, 4);
            learn_from_pool(copies[c], 50 * i + c, i < 4 ? 400 : 20, n_known);
        }
        parts of = {.n_copies = 4, .n_deltas = 2};
        cut(&of, copies, base);
        unite(&of);
        for (size_t c = 0; c < 4; c++) {
            n_told += of.head[c]->sample.n;
            n_held += copies[c]->sample.n;
        }
        assert_true(n_told > 0 && n_told < n_held);
        whole = merged((const gsa_state *const *)copies, 4, base);
        must_be_ok(join(&of, base, &joined, &error), &error);
        assert_sample_unites(whole, copies, base, most);
        same_states(whole, joined);
        n_lacking += lacks_of_base(whole, base) && base->sample.n == most;
        n_growing += !lacks_of_base(whole, base) && whole->sample.n > base->sample.n;
        for (size_t k = 0; k < whole->sample.n; k++)
            n_equal += whole->sample.at[k]->weight > 1.5;
        free_parts(&of);
        for (size_t c = 0; c < 4; c++)
            gsa_state_free(copies[c]);
        free_states(base, whole, joined);
    }
    assert_true(n_lacking > 0 && n_growing > 0 && n_equal > 0);
}

/* Copies [from, to) of a process, in one delta. */
static bytes slice_of(gsa_state *const *copies, size_t from, size_t to, const gsa_state *base, uint64_t first,
                      uint64_t n_features)
{
    gsa_error error = {0};
    bytes out = {0};
    must_be_ok(gsa_state_write_delta((const gsa_state *const *)copies + from, to - from, from, base, first, n_features,
                                     append, &out, &error),
               &error);
    return out;
}

static bytes unite_spread(gsa_state *const *copies, const size_t *cuts, size_t n_processes, const gsa_state *base,
                          uint64_t first, uint64_t n_features)
{
    gsa_error error = {0};
    bytes deltas[MAX_SPREAD], out = {0};
    const void *data[MAX_SPREAD] = {0};
    size_t sizes[MAX_SPREAD] = {0};
    for (size_t p = 0; p < n_processes; p++) {
        deltas[p] = slice_of(copies, cuts[p], cuts[p + 1], base, first, n_features);
        data[p] = deltas[p].data;
        sizes[p] = deltas[p].size;
    }
    must_be_ok(gsa_deltas_reduce(data, sizes, n_processes, NULL, append, &out, &error), &error);
    for (size_t p = 0; p < n_processes; p++)
        free(deltas[p].data);
    return out;
}

/* Up to 17 processes, each with one copy at least. */
static size_t draw_cuts(gsai_rng *rng, size_t n_copies, size_t *cuts)
{
    size_t most = n_copies < MAX_SPREAD ? n_copies : MAX_SPREAD, n = 1 + gsai_rng_below(rng, most);
    for (size_t p = 0, left = n; p <= n; p++, left--) {
        size_t room = p < n ? n_copies - cuts[p ? p - 1 : 0] - left : 0;
        cuts[p] = p == 0 ? 0 : p == n ? n_copies : cuts[p - 1] + 1 + gsai_rng_below(rng, room);
    }
    return n;
}

static void how_copies_are_spread_over_processes_changes_no_bit(void **unused)
{
    (void)unused;
    enum { WIDE = 3000, EVERY_COPY = 33 };
    static const unsigned classes[] = {0, 2, 3, 7};
    gsai_rng rng = gsai_rng_of(1, 2, 3);
    for (size_t turn = 0; turn < 40; turn++) {
        gsa_error error = {0};
        size_t n = 2 + gsai_rng_below(&rng, EVERY_COPY - 1), cuts[MAX_SPREAD + 1];
        unsigned n_classes = classes[turn % 4];
        gsa_state *base = base_of(n_classes, "scale", turn % 3 ? "standard" : "none"), *copies[EVERY_COPY],
                  *heads[EVERY_COPY];
        gsa_state *whole, *joined;
        for (size_t c = 0; c < n; c++) {
            copies[c] = forked(base, n);
            learn_random(copies[c], c + 1, c % 5 ? 5 * c : 200, c % 2 ? WIDE : 50,
                         n_classes); /* none, if it is the first */
            close_group(copies[c]);
            bytes head = {0};
            must_be_ok(gsa_state_write_delta_header(copies[c], base, append, &head, &error), &error);
            must_be_ok(gsa_state_read(head.data, head.size, NULL, &heads[c], &error), &error);
            free(head.data);
        }
        whole = merged((const gsa_state *const *)copies, n, base);
        size_t n_processes = draw_cuts(&rng, n, cuts), width = 1 + gsai_rng_below(&rng, WIDE);
        bytes united[2] = {unite_spread(copies, cuts, n_processes, base, 0, width)};
        n_processes = draw_cuts(&rng, n, cuts); /* and the rest of the features another way */
        united[1] = unite_spread(copies, cuts, n_processes, base, width, GSA_MAX_ID);
        const void *data[2] = {united[0].data, united[1].data};
        size_t sizes[2] = {united[0].size, united[1].size};
        must_be_ok(
            gsa_state_merge_deltas((const gsa_state *const *)heads, n, base, data, sizes, 2, NULL, &joined, &error),
            &error);
        same_states(whole, joined);
        for (size_t c = 0; c < n; c++) {
            free_states(copies[c], heads[c]);
        }
        free(united[0].data);
        free(united[1].data);
        free_states(base, whole, joined);
    }
}

/* 300 copies, in deltas of 299 and 1; three of them have seen a feature in more rows than 32 bits can count. */
static void very_many_copies_and_rows_are_counted(void **unused)
{
    (void)unused;
    enum { MANY = 300 };
    static const size_t cuts[] = {0, MANY - 1, MANY};
    static gsa_state *copies[MANY], *heads[MANY];
    gsa_error error = {0};
    gsa_state *base = base_of(2, "scale", "none"), *whole, *joined;
    must_be_ok(gsai_state_fold(base, &error), &error);
    uint64_t expected = gsai_state_n_seen(base, 5);
    for (size_t c = 0; c < MANY; c++) {
        copies[c] = copy_of(base, MANY, c % 7, 2);
        copies[c]->prior.at[5].count += c % 100 == 50 ? UINT64_C(3) << 32 : 0;
        copies[c]->rows_behind += c % 100 == 50 ? UINT64_C(3) << 32 : 0;
        copies[c]->prior.at[5].sum_sq += c % 100 == 50 ? 0x3p32 : 0;
        expected += gsai_state_n_seen(copies[c], 5) - gsai_state_n_seen(base, 5);
        bytes head = {0};
        must_be_ok(gsa_state_write_delta_header(copies[c], base, append, &head, &error), &error);
        must_be_ok(gsa_state_read(head.data, head.size, NULL, &heads[c], &error), &error);
        free(head.data);
    }
    whole = merged((const gsa_state *const *)copies, MANY, base);
    bytes united = unite_spread(copies, cuts, 2, base, 0, FEATURES);
    const void *data = united.data;
    must_be_ok(gsa_state_merge_deltas((const gsa_state *const *)heads, MANY, base, &data, &united.size, 1, NULL,
                                      &joined, &error),
               &error);
    assert_true(expected > UINT64_C(9) << 32);
    assert_int_equal(gsai_state_n_seen(joined, 5), expected);
    same_states(whole, joined);
    for (size_t c = 0; c < MANY; c++) {
        free_states(copies[c], heads[c]);
    }
    free(united.data);
    free_states(base, whole, joined);
}

static void a_second_round_begins_where_the_first_was_joined(void **unused)
{
    (void)unused;
    gsa_state *base = base_of(2, "scale", "standard"), *apart = base_of(2, "scale", "standard");
    gsa_error error = {0};
    for (size_t round = 0; round < 3; round++) {
        gsa_state *copies[3], *whole, *joined;
        for (size_t c = 0; c < 3; c++)
            copies[c] = copy_of(base, 3, 20 * round + c, 2);
        whole = merged((const gsa_state *const *)copies, 3, base);
        parts of = {.n_copies = 3, .n_deltas = 4};
        cut(&of, copies, apart); /* made from another object of the same bytes */
        unite(&of);
        must_be_ok(join(&of, apart, &joined, &error), &error);
        same_states(whole, joined);
        free_parts(&of);
        for (size_t c = 0; c < 3; c++)
            gsa_state_free(copies[c]);
        free_states(base, apart);
        base = whole;
        apart = joined;
    }
    free_states(base, apart);
}

static void what_does_not_fit_together_is_refused(void **unused)
{
    (void)unused;
    gsa_error error = {0};
    gsa_state *base = base_of(2, "scale", "none"), *stranger = base_from(99, 2, "scale", "none"), *out = NULL;
    gsa_state *copies[2] = {copy_of(base, 2, 0, 2), copy_of(base, 2, 1, 2)}, *third = copy_of(base, 2, 2, 3);
    bytes sink = {0};
    const gsa_state *mixed[2] = {copies[0], third}, *before = base; /* a new label */
    const gsa_state *const *good = (const gsa_state *const *)copies;
    assert_int_equal(gsa_state_write_delta(mixed, 2, 0, base, 0, 10, append, &sink, &error), GSA_CONFLICT);
    assert_int_equal(gsa_state_write_delta(good, 2, 0, NULL, 0, 10, append, &sink, &error), GSA_CONFLICT);
    assert_int_equal(gsa_state_write_delta(&before, 1, 0, copies[0], 0, 10, append, &sink, &error), GSA_CONFLICT);
    assert_int_equal(gsa_state_write_delta(good, 2, 0, base, 0, 0, append, &sink, &error), GSA_ARGUMENT);
    assert_int_equal(gsa_state_write_delta(good, 0, 0, base, 0, 10, append, &sink, &error), GSA_ARGUMENT);
    assert_int_equal(gsa_state_write_delta(good, 2, UINT32_MAX, base, 0, 10, append, &sink, &error), GSA_ARGUMENT);
    assert_int_equal(sink.size, 0);
    parts of = {.n_copies = 2, .n_deltas = 2};
    cut(&of, copies, base);
    unite(&of);
    const void *two[2] = {of.delta[0][0].data, of.delta[1][1].data}, *same[2] = {of.united[0].data, of.united[0].data};
    size_t sizes[2] = {of.delta[0][0].size, of.delta[1][1].size},
           same_sizes[2] = {of.united[0].size, of.united[0].size};
    assert_int_equal(gsa_deltas_reduce(two, sizes, 2, NULL, append, &sink, &error), GSA_CONFLICT);
    assert_int_equal(gsa_deltas_reduce(two, sizes, 0, NULL, append, &sink, &error), GSA_ARGUMENT);
    assert_int_equal(
        gsa_state_merge_deltas((const gsa_state *const *)of.head, 2, base, same, same_sizes, 2, NULL, &out, &error),
        GSA_CONFLICT);
    assert_int_equal(
        gsa_state_merge_deltas((const gsa_state *const *)of.head, 1, base, same, same_sizes, 1, NULL, &out, &error),
        GSA_ARGUMENT);
    const void *second = of.united[1].data; /* and nothing before it */
    assert_int_equal(gsa_state_merge_deltas((const gsa_state *const *)of.head, 2, base, &second, &of.united[1].size, 1,
                                            NULL, &out, &error),
                     GSA_CONFLICT);
    const gsa_state *three[3] = {of.head[0], of.head[1], of.head[1]};
    assert_int_equal(gsa_state_merge_deltas(three, 3, base, same, same_sizes, 1, NULL, &out, &error), GSA_CONFLICT);
    assert_int_equal(join(&of, stranger, &out, &error), GSA_CONFLICT);
    free_states(base, stranger, third);
    for (size_t c = 0; c < 2; c++)
        gsa_state_free(copies[c]);
    free_parts(&of);
    free(sink.data);
}

static void damaged_slices_are_refused(void **unused)
{
    (void)unused;
    gsa_error error = {0};
    gsa_state *base = base_of(2, "scale", "none"), *copies[2] = {copy_of(base, 2, 0, 2), copy_of(base, 2, 1, 2)};
    parts of = {.n_copies = 2, .n_deltas = 1};
    cut(&of, copies, base);
    bytes sink = {0}, *delta = &of.delta[0][0];
    const void *data[1] = {delta->data};
    for (size_t size = 0; size < delta->size; size += 1 + size / 7)
        assert_int_equal(gsa_deltas_reduce(data, &size, 1, NULL, append, &sink, &error), GSA_FORMAT);
    for (size_t at = 0; at < 48; at++) { /* the head: any wrong byte that is let through must not be believed */
        delta->data[at] ^= 0x81;
        bytes united = {0};
        if (gsa_deltas_reduce(data, &delta->size, 1, NULL, append, &united, &error) == GSA_OK)
            assert_true((at >= 16 && at < 32) || (at >= 40 && at < 44)); /* more features or copies there may be */
        free(united.data);
        delta->data[at] ^= 0x81;
    }
    assert_int_equal(sink.size, 0);
    bytes nothing = slice_of(copies, 0, 1, base, 1000, 10), united = {0}; /* and so many outputs */
    memset(nothing.data + 8, 0xff, 4);
    data[0] = nothing.data;
    assert_int_equal(nothing.size, 56);
    must_be_ok(gsa_deltas_reduce(data, &nothing.size, 1, NULL, append, &united, &error), &error);
    assert_int_equal(united.size, 56);
    free(nothing.data);
    free(united.data);
    unite(&of);
    gsa_state *out = NULL;
    for (size_t bit = 0; bit < 8 * 16; bit++) { /* block, run, and features of the first chunk */
        of.united[0].data[48 + bit / 8] ^= (unsigned char)(1u << bit % 8);
        assert_int_equal(join(&of, base, &out, &error), GSA_FORMAT);
        of.united[0].data[48 + bit / 8] ^= (unsigned char)(1u << bit % 8);
    }
    for (size_t bit = 0; bit < gsai_sums_block(1); bit++) { /* features that are not there, or none that is */
        of.united[0].data[64 + bit / 8] ^= (unsigned char)(1u << bit % 8);
        assert_int_equal(join(&of, base, &out, &error), GSA_FORMAT);
        of.united[0].data[64 + bit / 8] ^= (unsigned char)(1u << bit % 8);
    }
    for (size_t c = 0; c < 2; c++)
        gsa_state_free(copies[c]);
    gsa_state_free(base);
    free_parts(&of);
}

static int refuse(void *ctx, const void *data, size_t size)
{
    (void)ctx;
    (void)data;
    (void)size;
    return 1;
}

static void a_sink_that_is_full_and_no_memory_are_a_status(void **unused)
{
    (void)unused;
    gsa_error error = {0};
    gsa_state *base = base_of(3, "scale", "standard"), *copies[2] = {copy_of(base, 2, 0, 3), copy_of(base, 2, 1, 3)},
              *out;
    parts of = {.n_copies = 2, .n_deltas = 2};
    assert_int_equal(gsa_state_write_delta((const gsa_state *const *)copies, 2, 0, base, 0, 30, refuse, NULL, &error),
                     GSA_IO);
    assert_int_equal(gsa_state_write_delta_header(copies[0], base, refuse, NULL, &error), GSA_IO);
    cut(&of, copies, base);
    unite(&of);
    gsa_status status = GSA_MEMORY;
    for (size_t n = 0; status == GSA_MEMORY; n++) {
        failing memory = {.left = SIZE_MAX};
        gsai_env env = failing_env(&memory);
        gsa_state *counted;
        must_be_ok(state_in(&env.memory, base, &counted, &error), &error);
        memory.left = n;
        status = join(&of, counted, &out, &error);
        if (status == GSA_OK)
            gsa_state_free(out);
        gsa_state_free(counted);
        assert_int_equal(memory.live, 0);
        assert_true(n < 10000);
    }
    must_be_ok(status, &error);
    for (size_t c = 0; c < 2; c++)
        gsa_state_free(copies[c]);
    gsa_state_free(base);
    free_parts(&of);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slices_join_to_the_bits_of_a_merge),
        cmocka_unit_test(held_out_rows_travel_only_where_they_are_news),
        cmocka_unit_test(how_copies_are_spread_over_processes_changes_no_bit),
        cmocka_unit_test(very_many_copies_and_rows_are_counted),
        cmocka_unit_test(a_second_round_begins_where_the_first_was_joined),
        cmocka_unit_test(what_does_not_fit_together_is_refused),
        cmocka_unit_test(damaged_slices_are_refused),
        cmocka_unit_test(a_sink_that_is_full_and_no_memory_are_a_status),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
