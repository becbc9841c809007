/* The methods by name: parsed from --methods, and described for the help. */
#include "compare.h"

#include "cli/report.h"
#include "cli/typed.h"

#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_SIZE = 32, MAX_SHARDS = 1024 };

static const char gsa_name[] = "gsa", paper_name[] = "paper", shards_name[] = "paper-shards";
static const char *const averages[] = {"recent", "last", "suffix", "full"};
enum { N_AVERAGES_OF_GSA = 2, N_AVERAGES = 4 }; /* the others are the paper's alone */

/* ---- parsing ----------------------------------------------------------------------------------------------------- */

/* The library's own methods. knobs: what follows the name, NULL if nothing does. */
static int parse_gsa(const char *name, const char *average, const char *knobs, compare_method *out)
{
    *out = (compare_method){.name = name, .of_state = name};
    bool is_gsa = name == gsa_name;
    for (size_t i = 0; i < (is_gsa ? N_AVERAGES_OF_GSA : N_AVERAGES); i++) {
        if (strcmp(knobs != NULL ? knobs : average, averages[i]) == 0)
            out->average = averages[i];
    }
    if (out->average == NULL)
        return complain_usage("--methods: %s:%s: the average of %s is last%s or recent, as in %s:last", name, knobs,
                              name, is_gsa ? "" : ", suffix, full", name);
    return EXIT_DONE;
}

static int parse_one(const char *text, compare_method *out)
{
    char name[NAME_SIZE];
    gsa_error error = {0};
    uint64_t n_shards;
    size_t length = strcspn(text, ":");
    if (length == 0)
        return complain_usage("--methods: a method without a name; methods are separated by commas, as in gsa,sgd:0.1");
    snprintf(name, sizeof name, "%.*s", (int)(length < NAME_SIZE ? length : NAME_SIZE - 1), text);
    const char *knobs = text[length] == ':' ? text + length + 1 : NULL;
    if (strcmp(name, gsa_name) == 0)
        return parse_gsa(gsa_name, averages[0], knobs, out);
    if (strcmp(name, paper_name) == 0)
        return parse_gsa(paper_name, averages[1], knobs, out);
    if (strcmp(name, shards_name) == 0) {
        if (knobs == NULL)
            return complain_usage("--methods: paper-shards needs P, the number of replicas, such as paper-shards:8");
        if (!gsai_count_parse(knobs, &n_shards) || n_shards < 1 || n_shards > MAX_SHARDS)
            return complain_usage("--methods: P of paper-shards is '%s', expected a whole number from 1 to %d", knobs,
                                  MAX_SHARDS);
        *out = (compare_method){.name = shards_name, .of_state = paper_name, .average = averages[1]};
        out->n_shards = (size_t)n_shards;
        return EXIT_DONE;
    }
    if (gsai_method_find(name) != NULL) {
        *out = (compare_method){.name = gsai_method_find(name)->name};
        return gsai_method_parse(text, &out->baseline, out->knob, &error) == GSA_OK
                   ? EXIT_DONE
                   : complain_usage("--methods: %s", error.message);
    }
    suggestion near = suggest_begin(name);
    suggest_consider(&near, gsa_name);
    suggest_consider(&near, paper_name);
    suggest_consider(&near, shards_name);
    for (const gsai_method *const *each = gsai_methods; *each != NULL; each++)
        suggest_consider(&near, (*each)->name);
    if (near.best != NULL)
        return complain_usage("--methods: unknown method %s; did you mean %s?", name, near.best);
    return complain_usage("--methods: unknown method %s; `greedystep help compare` lists them all", name);
}

int compare_methods_parse(const char *list, compare_method **out, size_t *n_out)
{
    char a[COMPARE_PARAMETERS_SIZE], b[COMPARE_PARAMETERS_SIZE], *copy = strdup(list);
    size_t n = 0, max = 1;
    for (const char *at = list; *at != '\0'; at++)
        max += *at == ',';
    compare_method *methods = calloc(max, sizeof *methods);
    *out = methods;
    int code = copy != NULL && methods != NULL ? EXIT_DONE : complain_failed("out of memory");
    for (char *text = copy, *end; text != NULL && code == EXIT_DONE; text = end, n++) {
        compare_method *next = &methods[n];
        end = strchr(text, ',');
        if (end != NULL)
            *end++ = '\0';
        code = parse_one(text, next);
        if (code == EXIT_DONE)
            compare_method_parameters(next, a);
        /* Two methods of one name and parameters could not be told apart in the results. */
        for (size_t i = 0; i < n && code == EXIT_DONE; i++)
            if (strcmp(methods[i].name, next->name) == 0 && strcmp(compare_method_parameters(&methods[i], b), a) == 0)
                code = complain_usage("--methods: %s%s%s is given twice; leave one out", next->name,
                                      *a != '\0' ? " with " : "", a);
    }
    *n_out = n;
    free(copy);
    return code;
}

/* ---- looking up -------------------------------------------------------------------------------------------------- */

const char *compare_method_parameters(const compare_method *method, char buffer[COMPARE_PARAMETERS_SIZE])
{
    buffer[0] = '\0';
    if (method->n_shards > 0)
        report_append(buffer, COMPARE_PARAMETERS_SIZE, "shards=%zu", method->n_shards);
    else if (method->baseline == NULL)
        report_append(buffer, COMPARE_PARAMETERS_SIZE, "average=%s", method->average);
    for (size_t i = 0; method->baseline != NULL && i < GSAI_KNOBS && method->baseline->knobs[i].name != NULL; i++)
        report_append(buffer, COMPARE_PARAMETERS_SIZE, "%s%s=%g", i > 0 ? ";" : "", method->baseline->knobs[i].name,
                      method->knob[i]);
    return buffer;
}

bool compare_method_describe(size_t number, verb_method *out)
{
    static const verb_method own[] = {
        {.usage = "gsa[:last|recent]",
         .text = "train's --method gsa: greedy step averaging, with a tenth of the rows held out (default: recent)"},
        {.usage = "paper[:last|suffix|full|recent]",
         .text = "train's --method paper: Algorithm 1 to the letter; the weights after the last row (default: last) or "
                 "their average"},
        {.usage = "paper-shards:P",
         .text = "paper on P replicas (from 1 to 1024), each on a part of the rows, merged after each pass"},
    };
    _Static_assert(MAX_SHARDS == 1024, "the help says so");
    size_t n_own = sizeof own / sizeof *own, at = 0, n_optional = 0;
    *out = number < n_own ? own[number] : (verb_method){.needs_rows = false};
    if (number < n_own)
        return true;
    while (at < number - n_own && gsai_methods[at] != NULL)
        at++;
    const gsai_method *method = gsai_methods[at];
    if (method == NULL)
        return false;
    /* "sgd-decay:r[:t0]", and what it is, with "; r: the step, from 1e-12 to 1e+06" for every knob. */
    report_append(out->usage, sizeof out->usage, "%s", method->name);
    report_append(out->text, sizeof out->text, "%s (%s)", method->help, method->source);
    for (size_t i = 0; i < GSAI_KNOBS && method->knobs[i].name != NULL; i++) {
        const gsai_knob *knob = &method->knobs[i];
        bool is_optional = !isnan(knob->initial);
        report_append(out->usage, sizeof out->usage, is_optional ? "[:%s" : ":%s", knob->name);
        report_append(out->text, sizeof out->text, "; %s: %s, from %g to %g", knob->name, knob->help, knob->least,
                      knob->most);
        if (is_optional)
            report_append(out->text, sizeof out->text, " (default: %g)", knob->initial);
        n_optional += is_optional;
    }
    for (; n_optional > 0; n_optional--)
        report_append(out->usage, sizeof out->usage, "]");
    out->needs_rows = method->needs_rows;
    return true;
}
