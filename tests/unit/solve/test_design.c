/* Rows that are ready to be solved: D1 to D5 of solve/design.h. */
#include "designs.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- rows to make designs of ------------------------------------------------------------------------------------- */

/* n rows of `width` features, of which each is present in a share of the rows. Row i has the label i. */
static rows *numbered_rows(size_t n, uint32_t width, double share)
{
    rows *r = rows_new();
    for (size_t i = 0; i < n; i++) {
        for (uint32_t j = 0; j < width; j++)
            if (unit_at(5, i * width + j) < share)
                rows_entry(r, j * 3 + 1, (float)normal_at(6, i * width + j) + 0.5F);
        rows_end(r, (double)i);
    }
    return r;
}

/* Rows of n_kinds kinds, each n_each times, with one of so many labels at random. */
static rows *rows_of_kinds(size_t n_kinds, size_t n_each, size_t n_labels)
{
    rows *r = rows_new();
    for (size_t i = 0; i < n_kinds * n_each; i++) {
        size_t kind = i % n_kinds;
        for (uint32_t j = 0; j < 3; j++)
            rows_entry(r, j, (float)normal_at(8, kind * 3 + j));
        rows_end(r, (double)(gsai_mix(i * 31) % n_labels));
    }
    return r;
}

/* Single rows, and a few that come with both labels. */
static rows *rows_of_which_few_disagree(size_t n_single, size_t n_both)
{
    rows *r = rows_of_kinds(n_single + n_both, 1, 2);
    for (size_t i = n_single; i < n_single + n_both; i++) {
        rows_copy(r, r, i);
        r->label[r->n_rows - 1] = 1 - r->label[i];
    }
    return r;
}

/* The number that the label of a design's row was. */
static size_t label_at(const gsai_design *design, size_t row)
{
    return (size_t)llround(design->margin_origin + design->margin_unit * (double)design->target[row]);
}

/* ---- comparison -------------------------------------------------------------------------------------------------- */

static void assert_same_array(const void *a, const void *b, size_t size, const char *what)
{
    assert_int_equal(a == NULL, b == NULL);
    if (a && memcmp(a, b, size) != 0)
        fail_msg("the designs differ in %s", what);
}

static size_t entries_of(const gsai_design *design)
{
    return design->start ? design->start[design->n_rows] : 0;
}

#define SAME(member, n) assert_same_array(a->member, b->member, (n) * sizeof *a->member, #member)

static void assert_same_structure(const gsai_design *a, const gsai_design *b)
{
    assert_int_equal(a->n_rows, b->n_rows);
    assert_int_equal(a->n_columns, b->n_columns);
    assert_int_equal(a->width, b->width);
    assert_int_equal(a->stride, b->stride);
    SAME(fold, a->n_rows);
    SAME(kind, a->n_rows);
    SAME(id, a->n_columns);
    SAME(count, a->n_columns);
    SAME(start, a->n_rows + 1);
    SAME(column, entries_of(a));
}

static void assert_same_designs(const gsai_design *a, const gsai_design *b)
{
    assert_same_structure(a, b);
    SAME(target, a->n_rows);
    SAME(weight, a->n_rows);
    SAME(origin, a->n_columns);
    SAME(unit, a->n_columns);
    SAME(variance, a->n_columns);
    SAME(mean, a->n_columns);
    SAME(dense, a->n_rows * a->width);
    SAME(value, entries_of(a));
    assert_true(a->margin_origin == b->margin_origin && a->margin_unit == b->margin_unit);
}

/* Frees the rows. */
static void same_designs(const rows *r, rows *other, const char *loss)
{
    gsai_design a = DESIGN(r, "loss", loss), b = DESIGN(other, "loss", loss);
    assert_same_designs(&a, &b);
    gsai_design_release(&a);
    gsai_design_release(&b);
    free(other);
}

/* ---- joined rows and their order --------------------------------------------------------------------------------- */

static void equal_rows_are_joined_and_their_weights_add_up(void **unused)
{
    (void)unused;
    rows *single = numbered_rows(200, 4, 0.9), *r = rows_new();
    double total = 0, weight[200] = {0}, mean = 0;
    for (size_t i = 0; i < 600; i++) {
        size_t row = i % 200;
        rows_copy(r, single, row);
        r->weight[i] = (float)between(0.1, 3, 2, i);
        weight[row] += (double)r->weight[i];
        total += (double)r->weight[i];
    }
    gsai_design design = DESIGN(r, "loss", "squared");
    assert_int_equal(design.n_rows, 200);
    assert_close(design.weight_unit, total / 200, 1e-12 * total);
    for (size_t i = 0; i < 200; i++) {
        double expected = weight[label_at(&design, i)] / total * 200;
        assert_close((double)design.weight[i], expected, 1e-6 * expected);
        mean += (double)design.weight[i] / 200;
    }
    assert_close(mean, 1, 1e-6);
    gsai_design_release(&design);
    free(single);
    free(r);
}

static void a_row_of_weight_0_is_left_out(void **unused)
{
    (void)unused;
    rows *all = numbered_rows(100, 4, 0.9), *some = rows_new();
    for (size_t i = 0; i < 100; i++) {
        all->weight[i] = i % 3 == 0 ? 0 : 1;
        if (i % 3 != 0)
            rows_copy(some, all, i);
    }
    same_designs(all, some, "squared");
    free(all);
}

static void the_order_of_the_input_does_not_matter(void **unused)
{
    (void)unused;
    rows *given[] = {numbered_rows(300, 5, 0.9), numbered_rows(300, 20, 0.1), rows_of_kinds(4, 250, 2),
                     rows_of_kinds(4, 250, 3),   rows_of_kinds(100, 9, 2),    rows_of_which_few_disagree(900, 20)};
    static const char *const loss[] = {"squared", "squared", "logistic", "softmax", "squared_hinge", "logistic"};
    for (size_t i = 0; i < COUNT(given); i++)
        for (int weighted = 0; weighted < 2; weighted++) {
            if (weighted)
                rows_weigh(given[i]);
            for (uint64_t seed = 1; seed < 4; seed++)
                same_designs(given[i], rows_shuffled(given[i], seed), loss[i]);
        }
    for (size_t i = 0; i < COUNT(given); i++)
        free(given[i]);
}

/* Zeros that are named mean what absent features mean. */
static void named_zeros_are_absent(void **unused)
{
    (void)unused;
    rows *r = numbered_rows(300, 10, 0.4), *other = rows_new();
    for (size_t i = 0; i < 300; i++) {
        for (int64_t e = r->row_start[i]; e < r->row_start[i + 1]; e++) {
            rows_entry(other, r->index[e], r->value[e]);
            rows_entry(other, r->index[e] + 1, i % 2 ? 0.0F : -0.0F);
        }
        rows_end(other, r->label[i]);
    }
    same_designs(r, other, "squared");
    free(r);
}

static void copies_of_all_rows_make_the_same_design(void **unused)
{
    (void)unused;
    static const size_t copies[] = {2, 3, 5};
    rows *given[] = {numbered_rows(300, 5, 0.9), numbered_rows(300, 20, 0.1), rows_of_kinds(4, 100, 2),
                     rows_of_kinds(4, 100, 3),   rows_of_kinds(100, 5, 2),    rows_of_which_few_disagree(700, 15)};
    static const char *const loss[] = {"squared", "squared", "logistic", "softmax", "squared_hinge", "logistic"};
    for (size_t i = 0; i < COUNT(given); i++)
        for (size_t k = 0; k < COUNT(copies); k++)
            same_designs(given[i], rows_times(given[i], copies[k]), loss[i]);
    for (size_t i = 0; i < COUNT(given); i++)
        free(given[i]);
}

static void copies_of_weighted_rows_make_the_same_design_but_for_rounding(void **unused)
{
    (void)unused;
    static const size_t copies[] = {2, 3, 5};
    rows *given[] = {numbered_rows(300, 20, 0.1), rows_of_kinds(4, 100, 2), rows_of_which_few_disagree(700, 15)};
    for (size_t i = 0; i < COUNT(given); i++) {
        rows_weigh(given[i]);
        gsai_design one = DESIGN(given[i], "loss", i == 0 ? "squared" : "logistic");
        for (size_t k = 0; k < COUNT(copies); k++) {
            rows *more = rows_times(given[i], copies[k]);
            gsai_design design = DESIGN(more, "loss", i == 0 ? "squared" : "logistic");
            assert_same_structure(&one, &design);
            for (size_t row = 0; row < one.n_rows; row++)
                assert_close((double)design.weight[row], (double)one.weight[row], 1e-6 * (double)one.weight[row]);
            gsai_design_release(&design);
            free(more);
        }
        gsai_design_release(&one);
        free(given[i]);
    }
}

/* ---- folds ------------------------------------------------------------------------------------------------------- */

/* Folds that have a row of a kind, as bits. */
static unsigned folds_of_kind(const gsai_design *design, size_t kind)
{
    unsigned folds = 0;
    for (size_t i = 0; i < design->n_rows; i++)
        folds |= design->kind[i] == kind ? 1u << design->fold[i] : 0;
    return folds;
}

static size_t n_folds_of_kind(const gsai_design *design, size_t kind)
{
    size_t n = 0;
    for (unsigned folds = folds_of_kind(design, kind); folds; folds >>= 1)
        n += folds & 1;
    return n;
}

static void rows_with_equal_features_are_in_one_fold(void **unused)
{
    (void)unused;
    rows *r = rows_of_which_few_disagree(400, 5), *all = rows_times(r, 1);
    for (size_t i = 0; i < 400; i++) /* copies of many rows, so that those that disagree are few among them */
        rows_copy(all, r, i);
    gsai_design design = DESIGN(all, "loss", "logistic");
    size_t n_of_fold[GSAI_FOLDS] = {0}, n_kinds = design.kind[design.n_rows - 1] + 1u;
    assert_int_equal(design.n_rows, 410);
    assert_int_equal(n_kinds, 405);
    for (size_t kind = 0; kind < n_kinds; kind++) {
        unsigned folds = folds_of_kind(&design, kind), fold = 0;
        while (folds >> (fold + 1))
            fold++;
        assert_int_equal(folds, 1u << fold);
        n_of_fold[fold]++;
    }
    for (size_t f = 0; f < GSAI_FOLDS; f++)
        assert_in_range(n_of_fold[f], 405 / GSAI_FOLDS, 405 / GSAI_FOLDS + 1);
    gsai_design_release(&design);
    free(all);
    free(r);
}

static void few_kinds_of_rows_are_dealt_to_all_folds(void **unused)
{
    (void)unused;
    rows *r = rows_of_kinds(4, 250, 2);
    gsai_design design = DESIGN(r, "loss", "logistic");
    double total = 0;
    assert_int_equal(design.n_rows, 4 * 2 * GSAI_FOLDS);
    for (size_t kind = 0; kind < 4; kind++)
        assert_int_equal(folds_of_kind(&design, kind), 255);
    for (size_t i = 0; i < design.n_rows; i++)
        total += (double)design.weight[i];
    assert_close(total, 1000, 1e-3); /* as many as there are, and not as are left */
    gsai_design_release(&design);
    free(r);
}

static void rows_whose_labels_disagree_are_dealt_apart(void **unused)
{
    (void)unused;
    rows *r = rows_of_kinds(100, 20, 2);
    gsai_design design = DESIGN(r, "loss", "logistic");
    for (size_t kind = 0; kind < 100; kind++)
        assert_true(n_folds_of_kind(&design, kind) > 4);
    gsai_design_release(&design);
    free(r);
}

/* Of 400 kinds most come once and 20 often, as titles do. Returns how many kinds are in several folds. */
static size_t n_kinds_dealt_apart(const rows *kinds)
{
    rows *all = rows_times(kinds, 1);
    for (size_t i = 0; i < 20; i++)
        for (size_t again = 0; again < 8 + i; again++)
            rows_copy(all, kinds, i);
    gsai_design design = DESIGN(all, "loss", "logistic");
    size_t n_apart = 0, n_kinds = design.kind[design.n_rows - 1] + 1u;
    for (size_t kind = 0; kind < n_kinds; kind++)
        n_apart += n_folds_of_kind(&design, kind) > 1;
    assert_int_equal(n_kinds, 400);
    gsai_design_release(&design);
    free(all);
    return n_apart;
}

static void rows_of_words_that_repeat_others_are_dealt_apart(void **unused)
{
    (void)unused;
    rows *r = rows_new();
    for (size_t i = 0; i < 400; i++) {
        rows_entry(r, (uint32_t)(i % 20), 1);
        rows_entry(r, (uint32_t)(20 + i / 20), 1);
        rows_end(r, (double)(i % 2));
    }
    assert_int_equal(n_kinds_dealt_apart(r), 20);
    free(r);
}

static void measurements_that_repeat_others_are_copies(void **unused)
{
    (void)unused;
    rows *r = rows_of_which_few_disagree(400, 0);
    assert_int_equal(n_kinds_dealt_apart(r), 0);
    free(r);
}

/* The fold depends on the features only. */
static void folds_of_single_rows_do_not_depend_on_labels_and_weights(void **unused)
{
    (void)unused;
    rows *r = numbered_rows(500, 4, 0.9);
    gsai_design one = DESIGN(r, "loss", "squared");
    rows_weigh(r);
    for (size_t i = 0; i < 500; i++)
        r->label[i] = (double)(gsai_mix(i) % 50);
    gsai_design other = DESIGN(r, "loss", "squared");
    assert_same_structure(&one, &other);
    gsai_design_release(&one);
    gsai_design_release(&other);
    free(r);
}

/* ---- columns ----------------------------------------------------------------------------------------------------- */

static void check_numbering(uint32_t id_step)
{
    rows *r = numbered_rows(400, 120, 0.05);
    for (size_t e = 0; e < r->n_entries; e++)
        r->index[e] *= id_step;
    gsai_design design = DESIGN(r, "loss", "squared");
    uint32_t highest = 0;
    assert_int_equal(design.width, 0);
    for (size_t i = 0; i < design.n_rows; i++) {
        for (size_t t = design.start[i]; t < design.start[i + 1]; t++) {
            assert_true(design.column[t] >= 1 && design.column[t] <= highest + 1);
            highest = design.column[t] > highest ? design.column[t] : highest;
        }
        assert_int_equal(gsai_design_columns(&design, i + 1), i + 1 == design.n_rows ? design.n_columns : highest + 1);
    }
    assert_int_equal(design.n_columns, highest + 1);
    for (size_t i = 0; i < design.n_rows; i++) {
        size_t row = label_at(&design, i), n = (size_t)(r->row_start[row + 1] - r->row_start[row]);
        assert_int_equal(design.start[i + 1] - design.start[i], n);
        for (size_t t = 0; t < n; t++)
            assert_int_equal(design.id[design.column[design.start[i] + t]], r->index[(size_t)r->row_start[row] + t]);
    }
    gsai_design_release(&design);
    free(r);
}

static void columns_are_numbered_as_they_appear(void **unused)
{
    (void)unused;
    check_numbering(1);
    check_numbering(11000000); /* too far apart for a plain array */
}

/* What a column of a design should say, by two passes in double over the rows as given. */
typedef struct column {
    double weight, count, all, mean, variance, square, around;
} column;

static double value_at(const rows *r, size_t row, uint32_t id)
{
    for (int64_t e = r->row_start[row]; e < r->row_start[row + 1]; e++)
        if (r->index[e] == id)
            return (double)r->value[e];
    return 0;
}

static column column_of(const rows *r, uint32_t id)
{
    column c = {0};
    double total = 0, present = 0;
    for (size_t i = 0; i < r->n_rows; i++) {
        double x = value_at(r, i, id), w = (double)r->weight[i];
        total += w;
        present += x != 0 ? w : 0;
        c.count += x != 0;
    }
    for (size_t i = 0; i < r->n_rows; i++)
        c.mean += (double)r->weight[i] / present * value_at(r, i, id);
    c.all = c.mean * (present / total);
    for (size_t i = 0; i < r->n_rows; i++) {
        double x = value_at(r, i, id), w = (double)r->weight[i];
        c.variance += x != 0 ? w / present * (x - c.mean) * (x - c.mean) : 0;
        c.square += x != 0 ? w / present * x * x : 0;
        c.around += w / total * (x - c.all) * (x - c.all);
    }
    c.weight = present / total;
    return c;
}

static void check_columns(const rows *r, const gsai_design *design, bool centres)
{
    for (size_t j = 1; j < design->n_columns; j++) {
        column c = column_of(r, design->id[j]);
        bool dense = centres && c.count >= 0.9 * (double)r->n_rows;
        bool shifted = centres && (design->width > 0 || c.count == (double)r->n_rows);
        double unit = sqrt(dense ? c.variance : c.square), around = centres ? c.around : c.weight * c.square;
        assert_int_equal(design->count[j], c.count);
        assert_close(design->unit[j], unit, 1e-6 * unit);
        assert_close(design->origin[j], shifted ? c.all : 0, 1e-6 * unit + 1e-14 * fabs(c.all));
        assert_close((double)design->mean[j], centres && !shifted ? c.all / unit : 0, 1e-6);
        assert_close(design->variance[j] * unit * unit, around, 1e-5 * around);
    }
}

/* Stored values are (x - origin) / unit. Row i of the input has the label i. */
static void check_values(const rows *r, const gsai_design *design)
{
    for (size_t i = 0; i < design->n_rows; i++) {
        size_t row = label_at(design, i);
        for (size_t j = 1; design->width > 0 && j < design->n_columns; j++) {
            double z = (value_at(r, row, design->id[j]) - design->origin[j]) / design->unit[j];
            assert_close((double)design->dense[i * design->width + j - 1], z, 1e-7 * fabs(z));
        }
        for (size_t j = design->n_columns - 1; j < design->width; j++)
            assert_true(design->dense[i * design->width + j] == 0);
        for (size_t t = design->width > 0 ? 0 : design->start[i]; design->width == 0 && t < design->start[i + 1]; t++) {
            uint32_t j = design->column[t];
            double z = (value_at(r, row, design->id[j]) - design->origin[j]) / design->unit[j];
            assert_close((double)design->value[t], z, 1e-7 * fabs(z));
        }
    }
}

static void check_design(const rows *r, const char *intercept, bool expect_dense)
{
    gsai_design design = DESIGN(r, "loss", "squared", "intercept", intercept);
    assert_int_equal(design.n_rows, r->n_rows);
    assert_int_equal(design.width, expect_dense ? gsai_padded(design.n_columns - 1) : 0);
    check_columns(r, &design, strcmp(intercept, "on") == 0);
    check_values(r, &design);
    gsai_design_release(&design);
}

static void means_and_units_are_those_of_two_passes_in_double(void **unused)
{
    (void)unused;
    static const double shares[] = {1, 0.95, 0.7, 0.35, 0.3, 0.05};
    for (size_t s = 0; s < COUNT(shares); s++)
        for (int weighted = 0; weighted < 2; weighted++) {
            rows *r = numbered_rows(300, 40, shares[s]);
            if (weighted)
                rows_weigh(r);
            check_design(r, "on", shares[s] > 1.0 / 3);
            check_design(r, "off", shares[s] > 1.0 / 3);
            free(r);
        }
}

/* In dense rows, and in sparse rows that have one column in common. */
static void units_and_offsets_may_be_of_any_size(void **unused)
{
    (void)unused;
    static const double units[] = {1e-30, 1e-10, 1, 1e10, 1e30}, offsets[] = {0, 1, 1e3, 1e6};
    for (size_t u = 0; u < COUNT(units); u++)
        for (size_t o = 0; o < COUNT(offsets); o++)
            for (int sparse = 0; sparse < 2; sparse++) {
                rows *r = numbered_rows(300, sparse ? 60 : 3, sparse ? 0.05 : 1), *moved = rows_new();
                for (size_t i = 0; i < r->n_rows; i++) {
                    rows_entry(moved, 0, (float)((normal_at(21, i) + offsets[o]) * units[u]));
                    rows_copy(moved, r, i);
                }
                rows_weigh(moved);
                check_design(moved, "on", !sparse);
                free(r);
                free(moved);
            }
}

static void columns_that_do_not_vary_have_no_variance(void **unused)
{
    (void)unused;
    static const float constants[] = {0.1F, 1, 12345.678F, 1e30F, -1e-30F};
    for (int sparse = 0; sparse < 2; sparse++)
        for (int weighted = 0; weighted < 2; weighted++) {
            rows *r = numbered_rows(3000, sparse ? 20 : 3, sparse ? 0.05 : 1), *more = rows_new();
            for (size_t i = 0; i < r->n_rows; i++) {
                for (uint32_t j = 0; j < COUNT(constants); j++)
                    rows_entry(more, 1000 + j, constants[j]);
                rows_copy(more, r, i);
            }
            if (weighted)
                rows_weigh(more);
            gsai_design design = DESIGN(more, "loss", "squared");
            assert_int_equal(design.width == 0, sparse);
            for (size_t j = 1; j < design.n_columns; j++) {
                if (design.id[j] < 1000)
                    assert_true(design.variance[j] > 0);
                else if (design.variance[j] != 0)
                    fail_msg("constant %u has the variance %g", design.id[j] - 1000, design.variance[j]);
                for (size_t i = 0; i < design.n_rows && design.id[j] >= 1000 && !sparse; i++)
                    assert_true(design.dense[i * design.width + j - 1] == 0);
            }
            gsai_design_release(&design);
            free(r);
            free(more);
        }
}

/* ---- labels ------------------------------------------------------------------------------------------------------ */

static void labels_are_standardised_with_an_intercept(void **unused)
{
    (void)unused;
    static const double units[] = {1e-30, 1, 1e30};
    for (size_t u = 0; u < COUNT(units); u++) {
        rows *r = numbered_rows(200, 3, 1);
        double total = 0, mean = 0, squares[2] = {0};
        rows_weigh(r);
        for (size_t i = 0; i < 200; i++) {
            r->label[i] = units[u] * (1e4 + normal_at(9, i));
            mean += (double)r->weight[i] * (r->label[i] / units[u]);
            total += (double)r->weight[i];
        }
        mean /= total;
        for (size_t i = 0; i < 200; i++) {
            double y = r->label[i] / units[u];
            squares[0] += (double)r->weight[i] / total * y * y;
            squares[1] += (double)r->weight[i] / total * (y - mean) * (y - mean);
        }
        for (int centred = 0; centred < 2; centred++) {
            gsai_design design = DESIGN(r, "loss", "squared", "intercept", centred ? "on" : "off");
            assert_close(design.margin_origin / units[u], centred ? mean : 0, 1e-10 * mean);
            assert_close(design.margin_unit / units[u], sqrt(squares[centred]), 1e-9 * sqrt(squares[centred]));
            for (size_t i = 0; i < 200; i++)
                assert_true(fabsf(design.target[i]) < 10);
            gsai_design_release(&design);
        }
        free(r);
    }
}

static void balanced_classes_have_equal_weight(void **unused)
{
    (void)unused;
    rows *r = rows_of_kinds(700, 1, 30);
    double plain[3] = {0}, sum[3] = {0};
    rows_weigh(r);
    for (size_t i = 0; i < r->n_rows; i++) {
        r->label[i] = r->label[i] < 2 ? r->label[i] : 2;
        plain[(size_t)r->label[i]] += (double)r->weight[i];
    }
    assert_true(plain[2] > 10 * plain[0]);
    gsai_design design = DESIGN(r, "loss", "softmax", "class_weight", "balanced");
    assert_int_equal(design.n_outputs, 3);
    assert_int_equal(design.stride, 8);
    for (size_t i = 0; i < design.n_rows; i++)
        sum[(size_t)design.target[i]] += (double)design.weight[i];
    for (size_t k = 0; k < 3; k++)
        assert_close(sum[k], 700.0 / 3, 1e-3);
    gsai_design_release(&design);
    free(r);
}

/* ---- hardly any rows --------------------------------------------------------------------------------------------- */

static void rows_may_have_no_features_at_all(void **unused)
{
    (void)unused;
    rows *r = rows_new();
    for (size_t i = 0; i < 20; i++)
        rows_end(r, (double)(i % 3 == 0));
    gsai_design design = DESIGN(r, "loss", "logistic");
    assert_int_equal(design.n_columns, 1);
    assert_int_equal(design.width, 0);
    assert_in_range(design.n_rows, 5, 7 + GSAI_FOLDS); /* seven rows of a label, and thirteen, in several folds */
    gsai_design_release(&design);
    free(r);
}

/* Hashed words have high ids and are few: their number decides what fits in memory. */
static void features_are_counted_once_whatever_their_ids(void **unused)
{
    (void)unused;
    static const uint32_t ids[] = {0, 63, 64, 16775149, GSAI_MAX_COUNTED - 1};
    gsa_error error = {0};
    gsa_config *config = NULL;
    gsa_state *state = NULL;
    rows *r = rows_new();
    for (size_t i = 0; i < 20; i++) {
        for (size_t j = 0; j < COUNT(ids); j++)
            rows_entry(r, ids[j], j == 1 && i % 2 ? 0.0F : 1.5F);
        rows_end(r, (double)(i % 2));
    }
    gsa_batch batch = rows_batch(r);
    must_be_ok(gsa_config_new(NULL, &config, &error), &error);
    must_be_ok(gsa_state_new(config, NULL, &state, &error), &error);
    prepare(state, &batch);
    must_be_ok(gsai_state_wait(state, &batch, NULL, batch.n_rows, NULL, false, &(size_t){0}, &error), &error);
    assert_int_equal(gsai_state_waiting(state)->csr.n_values, 90);
    assert_int_equal(gsai_state_waiting(state)->n_features, COUNT(ids));
    gsa_state_free(state);
    gsa_config_free(config);
    free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_rows_are_joined_and_their_weights_add_up),
        cmocka_unit_test(features_are_counted_once_whatever_their_ids),
        cmocka_unit_test(a_row_of_weight_0_is_left_out),
        cmocka_unit_test(the_order_of_the_input_does_not_matter),
        cmocka_unit_test(named_zeros_are_absent),
        cmocka_unit_test(copies_of_all_rows_make_the_same_design),
        cmocka_unit_test(copies_of_weighted_rows_make_the_same_design_but_for_rounding),
        cmocka_unit_test(rows_with_equal_features_are_in_one_fold),
        cmocka_unit_test(few_kinds_of_rows_are_dealt_to_all_folds),
        cmocka_unit_test(rows_whose_labels_disagree_are_dealt_apart),
        cmocka_unit_test(rows_of_words_that_repeat_others_are_dealt_apart),
        cmocka_unit_test(measurements_that_repeat_others_are_copies),
        cmocka_unit_test(folds_of_single_rows_do_not_depend_on_labels_and_weights),
        cmocka_unit_test(columns_are_numbered_as_they_appear),
        cmocka_unit_test(means_and_units_are_those_of_two_passes_in_double),
        cmocka_unit_test(units_and_offsets_may_be_of_any_size),
        cmocka_unit_test(columns_that_do_not_vary_have_no_variance),
        cmocka_unit_test(labels_are_standardised_with_an_intercept),
        cmocka_unit_test(balanced_classes_have_equal_weight),
        cmocka_unit_test(rows_may_have_no_features_at_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
