/* `greedystep merge`: several runs into one, by their states. */
#include "message.h"
#include "report.h"
#include "session.h"
#include "verbs.h"
#include "views.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_SIZE = 512, LABELS_SHOWN = 8 };

static const cli_option merge_options[] = {
    {"output", 'o', OPTION_TEXT, true, "MODEL", NULL, 0, 0,
     "write the merged model here, and its state to MODEL.state"},
    {"base", 0, OPTION_TEXT, false, "MODEL", NULL, 0, 0,
     "the model that all of them started from (train --start-from)"},
};

typedef struct merging {
    gsai_env env;
    gsa_state **states;
    size_t n_states;
    gsa_state *base, *merged;
} merging;

/* Names the labels of the merged model that one of the models has not: labels that mean the same, such as 0 and -1, are
 * classes of their own if they are written in two ways. */
static void tell_labels(const cli_arguments *arguments, const merging *what)
{
    gsa_model *all = NULL;
    for (size_t m = 0; m < what->n_states; m++) {
        gsa_model *one = NULL;
        char line[LINE_SIZE] = "";
        if (summary_of(what->states[m]).n_classes == summary_of(what->merged).n_classes) /* all of them */
            continue;
        if (all == NULL && gsa_state_finish(what->merged, &what->env.call, &all, NULL) != GSA_OK)
            return;
        if (gsa_state_finish(what->states[m], &what->env.call, &one, NULL) != GSA_OK)
            continue;
        size_t n_missing = 0, n = (size_t)info_of(all).n_classes, n_own = (size_t)info_of(one).n_classes;
        for (size_t k = 0; k < n; k++) {
            const char *label = gsa_model_label(all, k);
            size_t i = 0;
            while (i < n_own && strcmp(gsa_model_label(one, i), label) != 0)
                i++;
            if (i == n_own && ++n_missing <= LABELS_SHOWN)
                report_append(line, LINE_SIZE, "%s%.40s", n_missing > 1 ? ", " : "", label);
        }
        if (n_missing > 0)
            note("note: %s has no rows of %s %s%s, of the %zu "
                 "classes of the merged model; write labels that mean the same the same way",
                 arguments->positional[m], n_missing > 1 ? "labels" : "label", line,
                 n_missing > LABELS_SHOWN ? " and others" : "", n);
        gsa_model_free(one);
    }
    gsa_model_free(all);
}

static int merge_and_save(const cli_arguments *arguments, merging *what)
{
    gsa_error error = {0};
    const char *path = arguments_text(arguments, "output");
    gsa_status status = gsa_state_merge((const gsa_state *const *)what->states, what->n_states, what->base,
                                        &what->env.call, &what->merged, &error);
    if (status != GSA_OK)
        return complain_error(status, &error);
    int code = session_save(what->merged, path, &what->env, NULL);
    if (code != EXIT_DONE)
        return code;
    if (message_is_quiet())
        return EXIT_DONE;
    tell_labels(arguments, what);
    gsa_summary summary = summary_of(what->merged);
    report_field("loss", "%s", summary.loss);
    report_field("merged", "%zu models", what->n_states);
    report_field("rows learned", "%" PRIu64, summary.n_rows);
    report_field("features", "%" PRIu64, summary.n_used);
    if (summary.n_classes > 0)
        report_field("classes", "%" PRIu64, summary.n_classes);
    report_field("model", "%s", path);
    return EXIT_DONE;
}

static int run_merge(const cli_arguments *arguments)
{
    merging what = {.env = session_env(arguments)};
    /* An input may be written over: all are loaded before the first byte is written. */
    int code = session_check_model_path(NULL, arguments_text(arguments, "output"));
    what.states = calloc(arguments->n_positional, sizeof *what.states);
    if (code == EXIT_DONE && what.states == NULL)
        code = complain_failed("out of memory");
    while (what.n_states < arguments->n_positional && code == EXIT_DONE) {
        code = session_load_state(arguments->positional[what.n_states], &what.env, &what.states[what.n_states]);
        what.n_states++;
    }
    if (code == EXIT_DONE && arguments_given(arguments, "base"))
        code = session_load_state(arguments_text(arguments, "base"), &what.env, &what.base);
    if (code == EXIT_DONE)
        code = merge_and_save(arguments, &what);
    for (size_t i = 0; i < what.n_states; i++)
        gsa_state_free(what.states[i]);
    free(what.states);
    gsa_state_free(what.base);
    gsa_state_free(what.merged);
    return code;
}

const cli_verb merge_verb = {
    .name = "merge",
    .usage = "MODEL... -o MODEL [--base MODEL]",
    .summary = "merge models that were trained separately",
    .details =
        "Reads the state of each MODEL and merges them; each feature is weighted by how often each run has seen it. "
        "Models trained from scratch need no base; models that started from the same model need it as --base.",
    .examples = "greedystep train monday.svm -o monday.model\n"
                "greedystep train tuesday.svm -o tuesday.model\n"
                "greedystep merge monday.model tuesday.model -o both.model\n"
                "# runs that started from one model\n"
                "greedystep train monday.svm --start-from my.model -o a.model\n"
                "greedystep train tuesday.svm --start-from my.model -o b.model\n"
                "greedystep merge a.model b.model --base my.model -o week.model",
    .options = merge_options,
    .n_options = sizeof merge_options / sizeof *merge_options,
    .positional = "MODEL",
    .run = run_merge,
};
