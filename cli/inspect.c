/* `greedystep inspect`: describes a model and its strongest features. Other files are data: inspect_data.c. */
#include "inspect_data.h"
#include "message.h"
#include "printable.h"
#include "report.h"
#include "session.h"
#include "verbs.h"
#include "views.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static const cli_option inspect_options[] = {
    {"top", 0, OPTION_COUNT, false, "N", "10", 0, 10000,
     "number of features to print: the strongest of a model, the most frequent of data"},
    {"json", 0, OPTION_FLAG, false, NULL, NULL, 0, 0, "print everything as one JSON object"},
};

enum { LABELS_SHOWN = 20 };

typedef struct inspection {
    const char *path;
    gsa_model *model;
    gsa_state *state; /* NULL if not found beside the model */
    gsa_model_info info;
    gsa_schema_info schema;
    gsa_strong_feature *top; /* the strongest first, each at the output where its weight is largest */
    size_t n_top;
    uint64_t n_nonzero;    /* weights */
    double collision_rate; /* as gsa_reader_collision_rate: by the features hashed to that have a weight */
} inspection;

/* Returns the class that a weight belongs to; NULL if there is one output. */
static const char *label_of(const inspection *what, const gsa_strong_feature *feature)
{
    return what->info.n_outputs > 1 ? gsa_model_label(what->model, feature->output) : NULL;
}

/* ---- for people ------------------------------------------------------------------------------------------------- */

static void print_state(const gsa_state *state, bool is_solved)
{
    gsa_summary summary = summary_of(state);
    if (is_solved)
        report_field("state", "at the optimum");
    else if (summary.pass_rows > 0)
        report_field("state", "at row %" PRIu64 " of pass %" PRIu64, summary.pass_rows, summary.pass + 1);
    else
        report_field("state", "at the end of pass %" PRIu64, summary.pass);
    if (*gsa_state_position(state) != '\0') {
        report_name("position");
        printable_put(stdout, gsa_state_position(state));
        putchar('\n');
    }
    if (!is_solved)
        report_field("mean step", "%.6g", summary.step);
    if (summary.n_held_out > 0)
        report_field("held out", "%" PRIu64, summary.n_held_out);
    if (summary.n_merged > 1)
        report_field("merged", "%" PRIu64 " runs", summary.n_merged);
}

static void print_top(const inspection *what)
{
    if (what->n_top == 0)
        return;
    bool has_names = gsa_model_schema(what->model) != NULL, has_importance = !isnan(what->top[0].importance);
    putchar('\n');
    if (what->info.n_classes == 2 && what->info.n_outputs == 1)
        report_heading("strongest features (positive weights favour %s)", gsa_model_label(what->model, 1));
    else
        report_heading("strongest features");
    printf("%10s%s  %12s%s%s\n", "index", has_importance ? "    importance" : "", "weight", has_names ? "  name" : "",
           what->info.n_outputs > 1 ? "  label" : "");
    for (size_t i = 0; i < what->n_top; i++) {
        const gsa_strong_feature *feature = &what->top[i];
        const char *label = label_of(what, feature), *name = gsa_model_name(what->model, feature->feature);
        printf("%10" PRIu64, feature->feature + 1);
        if (has_importance)
            printf("  %12.4g", feature->importance);
        if (isnan(feature->weight))
            printf("  %12s%s", "curve", has_names ? "  " : "");
        else
            printf("  %12.6g%s", feature->weight, has_names ? "  " : "");
        printable_put(stdout, !has_names ? "" : name != NULL ? name : "?");
        fputs(label != NULL ? "  " : "", stdout);
        printable_put(stdout, label != NULL ? label : "");
        putchar('\n');
    }
}

static void print_inspection(const inspection *what)
{
    const gsa_model_info *info = &what->info;
    bool is_solved = is_optimum(info->method);
    const char *label;
    report_field("loss", "%s", info->loss);
    report_field("method", "%s", info->method);
    if (!is_solved)
        report_field("average", "%s", info->average);
    if (info->n_classes > 0) {
        report_field("classes", "%" PRIu64, info->n_classes);
        report_name("labels");
        for (size_t i = 0; i < LABELS_SHOWN && (label = gsa_model_label(what->model, i)) != NULL; i++) {
            fputs(i > 0 ? " " : "", stdout);
            printable_put(stdout, label);
        }
        puts(info->n_classes > LABELS_SHOWN ? " ..." : "");
    }
    report_field("rows learned", "%" PRIu64, info->n_rows);
    if (!is_solved)
        report_field("passes", "%" PRIu64, info->n_passes);
    report_field("features", "%" PRIu64, info->n_used);
    if (what->n_nonzero <= info->n_used * info->n_outputs) /* a column that bends has several */
        report_field("nonzero weights", "%" PRIu64 " of %" PRIu64, what->n_nonzero, info->n_used * info->n_outputs);
    if (info->has_intercept) {
        report_name("intercept");
        for (size_t i = 0; i < LABELS_SHOWN && i < info->n_outputs; i++)
            printf("%s%.6g", i > 0 ? " " : "", gsa_model_intercept(what->model, i));
        puts(info->n_outputs > LABELS_SHOWN ? " ..." : "");
    } else {
        report_field("intercept", "off");
    }
    if (what->schema.n_words + what->schema.n_crosses > 0)
        report_field("hashing", "2^%u slots, about %.3g %% collisions%s", what->schema.bits, 100 * what->collision_rate,
                     what->collision_rate > 0.1 && what->schema.bits < 31 ? "; more --bits would avoid them" : "");
    /* The metrics that training measured, and what it chose. */
    char quality[512] = "";
    double held_out = report_result(what->model, "held_out_loss");
    double baseline = report_result(what->model, "baseline_loss");
    if (!isnan(held_out)) {
        report_append_quality(quality, sizeof quality, what->model, NULL, held_out, baseline);
        report_field("quality", "%s", quality);
    }
    report_choices(what->model, report_field);
    if (what->state != NULL)
        print_state(what->state, is_solved);
    print_top(what);
}

/* ---- for programs ----------------------------------------------------------------------------------------------- */

static json_t *top_json(const inspection *what)
{
    json_t *list = json_array();
    for (size_t i = 0; i < what->n_top; i++) {
        json_t *entry = json_object();
        const gsa_strong_feature *feature = &what->top[i];
        const char *label = label_of(what, feature), *name = gsa_model_name(what->model, feature->feature);
        json_object_set_new(entry, "index", report_count(feature->feature + 1));
        json_object_set_new(entry, "importance", report_real(feature->importance));
        json_object_set_new(entry, "weight", report_real(feature->weight));
        if (label != NULL)
            json_object_set_new(entry, "label", report_text(label));
        if (name != NULL)
            json_object_set_new(entry, "name", report_text(name));
        json_array_append_new(list, entry);
    }
    return list;
}

static int print_json(const inspection *what)
{
    const gsa_model_info *info = &what->info;
    json_t *object = json_object(), *labels = json_array();
    json_t *intercepts = info->has_intercept ? json_array() : json_null();
    const char *label;
    for (size_t i = 0; (label = gsa_model_label(what->model, i)) != NULL; i++)
        json_array_append_new(labels, report_text(label));
    for (size_t i = 0; i < info->n_outputs && info->has_intercept; i++)
        json_array_append_new(intercepts, report_real(gsa_model_intercept(what->model, i)));
    json_object_set_new(object, "model", report_text(what->path));
    json_object_set_new(object, "loss", json_string(info->loss));
    json_object_set_new(object, "method", json_string(info->method));
    json_object_set_new(object, "average", json_string(info->average));
    json_object_set_new(object, "classes", report_count(info->n_classes));
    json_object_set_new(object, "labels", labels);
    json_object_set_new(object, "rows", report_count(info->n_rows));
    json_object_set_new(object, "passes", report_count(info->n_passes));
    json_object_set_new(object, "features", report_count(info->n_used));
    json_object_set_new(object, "nonzero_weights", report_count(what->n_nonzero));
    json_object_set_new(object, "intercept", intercepts);
    if (what->schema.n_words + what->schema.n_crosses > 0) {
        json_object_set_new(object, "bits", report_count(what->schema.bits));
        json_object_set_new(object, "colliding", report_real(what->collision_rate));
    }
    report_results_json(object, what->model);
    json_object_set_new(object, "top", top_json(what));
    if (what->state == NULL) {
        json_object_set_new(object, "state", json_null());
        return report_print_json(object);
    }
    gsa_summary summary = summary_of(what->state);
    const char *position = gsa_state_position(what->state);
    json_object_set_new(object, "state",
                        json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "passes", report_count(summary.pass), "pass_rows",
                                  report_count(summary.pass_rows), "position",
                                  *position != '\0' ? report_text(position) : json_null(), "mean_step",
                                  report_real(summary.step), "held_out", report_count(summary.n_held_out), "merged",
                                  report_count(summary.n_merged)));
    return report_print_json(object);
}

/* ---- the verb --------------------------------------------------------------------------------------------------- */

/* Loads a model, or the state of a run with the model that it would end with now. */
static int load(const cli_arguments *arguments, inspection *out)
{
    gsai_env env = session_env(arguments);
    gsa_error error = {0};
    gsa_status status = GSA_OK;
    out->path = arguments->positional[0];
    bool is_state = session_is_named(out->path, ".state");
    int code =
        is_state ? session_load_state(out->path, &env, &out->state) : session_load_model(out->path, &env, &out->model);
    if (code != EXIT_DONE)
        return code;
    if (is_state)
        status = gsa_state_finish(out->state, &env.call, &out->model, &error);
    const char *schema = status == GSA_OK ? gsa_model_schema(out->model) : NULL;
    out->schema.size = sizeof out->schema;
    if (schema != NULL)
        status = gsa_schema_get_info(schema, &out->schema, &error);
    if (status != GSA_OK)
        return complain_error(status, &error);
    const gsa_model_info *info = &out->info;
    out->info = info_of(out->model);
    size_t max = (size_t)arguments_number(arguments, "top");
    out->top = calloc(max + 1, sizeof *out->top);
    if (out->top == NULL)
        return complain_failed("out of memory");
    out->n_top = gsa_model_strongest(out->model, SIZE_MAX, out->top, max);
    uint64_t n_used = 0; /* features that words are hashed to and whose weight is not 0 */
    uint64_t n_lines;
    const uint32_t *id = gsa_model_features(out->model, &n_lines);
    const float *weight = gsa_model_weights(out->model);
    for (uint64_t line = 0; line < n_lines; line++) {
        uint64_t before = out->n_nonzero;
        for (size_t output = 0; output < info->n_outputs; output++)
            out->n_nonzero += *weight++ != 0;
        n_used += out->n_nonzero > before && (id != NULL ? id[line] : line) >= out->schema.n_numbers;
    }
    out->collision_rate = (double)n_used / (double)(UINT64_C(1) << out->schema.bits);
    return EXIT_DONE;
}

static int inspect_model(const cli_arguments *arguments)
{
    static const char *const of_data[] = {"label",   "labels",     "weight",     "exposure", "categorical",
                                          "decimal", "dates",      "missing",    "ignore",   "cross",
                                          "bits",    "bad-rows",   "group",      "time",     "text",
                                          "offset",  "increasing", "decreasing", "per"};
    inspection what = {0};
    gsai_env env = session_env(arguments);
    for (size_t i = 0; i < sizeof of_data / sizeof *of_data; i++)
        if (arguments_given(arguments, of_data[i]))
            return complain_usage("--%s is only for data, and %s is a model; leave it out", of_data[i],
                                  arguments->positional[0]);
    int code = load(arguments, &what);
    if (code == EXIT_DONE) {
        /* A state that cannot be read is told, and the model is shown all the same. */
        bool has_other = what.state == NULL && session_has_state(what.path);
        int state_code = has_other ? session_load_state(what.path, &env, &what.state) : EXIT_DONE;
        if (arguments_flag(arguments, "json"))
            code = print_json(&what);
        else
            print_inspection(&what);
        code = code == EXIT_DONE ? state_code : code;
    }
    free(what.top);
    gsa_state_free(what.state);
    gsa_model_free(what.model);
    return code;
}

static int run_inspect(const cli_arguments *arguments)
{
    for (size_t i = 0; i < arguments->n_positional; i++) {
        const char *path = arguments->positional[i];
        struct stat facts;
        unsigned char bytes[9];
        if (stat(path, &facts) != 0 || !S_ISREG(facts.st_mode)) /* a stream is data: its bytes come once */
            continue;
        FILE *file = fopen(path, "rb");
        size_t size = file != NULL ? fread(bytes, 1, sizeof bytes, file) : 0;
        if (file != NULL)
            fclose(file);
        if (gsa_model_matches(bytes, size) != 0)
            return arguments->n_positional == 1
                       ? inspect_model(arguments)
                       : complain_usage("inspect takes one model or data files, and %s is a model; give it alone",
                                        path);
    }
    return inspect_data(arguments);
}

const cli_verb inspect_verb = {
    .name = "inspect",
    .usage = "MODEL|DATA... [OPTIONS]",
    .summary = "describe a model, or profile data and warn about problems",
    .details =
        "For a model: prints loss, labels, size, intercept, what was chosen on held-out rows, the quality on them and "
        "the strongest features, by their index in the data (from 1) or by column and column=category of a table. If "
        "MODEL.state exists, or is given itself, prints the "
        "progress of training too. The importance of a feature is its absolute weight times its standard deviation on "
        "the training rows: how much it changes predictions, in any unit.\n\nFor data: reads the rows once and prints "
        "the detected format, rows, labels and their frequencies, then one line per column (missing cells, distinct "
        "values, range, frequent categories) or the most frequent features, and warnings with remedies: ids, row "
        "numbers, copies of the label, constants, rare classes, rows sorted by label.",
    .examples = "# before training: the table\ngreedystep inspect clicks.csv --label clicked\n# after training: the "
                "model\ngreedystep inspect clicks.model --top 20",
    .options = inspect_options,
    .n_options = sizeof inspect_options / sizeof *inspect_options,
    .reads_data = true,
    .positional = "MODEL or DATA",
    .run = run_inspect,
};
