/* The scale and shift of margins, for margins that tell nothing and are now and then huge: the best constant is always
 * among the choices, so that what is found may not be worse. */
#include "learn/scale_shift.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define N 800

static double uniform(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return ((double)(*seed >> 11) + 0.5) / 9007199254740992.0;
}

/* Returns the loss of the rows, a sum, by libm. */
static double loss_at(const float *margin, const float *target, double scale, double shift)
{
    double sum = 0;
    for (size_t i = 0; i < N; i++) {
        double z = scale * (double)margin[i] + shift;
        sum += fmax(z, 0) + log1p(exp(-fabs(z))) - (target[i] > 0 ? z : 0);
    }
    return sum;
}

static void margins_that_tell_nothing_are_no_worse_than_a_constant(void **unused)
{
    (void)unused;
    static float margin[N], target[N], weight[N], scratch[3 * N];
    static const double shares[] = {0.02, 0.1, 0.9};
    for (uint64_t seed = 1; seed <= 300; seed++) {
        uint64_t at_seed = seed;
        double share = shares[seed % 3], size = pow(10, 3 * uniform(&at_seed)), n[2] = {0};
        for (size_t i = 0; i < N; i++) {
            target[i] = uniform(&at_seed) < share ? 1 : 0;
            margin[i] = (float)(size * tan(3.14159265 * (uniform(&at_seed) - 0.5)));
            weight[i] = 1;
            n[target[i] > 0]++;
        }
        const double smoothing[2] = {1 / (n[0] + 2), 1 / (n[1] + 2)};
        const gsai_scaled_rows rows = {.loss = gsai_loss_logistic.rows,
                                       .at = {.math = &gsai_array_math_generic,
                                              .n = N,
                                              .n_outputs = 1,
                                              .stride = 1,
                                              .target = target,
                                              .weight = weight,
                                              .margin = margin,
                                              .scratch = scratch},
                                       .smoothing = smoothing,
                                       .has_shift = true,
                                       .prior = {1, 1},
                                       .unit = 1,
                                       .may_vanish = true,
                                       .scratch = scratch};
        gsai_scale_shift found = {1, 0, 0};
        assert_true(gsai_scale_shift_fit(&rows, &found));
        double constant = loss_at(margin, target, 0, log(n[1] / n[0]));
        double loss = loss_at(margin, target, found.scale, found.shift);
        if (!(loss < constant * 1.1 + 3)) /* priors and smoothed targets cost a little */
            fail_msg("seed %d: scale %g and shift %g have %g, a constant %g", (int)seed, found.scale, found.shift, loss,
                     constant);
    }
}

static int stop_at_second(void *ctx)
{
    int *n_asked = ctx;
    return ++*n_asked == 2;
}

/* There are two rows, and the third would be the first that is not there. */
static void a_stop_is_heard_before_the_margins_of_many_classes_are_read(void **unused)
{
    (void)unused;
    enum { CLASSES = 1000, ROWS = 1 << 30 };
    static float margin[2 * CLASSES], target[2], weight[] = {1, 1}, scratch[CLASSES];
    static double smoothing[CLASSES];
    int n_asked = 0;
    const gsai_env env = {.call = {.should_stop = stop_at_second, .ctx = &n_asked}};
    const gsai_scaled_rows rows = {.loss = gsai_loss_softmax.rows,
                                   .at = {.math = &gsai_array_math_generic,
                                          .n = ROWS,
                                          .n_outputs = CLASSES,
                                          .stride = CLASSES,
                                          .target = target,
                                          .weight = weight,
                                          .margin = margin,
                                          .scratch = scratch},
                                   .smoothing = smoothing,
                                   .prior = {1, 1},
                                   .unit = 1,
                                   .may_vanish = true,
                                   .scratch = scratch,
                                   .stop = &env};
    gsai_scale_shift at = {1, 0, 0};
    assert_false(gsai_scale_shift_fit(&rows, &at));
    assert_int_equal(n_asked, 2);
    assert_true(at.scale == 1 && at.shift == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stop_is_heard_before_the_margins_of_many_classes_are_read),
        cmocka_unit_test(margins_that_tell_nothing_are_no_worse_than_a_constant),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
