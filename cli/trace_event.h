/* What the files of --trace share. */
#ifndef GREEDYSTEP_CLI_TRACE_EVENT_H
#define GREEDYSTEP_CLI_TRACE_EVENT_H

#include "trace.h"

/* An object with its "event". */
json_t *trace_event(const char *name);
/* A line of it; it is released. */
void trace_write(cli_trace *trace, json_t *event);

#endif
