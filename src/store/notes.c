/* The notes of a file: its format, the loss, parameters. */
#include "store/notes.h"

#include "base/error.h"

#include <string.h>

static gsa_status need_note(const gsai_bundle *bundle, const char *key, const char **out, gsa_error *error)
{
    *out = gsai_bundle_note(bundle, key);
    if (!*out)
        return gsai_fail(error, GSA_FORMAT, "the file does not say '%s'", key);
    return GSA_OK;
}

gsa_status gsai_bundle_loss(const gsai_bundle *bundle, const char *key, bool may_be_auto, const gsai_loss **out,
                            gsa_error *error)
{
    const char *text;
    GSA_TRY(need_note(bundle, key, &text, error));
    *out = gsai_loss_find(text);
    bool known = *out || (may_be_auto && strcmp(text, gsai_loss_name(NULL)) == 0);
    return known ? GSA_OK : gsai_fail(error, GSA_FORMAT, "unknown loss '%.40s'", text);
}

/* "model" or "state", of a bundle whose format was checked. */
static const char *kind_of(const gsai_bundle *bundle)
{
    return strchr(gsai_bundle_note(bundle, "format"), '.') + 1;
}

gsa_status gsai_bundle_param(const gsai_bundle *bundle, gsai_param_id id, gsai_params *params, gsa_error *error)
{
    const char *text, *name = gsa_param_at((size_t)id)->name;
    GSA_TRY(need_note(bundle, name, &text, error));
    return gsai_params_set(params, name, text, NULL) == GSA_OK
               ? GSA_OK
               : gsai_fail(error, GSA_FORMAT, "the %s of a %s cannot be '%.40s'", name, kind_of(bundle), text);
}

gsa_status gsai_bundle_check(const gsai_bundle *bundle, const char *format, gsa_error *error)
{
    const char *found = gsai_bundle_note(bundle, "format"), *version = gsai_bundle_note(bundle, "version");
    if (!found)
        return gsai_fail(error, GSA_FORMAT, "a safetensors file, but no model or state of greedystep");
    if (strcmp(found, format) != 0)
        return gsai_fail(error, GSA_FORMAT, "this is a %.40s, expected a %s; give the other", found, format);
    if (!version)
        return gsai_fail(error, GSA_FORMAT, "a %s without a format version; train it again", kind_of(bundle));
    if (strcmp(version, "1") == 0 || strcmp(version, "2") == 0)
        return gsai_fail(error, GSA_FORMAT, "a %s of format version %s, which was never published; train it again",
                         kind_of(bundle), version);
    if (strcmp(version, GSAI_FORMAT_VERSION) != 0)
        return gsai_fail(error, GSA_FORMAT,
                         "a %s of format version %.20s, this release reads %s; use a newer greedystep", kind_of(bundle),
                         version, GSAI_FORMAT_VERSION);
    return GSA_OK;
}
