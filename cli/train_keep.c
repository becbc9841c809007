/* Which runs of `train` keep their rows, where, and what is said of it.
 *
 * Passes over compressed text take as long as decompressing it does; docs/decisions/0013 has the figures. */
#include "train.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Of compressed bytes. Less is read in a moment, or kept in memory by the engine. */
static const uint64_t least_bytes = 4000000;

static uint64_t current_pass(const gsa_state *state)
{
    gsa_summary summary;
    gsa_state_summary(state, &summary);
    return summary.pass;
}

static const char *temporary_folder(void)
{
    const char *folder = getenv("TMPDIR");
    return folder != NULL && *folder != '\0' ? folder : "/tmp";
}

train_keep train_keep_begin(const gsa_state *state, gsa_reader *reader)
{
    train_keep keep = {.folder = NULL, .first_pass = current_pass(state)};
    gsa_reader_progress reading;
    gsa_reader_get_progress(reader, &reading);
    uint64_t passes = strtoull(gsa_state_get(state, "passes"), NULL, 10); /* 0: it will be seen */
    if (reading.is_stream || reading.bytes_total < least_bytes || (passes > 0 && passes < keep.first_pass + 2))
        return keep;
    keep.folder = temporary_folder();
    gsa_error error = {0};
    gsa_status status = gsa_reader_keep(reader, keep.folder, &error);
    return status == GSA_OK ? keep : (train_keep){.folder = NULL};
}

void train_keep_tell(train_keep *keep, const gsa_state *state, const gsa_reader *reader, cli_progress *progress)
{
    if (keep->folder == NULL || current_pass(state) == keep->first_pass)
        return;
    gsa_reader_progress reading;
    gsa_reader_get_progress(reader, &reading);
    char text[512];
    if (reading.bytes_kept > 0)
        snprintf(text, sizeof text, "note: pass %" PRIu64 " reads from a temporary cache of the rows (%.0f MB in %s)",
                 current_pass(state) + 1, (double)reading.bytes_kept / 1e6, keep->folder);
    else
        snprintf(text, sizeof text, "note: no room for a temporary cache of the rows in %s: every pass reads the input",
                 keep->folder);
    if (reading.bytes_kept > 0 || reading.keep_failed)
        progress_say(progress, text);
    keep->folder = NULL;
}
