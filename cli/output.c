/* Streams over the files of base/atomic_file.h, and standard output. */
#include "output.h"

#include "interrupt.h"
#include "message.h"

#include "base/atomic_file.h"
#include "base/output_path.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUFFER_SIZE = 1 << 18 };

/* stdio uses the buffer until the process ends, and a failure of standard output is told once. */
static char stdout_buffer[BUFFER_SIZE];
static int stdout_failure; /* its exit code, 0: none so far */

static int complain_unwritable(const gsa_error *error)
{
    return complain_failed("%s%s", error->message, strchr(error->message, ';') != NULL ? "" : "; give another name");
}

/* Checks that the links on the way may be followed. Returns an exit code, after a message if it is not EXIT_DONE. */
static int check_links(const char *path)
{
    gsa_error error = {0};
    gsai_output_path at;
    gsa_status status = gsai_output_path_open(path, &at, &error);
    if (status == GSA_OK)
        gsai_output_path_close(&at);
    return status == GSA_OK ? EXIT_DONE : complain_unwritable(&error);
}

int output_check_place(const char *path)
{
    struct stat found;
    if (stat(path, &found) == 0 && S_ISDIR(found.st_mode))
        return complain_failed("cannot write %s: it is a directory; give the name of a file", path);
    if (stat(path, &found) == 0 && !S_ISREG(found.st_mode))
        return check_links(path);
    size_t length = gsai_directory_len(path);
    bool is_root = length == 1 || (length > 1 && (path[length - 1] == ':' || path[length - 2] == ':')); /* /, C:, C:/ */
    length -= length > 0 && !is_root;
    char *directory = length > 0 ? strndup(path, length) : strdup(".");
    if (directory == NULL)
        return complain_failed("out of memory");
    int code = EXIT_DONE;
    if (stat(directory, &found) != 0)
        code = complain_failed("cannot write %s: directory %s: %s; make it first", path, directory, strerror(errno));
    else if (!S_ISDIR(found.st_mode))
        code = complain_failed("cannot write %s: %s is not a directory; give another name", path, directory);
    else if (access(directory, W_OK | X_OK) != 0)
        code =
            complain_failed("cannot write %s: directory %s: %s; give another name", path, directory, strerror(errno));
    free(directory);
    return code == EXIT_DONE ? check_links(path) : code;
}

FILE *output_open_log(const char *path, bool appends)
{
    gsa_error error = {0};
    gsai_output_path at;
    if (gsai_output_path_open(path, &at, &error) != GSA_OK) {
        complain_unwritable(&error);
        return NULL;
    }
    int descriptor = gsai_output_path_descriptor(&at, O_CREAT | (appends ? O_APPEND : O_TRUNC));
    FILE *stream = descriptor >= 0 ? fdopen(descriptor, appends ? "ab" : "wb") : NULL;
    if (stream == NULL)
        complain_failed("cannot write %s: %s; give another name", path, strerror(errno));
    if (stream == NULL && descriptor >= 0)
        close(descriptor);
    gsai_output_path_close(&at);
    return stream;
}

int output_open(const char *path, cli_output *out)
{
    gsa_error error = {0};
    *out = (cli_output){.stream = stdout, .is_direct = true};
    if (strcmp(path, "-") == 0)
        return EXIT_DONE;
    *out = (cli_output){.path = path};
    int code = output_check_place(path);
    if (code != EXIT_DONE)
        return code;
    const gsai_env env = {.call.should_stop = interrupt_should_stop}; /* a pipe may wait for its reader */
    gsa_status status = gsai_atomic_file_open(path, &env, &out->file, &error);
    if (status == GSA_STOPPED)
        return complain_interrupted();
    if (status != GSA_OK)
        return complain_unwritable(&error);
    out->is_direct = gsai_atomic_file_is_direct(out->file);
    int descriptor = fcntl(gsai_atomic_file_descriptor(out->file), F_DUPFD_CLOEXEC, 0);
    out->buffer = malloc(BUFFER_SIZE);
    out->stream = descriptor >= 0 && out->buffer != NULL ? fdopen(descriptor, "wb") : NULL;
    if (out->stream == NULL) {
        code = complain_failed("cannot write %s: %s; give another name", path, strerror(errno));
        if (descriptor >= 0)
            close(descriptor);
        return code;
    }
    setvbuf(out->stream, out->buffer, _IOFBF, BUFFER_SIZE);
    return EXIT_DONE;
}

static const char *remedy(int why)
{
    if (why == EPIPE)
        return "its reader has ended"; /* of a named pipe */
    return why == ENOSPC || why == EFBIG ? "free some space, or write elsewhere" : "write elsewhere";
}

/* Prints why standard output failed, but not that its reader closed the pipe (head). Returns an exit code. */
static int complain_stdout(int why)
{
    if (interrupt_signal() != 0)
        stdout_failure = complain_interrupted();
    else if (why == EPIPE)
        stdout_failure = EXIT_BROKEN_PIPE;
    else
        stdout_failure = complain_failed("cannot write standard output: %s; %s", strerror(why), remedy(why));
    return stdout_failure;
}

int output_complain(const cli_output *output)
{
    int why = errno;
    if (output->path == NULL)
        return complain_stdout(why);
    if (interrupt_signal() != 0)
        return complain_interrupted();
    return complain_failed("cannot write %s: %s; %s", output->path, strerror(why), remedy(why));
}

int output_commit(cli_output *output)
{
    gsa_error error = {0};
    if (output->path == NULL)
        return EXIT_DONE;
    bool is_whole = fflush(output->stream) == 0; /* by itself: not every fclose tells that this failed */
    is_whole = fclose(output->stream) == 0 && is_whole;
    output->stream = NULL; /* gone, whatever came of it; so is the file below */
    if (!is_whole)
        return output_complain(output);
    gsa_status status = gsai_atomic_file_commit(output->file, &error);
    output->file = NULL;
    return status == GSA_OK ? EXIT_DONE : complain_error(status, &error);
}

void output_discard(cli_output *output)
{
    if (output->stream != NULL && output->path != NULL)
        fclose(output->stream);
    gsai_atomic_file_discard(output->file);
    free(output->buffer);
    *output = (cli_output){0};
}

void output_prepare_streams(void)
{
    /* A file would be given the number of a stream that is closed, and what is said there would be written into it.
     * What takes its place refuses to be used, as the closed stream did. */
    for (int number = STDIN_FILENO; number <= STDERR_FILENO; number++)
        if (fcntl(number, F_GETFD) < 0)
            (void)open("/dev/null", number == STDIN_FILENO ? O_WRONLY : O_RDONLY);
    if (!isatty(STDOUT_FILENO))
        setvbuf(stdout, stdout_buffer, _IOFBF, sizeof stdout_buffer);
}

int output_finish_stdout(int code)
{
    errno = EIO; /* for a failure that stdio remembers without its reason */
    if (stdout_failure == 0 && (fflush(stdout) != 0 || ferror(stdout)))
        complain_stdout(errno);
    return code == EXIT_DONE ? stdout_failure : code;
}
