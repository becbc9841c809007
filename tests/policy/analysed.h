/* What tools that look at one file at a time cannot know: a call that reports a failure returns one. Without this they
 * believe that it may return GSA_OK, and that its caller goes on with what is NULL. Included before each source by
 * analyse.sh, and by nothing else. */
#ifndef TESTS_LAWS_ANALYSED_H
#define TESTS_LAWS_ANALYSED_H

#ifdef ANALYSED_CLI
#include "message.h"
#define complain_failed(...) ((void)(complain_failed)(__VA_ARGS__), EXIT_FAILED)
#define complain_usage(...) ((void)(complain_usage)(__VA_ARGS__), EXIT_USAGE)
#else
#include "base/error.h"
#define gsai_fail(error, status, ...) ((void)(gsai_fail)(error, status, __VA_ARGS__), (gsa_status)(status))
#define gsai_fail_row(error, status, ...) ((void)(gsai_fail_row)(error, status, __VA_ARGS__), (gsa_status)(status))
#define gsai_fail_line(error, status, ...) ((void)(gsai_fail_line)(error, status, __VA_ARGS__), (gsa_status)(status))
#endif

#endif
