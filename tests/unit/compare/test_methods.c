/* Methods from their text, and the table of methods. */
#include "unit/compare/problems.h"

#include <math.h>
#include <stdio.h>

/* ---- text ---------------------------------------------------------------------------------------------------------
 */

typedef struct parsed {
    gsa_status status;
    const gsai_method *method;
    double knob[GSAI_KNOBS];
    gsa_error error;
} parsed;

static parsed parse(const char *text)
{
    parsed p = {0};
    p.status = gsai_method_parse(text, &p.method, p.knob, &p.error);
    return p;
}

static void expect_three(const char *text, const char *name, double a, double b, double c)
{
    parsed p = parse(text);
    must_be_ok(p.status, &p.error);
    assert_string_equal(p.method->name, name);
    assert_true(p.knob[0] == a && p.knob[1] == b && p.knob[2] == c && p.knob[3] == 0);
}

static void expect_knobs(const char *text, const char *name, double a, double b)
{
    expect_three(text, name, a, b, 0);
}

static void expect_refusal(const char *text, const char *part)
{
    parsed p = parse(text);
    assert_int_equal(p.status, GSA_ARGUMENT);
    assert_int_equal(p.error.status, GSA_ARGUMENT);
    if (!strstr(p.error.message, part))
        fail_msg("'%s' says: %s", text, p.error.message);
}

static void text_gives_method_and_knobs(void **state)
{
    (void)state;
    expect_knobs("sgd:0.1", "sgd", 0.1, 0);
    expect_knobs("sgd:1e-3", "sgd", 1e-3, 0);
    expect_knobs("sgd-decay:0.5", "sgd-decay", 0.5, 1);
    expect_knobs("sgd-decay:0.5:1000", "sgd-decay", 0.5, 1000);
    expect_knobs("momentum:0.1", "momentum", 0.1, 0.9);
    expect_knobs("momentum:0.1:0", "momentum", 0.1, 0);
    expect_knobs("gradient-average:2", "gradient-average", 2, 0);
    expect_knobs("iterate-average:2", "iterate-average", 2, 0);
    expect_knobs("adagrad:1", "adagrad", 1, 1e-8);
    expect_knobs("adadelta:1e-6", "adadelta", 1e-6, 0);
    expect_knobs("adadelta:1e-6:0.95", "adadelta", 1e-6, 0.95);
    expect_knobs("sag:1", "sag", 1, 0);
    expect_knobs("saga:1", "saga", 1, 0);
    expect_knobs("svrg:1", "svrg", 1, 0);
    expect_knobs("scsg:0.1:200", "scsg", 0.1, 200);
    expect_knobs("coin", "coin", 1, 0);
    expect_knobs("coin:100", "coin", 100, 0);
    expect_knobs("dog", "dog", 1e-6, 0);
    expect_knobs("dog:1e-4", "dog", 1e-4, 0);
    expect_three("polyak", "polyak", 0.5, 1, 2);
    expect_three("polyak:1:2:0", "polyak", 1, 2, 0);
    expect_knobs("ftrl:0.1", "ftrl", 0.1, 1);
    expect_three("ftrl:0.1:2:3", "ftrl", 0.1, 2, 3);
    expect_three("schedule-free:2", "schedule-free", 2, 0.9, 0.25);
    expect_three("schedule-free:2:0.95:1", "schedule-free", 2, 0.95, 1);
    expect_knobs("fregata", "fregata", 8, 0);
    expect_knobs("fregata:3", "fregata", 3, 0);
}

/* Both ends of every knob are in, a little beyond is out. */
static void ranges_are_inclusive(void **state)
{
    (void)state;
    for (const gsai_method *const *m = gsai_methods; *m; m++)
        for (size_t i = 0; i < GSAI_KNOBS && (*m)->knobs[i].name; i++) {
            const gsai_knob *knob = &(*m)->knobs[i];
            double ends[] = {knob->least, knob->most, nextafter(knob->least, -INFINITY),
                             nextafter(knob->most, INFINITY)};
            for (size_t e = 0; e < 4; e++) {
                char text[256] = {0};
                size_t len = (size_t)snprintf(text, sizeof text, "%s", (*m)->name);
                for (size_t j = 0; j < i; j++)
                    len += (size_t)snprintf(text + len, sizeof text - len, ":%.17g", (*m)->knobs[j].most);
                len += (size_t)snprintf(text + len, sizeof text - len, ":%.17g", ends[e]);
                for (size_t j = i + 1; j < GSAI_KNOBS && (*m)->knobs[j].name; j++)
                    len += (size_t)snprintf(text + len, sizeof text - len, ":%.17g", (*m)->knobs[j].least);
                parsed p = parse(text);
                if ((p.status == GSA_OK) != (e < 2))
                    fail_msg("%s: %s", text, p.error.message);
            }
        }
}

static void defaults_lie_within_their_ranges(void **state)
{
    (void)state;
    for (const gsai_method *const *m = gsai_methods; *m; m++)
        for (size_t i = 0; i < GSAI_KNOBS && (*m)->knobs[i].name; i++) {
            const gsai_knob *knob = &(*m)->knobs[i];
            assert_true(isnan(knob->initial) || (knob->initial >= knob->least && knob->initial <= knob->most));
            /* What has a default cannot stand before what has none. */
            assert_true(i == 0 || !isnan(knob->initial) || isnan((*m)->knobs[i - 1].initial));
        }
}

static void wrong_numbers_are_refused(void **state)
{
    (void)state;
    expect_refusal("sgd:0", "r of sgd is '0', expected a number from 1e-12 to 1e+06");
    expect_refusal("sgd:-1", "expected a number");
    expect_refusal("sgd:nan", "expected a number");
    expect_refusal("sgd:inf", "expected a number");
    expect_refusal("sgd:", "r of sgd is ''");
    expect_refusal("sgd:a", "r of sgd is 'a'");
    expect_refusal("sgd:0.1x", "r of sgd is '0.1x'");
    expect_refusal("sgd:0.1,2", "r of sgd is '0.1,2'");
    expect_refusal("momentum:0.1:1", "beta of momentum is '1'");
    expect_refusal("adadelta:1:1", "gamma of adadelta is '1'");
    expect_refusal("scsg:0.1:0.5", "B of scsg is '0.5'");
    expect_refusal("scsg::5", "r of scsg is");
    expect_refusal("fregata:0", "partitions of fregata is '0'");
}

static void too_many_and_too_few_numbers_are_refused(void **state)
{
    (void)state;
    expect_refusal("sgd:0.1:2", "sgd takes 1 number, not '2'");
    expect_refusal("sgd:0.1:", "sgd takes 1 number, not ''");
    expect_refusal("dog:1:2", "dog takes 1 number, not '2'");
    expect_refusal("momentum:0.1:0.5:3", "momentum takes 2 numbers, not '3'");
    expect_refusal("sgd", "sgd needs r (the step), such as sgd:0.1");
    expect_refusal("scsg", "scsg needs r");
    expect_refusal("scsg:0.1", "scsg needs B (rows of a snapshot's gradient), such as scsg:0.1:200");
    expect_refusal("adadelta", "adadelta needs eps");
}

static void unknown_names_are_refused(void **state)
{
    (void)state;
    expect_refusal("svrd:0.1", "unknown method 'svrd'");
    expect_refusal("gradient_average:1", "unknown method 'gradient_average'");
    expect_refusal("SGD", "unknown method 'SGD'");
    expect_refusal("", "unknown method ''");
    assert_null(parse("lbfgs-b:1").method);
    expect_refusal("a-name-longer-than-any-that-a-method-could-have:1", "unknown method 'a-name-longer-than");
    expect_refusal("0123456789012345678901234567890", "unknown method '0123456789012345678901234567890'");
    expect_refusal("01234567890123456789012345678901", "unknown method '0123456789012345678901234567890'");
}

/* ---- the table ----------------------------------------------------------------------------------------------------
 */

static void methods_say_what_they_need(void **state)
{
    (void)state;
    static const char *const with_rows[] = {"sag", "saga", "svrg", "scsg"};
    size_t n = 0;
    for (const gsai_method *const *m = gsai_methods; *m; m++, n++) {
        bool listed = false;
        for (size_t i = 0; i < 4; i++)
            listed = listed || strcmp((*m)->name, with_rows[i]) == 0;
        assert_int_equal((*m)->needs_rows, listed);
        assert_true((*m)->row_numbers == 0 || (*m)->needs_rows);
        assert_true((*m)->n_tables <= GSAI_TABLES);
        assert_true((*m)->learn && (*m)->help && (*m)->source);
        assert_ptr_equal(gsai_method_find((*m)->name), *m);
        for (const gsai_method *const *other = gsai_methods; other < m; other++)
            assert_string_not_equal((*other)->name, (*m)->name);
    }
    assert_int_equal(n, 17);
    assert_null(gsai_method_find("sg"));
    assert_null(gsai_method_find("sgd:1"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_gives_method_and_knobs),
        cmocka_unit_test(ranges_are_inclusive),
        cmocka_unit_test(defaults_lie_within_their_ranges),
        cmocka_unit_test(wrong_numbers_are_refused),
        cmocka_unit_test(too_many_and_too_few_numbers_are_refused),
        cmocka_unit_test(unknown_names_are_refused),
        cmocka_unit_test(methods_say_what_they_need),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
