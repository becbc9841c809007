/* `greedystep export`: a model as a C file that needs nothing else. Here is the part before its functions. The same
 * model and name give the same bytes: no path, no date, and numbers are written by hand, not by printf's %a, which
 * differs between C libraries. */
#include "export.h"

#include "interrupt.h"
#include "message.h"
#include "output.h"
#include "session.h"
#include "verbs.h"
#include "views.h"

#include "base/schema_text.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const cli_option export_options[] = {
    {"output", 'o', OPTION_TEXT, false, "FILE", "-", 0, 0, "write the source here; - is standard output"},
    {"name", 0, OPTION_TEXT, false, "NAME", "that of MODEL", 0, 0, "prefix of names in the file, as in NAME_predict"},
};

enum { WEIGHTS_A_LINE = 6, IDS_A_LINE = 10 };

/* ---- the head --------------------------------------------------------------------------------------------------- */

static const char contract[] =
    " *\n"
    " *     int @_predict(const uint32_t *index, const float *value, size_t n, double *out);\n"
    " *\n"
    " * predicts a row of n features: number index[i], from 0, has the value value[i]. Numbers are distinct and "
    "ascend.\n"
    " * index NULL: feature i is number i. value NULL: all values are 1. Values of 0 and features that the model does "
    "not\n"
    " * know count for nothing.\n";

static const char rules[] =
    " * -1 if a value is not a finite number, and out is untouched. No memory is taken, nothing is written but out, "
    "no\n"
    " * function of the C library is called. The bits are those of `greedystep predict`. Compile without -ffast-math; "
    "a\n"
    " * compiler that fuses products and sums in spite of the pragma below needs -ffp-contract=off, or the last digit "
    "of\n"
    " * a probability may differ. */\n"
    "#include <float.h>\n"
    "#include <stddef.h>\n"
    "#include <stdint.h>\n\n"
    "#if DBL_MANT_DIG != 53 || DBL_MAX_EXP != 1024 || FLT_EVAL_METHOD < 0 || FLT_EVAL_METHOD == 2 || FLT_EVAL_METHOD > "
    "64\n"
    "#error \"double must be IEEE 754 binary64 and computed as such (32-bit x86: -msse2 -mfpmath=sse; AVR: "
    "-mdouble=64)\"\n"
    "#endif\n"
    "#ifdef __FAST_MATH__\n"
    "#error \"-ffast-math lets the compiler change the order of sums: compile this file without it\"\n"
    "#endif\n"
    "#if defined(__GNUC__) && !defined(__clang__)\n"
    "#pragma GCC optimize(\"-ffp-contract=off\")\n"
    "#else\n"
    "#pragma STDC FP_CONTRACT OFF\n"
    "#endif\n\n";

static const char cells[] =
    " *\n"
    " *     uint32_t @_word(const char *column, const char *word);\n"
    " *     size_t @_missing(uint32_t number, uint32_t *index, float *value);\n"
    " *     size_t @_tidy(uint32_t *index, float *value, size_t n);\n"
    " *\n"
    " * The first returns the number of a word in a column, whose value is 1; an empty cell is none. The second "
    "writes\n"
    " * the two features of a number that is missing and returns 2. The last brings a row into order, in place, and\n"
    " * returns its length: where two words have one number, their values are added.\n"
    " *\n";

static const char numbers[] = " *     float @_number(uint32_t number, double x);\n"
                              " *\n"
                              " * This returns the value of a number from its cell x. Those of columns that are "
                              "measured from another number than "
                              "0\n"
                              " * must be made by it: a float does not hold all their digits.\n"
                              " *\n";

static bool has_number(const gsai_schema_line *line)
{
    return gsai_schema_line_is(line, "number") || gsai_schema_line_is(line, "date") ||
           gsai_schema_line_is(line, "offset");
}

/* Lists the columns, which a schema has a line for each. */
static void put_columns(const char *schema, FILE *stream)
{
    uint64_t n = 0;
    for (gsai_schema_line line; gsai_schema_next_line(&schema, &line);) {
        if (has_number(&line))
            fprintf(stream, " * Number %" PRIu64 " is column ", n++);
        else if (gsai_schema_line_is(&line, "words"))
            fputs(" * Words: column ", stream);
        else
            continue;
        /* A column may be called anything, also what ends a comment. */
        for (const char *c = line.name; *c != '\0' && *c != '\n' && *c != '\t'; c++)
            putc((unsigned char)*c < ' ' || *c == 0x7F || *c == '*' || *c == '\\' || *c == '?' ? '.' : *c, stream);
        const char *offset = gsai_schema_item(&line, "offset");
        if (offset != NULL)
            fprintf(stream, ", measured from %.*s", (int)strcspn(offset, "\t\n"), offset);
        fputs(gsai_schema_line_is(&line, "date") ? ", in days since 1970-01-01; its weekday, month and hour are words\n"
                                                 : "\n",
              stream);
    }
}

static void put_head(const exported *what, FILE *stream)
{
    const gsa_model_info *info = &what->info;
    fprintf(stream, "/* A linear model by greedystep %s: %s loss, %" PRIu64 " features", gsa_version(), info->loss,
            info->n_used);
    if (info->n_classes > 0)
        fprintf(stream, ", %" PRIu64 " classes", info->n_classes);
    fputs(".\n", stream);
    export_put(what, contract, stream);
    /* The meaning of the numbers: indices of libsvm text, or the columns of a table. */
    if (gsa_model_schema(what->model) == NULL) {
        fputs(" * Number i is index i + 1 of libsvm text.\n", stream);
    } else {
        put_columns(gsa_model_schema(what->model), stream);
        export_put(what, cells, stream);
        if (what->has_offsets)
            export_put(what, numbers, stream);
        if (what->schema.n_crosses > 0)
            fputs(" * Crosses are the caller's to make: greedystep's docs/formats/csv.md says how.\n", stream);
    }
    const char *meaning = " * out[k], k < @_OUT, gets the margin of the class @_label[k]; the k of the largest is "
                          "returned, or\n";
    if (info->n_classes == 0)
        meaning = " * out[0] gets the number that is predicted, and 0 is returned, or\n";
    else if (info->has_probabilities)
        meaning = " * out[k], k < @_OUT, gets the probability of the class @_label[k]; the most probable k is "
                  "returned, or\n";
    else if (info->n_outputs == 1)
        meaning = " * out[0] gets the margin, and the k is returned whose @_label[k] is predicted: 1 if it is above 0; "
                  "or\n";
    export_put(what, meaning, stream);
    export_put(what, rules, stream);
}

/* ---- the data --------------------------------------------------------------------------------------------------- */

/* The bits of a float as a constant that reads back to them. */
static void put_float(float number, FILE *stream)
{
    uint32_t bits;
    memcpy(&bits, &number, sizeof bits);
    int exponent = (int)(bits >> 23 & 0xFF);
    const char *sign = bits >> 31 ? "-" : "";
    if (bits << 1 == 0)
        putc('0', stream);
    else
        fprintf(stream, "%s0x%d.%06" PRIx32 "p%df", sign, exponent > 0, (bits & 0x7FFFFF) << 1,
                exponent > 0 ? exponent - 127 : -126);
}

/* Writes the separator before entry i of a list. */
static void put_between(uint64_t i, uint64_t a_line, FILE *stream)
{
    fputs(i == 0 ? "\n " : i % a_line == 0 ? ",\n " : ",", stream);
}

/* Writes the labels as string literals. Bytes other than printable ASCII are octal; ? is quoted, as it may begin a
 * trigraph. */
static void put_labels(const exported *what, FILE *stream)
{
    if (what->info.n_classes == 0)
        return;
    export_put(what, "const char *const @_label[@_CLASSES] = {", stream);
    for (size_t k = 0; k < what->info.n_classes; k++) {
        put_between(k, 1, stream);
        putc('"', stream);
        for (const char *text = gsa_model_label(what->model, k); *text != '\0'; text++) {
            unsigned char c = (unsigned char)*text;
            if (c < ' ' || c > '~')
                fprintf(stream, "\\%03o", c);
            else
                fprintf(stream, c == '"' || c == '\\' || c == '?' ? "\\%c" : "%c", c);
        }
        putc('"', stream);
    }
    fputs("};\n\n", stream);
}

static void put_sizes(const exported *what, FILE *stream)
{
    const gsa_model_info *info = &what->info;
    export_put(
        what,
        "/* For those who call: these lines, or the whole file, can be included. @_OUT is the length of out. */\n",
        stream);
    bool is_pair = info->n_classes == 2 && info->n_outputs == 1 && info->has_probabilities;
    export_put(what, "#define @_OUT ", stream);
    fprintf(stream, "%" PRIu64 "\n", is_pair ? UINT64_C(2) : info->n_outputs);
    if (info->n_classes > 0) {
        export_put(what, "#define @_CLASSES ", stream);
        fprintf(stream, "%" PRIu64 "\n", info->n_classes);
        export_put(what, "extern const char *const @_label[@_CLASSES];\n", stream);
    }
    export_put(what, "int @_predict(const uint32_t *index, const float *value, size_t n, double *out);\n", stream);
    if (gsa_model_schema(what->model) != NULL)
        export_put(what,
                   "uint32_t @_word(const char *column, const char *word);\n"
                   "size_t @_missing(uint32_t number, uint32_t *index, float *value);\n"
                   "size_t @_tidy(uint32_t *index, float *value, size_t n);\n",
                   stream);
    if (what->has_offsets)
        export_put(what, "float @_number(uint32_t number, double x);\n", stream);
    putc('\n', stream);
}

/* Writes the numbers of the features that are written, or their weights; says whether it came to the end. Where no
 * feature has a weight, the last one is written, since there must be one. */
static bool put_kept(const exported *what, bool ids, FILE *stream)
{
    uint64_t n_outputs = what->info.n_outputs, n_lines;
    const uint32_t *id = gsa_model_features(what->model, &n_lines);
    bool is_last = !what->is_dense && what->info.n_used == 0;
    n_lines = what->is_dense ? what->n_features : is_last ? 1 : n_lines;
    for (uint64_t line = 0, n = 0; line < n_lines && n < what->n_kept; line++) {
        uint64_t i = is_last ? what->n_features - 1 : what->is_dense || id == NULL ? line : id[line];
        bool is_written = what->is_dense || is_last;
        if (interrupt_signal() != 0)
            return false;
        for (size_t k = 0; k < n_outputs && !is_written; k++)
            is_written = gsa_model_weight(what->model, i, k) != 0;
        if (!is_written)
            continue;
        if (ids) {
            put_between(n, IDS_A_LINE, stream);
            fprintf(stream, i > INT16_MAX ? "%" PRIu64 "u" : "%" PRIu64, i);
        }
        for (size_t k = 0; k < n_outputs && !ids; k++) {
            put_between(n * n_outputs + k, WEIGHTS_A_LINE, stream);
            put_float(gsa_model_weight(what->model, i, k), stream);
        }
        n++;
    }
    return true;
}

static void put_double(double number, FILE *stream)
{
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    int exponent = (int)(bits >> 52 & 0x7FF);
    const char *sign = bits >> 63 ? "-" : "";
    if (bits << 1 == 0)
        putc('0', stream);
    else
        fprintf(stream, "%s0x%d.%013" PRIx64 "p%d", sign, exponent > 0, bits & 0xFFFFFFFFFFFFFu,
                exponent > 0 ? exponent - 1023 : -1022);
}

/* Writes an item of every column of numbers: the offsets that they are measured from, as doubles, or the means that
 * replace missing ones, as floats. */
static uint64_t put_items(const exported *what, const char *name, bool is_float, FILE *stream)
{
    uint64_t n = 0;
    const char *schema = gsa_model_schema(what->model);
    for (gsai_schema_line line; gsai_schema_next_line(&schema, &line);)
        if (has_number(&line)) {
            const char *item = gsai_schema_item(&line, name);
            put_between(n++, WEIGHTS_A_LINE, stream);
            if (is_float)
                put_float(item != NULL ? strtof(item, NULL) : 0, stream);
            else
                put_double(item != NULL ? strtod(item, NULL) : 0, stream);
        }
    return n;
}

/* Writes the curves: feature, first knot and number of knots of each, and the knots. */
static void put_curves(const exported *what, uint64_t n_nodes, FILE *stream)
{
    gsa_curve curve = {.size = sizeof curve};
    uint64_t first = 0, n = 0;
    export_put(what, "static const uint32_t @_curve[][3] = {", stream);
    for (uint32_t i = 0; gsa_model_curve(what->model, i, &curve) == GSA_OK; i++) {
        first = i == 0 ? curve.first : first;
        put_between(i, IDS_A_LINE / 3, stream);
        fprintf(stream, "{%" PRIu64 "u, %" PRIu64 "u, %" PRIu32 "u}", curve.feature, curve.first - first,
                curve.n_knots);
    }
    export_put(what, "};\n\nstatic const float @_knot[] = {", stream);
    for (uint32_t i = 0; gsa_model_curve(what->model, i, &curve) == GSA_OK; i++)
        for (uint32_t k = 0; k < curve.n_knots; k++) {
            put_between(n++, WEIGHTS_A_LINE, stream);
            put_float(curve.knot[k], stream);
        }
    export_put(what, "};\n\n#define @_CURVES ", stream);
    fprintf(stream, "%" PRIu32 "\n", what->n_curves);
    export_put(what, "#define @_FIRST_KNOT ", stream);
    fprintf(stream, "%" PRIu64 "u\n", first);
    export_put(what, "#define @_KNOTS ", stream);
    fprintf(stream, "%" PRIu64 "u\n\n", n + n_nodes);
}

/* Writes the pairs: both features, where the knots of both sides begin and how many they are, and the first node; and
 * the knots. Returns the number of nodes. */
static uint64_t put_pairs(const exported *what, FILE *stream)
{
    gsa_pair pair = {.size = sizeof pair};
    uint64_t n_knots = 0, n_nodes = 0, n = 0;
    export_put(what, "static const uint32_t @_pair[][7] = {", stream);
    for (uint32_t i = 0; gsa_model_pair(what->model, i, &pair) == GSA_OK; i++) {
        put_between(i, 1, stream);
        fprintf(stream,
                "{%" PRIu64 "u, %" PRIu64 "u, %" PRIu64 "u, %" PRIu64 "u, %" PRIu32 "u, %" PRIu32 "u, %" PRIu64 "u}",
                pair.feature[0], pair.feature[1], n_knots, n_knots + pair.n_knots[0], pair.n_knots[0], pair.n_knots[1],
                pair.first);
        n_knots += (uint64_t)pair.n_knots[0] + pair.n_knots[1];
        n_nodes += (uint64_t)pair.n_knots[0] * pair.n_knots[1];
    }
    export_put(what, "};\n\nstatic const float @_side[] = {", stream);
    for (uint32_t i = 0; gsa_model_pair(what->model, i, &pair) == GSA_OK; i++)
        for (int side = 0; side < 2; side++)
            for (uint32_t k = 0; k < pair.n_knots[side]; k++) {
                put_between(n++, WEIGHTS_A_LINE, stream);
                put_float(pair.knot[side][k], stream);
            }
    export_put(what, "};\n\n#define @_PAIRS ", stream);
    fprintf(stream, "%" PRIu32 "\n\n", what->n_pairs);
    return n_nodes;
}

static bool put_model(const exported *what, FILE *stream)
{
    export_put(what, "#define @_FEATURES ", stream);
    fprintf(stream, "%" PRIu64 "u\n", what->n_features);
    export_put(what, "#define @_MARGINS ", stream);
    fprintf(stream, "%" PRIu64 "\n\n", what->info.n_outputs);
    export_put(what, "static const double @_intercept[@_MARGINS] = {", stream);
    for (size_t k = 0; k < what->info.n_outputs; k++) {
        put_between(k, WEIGHTS_A_LINE, stream);
        put_double(gsa_model_intercept(what->model, k), stream);
    }
    fputs("};\n\n", stream);
    if (!what->is_dense) {
        export_put(what, "/* The features that have a weight. */\nstatic const uint32_t @_id[] = {", stream);
        if (!put_kept(what, true, stream))
            return false;
        fputs("};\n\n", stream);
    }
    export_put(what, "static const float @_weight[] = {", stream);
    bool is_whole = put_kept(what, false, stream);
    fputs("};\n\n", stream);
    uint64_t n_nodes = what->n_pairs > 0 ? put_pairs(what, stream) : 0;
    if (what->n_curves > 0)
        put_curves(what, n_nodes, stream);
    return is_whole;
}

/* Writes as far as the stream takes it; the caller checks ferror. Returns false if a signal came. */
static bool write_c(const exported *what, FILE *stream)
{
    put_head(what, stream);
    put_sizes(what, stream);
    put_labels(what, stream);
    if (!what->is_constant && !put_model(what, stream))
        return false;
    export_put_functions(what, stream);
    if (gsa_model_schema(what->model) == NULL)
        return true;
    if (what->has_offsets) {
        export_put(what, "static const double @_offset[] = {", stream);
        put_items(what, "offset", false, stream);
        export_put(what,
                   "};\n\n"
                   "float @_number(uint32_t number, double x)\n"
                   "{\n"
                   "    return (float)(x - @_offset[number]);\n"
                   "}\n\n",
                   stream);
    }
    export_put(what, "static const float @_mean[] = {", stream);
    put_between(put_items(what, "mean", true, stream), WEIGHTS_A_LINE, stream);
    fputs("0};\n\n", stream); /* one more entry, because an array is not empty */
    export_put_cells(what, stream);
    return true;
}

/* ---- the verb --------------------------------------------------------------------------------------------------- */

enum { NAME_SIZE = 64 };

/* By hand, since isalpha asks the locale. */
static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_name_part(char c)
{
    return is_letter(c) || (c >= '0' && c <= '9') || c == '_';
}

/* dir/click-model.v2 becomes click_model, and what begins with no letter gets one. */
static const char *name_of_file(const char *path, char buffer[NAME_SIZE])
{
    const char *base = path + gsai_directory_len(path), *dot = strrchr(base, '.');
    size_t length = dot != NULL && dot > base ? (size_t)(dot - base) : strlen(base), n = 0;
    if (!is_letter(base[0])) {
        memcpy(buffer, "model_", 6);
        n = 6;
    }
    for (size_t i = 0; i < length && n + 1 < NAME_SIZE; i++)
        buffer[n++] = (char)(is_name_part(base[i]) ? base[i] : '_');
    buffer[n] = '\0';
    return buffer;
}

/* Whichever of the two forms has fewer bytes: a number of a feature is as large as a weight. */
static int describe(exported *what)
{
    gsa_error error = {0};
    gsa_curve curve = {.size = sizeof curve};
    what->info = info_of(what->model);
    while (gsa_model_curve(what->model, what->n_curves, &curve) == GSA_OK)
        what->n_curves++;
    for (gsa_pair pair = {.size = sizeof pair}; gsa_model_pair(what->model, what->n_pairs, &pair) == GSA_OK;)
        what->n_pairs++;
    const char *schema = gsa_model_schema(what->model);
    what->schema.size = sizeof what->schema;
    gsa_status status = schema != NULL ? gsa_schema_get_info(schema, &what->schema, &error) : GSA_OK;
    if (status != GSA_OK)
        return complain_error(status, &error);
    if (what->schema.n_texts > 0)
        return complain_failed("cannot export a model of texts: an exported model does not take words out of them; "
                               "use `greedystep predict` or Python");
    if (what->schema.n_per > 0)
        return complain_failed("cannot export a model with features per customer: use `greedystep predict` or Python");
    what->has_offsets = schema != NULL && strstr(schema, "\toffset=") != NULL;
    what->is_constant = what->info.has_probabilities && what->info.n_classes < 2;
    what->n_features = what->info.n_features > 0 ? what->info.n_features : 1;
    uint64_t n_lines;
    const uint32_t *id = gsa_model_features(what->model, &n_lines);
    for (uint64_t line = 0; line < n_lines; line++) {
        bool is_kept = false;
        for (size_t k = 0; k < what->info.n_outputs; k++)
            is_kept |= gsa_model_weight(what->model, id ? id[line] : line, k) != 0;
        what->n_kept += is_kept;
    }
    what->is_dense = what->n_features * what->info.n_outputs <= what->n_kept * (what->info.n_outputs + 1);
    if (what->is_dense)
        what->n_kept = what->n_features;
    else if (what->n_kept == 0)
        what->n_kept = 1;
    return EXIT_DONE;
}

static int run_export(const cli_arguments *arguments)
{
    char buffer[NAME_SIZE];
    gsa_model *model = NULL;
    cli_output output = {0};
    gsai_env env = session_env(arguments);
    const char *model_path = arguments->positional[0], *path = arguments_text(arguments, "output");
    exported what = {.name = name_of_file(model_path, buffer)};
    int code = EXIT_DONE;
    if (arguments_given(arguments, "name")) {
        what.name = arguments_text(arguments, "name");
        bool is_good = is_letter(what.name[0]) && strlen(what.name) < NAME_SIZE;
        for (const char *at = what.name; *at != '\0'; at++)
            is_good = is_good && is_name_part(*at);
        if (!is_good)
            return complain_usage("--name %s: expected a C identifier: a letter, then letters, digits and _, at most "
                                  "%d",
                                  what.name, NAME_SIZE - 1);
    }
    if (code == EXIT_DONE)
        code = session_check_not_input(arguments, "-o", path);
    if (code == EXIT_DONE)
        code = session_load_model(model_path, &env, &model);
    what.model = model;
    if (code == EXIT_DONE)
        code = describe(&what);
    if (code == EXIT_DONE)
        code = output_open(path, &output);
    if (code == EXIT_DONE) {
        interrupt_catch();
        if (!write_c(&what, output.stream))
            code = complain_interrupted();
        else if (ferror(output.stream))
            code = output_complain(&output);
    }
    if (code == EXIT_DONE)
        code = output_commit(&output);
    output_discard(&output);
    gsa_model_free(model);
    return code;
}

const cli_verb export_verb = {
    .name = "export",
    .usage = "MODEL [-o FILE] [--name NAME]",
    .summary = "write a model as a C file that predicts without this library",
    .details = "Writes one C99 file with the weights, the labels and a function that predicts a row. The function "
               "allocates no memory, calls no library and gives the same bits as `predict`. The caller passes feature "
               "numbers; a comment at the top of the file lists them, and another function computes those of "
               "categories (docs/export.md).",
    .examples = "# its function is my_model_predict\n"
                "greedystep export my.model --name my_model -o my_model.c\n"
                "cc -std=c99 -O2 -c my_model.c",
    .options = export_options,
    .n_options = sizeof export_options / sizeof *export_options,
    .positional = "MODEL",
    .takes_one = true,
    .run = run_export,
};
