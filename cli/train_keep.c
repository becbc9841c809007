/* Which runs of `train` keep their rows, where, and what is said of it.
 *
 * Passes over compressed text take as long as decompressing it does; docs/decisions/0014 has the figures. */
#include "session.h"
#include "train.h"
#include "views.h"

#include <inttypes.h>
#include <stdlib.h>

/* Of compressed bytes, where their number is known. Less is read in a moment, or kept in memory by the engine. */
static const uint64_t least_bytes = 4000000;

train_keep train_keep_begin(const gsa_state *state, gsa_reader *reader, cli_progress *progress)
{
    train_keep keep = {.first_pass = summary_of(state).pass};
    gsa_reader_progress reading = progress_of(reader);
    uint64_t passes = strtoull(gsa_state_get(state, "passes"), NULL, 10); /* 0: as many as help */
    bool is_little = reading.bytes_total > 0 && reading.bytes_total < least_bytes;
    if (reading.is_stream || is_little || (passes > 0 && passes < keep.first_pass + 2))
        return keep;
    gsa_error error = {0};
    if (gsa_reader_spill(reader, session_temporary_folder(), &error) == GSA_OK)
        keep.folder = session_temporary_folder();
    else
        progress_say(progress, "note: %s, which TMPDIR names: every pass reads the input", error.message);
    return keep;
}

void train_keep_tell(train_keep *keep, uint64_t pass, const gsa_reader *reader, cli_progress *progress)
{
    if (keep->folder == NULL || pass == keep->first_pass)
        return;
    gsa_reader_progress reading = progress_of(reader);
    if (reading.bytes_kept > 0)
        progress_say(progress, "note: pass %" PRIu64 " reads from a temporary cache of the rows (%.0f MB in %s)",
                     pass + 1, (double)reading.bytes_kept / 1e6, keep->folder);
    else if (reading.keep_failed)
        progress_say(
            progress,
            "note: no room for a temporary cache of the rows in %s, which TMPDIR names: every pass reads the input",
            keep->folder);
    keep->folder = NULL;
}
