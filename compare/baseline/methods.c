/* The list of methods, and a method from its text. */
#include "baseline/optimizer.h"

#include "base/error.h"

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

gsa_status gsai_method_parse(const char *text, const gsai_method **method, double knobs[GSAI_KNOBS], gsa_error *error)
{
    char name[32] = {0};
    const gsai_knob *knob;
    size_t len = strcspn(text, ":"), n = 0;
    /* A name that does not fit is not one of ours; its beginning is enough to say so. */
    memcpy(name, text, len < sizeof name ? len : sizeof name - 1);
    memset(knobs, 0, GSAI_KNOBS * sizeof *knobs);
    *method = gsai_method_find(name);
    if (!*method)
        return gsai_fail(error, GSA_ARGUMENT, "unknown method '%s'", name);
    for (knob = (*method)->knobs; n < GSAI_KNOBS && knob[n].name; n++)
        knobs[n] = knob[n].initial;
    text = text[len] ? text + len + 1 : NULL;
    for (size_t i = 0; text; i++) {
        char *end;
        if (i >= n)
            return gsai_fail(error, GSA_ARGUMENT, "%s takes %zu number%s, not '%s'", name, n, n == 1 ? "" : "s", text);
        knobs[i] = strtod(text, &end);
        if (end == text || (*end && *end != ':') || !(knobs[i] >= knob[i].least && knobs[i] <= knob[i].most))
            return gsai_fail(error, GSA_ARGUMENT, "%s of %s is '%s', expected a number from %g to %g", knob[i].name,
                             name, text, knob[i].least, knob[i].most);
        text = *end ? end + 1 : NULL;
    }
    for (size_t i = 0; i < n; i++)
        if (isnan(knobs[i]))
            return gsai_fail(error, GSA_ARGUMENT, "%s needs %s (%s), such as %s:%s", name, knob[i].name, knob[i].help,
                             name, i == 0 ? "0.1" : "0.1:200");
    return GSA_OK;
}
