/* exp, log and friends: against 50-digit values (tests/golden/steps.csv), against long double, at the ends. */
#include "base/real.h"

#include "base/rng.h"
#include "golden/golden.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

typedef double (*real_fn)(double);
typedef long double (*long_fn)(long double);

/* The bound of real.h is 2; measured is below 1.1. */
#define MAX_ULPS 1.25
/* Where long double is double, the expected value itself is rounded. */
#define SLACK (LDBL_MANT_DIG > 53 ? 0.0 : 0.5)

static double ulp(double value)
{
    int exponent;
    frexp(value, &exponent);
    return fabs(value) < DBL_MIN ? 0x1p-1074 : ldexp(1.0, exponent - 53);
}

static double ulps_off(double got, long double expected)
{
    if (isinf(got) && (double)expected == got)
        return 0;
    return (double)(fabsl(got - expected) / ulp((double)expected));
}

static long double sigmoid_long(long double x)
{
    return x < 0 ? expl(x) / (1 + expl(x)) : 1 / (1 + expl(-x));
}

static long double softplus_long(long double x)
{
    return x < 0 ? log1pl(expl(x)) : x + log1pl(expl(-x));
}

typedef struct entry {
    const char *name;
    real_fn real;
    long_fn reference;
    double least, most; /* of the arguments drawn at random */
} entry;

static const entry entries[] = {
    {"exp", gsai_exp, expl, -745.1, 709.7},
    {"expm1", gsai_expm1, expm1l, -45, 45},
    {"log", gsai_log, logl, 0, 4},
    {"log1p", gsai_log1p, log1pl, -0.9999, 3},
    {"sigmoid", gsai_sigmoid, sigmoid_long, -45, 45},
    {"softplus", gsai_softplus, softplus_long, -45, 45},
};
#define N_ENTRIES (sizeof entries / sizeof *entries)

static const entry *entry_named(const char *name)
{
    for (size_t i = 0; i < N_ENTRIES; i++)
        if (strcmp(entries[i].name, name) == 0)
            return &entries[i];
    fail_msg("steps.csv names %s, which is no function here", name);
    return NULL;
}

static void functions_agree_with_fifty_digits(void **state)
{
    (void)state;
    FILE *file = fopen(GSA_GOLDEN_DIR "/steps.csv", "r");
    assert_non_null(file);
    size_t n[N_ENTRIES] = {0};
    golden_line line;
    while (golden_next(file, "real", 4, &line)) {
        const entry *named = entry_named(line.field[1]);
        double x = golden_number(&line, 2), got = named->real(x);
        double off = ulps_off(got, strtold(line.field[3], NULL));
        if (!(off <= MAX_ULPS + SLACK))
            fail_msg("%s(%a) = %a is off by %g ulp from %s", named->name, x, got, off, line.field[3]);
        n[named - entries]++;
    }
    fclose(file);
    for (size_t i = 0; i < N_ENTRIES; i++)
        assert_true(n[i] >= 100);
}

static void functions_agree_with_long_double(void **state)
{
    (void)state;
    /* musl's expl of 128 bits gives a double, and is no reference. */
    volatile long double one = 1;
    if (LDBL_MANT_DIG < 64 || expl(one) == (double)expl(one))
        skip();
    for (size_t i = 0; i < N_ENTRIES; i++) {
        gsai_rng rng = gsai_rng_of(1, i, 0);
        for (int draw = 0; draw < 50000; draw++) {
            double x = entries[i].least + (entries[i].most - entries[i].least) * gsai_rng_unit(&rng);
            if (draw % 2)
                x *= ldexp(1.0, -(int)gsai_rng_below(&rng, 60)); /* small arguments as well */
            double off = ulps_off(entries[i].real(x), entries[i].reference(x));
            if (!(off <= MAX_ULPS))
                fail_msg("%s(%a) = %a is off by %g ulp", entries[i].name, x, entries[i].real(x), off);
        }
    }
}

static void not_a_number_stays_so(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_ENTRIES; i++)
        assert_true(isnan(entries[i].real(NAN)));
    assert_true(isnan(gsai_log(-1)) && isnan(gsai_log(-INFINITY)) && isnan(gsai_log(-5e-324)));
    assert_true(isnan(gsai_log1p(-1.0000000000000002)) && isnan(gsai_log1p(-INFINITY)));
}

static void infinities_have_their_limits(void **state)
{
    (void)state;
    assert_true(gsai_exp(INFINITY) == INFINITY && gsai_exp(-INFINITY) == 0);
    assert_true(gsai_expm1(INFINITY) == INFINITY && gsai_expm1(-INFINITY) == -1);
    assert_true(gsai_log(INFINITY) == INFINITY && gsai_log1p(INFINITY) == INFINITY);
    assert_true(gsai_log(0.0) == -INFINITY && gsai_log(-0.0) == -INFINITY && gsai_log1p(-1) == -INFINITY);
    assert_true(gsai_sigmoid(INFINITY) == 1 && gsai_sigmoid(-INFINITY) == 0);
    assert_true(gsai_softplus(INFINITY) == INFINITY && gsai_softplus(-INFINITY) == 0);
}

static void zeros_keep_their_sign(void **state)
{
    (void)state;
    assert_true(gsai_expm1(0.0) == 0 && !signbit(gsai_expm1(0.0)) && signbit(gsai_expm1(-0.0)));
    assert_true(gsai_log1p(0.0) == 0 && !signbit(gsai_log1p(0.0)) && signbit(gsai_log1p(-0.0)));
    assert_true(gsai_exp(0.0) == 1 && gsai_exp(-0.0) == 1 && gsai_log(1) == 0);
    assert_true(gsai_sigmoid(0.0) == 0.5 && gsai_sigmoid(-0.0) == 0.5);
}

static void overflow_and_underflow_happen_where_they_must(void **state)
{
    (void)state;
    assert_true(isfinite(gsai_exp(0x1.62e42fefa39efp9)) && isinf(gsai_exp(0x1.62e42fefa39fp9)));
    assert_true(isfinite(gsai_expm1(0x1.62e42fefa39efp9)) && isinf(gsai_expm1(0x1.62e42fefa39fp9)));
    assert_true(isinf(gsai_exp(1e300)) && gsai_exp(-1e300) == 0);
    assert_true(gsai_exp(-745.13) == 0x1p-1074 && gsai_exp(-745.2) == 0);
    assert_true(gsai_sigmoid(-745.13) == 0x1p-1074 && gsai_softplus(-745.13) == 0x1p-1074);
    assert_true(gsai_expm1(5e-324) == 5e-324 && gsai_log1p(-5e-324) == -5e-324);
}

/* 1 - e^-x rounds to 1 from log(2^54) = 37.43 on. */
static void sigmoid_is_one_only_where_nothing_is_nearer(void **state)
{
    (void)state;
    assert_true(gsai_sigmoid(37.42) < 1);
    assert_true(gsai_sigmoid(37.45) == 1);
    assert_true(gsai_sigmoid(-744) > 0);
}

static void functions_do_not_turn_back(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_ENTRIES; i++) {
        double x = entries[i].least + 1e-3, step = (entries[i].most - entries[i].least) / 20011;
        for (double before = entries[i].real(x); x < entries[i].most; x += step) {
            double now = entries[i].real(x);
            assert_true(now >= before);
            before = now;
        }
    }
}

/* Bits of a few values: a change of the arithmetic, by a compiler or by us, is seen. Each is the nearest double or the
 * one beside it, as the tests above say. */
static void bits_are_frozen(void **state)
{
    (void)state;
    uint64_t sum = 0;
    for (size_t i = 0; i < N_ENTRIES; i++) {
        gsai_rng rng = gsai_rng_of(7, i, 0);
        for (int draw = 0; draw < 20000; draw++) {
            double unit = (double)(gsai_rng_next(&rng) >> 12) * 0x1p-52;
            double x = entries[i].least + (entries[i].most - entries[i].least) * unit;
            double value = entries[i].real(x);
            uint64_t bits;
            memcpy(&bits, &value, sizeof bits);
            sum = gsai_mix(sum ^ bits);
        }
    }
    assert_true(sum == 0x58A8C059B5CF9673u);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_agree_with_fifty_digits),
        cmocka_unit_test(functions_agree_with_long_double),
        cmocka_unit_test(not_a_number_stays_so),
        cmocka_unit_test(infinities_have_their_limits),
        cmocka_unit_test(zeros_keep_their_sign),
        cmocka_unit_test(overflow_and_underflow_happen_where_they_must),
        cmocka_unit_test(sigmoid_is_one_only_where_nothing_is_nearer),
        cmocka_unit_test(functions_do_not_turn_back),
        cmocka_unit_test(bits_are_frozen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
