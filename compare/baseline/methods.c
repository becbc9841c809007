/* The list of methods, and a method from its text. */
#include "baseline/methods.h"

#include "base/error.h"
#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const gsai_method *const gsai_methods[] = {
    &gsai_sgd,
    &gsai_sgd_decay,
    &gsai_momentum,
    &gsai_gradient_average,
    &gsai_iterate_average,
    &gsai_adagrad,
    &gsai_adadelta,
    &gsai_ftrl,
    &gsai_schedule_free,
    &gsai_sag,
    &gsai_saga,
    &gsai_svrg,
    &gsai_scsg,
    &gsai_coin,
    &gsai_dog,
    &gsai_polyak,
    &gsai_fregata,
    NULL,
};

const gsai_method *gsai_method_find(const char *name)
{
    for (const gsai_method *const *each = gsai_methods; *each; each++)
        if (strcmp((*each)->name, name) == 0)
            return *each;
    return NULL;
}

#define MOST_NAMES 256

/* "sgd, momentum, ...", as many as there is room for. */
static void list_names(char out[MOST_NAMES])
{
    size_t len = 0;
    for (const gsai_method *const *each = gsai_methods; *each; each++) {
        /* NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): every method has a name */
        size_t name_len = strlen((*each)->name), comma = len ? 2 : 0;
        if (len + comma + name_len >= MOST_NAMES)
            break;
        memcpy(out + len, ", ", comma);
        memcpy(out + len + comma, (*each)->name, name_len);
        len += comma + name_len;
    }
    out[len] = '\0';
}

static gsa_status unknown_method(const char *name, gsa_error *error)
{
    const char *best = NULL;
    size_t distance = 3;
    for (const gsai_method *const *each = gsai_methods; *each; each++)
        if (gsai_edit_distance(name, (*each)->name) < distance) {
            distance = gsai_edit_distance(name, (*each)->name);
            best = (*each)->name;
        }
    if (best)
        return gsai_fail(error, GSA_ARGUMENT, "unknown method '%s'; did you mean '%s'?", name, best);
    char all[MOST_NAMES];
    list_names(all);
    return gsai_fail(error, GSA_ARGUMENT, "unknown method '%s', expected one of %s", name, all);
}

/* One number at the front of the text; *end is what follows. */
static gsa_status parse_knob(const gsai_method *method, const gsai_knob *knob, const char *text, char **end,
                             double *out, gsa_error *error)
{
    *out = strtod(text, end);
    if (*end == text || (**end && **end != ':') || !(*out >= knob->least && *out <= knob->most))
        return gsai_fail(error, GSA_ARGUMENT, "%s of %s is '%s', expected a number from %g to %g", knob->name,
                         method->name, text, knob->least, knob->most);
    return GSA_OK;
}

static gsa_status parse_knobs(const gsai_method *method, const char *text, double knobs[GSAI_KNOBS], gsa_error *error)
{
    size_t n = 0;
    for (; n < GSAI_KNOBS && method->knobs[n].name; n++)
        knobs[n] = method->knobs[n].initial;
    for (size_t i = 0; text; i++) {
        char *end;
        if (i >= n)
            return gsai_fail(error, GSA_ARGUMENT, "%s takes %zu number%s, not '%s'", method->name, n, n == 1 ? "" : "s",
                             text);
        GSA_TRY(parse_knob(method, &method->knobs[i], text, &end, &knobs[i], error));
        text = *end ? end + 1 : NULL;
    }
    for (size_t i = 0; i < n; i++)
        if (isnan(knobs[i]))
            return gsai_fail(error, GSA_ARGUMENT, "%s needs %s (%s), such as %s:%s", method->name,
                             method->knobs[i].name, method->knobs[i].help, method->name, i == 0 ? "0.1" : "0.1:200");
    return GSA_OK;
}

gsa_status gsai_method_parse(const char *text, const gsai_method **method, double knobs[GSAI_KNOBS], gsa_error *error)
{
    char name[32] = {0};
    const char *colon = strchr(text, ':');
    size_t len = colon ? (size_t)(colon - text) : strlen(text);
    /* A name that does not fit is not one of ours; its beginning is enough to say so. */
    memcpy(name, text, len < sizeof name ? len : sizeof name - 1);
    memset(knobs, 0, GSAI_KNOBS * sizeof *knobs);
    *method = gsai_method_find(name);
    if (!*method)
        return unknown_method(name, error);
    return parse_knobs(*method, colon ? colon + 1 : NULL, knobs, error);
}
