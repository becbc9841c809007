/* What all sources share: the question whether to stop, and the count of bytes. */
#include "data/source/source.h"

#include "base/error.h"

#include <string.h>

gsa_status gsa__source_read(gsa__source *source, void *bytes, size_t size, size_t *got, gsa_error *error)
{
    *got = 0;
    if (source->env->should_stop(source->env->stop_ctx))
        return gsa__fail(error, GSA_STOPPED, "%s: reading was stopped on request", source->name);
    if (source->most > 0 && size > source->most)
        size = source->most;
    gsa_status status = source->read(source, bytes, size, got, error);
    source->n_read += *got;
    return status;
}

void gsa__source_close(gsa__source *source)
{
    if (source->close)
        source->close(source);
    memset(source, 0, sizeof *source);
}
