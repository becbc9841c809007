/* What is solved, whole: the laws that a model of rows in memory keeps. */
#include "planted.h"

#include "learn/inside.h"
#include "solve/sweeps.h"

/* Weights to the bit, the intercepts but for the rounding of their rest. */
static void assert_same_model(const gsa_model *a, const gsa_model *b, size_t number, const char *what)
{
    gsa_model_info of_a = info_of(a), of_b = info_of(b);
    assert_int_equal(of_a.n_outputs, of_b.n_outputs);
    assert_int_equal(of_a.n_features, of_b.n_features);
    for (size_t k = 0; k < of_a.n_outputs; k++) {
        double x = gsa_model_intercept(a, k), y = gsa_model_intercept(b, k);
        if (!(fabs(x - y) <= 1e-12 * fabs(x)))
            fail_msg("data %zu, %s: intercept %zu is %.17g, was %.17g", number, what, k, y, x);
        for (uint64_t j = 0; j < of_a.n_features; j++)
            if (gsa_model_weight(a, j, k) != gsa_model_weight(b, j, k))
                fail_msg("data %zu, %s: weight %d of %zu is %.9g, was %.9g", number, what, (int)j, k,
                         (double)gsa_model_weight(b, j, k), (double)gsa_model_weight(a, j, k));
    }
}

/* The rows of every data set, changed; frees them. */
static void assert_same_when(rows *(*changed)(const rows *r, size_t by), size_t by, bool weighted, const char *what)
{
    for (size_t i = 0; i < COUNT(DATA); i++) {
        rows *r = rows_of(&DATA[i]);
        if (weighted)
            rows_weigh(r);
        rows *other = changed(r, by);
        gsa_model *a = MODEL(r, "loss", DATA[i].loss), *b = MODEL(other, "loss", DATA[i].loss);
        assert_same_model(a, b, i, what);
        gsa_model_free(a);
        gsa_model_free(b);
        free(r);
        free(other);
    }
}

/* ---- what changes nothing ---------------------------------------------------------------------------------------- */

static void the_number_of_threads_changes_no_bit(void **unused)
{
    (void)unused;
    static const unsigned n_threads[] = {2, 3, 8};
    for (size_t i = 0; i < COUNT(DATA); i++) {
        rows *r = rows_of(&DATA[i]);
        const char *params[] = {"loss", DATA[i].loss, NULL};
        gsai_env env = {ENV_SIZES, .call.n_threads = 1};
        gsa_error error = {0};
        gsa_state *one, *other;
        must_be_ok(try_training(r, params, &env, &one, &error), &error);
        for (size_t t = 0; t < COUNT(n_threads); t++) {
            env.call.n_threads = n_threads[t];
            must_be_ok(try_training(r, params, &env, &other, &error), &error);
            same_states(one, other);
            gsa_state_free(other);
        }
        gsa_state_free(one);
        free(r);
    }
}

static rows *in_another_order(const rows *r, size_t seed)
{
    return rows_shuffled(r, seed);
}

static void the_order_of_the_rows_changes_nothing(void **unused)
{
    (void)unused;
    assert_same_when(in_another_order, 1, false, "shuffled");
    assert_same_when(in_another_order, 2, true, "shuffled, weighted");
}

/* The model of rows that came in chunks: labels come late, and classes are numbered as they come. */
static bytes model_of_chunks(const rows *r, const data *of, const char *compact, size_t n_chunk)
{
    bytes out = {0};
    gsa_error error = {0};
    gsa_state *state = state_with("loss", of->loss, "method", "auto", "compact", compact, NULL);
    const gsa_batch all = rows_batch(r);
    for (size_t from = 0; from < r->n_rows; from += n_chunk) {
        gsa_batch some = rows_slice(&all, from, n_chunk < r->n_rows - from ? n_chunk : r->n_rows - from);
        update(state, &some);
    }
    gsa_model *model = model_of(state);
    must_be_ok(gsa_model_write(model, append, &out, &error), &error);
    gsa_model_free(model);
    gsa_state_free(state);
    return out;
}

static void the_order_of_the_rows_changes_no_byte_of_a_model(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < 2 * COUNT(DATA); i++) {
        const data *of = &DATA[i / 2];
        rows *r = rows_of(of), *other = rows_shuffled(r, 7);
        const char *compact = i % 2 ? "on" : "off";
        bytes a = model_of_chunks(r, of, compact, r->n_rows), b = model_of_chunks(other, of, compact, 1);
        if (a.size != b.size || memcmp(a.data, b.data, a.size) != 0)
            fail_msg("%s, %zu rows of %u features, compact %s: the order changes bytes", of->loss, of->n, of->d,
                     compact);
        free(a.data);
        free(b.data);
        free(r);
        free(other);
    }
}

static void copies_of_all_rows_change_nothing(void **unused)
{
    (void)unused;
    assert_same_when(rows_times, 2, false, "twice");
    assert_same_when(rows_times, 3, false, "three times");
    assert_same_when(rows_times, 5, false, "five times");
}

static void copies_of_rows_that_disagree_change_nothing(void **unused)
{
    (void)unused;
    static const size_t copies[] = {2, 3, 5};
    rows *given[] = {four_kinds(250), planted(300, 6, 1, 2)};
    for (size_t row = 0; row < 20; row++) {
        rows_copy(given[1], given[1], row);
        given[1]->label[given[1]->n_rows - 1] = 1 - given[1]->label[row];
    }
    for (size_t i = 0; i < COUNT(given); i++) {
        gsa_model *one = MODEL(given[i], "loss", "logistic");
        for (size_t k = 0; k < COUNT(copies); k++) {
            rows *more = rows_times(given[i], copies[k]);
            gsa_model *of_more = MODEL(more, "loss", "logistic");
            assert_same_model(one, of_more, i, "copies");
            gsa_model_free(of_more);
            free(more);
        }
        gsa_model_free(one);
        free(given[i]);
    }
}

/* ---- proportions ------------------------------------------------------------------------------------------------- */

static double dose_at(size_t i, size_t n_doses, double range)
{
    return (double)(float)(range * (2 * (double)i / (double)(n_doses - 1) - 1));
}

/* n_each rows per dose from -range to range, of which the share 1 / (1 + e^(-slope dose)) has the label 1. */
static rows *doses(double slope, size_t n_doses, size_t n_each, double range)
{
    rows *r = rows_new();
    for (size_t i = 0; i < n_doses; i++) {
        double x = dose_at(i, n_doses, range), n_of_1 = round((double)n_each / (1 + exp(-slope * x)));
        for (size_t j = 0; j < n_each; j++) {
            rows_entry(r, 0, (float)x);
            rows_end(r, (double)j < n_of_1);
        }
    }
    return r;
}

/* The mean log loss over the doses, where their shares are the planted ones. */
static double loss_of_doses(const gsa_model *model, double slope, size_t n_doses, double range)
{
    double sum = 0, weight = (double)gsa_model_weight(model, 0, 0), intercept = gsa_model_intercept(model, 0);
    for (size_t i = 0; i < n_doses; i++) {
        double x = dose_at(i, n_doses, range), p = 1 / (1 + exp(-slope * x)), m = intercept + weight * x;
        sum += p * log1p(exp(-m)) + (1 - p) * log1p(exp(m));
    }
    return sum / (double)n_doses;
}

static void proportions_are_fitted_as_by_an_untuned_logistic_regression(void **unused)
{
    (void)unused;
    static const struct {
        double slope;
        size_t n_doses, n_each;
        double range, loss; /* of scikit-learn 1.9's LogisticRegression() on the same rows */
    } tables[] = {{8, 200, 20, 3, 0.06872}, {20, 200, 20, 3, 0.03516}, {8, 40, 20, 3, 0.07378}, {8, 8, 60, 3, 0.04777},
                  {8, 8, 60, 2, 0.09213},   {8, 8, 60, 1.5, 0.12716},  {4, 8, 60, 3, 0.11738},  {2, 8, 60, 3, 0.23868}};
    for (size_t i = 0; i < COUNT(tables); i++) {
        rows *r = doses(tables[i].slope, tables[i].n_doses, tables[i].n_each, tables[i].range);
        gsa_model *model = MODEL(r, "loss", "logistic", "curves", "off");
        double loss = loss_of_doses(model, tables[i].slope, tables[i].n_doses, tables[i].range);
        if (loss > 1.01 * tables[i].loss)
            fail_msg("table %zu: loss %g, of logistic regression %g", i, loss, tables[i].loss);
        gsa_model_free(model);
        free(r);
    }
}

static void copies_of_proportions_change_nothing(void **unused)
{
    (void)unused;
    rows *given[] = {doses(8, 40, 20, 3), doses(1, 6, 100, 3), doses(2, 8, 60, 3)};
    static const size_t copies[] = {2, 5};
    for (size_t i = 0; i < COUNT(given); i++) {
        gsa_model *one = MODEL(given[i], "loss", "logistic");
        for (size_t k = 0; k < COUNT(copies); k++) {
            rows *more = rows_times(given[i], copies[k]);
            gsa_model *of_more = MODEL(more, "loss", "logistic");
            assert_same_model(one, of_more, i, "copies of proportions");
            gsa_model_free(of_more);
            free(more);
        }
        gsa_model_free(one);
        free(given[i]);
    }
}

/* A row per dose and label, whose weight is how often it comes: a table of frequencies. Times `factor`. */
static rows *frequencies(const rows *r, float factor)
{
    rows *counted = rows_new();
    for (size_t i = 0; i < r->n_rows; i++) {
        if (i > 0 && r->value[i] == r->value[i - 1] && r->label[i] == r->label[i - 1]) {
            counted->weight[counted->n_rows - 1] += factor;
            continue;
        }
        rows_entry(counted, 0, r->value[i]);
        rows_end(counted, r->label[i]);
        counted->weight[counted->n_rows - 1] = factor;
    }
    return counted;
}

static void a_table_of_frequencies_has_the_model_of_its_rows(void **unused)
{
    (void)unused;
    rows *given[] = {doses(8, 200, 20, 3), doses(8, 40, 20, 3), doses(1, 6, 100, 3), doses(2, 8, 60, 3)};
    static const float factors[] = {1, 0.25F, 3};
    for (size_t i = 0; i < COUNT(given); i++) {
        gsa_model *expanded = MODEL(given[i], "loss", "logistic");
        for (size_t f = 0; f < COUNT(factors); f++) {
            rows *counted = frequencies(given[i], factors[f]), *twice = rows_times(counted, 2);
            gsa_model *model = MODEL(counted, "loss", "logistic"), *of_twice = MODEL(twice, "loss", "logistic");
            assert_same_model(expanded, model, i, "frequencies");
            assert_same_model(expanded, of_twice, i, "frequencies, twice");
            gsa_model_free(model);
            gsa_model_free(of_twice);
            free(counted);
            free(twice);
        }
        gsa_model_free(expanded);
        free(given[i]);
    }
}

/* All rows are alike, with a feature or without: the share of each class is all that there is to learn. */
static void rows_that_are_all_alike_keep_the_shares_of_the_classes(void **unused)
{
    (void)unused;
    static const size_t n_rows[] = {100, 1000, 4000};
    static const double shares[] = {0.5, 0.3, 0.03};
    for (size_t i = 0; i < COUNT(n_rows); i++)
        for (size_t s = 0; s < COUNT(shares); s++)
            for (int empty = 0; empty < 2; empty++) {
                rows *r = rows_new();
                for (size_t row = 0; row < n_rows[i]; row++) {
                    if (!empty)
                        rows_entry(r, 0, 2.5F);
                    rows_end(r, (double)(row * 7 % n_rows[i]) + 0.5 < shares[s] * (double)n_rows[i]);
                }
                gsa_model *model = MODEL(r, "loss", "logistic");
                double m = gsa_model_intercept(model, 0) + (empty ? 0 : 2.5 * (double)gsa_model_weight(model, 0, 0));
                assert_close(1 / (1 + exp(-m)), shares[s], 1e-5);
                gsa_model_free(model);
                free(r);
            }
}

/* Rows of double weight, or of a quarter. */
static rows *with_weights_times(const rows *r, size_t power)
{
    rows *other = rows_shuffled(r, 1);
    for (size_t i = 0; i < other->n_rows; i++)
        other->weight[i] = ldexpf(other->weight[i], (int)power - 2);
    return other;
}

static void a_common_factor_of_the_weights_changes_nothing(void **unused)
{
    (void)unused;
    assert_same_when(with_weights_times, 3, true, "weights doubled");
    assert_same_when(with_weights_times, 0, false, "weights of a quarter");
}

static void the_seed_changes_nothing(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < COUNT(DATA); i++) {
        rows *r = rows_of(&DATA[i]);
        gsa_model *a = MODEL(r, "loss", DATA[i].loss, "seed", "1"), *b = MODEL(r, "loss", DATA[i].loss, "seed", "99");
        assert_same_model(a, b, i, "seed");
        gsa_model_free(a);
        gsa_model_free(b);
        free(r);
    }
}

/* ---- units and offsets ------------------------------------------------------------------------------------------- */

/* Every feature times 2^power (of its own, or of all) and beyond an offset in units of 1. */
static rows *moved(const rows *r, int power, bool of_each, float offset)
{
    rows *other = rows_new();
    for (size_t i = 0; i < r->n_rows; i++)
        rows_copy(other, r, i);
    for (size_t e = 0; e < other->n_entries; e++) {
        int own = of_each && other->index[e] % 2 ? -power : power;
        other->value[e] = ldexpf(other->value[e] + offset, own);
    }
    return other;
}

/* A row of the design for every row as given: kinds stand in the order of their hashes. */
static size_t *rows_by_hash(const gsai_design *design, const gsai_waiting *gathered)
{
    size_t *row = calloc(gathered->csr.n_rows + 1, sizeof *row), first = 0;
    uint64_t last = 0;
    for (uint32_t kind = 0; kind <= design->kind[design->n_rows - 1]; kind++) {
        uint64_t hash = UINT64_MAX;
        for (size_t i = 0; i < gathered->csr.n_rows; i++)
            if ((kind == 0 || gathered->hash[i] > last) && gathered->hash[i] < hash)
                hash = gathered->hash[i];
        while (design->kind[first] != kind)
            first++;
        for (size_t i = 0; i < gathered->csr.n_rows; i++)
            row[i] = gathered->hash[i] == hash ? first : row[i];
        last = hash;
    }
    return row;
}

static double margin_of(const gsai_design *design, const gsai_optimum *optimum, size_t row, size_t k)
{
    size_t n_outputs = design->n_outputs;
    double sum = optimum->weight[k];
    for (size_t j = 1; design->width > 0 && j < design->n_columns; j++)
        sum += (double)design->dense[row * design->width + j - 1] * optimum->weight[j * n_outputs + k];
    for (size_t t = design->width > 0 ? 0 : design->start[row]; design->width == 0 && t < design->start[row + 1]; t++)
        sum += (double)design->value[t] * optimum->weight[design->column[t] * n_outputs + k];
    return design->margin_origin + design->margin_unit * sum;
}

static void find_optimum(gsai_problem *problem, const gsa_state *state, gsai_arena *arena, gsai_optimum *out)
{
    gsa_error error = {0};
    problem->loss = state->loss->rows;
    problem->asked = state->params.value[GSAI_PARAM_scale];
    problem->n_strengths = gsai_loss_has_classes(state->loss) ? 8 : 18;
    problem->has_intercept = true;
    problem->has_probabilities = gsai_loss_has_probabilities(state->loss);
    if (gsai_sweeps_suit(problem->design))
        must_be_ok(gsai_sweeps_find(problem, arena, out, &error), &error);
    else
        must_be_ok(gsai_optimum_find(problem, arena, out, &error), &error);
}

/* The margins of all rows at the optimum. Rows are dealt to folds by the hash of the features of `like`, since another
 * hash alone changes what is held out. */
static double *margins_at_optimum(const rows *r, const rows *like, const char *loss, size_t *n)
{
    gsa_error error = {0};
    gsa_batch batch = rows_batch(r), others = rows_batch(like);
    gsa_state *state = state_with("method", "auto", "loss", loss, NULL);
    gsai_env env = gsai_env_resolve(NULL);
    gsai_design design;
    gsai_arena arena = {.env = &env};
    gsai_optimum optimum = {0};
    prepare(state, &batch);
    must_be_ok(gsai_state_wait(state, &batch, NULL, batch.n_rows, NULL, false, &(size_t){0}, &error), &error);
    gsai_waiting *gathered = gsai_state_take_waiting(state);
    for (size_t i = 0; i < r->n_rows; i++)
        gathered->hash[i] = gsai_row_features_hash(&others, i);
    must_be_ok(gsai_design_make(&design, gathered, state, &error), &error);
    gsai_problem problem = {.design = &design, .kernels = gsai_solve_kernels_best(), .env = &env};
    find_optimum(&problem, state, &arena, &optimum);
    *n = r->n_rows * design.n_outputs;
    size_t *row = rows_by_hash(&design, gathered);
    double *margin = calloc(*n, sizeof *margin);
    for (size_t i = 0; i < *n; i++)
        margin[i] = margin_of(&design, &optimum, row[i / design.n_outputs], i % design.n_outputs);
    free(row);
    gsai_arena_release(&arena);
    gsai_design_release(&design);
    gsai_waiting_free(gathered);
    gsa_state_free(state);
    return margin;
}

static void assert_close_margins(const double *a, const double *b, size_t n, double close, size_t number)
{
    double off = 0, size = 1;
    for (size_t i = 0; i < n; i++) {
        assert_true(isfinite(a[i]) && isfinite(b[i]));
        off = fmax(off, fabs(a[i] - b[i]));
        size = fmax(size, fabs(a[i]));
    }
    if (!(off <= close * size))
        fail_msg("data %zu: margins of up to %g differ by %g", number, size, off);
}

static void assert_close_when_moved(int power, int power_before, bool of_each, float offset)
{
    for (size_t i = 0; i < COUNT(DATA); i++) {
        if (offset != 0 && DATA[i].share < 1)
            continue; /* absent values stay at 0 */
        size_t n, n_after;
        rows *r = rows_of(&DATA[i]), *before = moved(r, power_before, of_each, 0);
        rows *after = moved(r, power, of_each, offset);
        double *a = margins_at_optimum(before, r, DATA[i].loss, &n);
        double *b = margins_at_optimum(after, r, DATA[i].loss, &n_after);
        assert_int_equal(n, n_after);
        assert_close_margins(a, b, n, 1e-5, i);
        free(a);
        free(b);
        free(r);
        free(before);
        free(after);
    }
}

static void common_units_change_no_margin(void **unused)
{
    (void)unused;
    assert_close_when_moved(100, 0, false, 0);
    assert_close_when_moved(-100, 0, false, 0);
    assert_close_when_moved(3, 0, false, 0);
}

/* As given, features of the larger units are the only ones that count, in both cases. */
static void units_that_are_far_apart_may_be_farther(void **unused)
{
    (void)unused;
    assert_close_when_moved(100, 30, true, 0);
}

static void offsets_change_no_margin(void **unused)
{
    (void)unused;
    assert_close_when_moved(0, 0, false, 1 << 10);
    assert_close_when_moved(0, 0, false, 1 << 19);
    assert_close_when_moved(-90, 0, false, 1 << 19);
}

/* The model is in the units of the features, with its intercept where they begin. */
static void models_have_the_margins_of_the_optimum(void **unused)
{
    (void)unused;
    static const int powers[] = {0, 100, -100, 0, -80};
    static const float offsets[] = {0, 0, 0, 1 << 19, 1 << 19};
    for (size_t i = 0; i < COUNT(DATA); i++)
        for (size_t m = 0; m < COUNT(powers); m++) {
            if (offsets[m] > 0 && DATA[i].share < 1)
                continue;
            gsa_error error = {0};
            size_t n;
            rows *r = rows_of(&DATA[i]), *other = moved(r, powers[m], true, offsets[m]);
            gsa_batch batch = rows_batch(other);
            gsa_model *model = MODEL(other, "loss", DATA[i].loss, "curves", "off");
            double *expected = margins_at_optimum(other, other, DATA[i].loss, &n), *margin = calloc(n, sizeof *margin);
            must_be_ok(gsa_model_margins(model, &batch, margin, &error), &error);
            assert_close_margins(expected, margin, n, 1e-5, i);
            gsa_model_free(model);
            free(expected);
            free(margin);
            free(r);
            free(other);
        }
}

/* test_optimum [PATTERN]: the tests whose names match. */
int main(int argc, char **argv)
{
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_number_of_threads_changes_no_bit),
        cmocka_unit_test(the_order_of_the_rows_changes_nothing),
        cmocka_unit_test(the_order_of_the_rows_changes_no_byte_of_a_model),
        cmocka_unit_test(copies_of_all_rows_change_nothing),
        cmocka_unit_test(copies_of_rows_that_disagree_change_nothing),
        cmocka_unit_test(proportions_are_fitted_as_by_an_untuned_logistic_regression),
        cmocka_unit_test(copies_of_proportions_change_nothing),
        cmocka_unit_test(a_table_of_frequencies_has_the_model_of_its_rows),
        cmocka_unit_test(rows_that_are_all_alike_keep_the_shares_of_the_classes),
        cmocka_unit_test(a_common_factor_of_the_weights_changes_nothing),
        cmocka_unit_test(the_seed_changes_nothing),
        cmocka_unit_test(common_units_change_no_margin),
        cmocka_unit_test(units_that_are_far_apart_may_be_farther),
        cmocka_unit_test(offsets_change_no_margin),
        cmocka_unit_test(models_have_the_margins_of_the_optimum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
