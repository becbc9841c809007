/* Text results to standard output or to a file that appears whole or not at all. */
#ifndef GREEDYSTEP_CLI_OUTPUT_H
#define GREEDYSTEP_CLI_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

typedef struct cli_output {
    FILE *stream;
    const char *path; /* where the result belongs; NULL: standard output */
    struct gsai_atomic_file *file;
    bool is_direct; /* what is written is seen at once */
    char *buffer;
} cli_output;

/* A file can be created or replaced under that name, as far as one can tell without doing it. */
int output_check_place(const char *path);

/* "-" is standard output. What exists and is no regular file, such as a device, is written in place. */
int output_open(const char *path, cli_output *out);
/* Opens a file that is written as its lines come, with the same care for links as output_open. NULL after a message. */
FILE *output_open_log(const char *path, bool appends);
/* Says why a write that has just failed did so (by errno); gives EXIT_FAILED. */
int output_complain(const cli_output *output);
/* Flushes and gives the file its name; standard output waits for output_finish_stdout. */
int output_commit(cli_output *output);
/* Frees; without a commit it leaves nothing behind. */
void output_discard(cli_output *output);

/* The beginning of the command: streams that are closed get a place holder, and standard output a large buffer, unless
 * somebody is watching. */
void output_prepare_streams(void);
/* The end of the command: the exit code, or EXIT_FAILED after a message if standard output did not take everything. */
int output_finish_stdout(int code);

#endif
