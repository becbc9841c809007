/* The notes of a file: its format, the loss, parameters. */
#ifndef GSA_STORE_NOTES_H
#define GSA_STORE_NOTES_H

#include "base/bundle.h"
#include "learn/config.h"
#include "learn/loss/loss.h"

#define GSAI_FORMAT_VERSION "3"

/* Finds the loss that a note of this key names. */
gsa_status gsai_bundle_loss(const gsai_bundle *bundle, const char *key, bool may_be_auto, const gsai_loss **out,
                            gsa_error *error);
/* Sets a parameter to what the note of its name says. */
gsa_status gsai_bundle_param(const gsai_bundle *bundle, gsai_param_id id, gsai_params *params, gsa_error *error);
/* Checks the format's name and version. */
gsa_status gsai_bundle_check(const gsai_bundle *bundle, const char *format, gsa_error *error);

#endif
