/* The functions of an exported model, as text of C99.
 *
 *   E1  sums are those of src/model/predict_batch.c: position j of a row goes to partial sum j mod 8 (one output), or
 *       each output has one sum, as with curves; a feature below n_features counts as a position also if it has no
 *       weight;
 *   E2  exponentials are those of src/base/real.c, operation by operation; the arguments are never above 0, which makes
 *       them shorter;
 *   E3  only what this model needs is written: no compiler has an unused function to complain of. */
#include "export.h"

#include <string.h>

void export_put(const exported *what, const char *text, FILE *stream)
{
    for (const char *at; (at = strchr(text, '@')) != NULL; text = at + 1) {
        fwrite(text, 1, (size_t)(at - text), stream);
        fputs(what->name, stream);
    }
    fputs(text, stream);
}

static const char find_dense[] = "/* The weights of a feature. */\n"
                                 "static const float *@_find(uint32_t id)\n"
                                 "{\n"
                                 "    return @_weight + (size_t)id * @_MARGINS;\n"
                                 "}\n\n";

static const char find_sparse[] = "/* The weights of a feature; NULL: all are 0. */\n"
                                  "static const float *@_find(uint32_t id)\n"
                                  "{\n"
                                  "    size_t low = 0, high = sizeof @_id / sizeof *@_id;\n"
                                  "    while (low < high) {\n"
                                  "        size_t middle = low + (high - low) / 2;\n"
                                  "        if (@_id[middle] == id)\n"
                                  "            return @_weight + middle * @_MARGINS;\n"
                                  "        if (@_id[middle] < id)\n"
                                  "            low = middle + 1;\n"
                                  "        else\n"
                                  "            high = middle;\n"
                                  "    }\n"
                                  "    return NULL;\n"
                                  "}\n\n";

static const char check[] = "static int @_is_finite(const float *value, size_t n)\n"
                            "{\n"
                            "    for (size_t i = 0; value != NULL && i < n; i++)\n"
                            "        if (!(value[i] >= -FLT_MAX && value[i] <= FLT_MAX))\n"
                            "            return 0;\n"
                            "    return 1;\n"
                            "}\n\n";

static const char margin_one[] = "/* Eight partial sums that take turns, as greedystep has them. */\n"
                                 "static double @_margin(const uint32_t *index, const float *value, size_t n)\n"
                                 "{\n"
                                 "    double s[8] = {0, 0, 0, 0, 0, 0, 0, 0};\n"
                                 "    size_t position = 0;\n"
                                 "    for (size_t i = 0; i < n; i++) {\n"
                                 "        double x = value != NULL ? (double)value[i] : 1.0;\n"
                                 "        uint32_t id = index != NULL ? index[i] : (uint32_t)i;\n"
                                 "        if (x == 0 || id >= @_FEATURES)\n"
                                 "            continue;\n"
                                 "        const float *weight = @_find(id);\n"
                                 "        if (weight != NULL)\n"
                                 "            s[position % 8] += (double)weight[0] * x;\n"
                                 "        position++;\n"
                                 "    }\n"
                                 "    double sum = ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));\n"
                                 "    return sum + @_intercept[0];\n"
                                 "}\n\n";

static const char margin_many[] =
    "static void @_margins(const uint32_t *index, const float *value, size_t n, double *out)\n"
    "{\n"
    "    for (size_t k = 0; k < @_OUT; k++)\n"
    "        out[k] = 0;\n"
    "    for (size_t i = 0; i < n; i++) {\n"
    "        double x = value != NULL ? (double)value[i] : 1.0;\n"
    "        uint32_t id = index != NULL ? index[i] : (uint32_t)i;\n"
    "        if (x == 0 || id >= @_FEATURES)\n"
    "            continue;\n"
    "        const float *weight = @_find(id);\n"
    "        for (size_t k = 0; weight != NULL && k < @_OUT; k++)\n"
    "            out[k] += (double)weight[k] * x;\n"
    "    }\n"
    "    for (size_t k = 0; k < @_OUT; k++)\n"
    "        out[k] += @_intercept[k];\n"
    "}\n\n";

static const char margins_of_curves[] =
    "/* Adds the weights of a feature, times x. */\n"
    "static void @_add(uint64_t id, double x, double *out)\n"
    "{\n"
    "    const float *weight = id < @_FEATURES ? @_find((uint32_t)id) : NULL;\n"
    "    for (size_t k = 0; weight != NULL && k < @_MARGINS; k++)\n"
    "        out[k] += (double)weight[k] * x;\n"
    "}\n\n"
    "/* A value has a share in the knot above it, and the rest in the knot below, whose number is returned. */\n"
    "static uint32_t @_place(const float *knot, uint32_t n, float x, float *share)\n"
    "{\n"
    "    uint32_t at = 0, left = n - 1;\n"
    "    while (left > 1) {\n"
    "        uint32_t half = left / 2;\n"
    "        at += x >= knot[at + half] ? half : 0;\n"
    "        left -= half;\n"
    "    }\n"
    "    double part = ((double)x - (double)knot[at]) / ((double)knot[at + 1] - (double)knot[at]);\n"
    "    *share = part > 0 ? part < 1 ? (float)part : 1.0f : 0.0f;\n"
    "    return at;\n"
    "}\n\n";

static const char add_pairs[] =
    "/* A pair of features has shares in the four nodes around their values. */\n"
    "static void @_add_pairs(const uint32_t *index, const float *value, size_t n, double *out)\n"
    "{\n"
    "    for (size_t p = 0; p < @_PAIRS; p++) {\n"
    "        const uint32_t *pair = @_pair[p];\n"
    "        float x[2] = {0, 0}, share[2] = {0, 0};\n"
    "        uint32_t at[2] = {0, 0};\n"
    "        int is_there = 1;\n"
    "        for (size_t i = 0; i < n; i++)\n"
    "            for (int j = 0; j < 2; j++)\n"
    "                if ((index != NULL ? index[i] : (uint32_t)i) == pair[j])\n"
    "                    x[j] = value != NULL ? value[i] : 1.0f;\n"
    "        for (int j = 0; j < 2; j++) {\n"
    "            const float *knot = @_side + pair[2 + j];\n"
    "            if (x[j] == 0 && (knot[0] > 0 || knot[pair[4 + j] - 1] < 0))\n"
    "                is_there = 0;\n"
    "            at[j] = @_place(knot, pair[4 + j], x[j], &share[j]);\n"
    "        }\n"
    "        for (uint32_t k = 0; is_there && k < 4; k++) {\n"
    "            float first = k / 2 != 0 ? share[0] : 1 - share[0], second = k % 2 != 0 ? share[1] : 1 - share[1];\n"
    "            float both = first * second;\n"
    "            if (both != 0)\n"
    "                @_add((uint64_t)pair[6] + (at[0] + k / 2) * pair[5] + at[1] + k % 2, (double)both, out);\n"
    "        }\n"
    "    }\n"
    "}\n\n";

static const char sum_of_curves[] =
    "static void @_margins(const uint32_t *index, const float *value, size_t n, double *out)\n"
    "{\n"
    "    for (size_t k = 0; k < @_MARGINS; k++)\n"
    "        out[k] = 0;\n"
    "    for (size_t i = 0; i < n; i++) {\n"
    "        float x = value != NULL ? value[i] : 1.0f, share;\n"
    "        uint32_t id = index != NULL ? index[i] : (uint32_t)i;\n"
    "        size_t low = 0, high = @_CURVES;\n"
    "        if (x == 0)\n"
    "            continue;\n"
    "        while (low < high) {\n"
    "            size_t middle = low + (high - low) / 2;\n"
    "            if (@_curve[middle][0] < id)\n"
    "                low = middle + 1;\n"
    "            else\n"
    "                high = middle;\n"
    "        }\n"
    "        if (low == @_CURVES || @_curve[low][0] != id) {\n"
    "            @_add(id < @_FIRST_KNOT ? (uint64_t)id : (uint64_t)id + @_KNOTS, (double)x, out);\n"
    "            continue;\n"
    "        }\n"
    "        uint32_t at = @_place(@_knot + @_curve[low][1], @_curve[low][2], x, &share);\n"
    "        uint64_t first = (uint64_t)@_FIRST_KNOT + @_curve[low][1] + at;\n"
    "        @_add(first, (double)(1.0f - share), out);\n"
    "        @_add(first + 1, (double)share, out);\n"
    "    }\n";
static const char calls_pairs[] = "    @_add_pairs(index, value, n, out);\n";
static const char adds_intercepts[] = "    for (size_t k = 0; k < @_MARGINS; k++)\n"
                                      "        out[k] += @_intercept[k];\n"
                                      "}\n\n";

static const char margin_of_curves[] = "static double @_margin(const uint32_t *index, const float *value, size_t n)\n"
                                       "{\n"
                                       "    double margin;\n"
                                       "    @_margins(index, value, n, &margin);\n"
                                       "    return margin;\n"
                                       "}\n\n";

static const char exponential[] =
    "static double @_power_of_two(int k)\n"
    "{\n"
    "    union {\n"
    "        uint64_t bits;\n"
    "        double number;\n"
    "    } power;\n"
    "    power.bits = (uint64_t)(k + 1023) << 52;\n"
    "    return power.number;\n"
    "}\n\n"
    "/* e^x = 2^k (1 + r + tail) for -746 <= x <= 710. Every operation is one of IEEE 754: the same bits everywhere. "
    "*/\n"
    "typedef struct @_reduced {\n"
    "    double r, tail;\n"
    "    int k;\n"
    "} @_reduced;\n\n"
    "static @_reduced @_reduce(double x)\n"
    "{\n"
    "    double n = (x * 0x1.71547652b82fep+0 + 0x1.8p52) - 0x1.8p52;\n"
    "    double high = x - n * 0x1.62e42fefa3p-1;\n"
    "    double low = n * 0x1.3de6af278ece6p-42;\n"
    "    double r = high - low;\n"
    "    double r_low = (high - r) - low;\n"
    "    double z = r * r;\n"
    "    double zz = z * z;\n"
    "    double a = 1.0 / 2 + r * (1.0 / 6);\n"
    "    double b = 1.0 / 24 + r * (1.0 / 120);\n"
    "    double c = 1.0 / 720 + r * (1.0 / 5040);\n"
    "    double d = 1.0 / 40320 + r * (1.0 / 362880);\n"
    "    double e = 1.0 / 3628800 + r * (1.0 / 39916800);\n"
    "    double f = 1.0 / 479001600 + r * (1.0 / 6227020800);\n"
    "    double series = (a + z * b) + zz * ((c + z * d) + zz * (e + z * f));\n"
    "    @_reduced out = {r, z * series + (r_low + r_low * r), (int)n};\n"
    "    return out;\n"
    "}\n\n"
    "/* e^x for x <= 710. */\n"
    "static double @_exp(double x)\n"
    "{\n"
    "    if (!(x >= -746.0))\n"
    "        return 0.0;\n"
    "    @_reduced e = @_reduce(x);\n"
    "    double high = 1.0 + e.r, low = e.r - (high - 1.0);\n"
    "    int half = e.k / 2;\n"
    "    return (high + (low + e.tail)) * @_power_of_two(half) * @_power_of_two(e.k - half);\n"
    "}\n\n";

static const char two_probabilities[] =
    "/* With t = e^-|margin|: the smaller one is t / (1 + t), the other 1 minus that. */\n"
    "static void @_probabilities(double margin, double *out)\n"
    "{\n"
    "    int larger = !(margin < 0);\n"
    "    double x = margin < 0 ? margin : -margin;\n"
    "    if (x < -40.0) {\n"
    "        out[larger] = 1.0;\n"
    "        out[!larger] = @_exp(x);\n"
    "        return;\n"
    "    }\n"
    "    @_reduced e = @_reduce(x);\n"
    "    double power = @_power_of_two(e.k);\n"
    "    double high = 1.0 + e.r, low = (e.r - (high - 1.0)) + e.tail;\n"
    "    double sum = high + low;\n"
    "    double t = sum * power, t_low = (low - (sum - high)) * power;\n"
    "    double one = 1.0 + t, one_low = t - (one - 1.0);\n"
    "    double quotient = t / one;\n"
    "    double correction = (t_low - quotient * (one_low + t_low)) / one;\n"
    "    double rest = 1.0 - quotient, rest_low = -quotient - (rest - 1.0);\n"
    "    out[larger] = rest + (rest_low - correction);\n"
    "    out[!larger] = quotient + correction;\n"
    "}\n\n";

static const char many_probabilities[] =
    "/* Margins into probabilities, in place. */\n"
    "static void @_probabilities(double *out)\n"
    "{\n"
    "    double s[8] = {0, 0, 0, 0, 0, 0, 0, 0}, most = out[0];\n"
    "    for (size_t k = 1; k < @_OUT; k++)\n"
    "        most = out[k] > most ? out[k] : most;\n"
    "    for (size_t k = 0; k < @_OUT; k++) {\n"
    "        out[k] = @_exp(out[k] - most);\n"
    "        s[k % 8] += out[k];\n"
    "    }\n"
    "    double total = ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));\n"
    "    for (size_t k = 0; k < @_OUT; k++)\n"
    "        out[k] /= total;\n"
    "}\n\n";

static const char predict_begins[] = "int @_predict(const uint32_t *index, const float *value, size_t n, double *out)\n"
                                     "{\n"
                                     "    if (!@_is_finite(value, n))\n"
                                     "        return -1;\n";
static const char predict_number[] = "    out[0] = @_margin(index, value, n);\n"
                                     "    return 0;\n"
                                     "}\n";
static const char predict_count[] = "    double margin = @_margin(index, value, n);\n"
                                    "    double count = @_exp(margin < 710.0 ? margin : 710.0);\n"
                                    "    out[0] = count < 0x1.fffffffffffffp+1023 ? count : 0x1.fffffffffffffp+1023;\n"
                                    "    return 0;\n"
                                    "}\n";
static const char predict_single[] = "    (void)index; /* one label is all that this model has seen */\n"
                                     "    out[0] = 1.0;\n"
                                     "    return 0;\n"
                                     "}\n";
static const char predict_two[] = "    @_probabilities(@_margin(index, value, n), out);\n"
                                  "    return out[1] > out[0];\n"
                                  "}\n";
static const char predict_hinge[] = "    out[0] = @_margin(index, value, n);\n"
                                    "    return @_CLASSES == 2 && out[0] > 0;\n"
                                    "}\n";
static const char predict_margins[] = "    @_margins(index, value, n, out);\n";
static const char predict_softmax[] = "    @_probabilities(out);\n";
static const char predict_best[] = "    int best = 0;\n"
                                   "    for (int k = 1; k < (int)@_OUT; k++)\n"
                                   "        best = out[k] > out[best] ? k : best;\n"
                                   "    return best;\n"
                                   "}\n";

/* Returns the rest of the predict function, after predict_begins, for a model with one output. */
static const char *predict_one(const exported *what)
{
    if (what->is_constant)
        return predict_single;
    if (what->info.has_probabilities)
        return predict_two;
    if (what->info.has_log_link)
        return predict_count;
    return what->info.n_classes > 0 ? predict_hinge : predict_number;
}

void export_put_functions(const exported *what, FILE *stream)
{
    bool is_one = what->info.n_outputs == 1, has_probabilities = what->info.has_probabilities && !what->is_constant;
    if (!what->is_constant)
        export_put(what, what->is_dense ? find_dense : find_sparse, stream);
    export_put(what, check, stream);
    if (!what->is_constant && what->n_curves > 0) {
        const char *const parts[] = {margins_of_curves, add_pairs, sum_of_curves, calls_pairs, adds_intercepts};
        for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
            if (what->n_pairs > 0 || i % 2 == 0)
                export_put(what, parts[i], stream);
    }
    if (!what->is_constant && (is_one || what->n_curves == 0))
        export_put(what, !is_one ? margin_many : what->n_curves > 0 ? margin_of_curves : margin_one, stream);
    if (has_probabilities || what->info.has_log_link)
        export_put(what, exponential, stream);
    if (has_probabilities) {
        export_put(what, is_one ? two_probabilities : many_probabilities, stream);
    }
    export_put(what, predict_begins, stream);
    export_put(what, is_one ? predict_one(what) : predict_margins, stream);
    if (has_probabilities && !is_one)
        export_put(what, predict_softmax, stream);
    if (!is_one)
        export_put(what, predict_best, stream);
}
