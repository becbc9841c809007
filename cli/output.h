/* Text results to standard output or to a file that appears whole or not at all. */
#ifndef GREEDYSTEP_CLI_OUTPUT_H
#define GREEDYSTEP_CLI_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

typedef struct cli_output {
    FILE *stream;
    const char *path; /* where the result belongs; NULL: standard output */
    struct gsai_atomic_file *file;
    bool is_direct; /* not written to a temporary file first */
    char *buffer;
} cli_output;

/* Checks whether a file can be created or replaced at this path, without doing it. Returns an exit code. */
int output_check_place(const char *path);

/* Opens an output; "-" is standard output. An existing path other than a regular file, such as a device, is written in
 * place. */
int output_open(const char *path, cli_output *out);
/* Opens a file that is written as its lines come, with the same care for links as output_open. NULL after a message. */
FILE *output_open_log(const char *path, bool appends);
/* Prints why the last write failed (by errno) and returns EXIT_FAILED. */
int output_complain(const cli_output *output);
/* Flushes, and renames the file to its path; standard output is flushed by output_finish_stdout. */
int output_commit(cli_output *output);
/* Frees; without a commit it leaves nothing behind. */
void output_discard(cli_output *output);

/* Prepares the streams when the command starts: opens placeholders for closed ones, and gives standard output a large
 * buffer unless it is a terminal. */
void output_prepare_streams(void);
/* Flushes standard output when the command ends. Returns the exit code, or EXIT_FAILED after a message if a write
 * failed. */
int output_finish_stdout(int code);

#endif
