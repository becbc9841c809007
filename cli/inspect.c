/* `greedystep inspect`: describes a model and its strongest features. Other files are data: inspect_data.c. */
#include "inspect_data.h"
#include "message.h"
#include "printable.h"
#include "report.h"
#include "session.h"
#include "strongest.h"
#include "verbs.h"
#include "views.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
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
    strongest found; /* n_used: of those that words are hashed to */
} inspection;

/* ---- for people ------------------------------------------------------------------------------------------------- */

static void print_labels(const inspection *what)
{
    if (what->info.n_classes == 0)
        return;
    report_field("classes", "%" PRIu64, what->info.n_classes);
    report_name("labels");
    const char *label;
    for (size_t i = 0; i < LABELS_SHOWN && (label = gsa_model_label(what->model, i)) != NULL; i++) {
        fputs(i > 0 ? " " : "", stdout);
        printable_put(stdout, label);
    }
    puts(what->info.n_classes > LABELS_SHOWN ? " ..." : "");
}

static void print_intercepts(const inspection *what)
{
    if (!what->info.has_intercept) {
        report_field("intercept", "off");
        return;
    }
    report_name("intercept");
    for (size_t i = 0; i < LABELS_SHOWN && i < what->info.n_outputs; i++)
        printf("%s%.6g", i > 0 ? " " : "", gsa_model_intercept(what->model, i));
    puts(what->info.n_outputs > LABELS_SHOWN ? " ..." : "");
}

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

/* As gsa_reader_collision_rate: by the features that have a weight. */
static double collision_rate(const inspection *what)
{
    return (double)what->found.n_used / (double)(UINT64_C(1) << what->schema.bits);
}

static void print_results(const inspection *what)
{
    char line[512] = "";
    double held_out = report_result(what->model, "held_out_loss");
    if (!isnan(held_out)) {
        report_append_quality(line, sizeof line, what->model, NULL, held_out,
                              report_result(what->model, "baseline_loss"));
        report_field("quality", "%s", line);
    }
    line[0] = '\0';
    report_append_chosen(line, sizeof line, what->model);
    if (line[0] != '\0')
        report_field("chosen", "%s", line);
}

static void print_top(const inspection *what)
{
    if (what->found.n == 0)
        return;
    bool has_names = gsa_model_schema(what->model) != NULL, has_importance = what->found.has_importance;
    putchar('\n');
    if (what->info.n_classes == 2 && what->info.n_outputs == 1)
        report_heading("strongest features (positive weights favour %s)", gsa_model_label(what->model, 1));
    else
        report_heading("strongest features");
    printf("%10s%s  %12s%s%s\n", "index", has_importance ? "    importance" : "", "weight", has_names ? "  name" : "",
           what->info.n_outputs > 1 ? "  label" : "");
    for (size_t i = 0; i < what->found.n; i++) {
        const gsa_strong_feature *feature = &what->found.at[i];
        const char *label = strongest_label(&what->found, feature);
        const char *name = gsa_model_name(what->model, feature->feature);
        printf("%10" PRIu64, feature->feature + 1);
        if (has_importance)
            printf("  %12.4g", feature->importance);
        printf("  %12.6g%s", feature->weight, has_names ? "  " : "");
        printable_put(stdout, !has_names ? "" : name != NULL ? name : "?");
        fputs(label != NULL ? "  " : "", stdout);
        printable_put(stdout, label != NULL ? label : "");
        putchar('\n');
    }
}

static int print_inspection(const inspection *what)
{
    const gsa_model_info *info = &what->info;
    bool is_solved = is_optimum(info->method);
    report_field("loss", "%s", info->loss);
    report_field("method", "%s", info->method);
    if (!is_solved)
        report_field("average", "%s", info->average);
    print_labels(what);
    report_field("rows learned", "%" PRIu64, info->n_rows);
    if (!is_solved)
        report_field("passes", "%" PRIu64, info->n_passes);
    report_field("features", "%" PRIu64, info->n_features);
    report_field("nonzero weights", "%" PRIu64 " of %" PRIu64, what->found.n_nonzero,
                 info->n_features * info->n_outputs);
    print_intercepts(what);
    if (what->schema.n_words + what->schema.n_crosses > 0)
        report_field("hashing", "2^%u slots, about %.3g %% collisions%s", what->schema.bits, 100 * collision_rate(what),
                     collision_rate(what) > 0.1 && what->schema.bits < 31 ? "; more --bits would avoid them" : "");
    print_results(what);
    if (what->state != NULL)
        print_state(what->state, is_solved);
    print_top(what);
    return EXIT_DONE;
}

/* ---- for programs ----------------------------------------------------------------------------------------------- */

static json_t *state_json(const gsa_state *state)
{
    gsa_summary summary = summary_of(state);
    const char *position = gsa_state_position(state);
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "passes", report_count(summary.pass), "pass_rows",
                     report_count(summary.pass_rows), "position",
                     *position != '\0' ? report_text(position) : json_null(), "mean_step", report_real(summary.step),
                     "held_out", report_count(summary.n_held_out), "merged", report_count(summary.n_merged));
}

static int print_json(const inspection *what)
{
    const gsa_model_info *info = &what->info;
    json_t *object = json_object();
    json_object_set_new(object, "model", report_text(what->path));
    json_object_set_new(object, "loss", json_string(info->loss));
    json_object_set_new(object, "method", json_string(info->method));
    json_object_set_new(object, "average", json_string(info->average));
    json_object_set_new(object, "classes", report_count(info->n_classes));
    json_object_set_new(object, "labels", report_labels(what->model, SIZE_MAX));
    json_object_set_new(object, "rows", report_count(info->n_rows));
    json_object_set_new(object, "passes", report_count(info->n_passes));
    json_object_set_new(object, "features", report_count(info->n_features));
    json_object_set_new(object, "nonzero_weights", report_count(what->found.n_nonzero));
    json_object_set_new(object, "intercept", strongest_intercepts(&what->found));
    if (what->schema.n_words + what->schema.n_crosses > 0) {
        json_object_set_new(object, "bits", report_count(what->schema.bits));
        json_object_set_new(object, "colliding", report_real(collision_rate(what)));
    }
    report_results_json(object, what->model);
    json_object_set_new(object, "top", strongest_json(&what->found));
    json_object_set_new(object, "state", what->state != NULL ? state_json(what->state) : json_null());
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
    out->info = info_of(out->model);
    size_t max = (size_t)arguments_number(arguments, "top");
    return strongest_find(out->model, max, out->schema.n_numbers, &out->found) ? EXIT_DONE
                                                                               : complain_failed("out of memory");
}

/* A stream is data: its bytes come once. */
static bool is_model(const char *path)
{
    struct stat facts;
    unsigned char bytes[9];
    if (stat(path, &facts) != 0 || !S_ISREG(facts.st_mode))
        return false;
    FILE *file = fopen(path, "rb");
    size_t size = file != NULL ? fread(bytes, 1, sizeof bytes, file) : 0;
    if (file != NULL)
        fclose(file);
    return gsa_model_matches(bytes, size) != 0;
}

static int inspect_model(const cli_arguments *arguments)
{
    static const char *const of_data[] = {"label", "labels",  "weight", "exposure", "categorical", "decimal",
                                          "dates", "missing", "ignore", "cross",    "bits",        "bad-rows"};
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
        code = arguments_flag(arguments, "json") ? print_json(&what) : print_inspection(&what);
        code = code == EXIT_DONE ? state_code : code;
    }
    strongest_free(&what.found);
    gsa_state_free(what.state);
    gsa_model_free(what.model);
    return code;
}

static int run_inspect(const cli_arguments *arguments)
{
    for (size_t i = 0; i < arguments->n_positional; i++)
        if (is_model(arguments->positional[i]))
            return arguments->n_positional == 1
                       ? inspect_model(arguments)
                       : complain_usage("inspect takes one model or data files, and %s is a model; give it alone",
                                        arguments->positional[i]);
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
    .min_positional = 1,
    .max_positional = SIZE_MAX,
    .run = run_inspect,
};
